//===- Refusals.cpp - why a pass held back ---------------------------------===//
#include "passes/facts/Refusals.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

#define TURNS "tile-alternate-tiles", "its blocks are not computed by turns"
#define ROLES "tile-specialize-warps", "no warps only copy"
#define CLUSTER "tile-cluster-programs", "its programs share no copies"
/// In the order of `Reason`.
static constexpr Refusal refusals[] = {
    {"tile-fit-shared-memory", "its blocks are not computed by turns",
     "two groups need more shared memory than a thread block has", "pingpong"},
    {"tile-fit-shared-memory", "warpgroups do not multiply",
     "what they read needs more shared memory than a thread block has", "wgmma"},
    {TURNS, "its iterations hand values on to each other", "pingpong"},
    {TURNS, "it does more than multiply what TMA copies, and load and store", "pingpong"},
    {TURNS, "the kernel accesses what it stores outside the loop, too", "pingpong"},
    {TURNS, "what it stores is not computed behind all products", "pingpong"},
    {TURNS, "a warpgroup has no registers for the sums", "pingpong"},
    {TURNS, "one thread alone cannot follow its copies", "pingpong"},
    {TURNS, "no warps only copy", "pingpong"},
    {CLUSTER, "no loop of it copies by TMA, or it is not persistent", "clustered"},
    {CLUSTER, "it does more than load, compute and store", "clustered"},
    {CLUSTER, "neighbouring programs load nothing in common", "clustered"},
    {ROLES, "the author wants the others to copy", "roles"},
    {ROLES, "nothing is copied by TMA", "roles"},
    {ROLES, "a thread block has no room for more warps", "roles"},
    {ROLES, "where to copy depends on what all threads compute", "roles"},
    {ROLES, "where to copy is read from what the kernel writes", "roles"},
};
#undef TURNS
#undef CLUSTER
#undef ROLES
static_assert(std::size(refusals) == unsigned(Reason::RolesNeedStores) + 1);

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
