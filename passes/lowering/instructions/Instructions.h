//===- Instructions.h - the one room where PTX instructions are named -----===//
//
// Every machine operation that the lowering uses beyond plain LLVM arithmetic
// is built here and nowhere else: special registers, shuffles, barriers,
// predicated and hinted memory accesses, approximate math, conversions. What
// MLIR's nvvm dialect has is used; the rest is inline PTX. Anything that wants
// to run a lowered kernel elsewhere has this one list to implement.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_INSTRUCTIONS_INSTRUCTIONS_H
#define TILE_PASSES_LOWERING_INSTRUCTIONS_INSTRUCTIONS_H

#include "ir/TileDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Builders.h"
#include "target/Target.h"

namespace tile::lowering {

enum AddressSpace : unsigned { kGlobal = 1, kShared = 3 };

/// A global address: a pointer and a constant number of bytes, which becomes the
/// immediate offset of the access.
struct Address {
  mlir::Value base;
  int64_t offset = 0;
};

/// Cache behaviour of a global access.
struct AccessHints {
  CacheModifier cache = CacheModifier::none;
  EvictionPolicy evict = EvictionPolicy::normal;
  bool isVolatile = false;
  mlir::Value policy = {}; ///< of the second cache (i64), or null: Instructions::cachePolicy
  bool plain() const {
    return cache == CacheModifier::none && evict == EvictionPolicy::normal && !isVolatile;
  }
};

class Instructions {
public:
  Instructions(mlir::OpBuilder &builder, const Target &target, unsigned numThreads)
      : b(builder), chip(target), numThreads(numThreads) {}

  void setLoc(mlir::Location l) { loc = l; }
  mlir::Location getLoc() const { return *loc; }
  mlir::OpBuilder &builder() { return b; }
  const Target &target() const { return chip; }
  /// The lowest PTX ISA version (times 10) that what was built needs beyond what
  /// the target itself does; 0 if nothing.
  unsigned ptxVersion() const { return neededPtx; }

  //===--- constants ------------------------------------------------------===//
  mlir::Value i32(int32_t v);
  mlir::Value i64(int64_t v);
  mlir::Value i1(bool v);
  mlir::Value constant(mlir::Type type, mlir::Attribute value);
  /// Zero of any LLVM scalar type, null for pointers.
  mlir::Value zero(mlir::Type type);

  //===--- special registers ----------------------------------------------===//
  mlir::Value threadId();             ///< %tid.x, known to be below numThreads
  mlir::Value blockId(unsigned axis); ///< %ctaid, or counted from the end: setFromEnd
  mlir::Value gridSize(unsigned axis);

  //===--- communication --------------------------------------------------===//
  /// A barrier of the threads that run this code: all of the block, unless setRole
  /// has said otherwise. One warp needs none of the block's barriers: bar.warp.sync.
  void barrier();
  /// From here on barrier() is `id` among `threads`; 0 threads: all. With `group`
  /// (i32), it is the barrier that far behind `id`.
  void setRole(unsigned id, unsigned threads, mlir::Value group = {}) {
    roleBarrier = {id, threads};
    roleGroup = group;
  }
  /// Threads of the whole block, if more than compute.
  /// Axes of the grid along which blocks are numbered from its end.
  void setFromEnd(llvm::ArrayRef<int32_t> axes) { fromEnd.assign(axes.begin(), axes.end()); }
  void setBlockThreads(unsigned threads) { numThreads = threads; }
  /// Waits until the grids this one depends on have ended and their writes are
  /// visible; does nothing in an ordinary launch.
  void waitForGrids();
  /// Lets the grid behind this one start, if it is launched as a dependent.
  void announceGrid();
  /// The value of `source` lane (i32), for a scalar of any LLVM type.
  mlir::Value shuffleIdx(mlir::Value value, mlir::Value source);
  /// The value of lane `lane ^ mask`.
  mlir::Value shuffleXor(mlir::Value value, unsigned mask);
  /// Whether `condition` (i1) holds in any lane of the warp; all lanes get here together.
  mlir::Value anyInWarp(mlir::Value condition);

  //===--- global memory --------------------------------------------------===//
  /// Loads `count` consecutive elements of `type` at `address`. With a predicate,
  /// elements of `other` (one each, or empty for zero) where it is false.
  llvm::SmallVector<mlir::Value> loadGlobal(mlir::Type type, unsigned count, Address address,
                                            mlir::Value predicate, mlir::ValueRange other,
                                            const AccessHints &hints);
  void storeGlobal(Address address, mlir::ValueRange elements, mlir::Value predicate,
                   const AccessHints &hints);
  /// Whether `atomicRmw` has an instruction for the type; if not, a loop around
  /// `atomicCas` does it.
  bool hasAtomic(AtomicKind kind, mlir::Type type) const;
  /// Whether `atomicUpdate` has one.
  bool hasAtomicUpdate(AtomicKind kind, mlir::Type type) const;
  /// As `atomicRmw`, for what memory held before nobody asks. There is nothing to acquire
  /// by then: `sem` is relaxed or release. Several `values` lie side by side from `ptr` on,
  /// aligned to their size together, at most 16 bytes: floats to add (`VectorAtomics`).
  void atomicUpdate(AtomicKind kind, MemSemantic sem, MemScope scope, mlir::Value ptr,
                    mlir::ValueRange values, mlir::Value predicate);
  /// Orders what a thread does to memory before it and what behind it, for those within
  /// `scope`: with relaxed atomics beside it, it releases and acquires for all of them.
  void fence(MemScope scope);
  /// Atomic read-modify-write of one element; `predicate` may be null.
  mlir::Value atomicRmw(AtomicKind kind, MemSemantic sem, MemScope scope, mlir::Value ptr,
                        mlir::Value value, mlir::Value predicate);
  mlir::Value atomicCas(MemSemantic sem, MemScope scope, mlir::Value ptr, mlir::Value cmp,
                        mlir::Value value, mlir::Value predicate);

  //===--- shared memory --------------------------------------------------===//
  /// `count` consecutive elements at an address space 3 pointer.
  llvm::SmallVector<mlir::Value> loadShared(mlir::Type type, unsigned count, mlir::Value ptr);
  void storeShared(mlir::Value ptr, mlir::ValueRange elements, mlir::Value predicate = {});
  /// Adds an i32 to one in shared memory, atomically.
  void addShared(mlir::Value ptr, mlir::Value value, mlir::Value predicate);

  //===--- matrices -------------------------------------------------------===//
  /// ldmatrix: `count` (1, 2 or 4) matrices of eight rows of 16 bytes, one word of
  /// each; lane l points at row l mod 8 of matrix l div 8.
  llvm::SmallVector<mlir::Value> loadMatrices(mlir::Value ptr, unsigned count, bool transposed);
  /// stmatrix, from sm_90 on.
  void storeMatrices(mlir::Value ptr, mlir::ValueRange words, bool transposed);
  /// mma.sync: acc + a * b, a being m x k and b k x n, by a whole warp.
  /// `typeA`, `typeB`: the element types in the IR. Operands come in registers
  /// of 32 bits (f64 of 64), accumulators one element a value.
  llvm::SmallVector<mlir::Value> multiplyMatrices(unsigned m, unsigned n, unsigned k,
                                                  mlir::Type typeA, mlir::Type typeB,
                                                  mlir::ValueRange a, mlir::ValueRange b,
                                                  mlir::ValueRange acc);

  //===--- arithmetic -----------------------------------------------------===//
  mlir::Value exp2Approx(mlir::Value x);             ///< ex2.approx.ftz.f32
  mlir::Value sqrtApprox(mlir::Value x);             ///< sqrt.approx.ftz.f32
  mlir::Value rsqrtApprox(mlir::Value x);            ///< rsqrt.approx.ftz.f32
  mlir::Value rcpApprox(mlir::Value x);              ///< rcp.approx.ftz.f32 (1 ulp)
  mlir::Value divFull(mlir::Value a, mlir::Value b); ///< div.full.f32 (2 ulp)
  mlir::Value mulHiUnsigned(mlir::Value a, mlir::Value b);
  /// 0 - x of an integer.
  mlir::Value negate(mlir::Value x);
  mlir::Value sqrtRn(mlir::Value x);
  mlir::Value divRn(mlir::Value a, mlir::Value b);
  /// f32 or f64 to i32 or i64; unlike in LLVM's own conversion, every number has a result.
  mlir::Value toIntegerTowardZero(mlir::Value x, mlir::Type to, bool isSigned);
  /// An i32 zero that no assembler knows to be one, computed here and not earlier.
  mlir::Value unknownZero();
  /// Bytes of two words: the i-th is number `selector` >> 4i & 7 of the eight in
  /// `low` and `high` (PTX ISA, prmt).
  mlir::Value permuteBytes(mlir::Value low, mlir::Value high, uint32_t selector);
  /// Pairs of f32 -> two fp8 bytes packed in an i16 (first in the low byte).
  mlir::Value f32x2ToFp8(mlir::Value lo, mlir::Value hi, bool e4m3);
  /// An i16 of two fp8 bytes -> two f16.
  std::pair<mlir::Value, mlir::Value> fp8x2ToF16(mlir::Value packed, bool e4m3);
  /// f32 -> f16 or bf16, rounding toward zero.
  mlir::Value truncateTowardZero(mlir::Value x, mlir::Type to);
  /// a * b + c, rounded once for floats.
  mlir::Value multiplyAdd(mlir::Value a, mlir::Value b, mlir::Value c);
  /// f32 without the fraction bits that tf32 lacks.
  mlir::Value cutToTf32(mlir::Value x);
  void trap();

  //===--- cp.async (AsyncInstructions.cpp; sm_80) -------------------------===//
  /// Starts copying `bytes` (4, 8 or 16) to a shared address (i32); behind the
  /// first `sourceBytes` (i32; null: all) come zeros. `predicate` may be null.
  /// `again`: what is likely to be read again deserves a place in the first cache.
  /// `policy`: an i64 of `cachePolicy`, or null.
  void copyAsync(mlir::Value to, Address from, unsigned bytes, mlir::Value sourceBytes,
                 mlir::Value predicate, bool again = false, mlir::Value policy = {});
  /// What the second cache is to do with the lines that an instruction touches (i64).
  mlir::Value cachePolicy(EvictionPolicy evict);
  void copyAsyncCommit();
  /// Arrives at `barrier`, which counts on it, when this thread's copies so far are there.
  void copyAsyncArrive(mlir::Value barrier);
  /// Waits until at most `pending` of this thread's groups are on their way.
  void copyAsyncWait(unsigned pending);

  //===--- mbarriers, TMA (AsyncInstructions.cpp; sm_90) -------------------===//
  // Shared addresses are i32, tensor maps and matrix descriptors i64.
  void namedBarrier(mlir::Value id, unsigned threads); ///< bar.sync id, threads
  void arrive(mlir::Value id, unsigned threads);       ///< bar.arrive id, threads
  void mbarrierInit(mlir::Value barrier, unsigned arrivals);
  void fenceMbarrierInit();
  /// Orders this thread's shared-memory accesses before asynchronous ones.
  void fenceProxyAsync();
  /// Arrives and announces `bytes` that copies will bring.
  /// One lane of the warp, whichever: true in that lane. All of them must be here.
  mlir::Value electLane();
  /// Until it is set back to null, barriers that expect bytes and copies that bring them are the
  /// elected lane's: the others pass by without a branch, so that addresses stay uniform.
  void setElected(mlir::Value lane) { elected = lane; }
  void mbarrierExpect(mlir::Value barrier, unsigned bytes);
  void mbarrierExpect(mlir::Value barrier, mlir::Value bytes);
  /// The threads of the warp have done what stands before.
  void warpBarrier();
  void mbarrierArrive(mlir::Value barrier, mlir::Value predicate);
  /// At the barrier that thread block `rank` of the cluster has in the same place.
  void mbarrierArriveAt(mlir::Value barrier, mlir::Value rank, mlir::Value predicate);
  /// Waits until the phase of this parity (i32) is over.
  void mbarrierWait(mlir::Value barrier, mlir::Value parity);
  /// Asks whether the phase is over, and for no answer.
  void mbarrierTouch(mlir::Value barrier, mlir::Value parity);
  /// All threads of the cluster; what they wrote before is seen behind it.
  void clusterBarrier();
  mlir::Value clusterRank();
  void setMaxRegisters(unsigned count, bool increase);
  /// With a mask (i16), to the thread blocks of the cluster whose bits are set. `policy`
  /// (may be null) is that of `cachePolicy`.
  void tmaLoad(mlir::Value destination, mlir::Value map, mlir::ValueRange coordinates,
               mlir::Value barrier, mlir::Value mask, mlir::Value policy);
  void tmaStore(mlir::Value source, mlir::Value map, mlir::ValueRange coordinates,
                mlir::Value policy);
  /// Copies `bytes` (i32; all are multiples of 16) to a shared address.
  void bulkLoad(mlir::Value destination, Address from, mlir::Value bytes, mlir::Value barrier,
                mlir::Value predicate, mlir::Value policy);
  void bulkCommit();
  /// Waits until the sources of all committed copies of this thread are read.
  void bulkWaitRead();
  /// Waits until they are written, too.
  void bulkWait();
  mlir::Value tensorMapAddress(mlir::Value parameter);
  /// Has the map at hand when the first copy asks for it.
  void prefetchTensorMap(mlir::Value map);
  /// Whole 16 bytes of global memory to the L2 cache.
  void prefetchBulk(mlir::Value from, mlir::Value bytes);
  /// stmatrix: 8x8 tiles of 16-bit elements, one 32-bit word of each thread a tile.
  void storeMatrix(mlir::Value address, mlir::ValueRange words);

  //===--- warpgroup matrix products (AsyncInstructions.cpp; sm_90a) -------===//
  struct WgmmaShape {
    unsigned n, k;
    std::string accType, aType, bType; ///< "f32", "f16", "e4m3", ...
    bool hasTranspose;                 ///< 16-bit operands may be MN-major
    bool aMnMajor = false, bMnMajor = false;
  };
  void wgmmaFence();
  void wgmmaCommit();
  /// Waits until at most `pending` committed groups are not complete.
  void wgmmaWaitFor(unsigned pending);
  /// Waits for all committed products; the results are the accumulators.
  llvm::SmallVector<mlir::Value> wgmmaWait(mlir::ValueRange accumulators);
  /// The same, but the last `pending` committed groups, which `accumulators` are not of, may go on.
  llvm::SmallVector<mlir::Value> wgmmaWaitBehind(mlir::ValueRange accumulators, unsigned pending);
  /// One m64nNkK product. `a` is one descriptor, or four registers. With
  /// `zeroFirst` the accumulator counts as zero.
  llvm::SmallVector<mlir::Value> wgmma(const WgmmaShape &shape, mlir::ValueRange accumulator,
                                       mlir::ValueRange a, mlir::Value bDescriptor,
                                       bool zeroFirst = false);
  //===--- debugging ------------------------------------------------------===//
  /// printf of the running thread. Arguments are i32, i64 or double.
  void print(llvm::StringRef format, mlir::ValueRange arguments);
  /// Reports a failed assertion and stops the grid.
  void assertFail(llvm::StringRef message, llvm::StringRef file, unsigned line,
                  llvm::StringRef function);
  void assume(mlir::Value condition);

  /// A call of an LLVM intrinsic by name.
  mlir::Value intrinsic(llvm::StringRef name, mlir::Type result, mlir::ValueRange args);
  /// Inline PTX with LLVM's constraint letters.
  mlir::Value inlineAsm(llvm::StringRef text, llvm::StringRef constraints, mlir::Type result,
                        mlir::ValueRange args, bool sideEffects);

  //===--- packing --------------------------------------------------------===//
  /// Reinterprets consecutive elements as words of `wordBits`, low ones first.
  llvm::SmallVector<mlir::Value> pack(mlir::ValueRange elements, unsigned wordBits);
  /// Four bytes that all lie in other words as one word; null if one of them came alone, or nothing
  /// is gained.
  mlir::Value joinBytes(mlir::ValueRange elements);
  llvm::SmallVector<mlir::Value> unpack(mlir::ValueRange words, mlir::Type type, unsigned count);
  /// An i32 that is not known before the first of `elements` is: some of its bits, and of what lies
  /// beside it.
  mlir::Value wordOf(mlir::ValueRange elements);

  /// The same values behind an opaque point: packed into 32-bit registers that
  /// the optimiser cannot see through, so nothing wide stays alive across it.
  llvm::SmallVector<mlir::Value> pin(mlir::ValueRange elements);
  /// The same values in registers of their own, computed here: neither the optimiser nor the
  /// assembler sees that they are copies.
  llvm::SmallVector<mlir::Value> copyUnseen(mlir::ValueRange elements);

private:
  /// The generic address of a zero-terminated constant.
  mlir::Value text(llvm::StringRef characters);
  mlir::Value genericAddress(mlir::Value pointer);
  mlir::Value pointerTo(Address address);
  /// What is loaded at once, as its words; and back, to be stored.
  llvm::SmallVector<mlir::Value> splitWords(mlir::Value v);
  mlir::Value joinWords(mlir::ValueRange words);
  mlir::Value toInteger(mlir::Value v);
  mlir::Value fromInteger(mlir::Value v, mlir::Type type);

  void effect(llvm::StringRef text, llvm::StringRef constraints, mlir::ValueRange args);
  /// Of the elected lane alone, if one is.
  void effectOfOne(std::string text, std::string constraints, llvm::SmallVector<mlir::Value> args);
  llvm::SmallVector<mlir::Value> updateRegisters(llvm::StringRef text, mlir::ValueRange registers,
                                                 mlir::ValueRange more,
                                                 llvm::StringRef moreConstraints);
  void needPtx(unsigned version) { neededPtx = std::max(neededPtx, version); }

  mlir::OpBuilder &b;
  mlir::Value elected;
  unsigned neededPtx = 0;
  const Target &chip;
  unsigned numThreads;
  llvm::SmallVector<int32_t, 3> fromEnd;
  std::pair<unsigned, unsigned> roleBarrier{0, 0};
  mlir::Value roleGroup;
  std::optional<mlir::Location> loc;
};

/// An immediate offset as PTX writes it in an address.
std::string immediate(int64_t offset);

/// Size in bits of an LLVM scalar type in registers and memory (pointers 64).
unsigned bitWidth(mlir::Type type);

} // namespace tile::lowering

#endif // TILE_PASSES_LOWERING_INSTRUCTIONS_INSTRUCTIONS_H
