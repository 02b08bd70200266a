//===- WarpgroupProduct.cpp - operands in shared memory, and their product ===//
#include "emulator/hooks/Warpgroup.h"
#include "text/Format.h"
#include <cstring>

using namespace tile::emu;
using tile::formatted;

SharedOperand tile::emu::decodeDescriptor(Thread &t, uint64_t d, bool mnMajor, unsigned bytes,
                                          SiteId site) {
  static const unsigned spans[] = {0, 128, 64, 32};
  constexpr uint64_t kReserved = 0x3dff'c000'c000'c000ull & ~(uint64_t(7) << 49);
  if (d & kReserved)
    report(t, FindingKind::BadDescriptor, site,
           formatted("the matrix descriptor {:#x} has bits where there must be none", d));
  if (d >> 49 & 7)
    report(t, FindingKind::BadDescriptor, site,
           formatted("the matrix descriptor {:#x} has a base offset, which nothing here needs", d));
  if (mnMajor && bytes != 2)
    report(t, FindingKind::BadDescriptor, site, "only 16-bit operands can be transposed");
  // Who sets it meant the other order, in which it leads to the next columns.
  uint64_t leading = d >> 16 & 0x3fff;
  if (!mnMajor && d >> 62 && leading > 1)
    report(t, FindingKind::BadDescriptor, site,
           formatted("the matrix descriptor {:#x} has a leading offset of {} bytes, which swizzled "
                     "operands have only where they are transposed",
                     d, leading * 16));
  return {uint32_t(d & 0x3fff) << 4,
          uint32_t(d >> 16 & 0x3fff) << 4,
          uint32_t(d >> 32 & 0x3fff) << 4,
          spans[d >> 62],
          mnMajor,
          bytes};
}

bool tile::emu::inBounds(Thread &t, const SharedOperand &o, unsigned mn, unsigned k, SiteId site) {
  for (unsigned i = 0; i < mn; ++i)
    for (unsigned x = 0; x < k; x += std::max(1u, k - 1)) {
      uint32_t at = o.at(i, x);
      if (at >= kSharedReserved && at + o.bytes <= t.cta->sharedBytes)
        continue;
      report(
          t, FindingKind::OutOfBounds, site,
          formatted("the matrix descriptor reads shared offset {}, where the kernel has {} bytes",
                    int64_t(at) - kSharedReserved, t.cta->sharedBytes - kSharedReserved));
      return false;
    }
  return true;
}

void tile::emu::recordReads(Thread &t, Warpgroup &g, Tick number, const SharedOperand &o,
                            unsigned mn, unsigned k, SiteId site) {
  AsyncAccess access{&t, t.clock, g.component, number, site, "a matrix product"};
  unsigned perRun = 16 / o.bytes;
  if (!o.mnMajor) {
    for (unsigned i = 0; i < mn; ++i)
      for (unsigned x = 0; x < k; x += perRun)
        asyncSharedRead(access, *t.cta, o.at(i, x), std::min(16u, (k - x) * o.bytes));
  } else {
    for (unsigned x = 0; x < k; ++x)
      for (unsigned i = 0; i < mn; i += perRun)
        asyncSharedRead(access, *t.cta, o.at(i, x), std::min(16u, (mn - i) * o.bytes));
  }
}

template <typename T>
static T readElement(const uint8_t *shared, const SharedOperand &o, Element e, unsigned mn,
                     unsigned k) {
  uint64_t word = 0;
  std::memcpy(&word, shared + o.at(mn, k), o.bytes);
  return valueOf<T>(e, word);
}

/// Computes in T: double, or uint64_t for numbers of a ring.
template <typename T> static void computeIn(Warpgroup &g, Tick number) {
  Product &p = g.product(number);
  const MatrixShape &s = p.shape;
  const uint8_t *shared = g.cta->shared.get();
  Thread &reporter = g.cta->threads[g.index * 128];
  std::vector<T> a(64 * s.k), b(size_t(s.k) * s.n), d(64 * size_t(s.n));
  unsigned aBytes = elementBits(s.a) / 8, bBytes = elementBits(s.b) / 8;
  if (p.flags & kAInRegisters) {
    unsigned bits = elementBits(s.a), per = 32 / bits;
    for (unsigned lane = 0; lane < 128; ++lane)
      for (unsigned r = 0; r < 4; ++r)
        for (unsigned e = 0; e < per; ++e) {
          unsigned row = 16 * (lane / 32) + lane % 32 / 4 + 8 * (r % 2);
          unsigned column = per * (lane % 4) + 4 * per * (r / 2) + e;
          uint64_t word = uint64_t(p.aWords[4 * lane + r]) >> (e * bits);
          a[row * s.k + column] = valueOf<T>(s.a, word & ((uint64_t(1) << bits) - 1));
        }
  } else {
    SharedOperand o = decodeDescriptor(reporter, p.descriptorA, p.flags & kTransA, aBytes, p.site);
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned x = 0; x < s.k; ++x)
        a[i * s.k + x] = readElement<T>(shared, o, s.a, i, x);
  }
  SharedOperand o = decodeDescriptor(reporter, p.descriptorB, p.flags & kTransB, bBytes, p.site);
  for (unsigned x = 0; x < s.k; ++x)
    for (unsigned j = 0; j < s.n; ++j)
      b[x * s.n + j] = readElement<T>(shared, o, s.b, j, x);
  if (bool(p.flags & kNegateA) != bool(p.flags & kNegateB))
    for (T &v : a)
      v = T() - v;
  unsigned registers = s.n * (s.accumulator == Element::F16 ? 1u : 2u) / 4;
  auto forAccumulators = [&](auto body) {
    for (unsigned lane = 0; lane < 128; ++lane)
      for (unsigned i = 0; i < s.n / 2u; ++i) {
        unsigned row = 16 * (lane / 32) + lane % 32 / 4 + 8 * (i / 2 % 2);
        unsigned column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
        unsigned r = s.accumulator == Element::F16 ? i / 2 : i;
        body(g.values[lane][p.slots[lane * registers + r]],
             s.accumulator == Element::F16 ? 16 * (i % 2) : 0, d[row * s.n + column]);
      }
  };
  if (p.scaleD)
    forAccumulators(
        [&](uint32_t word, unsigned shift, T &v) { v = valueOf<T>(s.accumulator, word >> shift); });
  multiply(64, s.n, s.k, a.data(), b.data(), d.data());
  forAccumulators([&](uint32_t &word, unsigned shift, T &v) {
    auto bits = uint32_t(roundAccumulator(s.accumulator, v, s.saturate));
    if (s.accumulator == Element::F16)
      word = (word & ~(0xffffu << shift)) | bits << shift;
    else
      word = bits;
  });
  Counters &counters = g.cta->cluster->worker->counters;
  ++counters.mmas;
  counters.multiplyAdds += 64ull * s.n * s.k;
}

void tile::emu::compute(Warpgroup &g, Tick number) {
  if (g.product(number).shape.algebraic)
    computeIn<uint64_t>(g, number);
  else
    computeIn<double>(g, number);
}
