//===- AlternateTiles.cpp - groups of consumers take tiles by turns -------===//
//
// Needs:      warpgroup products and persistent programs made, no layouts yet;
//             module attribute `tile.warp_roles`, if the choice is not free.
// Guarantees: where it pays (or is asked for) and changes nothing that the program
//             can observe, the kernel is compiled for half its warps and marked to
//             be run by two groups of them (`cta.groups`), which take the
//             iterations of the marked loop (`cta.by_turns`) alternately. One
//             group's results are worked on and stored under the products of the
//             other ("ping-pong"). tile-specialize-warps makes the groups.
// Never:      chooses a loop whose iterations depend on each other other than
//             through memory, nor one that could not be copied for by one thread.
//
//   consumers {                           consumers {
//     for tile:                             for every second tile:
//       for k: wait; dot; release   =>        begin turn 0
//       store                                 for k: wait; dot; release
//   }                                         end turn 0
//                                             store
//                                         }
//
// Programs of the grid may store in any order. The iterations of a loop that the
// author wrote are in order: what they store, and what they read of that, is a
// second sequence of turns.
//
//===----------------------------------------------------------------------===//
#include "passes/AlternateTiles.h"
#include "passes/DeadValues.h"
#include "passes/OverlapDots.h"
#include "passes/Passes.h"
#include "passes/PointerRoots.h"
#include "passes/RunAhead.h"
#include "passes/SpecializeWarps.h"

using namespace mlir;
using namespace tile;

static constexpr int32_t kGroups = 2, kWarpsOfGroup = 4;
/// Registers of a thread for the sums of one loop: the rest is for everything else.
static constexpr int64_t kMostSums = 192;
/// Two independent orders of turns.
static constexpr int32_t kProductsOrder = 0, kEffectsOrder = 1;

//===----------------------------------------------------------------------===//
// The parts of an iteration
//===----------------------------------------------------------------------===//

namespace {
/// Neighbouring operations of a block.
struct Section {
  Operation *first = nullptr, *last = nullptr;
  explicit operator bool() const { return first; }
};
} // namespace

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

static Section productsOf(scf::ForOp tiles) {
  return sectionOf(*tiles.getBody(), [](Operation *op) {
    return isa<cta::TmaLoadOp, cta::RingWaitOp, cta::RingReleaseOp, cta::WarpgroupDotOp>(op);
  });
}

/// Stores, and loads of what the loop stores.
static Section effectsOf(scf::ForOp tiles) {
  std::optional<DenseSet<Value>> written = writtenIn(tiles);
  return sectionOf(*tiles.getBody(), [&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    return isa<StoreOp, cta::TmaStoreOp>(op) ||
           (load && (!written || comesFrom(load.getPtr(), *written)));
  });
}

/// What a scalar that the loop carries grows by in every iteration: a value from
/// outside, or null.
static Value growthOf(scf::ForOp tiles, BlockArgument arg) {
  auto sum = tiles.getTiedLoopYieldedValue(arg)->get().getDefiningOp<arith::AddIOp>();
  if (!sum || !arg.getType().isIntOrIndex() || (sum.getLhs() != arg && sum.getRhs() != arg))
    return {};
  Value growth = sum.getLhs() == arg ? sum.getRhs() : sum.getLhs();
  return tiles.isDefinedOutsideOfLoop(growth) ? growth : Value();
}

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
    sum += copies * type.getNumElements() * getElementBytes(type.getElementType()) / 4 /
           (kWarpsOfGroup * 32);
    most = std::max(most, sum);
  });
  return most;
}

/// Why groups cannot take the iterations of `tiles` by turns; "" if they can.
static StringRef obstacle(func::FuncOp kernel, scf::ForOp tiles) {
  Section products = productsOf(tiles), effects = effectsOf(tiles);
  std::optional<DenseSet<Value>> written = writtenIn(tiles);
  for (auto [arg, result] : llvm::zip_equal(tiles.getRegionIterArgs(), tiles.getResults()))
    if (!growthOf(tiles, arg) || !result.use_empty())
      return "its iterations hand values on to each other";
  if (!written || kernel
                      .walk([&](Operation *op) {
                        return op == kernel || isHarmless(op) ? WalkResult::advance()
                                                              : WalkResult::interrupt();
                      })
                      .wasInterrupted())
    return "it does more than multiply what TMA copies, and load and store";
  bool outside = false;
  kernel.walk([&](Operation *op) {
    auto load = dyn_cast<LoadOp>(op);
    if (!tiles->isProperAncestor(op))
      outside |= isa<StoreOp, cta::TmaStoreOp>(op) || (load && comesFrom(load.getPtr(), *written));
  });
  if (outside)
    return "the kernel accesses what it stores outside the loop, too";
  if (!effects || !products.last->isBeforeInBlock(effects.first))
    return "what it stores is not computed behind all products";
  if (registersForSums(tiles) > kMostSums)
    return "a warpgroup has no registers for the sums";
  auto isCopy = [](Operation *op) { return isa<cta::TmaLoadOp>(op); };
  Liveness live(kernel.getBody().front(), isCopy);
  if (!llvm::all_of(live.ops, [&](Operation *op) {
        return !kernel->isProperAncestor(op) || isCopy(op) || isScalarWork(op) ||
               op->hasTrait<OpTrait::IsTerminator>();
      }))
    return "one thread alone cannot follow its copies";
  return "";
}

//===----------------------------------------------------------------------===//
// Whether it pays
//===----------------------------------------------------------------------===//

/// With fewer registers for sums a block is done before the other group's results
/// are: kernels with such blocks have other worries.
static constexpr int64_t kFewestSums = 128;

/// Something is computed from the sums before they are stored, beyond their type.
static bool worksOnSums(scf::ForOp tiles) {
  int64_t least = std::numeric_limits<int64_t>::max();
  tiles.walk([&](cta::WarpgroupDotOp dot) {
    least = std::min(least, cast<RankedTensorType>(dot.getType()).getNumElements());
  });
  Section products = productsOf(tiles);
  for (Operation *op = products.last->getNextNode(); op; op = op->getNextNode()) {
    auto type = op->getNumResults() == 1 ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                                         : RankedTensorType();
    if (type && type.getNumElements() >= least && isa<FloatType>(type.getElementType()) &&
        isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
        !isa<CastOpInterface, arith::ConstantOp>(op))
      return true;
  }
  return false;
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
/// what they gain; and products of other kinds may, too.
static bool paysOff(scf::ForOp tiles) {
  return tiles->hasAttr(cta::kProgramsLoopAttr) && isPlain(tiles) &&
         registersForSums(tiles) >= kFewestSums && worksOnSums(tiles);
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
  auto own = scf::ForOp::create(b, loc, group, count, constant(kGroups));
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

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct AlternateTilesPass : PassWrapper<AlternateTilesPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(AlternateTilesPass)
  StringRef getArgument() const override { return "tile-alternate-tiles"; }
  StringRef getDescription() const override {
    return "two groups of warps compute whole tiles by turns (ping-pong)";
  }
  void runOnOperation() override {
    ModuleOp module = getOperation();
    auto roles = module->getAttrOfType<StringAttr>(cta::kWarpRolesAttr);
    auto warps = module->getAttrOfType<IntegerAttr>(kNumWarpsAttr);
    bool isWanted = roles && roles.getValue() == "pingpong";
    if ((roles && !isWanted) || !warps || warps.getInt() != kGroups * kWarpsOfGroup ||
        module->hasAttr(cta::kClusterAttr) ||
        !llvm::hasSingleElement(module.getOps<func::FuncOp>()))
      return;
    func::FuncOp kernel = *module.getOps<func::FuncOp>().begin();
    scf::ForOp tiles = tileLoop(kernel);
    if (!tiles)
      return;
    if (StringRef why = obstacle(kernel, tiles); !why.empty()) {
      if (isWanted)
        tiles->emitRemark() << kNoTurns << why;
      return;
    }
    if (!isWanted && !paysOff(tiles))
      return;
    Builder b(&getContext());
    tiles->setAttr(cta::kByTurnsAttr, b.getUnitAttr());
    module->setAttr(cta::kGroupsAttr, b.getI32IntegerAttr(kGroups));
    module->setAttr(kNumWarpsAttr, b.getI32IntegerAttr(kWarpsOfGroup));
  }
};
} // namespace

std::unique_ptr<Pass> tile::createAlternateTilesPass() {
  return std::make_unique<AlternateTilesPass>();
}
