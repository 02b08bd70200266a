//===- CtaAsync.cpp - shared buffers, asynchronous copies ----------------===//
#include "ir/CtaDialect.h"
#include "ir/CtaSlots.h"
#include "ir/MapChoices.h"
#include "ir/Products.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;
using layout::Dim;
using layout::LinearLayout;

int64_t BufferType::getNumElements() const {
  int64_t count = 1;
  for (int64_t size : getShape())
    count *= size;
  return count;
}

int64_t BufferType::getBytes() const {
  return getNumElements() * std::max(getElementBytes(getElementType()), 1u);
}

std::optional<unsigned> cta::dimensionToShare(MapAttr map, BufferType buffer,
                                              ArrayRef<int32_t> dims, int64_t cluster) {
  for (unsigned i = dims.size(); i-- > 0;)
    if (dims[i] >= 0 && buffer.getShape()[dims[i]] % (map.getBox()[i] * cluster) == 0)
      return i;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Types and attributes
//===----------------------------------------------------------------------===//

using EmitError = llvm::function_ref<InFlightDiagnostic()>;

/// Whether `layout` says for each offset which element of a block of `shape` is there.
static bool placesAll(LayoutAttr layout, ArrayRef<int64_t> shape) {
  const LinearLayout &image = layout.getLayout();
  if (image.ins().size() != 1 || !image.hasIn(Dim::offset()) || !image.isInvertible() ||
      image.outs().size() != shape.size())
    return false;
  for (auto [i, size] : llvm::enumerate(shape))
    if (image.outSize(Dim::dim(i)) != size)
      return false;
  return true;
}

LogicalResult BufferType::verify(EmitError emitError, ArrayRef<int64_t> shape, Type elementType,
                                 LayoutAttr layout) {
  if (!placesAll(layout, shape)) // buffer_c1
    return emitError() << "expected an invertible layout from `offset` to dimensions of the sizes "
                       << shape << ", got " << layout;
  return success();
}

LogicalResult RingType::verify(EmitError emitError, ArrayRef<Type> buffers) {
  if (buffers.empty() || !llvm::all_of(buffers, llvm::IsaPred<BufferType>)) // ring_type_c1
    return emitError() << "expected slots of one buffer or more, got " << buffers;
  return success();
}

LogicalResult SumAttr::verify(EmitError emitError, ArrayRef<DenseI64ArrayAttr> terms) {
  for (DenseI64ArrayAttr term : terms)
    if (term.empty() || llvm::any_of(term.asArrayRef().drop_front(),
                                     [](int64_t parameter) { return parameter < 0; })) // sum_c1
      return emitError() << "expected terms of a coefficient and parameters from 0 on, got "
                         << term;
  return success();
}

LogicalResult MapAttr::verify(EmitError emitError, int64_t base, Type elementType,
                              ArrayRef<SumAttr> sizes, ArrayRef<SumAttr> strides,
                              ArrayRef<int64_t> box, int64_t swizzle, ArrayRef<SumAttr>) {
  constexpr size_t kMostDimensions = 5;
  constexpr int64_t kMostOfBox = 256;
  if (sizes.empty() || sizes.size() > kMostDimensions || box.size() != sizes.size() ||
      strides.size() + 1 != sizes.size()) // map_c1
    return emitError() << "expected one to five sizes, as many entries of the box and one stride "
                          "less, got "
                       << sizes.size() << ", " << box.size() << " and " << strides.size();
  for (int64_t size : box)
    if (size < 1 || size > kMostOfBox) // map_c2
      return emitError() << "expected a box of 1 to " << kMostOfBox
                         << " elements in each dimension, got " << size;
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle) ||
      (swizzle && box.front() * getElementBytes(elementType) > swizzle)) // map_c3
    return emitError() << "expected a swizzle of 0, or of 32, 64 or 128 bytes and no wider box, "
                          "got "
                       << swizzle;
  if (base < 0) // map_c4
    return emitError() << "expected the number of a parameter as base, got " << base;
  return success();
}

//===----------------------------------------------------------------------===//
// Shared rules
//===----------------------------------------------------------------------===//

/// Whether a block (or scalar) type is that of the buffer's elements in registers.
static bool isLike(Type type, BufferType buffer) {
  auto block = dyn_cast<RankedTensorType>(type);
  return block && block.getShape() == buffer.getShape() &&
         block.getElementType() == buffer.getElementType();
}

SmallVector<BlockArgument, 1> cta::mapsBehind(Value map) {
  SmallVector<BlockArgument, 1> found;
  SmallVector<Value> open{map};
  while (!open.empty()) {
    Value v = open.pop_back_val();
    if (auto select = v.getDefiningOp<arith::SelectOp>())
      open.append({select.getFalseValue(), select.getTrueValue()});
    else if (auto arg = dyn_cast<BlockArgument>(v); arg && !llvm::is_contained(found, arg))
      found.push_back(arg);
  }
  return found;
}

/// The attribute of a tensor map that is a kernel parameter; null if there is none.
static MapAttr mapOf(BlockArgument arg) {
  auto kernel = dyn_cast_if_present<FunctionOpInterface>(arg.getOwner()->getParentOp());
  return kernel ? kernel.getArgAttrOfType<MapAttr>(arg.getArgNumber(), kTensorMapAttr) : MapAttr();
}

/// The part of an array that is copied: `dims` lays the block along the map.
static LogicalResult verifyTile(Operation *op, Value map, ValueRange starts, ArrayRef<int32_t> dims,
                                ArrayRef<int64_t> shape, Type element) {
  if (starts.size() != dims.size()) // tma_c1
    return op->emitOpError("expected one start for each dimension of the map");
  SmallVector<unsigned> named(shape.size());
  for (int32_t dim : dims) {
    if (dim < -1 || dim >= int32_t(shape.size())) // tma_c2
      return op->emitOpError("dimension ") << dim << " is not one of the block's";
    if (dim >= 0)
      ++named[dim];
  }
  for (auto [dim, size] : llvm::enumerate(shape))
    if (named[dim] > 1 || (named[dim] == 0 && size != 1)) // tma_c3
      return op->emitOpError("expected dimension ")
             << dim << " of the block along one dimension of the map, got " << named[dim];
  MapAttr first;
  for (BlockArgument parameter : mapsBehind(map)) {
    MapAttr attr = mapOf(parameter);
    if (!attr)
      continue;
    bool fits = attr.getBox().size() == dims.size() && attr.getElementType() == element;
    if (fits)
      for (auto [dim, box] : llvm::zip_equal(dims, attr.getBox()))
        fits &= (dim < 0 ? 1 : shape[dim]) % box == 0;
    if (!fits) // tma_c4
      return op->emitOpError("expected a map of ")
             << dims.size() << " dimensions of " << element
             << " in boxes that the block falls into, got " << attr;
    first = first ? first : attr;
    if (attr.getBox() != first.getBox() || attr.getSwizzle() != first.getSwizzle()) // tma_c5
      return op->emitOpError("expected maps that copy alike, got ") << first << " or " << attr;
  }
  return success();
}

int64_t cta::bytesInSlot(Type buffer) {
  return llvm::alignTo(cast<BufferType>(buffer).getBytes(), kSlotAlignment);
}

int64_t cta::bytesInSlot(TypeRange buffers) {
  int64_t bytes = 0;
  for (Type buffer : buffers)
    bytes += bytesInSlot(buffer);
  return bytes;
}

static LogicalResult verifySlot(Operation *op, RingType ring, TypeRange buffers) {
  if (buffers.empty() || bytesInSlot(buffers) > bytesInSlot(ring.getBuffers())) // ring_slot_c1
    return op->emitOpError("expected the buffers of ")
           << ring << ", or others that take no more of a slot";
  return success();
}

static LogicalResult verifyRingBuffer(Operation *op, BufferType buffer, RingType ring) {
  if (bytesInSlot(buffer) > bytesInSlot(ring.getBuffers())) // ring_copy_c1
    return op->emitOpError("expected a buffer of ") << ring << ", got " << buffer;
  return success();
}

static Type pointeeOf(Type ptr) { return cast<PtrType>(ptr).getPointee(); }

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

LogicalResult TmaLoadOp::verify() {
  BufferType type = getType();
  return verifyTile(*this, getMap(), getStarts(), getDims(), type.getShape(),
                    type.getElementType());
}

LogicalResult TmaStoreOp::verify() {
  auto type = cast<RankedTensorType>(getValue().getType());
  if (!placesAll(getLayout(), type.getShape())) // tma_store_c1
    return emitOpError("expected an invertible layout from `offset` to the dimensions of ")
           << type << ", got " << getLayout();
  return verifyTile(*this, getMap(), getStarts(), getDims(), type.getShape(),
                    type.getElementType());
}

LogicalResult StageOp::verify() {
  if (!isLike(getSrc().getType(), getType())) // stage_c1
    return emitOpError("expected a buffer of the shape and elements of ")
           << getSrc().getType() << ", got " << getType();
  return success();
}

LogicalResult FillOp::verify() {
  if (!isLike(getSrc().getType(), getBuffer().getType())) // fill_c1
    return emitOpError("expected a buffer of the shape and elements of ")
           << getSrc().getType() << ", got " << getBuffer().getType();
  auto slot = getBuffer().getDefiningOp<SlotOp>();
  if (!slot || !slot.getSlots().getDefiningOp<SlotsOp>()) // fill_c2
    return emitOpError("expected a slot of `cta.slots`");
  return success();
}

LogicalResult SlotOp::verify() {
  auto slots = getSlots().getDefiningOp<SlotsOp>();
  APInt index;
  if (slots && matchPattern(getIndex(), m_ConstantInt(&index)) &&
      index.uge(slots.getCount())) // slot_c1
    return emitOpError("index ") << index.getSExtValue() << " is not one of " << slots.getCount()
                                 << " slots";
  return success();
}

LogicalResult AsyncCopyOp::verify() {
  auto ptr = cast<RankedTensorType>(getPtr().getType());
  BufferType buffer = getBuffer().getType();
  auto pointer = dyn_cast<PtrType>(ptr.getElementType());
  if (!pointer || ptr.getShape() != buffer.getShape() ||
      pointer.getPointee() != buffer.getElementType()) // async_copy_c1
    return emitOpError("expected pointers of the shape and to the elements of ")
           << buffer << ", got " << ptr;
  if (getMask()) {
    auto mask = cast<RankedTensorType>(getMask().getType());
    if (!mask.getElementType().isInteger(1) || mask.getShape() != ptr.getShape()) // async_copy_c2
      return emitOpError("expected a mask of the shape of ") << ptr << ", got " << mask;
  }
  unsigned bytes = getVector() * getElementBytes(buffer.getElementType());
  if (bytes != 4 && bytes != 8 && bytes != 16) // async_copy_c3
    return emitOpError("expected 4, 8 or 16 bytes at once, got ") << bytes;
  return success();
}

LogicalResult ReadOp::verify() {
  BufferType buffer = getBuffer().getType();
  if (isa<RankedTensorType>(getType())) {
    if (!isLike(getType(), buffer)) // read_c1
      return emitOpError("expected a block of the shape and elements of ")
             << buffer << ", got " << getType();
  } else if (buffer.getNumElements() != 1 || getType() != buffer.getElementType()) { // read_c2
    return emitOpError("expected a scalar from a buffer of one such element, got ") << buffer;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rings: each operation by itself. How they work together: CtaProtocol.cpp.
//===----------------------------------------------------------------------===//

LogicalResult RingAcquireOp::verify() {
  return verifySlot(*this, getRing().getType(), getBuffers().getTypes());
}

LogicalResult RingWaitOp::verify() {
  return verifySlot(*this, getRing().getType(), getBuffers().getTypes());
}

LogicalResult RingCopyOp::verify() {
  BufferType type = getBuffer().getType();
  if (failed(verifyRingBuffer(*this, type, getRing().getType())))
    return failure();
  return verifyTile(*this, getMap(), getStarts(), getDims(), type.getShape(),
                    type.getElementType());
}

LogicalResult RingBulkCopyOp::verify() {
  constexpr int64_t kUnit = 16; // bytes
  BufferType type = getBuffer().getType();
  if (failed(verifyRingBuffer(*this, type, getRing().getType())))
    return failure();
  if (pointeeOf(getPtr().getType()) != type.getElementType()) // ring_bulk_copy_c1
    return emitOpError("expected a pointer to elements of ")
           << type << ", got " << getPtr().getType();
  int64_t offset = getOffset();
  if (offset % kUnit || offset >= type.getBytes()) // ring_bulk_copy_c2
    return emitOpError("expected an offset that is a multiple of ")
           << kUnit << " below " << type.getBytes() << " bytes, got " << offset;
  APInt bytes;
  if (matchPattern(getBytes(), m_ConstantInt(&bytes)) &&
      (bytes.isNegative() || bytes.getSExtValue() % kUnit ||
       offset + bytes.getSExtValue() > type.getBytes())) // ring_bulk_copy_c3
    return emitOpError("expected a multiple of ")
           << kUnit << " bytes, at most " << type.getBytes() - offset << ", got "
           << bytes.getSExtValue();
  return success();
}

LogicalResult RingElementCopyOp::verify() {
  BufferType type = getBuffer().getType();
  if (failed(verifyRingBuffer(*this, type, getRing().getType())))
    return failure();
  if (pointeeOf(getPtr().getType()) != type.getElementType()) // ring_element_copy_c1
    return emitOpError("expected a pointer to an element of ")
           << type << ", got " << getPtr().getType();
  if (type.getNumElements() != 1 ||
      (type.getBytes() != 4 && type.getBytes() != 8)) // ring_element_copy_c2
    return emitOpError("expected a buffer of one element of 4 or 8 bytes, got ") << type;
  return success();
}

LogicalResult RingFillOp::verify() {
  ArrayRef<Type> buffers = getRing().getType().getBuffers();
  if (getBuffer() >= buffers.size()) // ring_fill_c1
    return emitOpError("expected one of ") << buffers.size() << " buffers, got " << getBuffer();
  if (!isLike(getValue().getType(), cast<BufferType>(buffers[getBuffer()]))) // ring_fill_c2
    return emitOpError("expected a block of the shape and elements of ")
           << buffers[getBuffer()] << ", got " << getValue().getType();
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

bool cta::isReadByWarpgroups(BufferType buffer, unsigned summedDim) {
  unsigned bytes = getElementBytes(buffer.getElementType());
  auto minor = layout::minorOfSwizzledTile(buffer.getLinearLayout(), bytes);
  return minor && (bytes == 2 || *minor == summedDim);
}

static LogicalResult verifyReadable(Operation *op, Value operand, StringRef which,
                                    unsigned summedDim) {
  auto buffer = dyn_cast<BufferType>(operand.getType());
  if (!buffer || cta::isReadByWarpgroups(buffer, summedDim)) // warpgroup_dot_c5
    return success();
  return op->emitOpError("cannot read its ")
         << which << " operand: a buffer must be a swizzled tile"
         << (getElementBytes(buffer.getElementType()) == 2
                 ? ""
                 : ", contiguous along the dimension that is summed over if its elements do not "
                   "have 16 bits");
}

LogicalResult WarpgroupDotOp::verify() {
  constexpr int64_t kRows = 64, kColumns = 8, kBytes = 32; // of one instruction
  auto left = dyn_cast<BufferType>(getA().getType());
  auto leftBlock = dyn_cast<RankedTensorType>(getA().getType());
  SmallVector<int64_t> a(left ? left.getShape() : leftBlock.getShape());
  Type element = left ? left.getElementType() : leftBlock.getElementType();
  BufferType right = getB().getType();
  SmallVector<int64_t> b(right.getShape());
  RankedTensorType acc = getType();
  if (getATurned() && !left) // warpgroup_dot_c6
    return emitOpError("reads a block in registers as it is: only a buffer can be turned");
  if (getATurned())
    std::reverse(a.begin(), a.end());
  if (getBTurned())
    std::reverse(b.begin(), b.end());
  if (a.size() != 2 || b.size() != 2 || acc.getRank() != 2 || a[1] != b[0] ||
      acc.getDimSize(0) != a[0] || acc.getDimSize(1) != b[1]) // warpgroup_dot_c1
    return emitOpError("expected M x K by K x N to M x N, got ")
           << getA().getType() << ", " << right << " and " << acc;
  if (!isProductOfTypes(element, right.getElementType(),
                        acc.getElementType())) // warpgroup_dot_c2
    return emitOpError("has no product of ") << element << " and " << right.getElementType()
                                             << " accumulated in " << acc.getElementType();
  if (a[0] % kRows || b[1] % kColumns ||
      a[1] * int64_t(getElementBytes(element)) % kBytes) // warpgroup_dot_c3
    return emitOpError("expected multiples of ")
           << kRows << " rows, " << kColumns << " columns and " << kBytes << " bytes of K, got "
           << a[0] << ", " << b[1] << " and " << a[1] * int64_t(getElementBytes(element));
  if (getPromote() && (!isFp8(element) || getInFlight())) // warpgroup_dot_c4
    return emitOpError("expected `promote` on 8-bit floats that are waited for alone");
  if (failed(verifyReadable(*this, getA(), "left", getATurned() ? 0 : 1)))
    return failure();
  return verifyReadable(*this, getB(), "right", getBTurned() ? 1 : 0);
}
