//===- EmitPtx.cpp - from the LLVM dialect to PTX text --------------------===//
#include "compiler/EmitPtx.h"
#include "compiler/BackEnd.h"
#include "compiler/CarriedBits.h"
#include "compiler/Divisors.h"
#include "compiler/DoubleExtrema.h"
#include "compiler/ElementsInTurn.h"
#include "compiler/FoldValues.h"
#include "compiler/LaunchBound.h"
#include "compiler/LoadFences.h"
#include "compiler/LoadedBytes.h"
#include "compiler/LoadsFirst.h"
#include "compiler/LongDivisions.h"
#include "compiler/MasksApart.h"
#include "compiler/RegisterEstimate.h"
#include "compiler/ShortIntegers.h"
#include "compiler/SingleRoundings.h"
#include "compiler/SinkAddresses.h"
#include "compiler/SkipLoops.h"
#include "compiler/SplitLoops.h"
#include "compiler/UnrollLoops.h"
#include "compiler/XorOffsets.h"
#include "devicelib/DeviceLibrary.h"
#include "ir/TileDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "passes/lowering/instructions/PtxText.h"
#include "text/Format.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"
#include <map>
#include <tuple>

using namespace llvm;
using namespace tile;

struct PtxEmitter::Impl {
  std::map<std::tuple<std::string, int, bool>, std::unique_ptr<BackEnd>> backEnds;
};

PtxEmitter::PtxEmitter() : impl(std::make_unique<Impl>()) {}
PtxEmitter::~PtxEmitter() = default;

BackEnd &PtxEmitter::backEnd(const tile::Target &target, const EmitOptions &options) {
  int ptxVersion = std::max(target.ptxVersion, options.ptxVersion);
  auto &slot = impl->backEnds[{target.name.str(), ptxVersion, options.fuseMulAdd}];
  if (!slot)
    slot = std::make_unique<BackEnd>(target.name, ptxVersion, options.fuseMulAdd);
  return *slot;
}

/// What the threads of a warp must run together (barriers, matrix instructions)
/// may not be copied into the branches of a condition: each half of a warp would
/// wait for the other at its own copy.
static void markCollective(Module &module) {
  for (Function &f : module)
    for (Instruction &i : instructions(f))
      if (auto *call = dyn_cast<CallInst>(&i))
        if (auto *text = dyn_cast<InlineAsm>(call->getCalledOperand());
            text && ptx::isCollective(text->getAsmString()))
          call->setConvergent();
}

/// ptxas knows no quote inside a file's name, however it is written, and names are for
/// messages only.
static void plainFileNames(std::string &ptx) {
  const StringRef directive = "\n\t.file\t";
  for (size_t at = ptx.find(directive); at != std::string::npos; at = ptx.find(directive, at + 1)) {
    size_t i = ptx.find('"', at) + 1;
    for (; i < ptx.size() && ptx[i] != '"' && ptx[i] != '\n'; ++i)
      if (ptx[i] == '\\') {
        ++i;
        if (i < ptx.size() && ptx[i] == '"')
          ptx.replace(--i, 2, "'");
      }
  }
}

/// Numbers of other processors, of which the code generator for GPUs knows nothing.
static bool isForeign(const Type *type) {
  return type->isX86_FP80Ty() || type->isPPC_FP128Ty() || type->isX86_AMXTy();
}

/// What in a library no GPU's code can be made of, or not within reason; empty: nothing. Functions
/// that are always expanded where they are called, twice each, double with every one of them.
static std::string wrongInLibrary(Module &library) {
  constexpr uint64_t most = 1 << 20;
  CallGraph graph(library);
  DenseMap<const Function *, uint64_t> expanded;
  for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc) { // what is called comes first
    const Function *f = scc->front()->getFunction();
    if (!f || f->isDeclaration())
      continue;
    uint64_t size = 0;
    for (const Instruction &inst : instructions(*f)) {
      auto *call = dyn_cast<CallBase>(&inst);
      size += 1 + (call ? expanded.lookup(call->getCalledFunction()) : 0);
      if (isForeign(inst.getType()))
        return formatted("`{}` computes with numbers that only another processor has",
                         f->getName());
      if (size > most)
        return formatted("`{}` has more than {} instructions, with those of functions that are "
                         "always expanded",
                         f->getName(), most);
    }
    if (f->hasFnAttribute(Attribute::AlwaysInline))
      expanded[f] = size;
  }
  return "";
}

/// Null after setting `error`.
static std::unique_ptr<Module> readLibrary(const std::string &path, LLVMContext &context,
                                           const EmitOptions &options, std::string &error) {
  std::optional<std::string> bytes = frontend::readFile(path, frontend::kMaxLibraryBytes, error);
  if (!bytes)
    return nullptr;
  if (options.dependencies)
    options.dependencies->push_back({path, frontend::contentState(*bytes)});
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> library = parseIR(MemoryBufferRef(*bytes, path), diagnostic, context);
  if (!library)
    error = formatted("cannot read the device library `{}`: {}", path, diagnostic.getMessage());
  else if (std::string wrong = wrongInLibrary(*library); !wrong.empty())
    error = formatted("the device library `{}` cannot be used: {}", path, wrong);
  return error.empty() ? std::move(library) : nullptr;
}

std::unique_ptr<Module> PtxEmitter::translate(mlir::ModuleOp op, LLVMContext &context,
                                              const tile::Target &target,
                                              const EmitOptions &options, std::string &error) {
  TargetMachine &tm = backEnd(target, options).machine();
#ifdef NDEBUG
  constexpr bool trusted = true; // as between the passes before
#else
  constexpr bool trusted = false;
#endif
  std::unique_ptr<Module> module = mlir::translateModuleToLLVMIR(op, context, "LLVMDialectModule",
                                                                 /*disableVerification=*/trusted);
  if (!module) {
    error = "the lowered module could not be translated to LLVM IR";
    return nullptr;
  }
  module->setTargetTriple(tm.getTargetTriple());
  module->setDataLayout(tm.createDataLayout());
  markCollective(*module);
  if (options.maxRegisters)
    for (Function &f : *module)
      if (f.getCallingConv() == CallingConv::PTX_Kernel)
        setMostRegisters(f, target, std::min(options.maxRegisters, int(kMaxRegisters)),
                         options.sharedBytes);
  std::vector<std::string> libraries;
  if (auto named = op->getAttrOfType<mlir::ArrayAttr>(kLibrariesAttr))
    for (auto path : named.getAsRange<mlir::StringAttr>())
      libraries.push_back(path.str());
  if (!options.libdevicePath.empty())
    libraries.push_back(options.libdevicePath);
  for (const std::string &path : libraries) {
    std::unique_ptr<Module> library = readLibrary(path, context, options, error);
    if (!library)
      return nullptr;
    library->setTargetTriple(module->getTargetTriple());
    library->setDataLayout(module->getDataLayout());
    Linker::linkModules(*module, std::move(library), Linker::LinkOnlyNeeded);
  }
  if (Error failure = linkDeviceLibrary(*module)) {
    error = toString(std::move(failure));
    return nullptr;
  }
  for (const Function &f : *module)
    if (f.isDeclaration() && !f.isIntrinsic() &&
        !is_contained({"vprintf", "__assertfail"}, f.getName())) {
      error = formatted("no library has the function `{}`", f.getName());
      return nullptr;
    }
  return module;
}

/// Whether a turn multiplies the 64-bit `carried` by a constant even number on its way
/// to the next turn, as x = x * 4096 + c does.
static bool shiftsUp(const PHINode &carried, const Loop &loop) {
  using namespace PatternMatch;
  SmallVector<PointerIntPair<const Value *, 1, bool>> left = {{&carried, false}};
  DenseSet<PointerIntPair<const Value *, 1, bool>> seen;
  while (!left.empty()) {
    auto last = left.pop_back_val();
    const Value *value = last.getPointer();
    bool shifted = last.getInt();
    for (const User *user : value->users()) {
      const auto *next = dyn_cast<Instruction>(user);
      if (!next || next->getType() != carried.getType() || !loop.contains(next))
        continue;
      const APInt *factor;
      bool up = shifted || match(next, m_Shl(m_Specific(value), m_ConstantInt())) ||
                (match(next, m_Mul(m_Specific(value), m_APInt(factor))) && !(*factor)[0]);
      if (next == &carried && up)
        return true;
      if (isa<BinaryOperator, SelectInst, PHINode>(next) && seen.insert({next, up}).second)
        left.push_back({next, up});
    }
  }
  return false;
}

/// NVIDIA's assembler (12.8 to 13.0) unrolls such loops, and where the turns have
/// shifted all of x out of the low word it gives a turn the high word of an earlier
/// one. Left as loops they are right; straight-line steps InstCombine has merged.
static bool isShifting(const Loop &loop) {
  return any_of(loop.getHeader()->phis(), [&](const PHINode &phi) {
    return phi.getType()->isIntegerTy(64) && shiftsUp(phi, loop);
  });
}

/// A number that a few turns' steps may take past the limits of its type.
static bool isNearLimit(const Value *v) {
  const auto *constant = dyn_cast<ConstantInt>(v);
  if (!constant || constant->getBitWidth() < 32)
    return false;
  constexpr uint64_t kReach = uint64_t(1) << 24;
  const APInt &n = constant->getValue();
  APInt least = APInt::getSignedMinValue(n.getBitWidth());
  return (n - least).ult(kReach) || (least - 1 - n).ult(kReach);
}

/// The assembler (13.0) unrolls loops that count to a constant, up to where that is a few steps
/// from the end, and does not see that it may be less than the least number: such a loop never
/// leaves. Which constant it is that a loop counts to is decided behind us, from these.
static bool countsNearLimit(const Loop &loop) {
  using namespace PatternMatch;
  for (const PHINode &phi : loop.getHeader()->phis())
    for (const Value *next : phi.incoming_values())
      if (match(next, m_c_Add(m_Specific(&phi), m_ConstantInt())) &&
          any_of(phi.incoming_values(), isNearLimit))
        return true;
  SmallVector<BasicBlock *, 4> ends;
  loop.getExitingBlocks(ends);
  return any_of(ends, [](const BasicBlock *block) {
    const auto *branch = dyn_cast<BranchInst>(block->getTerminator());
    const auto *asked =
        branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
    return asked && any_of(asked->operand_values(), isNearLimit);
  });
}

/// Whether warps multiply in `loop` what they wait for at each turn, of as many as the text says.
/// Nothing that is copied can be read before that wait. Where the assembler (13.0) unrolls such a
/// loop, what is done with the results of one turn comes under the products of the next, and a
/// thread holds both: as loops, eight of nine public kernels take fewer registers (up to 62) or
/// spill less, and one takes one more.
static bool multipliesCopies(const Loop &loop) {
  auto *branch =
      loop.getLoopLatch() ? dyn_cast<BranchInst>(loop.getLoopLatch()->getTerminator()) : nullptr;
  auto *asked =
      branch && branch->isConditional() ? dyn_cast<ICmpInst>(branch->getCondition()) : nullptr;
  if (!asked || none_of(asked->operand_values(), IsaPred<ConstantInt>))
    return false;
  bool multiplies = false, waits = false;
  for (const BasicBlock *block : loop.blocks())
    for (const Instruction &i : *block) {
      multiplies |= multipliesByWarps(i);
      waits |= waitsForCopies(i);
    }
  return multiplies && waits;
}

static void keepLoops(LoopInfo &loops) {
  for (Loop *loop : loops.getLoopsInPreorder())
    if (isShifting(*loop) || countsNearLimit(*loop) || multipliesCopies(*loop))
      addStringMetadataToLoop(loop, "llvm.loop.unroll.disable", 1);
}

/// Values that are computed, and values that are one of several.
static std::pair<size_t, size_t> countValues(const Function &f) {
  size_t all = 0, joined = 0;
  for (const BasicBlock &block : f) {
    all += block.size() - 1; // its end is none
    joined += std::distance(block.phis().begin(), block.phis().end());
  }
  return {all - joined, joined};
}

namespace {
/// What is asked in loops and no turn changes is asked in front of them.
struct ConditionsPass : PassInfoMixin<ConditionsPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &fam) {
    auto &loops = fam.getResult<LoopAnalysis>(f);
    if (loops.empty())
      return PreservedAnalyses::all();
    auto &dominators = fam.getResult<DominatorTreeAnalysis>(f);
    bool changed = skipLoops(loops, dominators);
    changed |= splitLoops(loops, dominators);
    return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
  }
};

/// What is done where there are branches: invariants go out of loops, and what becomes of it is
/// folded. Many kernels have a branch and no loop: blocks at most are merged.
struct LoopsPass : PassInfoMixin<LoopsPass> {
  PreservedAnalyses run(Function &f, FunctionAnalysisManager &fam) {
    auto before = countValues(f);
    FunctionPassManager blocks;
    blocks.addPass(SimplifyCFGPass());
    LoopPassManager lpm;
    lpm.addPass(LoopRotatePass());
    lpm.addPass(LICMPass(LICMOptions()));
    blocks.addPass(createFunctionToLoopPassAdaptor(std::move(lpm), /*UseMemorySSA=*/true));
    blocks.addPass(ConditionsPass());
    blocks.addPass(UnrollLoops());
    blocks.addPass(SimplifyCFGPass());
    PreservedAnalyses kept = blocks.run(f, fam);
    bool hasLoops = !fam.getResult<LoopAnalysis>(f).empty();
    if (kept.areAllPreserved() || (!hasLoops && countValues(f) == before))
      return kept;
    FunctionPassManager values;
    values.addPass(FoldValues());
    values.addPass(ADCEPass()); // what is equal by now, the back end merges
    kept.intersect(values.run(f, fam));
    return kept;
  }
};
} // namespace

int PtxEmitter::optimize(Module &module, const tile::Target &target, const EmitOptions &options) {
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cgam;
  ModuleAnalysisManager mam;
  hideDivisors(module);
  for (Function &f : module)
    extendLoadedBytes(f);
  PassBuilder builder(&backEnd(target, options).machine());
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);

  bool calls = false, branches = false, variables = false;
  for (Function &f : module) {
    if (!f.isDeclaration())
      variables |= any_of(f.getEntryBlock(), [](Instruction &i) { return isa<AllocaInst>(i); });
    calls |= !f.isDeclaration() && f.hasLocalLinkage();
    if (f.getCallingConv() == CallingConv::PTX_Kernel)
      branches |= f.size() > 1;
  }
  // The lowering emits clean SSA: what is left is folding, sharing, and moving
  // invariants out of loops. Loops stay loops: nothing here unrolls.
  ModulePassManager mpm;
  if (calls)
    mpm.addPass(AlwaysInlinerPass());
  FunctionPassManager fpm;
  if (calls || variables)
    fpm.addPass(SROAPass(SROAOptions::ModifyCFG));
  fpm.addPass(EarlyCSEPass());
  fpm.addPass(ShortenDivisions());
  fpm.addPass(FoldValues());
  if (branches)
    fpm.addPass(LoopsPass());
  mpm.addPass(createModuleToFunctionPassAdaptor(std::move(fpm)));
  if (calls)
    mpm.addPass(GlobalDCEPass());
  mpm.run(module, mam);
  for (Function &f : module)
    if (f.size() > 1) {
      keepLoops(fam.getResult<LoopAnalysis>(f));
      widenCarriedBits(fam.getResult<LoopAnalysis>(f));
    }
  for (Function &f : module)
    widenShortIntegers(f);
  for (Function &f : module)
    splitXorOffsets(f);
  for (Function &f : module)
    roundAsPairs(f, target);
  for (Function &f : module)
    chooseDoubleExtrema(f);
  int few = 0;
  for (Function &f : module)
    if (f.getCallingConv() == CallingConv::PTX_Kernel) {
      sinkAddresses(f, target);
      keepMasksApart(f);
      groupLoads(f, target);
      computeElementsInTurn(f, target, options.sharedBytes);
      few = setLaunchBound(f, target, options.sharedBytes, options.fewPrograms);
      startLoadsTogether(f, target, options.sharedBytes);
    }
  return few;
}

bool PtxEmitter::emit(Module &module, const tile::Target &target, const EmitOptions &options,
                      std::string &ptx, std::string &error) {
  ptx = backEnd(target, options).emit(module);
  plainFileNames(ptx);
  if (ptx.empty())
    error = "the NVPTX backend cannot print assembly";
  return !ptx.empty();
}
