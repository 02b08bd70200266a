//===- ShapeKernels.cpp - moving elements between registers ---------------===//
//
// Everything here copies bits and depends only on the element size. Loop
// counters live here too.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Functors.h"
#include "text/Format.h"
#include <cstring>

using namespace tile::interp;
using tile::formatted;

namespace {

template <class T> void selectLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const uint8_t *a = f.reg<uint8_t>(i.a);
  const T *b = f.reg<T>(i.b), *c = f.reg<T>(i.c);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = a[k] ? b[k] : c[k];
}
template <class T> void selectScalar(Frame &f, const Instruction &i, uint32_t n) {
  bool condition = *f.reg<uint8_t>(i.a);
  std::memcpy(f.base + i.dst, f.base + (condition ? i.b : i.c), n * sizeof(T));
}
template <class T> void copyLoop(Frame &f, const Instruction &i, uint32_t n) {
  std::memcpy(f.base + i.dst, f.base + i.a, n * sizeof(T));
}
template <class T> void splatLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *d = f.reg<T>(i.dst);
  T value = *f.reg<T>(i.a);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = value;
}
template <class T> void zeroLoop(Frame &f, const Instruction &i, uint32_t n) {
  std::memset(f.base + i.dst, 0, n * sizeof(T));
}

/// Walks the result in row-major order; the innermost dimension is a loop of
/// its own, the outer ones count like an odometer.
template <class T> void permuteLoop(Frame &f, const Instruction &i, uint32_t n) {
  const auto &info = *static_cast<const StrideInfo *>(i.aux);
  T *d = f.reg<T>(i.dst);
  const T *row = f.reg<T>(i.a);
  size_t rank = info.shape.size();
  int64_t inner = info.shape[rank - 1], step = info.strides[rank - 1];
  llvm::SmallVector<int64_t, 8> index(rank, 0);
  for (const T *end = d + n; d != end; d += inner) {
    if (step == 1)
      std::memcpy(d, row, inner * sizeof(T));
    else
      for (int64_t k = 0; k < inner; ++k)
        d[k] = row[k * step];
    for (size_t dim = rank - 1; dim-- > 0;) {
      row += info.strides[dim];
      if (++index[dim] < info.shape[dim])
        break;
      row -= index[dim] * info.strides[dim];
      index[dim] = 0;
    }
  }
}

template <class T> void joinLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const T *a = f.reg<T>(i.a), *b = f.reg<T>(i.b);
  for (uint32_t k = 0; k < n; ++k) {
    d[2 * k] = a[k];
    d[2 * k + 1] = b[k];
  }
}
template <class T> void splitLoop(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const T *a = f.reg<T>(i.a) + i.imm;
  for (uint32_t k = 0; k < n; ++k)
    d[k] = a[2 * k];
}

void range(Frame &f, const Instruction &i, uint32_t n) {
  uint32_t *d = f.reg<uint32_t>(i.dst);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = uint32_t(i.imm) + k;
}
void programId(Frame &f, const Instruction &i, uint32_t n) {
  for (uint32_t k = 0; k < n; ++k)
    f.reg<uint32_t>(i.dst)[k] = f.programId[i.imm];
}
void numPrograms(Frame &f, const Instruction &i, uint32_t n) {
  for (uint32_t k = 0; k < n; ++k)
    f.reg<uint32_t>(i.dst)[k] = f.grid[i.imm];
}

template <class T, bool Unsigned> void forInit(Frame &f, const Instruction &i, uint32_t) {
  using I = std::conditional_t<Unsigned, T, std::make_signed_t<T>>;
  I lower = *f.reg<I>(i.dst), upper = *f.reg<I>(i.a), step = *f.reg<I>(i.b);
  if (step <= 0)
    return f.fail(
        FindingKind::BadLoopStep, i, 0,
        formatted("the step of a loop must be positive, but is {}", std::make_signed_t<T>(step)));
  // The distance fits the unsigned type even where upper - lower overflows.
  uint64_t distance = lower < upper ? uint64_t(T(T(upper) - T(lower))) : 0;
  uint64_t turns = distance / uint64_t(step) + (distance % uint64_t(step) != 0);
  *f.reg<uint64_t>(i.c) = turns;
}
template <class T> void forNext(Frame &f, const Instruction &i, uint32_t) {
  *f.reg<T>(i.dst) = T(*f.reg<T>(i.dst) + *f.reg<T>(i.b));
  --*f.reg<uint64_t>(i.c);
}

} // namespace

#define TILE_BY_SIZE(NAME, LOOP)                                                                   \
  Kernel tile::interp::NAME(unsigned bytes) {                                                      \
    return forSize(bytes, []<class T>() -> Kernel { return LOOP<T>; });                            \
  }
TILE_BY_SIZE(selectKernel, selectLoop)
TILE_BY_SIZE(selectScalarKernel, selectScalar)
TILE_BY_SIZE(copyKernel, copyLoop)
TILE_BY_SIZE(splatKernel, splatLoop)
TILE_BY_SIZE(zeroKernel, zeroLoop)
TILE_BY_SIZE(permuteKernel, permuteLoop)
TILE_BY_SIZE(joinKernel, joinLoop)
TILE_BY_SIZE(splitKernel, splitLoop)
#undef TILE_BY_SIZE

Kernel tile::interp::rangeKernel() { return range; }
Kernel tile::interp::programIdKernel() { return programId; }
Kernel tile::interp::numProgramsKernel() { return numPrograms; }

Kernel tile::interp::forInitKernel(DType type, bool isUnsigned) {
  if (type == DType::I1)
    return nullptr;
  return forSize(isFloat(type) ? 0 : byteSize(type), [&]<class T>() -> Kernel {
    return isUnsigned ? Kernel(forInit<T, true>) : Kernel(forInit<T, false>);
  });
}
Kernel tile::interp::forNextKernel(DType type) {
  return forSize(isFloat(type) ? 0 : byteSize(type),
                 []<class T>() -> Kernel { return forNext<T>; });
}
