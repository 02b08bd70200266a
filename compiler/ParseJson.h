//===- ParseJson.h - JSON that anybody may have written -------------------===//
#ifndef TILE_COMPILER_PARSEJSON_H
#define TILE_COMPILER_PARSEJSON_H

#include "llvm/Support/JSON.h"

namespace tile {

/// Like llvm::json::parse, which descends by recursion and would leave the stack: what
/// is nested deeper than anything of ours is an error.
llvm::Expected<llvm::json::Value> parseJson(llvm::StringRef text);

} // namespace tile

#endif // TILE_COMPILER_PARSEJSON_H
