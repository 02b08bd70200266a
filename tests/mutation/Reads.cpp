//===- Reads.cpp - arrivals that do not wait for what has been read -------===//
//
// The address of an arrival that gives a slot of a ring back depends, by nothing, on what
// has been loaded from it (Lowering::behindReads). The mistake is an arrival without that. It
// is none where all threads meet, with what they have read, before the next copy, as in a
// sum over a row: so these are planted only where they are asked for by name.
//
//===----------------------------------------------------------------------===//
#include "tests/mutation/Mutations.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace tile::mutation;

/// The part of an arrival's address that is nothing: loaded words, and an unknown zero.
static BinaryOperator *nothingIn(CallBase &arrival) {
  auto *sum = dyn_cast<BinaryOperator>(arrival.getArgOperand(0));
  if (!sum || sum->getOpcode() != Instruction::Add)
    return nullptr;
  for (Value *part : sum->operands()) {
    auto *both = dyn_cast<BinaryOperator>(part);
    if (!both || both->getOpcode() != Instruction::And)
      continue;
    for (Value *operand : both->operands()) {
      auto *call = dyn_cast<CallBase>(operand);
      auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
      if (text && text->getAsmString().contains("%clock_hi"))
        return both;
    }
  }
  return nullptr;
}

static bool waitsForOperands(const Instruction &inst) {
  auto *call = dyn_cast<CallBase>(&inst);
  if (auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr)
    return text->hasSideEffects();
  return inst.isTerminator() || inst.mayHaveSideEffects() || inst.mayReadFromMemory();
}

/// What cannot begin before a load has come, but for the arrival.
static SmallPtrSet<const Instruction *, 16> waitersFor(Instruction &load, CallBase &arrival) {
  SmallPtrSet<const Instruction *, 16> waiters, seen;
  SmallVector<Instruction *> work{&load};
  while (!work.empty())
    for (User *user : work.pop_back_val()->users()) {
      auto *inst = cast<Instruction>(user);
      if (inst == &arrival || !seen.insert(inst).second)
        continue;
      if (waitsForOperands(*inst))
        waiters.insert(inst);
      else
        work.push_back(inst);
    }
  return waiters;
}

/// The loads whose words go into `value`.
static SmallVector<Instruction *> loadsIn(Value *value) {
  SmallVector<Instruction *> loads;
  SmallVector<Value *> work{value};
  SmallPtrSet<Value *, 16> seen;
  while (!work.empty()) {
    auto *inst = dyn_cast<Instruction>(work.pop_back_val());
    if (!inst || !seen.insert(inst).second)
      continue;
    if (isa<LoadInst, CallBase>(inst))
      loads.push_back(inst);
    else
      append_range(work, inst->operands());
  }
  return loads;
}

void tile::mutation::mutateReads(CallBase &arrival, const std::string &where,
                                 std::function<void()> trap, std::vector<Mutation> &out) {
  BinaryOperator *nothing = nothingIn(arrival);
  if (!nothing)
    return;
  DominatorTree dominators(*arrival.getFunction());
  std::string redundant = "all that has been read is waited for before";
  for (Instruction *load : loadsIn(nothing))
    if (!textOf(*load).contains("%clock_hi") &&
        none_of(waitersFor(*load, arrival),
                [&](const Instruction *waiter) { return dominators.dominates(waiter, &arrival); }))
      redundant = "";
  out.push_back(
      {"read", where,
       [nothing] { nothing->replaceAllUsesWith(ConstantInt::get(nothing->getType(), 0)); },
       std::move(trap), redundant});
}
