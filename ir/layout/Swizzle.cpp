//===- Swizzle.cpp - vectors, shared-memory layouts and bank conflicts ----===//
#include "ir/layout/Swizzle.h"
#include "ir/layout/GF2.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <array>
#include <cassert>

using namespace tile::layout;
using llvm::ArrayRef;
using llvm::SmallVector;

using Vectors = SmallVector<uint64_t, 16>;

static constexpr unsigned kMaxVectorBytes = 16;
static constexpr unsigned kWordBytes = 4;
static constexpr unsigned kRowBytes = 128; // all banks once
static constexpr unsigned kLaneBits = 5;

/// Lanes that one wavefront serves with accesses of `bytes` each, log2.
static unsigned wavefrontLaneBits(unsigned bytes) {
  return std::min(kLaneBits, log2Exact(kRowBytes / std::max(bytes, kWordBytes)));
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

VectorAccess tile::layout::widestVector(const LinearLayout &layout, Dim out, unsigned maxLog2) {
  VectorAccess result;
  if (layout.hasOut(out)) {
    XorSpan registers;
    for (auto [bit, row] : llvm::enumerate(layout.rows(Dim::reg())))
      registers.insert(row, 1ull << bit);
    uint64_t others = 0; // coordinate bits that lanes and warps touch
    for (const DimValue &in : layout.ins())
      if (in.first != Dim::reg())
        for (uint64_t row : layout.rows(in.first))
          others |= row;
    unsigned shift = layout.outShift(out);
    unsigned limit = std::min<unsigned>(maxLog2, layout.outSizeLog2(out));
    for (unsigned i = 0; i < limit; ++i) {
      auto mask = registers.solve(1ull << (shift + i));
      if (!mask || (others >> (shift + i) & 1))
        break;
      result.masks.push_back(int32_t(*mask));
    }
  }
  // One register of each coset, at the group's lowest position.
  int32_t count = layout.inSize(Dim::reg());
  uint64_t low = result.log2() ? lowBits(result.log2()) << layout.outShift(out) : 0;
  for (int32_t reg = 0; reg < count; ++reg)
    if (!(layout.image(reg) & low)) // registers are the lowest input bits
      result.firstRegisters.push_back(reg);
  return result;
}

LinearLayout tile::layout::offsetsOf(const LinearLayout &access, const LinearLayout &shared) {
  return access.compose(shared.invert());
}

//===----------------------------------------------------------------------===//
// Wavefronts
//===----------------------------------------------------------------------===//

unsigned tile::layout::countWavefronts(ArrayRef<uint64_t> laneSteps, unsigned bytes) {
  unsigned laneBits = wavefrontLaneBits(bytes);
  // Conflicts do not change when all addresses move by one XOR constant, so
  // one group of lanes stands for all.
  std::array<SmallVector<uint64_t, 32>, 32> words; // distinct words by bank
  for (uint64_t lane = 0; lane < 1ull << std::min<size_t>(laneBits, laneSteps.size()); ++lane) {
    uint64_t address = 0;
    for (uint64_t bits = lane; bits; bits &= bits - 1)
      address ^= laneSteps[llvm::countr_zero(bits)];
    uint64_t first = address / kWordBytes;
    for (uint64_t word = first; word < first + std::max(1u, bytes / kWordBytes); ++word)
      if (!llvm::is_contained(words[word % 32], word))
        words[word % 32].push_back(word);
  }
  size_t worst = 0;
  for (auto &bank : words)
    worst = std::max(worst, bank.size());
  return unsigned(worst) << (kLaneBits - laneBits);
}

unsigned tile::layout::countWavefronts(const LinearLayout &access, const LinearLayout &shared,
                                       unsigned elementBytes, unsigned vectorLog2) {
  LinearLayout offsets = offsetsOf(access, shared);
  SmallVector<uint64_t> laneSteps;
  for (uint64_t row : offsets.rows(Dim::lane()))
    laneSteps.push_back((row & ~lowBits(vectorLog2)) * elementBytes);
  // As for lanes, one vector of registers stands for all.
  return countWavefronts(laneSteps, elementBytes << vectorLog2) *
         (unsigned(access.inSize(Dim::reg())) >> vectorLog2);
}

unsigned tile::layout::idealWavefronts(const LinearLayout &access, unsigned elementBytes,
                                       unsigned vectorLog2) {
  unsigned laneBits = wavefrontLaneBits(elementBytes << vectorLog2);
  return (1u << (kLaneBits - laneBits)) * (unsigned(access.inSize(Dim::reg())) >> vectorLog2);
}

//===----------------------------------------------------------------------===//
// The swizzle for a pair of layouts
//
// Offsets split into low bits (a row of 128 bytes, all banks once) and high
// bits. Two lanes conflict when their difference lies in the span S of the high
// bits (same bank, other row). Let P_A be the span of what a wavefront of the
// write touches at once, P_B of the read: at most a row each. The access is
// free of conflicts exactly if S meets P_A and P_B in zero only. Two subspaces
// of equal dimension always have a common complement:
//
//   A' and B' complete the intersection I to P_A and P_B;
//   S = { a_i + b_i } + (whatever completes P_A + P_B to the space),
//
// and the pairs a_i + b_i are the XOR swizzle.
//===----------------------------------------------------------------------===//

static Vectors intersection(ArrayRef<uint64_t> a, ArrayRef<uint64_t> b) {
  XorSpan span; // combination: the part that comes from a
  for (uint64_t v : a)
    span.insert(v, v);
  Vectors result;
  for (uint64_t v : b) {
    uint64_t fromA = 0;
    span.reduce(v, fromA);
    if (v)
      span.insert(v, fromA);
    else if (fromA)
      result.push_back(fromA);
  }
  return result;
}

static bool insertAll(XorSpan &span, ArrayRef<uint64_t> vectors) {
  bool grew = false;
  for (uint64_t v : vectors)
    grew |= span.insert(v);
  return grew;
}

namespace {
struct SwizzleBuilder {
  const LinearLayout &write, &read;
  unsigned elementBytes;
  unsigned bits = write.totalOutSizeLog2();
  unsigned rowBits = log2Exact(kRowBytes / elementBytes);
  unsigned wordBits = elementBytes < kWordBytes ? log2Exact(kWordBytes / elementBytes) : 0;

  /// The arrangement whose low offset bits are `vector`; the sides use the
  /// first writeLog2 and readLog2 of them.
  LinearLayout build(ArrayRef<uint64_t> vector, unsigned writeLog2, unsigned readLog2) const;

private:
  Vectors wavefrontSpace(const LinearLayout &access, unsigned vectorLog2,
                         ArrayRef<uint64_t> low) const;
  void complete(Vectors &space, ArrayRef<uint64_t> preferred, unsigned size) const;
};
} // namespace

/// What one wavefront touches at once: its vector or word, and its lanes.
Vectors SwizzleBuilder::wavefrontSpace(const LinearLayout &access, unsigned vectorLog2,
                                       ArrayRef<uint64_t> low) const {
  Vectors space(low.take_front(std::max(vectorLog2, std::min<unsigned>(wordBits, low.size()))));
  XorSpan span;
  insertAll(span, space);
  unsigned laneBits = wavefrontLaneBits(elementBytes << vectorLog2);
  ArrayRef<uint64_t> lanes = access.rows(Dim::lane());
  for (uint64_t lane : lanes.take_front(std::min<size_t>(laneBits, lanes.size())))
    if (span.insert(lane))
      space.push_back(lane);
  return space;
}

/// Grows a basis to `size` vectors, from `preferred`, then from what threads
/// hold, then from single coordinate bits.
void SwizzleBuilder::complete(Vectors &space, ArrayRef<uint64_t> preferred, unsigned size) const {
  XorSpan span;
  insertAll(span, space);
  auto addFrom = [&](ArrayRef<uint64_t> from) {
    for (uint64_t v : from)
      if (space.size() < size && span.insert(v))
        space.push_back(v);
  };
  addFrom(preferred);
  for (Dim d : {Dim::lane(), Dim::reg(), Dim::warp()}) {
    addFrom(write.rows(d));
    addFrom(read.rows(d));
  }
}

LinearLayout SwizzleBuilder::build(ArrayRef<uint64_t> vector, unsigned writeLog2,
                                   unsigned readLog2) const {
  // A word holds several small elements; what fills it matters to nobody.
  Vectors low(vector);
  complete(low, {}, std::min(std::max<unsigned>(wordBits, low.size()), bits));

  unsigned row = std::min(rowBits, bits);
  Vectors a = wavefrontSpace(write, writeLog2, low), b = wavefrontSpace(read, readLog2, low);
  Vectors lowThenB(low);
  lowThenB.append(b.begin(), b.end());
  Vectors lowThenA(low);
  lowThenA.append(a.begin(), a.end());
  complete(a, lowThenB, row);
  complete(b, lowThenA, row);

  // I first, then the pairs, then the rest of the space.
  Vectors columns(low); // the row: a basis of the wider side's space
  bool readIsWider = readLog2 > writeLog2;
  const Vectors &wide = readIsWider ? b : a, &narrow = readIsWider ? a : b;
  complete(columns, wide, row);
  Vectors shared = intersection(wide, narrow);
  XorSpan seenWide, seenNarrow;
  insertAll(seenWide, shared);
  insertAll(seenNarrow, shared);
  Vectors onlyWide, onlyNarrow;
  // Vectors at the end of the row are paired first: the low bits of the offset
  // are the vector and should stay as they are.
  for (uint64_t v : llvm::reverse(columns))
    if (seenWide.insert(v))
      onlyWide.push_back(v);
  for (uint64_t v : llvm::reverse(narrow))
    if (seenNarrow.insert(v))
      onlyNarrow.push_back(v);
  assert(onlyWide.size() == onlyNarrow.size() && "spaces of one size");
  for (auto [v, w] : llvm::zip(llvm::reverse(onlyWide), llvm::reverse(onlyNarrow)))
    columns.push_back(v ^ w);
  complete(columns, {}, bits);
  assert(columns.size() == bits && "the layouts do not cover the block");
  return LinearLayout::fromRows({{Dim::offset(), 1 << bits}}, write.outs(), columns);
}

SharedLayout tile::layout::optimalSwizzle(const LinearLayout &write, const LinearLayout &readIn,
                                          unsigned elementBytes) {
  SmallVector<Dim, 4> order;
  for (const DimValue &out : write.outs())
    order.push_back(out.first);
  LinearLayout read = readIn.transposeOuts(order);
  assert(write.outs() == read.outs() && "exchange of different blocks");
  unsigned limit = log2Exact(kMaxVectorBytes / elementBytes);
  SwizzleBuilder builder{write, read, elementBytes};

  // Registers that both sides hold together make the vector; one side may go
  // on alone, the other then accesses parts of its vectors.
  Vectors common = intersection(write.rows(Dim::reg()), read.rows(Dim::reg()));
  common.resize(std::min<size_t>(common.size(), limit));
  auto extended = [&](const LinearLayout &side) {
    Vectors vector(common);
    XorSpan span;
    insertAll(span, vector);
    for (uint64_t v : side.rows(Dim::reg()))
      if (vector.size() < limit && span.insert(v))
        vector.push_back(v);
    return vector;
  };

  std::optional<SharedLayout> best;
  unsigned bestCost = 0;
  auto consider = [&](ArrayRef<uint64_t> vector, unsigned writeLog2, unsigned readLog2) {
    LinearLayout layout = builder.build(vector, writeLog2, readLog2);
    auto vectorOf = [&](const LinearLayout &side) {
      return widestVector(offsetsOf(side, layout), Dim::offset(), limit).log2();
    };
    unsigned w = vectorOf(write), r = vectorOf(read);
    unsigned cost = countWavefronts(write, layout, elementBytes, w) +
                    countWavefronts(read, layout, elementBytes, r) +
                    (write.inSize(Dim::reg()) >> w) + (read.inSize(Dim::reg()) >> r);
    if (best && cost >= bestCost)
      return;
    best = SharedLayout{layout, w, r};
    bestCost = cost;
  };
  unsigned both = common.size();
  consider(common, both, both);
  Vectors wideWrite = extended(write), wideRead = extended(read);
  for (unsigned size = both + 1; size <= wideWrite.size(); ++size)
    consider(ArrayRef(wideWrite).take_front(size), size, both);
  for (unsigned size = both + 1; size <= wideRead.size(); ++size)
    consider(ArrayRef(wideRead).take_front(size), both, size);
  return *best;
}

SharedLayout tile::layout::swizzleOfRows(const LinearLayout &write, const LinearLayout &readIn,
                                         unsigned elementBytes, unsigned rowLog2) {
  SmallVector<Dim, 4> order;
  for (const DimValue &out : write.outs())
    order.push_back(out.first);
  LinearLayout read = readIn.transposeOuts(order);
  ArrayRef<uint64_t> row = read.rows(Dim::reg()).take_front(rowLog2), own = write.rows(Dim::reg());
  unsigned written = 0; // of a row, at once
  while (written < row.size() && llvm::is_contained(own, row[written]))
    ++written;
  SwizzleBuilder builder{write, read, elementBytes};
  LinearLayout layout = builder.build(row, written, rowLog2);
  return {layout, widestVector(offsetsOf(write, layout), Dim::offset(), rowLog2).log2(), rowLog2};
}
