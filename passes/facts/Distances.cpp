//===- Distances.cpp - how far apart neighbours of a block are likely to lie ==//
#include "passes/facts/Distances.h"
#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

/// A stride that the launch does not say to be a multiple of 16 is most likely a small one, such
/// as the size of a filter; one that is, the length of a row or more.
static constexpr int64_t kUnknownFactor = 8, kRowFactor = 64, kSaidMultiple = 16;

static int64_t capped(int64_t distance) { return std::min(distance, kFarApart); }

namespace {
/// What is said of factors that only the launch knows.
enum class Unknown { Likely, Least, Far };

class Guess {
public:
  explicit Guess(AxisInfoAnalysis &axes, Unknown unknown = Unknown::Likely)
      : axes(axes), unknown(unknown) {}
  int64_t along(Value v, unsigned axis);

private:
  int64_t ofOperation(Operation *op, unsigned axis);
  int64_t ofProduct(Value a, Value b, unsigned axis);
  int64_t sum(ValueRange values, unsigned axis);
  int64_t size(Value factor);

  AxisInfoAnalysis &axes;
  Unknown unknown;
  llvm::DenseMap<std::pair<Value, unsigned>, int64_t> known;
};
} // namespace

/// Of a factor that is the same along an axis.
int64_t Guess::size(Value factor) {
  const AxisInfo &info = axes.get(factor);
  if (info.constant)
    return capped(std::abs(std::max(*info.constant, -kFarApart)));
  if (unknown == Unknown::Far)
    return kFarApart;
  int64_t multiple = 1;
  for (unsigned axis = 0; axis < info.axes.size(); ++axis)
    if (info.axes[axis].contiguity == 0)
      multiple = std::max(multiple, capped(info.divisibility(axis)));
  if (unknown == Unknown::Least)
    return multiple;
  return multiple >= kSaidMultiple ? std::max(multiple, kRowFactor) : kUnknownFactor;
}

int64_t Guess::ofProduct(Value a, Value b, unsigned axis) {
  int64_t first = along(a, axis), second = along(b, axis);
  if (first != 0 && second != 0)
    return kFarApart;
  int64_t distance = first + second;
  return distance ? capped(distance * size(first ? b : a)) : 0; // below 2^60
}

int64_t Guess::sum(ValueRange values, unsigned axis) {
  int64_t all = 0;
  for (Value v : values)
    all = capped(all + along(v, axis));
  return all;
}

int64_t Guess::ofOperation(Operation *op, unsigned axis) {
  if (unknown == Unknown::Far &&
      isa<arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp, arith::SelectOp,
          arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(op))
    return kFarApart;
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case([&](MakeRangeOp) { return 1; })
      .Case<arith::AddIOp, arith::SubIOp, AddPtrOp>(
          [&](auto) { return sum(op->getOperands(), axis); })
      .Case([&](arith::MulIOp mul) { return ofProduct(mul.getLhs(), mul.getRhs(), axis); })
      .Case<arith::RemSIOp, arith::RemUIOp>([&](auto rem) {
        if (along(rem.getRhs(), axis))
          return kFarApart;
        bool isParity = axes.get(rem.getRhs()).constant == 2; // pairs change places: none moves on
        return isParity ? 0 : along(rem.getLhs(), axis);
      })
      .Case<arith::DivSIOp, arith::DivUIOp>([&](auto quotient) {
        return along(quotient.getRhs(), axis)
                   ? kFarApart
                   : along(quotient.getLhs(), axis) / std::max<int64_t>(size(quotient.getRhs()), 1);
      })
      .Case<arith::SelectOp, arith::MinSIOp, arith::MaxSIOp, arith::MinUIOp, arith::MaxUIOp>(
          [&](auto) {
            int64_t most = 0;
            for (Value v : op->getOperands())
              if (!getElementType(v.getType()).isInteger(1))
                most = std::max(most, along(v, axis));
            return most;
          })
      .Case<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, HintOp, cta::ConvertLayoutOp,
            BroadcastOp>([&](auto) { return along(op->getOperand(0), axis); })
      .Case([&](ExpandDimsOp expand) {
        unsigned added = expand.getAxis();
        return added == axis ? 0 : along(expand.getSrc(), axis > added ? axis - 1 : axis);
      })
      .Case([&](TransOp trans) { return along(trans.getSrc(), unsigned(trans.getOrder()[axis])); })
      .Default([](Operation *) { return kFarApart; });
}

int64_t Guess::along(Value v, unsigned axis) {
  auto block = dyn_cast<RankedTensorType>(v.getType());
  if (!block || axes.get(v).constancy(axis) >= block.getDimSize(axis))
    return 0;
  if (axes.get(v).axes[axis].contiguity > 0)
    return 1;
  if (auto it = known.find({v, axis}); it != known.end())
    return it->second;
  int64_t distance = kFarApart;
  if (Operation *op = v.getDefiningOp())
    distance = ofOperation(op, axis);
  else if (auto loop = dyn_cast<scf::ForOp>(cast<BlockArgument>(v).getOwner()->getParentOp()))
    distance = along(loop.getTiedLoopInit(cast<BlockArgument>(v))->get(), axis); // as it starts
  known[{v, axis}] = distance;
  return distance;
}

namespace {
class Runs {
public:
  explicit Runs(AxisInfoAnalysis &axes) : axes(axes), distances(axes) {}
  int64_t along(Value v, unsigned axis);

private:
  int64_t ofOperation(Operation *op, unsigned axis, int64_t whole);
  int64_t ofDivision(Value lhs, Value rhs, unsigned axis);

  AxisInfoAnalysis &axes;
  Guess distances;
  llvm::DenseMap<std::pair<Value, unsigned>, int64_t> known;
};
} // namespace

int64_t Runs::ofDivision(Value lhs, Value rhs, unsigned axis) {
  int64_t run = along(lhs, axis);
  std::optional<int64_t> divisor = axes.get(rhs).constant;
  int64_t step = distances.along(lhs, axis);
  return divisor && step > 0 ? std::min(run, std::max<int64_t>(std::abs(*divisor) / step, 1)) : run;
}

int64_t Runs::ofOperation(Operation *op, unsigned axis, int64_t whole) {
  return llvm::TypeSwitch<Operation *, int64_t>(op)
      .Case<arith::RemSIOp, arith::RemUIOp, arith::DivSIOp, arith::DivUIOp>(
          [&](auto division) { return ofDivision(division.getLhs(), division.getRhs(), axis); })
      .Case<BroadcastOp, HintOp, cta::ConvertLayoutOp>(
          [&](auto) { return std::min(along(op->getOperand(0), axis), whole); })
      .Case([&](ExpandDimsOp expand) {
        unsigned added = expand.getAxis();
        return added == axis ? whole : along(expand.getSrc(), axis > added ? axis - 1 : axis);
      })
      .Case([&](TransOp trans) { return along(trans.getSrc(), unsigned(trans.getOrder()[axis])); })
      .Default([&](Operation *) {
        int64_t least = whole;
        if (op->hasTrait<OpTrait::Elementwise>() || isa<AddPtrOp>(op))
          for (Value v : op->getOperands())
            least = std::min(least, along(v, axis));
        return least;
      });
}

int64_t Runs::along(Value v, unsigned axis) {
  auto block = dyn_cast<RankedTensorType>(v.getType());
  if (!block)
    return kFarApart;
  int64_t whole = block.getDimSize(axis);
  if (axes.get(v).constancy(axis) >= whole)
    return kFarApart;
  if (auto it = known.find({v, axis}); it != known.end())
    return it->second;
  int64_t run = whole;
  if (Operation *op = v.getDefiningOp())
    run = ofOperation(op, axis, whole);
  else if (auto loop = dyn_cast<scf::ForOp>(cast<BlockArgument>(v).getOwner()->getParentOp()))
    run = along(loop.getTiedLoopInit(cast<BlockArgument>(v))->get(), axis); // as it starts
  known[{v, axis}] = run;
  return run;
}

int64_t tile::likelyRun(Value block, unsigned axis, AxisInfoAnalysis &axes) {
  return Runs(axes).along(block, axis);
}

int64_t tile::likelyDistance(Value block, unsigned axis, AxisInfoAnalysis &axes) {
  return Guess(axes).along(block, axis);
}

bool tile::isConstantDistance(Value block, unsigned axis, AxisInfoAnalysis &axes) {
  return Guess(axes, Unknown::Far).along(block, axis) < kFarApart;
}

int64_t tile::leastDistance(Value block, unsigned axis, AxisInfoAnalysis &axes) {
  return Guess(axes, Unknown::Least).along(block, axis);
}
