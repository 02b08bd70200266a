//===- Space.cpp - the indices that a kernel goes over --------------------===//
#include "passes/graph/Space.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile::graph;
using tile::formatted;

bool tile::graph::isFree(Operation *op) { return isa<ConstantOp, SizeOp>(op); }

std::string tile::graph::spelled(Operation *op) {
  StringRef name = op->getName().stripDialect();
  if (auto map = dyn_cast<MapOp>(op))
    name = stringifyMapKind(map.getKind());
  if (auto reduce = dyn_cast<ReduceOp>(op))
    name = stringifyReduceKind(reduce.getKind());
  if (auto partial = dyn_cast<PartialOp>(op))
    name = stringifyReduceKind(partial.getKind());
  if (isa<ScanOp>(op))
    name = "cumsum";
  if (auto launch = dyn_cast<LaunchOp>(op))
    name = launch.getName();
  std::string text = formatted("`{}`", name);
  if (auto at = op->getLoc()->findInstanceOf<FileLineColLoc>())
    text += formatted(" in line {}", at.getLine());
  return text;
}

namespace {

/// Dimensions are variables; operations make some of them the same.
class Finder {
public:
  Finder(std::string &reason, bool haveOtherUsers)
      : reason(reason), haveOtherUsers(haveOtherUsers) {}
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
  void visitPartial(PartialOp op);
  void visitScan(ScanOp op);
  void visitMatmul(MatmulOp op);
  DimMap operandOf(OpOperand &use);
  bool joinsChain(MatmulOp op, const DimMap &dims);
  bool checkProduct();
  bool checkAlone();
  bool checkOperands();
  bool checkReductions();
  bool checkScans();
  bool checkPartials();
  bool checkSources();
  bool checkDistinct();
  bool order();
  bool place(const DimMap &map, const std::string &what);
  DimMap placed(const DimMap &map);

  std::string &reason;
  bool haveOtherUsers;
  std::vector<int> parent;
  std::vector<Size> sizes;
  SmallVector<Value> inOrder;
  DenseMap<Value, DimMap> values;
  SmallVector<std::pair<OpOperand *, DimMap>> uses;
  /// With what they reduce; a scan needs whole rows as well, along the dimension it goes.
  SmallVector<std::pair<Operation *, DimMap>> reductions;
  SmallVector<std::pair<PartialOp, DimMap>> partials; ///< the same
  SmallVector<int> axes;                              ///< of the space
  SmallVector<MatmulOp> products;
  DimMap productDims; ///< rows, columns, inner
  std::optional<Chain> chain;
  DimMap firstDims; ///< of the first product of a chain
};

} // namespace

/// Broadcasting aligns dimensions from the last.
void Finder::visitMap(Operation *op) {
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
DimMap Finder::operandOf(OpOperand &use) {
  auto inside = values.find(use.get());
  if (inside != values.end())
    return inside->second;
  uses.push_back({&use, makeAll(shapeOf(use.get()))});
  return uses.back().second;
}

/// Products of one left operand with right ones of one shape: blocks of the left operand are
/// loaded once for all.
static bool shareOperand(MatmulOp a, MatmulOp b) {
  return a.getLhs() == b.getLhs() && a.getRhs().getType().sizes() == b.getRhs().getType().sizes();
}

/// Sums of two products fit the registers of a program.
static constexpr size_t kProductsTogether = 2;

/// Whether a product is the second of a chain, whose first one it then takes the place of.
bool Finder::joinsChain(MatmulOp op, const DimMap &dims) {
  if (products.size() != 1 || chain)
    return false;
  chain = findChain(op);
  if (!chain || chain->first != products[0] || !values.count(chain->maximum.getResult())) {
    chain.reset();
    return false;
  }
  firstDims = productDims;
  productDims = dims;
  products[0] = op;
  return true;
}

/// Dimensions before the last two align as in broadcasting.
void Finder::visitMatmul(MatmulOp op) {
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

void Finder::visitRearrange(RearrangeOp op) {
  DimMap source = operandOf(op.getSrcMutable());
  DimMap own;
  for (int64_t dim : op.getDims())
    own.push_back(dim < 0 ? -1 : source[dim]);
  values[op.getResult()] = own;
}

void Finder::visitReduce(ReduceOp op) {
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

void Finder::visitScan(ScanOp op) {
  DimMap own = operandOf(op.getSrcMutable());
  values[op.getResult()] = own;
  if (own[op.getAxis()] >= 0)
    reductions.push_back({op, {own[op.getAxis()]}});
}

void Finder::visitPartial(PartialOp op) {
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

void Finder::visit(Operation *op) {
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
  else if (auto matmul = dyn_cast<MatmulOp>(op))
    visitMatmul(matmul);
  else
    visitMap(op);
  inOrder.push_back(op->getResult(0));
}

/// All reductions are over the same dimensions.
bool Finder::checkReductions() {
  if (chain)
    return true; // all are its own
  auto names = [&](const DimMap &map) {
    std::string text;
    for (int dim : map)
      text += formatted("{}{}`", text.empty() ? "`" : ", `", sizes[dim]);
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
      reason = formatted("{} reduces over {}, {} over {}", spelled(op), names(map),
                         spelled(reductions[0].first), names(reductions[0].second));
      if (names(map) == names(reductions[0].second))
        reason += ", which is another dimension";
      return false;
    }
  return true;
}

/// All scans go the same way: long rows are gone through in chunks, one after the other.
bool Finder::checkScans() {
  ScanOp first;
  for (auto &[op, map] : reductions) {
    auto scan = dyn_cast<ScanOp>(op);
    first = first ? first : scan;
    if (!scan || scan.getReverse() == first.getReverse())
      continue;
    reason =
        formatted("{} goes along its rows the other way than {}", spelled(scan), spelled(first));
    return false;
  }
  return true;
}

/// Parts are of rows: of all dimensions that no reduction takes, and the same for all.
bool Finder::checkPartials() {
  if (partials.empty())
    return true;
  std::set<int> rows, reduced;
  for (int dim : partials[0].second)
    rows.insert(find(dim));
  for (auto &[op, map] : reductions)
    for (int dim : map)
      reduced.insert(find(dim));
  for (auto &[op, map] : partials) {
    std::set<int> own;
    for (int dim : map)
      own.insert(find(dim));
    bool isApart = llvm::none_of(own, [&](int dim) { return reduced.count(dim); });
    bool isAll = reduced.empty() || own.size() + reduced.size() == axes.size();
    if (own == rows && isApart && isAll)
      continue;
    Operation *other = reductions.empty() ? partials[0].first.getOperation() : reductions[0].first;
    reason = formatted(
        "{} combines other dimensions than {} leaves, so that the two do not go over the same rows",
        spelled(op), spelled(other));
    return false;
  }
  return true;
}

/// What only another kernel can finish is needed there, not here.
bool Finder::checkSources() {
  for (Value value : inOrder)
    for (OpOperand &operand : value.getDefiningOp()->getOpOperands()) {
      Operation *source = values.count(operand.get()) ? operand.get().getDefiningOp() : nullptr;
      if (source && isa<PartialOp>(source)) {
        reason = formatted("{} needs what all parts have found", spelled(value.getDefiningOp()));
        return false;
      }
      if (source && isa<GatherOp>(value.getDefiningOp()) && operand.getOperandNumber() == 0) {
        reason = formatted("{} takes elements of {} that other programs compute",
                           spelled(value.getDefiningOp()), spelled(source));
        return false;
      }
    }
  return true;
}

/// Products of one left operand, at most; no reduction but a chain's own.
bool Finder::checkAlone() {
  for (MatmulOp other : ArrayRef(products).drop_front()) {
    if (!chain && shareOperand(products[0], other) && products.size() <= kProductsTogether)
      continue;
    reason = formatted("{} is another product than {}", spelled(other), spelled(products[0]));
    return false;
  }
  if (!partials.empty()) {
    reason =
        formatted("{} needs whole columns, and a kernel with the product {} has blocks of them",
                  spelled(partials[0].first), spelled(products[0]));
    return false;
  }
  for (auto &[op, map] : reductions) {
    auto reduce = dyn_cast<ReduceOp>(op);
    bool isOwn = chain && reduce &&
                 (reduce == chain->maximum || llvm::is_contained(chain->sums, reduce)) &&
                 map.size() == 1 && productDims[2] >= 0 && find(map[0]) == find(productDims[2]);
    if (isOwn)
      continue;
    reason = formatted("{} needs whole rows, and a kernel with the product {} has blocks of them",
                       spelled(op), spelled(products[0]));
    return false;
  }
  return true;
}

/// Blocks of an operand are computed for every block of the result that needs them, and are
/// nobody else's.
bool Finder::checkOperands() {
  auto root = [&](int dim) { return dim < 0 ? -1 : find(dim); };
  int rows = root(productDims[0]), columns = root(productDims[1]), inner = root(productDims[2]);
  int depth = chain ? root(firstDims[2]) : -1;
  auto has = [&](Value value, int axis) {
    return axis >= 0 && llvm::any_of(values[value], [&](int dim) { return root(dim) == axis; });
  };
  llvm::SmallPtrSet<Operation *, 16> inside;
  for (Value value : inOrder)
    inside.insert(value.getDefiningOp());
  for (Value value : inOrder) {
    bool isOnce = chain && has(value, rows); // of the scores, and of their left operand
    bool isLine = !has(value, rows) && !has(value, columns); // few, for all of a block
    if (value.getDefiningOp<GatherOp>() && has(value, inner) && !isOnce && !isLine) {
      reason = formatted("{} would take elements by their indices again for every block of {}",
                         spelled(value.getDefiningOp()), spelled(products[0]));
      return false;
    }
  }
  for (Value value : inOrder) {
    if (haveOtherUsers || (!has(value, inner) && !has(value, depth)))
      continue;
    for (Operation *user : value.getUsers())
      if (!inside.contains(user)) {
        reason = formatted("{} is needed elsewhere too, not only as an operand of {}",
                           spelled(value.getDefiningOp()), spelled(products[0]));
        return false;
      }
  }
  return true;
}

/// A product has its kernel for itself, but for what is done with the elements of its
/// operands and of its result.
bool Finder::checkProduct() {
  if (products.empty())
    return true;
  if (!checkAlone())
    return false;
  auto root = [&](int dim) { return dim < 0 ? -1 : find(dim); };
  int rows = root(productDims[0]), columns = root(productDims[1]), inner = root(productDims[2]);
  bool isDistinct = (rows != columns || rows < 0) && rows != inner && columns != inner;
  int depth = chain ? root(firstDims[2]) : -1;
  if (chain)
    isDistinct &= root(firstDims[0]) == rows && root(firstDims[1]) == inner && depth != rows &&
                  depth != columns && depth != inner;
  auto hasRoom = [&](const DimMap &map) {
    auto has = [&](int axis) {
      return axis >= 0 && llvm::any_of(map, [&](int dim) { return root(dim) == axis; });
    };
    bool isMixed = has(depth) && (has(columns) || (has(rows) && has(inner)));
    return !isMixed && (!has(inner) || !has(rows) || !has(columns));
  };
  for (Value value : inOrder) {
    if (isDistinct && hasRoom(values[value]))
      continue;
    reason = formatted("{} needs the product's dimensions in another order",
                       spelled(value.getDefiningOp()));
    return false;
  }
  return checkOperands();
}

/// No value has one dimension of the space twice: it would be needed in two orders.
bool Finder::checkDistinct() {
  auto isDistinct = [&](const DimMap &map) {
    std::set<int> seen;
    return llvm::all_of(map, [&](int dim) { return dim < 0 || seen.insert(find(dim)).second; });
  };
  for (Value value : inOrder)
    if (!isDistinct(values[value])) {
      reason = formatted("{} needs what is computed here in two orders of dimensions at once",
                         spelled(value.getDefiningOp()));
      return false;
    }
  for (auto &[use, map] : uses)
    if (!isDistinct(map)) {
      reason = formatted("{} reads in two orders of dimensions at once", spelled(use->getOwner()));
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
      reason = formatted("{} has a dimension `{}`, which the others, over ({}), do not", what,
                         sizes[map[i]], shape);
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
  if (chain)
    widest.push_back(firstDims[2]);
  for (int dim : widest)
    axes.push_back(find(dim));
  for (Value value : inOrder)
    if (!place(values[value], spelled(value.getDefiningOp())))
      return false;
  for (auto &[use, map] : uses)
    if (!place(map, formatted("what {} reads", spelled(use->getOwner()))))
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
    space.depth = chain ? placed(firstDims)[2] : -1;
  }
  for (auto &[value, map] : values)
    space.values[value] = placed(map);
  for (auto &[use, map] : uses)
    space.uses[use] = placed(map);
  return space;
}

std::optional<Space> tile::graph::findSpace(ArrayRef<Operation *> ops, std::string &reason,
                                            bool haveOtherUsers) {
  return Finder(reason, haveOtherUsers).run(ops);
}
