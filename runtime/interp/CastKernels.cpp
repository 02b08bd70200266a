//===- CastKernels.cpp - conversions and math library functions -----------===//
//
// Both work on chunks: decode a chunk to double, work on doubles, encode. The
// pair of directions times types stays a sum instead of a product.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Functors.h"
#include <algorithm>

using namespace tile::interp;

namespace {

constexpr uint32_t kChunk = 256;

template <class T> void decodeLoop(const void *from, double *to, uint32_t n) {
  const T *a = static_cast<const T *>(from);
  for (uint32_t k = 0; k < n; ++k)
    to[k] = toFloat(a[k]);
}
using Decode = void (*)(const void *, double *, uint32_t);
Decode decoder(DType type) {
  constexpr Decode table[] = {decodeLoop<E4M3>,   decodeLoop<E5M2>,  decodeLoop<Half>,
                              decodeLoop<BFloat>, decodeLoop<float>, decodeLoop<double>};
  return table[unsigned(type) - unsigned(DType::F8E4M3)];
}

/// Rounds one double to the stored form of a float type.
template <class T> T encodeOne(double v, Round round, bool saturate) {
  if constexpr (std::is_same_v<T, double>)
    return v;
  else if constexpr (std::is_same_v<T, float>)
    return round == Round::NearestEven
               ? float(v)
               : std::bit_cast<float>(uint32_t(encode<SingleFormat>(v, round, saturate)));
  else if constexpr (std::is_same_v<T, Half>)
    return T{uint16_t(encode<HalfFormat>(v, round, saturate))};
  else if constexpr (std::is_same_v<T, BFloat>)
    return T{uint16_t(encode<BFloatFormat>(v, round, saturate))};
  else if constexpr (std::is_same_v<T, E4M3>)
    return T{uint8_t(encode<E4M3Format>(v, round, saturate))};
  else
    return T{uint8_t(encode<E5M2Format>(v, round, saturate))};
}
template <class T>
void encodeLoop(const double *from, void *to, uint32_t n, Round round, bool saturate) {
  T *d = static_cast<T *>(to);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = encodeOne<T>(from[k], round, saturate);
}
using Encode = void (*)(const double *, void *, uint32_t, Round, bool);
Encode encoder(DType type) {
  constexpr Encode table[] = {encodeLoop<E4M3>,   encodeLoop<E5M2>,  encodeLoop<Half>,
                              encodeLoop<BFloat>, encodeLoop<float>, encodeLoop<double>};
  return table[unsigned(type) - unsigned(DType::F8E4M3)];
}
/// Results of arithmetic in an 8-bit format saturate, as its casts do.
bool saturates(DType type) { return type == DType::F8E4M3 || type == DType::F8E5M2; }

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

template <class From, class To> void castLoop(Frame &f, const Instruction &i, uint32_t n) {
  To *__restrict d = f.reg<To>(i.dst);
  const From *a = f.reg<From>(i.a);
  auto round = Round(i.imm >> 1);
  bool saturate = i.imm & 1;
  for (uint32_t k = 0; k < n; ++k)
    d[k] = encodeOne<To>(toFloat(a[k]), round, saturate);
}
/// To nearest even without saturation, from at most float: vectorises.
template <class From, class To> void simpleCastLoop(Frame &f, const Instruction &i, uint32_t n) {
  To *__restrict d = f.reg<To>(i.dst);
  const From *a = f.reg<From>(i.a);
  for (uint32_t k = 0; k < n; ++k) {
    if constexpr (std::is_same_v<To, double>)
      d[k] = toFloat(a[k]);
    else
      d[k] = roundTo<To>(toFloat(a[k]));
  }
}

template <class From, class To, bool Signed>
void intToFloatLoop(Frame &f, const Instruction &i, uint32_t n) {
  To *__restrict d = f.reg<To>(i.dst);
  const From *a = f.reg<From>(i.a);
  for (uint32_t k = 0; k < n; ++k) {
    auto v = [&] {
      if constexpr (Signed)
        return IntTraits<From>::sext(a[k]);
      else
        return IntTraits<From>::zext(a[k]);
    }();
    if constexpr (std::is_same_v<To, float> || std::is_same_v<To, double>)
      d[k] = To(v);
    else if constexpr (sizeof(v) == 8)
      d[k] = encodeOne<To>(roundToOdd(v), Round::NearestEven, sizeof(To) == 1);
    else
      d[k] = encodeOne<To>(double(v), Round::NearestEven, sizeof(To) == 1);
  }
}

template <class From, class To, bool Signed>
void floatToIntLoop(Frame &f, const Instruction &i, uint32_t n) {
  To *__restrict d = f.reg<To>(i.dst);
  const From *a = f.reg<From>(i.a);
  using I = IntTraits<To>;
  // Of 8 bits the machine keeps what they are of 16.
  using Wide = std::conditional_t<sizeof(To) == 1, uint16_t, typename I::Unsigned>;
  using Converted = std::conditional_t<Signed, std::make_signed_t<Wide>, Wide>;
  constexpr bool kIsWide = sizeof(To) == 8 || std::is_same_v<From, double>;
  constexpr auto kNaN = Converted(kIsWide ? Wide(1) << (8 * sizeof(Wide) - 1) : 0);
  for (uint32_t k = 0; k < n; ++k) {
    double v = toFloat(a[k]);
    if constexpr (std::is_same_v<To, Bool>) // signed: -1 and 0, unsigned: 0 and 1
      d[k] = I::make(Signed ? v <= -1 : v >= 1);
    else
      d[k] = To(convertedToInt<Converted>(v, kNaN));
  }
}

//===----------------------------------------------------------------------===//
// Math library
//===----------------------------------------------------------------------===//

struct MathInfo {
  Decode decode;
  Encode encode;
  DType type;
};
const MathInfo *mathInfo(DType type) {
  static const MathInfo table[] = {{decoder(DType::F8E4M3), encoder(DType::F8E4M3), DType::F8E4M3},
                                   {decoder(DType::F8E5M2), encoder(DType::F8E5M2), DType::F8E5M2},
                                   {decoder(DType::F16), encoder(DType::F16), DType::F16},
                                   {decoder(DType::BF16), encoder(DType::BF16), DType::BF16},
                                   {decoder(DType::F32), encoder(DType::F32), DType::F32},
                                   {decoder(DType::F64), encoder(DType::F64), DType::F64}};
  return &table[unsigned(type) - unsigned(DType::F8E4M3)];
}

template <double (*Function)(double)> void mathLoop(Frame &f, const Instruction &i, uint32_t n) {
  const auto &info = *static_cast<const MathInfo *>(i.aux);
  unsigned size = byteSize(info.type);
  double chunk[kChunk];
  for (uint32_t k = 0; k < n; k += kChunk) {
    uint32_t m = std::min(kChunk, n - k);
    info.decode(f.base + i.a + k * size, chunk, m);
    for (uint32_t j = 0; j < m; ++j)
      chunk[j] = Function(chunk[j]);
    info.encode(chunk, f.base + i.dst + k * size, m, Round::NearestEven, saturates(info.type));
  }
}
template <double (*Function)(double, double)>
void mathLoop2(Frame &f, const Instruction &i, uint32_t n) {
  const auto &info = *static_cast<const MathInfo *>(i.aux);
  unsigned size = byteSize(info.type);
  double left[kChunk], right[kChunk];
  for (uint32_t k = 0; k < n; k += kChunk) {
    uint32_t m = std::min(kChunk, n - k);
    info.decode(f.base + i.a + k * size, left, m);
    info.decode(f.base + i.b + k * size, right, m);
    for (uint32_t j = 0; j < m; ++j)
      left[j] = Function(left[j], right[j]);
    info.encode(left, f.base + i.dst + k * size, m, Round::NearestEven, saturates(info.type));
  }
}

template <class E> void powIntLoop(Frame &f, const Instruction &i, uint32_t n) {
  const auto &info = *static_cast<const MathInfo *>(i.aux);
  unsigned size = byteSize(info.type);
  const E *exponent = f.reg<E>(i.b);
  for (uint32_t k = 0; k < n; ++k) {
    double x;
    info.decode(f.base + i.a + k * size, &x, 1);
    x = std::pow(x, double(IntTraits<E>::sext(exponent[k])));
    info.encode(&x, f.base + i.dst + k * size, 1, Round::NearestEven, saturates(info.type));
  }
}

double rsqrt(double x) { return 1.0 / std::sqrt(x); }

} // namespace

Kernel tile::interp::floatCastKernel(DType from, DType to, Round round, bool saturate) {
  bool simple = round == Round::NearestEven && from != DType::F64 &&
                (to == DType::F64 || to == DType::F32 ||
                 (!saturate && (to == DType::F16 || to == DType::BF16)));
  return forFloatType(from, [&]<class From>() -> Kernel {
    return forFloatType(to, [&]<class To>() -> Kernel {
      if constexpr (!std::is_same_v<From, double>)
        if (simple)
          return simpleCastLoop<From, To>;
      return castLoop<From, To>;
    });
  });
}

Kernel tile::interp::intToFloatKernel(DType from, DType to, bool isSigned) {
  return forIntType(from, [&]<class From>() -> Kernel {
    return forFloatType(to, [&]<class To>() -> Kernel {
      return isSigned ? Kernel(intToFloatLoop<From, To, true>)
                      : Kernel(intToFloatLoop<From, To, false>);
    });
  });
}

Kernel tile::interp::floatToIntKernel(DType from, DType to, bool isSigned) {
  return forFloatType(from, [&]<class From>() -> Kernel {
    return forIntType(to, [&]<class To>() -> Kernel {
      return isSigned ? Kernel(floatToIntLoop<From, To, true>)
                      : Kernel(floatToIntLoop<From, To, false>);
    });
  });
}

Kernel tile::interp::mathKernel(MathOp op, DType type, const void *&aux) {
  if (!isFloat(type))
    return nullptr;
  aux = mathInfo(type);
  switch (op) {
  case MathOp::Acos:
    return mathLoop<std::acos>;
  case MathOp::Acosh:
    return mathLoop<std::acosh>;
  case MathOp::Asin:
    return mathLoop<std::asin>;
  case MathOp::Asinh:
    return mathLoop<std::asinh>;
  case MathOp::Atan:
    return mathLoop<std::atan>;
  case MathOp::Atanh:
    return mathLoop<std::atanh>;
  case MathOp::Cbrt:
    return mathLoop<std::cbrt>;
  case MathOp::Cos:
    return mathLoop<std::cos>;
  case MathOp::Cosh:
    return mathLoop<std::cosh>;
  case MathOp::Erf:
    return mathLoop<std::erf>;
  case MathOp::Erfc:
    return mathLoop<std::erfc>;
  case MathOp::Exp:
    return mathLoop<std::exp>;
  case MathOp::Exp2:
    return mathLoop<std::exp2>;
  case MathOp::ExpM1:
    return mathLoop<std::expm1>;
  case MathOp::Log:
    return mathLoop<std::log>;
  case MathOp::Log10:
    return mathLoop<std::log10>;
  case MathOp::Log1p:
    return mathLoop<std::log1p>;
  case MathOp::Log2:
    return mathLoop<std::log2>;
  case MathOp::Rsqrt:
    return mathLoop<rsqrt>;
  case MathOp::Sin:
    return mathLoop<std::sin>;
  case MathOp::Sinh:
    return mathLoop<std::sinh>;
  case MathOp::Tan:
    return mathLoop<std::tan>;
  case MathOp::Tanh:
    return mathLoop<std::tanh>;
  case MathOp::Atan2:
    return mathLoop2<std::atan2>;
  case MathOp::Pow:
    return mathLoop2<std::pow>;
  }
  return nullptr;
}

Kernel tile::interp::powIntKernel(DType type, DType exponent, const void *&aux) {
  if (!isFloat(type))
    return nullptr;
  aux = mathInfo(type);
  return forIntType(exponent, []<class E>() -> Kernel { return powIntLoop<E>; });
}
