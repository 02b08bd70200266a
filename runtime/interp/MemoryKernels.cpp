//===- MemoryKernels.cpp - loads, stores and atomics on host memory -------===//
//
// Pointers are real addresses. Most blocks of pointers are consecutive; those
// move whole runs of lanes at once. A lane that is masked off touches nothing.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Functors.h"
#include <cstring>

using namespace tile::interp;

namespace {

template <class T> void addPtr(Frame &f, const Instruction &i, uint32_t n) {
  uint64_t *__restrict d = f.reg<uint64_t>(i.dst);
  const uint64_t *a = f.reg<uint64_t>(i.a);
  const T *b = f.reg<T>(i.b);
  uint64_t scale = uint64_t(i.imm);
  for (uint32_t k = 0; k < n; ++k)
    d[k] = a[k] + uint64_t(int64_t(IntTraits<T>::sext(b[k]))) * scale;
}

bool isConsecutive(const uint64_t *pointers, uint32_t n, unsigned bytes) {
  uint64_t first = pointers[0], difference = 0;
  for (uint32_t k = 0; k < n; ++k)
    difference |= pointers[k] ^ (first + uint64_t(k) * bytes);
  return difference == 0;
}

/// Calls f(begin, length) for each run of true mask lanes.
template <class F> void forRuns(const uint8_t *mask, uint32_t n, F f) {
  if (!mask)
    return f(0, n);
  for (uint32_t k = 0; k < n;) {
    auto *begin = static_cast<const uint8_t *>(std::memchr(mask + k, 1, n - k));
    if (!begin)
      return;
    uint32_t b = begin - mask;
    auto *end = static_cast<const uint8_t *>(std::memchr(begin, 0, n - b));
    uint32_t e = end ? end - mask : n;
    f(b, e - b);
    k = e;
  }
}

/// Loads and stores copy bytes: addresses need not be aligned.
void *bytesAt(uint64_t p) { return reinterpret_cast<void *>(p); }
template <class T> T *address(uint64_t p) { return reinterpret_cast<T *>(p); }

template <class T> void load(Frame &f, const Instruction &i, uint32_t n) {
  T *__restrict d = f.reg<T>(i.dst);
  const uint64_t *p = f.reg<uint64_t>(i.a);
  const uint8_t *mask = i.b == kNone ? nullptr : f.reg<uint8_t>(i.b);
  if (mask) {
    if (i.c != kNone)
      std::memcpy(d, f.base + i.c, n * sizeof(T));
    else
      std::memset(d, 0, n * sizeof(T));
  }
  if (n > 4 && isConsecutive(p, n, sizeof(T)))
    return forRuns(mask, n, [&](uint32_t begin, uint32_t length) {
      std::memcpy(d + begin, bytesAt(p[begin]), length * sizeof(T));
    });
  for (uint32_t k = 0; k < n; ++k)
    if (!mask || mask[k])
      std::memcpy(d + k, bytesAt(p[k]), sizeof(T));
}

template <class T> void store(Frame &f, const Instruction &i, uint32_t n) {
  const T *v = f.reg<T>(i.c);
  const uint64_t *p = f.reg<uint64_t>(i.a);
  const uint8_t *mask = i.b == kNone ? nullptr : f.reg<uint8_t>(i.b);
  f.changedMemory = true;
  if (n > 4 && isConsecutive(p, n, sizeof(T)))
    return forRuns(mask, n, [&](uint32_t begin, uint32_t length) {
      std::memcpy(bytesAt(p[begin]), v + begin, length * sizeof(T));
    });
  for (uint32_t k = 0; k < n; ++k)
    if (!mask || mask[k])
      std::memcpy(bytesAt(p[k]), v + k, sizeof(T));
}

/// Replaces *p by change(*p) atomically; returns the old value.
template <class T, class F> T update(T *p, bool &changed, F change) {
  T old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
  for (;;) {
    T next = change(old);
    if (__atomic_compare_exchange_n(p, &old, next, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
      changed |= next != old;
      return old;
    }
  }
}

template <class Change, class T> void atomic(Frame &f, const Instruction &i, uint32_t n) {
  T *d = f.reg<T>(i.dst);
  const T *v = f.reg<T>(i.c);
  const uint64_t *p = f.reg<uint64_t>(i.a);
  const uint8_t *mask = i.b == kNone ? nullptr : f.reg<uint8_t>(i.b);
  bool changed = false;
  for (uint32_t k = 0; k < n; ++k) {
    T old = 0;
    if (!mask || mask[k])
      old = update(address<T>(p[k]), changed, [&](T x) { return Change::apply(x, v[k]); });
    d[k] = old;
  }
  f.changedMemory |= changed;
}

template <class T> void compareSwap(Frame &f, const Instruction &i, uint32_t n) {
  T *d = f.reg<T>(i.dst);
  const T *expected = f.reg<T>(i.b), *v = f.reg<T>(i.c);
  const uint64_t *p = f.reg<uint64_t>(i.a);
  for (uint32_t k = 0; k < n; ++k) {
    T old = expected[k];
    if (__atomic_compare_exchange_n(address<T>(p[k]), &old, v[k], false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
      f.changedMemory |= v[k] != old;
    d[k] = old;
  }
}

struct Exchange {
  template <class T> static T apply(T, T b) { return b; }
};
/// Addition of floats held as bits.
template <class T> struct AddFloat {
  template <class B> static B apply(B a, B b) {
    T sum = fromCompute<T>(toFloat(std::bit_cast<T>(a)) + toFloat(std::bit_cast<T>(b)));
    return std::bit_cast<B>(sum);
  }
};

/// The larger or the smaller of two floats held as bits; a NaN loses.
template <class T, class Op> struct FloatExtremum {
  template <class B> static B apply(B a, B b) {
    T result = fromCompute<T>(
        Op::template apply<Compute<T>>(toFloat(std::bit_cast<T>(a)), toFloat(std::bit_cast<T>(b))));
    return std::bit_cast<B>(result);
  }
};
template <class Op> Kernel floatAtomic(DType type) {
  switch (type) {
  case DType::F16:
    return atomic<FloatExtremum<Half, Op>, uint16_t>;
  case DType::BF16:
    return atomic<FloatExtremum<BFloat, Op>, uint16_t>;
  case DType::F32:
    return atomic<FloatExtremum<float, Op>, uint32_t>;
  case DType::F64:
    return atomic<FloatExtremum<double, Op>, uint64_t>;
  default:
    return nullptr;
  }
}

template <class Change> Kernel intAtomic(DType type) {
  if (type == DType::I1)
    return nullptr;
  return forSize(byteSize(type), []<class T>() -> Kernel { return atomic<Change, T>; });
}

} // namespace

Kernel tile::interp::addPtrKernel(DType offset) {
  return forIntType(offset, []<class T>() -> Kernel { return addPtr<T>; });
}
Kernel tile::interp::loadKernel(unsigned bytes) {
  return forSize(bytes, []<class T>() -> Kernel { return load<T>; });
}
Kernel tile::interp::storeKernel(unsigned bytes) {
  return forSize(bytes, []<class T>() -> Kernel { return store<T>; });
}

Kernel tile::interp::atomicKernel(AtomicOp op, DType type) {
  switch (op) {
  case AtomicOp::FAdd:
    switch (type) {
    case DType::F16:
      return atomic<AddFloat<Half>, uint16_t>;
    case DType::BF16:
      return atomic<AddFloat<BFloat>, uint16_t>;
    case DType::F32:
      return atomic<AddFloat<float>, uint32_t>;
    case DType::F64:
      return atomic<AddFloat<double>, uint64_t>;
    default:
      return nullptr;
    }
  case AtomicOp::FMax:
    return floatAtomic<FloatMaxNum>(type);
  case AtomicOp::FMin:
    return floatAtomic<FloatMinNum>(type);
  case AtomicOp::Exchange:
    return intAtomic<Exchange>(type);
  case AtomicOp::CompareSwap:
    return forSize(byteSize(type), []<class T>() -> Kernel { return compareSwap<T>; });
  default:
    break;
  }
  if (isFloat(type))
    return nullptr;
  switch (op) {
  case AtomicOp::Add:
    return intAtomic<IntAdd>(type);
  case AtomicOp::MaxS:
    return intAtomic<IntMaxS>(type);
  case AtomicOp::MinS:
    return intAtomic<IntMinS>(type);
  case AtomicOp::MaxU:
    return intAtomic<IntMaxU>(type);
  case AtomicOp::MinU:
    return intAtomic<IntMinU>(type);
  case AtomicOp::And:
    return intAtomic<IntAnd>(type);
  case AtomicOp::Or:
    return intAtomic<IntOr>(type);
  case AtomicOp::Xor:
    return intAtomic<IntXor>(type);
  default:
    return nullptr;
  }
}
