//===- PersistPrograms.cpp - several programs of the grid in one block ----===//
//
// Contract and example: PersistProgramsPass in passes/schedule/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/Passes.h"
#include "passes/facts/ProgramLengths.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/Roles.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_PERSISTPROGRAMSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-persist-programs"
ALWAYS_ENABLED_STATISTIC(kernelsPersistent, "kernels with several programs in a block");

static bool copiesInLoop(func::FuncOp kernel) {
  return kernel
      .walk([](cta::TmaLoadOp load) {
        return load->getParentOfType<scf::ForOp>() ? WalkResult::interrupt()
                                                   : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Has what stands in the loop ask for the coordinates of its program in a grid of `sizes`.
static void useCoordinates(scf::ForOp loop, ArrayRef<Value> sizes, Value plane) {
  Location loc = loop.getLoc();
  OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
  Value program = loop.getInductionVar();
  auto rest = arith::DivSIOp::create(b, loc, program, sizes[0]);
  // Divisions are slow, and most grids have one axis.
  Value inFirstRow = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, program, sizes[0]);
  auto column = scf::IfOp::create(b, loc, b.getI32Type(), inFirstRow, /*withElseRegion=*/true);
  auto yield = [&](Block *block, auto value) {
    OpBuilder inside = OpBuilder::atBlockEnd(block);
    scf::YieldOp::create(inside, loc, value(inside));
  };
  yield(column.thenBlock(), [&](OpBuilder &) { return program; });
  yield(column.elseBlock(), [&](OpBuilder &inside) -> Value {
    return arith::RemUIOp::create(inside, loc, program, sizes[0]);
  });
  SmallVector<Value, 3> ids = {column.getResult(0), arith::RemSIOp::create(b, loc, rest, sizes[1]),
                               arith::DivSIOp::create(b, loc, program, plane)};
  loop.walk([&](Operation *op) {
    if (auto id = dyn_cast<ProgramIdOp>(op)) {
      id.getResult().replaceAllUsesWith(ids[id.getAxis()]);
      id.erase();
    } else if (auto size = dyn_cast<NumProgramsOp>(op)) {
      size.getResult().replaceAllUsesWith(sizes[size.getAxis()]);
      size.erase();
    }
  });
  for (Value id : llvm::reverse(ids))
    if (id.use_empty())
      id.getDefiningOp()->erase();
  if (rest->use_empty())
    rest->erase();
}

static LogicalResult persist(func::FuncOp kernel) {
  MLIRContext *context = kernel.getContext();
  Location loc = kernel.getLoc();
  Block &body = kernel.getBody().front();
  SmallVector<Operation *> work;
  for (Operation &op : body.without_terminator())
    work.push_back(&op);

  OpBuilder b = OpBuilder::atBlockBegin(&body);
  SmallVector<Value, 3> sizes;
  for (int32_t axis = 0; axis < 3; ++axis) {
    unsigned index = kernel.getNumArguments();
    auto attrs =
        DictionaryAttr::get(context, {b.getNamedAttr(kNumProgramsAttr, b.getI32IntegerAttr(axis))});
    if (failed(kernel.insertArgument(index, b.getI32Type(), attrs, loc)))
      return failure();
    sizes.push_back(kernel.getArgument(index));
  }
  Value first = ProgramIdOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(0));
  Value step = NumProgramsOp::create(b, loc, b.getI32Type(), b.getI32IntegerAttr(0));
  Value plane = arith::MulIOp::create(b, loc, sizes[0], sizes[1]);
  Value total = arith::MulIOp::create(b, loc, plane, sizes[2]);
  auto loop = scf::ForOp::create(b, loc, first, total, step);
  // What one block loads once a program needs no more than one buffer.
  loop->setAttr(kNumStagesAttr, b.getI32IntegerAttr(1));
  loop->setAttr(cta::kProgramsLoopAttr, b.getUnitAttr());
  Operation *end = loop.getBody()->getTerminator();
  for (Operation *op : work)
    op->moveBefore(end);

  useCoordinates(loop, sizes, plane);
  return success();
}

/// Why blocks shall not take programs of `kernel` in turn; nothing if they shall.
static std::optional<Reason> obstacleTo(func::FuncOp kernel) {
  if (cta::blockProgramsOf(kernel).count > 1)
    return Reason::PersistBlocksShared;
  if (!copiesInLoop(kernel))
    return Reason::PersistNothingCopied;
  if (copiesInPlace(kernel))
    return Reason::PersistInPlace;
  // Blocks that take their programs by turns would wait for the one with the longest; a grid
  // that is started block by block shares out its programs by itself.
  if (hasUnequalLoops(kernel))
    return Reason::PersistLengthsDiffer;
  return std::nullopt;
}

namespace {
struct PersistProgramsPass : tile::impl::PersistProgramsPassBase<PersistProgramsPass> {
  void runOnOperation() override {
    if (!getOperation()->hasAttr(kPersistentAttr))
      return;
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>()) {
      std::optional<Reason> why = obstacleTo(kernel);
      LDBG() << kernel.getName() << ": " << (why ? refusalOf(*why).why : "by turns");
      if (why) {
        refuse(kernel, *why);
        continue;
      }
      if (failed(persist(kernel)))
        return signalPassFailure();
      ++kernelsPersistent;
    }
  }
};
} // namespace
