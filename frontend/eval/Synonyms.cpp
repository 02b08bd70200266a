//===- Synonyms.cpp - what other libraries call the same functions --------===//
#include "frontend/eval/Synonyms.h"
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
