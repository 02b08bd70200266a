//===- CombineKernels.cpp - reductions and scans --------------------------===//
//
// The operand is seen as [outer, length, inner]. A reduction combines
// neighbours pairwise until one is left, a balanced tree that keeps the order
// of the elements; all pairs of one level go through the combiner at once, as
// the lanes of its registers. A scan walks the axis and combines all [outer,
// inner] lines at once. A combiner with control flow of its own sees one lane
// at a time.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Functors.h"
#include <cstring>
#include <utility>

using namespace tile::interp;

Aux::~Aux() = default;

namespace {

//===----------------------------------------------------------------------===//
// Any combiner
//===----------------------------------------------------------------------===//

void splatCaptures(Frame &f, const CombineInfo &info, uint32_t lanes) {
  for (const CombineInfo::Capture &c : info.captures)
    for (uint32_t k = 0; k < lanes; ++k)
      std::memcpy(f.base + c.dst + size_t(k) * c.bytes, f.base + c.src, c.bytes);
}

/// Combines `left` and `right` of every operand, lane by lane; the results are
/// at `resultOf`.
bool combine(Frame &f, const CombineInfo &info, uint32_t lanes) {
  uint32_t pc = 0;
  if (info.wide)
    return execute(f, info.code.data(), pc, lanes) == Outcome::Finished;
  for (uint32_t k = 0; k < lanes; ++k) {
    for (auto &o : info.operands) {
      std::memcpy(f.base + o.argLeft, f.base + o.left + size_t(k) * o.bytes, o.bytes);
      std::memcpy(f.base + o.argRight, f.base + o.right + size_t(k) * o.bytes, o.bytes);
    }
    pc = 0;
    if (execute(f, info.code.data(), pc, 1) != Outcome::Finished)
      return false;
    for (auto &o : info.operands)
      std::memcpy(f.base + o.left + size_t(k) * o.bytes, f.base + o.yielded, o.bytes);
  }
  return true;
}
uint8_t *resultOf(Frame &f, const CombineInfo &info, const CombineInfo::Operand &o) {
  return f.base + (info.wide ? o.yielded : o.left);
}

/// One level: [outer, length, inner] at `from` -> [outer, ceil(length / 2),
/// inner] at `work`. `from` may be `work` itself.
bool reduceLevel(Frame &f, const CombineInfo &info, uint32_t length, bool first) {
  const size_t outer = info.outer, inner = info.inner, half = length / 2;
  const size_t kept = half + length % 2;
  for (auto &o : info.operands) {
    const size_t row = inner * o.bytes;
    for (size_t b = 0; b < outer; ++b)
      for (size_t k = 0; k < half; ++k) {
        const uint8_t *pair = f.base + (first ? o.src : o.work) + (b * length + 2 * k) * row;
        size_t to = (b * half + k) * row;
        std::memcpy(f.base + o.left + to, pair, row);
        std::memcpy(f.base + o.right + to, pair + row, row);
      }
  }
  if (!combine(f, info, outer * half * inner))
    return false;
  for (auto &o : info.operands) {
    const size_t row = inner * o.bytes;
    for (size_t b = 0; b < outer; ++b) {
      uint8_t *to = f.base + o.work + b * kept * row;
      if (length % 2) // the odd one out; later blocks' are further on, still intact
        std::memmove(to + half * row,
                     f.base + (first ? o.src : o.work) + (b * length + length - 1) * row, row);
      std::memcpy(to, resultOf(f, info, o) + b * half * row, half * row);
    }
  }
  return true;
}

void reduce(Frame &f, const Instruction &i, uint32_t) {
  const auto &info = *static_cast<const CombineInfo *>(i.aux);
  splatCaptures(f, info, info.wide ? info.outer * (info.length / 2) * info.inner : 1);
  bool first = true;
  for (uint32_t length = info.length; length > 1; length = (length + 1) / 2, first = false)
    if (!reduceLevel(f, info, length, first))
      return;
  for (auto &o : info.operands)
    std::memcpy(f.base + o.dst, f.base + (first ? o.src : o.work),
                size_t(info.outer) * info.inner * o.bytes);
}

void scan(Frame &f, const Instruction &i, uint32_t) {
  const auto &info = *static_cast<const CombineInfo *>(i.aux);
  const size_t outer = info.outer, length = info.length, inner = info.inner;
  splatCaptures(f, info, info.wide ? outer * inner : 1);
  // Copies position k of all lines between the block at `block` and a register.
  auto gather = [&](uint8_t *lines, const uint8_t *block, size_t k, size_t row) {
    for (size_t b = 0; b < outer; ++b)
      std::memcpy(lines + b * row, block + (b * length + k) * row, row);
  };
  auto scatter = [&](uint8_t *block, const uint8_t *lines, size_t k, size_t row) {
    for (size_t b = 0; b < outer; ++b)
      std::memcpy(block + (b * length + k) * row, lines + b * row, row);
  };
  for (size_t step = 0; step < length; ++step) {
    size_t k = info.reverse ? length - 1 - step : step;
    for (auto &o : info.operands) {
      const size_t row = inner * o.bytes;
      gather(f.base + o.right, f.base + o.src, k, row);
      if (step == 0)
        scatter(f.base + o.dst, f.base + o.right, k, row);
      else
        gather(f.base + o.left, f.base + o.dst, info.reverse ? k + 1 : k - 1, row);
    }
    if (step == 0)
      continue;
    if (!combine(f, info, outer * inner))
      return;
    for (auto &o : info.operands)
      scatter(f.base + o.dst, resultOf(f, info, o), k, inner * o.bytes);
  }
}

//===----------------------------------------------------------------------===//
// One known operation
//===----------------------------------------------------------------------===//

/// A binary operation on stored values of type T.
template <class Op, class T> struct OnInt {
  static T apply(T a, T b) { return Op::template apply<T>(a, b); }
};
template <class Op, class T> struct OnFloat {
  static T apply(T a, T b) {
    return fromCompute<T>(Op::template apply<Compute<T>>(toFloat(a), toFloat(b)));
  }
};

template <class Op, class T>
void pairs(T *__restrict to, const T *from, size_t half, size_t inner) {
  if (inner == 1) {
    for (size_t k = 0; k < half; ++k)
      to[k] = Op::apply(from[2 * k], from[2 * k + 1]);
    return;
  }
  for (size_t k = 0; k < half; ++k)
    for (size_t x = 0; x < inner; ++x)
      to[k * inner + x] = Op::apply(from[2 * k * inner + x], from[(2 * k + 1) * inner + x]);
}

template <class Op, class T> void fastReduce(Frame &f, const Instruction &i, uint32_t) {
  const auto &info = *static_cast<const CombineInfo *>(i.aux);
  const auto &o = info.operands.front();
  const size_t outer = info.outer, inner = info.inner;
  const T *from = f.reg<T>(o.src);
  T *to = f.reg<T>(o.work), *next = f.reg<T>(o.left);
  for (size_t length = info.length; length > 1; length = (length + 1) / 2) {
    const size_t half = length / 2, kept = (length + 1) / 2;
    if (outer != 1 && inner == 1 && length % 2 == 0) { // rows do not matter
      pairs<Op, T>(to, from, outer * half, 1);
    } else {
      for (size_t b = 0; b < outer; ++b) {
        pairs<Op, T>(to + b * kept * inner, from + b * length * inner, half, inner);
        if (length % 2)
          std::memcpy(to + (b * kept + half) * inner, from + (b * length + length - 1) * inner,
                      inner * sizeof(T));
      }
    }
    from = to;
    std::swap(to, next);
  }
  std::memcpy(f.base + o.dst, from, outer * inner * sizeof(T));
}

template <class Op, class T> void fastScan(Frame &f, const Instruction &i, uint32_t) {
  const auto &info = *static_cast<const CombineInfo *>(i.aux);
  const auto &o = info.operands.front();
  const ptrdiff_t length = info.length, inner = info.inner;
  const ptrdiff_t step = info.reverse ? -inner : inner;
  for (size_t b = 0; b < info.outer; ++b) {
    size_t start = (b * length + (info.reverse ? length - 1 : 0)) * inner;
    const T *from = f.reg<T>(o.src) + start;
    T *to = f.reg<T>(o.dst) + start;
    std::memcpy(to, from, inner * sizeof(T));
    for (ptrdiff_t k = 1; k < length; ++k) {
      from += step;
      to += step;
      for (ptrdiff_t x = 0; x < inner; ++x)
        to[x] = Op::apply(to[x - step], from[x]);
    }
  }
}

template <class Op, bool Scan> Kernel onInts(DType type) {
  return forIntType(type, []<class T>() -> Kernel {
    return Scan ? Kernel(fastScan<OnInt<Op, T>, T>) : Kernel(fastReduce<OnInt<Op, T>, T>);
  });
}
template <class Op, bool Scan> Kernel onFloats(DType type) {
  return forFloatType(type, []<class T>() -> Kernel {
    return Scan ? Kernel(fastScan<OnFloat<Op, T>, T>) : Kernel(fastReduce<OnFloat<Op, T>, T>);
  });
}

template <bool Scan> Kernel fastInt(IntOp op, DType type) {
  switch (op) {
  case IntOp::Add:
    return onInts<IntAdd, Scan>(type);
  case IntOp::Mul:
    return onInts<IntMul, Scan>(type);
  case IntOp::And:
    return onInts<IntAnd, Scan>(type);
  case IntOp::Or:
    return onInts<IntOr, Scan>(type);
  case IntOp::Xor:
    return onInts<IntXor, Scan>(type);
  case IntOp::MaxS:
    return onInts<IntMaxS, Scan>(type);
  case IntOp::MaxU:
    return onInts<IntMaxU, Scan>(type);
  case IntOp::MinS:
    return onInts<IntMinS, Scan>(type);
  case IntOp::MinU:
    return onInts<IntMinU, Scan>(type);
  default:
    return nullptr;
  }
}
template <bool Scan> Kernel fastFloat(FloatOp op, DType type) {
  switch (op) {
  case FloatOp::Add:
    return onFloats<FloatAdd, Scan>(type);
  case FloatOp::Mul:
    return onFloats<FloatMul, Scan>(type);
  case FloatOp::Maximum:
    return onFloats<FloatMaximum, Scan>(type);
  case FloatOp::Minimum:
    return onFloats<FloatMinimum, Scan>(type);
  case FloatOp::MaxNum:
    return onFloats<FloatMaxNum, Scan>(type);
  case FloatOp::MinNum:
    return onFloats<FloatMinNum, Scan>(type);
  default:
    return nullptr;
  }
}

} // namespace

Kernel tile::interp::reduceKernel() { return reduce; }
Kernel tile::interp::scanKernel() { return scan; }
Kernel tile::interp::fastReduceKernel(IntOp op, DType type) { return fastInt<false>(op, type); }
Kernel tile::interp::fastReduceKernel(FloatOp op, DType type) { return fastFloat<false>(op, type); }
Kernel tile::interp::fastScanKernel(IntOp op, DType type) { return fastInt<true>(op, type); }
Kernel tile::interp::fastScanKernel(FloatOp op, DType type) { return fastFloat<true>(op, type); }
