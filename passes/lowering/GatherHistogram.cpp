//===- GatherHistogram.cpp - gather and histogram, through shared memory --===//
#include "passes/lowering/GatherHistogram.h"
#include "passes/lowering/core/SharedAccess.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

/// An index of any width as i32.
static Value narrowIndex(OpBuilder &b, Location loc, Value index) {
  unsigned bits = bitWidth(index.getType());
  if (bits == 32)
    return index;
  if (bits < 32)
    return LLVM::SExtOp::create(b, loc, b.getI32Type(), index);
  return LLVM::TruncOp::create(b, loc, b.getI32Type(), index);
}

LogicalResult lowering::lowerGather(Core &core, GatherOp op) {
  Instructions &in = core.in;
  OpBuilder &b = core.b;
  Location loc = op.getLoc();
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!scratch)
    return op.emitOpError("has no scratch memory");
  auto src = cast<RankedTensorType>(op.getSrc().getType());
  Value base = core.sharedBase(scratch.getInt());
  writeRowMajor(core, op.getSrc(), base, src.getNumElements());
  in.barrier();

  // The source is [outer, length, inner]; all of them powers of two.
  const LinearLayout &layout = cta::getLayout(op.getType());
  unsigned axis = op.getAxis();
  int64_t length = src.getDimSize(axis), inner = 1;
  for (int64_t size : src.getShape().drop_front(axis + 1))
    inner *= size;
  unsigned bytes = std::max(getElementBytes(src.getElementType()), 1u);
  Type type = core.llvmType(src.getElementType());
  Type stored = type.isInteger(1) ? b.getI8Type() : type;
  Registers regs;
  for (auto [r, index] : llvm::enumerate(core.get(op.getIndex()))) {
    Value rest = core.elementIndex(layout, int32_t(r), op.getType().getShape(), int(axis));
    Value outer = LLVM::UDivOp::create(b, loc, rest, in.i32(int32_t(inner)));
    Value low = LLVM::AndOp::create(b, loc, rest, in.i32(int32_t(inner - 1)));
    // An index outside picks something inside.
    Value at = LLVM::AndOp::create(b, loc, narrowIndex(b, loc, index), in.i32(int32_t(length - 1)));
    Value row = LLVM::AddOp::create(
        b, loc, LLVM::MulOp::create(b, loc, outer, in.i32(int32_t(length))), at);
    Value place =
        LLVM::AddOp::create(b, loc, LLVM::MulOp::create(b, loc, row, in.i32(int32_t(inner))), low);
    Value byte = LLVM::MulOp::create(b, loc, place, in.i32(int32_t(bytes)));
    regs.push_back(
        core.fromMemory(in.loadShared(stored, 1, core.sharedAt(base, byte)).front(), type));
  }
  core.set(op.getResult(), std::move(regs));
  return success();
}

LogicalResult lowering::lowerHistogram(Core &core, HistogramOp op) {
  Instructions &in = core.in;
  OpBuilder &b = core.b;
  Location loc = op.getLoc();
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!scratch)
    return op.emitOpError("has no scratch memory");
  Value base = core.sharedBase(scratch.getInt());
  int64_t bins = op.getType().getDimSize(0);
  auto counter = [&](Value bin) {
    return core.sharedAt(base, LLVM::MulOp::create(b, loc, bin, in.i32(4)));
  };
  auto below = [&](Value v, int64_t limit) -> Value {
    Value bound = in.constant(v.getType(), b.getIntegerAttr(v.getType(), limit));
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, v, bound);
  };
  // 1. All counters to zero.
  for (int64_t first = 0; first < bins; first += core.numThreads) {
    Value bin = LLVM::AddOp::create(b, loc, core.tid, in.i32(int32_t(first)));
    Value predicate = first + core.numThreads > bins ? below(core.tid, bins - first) : Value();
    in.storeShared(counter(bin), {in.i32(0)}, predicate);
  }
  in.barrier();
  // 2. Each element is counted by one of the threads that hold it.
  const LinearLayout &layout = cta::getLayout(op.getSrc().getType());
  Value owner = core.ownerPredicate(layout);
  int32_t copies = 0;
  for (auto [dim, free] : layout.freeVariableMasks())
    if (dim == Dim::reg())
      copies = free;
  for (auto [r, v] : llvm::enumerate(core.get(op.getSrc()))) {
    if (int32_t(r) & copies)
      continue;
    Value predicate = owner;
    unsigned bits = bitWidth(v.getType());
    if (bits >= 63 || bins < int64_t(1) << bits)
      predicate = core.andB(predicate, below(v, bins));
    if (op.getMask())
      predicate = core.andB(predicate, core.get(op.getMask())[r]);
    Value bin = bits < 32    ? LLVM::ZExtOp::create(b, loc, b.getI32Type(), v).getResult()
                : bits == 64 ? LLVM::TruncOp::create(b, loc, b.getI32Type(), v).getResult()
                             : v;
    in.addShared(counter(bin), in.i32(1), predicate);
  }
  in.barrier();
  // 3. Everyone reads what they hold.
  const LinearLayout &result = cta::getLayout(op.getType());
  Registers regs;
  for (int32_t r = 0; r < result.inSize(Dim::reg()); ++r)
    regs.push_back(in.loadShared(b.getI32Type(), 1,
                                 counter(core.elementIndex(result, r, op.getType().getShape())))
                       .front());
  core.set(op.getResult(), std::move(regs));
  return success();
}
