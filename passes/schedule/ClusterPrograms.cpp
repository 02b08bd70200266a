//===- ClusterPrograms.cpp - neighbouring programs share what they load ---===//
//
// Contract and example: ClusterProgramsPass in passes/schedule/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "ir/MapChoices.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "passes/Passes.h"
#include "passes/copies/TensorMaps.h"
#include "passes/facts/Neighbours.h"
#include "passes/facts/Reach.h"
#include "passes/facts/Refusals.h"
#include "passes/schedule/StoreOnlyIf.h"
#include "target/Tuning.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_CLUSTERPROGRAMSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-cluster-programs"
ALWAYS_ENABLED_STATISTIC(loadsShared, "loads that the blocks of a cluster share");

namespace {

class ProgramCluster {
public:
  ProgramCluster(func::FuncOp kernel, scf::ForOp programs, int64_t blocks)
      : kernel(kernel), programs(programs), blocks(blocks), varying(programs) {}

  /// Why nothing was shared; nothing if it is.
  std::optional<Reason> run();
  /// Whether that should be done unasked.
  bool isWorthwhile();

private:
  bool onlyStores();
  bool cutsOf(Value v, SmallVectorImpl<Value> &cuts);
  bool canRecompute(Value v, unsigned depth = 0);
  bool mayShare(cta::TmaLoadOp load, SmallVectorImpl<Value> &cuts);
  void shareLoad(cta::TmaLoadOp load, ArrayRef<Value> cuts);
  void cutBox(cta::TmaLoadOp load);
  void levelPrograms();

  func::FuncOp kernel;
  scf::ForOp programs;
  int64_t blocks;                ///< of a cluster: a power of two
  Neighbours varying;            ///< from program to program
  Value own;                     ///< program of this thread block
  SmallVector<Value> neighbours; ///< of the others
};

} // namespace

/// What else a program does must not be done twice.
bool ProgramCluster::onlyStores() {
  WalkResult result = programs.walk([](Operation *op) {
    if (op->getNumRegions() || isMemoryEffectFree(op) ||
        isa<StoreOp, cta::TmaStoreOp, AssumeOp>(op))
      return WalkResult::advance();
    auto effects = dyn_cast<MemoryEffectOpInterface>(op);
    return effects && effects.onlyHasEffect<MemoryEffects::Read>() ? WalkResult::advance()
                                                                   : WalkResult::interrupt();
  });
  return !result.wasInterrupted();
}

/// The values of the program's top level that `v`, somewhere within it, is made of
/// besides what is the same for all programs.
bool ProgramCluster::cutsOf(Value v, SmallVectorImpl<Value> &cuts) {
  if (!varying.differ(v))
    return true;
  Operation *op = v.getDefiningOp();
  if (v.getParentBlock() == programs.getBody()) {
    cuts.push_back(v);
    return canRecompute(v);
  }
  return op && !op->getNumRegions() && isMemoryEffectFree(op) &&
         llvm::all_of(op->getOperands(), [&](Value o) { return cutsOf(o, cuts); });
}

/// What `op` is computed from, branches included.
static SetVector<Value> usedBy(Operation *op) {
  SetVector<Value> values(op->operand_begin(), op->operand_end());
  getUsedValuesDefinedAbove(op->getRegions(), values);
  return values;
}

/// By scalar arithmetic on the program's number.
bool ProgramCluster::canRecompute(Value v, unsigned depth) {
  if (!varying.differ(v) || v == programs.getInductionVar())
    return true;
  Operation *op = v.getDefiningOp();
  return op && depth < reach::kScalars && isMemoryEffectFree(op) &&
         llvm::none_of(
             op->getResultTypes(), [](Type t) { return isa<RankedTensorType>(t); }) &&
         llvm::all_of(usedBy(op), [&](Value o) { return canRecompute(o, depth + 1); });
}

bool ProgramCluster::mayShare(cta::TmaLoadOp load, SmallVectorImpl<Value> &cuts) {
  if (load.getType().getShape().size() == 1)
    return false; // a vector is not worth it
  if (!isa<BlockArgument>(load.getMap()))
    return false; // programs are compared by where they start, not by arrays
  // All programs come by equally often.
  for (Operation *op = load->getParentOp(); op != programs; op = op->getParentOp()) {
    auto loop = dyn_cast<scf::ForOp>(op);
    auto branch = dyn_cast<scf::IfOp>(op);
    if (loop ? varying.differ({loop.getLowerBound(), loop.getUpperBound(), loop.getStep()})
             : !branch || varying.differ(branch.getCondition()))
      return false;
  }
  return llvm::all_of(load.getStarts(), [&](Value start) { return cutsOf(start, cuts); });
}

/// Where a tile comes in fewer boxes than there are blocks: as low as it takes.
void ProgramCluster::cutBox(cta::TmaLoadOp load) {
  unsigned index = cast<BlockArgument>(load.getMap()).getArgNumber();
  auto map = kernel.getArgAttrOfType<cta::MapAttr>(index, cta::kTensorMapAttr);
  auto type = cast<cta::BufferType>(load.getType());
  if (cta::dimensionToShare(map, type, load.getDims(), blocks))
    return;
  for (unsigned i = load.getDims().size(); i-- > 1;) {
    int32_t dim = load.getDims()[i];
    // Eight rows are the period of the swizzles.
    if (dim < 0 || type.getShape()[dim] % (8 * blocks) != 0)
      continue;
    SmallVector<int64_t> box(map.getBox());
    box[i] = std::min(box[i], type.getShape()[dim] / blocks);
    kernel.setArgAttr(index, cta::kTensorMapAttr,
                      cta::MapAttr::get(map.getContext(), map.getBase(), map.getElementType(),
                                        map.getSizes(), map.getStrides(), box, map.getSwizzle(),
                                        map.getNotNegative()));
    return;
  }
}

void ProgramCluster::shareLoad(cta::TmaLoadOp load, ArrayRef<Value> cuts) {
  Operation *top = programs.getBody()->findAncestorOpInBlock(*load);
  OpBuilder b(top);
  Location loc = load.getLoc();
  Value common;
  for (Value neighbour : neighbours) {
    IRMapping map;
    map.map(own, neighbour);
    auto recompute = [&](auto &&self, Value v) -> Value {
      if (!varying.differ(v) || map.contains(v))
        return map.lookupOrDefault(v);
      Operation *op = v.getDefiningOp();
      for (Value operand : usedBy(op))
        self(self, operand);
      b.clone(*op, map);
      return map.lookup(v);
    };
    for (Value cut : cuts) {
      if (cut == programs.getInductionVar())
        cut = own;
      Value same =
          arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, cut, recompute(recompute, cut));
      common = common ? arith::AndIOp::create(b, loc, common, same).getResult() : same;
    }
  }
  if (!common)
    common = arith::ConstantOp::create(b, loc, b.getBoolAttr(true));
  load.getCommonMutable().assign(common);
  cutBox(load);
}

/// Equally many programs for all blocks of a cluster, whose neighbours become
/// known. Blocks `n`, `n ^ 1`, ... are a cluster, and each goes on in steps of the
/// grid's size, which is a multiple of the cluster's.
void ProgramCluster::levelPrograms() {
  OpBuilder b(programs);
  Location loc = programs.getLoc();
  auto constant = [&](int32_t c) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(c));
  };
  Value total = programs.getUpperBound();
  Value last = arith::SubIOp::create(b, loc, total, constant(1));
  Value lastOfCluster = arith::OrIOp::create(b, loc, last, constant(int32_t(blocks - 1)));
  programs.setUpperBound(arith::AddIOp::create(b, loc, lastOfCluster, constant(1)));

  Value number = programs.getInductionVar();
  b.setInsertionPointToStart(programs.getBody());
  Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, number, total);
  own = arith::MinSIOp::create(b, loc, number, last);
  number.replaceUsesWithIf(own, [&](OpOperand &use) {
    return use.getOwner() != exists.getDefiningOp() && use.getOwner() != own.getDefiningOp();
  });
  for (int64_t other = 1; other < blocks; ++other) {
    Value neighbour = arith::XOrIOp::create(b, loc, number, constant(int32_t(other)));
    neighbours.push_back(arith::MinSIOp::create(b, loc, neighbour, last));
  }
  SmallVector<Operation *> stores;
  programs.walk([&](Operation *op) {
    if (isa<StoreOp, cta::TmaStoreOp>(op))
      stores.push_back(op);
  });
  storeOnlyIf(exists, stores);
}

std::optional<Reason> ProgramCluster::run() {
  if (!onlyStores())
    return Reason::ClusterDoesMore;
  SmallVector<std::pair<cta::TmaLoadOp, SmallVector<Value>>> shared;
  programs.walk([&](cta::TmaLoadOp load) {
    SmallVector<Value> cuts;
    if (mayShare(load, cuts))
      shared.push_back({load, cuts});
  });
  if (shared.empty())
    return Reason::ClusterNothingShared;
  levelPrograms();
  loadsShared += shared.size();
  for (auto &[load, cuts] : shared)
    shareLoad(load, cuts);
  return std::nullopt;
}

bool ProgramCluster::isWorthwhile() {
  int64_t large = tuningOf(kernel).clusterLeastResult;
  bool isLarge = false, cutsSectors = false;
  programs.walk([&](Operation *op) {
    if (auto dot = dyn_cast<cta::WarpgroupDotOp>(op))
      isLarge |= cast<RankedTensorType>(dot.getType()).getNumElements() >= large;
    else if (auto load = dyn_cast<cta::TmaLoadOp>(op))
      cutsSectors |= load->getParentOp() != programs &&
                     llvm::any_of(cta::mapsBehind(load.getMap()), [&](BlockArgument map) {
                       return kernel.getArgAttr(map.getArgNumber(), cta::kCutsSectorsAttr);
                     });
  });
  return isLarge && cutsSectors;
}

/// Why no loop over programs became one of clusters; nothing if one did.
static std::optional<Reason> clusterIn(func::FuncOp kernel, int64_t blocks, bool isWanted) {
  Reason why = Reason::ClusterNoPrograms;
  bool any = false;
  for (auto loop : kernel.getOps<scf::ForOp>()) {
    if (!loop->hasAttr(cta::kProgramsLoopAttr))
      continue;
    ProgramCluster cluster(kernel, loop, blocks);
    if (!isWanted && !cluster.isWorthwhile())
      continue;
    std::optional<Reason> obstacle = cluster.run();
    any |= !obstacle;
    why = obstacle.value_or(why);
  }
  return any ? std::nullopt : std::optional(why);
}

namespace {
struct ClusterProgramsPass : tile::impl::ClusterProgramsPassBase<ClusterProgramsPass> {
  using ClusterProgramsPassBase::ClusterProgramsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    int32_t wanted = kernelOf(module).getCtas();
    int32_t blocks = wanted ? wanted : always ? 2 : tuningOf(module).clusterUnasked;
    if (blocks < 2)
      return;
    for (func::FuncOp kernel : module.getOps<func::FuncOp>()) {
      std::optional<Reason> why = clusterIn(kernel, blocks, /*isWanted=*/wanted != 0 || always);
      LDBG() << kernel.getName() << ": " << (why ? refusalOf(*why).why : "clusters");
      if (!why)
        cta::setMade(module, &cta::Made::cluster, blocks);
      else if (wanted)
        refuse(kernel, *why);
    }
  }
};
} // namespace
