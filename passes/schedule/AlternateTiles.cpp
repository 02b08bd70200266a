//===- AlternateTiles.cpp - groups of consumers take tiles by turns -------===//
//
// Contract and example: AlternateTilesPass in passes/schedule/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/Passes.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "passes/schedule/GroupTurns.h"
#include "target/Tuning.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_ALTERNATETILESPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-alternate-tiles"
ALWAYS_ENABLED_STATISTIC(loopsByTurns, "loops that two groups take by turns");

static constexpr int32_t kWarpsOfGroup = 4;
//===----------------------------------------------------------------------===//
// Whether it can be done
//===----------------------------------------------------------------------===//

/// What every group may do for itself, or the groups in order.
static bool isHarmless(Operation *op) {
  if (isa<StoreOp, cta::TmaStoreOp, cta::TmaLoadOp, cta::ReadOp, cta::WarpgroupDotOp, AssumeOp>(op))
    return true;
  if (auto load = dyn_cast<LoadOp>(op))
    return !load.getIsVolatile();
  if (isa<DotOp, cta::StageOp>(op)) // shared memory for operands, twice
    return false;
  return op->hasTrait<OpTrait::IsTerminator>() || isa<scf::SCFDialect>(op->getDialect()) ||
         isMemoryEffectFree(op);
}

/// The loop over tiles: the only one at the top that has products in it.
static scf::ForOp tileLoop(func::FuncOp kernel) {
  scf::ForOp tiles;
  for (auto loop : kernel.getOps<scf::ForOp>())
    if (productsOf(loop)) {
      if (tiles)
        return {};
      tiles = loop;
    }
  return tiles;
}

static bool onlyAddsUp(cta::WarpgroupDotOp dot) {
  auto loop = dyn_cast<scf::ForOp>(dot->getParentOp());
  return loop && onlyAddsUp(dot, loop);
}

/// The most registers of a thread that sums of one loop take. What a loop computes
/// from a product is there beside it.
static int64_t registersForSums(scf::ForOp tiles) {
  DenseMap<Operation *, int64_t> sums;
  int64_t most = 0;
  tiles.walk([&](cta::WarpgroupDotOp dot) {
    auto type = cast<RankedTensorType>(dot.getType());
    int64_t &sum = sums[dot->getParentOp()];
    int64_t copies = dot->getParentOp() == tiles || onlyAddsUp(dot) ? 1 : 2;
    sum += copies * packedRegistersOfShare(type, kWarpsOfGroup * kLanes);
    most = std::max(most, sum);
  });
  return most;
}

/// Why groups cannot take the iterations of `tiles` by turns; nothing if they can.
static std::optional<Reason> obstacle(func::FuncOp kernel, scf::ForOp tiles) {
  Section products = productsOf(tiles), effects = effectsOf(tiles);
  std::optional<DenseSet<Value>> written = writtenIn(tiles);
  for (auto [arg, result] : llvm::zip_equal(tiles.getRegionIterArgs(), tiles.getResults()))
    if (!growthOf(tiles, arg) || !result.use_empty())
      return Reason::TurnsHandOn;
  if (!written || kernel
                      .walk([&](Operation *op) {
                        return op == kernel || isHarmless(op) ? WalkResult::advance()
                                                              : WalkResult::interrupt();
                      })
                      .wasInterrupted())
    return Reason::TurnsDoMore;
  bool outside = false;
  kernel.walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    if (!tiles->isProperAncestor(op))
      outside |= isa<StoreOp, cta::TmaStoreOp>(op) || (load && comesFrom(load.getPtr(), *written));
  });
  if (outside)
    return Reason::TurnsAccessOutside;
  if (!effects || !products.last->isBeforeInBlock(effects.first))
    return Reason::TurnsStoreEarly;
  if (registersForSums(tiles) > tuningOf(kernel).turnsMostSums)
    return Reason::TurnsNeedRegisters;
  std::optional<Reason> noRoles = obstacleToRoles(kernel);
  if (noRoles == Reason::RolesNeedBlocks || noRoles == Reason::RolesNeedStores ||
      noRoles == Reason::RolesNeedFlags)
    return Reason::TurnsCopiesNeedMore;
  return noRoles ? std::optional(Reason::TurnsNeedRoles) : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Whether it pays
//===----------------------------------------------------------------------===//

namespace {
/// What is computed behind the products of a tile, on blocks as large as theirs.
struct WorkOnSums {
  bool ofFloats = false;    ///< beyond their type
  int64_t instructions = 0; ///< of a thread of the group, about
};
} // namespace

static WorkOnSums workOnSums(scf::ForOp tiles) {
  int64_t least = std::numeric_limits<int64_t>::max();
  tiles.walk([&](cta::WarpgroupDotOp dot) {
    least = std::min(least, cast<RankedTensorType>(dot.getType()).getNumElements());
  });
  WorkOnSums work;
  Section products = productsOf(tiles);
  for (Operation *op = products.last->getNextNode(); op; op = op->getNextNode()) {
    auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                         : RankedTensorType();
    if (!type || type.getNumElements() < least || !op->hasTrait<OpTrait::Elementwise>() ||
        op->hasTrait<OpTrait::ConstantLike>())
      continue;
    work.instructions += type.getNumElements() / int64_t(kWarpsOfGroup * kLanes);
    work.ofFloats |= isa<FloatType>(type.getElementType()) &&
                     isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
                     !isa<CastOpInterface>(op);
  }
  return work;
}

/// Sums of products of 16-bit operands, and nothing else computed between them.
static bool isPlain(scf::ForOp tiles) {
  return !tiles
              .walk([](cta::WarpgroupDotOp dot) {
                bool isHalf = getElementBytes(dot.getB().getType().getElementType()) == 2;
                return isHalf && onlyAddsUp(dot) ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// Whether to take turns without being asked. Where results are only stored, which is
/// asynchronous, little is gained; turns in order that an author's loop needs may cost
/// what they gain; and products of other kinds may, too. So may work on sums that takes longer than
/// the products of the other group hide, in code that is there for each group.
static bool paysOff(scf::ForOp tiles) {
  const Tuning &tuning = tuningOf(tiles);
  if (!tiles->hasAttr(cta::kProgramsLoopAttr) || !isPlain(tiles) ||
      registersForSums(tiles) < tuning.turnsFewestSums)
    return false;
  WorkOnSums work = workOnSums(tiles);
  LDBG() << work.instructions << " instructions on sums";
  return work.ofFloats && work.instructions <= tuning.turnsMostWork;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct AlternateTilesPass : tile::impl::AlternateTilesPassBase<AlternateTilesPass> {
  using AlternateTilesPassBase::AlternateTilesPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    WarpRoles roles = kernelOf(module).getRoles();
    bool isWanted = roles == WarpRoles::PingPong;
    if ((!isFree(roles) && !isWanted) ||
        kernelOf(module).getWarps() != kTurnGroups * kWarpsOfGroup ||
        cta::madeOf(module).cluster > 1 || cta::blockProgramsOf(module).count > 1 ||
        !llvm::hasSingleElement(module.getOps<func::FuncOp>()))
      return;
    func::FuncOp kernel = *module.getOps<func::FuncOp>().begin();
    scf::ForOp tiles = tileLoop(kernel);
    if (!tiles)
      return;
    if (std::optional<Reason> why = obstacle(kernel, tiles)) {
      LDBG() << refusalOf(*why).why;
      if (isWanted)
        refuse(tiles, *why);
      return;
    }
    if (!isWanted && !always && !paysOff(tiles)) {
      LDBG() << "would not pay, with " << registersForSums(tiles) << " registers of sums";
      return;
    }
    ++loopsByTurns;
    Builder b(&getContext());
    tiles->setAttr(cta::kByTurnsAttr, b.getUnitAttr());
    cta::setMade(module, &cta::Made::groups, kTurnGroups);
  }
};
} // namespace
