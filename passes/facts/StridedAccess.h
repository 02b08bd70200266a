//===- StridedAccess.h - index arithmetic as strided tiles ----------------===//
//
// Reads the arithmetic that kernels do on blocks of indices and pointers,
//
//     a_ptr + (pid_m * 128 + arange(0, 128))[:, None] * stride + (k * 64 + arange(0, 64))[None, :]
//
// back as what it means: a start and one stride for each dimension, both of
// them polynomials in scalars of the program. Masks are read as bounds on the
// dimensions. What does not fit is not guessed at.
//
// Signed index arithmetic is taken not to overflow.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_STRIDEDACCESS_H
#define TILE_PASSES_FACTS_STRIDEDACCESS_H

#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/facts/NonNegative.h"
#include "passes/facts/Polynomial.h"

namespace tile {

/// block[i0, i1, ...] = start + i0 * strides[0] + i1 * strides[1] + ...
struct StridedBlock {
  Polynomial start;
  llvm::SmallVector<Polynomial, 4> strides;
  /// The indices along `dim` were taken modulo `modulus` (or others put in their place
  /// from there on) before they were scaled: what is said above holds while
  /// `index`.start + i_dim is below it.
  struct Wrap {
    unsigned dim;
    Polynomial index, modulus;
  };
  llvm::SmallVector<Wrap, 1> wraps;

  bool isUniform() const;
};

StridedBlock operator+(const StridedBlock &a, const StridedBlock &b);
StridedBlock operator-(const StridedBlock &a, const StridedBlock &b);

/// A block of pointers: `base` (a scalar) plus element offsets.
struct StridedPointers {
  mlir::Value base;
  StridedBlock offset;
};

/// i_dim < upper, and i_dim >= lower where `hasLower`.
struct Bound {
  unsigned dim;
  bool isLower;
  Polynomial limit; ///< exclusive for upper bounds, inclusive for lower ones
};

/// Whether `p` is the same in every iteration.
bool isInvariant(const Polynomial &p, mlir::scf::ForOp loop);

class StridedAnalysis {
public:
  /// Conditions that are decided: choices by them are what they then choose.
  using Decided = llvm::SmallDenseMap<mlir::Value, bool, 4>;
  /// With `nonNegative`, max(x, 0) is x where x is not below zero. `taken` are the
  /// arguments that it sees to.
  explicit StridedAnalysis(const NonNegative *nonNegative = nullptr,
                           const ArgumentSet *arguments = nullptr, Decided decided = Decided())
      : nonNegative(nonNegative), arguments(arguments), decided(std::move(decided)) {}
  llvm::ArrayRef<mlir::BlockArgument> taken() const {
    return arguments ? arguments->getArrayRef() : llvm::ArrayRef<mlir::BlockArgument>();
  }

  Polynomial scalar(mlir::Value v);
  std::optional<StridedBlock> block(mlir::Value v);
  std::optional<StridedPointers> pointers(mlir::Value v);
  /// The choice, of those that are open, that decides which of two arrays pointers are of; null if
  /// they are of one.
  mlir::arith::SelectOp choiceBehind(mlir::Value pointers) const;
  /// The conjunction of bounds that `mask` (null: none) stands for.
  std::optional<llvm::SmallVector<Bound, 4>> bounds(mlir::Value mask);

private:
  std::optional<StridedBlock> compute(mlir::Value v);
  std::optional<StridedPointers> computePointers(mlir::Value v);
  /// What `arg` of a loop gains in every iteration, times the iterations so far.
  std::optional<StridedBlock> progress(mlir::BlockArgument arg);
  /// What a choice between two numbers or pointers is, if its condition is decided; or null.
  mlir::Value chosenBy(mlir::Operation *op) const;

  const NonNegative *nonNegative;
  const ArgumentSet *arguments;
  Decided decided;
  llvm::DenseMap<mlir::Value, std::optional<StridedBlock>> blocks;
  llvm::DenseMap<mlir::Value, std::optional<StridedPointers>> pointerBlocks;
  llvm::DenseMap<mlir::Value, Polynomial> scalars;
};

} // namespace tile

#endif // TILE_PASSES_FACTS_STRIDEDACCESS_H
