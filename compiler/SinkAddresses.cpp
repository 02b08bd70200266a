//===- SinkAddresses.cpp - where stores find their addresses --------------===//
//
// Blocks of pointers are computed where the source says, which for results may be thousands of
// instructions before they are stored, or added to memory. NVIDIA's assembler moves little in
// blocks of that length: each thread holds two registers for each access all the while, or spills
// them.
//
// Contract. Needs: a kernel as the back end gets it. Guarantees: where, in the order in which it is
// written, its threads hold more than they have registers: of an address that one store or atomic
// takes, what is computed for it alone comes just before that access, in its basic block, if it is
// made of no more registers than it takes itself: else these would live as long in its place. What
// several addresses are made of counts a share for each. Never: moves what reads memory or has side
// effects, or across a block's end.
//
//===----------------------------------------------------------------------===//
#include "compiler/SinkAddresses.h"
#include "compiler/RegisterEstimate.h"
#include "passes/facts/Registers.h"
#include "passes/lowering/instructions/PtxText.h"
#include "target/Target.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace tile;

/// The addresses that `i` writes to.
static SmallVector<Value *, 2> addressesOf(Instruction &i) {
  if (auto *store = dyn_cast<StoreInst>(&i))
    return {store->getPointerOperand()};
  auto *call = dyn_cast<CallInst>(&i);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  if (!text || !ptx::writesGlobal(text->getAsmString()))
    return {};
  SmallVector<Value *, 2> addresses;
  for (Value *operand : call->args())
    if (operand->getType()->isPointerTy())
      addresses.push_back(operand);
  return addresses;
}

namespace {
/// What is computed for one address alone, users first, and what that takes from others.
struct Chain {
  Instruction *access, *address;
  SmallVector<Instruction *> parts;
  SmallSetVector<Instruction *, 4> taken;
};
} // namespace

static Chain chainOf(Instruction &access, Instruction &address) {
  Chain chain{&access, &address, {}, {}};
  SmallVector<Value *> left = {&address};
  while (!left.empty()) {
    auto *i = dyn_cast<Instruction>(left.pop_back_val());
    if (!i)
      continue;
    bool isAlone = i->getParent() == access.getParent() && i->hasOneUse() &&
                   !isa<PHINode, CallInst>(i) && !i->mayHaveSideEffects() &&
                   !i->mayReadFromMemory();
    if (!isAlone) {
      chain.taken.insert(i);
      continue;
    }
    chain.parts.push_back(i);
    append_range(left, i->operands());
  }
  return chain;
}

static void sinkAddresses(BasicBlock &block) {
  const DataLayout &layout = block.getDataLayout();
  SmallVector<Chain> chains;
  for (Instruction &access : block)
    for (Value *address : addressesOf(access))
      if (auto *i = dyn_cast<Instruction>(address); i && i->getParent() == &block)
        chains.push_back(chainOf(access, *i));
  DenseMap<Instruction *, int> takers;
  for (const Chain &chain : chains)
    for (Instruction *i : chain.taken)
      ++takers[i];
  for (const Chain &chain : chains) {
    double registers = 0;
    for (Instruction *i : chain.taken)
      registers += double(registersOf(*i, layout)) / takers[i];
    if (registers > registersOf(*chain.address, layout))
      continue;
    for (Instruction *i : reverse(chain.parts))
      i->moveBefore(chain.access->getIterator());
  }
}

void tile::sinkAddresses(Function &f, const Target &target) {
  int threads = 0;
  if (f.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, threads) ||
      estimateRegisters(f, Loads::InPlace) <= mostRegistersOfThread(target, threads))
    return;
  for (BasicBlock &block : f)
    ::sinkAddresses(block);
}
