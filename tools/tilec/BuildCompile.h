//===- BuildCompile.h - kernels that are built, compiled ------------------===//
//
// A kernel for one target, with what stands in for it where its arrays or its grid want that, as
// machine code where there is an assembler.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_BUILDCOMPILE_H
#define TILE_TOOLS_TILEC_BUILDCOMPILE_H

#include "runtime/CompileService.h"
#include "tools/tilec/BuildSource.h"

namespace tilec {

class CodeCompiler {
public:
  CodeCompiler(tile::runtime::CompileService &service, bool assemble)
      : service(service), assemble(assemble) {}
  /// What goes into the program for `options.target`.
  llvm::Expected<std::vector<BuiltCode>> codesFor(const tile::frontend::SourceFile &source,
                                                  tile::CompileOptions options);

private:
  llvm::Expected<BuiltCode> compileFor(const tile::frontend::SourceFile &source,
                                       tile::CompileOptions options);

  tile::runtime::CompileService &service;
  bool assemble;
};

} // namespace tilec

#endif // TILE_TOOLS_TILEC_BUILDCOMPILE_H
