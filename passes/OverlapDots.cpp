//===- OverlapDots.cpp - products in flight across iterations -------------===//
//
// Needs:      warp roles made.
// Guarantees: in a loop that does nothing with its accumulators but add one
//             product to each, the last product of an iteration is still being
//             computed when the next one starts; the slots that an iteration
//             reads are given back in the next one, behind its first product.
//             A loop that uses the result of its one product element by element
//             does so under the next product (RotateDots.cpp; with several products
//             StaggerDots.cpp). Slots that the warps
//             fill themselves have a spare one among them.
// Never:      touches a loop that looks at an accumulator otherwise, nor one whose
//             warpgroups keep the tensor core busy by turns.
//
//   wait; dot; release     =>     wait; dot in flight; release the slot before
//
//===----------------------------------------------------------------------===//
#include "passes/OverlapDots.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/Passes.h"
#include "passes/RotateDots.h"
#include "passes/StaggerDots.h"

using namespace mlir;
using namespace tile;

namespace {
/// The parts of a loop that can be overlapped.
struct Overlap {
  SmallVector<cta::WarpgroupDotOp, 2> dots;
  SmallVector<cta::RingReleaseOp, 2> releases; ///< of the slots that the dots read
};
} // namespace

bool tile::isElementByElement(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 1 && isMemoryEffectFree(op) &&
         (op->hasTrait<OpTrait::Elementwise>() || isa<SplatOp, BroadcastOp, ExpandDimsOp>(op));
}

int64_t tile::registersOf(Type value) {
  auto type = dyn_cast<RankedTensorType>(value);
  if (!type)
    return 1;
  int64_t bits = std::max<int64_t>(getElementBytes(type.getElementType()) * 8, 32);
  return cta::getLayout(type).inSize(layout::Dim::reg()) * (bits / 32);
}

/// Cycles of the tensor core for one warpgroup's share of a product: 128 for
/// 64 x 256 x 32 bytes.
static int64_t cyclesOfShare(cta::WarpgroupDotOp dot, unsigned warpgroups) {
  auto acc = cast<RankedTensorType>(dot.getType());
  auto b = dot.getB().getType();
  int64_t bytes = b.getShape()[0] * int64_t(getElementBytes(b.getElementType()));
  return acc.getNumElements() / warpgroups / 128 * (bytes / 32);
}

/// While one of several warpgroups waits for its product, another's is computed.
/// If that takes long enough, products in flight gain nothing, and slots that are
/// given back at once let the copies run further ahead.
static bool takeTurns(cta::WarpgroupDotOp dot, unsigned warpgroups) {
  constexpr int64_t kLong = 512;
  return warpgroups > 1 && cyclesOfShare(dot, warpgroups) >= kLong;
}

bool tile::gainsFromFlight(ArrayRef<cta::WarpgroupDotOp> dots) {
  auto module = dots.front()->getParentOfType<ModuleOp>();
  auto number = module->getAttrOfType<IntegerAttr>(kNumWarpsAttr);
  unsigned warpgroups = number ? unsigned(number.getInt()) / 4 : 1;
  return dots.size() > 1 || !takeTurns(dots.front(), warpgroups);
}

bool tile::onlyAddsUp(cta::WarpgroupDotOp dot, scf::ForOp loop) {
  auto acc = dyn_cast<BlockArgument>(dot.getAcc());
  return acc && acc.getOwner() == loop.getBody() && acc != loop.getInductionVar() &&
         acc.hasOneUse() && dot.getResult().hasOneUse() &&
         loop.getTiedLoopYieldedValue(acc)->get() == dot.getResult() && !dot.getPromote();
}

static std::optional<Overlap> match(scf::ForOp loop) {
  Overlap o;
  loop.walk([&](cta::WarpgroupDotOp dot) { o.dots.push_back(dot); });
  SmallPtrSet<Operation *, 2> waits;
  for (cta::WarpgroupDotOp dot : o.dots) {
    if (dot->getBlock() != loop.getBody() || !onlyAddsUp(dot, loop))
      return std::nullopt;
    // Both operands come from slots.
    for (Value operand : dot->getOperands().take_front(2)) {
      if (loop->hasAttr(kSpareSlotAttr) && operand.getDefiningOp<cta::SlotOp>())
        continue;
      auto wait = operand.getDefiningOp<cta::RingWaitOp>();
      if (!wait || wait->getBlock() != loop.getBody())
        return std::nullopt;
      waits.insert(wait);
    }
  }
  if (o.dots.empty())
    return std::nullopt;
  for (Operation &op : *loop.getBody()) {
    auto wait = dyn_cast<cta::RingWaitOp>(op);
    if (!wait || !waits.contains(wait))
      continue;
    // A slot is kept while the next one is waited for, and nobody else reads it.
    auto ring = wait.getRing().getDefiningOp<cta::RingOp>();
    if (!ring || ring.getStages() < 2 || !llvm::all_of(wait->getUsers(), [](Operation *user) {
          return isa<cta::WarpgroupDotOp, cta::ReadOp>(user);
        }))
      return std::nullopt;
    auto release = llvm::find_if(*loop.getBody(), [&](Operation &other) {
      auto r = dyn_cast<cta::RingReleaseOp>(other);
      return r && r.getRing() == wait.getRing();
    });
    if (release == loop.getBody()->end() || !o.dots.front()->isBeforeInBlock(&*release))
      return std::nullopt;
    o.releases.push_back(cast<cta::RingReleaseOp>(*release));
  }
  return o;
}

static void overlap(scf::ForOp loop, Overlap &o) {
  OpBuilder b(loop.getContext());
  Location loc = o.dots.front().getLoc();
  auto compare = [&](arith::CmpIPredicate predicate, Value l, Value r) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, l, r);
  };
  for (cta::WarpgroupDotOp dot : o.dots)
    dot.setInFlight(true);
  SmallVector<Value, 2> rings;
  for (cta::RingReleaseOp release : o.releases) {
    rings.push_back(release.getRing());
    b.setInsertionPoint(release);
    cta::RingAdvanceOp::create(b, loc, release.getRing());
    release.erase();
  }
  // The first product is issued once those of the iteration before are done.
  b.setInsertionPointAfter(o.dots.front());
  Value isLater = compare(arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
  for (Value ring : rings)
    cta::RingReleaseOp::create(b, loc, ring, isLater);

  // The other group's products need not wait for the last one of these.
  Operation *next = loop->getNextNode();
  b.setInsertionPointAfter(isa<cta::TurnEndOp>(next) ? next : loop.getOperation());
  for (cta::WarpgroupDotOp dot : o.dots) {
    Value sum = loop.getTiedLoopResult(cast<BlockArgument>(dot.getAcc()));
    auto done = cta::WarpgroupWaitOp::create(b, loc, sum.getType(), sum);
    sum.replaceAllUsesExcept(done.getResult(), done);
  }
  Value hasRun = compare(arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound());
  for (Value ring : rings)
    cta::RingReleaseOp::create(b, loc, ring, hasRun);
}

namespace {
struct OverlapDotsPass : PassWrapper<OverlapDotsPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(OverlapDotsPass)
  StringRef getArgument() const override { return "tile-overlap-dots"; }
  StringRef getDescription() const override {
    return "keep warpgroup products in flight from one iteration to the next";
  }
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (!(loop->getParentOfType<cta::RolesOp>() && (rotateDot(loop) || staggerDots(loop))))
        if (std::optional<Overlap> o = match(loop); o && gainsFromFlight(o->dots))
          overlap(loop, *o);
  }
};
} // namespace

std::unique_ptr<Pass> tile::createOverlapDotsPass() { return std::make_unique<OverlapDotsPass>(); }
