//===- LowerAlgebra.cpp - floats as numbers of a ring -----------------------===//
//
// In the algebraic mode `describe` gives a float the integers of its width, so that
// whatever moves elements stays as it is. What computes with floats comes here first
// and computes with those integers (docs/algebraic-mode.md).
//
//===----------------------------------------------------------------------===//
#include "devicelib/DeviceLibrary.h"
#include "ir/Algebra.h"
#include "runtime/interp/Lowering.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::interp;

/// What a float operation is in the ring, where integers have the same.
static std::optional<IntOp> ringOp(StringRef name) {
  return llvm::StringSwitch<std::optional<IntOp>>(name)
      .Case("arith.addf", IntOp::Add)
      .Case("arith.subf", IntOp::Sub)
      .Case("arith.mulf", IntOp::Mul)
      .Cases({"arith.maximumf", "arith.maxnumf"}, IntOp::MaxS)
      .Cases({"arith.minimumf", "arith.minnumf"}, IntOp::MinS)
      .Default(std::nullopt);
}

Kernel Lowering::ringCombine(StringRef name, bool isScan, DType type) {
  std::optional<IntOp> op = algebraic ? ringOp(name) : std::nullopt;
  if (!op)
    return nullptr;
  return isScan ? fastScanKernel(*op, type) : fastReduceKernel(*op, type);
}

static IntPredicate ordered(arith::CmpFPredicate predicate) {
  using F = arith::CmpFPredicate;
  switch (predicate) {
  case F::OEQ:
  case F::UEQ:
    return IntPredicate::Eq;
  case F::OGT:
  case F::UGT:
    return IntPredicate::Sgt;
  case F::OGE:
  case F::UGE:
    return IntPredicate::Sge;
  case F::OLT:
  case F::ULT:
    return IntPredicate::Slt;
  case F::OLE:
  case F::ULE:
    return IntPredicate::Sle;
  default:
    return IntPredicate::Ne;
  }
}

/// A hash of the operands.
bool Lowering::lowerFunction(Operation *op, StringRef name, ValueRange operands) {
  auto *info = makeAux<FunctionInfo>();
  RegId sources[3] = {kNone, kNone, kNone};
  if (operands.size() > 3)
    return refuse(op, "has too many operands in the algebraic mode");
  for (auto [k, operand] : llvm::enumerate(operands)) {
    sources[k] = use(operand);
    info->bytes.push_back(describe(operand.getType())->bytes());
  }
  Shape shape = *describe(op->getResult(0).getType());
  Instruction &i = emit(algebraKernel(AlgebraOp::Function, shape.bytes()), shape.count,
                        define(op->getResult(0)), sources[0], sources[1], sources[2]);
  i.imm = int64_t(algebra::seedOf(name));
  i.aux = info;
  return true;
}

/// exp(x) = 2^(x log2 e), as the lowering computes it.
bool Lowering::lowerExponential(Operation *op) {
  Shape shape = *describe(op->getOperand(0).getType());
  uint32_t lanes = combiner ? (combiner->info->wide ? combiner->lanes : 1) : shape.count;
  APInt factor = *algebra::image(APFloat(1.44269504088896340736f));
  RegId log2e = makeRegister(uint64_t(shape.bytes()) * lanes),
        product = makeRegister(uint64_t(shape.bytes()) * lanes);
  uint32_t bits = uint32_t(factor.getZExtValue());
  RegId scalar = makeConstant({reinterpret_cast<uint8_t *>(&bits), sizeof bits});
  emit(splatKernel(4), shape.count, log2e, scalar);
  emit(intKernel(IntOp::Mul, DType::I32), shape.count, product, use(op->getOperand(0)), log2e);
  auto *info = makeAux<FunctionInfo>();
  info->bytes = {4};
  Instruction &i =
      emit(algebraKernel(AlgebraOp::Function, 4), shape.count, define(op->getResult(0)), product);
  i.imm = int64_t(algebra::seedOf("exp2"));
  i.aux = info;
  return true;
}

bool Lowering::lowerRingConstant(arith::ConstantOp constant) {
  std::vector<uint8_t> bytes;
  unsigned size = describe(constant.getType())->bytes();
  auto add = [&](const APFloat &value) {
    std::optional<APInt> image = algebra::image(value);
    uint64_t bits = image ? image->getZExtValue() : 0;
    for (unsigned k = 0; k < size; ++k)
      bytes.push_back(uint8_t(bits >> (8 * k)));
    return image.has_value();
  };
  bool ok = true;
  if (auto real = dyn_cast<FloatAttr>(constant.getValue()))
    ok = add(real.getValue());
  else
    for (const APFloat &element : cast<DenseElementsAttr>(constant.getValue()).getValues<APFloat>())
      ok &= add(element);
  if (!ok)
    return refuse(constant, "a NaN has no place in the algebraic mode");
  values[constant.getResult()] = makeConstant(bytes);
  return true;
}

bool Lowering::lowerRingDot(DotOp dot, DotInfo *info) {
  unsigned a = describe(dot.getA().getType())->bytes(), acc = describe(dot.getType())->bytes();
  InputPrecision precision = dot.getInputPrecision();
  if (precision == InputPrecision::bf16x3 || precision == InputPrecision::bf16x6)
    return refuse(dot, "a sum of bf16 parts has no place in the algebraic mode");
  emit(algebraDotKernel(a, acc), uint32_t(dot.getType().getNumElements()), define(dot.getResult()),
       use(dot.getA()), use(dot.getB()), use(dot.getAcc()))
      .aux = info;
  return true;
}

static bool isReal(Value v) { return isa<FloatType>(getElementType(v.getType())); }

std::optional<bool> Lowering::lowerAlgebraic(Operation *op) {
  if (!algebraic || op->getNumResults() != 1)
    return std::nullopt;
  Value result = op->getResult(0);
  bool reads = llvm::any_of(op->getOperands(), isReal);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return isReal(result) ? std::optional(lowerRingConstant(constant)) : std::nullopt;
  if (!(reads || isReal(result)) || isa<arith::SelectOp, arith::BitcastOp>(op))
    return std::nullopt;
  StringRef name = op->getName().getStringRef();
  Shape to = *describe(result.getType()), from = *describe(op->getOperand(0).getType());
  auto ring = [&](AlgebraOp which) {
    return emitElementwise(op, algebraKernel(which, to.bytes()));
  };
  if (auto which = ringOp(name))
    return emitElementwise(op, intKernel(*which, to.type));
  if (isa<arith::NegFOp>(op))
    return ring(AlgebraOp::Negate);
  if (isa<math::FmaOp>(op))
    return ring(AlgebraOp::MultiplyAdd);
  if (isa<arith::DivFOp, DivRnOp>(op))
    return ring(AlgebraOp::Divide);
  if (isa<math::AbsFOp>(op))
    return emitElementwise(op, intKernel(IntOp::Abs, to.type));
  if (isa<arith::ExtFOp, arith::TruncFOp, FpCastOp, arith::SIToFPOp, arith::FPToSIOp,
          arith::FPToUIOp>(op))
    return emitElementwise(op, intResizeKernel(from.type, to.type, true));
  if (isa<arith::UIToFPOp>(op))
    return emitElementwise(op, intResizeKernel(from.type, to.type, false));
  if (auto compare = dyn_cast<arith::CmpFOp>(op)) {
    using F = arith::CmpFPredicate;
    F predicate = compare.getPredicate();
    if (predicate == F::ORD || predicate == F::UNO || predicate == F::AlwaysTrue ||
        predicate == F::AlwaysFalse)
      return refuse(op, "looks for NaN, which has no place in the algebraic mode");
    return emitElementwise(op, intCompareKernel(ordered(predicate), from.type));
  }
  bool isSingle = getElementType(op->getOperand(0).getType()).isF32();
  if (isa<math::ExpOp>(op) && isSingle)
    return lowerExponential(op);
  if (isa<math::SqrtOp, SqrtRnOp>(op))
    return lowerFunction(op, "sqrt", op->getOperands());
  if (auto call = dyn_cast<ExternElementwiseOp>(op)) {
    unsigned width = 8 * from.bytes();
    return lowerFunction(op, algebra::functionOf(call.getSymbol(), width), op->getOperands());
  }
  if (isa<arith::RemFOp>(op))
    return lowerFunction(op, "fmod", op->getOperands());
  if (isa<math::CopySignOp>(op))
    return lowerFunction(op, "copysign", op->getOperands());
  if (name.starts_with("math.") && isReal(result)) {
    StringRef symbol = deviceFunctionForMath(op->getName().stripDialect(), 8 * to.bytes());
    if (!symbol.empty())
      return lowerFunction(op, algebra::functionOf(symbol, 8 * to.bytes()), op->getOperands());
  }
  return std::nullopt;
}
