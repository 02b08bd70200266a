//===- Functors.h - one element of each operation -------------------------===//
//
// Binary and unary operations as types with a static `apply`, so that the
// elementwise loops and the reduction loops are instantiated from the same
// definition. Integer operands and results are stored types (Bool for i1);
// float ones are what the type computes in.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_INTERP_FUNCTORS_H
#define TILE_RUNTIME_INTERP_FUNCTORS_H

#include "runtime/interp/Kernels.h"

namespace tile::interp {

/// Calls f.operator()<T>() with the storage type of an integer type.
template <class F> Kernel forIntType(DType type, F f) {
  switch (type) {
  case DType::I1:
    return f.template operator()<Bool>();
  case DType::I8:
    return f.template operator()<uint8_t>();
  case DType::I16:
    return f.template operator()<uint16_t>();
  case DType::I32:
    return f.template operator()<uint32_t>();
  case DType::I64:
    return f.template operator()<uint64_t>();
  default:
    return nullptr;
  }
}
template <class F> Kernel forFloatType(DType type, F f) {
  switch (type) {
  case DType::F8E4M3:
    return f.template operator()<E4M3>();
  case DType::F8E5M2:
    return f.template operator()<E5M2>();
  case DType::F16:
    return f.template operator()<Half>();
  case DType::BF16:
    return f.template operator()<BFloat>();
  case DType::F32:
    return f.template operator()<float>();
  case DType::F64:
    return f.template operator()<double>();
  default:
    return nullptr;
  }
}
/// By element size, for operations that only move data.
template <class F> Kernel forSize(unsigned bytes, F f) {
  switch (bytes) {
  case 1:
    return f.template operator()<uint8_t>();
  case 2:
    return f.template operator()<uint16_t>();
  case 4:
    return f.template operator()<uint32_t>();
  case 8:
    return f.template operator()<uint64_t>();
  default:
    return nullptr;
  }
}

/// The high half of a product of W-bit integers.
template <class T> T multiplyHigh(T a, T b, bool isSigned) {
  using I = IntTraits<T>;
  if constexpr (I::width == 64) {
    if (isSigned)
      return T(uint64_t((__int128(int64_t(a)) * int64_t(b)) >> 64));
    return T(uint64_t(((unsigned __int128)(a)*b) >> 64));
  } else {
    int64_t product =
        isSigned ? int64_t(I::sext(a)) * I::sext(b) : int64_t(uint64_t(I::zext(a)) * I::zext(b));
    return I::make(typename I::Unsigned(uint64_t(product) >> I::width));
  }
}

// clang-format off
#define TILE_INT_BINARY(NAME, EXPRESSION)                                                          \
  struct Int##NAME {                                                                               \
    template <class T> static T apply(T x, T y) {                                                  \
      using I = IntTraits<T>;                                                                      \
      using U [[maybe_unused]] = typename I::Unsigned;                                             \
      [[maybe_unused]] auto a = I::zext(x);                                                        \
      [[maybe_unused]] auto b = I::zext(y);                                                        \
      [[maybe_unused]] auto sa = I::sext(x);                                                       \
      [[maybe_unused]] auto sb = I::sext(y);                                                       \
      return I::make(U(EXPRESSION));                                                               \
    }                                                                                              \
  };
TILE_INT_BINARY(Add, a + b)
TILE_INT_BINARY(Sub, a - b)
TILE_INT_BINARY(Mul, uint64_t(a) * uint64_t(b))
TILE_INT_BINARY(DivS, divideSigned(sa, sb))
TILE_INT_BINARY(DivU, divideUnsigned(a, b))
TILE_INT_BINARY(CeilDivS, ceilDivideSigned(sa, sb))
TILE_INT_BINARY(CeilDivU, ceilDivideUnsigned(a, b))
TILE_INT_BINARY(FloorDivS, floorDivideSigned(sa, sb))
TILE_INT_BINARY(RemS, remainderSigned(sa, sb))
TILE_INT_BINARY(RemU, remainderUnsigned(a, b))
TILE_INT_BINARY(And, a & b)
TILE_INT_BINARY(Or, a | b)
TILE_INT_BINARY(Xor, a ^ b)
TILE_INT_BINARY(Shl, shiftLeft(a, b, I::width))
TILE_INT_BINARY(ShrS, shiftRightArithmetic(sa, b, I::width))
TILE_INT_BINARY(ShrU, shiftRightLogical(a, b, I::width))
TILE_INT_BINARY(MaxS, sa > sb ? sa : sb)
TILE_INT_BINARY(MaxU, a > b ? a : b)
TILE_INT_BINARY(MinS, sa < sb ? sa : sb)
TILE_INT_BINARY(MinU, a < b ? a : b)
#undef TILE_INT_BINARY

#define TILE_FLOAT_BINARY(NAME, EXPRESSION)                                                        \
  struct Float##NAME {                                                                             \
    template <class C> static C apply(C a, C b) { return EXPRESSION; }                             \
  };
TILE_FLOAT_BINARY(Add, a + b)
TILE_FLOAT_BINARY(Sub, a - b)
TILE_FLOAT_BINARY(Mul, a * b)
TILE_FLOAT_BINARY(Div, a / b)
TILE_FLOAT_BINARY(Rem, std::fmod(a, b))
TILE_FLOAT_BINARY(Maximum, maximum(a, b))
TILE_FLOAT_BINARY(Minimum, minimum(a, b))
TILE_FLOAT_BINARY(MaxNum, maxNum(a, b))
TILE_FLOAT_BINARY(MinNum, minNum(a, b))
TILE_FLOAT_BINARY(CopySign, std::copysign(a, b))
#undef TILE_FLOAT_BINARY
// clang-format on

} // namespace tile::interp

#endif // TILE_RUNTIME_INTERP_FUNCTORS_H
