//===- FirstTiles.cpp - what copies bring first, asked for early ----------===//
#include "passes/lowering/rings/FirstTiles.h"
#include "ir/Kernel.h"
#include "passes/lowering/core/TensorBoxes.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

/// The first loop of `producer`, if what runs before it touches no memory.
static scf::ForOp firstLoop(Block &producer) {
  for (Operation &op : producer) {
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return loop;
    if (!isMemoryEffectFree(&op))
      return {};
  }
  return {};
}

/// The loop's turns that acquire slots which nobody has used yet.
void FirstTiles::countTurns() {
  llvm::SmallMapVector<Value, int64_t, 4> acquires;
  for (auto acquire : loop.getBody()->getOps<cta::RingAcquireOp>())
    ++acquires[acquire.getRing()];
  std::optional<int64_t> least;
  for (auto [value, count] : acquires)
    if (auto ring = value.getDefiningOp<cta::RingOp>())
      least = std::min<int64_t>(least.value_or(INT64_MAX), ring.getStages() / count);
  turns = least.value_or(0);
}

/// Adds what `v` comes from in the loop; false if more than the turn enters that.
bool FirstTiles::collect(Value v) {
  if (v == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(v))
    return true;
  Operation *op = v.getDefiningOp();
  if (!op || op->getNumRegions() || op->getBlock() != loop.getBody() || !isMemoryEffectFree(op) ||
      !llvm::all_of(op->getOperands(), [&](Value o) { return collect(o); }))
    return false;
  ops.insert(op);
  return true;
}

FirstTiles::FirstTiles(cta::RolesOp roles) : loop(firstLoop(roles.getProducer().front())) {
  if (!loop)
    return;
  countTurns();
  for (auto copy : loop.getBody()->getOps<cta::RingCopyOp>()) {
    // What a cluster shares would be asked for by each of its thread blocks.
    if (copy.getCommon() || !loop.isDefinedOutsideOfLoop(copy.getMap()))
      continue;
    if (llvm::all_of(copy.getStarts(), [&](Value start) { return collect(start); }))
      copies.push_back(copy);
  }
}

static void askFor(Core &core, cta::RingCopyOp copy) {
  Instructions &in = core.in;
  auto type = copy.getBuffer().getType();
  Value map = in.tensorMapAddress(core.getScalar(copy.getMap()));
  forEachBox(mapAttr(copy.getMap()), type.getLinearLayout(), getElementBytes(type.getElementType()),
             copy.getDims(), [&](ArrayRef<int64_t> at, int64_t) {
               SmallVector<Value> args{map};
               std::string constraints = "l", list;
               for (auto [start, more] : llvm::zip(copy.getStarts(), at)) {
                 list += llvm::formatv("{0}${1}", list.empty() ? "" : ", ", args.size());
                 constraints += ",r";
                 args.push_back(core.plus(core.getScalar(start), more));
               }
               in.inlineAsm(llvm::formatv("cp.async.bulk.prefetch.tensor.{0}d.L2.global "
                                          "[$0, {{{1}}];",
                                          at.size(), list)
                                .str(),
                            constraints + ",~{memory}", Type(), args, /*sideEffects=*/true);
             });
}

LogicalResult FirstTiles::ask(Core &core,
                              llvm::function_ref<LogicalResult(Operation *)> lowerOp) {
  Location loc = loop.getLoc();
  OpBuilder &b = core.b;
  Value counter = core.getScalar(loop.getLowerBound());
  LogicalResult result = success();
  for (int64_t turn = 0; turn < turns && succeeded(result); ++turn) {
    // A counter that passes its type's end asks for a tile outside of the array: nothing.
    if (turn > 0)
      counter = LLVM::AddOp::create(b, loc, counter, core.getScalar(loop.getStep()));
    auto below = loop.getUnsignedCmp() ? LLVM::ICmpPredicate::ult : LLVM::ICmpPredicate::slt;
    Value isThere = LLVM::ICmpOp::create(b, loc, below, counter,
                                         core.getScalar(loop.getUpperBound()));
    core.emitIf(isThere, [&] {
      core.set(loop.getInductionVar(), {counter});
      for (Operation *op : ops)
        if (succeeded(result))
          result = lowerOp(op);
      if (succeeded(result))
        for (cta::RingCopyOp copy : copies)
          askFor(core, copy);
    });
  }
  return result;
}
