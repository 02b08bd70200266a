//===- LayoutAlgebra.cpp - products, inverses and quotients of layouts ----===//
//
// On packed rows: composition is XORs of words, and inversion one elimination of words.
//
//===----------------------------------------------------------------------===//
#include "ir/layout/DimLists.h"
#include "ir/layout/GF2.h"
#include "ir/layout/LinearLayout.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVectorExtras.h"

using namespace tile::layout;
using namespace tile::layout::dims;
using llvm::ArrayRef;
using llvm::SmallVector;

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
