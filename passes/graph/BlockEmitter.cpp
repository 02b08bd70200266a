//===- BlockEmitter.cpp - operations of a kernel on blocks ----------------===//
#include "passes/graph/BlockEmitter.h"
#include "ir/graph/Attributes.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

void BlockEmitter::setRows(Value index, Value mask, ArrayRef<Value> parts) {
  row = index;
  rowMask = mask;
  rowParts.assign(parts.begin(), parts.end());
}

void BlockEmitter::setColumns(Value index, Value mask, ArrayRef<Value> parts) {
  column = index;
  columnMask = mask;
  columnParts.assign(parts.begin(), parts.end());
}

Value BlockEmitter::asRows(Value line) {
  return make<ExpandDimsOp>(blockType({true, false}, getElementType(line.getType())), line, 1u);
}

Value BlockEmitter::asColumns(Value line) {
  if (numRows == 1)
    return line;
  auto type = cast<RankedTensorType>(line.getType());
  return make<ExpandDimsOp>(RankedTensorType::get({1, type.getDimSize(0)}, type.getElementType()),
                            line, 0u);
}

Value BlockEmitter::below(Value indices, const Size &end) {
  Value limit = make<SplatOp>(indices.getType(), sizeValue(end));
  return make<arith::CmpIOp>(arith::CmpIPredicate::slt, indices, limit);
}

void BlockEmitter::enterLoop(Operation *op, bool changesRows) {
  loop = op;
  rowsChange = changesRows;
  chunk.clear();
  chunkLoads.clear();
}

void BlockEmitter::leaveLoop() {
  loop = nullptr;
  chunk.clear();
  chunkLoads.clear();
  moving.clear();
  carried.clear();
}

void BlockEmitter::knowInLoop(Value value, Value emitted, ArrayRef<Value> users) {
  chunk[value] = emitted;
  moving.insert(users.begin(), users.end());
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Type BlockEmitter::blockType(Form form, Type element) const {
  if (numRows == 1)
    return form.column ? Type(RankedTensorType::get({numColumns}, element)) : element;
  if (!form.row && !form.column)
    return element;
  return RankedTensorType::get({form.row ? numRows : 1, form.column ? numColumns : 1}, element);
}

Value BlockEmitter::spread(Value value, Form from, Form to) {
  Type element = getElementType(value.getType());
  Type target = blockType(to, element);
  if (value.getType() == target)
    return value;
  return isa<RankedTensorType>(value.getType()) ? make<BroadcastOp>(target, value)
                                                : make<SplatOp>(target, value);
}

/// Both of two masks, either of which may be null.
Value BlockEmitter::all(Value x, Form fx, Value y, Form fy, Form &form) {
  form = {fx.row || fy.row, fx.column || fy.column};
  if (!x || !y) {
    form = x ? fx : fy;
    return x ? x : y;
  }
  return make<arith::AndIOp>(spread(x, fx, form), spread(y, fy, form));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Value BlockEmitter::get(OpOperand &use, Form &form) {
  if (auto found = shape.loadOf.find(&use); found != shape.loadOf.end()) {
    const Access &access = shape.loads[found->second];
    form = {access.hasRow, access.hasColumn};
    return load(found->second);
  }
  if (auto argument = dyn_cast<BlockArgument>(use.get())) {
    form = {};
    return frame.arrays[argument.getArgNumber()];
  }
  form = shape.forms.lookup(use.get());
  return emit(use.get());
}

Value BlockEmitter::operandBlock(OpOperand &use, Type common, Value mask, Form masked) {
  Elements elements(b, loc);
  Form form;
  Value value = get(use, form);
  Type element = cast<GraphTensorType>(use.get().getType()).getElement();
  value = spread(elements.convert(value, element, common), form, {true, true});
  if (mask && use.get().getDefiningOp()) {
    Value nothing = elements.constant(value.getType(), 0);
    value = make<arith::SelectOp>(spread(mask, masked, {true, true}), value, nothing);
  }
  return elements.toMemory(value, common);
}

Value BlockEmitter::emit(Value value) {
  Form form = shape.forms.lookup(value);
  bool inLoop = changes(form) || (loop && moving.contains(value));
  for (auto *known : {&whole, &chunk})
    if (Value found = known->lookup(value))
      return found;
  OpBuilder::InsertionGuard guard(b);
  if (loop && !inLoop)
    b.setInsertionPoint(loop);
  Location before = std::exchange(loc, value.getLoc());
  Value result = emitOp(value.getDefiningOp(), form);
  loc = before;
  return (inLoop ? chunk : whole)[value] = result;
}

Value BlockEmitter::emitOp(Operation *op, Form form) {
  Elements elements(b, loc);
  Type element = cast<GraphTensorType>(op->getResult(0).getType()).getElement();
  Form own;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    Type type = Elements::computed(element);
    if (auto whole = dyn_cast<IntegerAttr>(constant.getValue()); whole && isa<IntegerType>(type))
      return number(type, whole.getInt());
    auto real = dyn_cast<FloatAttr>(constant.getValue());
    return elements.constant(type, real ? real.getValueAsDouble()
                                        : double(cast<IntegerAttr>(constant.getValue()).getInt()));
  }
  if (auto size = dyn_cast<SizeOp>(op)) {
    std::string error;
    return widen(sizeValue(*Size::parse(size.getSize(), error)));
  }
  if (isa<IndexOp>(op))
    return emitIndex(shape.indices.find(op->getResult(0))->second, form);
  if (auto gather = dyn_cast<GatherOp>(op))
    return emitGather(gather, form);
  if (auto map = dyn_cast<MapOp>(op))
    return emitMap(map, form);
  if (auto reduce = dyn_cast<graph::ReduceOp>(op))
    return emitReduce(reduce);
  if (auto scan = dyn_cast<graph::ScanOp>(op))
    return emitScan(scan, form);
  Value source = get(op->getOpOperand(0), own);
  if (isa<RearrangeOp>(op))
    return source;
  Type from = cast<GraphTensorType>(op->getOperand(0).getType()).getElement();
  return elements.round(elements.convert(source, from, element), element);
}

/// The block's own indices; where a dimension is no block's, the program's.
Value BlockEmitter::emitIndex(const Access &access, Form form) {
  Value part = offset(rowParts, access.rowStrides, true);
  if (!part && form.column)
    part = offset(columnParts, access.columnStrides, true);
  if (!part)
    part = offset(rowParts, access.rowStrides, false);
  if (!part) // a dimension of 1
    part = number(index, 0);
  Type narrow = withElementType(part.getType(), b.getI32Type());
  return part.getType() == narrow ? part : make<arith::TruncIOp>(narrow, part);
}

/// A load at computed indices. Of what is behind the ends of the block nothing is loaded.
Value BlockEmitter::emitGather(GatherOp op, Form form) {
  unsigned array = cast<BlockArgument>(op.getSrc()).getArgNumber();
  if (frame.isAbsent(array))
    return Elements(b, loc).constant(blockType(form, Elements::computed(op.getType().getElement())),
                                     0);
  Value mask = maskOf(form), from = spread(frame.arrays[array], {}, form);
  Form masked = form;
  const Sizes &strides = shape.stridesOf[array];
  Sizes sizes = op.getSrc().getType().sizes();
  for (auto [i, use] : llvm::enumerate(op->getOpOperands().drop_front())) {
    Form own;
    Value at = get(use, own);
    Type element = cast<GraphTensorType>(use.get().getType()).getElement();
    if (!sizes[i].isConstant(1))
      from = make<AddPtrOp>(from, spread(stepsOf(at, strides[i]), own, form));
    if (!op.getGuarded())
      continue;
    Elements elements(b, loc);
    Value wide = elements.convert(at, element, b.getI64Type());
    Value end = widen(sizeValue(sizes[i]));
    if (isa<RankedTensorType>(wide.getType()))
      end = make<SplatOp>(wide.getType(), end);
    // Negative ones are large as well.
    Value inside = make<arith::CmpIOp>(arith::CmpIPredicate::ult, wide, end);
    mask = all(mask, masked, spread(inside, own, form), form, masked);
  }
  Type element = op.getType().getElement();
  Value value = make<LoadOp>(from, mask ? spread(mask, masked, form) : mask, Value());
  return Elements(b, loc).fromMemory(value, element);
}

/// Elements to step over for an index.
Value BlockEmitter::stepsOf(Value at, const Size &stride) {
  if (getElementType(at.getType()).getIntOrFloatBitWidth() < 32)
    at = make<arith::ExtSIOp>(withElementType(at.getType(), b.getI32Type()), at);
  if (stride.isConstant(1))
    return at;
  at = widen(at);
  Value by = widen(sizeValue(stride));
  return make<arith::MulIOp>(
      at, isa<RankedTensorType>(at.getType()) ? make<SplatOp>(at.getType(), by) : by);
}

Value BlockEmitter::emitMap(MapOp op, Form form) {
  Elements elements(b, loc);
  bool isSelect = op.getKind() == MapKind::select;
  Type common = op.getType().getElement();
  if (givesBool(op.getKind())) {
    common = cast<GraphTensorType>(op.getOperand(0).getType()).getElement();
    for (Value operand : op.getOperands())
      common = promoteTypes(common, cast<GraphTensorType>(operand.getType()).getElement());
  }
  if (op.getKind() == MapKind::philox)
    common = b.getI64Type(); // of seed and offset
  SmallVector<Value, 3> values;
  for (OpOperand &use : op->getOpOperands()) {
    Form own;
    Value value = get(use, own);
    Type element = cast<GraphTensorType>(use.get().getType()).getElement();
    if (!isSelect || use.getOperandNumber() > 0)
      value = elements.convert(value, element, common);
    values.push_back(spread(value, own, form));
  }
  if (op->hasAttr(kOfPlacesAttr) && frame.hasEmptySize) // where nobody looks
    values[1] = make<arith::MaxSIOp>(values[1], elements.constant(values[1], common, 1));
  if (op->hasAttr(kOfPlacesAttr)) // rounding toward zero is rounding down there
    return op.getKind() == MapKind::mod ? make<arith::RemSIOp>(values[0], values[1])
                                        : make<arith::DivSIOp>(values[0], values[1]);
  return elements.map(op.getKind(), common, values);
}

/// The block with nothing behind the end of its rows that would count.
Value BlockEmitter::cleared(graph::ReduceOp op, Value block, Form form) {
  auto load = shape.loadOf.find(&op.getSrcMutable());
  if (load != shape.loadOf.end() && directKind(load->second))
    return block;
  return cleared(op.getKind(), op.getType().getElement(), block, form);
}

Value BlockEmitter::cleared(ReduceKind kind, Type element, Value block, Form form) {
  if (!columnMask)
    return block;
  Value mask = spread(columnMask, {false, true}, form);
  Value nothing = Elements(b, loc).identity(block.getType(), kind, element);
  return make<arith::SelectOp>(mask, block, nothing);
}

/// What `combine` of a reduction or a scan does with two elements.
void BlockEmitter::fillCombine(Region &combine, ReduceKind kind, Type element) {
  OpBuilder::InsertionGuard guard(b);
  Type type = Elements::computed(element);
  Block *body = b.createBlock(&combine, {}, {type, type}, {loc, loc});
  Value combined =
      Elements(b, loc).combine(kind, element, body->getArgument(0), body->getArgument(1));
  tile::YieldOp::create(b, loc, ValueRange{combined});
}

Value BlockEmitter::reduceBlock(graph::ReduceOp op, Value block, Form form) {
  return reduceBlock(op.getKind(), op.getType().getElement(), block, form);
}

Value BlockEmitter::reduceBlock(ReduceKind kind, Type element, Value block, Form form) {
  Type type = Elements::computed(element);
  unsigned axis = numRows > 1;
  Type result = type;
  if (axis)
    result = RankedTensorType::get({form.row ? numRows : 1}, type);
  auto reduce = tile::ReduceOp::create(b, loc, TypeRange{result}, ValueRange{block}, axis);
  fillCombine(reduce.getCombine(), kind, element);
  Value value = reduce->getResult(0);
  if (!axis)
    return value;
  if (!form.row) // one for all rows
    return make<UnsplatOp>(type,
                           make<ExpandDimsOp>(RankedTensorType::get({1, 1}, type), value, 1u));
  return make<ExpandDimsOp>(blockType({true, false}, type), value, 1u);
}

Value BlockEmitter::emitReduce(graph::ReduceOp op) {
  Form form;
  Value block = get(op.getSrcMutable(), form);
  if (!form.column) // over dimensions of size 1
    return block;
  return reduceBlock(op, cleared(op, block, form), form);
}

/// Of a whole row, or of a chunk, behind what the chunks before it add up to.
Value BlockEmitter::emitScan(ScanOp op, Form form) {
  Elements elements(b, loc);
  Form own;
  Value block = get(op.getSrcMutable(), own);
  if (!own.column) // along a dimension of size 1
    return block;
  Type element = op.getType().getElement();
  ReduceKind kind = op.getKind();
  auto before = carried.find(op);
  bool isCarried = before != carried.end();
  if (columnMask && (isCarried || op.getReverse())) { // what lies behind the end would count
    Value nothing = elements.identity(block.getType(), kind, element);
    block = make<arith::SelectOp>(spread(columnMask, {false, true}, own), block, nothing);
  }
  auto scan = tile::ScanOp::create(b, loc, TypeRange{block.getType()}, ValueRange{block},
                                   unsigned(numRows > 1), op.getReverse());
  fillCombine(scan.getCombine(), kind, element);
  Value result = scan->getResult(0);
  if (!isCarried)
    return result;
  Value chunk = reduceBlock(kind, element, block, own);
  before->second.second = elements.combine(kind, element, before->second.first, chunk);
  Value from = spread(before->second.first, {own.row, false}, form);
  return elements.combine(kind, element, from, result);
}

Value BlockEmitter::carriedOn(ScanOp op) {
  auto [before, behind] = carried.lookup(op);
  return behind ? behind : before;
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

Value BlockEmitter::partialBlock(PartialOp op, Form &form) {
  Form own;
  Value block = get(op.getSrcMutable(), own);
  form = {true, own.column};
  block = spread(block, own, form);
  Value nothing =
      Elements(b, loc).identity(block.getType(), op.getKind(), op.getType().getElement());
  ValueRange results = KernelOp(shape.op).getBody().front().getTerminator()->getOperands();
  size_t result = llvm::find(results, op.getResult()) - results.begin();
  if (result < frame.ofNothing.size() && frame.ofNothing[result])
    return nothing;
  if (!rowMask)
    return block;
  return make<arith::SelectOp>(spread(rowMask, {true, false}, form), block, nothing);
}

/// The rows of a block as one.
Value BlockEmitter::combineRows(ReduceKind kind, Type element, Value block, Form form) {
  if (numRows == 1)
    return block;
  Type type = Elements::computed(element);
  int64_t columns = form.column ? numColumns : 1;
  auto reduce = tile::ReduceOp::create(b, loc, TypeRange{RankedTensorType::get({columns}, type)},
                                       ValueRange{block}, 0u);
  fillCombine(reduce.getCombine(), kind, element);
  Value line = asColumns(reduce->getResult(0));
  return form.column ? line : make<UnsplatOp>(type, line);
}

Value BlockEmitter::partPointers(unsigned index, Form form) {
  const Access &access = shape.stores[index];
  auto type = cast<GraphTensorType>(op->getResult(index).getType());
  Value base = frame.arrays[access.array];
  base = make<AddPtrOp>(base, stepsOf(part, contiguousStrides(type.sizes())[0]));
  base = spread(base, {}, form);
  Value along = offset(columnParts, access.columnStrides, true);
  return form.column && along ? make<AddPtrOp>(base, spread(along, {false, true}, form)) : base;
}

void BlockEmitter::storePartial(unsigned index, Value block, Form form) {
  auto partial = op.getBody().front().getTerminator()->getOperand(index).getDefiningOp<PartialOp>();
  Type element = partial.getType().getElement();
  Value one = combineRows(partial.getKind(), element, block, form);
  setRows({}, {}, {});
  const Access &access = shape.stores[index];
  Form own{false, access.hasColumn}, masked;
  Value mask = onlyWhereFirst(access, own, maskOf(own), masked);
  Value value = Elements(b, loc).toMemory(spread(one, {false, form.column}, own), element);
  StoreOp::create(b, loc, partPointers(index, own), value,
                  mask ? spread(mask, masked, own) : Value());
}

void BlockEmitter::addPartial(unsigned index, Value block, Form form, Value isFirst) {
  auto partial = op.getBody().front().getTerminator()->getOperand(index).getDefiningOp<PartialOp>();
  Type element = partial.getType().getElement();
  Value one = combineRows(partial.getKind(), element, block, form);
  Form own{false, true}, masked;
  Value to = partPointers(index, own), nothing;
  Value mask = maskOf(own);
  Value isLater = make<arith::XOrIOp>(isFirst, number(b.getI1Type(), 1));
  Value known = all(mask, own, isLater, {}, masked);
  nothing = Elements(b, loc).identity(one.getType(), partial.getKind(), element);
  Value before = make<LoadOp>(to, spread(known, masked, own), nothing);
  one = Elements(b, loc).combine(partial.getKind(), element, before, one);
  StoreOp::create(b, loc, to, one, mask ? spread(mask, own, own) : Value());
}
