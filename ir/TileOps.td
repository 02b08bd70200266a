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

//===----------------------------------------------------------------------===//
// Creation and shape
//===----------------------------------------------------------------------===//

def Tile_MakeRangeOp : Tile_PureOp<"make_range"> {
  let summary = "consecutive integers";
  let description = [{
    The block `[start, start + 1, ..., end - 1]`. The result is one-dimensional
    of `end - start` elements of i32.

    Constraints:
    - `make_range_c1`: the result has one dimension, of `end - start` elements
    ```mlir
    %r = tile.make_range 0 to 128 : tensor<128xi32>
    ```
  }];
  let arguments = (ins
    Arg<I32Attr, "the first element, signed">:$start,
    Arg<I32Attr, "one past the last element, signed">:$end);
  let results = (outs
    Res<RankedTensorOf<[I32]>, "the block of `end - start` consecutive numbers">:$result);
  let assemblyFormat = "$start `to` $end attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Tile_SplatOp : Tile_PureOp<"splat"> {
  let summary = "a block whose elements are all one scalar";
  let description = [{
    Constraints:
    - `splat_c1`: the block's elements are of the scalar's type
    ```mlir
    %b = tile.splat %x : f32 -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Element, "the scalar that every element becomes">:$src);
  let results = (outs
    Res<Tile_Block, "a block of any shape with the scalar's type as elements">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_UnsplatOp : Tile_PureOp<"unsplat"> {
  let summary = "the only element of a one-element block";
  let description = [{
    Constraints:
    - `unsplat_c1`: the block has one element
    - `unsplat_c2`: the scalar is of its type
    ```mlir
    %x = tile.unsplat %b : tensor<1x1xf32> -> f32
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "a block of one element, of any rank">:$src);
  let results = (outs
    Res<Tile_Element, "its element">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_BroadcastOp : Tile_PureOp<"broadcast"> {
  let summary = "repeat along dimensions of size one";
  let description = [{
    The result has the rank of the operand; each dimension is either equal or
    grows from 1: `result[i] = src[i with 0 where src has size 1]`.

    Constraints:
    - `broadcast_c1`: operand and result have one rank
    - `broadcast_c2`: a dimension that grows has size 1
    - `broadcast_c3`: elements keep their type
    ```mlir
    %b = tile.broadcast %a : tensor<64x1xf32> -> tensor<64x32xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "the block to repeat; dimensions that grow have size 1">:$src);
  let results = (outs
    Res<Tile_Block, "a block of the same rank and elements">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ExpandDimsOp : Tile_PureOp<"expand_dims"> {
  let summary = "insert a dimension of size one";
  let description = [{
    Inserts a dimension of size 1 so that it becomes dimension `axis` of the
    result.

    Constraints:
    - `expand_dims_c1`: `axis` is at most the operand's rank
    - `expand_dims_c2`: the result is the operand's type with a 1 inserted at
      `axis`
    ```mlir
    %b = tile.expand_dims %a {axis = 1 : i32} : tensor<64xf32> -> tensor<64x1xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "a block of any shape">:$src,
    Arg<ConfinedAttr<I32Attr, [IntNonNegative]>,
        "the dimension of the result that is new, counted from 0; at most the operand's "
        "rank">:$axis);
  let results = (outs
    Res<Tile_Block, "the same elements with one more dimension, of size 1">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_ReshapeOp : Tile_PureOp<"reshape"> {
  let summary = "same elements, another shape";
  let description = [{
    Row-major reinterpretation of the elements under a new shape with the same
    element count. With `allow_reorder` the order of elements is unspecified,
    which lets the compiler keep data where it is.

    Constraints:
    - `reshape_c1`: operand and result have as many elements
    - `reshape_c2`: elements keep their type
    ```mlir
    %b = tile.reshape %a : tensor<64x2xf32> -> tensor<128xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "the elements, in row-major order">:$src,
    Arg<UnitAttr, "present: elements may come in any order, each of them once">:$allow_reorder);
  let results = (outs
    Res<Tile_Block, "as many elements of the same type, in another shape">:$result);
  let assemblyFormat = "$src (`allow_reorder` $allow_reorder^)? attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_TransOp : Tile_PureOp<"trans"> {
  let summary = "permute the dimensions";
  let description = [{
    Dimension `i` of the result is dimension `order[i]` of the operand.

    Constraints:
    - `trans_c1`: `order` has an entry for each dimension
    - `trans_c2`: `order` names each dimension once
    - `trans_c3`: the result is the operand's type with its dimensions in that
      order
    ```mlir
    %b = tile.trans %a [1, 0] : tensor<64x32xf32> -> tensor<32x64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "a block of any rank">:$src,
    Arg<DenseI32ArrayAttr,
        "for each dimension of the result, the dimension of the operand that it is">:$order);
  let results = (outs
    Res<Tile_Block, "the same elements with permuted dimensions">:$result);
  let assemblyFormat = "$src $order attr-dict `:` type($src) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_JoinOp : Tile_PureOp<"join", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "two blocks side by side in a new minor dimension of two";
  let description = [{
    `result[..., 0] = lhs[...]`, `result[..., 1] = rhs[...]`.

    Constraints:
    - `join_c1`: the result is the operands' type with a last dimension of 2
      added
    ```mlir
    %c = tile.join %a, %b : tensor<64xf32> -> tensor<64x2xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "what has index 0 in the new last dimension">:$lhs,
    Arg<Tile_Block, "what has index 1 there">:$rhs);
  let results = (outs
    Res<Tile_Block, "a block with one more dimension, the last, of size 2">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_SplitOp : Tile_PureOp<"split", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "the two halves of a minor dimension of two";
  let description = [{
    The inverse of `tile.join`: `lhs[...] = src[..., 0]`, `rhs[...] = src[..., 1]`.
    A one-dimensional `[2]` operand is reshaped by the front end first, so the
    results have rank one at least.

    Constraints:
    - `split_c1`: the operand has rank two or more and a last dimension of 2
    - `split_c2`: the results are the operand's type without it
    ```mlir
    %a, %b = tile.split %c : tensor<64x2xf32> -> tensor<64xf32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Block, "a block of rank two or more whose last dimension has size 2">:$src);
  let results = (outs
    Res<Tile_Block, "its elements with index 0 in the last dimension, which is gone">:$lhs,
    Res<Tile_Block, "its elements with index 1 there">:$rhs);
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
  let arguments = (ins
    Arg<Tile_Ptr, "where to start from">:$ptr,
    Arg<Tile_Int, "how far, in elements of the pointee; signed, of any width">:$offset);
  let results = (outs
    Res<Tile_Ptr, "pointers of the operand's type">:$result);
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
  let arguments = (ins
    Arg<Tile_Ptr, "pointers into global memory">:$src);
  let results = (outs
    Res<Tile_Int, "their addresses in bytes, of the same shape">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tile_IntToPtrOp : Tile_ElementwiseOp<"int_to_ptr", [SameOperandsAndResultShape]> {
  let summary = "a pointer from an i64 address";
  let description = [{
    ```mlir
    %p = tile.int_to_ptr %a : i64 -> !tile.ptr<f32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Int, "addresses in bytes of global memory">:$src);
  let results = (outs
    Res<Tile_Ptr, "pointers to any pointee, of the same shape">:$result);
  let assemblyFormat = "$src attr-dict `:` type($src) `->` type($result)";
}

def Tile_PtrCastOp : Tile_ElementwiseOp<"ptr_cast", [SameOperandsAndResultShape]> {
  let summary = "the same address with another pointee type";
  let description = [{
    ```mlir
    %q = tile.ptr_cast %p : !tile.ptr<i1> -> !tile.ptr<i8>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Ptr, "pointers to any type">:$src);
  let results = (outs
    Res<Tile_Ptr, "the same addresses as pointers to another type">:$result);
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

    Constraints:
    }] # accessRules # [{
    - `load_c1`: `other` comes with a mask
    - `load_c2`: `other` is of the result's type
    ```mlir
    %v = tile.load %p, %m, other %o : tensor<128x!tile.ptr<f32>>
    %w = tile.load %p, %m cache = cg evict = evict_last {vector = 4 : i32} : tensor<128x!tile.ptr<f32>>
    %s = tile.load %q : !tile.ptr<f16>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Ptr, "where each element is read, aligned to its size">:$ptr,
    Arg<Optional<Tile_Bool>, "where it is false nothing is read; absent: true everywhere">:$mask,
    Arg<Optional<Tile_Any>, "what elements with a false mask become; absent: zero">:$other,
    Arg<DefaultValuedAttr<Tile_CacheModifier, "::tile::CacheModifier::none">,
        "in which caches the data is looked for and kept">:$cache,
    Arg<DefaultValuedAttr<Tile_EvictionPolicy, "::tile::EvictionPolicy::normal">,
        "how soon the lines read may be evicted from the L2 cache">:$evict,
    Arg<DefaultValuedAttr<BoolAttr, "false">,
        "true: the read happens, exactly once, where it stands">:$is_volatile,
    Arg<DefaultValuedAttr<I32Attr, "1">,
        "elements in each aligned group that is read at once, a power of two">:$vector);
  let results = (outs
    Res<Tile_Any, "what was read, of the pointee type and the pointers' shape">:$result);
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

    Constraints:
    }] # accessRules # [{
    ```mlir
    tile.store %p, %v, %m : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins
    Arg<Tile_Ptr, "where each element is written, aligned to its size">:$ptr,
    Arg<Tile_Any, "what is written, of the pointee type and the pointers' shape">:$value,
    Arg<Optional<Tile_Bool>,
        "where it is false nothing is written; absent: true everywhere">:$mask,
    Arg<DefaultValuedAttr<Tile_CacheModifier, "::tile::CacheModifier::none">,
        "in which caches the data is kept">:$cache,
    Arg<DefaultValuedAttr<Tile_EvictionPolicy, "::tile::EvictionPolicy::normal">,
        "how soon the lines written may be evicted from the L2 cache">:$evict,
    Arg<DefaultValuedAttr<I32Attr, "1">,
        "elements in each aligned group that is written at once, a power of two">:$vector);
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

    Constraints:
    }] # accessRules # [{
    ```mlir
    %old = tile.atomic_rmw fadd acq_rel gpu %p, %v, %m : tensor<128x!tile.ptr<f32>>
    ```
  }];
  let arguments = (ins
    Arg<Tile_AtomicKind, "how memory's value and the operand are combined">:$kind,
    Arg<Tile_MemSemantic, "how the access is ordered with other accesses of its thread">:$sem,
    Arg<Tile_MemScope, "among whose threads it is atomic and ordered">:$scope,
    Arg<Tile_Ptr, "where each element is, aligned to its size">:$ptr,
    Arg<Tile_Any,
        "the right operand of `kind`, of the pointee type and the pointers' shape">:$value,
    Arg<Optional<Tile_Bool>,
        "where it is false memory is left alone; absent: true everywhere">:$mask,
    Arg<DefaultValuedAttr<I32Attr, "1">,
        "elements in each aligned group that one instruction may update where nobody uses "
        "the result, a power of two; each element is atomic by itself">:$vector);
  let results = (outs
    Res<Tile_Any, "what memory held before; zero where the mask is false">:$result);
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

    Constraints:
    }] # accessRules # [{
    - `atomic_cas_c1`: `cmp` is of the value's type
    ```mlir
    %old = tile.atomic_cas acq_rel gpu %p, %c, %v : !tile.ptr<i32>
    ```
  }];
  let arguments = (ins
    Arg<Tile_MemSemantic, "how the access is ordered with other accesses of its thread">:$sem,
    Arg<Tile_MemScope, "among whose threads it is atomic and ordered">:$scope,
    Arg<Tile_Ptr, "where each element is, aligned to its size">:$ptr,
    Arg<Tile_Any, "what memory must hold, bit for bit, to be replaced">:$cmp,
    Arg<Tile_Any, "what it is replaced by, of the pointee type and the pointers' shape">:$value);
  let results = (outs
    Res<Tile_Any, "what memory held before">:$result);
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
