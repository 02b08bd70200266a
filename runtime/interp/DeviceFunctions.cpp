//===- DeviceFunctions.cpp - what the device library computes -------------===//
//
// Functions that kernels call by name, computed by the host's mathematics and,
// where it has none, in long double from the definition: the device library is
// compared with something that it does not share.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Functors.h"
#include "text/Format.h"
#include "llvm/ADT/StringMap.h"
#include <cfenv>
#include <cmath>

#pragma STDC FENV_ACCESS ON

using namespace tile::interp;
using tile::formatted;

namespace {

using Long = long double;

constexpr Long kPi = 3.14159265358979323846264338327950288L;
constexpr Long kInverseSqrt2 = 0.70710678118654752440084436210484904L;

//===----------------------------------------------------------------------===//
// Functions the host has not
//===----------------------------------------------------------------------===//

/// The x with erfc(x) = y for 0 < y < 1, by halving an interval.
Long inverseErfc(Long y) {
  Long low = 0, high = 120;
  for (int i = 0; i < 90; ++i) {
    Long middle = (low + high) / 2;
    (std::erfc(middle) > y ? low : high) = middle;
  }
  return low;
}
Long erfcinvLong(Long y) {
  if (!(y > 0 && y < 2))
    return y == 0 ? HUGE_VALL : y == 2 ? -HUGE_VALL : std::nan("");
  return y <= 1 ? inverseErfc(y) : -inverseErfc(2 - y);
}
double erfcinv(double y) { return double(erfcinvLong(y)); }
double normcdfinv(double p) { return double(-erfcinvLong(2 * Long(p)) / kInverseSqrt2); }
double normcdf(double x) { return double(std::erfc(-Long(x) * kInverseSqrt2) / 2); }

double erfinv(double x) {
  Long a = std::fabs(x), y = a * std::sqrt(kPi) / 2;
  if (!(a < 1))
    return a == 1 ? std::copysign(HUGE_VAL, x) : std::nan("");
  if (a < 0.5L)
    for (int i = 0; i < 8; ++i) // Newton's method
      y -= (std::erf(y) - a) * std::sqrt(kPi) / 2 * std::exp(y * y);
  else
    y = inverseErfc(1 - a);
  return std::copysign(double(y), x);
}

double erfcx(double x) {
  if (x < 50)
    return double(std::exp(Long(x) * x) * std::erfc(Long(x)));
  Long s = 1 / (2 * Long(x) * x);
  return double((1 - s + 3 * s * s - 15 * s * s * s) / (x * std::sqrt(kPi)));
}

/// The series of the modified Bessel function.
template <int Order> double besselI(double x) {
  if (!std::isfinite(x))
    return std::isnan(x) || Order ? x : std::fabs(x);
  Long half = Long(x) / 2, term = Order ? half : 1, sum = term;
  for (int k = 1; std::fabs(term) > std::fabs(sum) * 1e-22L; ++k) {
    term *= half * half / (Long(k) * (k + Order));
    sum += term;
  }
  return double(sum);
}

double besselJ0(double x) { return ::j0(x); }
double besselJ1(double x) { return ::j1(x); }
double besselY0(double x) { return x < 0 ? std::nan("") : ::y0(x); }
double besselY1(double x) { return x < 0 ? std::nan("") : ::y1(x); }
double besselJ(int n, double x) { return ::jn(n, x); }
double besselY(int n, double x) { return x < 0 ? std::nan("") : ::yn(n, x); }
double logGamma(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}
double power10(double x) { return double(std::pow(Long(10), Long(x))); }
double scale(double x, int n) { return std::ldexp(x, n); }
/// As the hardware's quick instructions take and give numbers: denormals count as zero.
double flushed(double x) { return std::fabs(x) < 0x1p-126 ? std::copysign(0.0, x) : x; }
template <double (*F)(double)> double flushing(double x) { return flushed(F(flushed(x))); }
double fastPow(double x, double y) {
  return flushed(std::exp2(flushed(y) * std::log2(flushed(x))));
}

double reciprocalHigh(double x) {
  uint64_t bits;
  double y = 1 / x;
  std::memcpy(&bits, &y, 8);
  bits &= 0xffffffff00000000;
  std::memcpy(&y, &bits, 8);
  return y;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

template <class T, double (*F)(double)> void unary(Frame &f, const Instruction &i, uint32_t n) {
  for (uint32_t k = 0; k < n; ++k)
    f.reg<T>(i.dst)[k] = T(F(f.reg<T>(i.a)[k]));
}
template <class T, double (*F)(double, double)>
void binary(Frame &f, const Instruction &i, uint32_t n) {
  for (uint32_t k = 0; k < n; ++k)
    f.reg<T>(i.dst)[k] = T(F(f.reg<T>(i.a)[k], f.reg<T>(i.b)[k]));
}
template <class T, double (*F)(int, double)>
void ordered(Frame &f, const Instruction &i, uint32_t n) {
  for (uint32_t k = 0; k < n; ++k)
    f.reg<T>(i.dst)[k] = T(F(f.reg<int32_t>(i.a)[k], f.reg<T>(i.b)[k]));
}
template <class T> void scaled(Frame &f, const Instruction &i, uint32_t n) {
  for (uint32_t k = 0; k < n; ++k)
    f.reg<T>(i.dst)[k] = T(scale(f.reg<T>(i.a)[k], f.reg<int32_t>(i.b)[k]));
}
template <class T> void exponent(Frame &f, const Instruction &i, uint32_t n) {
  for (uint32_t k = 0; k < n; ++k)
    f.reg<int32_t>(i.dst)[k] = std::ilogb(f.reg<T>(i.a)[k]);
}

enum class Rounded { Add, Sub, Mul, Div, Fma, Rcp, Sqrt };

/// The host's own arithmetic in another mode. The operands are volatile so that
/// nothing is computed before the mode is set.
template <class T, Rounded Op, int Mode> void rounded(Frame &f, const Instruction &i, uint32_t n) {
  T *d = f.reg<T>(i.dst);
  const volatile T *a = f.reg<T>(i.a);
  const volatile T *b = Op == Rounded::Rcp || Op == Rounded::Sqrt ? a : f.reg<T>(i.b);
  const volatile T *c = Op == Rounded::Fma ? f.reg<T>(i.c) : a;
  std::fesetround(Mode);
  for (uint32_t k = 0; k < n; ++k) {
    volatile T r;
    if constexpr (Op == Rounded::Add)
      r = a[k] + b[k];
    else if constexpr (Op == Rounded::Sub)
      r = a[k] - b[k];
    else if constexpr (Op == Rounded::Mul)
      r = a[k] * b[k];
    else if constexpr (Op == Rounded::Div)
      r = a[k] / b[k];
    else if constexpr (Op == Rounded::Fma)
      r = std::fma(T(a[k]), T(b[k]), T(c[k]));
    else if constexpr (Op == Rounded::Rcp)
      r = T(1) / a[k];
    else
      r = std::sqrt(T(a[k]));
    d[k] = r;
  }
  std::fesetround(FE_TONEAREST);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

using Table = llvm::StringMap<Kernel>;

void add(Table &table, const std::string &name, Kernel single, Kernel wide) {
  table[formatted("__tile_{}f", name)] = single;
  table["__tile_" + name] = wide;
}
template <double (*F)(double)> void addUnary(Table &table, const char *name) {
  add(table, name, unary<float, F>, unary<double, F>);
}
template <double (*F)(double, double)> void addBinary(Table &table, const char *name) {
  add(table, name, binary<float, F>, binary<double, F>);
}
template <double (*F)(int, double)> void addOrdered(Table &table, const char *name) {
  add(table, name, ordered<float, F>, ordered<double, F>);
}
template <Rounded Op> void addRounded(Table &table, std::string name) {
  add(table, name + "_rn", rounded<float, Op, FE_TONEAREST>, rounded<double, Op, FE_TONEAREST>);
  add(table, name + "_rz", rounded<float, Op, FE_TOWARDZERO>, rounded<double, Op, FE_TOWARDZERO>);
  add(table, name + "_rd", rounded<float, Op, FE_DOWNWARD>, rounded<double, Op, FE_DOWNWARD>);
  add(table, name + "_ru", rounded<float, Op, FE_UPWARD>, rounded<double, Op, FE_UPWARD>);
}

Table makeTable() {
  Table t;
  addUnary<besselI<0>>(t, "cyl_bessel_i0");
  addUnary<besselI<1>>(t, "cyl_bessel_i1");
  addUnary<besselJ0>(t, "j0");
  addUnary<besselJ1>(t, "j1");
  addUnary<besselY0>(t, "y0");
  addUnary<besselY1>(t, "y1");
  addOrdered<besselJ>(t, "jn");
  addOrdered<besselY>(t, "yn");
  addUnary<erfinv>(t, "erfinv");
  addUnary<erfcinv>(t, "erfcinv");
  addUnary<erfcx>(t, "erfcx");
  addUnary<normcdf>(t, "normcdf");
  addUnary<normcdfinv>(t, "normcdfinv");
  addUnary<std::tgamma>(t, "tgamma");
  addUnary<logGamma>(t, "lgamma");
  addUnary<power10>(t, "exp10");
  addUnary<power10>(t, "fast_exp10");
  addUnary<flushing<std::log>>(t, "fast_log");
  addUnary<flushing<std::log2>>(t, "fast_log2");
  addUnary<flushing<std::log10>>(t, "fast_log10");
  addUnary<flushing<std::sin>>(t, "fast_sin");
  addUnary<flushing<std::cos>>(t, "fast_cos");
  addUnary<flushing<std::tan>>(t, "fast_tan");
  addBinary<fastPow>(t, "fast_pow");
  addUnary<std::logb>(t, "logb");
  addUnary<reciprocalHigh>(t, "rcp64h");
  addBinary<std::hypot>(t, "hypot");
  addBinary<std::remainder>(t, "remainder");
  add(t, "ldexp", scaled<float>, scaled<double>);
  add(t, "ilogb", exponent<float>, exponent<double>);
  addRounded<Rounded::Add>(t, "add");
  addRounded<Rounded::Sub>(t, "sub");
  addRounded<Rounded::Mul>(t, "mul");
  addRounded<Rounded::Div>(t, "div");
  addRounded<Rounded::Fma>(t, "fma");
  addRounded<Rounded::Rcp>(t, "rcp");
  addRounded<Rounded::Sqrt>(t, "sqrt");
  return t;
}

} // namespace

Kernel tile::interp::deviceFunctionKernel(llvm::StringRef symbol) {
  static const Table table = makeTable();
  return table.lookup(symbol);
}
