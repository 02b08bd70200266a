//===- HostFile.h - a file whose host functions are run -------------------===//
#ifndef TILE_TOOLS_TILEC_HOSTFILE_H
#define TILE_TOOLS_TILEC_HOSTFILE_H

#include "runtime/host/Suite.h"
#include "tools/tilec/SourcePaths.h"

namespace tilec {

struct HostFile {
  using Overrides = std::vector<std::pair<std::string, tile::eval::PyValue>>;

  SourcePath path;
  std::unique_ptr<tile::frontend::SourceFile> source;
  tile::ast::Module module;
  std::unique_ptr<tile::eval::Program> program;
  tile::eval::ModuleEnv *environment = nullptr;
  std::unique_ptr<tile::host::Session> session;
  std::unique_ptr<tile::host::Suite> suite;
  std::vector<std::string> names; ///< of the functions to run

  /// False after printing what is wrong as an error of `command`.
  bool parse(llvm::StringRef command);
  /// Makes all that follows from the tree.
  void prepare(tile::runtime::Device &device, const std::vector<std::string> &includePaths);
  /// Values for parameters, of arguments such as `n=16`. One that is no expression is a string.
  Overrides overrides(llvm::ArrayRef<std::string> arguments);
};

/// The functions that a command line asks for; all, if it names none.
struct WantedNames {
  std::vector<std::string> names;
  std::string filter; ///< part of each name
  bool empty() const { return names.empty() && filter.empty(); }
};

/// Leaves in each file the functions that were asked for. With one file the suite says what it does
/// not know. False after printing what is wrong.
bool chooseNames(llvm::StringRef command, tile::host::Purpose purpose, const WantedNames &wanted,
                 std::vector<std::unique_ptr<HostFile>> &files);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_HOSTFILE_H
