//===- LoadFences.cpp - loads of straight code in groups -----------------===//
//
// Unrolled loops are straight code, in which NVIDIA's assembler starts as many loads as there are
// registers for before it uses the first. A thread then takes most of the 255, and a few warps have
// a multiprocessor to themselves: less is under way than many warps with a few loads each would
// have, and little else runs meanwhile. A bound of more programs does not help: it loads as early,
// and spills.
//
// Contract. Needs: a kernel as the back end gets it. Guarantees: in one of a single block that
// loads more from global memory than a thread has registers, and needs little of it at a time, the
// lanes of a warp meet where as much has been loaded as half of the threads of a multiprocessor
// have registers for. The assembler moves no load across that; there is no instruction left of it,
// since lanes of straight code are together. Never: between loads that are needed together; in a
// kernel with matrix instructions.
//
//===----------------------------------------------------------------------===//
#include "compiler/LoadFences.h"
#include "compiler/RegisterEstimate.h"
#include "passes/facts/Registers.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace tile;

namespace {
/// A load, and what a thread holds before it and by it.
struct Point {
  Instruction *load;
  int live, registers;
};
} // namespace

static SmallVector<Point> loadsOf(BasicBlock &block) {
  const DataLayout &layout = block.getModule()->getDataLayout();
  SmallVector<const Instruction *> order = sunk(block, Loads::InPlace);
  SmallVector<int> live = liveBefore(order, layout);
  SmallVector<Point> loads;
  for (auto [i, now] : zip_equal(order, live))
    if (loadsGlobal(*i))
      loads.push_back({const_cast<Instruction *>(i), now, registersOf(*i, layout)});
  return loads;
}

/// The loads before which a fence stands, so that between two of them no more than `most` registers
/// are live and loaded: each where most of what was loaded is not needed any more, which has to be
/// the half of `most`.
static SmallVector<Instruction *> placesOfFences(ArrayRef<Point> loads, int most) {
  SmallVector<Instruction *> places;
  for (size_t begin = 0; begin < loads.size();) {
    size_t end = begin, best = begin;
    int loaded = 0, mostWon = 0, before = loads[begin].live;
    for (; end < loads.size() && before + loaded + loads[end].registers <= most; ++end) {
      loaded += loads[end].registers;
      if (end + 1 == loads.size())
        return places; // all are few
      if (int won = loaded - (loads[end + 1].live - before); won >= mostWon) {
        best = end + 1;
        mostWon = won;
      }
    }
    if (mostWon >= most / 2)
      places.push_back(loads[best].load);
    begin = std::max(mostWon >= most / 2 ? best : end, begin + 1);
  }
  return places;
}

void tile::groupLoads(Function &kernel, const Target &target) {
  if (kernel.size() != 1 || any_of(instructions(kernel), hasOwnRules))
    return;
  SmallVector<Point> loads = loadsOf(kernel.getEntryBlock());
  int loaded = 0;
  for (const Point &point : loads)
    loaded += point.registers;
  if (loaded <= int(kMaxRegisters))
    return;
  int most = 2 * target.multiprocessor.registers / target.multiprocessor.threads;
  for (Instruction *load : placesOfFences(loads, most)) {
    IRBuilder<> builder(load);
    builder.CreateIntrinsic(Intrinsic::nvvm_bar_warp_sync, {builder.getInt32(~0u)});
  }
}
