//===- DotLayouts.h - who holds the operands of a matrix product ----------===//
//
// A product is computed where its accumulator lives: the layouts of both
// operands follow from the accumulator's and from what one instruction wants
// to find in a thread. `chooseInstruction` is the only table; everything else
// is algebra.
//
// A matrix instruction works on a *fragment* of each operand. A layout of a
// whole block is the fragment's layout, repeated in registers and over warps,
// and cut off where the block is smaller: lanes beyond its end then hold
// copies (rows and columns are computed twice, to no harm), except along the
// inner dimension, where the lowering puts zeros.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LAYOUTS_DOTLAYOUTS_H
#define TILE_PASSES_LAYOUTS_DOTLAYOUTS_H

#include "ir/Kernel.h"
#include "mlir/IR/BuiltinOps.h"

namespace tile {

/// What one warp-wide matrix instruction multiplies: m x k by k x n.
struct MatrixInstruction {
  unsigned m, n, k;
  unsigned packed; ///< operand elements in one register
  /// A thread has 2^run neighbours of the inner dimension, as they lie in an accumulator's columns
  /// or in memory, instead of `packed`. Sums do not tell, as long as both operands are so.
  unsigned run = 0;

  /// What of the inner dimension is multiplied in place of `k`.
  int32_t placeOf(int32_t k) const;
};

/// The operands of a product, in the order of the op.
enum DotOperand : unsigned { kDotA, kDotB, kDotAcc };

/// The instruction for a product on this hardware; nothing if it has none for
/// these types (then threads multiply and add for themselves).
std::optional<MatrixInstruction> chooseInstruction(DotOp op, const Target &target);

/// Cycles of a multiprocessor for that instruction of one warp, which all its tensor cores share,
/// at the peak of the chip's data sheet.
double cyclesOfInstruction(DotOp op, const Target &target);

/// Who holds which element of the instruction's operand: register, lane ->
/// dim0, dim1.
layout::LinearLayout fragment(const MatrixInstruction &instruction, DotOperand operand);

/// Layouts in which a product takes its operands and leaves its result.
struct DotLayouts {
  layout::LinearLayout a, b, acc;
  friend bool operator==(const DotLayouts &x, const DotLayouts &y) {
    return x.a == y.a && x.b == y.b && x.acc == y.acc;
  }
};

/// The instruction, with the runs, that the layouts of a product's blocks are made for;
/// nothing if they are not made for one.
std::optional<MatrixInstruction> instructionOf(DotOp op);

/// Whether matrix instructions of warps multiply `v` as it is.
bool isMultiplied(mlir::Value v);

/// How a laid-out product is computed.
enum class DotMethod {
  Matrix,    ///< by the chosen matrix instruction
  Registers, ///< by multiply-adds, on operands that each thread holds
  Staged,    ///< by multiply-adds, on operands read from shared memory
};
/// What the layouts of the op's blocks say.
DotMethod dotMethod(DotOp op);
/// True if operands without an instruction are too much for a thread's
/// registers, and shared memory has room: then they may live anywhere.
bool wantsStaging(DotOp op, const DotLayouts &layouts);

/// What a thread does for each element of an operand: 1 to read it, more to compute it where the
/// product takes it, which all warps that share it do for themselves.
struct OperandWork {
  unsigned a = 1, b = 1;
};

/// The layouts for `op` when nothing is given.
DotLayouts chooseDotLayouts(DotOp op, unsigned numWarps, OperandWork work = {});
/// The layouts for an accumulator that lives in `acc`; nothing if no
/// instruction of the op, with runs if these are asked for, can work there.
std::optional<DotLayouts> dotLayoutsFor(DotOp op, const layout::LinearLayout &acc,
                                        unsigned run = 0);

/// The layouts of a product of two dimensions whose inner one is shared out to `parts` batches,
/// each of which some warps multiply; nothing if a part is less than an instruction multiplies.
std::optional<DotLayouts> layoutsOfParts(DotOp op, unsigned parts, unsigned numWarps);

/// True if the value is another product's result, perhaps changed element by element.
bool comesFromProduct(mlir::Value value, unsigned depth = 0);

/// Operands for a matrix instruction that works on `acc`, if it can.
std::optional<DotLayouts> matrixDotLayouts(const MatrixInstruction &instruction,
                                           const layout::LinearLayout &acc, int64_t depth);
/// Each thread computes the elements it holds, from whole rows of `a` and whole
/// columns of `b` in its own registers. Works for any accumulator layout.
DotLayouts scalarDotLayouts(const layout::LinearLayout &acc, int64_t depth);
/// The same for one operand of a laid-out product.
layout::LinearLayout multiplyAddLayout(DotOp op, unsigned operand);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_DOTLAYOUTS_H
