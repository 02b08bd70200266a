//===- ShareInner.cpp - warps share the inner dimension of products --------===//
//
// Contract and example: ShareInnerPass in passes/layouts/Passes.td.
//
// A part of the inner dimension is a batch, and batches are what warps divide first: so a product
// in parts is one of batches, which layouts, copies and the lowering know, and a sum over them.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/Registers.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/layouts/ProductCycles.h"
#include "target/Tuning.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_SHAREINNERPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

#define DEBUG_TYPE "tile-share-inner"
ALWAYS_ENABLED_STATISTIC(productsShared, "products whose inner dimension warps share");

//===----------------------------------------------------------------------===//
// Which products
//===----------------------------------------------------------------------===//

namespace {
/// Products that add up one result, the first one's operand what the last one leaves, perhaps in
/// the next turn of a loop.
struct Sums {
  SmallVector<DotOp, 3> dots;
  scf::ForOp loop;    ///< that carries them, if one does
  unsigned place = 0; ///< among what it carries

  DotOp first() const { return dots.front(); }
  DotOp last() const { return dots.back(); }
  RankedTensorType type() const { return last().getType(); }
  /// Products each of which is followed by a sum over the parts.
  double turns(const Tuning &tuning) const;
};
} // namespace

double Sums::turns(const Tuning &tuning) const {
  if (!loop)
    return 1;
  std::optional<APInt> known = scf::ForOp(loop).getStaticTripCount();
  return known ? std::max(double(known->getLimitedValue()), 1.0) : tuning.unknownTurns;
}

/// The product that goes on with the sums of `dot`, which nobody else sees.
static DotOp nextOf(DotOp dot) {
  if (!dot->hasOneUse())
    return {};
  auto next = dyn_cast<DotOp>(*dot->user_begin());
  bool goesOn = next && next.getAcc() == dot.getResult() && next->getBlock() == dot->getBlock();
  return goesOn ? next : DotOp();
}

static Sums sumsFrom(DotOp first) {
  Sums sums{{first}, {}};
  while (DotOp next = nextOf(sums.last()))
    sums.dots.push_back(next);
  auto start = dyn_cast<BlockArgument>(first.getAcc());
  auto loop = start ? dyn_cast<scf::ForOp>(start.getOwner()->getParentOp()) : scf::ForOp();
  if (!loop || first->getBlock() != loop.getBody() || !start.hasOneUse() ||
      start.getArgNumber() == 0 || !sums.last()->hasOneUse())
    return sums;
  unsigned place = start.getArgNumber() - 1;
  if (loop.getBody()->getTerminator()->getOperand(place) == sums.last().getResult()) {
    sums.loop = loop;
    sums.place = place;
  }
  return sums;
}

/// Whether matrix instructions of warps compute the product, and its sums can be added up again,
/// in their own type.
static bool isDivisible(DotOp dot) {
  Type sum = dot.getType().getElementType();
  return dot.getType().getRank() == 2 && (sum.isF32() || sum.isF64() || sum.isInteger(32)) &&
         chooseInstruction(dot, targetOf(dot));
}

//===----------------------------------------------------------------------===//
// What they cost
//===----------------------------------------------------------------------===//

namespace {
/// What products take each turn, by how many parts the inner dimension is multiplied in.
class Model {
public:
  Model(const Sums &sums, unsigned warps)
      : sums(sums), warps(warps), module(sums.first()->getParentOfType<ModuleOp>()),
        target(targetOf(module)), tuning(tuningOf(target)) {}

  /// Cycles of a multiprocessor, for all warps; nothing where a part is less than an instruction
  /// multiplies.
  std::optional<double> cyclesOf(unsigned parts) const;
  /// Whether warps multiply the same, or threads have no registers for what they hold.
  bool isWasteful() const;

private:
  struct Work {
    double cycles = 0; ///< of a warp: instructions, and words of operands that it reads
    int64_t held = 0;  ///< registers of a thread
    bool isTwice = false;
  };
  std::optional<Work> workOf(unsigned parts) const;
  void addOperand(DotOp dot, Value operand, const LinearLayout &layout, Work &work) const;
  int64_t registersOfOthers() const;
  int64_t excessOf(const Work &work) const;
  double cyclesOfSums(unsigned parts) const;

  const Sums &sums;
  unsigned warps;
  ModuleOp module;
  const Target &target;
  const Tuning &tuning;
};
} // namespace

/// Whether a thread holds the operand whole while it multiplies: what the turn itself loads or
/// computes comes through shared memory in steps, and what has 16 bits can wait there.
static bool isHeld(DotOp dot, Value operand) {
  return operand.getParentBlock() != dot->getBlock() &&
         getElementBytes(getElementTypeOrSelf(operand.getType())) != 2;
}

/// Words that a thread has of the operand in registers, or reads: each of the latter is a wavefront
/// of its warp.
void Model::addOperand(DotOp dot, Value operand, const LinearLayout &layout, Work &work) const {
  int64_t words = wordsOfOperand(operand, layout.inSize(Dim::reg()));
  if (isHeld(dot, operand))
    work.held += words;
  else
    work.cycles += double(words);
}

std::optional<Model::Work> Model::workOf(unsigned parts) const {
  Work work;
  int64_t results = 0;
  for (DotOp dot : sums.dots) {
    auto layouts =
        parts > 1 ? layoutsOfParts(dot, parts, warps) : std::optional(chooseDotLayouts(dot, warps));
    if (!layouts)
      return std::nullopt;
    int64_t depth = dot.getA().getType().getShape().back() / parts;
    results = layouts->acc.inSize(Dim::reg());
    work.cycles += cyclesOfInstructions(dot, results, depth);
    addOperand(dot, dot.getA(), layouts->a, work);
    addOperand(dot, dot.getB(), layouts->b, work);
    for (auto [in, free] : layouts->acc.freeVariableMasks())
      work.isTwice |= in == Dim::warp() && free != 0;
  }
  work.held += results + registersOfOthers();
  return work;
}

/// Registers of a thread for the results of other products of the same turn.
int64_t Model::registersOfOthers() const {
  int64_t registers = 0;
  for (Operation &op : *sums.first()->getBlock())
    if (auto dot = dyn_cast<DotOp>(op);
        dot ? !llvm::is_contained(sums.dots, dot) : isa<cta::WarpgroupDotOp>(op))
      registers +=
          cast<RankedTensorType>(op.getResult(0).getType()).getNumElements() / (32 * warps);
  return registers;
}

/// Registers of a thread that it does not have: each is read from memory once a turn, at least.
int64_t Model::excessOf(const Work &work) const {
  int64_t most = mostRegistersOfThread(target, cta::threadsOf(module)) -
                 kRegistersBesideAccumulator - tuning.registersOfAddresses;
  return std::max<int64_t>(work.held - most, 0);
}

double Model::cyclesOfSums(unsigned parts) const {
  int64_t own = layoutsOfParts(sums.last(), parts, warps)->acc.inSize(Dim::reg());
  return cyclesOfSum(module, own, sums.type().getNumElements(), parts, warps) / sums.turns(tuning);
}

std::optional<double> Model::cyclesOf(unsigned parts) const {
  std::optional<Work> work = workOf(parts);
  if (!work)
    return std::nullopt;
  double cycles = warps * (work->cycles + double(excessOf(*work)));
  return parts > 1 ? cycles + cyclesOfSums(parts) : cycles;
}

bool Model::isWasteful() const {
  Work whole = *workOf(1);
  return whole.isTwice || excessOf(whole) > 0;
}

/// In how many parts the inner dimension is multiplied best.
static unsigned partsOf(const Sums &sums, unsigned warps) {
  if (!llvm::all_of(sums.dots, isDivisible))
    return 1;
  Model model(sums, warps);
  if (!model.isWasteful())
    return 1;
  auto comesFromProducts = [](DotOp dot) {
    return comesFromProduct(dot.getA()) || comesFromProduct(dot.getB());
  };
  if (llvm::any_of(sums.dots, comesFromProducts)) {
    refuse(sums.first(), Reason::PartsOfProduct);
    return 1;
  }
  double whole = *model.cyclesOf(1), least = whole * tuningOf(sums.first()).worthExchange;
  unsigned best = 1;
  bool isDeep = false;
  for (unsigned parts = 2; parts <= warps; parts *= 2)
    if (std::optional<double> cycles = model.cyclesOf(parts)) {
      isDeep = true;
      LDBG() << "in " << parts << " parts " << *cycles << " cycles, whole " << whole << ": "
             << sums.first();
      if (*cycles < least) {
        least = *cycles;
        best = parts;
      }
    }
  if (best == 1)
    refuse(sums.first(), isDeep ? Reason::PartsDear : Reason::PartsShort);
  return best;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

static Value zerosOf(OpBuilder &b, Location loc, RankedTensorType type) {
  return arith::ConstantOp::create(b, loc, type, b.getZeroAttr(type));
}

/// `operand`, its inner dimension taken apart, the parts as batches.
static Value inParts(OpBuilder &b, Value operand, DotOperand which, int64_t parts) {
  auto type = cast<RankedTensorType>(operand.getType());
  Location loc = operand.getLoc();
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  if (which == kDotB)
    return ReshapeOp::create(b, loc, type.clone({parts, rows / parts, columns}), operand,
                             UnitAttr());
  Value apart =
      ReshapeOp::create(b, loc, type.clone({rows, parts, columns / parts}), operand, UnitAttr());
  return TransOp::create(b, loc, type.clone({parts, rows, columns / parts}), apart,
                         ArrayRef<int32_t>{1, 0, 2});
}

static Value add(OpBuilder &b, Location loc, Value x, Value y) {
  if (isa<FloatType>(getElementTypeOrSelf(x.getType())))
    return arith::AddFOp::create(b, loc, x, y);
  return arith::AddIOp::create(b, loc, x, y);
}

/// The sum over the parts, and of what the products started from.
static Value sumOf(OpBuilder &b, Location loc, Value parts, Value start) {
  auto type = cast<RankedTensorType>(start.getType());
  Type element = type.getElementType();
  auto reduce = ReduceOp::create(b, loc, TypeRange{type}, ValueRange{parts}, 0);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *combiner = b.createBlock(&reduce.getCombine(), {}, {element, element}, {loc, loc});
    Value both = add(b, loc, combiner->getArgument(0), combiner->getArgument(1));
    YieldOp::create(b, loc, both);
  }
  Value sum = reduce.getResult(0);
  return startsAnew(start) ? sum : add(b, loc, start, sum);
}

/// The products in parts, from `acc` on.
static Value productsInParts(OpBuilder &b, const Sums &sums, Value acc, int64_t parts) {
  for (DotOp dot : sums.dots) {
    b.setInsertionPoint(dot);
    acc = DotOp::create(b, dot.getLoc(), inParts(b, dot.getA(), kDotA, parts),
                        inParts(b, dot.getB(), kDotB, parts), acc, dot.getInputPrecision(),
                        dot.getMaxNumImpreciseAcc());
  }
  return acc;
}

static void share(Sums &sums, int64_t parts) {
  RankedTensorType type = sums.type();
  RankedTensorType whole = type.clone({parts, type.getDimSize(0), type.getDimSize(1)});
  Location loc = sums.first().getLoc();
  Value result = sums.last().getResult(), start = sums.first().getAcc();
  OpBuilder b(sums.first());
  Value inParts;
  if (sums.loop) {
    b.setInsertionPoint(sums.loop);
    OpOperand &init = sums.loop.getInitArgsMutable()[sums.place];
    start = init.get();
    init.set(zerosOf(b, loc, whole));
    BlockArgument carried = sums.loop.getRegionIterArg(sums.place);
    carried.setType(whole);
    result.replaceAllUsesWith(productsInParts(b, sums, carried, parts));
    result = inParts = sums.loop.getResult(sums.place);
    result.setType(whole);
    b.setInsertionPointAfter(sums.loop);
  } else {
    inParts = productsInParts(b, sums, zerosOf(b, loc, whole), parts);
    b.setInsertionPointAfter(sums.last());
  }
  auto uses = llvm::to_vector(llvm::make_pointer_range(result.getUses()));
  Value sum = sumOf(b, loc, inParts, start);
  for (OpOperand *use : uses)
    use->set(sum);
  for (DotOp dot : llvm::reverse(sums.dots))
    dot.erase();
  productsShared += sums.dots.size();
}

static void shareInner(func::FuncOp kernel, unsigned warps) {
  SmallVector<DotOp> starts;
  kernel.walk([&](DotOp dot) {
    auto before = dot.getAcc().getDefiningOp<DotOp>();
    if (!before || nextOf(before) != dot)
      starts.push_back(dot);
  });
  for (DotOp dot : starts) {
    Sums sums = sumsFrom(dot);
    if (unsigned parts = partsOf(sums, warps); parts > 1)
      share(sums, parts);
  }
}

namespace {
struct ShareInnerPass : tile::impl::ShareInnerPassBase<ShareInnerPass> {
  void runOnOperation() override {
    unsigned warps = cta::warpsOfGroup(getOperation());
    for (func::FuncOp kernel : getOperation().getOps<func::FuncOp>())
      if (!kernel.isExternal() && warps > 1)
        shareInner(kernel, warps);
  }
};
} // namespace
