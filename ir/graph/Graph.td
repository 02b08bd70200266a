//===- Graph.td - functions of whole tensors, before there are kernels ----===//
#ifndef TILE_IR_GRAPH_GRAPH
#define TILE_IR_GRAPH_GRAPH

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::tile::graph";
  let summary = "Formulas over whole tensors with symbolic sizes";
  let description = [{
    A function of whole tensors is a `func.func` whose values are `!graph.tensor`. Sizes
    are formulas over named dimensions, so shapes are checked without a number being known,
    and one function serves all sizes. Operations keep their names (`gelu`, `silu`) as long
    as nobody needs to know what they are made of: `graph-fuse` groups them into
    `graph.kernel`, and each group becomes one kernel of the `tile` dialect.

    Integers are signless for signed types and unsigned (`ui8`) for unsigned ones: unlike
    the `tile` dialect, this one has not decided which operations that means. Floats of 32
    bits and less are computed in f32, and are rounded to their type where `graph.cast` says
    so and where they are stored.
  }];
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
}

def Graph_TensorType : TypeDef<Graph_Dialect, "GraphTensor"> {
  let mnemonic = "tensor";
  let summary = "a tensor whose sizes are formulas";
  let description = [{
    `dims` has one size for each dimension, outermost first, in the canonical spelling of
    `ir/graph/Size.h`.

    Constraints:
    - `graph_tensor_c1`: `dims` are formulas, spelled canonically
    - `graph_tensor_c2`: elements are integers or floats
    ```mlir
    !graph.tensor<"M, 2*K", f16>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"one size a dimension">:$dims,
    TypeParameter<"mlir::Type", "the type of the elements">:$element);
  let assemblyFormat = "`<` $dims `,` $element `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    static GraphTensorType of(mlir::MLIRContext *context, llvm::ArrayRef<Size> sizes,
                         mlir::Type element);
    Sizes sizes() const;
  }];
}

class Graph_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::tile::graph";
  let genSpecializedAttr = 0;
}

def Graph_MapKindEnum : Graph_I32Enum<"MapKind", "what is done with each element", [
  I32EnumAttrCase<"neg", 0>, I32EnumAttrCase<"abs", 1>, I32EnumAttrCase<"exp", 2>,
  I32EnumAttrCase<"exp2", 3>, I32EnumAttrCase<"expm1", 4>, I32EnumAttrCase<"log", 5>,
  I32EnumAttrCase<"log2", 6>, I32EnumAttrCase<"log10", 7>, I32EnumAttrCase<"log1p", 8>,
  I32EnumAttrCase<"sqrt", 9>, I32EnumAttrCase<"rsqrt", 10>, I32EnumAttrCase<"sin", 11>,
  I32EnumAttrCase<"cos", 12>, I32EnumAttrCase<"tan", 13>, I32EnumAttrCase<"tanh", 14>,
  I32EnumAttrCase<"sigmoid", 15>, I32EnumAttrCase<"relu", 16>, I32EnumAttrCase<"silu", 17>,
  I32EnumAttrCase<"gelu", 18>, I32EnumAttrCase<"gelu_tanh", 19>, I32EnumAttrCase<"erf", 20>,
  I32EnumAttrCase<"floor", 21>, I32EnumAttrCase<"ceil", 22>, I32EnumAttrCase<"round", 23>,
  I32EnumAttrCase<"trunc", 24>, I32EnumAttrCase<"sign", 25>, I32EnumAttrCase<"isnan", 26>,
  I32EnumAttrCase<"isinf", 27>, I32EnumAttrCase<"reciprocal", 28>,
  I32EnumAttrCase<"square", 29>, I32EnumAttrCase<"logical_not", 30>,
  I32EnumAttrCase<"invert", 31>, I32EnumAttrCase<"asin", 32>, I32EnumAttrCase<"acos", 33>,
  I32EnumAttrCase<"atan", 34>, I32EnumAttrCase<"erfc", 35>, I32EnumAttrCase<"lgamma", 36>,
  I32EnumAttrCase<"erfinv", 37>,
  I32EnumAttrCase<"add", 40>, I32EnumAttrCase<"sub", 41>, I32EnumAttrCase<"mul", 42>,
  I32EnumAttrCase<"div", 43>, I32EnumAttrCase<"pow", 44>, I32EnumAttrCase<"maximum", 45>,
  I32EnumAttrCase<"minimum", 46>, I32EnumAttrCase<"bit_and", 47>,
  I32EnumAttrCase<"bit_or", 48>, I32EnumAttrCase<"bit_xor", 49>,
  I32EnumAttrCase<"philox", 50>, I32EnumAttrCase<"floordiv", 51>, I32EnumAttrCase<"mod", 52>,
  I32EnumAttrCase<"shift_left", 53>, I32EnumAttrCase<"shift_right", 54>,
  I32EnumAttrCase<"atan2", 55>,
  I32EnumAttrCase<"eq", 60>, I32EnumAttrCase<"ne", 61>, I32EnumAttrCase<"lt", 62>,
  I32EnumAttrCase<"le", 63>, I32EnumAttrCase<"gt", 64>, I32EnumAttrCase<"ge", 65>,
  I32EnumAttrCase<"select", 70, "where">]>;
def Graph_MapKind : EnumAttr<Graph_Dialect, Graph_MapKindEnum, "map_kind">;

def Graph_ReduceKindEnum : Graph_I32Enum<"ReduceKind", "how elements are combined", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"prod", 1>, I32EnumAttrCase<"max", 2>,
  I32EnumAttrCase<"min", 3>, I32EnumAttrCase<"logaddexp", 4>]>;
def Graph_ReduceKind : EnumAttr<Graph_Dialect, Graph_ReduceKindEnum, "reduce_kind">;

class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits>;
class Graph_PureOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([Pure], traits)>;

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

def Graph_ConstantOp : Graph_PureOp<"constant"> {
  let summary = "a number of the source";
  let description = [{
    The number is kept as it was written, in 64 bits; it is rounded to the type that it is
    computed with.

    Constraints:
    - `graph_constant_c1`: the result has no dimensions
    - `graph_constant_c2`: the number is an f64 or an i64
    ```mlir
    %c = graph.constant 0.1 : f64 : !graph.tensor<"", f16>
    ```
  }];
  let arguments = (ins Arg<TypedAttrInterface, "the number, as f64 or i64">:$value);
  let results = (outs Res<Graph_TensorType, "a tensor without dimensions">:$result);
  let assemblyFormat = "$value attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Graph_SizeOp : Graph_PureOp<"size"> {
  let summary = "a size as a number";
  let description = [{
    Known when the function is called.

    Constraints:
    - `graph_size_c1`: the result has no dimensions, and elements of i64
    ```mlir
    %n = graph.size "M*N" : !graph.tensor<"", i64>
    ```
  }];
  let arguments = (ins Arg<StrAttr, "a formula over named dimensions">:$size);
  let results = (outs Res<Graph_TensorType, "a tensor without dimensions">:$result);
  let assemblyFormat = "$size attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

def Graph_IndexOp : Graph_PureOp<"index"> {
  let summary = "the numbers from 0 on";
  let description = [{
    `result[i] = i`.

    Constraints:
    - `graph_index_c1`: the result has one dimension, and elements of i32
    ```mlir
    %i = graph.index : !graph.tensor<"N", i32>
    ```
  }];
  let arguments = (ins);
  let results = (outs Res<Graph_TensorType, "a tensor of one dimension">:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

def Graph_MapOp : Graph_PureOp<"map"> {
  let summary = "a function of elements";
  let description = [{
    Operands broadcast as in NumPy: dimensions are counted from the last, and what is
    missing or 1 repeats. Operands that differ in type are converted to the type that they
    promote to (`promoteTypes` in `Graph.h`); of `where` the condition is left alone.

    Constraints:
    - `graph_map_c1`: there are as many operands as the function has
    - `graph_map_c2`: the operands' shapes broadcast to the result's
    ```mlir
    %c = graph.map add(%a, %b) : (!graph.tensor<"M, N", f16>, !graph.tensor<"N", f16>) -> !graph.tensor<"M, N", f16>
    ```
  }];
  let arguments = (ins
    Arg<Graph_MapKind, "the function">:$kind,
    Arg<Variadic<Graph_TensorType>, "its operands">:$operands);
  let results = (outs Res<Graph_TensorType, "what they broadcast to">:$result);
  let assemblyFormat = "`` $kind `(` $operands `)` attr-dict `:` functional-type($operands, $result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Graph_CastOp : Graph_PureOp<"cast"> {
  let summary = "round or convert elements to a type";
  let description = [{
    Constraints:
    - `graph_cast_c1`: the shape stays
    ```mlir
    %b = graph.cast %a : !graph.tensor<"M", f32> -> !graph.tensor<"M", f16>
    ```
  }];
  let arguments = (ins Arg<Graph_TensorType, "what to convert">:$src);
  let results = (outs Res<Graph_TensorType, "the same shape with other elements">:$result);
  let assemblyFormat = "$src attr-dict `:` qualified(type($src)) `->` qualified(type($result))";
  let hasVerifier = 1;
  let hasFolder = 1;
}

include "ir/graph/GraphRows.td"

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

def Graph_MatmulOp : Graph_PureOp<"matmul"> {
  let summary = "matrix product";
  let description = [{
    `result[..., m, n] = sum over k of lhs[..., m, k] * rhs[..., k, n]`. Dimensions before
    the last two broadcast as in `graph.map`. Operands that differ in type are converted to
    the type that they promote to; sums are kept in f32 and wider.

    Constraints:
    - `graph_matmul_c1`: operands have two dimensions at least
    - `graph_matmul_c2`: the columns of `lhs` are as many as the rows of `rhs`, and not one
    - `graph_matmul_c3`: the result has the rows of `lhs`, the columns of `rhs` and what the
      other dimensions broadcast to
    ```mlir
    %c = graph.matmul %a, %b : !graph.tensor<"B, M, K", f16>, !graph.tensor<"K, N", f16> -> !graph.tensor<"B, M, N", f16>
    ```
  }];
  let arguments = (ins
    Arg<Graph_TensorType, "the left operand">:$lhs,
    Arg<Graph_TensorType, "the right operand">:$rhs);
  let results = (outs Res<Graph_TensorType, "the product">:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` qualified(type($lhs)) `,` qualified(type($rhs)) `->` qualified(type($result))";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

def Graph_KernelOp : Graph_Op<"kernel", [SingleBlock, IsolatedFromAbove]> {
  let summary = "operations that become one kernel";
  let description = [{
    The region takes the operands and ends in a `graph.yield` of the results, which are all
    that the kernel writes. `reasons` says, for each value that another group computes, why
    the two are not one.

    Constraints:
    - `graph_kernel_c1`: the region takes the operands
    - `graph_kernel_c2`: the region ends in a `graph.yield` of the results
    ```mlir
    %y = graph.kernel "double" (%x) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32> {
    ^bb0(%a: !graph.tensor<"N", f32>):
      %b = graph.map add(%a, %a) : (!graph.tensor<"N", f32>, !graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
      graph.yield %b : !graph.tensor<"N", f32>
    }
    ```
  }];
  let arguments = (ins
    Arg<StrAttr, "the kernel's name">:$name,
    Arg<Variadic<Graph_TensorType>, "what the kernel reads">:$inputs,
    Arg<OptionalAttr<StrArrayAttr>, "fusions that were not taken, each with its reason">:$reasons);
  let results = (outs Res<Variadic<Graph_TensorType>, "what the kernel writes">:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $name `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs) $body
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Graph_LaunchOp : Graph_PureOp<"launch"> {
  let summary = "a kernel that somebody wrote";
  let description = [{
    Reads its operands, which lie in memory without gaps, and writes its results. What is done
    with them is the kernel's own affair: it is a kernel by itself, with a grid and arguments
    that the tracer keeps under `handle`.

    Constraints:
    - `graph_launch_c1`: there is a result
    ```mlir
    %y = graph.launch "double" 0 (%x) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32>
    ```
  }];
  let arguments = (ins
    Arg<StrAttr, "the kernel's name in its file">:$name,
    Arg<I64Attr, "which of the launches of this function">:$handle,
    Arg<Variadic<Graph_TensorType>, "what the kernel reads">:$inputs);
  let results = (outs Res<Variadic<Graph_TensorType>, "what the kernel writes, all of it">:$outputs);
  let assemblyFormat = "$name $handle `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
  let hasVerifier = 1;
}

def Graph_YieldOp : Graph_PureOp<"yield", [Terminator, ReturnLike, HasParent<"KernelOp">]> {
  let summary = "what a kernel writes";
  let description = [{
    ```mlir
    %y = graph.kernel "same" (%x) : (!graph.tensor<"N", f32>) -> !graph.tensor<"N", f32> {
    ^bb0(%a: !graph.tensor<"N", f32>):
      graph.yield %a : !graph.tensor<"N", f32>
    }
    ```
  }];
  let arguments = (ins Arg<Variadic<Graph_TensorType>, "one value for each result">:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

#endif // TILE_IR_GRAPH_GRAPH
