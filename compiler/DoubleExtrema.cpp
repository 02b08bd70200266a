//===- DoubleExtrema.cpp - maxima of doubles and constants ----------------===//
//
// No chip has an instruction for the larger of two doubles: NVIDIA's assembler makes six of
// `max.f64`, two predicates among them, since either may be NaN. Of a constant it is known that it
// is none: one comparison and a choice are enough, and the predicates that masks of loads are in
// stay free, for which the assembler otherwise waits load by load.
//
// Contract. Needs: a kernel as the back end gets it, all folding done. Guarantees: `maxnum` and
// `minnum` of a double and a constant, which is not NaN, nor the zero that the other zero would
// win against, are choices between the bits of both: the back end makes `max` of a choice between
// doubles. The results are the same, of NaN the constant. Never: touches two variable doubles, or
// other types.
//
//===----------------------------------------------------------------------===//
#include "compiler/DoubleExtrema.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

/// The constant of which `i` takes the larger or smaller; null: it is not such an operation.
static ConstantFP *constantOf(const IntrinsicInst &i) {
  bool isMax = i.getIntrinsicID() == Intrinsic::maxnum;
  if ((!isMax && i.getIntrinsicID() != Intrinsic::minnum) || !i.getType()->isDoubleTy())
    return nullptr;
  auto *constant = dyn_cast<ConstantFP>(i.getArgOperand(1));
  if (!constant)
    constant = dyn_cast<ConstantFP>(i.getArgOperand(0));
  bool losesToZero = constant && constant->isZero() && constant->isNegative() == isMax;
  return !constant || constant->isNaN() || losesToZero ? nullptr : constant;
}

static void choose(IntrinsicInst &i, ConstantFP *constant) {
  IRBuilder<> b(&i);
  Value *x = i.getArgOperand(i.getArgOperand(0) == constant ? 1 : 0);
  bool isMax = i.getIntrinsicID() == Intrinsic::maxnum;
  Value *isBetter = isMax ? b.CreateFCmpOGT(x, constant) : b.CreateFCmpOLT(x, constant);
  Value *bits = b.CreateSelect(isBetter, b.CreateBitCast(x, b.getInt64Ty()),
                               b.CreateBitCast(constant, b.getInt64Ty()));
  i.replaceAllUsesWith(b.CreateBitCast(bits, i.getType()));
  i.eraseFromParent();
}

void tile::chooseDoubleExtrema(Function &f) {
  for (Instruction &i : make_early_inc_range(instructions(f)))
    if (auto *call = dyn_cast<IntrinsicInst>(&i))
      if (ConstantFP *constant = constantOf(*call))
        choose(*call, constant);
}
