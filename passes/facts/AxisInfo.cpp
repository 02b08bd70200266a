//===- AxisInfo.cpp - how integers and pointers run along a block's axes --===//
#include "passes/facts/AxisInfo.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/facts/AxisRules.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>

using namespace mlir;
using namespace tile;
using namespace tile::axis;

//===----------------------------------------------------------------------===//
// Small facts
//===----------------------------------------------------------------------===//

Log2 axis::divisibilityOf(int64_t value) {
  return value == 0 ? AxisInfo::kZeroDivisibility : capped(llvm::countr_zero(uint64_t(value)));
}

SmallVector<Log2, 4> axis::sizesOf(Type type) {
  SmallVector<Log2, 4> sizes;
  if (auto block = dyn_cast<RankedTensorType>(type))
    for (int64_t size : block.getShape())
      sizes.push_back(Log2(llvm::Log2_64(size)));
  if (sizes.empty())
    sizes.push_back(0);
  return sizes;
}

Log2 axis::stepOf(Type type) {
  if (auto ptr = dyn_cast<PtrType>(getElementType(type)))
    return Log2(llvm::Log2_32(getElementBytes(ptr.getPointee())));
  return 0;
}

AxisInfo axis::unknown(Type type) {
  AxisInfo info;
  info.axes.resize(sizesOf(type).size());
  return info;
}

AxisInfo axis::uniform(Type type, Log2 divisibility) {
  AxisInfo info;
  for (Log2 size : sizesOf(type))
    info.axes.push_back({0, divisibility, size});
  return info;
}

AxisInfo axis::ofConstant(Type type, int64_t value) {
  AxisInfo info = uniform(type, divisibilityOf(value));
  info.constant = value;
  info.nonNegative = value >= 0;
  return info;
}

Log2 axis::divisibilityOfAll(const AxisInfo &info, Log2 step) {
  Log2 best = 0;
  for (const AxisFacts &f : info.axes)
    best = std::max(best, divisibilityAt(f, 0, step));
  return best;
}

AxisInfo axis::weakest(const AxisInfo &a, const AxisInfo &b, Log2 step) {
  AxisInfo info = perAxis(a, b, [&](const AxisFacts &x, const AxisFacts &y) {
    Log2 c = std::min(x.contiguity, y.contiguity);
    return AxisFacts{c, std::min(divisibilityAt(x, c, step), divisibilityAt(y, c, step)),
                     std::min(x.constancy, y.constancy)};
  });
  if (a.constant == b.constant)
    info.constant = a.constant;
  info.nonNegative = a.nonNegative && b.nonNegative;
  return info;
}

AxisInfo axis::elementwise(Operation *op, Operands operands) {
  AxisInfo info = unknown(op->getResult(0).getType());
  SmallVector<Log2, 4> sizes = sizesOf(op->getResult(0).getType());
  for (auto [i, axis] : llvm::enumerate(info.axes)) {
    axis.constancy = sizes[i];
    for (auto [operand, facts] : llvm::zip_equal(op->getOperands(), operands))
      if (isa<RankedTensorType>(operand.getType()))
        axis.constancy = std::min(axis.constancy, facts->axes[i].constancy);
  }
  return info;
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// Integer constants up to 64 bits, scalar or splat, sign-extended.
static std::optional<int64_t> integerConstant(Attribute value) {
  if (auto splat = dyn_cast<SplatElementsAttr>(value)) {
    if (!splat.getElementType().isIntOrIndex())
      return std::nullopt;
    value = splat.getSplatValue<Attribute>();
  }
  auto integer = dyn_cast<IntegerAttr>(value);
  if (!integer || integer.getValue().getBitWidth() > 64)
    return std::nullopt;
  // A mask is 0 or 1.
  return integer.getType().isInteger(1) ? int64_t(integer.getValue().getZExtValue())
                                        : integer.getValue().getSExtValue();
}

AxisInfo AxisInfoAnalysis::transfer(Operation *op) {
  SmallVector<const AxisInfo *, 3> in;
  for (Value operand : op->getOperands())
    get(operand); // first all, for the table may move
  for (Value operand : op->getOperands())
    in.push_back(&infos.find(operand)->second);

  if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (std::optional<int64_t> value = integerConstant(constant.getValue()))
      return ofConstant(constant.getType(), *value);
    bool isEqual =
        !isa<ElementsAttr>(constant.getValue()) || isa<SplatElementsAttr>(constant.getValue());
    return isEqual ? uniform(constant.getType(), 0) : unknown(constant.getType());
  }
  if (auto info = arithmeticRule(op, in, trustIndices))
    return *info;
  if (auto info = blockRule(op, in))
    return *info;
  if (auto info = castRule(op, in))
    return *info;
  // Equal addresses under equal masks hold equal numbers.
  if (auto load = dyn_cast<LoadOp>(op); load && !load.getIsVolatile())
    return elementwise(op, in);
  return op->hasTrait<OpTrait::Elementwise>() ? elementwise(op, in)
                                              : unknown(op->getResult(0).getType());
}

AxisInfoAnalysis::AxisInfoAnalysis(func::FuncOp func, bool trustIndices)
    : trustIndices(trustIndices) {
  if (func.isExternal())
    return;
  for (BlockArgument arg : func.getArguments()) {
    AxisInfo info = unknown(arg.getType());
    if (auto attr = func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), kDivisibilityAttr))
      for (AxisFacts &axis : info.axes)
        axis.divisibility = divisibilityOf(attr.getInt());
    infos[arg] = info;
  }
  for (Block &block : func.getBody())
    visitBlock(block);
}

const AxisInfo &AxisInfoAnalysis::get(Value value) {
  auto [it, isNew] = infos.try_emplace(value);
  if (isNew)
    it->second = unknown(value.getType());
  return it->second;
}

bool AxisInfoAnalysis::join(Value value, const AxisInfo &other) {
  const AxisInfo &old = get(value);
  AxisInfo joined = weakest(old, other, stepOf(value.getType()));
  if (joined == old)
    return false;
  infos[value] = std::move(joined);
  return true;
}

void AxisInfoAnalysis::visitBlock(Block &block) {
  for (Operation &op : block)
    visit(&op);
}

void AxisInfoAnalysis::visit(Operation *op) {
  if (isa<scf::ForOp>(op))
    return visitFor(op);
  if (isa<scf::IfOp>(op))
    return visitIf(op);
  if (isa<scf::WhileOp>(op))
    return visitWhile(op);
  if (isa<cta::RolesOp, cta::SingleOp>(op)) {
    for (Region &region : op->getRegions())
      visitBlock(region.front());
    return;
  }
  if (auto convert = dyn_cast<cta::ConvertLayoutOp>(op)) {
    infos[op->getResult(0)] = AxisInfo(get(convert.getSrc()));
    return;
  }
  if (op->getNumResults() == 1)
    infos[op->getResult(0)] = transfer(op);
}

/// The facts of loop-carried values start as those of the initial values and
/// weaken until the body keeps them. They can weaken only so often.
void AxisInfoAnalysis::visitFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  AxisInfo lower = get(loop.getLowerBound());
  AxisInfo iv = unknown(loop.getInductionVar().getType());
  iv.axes[0].divisibility =
      std::min(divisibilityOfAll(lower), divisibilityOfAll(get(loop.getStep())));
  iv.nonNegative = lower.nonNegative; // it starts there and only grows
  infos[loop.getInductionVar()] = iv;
  for (auto [arg, init] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
    infos[arg] = AxisInfo(get(init));
  bool changed = true;
  while (changed) {
    visitBlock(*loop.getBody());
    changed = false;
    for (auto [arg, yielded] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getYieldedValues()))
      changed |= join(arg, AxisInfo(get(yielded)));
  }
  for (auto [result, arg] : llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
    infos[result] = AxisInfo(get(arg));
}

void AxisInfoAnalysis::visitIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  visitBlock(*branch.thenBlock());
  if (branch.elseBlock())
    visitBlock(*branch.elseBlock());
  for (auto [i, result] : llvm::enumerate(branch.getResults())) {
    infos[result] = AxisInfo(get(branch.thenYield().getOperand(i)));
    join(result, AxisInfo(get(branch.elseYield().getOperand(i))));
  }
}

void AxisInfoAnalysis::visitWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  for (auto [arg, init] : llvm::zip_equal(loop.getBeforeArguments(), loop.getInits()))
    infos[arg] = AxisInfo(get(init));
  bool changed = true;
  while (changed) {
    visitBlock(*loop.getBeforeBody());
    for (auto [arg, passed] :
         llvm::zip_equal(loop.getAfterArguments(), loop.getConditionOp().getArgs()))
      infos[arg] = AxisInfo(get(passed));
    visitBlock(*loop.getAfterBody());
    changed = false;
    for (auto [arg, yielded] :
         llvm::zip_equal(loop.getBeforeArguments(), loop.getYieldOp().getOperands()))
      changed |= join(arg, AxisInfo(get(yielded)));
  }
  for (auto [result, passed] : llvm::zip_equal(loop.getResults(), loop.getConditionOp().getArgs()))
    infos[result] = AxisInfo(get(passed));
}
