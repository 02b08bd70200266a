//===- LoadedBytes.cpp - bytes that are loaded behind masks ---------------===//
//
// A load behind a mask is text for the assembler, of which LLVM knows nothing. A byte comes in a
// word, and is cut to its eight bits:
//
//   %w = call i32 asm "mov.b32 $0, 0x0; @$2 ld.global.b8 $0, [$1];"   %byte = trunc i32 %w to i8
//
// The hardware leaves no other bits, so that an unsigned byte is the word as it is: the range of
// the result says so. If every use takes the byte for a signed one, as weights of eight bits are,
// it is loaded as such (`ld.global.s8`), and that is the word, too. Without either each byte takes
// an instruction more, or two.
//
//===----------------------------------------------------------------------===//
#include "compiler/LoadedBytes.h"
#include "passes/lowering/instructions/PtxText.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/ConstantRange.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"

using namespace llvm;

/// What uses the byte, if all of it takes its sign; none where anything does not.
static SmallVector<Instruction *> signedUses(CallInst &load) {
  SmallVector<Instruction *> uses;
  for (User *cut : load.users()) {
    if (!isa<TruncInst>(cut) || !cut->getType()->isIntegerTy(8))
      return {};
    for (User *use : cut->users()) {
      if (!isa<SExtInst, SIToFPInst>(use) || use->getType()->isVectorTy())
        return {};
      uses.push_back(cast<Instruction>(use));
    }
  }
  return uses;
}

static bool isExtendedByte(const Value *v) {
  auto *extended = dyn_cast<ZExtInst>(v);
  return extended && extended->getSrcTy()->isIntegerTy(8);
}

/// Whether the value of lanes that the mask leaves out, a word that `load` takes, is a byte, too.
static bool othersAreBytes(const CallInst &load) {
  return all_of(load.args(), [](const Use &operand) {
    auto *constant = dyn_cast<ConstantInt>(operand);
    return !operand->getType()->isIntegerTy(32) || isExtendedByte(operand) ||
           (constant && constant->getValue().ult(256));
  });
}

/// With its sign.
static void extendOthers(CallInst &load) {
  IRBuilder<> b(&load);
  for (Use &operand : load.args())
    if (auto *constant = dyn_cast<ConstantInt>(operand); constant && constant->getBitWidth() == 32)
      operand.set(b.getInt32(uint32_t(int32_t(int8_t(constant->getZExtValue())))));
    else if (isExtendedByte(operand))
      operand.set(b.CreateSExt(cast<ZExtInst>(operand)->getOperand(0), b.getInt32Ty()));
}

static void loadSigned(CallInst &load, ArrayRef<Instruction *> uses) {
  extendOthers(load);
  auto *text = cast<InlineAsm>(load.getCalledOperand());
  load.setCalledOperand(
      InlineAsm::get(text->getFunctionType(), tile::ptx::withSignedByte(text->getAsmString()),
                     text->getConstraintString(), text->hasSideEffects(), text->isAlignStack()));
  for (Instruction *use : uses) {
    IRBuilder<> b(use);
    Value *value = isa<SExtInst>(use) ? b.CreateSExtOrTrunc(&load, use->getType())
                                      : b.CreateSIToFP(&load, use->getType());
    use->replaceAllUsesWith(value);
  }
}

void tile::extendLoadedBytes(Function &f) {
  SmallVector<CallInst *> loads;
  for (Instruction &i : instructions(f))
    if (auto *call = dyn_cast<CallInst>(&i))
      if (auto *text = dyn_cast<InlineAsm>(call->getCalledOperand()))
        if (call->getType()->isIntegerTy(32) && tile::ptx::loadsByte(text->getAsmString()) &&
            othersAreBytes(*call))
          loads.push_back(call);
  for (CallInst *load : loads) {
    SmallVector<Instruction *> uses = signedUses(*load);
    if (!uses.empty())
      loadSigned(*load, uses);
    else
      load->addRangeRetAttr(ConstantRange(APInt(32, 0), APInt(32, 256)));
  }
}
