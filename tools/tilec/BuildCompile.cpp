//===- BuildCompile.cpp - kernels that are built, compiled ----------------===//
#include "tools/tilec/BuildCompile.h"
#include "runtime/Error.h"
#include "text/Format.h"
#include "tools/tilec/Assembler.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tile;
using namespace tile::runtime;
using llvm::StringRef;

llvm::Expected<BuiltCode> CodeCompiler::compileFor(const frontend::SourceFile &source,
                                                   CompileOptions options) {
  auto compiled = service.compile(source, options);
  if (compiled && !(*compiled)->metadata.gridSplits.empty()) { // libtile_rt takes no grid apart
    options.warpRoles = WarpRoles::Apart;
    compiled = service.compile(source, std::move(options));
  }
  if (!compiled)
    return compiled.takeError();
  auto make = [&](const CompiledKernel &kernel, BuiltCode &code) -> llvm::Error {
    code.metadata = kernel.metadata;
    code.ptx = kernel.ptx;
    std::string error;
    if (assemble &&
        !assembleCubin(code.ptx, code.metadata.target, code.cubin, code.metadata.registers, error))
      return makeError(ErrorCode::PtxRejected, error);
    return llvm::Error::success();
  };
  BuiltCode code;
  if (llvm::Error error = make(**compiled, code))
    return std::move(error);
  if ((*compiled)->alone) {
    auto other = (*compiled)->alone();
    if (!other)
      return other.takeError();
    code.alone = std::make_shared<BuiltCode>();
    if (llvm::Error error = make(**other, *code.alone))
      return std::move(error);
  }
  if (!(*compiled)->withoutTensorMaps)
    return code;
  auto other = (*compiled)->withoutTensorMaps();
  if (!other)
    return other.takeError();
  code.withoutMaps = std::make_shared<BuiltCode>();
  if (llvm::Error error = make(**other, *code.withoutMaps))
    return std::move(error);
  return code;
}

/// What goes into the program for `options.target`.
llvm::Expected<std::vector<BuiltCode>> CodeCompiler::codesFor(const frontend::SourceFile &source,
                                                              CompileOptions options) {
  std::string target = options.target;
  auto code = compileFor(source, options);
  if (!code)
    return addContext(code.takeError(),
                      formatted("`{}({})` for {}", options.kernel, options.signature, target));
  std::vector<BuiltCode> codes = {std::move(*code)};
  // PTX goes along where newer chips take it.
  if (llvm::isDigit(target.back()) && !codes[0].cubin.empty()) {
    BuiltCode ptx = codes[0];
    ptx.cubin.clear();
    if (ptx.withoutMaps)
      ptx.withoutMaps->cubin.clear();
    codes.push_back(std::move(ptx));
  }
  return codes;
}
