//===- StridedAccess.cpp - index arithmetic as strided tiles --------------===//
#include "passes/facts/StridedAccess.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/Promises.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

bool StridedBlock::isUniform() const {
  return wraps.empty() && llvm::all_of(strides, [](const Polynomial &p) { return p.isZero(); });
}

/// Whether a number is wide enough for an index. Narrower ones are meant to wrap around:
/// `i.to(tl.uint8)` is no cast that keeps the value.
static bool isIndex(Value v) {
  auto type = dyn_cast<IntegerType>(getElementType(v.getType()));
  return type && type.getWidth() >= 32;
}

/// Casts that keep the value of an index.
static bool isIndexCast(Operation *op) {
  return isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, HintOp>(op) &&
         isIndex(op->getResult(0)) && isIndex(op->getOperand(0));
}

static StridedBlock uniform(Polynomial p, unsigned rank) {
  StridedBlock s;
  s.start = std::move(p);
  s.strides.resize(rank);
  return s;
}

static unsigned rankOf(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type ? type.getRank() : 0;
}

Polynomial StridedAnalysis::scalar(Value v) {
  if (auto it = scalars.find(v); it != scalars.end())
    return it->second;
  Polynomial p = Polynomial::variable(v);
  scalars[v] = p; // what it is while its own gain is looked at
  if (isPromisedNonNegative(v))
    return p; // which its terms, taken apart, would no longer show
  if (std::optional<StridedBlock> s = compute(v))
    p = s->start;
  scalars[v] = p;
  return p;
}

std::optional<StridedBlock> StridedAnalysis::block(Value v) {
  if (!isa<RankedTensorType>(v.getType()))
    return uniform(scalar(v), 0);
  if (auto it = blocks.find(v); it != blocks.end())
    return it->second;
  blocks[v] = std::nullopt; // one that grows by itself is not strided
  std::optional<StridedBlock> result = compute(v);
  blocks[v] = result;
  return result;
}

//===----------------------------------------------------------------------===//
// Arithmetic and shape
//===----------------------------------------------------------------------===//

/// a + sign * b, element by element.
static StridedBlock sumOf(const StridedBlock &a, const StridedBlock &b, int sign) {
  StridedBlock r;
  auto add = [&](const Polynomial &x, const Polynomial &y) { return sign < 0 ? x - y : x + y; };
  r.start = add(a.start, b.start);
  for (auto [x, y] : llvm::zip_equal(a.strides, b.strides))
    r.strides.push_back(add(x, y));
  llvm::append_range(r.wraps, a.wraps);
  llvm::append_range(r.wraps, b.wraps);
  return r;
}

StridedBlock tile::operator+(const StridedBlock &a, const StridedBlock &b) {
  return sumOf(a, b, 1);
}

StridedBlock tile::operator-(const StridedBlock &a, const StridedBlock &b) {
  return sumOf(a, b, -1);
}

static StridedBlock scaled(StridedBlock a, const Polynomial &by) {
  a.start = a.start * by;
  for (Polynomial &stride : a.strides)
    stride = stride * by;
  return a;
}

/// x modulo a uniform m: x itself as long as it stays below m.
static std::optional<StridedBlock> wrapped(const StridedBlock &x, const StridedBlock &m) {
  if (!m.isUniform() || !x.wraps.empty())
    return std::nullopt;
  std::optional<unsigned> along;
  for (auto [dim, stride] : llvm::enumerate(x.strides)) {
    if (stride.isZero())
      continue;
    if (along || stride.asConstant() != 1)
      return std::nullopt;
    along = dim;
  }
  if (!along)
    return std::nullopt;
  StridedBlock r = x;
  r.wraps.push_back({*along, x.start, m.start});
  return r;
}

/// The index that `v` is as long as it is below a limit, and the limit: where(x < m, x, other),
/// minimum(x, m). Which elements are read instead does not matter to those who ask: nobody
/// may look at them.
static std::optional<std::pair<Value, Value>> clampedIndex(Operation *op) {
  auto select = dyn_cast<arith::SelectOp>(op);
  auto compare = select ? select.getCondition().getDefiningOp<arith::CmpIOp>() : nullptr;
  if (!compare)
    return std::nullopt;
  Value left = compare.getLhs(), right = compare.getRhs();
  Value whereTrue = select.getTrueValue(), whereFalse = select.getFalseValue();
  switch (compare.getPredicate()) {
  case arith::CmpIPredicate::slt:
    return left == whereTrue ? std::optional(std::pair(left, right)) : std::nullopt;
  case arith::CmpIPredicate::sge:
    return left == whereFalse ? std::optional(std::pair(left, right)) : std::nullopt;
  case arith::CmpIPredicate::sgt:
    return right == whereTrue ? std::optional(std::pair(right, left)) : std::nullopt;
  case arith::CmpIPredicate::sle:
    return right == whereFalse ? std::optional(std::pair(right, left)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

static std::optional<StridedBlock> reshapedBy(Operation *op, const StridedBlock &a) {
  if (isa<BroadcastOp>(op)) { // a dimension of size one has no stride
    StridedBlock r = a;
    ArrayRef<int64_t> from = cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
    ArrayRef<int64_t> to = cast<RankedTensorType>(op->getResult(0).getType()).getShape();
    for (unsigned i = 0; i < from.size(); ++i)
      if (from[i] == 1 && to[i] != 1)
        r.strides[i] = Polynomial();
    return r;
  }
  if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    StridedBlock r = a;
    r.strides.insert(r.strides.begin() + expand.getAxis(), Polynomial());
    for (StridedBlock::Wrap &w : r.wraps)
      w.dim += w.dim >= expand.getAxis();
    return r;
  }
  if (auto trans = dyn_cast<TransOp>(op)) {
    StridedBlock r = a;
    for (auto [i, from] : llvm::enumerate(trans.getOrder()))
      r.strides[i] = a.strides[from];
    for (StridedBlock::Wrap &w : r.wraps)
      w.dim = llvm::find(trans.getOrder(), int32_t(w.dim)) - trans.getOrder().begin();
    return r;
  }
  return std::nullopt;
}

/// What `op` makes of blocks by arithmetic, or by where their elements stand.
static std::optional<StridedBlock> combined(Operation *op, ArrayRef<StridedBlock> in) {
  if (isa<arith::AddIOp, arith::SubIOp>(op))
    return isa<arith::SubIOp>(op) ? in[0] - in[1] : in[0] + in[1];
  if (isa<arith::MulIOp>(op)) {
    if (in[1].isUniform())
      return scaled(in[0], in[1].start);
    if (in[0].isUniform())
      return scaled(in[1], in[0].start);
    return std::nullopt;
  }
  if (isa<arith::RemSIOp>(op))
    return wrapped(in[0], in[1]);
  return isIndexCast(op) ? std::optional(in[0]) : reshapedBy(op, in[0]);
}

std::optional<StridedBlock> StridedAnalysis::compute(Value v) {
  unsigned rank = rankOf(v);
  if (!isIndex(v))
    return std::nullopt;
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    if (!loop || arg == loop.getInductionVar())
      return std::nullopt;
    std::optional<StridedBlock> init = block(loop.getTiedLoopInit(arg)->get());
    std::optional<StridedBlock> more = progress(arg);
    if (!init || !more)
      return std::nullopt;
    return *init + *more;
  }
  Operation *op = v.getDefiningOp();
  if (!op)
    return std::nullopt;
  APInt value;
  if (matchPattern(v, m_ConstantInt(&value)))
    return uniform(Polynomial::constant(value.getSExtValue()), rank);
  if (auto range = dyn_cast<MakeRangeOp>(op)) {
    StridedBlock r = uniform(Polynomial::constant(range.getStart()), 1);
    r.strides[0] = Polynomial::constant(1);
    return r;
  }
  if (auto splat = dyn_cast<SplatOp>(op))
    return uniform(scalar(splat.getSrc()), rank);
  if (Value chosen = chosenBy(op))
    return block(chosen);
  if (isa<arith::DivSIOp>(op) && rank == 0 &&
      matchPattern(op->getOperand(1), m_ConstantInt(&value)))
    if (std::optional<StridedBlock> x = block(op->getOperand(0)))
      if (std::optional<Polynomial> exact = x->start.dividedBy(value.getSExtValue()))
        return uniform(*exact, rank);
  if (isa<arith::MaxSIOp>(op) && rank == 0 && nonNegative &&
      matchPattern(op->getOperand(1), m_Zero()))
    if (std::optional<StridedBlock> x = block(op->getOperand(0)); x && nonNegative->holds(x->start))
      return x;
  if (auto clamped = clampedIndex(op); clamped && rank > 0) {
    std::optional<StridedBlock> x = block(clamped->first), limit = block(clamped->second);
    return x && limit ? wrapped(*x, *limit) : std::nullopt;
  }
  if (isa<arith::MinSIOp>(op) && rank > 0) {
    std::optional<StridedBlock> x = block(op->getOperand(0)), last = block(op->getOperand(1));
    if (!x || !last)
      return std::nullopt;
    last->start = last->start + Polynomial::constant(1);
    return wrapped(*x, *last);
  }
  bool isArithmetic = isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::RemSIOp>(op);
  if (!isArithmetic && !isIndexCast(op) && !isa<BroadcastOp, ExpandDimsOp, TransOp>(op))
    return std::nullopt;
  if (rank == 0 && isa<arith::RemSIOp>(op))
    return std::nullopt;
  SmallVector<StridedBlock, 2> in;
  for (Value operand : op->getOperands()) {
    std::optional<StridedBlock> s = block(operand);
    if (!s)
      return std::nullopt;
    in.push_back(std::move(*s));
  }
  return combined(op, in);
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool tile::isInvariant(const Polynomial &p, scf::ForOp loop) {
  return llvm::all_of(p.terms(), [&](const Polynomial::Term &t) {
    return llvm::all_of(t.factors, [&](Value v) { return loop.isDefinedOutsideOfLoop(v); });
  });
}

/// steps * (iv - lb) / step, if the division is exact in every term.
static std::optional<Polynomial> timesIterations(const Polynomial &gain, const Polynomial &elapsed,
                                                 const Polynomial &step) {
  if (gain.isZero())
    return gain;
  std::optional<int64_t> constant = step.asConstant();
  if (!constant || *constant <= 0)
    return std::nullopt;
  if (std::optional<Polynomial> exact = gain.dividedBy(*constant))
    return *exact * elapsed;
  return std::nullopt;
}

std::optional<StridedBlock> StridedAnalysis::progress(BlockArgument arg) {
  auto loop = cast<scf::ForOp>(arg.getOwner()->getParentOp());
  StridedBlock gain = uniform(Polynomial(), rankOf(arg));
  std::optional<SmallVector<Gain, 2>> gains = gainsOf(loop, arg);
  if (!gains)
    return std::nullopt;
  for (const Gain &each : *gains) {
    std::optional<StridedBlock> added = block(each.value);
    if (!added)
      return std::nullopt;
    gain = isa<arith::SubIOp>(each.op) ? gain - *added : gain + *added;
  }
  Polynomial elapsed = Polynomial::variable(loop.getInductionVar()) - scalar(loop.getLowerBound());
  Polynomial step = scalar(loop.getStep());
  if (!gain.wraps.empty() || !isInvariant(gain.start, loop))
    return std::nullopt;
  std::optional<Polynomial> start = timesIterations(gain.start, elapsed, step);
  if (!start)
    return std::nullopt;
  gain.start = *start;
  for (Polynomial &stride : gain.strides) {
    std::optional<Polynomial> scaledStride =
        isInvariant(stride, loop) ? timesIterations(stride, elapsed, step) : std::nullopt;
    if (!scaledStride)
      return std::nullopt;
    stride = *scaledStride;
  }
  return gain;
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

std::optional<StridedPointers> StridedAnalysis::pointers(Value v) {
  if (auto it = pointerBlocks.find(v); it != pointerBlocks.end())
    return it->second;
  pointerBlocks[v] = std::nullopt;
  std::optional<StridedPointers> result = computePointers(v);
  pointerBlocks[v] = result;
  return result;
}

std::optional<StridedPointers> StridedAnalysis::computePointers(Value v) {
  unsigned rank = rankOf(v);
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    if (!loop)
      return rank == 0 ? std::optional(StridedPointers{v, uniform(Polynomial(), 0)}) : std::nullopt;
    std::optional<StridedPointers> init = pointers(loop.getTiedLoopInit(arg)->get());
    std::optional<StridedBlock> more = progress(arg);
    if (!init || !more)
      return std::nullopt;
    init->offset = init->offset + *more;
    return init;
  }
  Operation *op = v.getDefiningOp();
  if (auto add = dyn_cast_or_null<AddPtrOp>(op)) {
    std::optional<StridedPointers> base = pointers(add.getPtr());
    std::optional<StridedBlock> offset = block(add.getOffset());
    if (!base || !offset)
      return std::nullopt;
    base->offset = base->offset + *offset;
    return base;
  }
  if (auto splat = dyn_cast_or_null<SplatOp>(op)) {
    std::optional<StridedPointers> base = pointers(splat.getSrc());
    if (base)
      base->offset = uniform(base->offset.start, rank);
    return base;
  }
  if (op && isa<BroadcastOp, ExpandDimsOp, TransOp>(op)) {
    std::optional<StridedPointers> base = pointers(op->getOperand(0));
    if (!base)
      return std::nullopt;
    std::optional<StridedBlock> offset = reshapedBy(op, base->offset);
    if (!offset)
      return std::nullopt;
    base->offset = std::move(*offset);
    return base;
  }
  if (op && isa<HintOp>(op))
    return pointers(op->getOperand(0));
  if (Value chosen = op ? chosenBy(op) : Value())
    return pointers(chosen);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

Value StridedAnalysis::chosenBy(Operation *op) const {
  auto select = dyn_cast<arith::SelectOp>(op);
  auto way = select ? decided.find(select.getCondition()) : decided.end();
  if (way == decided.end())
    return {};
  return way->second ? select.getTrueValue() : select.getFalseValue();
}

arith::SelectOp StridedAnalysis::choiceBehind(Value pointers) const {
  while (true) {
    if (auto arg = dyn_cast<BlockArgument>(pointers)) {
      auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
      if (!loop || arg == loop.getInductionVar())
        return {};
      pointers = loop.getTiedLoopInit(arg)->get();
      continue;
    }
    Operation *op = pointers.getDefiningOp();
    if (Value chosen = chosenBy(op)) {
      pointers = chosen;
    } else if (isa<AddPtrOp, SplatOp, BroadcastOp, ExpandDimsOp, TransOp, HintOp>(op)) {
      pointers = op->getOperand(0);
    } else {
      auto select = dyn_cast<arith::SelectOp>(op);
      return select && isa<PtrType>(select.getType()) ? select : arith::SelectOp();
    }
  }
}
