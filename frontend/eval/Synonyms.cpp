//===- Synonyms.cpp - what other libraries call functions, and give them --===//
#include "frontend/eval/Synonyms.h"
#include "text/Format.h"

using namespace tile;
using llvm::StringRef;

/// The second of the pair whose first it is.
template <size_t n>
static StringRef found(const std::pair<StringRef, StringRef> (&table)[n], StringRef name) {
  for (auto [other, own] : table)
    if (other == name)
      return own;
  return name;
}

StringRef tile::eval::usualName(StringRef name) {
  static constexpr std::pair<StringRef, StringRef> table[] = {
      {"absolute", "abs"},
      {"amax", "max"},
      {"amin", "min"},
      {"arccos", "acos"},
      {"arccosh", "acosh"},
      {"arcsin", "asin"},
      {"arcsinh", "asinh"},
      {"arctan", "atan"},
      {"arctan2", "atan2"},
      {"arctanh", "atanh"},
      {"astype", "to"},
      {"bce_with_logits", "binary_cross_entropy_with_logits"},
      {"bmm", "matmul"},
      {"clip", "clamp"},
      {"concat", "cat"},
      {"concatenate", "cat"},
      {"degrees", "rad2deg"},
      {"divide", "div"},
      {"dot", "matmul"},
      {"equal", "eq"},
      {"fix", "trunc"},
      {"float_power", "pow"},
      {"ger", "outer"},
      {"greater", "gt"},
      {"greater_equal", "ge"},
      {"less", "lt"},
      {"less_equal", "le"},
      {"mm", "matmul"},
      {"mod", "remainder"},
      {"moveaxis", "movedim"},
      {"log_sigmoid", "logsigmoid"},
      {"multiply", "mul"},
      {"mv", "matmul"},
      {"negative", "neg"},
      {"not_equal", "ne"},
      {"permute_dims", "permute"},
      {"power", "pow"},
      {"radians", "deg2rad"},
      {"rint", "round"},
      {"row_stack", "vstack"},
      {"sgn", "sign"},
      {"subtract", "sub"},
      {"swapaxes", "transpose"},
      {"swapdims", "transpose"},
      {"swish", "silu"},
      {"take_along_axis", "gather"},
      {"take_along_dim", "gather"},
      {"trapz", "trapezoid"},
      {"true_divide", "div"},
      {"type", "to"},
      {"vdot", "matmul"},
  };
  return found(table, name);
}

StringRef tile::eval::usualKeyword(StringRef keyword) {
  static constexpr std::pair<StringRef, StringRef> table[] = {
      {"dim", "axis"},
      {"dims", "axis"},
      {"axes", "axis"},
      {"keepdims", "keepdim"},
      {"keep_dims", "keepdim"},
      {"ddof", "correction"},
      {"unbiased", "correction"},
      {"input", "x"},
      {"other", "y"},
      {"target", "y"},
      {"size", "shape"},
      {"fill_value", "value"},
      {"min", "lo"},
      {"max", "hi"},
      {"ord", "p"},
      {"split_size_or_sections", "size"},
  };
  return found(table, keyword);
}

using namespace tile::eval;

static void renameKeyword(CallArgs &args, StringRef from, StringRef to) {
  for (auto &[keyword, value] : args.keywords)
    if (keyword == from)
      keyword = to.str();
}

/// A keyword that is taken out; None if it is not there.
static PyValue takeKeyword(CallArgs &args, StringRef name) {
  for (size_t i = 0; i < args.keywords.size(); ++i)
    if (args.keywords[i].first == name) {
      PyValue value = args.keywords[i].second;
      args.keywords.erase(args.keywords.begin() + i);
      args.keywordRanges.clear();
      return value;
    }
  return {};
}

/// Pairs for each dimension, of numbers for the last dimension, then for the one before it, and so
/// on.
static std::unique_ptr<EvalError> pairWidths(CallArgs &args) {
  PyValue mode = takeKeyword(args, "mode");
  if (!mode.isNone() && !(mode.isStr() && mode.asStr() == "constant"))
    return unsupported(
        formatted("`pad` puts one number around: the mode is \"constant\", not {}", repr(mode)));
  renameKeyword(args, "constant_values", "value");
  if (args.positional.size() < 2 || !args.positional[1].isSequence() ||
      args.positional[1].elements().empty() || args.positional[1].elements()[0].isSequence())
    return nullptr;
  Result shape = attribute(args.positional[0], "shape");
  size_t rank = shape && shape->isSequence() ? shape->elements().size() : 0;
  std::vector<PyValue> widths = args.positional[1].elements().vec(), pairs;
  if (widths.size() % 2 || widths.size() > 2 * rank)
    return fail(formatted("`pad` needs two widths for a dimension, and has {} numbers for {}",
                          widths.size(), rank),
                "ValueError");
  for (size_t dim = rank; dim-- > 0;) {
    bool isGiven = 2 * dim + 1 < widths.size();
    PyValue none = PyValue::integer(0);
    pairs.push_back(PyValue::tuple({isGiven ? widths[2 * dim] : none, //
                                    isGiven ? widths[2 * dim + 1] : none}));
  }
  args.positional[1] = PyValue::list(std::move(pairs));
  return nullptr;
}

std::unique_ptr<EvalError> tile::eval::useUsualForms(StringRef name, CallArgs &args) {
  if (name == "pad")
    return pairWidths(args);
  if (name == "gather" && args.positional.size() == 3 && args.positional[1].toInt64())
    std::swap(args.positional[1], args.positional[2]);
  if (name == "cross_entropy") {
    renameKeyword(args, "x", "logits");
    renameKeyword(args, "y", "labels");
  }
  if (name == "embedding")
    renameKeyword(args, "x", "index");
  if (name == "dropout") {
    PyValue trains = takeKeyword(args, "training");
    Result is = truth(trains);
    if (!is)
      return is.takeError();
    if (!trains.isNone() && !is->asBool()) {
      takeKeyword(args, "p");
      args.positional.resize(std::max<size_t>(args.positional.size(), 2));
      args.positional[1] = PyValue::integer(0);
      args.positionalRanges.clear();
    }
  }
  return nullptr;
}

tile::eval::Result tile::eval::geluByTanh(const ArgReader &arguments) {
  bool isTanh = arguments.has(1) && arguments[1].isStr() && arguments[1].asStr() == "tanh";
  bool isNone = !arguments.has(1) || (arguments[1].isStr() && arguments[1].asStr() == "none");
  if (!isTanh && !isNone)
    return fail(
        formatted("`approximate` of `gelu` is \"none\" or \"tanh\", got {}", repr(arguments[1])));
  return PyValue::boolean(isTanh);
}
