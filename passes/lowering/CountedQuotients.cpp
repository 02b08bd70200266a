//===- CountedQuotients.cpp -----------------------------------------------===//
#include "passes/lowering/CountedQuotients.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"
#include "passes/lowering/Comparisons.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

// Instructions, of 32 and of 64 bits. The assembler works out a divisor's reciprocal once.
static constexpr int kDivision[] = {12, 30}, kStep[] = {5, 8};
/// A distance over the divisor: divided, which is short at any width, or twice as much as another.
static constexpr int kDividedDistance = 20, kTwice = 6;

/// Whether no element is below zero, and none has wrapped around: sums of places and of program ids
/// that are multiplied by sizes of blocks. Numbers that are mixed to look random are multiplied by
/// large ones so that they wrap.
static bool staysInBounds(Value v, unsigned depth = 0) {
  constexpr unsigned kDeep = 16;
  if (depth == kDeep)
    return false;
  bool isWide = getElementType(v.getType()).getIntOrFloatBitWidth() == 64;
  auto isBelow = [&](Value number, int64_t most) {
    APInt known;
    return matchPattern(number, m_ConstantInt(&known)) && !known.isNegative() &&
           known.getSExtValue() <= most;
  };
  constexpr int64_t kFactor = 1 << 16, kSummand = 1 << 24, kWide = int64_t(1) << 31;
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return isBelow(v, isWide ? kWide : kSummand);
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    return loop && arg == loop.getInductionVar() && staysInBounds(loop.getLowerBound(), depth + 1);
  }
  Operation *op = v.getDefiningOp();
  if (isa_and_nonnull<MakeRangeOp, ProgramIdOp, NumProgramsOp>(op))
    return isPosition(v);
  auto stays = [&](Value operand) { return staysInBounds(operand, depth + 1); };
  if (auto product = dyn_cast_or_null<arith::MulIOp>(op)) {
    Value x = product.getLhs(), y = product.getRhs();
    int64_t most = isWide ? kWide : kFactor;
    return !isa<RankedTensorType>(v.getType()) &&
           ((isBelow(y, most) && stays(x)) || (isBelow(x, most) && stays(y)));
  }
  if (isa_and_nonnull<arith::DivSIOp, arith::RemSIOp>(op) && !isa<RankedTensorType>(v.getType()))
    return isPosition(v) && stays(op->getOperand(0));
  return isa_and_nonnull<SplatOp, BroadcastOp, ExpandDimsOp, cta::ConvertLayoutOp, arith::ExtSIOp,
                         arith::MinSIOp, arith::AddIOp, HintOp>(op) &&
         llvm::all_of(op->getOperands(), stays);
}

CountedQuotients::CountedQuotients(Core &core, Operation *division) : core(core), b(core.b) {
  isRemainder = isa<arith::RemSIOp>(division);
  isOfPositions =
      (isRemainder || isa<arith::DivSIOp>(division)) && staysInBounds(division->getOperand(0));
}

void CountedQuotients::add(Value dividend, Value divisor) {
  Affine x = core.affine(dividend);
  // A constant divisor is a multiplication.
  unsigned bits = bitWidth(dividend.getType());
  if (isOfPositions && (bits == 32 || bits == 64) && x.base && x.base != divisor &&
      core.affine(divisor).base)
    groups[{x.base, divisor}].offsets.insert(x.offset);
}

/// Without its last bit an offset from the least is that of another register.
static int64_t lastBit(int64_t offset) { return offset & -offset; }

std::optional<std::pair<int64_t, int64_t>> CountedQuotients::Group::stepTo(int64_t offset) const {
  int64_t distance = lastBit(offset - *offsets.begin());
  if (!distance || !distances->contains(distance) || !offsets.contains(offset - distance))
    return std::nullopt;
  return std::pair(offset - distance, distance);
}

static int costOfTwice(int64_t from, int64_t to) {
  return kTwice * int(llvm::Log2_64(uint64_t(to / from)));
}

void CountedQuotients::Group::chooseDistances(bool isWide) {
  std::map<int64_t, int> steps;
  for (int64_t offset : offsets)
    if (int64_t distance = lastBit(offset - *offsets.begin());
        distance && offsets.contains(offset - distance))
      ++steps[distance];
  distances.emplace();
  for (auto [distance, count] : steps) {
    int cost = distance == 1 ? 0 : kDividedDistance;
    if (!distances->empty())
      cost = std::min(cost, costOfTwice(*distances->rbegin(), distance));
    if (count * (kDivision[isWide] - kStep[isWide]) > cost)
      distances->insert(distance);
  }
}

CountedQuotients::Divisor &CountedQuotients::divisorOf(Value value) {
  Divisor &by = divisors[value];
  if (by.value)
    return by;
  by.value = by.number = value;
  if (auto wider = value.getDefiningOp<LLVM::SExtOp>();
      wider && wider.getArg().getType().isInteger(32))
    by.number = wider.getArg();
  by.magnitude = LLVM::AbsOp::create(b, core.in.getLoc(), by.number.getType(), by.number,
                                     /*is_int_min_poison=*/false);
  return by;
}

/// With `of` known.
CountedQuotients::Step CountedQuotients::makeStep(Result of, const Divisor &by) {
  Location loc = core.in.getLoc();
  Type type = by.value.getType();
  auto number = [&](int64_t n) { return core.in.constant(type, b.getIntegerAttr(type, n)); };
  // LLVM knows of many that they are not.
  Value isBelowZero = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, by.value, number(0));
  Value one = LLVM::SelectOp::create(b, loc, isBelowZero, number(-1), number(1));
  return {of, LLVM::AddOp::create(b, loc, of.quotient, one)};
}

CountedQuotients::Result CountedQuotients::stepped(const Result &from, const Step &step,
                                                   const Divisor &by) {
  Location loc = core.in.getLoc();
  // Less than twice the magnitude, which is at most half of what such a number may be.
  Value sum = LLVM::AddOp::create(b, loc, from.remainder, step.remainder);
  Value isNext = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::uge, sum, by.magnitude);
  Value rest = LLVM::SubOp::create(b, loc, sum, by.magnitude);
  Value more = LLVM::SelectOp::create(b, loc, isNext, step.quotientAndOne, step.quotient);
  return {LLVM::AddOp::create(b, loc, from.quotient, more),
          LLVM::SelectOp::create(b, loc, isNext, rest, sum)};
}

const CountedQuotients::Step &CountedQuotients::stepOf(int64_t distance, Divisor &by) {
  if (auto known = by.steps.find(distance); known != by.steps.end())
    return known->second;
  Location loc = core.in.getLoc();
  auto of = [&](Type type, int64_t n) { return core.in.constant(type, b.getIntegerAttr(type, n)); };
  Type type = by.value.getType(), rest = by.number.getType();
  Step step;
  if (distance == 1) {
    step = makeStep({of(type, 0), of(rest, 1)}, by);
  } else if (auto shorter = by.steps.lower_bound(distance);
             shorter != by.steps.begin() &&
             costOfTwice(std::prev(shorter)->first, distance) <= kDividedDistance) {
    --shorter;
    step = shorter->second;
    for (int64_t d = shorter->first; d < distance; d *= 2)
      step = makeStep(stepped(step, step, by), by);
  } else {
    Value n = of(rest, distance);
    Value quotient = LLVM::SDivOp::create(b, loc, n, by.number);
    if (type != rest)
      quotient = LLVM::SExtOp::create(b, loc, type, quotient);
    step = makeStep({quotient, LLVM::SRemOp::create(b, loc, n, by.number)}, by);
  }
  return by.steps[distance] = step;
}

CountedQuotients::Result CountedQuotients::divided(Value dividend, const Divisor &by) {
  Location loc = core.in.getLoc();
  Value quotient = LLVM::SDivOp::create(b, loc, dividend, by.value);
  Value remainder = LLVM::SRemOp::create(b, loc, dividend, by.value);
  if (by.number != by.value)
    remainder = LLVM::TruncOp::create(b, loc, by.number.getType(), remainder);
  return {quotient, remainder};
}

CountedQuotients::Result CountedQuotients::resultAt(Affine at, Divisor &by, const Group &group) {
  // As the other of `//` and `%` has left them.
  auto known = [&](bool isRest) -> Value & {
    return core.shared(at.base, by.value, 2 * at.offset + isRest);
  };
  if (Value quotient = known(false))
    return {quotient, known(true)};
  Result result;
  if (auto step = group.stepTo(at.offset))
    result = stepped(resultAt({at.base, step->first}, by, group), stepOf(step->second, by), by);
  else
    result = divided(core.materialize(at, by.value.getType()), by);
  known(false) = result.quotient;
  known(true) = result.remainder;
  return result;
}

Value CountedQuotients::lower(Value dividend, Value divisor) {
  Affine x = core.affine(dividend);
  auto found = groups.find({x.base, divisor});
  if (found == groups.end())
    return {};
  Group &group = found->second;
  if (!group.distances)
    group.chooseDistances(bitWidth(divisor.getType()) == 64);
  if (group.distances->empty())
    return {};
  Divisor &by = divisorOf(divisor);
  for (int64_t distance : *group.distances) // longer ones are made of shorter ones
    stepOf(distance, by);
  Result result = resultAt(x, by, group);
  if (!isRemainder)
    return result.quotient;
  if (result.remainder.getType() == divisor.getType())
    return result.remainder;
  return LLVM::ZExtOp::create(b, core.in.getLoc(), divisor.getType(), result.remainder);
}
