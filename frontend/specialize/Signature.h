//===- Signature.h - argument types as text -------------------------------===//
//
// `*fp32:16, i32, (i32:16, *fp16), (x=*fp16, n=i32), none, const="relu"`: what a launch knows
// about its arguments, and the values of constexpr parameters. The same
// spellings serve as annotations in the source.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_SIGNATURE_H
#define TILE_FRONTEND_SPECIALIZE_SIGNATURE_H

#include "frontend/eval/Eval.h"

namespace tile::specialize {

using eval::DType;
using eval::PyValue;

/// One entry of a signature.
struct ArgumentType {
  enum class Kind { Scalar, None, Tuple, Descriptor, Constant };
  Kind kind = Kind::Scalar;
  DType type;                         ///< Scalar (pointers too), Descriptor: of its elements
  int divisibility = 1;               ///< Scalar: promised multiple
  bool isOne = false;                 ///< Scalar: `:1`, the value is 1
  std::vector<ArgumentType> elements; ///< Tuple
  std::vector<std::string> fields;    ///< of a named tuple, otherwise empty
  std::string className;              ///< `Args(x=*fp32,n=i32)`: what the file calls it, if given
  std::vector<int64_t> block;         ///< Descriptor
  bool padNan = false;                ///< Descriptor: `tensordesc<fp16[64,64],nan>`
  std::string constant;               ///< Constant: the text after `const=`
};

/// Splits at commas outside of brackets and quotes. An unbalanced text fails.
bool splitSignature(llvm::StringRef text, std::vector<std::string> &entries, std::string &error);

/// Reads one entry. On failure returns nothing and sets `error`.
std::optional<ArgumentType> parseArgumentType(llvm::StringRef text, std::string &error);

/// Reads a compile-time value: JSON, `tl.float16`, `@function` of the file,
/// inf, -inf or nan.
std::optional<PyValue> parseConstant(llvm::StringRef text, eval::ModuleEnv &module,
                                     std::string &error);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_SIGNATURE_H
