//===- Emit.cpp - a kernel's rows and columns as a tile function ----------===//
//
// A program takes `cut.rows` rows. Rows that fit into a block are loaded once, all that is
// computed from them stays where it is, and results are stored at the end. Longer rows are
// gone through in a loop for each reduction that needs the result of another, and once
// more for what is stored.
//
// Values are blocks of one of four forms: numbers, columns (one for each row), rows, and
// both. With one row a program, what has no columns is a number.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/BuiltinOps.h"
#include "passes/graph/Elements.h"
#include "passes/graph/KernelShape.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

namespace {

class Emitter {
public:
  Emitter(const KernelShape &shape, const Cut &cut, ModuleOp module)
      : shape(shape), op(shape.op), cut(cut), module(module), b(module.getContext()),
        loc(op.getLoc()), index(b.getIntegerType(cut.wide ? 64 : 32)) {}
  void run();

private:
  template <typename Op, typename... Args> Value make(Args &&...args) {
    return Op::create(b, loc, std::forward<Args>(args)...);
  }
  // Parameters and indices.
  func::FuncOp makeFunction();
  Value sizeValue(const Size &size);
  Value number(Type type, int64_t value);
  void findIndices();
  void enterColumns(Value start);
  SmallVector<Value> partsOf(Value linear, ArrayRef<Size> sizes);

  // Blocks.
  Type blockType(Form form, Type element) const;
  Value spread(Value value, Form from, Form to);
  Value all(Value x, Form fx, Value y, Form fy, Form &form);

  // Memory.
  Value widen(Value value);
  Value offset(ArrayRef<Value> parts, ArrayRef<Size> strides);
  Value pointers(const Access &access, Form form);
  Value maskOf(Form form);
  Value onlyWhereFirst(const Access &access, Form form, Value mask, Form &masked);
  Value load(unsigned index);
  std::optional<ReduceKind> directKind(unsigned index) const;
  void store(unsigned index);

  // Operations.
  Value get(OpOperand &use, Form &form);
  Value emit(Value value);
  Value emitOp(Operation *op, Form form);
  Value emitMap(MapOp op, Form form);
  Value emitReduce(graph::ReduceOp op);
  Value reduceBlock(graph::ReduceOp op, Value block, Form form);
  Value cleared(graph::ReduceOp op, Value block, Form form);

  // Loops.
  unsigned levelOf(Value value);
  void runAtOnce();
  void runInPasses();
  void runPass(unsigned level, ArrayRef<graph::ReduceOp> reductions, ArrayRef<unsigned> stores);

  const KernelShape &shape;
  KernelOp op;
  const Cut &cut;
  ModuleOp module;
  OpBuilder b;
  Location loc;
  Type index; ///< of row and column indices

  SmallVector<Value> arrays; ///< pointers and numbers, by array
  SmallVector<std::pair<Size, Value>> sizes;
  Value row, rowMask;       ///< indices of the program's rows; mask: null if all are there
  Value column, columnMask; ///< indices of the block's columns
  SmallVector<Value> rowParts, columnParts; ///< along each of the shape's
  Value firstColumns;                       ///< i1: the block has column 0; null: it always does

  /// What is known, and what is known in the loop that is being filled.
  DenseMap<Value, Value> whole, chunk;
  DenseMap<unsigned, Value> wholeLoads, chunkLoads;
  Operation *loop = nullptr;
  DenseMap<Value, unsigned> levels;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parameters and indices
//===----------------------------------------------------------------------===//

func::FuncOp Emitter::makeFunction() {
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  auto add = [&](Type type, bool divides) {
    NamedAttrList list;
    list.append(kSignatureIndexAttr, b.getI64IntegerAttr(types.size()));
    if (divides)
      list.append(kDivisibilityAttr, b.getI32IntegerAttr(16));
    attributes.push_back(list.getDictionary(b.getContext()));
    types.push_back(type);
  };
  auto at = [](const std::vector<bool> &flags, size_t i) { return i < flags.size() && flags[i]; };
  unsigned inputs = op->getNumOperands(), count = inputs + op->getNumResults();
  for (unsigned i = 0; i < count; ++i) {
    Value array = i < inputs ? op->getOperand(i) : op->getResult(i - inputs);
    Type element = cast<GraphTensorType>(array.getType()).getElement();
    bool isNumber = i < inputs && shape.isNumber(i);
    if (isNumber)
      add(Elements::computed(element), false);
    else
      add(PtrType::get(Elements::stored(element)), at(cut.aligned, i));
  }
  for (size_t i = 0; i < shape.sizes.size(); ++i)
    add(index, at(cut.divisible, i));
  auto function = func::FuncOp::create(b, loc, op.getName(), b.getFunctionType(types, {}));
  function.setAllArgAttrs(attributes);
  Block *body = function.addEntryBlock();
  b.setInsertionPointToEnd(body);
  for (unsigned i = 0; i < count; ++i)
    arrays.push_back(body->getArgument(i));
  for (auto [i, size] : llvm::enumerate(shape.sizes))
    sizes.push_back({size, body->getArgument(count + i)});
  return function;
}

Value Emitter::number(Type type, int64_t value) {
  return make<arith::ConstantOp>(type, b.getIntegerAttr(type, value));
}

Value Emitter::sizeValue(const Size &size) {
  if (std::optional<int64_t> constant = size.constant())
    return number(index, *constant);
  for (auto &[known, value] : sizes)
    if (known == size)
      return value;
  llvm_unreachable("the shape lists all sizes that the kernel needs");
}

/// Where a linear index is along each of several sizes.
SmallVector<Value> Emitter::partsOf(Value linear, ArrayRef<Size> along) {
  SmallVector<Value> parts(along.size());
  auto like = [&](const Size &size) {
    Value value = sizeValue(size);
    return isa<RankedTensorType>(linear.getType()) ? make<SplatOp>(linear.getType(), value) : value;
  };
  for (size_t i = along.size(); i-- > 1;) {
    Value size = like(along[i]);
    parts[i] = make<arith::RemSIOp>(linear, size);
    linear = make<arith::DivSIOp>(linear, size);
  }
  if (!parts.empty())
    parts[0] = linear;
  return parts;
}

/// Which rows are the program's, and which columns if it does not take all of them.
void Emitter::findIndices() {
  Value program = make<ProgramIdOp>(b.getI32Type(), 0u);
  if (cut.wide)
    program = make<arith::ExtSIOp>(index, program);
  bool hasRows = !product(shape.rows).isConstant(1);
  Value columnBlock;
  if (!shape.reduces && !cut.oneBlock) {
    columnBlock = program;
    if (hasRows) {
      Value block = number(index, cut.block);
      Value up =
          make<arith::AddIOp>(sizeValue(product(shape.columns)), number(index, cut.block - 1));
      Value blocks = make<arith::DivSIOp>(up, block);
      columnBlock = make<arith::RemSIOp>(program, blocks);
      program = make<arith::DivSIOp>(program, blocks);
    } else {
      program = number(index, 0);
    }
    firstColumns = make<arith::CmpIOp>(arith::CmpIPredicate::eq, columnBlock, number(index, 0));
  }
  row = program;
  if (cut.rows > 1) {
    auto line = RankedTensorType::get({cut.rows}, b.getI32Type());
    Value range = make<MakeRangeOp>(line, 0u, uint32_t(cut.rows));
    Type wide = RankedTensorType::get({cut.rows}, index);
    if (cut.wide)
      range = make<arith::ExtSIOp>(wide, range);
    Value start = make<arith::MulIOp>(program, number(index, cut.rows));
    Value lines = make<arith::AddIOp>(make<SplatOp>(wide, start), range);
    row = make<ExpandDimsOp>(blockType({true, false}, index), lines, 1u);
    if (!cut.evenRows) {
      Value count = spread(sizeValue(product(shape.rows)), {}, {true, false});
      rowMask = make<arith::CmpIOp>(arith::CmpIPredicate::slt, row, count);
    }
  }
  rowParts = partsOf(row, shape.rows);
  if (!cut.loop)
    enterColumns(columnBlock ? make<arith::MulIOp>(columnBlock, number(index, cut.block))
                             : Value());
}

/// The block's columns begin at `start`; null: at the first.
void Emitter::enterColumns(Value start) {
  auto line = RankedTensorType::get({cut.block}, b.getI32Type());
  Value range = make<MakeRangeOp>(line, 0u, uint32_t(cut.block));
  Type type = RankedTensorType::get({cut.block}, index);
  if (cut.wide)
    range = make<arith::ExtSIOp>(type, range);
  if (start)
    range = make<arith::AddIOp>(make<SplatOp>(type, start), range);
  column = range;
  if (cut.rows > 1)
    column = make<ExpandDimsOp>(blockType({false, true}, index), range, 0u);
  columnMask = {};
  if (!cut.evenColumns) {
    Value count = spread(sizeValue(product(shape.columns)), {}, {false, true});
    columnMask = make<arith::CmpIOp>(arith::CmpIPredicate::slt, column, count);
  }
  columnParts = partsOf(column, shape.columns);
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

Type Emitter::blockType(Form form, Type element) const {
  if (cut.rows == 1)
    return form.column ? Type(RankedTensorType::get({cut.block}, element)) : element;
  if (!form.row && !form.column)
    return element;
  return RankedTensorType::get({form.row ? cut.rows : 1, form.column ? cut.block : 1}, element);
}

Value Emitter::spread(Value value, Form from, Form to) {
  Type element = getElementType(value.getType());
  Type target = blockType(to, element);
  if (value.getType() == target)
    return value;
  return isa<RankedTensorType>(value.getType()) ? make<BroadcastOp>(target, value)
                                                : make<SplatOp>(target, value);
}

/// Both of two masks, either of which may be null.
Value Emitter::all(Value x, Form fx, Value y, Form fy, Form &form) {
  form = {fx.row || fy.row, fx.column || fy.column};
  if (!x || !y) {
    form = x ? fx : fy;
    return x ? x : y;
  }
  return make<arith::AndIOp>(spread(x, fx, form), spread(y, fy, form));
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value Emitter::widen(Value value) {
  Type wide = withElementType(value.getType(), b.getI64Type());
  return wide == value.getType() ? value : make<arith::ExtSIOp>(wide, value);
}

/// The sum of parts times strides; null if there is none. Steps of one stay narrow.
Value Emitter::offset(ArrayRef<Value> parts, ArrayRef<Size> strides) {
  Value sum;
  for (auto [part, stride] : llvm::zip(parts, strides)) {
    if (stride == Size(0))
      continue;
    Value term = part;
    if (!stride.isConstant(1)) {
      Value by = widen(sizeValue(stride));
      term = widen(part);
      if (isa<RankedTensorType>(term.getType()))
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

Value Emitter::pointers(const Access &access, Form form) {
  Value base = arrays[access.array];
  Form at;
  auto step = [&](Value by, Form of) {
    if (!by)
      return;
    at = {at.row || of.row, at.column || of.column};
    base = spread(base, {}, at);
    base = make<AddPtrOp>(base, spread(by, of, at));
  };
  step(offset(rowParts, access.rowStrides), {true, false});
  step(offset(columnParts, access.columnStrides), {false, true});
  return spread(base, at, form);
}

/// Which elements of a block are there; null: all.
Value Emitter::maskOf(Form form) {
  Form of;
  Value mask = all(form.row ? rowMask : Value(), {true, false}, form.column ? columnMask : Value(),
                   {false, true}, of);
  return mask ? spread(mask, of, form) : mask;
}

/// What is the same for several programs, rows or columns is stored by the first.
Value Emitter::onlyWhereFirst(const Access &access, Form form, Value mask, Form &masked) {
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
      restrict(part, {true, false});
  if (!form.column && firstColumns)
    mask = all(mask, masked, firstColumns, {}, masked);
  for (auto [part, stride] : llvm::zip(columnParts, access.columnStrides))
    if (form.column && stride == Size(0))
      restrict(part, {false, true});
  return mask;
}

/// The kind of all reductions that take the array as it is loaded, if there is one, and
/// elements behind the end of a row can be loaded as what changes nothing in it.
std::optional<ReduceKind> Emitter::directKind(unsigned index) const {
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

Value Emitter::load(unsigned index) {
  const Access &access = shape.loads[index];
  Form form{access.hasRow, access.hasColumn};
  bool inLoop = loop && form.column;
  auto &known = inLoop ? chunkLoads : wholeLoads;
  if (Value value = known.lookup(index))
    return value;
  OpBuilder::InsertionGuard guard(b);
  if (loop && !inLoop)
    b.setInsertionPoint(loop);
  Value from = pointers(access, form), mask = maskOf(form);
  Type element = cast<GraphTensorType>(op->getOperand(access.array).getType()).getElement();
  Value other;
  if (std::optional<ReduceKind> kind = directKind(index);
      mask && form.column && kind && kind != ReduceKind::sum) // else it is 0
    other = Elements(b, loc).identity(blockType(form, Elements::stored(element)), *kind, element);
  Value value = make<LoadOp>(from, mask, other);
  return known[index] = Elements(b, loc).fromMemory(value, element);
}

void Emitter::store(unsigned index) {
  const Access &access = shape.stores[index];
  Value result = op.getBody().front().getTerminator()->getOperand(index);
  Type element = cast<GraphTensorType>(result.getType()).getElement();
  Form form = shape.forms.lookup(result);
  Value value = Elements(b, loc).toMemory(emit(result), element);
  Form masked;
  Value mask = onlyWhereFirst(access, form, maskOf(form), masked);
  Form both{form.row || masked.row, form.column || masked.column};
  StoreOp::create(b, loc, pointers(access, both), spread(value, form, both),
                  mask ? spread(mask, masked, both) : Value());
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

Value Emitter::get(OpOperand &use, Form &form) {
  if (auto found = shape.loadOf.find(&use); found != shape.loadOf.end()) {
    const Access &access = shape.loads[found->second];
    form = {access.hasRow, access.hasColumn};
    return load(found->second);
  }
  if (auto argument = dyn_cast<BlockArgument>(use.get())) {
    form = {};
    return arrays[argument.getArgNumber()];
  }
  form = shape.forms.lookup(use.get());
  return emit(use.get());
}

Value Emitter::emit(Value value) {
  Form form = shape.forms.lookup(value);
  bool inLoop = loop && form.column;
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

Value Emitter::emitOp(Operation *op, Form form) {
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
  if (auto map = dyn_cast<MapOp>(op))
    return emitMap(map, form);
  if (auto reduce = dyn_cast<graph::ReduceOp>(op))
    return emitReduce(reduce);
  Value source = get(op->getOpOperand(0), own);
  if (isa<RearrangeOp>(op))
    return source;
  Type from = cast<GraphTensorType>(op->getOperand(0).getType()).getElement();
  return elements.round(elements.convert(source, from, element), element);
}

Value Emitter::emitMap(MapOp op, Form form) {
  Elements elements(b, loc);
  bool isSelect = op.getKind() == MapKind::select;
  Type common = op.getType().getElement();
  if (givesBool(op.getKind())) {
    common = cast<GraphTensorType>(op.getOperand(0).getType()).getElement();
    for (Value operand : op.getOperands())
      common = promoteTypes(common, cast<GraphTensorType>(operand.getType()).getElement());
  }
  SmallVector<Value, 3> values;
  for (OpOperand &use : op->getOpOperands()) {
    Form own;
    Value value = get(use, own);
    Type element = cast<GraphTensorType>(use.get().getType()).getElement();
    if (!isSelect || use.getOperandNumber() > 0)
      value = elements.convert(value, element, common);
    values.push_back(spread(value, own, form));
  }
  return elements.map(op.getKind(), common, values);
}

/// The block with nothing behind the end of its rows that would count.
Value Emitter::cleared(graph::ReduceOp op, Value block, Form form) {
  if (!columnMask)
    return block;
  auto load = shape.loadOf.find(&op.getSrcMutable());
  if (load != shape.loadOf.end() && directKind(load->second))
    return block;
  Value mask = spread(columnMask, {false, true}, form);
  Value nothing =
      Elements(b, loc).identity(block.getType(), op.getKind(), op.getType().getElement());
  return make<arith::SelectOp>(mask, block, nothing);
}

Value Emitter::reduceBlock(graph::ReduceOp op, Value block, Form form) {
  Type element = op.getType().getElement(), type = Elements::computed(element);
  unsigned axis = cut.rows > 1;
  Type result = type;
  if (axis)
    result = RankedTensorType::get({form.row ? cut.rows : 1}, type);
  auto reduce = tile::ReduceOp::create(b, loc, TypeRange{result}, ValueRange{block}, axis);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&reduce.getCombine(), {}, {type, type}, {loc, loc});
    Value combined =
        Elements(b, loc).combine(op.getKind(), element, body->getArgument(0), body->getArgument(1));
    tile::YieldOp::create(b, loc, ValueRange{combined});
  }
  Value value = reduce->getResult(0);
  if (!axis)
    return value;
  if (!form.row) // one for all rows
    return make<UnsplatOp>(type,
                           make<ExpandDimsOp>(RankedTensorType::get({1, 1}, type), value, 1u));
  return make<ExpandDimsOp>(blockType({true, false}, type), value, 1u);
}

Value Emitter::emitReduce(graph::ReduceOp op) {
  Form form;
  Value block = get(op.getSrcMutable(), form);
  if (!form.column) // over dimensions of size 1
    return block;
  return reduceBlock(op, cleared(op, block, form), form);
}

//===----------------------------------------------------------------------===//
// Rows at once, or in passes
//===----------------------------------------------------------------------===//

void Emitter::runAtOnce() {
  for (size_t i = 0; i < shape.stores.size(); ++i)
    store(i);
}

/// How many reductions must be finished before the value can be known.
unsigned Emitter::levelOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return 0;
  if (auto found = levels.find(value); found != levels.end())
    return found->second;
  unsigned level = 0;
  for (Value operand : op->getOperands())
    level = std::max(level, levelOf(operand));
  bool reduces = false;
  if (auto reduce = dyn_cast<graph::ReduceOp>(op)) {
    auto load = shape.loadOf.find(&reduce.getSrcMutable());
    reduces = load != shape.loadOf.end() ? shape.loads[load->second].hasColumn
                                         : shape.forms.lookup(reduce.getSrc()).column;
  }
  return levels[value] = level + reduces;
}

void Emitter::runPass(unsigned level, ArrayRef<graph::ReduceOp> reductions,
                      ArrayRef<unsigned> stored) {
  Elements elements(b, loc);
  SmallVector<Value> initial;
  SmallVector<Form> forms;
  for (graph::ReduceOp reduce : reductions) {
    auto load = shape.loadOf.find(&reduce.getSrcMutable());
    Form form = shape.forms.lookup(reduce.getSrc());
    if (load != shape.loadOf.end())
      form = {shape.loads[load->second].hasRow, true};
    Type element = reduce.getType().getElement();
    forms.push_back(form);
    initial.push_back(
        elements.identity(blockType(form, Elements::computed(element)), reduce.getKind(), element));
  }
  auto turns = scf::ForOp::create(b, loc, number(index, 0), sizeValue(product(shape.columns)),
                                  number(index, cut.block), initial);
  {
    OpBuilder::InsertionGuard guard(b);
    if (reductions.empty())
      b.setInsertionPoint(turns.getBody()->getTerminator());
    else
      b.setInsertionPointToEnd(turns.getBody());
    loop = turns;
    chunk.clear();
    chunkLoads.clear();
    enterColumns(turns.getInductionVar());
    SmallVector<Value> next;
    for (size_t i = 0; i < reductions.size(); ++i) {
      graph::ReduceOp reduce = reductions[i];
      Form form;
      Value block = get(reduce.getSrcMutable(), form);
      next.push_back(elements.combine(reduce.getKind(), reduce.getType().getElement(),
                                      turns.getRegionIterArg(i), cleared(reduce, block, form)));
    }
    for (unsigned i : stored)
      store(i);
    if (!reductions.empty())
      scf::YieldOp::create(b, loc, next);
    loop = nullptr;
  }
  for (size_t i = 0; i < reductions.size(); ++i) {
    graph::ReduceOp reduce = reductions[i];
    whole[reduce.getResult()] = reduceBlock(reduce, turns.getResult(i), forms[i]);
  }
}

void Emitter::runInPasses() {
  Block &body = op.getBody().front();
  unsigned last = 0;
  for (Operation &op : body.without_terminator())
    last = std::max(last, levelOf(op.getResult(0)));
  SmallVector<unsigned> ofRows;
  for (unsigned level = 0; level <= last; ++level) {
    SmallVector<graph::ReduceOp> reductions;
    SmallVector<unsigned> stored;
    for (graph::ReduceOp op : body.getOps<graph::ReduceOp>())
      if (levelOf(op.getResult()) == level + 1 && levelOf(op.getResult()) > levelOf(op.getSrc()))
        reductions.push_back(op);
    for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
      if (levelOf(value) == level && shape.forms.lookup(value).column)
        stored.push_back(i);
    if (!reductions.empty() || !stored.empty())
      runPass(level, reductions, stored);
  }
  columnMask = {};
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    if (!shape.forms.lookup(value).column)
      store(i);
}

void Emitter::run() {
  makeFunction();
  findIndices();
  // Numbers stand in front, where every loop sees them.
  for (Operation &op : op.getBody().front().without_terminator())
    if (isFree(&op))
      emit(op.getResult(0));
  if (cut.loop)
    runInPasses();
  else
    runAtOnce();
  func::ReturnOp::create(b, op.getLoc());
}

void tile::graph::emitKernel(const KernelShape &shape, const Cut &cut, ModuleOp module) {
  Emitter(shape, cut, module).run();
}
