//===- PlaceUpdates.cpp - new values of parameters in their memory --------===//
//
// A kernel may write what a parameter becomes where the parameter lies, if nobody reads it
// behind that, and if each program of the kernel itself reads only what it writes, and reads it
// before. Else the new value is stored elsewhere, and the last kernels copy it.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/GraphPasses.h"
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
  // Long rows are gone through several times; the last time is behind all reductions.
  for (Operation *op : ops)
    if (isa<ReduceOp>(op) && !space->product && !dependsOn(value, op->getResult(0)))
      return formatted("it would be written before {} is known, for which rows are read first",
                       spelled(op));
  return "";
}

/// Why a parameter's memory cannot take what the parameter becomes; empty: it can.
static std::string hazard(OpOperand &result, Value parameter) {
  auto kernel = result.get().getDefiningOp<KernelOp>();
  if (!kernel)
    return "it is another shape of what is stored";
  for (Operation *user : parameter.getUsers())
    if (user != kernel && !user->isBeforeInBlock(kernel))
      return "a later kernel reads what it was";
  std::string reason;
  for (auto [input, inside] : llvm::zip(kernel.getInputs(), kernel.getBody().getArguments()))
    if (input == parameter && reason.empty())
      reason = hazardInside(kernel, cast<OpResult>(result.get()).getResultNumber(), inside);
  return reason;
}

/// A kernel at the end that copies.
static Value copied(OpOperand &result, StringRef name, StringRef reason) {
  OpBuilder b(result.getOwner());
  Value value = result.get();
  Location loc = value.getLoc();
  auto kernel = KernelOp::create(b, loc, TypeRange{value.getType()}, name, ValueRange{value},
                                 b.getStrArrayAttr({reason}));
  Block *inside = &kernel.getBody().emplaceBlock();
  b.setInsertionPointToEnd(inside);
  Value copy = CastOp::create(b, loc, value.getType(), inside->addArgument(value.getType(), loc));
  YieldOp::create(b, loc, copy);
  return kernel.getOutputs()[0];
}

namespace {
struct GraphPlaceUpdatesPass
    : public tile::graph::impl::GraphPlaceUpdatesPassBase<GraphPlaceUpdatesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    auto updates = function->getAttrOfType<DenseI64ArrayAttr>(kUpdatesAttr);
    if (!updates)
      return;
    Operation *end = function.getBody().front().getTerminator();
    size_t first = end->getNumOperands() - updates.size();
    for (auto [i, number] : llvm::enumerate(updates.asArrayRef())) {
      OpOperand &result = end->getOpOperand(first + i);
      BlockArgument parameter = function.getArgument(number);
      std::string reason = hazard(result, parameter);
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
      result.set(copied(result, (function.getName() + "_update_" + Twine(i)).str(),
                        formatted("update of {} not in place: {}", of, reason)));
    }
  }

  /// The kernel stores when all that it reads there has been read.
  void noteInPlace(OpOperand &result, Value parameter) {
    auto kernel = result.get().getDefiningOp<KernelOp>();
    if (llvm::is_contained(kernel.getInputs(), parameter))
      kernel->setAttr(kInPlaceAttr, UnitAttr::get(&getContext()));
  }
};
} // namespace
