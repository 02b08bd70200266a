//===- BuildSource.cpp - kernels that were built, as C --------------------===//
#include "tools/tilec/BuildSource.h"
#include "runtime/Error.h"
#include "target/Target.h"
#include "text/Format.h"
#include "tile/rt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tile;
using dispatch::Step;
using llvm::raw_ostream;
using llvm::StringRef;
using Kind = KernelParameter::Kind;

namespace {
/// Writes the tables of one kernel; each gets a name of its own.
class KernelWriter {
public:
  KernelWriter(const BuiltKernel &kernel, raw_ostream &os) : kernel(kernel), os(os) {}
  llvm::Error write();

private:
  void writeConfigurations();
  void writeChoices();
  llvm::Error writeVariant(size_t number, const BuiltVariant &variant);
  llvm::Expected<unsigned> writeParameters(const std::string &name, const KernelMetadata &metadata,
                                           const runtime::LaunchPlan &plan);
  llvm::Expected<std::string> writeCode(const std::string &name, const BuiltCode &code,
                                        std::string withoutMaps = "0");
  llvm::Error writeMap(const std::string &name, const KernelParameter &parameter,
                       const KernelMetadata &metadata, std::string &entry);
  llvm::Error addSum(const LaunchSum &sum, const KernelMetadata &metadata,
                     std::vector<Step> &steps) const;
  std::string writeFormula(const std::string &name, llvm::ArrayRef<Step> steps, unsigned results);
  void writeImage(const std::string &name, const BuiltCode &code);
  std::string valueText(const tile_value &value) const;
  /// The argument of a launch that an entry of the signature is.
  unsigned argumentOf(int entry) const;
  std::string name(const llvm::Twine &what) const {
    return (kernel.file->kernel() + "_" + what).str();
  }

  const BuiltKernel &kernel;
  raw_ostream &os;
};
} // namespace

/// A C string literal; `lines` breaks it at line ends.
static std::string quoted(StringRef text, bool lines = false) {
  std::string out = "\"";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if (c == '\n' && lines)
      out += "\\n\"\n  \"";
    else if (c == '"' || c == '\\')
      out += std::string("\\") + c;
    else if (byte < 0x20 || byte >= 0x7f || c == '?') // no trigraphs
      out += formatted("\\{}", llvm::utostr(byte / 64) + llvm::utostr(byte / 8 % 8) +
                                   llvm::utostr(byte % 8));
    else
      out += c;
  }
  return out + "\"";
}

static llvm::Error unsupported(const BuiltKernel &kernel, const llvm::Twine &what) {
  return runtime::makeError(runtime::ErrorCode::Unsupported,
                            formatted("`{}` cannot be built: {}", kernel.file->kernel(), what));
}

unsigned KernelWriter::argumentOf(int entry) const {
  for (size_t i = 0; i < kernel.file->parameters.size(); ++i)
    if (!(kernel.file->parameters[i].flags & dispatch::Parameter::Constexpr) && entry-- == 0)
      return unsigned(i);
  return 0;
}

//===----------------------------------------------------------------------===//
// Formulas and tensor maps
//===----------------------------------------------------------------------===//

std::string KernelWriter::writeFormula(const std::string &name, llvm::ArrayRef<Step> steps,
                                       unsigned results) {
  os << "static const tile_rt_step " << name << "[] = {";
  for (const Step &step : steps)
    os << '{' << unsigned(step.op) << ", "
       << (step.operand == INT64_MIN ? "INT64_MIN" : formatted("INT64_C({})", step.operand))
       << "}, ";
  os << "};\n";
  return formatted("{{{}, {}, {}}}", name, steps.size(), results);
}

llvm::Error KernelWriter::addSum(const LaunchSum &sum, const KernelMetadata &metadata,
                                 std::vector<Step> &steps) const {
  using Part = LaunchSum::Factor::Part;
  steps.push_back({Step::Constant, 0});
  for (const LaunchSum::Term &term : sum.terms) {
    steps.push_back({Step::Constant, term.coefficient});
    for (const LaunchSum::Factor &factor : term.factors) {
      if (!factor.path.empty())
        return unsupported(kernel, "its arguments are tuples");
      int64_t argument = argumentOf(factor.index);
      bool isAddress = false, isDescriptor = false;
      for (const KernelParameter &parameter : metadata.params) {
        bool isIt = parameter.index == factor.index;
        isAddress |= isIt && parameter.kind == Kind::Arg && parameter.type == "ptr";
        isDescriptor |= isIt && parameter.kind == Kind::DescBase;
      }
      if (factor.part == Part::Shape)
        steps.push_back({Step::Size, argument * 8 + factor.dim});
      else if (factor.part == Part::Stride)
        steps.push_back({Step::Stride, argument * 8 + factor.dim});
      else
        steps.push_back({isAddress      ? Step::Address
                         : isDescriptor ? Step::Base
                                        : Step::Argument,
                         argument});
      steps.push_back({Step::Mul, 0});
    }
    steps.push_back({Step::Add, 0});
  }
  return llvm::Error::success();
}

llvm::Error KernelWriter::writeMap(const std::string &name, const KernelParameter &parameter,
                                   const KernelMetadata &metadata, std::string &entry) {
  const TensorMap &map = parameter.map;
  LaunchSum base;
  base.terms.push_back({1, {{parameter.index, parameter.path}}});
  std::vector<Step> steps;
  std::vector<LaunchSum> sums = {base};
  llvm::append_range(sums, map.sizes);
  llvm::append_range(sums, map.strides);
  llvm::append_range(sums, map.notNegative);
  constexpr size_t mostNumbers = 16;
  if (sums.size() > mostNumbers || map.sizes.empty() || map.sizes.size() > 5)
    return unsupported(kernel, "a tensor map has too many numbers");
  for (const LaunchSum &sum : sums)
    if (llvm::Error error = addSum(sum, metadata, steps))
      return error;
  auto [type, bytes] = llvm::StringSwitch<std::pair<int, int>>(map.type)
                           .Case("fp16", {6, 2})
                           .Case("bf16", {9, 2})
                           .Case("fp32", {7, 4})
                           .Case("fp64", {8, 8})
                           .Case("i16", {1, 2})
                           .Case("i32", {3, 4})
                           .Case("i64", {5, 8})
                           .Default({0, 1});
  int swizzle = map.swizzle == 128 ? 3 : map.swizzle == 64 ? 2 : map.swizzle == 32 ? 1 : 0;
  std::string box;
  for (int64_t extent : map.box)
    box += formatted("{}, ", extent);
  entry = formatted("{{{}, {}, {}, {}, {}, {}, {{{}}}}}",
                    writeFormula(name, steps, unsigned(sums.size())), type, map.sizes.size(),
                    swizzle, bytes, int(map.stored), box);
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Codes and variants
//===----------------------------------------------------------------------===//

void KernelWriter::writeImage(const std::string &name, const BuiltCode &code) {
  if (code.cubin.empty()) {
    os << "static const char " << name << "[] =\n  " << quoted(code.ptx, /*lines=*/true) << ";\n";
    return;
  }
  os << "static const unsigned char " << name << "[] __attribute__((aligned(64))) = {";
  for (size_t i = 0; i < code.cubin.size(); ++i)
    os << (i % 24 ? "" : "\n  ") << unsigned(static_cast<unsigned char>(code.cubin[i])) << ',';
  os << "0};\n";
}

/// Writes the tables of parameters and of tensor maps; their number.
llvm::Expected<unsigned> KernelWriter::writeParameters(const std::string &name,
                                                       const KernelMetadata &metadata,
                                                       const runtime::LaunchPlan &plan) {
  std::string parameters, maps;
  unsigned numMaps = 0, numScratch = 0;
  for (auto [parameter, planned] : llvm::zip(metadata.params, plan.parameters)) {
    if (!parameter.path.empty())
      return unsupported(kernel, "its arguments are tuples");
    uint64_t bytes = planned.kind == Kind::Const ? plan.constants[planned.constant] : planned.bytes;
    unsigned index =
        planned.kind == Kind::TensorMap ? numMaps : unsigned(std::max(planned.index, 0));
    parameters += formatted("{{{}, {}, {}, {}, {}, UINT64_C({})}}, ", int(planned.kind),
                            planned.dim, int(planned.perProgram), int(planned.zero), index, bytes);
    numScratch += planned.kind == Kind::Scratch;
    if (planned.kind != Kind::TensorMap)
      continue;
    std::string entry;
    if (llvm::Error error =
            writeMap(name + "_map" + std::to_string(numMaps++), parameter, metadata, entry))
      return std::move(error);
    maps += formatted("{}, ", entry);
  }
  if (metadata.params.size() > TILE_RT_MOST_PARAMETERS || numMaps > TILE_RT_MOST_MAPS ||
      numScratch > TILE_RT_MOST_MAPS)
    return unsupported(kernel, "it has too many parameters");
  if (!parameters.empty())
    os << "static const tile_rt_parameter " << name << "_parameters[] = {" << parameters << "};\n";
  if (numMaps)
    os << "static const tile_rt_map " << name << "_maps[] = {" << maps << "};\n";
  return numMaps;
}

llvm::Expected<std::string> KernelWriter::writeCode(const std::string &name, const BuiltCode &code,
                                                    std::string withoutMaps) {
  const KernelMetadata &metadata = code.metadata;
  auto plan = runtime::LaunchPlan::of(metadata);
  if (!plan)
    return plan.takeError();
  std::string alone = "0";
  if (code.withoutMaps) {
    auto inner = writeCode(name + "_plain", *code.withoutMaps);
    if (!inner)
      return inner.takeError();
    os << "static const tile_rt_code " << name << "_plain_code = " << *inner << ";\n";
    withoutMaps = formatted("&{}_plain_code", name);
  }
  if (code.alone) {
    auto inner = writeCode(name + "_alone", *code.alone, withoutMaps);
    if (!inner)
      return inner.takeError();
    os << "static const tile_rt_code " << name << "_alone_code = " << *inner << ";\n";
    alone = formatted("&{}_alone_code", name);
  }
  writeImage(name + "_image", code);
  auto maps = writeParameters(name, metadata, *plan);
  if (!maps)
    return maps.takeError();
  const Target *target = findTarget(metadata.target);
  bool isExact = !code.cubin.empty() || !llvm::isDigit(metadata.target.back());
  return formatted(
      "{{{}, {}, {}, {}_image, {}, {}, {{{}, {}, {}}}, {}, {{{}, {}, {}}}, {}, {}, {}, {}, {}, {}, "
      "{}, {}, {}, {}, {}}}",
      quoted(metadata.entry), target ? target->capability : 0, int(isExact), name, metadata.threads,
      metadata.sharedBytes, metadata.cluster[0], metadata.cluster[1], metadata.cluster[2],
      metadata.ctasPerProgram, metadata.programsPerBlock[0], metadata.programsPerBlock[1],
      metadata.programsPerBlock[2], metadata.programsApart, metadata.fewPrograms,
      int(metadata.cooperative), int(metadata.dependent), int(metadata.persistent),
      metadata.params.empty() ? "0" : name + "_parameters", metadata.params.size(),
      *maps ? name + "_maps" : "0", *maps, withoutMaps, alone);
}

llvm::Error KernelWriter::writeVariant(size_t number, const BuiltVariant &variant) {
  std::string own = name("v" + llvm::Twine(number)), codes;
  for (size_t i = 0; i < variant.codes.size(); ++i) {
    auto code = writeCode(own + "_c" + std::to_string(i), variant.codes[i]);
    if (!code)
      return code.takeError();
    codes += formatted("{},\n  ", *code);
  }
  os << "static const tile_rt_code " << own << "_codes[] = {\n  " << codes << "};\n";
  os << "static const uint64_t " << own << "_words[] = {";
  for (unsigned i = 0; i < variant.key.size; ++i)
    os << "UINT64_C(" << variant.key.words[i] << "), ";
  os << "};\n";
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

std::string KernelWriter::valueText(const tile_value &value) const {
  std::string as = value.kind == TILE_VALUE_TEXT ? formatted(".text = {}", quoted(value.as.text))
                                                 : formatted(".bits = UINT64_C({})", value.as.bits);
  return formatted("{{{}, {}, {{0}}, {{{}}}}}", int(value.kind), int(value.dtype), as);
}

llvm::Error KernelWriter::write() {
  const jit::JitFile &file = *kernel.file;
  for (auto [i, variant] : llvm::enumerate(kernel.variants))
    if (llvm::Error error = writeVariant(i, variant))
      return error;
  os << "static const tile_rt_variant " << name("variants") << "[] = {\n";
  for (auto [i, variant] : llvm::enumerate(kernel.variants)) {
    std::string own = name("v" + llvm::Twine(i));
    os << "  {" << own << "_words, " << variant.key.size << ", " << variant.codes.size() << ", "
       << own << "_codes},\n";
  }
  os << "};\n";
  if (!file.parameters.empty()) {
    os << "static const tile_rt_argument " << name("arguments") << "[] = {";
    for (const dispatch::Parameter &parameter : file.parameters)
      os << '{' << quoted(parameter.name) << ", " << unsigned(parameter.flags) << ", "
         << unsigned(parameter.dtype) << "}, ";
    os << "};\n";
  }
  size_t numDefaults = file.parameters.size() - file.numRequired;
  if (numDefaults) {
    os << "static const tile_value " << name("defaults") << "[] = {";
    for (size_t i = file.numRequired; i < file.parameters.size(); ++i)
      os << valueText(*file.defaults[i]) << ", ";
    os << "};\n";
  }
  writeConfigurations();
  writeChoices();
  size_t numHeuristics = file.choices.heuristics.size();
  auto orNull = [&](bool is, const char *what) { return is ? name(what) : "0"; };
  os << "tile_rt_kernel " << file.kernel() << " = {TILE_RT_VERSION, " << quoted(file.kernel())
     << ", " << orNull(!file.parameters.empty(), "arguments") << ", "
     << orNull(numDefaults, "defaults") << ", " << file.parameters.size() << ", " << numDefaults
     << ", " << name("configurations") << ", " << kernel.configurations.size() << ", "
     << kernel.choices.size() << ", " << orNull(!kernel.choices.empty(), "choices") << ", "
     << orNull(!kernel.selecting.empty(), "selecting") << ", " << kernel.selecting.size() << ", "
     << numHeuristics << ", " << orNull(numHeuristics, "heuristic_names") << ", "
     << name("variants") << ", " << kernel.variants.size() << ", 0};\n\n";
  return llvm::Error::success();
}

void KernelWriter::writeConfigurations() {
  const jit::JitFile &file = *kernel.file;
  std::string all, heuristicNames;
  for (const auto &[parameter, rule] : file.choices.heuristics)
    heuristicNames += formatted("{}, ", quoted(parameter));
  if (!heuristicNames.empty())
    os << "static const char *const " << name("heuristic_names") << "[] = {" << heuristicNames
       << "};\n";
  for (const BuiltConfiguration &built : kernel.configurations) {
    const jit::Configuration &one = file.choices.configurations[built.number];
    std::string own = "k" + std::to_string(built.number), heuristics;
    for (auto [i, heuristic] : llvm::enumerate(one.heuristics))
      heuristics += formatted(
          "{}, ", writeFormula(name(own + "_h" + llvm::Twine(i)), heuristic.formula.steps, 1));
    if (!heuristics.empty())
      os << "static const tile_rt_formula " << name(own + "_heuristics") << "[] = {" << heuristics
         << "};\n";
    if (one.grid) {
      std::string formula =
          writeFormula(name(own + "_grid_steps"), one.grid->steps, one.grid->results);
      os << "static const tile_rt_formula " << name(own + "_grid") << " = " << formula << ";\n";
    }
    all += formatted("  {{{}, {}, {}, {}}},\n", quoted(file.choices.isTuned ? one.tune.str() : ""),
                     built.number, one.grid ? formatted("&{}", name(own + "_grid")) : "0",
                     heuristics.empty() ? "0" : name(own + "_heuristics"));
  }
  os << "static const tile_rt_configuration " << name("configurations") << "[] = {\n"
     << all << "};\n";
}

void KernelWriter::writeChoices() {
  if (kernel.choices.empty())
    return;
  if (!kernel.selecting.empty()) {
    os << "static const uint32_t " << name("selecting") << "[] = {";
    for (unsigned argument : kernel.selecting)
      os << argument << ", ";
    os << "};\n";
  }
  for (auto [i, choice] : llvm::enumerate(kernel.choices)) {
    if (choice.values.empty())
      continue;
    os << "static const tile_value " << name("choice" + llvm::Twine(i)) << "[] = {";
    for (const tile_value &value : choice.values)
      os << valueText(value) << ", ";
    os << "};\n";
  }
  os << "static const tile_rt_choice " << name("choices") << "[] = {\n";
  for (auto [i, choice] : llvm::enumerate(kernel.choices))
    os << "  {" << (choice.device.empty() ? "0" : quoted(choice.device)) << ", "
       << choice.capability << ", " << choice.configuration << ", "
       << (choice.values.empty() ? "0" : name("choice" + llvm::Twine(i))) << "},\n";
  os << "};\n";
}

llvm::Error tilec::writeSource(StringRef name, llvm::ArrayRef<BuiltKernel> kernels,
                               std::string &source) {
  llvm::raw_string_ostream c(source);
  c << "/* Written by `tilec build`: compile it as C, and link libtile_rt. */\n#include \"" << name
    << ".h\"\n\n";
  for (const BuiltKernel &kernel : kernels)
    if (llvm::Error error = KernelWriter(kernel, c).write())
      return error;
  return llvm::Error::success();
}
