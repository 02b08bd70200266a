//===- TileDebugOps.td - what authors say, and want to see ----------------===//
#ifndef TILE_IR_TILEDEBUGOPS
#define TILE_IR_TILEDEBUGOPS

//===----------------------------------------------------------------------===//
// Hints and debugging
//===----------------------------------------------------------------------===//

def Tile_HintOp : Tile_PureOp<"hint", [AllTypesMatch<["src", "result"]>]> {
  let summary = "what the author promises about a value";
  let description = [{
    Passes `src` through and records, per dimension, that its elements come in
    aligned groups: `divisibility` (the first of each contiguous run is a
    multiple of it), `contiguity` (runs of consecutive integers) or `constancy`
    (runs of equal values). A scalar has one entry. The layout pass consumes
    and removes hints.
    ```mlir
    %y = tile.hint %x {divisibility = array<i64: 16>} : tensor<64xi32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Any, "what the promise is about">:$src,
    Arg<OptionalAttr<DenseI64ArrayAttr>,
        "for each dimension: the first element of every run is a multiple of this">:$divisibility,
    Arg<OptionalAttr<DenseI64ArrayAttr>,
        "for each dimension: elements in an aligned run of consecutive integers">:$contiguity,
    Arg<OptionalAttr<DenseI64ArrayAttr>,
        "for each dimension: elements in an aligned run of equal values">:$constancy);
  let results = (outs
    Res<Tile_Any, "the operand, unchanged">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src)";
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "stop the program where a condition is false";
  let description = [{
    Emitted in debug mode only. Traps after printing `message` with the source
    location.
    ```mlir
    tile.assert %ok, "n must be positive" : tensor<64xi1>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Bool, "what must be true, in every element">:$condition,
    Arg<StrAttr, "what to print where it is false">:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "print values from the running kernel";
  let description = [{
    A scalar is one line, `pid (x, y, z) prefix: value`. A block is one line for
    each row (for up to 16 elements of it): `pid (x, y, z) prefix[i, 0:16]: values`;
    of more than 1024 elements the first 1024 are printed.
    `is_signed` has one entry an operand.
    ```mlir
    tile.print "x" %v {hex = false, is_signed = array<i1: true>} : tensor<64xi32>
    ```
  }];
  let arguments = (ins
    Arg<StrAttr, "the text before each value">:$prefix,
    Arg<Variadic<Tile_Any>, "what is printed, each with lines of its own">:$operands_,
    Arg<DefaultValuedAttr<BoolAttr, "false">,
        "true: bits in hexadecimal digits in place of numbers">:$hex,
    Arg<DenseBoolArrayAttr, "for each operand: its integers have a sign">:$is_signed);
  let assemblyFormat = "$prefix ($operands_^)? attr-dict (`:` type($operands_)^)?";
}

#endif // TILE_IR_TILEDEBUGOPS
