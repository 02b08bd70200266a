//===- DotKernels.cpp - matrix products -----------------------------------===//
//
// Operands are widened once, then summed row by row: in double for floats, so
// that the result is rounded once and stands for every order of summation; in
// wrapping 32-bit arithmetic for integers.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Functors.h"
#include <vector>

using namespace tile::interp;

namespace {

/// d[m, n] += sum over k of a[m, k] * b[k, n].
template <class T> void accumulate(T *__restrict d, const T *a, const T *b, const DotInfo &info) {
  for (uint32_t m = 0; m < info.m; ++m)
    for (uint32_t k = 0; k < info.k; ++k) {
      T x = a[size_t(m) * info.k + k];
      T *row = d + size_t(m) * info.n;
      const T *other = b + size_t(k) * info.n;
      for (uint32_t n = 0; n < info.n; ++n)
        row[n] += x * other[n];
    }
}

float cutToTf32(float v) {
  return std::isnan(v) ? v : std::bit_cast<float>(std::bit_cast<uint32_t>(v) & ~0x1fffu);
}

/// One operand as a sum of parts that the matrix unit can read.
std::vector<std::vector<double>> split(const float *v, size_t count, DotPrecision precision) {
  unsigned parts = precision == DotPrecision::Bf16x6                                        ? 3
                   : precision == DotPrecision::Tf32x3 || precision == DotPrecision::Bf16x3 ? 2
                                                                                            : 1;
  std::vector<std::vector<double>> result(parts, std::vector<double>(count));
  for (size_t i = 0; i < count; ++i) {
    float rest = v[i];
    for (auto &part : result) {
      float taken = precision == DotPrecision::Ieee ? rest
                    : precision == DotPrecision::Bf16x3 || precision == DotPrecision::Bf16x6
                        ? toFloat(roundToBFloat(rest))
                        : cutToTf32(rest);
      part[i] = taken;
      rest -= taken;
    }
  }
  return result;
}

/// acc + a * b for one batch. Products of smaller parts are summed first; where
/// that gives NaN (an infinity minus itself), only the largest counts.
void multiplySingle(double *d, const float *a, const float *b, const DotInfo &info) {
  auto x = split(a, size_t(info.m) * info.k, info.precision);
  auto y = split(b, size_t(info.k) * info.n, info.precision);
  size_t count = size_t(info.m) * info.n, parts = x.size();
  std::vector<double> small(count, 0.0);
  for (size_t order = parts - 1; order > 0; --order)
    for (size_t i = 0; i <= order; ++i)
      accumulate(small.data(), x[i].data(), y[order - i].data(), info);
  for (size_t i = 0; i < count; ++i)
    d[i] += std::isnan(small[i]) ? 0.0 : small[i];
  accumulate(d, x[0].data(), y[0].data(), info);
}

template <class T> std::vector<double> widen(const T *v, size_t count) {
  std::vector<double> result(count);
  for (size_t i = 0; i < count; ++i)
    result[i] = toFloat(v[i]);
  return result;
}

template <class A, class B, class C> void dotLoop(Frame &f, const Instruction &i, uint32_t) {
  const auto &info = *static_cast<const DotInfo *>(i.aux);
  size_t sizeA = size_t(info.m) * info.k, sizeB = size_t(info.k) * info.n;
  size_t sizeC = size_t(info.m) * info.n;
  for (uint32_t batch = 0; batch < info.batch; ++batch) {
    const A *a = f.reg<A>(i.a) + batch * sizeA;
    const B *b = f.reg<B>(i.b) + batch * sizeB;
    const C *acc = f.reg<C>(i.c) + batch * sizeC;
    C *d = f.reg<C>(i.dst) + batch * sizeC;
    std::vector<double> sum = widen(acc, sizeC);
    if constexpr (std::is_same_v<A, float>)
      multiplySingle(sum.data(), a, b, info);
    else
      accumulate(sum.data(), widen(a, sizeA).data(), widen(b, sizeB).data(), info);
    for (size_t e = 0; e < sizeC; ++e)
      d[e] = fromCompute<C>(Compute<C>(sum[e]));
  }
}

void dotInt8(Frame &f, const Instruction &i, uint32_t) {
  const auto &info = *static_cast<const DotInfo *>(i.aux);
  size_t sizeA = size_t(info.m) * info.k, sizeB = size_t(info.k) * info.n;
  size_t sizeC = size_t(info.m) * info.n;
  const int8_t *a = f.reg<int8_t>(i.a), *b = f.reg<int8_t>(i.b);
  const uint32_t *acc = f.reg<uint32_t>(i.c);
  uint32_t *d = f.reg<uint32_t>(i.dst);
  std::vector<uint32_t> sum(acc, acc + sizeC * info.batch);
  for (uint32_t batch = 0; batch < info.batch; ++batch) {
    std::vector<uint32_t> x(a + batch * sizeA, a + (batch + 1) * sizeA);
    std::vector<uint32_t> y(b + batch * sizeB, b + (batch + 1) * sizeB);
    accumulate(sum.data() + batch * sizeC, x.data(), y.data(), info);
  }
  std::copy(sum.begin(), sum.end(), d);
}

template <class A, class B> Kernel byAccumulator(DType acc) {
  return acc == DType::F16 ? Kernel(dotLoop<A, B, Half>) : Kernel(dotLoop<A, B, float>);
}

} // namespace

Kernel tile::interp::dotKernel(DType a, DType b, DType acc) {
  switch (a) {
  case DType::I8:
    return dotInt8;
  case DType::F64:
    return dotLoop<double, double, double>;
  case DType::F32:
    return dotLoop<float, float, float>;
  case DType::BF16:
    return dotLoop<BFloat, BFloat, float>;
  case DType::F16:
    return byAccumulator<Half, Half>(acc);
  case DType::F8E4M3:
    return b == DType::F8E4M3 ? byAccumulator<E4M3, E4M3>(acc) : byAccumulator<E4M3, E5M2>(acc);
  case DType::F8E5M2:
    return b == DType::F8E4M3 ? byAccumulator<E5M2, E4M3>(acc) : byAccumulator<E5M2, E5M2>(acc);
  default:
    return nullptr;
  }
}
