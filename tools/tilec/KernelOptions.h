//===- KernelOptions.h - options that say which kernel, and how -----------===//
//
// Shared by the commands that compile one kernel.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_KERNELOPTIONS_H
#define TILE_TOOLS_TILEC_KERNELOPTIONS_H

#include "compiler/Compiler.h"
#include "tools/tilec/Options.h"

namespace tilec {

/// What `static_print` prints goes to standard error: standard output may be the PTX.
void printStatically(llvm::StringRef text);

/// Takes the NAME=VALUE of `--constexpr` in; what is wrong with it, empty if nothing is.
std::string acceptConstexpr(tile::CompileOptions &compile, llvm::StringRef text);

/// `--kernel`, `--signature`, `--constexpr`, `--include`.
void addSelectionOptions(OptionTable &options, tile::CompileOptions &compile);
/// `--num-warps`, `--num-stages`, `--target`, ... Leaves `compile.target` empty
/// until one is named.
void addCompilationOptions(OptionTable &options, tile::CompileOptions &compile);
/// What single options cannot check by themselves: the target, which gets its own name where
/// another one was given, and that the warps are a power of two. Empty if nothing is wrong.
std::string checkKernelOptions(tile::CompileOptions &compile);
/// Gives a target its own name; what is wrong where it has none, else empty.
std::string resolveTargetOption(std::string &target);
/// What `--target` takes besides names of targets, as its help says it.
std::string targetHelp();
/// All names that `--target` takes, for shells.
std::vector<std::string> targetChoices();
/// Prints them, each with what it stands for: `--target list`.
void printTargets();
/// Opens FILE, or standard input for `-`; prints what is wrong and returns null.
std::unique_ptr<tile::frontend::SourceFile> openSource(llvm::StringRef command,
                                                       const std::string &file);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_KERNELOPTIONS_H
