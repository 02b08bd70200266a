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

    Examples of the operations on shared memory use these names:
    ```mlir
    #image = #cta.layout<{offset = [[0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [0, 32],
                                    [1, 8], [2, 16], [4, 32], [8, 0], [16, 0], [32, 0]]} : [64, 64]>
    #one = #cta.layout<{offset = []} : [1]>
    !tile = !cta.buffer<[64, 64], f16, #image>
    !number = !cta.buffer<[1], f32, #one>
    !ring = !cta.ring<!tile, !tile>
    ```
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

    Constraints:
    - `layout_c1`: sizes are powers of two, and basis vectors have an entry below
      the size for each of them
    ```mlir
    #cta.layout<{register = [[1], [2]], lane = [[4], [8], [16], [32], [64]], warp = [[0]]} : [128]>
    ```
  }];
  let parameters = (ins AttrParameter<"::tile::layout::LinearLayout",
    "the map from positions in the hardware, or offsets in a buffer, to coordinates",
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

    Constraints:
    - `cta_kernel_c1`: there is at least one group, and one thread block of a cluster
    - `cta_kernel_c2`: bytes are not negative
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

class Cta_Op<string mnemonic, list<Trait> traits = []> : Op<Cta_Dialect, mnemonic, traits> {
  /// Constraints that several operations have in common.
  code tmaRules = [{
    - `tma_c1`: there is a start for each entry of `dims`
    - `tma_c2`: an entry of `dims` is -1 or a dimension of the block
    - `tma_c3`: `dims` names each dimension of the block once, or not at all if
      its size is 1
    - `tma_c4`: the map of a kernel parameter has as many dimensions as `dims`,
      the block's element type, and boxes that the block falls into
    - `tma_c5`: maps of which one is chosen (by `arith.select`) have boxes and swizzles
      of one kind
  }];
  code slotRules = [{
    - `ring_slot_c1`: the results are of the types of the ring's buffers, or of
      others that take no more of a slot, each from a multiple of 1024 bytes on
  }];
  code ringCopyRules = [{
    - `ring_copy_c1`: the buffer takes no more than a slot of the ring has
  }];
  code oneThreadRules = [{
    - `one_thread_c1`: no operation in it has a block as operand or result
    - `one_thread_c2`: no operation in it waits for other threads of the thread
      block
  }];
}

def Cta_ConvertLayoutOp : Cta_Op<"convert_layout", [Pure, SameOperandsAndResultShape,
    SameOperandsAndResultElementType]> {
  let summary = "move a block from one layout to another";
  let description = [{
    The elements are unchanged; their owners change. Lowered to the cheapest of
    register moves, warp shuffles, or an exchange through shared memory. In the
    last case `scratch` is the byte offset of the exchange buffer, set by the
    memory pass.

    Constraints:
    - `convert_layout_c1`: operand and result have a `#cta.layout`
    ```mlir
    #l0 = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]} : [128]>
    #l1 = #cta.layout<{register = [[64]], lane = [[1], [2], [4], [8], [16]], warp = [[32]]} : [128]>
    %b = cta.convert_layout %a : tensor<128xf32, #l0> -> tensor<128xf32, #l1>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "a block with a layout">:$src);
  let results = (outs
    Res<Tile_Block, "the same elements in another layout">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Cta_AnyInWarpOp : Cta_Op<"any_in_warp", [Pure]> {
  let summary = "whether any element is true that the lanes of a warp hold";
  let description = [{
    One answer for all lanes of a warp, and not the same one for all warps: what is done
    only where it is true must not make warps wait for each other.

    Constraints:
    - `any_in_warp_c1`: the operand has a `#cta.layout`
    ```mlir
    #l0 = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]} : [128]>
    %any = cta.any_in_warp %x : tensor<128xi1, #l0>
    ```
  }];
  let arguments = (ins
    Arg<TensorOf<[I1]>, "a block of truth values with a layout">:$src);
  let results = (outs
    Res<I1, "whether the warp holds a true one">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
  let hasVerifier = 1;
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
    wide values derived from it. Where warpgroup products, and they alone, read the
    result as their left operand, it is in registers of its own, written here by
    copies that neither optimiser nor assembler sees through: the product may
    overwrite them while the operand lives on.
    ```mlir
    #l0 = #cta.layout<{register = [[1]], lane = [[2], [4], [8], [16], [32]], warp = [[64]]} : [128]>
    %y = cta.pin %x : tensor<128xf16, #l0>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "a block with a layout">:$src);
  let results = (outs
    Res<Tile_Block, "the operand, unchanged">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
}

include "ir/CtaAsync.td"
include "ir/CtaRoles.td"

#endif // TILE_IR_CTADIALECT
