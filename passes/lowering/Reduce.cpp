//===- Reduce.cpp - reductions: thread, then warp, then block -------------===//
//
// 1. Each thread combines the registers it holds along the axis, pairwise.
// 2. Lanes that split the axis combine by butterfly shuffles; all lanes of a warp reduce 32-bit
//    integers in one instruction. Where only one lane can have something, the others ask it.
// 3. If warps split the axis too, each writes its partial result to scratch
//    memory; after one barrier every thread combines the partials it needs, so
//    no second exchange is needed to hand the result around. Of many partials each
//    lane reads some, and butterflies combine those: registers for all of them can
//    be more than anything else in the kernel needs at a time, and where combining two is
//    work, each thread would do that of all warps again. Results can come to other threads
//    than those that had a part of them: that costs nothing here. Warps that hold only copies
//    of results which others store go around it, where that is work.
//
// In front of that memory a lane need not know every result of its warp: where it holds parts
// of several, two lanes each give the other half of theirs and go on with the other half. Without
// it they hand the results around afterwards, where that is less than butterflies for all of them
// (ReduceHalves.cpp).
//
// A combiner that is not known to be commutative gets its elements in order. The axis is then
// spread as for scans: registers ("segment"), lanes, warps, registers ("repeats"). Each thread
// combines its segments, lanes those of one repeat, lower positions on the left; what is left
// is combined in the order of (repeat, warp). Only the first of the lanes then has the result: of
// several steps it tells the others, if they need it, which costs less than to take sides in each.
//
// In front of the memory lanes share the repeats out in the same way, neighbours first.
//
// Scratch: for each operand, `partial[result element][repeat][warp along the axis]`, or the result
// element last, where the lanes of a warp would write to few banks otherwise; then, if all threads
// share out the results, `result[result element]`.
//
//===----------------------------------------------------------------------===//
#include "ir/Combiners.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/facts/Combiners.h"
#include "passes/lowering/ReduceLowering.h"
#include "passes/lowering/Reductions.h"
#include "passes/lowering/core/Coordinates.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

FailureOr<Registers> ReduceLowering::combine(ValueRange lhs, ValueRange rhs) {
  SmallVector<Value> both(lhs);
  llvm::append_range(both, rhs);
  return core.apply(op.getCombineBlock(), both, isHeard ? core.hasNoneOf(copies) : Value());
}

unsigned lowering::axisBits(const LinearLayout &layout, Dim in, unsigned axis) {
  unsigned mask = 0;
  for (int32_t bit = 0; bit < layout.inSizeLog2(in); ++bit)
    if (layout.basis(in, bit)[axis] != 0)
      mask |= 1u << bit;
  return mask;
}

int64_t lowering::partialBytes(Type element, int64_t results, unsigned warps) {
  return llvm::alignTo(results * warps * std::max<int64_t>(getElementBytes(element), 1), 16);
}

unsigned lowering::repeatsOf(const LinearLayout &layout, unsigned axis) {
  int32_t shared = 0;
  for (Dim in : {Dim::lane(), Dim::warp()})
    for (int32_t bit = 0; bit < layout.inSizeLog2(in); ++bit)
      shared |= layout.basis(in, bit)[axis];
  unsigned repeats = 1;
  for (int32_t bit = 0; shared && bit < layout.inSizeLog2(Dim::reg()); ++bit)
    repeats <<= layout.basis(Dim::reg(), bit)[axis] > shared;
  return repeats;
}

int64_t lowering::reduceScratchBytes(ReduceOp op) {
  const LinearLayout &layout = cta::getLayout(op.getSrcs()[0].getType());
  unsigned warps = 1u << llvm::popcount(axisBits(layout, Dim::warp(), op.getAxis()));
  if (warps == 1)
    return 0;
  if (needsOrder(op))
    warps *= repeatsOf(layout, op.getAxis());
  int64_t results = op.getInputType().getNumElements() / op.getInputType().getDimSize(op.getAxis());
  int64_t bytes = 0;
  for (Value src : op.getSrcs())
    bytes += partialBytes(getElementType(src.getType()), results, warps);
  if (ReduceWork(op).threadsOfResult())
    for (Value src : op.getSrcs())
      bytes += partialBytes(getElementType(src.getType()), results, 1);
  return bytes;
}

LogicalResult ReduceLowering::acrossLanes() {
  unsigned mask = axisBits(layout, Dim::lane(), axis);
  // What warps leave for each other, the first lane writes.
  bool isForAll = !axisBits(layout, Dim::warp(), axis);
  if (isOrdered && !isForAll && failed(shareRepeats(mask)))
    return failure();
  if (isOrdered)
    return overLanesInOrder(mask, isForAll);
  if (!isForAll && failed(byHalves(mask)))
    return failure();
  FailureOr<bool> picked = pickLane(mask & ~halvedLanes);
  if (failed(picked) || *picked)
    return picked;
  return isForAll ? sharedOut(mask) : overLanes(mask & ~halvedLanes, isForAll);
}

int64_t ReduceLowering::indexOf(ArrayRef<int32_t> key) {
  int64_t index = 0;
  unsigned next = 0;
  for (auto [other, size] : llvm::enumerate(op.getInputType().getShape()))
    if (other != axis)
      index = index * size + key[next++];
  return index;
}

Value ReduceLowering::isSecondOf(unsigned bit) {
  Location loc = core.in.getLoc();
  Value set = LLVM::AndOp::create(core.b, loc, core.lane(), core.in.i32(int32_t(bit)));
  return LLVM::ICmpOp::create(core.b, loc, LLVM::ICmpPredicate::ne, set, core.in.i32(0));
}

FailureOr<Registers> ReduceLowering::ofNeighbours(const Registers &own, const Registers &other,
                                                  Value isRight) {
  Location loc = core.in.getLoc();
  Registers left, right;
  for (auto [mine, its] : llvm::zip_equal(own, other)) {
    left.push_back(LLVM::SelectOp::create(core.b, loc, isRight, its, mine));
    right.push_back(LLVM::SelectOp::create(core.b, loc, isRight, mine, its));
  }
  return combine(left, right);
}

LogicalResult ReduceLowering::shareRepeats(unsigned &mask) {
  Location loc = core.in.getLoc();
  for (unsigned bit = 1; held > 1 && bit <= mask; bit <<= 1) {
    if (!(mask & bit))
      continue;
    Value isRight = isSecondOf(bit);
    unsigned half = held / 2;
    SmallVector<Registers> halves;
    for (size_t g = 0; g < acc.size(); g += held)
      for (unsigned r = 0; r < half; ++r) {
        Registers own, other;
        for (auto [x, y] : llvm::zip_equal(acc[g + r], acc[g + r + half])) {
          own.push_back(LLVM::SelectOp::create(core.b, loc, isRight, y, x));
          other.push_back(
              core.in.shuffleXor(LLVM::SelectOp::create(core.b, loc, isRight, x, y), bit));
        }
        FailureOr<Registers> c = ofNeighbours(own, other, isRight);
        if (failed(c))
          return failure();
        halves.push_back(std::move(*c));
      }
    Value first =
        LLVM::SelectOp::create(core.b, loc, isRight, core.in.i32(int32_t(half)), core.in.i32(0));
    firstHeld = firstHeld ? LLVM::AddOp::create(core.b, loc, firstHeld, first).getResult() : first;
    acc = std::move(halves);
    held = half;
    sharedLanes |= bit;
    mask &= ~bit;
  }
  return success();
}

LogicalResult ReduceLowering::overLanesInOrder(unsigned mask, bool isForAll) {
  bool takesSides = isForAll && llvm::popcount(mask) == 1;
  for (unsigned bit = 1; bit <= mask; bit <<= 1) {
    if (!(mask & bit))
      continue;
    copies |= int32_t(bit);
    Value isRight = isSecondOf(bit);
    for (Registers &a : acc) {
      Registers other;
      for (Value own : a)
        other.push_back(core.in.shuffleXor(own, bit));
      FailureOr<Registers> c = takesSides ? ofNeighbours(a, other, isRight) : combine(a, other);
      if (failed(c))
        return failure();
      a = std::move(*c);
    }
  }
  if (!isForAll || takesSides || !mask)
    return success();
  Value first = LLVM::AndOp::create(core.b, core.in.getLoc(), core.lane(),
                                    core.in.i32(int32_t(~mask & (kLanes - 1))));
  for (Registers &a : acc)
    for (Value &v : a)
      v = core.in.shuffleIdx(v, first);
  return success();
}

/// How all lanes of a warp reduce 32-bit integers in one instruction, if they do.
static std::optional<NVVM::ReduxKind> reductionOfWarp(Operation &operation) {
  if (!operation.getResult(0).getType().isInteger(32))
    return std::nullopt;
  return llvm::TypeSwitch<Operation *, std::optional<NVVM::ReduxKind>>(&operation)
      .Case([](arith::AddIOp) { return NVVM::ReduxKind::ADD; })
      .Case([](arith::MinSIOp) { return NVVM::ReduxKind::MIN; })
      .Case([](arith::MaxSIOp) { return NVVM::ReduxKind::MAX; })
      .Case([](arith::MinUIOp) { return NVVM::ReduxKind::UMIN; })
      .Case([](arith::MaxUIOp) { return NVVM::ReduxKind::UMAX; })
      .Case([](arith::AndIOp) { return NVVM::ReduxKind::AND; })
      .Case([](arith::OrIOp) { return NVVM::ReduxKind::OR; })
      .Case([](arith::XOrIOp) { return NVVM::ReduxKind::XOR; })
      .Default(std::nullopt);
}

/// Whether it makes no difference how often each of them is there.
static bool isIdempotent(NVVM::ReduxKind kind) {
  return kind != NVVM::ReduxKind::ADD && kind != NVVM::ReduxKind::XOR;
}

std::optional<NVVM::ReduxKind> ReduceLowering::kindOfWarp(unsigned mask) {
  constexpr unsigned kAll = kLanes - 1;
  bool isAllWithCopies = ((mask | unsigned(copies)) & kAll) == kAll;
  if (mask == 0 || !isAllWithCopies || !isOneCommutativeOperation() ||
      !targetOf(op).has(Feature::Redux))
    return std::nullopt;
  std::optional<NVVM::ReduxKind> kind = reductionOfWarp(*soleCombiner(op.getCombineBlock()));
  return kind && (mask == kAll || isIdempotent(*kind)) ? kind : std::nullopt;
}

bool ReduceLowering::overWarpAtOnce(unsigned mask) {
  std::optional<NVVM::ReduxKind> kind = kindOfWarp(mask);
  if (!kind)
    return false;
  for (Registers &a : acc)
    a[0] = NVVM::ReduxOp::create(core.b, core.in.getLoc(), core.b.getI32Type(), a[0], *kind,
                                 core.in.i32(-1));
  return true;
}

LogicalResult ReduceLowering::overLanes(unsigned mask, bool isForAll) {
  if (overWarpAtOnce(mask) || overLanesInWords(mask))
    return success();
  // What is rounded differently from the other side is combined from the same side in both lanes.
  if (!isCommutative(op.getCombineBlock()))
    return overLanesInOrder(mask, isForAll);
  for (int bit = 4; bit >= 0; --bit) {
    if (!(mask >> bit & 1))
      continue;
    copies |= 1 << bit;
    for (unsigned i = 0, together = sumsOfWord(); i < acc.size(); i += together) {
      MutableArrayRef<Registers> own = MutableArrayRef(acc).slice(i, together);
      SmallVector<Registers> others = ofOtherLane(own, 1u << bit);
      for (auto [a, other] : llvm::zip_equal(own, others)) {
        FailureOr<Registers> c = combine(a, other);
        if (failed(c))
          return failure();
        a = std::move(*c);
      }
    }
  }
  return success();
}

LogicalResult ReduceLowering::acrossRepeats() {
  SmallVector<Registers> whole;
  for (unsigned g = 0; g < groups.size(); ++g) {
    FailureOr<Registers> sum = tree(SmallVector<Registers>(ArrayRef(acc).slice(g * held, held)));
    if (failed(sum))
      return failure();
    whole.push_back(std::move(*sum));
  }
  acc = std::move(whole);
  return success();
}

LogicalResult ReduceLowering::setResults() {
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    if (!isa<RankedTensorType>(result.getType())) {
      core.set(result, {acc.front()[k]});
      continue;
    }
    const LinearLayout &to = cta::getLayout(result.getType());
    Registers regs;
    for (int32_t r = 0; r < to.inSize(Dim::reg()); ++r) {
      auto it = llvm::find(keys, registerCoordinates(to, r));
      if (it == keys.end())
        return op.emitOpError("no warps share the axis, but the result's layout is not the "
                              "operand's with the axis removed");
      regs.push_back(acc[it - keys.begin()][k]);
    }
    core.set(result, std::move(regs));
  }
  return success();
}

LogicalResult lowering::lowerReduce(Core &core, ReduceOp op) {
  ReduceLowering reduce(core, op);
  if (reduce.isOrdered && !isScannable(reduce.layout, op.getAxis()))
    return op.emitOpError("combines in order, but its layout does not run along the axis so");
  reduce.groupRegisters();
  if (failed(reduce.withinThread()) || failed(reduce.acrossLanes()) || failed(reduce.acrossWarps()))
    return failure();
  core.in.setLoc(op.getLoc());
  return reduce.setResults();
}
