//===- SideBySide.h - products of one left operand, side by side ---------===//
//
// Products of one left operand with right ones of other numbers of columns (queries, keys and
// values of attention whose heads share keys) have nothing in common but that operand. One kernel
// may have all of them even so: its programs are shared out among the products, and each does what
// its product's kernel would. That is one launch instead of several, and memory is as busy at its
// end as it was in the middle. Whether it pays depends on sizes: launches decide
// (compiler/functions).
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_SIDEBYSIDE_H
#define TILE_PASSES_GRAPH_SIDEBYSIDE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/KernelShape.h"

namespace tile::graph {

/// Products of one kernel side by side, at most.
inline constexpr size_t kMostSideBySide = 4;

/// Of each product of a kernel the operations that it and what is computed of it take; nothing if
/// some result is computed of several products, or of none.
std::vector<llvm::SmallVector<mlir::Operation *>> productsApart(KernelOp op);

/// Whether a kernel writes new values of parameters, in an order that others know.
bool writesParameters(KernelOp op);

/// The kernels of a function that could be one, group by group, in order.
std::vector<llvm::SmallVector<KernelOp>> kernelsToJoin(mlir::func::FuncOp function);

/// Makes one kernel of such a group, where the first of it stands.
KernelOp joinKernels(llvm::ArrayRef<KernelOp> group);

/// The columns of all products of a kernel.
Size columnsOf(const KernelShape &shape);

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_SIDEBYSIDE_H
