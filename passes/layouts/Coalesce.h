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
// moves anyway, and is loaded as it alone is loaded best. Where layouts have been inferred, some
// of the others prove to have nothing to do with each other: each such part has a layout of its
// own then (AccessParts.cpp).
//
// Where no dimension is known to be contiguous, the one along which neighbours most likely lie
// within a sector is taken for the fastest (rows of a convolution, which wrap).
//
// Warps divide rows, instead of columns, where each of them then loads fewer of the operands that
// are repeated along rows or columns, and computes no more for them (RepeatedOperands.cpp).
//
// Rows that are reduced (or scanned) stay within a warp as far as there are
// other rows for the other warps: then the reduction needs no shared memory. But
// where a loop adds up what it computes of operands that are repeated along such
// rows, and what it has added up is reduced behind it, warps divide the columns:
// all of them would load the same at each turn.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LAYOUTS_COALESCE_H
#define TILE_PASSES_LAYOUTS_COALESCE_H

#include "ir/CtaDialect.h"
#include "passes/facts/AccessWidth.h"
#include "passes/facts/AxisInfo.h"
#include "passes/memory/Costs.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace tile {

struct Tuning; // target/Tuning.h

/// Whether blocks of these shapes have the same rows: dimensions of one element come and go, as in
/// `expand_dims`.
bool areAlikeInRows(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> other);

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
  /// The same if threads have longer runs of rows there than they access at once; null if not.
  cta::LayoutAttr layoutOfRuns(llvm::ArrayRef<int64_t> shape);
  /// True if accesses say where blocks of this shape live.
  bool isAccessed(llvm::ArrayRef<int64_t> shape) const;
  /// Elements of one access if `op` works in `layout`.
  unsigned vectorFor(mlir::Operation *op, const layout::LinearLayout &layout) const;
  /// For how many elements of a group of `vector` the mask is known not to change, if not
  /// for all of them.
  std::optional<unsigned> maskRunFor(mlir::Operation *op, unsigned vector) const;
  /// Accesses each thread makes if `op` works in `layout`.
  unsigned numAccesses(mlir::Operation *op, cta::LayoutAttr layout) const;
  /// Instructions for the indices of the rows that a thread has a part of there.
  double instructionsOfRows(mlir::Operation *op, cta::LayoutAttr layout) const;
  /// The same where equal elements are accessed one by one.
  unsigned numCopies(mlir::Operation *op, cta::LayoutAttr layout) const;
  /// True if consecutive elements along some dimension are known to be
  /// consecutive in memory.
  bool isContiguous(mlir::Operation *op) const;
  /// True if rows of `op`, along its fastest dimension, are all at the same addresses.
  bool isRepeated(mlir::Operation *op) const;
  /// Whether neighbours are known to be equal, so that a thread loads one of them.
  bool hasEqualRuns(mlir::Operation *op) const;
  /// True if `op` may as well work in `layout` as in its anchor.
  bool isGoodEnough(mlir::Operation *op, cta::LayoutAttr layout);
  /// Of a row of which memory has one element in a few, each element is an access of its own: the
  /// layout in which neighbouring lanes make those that share sectors. Where threads have longer
  /// runs of a row than they access at once, the layout of the access alone. Null for others.
  cta::LayoutAttr ownLayout(mlir::Operation *op);
  /// What the accesses of `op` take if it works in `layout`.
  lowering::Cost cost(mlir::Operation *op, const layout::LinearLayout &layout) const;
  unsigned numWarps() const { return warps; }

  /// Whether some access could take more at once if others had no part in its layout.
  bool mayPart();
  /// Whether `op` works where others of its shape do, as far as it is contiguous.
  bool sharesLayout(mlir::Operation *op) const;
  /// The layout of a few accesses of one group by themselves; null if they take no more at once
  /// there.
  cta::LayoutAttr layoutOfPart(llvm::ArrayRef<mlir::Operation *> part);
  /// From now on the anchor of `op`; null: what it was.
  void setAnchor(mlir::Operation *op, cta::LayoutAttr layout) {
    accesses.find(op)->second.part = layout;
  }

private:
  struct Access {
    llvm::SmallVector<unsigned, 4> order; ///< dimensions, fastest first
    unsigned limit;                       ///< elements an access may take
    unsigned bytes;                       ///< of one element
    unsigned maskRun = 16;                ///< elements whose mask is known not to change
    int64_t most = INT64_MAX;             ///< elements of a row that the mask may leave
    bool contiguous;
    bool leans = false;   ///< not contiguous, but likely nearly so along the fastest dimension
    bool strided = false; ///< neither, but neighbours of a row share sectors, or may share lines
    llvm::SmallVector<int64_t, 4> apart; ///< bytes between neighbours along each dimension, likely
    llvm::SmallVector<int64_t, 4> runs;  ///< of equal addresses along each dimension, of loads
    bool repeated = false;               ///< along all dimensions but the fastest
    bool alone = false;                  ///< where it works is nobody else's business
    cta::LayoutAttr part;                ///< of those of the group that need share one with it
  };
  /// What accesses that share a layout prove and need.
  struct Limits {
    unsigned least = ~0u, most = 1, leastBytes = ~0u, mostBytes = 1;
    unsigned needed = 1; ///< elements that a thread needs side by side
    llvm::SmallVector<std::pair<unsigned, unsigned>, 4> each; ///< of every one: limit and bytes
    bool isEmpty() const { return least == ~0u; }
    void add(unsigned limit, unsigned bytes);
    /// Cycles of all accesses of one element if a thread has `vector` side by side.
    double cyclesWith(unsigned vector) const;
  };
  struct Group {
    llvm::SmallVector<int64_t, 4> shape;
    llvm::SmallVector<unsigned, 4> order;
    Limits together, alone;
    cta::LayoutAttr layout;
    bool hasRuns = false; ///< of elements, longer than vectors
  };
  void lean(mlir::Operation *op, AxisInfoAnalysis &axes);
  void spread(mlir::Operation *op, AxisInfoAnalysis &axes);
  unsigned partsTouched(const Access &access, const layout::LinearLayout &l, unsigned vector,
                        unsigned partBytes) const;
  void addAccess(mlir::Operation *op, mlir::Value ptr, mlir::Value mask, AxisInfoAnalysis &axes);
  void addCombined(mlir::Operation *op, unsigned axis);
  Group &groupOf(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> order);
  cta::LayoutAttr layoutOf(Group &group);
  unsigned vectorOf(const Limits &limits, llvm::ArrayRef<int64_t> shape) const;
  cta::LayoutAttr layoutWith(const Group &group, unsigned vector, unsigned bytes) const;
  uint32_t combinedAxes(llvm::ArrayRef<int64_t> shape) const;
  void addRepeated(BroadcastOp op, AxisInfoAnalysis &axes);
  bool loadsMoreOftenThanItCombines(llvm::ArrayRef<int64_t> shape) const;
  unsigned runFor(const Group &group, unsigned vector, unsigned bytes);
  double cyclesOf(const Group &group, const layout::LinearLayout &l);
  void addDivided(mlir::Operation *op, AxisInfoAnalysis &axes);
  unsigned runOfDivided(const Group &group, unsigned vector, unsigned bytes);
  unsigned runOfCut(mlir::Operation *op, unsigned vector) const;
  unsigned runOfCut(const Group &group, unsigned vector) const;
  double cyclesOfCut(const Access &access, const layout::LinearLayout &l) const;
  /// Loads of a thread for blocks that are repeated to this shape, if it has layout `l`;
  /// `onlyNear`: without those of which much is made before.
  unsigned numRepeatedLoads(llvm::ArrayRef<int64_t> shape, const layout::LinearLayout &l,
                            bool onlyNear) const;
  /// Cycles of those that are near, and of what is computed for such blocks.
  double cyclesOfRepeated(llvm::ArrayRef<int64_t> shape, const layout::LinearLayout &l) const;
  /// Loads of one row that all rows of a block of this shape use.
  unsigned numSharedLoads(llvm::ArrayRef<int64_t> shape) const;

  mlir::MLIRContext *context;
  const Tuning &tuning;
  unsigned warps;
  llvm::MapVector<mlir::Operation *, Access> accesses;
  llvm::SmallVector<Group, 4> groups;
  /// Shapes of loads that are one element long along some dimension.
  llvm::SmallVector<llvm::SmallVector<int64_t, 4>, 4> thinLoads;
  /// What is loaded and repeated to a larger block: the load, its shape there, and that of the
  /// block; `isNear` if little is done with it before.
  struct Repeated {
    mlir::Operation *load;
    llvm::SmallVector<int64_t, 4> operand, result;
    bool isNear;
  };
  llvm::SmallVector<Repeated, 4> repeated;
  /// What is computed for blocks of a shape that are repeated to another: instructions for each
  /// element, but for indices of which the next is a constant further on.
  struct Computed {
    llvm::SmallVector<int64_t, 4> operand, result;
    double instructions = 0;
    llvm::SmallPtrSet<mlir::Operation *, 8> seen;
  };
  llvm::SmallVector<Computed, 4> computed;
  void addComputed(mlir::Value v, Computed &entry, AxisInfoAnalysis &axes);
  /// Reductions of blocks of more dimensions than are accessed, such as the steps of a sorting
  /// network.
  llvm::SmallVector<ReduceOp, 4> reductions;
  /// Quotients and remainders of integers, and the runs along each dimension over which one
  /// division is enough.
  struct Divided {
    llvm::SmallVector<int64_t, 4> shape, runs;
  };
  llvm::SmallVector<Divided, 4> divided;
  /// Axes along which blocks of a shape are reduced or scanned, as bits.
  struct Combined {
    llvm::SmallVector<int64_t, 4> shape;
    uint32_t axes = 0;
    llvm::SmallVector<mlir::Operation *, 2> ops;
  };
  llvm::SmallVector<Combined, 4> combined;
};

/// Of reducing a block in layout `l`.
lowering::Cost costOfReducing(ReduceOp op, const layout::LinearLayout &l);

} // namespace tile

#endif // TILE_PASSES_LAYOUTS_COALESCE_H
