//===- RowSteps.cpp - rows that several programs share --------------------===//
#include "passes/graph/RowSteps.h"
#include "passes/graph/Sources.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

SmallVector<Value> RowSteps::results() {
  return llvm::to_vector(op.getBody().front().getTerminator()->getOperands());
}

/// Sums that go on along rows of what is there at once, and reductions of the same.
bool RowSteps::sharesScans() {
  if (scansAreShared)
    return *scansAreShared;
  Block &body = op.getBody().front();
  bool hasRows = !product(shape.rows).isConstant(1), hasScans = false, are = true;
  auto isOfAll = [&](Form form) { return hasRows && !form.row; };
  auto isThere = [&](Value value) {
    bool is = true;
    visitSources(value, [&](Value source) {
      auto reduce = source.getDefiningOp<graph::ReduceOp>();
      is &= !source.getDefiningOp<graph::ScanOp>() && !(reduce && isAlong(reduce));
      return is;
    });
    return is;
  };
  for (graph::ScanOp scan : body.getOps<graph::ScanOp>()) {
    Form form = shape.forms.lookup(scan.getResult());
    hasScans = true;
    are &= form.column && !isOfAll(form) && isThere(scan.getSrc());
  }
  for (graph::ReduceOp reduce : body.getOps<graph::ReduceOp>())
    are &= !isAlong(reduce) || (!isOfAll(levels.formOfSource(reduce)) && isThere(reduce.getSrc()));
  scansAreShared = hasScans && are;
  return *scansAreShared;
}

SmallVector<graph::ScanOp> RowSteps::scans() {
  return sharesScans() ? llvm::to_vector(op.getBody().front().getOps<graph::ScanOp>())
                       : SmallVector<graph::ScanOp>();
}

/// What is combined along rows has programs that share those. What is reduced is there for each
/// row.
bool RowSteps::canShare() {
  Block &body = op.getBody().front();
  bool hasRows = !product(shape.rows).isConstant(1);
  auto isOfAll = [&](ReduceOp reduce) { return hasRows && !levels.formOfSource(reduce).row; };
  if (!shape.reduces || shape.parts || shape.product)
    return false;
  if (!body.getOps<graph::ScanOp>().empty())
    return sharesScans();
  return llvm::any_of(body.getOps<ReduceOp>(), [&](ReduceOp op) { return isAlong(op); }) &&
         llvm::none_of(body.getOps<ReduceOp>(), isOfAll);
}

/// What is written where it is read, and is one number for each row, is written when no program
/// that shares the row reads it any more.
bool RowSteps::storesRowsApart() {
  auto isOfRow = [&](Value value) { return !shape.forms.lookup(value).column; };
  return op->hasAttr(kInPlaceAttr) && llvm::any_of(results(), isOfRow) &&
         !stores(levels.last()).empty();
}

SmallVector<graph::ReduceOp> RowSteps::reduced(unsigned step) {
  SmallVector<graph::ReduceOp> found;
  for (graph::ReduceOp reduce : op.getBody().front().getOps<graph::ReduceOp>())
    if (isAlong(reduce) && stepOf(reduce) == step)
      found.push_back(reduce);
  return found;
}

SmallVector<graph::ReduceOp> RowSteps::known(unsigned step) {
  llvm::SmallDenseSet<Operation *> wanted;
  for (Value value : needed(step)) {
    auto reduce = value.getDefiningOp<graph::ReduceOp>();
    if (!reduce || !isAlong(reduce) || stepOf(reduce) >= step)
      continue;
    wanted.insert(reduce);
    if (graph::ReduceOp maximum = levels.carriedMaximum(reduce))
      wanted.insert(maximum);
  }
  SmallVector<graph::ReduceOp> found;
  for (graph::ReduceOp reduce : op.getBody().front().getOps<graph::ReduceOp>())
    if (wanted.contains(reduce))
      found.push_back(reduce);
  return found;
}

SmallVector<unsigned> RowSteps::stores(unsigned step) {
  SmallVector<unsigned> found;
  for (auto [i, value] : llvm::enumerate(results()))
    if (shape.forms.lookup(value).column &&
        (sharesScans() ? step == 1 : levels.storedIn(value) == step))
      found.push_back(i);
  return found;
}

SmallVector<unsigned> RowSteps::storesOfRows(unsigned step) {
  SmallVector<unsigned> found;
  for (auto [i, value] : llvm::enumerate(results()))
    if (!shape.forms.lookup(value).column && step + 1 == count())
      found.push_back(i);
  return found;
}

const llvm::SmallDenseSet<Value> &RowSteps::needed(unsigned step) {
  auto [entry, isNew] = neededBy.try_emplace(step);
  if (!isNew)
    return entry->second;
  SmallVector<Value> roots;
  for (graph::ReduceOp reduce : reduced(step))
    roots.push_back(reduce.getResult());
  for (graph::ScanOp scan : scanned(step))
    roots.push_back(scan.getSrc());
  SmallVector<Value> all = results();
  for (unsigned i : stores(step))
    roots.push_back(all[i]);
  for (unsigned i : storesOfRows(step))
    roots.push_back(all[i]);
  visitSources(roots, [&](Value value) {
    entry->second.insert(value);
    auto reduce = value.getDefiningOp<graph::ReduceOp>();
    return !reduce || !isAlong(reduce) || stepOf(reduce) >= step;
  });
  return entry->second;
}

bool RowSteps::reads(unsigned step, unsigned array) {
  if (shape.isNumber(array))
    return true;
  return llvm::any_of(needed(step), [&](Value value) {
    Operation *inner = value.getDefiningOp();
    if (auto argument = dyn_cast<BlockArgument>(value)) // what goes on along the row itself
      return argument.getArgNumber() == array;
    auto reduce = dyn_cast_or_null<graph::ReduceOp>(inner);
    if (!inner || (reduce && isAlong(reduce) && stepOf(reduce) < step))
      return false;
    return llvm::any_of(inner->getOperands(), [&](Value operand) {
      auto argument = dyn_cast<BlockArgument>(operand);
      return argument && argument.getArgNumber() == array;
    });
  });
}

bool RowSteps::writes(unsigned step, unsigned result) {
  return llvm::is_contained(stores(step), result) || llvm::is_contained(storesOfRows(step), result);
}

SmallVector<Type> tile::graph::typesOfShared(const KernelShape &shape, Share share, unsigned step) {
  SmallVector<Type> types;
  if (share == Share::None)
    return types;
  if (share != Share::Step) {
    for (MatmulOp op : productsOf(shape))
      types.push_back(computeType(op.getType().getElement()));
    return types;
  }
  RowSteps steps(shape);
  for (const auto &reductions : {steps.known(step), steps.reduced(step)})
    for (graph::ReduceOp reduce : reductions)
      types.push_back(computeType(graph::ReduceOp(reduce).getType().getElement()));
  for (const auto &scans : {steps.scannedBefore(step), steps.scanned(step)})
    for (graph::ScanOp scan : scans)
      types.push_back(computeType(graph::ScanOp(scan).getType().getElement()));
  return types;
}
