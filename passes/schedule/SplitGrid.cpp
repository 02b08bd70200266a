//===- SplitGrid.cpp - an axis of the grid that counts two things ---------===//
#include "passes/schedule/SplitGrid.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "passes/copies/TensorMaps.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Finding what is taken apart
//===----------------------------------------------------------------------===//

static bool isQuotient(Operation *op) { return isa<arith::DivSIOp, arith::DivUIOp>(op); }

/// Whether `use` is of what is divided.
static bool isDivided(OpOperand &use) {
  Operation *op = use.getOwner();
  return (isQuotient(op) || isa<arith::RemSIOp, arith::RemUIOp>(op)) &&
         use.getOperandNumber() == 0 && op->getOperand(1) != use.get();
}

/// k where `v` is n * k.
static Value factorBeside(Value v, Value n) {
  auto product = v.getDefiningOp<arith::MulIOp>();
  if (!product)
    return {};
  return product.getLhs() == n   ? product.getRhs()
         : product.getRhs() == n ? product.getLhs()
                                 : Value();
}

static bool isTaken(func::FuncOp kernel, int32_t axis) {
  auto isOf = [&](auto op) { return op && int32_t(op.getAxis()) == axis; };
  return kernel
      .walk([&](Operation *op) {
        return isOf(dyn_cast<ProgramIdOp>(op)) || isOf(dyn_cast<NumProgramsOp>(op))
                   ? WalkResult::interrupt()
                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What a launcher can work out: a sum over arguments, divided by a constant.
static cta::SplitAttr launchOf(int32_t axis, int32_t to, Value size) {
  int64_t divisor = 1;
  if (auto quotient = size.getDefiningOp<arith::DivSIOp>())
    if (std::optional<int64_t> by = getConstantIntValue(quotient.getRhs()); by && *by > 0) {
      divisor = *by;
      size = quotient.getLhs();
    }
  StridedAnalysis analysis;
  cta::SumAttr sum = launchSumOf(size.getContext(), analysis.scalar(size));
  return sum ? cta::SplitAttr::get(size.getContext(), axis, to, sum, divisor) : cta::SplitAttr();
}

/// Whether `size` is there wherever programs are counted for something else than to be divided by
/// it.
static bool isThereForAll(func::FuncOp kernel, ProgramIdOp id, Value size) {
  Operation *from = size.getDefiningOp();
  Block &body = kernel.getBody().front();
  if (!from)
    return true;
  return from->getBlock() == &body && llvm::all_of(id->getUses(), [&](OpOperand &use) {
           Operation *here = body.findAncestorOpInBlock(*use.getOwner());
           return here && from->isBeforeInBlock(here);
         });
}

std::optional<SplitAxis> tile::findSplitAxis(func::FuncOp kernel) {
  std::optional<SplitAxis> found;
  kernel.walk([&](ProgramIdOp id) {
    int32_t axis = int32_t(id.getAxis()), to = 0;
    while (to < 3 && (to == axis || isTaken(kernel, to)))
      ++to;
    if (to == 3 || !id.getType().isInteger(32))
      return WalkResult::advance();
    SmallVector<Value> sizes;
    for (OpOperand &use : id->getUses())
      if (isDivided(use))
        sizes.push_back(use.getOwner()->getOperand(1));
    // The one that others are multiples of, if there is one.
    auto *base = llvm::find_if(sizes, [&](Value n) {
      return llvm::all_of(sizes, [&](Value v) { return v == n || factorBeside(v, n); });
    });
    if (base != sizes.end())
      std::swap(*base, sizes.front());
    for (Value size : sizes)
      if (isThereForAll(kernel, id, size))
        if (cta::SplitAttr launch = launchOf(axis, to, size)) {
          found = {axis, to, size, launch};
          return WalkResult::interrupt();
        }
    return WalkResult::advance();
  });
  return found;
}

//===----------------------------------------------------------------------===//
// Taking it apart
//===----------------------------------------------------------------------===//

namespace {
/// The numbers of a program along both axes.
struct Place {
  Value along, across;
  SplitAxis split;
  /// What the program's number is divided by a multiple of the size, or leaves.
  Value ofMultiple(OpBuilder &b, Operation *division, Value factor) const;
  /// The program's number.
  Value whole(OpBuilder &b, Location loc, Value across) const {
    Value before = arith::MulIOp::create(b, loc, across, split.size);
    return arith::AddIOp::create(b, loc, before, along);
  }
};
} // namespace

Value Place::ofMultiple(OpBuilder &b, Operation *division, Value factor) const {
  IRMapping operands;
  operands.map(division->getOperand(0), across);
  operands.map(division->getOperand(1), factor);
  Value made = b.clone(*division, operands)->getResult(0);
  return isQuotient(division) ? made : whole(b, division->getLoc(), made);
}

static void replace(ProgramIdOp id, const Place &place) {
  for (OpOperand &use : llvm::make_early_inc_range(id->getUses())) {
    Operation *user = use.getOwner();
    OpBuilder b(user);
    Value by = isDivided(use) ? user->getOperand(1) : Value();
    Value factor = by ? factorBeside(by, place.split.size) : Value();
    if (by != place.split.size && !factor) {
      use.set(place.whole(b, user->getLoc(), place.across));
      continue;
    }
    user->getResult(0).replaceAllUsesWith(factor             ? place.ofMultiple(b, user, factor)
                                          : isQuotient(user) ? place.across
                                                             : place.along);
    user->erase();
  }
  id.erase();
}

void tile::splitGrid(func::FuncOp kernel, const SplitAxis &split) {
  OpBuilder b = OpBuilder::atBlockBegin(&kernel.getBody().front());
  Location loc = kernel.getLoc();
  SmallVector<ProgramIdOp> ids;
  SmallVector<NumProgramsOp> counts;
  kernel.walk([&](Operation *op) {
    if (auto id = dyn_cast<ProgramIdOp>(op); id && int32_t(id.getAxis()) == split.axis)
      ids.push_back(id);
    if (auto count = dyn_cast<NumProgramsOp>(op); count && int32_t(count.getAxis()) == split.axis)
      counts.push_back(count);
  });
  auto number = [&](int32_t axis) -> Value {
    return ProgramIdOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(axis));
  };
  Place place{number(split.axis), number(split.to), split};
  for (ProgramIdOp id : ids)
    replace(id, place);
  for (NumProgramsOp count : counts) {
    b.setInsertionPointAfter(count);
    Value other = NumProgramsOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(split.to));
    auto all = arith::MulIOp::create(b, loc, count.getResult(), other);
    count.getResult().replaceAllUsesExcept(all, all);
  }
  Operation *module = kernel->getParentOp();
  SmallVector<Attribute> splits;
  if (auto before = module->getAttrOfType<ArrayAttr>(cta::kGridSplitsAttr))
    llvm::append_range(splits, before);
  splits.push_back(split.launch);
  module->setAttr(cta::kGridSplitsAttr, b.getArrayAttr(splits));
}
