//===- Explain.cpp - reading a laid-out kernel back as a report -----------===//
#include "compiler/Explain.h"
#include "compiler/ExplainReader.h"
#include "passes/lowering/instructions/PtxText.h"
#include "target/Target.h"
#include "llvm/Support/Regex.h"

using namespace mlir;
using namespace tile;

void Work::add(const Work &other, double times) {
  read += other.read * times;
  written += other.written * times;
  sectors += other.sectors * times;
  lines += other.lines * times;
  wavefronts += other.wavefronts * times;
  for (unsigned i = 0; i < kNumArithmetic; ++i)
    operations[i] += other.operations[i] * times;
}

bool tile::explain(Compiler &compiler, const frontend::SourceFile &file,
                   const ExplainOptions &options, CompileResult &result, Explanation &out) {
  CompileOptions compile = options.compile;
  compile.stopAfter = options.onlyLaidOut ? Stage::Cta : Stage::Ptx;
  result = compiler.compile(file, compile, [&](ModuleOp module, ArrayRef<Remark> remarks) {
    explaining::Reader(*module.getOps<func::FuncOp>().begin(), options, remarks, out).run();
  });
  if (!result.ok())
    return false;
  out.metadata = result.metadata;
  const Target *target = findTarget(compile.target);
  out.device = options.device.empty() ? deviceFor(target ? target->capability : 0)
                                      : findDevice(options.device);
  llvm::append_range(out.roleRegisters, ptx::registersOfRoles(result.output));
  return true;
}

void tile::readAssemblerLog(StringRef log, Explanation &out) {
  SmallVector<StringRef> match;
  if (llvm::Regex("Used ([0-9]+) registers").match(log, &match))
    match[1].getAsInteger(10, out.registers);
  if (llvm::Regex("([0-9]+) bytes spill stores, ([0-9]+) bytes spill loads").match(log, &match)) {
    int stores = 0, loads = 0;
    match[1].getAsInteger(10, stores);
    match[2].getAsInteger(10, loads);
    out.spillBytes = stores + loads;
  }
}
