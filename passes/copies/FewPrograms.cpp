//===- FewPrograms.cpp - what loops load ahead where programs are few ------===//
#include "passes/copies/FewPrograms.h"
#include "ir/Kernel.h"
#include "passes/copies/RowCopies.h"
#include "passes/copies/ScalarsAhead.h"
#include "passes/facts/EqualRuns.h"
#include "passes/facts/Intervals.h"
#include "passes/facts/Neighbours.h"
#include "passes/facts/Registers.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

int64_t AheadLoop::bytes() const {
  if (ring)
    return lowering::ringBytes(ring->type(), ring->stages) + cta::kSlotAlignment;
  return pipeline ? pipeline->slotBytes() * pipeline->stages : 0;
}

/// Loops up to about this long the assembler (13.0) unrolls: with a load and 32 multiplications a
/// turn it does, with 48 no more.
static constexpr int64_t kUnrolledInstructions = 40;

/// Instructions of a thread in a turn, at least: one for each register of what is computed.
static int64_t instructionsOfTurn(scf::ForOp loop) {
  int64_t instructions = 0;
  for (Operation &op : *loop.getBody())
    if (op.hasTrait<OpTrait::Elementwise>() && op.getNumResults() == 1 &&
        cta::hasLayout(op.getResult(0).getType()))
      instructions += distinctRegistersOf(op.getResult(0));
  return instructions;
}

static bool waitsForThreads(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(),
                      [](Operation &op) { return lowering::scratchBytes(&op) > 0; });
}

/// Whether threads store, or wait for each other, in a turn, so that the assembler cannot start the
/// loads of the next one in this by itself.
static bool hasBarriersToLoads(scf::ForOp loop) {
  return !loop.getBody()->getOps<StoreOp>().empty() || waitsForThreads(loop);
}

/// The same of a turn that is too long for it to unroll.
static bool holdsLoadsBack(scf::ForOp loop) {
  return hasBarriersToLoads(loop) || instructionsOfTurn(loop) > kUnrolledInstructions;
}

/// Whether each turn of a loop around `loop` reads what the one before it read, and nothing is
/// stored in between, as in a search for a threshold by halves: the first-level cache has it then,
/// which copies to shared memory pass by.
static bool readsAgain(scf::ForOp loop, ArrayRef<LoadOp> loads) {
  auto outer = loop->getParentOfType<scf::ForOp>();
  if (!outer || !loop.getBody()->getOps<StoreOp>().empty())
    return false;
  Neighbours turns(outer);
  return llvm::none_of(loads, [&](LoadOp load) { return turns.differ(load.getPtr()); });
}

/// Whether each turn is straight code, and there are so many of them that the first ones, which
/// nothing is loaded ahead for, do not count.
static bool isSuitable(scf::ForOp loop) {
  return !loop.getUnsignedCmp() && mostTurns(loop) >= uint64_t(tuningOf(loop).aheadLeastTurns) &&
         llvm::all_of(*loop.getBody(), [](Operation &op) {
           return op.getNumRegions() == 0 || isa<ReduceOp, ScanOp>(op);
         });
}

/// Stages that keep as much under way as a multiprocessor needs to read at full speed.
static int32_t stagesFor(ArrayRef<LoadOp> blocks) {
  int64_t bytes = 0;
  for (LoadOp load : blocks) {
    auto type = cast<RankedTensorType>(load.getType());
    bytes += type.getNumElements() * int64_t(getElementBytes(type.getElementType()));
  }
  const Tuning &tuning = tuningOf(blocks.front());
  int64_t turns = llvm::divideCeil(tuning.aheadBytes, std::max<int64_t>(bytes, 1));
  return int32_t(std::clamp<int64_t>(turns, 2, tuning.aheadMostTurns)) + 1;
}

/// Of registers only some are free: the loop's own values have most of them. Turns that blocks of
/// `loads` can wait there; 0: none.
static int32_t turnsInRegisters(ArrayRef<LoadOp> loads) {
  int64_t registers = 0;
  for (LoadOp load : loads)
    registers += registersOf(load.getType());
  auto module = loads.front()->getParentOfType<ModuleOp>();
  int64_t most = mostRegistersOfThread(targetOf(module), cta::threadsOf(module)) /
                 tuningOf(module).aheadPartOfRegisters;
  return int32_t(std::min<int64_t>(most / std::max<int64_t>(registers, 1), 2));
}

/// Whether a thread copies words one by one in each turn, so many that they take longer than to
/// wait for as many loads at once.
static bool copiesManyWords(const Pipeline &pipeline) {
  constexpr int64_t kMany = 4, kCopiedBytes = 16;
  int64_t words = 0, threads = cta::threadsOf(pipeline.loop->getParentOfType<ModuleOp>());
  for (const Copy &copy : pipeline.copies) {
    auto type = cast<RankedTensorType>(copy.value.getType());
    if (copy.vector * getElementBytes(type.getElementType()) < kCopiedBytes)
      words += llvm::divideCeil(type.getNumElements(), threads * copy.vector);
  }
  return words >= kMany;
}

std::optional<AheadLoop> tile::planAhead(scf::ForOp loop) {
  if (!isSuitable(loop) || !holdsLoadsBack(loop))
    return std::nullopt;
  SmallVector<LoadOp> all(loop.getBody()->getOps<LoadOp>()), known = loadsAhead(loop), blocks;
  if (all.empty() || known.size() != all.size())
    return std::nullopt;
  llvm::copy_if(all, std::back_inserter(blocks),
                [](LoadOp load) { return isa<RankedTensorType>(load.getType()); });
  bool isCached = readsAgain(loop, all);
  if (isCached && !hasBarriersToLoads(loop))
    return std::nullopt;
  AheadLoop ahead;
  ahead.loop = loop;
  const Target &target = targetOf(loop);
  if (!blocks.empty() && !isCached) {
    int32_t stages = stagesFor(blocks);
    if (target.has(Feature::BulkCopies))
      ahead.ring = planBulkRing(loop, stages, tuningOf(loop).aheadLeastRowBytes);
    bool isWhole = ahead.ring && ahead.ring->loads.size() == blocks.size();
    if (isWhole)
      ahead.pipeline = threadsInPlaceOf(*ahead.ring);
    if (ahead.pipeline) {
      ahead.ring.reset();
      return ahead;
    }
    if (isWhole) {
      ahead.ring->scalarsAhead = true;
      return ahead;
    }
    ahead.ring.reset();
    ahead.pipeline = planPipeline(loop, stages, /*onlyForProducts=*/false);
    if (ahead.pipeline && !waitsForThreads(loop) && copiesManyWords(*ahead.pipeline))
      return std::nullopt;
    if (ahead.pipeline && ahead.pipeline->copies.size() == blocks.size())
      return ahead;
    ahead.pipeline.reset();
  }
  ahead.registers = std::move(known);
  ahead.turns = turnsInRegisters(ahead.registers);
  if (ahead.turns == 0)
    return std::nullopt;
  return ahead;
}

int32_t tile::programsThatGain(const AheadLoop &ahead) {
  auto module = ahead.loop->getParentOfType<ModuleOp>();
  int64_t programs = tuningOf(module).aheadMostPrograms;
  if (int64_t bytes = ahead.bytes())
    programs = std::min(programs, lowering::programsWith(module, bytes));
  return int32_t(programs);
}
