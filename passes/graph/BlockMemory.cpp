//===- BlockMemory.cpp - blocks of a kernel, loaded and stored ------------===//
//
// Where an access lies, by rows and columns, and what of it is masked.
//
//===----------------------------------------------------------------------===//
#include "passes/graph/BlockEmitter.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

Value BlockEmitter::widen(Value value) {
  Type wide = withElementType(value.getType(), b.getI64Type());
  return wide == value.getType() ? value : make<arith::ExtSIOp>(wide, value);
}

/// The sum of parts times strides, of those that are blocks or of those that are numbers;
/// null if there is none, as of columns where what is stored has none. Steps of one stay narrow.
/// `last`: instead of the last stride.
Value BlockEmitter::offset(ArrayRef<Value> parts, ArrayRef<Size> strides, bool blocks, Value last) {
  if (parts.empty())
    return {};
  Value sum;
  for (auto [i, part, stride] : llvm::enumerate(parts, strides)) {
    Value instead = i + 1 == strides.size() ? last : Value();
    bool isThere = instead || stride != Size(0);
    if (!isThere || isa<RankedTensorType>(part.getType()) != blocks)
      continue;
    Value term = part;
    if (instead || !stride.isConstant(1)) {
      Value by = widen(instead ? instead : sizeValue(stride));
      term = widen(part);
      if (blocks)
        by = make<SplatOp>(term.getType(), by);
      term = make<arith::MulIOp>(term, by);
    }
    if (sum && sum.getType() != term.getType()) {
      sum = widen(sum);
      term = widen(term);
    }
    sum = sum ? make<arith::AddIOp>(sum, term) : term;
  }
  return sum;
}

Value BlockEmitter::pointers(const Access &access, Form form) {
  Value base = arrayInstead ? arrayInstead : frame.arrays[access.array];
  Form at;
  auto step = [&](Value by, Form of) {
    if (!by)
      return;
    Form both{at.row || of.row, at.column || of.column};
    base = spread(base, at, both);
    base = make<AddPtrOp>(base, spread(by, of, both));
    at = both;
  };
  step(offset(rowParts, access.rowStrides, false), {});
  step(offset(rowParts, access.rowStrides, true, rowStrideInstead), {true, false});
  step(offset(columnParts, access.columnStrides, true, columnStrideInstead), {false, true});
  return spread(base, at, form);
}

/// Which elements of a block are there; null: all.
Value BlockEmitter::maskOf(Form form) {
  Form of;
  Value mask = all(form.row ? rowMask : Value(), {true, false}, form.column ? columnMask : Value(),
                   {false, true}, of);
  return mask ? spread(mask, of, form) : mask;
}

/// What is the same for several programs, rows or columns is stored by the first.
Value BlockEmitter::onlyWhereFirst(const Access &access, Form form, Value mask, Form &masked) {
  masked = form;
  auto restrict = [&](Value part, Form own) {
    Value zero = number(index, 0);
    if (isa<RankedTensorType>(part.getType()))
      zero = make<SplatOp>(part.getType(), zero);
    Value first = make<arith::CmpIOp>(arith::CmpIPredicate::eq, part, zero);
    mask = all(mask, masked, first, own, masked);
  };
  for (auto [part, stride] : llvm::zip(rowParts, access.rowStrides))
    if (stride == Size(0))
      restrict(part, {isa<RankedTensorType>(part.getType()), false});
  if (!form.column && firstColumns)
    mask = all(mask, masked, firstColumns, {}, masked);
  for (auto [part, stride] : llvm::zip(columnParts, access.columnStrides))
    if (form.column && stride == Size(0))
      restrict(part, {false, true});
  return mask;
}

/// The kind of all reductions that take the array as it is loaded, if there is one, and
/// elements behind the end of a row can be loaded as what changes nothing in it.
std::optional<ReduceKind> BlockEmitter::directKind(unsigned index) const {
  std::optional<ReduceKind> kind;
  for (auto &[use, load] : shape.loadOf) {
    auto reduce = dyn_cast<graph::ReduceOp>(use->getOwner());
    if (load != index || !reduce)
      continue;
    Type element = reduce.getType().getElement();
    bool hasInfinity = isa<FloatType>(element) && element.getIntOrFloatBitWidth() > 8;
    bool isSum = reduce.getKind() == ReduceKind::sum;
    if ((!isSum && !hasInfinity) || reduce.getKind() == ReduceKind::prod ||
        (kind && kind != reduce.getKind()))
      return std::nullopt;
    kind = reduce.getKind();
  }
  return kind;
}

bool BlockEmitter::isLowestOutside(OpOperand &use, ReduceOp maximum) const {
  auto load = shape.loadOf.find(&use), other = shape.loadOf.find(&maximum.getSrcMutable());
  return load != shape.loadOf.end() && other != shape.loadOf.end() &&
         load->second == other->second && directKind(load->second) == ReduceKind::max;
}

Value BlockEmitter::load(unsigned index) {
  const Access &access = shape.loads[index];
  Form form{access.hasRow, access.hasColumn};
  bool inLoop = changes(form);
  auto &known = inLoop ? chunkLoads : wholeLoads;
  if (Value value = known.lookup(index))
    return value;
  OpBuilder::InsertionGuard guard(b);
  if (loop && !inLoop)
    b.setInsertionPoint(loop);
  Type element = cast<GraphTensorType>(op->getOperand(access.array).getType()).getElement();
  if (frame.isAbsent(access.array))
    return known[index] =
               Elements(b, loc).constant(blockType(form, Elements::computed(element)), 0);
  Value from = pointers(access, form), mask = maskOf(form);
  Value other;
  if (std::optional<ReduceKind> kind = directKind(index);
      mask && form.column && kind && kind != ReduceKind::sum) // else it is 0
    other = Elements(b, loc).identity(blockType(form, Elements::stored(element)), *kind, element);
  // It takes its own places in the cache, not those of what must be written back first.
  bool isOnce = streams && form.row && form.column;
  Value value = make<LoadOp>(from, mask, other, CacheModifier::none,
                             isOnce ? EvictionPolicy::evict_first : EvictionPolicy::normal);
  return known[index] = Elements(b, loc).fromMemory(value, element);
}

void BlockEmitter::store(unsigned index) {
  const Access &access = shape.stores[index];
  if (frame.isAbsent(access.array))
    return;
  Value result =
      op.getBody().front().getTerminator()->getOperand(access.array - op->getNumOperands());
  Form form = shape.forms.lookup(result), masked;
  Value mask = onlyWhereFirst(access, form, maskOf(form), masked);
  Form both{form.row || masked.row, form.column || masked.column};
  mask = mask ? spread(mask, masked, both) : Value();
  Value whole = pointers(access, both);
  if (auto join = result.getDefiningOp<JoinOp>())
    storeParts(join, whole, mask, both, frame.number(frame.b.getI64Type(), 0));
  else
    StoreOp::create(b, loc, whole, spread(storedBlock(result), form, both), mask);
}

Value BlockEmitter::storedBlock(Value value) {
  return Elements(b, loc).toMemory(emit(value),
                                   cast<GraphTensorType>(value.getType()).getElement());
}

/// One behind the other, from `from` on: what is read is read before anything is stored.
void BlockEmitter::storeParts(JoinOp join, Value whole, Value mask, Form form, Value from) {
  Value step = widen(sizeValue(shape.stepOf(join)));
  SmallVector<std::pair<Value, Value>> stores;
  for (OpOperand &use : join->getOpOperands()) {
    Value by = number(b.getI64Type(), use.getOperandNumber());
    Value start = make<arith::AddIOp>(from, make<arith::MulIOp>(by, step));
    if (auto inner = use.get().getDefiningOp<JoinOp>()) {
      storeParts(inner, whole, mask, form, start);
      continue;
    }
    Form own;
    Value block = get(use, own);
    Type element = cast<GraphTensorType>(use.get().getType()).getElement();
    Value at = make<AddPtrOp>(whole, spread(start, {}, form));
    stores.push_back({at, spread(Elements(b, loc).toMemory(block, element), own, form)});
  }
  for (auto [at, block] : stores)
    StoreOp::create(b, loc, at, block, mask);
}
