//===- Fusion.h - groups of operations, on their way to kernels -----------===//
//
// What is computed together: grouped in Fuse.cpp, after reductions have been taken apart
// (SplitReductions.cpp), and made kernels in FusedKernels.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_GRAPH_FUSION_H
#define TILE_PASSES_GRAPH_FUSION_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/graph/Space.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <string>
#include <vector>

namespace tile::graph {

using Ops = llvm::SmallVector<mlir::Operation *>;

struct Group {
  Ops ops; ///< in order
  llvm::SmallVector<std::string> reasons;
};

/// Operations of one kernel. People's formulas have far fewer; of loops that are unrolled the time
/// to look for fusions would grow by the square of this, and that of the kernel's compilation.
inline constexpr size_t kMostTogether = 4096;

/// The space of what would be one kernel; nothing, and `reason`, if there is none, or if it is
/// better several.
std::optional<Space> spaceOf(llvm::ArrayRef<mlir::Operation *> ops, std::string &reason);

/// As they stand in the function.
void sortInBlock(Ops &ops);

/// Groups the operations of a function, and makes each group a kernel.
class Fusion {
public:
  explicit Fusion(mlir::func::FuncOp function)
      : function(function), body(function.getBody().front()) {}
  void run();

private:
  Group *groupOf(mlir::Value value) const {
    mlir::Operation *op = value.getDefiningOp();
    return op ? owner.lookup(op) : nullptr;
  }
  void copyReturned();
  bool moveBehind();
  bool isStoredAnyway(mlir::Value value, Group *by, Group *reader) const;
  std::optional<Ops> endOf(mlir::Operation *last, Group *group, Group *to) const;
  /// Operations that go to other kernels, by these.
  using Moves = llvm::SmallVector<std::pair<Group *, Ops>, 2>;
  std::optional<Moves> endsOf(mlir::Operation *source, Group *group) const;
  bool move(const Moves &moves, Group *group);
  void splitReductions();
  /// Gives reductions of what pairs of arrays' elements give, along different dimensions, operands
  /// of their own where it takes less to compute them again.
  void separateRepeated();
  void nameParts();
  void addAll();
  void add(llvm::ArrayRef<mlir::Operation *> ops);
  std::string reasonAgainst(Group *group, Group *other) const;
  bool tryJoin(llvm::ArrayRef<mlir::Operation *> more, llvm::ArrayRef<Group *> into,
               std::string &reason);
  bool waitsForItself(llvm::ArrayRef<Group *> merged,
                      llvm::ArrayRef<mlir::Operation *> ops = {}) const;
  llvm::SmallSetVector<mlir::Value, 8> arraysOf(const Group &group) const;
  bool areSiblings(Group *pair[2], bool mayShareNothing) const;
  void mergeSiblings(bool mayShareNothing);
  Group *merge(llvm::ArrayRef<Group *> groups);
  mlir::Value stored(mlir::Value value, llvm::DenseMap<mlir::Value, mlir::Value> &made);
  void emit();
  void emitKernel(Group &group, llvm::StringRef name,
                  llvm::DenseMap<mlir::Value, mlir::Value> &made);

  mlir::func::FuncOp function;
  mlir::Block &body;
  std::vector<std::unique_ptr<Group>> groups;
  llvm::DenseMap<mlir::Operation *, Group *> owner;
};

} // namespace tile::graph

#endif // TILE_PASSES_GRAPH_FUSION_H
