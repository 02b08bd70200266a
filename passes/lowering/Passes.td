//===- Passes.td - to the LLVM dialect ------------------------------------===//
#ifndef TILE_PASSES_LOWERING_PASSES
#define TILE_PASSES_LOWERING_PASSES

include "passes/TilePass.td"

def LowerToLLVMPass : TilePass<"tile-lower-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower a laid-out kernel to the LLVM dialect, one value per register";
  let description = [{
    - **Needs**: a module with one kernel (`func.func`), every block with a
      `#cta.layout`, scratch offsets assigned, barriers placed.
    - **Guarantees**: one `llvm.func` with the same name and parameters, marked as a
      kernel; nothing of the tile, cta, arith, math, scf, func dialects.
    - **Never**: changes layouts, moves memory accesses or adds barriers between
      ops (an op's own exchange through scratch has its own barrier).

    A hand-written walk rather than dialect conversion: every value maps to a
    list of registers (1:N), structure maps to blocks, and nothing is ever
    rolled back, which makes it several times faster to run.
  }];
  let counts = [Count<"kernelsLowered", "kernels lowered">];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect", "::mlir::NVVM::NVVMDialect"];
}

def AlgebraicImagePass : TilePass<"tile-algebraic-image", "::mlir::ModuleOp"> {
  let summary = "compute with numbers of a ring in the place of floats";
  let description = [{
    - **Needs**: a lowered kernel, not optimised yet; `tile.algebraic` on the module.
    - **Guarantees**: nothing computes with floats but inline PTX and matrix instructions. A
      float's bits are a number modulo 2 to their count; values, memory and everything
      that only moves them stay as they are.
    - **Never**: touches a module without the attribute.

    ```
      %c = llvm.fadd %a, %b : f32   =>   %x = llvm.bitcast %a : f32 to i32; ...
                                         %z = llvm.add %x, %y : i32
                                         %c = llvm.bitcast %z : i32 to f32
    ```
    Before the scalar optimiser: what it folds are then integers.
  }];
  let counts = [
    Count<"operationsReplaced", "operations on floats that became ones of the ring">
  ];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TILE_PASSES_LOWERING_PASSES
