//===- MatrixAccess.h - shared memory by 8 x 8 matrices -------------------===//
//
// `ldmatrix` and `stmatrix` move matrices of eight rows of 16 bytes between
// shared memory and the registers of a warp: lane l points at row l mod 8 of
// matrix l div 8, and holds word l mod 4 of row l div 4 of each matrix. The
// transposed forms, for elements of 16 bits, give a lane elements 2(l mod 4)
// and 2(l mod 4) + 1 of column l div 4 instead.
//
// Whether an access can be made in this way is a question to its layout:
//
//                 bits that lie within a row        bits that select the row
//   plain         registers of a word, lanes 0, 1   lanes 2, 3, 4
//   transposed    lanes 2, 3, 4                     one register, lanes 0, 1
//
// All other bits must leave the place within a row alone; two register bits
// select among the four matrices of an instruction.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_LAYOUT_MATRIXACCESS_H
#define TILE_IR_LAYOUT_MATRIXACCESS_H

#include "ir/layout/Swizzle.h"

namespace tile::layout {

struct MatrixAccess {
  bool transposed;
  /// Where each lane points: register (which instruction), lane, warp -> offset.
  LinearLayout addresses;
  /// Registers of a group differ by sums of these: elements of one word, then
  /// matrices of one instruction.
  llvm::SmallVector<int32_t, 2> elementMasks, matrixMasks;
  /// The lowest register of each instruction, in the order of the registers of
  /// `addresses`.
  llvm::SmallVector<int32_t, 16> firstRegisters;

  unsigned numMatrices() const { return 1u << matrixMasks.size(); }
  int32_t registerAt(int32_t first, unsigned matrix, unsigned element) const;
};

/// `offsets`: who accesses which element offset of shared memory (see
/// offsetsOf). Requires 32 lanes and a layout without copies in registers.
std::optional<MatrixAccess> matrixAccess(const LinearLayout &offsets, unsigned elementBytes,
                                         bool transposed);

/// Which instructions may be used for an exchange, and whether matrix instructions multiply what is
/// read.
struct MatrixSupport {
  bool load = false, store = false;
  bool isMultiplied = false;
};

/// An exchange through shared memory: its arrangement, and how each side is
/// accessed (by vectors where there is no matrix access).
struct Exchange {
  SharedLayout shared;
  std::optional<MatrixAccess> write, read;
};

/// The cheapest arrangement, in wavefronts and instructions. Requirements are
/// those of optimalSwizzle.
Exchange planExchange(const LinearLayout &write, const LinearLayout &read, unsigned elementBytes,
                      MatrixSupport support);

/// How one side accesses an arrangement that is given, and what it takes of a warp.
struct SharedWrite {
  std::optional<MatrixAccess> matrices;
  unsigned vectorLog2 = 0; ///< where there are none
  unsigned wavefronts = 0, instructions = 0;
};

/// The cheapest way for `holders` to write a block to `image`. `matrices`: stmatrix may be
/// used.
SharedWrite planWrite(const LinearLayout &holders, const LinearLayout &image, unsigned elementBytes,
                      bool matrices);

} // namespace tile::layout

#endif // TILE_IR_LAYOUT_MATRIXACCESS_H
