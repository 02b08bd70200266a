//===- TileOps.td - operations of the tile dialect ------------------------===//
#ifndef TILE_IR_TILEOPS
#define TILE_IR_TILEOPS

include "ir/TileBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits> {
  /// Constraints that several operations have in common.
  code accessRules = [{
    - `access_c1`: the pointee is not i1
    - `access_c2`: the value has the pointers' shape and the pointee as element
      type
    - `access_c3`: the mask has the pointers' shape
  }];
  code combineRules = [{
    - `combine_c1`: there are as many results as operands, one at least
    - `combine_c2`: `axis` is a dimension of the operands
    - `combine_c3`: the combiner takes the operands' element types, twice
    - `combine_c4`: the combiner ends in a `tile.yield` of the operands' element
      types
  }];
  code shapeRules = [{
    - `elementwise_c1`: operands and results are blocks of one shape, or all
      scalars
  }];
}
class Tile_PureOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat([Pure], traits)>;
class Tile_ElementwiseOp<string mnemonic, list<Trait> traits = []>
    : Tile_PureOp<mnemonic, !listconcat([Elementwise], traits)>;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

def Tile_ProgramIdOp : Tile_PureOp<"program_id"> {
  let summary = "index of this program along a grid axis";
  let description = [{
    The position of the running program in the launch grid along `axis` (0, 1
    or 2), from 0 to `num_programs - 1`.
    ```mlir
    %pid = tile.program_id 0 : i32
    ```
  }];
  let arguments = (ins
    Arg<ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>,
        "the axis of the launch grid: 0 is x, 1 is y, 2 is z">:$axis);
  let results = (outs
    Res<I32, "the program's position along it, in programs; the same for all threads">:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Tile_NumProgramsOp : Tile_PureOp<"num_programs"> {
  let summary = "size of the launch grid along an axis";
  let description = [{
    The number of programs that the launch has along `axis` (0, 1 or 2).
    ```mlir
    %n = tile.num_programs 0 : i32
    ```
  }];
  let arguments = (ins
    Arg<ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>,
        "the axis of the launch grid: 0 is x, 1 is y, 2 is z">:$axis);
  let results = (outs
    Res<I32, "the number of programs along it, at least 1; the same for all threads">:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

include "ir/TileShapeOps.td"
include "ir/TileMemoryOps.td"

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

class Tile_CombineOp<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic,
    !listconcat([SameOperandsShape, SingleBlock, RecursiveMemoryEffects], traits)> {
  let regions = (region SizedRegion<1>:$combine);
  let extraClassDeclaration = [{
    unsigned getNumInputs() { return getSrcs().size(); }
    mlir::RankedTensorType getInputType() {
      return mlir::cast<mlir::RankedTensorType>(getSrcs().front().getType());
    }
    mlir::Block &getCombineBlock() { return getCombine().front(); }
  }];
}

def Tile_ReduceOp : Tile_CombineOp<"reduce"> {
  let summary = "combine all elements along one axis";
  let description = [{
    Folds the elements along `axis` with an associative combiner. The combiner
    block takes `2n` scalars (the n left values, then the n right ones) and
    ends in `tile.yield` of n scalars; neighbours are combined, the lower position on
    the left, in an order of the compiler's.
    The results have the axis removed; reducing a one-dimensional block gives
    scalars. In the cta dialect they live where the operand does without the axis or,
    if warps share the axis, anywhere.

    Constraints:
    }] # combineRules # [{
    - `reduce_c1`: a result is its operand's type without `axis`
    ```mlir
    %s = tile.reduce %x {axis = 1 : i32} : tensor<4x64xf32> -> tensor<4xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    ```
  }];
  let arguments = (ins
    Arg<Variadic<Tile_Block>, "blocks of one shape, one at least, reduced together">:$srcs,
    Arg<ConfinedAttr<I32Attr, [IntNonNegative]>,
        "the dimension that goes away, counted from 0">:$axis);
  let results = (outs
    Res<Variadic<Tile_Any>,
        "for each operand its combined elements; scalars if no dimension is left">:$results);
  let assemblyFormat = "$srcs attr-dict `:` type($srcs) `->` type($results) $combine";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_ScanOp : Tile_CombineOp<"scan"> {
  let summary = "running combination along one axis";
  let description = [{
    Inclusive prefix combination along `axis`, from the first element, or from
    the last with `reverse`. The combiner is as in `tile.reduce` and sees the
    accumulated value first.

    Constraints:
    }] # combineRules # [{
    - `scan_c1`: a result is of its operand's type
    ```mlir
    %s = tile.scan %x {axis = 0 : i32, reverse = false} : tensor<64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    ```
  }];
  let arguments = (ins
    Arg<Variadic<Tile_Block>, "blocks of one shape, one at least, scanned together">:$srcs,
    Arg<ConfinedAttr<I32Attr, [IntNonNegative]>,
        "the dimension to go along, counted from 0">:$axis,
    Arg<BoolAttr, "true: from the last element to the first">:$reverse);
  let results = (outs
    Res<Variadic<Tile_Block>,
        "for each operand the combined elements so far, its own included">:$results);
  let assemblyFormat = "$srcs attr-dict `:` type($srcs) `->` type($results) $combine";
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Tile_YieldOp : Tile_PureOp<"yield", [Terminator, ReturnLike,
    ParentOneOf<["ReduceOp", "ScanOp", "MapElementwiseOp"]>]> {
  let summary = "the values that a combiner or an elementwise function gives";
  let description = [{
    ```mlir
    %m = tile.reduce %x {axis = 0 : i32} : tensor<64xi32> -> i32 {
    ^bb0(%a: i32, %b: i32):
      %c = arith.maxsi %a, %b : i32
      tile.yield %c : i32
    }
    ```
  }];
  let arguments = (ins
    Arg<Variadic<Tile_Element>,
        "one scalar for each result of the region's op (`pack` for "
        "`tile.map_elementwise`)">:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def Tile_DotOp : Tile_PureOp<"dot", [AllTypesMatch<["acc", "result"]>]> {
  let summary = "matrix product added to an accumulator";
  let description = [{
    `result[..., m, n] = acc[..., m, n] + sum over k of a[..., m, k] * b[..., k, n]`.
    Operands have rank two, or three with an equal leading batch dimension.

    | operands | accumulator |
    |---|---|
    | i8 and i8 (signed) | i32 |
    | f16 and f16 | f16, f32 |
    | bf16 and bf16 | f32 |
    | f32 and f32 | f32 |
    | f64 and f64 | f64 |
    | f8E4M3FN or f8E5M2, any two | f16, f32 |

    Products are exact in the accumulator's type or a wider one; the order of
    summation is unspecified, and integers wrap. `input_precision` says how f32
    operands are read: exactly (`ieee`), cut to the 10 fraction bits of tf32
    (`tf32`), or as a sum of two or three narrower parts whose largest 3 or 6
    products are added (`tf32x3`, `bf16x3`, `bf16x6`). It is `ieee` for all
    other types.

    `max_num_imprecise_acc` bounds how many 8-bit products may be added in the
    matrix unit's own precision before an addition in f32; 0: no bound.

    Constraints:
    - `dot_c1`: operands and accumulator all have rank two, or all rank three
    - `dot_c2`: the columns of `a` are as many as the rows of `b`
    - `dot_c3`: the accumulator has the rows of `a`, the columns of `b` and the
      batch of both
    - `dot_c4`: the element types are a row of the table
    - `dot_c5`: `input_precision` is `ieee` unless the operands are f32
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<64x32xf16> * tensor<32x128xf16> -> tensor<64x128xf32>
    %e = tile.dot %x, %y, %c precision = tf32 : tensor<64x32xf32> * tensor<32x128xf32> -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "the left operand, M x K, or B x M x K">:$a,
    Arg<Tile_Block, "the right operand, K x N, or B x K x N">:$b,
    Arg<Tile_Block, "what the product is added to, M x N, or B x M x N">:$acc,
    Arg<DefaultValuedAttr<Tile_InputPrecision, "::tile::InputPrecision::ieee">,
        "how f32 operands are read">:$input_precision,
    Arg<DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">,
        "most products of 8-bit floats summed before an addition in f32; 0: any "
        "number">:$max_num_imprecise_acc);
  let results = (outs
    Res<Tile_Block, "the sum, of the accumulator's type">:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $acc (`precision` `=` $input_precision^)? attr-dict `:`
    type($a) `*` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Elementwise operations MLIR has no equivalent for
//===----------------------------------------------------------------------===//

def Tile_FpCastOp : Tile_ElementwiseOp<"fp_cast", [SameOperandsAndResultShape]> {
  let summary = "float to float conversion with defined rounding";
  let description = [{
    Converts between float types of different width where `arith.extf` and
    `arith.truncf` do not say enough: to and from the 8-bit formats, and
    narrowing with `rtz`. Narrowing to an 8-bit format saturates: overflow and
    infinity give the largest finite value, NaN stays NaN.
    ```mlir
    %y = tile.fp_cast %x rtne : tensor<64xf32> -> tensor<64xf8E4M3FN>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Float, "floats of any format">:$src,
    Arg<DefaultValuedAttr<Tile_Rounding, "::tile::Rounding::rtne">,
        "how a value between two neighbours is rounded">:$rounding);
  let results = (outs
    Res<Tile_Float, "the same numbers in another format, of the same shape">:$result);
  let assemblyFormat = "$src $rounding attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def Tile_UMulHiOp : Tile_ElementwiseOp<"umulhi", [SameOperandsAndResultType]> {
  let summary = "high half of the unsigned product";
  let description = [{
    ```mlir
    %h = tile.umulhi %a, %b : tensor<64xi32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Int, "the left factor, unsigned">:$lhs,
    Arg<Tile_Int, "the right factor, unsigned">:$rhs);
  let results = (outs
    Res<Tile_Int, "the upper half of the product's bits, as wide as a factor">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Tile_DivRnOp : Tile_ElementwiseOp<"div_rn", [SameOperandsAndResultType]> {
  let summary = "IEEE division, rounded to nearest";
  let description = [{
    Exactly rounded, where `arith.divf` on f32 may be off by 2 ulp.
    ```mlir
    %q = tile.div_rn %a, %b : tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Float, "the dividend">:$lhs,
    Arg<Tile_Float, "the divisor">:$rhs);
  let results = (outs
    Res<Tile_Float, "the exact quotient, rounded once to nearest even">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Tile_SqrtRnOp : Tile_ElementwiseOp<"sqrt_rn", [SameOperandsAndResultType]> {
  let summary = "IEEE square root, rounded to nearest";
  let description = [{
    ```mlir
    %r = tile.sqrt_rn %a : tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Float, "the radicand; below zero gives NaN">:$src);
  let results = (outs
    Res<Tile_Float, "the exact root, rounded once to nearest even">:$result);
  let assemblyFormat = "$src attr-dict `:` type($result)";
}

def Tile_ClampOp : Tile_ElementwiseOp<"clamp", [SameOperandsAndResultType]> {
  let summary = "limit a float to a range";
  let description = [{
    `min(max(x, low), high)`. NaN in `x` gives `low`, or NaN with
    `propagate_nan`.
    ```mlir
    %y = tile.clamp %x, %lo, %hi : tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Float, "the numbers to limit">:$x,
    Arg<Tile_Float, "the least result">:$low,
    Arg<Tile_Float, "the greatest result">:$high,
    Arg<UnitAttr, "present: NaN in `x` gives NaN">:$propagate_nan);
  let results = (outs
    Res<Tile_Float, "`x` where it is in the range, else the end that is nearer">:$result);
  let assemblyFormat = "$x `,` $low `,` $high (`propagate_nan` $propagate_nan^)? attr-dict `:` type($result)";
}

include "ir/TileDebugOps.td"
include "ir/TileDescriptorOps.td"
include "ir/TileElementOps.td"

#endif // TILE_IR_TILEOPS
