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
  explicit constexpr Dim(uint32_t id) : id(id) {}
  uint32_t id;
};

/// The coordinate that one input bit contributes, one entry per output
/// dimension in the layout's order.
using Basis = llvm::SmallVector<int32_t, 4>;
/// A dimension and its size (a power of two), or a coordinate along it.
using DimValue = std::pair<Dim, int32_t>;
using Position = llvm::SmallVector<DimValue, 4>;

/// An immutable linear map between named power-of-two spaces.
///
/// Held packed: an output coordinate is one word with the first output
/// dimension in the lowest bits, and the map is one word for each input bit.
/// `row(i)` is the image of input bit i, counting the bits of the first input
/// dimension first. The packed forms are public because whole algorithms
/// (classification, swizzles) are a few word operations on them.
class LinearLayout {
public:
  using InDim = std::pair<Dim, llvm::SmallVector<Basis, 8>>; // one basis per bit
  using OutDim = DimValue;                                   // size, a power of two

  /// The empty map (no dimensions): the unit of operator*.
  LinearLayout() = default;

  /// Requires: every basis has outDims.size() entries, each within its size;
  /// no name twice; at most 62 bits on either side.
  /// Returns nullopt otherwise (never aborts).
  static std::optional<LinearLayout> create(llvm::ArrayRef<InDim> ins,
                                            llvm::ArrayRef<DimValue> outs);
  /// From packed rows, one for each input bit.
  static LinearLayout fromRows(llvm::ArrayRef<DimValue> ins, llvm::ArrayRef<DimValue> outs,
                               llvm::ArrayRef<uint64_t> rows);
  /// in i -> out i, both of `size`.
  static LinearLayout identity1D(int32_t size, Dim in, Dim out);
  /// Every position of `in` (of `inSize`) -> 0 of `out` (of `outSize`).
  static LinearLayout zeros1D(int32_t inSize, Dim in, Dim out, int32_t outSize = 1);
  /// in i -> out i * stride; `out` has size `size * stride`.
  static LinearLayout strided1D(int32_t size, int32_t stride, Dim in, Dim out);

  /// Names and sizes, in order.
  llvm::ArrayRef<DimValue> ins() const { return inDims; }
  llvm::ArrayRef<DimValue> outs() const { return outDims; }
  bool hasIn(Dim d) const;
  bool hasOut(Dim d) const;
  int32_t inSize(Dim d) const;      ///< 1 if absent
  int32_t inSizeLog2(Dim d) const;  ///< 0 if absent
  int32_t outSize(Dim d) const;     ///< 1 if absent
  int32_t outSizeLog2(Dim d) const; ///< 0 if absent
  int32_t totalInSizeLog2() const { return static_cast<int32_t>(packedRows.size()); }
  int32_t totalOutSizeLog2() const;

  /// The coordinate that bit `bit` of `in` contributes. Requires that it exists.
  Basis basis(Dim in, unsigned bit) const;
  int32_t basis(Dim in, unsigned bit, Dim out) const;

  /// The image of a position. Input dimensions not named are taken as 0.
  Position apply(llvm::ArrayRef<DimValue> position) const;

  //--- The packed view ------------------------------------------------------
  llvm::ArrayRef<uint64_t> rows() const { return packedRows; }
  /// The rows of one input dimension (empty if absent).
  llvm::ArrayRef<uint64_t> rows(Dim in) const;
  /// The image of a packed position.
  uint64_t image(uint64_t packedIn) const;
  /// First bit of a dimension in a packed position. Requires that it exists.
  unsigned inShift(Dim in) const;
  unsigned outShift(Dim out) const;
  /// The bits of a dimension in a packed position (0 if absent).
  uint64_t inMask(Dim in) const;
  uint64_t outMask(Dim out) const;

  bool isSurjective() const { return rank() == totalOutSizeLog2(); }
  bool isInjective() const { return rank() == totalInSizeLog2(); }
  bool isInvertible() const { return isSurjective() && isInjective(); }
  int32_t rank() const; ///< over GF(2)

  /// Direct sum: `a * b` places b "above" a in every shared dimension, i.e. the
  /// bits of b come after the bits of a, in inputs and outputs alike.
  /// identity1D(4) * identity1D(8) == identity1D(32) for equal names.
  friend LinearLayout operator*(const LinearLayout &a, const LinearLayout &b);

  /// x -> outer(this(x)). Requires: outer's inputs include this' outputs by
  /// name (any order), with sizes at least as large; dimensions of size 1 may
  /// be missing. Inputs of `outer` that this lacks are taken as 0.
  [[nodiscard]] LinearLayout compose(const LinearLayout &outer) const;
  /// The inverse. Requires isInvertible().
  [[nodiscard]] LinearLayout invert() const { return pseudoInvert(); }
  /// A right inverse of a surjective map: out -> some in with this(in) == out.
  /// Free input bits (see freeVariableMasks) are 0 in every image, so among
  /// copies the one in the lowest register, lane and warp is chosen.
  /// Requires isSurjective().
  [[nodiscard]] LinearLayout pseudoInvert() const;
  /// The map C with `other(C(x)) == this(x)` for all x: from this' inputs to
  /// other's inputs, the recipe of a conversion from layout `other` to layout
  /// `this`: where each destination position finds its element.
  /// Requires: same outputs by name, `other` surjective.
  [[nodiscard]] LinearLayout invertAndCompose(const LinearLayout &other) const;
  /// q with `this == divisor * q`, if there is one. q has the dimensions of
  /// this (of size 1 where the divisor takes everything).
  [[nodiscard]] std::optional<LinearLayout> divideLeft(const LinearLayout &divisor) const;
  /// q with `this == q * divisor`, if there is one.
  [[nodiscard]] std::optional<LinearLayout> divideRight(const LinearLayout &divisor) const;
  /// Keep only the named inputs and outputs, in this' order.
  [[nodiscard]] LinearLayout sublayout(llvm::ArrayRef<Dim> ins, llvm::ArrayRef<Dim> outs) const;
  /// True if the sublayout is all zero.
  bool sublayoutIsZero(llvm::ArrayRef<Dim> ins, llvm::ArrayRef<Dim> outs) const;
  /// Reorder dimensions. Requires a permutation of the present names.
  [[nodiscard]] LinearLayout transposeIns(llvm::ArrayRef<Dim> order) const;
  [[nodiscard]] LinearLayout transposeOuts(llvm::ArrayRef<Dim> order) const;
  /// Reinterpret the outputs under other names and sizes. The first output
  /// dimension is the most minor (its bits come first).
  /// Requires an equal total size.
  [[nodiscard]] LinearLayout reshapeOuts(llvm::ArrayRef<DimValue> outs) const;
  [[nodiscard]] LinearLayout reshapeIns(llvm::ArrayRef<DimValue> ins) const;
  /// Concatenate the inputs (outputs) of two layouts with equal outputs (inputs).
  [[nodiscard]] LinearLayout concatIns(const LinearLayout &other) const;
  [[nodiscard]] LinearLayout concatOuts(const LinearLayout &other) const;
  [[nodiscard]] LinearLayout renameOut(Dim from, Dim to) const;
  [[nodiscard]] LinearLayout renameIn(Dim from, Dim to) const;
  /// Input bits whose image is a sum of images of bits before them, so that
  /// the layout restricted to the other bits is injective with the same image:
  /// a mask for each input dimension, in `ins()` order. A thread whose free
  /// bits are not all zero holds a copy.
  Position freeVariableMasks() const;
  /// The same as one packed mask.
  uint64_t freeBits() const;
  /// Drop the bits of `in` whose basis is zero.
  [[nodiscard]] LinearLayout removeZeroBases(Dim in) const;
  /// Drop the given bits of `in` (a mask of its bits).
  [[nodiscard]] LinearLayout removeInBits(Dim in, int32_t mask) const;

  /// `{register = [[1], [2]], lane = [[4]]}`; parsed by the attribute.
  std::string str() const;
  friend bool operator==(const LinearLayout &a, const LinearLayout &b) {
    return a.packedRows == b.packedRows && a.inDims == b.inDims && a.outDims == b.outDims;
  }
  friend bool operator!=(const LinearLayout &a, const LinearLayout &b) { return !(a == b); }
  friend llvm::hash_code hash_value(const LinearLayout &l);

private:
  llvm::SmallVector<DimValue, 4> inDims;
  llvm::SmallVector<DimValue, 4> outDims;
  llvm::SmallVector<uint64_t, 16> packedRows;
};

} // namespace tile::layout

#endif // TILE_IR_LAYOUT_LINEARLAYOUT_H
