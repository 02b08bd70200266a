//===- WantedMultiples.cpp ------------------------------------------------===//
#include "passes/layouts/WantedMultiples.h"
#include "ir/Kernel.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "passes/facts/AccessWidth.h"
#include "passes/facts/AxisInfo.h"

using namespace mlir;
using namespace tile;

/// What signatures promise: an address or stride that is one starts any vector.
static constexpr int32_t kMost = 16;
/// How much sooner accesses are to be done for a form of its own, which is compiled and loaded.
static constexpr double kGain = 0.85;
/// Cycles of an access beside those for lines: of its mask and its address, too.
static constexpr double kOfAccess = 2;
/// How much more of it may be left for a lesser promise.
static constexpr double kAlike = 1.01;
/// How many turns a loop is taken to have: more than what stands outside of it.
static constexpr double kTurns = 8;

/// Cycles of all accesses of blocks, each in the layout that it wants.
static double cyclesOf(func::FuncOp kernel, Coalescing &coalescing) {
  double all = 0;
  kernel.walk([&](Operation *op) {
    Accessed access = Accessed::by(op);
    if (!access.ptr || !isa<RankedTensorType>(access.ptr.getType()))
      return;
    lowering::Cost cost = coalescing.cost(op, coalescing.anchor(op).getLayout());
    double cycles = kOfAccess * cost.instructions + cost.wavefronts;
    for (Operation *loop = op->getParentOp(); loop != kernel; loop = loop->getParentOp())
      if (isa<scf::ForOp, scf::WhileOp>(loop))
        cycles *= kTurns;
    all += cycles;
  });
  return all;
}

/// A number or an address that comes from the caller as it is, and of which nothing is known.
static bool isOpen(func::FuncOp kernel, unsigned i) {
  Type type = kernel.getArgumentTypes()[i];
  bool isNumber = type.isInteger() && !type.isInteger(1);
  return (isNumber || isa<PtrType>(type)) && kernel.getArgAttr(i, kSignatureIndexAttr) &&
         !kernel.getArgAttr(i, kSignaturePathAttr) && !kernel.getArgAttr(i, kDescriptorPartAttr) &&
         !kernel.getArgAttr(i, kDivisibilityAttr) && !kernel.getArgument(i).use_empty();
}

void tile::noteWantedMultiples(func::FuncOp kernel, Coalescing &asItIs, unsigned numWarps) {
  SmallVector<unsigned> open;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    if (isOpen(kernel, i))
      open.push_back(i);
  if (open.empty())
    return;
  Builder b(kernel.getContext());
  auto promise = [&](unsigned i, int32_t multiple) {
    kernel.setArgAttr(i, kDivisibilityAttr, b.getI32IntegerAttr(multiple));
  };
  auto cycles = [&] {
    AxisInfoAnalysis axes(kernel);
    Coalescing promised(kernel, axes, numWarps);
    return cyclesOf(kernel, promised);
  };
  for (unsigned i : open)
    promise(i, kMost);
  double fewest = cycles();
  SmallVector<std::pair<unsigned, int32_t>> wanted;
  if (fewest <= kGain * cyclesOf(kernel, asItIs))
    for (unsigned i : open) {
      int32_t least = 1;
      for (; least < kMost; least *= 2) {
        promise(i, least);
        if (cycles() <= kAlike * fewest)
          break;
      }
      promise(i, kMost);
      if (least > 1)
        wanted.emplace_back(i, least);
    }
  for (unsigned i : open)
    kernel.removeArgAttr(i, kDivisibilityAttr);
  for (auto [i, multiple] : wanted)
    kernel.setArgAttr(i, kWantedMultipleAttr, b.getI32IntegerAttr(multiple));
}
