//===- Ranges.cpp - every variant that values in some ranges can reach ----===//
//
// Of each argument's range one value is taken for everything that code may depend on
// (being 1, being divisible by 16, needing 64 bits, alignment; each value of a constexpr),
// and all combinations are keyed as launches are: what is enumerated is what launches do.
//
//===----------------------------------------------------------------------===//
#include "runtime/jit/Jit.h"
#include "text/Format.h"
#include <set>

using namespace tile;
using namespace tile::jit;
using namespace tile::runtime;
using dispatch::Key;
using dispatch::Parameter;

/// An error is better than a machine that is busy for hours.
static constexpr size_t kMostVariants = 65536;

namespace {
using Wide = __int128;

/// least, least + step, ... up to most.
struct Progression {
  Wide least, most, step;
  /// The first member that is not below `from`; nothing if there is none up to `to`.
  std::optional<Wide> firstIn(Wide from, Wide to) const {
    Wide first = least >= from ? least : least + (from - least + step - 1) / step * step;
    return first > to || first > most ? std::nullopt : std::optional(first);
  }
};
} // namespace

static tile_value integer(Wide number) {
  return number > INT64_MAX ? tile_uint(uint64_t(number)) : tile_int(int64_t(number));
}

/// Divisibility goes round with 16 members; 1 is in one of them.
static void addClasses(const Progression &all, Wide from, Wide to, std::vector<tile_value> &out) {
  std::optional<Wide> first = all.firstIn(from, to);
  bool hasAligned = false, hasOther = false;
  for (int i = 0; first && i < 18; ++i, *first += all.step) {
    if (*first > to || *first > all.most)
      return;
    bool isAligned = *first % 16 == 0;
    if (*first == 1 || (isAligned ? hasAligned : hasOther))
      continue;
    (isAligned ? hasAligned : hasOther) = true;
    out.push_back(integer(*first));
  }
}

static llvm::Error invalid(const tile_argument_range &range, const llvm::Twine &what) {
  return makeError(ErrorCode::InvalidArgument,
                   formatted("the range of `{}` {}", range.parameter, what));
}

static llvm::Error addIntegers(const tile_argument_range &range, bool isConstexpr,
                               std::vector<tile_value> &out) {
  auto wide = [](const tile_value &value) {
    return value.kind == TILE_VALUE_UINT ? Wide(value.as.bits) : Wide(value.as.integer);
  };
  Progression all{wide(range.least), wide(range.most), Wide(range.step ? range.step : 1)};
  if (all.least > all.most)
    return invalid(range, "is empty: `least` is greater than `most`");
  if (isConstexpr) {
    if ((all.most - all.least) / all.step >= Wide(kMostVariants))
      return invalid(range, formatted("has more than {} values", uint64_t(kMostVariants)));
    for (Wide number = all.least; number <= all.most; number += all.step)
      out.push_back(integer(number));
    return llvm::Error::success();
  }
  if (std::optional<Wide> one = all.firstIn(1, 1))
    out.push_back(integer(*one));
  // What fits 32 bits, what needs 64, what needs a sign or must not have one.
  addClasses(all, INT64_MIN, Wide(INT32_MIN) - 1, out);
  addClasses(all, INT32_MIN, INT32_MAX, out);
  addClasses(all, Wide(INT32_MAX) + 1, INT64_MAX, out);
  addClasses(all, Wide(INT64_MAX) + 1, UINT64_MAX, out);
  return llvm::Error::success();
}

static llvm::Error addRange(const tile_argument_range &range, const Parameter &parameter,
                            std::vector<tile_value> &out) {
  const tile_value &least = range.least;
  if (least.kind == TILE_VALUE_INT || least.kind == TILE_VALUE_UINT) {
    if (range.most.kind != TILE_VALUE_INT && range.most.kind != TILE_VALUE_UINT)
      return invalid(range, "goes from an integer to something else");
    return addIntegers(range, parameter.flags & Parameter::Constexpr, out);
  }
  if (least.kind != TILE_VALUE_POINTER) {
    out.push_back(least);
    return llvm::Error::success();
  }
  out.push_back(least);
  out.back().as.bits = 16;
  if (range.step % 16 != 0 || range.step == 0) {
    out.push_back(least);
    out.back().as.bits = range.step ? range.step : 1;
  }
  return llvm::Error::success();
}

std::optional<tile_argument_range> jit::rangeOfType(const char *parameter, llvm::StringRef type) {
  auto range = [&](tile_value least, tile_value most, uint64_t step) {
    return tile_argument_range{parameter, least, most, step};
  };
  auto [name, hint] = type.trim().split(':');
  uint64_t step = 1;
  if (!hint.empty() && (hint.getAsInteger(10, step) || step == 0))
    return std::nullopt;
  bool isPointer = name.consume_front("*");
  if (isPointer)
    name.consume_front("k");
  uint8_t dtype = dispatch::dtypeNamed(name.str().c_str());
  if (dtype && isPointer) {
    tile_value any = tile_pointer(nullptr, tile_dtype(dtype));
    return range(any, any, step);
  }
  if (dtype == TILE_I1)
    return range(tile_bool(0), tile_bool(0), 1);
  if (dtype >= TILE_FP16 && dtype <= TILE_FP64)
    return range(tile_float(0), tile_float(0), 1);
  // The least multiple that the type has: members are as far apart as multiples are.
  auto leastMultiple = [&](uint64_t half) { return tile_int(int64_t(0 - half / step * step)); };
  if (dtype == TILE_I64)
    return range(leastMultiple(uint64_t(1) << 63), tile_int(INT64_MAX), step);
  if (dtype >= TILE_I8 && dtype <= TILE_I32) {
    int64_t half = int64_t(1) << (8 * (1 << (dtype - TILE_I8)) - 1);
    return hint == "1" ? range(tile_int(1), tile_int(1), 1)
                       : range(leastMultiple(uint64_t(half)), tile_int(half - 1), step);
  }
  if (dtype >= TILE_U8 && dtype <= TILE_U32)
    return range(tile_int(0), tile_int((int64_t(1) << (8 * (1 << (dtype - TILE_U8)))) - 1), step);
  return std::nullopt;
}

llvm::Error Jit::variants(llvm::ArrayRef<tile_argument_range> ranges,
                          llvm::function_ref<bool(const Key &)> visit) const {
  const std::vector<Parameter> &parameters = description->parameters;
  std::vector<std::vector<tile_value>> values(parameters.size());
  for (const tile_argument_range &range : ranges) {
    std::optional<unsigned> index = description->find(range.parameter ? range.parameter : "");
    if (!index) {
      llvm::StringRef near = frontend::nearestName(range.parameter ? range.parameter : "",
                                                   description->parameterNames());
      return invalid(range, formatted("means no argument of `{}`{}", description->kernel(),
                                      near.empty() ? "" : formatted("; did you mean `{}`?", near)));
    }
    if (llvm::Error error = addRange(range, parameters[*index], values[*index]))
      return error;
  }
  size_t combinations = 1;
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (values[i].empty() && description->defaults[i])
      values[i].push_back(*description->defaults[i]);
    if (values[i].empty())
      if (auto range = rangeOfType(parameters[i].name, description->annotations[i]))
        if (llvm::Error error = addRange(*range, parameters[i], values[i]))
          return error;
    if (values[i].empty())
      return makeError(
          ErrorCode::InvalidArgument,
          formatted("no range is given for argument `{}` of `{}`, which has no default and no type",
                    parameters[i].name, description->kernel()));
    combinations *= values[i].size();
    if (combinations > kMostVariants)
      return makeError(ErrorCode::InvalidArgument,
                       formatted("the ranges of `{}` reach more than {} variants",
                                 description->kernel(), uint64_t(kMostVariants)));
  }

  std::set<std::vector<uint64_t>> seen;
  std::vector<tile_value> chosen(parameters.size());
  auto passed = std::make_unique<dispatch::Values>();
  for (size_t number = 0; number < combinations; ++number) {
    size_t rest = number;
    for (size_t i = parameters.size(); i-- > 0;) {
      chosen[i] = values[i][rest % values[i].size()];
      rest /= values[i].size();
    }
    Key key;
    if (dispatch::Refusal refusal = dispatch::readValues(
            parameters.data(), unsigned(parameters.size()), chosen.data(), key, *passed))
      return refused(refusal, chosen.data());
    if (!seen.emplace(key.words, key.words + key.size).second)
      continue;
    bool goesOn = true;
    if (llvm::Error error = forEachChoice(key, chosen.data(),
                                          [&](const Key &full) { goesOn = goesOn && visit(full); }))
      return error;
    if (!goesOn)
      return llvm::Error::success();
  }
  return llvm::Error::success();
}

/// Any configuration may be chosen, and a heuristic that is a truth value may be either.
llvm::Error Jit::forEachChoice(const Key &key, const tile_value *values,
                               llvm::function_ref<void(const Key &)> visit) const {
  const std::vector<Configuration> &all = description->choices.configurations;
  for (unsigned i = 0; i < all.size(); ++i) {
    size_t count = all[i].heuristics.size();
    for (const Heuristic &heuristic : all[i].heuristics)
      if (!heuristic.formula.isTruth)
        return makeError(ErrorCode::Unsupported,
                         formatted("the variants of `{}` cannot be listed: its heuristic `{}` "
                                   "computes a number, which may be any",
                                   description->kernel(), heuristic.parameter));
    constexpr size_t most = 12;
    if (count > most)
      return makeError(
          ErrorCode::Unsupported,
          formatted("the variants of `{}` are too many to list", description->kernel()));
    for (size_t bits = 0; bits < size_t(1) << count; ++bits) {
      Key full = key;
      bool fits = full.add(i);
      for (size_t h = 0; h < count; ++h)
        fits &= full.add(bits >> h & 1);
      if (!fits)
        return refused({dispatch::Refusal::Why::TooMany, dispatch::kMostArguments + 1}, values);
      visit(full);
    }
  }
  return llvm::Error::success();
}
