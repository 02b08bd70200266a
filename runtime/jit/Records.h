//===- Records.h - what a file of tuning records says about a kernel ------===//
#ifndef TILE_RUNTIME_JIT_RECORDS_H
#define TILE_RUNTIME_JIT_RECORDS_H

#include "runtime/jit/JitFile.h"

namespace tile::jit {

/// A launch for which a configuration won.
struct TunedLaunch {
  std::string device, target; ///< empty: not said
  std::string key;            ///< as the record has it
  /// Of the arguments that select a configuration, by index.
  std::vector<std::pair<unsigned, tile_value>> values;
  unsigned configuration = 0;
};

struct Records {
  std::vector<TunedLaunch> launches;               ///< of equal ones the last
  unsigned numOfOtherSources = 0;                  ///< records about the kernel as it was before
  std::vector<std::string> warnings;               ///< lines that say nothing
  std::vector<std::unique_ptr<std::string>> texts; ///< that `launches` point to
};

/// Reads those about the kernel of `file`.
llvm::Expected<Records> readRecords(const JitFile &file, const std::string &path);

} // namespace tile::jit

#endif // TILE_RUNTIME_JIT_RECORDS_H
