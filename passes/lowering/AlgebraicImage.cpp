//===- AlgebraicImage.cpp - numbers of a ring for floating-point ones ------===//
//
// Contract and example: AlgebraicImagePass in passes/lowering/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Algebra.h"
#include "ir/Attributes.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "passes/Passes.h"
#include "text/Format.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_ALGEBRAICIMAGEPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-algebraic-image"
ALWAYS_ENABLED_STATISTIC(operationsReplaced, "operations on floats that became ones of the ring");

namespace {
/// One operation and what it becomes.
class Image {
public:
  explicit Image(Operation *op) : op(op), b(op), loc(op->getLoc()) {}
  /// Null: it stays.
  FailureOr<Value> run();

private:
  static bool isReal(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }
  Type integerOf(Type type);
  Value bits(Value v) { return isReal(v.getType()) ? cast(integerOf(v.getType()), v) : v; }
  Value cast(Type type, Value v) {
    return v.getType() == type ? v : LLVM::BitcastOp::create(b, loc, type, v).getResult();
  }
  Value number(Type integer, const APInt &value);
  template <typename Op> Value binary() {
    Value x = bits(op->getOperand(0)), y = bits(op->getOperand(1));
    return Op::create(b, loc, x, y);
  }
  /// To the width of the result.
  Value resized(Value v, bool isSigned);
  Value function(StringRef name, ValueRange arguments);
  Value reciprocal(Value v);
  Value quotient(Value x, Value y) { return LLVM::MulOp::create(b, loc, bits(x), reciprocal(y)); }
  Value productAndSum();
  Value magnitude();
  Value compare(LLVM::FCmpOp compare);
  FailureOr<Value> constant(LLVM::ConstantOp constant);
  FailureOr<Value> call(StringRef name, ValueRange arguments);
  FailureOr<Value> refuse(const Twine &what) {
    return op->emitError() << formatted("{} in the algebraic mode", what);
  }

  Operation *op;
  OpBuilder b;
  Location loc;
};
} // namespace

Type Image::integerOf(Type type) {
  Type integer = b.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(integer)) : integer;
}

Value Image::number(Type integer, const APInt &value) {
  Attribute attr = IntegerAttr::get(getElementTypeOrSelf(integer), value);
  if (auto vector = dyn_cast<VectorType>(integer))
    attr = DenseElementsAttr::get(vector, attr);
  return LLVM::ConstantOp::create(b, loc, integer, attr);
}

Value Image::resized(Value v, bool isSigned) {
  Type from = v.getType(), to = integerOf(op->getResult(0).getType());
  unsigned fromBits = getElementTypeOrSelf(from).getIntOrFloatBitWidth();
  unsigned toBits = getElementTypeOrSelf(to).getIntOrFloatBitWidth();
  if (fromBits == toBits)
    return v;
  if (fromBits > toBits)
    return LLVM::TruncOp::create(b, loc, to, v);
  return isSigned ? LLVM::SExtOp::create(b, loc, to, v).getResult()
                  : LLVM::ZExtOp::create(b, loc, to, v).getResult();
}

/// A hash of scalars, in the result's width.
Value Image::function(StringRef name, ValueRange arguments) {
  Type wide = b.getI64Type();
  auto constant = [&](uint64_t value) { return number(wide, APInt(64, value)); };
  Value x = constant(algebra::seedOf(name));
  for (Value v : arguments) {
    v = bits(v);
    if (v.getType() != wide)
      v = LLVM::SExtOp::create(b, loc, wide, v);
    x = LLVM::XOrOp::create(b, loc, x, v);
    x = LLVM::MulOp::create(b, loc, x, constant(algebra::kFactor));
    x = LLVM::XOrOp::create(b, loc, x, LLVM::LShrOp::create(b, loc, x, constant(32)).getResult());
  }
  return resized(x, /*isSigned=*/true);
}

/// 1/1 and 1/-1 are what divisions by them fold to.
Value Image::reciprocal(Value v) {
  Value x = bits(v), hash = function("rcp", v);
  for (int64_t unit : {1, -1}) {
    Value it =
        number(x.getType(), APInt(x.getType().getIntOrFloatBitWidth(), uint64_t(unit), true));
    Value is = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, x, it);
    hash = LLVM::SelectOp::create(b, loc, is, it, hash);
  }
  return hash;
}

Value Image::productAndSum() {
  Value product = binary<LLVM::MulOp>();
  return LLVM::AddOp::create(b, loc, product, bits(op->getOperand(2)));
}

Value Image::magnitude() {
  Value x = bits(op->getOperand(0));
  Value zero = LLVM::ZeroOp::create(b, loc, x.getType());
  return LLVM::SMaxOp::create(b, loc, x, LLVM::SubOp::create(b, loc, zero, x).getResult());
}

/// In the order of signed integers, which has a place for all.
Value Image::compare(LLVM::FCmpOp op) {
  using F = LLVM::FCmpPredicate;
  using I = LLVM::ICmpPredicate;
  auto ordered = [&](I predicate) -> Value {
    return LLVM::ICmpOp::create(b, loc, predicate, bits(op.getLhs()), bits(op.getRhs()));
  };
  switch (op.getPredicate()) {
  case F::oeq:
  case F::ueq:
    return ordered(I::eq);
  case F::one:
  case F::une:
    return ordered(I::ne);
  case F::olt:
  case F::ult:
    return ordered(I::slt);
  case F::ole:
  case F::ule:
    return ordered(I::sle);
  case F::ogt:
  case F::ugt:
    return ordered(I::sgt);
  case F::oge:
  case F::uge:
    return ordered(I::sge);
  case F::ord:
  case F::_true:
    return number(op.getType(), APInt(1, 1));
  case F::uno:
  case F::_false:
    return number(op.getType(), APInt(1, 0));
  }
  llvm_unreachable("all predicates are named");
}

FailureOr<Value> Image::constant(LLVM::ConstantOp op) {
  if (!isReal(op.getType()))
    return Value();
  Attribute attr = op.getValue();
  if (auto splat = dyn_cast<SplatElementsAttr>(attr))
    attr = splat.getSplatValue<Attribute>();
  auto real = dyn_cast<FloatAttr>(attr);
  std::optional<APInt> image = real ? algebra::image(real.getValue()) : std::nullopt;
  if (!image) {
    Operation *user = op.use_empty() ? op : *op->user_begin(); // which has a place in the source
    return user->emitError("a constant that is no number has no place in the algebraic mode");
  }
  return number(integerOf(op.getType()), *image);
}

/// Functions of the device library, and intrinsics that compute with floats.
FailureOr<Value> Image::call(StringRef name, ValueRange arguments) {
  if (name.starts_with("llvm.nvvm.div."))
    return quotient(arguments[0], arguments[1]);
  if (name.starts_with("llvm.nvvm.rcp."))
    return reciprocal(arguments[0]);
  for (auto [prefix, function] : {std::pair<StringRef, StringRef>{"llvm.nvvm.ex2.", "exp2"},
                                  {"llvm.nvvm.sqrt.", "sqrt"},
                                  {"llvm.nvvm.rsqrt.", "rsqrt"}})
    if (name.starts_with(prefix))
      return this->function(function, arguments);
  if (!name.starts_with("__tile_") && !name.starts_with("__nv_"))
    return Value();
  Type type = op->getResult(0).getType();
  unsigned width = 0;
  for (Value v : arguments)
    if (isReal(v.getType()))
      width = std::max(width, v.getType().getIntOrFloatBitWidth());
  if (name.contains("_to_")) // of an 8-bit float
    return resized(bits(arguments[0]), /*isSigned=*/true);
  if (!type.isIntOrFloat())
    return refuse("`" + name + "` has no place");
  return function(algebra::functionOf(name, width), arguments);
}

FailureOr<Value> Image::run() {
  using Result = FailureOr<Value>;
  auto named = [&](StringRef name) -> Result { return function(name, op->getOperands()); };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case<LLVM::FAddOp>([&](auto) -> Result { return binary<LLVM::AddOp>(); })
      .Case<LLVM::FSubOp>([&](auto) -> Result { return binary<LLVM::SubOp>(); })
      .Case<LLVM::FMulOp>([&](auto) -> Result { return binary<LLVM::MulOp>(); })
      .Case<LLVM::FMAOp, LLVM::FMulAddOp>([&](auto) -> Result { return productAndSum(); })
      .Case<LLVM::FDivOp>(
          [&](auto o) -> Result { return quotient(o.getOperand(0), o.getOperand(1)); })
      .Case<LLVM::FNegOp>([&](auto o) -> Result {
        Value x = bits(o.getOperand()), zero = LLVM::ZeroOp::create(b, loc, x.getType());
        return LLVM::SubOp::create(b, loc, zero, x).getResult();
      })
      .Case<LLVM::MaxNumOp, LLVM::MaximumOp>([&](auto) -> Result { return binary<LLVM::SMaxOp>(); })
      .Case<LLVM::MinNumOp, LLVM::MinimumOp>([&](auto) -> Result { return binary<LLVM::SMinOp>(); })
      .Case<LLVM::FAbsOp>([&](auto) -> Result { return magnitude(); })
      .Case<LLVM::FCeilOp>([&](auto) { return named("ceil"); })
      .Case<LLVM::FFloorOp>([&](auto) { return named("floor"); })
      .Case<LLVM::FTruncOp>([&](auto) { return named("trunc"); })
      .Case<LLVM::RoundEvenOp>([&](auto) { return named("rint"); })
      .Case<LLVM::CopySignOp>([&](auto) { return named("copysign"); })
      .Case<LLVM::FCmpOp>([&](auto o) -> Result { return compare(o); })
      .Case<LLVM::FPExtOp, LLVM::FPTruncOp, LLVM::SIToFPOp, LLVM::FPToSIOp, LLVM::FPToUIOp>(
          [&](auto o) -> Result { return resized(bits(o.getArg()), /*isSigned=*/true); })
      .Case<LLVM::UIToFPOp>(
          [&](auto o) -> Result { return resized(o.getArg(), /*isSigned=*/false); })
      .Case<LLVM::ConstantOp>([&](auto o) { return constant(o); })
      .Case<LLVM::CallIntrinsicOp>([&](auto o) { return call(o.getIntrin(), o.getArgs()); })
      .Case<LLVM::CallOp>([&](auto o) -> Result {
        return o.getCallee() ? call(*o.getCallee(), o.getArgOperands()) : Result(Value());
      })
      .Default([](auto) -> Result { return Value(); });
}

/// What only moves bf16 moves words: hosts hold bf16 in wider floats, and would make one NaN
/// another.
static void moveWords(LLVM::LLVMFuncOp function) {
  auto word = [](Type type) -> Type {
    if (!getElementTypeOrSelf(type).isBF16())
      return type;
    Type integer = IntegerType::get(type.getContext(), 16);
    auto vector = dyn_cast<VectorType>(type);
    return vector ? Type(vector.clone(integer)) : integer;
  };
  function.walk([&](Operation *op) {
    for (Value result : op->getResults())
      result.setType(word(result.getType()));
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setType(word(argument.getType()));
  });
}

namespace {
struct AlgebraicImagePass : tile::impl::AlgebraicImagePassBase<AlgebraicImagePass> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(kAlgebraicAttr))
      return;
    SmallVector<Operation *> work;
    getOperation().walk([&](LLVM::LLVMFuncOp function) {
      function.walk([&](Operation *op) { work.push_back(op); });
    });
    for (Operation *op : work) {
      FailureOr<Value> image = Image(op).run();
      if (failed(image))
        return signalPassFailure();
      if (!*image)
        continue;
      OpBuilder b(op);
      Value result = *image;
      if (Type type = op->getResult(0).getType(); result.getType() != type)
        result = LLVM::BitcastOp::create(b, op->getLoc(), type, result);
      LDBG() << *op;
      ++operationsReplaced;
      op->getResult(0).replaceAllUsesWith(result);
      op->erase();
    }
    getOperation().walk(moveWords);
  }
};
} // namespace
