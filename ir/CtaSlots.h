//===- CtaSlots.h - the shared memory of a ring's slot --------------------===//
#ifndef TILE_IR_CTASLOTS_H
#define TILE_IR_CTASLOTS_H

#include "ir/CtaDialect.h"

namespace tile::cta {

/// What a buffer takes of a slot: buffers are swizzled, so each begins at a multiple of
/// `kSlotAlignment`.
int64_t bytesInSlot(mlir::Type buffer);

/// What all buffers of a slot take, one behind the other. A slot may hold any buffers that take
/// no more than those of its ring.
int64_t bytesInSlot(mlir::TypeRange buffers);

} // namespace tile::cta

#endif // TILE_IR_CTASLOTS_H
