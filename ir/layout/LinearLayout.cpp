//===- LinearLayout.cpp - the layout algebra ------------------------------===//
//
// Everything works on packed rows (one word for each input bit), so that
// composition is XORs of words and inversion one elimination of words.
//
//===----------------------------------------------------------------------===//
#include "ir/layout/LinearLayout.h"
#include "ir/layout/GF2.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>

using namespace tile::layout;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Dimension lists
//===----------------------------------------------------------------------===//

static bool isPowerOfTwo(int32_t size) { return size > 0 && llvm::isPowerOf2_32(size); }

static const DimValue *findDim(ArrayRef<DimValue> dims, Dim d) {
  const DimValue *it = llvm::find_if(dims, [&](const DimValue &v) { return v.first == d; });
  return it == dims.end() ? nullptr : it;
}

static unsigned totalBits(ArrayRef<DimValue> dims) {
  unsigned bits = 0;
  for (const DimValue &d : dims)
    bits += log2Exact(d.second);
  return bits;
}

/// The first bit of `d` when `dims` are packed in order.
static unsigned shiftOf(ArrayRef<DimValue> dims, Dim d) {
  unsigned shift = 0;
  for (const DimValue &v : dims) {
    if (v.first == d)
      return shift;
    shift += log2Exact(v.second);
  }
  assert(false && "no such dimension");
  return 0;
}

static uint64_t maskOf(ArrayRef<DimValue> dims, Dim d) {
  const DimValue *v = findDim(dims, d);
  return v ? lowBits(log2Exact(v->second)) << shiftOf(dims, d) : 0;
}

static bool isValid(ArrayRef<DimValue> dims) {
  for (size_t i = 0; i < dims.size(); ++i)
    if (!isPowerOfTwo(dims[i].second) || findDim(dims.take_front(i), dims[i].first))
      return false;
  return totalBits(dims) <= 62;
}

/// Moves the bits of a packed coordinate over `from` to their places over `to`;
/// dimensions that `to` lacks are dropped. Bits beyond a size in `to` must be 0.
static uint64_t repack(uint64_t packed, ArrayRef<DimValue> from, ArrayRef<DimValue> to) {
  uint64_t result = 0;
  for (const DimValue &d : from) {
    unsigned bits = log2Exact(d.second);
    uint64_t field = packed & lowBits(bits);
    packed >>= bits;
    if (field && findDim(to, d.first))
      result |= field << shiftOf(to, d.first);
  }
  return result;
}

static SmallVector<DimValue, 4> pick(ArrayRef<DimValue> dims, ArrayRef<Dim> names) {
  SmallVector<DimValue, 4> kept;
  for (const DimValue &d : dims)
    if (llvm::is_contained(names, d.first))
      kept.push_back(d);
  return kept;
}

static SmallVector<DimValue, 4> reorder(ArrayRef<DimValue> dims, ArrayRef<Dim> order) {
  assert(dims.size() == order.size() && "expected a permutation of the dimensions");
  SmallVector<DimValue, 4> result;
  for (Dim d : order) {
    const DimValue *v = findDim(dims, d);
    assert(v && "expected a permutation of the dimensions");
    result.push_back(*v);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

std::optional<LinearLayout> LinearLayout::create(ArrayRef<InDim> ins, ArrayRef<DimValue> outs) {
  LinearLayout l;
  l.outDims.assign(outs.begin(), outs.end());
  if (!isValid(outs))
    return std::nullopt;
  for (const InDim &in : ins) {
    if (in.second.size() > 30)
      return std::nullopt;
    l.inDims.push_back({in.first, 1 << in.second.size()});
    for (const Basis &basis : in.second) {
      if (basis.size() != outs.size())
        return std::nullopt;
      uint64_t row = 0;
      unsigned shift = 0;
      for (auto [coordinate, out] : llvm::zip(basis, outs)) {
        if (coordinate < 0 || coordinate >= out.second)
          return std::nullopt;
        row |= uint64_t(coordinate) << shift;
        shift += log2Exact(out.second);
      }
      l.packedRows.push_back(row);
    }
  }
  if (!isValid(l.inDims))
    return std::nullopt;
  return l;
}

LinearLayout LinearLayout::fromRows(ArrayRef<DimValue> ins, ArrayRef<DimValue> outs,
                                    ArrayRef<uint64_t> rows) {
  assert(isValid(ins) && isValid(outs) && totalBits(ins) == rows.size());
  LinearLayout l;
  l.inDims.assign(ins.begin(), ins.end());
  l.outDims.assign(outs.begin(), outs.end());
  l.packedRows.assign(rows.begin(), rows.end());
  return l;
}

LinearLayout LinearLayout::identity1D(int32_t size, Dim in, Dim out) {
  return strided1D(size, 1, in, out);
}

LinearLayout LinearLayout::zeros1D(int32_t inSize, Dim in, Dim out, int32_t outSize) {
  SmallVector<uint64_t, 8> rows(log2Exact(inSize), 0);
  return fromRows({{in, inSize}}, {{out, outSize}}, rows);
}

LinearLayout LinearLayout::strided1D(int32_t size, int32_t stride, Dim in, Dim out) {
  SmallVector<uint64_t, 8> rows;
  for (uint64_t i = stride; i < uint64_t(size) * stride; i *= 2)
    rows.push_back(i);
  return fromRows({{in, size}}, {{out, size * stride}}, rows);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

bool LinearLayout::hasIn(Dim d) const { return findDim(inDims, d); }
bool LinearLayout::hasOut(Dim d) const { return findDim(outDims, d); }

int32_t LinearLayout::inSize(Dim d) const {
  const DimValue *v = findDim(inDims, d);
  return v ? v->second : 1;
}
int32_t LinearLayout::outSize(Dim d) const {
  const DimValue *v = findDim(outDims, d);
  return v ? v->second : 1;
}
int32_t LinearLayout::inSizeLog2(Dim d) const { return log2Exact(inSize(d)); }
int32_t LinearLayout::outSizeLog2(Dim d) const { return log2Exact(outSize(d)); }
int32_t LinearLayout::totalOutSizeLog2() const { return totalBits(outDims); }

unsigned LinearLayout::inShift(Dim in) const { return shiftOf(inDims, in); }
unsigned LinearLayout::outShift(Dim out) const { return shiftOf(outDims, out); }
uint64_t LinearLayout::inMask(Dim in) const { return maskOf(inDims, in); }
uint64_t LinearLayout::outMask(Dim out) const { return maskOf(outDims, out); }

ArrayRef<uint64_t> LinearLayout::rows(Dim in) const {
  if (!hasIn(in))
    return {};
  return ArrayRef<uint64_t>(packedRows).slice(inShift(in), inSizeLog2(in));
}

Basis LinearLayout::basis(Dim in, unsigned bit) const {
  assert(int32_t(bit) < inSizeLog2(in) && "no such input bit");
  uint64_t row = rows(in)[bit];
  Basis result;
  for (const DimValue &out : outDims) {
    result.push_back(int32_t(row & (out.second - 1)));
    row >>= log2Exact(out.second);
  }
  return result;
}

int32_t LinearLayout::basis(Dim in, unsigned bit, Dim out) const {
  if (!hasOut(out))
    return 0;
  return int32_t((rows(in)[bit] & outMask(out)) >> outShift(out));
}

uint64_t LinearLayout::image(uint64_t packedIn) const {
  uint64_t result = 0;
  for (; packedIn; packedIn &= packedIn - 1)
    result ^= packedRows[llvm::countr_zero(packedIn)];
  return result;
}

Position LinearLayout::apply(ArrayRef<DimValue> position) const {
  uint64_t packed = 0;
  for (const DimValue &p : position)
    if (hasIn(p.first)) {
      assert(p.second >= 0 && p.second < inSize(p.first) && "position out of range");
      packed |= uint64_t(p.second) << inShift(p.first);
    }
  uint64_t out = image(packed);
  Position result;
  for (const DimValue &d : outDims) {
    result.push_back({d.first, int32_t(out & (d.second - 1))});
    out >>= log2Exact(d.second);
  }
  return result;
}

int32_t LinearLayout::rank() const {
  XorSpan span;
  for (uint64_t row : packedRows)
    span.insert(row);
  return span.dimension();
}

uint64_t LinearLayout::freeBits() const {
  XorSpan span;
  uint64_t free = 0;
  for (auto [i, row] : llvm::enumerate(packedRows))
    if (!span.insert(row))
      free |= 1ull << i;
  return free;
}

Position LinearLayout::freeVariableMasks() const {
  uint64_t free = freeBits();
  Position result;
  for (const DimValue &in : inDims) {
    result.push_back({in.first, int32_t(free & (in.second - 1))});
    free >>= log2Exact(in.second);
  }
  return result;
}

bool LinearLayout::sublayoutIsZero(ArrayRef<Dim> ins, ArrayRef<Dim> outs) const {
  uint64_t mask = 0;
  for (Dim out : outs)
    mask |= outMask(out);
  return llvm::all_of(ins, [&](Dim in) {
    return llvm::all_of(rows(in), [&](uint64_t row) { return (row & mask) == 0; });
  });
}

//===----------------------------------------------------------------------===//
// Algebra
//===----------------------------------------------------------------------===//

/// The dimensions of a direct sum: sizes multiply, a's names come first.
static SmallVector<DimValue, 4> productDims(ArrayRef<DimValue> a, ArrayRef<DimValue> b) {
  SmallVector<DimValue, 4> result(a.begin(), a.end());
  for (const DimValue &d : b) {
    auto *it = llvm::find_if(result, [&](const DimValue &v) { return v.first == d.first; });
    if (it == result.end())
      result.push_back(d);
    else
      it->second *= d.second;
  }
  return result;
}

namespace tile::layout {

LinearLayout operator*(const LinearLayout &a, const LinearLayout &b) {
  LinearLayout result;
  result.inDims = productDims(a.inDims, b.inDims);
  result.outDims = productDims(a.outDims, b.outDims);
  for (const DimValue &in : result.inDims) {
    for (uint64_t row : a.rows(in.first))
      result.packedRows.push_back(repack(row, a.outDims, result.outDims));
    for (uint64_t row : b.rows(in.first)) {
      uint64_t moved = 0;
      for (const DimValue &out : b.outDims) {
        uint64_t field = row & (out.second - 1);
        row >>= log2Exact(out.second);
        moved |= field << (result.outShift(out.first) + a.outSizeLog2(out.first));
      }
      result.packedRows.push_back(moved);
    }
  }
  return result;
}

llvm::hash_code hash_value(const LinearLayout &l) {
  return llvm::hash_combine(llvm::hash_combine_range(l.packedRows.begin(), l.packedRows.end()),
                            llvm::hash_combine_range(l.inDims.begin(), l.inDims.end()),
                            llvm::hash_combine_range(l.outDims.begin(), l.outDims.end()));
}

} // namespace tile::layout

LinearLayout LinearLayout::compose(const LinearLayout &outer) const {
  for ([[maybe_unused]] const DimValue &out : outDims)
    assert(outer.inSize(out.first) >= out.second && "the outer map does not take these outputs");
  LinearLayout result;
  result.inDims = inDims;
  result.outDims = outer.outDims;
  for (uint64_t row : packedRows)
    result.packedRows.push_back(outer.image(repack(row, outDims, outer.inDims)));
  return result;
}

LinearLayout LinearLayout::pseudoInvert() const {
  XorSpan span;
  for (auto [i, row] : llvm::enumerate(packedRows))
    span.insert(row, 1ull << i);
  LinearLayout result;
  result.inDims = outDims;
  result.outDims = inDims;
  for (unsigned bit = 0, e = totalBits(outDims); bit < e; ++bit) {
    std::optional<uint64_t> in = span.solve(1ull << bit);
    assert(in && "not surjective");
    result.packedRows.push_back(in.value_or(0));
  }
  return result;
}

LinearLayout LinearLayout::invertAndCompose(const LinearLayout &other) const {
  return compose(other.pseudoInvert());
}

/// The dimensions of a quotient, or failure if a size does not divide.
static bool quotientDims(ArrayRef<DimValue> dims, ArrayRef<DimValue> divisor,
                         llvm::SmallVectorImpl<DimValue> &result) {
  for (const DimValue &d : divisor)
    if (d.second > 1 && !findDim(dims, d.first))
      return false;
  for (const DimValue &d : dims) {
    const DimValue *by = findDim(divisor, d.first);
    if (by && by->second > d.second)
      return false;
    result.push_back({d.first, by ? d.second / by->second : d.second});
  }
  return true;
}

/// Divides by guessing the quotient's rows (they can only come from one place)
/// and multiplying back.
static std::optional<LinearLayout> divide(const LinearLayout &whole, const LinearLayout &divisor,
                                          bool left) {
  SmallVector<DimValue, 4> ins, outs;
  if (!quotientDims(whole.ins(), divisor.ins(), ins) ||
      !quotientDims(whole.outs(), divisor.outs(), outs))
    return std::nullopt;
  SmallVector<uint64_t, 16> rows;
  for (const DimValue &in : ins) {
    unsigned skip = left ? divisor.inSizeLog2(in.first) : 0;
    for (uint64_t row : whole.rows(in.first).slice(skip, log2Exact(in.second))) {
      uint64_t moved = 0;
      unsigned shift = 0;
      for (const DimValue &out : outs) {
        uint64_t field = (row & whole.outMask(out.first)) >> whole.outShift(out.first);
        if (left)
          field >>= divisor.outSizeLog2(out.first);
        moved |= (field & (out.second - 1)) << shift;
        shift += log2Exact(out.second);
      }
      rows.push_back(moved);
    }
  }
  LinearLayout quotient = LinearLayout::fromRows(ins, outs, rows);
  LinearLayout product = left ? divisor * quotient : quotient * divisor;
  auto names = [](ArrayRef<DimValue> dims) {
    return llvm::map_to_vector(dims, [](const DimValue &d) { return d.first; });
  };
  if (product.ins().size() != whole.ins().size() || product.outs().size() != whole.outs().size() ||
      product.transposeIns(names(whole.ins())).transposeOuts(names(whole.outs())) != whole)
    return std::nullopt;
  return quotient;
}

std::optional<LinearLayout> LinearLayout::divideLeft(const LinearLayout &divisor) const {
  return divide(*this, divisor, /*left=*/true);
}
std::optional<LinearLayout> LinearLayout::divideRight(const LinearLayout &divisor) const {
  return divide(*this, divisor, /*left=*/false);
}

LinearLayout LinearLayout::sublayout(ArrayRef<Dim> ins, ArrayRef<Dim> outs) const {
  LinearLayout result;
  result.inDims = pick(inDims, ins);
  result.outDims = pick(outDims, outs);
  for (const DimValue &in : result.inDims)
    for (uint64_t row : rows(in.first))
      result.packedRows.push_back(repack(row, outDims, result.outDims));
  return result;
}

LinearLayout LinearLayout::transposeIns(ArrayRef<Dim> order) const {
  LinearLayout result;
  result.inDims = reorder(inDims, order);
  result.outDims = outDims;
  for (Dim d : order)
    llvm::append_range(result.packedRows, rows(d));
  return result;
}

LinearLayout LinearLayout::transposeOuts(ArrayRef<Dim> order) const {
  LinearLayout result(*this);
  result.outDims = reorder(outDims, order);
  for (uint64_t &row : result.packedRows)
    row = repack(row, outDims, result.outDims);
  return result;
}

LinearLayout LinearLayout::reshapeOuts(ArrayRef<DimValue> outs) const {
  assert(totalBits(outs) == totalBits(outDims) && "a reshape keeps the total size");
  return fromRows(inDims, outs, packedRows);
}

LinearLayout LinearLayout::reshapeIns(ArrayRef<DimValue> ins) const {
  return fromRows(ins, outDims, packedRows);
}

LinearLayout LinearLayout::concatIns(const LinearLayout &other) const {
  assert(outDims == other.outDims && "expected equal outputs");
  LinearLayout result(*this);
  llvm::append_range(result.inDims, other.inDims);
  llvm::append_range(result.packedRows, other.packedRows);
  assert(isValid(result.inDims) && "input dimension on both sides");
  return result;
}

LinearLayout LinearLayout::concatOuts(const LinearLayout &other) const {
  assert(inDims == other.inDims && "expected equal inputs");
  LinearLayout result(*this);
  llvm::append_range(result.outDims, other.outDims);
  assert(isValid(result.outDims) && "output dimension on both sides");
  unsigned shift = totalBits(outDims);
  for (auto [row, more] : llvm::zip(result.packedRows, other.packedRows))
    row |= more << shift;
  return result;
}

LinearLayout LinearLayout::renameOut(Dim from, Dim to) const {
  assert((from == to || !hasOut(to)) && "name in use");
  LinearLayout result(*this);
  for (DimValue &d : result.outDims)
    if (d.first == from)
      d.first = to;
  return result;
}

LinearLayout LinearLayout::renameIn(Dim from, Dim to) const {
  assert((from == to || !hasIn(to)) && "name in use");
  LinearLayout result(*this);
  for (DimValue &d : result.inDims)
    if (d.first == from)
      d.first = to;
  return result;
}

LinearLayout LinearLayout::removeInBits(Dim in, int32_t mask) const {
  if (!mask)
    return *this;
  LinearLayout result;
  result.inDims = inDims;
  result.outDims = outDims;
  for (DimValue &d : result.inDims) {
    ArrayRef<uint64_t> all = rows(d.first);
    int32_t size = 1;
    for (auto [bit, row] : llvm::enumerate(all)) {
      if (d.first == in && (mask >> bit & 1))
        continue;
      result.packedRows.push_back(row);
      size *= 2;
    }
    d.second = size;
  }
  return result;
}

LinearLayout LinearLayout::removeZeroBases(Dim in) const {
  int32_t mask = 0;
  for (auto [bit, row] : llvm::enumerate(rows(in)))
    if (!row)
      mask |= 1 << bit;
  return removeInBits(in, mask);
}

std::string LinearLayout::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << '{';
  llvm::interleaveComma(inDims, os, [&](const DimValue &in) {
    os << in.first.name() << " = [";
    for (int32_t bit = 0, e = log2Exact(in.second); bit < e; ++bit) {
      os << (bit ? ", [" : "[");
      llvm::interleaveComma(basis(in.first, bit), os);
      os << ']';
    }
    os << ']';
  });
  os << '}';
  return text;
}
