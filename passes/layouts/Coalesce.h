//===- Coalesce.h - the layouts that memory accesses want -----------------===//
//
// A warp should touch whole contiguous lines with every instruction. So the
// fastest dimension in memory gets, in this order: the elements of one vector
// access (at most 16 bytes a thread: a thread that owns two adjacent vectors
// costs a sixth of the bandwidth and more), the lanes, the warps; what is left
// repeats in registers.
//
// Blocks of one shape that run alike in memory share one layout, so that
// nothing moves between them: its vector is what the widest of their elements
// allows, and what the analysis can prove for all of them. What only products use
// moves anyway, and is loaded as it alone is loaded best.
//
// Where no dimension is known to be contiguous, the one along which neighbours most likely lie
// within a sector is taken for the fastest (rows of a convolution, which wrap).
//
// Rows that are reduced (or scanned) stay within a warp as far as there are
// other rows for the other warps: then the reduction needs no shared memory.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LAYOUTS_COALESCE_H
#define TILE_PASSES_LAYOUTS_COALESCE_H

#include "ir/CtaDialect.h"
#include "passes/facts/AxisInfo.h"
#include "target/Tuning.h"

namespace tile {

class Coalescing {
public:
  /// Reads the facts about every access of `func`; they stay valid while the
  /// operations do.
  Coalescing(mlir::func::FuncOp func, AxisInfoAnalysis &axes, unsigned numWarps);

  /// The layout in which `op` (load, store or atomic on blocks) moves whole
  /// lines.
  cta::LayoutAttr anchor(mlir::Operation *op);
  /// The same with vectors of `vector` elements.
  cta::LayoutAttr anchorWith(mlir::Operation *op, unsigned vector);
  /// The layout for blocks of this shape that nothing else decides: that of
  /// the accesses of the shape, if there are any.
  cta::LayoutAttr shapeLayout(llvm::ArrayRef<int64_t> shape);
  /// True if accesses say where blocks of this shape live.
  bool isAccessed(llvm::ArrayRef<int64_t> shape) const;
  /// Elements of one access if `op` works in `layout`.
  unsigned vectorFor(mlir::Operation *op, const layout::LinearLayout &layout) const;
  /// For how many elements of a group of `vector` the mask is known not to change, if not
  /// for all of them.
  std::optional<unsigned> maskRunFor(mlir::Operation *op, unsigned vector) const;
  /// Accesses each thread makes if `op` works in `layout`.
  unsigned numAccesses(mlir::Operation *op, cta::LayoutAttr layout) const;
  /// True if consecutive elements along some dimension are known to be
  /// consecutive in memory.
  bool isContiguous(mlir::Operation *op) const;
  /// True if rows of `op`, along its fastest dimension, are all at the same addresses.
  bool isRepeated(mlir::Operation *op) const;
  /// True if `op` may as well work in `layout` as in its anchor.
  bool isGoodEnough(mlir::Operation *op, cta::LayoutAttr layout);
  unsigned numWarps() const { return warps; }

private:
  struct Access {
    llvm::SmallVector<unsigned, 4> order; ///< dimensions, fastest first
    unsigned limit;                       ///< elements an access may take
    unsigned bytes;                       ///< of one element
    unsigned maskRun = 16;                ///< elements whose mask is known not to change
    bool contiguous;
    bool leans = false;    ///< not contiguous, but likely nearly so along the fastest dimension
    int64_t apart = 0;     ///< elements between neighbours of a row, if these share sectors
    bool repeated = false; ///< along all dimensions but the fastest
    bool alone = false;    ///< where it works is nobody else's business
  };
  /// What accesses that share a layout prove and need.
  struct Limits {
    unsigned least = ~0u, most = 1, leastBytes = ~0u, mostBytes = 1;
    bool isEmpty() const { return least == ~0u; }
    void add(const Access &access);
  };
  struct Group {
    llvm::SmallVector<int64_t, 4> shape;
    llvm::SmallVector<unsigned, 4> order;
    Limits together, alone;
    cta::LayoutAttr layout;
  };
  void lean(mlir::Operation *op, AxisInfoAnalysis &axes);
  void addAccess(mlir::Operation *op, mlir::Value ptr, mlir::Value mask, AxisInfoAnalysis &axes);
  void addCombined(mlir::Operation *op, unsigned axis);
  Group &groupOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order);
  cta::LayoutAttr layoutOf(Group &group);
  unsigned vectorOf(const Limits &limits, llvm::ArrayRef<int64_t> shape) const;
  cta::LayoutAttr layoutWith(const Group &group, unsigned vector, unsigned bytes) const;
  uint32_t combinedAxes(llvm::ArrayRef<int64_t> shape) const;
  /// Loads of one row that all rows of a block of this shape use.
  unsigned numSharedLoads(llvm::ArrayRef<int64_t> shape) const;

  mlir::MLIRContext *context;
  const Tuning &tuning;
  unsigned warps;
  llvm::DenseMap<mlir::Operation *, Access> accesses;
  llvm::SmallVector<Group, 4> groups;
  /// Shapes of loads that are one element long along some dimension.
  llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 4> thinLoads;
  /// Axes along which blocks of a shape are reduced or scanned, as bits.
  llvm::SmallVector<std::pair<llvm::SmallVector<int64_t, 4>, uint32_t>, 4> combined;
};

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_COALESCE_H
