//===- Graph.cpp - the graph dialect --------------------------------------===//
#include "ir/graph/Graph.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile::graph;

#include "ir/graph/GraphDialect.cpp.inc"
#include "ir/graph/GraphEnums.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/graph/GraphTypes.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/graph/GraphAttrs.cpp.inc"
#define GET_OP_CLASSES
#include "ir/graph/GraphOps.cpp.inc"

void GraphDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/graph/GraphTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/graph/GraphAttrs.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/graph/GraphOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

LogicalResult GraphTensorType::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                                      StringRef dims, Type element) {
  std::string error;
  std::optional<Sizes> sizes = parseSizes(dims, error);
  // graph_tensor_c1
  if (!sizes)
    return emitError() << "`" << dims << "`: " << error;
  if (joinSizes(*sizes) != dims)
    return emitError() << "`" << dims << "` is spelled `" << joinSizes(*sizes) << "`";
  // graph_tensor_c2
  if (!isa<IntegerType, FloatType>(element))
    return emitError() << "elements are integers or floats";
  return success();
}

GraphTensorType GraphTensorType::of(MLIRContext *context, ArrayRef<Size> sizes, Type element) {
  return get(context, joinSizes(sizes), element);
}

Sizes GraphTensorType::sizes() const {
  // A function has few shapes, and asks for each of them thousands of times.
  constexpr size_t most = 1024;
  thread_local llvm::StringMap<Sizes> known;
  auto found = known.find(getDims());
  if (found != known.end())
    return found->second;
  if (known.size() == most)
    known.clear();
  std::string error;
  return known[getDims()] = *parseSizes(getDims(), error); // verified
}

unsigned tile::graph::arity(MapKind kind) {
  return kind == MapKind::select ? 3 : kind >= MapKind::add ? 2 : 1;
}

bool tile::graph::givesBool(MapKind kind) {
  return (kind >= MapKind::eq && kind <= MapKind::ge) || kind == MapKind::isnan ||
         kind == MapKind::isinf || kind == MapKind::logical_not;
}

bool tile::graph::isShift(MapKind kind) {
  return kind == MapKind::shift_left || kind == MapKind::shift_right;
}

bool tile::graph::needsFloat(MapKind kind) {
  switch (kind) {
  case MapKind::neg:
  case MapKind::abs:
  case MapKind::relu:
  case MapKind::sign:
  case MapKind::square:
  case MapKind::logical_not:
  case MapKind::invert:
  case MapKind::floor:
  case MapKind::ceil:
  case MapKind::round:
  case MapKind::trunc:
  case MapKind::isnan:
  case MapKind::isinf:
    return false;
  default:
    return kind < MapKind::add || kind == MapKind::div || kind == MapKind::atan2;
  }
}

std::optional<Sizes> tile::graph::broadcast(ArrayRef<Size> a, ArrayRef<Size> b, unsigned &dim) {
  Sizes out(std::max(a.size(), b.size()));
  for (dim = 0; dim < out.size(); ++dim) {
    Size left = dim < a.size() ? a[a.size() - 1 - dim] : Size(1);
    Size right = dim < b.size() ? b[b.size() - 1 - dim] : Size(1);
    if (left != right && !left.isConstant(1) && !right.isConstant(1))
      return std::nullopt;
    out[out.size() - 1 - dim] = left.isConstant(1) ? right : left;
  }
  return out;
}

Type tile::graph::promoteTypes(Type a, Type b) {
  if (a == b)
    return a;
  bool isFloat = isa<FloatType>(a);
  if (isFloat != isa<FloatType>(b))
    return isFloat ? a : b;
  unsigned left = a.getIntOrFloatBitWidth(), right = b.getIntOrFloatBitWidth();
  if (isFloat && left == right)
    return left < 16 ? Type(Float16Type::get(a.getContext())) : Float32Type::get(a.getContext());
  bool isMixed = a.isUnsignedInteger() != b.isUnsignedInteger() && std::min(left, right) > 1;
  if (isFloat || !isMixed)
    return left > right ? a : b;
  // What has a sign must hold all of what has none, as in NumPy; beyond 64 bits there is nothing.
  unsigned without = a.isUnsignedInteger() ? left : right, with = left + right - without;
  if (with > without)
    return a.isUnsignedInteger() ? b : a;
  if (without == 64)
    return a.isUnsignedInteger() ? a : b;
  return IntegerType::get(a.getContext(), 2 * without);
}

Type tile::graph::computeType(Type element) {
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
    return Float32Type::get(element.getContext());
  return element;
}

StringRef tile::graph::scanName(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::sum:
    return "cumsum";
  case ReduceKind::prod:
    return "cumprod";
  case ReduceKind::max:
    return "cummax";
  case ReduceKind::min:
    return "cummin";
  case ReduceKind::logaddexp:
    return "logcumsumexp";
  }
  return "";
}

std::string tile::graph::spelledType(Type element) {
  if (auto integer = dyn_cast<IntegerType>(element))
    return (integer.isUnsigned() ? "uint" : "int") + std::to_string(integer.getWidth());
  return llvm::TypeSwitch<Type, std::string>(element)
      .Case<BFloat16Type>([](auto) { return "bf16"; })
      .Case<Float8E4M3FNType>([](auto) { return "fp8e4nv"; })
      .Case<Float8E5M2Type>([](auto) { return "fp8e5"; })
      .Default([](Type t) { return "fp" + std::to_string(t.getIntOrFloatBitWidth()); });
}

unsigned tile::graph::bytesOf(Type element) { return (element.getIntOrFloatBitWidth() + 7) / 8; }

//===----------------------------------------------------------------------===//
// Folds
//===----------------------------------------------------------------------===//

/// x * 1 and x / 1 are x, if x has the result's shape and type. Nothing else is: x + 0
/// changes the sign of a negative zero.
OpFoldResult MapOp::fold(FoldAdaptor) {
  bool isChosen = getKind() == MapKind::select && getOperand(1) == getOperand(2);
  if (isChosen && getOperand(1).getType() == getType())
    return getOperand(1);
  if (getKind() != MapKind::mul && getKind() != MapKind::div)
    return {};
  auto one = getOperand(1).getDefiningOp<ConstantOp>();
  if (!one || getOperand(0).getType() != getType())
    return {};
  auto real = dyn_cast<FloatAttr>(one.getValue());
  auto whole = dyn_cast<IntegerAttr>(one.getValue());
  bool isOne = real ? real.getValueAsDouble() == 1 : whole && whole.getInt() == 1;
  return isOne ? OpFoldResult(getOperand(0)) : OpFoldResult();
}

/// Along a dimension of 1 there is nothing to combine.
LogicalResult ReduceOp::canonicalize(ReduceOp op, PatternRewriter &rewriter) {
  Sizes sizes = op.getSrc().getType().sizes(), left;
  SmallVector<int64_t> dims, axes;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    bool isReduced = llvm::is_contained(op.getAxes(), int64_t(i));
    if (isReduced && size.isConstant(1))
      continue;
    if (isReduced)
      axes.push_back(dims.size());
    dims.push_back(i);
    left.push_back(size);
  }
  if (dims.size() == sizes.size())
    return failure();
  auto type = GraphTensorType::of(op.getContext(), left, op.getSrc().getType().getElement());
  Value source = RearrangeOp::create(rewriter, op.getLoc(), type, op.getSrc(), dims);
  if (axes.empty())
    rewriter.replaceOp(op, source);
  else
    rewriter.replaceOpWithNewOp<ReduceOp>(op, op.getType(), op.getKind(), source, axes);
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getSrc().getType() == getType() ? OpFoldResult(getSrc()) : OpFoldResult();
}

/// Along a dimension of one.
OpFoldResult ScanOp::fold(FoldAdaptor) {
  return getType().sizes()[getAxis()].isConstant(1) ? OpFoldResult(getSrc()) : OpFoldResult();
}

OpFoldResult JoinOp::fold(FoldAdaptor) {
  return getParts().size() == 1 ? OpFoldResult(getParts().front()) : OpFoldResult();
}

bool JoinOp::hasEqualParts() { return llvm::all_equal(getParts().getTypes()); }

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  auto inner = getSrc().getDefiningOp<ReshapeOp>();
  if (!inner)
    return {};
  getSrcMutable().assign(inner.getSrc());
  return getResult();
}

OpFoldResult WindowOp::fold(FoldAdaptor) {
  bool moves = llvm::any_of(
      getStarts(), [](Attribute start) { return cast<StringAttr>(start).getValue() != "0"; });
  return !moves && getSrc().getType() == getType() ? OpFoldResult(getSrc()) : OpFoldResult();
}

OpFoldResult RearrangeOp::fold(FoldAdaptor) {
  Sizes sizes = getType().sizes();
  // A dimension of one that is left out, and put there again, is where it was.
  auto isKept = [&](auto dim) {
    return dim.value() == int64_t(dim.index()) ||
           (dim.value() < 0 && sizes[dim.index()].isConstant(1));
  };
  if (getSrc().getType() == getType() && llvm::all_of(llvm::enumerate(getDims()), isKept))
    return getSrc();
  auto inner = getSrc().getDefiningOp<RearrangeOp>();
  if (!inner)
    return {};
  SmallVector<int64_t> dims;
  for (int64_t dim : getDims())
    dims.push_back(dim < 0 ? -1 : inner.getDims()[dim]);
  getSrcMutable().assign(inner.getSrc());
  setDims(dims);
  return getResult();
}
