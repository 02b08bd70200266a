//===- SpaceChecks.cpp - what one kernel cannot do ------------------------===//
#include "passes/graph/Sources.h"
#include "passes/graph/SpaceFinder.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile::graph;

/// All reductions are over the same dimensions.
bool SpaceFinder::checkReductions() {
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
bool SpaceFinder::checkScans() {
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
bool SpaceFinder::checkPartials() {
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
bool SpaceFinder::checkSources() {
  for (Value value : inOrder)
    for (OpOperand &operand : value.getDefiningOp()->getOpOperands()) {
      Operation *source = values.count(operand.get()) ? operand.get().getDefiningOp() : nullptr;
      if (source && isa<PartialOp>(source)) {
        reason = formatted("{} needs what all parts have found", spelled(value.getDefiningOp()));
        return false;
      }
      if (source && isa<JoinOp>(source) && !isa<JoinOp>(value.getDefiningOp())) {
        reason = formatted("{} needs all of {}, of which a program has a place in each part",
                           spelled(value.getDefiningOp()), spelled(source));
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

/// Sums of two products fit the registers of a program.
static constexpr size_t kProductsTogether = 2;

/// Products of one left operand, at most; no reduction but a chain's own.
bool SpaceFinder::checkAlone() {
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

/// The number that a value is, if it is known; `isNumber`: known or a size.
static std::optional<int64_t> numberOf(Value value, bool &isNumber) {
  while (auto view = value.getDefiningOp<RearrangeOp>())
    value = view.getSrc();
  auto constant = value.getDefiningOp<ConstantOp>();
  isNumber = constant || value.getDefiningOp<SizeOp>();
  auto number = constant ? dyn_cast<IntegerAttr>(constant.getValue()) : IntegerAttr();
  return number ? std::optional(number.getInt()) : std::nullopt;
}

/// Whether a place that is the program's is a multiple of `align`, as far as numbers are known.
static bool isAligned(Value place, int64_t align) {
  while (auto view = place.getDefiningOp<RearrangeOp>())
    place = view.getSrc();
  bool isNumber = false;
  std::optional<int64_t> number = numberOf(place, isNumber);
  if (isNumber || align == 1)
    return !number || *number % align == 0;
  auto map = place.getDefiningOp<MapOp>();
  if (!map || (map.getKind() != MapKind::add && map.getKind() != MapKind::mul))
    return false;
  auto is = [&](Value operand) { return isAligned(operand, align); };
  return map.getKind() == MapKind::add ? llvm::all_of(map.getOperands(), is)
                                       : llvm::any_of(map.getOperands(), is);
}

/// Whether an index goes along its dimension one by one, from some place of the program's on, which
/// is a multiple of `align`. `mayStep`: or by some step.
static bool goesAlong(Value index, int64_t align, bool mayStep,
                      llvm::function_ref<bool(Value)> isOfProgram) {
  while (auto view = index.getDefiningOp<RearrangeOp>())
    index = view.getSrc();
  if (index.getDefiningOp<IndexOp>())
    return true;
  auto map = index.getDefiningOp<MapOp>();
  bool adds = map && map.getKind() == MapKind::add;
  if (!adds && !(mayStep && map && map.getKind() == MapKind::mul))
    return false;
  for (unsigned i : {0u, 1u}) {
    Value other = map.getOperand(1 - i);
    bool isNumber = false;
    (void)numberOf(other, isNumber);
    if (adds ? isOfProgram(other) && isAligned(other, align) : isNumber)
      return goesAlong(map.getOperand(i), align, mayStep, isOfProgram);
  }
  return false;
}

/// Whether `vector` elements one after the other are taken, or one for all of them: what a place
/// leaves, or is, by a multiple of `vector`.
static bool isInVectors(Value index, int64_t vector, llvm::function_ref<bool(Value)> isOfProgram) {
  auto map = index.getDefiningOp<MapOp>();
  if (!map || (map.getKind() != MapKind::mod && map.getKind() != MapKind::floordiv))
    return false;
  bool isNumber = false;
  std::optional<int64_t> by = numberOf(map.getOperand(1), isNumber);
  return by && *by > 0 && *by % vector == 0 &&
         goesAlong(map.getOperand(0), vector, /*mayStep=*/false, isOfProgram);
}

/// Blocks of an operand are computed for every block of the result that needs them, and are
/// nobody else's.
bool SpaceFinder::checkOperands() {
  auto root = [&](int dim) { return dim < 0 ? -1 : find(dim); };
  int rows = root(productDims[0]), columns = root(productDims[1]), inner = root(productDims[2]);
  auto has = [&](Value value, int axis) {
    return axis >= 0 && llvm::any_of(values[value], [&](int dim) { return root(dim) == axis; });
  };
  auto hasDepth = [&](Value value) {
    return llvm::any_of(depthDims, [&](int dim) { return has(value, root(dim)); });
  };
  auto isOfProgram = [&](Value place) {
    return !has(place, rows) && !has(place, columns) && !has(place, inner) && !hasDepth(place);
  };
  // A place along one of the block's dimensions, or none: there are few.
  auto isOfOne = [&](OpOperand &place) {
    auto known = values.find(place.get());
    if (known == values.end() || !isOfPlaces(place.get()) || hasDepth(place.get()))
      return false;
    return has(place.get(), rows) + has(place.get(), columns) + has(place.get(), inner) <= 1;
  };
  // Blocks of an array in vectors, of which the program has to be found, or their rows: a part of
  // an array, keys of the group that a head belongs to, scales that so many rows share, patches.
  auto isBlock = [&](GatherOp gather) {
    Sizes own = gather.getSrc().getType().sizes();
    size_t last = own.size();
    while (last > 0 && own[last - 1].isConstant(1))
      --last;
    int64_t vector = 16 / std::max<int64_t>(bytesOf(gather.getType().getElement()), 1);
    for (auto [i, use] : llvm::enumerate(llvm::drop_begin(gather->getOpOperands()))) {
      bool isLast = i + 1 == last;
      Value index = use.get();
      while (auto view = index.getDefiningOp<RearrangeOp>())
        index = view.getSrc();
      if (index.getDefiningOp<IndexOp>())
        continue;
      if (!gather.getGuarded() &&
          (goesAlong(index, isLast ? vector : 1, /*mayStep=*/!isLast, isOfProgram) ||
           (isLast && isInVectors(index, vector, isOfProgram))))
        continue;
      if (isLast)
        return false;
      bool isComputed = use.get().getDefiningOp() && values.count(use.get());
      if (!isComputed || !(isOfProgram(use.get()) || isOfOne(use)))
        return false;
    }
    return true;
  };
  llvm::SmallPtrSet<Operation *, 16> inside;
  for (Value value : inOrder)
    inside.insert(value.getDefiningOp());
  for (Value value : inOrder) {
    bool isOnce = chain && has(value, rows); // of the scores, and of their left operand
    // Few, for all of a block: what goes along one of an operand's dimensions alone.
    bool isLine = !has(value, rows) && !has(value, columns) && !hasDepth(value);
    auto gather = value.getDefiningOp<GatherOp>();
    if (gather && has(value, inner) && !isOnce && !isLine && !isBlock(gather)) {
      reason = formatted("{} would take elements by their indices again for every block of {}",
                         spelled(value.getDefiningOp()), spelled(products[0]));
      return false;
    }
  }
  for (Value value : inOrder) {
    if (haveOtherUsers || (!has(value, inner) && !hasDepth(value)))
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
bool SpaceFinder::checkProduct() {
  if (products.empty())
    return true;
  if (!checkAlone())
    return false;
  auto root = [&](int dim) { return dim < 0 ? -1 : find(dim); };
  int rows = root(productDims[0]), columns = root(productDims[1]), inner = root(productDims[2]);
  bool isDistinct = (rows != columns || rows < 0) && rows != inner && columns != inner;
  if (chain)
    isDistinct &= root(firstDims[0]) == rows && root(firstDims[1]) == inner;
  for (int dim : depthDims)
    isDistinct &= root(dim) != rows && root(dim) != columns && root(dim) != inner;
  auto hasRoom = [&](const DimMap &map) {
    auto has = [&](int axis) {
      return axis >= 0 && llvm::any_of(map, [&](int dim) { return root(dim) == axis; });
    };
    bool hasDepth = llvm::any_of(depthDims, [&](int dim) { return has(root(dim)); });
    bool isMixed = hasDepth && (has(columns) || (has(rows) && has(inner)));
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
bool SpaceFinder::checkDistinct() {
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
