//===- Lowering.h - from laid-out blocks to one LLVM value per register ---===//
//
// The state shared by the lowering of every op. Each SSA value of the kernel
// is represented by a list of LLVM values: one for a scalar, one for each
// register of the layout for a block. A scalar is uniform: all threads hold
// the same value. Ops are lowered in program order by one walk over the
// structured control flow, which becomes branches on the way.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_LOWERING_H
#define TILE_PASSES_LOWERING_LOWERING_H

#include "passes/lowering/core/Coordinates.h"
#include "passes/lowering/products/Products.h"
#include "passes/lowering/products/WarpgroupDot.h"
#include "passes/lowering/rings/AsyncCopy.h"
#include "passes/lowering/rings/Roles.h"
#include "passes/lowering/rings/SharedReads.h"
#include "passes/lowering/stores/StagedStores.h"

namespace tile::layout {
struct ShufflePlan;
struct WordShuffles;
} // namespace tile::layout

namespace tile::lowering {

class Lowering : public Core {
public:
  Lowering(mlir::ModuleOp module, mlir::func::FuncOp kernel, mlir::OpBuilder &builder);

  /// Creates the llvm.func and lowers the whole body into it.
  mlir::LogicalResult run();

private:
  //===--- driving (LowerToLLVM.cpp, ControlFlow.cpp) ---------------------===//
  mlir::LogicalResult lowerBlock(mlir::Block &block);
  mlir::LogicalResult countInstructions(mlir::Operation *op);
  mlir::LogicalResult lowerOp(mlir::Operation *op);
  mlir::LogicalResult lowerCtaOp(mlir::Operation *op);
  mlir::LogicalResult lowerFor(mlir::scf::ForOp op);
  mlir::LogicalResult lowerWhile(mlir::scf::WhileOp op);
  mlir::LogicalResult lowerIf(mlir::scf::IfOp op);

  //===--- families of ops ------------------------------------------------===//
  /// Elementwise ops (arith, math, tile): the results for one register.
  /// Returns null if the op is not elementwise.
  mlir::LogicalResult lowerElementwise(mlir::Operation *op);
  /// Several narrow elements at a time; nothing if `op` or where its operands lie does
  /// not allow that (PackedElements.cpp).
  std::optional<Registers> lowerPacked(mlir::Operation *op);
  /// Integers of few bits, or known to be small, as floats; nothing for others (SmallIntegers.cpp).
  std::optional<Registers> writeDigits(mlir::Operation *op);
  std::optional<Registers> castPairs(FpCastOp op);
  std::optional<Registers> widenPairs(llvm::ArrayRef<mlir::Value> elements, bool isE4M3,
                                      mlir::Type to);
  Registers narrowPairs(llvm::ArrayRef<mlir::Value> elements, bool isE4M3);
  mlir::Value emitScalar(mlir::Operation *op, mlir::ValueRange operands); // Elementwise.cpp
  mlir::Value emitArith(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value emitInteger(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value emitReal(mlir::Operation *op, mlir::ValueRange operands);
  mlir::Value emitMath(mlir::Operation *op, mlir::ValueRange operands); // Math.cpp

  mlir::LogicalResult lowerConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult lowerMakeRange(MakeRangeOp op);     // Shape.cpp
  mlir::LogicalResult lowerMovement(mlir::Operation *op); // Shape.cpp
  mlir::LogicalResult lowerAddPtr(AddPtrOp op);           // Memory.cpp
  mlir::LogicalResult lowerLoad(LoadOp op);
  mlir::LogicalResult lowerStore(StoreOp op);
  mlir::LogicalResult lowerAtomic(mlir::Operation *op); // Atomic.cpp
  Registers updateElements(AtomicRmwOp op, const Registers &ptrs, int32_t copies,
                           mlir::Value owner);
  mlir::Value wholeGroup(const Registers &mask, unsigned first, unsigned group);
  mlir::Value atomicLoop(AtomicRmwOp op, mlir::Value ptr, mlir::Value value, mlir::Value predicate);
  mlir::LogicalResult shareResults(mlir::Operation *op, Registers &regs,
                                   mlir::RankedTensorType block, mlir::Value owner);
  mlir::LogicalResult shareVolatile(LoadOp op, Registers &regs); // Memory.cpp
  mlir::LogicalResult lowerAssert(AssertOp op);                  // Debug.cpp
  mlir::LogicalResult lowerPrint(PrintOp op);
  void printBlock(PrintOp op, unsigned operand, mlir::Value base);
  mlir::LogicalResult lowerGather(GatherOp op); // GatherHistogram.cpp
  mlir::LogicalResult lowerHistogram(HistogramOp op);
  mlir::LogicalResult lowerMap(MapElementwiseOp op);
  mlir::LogicalResult lowerInlineAsm(InlineAsmOp op);
  mlir::LogicalResult lowerExtern(ExternElementwiseOp op);
  mlir::LogicalResult lowerReduce(ReduceOp op);              // Reduce.cpp, ReduceWarps.cpp
  mlir::LogicalResult lowerScan(ScanOp op);                  // Scan.cpp
  mlir::LogicalResult lowerConvert(cta::ConvertLayoutOp op); // Convert.cpp
  mlir::LogicalResult exchange(cta::ConvertLayoutOp op);     // SharedAccess.cpp
  mlir::LogicalResult lowerPin(cta::PinOp op);
  Registers shuffleBlock(Registers regs, const layout::ShufflePlan &plan);
  Registers shuffleWords(const Registers &regs, const layout::WordShuffles &shuffles);
  mlir::Value threadParity(int32_t laneMask, int32_t warpMask);

  /// Runs a combiner block on scalars: n accumulated values, then n new ones. What it asserts and
  /// prints, the threads say in which `speaks` is set, or all if it is null.
  mlir::FailureOr<Registers> combine(mlir::Block &block, mlir::ValueRange lhs, mlir::ValueRange rhs,
                                     mlir::Value speaks);

  mlir::Value tryWider(mlir::Operation *op, mlir::Value v);
  mlir::Value tryAffine(mlir::Operation *op, mlir::ValueRange operands);

  bool fuseMulAdd = true;
  /// Where a dependent launch must wait for the grids before it; null: nowhere.
  mlir::Operation *firstAccess = nullptr;
  /// The grid behind this one is announced behind loops over products, not with the wait.
  bool announcesLate = false;
  Rings rings{*this};
  GroupTurns turns{*this, rings};
  Roles roles{*this, turns};
  AsyncCopies copies{*this};
  SharedReads reads{*this, rings};
  Products products{*this, reads};
  WarpgroupProducts warpgroupProducts{*this, rings};
  StagedStores stores{*this};
  int64_t instructions = 0; ///< of a thread, so far
  unsigned loops = 0;       ///< so far

  friend struct ReduceLowering;
  friend struct ScanLowering;
};

/// Whether a turn of the loop itself multiplies matrices.
bool addsProducts(mlir::scf::ForOp loop);

/// Whether this is 1 / (1 + e^x) or the like: no division needs to care for denormal
/// divisors there, and what rcp.approx.ftz loses is below 2^-126.
bool isReciprocalOfLarge(mlir::arith::DivFOp op);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_LOWERING_H
