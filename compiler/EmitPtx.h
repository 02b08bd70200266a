//===- EmitPtx.h - from the LLVM dialect to PTX text ----------------------===//
#ifndef TILE_COMPILER_EMITPTX_H
#define TILE_COMPILER_EMITPTX_H

#include "frontend/Files.h"
#include "mlir/IR/BuiltinOps.h"
#include "target/Target.h"
#include "llvm/IR/LLVMContext.h"
#include <memory>
#include <string>

namespace llvm {
class Module;
} // namespace llvm

namespace tile {

class BackEnd;

struct EmitOptions {
  bool fuseMulAdd = true;    ///< contract a*b+c
  int ptxVersion = 0;        ///< PTX ISA (times 10) needed beyond the target's own
  int maxRegisters = 0;      ///< `.maxnreg`; 0: none
  int sharedBytes = 0;       ///< of a block: they bound how many of them run at once
  bool fewPrograms = false;  ///< grids are of as few as `optimize` said of the form for all
  std::string libdevicePath; ///< optional: bitcode to resolve `__nv_*` from
  /// Gets the libraries that are read; may be null.
  std::vector<frontend::Dependency> *dependencies = nullptr;
};

/// Turns lowered kernels into PTX. Holds back ends, so that a second
/// kernel for the same target costs less.
class PtxEmitter {
public:
  PtxEmitter();
  ~PtxEmitter();

  /// MLIR's LLVM dialect -> LLVM IR, device library linked. Null after setting
  /// `error`.
  std::unique_ptr<llvm::Module> translate(mlir::ModuleOp module, llvm::LLVMContext &context,
                                          const Target &target, const EmitOptions &options,
                                          std::string &error);
  /// Runs the scalar optimiser in place. Up to how many programs a multiprocessor gains by the form
  /// for grids of few, where no loop loads ahead for it; 0: none.
  int optimize(llvm::Module &module, const Target &target, const EmitOptions &options);
  /// Instruction selection and printing. False after setting `error`.
  bool emit(llvm::Module &module, const Target &target, const EmitOptions &options,
            std::string &ptx, std::string &error);

private:
  BackEnd &backEnd(const Target &target, const EmitOptions &options);
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace tile

#endif // TILE_COMPILER_EMITPTX_H
