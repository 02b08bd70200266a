//===- TileShapeOps.td - making blocks, and their shapes ------------------===//
//
// Part of TileOps.td, which includes it.
//
#ifndef TILE_IR_TILESHAPEOPS
#define TILE_IR_TILESHAPEOPS

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

#endif // TILE_IR_TILESHAPEOPS
