//===- PadShapes.cpp - dimensions become powers of two --------------------===//
//
// Contract and example: PadShapesPass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Printing.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "passes/Passes.h"
#include "passes/facts/Speech.h"
#include "passes/tile/NeutralElement.h"
#include "passes/tile/Positions.h"
#include "passes/tile/RowMajorPositions.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_PADSHAPESPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-pad-shapes"
ALWAYS_ENABLED_STATISTIC(blocksGrown, "values whose blocks grew");
using llvm::isPowerOf2_64;

static RankedTensorType padded(RankedTensorType type) {
  SmallVector<int64_t> shape;
  for (int64_t size : type.getShape())
    shape.push_back(llvm::PowerOf2Ceil(size));
  return type.clone(shape);
}

static bool needsPadding(Type type) {
  auto block = dyn_cast<RankedTensorType>(type);
  return block && !llvm::all_of(block.getShape(), [](int64_t n) { return isPowerOf2_64(n); });
}

namespace {

class Padder {
public:
  /// Grows everything below `root`.
  LogicalResult run(Operation *root);

private:
  void grow(Value value);
  void replace(Operation *op, ValueRange results);
  LogicalResult fix(Operation *op);

  /// The type before it grew.
  RankedTensorType typeOf(Value value) const {
    auto it = original.find(value);
    return it != original.end() ? it->second : dyn_cast<RankedTensorType>(value.getType());
  }
  bool grew(Value value) const { return original.contains(value); }
  bool grew(Value value, unsigned axis) const {
    return grew(value) && !isPowerOf2_64(original.lookup(value).getDimSize(axis));
  }

  Value inside(ImplicitLocOpBuilder &b, Value like, std::optional<unsigned> axis = std::nullopt);
  Value conjunction(ImplicitLocOpBuilder &b, Value a, Value mask);
  Value filled(ImplicitLocOpBuilder &b, Value value, unsigned axis, TypedAttr filler);
  Value repeated(ImplicitLocOpBuilder &b, Value value);
  Value reshaped(ImplicitLocOpBuilder &b, Value value, RankedTensorType to);

  void fixRange(MakeRangeOp op);
  void fixReshape(ReshapeOp op);
  void fixDot(DotOp op);
  void fixCas(AtomicCasOp op);
  void fixPrint(PrintOp op);
  void fixMap(MapElementwiseOp op);
  template <typename Op> void fixCombine(Op op);
  template <typename Op> void combineFlags(Op op);

  llvm::DenseMap<Value, RankedTensorType> original;
};

} // namespace

//===----------------------------------------------------------------------===//
// Which elements were there
//===----------------------------------------------------------------------===//

/// True for the elements of `like` that the kernel has: along one axis, or along all.
Value Padder::inside(ImplicitLocOpBuilder &b, Value like, std::optional<unsigned> axis) {
  RankedTensorType from = typeOf(like);
  ArrayRef<int64_t> to = cast<RankedTensorType>(like.getType()).getShape();
  Value mask;
  for (unsigned d = 0; d < to.size(); ++d) {
    if (from.getDimSize(d) == to[d] || (axis && *axis != d))
      continue;
    Value line = positions(b, b.getLoc(), to[d]);
    Value end = integer(b, from.getDimSize(d), cast<RankedTensorType>(line.getType()));
    Value below = arith::CmpIOp::create(b, arith::CmpIPredicate::slt, line, end);
    mask = conjunction(b, spread(b, b.getLoc(), below, d, to), mask);
  }
  return mask;
}

/// `a` and `mask`, which may be missing.
Value Padder::conjunction(ImplicitLocOpBuilder &b, Value a, Value mask) {
  return mask ? arith::AndIOp::create(b, a, mask).getResult() : a;
}

/// `value` with `filler` in the elements added along `axis`.
Value Padder::filled(ImplicitLocOpBuilder &b, Value value, unsigned axis, TypedAttr filler) {
  auto type = cast<RankedTensorType>(value.getType());
  Value other = arith::ConstantOp::create(b, DenseElementsAttr::get(type, Attribute(filler)));
  return arith::SelectOp::create(b, inside(b, value, axis), value, other);
}

//===----------------------------------------------------------------------===//
// Moving elements
//===----------------------------------------------------------------------===//

/// `value` with the kernel's last element of each line in the elements added.
Value Padder::repeated(ImplicitLocOpBuilder &b, Value value) {
  if (!grew(value))
    return value;
  ArrayRef<int64_t> from = typeOf(value).getShape();
  auto type = cast<RankedTensorType>(value.getType());
  Value result = value;
  for (unsigned d = 0; d < from.size(); ++d) {
    if (from[d] == type.getDimSize(d))
      continue;
    Value line = positions(b, b.getLoc(), type.getDimSize(d));
    Value last = integer(b, from[d] - 1, cast<RankedTensorType>(line.getType()));
    Value index = arith::MinSIOp::create(b, line, last);
    result = gather(b, result, spread(b, b.getLoc(), index, d, type.getShape()), d);
  }
  return result;
}

/// The kernel's elements of `value` in row-major order as a block of type `to`,
/// which grows.
Value Padder::reshaped(ImplicitLocOpBuilder &b, Value value, RankedTensorType to) {
  ArrayRef<int64_t> from = typeOf(value).getShape();
  auto type = cast<RankedTensorType>(value.getType());
  RankedTensorType result = padded(to);
  if (keepsPositions(from, to.getShape()))
    return ReshapeOp::create(b, result, value, /*allow_reorder=*/false);
  Value flat = ReshapeOp::create(b, type.clone({type.getNumElements()}), value, false);
  Value at = positions(b, b.getLoc(), result.getNumElements());
  auto line = cast<RankedTensorType>(at.getType());
  Value linear = relocated(b, at, result.getShape(), to.getShape());
  Value last = integer(b, to.getNumElements() - 1, line);
  linear = arith::MinSIOp::create(b, linear, last);
  Value picked = gather(b, flat, relocated(b, linear, from, type.getShape()), 0);
  return ReshapeOp::create(b, result, picked, false);
}

void Padder::fixReshape(ReshapeOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  replace(op, reshaped(b, op.getSrc(), typeOf(op.getResult())));
}

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

/// The combiner learns which side is there, from a flag that it combines too.
template <typename Op> void Padder::combineFlags(Op op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  unsigned count = op.getNumInputs();
  Value first = op.getSrcs().front();
  bool isHeard = speaks(op.getCombine()); // of no added lines either
  auto axis = isHeard ? std::nullopt : std::optional<unsigned>(op.getAxis());
  auto flags = cast<RankedTensorType>(first.getType()).clone(b.getI32Type());
  Value flag = arith::ExtUIOp::create(b, flags, inside(b, first, axis));
  OperationState state(op.getLoc(), Op::getOperationName());
  state.addOperands(op.getSrcs());
  state.addOperands(flag);
  state.addTypes(op->getResultTypes());
  Type one = op->getResult(0).getType(), i32 = b.getI32Type();
  state.addTypes(isa<RankedTensorType>(one) ? cast<RankedTensorType>(one).clone(i32) : i32);
  state.addAttributes(op->getAttrs());
  state.addRegion()->takeBody(op.getCombine());
  auto flagged = cast<Op>(b.create(state));

  Block &body = flagged.getCombineBlock();
  Value left = body.insertArgument(count, b.getI32Type(), op.getLoc());
  Value right = body.addArgument(b.getI32Type(), op.getLoc());
  auto yield = cast<YieldOp>(body.getTerminator());
  b.setInsertionPoint(yield);
  Value zero = arith::ConstantOp::create(b, b.getI32IntegerAttr(0));
  Value noLeft = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, left, zero);
  Value noRight = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, right, zero);
  SmallVector<Value> results;
  for (auto [i, both] : llvm::enumerate(yield.getValues())) {
    Value any = arith::SelectOp::create(b, noLeft, body.getArgument(count + 1 + i), both);
    results.push_back(arith::SelectOp::create(b, noRight, body.getArgument(i), any));
  }
  results.push_back(arith::OrIOp::create(b, left, right));
  yield.getValuesMutable().assign(results);

  b.setInsertionPointToStart(&body);
  if (isHeard)
    speakOnlyIf(flagged.getCombine(),
                arith::TruncIOp::create(b, b.getI1Type(), arith::AndIOp::create(b, left, right)));
  replace(op, flagged->getResults().drop_back());
}

template <typename Op> void Padder::fixCombine(Op op) {
  unsigned axis = op.getAxis();
  if (speaks(op.getCombine()))
    return combineFlags(op);
  if (!grew(op.getSrcs().front(), axis))
    return; // lines of added elements give added elements
  if constexpr (std::is_same_v<Op, ScanOp>)
    if (!op.getReverse())
      return; // they come last
  TypedAttr neutral = neutralElement(op.getCombineBlock(), op.getInputType().getElementType());
  if (!neutral)
    return combineFlags(op);
  ImplicitLocOpBuilder b(op.getLoc(), op);
  op->setOperand(0, filled(b, op.getSrcs().front(), axis, neutral));
}

//===----------------------------------------------------------------------===//
// Other operations
//===----------------------------------------------------------------------===//

void Padder::fixRange(MakeRangeOp op) {
  int64_t length = op.getType().getDimSize(0), start = int32_t(op.getStart());
  if (llvm::isInt<32>(start + length)) {
    op.setEnd(int32_t(start + length));
    return;
  }
  // The positions added would not fit: count from 0.
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value first = integer(b, start, op.getType());
  replace(op, arith::AddIOp::create(b, positions(b, op.getLoc(), length), first).getResult());
}

void Padder::fixDot(DotOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  unsigned rank = op.getType().getRank();
  for (auto [index, axis] : {std::pair(0u, rank - 1), std::pair(1u, rank - 2)}) {
    Value operand = op->getOperand(index);
    if (grew(operand, axis)) // both: zero times an infinity is no zero
      op->setOperand(index,
                     filled(b, operand, axis, b.getZeroAttr(getElementType(operand.getType()))));
  }
}

/// Elements added do to the last element's memory what changes nothing: they
/// put there what they compare with.
void Padder::fixCas(AtomicCasOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value mask = inside(b, op.getPtr());
  op.getPtrMutable().assign(repeated(b, op.getPtr()));
  op.getValueMutable().assign(arith::SelectOp::create(b, mask, op.getValue(), op.getCmp()));
}

/// A block is printed from its elements in row-major order; their shape is
/// noted.
void Padder::fixPrint(PrintOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  SmallVector<Attribute> shapes;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.get().getType());
    ArrayRef<int64_t> shape = type ? typeOf(operand.get()).getShape() : ArrayRef<int64_t>();
    shapes.push_back(b.getDenseI64ArrayAttr(shape));
    if (!grew(operand.get()))
      continue;
    RankedTensorType logical = typeOf(operand.get());
    operand.set(reshaped(b, operand.get(), logical.clone({logical.getNumElements()})));
  }
  op->setAttr(kPrintedShapesAttr, b.getArrayAttr(shapes));
}

/// A loop in the function may never end on other values than the kernel's.
void Padder::fixMap(MapElementwiseOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value there = speaks(op.getBody()) ? inside(b, op.getSrcs().front()) : Value();
  for (OpOperand &operand : op->getOpOperands())
    operand.set(repeated(b, operand.get()));
  if (!there)
    return;
  op.getSrcsMutable().append(there);
  for (unsigned k = 0; k < op.getPack(); ++k)
    op.getBody().addArgument(b.getI1Type(), op.getLoc());
  speakOnlyIf(op.getBody(), op.getBody().getArguments().take_back(op.getPack()).front());
}

LogicalResult Padder::fix(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  auto masked = [&](auto access) {
    access.getMaskMutable().assign(conjunction(b, inside(b, access.getPtr()), access.getMask()));
    return success();
  };
  auto done = [](auto...) { return success(); };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<LoadOp, StoreOp, AtomicRmwOp>(masked)
      .Case([&](arith::ConstantOp constant) -> LogicalResult {
        auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
        if (!dense || !dense.isSplat())
          return op->emitOpError("of several values cannot grow");
        constant.setValueAttr(dense.resizeSplat(cast<RankedTensorType>(constant.getType())));
        return success();
      })
      .Case([&](MakeRangeOp range) { return done((fixRange(range), 0)); })
      .Case([&](ReshapeOp reshape) { return done((fixReshape(reshape), 0)); })
      .Case<ReduceOp, ScanOp>([&](auto combine) { return done((fixCombine(combine), 0)); })
      .Case([&](DotOp dot) { return done((fixDot(dot), 0)); })
      .Case([&](AtomicCasOp cas) { return done((fixCas(cas), 0)); })
      .Case([&](PrintOp print) { return done((fixPrint(print), 0)); })
      .Case([&](HistogramOp histogram) {
        if (grew(histogram.getSrc()))
          histogram.getMaskMutable().assign(
              conjunction(b, inside(b, histogram.getSrc()), histogram.getMask()));
        return success();
      })
      .Case([&](GatherOp gather) {
        Value index = gather.getIndex();
        if (!grew(index))
          return success();
        Value zero = integer(b, 0, cast<RankedTensorType>(index.getType()));
        Value known = arith::SelectOp::create(b, inside(b, index), index, zero);
        gather.getIndexMutable().assign(known);
        return success();
      })
      .Case([&](MapElementwiseOp map) { return done((fixMap(map), 0)); })
      .Case([&](AssertOp check) {
        Value mask = inside(b, check.getCondition());
        Value yes = integer(b, 1, cast<RankedTensorType>(mask.getType()));
        Value added = arith::XOrIOp::create(b, mask, yes);
        check.getConditionMutable().assign(arith::OrIOp::create(b, check.getCondition(), added));
        return success();
      })
      .Default(done);
}

/// Results that grew hand their shapes on.
void Padder::replace(Operation *op, ValueRange results) {
  for (auto [old, result] : llvm::zip(op->getResults(), results)) {
    if (grew(old))
      original[result] = original.lookup(old);
    original.erase(old);
    old.replaceAllUsesWith(result);
  }
  op->erase();
}

void Padder::grow(Value value) {
  if (!needsPadding(value.getType()))
    return;
  auto type = cast<RankedTensorType>(value.getType());
  original[value] = type;
  value.setType(padded(type));
  ++blocksGrown;
  LDBG() << type << " to " << value.getType();
}

LogicalResult Padder::run(Operation *root) {
  auto hasBlock = [](Operation *op) {
    return llvm::any_of(op->getOperandTypes(), needsPadding) ||
           llvm::any_of(op->getResultTypes(), needsPadding);
  };
  // Blocks of a descriptor are clipped by a mask, as pointers are.
  root->walk([&](Operation *op) {
    if (hasBlock(op))
      expandDescriptor(op);
  });
  SmallVector<Operation *> touched;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (hasBlock(op))
      touched.push_back(op);
  });
  root->walk([&](Operation *op) {
    for (Value result : op->getResults())
      grow(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          grow(argument);
  });
  root->walk([](func::FuncOp function) {
    if (!function.isExternal())
      function.setFunctionType(
          FunctionType::get(function.getContext(), function.getBody().getArgumentTypes(),
                            function.getBody().back().getTerminator()->getOperandTypes()));
  });
  for (Operation *op : touched)
    if (failed(fix(op)))
      return failure();
  return success();
}

namespace {
struct PadShapesPass : tile::impl::PadShapesPassBase<PadShapesPass> {
  void runOnOperation() override {
    if (failed(Padder().run(getOperation())))
      signalPassFailure();
  }
};
} // namespace
