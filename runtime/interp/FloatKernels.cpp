//===- FloatKernels.cpp - loops over float registers ----------------------===//
//
// Narrow floats are decoded to float, computed on and rounded once. For +, -,
// *, / and sqrt that is the exactly rounded result: float has more than twice
// the significand bits of either 16-bit format, so the second rounding is
// innocuous.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Functors.h"

using namespace tile::interp;

namespace {

template <class Op, class T> void binaryLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const T *a = f.reg<T>(i.a), *b = f.reg<T>(i.b);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = fromCompute<T>(Op::template apply<Compute<T>>(toFloat(a[k]), toFloat(b[k])));
}
template <class Op> Kernel binary(DType type) {
  return forFloatType(type, []<class T>() -> Kernel { return binaryLoop<Op, T>; });
}

template <class Op, class T> void unaryLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const T *a = f.reg<T>(i.a);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = fromCompute<T>(Op::template apply<Compute<T>>(toFloat(a[k])));
}
template <class Op> Kernel unary(DType type) {
  return forFloatType(type, []<class T>() -> Kernel { return unaryLoop<Op, T>; });
}

struct Ceil {
  template <class C> static C apply(C a) { return std::ceil(a); }
};
struct Floor {
  template <class C> static C apply(C a) { return std::floor(a); }
};
struct RoundAway {
  template <class C> static C apply(C a) { return std::round(a); }
};
struct RoundEven {
  template <class C> static C apply(C a) { return std::nearbyint(a); }
};
struct Trunc {
  template <class C> static C apply(C a) { return std::trunc(a); }
};
struct Sqrt {
  template <class C> static C apply(C a) { return std::sqrt(a); }
};

/// Negation and absolute value touch the sign bit only, so that NaNs keep
/// their bits.
template <bool Clear, class T> void signLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const T *a = f.reg<T>(i.a);
  constexpr T sign = T(T(1) << (8 * sizeof(T) - 1));
  for (uint32_t k = 0; k < n; ++k)
    d[k] = Clear ? T(a[k] & T(~sign)) : T(a[k] ^ sign);
}
template <bool Clear> Kernel signOp(DType type) {
  if (!isFloat(type))
    return nullptr;
  return forSize(byteSize(type), []<class T>() -> Kernel { return signLoop<Clear, T>; });
}

/// a * b + c, rounded once.
template <class T> void fmaLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const T *a = f.reg<T>(i.a), *b = f.reg<T>(i.b), *c = f.reg<T>(i.c);
  for (uint32_t k = 0; k < n; ++k) {
    if constexpr (std::is_same_v<T, double>) {
      d[k] = std::fma(a[k], b[k], c[k]);
    } else {
      double r = fmaToOdd(toFloat(a[k]), toFloat(b[k]), toFloat(c[k]));
      if constexpr (std::is_same_v<T, float>)
        d[k] = float(r);
      else if constexpr (std::is_same_v<T, Half>)
        d[k] = T{uint16_t(encode<HalfFormat>(r, Round::NearestEven, false))};
      else if constexpr (std::is_same_v<T, BFloat>)
        d[k] = T{uint16_t(encode<BFloatFormat>(r, Round::NearestEven, false))};
      else if constexpr (std::is_same_v<T, E4M3>)
        d[k] = T{uint8_t(encode<E4M3Format>(r, Round::NearestEven, true))};
      else
        d[k] = T{uint8_t(encode<E5M2Format>(r, Round::NearestEven, true))};
    }
  }
}

/// min(max(x, low), high); a NaN x gives low, or NaN if it propagates.
template <bool Propagate, class T> void clampLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const T *a = f.reg<T>(i.a), *b = f.reg<T>(i.b), *c = f.reg<T>(i.c);
  for (uint32_t k = 0; k < n; ++k) {
    auto x = toFloat(a[k]);
    auto r = minNum<Compute<T>>(maxNum<Compute<T>>(x, toFloat(b[k])), toFloat(c[k]));
    d[k] = fromCompute<T>(Propagate && std::isnan(x) ? x : r);
  }
}
template <bool Propagate> Kernel clamp(DType type) {
  return forFloatType(type, []<class T>() -> Kernel { return clampLoop<Propagate, T>; });
}

template <FloatPredicate P, class T> void compareLoop(Frame &f, const Instruction &i, uint32_t n) {
  uint8_t *__restrict d = f.reg<uint8_t>(i.dst);
  const T *x = f.reg<T>(i.a), *y = f.reg<T>(i.b);
  constexpr bool unordered = P >= FloatPredicate::Ueq;
  for (uint32_t k = 0; k < n; ++k) {
    Compute<T> a = toFloat(x[k]), b = toFloat(y[k]);
    bool nan = std::isunordered(a, b);
    bool r = false;
    if constexpr (P == FloatPredicate::Oeq || P == FloatPredicate::Ueq)
      r = a == b;
    else if constexpr (P == FloatPredicate::Ogt || P == FloatPredicate::Ugt)
      r = a > b;
    else if constexpr (P == FloatPredicate::Oge || P == FloatPredicate::Uge)
      r = a >= b;
    else if constexpr (P == FloatPredicate::Olt || P == FloatPredicate::Ult)
      r = a < b;
    else if constexpr (P == FloatPredicate::Ole || P == FloatPredicate::Ule)
      r = a <= b;
    else if constexpr (P == FloatPredicate::One)
      r = (a != b) & !nan;
    else if constexpr (P == FloatPredicate::Une)
      r = a != b;
    else if constexpr (P == FloatPredicate::Ord)
      r = !nan;
    else if constexpr (P == FloatPredicate::True)
      r = true;
    d[k] = unordered ? r | nan : r;
  }
}
template <FloatPredicate P> Kernel compare(DType type) {
  return forFloatType(type, []<class T>() -> Kernel { return compareLoop<P, T>; });
}

/// Smallest normal value of each type.
template <class T> constexpr double smallestNormal() {
  if constexpr (std::is_same_v<T, double>)
    return std::numeric_limits<double>::min();
  else if constexpr (std::is_same_v<T, float> || std::is_same_v<T, BFloat>)
    return std::numeric_limits<float>::min();
  else if constexpr (std::is_same_v<T, E4M3>)
    return 0x1p-6;
  else
    return 0x1p-14;
}

template <FloatClass C, class T> void classLoop(Frame &f, const Instruction &i, uint32_t n) {
  uint8_t *__restrict d = f.reg<uint8_t>(i.dst);
  const T *a = f.reg<T>(i.a);
  for (uint32_t k = 0; k < n; ++k) {
    double x = std::fabs(double(toFloat(a[k])));
    constexpr double infinity = std::numeric_limits<double>::infinity();
    bool r;
    if constexpr (C == FloatClass::Finite)
      r = x < infinity;
    else if constexpr (C == FloatClass::Infinite)
      r = x == infinity;
    else if constexpr (C == FloatClass::NaN)
      r = std::isnan(x);
    else
      r = x < infinity && x >= smallestNormal<T>();
    d[k] = r;
  }
}
template <FloatClass C> Kernel classify(DType type) {
  return forFloatType(type, []<class T>() -> Kernel { return classLoop<C, T>; });
}

} // namespace

Kernel tile::interp::floatKernel(FloatOp op, DType type) {
  switch (op) {
  case FloatOp::Add:
    return binary<FloatAdd>(type);
  case FloatOp::Sub:
    return binary<FloatSub>(type);
  case FloatOp::Mul:
    return binary<FloatMul>(type);
  case FloatOp::Div:
    return binary<FloatDiv>(type);
  case FloatOp::Rem:
    return binary<FloatRem>(type);
  case FloatOp::Maximum:
    return binary<FloatMaximum>(type);
  case FloatOp::Minimum:
    return binary<FloatMinimum>(type);
  case FloatOp::MaxNum:
    return binary<FloatMaxNum>(type);
  case FloatOp::MinNum:
    return binary<FloatMinNum>(type);
  case FloatOp::CopySign:
    return binary<FloatCopySign>(type);
  case FloatOp::Neg:
    return signOp<false>(type);
  case FloatOp::Abs:
    return signOp<true>(type);
  case FloatOp::Ceil:
    return unary<Ceil>(type);
  case FloatOp::Floor:
    return unary<Floor>(type);
  case FloatOp::Round:
    return unary<RoundAway>(type);
  case FloatOp::RoundEven:
    return unary<RoundEven>(type);
  case FloatOp::Trunc:
    return unary<Trunc>(type);
  case FloatOp::Sqrt:
    return unary<Sqrt>(type);
  case FloatOp::Fma:
    return forFloatType(type, []<class T>() -> Kernel { return fmaLoop<T>; });
  case FloatOp::Clamp:
    return clamp<false>(type);
  case FloatOp::ClampPropagateNan:
    return clamp<true>(type);
  }
  return nullptr;
}

Kernel tile::interp::floatCompareKernel(FloatPredicate predicate, DType type) {
#define TILE_PREDICATE(NAME)                                                                       \
  case FloatPredicate::NAME:                                                                       \
    return compare<FloatPredicate::NAME>(type);
  switch (predicate) {
    TILE_PREDICATE(False)
    TILE_PREDICATE(Oeq)
    TILE_PREDICATE(Ogt)
    TILE_PREDICATE(Oge)
    TILE_PREDICATE(Olt)
    TILE_PREDICATE(Ole)
    TILE_PREDICATE(One)
    TILE_PREDICATE(Ord)
    TILE_PREDICATE(Ueq)
    TILE_PREDICATE(Ugt)
    TILE_PREDICATE(Uge)
    TILE_PREDICATE(Ult)
    TILE_PREDICATE(Ule)
    TILE_PREDICATE(Une)
    TILE_PREDICATE(Uno)
    TILE_PREDICATE(True)
  }
#undef TILE_PREDICATE
  return nullptr;
}

Kernel tile::interp::floatClassKernel(FloatClass which, DType type) {
  switch (which) {
  case FloatClass::Finite:
    return classify<FloatClass::Finite>(type);
  case FloatClass::Infinite:
    return classify<FloatClass::Infinite>(type);
  case FloatClass::NaN:
    return classify<FloatClass::NaN>(type);
  case FloatClass::Normal:
    return classify<FloatClass::Normal>(type);
  }
  return nullptr;
}
