//===- Scan.cpp - prefix combinations: thread, warp, block ----------------===//
//
// Along the axis lie segments of registers, lanes, warps and repeats (ScanShape.h).
//
// 1. Each thread scans each of its segments.
// 2. Segment totals are scanned over the lanes by shuffles.
// 3. Totals of (repeat, warp) go through scratch memory; every thread folds
//    those before its own. Without warps along the axis no memory is needed.
// 4. What comes before a segment is combined into its elements. A segment of one element is scanned
//    over the lanes itself.
//
// A reverse scan is the same with all positions mirrored.
//
//===----------------------------------------------------------------------===//
#include "passes/facts/Speech.h"
#include "passes/lowering/Reductions.h"
#include "passes/lowering/core/Coordinates.h"
#include "passes/memory/ScanShape.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

namespace tile::lowering {

struct ScanLowering {
  Core &core;
  ScanOp op;
  const LinearLayout &layout;
  unsigned axis;
  ScanShape s;
  bool reverse;
  unsigned segment, repeats;
  bool isHeard; ///< whether the combiner asserts or prints
  /// [line][repeat * segment + i] -> register, in scan order. A line is one
  /// combination of the other coordinates.
  SmallVector<SmallVector<unsigned>> lines;
  SmallVector<SmallVector<Registers>> values; ///< [line][position][operand]
  struct Carry {
    Registers value;
    Value valid;      ///< null: see always
    bool any = false; ///< something comes before
    bool always = false;
  };

  ScanLowering(Core &core, ScanOp op)
      : core(core), op(op), layout(cta::getLayout(op.getSrcs()[0].getType())), axis(op.getAxis()),
        s(scanShape(layout, axis)), reverse(op.getReverse()), segment(1u << s.segmentBits),
        repeats(1u << s.repeatBits), isHeard(speaks(op.getCombine())) {}

  Location loc() { return core.in.getLoc(); }
  /// Threads that differ in the bits of `copies` combine the same; where `valid` is false, no
  /// elements of the block. Neither has the combiner speak twice, or of what is not there.
  FailureOr<Registers> combine(ValueRange a, ValueRange c, Value valid, unsigned copies = 0) {
    Value speaks;
    if (isHeard)
      speaks = core.andB(core.hasNoneOf(core.copyBits(layout) | int32_t(copies)), valid);
    SmallVector<Value> both(a);
    llvm::append_range(both, c);
    return core.apply(op.getCombineBlock(), both, speaks);
  }
  unsigned lanesOfAxis() { return ((1u << s.laneBits) - 1) << s.firstLaneBit; }
  Registers select(Value condition, const Registers &yes, const Registers &no) {
    Registers out;
    for (auto [y, n] : llvm::zip(yes, no))
      out.push_back(LLVM::SelectOp::create(core.b, loc(), condition, y, n));
    return out;
  }
  Value compare(LLVM::ICmpPredicate p, Value a, int32_t c) {
    return LLVM::ICmpOp::create(core.b, loc(), p, a, core.in.i32(c));
  }

  void collectLines() {
    SmallVector<SmallVector<int32_t>> keys;
    SmallVector<SmallVector<std::pair<int32_t, unsigned>>> members;
    for (int32_t r = 0; r < layout.inSize(Dim::reg()); ++r) {
      SmallVector<int32_t> key = registerCoordinates(layout, r);
      int32_t position = key[axis];
      key.erase(key.begin() + axis);
      size_t line = llvm::find(keys, key) - keys.begin();
      if (line == keys.size()) {
        keys.push_back(key);
        members.emplace_back();
      }
      members[line].push_back({reverse ? -position : position, unsigned(r)});
    }
    for (auto &m : members) {
      llvm::sort(m);
      lines.emplace_back();
      for (auto &[position, r] : m)
        lines.back().push_back(r);
    }
  }

  LogicalResult scanSegments() {
    for (auto &line : lines) {
      values.emplace_back();
      for (auto [i, r] : llvm::enumerate(line)) {
        Registers x;
        for (Value src : op.getSrcs())
          x.push_back(core.get(src)[r]);
        if (i % segment) {
          FailureOr<Registers> c = combine(values.back().back(), x, Value());
          if (failed(c))
            return failure();
          x = std::move(*c);
        }
        values.back().push_back(std::move(x));
      }
    }
    return success();
  }

  /// Position of this thread among the lanes of the axis, in scan order.
  Value laneIndex() {
    Value index = core.gatherBits(core.lane(), ((1u << s.laneBits) - 1) << s.firstLaneBit);
    return reverse ? flip(index, s.laneBits) : index;
  }
  Value flip(Value index, unsigned bits) {
    return LLVM::XOrOp::create(core.b, loc(), index, core.in.i32((1 << bits) - 1));
  }
  Registers shuffle(const Registers &v, Value source) {
    Registers out;
    for (Value x : v)
      out.push_back(core.in.shuffleIdx(x, source));
    return out;
  }

  /// Inclusive scan over lanes of `total`, that of the segment that begins with `first`. Becomes
  /// that of all where all lanes need it. Returns what comes before this lane.
  FailureOr<Carry> scanLanes(Registers &total, Registers &first) {
    Carry carry;
    if (!s.laneBits)
      return carry;
    Value index = laneIndex();
    for (unsigned k = 0; k < s.laneBits; ++k) {
      int32_t delta = 1 << (k + s.firstLaneBit);
      Value source =
          LLVM::AddOp::create(core.b, loc(), core.lane(), core.in.i32(reverse ? delta : -delta));
      Value isBehind = compare(LLVM::ICmpPredicate::uge, index, 1 << k);
      FailureOr<Registers> c = combine(shuffle(total, source), total, isBehind);
      if (failed(c))
        return failure();
      total = select(isBehind, *c, total);
    }
    if (segment == 1) {
      first = total;
    } else {
      int32_t one = 1 << s.firstLaneBit;
      Value before =
          LLVM::AddOp::create(core.b, loc(), core.lane(), core.in.i32(reverse ? one : -one));
      carry.value = shuffle(total, before);
      carry.valid = compare(LLVM::ICmpPredicate::ne, index, 0);
      carry.any = true;
    }
    // The last lane holds the total of all. Warps have it from there.
    if (s.warpBits || repeats == 1)
      return carry;
    unsigned mask = lanesOfAxis();
    Value last =
        reverse ? LLVM::AndOp::create(core.b, loc(), core.lane(), core.in.i32(~mask)).getResult()
                : LLVM::OrOp::create(core.b, loc(), core.lane(), core.in.i32(mask)).getResult();
    total = shuffle(total, last);
    return carry;
  }

  /// What comes first, then `second`.
  FailureOr<Carry> join(const Carry &first, const Carry &second, unsigned copies = 0) {
    if (!first.any)
      return second;
    if (!second.any)
      return first;
    Value areBoth =
        core.andB(first.always ? Value() : first.valid, second.always ? Value() : second.valid);
    FailureOr<Registers> both = combine(first.value, second.value, areBoth, copies);
    if (failed(both))
      return failure();
    Carry out;
    out.any = true;
    out.always = first.always || second.always;
    // both valid: both; only one valid: that one
    out.value = second.always ? *both : select(second.valid, *both, first.value);
    if (!first.always) {
      Registers onlySecond = select(first.valid, out.value, second.value);
      out.value = onlySecond;
      if (!out.always)
        out.valid = LLVM::OrOp::create(core.b, loc(), first.valid, second.valid);
    }
    return out;
  }

  LogicalResult apply(const Carry &carry, unsigned line, unsigned repeat) {
    if (!carry.any)
      return success();
    for (unsigned i = 0; i < segment; ++i) {
      Registers &x = values[line][repeat * segment + i];
      FailureOr<Registers> c = combine(carry.value, x, carry.always ? Value() : carry.valid);
      if (failed(c))
        return failure();
      x = carry.always ? *c : select(carry.valid, *c, x);
    }
    return success();
  }

  /// `before` is what precedes the entry of warp `w`: remembered if that is this warp.
  void remember(Carry &mine, const Registers &before, Value warp, unsigned w, bool always) {
    if (mine.any) {
      mine.value = select(compare(LLVM::ICmpPredicate::uge, warp, w), before, mine.value);
      return;
    }
    mine.any = true;
    mine.value = before;
    mine.always = always;
    if (!always)
      mine.valid = compare(LLVM::ICmpPredicate::ne, warp, 0);
  }

  /// Of the lanes of the axis the last, in scan order, and of copies one: who has the total of a
  /// warp.
  Value hasTotal() {
    int32_t lanes = int32_t(lanesOfAxis()), mask = lanes | core.copyBits(layout);
    if (!mask)
      return {};
    Value bits = LLVM::AndOp::create(core.b, loc(), core.tid, core.in.i32(mask));
    return compare(LLVM::ICmpPredicate::eq, bits, reverse ? 0 : lanes);
  }

  LogicalResult run();
  /// Where warp `w` leaves the total of a line (`slot`) and a repeat.
  Value totalAddress(Value base, Value src, Value slot, unsigned repeat, Value w);
  LogicalResult acrossWarps(SmallVector<SmallVector<Registers>> &totals,
                            SmallVector<SmallVector<Carry>> &carries);
};

Value ScanLowering::totalAddress(Value base, Value src, Value slot, unsigned repeat, Value w) {
  unsigned warps = 1u << s.warpBits, bytes = getElementBytes(getElementType(src.getType()));
  Value index = LLVM::MulOp::create(core.b, loc(), slot, core.in.i32(int32_t(repeats * warps)));
  index = LLVM::AddOp::create(core.b, loc(), index, core.in.i32(int32_t(repeat * warps)));
  index = LLVM::AddOp::create(core.b, loc(), index, w);
  return core.sharedAt(base, LLVM::MulOp::create(core.b, loc(), index, core.in.i32(bytes)));
}

LogicalResult ScanLowering::acrossWarps(SmallVector<SmallVector<Registers>> &totals,
                                        SmallVector<SmallVector<Carry>> &carries) {
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!scratch)
    return op.emitOpError("scans across warps but has no scratch memory");
  unsigned warps = 1u << s.warpBits;
  Value warp = core.gatherBits(core.warp(), s.warpMask);
  if (reverse)
    warp = flip(warp, s.warpBits);
  Value writer = hasTotal();
  SmallVector<Value> bases;
  int64_t offset = scratch.getInt();
  for (Value src : op.getSrcs()) {
    bases.push_back(core.sharedBase(offset));
    offset += scanOperandBytes(op, s, src);
  }
  auto address = [&](unsigned k, Value slot, unsigned repeat, Value w) {
    return totalAddress(bases[k], op.getSrcs()[k], slot, repeat, w);
  };
  SmallVector<Value> slots;
  for (auto &line : lines)
    slots.push_back(core.elementIndex(layout, line.front(), op.getInputType().getShape(), axis));
  for (unsigned line = 0; line < lines.size(); ++line)
    for (unsigned h = 0; h < repeats; ++h)
      for (unsigned k = 0; k < bases.size(); ++k)
        core.in.storeShared(address(k, slots[line], h, warp), {core.toMemory(totals[line][h][k])},
                            writer);
  core.in.barrier();
  for (unsigned line = 0; line < lines.size(); ++line) {
    Registers before; // all entries so far
    for (unsigned h = 0; h < repeats; ++h) {
      Carry mine;
      for (unsigned w = 0; w < warps; ++w) {
        if (!before.empty())
          remember(mine, before, warp, w, /*always=*/h > 0);
        if (h + 1 == repeats && w + 1 == warps)
          break;
        Registers entry;
        for (unsigned k = 0; k < bases.size(); ++k) {
          Type type = totals[line][h][k].getType();
          Type memory = type.isInteger(1) ? core.b.getI8Type() : type;
          entry.push_back(core.fromMemory(
              core.in.loadShared(memory, 1, address(k, slots[line], h, core.in.i32(w))).front(),
              type));
        }
        if (before.empty()) {
          before = entry;
          continue;
        }
        FailureOr<Registers> c =
            combine(before, entry, Value(), lanesOfAxis() | unsigned(s.warpMask) << 5);
        if (failed(c))
          return failure();
        before = std::move(*c);
      }
      carries[line].push_back(mine);
    }
  }
  return success();
}

LogicalResult ScanLowering::run() {
  if (!s.valid)
    return op.emitOpError("layout does not run along the axis in scan order");
  collectLines();
  if (failed(scanSegments()))
    return failure();
  SmallVector<SmallVector<Carry>> laneCarries(lines.size()), carries(lines.size());
  SmallVector<SmallVector<Registers>> totals(lines.size());
  for (unsigned line = 0; line < lines.size(); ++line)
    for (unsigned h = 0; h < repeats; ++h) {
      Registers total = values[line][h * segment + segment - 1];
      FailureOr<Carry> carry = scanLanes(total, values[line][h * segment]);
      if (failed(carry))
        return failure();
      laneCarries[line].push_back(*carry);
      totals[line].push_back(total);
    }
  if (s.warpBits) {
    if (failed(acrossWarps(totals, carries)))
      return failure();
  } else {
    for (unsigned line = 0; line < lines.size(); ++line) {
      Carry running;
      for (unsigned h = 0; h < repeats; ++h) {
        carries[line].push_back(running);
        Carry total{totals[line][h], Value(), true, true};
        FailureOr<Carry> next = join(running, total, lanesOfAxis());
        if (failed(next))
          return failure();
        running = *next;
      }
    }
  }
  for (unsigned line = 0; line < lines.size(); ++line)
    for (unsigned h = 0; h < repeats; ++h) {
      FailureOr<Carry> carry = join(carries[line][h], laneCarries[line][h]);
      if (failed(carry) || failed(apply(*carry, line, h)))
        return failure();
    }
  for (auto [k, result] : llvm::enumerate(op.getResults())) {
    Registers regs(layout.inSize(Dim::reg()));
    for (unsigned line = 0; line < lines.size(); ++line)
      for (auto [position, r] : llvm::enumerate(lines[line]))
        regs[r] = values[line][position][k];
    core.set(result, std::move(regs));
  }
  return success();
}

} // namespace tile::lowering

LogicalResult lowering::lowerScan(Core &core, ScanOp op) { return ScanLowering(core, op).run(); }
