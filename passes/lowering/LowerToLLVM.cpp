//===- LowerToLLVM.cpp - lower a laid-out kernel to the LLVM dialect ------===//
//
// Contract and example: LowerToLLVMPass in passes/lowering/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Algebra.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/Passes.h"
#include "passes/facts/Registers.h"
#include "passes/lowering/ControlFlow.h"
#include "passes/lowering/Conversions.h"
#include "passes/lowering/Debug.h"
#include "passes/lowering/ElementFunctions.h"
#include "passes/lowering/Elementwise.h"
#include "passes/lowering/GatherHistogram.h"
#include "passes/lowering/InstructionCount.h"
#include "passes/lowering/MemoryAccess.h"
#include "passes/lowering/Reductions.h"
#include "passes/lowering/Shape.h"
#include "passes/lowering/instructions/PtxText.h"
#include "passes/lowering/products/Products.h"
#include "passes/lowering/products/WarpgroupDot.h"
#include "passes/lowering/rings/AsyncCopy.h"
#include "passes/lowering/rings/Roles.h"
#include "passes/lowering/rings/SharedReads.h"
#include "passes/lowering/stores/StagedStores.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_LOWERTOLLVMPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

#define DEBUG_TYPE "tile-lower-to-llvm"
ALWAYS_ENABLED_STATISTIC(kernelsLowered, "kernels lowered");

/// Whether a turn of the loop itself multiplies matrices.
static bool addsProducts(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(), llvm::IsaPred<DotOp, cta::WarpgroupDotOp>);
}

namespace {
/// Operations are lowered in program order by one walk over the structured control flow, which
/// becomes branches on the way: each by who knows its family.
class Lowering {
public:
  Lowering(ModuleOp module, func::FuncOp kernel, OpBuilder &builder)
      : core(module, kernel, builder, [this](Block &block) { return lowerBlock(block); }) {}

  /// Creates the llvm.func and lowers the whole body into it.
  LogicalResult run();

private:
  LogicalResult lowerBlock(Block &block);
  LogicalResult lowerOp(Operation *op);
  LogicalResult lowerTileOp(Operation *op);
  LogicalResult lowerCtaOp(Operation *op);
  LogicalResult lowerControlFlow(Operation *op);
  LogicalResult lower(arith::ConstantOp op);
  void lower(cta::PinOp op);
  void lower(cta::AnyInWarpOp op);
  void waitForGrids();

  Core core;
  Instructions &in = core.in;
  InstructionCount count;
  ControlFlow controlFlow{core};
  Elementwise elementwise{core};
  MemoryAccesses memory{core};
  Debugging debugging{core};
  ElementFunctions functions{core};
  Rings rings{core};
  GroupTurns turns{core, rings};
  Roles roles{core, turns};
  AsyncCopies copies{core};
  SharedReads reads{core, rings};
  Movements movements{core, reads};
  Products products{core, reads};
  WarpgroupProducts warpgroupProducts{core, rings};
  StagedStores stores{core};
  /// Where a dependent launch must wait for the grids before it; null: nowhere.
  Operation *firstAccess = nullptr;
  /// The grid behind this one is announced behind loops over products, not with the wait.
  bool announcesLate = false;
};
} // namespace

/// The op of the kernel's body before which a dependent launch waits for the
/// grids before it: the first that touches global memory, at any depth. Inline
/// PTX may, even if it is called pure: that only says that it has no side effects.
static Operation *findFirstAccess(Block &body) {
  for (Operation &op : body) {
    WalkResult found = op.walk([](Operation *inner) {
      bool isElsewhere =
          isa<cta::RingOp, cta::BarrierOp, cta::ClusterBarrierOp, cta::PinOp, BarrierOp, AssumeOp>(
              inner);
      bool isAccess = !inner->getNumRegions() && !isElsewhere && !isMemoryEffectFree(inner);
      return isAccess || isa<InlineAsmOp>(inner) ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted())
      return &op;
  }
  // Who waits for this grid relies on it to have waited for those before.
  return body.getTerminator();
}

/// The PTX ISA version (times 10) that the author's own instructions need.
static unsigned versionOfInlinePtx(func::FuncOp kernel) {
  unsigned version = 0;
  kernel.walk(
      [&](InlineAsmOp op) { version = std::max(version, ptx::versionNeeded(op.getText())); });
  return version;
}

static bool hasLoopOfProducts(func::FuncOp kernel) {
  auto look = [](scf::ForOp loop) {
    return addsProducts(loop) ? WalkResult::interrupt() : WalkResult::advance();
  };
  return kernel.walk(look).wasInterrupted();
}

/// How many threads a block has, and how many blocks a multiprocessor is to have room for.
static void setLaunchBounds(const Core &core, LLVM::LLVMFuncOp function) {
  OpBuilder &b = core.b;
  function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(),
                    b.getDenseI32ArrayAttr({int32_t(core.blockThreads)}));
  bool hasRoles = core.blockThreads != core.numThreads;
  bool areDealt =
      hasRoles && registersOfRoles(core.in.target(), core.numThreads * core.groups).areDealt;
  auto together = ModuleOp(core.module)->getAttrOfType<IntegerAttr>(cta::kProgramsTogetherAttr);
  if (areDealt || (hasRoles && !together)) // one block at a time
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), b.getI32IntegerAttr(1));
  else if (together)
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(), together);
}

/// What is known of the arguments, and how they are passed.
static void describeArguments(func::FuncOp kernel, LLVM::LLVMFuncOp function, OpBuilder &b) {
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (auto divisibility = kernel.getArgAttrOfType<IntegerAttr>(i, kDivisibilityAttr);
        divisibility && isa<LLVM::LLVMPointerType>(type))
      function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                          b.getI64IntegerAttr(divisibility.getInt()));
  for (auto [i, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    if (!isa<cta::TensorMapType>(type))
      continue;
    // The launcher passes the 128 bytes of the map by value.
    auto bytes = LLVM::LLVMArrayType::get(b.getI8Type(), 128);
    function.setArgAttr(i, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(bytes));
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
    function.setArgAttr(i, NVVM::NVVMDialect::getGridConstantAttrName(), b.getUnitAttr());
  }
}

LogicalResult Lowering::run() {
  ModuleOp module = core.module;
  func::FuncOp kernel = core.kernel;
  OpBuilder &b = core.b;
  SmallVector<Type> params;
  for (Type type : kernel.getArgumentTypes())
    params.push_back(core.llvmType(type));
  b.setInsertionPoint(kernel);
  auto function = LLVM::LLVMFuncOp::create(
      b, kernel.getLoc(), kernel.getName(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), params));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  setLaunchBounds(core, function);
  describeArguments(kernel, function, b);
  core.begin(function.addEntryBlock(b));
  if (module->hasAttr(kDependentLaunchAttr)) {
    firstAccess = findFirstAccess(kernel.getBody().front());
    announcesLate = module->hasAttr(kAnnouncesAttr) && hasLoopOfProducts(kernel);
  }
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  if (unsigned version = std::max(in.ptxVersion(), versionOfInlinePtx(kernel)))
    module->setAttr(kPtxVersionAttr, b.getI32IntegerAttr(version));
  kernel.erase();
  return success();
}

void Lowering::waitForGrids() {
  in.waitForGrids();
  // By kernels of few blocks only: if every one of thousands announces it, they are launched
  // at half the rate.
  if (core.module->hasAttr(kAnnouncesAttr) && !announcesLate)
    in.announceGrid();
}

LogicalResult Lowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    in.setLoc(op.getLoc());
    if (failed(count.add(&op)))
      return failure();
    if (&op == firstAccess)
      waitForGrids();
    if (failed(lowerOp(&op)) || failed(count.addProduct(&op)))
      return failure();
    if (op.hasAttr(cta::kComputedHereAttr))
      core.set(op.getResult(0), in.pin(core.get(op.getResult(0))));
  }
  return success();
}

LogicalResult Lowering::lowerOp(Operation *op) {
  if (isa_and_nonnull<cta::CtaDialect>(op->getDialect()))
    return lowerCtaOp(op);
  if (isa_and_nonnull<TileDialect>(op->getDialect()))
    return lowerTileOp(op);
  if (isa_and_nonnull<scf::SCFDialect>(op->getDialect()))
    return lowerControlFlow(op);
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return lower(constant);
  if (!isa<func::ReturnOp>(op))
    return elementwise.lower(op);
  stores.finish();
  LLVM::ReturnOp::create(core.b, op->getLoc(), ValueRange());
  return success();
}

LogicalResult Lowering::lowerControlFlow(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<scf::WhileOp, scf::IfOp>([&](auto o) { return controlFlow.lower(o); })
      .Case<scf::ForOp>([&](auto o) {
        LogicalResult result = controlFlow.lower(o);
        if (announcesLate && addsProducts(o))
          in.announceGrid();
        return result;
      })
      .Case<scf::YieldOp, scf::ConditionOp>([](auto) { return success(); })
      .Default([&](Operation *) { return elementwise.lower(op); });
}

/// What has no families of its own: numbers of the program, and what changes nothing.
LogicalResult Lowering::lowerTileOp(Operation *op) {
  auto done = [](auto lower) { return [=](auto o) { return lower(o), success(); }; };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<YieldOp>([](auto) { return success(); })
      .Case<ProgramIdOp>(done([&](auto o) { core.set(o.getResult(), {in.blockId(o.getAxis())}); }))
      .Case<NumProgramsOp>(
          done([&](auto o) { core.set(o.getResult(), {in.gridSize(o.getAxis())}); }))
      .Case<HintOp>(done([&](auto o) { core.set(o.getResult(), core.get(o.getSrc())); }))
      .Case<AssumeOp>(done([&](auto o) { in.assume(core.getScalar(o.getCondition())); }))
      .Case<BarrierOp>(done([&](auto) { in.barrier(); }))
      .Case<MakeRangeOp>(done([&](auto o) { movements.lower(o); }))
      .Case<SplatOp, UnsplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp, JoinOp, SplitOp>(
          [&](auto) { return movements.lowerMovement(op); })
      .Case<AddPtrOp, StoreOp>(done([&](auto o) { memory.lower(o); }))
      .Case<LoadOp>([&](auto o) { return memory.lower(o); })
      .Case<AtomicRmwOp, AtomicCasOp>([&](auto) { return memory.lowerAtomic(op); })
      .Case<AssertOp, PrintOp>(done([&](auto o) { debugging.lower(o); }))
      .Case<GatherOp>([&](auto o) { return lowerGather(core, o); })
      .Case<HistogramOp>([&](auto o) { return lowerHistogram(core, o); })
      .Case<ExternElementwiseOp>(done([&](auto o) { functions.lower(o); }))
      .Case<MapElementwiseOp, InlineAsmOp>([&](auto o) { return functions.lower(o); })
      .Case<ReduceOp>([&](auto o) { return lowerReduce(core, o); })
      .Case<ScanOp>([&](auto o) { return lowerScan(core, o); })
      .Case<DotOp>([&](auto o) { return products.lower(o); })
      .Default([&](Operation *) { return elementwise.lower(op); });
}

LogicalResult Lowering::lowerCtaOp(Operation *op) {
  auto done = [](auto lower) { return [=](auto o) { return lower(o), success(); }; };
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<cta::ConvertLayoutOp>([&](auto o) { return lowerConvert(core, o); })
      .Case<cta::AnyInWarpOp, cta::PinOp>(done([&](auto o) { lower(o); }))
      .Case<cta::RingOp, cta::RingAcquireOp, cta::RingCopyOp, cta::RingBulkCopyOp,
            cta::RingElementCopyOp, cta::RingCommitOp, cta::RingWaitOp, cta::RingReleaseOp,
            cta::RingAdvanceOp, cta::RingFillOp>(done([&](auto o) { rings.lower(o); }))
      .Case<cta::SlotsOp, cta::SlotOp, cta::AsyncCopyOp, cta::AsyncCommitOp, cta::AsyncWaitOp>(
          done([&](auto o) { copies.lower(o); }))
      .Case<cta::ReadOp>(done([&](auto o) { reads.lower(o); }))
      .Case<cta::RolesOp, cta::SingleOp>([&](auto o) { return roles.lower(o); })
      .Case<cta::TurnBeginOp, cta::TurnEndOp>(done([&](auto o) { turns.lower(o); }))
      .Case<cta::StageOp, cta::FillOp, cta::TmaStoreOp>(done([&](auto o) { stores.lower(o); }))
      .Case<cta::WarpgroupDotOp, cta::WarpgroupWaitOp>(
          done([&](auto o) { warpgroupProducts.lower(o); }))
      .Case<cta::GroupOp>(done([&](auto o) { core.set(o.getResult(), {core.group()}); }))
      .Case<cta::PrefetchOp>(done([&](auto o) {
        in.prefetchBulk(core.getScalar(o.getPtr()), core.getScalar(o.getBytes()));
      }))
      .Case<cta::ClusterBarrierOp>(done([&](auto) { in.clusterBarrier(); }))
      .Case<cta::BarrierOp>(done([&](auto) { in.barrier(); }))
      .Default([&](Operation *) { return elementwise.lower(op); });
}

void Lowering::lower(cta::AnyInWarpOp op) {
  Value any;
  for (Value held : core.get(op.getSrc()))
    any = any ? LLVM::OrOp::create(core.b, op.getLoc(), any, held).getResult() : held;
  core.set(op.getResult(), {in.anyInWarp(any)});
}

/// Whether products, and they alone, read `v` as their left operand, perhaps in a later turn.
static bool isLeftOperand(Value v) {
  return llvm::all_of(v.getUses(), [](OpOperand &use) {
    if (isa<cta::WarpgroupDotOp>(use.getOwner()))
      return use.getOperandNumber() == 0;
    auto loop = dyn_cast<scf::ForOp>(use.getOwner()->getParentOp());
    if (!loop || !isa<scf::YieldOp>(use.getOwner()))
      return false;
    return llvm::all_of(
        loop.getRegionIterArg(use.getOperandNumber()).getUses(), [](OpOperand &use) {
          return isa<cta::WarpgroupDotOp>(use.getOwner()) && use.getOperandNumber() == 0;
        });
  });
}

void Lowering::lower(cta::PinOp op) {
  const Registers &regs = core.get(op.getSrc());
  core.set(op.getResult(),
           Registers(isLeftOperand(op.getResult()) ? in.copyUnseen(regs) : in.pin(regs)));
}

LogicalResult Lowering::lower(arith::ConstantOp op) {
  Attribute attr = op.getValue();
  size_t count = 1;
  if (auto dense = dyn_cast<DenseElementsAttr>(attr)) {
    if (!dense.isSplat())
      return op.emitOpError("only splat block constants are lowered");
    attr = dense.getSplatValue<Attribute>();
    count = cta::getLayout(op.getType()).inSize(Dim::reg());
  }
  Type type = core.llvmType(getElementType(op.getType()));
  auto f = dyn_cast<FloatAttr>(attr);
  if (f && isa<IntegerType>(type) && core.module->hasAttr(kAlgebraicAttr))
    attr = IntegerAttr::get(type, algebra::image(f.getValue()).value_or(APInt(8, 0)));
  else if (f && isa<IntegerType>(type))
    attr = IntegerAttr::get(type, f.getValue().bitcastToAPInt());
  Value v = in.constant(type, attr);
  if (auto i = dyn_cast<IntegerAttr>(attr); i && i.getValue().getSignificantBits() <= 64)
    core.remember(v, {Value(), i.getValue().getSExtValue()});
  core.set(op.getResult(), Registers(count, v));
  return success();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct LowerToLLVMPass : tile::impl::LowerToLLVMPassBase<LowerToLLVMPass> {
  void runOnOperation() override {
    OpBuilder builder(&getContext());
    for (func::FuncOp kernel : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>())) {
      LDBG() << kernel.getName();
      Lowering lowering(getOperation(), kernel, builder);
      if (failed(lowering.run()))
        return signalPassFailure();
      ++kernelsLowered;
    }
  }
};
} // namespace
