//===- Mutations.cpp - small faults planted in a lowered kernel -----------===//
#include "tests/mutation/Mutations.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/DemandedBits.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Support/KnownBits.h"

using namespace llvm;
using namespace tile::mutation;

static std::string describe(const Instruction &inst, StringRef what) {
  std::string text = what.str();
  if (const DILocation *loc = inst.getDebugLoc())
    text += " at " + loc->getFilename().str() + ":" + std::to_string(loc->getLine());
  return text;
}

/// Takes a call out; values that it passes through stay.
static void removeCall(CallBase &call) {
  if (!call.getType()->isVoidTy()) {
    // Results tied to inputs, in the order in which the constraints tie them.
    auto *text = cast<InlineAsm>(call.getCalledOperand());
    SmallVector<Value *> tied;
    unsigned input = 0;
    for (const InlineAsm::ConstraintInfo &c : text->ParseConstraints()) {
      if (c.Type != InlineAsm::isInput)
        continue;
      if (unsigned output = 0; !c.Codes.empty() && to_integer(c.Codes[0], output)) {
        if (tied.size() <= output)
          tied.resize(output + 1);
        tied[output] = call.getArgOperand(input);
      }
      ++input;
    }
    for (User *user : make_early_inc_range(call.users()))
      if (auto *extract = dyn_cast<ExtractValueInst>(user)) {
        unsigned i = extract->getIndices()[0];
        extract->replaceAllUsesWith(
            i < tied.size() && tied[i] ? tied[i] : UndefValue::get(extract->getType()));
        extract->eraseFromParent();
      }
    call.replaceAllUsesWith(tied.size() == 1 && tied[0]->getType() == call.getType()
                                ? tied[0]
                                : UndefValue::get(call.getType()));
  }
  call.eraseFromParent();
}

/// What the removal of an instruction is called; empty if it is not for that.
static StringRef removalKind(StringRef text) {
  auto has = [&](StringRef part) { return text.contains(part); };
  if (has("barrier.cluster"))
    return "cluster barrier";
  if (has("barrier.cta") || has("bar.sync") || has("bar.arrive") || has("bar.warp.sync"))
    return "barrier";
  if (has("mbarrier.try_wait") || has("wait_group") || has("wait_all"))
    return "wait";
  if (has("fence"))
    return "fence";
  if (has("commit_group"))
    return "commit";
  if (has("mbarrier.arrive") && !has("expect_tx"))
    return "arrival";
  if (has("mbarrier.init"))
    return "init";
  return "";
}

/// The same instruction with `before` in its text replaced, once.
static std::function<void()> rewritten(CallBase &call, StringRef before, StringRef after) {
  return [&call, before = before.str(), after = after.str()] {
    auto *old = cast<InlineAsm>(call.getCalledOperand());
    std::string text = old->getAsmString().str();
    text.replace(text.find(before), before.size(), after);
    call.setCalledOperand(InlineAsm::get(old->getFunctionType(), text, old->getConstraintString(),
                                         old->hasSideEffects()));
  };
}

/// The number in a text behind `prefix`, and all up to its end.
static std::optional<std::pair<unsigned, StringRef>> numberBehind(StringRef text,
                                                                  StringRef prefix) {
  size_t at = text.find(prefix);
  if (at == StringRef::npos)
    return std::nullopt;
  StringRef rest = text.substr(at + prefix.size());
  unsigned number = 0;
  if (rest.consumeInteger(10, number))
    return std::nullopt;
  return std::pair(number, text.slice(at, text.size() - rest.size()));
}

/// Mistakes in how copies and who uses them meet: a group, a thread, a barrier too few.
static void mutateMeetings(CallBase &call, StringRef text, std::vector<Mutation> &out) {
  auto rewrite = [&](StringRef kind, const Twine &what, StringRef before, const Twine &after) {
    out.push_back({kind.str(), describe(call, what.str()), rewritten(call, before, after.str()),
                   kind == "wait" ? trapWhereAwaited(call, /*lastOnly=*/true) : trapAt(call),
                   kind == "wait" ? whyRedundant(call) : ""});
  };
  for (StringRef wait : {"wait_group ", "wait_group.read ", "wait_group.sync.aligned "})
    if (auto groups = numberBehind(text, wait))
      rewrite("wait", "all groups but " + Twine(groups->first + 1) + " waited for", groups->second,
              wait + Twine(groups->first + 1));
  if (text.contains("mbarrier.init"))
    if (auto count = numberBehind(text, "], "); count && count->first > 1) {
      rewrite("init", "one arrival instead of " + Twine(count->first), count->second, "], 1");
      // Met by who waits for the end of a phase.
      out.back().trapWhereMet = rewritten(call, count->second, "], 1000000");
    }
  constexpr StringRef behindCopies = "cp.async.mbarrier.arrive.noinc.shared::cta.b64 ";
  if (text.contains(behindCopies))
    rewrite("arrival", "before the thread's copies have ended", behindCopies,
            "mbarrier.arrive.shared::cta.b64 _, ");
}

static void mutateAsm(CallBase &call, std::vector<Mutation> &out) {
  auto *inlineAsm = cast<InlineAsm>(call.getCalledOperand());
  std::string text = inlineAsm->getAsmString().str();
  StringRef first = StringRef(text).ltrim().take_until([](char c) { return c == ';'; });
  if (first.starts_with("{")) // a loop around it
    first =
        StringRef(text).substr(text.find("mbarrier.")).take_until([](char c) { return c == ';'; });
  if (StringRef kind = removalKind(text); !kind.empty()) {
    auto remove = [&call] { removeCall(call); };
    std::function<void()> trap =
        kind == "wait" || kind == "commit" ? trapWhereAwaited(call, /*lastOnly=*/false)
        : text.find("fence.acq_rel.gpu") != std::string::npos ? trapInLargeGrids(call)
        : kind == "barrier"                                   ? trapBehindAccesses(call)
                                                              : trapAt(call);
    // Who uses the barrier meets what is missing: an mbarrier that is none, a phase
    // that never ends.
    out.push_back({kind.str(), describe(call, "without `" + first.str() + "`"), remove,
                   kind == "arrival" || kind == "init" ? std::function<void()>(remove) : trap,
                   whyRedundant(call)});
  }
  auto change = [&](std::string kind, std::string what, unsigned operand,
                    std::function<Value *(IRBuilder<> &, Value *)> edit) {
    out.push_back({std::move(kind), describe(call, what),
                   [&call, operand, edit] {
                     IRBuilder<> b(&call);
                     call.setArgOperand(operand, edit(b, call.getArgOperand(operand)));
                   },
                   trapAt(call)});
  };
  auto flip = [](uint64_t bits) {
    return [bits](IRBuilder<> &b, Value *v) -> Value * {
      return b.CreateXor(v, ConstantInt::get(v->getType(), bits));
    };
  };
  mutateMeetings(call, text, out);
  if (StringRef(text).contains("mbarrier.arrive."))
    mutateReads(call, describe(call, "without a wait for what has been read"), trapAt(call), out);
  if (StringRef(text).contains("try_wait.parity"))
    change("phase", "the other phase", 1, flip(1));
  for (StringRef use : {"try_wait.parity", "arrive.expect_tx", "mbarrier.arrive"})
    if (StringRef(text).contains(use)) {
      change("slot", "the barrier behind it", 0, [](IRBuilder<> &b, Value *v) {
        return b.CreateAdd(v, ConstantInt::get(v->getType(), 8));
      });
      if (use == "mbarrier.arrive")
        out.back().trapWhereMet = [&call] { removeCall(call); };
      if (use == "try_wait.parity")
        out.back().trapWhereMet = trapBehindFirstWait(call);
      break;
    }
  // Eight elements to the side, which is 16 bytes or more.
  if (StringRef(text).contains(".global.mbarrier::") && call.arg_size() > 2 &&
      StringRef(text).contains("{$2"))
    change("coordinate", "the box beside it", 2, flip(8));
  if (StringRef(text).contains("wgmma.mma_async")) {
    unsigned n = 0;
    for (unsigned i = 0; i < call.arg_size(); ++i) {
      if (!call.getArgOperand(i)->getType()->isIntegerTy(64))
        continue;
      std::string which = "descriptor " + std::to_string(n++);
      change("descriptor", which + ": start", i, flip(2));
      change("descriptor", which + ": stride", i, flip(uint64_t(1) << 38));
      change("descriptor", which + ": swizzle", i, flip(uint64_t(1) << 62));
    }
  }
  size_t expects = text.find("expect_tx"), number = text.find("], ", expects);
  if (expects == std::string::npos || number == std::string::npos)
    return;
  StringRef count = StringRef(text).substr(number + 3);
  unsigned operand = 0;
  if (count.consume_front("$") && !count.consumeInteger(10, operand)) {
    change("bytes", "64 bytes more expected", operand, [](IRBuilder<> &b, Value *v) {
      return b.CreateAdd(v, ConstantInt::get(v->getType(), 64));
    });
    return;
  }
  if (auto bytes = numberBehind(StringRef(text).substr(expects), "], "))
    out.push_back({"bytes", describe(call, "64 bytes more expected"),
                   rewritten(call, bytes->second, ("], " + Twine(bytes->first + 64)).str()),
                   trapAt(call)});
}

static Mutation changedValue(Instruction &op, StringRef what, NewValue make) {
  auto apply = [&op, make] {
    IRBuilder<> b(&op);
    op.replaceAllUsesWith(make(b));
  };
  std::string text;
  raw_string_ostream(text) << op;
  return {"lane bit", describe(op, what) + ":" + text, apply, trapWhereChanged(op, make)};
}

/// Arithmetic that the thread's number goes into, through bit operations only. Bits
/// that are never set, and those that nobody looks at, are left alone.
static void mutateLaneMaps(Function &kernel, const SmallPtrSetImpl<const Value *> &used,
                           std::vector<Mutation> &out) {
  SmallPtrSet<const Value *, 32> fromThread;
  AssumptionCache assumptions(kernel);
  DominatorTree dominators(kernel);
  DemandedBits demanded(kernel, assumptions, dominators);
  const DataLayout &layout = kernel.getParent()->getDataLayout();
  for (Instruction &inst : instructions(kernel)) {
    if (auto *call = dyn_cast<CallBase>(&inst)) {
      if (Function *callee = call->getCalledFunction())
        if (callee->getName() == "llvm.nvvm.read.ptx.sreg.tid.x")
          fromThread.insert(call);
      continue;
    }
    auto *op = dyn_cast<BinaryOperator>(&inst);
    if (!op || !(op->isBitwiseLogicOp() || op->isShift()) ||
        !fromThread.contains(op->getOperand(0)))
      continue;
    fromThread.insert(op);
    auto *constant = dyn_cast<ConstantInt>(op->getOperand(1));
    if (!constant || !used.contains(op))
      continue;
    uint64_t value = constant->getZExtValue();
    Value *from = op->getOperand(0);
    KnownBits known = computeKnownBits(from, layout);
    if (op->getOpcode() == Instruction::And && value) {
      uint64_t top = uint64_t(1) << Log2_64(value);
      if (!known.Zero[Log2_64(value)] && demanded.getDemandedBits(op)[Log2_64(value)])
        out.push_back(
            changedValue(*op, "`and " + std::to_string(value) + "` without its highest bit",
                         [=](IRBuilder<> &b) { return b.CreateAnd(from, value & ~top); }));
    } else if (op->isShift() && value < 20 && !known.isZero()) {
      auto code = op->getOpcode();
      out.push_back(changedValue(
          *op, "a shift by one more than " + std::to_string(value), [=](IRBuilder<> &b) {
            return b.CreateBinOp(code, from, ConstantInt::get(from->getType(), value + 1));
          }));
    }
  }
}

static unsigned accessesOfAsm(const User &user) {
  auto *call = dyn_cast<CallBase>(&user);
  if (!call || !call->isInlineAsm())
    return 3;
  StringRef text = cast<InlineAsm>(call->getCalledOperand())->getAsmString();
  bool reads = text.contains("ld.shared") || text.contains("ldmatrix");
  bool writes = text.contains("st.shared") || text.contains("stmatrix");
  return reads == writes ? 3 : reads ? 1 : 2;
}

/// What is done to memory through a pointer and what is computed from it: bit 0
/// reads, bit 1 writes. Whatever else happens to it counts as both.
static unsigned accesses(const Value &pointer, unsigned depth = 0) {
  unsigned all = 0;
  for (const User *user : pointer.users()) {
    if (isa<LoadInst>(user))
      all |= 1;
    else if (auto *store = dyn_cast<StoreInst>(user))
      all |= store->getPointerOperand() == &pointer ? 2 : 3;
    else if (isa<GetElementPtrInst, PtrToIntInst>(user) && depth < 8)
      all |= accesses(*user, depth + 1);
    else
      all |= accessesOfAsm(*user);
  }
  return all;
}

/// The addresses of shared memory: one bit of an offset. Where the same address is
/// written and read, both move, and nothing is wrong.
static void mutateSwizzles(Function &kernel, std::vector<Mutation> &out) {
  for (Instruction &inst : instructions(kernel)) {
    auto *gep = dyn_cast<GetElementPtrInst>(&inst);
    if (!gep || gep->getPointerAddressSpace() != 3 || gep->getNumIndices() != 1)
      continue;
    Value *index = gep->getOperand(1);
    unsigned kinds = accesses(*gep);
    if (!index->getType()->isIntegerTy(32) || isa<Constant>(index) || kinds == 0 || kinds == 3)
      continue;
    for (uint64_t bit : {16, 64})
      out.push_back({"swizzle bit",
                     describe(inst, "offset bit " + std::to_string(bit) +
                                        (kinds == 1 ? " of a load" : " of a store")),
                     [gep, bit] {
                       IRBuilder<> b(gep);
                       gep->setOperand(1, b.CreateXor(gep->getOperand(1), bit));
                       gep->setNoWrapFlags(GEPNoWrapFlags::none());
                     },
                     trapAt(*gep)});
  }
}

std::vector<Mutation> tile::mutation::findMutations(Module &module) {
  std::vector<Mutation> out;
  for (Function &f : module) {
    if (f.isDeclaration() || f.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    SmallPtrSet<const Value *, 32> used = usedValues(f);
    for (Instruction &inst : instructions(f)) {
      auto *call = dyn_cast<CallBase>(&inst);
      if (!call)
        continue;
      if (call->isInlineAsm()) {
        mutateAsm(*call, out);
      } else if (Function *callee = call->getCalledFunction()) {
        StringRef name = callee->getName();
        if (name.starts_with("llvm.nvvm.barrier.cta.sync"))
          out.push_back({"barrier", describe(inst, "without `bar.sync`"),
                         [call] { removeCall(*call); }, trapBehindAccesses(inst),
                         whyRedundant(inst)});
        // One bit of a butterfly's mask, to the next place: a bit more would
        // leave a reduction what it is.
        auto *lane = name.starts_with("llvm.nvvm.shfl.sync.bfly")
                         ? dyn_cast<ConstantInt>(call->getArgOperand(2))
                         : nullptr;
        if (lane && !lane->isZero() && used.contains(&inst))
          out.push_back(changedValue(
              inst, "a shuffle from another lane than " + std::to_string(lane->getZExtValue()),
              [call, lane](IRBuilder<> &b) {
                uint64_t mask = lane->getZExtValue();
                auto *other = cast<CallBase>(b.Insert(call->clone()));
                other->setArgOperand(2,
                                     ConstantInt::get(lane->getType(), mask == 1 ? 2 : mask >> 1));
                return other;
              }));
      }
    }
    mutateLaneMaps(f, used, out);
    mutateSwizzles(f, out);
  }
  return out;
}
