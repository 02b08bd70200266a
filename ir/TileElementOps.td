//===- TileElementOps.td - reordering, counting and foreign code -----------===//
#ifndef TILE_IR_TILEELEMENTOPS
#define TILE_IR_TILEELEMENTOPS

//===----------------------------------------------------------------------===//
// Elements at computed places
//===----------------------------------------------------------------------===//

def Tile_GatherOp : Tile_PureOp<"gather"> {
  let summary = "pick elements along an axis by index";
  let description = [{
    `result[.., k, ..] = src[.., index[.., k, ..], ..]` with the indexed
    position on dimension `axis`. Operand and indices agree in all other
    dimensions. An index outside of the dimension gives an unspecified element.

    Constraints:
    - `gather_c1`: operand and indices have one rank, above `axis`
    - `gather_c2`: they agree in all dimensions but `axis`
    - `gather_c3`: the result has the indices' shape and the operand's elements
    ```mlir
    %y = tile.gather %x[%i] {axis = 0 : i32} : tensor<64xf32>, tensor<128xi32> -> tensor<128xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "the elements to pick from">:$src,
    Arg<RankedTensorOf<[I8, I16, I32, I64]>,
        "for each element of the result its position along `axis`">:$index,
    Arg<ConfinedAttr<I32Attr, [IntNonNegative]>,
        "the dimension that is indexed, counted from 0">:$axis);
  let results = (outs
    Res<Tile_Block, "the elements picked, in the shape of the indices">:$result);
  let assemblyFormat = "$src `[` $index `]` attr-dict `:` type($src) `,` type($index) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_HistogramOp : Tile_PureOp<"histogram"> {
  let summary = "count how often each value occurs";
  let description = [{
    `result[b]` is the number of elements of the one-dimensional `src` that are
    equal to `b`, as unsigned numbers, and have a true mask. Values beyond the
    last bin are not counted.

    Constraints:
    - `histogram_c1`: operand and result have one dimension
    ```mlir
    %h = tile.histogram %x, %m : tensor<256xi32> -> tensor<16xi32>
    ```
  }];
  let arguments = (ins
    Arg<RankedTensorOf<[I8, I16, I32, I64]>, "the values to count, in one dimension">:$src,
    Arg<Optional<RankedTensorOf<[I1]>>, "which of them count; absent: all">:$mask);
  let results = (outs
    Res<RankedTensorOf<[I32]>, "the counts, one for each value from 0 on">:$result);
  let assemblyFormat = [{
    $src (`,` $mask^)? attr-dict `:` custom<HistogramTypes>(ref($mask), type($src), type($mask), type($result))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// A function of scalars on every element
//===----------------------------------------------------------------------===//

def Tile_MapElementwiseOp : Tile_Op<"map_elementwise", [SingleBlock, RecursiveMemoryEffects]> {
  let summary = "run a scalar function on every element";
  let description = [{
    The block of the region takes `pack` elements of each operand (all of the
    first operand's, then all of the second's) and yields `pack` elements of
    each result. Which elements are handed over together is unspecified. Control
    flow inside is the element's own.

    Constraints:
    }] # shapeRules # [{
    - `map_elementwise_c1`: there are operands and results
    - `map_elementwise_c2`: the region takes `pack` elements of each operand
    - `map_elementwise_c3`: the region ends in a `tile.yield` of `pack` elements
      of each result
    ```mlir
    %y = tile.map_elementwise %x {pack = 1 : i32} : tensor<64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32):
      %b = arith.negf %a : f32
      tile.yield %b : f32
    }
    ```
  }];
  let arguments = (ins
    Arg<Variadic<Tile_Any>, "blocks of one shape, or scalars; one at least">:$srcs,
    Arg<ConfinedAttr<I32Attr, [IntPositive]>,
        "how many elements of each operand one run of the region takes">:$pack);
  let results = (outs
    Res<Variadic<Tile_Any>, "blocks of the operands' shape, or scalars; one at least">:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$srcs attr-dict `:` type($srcs) `->` type($results) $body";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Foreign code
//===----------------------------------------------------------------------===//

def Tile_InlineAsmOp : Tile_Op<"inline_asm",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "PTX text on every element";
  let description = [{
    Runs `text` on the elements, `pack` at a time. Operands narrower than 32
    bits are packed into 32-bit registers, as many as fit, the first in the low
    bits; `$0` ... name first the registers of the results, then those of the
    operands. `constraints` is a list in LLVM's letters. Without `pure` the text
    is run once for every group, wherever it stands.

    Constraints:
    }] # shapeRules # [{
    ```mlir
    %y = tile.inline_asm "shl.b32 $0, $1, 3;", "=r,r" (%x) {pack = 1 : i32, pure} : (tensor<64xi32>) -> tensor<64xi32>
    ```
  }];
  let arguments = (ins
    Arg<StrAttr, "PTX with `$0`, `$1`, ... for registers">:$text,
    Arg<StrAttr,
        "LLVM's constraint letters: results, then operands, separated by commas">:$constraints,
    Arg<Variadic<Tile_Any>, "blocks of one shape, or scalars">:$srcs,
    Arg<ConfinedAttr<I32Attr, [IntPositive]>,
        "how many elements of each operand one run of the text takes">:$pack,
    Arg<UnitAttr, "present: the text does nothing but compute its results">:$pure);
  let results = (outs
    Res<Variadic<Tile_Any>, "blocks of the operands' shape, or scalars">:$results);
  let assemblyFormat = [{
    $text `,` $constraints `(` $srcs `)` attr-dict `:`
    functional-type($srcs, $results)
  }];
  let hasVerifier = 1;
}

def Tile_ExternElementwiseOp : Tile_Op<"extern_elementwise",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a function of another library on every element";
  let description = [{
    Calls `symbol` of the bitcode file `library` (empty: the device library of
    the compiler) on each element. Scalars are passed as they are.

    Constraints:
    - `extern_elementwise_c1`: the blocks among the operands have one shape, the
      result's; it is a scalar if there are none
    ```mlir
    %y = tile.extern_elementwise "fast_norm" from "norms.bc" (%x) {pure} : (tensor<64xf32>) -> tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<StrAttr, "the function's name in the library">:$symbol,
    Arg<StrAttr, "the path of a bitcode file; empty: the compiler's own library">:$library,
    Arg<Variadic<Tile_Any>,
        "blocks of one shape, scalars, or both: scalars go to every call">:$srcs,
    Arg<UnitAttr, "present: the function does nothing but compute its result">:$pure);
  let results = (outs
    Res<Tile_Any, "a block of the operands' shape, or a scalar if they all are">:$result);
  let assemblyFormat = [{
    $symbol `from` $library `(` $srcs `)` attr-dict `:`
    functional-type($srcs, $result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Promises
//===----------------------------------------------------------------------===//

def Tile_AssumeOp : Tile_Op<"assume", [MemoryEffects<[MemWrite]>]> {
  let summary = "the author promises that a condition holds";
  let description = [{
    What follows from the condition may be used to simplify; if it does not
    hold, anything may happen. The checking interpreter reports it.
    ```mlir
    tile.assume %c
    ```
  }];
  let arguments = (ins
    Arg<I1, "what holds whenever the op is reached; the same for all threads">:$condition);
  let assemblyFormat = "$condition attr-dict";
}

#endif // TILE_IR_TILEELEMENTOPS
