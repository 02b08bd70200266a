//===- Extrema.cpp - pairs of values and places, as PyTorch has them ------===//
#include "frontend/eval/Extrema.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;

static constexpr std::pair<StringRef, StringRef> placesOf[] = {
    {"max", "argmax"},
    {"min", "argmin"},
    {"sort", "argsort"},
    {"median", "place_of_median"},
    {"kthvalue", "place_of_kthvalue"},
    {"cummax", "places_of_cummax"},
    {"cummin", "places_of_cummin"},
};

StringRef Extrema::placesName() const {
  return llvm::find_if(placesOf, [&](auto &pair) { return pair.first == name; })->second;
}

/// Whether only PyTorch has such a call: NumPy sorts in place by a method, has no method `median`,
/// and does not sort backwards.
static bool isTheirsAlone(StringRef name, const CallArgs &args, bool isMethod) {
  if (args.keyword("dim") || name == "kthvalue" || name.starts_with("cum"))
    return true;
  bool isOrder = name == "sort" || name == "median";
  return isOrder && (isMethod || args.keyword("descending") || args.positional.size() > 2);
}

std::optional<Extrema> Extrema::of(StringRef name, const CallArgs &args, bool isMethod) {
  if (llvm::none_of(placesOf, [&](auto &pair) { return pair.first == name; }) ||
      args.keyword("axis"))
    return std::nullopt;
  const PyValue *dim = args.keyword("dim");
  const PyValue *axis = !dim && args.positional.size() > 1 ? &args.positional[1] : dim;
  // Without an axis these are of all elements.
  bool isOfAll = name == "max" || name == "min" || name == "median";
  if (isOfAll && (!axis || !axis->is(PyValue::Kind::Int)))
    return std::nullopt;
  return Extrema{name.str(), isTheirsAlone(name, args, isMethod), {}};
}

std::optional<Result> Extrema::attribute(StringRef of) const {
  if (of != "values" && of != "indices")
    return std::nullopt;
  Result pair = both();
  return pair ? Result(pair->elements()[of == "indices"]) : std::move(pair);
}

/// Of what NumPy and PyTorch mean differently.
static std::unique_ptr<EvalError> ambiguous(const Extrema &extrema, const std::string &form) {
  return fail(formatted("`{0}(1){1}` is the values in PyTorch, and rows of them in NumPy: write "
                        "`{0}(dim=1){1}` or `{0}(1).values` for the one, `{0}(axis=1){1}` for the "
                        "other",
                        extrema.name, form));
}

std::optional<Result> Extrema::subscript(const PyValue &index) const {
  if (isByDim && index.is(PyValue::Kind::Extension) && index.asExtension()->typeName() == "size")
    return Result(fail(formatted("`{0}(dim=1)[{1}]` is the values or their places: `[0]` or `[1]`; "
                                 "rows of the values are `{0}(axis=1)[{1}]`",
                                 name, repr(index))));
  std::optional<int64_t> i = index.is(PyValue::Kind::Int) ? index.toInt64() : std::nullopt;
  if (!i || *i < -2 || *i > 1)
    return std::nullopt;
  if (!isByDim)
    return Result(ambiguous(*this, formatted("[{}]", *i)));
  return attribute(*i == 0 || *i == -2 ? "values" : "indices");
}

Result Extrema::iterate(std::vector<PyValue> &elements) const {
  if (!isByDim)
    return fail(formatted("what `{0}(1)` is taken apart into is values and places in PyTorch, and "
                          "rows in NumPy: write `{0}(dim=1)` for the one, `{0}(axis=1)` for the "
                          "other",
                          name));
  Result pair = both();
  if (pair)
    elements = pair->elements().vec();
  return pair ? Result(PyValue()) : std::move(pair);
}

PyValue tile::eval::namedPair(StringRef type, std::pair<StringRef, StringRef> names,
                              const PyValue &first, const PyValue &second) {
  auto fields = std::make_shared<ClassObject>();
  fields->name = type.str();
  fields->isNamedTuple = true;
  fields->fields = {names.first.str(), names.second.str()};
  return PyValue::namedTuple(std::move(fields), {first, second});
}
