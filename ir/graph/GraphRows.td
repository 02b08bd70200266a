//===- GraphRows.td - reductions, scans and views of whole tensors ---------===//
//
// Part of Graph.td, which includes it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_GRAPH_GRAPHROWS
#define TILE_IR_GRAPH_GRAPHROWS

def Graph_ReduceOp : Graph_PureOp<"reduce"> {
  let summary = "combine all elements along dimensions";
  let description = [{
    The dimensions go away. What is combined of no elements is 0, 1, or the lowest or the
    highest number of the type; of `logaddexp`, the logarithm of the sum of powers of e, -inf. A NaN makes
    the result one.

    Constraints:
    - `graph_reduce_c1`: axes are dimensions of the operand, in order, each once
    - `graph_reduce_c2`: the result has the other dimensions
    ```mlir
    %s = graph.reduce sum %x [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
    ```
  }];
  let arguments = (ins
    Arg<Graph_ReduceKind, "how">:$kind,
    Arg<Graph_TensorType, "what">:$src,
    Arg<DenseI64ArrayAttr, "along which dimensions, counted from 0">:$axes);
  let results = (outs Res<Graph_TensorType, "without these dimensions">:$result);
  let assemblyFormat = "`` $kind $src $axes attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasCanonicalizeMethod = 1;
}

def Graph_PartialOp : Graph_PureOp<"partial"> {
  let summary = "combine elements along dimensions, in parts";
  let description = [{
    As `graph.reduce`, but each of several programs combines a part of the indices, and the
    result has what each of them found, along a first dimension with a name of its own. How
    many there are is decided at the launch, and which indices are whose is not said. A
    `graph.reduce` along the first dimension makes the whole.

    Constraints:
    - `graph_partial_c1`: axes are dimensions of the operand, in order, each once
    - `graph_partial_c2`: the result has a first dimension, and the others of the operand
    - `graph_partial_c3`: the result's elements are those that the operand's are computed in
    ```mlir
    %p = graph.partial sum %x [0] : !graph.tensor<"M, N", f16> -> !graph.tensor<"parts.0, N", f32>
    ```
  }];
  let arguments = (ins
    Arg<Graph_ReduceKind, "how">:$kind,
    Arg<Graph_TensorType, "what">:$src,
    Arg<DenseI64ArrayAttr, "along which dimensions, counted from 0">:$axes);
  let results = (outs Res<Graph_TensorType, "one of each part">:$result);
  let assemblyFormat = "`` $kind $src $axes attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

def Graph_ScanOp : Graph_PureOp<"scan", [AllTypesMatch<["src", "result"]>]> {
  let summary = "what is combined so far along a dimension";
  let description = [{
    `result[..., i, ...]` is what the elements up to `i` combine to, that one included; with `reverse`
    those from `i` on.

    Constraints:
    - `graph_scan_c1`: the axis is a dimension of the operand
    - `graph_scan_c2`: `logaddexp` is of floats
    ```mlir
    %s = graph.scan sum %x 1 : !graph.tensor<"M, N", f32>
    ```
  }];
  let arguments = (ins
    Arg<Graph_ReduceKind, "how">:$kind,
    Arg<Graph_TensorType, "what is combined">:$src,
    Arg<I64Attr, "along which dimension, counted from 0">:$axis,
    Arg<UnitAttr, "from the last element to the first">:$reverse);
  let results = (outs Res<Graph_TensorType, "what there is so far">:$result);
  let assemblyFormat = "`` $kind $src $axis attr-dict `:` qualified(type($src))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_WindowOp : Graph_PureOp<"window"> {
  let summary = "a part of a tensor, or a tensor with zeros around it";
  let description = [{
    `result[i, j] = src[i + starts[0], j + starts[1]]`, and 0 where that lies outside. With
    `inside` nothing does; with `loose` what does may be anything, because nobody looks at it.

    Constraints:
    - `graph_window_c1`: there is a start for each dimension of the operand, a formula each
    - `graph_window_c2`: the result has as many dimensions, and elements of the same type
    ```mlir
    %a = graph.window %x ["0", "K"] : !graph.tensor<"M, 2*K", f32> -> !graph.tensor<"M, K", f32>
    ```
  }];
  let arguments = (ins
    Arg<Graph_TensorType, "what to take from">:$src,
    Arg<StrArrayAttr, "where the result begins, for each dimension">:$starts,
    Arg<UnitAttr, "nothing lies outside">:$inside,
    Arg<UnitAttr, "nobody looks at what lies outside">:$loose);
  let results = (outs Res<Graph_TensorType, "what the window shows">:$result);
  let assemblyFormat = "$src $starts attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_JoinOp : Graph_PureOp<"join"> {
  let summary = "tensors behind each other along a dimension";
  let description = [{
    The result has the elements of the first operand, then those of the second, and so on. In a
    kernel it is a result, which nothing else there reads, and its operands have one shape: indices
    are those of each operand, all of which are stored where they belong.

    Constraints:
    - `graph_join_c1`: there are operands
    - `graph_join_c2`: the axis is a dimension of the result
    - `graph_join_c3`: operands have the other dimensions of the result, and their sizes along the
      axis add up to the result's
    - `graph_join_c4`: elements are of one type
    ```mlir
    %y = graph.join %a, %b 1 : (!graph.tensor<"M, K", f16>, !graph.tensor<"M, N", f16>) -> !graph.tensor<"M, K + N", f16>
    ```
  }];
  let arguments = (ins
    Arg<Variadic<Graph_TensorType>, "what to join">:$parts,
    Arg<I64Attr, "along which dimension, counted from 0">:$axis);
  let results = (outs Res<Graph_TensorType, "all of them">:$result);
  let assemblyFormat = "$parts $axis attr-dict `:` functional-type($parts, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The sizes of what a kernel goes over: those of one operand, where all have one shape.
    Sizes partSizes() { return mlir::cast<GraphTensorType>(getParts().front().getType()).sizes(); }
    bool hasEqualParts();
  }];
}

def Graph_ReshapeOp : Graph_PureOp<"reshape"> {
  let summary = "the same elements, in the same order, with other sizes";
  let description = [{
    Between kernels it is another view of one array; a kernel has none.

    Constraints:
    - `graph_reshape_c1`: there are as many elements
    - `graph_reshape_c2`: they are of one type
    ```mlir
    %y = graph.reshape %x : !graph.tensor<"M, D*H", f16> -> !graph.tensor<"M, H, D", f16>
    ```
  }];
  let arguments = (ins Arg<Graph_TensorType, "what to look at">:$src);
  let results = (outs Res<Graph_TensorType, "the same elements">:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_GatherOp : Graph_PureOp<"gather"> {
  let summary = "elements by their indices";
  let description = [{
    `result[...] = src[indices[0][...], indices[1][...]]`. Indices broadcast as in
    `graph.map`. With `guarded` what lies outside is 0; else nothing does.

    Constraints:
    - `graph_gather_c1`: there is an index for each dimension of the operand, of integers
    - `graph_gather_c2`: the indices broadcast to the result's shape
    - `graph_gather_c3`: elements are of one type
    ```mlir
    %r = graph.gather %x [%i, %j] : (!graph.tensor<"V, D", f16>, !graph.tensor<"T, 1", i32>, !graph.tensor<"D", i32>) -> !graph.tensor<"T, D", f16>
    ```
  }];
  let arguments = (ins
    Arg<Graph_TensorType, "what to take from">:$src,
    Arg<Variadic<Graph_TensorType>, "where, along each dimension">:$indices,
    Arg<UnitAttr, "what lies outside is 0">:$guarded);
  let results = (outs Res<Graph_TensorType, "what was taken">:$result);
  let assemblyFormat = "$src `[` $indices `]` attr-dict `:` functional-type(operands, $result)";
  let hasVerifier = 1;
}

def Graph_RearrangeOp : Graph_PureOp<"rearrange"> {
  let summary = "the same elements with dimensions in another order";
  let description = [{
    Dimension `i` of the result is dimension `dims[i]` of the operand, or a new one of size
    1 where that is -1. Dimensions of size 1 may be left out.

    Constraints:
    - `graph_rearrange_c1`: `dims` names each dimension at most once, and all that are not 1
    - `graph_rearrange_c2`: the result has these dimensions
    ```mlir
    %t = graph.rearrange %x [1, -1, 0] : !graph.tensor<"M, N", f32> -> !graph.tensor<"N, 1, M", f32>
    ```
  }];
  let arguments = (ins
    Arg<Graph_TensorType, "what to look at">:$src,
    Arg<DenseI64ArrayAttr, "the operand's dimension for each of the result, or -1">:$dims);
  let results = (outs Res<Graph_TensorType, "the same elements">:$result);
  let assemblyFormat = "$src $dims attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // TILE_IR_GRAPH_GRAPHROWS
