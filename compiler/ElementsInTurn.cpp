//===- ElementsInTurn.cpp - what is computed of each element comes together ----===//
//
// Blocks are lowered operation by operation: each is done for all elements of a thread before the
// next one starts. Of a long chain, as random numbers for a dropout or an error function are, every
// element then has a value or two alive at once, 128 of them behind a product, and the assembler
// reorders too little of so much code: it spills.
//
// Contract. Needs: a kernel as the back end gets it. Guarantees: a run of instructions without
// effects, in a block of which more values live at once than a thread has registers, comes in the
// order of what is needed behind it, each result with all that only it needs just before, and those
// together that are computed of the same; if less than three quarters of the registers are alive at
// the widest point of the block then. So it does where a program is alone on its multiprocessor for
// the registers that live at once, and would not be for those that do then. Where that leaves more
// than a thread has, loads that ask for no order come in turn, too, if that is narrower. Never:
// moves anything across what writes memory, waits or multiplies; touches short runs.
//
//===----------------------------------------------------------------------===//
#include "compiler/ElementsInTurn.h"
#include "compiler/RegisterEstimate.h"
#include "passes/facts/Registers.h"
#include "passes/lowering/instructions/PtxText.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
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

/// A load from global memory that asks for no order among accesses. Among other such loads, and
/// what is computed, it may come anywhere.
static bool isPlainLoad(const Instruction &i) {
  if (auto *load = dyn_cast<LoadInst>(&i))
    return load->isUnordered() && !load->isVolatile() && loadsGlobal(i);
  auto *call = dyn_cast<CallInst>(&i);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  if (!text || StringRef(text->getConstraintString()).contains("memory"))
    return false;
  // An author's own text may do more.
  return ptx::onlyLoadsGlobal(text->getAsmString());
}

/// The instructions of `run`, with which no others mix, element by element.
static void addInTurn(ArrayRef<const Instruction *> run,
                      const DenseMap<const Value *, unsigned> &position, bool byOperands,
                      Order &order) {
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
  // Of several results of an element each comes behind the last that it is computed of.
  DenseMap<const Value *, unsigned> latest;
  SmallVector<std::tuple<unsigned, unsigned, const Instruction *>> roots;
  for (const Instruction *i : run) {
    unsigned last = 0;
    for (const Value *operand : i->operand_values()) {
      auto known = latest.find(operand);
      if (known != latest.end())
        last = std::max(last, known->second);
      else if (auto *outside = dyn_cast<Instruction>(operand))
        last = std::max(last, position.lookup(outside));
    }
    latest[i] = last;
    if (isNeededBehind(i))
      roots.emplace_back(last, unsigned(roots.size()), i);
  }
  if (byOperands)
    llvm::sort(roots);
  for (auto [last, number, i] : roots)
    if (!placed.contains(i))
      place(i);
  order.append(placed.begin(), placed.end());
}

/// Which instructions come in turn: those without effects, or plain loads with them.
enum class Turn { Computed, Loaded };

/// `byOperands`: results that are computed of the same come together, not as they are written.
static Order inTurn(const BasicBlock &block, Turn turn, bool byOperands) {
  Order order, run;
  DenseMap<const Value *, unsigned> position;
  unsigned count = 0;
  for (const Instruction &i : block) {
    position[&i] = ++count;
    if (isFree(i) || (turn == Turn::Loaded && isPlainLoad(i))) {
      run.push_back(&i);
      continue;
    }
    addInTurn(run, position, byOperands, order);
    run.clear();
    order.push_back(&i);
  }
  return order;
}

void tile::computeElementsInTurn(Function &kernel, const Target &target, int sharedBytes) {
  // The count is of values that live at once: the assembler orders some of them better (162 to 103
  // registers, 206 to 139).
  constexpr double kWorthIt = 0.75, kLeast = 0.65;
  int threads = 0;
  if (kernel.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, threads))
    return;
  int64_t most = mostRegistersOfThread(target, threads);
  auto programs = [&](int registers) {
    return occupancyOf(target.multiprocessor, threads, registers, sharedBytes).programs;
  };
  for (BasicBlock &block : kernel) {
    if (block.size() < kLongRun)
      continue;
    Order written;
    for (const Instruction &i : block)
      written.push_back(&i);
    int widest = widestInOrder(block, written);
    bool isAloneForIt = programs(int(kLeast * widest)) <= 1;
    if (widest <= most && !isAloneForIt)
      continue;
    bool hasNoRoom = widest > most;
    Order order = inTurn(block, Turn::Computed, /*byOperands=*/!hasNoRoom);
    int inOrder = widestInOrder(block, order);
    // All that is loaded at once has no room, either: each element is loaded where it is used.
    if (hasNoRoom && inOrder > most) {
      Order loaded = inTurn(block, Turn::Loaded, /*byOperands=*/false);
      if (int then = widestInOrder(block, loaded); then < kWorthIt * inOrder) {
        order = std::move(loaded);
        inOrder = then;
      }
    }
    if (hasNoRoom ? inOrder >= kWorthIt * widest : programs(inOrder) <= 1)
      continue;
    for (const Instruction *i : order)
      const_cast<Instruction *>(i)->moveBefore(block, block.end());
  }
}
