//===- Passes.h - the project's passes ------------------------------------===//
//
// Declared in Passes.td: their constructors, and `registerTilePasses`.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_PASSES_H
#define TILE_PASSES_PASSES_H

#include "ir/CtaDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Pass/Pass.h"

namespace tile {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace tile

#endif // TILE_PASSES_PASSES_H
