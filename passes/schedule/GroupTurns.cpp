//===- GroupTurns.cpp - groups of consumers take iterations by turns ------===//
//
// What tile-alternate-tiles has decided, carried out where tile-specialize-warps makes
// the consumers: each group gets its share of the marked loop, and sections of an
// iteration that only one group may be in at a time are enclosed by turns.
//
//===----------------------------------------------------------------------===//
#include "passes/schedule/GroupTurns.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/PointerRoots.h"

using namespace mlir;
using namespace tile;

/// Two independent orders of turns.
static constexpr int32_t kProductsOrder = 0, kEffectsOrder = 1;

//===----------------------------------------------------------------------===//
// The parts of an iteration
//===----------------------------------------------------------------------===//

/// From the first operation of `body` that contains one of these to the last.
static Section sectionOf(Block &body, llvm::function_ref<bool(Operation *)> isOne) {
  Section section;
  for (Operation &op : body) {
    bool contains = op.walk([&](Operation *inner) {
                        return isOne(inner) ? WalkResult::interrupt() : WalkResult::advance();
                      }).wasInterrupted();
    if (!contains)
      continue;
    if (!section.first)
      section.first = &op;
    section.last = &op;
  }
  return section;
}

Section tile::productsOf(scf::ForOp tiles) {
  return sectionOf(*tiles.getBody(), [](Operation *op) {
    return isa<cta::TmaLoadOp, cta::RingWaitOp, cta::RingReleaseOp, cta::WarpgroupDotOp>(op);
  });
}

Section tile::effectsOf(scf::ForOp tiles) {
  std::optional<DenseSet<Value>> written = writtenIn(tiles);
  return sectionOf(*tiles.getBody(), [&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    return isa<StoreOp, cta::TmaStoreOp>(op) ||
           (load && (!written || comesFrom(load.getPtr(), *written)));
  });
}

Value tile::growthOf(scf::ForOp tiles, BlockArgument arg) {
  auto sum = tiles.getTiedLoopYieldedValue(arg)->get().getDefiningOp<arith::AddIOp>();
  if (!sum || !arg.getType().isIntOrIndex() || (sum.getLhs() != arg && sum.getRhs() != arg))
    return {};
  Value growth = sum.getLhs() == arg ? sum.getRhs() : sum.getLhs();
  return tiles.isDefinedOutsideOfLoop(growth) ? growth : Value();
}

//===----------------------------------------------------------------------===//
// The groups
//===----------------------------------------------------------------------===//

/// Group g of n takes iterations g, g + n, ...: they are counted, so that no sum
/// exceeds what the loop itself computes.
static scf::ForOp shareOut(scf::ForOp tiles) {
  OpBuilder b(tiles);
  Location loc = tiles.getLoc();
  Type type = tiles.getInductionVar().getType();
  auto constant = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, n));
  };
  Value lower = tiles.getLowerBound(), upper = tiles.getUpperBound(), step = tiles.getStep();
  Value one = constant(1);
  Value isAny = arith::CmpIOp::create(
      b, loc, tiles.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt, lower,
      upper);
  Value last = arith::SubIOp::create(b, loc, arith::SubIOp::create(b, loc, upper, lower), one);
  Value all = arith::AddIOp::create(b, loc, arith::DivUIOp::create(b, loc, last, step), one);
  Value count = arith::SelectOp::create(b, loc, isAny, all, constant(0));
  Value group = cta::GroupOp::create(b, loc, b.getI32Type());
  if (isa<IndexType>(type))
    group = arith::IndexCastOp::create(b, loc, type, group);
  else if (type != b.getI32Type())
    group = arith::ExtSIOp::create(b, loc, type, group);
  auto own = scf::ForOp::create(b, loc, group, count, constant(kTurnGroups));
  own->setDiscardableAttrs(tiles->getDiscardableAttrDictionary());
  own.setUnsignedCmp(true);

  b.setInsertionPointToStart(own.getBody());
  auto at = [&](Value start, Value growth) -> Value {
    Value n = own.getInductionVar();
    if (n.getType() != start.getType())
      n = isa<IndexType>(n.getType()) || isa<IndexType>(start.getType())
              ? arith::IndexCastOp::create(b, loc, start.getType(), n).getResult()
          : n.getType().getIntOrFloatBitWidth() < start.getType().getIntOrFloatBitWidth()
              ? arith::ExtUIOp::create(b, loc, start.getType(), n).getResult()
              : arith::TruncIOp::create(b, loc, start.getType(), n).getResult();
    return arith::AddIOp::create(b, loc, start, arith::MulIOp::create(b, loc, n, growth));
  };
  tiles.getInductionVar().replaceAllUsesWith(at(lower, step));
  for (BlockArgument arg : tiles.getRegionIterArgs())
    arg.replaceAllUsesWith(at(tiles.getTiedLoopInit(arg)->get(), growthOf(tiles, arg)));
  Block *from = tiles.getBody(), *to = own.getBody();
  to->getOperations().splice(std::prev(to->end()), from->getOperations(), from->begin(),
                             std::prev(from->end()));
  tiles.erase();
  return own;
}

static void takeTurnsIn(Section section, int32_t order, ValueRange rings, bool stores) {
  OpBuilder b(section.first);
  cta::TurnBeginOp::create(b, section.first->getLoc(), b.getI32IntegerAttr(order), rings);
  b.setInsertionPointAfter(section.last);
  cta::TurnEndOp::create(b, section.last->getLoc(), b.getI32IntegerAttr(order), rings,
                         stores ? b.getUnitAttr() : UnitAttr());
}

void tile::takeTurns(cta::RolesOp roles, ValueRange rings) {
  scf::ForOp tiles;
  for (auto loop : roles.getConsumers().getOps<scf::ForOp>())
    if (loop->hasAttr(cta::kByTurnsAttr))
      tiles = loop;
  bool isOrdered = !tiles->hasAttr(cta::kProgramsLoopAttr);
  tiles = shareOut(tiles);
  takeTurnsIn(productsOf(tiles), kProductsOrder, rings, /*stores=*/false);
  if (!isOrdered)
    return;
  bool stores =
      tiles.walk([](cta::TmaStoreOp) { return WalkResult::interrupt(); }).wasInterrupted();
  takeTurnsIn(effectsOf(tiles), kEffectsOrder, {}, stores);
}
