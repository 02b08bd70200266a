//===- LongDivisions.cpp - divisions of 64 bits ---------------------------===//
//
// Kernels that count programs in 64 bits divide those numbers by lengths of 32:
//
//   tile = tl.program_id(0).to(tl.int64);  row, column = tile // n, tile % n
//
// A division of 64 bits is a hundred instructions, or a branch that asks whether both numbers are
// short, and everything behind it is of 64 bits again. One of 32 bits is what is meant:
//
//   sdiv i64 (sext %tile), (sext %n)   =>   sext (sdiv i32 %tile, %n)
//
// if %tile is not negative or %n is not: the least number of 32 bits divided by -1 is none. What
// remains of a division is short if the divisor is.
//
//===----------------------------------------------------------------------===//
#include "compiler/LongDivisions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

static constexpr unsigned kShort = 32;

/// Whether 32 bits hold `v`, with its sign.
static bool isShort(const Value *v, const DataLayout &layout) {
  if (ComputeNumSignBits(v, layout) > kShort)
    return true;
  auto *op = dyn_cast<BinaryOperator>(v);
  return op && op->getOpcode() == Instruction::SRem && isShort(op->getOperand(1), layout);
}

static bool shorten(BinaryOperator &op, const DataLayout &layout) {
  bool isDivision = op.getOpcode() == Instruction::SDiv || op.getOpcode() == Instruction::SRem;
  if (!isDivision || !op.getType()->isIntegerTy(2 * kShort) || isa<Constant>(op.getOperand(1)))
    return false;
  Value *number = op.getOperand(0), *divisor = op.getOperand(1);
  if (!isShort(number, layout) || !isShort(divisor, layout) ||
      (!isKnownNonNegative(number, layout) && !isKnownNonNegative(divisor, layout)))
    return false;
  IRBuilder<> b(&op);
  Type *type = b.getIntNTy(kShort);
  Value *result =
      b.CreateBinOp(op.getOpcode(), b.CreateTrunc(number, type), b.CreateTrunc(divisor, type));
  op.replaceAllUsesWith(b.CreateSExt(result, op.getType()));
  op.eraseFromParent();
  return true;
}

PreservedAnalyses tile::ShortenDivisions::run(Function &f, FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &i : make_early_inc_range(instructions(f)))
    if (auto *op = dyn_cast<BinaryOperator>(&i))
      changed |= shorten(*op, f.getDataLayout());
  if (!changed)
    return PreservedAnalyses::all();
  PreservedAnalyses kept;
  kept.preserveSet<CFGAnalyses>();
  return kept;
}
