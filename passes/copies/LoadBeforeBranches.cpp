//===- LoadBeforeBranches.cpp - loads in front of the branch they stand in -===//
//
// Contract and example: LoadBeforeBranchesPass in passes/copies/Passes.td.
//
// What a branch loads is loaded in order with what it computes: nothing of a second branch, nested
// in it, starts before the waits of the first are over, and no copy runs turns ahead. A mask says
// as well as a branch what is not to be touched.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "passes/Passes.h"
#include "passes/copies/Pipeline.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_LOADBEFOREBRANCHESPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-load-before-branches"
ALWAYS_ENABLED_STATISTIC(loadsMoved, "loads in front of a branch that they stood in");

/// A load that may as well happen earlier, as long as nothing is written meanwhile.
static LoadOp plainLoad(Operation *op) {
  auto load = dyn_cast<LoadOp>(op);
  return load && !load.getIsVolatile() ? load : LoadOp();
}

/// Whether loads behind `op` may happen before it.
static bool mayBePassed(Operation *op) {
  return !op->walk([](Operation *inner) {
              bool only = plainLoad(inner) ||
                          inner->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                          isMemoryEffectFree(inner);
              return only ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

/// Whether `op` computes an index, an address or a mask: it costs little, whoever needs it.
static bool isCheap(Operation *op) {
  return op->getNumRegions() == 0 && !isa<DotOp>(op) && isPure(op);
}

//===----------------------------------------------------------------------===//
// What may be loaded at once
//===----------------------------------------------------------------------===//

namespace {
/// How many bytes each turn of a loop that multiplies may load in front of its branches. They are
/// copied to shared memory, for all stages: there is as much as a program would have there if its
/// threads had all the registers they can have. Judgement.
class Room {
public:
  explicit Room(scf::ForOp loop) : written(writtenIn(loop)) {
    auto module = loop->getParentOfType<ModuleOp>();
    const Target &target = targetOf(module);
    int32_t stages = kernelOf(module).getStages();
    stages = stagesOfUse(loop, stages ? stages : kDefaultStages);
    if (!hasProducts(loop) || !target.has(Feature::CpAsync) || stages < 2)
      written = std::nullopt;
    if (!written)
      return;
    int64_t programs =
        programsAtOnce(module, kMaxRegisters, /*sharedBytes=*/0, cta::threadsOf(module));
    const Multiprocessor &chip = target.multiprocessor;
    bytes = (chip.sharedBytes / std::max<int64_t>(programs, 1) - chip.reservedBytes) / stages;
    for (Operation &op : *loop.getBody())
      if (isa<LoadOp, cta::TmaLoadOp>(op))
        bytes -= bytesOf(op.getResult(0).getType());
  }

  /// Whether anything can run ahead.
  explicit operator bool() const { return written.has_value(); }

  /// Takes what the load needs, if there is as much. Blocks that are multiplied are copied turns
  /// ahead, single numbers are loaded one turn ahead.
  bool take(LoadOp load) {
    bool isBlock = isa<RankedTensorType>(load.getType());
    int64_t own = bytesOf(load.getType());
    if (own > bytes || comesFrom(load.getPtr(), *written) || (isBlock && !feedsProduct(load)))
      return false;
    bytes -= own;
    return true;
  }

private:
  static int64_t bytesOf(Type type) {
    auto block = dyn_cast<RankedTensorType>(type);
    int64_t own = block ? block.getNumElements() * getElementBytes(block.getElementType()) : 0;
    return llvm::alignTo(own, cta::kSlotAlignment);
  }

  std::optional<DenseSet<Value>> written; ///< pointers that the loop writes through
  int64_t bytes = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// What is moved
//===----------------------------------------------------------------------===//

namespace {
/// Moves loads in front of `top`, in a turn of `loop`.
struct Mover {
  scf::ForOp loop;
  scf::IfOp top;
  Room &room;
  unsigned moved = 0;

  /// Whether `v` can be computed in front of the branch.
  bool isFree(Value v) {
    DenseSet<Operation *> seen;
    SmallVector<Value> left{v};
    while (!left.empty()) {
      Value next = left.pop_back_val();
      if (!top->isAncestor(next.getParentRegion()->getParentOp()))
        continue;
      Operation *def = next.getDefiningOp();
      if (!def || !isCheap(def))
        return false;
      if (seen.insert(def).second)
        llvm::append_range(left, def->getOperands());
    }
    return true;
  }

  void compute(Value v) {
    Operation *def = v.getDefiningOp();
    if (!def || !top->isProperAncestor(def))
      return;
    for (Value operand : def->getOperands())
      compute(operand);
    def->moveBefore(top);
  }

  /// What of `branch` can be loaded, if it is taken where `around` holds too.
  void run(scf::IfOp branch, llvm::function_ref<Value()> around) {
    if (!isInvariant(branch.getCondition(), loop) || !isFree(branch.getCondition()))
      return;
    Value condition; // once something moves
    auto conditionInFront = [&] {
      if (condition)
        return condition;
      compute(branch.getCondition());
      condition = branch.getCondition();
      if (Value outer = around ? around() : Value()) {
        OpBuilder b(top);
        condition = arith::AndIOp::create(b, branch.getLoc(), outer, condition);
      }
      return condition;
    };
    for (Operation &op : llvm::make_early_inc_range(branch.thenBlock()->without_terminator())) {
      if (auto inner = dyn_cast<scf::IfOp>(op))
        run(inner, conditionInFront);
      if (!mayBePassed(&op))
        return;
      LoadOp load = plainLoad(&op);
      if (!load || !llvm::all_of(load->getOperands(), [&](Value v) { return isFree(v); }) ||
          !room.take(load))
        continue;
      for (Value v : load->getOperands())
        compute(v);
      Value restriction = conditionInFront();
      load->moveBefore(top);
      restrict(load, restriction);
      LDBG() << "in front of its branch: " << load;
      ++moved;
    }
  }

  /// Where `load` reads, only if `condition` holds.
  static void restrict(LoadOp load, Value condition) {
    OpBuilder b(load);
    Location loc = load.getLoc();
    if (auto type = dyn_cast<RankedTensorType>(load.getPtr().getType()))
      condition = SplatOp::create(b, loc, type.clone(b.getI1Type()), condition);
    if (Value mask = load.getMask())
      condition = arith::AndIOp::create(b, loc, mask, condition);
    load.getMaskMutable().assign(condition);
  }
};

struct LoadBeforeBranchesPass : tile::impl::LoadBeforeBranchesPassBase<LoadBeforeBranchesPass> {
  using LoadBeforeBranchesPassBase::LoadBeforeBranchesPassBase;

  void runOnOperation() override {
    getOperation()->walk([&](scf::ForOp loop) {
      auto branches = loop.getBody()->getOps<scf::IfOp>();
      Room room(loop);
      if (!room)
        return;
      for (scf::IfOp branch : branches) {
        Mover mover{loop, branch, room};
        mover.run(branch, nullptr);
        loadsMoved += mover.moved;
      }
    });
  }
};
} // namespace
