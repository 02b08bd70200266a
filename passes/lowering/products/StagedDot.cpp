//===- StagedDot.cpp - products by multiply-adds, operands in shared memory ===//
//
// Where no matrix instruction multiplies the operands' types and a thread could
// not hold all that it multiplies, both operands are written to shared memory
// once, and read back a few steps of the inner dimension at a time:
//
//   write a, b;  barrier;  for k in steps: read a[:, k], b[k, :];  acc += a * b
//
// The arrangement in memory is swizzled for both sides. Which step is read only
// flips bits of the address, so a loop needs one XOR an operand.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/products/StagedDot.h"
#include "ir/Attributes.h"
#include "ir/layout/GF2.h"
#include "ir/layout/Swizzle.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/lowering/core/Casts.h"
#include "passes/lowering/core/SharedAccess.h"
#include "passes/lowering/products/RegisterMap.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using namespace tile::layout;

static int64_t operandBytes(Value operand) {
  auto type = cast<RankedTensorType>(operand.getType());
  return llvm::alignTo(type.getNumElements() * int64_t(getElementBytes(type.getElementType())),
                       1024);
}

int64_t lowering::dotScratchBytes(DotOp op) {
  return dotMethod(op) == DotMethod::Staged ? operandBytes(op.getA()) + operandBytes(op.getB()) : 0;
}

namespace {
class StagedLowering {
public:
  StagedLowering(Core &core, DotOp op) : core(core), casts(core), op(op) {}
  LogicalResult run();

private:
  /// One operand: who reads it, and where it lies.
  struct Operand {
    Type element;        ///< in the IR
    Type memory;         ///< in registers and memory
    LinearLayout reads;  ///< of one step
    LinearLayout places; ///< reads -> offset, the steps counted as warps
    SmallVector<uint64_t, 8> stepRows;
    VectorAccess vectors;
    Value base;
  };

  Core &core;
  Casts casts;
  DotOp op;
  unsigned rank = unsigned(op.getType().getRank());
  int64_t depth = op.getA().getType().getShape().back();
  unsigned step = 1; ///< of the inner dimension
  Type sum;
  Operand a, b;

  void write(Operand &operand, Value value, const LinearLayout &readers, int64_t offset);
  Registers read(const Operand &operand, Value iteration);
  void multiply(const Registers &x, const Registers &y, Registers &acc);
};
} // namespace

/// Puts an operand in shared memory and prepares to read it step by step.
/// `readers`: a layout whose highest register bits are the inner dimension.
void StagedLowering::write(Operand &operand, Value value, const LinearLayout &readers,
                           int64_t offset) {
  operand.element = getElementType(value.getType());
  operand.memory = core.get(value).front().getType();
  operand.base = core.sharedBase(offset);
  const LinearLayout &holders = cta::getLayout(value.getType());
  SharedLayout shared = optimalSwizzle(holders, readers, bitWidth(operand.memory) / 8);
  storeBlock(core, core.get(value), holders, shared, nullptr, operand.base);

  unsigned stepBits = log2Exact(uint64_t(depth) / step);
  unsigned kept = unsigned(readers.inSizeLog2(Dim::reg())) - stepBits;
  int32_t loopMask = int32_t(lowBits(stepBits) << kept);
  LinearLayout offsets = offsetsOf(readers, shared.layout);
  operand.reads = readers.removeInBits(Dim::reg(), loopMask);
  ArrayRef<uint64_t> rows = offsets.rows(Dim::reg());
  operand.stepRows.assign(rows.begin() + kept, rows.end());
  operand.places = offsets.removeInBits(Dim::reg(), loopMask);
  // A vector must stay together in every step: steps are like other threads.
  SmallVector<uint64_t, 16> all(operand.places.rows());
  llvm::append_range(all, operand.stepRows);
  LinearLayout withSteps =
      LinearLayout::fromRows({{Dim::reg(), 1 << kept},
                              {Dim::lane(), offsets.inSize(Dim::lane())},
                              {Dim::warp(), offsets.inSize(Dim::warp()) << stepBits}},
                             offsets.outs(), all);
  operand.vectors = widestVector(withSteps, Dim::offset(), shared.readVectorLog2);
}

/// The registers of `reads` in one iteration (i32; null if there is only one),
/// in the type of the sum.
Registers StagedLowering::read(const Operand &operand, Value iteration) {
  Location loc = core.in.getLoc();
  OpBuilder &b = core.b;
  Value varying;
  int32_t varyingBits = 0;
  for (auto [bit, row] : llvm::enumerate(operand.stepRows)) {
    Value isSet = LLVM::LShrOp::create(b, loc, iteration, core.in.i32(int32_t(bit)));
    isSet = LLVM::AndOp::create(b, loc, isSet, core.in.i32(1));
    Value term = LLVM::MulOp::create(b, loc, isSet, core.in.i32(int32_t(row)));
    varying = varying ? LLVM::XOrOp::create(b, loc, varying, term).getResult() : term;
    varyingBits |= int32_t(row);
  }
  Registers regs(operand.reads.inSize(Dim::reg()));
  unsigned bytes = bitWidth(operand.memory) / 8, count = 1u << operand.vectors.log2();
  for (int32_t first : operand.vectors.firstRegisters) {
    Value address =
        core.exchangeAddress(operand.places, first, operand.base, bytes, varying, varyingBits);
    for (auto [k, v] : llvm::enumerate(core.in.loadShared(operand.memory, count, address)))
      regs[operand.vectors.registerAt(first, k)] = casts.widen(v, operand.element, sum);
  }
  bool isAlgebraic = op->getParentOfType<ModuleOp>()->hasAttr(kAlgebraicAttr);
  if (op.getInputPrecision() == InputPrecision::tf32 && !isAlgebraic)
    for (Value &v : regs)
      v = core.in.cutToTf32(v);
  return regs;
}

void StagedLowering::multiply(const Registers &x, const Registers &y, Registers &acc) {
  const LinearLayout &layout = cta::getLayout(op.getType());
  RegisterMap inA(a.reads), inB(b.reads);
  for (int32_t k = 0; k < int32_t(step); ++k)
    for (auto [r, v] : llvm::enumerate(acc)) {
      SmallVector<int32_t> row = registerCoordinates(layout, int32_t(r)), column = row;
      row[rank - 1] = column[rank - 2] = k;
      v = core.in.multiplyAdd(x[*inA.find(row)], y[*inB.find(column)], v);
    }
}

LogicalResult StagedLowering::run() {
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!scratch)
    return op.emitOpError("stages its operands in shared memory but has none assigned");
  Location loc = core.in.getLoc();
  Type type = getElementType(op.getType());
  sum = type.isF16() ? core.b.getF32Type() : type;
  DotLayouts readers = scalarDotLayouts(cta::getLayout(op.getType()), depth);

  // 1. As many steps at a time as registers allow.
  int64_t perStep = (readers.a.inSize(Dim::reg()) + readers.b.inSize(Dim::reg())) / depth;
  const Tuning &tuning = tuningOf(op);
  while (step < tuning.stagedMostSteps && step < depth &&
         perStep * step * 2 <= tuning.stagedMostRegisters)
    step *= 2;
  write(a, op.getA(), readers.a, scratch.getInt());
  write(b, op.getB(), readers.b, scratch.getInt() + operandBytes(op.getA()));
  core.in.barrier();

  // 2. The loop over steps.
  Registers acc;
  for (Value v : core.get(op.getAcc()))
    acc.push_back(type == sum ? v : casts.emitFpCast(v, sum, Rounding::rtne));
  if (step == depth) {
    multiply(read(a, {}), read(b, {}), acc);
  } else {
    Block *body = core.newBlock(), *exit = core.newBlock();
    SmallVector<Value> carried{core.in.i32(0)};
    llvm::append_range(carried, acc);
    LLVM::BrOp::create(core.b, loc, carried, body);
    for (Value v : carried)
      body->addArgument(v.getType(), loc);
    core.enterBlock(body);
    Value iteration = body->getArgument(0);
    acc.assign(body->args_begin() + 1, body->args_end());
    multiply(read(a, iteration), read(b, iteration), acc);
    Value next = LLVM::AddOp::create(core.b, loc, iteration, core.in.i32(1));
    Value more = LLVM::ICmpOp::create(core.b, loc, LLVM::ICmpPredicate::slt, next,
                                      core.in.i32(int32_t(depth / step)));
    carried.assign({next});
    llvm::append_range(carried, acc);
    LLVM::CondBrOp::create(core.b, loc, more, body, carried, exit, ValueRange());
    core.enterBlock(exit);
  }
  for (Value &v : acc)
    v = type == sum ? v : casts.emitFpCast(v, type, Rounding::rtne);
  core.set(op.getResult(), std::move(acc));
  return success();
}

LogicalResult lowering::multiplyStaged(Core &core, DotOp op) {
  return StagedLowering(core, op).run();
}
