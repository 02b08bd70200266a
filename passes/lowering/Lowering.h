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

#include "ir/CtaDialect.h"
#include "passes/lowering/instructions/Instructions.h"
#include "llvm/ADT/DenseMap.h"

namespace tile {
struct MatrixInstruction;
}
namespace tile::layout {
struct MatrixAccess;
struct SharedLayout;
struct ShufflePlan;
struct WordShuffles;
} // namespace tile::layout

namespace tile::lowering {

using Registers = llvm::SmallVector<mlir::Value>;

/// Named barriers: 0 is all threads, 1 the consumers, from 2 on a warpgroup's; with
/// two groups of consumers 1 and 2 are theirs (and more: GroupTurns.cpp).
inline constexpr unsigned kConsumerBarrier = 1, kWarpgroupBarrier = 2;

/// A block in shared memory on its way into registers.
struct SharedBlock {
  /// What one instruction brings, and the register of `addresses` that says from
  /// where.
  struct Group {
    unsigned address;
    llvm::SmallVector<int32_t, 8> registers;
  };
  mlir::Type type;
  mlir::Value base;
  layout::LinearLayout addresses; ///< offsets of whoever points
  unsigned numMatrices = 0;       ///< of one instruction; 0: by vectors
  bool isTransposed = false;
  llvm::SmallVector<Group> groups;
  llvm::SmallVector<unsigned> groupOf; ///< each register's
  Registers registers;                 ///< null until they are loaded
  mlir::Value reads;                   ///< `Ring::reads` of the ring whose slot it is, or null
};

class Lowering {
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
  mlir::Value callDevice(llvm::StringRef symbol, mlir::Type result, mlir::ValueRange args);

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
  /// Registers of threads that hold a block by `holders` to and from shared
  /// memory, where it lies as `shared` says; by matrices if these are given.
  void storeBlockShared(const Registers &regs, const layout::LinearLayout &holders,
                        const layout::SharedLayout &shared, const layout::MatrixAccess *matrices,
                        mlir::Value base);
  /// A block that threads find in shared memory at `offsets` from `base`, by
  /// vectors of at most 2^maxVectorLog2 elements or by matrices.
  SharedBlock makeSharedBlock(mlir::Type type, const layout::LinearLayout &offsets,
                              unsigned maxVectorLog2, const layout::MatrixAccess *matrices,
                              mlir::Value base);
  /// Loads register `reg`, with those that the same instruction brings.
  void loadInto(SharedBlock &block, unsigned reg);
  Registers loadAll(SharedBlock &block);
  mlir::LogicalResult lowerPin(cta::PinOp op);
  Registers shuffleBlock(Registers regs, const layout::ShufflePlan &plan);
  Registers shuffleWords(const Registers &regs, const layout::WordShuffles &shuffles);
  mlir::Value threadParity(int32_t laneMask, int32_t warpMask);

  //===--- copies by the threads (AsyncCopy.cpp) ---------------------------===//
  mlir::LogicalResult lowerSlots(cta::SlotsOp op);
  mlir::LogicalResult lowerSlot(cta::SlotOp op);
  mlir::LogicalResult lowerAsyncCopy(cta::AsyncCopyOp op);
  /// What the second cache is to do with what `op` copies; null if that is nothing special.
  mlir::Value policyOf(mlir::Operation *op);
  /// An i32 zero that no assembler knows to be one, for the whole kernel.
  mlir::Value zeroUnknown();
  /// The same of an access by the threads, which may be compiled for chips without policies.
  mlir::Value policyOf(EvictionPolicy evict);
  /// Where a cp.async writes (i32). With a policy, ptxas (12.8, 13.0) splits an address of
  /// which a part is the same in all threads into two registers, and names the wrong ones,
  /// an illegal instruction: it does not see then where the address comes from.
  mlir::Value hiddenBeside(mlir::Value policy, mlir::Value to);
  mlir::LogicalResult lowerAsyncWait(cta::AsyncWaitOp op);
  mlir::LogicalResult lowerRead(cta::ReadOp op);
  mlir::Value bufferBase(mlir::Value buffer);
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
  void noteRead(mlir::Value reads, mlir::ValueRange loaded);
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
  mlir::Value makeVariable(int32_t init);
  Cursor makeCursor(int32_t parity);
  mlir::Value read(mlir::Value variable);
  void advance(const Ring &ring, const Cursor &cursor, mlir::Value condition = {});
  mlir::Value barrierOf(const Ring &ring, const Cursor &cursor, bool full);
  static llvm::SmallVector<int64_t, 2> buffersInSlot(const Ring &ring, mlir::TypeRange types);
  Registers buffersOf(const Ring &ring, const Cursor &cursor, mlir::TypeRange types);
  llvm::SmallVector<mlir::Value, 4> fieldsOf(const Ring &ring, const Cursor &cursor,
                                             mlir::TypeRange types);
  cta::MapAttr mapAttr(mlir::Value map);
  void forEachBox(cta::MapAttr map, const layout::LinearLayout &image, unsigned bytes,
                  llvm::ArrayRef<int32_t> dims,
                  llvm::function_ref<void(llvm::ArrayRef<int64_t>, int64_t)> body);
  /// Writes registers to shared memory: `offsets` maps positions to elements from
  /// byte `start` on.
  void writeShared(const Registers &regs, const layout::LinearLayout &offsets, mlir::Value base);
  mlir::Value addressField(mlir::Value address);
  mlir::Value spentResult(cta::WarpgroupDotOp op);
  /// The shared address (i32) of a constant offset.
  mlir::Value sharedAddress(int64_t byteOffset);
  mlir::Value plus(mlir::Value a, int64_t constant);
  mlir::Value warpgroup(); ///< tid >> 7, the same register value in the warp
  mlir::Value group();     ///< of consumers, likewise
  mlir::Value otherGroup();
  mlir::Value clusterRank();
  mlir::Value isThread(mlir::Value thread); ///< of the block
  mlir::Value sameInWarp(mlir::Value v);    ///< i32, and known to be
  void emitIf(mlir::Value condition, llvm::function_ref<void()> body);

  //===--- helpers --------------------------------------------------------===//
  mlir::Type llvmType(mlir::Type element) const;
  const Registers &get(mlir::Value v) const { return values.find(v)->second; }
  mlir::Value getScalar(mlir::Value v) const { return get(v).front(); }
  void set(mlir::Value v, Registers regs) { values[v] = std::move(regs); }

  /// Runs a combiner block on scalars: n accumulated values, then n new ones. What it asserts and
  /// prints, the threads say in which `speaks` is set, or all if it is null.
  mlir::FailureOr<Registers> combine(mlir::Block &block, mlir::ValueRange lhs, mlir::ValueRange rhs,
                                     mlir::Value speaks);

  mlir::Value lane();        ///< tid & 31
  mlir::Value warp();        ///< tid >> 5
  mlir::Value uniformWarp(); ///< of the block, the same register value in the warp
  /// The contribution of the running thread to output dimension `out`: the XOR
  /// of the bases of its lane and warp bits, as few instructions as possible.
  mlir::Value threadPart(const layout::LinearLayout &layout, layout::Dim out);
  /// The bits of thread numbers in which threads differ that hold the same elements.
  int32_t copyBits(const layout::LinearLayout &layout);
  /// i1: none of these bits of the thread's number is set; null if every thread is such.
  mlir::Value hasNoneOf(int32_t threadBits);
  /// i1: this thread is the one that acts for all holding copies; null if every
  /// thread is.
  mlir::Value ownerPredicate(const layout::LinearLayout &layout) {
    return hasNoneOf(copyBits(layout));
  }
  /// A pointer into dynamic shared memory at a constant byte offset.
  mlir::Value sharedBase(int64_t byteOffset);
  mlir::Value sharedAt(mlir::Value base, mlir::Value byteOffset);
  /// Writes a block to shared memory, row by row; its first `limit` elements.
  void writeRowMajor(mlir::Value block, mlir::Value base, int64_t limit);
  /// i1: this thread writes a partial result: its copy bits and `alsoLanes` are
  /// all zero; null if every thread writes.
  mlir::Value writerPredicate(const layout::LinearLayout &layout, unsigned alsoLanes);
  /// The bits of `v` under `mask`, moved together at the low end.
  mlir::Value gatherBits(mlir::Value v, unsigned mask);
  /// Row-major index (i32) of the element in a register of this thread, in the
  /// shape without `skipAxis`.
  mlir::Value elementIndex(const layout::LinearLayout &layout, int32_t reg,
                           llvm::ArrayRef<int64_t> shape, int skipAxis = -1);
  /// The exchange-buffer address of a register, given positions -> offset.
  /// `varying` (i32, may be null) flips further bits of the offset, among
  /// `varyingBits`.
  mlir::Value exchangeAddress(const layout::LinearLayout &offsets, unsigned reg, mlir::Value base,
                              unsigned bytes, mlir::Value varying = {}, int32_t varyingBits = 0);
  /// i1 is kept as a byte in memory.
  mlir::Value toMemory(mlir::Value v);
  mlir::Value fromMemory(mlir::Value v, mlir::Type type);
  mlir::Value addI(mlir::Value a, mlir::Value b);
  mlir::Value andB(mlir::Value a, mlir::Value b); ///< either may be null (true)

  //===--- values known to be base + constant -----------------------------===//
  // Neighbouring registers hold indices that differ by constants. Remembering
  // that turns their addresses into one base and immediate offsets.
  struct Affine {
    mlir::Value base; ///< null: a pure constant
    int64_t offset = 0;
  };
  Affine affine(mlir::Value v) const;
  Address address(mlir::Value pointer) const {
    Affine a = affine(pointer);
    return {a.base, a.offset};
  }
  /// base + offset as a value, remembered as such.
  mlir::Value materialize(Affine a, mlir::Type type);
  mlir::Value tryWider(mlir::Operation *op, mlir::Value v);
  mlir::Value tryAffine(mlir::Operation *op, mlir::ValueRange operands);
  /// Forget what was computed in blocks that do not dominate a new one.
  void enterBlock(mlir::Block *block);

  mlir::ModuleOp module;
  mlir::func::FuncOp kernel;
  mlir::OpBuilder &b;
  unsigned numThreads;
  Instructions in;
  bool fuseMulAdd = true;
  mlir::LLVM::LLVMFuncOp function;
  mlir::Block *entry = nullptr;
  /// Where a dependent launch must wait for the grids before it; null: nowhere.
  mlir::Operation *firstAccess = nullptr;
  /// The grid behind this one is announced behind loops over products, not with the wait.
  bool announcesLate = false;
  /// Groups of consumers, each of `numThreads`, that run the same code.
  unsigned groups = 1;
  unsigned blockThreads; ///< producers included
  mlir::Value blockTid;  ///< the thread's number in the block
  mlir::Value tid;       ///< and among those that compute together
  mlir::Value laneId, warpId, uniformWarpId, warpgroupId, groupId, clusterRankId;
  /// In a function of elements that asserts or prints: whether this thread speaks for the element
  /// it has, or the two that it combines, one of those that do; null if each does.
  std::optional<mlir::Value> speaksForElement;
  mlir::Value evictFirst, evictLast; ///< of `policyOf`
  mlir::Value unknownZero;           ///< of `zeroUnknown`
  llvm::DenseMap<mlir::Value, Ring> rings;
  /// The address field of a matrix descriptor of each buffer that was waited for.
  llvm::DenseMap<mlir::Value, mlir::Value> slotFields;
  mlir::Value sharedField; ///< of the start of shared memory
  /// Results of products whose registers later ones have.
  llvm::DenseSet<mlir::Value> reusedResults;
  /// Shared memory holds swizzled tiles, which want its start aligned.
  bool hasTiles = false;
  bool storesByTma = false;
  llvm::DenseMap<mlir::Value, Registers> values;
  llvm::DenseMap<mlir::Value, Affine> affines;
  /// Sums and products of bases already emitted in the current block.
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Value, int64_t>, mlir::Value> sums;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, mlir::Value> threadParts;
  int64_t instructions = 0; ///< of a thread, so far
  unsigned loops = 0;       ///< so far

  friend class Comparisons;
  friend struct ReduceLowering;
  friend struct ScanLowering;
  friend struct MatrixLowering;
  friend struct StagedLowering;
  friend struct StoreLowering;
  friend struct WarpgroupProduct;
};

/// Whether a turn of the loop itself multiplies matrices.
bool addsProducts(mlir::scf::ForOp loop);

/// For each register of `dst`, the register of `src` that holds the same
/// element after `project` has mapped dst coordinates to src coordinates.
/// Relies on lane and warp parts already agreeing. -1 where there is none.
llvm::SmallVector<int>
matchRegisters(const layout::LinearLayout &dst, const layout::LinearLayout &src,
               llvm::function_ref<llvm::SmallVector<int32_t>(llvm::ArrayRef<int32_t>)> project);

/// Whether this is 1 / (1 + e^x) or the like: no division needs to care for denormal
/// divisors there, and what rcp.approx.ftz loses is below 2^-126.
bool isReciprocalOfLarge(mlir::arith::DivFOp op);

/// The coordinates (dim0, dim1, ...) of a register at lane 0, warp 0.
llvm::SmallVector<int32_t> registerCoordinates(const layout::LinearLayout &layout, int32_t reg);

/// For each register of the operation's result the first one that is known to hold an equal
/// element (`cta.equal_runs`); nothing where no runs are noted.
llvm::SmallVector<unsigned> firstOfEqual(mlir::Operation *op);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_LOWERING_H
