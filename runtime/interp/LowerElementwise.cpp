//===- LowerElementwise.cpp - arith, math and elementwise tile ops --------===//
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "runtime/interp/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::interp;

//===----------------------------------------------------------------------===//
// Operations that are one kernel
//===----------------------------------------------------------------------===//

/// The integer operation of that name, if any.
static std::optional<IntOp> intOp(StringRef name) {
  static const llvm::StringMap<IntOp> table = {{"arith.addi", IntOp::Add},
                                               {"arith.subi", IntOp::Sub},
                                               {"arith.muli", IntOp::Mul},
                                               {"arith.divsi", IntOp::DivS},
                                               {"arith.divui", IntOp::DivU},
                                               {"arith.ceildivsi", IntOp::CeilDivS},
                                               {"arith.ceildivui", IntOp::CeilDivU},
                                               {"arith.floordivsi", IntOp::FloorDivS},
                                               {"arith.remsi", IntOp::RemS},
                                               {"arith.remui", IntOp::RemU},
                                               {"arith.andi", IntOp::And},
                                               {"arith.ori", IntOp::Or},
                                               {"arith.xori", IntOp::Xor},
                                               {"arith.shli", IntOp::Shl},
                                               {"arith.shrsi", IntOp::ShrS},
                                               {"arith.shrui", IntOp::ShrU},
                                               {"arith.maxsi", IntOp::MaxS},
                                               {"arith.maxui", IntOp::MaxU},
                                               {"arith.minsi", IntOp::MinS},
                                               {"arith.minui", IntOp::MinU},
                                               {"tile.umulhi", IntOp::MulHiU},
                                               {"math.ipowi", IntOp::Pow},
                                               {"math.absi", IntOp::Abs},
                                               {"math.ctpop", IntOp::CountOnes},
                                               {"math.ctlz", IntOp::CountLeadingZeros},
                                               {"math.cttz", IntOp::CountTrailingZeros}};
  auto it = table.find(name);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

static std::optional<FloatOp> floatOp(StringRef name) {
  static const llvm::StringMap<FloatOp> table = {{"arith.addf", FloatOp::Add},
                                                 {"arith.subf", FloatOp::Sub},
                                                 {"arith.mulf", FloatOp::Mul},
                                                 {"arith.divf", FloatOp::Div},
                                                 {"tile.div_rn", FloatOp::Div},
                                                 {"arith.remf", FloatOp::Rem},
                                                 {"arith.maximumf", FloatOp::Maximum},
                                                 {"arith.minimumf", FloatOp::Minimum},
                                                 {"arith.maxnumf", FloatOp::MaxNum},
                                                 {"arith.minnumf", FloatOp::MinNum},
                                                 {"math.copysign", FloatOp::CopySign},
                                                 {"arith.negf", FloatOp::Neg},
                                                 {"math.absf", FloatOp::Abs},
                                                 {"math.ceil", FloatOp::Ceil},
                                                 {"math.floor", FloatOp::Floor},
                                                 {"math.round", FloatOp::Round},
                                                 {"math.roundeven", FloatOp::RoundEven},
                                                 {"math.trunc", FloatOp::Trunc},
                                                 {"math.sqrt", FloatOp::Sqrt},
                                                 {"tile.sqrt_rn", FloatOp::Sqrt},
                                                 {"math.fma", FloatOp::Fma},
                                                 {"math.clampf", FloatOp::ClampPropagateNan}};
  auto it = table.find(name);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

static std::optional<MathOp> mathOp(StringRef name) {
  static const llvm::StringMap<MathOp> table = {
      {"math.acos", MathOp::Acos},   {"math.acosh", MathOp::Acosh}, {"math.asin", MathOp::Asin},
      {"math.asinh", MathOp::Asinh}, {"math.atan", MathOp::Atan},   {"math.atanh", MathOp::Atanh},
      {"math.cbrt", MathOp::Cbrt},   {"math.cos", MathOp::Cos},     {"math.cosh", MathOp::Cosh},
      {"math.erf", MathOp::Erf},     {"math.erfc", MathOp::Erfc},   {"math.exp", MathOp::Exp},
      {"math.exp2", MathOp::Exp2},   {"math.expm1", MathOp::ExpM1}, {"math.log", MathOp::Log},
      {"math.log10", MathOp::Log10}, {"math.log1p", MathOp::Log1p}, {"math.log2", MathOp::Log2},
      {"math.rsqrt", MathOp::Rsqrt}, {"math.sin", MathOp::Sin},     {"math.sinh", MathOp::Sinh},
      {"math.tan", MathOp::Tan},     {"math.tanh", MathOp::Tanh},   {"math.atan2", MathOp::Atan2},
      {"math.powf", MathOp::Pow}};
  auto it = table.find(name);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

static std::optional<FloatClass> floatClass(StringRef name) {
  static const llvm::StringMap<FloatClass> table = {{"math.isfinite", FloatClass::Finite},
                                                    {"math.isinf", FloatClass::Infinite},
                                                    {"math.isnan", FloatClass::NaN},
                                                    {"math.isnormal", FloatClass::Normal}};
  auto it = table.find(name);
  return it == table.end() ? std::nullopt : std::optional(it->second);
}

static IntPredicate translate(arith::CmpIPredicate predicate) {
  switch (predicate) {
  case arith::CmpIPredicate::eq:
    return IntPredicate::Eq;
  case arith::CmpIPredicate::ne:
    return IntPredicate::Ne;
  case arith::CmpIPredicate::slt:
    return IntPredicate::Slt;
  case arith::CmpIPredicate::sle:
    return IntPredicate::Sle;
  case arith::CmpIPredicate::sgt:
    return IntPredicate::Sgt;
  case arith::CmpIPredicate::sge:
    return IntPredicate::Sge;
  case arith::CmpIPredicate::ult:
    return IntPredicate::Ult;
  case arith::CmpIPredicate::ule:
    return IntPredicate::Ule;
  case arith::CmpIPredicate::ugt:
    return IntPredicate::Ugt;
  case arith::CmpIPredicate::uge:
    return IntPredicate::Uge;
  }
  llvm_unreachable("all predicates are listed");
}

/// One instruction from the operands, in order, to the only result.
bool Lowering::emitElementwise(Operation *op, Kernel kernel, const void *aux, int64_t imm) {
  if (!kernel)
    return refuse(op, "not supported on this element type");
  RegId operands[3] = {kNone, kNone, kNone};
  for (auto [k, operand] : llvm::enumerate(op->getOperands()))
    operands[k] = use(operand);
  uint32_t count = describe(op->getResult(0).getType())->count;
  Instruction &i =
      emit(kernel, count, define(op->getResult(0)), operands[0], operands[1], operands[2]);
  i.aux = aux;
  i.imm = imm;
  return true;
}

/// Watches divisors that are one scalar, be it for all lanes. A lane of its own
/// may well be zero where the result is masked off.
void Lowering::checkDivisor(Operation *op) {
  if (!checked || combiner)
    return;
  Value divisor = op->getOperand(1);
  while (isa<RankedTensorType>(divisor.getType())) {
    Operation *source = divisor.getDefiningOp();
    if (!isa_and_present<SplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, HintOp>(source))
      return;
    divisor = source->getOperand(0);
  }
  emit(checkDivisorKernel(describe(divisor.getType())->bytes()), 1, kNone, use(divisor));
}

bool Lowering::lowerElementwise(Operation *op, bool &known) {
  StringRef name = op->getName().getStringRef();
  known = true;
  if (std::optional<bool> done = lowerAlgebraic(op))
    return *done;
  Type first = op->getNumOperands() ? op->getOperand(0).getType() : Type();
  DType type = first && describe(first) ? describe(first)->type : DType::I1;
  if (auto which = intOp(name)) {
    if (*which >= IntOp::DivS && *which <= IntOp::RemU)
      checkDivisor(op);
    return emitElementwise(op, isFloat(type) ? nullptr : intKernel(*which, type));
  }
  if (auto which = floatOp(name))
    return emitElementwise(op, floatKernel(*which, type));
  if (auto which = mathOp(name)) {
    const void *aux = nullptr;
    Kernel kernel = mathKernel(*which, type, aux);
    return emitElementwise(op, kernel, aux);
  }
  if (auto which = floatClass(name))
    return emitElementwise(op, floatClassKernel(*which, type));
  if (auto clamp = dyn_cast<ClampOp>(op))
    return emitElementwise(
        op,
        floatKernel(clamp.getPropagateNan() ? FloatOp::ClampPropagateNan : FloatOp::Clamp, type));
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return emitElementwise(op, intCompareKernel(translate(compare.getPredicate()), type));
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    auto predicate = FloatPredicate(unsigned(compare.getPredicate()));
    return emitElementwise(op, floatCompareKernel(predicate, type));
  }
  if (auto power = dyn_cast<math::FPowIOp>(op)) {
    const void *aux = nullptr;
    Kernel kernel = powIntKernel(type, describe(power.getRhs().getType())->type, aux);
    return emitElementwise(op, kernel, aux);
  }
  if (isa<arith::ConstantOp>(op))
    return lowerConstant(op);
  if (isa<ub::PoisonOp>(op))
    return lowerPoison(op);
  if (isa<arith::SelectOp>(op))
    return lowerSelect(op);
  if (isa<arith::MulSIExtendedOp, arith::MulUIExtendedOp, arith::AddUIExtendedOp>(op))
    return lowerExtended(op);
  if (isa<math::SincosOp>(op))
    return lowerSinCos(op);
  return lowerCast(op, known);
}

//===----------------------------------------------------------------------===//
// Operations with more to them
//===----------------------------------------------------------------------===//

static Round translate(std::optional<arith::RoundingMode> mode) {
  switch (mode.value_or(arith::RoundingMode::to_nearest_even)) {
  case arith::RoundingMode::to_nearest_even:
    return Round::NearestEven;
  case arith::RoundingMode::downward:
    return Round::Down;
  case arith::RoundingMode::upward:
    return Round::Up;
  case arith::RoundingMode::toward_zero:
    return Round::TowardZero;
  case arith::RoundingMode::to_nearest_away:
    return Round::NearestAway;
  }
  llvm_unreachable("all modes are listed");
}

bool Lowering::lowerCast(Operation *op, bool &known) {
  known = true;
  if (op->getNumOperands() != 1 || op->getNumResults() != 1) {
    known = false;
    return true;
  }
  auto source = describe(op->getOperand(0).getType());
  if (!source)
    return refuse(op, "the operand's type is not supported");
  DType from = source->type, to = describe(op->getResult(0).getType())->type;
  auto castFloat = [&](Round round, bool saturate) {
    return emitElementwise(op, floatCastKernel(from, to, round, saturate), nullptr,
                           encodeCast(round, saturate));
  };
  if (isa<arith::ExtFOp>(op))
    return castFloat(Round::NearestEven, false);
  if (auto cast = dyn_cast<arith::TruncFOp>(op))
    return castFloat(translate(cast.getRoundingmode()), false);
  if (auto cast = dyn_cast<FpCastOp>(op)) {
    // Bits are cut off towards zero: an infinity stays one.
    bool towardsZero = cast.getRounding() == Rounding::rtz;
    return castFloat(towardsZero ? Round::TowardZero : Round::NearestEven,
                     byteSize(to) == 1 && !towardsZero);
  }
  if (isa<arith::ExtSIOp, arith::IndexCastOp>(op))
    return emitElementwise(op, intResizeKernel(from, to, true));
  if (isa<arith::ExtUIOp, arith::TruncIOp, arith::IndexCastUIOp>(op))
    return emitElementwise(op, intResizeKernel(from, to, false));
  if (isa<arith::SIToFPOp>(op))
    return emitElementwise(op, intToFloatKernel(from, to, true));
  if (isa<arith::UIToFPOp>(op))
    return emitElementwise(op, intToFloatKernel(from, to, false));
  if (isa<arith::FPToSIOp>(op))
    return emitElementwise(op, floatToIntKernel(from, to, true));
  if (isa<arith::FPToUIOp>(op))
    return emitElementwise(op, floatToIntKernel(from, to, false));
  if (isa<arith::BitcastOp, PtrToIntOp, IntToPtrOp, PtrCastOp>(op)) {
    if (from != to && bitWidth(from) != bitWidth(to))
      return refuse(op, "the element sizes differ");
    alias(op->getResult(0), op->getOperand(0));
    return true;
  }
  known = false;
  return true;
}

/// The bits of one constant element, little end first.
static void appendElement(std::vector<uint8_t> &bytes, const APInt &value, unsigned size) {
  uint64_t bits = value.getZExtValue();
  for (unsigned k = 0; k < size; ++k)
    bytes.push_back(uint8_t(bits >> (8 * k)));
}

bool Lowering::lowerConstant(Operation *op) {
  auto constant = cast<arith::ConstantOp>(op);
  Attribute value = constant.getValue();
  Shape shape = *describe(constant.getType());
  std::vector<uint8_t> bytes;
  if (auto integer = dyn_cast<IntegerAttr>(value)) {
    appendElement(bytes, integer.getValue(), shape.bytes());
  } else if (auto real = dyn_cast<FloatAttr>(value)) {
    appendElement(bytes, real.getValue().bitcastToAPInt(), shape.bytes());
  } else if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    bytes.reserve(size_t(shape.count) * shape.bytes());
    if (isFloat(shape.type))
      for (const APFloat &element : dense.getValues<APFloat>())
        appendElement(bytes, element.bitcastToAPInt(), shape.bytes());
    else
      for (const APInt &element : dense.getValues<APInt>())
        appendElement(bytes, element, shape.bytes());
  } else {
    return refuse(op, "a constant of this kind is not supported");
  }
  values[constant.getResult()] = makeConstant(bytes);
  return true;
}

/// Poison is zero: as good a value as any, and always the same.
bool Lowering::lowerPoison(Operation *op) {
  Shape shape = *describe(op->getResult(0).getType());
  values[op->getResult(0)] =
      makeConstant(std::vector<uint8_t>(size_t(shape.count) * shape.bytes(), 0));
  return true;
}

bool Lowering::lowerSelect(Operation *op) {
  auto select = cast<arith::SelectOp>(op);
  unsigned bytes = describe(select.getType())->bytes();
  bool scalar = isa<RankedTensorType>(select.getType()) &&
                !isa<RankedTensorType>(select.getCondition().getType());
  if (!emitElementwise(op, scalar ? selectScalarKernel(bytes) : selectKernel(bytes)))
    return false;
  // Whichever pointer is chosen brings its wrapped lanes along.
  auto left = wrapped.find(select.getTrueValue()), right = wrapped.find(select.getFalseValue());
  if (left == wrapped.end() && right == wrapped.end())
    return true;
  uint32_t count = describe(select.getType())->count;
  RegId none = kNone, merged = makeRegister(count);
  if (left == wrapped.end() || right == wrapped.end())
    emit(zeroKernel(1), count, none = makeRegister(count));
  emit(scalar ? selectScalarKernel(1) : selectKernel(1), count, merged, use(select.getCondition()),
       left == wrapped.end() ? none : left->second, right == wrapped.end() ? none : right->second);
  wrapped[select.getResult()] = merged;
  return true;
}

bool Lowering::lowerExtended(Operation *op) {
  Shape shape = *describe(op->getOperand(0).getType());
  bool isAdd = isa<arith::AddUIExtendedOp>(op);
  IntOp high = isAdd                             ? IntOp::CarryOut
               : isa<arith::MulSIExtendedOp>(op) ? IntOp::MulHiS
                                                 : IntOp::MulHiU;
  RegId a = use(op->getOperand(0)), b = use(op->getOperand(1));
  emit(intKernel(isAdd ? IntOp::Add : IntOp::Mul, shape.type), shape.count,
       define(op->getResult(0)), a, b);
  emit(intKernel(high, shape.type), shape.count, define(op->getResult(1)), a, b);
  return true;
}

bool Lowering::lowerSinCos(Operation *op) {
  Shape shape = *describe(op->getOperand(0).getType());
  for (auto [result, function] :
       llvm::zip(op->getResults(), ArrayRef<MathOp>{MathOp::Sin, MathOp::Cos})) {
    const void *aux = nullptr;
    Kernel kernel = mathKernel(function, shape.type, aux);
    emit(kernel, shape.count, define(result), use(op->getOperand(0))).aux = aux;
  }
  return true;
}
