//===- ExpandDescriptors.cpp - descriptor accesses by pointers and masks --===//
//
// Contract and example: ExpandDescriptorsPass in passes/tile/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/facts/KeptDimensions.h"
#include "passes/tile/Positions.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_EXPANDDESCRIPTORSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-expand-descriptors"
ALWAYS_ENABLED_STATISTIC(accessesExpanded, "accesses by descriptors that became pointers");

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

/// Pointers and mask of one access to a block.
class Expansion {
public:
  Expansion(Operation *op, Value base, Type block)
      : b(op), loc(op->getLoc()), block(cast<RankedTensorType>(block)) {
    this->base = HintOp::create(b, loc, base, b.getDenseI64ArrayAttr({16}), nullptr, nullptr);
  }

  void addDimension(unsigned d, Value position, Value size, Value stride);
  void addCoordinate(Value position, Value size, Value stride, bool isLast);
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
  void restrict(Value inside) {
    mask = mask ? arith::AndIOp::create(b, loc, mask, inside).getResult() : inside;
  }
  Value alignedStride(Value stride);
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

/// Strides of descriptors are multiples of 16 bytes, but for the last.
Value Expansion::alignedStride(Value stride) {
  int64_t elements = 16 / getElementBytes(block.getElementType());
  if (elements <= 1)
    return stride;
  return HintOp::create(b, loc, stride, b.getDenseI64ArrayAttr({elements}), nullptr, nullptr);
}

/// `position` is a line of i32 coordinates along dimension `d`.
void Expansion::addDimension(unsigned d, Value position, Value size, Value stride) {
  ArrayRef<int64_t> shape = cast<RankedTensorType>(position.getType()).getShape();
  Value inside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, position, splat(size, shape));
  restrict(spread(inside, d));

  Value wide = arith::ExtSIOp::create(b, loc, typeOf(shape, b.getI64Type()), position);
  if (!matchPattern(stride, m_One())) {
    if (d + 1 < block.getRank())
      stride = alignedStride(stride);
    wide = arith::MulIOp::create(b, loc, wide, splat(stride, shape));
  }
  wide = spread(wide, d);
  offset = offset ? arith::AddIOp::create(b, loc, offset, wide).getResult() : wide;
}

/// A dimension that the block does not have: one position of it.
void Expansion::addCoordinate(Value position, Value size, Value stride, bool isLast) {
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, position, size);
  restrict(splat(inside, block.getShape()));
  Value wide = arith::ExtSIOp::create(b, loc, b.getI64Type(), position);
  wide = arith::MulIOp::create(b, loc, wide, isLast ? stride : alignedStride(stride));
  base = AddPtrOp::create(b, loc, base, wide);
}

Value Expansion::pointers() {
  return AddPtrOp::create(b, loc, splat(base, block.getShape()), offset);
}

/// The expansion of any of the operations; `op` names the parts, `block` is what is loaded
/// or stored: the accessed block, perhaps without dimensions of size one.
template <typename Op> static Expansion expand(Op op, RankedTensorType accessed, Type block) {
  Expansion e(op, op.getBase(), block);
  auto kept = *keptDimensions(accessed.getShape(), cast<RankedTensorType>(block).getShape());
  for (auto [d, place] : llvm::enumerate(kept)) {
    Value size = op.getShape()[d], stride = op.getStrides()[d];
    if constexpr (requires { op.getRows(); })
      e.addDimension(d, d == 0 ? op.getRows() : e.offsetPositions(d, op.getColumn()), size, stride);
    else if (place < 0)
      e.addCoordinate(op.getOffsets()[d], size, stride, d + 1 == kept.size());
    else
      e.addDimension(place, e.offsetPositions(place, op.getOffsets()[d]), size, stride);
  }
  return e;
}

/// A reshape between a block and the same without some of its dimensions of size one.
static bool dropsUnits(Type whole, Type narrow) {
  auto from = cast<RankedTensorType>(whole), to = cast<RankedTensorType>(narrow);
  return to.getRank() > 0 && to.getRank() < from.getRank() &&
         keptDimensions(from.getShape(), to.getShape());
}

static Value loadOf(Operation *op, RankedTensorType type, Expansion e, bool padNan) {
  OpBuilder b(op);
  Value other;
  if (padNan) {
    auto element = cast<FloatType>(type.getElementType());
    other = arith::ConstantOp::create(
        b, op->getLoc(),
        DenseElementsAttr::get(type, APFloat::getQNaN(element.getFloatSemantics())));
  }
  return LoadOp::create(b, op->getLoc(), e.pointers(), e.mask, other);
}

static void expandStore(Operation *op, Expansion e, Value value) {
  OpBuilder b(op);
  StoreOp::create(b, op->getLoc(), e.pointers(), value, e.mask, CacheModifier::none,
                  EvictionPolicy::normal);
}

/// Loads what a reshape takes from the block, if there is one: where dimensions of size
/// one are left out for a product, nothing stands between it and the copy.
static Value expandLoad(DescriptorLoadOp op) {
  RankedTensorType type = op.getType(), narrow = type;
  for (Operation *user : op->getUsers())
    if (auto reshape = dyn_cast<ReshapeOp>(user); reshape && dropsUnits(type, reshape.getType()))
      narrow = reshape.getType();
  Value load = loadOf(op, narrow, expand(op, type, narrow), op.getPadding() == Padding::nan);
  if (narrow == type)
    return load;
  for (Operation *user : op->getUsers())
    if (auto reshape = dyn_cast<ReshapeOp>(user); reshape && reshape.getType() == narrow)
      reshape.getResult().replaceAllUsesWith(load);
  // For the other users, and for those reshapes, whose turn to go comes later.
  OpBuilder b(op);
  return ReshapeOp::create(b, op.getLoc(), type, load, /*allow_reorder=*/false);
}

/// What is stored, before it was given dimensions of size one.
static Value withoutUnits(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  return reshape && dropsUnits(value.getType(), reshape.getOperand().getType())
             ? reshape.getOperand()
             : value;
}

template <typename Op> static Expansion expandValue(Op op, Value value) {
  return expand(op, cast<RankedTensorType>(op.getValue().getType()), value.getType());
}

static void expandReduce(DescriptorReduceOp op) {
  OpBuilder b(op);
  Value value = withoutUnits(op.getValue());
  Expansion e = expandValue(op, value);
  AtomicRmwOp::create(b, op.getLoc(), value.getType(), op.getKind(), MemSemantic::relaxed,
                      MemScope::gpu, e.pointers(), value, e.mask);
}

bool tile::expandDescriptor(Operation *op) {
  if (auto o = dyn_cast<DescriptorLoadOp>(op))
    o.getResult().replaceAllUsesWith(expandLoad(o));
  else if (auto o = dyn_cast<DescriptorGatherOp>(op))
    o.getResult().replaceAllUsesWith(
        loadOf(op, o.getType(), expand(o, o.getType(), o.getType()), false));
  else if (auto o = dyn_cast<DescriptorStoreOp>(op))
    expandStore(op, expandValue(o, withoutUnits(o.getValue())), withoutUnits(o.getValue()));
  else if (auto o = dyn_cast<DescriptorScatterOp>(op))
    expandStore(op, expandValue(o, o.getValue()), o.getValue());
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
    getOperation().walk([](Operation *op) {
      LDBG() << "visits " << OpWithFlags(op, OpPrintingFlags().skipRegions());
      accessesExpanded += expandDescriptor(op);
    });
    // Reshapes that nobody needs any more would still ask for layouts.
    SmallVector<ReshapeOp> reshapes;
    getOperation().walk([&](ReshapeOp op) { reshapes.push_back(op); });
    for (ReshapeOp op : llvm::reverse(reshapes))
      if (op->use_empty())
        op->erase();
  }
};
} // namespace
