//===- CheckKernels.cpp - memory access of checked programs ---------------===//
#include "runtime/interp/Check.h"
#include "runtime/interp/Functors.h"
#include "text/Format.h"
#include <cstring>

using namespace tile::interp;
using tile::formatted;

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
      std::memcpy(d + k, reinterpret_cast<const void *>(p[k]), sizeof(T));
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
      std::memcpy(reinterpret_cast<void *>(p[k]), v + k, sizeof(T));
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

void barrier(Frame &f, const Instruction &, uint32_t) { f.check->barrier(); }

template <class T> void checkDivisor(Frame &f, const Instruction &i, uint32_t) {
  if (*f.reg<T>(i.a) == 0)
    f.launch->findings.add(f, i, FindingKind::DivisionByZero, 0, "integer division by zero");
}

/// The value that dimension `dim` of a hint promises of element `index`, which
/// has the value `v` and, one step down the dimension, a neighbour of value
/// `before`: groups are aligned, so a group's first element is only bound by
/// divisibility. That is known to be of the whole block's first element;
/// where later runs begin depends on other hints.
const char *brokenPromise(const HintInfo &info, size_t dim, int64_t index, bool atOrigin,
                          uint64_t v, uint64_t before) {
  auto entry = [&](const llvm::SmallVector<int64_t> &list) { return list.empty() ? 1 : list[dim]; };
  if (atOrigin && v % uint64_t(entry(info.divisibility)) != 0)
    return "is no multiple of";
  if (index > 0 && index % entry(info.contiguity) != 0 && v != before + 1)
    return "is not consecutive in runs of";
  if (index > 0 && index % entry(info.constancy) != 0 && v != before)
    return "is not constant in groups of";
  return nullptr;
}

template <class T> void checkHint(Frame &f, const Instruction &i, uint32_t n) {
  const auto &info = *static_cast<const HintInfo *>(i.aux);
  const T *a = f.reg<T>(i.a);
  const size_t rank = info.shape.size();
  auto value = [&](int64_t k) { return uint64_t(int64_t(IntTraits<T>::sext(a[k]))); };
  for (uint32_t k = 0; k < n; ++k) {
    int64_t stride = 1;
    for (size_t dim = std::max<size_t>(rank, 1); dim-- > 0;) {
      int64_t size = rank ? info.shape[dim] : 1, index = k / stride % size;
      uint64_t before = index ? value(k - stride) : 0;
      const char *broken = brokenPromise(info, dim, index, k == 0, value(k), before);
      if (broken && !f.launch->findings.repeat(f, i, FindingKind::BrokenPromise)) {
        const auto &list = !info.divisibility.empty() ? info.divisibility
                           : !info.contiguity.empty() ? info.contiguity
                                                      : info.constancy;
        std::string text = formatted("broken promise: this value {} {} but is {}", broken,
                                     list[dim], int64_t(value(k)));
        if (index)
          text += formatted(" after {}", int64_t(before));
        Finding &finding = f.launch->findings.add(f, i, FindingKind::BrokenPromise, k, text);
        if (std::string lane = describeLane(k, info.shape); !lane.empty())
          finding.where += formatted(", {}", lane);
      }
      stride *= size;
    }
  }
}

template <class T> void shiftDoubt(Frame &f, const Instruction &i, uint32_t n) {
  uint8_t *d = f.reg<uint8_t>(i.dst);
  const T *amount = f.reg<T>(i.a);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = uint64_t(amount[k]) >= uint64_t(i.imm);
}

template <class T> void divisorDoubt(Frame &f, const Instruction &i, uint32_t n) {
  uint8_t *d = f.reg<uint8_t>(i.dst);
  const T *divisor = f.reg<T>(i.a);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = divisor[k] == 0;
}

template <class T> void absorbDoubt(Frame &f, const Instruction &i, uint32_t n) {
  uint8_t *d = f.reg<uint8_t>(i.dst);
  const uint8_t *mine = f.reg<uint8_t>(i.a), *theirs = f.reg<uint8_t>(i.c);
  const T *other = f.reg<T>(i.b);
  auto rule = DoubtRule(i.imm);
  for (uint32_t k = 0; k < n; ++k) {
    bool absorbs = rule == DoubtRule::And ? other[k] == 0 : rule == DoubtRule::Or && other[k] != 0;
    d[k] |= mine[k] && (theirs[k] || !absorbs);
  }
}

void anyDoubt(Frame &f, const Instruction &i, uint32_t n) {
  const auto &shape = static_cast<const StrideInfo *>(i.aux)->shape;
  uint8_t *d = f.reg<uint8_t>(i.dst);
  const uint8_t *a = f.reg<uint8_t>(i.a);
  std::memset(d, 0, n);
  for (int64_t outer = 0; outer < shape[0]; ++outer)
    for (int64_t at = 0; at < shape[1]; ++at)
      for (int64_t inner = 0; inner < shape[2]; ++inner)
        d[outer * shape[2] + inner] |= *a++;
}

const char *messageOf(FindingKind doubt) {
  return doubt == FindingKind::DivisionByZero
             ? "divided by zero, and the result is used, which PTX leaves open: clear such lanes "
               "with `tl.where`, or do not store them"
             : "shifted by as many bits as the number has, or more, and the result is used: keep "
               "the amount below, or clear such lanes with `tl.where`";
}

void reportDoubt(Frame &f, const Instruction &i, uint32_t n) {
  const auto kind = FindingKind(i.imm);
  const auto &info = *static_cast<const MessageInfo *>(i.aux);
  const uint8_t *lanes = f.reg<uint8_t>(i.a), *mask = maskOf(f, i);
  for (uint32_t k = 0; k < n; ++k) {
    if (!lanes[k] || (mask && !mask[k]) || f.launch->findings.repeat(f, i, kind))
      continue;
    Finding &finding = f.launch->findings.add(f, i, kind, k, messageOf(kind));
    if (std::string lane = describeLane(k, info.shape); !lane.empty())
      finding.where += formatted(", {}", lane);
  }
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
TILE_BY_SIZE(shiftDoubtKernel, shiftDoubt)
TILE_BY_SIZE(divisorDoubtKernel, divisorDoubt)
TILE_BY_SIZE(absorbDoubtKernel, absorbDoubt)
#undef TILE_BY_SIZE

Kernel tile::interp::barrierKernel() { return barrier; }
Kernel tile::interp::anyDoubtKernel() { return anyDoubt; }
Kernel tile::interp::reportDoubtKernel() { return reportDoubt; }
Kernel tile::interp::checkHintKernel(DType type) {
  return forIntType(type, []<class T>() -> Kernel { return checkHint<T>; });
}
Kernel tile::interp::offsetWrapKernel(DType offset) {
  return forIntType(offset, []<class T>() -> Kernel { return offsetWrap<T>; });
}
