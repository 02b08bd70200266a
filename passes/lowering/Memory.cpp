//===- Memory.cpp - pointer arithmetic, loads, stores ---------------------===//
//
// The layout pass promises on each access how many consecutive elements form
// an aligned group (`vector`) and that such groups are
// consecutive registers. Groups become single accesses of up to 16 bytes;
// masks become predicates, never branches. Where a mask may change inside of a group
// (`cta.mask_run`), a whole group is one access, and what is true of another is moved
// piece by piece: nothing is touched that the mask excludes.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/lowering/MemoryAccess.h"
#include "passes/lowering/core/Coordinates.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::LinearLayout;

void MemoryAccesses::lower(AddPtrOp op) {
  const Registers &ptrs = core.get(op.getPtr());
  const Registers &offsets = core.get(op.getOffset());
  Type element = core.llvmType(cast<PtrType>(getElementType(op.getPtr().getType())).getPointee());
  if (element.isInteger(1))
    element = b.getI8Type();
  Location loc = op.getLoc();
  unsigned bits = bitWidth(offsets.front().getType());
  Registers regs;
  for (auto [ptr, offset] : llvm::zip(ptrs, offsets)) {
    Affine base = core.affine(ptr), index = core.affine(offset);
    if (bits < 32) // narrow indices wrap early: take them as they are
      index = {offset, 0};
    Value p = base.base;
    if (index.base) {
      Value &slot = core.shared(base.base, index.base, bitWidth(element));
      if (!slot)
        slot = LLVM::GEPOp::create(b, loc, ptr.getType(), element, base.base, index.base);
      p = slot;
    }
    // Pointers remember their constant part in bytes.
    int64_t bytes = base.offset + index.offset * int64_t(bitWidth(element) / 8);
    if (bytes == 0) {
      regs.push_back(p);
      continue;
    }
    Value &slot = core.shared(p, Value(), bytes ^ (int64_t(1) << 61));
    if (!slot) {
      slot =
          LLVM::GEPOp::create(b, loc, ptr.getType(), b.getI8Type(), p, ValueRange{in.i64(bytes)});
      core.remember(slot, {p, bytes});
    }
    regs.push_back(slot);
  }
  core.set(op.getResult(), std::move(regs));
}

/// Elements an access may move at once: what the pass proved, within 16 bytes.
static unsigned groupSize(Type blockType, unsigned vector, unsigned bits, size_t registers) {
  unsigned limit = std::max(1u, 128 / bits);
  unsigned n = std::min<unsigned>({vector, limit, unsigned(registers)});
  return llvm::bit_floor(std::max(n, 1u));
}

/// A constant of zero bits: +0.0, but not -0.0.
static bool isZeroBits(Value v) {
  APFloat f(0.0);
  if (matchPattern(v, m_ConstantFloat(&f)))
    return f.isPosZero();
  return matchPattern(v, m_Zero());
}

/// Threads with copies of an element take the value that one of them has read.
LogicalResult MemoryAccesses::shareVolatile(LoadOp op, Registers &regs) {
  auto block = dyn_cast<RankedTensorType>(op.getType());
  Value owner = core.ownerPredicate(block ? cta::getLayout(block) : LinearLayout());
  if (!owner || op.getResult().use_empty())
    return success();
  return shareResults(op, regs, block, owner);
}

/// Elements of a group of `group` that share a mask.
static unsigned maskRunOf(Operation *op, unsigned group) {
  auto run = op->getAttrOfType<IntegerAttr>(cta::kMaskRunAttr);
  return run ? std::min(unsigned(run.getInt()), group) : group;
}

/// Where a mask may change inside of groups: true if it is true for all of the group from
/// `first` on. What is true of a group is an interval.
Value MemoryAccesses::wholeGroup(const Registers &mask, unsigned first, unsigned group) {
  return core.andB(mask[first], mask[first + group - 1]);
}

/// A load is as soon gone from the second cache as its author says, which leaves in it what others
/// have written and must write back. To have it kept there costs more than it gains
/// (docs/rationale.md), and stores gain nothing.
LogicalResult MemoryAccesses::lower(LoadOp op) {
  Type type = core.llvmType(getElementType(op.getType()));
  const Registers &ptrs = core.get(op.getPtr());
  AccessHints hints{op.getCache(), op.getEvict(), op.getIsVolatile()};
  if (op.getEvict() == EvictionPolicy::evict_first && !op.getIsVolatile())
    hints.policy = core.policyOf(op.getEvict());
  unsigned group = groupSize(op.getType(), op.getVector(), bitWidth(type), ptrs.size());
  const Registers *mask =
      op.getMask() && !matchPattern(op.getMask(), m_One()) ? &core.get(op.getMask()) : nullptr;
  unsigned run = mask ? maskRunOf(op, group) : group;
  Registers regs;
  // Copies load once: of the same elements behind the same mask, with one value for all others.
  using Key = std::tuple<Value, Value, Value, Value>;
  llvm::DenseMap<Key, Registers> seen;
  SmallVector<unsigned> equal = firstOfEqual(op);
  for (unsigned r = 0; r < ptrs.size(); r += group) {
    if (group == 1 && equal.size() == ptrs.size() && equal[r] < r) {
      regs.push_back(regs[equal[r]]);
      continue;
    }
    Value predicate = !mask ? Value() : run < group ? wholeGroup(*mask, r, group) : (*mask)[r];
    ValueRange other;
    if (op.getOther() && !isZeroBits(op.getOther()))
      other = ValueRange(core.get(op.getOther())).slice(r, group);
    bool mayShare = !op.getIsVolatile() && (run == group || !op.getOther()) &&
                    (other.empty() || llvm::all_equal(other));
    Key key = {ptrs[r], mask ? (*mask)[r] : Value(), mask ? (*mask)[r + group - 1] : Value(),
               other.empty() ? Value() : other.front()};
    if (auto copy = seen.find(key); mayShare && copy != seen.end()) {
      llvm::append_range(regs, copy->second);
      continue;
    }
    SmallVector<Value> loaded =
        in.loadGlobal(type, group, core.address(ptrs[r]), predicate, other, hints);
    if (mayShare)
      seen[key] = Registers(loaded);
    llvm::append_range(regs, loaded);
  }
  // Behind all whole groups, which are on their way together: what is true of the others.
  for (unsigned r = 0; run < group && r < ptrs.size(); r += run) {
    unsigned first = r / group * group;
    Value rest = LLVM::XOrOp::create(b, op.getLoc(), wholeGroup(*mask, first, group), in.i1(true));
    SmallVector<Value> loaded =
        in.loadGlobal(type, run, core.address(ptrs[r]), core.andB((*mask)[r], rest),
                      ArrayRef<Value>(regs).slice(r, run), hints);
    std::copy(loaded.begin(), loaded.end(), regs.begin() + r);
  }
  if (op.getIsVolatile() && failed(shareVolatile(op, regs)))
    return failure();
  core.set(op.getResult(), std::move(regs));
  return success();
}

/// Stores of single elements from which on a thread makes them one after the other.
static constexpr size_t kPartsInStep = 4;

void MemoryAccesses::lower(StoreOp op) {
  const Registers &ptrs = core.get(op.getPtr());
  const Registers &data = core.get(op.getValue());
  AccessHints hints{op.getCache(), op.getEvict(), false};
  Value owner;
  if (auto block = dyn_cast<RankedTensorType>(op.getPtr().getType()))
    owner = core.ownerPredicate(cta::getLayout(block));
  else
    owner = core.ownerPredicate(LinearLayout());
  unsigned group = groupSize(op.getValue().getType(), op.getVector(),
                             bitWidth(data.front().getType()), ptrs.size());
  const Registers *mask =
      op.getMask() && !matchPattern(op.getMask(), m_One()) ? &core.get(op.getMask()) : nullptr;
  unsigned run = mask ? maskRunOf(op, group) : group;
  SmallVector<Address> places;
  SmallVector<Value> predicates;
  for (unsigned r = 0; r < ptrs.size(); r += group) {
    Value predicate = owner;
    if (mask)
      predicate = core.andB(owner, run < group ? wholeGroup(*mask, r, group) : (*mask)[r]);
    places.push_back(core.address(ptrs[r]));
    predicates.push_back(predicate);
  }
  // Parts of sectors that are stored one after the other meet in the cache; the assembler would
  // store each as soon as its address is known.
  bool areParts = op->hasAttr(kInStepAttr) || (group == 1 && places.size() >= kPartsInStep);
  if (areParts)
    in.warpBarrier();
  for (auto [i, place] : llvm::enumerate(places))
    in.storeGlobal(place, ValueRange(data).slice(i * group, group), predicates[i], hints);
  for (unsigned r = 0; run < group && r < ptrs.size(); r += run) {
    Value rest = LLVM::XOrOp::create(b, op.getLoc(), wholeGroup(*mask, r / group * group, group),
                                     in.i1(true));
    in.storeGlobal(core.address(ptrs[r]), ValueRange(data).slice(r, run),
                   core.andB(owner, core.andB((*mask)[r], rest)), hints);
  }
}
