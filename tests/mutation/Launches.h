//===- Launches.h - a kernel and its mutants on the same memory ------------===//
#ifndef TILE_TESTS_MUTATION_LAUNCHES_H
#define TILE_TESTS_MUTATION_LAUNCHES_H

#include "emulator/Emulator.h"
#include "tests/mutation/OtherData.h"
#include <optional>
#include <string>

namespace tile::mutation {

/// The memory that one launch finds and leaves.
struct Launch {
  const emu::LaunchConfig &config;
  Image before, after = {};
  bool comparable = true;      ///< the same in every order
  emu::Counters counters = {}; ///< of the usual order
  NaNs nans = NaNs::AsTheyAre; ///< how what it leaves is compared
  /// What a run may do; 0: any number, until the kernel has shown what it does by itself. Other
  /// numbers can be lengths, and a mutant can go round for ever.
  uint64_t workLimit = 0;
};

Image save(const emu::LaunchConfig &config);
void restore(const emu::LaunchConfig &config, const Image &image);
uint64_t programsOf(const emu::LaunchConfig &config);
/// The usual order (0) and random ones.
emu::RunOptions orderOf(unsigned i, const Launch &launch);

/// Runs the kernel as it is, to know what it leaves. Gives back what is wrong with it, if anything.
std::optional<std::string> runOriginal(const emu::Program &program, Launch &launch,
                                       unsigned schedules);
/// What is reported of a mutant, or that it leaves something else, in one of so many random orders
/// too; empty if nothing.
std::string whatCatches(const emu::Program &program, const Launch &launch, unsigned schedules);
/// The same on other numbers of each kind, so many times, as far as the kernel itself bears them.
std::string whatCatchesWithOtherData(const emu::Program &original, const emu::Program &mutant,
                                     const Launch &launch, unsigned schedules, unsigned seed,
                                     unsigned rounds);
/// Whether the threads have something to do.
bool isBusy(const Launch &launch, bool readsMemory);
/// Whether a kernel has loads of global memory, or copies from there.
bool readsGlobalMemory(llvm::StringRef ir);

} // namespace tile::mutation

#endif // TILE_TESTS_MUTATION_LAUNCHES_H
