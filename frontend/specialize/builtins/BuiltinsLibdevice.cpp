//===- BuiltinsLibdevice.cpp - tl.extra.libdevice -------------------------===//
//
// The functions of libdevice that have an operation of their own in the
// `math` or `arith` dialects, or are a line of them. As there, nothing is
// promoted: the argument types must be among those of the function.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Builtins.h"
#include "frontend/specialize/MathOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

/// Two fp32 or fp64 operands of one type.
static bool twoFloats(BuiltinCall &c, Tensor &x, Tensor &y) {
  x = fp32Or64(c, 0);
  y = fp32Or64(c, 1);
  if (!x || !y)
    return false;
  if (x.type == y.type)
    return c.s.broadcast({&x, &y});
  c.fail(
      formatted("the arguments must have one type, got {} and {}", describe(c[0]), describe(c[1])));
  return false;
}

template <typename Op> static PyValue floatBinary(BuiltinCall &c) {
  Tensor x, y;
  if (!twoFloats(c, x, y))
    return PoisonValue::get();
  return c.s.wrap({c.s.create<Op>(x.value, y.value), x.type});
}

static PyValue divideExactly(BuiltinCall &c) {
  Tensor x, y;
  return twoFloats(c, x, y) ? c.s.wrap(divideFloats(c.s, x, y, /*exact=*/true))
                            : PoisonValue::get();
}

static PyValue sqrtExactly(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  return x ? c.s.wrap({c.s.create<SqrtRnOp>(x.value), x.type}) : PoisonValue::get();
}

template <MinMax which> static PyValue floatMinMax(BuiltinCall &c) {
  return c.s.wrap(c.s.minMax(which, c.tensor(0), c.tensor(1), /*propagateNan=*/false));
}

static PyValue fusedMultiplyAdd(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0), y = fp32Or64(c, 1), z = fp32Or64(c, 2);
  if (!x || !y || !z || !c.s.unify(x, y) || !c.s.unify(z, x) || !c.s.unify(z, y))
    return PoisonValue::get();
  x = c.s.broadcastTo(x, z.shape());
  return c.s.wrap({c.s.create<math::FmaOp>(x.value, y.value, z.value), x.type});
}

/// Whether a function of the family `fast_` is called with what it is for.
static bool isFast(BuiltinCall &c, const Tensor &x) {
  return llvm::StringRef(c.builtin.name).contains(".fast_") && x.type.kind() == Kind::Float32;
}

/// The number behind an exponent that is known at compile time.
static std::optional<double> knownExponent(BuiltinCall &c) {
  PyValue exponent = c[1];
  if (const Tensor *t = tensorIn(exponent))
    exponent = c.s.constantValue(*t).value_or(exponent);
  return exponent.toDouble();
}

/// Exponents from 0 up to this one are three bits, and the power a product of at most three
/// squares.
static constexpr int64_t kFirstLongExponent = 8;

/// x^n for 0 <= n < kFirstLongExponent: half an ulp of error for each factor but one. The bits are
/// asked for by selections, which cost as much as products, whatever n is.
static Value shortPower(Specializer &s, const Tensor &x, const Tensor &n) {
  Value one = s.floatConstant(1, x.type, x.shape()).value, square = x.value, result;
  for (int64_t bit = 1; bit < kFirstLongExponent; bit *= 2) {
    if (bit > 1)
      square = s.create<arith::MulFOp>(square, square);
    Value masked = s.create<arith::AndIOp>(n.value, s.intConstant(bit, n.type).value);
    Value isSet =
        s.create<arith::CmpIOp>(arith::CmpIPredicate::ne, masked, s.intConstant(0, n.type).value);
    Value factor = s.create<arith::SelectOp>(isSet, square, one);
    result = result ? s.create<arith::MulFOp>(result, factor) : factor;
  }
  return result;
}

/// x^n for a block x and an integer n that all elements share: what is seldom more than a few
/// products is asked for once, outside of the elements. `any` makes the power for every other n,
/// negative ones among them, whose quotient could be denormal where the product overflows.
static Value powerOfInteger(Specializer &s, const Tensor &x, const Tensor &n,
                            llvm::function_ref<Value()> any) {
  Value isShort = s.create<arith::CmpIOp>(arith::CmpIPredicate::ult, n.value,
                                          s.intConstant(kFirstLongExponent, n.type).value);
  auto choice = scf::IfOp::create(s.builder, s.loc(), TypeRange(x.value.getType()), isShort,
                                  /*withElseRegion=*/true);
  auto fill = [&](Block *block, llvm::function_ref<Value()> value) {
    OpBuilder::InsertionGuard guard(s.builder);
    s.builder.setInsertionPointToEnd(block);
    Value yielded = value();
    scf::YieldOp::create(s.builder, s.loc(), yielded);
  };
  fill(choice.thenBlock(), [&] { return shortPower(s, x, n); });
  fill(choice.elseBlock(), any);
  return choice.getResult(0);
}

/// A power; an integer exponent counts as the float it is. The second, third and fourth are
/// products: no less exact, and two instructions instead of some thirty.
static PyValue power(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0), y = c.tensor(1);
  if (!x || !y)
    return PoisonValue::get();
  std::optional<double> exponent = knownExponent(c);
  if (!y.isBlock() && (exponent == 2.0 || exponent == 3.0 || exponent == 4.0)) {
    Value square = c.s.create<arith::MulFOp>(x.value, x.value);
    Value result = *exponent == 2.0
                       ? square
                       : c.s.create<arith::MulFOp>(square, *exponent == 3.0 ? x.value : square);
    return c.s.wrap({result, x.type});
  }
  Tensor integer = y.type.isInt() && !y.isBlock() ? y : Tensor();
  if (y.type.isInt())
    y = c.s.cast(y, x.type);
  if (x.type != y.type || !c.s.broadcast({&x, &y}))
    return c.fail(formatted("the arguments must have one type, got {} and {}", describe(c[0]),
                            describe(c[1])));
  if (isFast(c, x))
    return c.s.wrap(callLibrary(c.s, "fast_pow", {x, y}, x.type));
  auto any = [&]() -> Value { return c.s.create<math::PowFOp>(x.value, y.value); };
  bool isChoice = integer && x.isBlock() && integer.type.bitWidth() >= 8;
  return c.s.wrap({isChoice ? powerOfInteger(c.s, x, integer, any) : any(), x.type});
}

/// What the hardware gives in one or two instructions for fp32, and as exact as ever for fp64.
template <typename Op> static PyValue fastFunction(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  if (!x)
    return PoisonValue::get();
  llvm::StringRef name = llvm::StringRef(c.builtin.name).rsplit('.').second.drop_back(); // "f"
  return c.s.wrap(isFast(c, x) ? callLibrary(c.s, name, x, x.type)
                               : Tensor{c.s.create<Op>(x.value), x.type});
}

/// x limited to [0, 1]; NaN gives 0.
static PyValue saturate(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  if (!x)
    return PoisonValue::get();
  Tensor low = c.s.floatConstant(0, x.type, x.shape());
  Tensor high = c.s.floatConstant(1, x.type, x.shape());
  return c.s.wrap({c.s.create<ClampOp>(x.value, low.value, high.value, false), x.type});
}

template <typename Round, Kind to> static PyValue roundToInteger(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  return x ? c.s.wrap(c.s.cast({c.s.create<Round>(x.value), x.type}, to)) : PoisonValue::get();
}

//===----------------------------------------------------------------------===//
// Classes of floats
//===----------------------------------------------------------------------===//

static PyValue isNan(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  return x ? c.s.wrap(c.s.compareSame(CompareOp::Ne, x, x)) : PoisonValue::get();
}

/// |x| compared with infinity.
template <CompareOp op> static PyValue againstInfinity(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  if (!x)
    return PoisonValue::get();
  Tensor magnitude{c.s.create<math::AbsFOp>(x.value), x.type};
  Tensor infinity = c.s.floatConstant(HUGE_VAL, x.type, x.shape());
  return c.s.wrap(c.s.compareSame(op, magnitude, infinity));
}

static PyValue signBit(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  if (!x)
    return PoisonValue::get();
  Tensor bits = c.s.bitcast(x, x.type.bitWidth() == 64 ? Kind::Int64 : Kind::Int32);
  Tensor zero = c.s.intConstant(0, bits.type, bits.shape());
  return c.s.wrap(c.s.compareSame(CompareOp::Lt, bits, zero));
}

//===----------------------------------------------------------------------===//
// Integers and bits
//===----------------------------------------------------------------------===//

static Tensor int32Or64(BuiltinCall &c, unsigned i) {
  Tensor x = c.tensor(i);
  if (!x || (x.type.isInt() && x.type.bitWidth() >= 32))
    return x;
  return c.poison(formatted("{} is {}, but only 32- and 64-bit integers are possible",
                            c.parameter(i), describe(x.type, x.shape())));
}

/// Counts are int32 whatever is counted in.
template <typename Op> static PyValue countBits(BuiltinCall &c) {
  Tensor x = int32Or64(c, 0);
  if (!x)
    return PoisonValue::get();
  Tensor count{c.s.create<Op>(x.value), x.type};
  return c.s.wrap(
      c.s.cast({count.value, x.type.bitWidth() == 64 ? Kind::Int64 : Kind::Int32}, Kind::Int32));
}

/// The position of the lowest set bit, from 1; 0 if there is none.
static PyValue findFirstSet(BuiltinCall &c) {
  Tensor x = int32Or64(c, 0);
  if (!x)
    return PoisonValue::get();
  Specializer &s = c.s;
  unsigned width = x.type.bitWidth();
  Tensor zero = s.intConstant(0, x.type, x.shape());
  Tensor lowest = s.arithmetic(BinaryOp::And, x, s.arithmetic(BinaryOp::Sub, zero, x));
  Tensor leading{s.create<math::CountLeadingZerosOp>(lowest.value), x.type};
  // lowest == 0 has `width` leading zeros, which gives 0.
  Tensor position = s.arithmetic(BinaryOp::Sub, s.intConstant(width, x.type, x.shape()), leading);
  return s.wrap(s.cast({position.value, width == 64 ? Kind::Int64 : Kind::Int32}, Kind::Int32));
}

static PyValue highHalf(BuiltinCall &c) {
  Tensor x = int32Or64(c, 0), y = int32Or64(c, 1);
  if (!x || !y || !c.s.unify(x, y))
    return PoisonValue::get();
  if (x.type.isUnsigned())
    return c.s.wrap(highProduct(c.s, x, y));
  // Signed: correct the unsigned product by each negative operand's other.
  Specializer &s = c.s;
  Tensor zero = s.intConstant(0, x.type, x.shape());
  Tensor high{s.create<UMulHiOp>(x.value, y.value), x.type};
  for (const auto &[a, b] : {std::pair(x, y), std::pair(y, x)}) {
    Tensor negative = s.compareSame(CompareOp::Lt, a, zero);
    high = s.arithmetic(BinaryOp::Sub, high, s.select(negative, b, zero));
  }
  return s.wrap(high);
}

template <Kind from, Kind to> static PyValue reinterpret(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  if (!x)
    return PoisonValue::get();
  if (x.type.bitWidth() != DType(from).bitWidth() || x.type.isPointer() ||
      x.type.isFloating() != DType(from).isFloating())
    return c.fail(formatted("needs {}, got {}", DType(from).str(), describe(c[0])));
  return c.s.wrap(c.s.bitcast(x, to));
}

static void addFloatFunctions(BuiltinTable &t) {
  t.add("libdevice.acos", "x", floatFunction<math::AcosOp>);
  t.add("libdevice.acosh", "x", floatFunction<math::AcoshOp>);
  t.add("libdevice.asin", "x", floatFunction<math::AsinOp>);
  t.add("libdevice.asinh", "x", floatFunction<math::AsinhOp>);
  t.add("libdevice.atan", "x", floatFunction<math::AtanOp>);
  t.add("libdevice.atanh", "x", floatFunction<math::AtanhOp>);
  t.add("libdevice.cbrt", "x", floatFunction<math::CbrtOp>);
  t.add("libdevice.ceil", "x", floatFunction<math::CeilOp>);
  t.add("libdevice.cos", "x", floatFunction<math::CosOp>);
  t.add("libdevice.cosh", "x", floatFunction<math::CoshOp>);
  t.add("libdevice.erf", "x", floatFunction<math::ErfOp>);
  t.add("libdevice.erfc", "x", floatFunction<math::ErfcOp>);
  t.add("libdevice.exp", "x", floatFunction<math::ExpOp>);
  t.add("libdevice.exp2", "x", floatFunction<math::Exp2Op>);
  t.add("libdevice.expm1", "x", floatFunction<math::ExpM1Op>);
  t.add("libdevice.floor", "x", floatFunction<math::FloorOp>);
  t.add("libdevice.log", "x", floatFunction<math::LogOp>);
  t.add("libdevice.log10", "x", floatFunction<math::Log10Op>);
  t.add("libdevice.log1p", "x", floatFunction<math::Log1pOp>);
  t.add("libdevice.log2", "x", floatFunction<math::Log2Op>);
  t.add("libdevice.nearbyint", "x", floatFunction<math::RoundEvenOp>);
  t.add("libdevice.rint", "x", floatFunction<math::RoundEvenOp>);
  t.add("libdevice.round", "x", floatFunction<math::RoundOp>);
  t.add("libdevice.rsqrt", "x", floatFunction<math::RsqrtOp>);
  t.add("libdevice.sin", "x", floatFunction<math::SinOp>);
  t.add("libdevice.sinh", "x", floatFunction<math::SinhOp>);
  t.add("libdevice.sqrt", "x", floatFunction<math::SqrtOp>);
  t.add("libdevice.tan", "x", floatFunction<math::TanOp>);
  t.add("libdevice.tanh", "x", floatFunction<math::TanhOp>);
  t.add("tl.tanh", "x", floatFunction<math::TanhOp>);
  t.add("libdevice.trunc", "x", floatFunction<math::TruncOp>);
  t.add("libdevice.fast_expf", "x", floatFunction<math::ExpOp>);
  t.add("libdevice.fast_logf", "x", fastFunction<math::LogOp>);
  t.add("libdevice.fast_log2f", "x", fastFunction<math::Log2Op>);
  t.add("libdevice.fast_log10f", "x", fastFunction<math::Log10Op>);
  t.add("libdevice.fast_sinf", "x", fastFunction<math::SinOp>);
  t.add("libdevice.fast_cosf", "x", fastFunction<math::CosOp>);
  t.add("libdevice.fast_tanf", "x", fastFunction<math::TanOp>);
  t.add("libdevice.fast_tanhf", "x", floatFunction<math::TanhOp>);
  t.add("libdevice.fast_powf", "x, y", power);
  t.add("libdevice.fast_dividef", "x, y", floatBinary<arith::DivFOp>);
  t.add("libdevice.atan2", "x, y", floatBinary<math::Atan2Op>);
  t.add("libdevice.copysign", "x, y", floatBinary<math::CopySignOp>);
  t.add("libdevice.fmod", "x, y", floatBinary<arith::RemFOp>);
  t.add("libdevice.pow", "x, y", power);
  t.add("libdevice.div_rn", "x, y", divideExactly);
  t.add("libdevice.sqrt_rn", "x", sqrtExactly);
  t.add("libdevice.fma", "x, y, z", fusedMultiplyAdd);
  t.add("libdevice.fma_rn", "x, y, z", fusedMultiplyAdd);
  t.add("libdevice.saturatef", "x", saturate);
  t.add("libdevice.llrint", "x", roundToInteger<math::RoundEvenOp, Kind::Int64>);
  t.add("libdevice.llround", "x", roundToInteger<math::RoundOp, Kind::Int64>);
}

void addLibdeviceBuiltins(BuiltinTable &t) {
  addFloatFunctions(t);
  addConversionBuiltins(t);
  addDeviceBuiltins(t);
  t.add("libdevice.abs", "x", absolute);
  t.add("libdevice.min", "x, y", floatMinMax<MinMax::Min>);
  t.add("libdevice.max", "x, y", floatMinMax<MinMax::Max>);
  t.add("libdevice.isnan", "x", isNan);
  t.add("libdevice.isinf", "x", againstInfinity<CompareOp::Eq>);
  t.add("libdevice.finitef", "x", againstInfinity<CompareOp::Lt>);
  t.add("libdevice.isfinited", "x", againstInfinity<CompareOp::Lt>);
  t.add("libdevice.signbit", "x", signBit);
  t.add("libdevice.popc", "x", countBits<math::CtPopOp>);
  t.add("libdevice.clz", "x", countBits<math::CountLeadingZerosOp>);
  t.add("libdevice.ffs", "x", findFirstSet);
  t.add("libdevice.mulhi", "x, y", highHalf);
  t.add("libdevice.float_as_int", "x", reinterpret<Kind::Float32, Kind::Int32>);
  t.add("libdevice.float_as_uint", "x", reinterpret<Kind::Float32, Kind::UInt32>);
  t.add("libdevice.int_as_float", "x", reinterpret<Kind::Int32, Kind::Float32>);
  t.add("libdevice.uint_as_float", "x", reinterpret<Kind::UInt32, Kind::Float32>);
  t.add("libdevice.double_as_longlong", "x", reinterpret<Kind::Float64, Kind::Int64>);
  t.add("libdevice.longlong_as_double", "x", reinterpret<Kind::Int64, Kind::Float64>);
}

} // namespace tile::specialize
