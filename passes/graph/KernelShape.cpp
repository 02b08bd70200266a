//===- KernelShape.cpp - a group of operations as rows and columns --------===//
#include "passes/graph/KernelShape.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/SideBySide.h"
#include "passes/graph/Sources.h"
#include <set>

using namespace mlir;
using namespace tile::graph;

namespace {

using Ops = SmallVector<Operation *>;
/// Dimensions of the space that are one, innermost last; none: a dimension of 1.
using Dims = SmallVector<unsigned>;

class Shaper {
public:
  Shaper(KernelOp op, ArrayRef<Sizes> strides, bool joinsRows) : strides(strides) {
    shape.op = op;
    shape.joinsRows = joinsRows;
  }
  /// Of all operations, or of those of one of the products side by side.
  void find(ArrayRef<Operation *> ops);
  void addBeside(Shaper &&other) { shape.beside.push_back(std::move(other.shape)); }
  KernelShape finish() {
    collectSizes();
    return std::move(shape);
  }

private:
  Sizes stridesOf(unsigned array) const;
  unsigned addLoad(KernelShape &of, unsigned array, const DimMap &map);
  void addUse(KernelShape &of, OpOperand &use);
  void findLoads(KernelShape &of, ArrayRef<Operation *> ops);
  void findStores(KernelShape &of, ArrayRef<Operation *> ops);
  void collectSizes();
  Size strideAlong(const Access &access, ArrayRef<unsigned> dims) const;
  bool areOne(unsigned outer, unsigned inner) const;
  void addDim(SmallVector<Dims> &groups, unsigned dim) const;
  Size sizeOf(ArrayRef<unsigned> dims) const;
  void setDims(KernelShape &of, ArrayRef<Dims> rows, ArrayRef<Dims> columns) const;
  void findForms(KernelShape &of, ArrayRef<Operation *> ops) const;
  void shapeRows();
  SmallVector<int64_t> accessesAlong() const;
  size_t innerOf(ArrayRef<Dims> groups) const;
  void shapeProduct();
  void keepReadsApart();
  KernelShape operand(OpOperand &use, ArrayRef<Dims> rows, ArrayRef<Dims> columns,
                      ArrayRef<Operation *> known = {});
  void shapeChain(ProductShape &made, ArrayRef<Dims> rows, ArrayRef<Dims> inner);

  ArrayRef<Sizes> strides;
  KernelShape shape;
};

} // namespace

Sizes Shaper::stridesOf(unsigned array) const {
  if (array < strides.size() && !strides[array].empty())
    return strides[array];
  unsigned inputs = shape.op->getNumOperands();
  Value value = array < inputs ? shape.op->getOperand(array) : shape.op->getResult(array - inputs);
  return contiguousStrides(cast<GraphTensorType>(value.getType()).sizes());
}

unsigned Shaper::addLoad(KernelShape &of, unsigned array, const DimMap &map) {
  for (auto [i, load] : llvm::enumerate(of.loads))
    if (load.array == array && load.map == map)
      return i;
  of.loads.push_back({array, map, {}, {}, false, false});
  return of.loads.size() - 1;
}

void Shaper::addUse(KernelShape &of, OpOperand &use) {
  auto argument = dyn_cast<BlockArgument>(use.get());
  if (isa<GatherOp>(use.getOwner()) && use.getOperandNumber() == 0)
    return; // has indices of its own
  if (argument && !shape.isNumber(argument.getArgNumber()))
    of.loadOf[&use] = addLoad(of, argument.getArgNumber(), shape.space.uses.lookup(&use));
}

/// What is no array: the numbers along a dimension.
static constexpr unsigned kIndex = ~0u;

void Shaper::findLoads(KernelShape &of, ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (isa<IndexOp>(op))
      of.indices[op->getResult(0)] = {
          kIndex, shape.space.values.lookup(op->getResult(0)), {}, {}, false, false};
  for (Operation *op : ops)
    for (OpOperand &use : op->getOpOperands())
      addUse(of, use);
}

void Shaper::findStores(KernelShape &of, ArrayRef<Operation *> ops) {
  Operation *yield = shape.op.getBody().front().getTerminator();
  for (auto [i, value] : llvm::enumerate(yield->getOperands())) {
    if (value.getDefiningOp() && !llvm::is_contained(ops, value.getDefiningOp()))
      continue; // of another product
    of.stores.push_back({unsigned(shape.op->getNumOperands() + i),
                         shape.space.values.lookup(value),
                         {},
                         {},
                         false,
                         false});
  }
}

/// Along dimensions that are one the step is that of the innermost.
Size Shaper::strideAlong(const Access &access, ArrayRef<unsigned> dims) const {
  if (dims.empty())
    return Size(0);
  Sizes own = access.array == kIndex ? Sizes{Size(1)} : stridesOf(access.array);
  for (auto [i, at] : llvm::enumerate(access.map))
    if (at == int(dims.back()))
      return own[i];
  return Size(0);
}

/// Whether `inner` lies behind `outer` in every array.
bool Shaper::areOne(unsigned outer, unsigned inner) const {
  auto follows = [&](const Access &access) {
    return strideAlong(access, outer) == strideAlong(access, inner) * shape.space.dims[inner].size;
  };
  auto indexFollows = [&](const auto &entry) { return follows(entry.second); };
  return llvm::all_of(shape.loads, follows) && llvm::all_of(shape.stores, follows) &&
         llvm::all_of(shape.indices, indexFollows);
}

void Shaper::addDim(SmallVector<Dims> &groups, unsigned dim) const {
  if (!groups.empty() && !groups.back().empty() && areOne(groups.back().back(), dim))
    groups.back().push_back(dim);
  else
    groups.push_back({dim});
}

Size Shaper::sizeOf(ArrayRef<unsigned> dims) const {
  Size size(1);
  for (unsigned dim : dims)
    size = size * shape.space.dims[dim].size;
  return size;
}

/// Of a product only the last of the rows are a block's, if they are not joined.
void Shaper::setDims(KernelShape &of, ArrayRef<Dims> rows, ArrayRef<Dims> columns) const {
  for (const Dims &dims : rows)
    of.rows.push_back(sizeOf(dims));
  for (const Dims &dims : columns)
    of.columns.push_back(sizeOf(dims));
  auto fill = [&](Access &access) {
    access.rowStrides.clear();
    access.columnStrides.clear();
    for (const Dims &dims : rows)
      access.rowStrides.push_back(strideAlong(access, dims));
    for (const Dims &dims : columns)
      access.columnStrides.push_back(strideAlong(access, dims));
    auto moves = [](const Size &stride) { return stride != Size(0); };
    ArrayRef<Size> ofBlock = access.rowStrides;
    bool isLast = shape.space.product && !shape.joinsRows;
    access.hasRow = llvm::any_of(isLast ? ofBlock.take_back() : ofBlock, moves);
    access.hasColumn = llvm::any_of(access.columnStrides, moves);
  };
  llvm::for_each(of.loads, fill);
  llvm::for_each(of.stores, fill);
  for (auto &[value, access] : of.indices)
    fill(access);
}

/// What an operation gives changes where something that it reads does.
void Shaper::findForms(KernelShape &of, ArrayRef<Operation *> ops) const {
  for (Operation *op : ops) {
    KernelShape::Form form;
    if (isa<IndexOp>(op)) {
      const Access &access = of.indices.find(op->getResult(0))->second;
      form = {access.hasRow, access.hasColumn};
    }
    for (OpOperand &use : op->getOpOperands()) {
      KernelShape::Form own = of.forms.lookup(use.get());
      if (auto load = of.loadOf.find(&use); load != of.loadOf.end())
        own = {of.loads[load->second].hasRow, of.loads[load->second].hasColumn};
      form.row |= own.row;
      form.column |= own.column;
    }
    if (isa<ReduceOp>(op))
      form.column = false;
    if (isa<PartialOp>(op))
      form.row = false;
    of.forms[op->getResult(0)] = form;
  }
}

/// What the kernel must be told: each formula once.
void Shaper::collectSizes() {
  auto add = [&](const Size &size) {
    if (!size.constant() && !llvm::is_contained(shape.sizes, size))
      shape.sizes.push_back(size);
  };
  auto addAll = [&](const KernelShape &of) {
    llvm::for_each(of.rows, add);
    llvm::for_each(of.columns, add);
    add(product(of.rows));
    add(product(of.columns));
    for (auto *accesses : {&of.loads, &of.stores})
      for (const Access &access : *accesses) {
        llvm::for_each(access.rowStrides, add);
        llvm::for_each(access.columnStrides, add);
      }
  };
  auto addProduct = [&](const KernelShape &of) {
    addAll(of);
    if (!of.product)
      return;
    add(of.product->inner);
    addAll(of.product->left);
    addAll(of.product->right);
    for (auto &[op, right] : of.product->others)
      addAll(right);
    if (auto &chain = of.product->chain) {
      for (const ChainShape::First &first : chain->firsts) {
        add(first.depth);
        addAll(first.left);
        addAll(first.right);
      }
    }
  };
  addProduct(shape);
  llvm::for_each(shape.beside, addProduct);
  if (shape.parts)
    add(*shape.parts);
  for (PartialOp op : shape.op.getBody().front().getOps<PartialOp>())
    add(contiguousStrides(op.getType().sizes())[0]);
  for (JoinOp op : shape.op.getBody().front().getOps<JoinOp>())
    add(shape.stepOf(op));
  std::string error;
  for (GatherOp op : shape.op.getBody().front().getOps<GatherOp>())
    for (const Size &stride : stridesOf(cast<BlockArgument>(op.getSrc()).getArgNumber()))
      add(stride);
  for (GatherOp op : shape.op.getBody().front().getOps<GatherOp>())
    if (op.getGuarded())
      for (const Size &size : op.getSrc().getType().sizes())
        add(size);
  // What lies a number before or behind another is computed of that: what divides it is known then.
  for (SizeOp op : shape.op.getBody().front().getOps<SizeOp>()) {
    Size size = *Size::parse(op.getSize(), error);
    if (!shape.sizeBeside(size))
      add(size);
  }
}

void Shaper::shapeRows() {
  SmallVector<Dims> rows, columns;
  for (unsigned dim = 0; dim < shape.space.dims.size(); ++dim) {
    const Space::Dim &of = shape.space.dims[dim];
    bool isColumn = shape.parts && !shape.reduces ? !of.isPartial : of.isReduced;
    addDim(isColumn ? columns : rows, dim);
  }
  if (!shape.reduces && !shape.parts && !rows.empty()) {
    size_t inner = innerOf(rows);
    columns.push_back(rows[inner]);
    rows.erase(rows.begin() + inner);
  }
  setDims(shape, rows, columns);
}

/// Columns of so few that a block would be mostly empty are rows instead: channels of pixels,
/// coordinates, pairs.
static constexpr int64_t kFewColumns = 8;
/// So many times as many accesses lie along other dimensions than along the innermost.
static constexpr int64_t kMoreAccesses = 2;

/// How many accesses of whole arrays go on by one element along each dimension: what is the same
/// along some, as numbers of channels are, comes from the cache.
SmallVector<int64_t> Shaper::accessesAlong() const {
  SmallVector<int64_t> found(shape.space.dims.size(), 0);
  auto isWhole = [&](const DimMap &map) {
    return size_t(llvm::count_if(map, [](int dim) { return dim >= 0; })) == found.size();
  };
  std::set<std::pair<void *, std::vector<int>>> seen;
  auto add = [&](Value array, const DimMap &map) {
    bool isNew =
        seen.insert({array.getAsOpaquePointer(), std::vector<int>(map.begin(), map.end())}).second;
    if (isNew && isWhole(map) && map.back() >= 0)
      ++found[map.back()];
  };
  Block &body = KernelOp(shape.op).getBody().front();
  for (auto &[use, map] : shape.space.uses)
    if (isa<BlockArgument>(use->get()) && !isa<GatherOp>(use->getOwner()))
      add(use->get(), map);
  for (GatherOp gather : body.getOps<GatherOp>())
    if (!gather.getIndices().empty() && isWhole(shape.space.values.lookup(gather.getResult())))
      for (int dim : shape.space.values.lookup(gather.getIndices().back()))
        if (dim >= 0)
          ++found[dim];
  for (Value result : body.getTerminator()->getOperands())
    add(result, shape.space.values.lookup(result));
  return found;
}

/// Which of the dimensions that are one are a kernel's columns, element by element: the innermost
/// ones, if they are more than a few; but others, if most that is read and written lies along
/// those, as channels do that are the last in memory and not in the formula.
size_t Shaper::innerOf(ArrayRef<Dims> groups) const {
  auto isShort = [&](const Dims &dims) {
    std::optional<int64_t> count = sizeOf(dims).constant();
    return count && *count <= kFewColumns;
  };
  SmallVector<int64_t> along = accessesAlong();
  size_t inner = groups.size();
  for (size_t i = groups.size(); i-- > 0;) {
    if (isShort(groups[i]))
      continue;
    bool isFirst = inner == groups.size();
    if (isFirst || along[groups[i].back()] > kMoreAccesses * along[groups[inner].back()])
      inner = i;
  }
  return inner < groups.size() ? inner : groups.size() - 1;
}

/// The operations that a value is computed by, in order, from those on whose results are known.
static Ops sliceOf(Value value, ArrayRef<Operation *> without) {
  llvm::SmallPtrSet<Operation *, 16> slice;
  visitSources(value, [&](Value source) {
    Operation *op = source.getDefiningOp();
    return op && !llvm::is_contained(without, op) && slice.insert(op).second;
  });
  Ops ops(slice.begin(), slice.end());
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return ops;
}

/// The form of what products and a chain's reductions give.
static KernelShape::Form formOfKnown(Operation *op) { return {true, isa<MatmulOp>(op)}; }

/// What becomes one operand of the product.
KernelShape Shaper::operand(OpOperand &use, ArrayRef<Dims> rows, ArrayRef<Dims> columns,
                            ArrayRef<Operation *> known) {
  KernelShape of;
  of.op = shape.op;
  of.stridesOf = shape.stridesOf;
  Ops ops = sliceOf(use.get(), known);
  findLoads(of, ops);
  addUse(of, use);
  setDims(of, rows, columns);
  for (Operation *op : known)
    of.forms[op->getResult(0)] = formOfKnown(op);
  findForms(of, ops);
  return of;
}

/// The left operand of the second product is the scores, one for each row and inner column.
void Shaper::shapeChain(ProductShape &made, ArrayRef<Dims> rows, ArrayRef<Dims> inner) {
  auto chain = std::make_shared<ChainShape>();
  chain->of = *shape.space.chain;
  SmallVector<Operation *> known;
  for (auto [first, dim] : llvm::zip_equal(chain->of.firsts, shape.space.depths)) {
    auto depth = unsigned(dim);
    SmallVector<Dims> columns = {{depth}}, depthRows(rows);
    depthRows.back() = {depth};
    MatmulOp op = first;
    chain->firsts.push_back({operand(op.getLhsMutable(), rows, columns),
                             operand(op.getRhsMutable(), depthRows, inner),
                             shape.space.dims[depth].size});
    known.push_back(op);
  }
  made.left = operand(made.op.getLhsMutable(), rows, inner, known);
  made.chain = std::move(chain);
}

/// Where a result takes the place of what is read, a thread reads only what it stores: of a
/// product with one row or column all threads of a block would read it, some when it is written.
/// As a block that has rows and columns only the first of them is there.
void Shaper::keepReadsApart() {
  if (!shape.op->hasAttr(kInPlaceAttr))
    return;
  for (Access &load : shape.loads) {
    load.hasRow |= shape.rows.back().isConstant(1);
    load.hasColumn |= shape.columns.back().isConstant(1);
  }
}

void Shaper::shapeProduct() {
  const Space &space = shape.space;
  SmallVector<Dims> programs, rows, columns = {{}}, inner = {{unsigned(space.inner)}};
  for (int dim = 0; dim < int(space.dims.size()); ++dim)
    if (dim != space.rows && dim != space.columns && dim != space.inner &&
        !llvm::is_contained(space.depths, dim))
      addDim(rows, dim);
  programs = rows;
  if (space.rows < 0)
    rows.push_back({});
  else
    addDim(rows, space.rows);
  programs.resize(shape.joinsRows ? 0
                                  : rows.size() - 1); // the last may have become the block's rows
  if (space.columns >= 0)
    columns = {{unsigned(space.columns)}};
  SmallVector<Dims> innerRows = programs;
  innerRows.push_back(inner[0]);

  auto made = std::make_shared<ProductShape>();
  made->op = space.product;
  made->inner = space.dims[space.inner].size;
  if (space.chain)
    shapeChain(*made, rows, inner);
  else
    made->left = operand(made->op.getLhsMutable(), rows, inner);
  made->right = operand(made->op.getRhsMutable(), innerRows, columns);
  for (MatmulOp other : ArrayRef(space.products).drop_front())
    made->others.push_back({other, operand(other.getRhsMutable(), innerRows, columns)});
  // The rest is done with the result.
  Ops behind, known(space.products.begin(), space.products.end());
  if (space.chain && space.chain->hasSoftmax()) {
    known.push_back(space.chain->maximum);
    llvm::append_range(known, space.chain->sums);
  }
  Operation *yield = shape.op.getBody().front().getTerminator();
  for (const Access &store : shape.stores)
    for (Operation *op :
         sliceOf(yield->getOperand(store.array - shape.op->getNumOperands()), known))
      if (!llvm::is_contained(behind, op))
        behind.push_back(op);
  llvm::sort(behind, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  shape.loads.clear();
  shape.loadOf.clear();
  shape.indices.clear();
  findLoads(shape, behind);
  setDims(shape, rows, columns);
  keepReadsApart();
  for (Operation *op : known)
    shape.forms[op->getResult(0)] = formOfKnown(op);
  findForms(shape, behind);
  shape.product = std::move(made);
}

void Shaper::find(ArrayRef<Operation *> ops) {
  std::string reason;
  std::optional<Space> space = findSpace(ops, reason);
  assert(space && "a kernel has a space: it was grouped by it");
  shape.space = std::move(*space);
  shape.reduces = shape.space.hasReductions();
  for (Operation *op : ops) {
    if (auto partial = dyn_cast<PartialOp>(op))
      shape.parts = partial.getType().sizes().front();
    if (auto scan = dyn_cast<ScanOp>(op))
      shape.backwards |= scan.getReverse();
  }
  for (unsigned i = 0; i < shape.op->getNumOperands(); ++i)
    shape.stridesOf.push_back(stridesOf(i));
  findLoads(shape, ops);
  findStores(shape, ops);
  if (shape.space.product) {
    shapeProduct();
  } else {
    shapeRows();
    findForms(shape, ops);
  }
}

bool tile::graph::canJoinRows(const KernelShape &shape) {
  if (!shape.product || shape.product->chain || shape.rows.size() < 2)
    return false;
  auto isOne = [](const KernelShape &right) {
    auto isSame = [](const Access &access) {
      return llvm::all_of(ArrayRef(access.rowStrides).drop_back(),
                          [](const Size &stride) { return stride == Size(0); });
    };
    return llvm::all_of(right.loads, isSame) &&
           llvm::all_of(right.indices, [&](const auto &entry) { return isSame(entry.second); });
  };
  auto areOne = [&](const KernelShape &of) {
    return isOne(of.product->right) &&
           llvm::all_of(of.product->others, [&](auto &other) { return isOne(other.second); });
  };
  return areOne(shape) && llvm::all_of(shape.beside, areOne);
}

KernelShape tile::graph::shapeOf(KernelOp op, ArrayRef<Sizes> strides, bool joinsRows) {
  Shaper shaper(op, strides, joinsRows);
  if (!op->hasAttr(kSideBySideAttr)) {
    Ops ops;
    for (Operation &inner : op.getBody().front().without_terminator())
      ops.push_back(&inner);
    shaper.find(ops);
    return shaper.finish();
  }
  std::vector<Ops> apart = productsApart(op);
  shaper.find(apart.front());
  for (const Ops &ops : ArrayRef(apart).drop_front()) {
    Shaper other(op, strides, joinsRows);
    other.find(ops);
    shaper.addBeside(std::move(other));
  }
  return shaper.finish();
}
