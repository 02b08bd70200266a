//===- Mutations.h - small faults planted in a lowered kernel -------------===//
//
// One mutation is one mistake that a lowering could make: a barrier, wait or
// fence that is missing, a phase the wrong way round, one bit of a descriptor,
// of a swizzle, of a lane map.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_MUTATION_MUTATIONS_H
#define TILE_TESTS_MUTATION_MUTATIONS_H

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"
#include <functional>
#include <string>
#include <vector>

namespace tile::mutation {

struct Mutation {
  std::string kind;  ///< "barrier", "wait", "fence", "phase", "descriptor", ...
  std::string where; ///< the instruction and its line
  std::function<void()> apply;
  /// Instead of `apply`: traps where the fault is met, that is, where the
  /// instruction runs and a changed value is another one. Changes nothing else. (An
  /// arrival at an mbarrier is met by a wait that never ends without it.) A
  /// fault that a run never meets it cannot tell from the original.
  std::function<void()> trapWhereMet;
  std::string redundant = ""; ///< not empty: why nothing is wrong without the instruction
};

/// Every mutation of a module's kernel, in order. They refer to the module:
/// apply one, then parse it anew.
std::vector<Mutation> findMutations(llvm::Module &module);

/// The arrival without what makes it wait for what has been read (Reads.cpp).
void mutateReads(llvm::CallBase &arrival, const std::string &where, std::function<void()> trap,
                 std::vector<Mutation> &out);

/// Why a barrier or a fence may be removed: others order the same. Empty if that is
/// not certain.
std::string whyRedundant(llvm::Instruction &inst);

/// Whether up to the next such barrier nobody changes shared memory, now or later.
bool leavesSharedMemoryBehind(llvm::Instruction &barrier);

/// What the stores, branches and the like of a kernel use, and what that is made of.
llvm::SmallPtrSet<const llvm::Value *, 32> usedValues(const llvm::Function &kernel);

//===----------------------------------------------------------------------===//
// Probes (Probes.cpp)
//===----------------------------------------------------------------------===//

/// What a mutation puts in the place of an operation.
using NewValue = std::function<llvm::Value *(llvm::IRBuilder<> &)>;

/// Traps where the instruction runs: of inline PTX under a predicate, where that is true.
std::function<void()> trapAt(llvm::Instruction &inst);
/// Traps where another value would be put in the place of the operation's own; if that goes into
/// nothing but accesses to memory, where one of them runs with it.
std::function<void()> trapWhereChanged(llvm::Instruction &op, NewValue make);
/// Traps in a grid of more than one block: a fence of the GPU's scope is for others.
std::function<void()> trapInLargeGrids(llvm::Instruction &inst);
/// A barrier: traps where the thread has touched shared memory, or stored to global memory, since
/// the one before; what it has only read counts where somebody may write behind the barrier. One
/// that stands before an arrival at an mbarrier is met by who waits for that.
std::function<void()> trapBehindAccesses(llvm::Instruction &barrier);
/// A wait or a commit: traps where groups with something in them are waited for (`lastOnly`: the
/// last one of those), or committed. Of a wait at an mbarrier see below.
std::function<void()> trapWhereAwaited(llvm::CallBase &call, bool lastOnly);
/// A wait at an mbarrier: traps but for the thread's first one there that waits for the phase
/// before the first, which is over.
std::function<void()> trapBehindFirstWait(llvm::CallBase &call);

/// The text of inline PTX, or of an intrinsic its name; empty for any other instruction.
llvm::StringRef textOf(const llvm::Instruction &inst);

} // namespace tile::mutation

#endif // TILE_TESTS_MUTATION_MUTATIONS_H
