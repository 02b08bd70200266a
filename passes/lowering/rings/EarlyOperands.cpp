//===- EarlyOperands.cpp - copies started before other grids have ended ----===//
//
// A kernel may start while the grid before it still runs, and waits for that before it touches
// memory. What that grid does not write (`tile.early`) need not wait: of a ring's first round,
// copies of such operands are started in front of the wait, and what else the slots hold follows
// behind it, where the ring is filled. How many slots are begun is counted by who fills them.
//
//===----------------------------------------------------------------------===//
#include "ir/GridAttributes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/lowering/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

namespace {

/// Begins the slots of the first iterations in front of all loops.
class FirstIterations {
public:
  FirstIterations(cta::RingAcquireOp acquire, ArrayRef<cta::RingCopyOp> copies, Operation *root)
      : acquire(acquire), copies(copies), root(root) {}
  /// A `cta.single` in front of `root`; null, and nothing is left behind, if what is copied
  /// cannot be computed there.
  cta::SingleOp begin();

private:
  bool enter(Operation *op, bool isLast);
  bool enterLoop(scf::ForOp loop, bool isLast);
  bool enterBranch(scf::IfOp branch);
  bool beginSlot();
  /// `v` of the first iterations; null if that is not known.
  Value first(Value v);
  bool cloneOperation(Operation *op);
  void onlyIf(Value condition);

  cta::RingAcquireOp acquire;
  ArrayRef<cta::RingCopyOp> copies;
  Operation *root; ///< of the kernel's body, with the copies in it
  OpBuilder b{acquire.getContext()};
  Location loc = acquire.getLoc();
  IRMapping map;
};

} // namespace

bool FirstIterations::cloneOperation(Operation *op) {
  if (!isMemoryEffectFree(op))
    return false;
  SetVector<Value> needed(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), needed);
  for (Value v : needed)
    if (!first(v))
      return false;
  b.clone(*op, map);
  return true;
}

Value FirstIterations::first(Value v) {
  if (Value known = map.lookupOrNull(v))
    return known;
  if (!root->isAncestor(v.getParentBlock()->getParentOp()))
    return v;
  Operation *op = v.getDefiningOp();
  return op && cloneOperation(op) ? map.lookup(v) : Value();
}

void FirstIterations::onlyIf(Value condition) {
  b = scf::IfOp::create(b, loc, condition).getThenBodyBuilder();
}

/// All but the innermost loop are in their first iteration.
bool FirstIterations::enterLoop(scf::ForOp loop, bool isLast) {
  Value start = first(loop.getLowerBound()), end = first(loop.getUpperBound()),
        step = first(loop.getStep());
  if (!start || !end || !step)
    return false;
  Type type = start.getType();
  if (isLast) {
    auto number = [&](int64_t n) {
      return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n)));
    };
    auto ring = acquire.getRing().getDefiningOp<cta::RingOp>();
    auto turns = scf::ForOp::create(b, loc, number(0), number(ring.getStages()), number(1));
    b = OpBuilder::atBlockBegin(turns.getBody());
    Value turn = turns.getInductionVar();
    if (isa<IndexType>(type))
      turn = arith::IndexCastOp::create(b, loc, type, turn);
    else if (type != turn.getType())
      turn = arith::ExtSIOp::create(b, loc, type, turn);
    Value elapsed = arith::MulIOp::create(b, loc, turn, step);
    start = arith::AddIOp::create(b, loc, start, elapsed);
  }
  map.map(loop.getInductionVar(), start);
  onlyIf(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, start, end));
  return true;
}

bool FirstIterations::enterBranch(scf::IfOp branch) {
  Value condition = first(branch.getCondition());
  if (!condition || !branch.getThenRegion().isAncestor(acquire->getParentRegion()))
    return false;
  onlyIf(condition);
  return true;
}

bool FirstIterations::enter(Operation *op, bool isLast) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return enterLoop(loop, isLast);
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return enterBranch(branch);
  return isa<cta::SingleOp, cta::RolesOp>(op);
}

bool FirstIterations::beginSlot() {
  for (cta::RingCopyOp copy : copies)
    for (Value start : copy.getStarts())
      if (!first(start))
        return false;
  b.clone(*acquire, map);
  for (cta::RingCopyOp copy : copies) {
    for (Value start : copy.getStarts())
      map.map(start, first(start));
    b.clone(*copy, map);
  }
  cta::RingCommitOp::create(b, loc, acquire.getRing());
  return true;
}

cta::SingleOp FirstIterations::begin() {
  SmallVector<Operation *> around;
  for (Operation *op = acquire->getParentOp(); root->isAncestor(op); op = op->getParentOp())
    around.push_back(op);
  Operation **innermost = llvm::find_if(around, llvm::IsaPred<scf::ForOp>);
  if (innermost == around.end())
    return {};
  b.setInsertionPoint(root);
  auto single = cta::SingleOp::create(b, loc);
  b = OpBuilder::atBlockBegin(&single.getBody().emplaceBlock());
  bool isDone = llvm::all_of(llvm::reverse(around),
                             [&](Operation *&op) { return enter(op, &op == innermost); }) &&
                beginSlot();
  if (isDone)
    return single;
  single.erase();
  return {};
}

/// What of the slots that `acquire` begins can be copied early.
SmallVector<cta::RingCopyOp> Lowering::earlyCopiesOf(cta::RingAcquireOp acquire) {
  auto ring = acquire.getRing().getDefiningOp<cta::RingOp>();
  bool hasElements = ring && llvm::any_of(ring->getUsers(), llvm::IsaPred<cta::RingElementCopyOp>);
  if (!ring || hasElements || ring.getCluster() > 1 || acquire.getBytes())
    return {};
  SmallVector<cta::RingCopyOp> copies;
  for (auto copy : acquire->getBlock()->getOps<cta::RingCopyOp>())
    if (copy.getRing() == acquire.getRing() && !copy.getCommon() &&
        kernel.getArgAttr(unsigned(mapAttr(copy.getMap()).getBase()), kEarlyAttr))
      copies.push_back(copy);
  return copies;
}

void Lowering::beginEarly() {
  Operation *root = firstAccess;
  if (!root || !root->getNumRegions() || groups > 1)
    return;
  llvm::MapVector<Value, cta::RingAcquireOp> acquires; // the first of each ring
  root->walk([&](cta::RingAcquireOp acquire) { acquires.insert({acquire.getRing(), acquire}); });
  for (auto &[ring, acquire] : acquires) {
    SmallVector<cta::RingCopyOp> copies = earlyCopiesOf(acquire);
    if (copies.empty())
      continue;
    cta::SingleOp single = FirstIterations(acquire, copies, root).begin();
    if (!single)
      continue;
    earlySingles.insert(single);
    earlyOps.insert(acquire);
    earlyOps.insert(copies.begin(), copies.end());
    for (auto commit : acquire->getBlock()->getOps<cta::RingCommitOp>())
      if (commit.getRing() == ring)
        earlyOps.insert(commit);
    earlyRings.insert(ring);
  }
}

/// By the thread that fills the rings later, which counts.
LogicalResult Lowering::lowerEarly(cta::SingleOp op) {
  beginsEarly = true;
  LogicalResult result = success();
  if (isa<cta::RolesOp>(firstAccess))
    emitIf(isThread(in.i32(int32_t(numThreads * groups))),
           [&] { result = lowerBlock(op.getBody().front()); });
  else
    result = lowerFills(op);
  beginsEarly = false;
  return result;
}

/// A step of a slot that is begun: into the ring, whose own cursor stays.
void Lowering::lowerEarlyStep(Operation *op, const Ring &ring) {
  if (isa<cta::RingAcquireOp>(op)) {
    in.mbarrierExpect(barrierOf(ring, ring.begun, /*full=*/true), ring.announcedBytes);
    for (auto [result, address] : llvm::zip(op->getResults(), buffersOf(ring, ring.begun)))
      set(result, {address});
  } else if (auto copy = dyn_cast<cta::RingCopyOp>(op)) {
    lowerRingCopy(copy, ring);
  } else {
    advance(ring, ring.begun);
    LLVM::StoreOp::create(b, op->getLoc(), plus(read(ring.early), 1), ring.early);
  }
}

/// One begun slot less, if there is one.
void Lowering::endEarly(const Ring &ring) {
  Value left = LLVM::SMaxOp::create(b, in.getLoc(), plus(read(ring.early), -1), in.i32(0));
  LLVM::StoreOp::create(b, in.getLoc(), left, ring.early);
}
