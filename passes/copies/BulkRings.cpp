//===- BulkRings.cpp - rows of later iterations, by bulk copies -----------===//
//
// The part of tile-pipeline-loads for loops without products on sm_90: blocks
// whose rows are consecutive in memory are brought by bulk copies, which one
// thread starts and nobody's registers wait for.
//
//                                        %r = cta.ring
//                                        one thread, for the first n iterations:
//   for i:                                 acquire; copy the rows of i; commit
//     %x = tile.load %rows, %m      =>   for i:
//     ...                                  wait; %x = cta.read; release
//                                          one thread:
//                                            acquire; copy the rows of i + n; commit
//                                          ...
//
// Addresses must be strided, so that one thread can compute where rows start, and
// masks must keep the beginning of a row that is as long in every iteration: what
// lies behind it is written to the slots once, before the loop. Where the number of
// rows changes (the last iteration has fewer), what is read is selected instead.
//
//===----------------------------------------------------------------------===//
#include "passes/copies/BulkRings.h"
#include "ir/Kernel.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/copies/CopiesAhead.h"
#include "passes/copies/CopyHints.h"
#include "passes/copies/RowMajorBuffer.h"
#include "passes/facts/AxisInfo.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/Overwrites.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/Refusals.h"
#include "target/Tuning.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

static constexpr unsigned kCopyUnit = 16; ///< bytes: addresses and sizes are multiples of it

cta::RingType BulkRing::type() const {
  SmallVector<Type> buffers;
  for (const RowLoad &row : loads)
    buffers.push_back(row.buffer);
  return cta::RingType::get(loop->getContext(), buffers);
}

//===----------------------------------------------------------------------===//
// Which loads
//===----------------------------------------------------------------------===//

/// Reads `mask` as the beginning of every row, or of the first of them; adds what
/// bounds them to `row`.
static bool keepsBeginning(Value mask, RowLoad &row, StridedAnalysis &strided, scf::ForOp loop) {
  std::optional<SmallVector<Bound, 4>> bounds = strided.bounds(mask);
  if (!bounds)
    return false;
  ArrayRef<int64_t> shape = row.buffer.getShape();
  for (const Bound &bound : *bounds) {
    std::optional<int64_t> constant = bound.limit.asConstant();
    if (constant && (bound.isLower ? *constant <= 0 : *constant >= shape[bound.dim]))
      continue;
    bool isLength = bound.dim + 1 == shape.size();
    if (bound.isLower || (isLength ? !isInvariant(bound.limit, loop) : shape.size() != 2))
      return false;
    (isLength ? row.limits : row.counts).push_back(bound.limit);
  }
  return true;
}

/// Whether rows start at multiples of 16 bytes, and their lengths are such.
static bool isAligned(LoadOp load, AxisInfoAnalysis &axes, unsigned bytes, bool isMasked) {
  unsigned last = cast<RankedTensorType>(load.getType()).getRank() - 1;
  return axes.get(load.getPtr()).divisibility(last) >= kCopyUnit &&
         (!isMasked || axes.get(load.getMask()).constancy(last) * bytes >= kCopyUnit);
}

/// `load` as rows; on failure the remark says why.
static std::optional<RowLoad> rowsOf(LoadOp load, scf::ForOp loop, StridedAnalysis &strided,
                                     AxisInfoAnalysis &axes, int64_t leastRowBytes) {
  auto fail = [&](Reason why) {
    refuse(load, why);
    return std::nullopt;
  };
  auto type = cast<RankedTensorType>(load.getType());
  unsigned bytes = getElementBytes(type.getElementType());
  if (!type.getElementType().isIntOrFloat() || type.getElementType().isInteger(1) ||
      type.getRank() == 0)
    return fail(Reason::RowsNoNumbers);
  if (!canKeepHints(load))
    return fail(Reason::RowsHints);
  RowLoad row;
  row.load = load;
  row.buffer = rowMajorBuffer(type);
  int64_t columns = type.getShape().back(), count = type.getNumElements() / columns;
  if (columns * bytes < leastRowBytes || count > tuningOf(loop).bulkMostRows)
    return fail(Reason::RowsShort);
  if (Value other = load.getOther(); other && !loop.isDefinedOutsideOfLoop(other))
    return fail(Reason::RowsOtherChanges);
  std::optional<StridedPointers> pointers = strided.pointers(load.getPtr());
  if (!pointers || !pointers->offset.wraps.empty() ||
      pointers->offset.strides.back().asConstant() != 1)
    return fail(Reason::RowsNotConsecutive);
  if (!keepsBeginning(load.getMask(), row, strided, loop))
    return fail(Reason::RowsMask);
  if (!isAligned(load, axes, bytes, !row.limits.empty()))
    return fail(Reason::RowsUnaligned);
  row.base = pointers->base;
  row.starts.push_back(pointers->offset.start);
  for (unsigned dim = type.getRank() - 1; dim-- > 0;) { // the last of them fastest
    SmallVector<Polynomial, 1> all;
    for (int64_t i = 0; i < type.getDimSize(dim); ++i)
      for (const Polynomial &start : row.starts)
        all.push_back(start + Polynomial::constant(i) * pointers->offset.strides[dim]);
    row.starts = std::move(all);
  }
  return row;
}

/// What the copies of a later iteration depend on.
static SmallVector<Value> factorsOf(const RowLoad &row) {
  SmallVector<Value> factors;
  for (const auto *polynomials : {&row.starts, &row.counts})
    for (const Polynomial &p : *polynomials)
      for (const Polynomial::Term &t : p.terms())
        llvm::append_range(factors, t.factors);
  return factors;
}

/// Whether `op` comes, whenever it does, behind the first turn of `loop`.
static bool isInOrBehind(Operation *op, scf::ForOp loop) {
  if (loop->getParentOfType<LoopLikeOpInterface>())
    return false;
  Operation *beside = loop->getBlock()->findAncestorOpInBlock(*op);
  return beside && !beside->isBeforeInBlock(loop);
}

/// The pointers that the kernel may have written through when `loop` starts; nothing if it
/// cannot be said. Bulk copies do not see what threads wrote just before.
static std::optional<DenseSet<Value>> writtenBefore(scf::ForOp loop) {
  auto kernel = loop->getParentOfType<func::FuncOp>();
  DenseSet<Value> roots;
  WalkResult result = kernel.walk([&](Operation *op) {
    if (isa<StoreOp>(op) && isInOrBehind(op, loop))
      return WalkResult::advance();
    if (auto store = dyn_cast<StoreOp>(op))
      collectRoots(store.getPtr(), roots);
    else if (isa<AtomicRmwOp, AtomicCasOp>(op))
      collectRoots(op->getOperand(0), roots);
    else if (isa<cta::TmaStoreOp, cta::RolesOp, InlineAsmOp>(op))
      return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return std::nullopt;
  return roots;
}

std::optional<BulkRing> tile::planBulkRing(scf::ForOp loop, int32_t stages, int64_t leastRowBytes) {
  std::optional<DenseSet<Value>> written = writtenBefore(loop), here = writtenIn(loop);
  if (!written || !here)
    return std::nullopt;
  auto kernel = loop->getParentOfType<func::FuncOp>();
  StridedAnalysis strided;
  AxisInfoAnalysis axes(kernel);
  BulkRing ring;
  ring.loop = loop;
  ring.stages = std::min(stages, tuningOf(loop).mostRowStages);
  for (LoadOp load : loop.getBody()->getOps<LoadOp>()) {
    if (!isa<RankedTensorType>(load.getType()) || load.getIsVolatile())
      continue;
    if (comesFrom(load.getPtr(), *written) || maySeeStores(load, loop, *here)) {
      refuse(load, Reason::RowsWritten);
      continue;
    }
    std::optional<RowLoad> row = rowsOf(load, loop, strided, axes, leastRowBytes);
    if (!row)
      continue;
    if (!areScalarAhead(factorsOf(*row), loop, *here)) {
      refuse(load, Reason::RowsNotAhead);
      continue;
    }
    ring.loads.push_back(std::move(*row));
  }
  // One unit of a multiprocessor starts the copies of all loads.
  int64_t rows = 0;
  for (const RowLoad &row : ring.loads) {
    ArrayRef<int64_t> shape = row.buffer.getShape();
    rows += ShapedType::getNumElements(shape.drop_back());
  }
  if (rows > tuningOf(loop).bulkMostRows)
    for (const RowLoad &row : ring.loads)
      refuse(row.load, Reason::RowsShort);
  if (ring.loads.empty() || rows > tuningOf(loop).bulkMostRows)
    return std::nullopt;
  return ring;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

namespace {
class RingMaker {
public:
  explicit RingMaker(BulkRing &plan) : plan(plan), loop(plan.loop), loc(plan.loop.getLoc()) {}
  void run();

private:
  Value constant(OpBuilder &b, Type type, int64_t n) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, n));
  }
  void measure(OpBuilder &b);
  void fill(OpBuilder &b);
  void copy(OpBuilder &b, IRMapping &map);
  CopiesAhead copies();
  void use();

  BulkRing &plan;
  scf::ForOp loop;
  Location loc;
  Value ring;
  SmallVector<Value, 2> rowBytes; ///< of each load, what is copied of a row
};
} // namespace

/// What is copied of a row, in bytes: the same in every iteration.
void RingMaker::measure(OpBuilder &b) {
  IRMapping none;
  for (RowLoad &row : plan.loads) {
    Value length = emitBounded(b, loc, row.limits, row.buffer.getShape().back(), none);
    int64_t bytes = getElementBytes(row.buffer.getElementType());
    rowBytes.push_back(arith::MulIOp::create(b, loc, length, constant(b, b.getI32Type(), bytes)));
  }
}

/// What masked elements of `load` read.
static Value otherOf(OpBuilder &b, LoadOp load) {
  if (Value other = load.getOther())
    return other;
  return arith::ConstantOp::create(b, load.getLoc(),
                                   b.getZeroAttr(cast<RankedTensorType>(load.getType())));
}

/// What masked elements read, in all slots.
void RingMaker::fill(OpBuilder &b) {
  for (auto [i, row] : llvm::enumerate(plan.loads)) {
    if (row.limits.empty() && row.counts.empty())
      continue;
    OpBuilder at = b;
    if (row.counts.empty()) { // rows are often as long as the block
      int64_t whole = row.buffer.getBytes() / int64_t(row.starts.size());
      Value isShort = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, rowBytes[i],
                                            constant(b, b.getI32Type(), whole));
      at = scf::IfOp::create(b, loc, isShort).getThenBodyBuilder();
    }
    cta::RingFillOp::create(at, row.load.getLoc(), otherOf(at, row.load), uint32_t(i), ring);
  }
}

void RingMaker::copy(OpBuilder &b, IRMapping &map) {
  SmallVector<Value, 2> counts;
  Value sum;
  for (auto [row, bytes] : llvm::zip_equal(plan.loads, rowBytes)) {
    counts.push_back(emitBounded(b, loc, row.counts, int64_t(row.starts.size()), map));
    Value own = arith::MulIOp::create(b, loc, counts.back(), bytes);
    sum = sum ? arith::AddIOp::create(b, loc, sum, own).getResult() : own;
  }
  bool isWhole = llvm::all_of(
      plan.loads, [](const RowLoad &row) { return row.limits.empty() && row.counts.empty(); });
  auto slot =
      cta::RingAcquireOp::create(b, loc, plan.type().getBuffers(), ring, isWhole ? Value() : sum);
  for (auto [row, buffer, rowSize, count] :
       llvm::zip_equal(plan.loads, slot.getBuffers(), rowBytes, counts)) {
    Location here = row.load.getLoc();
    int64_t stride = row.buffer.getShape().back() * getElementBytes(row.buffer.getElementType());
    for (auto [i, start] : llvm::enumerate(row.starts)) {
      Value from = AddPtrOp::create(b, here, row.base.getType(), row.base,
                                    emitPolynomial(b, here, start, map));
      Value bytes = rowSize;
      if (!row.counts.empty()) {
        Type i32 = b.getI32Type();
        Value isThere = arith::CmpIOp::create(b, here, arith::CmpIPredicate::sgt, count,
                                              constant(b, i32, int64_t(i)));
        bytes = arith::SelectOp::create(b, here, isThere, bytes, constant(b, i32, 0));
      }
      auto copy =
          cta::RingBulkCopyOp::create(b, here, from, bytes, buffer, uint32_t(i * stride), ring);
      keepHints(row.load, copy);
    }
  }
  cta::RingCommitOp::create(b, loc, ring);
}

/// All blocks are read where the first was loaded; then the slot is free.
void RingMaker::use() {
  LoadOp first = plan.loads.front().load;
  OpBuilder b(first);
  auto slot = cta::RingWaitOp::create(b, loc, plan.type().getBuffers(), ring);
  for (auto [row, buffer] : llvm::zip_equal(plan.loads, slot.getBuffers())) {
    OpBuilder at(row.load);
    Value read = cta::ReadOp::create(b, row.load.getLoc(), row.load.getType(), buffer);
    if (!row.counts.empty())
      read = arith::SelectOp::create(at, row.load.getLoc(), row.load.getMask(), read,
                                     otherOf(at, row.load));
    row.load.getResult().replaceAllUsesWith(read);
  }
  cta::RingReleaseOp::create(b, loc, ring, /*condition=*/Value());
  copies().startNext(b);
  for (RowLoad &row : plan.loads)
    row.load.erase();
}

CopiesAhead RingMaker::copies() {
  SmallVector<Value> needs;
  for (const RowLoad &row : plan.loads)
    llvm::append_range(needs, factorsOf(row));
  return {loop, plan.stages, std::move(needs),
          [this](OpBuilder &b, IRMapping &map) { copy(b, map); }};
}

/// Moves `ops`, which stand together, up across what computes and loads: copies
/// should not wait behind loads of what the loop needs later.
static void moveUp(ArrayRef<Operation *> ops) {
  Operation *to = ops.front();
  for (Operation *op = to->getPrevNode(); op; op = op->getPrevNode()) {
    auto load = dyn_cast<LoadOp>(op);
    if (!isMemoryEffectFree(op) && !(load && !load.getIsVolatile()))
      break;
    to = op;
  }
  llvm::SetVector<Value> needed;
  for (Operation *op : ops)
    op->walk([&](Operation *inner) {
      for (Value v : inner->getOperands()) {
        Operation *def = v.getDefiningOp();
        if (def && def->getBlock() == to->getBlock() && !llvm::is_contained(ops, def))
          needed.insert(v);
      }
    });
  IRRewriter rewriter(to);
  Operation *mark =
      arith::ConstantOp::create(rewriter, to->getLoc(), rewriter.getI32IntegerAttr(0));
  if (succeeded(moveValueDefinitions(rewriter, needed.getArrayRef(), mark)))
    for (Operation *op : ops)
      op->moveBefore(mark);
  mark->erase();
}

void RingMaker::run() {
  auto kernel = loop->getParentOfType<func::FuncOp>();
  OpBuilder top = OpBuilder::atBlockBegin(&kernel.getBody().front());
  ring = cta::RingOp::create(top, loc, plan.type(), uint32_t(plan.stages),
                             uint32_t(cta::warpsOfGroup(kernel)));
  cta::BarrierOp::create(top, loc); // everybody sees the ring's barriers
  Operation *before = loop->getPrevNode();
  OpBuilder b(loop);
  measure(b);
  fill(b);
  copies().startFirst(b);
  SmallVector<Operation *> made;
  for (Operation *op = before ? before->getNextNode() : &loop->getBlock()->front(); op != loop;
       op = op->getNextNode())
    made.push_back(op);
  moveUp(made);
  use();
}

void tile::makeBulkRing(BulkRing &ring) { RingMaker(ring).run(); }
