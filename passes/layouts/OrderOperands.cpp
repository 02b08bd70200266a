//===- OrderOperands.cpp - widened operands, counted as they lie in memory ===//
//
// Contract and example: OrderOperandsPass in passes/layouts/Passes.td.
//
// Which element of an operand is the third of a product's inner dimension, nobody sees; and rows of
// a result may have other numbers as long as they get their own back. So the bits of one dimension
// of the left operand are dealt out anew: those that count elements side by side in memory become
// those that a thread's registers count. Renaming is a reshape, a transposition and a reshape
// back, which move nothing: layouts take them up.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/Passes.h"
#include "passes/facts/AxisInfo.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_ORDEROPERANDSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

#define DEBUG_TYPE "tile-order-operands"
ALWAYS_ENABLED_STATISTIC(sumsReordered, "products that sum in the order of memory");
ALWAYS_ENABLED_STATISTIC(rowsReordered, "products with rows in the order of memory");

static constexpr unsigned kMostBytes = 16; ///< that a thread reads at once

namespace {
/// Bit i of a dimension becomes bit [i].
using Renaming = SmallVector<unsigned, 8>;

struct Candidate {
  cta::WarpgroupDotOp dot;
  LoadOp load;
  unsigned loadDim; ///< that is contiguous in memory
  unsigned dim;     ///< the same of the operand: 0 for rows, 1 for what is summed over
  Renaming to;
};
} // namespace

static Renaming inverseOf(ArrayRef<unsigned> to) {
  Renaming from(to.size());
  for (auto [i, bit] : llvm::enumerate(to))
    from[bit] = unsigned(i);
  return from;
}

/// `v`, a block of two dimensions, with the bits of `dim` renamed.
static Value renamed(OpBuilder &b, Value v, unsigned dim, ArrayRef<unsigned> to) {
  auto type = cast<RankedTensorType>(v.getType());
  Location loc = v.getLoc();
  SmallVector<std::pair<unsigned, unsigned>>
      runs; // first bit and count of those that stay together
  for (unsigned i = 0; i < to.size(); ++i)
    if (i > 0 && to[i] == to[i - 1] + 1)
      ++runs.back().second;
    else
      runs.push_back({i, 1});
  std::reverse(runs.begin(), runs.end()); // the last dimension counts fastest
  SmallVector<int64_t> apart, turned;
  for (auto [first, count] : runs)
    apart.push_back(int64_t(1) << count);
  apart.insert(dim == 0 ? apart.end() : apart.begin(), type.getDimSize(1 - dim));
  SmallVector<int32_t> order(runs.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int32_t x, int32_t y) { return to[runs[x].first] > to[runs[y].first]; });
  if (dim == 0) {
    order.push_back(int32_t(runs.size()));
  } else {
    for (int32_t &from : order)
      ++from;
    order.insert(order.begin(), 0);
  }
  for (int32_t from : order)
    turned.push_back(apart[from]);
  v = ReshapeOp::create(b, loc, type.clone(apart), v, UnitAttr());
  v = TransOp::create(b, loc, type.clone(turned), v, order);
  return ReshapeOp::create(b, loc, type, v, UnitAttr());
}

/// The load behind `v`, which only becomes `v`: through transpositions (`isTurned`: an odd number)
/// and changes of single elements.
static LoadOp loadBehind(Value v, bool &isTurned) {
  isTurned = false;
  while (Operation *def = v.getDefiningOp()) {
    if (!v.hasOneUse())
      return {};
    if (auto load = dyn_cast<LoadOp>(def))
      return load;
    bool isElementwise = def->hasTrait<OpTrait::Elementwise>() && def->getNumOperands() == 1;
    if (!isElementwise && !isa<TransOp>(def))
      return {};
    isTurned ^= isa<TransOp>(def);
    v = def->getOperand(0);
  }
  return {};
}

/// The bits of one dimension that registers, lanes or warps count, the lowest first.
static Renaming bitsOf(const LinearLayout &holders, Dim in, unsigned dim) {
  Renaming bits;
  for (int32_t bit = 0; bit < holders.inSizeLog2(in); ++bit)
    if (int32_t at = holders.basis(in, bit)[dim])
      bits.push_back(llvm::Log2_32(uint32_t(at)));
  llvm::sort(bits);
  return bits;
}

/// Whether the right operand can be written to shared memory in another order at no cost: by
/// threads, and not as a copy of what each turn of a loop loads.
static bool canReorderRight(cta::WarpgroupDotOp dot) {
  auto stage = dot.getB().getDefiningOp<cta::StageOp>();
  if (!stage || !stage->hasOneUse())
    return false;
  Value v = stage.getSrc();
  while (auto trans = v.getDefiningOp<TransOp>())
    v = trans.getSrc();
  auto loop = dot->getParentOfType<LoopLikeOpInterface>();
  return !v.getDefiningOp<LoadOp>() || !loop || loop.isDefinedOutsideOfLoop(v);
}

static std::optional<Candidate> match(cta::WarpgroupDotOp dot, AxisInfoAnalysis &axes) {
  auto type = dyn_cast<RankedTensorType>(dot.getA().getType());
  bool isTurned;
  LoadOp load = type ? loadBehind(dot.getA(), isTurned) : LoadOp();
  if (!load)
    return std::nullopt;
  unsigned bytes = getElementBytes(type.getElementType());
  unsigned loaded = getElementBytes(getElementType(load.getType()));
  const AxisInfo &info = axes.get(load.getPtr());
  if (loaded >= bytes || info.axes.size() != 2)
    return std::nullopt;
  Candidate c{dot, load, info.contiguity(1) >= info.contiguity(0) ? 1u : 0u, 0, {}};
  c.dim = isTurned ? 1 - c.loadDim : c.loadDim;
  unsigned most =
      std::min(llvm::Log2_32(kMostBytes / loaded), unsigned(info.axes[c.loadDim].contiguity));

  LinearLayout holders =
      layout::warpgroupOperandA(type.getDimSize(0), type.getDimSize(1), dot.getType().getDimSize(1),
                                bytes, cta::warpsOfGroup(dot));
  Renaming registers = bitsOf(holders, Dim::reg(), c.dim);
  unsigned now = 0; // bits that already are as wanted
  while (now < registers.size() && registers[now] == now)
    ++now;
  unsigned own = std::min<unsigned>(registers.size(), most);
  if (own <= now || (c.dim == 1 && !canReorderRight(dot)))
    return std::nullopt;
  c.to.assign(registers.begin(), registers.begin() + own);
  llvm::append_range(c.to, bitsOf(holders, Dim::lane(), c.dim));
  llvm::append_range(c.to, bitsOf(holders, Dim::warp(), c.dim));
  c.to.append(registers.begin() + own, registers.end());
  return c;
}

static void reorder(const Candidate &c) {
  OpBuilder b(c.dot->getContext());
  b.setInsertionPointAfter(c.load);
  LoadOp load = c.load;
  Value loaded = load.getResult();
  Operation *user = *loaded.user_begin();
  user->replaceUsesOfWith(loaded, renamed(b, loaded, c.loadDim, c.to));
  cta::WarpgroupDotOp dot = c.dot;
  if (c.dim == 1) {
    ++sumsReordered;
    auto stage = dot.getB().getDefiningOp<cta::StageOp>();
    b.setInsertionPoint(stage);
    stage.getSrcMutable().assign(renamed(b, stage.getSrc(), dot.getBTurned() ? 1 : 0, c.to));
    return;
  }
  ++rowsReordered;
  b.setInsertionPoint(dot);
  Attribute start;
  if (!matchPattern(dot.getAcc(), m_Constant(&start)) || !isa<SplatElementsAttr>(start))
    dot.getAccMutable().assign(renamed(b, dot.getAcc(), 0, c.to));
  b.setInsertionPointAfter(dot);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : dot.getResult().getUses())
    uses.push_back(&use);
  Value result = renamed(b, dot.getResult(), 0, inverseOf(c.to));
  for (OpOperand *use : uses)
    use->set(result);
}

namespace {
struct OrderOperandsPass : tile::impl::OrderOperandsPassBase<OrderOperandsPass> {
  void runOnOperation() override {
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>()) {
      SmallVector<cta::WarpgroupDotOp> dots;
      kernel.walk([&](cta::WarpgroupDotOp dot) {
        if (isa<RankedTensorType>(dot.getA().getType()))
          dots.push_back(dot);
      });
      if (dots.empty())
        continue;
      AxisInfoAnalysis axes(kernel);
      for (cta::WarpgroupDotOp dot : dots)
        if (std::optional<Candidate> c = match(dot, axes)) {
          LDBG() << (c->dim ? "sums" : "rows") << " in the order of memory: " << dot;
          reorder(*c);
        }
    }
  }
};
} // namespace
