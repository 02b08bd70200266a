//===- Probes.cpp - where a run meets a fault ------------------------------===//
//
// A mutant that a run cannot tell from the original is none in that run: its instruction does
// not run, or has nothing to do. What the waits of a thread have to do is followed here by
// what the thread does itself: the groups of copies or products that it has begun, and the
// mbarriers that it has waited at.
//
//===----------------------------------------------------------------------===//
#include "tests/mutation/Mutations.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace tile::mutation;

/// Whether the instruction does anything where it stands: of inline PTX the predicate.
static Value *runs(IRBuilder<> &b, Instruction &inst) {
  auto *call = dyn_cast<CallBase>(&inst);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  StringRef guard = text ? StringRef(text->getAsmString()).ltrim() : "";
  unsigned operand = 0;
  if (!guard.consume_front("@"))
    return b.getTrue();
  bool negated = guard.consume_front("!");
  if (!guard.consume_front("$") || guard.consumeInteger(10, operand))
    return b.getTrue();
  for (const InlineAsm::ConstraintInfo &c : text->ParseConstraints())
    operand -= c.Type == InlineAsm::isOutput;
  Value *condition = call->getArgOperand(operand);
  return negated ? b.CreateNot(condition) : condition;
}

static void trapIf(IRBuilder<> &b, Value *condition) {
  Instruction *then = SplitBlockAndInsertIfThen(condition, b.GetInsertPoint(), false);
  IRBuilder<>(then).CreateIntrinsic(Intrinsic::trap, {});
}

std::function<void()> tile::mutation::trapAt(Instruction &inst) {
  return [&inst] {
    IRBuilder<> b(&inst);
    trapIf(b, runs(b, inst));
  };
}

/// The accesses and the like that a value goes into by arithmetic alone; none where it goes into
/// anything else.
static SmallVector<Instruction *> accessesWith(Instruction &op) {
  SmallVector<Instruction *> open{&op}, accesses;
  SmallPtrSet<Instruction *, 16> seen;
  while (!open.empty())
    for (User *user : open.pop_back_val()->users()) {
      auto *inst = cast<Instruction>(user);
      if (!seen.insert(inst).second)
        continue;
      auto *call = dyn_cast<CallBase>(inst);
      if (isa<LoadInst, StoreInst>(inst) || (call && call->isInlineAsm()))
        accesses.push_back(inst);
      else if (call || isa<PHINode>(inst) || inst->isTerminator() || inst->mayReadOrWriteMemory())
        return {};
      else
        open.push_back(inst);
    }
  return accesses;
}

std::function<void()> tile::mutation::trapWhereChanged(Instruction &op, NewValue make) {
  return [&op, make = std::move(make)] {
    SmallVector<Instruction *> accesses = accessesWith(op);
    IRBuilder<> b(op.getNextNode());
    Type *word = b.getIntNTy(unsigned(op.getType()->getPrimitiveSizeInBits()));
    Value *changed = b.CreateICmpNE(b.CreateBitCast(&op, word), b.CreateBitCast(make(b), word));
    if (accesses.empty())
      trapIf(b, changed);
    for (Instruction *access : accesses) {
      IRBuilder<> at(access);
      trapIf(at, at.CreateAnd(changed, runs(at, *access)));
    }
  };
}

std::function<void()> tile::mutation::trapInLargeGrids(Instruction &inst) {
  return [&inst] {
    IRBuilder<> b(&inst);
    Value *programs = b.getInt32(1);
    for (Intrinsic::ID axis :
         {Intrinsic::nvvm_read_ptx_sreg_nctaid_x, Intrinsic::nvvm_read_ptx_sreg_nctaid_y,
          Intrinsic::nvvm_read_ptx_sreg_nctaid_z})
      programs = b.CreateMul(programs, b.CreateIntrinsic(b.getInt32Ty(), axis, {}));
    trapIf(b, b.CreateAnd(runs(b, inst), b.CreateICmpNE(programs, b.getInt32(1))));
  };
}

/// 64 bits of each thread, none of them set at the start.
static Value *bitsOfThread(Function &kernel) {
  BasicBlock &entry = kernel.getEntryBlock();
  IRBuilder<> b(&entry, entry.getFirstInsertionPt());
  Value *bits = b.CreateAlloca(b.getInt64Ty());
  b.CreateStore(b.getInt64(0), bits);
  return bits;
}

//===----------------------------------------------------------------------===//
// Groups of copies or products
//===----------------------------------------------------------------------===//

namespace {
/// What is done to groups of one kind: of products, of copies from or to global memory.
struct Step {
  enum What { None, Begin, Commit, Wait } what = None;
  unsigned groups = 0;    ///< Wait: for all but so many
  bool readsOnly = false; ///< Wait: until the source has been read
};
} // namespace

static StringRef kindOfGroups(StringRef text) {
  for (StringRef kind : {"wgmma.", "cp.async.bulk.", "cp.reduce.async.bulk.", "cp.async."})
    if (text.contains(kind))
      return kind.starts_with("cp.reduce") ? StringRef("cp.async.bulk.") : kind;
  return "";
}

static Step stepOf(StringRef text, StringRef kind) {
  if (kindOfGroups(text) != kind || kind.empty())
    return {};
  if (text.contains("commit_group"))
    return {Step::Commit};
  if (text.contains("wait_all"))
    return {Step::Wait};
  Step step{Step::Wait, 0, text.contains("wait_group.read")};
  for (StringRef wait : {"wait_group ", "wait_group.read ", "wait_group.sync.aligned "})
    if (size_t at = text.find(wait); at != StringRef::npos) {
      StringRef number = text.substr(at + wait.size());
      (void)number.consumeInteger(10, step.groups);
      return step;
    }
  bool begins = text.contains("wgmma.mma_async") || text.contains("bulk_group") ||
                text.contains("cp.async.ca.") || text.contains("cp.async.cg.");
  return {begins ? Step::Begin : Step::None};
}

/// The bits of the groups behind each commit, the last one's lowest: whether anything is in it that
/// the thread has not waited for. Asks `judge` at `call`, before it.
static void followGroups(CallBase &call,
                         function_ref<Value *(IRBuilder<> &, Value *groups, Value *open)> judge) {
  StringRef kind = kindOfGroups(textOf(call));
  bool reads = stepOf(textOf(call), kind).readsOnly;
  Function &kernel = *call.getFunction();
  Value *groups = bitsOfThread(kernel), *open = bitsOfThread(kernel);
  SmallVector<CallBase *> steps;
  for (Instruction &inst : instructions(kernel))
    if (auto *other = dyn_cast<CallBase>(&inst); other && other->isInlineAsm())
      if (stepOf(textOf(inst), kind).what != Step::None)
        steps.push_back(other);
  for (CallBase *other : steps) {
    Step step = stepOf(textOf(*other), kind);
    IRBuilder<> b(other);
    Value *isRun = runs(b, *other);
    Value *before = b.CreateLoad(b.getInt64Ty(), groups);
    Value *begun = b.CreateLoad(b.getInt64Ty(), open);
    if (step.what == Step::Begin) {
      b.CreateStore(b.CreateOr(begun, b.CreateZExt(isRun, b.getInt64Ty())), open);
    } else if (step.what == Step::Commit) {
      Value *after = b.CreateOr(b.CreateShl(before, 1), begun);
      b.CreateStore(b.CreateSelect(isRun, after, before), groups);
      b.CreateStore(b.CreateSelect(isRun, b.getInt64(0), begun), open);
    } else if (reads || !step.readsOnly) { // what has been read may still be written
      Value *after = b.CreateAnd(before, (uint64_t(1) << step.groups) - 1);
      b.CreateStore(b.CreateSelect(isRun, after, before), groups);
    }
    if (other == &call)
      trapIf(b, b.CreateAnd(isRun, b.CreateIsNotNull(judge(b, before, begun))));
  }
}

std::function<void()> tile::mutation::trapWhereAwaited(CallBase &call, bool lastOnly) {
  StringRef text = textOf(call);
  Step step = stepOf(text, kindOfGroups(text));
  if (step.what == Step::Commit)
    return
        [&call] { followGroups(call, [](IRBuilder<> &, Value *, Value *open) { return open; }); };
  if (step.what == Step::Wait)
    return [&call, step, lastOnly] {
      followGroups(call, [&](IRBuilder<> &b, Value *groups, Value *) {
        Value *awaited = b.CreateLShr(groups, step.groups);
        return lastOnly ? b.CreateAnd(awaited, 1) : awaited;
      });
    };
  return text.contains("try_wait.parity") ? trapBehindFirstWait(call) : trapAt(call);
}

//===----------------------------------------------------------------------===//
// mbarriers
//===----------------------------------------------------------------------===//

std::function<void()> tile::mutation::trapBehindFirstWait(CallBase &call) {
  return [&call] {
    Function &kernel = *call.getFunction();
    Value *seen = bitsOfThread(kernel);
    SmallVector<CallBase *> waits;
    for (Instruction &inst : instructions(kernel))
      if (textOf(inst).contains("try_wait.parity"))
        waits.push_back(cast<CallBase>(&inst));
    for (CallBase *wait : waits) {
      IRBuilder<> b(wait);
      Value *address =
          b.CreateZExtOrTrunc(wait->getArgOperand(0)->getType()->isPointerTy()
                                  ? b.CreatePtrToInt(wait->getArgOperand(0), b.getInt32Ty())
                                  : wait->getArgOperand(0),
                              b.getInt64Ty());
      Value *place = b.CreateAnd(b.CreateLShr(address, 3), 63); // one of 64 is enough
      Value *bit = b.CreateShl(b.getInt64(1), place);
      Value *before = b.CreateLoad(b.getInt64Ty(), seen);
      b.CreateStore(b.CreateOr(before, bit), seen);
      if (wait != &call)
        continue;
      Value *isFirst = b.CreateIsNull(b.CreateAnd(before, bit));
      Value *isOdd = b.CreateTrunc(wait->getArgOperand(1), b.getInt1Ty());
      trapIf(b, b.CreateNot(b.CreateAnd(isFirst, isOdd)));
    }
  };
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

/// Of memory that others may touch; loads of global memory do not count, which mostly nobody
/// writes.
static bool touchesMemory(const Instruction &inst) {
  if (auto *load = dyn_cast<LoadInst>(&inst))
    return load->getPointerAddressSpace() == 3;
  if (auto *store = dyn_cast<StoreInst>(&inst))
    return store->getPointerAddressSpace() == 3 || store->getPointerAddressSpace() == 1;
  StringRef text = textOf(inst);
  return any_of(ArrayRef<StringRef>{"ld.shared", "st.shared", "ldmatrix", "stmatrix", "st.global",
                                    "wgmma.mma_async", "cp.async.wait_", "mbarrier.init", "atom.",
                                    "red.", "bulk_group", "barrier.cluster"},
                [&](StringRef access) { return text.contains(access); });
}

/// Whether it does no more than read shared memory.
static bool onlyReads(const Instruction &inst) {
  StringRef text = textOf(inst);
  return isa<LoadInst>(inst) ||
         ((text.contains("ld.shared") || text.contains("ldmatrix")) && text.count(';') == 1);
}

static bool isBarrier(const Instruction &inst) {
  StringRef text = textOf(inst);
  return text.starts_with("bar.") || text.starts_with("llvm.nvvm.barrier.cta");
}

/// The arrival that gives away what the threads before a barrier have done.
static Instruction *arrivalBehind(Instruction &barrier) {
  for (Instruction *next = barrier.getNextNode(); next; next = next->getNextNode()) {
    if (textOf(*next).contains("mbarrier.arrive.shared"))
      return next;
    if (next->mayReadOrWriteMemory())
      break;
  }
  return nullptr;
}

std::function<void()> tile::mutation::trapBehindAccesses(Instruction &barrier) {
  if (Instruction *arrival = arrivalBehind(barrier))
    return [arrival] { arrival->eraseFromParent(); };
  return [&barrier] {
    Function &kernel = *barrier.getFunction();
    bool readsCount = !leavesSharedMemoryBehind(barrier);
    Value *touched = bitsOfThread(kernel);
    SmallVector<Instruction *> found;
    for (Instruction &inst : instructions(kernel))
      if ((touchesMemory(inst) && (readsCount || !onlyReads(inst))) || isBarrier(inst))
        found.push_back(&inst);
    for (Instruction *inst : found) {
      IRBuilder<> b(inst);
      if (!isBarrier(*inst)) {
        Value *before = b.CreateLoad(b.getInt64Ty(), touched);
        b.CreateStore(b.CreateOr(before, b.CreateZExt(runs(b, *inst), b.getInt64Ty())), touched);
        continue;
      }
      bool isSame = textOf(*inst) == textOf(barrier);
      Value *before = b.CreateLoad(b.getInt64Ty(), touched);
      if (isSame)
        b.CreateStore(b.getInt64(0), touched);
      if (inst == &barrier)
        trapIf(b, b.CreateIsNotNull(before));
    }
  };
}
