//===- OneStage.cpp - one copy in shared memory for products in two orders ===//
//
// A part of tile-keep-operands-shared.
//
//   %a = cta.stage %k                       %a = cta.stage %k
//   %t = tile.trans %k                =>
//   %b = cta.stage %t                       cta.warpgroup_dot %a, %a turned
//   cta.warpgroup_dot %a, %b
//
// Both operands are contiguous along the dimension that is summed over, so they are the same bytes.
// A second copy costs the stores of all threads, and the room of other programs.
//
//===----------------------------------------------------------------------===//
#include "passes/layouts/OneStage.h"
#include "ir/Kernel.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace tile;

/// What `v` is another name of, and whether that is transposed.
static std::pair<Value, bool> sourceOf(Value v) {
  bool isTurned = false;
  for (auto trans = v.getDefiningOp<TransOp>(); trans && trans.getType().getRank() == 2;
       trans = v.getDefiningOp<TransOp>()) {
    isTurned ^= trans.getOrder()[0] == 1;
    v = trans.getSrc();
  }
  return {v, isTurned};
}

static bool isReadTurned(OpOperand &use) {
  auto dot = cast<cta::WarpgroupDotOp>(use.getOwner());
  return use.getOperandNumber() == 0 ? dot.getATurned() : dot.getBTurned();
}

/// Whether products that read `stage` can read `buffer`, which holds the same in the other order
/// where `isOther`.
static bool canReadInstead(cta::StageOp stage, cta::BufferType buffer, bool isOther) {
  return llvm::all_of(stage->getUses(), [&](OpOperand &use) {
    unsigned operand = use.getOperandNumber();
    if (!isa<cta::WarpgroupDotOp>(use.getOwner()) || operand > 1)
      return false;
    bool isTurned = isReadTurned(use) != isOther;
    return cta::isReadByWarpgroups(buffer, isTurned ? operand : 1 - operand);
  });
}

static void readInstead(cta::StageOp stage, Value buffer, bool isOther) {
  for (OpOperand &use : llvm::make_early_inc_range(stage->getUses())) {
    auto dot = cast<cta::WarpgroupDotOp>(use.getOwner());
    bool isTurned = isReadTurned(use) != isOther;
    use.getOperandNumber() == 0 ? dot.setATurned(isTurned) : dot.setBTurned(isTurned);
    use.set(buffer);
  }
  stage.erase();
}

unsigned tile::stageOnce(func::FuncOp kernel) {
  llvm::MapVector<std::pair<Value, Block *>, SmallVector<cta::StageOp, 2>> found;
  kernel.walk([&](cta::StageOp stage) {
    found[{sourceOf(stage.getSrc()).first, stage->getBlock()}].push_back(stage);
  });
  unsigned saved = 0;
  for (auto &[where, stages] : found)
    for (cta::StageOp stage : llvm::drop_begin(stages)) { // in the order of the block
      cta::StageOp first = stages.front();
      bool isOther = sourceOf(stage.getSrc()).second != sourceOf(first.getSrc()).second;
      if (!canReadInstead(stage, first.getType(), isOther))
        continue;
      readInstead(stage, first.getResult(), isOther);
      ++saved;
    }
  return saved;
}
