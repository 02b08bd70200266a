//===- LinearLayout.cpp - making, reading and rearranging layouts ---------===//
//
// Everything works on packed rows (one word for each input bit).
//
//===----------------------------------------------------------------------===//
#include "ir/layout/LinearLayout.h"
#include "ir/layout/DimLists.h"
#include "ir/layout/GF2.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"
#include <cassert>

using namespace tile::layout;
using namespace tile::layout::dims;
using llvm::ArrayRef;
using llvm::SmallVector;

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
// Parts and other orders
//===----------------------------------------------------------------------===//

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
