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
#include "passes/layouts/DotLayouts.h"
#include "passes/lowering/Lowering.h"
#include "passes/lowering/instructions/PtxText.h"
#include "passes/memory/Scratch.h"
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

Lowering::Lowering(ModuleOp module, func::FuncOp kernel, OpBuilder &builder)
    : Core(module, kernel, builder, [this](Block &block) { return lowerBlock(block); }) {
  if (auto attr = module->getAttrOfType<BoolAttr>(kFpFusionAttr))
    fuseMulAdd = attr.getValue();
}

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
  SmallVector<Type> params;
  for (Type type : kernel.getArgumentTypes())
    params.push_back(llvmType(type));
  b.setInsertionPoint(kernel);
  auto function = LLVM::LLVMFuncOp::create(
      b, kernel.getLoc(), kernel.getName(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), params));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), b.getUnitAttr());
  setLaunchBounds(*this, function);
  describeArguments(kernel, function, b);
  begin(function.addEntryBlock(b));
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

/// Of more instructions than these for each thread, a kernel takes many seconds to compile and
/// minutes to assemble, and its blocks have no room in registers by far.
static constexpr int64_t kMostInstructions = 1 << 18;
/// What LLVM's passes over loops take grows with the square of their number.
static constexpr unsigned kMostLoops = 256;

/// Of one register, roughly. Functions of the device library are long, those of doubles longer;
/// what only gives registers other coordinates or another type is no instruction.
static int64_t instructionsOf(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      isa<BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp, JoinOp, SplitOp, arith::BitcastOp>(op))
    return 0;
  bool isExtern = isa<ExternElementwiseOp>(op);
  if (!isExtern && !isa<math::MathDialect>(op->getDialect()))
    return 1;
  bool isWide = op->getNumResults() && getElementType(op->getResult(0).getType()).isF64();
  return (isExtern ? 64 : 16) * (isWide ? 4 : 1);
}

/// What a product adds, if `op` is one: each instruction along the inner dimension, of 32 bytes,
/// names the registers of the result. Those of warpgroups name all at once, which costs a compiler
/// more.
static int64_t instructionsOfProduct(Operation *op) {
  auto count = [&](Type element, int64_t depth, int64_t weight) {
    int64_t registers = cta::getLayout(op->getResult(0).getType()).inSize(Dim::reg());
    return registers * weight * std::max<int64_t>(1, depth * getElementBytes(element) / 32);
  };
  if (auto dot = dyn_cast<cta::WarpgroupDotOp>(op))
    return count(dot.getB().getType().getElementType(), dot.getDepth(), 6);
  if (auto dot = dyn_cast<DotOp>(op))
    return count(getElementType(dot.getA().getType()), dot.getA().getType().getShape().back(), 1);
  return 0;
}

/// Adds what `op` becomes, roughly: an instruction for each register, some for mathematics.
LogicalResult Lowering::countInstructions(Operation *op) {
  if (isa<scf::ForOp, scf::WhileOp>(op) && ++loops > kMostLoops)
    return op->emitError() << "this is one loop more than the " << kMostLoops
                           << " that a kernel can have: put what repeats into a loop around them";
  int64_t registers = 1;
  auto consider = [&](Value v) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    if (type && isa_and_present<cta::LayoutAttr>(type.getEncoding()))
      registers = std::max<int64_t>(registers, cta::getLayout(type).inSize(Dim::reg()));
  };
  if (isa<arith::ConstantOp, SplatOp>(op))
    return success(); // one value for all
  llvm::for_each(op->getOperands(), consider);
  llvm::for_each(op->getResults(), consider);
  instructions += registers * instructionsOf(op);
  if (instructions <= kMostInstructions)
    return success();
  return op->emitError() << "this operation has " << registers
                         << " elements in each thread, and with it the kernel has more than "
                         << kMostInstructions
                         << " instructions: use smaller blocks, in a loop, or more warps";
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

LogicalResult Lowering::lowerPin(cta::PinOp op) {
  const Registers &regs = get(op.getSrc());
  set(op.getResult(),
      Registers(isLeftOperand(op.getResult()) ? in.copyUnseen(regs) : in.pin(regs)));
  return success();
}

bool tile::lowering::addsProducts(scf::ForOp loop) {
  return llvm::any_of(*loop.getBody(), llvm::IsaPred<DotOp, cta::WarpgroupDotOp>);
}

LogicalResult Lowering::lowerBlock(Block &block) {
  for (Operation &op : block) {
    in.setLoc(op.getLoc());
    if (failed(countInstructions(&op)))
      return failure();
    if (&op == firstAccess) {
      in.waitForGrids();
      // By kernels of few blocks only: if every one of thousands announces it, they are launched
      // at half the rate.
      if (module->hasAttr(kAnnouncesAttr) && !announcesLate)
        in.announceGrid();
    }
    if (failed(lowerOp(&op)))
      return failure();
    int64_t more = instructionsOfProduct(&op); // one that is too long has said so itself
    instructions += more;
    if (more && instructions > kMostInstructions)
      return op.emitError() << "with this product the kernel has more than " << kMostInstructions
                            << " instructions: use a loop that runs at run time, or smaller blocks";
    if (op.hasAttr(cta::kComputedHereAttr))
      set(op.getResult(0), in.pin(get(op.getResult(0))));
  }
  return success();
}

LogicalResult Lowering::lowerOp(Operation *op) {
  if (isa_and_nonnull<cta::CtaDialect>(op->getDialect()))
    return lowerCtaOp(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<func::ReturnOp>([&](auto) {
        stores.finish();
        LLVM::ReturnOp::create(b, op->getLoc(), ValueRange());
        return success();
      })
      .Case<scf::YieldOp, scf::ConditionOp, YieldOp>([](auto) { return success(); })
      .Case<scf::ForOp>([&](auto o) { return lowerFor(o); })
      .Case<scf::WhileOp>([&](auto o) { return lowerWhile(o); })
      .Case<scf::IfOp>([&](auto o) { return lowerIf(o); })
      .Case<arith::ConstantOp>([&](auto o) { return lowerConstant(o); })
      .Case<ProgramIdOp>([&](auto o) {
        set(o.getResult(), {in.blockId(o.getAxis())});
        return success();
      })
      .Case<NumProgramsOp>([&](auto o) {
        set(o.getResult(), {in.gridSize(o.getAxis())});
        return success();
      })
      .Case<HintOp>([&](auto o) {
        set(o.getResult(), get(o.getSrc()));
        return success();
      })
      .Case<MakeRangeOp>([&](auto o) { return lowerMakeRange(o); })
      .Case<SplatOp, UnsplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp, JoinOp, SplitOp>(
          [&](auto) { return lowerMovement(op); })
      .Case<AddPtrOp>([&](auto o) { return lowerAddPtr(o); })
      .Case<LoadOp>([&](auto o) { return lowerLoad(o); })
      .Case<StoreOp>([&](auto o) { return lowerStore(o); })
      .Case<AtomicRmwOp, AtomicCasOp>([&](auto) { return lowerAtomic(op); })
      .Case<AssertOp>([&](auto o) { return lowerAssert(o); })
      .Case<PrintOp>([&](auto o) { return lowerPrint(o); })
      .Case<AssumeOp>([&](auto o) {
        in.assume(getScalar(o.getCondition()));
        return success();
      })
      .Case<GatherOp>([&](auto o) { return lowerGather(o); })
      .Case<HistogramOp>([&](auto o) { return lowerHistogram(o); })
      .Case<MapElementwiseOp>([&](auto o) { return lowerMap(o); })
      .Case<InlineAsmOp>([&](auto o) { return lowerInlineAsm(o); })
      .Case<ExternElementwiseOp>([&](auto o) { return lowerExtern(o); })
      .Case<ReduceOp>([&](auto o) { return lowerReduce(o); })
      .Case<ScanOp>([&](auto o) { return lowerScan(o); })
      .Case<DotOp>([&](auto o) { return products.lower(o); })
      .Case<BarrierOp>([&](auto) {
        in.barrier();
        return success();
      })
      .Default([&](Operation *) { return lowerElementwise(op); });
}

LogicalResult Lowering::lowerCtaOp(Operation *op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case<cta::ConvertLayoutOp>([&](auto o) { return lowerConvert(o); })
      .Case<cta::AnyInWarpOp>([&](auto o) {
        Value any;
        for (Value held : get(o.getSrc()))
          any = any ? LLVM::OrOp::create(b, o.getLoc(), any, held).getResult() : held;
        set(o.getResult(), {in.anyInWarp(any)});
        return success();
      })
      .Case<cta::RingOp, cta::RingAcquireOp, cta::RingCopyOp, cta::RingBulkCopyOp,
            cta::RingElementCopyOp, cta::RingCommitOp, cta::RingWaitOp, cta::RingReleaseOp,
            cta::RingAdvanceOp, cta::RingFillOp>([&](auto o) {
        rings.lower(o);
        return success();
      })
      .Case<cta::SlotsOp, cta::SlotOp, cta::AsyncCopyOp, cta::AsyncCommitOp, cta::AsyncWaitOp>(
          [&](auto o) {
            copies.lower(o);
            return success();
          })
      .Case<cta::ReadOp>([&](auto o) {
        reads.lower(o);
        return success();
      })
      .Case<cta::RolesOp, cta::SingleOp>([&](auto o) { return roles.lower(o); })
      .Case<cta::PrefetchOp>([&](auto o) {
        in.prefetchBulk(getScalar(o.getPtr()), getScalar(o.getBytes()));
        return success();
      })
      .Case<cta::GroupOp>([&](auto o) {
        set(o.getResult(), {group()});
        return success();
      })
      .Case<cta::TurnBeginOp, cta::TurnEndOp>([&](auto o) {
        turns.lower(o);
        return success();
      })
      .Case<cta::StageOp, cta::FillOp, cta::TmaStoreOp>([&](auto o) {
        stores.lower(o);
        return success();
      })
      .Case<cta::WarpgroupDotOp, cta::WarpgroupWaitOp>([&](auto o) {
        warpgroupProducts.lower(o);
        return success();
      })
      .Case<cta::PinOp>([&](auto o) { return lowerPin(o); })
      .Case<cta::ClusterBarrierOp>([&](auto) {
        in.clusterBarrier();
        return success();
      })
      .Case<cta::BarrierOp>([&](auto) {
        in.barrier();
        return success();
      })
      .Default([&](Operation *) { return lowerElementwise(op); });
}

LogicalResult Lowering::lowerConstant(arith::ConstantOp op) {
  Attribute attr = op.getValue();
  size_t count = 1;
  if (auto dense = dyn_cast<DenseElementsAttr>(attr)) {
    if (!dense.isSplat())
      return op.emitOpError("only splat block constants are lowered");
    attr = dense.getSplatValue<Attribute>();
    count = cta::getLayout(op.getType()).inSize(Dim::reg());
  }
  Type type = llvmType(getElementType(op.getType()));
  auto f = dyn_cast<FloatAttr>(attr);
  if (f && isa<IntegerType>(type) && module->hasAttr(kAlgebraicAttr))
    attr = IntegerAttr::get(type, algebra::image(f.getValue()).value_or(APInt(8, 0)));
  else if (f && isa<IntegerType>(type))
    attr = IntegerAttr::get(type, f.getValue().bitcastToAPInt());
  Value v = in.constant(type, attr);
  if (auto i = dyn_cast<IntegerAttr>(attr); i && i.getValue().getSignificantBits() <= 64)
    remember(v, {Value(), i.getValue().getSExtValue()});
  set(op.getResult(), Registers(count, v));
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
