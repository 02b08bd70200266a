//===- PlaceUpdates.cpp - new values of parameters in their memory --------===//
//
// A kernel may write what a parameter becomes where the parameter lies, if nobody reads it
// behind that, and if each program of the kernel itself reads only what it writes, and reads it
// before. Else the new value is stored elsewhere, and the last kernels copy it.
//
// A kernel that somebody wrote changes an operand where that lies (TensorProgram.cpp gives both one
// memory): if somebody else reads it behind that, or it is a parameter that does not become what
// the kernel makes of it, the kernel is given a copy.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/GraphPasses.h"
#include "passes/graph/HandChanges.h"
#include "passes/graph/Sources.h"
#include "passes/graph/Space.h"
#include "text/Format.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile::graph {
#define GEN_PASS_DEF_GRAPHPLACEUPDATESPASS
#include "passes/graph/GraphPasses.h.inc"
} // namespace tile::graph

using namespace mlir;
using namespace tile::graph;
using tile::formatted;

#define DEBUG_TYPE "graph-place-updates"
ALWAYS_ENABLED_STATISTIC(updatesInPlace, "parameters that kernels write where they lie");
ALWAYS_ENABLED_STATISTIC(changesCopied, "arrays that kernels by hand change a copy of");
ALWAYS_ENABLED_STATISTIC(updatesCopied, "parameters whose new value is copied there");

/// Whether a value is computed of another one of the kernel.
static bool dependsOn(Value value, Value on) {
  bool found = false;
  visitSources(value, [&](Value source) {
    found |= source == on;
    return !found;
  });
  return found;
}

/// Why a program would read what it, or another one, has written; empty: it does not.
static std::string hazardInside(KernelOp kernel, unsigned output, BlockArgument old) {
  Block &body = kernel.getBody().front();
  Value value = body.getTerminator()->getOperand(output);
  SmallVector<Operation *> ops;
  for (Operation &op : body.without_terminator())
    ops.push_back(&op);
  std::string reason;
  std::optional<Space> space = isa<LaunchOp>(ops.front()) ? std::nullopt : findSpace(ops, reason);
  if (!space)
    return "the kernel was written by hand";
  if (value.getDefiningOp<JoinOp>())
    return "programs write several of its parts";
  DimMap own = space->values.lookup(value);
  for (auto [dim, of] : llvm::enumerate(space->dims)) {
    int d = dim;
    bool isInside = of.isReduced || d == space->inner || llvm::is_contained(space->depths, int(d));
    if (!isInside && !llvm::is_contained(own, d))
      return "several programs need each of its elements";
  }
  for (OpOperand &use : old.getUses()) {
    auto read = space->uses.find(&use);
    if (isa<GatherOp>(use.getOwner()) && use.getOperandNumber() == 0)
      return formatted("{} takes elements of it that other programs write",
                       spelled(use.getOwner()));
    if (read == space->uses.end() || read->second != own)
      return formatted("{} reads it in another order than it is written", spelled(use.getOwner()));
  }
  // Threads that have multiplied do not wait for those that still read.
  for (MatmulOp product : space->products)
    if (dependsOn(product.getResult(), old))
      return formatted("{} is of it, and its threads read what one of them writes",
                       spelled(product));
  if (!dependsOn(value, old))
    return "what else the kernel computes of it could be read too late";
  // Long rows are gone through several times: the last pass stores (RowLevels.h).
  return "";
}

/// What kernels that somebody wrote have changed to a value.
static Value firstOf(Value value) {
  while (Value before = changedBy(value))
    value = before;
  return value;
}

static bool isSeenOtherwise(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<ReshapeOp>(user); });
}

/// Why a parameter's memory cannot take what the parameter becomes; empty: it can.
static std::string hazard(OpOperand &result, Value parameter, bool mayHaveGaps) {
  auto kernel = result.get().getDefiningOp<KernelOp>();
  if (!kernel)
    return "it is another shape of what is stored";
  if (mayHaveGaps && isSeenOtherwise(result.get()))
    return "it is read in another shape, which has no gaps";
  Value changed = changedBy(result.get());
  if (changed && firstOf(changed) != parameter)
    return "a kernel that somebody wrote changes a copy of it";
  for (Operation *user : parameter.getUsers())
    if (user != kernel && !user->isBeforeInBlock(kernel))
      return "a later kernel reads what it was";
  std::string reason;
  for (auto [input, inside] : llvm::zip(kernel.getInputs(), kernel.getBody().getArguments()))
    if (input == parameter && !changed && reason.empty())
      reason = hazardInside(kernel, cast<OpResult>(result.get()).getResultNumber(), inside);
  return reason;
}

/// A kernel in front of an operation that copies.
static Value copied(Operation *before, Value value, StringRef name, StringRef reason) {
  OpBuilder b(before);
  Location loc = value.getLoc();
  auto kernel = KernelOp::create(b, loc, TypeRange{value.getType()}, name, ValueRange{value},
                                 b.getStrArrayAttr({reason}));
  Block *inside = &kernel.getBody().emplaceBlock();
  b.setInsertionPointToEnd(inside);
  Value copy = CastOp::create(b, loc, value.getType(), inside->addArgument(value.getType(), loc));
  YieldOp::create(b, loc, copy);
  return kernel.getOutputs()[0];
}

/// Whether a value is what a parameter becomes, or kernels that somebody wrote change it to that,
/// and is no result besides.
static bool becomes(Value value, BlockArgument parameter, DenseI64ArrayAttr updates) {
  auto function = cast<func::FuncOp>(parameter.getOwner()->getParentOp());
  Operation *end = function.getBody().front().getTerminator();
  size_t first = end->getNumOperands() - updates.size();
  if (llvm::is_contained(end->getOperands().take_front(first), value))
    return false;
  for (auto [i, number] : llvm::enumerate(updates.asArrayRef()))
    if (number == parameter.getArgNumber())
      for (Value after = end->getOperand(first + i); after; after = changedBy(after))
        if (after == value)
          return true;
  return false;
}

/// Whether nobody looks at an operand behind the kernel that changes it, which becomes `result`.
static bool canChange(OpResult result, BlockArgument inside) {
  auto kernel = cast<KernelOp>(result.getOwner());
  Value changed = kernel.getInputs()[inside.getArgNumber()];
  if (!inside.hasOneUse() || llvm::count(kernel.getInputs(), changed) > 1)
    return false;
  for (Operation *user : changed.getUsers())
    if (user != kernel && (isa<ReshapeOp>(user) || !user->isBeforeInBlock(kernel)))
      return false;
  if (changed.getDefiningOp<KernelOp>())
    return true;
  auto parameter = dyn_cast<BlockArgument>(changed);
  auto updates = kernel->getParentOp()->getAttrOfType<DenseI64ArrayAttr>(kUpdatesAttr);
  return parameter && updates && becomes(result, parameter, updates);
}

namespace {
struct GraphPlaceUpdatesPass
    : public tile::graph::impl::GraphPlaceUpdatesPassBase<GraphPlaceUpdatesPass> {
  using GraphPlaceUpdatesPassBase::GraphPlaceUpdatesPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    copyChanged(function);
    auto updates = function->getAttrOfType<DenseI64ArrayAttr>(kUpdatesAttr);
    if (!updates)
      return;
    Operation *end = function.getBody().front().getTerminator();
    size_t first = end->getNumOperands() - updates.size();
    for (auto [i, number] : llvm::enumerate(updates.asArrayRef())) {
      OpOperand &result = end->getOpOperand(first + i);
      BlockArgument parameter = function.getArgument(number);
      std::string reason = hazard(result, parameter, !withoutGaps);
      if (reason.empty()) {
        noteInPlace(result, parameter);
        ++updatesInPlace;
        continue;
      }
      ++updatesCopied;
      std::string of = formatted("parameter {}", number);
      if (auto name = function.getArgAttrOfType<StringAttr>(number, "graph.name"))
        of = formatted("`{}`", name);
      LDBG() << of << " is copied: " << reason;
      result.set(copied(end, result.get(), (function.getName() + "_update_" + Twine(i)).str(),
                        formatted("update of {} not in place: {}", of, reason)));
    }
  }

  /// Gives kernels that somebody wrote copies of what they cannot change where it lies.
  void copyChanged(func::FuncOp function) {
    unsigned number = 0;
    for (KernelOp kernel : llvm::to_vector(function.getOps<KernelOp>()))
      for (OpResult result : kernel->getResults()) {
        BlockArgument inside = changedInside(result);
        if (!inside || canChange(result, inside))
          continue;
        Operation *launch = &kernel.getBody().front().front();
        Value input = kernel.getInputs()[inside.getArgNumber()];
        Value copy = copied(kernel, input, (function.getName() + "_copy_" + Twine(number++)).str(),
                            formatted("copied for {}, which changes it", spelled(launch)));
        kernel.getInputsMutable().append(copy);
        BlockArgument own = kernel.getBody().front().addArgument(copy.getType(), kernel.getLoc());
        giveInstead(result, own);
        ++changesCopied;
      }
  }

  /// The kernel stores when all that it reads there has been read.
  void noteInPlace(OpOperand &result, Value parameter) {
    auto kernel = result.get().getDefiningOp<KernelOp>();
    size_t number = llvm::find(kernel.getInputs(), parameter) - kernel.getInputs().begin();
    if (number == kernel.getInputs().size())
      return;
    SmallVector<int64_t> pairs;
    if (auto known = kernel->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttr))
      llvm::append_range(pairs, known.asArrayRef());
    pairs.push_back(cast<OpResult>(result.get()).getResultNumber());
    pairs.push_back(int64_t(number));
    kernel->setAttr(kInPlaceAttr, DenseI64ArrayAttr::get(&getContext(), pairs));
  }
};
} // namespace
