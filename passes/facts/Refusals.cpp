//===- Refusals.cpp - why a pass held back ---------------------------------===//
#include "passes/facts/Refusals.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

#define TURNS "tile-alternate-tiles", "its blocks are not computed by turns"
#define CLUSTER "tile-cluster-programs", "its programs share no copies"
/// In the order of `Reason`.
static constexpr Refusal refusals[] = {
    {TURNS, "its iterations hand values on to each other", "pingpong"},
    {TURNS, "it does more than multiply what TMA copies, and load and store", "pingpong"},
    {TURNS, "the kernel accesses what it stores outside the loop, too", "pingpong"},
    {TURNS, "what it stores is not computed behind all products", "pingpong"},
    {TURNS, "a warpgroup has no registers for the sums", "pingpong"},
    {TURNS, "one thread alone cannot follow its copies", "pingpong"},
    {CLUSTER, "no loop of it copies by TMA, or it is not persistent", "clustered"},
    {CLUSTER, "it does more than load, compute and store", "clustered"},
    {CLUSTER, "neighbouring programs load nothing in common", "clustered"},
};
#undef TURNS
#undef CLUSTER
static_assert(std::size(refusals) == unsigned(Reason::ClusterNothingShared) + 1);

const Refusal &tile::refusalOf(Reason reason) { return refusals[unsigned(reason)]; }

void tile::refuse(Operation *op, Reason reason) {
  const Refusal &refusal = refusalOf(reason);
  op->emitRemark() << refusal.what << ": " << refusal.why;
}

std::optional<Reason> tile::readRefusal(StringRef remark) {
  for (auto [index, refusal] : llvm::enumerate(refusals)) {
    StringRef rest = remark;
    if (rest.consume_front(refusal.what) && rest.consume_front(": ") && rest == refusal.why)
      return Reason(index);
  }
  return std::nullopt;
}
