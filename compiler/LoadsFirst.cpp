//===- LoadsFirst.cpp - loads of straight code start together ------------===//
//
// In straight code NVIDIA's assembler saves registers, as in loops (LaunchBound.cpp): it puts loads
// just before their uses, and a program waits for memory as often as it does so. A launch bound
// changes little, since it leaves more registers, not a reason to take them; nor does a barrier:
// loads move down across it. What they do not leave is their basic block.
//
// Contract. Needs: a kernel as the back end gets it, with its launch bound. Guarantees: in a kernel
// without loops and without a bound, the first block that begins with several loads from global
// memory for which none waits ends behind the last of these loads, and what is computed of them
// comes in the next one, if a multiprocessor with the registers for all of it still holds several
// programs, which then have as much on its way as it reads while one load takes, and the assembler
// could save some; or if the loads are of vectors, and the programs that it holds then compute so
// long that they cover each other's waits. The blocks are kept apart by a branch that no launch
// takes: a grid has programs. Never: costs a program where more than half of a multiprocessor's
// threads fit if loads go behind uses; moves a load or anything that has side effects; in a kernel
// with matrix instructions, calls, or a limit of registers.
//
//===----------------------------------------------------------------------===//
#include "compiler/LoadsFirst.h"
#include "compiler/RegisterEstimate.h"
#include "passes/facts/Registers.h"
#include "passes/memory/Costs.h"
#include "target/Tuning.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace tile;

namespace {
/// The loads with which a block begins, and what stands between them and waits for one.
struct FirstLoads {
  Instruction *last = nullptr;
  int loads = 0, registers = 0;
  SmallVector<Instruction *> waiting;
};
} // namespace

static FirstLoads firstLoadsOf(BasicBlock &block) {
  const DataLayout &layout = block.getDataLayout();
  FirstLoads first;
  DenseSet<const Value *> loaded;
  SmallVector<Instruction *> waiting; // since the last load
  for (Instruction &i : block) {
    bool waits = any_of(i.operand_values(), [&](const Value *v) { return loaded.contains(v); });
    if (loadsGlobal(i)) {
      if (waits)
        break;
      first.last = &i;
      ++first.loads;
      first.registers += registersOf(i, layout);
      first.waiting.append(waiting);
      waiting.clear();
      loaded.insert(&i);
      continue;
    }
    if (i.isTerminator() || (first.loads && (i.mayHaveSideEffects() || i.mayReadFromMemory())))
      break;
    if (waits) {
      loaded.insert(&i);
      waiting.push_back(&i);
    }
  }
  return first;
}

/// Whether programs with the registers for all of `first` at once keep the memory busy, and the
/// assembler could do with fewer. Where more than half of a multiprocessor's threads fit if it
/// does, others have enough to do while some wait, and would be fewer for nothing.
static bool paysTogether(const Function &kernel, const FirstLoads &first, int threads,
                         const Target &target, int sharedBytes) {
  if (first.loads < 2 || first.registers <= kRegisterStep)
    return false;
  int needed = estimateRegisters(kernel, Loads::AsWritten);
  int fewest =
      std::min(estimateRegisters(kernel, Loads::Late), estimateRegisters(kernel, Loads::Consumed));
  const Tuning &tuning = tuningOf(target);
  auto programsWith = [&](int registers) {
    return occupancyOf(target.multiprocessor, threads, registers + tuning.registersOfLoads,
                       sharedBytes)
        .programs;
  };
  int programs = programsWith(needed), most = programsWith(fewest);
  // What is computed behind the loads may need as many registers as they do: the assembler puts
  // them behind uses all the same. Programs that compute long enough cover each other's waits, even
  // if they are fewer for it.
  int inPlace = estimateRegisters(kernel, Loads::InPlace);
  double cycles = double(kernel.getInstructionCount()) * programsWith(inPlace) * threads /
                  (kLanes * lowering::kWarpsAtOnce);
  if (first.registers >= 2 * first.loads && programsWith(inPlace) >= tuning.boundFewestPrograms &&
      cycles >= tuning.coveredCycles)
    return true;
  bool costsNothing = programs == most && needed > fewest;
  bool othersWait = 2 * most * threads <= target.multiprocessor.threads;
  constexpr int64_t kRegisterBytes = 4;
  return (costsNothing || (othersWait && fewest + kRegisterStep <= needed &&
                           programs >= tuning.togetherLeastPrograms * most)) &&
         programs >= tuning.boundFewestPrograms &&
         kRegisterBytes * first.registers * threads * programs >= tuning.aheadBytes;
}

/// What a launch gives as the number of programs along an axis, of which LLVM knows that it is not
/// zero, through a copy that it does not see through, nor moves loads across.
static Value *countPrograms(IRBuilder<> &builder) {
  Value *programs = builder.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_nctaid_z, {});
  Type *type = programs->getType();
  auto *copy =
      InlineAsm::get(FunctionType::get(type, {type}, /*isVarArg=*/false), "", "=r,0,~{memory}",
                     /*hasSideEffects=*/true);
  return builder.CreateCall(copy, {programs});
}

/// Ends the block of `last` behind it, by a branch that the assembler takes for one.
static void endBlockBehind(Instruction &last) {
  BasicBlock *block = last.getParent();
  Function *kernel = block->getParent();
  BasicBlock *rest = block->splitBasicBlock(last.getNextNode()->getIterator());
  BasicBlock *never = BasicBlock::Create(kernel->getContext(), "", kernel);
  IRBuilder<> builder(never);
  builder.CreateIntrinsic(Intrinsic::trap, {});
  builder.CreateUnreachable();
  block->getTerminator()->eraseFromParent();
  builder.SetInsertPoint(block);
  builder.SetCurrentDebugLocation(last.getDebugLoc());
  Value *isNever = builder.CreateICmpEQ(countPrograms(builder), builder.getInt32(0));
  builder.CreateCondBr(isNever, never, rest);
}

void tile::startLoadsTogether(Function &kernel, const Target &target, int sharedBytes) {
  int threads = 0;
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>, 1> turns;
  FindFunctionBackedges(kernel, turns);
  if (!turns.empty() || kernel.hasFnAttribute("nvvm.minctasm") ||
      kernel.hasFnAttribute("nvvm.maxnreg") ||
      kernel.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, threads) ||
      any_of(instructions(kernel), hasOwnRules))
    return;
  for (BasicBlock &block : kernel) {
    FirstLoads first = firstLoadsOf(block);
    if (!paysTogether(kernel, first, threads, target, sharedBytes))
      continue;
    Instruction *behind = first.last;
    for (Instruction *i : first.waiting) {
      i->moveAfter(behind);
      behind = i;
    }
    return endBlockBehind(*first.last);
  }
}
