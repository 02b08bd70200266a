#include "passes/Passes.h"
#include "mlir/IR/BuiltinOps.h"
namespace {
struct P : mlir::PassWrapper<P, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(P)
  llvm::StringRef getArgument() const override { return "tile-assign-layouts"; }
  void runOnOperation() override {}
};
}
std::unique_ptr<mlir::Pass> tile::createAssignLayoutsPass() { return std::make_unique<P>(); }
