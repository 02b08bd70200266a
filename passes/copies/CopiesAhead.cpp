//===- CopiesAhead.cpp - what one thread copies for iterations to come ------===//
#include "passes/copies/CopiesAhead.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "passes/facts/LoopSlice.h"

using namespace mlir;
using namespace tile;

bool tile::areScalarAhead(ValueRange values, scf::ForOp loop, const DenseSet<Value> &written) {
  Slice slice(loop, written);
  return slice.add(values) && slice.carried.empty() && llvm::all_of(slice.ops, [](Operation *op) {
           return llvm::none_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>) &&
                  llvm::none_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>);
         });
}

Value CopiesAhead::constant(OpBuilder &b, int64_t n) {
  return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(n)));
}

/// `n` (i32) steps of the loop, in the type of its induction variable.
Value CopiesAhead::times(OpBuilder &b, Value n) {
  Type type = loop.getInductionVar().getType();
  if (isa<IndexType>(type))
    n = arith::IndexCastOp::create(b, loc, type, n);
  else if (type != b.getI32Type())
    n = arith::ExtSIOp::create(b, loc, type, n);
  return arith::MulIOp::create(b, loc, n, loop.getStep());
}

bool tile::mayPassTypeAhead(scf::ForOp loop, int64_t turns) {
  std::optional<int64_t> step = getConstantIntValue(loop.getStep());
  return !step || *step > (int64_t(1) << 30) / turns;
}

/// Starts the copies of the iteration that is `turns` (i32) behind `from`, if the loop
/// has it. `from` is below the upper bound.
void CopiesAhead::startIf(OpBuilder &b, Value from, Value turns) {
  Value elapsed = times(b, turns);
  // Unsigned, the distance does not overflow.
  Value left = arith::SubIOp::create(b, loc, loop.getUpperBound(), from), far = elapsed;
  if (left.getType().isInteger(32) && mayPassTypeAhead(loop, stages)) {
    Type wide = b.getI64Type();
    left = arith::ExtUIOp::create(b, loc, wide, left);
    far = arith::MulIOp::create(b, loc, arith::ExtUIOp::create(b, loc, wide, turns),
                                arith::ExtUIOp::create(b, loc, wide, loop.getStep()));
  }
  Value isThere = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt, left, far);
  OpBuilder in = scf::IfOp::create(b, loc, isThere).getThenBodyBuilder();
  IRMapping map;
  map.map(loop.getInductionVar(), arith::AddIOp::create(in, loc, from, elapsed).getResult());
  DenseSet<Value> unwritten; // who planned the copies has seen to it
  Slice slice(loop, unwritten);
  slice.add(needs);
  for (Operation &op : *loop.getBody())
    if (slice.ops.contains(&op))
      in.clone(op, map);
  fill(in, map);
}

void CopiesAhead::startFirst(OpBuilder &b) {
  auto single = cta::SingleOp::create(b, loc);
  single->setAttr(cta::kPrologueAttr, b.getUnitAttr());
  OpBuilder in = OpBuilder::atBlockBegin(&single.getBody().emplaceBlock());
  Value any = arith::CmpIOp::create(in, loc, arith::CmpIPredicate::slt, loop.getLowerBound(),
                                    loop.getUpperBound());
  in = scf::IfOp::create(in, loc, any).getThenBodyBuilder();
  auto each = scf::ForOp::create(in, loc, constant(in, 0), constant(in, stages), constant(in, 1));
  in = OpBuilder::atBlockBegin(each.getBody());
  startIf(in, loop.getLowerBound(), each.getInductionVar());
}

void CopiesAhead::startNext(OpBuilder &b) {
  auto single = cta::SingleOp::create(b, loc);
  OpBuilder in = OpBuilder::atBlockBegin(&single.getBody().emplaceBlock());
  startIf(in, loop.getInductionVar(), constant(in, stages));
}

cta::SingleOp tile::nextCopiesBehind(cta::RingReleaseOp release) {
  auto single = dyn_cast_or_null<cta::SingleOp>(release->getNextNode());
  bool refills = false;
  if (single)
    single.walk(
        [&](cta::RingAcquireOp acquire) { refills |= acquire.getRing() == release.getRing(); });
  return refills ? single : cta::SingleOp();
}
