//===- WarpgroupLayouts.h - layouts that matrix hardware prescribes --------===//
//
// The images that TMA writes and warpgroup matrix instructions read, and the
// registers that those instructions write, as linear layouts. Whether a given
// layout fits the hardware is then a comparison. PTX ISA: "Asynchronous
// warpgroup level matrix shared memory layout", "Register fragments".
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_LAYOUT_WARPGROUPLAYOUTS_H
#define TILE_IR_LAYOUT_WARPGROUPLAYOUTS_H

#include "ir/layout/Builders.h"

namespace tile::layout {

/// Bytes of the XOR pattern's span for a tile of `minorBytes` along its
/// contiguous dimension: the widest of 128, 64, 32 that it fills; 16 means
/// that there is no pattern.
unsigned swizzleSpan(int64_t minorBytes);

/// offset -> (dim0, dim1): a tile whose dimension `minor` is contiguous, cut
/// into columns of one span each. Within a column rows follow each other; the
/// 16-byte chunks of a row are permuted by the row's number within 8 spans.
/// Requires a rank of two and at least 16 bytes along `minor`.
LinearLayout swizzledTile(Shape shape, unsigned minor, unsigned elementBytes);

/// The same with chunks of `chunkBytes`, a power of two: no image of the hardware, but threads that
/// read down the rows meet in fewer banks. Requires whole elements in a chunk, and no chunk longer
/// than a span.
LinearLayout swizzledTileBy(unsigned chunkBytes, Shape shape, unsigned minor,
                            unsigned elementBytes);

/// The dimension along which `tile` is a swizzledTile, if it is one.
std::optional<unsigned> minorOfSwizzledTile(const LinearLayout &tile, unsigned elementBytes);

/// register, lane, warp -> (m, n): the accumulator of a block of warpgroup
/// matrix instructions m64nNkK. Warpgroups share out 64-row blocks first, then
/// columns; what is left is repeated in registers, columns first.
/// Requires m >= 64, n >= 8, numWarps a multiple of 4.
LinearLayout warpgroupAccumulator(int64_t m, int64_t n, unsigned numWarps);

/// register, lane, warp -> (m, k): the left operand in registers, for the same
/// warps.
LinearLayout warpgroupOperandA(int64_t m, int64_t k, int64_t n, unsigned elementBytes,
                               unsigned numWarps);

/// How many of the warpgroups share out the rows; the others share the columns.
unsigned warpgroupsAlongM(int64_t m, unsigned numWarps);

} // namespace tile::layout

#endif // TILE_IR_LAYOUT_WARPGROUPLAYOUTS_H
