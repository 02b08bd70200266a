//===- SpecializeWarps.cpp - producer and consumer warps ------------------===//
//
// Contract and example: SpecializeWarpsPass in passes/schedule/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "passes/Passes.h"
#include "passes/copies/CopiesAhead.h"
#include "passes/copies/CopyHints.h"
#include "passes/facts/DeadValues.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "passes/facts/ScalarWork.h"
#include "passes/memory/Scratch.h"
#include "passes/schedule/GroupTurns.h"
#include "passes/schedule/WarpSpecializer.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_SPECIALIZEWARPSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::specialization;

#define DEBUG_TYPE "tile-specialize-warps"
ALWAYS_ENABLED_STATISTIC(ringsMade, "rings of buffers");
ALWAYS_ENABLED_STATISTIC(kernelsWithRoles, "kernels in which some warps only copy");

LogicalResult WarpSpecializer::run() {
  if (failed(findGroups()))
    return failure();
  bool byTurns = cta::madeOf(kernel).groups > 1;
  std::optional<Reason> obstacle = obstacleToRoles(kernel);
  if (obstacle)
    kernel->getParentOp()->removeAttr(cta::kBlockProgramsAttr);
  else if (cta::blockProgramsOf(kernel).count > 1)
    programs.emplace(kernel);
  if (obstacle && byTurns)
    return kernel.emitOpError("is to compute blocks by turns without warps that only copy: ")
           << refusalOf(*obstacle).why;
  if (groups.empty())
    return success();
  LDBG() << kernel.getName() << ": "
         << (obstacle ? refusalOf(*obstacle).why : "some warps only copy");
  OpBuilder b = OpBuilder::atBlockBegin(obstacle ? blockOfCopies() : &body);
  Operation *start = cta::BarrierOp::create(b, kernel.getLoc());
  if (obstacle && *obstacle != Reason::RolesNotWanted) {
    refuse(kernel, *obstacle);
    copyAllInPlace(start);
    return success();
  }
  joinVectors();
  if (obstacle)
    copyAhead(start);
  else
    return makeRoles(b, start);
  return success();
}

/// Where all that is copied is copied and used: a branch of those that lead there from the kernel's
/// body, so that programs which do not take it, as those beyond the end of something, make no rings
/// and wait for no other thread.
Block *WarpSpecializer::blockOfCopies() {
  Block *block = &body;
  if (llvm::any_of(groups, [](const Group &group) { return group.isShared(); }))
    return block;
  while (true) {
    Operation *all = block->findAncestorOpInBlock(*groups.front().firstUser);
    auto branch = dyn_cast<scf::IfOp>(all);
    if (!branch)
      return block;
    Region *region = branch.getThenRegion().isAncestor(groups.front().firstUser->getParentRegion())
                         ? &branch.getThenRegion()
                         : &branch.getElseRegion();
    bool holdsAll = llvm::all_of(groups, [&](const Group &group) {
      return region->isAncestor(group.firstUser->getParentRegion());
    });
    if (!holdsAll)
      return block;
    block = &region->front();
  }
}

void WarpSpecializer::makeRings(Operation *start) {
  findPartners(sharesWidely);
  OpBuilder b(start);
  ringsMade += llvm::count_if(groups, [](const Group &group) { return !group.partner; });
  int32_t all = programs ? warps * programs->count() : warps;
  for (Group &group : groups) {
    if (group.partner) {
      group.ring = group.partner->ring;
      continue;
    }
    auto ring = cta::RingOp::create(b, group.loads.front().getLoc(), ringTypeOf(group),
                                    b.getI32IntegerAttr(group.stages),
                                    b.getI32IntegerAttr(group.isOwn ? warps : all),
                                    b.getI32IntegerAttr(group.isShared() ? cluster : 1),
                                    group.isElastic ? b.getUnitAttr() : UnitAttr());
    if (group.isOwn)
      ring->setAttr(cta::kOwnSlotsAttr, b.getUnitAttr());
    group.ring = ring;
  }
}

//===----------------------------------------------------------------------===//
// The producer
//===----------------------------------------------------------------------===//

/// Acquire a slot, copy into it, commit: where the last of the loads stands, the
/// loads themselves go.
void WarpSpecializer::fill(OpBuilder &b, const Group &group, SmallVector<cta::TmaLoadOp, 2> loads,
                           SmallVector<LoadOp, 2> scalars) {
  Location loc = loads.front().getLoc();
  Value ring = group.ring;
  auto slot = cta::RingAcquireOp::create(b, loc, group.buffers(), ring, /*bytes=*/Value());
  for (auto [buffer, load] : llvm::zip(slot.getBuffers(), loads)) {
    auto copy = cta::RingCopyOp::create(b, load.getLoc(), load.getMap(), load.getStarts(),
                                        load.getDims(), buffer, ring, load.getCommon());
    if (Attribute evict = load->getAttr(cta::kEvictAttr))
      copy->setAttr(cta::kEvictAttr, evict);
  }
  for (auto [buffer, load] : llvm::zip_equal(slot.getBuffers().drop_front(loads.size()), scalars))
    keepHints(load, cta::RingElementCopyOp::create(b, load.getLoc(), load.getPtr(), buffer, ring));
  cta::RingCommitOp::create(b, loc, ring);
}

/// A slot for each of the programs of the thread block, in their order.
void WarpSpecializer::fillForEach(OpBuilder &b, const Group &group,
                                  ArrayRef<cta::TmaLoadOp> loads) {
  for (int32_t program = 0; program < programs->count(); ++program) {
    IRMapping made;
    SmallVector<cta::TmaLoadOp, 2> own;
    for (auto [load, copy] : llvm::zip_equal(group.loads, loads)) {
      SmallVector<Value> starts =
          programs->valuesIn(b, cta::TmaLoadOp(load).getStarts(), program, made);
      own.push_back(cast<cta::TmaLoadOp>(b.clone(*copy)));
      own.back().getStartsMutable().assign(starts);
    }
    fill(b, group, own, {});
  }
}

/// Makes the producer a copy of the kernel's body that only fills the rings.
void WarpSpecializer::makeProducer(cta::RolesOp roles) {
  Block *block = &roles.getProducer().emplaceBlock();
  IRMapping map;
  OpBuilder b = OpBuilder::atBlockBegin(block);
  for (Operation *op = roles->getNextNode(); op; op = op->getNextNode()) {
    if (op->hasTrait<OpTrait::IsTerminator>())
      break;
    b.clone(*op, map);
  }
  if (programs)
    programs->widen(map);
  for (Group &group : groups) {
    if (programs && programs->isContinued(group.firstUser->getParentOp()))
      continue;
    SmallVector<cta::TmaLoadOp, 2> loads;
    for (cta::TmaLoadOp load : group.loads)
      loads.push_back(map.lookup(load.getResult()).getDefiningOp<cta::TmaLoadOp>());
    Operation *last = loads.back();
    SmallVector<LoadOp, 2> scalars;
    for (LoadOp load : group.scalars) {
      scalars.push_back(map.lookup(load.getResult()).getDefiningOp<LoadOp>());
      if (last->isBeforeInBlock(scalars.back()))
        last = scalars.back();
    }
    OpBuilder at(last);
    if (group.isOwn)
      fillForEach(at, group, loads);
    else
      fill(at, group, loads, scalars);
  }
  // The loads still have their users, which are no roots: all of them go.
  eraseDeadValues(*block, fillsRing);
}

/// Loops in which slots are filled and read, in their order.
SmallVector<BlockProgramMaker::Loop> WarpSpecializer::loopsWithSlots() {
  SmallVector<BlockProgramMaker::Loop> loops;
  for (Group &group : groups) {
    auto loop = dyn_cast<scf::ForOp>(group.firstUser->getParentOp());
    if (!loop)
      continue;
    auto *found = llvm::find_if(loops, [&](auto &other) { return other.loop == loop; });
    if (found == loops.end()) {
      loops.push_back({loop, {}, {}});
      found = &loops.back();
    }
    llvm::append_range(found->loads, group.loads);
    found->rings.push_back(group.ring);
    found->hasScalars |= !group.scalars.empty();
  }
  return loops;
}

/// Warps that only copy, which go ahead of those that compute.
LogicalResult WarpSpecializer::makeRoles(OpBuilder &b, Operation *start) {
  joinScalars();
  for (Group &group : groups) {
    group.isOwn = programs && llvm::any_of(group.loads, [&](cta::TmaLoadOp load) {
                    return programs->differ(load.getStarts());
                  });
    group.stages = group.isOwn ? programs->count() : group.stages;
  }
  chooseStagesOfRoles();
  makeRings(start);
  ++kernelsWithRoles;
  auto roles = cta::RolesOp::create(b, kernel.getLoc());
  bool isShared = llvm::any_of(groups, [](const Group &g) { return g.isShared(); });
  if (programs && failed(programs->begin(roles, loopsWithSlots())))
    return failure();
  makeProducer(roles);
  consume(nullptr);
  if (programs)
    programs->passOthersBy();
  moveConsumers(roles);
  if (programs)
    programs->assign(roles);
  eraseDeadValues(body); // behind what makes groups programs, which uses what is made before
  if (isShared)
    meetOthers(start);
  if (cta::madeOf(kernel).groups > 1)
    takeTurns(roles, llvm::map_to_vector(groups, [](const Group &g) { return g.ring; }));
  return success();
}

//===----------------------------------------------------------------------===//
// The consumers
//===----------------------------------------------------------------------===//

/// One thread copies where loads stand. What is loaded beside operands may be used before
/// these can be copied: it is on its own here.
void WarpSpecializer::copyAllInPlace(Operation *start) {
  cta::setMade(kernel, &cta::Made::cluster, 1);
  kernel.walk([](cta::TmaLoadOp load) { load.getCommonMutable().clear(); });
  for (Group &group : groups)
    group.stages = 1;
  makeRings(start);
  consume(&WarpSpecializer::copyInPlace);
  eraseDeadValues(body);
}

void WarpSpecializer::copyInPlace(Group &group) {
  OpBuilder b(group.loads.back());
  auto single = cta::SingleOp::create(b, group.loads.front().getLoc());
  OpBuilder inside = OpBuilder::atBlockBegin(&single.getBody().emplaceBlock());
  fill(inside, group, group.loads, {});
}

namespace {
/// What a load by TMA says of its copy.
struct TmaCopy {
  explicit TmaCopy(cta::TmaLoadOp load)
      : loc(load.getLoc()), map(load.getMap()), starts(load.getStarts()), dims(load.getDims()),
        evict(load->getAttr(cta::kEvictAttr)) {}
  Location loc;
  Value map;
  SmallVector<Value> starts;
  SmallVector<int32_t> dims;
  Attribute evict;
};
} // namespace

/// Acquires a slot of `ring`, copies into it and commits.
static void fillSlot(OpBuilder &b, Location loc, Value ring, ArrayRef<Type> buffers,
                     ArrayRef<TmaCopy> copies, const IRMapping &values) {
  auto slot = cta::RingAcquireOp::create(b, loc, buffers, ring, /*bytes=*/Value());
  for (auto [buffer, copy] : llvm::zip_equal(slot.getBuffers(), copies)) {
    auto starts =
        llvm::map_to_vector(copy.starts, [&](Value v) { return values.lookupOrDefault(v); });
    auto made = cta::RingCopyOp::create(b, copy.loc, copy.map, starts, copy.dims, buffer, ring,
                                        /*common=*/Value());
    if (copy.evict)
      made->setAttr(cta::kEvictAttr, copy.evict);
  }
  cta::RingCommitOp::create(b, loc, ring);
}

/// One of the threads that compute starts all copies: those of a loop, iterations ahead.
void WarpSpecializer::copyAhead(Operation *start) {
  for (Group &group : groups) {
    if (group.isElastic)
      group.stages = kDefaultStages;
    group.isElastic = false;
    if (!isa<scf::ForOp>(group.firstUser->getParentOp()))
      group.stages = 1;
  }
  chooseStagesAhead();
  makeRings(start);
  struct Copies {
    SmallVector<TmaCopy, 2> all;
    SmallVector<Type> buffers;
  };
  SmallVector<Copies, 2> copies;
  for (Group &group : groups) {
    Copies &own = copies.emplace_back();
    own.buffers = group.buffers();
    for (cta::TmaLoadOp load : group.loads)
      own.all.emplace_back(load);
    if (isa<scf::ForOp>(group.firstUser->getParentOp()))
      continue;
    OpBuilder b(group.loads.back());
    auto single = cta::SingleOp::create(b, own.all.front().loc);
    OpBuilder inside = OpBuilder::atBlockBegin(&single.getBody().emplaceBlock());
    fillSlot(inside, own.all.front().loc, group.ring, own.buffers, own.all, IRMapping());
  }
  consume(nullptr);
  for (auto [i, group] : llvm::enumerate(groups)) {
    auto loop = dyn_cast<scf::ForOp>(group.release->getParentOp());
    if (!loop)
      continue;
    const Copies *own = &copies[i];
    SmallVector<Value> needs;
    for (const TmaCopy &copy : own->all)
      llvm::append_range(needs, copy.starts);
    Value ring = group.ring;
    CopiesAhead ahead(loop, group.stages, needs, [ring, own](OpBuilder &b, IRMapping &map) {
      fillSlot(b, own->all.front().loc, ring, own->buffers, own->all, map);
    });
    OpBuilder behind(group.release->getNextNode()), front(loop);
    ahead.startNext(behind);
    ahead.startFirst(front);
  }
  eraseDeadValues(body);
}

void WarpSpecializer::consume(void (WarpSpecializer::*before)(Group &)) {
  for (Group &group : groups) {
    if (before)
      (this->*before)(group);
    OpBuilder b(group.firstUser);
    Location loc = group.firstUser->getLoc();
    auto slot = cta::RingWaitOp::create(b, loc, group.buffers(), group.ring);
    b.setInsertionPointAfter(group.lastUser);
    group.release = cta::RingReleaseOp::create(b, group.lastUser->getLoc(), group.ring, Value());
    for (auto [buffer, load] : llvm::zip(slot.getBuffers(), group.loads)) {
      load.getResult().replaceAllUsesWith(buffer);
      load.erase();
    }
    // Ahead of the product, which they would have to wait for behind it.
    Operation *last = slot;
    for (auto [buffer, load] :
         llvm::zip_equal(slot.getBuffers().drop_front(group.loads.size()), group.scalars)) {
      b.setInsertionPointAfter(last);
      Value number = cta::ReadOp::create(b, load.getLoc(), load.getType(), buffer);
      load.getResult().replaceAllUsesWith(number);
      load.erase();
      last = number.getDefiningOp();
    }
  }
}

void WarpSpecializer::moveConsumers(cta::RolesOp roles) {
  Block &consumers = roles.getConsumers().emplaceBlock();
  consumers.getOperations().splice(consumers.end(), body.getOperations(),
                                   std::next(roles->getIterator()),
                                   std::prev(body.getOperations().end()));
}

/// Blocks of a cluster write to each other's shared memory: after the barriers
/// there have been made, and before any of them ends.
void WarpSpecializer::meetOthers(Operation *start) {
  OpBuilder b(start);
  cta::ClusterBarrierOp::create(b, kernel.getLoc());
  start->erase();
  b.setInsertionPoint(body.getTerminator());
  cta::ClusterBarrierOp::create(b, kernel.getLoc());
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct SpecializeWarpsPass : tile::impl::SpecializeWarpsPassBase<SpecializeWarpsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (func::FuncOp kernel : module.getOps<func::FuncOp>())
      if (failed(WarpSpecializer(kernel, cta::warpsOfGroup(module), kernelOf(module).getStages(),
                                 cta::madeOf(module).cluster)
                     .run()))
        return signalPassFailure();
  }
};
} // namespace
