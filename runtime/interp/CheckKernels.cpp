//===- CheckKernels.cpp - memory access of checked programs ---------------===//
#include "runtime/interp/Check.h"
#include "runtime/interp/Functors.h"
#include <cstring>

using namespace tile::interp;

namespace {

const uint8_t *maskOf(Frame &f, const Instruction &i) {
  return i.b == kNone ? nullptr : f.reg<uint8_t>(i.b);
}

template <class T> void load(Frame &f, const Instruction &i, uint32_t n) {
  const auto &info = *static_cast<const AccessInfo *>(i.aux);
  T *d = f.reg<T>(i.dst);
  const uint64_t *p = f.reg<uint64_t>(i.a);
  // A volatile read is how programs wait for one another.
  auto access = info.isVolatile ? CheckState::Access::AtomicRead : CheckState::Access::Read;
  const uint8_t *allowed = f.check->check(f, i, n, sizeof(T), access, maskOf(f, i));
  if (info.isVolatile)
    f.check->acquire(f, p, allowed, n);
  for (uint32_t k = 0; k < n; ++k) {
    if (allowed[k])
      std::memcpy(d + k, reinterpret_cast<const T *>(p[k]), sizeof(T));
    else
      d[k] = i.c == kNone ? T(0) : f.reg<T>(i.c)[k];
  }
}

template <class T> void store(Frame &f, const Instruction &i, uint32_t n) {
  const T *v = f.reg<T>(i.c);
  const uint64_t *p = f.reg<uint64_t>(i.a);
  const uint8_t *allowed =
      f.check->check(f, i, n, sizeof(T), CheckState::Access::Write, maskOf(f, i));
  f.changedMemory = true;
  for (uint32_t k = 0; k < n; ++k)
    if (allowed[k])
      std::memcpy(reinterpret_cast<T *>(p[k]), v + k, sizeof(T));
}

/// Runs the plain kernel on one allowed lane at a time.
template <class T> void atomic(Frame &f, const Instruction &i, uint32_t n) {
  const auto &info = *static_cast<const AccessInfo *>(i.aux);
  const uint64_t *p = f.reg<uint64_t>(i.a);
  const uint8_t *allowed = f.check->check(f, i, n, sizeof(T), CheckState::Access::Atomic,
                                          info.masked ? maskOf(f, i) : nullptr);
  if (info.acquire)
    f.check->acquire(f, p, allowed, n);
  for (uint32_t k = 0; k < n; ++k) {
    if (!allowed[k]) {
      f.reg<T>(i.dst)[k] = 0;
      continue;
    }
    Instruction lane = i;
    lane.dst += k * sizeof(T);
    lane.a += k * 8;
    lane.b = i.b == kNone || info.masked ? kNone : uint32_t(i.b + k * sizeof(T));
    lane.c += k * sizeof(T);
    info.inner(f, lane, 1);
  }
  if (info.release)
    f.check->release(f, p, allowed, n);
}

template <class T> void checkDivisor(Frame &f, const Instruction &i, uint32_t) {
  if (*f.reg<T>(i.a) == 0)
    f.launch->findings.add(f, i, FindingKind::DivisionByZero, 0, "integer division by zero");
}

template <class T> void offsetWrap(Frame &f, const Instruction &i, uint32_t n) {
  uint8_t *d = f.reg<uint8_t>(i.dst);
  const int64_t *exact = f.reg<int64_t>(i.a);
  const T *computed = f.reg<T>(i.b);
  for (uint32_t k = 0; k < n; ++k)
    d[k] |= exact[k] != int64_t(IntTraits<T>::sext(computed[k]));
}

} // namespace

#define TILE_BY_SIZE(NAME, LOOP)                                                                   \
  Kernel tile::interp::NAME(unsigned bytes) {                                                      \
    return forSize(bytes, []<class T>() -> Kernel { return LOOP<T>; });                            \
  }
TILE_BY_SIZE(checkedLoadKernel, load)
TILE_BY_SIZE(checkedStoreKernel, store)
TILE_BY_SIZE(checkedAtomicKernel, atomic)
TILE_BY_SIZE(checkDivisorKernel, checkDivisor)
#undef TILE_BY_SIZE

Kernel tile::interp::offsetWrapKernel(DType offset) {
  return forIntType(offset, []<class T>() -> Kernel { return offsetWrap<T>; });
}
