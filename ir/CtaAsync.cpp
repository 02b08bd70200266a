//===- CtaAsync.cpp - shared buffers, asynchronous copies, warp roles -----===//
#include "ir/CtaDialect.h"
#include "ir/layout/Hopper.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

int64_t BufferType::getNumElements() const {
  int64_t count = 1;
  for (int64_t size : getShape())
    count *= size;
  return count;
}

int64_t BufferType::getBytes() const {
  return getNumElements() * std::max(getElementBytes(getElementType()), 1u);
}

unsigned cta::groupsOf(ModuleOp module) {
  auto attr = module->getAttrOfType<IntegerAttr>(kGroupsAttr);
  return attr ? unsigned(attr.getInt()) : 1;
}

std::optional<unsigned> cta::dimensionToShare(MapAttr map, BufferType buffer,
                                              ArrayRef<int32_t> dims, int64_t cluster) {
  for (unsigned i = dims.size(); i-- > 0;)
    if (dims[i] >= 0 && buffer.getShape()[dims[i]] % (map.getBox()[i] * cluster) == 0)
      return i;
  return std::nullopt;
}

LogicalResult TmaLoadOp::verify() {
  if (getStarts().size() != getDims().size())
    return emitOpError("expected one start for each dimension of the map");
  int rank = int(getType().getShape().size());
  for (int32_t dim : getDims())
    if (dim < -1 || dim >= rank)
      return emitOpError("dimension ") << dim << " is not one of the block's";
  return success();
}

bool cta::isReadByWarpgroups(BufferType buffer, unsigned summedDim) {
  unsigned bytes = getElementBytes(buffer.getElementType());
  auto minor = layout::minorOfSwizzledTile(buffer.getLinearLayout(), bytes);
  return minor && (bytes == 2 || *minor == summedDim);
}

LogicalResult WarpgroupDotOp::verify() {
  auto check = [&](Value operand, StringRef which, unsigned summedDim) -> LogicalResult {
    auto buffer = dyn_cast<BufferType>(operand.getType());
    if (!buffer || isReadByWarpgroups(buffer, summedDim))
      return success();
    return emitOpError("cannot read its ")
           << which << " operand: a buffer must be a swizzled tile"
           << (getElementBytes(buffer.getElementType()) == 2
                   ? ""
                   : ", contiguous along the dimension that is summed over if its elements do not "
                     "have 16 bits");
  };
  return failure(failed(check(getA(), "left", 1)) || failed(check(getB(), "right", 0)));
}
