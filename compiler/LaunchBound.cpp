//===- LaunchBound.cpp - how many blocks a multiprocessor shall hold ------===//
//
// Without a launch bound NVIDIA's assembler saves registers: where a turn of a loop adds
// up what it loads, it puts loads behind the uses of others, and the turn waits for
// memory twice or more. With a bound, even one that the kernel would reach anyway, it
// uses the registers that the bound leaves and loads at once.
//
// Contract. Needs: a kernel as the back end gets it. Guarantees: one with a loop of
// several loads from global memory in a basic block, that would need fewer registers
// if each came just before its use, gets "nvvm.minctasm": the blocks that fit with the
// registers needed to have all of them on their way, so that the assembler has no
// reason to spill. Never: a kernel with matrix instructions or calls; one with a bound
// or a register limit already; one of which only a few blocks would fit (they wait for
// memory, then compute, in step).
//
// What a turn of a short loop loads of one register, as indices and numbers of a row are, is
// counted for the four turns that the assembler makes one of.
//
// Grids of few programs leave registers to their threads, whatever they do: for them, the bound is
// of as many programs as could do with the registers that leaves, if their number is few. Whether
// there is such a form is said where nothing is known of the grid.
//
// A long kernel whose threads cannot have the registers it needs gets a bound of one
// block: when the assembler's first attempt fails, it otherwise settles for 32 registers
// and spills all else.
//
// Straight code of so many threads that two programs have room only with few registers each gets
// a bound of two, if it can do with those, and one of one, if all that it loads at once has room
// then; so do loops that load once a turn, or little, of which a program alone would wait for every
// load, if another has room. Turns that load nothing are to have what they work on in registers.
//
// A bound that comes with the kernel, because the number of its warps was chosen for so many
// programs or they run in step, goes if it leaves far fewer registers than single values take, or
// all of them. Where some warps only copy, it becomes one of as many as threads have registers for,
// if those are three and more, and of one block otherwise.
//
//===----------------------------------------------------------------------===//
#include "compiler/LaunchBound.h"
#include "compiler/RegisterEstimate.h"
#include "compiler/SplitLoops.h"
#include "passes/facts/Registers.h"
#include "target/Tuning.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tile;

/// Registers that a thread needs in the better of two orders: with what is not an access just
/// before its use, or as written.
static int fewestRegisters(const Function &kernel) {
  return std::min(estimateRegisters(kernel, Loads::AsWritten),
                  estimateRegisters(kernel, Loads::InPlace));
}

/// Whether `kernel` is long and needs more registers than its threads can have, in the order of its
/// accesses and as it is written. If one of both fits, the assembler finds it without a bound; with
/// one it loads whatever it can at once. Of 143 launches of public kernels with such a bound, 16
/// fit as written (of which unrolled loops needed 12 to 132 registers, and got 255 and up to 2.6 KB
/// of spills); three come out with 32 registers without it, and need 370 and more.
static bool cannotHold(const Function &kernel, int threads, const tile::Target &target) {
  if (kernel.getInstructionCount() < tuningOf(target).boundLongInstructions)
    return false;
  int most = mostRegistersOfThread(target, threads);
  return estimateKept(kernel, Loads::AsWritten) > most &&
         estimateKept(kernel, Loads::InPlace) > most;
}

/// Whether a bound of several programs that came with a kernel is to go: its threads need no more
/// than that leaves them, and the assembler saves registers without a bound, or values would be
/// spilled for it in loops. Beside loops, or in a loop over programs, that is done once a program,
/// of not much more than a thread alone would hold.
static bool isAmiss(const Function &kernel, int threads, const tile::Target &target) {
  int programs = 0;
  if (kernel.getFnAttribute("nvvm.minctasm").getValueAsString().getAsInteger(10, programs) ||
      programs < 2)
    return false;
  int64_t left = mostRegistersOfThread(target, threads * programs);
  DominatorTree dominators(const_cast<Function &>(kernel));
  LoopInfo loops(dominators);
  PartsEstimate written = estimateParts(kernel, loops, Loads::AsWritten);
  PartsEstimate late = estimateParts(kernel, loops, Loads::Late);
  double factor = tuningOf(target).boundFewestRegisters;
  return std::max(written.inLoops, written.besides) <= left ||
         std::min(written.inLoops, late.inLoops) > factor * left ||
         written.besides > factor * mostRegistersOfThread(target, threads);
}

/// Beside warps that only copy, a bound of several programs becomes one of as many as threads need
/// no more registers for than they have then: for one program the assembler takes what there is. Of
/// fewer than three, what they need tells otherwise (isAmiss). Whether it is settled.
static bool settlesBoundOfRoles(Function &kernel, int threads, const tile::Target &target) {
  int programs = 0;
  if (isPowerOf2_32(unsigned(threads)) ||
      kernel.getFnAttribute("nvvm.minctasm").getValueAsString().getAsInteger(10, programs))
    return false;
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  const Tuning &tuning = tuningOf(target);
  SmallVector<PartsEstimate, 2> orders;
  for (Loads order : {Loads::AsWritten, Loads::InPlace})
    orders.push_back(estimateParts(kernel, loops, order));
  auto canDoWith = [&](int count) {
    double left = double(mostRegistersOfThread(target, threads * count));
    double most = count > 3 ? tuning.boundManyRolesRegisters : tuning.boundRolesRegisters;
    double besides = count > 3 ? most : tuning.boundFewestRegisters;
    return any_of(orders, [&](const PartsEstimate &parts) {
      return parts.inLoops <= most * left && parts.besides <= besides * left;
    });
  };
  while (programs > 2 && !canDoWith(programs))
    --programs;
  if (programs < 2)
    return false;
  kernel.removeFnAttr("nvvm.minctasm");
  kernel.addFnAttr("nvvm.minctasm", itostr(programs));
  return programs > 2;
}

/// Of more than its own warp.
static bool waitsForThreads(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee && callee->getName().starts_with("llvm.nvvm.barrier");
}

/// Whether `kernel` is straight code of so many threads that a second program has room only with
/// few registers, and can do with them though in some order it would take more: a program alone
/// leaves its multiprocessor idle while it begins, waits for what it loads, and ends. Straight code
/// needs less than is counted, since addresses are computed anew; loads go behind uses of others,
/// but not where threads meet: with a bound of 32 registers the assembler spilled 22 of what a norm
/// of norms loads before its sums (307 us; 238 with all 54 and one program, on an H200).
static bool makesRoomForAnother(const Function &kernel, int threads, const tile::Target &target,
                                int sharedBytes) {
  if (kernel.size() > 1 || 2 * threads != target.multiprocessor.threads ||
      tile::occupancyOf(target.multiprocessor, threads, 0, sharedBytes).programs < 2)
    return false;
  double left = double(mostRegistersOfThread(target, 2 * threads));
  SmallVector<int, 3> needed = {estimateRegisters(kernel, Loads::AsWritten),
                                estimateRegisters(kernel, Loads::InPlace)};
  if (none_of(kernel.front(), waitsForThreads))
    needed.push_back(estimateRegisters(kernel, Loads::Late));
  auto [fewest, most] = std::minmax_element(needed.begin(), needed.end());
  return *most > left && *fewest <= tuningOf(target).boundStraightRegisters * left;
}

/// Whether a program of `kernel` would have its multiprocessor alone for its registers, but could
/// do with few enough to share it. Turns that load nothing wait for no memory, unless what they
/// work on is spilled.
static bool couldShare(const Function &kernel, const LoopInfo &loops, int threads,
                       const tile::Target &target, int sharedBytes) {
  auto programs = [&](int registers) {
    return tile::occupancyOf(target.multiprocessor, threads, registers, sharedBytes).programs;
  };
  int64_t left = mostRegistersOfThread(target, 2 * threads);
  int needed = fewestRegisters(kernel);
  if (programs(needed) != 1 || programs(int(left)) < 2 ||
      needed > tuningOf(target).boundFewestRegisters * double(left))
    return false;
  bool loadsInTurns = any_of(kernel, [&](const BasicBlock &block) {
    return loops.getLoopFor(&block) && any_of(block, loadsGlobal);
  });
  return loadsInTurns || estimateParts(kernel, loops, Loads::AsWritten).inLoops <= left;
}

/// Whether straight code of so many threads has its multiprocessor alone, with the registers that
/// all of its loads need at once as with fewer: the assembler would save some by their order, for
/// nothing.
static bool savesForNothing(const Function &kernel, int threads, const tile::Target &target,
                            int sharedBytes) {
  if (kernel.size() > 1 || 2 * threads != target.multiprocessor.threads)
    return false;
  auto isAlone = [&](int registers) {
    return tile::occupancyOf(target.multiprocessor, threads, registers, sharedBytes).programs == 1;
  };
  int needed = estimateRegisters(kernel, Loads::AsWritten);
  int saved = estimateRegisters(kernel, Loads::Late);
  return saved < needed && isAlone(saved) && isAlone(needed);
}

/// Registers of a thread where a multiprocessor is full of threads.
static int registersOfAll(const tile::Target &target) {
  return target.multiprocessor.registers / target.multiprocessor.threads;
}

/// Whether what `i` gives is for the next turn alone: wherever it is loaded in this one, nothing
/// waits for it.
static bool isForNextTurn(const Instruction &i, const Loop &loop) {
  return !i.use_empty() && all_of(i.users(), [&](const User *user) {
    auto *phi = dyn_cast<PHINode>(user);
    return phi && phi->getParent() == loop.getHeader();
  });
}

static bool hasLoadsInTurns(const Function &kernel, const LoopInfo &loops) {
  return any_of(kernel, [&](const BasicBlock &block) {
    const Loop *loop = loops.getLoopFor(&block);
    return loop && count_if(block, [&](const Instruction &i) {
                     return loadsGlobal(i) && !isForNextTurn(i, *loop);
                   }) > 1;
  });
}

/// As many programs as fit with the registers for all loads of a turn at once, where some turn has
/// several and the assembler would save registers by their order; 0 if that is few.
static int programsOfLoads(const Function &kernel, const LoopInfo &loops, int threads,
                           const tile::Target &target, int sharedBytes) {
  if (!hasLoadsInTurns(kernel, loops))
    return 0;
  int needed = estimateRegisters(kernel, Loads::AsWritten);
  if (estimateRegisters(kernel, Loads::Late) >= needed)
    return 0; // nothing to save
  const Tuning &tuning = tuningOf(target);
  int programs = tile::occupancyOf(target.multiprocessor, threads, needed + tuning.registersOfLoads,
                                   sharedBytes)
                     .programs;
  return programs >= tuning.boundFewestPrograms ? programs : 0;
}

/// Which loads count: of many programs, more are better than more vectors of one.
enum class Turns { OfNumbers, OfAll };

/// Registers for what three more turns of `loop` load, which the assembler unrolls to four; 0: it
/// does not, or a turn has no two loads that count.
static int registersOfMoreTurns(const Loop &loop, Turns turns, const DataLayout &layout) {
  constexpr int kMoreTurns = 3, kPointer = 2;
  const BasicBlock *block = loop.getHeader();
  if (loop.getNumBlocks() != 1 || block->size() > kMostUnrolled)
    return 0;
  int loads = 0, registers = 0;
  for (const Instruction &i : *block) {
    if (!loadsGlobal(i)) {
      if (i.mayHaveSideEffects())
        return 0; // loads do not pass it
      continue;
    }
    int own = registersOf(i, layout);
    if (turns == Turns::OfNumbers && own != 1)
      return 0;
    ++loads;
    registers += own + kPointer;
  }
  return loads > 1 ? kMoreTurns * registers : 0;
}

/// The most of any loop.
static int registersOfMoreTurns(const Function &kernel, const LoopInfo &loops, Turns turns) {
  int more = 0;
  for (const Loop *loop : loops.getLoopsInPreorder())
    more = std::max(more, registersOfMoreTurns(*loop, turns, kernel.getDataLayout()));
  return more;
}

/// As many programs as fit with the registers for what several turns of a loop load, where without
/// a bound, for all programs that threads leave room for, the assembler would not take them; 0 if
/// that is few.
static int programsOfTurns(const Function &kernel, const LoopInfo &loops, int threads,
                           const tile::Target &target, int sharedBytes) {
  int more = registersOfMoreTurns(kernel, loops, Turns::OfNumbers);
  if (!more)
    return 0;
  const Tuning &tuning = tuningOf(target);
  int needed = estimateRegisters(kernel, Loads::AsWritten) + more;
  if (needed <= registersOfAll(target))
    return 0;
  int programs = tile::occupancyOf(target.multiprocessor, threads, needed + tuning.registersOfLoads,
                                   sharedBytes)
                     .programs;
  return programs >= tuning.boundFewestPrograms ? programs : 0;
}

/// Up to how many programs a multiprocessor would gain by a bound of as many: their threads then
/// have the registers for all loads of a turn at once, or of the four that the assembler makes one
/// of, and without it the assembler would save some; 0: none.
static int programsOfFew(const Function &kernel, const LoopInfo &loops, int threads,
                         const tile::Target &target, int sharedBytes) {
  if (!hasLoadsInTurns(kernel, loops))
    return 0;
  int needed = estimateLoaded(kernel) + registersOfMoreTurns(kernel, loops, Turns::OfAll);
  int fewest =
      std::min(estimateRegisters(kernel, Loads::Late), estimateRegisters(kernel, Loads::Consumed));
  // Registers that no other program would have: a few saved are enough to give it them.
  constexpr int kFew = 2;
  if (needed <= registersOfAll(target) || fewest + kFew > needed)
    return 0; // nothing to save
  const Tuning &tuning = tuningOf(target);
  int most = tile::occupancyOf(target.multiprocessor, threads, 0, sharedBytes).programs;
  for (int programs = std::min(most, int(tuning.aheadMostPrograms)); programs > 0; --programs) {
    int64_t left = mostRegistersOfThread(target, threads * programs);
    // No thread gets more than the most, however few they are.
    double factor = left == kMaxRegisters ? tuning.boundFewestRegisters : tuning.boundFewRegisters;
    if (needed <= factor * double(left))
      return programs;
  }
  return 0;
}

/// Whether some turn of a loop has several loads that take more than a step of registers: what
/// takes less is on its way together as one load is. A program that takes half of the warps of a
/// multiprocessor needs no other to wait for several loads.
static bool loadsMuchInTurns(const Function &kernel, const LoopInfo &loops, bool isHalf) {
  const DataLayout &layout = kernel.getDataLayout();
  return any_of(kernel, [&](const BasicBlock &block) {
    int loads = 0, registers = 0;
    for (const Instruction &i : make_filter_range(block, loadsGlobal)) {
      ++loads;
      registers += registersOf(i, layout);
    }
    return loops.getLoopFor(&block) && loads > 1 && (isHalf || registers > kRegisterStep);
  });
}

int tile::setLaunchBound(Function &kernel, const Target &target, int sharedBytes, bool isForFew) {
  int threads = 0;
  bool hasThreads =
      !kernel.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, threads);
  if (hasThreads && !settlesBoundOfRoles(kernel, threads, target) &&
      isAmiss(kernel, threads, target)) {
    kernel.removeFnAttr("nvvm.minctasm");
    if (!isPowerOf2_32(unsigned(threads))) // with warps that only copy
      kernel.addFnAttr("nvvm.minctasm", "1");
  }
  if (!hasThreads || kernel.hasFnAttribute("nvvm.minctasm") ||
      kernel.hasFnAttribute("nvvm.maxnreg"))
    return 0;
  if (cannotHold(kernel, threads, target)) {
    kernel.addFnAttr("nvvm.minctasm", "1");
    return 0;
  }
  bool hasRules = any_of(instructions(kernel), hasOwnRules);
  if (!hasRules && makesRoomForAnother(kernel, threads, target, sharedBytes)) {
    kernel.addFnAttr("nvvm.minctasm", "2");
    return 0;
  }
  if (hasRules)
    return 0;
  if (savesForNothing(kernel, threads, target, sharedBytes))
    kernel.addFnAttr("nvvm.minctasm", "1");
  if (kernel.size() == 1)
    return 0; // no loop
  DominatorTree dominators(kernel);
  LoopInfo loops(dominators);
  int programs = programsOfLoads(kernel, loops, threads, target, sharedBytes);
  if (!programs)
    programs = programsOfTurns(kernel, loops, threads, target, sharedBytes);
  if (!programs && !loops.empty() &&
      !loadsMuchInTurns(kernel, loops, 2 * threads >= target.multiprocessor.threads) &&
      couldShare(kernel, loops, threads, target, sharedBytes))
    programs = 2;
  int ofFew = programsOfFew(kernel, loops, threads, target, sharedBytes);
  if (programs && ofFew >= programs)
    ofFew = 0; // they have their registers as it is
  if (isForFew && ofFew)
    programs = ofFew;
  if (programs)
    kernel.addFnAttr("nvvm.minctasm", itostr(programs));
  return ofFew;
}

void tile::setMostRegisters(Function &kernel, const Target &target, int most, int sharedBytes) {
  int threads = 0;
  if (!kernel.getFnAttribute("nvvm.reqntid").getValueAsString().getAsInteger(10, threads)) {
    auto programs = [&](int registers) {
      return occupancyOf(target.multiprocessor, threads, registers, sharedBytes).programs;
    };
    int wanted = programs(most);
    for (int more = alignDown(most, kRegisterStep) + kRegisterStep; more < int(kMaxRegisters);
         more += kRegisterStep)
      if (programs(more) == wanted)
        most = more;
    if (programs(kMaxRegisters) == wanted)
      most = kMaxRegisters;
  }
  kernel.addFnAttr("nvvm.maxnreg", itostr(most));
}
