//===- TileOps.cpp - verifiers, folders and syntax of tile operations -----===//
#include "ir/Products.h"
#include "ir/TileDialect.h"
#include "ir/TypeRules.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Syntax: memory ops print only the pointer type; the rest follows from it.
//===----------------------------------------------------------------------===//

/// The block (or scalar) of pointees that a block (or scalar) of pointers names.
static Type pointeeBlock(Type ptr) {
  return withElementType(ptr, cast<PtrType>(getElementType(ptr)).getPointee());
}
static Type maskBlock(Type ptr) {
  return withElementType(ptr, IntegerType::get(ptr.getContext(), 1));
}

static ParseResult parsePtr(OpAsmParser &parser, Type &ptr) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(ptr))
    return failure();
  if (!isa<PtrType>(getElementType(ptr)))
    return parser.emitError(loc, "expected a pointer or a block of pointers, got ") << ptr;
  return success();
}

/// An optional operand, as the parser and the printer see it.
using ParsedOperand = std::optional<OpAsmParser::UnresolvedOperand>;

/// Optional operands have a type only where they are present.
static ParseResult parsePointeeBlock(OpAsmParser &parser, const ParsedOperand &mask,
                                     const ParsedOperand &other, Type &ptr, Type &result,
                                     Type &maskType, Type &otherType) {
  if (parsePtr(parser, ptr))
    return failure();
  result = pointeeBlock(ptr);
  if (mask)
    maskType = maskBlock(ptr);
  if (other)
    otherType = result;
  return success();
}
static void printPointeeBlock(OpAsmPrinter &p, Operation *, Value, Value, Type ptr, Type, Type,
                              Type) {
  p << ptr;
}

static ParseResult parsePointeeStore(OpAsmParser &parser, const ParsedOperand &mask, Type &ptr,
                                     Type &value, Type &maskType) {
  Type otherType;
  return parsePointeeBlock(parser, mask, std::nullopt, ptr, value, maskType, otherType);
}
static void printPointeeStore(OpAsmPrinter &p, Operation *, Value, Type ptr, Type, Type) {
  p << ptr;
}

static ParseResult parsePointeeAtomic(OpAsmParser &parser, const ParsedOperand &mask, Type &ptr,
                                      Type &value, Type &maskType, Type &result) {
  if (parsePointeeStore(parser, mask, ptr, value, maskType))
    return failure();
  result = value;
  return success();
}
static void printPointeeAtomic(OpAsmPrinter &p, Operation *, Value, Type ptr, Type, Type, Type) {
  p << ptr;
}

static ParseResult parsePointeeCas(OpAsmParser &parser, Type &ptr, Type &cmp, Type &value,
                                   Type &result) {
  if (parsePtr(parser, ptr))
    return failure();
  cmp = value = result = pointeeBlock(ptr);
  return success();
}
static void printPointeeCas(OpAsmPrinter &p, Operation *, Type ptr, Type, Type, Type) { p << ptr; }

/// A mask has the shape of what is counted.
static ParseResult parseHistogramTypes(OpAsmParser &parser, const ParsedOperand &mask, Type &src,
                                       Type &maskType, Type &result) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(src) || parser.parseArrow() || parser.parseType(result))
    return failure();
  if (!isa<RankedTensorType>(src))
    return parser.emitError(loc, "expected a block, got ") << src;
  if (mask)
    maskType = withElementType(src, IntegerType::get(parser.getContext(), 1));
  return success();
}
static void printHistogramTypes(OpAsmPrinter &p, Operation *, Value, Type src, Type, Type result) {
  p << src << " -> " << result;
}

#define GET_OP_CLASSES
#include "ir/TileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Shared rules
//===----------------------------------------------------------------------===//

LogicalResult tile::expectType(Operation *op, Type actual, Type expected, StringRef what) {
  auto strip = [](Type t) -> Type {
    if (auto b = dyn_cast<RankedTensorType>(t))
      return RankedTensorType::get(b.getShape(), b.getElementType());
    return t;
  };
  if (strip(actual) == strip(expected))
    return success();
  return op->emitOpError("expected ")
         << what << " of type " << strip(expected) << ", got " << actual;
}

static LogicalResult expectSameElement(Operation *op, Type a, Type b) {
  if (getElementType(a) == getElementType(b))
    return success();
  return op->emitOpError("expected equal element types, got ") << a << " and " << b;
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// The table of the op's description.
static bool isDotCombination(Type a, Type b, Type acc) {
  return isProductOfTypes(a, b, acc) || (a.isF64() && b.isF64() && acc.isF64());
}

LogicalResult DotOp::verify() {
  RankedTensorType a = getA().getType(), b = getB().getType(), acc = getType();
  int64_t rank = acc.getRank();
  if ((rank != 2 && rank != 3) || a.getRank() != rank || b.getRank() != rank) // dot_c1
    return emitOpError("expected operands and accumulator of rank two, or all of rank three, got ")
           << a << ", " << b << " and " << acc;
  ArrayRef<int64_t> x = a.getShape(), y = b.getShape(), z = acc.getShape();
  if (x[rank - 1] != y[rank - 2]) // dot_c2
    return emitOpError("expected equal inner dimensions, got ") << a << " and " << b;
  if (z[rank - 2] != x[rank - 2] || z[rank - 1] != y[rank - 1] ||
      (rank == 3 && (x[0] != y[0] || x[0] != z[0]))) // dot_c3
    return emitOpError("expected an accumulator of the rows of ")
           << a << " and the columns of " << b << ", got " << acc;
  if (!isDotCombination(a.getElementType(), b.getElementType(),
                        acc.getElementType())) // dot_c4
    return emitOpError("has no product of ") << a.getElementType() << " and " << b.getElementType()
                                             << " accumulated in " << acc.getElementType();
  if (getInputPrecision() != InputPrecision::ieee && !a.getElementType().isF32()) // dot_c5
    return emitOpError("expected f32 operands for `precision = ")
           << stringifyInputPrecision(getInputPrecision()) << "`, got " << a.getElementType();
  return success();
}

//===----------------------------------------------------------------------===//
// Creation and shape
//===----------------------------------------------------------------------===//

LogicalResult MakeRangeOp::verify() {
  int64_t length = int64_t(int32_t(getEnd())) - int64_t(int32_t(getStart()));
  if (getType().getRank() != 1 || getType().getDimSize(0) != length) // make_range_c1
    return emitOpError("expected a one-dimensional result of ")
           << length << " elements, got " << getType();
  return success();
}

LogicalResult SplatOp::verify() {
  return expectSameElement(*this, getSrc().getType(), getType()); // splat_c1
}

OpFoldResult SplatOp::fold(FoldAdaptor adaptor) {
  Attribute value = adaptor.getSrc();
  if (value && isa<IntegerAttr, FloatAttr>(value))
    return DenseElementsAttr::get(getType(), value);
  return {};
}

LogicalResult UnsplatOp::verify() {
  if (cast<RankedTensorType>(getSrc().getType()).getNumElements() != 1) // unsplat_c1
    return emitOpError("expected a one-element block, got ") << getSrc().getType();
  return expectSameElement(*this, getSrc().getType(), getType()); // unsplat_c2
}

OpFoldResult UnsplatOp::fold(FoldAdaptor) {
  if (auto splat = getSrc().getDefiningOp<SplatOp>())
    return splat.getSrc();
  return {};
}

LogicalResult BroadcastOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType());
  RankedTensorType dst = getType();
  if (src.getRank() != dst.getRank()) // broadcast_c1
    return emitOpError("expected operand and result of one rank, got ") << src << " and " << dst;
  for (int64_t i = 0; i < src.getRank(); ++i)
    if (src.getDimSize(i) != dst.getDimSize(i) && src.getDimSize(i) != 1) // broadcast_c2
      return emitOpError("dimension ") << i << " has size " << src.getDimSize(i)
                                       << " and cannot grow to " << dst.getDimSize(i);
  return expectSameElement(*this, src, dst); // broadcast_c3
}

/// A splat constant, whatever its shape, is a splat of the result shape.
static OpFoldResult foldSplatConstant(Attribute operand, RankedTensorType result) {
  if (auto splat = dyn_cast_or_null<SplatElementsAttr>(operand))
    return splat.resizeSplat(result);
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  return foldSplatConstant(adaptor.getSrc(), getType());
}

LogicalResult ExpandDimsOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType());
  if (int64_t(getAxis()) > src.getRank()) // expand_dims_c1
    return emitOpError("axis ") << getAxis() << " is past the end of " << src;
  SmallVector<int64_t> shape(src.getShape());
  shape.insert(shape.begin() + getAxis(), 1);
  // expand_dims_c2
  return expectType(*this, getType(), RankedTensorType::get(shape, src.getElementType()), "result");
}

LogicalResult ReshapeOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType());
  if (src.getNumElements() != getType().getNumElements()) // reshape_c1
    return emitOpError("expected equal element counts, got ") << src << " and " << getType();
  return expectSameElement(*this, src, getType()); // reshape_c2
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<ReshapeOp>();
      inner && inner.getAllowReorder() == getAllowReorder()) {
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  return foldSplatConstant(adaptor.getSrc(), getType());
}

LogicalResult TransOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType());
  SmallVector<bool> seen(src.getRank());
  if (int64_t(getOrder().size()) != src.getRank()) // trans_c1
    return emitOpError("expected ")
           << src.getRank() << " dimensions in the order, got " << getOrder().size();
  SmallVector<int64_t> shape;
  for (int32_t d : getOrder()) {
    if (d < 0 || d >= src.getRank() || seen[d]) // trans_c2
      return emitOpError("order is not a permutation of 0..") << src.getRank() - 1;
    seen[d] = true;
    shape.push_back(src.getDimSize(d));
  }
  // trans_c3
  return expectType(*this, getType(), RankedTensorType::get(shape, src.getElementType()), "result");
}

OpFoldResult TransOp::fold(FoldAdaptor adaptor) {
  if (getSrc().getType() == getType() && llvm::is_sorted(getOrder()))
    return getSrc();
  return foldSplatConstant(adaptor.getSrc(), getType());
}

LogicalResult JoinOp::verify() {
  auto src = cast<RankedTensorType>(getLhs().getType());
  SmallVector<int64_t> shape(src.getShape());
  shape.push_back(2);
  // join_c1
  return expectType(*this, getType(), RankedTensorType::get(shape, src.getElementType()), "result");
}

LogicalResult SplitOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType());
  if (src.getRank() < 2 || src.getShape().back() != 2) // split_c1
    return emitOpError("expected a block of rank 2 or more with a last dimension of 2, got ")
           << src;
  auto half = RankedTensorType::get(src.getShape().drop_back(), src.getElementType());
  return expectType(*this, getLhs().getType(), half, "left result"); // split_c2
}

//===----------------------------------------------------------------------===//
// Pointers and memory
//===----------------------------------------------------------------------===//

OpFoldResult AddPtrOp::fold(FoldAdaptor adaptor) {
  if (matchPattern(adaptor.getOffset(), m_Zero()))
    return getPtr();
  return {};
}

OpFoldResult PtrCastOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  return {};
}

OpFoldResult FpCastOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  return {};
}

/// Pointer, value and mask agree, and the pointee is addressable.
static LogicalResult verifyAccess(Operation *op, Type ptr, Type value, Value mask) {
  Type pointee = cast<PtrType>(getElementType(ptr)).getPointee();
  if (pointee.isInteger(1)) // access_c1
    return op->emitOpError("i1 is not addressable: access bytes and compare with zero");
  if (failed(expectType(op, value, pointeeBlock(ptr), "value"))) // access_c2
    return failure();
  if (mask && failed(expectType(op, mask.getType(), maskBlock(ptr), "mask"))) // access_c3
    return failure();
  return success();
}

LogicalResult LoadOp::verify() {
  if (getOther() && !getMask()) // load_c1
    return emitOpError("`other` has no meaning without a mask");
  if (failed(verifyAccess(*this, getPtr().getType(), getType(), getMask())))
    return failure();
  if (getOther()) // load_c2
    return expectType(*this, getOther().getType(), getType(), "other");
  return success();
}

LogicalResult StoreOp::verify() {
  return verifyAccess(*this, getPtr().getType(), getValue().getType(), getMask());
}

LogicalResult AtomicRmwOp::verify() {
  return verifyAccess(*this, getPtr().getType(), getValue().getType(), getMask());
}

LogicalResult AtomicCasOp::verify() {
  if (failed(verifyAccess(*this, getPtr().getType(), getValue().getType(), nullptr)))
    return failure();
  // atomic_cas_c1
  return expectType(*this, getCmp().getType(), getValue().getType(), "compare value");
}

void LoadOp::build(OpBuilder &builder, OperationState &state, Value ptr, Value mask, Value other,
                   CacheModifier cache, EvictionPolicy evict, bool isVolatile) {
  build(builder, state, pointeeBlock(ptr.getType()), ptr, mask, other, cache, evict, isVolatile,
        /*vector=*/1);
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

void LoadOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  if (getIsVolatile())
    effects.emplace_back(MemoryEffects::Write::get());
}
void StoreOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable());
}
void AtomicRmwOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable());
}
void AtomicCasOp::getEffects(Effects &effects) {
  effects.emplace_back(MemoryEffects::Read::get(), &getPtrMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getPtrMutable());
}
