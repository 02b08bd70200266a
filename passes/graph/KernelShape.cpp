//===- KernelShape.cpp - a group of operations as rows and columns --------===//
#include "passes/graph/KernelShape.h"
#include "mlir/IR/BuiltinOps.h"

using namespace mlir;
using namespace tile::graph;

Sizes tile::graph::contiguousStrides(ArrayRef<Size> shape) {
  Sizes strides(shape.size());
  Size step(1);
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step = step * shape[i];
  }
  return strides;
}

bool KernelShape::isNumber(unsigned input) const {
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(kNumbersAttr);
  return numbers && llvm::is_contained(numbers.asArrayRef(), int64_t(input));
}

bool KernelShape::aligns(const Size &size) const {
  auto strides = [&](const Access &access) {
    return llvm::is_contained(access.rowStrides, size) ||
           llvm::is_contained(access.columnStrides, size);
  };
  return size == product(columns) || llvm::any_of(loads, strides) || llvm::any_of(stores, strides);
}

static Size bytesIn(ValueRange arrays, llvm::function_ref<bool(unsigned)> counts) {
  Size bytes;
  for (auto [i, value] : llvm::enumerate(arrays)) {
    auto type = cast<GraphTensorType>(value.getType());
    if (counts(i))
      bytes = bytes + product(type.sizes()) * Size(bytesOf(type.getElement()));
  }
  return bytes;
}

Size KernelShape::bytesRead() const {
  return bytesIn(op->getOperands(), [&](unsigned i) { return !isNumber(i); });
}

Size KernelShape::bytesWritten() const {
  return bytesIn(op->getResults(), [](unsigned) { return true; });
}

namespace {

class Shaper {
public:
  Shaper(KernelOp op, ArrayRef<Sizes> strides) : strides(strides) { shape.op = op; }
  KernelShape run();

private:
  Sizes stridesOf(unsigned array) const;
  void findAccesses();
  unsigned addLoad(unsigned array, const DimMap &map);
  Size strideAlong(const Access &access, unsigned dim) const;
  bool areOne(unsigned outer, unsigned inner) const;
  void collapse();
  void findForms();
  void collectSizes();

  ArrayRef<Sizes> strides;
  KernelShape shape;
  /// Dimensions of the space that are one, by their innermost; outermost first.
  SmallVector<SmallVector<unsigned>> rowGroups, columnGroups;
};

} // namespace

Sizes Shaper::stridesOf(unsigned array) const {
  if (array < strides.size() && !strides[array].empty())
    return strides[array];
  unsigned inputs = shape.op->getNumOperands();
  Value value = array < inputs ? shape.op->getOperand(array) : shape.op->getResult(array - inputs);
  return contiguousStrides(cast<GraphTensorType>(value.getType()).sizes());
}

unsigned Shaper::addLoad(unsigned array, const DimMap &map) {
  for (auto [i, load] : llvm::enumerate(shape.loads))
    if (load.array == array && load.map == map)
      return i;
  shape.loads.push_back({array, map, {}, {}, false, false});
  return shape.loads.size() - 1;
}

void Shaper::findAccesses() {
  Block &body = shape.op.getBody().front();
  for (Operation &op : body.without_terminator())
    for (OpOperand &use : op.getOpOperands()) {
      auto argument = dyn_cast<BlockArgument>(use.get());
      if (argument && !shape.isNumber(argument.getArgNumber()))
        shape.loadOf[&use] = addLoad(argument.getArgNumber(), shape.space.uses.lookup(&use));
    }
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands()))
    shape.stores.push_back({unsigned(shape.op->getNumOperands() + i),
                            shape.space.values.lookup(value),
                            {},
                            {},
                            false,
                            false});
}

Size Shaper::strideAlong(const Access &access, unsigned dim) const {
  Sizes own = stridesOf(access.array);
  for (auto [i, at] : llvm::enumerate(access.map))
    if (at == int(dim))
      return own[i];
  return Size(0);
}

/// Whether `inner` lies behind `outer` in every array.
bool Shaper::areOne(unsigned outer, unsigned inner) const {
  auto follows = [&](const Access &access) {
    return strideAlong(access, outer) == strideAlong(access, inner) * shape.space.dims[inner].size;
  };
  return llvm::all_of(shape.loads, follows) && llvm::all_of(shape.stores, follows);
}

void Shaper::collapse() {
  for (unsigned dim = 0; dim < shape.space.dims.size(); ++dim) {
    auto &groups = shape.space.dims[dim].isReduced ? columnGroups : rowGroups;
    if (!groups.empty() && areOne(groups.back().back(), dim))
      groups.back().push_back(dim);
    else
      groups.push_back({dim});
  }
  if (!shape.reduces && !rowGroups.empty())
    columnGroups.push_back(rowGroups.pop_back_val());
  auto sizeOf = [&](ArrayRef<unsigned> group) {
    Size size(1);
    for (unsigned dim : group)
      size = size * shape.space.dims[dim].size;
    return size;
  };
  for (auto &group : rowGroups)
    shape.rows.push_back(sizeOf(group));
  for (auto &group : columnGroups)
    shape.columns.push_back(sizeOf(group));
  auto fill = [&](Access &access) {
    for (auto &group : rowGroups)
      access.rowStrides.push_back(strideAlong(access, group.back()));
    for (auto &group : columnGroups)
      access.columnStrides.push_back(strideAlong(access, group.back()));
    auto moves = [](const Size &stride) { return stride != Size(0); };
    access.hasRow = llvm::any_of(access.rowStrides, moves);
    access.hasColumn = llvm::any_of(access.columnStrides, moves);
  };
  llvm::for_each(shape.loads, fill);
  llvm::for_each(shape.stores, fill);
}

/// An array that is one number along a dimension is so because its stride is 0.
void Shaper::findForms() {
  for (Operation &op : shape.op.getBody().front().without_terminator()) {
    KernelShape::Form form;
    for (OpOperand &use : op.getOpOperands()) {
      KernelShape::Form own = shape.forms.lookup(use.get());
      if (auto load = shape.loadOf.find(&use); load != shape.loadOf.end())
        own = {shape.loads[load->second].hasRow, shape.loads[load->second].hasColumn};
      form.row |= own.row;
      form.column |= own.column;
    }
    if (isa<ReduceOp>(op))
      form.column = false;
    shape.forms[op.getResult(0)] = form;
  }
}

/// What the kernel must be told: each formula once.
void Shaper::collectSizes() {
  auto add = [&](const Size &size) {
    if (!size.constant() && !llvm::is_contained(shape.sizes, size))
      shape.sizes.push_back(size);
  };
  llvm::for_each(shape.rows, add);
  llvm::for_each(shape.columns, add);
  add(product(shape.rows));
  add(product(shape.columns));
  for (auto *accesses : {&shape.loads, &shape.stores})
    for (const Access &access : *accesses) {
      llvm::for_each(access.rowStrides, add);
      llvm::for_each(access.columnStrides, add);
    }
  std::string error;
  for (SizeOp op : shape.op.getBody().front().getOps<SizeOp>())
    add(*Size::parse(op.getSize(), error));
}

KernelShape Shaper::run() {
  SmallVector<Operation *> ops;
  for (Operation &op : shape.op.getBody().front().without_terminator())
    ops.push_back(&op);
  std::string reason;
  std::optional<Space> space = findSpace(ops, reason);
  assert(space && "a kernel has a space: it was grouped by it");
  shape.space = std::move(*space);
  shape.reduces = shape.space.hasReductions();
  findAccesses();
  collapse();
  findForms();
  collectSizes();
  return std::move(shape);
}

KernelShape tile::graph::shapeOf(KernelOp op, ArrayRef<Sizes> strides) {
  return Shaper(op, strides).run();
}
