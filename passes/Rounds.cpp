//===- Rounds.cpp - loops cut into rounds of several turns ----------------===//
#include "passes/Rounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace tile;

static unsigned widthOf(Type type) { return type.isIndex() ? 64 : type.getIntOrFloatBitWidth(); }

/// The longest step of which `turns` are a positive number of the type.
static APInt longestStep(Type type, int64_t turns) {
  unsigned width = widthOf(type);
  return APInt::getSignedMaxValue(width).udiv(APInt(width, uint64_t(turns)));
}

/// A step that is no constant and may be too long for a round: no round is run then, and the
/// loop over rounds has a step that is positive.
static Value stepOfRounds(OpBuilder &b, scf::ForOp loop, int64_t turns) {
  Location loc = loop.getLoc();
  Type type = loop.getStep().getType();
  Value longest =
      arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, longestStep(type, turns)));
  Value step = arith::MinSIOp::create(b, loc, loop.getStep(), longest);
  Value factor =
      arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, APInt(widthOf(type), turns)));
  return arith::MulIOp::create(b, loc, step, factor);
}

/// Numbers are without a sign here: the distance of any two bounds fits their type so.
Value tile::endOfRounds(OpBuilder &b, scf::ForOp loop, int64_t turns) {
  Location loc = loop.getLoc();
  Value lower = loop.getLowerBound(), upper = loop.getUpperBound(), step = loop.getStep();
  Type type = lower.getType();
  auto constant = [&](APInt value) -> Value {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  };
  unsigned width = widthOf(type);
  Value none = constant(APInt(width, 0)), one = constant(APInt(width, 1));
  Value isEmpty = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sle, upper, lower);
  Value span = arith::SubIOp::create(b, loc, upper, lower);
  span = arith::SubIOp::create(b, loc, span, one);
  Value count = arith::DivUIOp::create(b, loc, span, step);
  count = arith::AddIOp::create(b, loc, count, one);
  if (!isConstantIntValue(step, 1)) {
    // So many turns end within the type.
    Value room = arith::SubIOp::create(b, loc, constant(APInt::getSignedMaxValue(width)), lower);
    room = arith::DivUIOp::create(b, loc, room, step);
    count = arith::MinUIOp::create(b, loc, count, room);
  }
  Value rounds = arith::DivUIOp::create(b, loc, count, constant(APInt(width, turns)));
  if (!getConstantIntValue(step)) {
    Value isLong = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sgt, step,
                                         constant(longestStep(type, turns)));
    isEmpty = arith::OrIOp::create(b, loc, isEmpty, isLong);
  }
  rounds = arith::SelectOp::create(b, loc, isEmpty, none, rounds);
  Value perRound = arith::MulIOp::create(b, loc, step, constant(APInt(width, turns)));
  Value distance = arith::MulIOp::create(b, loc, rounds, perRound);
  return arith::AddIOp::create(b, loc, lower, distance);
}

FailureOr<UnrolledLoopInfo> tile::unrollIntoRounds(scf::ForOp loop, int64_t turns) {
  OpBuilder b(loop);
  Value end, step;
  std::optional<int64_t> known = getConstantIntValue(loop.getStep());
  if (known &&
      APInt(64, uint64_t(*known)).ugt(longestStep(loop.getStep().getType(), turns).getZExtValue()))
    return failure();
  if (!loop.getStaticTripCount()) {
    if (!isConstantIntValue(loop.getStep(), 1))
      end = endOfRounds(b, loop, turns);
    if (!known)
      step = stepOfRounds(b, loop, turns);
    // A loop that runs no turn ends where it starts: the number of turns is computed from the
    // bounds without a sign.
    loop.setUpperBound(
        arith::MaxSIOp::create(b, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound()));
  }
  FailureOr<UnrolledLoopInfo> made = loopUnrollByFactor(loop, uint64_t(turns));
  if (succeeded(made) && end && made->mainLoopOp && made->epilogueLoopOp) {
    made->mainLoopOp->setUpperBound(end);
    made->epilogueLoopOp->setLowerBound(end);
    if (step)
      made->mainLoopOp->setStep(step);
  }
  return made;
}
