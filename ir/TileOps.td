//===- TileOps.td - operations of the tile dialect ------------------------===//
#ifndef TILE_IR_TILEOPS
#define TILE_IR_TILEOPS

include "ir/TileBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;
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
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Tile_NumProgramsOp : Tile_PureOp<"num_programs"> {
  let summary = "size of the launch grid along an axis";
  let description = [{
    ```mlir
    %n = tile.num_programs 0 : i32
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<2>]>:$axis);
  let results = (outs I32:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

//===----------------------------------------------------------------------===//
// Creation and shape
//===----------------------------------------------------------------------===//

def Tile_MakeRangeOp : Tile_PureOp<"make_range"> {
  let summary = "consecutive integers";
  let description = [{
    The block `[start, start + 1, ..., end - 1]`. The result is one-dimensional
    of `end - start` elements of i32.
    ```mlir
    %r = tile.make_range 0 to 128 : tensor<128xi32>
    ```
  }];
  let arguments = (ins I32Attr:$start, I32Attr:$end);
  let results = (outs RankedTensorOf<[I32]>:$result);
  let assemblyFormat = "$start `to` $end attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_PureOp<"splat"> {
  let summary = "a block whose elements are all one scalar";
  let description = [{
    ```mlir
    %b = tile.splat %x : f32 -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_Element:$src);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_UnsplatOp : Tile_PureOp<"unsplat"> {
  let summary = "the only element of a one-element block";
  let description = [{
    ```mlir
    %x = tile.unsplat %b : tensor<1x1xf32> -> f32
    ```
  }];
  let arguments = (ins Tile_Block:$src);
  let results = (outs Tile_Element:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_BroadcastOp : Tile_PureOp<"broadcast"> {
  let summary = "repeat along dimensions of size one";
  let description = [{
    The result has the rank of the operand; each dimension is either equal or
    grows from 1: `result[i] = src[i with 0 where src has size 1]`.
    ```mlir
    %b = tile.broadcast %a : tensor<64x1xf32> -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins Tile_Block:$src);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_PureOp<"expand_dims"> {
  let summary = "insert a dimension of size one";
  let description = [{
    Inserts a dimension of size 1 so that it becomes dimension `axis` of the
    result.
    ```mlir
    %b = tile.expand_dims %a {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    ```
  }];
  let arguments = (ins Tile_Block:$src, ConfinedAttr<I32Attr, [IntNonNegative]>:$axis);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_PureOp<"reshape"> {
  let summary = "same elements, another shape";
  let description = [{
    Row-major reinterpretation of the elements under a new shape with the same
    element count. With `allow_reorder` the order of elements is unspecified,
    which lets the compiler keep data where it is.
    ```mlir
    %b = tile.reshape %a : tensor<64x2xf32> -> tensor<128xf32>
    ```
  }];
  let arguments = (ins Tile_Block:$src, UnitAttr:$allow_reorder);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = "$src (`allow_reorder` $allow_reorder^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_TransOp : Tile_PureOp<"trans"> {
  let summary = "permute the dimensions";
  let description = [{
    Dimension `i` of the result is dimension `order[i]` of the operand.
    ```mlir
    %b = tile.trans %a [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins Tile_Block:$src, DenseI32ArrayAttr:$order);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = "$src $order attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_JoinOp : Tile_PureOp<"join", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "two blocks side by side in a new minor dimension of two";
  let description = [{
    `result[..., 0] = lhs[...]`, `result[..., 1] = rhs[...]`.
    ```mlir
    %c = tile.join %a, %b : tensor<64xf32> -> tensor<64x2xf32>
    ```
  }];
  let arguments = (ins Tile_Block:$lhs, Tile_Block:$rhs);
  let results = (outs Tile_Block:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SplitOp : Tile_PureOp<"split", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "the two halves of a minor dimension of two";
  let description = [{
    The inverse of `tile.join`: `lhs[...] = src[..., 0]`, `rhs[...] = src[..., 1]`.
    A one-dimensional `[2]` operand is reshaped by the front end first, so the
    results have rank one at least.
    ```mlir
    %a, %b = tile.split %c : tensor<64x2xf32> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_Block:$src);
  let results = (outs Tile_Block:$lhs, Tile_Block:$rhs);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($lhs)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Pointers and memory
//===----------------------------------------------------------------------===//

def Tile_AddPtrOp : Tile_ElementwiseOp<"addptr", [
    SameOperandsAndResultShape,
    TypesMatchWith<"result type matches the pointer", "ptr", "result", "$_self">]> {
  let summary = "advance a pointer by a number of elements";
  let description = [{
    `result = ptr + offset * sizeof(pointee)`. The offset is signed and may be
    of any integer width (the front end has zero-extended unsigned ones).
    ```mlir
    %q = tile.addptr %p, %o : tensor<128x!tile.ptr<f32>>, tensor<128xi32>
    ```
  }];
  let arguments = (ins Tile_Ptr:$ptr, Tile_Int:$offset);
  let results = (outs Tile_Ptr:$result);
  let assemblyFormat = "$ptr `,` $offset attr-dict `:` type($ptr) `,` type($offset)";
  let hasFolder = 1;
}

def Tile_PtrToIntOp : Tile_ElementwiseOp<"ptr_to_int", [SameOperandsAndResultShape]> {
  let summary = "the address as an i64";
  let description = [{
    ```mlir
    %a = tile.ptr_to_int %p : !tile.ptr<f32> -> i64
    ```
  }];
  let arguments = (ins Tile_Ptr:$src);
  let results = (outs Tile_Int:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tile_IntToPtrOp : Tile_ElementwiseOp<"int_to_ptr", [SameOperandsAndResultShape]> {
  let summary = "a pointer from an i64 address";
  let description = [{
    ```mlir
    %p = tile.int_to_ptr %a : i64 -> !tile.ptr<f32>
    ```
  }];
  let arguments = (ins Tile_Int:$src);
  let results = (outs Tile_Ptr:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tile_PtrCastOp : Tile_ElementwiseOp<"ptr_cast", [SameOperandsAndResultShape]> {
  let summary = "the same address with another pointee type";
  let description = [{
    ```mlir
    %q = tile.ptr_cast %p : !tile.ptr<i1> -> !tile.ptr<i8>
    ```
  }];
  let arguments = (ins Tile_Ptr:$src);
  let results = (outs Tile_Ptr:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasFolder = 1;
}

def Tile_LoadOp : Tile_Op<"load", [AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "read elements through pointers";
  let description = [{
    `result[i] = mask[i] ? *ptr[i] : other[i]`. A lane whose mask is false
    touches no memory. Without `other` such a lane yields zero (the language
    leaves it undefined; kernels in the wild rely on zero).

    The pointee is never i1: the front end reads bytes and compares with zero.

    `vector` is what the coalescing pass proved: the accesses fall into aligned
    groups of that many consecutive elements along the fastest dimension of
    the layout, each with one common mask value. It is 1 until then.
    ```mlir
    %v = tile.load %p, %m, other %o : tensor<128x!tile.ptr<f32>>
    %w = tile.load %p, %m cache = cg evict = evict_last {vector = 4 : i32} : tensor<128x!tile.ptr<f32>>
    %s = tile.load %q : !tile.ptr<f16>
    ```
  }];
  let arguments = (ins Tile_Ptr:$ptr, Optional<Tile_Bool>:$mask, Optional<Tile_Any>:$other,
    DefaultValuedAttr<Tile_CacheModifier, "::tile::CacheModifier::none">:$cache,
    DefaultValuedAttr<Tile_EvictionPolicy, "::tile::EvictionPolicy::normal">:$evict,
    DefaultValuedAttr<BoolAttr, "false">:$is_volatile,
    DefaultValuedAttr<I32Attr, "1">:$vector);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = [{
    $ptr (`,` $mask^)? (`,` `other` $other^)? (`cache` `=` $cache^)? (`evict` `=` $evict^)?
    attr-dict `:` custom<PointeeBlock>(ref($mask), ref($other), type($ptr), type($result), type($mask), type($other))
  }];
  let builders = [OpBuilder<(ins "mlir::Value":$ptr, "mlir::Value":$mask, "mlir::Value":$other,
      CArg<"::tile::CacheModifier", "::tile::CacheModifier::none">:$cache,
      CArg<"::tile::EvictionPolicy", "::tile::EvictionPolicy::normal">:$evict,
      CArg<"bool", "false">:$is_volatile)>];
  let hasVerifier = 1;
}

def Tile_StoreOp : Tile_Op<"store", [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "write elements through pointers";
  let description = [{
    `if mask[i]: *ptr[i] = value[i]`. Each element is written once, however
    many threads hold a copy of it. `vector` as in `tile.load`.
    ```mlir
    tile.store %p, %v, %m : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_Ptr:$ptr, Tile_Any:$value, Optional<Tile_Bool>:$mask,
    DefaultValuedAttr<Tile_CacheModifier, "::tile::CacheModifier::none">:$cache,
    DefaultValuedAttr<Tile_EvictionPolicy, "::tile::EvictionPolicy::normal">:$evict,
    DefaultValuedAttr<I32Attr, "1">:$vector);
  let assemblyFormat = [{
    $ptr `,` $value (`,` $mask^)? (`cache` `=` $cache^)? (`evict` `=` $evict^)?
    attr-dict `:` custom<PointeeStore>(ref($mask), type($ptr), type($value), type($mask))
  }];
  let hasVerifier = 1;
}

def Tile_AtomicRmwOp : Tile_Op<"atomic_rmw", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "atomic read-modify-write through pointers";
  let description = [{
    For each lane with a true mask: `result[i] = *ptr[i]; *ptr[i] = kind(*ptr[i], value[i])`,
    atomically in `scope` with ordering `sem`. Masked-off results are zero.
    ```mlir
    %old = tile.atomic_rmw fadd acq_rel gpu %p, %v, %m : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins Tile_AtomicKind:$kind, Tile_MemSemantic:$sem, Tile_MemScope:$scope,
    Tile_Ptr:$ptr, Tile_Any:$value, Optional<Tile_Bool>:$mask);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = [{
    $kind $sem $scope $ptr `,` $value (`,` $mask^)? attr-dict `:`
    custom<PointeeAtomic>(ref($mask), type($ptr), type($value), type($mask), type($result))
  }];
  let hasVerifier = 1;
}

def Tile_AtomicCasOp : Tile_Op<"atomic_cas", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "atomic compare and swap through pointers";
  let description = [{
    `result[i] = *ptr[i]; if (result[i] == cmp[i]) *ptr[i] = value[i]`, bitwise, atomically.
    ```mlir
    %old = tile.atomic_cas acq_rel gpu %p, %c, %v : !tile.ptr<i32>
    ```
  }];
  let arguments = (ins Tile_MemSemantic:$sem, Tile_MemScope:$scope,
    Tile_Ptr:$ptr, Tile_Any:$cmp, Tile_Any:$value);
  let results = (outs Tile_Any:$result);
  let assemblyFormat = [{
    $sem $scope $ptr `,` $cmp `,` $value attr-dict `:`
    custom<PointeeCas>(type($ptr), type($cmp), type($value), type($result))
  }];
  let hasVerifier = 1;
}

def Tile_BarrierOp : Tile_Op<"barrier", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "wait for all threads of the program";
  let description = [{
    `tl.debug_barrier`: orders the memory accesses of the program's threads.
    ```mlir
    tile.barrier
    ```
  }];
  let assemblyFormat = "attr-dict";
}

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
    scalars.
    ```mlir
    %s = tile.reduce %x {axis = 1 : i32} : tensor<4x64xf32> -> tensor<4xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Block>:$srcs, ConfinedAttr<I32Attr, [IntNonNegative]>:$axis);
  let results = (outs Variadic<Tile_Any>:$results);
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
    ```mlir
    %s = tile.scan %x {axis = 0 : i32, reverse = false} : tensor<64xf32> -> tensor<64xf32> {
    ^bb0(%a: f32, %b: f32):
      %c = arith.addf %a, %b : f32
      tile.yield %c : f32
    }
    ```
  }];
  let arguments = (ins Variadic<Tile_Block>:$srcs, ConfinedAttr<I32Attr, [IntNonNegative]>:$axis,
                       BoolAttr:$reverse);
  let results = (outs Variadic<Tile_Block>:$results);
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
  let arguments = (ins Variadic<Tile_Element>:$values);
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
    ```mlir
    %d = tile.dot %a, %b, %c : tensor<64x32xf16> * tensor<32x128xf16> -> tensor<64x128xf32>
    %e = tile.dot %x, %y, %c precision = tf32 : tensor<64x32xf32> * tensor<32x128xf32> -> tensor<64x128xf32>
    ```
  }];
  let arguments = (ins Tile_Block:$a, Tile_Block:$b, Tile_Block:$acc,
    DefaultValuedAttr<Tile_InputPrecision, "::tile::InputPrecision::ieee">:$input_precision,
    DefaultValuedAttr<ConfinedAttr<I32Attr, [IntNonNegative]>, "0">:$max_num_imprecise_acc);
  let results = (outs Tile_Block:$result);
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
  let arguments = (ins Tile_Float:$src,
    DefaultValuedAttr<Tile_Rounding, "::tile::Rounding::rtne">:$rounding);
  let results = (outs Tile_Float:$result);
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
  let arguments = (ins Tile_Int:$lhs, Tile_Int:$rhs);
  let results = (outs Tile_Int:$result);
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
  let arguments = (ins Tile_Float:$lhs, Tile_Float:$rhs);
  let results = (outs Tile_Float:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def Tile_SqrtRnOp : Tile_ElementwiseOp<"sqrt_rn", [SameOperandsAndResultType]> {
  let summary = "IEEE square root, rounded to nearest";
  let description = [{
    ```mlir
    %r = tile.sqrt_rn %a : tensor<64xf32>
    ```
  }];
  let arguments = (ins Tile_Float:$src);
  let results = (outs Tile_Float:$result);
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
  let arguments = (ins Tile_Float:$x, Tile_Float:$low, Tile_Float:$high, UnitAttr:$propagate_nan);
  let results = (outs Tile_Float:$result);
  let assemblyFormat = "$x `,` $low `,` $high (`propagate_nan` $propagate_nan^)? attr-dict `:` type($result)";
}

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
  let arguments = (ins Tile_Any:$src, OptionalAttr<DenseI64ArrayAttr>:$divisibility,
    OptionalAttr<DenseI64ArrayAttr>:$contiguity, OptionalAttr<DenseI64ArrayAttr>:$constancy);
  let results = (outs Tile_Any:$result);
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
  let arguments = (ins Tile_Bool:$condition, StrAttr:$message);
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
  let arguments = (ins StrAttr:$prefix, Variadic<Tile_Any>:$operands_,
    DefaultValuedAttr<BoolAttr, "false">:$hex, DenseBoolArrayAttr:$is_signed);
  let assemblyFormat = "$prefix ($operands_^)? attr-dict (`:` type($operands_)^)?";
}

include "ir/TileDescriptorOps.td"
include "ir/TileElementOps.td"

#endif // TILE_IR_TILEOPS
