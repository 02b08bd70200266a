//===- Inspect.cpp - what a kernel is compiled to -------------------------===//
#include "tools/tilec/Inspect.h"
#include "compiler/Explain.h"
#include "runtime/LaunchPlan.h"
#include "tools/tilec/Assembler.h"

using namespace tilec;
using tile::CompileOptions;
using tile::CompileResult;
using tile::Stage;

bool tilec::inspectKernel(const tile::runtime::KernelRequest &request,
                          tile::frontend::DiagnosticEngine &diagnostics,
                          tile::host::Inspection &out) {
  // Triton's names of the stages stand beside ours.
  constexpr std::pair<Stage, std::pair<const char *, const char *>> stages[] = {
      {Stage::Tile, {"tile", "ttir"}},
      {Stage::Cta, {"cta", "ttgir"}},
      {Stage::Llvm, {"llir", nullptr}},
      {Stage::Ptx, {"ptx", nullptr}},
  };
  CompileOptions options = tile::runtime::forLaunch(request.options);
  tile::Compiler compiler;
  for (auto &[stage, names] : stages) {
    options.stopAfter = stage;
    CompileResult result = compiler.compile(*request.file, options);
    if (!result.ok()) {
      diagnostics.error(nullptr, {}, result.diagnostics.str()).unsupported =
          result.status == CompileResult::Status::Unsupported;
      return false;
    }
    if (names.second)
      out.stages.emplace_back(names.second, result.output);
    if (stage == Stage::Ptx)
      out.metadata = result.metadata;
    out.stages.emplace_back(names.first, std::move(result.output));
  }
  std::string cubin, error, log;
  int registers = -1;
  if (assembleCubin(out.stages.back().second, options.target, cubin, registers, error, &log)) {
    tile::Explanation said;
    tile::readAssemblerLog(log, said);
    out.registers = registers;
    out.spillBytes = std::max(said.spillBytes, 0);
    out.stages.emplace_back("cubin", std::move(cubin));
  }
  return true;
}
