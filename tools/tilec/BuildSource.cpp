//===- BuildSource.cpp - kernels that were built, as C --------------------===//
#include "text/Format.h"
#include "tools/tilec/BuildCodes.h"
#include "tools/tilec/BuildFunction.h"
#include "tools/tilec/NamesInC.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tile;
using llvm::raw_ostream;
using llvm::StringRef;

namespace {
/// Writes the tables of one kernel; each gets a name of its own.
class KernelWriter {
public:
  KernelWriter(const BuiltKernel &kernel, raw_ostream &os)
      : kernel(kernel), os(os),
        codes(os, kernel.file->kernel(), [this](int entry) { return argumentOf(entry); }) {}
  llvm::Error write();

private:
  void writeConfigurations();
  void writeChoices();
  llvm::Error writeVariant(size_t number, const BuiltVariant &variant);
  std::string valueText(const tile_value &value) const;
  /// The argument of a launch that an entry of the signature is.
  unsigned argumentOf(int entry) const;
  std::string name(const llvm::Twine &what) const {
    return (kernel.file->kernel() + "_" + what).str();
  }

  const BuiltKernel &kernel;
  raw_ostream &os;
  CodeWriter codes;
};
} // namespace

unsigned KernelWriter::argumentOf(int entry) const {
  for (size_t i = 0; i < kernel.file->parameters.size(); ++i)
    if (!(kernel.file->parameters[i].flags & dispatch::Parameter::Constexpr) && entry-- == 0)
      return unsigned(i);
  return 0;
}

llvm::Error KernelWriter::writeVariant(size_t number, const BuiltVariant &variant) {
  std::string own = name("v" + llvm::Twine(number)), all;
  for (size_t i = 0; i < variant.codes.size(); ++i) {
    auto code = codes.writeCode(own + "_c" + std::to_string(i), variant.codes[i]);
    if (!code)
      return code.takeError();
    all += formatted("{},\n  ", *code);
  }
  os << "static const tile_rt_code " << own << "_codes[] = {\n  " << all << "};\n";
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
  os << "tile_rt_kernel " << nameInC(file.kernel()) << " = {TILE_RT_VERSION, "
     << quoted(file.kernel()) << ", " << orNull(!file.parameters.empty(), "arguments") << ", "
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
      heuristics += formatted("{}, ", codes.writeFormula(name(own + "_h" + llvm::Twine(i)),
                                                         heuristic.formula.steps, 1));
    if (!heuristics.empty())
      os << "static const tile_rt_formula " << name(own + "_heuristics") << "[] = {" << heuristics
         << "};\n";
    if (one.grid) {
      std::string formula =
          codes.writeFormula(name(own + "_grid_steps"), one.grid->steps, one.grid->results);
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
                               llvm::ArrayRef<BuiltFunction> functions, std::string &source) {
  llvm::raw_string_ostream c(source);
  c << "/* Written by `tilec build`: compile it as C, and link libtile_rt. */\n#include \"" << name
    << ".h\"\n\n";
  for (const BuiltKernel &kernel : kernels)
    if (llvm::Error error = KernelWriter(kernel, c).write())
      return error;
  for (const BuiltFunction &function : functions)
    if (llvm::Error error = writeFunction(function, c))
      return error;
  return llvm::Error::success();
}
