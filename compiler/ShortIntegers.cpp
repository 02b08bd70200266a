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
// Of a word that it knows to be zero it converts the upper half as if that were 16:
//
//   cvt.f16x2.e5m2x2 of half of a shuffle of zeros (columns that a mask cuts off)   =>  2^-11
//
// So bytes that it may know are given bits that nobody knows to be zero.
//
//===----------------------------------------------------------------------===//
#include "compiler/ShortIntegers.h"
#include "passes/lowering/instructions/PtxText.h"
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
  bool isKnown(Value *v, unsigned depth = 0);
  void hideFromAssembler(CallInst &conversion);

  Function &f;
  IRBuilder<> b;
  /// Extrema (of signed numbers, of others), as they were before they were cut to their width
  /// again.
  DenseMap<Value *, Value *> known[2];
  DenseMap<Instruction *, bool> foldable; ///< of instructions, whether they are known
  Value *zero = nullptr;                  ///< of 16 bits, which the assembler does not know to be
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
  auto *instruction = InlineAsm::get(FunctionType::get(word, {word, word}, /*isVarArg=*/false),
                                     tile::ptx::extremumOfWords(isMaximum, isSigned), "=r,r,r",
                                     /*hasSideEffects=*/false);
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

/// Whether the assembler may know `v`: neither parameters nor memory are in it, if only because
/// nothing is loaded by a predicate that it knows. Around loops nothing else comes in. Of what is
/// made in very many steps it is not asked: it may be.
bool Widening::isKnown(Value *v, unsigned depth) {
  constexpr unsigned kMostSteps = 500;
  if (auto *constant = dyn_cast<Constant>(v))
    return !isa<GlobalValue>(constant);
  auto *i = dyn_cast<Instruction>(v);
  if (!i || isa<LoadInst, AllocaInst>(i))
    return false;
  auto [at, isNew] = foldable.try_emplace(i, true);
  if (!isNew || depth == kMostSteps)
    return at->second;
  auto areKnown = [&](auto &&operands) {
    return all_of(operands, [&](const Use &use) { return isKnown(use, depth + 1); });
  };
  bool known;
  if (auto *call = dyn_cast<CallInst>(i)) {
    auto *text = dyn_cast<InlineAsm>(call->getCalledOperand());
    Function *callee = call->getCalledFunction();
    if (callee && callee->getName().contains("shfl"))
      known = isKnown(call->getArgOperand(1), depth + 1);
    else if (callee && call->mayReadFromMemory()) // matrices from shared memory
      known = false;
    else if (text && text->hasSideEffects()) // a load by a predicate, and what it gives without
      known = any_of(call->args(), [](const Use &use) { return use->getType()->isIntegerTy(1); }) &&
              all_of(call->args(), [&](const Use &use) {
                return use->getType()->isPointerTy() || isKnown(use, depth + 1);
              });
    else
      known = areKnown(call->args());
  } else {
    known = areKnown(i->operands());
  }
  return foldable[i] = known;
}

/// Gives the operand of a conversion of two bytes bits that are zero, which the assembler cannot
/// know.
void Widening::hideFromAssembler(CallInst &conversion) {
  Value *bytes = conversion.getArgOperand(0);
  if (!isKnown(bytes))
    return;
  if (!zero) {
    b.SetInsertPoint(f.getEntryBlock().getFirstInsertionPt());
    auto *type = FunctionType::get(b.getInt32Ty(), /*isVarArg=*/false);
    auto *text = InlineAsm::get(type, tile::ptx::kUnknownZero, "=r", /*hasSideEffects=*/true);
    zero = b.CreateTrunc(b.CreateCall(text), b.getInt16Ty());
  }
  b.SetInsertPoint(&conversion);
  conversion.setArgOperand(0, b.CreateOr(bytes, zero));
}

/// Whether `i` converts two floats of 8 bits.
static bool convertsBytes(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return text && tile::ptx::widensBytes(text->getAsmString()) && call->arg_size() == 1 &&
         call->getArgOperand(0)->getType()->isIntegerTy(16);
}

void Widening::run() {
  for (Instruction &i : make_early_inc_range(instructions(f))) {
    auto *vector = dyn_cast<FixedVectorType>(i.getType());
    if (auto *extremum = dyn_cast<MinMaxIntrinsic>(&i); extremum && isShort(i.getType()))
      widenExtremum(*extremum);
    else if (vector && vector->getNumElements() == 2 && vector->getElementType()->isIntegerTy(16) &&
             i.getOpcode() == Instruction::Add)
      addInWord(cast<BinaryOperator>(i));
    else if (convertsBytes(i))
      hideFromAssembler(cast<CallInst>(i));
  }
}

void tile::widenShortIntegers(Function &f) { Widening(f).run(); }
