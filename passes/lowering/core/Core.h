//===- Core.h - what all lowerings of operations build on -------*- C++ -*-===//
//
// Each SSA value of the kernel is represented by a list of LLVM values: one for a scalar, one for
// each register of the layout for a block. A scalar is uniform: all threads hold the same value.
//
// The core knows these lists, which thread it is, where shared memory lies, and which values are
// others plus a constant. It knows no operation: those of a family are lowered by a class or
// function of their own, which holds a reference to the core, writes with its builder and gives
// the results to it. Two families meet in what their headers declare, and nowhere else.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_CORE_CORE_H
#define TILE_PASSES_LOWERING_CORE_CORE_H

#include "ir/CtaDialect.h"
#include "passes/lowering/instructions/Instructions.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>

namespace tile::lowering {

using Registers = llvm::SmallVector<mlir::Value>;

/// Named barriers: 0 is all threads, 1 the consumers, from 2 on a warpgroup's; with
/// two groups of consumers 1 and 2 are theirs (and more: GroupTurns.cpp).
inline constexpr unsigned kConsumerBarrier = 1, kWarpgroupBarrier = 2;

/// A value as another one and a constant.
struct Affine {
  mlir::Value base; ///< null: a pure constant
  int64_t offset = 0;
};

class Core {
public:
  /// Lowers the operations of a block in their order, from where the builder stands.
  using BlockLowering = std::function<mlir::LogicalResult(mlir::Block &)>;

  Core(mlir::ModuleOp module, mlir::func::FuncOp kernel, mlir::OpBuilder &builder,
       BlockLowering blockLowering);
  Core(const Core &) = delete;
  Core &operator=(const Core &) = delete;

  /// Goes to `entry`, the first block of what the kernel becomes, whose arguments are those of the
  /// kernel. Once, before anything is lowered.
  void begin(mlir::Block *entry);

  //===--- values (Core.cpp) ----------------------------------------------===//
  mlir::Type llvmType(mlir::Type element) const;
  const Registers &get(mlir::Value v) const { return values.find(v)->second; }
  mlir::Value getScalar(mlir::Value v) const { return get(v).front(); }
  void set(mlir::Value v, Registers regs) { values[v] = std::move(regs); }

  /// The operations of a block of the kernel, here.
  mlir::LogicalResult lowerBlock(mlir::Block &block) { return blockLowering(block); }
  /// Runs a function of elements, whose body is `function`, on scalars. What it asserts and prints,
  /// the threads say in which `speaks` is set, or all if it is null.
  mlir::FailureOr<Registers> apply(mlir::Block &function, mlir::ValueRange arguments,
                                   mlir::Value speaks);
  /// In such a function: whether this thread speaks for the element it has, or the two that it
  /// combines, one of those that do; null if each does. Nothing outside of them.
  const std::optional<mlir::Value> &speaker() const { return speaksForElement; }
  /// A function of the device library, or of one that is linked in.
  mlir::Value callDevice(llvm::StringRef symbol, mlir::Type result, mlir::ValueRange args);

  //===--- control flow (Core.cpp) ----------------------------------------===//
  /// A block behind those of the region that is being written; nothing enters it yet.
  mlir::Block *newBlock();
  /// Goes to the end of `block`, and forgets what was computed in blocks that may not dominate it.
  void enterBlock(mlir::Block *block);
  void emitIf(mlir::Value condition, llvm::function_ref<void()> body);

  //===--- variables of a thread (Core.cpp) -------------------------------===//
  // Allocas that the optimiser turns into registers, so that they follow any control flow.
  /// An i32, which starts as `init`.
  mlir::Value makeVariable(int32_t init);
  mlir::Value read(mlir::Value variable);
  /// Something of what was loaded together joins `variable`, for who has to wait for it.
  void noteRead(mlir::Value variable, mlir::ValueRange loaded);

  //===--- values known to be base + constant (Affine.cpp) ----------------===//
  // Neighbouring registers hold indices that differ by constants. Remembering
  // that turns their addresses into one base and immediate offsets.
  Affine affine(mlir::Value v) const;
  Address address(mlir::Value pointer) const {
    Affine a = affine(pointer);
    return {a.base, a.offset};
  }
  void remember(mlir::Value v, Affine is) { affines[v] = is; }
  /// base + offset as a value, remembered as such.
  mlir::Value materialize(Affine a, mlir::Type type);
  /// What was computed of two values (or one) in the current block, under a number that says how;
  /// null until somebody puts it there.
  mlir::Value &shared(mlir::Value a, mlir::Value b, int64_t how) {
    return sums[std::make_tuple(a, b, how)];
  }
  mlir::Value addI(mlir::Value a, mlir::Value b);
  mlir::Value plus(mlir::Value a, int64_t constant);

  //===--- threads (Threads.cpp) ------------------------------------------===//
  mlir::Value lane();        ///< tid & 31
  mlir::Value warp();        ///< tid >> 5
  mlir::Value uniformWarp(); ///< of the block, the same register value in the warp
  mlir::Value warpgroup();   ///< tid >> 7, likewise
  mlir::Value group();       ///< of consumers, likewise
  mlir::Value otherGroup();  ///< of two
  mlir::Value clusterRank();
  mlir::Value isThread(mlir::Value thread); ///< of the block
  mlir::Value sameInWarp(mlir::Value v);    ///< i32, and known to be
  /// The contribution of the running thread to output dimension `out`: the XOR
  /// of the bases of its lane and warp bits, as few instructions as possible.
  mlir::Value threadPart(const layout::LinearLayout &layout, layout::Dim out);
  /// The bits of `v` under `mask`, moved together at the low end.
  mlir::Value gatherBits(mlir::Value v, unsigned mask);
  /// Row-major index (i32) of the element in a register of this thread, in the
  /// shape without `skipAxis`.
  mlir::Value elementIndex(const layout::LinearLayout &layout, int32_t reg,
                           llvm::ArrayRef<int64_t> shape, int skipAxis = -1);

  //===--- masks (Threads.cpp) --------------------------------------------===//
  /// The bits of thread numbers in which threads differ that hold the same elements.
  int32_t copyBits(const layout::LinearLayout &layout);
  /// i1: none of these bits of the thread's number is set; null if every thread is such.
  mlir::Value hasNoneOf(int32_t threadBits);
  /// i1: this thread is the one that acts for all holding copies; null if every
  /// thread is.
  mlir::Value ownerPredicate(const layout::LinearLayout &layout) {
    return hasNoneOf(copyBits(layout));
  }
  /// i1: this thread writes a partial result: its copy bits and `alsoLanes` are
  /// all zero; null if every thread writes.
  mlir::Value writerPredicate(const layout::LinearLayout &layout, unsigned alsoLanes);
  mlir::Value andB(mlir::Value a, mlir::Value b); ///< either may be null (true)

  //===--- shared memory (SharedMemory.cpp) -------------------------------===//
  /// A pointer into dynamic shared memory at a constant byte offset.
  mlir::Value sharedBase(int64_t byteOffset);
  mlir::Value sharedAt(mlir::Value base, mlir::Value byteOffset);
  /// The shared address (i32) of a constant offset.
  mlir::Value sharedAddress(int64_t byteOffset);
  /// A pointer to what a value of `cta.buffer` names.
  mlir::Value bufferBase(mlir::Value buffer);
  /// The address field of a matrix descriptor.
  mlir::Value addressField(mlir::Value address);
  /// The exchange-buffer address of a register, given positions -> offset.
  /// `varying` (i32, may be null) flips further bits of the offset, among
  /// `varyingBits`.
  mlir::Value exchangeAddress(const layout::LinearLayout &offsets, unsigned reg, mlir::Value base,
                              unsigned bytes, mlir::Value varying = {}, int32_t varyingBits = 0);
  /// i1 is kept as a byte in memory.
  mlir::Value toMemory(mlir::Value v);
  mlir::Value fromMemory(mlir::Value v, mlir::Type type);

  //===--- what caches are asked (SharedMemory.cpp) -----------------------===//
  /// What the second cache is to do with what `op` copies; null if that is nothing special.
  mlir::Value policyOf(mlir::Operation *op);
  /// The same of an access by the threads, which may be compiled for chips without policies.
  mlir::Value policyOf(EvictionPolicy evict);
  /// An i32 zero that no assembler knows to be one, for the whole kernel.
  mlir::Value zeroUnknown();
  /// Where a cp.async writes (i32). With a policy, ptxas (12.8, 13.0) splits an address of
  /// which a part is the same in all threads into two registers, and names the wrong ones,
  /// an illegal instruction: it does not see then where the address comes from.
  mlir::Value hiddenBeside(mlir::Value policy, mlir::Value to);

  //===--- the kernel -----------------------------------------------------===//
  mlir::ModuleOp module;
  mlir::func::FuncOp kernel;
  mlir::OpBuilder &b;
  Instructions in;
  /// That compute together: a group of consumers.
  const unsigned numThreads;
  /// All but the first thread leave at once.
  const bool oneThread;
  /// Groups of consumers, each of `numThreads`, that run the same code.
  const unsigned groups;
  unsigned blockThreads; ///< producers included
  mlir::Value blockTid;  ///< the thread's number in the block
  mlir::Value tid;       ///< and among those that compute together

private:
  /// What `make` writes behind the thread's number, where it dominates all; once for the kernel.
  mlir::Value &once(mlir::Value &known, llvm::function_ref<mlir::Value()> make);

  BlockLowering blockLowering;
  /// Shared memory holds swizzled tiles, which want its start aligned.
  bool hasTiles = false;
  std::optional<mlir::Value> speaksForElement;
  mlir::Value laneId, warpId, uniformWarpId, warpgroupId, groupId, clusterRankId;
  mlir::Value evictFirst, evictLast, unknownZero;
  llvm::DenseMap<mlir::Value, Registers> values;
  llvm::DenseMap<mlir::Value, Affine> affines;
  /// Sums and products of bases already emitted in the current block.
  llvm::DenseMap<std::tuple<mlir::Value, mlir::Value, int64_t>, mlir::Value> sums;
  llvm::DenseMap<std::pair<mlir::Attribute, mlir::Attribute>, mlir::Value> threadParts;
};

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_CORE_CORE_H
