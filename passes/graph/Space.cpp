//===- Space.cpp - the indices that a kernel goes over --------------------===//
#include "passes/graph/SpaceFinder.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile::graph;

bool tile::graph::isFree(Operation *op) { return isa<ConstantOp, SizeOp>(op); }

size_t tile::graph::dimensionsOf(Value value) {
  return llvm::count_if(sizesOf(value), [](const Size &size) { return !size.isConstant(1); });
}

std::string tile::graph::spelled(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (auto map = dyn_cast<MapOp>(op))
    name = stringifyMapKind(map.getKind());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    name = stringifyReduceKind(reduce.getKind());
  if (auto partial = dyn_cast<PartialOp>(op))
    name = stringifyReduceKind(partial.getKind());
  if (auto scan = dyn_cast<ScanOp>(op))
    name = scanName(scan.getKind());
  if (isa<JoinOp>(op))
    name = "cat";
  if (auto launch = dyn_cast<LaunchOp>(op))
    name = launch.getName();
  std::string text = formatted("`{}`", name);
  if (auto at = op->getLoc()->findInstanceOf<FileLineColLoc>())
    text += formatted(" in line {}", at.getLine());
  return text;
}

/// Broadcasting aligns dimensions from the last.
void SpaceFinder::visitMap(Operation *op) {
  Value result = op->getResult(0);
  DimMap own = makeAll(shapeOf(result));
  for (OpOperand &operand : op->getOpOperands()) {
    if (isa<GatherOp>(op) && operand.getOperandNumber() == 0)
      continue; // taken from memory, wherever it says
    Sizes shape = shapeOf(operand.get());
    auto inside = values.find(operand.get());
    DimMap use;
    for (auto [i, size] : llvm::enumerate(shape)) {
      int aligned = own[own.size() - shape.size() + i];
      use.push_back(size.isConstant(1) ? -1 : aligned);
      if (inside != values.end())
        unify(inside->second[i], aligned);
    }
    if (inside == values.end())
      uses.push_back({&operand, use});
  }
  values[result] = own;
}

/// The dimensions of an operand, with those that it has where it was computed.
DimMap SpaceFinder::operandOf(OpOperand &use) {
  auto inside = values.find(use.get());
  if (inside != values.end())
    return inside->second;
  uses.push_back({&use, makeAll(shapeOf(use.get()))});
  return uses.back().second;
}

bool SpaceFinder::shareOperand(MatmulOp a, MatmulOp b) {
  return a.getLhs() == b.getLhs() && a.getRhs().getType().sizes() == b.getRhs().getType().sizes();
}

/// Whether a product is the second of a chain, whose first ones it then takes the place of.
bool SpaceFinder::joinsChain(MatmulOp op, const DimMap &dims) {
  if (products.empty() || chain)
    return false;
  chain = findChain(op);
  bool areSame = chain && llvm::equal(chain->firsts, products);
  if (!areSame || (chain->hasSoftmax() && !values.count(chain->maximum.getResult()))) {
    chain.reset();
    return false;
  }
  // All firsts give the same rows of the inner dimension.
  for (MatmulOp first : chain->firsts) {
    DimMap own = values[first.getResult()];
    unify(own[own.size() - 2], productDims[0]);
    unify(own.back(), productDims[1]);
    depthDims.push_back(innerOf[first]);
    if (sizes[depthDims.back()] == sizes[depthDims[0]])
      unify(depthDims.back(), depthDims[0]);
  }
  firstDims = productDims;
  productDims = dims;
  products = {op};
  return true;
}

/// Dimensions before the last two align as in broadcasting.
void SpaceFinder::visitMatmul(MatmulOp op) {
  DimMap own = makeAll(shapeOf(op.getResult()));
  DimMap left = operandOf(op.getLhsMutable()), right = operandOf(op.getRhsMutable());
  auto align = [&](const DimMap &operand) {
    for (size_t i = 0; i + 2 < operand.size(); ++i)
      unify(operand[i], own[own.size() - operand.size() + i]);
  };
  align(left);
  align(right);
  unify(left[left.size() - 2], own[own.size() - 2]);
  unify(right.back(), own.back());
  unify(left.back(), right[right.size() - 2]);
  values[op.getResult()] = own;
  DimMap dims = {own[own.size() - 2], own.back(), left.back()};
  innerOf[op] = left.back();
  if (joinsChain(op, dims))
    return;
  if (products.empty())
    productDims = dims;
  else if (shareOperand(products[0], op)) {
    for (auto [first, dim] : llvm::zip(values[products[0].getResult()], own))
      unify(dim, first);
    unify(left.back(), productDims[2]);
  }
  products.push_back(op);
}

void SpaceFinder::visitRearrange(RearrangeOp op) {
  DimMap source = operandOf(op.getSrcMutable());
  DimMap own;
  for (int64_t dim : op.getDims())
    own.push_back(dim < 0 ? -1 : source[dim]);
  values[op.getResult()] = own;
}

void SpaceFinder::visitReduce(ReduceOp op) {
  DimMap source = operandOf(op.getSrcMutable());
  DimMap own, reduced;
  for (auto [i, dim] : llvm::enumerate(source)) {
    bool goes = llvm::is_contained(op.getAxes(), int64_t(i));
    if (!goes)
      own.push_back(dim);
    else if (dim >= 0)
      reduced.push_back(dim);
  }
  values[op.getResult()] = own;
  if (!reduced.empty())
    reductions.push_back({op, reduced});
}

void SpaceFinder::visitScan(ScanOp op) {
  DimMap own = operandOf(op.getSrcMutable());
  values[op.getResult()] = own;
  if (own[op.getAxis()] >= 0)
    reductions.push_back({op, {own[op.getAxis()]}});
}

void SpaceFinder::visitPartial(PartialOp op) {
  DimMap source = operandOf(op.getSrcMutable());
  DimMap own = {-1}, combined; // the parts are programs
  for (auto [i, dim] : llvm::enumerate(source)) {
    bool goes = llvm::is_contained(op.getAxes(), int64_t(i));
    if (!goes)
      own.push_back(dim);
    else if (dim >= 0)
      combined.push_back(dim);
  }
  values[op.getResult()] = own;
  partials.push_back({op, combined});
}

/// Indices are those of one operand: the others are computed beside it.
void SpaceFinder::visitJoin(JoinOp op) {
  DimMap own;
  for (OpOperand &use : op->getOpOperands()) {
    DimMap part = operandOf(use);
    if (own.empty())
      own = part;
    for (auto [dim, other] : llvm::zip_equal(own, part))
      unify(dim, other);
  }
  values[op.getResult()] = own;
}

void SpaceFinder::visit(Operation *op) {
  if (isFree(op))
    return;
  if (isa<IndexOp>(op)) {
    values[op->getResult(0)] = makeAll(shapeOf(op->getResult(0)));
    inOrder.push_back(op->getResult(0));
    return;
  }
  if (auto rearrange = dyn_cast<RearrangeOp>(op))
    visitRearrange(rearrange);
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    visitReduce(reduce);
  else if (auto partial = dyn_cast<PartialOp>(op))
    visitPartial(partial);
  else if (auto scan = dyn_cast<ScanOp>(op))
    visitScan(scan);
  else if (auto join = dyn_cast<JoinOp>(op))
    visitJoin(join);
  else if (auto matmul = dyn_cast<MatmulOp>(op))
    visitMatmul(matmul);
  else
    visitMap(op);
  inOrder.push_back(op->getResult(0));
}

/// Makes every dimension of `map` one of the space's: those that nothing connects are the
/// same as one of their size that the value does not have yet.
bool SpaceFinder::place(const DimMap &map, const std::string &what) {
  for (size_t i = map.size(); i-- > 0;) {
    if (map[i] < 0 || llvm::is_contained(axes, find(map[i])))
      continue;
    auto isTaken = [&](int axis) {
      return llvm::any_of(map, [&](int dim) { return dim >= 0 && find(dim) == axis; });
    };
    std::optional<size_t> found;
    size_t fromEnd = map.size() - i;
    for (size_t a = axes.size(); a-- > 0;) {
      if (sizes[axes[a]] != sizes[map[i]] || isTaken(axes[a]))
        continue;
      if (!found || axes.size() - a == fromEnd) // aligned as in broadcasting, if possible
        found = a;
    }
    if (!found) {
      std::string shape;
      for (int axis : axes)
        shape += (shape.empty() ? "" : ", ") + sizes[axis].str();
      reason = formatted("{} has a dimension `{}`, which the others, over ({}), do not", what,
                         sizes[map[i]], shape);
      return false;
    }
    int axis = axes[*found];
    parent[find(map[i])] = axis;
  }
  return true;
}

bool SpaceFinder::order() {
  // What is reduced has all dimensions; without reductions it is the largest value.
  DimMap widest;
  auto consider = [&](const DimMap &map) {
    DimMap own;
    for (int dim : map)
      if (dim >= 0)
        own.push_back(dim);
    if (own.size() > widest.size())
      widest = own;
  };
  auto considerSource = [&](Operation *op) {
    auto inside = values.find(op->getOperand(0));
    if (inside != values.end())
      consider(inside->second);
    for (auto &[use, read] : uses)
      if (use->getOwner() == op)
        consider(read);
  };
  for (auto &[op, map] : partials)
    considerSource(op);
  if (!chain)
    for (auto &[op, map] : reductions)
      considerSource(op);
  if (chain || reductions.empty())
    for (Value value : inOrder)
      if (products.empty() || value == products[0].getResult())
        consider(values[value]);
  if (!products.empty())
    widest.push_back(productDims[2]);
  llvm::append_range(widest, depthDims);
  for (int dim : widest)
    if (!llvm::is_contained(axes, find(dim)))
      axes.push_back(find(dim));
  for (Value value : inOrder)
    if (!place(values[value], spelled(value.getDefiningOp())))
      return false;
  for (auto &[use, map] : uses)
    if (!place(map, formatted("what {} reads", spelled(use->getOwner()))))
      return false;
  return true;
}

DimMap SpaceFinder::placed(const DimMap &map) {
  DimMap out;
  for (int dim : map)
    out.push_back(dim < 0 ? -1 : int(llvm::find(axes, find(dim)) - axes.begin()));
  return out;
}

std::optional<Space> SpaceFinder::run(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (isa<LaunchOp>(op)) {
      reason = formatted("{} is a kernel that somebody wrote", spelled(op));
      return std::nullopt;
    }
  for (Operation *op : ops)
    visit(op);
  if (!checkSources() || !checkDistinct() || !checkProduct() || !order() || !checkDistinct() ||
      !checkProduct() || !checkReductions() || !checkScans() || !checkPartials())
    return std::nullopt;
  Space space;
  for (int axis : axes)
    space.dims.push_back({sizes[axis], false});
  if (!reductions.empty() && !chain)
    for (int dim : placed(reductions[0].second))
      space.dims[dim].isReduced = true;
  if (!partials.empty())
    for (int dim : placed(partials[0].second))
      space.dims[dim].isPartial = true;
  if (!products.empty()) {
    DimMap dims = placed(productDims);
    space.product = products[0];
    space.products.assign(products.begin(), products.end());
    space.rows = dims[0];
    space.columns = dims[1];
    space.inner = dims[2];
    space.chain = chain;
    llvm::append_range(space.depths, placed(depthDims));
  }
  for (auto &[value, map] : values)
    space.values[value] = placed(map);
  for (auto &[use, map] : uses)
    space.uses[use] = placed(map);
  return space;
}

std::optional<Space> tile::graph::findSpace(ArrayRef<Operation *> ops, std::string &reason,
                                            bool haveOtherUsers) {
  return SpaceFinder(reason, haveOtherUsers).run(ops);
}
