//===- GraphPasses.h - passes over functions of whole tensors -------------===//
#ifndef TILE_PASSES_GRAPH_GRAPHPASSES_H
#define TILE_PASSES_GRAPH_GRAPHPASSES_H

#include "ir/TileDialect.h"
#include "ir/graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tile::graph {

#define GEN_PASS_DECL
#include "passes/graph/GraphPasses.h.inc"
#define GEN_PASS_REGISTRATION
#include "passes/graph/GraphPasses.h.inc"

/// Products that are one kernel with those that their operands are computed of.
enum class Chains { None, Softmax, All };

/// From a traced function to its kernels: what folds is folded, what is the same is
/// computed once, and the rest is grouped. `withoutGaps`: the caller's arrays have none.
void buildFusePipeline(mlir::OpPassManager &pm, Chains chains = Chains::All,
                       bool withoutGaps = false);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_GRAPHPASSES_H
