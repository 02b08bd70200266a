//===- Refusals.cpp - why a pass held back ---------------------------------===//
#include "passes/facts/Refusals.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

#define TURNS "tile-alternate-tiles", "its blocks are not computed by turns"
#define ROLES "tile-specialize-warps", "no warps only copy"
#define PRODUCT "tile-warpgroup-dots", "warpgroups do not multiply"
#define FLIGHT "tile-overlap-dots", "products are not in flight from one iteration to the next"
#define PREFETCH "tile-prefetch-programs", "rows of later programs are not asked for"
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
    {PRODUCT, "a warpgroup is four warps", "wgmma"},
    {PRODUCT, "it is several products of a batch", "wgmma"},
    {PRODUCT, "its result is smaller than 64 x 8, or than that for each warpgroup", "wgmma"},
    {PRODUCT, "it adds up fewer than 32 bytes of each row", "wgmma"},
    {PRODUCT, "its f32 operands are to be multiplied exactly", "wgmma"},
    {PRODUCT, "they do not multiply these types", "wgmma"},
    {FLIGHT, "", "in flight"},
    {FLIGHT, "what an iteration does with its own results comes before the next", "in flight"},
    {FLIGHT, "what they read is computed or staged in the same iteration", "in flight"},
    {FLIGHT, "the slots that they read are needed at once, or read by others", "in flight"},
    {FLIGHT, "warpgroups with long products take turns anyway", "in flight"},
    {"tile-count-loops", "the loop stays a `while`", "it does not count to a limit known before it",
     "counted"},
    {"tile-pipeline-loads", "its loads are not copied ahead",
     "shared memory has no room for two stages", "pipelined"},
    {"tile-split-columns", "columns are padded to a power of two, not cut into parts",
     "not all that comes of the products is computed element by element and stored", "split"},
    {PREFETCH, "where a later program's row lies cannot be computed", "prefetched"},
    {PREFETCH, "rows are short", "prefetched"},
};
#undef TURNS
#undef CLUSTER
#undef ROLES
#undef PRODUCT
#undef FLIGHT
#undef PREFETCH
static_assert(std::size(refusals) == unsigned(Reason::PrefetchShortRows) + 1);

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
