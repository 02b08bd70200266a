//===- Atomic.cpp - read-modify-write on global memory ---------------------===//
//
// Each element is updated by one thread, however many hold a copy of it; where
// the result is used, that thread hands the old value to the others through
// scratch memory. What the target has no instruction for is a loop that tries
// to swap in the new value until nobody came between.
//
// An atomic that releases and acquires is a fence, the update and, for the acquiring half,
// the loss of what the first cache holds. A thread that updates several elements needs
// the fences once, around relaxed updates; and where nobody asks what memory held before,
// nothing can be acquired by it.
//
//===----------------------------------------------------------------------===//
#include "passes/facts/MemoryOrder.h"
#include "passes/lowering/MemoryAccess.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

/// Bits of the register index that make no difference.
static int32_t copyRegisters(const LinearLayout &layout) {
  for (auto [dim, free] : layout.freeVariableMasks())
    if (dim == Dim::reg())
      return free;
  return 0;
}

/// The updates of an op whose kind the target has an instruction for.
Registers MemoryAccesses::updateElements(AtomicRmwOp op, const Registers &ptrs, int32_t copies,
                                         Value owner) {
  const Registers &values = core.get(op.getValue());
  bool isSeen =
      !op.getResult().use_empty() || !in.hasAtomicUpdate(op.getKind(), values.front().getType());
  unsigned vector = isSeen ? 1 : std::min<unsigned>(op.getVector(), ptrs.size());
  unsigned count = 0; // of instructions
  for (unsigned r = 0; r < ptrs.size(); r += vector)
    count += !(r & copies);
  MemSemantic sem = op.getSem();
  // One instruction carries its own ordering; several share fences.
  bool shares = count > 1 && sem != MemSemantic::relaxed;
  if (shares && (isSeen || releases(sem)))
    in.fence(op.getScope());
  MemSemantic each = shares ? MemSemantic::relaxed : sem;
  if (!isSeen)
    each = releases(each) ? MemSemantic::release : MemSemantic::relaxed;
  Registers regs;
  for (unsigned r = 0; r < ptrs.size(); ++r) {
    if (r & copies) {
      regs.push_back(regs[r & ~copies]);
      continue;
    }
    Value predicate = op.getMask() ? core.andB(owner, core.get(op.getMask())[r]) : owner;
    if (isSeen) {
      regs.push_back(
          in.atomicRmw(op.getKind(), each, op.getScope(), ptrs[r], values[r], predicate));
      continue;
    }
    if (r % vector == 0)
      in.atomicUpdate(op.getKind(), each, op.getScope(), ptrs[r], ArrayRef(values).slice(r, vector),
                      predicate);
    regs.push_back(in.zero(values[r].getType())); // nobody looks
  }
  if (shares && isSeen && acquires(sem))
    in.fence(op.getScope());
  return regs;
}

LogicalResult MemoryAccesses::lowerAtomic(Operation *op) {
  auto rmw = dyn_cast<AtomicRmwOp>(op);
  auto cas = dyn_cast<AtomicCasOp>(op);
  Value ptrValue = rmw ? rmw.getPtr() : cas.getPtr();
  auto block = dyn_cast<RankedTensorType>(ptrValue.getType());
  const Registers ptrs = core.get(ptrValue);
  LinearLayout layout = block ? cta::getLayout(block) : LinearLayout();
  Value owner = core.ownerPredicate(layout);
  int32_t copies = block ? copyRegisters(layout) : 0;
  bool hasInstruction =
      rmw && in.hasAtomic(rmw.getKind(), core.get(rmw.getValue()).front().getType());
  Registers regs = hasInstruction ? updateElements(rmw, ptrs, copies, owner) : Registers();
  for (unsigned r = regs.size(); r < ptrs.size(); ++r) {
    if (r & copies) {
      regs.push_back(regs[r & ~copies]);
      continue;
    }
    if (rmw) {
      Value predicate = rmw.getMask() ? core.andB(owner, core.get(rmw.getMask())[r]) : owner;
      regs.push_back(atomicLoop(rmw, ptrs[r], core.get(rmw.getValue())[r], predicate));
    } else {
      regs.push_back(in.atomicCas(cas.getSem(), cas.getScope(), ptrs[r], core.get(cas.getCmp())[r],
                                  core.get(cas.getValue())[r], owner));
    }
  }
  if (owner && !op->getResult(0).use_empty() && failed(shareResults(op, regs, block, owner)))
    return failure();
  core.set(op->getResult(0), std::move(regs));
  return success();
}

/// What memory holds after the operation, in arithmetic that every target has.
static Value combined(OpBuilder &b, Location loc, AtomicKind kind, Value old, Value value) {
  Type type = value.getType();
  bool widen = type.isBF16() || type.isF16();
  Type wide = widen ? Type(b.getF32Type()) : type;
  if (widen) {
    old = LLVM::FPExtOp::create(b, loc, wide, old);
    value = LLVM::FPExtOp::create(b, loc, wide, value);
  }
  Value result;
  if (kind == AtomicKind::fadd)
    result = LLVM::FAddOp::create(b, loc, old, value);
  else if (kind == AtomicKind::fmax)
    result = LLVM::MaxNumOp::create(b, loc, old, value);
  else
    result = LLVM::MinNumOp::create(b, loc, old, value);
  return widen ? LLVM::FPTruncOp::create(b, loc, type, result).getResult() : result;
}

Value MemoryAccesses::atomicLoop(AtomicRmwOp op, Value ptr, Value value, Value predicate) {
  Location loc = op.getLoc();
  Type type = value.getType();
  Type bits = b.getIntegerType(bitWidth(type));
  Block *first = core.newBlock(), *again = core.newBlock(), *done = core.newBlock();
  Value tried = again->addArgument(bits, loc), result = done->addArgument(bits, loc);
  if (predicate)
    LLVM::CondBrOp::create(b, loc, predicate, first, ValueRange(), done, ValueRange(in.zero(bits)));
  else
    LLVM::BrOp::create(b, loc, ValueRange(), first);

  core.enterBlock(first);
  Value before = LLVM::LoadOp::create(b, loc, bits, ptr, bitWidth(type) / 8, /*isVolatile=*/true);
  LLVM::BrOp::create(b, loc, ValueRange(before), again);

  core.enterBlock(again);
  Value old = LLVM::BitcastOp::create(b, loc, type, tried);
  Value next = combined(b, loc, op.getKind(), old, value);
  Value seen = in.atomicCas(op.getSem(), op.getScope(), ptr, tried,
                            LLVM::BitcastOp::create(b, loc, bits, next), {});
  Value swapped = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, seen, tried);
  LLVM::CondBrOp::create(b, loc, swapped, done, ValueRange(seen), again, ValueRange(seen));

  core.enterBlock(done);
  return LLVM::BitcastOp::create(b, loc, type, result);
}

/// Only the owner has the old value: hand it to the threads holding copies.
LogicalResult MemoryAccesses::shareResults(Operation *op, Registers &regs, RankedTensorType block,
                                           Value owner) {
  auto attr = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!attr)
    return op->emitOpError("result is used by several threads but has no scratch memory");
  Value base = core.sharedBase(attr.getInt());
  unsigned bytes = std::max(bitWidth(regs[0].getType()) / 8, 1u);
  SmallVector<Value> slots;
  for (unsigned r = 0; r < regs.size(); ++r) {
    Value offset = in.i32(0);
    if (block)
      offset = LLVM::MulOp::create(b, op->getLoc(),
                                   core.elementIndex(cta::getLayout(block), r, block.getShape()),
                                   in.i32(int32_t(bytes)));
    slots.push_back(core.sharedAt(base, offset));
    in.storeShared(slots[r], {regs[r]}, owner);
  }
  in.barrier();
  for (unsigned r = 0; r < regs.size(); ++r)
    regs[r] = in.loadShared(regs[r].getType(), 1, slots[r]).front();
  return success();
}
