//===- GraphPasses.td - passes over functions of whole tensors ------------===//
#ifndef TILE_PASSES_GRAPH_GRAPHPASSES
#define TILE_PASSES_GRAPH_GRAPHPASSES

include "passes/TilePass.td"

def GraphPlaceJoinsPass : TilePass<"graph-place-joins", "::mlir::func::FuncOp"> {
  let summary = "let parts of what is joined be stored where they belong";
  let description = [{
    Needs: operations of the `graph` dialect in one block, canonical.

    Guarantees: each `graph.join` that is left has operands of one shape, and is stored: it is
    returned, or given to a kernel that somebody wrote, in another shape or not; or it is an operand of
    another such one, all of whose operands are joined alike. Functions of the elements between what was joined and memory are done
    to the parts, and so are sums of parts with zeros around them that tile what is computed. All
    others are choices by the place along the axis, and what is joined of the end of an array and its start, or
    of an array and elements of it along one dimension (borders), is elements of it at computed places. Results of few columns that
    are computed of columns in several ways are joined of columns (`PartsOfJoined.cpp`), and functions of the elements are
    done before what is joined becomes one dimension.

    Never: computes more than before, or stores what was not stored.
    ```mlir
    %y = graph.join %a, %b 1 : (!graph.tensor<"M, K", f32>, !graph.tensor<"M, K", f32>) -> !graph.tensor<"M, 2*K", f32>
    return %y : !graph.tensor<"M, 2*K", f32>
    // one kernel over M and K, which stores both
    ```
  }];
  let counts = [Count<"joinsStored", "joined tensors whose parts are stored where they belong">];
  let dependentDialects = ["::tile::graph::GraphDialect"];
}

def GraphNormalizePass : TilePass<"graph-normalize", "::mlir::func::FuncOp"> {
  let summary = "give products and reductions the form of which kernels are made";
  let description = [{
    Needs: operations of the `graph` dialect in one block, canonical.

    Guarantees: the same values, up to the order in which few numbers are added. Rows that are one
    dimension for a product alone are multiplied as they lie, and what is done with the result before
    it gets its own shape is done to the product (`Reshapes.cpp`). Scores have the order in which the next
    product takes their softmax, and what is between the two has it as well (`SinkOrders.cpp`). A
    product of which another one takes the rows in another order has those rows, where its right operand
    is the same for both (`TurnedProducts.cpp`). A reduction of at most eight elements of what repeats arrays, and nobody
    stores, is a chain of maps, and so is one of at most sixteen further out than neighbours in memory; what all pairs give is added
    up by rows first (`SmallReductions.cpp`). A power by a number of the source, whole or half of one, up to eight,
    is products and a root (`Powers.cpp`). The product of a matrix and a vector is a sum, of f32 or where it goes along
    rows in memory (`VectorProducts.cpp`).

    Never: makes more products, or reads an array more often.
    ```mlir
    %r = graph.reshape %x : !graph.tensor<"B, S, D", f32> -> !graph.tensor<"B*S, D", f32>
    %p = graph.matmul %r, %w : !graph.tensor<"B*S, D", f32>, !graph.tensor<"D, F", f32> -> !graph.tensor<"B*S, F", f32>
    // the product of %x and %w, in another shape
    ```
  }];
  let counts = [Count<"formsChanged", "products, reductions and powers that have another form">];
  let dependentDialects = ["::tile::graph::GraphDialect"];
}

def GraphLowerViewsPass : TilePass<"graph-lower-views", "::mlir::func::FuncOp"> {
  let summary = "turn windows and reshapes of arrays into elements at indices";
  let description = [{
    Needs: operations of the `graph` dialect in one block.

    Guarantees: there is no `graph.window`, and no `graph.reshape` of a parameter. `without-gaps`,
    parameters in other shapes are further parameters, which `graph.other_shapes` tells from those that
    callers give; where callers' arrays may have gaps they become elements at indices. Windows of
    what is computed element by element have become windows of what it is computed from, and so have
    elements that are taken of it by indices, if they are no more than there are or it is one array with
    numbers around. What several windows show is stored where that takes less (`markStored`). Elements of elements are those of the array. What is computed of another shape is
    computed before, with all that repeats along what gets another shape, and arrays of the caller's.

    Never: stores what was computed where it need not be stored.
    ```mlir
    %w = graph.window %x ["0", "K"] {inside} : !graph.tensor<"M, 2*K", f32> -> !graph.tensor<"M, K", f32>
    // %x at [i, j + K]
    ```
  }];
  let options = [
    Option<"withoutGaps", "without-gaps", "bool", "false", "arrays of the caller's have no gaps">
  ];
  let counts = [Count<"viewsLowered", "windows and reshapes that became indices">];
  let dependentDialects = ["::tile::graph::GraphDialect"];
}

def GraphRecomputeScoresPass : TilePass<"graph-recompute-scores", "::mlir::func::FuncOp"> {
  let summary = "compute the scores of a softmax again for each product of its gradient";
  let description = [{
    Needs: operations of the `graph` dialect in one block, without windows, in which what is computed
    twice is computed once.

    Guarantees: where several products take the softmax of what another product gives, or what is computed of it
    element by element, and nobody else takes more than sums of rows, each has its own copy of
    the scores, in the order of rows and columns that it needs, and `graph.chained`. The maxima
    and sums that they share are arrays of f32. The sum over rows of the softmax times another product
    is one of the result's elements.

    Never: leaves such a product if it cannot be one kernel with what it takes.
    ```mlir
    %t = graph.rearrange %p [0, 2, 1] : !graph.tensor<"B, M, N", f16> -> !graph.tensor<"B, N, M", f16>
    %d = graph.matmul %t, %g : !graph.tensor<"B, N, M", f16>, !graph.tensor<"B, M, D", f16> -> !graph.tensor<"B, N, D", f16>
    // with %p = exp(%q @ %k.T - %max) / %sum: the left operand is exp(%k @ %q.T - %max.T) / %sum.T
    ```
  }];
  let counts = [Count<"productsRecomputed", "products that compute scores again">];
  let dependentDialects = ["::tile::graph::GraphDialect"];
}

def GraphChainProductsPass : TilePass<"graph-chain-products", "::mlir::func::FuncOp"> {
  let summary = "divide behind a product what a softmax divides before it";
  let description = [{
    Needs: operations of the `graph` dialect in one block, without windows.

    Guarantees: where a product takes the softmax of what another product gives, and nobody else
    does, it multiplies the powers, and what scales their rows scales its result. The two products
    and all between them can then be one kernel (`passes/graph/Chain.h`), and what else needs the
    maximum or the sum of a row stands behind them. Where that is not so, `graph.unchained`
    on the product says why. A product of what is computed of others without a softmax, of the same
    dimensions in front, has `graph.chained` if it can be one kernel with them.

    Never: stores less precisely what is stored, or rewrites what will not be one kernel.
    ```mlir
    %p = graph.map div(%e, %sum) : (!graph.tensor<"M, N", f16>, !graph.tensor<"M, 1", f16>) -> !graph.tensor<"M, N", f16>
    %o = graph.matmul %p, %v : !graph.tensor<"M, N", f16>, !graph.tensor<"N, D", f16> -> !graph.tensor<"M, D", f16>
    // %a = graph.matmul %e, %v, and %o = graph.map div(%a, %sum)
    ```
  }];
  let options = [
    Option<"plain", "plain", "bool", "true", "chains without a softmax, too">
  ];
  let counts = [Count<"productsChained", "products that take the powers of a softmax">];
  let dependentDialects = ["::tile::graph::GraphDialect"];
}

def GraphFusePass : TilePass<"graph-fuse", "::mlir::func::FuncOp"> {
  let summary = "group the operations of a function into kernels";
  let description = [{
    Needs: operations of the `graph` dialect in one block, each used.

    Guarantees: the block holds `graph.kernel` and the return only. The operations of a kernel
    go over one space of indices (`passes/graph/Space.h`), and no kernel needs what a
    later one computes. Each fusion that was tried and not taken is in `reasons`.

    Never: computes a value twice, numbers, sizes and places excepted.

    Operations are looked at in order. Each joins the kernels of all its operands if they can
    be one; else the last of them that it can join; else it begins a kernel. A reduction along
    the first dimensions, or along all, becomes a `graph.partial` before that, and a reduction of
    the parts. In the end kernels that read the same array and do not wait for each other become
    one, and small ones of the same sizes; what stands at the end of one, and is computed of what is stored
    anyway, goes to the one that needs it. A vector that is gone along again with what it was reduced to
    stays a row.
    ```mlir
    %a = graph.map exp(%x) : (!graph.tensor<"M, N", f32>) -> !graph.tensor<"M, N", f32>
    %b = graph.reduce sum %a [1] : !graph.tensor<"M, N", f32> -> !graph.tensor<"M", f32>
    // one kernel, which reads %x once
    ```
  }];
  let counts = [Count<"kernelsMade", "kernels that operations were grouped into">];
  let dependentDialects = ["::tile::graph::GraphDialect"];
}

def GraphPlaceUpdatesPass : TilePass<"graph-place-updates", "::mlir::func::FuncOp"> {
  let summary = "let kernels write parameters where they lie";
  let description = [{
    Needs: a function that `graph-fuse` has left, with `graph.updates` if it writes parameters.

    Guarantees: each of the last results can be stored in the memory of its parameter by the
    kernel that computes it. Where that would be read afterwards, a kernel at the end copies it, with the
    reason among its `reasons`. A kernel that reads what it writes has `graph.in_place`, which says the
    result and the operand. What a kernel
    that somebody wrote changes (`graph.changes` of its launch) nobody reads behind it, and it is the
    kernel's, or the parameter that becomes it: else the kernel is given a copy. What is read in another
    shape lies in a parameter only `without-gaps`.

    Never: changes what a function computes.
    ```mlir
    // func.func @f(%w: ...) attributes {graph.updates = array<i64: 0>}
    // %n = graph.kernel "f" (%w) ... {graph.in_place = array<i64: 0, 0>}
    // return %n
    ```
  }];
  let options = [
    Option<"withoutGaps", "without-gaps", "bool", "false", "arrays of the caller's have no gaps">
  ];
  let counts = [
    Count<"updatesInPlace", "parameters that kernels write where they lie">,
    Count<"updatesCopied", "parameters whose new value is copied there">,
    Count<"changesCopied", "arrays that kernels by hand change a copy of">
  ];
  let dependentDialects = ["::tile::graph::GraphDialect"];
}

def GraphStoreOperandsPass : TilePass<"graph-store-operands", "::mlir::func::FuncOp"> {
  let summary = "compute operands of products in kernels of their own";
  let description = [{
    Needs: a function that `graph-place-updates` has left.

    Guarantees: what a kernel of a product computes of arrays before it multiplies is a kernel's result, in front of it, and
    read as an array. The compiler does so for sizes for which it is faster (`compiler/functions`); this pass does it wherever
    it can be.

    Never: takes chains of products apart, or kernels that write in the place of what they read.
    ```mlir
    // %y = graph.kernel "f" (%x, %q, %s) { %w = q * s, graph.matmul %x, %w }
    // %w = graph.kernel "f_right" (%q, %s) ..., %y = graph.kernel "f" (%x, %w) ...
    ```
  }];
  let counts = [Count<"operandsStored", "operands of products that kernels of their own compute">];
  let dependentDialects = ["::tile::graph::GraphDialect"];
}

def GraphStoreRowsPass : TilePass<"graph-store-rows", "::mlir::func::FuncOp"> {
  let summary = "combine what is one number of each row in kernels of their own";
  let description = [{
    Needs: a function that `graph-place-updates` has left.

    Guarantees: a kernel that reduces rows and combines their results in parts, and nothing else, stores those results, and a
    kernel behind it combines them. The compiler does so for sizes of which rows are few and programs better share each
    (`compiler/functions`); this pass does it wherever it can be.

    Never: takes apart what goes over all columns again for its parts.
    ```mlir
    // %p = graph.kernel "f" (%x) { %r = graph.reduce sum %x, graph.partial sum %r }
    // %r = graph.kernel "f" (%x) { graph.reduce sum %x }, %p = graph.kernel "f_rows" (%r) { graph.partial sum %r }
    ```
  }];
  let counts = [Count<"kernelsSplit", "kernels that store what they had combined of rows">];
  let dependentDialects = ["::tile::graph::GraphDialect"];
}

def GraphJoinProductsPass : TilePass<"graph-join-products", "::mlir::func::FuncOp"> {
  let summary = "put products of one left operand side by side in one kernel";
  let description = [{
    Needs: a function that `graph-place-updates` has left.

    Guarantees: kernels whose products multiply one array, read whole, by matrices that lie alike, are one kernel
    with `graph.side_by_side`, if none waits for another, up to four products in all. Each result is computed of one product. The
    compiler does so for sizes for which it is faster (`compiler/functions`); this pass does it wherever it can be.

    Never: joins kernels that write parameters.
    ```mlir
    // %q = graph.kernel "f_0" (%x, %wq) ..., %k = graph.kernel "f_1" (%x, %wk) ...
    // %q, %k = graph.kernel "f_0_beside" (%x, %wq, %wk) {graph.side_by_side} ...
    ```
  }];
  let counts = [Count<"kernelsJoined", "kernels that became part of another">];
  let dependentDialects = ["::tile::graph::GraphDialect"];
}

def GraphTilePass : TilePass<"graph-tile", "::mlir::ModuleOp"> {
  let summary = "turn kernels of a function into functions of the tile dialect";
  let description = [{
    Needs: a function that `graph-fuse` has left.

    Guarantees: one `func.func` of the `tile` dialect for each kernel, or for each of those that
    it becomes where programs share rows or inner dimensions, as the specialiser would give it, and nothing else. The compiler makes one kernel at a time, for the sizes of a launch
    (`compiler/functions`); this pass makes all of them with the blocks it is given.

    Never: decides what is one kernel, or chooses blocks.
    ```mlir
    // tile-opt --graph-fuse --graph-tile='block=128 rows=4'
    ```
  }];
  let options = [
    Option<"block", "block", "int64_t", "128", "columns of a block">,
    Option<"rows", "rows", "int64_t", "1", "rows of a block">,
    Option<"inner", "inner", "int64_t", "64", "what a turn of a product's loop adds up">,
    Option<"parts", "parts", "int64_t", "1", "parts of a product's inner dimension, or of rows: a kernel each, or two">,
    Option<"stages", "stages", "int64_t", "3", "turns of a loop whose chunks are on their way, if not 3">,
    Option<"loop", "loop", "bool", "false", "rows are longer than a block">,
    Option<"even", "even", "bool", "false", "blocks fit: no masks">,
    Option<"aligned", "aligned", "bool", "false", "addresses and sizes are multiples of 16">
  ];
  let counts = [Count<"functionsMade", "kernels that became functions of the tile dialect">];
  let dependentDialects = ["::tile::TileDialect", "::mlir::arith::ArithDialect",
    "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::func::FuncDialect"];
}

#endif // TILE_PASSES_GRAPH_GRAPHPASSES
