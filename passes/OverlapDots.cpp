//===- OverlapDots.cpp - products in flight across iterations -------------===//
//
// Needs:      warp roles made.
// Guarantees: in a loop that does nothing with its accumulator but add one
//             product to it, the product of an iteration is still being computed
//             when the next one starts; the slot that it reads is given back one
//             iteration later.
// Never:      touches a loop that looks at the accumulator.
//
//   wait; dot; release     =>     wait; dot in flight; release the slot before
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tile;

namespace {
/// The parts of a loop that can be overlapped.
struct Overlap {
  cta::WarpgroupDotOp dot;
  cta::RingWaitOp wait;
  cta::RingReleaseOp release;
};
} // namespace

static std::optional<Overlap> match(scf::ForOp loop) {
  Overlap o;
  unsigned dots = 0;
  loop.walk([&](cta::WarpgroupDotOp dot) {
    o.dot = dot;
    ++dots;
  });
  if (dots != 1 || o.dot->getBlock() != loop.getBody())
    return std::nullopt;
  // The accumulator goes round and is seen by nobody else.
  auto acc = dyn_cast<BlockArgument>(o.dot.getAcc());
  if (!acc || acc.getOwner() != loop.getBody() || acc == loop.getInductionVar() ||
      !acc.hasOneUse() || !o.dot.getResult().hasOneUse() ||
      loop.getTiedLoopYieldedValue(acc)->get() != o.dot.getResult() || o.dot.getPromote())
    return std::nullopt;
  // Both operands come from one slot that nobody else reads.
  o.wait = o.dot.getB().getDefiningOp<cta::RingWaitOp>();
  if (!o.wait || o.dot.getA().getDefiningOp() != o.wait || o.wait->getBlock() != loop.getBody())
    return std::nullopt;
  // A slot is kept while the next one is waited for.
  auto ring = o.wait.getRing().getDefiningOp<cta::RingOp>();
  if (!ring || ring.getStages() < 2)
    return std::nullopt;
  for (Operation *user : o.wait->getUsers())
    if (user != o.dot)
      return std::nullopt;
  for (Operation &op : *loop.getBody())
    if (auto release = dyn_cast<cta::RingReleaseOp>(op);
        release && release.getRing() == o.wait.getRing())
      o.release = release;
  if (!o.release || !o.dot->isBeforeInBlock(o.release))
    return std::nullopt;
  return o;
}

static void overlap(scf::ForOp loop, Overlap o) {
  OpBuilder b(o.release);
  Location loc = o.release.getLoc();
  Value ring = o.release.getRing();
  auto compare = [&](arith::CmpIPredicate predicate, Value l, Value r) -> Value {
    return arith::CmpIOp::create(b, loc, predicate, l, r);
  };
  o.dot.setInFlight(true);
  cta::RingAdvanceOp::create(b, loc, ring);
  cta::RingReleaseOp::create(
      b, loc, ring,
      compare(arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound()));
  o.release.erase();

  b.setInsertionPointAfter(loop);
  Value sum = loop.getTiedLoopResult(cast<BlockArgument>(o.dot.getAcc()));
  auto done = cta::WarpgroupWaitOp::create(b, loc, sum.getType(), sum);
  sum.replaceAllUsesExcept(done.getResult(), done);
  cta::RingReleaseOp::create(
      b, loc, ring, compare(arith::CmpIPredicate::slt, loop.getLowerBound(), loop.getUpperBound()));
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
    getOperation().walk([&](cta::RolesOp roles) {
      roles.getConsumers().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    });
    for (scf::ForOp loop : loops)
      if (std::optional<Overlap> o = match(loop))
        overlap(loop, *o);
  }
};
} // namespace

std::unique_ptr<Pass> tile::createOverlapDotsPass() { return std::make_unique<OverlapDotsPass>(); }
