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
// if %tile is not the least number of 32 bits or %n is not -1: their quotient alone has 33 bits.
// What remains of a division is short if the divisor is, and so is what is divided by a number of
// the source if the dividend is: places in an array are taken apart by one length after the other.
//
//===----------------------------------------------------------------------===//
#include "compiler/LongDivisions.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

static constexpr unsigned kShort = 32;

/// Whether 32 bits hold `v`, with its sign.
static bool isShort(const Value *v, const DataLayout &layout) {
  unsigned bits = v->getType()->getScalarSizeInBits();
  if (bits <= kShort || ComputeNumSignBits(v, layout) > bits - kShort)
    return true;
  auto *op = dyn_cast<BinaryOperator>(v);
  return op && op->getOpcode() == Instruction::SRem && isShort(op->getOperand(1), layout);
}

/// Whether `v`, which 32 bits hold, is known not to be their least number. A quotient is no further
/// from zero than what is divided, and half as far at most by a number of the source but 1 and -1;
/// a remainder is nearer to zero than the divisor.
static bool isNeverLeast(const Value *v, const DataLayout &layout) {
  using namespace PatternMatch;
  const Value *from;
  const APInt *by;
  unsigned bits = v->getType()->getScalarSizeInBits();
  if (bits >= kShort && ComputeNumSignBits(v, layout) > bits - kShort + 1)
    return true; // 31 bits hold it
  if (match(v, m_SRem(m_Value(), m_Value(from))) && isShort(from, layout))
    return true;
  if (match(v, m_SDiv(m_Value(from), m_APInt(by))) && by->abs().ugt(1))
    return isShort(from, layout);
  if (match(v, m_SExt(m_Value(from))) || match(v, m_SDiv(m_Value(from), m_Value())) ||
      match(v, m_Trunc(m_Value(from))))
    return isShort(from, layout) && isNeverLeast(from, layout);
  return isKnownNonNegative(v, layout);
}

/// `v`, which 32 bits hold, in as many.
static Value *shortened(IRBuilder<> &b, Value *v) {
  auto *sext = dyn_cast<SExtInst>(v);
  Type *type = b.getIntNTy(kShort);
  return sext && sext->getSrcTy() == type ? sext->getOperand(0) : b.CreateTrunc(v, type);
}

static bool shorten(BinaryOperator &op, const DataLayout &layout) {
  bool isDivision = op.getOpcode() == Instruction::SDiv || op.getOpcode() == Instruction::SRem;
  if (!isDivision || !op.getType()->isIntegerTy(2 * kShort))
    return false;
  Value *number = op.getOperand(0), *divisor = op.getOperand(1);
  if (!isShort(number, layout) || !isShort(divisor, layout) ||
      (!isNeverLeast(number, layout) && !isKnownNonNegative(divisor, layout)))
    return false;
  IRBuilder<> b(&op);
  Value *result = b.CreateBinOp(op.getOpcode(), shortened(b, number), shortened(b, divisor));
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
