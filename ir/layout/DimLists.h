//===- DimLists.h - lists of named dimensions and their sizes -------------===//
//
// Sizes are powers of two: the coordinates of a list pack into one word, the first dimension in
// its lowest bits. For the layouts' own sources.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_LAYOUT_DIMLISTS_H
#define TILE_IR_LAYOUT_DIMLISTS_H

#include "ir/layout/GF2.h"
#include "ir/layout/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cassert>

namespace tile::layout::dims {

using llvm::ArrayRef;
using llvm::SmallVector;

inline bool isPowerOfTwo(int32_t size) { return size > 0 && llvm::isPowerOf2_32(size); }

inline const DimValue *findDim(ArrayRef<DimValue> dims, Dim d) {
  const DimValue *it = llvm::find_if(dims, [&](const DimValue &v) { return v.first == d; });
  return it == dims.end() ? nullptr : it;
}

inline unsigned totalBits(ArrayRef<DimValue> dims) {
  unsigned bits = 0;
  for (const DimValue &d : dims)
    bits += log2Exact(d.second);
  return bits;
}

/// The first bit of `d` when `dims` are packed in order.
inline unsigned shiftOf(ArrayRef<DimValue> dims, Dim d) {
  unsigned shift = 0;
  for (const DimValue &v : dims) {
    if (v.first == d)
      return shift;
    shift += log2Exact(v.second);
  }
  assert(false && "no such dimension");
  return 0;
}

inline uint64_t maskOf(ArrayRef<DimValue> dims, Dim d) {
  const DimValue *v = findDim(dims, d);
  return v ? lowBits(log2Exact(v->second)) << shiftOf(dims, d) : 0;
}

inline bool isValid(ArrayRef<DimValue> dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (!isPowerOfTwo(dims[i].second) || findDim(dims.take_front(i), dims[i].first))
      return false;
  return totalBits(dims) <= 62;
}

/// Moves the bits of a packed coordinate over `from` to their places over `to`;
/// dimensions that `to` lacks are dropped. Bits beyond a size in `to` must be 0.
inline uint64_t repack(uint64_t packed, ArrayRef<DimValue> from, ArrayRef<DimValue> to) {
  uint64_t result = 0;
  for (const DimValue &d : from) {
    unsigned bits = log2Exact(d.second);
    uint64_t field = packed & lowBits(bits);
    packed >>= bits;
    if (field && findDim(to, d.first))
      result |= field << shiftOf(to, d.first);
  }
  return result;
}

inline SmallVector<DimValue, 4> pick(ArrayRef<DimValue> dims, ArrayRef<Dim> names) {
  SmallVector<DimValue, 4> kept;
  for (const DimValue &d : dims)
    if (llvm::is_contained(names, d.first))
      kept.push_back(d);
  return kept;
}

inline SmallVector<DimValue, 4> reorder(ArrayRef<DimValue> dims, ArrayRef<Dim> order) {
  assert(dims.size() == order.size() && "expected a permutation of the dimensions");
  SmallVector<DimValue, 4> result;
  for (Dim d : order) {
    const DimValue *v = findDim(dims, d);
    assert(v && "expected a permutation of the dimensions");
    result.push_back(*v);
  }
  return result;
}

} // namespace tile::layout::dims

#endif // TILE_IR_LAYOUT_DIMLISTS_H
