//===- Confine.cpp - code that the machine did not write ------------------===//
#include "emulator/translate/Confine.h"
#include "emulator/translate/Translator.h"
#include "text/Format.h"
#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Operator.h"

using namespace llvm;
using namespace tile::emu;
using tile::formatted;

static Error refuse(const Twine &what) {
  return createStringError(formatted("the emulator does not know {}", what));
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

/// Symbols that the module does not define would be looked for in this process.
static Error refuseForeignSymbols(Module &m) {
  if (!m.getModuleInlineAsm().empty())
    return refuse("assembly outside of functions");
  if (!m.ifuncs().empty())
    return refuse(
        formatted("the function `{}`, which is chosen at run time", m.ifunc_begin()->getName()));
  if (!m.aliases().empty())
    return refuse(formatted("`{}`, another name of `{}`", m.alias_begin()->getName(),
                            m.alias_begin()->getAliasee()->stripPointerCasts()->getName()));
  for (GlobalValue &value : m.global_values())
    if (value.getName().starts_with("tileEmu") || value.getName().starts_with("tile_emulated"))
      return refuse(formatted("the symbol `{}`: the name is the emulator's own", value.getName()));
  for (GlobalVariable &g : m.globals()) {
    if (g.getName().starts_with("llvm.") || g.getAddressSpace() == kSharedSpace)
      continue;
    if (g.isDeclaration())
      return refuse(formatted("the variable `{}`, which nothing defines", g.getName()));
    if (g.isThreadLocal())
      return refuse(formatted("the variable `{}`, which is local to a host thread", g.getName()));
  }
  for (Function &f : m) {
    if (!f.isDeclaration())
      continue;
    for (User *user : f.users()) {
      auto *call = dyn_cast<CallBase>(user);
      if (!call || call->getCalledOperand() != &f || call->getCalledFunction() != &f)
        return refuse(formatted("the address of `{}`, which nothing defines", f.getName()));
    }
  }
  return Error::success();
}

static Error refuseRecursion(Module &m) {
  CallGraph graph(m);
  for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc) {
    const Function *f = scc->front()->getFunction();
    if (scc.hasCycle() && f && !f->isDeclaration())
      return refuse(formatted("recursion: `{}` calls itself", f->getName()));
  }
  return Error::success();
}

/// Instructions that one call may run or become: functions that call each other twice double both
/// with every one of them.
static Error refuseTooMuchCode(Module &m) {
  constexpr uint64_t most = 1 << 20;
  CallGraph graph(m);
  DenseMap<const Function *, uint64_t> sizes;
  for (auto scc = scc_begin(&graph); !scc.isAtEnd(); ++scc) { // what is called comes first
    Function *f = scc->front()->getFunction();
    if (!f || f->isDeclaration())
      continue;
    uint64_t &size = sizes[f];
    for (Instruction &inst : instructions(*f)) {
      auto *call = dyn_cast<CallBase>(&inst);
      size += 1 + (call ? sizes.lookup(call->getCalledFunction()) : 0);
      if (size > most)
        return refuse(formatted("so much code: `{}` has more than {} instructions, with those of "
                                "all that it calls",
                                f->getName(), most));
    }
  }
  return Error::success();
}

/// The module's own variables become the host's memory.
static Error refuseLargeVariables(Module &m) {
  constexpr uint64_t most = uint64_t(64) << 20, kMaxAlign = 4096; // of pages
  uint64_t bytes = 0;
  for (GlobalVariable &g : m.globals()) {
    if (g.getAddressSpace() == kSharedSpace)
      continue;
    if (g.getAlign().valueOrOne().value() > kMaxAlign)
      return refuse(formatted("an alignment of {} bytes, as of `{}`: at most {}",
                              g.getAlign()->value(), g.getName(), kMaxAlign));
    bytes = SaturatingAdd(bytes,
                          m.getDataLayout().getTypeAllocSize(g.getValueType()).getKnownMinValue());
    if (bytes > most)
      return refuse(
          formatted("so many variables: up to `{}` they take {} bytes, where a module has {}",
                    g.getName(), bytes, most));
  }
  return Error::success();
}

/// More than any register holds; the host's code generator takes it apart, or puts it
/// where no stack has room for it.
static bool isTooLarge(Type *type, const DataLayout &layout) {
  constexpr uint64_t most = 4096;
  if (!type->isSized() || isa<FunctionType>(type))
    return false;
  TypeSize size = layout.getTypeStoreSize(type);
  return size.isScalable() || size.getFixedValue() > most || type->isX86_AMXTy();
}

static Error refuseInstruction(Instruction &inst, const DataLayout &layout) {
  if (isa<IndirectBrInst, CallBrInst, InvokeInst, ResumeInst, VAArgInst>(inst) || inst.isEHPad() ||
      isa<CleanupReturnInst, CatchReturnInst>(inst))
    return refuse(formatted("the instruction `{}`", inst.getOpcodeName()));
  for (Value *operand : inst.operands())
    if (isTooLarge(operand->getType(), layout))
      return refuse("values of more than 4096 bytes");
  if (isTooLarge(inst.getType(), layout))
    return refuse("values of more than 4096 bytes");
  if (auto *slot = dyn_cast<AllocaInst>(&inst)) {
    std::optional<TypeSize> size = slot->getAllocationSize(layout);
    if (!size || size->isScalable())
      return refuse("private memory whose size is not known before it runs");
    if (size->getFixedValue() > kMaxPrivateBytes)
      return refuse(
          formatted("so much private memory: a variable of {} bytes, where a thread has {}",
                    size->getFixedValue(), kMaxPrivateBytes));
    if (!slot->getParent()->isEntryBlock()) // a loop may take it without end
      return refuse("private memory that is taken after a function's first block");
    if (slot->isUsedWithInAlloca() || slot->isSwiftError())
      return refuse("private memory of this kind");
  }
  return Error::success();
}

Error tile::emu::refuseUnconfined(Module &m) {
  for (const char *name :
       {"llvm.global_ctors", "llvm.global_dtors", "llvm.used", "llvm.compiler.used"})
    if (GlobalVariable *g = m.getGlobalVariable(name, /*AllowInternal=*/true))
      g->eraseFromParent();
  if (Error error = refuseForeignSymbols(m))
    return error;
  if (Error error = refuseLargeVariables(m))
    return error;
  for (Function &f : m)
    for (Instruction &inst : instructions(f))
      if (Error error = refuseInstruction(inst, m.getDataLayout()))
        return error;
  for (GlobalVariable &g : m.globals()) {
    g.setSection("");
    g.setComdat(nullptr);
  }
  if (Error error = refuseRecursion(m))
    return error;
  return refuseTooMuchCode(m);
}

//===----------------------------------------------------------------------===//
// What is known to be in bounds
//===----------------------------------------------------------------------===//

bool tile::emu::staysInBounds(const Value *pointer, uint64_t bytes, bool writes,
                              const DataLayout &layout) {
  // Other address spaces mean something else to the host, or are offsets.
  unsigned space = pointer->getType()->getPointerAddressSpace();
  if (space != kGenericSpace && space != kGlobalSpace && space != kConstantSpace &&
      space != kLocalSpace)
    return false;
  APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  const Value *object =
      pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  uint64_t size = 0;
  if (auto *slot = dyn_cast<AllocaInst>(object)) {
    auto known = slot->getAllocationSize(layout);
    size = known ? known->getFixedValue() : 0;
  } else if (auto *variable = dyn_cast<GlobalVariable>(object)) {
    if (variable->getAddressSpace() == kSharedSpace || (writes && variable->isConstant()))
      return false;
    size = layout.getTypeAllocSize(variable->getValueType());
  } else {
    return false;
  }
  return !offset.isNegative() && offset.ule(size) && bytes <= size - offset.getZExtValue();
}

bool tile::emu::isSimple(const AllocaInst &slot) {
  const DataLayout &layout = slot.getModule()->getDataLayout();
  SmallVector<const Value *> work{&slot};
  while (!work.empty()) {
    const Value *value = work.pop_back_val();
    for (const User *user : value->users()) {
      if (isa<GetElementPtrInst, BitCastInst, AddrSpaceCastInst>(user)) {
        work.push_back(user);
        continue;
      }
      if (auto *call = dyn_cast<IntrinsicInst>(user); call && call->isLifetimeStartOrEnd())
        continue;
      auto *load = dyn_cast<LoadInst>(user);
      auto *store = dyn_cast<StoreInst>(user);
      if (store && store->getValueOperand() == value)
        return false;
      if (!load && !store)
        return false;
      uint64_t bytes = layout.getTypeStoreSize(getLoadStoreType(user));
      if (!staysInBounds(value, bytes, store != nullptr, layout))
        return false;
    }
  }
  return true;
}

bool tile::emu::needsConfinement(Function &f) {
  const DataLayout &layout = f.getParent()->getDataLayout();
  for (Argument &argument : f.args())
    if (argument.hasPointeeInMemoryValueAttr())
      return true;
  for (Instruction &inst : instructions(f)) {
    if (auto *slot = dyn_cast<AllocaInst>(&inst); slot && !isSimple(*slot))
      return true;
    if (isa<AnyMemIntrinsic, UnreachableInst>(inst))
      return true;
    if (auto *call = dyn_cast<CallBase>(&inst); call && call->hasByValArgument())
      return true;
    if (const Value *pointer = getLoadStorePointerOperand(&inst))
      if (!staysInBounds(pointer, layout.getTypeStoreSize(getLoadStoreType(&inst)),
                         isa<StoreInst>(inst), layout))
        return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

void tile::emu::dropHostAttributes(Function &f) {
  AttributeMask drop;
  for (Attribute attribute : f.getAttributes().getFnAttrs())
    if (attribute.isStringAttribute())
      drop.addAttribute(attribute.getKindAsString());
  for (Attribute::AttrKind kind :
       {Attribute::Naked, Attribute::SafeStack, Attribute::ShadowCallStack, Attribute::StackProtect,
        Attribute::StackProtectReq, Attribute::StackProtectStrong, Attribute::SanitizeAddress,
        Attribute::SanitizeThread, Attribute::SanitizeMemory, Attribute::SanitizeHWAddress,
        Attribute::NoRedZone, Attribute::StackAlignment, Attribute::JumpTable})
    drop.addAttribute(kind);
  f.removeFnAttrs(drop);
  f.setPrefixData(nullptr);
  f.setPrologueData(nullptr);
  f.setPersonalityFn(nullptr);
  f.clearGC();
  f.setSection("");
  f.setComdat(nullptr);
  // Large frames touch each of their pages, so that none steps over the guard below.
  f.addFnAttr("probe-stack", "inline-asm");
}
