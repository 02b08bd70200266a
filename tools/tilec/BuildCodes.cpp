//===- BuildCodes.cpp - compiled code, as C -------------------------------===//
#include "tools/tilec/BuildCodes.h"
#include "runtime/Error.h"
#include "target/Target.h"
#include "text/Format.h"
#include "tile/rt.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace tilec;
using namespace tile;
using dispatch::Step;
using llvm::StringRef;
using Kind = KernelParameter::Kind;

std::string tilec::quoted(StringRef text, bool lines) {
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

llvm::Error CodeWriter::unsupported(const llvm::Twine &what) const {
  return runtime::makeError(runtime::ErrorCode::Unsupported,
                            formatted("`{}` cannot be built: {}", kernel, what));
}

//===----------------------------------------------------------------------===//
// Formulas and tensor maps
//===----------------------------------------------------------------------===//

std::string CodeWriter::writeFormula(const std::string &name, llvm::ArrayRef<Step> steps,
                                     unsigned results) {
  os << "static const tile_rt_step " << name << "[] = {";
  for (const Step &step : steps)
    os << '{' << unsigned(step.op) << ", "
       << (step.operand == INT64_MIN ? "INT64_MIN" : formatted("INT64_C({})", step.operand))
       << "}, ";
  os << "};\n";
  return formatted("{{{}, {}, {}}}", name, steps.size(), results);
}

llvm::Error CodeWriter::addSum(const LaunchSum &sum, const KernelMetadata &metadata,
                               std::vector<Step> &steps) const {
  using Part = LaunchSum::Factor::Part;
  steps.push_back({Step::Constant, 0});
  for (const LaunchSum::Term &term : sum.terms) {
    steps.push_back({Step::Constant, term.coefficient});
    for (const LaunchSum::Factor &factor : term.factors) {
      if (!factor.path.empty())
        return unsupported("its arguments are tuples");
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

llvm::Error CodeWriter::writeMap(const std::string &name, const KernelParameter &parameter,
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
    return unsupported("a tensor map has too many numbers");
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

void CodeWriter::writeImage(const std::string &name, const BuiltCode &code) {
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
llvm::Expected<unsigned> CodeWriter::writeParameters(const std::string &name,
                                                     const KernelMetadata &metadata,
                                                     const runtime::LaunchPlan &plan) {
  std::string parameters, maps;
  unsigned numMaps = 0, numScratch = 0;
  for (auto [parameter, planned] : llvm::zip(metadata.params, plan.parameters)) {
    if (!parameter.path.empty())
      return unsupported("its arguments are tuples");
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
    return unsupported("it has too many parameters");
  if (!parameters.empty())
    os << "static const tile_rt_parameter " << name << "_parameters[] = {" << parameters << "};\n";
  if (numMaps)
    os << "static const tile_rt_map " << name << "_maps[] = {" << maps << "};\n";
  return numMaps;
}

llvm::Expected<std::string> CodeWriter::writeCode(const std::string &name, const BuiltCode &code,
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
      "{}, {}, {}, {}, {}, {}}}",
      quoted(metadata.entry), target ? target->capability : 0, int(isExact), name, metadata.threads,
      metadata.sharedBytes, metadata.cluster[0], metadata.cluster[1], metadata.cluster[2],
      metadata.ctasPerProgram, metadata.programsPerBlock[0], metadata.programsPerBlock[1],
      metadata.programsPerBlock[2], metadata.programsApart, metadata.fewPrograms,
      int(metadata.cooperative), int(metadata.dependent), int(metadata.persistent),
      int(metadata.programsGrow), metadata.params.empty() ? "0" : name + "_parameters",
      metadata.params.size(), *maps ? name + "_maps" : "0", *maps, withoutMaps, alone);
}
