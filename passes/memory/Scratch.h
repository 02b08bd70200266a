//===- Scratch.h - shared memory an op needs while it runs ----------------===//
//
// Reductions, scans, atomics and layout conversions exchange data between
// warps through scratch memory. Each owns its buffer from its first write to
// its last read, with its own barrier in between; the memory pass places the
// buffers and the barrier pass separates ops whose buffers overlap.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_MEMORY_SCRATCH_H
#define TILE_PASSES_MEMORY_SCRATCH_H

#include "ir/CtaDialect.h"
#include "ir/layout/LinearLayout.h"

namespace tile {
struct Tuning; // target/Tuning.h
}

namespace tile::lowering {

/// Bytes of scratch memory (a multiple of 16), 0 for an op that needs none.
int64_t scratchBytes(mlir::Operation *op);

int64_t reduceScratchBytes(ReduceOp op);
/// How many threads combine a result of it together (`cta.threads_of_result`, once it has its
/// room), or 0 if each thread combines what it needs.
unsigned threadsOfResult(ReduceOp op);
int64_t scanScratchBytes(ScanOp op);
int64_t convertScratchBytes(cta::ConvertLayoutOp op);
int64_t dotScratchBytes(DotOp op);
/// Of an op that `needsOneReader`: its result, if several threads have copies of it.
int64_t oneReaderScratchBytes(mlir::Operation *op);
/// Whether threads that each did this themselves might see different values: other
/// programs may write between them. Then one thread does it for all that have a copy
/// of the element, or what should be the same everywhere (a loop's condition) is not.
bool needsOneReader(mlir::Operation *op);
/// 8 bytes for each full and each empty barrier of a ring. Groups of consumers that take
/// turns tell each other there where they are, in 8 bytes more. The barriers of all rings, in
/// their order, are the last bytes of a kernel's shared memory: the machine may write the
/// state of a barrier back at any time, so nothing else may be there, not even later.
int64_t barrierBytes(int64_t stages, unsigned groups = 1);
/// What the slots' buffers of a ring take.
int64_t slotBytes(cta::RingType ring, int64_t stages);
/// Shared memory of a ring by itself: its slots' buffers, each aligned to 1024 bytes, and
/// its barriers.
int64_t ringBytes(cta::RingType type, int64_t stages, unsigned groups = 1);
/// Of all rings, with so many stages each: those that no program uses both of share their slots.
int64_t bytesOfRings(llvm::ArrayRef<cta::RingOp> rings,
                     llvm::function_ref<int64_t(cta::RingOp)> stages);
/// In how many parts, one after the other, a `cta.tma_store` can be staged at
/// most: a power of two. Each is a number of whole copies, from the same
/// registers of all threads.
int64_t mostStoreParts(cta::TmaStoreOp op);
/// Whether a `cta.async_wait` needs no barrier of its own: a reduction follows, in
/// which all warps meet.
bool meetsInReduction(cta::AsyncWaitOp wait);
/// Slots that threads copy to begin at multiples of this, and follow each other at multiples of the
/// stride: of their own size as long as that is less than the period of a swizzle, since a
/// pattern does not go beyond its buffer. Small programs, of which many fit, have small slots.
int64_t slotAlignment(cta::BufferType buffer);
int64_t slotStride(cta::BufferType buffer);
/// Where a `cta.stage` or `cta.slots` may begin, and what it takes of shared memory.
int64_t bufferAlignment(mlir::Operation *op);
int64_t bufferBytes(mlir::Operation *op);
/// Shared memory that copies have: rings and slots.
int64_t bytesOfCopies(mlir::ModuleOp module);
/// What a thread block of the target can have.
int64_t maxSharedBytes(mlir::ModuleOp module);
/// How many programs a multiprocessor has threads and registers for, at most: what products and
/// loops carry is in registers, and some more are.
int64_t mostPrograms(mlir::ModuleOp module);
/// How many programs fit on a multiprocessor if each takes so much of it.
int64_t programsWith(mlir::ModuleOp module, int64_t bytes);
/// An upper bound of what the kernel needs besides rings and slots, once those
/// of `ignored` are gone; `withStores`: for staging stores, too.
int64_t bytesBesidesSlots(mlir::ModuleOp module, const llvm::DenseSet<mlir::Operation *> &ignored,
                          bool withStores = true);
/// Whether what is stored by TMA is staged behind `loops` and all that uses slots, staged operands
/// or large exchanges: it may lie where those were.
bool areStoredLast(mlir::ModuleOp module, llvm::ArrayRef<mlir::Operation *> loops);
/// Gathers, histograms and prints.
int64_t elementScratchBytes(mlir::Operation *op);

/// Bytes of the buffer of one printed operand.
int64_t printedBytes(mlir::Value operand);

/// An exchange cut into parts that follow each other through one buffer. Each
/// part is the elements with one value of the removed register bits.
struct ExchangeParts {
  layout::LinearLayout from, to;              ///< of one part
  llvm::SmallVector<int, 4> fromBits, toBits; ///< removed, one after the other
  int64_t bytes = 0;                          ///< of one part
};
ExchangeParts cutExchange(const layout::LinearLayout &from, const layout::LinearLayout &to,
                          unsigned elementBytes, const Tuning &tuning);

/// True if a scan along `axis` can run in this layout: the axis' bits are, from
/// the least significant, registers, neighbouring lanes, warps, registers.
bool isScannable(const layout::LinearLayout &layout, unsigned axis);

/// The bits of input `in` that move along output dimension `axis`.
unsigned axisBits(const layout::LinearLayout &layout, layout::Dim in, unsigned axis);

} // namespace tile::lowering

#endif // TILE_PASSES_MEMORY_SCRATCH_H
