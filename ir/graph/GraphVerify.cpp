//===- GraphVerify.cpp - what operations of graphs have to be -----------===//
#include "ir/graph/Graph.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::graph;

LogicalResult ConstantOp::verify() {
  // graph_constant_c1
  if (!getType().sizes().empty())
    return emitOpError("must have no dimensions");
  // graph_constant_c2
  if (!getValue().getType().isF64() && !getValue().getType().isInteger(64))
    return emitOpError("must be an f64 or an i64");
  return success();
}

LogicalResult SizeOp::verify() {
  // graph_size_c1
  if (!getType().sizes().empty() || !getType().getElement().isInteger(64))
    return emitOpError("must have no dimensions, and elements of i64");
  std::string error;
  if (!Size::parse(getSize(), error))
    return emitOpError() << "`" << getSize() << "`: " << error;
  return success();
}

LogicalResult IndexOp::verify() {
  // graph_index_c1
  if (getType().sizes().size() != 1 || !getType().getElement().isInteger(32))
    return emitOpError("must have one dimension, and elements of i32");
  return success();
}

LogicalResult MapOp::verify() {
  // graph_map_c1
  if (getOperands().size() != arity(getKind()))
    return emitOpError() << "needs " << arity(getKind()) << " operands";
  Sizes shape;
  for (Value operand : getOperands()) {
    unsigned dim;
    std::optional<Sizes> both =
        broadcast(shape, cast<GraphTensorType>(operand.getType()).sizes(), dim);
    // graph_map_c2
    if (!both)
      return emitOpError("operands do not broadcast");
    shape = *both;
  }
  // graph_map_c2
  if (shape != getType().sizes())
    return emitOpError() << "operands broadcast to " << shapeText(shape);
  return success();
}

LogicalResult CastOp::verify() {
  // graph_cast_c1
  if (getSrc().getType().sizes() != getType().sizes())
    return emitOpError("must keep the shape");
  return success();
}

static LogicalResult verifyAxes(Operation *op, ArrayRef<int64_t> axes, size_t rank) {
  int64_t before = -1;
  for (int64_t axis : axes) {
    if (axis <= before || axis >= int64_t(rank))
      return op->emitOpError("axes must be dimensions of the operand, in order");
    before = axis;
  }
  return success();
}

LogicalResult ReduceOp::verify() {
  Sizes sizes = getSrc().getType().sizes(), left;
  // graph_reduce_c1
  if (failed(verifyAxes(*this, getAxes(), sizes.size())))
    return failure();
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(getAxes(), int64_t(i)))
      left.push_back(size);
  // graph_reduce_c2
  if (left != getType().sizes())
    return emitOpError() << "leaves " << shapeText(left);
  return success();
}

LogicalResult ScanOp::verify() {
  // graph_scan_c1
  if (getAxis() >= getSrc().getType().sizes().size())
    return emitOpError("the axis must be a dimension of the operand");
  // graph_scan_c2
  if (getKind() == ReduceKind::logaddexp && !isa<FloatType>(getType().getElement()))
    return emitOpError("needs floats");
  return success();
}

LogicalResult LaunchOp::verify() {
  // graph_launch_c1
  if (getOutputs().empty())
    return emitOpError("must have a result: nobody would know that it has run");
  return success();
}

LogicalResult PartialOp::verify() {
  Sizes sizes = getSrc().getType().sizes(), own = getType().sizes();
  // graph_partial_c1
  if (failed(verifyAxes(*this, getAxes(), sizes.size())))
    return failure();
  Sizes left;
  for (auto [i, size] : llvm::enumerate(sizes))
    if (!llvm::is_contained(getAxes(), int64_t(i)))
      left.push_back(size);
  // graph_partial_c2
  if (own.empty() || !own.front().name() || ArrayRef(own).drop_front() != ArrayRef(left))
    return emitOpError() << "must have a first dimension with a name, and then leaves "
                         << shapeText(left);
  // graph_partial_c3
  if (getType().getElement() != computeType(getSrc().getType().getElement()))
    return emitOpError("must have elements as its operand's are computed in");
  return success();
}

LogicalResult JoinOp::verify() {
  // graph_join_c1
  if (getParts().empty())
    return emitOpError("must join something");
  Sizes whole = getType().sizes();
  // graph_join_c2
  if (getAxis() >= whole.size())
    return emitOpError("the axis must be a dimension of the result");
  Size total;
  for (Value part : getParts()) {
    Sizes own = sizesOf(part);
    // graph_join_c3
    if (own.size() != whole.size())
      return emitOpError() << "cannot join " << shapeText(own);
    total = total + own[getAxis()];
    own[getAxis()] = whole[getAxis()];
    // graph_join_c3
    if (own != whole)
      return emitOpError() << "cannot join " << shapeText(sizesOf(part));
    // graph_join_c4
    if (cast<GraphTensorType>(part.getType()).getElement() != getType().getElement())
      return emitOpError("must keep the type");
  }
  // graph_join_c3
  if (total != whole[getAxis()])
    return emitOpError() << "has " << total.str() << " elements along the axis";
  return success();
}

LogicalResult WindowOp::verify() {
  std::string error;
  for (Attribute start : getStarts())
    // graph_window_c1
    if (!Size::parse(cast<StringAttr>(start).getValue(), error))
      return emitOpError() << start << ": " << error;
  // graph_window_c1
  size_t rank = getSrc().getType().sizes().size();
  if (getStarts().size() != rank)
    return emitOpError() << "needs " << rank << " starts";
  // graph_window_c2
  if (getType().sizes().size() != rank || getType().getElement() != getSrc().getType().getElement())
    return emitOpError("must keep the number of dimensions and the type");
  return success();
}

LogicalResult ReshapeOp::verify() {
  Size before = product(getSrc().getType().sizes()), after = product(getType().sizes());
  // graph_reshape_c1
  if (before != after)
    return emitOpError() << "makes " << after.str() << " elements of " << before.str();
  // graph_reshape_c2
  if (getSrc().getType().getElement() != getType().getElement())
    return emitOpError("must keep the type");
  return success();
}

LogicalResult GatherOp::verify() {
  // graph_gather_c1
  if (getIndices().size() != getSrc().getType().sizes().size())
    return emitOpError() << "needs " << getSrc().getType().sizes().size() << " indices";
  Sizes shape;
  for (Value index : getIndices()) {
    auto type = cast<GraphTensorType>(index.getType());
    // graph_gather_c1
    if (!isa<IntegerType>(type.getElement()))
      return emitOpError("indices must be integers");
    unsigned dim;
    std::optional<Sizes> both = broadcast(shape, type.sizes(), dim);
    // graph_gather_c2
    if (!both)
      return emitOpError("indices do not broadcast");
    shape = *both;
  }
  // graph_gather_c2
  if (shape != getType().sizes())
    return emitOpError() << "indices broadcast to " << shapeText(shape);
  // graph_gather_c3
  if (getType().getElement() != getSrc().getType().getElement())
    return emitOpError("must keep the type");
  return success();
}

LogicalResult MatmulOp::verify() {
  Sizes a = getLhs().getType().sizes(), b = getRhs().getType().sizes();
  // graph_matmul_c1
  if (a.size() < 2 || b.size() < 2)
    return emitOpError("operands must have two dimensions at least");
  // graph_matmul_c2
  if (a.back() != b[b.size() - 2] || a.back().isConstant(1))
    return emitOpError() << "multiplies " << a.back().str() << " columns with "
                         << b[b.size() - 2].str() << " rows";
  unsigned dim;
  std::optional<Sizes> shape = broadcast(ArrayRef(a).drop_back(2), ArrayRef(b).drop_back(2), dim);
  if (shape) {
    shape->push_back(a[a.size() - 2]);
    shape->push_back(b.back());
  }
  // graph_matmul_c3
  if (!shape || *shape != getType().sizes())
    return emitOpError() << "does not give the shape of its result";
  return success();
}

LogicalResult RearrangeOp::verify() {
  Sizes sizes = getSrc().getType().sizes(), shape;
  std::vector<bool> used(sizes.size());
  for (int64_t dim : getDims()) {
    // graph_rearrange_c1
    if (dim < -1 || dim >= int64_t(sizes.size()) || (dim >= 0 && used[dim]))
      return emitOpError("must name dimensions of the operand, each once");
    if (dim >= 0)
      used[dim] = true;
    shape.push_back(dim < 0 ? Size(1) : sizes[dim]);
  }
  for (auto [i, size] : llvm::enumerate(sizes)) // graph_rearrange_c1
    if (!used[i] && !size.isConstant(1))
      return emitOpError() << "leaves dimension " << i << " out, which is not 1";
  // graph_rearrange_c2
  if (shape != getType().sizes())
    return emitOpError() << "gives " << shapeText(shape);
  return success();
}

LogicalResult KernelOp::verify() {
  // graph_kernel_c1
  if (getBody().front().getArgumentTypes() != getInputs().getTypes())
    return emitOpError("must pass its operands to the region");
  return success();
}

LogicalResult KernelOp::verifyRegions() {
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  // graph_kernel_c2
  if (!yield || yield.getValues().getTypes() != getOutputs().getTypes())
    return emitOpError("must end in a `graph.yield` of its results");
  return success();
}
