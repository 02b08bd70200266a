//===- Mutations.h - small faults planted in a lowered kernel -------------===//
//
// One mutation is one mistake that a lowering could make: a barrier, wait or
// fence that is missing, a phase the wrong way round, one bit of a descriptor,
// of a swizzle, of a lane map.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_MUTATION_MUTATIONS_H
#define TILE_TESTS_MUTATION_MUTATIONS_H

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

/// The text of inline PTX, or of an intrinsic its name; empty for any other instruction.
llvm::StringRef textOf(const llvm::Instruction &inst);

} // namespace tile::mutation

#endif // TILE_TESTS_MUTATION_MUTATIONS_H
