//===- TranslatePrivate.cpp - private memory, constants, parameters -------===//
//
// Stack slots that are only loaded and stored where everybody can see it stay slots of
// the host. Of the others the thread has a block of its own, apart from the stack that
// holds the host's return addresses; accesses to it go through the machine, as do those
// to constants and parameters that nothing shows to be in bounds.
//
//===----------------------------------------------------------------------===//
#include "emulator/translate/Confine.h"
#include "emulator/translate/Translator.h"
#include "text/Format.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace tile::emu;
using tile::formatted;

/// Between two variables, so that running over the end of one does not meet the next.
static constexpr uint64_t kPrivateGap = 16;

Error Translator::placePrivateMemory() {
  const DataLayout &layout = m.getDataLayout();
  SmallVector<AllocaInst *> slots;
  for (Instruction &inst : instructions(*kernel))
    if (auto *slot = dyn_cast<AllocaInst>(&inst); slot && !isSimple(*slot))
      slots.push_back(slot);
  if (slots.empty())
    return Error::success();
  IRBuilder<> b(&kernel->getEntryBlock(), kernel->getEntryBlock().begin());
  Value *base = callHook(b, "tileEmuPrivate", b.getPtrTy(), {thread});
  hostCode.insert(cast<Instruction>(base));
  uint64_t next = 0;
  for (AllocaInst *slot : slots) {
    uint64_t bytes = slot->getAllocationSize(layout)->getFixedValue();
    next = alignTo(next, std::max<uint64_t>(slot->getAlign().value(), kPrivateGap));
    out.privateObjects.push_back({next, bytes});
    Value *place = b.CreateConstGEP1_64(b.getInt8Ty(), base, next);
    hostCode.insert(cast<Instruction>(place));
    if (place->getType() != slot->getType())
      hostCode.insert(cast<Instruction>(place = b.CreateAddrSpaceCast(place, slot->getType())));
    for (User *user : make_early_inc_range(slot->users()))
      if (auto *call = dyn_cast<IntrinsicInst>(user); call && call->isLifetimeStartOrEnd())
        call->eraseFromParent();
    slot->replaceAllUsesWith(place);
    slot->eraseFromParent();
    next += bytes + kPrivateGap;
  }
  out.privateBytes = next;
  if (next > kMaxPrivateBytes)
    return createStringError(
        formatted("the kernel needs {} bytes of private memory, where a thread has {}", next,
                  kMaxPrivateBytes));
  return Error::success();
}

/// A table of where the module's own variables are, for the machine.
void Translator::tabulateVariables() {
  const DataLayout &layout = m.getDataLayout();
  SmallVector<Constant *> addresses;
  PointerType *pointer = PointerType::get(m.getContext(), 0);
  for (GlobalVariable &g : m.globals()) {
    if (g.getAddressSpace() == kSharedSpace || g.isDeclaration())
      continue;
    out.variables.push_back({layout.getTypeAllocSize(g.getValueType()), !g.isConstant()});
    addresses.push_back(ConstantExpr::getPointerBitCastOrAddrSpaceCast(&g, pointer));
  }
  if (addresses.empty())
    return;
  auto *type = ArrayType::get(pointer, addresses.size());
  new GlobalVariable(m, type, /*isConstant=*/true, GlobalValue::ExternalLinkage,
                     ConstantArray::get(type, addresses), kVariablesName);
}

//===----------------------------------------------------------------------===//
// Intrinsics
//===----------------------------------------------------------------------===//

/// One of those that copy or fill memory: the machine does it, piece by piece.
Error Translator::translateMemory(CallBase &call) {
  auto *mem = cast<AnyMemIntrinsic>(&call);
  if (mem->isAtomic())
    return unsupported(formatted("the intrinsic `{}`", call.getCalledFunction()->getName()));
  IRBuilder<> b(&call);
  auto address = [&](Value *pointer) -> Value * {
    Value *v = b.CreatePtrToInt(pointer, b.getInt64Ty());
    if (pointer->getType()->getPointerAddressSpace() != kSharedSpace)
      return v;
    return b.CreateAdd(b.CreateAnd(v, 0xffffffff), b.getInt64(kGenericShared));
  };
  Value *to = address(mem->getRawDest());
  Value *bytes = b.CreateZExtOrTrunc(mem->getLength(), b.getInt64Ty());
  if (auto *transfer = dyn_cast<AnyMemTransferInst>(mem)) {
    callHook(b, "tileEmuMemoryCopy", b.getVoidTy(),
             {thread, to, address(transfer->getRawSource()), bytes, siteOf(call, "memcpy")});
  } else {
    Value *byte = b.CreateZExt(cast<AnyMemSetInst>(mem)->getValue(), b.getInt32Ty());
    callHook(b, "tileEmuMemoryFill", b.getVoidTy(),
             {thread, to, byte, bytes, siteOf(call, "memset")});
  }
  call.eraseFromParent();
  return Error::success();
}

/// What may stay as it is: mathematics, and remarks to optimisers.
static bool isHarmless(const IntrinsicInst &call) {
  Intrinsic::ID id = call.getIntrinsicID();
  if (Intrinsic::isTargetIntrinsic(id))
    return false;
  switch (id) {
  case Intrinsic::returnaddress: // where the host is
  case Intrinsic::addressofreturnaddress:
  case Intrinsic::frameaddress:
  case Intrinsic::sponentry:
  case Intrinsic::localaddress:
  case Intrinsic::threadlocal_address:
  case Intrinsic::thread_pointer:
  case Intrinsic::get_dynamic_area_offset:
    return false;
  case Intrinsic::assume:
  case Intrinsic::lifetime_start:
  case Intrinsic::lifetime_end:
  case Intrinsic::invariant_start:
  case Intrinsic::invariant_end:
  case Intrinsic::experimental_noalias_scope_decl:
  case Intrinsic::sideeffect:
  case Intrinsic::donothing:
  case Intrinsic::fake_use:
  case Intrinsic::pseudoprobe:
  case Intrinsic::prefetch:
    return true;
  default:
    return isa<ConstrainedFPIntrinsic, DbgInfoIntrinsic>(call) ||
           Intrinsic::getFnAttributes(call.getContext(), id)
               .getMemoryEffects()
               .doesNotAccessMemory();
  }
}

Error Translator::translateIntrinsic(IntrinsicInst &call) {
  if (isa<AnyMemIntrinsic>(call))
    return translateMemory(call);
  Intrinsic::ID id = call.getIntrinsicID();
  // Slots live as long as the thread.
  if (id == Intrinsic::stacksave || id == Intrinsic::stackrestore) {
    if (id == Intrinsic::stacksave)
      call.replaceAllUsesWith(PoisonValue::get(call.getType()));
    call.eraseFromParent();
    return Error::success();
  }
  if (isHarmless(call))
    return Error::success();
  return unsupported(formatted("the intrinsic `{}`", call.getCalledFunction()->getName()));
}
