//===- TranslateLoops.cpp - loops that may have no end --------------------===//
//
// A loop that waits for nobody never comes back to the machine. So each turn of a loop
// counts down a word of the thread, and every so many turns the machine is asked
// (tileEmuTurns), which lets others run or says that it goes on for ever.
//
//===----------------------------------------------------------------------===//
#include "emulator/translate/Translator.h"
#include "llvm/Analysis/CFG.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;
using namespace tile::emu;

SmallSetVector<BasicBlock *, 8> tile::emu::loopHeaders(Function &f) {
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> edges;
  FindFunctionBackedges(f, edges);
  SmallSetVector<BasicBlock *, 8> headers;
  for (auto [from, to] : edges)
    headers.insert(const_cast<BasicBlock *>(to));
  return headers;
}

/// An instruction that stands for the loop: the first that has a place in the source.
static const Instruction &placeOf(const BasicBlock &header) {
  for (const Instruction &inst : header)
    if (const DILocation *loc = inst.getDebugLoc(); loc && loc->getLine())
      return inst;
  return header.front();
}

void Translator::countTurns(Function &f, Value *thread, Value *site) {
  for (BasicBlock *header : loopHeaders(f)) {
    Value *where = site ? site : siteOf(placeOf(*header), "loop");
    IRBuilder<> b(header, header->getFirstInsertionPt());
    Value *slot = b.CreateConstInBoundsGEP1_32(b.getInt32Ty(), thread, kTurnsLeft);
    Value *left = b.CreateSub(b.CreateLoad(b.getInt32Ty(), slot), b.getInt32(1));
    b.CreateStore(left, slot);
    Instruction *then =
        SplitBlockAndInsertIfThen(b.CreateIsNull(left), b.GetInsertPoint(), /*Unreachable=*/false);
    b.SetInsertPoint(then);
    callHook(b, "tileEmuTurns", b.getVoidTy(), {thread, where});
  }
}
