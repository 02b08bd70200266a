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
#include "passes/lowering/core/SharedAccess.h"

namespace tile {
struct MatrixInstruction;
}
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
  mlir::Value emitCast(mlir::Operation *op, mlir::ValueRange operands); // Casts.cpp
  mlir::Value emitMath(mlir::Operation *op, mlir::ValueRange operands); // Math.cpp
  mlir::Value emitToInteger(mlir::Value x, mlir::Type to, bool isSigned);
  mlir::Value emitToHalfWord(mlir::Value x, bool isSigned);
  mlir::Value emitFpCast(mlir::Value x, mlir::Type to, Rounding rounding);
  mlir::Value widenFp8(mlir::Value x, bool e4m3);

  mlir::LogicalResult lowerConstant(mlir::arith::ConstantOp op);
  mlir::LogicalResult lowerMakeRange(MakeRangeOp op);     // Shape.cpp
  mlir::LogicalResult lowerMovement(mlir::Operation *op); // Shape.cpp
  mlir::LogicalResult lowerAddPtr(AddPtrOp op);           // Memory.cpp
  mlir::LogicalResult lowerLoad(LoadOp op);
  mlir::LogicalResult lowerStore(StoreOp op);
  mlir::LogicalResult lowerAtomic(mlir::Operation *op); // Atomic.cpp
  Registers updateElements(AtomicRmwOp op, const Registers &ptrs, int32_t copies,
                           mlir::Value owner);
  mlir::Value bytesRead(cta::AsyncCopyOp op, unsigned first, unsigned bytes);
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
  mlir::LogicalResult lowerReduce(ReduceOp op); // Reduce.cpp, ReduceWarps.cpp
  mlir::LogicalResult lowerScan(ScanOp op);     // Scan.cpp
  mlir::LogicalResult lowerDot(DotOp op);       // Dot.cpp
  mlir::LogicalResult multiplyAdd(DotOp op);
  mlir::LogicalResult multiplyStaged(DotOp op); // StagedDot.cpp
  mlir::LogicalResult multiplyMatrices(DotOp op, const MatrixInstruction &instruction);
  mlir::Value widenOperand(mlir::Value x, mlir::Type from, mlir::Type to);
  mlir::LogicalResult lowerConvert(cta::ConvertLayoutOp op); // Convert.cpp
  mlir::LogicalResult exchange(cta::ConvertLayoutOp op);     // SharedAccess.cpp
  mlir::LogicalResult lowerPin(cta::PinOp op);
  Registers shuffleBlock(Registers regs, const layout::ShufflePlan &plan);
  Registers shuffleWords(const Registers &regs, const layout::WordShuffles &shuffles);
  mlir::Value threadParity(int32_t laneMask, int32_t warpMask);

  //===--- copies by the threads (AsyncCopy.cpp) ---------------------------===//
  mlir::LogicalResult lowerSlots(cta::SlotsOp op);
  mlir::LogicalResult lowerSlot(cta::SlotOp op);
  mlir::LogicalResult lowerAsyncCopy(cta::AsyncCopyOp op);
  mlir::LogicalResult lowerAsyncWait(cta::AsyncWaitOp op);
  mlir::LogicalResult lowerRead(cta::ReadOp op);
  /// A register of a block, loaded now if it is still in shared memory.
  mlir::Value element(mlir::Value v, unsigned reg);
  /// Blocks that products read from shared memory step by step.
  llvm::DenseMap<mlir::Value, SharedBlock> sharedBlocks;
  /// Other names of them: for each register that of the operand.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int>> renamedShared;
  bool isShared(mlir::Value operand) const;

  //===--- asynchronous copies and roles (rings/), WarpgroupDot.cpp ---------===//
  /// Which slot is next, and the parity of its round: variables of a thread.
  struct Cursor {
    mlir::Value slot, parity;
  };
  struct Ring {
    unsigned stages = 1, cluster = 1;
    int64_t begin = 0, slotBytes = 0; ///< of slot 0, of each
    int64_t barriers = 0;             ///< full ones, then empty ones
    Cursor producer, consumer;
    Cursor released;              ///< trails the consumer where slots are given back later
    bool lanesMayLag = false;     ///< behind the one that gives slots back for its warp
    bool hasElements = false;     ///< which the producer's own copies bring
    bool eachLaneArrives = false; ///< to give a slot back; else one of each warp
    /// A variable, something of all that the thread has read of a slot that it holds; null if
    /// threads read nothing of slots by themselves.
    mlir::Value reads;
    /// Where groups of consumers tell each other at which slot to go on.
    int64_t turns() const { return barriers + 16 * int64_t(stages); }
  };
  mlir::LogicalResult lowerRing(cta::RingOp op);
  mlir::LogicalResult lowerRingStep(mlir::Operation *op, const Ring &ring);
  void releaseSlot(cta::RingReleaseOp op, const Ring &ring);
  mlir::Value behindReads(const Ring &ring, mlir::Value barrier);
  void lowerRingCopy(cta::RingCopyOp copy, const Ring &ring);
  mlir::LogicalResult lowerRingFill(cta::RingFillOp op);
  mlir::LogicalResult lowerRoles(cta::RolesOp op);
  mlir::LogicalResult lowerSingle(cta::SingleOp op);
  void openTurns(cta::RolesOp op);
  mlir::Value turnBarrier(uint32_t order, mlir::Value group);
  mlir::Value turnPlace(const Ring &ring, mlir::Value group);
  mlir::LogicalResult lowerTurnBegin(cta::TurnBeginOp op);
  mlir::LogicalResult lowerTurnEnd(cta::TurnEndOp op);
  mlir::LogicalResult lowerStage(cta::StageOp op);
  mlir::LogicalResult lowerFill(cta::FillOp op);
  mlir::LogicalResult lowerTmaStore(cta::TmaStoreOp op);
  /// Each warpgroup stages the same part of the area for both.
  bool shareStaging(cta::TmaStoreOp a, cta::TmaStoreOp b);
  mlir::LogicalResult lowerWarpgroupDot(cta::WarpgroupDotOp op);
  mlir::LogicalResult lowerWarpgroupWait(cta::WarpgroupWaitOp op);
  Cursor makeCursor(int32_t parity);
  void advance(const Ring &ring, const Cursor &cursor, mlir::Value condition = {});
  mlir::Value barrierOf(const Ring &ring, const Cursor &cursor, bool full);
  static llvm::SmallVector<int64_t, 2> buffersInSlot(const Ring &ring, mlir::TypeRange types);
  Registers buffersOf(const Ring &ring, const Cursor &cursor, mlir::TypeRange types);
  llvm::SmallVector<mlir::Value, 4> fieldsOf(const Ring &ring, const Cursor &cursor,
                                             mlir::TypeRange types);
  mlir::Value spentResult(cta::WarpgroupDotOp op);

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
  llvm::DenseMap<mlir::Value, Ring> rings;
  /// The address field of a matrix descriptor of each buffer that was waited for.
  llvm::DenseMap<mlir::Value, mlir::Value> slotFields;
  mlir::Value sharedField; ///< of the start of shared memory
  /// Results of products whose registers later ones have.
  llvm::DenseSet<mlir::Value> reusedResults;
  bool storesByTma = false;
  int64_t instructions = 0; ///< of a thread, so far
  unsigned loops = 0;       ///< so far

  friend struct ReduceLowering;
  friend struct ScanLowering;
  friend struct MatrixLowering;
  friend struct StagedLowering;
  friend struct StoreLowering;
  friend struct WarpgroupProduct;
};

/// Whether a turn of the loop itself multiplies matrices.
bool addsProducts(mlir::scf::ForOp loop);

/// Whether this is 1 / (1 + e^x) or the like: no division needs to care for denormal
/// divisors there, and what rcp.approx.ftz loses is below 2^-126.
bool isReciprocalOfLarge(mlir::arith::DivFOp op);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_LOWERING_H
