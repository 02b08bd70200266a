//===- AlgebraKernels.cpp - arithmetic of the algebraic mode ---------------===//
//
// What integers do not have: sums of products in one step, functions that are
// hashes, and matrix products whose terms are widened with their signs.
//
//===----------------------------------------------------------------------===//
#include "ir/Algebra.h"
#include "runtime/interp/Functors.h"
#include <vector>

using namespace tile::interp;
using tile::algebra::mix;
using tile::algebra::seedOf;

namespace {

template <class T> int64_t extended(T v) { return int64_t(std::make_signed_t<T>(v)); }

template <class T> void multiplyAdd(Frame &f, const Instruction &i, uint32_t n) {
  for (uint32_t k = 0; k < n; ++k)
    f.reg<T>(i.dst)[k] =
        T(uint64_t(f.reg<T>(i.a)[k]) * uint64_t(f.reg<T>(i.b)[k]) + uint64_t(f.reg<T>(i.c)[k]));
}

template <class T> void negate(Frame &f, const Instruction &i, uint32_t n) {
  for (uint32_t k = 0; k < n; ++k)
    f.reg<T>(i.dst)[k] = T(0 - uint64_t(f.reg<T>(i.a)[k]));
}

/// imm: the seed. Up to three arguments, the ones behind the first of any width.
template <class T> void function(Frame &f, const Instruction &i, uint32_t n) {
  const auto &widths = static_cast<const FunctionInfo *>(i.aux)->bytes;
  const uint32_t sources[] = {i.a, i.b, i.c};
  auto argument = [&](size_t s, uint32_t k) -> int64_t {
    switch (widths[s]) {
    case 1:
      return f.reg<int8_t>(sources[s])[k];
    case 2:
      return f.reg<int16_t>(sources[s])[k];
    case 4:
      return f.reg<int32_t>(sources[s])[k];
    default:
      return f.reg<int64_t>(sources[s])[k];
    }
  };
  for (uint32_t k = 0; k < n; ++k) {
    uint64_t x = uint64_t(i.imm);
    for (size_t s = 0; s < widths.size(); ++s)
      x = mix(x, argument(s, k));
    f.reg<T>(i.dst)[k] = T(x);
  }
}

/// A product with the hash of the reciprocal; those of 1 and -1 are themselves.
template <class T> void divide(Frame &f, const Instruction &i, uint32_t n) {
  const uint64_t seed = seedOf("rcp");
  for (uint32_t k = 0; k < n; ++k) {
    int64_t by = extended(f.reg<T>(i.b)[k]);
    uint64_t reciprocal = by == 1 || by == -1 ? uint64_t(by) : mix(seed, by);
    f.reg<T>(i.dst)[k] = T(uint64_t(f.reg<T>(i.a)[k]) * reciprocal);
  }
}

template <class A, class B, class C> void product(Frame &f, const Instruction &i, uint32_t) {
  const auto &info = *static_cast<const DotInfo *>(i.aux);
  size_t sizeA = size_t(info.m) * info.k, sizeB = size_t(info.k) * info.n;
  size_t sizeC = size_t(info.m) * info.n;
  std::vector<uint64_t> right(sizeB), row(info.n);
  for (uint32_t batch = 0; batch < info.batch; ++batch) {
    const A *a = f.reg<A>(i.a) + batch * sizeA;
    const B *b = f.reg<B>(i.b) + batch * sizeB;
    const C *acc = f.reg<C>(i.c) + batch * sizeC;
    C *d = f.reg<C>(i.dst) + batch * sizeC;
    for (size_t e = 0; e < sizeB; ++e)
      right[e] = uint64_t(extended(b[e]));
    for (uint32_t m = 0; m < info.m; ++m) {
      std::copy_n(acc + size_t(m) * info.n, info.n, row.begin());
      for (uint32_t k = 0; k < info.k; ++k) {
        uint64_t x = uint64_t(extended(a[size_t(m) * info.k + k]));
        for (uint32_t n = 0; n < info.n; ++n)
          row[n] += x * right[size_t(k) * info.n + n];
      }
      for (uint32_t n = 0; n < info.n; ++n)
        d[size_t(m) * info.n + n] = C(row[n]);
    }
  }
}

template <class A> Kernel productOf(unsigned acc) {
  return acc == 2   ? Kernel(product<A, A, uint16_t>)
         : acc == 4 ? Kernel(product<A, A, uint32_t>)
                    : Kernel(product<A, A, uint64_t>);
}

} // namespace

Kernel tile::interp::algebraKernel(AlgebraOp op, unsigned bytes) {
  return forSize(bytes, [&]<class T>() -> Kernel {
    switch (op) {
    case AlgebraOp::MultiplyAdd:
      return multiplyAdd<T>;
    case AlgebraOp::Negate:
      return negate<T>;
    case AlgebraOp::Divide:
      return divide<T>;
    case AlgebraOp::Function:
      return function<T>;
    }
    return nullptr;
  });
}

Kernel tile::interp::algebraDotKernel(unsigned operandBytes, unsigned accBytes) {
  return forSize(operandBytes, [&]<class T>() { return productOf<T>(accBytes); });
}
