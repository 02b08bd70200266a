//===- RowCopies.cpp - who copies the rows of a loop ----------------------===//
//
// A part of tile-pipeline-loads. A row that a loop copies turns ahead is brought by one bulk copy,
// which one thread starts, or by copies of all threads. A bulk copy costs the same for any length
// of row, and nobody but the one who starts it; but that one waits for its slot, says how much will
// arrive, and starts the copies of all rows one after the other, each with addresses that are moved
// to uniform registers in a loop over the threads that might be there. Behind that the warp
// must meet again: the assembler writes all that its lanes exchange later in the turn twice, for a
// warp that is together and for one that is not.
//
// A program of several warps computes on in the others meanwhile, and copies of its threads
// take a barrier in each turn. One of a single warp does neither: all of it is in the
// chain of each turn, and its threads have only to wait for their own copies.
//
//===----------------------------------------------------------------------===//
#include "passes/copies/RowCopies.h"
#include "ir/Kernel.h"
#include "passes/copies/SpreadCopies.h"

using namespace mlir;
using namespace tile;
using layout::Dim;

/// Cycles of the warp that starts bulk copies: to wait for a slot, to announce what will arrive and
/// to meet again, and for each row. Two rows of 256 bytes take some 250 more in a turn
/// than copies by the threads do (an H200, chains of 512 turns).
static constexpr int64_t kBulkTurnCycles = 150, kBulkRowCycles = 50;
/// Cycles of a warp whose threads copy: to commit and to wait, and for each copy with its address.
static constexpr int64_t kThreadTurnCycles = 20, kThreadCopyCycles = 12;

/// Copies that a thread starts for `copy`, where as many threads take part as can.
static int64_t copiesOfThread(Copy &copy) {
  auto type = cast<RankedTensorType>(copy.value.getType());
  int64_t elements = cta::getLayout(type).inSize(Dim::reg());
  if (cta::LayoutAttr spread = spreadLayout(type, copy.vector))
    elements = spread.getLayout().inSize(Dim::reg());
  return llvm::divideCeil(elements, copy.vector);
}

std::optional<Pipeline> tile::threadsInPlaceOf(const BulkRing &ring) {
  auto module = ring.loop->getParentOfType<ModuleOp>();
  if (cta::threadsOf(module) > kLanes)
    return std::nullopt;
  // Of what is not copied so, the ring has said why.
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &said) {
    return success(said.getSeverity() == DiagnosticSeverity::Remark);
  });
  std::optional<Pipeline> threads = planPipeline(ring.loop, ring.stages, /*onlyForProducts=*/false);
  if (!threads)
    return std::nullopt;
  int64_t inBulk = kBulkTurnCycles, byThreads = kThreadTurnCycles;
  for (const RowLoad &row : ring.loads) {
    Copy *own = llvm::find_if(threads->copies, [&](Copy &c) { return c.load == row.load; });
    if (own == threads->copies.end())
      return std::nullopt;
    inBulk += kBulkRowCycles * int64_t(row.starts.size());
    byThreads += kThreadCopyCycles * copiesOfThread(*own);
  }
  if (byThreads >= inBulk)
    return std::nullopt;
  return threads;
}
