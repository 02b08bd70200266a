//===- ReduceWords.cpp - elements of a reduction that share a register ----===//
//
// Lanes hand each other registers of 32 bits. Elements of 8 and 16 bits go several at a time, and
// are combined so where the combiner goes bit by bit.
//
//===----------------------------------------------------------------------===//
#include "ir/Combiners.h"
#include "passes/lowering/PackedElements.h"
#include "passes/lowering/ReduceLowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

SmallVector<Registers> ReduceLowering::ofOtherLane(MutableArrayRef<Registers> own, unsigned bit) {
  SmallVector<Registers> others(own.size());
  for (unsigned k = 0; k < op.getSrcs().size(); ++k) {
    Registers elements;
    for (Registers &a : own)
      elements.push_back(a[k]);
    unsigned perWord = elementsOfWord(elements);
    for (unsigned i = 0; i < own.size(); i += perWord) {
      if (perWord == 1) {
        others[i].push_back(core.in.shuffleXor(elements[i], bit));
        continue;
      }
      Value word = inWord(core.in, ArrayRef(elements).slice(i, perWord));
      for (auto [n, v] : llvm::enumerate(
               ofWord(core.in, core.in.shuffleXor(word, bit), elements[i].getType(), perWord)))
        others[i + n].push_back(v);
    }
  }
  return others;
}

unsigned ReduceLowering::sumsOfWord() {
  unsigned most = 1;
  for (unsigned k = 0; k < op.getSrcs().size(); ++k) {
    Registers elements;
    for (Registers &a : acc)
      elements.push_back(a[k]);
    most = std::max(most, elementsOfWord(elements));
  }
  return most;
}

bool ReduceLowering::overLanesInWords(unsigned mask) {
  Operation *combiner = soleCombiner(op.getCombineBlock());
  if (!isa_and_nonnull<arith::XOrIOp, arith::AndIOp, arith::OrIOp>(combiner))
    return false;
  Registers own;
  for (Registers &a : acc)
    own.push_back(a[0]);
  unsigned perWord = elementsOfWord(own);
  if (perWord == 1)
    return false;
  Location loc = core.in.getLoc();
  for (unsigned i = 0; i < own.size(); i += perWord) {
    Value word = inWord(core.in, ArrayRef(own).slice(i, perWord));
    for (unsigned bit = kLanes / 2; bit; bit /= 2) {
      if (!(mask & bit))
        continue;
      Value other = core.in.shuffleXor(word, bit);
      word =
          llvm::TypeSwitch<Operation *, Value>(combiner)
              .Case([&](arith::XOrIOp) { return LLVM::XOrOp::create(core.b, loc, word, other); })
              .Case([&](arith::AndIOp) { return LLVM::AndOp::create(core.b, loc, word, other); })
              .Default([&](Operation *) { return LLVM::OrOp::create(core.b, loc, word, other); });
    }
    for (auto [n, v] : llvm::enumerate(ofWord(core.in, word, own[i].getType(), perWord)))
      acc[i + n][0] = v;
  }
  copies |= int32_t(mask);
  return true;
}
