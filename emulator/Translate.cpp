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
#include "emulator/Translate.h"
#include "emulator/AsmBuilder.h"
#include "emulator/Intrinsics.h"
#include "emulator/Memory.h"
#include "emulator/Numbers.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"

using namespace llvm;
using namespace tile::emu;

namespace {

enum : unsigned { kGenericSpace = 0, kGlobalSpace = 1, kSharedSpace = 3, kLocalSpace = 5 };

class Translator {
public:
  Translator(Module &m, Translation &out) : m(m), out(out) {}
  Error run(const Triple &triple, const DataLayout &layout);

private:
  Error findKernel();
  void inlineHelpers();
  void makeEntry();
  void placeSharedGlobals();
  Error translate(Instruction &inst);
  Error translateCall(CallBase &call);
  Error translateAsm(CallBase &call, StringRef text, StringRef mainOpcode, unsigned numOutputs,
                     ArrayRef<int> tied);
  Error translateInlineAsm(CallBase &call);
  void translateLoad(LoadInst &load);
  void translateStore(StoreInst &store);
  Error translateAtomic(Instruction &inst);
  void translateCast(AddrSpaceCastInst &cast);
  void findTouchedAccumulators();
  bool isLocal(const Value *pointer) const;
  Value *hostAddress(IRBuilder<> &b, Value *pointer, unsigned bytes, unsigned alignment,
                     AccessKind kind, const Twine &instruction);
  Value *siteOf(const Instruction &inst, const Twine &instruction);
  Value *callHook(IRBuilder<> &b, StringRef name, Type *result, ArrayRef<Value *> args);
  Error unsupported(const Twine &what) {
    return createStringError("the emulator does not know " + what);
  }

  Module &m;
  Translation &out;
  Function *kernel = nullptr; ///< the new one, once made
  Value *thread = nullptr;
  const Instruction *at = nullptr;
  SmallPtrSet<const Instruction *, 32> hostCode; ///< ours: to be left alone
  StringMap<AsmBuilder *> builders;              ///< by text, constraints and type
  std::vector<std::unique_ptr<AsmBuilder>> owned;
};

} // namespace

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

/// Whether a function does more than compute.
static bool touchesMachine(Function &f) {
  for (Instruction &inst : instructions(f)) {
    if (auto *call = dyn_cast<CallBase>(&inst)) {
      if (call->isInlineAsm())
        return true;
      if (Function *callee = call->getCalledFunction())
        if (callee->getName().starts_with("llvm.nvvm.") && !callee->doesNotAccessMemory())
          return true;
    }
    const Value *pointer = getLoadStorePointerOperand(&inst);
    if (pointer && pointer->getType()->getPointerAddressSpace() != kGenericSpace &&
        pointer->getType()->getPointerAddressSpace() != kLocalSpace)
      return true;
  }
  return false;
}

/// Only the kernel knows its thread, so what asks for it must stand there.
void Translator::inlineHelpers() {
  bool any = false;
  for (Function &f : m) {
    if (f.isDeclaration() || &f == kernel || !touchesMachine(f))
      continue;
    f.removeFnAttr(Attribute::NoInline);
    f.removeFnAttr(Attribute::OptimizeNone);
    f.addFnAttr(Attribute::AlwaysInline);
    any = true;
  }
  if (!any)
    return;
  ModuleAnalysisManager mam;
  FunctionAnalysisManager fam;
  LoopAnalysisManager lam;
  CGSCCAnalysisManager cgam;
  PassBuilder pb;
  pb.registerModuleAnalyses(mam);
  pb.registerCGSCCAnalyses(cgam);
  pb.registerFunctionAnalyses(fam);
  pb.registerLoopAnalyses(lam);
  pb.crossRegisterProxies(lam, fam, cgam, mam);
  ModulePassManager mpm;
  mpm.addPass(AlwaysInlinerPass());
  mpm.run(m, mam);
}

/// void entry(thread, parameters) with the kernel's body.
void Translator::makeEntry() {
  LLVMContext &context = m.getContext();
  Type *pointer = PointerType::get(context, 0);
  auto *type = FunctionType::get(Type::getVoidTy(context), {pointer, pointer}, false);
  Function *entry = Function::Create(type, GlobalValue::ExternalLinkage, kEntryName, m);
  entry->addFnAttr(Attribute::NoUnwind);
  entry->splice(entry->begin(), kernel);
  thread = entry->getArg(0);
  IRBuilder<> b(&entry->getEntryBlock(), entry->getEntryBlock().begin());
  for (Argument &arg : kernel->args()) {
    Value *slot = b.CreateConstInBoundsGEP1_32(pointer, entry->getArg(1), arg.getArgNo());
    Value *value = b.CreateLoad(pointer, slot); // where the parameter's value is
    if (!arg.hasByValAttr()) {
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

/// Memory that only this thread, or nobody, writes: its stack, constants, the
/// parameters.
bool Translator::isLocal(const Value *pointer) const {
  const Value *object = getUnderlyingObject(pointer, 0);
  if (isa<AllocaInst>(object))
    return true;
  if (auto *g = dyn_cast<GlobalVariable>(object))
    return g->getAddressSpace() != kSharedSpace;
  // By-value parameters were loaded from the parameter array.
  if (auto *load = dyn_cast<LoadInst>(object))
    return load->getFunction() == kernel &&
           getUnderlyingObject(load->getPointerOperand()) == kernel->getArg(1);
  return pointer->getType()->getPointerAddressSpace() == kLocalSpace;
}

Value *Translator::hostAddress(IRBuilder<> &b, Value *pointer, unsigned bytes, unsigned alignment,
                               AccessKind kind, const Twine &instruction) {
  unsigned space = pointer->getType()->getPointerAddressSpace();
  Value *site = siteOf(*at, instruction);
  uint32_t access = kind | (alignment < bytes ? alignment << 8 : 0);
  const char *name = space == kGlobalSpace   ? "tileEmuGlobal"
                     : space == kSharedSpace ? "tileEmuShared"
                                             : "tileEmuGeneric";
  Type *addressType = space == kSharedSpace ? b.getInt32Ty() : b.getInt64Ty();
  return callHook(b, name, b.getPtrTy(),
                  {thread, b.CreatePtrToInt(pointer, addressType), b.getInt32(bytes),
                   b.getInt32(access), site});
}

static std::string accessName(StringRef base, const Value *pointer, uint64_t bytes) {
  unsigned space = pointer->getType()->getPointerAddressSpace();
  const char *in = space == kGlobalSpace ? ".global" : space == kSharedSpace ? ".shared" : "";
  const char *vector = bytes == 16 ? ".v4.b32" : bytes == 8 ? ".b64" : nullptr;
  return base.str() + in + (vector ? std::string(vector) : ".b" + std::to_string(8 * bytes));
}

//===----------------------------------------------------------------------===//
// Plain accesses
//===----------------------------------------------------------------------===//

void Translator::translateLoad(LoadInst &load) {
  Value *pointer = load.getPointerOperand();
  if (isLocal(pointer))
    return;
  IRBuilder<> b(&load);
  uint64_t bytes = m.getDataLayout().getTypeStoreSize(load.getType());
  Value *address = hostAddress(b, pointer, unsigned(bytes), unsigned(load.getAlign().value()),
                               kRead, accessName("ld", pointer, bytes));
  LoadInst *host = b.CreateAlignedLoad(load.getType(), address, Align(1));
  load.replaceAllUsesWith(host);
  load.eraseFromParent();
}

void Translator::translateStore(StoreInst &store) {
  Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();
  if (isLocal(pointer))
    return;
  IRBuilder<> b(&store);
  uint64_t bytes = m.getDataLayout().getTypeStoreSize(value->getType());
  Value *address = hostAddress(b, pointer, unsigned(bytes), unsigned(store.getAlign().value()),
                               kWrite, accessName("st", pointer, bytes));
  b.CreateAlignedStore(value, address, Align(1));
  store.eraseFromParent();
}

static std::optional<AtomicKind> atomicKind(AtomicRMWInst::BinOp op, Type *type) {
  switch (op) {
  case AtomicRMWInst::Xchg:
    return AtomicKind::Exchange;
  case AtomicRMWInst::Add:
    return AtomicKind::Add;
  case AtomicRMWInst::And:
    return AtomicKind::And;
  case AtomicRMWInst::Or:
    return AtomicKind::Or;
  case AtomicRMWInst::Xor:
    return AtomicKind::Xor;
  case AtomicRMWInst::Max:
    return AtomicKind::MaxS;
  case AtomicRMWInst::Min:
    return AtomicKind::MinS;
  case AtomicRMWInst::UMax:
    return AtomicKind::MaxU;
  case AtomicRMWInst::UMin:
    return AtomicKind::MinU;
  case AtomicRMWInst::FAdd:
    return type->isBFloatTy() ? AtomicKind::FAddBF16 : AtomicKind::FAdd;
  case AtomicRMWInst::UIncWrap:
    return AtomicKind::Increment;
  case AtomicRMWInst::UDecWrap:
    return AtomicKind::Decrement;
  default:
    return std::nullopt;
  }
}

Error Translator::translateAtomic(Instruction &inst) {
  IRBuilder<> b(&inst);
  auto *rmw = dyn_cast<AtomicRMWInst>(&inst);
  auto *cas = dyn_cast<AtomicCmpXchgInst>(&inst);
  Value *pointer = rmw ? rmw->getPointerOperand() : cas->getPointerOperand();
  Value *value = rmw ? rmw->getValOperand() : cas->getNewValOperand();
  Type *type = value->getType();
  unsigned bits = unsigned(type->getPrimitiveSizeInBits());
  auto kind =
      rmw ? atomicKind(rmw->getOperation(), type) : std::optional(AtomicKind::CompareExchange);
  if (!kind || (bits != 16 && bits != 32 && bits != 64))
    return unsupported("this atomic operation: `" +
                       std::string(rmw ? AtomicRMWInst::getOperationName(rmw->getOperation())
                                       : StringRef("cmpxchg")) +
                       "` of " + std::to_string(bits) + " bits");
  auto wide = [&](Value *v) {
    return b.CreateZExt(b.CreateBitCast(v, b.getIntNTy(bits)), b.getInt64Ty());
  };
  unsigned space = pointer->getType()->getPointerAddressSpace();
  out.hasAtomics |= space != kSharedSpace;
  Value *address = b.CreatePtrToInt(pointer, b.getInt64Ty());
  if (space == kSharedSpace)
    address = b.CreateAnd(address, 0xffffffff);
  Value *old = callHook(
      b, "tileEmuAtomic", b.getInt64Ty(),
      {thread, address, wide(value), cas ? wide(cas->getCompareOperand()) : b.getInt64(0),
       b.getInt32(uint32_t(*kind)), b.getInt32(bits / 8), b.getInt32(space), siteOf(inst, "atom")});
  Value *result = b.CreateBitCast(b.CreateTrunc(old, b.getIntNTy(bits)), type);
  if (cas) {
    Value *same = b.CreateICmpEQ(result, cas->getCompareOperand());
    result = b.CreateInsertValue(b.CreateInsertValue(PoisonValue::get(inst.getType()), result, 0),
                                 same, 1);
  }
  inst.replaceAllUsesWith(result);
  inst.eraseFromParent();
  return Error::success();
}

void Translator::translateCast(AddrSpaceCastInst &cast) {
  bool from = cast.getSrcAddressSpace() == kSharedSpace;
  bool to = cast.getDestAddressSpace() == kSharedSpace;
  if (from == to)
    return; // the same address
  IRBuilder<> b(&cast);
  Value *v = b.CreatePtrToInt(cast.getPointerOperand(), b.getInt64Ty());
  v = from ? b.CreateAdd(b.CreateAnd(v, 0xffffffff), b.getInt64(kGenericShared))
           : b.CreateSub(v, b.getInt64(kGenericShared));
  cast.replaceAllUsesWith(b.CreateIntToPtr(v, cast.getType()));
  cast.eraseFromParent();
}

//===----------------------------------------------------------------------===//
// Inline PTX and intrinsics
//===----------------------------------------------------------------------===//

/// The instruction that a text is there for: the first that is no helper.
static std::string mainOpcode(ArrayRef<PtxStatement> statements) {
  std::string first;
  for (const PtxStatement &s : statements) {
    if (s.parts.empty())
      continue;
    if (first.empty())
      first = s.opcode;
    StringRef m = s.parts[0];
    if (m != "mov" && m != "setp" && m != "selp" && m != "bra" && m != "elect" && m != "cvta" &&
        m != "add")
      return s.opcode;
  }
  return first;
}

static void replaceCall(CallBase &call, Value *result) {
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

Error Translator::translateAsm(CallBase &call, StringRef text, StringRef constraints,
                               unsigned numOutputs, ArrayRef<int> tied) {
  IRBuilder<> b(&call);
  std::string typeText;
  raw_string_ostream typeStream(typeText);
  call.getFunctionType()->print(typeStream);
  for (int t : tied)
    typeStream << ' ' << t;
  AsmBuilder *&builder = builders[(text + "\n" + constraints + "\n" + typeText).str()];
  auto statements = parsePtx(text);
  if (!statements)
    return statements.takeError();
  if (!builder) {
    SmallVector<Type *> params{b.getPtrTy(), b.getInt32Ty()};
    append_range(params, call.getFunctionType()->params());
    auto *type = FunctionType::get(call.getType(), params, false);
    owned.push_back(std::make_unique<AsmBuilder>(m, type, numOutputs, tied,
                                                 "ptx" + std::to_string(owned.size())));
    builder = owned.back().get();
    if (Error error = builder->build(*statements))
      return error;
    out.hasAtomics |= builder->usesAtomics;
  }
  bool inKernel = call.getFunction() == kernel;
  SmallVector<Value *> args{inKernel ? thread : ConstantPointerNull::get(b.getPtrTy()),
                            siteOf(call, mainOpcode(*statements))};
  append_range(args, call.args());
  CallInst *host = b.CreateCall(builder->function(), args);
  replaceCall(call, host);
  return Error::success();
}

Error Translator::translateInlineAsm(CallBase &call) {
  auto *inlineAsm = cast<InlineAsm>(call.getCalledOperand());
  if (inlineAsm->getAsmString().empty() && call.arg_size() == 1 && !call.getType()->isVoidTy() &&
      call.getType() == call.getArgOperand(0)->getType()) {
    // An opaque point: the value passes through, by way of the machine, which
    // may have something to say about it (accumulators in flight).
    IRBuilder<> b(&call);
    Value *v = call.getArgOperand(0);
    if (call.getType()->getPrimitiveSizeInBits() == 32 && call.getFunction() == kernel) {
      Value *word = b.CreateBitCast(v, b.getInt32Ty());
      word = callHook(b, "tileEmuPin", b.getInt32Ty(), {thread, word, siteOf(call, "pin")});
      v = b.CreateBitCast(word, call.getType());
    }
    replaceCall(call, v);
    return Error::success();
  }
  unsigned numOutputs = 0;
  SmallVector<int> tied;
  for (const InlineAsm::ConstraintInfo &c : inlineAsm->ParseConstraints()) {
    if (c.Type == InlineAsm::isOutput && c.isIndirect)
      return unsupported("inline PTX with results in memory");
    if (c.Type == InlineAsm::isOutput)
      ++numOutputs;
    if (c.Type != InlineAsm::isInput)
      continue;
    int output = -1;
    for (const std::string &code : c.Codes)
      if (!code.empty() && isDigit(code[0]))
        output = atoi(code.c_str());
    tied.push_back(output);
  }
  return translateAsm(call, inlineAsm->getAsmString(), inlineAsm->getConstraintString(), numOutputs,
                      tied);
}

Error Translator::translateCall(CallBase &call) {
  if (call.isInlineAsm())
    return translateInlineAsm(call);
  Function *callee = call.getCalledFunction();
  if (!callee)
    return unsupported("indirect calls");
  StringRef name = callee->getName();
  IRBuilder<> b(&call);
  if (StringRef sreg = name; sreg.consume_front("llvm.nvvm.read.ptx.sreg.")) {
    if (sreg == "clock" || sreg == "clock64" || sreg == "globaltimer") {
      Value *v = callHook(b, "tileEmuClock", b.getInt64Ty(), {thread});
      replaceCall(call, b.CreateTrunc(v, call.getType()));
      return Error::success();
    }
    if (sreg == "warpsize") {
      replaceCall(call, b.getInt32(32));
      return Error::success();
    }
    auto index = findSpecialRegister(sreg);
    if (!index)
      return unsupported("the special register `" + sreg + "`");
    replaceCall(call, loadSpecialRegister(b, thread, *index));
    return Error::success();
  }
  if (name.starts_with("llvm.nvvm.")) {
    unsigned numResults = call.getType()->isVoidTy() ? 0
                          : isa<StructType>(call.getType())
                              ? cast<StructType>(call.getType())->getNumElements()
                              : 1;
    std::string text = ptxOfIntrinsic(name, numResults, unsigned(call.arg_size()));
    if (text.empty())
      return unsupported("the intrinsic `" + name + "`");
    return translateAsm(call, text, "intrinsic", numResults, SmallVector<int>(call.arg_size(), -1));
  }
  if (name == "llvm.trap" || name == "llvm.debugtrap") {
    callHook(b, "tileEmuTrap", b.getVoidTy(), {thread, siteOf(call, "trap")});
    call.eraseFromParent();
    return Error::success();
  }
  if (name == "vprintf") {
    replaceCall(call, callHook(b, "tileEmuPrintf", b.getInt32Ty(),
                               {thread, call.getArgOperand(0), call.getArgOperand(1)}));
    return Error::success();
  }
  if (name == "__assertfail") {
    SmallVector<Value *> args{thread};
    append_range(args, call.args());
    callHook(b, "tileEmuAssert", b.getVoidTy(), args);
    call.eraseFromParent();
    return Error::success();
  }
  if (auto *mem = dyn_cast<AnyMemIntrinsic>(&call)) {
    if (!isLocal(mem->getRawDest()))
      return unsupported("`" + name + "` on memory that is not the thread's own");
    return Error::success();
  }
  if (callee->isIntrinsic() || !callee->isDeclaration() || name.starts_with("tileEmu"))
    return Error::success();
  return unsupported("the function `" + name + "`");
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
  else if (isa<FenceInst>(inst))
    inst.eraseFromParent();
  else if (auto *call = dyn_cast<CallBase>(&inst))
    return translateCall(*call);
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
  SmallVector<std::pair<const Value *, const Instruction *>> work;
  SmallPtrSet<const Value *, 32> seen;
  for (const Instruction &inst : instructions(*kernel))
    if (asmText(&inst).contains("wgmma.mma_async"))
      work.push_back({&inst, &inst});
  while (!work.empty()) {
    auto [value, product] = work.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    for (const User *user : value->users()) {
      StringRef text = asmText(user);
      if (text.contains("wgmma.") ||
          (isa<CallBase>(user) && text.empty() && cast<CallBase>(user)->isInlineAsm()))
        continue;
      if (isa<ExtractValueInst, PHINode, BitCastInst, InsertValueInst, SelectInst, FreezeInst>(
              user)) {
        work.push_back({user, product});
        continue;
      }
      siteOf(*cast<Instruction>(user), "use of an accumulator");
      siteOf(*product, "wgmma.mma_async");
      out.touchedAccumulators.push_back(uint32_t(out.sites.size() - 2));
      return; // one is enough to know
    }
  }
}

//===----------------------------------------------------------------------===//
// The whole module
//===----------------------------------------------------------------------===//

/// A division by zero, or of the smallest integer by -1, gives some number on a
/// GPU, as it may for elements that a mask switches off; the host would stop.
static void guardDivision(Instruction &inst) {
  auto *op = dyn_cast<BinaryOperator>(&inst);
  if (!op || !op->isIntDivRem() || !op->getType()->isIntegerTy())
    return;
  Value *divisor = op->getOperand(1);
  if (auto *known = dyn_cast<ConstantInt>(divisor);
      known && !known->isZero() && !known->isMinusOne())
    return;
  IRBuilder<> b(op);
  Value *undefined = b.CreateIsNull(divisor);
  if (op->getOpcode() == Instruction::SDiv || op->getOpcode() == Instruction::SRem) {
    APInt least = APInt::getSignedMinValue(op->getType()->getIntegerBitWidth());
    Value *overflows =
        b.CreateAnd(b.CreateICmpEQ(op->getOperand(0), ConstantInt::get(op->getType(), least)),
                    b.CreateICmpEQ(divisor, Constant::getAllOnesValue(op->getType())));
    undefined = b.CreateOr(undefined, overflows);
  }
  op->setOperand(1, b.CreateSelect(undefined, ConstantInt::get(op->getType(), 1), divisor));
}

Error Translator::run(const Triple &triple, const DataLayout &layout) {
  if (Error error = findKernel())
    return error;
  inlineHelpers();
  SmallVector<Function *> helpers;
  for (Function &f : m)
    if (!f.isDeclaration() && &f != kernel && !f.use_empty())
      helpers.push_back(&f);
  makeEntry();
  placeSharedGlobals();
  m.setTargetTriple(triple);
  m.setDataLayout(layout);

  findTouchedAccumulators();

  helpers.push_back(kernel);
  for (Function *f : helpers) {
    SmallVector<Instruction *> work;
    for (Instruction &inst : instructions(*f))
      if (!hostCode.contains(&inst))
        work.push_back(&inst);
    for (Instruction *inst : work) {
      guardDivision(*inst);
      if (Error error = translate(*inst))
        return error;
    }
    f->setCallingConv(CallingConv::C);
    f->removeFnAttr("target-cpu");
    f->removeFnAttr("target-features");
  }
  StripDebugInfo(m);
  // What only the old target knew.
  for (const char *name : {"nvvm.annotations", "nvvmir.version"})
    if (NamedMDNode *node = m.getNamedMetadata(name))
      node->eraseFromParent();
  return Error::success();
}

Expected<Translation> tile::emu::translateToHost(Module &module, const Triple &triple,
                                                 const DataLayout &layout) {
  Translation translation;
  if (Error error = Translator(module, translation).run(triple, layout))
    return std::move(error);
  return translation;
}
