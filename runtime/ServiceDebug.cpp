//===- ServiceDebug.cpp - what a compile service does when it is asked ----===//
//
// Machine code, stages written to a folder, PTX taken from a folder. None of it is an
// error of the compilation: what goes wrong is a warning, and the kernel runs as it would.
//
//===----------------------------------------------------------------------===//
#include "runtime/CompileService.h"
#include "runtime/MachineCode.h"
#include "text/Format.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::runtime;

void CompileService::assemble(CompiledKernel &kernel) {
  auto code = assembleWith(settings.assembler, kernel.ptx, kernel.metadata.target,
                           /*lineInfo=*/true);
  if (code)
    kernel.machineCode = std::move(code->cubin);
  else
    observer().warn(takeError(code.takeError()).message);
}

/// KERNEL-KEY, the key cut to what tells kernels apart.
static std::string fileStem(const CompiledKernel &kernel) {
  constexpr size_t digits = 16;
  return kernel.metadata.entry + "-" + kernel.key.substr(0, digits);
}

void CompileService::dump(const CompiledKernel &kernel, const frontend::SourceFile &file,
                          const CompileOptions &options) {
  if (std::error_code code = llvm::sys::fs::create_directories(settings.dumpFolder))
    return observer().warn(
        formatted("stages are not written: `{}`: {}", settings.dumpFolder, code.message()));
  auto write = [&](const char *ending, llvm::StringRef text) {
    llvm::SmallString<128> path(settings.dumpFolder);
    llvm::sys::path::append(path, fileStem(kernel) + ending);
    std::error_code code;
    llvm::raw_fd_ostream out(path, code);
    if (!code) {
      out << text;
      out.close();
      code = out.error();
      out.clear_error();
    }
    if (code)
      observer().warn(formatted("a stage is not written: `{}`: ", path) + code.message());
  };
  static constexpr std::pair<Stage, const char *> stages[] = {
      {Stage::Tile, ".tile"}, {Stage::Cta, ".cta"}, {Stage::Llvm, ".llvm"}};
  for (auto [stage, ending] : stages) {
    CompileOptions upTo = options;
    upTo.stopAfter = stage;
    write(ending, compiler(file, upTo).output);
  }
  write(".ptx", kernel.ptx);
  write(".json", kernel.metadata.toJson());
}

CompiledKernelPtr CompileService::overridden(const CompiledKernelPtr &kernel, bool byName) {
  for (const std::string &stem : {fileStem(*kernel), kernel->metadata.entry}) {
    if (stem == kernel->metadata.entry && !byName)
      continue; // its other form, which has other parameters
    llvm::SmallString<128> path(settings.overrideFolder);
    llvm::sys::path::append(path, stem + ".ptx");
    std::string error;
    if (!llvm::sys::fs::exists(path))
      continue;
    std::optional<std::string> ptx = frontend::readFile(path, frontend::kMaxSourceBytes, error);
    if (!ptx) {
      observer().warn(formatted("PTX is not taken from a file: {}", error));
      continue;
    }
    auto other = std::make_shared<CompiledKernel>(*kernel);
    other->ptx = std::move(*ptx);
    other->machineCode.clear();
    return other;
  }
  return nullptr;
}
