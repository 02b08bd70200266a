//===- IntKernels.cpp - loops over integer registers ----------------------===//
#include "runtime/interp/Functors.h"

using namespace tile::interp;

namespace {

template <class Op, class T> void binaryLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const T *a = f.reg<T>(i.a), *b = f.reg<T>(i.b);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = Op::template apply<T>(a[k], b[k]);
}

template <class Op> Kernel binary(DType type) {
  return forIntType(type, []<class T>() -> Kernel { return binaryLoop<Op, T>; });
}

struct MulHiS {
  template <class T> static T apply(T a, T b) { return multiplyHigh(a, b, true); }
};
struct MulHiU {
  template <class T> static T apply(T a, T b) { return multiplyHigh(a, b, false); }
};
/// Exponentiation that wraps. A negative exponent truncates the exact value:
/// 0 unless the base is 1 or -1; and 0 to a negative power gives 0.
struct Pow {
  template <class T> static T apply(T x, T y) {
    using I = IntTraits<T>;
    using U = typename I::Unsigned;
    auto base = I::sext(x), exponent = I::sext(y);
    if (exponent < 0) {
      if (base == 1)
        return I::make(1);
      return I::make(base == -1 ? (exponent & 1 ? U(~U(0)) : U(1)) : U(0));
    }
    uint64_t result = 1, power = I::zext(x);
    for (auto e = U(exponent); e; e = U(e >> 1), power *= power)
      if (e & 1)
        result *= power;
    return I::make(U(result));
  }
};

template <class Op, class T> void unaryLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const T *a = f.reg<T>(i.a);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = Op::template apply<T>(a[k]);
}
template <class Op> Kernel unary(DType type) {
  return forIntType(type, []<class T>() -> Kernel { return unaryLoop<Op, T>; });
}

struct Abs {
  template <class T> static T apply(T x) {
    using I = IntTraits<T>;
    using U = typename I::Unsigned;
    return I::make(I::sext(x) < 0 ? U(U(0) - I::zext(x)) : I::zext(x));
  }
};
struct CountOnes {
  template <class T> static T apply(T x) {
    using I = IntTraits<T>;
    return I::make(typename I::Unsigned(std::popcount(I::zext(x))));
  }
};
struct CountLeadingZeros {
  template <class T> static T apply(T x) {
    using I = IntTraits<T>;
    using U = typename I::Unsigned;
    return I::make(U(std::countl_zero(I::zext(x)) - (int(8 * sizeof(U)) - int(I::width))));
  }
};
struct CountTrailingZeros {
  template <class T> static T apply(T x) {
    using I = IntTraits<T>;
    using U = typename I::Unsigned;
    int count = std::countr_zero(I::zext(x));
    return I::make(U(count > int(I::width) ? int(I::width) : count));
  }
};

template <class T> void carryLoop(Frame &f, const Instruction &i, uint32_t n) {
  uint8_t *__restrict d = f.reg<uint8_t>(i.dst);
  const T *a = f.reg<T>(i.a), *b = f.reg<T>(i.b);
  using I = IntTraits<T>;
  for (uint32_t k = 0; k < n; ++k)
    d[k] = I::zext(IntAdd::apply<T>(a[k], b[k])) < I::zext(a[k]);
}

template <IntPredicate P, class T> void compareLoop(Frame &f, const Instruction &i, uint32_t n) {
  using I = IntTraits<T>;
  uint8_t *__restrict d = f.reg<uint8_t>(i.dst);
  const T *x = f.reg<T>(i.a), *y = f.reg<T>(i.b);
  for (uint32_t k = 0; k < n; ++k) {
    auto a = I::zext(x[k]), b = I::zext(y[k]);
    auto sa = I::sext(x[k]), sb = I::sext(y[k]);
    bool r = false;
    if constexpr (P == IntPredicate::Eq)
      r = a == b;
    else if constexpr (P == IntPredicate::Ne)
      r = a != b;
    else if constexpr (P == IntPredicate::Slt)
      r = sa < sb;
    else if constexpr (P == IntPredicate::Sle)
      r = sa <= sb;
    else if constexpr (P == IntPredicate::Sgt)
      r = sa > sb;
    else if constexpr (P == IntPredicate::Sge)
      r = sa >= sb;
    else if constexpr (P == IntPredicate::Ult)
      r = a < b;
    else if constexpr (P == IntPredicate::Ule)
      r = a <= b;
    else if constexpr (P == IntPredicate::Ugt)
      r = a > b;
    else
      r = a >= b;
    d[k] = r;
  }
}
template <IntPredicate P> Kernel compare(DType type) {
  return forIntType(type, []<class T>() -> Kernel { return compareLoop<P, T>; });
}

template <class From, class To, bool Signed>
void resizeLoop(Frame &f, const Instruction &i, uint32_t n) {
  To *__restrict d = f.reg<To>(i.dst);
  const From *a = f.reg<From>(i.a);
  using D = typename IntTraits<To>::Unsigned;
  for (uint32_t k = 0; k < n; ++k) {
    if constexpr (Signed)
      d[k] = IntTraits<To>::make(D(IntTraits<From>::sext(a[k])));
    else
      d[k] = IntTraits<To>::make(D(IntTraits<From>::zext(a[k])));
  }
}

} // namespace

Kernel tile::interp::intKernel(IntOp op, DType type) {
  switch (op) {
  case IntOp::Add:
    return binary<IntAdd>(type);
  case IntOp::Sub:
    return binary<IntSub>(type);
  case IntOp::Mul:
    return binary<IntMul>(type);
  case IntOp::DivS:
    return binary<IntDivS>(type);
  case IntOp::DivU:
    return binary<IntDivU>(type);
  case IntOp::CeilDivS:
    return binary<IntCeilDivS>(type);
  case IntOp::CeilDivU:
    return binary<IntCeilDivU>(type);
  case IntOp::FloorDivS:
    return binary<IntFloorDivS>(type);
  case IntOp::RemS:
    return binary<IntRemS>(type);
  case IntOp::RemU:
    return binary<IntRemU>(type);
  case IntOp::And:
    return binary<IntAnd>(type);
  case IntOp::Or:
    return binary<IntOr>(type);
  case IntOp::Xor:
    return binary<IntXor>(type);
  case IntOp::Shl:
    return binary<IntShl>(type);
  case IntOp::ShrS:
    return binary<IntShrS>(type);
  case IntOp::ShrU:
    return binary<IntShrU>(type);
  case IntOp::MaxS:
    return binary<IntMaxS>(type);
  case IntOp::MaxU:
    return binary<IntMaxU>(type);
  case IntOp::MinS:
    return binary<IntMinS>(type);
  case IntOp::MinU:
    return binary<IntMinU>(type);
  case IntOp::MulHiS:
    return binary<MulHiS>(type);
  case IntOp::MulHiU:
    return binary<MulHiU>(type);
  case IntOp::Pow:
    return binary<Pow>(type);
  case IntOp::Abs:
    return unary<Abs>(type);
  case IntOp::CountOnes:
    return unary<CountOnes>(type);
  case IntOp::CountLeadingZeros:
    return unary<CountLeadingZeros>(type);
  case IntOp::CountTrailingZeros:
    return unary<CountTrailingZeros>(type);
  case IntOp::CarryOut:
    return forIntType(type, []<class T>() -> Kernel { return carryLoop<T>; });
  }
  return nullptr;
}

Kernel tile::interp::intCompareKernel(IntPredicate predicate, DType type) {
  switch (predicate) {
  case IntPredicate::Eq:
    return compare<IntPredicate::Eq>(type);
  case IntPredicate::Ne:
    return compare<IntPredicate::Ne>(type);
  case IntPredicate::Slt:
    return compare<IntPredicate::Slt>(type);
  case IntPredicate::Sle:
    return compare<IntPredicate::Sle>(type);
  case IntPredicate::Sgt:
    return compare<IntPredicate::Sgt>(type);
  case IntPredicate::Sge:
    return compare<IntPredicate::Sge>(type);
  case IntPredicate::Ult:
    return compare<IntPredicate::Ult>(type);
  case IntPredicate::Ule:
    return compare<IntPredicate::Ule>(type);
  case IntPredicate::Ugt:
    return compare<IntPredicate::Ugt>(type);
  case IntPredicate::Uge:
    return compare<IntPredicate::Uge>(type);
  }
  return nullptr;
}

Kernel tile::interp::intResizeKernel(DType from, DType to, bool isSigned) {
  return forIntType(from, [&]<class From>() -> Kernel {
    return forIntType(to, [&]<class To>() -> Kernel {
      return isSigned ? Kernel(resizeLoop<From, To, true>) : Kernel(resizeLoop<From, To, false>);
    });
  });
}
