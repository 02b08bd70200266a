//===- SkipMasks.cpp - masks only in the turns that they cut ---------------===//
//
// Contract and example: SkipMasksPass in passes/schedule/Passes.td.
//
// A loop in two, with masks and without, would do the same: but its rings and copies begin anew,
// its code is twice as long, and where it is to be cut takes bounds that may not be said of windows
// or lengths that are loaded. A branch around the masks asks each turn anew, for a few single
// numbers, and the loop stays one. No product is in the branch, so that those under way go on.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Registers.h"
#include "passes/facts/WholeMasks.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_SKIPMASKSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-skip-masks"
ALWAYS_ENABLED_STATISTIC(masksSkipped, "masks that turns which they leave whole do without");

namespace {

/// A choice between a block's elements and a number, by a mask.
struct Masking {
  arith::SelectOp select;
  bool wanted;                ///< what the mask is where all elements are taken
  Value taken;                ///< those elements; or the number that changes nothing in
  Operation *combines;        ///< what is done with the choice of two numbers; else null
  SetVector<Operation *> own; ///< what nobody else needs, in order, without the choice itself
};

} // namespace

static bool isBlockOfFloats(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type && isa<FloatType>(type.getElementType());
}

/// Adding it changes no number but the sign of a zero, or multiplying by it nothing.
static bool isNeutral(Value number, Operation *combines) {
  return isa<arith::AddFOp, arith::SubFOp>(combines) ? matchPattern(number, m_AnyZeroFloat())
                                                     : matchPattern(number, m_OneFloat());
}

/// The only user of a choice of two numbers, if it combines it with other elements.
static Operation *combinerOf(arith::SelectOp select) {
  if (!select->hasOneUse())
    return nullptr;
  Operation *user = *select->user_begin();
  bool combines = isa<arith::AddFOp, arith::MulFOp>(user) ||
                  (isa<arith::SubFOp>(user) && user->getOperand(1) == select.getResult());
  return combines && user->getBlock() == select->getBlock() ? user : nullptr;
}

static std::optional<Masking> maskingOf(arith::SelectOp select) {
  if (!isBlockOfFloats(select.getResult()) ||
      !isa<RankedTensorType>(select.getCondition().getType()))
    return std::nullopt;
  Value yes = select.getTrueValue(), no = select.getFalseValue();
  bool isNumber[] = {matchPattern(no, m_Constant()), matchPattern(yes, m_Constant())};
  Masking m{select, true, yes, nullptr, {}};
  if (isNumber[0] && isNumber[1]) {
    m.combines = combinerOf(select);
    if (!m.combines)
      return std::nullopt;
    m.wanted = isNeutral(yes, m.combines);
    if (!m.wanted && !isNeutral(no, m.combines))
      return std::nullopt;
  } else if (isNumber[0] == isNumber[1]) {
    return std::nullopt;
  } else {
    m.wanted = isNumber[0];
  }
  m.taken = m.wanted ? yes : no;
  return mayBeWhole(select.getCondition(), m.wanted) ? std::optional(m) : std::nullopt;
}

/// What the choices are made by, as far as nobody else in their block needs it.
static SetVector<Operation *> findOwn(const DenseSet<Operation *> &maskings, Block *block) {
  SetVector<Operation *> own;
  for (Operation &op : llvm::reverse(block->without_terminator())) {
    bool isOurs = isElementByElement(&op) && !op.use_empty() && !maskings.contains(&op) &&
                  llvm::all_of(op.getUsers(), [&](Operation *user) {
                    return own.contains(user) || maskings.contains(user);
                  });
    // What is masked stays where it is.
    if (isOurs && !isBlockOfFloats(op.getResult(0)))
      own.insert(&op);
  }
  return own;
}

/// Operations of `own` that `op` needs.
static void collect(Operation *op, const SetVector<Operation *> &own,
                    SetVector<Operation *> &found) {
  for (Value v : op->getOperands())
    if (Operation *def = v.getDefiningOp(); def && own.contains(def) && !found.contains(def)) {
      collect(def, own, found);
      found.insert(def);
    }
}

static bool isArithmetic(Operation *op) {
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         !isa<arith::ConstantOp>(op);
}

/// Operations of a thread.
static int64_t slotsOf(Operation *op) {
  if (!isArithmetic(op) || op->getNumResults() != 1 ||
      !isa<RankedTensorType>(op->getResult(0).getType()))
    return 0;
  int64_t times =
      isa<math::ExpOp, math::Exp2Op, arith::DivFOp>(op) ? int64_t(tuningOf(op).longOpSlots) : 1;
  return times * registersOf(op->getResult(0).getType());
}

/// Cycles of the tensor cores for the products of a turn, of a warpgroup's share; or of four
/// warps'.
static int64_t cyclesOfProducts(scf::ForOp loop) {
  int64_t cycles = 0;
  unsigned warps = cta::warpsOfGroup(loop);
  loop.walk([&](Operation *op) {
    if (op->getParentOfType<scf::ForOp>() != loop)
      return;
    if (auto dot = dyn_cast<cta::WarpgroupDotOp>(op))
      cycles += cyclesOfShare(dot, std::max(warps / 4, 1u));
    if (auto dot = dyn_cast<DotOp>(op)) { // 64 x 256 x 32 bytes in 128 cycles by four warps
      auto left = cast<RankedTensorType>(dot.getA().getType());
      int64_t bytes = left.getShape().back() * int64_t(getElementBytes(left.getElementType()));
      cycles += registersOf(dot.getType()) * bytes / 32;
    }
  });
  return cycles;
}

/// Choices of the loop for which `isTaken`, with what only they need.
static SmallVector<Masking> maskingsOf(scf::ForOp loop,
                                       function_ref<bool(const Masking &)> isTaken) {
  SmallVector<Masking> maskings;
  for (auto select : loop.getBody()->getOps<arith::SelectOp>())
    if (std::optional<Masking> m = maskingOf(select); m && isTaken(*m))
      maskings.push_back(std::move(*m));
  DenseSet<Operation *> all;
  for (Masking &m : maskings)
    all.insert(m.select);
  SetVector<Operation *> own = findOwn(all, loop.getBody());
  for (Masking &m : maskings)
    collect(m.select, own, m.own);
  return maskings;
}

/// Operations of a thread that a turn is spared which `m` leaves whole.
static int64_t sparedBy(const Masking &m) {
  int64_t slots = slotsOf(m.select);
  for (Operation *op : m.own)
    slots += slotsOf(op);
  return slots;
}

/// Choices that are worth a branch in each turn.
static SmallVector<Masking> worthwhile(scf::ForOp loop, double leastShare) {
  DenseSet<Operation *> large;
  int64_t spared = 0, turn = cyclesOfProducts(loop);
  for (const Masking &m : maskingsOf(loop, [](const Masking &) { return true; }))
    if (int64_t slots = sparedBy(m); slots >= int64_t(tuningOf(loop).branchSlots)) {
      spared += slots;
      large.insert(m.select);
    }
  loop.getBody()->walk([&](Operation *op) { turn += slotsOf(op); });
  LDBG() << spared << " of " << turn << " slots of a turn";
  if (double(spared) < leastShare * double(turn))
    return {};
  return maskingsOf(loop, [&](const Masking &m) { return large.contains(m.select); });
}

/// `chosen`, combined with what the choice is combined with.
static Value combined(OpBuilder &b, Masking &m, Value chosen) {
  if (!m.combines)
    return chosen;
  IRMapping map;
  map.map(m.select.getResult(), chosen);
  // Where both are in one block, a product is added in one instruction.
  for (Value v : m.combines->getOperands())
    if (auto factor = v.getDefiningOp<arith::MulFOp>();
        factor && factor->hasOneUse() && factor->getBlock() == m.combines->getBlock())
      b.clone(*factor, map);
  return b.clone(*m.combines, map)->getResult(0);
}

namespace {
struct SkipMasksPass : tile::impl::SkipMasksPassBase<SkipMasksPass> {
  using SkipMasksPassBase::SkipMasksPassBase;
  void runOnOperation() override {
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>())
      run(kernel);
  }

private:
  /// The types of a loop's products.
  static SmallVector<Type> productsOf(scf::ForOp loop) {
    SmallVector<Type> types;
    loop.walk([&](Operation *op) {
      if (isa<DotOp, cta::WarpgroupDotOp>(op))
        types.append({op->getOperand(1).getType(), op->getResult(0).getType()});
    });
    return types;
  }

  void run(func::FuncOp kernel);
  static void skip(scf::ForOp loop, SmallVector<Masking> maskings);
};
} // namespace

void SkipMasksPass::run(func::FuncOp kernel) {
  double least = share > 0 ? double(share) : tuningOf(kernel).masksLeastShare;
  SmallVector<SmallVector<Type>> plain;
  SmallVector<scf::ForOp> masked;
  kernel.walk([&](scf::ForOp loop) {
    bool isMasked = llvm::any_of(loop.getBody()->getOps<arith::SelectOp>(),
                                 [](arith::SelectOp op) { return maskingOf(op).has_value(); });
    if (cyclesOfProducts(loop) == 0)
      return;
    if (isMasked)
      masked.push_back(loop);
    else
      plain.push_back(productsOf(loop));
  });
  for (scf::ForOp loop : masked)
    // Who has written the same products without masks beside it has cut the loop already.
    if (!llvm::is_contained(plain, productsOf(loop)))
      skip(loop, worthwhile(loop, least));
}

void SkipMasksPass::skip(scf::ForOp loop, SmallVector<Masking> maskings) {
  for (Masking &m : maskings) {
    Operation *last = m.combines ? m.combines : m.select.getOperation();
    OpBuilder b(last);
    Value whole = isWhole(b, m.select.getCondition(), m.wanted);
    auto take = [&](OpBuilder &b, Location loc) {
      scf::YieldOp::create(b, loc, combined(b, m, m.taken));
    };
    auto choose = [&](OpBuilder &b, Location loc) {
      IRMapping map;
      for (Operation *op : m.own)
        b.clone(*op, map);
      scf::YieldOp::create(b, loc, combined(b, m, b.clone(*m.select, map)->getResult(0)));
    };
    auto branch = scf::IfOp::create(b, last->getLoc(), whole, take, choose);
    LDBG() << "asks first: " << m.select;
    last->getResult(0).replaceAllUsesWith(branch.getResult(0));
    ++masksSkipped;
  }
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(*loop.getBody())))
    if (isOpTriviallyDead(&op))
      op.erase();
}
