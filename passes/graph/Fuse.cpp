//===- Fuse.cpp - group the operations of a function into kernels ---------===//
#include "ir/Kernel.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/graph/Fusion.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/Sources.h"
#include "passes/graph/StoredOperands.h"
#include "target/tuning/ComputedOperands.h"
#include "text/Format.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHFUSEPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;

#define DEBUG_TYPE "graph-fuse"
ALWAYS_ENABLED_STATISTIC(kernelsMade, "kernels that operations were grouped into");

void tile::graph::buildFusePipeline(OpPassManager &pm, Chains chains, bool withoutGaps) {
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addNestedPass<func::FuncOp>(createGraphPlaceJoinsPass());
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass()); // of joins that each user had of its own
  pm.addNestedPass<func::FuncOp>(createGraphNormalizePass());
  pm.addNestedPass<func::FuncOp>(createGraphLowerViewsPass({withoutGaps}));
  pm.addPass(createCSEPass());
  if (chains == Chains::All)
    pm.addNestedPass<func::FuncOp>(createGraphRecomputeScoresPass());
  if (chains != Chains::None)
    pm.addNestedPass<func::FuncOp>(createGraphChainProductsPass({chains == Chains::All}));
  pm.addNestedPass<func::FuncOp>(createGraphFusePass());
  pm.addNestedPass<func::FuncOp>(createGraphPlaceUpdatesPass({withoutGaps}));
}

/// Whether one kernel of these groups and `ops` would need, by way of another kernel, what
/// it computes itself.
bool Fusion::waitsForItself(ArrayRef<Group *> merged, ArrayRef<Operation *> ops) const {
  llvm::SmallPtrSet<Group *, 8> inside(merged.begin(), merged.end()), seenGroups;
  llvm::SmallPtrSet<Operation *, 16> seen;
  SmallVector<Operation *> work;
  // A kernel starts when all that it reads is there.
  auto follow = [&](Operation *source, Group *group) {
    if (group && seenGroups.insert(group).second)
      llvm::append_range(work, group->ops);
    else if (!group && seen.insert(source).second)
      work.push_back(source);
  };
  auto begin = [&](Operation *op) {
    for (Value operand : op->getOperands()) {
      Group *group = groupOf(operand);
      if (operand.getDefiningOp<ReshapeOp>() || (group && !inside.contains(group)))
        follow(operand.getDefiningOp(), group);
    }
  };
  for (Group *group : merged)
    llvm::for_each(group->ops, begin);
  llvm::for_each(ops, begin);
  while (!work.empty())
    for (Value operand : work.pop_back_val()->getOperands()) {
      Group *group = groupOf(operand);
      if (group && inside.contains(group))
        return true;
      if (Operation *source = operand.getDefiningOp())
        follow(source, group);
    }
  return false;
}

Group *Fusion::merge(ArrayRef<Group *> merged) {
  Group *first = merged.front();
  for (Group *group : merged.drop_front()) {
    llvm::append_range(first->ops, group->ops);
    llvm::append_range(first->reasons, group->reasons);
    for (Operation *op : group->ops)
      owner[op] = first;
    std::erase_if(groups, [&](auto &g) { return g.get() == group; });
  }
  sortInBlock(first->ops);
  return first;
}

/// Elements that are taken of arrays for each element of a row, from here on: those of a window of
/// three by three.
static constexpr int64_t kTaps = 9;

/// How many elements a kernel takes for each of its rows' that lie across the rows: blocks of rows
/// beside each other have few of them side by side in memory, and little room for so many.
static int64_t tapsAcross(const Space &space, ArrayRef<Operation *> ops) {
  auto isReduced = [&](int dim) { return dim >= 0 && space.dims[dim].isReduced; };
  return llvm::count_if(ops, [&](Operation *op) {
    auto gather = dyn_cast<GatherOp>(op);
    if (!gather || gather.getIndices().empty())
      return false;
    DimMap own = space.values.lookup(gather.getResult()),
           last = space.values.lookup(gather.getIndices().back());
    bool goesAlong = llvm::any_of(last, [](int dim) { return dim >= 0; });
    return goesAlong && llvm::any_of(own, isReduced) && llvm::none_of(last, isReduced);
  });
}

/// What is computed in a kernel again for each element that it is needed for, in instructions, at
/// most, where memory does not leave the time for more. More is stored, and read for each.
static constexpr double kMostRepeated = 64;

/// What a kernel would compute along its rows again for each of many rows: a filter's sums for all
/// channels that they weigh. Null: nothing of much work.
static Value repeatedMuch(const Space &space, ArrayRef<Operation *> ops) {
  const tile::ComputedOperandTuning &tuning = tile::kComputedOperands;
  auto isRepeated = [&](Value operand, const DimMap &whole) {
    const DimMap own = space.values.lookup(operand);
    auto isDim = [](int dim) { return dim >= 0; };
    auto last = llvm::find_if(llvm::reverse(own), isDim),
         all = llvm::find_if(llvm::reverse(whole), isDim);
    if (last == own.rend() || all == whole.rend() || *last != *all)
      return false;
    Size times(1);
    for (int dim : whole)
      if (dim >= 0 && !llvm::is_contained(own, dim))
        times = times * space.dims[dim].size;
    constexpr int64_t kFewTimes = 4;
    return times.constant().value_or(kFewTimes + 1) > kFewTimes;
  };
  llvm::SmallPtrSet<Operation *, 32> inside(ops.begin(), ops.end());
  // What memory takes for an element of the whole, beside which instructions cost nothing.
  double bytes = 0, busy = 0;
  llvm::SmallDenseSet<Value> seen;
  auto isWhole = [&](Value value) { return dimensionsOf(value) >= space.dims.size(); };
  auto move = [&](Value value) {
    if (isWhole(value) && seen.insert(value).second)
      bytes += double(bytesOf(typeOf(value).getElement()));
  };
  for (Operation *op : ops) {
    for (Value operand : op->getOperands())
      if (!operand.getDefiningOp() || !inside.contains(operand.getDefiningOp()))
        move(operand);
    for (Value result : op->getResults()) {
      if (llvm::any_of(result.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        move(result);
      if (auto map = dyn_cast<MapOp>(op); map && isWhole(result))
        busy += slotsOf(map);
    }
  }
  double most = kMostRepeated + std::max(0.0, bytes * tuning.slotsPerByte - busy);
  seen.clear();
  for (Operation *op : ops) {
    if (!isa<MapOp>(op))
      continue;
    DimMap whole = space.values.lookup(op->getResult(0));
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (!source || !inside.contains(source) || !seen.insert(operand).second ||
          !isRepeated(operand, whole) || isOfPlaces(operand))
        continue;
      double slots = 0;
      visitSources(operand, [&](Value value) {
        Operation *of = value.getDefiningOp();
        auto map = dyn_cast_or_null<MapOp>(of);
        slots += map                                    ? slotsOf(map)
                 : isa_and_nonnull<CastOp>(of)          ? tuning.slotsOfSimple
                 : isa_and_nonnull<GatherOp>(of) || !of ? tuning.slotsToMove
                                                        : 0;
        return of && inside.contains(of) && isa<MapOp, CastOp, RearrangeOp>(of);
      });
      if (slots > most)
        return operand;
    }
  }
  return {};
}

std::optional<Space> tile::graph::spaceOf(ArrayRef<Operation *> ops, std::string &reason) {
  std::optional<Space> space = findSpace(ops, reason);
  if (Value repeated = space && space->products.empty() ? repeatedMuch(*space, ops) : Value()) {
    reason = formatted("{} would be computed again for each row that needs it",
                       spelled(repeated.getDefiningOp()));
    return std::nullopt;
  }
  int64_t taps = space && space->hasReductions() ? tapsAcross(*space, ops) : 0;
  if (taps < kTaps)
    return space;
  reason = formatted("rows lie across the {} elements that are taken for each of theirs", taps);
  return std::nullopt;
}

bool Fusion::tryJoin(ArrayRef<Operation *> more, ArrayRef<Group *> into, std::string &reason) {
  if (waitsForItself(into, more)) {
    reason = "it would wait for a kernel that waits for it";
    return false;
  }
  Ops ops;
  for (Group *group : into)
    llvm::append_range(ops, group->ops);
  llvm::append_range(ops, more);
  if (!into.empty() && ops.size() > kMostTogether) {
    reason = formatted("the kernel would have more than {} operations", kMostTogether);
    return false;
  }
  sortInBlock(ops);
  if (!spaceOf(ops, reason))
    return false;
  Group *group = merge(into);
  group->ops = ops;
  for (Operation *op : more)
    owner[op] = group;
  return true;
}

/// Why two kernels are not one.
std::string Fusion::reasonAgainst(Group *group, Group *other) const {
  if (waitsForItself({group, other}))
    return "it would wait for a kernel that waits for it";
  Ops ops = group->ops;
  llvm::append_range(ops, other->ops);
  if (ops.size() > kMostTogether)
    return formatted("the kernel would have more than {} operations", kMostTogether);
  sortInBlock(ops);
  std::string reason;
  (void)spaceOf(ops, reason);
  return reason;
}

/// Whether a view is part of the kernel that reads through it: the array is stored as it was made.
static bool isWithUser(Operation *op) {
  if (!isa<RearrangeOp>(op) || !op->hasOneUse())
    return false;
  OpOperand &use = *op->use_begin();
  Operation *user = use.getOwner();
  bool isTaken = isa<GatherOp>(user) && use.getOperandNumber() == 0;
  return !isTaken && !isa<ReshapeOp, LaunchOp>(user) && !user->hasTrait<OpTrait::IsTerminator>();
}

/// Adds an operation, or several that are one kernel or none, with the views that they need.
void Fusion::add(ArrayRef<Operation *> wanted) {
  Operation *op = wanted.back();
  Ops ops(wanted);
  for (size_t i = 0; i < ops.size(); ++i)
    for (Value operand : ops[i]->getOperands())
      if (Operation *view = operand.getDefiningOp();
          view && isWithUser(view) && !llvm::is_contained(ops, view))
        ops.push_back(view);
  sortInBlock(ops);
  SmallVector<Group *> sources;
  for (Operation *each : ops)
    for (Value operand : each->getOperands())
      if (Group *group = groupOf(operand); group && !llvm::is_contained(sources, group))
        sources.push_back(group);
  llvm::sort(sources,
             [](Group *a, Group *b) { return a->ops.back()->isBeforeInBlock(b->ops.back()); });
  std::string reason;
  SmallVector<std::string> reasons;
  if (op->getNumOperands() && op->getOperand(0).getDefiningOp<PartialOp>())
    sources.clear(); // nothing to try: that it is another kernel is the purpose
  auto note = [&](Operation *producer) {
    std::string text = formatted("{} not with {}: {}", spelled(op), spelled(producer), reason);
    if (!llvm::is_contained(reasons, text))
      reasons.push_back(text);
    reason.clear();
  };
  Group *joined = nullptr;
  if (!sources.empty() && tryJoin(ops, sources, reason))
    joined = owner[op];
  else if (sources.size() == 1)
    note(sources[0]->ops.back());
  for (size_t i = sources.size(); sources.size() > 1 && i-- > 0;) {
    if (joined)
      break;
    reason.clear();
    if (!tryJoin(ops, {sources[i]}, reason)) {
      note(sources[i]->ops.back());
      continue;
    }
    joined = owner[op];
    for (size_t other = 0; other < i; ++other) { // not tried alone
      reason = reasonAgainst(joined, sources[other]);
      if (reason.empty())
        joined = merge({joined, sources[other]});
      else
        note(sources[other]->ops.back());
    }
  }
  if (!joined) {
    groups.push_back(std::make_unique<Group>());
    joined = groups.back().get();
    joined->ops.assign(ops.begin(), ops.end());
    for (Operation *each : ops)
      owner[each] = joined;
  }
  llvm::append_range(joined->reasons, reasons);
  if (auto unchained = op->getAttrOfType<StringAttr>(kUnchainedAttr)) {
    joined->reasons.push_back(formatted("softmax not with {}: {}", spelled(op), unchained));
    op->removeAttr(kUnchainedAttr);
  }
}

/// In order; the operations of a chain of products where the last one stands.
void Fusion::addAll() {
  DenseMap<Operation *, Operation *> lastOf;
  DenseMap<Operation *, Ops> chains;
  for (MatmulOp op : body.getOps<MatmulOp>())
    if (std::optional<Chain> chain = findChain(op); chain && !op->hasAttr(kUnchainedAttr)) {
      Ops ops = operationsOf(*chain);
      std::string reason;
      bool isTaken = llvm::any_of(ops, [&](Operation *each) { return lastOf.count(each); });
      if (isTaken || ops.back() != op || !findSpace(ops, reason))
        continue;
      for (Operation *each : ops)
        lastOf[each] = ops.back();
      chains[ops.back()] = std::move(ops);
    }
  for (Operation &op : body.without_terminator()) {
    if (isFree(&op) || isa<ReshapeOp>(op) || isWithUser(&op))
      continue;
    auto last = lastOf.find(&op);
    if (last == lastOf.end())
      add(&op);
    else if (last->second == &op)
      add(chains[&op]);
  }
}

/// What a kernel reads: arrays, not numbers.
llvm::SmallSetVector<Value, 8> Fusion::arraysOf(const Group &group) const {
  llvm::SmallSetVector<Value, 8> out;
  for (Operation *op : group.ops)
    for (Value operand : op->getOperands())
      if (groupOf(operand) != &group && !cast<GraphTensorType>(operand.getType()).getDims().empty())
        out.insert(operand);
  return out;
}

static SmallVector<std::string> namesOfSizes(const Space &space) {
  SmallVector<std::string> sizes;
  for (const Space::Dim &dim : space.dims)
    sizes.push_back((dim.isReduced ? "-" : "") + dim.size.str());
  llvm::sort(sizes);
  return sizes;
}

/// Operations that one kernel of kernels side by side may have: more than this a program
/// cannot hold in registers.
static constexpr size_t kSideBySide = 64;

/// A kernel is compared with so many behind it: that of all with all takes too long where loops
/// that are unrolled have made hundreds.
static constexpr size_t kNeighbours = 64;

namespace {
/// How a kernel that reduces goes through an array.
struct Direction {
  bool isInnermost = false; ///< what is reduced along lies innermost
  bool isOutside = false;   ///< rows lie beside each other, and what is reduced along is outside
};
} // namespace

static llvm::MapVector<Value, Direction> directionsOf(const Space &space) {
  llvm::MapVector<Value, Direction> found;
  for (auto &[use, map] : space.uses) {
    auto isReduced = [&](int dim) { return dim >= 0 && space.dims[dim].isReduced; };
    if (map.empty() || map.back() < 0)
      continue;
    Direction &direction = found[use->get()];
    if (isReduced(map.back()))
      direction.isInnermost = true;
    else if (llvm::any_of(map, isReduced))
      direction.isOutside = true;
  }
  return found;
}

/// Whether two kernels reduce rows and columns of one array: programs of one kernel for both would
/// read it element by element for one of them.
static bool reduceRowsAndColumns(const Space &one, const Space &other) {
  llvm::MapVector<Value, Direction> second = directionsOf(other);
  return llvm::any_of(directionsOf(one), [&](auto &entry) {
    Direction first = entry.second, its = second.lookup(entry.first);
    return (first.isInnermost && !first.isOutside && its.isOutside && !its.isInnermost) ||
           (first.isOutside && !first.isInnermost && its.isInnermost && !its.isOutside);
  });
}

/// Whether two kernels should be one: they read the same array; or they have nothing to do
/// with each other, but do something small with as many elements.
bool Fusion::areSiblings(Group *pair[2], bool mayShareNothing) const {
  auto first = arraysOf(*pair[0]), second = arraysOf(*pair[1]);
  bool shares = llvm::any_of(first, [&](Value v) { return second.contains(v); });
  if (!shares && !mayShareNothing)
    return false;
  Ops ops = pair[0]->ops;
  llvm::append_range(ops, pair[1]->ops);
  auto addsUpParts = [](Group *group) {
    return llvm::all_of(group->ops, [](Operation *op) {
      return !isa<ReduceOp>(op) || op->getOperand(0).getDefiningOp<PartialOp>();
    });
  };
  if (ops.size() > (shares ? kMostTogether : kSideBySide) ||
      (!shares && (!addsUpParts(pair[0]) || !addsUpParts(pair[1]))))
    return false;
  sortInBlock(ops);
  std::string reason;
  std::optional<Space> both =
      waitsForItself(ArrayRef(pair, 2)) ? std::nullopt : spaceOf(ops, reason);
  if (!both)
    return false;
  std::optional<Space> own[2] = {findSpace(pair[0]->ops, reason), findSpace(pair[1]->ops, reason)};
  if (shares)
    return !own[0] || !own[1] || !reduceRowsAndColumns(*own[0], *own[1]);
  if (both->product || both->hasPartials())
    return false;
  return own[0] && own[1] && namesOfSizes(*own[0]) == namesOfSizes(*own[1]) &&
         namesOfSizes(*own[0]) == namesOfSizes(*both);
}

/// Merges pairs of kernels until there is none, in order.
void Fusion::mergeSiblings(bool mayShareNothing) {
  auto tryMerge = [&](size_t i, size_t j) {
    Group *pair[] = {groups[i].get(), groups[j].get()};
    bool is = areSiblings(pair, mayShareNothing);
    if (is)
      merge(pair);
    return is;
  };
  for (size_t i = 0; i < groups.size(); ++i)
    for (size_t j = i + 1; j < std::min(groups.size(), i + kNeighbours); ++j) {
      if (!tryMerge(i, j))
        continue;
      // What could not be merged before cannot now, but for what has grown.
      auto firstBefore = [&] { return i - std::min(i, kNeighbours - 1); };
      for (size_t before = firstBefore(); before < i;) {
        if (!tryMerge(before, i)) {
          ++before;
          continue;
        }
        i = before;
        before = firstBefore();
      }
      j = i;
    }
}

void Fusion::run() {
  copyReturned();
  separateViews(body);
  splitReductions();
  separateRepeated();
  addAll();
  mergeSiblings(/*mayShareNothing=*/false);
  while (moveBehind()) {
  }
  nameParts(); // so that kernels which add up the same parts go over the same sizes
  mergeSiblings(/*mayShareNothing=*/true);
  nameParts(); // of those that became one since
  emit();
}

namespace {
struct GraphFusePass : public tile::graph::impl::GraphFusePassBase<GraphFusePass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    bool isGraph = llvm::all_of(function.getBody().front().without_terminator(), [](Operation &op) {
      return op.getName().getDialectNamespace() == "graph";
    });
    if (!isGraph)
      return;
    Fusion(function).run();
    for (KernelOp kernel : function.getBody().front().getOps<KernelOp>()) {
      ++kernelsMade;
      LDBG() << kernel.getName() << ": " << kernel.getBody().front().getOperations().size() - 1
             << " operations";
    }
  }
};
} // namespace
