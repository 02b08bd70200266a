//===- TensorBoxes.cpp - the boxes that a tensor map moves ----------------===//
#include "passes/lowering/core/TensorBoxes.h"
#include "ir/Kernel.h"
#include "ir/MapChoices.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

cta::MapAttr lowering::mapAttr(Value map) {
  BlockArgument parameter = cta::mapsBehind(map).front(); // boxes of all are alike
  return cast<func::FuncOp>(parameter.getOwner()->getParentOp())
      .getArgAttrOfType<cta::MapAttr>(parameter.getArgNumber(), cta::kTensorMapAttr);
}

void lowering::forEachBox(cta::MapAttr map, const LinearLayout &image, unsigned bytes,
                          ArrayRef<int32_t> dims,
                          llvm::function_ref<void(ArrayRef<int64_t>, int64_t)> body) {
  LinearLayout offsets = image.invert();
  SmallVector<int64_t> at(dims.size(), 0), sizes;
  for (int32_t dim : dims)
    sizes.push_back(dim < 0 ? 1 : image.outSize(Dim::dim(dim)));
  while (true) {
    layout::Position position;
    for (auto [dim, coordinate] : llvm::zip(dims, at))
      if (dim >= 0)
        position.push_back({Dim::dim(dim), int32_t(coordinate)});
    body(at, int64_t(offsets.apply(position).front().second) * bytes);
    unsigned i = 0; // odometer
    for (; i < at.size(); ++i) {
      at[i] += map.getBox()[i];
      if (at[i] < sizes[i])
        break;
      at[i] = 0;
    }
    if (i == at.size())
      return;
  }
}
