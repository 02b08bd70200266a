//===- RowMajorBuffer.cpp - blocks in shared memory as they are in global memory ---===//
#include "passes/copies/RowMajorBuffer.h"
#include "ir/layout/LinearLayout.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;
using layout::Dim;

cta::BufferType tile::rowMajorBuffer(RankedTensorType type) {
  SmallVector<layout::DimValue> dims;
  SmallVector<uint64_t, 16> rows;
  unsigned shift = unsigned(llvm::Log2_64(type.getNumElements()));
  for (int d = int(type.getRank()) - 1; d >= 0; --d) {
    unsigned bits = unsigned(llvm::Log2_64(type.getDimSize(d)));
    shift -= bits;
    for (unsigned bit = 0; bit < bits; ++bit)
      rows.push_back(1ull << (shift + bit));
  }
  for (auto [d, size] : llvm::enumerate(type.getShape()))
    dims.push_back({Dim::dim(unsigned(d)), int32_t(size)});
  auto image =
      layout::LinearLayout::fromRows({{Dim::offset(), int32_t(type.getNumElements())}}, dims, rows);
  return cta::BufferType::get(type.getContext(), type.getShape(), type.getElementType(),
                              cta::LayoutAttr::get(type.getContext(), image));
}
