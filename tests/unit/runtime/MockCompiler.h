//===- MockCompiler.h - a compiler that the tests can see through ---------===//
//
// Defines tile::Compiler for test programs that do not link the real one. A
// source is its own instruction: "error" is a compile error, "error in import"
// one in another file, "unsupported" a missing feature; "bad ptx" compiles to
// what the driver refuses, "tensor map" to a kernel with one, "multiples" to one that is
// faster for such, anything else to scale(ptr, i32, fp32). It says how often it ran. A file with a
// `@triton.jit` function becomes a kernel with the parameters of the signature, which it notes;
// "named by warps" has its name end with their number.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_MOCKCOMPILER_H
#define TILE_TESTS_MOCKCOMPILER_H

#include "compiler/Compiler.h"
#include <atomic>
#include <map>

namespace tile::test {
CompileResult mockCompile(const frontend::SourceFile &file, const CompileOptions &options);
extern std::atomic<int> mockCompilations;
/// Of such files, "SIGNATURE|NAME=VALUE NAME=VALUE", in order, in front of the bar
/// "#ENTRY%MULTIPLE" for what the options say of entries; to be read while nothing compiles.
std::vector<std::string> &mockSignatures();
/// What the next compilations say that they looked for.
extern std::vector<std::string> mockDependencies;
/// The file that the last "error in import" was in.
extern std::weak_ptr<const frontend::SourceFile> mockImport;
/// What the cost model says of kernels with so many warps, in seconds; else it knows nothing.
extern std::map<int, double> mockEstimates;
/// Each compilation takes at least this long.
extern std::atomic<int> mockMilliseconds;
} // namespace tile::test

#endif // TILE_TESTS_MOCKCOMPILER_H
