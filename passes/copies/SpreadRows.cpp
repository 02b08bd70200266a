//===- SpreadRows.cpp - rows whose addresses a loop carries ---------------===//
//
// A part of tile-pipeline-loads. Of a row that a loop copies by pointers which it moves on turn by
// turn, the pointers are carried where each thread has as few as can be (SpreadCopies.cpp), in
// place of where the row is read: elsewhere each of several pointers of a thread is moved on, and
// copies a few bytes.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/PatternMatch.h"
#include "passes/copies/Pipeline.h"
#include "passes/copies/SpreadCopies.h"
#include "passes/facts/LoopSlice.h"

using namespace mlir;
using namespace tile;

/// Lets `loop` carry the pointers of `load` in another layout, and load there; false, and nothing
/// is changed, if it does not carry them or they cannot be computed there.
static bool spreadRow(scf::ForOp &loop, LoadOp load, unsigned vector) {
  auto arg = dyn_cast<BlockArgument>(load.getPtr());
  if (!arg || arg.getOwner() != loop.getBody() || arg == loop.getInductionVar())
    return false;
  cta::LayoutAttr layout = spreadLayout(cast<RankedTensorType>(arg.getType()), vector);
  std::optional<SmallVector<Gain, 2>> gains = gainsOf(loop, arg);
  if (!layout || !gains || !llvm::all_of(*gains, [](Gain g) { return isa<AddPtrOp>(g.op); }))
    return false;
  OpBuilder front(loop), here(load), back(loop.getBody()->getTerminator());
  auto there = [&](OpBuilder &b, Value v) { return v ? computedIn(b, v, layout) : Value(); };
  Value init = there(front, loop.getTiedLoopInit(arg)->get());
  Value mask = there(here, load.getMask()), other = there(here, load.getOther());
  SmallVector<Value> steps;
  for (Gain gain : *gains)
    steps.push_back(there(back, gain.value));
  if (!init || (load.getMask() && !mask) || (load.getOther() && !other) ||
      llvm::is_contained(steps, Value()))
    return false;

  auto carryOn = [&](OpBuilder &b, Location loc, ArrayRef<BlockArgument> args) {
    Value next = args.front();
    for (Value step : llvm::reverse(steps))
      next = AddPtrOp::create(b, loc, next.getType(), next, step);
    return SmallVector<Value>{next};
  };
  auto attributes = loop->getDiscardableAttrDictionary();
  IRRewriter rewriter(loop.getContext());
  rewriter.setInsertionPoint(loop);
  auto replaced = *loop.replaceWithAdditionalYields(
      rewriter, init, /*replaceInitOperandUsesInLoop=*/false, carryOn);
  loop = cast<scf::ForOp>(replaced.getOperation());
  loop->setDiscardableAttrs(attributes);

  auto from = cast<RankedTensorType>(load.getType());
  auto to = RankedTensorType::get(from.getShape(), from.getElementType(), layout);
  OpBuilder b(load);
  auto spread = cast<LoadOp>(b.clone(*load));
  spread.getPtrMutable().assign(loop.getRegionIterArgs().back());
  if (mask)
    spread.getMaskMutable().assign(mask);
  if (other)
    spread.getOtherMutable().assign(other);
  spread.getResult().setType(to);
  load.replaceAllUsesWith(
      cta::ConvertLayoutOp::create(b, load.getLoc(), from, spread.getResult()).getResult());
  load.erase();
  return true;
}

void tile::spreadRows(Pipeline &p) {
  bool onlyForProducts = hasProducts(p.loop) && !p.loop->hasAttr(kNumStagesAttr), any = false;
  for (Copy &copy : p.copies)
    if (copy.transpositions.empty())
      any |= spreadRow(p.loop, copy.load, copy.vector);
  if (!any)
    return;
  // What was said of the loop's loads is true of them as they are now.
  ScopedDiagnosticHandler quiet(p.loop.getContext(), [](Diagnostic &said) {
    return success(said.getSeverity() == DiagnosticSeverity::Remark);
  });
  std::optional<Pipeline> now = planPipeline(p.loop, p.stages, onlyForProducts);
  assert(now && "what could be copied still can");
  now->hasSpare = p.hasSpare;
  now->isTight = p.isTight;
  p = std::move(*now);
}
