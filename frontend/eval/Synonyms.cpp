//===- Synonyms.cpp - what other libraries call functions, and give them --===//
#include "frontend/eval/Synonyms.h"
#include "text/Format.h"

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

tile::eval::Result tile::eval::geluByTanh(const ArgReader &arguments) {
  bool isTanh = arguments.has(1) && arguments[1].isStr() && arguments[1].asStr() == "tanh";
  bool isNone = !arguments.has(1) || (arguments[1].isStr() && arguments[1].asStr() == "none");
  if (!isTanh && !isNone)
    return fail(
        formatted("`approximate` of `gelu` is \"none\" or \"tanh\", got {}", repr(arguments[1])));
  return PyValue::boolean(isTanh);
}
