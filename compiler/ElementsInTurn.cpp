//===- ElementsInTurn.cpp - what is computed of each element comes together ----===//
//
// Blocks are lowered operation by operation: each is done for all elements of a thread before the
// next one starts. Of a long chain, as random numbers for a dropout or an error function are, every
// element then has a value or two alive at once, 128 of them behind a product, and the assembler
// reorders too little of so much code: it spills.
//
// Contract. Needs: a kernel as the back end gets it. Guarantees: a run of instructions without
// effects, in a block of which more values live at once than a thread has registers, comes in the
// order of what is needed behind it, each result with all that only it needs just before, if less
// than three quarters of the registers are alive at the widest point of the block then. Never:
// moves anything across what touches memory, waits or multiplies; touches short runs.
//
//===----------------------------------------------------------------------===//
#include "compiler/ElementsInTurn.h"
#include "compiler/RegisterEstimate.h"
#include "passes/facts/Registers.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;
using namespace tile;

using Order = SmallVector<const Instruction *>;

/// Shorter runs the assembler orders well enough.
static constexpr size_t kLongRun = 200;

static bool isFree(const Instruction &i) {
  return !i.mayHaveSideEffects() && !i.mayReadFromMemory() && !i.isTerminator() &&
         !isa<PHINode>(i) && !isa<AllocaInst>(i);
}

/// The instructions of `run`, with which no others mix, element by element.
static void addInTurn(ArrayRef<const Instruction *> run, Order &order) {
  if (run.size() < kLongRun) {
    order.append(run.begin(), run.end());
    return;
  }
  DenseSet<const Value *> own(run.begin(), run.end());
  SetVector<const Instruction *> placed;
  auto place = [&](const Instruction *root) {
    SmallVector<std::pair<const Instruction *, unsigned>> path = {{root, 0}};
    while (!path.empty()) {
      auto &[at, next] = path.back();
      if (next == at->getNumOperands()) {
        placed.insert(at);
        path.pop_back();
        continue;
      }
      const Value *operand = at->getOperand(next++);
      if (own.contains(operand) && !placed.contains(cast<Instruction>(operand)))
        path.push_back({cast<Instruction>(operand), 0});
    }
  };
  auto isNeededBehind = [&](const Instruction *i) {
    return i->use_empty() || any_of(i->users(), [&](const User *u) { return !own.contains(u); });
  };
  for (const Instruction *i : run)
    if (isNeededBehind(i) && !placed.contains(i))
      place(i);
  order.append(placed.begin(), placed.end());
}

static Order inTurn(const BasicBlock &block) {
  Order order, run;
  for (const Instruction &i : block) {
    if (isFree(i)) {
      run.push_back(&i);
      continue;
    }
    addInTurn(run, order);
    run.clear();
    order.push_back(&i);
  }
  return order;
}

void tile::computeElementsInTurn(Function &kernel, const Target &target) {
  constexpr double kWorthIt = 0.75;
  int threads = 0;
  if (kernel.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, threads))
    return;
  int64_t most = mostRegistersOfThread(target, threads);
  for (BasicBlock &block : kernel) {
    if (block.size() < kLongRun)
      continue;
    Order written;
    for (const Instruction &i : block)
      written.push_back(&i);
    int widest = widestInOrder(block, written);
    if (widest <= most)
      continue;
    Order order = inTurn(block);
    if (widestInOrder(block, order) >= kWorthIt * widest)
      continue;
    for (const Instruction *i : order)
      const_cast<Instruction *>(i)->moveBefore(block, block.end());
  }
}
