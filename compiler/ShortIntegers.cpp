//===- ShortIntegers.cpp - arithmetic of 8 and 16 bits --------------------===//
//
// NVIDIA's assembler (12.3 to 13.0) makes instructions for two integers of 16 bits out of
// pairs of single ones, and takes such instructions apart again, and errs in both:
//
//   max.s16 of a maximum and zero, beside one of other numbers   =>  both are cut off at zero
//   add.s16x2 of a constant, of which one half is needed alone   =>  zero is added to that half
//
// It is right about 32 bits, and as fast: an instruction for two numbers saves no more than
// what brings them together and apart.
//
//===----------------------------------------------------------------------===//
#include "compiler/ShortIntegers.h"
#include "text/Format.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/PatternMatch.h"

using namespace llvm;

namespace {
class Widening {
public:
  explicit Widening(Function &f) : f(f), b(f.getContext()) {}
  void run();

private:
  Value *wide(Value *v, bool isSigned);
  void widenExtremum(MinMaxIntrinsic &extremum);
  void addInWord(BinaryOperator &sum);

  Function &f;
  IRBuilder<> b;
  /// Extrema (of signed numbers, of others), as they were before they were cut to their width
  /// again.
  DenseMap<Value *, Value *> known[2];
};
} // namespace

static bool isShort(const Type *type) { return type->isIntegerTy(8) || type->isIntegerTy(16); }

Value *Widening::wide(Value *v, bool isSigned) {
  if (Value *before = known[isSigned].lookup(v))
    return before;
  return isSigned ? b.CreateSExt(v, b.getInt32Ty()) : b.CreateZExt(v, b.getInt32Ty());
}

void Widening::widenExtremum(MinMaxIntrinsic &extremum) {
  b.SetInsertPoint(&extremum);
  bool isSigned = extremum.isSigned();
  bool isMaximum = is_contained({Intrinsic::smax, Intrinsic::umax}, extremum.getIntrinsicID());
  Type *word = b.getInt32Ty();
  // As LLVM's own operation it would be made one of few bits again.
  std::string text =
      tile::formatted("{}.{} $0, $1, $2;", isMaximum ? "max" : "min", isSigned ? "s32" : "u32");
  auto *instruction = InlineAsm::get(FunctionType::get(word, {word, word}, /*isVarArg=*/false),
                                     text, "=r,r,r", /*hasSideEffects=*/false);
  Value *result = b.CreateCall(
      instruction, {wide(extremum.getLHS(), isSigned), wide(extremum.getRHS(), isSigned)});
  Value *cut = b.CreateTrunc(result, extremum.getType());
  known[isSigned][cut] = result;
  extremum.replaceAllUsesWith(cut);
  extremum.eraseFromParent();
}

/// Without the upper bit of each half nothing is carried from one to the other; that bit is the
/// exclusive or of both and what was carried to it.
void Widening::addInWord(BinaryOperator &sum) {
  b.SetInsertPoint(&sum);
  Type *word = b.getInt32Ty();
  Value *x = b.CreateBitCast(sum.getOperand(0), word),
        *y = b.CreateBitCast(sum.getOperand(1), word);
  constexpr uint32_t kUpper = 0x80008000;
  Value *lower = b.CreateAdd(b.CreateAnd(x, ~kUpper), b.CreateAnd(y, ~kUpper));
  Value *upper = b.CreateAnd(b.CreateXor(x, y), kUpper);
  sum.replaceAllUsesWith(b.CreateBitCast(b.CreateXor(lower, upper), sum.getType()));
  sum.eraseFromParent();
}

void Widening::run() {
  for (Instruction &i : make_early_inc_range(instructions(f))) {
    auto *vector = dyn_cast<FixedVectorType>(i.getType());
    if (auto *extremum = dyn_cast<MinMaxIntrinsic>(&i); extremum && isShort(i.getType()))
      widenExtremum(*extremum);
    else if (vector && vector->getNumElements() == 2 && vector->getElementType()->isIntegerTy(16) &&
             i.getOpcode() == Instruction::Add)
      addInWord(cast<BinaryOperator>(i));
  }
}

void tile::widenShortIntegers(Function &f) { Widening(f).run(); }
