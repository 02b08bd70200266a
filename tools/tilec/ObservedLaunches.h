//===- ObservedLaunches.h - what host functions would launch --------------===//
//
// Runs host functions on a device that computes nothing: it only notes which kernels are prepared,
// for which arguments, and launched over which grids.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_OBSERVEDLAUNCHES_H
#define TILE_TOOLS_TILEC_OBSERVEDLAUNCHES_H

#include "target/Devices.h"
#include "tools/tilec/HostFile.h"
#include <array>
#include <map>

namespace tilec {

/// One variant of a kernel, with its first launch.
struct ObservedKernel {
  tile::CompileOptions options;
  const tile::frontend::SourceFile *file = nullptr;
  const tile::ast::Module *module = nullptr;
  std::string function, parameters; ///< the case that launched it first
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::map<std::string, int64_t> values; ///< integer arguments by name
  unsigned launches = 0;
};

/// Runs the functions called `name` for these arguments (`n=16`) as they would run on a GPU
/// with `target`. Nothing after printing what is wrong as an error of `command`.
std::optional<std::vector<ObservedKernel>>
observeLaunches(llvm::StringRef command, HostFile &file, tile::host::Purpose purpose,
                const std::string &name, llvm::ArrayRef<std::string> arguments,
                const tile::CompileOptions &compile, const tile::DeviceModel *model);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_OBSERVEDLAUNCHES_H
