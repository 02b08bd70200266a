//===- LaunchPlan.cpp - how a kernel's parameters are found at launch -----===//
#include "runtime/LaunchPlan.h"
#include "compiler/ParseJson.h"
#include "frontend/Counted.h"
#include "runtime/Error.h"
#include "runtime/GridForms.h"
#include "text/Format.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace tile;
using namespace tile::runtime;
using Kind = KernelParameter::Kind;

unsigned runtime::parameterBytes(llvm::StringRef type) {
  return llvm::StringSwitch<unsigned>(type)
      .Cases({"i1", "i8", "u8", "fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16"}, 1)
      .Cases({"i16", "u16", "fp16", "bf16"}, 2)
      .Cases({"i32", "u32", "fp32"}, 4)
      .Cases({"ptr", "i64", "u64", "fp64"}, 8)
      .Default(0);
}

llvm::Error runtime::badMetadata(const KernelMetadata &metadata, const llvm::Twine &what) {
  return makeError(ErrorCode::InvalidArgument,
                   formatted("the metadata of `{}` {}", metadata.entry, what));
}

CompileOptions runtime::forLaunch(CompileOptions options) {
  options.persistent = options.checkedLaunch = true;
  return options;
}

bool runtime::usesTensorMaps(const KernelMetadata &metadata) {
  return llvm::any_of(metadata.params,
                      [](const KernelParameter &p) { return p.kind == Kind::TensorMap; });
}

llvm::Expected<std::array<uint64_t, 3>>
runtime::blocksOf(const KernelMetadata &metadata, const uint32_t grid[3], unsigned residentBlocks) {
  std::array<uint64_t, 3> blocks;
  for (int axis = 0; axis < 3; ++axis)
    blocks[axis] = llvm::divideCeil(grid[axis], uint64_t(metadata.programsPerBlock[axis]));
  blocks[0] *= metadata.ctasPerProgram;
  if (metadata.persistent) {
    uint64_t programs = uint64_t(grid[0]) * grid[1] * grid[2], cluster = metadata.cluster[0];
    if (programs > std::numeric_limits<int32_t>::max() - (cluster - 1))
      return makeError(ErrorCode::InvalidArgument,
                       formatted("the grid of `{}` has {} programs, and at most {} are possible "
                                 "for a persistent kernel",
                                 metadata.entry, programs,
                                 std::numeric_limits<int32_t>::max() - int(cluster - 1)));
    // Whole clusters: the kernel sees to it that blocks without a program do no harm.
    blocks = {std::min<uint64_t>(llvm::alignTo(programs, cluster),
                                 std::max<uint64_t>(residentBlocks / cluster, 1) * cluster),
              1, 1};
  }
  for (int axis = 0; axis < 3; ++axis)
    if (blocks[axis] % metadata.cluster[axis] != 0)
      return makeError(
          ErrorCode::InvalidArgument,
          formatted(
              "the grid of `{}` has {} blocks along {}, which its clusters of {} do not divide",
              metadata.entry, blocks[axis], "xyz"[axis], metadata.cluster[axis]));
  return blocks;
}

bool runtime::paysToShare(const KernelMetadata &metadata, const uint32_t grid[3],
                          unsigned multiprocessors) {
  if (metadata.programsGrow)
    return paysToShareGrowing(metadata.programsPerBlock, grid, multiprocessors);
  return paysToShare(metadata.programsPerBlock, uint64_t(std::max(metadata.programsApart, 0)), grid,
                     multiprocessors);
}

bool runtime::wantsForm(const KernelMetadata &metadata, const uint32_t grid[3],
                        unsigned multiprocessors) {
  if (hasFewPrograms(unsigned(std::max(metadata.fewPrograms, 0)), grid, multiprocessors))
    return true;
  const int (&together)[3] = metadata.programsPerBlock;
  return *std::max_element(together, together + 3) > 1 &&
         !paysToShare(metadata, grid, multiprocessors);
}

llvm::Error runtime::checkGrid(const KernelMetadata &metadata,
                               const std::array<uint64_t, 3> &blocks, const int (&most)[3]) {
  for (int axis = 0; axis < 3; ++axis)
    if (blocks[axis] > static_cast<uint64_t>(most[axis]))
      return makeError(
          ErrorCode::InvalidArgument,
          formatted("the grid of `{}` has {} blocks along {}, and at most {} are possible",
                    metadata.entry, blocks[axis], "xyz"[axis], most[axis]));
  return llvm::Error::success();
}

bool ParameterPlan::isMadeAtLaunch() const {
  return kind == Kind::Scratch || kind == Kind::TensorMap || kind == Kind::NumPrograms;
}

//===----------------------------------------------------------------------===//
// Multiples
//===----------------------------------------------------------------------===//

/// Logarithms of at most 16, and how many of them a key has.
static constexpr unsigned bitsOfMultiple = 3, mostMultiples = 64 / bitsOfMultiple;

uint64_t LaunchPlan::multiplesKey(llvm::ArrayRef<void *> pointers) const {
  uint64_t key = 0;
  for (const Multiple &multiple : multiples) {
    // The lowest bits are in the first byte, of numbers of any size.
    unsigned value = *static_cast<const uint8_t *>(pointers[multiple.parameter]);
    key |= uint64_t(llvm::countr_zero(value | multiple.most)) << multiple.shift;
  }
  return key;
}

llvm::SmallVector<std::pair<unsigned, unsigned>, 4> LaunchPlan::multiplesOf(uint64_t key) const {
  llvm::SmallVector<std::pair<unsigned, unsigned>, 4> known;
  for (const Multiple &multiple : multiples)
    known.emplace_back(parameters[multiple.parameter].index,
                       1u << (key >> multiple.shift & ((1u << bitsOfMultiple) - 1)));
  return known;
}

//===----------------------------------------------------------------------===//
// Making the plan
//===----------------------------------------------------------------------===//

/// The bits of a constant parameter given as JSON.
static std::optional<uint64_t> constantBits(llvm::StringRef type, llvm::StringRef json) {
  auto value = parseJson(json);
  if (!value) {
    llvm::consumeError(value.takeError());
    return std::nullopt;
  }
  if (value->getAsNull())
    return 0;
  if (auto flag = value->getAsBoolean())
    return *flag ? 1 : 0;

  const llvm::fltSemantics *format = llvm::StringSwitch<const llvm::fltSemantics *>(type)
                                         .Case("fp16", &llvm::APFloat::IEEEhalf())
                                         .Case("bf16", &llvm::APFloat::BFloat())
                                         .Case("fp32", &llvm::APFloat::IEEEsingle())
                                         .Case("fp64", &llvm::APFloat::IEEEdouble())
                                         .Case("fp8e4nv", &llvm::APFloat::Float8E4M3FN())
                                         .Case("fp8e5", &llvm::APFloat::Float8E5M2())
                                         .Default(nullptr);
  if (!format) {
    if (auto integer = value->getAsInteger())
      return static_cast<uint64_t>(*integer);
    if (auto integer = value->getAsUINT64())
      return *integer;
    return std::nullopt;
  }
  llvm::APFloat number(0.0);
  if (auto text = value->getAsString()) { // "inf", "-inf", "nan": not JSON numbers
    auto status = number.convertFromString(*text, llvm::APFloat::rmNearestTiesToEven);
    if (!status) {
      llvm::consumeError(status.takeError());
      return std::nullopt;
    }
  } else if (auto real = value->getAsNumber()) {
    number = llvm::APFloat(*real);
  } else {
    return std::nullopt;
  }
  bool exact = false;
  number.convert(*format, llvm::APFloat::rmNearestTiesToEven, &exact);
  return number.bitcastToAPInt().getZExtValue();
}

static llvm::Error planSums(const KernelMetadata &metadata, LaunchPlan &plan) {
  using Part = LaunchSum::Factor::Part;
  auto isPart = [](const ParameterPlan &parameter, const LaunchSum::Factor &factor) {
    if (factor.part == Part::Value)
      return parameter.kind == Kind::Arg || parameter.kind == Kind::DescBase;
    return parameter.kind == (factor.part == Part::Shape ? Kind::DescShape : Kind::DescStride) &&
           parameter.dim == factor.dim;
  };
  auto find = [&](const LaunchSum::Factor &factor) -> llvm::Expected<LaunchValue> {
    for (auto [i, parameter] : llvm::enumerate(plan.parameters))
      if (isPart(parameter, factor) && parameter.index == factor.index &&
          llvm::ArrayRef(parameter.path) == llvm::ArrayRef(factor.path))
        return LaunchValue{unsigned(i), parameter.bytes};
    return badMetadata(
        metadata,
        formatted("has something made from entry {} of the signature, which is no parameter",
                  factor.index));
  };
  for (const GridSplit &split : metadata.gridSplits) {
    auto size = planSum(split.size, find);
    if (!size)
      return addContext(size.takeError(), formatted("cannot load `{}`", metadata.entry));
    plan.splits.push_back({split.axis, split.to, std::move(*size), split.divisor});
  }
  for (auto [i, parameter] : llvm::enumerate(metadata.params)) {
    if (parameter.kind != Kind::TensorMap)
      continue;
    auto map = planTensorMap(parameter.map, parameter, find);
    if (!map)
      return addContext(map.takeError(), formatted("cannot load `{}`", metadata.entry));
    map->parameter = i;
    plan.tensorMaps.push_back(std::move(*map));
  }
  return llvm::Error::success();
}

llvm::Expected<LaunchPlan> LaunchPlan::of(const KernelMetadata &metadata) {
  LaunchPlan plan;
  plan.entry = metadata.entry;
  for (const KernelParameter &parameter : metadata.params) {
    ParameterPlan entry;
    entry.kind = parameter.kind;
    entry.index = parameter.index;
    entry.dim = parameter.dim;
    entry.path.assign(parameter.path.begin(), parameter.path.end());
    entry.bytes = 8;
    if (parameter.kind == Kind::Scratch) {
      entry.bytes = parameter.bytes;
      entry.perProgram = parameter.per == "program";
      entry.zero = parameter.zero;
      plan.hasScratch = true;
    } else if (parameter.kind == Kind::TensorMap) {
      entry.bytes = sizeof(cuda::TensorMap);
    } else if (parameter.kind != Kind::DescBase || !parameter.type.empty()) {
      entry.bytes = parameterBytes(parameter.type);
      if (!entry.bytes)
        return badMetadata(metadata,
                           formatted("has a parameter of unknown type `{}`", parameter.type));
    }
    if ((parameter.kind == Kind::DescShape || parameter.kind == Kind::DescStride) &&
        (parameter.dim < 0 || parameter.dim >= 5))
      return badMetadata(
          metadata,
          formatted("names dimension {} of a descriptor, which has at most 5", parameter.dim));
    if (parameter.kind == Kind::Const) {
      auto bits = constantBits(parameter.type, parameter.value);
      if (!bits)
        return badMetadata(metadata, formatted("has a constant `{}` that is no {}", parameter.value,
                                               parameter.type));
      entry.constant = plan.constants.size();
      plan.constants.push_back(*bits);
    }
    if (parameter.kind == Kind::NumPrograms && (parameter.dim < 0 || parameter.dim > 2))
      return badMetadata(metadata, formatted("names axis {} of the grid", parameter.dim));
    bool fromCaller = parameter.kind != Kind::Scratch && parameter.kind != Kind::Const &&
                      parameter.kind != Kind::NumPrograms;
    if (fromCaller && parameter.index < 0)
      return badMetadata(metadata, "has a parameter of a negative index");
    if (fromCaller)
      plan.numArguments = std::max(plan.numArguments, static_cast<unsigned>(parameter.index) + 1);
    if (parameter.multiple > 1 && plan.multiples.size() < mostMultiples)
      plan.multiples.push_back({unsigned(plan.parameters.size()), uint8_t(parameter.multiple),
                                uint8_t(bitsOfMultiple * plan.multiples.size())});
    plan.parameters.push_back(std::move(entry));
  }
  if (llvm::Error error = planSums(metadata, plan))
    return std::move(error);
  return plan;
}

bool LaunchPlan::splitGrid(uint32_t (&grid)[3], llvm::ArrayRef<void *> pointers) const {
  constexpr uint32_t kMostAcross = 65535;
  for (const Split &split : splits) {
    int64_t size = evaluate(split.size, pointers);
    uint32_t &along = grid[split.axis], &across = grid[split.to];
    // As the kernel computes it, in 32 bits.
    if (size < 0 || size > std::numeric_limits<int32_t>::max() || size / split.divisor == 0)
      return false;
    size /= split.divisor;
    if (across != 1 || along % size != 0 || (split.to != 0 && along / size > kMostAcross))
      return false;
    across = along / size;
    along = size;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Finding the values
//===----------------------------------------------------------------------===//

llvm::Error LaunchPlan::missingArgument(unsigned index) const {
  return makeError(ErrorCode::InvalidArgument,
                   formatted("argument {} of `{}` is missing: a null pointer was passed for an "
                             "entry of the signature that the kernel reads",
                             index, entry));
}

/// A descriptor's shape and strides are 64-bit; a kernel may want them narrower.
static llvm::Error checkNarrow(int64_t value, const ParameterPlan &parameter) {
  if (parameter.bytes == 8 || value == static_cast<int32_t>(value))
    return llvm::Error::success();
  return makeError(
      ErrorCode::InvalidArgument,
      formatted("the {} {} of dimension {} of descriptor argument {} does not fit 32 bits",
                parameter.kind == Kind::DescShape ? "size" : "stride", value, parameter.dim,
                parameter.index));
}

/// Narrow integers are the low bytes of wide ones: device and host are little-endian.
llvm::Error LaunchPlan::locate(const ParameterPlan &parameter, const void *argument,
                               const void *&value) const {
  for (int element : parameter.path) {
    if (!argument)
      break;
    argument = static_cast<const void *const *>(argument)[element];
  }
  if (!argument)
    return missingArgument(parameter.index);
  value = argument;
  if (parameter.kind == Kind::Arg)
    return llvm::Error::success();

  const auto *descriptor = static_cast<const tile_descriptor *>(argument);
  if (parameter.kind == Kind::DescBase) {
    value = &descriptor->base;
    return llvm::Error::success();
  }
  if (parameter.dim >= descriptor->rank)
    return makeError(ErrorCode::InvalidArgument,
                     formatted("descriptor argument {} of `{}` has {}, and at least {} are needed",
                               parameter.index, entry,
                               counted(uint64_t(descriptor->rank), "dimension"),
                               parameter.dim + 1));
  const int64_t &number = parameter.kind == Kind::DescShape ? descriptor->shape[parameter.dim]
                                                            : descriptor->strides[parameter.dim];
  value = &number;
  return checkNarrow(number, parameter);
}

llvm::Error LaunchPlan::resolve(llvm::ArrayRef<const void *> arguments,
                                llvm::MutableArrayRef<void *> pointers) const {
  if (arguments.size() < numArguments)
    return makeError(
        ErrorCode::InvalidArgument,
        formatted("`{}` takes {}, one for each entry of its signature; {} passed", entry,
                  counted(numArguments, "argument"),
                  std::to_string(arguments.size()) + (arguments.size() == 1 ? " was" : " were")));
  for (size_t i = 0; i < parameters.size(); ++i) {
    const ParameterPlan &parameter = parameters[i];
    if (parameter.isMadeAtLaunch())
      continue;
    const void *value = nullptr;
    if (parameter.kind == Kind::Const)
      value = &constants[parameter.constant];
    else if (llvm::Error error = locate(parameter, arguments[parameter.index], value))
      return error;
    pointers[i] = const_cast<void *>(value);
  }
  return llvm::Error::success();
}

llvm::Error LaunchPlan::checkSizes(size_t first, llvm::ArrayRef<size_t> sizes) const {
  for (const ParameterPlan &parameter : parameters) {
    size_t at = size_t(parameter.index) - first; // of those before it, beyond all
    bool isOfCaller = !parameter.isMadeAtLaunch() && parameter.kind != Kind::Const;
    if (!isOfCaller || !parameter.path.empty() || at >= sizes.size() || !sizes[at])
      continue;
    size_t wanted = parameter.kind == Kind::Arg ? parameter.bytes : sizeof(tile_descriptor);
    if (sizes[at] != wanted)
      return makeError(
          ErrorCode::InvalidArgument,
          formatted("argument {} of `{}` is a value of {}, and its entry of the signature has {}: "
                    "pass an address for a pointer, int32_t for i32, float for fp32",
                    parameter.index, entry, counted(sizes[at], "byte"), wanted));
  }
  return llvm::Error::success();
}
