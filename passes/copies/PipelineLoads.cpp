//===- PipelineLoads.cpp - the loads of a loop, iterations ahead -----------===//
//
// Contract and example: PipelineLoadsPass in passes/copies/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/Passes.h"
#include "passes/copies/BulkRings.h"
#include "passes/copies/FewPrograms.h"
#include "passes/copies/Pipeline.h"
#include "passes/copies/RowCopies.h"
#include "passes/copies/ScalarsAhead.h"
#include "passes/facts/DeadValues.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_PIPELINELOADSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-pipeline-loads"
ALWAYS_ENABLED_STATISTIC(loopsPipelined, "loops whose loads are copied ahead by threads");
ALWAYS_ENABLED_STATISTIC(loadsCopied, "loads of those loops");
ALWAYS_ENABLED_STATISTIC(rowRingsMade, "loops whose rows are copied in bulk");
ALWAYS_ENABLED_STATISTIC(loopsForFew, "loops that load ahead because programs are few");
ALWAYS_ENABLED_STATISTIC(spareSlots, "loops with a slot for products in flight");
ALWAYS_ENABLED_STATISTIC(tightLoops, "loops that fill slots in the turn that reads them");

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// The bytes that are taken if every pipeline has at most `limit` stages.
static int64_t sharedBytes(ModuleOp module, ArrayRef<Pipeline> pipelines,
                           ArrayRef<BulkRing> bulkRings, int32_t limit) {
  DenseSet<Operation *> replaced; // or in use while no slots are
  module.walk([&](Operation *op) {
    if (llvm::none_of(pipelines, [&](const Pipeline &p) { return p.loop->isAncestor(op); }))
      replaced.insert(op);
  });
  int64_t slots = 0, rings = 0;
  for (const Pipeline &p : pipelines) {
    int64_t own = 0; // with the loops around; those side by side share
    for (const Pipeline &q : pipelines)
      if (q.loop == p.loop || q.loop->isProperAncestor(p.loop))
        own += q.slotBytes() * q.slotsOf(std::min(q.stages, limit));
    slots = std::max(slots, own);
    for (const Copy &copy : p.copies)
      for (Operation *user : copy.value.getUsers()) {
        if (auto trans = dyn_cast<TransOp>(user))
          for (Operation *behind : trans->getUsers())
            if (copy.isReadTurned(trans) ||
                (isa<cta::ConvertLayoutOp>(behind) && readsZerosOutside(copy.load)))
              replaced.insert(behind);
        if (auto stage = dyn_cast<cta::StageOp>(user);
            stage ? copy.isReadInPlace(stage) : isa<cta::ConvertLayoutOp>(user))
          replaced.insert(user);
      }
    replaced.insert(p.multiplied.begin(), p.multiplied.end());
  }
  SmallVector<cta::RingOp> made;
  module.walk([&](cta::RingOp ring) { made.push_back(ring); });
  rings += lowering::bytesOfRings(
      made, [&](cta::RingOp ring) { return std::min<int64_t>(ring.getStages(), limit); });
  for (const BulkRing &ring : bulkRings)
    rings += lowering::ringBytes(ring.type(), std::min(ring.stages, limit)) + cta::kSlotAlignment;
  slots *= cta::groupsOf(module);
  int64_t besides = lowering::bytesBesidesSlots(module, replaced);
  SmallVector<Operation *> loops;
  for (const Pipeline &p : pipelines)
    loops.push_back(p.loop);
  if (!lowering::areStoredLast(module, loops))
    return slots + rings + besides;
  int64_t before = slots + lowering::bytesBesidesSlots(module, replaced, /*withStores=*/false);
  return rings + std::max(before, besides);
}

/// Thread blocks that a multiprocessor has registers for beside what warpgroup products need.
static int64_t programsWithRegisters(ModuleOp module) {
  int64_t registers = 0;
  for (func::FuncOp kernel : module.getOps<func::FuncOp>())
    registers = std::max(registers, registersDuringProducts(kernel));
  return programsAtOnce(module, registers, /*sharedBytes=*/0, cta::threadsOf(module));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct PipelineLoadsPass : tile::impl::PipelineLoadsPassBase<PipelineLoadsPass> {
  using PipelineLoadsPassBase::PipelineLoadsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!targetOf(module).has(Feature::CpAsync))
      return;
    pipelines.clear();
    bulkRings.clear();
    kept.clear();
    limit = gains = 0;
    plan();
    module->removeAttr(kGainsAheadAttr);
    if (gains > 0)
      module->setAttr(kGainsAheadAttr, Builder(module.getContext()).getI32IntegerAttr(gains));
    SmallVector<bool> spares;
    for (Pipeline &p : pipelines)
      spares.push_back(std::exchange(p.hasSpare, false) && spare &&
                       !module->hasAttr(kNoSpareSlotsAttr));
    auto bytes = [&] { return sharedBytes(module, pipelines, bulkRings, limit); };
    while (limit > 1 && bytes() > lowering::maxSharedBytes(module))
      --limit;
    LDBG() << pipelines.size() << " loops of copies, " << bulkRings.size() << " rings of rows, "
           << limit << " stages";
    if (limit < 2) {
      bulkRings.clear();
      keepRefilled();
      limit = 2;
      if (bytes() > lowering::maxSharedBytes(module))
        refuseAll();
      if (pipelines.empty() && kept.empty())
        return;
      spares.assign(pipelines.size(), false);
    }
    // A second thread block on the multiprocessor is worth more than a spare slot.
    int64_t most = programsWithRegisters(module);
    auto blocks = [&] { return std::min(most, lowering::programsWith(module, bytes())); };
    int64_t before = blocks();
    for (auto [p, own] : llvm::zip_equal(pipelines, spares))
      p.hasSpare = own;
    if (blocks() < before)
      for (Pipeline &p : pipelines)
        p.hasSpare = false;
    if (module->hasAttr(kTightSlotsAttr))
      tighten();
    if (module->hasAttr(kRefilledSlotsAttr))
      refill();
    rewrite();
    for (func::FuncOp kernel : module.getOps<func::FuncOp>())
      if (!pipelines.empty() || !bulkRings.empty() || !kept.empty())
        eraseDeadValues(kernel.getBody().front());
  }

private:
  /// What can be copied ahead, and at most how many stages.
  void plan() {
    ModuleOp module = getOperation();
    int32_t stages = kernelOf(module).getStages();
    if (stages == 0) // left to the compiler
      stages = kDefaultStages;
    bool isForFew = !hasRoles(module);
    module.walk([&](scf::ForOp loop) {
      auto own = loop->getAttrOfType<IntegerAttr>(kNumStagesAttr);
      bool isForProducts = hasProducts(loop);
      int32_t count = stagesOfUse(loop, own ? int32_t(own.getInt()) : stages);
      if (!own && !isForProducts) {
        if (isForFew)
          planForFew(loop);
        return;
      }
      if (count < 2 || loop.getUnsignedCmp())
        return;
      limit = std::max(limit, count);
      std::optional<BulkRing> ring;
      if (bulk && !isForProducts && targetOf(module).has(Feature::BulkCopies))
        ring = planBulkRing(loop, count, tuningOf(loop).bulkLeastRowBytes);
      std::optional<Pipeline> byThreads;
      if (ring)
        byThreads = threadsInPlaceOf(*ring);
      if (byThreads)
        pipelines.push_back(std::move(*byThreads));
      else if (ring)
        bulkRings.emplace_back(std::move(*ring)).scalarsAhead = true;
      else if (auto p = planPipeline(loop, count, /*onlyForProducts=*/!own))
        pipelines.push_back(std::move(*p));
    });
  }

  /// Loads ahead in `loop` if it is for few programs; or says that it would be worth it.
  void planForFew(scf::ForOp loop) {
    ModuleOp module = getOperation();
    std::optional<AheadLoop> ahead;
    {
      // Nobody has asked for it: there is nothing to refuse.
      ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &said) {
        return success(said.getSeverity() == DiagnosticSeverity::Remark);
      });
      ahead = planAhead(loop);
    }
    int32_t programs = ahead ? programsThatGain(*ahead) : 0;
    gains = std::max(gains, programs);
    if (programs == 0 || !module->hasAttr(kLoadAheadAttr))
      return;
    ++loopsForFew;
    if (ahead->ring)
      bulkRings.push_back(std::move(*ahead->ring));
    else if (ahead->pipeline)
      pipelines.push_back(std::move(*ahead->pipeline));
    else
      kept.push_back(std::move(*ahead));
    if (!pipelines.empty())
      limit = std::max(limit, pipelines.back().stages);
    if (!bulkRings.empty())
      limit = std::max(limit, bulkRings.back().stages);
  }

  /// A slot less for all that can do with it.
  void tighten() {
    for (Pipeline &p : pipelines) {
      p.stages = std::min(p.stages, limit);
      p.isTight = !p.isRefilled && canBeTight(p);
      tightLoops += p.isTight;
    }
  }

  /// Where two slots have no room: one holds no more than the block would that threads store there,
  /// and what is copied into it passes through no registers.
  void keepRefilled() {
    refill();
    llvm::erase_if(pipelines, [](const Pipeline &p) {
      if (!p.isRefilled)
        refuse(p.loop, Reason::PipelineNeedsMemory);
      return !p.isRefilled;
    });
  }

  void refuseAll() {
    for (Pipeline &p : pipelines)
      refuse(p.loop, Reason::PipelineNeedsMemory);
    pipelines.clear();
  }

  /// One slot for each copy of all loops that can do with it.
  void refill() {
    for (Pipeline &p : pipelines)
      if (canBeRefilled(p)) {
        p.isRefilled = true;
        p.hasSpare = false;
        p.stages = 2;
      }
  }

  /// What `loop` loads for itself beside `copies`, a turn ahead: single numbers, and where its
  /// author asks for stages blocks that are too narrow to be copied, if a thread has no more of one
  /// than registers are given out in steps of.
  static SmallVector<LoadOp> aheadInRegisters(scf::ForOp loop, ArrayRef<Copy> copies) {
    if (!loop->hasAttr(kNumStagesAttr) || hasProducts(loop))
      return scalarsAhead(loop);
    SmallVector<LoadOp> loads = loadsAhead(loop);
    llvm::erase_if(loads, [&](LoadOp load) {
      return isa<RankedTensorType>(load.getType()) &&
             (llvm::any_of(copies, [&](const Copy &c) { return c.load == load; }) ||
              registersOf(load.getType()) > kRegisterStep);
    });
    return loads;
  }

  void rewrite() {
    for (AheadLoop &ahead : kept)
      keepAhead(ahead.loop, ahead.turns);
    for (BulkRing &ring : bulkRings) { // first: what they are made from is in other loops' bodies
      ring.stages = std::min(ring.stages, limit);
      makeBulkRing(ring);
      ++rowRingsMade;
      if (ring.scalarsAhead)
        loadTurnAhead(ring.loop, aheadInRegisters(ring.loop, {}));
    }
    for (Pipeline &p : pipelines) {
      p.stages = std::min(p.stages, limit);
      spreadRows(p);
      SmallVector<LoadOp> scalars = aheadInRegisters(p.loop, p.copies);
      // What addresses depend on runs ahead with them.
      llvm::erase_if(scalars, [&](LoadOp load) { return p.ahead.contains(load); });
      ++loopsPipelined;
      loadsCopied += p.copies.size();
      spareSlots += p.hasSpare;
      SmallVector<LoadOp> indices = startAhead(p);
      p.loop = loadTurnAhead(p.loop, indices);
      loadTurnAhead(p.loop, scalars);
    }
  }

  SmallVector<Pipeline, 0> pipelines;
  SmallVector<BulkRing, 0> bulkRings;
  SmallVector<AheadLoop, 0> kept; ///< loops that load ahead into registers
  int32_t limit = 0;              ///< of stages
  int32_t gains = 0; ///< programs a multiprocessor up to which the form for few is the faster one
};
} // namespace
