//===- LinearLayout.h - who holds which element, as a linear map over GF(2) ===//
//
// One value type describes every distribution of a block: blocked, sliced,
// matrix-fragment and swizzled shared-memory layouts alike (Zhou et al. 2025,
// "Linear Layouts"). A layout maps *hardware* positions to *element*
// coordinates. Both sides have named dimensions whose sizes are powers of two;
// a position is a tuple of bit strings and the map is linear over GF(2): the
// image of a position is the XOR of the images of its set bits. So a layout is
// given by one basis vector for each input bit.
//
// Worked example: a block of 16 f32, 2 registers a thread, 4 lanes, 2 warps:
//
//     register = {[1]}          bit 0 of the register number adds 1
//     lane     = {[2], [4]}     bits 0, 1 of the lane add 2 and 4
//     warp     = {[8]}          bit 0 of the warp adds 8
//
//   element     0 1 2 3 4 5 6 7 | 8 ...
//   lane        0 0 1 1 2 2 3 3 | 0 ...
//   register    0 1 0 1 0 1 0 1 | 0 ...
//   warp        0 0 0 0 0 0 0 0 | 1 ...
//
// A zero basis vector is a *free* input bit: positions that differ in it hold
// copies of one element (broadcast). Swizzles are basis vectors that overlap.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_LAYOUT_LINEARLAYOUT_H
#define TILE_IR_LAYOUT_LINEARLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tile::layout {

/// An interned dimension name. Cheap to copy, compare and hash.
class Dim {
public:
  static Dim get(llvm::StringRef name);
  static Dim reg();              ///< "register": which register of a thread
  static Dim lane();             ///< "lane": which thread of a warp
  static Dim warp();             ///< "warp": which warp of the thread block
  static Dim block();            ///< "block": which thread block of a cluster
  static Dim offset();           ///< "offset": element offset in shared memory
  static Dim dim(unsigned axis); ///< "dim0", "dim1", ...: a block coordinate
  llvm::StringRef name() const;
  friend bool operator==(Dim a, Dim b) { return a.id == b.id; }
  friend bool operator!=(Dim a, Dim b) { return a.id != b.id; }
  friend llvm::hash_code hash_value(Dim d) { return llvm::hash_value(d.id); }

private:
  explicit Dim(uint32_t id) : id(id) {}
  uint32_t id;
};

/// The coordinate that one input bit contributes, one entry per output
/// dimension in the layout's order.
using Basis = llvm::SmallVector<int32_t, 4>;

/// An immutable linear map between named power-of-two spaces.
class LinearLayout {
public:
  using InDim = std::pair<Dim, llvm::SmallVector<Basis, 8>>; // one basis per bit
  using OutDim = std::pair<Dim, int32_t>;                    // size, a power of two

  /// The empty map (no dimensions): the unit of operator*.
  LinearLayout() = default;

  /// Requires: every basis has outDims.size() entries, each within its size.
  /// Returns nullopt otherwise (never aborts).
  static std::optional<LinearLayout> create(llvm::ArrayRef<InDim> ins,
                                            llvm::ArrayRef<OutDim> outs);
  /// in i -> out i, both of `size`.
  static LinearLayout identity1D(int32_t size, Dim in, Dim out);
  /// Every position of `in` (of `inSize`) -> 0 of `out` (of `outSize`).
  static LinearLayout zeros1D(int32_t inSize, Dim in, Dim out, int32_t outSize = 1);
  /// in i -> out i * stride; `out` has size `size * stride`.
  static LinearLayout strided1D(int32_t size, int32_t stride, Dim in, Dim out);

  llvm::ArrayRef<InDim> ins() const { return inDims; }
  llvm::ArrayRef<OutDim> outs() const { return outDims; }
  bool hasIn(Dim d) const;
  bool hasOut(Dim d) const;
  int32_t inSize(Dim d) const;      ///< 1 if absent
  int32_t inSizeLog2(Dim d) const;  ///< 0 if absent
  int32_t outSize(Dim d) const;     ///< 1 if absent
  int32_t outSizeLog2(Dim d) const; ///< 0 if absent
  int32_t totalInSizeLog2() const;
  int32_t totalOutSizeLog2() const;
  const Basis &basis(Dim in, unsigned bit) const;
  int32_t basis(Dim in, unsigned bit, Dim out) const;

  /// The image of a position. Input dimensions not named are taken as 0.
  llvm::SmallVector<std::pair<Dim, int32_t>, 4>
  apply(llvm::ArrayRef<std::pair<Dim, int32_t>> position) const;

  bool isSurjective() const;
  bool isInjective() const;
  bool isInvertible() const { return isSurjective() && isInjective(); }
  int32_t rank() const; ///< over GF(2)

  /// Direct sum: `a * b` places b "above" a in every shared dimension, i.e. the
  /// bits of b come after the bits of a, in inputs and outputs alike.
  /// identity1D(4) * identity1D(8) == identity1D(32) for equal names.
  friend LinearLayout operator*(const LinearLayout &a, const LinearLayout &b);

  /// x -> outer(this(x)). Requires: outer's inputs are this' outputs by name,
  /// with sizes at least as large.
  [[nodiscard]] LinearLayout compose(const LinearLayout &outer) const;
  /// The inverse. Requires isInvertible().
  [[nodiscard]] LinearLayout invert() const;
  /// A right inverse of a surjective map: out -> some in with this(in) == out,
  /// choosing the in with the fewest set bits (free bits are 0).
  /// Requires isSurjective().
  [[nodiscard]] LinearLayout pseudoInvert() const;
  /// The map C with `other(C(x)) == this(x)` for all x: from this' inputs to
  /// other's inputs, the recipe of a conversion from layout `other` to layout
  /// `this`: where each destination position finds its element.
  /// Requires: same outputs, `other` surjective.
  [[nodiscard]] LinearLayout invertAndCompose(const LinearLayout &other) const;
  /// q with `this == divisor * q`, if there is one.
  [[nodiscard]] std::optional<LinearLayout> divideLeft(const LinearLayout &divisor) const;
  /// q with `this == q * divisor`, if there is one.
  [[nodiscard]] std::optional<LinearLayout> divideRight(const LinearLayout &divisor) const;
  /// Keep only the named inputs and outputs.
  [[nodiscard]] LinearLayout sublayout(llvm::ArrayRef<Dim> ins, llvm::ArrayRef<Dim> outs) const;
  /// True if the sublayout is all zero.
  bool sublayoutIsZero(llvm::ArrayRef<Dim> ins, llvm::ArrayRef<Dim> outs) const;
  /// Reorder dimensions. Requires a permutation of the present names.
  [[nodiscard]] LinearLayout transposeIns(llvm::ArrayRef<Dim> order) const;
  [[nodiscard]] LinearLayout transposeOuts(llvm::ArrayRef<Dim> order) const;
  /// Reinterpret the outputs under other names and sizes. The first output
  /// dimension is the most minor (its bits come first).
  /// Requires an equal total size.
  [[nodiscard]] LinearLayout reshapeOuts(llvm::ArrayRef<OutDim> outs) const;
  [[nodiscard]] LinearLayout reshapeIns(llvm::ArrayRef<std::pair<Dim, int32_t>> ins) const;
  /// Concatenate the inputs (outputs) of two layouts with equal outputs (inputs).
  [[nodiscard]] LinearLayout concatIns(const LinearLayout &other) const;
  [[nodiscard]] LinearLayout renameOut(Dim from, Dim to) const;
  [[nodiscard]] LinearLayout renameIn(Dim from, Dim to) const;
  /// Input bits that do not change the image given the bits before them are in
  /// use: a mask for each input dimension, in `ins()` order. A thread whose
  /// free bits are not all zero holds a copy.
  llvm::SmallVector<std::pair<Dim, int32_t>, 4> freeVariableMasks() const;
  /// Drop register bits whose basis is zero.
  [[nodiscard]] LinearLayout removeZeroBases(Dim in) const;

  /// `{register = [[1], [2]], lane = ...}`; parsed by the attribute.
  std::string str() const;
  friend bool operator==(const LinearLayout &a, const LinearLayout &b) {
    return a.inDims == b.inDims && a.outDims == b.outDims;
  }
  friend bool operator!=(const LinearLayout &a, const LinearLayout &b) { return !(a == b); }
  friend llvm::hash_code hash_value(const LinearLayout &l);

private:
  llvm::SmallVector<InDim, 4> inDims;
  llvm::SmallVector<OutDim, 4> outDims;
};

} // namespace tile::layout

#endif // TILE_IR_LAYOUT_LINEARLAYOUT_H
