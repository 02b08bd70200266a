//===- Builders.h - layouts of blocks, and of what shape ops make of them --===//
//
// `blocked` makes layouts from the vocabulary of a programmer (elements a
// thread, threads a warp, warps); the other functions say how a layout follows
// a block through an operation that only renames elements. All results have
// inputs register, lane, warp in that order and outputs dim0, dim1, ...; a
// register bit never has a zero basis (no thread keeps one element twice),
// lane and warp bits may (threads then hold copies).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_LAYOUT_BUILDERS_H
#define TILE_IR_LAYOUT_BUILDERS_H

#include "ir/layout/LinearLayout.h"

namespace tile::layout {

using Shape = llvm::ArrayRef<int64_t>;
using Counts = llvm::ArrayRef<unsigned>;

/// Register bits first, then lanes, then warps, each taken along the
/// dimensions in `order` (fastest first). A tile larger than the shape leaves
/// lanes and warps with copies (registers are dropped); a smaller one is
/// repeated, in more registers. Requires powers of two throughout.
LinearLayout blocked(Shape shape, Counts sizePerThread, Counts threadsPerWarp, Counts warpsPerBlock,
                     Counts order);

/// Threads spread along `order` (fastest first): `vector` elements a thread,
/// then lanes, then warps, each filling one dimension before the next.
/// What a coalesced access wants.
LinearLayout spread(Shape shape, unsigned vector, unsigned numWarps, Counts order);

/// dim(rank-1) fastest, one element a thread.
LinearLayout defaultLayout(Shape shape, unsigned numWarps);

/// The layout without dimension `axis`: who holds the result of a reduction
/// when every thread that held a part of it gets the whole.
LinearLayout sliceAxis(const LinearLayout &l, unsigned axis);
/// `l`, but where warps have the same registers each has other ones of them, and fewer: as far as
/// there are registers.
LinearLayout withoutCopiesOfWarps(const LinearLayout &l);
/// A dimension of size one inserted at `axis`.
LinearLayout expandDims(const LinearLayout &l, unsigned axis);
/// The layout for `operandShape` (some dimensions of l shrunk to one) from
/// which a broadcast to `l` moves nothing between threads.
LinearLayout broadcastOperand(const LinearLayout &l, Shape operandShape);
/// The layout that a broadcast of `l` to `resultShape` gives when every thread
/// repeats its elements in registers.
LinearLayout broadcastResult(const LinearLayout &l, Shape resultShape);
/// Row-major reinterpretation under another shape. Its own inverse when called
/// with the shape of `l`.
LinearLayout reshape(const LinearLayout &l, Shape shape);
/// Dimension i of the result is dimension order[i] of `l`.
LinearLayout transpose(const LinearLayout &l, llvm::ArrayRef<int32_t> order);
/// A new last dimension of two, side by side in the lowest register bit.
LinearLayout join(const LinearLayout &l);
/// The layout of each half of a last dimension of two, if both halves of a
/// pair lie in one thread in registers that differ in one bit; that bit is
/// returned too.
struct SplitLayout {
  LinearLayout half;
  unsigned registerBit;
};
std::optional<SplitLayout> split(const LinearLayout &l);

/// Sizes of the outputs.
llvm::SmallVector<int64_t, 4> shapeOf(const LinearLayout &l);

} // namespace tile::layout

#endif // TILE_IR_LAYOUT_BUILDERS_H
