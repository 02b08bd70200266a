//===- Synonyms.cpp - what other libraries call functions, and give them --===//
#include "frontend/eval/Synonyms.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"

llvm::StringRef tile::eval::usualName(llvm::StringRef name) {
  return llvm::StringSwitch<llvm::StringRef>(name)
      .Cases({"concatenate", "concat"}, "cat")
      .Case("absolute", "abs")
      .Case("amax", "max")
      .Case("amin", "min")
      .Case("bmm", "matmul")
      .Case("clip", "clamp")
      .Case("negative", "neg")
      .Case("power", "pow")
      .Cases({"swapaxes", "swapdims"}, "transpose")
      .Case("astype", "to")
      .Default(name);
}

tile::eval::Result tile::eval::geluByTanh(const ArgReader &arguments) {
  bool isTanh = arguments.has(1) && arguments[1].isStr() && arguments[1].asStr() == "tanh";
  bool isNone = !arguments.has(1) || (arguments[1].isStr() && arguments[1].asStr() == "none");
  if (!isTanh && !isNone)
    return fail(
        formatted("`approximate` of `gelu` is \"none\" or \"tanh\", got {}", repr(arguments[1])));
  return PyValue::boolean(isTanh);
}
