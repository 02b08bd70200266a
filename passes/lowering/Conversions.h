//===- Conversions.h - moving a block from one layout to another -*- C++ -*-===//
//
// A block comes to other threads by shuffles, or through the scratch memory that the operation has
// been given, with barriers of its own; or its registers get other names.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_CONVERSIONS_H
#define TILE_PASSES_LOWERING_CONVERSIONS_H

#include "passes/lowering/core/Core.h"
#include "target/Tuning.h"

namespace tile::lowering {

mlir::LogicalResult lowerConvert(Core &core, cta::ConvertLayoutOp op);

/// Through shared memory (Exchange.cpp).
mlir::LogicalResult exchange(Core &core, cta::ConvertLayoutOp op);

/// Of the chip, with as many bytes at a time as the kernel's form asks for.
Tuning tuningOfExchange(cta::ConvertLayoutOp op);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_CONVERSIONS_H
