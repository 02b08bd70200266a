//===- Equivalents.h - the list of mutants that are no faults -------------===//
//
// A file of lines "MUTANT | REASON". A mutant has several names, from its own to the one
// of all like it, so that an entry says no more than its reason holds for:
//
//   KIND: FILE: FUNCTION[#N]: WHAT[ (N of M)][: SOURCE LINE]
//
// "(N of M)" is its place among those of the kernel that read the same, FUNCTION#N the Nth
// kernel that the tests compile of a function, SOURCE LINE the text of the kernel's line.
// No name counts other instructions, so that code elsewhere may change; an entry that
// names no mutant any more is stale, and said to be so.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_MUTATION_EQUIVALENTS_H
#define TILE_TESTS_MUTATION_EQUIVALENTS_H

#include "tests/mutation/Mutations.h"
#include "llvm/ADT/ArrayRef.h"
#include <map>

namespace tile::mutation {

/// All names of a mutant, from its own to the one of all like it.
using Names = std::vector<std::string>;

/// The names of every mutation of a kernel, the `ordinal`th of its function. `lines`: of
/// the file, from 0.
std::vector<Names> namesOf(llvm::ArrayRef<Mutation> mutations, llvm::StringRef path,
                           llvm::ArrayRef<std::string> lines, llvm::StringRef function,
                           unsigned ordinal);

class Equivalents {
public:
  /// False after saying why the file is not good.
  bool read(const std::string &path);
  /// There is such a mutant.
  void meet(const Names &names);
  /// Why a mutant is no fault; empty if nobody says so.
  std::string reasonOf(const Names &names) const;
  /// The entries of a file that name none of the mutants that were met.
  std::vector<std::string> stale(llvm::StringRef path) const;

private:
  struct Entry {
    std::string reason;
    bool met = false;
  };
  std::map<std::string, Entry> entries; ///< by name
};

} // namespace tile::mutation

#endif // TILE_TESTS_MUTATION_EQUIVALENTS_H
