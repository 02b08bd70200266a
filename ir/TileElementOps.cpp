//===- TileElementOps.cpp - verifiers of descriptor and element operations -===//
#include "ir/TileDialect.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

static LogicalResult verifyParts(Operation *op, PtrType base, Type block, size_t offsets,
                                 size_t shape, size_t strides) {
  auto type = cast<RankedTensorType>(block);
  size_t rank = type.getRank();
  if (offsets != rank || shape != rank || strides != rank) // descriptor_c1
    return op->emitOpError("expected ") << rank << " offsets, sizes and strides, got " << offsets
                                        << ", " << shape << " and " << strides;
  if (type.getElementType() != base.getPointee()) // descriptor_c2
    return op->emitOpError("expected a block of ") << base.getPointee() << ", got " << type;
  if (base.getPointee().isInteger(1)) // descriptor_c3
    return op->emitOpError("i1 is not addressable");
  return success();
}

LogicalResult DescriptorLoadOp::verify() {
  if (getPadding() == Padding::nan &&
      !isa<FloatType>(getBase().getType().getPointee())) // descriptor_load_c1
    return emitOpError("padding with NaN needs floats");
  return verifyParts(*this, getBase().getType(), getType(), getOffsets().size(), getShape().size(),
                     getStrides().size());
}
LogicalResult DescriptorStoreOp::verify() {
  return verifyParts(*this, getBase().getType(), getValue().getType(), getOffsets().size(),
                     getShape().size(), getStrides().size());
}
LogicalResult DescriptorReduceOp::verify() {
  return verifyParts(*this, getBase().getType(), getValue().getType(), getOffsets().size(),
                     getShape().size(), getStrides().size());
}

static LogicalResult verifyRows(Operation *op, PtrType base, Value rows, Type block, size_t shape,
                                size_t strides) {
  auto type = cast<RankedTensorType>(block);
  auto rowsType = cast<RankedTensorType>(rows.getType());
  if (type.getRank() != 2 || rowsType.getRank() != 1 ||
      rowsType.getDimSize(0) != type.getDimSize(0)) // descriptor_rows_c1
    return op->emitOpError("expected a two-dimensional block with one row index each, got ")
           << type << " and " << rowsType;
  return verifyParts(op, base, block, 2, shape, strides);
}

LogicalResult DescriptorGatherOp::verify() {
  return verifyRows(*this, getBase().getType(), getRows(), getType(), getShape().size(),
                    getStrides().size());
}
LogicalResult DescriptorScatterOp::verify() {
  return verifyRows(*this, getBase().getType(), getRows(), getValue().getType(), getShape().size(),
                    getStrides().size());
}

//===----------------------------------------------------------------------===//
// Gather, histogram
//===----------------------------------------------------------------------===//

LogicalResult GatherOp::verify() {
  auto src = cast<RankedTensorType>(getSrc().getType());
  auto index = cast<RankedTensorType>(getIndex().getType());
  int64_t axis = getAxis();
  if (src.getRank() != index.getRank() || axis >= src.getRank()) // gather_c1
    return emitOpError("expected operand and indices of one rank above ")
           << axis << ", got " << src << " and " << index;
  for (int64_t d = 0; d < src.getRank(); ++d)
    if (d != axis && src.getDimSize(d) != index.getDimSize(d)) // gather_c2
      return emitOpError("operand and indices differ in dimension ") << d;
  auto result = getType();
  if (result.getShape() != index.getShape() ||
      result.getElementType() != src.getElementType()) // gather_c3
    return emitOpError("expected a result like the indices with the operand's elements, got ")
           << result;
  return success();
}

LogicalResult HistogramOp::verify() {
  if (cast<RankedTensorType>(getSrc().getType()).getRank() != 1 ||
      getType().getRank() != 1) // histogram_c1
    return emitOpError("operand and result have one dimension");
  return success();
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// Operands and results are blocks of one shape, or all scalars; operands may
/// mix both if `scalars`.
static LogicalResult verifyShapes(Operation *op, bool scalars) {
  std::optional<ArrayRef<int64_t>> shape;
  bool hasScalar = false;
  auto check = [&](Value v, bool isResult) {
    auto block = dyn_cast<RankedTensorType>(v.getType());
    if (!block) {
      hasScalar |= !scalars || isResult;
      return true;
    }
    if (!shape)
      shape = block.getShape();
    return *shape == block.getShape();
  };
  bool agree = true;
  for (Value v : op->getOperands())
    agree &= check(v, false);
  for (Value v : op->getResults())
    agree &= check(v, true);
  if (agree && !(shape && hasScalar)) // elementwise_c1, extern_elementwise_c1
    return success();
  return op->emitOpError("operands and results must be blocks of one shape, or scalars");
}

LogicalResult MapElementwiseOp::verify() {
  if (getSrcs().empty() || getNumResults() == 0) // map_elementwise_c1
    return emitOpError("needs operands and results");
  return verifyShapes(*this, /*scalars=*/false);
}

LogicalResult MapElementwiseOp::verifyRegions() {
  SmallVector<Type> arguments, results;
  for (Value src : getSrcs())
    arguments.append(getPack(), getElementType(src.getType()));
  for (Value result : getResults())
    results.append(getPack(), getElementType(result.getType()));
  Block &block = getBody().front();
  if (block.getArgumentTypes() != TypeRange(arguments)) // map_elementwise_c2
    return emitOpError("the function must take ")
           << arguments << ", got " << block.getArgumentTypes();
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield || yield.getOperandTypes() != TypeRange(results)) // map_elementwise_c3
    return emitOpError("the function must end in a `tile.yield` of ") << results;
  return success();
}

using Effects = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;

static void anythingUnless(bool pure, Effects &effects) {
  if (pure)
    return;
  effects.emplace_back(MemoryEffects::Read::get());
  effects.emplace_back(MemoryEffects::Write::get());
}

void InlineAsmOp::getEffects(Effects &effects) { anythingUnless(getPure(), effects); }
LogicalResult InlineAsmOp::verify() { return verifyShapes(*this, /*scalars=*/false); }

void ExternElementwiseOp::getEffects(Effects &effects) { anythingUnless(getPure(), effects); }
LogicalResult ExternElementwiseOp::verify() { return verifyShapes(*this, /*scalars=*/true); }
