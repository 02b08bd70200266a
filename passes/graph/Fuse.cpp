//===- Fuse.cpp - group the operations of a function into kernels ---------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/Space.h"
#include "text/Format.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHFUSEPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;
using tile::formatted;

#define DEBUG_TYPE "graph-fuse"
ALWAYS_ENABLED_STATISTIC(kernelsMade, "kernels that operations were grouped into");

void tile::graph::buildFusePipeline(OpPassManager &pm, bool chains) {
  pm.addPass(createCanonicalizerPass());
  pm.addNestedPass<func::FuncOp>(createGraphLowerViewsPass());
  pm.addPass(createCSEPass());
  if (chains)
    pm.addNestedPass<func::FuncOp>(createGraphChainProductsPass());
  pm.addNestedPass<func::FuncOp>(createGraphFusePass());
  pm.addNestedPass<func::FuncOp>(createGraphPlaceUpdatesPass());
}

namespace {

using Ops = SmallVector<Operation *>;

struct Group {
  Ops ops; ///< in order
  SmallVector<std::string> reasons;
};

class Fusion {
public:
  explicit Fusion(func::FuncOp function) : function(function), body(function.getBody().front()) {}
  void run();

private:
  Group *groupOf(Value value) const {
    Operation *op = value.getDefiningOp();
    return op ? owner.lookup(op) : nullptr;
  }
  void copyReturned();
  bool moveBehind();
  void splitReductions();
  void nameParts();
  void addAll();
  void add(ArrayRef<Operation *> ops);
  std::string reasonAgainst(Group *group, Group *other) const;
  bool tryJoin(ArrayRef<Operation *> more, ArrayRef<Group *> into, std::string &reason);
  bool waitsForItself(ArrayRef<Group *> merged, ArrayRef<Operation *> ops = {}) const;
  llvm::SmallSetVector<Value, 8> arraysOf(const Group &group) const;
  bool areSiblings(Group *pair[2], bool mayShareNothing) const;
  void mergeSiblings(bool mayShareNothing);
  Group *merge(ArrayRef<Group *> groups);
  Value stored(Value value, DenseMap<Value, Value> &made);
  void emit();
  void emitKernel(Group &group, StringRef name, DenseMap<Value, Value> &made);

  func::FuncOp function;
  Block &body;
  std::vector<std::unique_ptr<Group>> groups;
  DenseMap<Operation *, Group *> owner;
};

} // namespace

static void sortInBlock(Ops &ops) {
  llvm::sort(ops, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
}

/// What is returned as it came gets a kernel that copies it.
void Fusion::copyReturned() {
  OpBuilder b(body.getTerminator());
  SmallVector<Value> seen;
  for (OpOperand &operand : body.getTerminator()->getOpOperands()) {
    Value value = operand.get();
    Operation *op = value.getDefiningOp();
    bool isComputed = op && !isFree(op) && !llvm::is_contained(seen, value);
    // Another shape of what a kernel computes for nothing else is stored where it is wanted.
    if (auto shape = dyn_cast_or_null<ReshapeOp>(op)) {
      Operation *source = shape.getSrc().getDefiningOp();
      bool isOther = source && !isa<ReshapeOp>(source) && !isFree(source);
      isComputed &= isOther &&
                    llvm::all_of(source->getUsers(),
                                 [&](Operation *user) {
                                   return user == op || !user->hasTrait<OpTrait::IsTerminator>();
                                 }) &&
                    llvm::count_if(source->getUsers(),
                                   [](Operation *user) { return isa<ReshapeOp>(user); }) == 1;
    }
    seen.push_back(value);
    if (!isComputed)
      operand.set(CastOp::create(b, function.getLoc(), value.getType(), value));
  }
}

/// Whether something that is computed from a value goes along dimensions that were reduced
/// to it: as of a softmax along columns, which one kernel can do with its columns in hand.
static bool goesBack(Value value, ArrayRef<Size> reduced) {
  SmallVector<Value> work = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (Operation *user : next.getUsers()) {
      if (!isa<MapOp, CastOp, RearrangeOp>(user))
        continue;
      Sizes sizes = cast<GraphTensorType>(user->getResult(0).getType()).sizes();
      if (llvm::any_of(reduced, [&](const Size &size) { return llvm::is_contained(sizes, size); }))
        return true;
      work.push_back(user->getResult(0));
    }
  }
  return false;
}

/// What is combined along the first dimensions, or along all, is combined in parts, by
/// kernels that may have rows of their own to reduce, and another kernel combines those.
static bool isSplit(ReduceOp op) {
  Sizes sizes = op.getSrc().getType().sizes();
  for (auto [i, axis] : llvm::enumerate(op.getAxes()))
    if (axis != int64_t(i))
      return false;
  ArrayRef<Size> reduced = ArrayRef(sizes).take_front(op.getAxes().size());
  std::optional<int64_t> known = product(reduced).constant();
  bool isShort = known && *known <= tile::tuningOf(op).fewRows;
  if (reduced.empty() || isShort)
    return false;
  return reduced.size() == sizes.size() || !goesBack(op.getResult(), reduced);
}

/// Moves one operation to the kernel that needs it, where it stood at the end of another one
/// and what it reads is stored anyway; false if there is none.
bool Fusion::moveBehind() {
  auto isStored = [&](Value value, Group *group) {
    Operation *source = value.getDefiningOp();
    return !source || isFree(source) || owner.lookup(source) != group ||
           llvm::any_of(source->getUsers(), [&](Operation *user) {
             return owner.lookup(user) != group && !isa<MapOp>(user);
           });
  };
  for (auto &group : groups)
    for (Operation *op : group->ops) {
      Group *to = op->use_empty() ? nullptr : owner.lookup(*op->user_begin());
      bool isLast =
          isa<MapOp, CastOp>(op) && to && to != group.get() && group->ops.size() > 1 &&
          llvm::all_of(op->getUsers(), [&](Operation *user) { return owner.lookup(user) == to; });
      if (!isLast || !llvm::all_of(op->getOperands(), [&](Value v) {
            return isStored(v, group.get()) || llvm::any_of(v.getUsers(), [&](Operation *user) {
                     return owner.lookup(user) == to;
                   });
          }))
        continue;
      Ops with = to->ops, without = group->ops;
      with.push_back(op);
      sortInBlock(with);
      llvm::erase(without, op);
      std::string reason;
      if (!findSpace(with, reason) || !findSpace(without, reason))
        continue;
      group->ops = without;
      to->ops = with;
      owner[op] = to;
      return true;
    }
  return false;
}

void Fusion::splitReductions() {
  unsigned number = 0;
  for (ReduceOp op : llvm::make_early_inc_range(body.getOps<ReduceOp>())) {
    if (!isSplit(op))
      continue;
    OpBuilder b(op);
    Sizes sizes = {Size::symbol("parts." + std::to_string(number++))};
    llvm::append_range(sizes, op.getType().sizes());
    auto type = GraphTensorType::of(op.getContext(), sizes,
                                    computeType(op.getSrc().getType().getElement()));
    auto partial = PartialOp::create(b, op.getLoc(), type, op.getKind(), op.getSrc(), op.getAxes());
    auto whole = ReduceOp::create(b, op.getLoc(), op.getType(), op.getKind(), partial.getResult(),
                                  ArrayRef<int64_t>{0});
    op.replaceAllUsesWith(whole.getResult());
    op.erase();
  }
}

/// All that one kernel combines in parts has as many.
void Fusion::nameParts() {
  for (auto &group : groups) {
    std::optional<Size> parts;
    for (Operation *op : group->ops) {
      auto partial = dyn_cast<PartialOp>(op);
      if (!partial)
        continue;
      Sizes sizes = partial.getType().sizes();
      if (!parts)
        parts = sizes[0];
      sizes[0] = *parts;
      partial.getResult().setType(
          GraphTensorType::of(op->getContext(), sizes, partial.getType().getElement()));
    }
  }
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

/// Operations of one kernel. People's formulas have far fewer; of loops that are unrolled the time
/// to look for fusions would grow by the square of this, and that of the kernel's compilation.
static constexpr size_t kMostTogether = 256;

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
  if (!findSpace(ops, reason))
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
  (void)findSpace(ops, reason);
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

static SmallVector<std::string> sizesOf(const Space &space) {
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
      waitsForItself(ArrayRef(pair, 2)) ? std::nullopt : findSpace(ops, reason);
  if (!both || shares)
    return bool(both);
  if (both->product || both->hasPartials())
    return false;
  std::optional<Space> one = findSpace(pair[0]->ops, reason),
                       other = findSpace(pair[1]->ops, reason);
  return one && other && sizesOf(*one) == sizesOf(*other) && sizesOf(*one) == sizesOf(*both);
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

//===----------------------------------------------------------------------===//
// Groups to kernels
//===----------------------------------------------------------------------===//

/// Where a value lies between kernels: an array, or an array in another shape.
Value Fusion::stored(Value value, DenseMap<Value, Value> &made) {
  auto shape = value.getDefiningOp<ReshapeOp>();
  if (made.count(value) || !shape)
    return made.count(value) ? made[value] : value;
  OpBuilder b(body.getTerminator());
  Value source = stored(shape.getSrc(), made);
  return made[value] = ReshapeOp::create(b, shape.getLoc(), shape.getType(), source);
}

void Fusion::emitKernel(Group &group, StringRef name, DenseMap<Value, Value> &made) {
  OpBuilder b(body.getTerminator());
  llvm::SmallSetVector<Value, 8> inputs, outputs;
  llvm::SmallSetVector<Operation *, 8> numbers;
  for (Operation *op : group.ops) {
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (source && isFree(source))
        numbers.insert(source);
      else if (groupOf(operand) != &group)
        inputs.insert(operand);
    }
    if (isa<LaunchOp>(op)) // writes all, whether somebody wants it or not
      outputs.insert(op->result_begin(), op->result_end());
    else if (llvm::any_of(op->getUsers(),
                          [&](Operation *user) { return owner.lookup(user) != &group; }))
      outputs.insert(op->getResult(0));
  }
  SmallVector<Value> operands;
  for (Value input : inputs)
    operands.push_back(stored(input, made));
  SmallVector<Attribute> reasons;
  for (const std::string &reason : group.reasons)
    reasons.push_back(b.getStringAttr(reason));
  auto kernel =
      KernelOp::create(b, group.ops.back()->getLoc(), ValueRange(outputs.getArrayRef()).getTypes(),
                       name, operands, reasons.empty() ? ArrayAttr() : b.getArrayAttr(reasons));
  Block *inside = &kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, inside->addArgument(input.getType(), input.getLoc()));
  b.setInsertionPointToEnd(inside);
  for (Operation *number : numbers)
    b.clone(*number, mapping);
  for (Operation *op : group.ops)
    b.clone(*op, mapping);
  SmallVector<Value> results;
  for (auto [output, result] : llvm::zip(outputs, kernel.getOutputs())) {
    results.push_back(mapping.lookup(output));
    made[output] = result;
  }
  YieldOp::create(b, kernel.getLoc(), results);
}

/// Kernels in an order in which each finds what it reads.
void Fusion::emit() {
  DenseMap<Value, Value> made;
  std::vector<Group *> left;
  for (auto &group : groups)
    left.push_back(group.get());
  unsigned number = 0;
  bool isAlone = left.size() == 1;
  while (!left.empty()) {
    auto ready = llvm::find_if(left, [&](Group *group) {
      return llvm::all_of(group->ops, [&](Operation *op) {
        return llvm::all_of(op->getOperands(), [&](Value operand) {
          while (auto shape = operand.getDefiningOp<ReshapeOp>())
            operand = shape.getSrc();
          Group *source = groupOf(operand);
          return !source || source == group || made.count(operand);
        });
      });
    });
    assert(ready != left.end() && "kernels do not wait for each other");
    std::string name = function.getName().str();
    emitKernel(**ready, isAlone ? name : name + "_" + std::to_string(number++), made);
    left.erase(ready);
  }
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    operand.set(stored(operand.get(), made));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!isa<KernelOp>(op) && !(isa<ReshapeOp>(op) && !op.use_empty()) &&
        !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
}

void Fusion::run() {
  copyReturned();
  separateViews(body);
  splitReductions();
  addAll();
  mergeSiblings(/*mayShareNothing=*/false);
  while (moveBehind()) {
  }
  nameParts(); // so that kernels which add up the same parts go over the same sizes
  mergeSiblings(/*mayShareNothing=*/true);
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
