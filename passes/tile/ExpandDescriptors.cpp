//===- ExpandDescriptors.cpp - descriptor accesses by pointers and masks --===//
//
// Contract and example: ExpandDescriptorsPass in passes/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/tile/Positions.h"

namespace tile {
#define GEN_PASS_DEF_EXPANDDESCRIPTORSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

Value tile::positions(OpBuilder &b, Location loc, int64_t length) {
  auto type = RankedTensorType::get({length}, b.getI32Type());
  return MakeRangeOp::create(b, loc, type, 0, int32_t(length));
}

Value tile::spread(OpBuilder &b, Location loc, Value line, unsigned d, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(line.getType());
  SmallVector<int64_t> grown(type.getShape());
  for (unsigned other = 0; other < shape.size(); ++other)
    if (other != d) {
      grown.insert(grown.begin() + other, 1);
      line = ExpandDimsOp::create(b, loc, type.clone(grown), line, other);
    }
  if (ArrayRef<int64_t>(grown) == shape)
    return line;
  return BroadcastOp::create(b, loc, type.clone(shape), line);
}

namespace {

/// Pointers and mask of one access.
class Expansion {
public:
  Expansion(Operation *op, Value base, Type block)
      : b(op), loc(op->getLoc()), base(base), block(cast<RankedTensorType>(block)) {}

  void addDimension(unsigned d, Value position, Value size, Value stride);
  Value offsetPositions(unsigned d, Value offset);
  Value pointers();
  Value mask;

private:
  RankedTensorType typeOf(ArrayRef<int64_t> shape, Type element) {
    return RankedTensorType::get(shape, element);
  }
  Value splat(Value v, ArrayRef<int64_t> shape) {
    return SplatOp::create(b, loc, typeOf(shape, v.getType()), v);
  }
  /// One value for each position of dimension `d`, over the whole block.
  Value spread(Value line, unsigned d) { return tile::spread(b, loc, line, d, block.getShape()); }

  OpBuilder b;
  Location loc;
  Value base;
  RankedTensorType block;
  Value offset;
};

} // namespace

Value Expansion::offsetPositions(unsigned d, Value start) {
  int64_t length = block.getDimSize(d);
  Value range = positions(b, loc, length);
  return arith::AddIOp::create(b, loc, splat(start, {length}), range);
}

/// `position` is a line of i32 coordinates along dimension `d`.
void Expansion::addDimension(unsigned d, Value position, Value size, Value stride) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(position.getType()).getShape();
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, position, splat(size, shape));
  inside = spread(inside, d);
  mask = mask ? arith::AndIOp::create(b, loc, mask, inside).getResult() : inside;

  Value wide = arith::ExtSIOp::create(b, loc, typeOf(shape, b.getI64Type()), position);
  if (!matchPattern(stride, m_One())) {
    int64_t elements = 16 / getElementBytes(block.getElementType());
    if (elements > 1 && d + 1 < block.getRank())
      stride = HintOp::create(b, loc, stride, b.getDenseI64ArrayAttr({elements}), nullptr, nullptr);
    wide = arith::MulIOp::create(b, loc, wide, splat(stride, shape));
  }
  wide = spread(wide, d);
  offset = offset ? arith::AddIOp::create(b, loc, offset, wide).getResult() : wide;
}

Value Expansion::pointers() {
  Value aligned = HintOp::create(b, loc, base, b.getDenseI64ArrayAttr({16}), nullptr, nullptr);
  return AddPtrOp::create(b, loc, splat(aligned, block.getShape()), offset);
}

/// The expansion of any of the operations; `op` names the parts.
template <typename Op> static Expansion expand(Op op, Type block) {
  Expansion e(op, op.getBase(), block);
  for (unsigned d = 0; d < op.getShape().size(); ++d) {
    Value position;
    if constexpr (requires { op.getRows(); })
      position = d == 0 ? op.getRows() : e.offsetPositions(d, op.getColumn());
    else
      position = e.offsetPositions(d, op.getOffsets()[d]);
    e.addDimension(d, position, op.getShape()[d], op.getStrides()[d]);
  }
  return e;
}

static void expandLoad(Operation *op, Expansion e, bool padNan) {
  OpBuilder b(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value other;
  if (padNan) {
    auto element = cast<FloatType>(type.getElementType());
    other = arith::ConstantOp::create(
        b, op->getLoc(),
        DenseElementsAttr::get(type, APFloat::getQNaN(element.getFloatSemantics())));
  }
  Value load = LoadOp::create(b, op->getLoc(), e.pointers(), e.mask, other);
  op->getResult(0).replaceAllUsesWith(load);
}

static void expandStore(Operation *op, Expansion e, Value value) {
  OpBuilder b(op);
  StoreOp::create(b, op->getLoc(), e.pointers(), value, e.mask, CacheModifier::none,
                  EvictionPolicy::normal);
}

static void expandReduce(DescriptorReduceOp op) {
  OpBuilder b(op);
  Expansion e = expand(op, op.getValue().getType());
  AtomicRmwOp::create(b, op.getLoc(), op.getValue().getType(), op.getKind(), MemSemantic::relaxed,
                      MemScope::gpu, e.pointers(), op.getValue(), e.mask);
}

bool tile::expandDescriptor(Operation *op) {
  if (auto o = dyn_cast<DescriptorLoadOp>(op))
    expandLoad(op, expand(o, o.getType()), o.getPadding() == Padding::nan);
  else if (auto o = dyn_cast<DescriptorGatherOp>(op))
    expandLoad(op, expand(o, o.getType()), false);
  else if (auto o = dyn_cast<DescriptorStoreOp>(op))
    expandStore(op, expand(o, o.getValue().getType()), o.getValue());
  else if (auto o = dyn_cast<DescriptorScatterOp>(op))
    expandStore(op, expand(o, o.getValue().getType()), o.getValue());
  else if (auto o = dyn_cast<DescriptorReduceOp>(op))
    expandReduce(o);
  else
    return false;
  op->erase();
  return true;
}

namespace {
struct ExpandDescriptorsPass : tile::impl::ExpandDescriptorsPassBase<ExpandDescriptorsPass> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) { expandDescriptor(op); });
  }
};
} // namespace
