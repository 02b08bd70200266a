//===- Translate.cpp - from a kernel's LLVM module to one for the host ----===//
//
// The kernel becomes a function of a thread and its parameters:
//
//   load, store, atomicrmw, cmpxchg   -> a hook checks the address and gives the
//                                        host's, then the access itself
//   inline PTX, llvm.nvvm.*           -> a function made by AsmBuilder
//   address spaces                    -> global is the host's memory, shared an
//                                        offset, generic tells them apart by range
//   everything else                   -> stays: it is plain LLVM
//
//===----------------------------------------------------------------------===//
#include "emulator/ptx/Contract.h"
#include "emulator/ptx/HardwareArithmetic.h"
#include "emulator/ptx/Undefined.h"
#include "emulator/translate/Confine.h"
#include "emulator/translate/Translator.h"
#include "text/Format.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"

using namespace llvm;
using namespace tile::emu;

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

Error Translator::findKernel() {
  for (Function &f : m) {
    if (f.isDeclaration() || f.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    if (kernel)
      return createStringError("the module has more than one kernel");
    kernel = &f;
  }
  if (!kernel)
    return createStringError("the module has no kernel");
  out.kernel = kernel->getName().str();
  return Error::success();
}

/// Whether a function does more than compute, or for how long is not known.
static bool touchesMachine(Function &f) {
  if (!loopHeaders(f).empty() || needsConfinement(f))
    return true;
  for (Instruction &inst : instructions(f)) {
    if (isa<AtomicRMWInst, AtomicCmpXchgInst, FenceInst, AddrSpaceCastInst>(inst))
      return true;
    if (auto *call = dyn_cast<CallBase>(&inst)) {
      if (call->isInlineAsm())
        return true;
      if (Function *callee = call->getCalledFunction()) {
        StringRef name = callee->getName();
        bool asks = name.starts_with("llvm.nvvm.") &&
                    (!callee->doesNotAccessMemory() || name.contains("read.ptx.sreg"));
        if (asks || is_contained({"llvm.trap", "llvm.debugtrap", "vprintf", "__assertfail"}, name))
          return true;
      }
    }
    const Value *pointer = getLoadStorePointerOperand(&inst);
    if (pointer && pointer->getType()->getPointerAddressSpace() != kGenericSpace &&
        pointer->getType()->getPointerAddressSpace() != kLocalSpace)
      return true;
  }
  return false;
}

void tile::emu::runPasses(Module &module, ModulePassManager passes) {
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cgam;
  ModuleAnalysisManager mam;
  PassBuilder pb;
  pb.registerModuleAnalyses(mam);
  pb.registerCGSCCAnalyses(cgam);
  pb.registerFunctionAnalyses(fam);
  pb.registerLoopAnalyses(lam);
  pb.crossRegisterProxies(lam, fam, cgam, mam);
  passes.run(module, mam);
}

/// Only the kernel knows its thread, so what asks for it must stand there.
Error Translator::inlineHelpers() {
  SmallVector<Function *> expanded;
  CallGraph graph(m);
  for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc) { // what is called comes first
    Function *f = scc->front()->getFunction();
    auto callsExpanded = [&] {
      return any_of(instructions(*f), [&](Instruction &inst) {
        auto *call = dyn_cast<CallBase>(&inst);
        return call && is_contained(expanded, call->getCalledFunction());
      });
    };
    if (!f || f->isDeclaration() || f == kernel || !(touchesMachine(*f) || callsExpanded()))
      continue;
    f->removeFnAttr(Attribute::NoInline);
    f->removeFnAttr(Attribute::OptimizeNone);
    f->addFnAttr(Attribute::AlwaysInline);
    f->setLinkage(GlobalValue::InternalLinkage);
    expanded.push_back(f);
  }
  if (expanded.empty())
    return Error::success();
  // The inliner leaves calls alone whose two sides disagree about these.
  for (Function &f : m)
    if (!f.isDeclaration())
      dropHostAttributes(f);
  ModulePassManager mpm;
  mpm.addPass(AlwaysInlinerPass());
  std::vector<std::string> names;
  for (Function *f : expanded)
    names.push_back(f->getName().str());
  runPasses(m, std::move(mpm)); // functions that nobody calls any more are gone
  for (const std::string &name : names)
    if (Function *left = m.getFunction(name); left && !left->use_empty())
      return unsupported(
          formatted("the function `{}`, which cannot be expanded where it is called", name));
  return Error::success();
}

/// void entry(thread, parameters) with the kernel's body.
void Translator::makeEntry() {
  LLVMContext &context = m.getContext();
  Type *pointer = PointerType::get(context, 0);
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
  Function *entry = Function::Create(type, GlobalValue::ExternalLinkage, kEntryName, m);
  entry->addFnAttr(Attribute::NoUnwind);
  dropHostAttributes(*entry);
  entry->splice(entry->begin(), kernel);
  thread = entry->getArg(0);
  IRBuilder<> b(&entry->getEntryBlock(), entry->getEntryBlock().begin());
  for (Argument &arg : kernel->args()) {
    Value *slot = b.CreateConstInBoundsGEP1_32(pointer, entry->getArg(1), arg.getArgNo());
    Value *value = b.CreateLoad(pointer, slot); // where the parameter's value is
    out.parameterBytes.push_back(0);
    if (arg.hasByValAttr()) {
      out.parameterBytes.back() = m.getDataLayout().getTypeAllocSize(arg.getParamByValType());
      aggregates[value] = out.parameterBytes.back();
    } else {
      Type *stored = arg.getType();
      if (stored->isIntegerTy(1)) // a byte in the parameter's memory
        value = b.CreateTrunc(b.CreateAlignedLoad(b.getInt8Ty(), value, Align(1)), stored);
      else
        value = b.CreateAlignedLoad(stored, value, Align(1));
    }
    arg.replaceAllUsesWith(value);
  }
  kernel->eraseFromParent();
  kernel = entry;
  for (Instruction &inst : kernel->getEntryBlock()) {
    if (&inst == &*b.GetInsertPoint())
      break;
    hostCode.insert(&inst);
  }
}

/// Shared variables get their offsets; the rank of the CTA stands above them.
void Translator::placeSharedGlobals() {
  SmallVector<GlobalVariable *> variables;
  for (GlobalVariable &g : m.globals())
    if (g.getAddressSpace() == kSharedSpace)
      variables.push_back(&g);
  if (variables.empty())
    return;
  const DataLayout &layout = m.getDataLayout();
  uint64_t next = 0;
  SmallVector<std::pair<GlobalVariable *, uint64_t>> placed, dynamic;
  for (GlobalVariable *g : variables) {
    uint64_t bytes = layout.getTypeAllocSize(g->getValueType());
    if (bytes == 0) {
      dynamic.push_back({g, 0});
      continue;
    }
    next = alignTo(next, g->getAlign().valueOrOne());
    placed.push_back({g, next});
    next += bytes;
  }
  out.staticSharedBytes = uint32_t(alignTo(next, 16));
  for (auto &[g, offset] : dynamic)
    placed.push_back({g, out.staticSharedBytes});

  SmallVector<Constant *> constants(variables.begin(), variables.end());
  convertUsersOfConstantsToInstructions(constants);
  IRBuilder<> b(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  Value *rank = b.CreateZExt(loadSpecialRegister(b, thread, kClusterCtarank), b.getInt64Ty());
  Value *window = b.CreateShl(rank, kSharedRankShift);
  hostCode.insert(cast<Instruction>(cast<Instruction>(rank)->getOperand(0)));
  for (auto &[g, offset] : placed) {
    Value *address = b.CreateIntToPtr(b.CreateOr(window, kSharedReserved + offset), g->getType());
    g->replaceUsesWithIf(address, [&](Use &u) {
      auto *user = dyn_cast<Instruction>(u.getUser());
      return user && user->getFunction() == kernel;
    });
  }
}

//===----------------------------------------------------------------------===//
// Helpers
//===----------------------------------------------------------------------===//

static Place placeOf(const DILocation *loc) {
  return {loc->getFilename().str(), loc->getLine(), loc->getColumn()};
}

Value *Translator::siteOf(const Instruction &inst, const Twine &instruction) {
  Site site;
  site.instruction = instruction.str();
  for (const DILocation *loc = inst.getDebugLoc(); loc; loc = loc->getInlinedAt())
    if (loc->getLine())
      site.places.push_back(placeOf(loc));
  out.sites.push_back(std::move(site));
  return ConstantInt::get(Type::getInt32Ty(m.getContext()), out.sites.size() - 1);
}

Value *Translator::callHook(IRBuilder<> &b, StringRef name, Type *result, ArrayRef<Value *> args) {
  SmallVector<Type *> types;
  for (Value *v : args)
    types.push_back(v->getType());
  FunctionCallee callee = m.getOrInsertFunction(name, FunctionType::get(result, types, false));
  setHookAttributes(*cast<Function>(callee.getCallee()));
  return b.CreateCall(callee, args);
}

/// What is never to be reached is not left to chance: the host would run into whatever
/// code comes next.
void Translator::translateUnreachable(Instruction &inst) {
  IRBuilder<> b(&inst);
  callHook(b, "tileEmuTrap", b.getVoidTy(), {thread, siteOf(inst, "unreachable")});
}

Error Translator::translate(Instruction &inst) {
  at = &inst;
  if (auto *load = dyn_cast<LoadInst>(&inst))
    translateLoad(*load);
  else if (auto *store = dyn_cast<StoreInst>(&inst))
    translateStore(*store);
  else if (isa<AtomicRMWInst, AtomicCmpXchgInst>(inst))
    return translateAtomic(inst);
  else if (auto *cast = dyn_cast<AddrSpaceCastInst>(&inst))
    translateCast(*cast);
  else if (auto *fence = dyn_cast<FenceInst>(&inst))
    translateFence(*fence);
  else if (auto *call = dyn_cast<CallBase>(&inst))
    return translateCall(*call);
  else if (isa<UnreachableInst>(inst))
    translateUnreachable(inst);
  return Error::success();
}

/// The results of an asynchronous matrix product may go into the next one, and
/// through a wait. Anything else computes with registers that are still being
/// written. Looked for before translation, when the instructions are whole.
void Translator::findTouchedAccumulators() {
  auto asmText = [](const Value *v) -> StringRef {
    auto *call = dyn_cast<CallBase>(v);
    if (!call || !call->isInlineAsm())
      return "";
    return cast<InlineAsm>(call->getCalledOperand())->getAsmString();
  };
  SmallVector<std::pair<Value *, Instruction *>> work;
  SmallPtrSet<const Value *, 32> seen;
  for (Instruction &inst : instructions(*kernel))
    if (asmText(&inst).contains("wgmma.mma_async"))
      work.push_back({&inst, &inst});
  while (!work.empty()) {
    auto [value, product] = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (User *user : value->users()) {
      StringRef text = asmText(user);
      if (text.contains("wgmma.") ||
          (isa<CallBase>(user) && text.empty() && cast<CallBase>(user)->isInlineAsm()))
        continue;
      if (isa<ExtractValueInst, PHINode, BitCastInst, InsertValueInst, SelectInst, FreezeInst>(
              user)) {
        work.push_back({user, product});
        continue;
      }
      IRBuilder<> b(cast<Instruction>(user));
      hostCode.insert(cast<Instruction>(
          callHook(b, "tileEmuTouchAccumulator", b.getVoidTy(),
                   {thread, siteOf(*cast<Instruction>(user), "use of an accumulator"),
                    siteOf(*product, "wgmma.mma_async")})));
      return; // one is enough to know
    }
  }
}

//===----------------------------------------------------------------------===//
// The whole module
//===----------------------------------------------------------------------===//

/// In the algebraic mode the kernel must not compute with floats by itself.
Error Translator::checkRing(const Instruction &inst) {
  auto isReal = [](const Value *v) { return v->getType()->isFPOrFPVectorTy(); };
  auto *call = dyn_cast<IntrinsicInst>(&inst);
  bool computes =
      isa<FCmpInst, FPExtInst, FPTruncInst, SIToFPInst, UIToFPInst, FPToSIInst, FPToUIInst>(inst) ||
      (isa<BinaryOperator, UnaryOperator>(inst) && isReal(&inst)) ||
      (call && isReal(&inst) && !call->getCalledFunction()->getName().starts_with("llvm.nvvm."));
  if (auto *atomic = dyn_cast<AtomicRMWInst>(&inst))
    computes = atomic->isFloatingPointOperation();
  if (!computes)
    return Error::success();
  return unsupported(
      formatted("`{}` of floats in the algebraic mode",
                call ? call->getCalledFunction()->getName() : StringRef(inst.getOpcodeName())));
}

Error Translator::run(const Triple &triple, const DataLayout &layout) {
  if (Error error = findKernel())
    return error;
  if (Error error = refuseUnconfined(m))
    return error;
  if (Error error = inlineHelpers())
    return error;
  SmallVector<Function *> helpers;
  for (Function &f : m)
    if (!f.isDeclaration() && &f != kernel && !f.use_empty())
      helpers.push_back(&f);
  makeEntry();
  placeSharedGlobals();
  m.setTargetTriple(triple);
  m.setDataLayout(layout);
  if (Error error = placePrivateMemory())
    return error;
  tabulateVariables();

  findTouchedAccumulators();
  followLoads();

  helpers.push_back(kernel);
  for (Function *f : helpers) {
    expandPairsToBF16(*f);
    for (Instruction *fill : defineUndefined(*f))
      hostCode.insert(fill);
    SmallVector<Instruction *> work;
    for (Instruction &inst : instructions(*f))
      if (!hostCode.contains(&inst))
        work.push_back(&inst);
    for (Instruction *inst : work) {
      if (algebraic)
        if (Error error = checkRing(*inst))
          return error;
      if (replaceByHardware(*inst))
        continue;
      if (Error error = translate(*inst))
        return error;
    }
    if (fuseMulAdd && contractMulAdd(*f))
      out.inexact.insert("a*b+c in one rounding or two");
    expandNarrowMulAdd(*f);
    expandIntegersToBF16(*f);
    f->setCallingConv(CallingConv::C);
    for (User *user : f->users())
      if (auto *call = dyn_cast<CallBase>(user))
        call->setCallingConv(CallingConv::C);
    dropHostAttributes(*f);
  }
  watchCounters(*kernel, thread);
  countTurns(*kernel, thread);
  for (auto &builder : owned)
    countTurns(*builder->function(), builder->thread(), builder->site());
  StripDebugInfo(m);
  // What only the old target knew.
  for (const char *name : {"nvvm.annotations", "nvvmir.version"})
    if (NamedMDNode *node = m.getNamedMetadata(name))
      node->eraseFromParent();
  return Error::success();
}

Expected<Translation> tile::emu::translateToHost(Module &module, const Triple &triple,
                                                 const DataLayout &layout,
                                                 const LoadOptions &options) {
  Translation translation;
  if (Error error = Translator(module, translation, options).run(triple, layout))
    return std::move(error);
  if (translation.narrows && !translation.inexact.empty())
    translation.inexact.insert(Program::kRoundsToNarrow);
  return translation;
}
