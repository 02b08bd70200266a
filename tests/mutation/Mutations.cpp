//===- Mutations.cpp - small faults planted in a lowered kernel -----------===//
#include "tests/mutation/Mutations.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

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
      if (!c.Codes.empty() && isDigit(c.Codes[0][0])) {
        unsigned output = unsigned(atoi(c.Codes[0].c_str()));
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

static void mutateAsm(CallBase &call, std::vector<Mutation> &out) {
  auto *inlineAsm = cast<InlineAsm>(call.getCalledOperand());
  std::string text = inlineAsm->getAsmString().str();
  StringRef first = StringRef(text).ltrim().take_until([](char c) { return c == ';'; });
  if (StringRef kind = removalKind(text); !kind.empty())
    out.push_back({kind.str(), describe(call, "without `" + first.str() + "`"),
                   [&call] { removeCall(call); }});
  auto change = [&](std::string kind, std::string what, unsigned operand,
                    std::function<Value *(IRBuilder<> &, Value *)> edit) {
    out.push_back({std::move(kind), describe(call, what), [&call, operand, edit] {
                     IRBuilder<> b(&call);
                     call.setArgOperand(operand, edit(b, call.getArgOperand(operand)));
                   }});
  };
  auto flip = [](uint64_t bits) {
    return [bits](IRBuilder<> &b, Value *v) -> Value * {
      return b.CreateXor(v, ConstantInt::get(v->getType(), bits));
    };
  };
  if (StringRef(text).contains("try_wait.parity"))
    change("phase", "the other phase", 1, flip(1));
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
  if (size_t at = text.find("expect_tx"); at != std::string::npos)
    if (size_t number = text.find("], ", at); number != std::string::npos)
      out.push_back({"bytes", describe(call, "64 bytes more expected"), [&call, text, number] {
                       auto *old = cast<InlineAsm>(call.getCalledOperand());
                       std::string changed = text;
                       size_t first = number + 3, end = changed.find(';', first);
                       uint64_t bytes = std::stoull(changed.substr(first, end - first));
                       changed.replace(first, end - first, std::to_string(bytes + 64));
                       call.setCalledOperand(InlineAsm::get(old->getFunctionType(), changed,
                                                            old->getConstraintString(),
                                                            old->hasSideEffects()));
                     }});
}

/// What a value is in a thread, if only the thread's number and constants go into
/// it.
static std::optional<uint32_t> evaluate(const Value *v, uint32_t tid, unsigned depth = 0) {
  if (auto *constant = dyn_cast<ConstantInt>(v))
    return uint32_t(constant->getZExtValue());
  if (auto *call = dyn_cast<CallBase>(v)) {
    const Function *callee = call->getCalledFunction();
    if (callee && callee->getName() == "llvm.nvvm.read.ptx.sreg.tid.x")
      return tid;
    return std::nullopt;
  }
  auto *op = dyn_cast<BinaryOperator>(v);
  if (!op || depth > 16 || !op->getType()->isIntegerTy(32))
    return std::nullopt;
  auto a = evaluate(op->getOperand(0), tid, depth + 1);
  auto b = evaluate(op->getOperand(1), tid, depth + 1);
  if (!a || !b)
    return std::nullopt;
  switch (op->getOpcode()) {
  case Instruction::And:
    return *a & *b;
  case Instruction::Or:
    return *a | *b;
  case Instruction::Xor:
    return *a ^ *b;
  case Instruction::Add:
    return *a + *b;
  case Instruction::Mul:
    return *a * *b;
  case Instruction::Shl:
    return *b < 32 ? *a << *b : 0;
  case Instruction::LShr:
    return *b < 32 ? *a >> *b : 0;
  default:
    return std::nullopt;
  }
}

/// Whether `changed` gives another value than `v` in some thread, as far as one
/// can tell: what changes nothing is no fault.
static bool matters(const Value *v, uint32_t threads, function_ref<uint32_t(uint32_t)> changed) {
  for (uint32_t tid = 0; tid < threads; ++tid) {
    auto value = evaluate(v, tid);
    if (!value || changed(tid) != *value)
      return true;
  }
  return false;
}

static uint32_t numThreads(const Function &kernel) {
  uint32_t threads = 1024;
  kernel.getFnAttribute("nvvm.reqntid")
      .getValueAsString()
      .split(',')
      .first.getAsInteger(10, threads);
  return threads;
}

/// Arithmetic that the thread's number goes into, through bit operations only.
static void mutateLaneMaps(Function &kernel, std::vector<Mutation> &out) {
  SmallPtrSet<const Value *, 32> fromThread;
  uint32_t threads = numThreads(kernel);
  for (Instruction &inst : instructions(kernel)) {
    if (auto *call = dyn_cast<CallBase>(&inst)) {
      if (Function *callee = call->getCalledFunction())
        if (callee->getName() == "llvm.nvvm.read.ptx.sreg.tid.x")
          fromThread.insert(call);
      continue;
    }
    auto *op = dyn_cast<BinaryOperator>(&inst);
    if (!op || !fromThread.contains(op->getOperand(0)))
      continue;
    auto *constant = dyn_cast<ConstantInt>(op->getOperand(1));
    unsigned code = op->getOpcode();
    bool bits = code == Instruction::And || code == Instruction::Or || code == Instruction::Xor ||
                code == Instruction::Shl || code == Instruction::LShr;
    if (!bits)
      continue;
    fromThread.insert(op);
    if (!constant || op->use_empty())
      continue;
    uint64_t value = constant->getZExtValue();
    auto operand = [&](uint32_t tid) { return evaluate(op->getOperand(0), tid).value_or(0); };
    bool clears = code == Instruction::And;
    if (op->getType()->isIntegerTy(32) && value && !matters(op, threads, [&](uint32_t tid) {
          return clears ? uint32_t(operand(tid) & (value - llvm::bit_floor(value)))
                 : code == Instruction::Shl ? operand(tid) << (value + 1)
                                            : operand(tid) >> (value + 1);
        }))
      continue;
    if (code == Instruction::And && value && op->getType()->isIntegerTy(32)) {
      uint64_t top = uint64_t(1) << Log2_64(value);
      out.push_back(
          {"lane bit",
           describe(inst, "`" + std::string(op->getOpcodeName()) + "` without its highest bit"),
           [op, value, top] {
             op->setOperand(1, ConstantInt::get(op->getType(), value & ~top));
             op->dropPoisonGeneratingFlags();
           }});
    } else if ((code == Instruction::Shl || code == Instruction::LShr) && value < 20) {
      out.push_back({"lane bit", describe(inst, "a shift by one more"), [op, value] {
                       op->setOperand(1, ConstantInt::get(op->getType(), value + 1));
                       op->dropPoisonGeneratingFlags();
                     }});
    }
  }
}

/// The addresses of shared memory: one bit of an offset.
static void mutateSwizzles(Function &kernel, std::vector<Mutation> &out) {
  for (Instruction &inst : instructions(kernel)) {
    auto *gep = dyn_cast<GetElementPtrInst>(&inst);
    if (!gep || gep->getPointerAddressSpace() != 3 || gep->getNumIndices() != 1)
      continue;
    Value *index = gep->getOperand(1);
    if (!index->getType()->isIntegerTy(32) || isa<Constant>(index))
      continue;
    for (uint64_t bit : {16, 64})
      out.push_back(
          {"swizzle bit", describe(inst, "offset bit " + std::to_string(bit)), [gep, bit] {
             IRBuilder<> b(gep);
             gep->setOperand(1, b.CreateXor(gep->getOperand(1), bit));
             gep->setNoWrapFlags(GEPNoWrapFlags::none());
           }});
  }
}

std::vector<Mutation> tile::mutation::findMutations(Module &module) {
  std::vector<Mutation> out;
  for (Function &f : module) {
    if (f.isDeclaration() || f.getCallingConv() != CallingConv::PTX_Kernel)
      continue;
    for (Instruction &inst : instructions(f)) {
      auto *call = dyn_cast<CallBase>(&inst);
      if (!call)
        continue;
      if (call->isInlineAsm()) {
        mutateAsm(*call, out);
      } else if (Function *callee = call->getCalledFunction()) {
        StringRef name = callee->getName();
        if (name.starts_with("llvm.nvvm.barrier.cta.sync"))
          out.push_back(
              {"barrier", describe(inst, "without `bar.sync`"), [call] { removeCall(*call); }});
        // One bit of a butterfly's mask, to the next place: a bit more would
        // leave a reduction what it is.
        if (name.starts_with("llvm.nvvm.shfl.sync.bfly"))
          if (auto *lane = dyn_cast<ConstantInt>(call->getArgOperand(2)))
            out.push_back({"lane bit", describe(inst, "a shuffle from another lane"), [call, lane] {
                             uint64_t mask = lane->getZExtValue();
                             uint64_t other = mask == 1 ? 2 : mask >> 1;
                             call->setArgOperand(2, ConstantInt::get(lane->getType(), other));
                           }});
      }
    }
    mutateLaneMaps(f, out);
    mutateSwizzles(f, out);
  }
  return out;
}
