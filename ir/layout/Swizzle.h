//===- Swizzle.h - vectors, shared-memory layouts and bank conflicts ------===//
//
// Shared memory has 32 banks of 4 bytes. One warp access is served in
// wavefronts of 128 bytes: lanes in one wavefront must touch different banks
// or the same word. A shared-memory layout is a map offset -> element
// coordinates (offsets counted in elements); the one for a pair of layouts
// makes both the write and the read as wide and as free of conflicts as the
// algebra allows.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_LAYOUT_SWIZZLE_H
#define TILE_IR_LAYOUT_SWIZZLE_H

#include "ir/layout/LinearLayout.h"

namespace tile::layout {

/// Registers of a thread that hold 2^masks.size() consecutive, aligned
/// positions along one output dimension. Position k of the group that starts
/// in register f is in register `f ^ XOR of masks[i] over the set bits i of k`.
struct VectorAccess {
  llvm::SmallVector<int32_t, 4> masks;
  llvm::SmallVector<int32_t, 16> firstRegisters; ///< of each group
  unsigned log2() const { return masks.size(); }
  int32_t registerAt(int32_t first, unsigned k) const {
    for (unsigned i = 0; i < masks.size(); ++i)
      if (k >> i & 1)
        first ^= masks[i];
    return first;
  }
};

/// The widest such groups of at most 2^maxLog2, for every thread alike.
/// `out` is a block dimension, or `offset` for a layout composed into shared
/// memory.
VectorAccess widestVector(const LinearLayout &layout, Dim out, unsigned maxLog2);

/// Memory wavefronts of one access of a warp, of `bytes` by each lane: the bits of a lane's number
/// move its address by these many bytes, by XOR.
unsigned countWavefronts(llvm::ArrayRef<uint64_t> laneSteps, unsigned bytes);
/// Memory wavefronts of one warp that accesses every element of `access` (a
/// distributed layout) once, with vectors of 2^vectorLog2 elements (as found
/// by widestVector). `shared` maps offset -> the outputs of `access`.
unsigned countWavefronts(const LinearLayout &access, const LinearLayout &shared,
                         unsigned elementBytes, unsigned vectorLog2);
/// The least number that any arrangement could take with these vectors: bytes
/// that the warp's distinct elements fill, or the number of instructions.
unsigned idealWavefronts(const LinearLayout &access, unsigned elementBytes, unsigned vectorLog2);

struct SharedLayout {
  LinearLayout layout; ///< offset -> block coordinates, invertible
  unsigned writeVectorLog2, readVectorLog2;
};

/// Requires: both layouts with the same outputs, surjective; element size a
/// power of two up to 8 bytes.
SharedLayout optimalSwizzle(const LinearLayout &write, const LinearLayout &read,
                            unsigned elementBytes);
/// The same where the first 2^rowLog2 registers of `read` have to lie side by side.
SharedLayout swizzleOfRows(const LinearLayout &write, const LinearLayout &read,
                           unsigned elementBytes, unsigned rowLog2);

/// The layout of offsets that `access` reaches: access composed with the
/// inverse of `shared`. Feed it to widestVector with Dim::offset(), and to the
/// lowering for addresses.
LinearLayout offsetsOf(const LinearLayout &access, const LinearLayout &shared);

} // namespace tile::layout

#endif // TILE_IR_LAYOUT_SWIZZLE_H
