//===- CtaDialect.td - the cta dialect ------------------------------------===//
#ifndef TILE_IR_CTADIALECT
#define TILE_IR_CTADIALECT

include "ir/TileBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Cta_Dialect : Dialect {
  let name = "cta";
  let cppNamespace = "::tile::cta";
  let summary = "What one thread block does: who holds which element";
  let description = [{
    At this level every block carries a `#cta.layout` that says which register
    of which lane of which warp holds each element. The `tile` ops keep their
    meaning on such blocks; `cta` adds what has no meaning above: moving data
    between layouts, and the layout attribute itself.
  }];
  let dependentDialects = ["::tile::TileDialect"];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let useDefaultTypePrinterParser = 1;
}

def Cta_LayoutAttr : AttrDef<Cta_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "which thread holds which element of a block";
  let description = [{
    A linear map over GF(2) from hardware positions to element coordinates.
    Inputs are `register`, `lane`, `warp` (and `block` in a cluster); outputs
    `dim0`, `dim1`, ... Each basis vector is the coordinate that one bit of the
    input contributes; coordinates of all set bits are combined with XOR. A
    zero vector means that the bit makes no difference: threads that differ in
    it hold copies.
    ```mlir
    #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[0]]} : [128]>
    ```
  }];
  let parameters = (ins AttrParameter<"::tile::layout::LinearLayout", "the map",
    "const ::tile::layout::LinearLayout &">:$layout);
  let hasCustomAssemblyFormat = 1;
  let genMnemonicAlias = 1;
  let builders = [AttrBuilder<(ins "const ::tile::layout::LinearLayout &":$layout), [{
    return $_get($_ctxt, layout);
  }]>];
  let skipDefaultBuilders = 1;
}

def Cta_KernelAttr : AttrDef<Cta_Dialect, "Kernel"> {
  let mnemonic = "kernel";
  let summary = "what the passes made of a kernel";
  let description = [{
    On the module, as `cta.kernel`, beside what the author asked for (`#tile.kernel`).

    - `groups`: groups of warps that take blocks by turns; each has the same part of
      `tile.kernel`'s warps.
    - `cluster`: thread blocks that load for each other.
    - `groupBytes`: of shared memory that each group has to itself.
    - `sharedBytes`: of shared memory altogether; set when all is placed.
    ```mlir
    module attributes {cta.kernel = #cta.kernel<groups = 2, sharedBytes = 4096>} {}
    ```
  }];
  let parameters = (ins
    DefaultValuedParameter<"int32_t", "1", "groups of warps">:$groups,
    DefaultValuedParameter<"int32_t", "1", "thread blocks of a cluster">:$cluster,
    DefaultValuedParameter<"int32_t", "0", "bytes of one group">:$groupBytes,
    DefaultValuedParameter<"int32_t", "0", "bytes of all">:$sharedBytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

class Cta_Op<string mnemonic, list<Trait> traits = []> : Op<Cta_Dialect, mnemonic, traits>;

def Cta_ConvertLayoutOp : Cta_Op<"convert_layout", [Pure, SameOperandsAndResultShape,
    SameOperandsAndResultElementType]> {
  let summary = "move a block from one layout to another";
  let description = [{
    The elements are unchanged; their owners change. Lowered to the cheapest of
    register moves, warp shuffles, or an exchange through shared memory. In the
    last case `scratch` is the byte offset of the exchange buffer, set by the
    memory pass.
    ```mlir
    #l0 = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]} : [128]>
    #l1 = #cta.layout<{register = [[64]], lane = [[1], [2], [4], [8], [16]], warp = [[32]]} : [128]>
    %b = cta.convert_layout %a : tensor<128xf32, #l0> -> tensor<128xf32, #l1>
    ```
  }];
  let arguments = (ins Tile_Block:$src);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Cta_BarrierOp : Cta_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for all threads of the block";
  let description = [{
    Orders shared-memory accesses. Placed by the barrier pass where data flow
    asks for it, never by hand.
    ```mlir
    cta.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Cta_PinOp : Cta_Op<"pin", [MemoryEffects<[MemRead, MemWrite]>, AllTypesMatch<["src", "result"]>]> {
  let summary = "the same block, held in its own width from here on";
  let description = [{
    Returns the operand unchanged. What is computed from the result is computed
    after this point and not shared with what was computed before, so a block
    that is needed again later can be kept in 16-bit pairs instead of in the
    wide values derived from it.
    ```mlir
    #l0 = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]} : [128]>
    %y = cta.pin %x : tensor<128xf16, #l0>
    ```
  }];
  let arguments = (ins Tile_Block:$src);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
}

include "ir/CtaAsync.td"

#endif // TILE_IR_CTADIALECT
