//===- Reduce.cpp - reductions: thread, then warp, then block -------------===//
//
// 1. Each thread combines the registers it holds along the axis, pairwise.
// 2. Lanes that split the axis combine by butterfly shuffles.
// 3. If warps split the axis too, each writes its partial result to scratch
//    memory; after one barrier every thread combines the partials it needs, so
//    no second exchange is needed to hand the result around. Of many partials each
//    lane reads some, and butterflies combine those: registers for all of them can
//    be more than anything else in the kernel needs at a time, and where combining two is
//    work, each thread would do that of all warps again.
//
// A combiner that is not known to be commutative gets its elements in order. The axis is then
// spread as for scans: registers ("segment"), lanes, warps, registers ("repeats"). Each thread
// combines its segments, lanes those of one repeat, lower positions on the left; what is left
// is combined in the order of (repeat, warp).
//
// Scratch: for each operand, `partial[result element][repeat][warp along the axis]`.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/facts/Combiners.h"
#include "passes/lowering/Lowering.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

FailureOr<Registers> Lowering::combine(Block &block, ValueRange lhs, ValueRange rhs) {
  for (auto [arg, value] : llvm::zip(block.getArguments().take_front(lhs.size()), lhs))
    set(arg, {value});
  for (auto [arg, value] : llvm::zip(block.getArguments().drop_front(lhs.size()), rhs))
    set(arg, {value});
  Location saved = in.getLoc();
  if (failed(lowerBlock(block)))
    return failure();
  in.setLoc(saved);
  Registers out;
  for (Value v : block.getTerminator()->getOperands())
    out.push_back(getScalar(v));
  return out;
}

unsigned lowering::axisBits(const LinearLayout &layout, Dim in, unsigned axis) {
  unsigned mask = 0;
  for (int32_t bit = 0; bit < layout.inSizeLog2(in); ++bit)
    if (layout.basis(in, bit)[axis] != 0)
      mask |= 1u << bit;
  return mask;
}

static int64_t partialBytes(Type element, int64_t results, unsigned warps) {
  return llvm::alignTo(results * warps * std::max<int64_t>(getElementBytes(element), 1), 16);
}

/// In an ordered reduction: how many times the lanes and warps of the axis follow each other.
static unsigned repeatsOf(const LinearLayout &layout, unsigned axis) {
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
  return bytes;
}

Value Lowering::gatherBits(Value v, unsigned mask) {
  Location loc = in.getLoc();
  Value sum;
  unsigned target = 0;
  for (unsigned bit = 0; mask >> bit; ++bit) {
    if (!(mask >> bit & 1))
      continue;
    unsigned length = 1;
    while (mask >> (bit + length) & 1)
      ++length;
    Value part = bit ? LLVM::LShrOp::create(b, loc, v, in.i32(bit)).getResult() : v;
    part = LLVM::AndOp::create(b, loc, part, in.i32((1u << length) - 1));
    if (target)
      part = LLVM::ShlOp::create(b, loc, part, in.i32(target));
    sum = sum ? LLVM::OrOp::create(b, loc, sum, part).getResult() : part;
    target += length;
    bit += length - 1;
  }
  return sum ? sum : in.i32(0);
}

Value Lowering::toMemory(Value v) {
  return v.getType().isInteger(1)
             ? LLVM::ZExtOp::create(b, in.getLoc(), b.getI8Type(), v).getResult()
             : v;
}
Value Lowering::fromMemory(Value v, Type type) {
  return type.isInteger(1) ? LLVM::TruncOp::create(b, in.getLoc(), type, v).getResult() : v;
}

Value Lowering::elementIndex(const LinearLayout &layout, int32_t reg, ArrayRef<int64_t> shape,
                             int skipAxis) {
  // Sizes are powers of two, so the row-major index is itself linear.
  Location loc = in.getLoc();
  SmallVector<int32_t> coords = registerCoordinates(layout, reg);
  Value threads;
  int64_t constant = 0, stride = 1;
  for (int axis = int(shape.size()) - 1; axis >= 0; --axis) {
    if (axis == skipAxis)
      continue;
    Value part = threadPart(layout, Dim::dim(axis));
    Affine a = affine(part);
    if (a.base || a.offset) {
      if (stride > 1)
        part = LLVM::ShlOp::create(b, loc, part, in.i32(llvm::Log2_64(stride)));
      threads = threads ? LLVM::OrOp::create(b, loc, threads, part).getResult() : part;
    }
    constant += coords[axis] * stride;
    stride *= shape[axis];
  }
  if (!threads)
    return materialize({Value(), constant}, b.getI32Type());
  return constant ? LLVM::XOrOp::create(b, loc, threads, in.i32(int32_t(constant))).getResult()
                  : threads;
}

namespace tile::lowering {

/// One reduction while it is being lowered.
struct ReduceLowering {
  Lowering &l;
  ReduceOp op;
  const LinearLayout &layout;
  unsigned axis;
  /// For each result element this thread holds: its registers along the axis.
  SmallVector<SmallVector<unsigned>> groups;
  SmallVector<SmallVector<int32_t>> keys; ///< coordinates without the axis
  bool isOrdered;
  unsigned repeats;           ///< 1 unless ordered
  SmallVector<Registers> acc; ///< [group * repeats + repeat][operand]

  ReduceLowering(Lowering &l, ReduceOp op)
      : l(l), op(op), layout(cta::getLayout(op.getSrcs()[0].getType())), axis(op.getAxis()),
        isOrdered(needsOrder(op)), repeats(isOrdered ? repeatsOf(layout, axis) : 1) {}

  void groupRegisters() {
    llvm::DenseMap<uint64_t, SmallVector<unsigned, 1>> byKey;
    SmallVector<SmallVector<std::pair<int32_t, unsigned>>> members;
    for (int32_t r = 0; r < layout.inSize(Dim::reg()); ++r) {
      SmallVector<int32_t> key = registerCoordinates(layout, r);
      int32_t position = key[axis];
      key.erase(key.begin() + axis);
      auto &candidates = byKey[uint64_t(llvm::hash_combine_range(key.begin(), key.end()))];
      auto same = llvm::find_if(candidates, [&](unsigned g) { return keys[g] == key; });
      unsigned g;
      if (same != candidates.end()) {
        g = *same;
      } else {
        g = keys.size();
        candidates.push_back(g);
        keys.push_back(key);
        members.emplace_back();
      }
      // A register that repeats a position holds a copy.
      if (llvm::none_of(members[g], [&](auto &m) { return m.first == position; }))
        members[g].push_back({position, unsigned(r)});
    }
    for (auto &m : members) {
      llvm::sort(m);
      groups.emplace_back();
      for (auto &[position, r] : m)
        groups.back().push_back(r);
    }
  }

  FailureOr<Registers> tree(SmallVector<Registers> level) {
    while (level.size() > 1) {
      SmallVector<Registers> next;
      for (unsigned i = 0; i + 1 < level.size(); i += 2) {
        FailureOr<Registers> c = l.combine(op.getCombineBlock(), level[i], level[i + 1]);
        if (failed(c))
          return failure();
        next.push_back(std::move(*c));
      }
      if (level.size() % 2)
        next.push_back(level.back());
      level = std::move(next);
    }
    return level.front();
  }

  /// Several independent chains, merged at the end. Unlike in a tree, an element
  /// is not needed any more once it has been added, and a product is added in one
  /// instruction.
  FailureOr<Registers> chains(SmallVector<Registers> leaves) {
    unsigned count = tuningOf(op).sumsOfThread;
    for (unsigned i = count; i < leaves.size(); ++i) {
      Registers &sum = leaves[i % count];
      FailureOr<Registers> c = l.combine(op.getCombineBlock(), sum, leaves[i]);
      if (failed(c))
        return failure();
      sum = std::move(*c);
    }
    leaves.resize(std::min<size_t>(leaves.size(), count));
    return tree(std::move(leaves));
  }

  LogicalResult withinThread() {
    for (auto &group : groups)
      for (unsigned repeat = 0; repeat < repeats; ++repeat) {
        size_t segment = group.size() / repeats;
        SmallVector<Registers> leaves;
        for (unsigned r : ArrayRef(group).slice(repeat * segment, segment)) {
          Registers leaf;
          for (Value src : op.getSrcs())
            leaf.push_back(l.get(src)[r]);
          leaves.push_back(std::move(leaf));
        }
        FailureOr<Registers> sum = isOrdered ? tree(std::move(leaves)) : chains(std::move(leaves));
        if (failed(sum))
          return failure();
        acc.push_back(std::move(*sum));
      }
    return success();
  }

  LogicalResult acrossLanes() {
    unsigned mask = axisBits(layout, Dim::lane(), axis);
    return isOrdered ? overLanesInOrder(mask) : overLanes(mask);
  }

  /// Partial results of warps that lanes share out, so that all lanes get the same bits.
  LogicalResult overShares(unsigned lanes) {
    return isOneCommutativeOperation() ? overLanes(lanes) : overLanesInOrder(lanes);
  }

  /// Butterflies over the bits of `mask` from the lowest up, so that what two lanes hold are
  /// neighbours; both lanes combine the same two, in the same order.
  LogicalResult overLanesInOrder(unsigned mask) {
    for (unsigned bit = 1; bit <= mask; bit <<= 1) {
      if (!(mask & bit))
        continue;
      Location loc = l.in.getLoc();
      Value isRight = LLVM::AndOp::create(l.b, loc, l.lane(), l.in.i32(int32_t(bit)));
      isRight = LLVM::ICmpOp::create(l.b, loc, LLVM::ICmpPredicate::ne, isRight, l.in.i32(0));
      for (Registers &a : acc) {
        Registers left, right;
        for (Value own : a) {
          Value other = l.in.shuffleXor(own, bit);
          left.push_back(LLVM::SelectOp::create(l.b, loc, isRight, other, own));
          right.push_back(LLVM::SelectOp::create(l.b, loc, isRight, own, other));
        }
        FailureOr<Registers> c = l.combine(op.getCombineBlock(), left, right);
        if (failed(c))
          return failure();
        a = std::move(*c);
      }
    }
    return success();
  }

  /// One value for each group, where no other warp has a part of it.
  LogicalResult acrossRepeats() {
    SmallVector<Registers> whole;
    for (unsigned g = 0; g < groups.size(); ++g) {
      FailureOr<Registers> sum =
          tree(SmallVector<Registers>(ArrayRef(acc).slice(g * repeats, repeats)));
      if (failed(sum))
        return failure();
      whole.push_back(std::move(*sum));
    }
    acc = std::move(whole);
    return success();
  }

  /// Butterflies over the bits of `mask`.
  LogicalResult overLanes(unsigned mask) {
    for (int bit = 4; bit >= 0; --bit) {
      if (!(mask >> bit & 1))
        continue;
      for (Registers &a : acc) {
        Registers other;
        for (Value v : a)
          other.push_back(l.in.shuffleXor(v, 1u << bit));
        FailureOr<Registers> c = l.combine(op.getCombineBlock(), a, other);
        if (failed(c))
          return failure();
        a = std::move(*c);
      }
    }
    return success();
  }

  /// Whether results of butterflies are the same bits in all lanes.
  bool isOneCommutativeOperation() {
    Block &block = op.getCombineBlock();
    return block.getNumArguments() == 2 && llvm::hasSingleElement(block.without_terminator()) &&
           block.front().hasTrait<OpTrait::IsCommutative>() &&
           llvm::equal(block.front().getOperands(), block.getArguments());
  }

  /// Issue slots of a warp for what combines two elements.
  unsigned costOfCombining() {
    unsigned slots = 0;
    for (Operation &o : op.getCombineBlock().without_terminator()) {
      bool isLong = isa<math::MathDialect>(o.getDialect())
                        ? !isa<math::FmaOp, math::AbsFOp, math::AbsIOp>(o)
                        : isa<arith::DivFOp, arith::DivSIOp, arith::DivUIOp, arith::RemFOp,
                              arith::RemSIOp, arith::RemUIOp>(o);
      slots += isLong ? kLongOpSlots : 1;
    }
    return slots;
  }

  /// ... for combining the results of `warps` warps, of which each lane reads `own`.
  unsigned costOfSharing(unsigned warps, unsigned own) {
    unsigned reads = 0, values = op.getSrcs().size(), combining = costOfCombining();
    for (Value src : op.getSrcs()) {
      unsigned bytes = std::max(getElementBytes(getElementType(src.getType())), 1u);
      reads += llvm::divideCeil(own * bytes, 16u);
    }
    // Lanes in order choose which of two values is the left one.
    unsigned step = combining + values * (kShuffleSlots + 2);
    return reads * kShuffleSlots + (own - 1) * combining + llvm::Log2_32(warps / own) * step;
  }

  /// The bits of the lanes that share out the results of `warps` warps, of those that have the
  /// same row: of one operation, as few as leave each lane `Tuning::partialsOfLane` bytes; of
  /// more, as many as make it least work.
  unsigned lanesToShare(unsigned warps) {
    unsigned same = axisBits(layout, Dim::lane(), axis), own = warps;
    if (isOneCommutativeOperation()) {
      unsigned bytes = getElementBytes(getElementType(op.getSrcs()[0].getType()));
      while (own > 1 && own * bytes > tuningOf(op).partialsOfLane)
        own /= 2;
    } else {
      for (unsigned fewer = warps / 2; fewer; fewer /= 2)
        if (costOfSharing(warps, fewer) < costOfSharing(warps, own))
          own = fewer;
    }
    unsigned mask = 0;
    for (unsigned bit = 1; bit <= same && own < warps; bit <<= 1)
      if (same & bit)
        mask |= bit, warps /= 2;
    return mask;
  }

  /// A warp of loads or shuffles takes as long as four of additions; a division or a function
  /// is as many of these as this.
  static constexpr unsigned kShuffleSlots = 4, kLongOpSlots = 8;

  LogicalResult acrossWarps() {
    unsigned warpMask = axisBits(layout, Dim::warp(), axis);
    if (!warpMask)
      return acrossRepeats();
    auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
    if (!scratch)
      return op.emitOpError("reduces across warps but has no scratch memory");
    unsigned warps = repeats << llvm::popcount(warpMask); // a repeat counts as more of them
    int64_t results = op.getInputType().getNumElements() / op.getInputType().getDimSize(axis);
    Value warpIndex = l.gatherBits(l.warp(), warpMask);
    Value writer = l.writerPredicate(layout, axisBits(layout, Dim::lane(), axis));

    SmallVector<Value> bases;
    int64_t offset = scratch.getInt();
    for (Value src : op.getSrcs()) {
      bases.push_back(l.sharedBase(offset));
      offset += partialBytes(getElementType(src.getType()), results, warps);
    }
    SmallVector<Value> slots;
    for (auto &group : groups)
      slots.push_back(l.elementIndex(layout, group.front(), op.getInputType().getShape(), axis));
    auto address = [&](unsigned g, unsigned k, Value index) {
      unsigned bytes = getElementBytes(getElementType(op.getSrcs()[k].getType()));
      Value byte = LLVM::MulOp::create(l.b, l.in.getLoc(), index, l.in.i32(bytes));
      return l.sharedAt(bases[k], byte);
    };
    for (unsigned i = 0; i < acc.size(); ++i)
      for (unsigned k = 0; k < bases.size(); ++k) {
        unsigned g = i / repeats, before = i % repeats * (warps / repeats);
        Location loc = l.in.getLoc();
        Value slot = LLVM::MulOp::create(l.b, loc, slots[g], l.in.i32(warps));
        slot = LLVM::AddOp::create(l.b, loc, slot, warpIndex);
        if (before)
          slot = LLVM::AddOp::create(l.b, loc, slot, l.in.i32(int32_t(before)));
        l.in.storeShared(address(g, k, slot), {l.toMemory(acc[i][k])}, writer);
      }
    l.in.barrier();
    unsigned lanes = lanesToShare(warps), own = warps >> llvm::popcount(lanes);
    SmallVector<Registers> whole;
    for (unsigned g = 0; g < groups.size(); ++g) {
      SmallVector<Registers> partials(own);
      for (unsigned k = 0; k < bases.size(); ++k) {
        Location loc = l.in.getLoc();
        Value first = LLVM::MulOp::create(l.b, loc, slots[g], l.in.i32(warps));
        if (lanes) {
          Value share = l.gatherBits(l.lane(), lanes);
          share = LLVM::MulOp::create(l.b, loc, share, l.in.i32(own));
          first = LLVM::AddOp::create(l.b, loc, first, share);
        }
        Value base = address(g, k, first);
        Type type = acc[g * repeats][k].getType();
        Type memory = type.isInteger(1) ? l.b.getI8Type() : type;
        unsigned bytes = std::max(bitWidth(memory) / 8, 1u);
        unsigned step = std::min(own, 16 / bytes);
        for (unsigned w = 0; w < own; w += step) {
          Value p = w ? LLVM::GEPOp::create(l.b, loc, base.getType(), l.b.getI8Type(), base,
                                            ArrayRef<LLVM::GEPArg>{int32_t(w * bytes)})
                            .getResult()
                      : base;
          for (auto [i, v] : llvm::enumerate(l.in.loadShared(memory, step, p)))
            partials[w + i].push_back(l.fromMemory(v, type));
        }
      }
      FailureOr<Registers> sum = tree(std::move(partials));
      if (failed(sum))
        return failure();
      whole.push_back(std::move(*sum));
    }
    acc = std::move(whole);
    return overShares(lanes);
  }

  LogicalResult setResults() {
    for (auto [k, result] : llvm::enumerate(op.getResults())) {
      if (!isa<RankedTensorType>(result.getType())) {
        l.set(result, {acc.front()[k]});
        continue;
      }
      const LinearLayout &to = cta::getLayout(result.getType());
      Registers regs;
      for (int32_t r = 0; r < to.inSize(Dim::reg()); ++r) {
        auto it = llvm::find(keys, registerCoordinates(to, r));
        if (it == keys.end())
          return op.emitOpError("result layout is not the operand's with the axis removed");
        regs.push_back(acc[it - keys.begin()][k]);
      }
      l.set(result, std::move(regs));
    }
    return success();
  }
};

} // namespace tile::lowering

Value Lowering::writerPredicate(const LinearLayout &layout, unsigned alsoLanes) {
  int32_t mask = alsoLanes;
  for (auto [dim, free] : layout.freeVariableMasks()) {
    if (dim == Dim::lane())
      mask |= free;
    if (dim == Dim::warp())
      mask |= free << 5;
  }
  mask &= int32_t(numThreads - 1);
  if (!mask)
    return {};
  Value bits = LLVM::AndOp::create(b, in.getLoc(), tid, in.i32(mask));
  return LLVM::ICmpOp::create(b, in.getLoc(), LLVM::ICmpPredicate::eq, bits, in.i32(0));
}

LogicalResult Lowering::lowerReduce(ReduceOp op) {
  ReduceLowering reduce(*this, op);
  if (reduce.isOrdered && !isScannable(reduce.layout, op.getAxis()))
    return op.emitOpError("combines in order, but its layout does not run along the axis so");
  reduce.groupRegisters();
  if (failed(reduce.withinThread()) || failed(reduce.acrossLanes()) || failed(reduce.acrossWarps()))
    return failure();
  in.setLoc(op.getLoc());
  return reduce.setResults();
}
