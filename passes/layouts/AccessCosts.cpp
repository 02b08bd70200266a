//===- AccessCosts.cpp - what an access takes in a layout -----------------===//
//
// A part of Coalescing: how wide the accesses of a thread are, and which lines of memory those of a
// warp touch.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/Builders.h"
#include "ir/layout/GF2.h"
#include "passes/facts/EqualRuns.h"
#include "passes/layouts/Coalesce.h"
#include "passes/memory/Scratch.h"
#include "target/Devices.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

/// Of a row that is long enough for all lanes: as many wavefronts as there are lines.
double Coalescing::Limits::cyclesWith(unsigned vector) const {
  double cycles = 0;
  for (auto [limit, bytes] : each) {
    double lines = double(kLanes * vector * bytes) / kLineBytes;
    lowering::Cost cost{1, std::max(lines, 1.0), 0};
    cycles += cost.total(/*warps=*/1) / std::min(limit, vector);
  }
  return cycles;
}

bool Coalescing::isContiguous(Operation *op) const { return accesses.find(op)->second.contiguous; }

bool Coalescing::isRepeated(Operation *op) const { return accesses.find(op)->second.repeated; }

/// Low bits of dimension `axis` that registers hold in place, up to `limit`
/// elements: register bit i is coordinate bit i, and no other thread differs.
static unsigned vectorBits(const LinearLayout &l, unsigned axis, unsigned limit) {
  Dim dim = Dim::dim(axis);
  unsigned shift = l.outShift(dim), bits = 0;
  ArrayRef<uint64_t> registers = l.rows(Dim::reg());
  while (bits < registers.size() && (2u << bits) <= limit &&
         registers[bits] == 1ull << (shift + bits))
    ++bits;
  uint64_t threads = 0;
  for (Dim in : {Dim::lane(), Dim::warp()})
    for (uint64_t row : l.rows(in))
      threads |= row;
  while (bits && (threads >> shift & layout::lowBits(bits)))
    --bits;
  return bits;
}

unsigned Coalescing::vectorFor(Operation *op, const LinearLayout &l) const {
  const Access &access = accesses.find(op)->second;
  return access.contiguous ? 1u << vectorBits(l, access.order.front(), access.limit) : 1;
}

std::optional<unsigned> Coalescing::maskRunFor(Operation *op, unsigned vector) const {
  unsigned run = accesses.find(op)->second.maskRun;
  return run < vector ? std::optional(run) : std::nullopt;
}

unsigned Coalescing::numAccesses(Operation *op, cta::LayoutAttr layout) const {
  const LinearLayout &l = layout.getLayout();
  unsigned vector = vectorFor(op, l);
  const Access &access = accesses.find(op)->second;
  return vector == 1 && !access.runs.empty() ? distinctRegisters(l, access.runs)
                                             : unsigned(l.inSize(Dim::reg())) / vector;
}

unsigned Coalescing::numCopies(Operation *op, cta::LayoutAttr layout) const {
  const LinearLayout &l = layout.getLayout();
  return unsigned(l.inSize(Dim::reg())) / vectorFor(op, l);
}

bool Coalescing::hasEqualRuns(Operation *op) const {
  return llvm::any_of(accesses.find(op)->second.runs, [](int64_t run) { return run > 1; });
}

/// Contiguous bytes that one instruction of a warp covers along `axis`.
static unsigned runBytes(const LinearLayout &l, unsigned axis, unsigned bytes) {
  unsigned bits = vectorBits(l, axis, kVectorBytes / bytes);
  unsigned shift = l.outShift(Dim::dim(axis));
  while (llvm::is_contained(l.rows(Dim::lane()), 1ull << (shift + bits)))
    ++bits;
  return bytes << bits;
}

/// Parts of memory that one instruction of a warp touches, if the first begins where a part does.
unsigned Coalescing::partsTouched(const Access &access, const LinearLayout &l, unsigned vector,
                                  unsigned partBytes) const {
  SmallVector<int64_t> starts{0};
  for (uint64_t row : l.rows(Dim::lane())) {
    int64_t bytes = 0;
    for (auto [axis, apart] : llvm::enumerate(access.apart)) {
      Dim dim = Dim::dim(unsigned(axis));
      bytes += int64_t(row >> l.outShift(dim) & uint64_t(l.outSize(dim) - 1)) * apart;
    }
    if (bytes == 0) // the same elements
      continue;
    for (size_t i = 0, count = starts.size(); i < count; ++i)
      starts.push_back(starts[i] + bytes);
  }
  llvm::SmallDenseSet<int64_t, 64> parts;
  for (int64_t start : starts)
    for (int64_t at = start / partBytes; at * partBytes < start + vector * access.bytes; ++at)
      parts.insert(at);
  return parts.size();
}

/// A wavefront for each line that an instruction touches; what is written leaves for the next
/// cache by sectors, full or not, as many in a cycle as come from there.
lowering::Cost Coalescing::cost(Operation *op, const LinearLayout &l) const {
  constexpr double sectorsLeaving = kL2BytesPerCycle / kSectorBytes;
  const Access &access = accesses.find(op)->second;
  unsigned vector = vectorFor(op, l);
  double count = double(l.inSize(Dim::reg())) / vector;
  double each = partsTouched(access, l, vector, kLineBytes);
  if (!isa<LoadOp>(op))
    each = std::max(each, partsTouched(access, l, vector, kSectorBytes) / sectorsLeaving);
  return {count, count * each, 0};
}

cta::LayoutAttr Coalescing::ownLayout(Operation *op) {
  const Access &access = accesses.find(op)->second;
  if (access.strided || access.leans)
    return anchorWith(op, 1);
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  if (!access.contiguous)
    return {};
  Group &group = groupOf(shape, access.order);
  layoutOf(group);
  Limits own;
  own.add(access.limit, access.bytes);
  return group.hasRuns ? layoutWith(group, vectorOf(own, shape), access.bytes) : cta::LayoutAttr();
}

bool Coalescing::mayPart() {
  return llvm::any_of(groups, [&](const Group &group) {
    const Limits &all = group.together;
    unsigned shared = vectorOf(all, group.shape);
    return llvm::any_of(all.each, [&](auto &access) {
      Limits own;
      own.add(access.first, access.second);
      return vectorOf(own, group.shape) > shared;
    });
  });
}

bool Coalescing::sharesLayout(Operation *op) const {
  const Access &access = accesses.find(op)->second;
  bool isSingle = isa<AtomicRmwOp>(op) && access.limit == 1;
  return access.contiguous && !access.alone && !isSingle;
}

cta::LayoutAttr Coalescing::layoutOfPart(ArrayRef<Operation *> part) {
  const Access &first = accesses.find(part.front())->second;
  Group group{
      groupOf(cast<ShapedType>(part.front()->getOperand(0).getType()).getShape(), first.order)};
  unsigned shared = vectorOf(group.together, group.shape);
  group.together = {};
  for (Operation *op : part) {
    const Access &access = accesses.find(op)->second;
    group.together.add(access.limit, access.bytes);
  }
  if (vectorOf(group.together, group.shape) <= shared)
    return {};
  group.layout = {};
  return layoutOf(group);
}

lowering::Cost tile::costOfReducing(ReduceOp op, const LinearLayout &l) {
  const Tuning &tuning = tuningOf(op);
  unsigned axis = op.getAxis();
  double results = layout::sliceAxis(l, axis).inSize(Dim::reg());
  unsigned lanes = llvm::popcount(lowering::axisBits(l, Dim::lane(), axis));
  unsigned warps = llvm::popcount(lowering::axisBits(l, Dim::warp(), axis));
  lowering::Cost cost{l.inSize(Dim::reg()) - results, 0, 0};
  cost += {2 * lanes * results, lanes * results, lanes * tuning.shuffleCycles};
  if (double parts = warps ? 1 << warps : 0)
    cost += {(1 + 2 * parts) * results, (1 + parts) * results, tuning.exchangeCycles};
  return cost;
}

/// Whether what is reduced may be a block of this shape in more dimensions.
static bool isWithinRows(ReduceOp op, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> reduced = op.getInputType().getShape();
  return !areAlikeInRows(reduced, shape) && llvm::product_of(reduced) == llvm::product_of(shape);
}

/// Of the accesses of a group, each where it is best, and of the reductions of its blocks, if they
/// live in `l`.
double Coalescing::cyclesOf(const Group &group, const LinearLayout &l) {
  double cycles = 0;
  for (auto &[op, access] : accesses) {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    if (!access.contiguous || type.getShape() != ArrayRef(group.shape) ||
        access.order != group.order)
      continue;
    Limits own;
    own.add(access.limit, access.bytes);
    unsigned vector = vectorOf(own, group.shape);
    LinearLayout best = layoutWith(group, vector, access.bytes).getLayout();
    Type element = cast<PtrType>(type.getElementType()).getPointee();
    lowering::Cost moved = lowering::convertCost(best, l, element, targetOf(op));
    moved += cost(op, best);
    cycles += std::min(cost(op, l).total(warps), moved.total(warps));
  }
  for (ReduceOp op : reductions)
    if (isWithinRows(op, group.shape))
      cycles += costOfReducing(op, layout::reshape(l, op.getInputType().getShape())).total(warps);
  return cycles;
}

cta::LayoutAttr Coalescing::layoutOfRuns(ArrayRef<int64_t> shape) {
  cta::LayoutAttr layout = shapeLayout(shape);
  auto *group = llvm::find_if(groups, [&](Group &g) { return ArrayRef(g.shape) == shape; });
  return group->hasRuns ? layout : cta::LayoutAttr();
}

/// The cheapest of runs of `vector` elements, twice as many, and so on up to `most`.
static unsigned cheapestRun(unsigned vector, int64_t most,
                            llvm::function_ref<double(unsigned run)> cycles) {
  unsigned best = vector;
  double least = cycles(vector);
  for (unsigned run = 2 * vector; run <= most; run *= 2) {
    double own = cycles(run);
    if (own < least) {
      least = own;
      best = run;
    }
  }
  return best;
}

/// Elements of a row that a thread has side by side: more than `vector` if that saves a part of the
/// cycles of reductions within rows.
unsigned Coalescing::runFor(const Group &group, unsigned vector, unsigned bytes) {
  auto isOfGroup = [&](ReduceOp op) { return isWithinRows(op, group.shape); };
  if (group.order.empty() || llvm::none_of(reductions, isOfGroup))
    return vector;
  int64_t each = llvm::product_of(group.shape) / (kLanes * warps);
  int64_t most = std::min(each, group.shape[group.order.front()]);
  auto cycles = [&](unsigned run) {
    double own = cyclesOf(group, layoutWith(group, run, bytes).getLayout());
    return run == vector ? tuning.worthExchange * own : own;
  };
  return cheapestRun(vector, most, cycles);
}

void Coalescing::addDivided(Operation *op, AxisInfoAnalysis &axes) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || axes.get(op->getOperand(1)).constant) // by multiplication
    return;
  const AxisInfo &info = axes.get(op->getResult(0));
  Divided entry{SmallVector<int64_t, 4>(type.getShape()), {}};
  bool isRemainder = isa<arith::RemSIOp, arith::RemUIOp>(op);
  for (unsigned axis = 0; axis < type.getRank(); ++axis) {
    int64_t run = isRemainder ? std::min(info.contiguity(axis), info.divisibility(axis))
                              : info.constancy(axis);
    entry.runs.push_back(std::clamp<int64_t>(run, 1, type.getDimSize(axis)));
  }
  divided.push_back(std::move(entry));
}

/// Elements side by side of which a thread has one quotient: where accesses take single elements
/// anyway, as the taps of a filter do, a few lines more cost less than dividing for each of them.
unsigned Coalescing::runOfDivided(const Group &group, unsigned vector, unsigned bytes) {
  auto isOfGroup = [&](const Divided &d) { return d.shape == group.shape; };
  if (group.order.empty() || llvm::none_of(divided, isOfGroup))
    return vector;
  constexpr int64_t kMost = 4;
  int64_t each = llvm::product_of(group.shape) / (kLanes * warps);
  int64_t most = std::min({each, group.shape[group.order.front()], kMost});
  return cheapestRun(vector, most, [&](unsigned run) {
    cta::LayoutAttr layout = layoutWith(group, run, bytes);
    const LinearLayout &l = layout.getLayout();
    lowering::Cost all;
    for (const Divided &d : llvm::make_filter_range(divided, isOfGroup))
      all.instructions += tuning.divisionInstructions * distinctRegisters(l, d.runs);
    for (auto &[op, access] : accesses) {
      if (cast<ShapedType>(op->getOperand(0).getType()).getShape() != ArrayRef(group.shape))
        continue;
      lowering::Cost own = cost(op, l);
      double loaded = double(numAccesses(op, layout)) / double(numCopies(op, layout));
      all += {own.instructions * loaded, own.wavefronts * loaded, 0};
    }
    return all.total(warps);
  });
}

/// Of accesses to single elements of rows that a mask cuts short, what is left of them, and of the
/// index of each row that a thread has.
double Coalescing::instructionsOfRows(Operation *op, cta::LayoutAttr layout) const {
  const LinearLayout &l = layout.getLayout();
  Dim fast = Dim::dim(accesses.find(op)->second.order.front());
  unsigned rows = 0;
  for (int32_t reg = 0; reg < l.inSize(Dim::reg()); ++reg)
    for (auto [dim, at] : l.apply({{Dim::reg(), reg}}))
      rows += dim == fast && at == 0;
  return rows * tuning.indexInstructions;
}

double Coalescing::cyclesOfCut(const Access &access, const LinearLayout &l) const {
  Dim fast = Dim::dim(access.order.front());
  unsigned left = 0, rows = 0;
  for (int32_t reg = 0; reg < l.inSize(Dim::reg()); ++reg) {
    auto at = l.apply({{Dim::reg(), reg}});
    auto *its = llvm::find_if(at, [&](auto &coordinate) { return coordinate.first == fast; });
    left += its->second < access.most;
    rows += its->second == 0;
  }
  double lines = partsTouched(access, l, /*vector=*/1, kLineBytes);
  return lowering::Cost{left + rows * tuning.indexInstructions, left * lines, 0}.total(warps);
}

/// Elements of a row that a thread has side by side. Most lanes would be idle where a mask leaves
/// less than a half of each row and lanes take an element each; and each thread would compute the
/// indices of many rows.
unsigned Coalescing::runOfCut(Operation *op, unsigned vector) const {
  const Access &access = accesses.find(op)->second;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  int64_t length = shape[access.order.front()];
  if (vector > 1 || shape.size() < 2 || access.most > length / 2)
    return vector;
  const Group *group = llvm::find_if(groups, [&](const Group &g) {
    return ArrayRef(g.shape) == shape && g.order == access.order;
  });
  return cheapestRun(vector, length, [&](unsigned run) {
    return cyclesOfCut(access, layoutWith(*group, run, access.bytes).getLayout());
  });
}

/// What such accesses need lives where they work.
unsigned Coalescing::runOfCut(const Group &group, unsigned vector) const {
  unsigned run = vector;
  for (auto &[op, access] : accesses)
    if (access.alone && access.order == group.order &&
        cast<RankedTensorType>(op->getOperand(0).getType()).getShape() == ArrayRef(group.shape))
      run = std::max(run, runOfCut(op, vector));
  return run;
}

bool Coalescing::isGoodEnough(Operation *op, cta::LayoutAttr given) {
  cta::LayoutAttr best = anchor(op);
  const Access &access = accesses.find(op)->second;
  int64_t elements = cast<RankedTensorType>(op->getOperand(0).getType()).getNumElements();
  if (given == best || !access.contiguous || elements <= 32 * warps)
    return true;
  // Where threads have runs of rows, what a warp covers there is no measure.
  if (cta::LayoutAttr own = ownLayout(op))
    best = own;
  unsigned axis = access.order.front();
  return runBytes(given.getLayout(), axis, access.bytes) >=
         std::min(runBytes(best.getLayout(), axis, access.bytes), tuning.goodRunBytes);
}
