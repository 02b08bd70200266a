//===- TranslateMemory.cpp - plain loads, stores and atomics --------------===//
//
// The address goes to a hook, which checks it and gives the host's; what remains
// is a plain access of the host. Shared memory is an offset, global memory the
// host's own, and generic addresses tell them apart by range.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Numbers.h"
#include "emulator/translate/Confine.h"
#include "emulator/translate/Translator.h"
#include "text/Format.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"

using namespace llvm;
using namespace tile::emu;
using tile::formatted;

/// Whether an access needs nobody's leave: see Confine.h; or lies in a parameter.
bool Translator::isProven(const Value *pointer, uint64_t bytes, bool writes) const {
  const DataLayout &layout = m.getDataLayout();
  if (staysInBounds(pointer, bytes, writes, layout))
    return true;
  APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  auto found = aggregates.find(
      pointer->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true));
  return !writes && found != aggregates.end() && !offset.isNegative() &&
         offset.ule(found->second) && bytes <= found->second - offset.getZExtValue();
}

Value *Translator::hostAddress(IRBuilder<> &b, Value *pointer, unsigned bytes, unsigned alignment,
                               AccessKind kind, const Twine &instruction) {
  unsigned space = pointer->getType()->getPointerAddressSpace();
  Value *site = siteOf(*at, instruction);
  uint32_t access = kind | (alignment < bytes ? alignment << kAlignmentShift : 0);
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
  const char *in = space == kGlobalSpace   ? ".global"
                   : space == kSharedSpace ? ".shared"
                   : space == kLocalSpace  ? ".local"
                                           : "";
  const char *vector = bytes == 16 ? ".v4.b32" : bytes == 8 ? ".b64" : nullptr;
  return base.str() + in + (vector ? std::string(vector) : ".b" + std::to_string(8 * bytes));
}

//===----------------------------------------------------------------------===//
// Plain accesses
//===----------------------------------------------------------------------===//

void Translator::translateLoad(LoadInst &load) {
  Value *pointer = load.getPointerOperand();
  uint64_t bytes = m.getDataLayout().getTypeStoreSize(load.getType());
  if (isProven(pointer, bytes, /*writes=*/false))
    return;
  IRBuilder<> b(&load);
  Value *address = hostAddress(b, pointer, unsigned(bytes), unsigned(load.getAlign().value()),
                               kRead, accessName("ld", pointer, bytes));
  LoadInst *host = b.CreateAlignedLoad(load.getType(), address, Align(1));
  load.replaceAllUsesWith(host);
  load.eraseFromParent();
}

void Translator::translateStore(StoreInst &store) {
  Value *pointer = store.getPointerOperand(), *value = store.getValueOperand();
  uint64_t bytes = m.getDataLayout().getTypeStoreSize(value->getType());
  if (isProven(pointer, bytes, /*writes=*/true))
    return;
  IRBuilder<> b(&store);
  Value *address = hostAddress(b, pointer, unsigned(bytes), unsigned(store.getAlign().value()),
                               kWrite, accessName("st", pointer, bytes));
  b.CreateAlignedStore(value, address, Align(1));
  store.eraseFromParent();
}

static std::optional<AtomicKind> kindOf(AtomicRMWInst::BinOp op, Type *type) {
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

/// Integer operations whose results nobody looks at leave the same in any order, if
/// they are all of one kind; sums of floats the same but for rounding.
void Translator::noteAtomic(AtomicKind kind, bool resultUsed) {
  out.sums |= isFloatSum(kind);
  switch (kind) {
  case AtomicKind::FAdd:
  case AtomicKind::FAddBF16:
  case AtomicKind::FAddF16x2:
  case AtomicKind::FAddBF16x2:
  case AtomicKind::Add:
  case AtomicKind::And:
  case AtomicKind::Or:
  case AtomicKind::Xor:
  case AtomicKind::MinS:
  case AtomicKind::MaxS:
  case AtomicKind::MinU:
  case AtomicKind::MaxU:
    out.dependsOnOrder |= resultUsed || (atomicKind && *atomicKind != kind);
    atomicKind = kind;
    return;
  default:
    out.dependsOnOrder = true;
  }
}

uint32_t Translator::orderingOf(const Instruction &inst) const {
  auto *rmw = dyn_cast<AtomicRMWInst>(&inst);
  auto *cas = dyn_cast<AtomicCmpXchgInst>(&inst);
  auto *fence = dyn_cast<FenceInst>(&inst);
  AtomicOrdering order = rmw   ? rmw->getOrdering()
                         : cas ? cas->getMergedOrdering()
                               : fence->getOrdering();
  SyncScope::ID scope = rmw   ? rmw->getSyncScopeID()
                        : cas ? cas->getSyncScopeID()
                              : fence->getSyncScopeID();
  SmallVector<StringRef> names;
  m.getContext().getSyncScopeNames(names);
  uint32_t ordering = kStrong;
  if (isAcquireOrStronger(order))
    ordering |= kAcquires;
  if (isReleaseOrStronger(order))
    ordering |= kReleases;
  StringRef name = names[scope];
  if (name != "block" && name != "singlethread")
    ordering |= name == "cluster" ? kClusterScope : kClusterScope | kGpuScope;
  return ordering;
}

Error Translator::translateAtomic(Instruction &inst) {
  IRBuilder<> b(&inst);
  auto *rmw = dyn_cast<AtomicRMWInst>(&inst);
  auto *cas = dyn_cast<AtomicCmpXchgInst>(&inst);
  Value *pointer = rmw ? rmw->getPointerOperand() : cas->getPointerOperand();
  Value *value = rmw ? rmw->getValOperand() : cas->getNewValOperand();
  Type *type = value->getType();
  unsigned bits = unsigned(type->getPrimitiveSizeInBits());
  auto kind = rmw ? kindOf(rmw->getOperation(), type) : std::optional(AtomicKind::CompareExchange);
  if (!kind || (bits != 16 && bits != 32 && bits != 64))
    return unsupported(formatted(
        "this atomic operation: `{}` of {} bits",
        rmw ? AtomicRMWInst::getOperationName(rmw->getOperation()) : StringRef("cmpxchg"), bits));
  auto wide = [&](Value *v) {
    return b.CreateZExt(b.CreateBitCast(v, b.getIntNTy(bits)), b.getInt64Ty());
  };
  unsigned space = pointer->getType()->getPointerAddressSpace();
  if (space != kSharedSpace)
    noteAtomic(*kind, !inst.use_empty());
  Value *address = b.CreatePtrToInt(pointer, b.getInt64Ty());
  if (space == kSharedSpace)
    address = b.CreateAnd(address, 0xffffffff);
  Value *old =
      callHook(b, "tileEmuAtomic", b.getInt64Ty(),
               {thread, address, wide(value), cas ? wide(cas->getCompareOperand()) : b.getInt64(0),
                b.getInt32(uint32_t(*kind)), b.getInt32(bits / 8), b.getInt32(space),
                b.getInt32(orderingOf(inst)), siteOf(inst, "atom")});
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

void Translator::translateFence(FenceInst &fence) {
  IRBuilder<> b(&fence);
  callHook(b, "tileEmuFence", b.getVoidTy(),
           {thread, b.getInt32(orderingOf(fence)), siteOf(fence, "fence")});
  fence.eraseFromParent();
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
