//===- ProgramValues.cpp --------------------------------------------------===//
#include "compiler/ProgramValues.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Reach.h"

using namespace mlir;
using namespace tile;
using namespace tile::explaining;

void ProgramValues::moveTo(uint64_t program) {
  place = {int64_t(program % grid[0]), int64_t(program / grid[0] % grid[1]),
           int64_t(program / grid[0] / grid[1])};
  known.clear();
}

std::optional<int64_t> ProgramValues::get(Value v, unsigned depth) {
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return constant.getSExtValue();
  if (auto it = known.find(v); it != known.end())
    return it->second;
  if (depth > reach::kScalars)
    return std::nullopt;
  std::optional<int64_t> value = compute(v, depth);
  known[v] = value;
  return value;
}

/// Arguments by their names; what a loop carries as it begins. Arrays are told apart by who asks.
std::optional<int64_t> ProgramValues::ofArgument(BlockArgument arg, unsigned depth) {
  if (auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp())) {
    if (arg == loop.getInductionVar())
      return get(loop.getLowerBound(), depth + 1);
    return get(loop.getTiedLoopInit(arg)->get(), depth + 1);
  }
  if (isa<PtrType>(arg.getType()))
    return 0;
  if (auto name = dyn_cast<NameLoc>(arg.getLoc()))
    if (auto it = arguments.find(name.getName().str()); it != arguments.end())
      return it->second;
  return std::nullopt;
}

static std::optional<int64_t> evaluate(Operation *op, ArrayRef<int64_t> in) {
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::IndexCastOp, HintOp, SplatOp,
          UnsplatOp, BroadcastOp, ExpandDimsOp, cta::ConvertLayoutOp>(op))
    return in[0];
  if (auto address = dyn_cast<AddPtrOp>(op)) {
    auto pointers = cast<PtrType>(getElementType(address.getType()));
    return in[0] + in[1] * int64_t(std::max(getElementBytes(pointers.getPointee()), 1u));
  }
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return arith::applyCmpPredicate(compare.getPredicate(), APInt(64, uint64_t(in[0])),
                                    APInt(64, uint64_t(in[1])));
  if (isa<arith::AddIOp>(op))
    return in[0] + in[1];
  if (isa<arith::SubIOp>(op))
    return in[0] - in[1];
  if (isa<arith::MulIOp>(op))
    return in[0] * in[1];
  if (isa<arith::DivSIOp, arith::DivUIOp>(op) && in[1] != 0)
    return in[0] / in[1];
  if (isa<arith::RemSIOp, arith::RemUIOp>(op) && in[1] != 0)
    return in[0] % in[1];
  if (isa<arith::MinSIOp>(op))
    return std::min(in[0], in[1]);
  if (isa<arith::MaxSIOp>(op))
    return std::max(in[0], in[1]);
  if (isa<arith::SelectOp>(op))
    return in[0] ? in[1] : in[2];
  return std::nullopt;
}

std::optional<int64_t> ProgramValues::compute(Value v, unsigned depth) {
  if (auto arg = dyn_cast<BlockArgument>(v))
    return ofArgument(arg, depth);
  Operation *op = v.getDefiningOp();
  if (auto id = dyn_cast<ProgramIdOp>(op))
    return place[id.getAxis()];
  if (auto count = dyn_cast<NumProgramsOp>(op))
    return numPrograms() ? std::optional<int64_t>(grid[count.getAxis()]) : std::nullopt;
  if (auto range = dyn_cast<MakeRangeOp>(op))
    return int32_t(range.getStart());
  if (op->getNumOperands() == 0 || op->getNumRegions() != 0 || op->getNumResults() != 1)
    return std::nullopt;
  SmallVector<int64_t, 3> in;
  for (Value operand : op->getOperands()) {
    std::optional<int64_t> value = get(operand, depth + 1);
    if (!value)
      return std::nullopt;
    in.push_back(*value);
  }
  return evaluate(op, in);
}

std::optional<int64_t> ProgramValues::trips(scf::ForOp loop) {
  auto lower = get(loop.getLowerBound()), upper = get(loop.getUpperBound()),
       step = get(loop.getStep());
  if (!lower || !upper || !step || *step <= 0)
    return std::nullopt;
  if (*upper <= *lower)
    return 0;
  // The distance may not fit a number with a sign.
  uint64_t turns = (uint64_t(*upper) - uint64_t(*lower) - 1) / uint64_t(*step) + 1;
  return turns <= uint64_t(INT64_MAX) ? std::optional(int64_t(turns)) : std::nullopt;
}
