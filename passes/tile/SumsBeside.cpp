//===- SumsBeside.cpp - sums that a loop keeps beside its products --------===//
#include "passes/tile/SumsBeside.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/facts/MoreWarps.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/ProductForms.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

/// Whether the product starts anew in each turn, and its result is only used element by element
/// there.
static bool isAddedUp(DotOp dot, scf::ForOp loop) {
  if (!startsAnew(dot.getAcc()) || sumThatJoins(dot))
    return false;
  DenseSet<Operation *> seen;
  SmallVector<Value> results{dot.getResult()};
  while (!results.empty())
    for (Operation *user : results.pop_back_val().getUsers()) {
      if (user == loop.getBody()->getTerminator() || !seen.insert(user).second)
        continue;
      if (user->getBlock() != loop.getBody() || !isElementByElement(user))
        return false;
      results.append(user->result_begin(), user->result_end());
    }
  return true;
}

/// Whether four warps have so many rows that eight are tried instead, half of whose registers hold
/// as much.
static bool isForMoreWarps(DotOp dot) {
  return mayGetTwoWarpgroups(kernelOf(dot)) && hasRowsForTwoWarpgroups(dot.getType());
}

int64_t tile::partsBesideSums(func::FuncOp kernel, int64_t columns) {
  // Where the warps that compute also copy, the assembler moves what is done with the parts behind
  // the last of them, and holds them all.
  if (copiesInPlace(kernel))
    return 1;
  const Tuning &tuning = tuningOf(kernel);
  int64_t number = 1;
  kernel.walk([&](scf::ForOp loop) {
    int64_t result = 0, sums = 0;
    bool areAddedUp = true; // all products: none waits for another's result
    loop.walk([&](DotOp dot) {
      RankedTensorType type = dot.getType();
      areAddedUp &= dot->getParentOp() == loop && isAddedUp(dot, loop) &&
                    warpgroupForm(dot) == WarpgroupForm::Direct && !isForMoreWarps(dot);
      if (type.getRank() == 2 && type.getDimSize(1) == columns)
        result = std::max(result, registersOfShare(type, cta::warpsOfGroup(dot) * kLanes));
    });
    for (Type type : loop.getResultTypes())
      if (auto block = dyn_cast<RankedTensorType>(type);
          block && block.getElementType().isIntOrFloat())
        sums += registersOfShare(block, cta::warpsOfGroup(loop) * kLanes);
    int64_t most = tuning.mostRegistersUnderProducts;
    if (!result || !areAddedUp || sums + 2 * result <= most)
      return;
    for (int64_t results : {2, 1})
      for (int64_t parts = 2; columns / parts >= tuning.splitSumsLeastColumns; parts *= 2)
        if (sums + results * result / parts <= most) {
          number = std::max(number, parts);
          return;
        }
  });
  return number;
}
