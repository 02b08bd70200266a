//===- Space.cpp - the indices that a kernel goes over --------------------===//
#include "passes/graph/Space.h"

using namespace mlir;
using namespace tile::graph;

bool tile::graph::isFree(Operation *op) { return isa<ConstantOp, SizeOp>(op); }

std::string tile::graph::spelled(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (auto map = dyn_cast<MapOp>(op))
    name = stringifyMapKind(map.getKind());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    name = stringifyReduceKind(reduce.getKind());
  std::string text = "`" + name.str() + "`";
  if (auto at = op->getLoc()->findInstanceOf<FileLineColLoc>())
    text += " in line " + std::to_string(at.getLine());
  return text;
}

namespace {

/// Dimensions are variables; operations make some of them the same.
class Finder {
public:
  explicit Finder(std::string &reason) : reason(reason) {}
  std::optional<Space> run(ArrayRef<Operation *> ops);

private:
  int make(const Size &size) {
    if (size.isConstant(1))
      return -1;
    parent.push_back(parent.size());
    sizes.push_back(size);
    return parent.back();
  }
  int find(int v) {
    while (parent[v] != v)
      v = parent[v] = parent[parent[v]];
    return v;
  }
  /// Only dimensions of one size are ever the same.
  void unify(int a, int b) {
    if (a >= 0 && b >= 0)
      parent[find(a)] = find(b);
  }
  DimMap makeAll(ArrayRef<Size> shape) {
    DimMap out;
    for (const Size &size : shape)
      out.push_back(make(size));
    return out;
  }
  static Sizes shapeOf(Value value) { return cast<GraphTensorType>(value.getType()).sizes(); }

  void visit(Operation *op);
  void visitMap(Operation *op);
  void visitRearrange(RearrangeOp op);
  void visitReduce(ReduceOp op);
  bool checkReductions();
  bool checkDistinct();
  bool order();
  bool place(const DimMap &map, const std::string &what);
  DimMap placed(const DimMap &map);

  std::string &reason;
  std::vector<int> parent;
  std::vector<Size> sizes;
  SmallVector<Value> inOrder;
  DenseMap<Value, DimMap> values;
  SmallVector<std::pair<OpOperand *, DimMap>> uses;
  SmallVector<std::pair<ReduceOp, DimMap>> reductions; ///< with what they reduce
  SmallVector<int> axes;                               ///< of the space
};

} // namespace

/// Broadcasting aligns dimensions from the last.
void Finder::visitMap(Operation *op) {
  Value result = op->getResult(0);
  DimMap own = makeAll(shapeOf(result));
  for (OpOperand &operand : op->getOpOperands()) {
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

void Finder::visitRearrange(RearrangeOp op) {
  auto inside = values.find(op.getSrc());
  DimMap source = inside != values.end() ? inside->second : makeAll(shapeOf(op.getSrc()));
  if (inside == values.end())
    uses.push_back({&op.getSrcMutable(), source});
  DimMap own;
  for (int64_t dim : op.getDims())
    own.push_back(dim < 0 ? -1 : source[dim]);
  values[op.getResult()] = own;
}

void Finder::visitReduce(ReduceOp op) {
  auto inside = values.find(op.getSrc());
  DimMap source = inside != values.end() ? inside->second : makeAll(shapeOf(op.getSrc()));
  if (inside == values.end())
    uses.push_back({&op.getSrcMutable(), source});
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

void Finder::visit(Operation *op) {
  if (isFree(op))
    return;
  if (auto rearrange = dyn_cast<RearrangeOp>(op))
    visitRearrange(rearrange);
  else if (auto reduce = dyn_cast<ReduceOp>(op))
    visitReduce(reduce);
  else
    visitMap(op);
  inOrder.push_back(op->getResult(0));
}

/// All reductions are over the same dimensions.
bool Finder::checkReductions() {
  auto names = [&](const DimMap &map) {
    std::string text;
    for (int dim : map)
      text += (text.empty() ? "`" : ", `") + sizes[dim].str() + "`";
    return text;
  };
  auto classes = [&](const DimMap &map) {
    std::set<int> out;
    for (int dim : map)
      out.insert(find(dim));
    return out;
  };
  for (auto &[op, map] : reductions)
    if (classes(map) != classes(reductions[0].second)) {
      reason = spelled(op) + " reduces over " + names(map) + ", " + spelled(reductions[0].first) +
               " over " + names(reductions[0].second);
      if (names(map) == names(reductions[0].second))
        reason += ", which is another dimension";
      return false;
    }
  return true;
}

/// No value has one dimension of the space twice: it would be needed in two orders.
bool Finder::checkDistinct() {
  auto isDistinct = [&](const DimMap &map) {
    std::set<int> seen;
    return llvm::all_of(map, [&](int dim) { return dim < 0 || seen.insert(find(dim)).second; });
  };
  for (Value value : inOrder)
    if (!isDistinct(values[value])) {
      reason = spelled(value.getDefiningOp()) +
               " needs what is computed here in two orders of dimensions at once";
      return false;
    }
  for (auto &[use, map] : uses)
    if (!isDistinct(map)) {
      reason = spelled(use->getOwner()) + " reads in two orders of dimensions at once";
      return false;
    }
  return true;
}

/// Makes every dimension of `map` one of the space's: those that nothing connects are the
/// same as one of their size that the value does not have yet.
bool Finder::place(const DimMap &map, const std::string &what) {
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
      reason = what + " has a dimension `" + sizes[map[i]].str() + "`, which the others, over (" +
               shape + "), do not";
      return false;
    }
    int axis = axes[*found];
    parent[find(map[i])] = axis;
  }
  return true;
}

bool Finder::order() {
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
  for (auto &[op, map] : reductions) {
    auto inside = values.find(op.getSrc());
    if (inside != values.end())
      consider(inside->second);
    for (auto &[use, read] : uses)
      if (use->getOwner() == op)
        consider(read);
  }
  if (reductions.empty())
    for (Value value : inOrder)
      consider(values[value]);
  for (int dim : widest)
    axes.push_back(find(dim));
  for (Value value : inOrder)
    if (!place(values[value], spelled(value.getDefiningOp())))
      return false;
  for (auto &[use, map] : uses)
    if (!place(map, "what " + spelled(use->getOwner()) + " reads"))
      return false;
  return true;
}

DimMap Finder::placed(const DimMap &map) {
  DimMap out;
  for (int dim : map)
    out.push_back(dim < 0 ? -1 : int(llvm::find(axes, find(dim)) - axes.begin()));
  return out;
}

std::optional<Space> Finder::run(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    visit(op);
  if (!checkDistinct() || !order() || !checkDistinct() || !checkReductions())
    return std::nullopt;
  Space space;
  for (int axis : axes)
    space.dims.push_back({sizes[axis], false});
  if (!reductions.empty())
    for (int dim : placed(reductions[0].second))
      space.dims[dim].isReduced = true;
  for (auto &[value, map] : values)
    space.values[value] = placed(map);
  for (auto &[use, map] : uses)
    space.uses[use] = placed(map);
  return space;
}

std::optional<Space> tile::graph::findSpace(ArrayRef<Operation *> ops, std::string &reason) {
  return Finder(reason).run(ops);
}
