//===- LowerDoubt.cpp - numbers that nobody may use, and where they get to -===//
//
// A shift by the width of the number or more gives one thing on a GPU and another on a
// CPU, and a division by zero anything. They may be computed: `tl.where(s < 32, x << s, 0)`
// is how such lanes are dealt with. So each lane that such an operation has made is
// followed, beside its value, and reported where it gets into memory, an address, a mask or
// a condition.
//
// Lanes in doubt are a register of bytes for the register that holds the values. There
// are none, and nothing is emitted, unless a shift may go too far or a divisor be zero.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "runtime/interp/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::interp;

static bool isShift(Operation *op) {
  return isa<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(op);
}

/// Whether an amount is known to be below `width`: constants, what a mask or a
/// remainder leaves, and counted lanes.
static bool staysBelow(Value amount, unsigned width, unsigned depth = 0) {
  Operation *op = amount.getDefiningOp();
  if (!op || depth > 8)
    return false;
  auto below = [&](Value v) { return staysBelow(v, width, depth + 1); };
  APInt known;
  if (matchPattern(amount, m_ConstantInt(&known)))
    return known.ult(width);
  if (auto dense = dyn_cast<arith::ConstantOp>(op))
    if (auto elements = dyn_cast<DenseIntElementsAttr>(dense.getValue()))
      return llvm::all_of(elements.getValues<APInt>(),
                          [&](const APInt &v) { return v.ult(width); });
  if (auto range = dyn_cast<MakeRangeOp>(op))
    return int32_t(range.getStart()) >= 0 && int64_t(range.getEnd()) <= int64_t(width);
  if (isa<SplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp, HintOp, UnsplatOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp>(op))
    return below(op->getOperand(0));
  if (isa<arith::AndIOp, arith::MinUIOp>(op))
    return below(op->getOperand(0)) || below(op->getOperand(1));
  if (isa<arith::RemUIOp>(op)) {
    APInt divisor;
    Value v = op->getOperand(1);
    while (v.getDefiningOp<SplatOp>())
      v = v.getDefiningOp()->getOperand(0);
    return below(op->getOperand(0)) ||
           (matchPattern(v, m_ConstantInt(&divisor)) && divisor.ule(width));
  }
  return false;
}

static unsigned widthOf(Value value) {
  if (isa<IndexType>(getElementType(value.getType())))
    return 64;
  return getElementType(value.getType()).getIntOrFloatBitWidth();
}

static bool mayGoTooFar(Operation *op) {
  return isShift(op) && !staysBelow(op->getOperand(1), widthOf(op->getResult(0)));
}

/// Whether lanes have divisors of their own, which may be zero. (One that is a scalar is
/// looked at where it divides.)
static bool mayDivideByZero(Operation *op) {
  if (!isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return false;
  Value divisor = op->getOperand(1);
  while (Operation *source = divisor.getDefiningOp()) {
    if (auto dense = dyn_cast<arith::ConstantOp>(source)) {
      auto elements = dyn_cast<DenseIntElementsAttr>(dense.getValue());
      return elements &&
             llvm::any_of(elements.getValues<APInt>(), [](const APInt &v) { return v.isZero(); });
    }
    if (!isa<SplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, HintOp>(source))
      break;
    divisor = source->getOperand(0);
  }
  return isa<RankedTensorType>(divisor.getType());
}

void Lowering::lookForDoubt(func::FuncOp function) {
  auto module = function->getParentOfType<ModuleOp>();
  Operation *scope = module ? module.getOperation() : function.getOperation();
  if (checked)
    scope->walk([&](Operation *op) { watchesDoubt |= mayGoTooFar(op) || mayDivideByZero(op); });
}

RegId Lowering::makeDoubt(RegId of, uint32_t count, DoubtOrigin origin) {
  RegId lanes = makeRegister(count);
  registers[lanes].pinned = true; // it lives wherever its value does
  doubts[of] = {lanes, origin};
  return lanes;
}

/// Values that a loop or a branch gives have doubts of their own, which its ends fill in.
void Lowering::carryDoubt(Value value, RegId reg) {
  if (!watchesDoubt || combiner)
    return;
  uint32_t count = describe(value.getType())->count;
  emit(zeroKernel(1), count, makeDoubt(reg, count, {}));
}

/// Beside a copy of values, all at once.
void Lowering::copyDoubts(ValueRange from, ArrayRef<RegId> sources, ArrayRef<RegId> to) {
  if (!watchesDoubt || combiner)
    return;
  struct Copy {
    RegId lanes, saved;
    uint32_t count;
  };
  SmallVector<Copy> copies;
  for (unsigned k = 0; k < from.size(); ++k) {
    auto target = doubts.find(to[k]);
    if (target == doubts.end() || sources[k] == to[k])
      continue;
    uint32_t count = describe(from[k].getType())->count;
    RegId saved = makeRegister(count);
    auto source = doubts.find(sources[k]);
    if (source == doubts.end()) {
      emit(zeroKernel(1), count, saved);
    } else {
      if (source->second.origin.at)
        target->second.origin = source->second.origin;
      emit(copyKernel(1), count, saved, source->second.lanes);
    }
    copies.push_back({target->second.lanes, saved, count});
  }
  for (const Copy &copy : copies)
    emit(copyKernel(1), copy.count, copy.lanes, copy.saved);
}

//===----------------------------------------------------------------------===//
// Where doubts go
//===----------------------------------------------------------------------===//

const Lowering::Doubt *Lowering::doubtOf(Value value) const {
  auto reg = values.find(value);
  if (reg == values.end())
    return nullptr;
  auto it = doubts.find(reg->second);
  return it == doubts.end() ? nullptr : &it->second;
}

/// The doubts of a reduction's operands, along the same axis.
void Lowering::reduceDoubt(Operation *op) {
  for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults())) {
    const Doubt *known = doubtOf(operand);
    if (!known)
      continue;
    Doubt source = *known;
    auto *info = makeAux<StrideInfo>(); // outer, length, inner
    int64_t sizes[3] = {1, 1, 1};
    int64_t axis = op->getAttrOfType<IntegerAttr>("axis").getInt();
    for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(operand.getType()).getShape()))
      sizes[int64_t(dim) < axis ? 0 : int64_t(dim) == axis ? 1 : 2] *= size;
    info->shape.assign(std::begin(sizes), std::end(sizes));
    uint32_t count = describe(result.getType())->count;
    emit(anyDoubtKernel(), count, makeDoubt(values[result], count, source.origin), source.lanes)
        .aux = info;
  }
}

void Lowering::followDoubt(Operation *op) {
  if (!watchesDoubt || combiner || op->getNumResults() == 0)
    return;
  if (isa<ReduceOp>(op))
    return reduceDoubt(op);
  bool isElementwise =
      isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) || isa<AddPtrOp, FpCastOp>(op);
  if (!isElementwise && op->getNumOperands() != 1)
    return;
  const Doubt *from[3] = {};
  const Doubt *first = nullptr;
  for (auto [k, operand] : llvm::enumerate(op->getOperands())) {
    if (k >= 3)
      return;
    from[k] = doubtOf(operand);
    first = first ? first : from[k];
  }
  bool tooFar = mayGoTooFar(op), byZero = mayDivideByZero(op);
  if (!first && !tooFar && !byZero)
    return;
  Value result = op->getResult(0);
  uint32_t count = describe(result.getType())->count;
  RegId reg = values[result];
  if (!isElementwise) {
    if (doubts.contains(reg)) // another name of the same register
      return;
    Doubt source = *first;
    if (std::optional<RegId> moved = moveLike(op, source.lanes, 1))
      emit(copyKernel(1), count, makeDoubt(reg, count, source.origin), *moved);
    return;
  }
  if (doubts.contains(reg))
    return;
  SmallVector<RegId, 3> lanes(3, kNone);
  for (unsigned k = 0; k < 3; ++k)
    lanes[k] = from[k] ? from[k]->lanes : kNone;
  DoubtOrigin origin = first ? first->origin : DoubtOrigin();
  if (tooFar || byZero)
    origin = {op->getLoc(), tooFar ? FindingKind::ShiftTooFar : FindingKind::DivisionByZero};
  unsigned bytes = describe(op->getOperand(0).getType())->bytes();
  RegId mine = makeDoubt(reg, count, origin);
  if (tooFar) {
    emit(shiftDoubtKernel(bytes), count, mine, use(op->getOperand(1))).imm = widthOf(result);
  } else if (byZero) {
    emit(divisorDoubtKernel(bytes), count, mine, use(op->getOperand(1)));
  } else {
    emit(zeroKernel(1), count, mine);
  }
  mergeDoubts(op, mine, lanes, count);
}

/// A lane that an operation does not look at, or that nothing can come of, leaves no doubt.
void Lowering::mergeDoubts(Operation *op, RegId mine, ArrayRef<RegId> from, uint32_t count) {
  RegId none = kNone;
  auto orNone = [&](RegId lanes) {
    if (lanes != kNone)
      return lanes;
    if (none == kNone)
      emit(zeroKernel(1), count, none = makeRegister(count));
    return none;
  };
  Kernel either = intKernel(IntOp::Or, DType::I1);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    bool scalar = isa<RankedTensorType>(select.getType()) &&
                  !isa<RankedTensorType>(select.getCondition().getType());
    RegId a = orNone(from[1]), b = orNone(from[2]);
    emit(scalar ? selectScalarKernel(1) : selectKernel(1), count, mine, use(select.getCondition()),
         a, b);
    if (from[0] != kNone && !scalar)
      emit(either, count, mine, mine, from[0]);
    return;
  }
  if (isa<arith::AndIOp, arith::MulIOp, arith::OrIOp>(op)) {
    // Zero times or and anything is zero; true or anything is true.
    auto kind = isa<arith::OrIOp>(op) && widthOf(op->getResult(0)) == 1 ? DoubtRule::Or
                : isa<arith::OrIOp>(op)                                 ? DoubtRule::Any
                                                                        : DoubtRule::And;
    unsigned bytes = describe(op->getResult(0).getType())->bytes();
    for (unsigned k = 0; k < 2; ++k)
      if (from[k] != kNone)
        emit(absorbDoubtKernel(bytes), count, mine, from[k], use(op->getOperand(1 - k)),
             orNone(from[1 - k]))
            .imm = int64_t(kind);
    return;
  }
  for (RegId lanes : from)
    if (lanes != kNone)
      emit(either, count, mine, mine, lanes);
}

//===----------------------------------------------------------------------===//
// Where they matter
//===----------------------------------------------------------------------===//

/// The value is used for good: lanes in doubt are reported, at the operation that made them.
void Lowering::reportDoubt(Value value, Value mask) {
  if (!watchesDoubt || combiner || !value)
    return;
  const Doubt *doubt = doubtOf(value);
  if (!doubt)
    return;
  auto *info = makeAux<MessageInfo>();
  if (auto block = dyn_cast<RankedTensorType>(value.getType()))
    info->shape.assign(block.getShape().begin(), block.getShape().end());
  Instruction &i = emit(reportDoubtKernel(), describe(value.getType())->count, kNone, doubt->lanes,
                        mask ? use(mask) : kNone);
  i.aux = info;
  i.imm = int64_t(doubt->origin.kind);
  if (doubt->origin.at)
    i.place = placeOf(doubt->origin.at);
}

void Lowering::reportDoubts(Operation *op) {
  if (!watchesDoubt || combiner)
    return;
  if (auto load = dyn_cast<LoadOp>(op)) {
    reportDoubt(load.getPtr(), load.getMask());
    reportDoubt(load.getMask());
  } else if (auto store = dyn_cast<StoreOp>(op)) {
    for (Value value : {store.getPtr(), store.getValue()})
      reportDoubt(value, store.getMask());
    reportDoubt(store.getMask());
  } else if (auto rmw = dyn_cast<AtomicRmwOp>(op)) {
    for (Value value : {rmw.getPtr(), rmw.getValue()})
      reportDoubt(value, rmw.getMask());
    reportDoubt(rmw.getMask());
  } else if (isa<AtomicCasOp, DescriptorLoadOp, DescriptorStoreOp, DescriptorReduceOp,
                 DescriptorGatherOp, DescriptorScatterOp>(op)) {
    for (Value value : op->getOperands())
      reportDoubt(value);
  } else if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    reportDoubt(op->getOperand(0));
  } else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    for (Value value : {loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
      reportDoubt(value);
  }
}
