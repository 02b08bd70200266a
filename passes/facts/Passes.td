//===- Passes.td - passes that show or check what is known ----------------===//
#ifndef TILE_PASSES_FACTS_PASSES
#define TILE_PASSES_FACTS_PASSES

include "passes/TilePass.td"

def TestAxisInfoPass : TilePass<"tile-test-axis-info", "::mlir::func::FuncOp"> {
  let summary = "remark what the axis analysis finds about each value (testing only)";
}

def VerifyProtocolPass : TilePass<"tile-verify-protocol", "::mlir::ModuleOp"> {
  let summary = "check the order of ring operations and asynchronous copies";
  let description = [{
    - **Needs**: nothing.
    - **Guarantees**: fails where rings or asynchronous copies are not used as the
      constraints of `cta.ring` and `cta.async_copy` say.
    - **Never**: changes anything.

    For tests, and between the passes of a compiler with assertions: what one operation
    can check by itself, MLIR's own verifier does.
  }];
}

#endif // TILE_PASSES_FACTS_PASSES
