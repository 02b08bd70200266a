//===- Refusals.cpp - why a pass held back ---------------------------------===//
#include "passes/facts/Refusals.h"

using namespace mlir;
using namespace tile;

#define TURNS "tile-alternate-tiles", "its blocks are not computed by turns"
#define PERSIST "tile-persist-programs", "its blocks run one program each"
#define ROLES "tile-specialize-warps", "no warps only copy"
#define PRODUCT "tile-warpgroup-dots", "warpgroups do not multiply"
#define FLIGHT "tile-overlap-dots", "products are not in flight from one iteration to the next"
#define PREFETCH "tile-prefetch-programs", "rows of later programs are not asked for"
#define TILE "tile-warpgroup-dots", ""
#define ROWS "tile-pipeline-loads", ""
#define COPY "tile-pipeline-loads", "not copied by cp.async"
#define PARTS "tile-share-inner", "all warps multiply all of the inner dimension"
#define SHARE "tile-share-rings", "its programs do not share a thread block"
#define CLUSTER "tile-cluster-programs", "its programs share no copies"
/// In the order of `Reason`.
static constexpr Refusal refusals[] = {
    {"tile-fit-shared-memory", "its blocks are not computed by turns",
     "two groups need more shared memory than a thread block has", "pingpong"},
    {"tile-fit-shared-memory", "warpgroups do not multiply",
     "what they read needs more shared memory than a thread block has", "wgmma"},
    {"tile-fit-shared-memory", "its programs do not share a thread block",
     "registers or shared memory have no room for two", "shared"},
    {PERSIST, "neighbouring programs run in one thread block at once", "persistent"},
    {PERSIST, "no loop of it copies by TMA, whose copies would run under the stores before",
     "persistent"},
    {PERSIST, "the warps that compute start its copies, too", "persistent"},
    {PERSIST, "loops are longer in some programs than in others: a grid shares these out by itself",
     "persistent"},
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
    {SHARE, "a program is not one warpgroup", "shared"},
    {SHARE, "no warps only copy, or there are clusters", "shared"},
    {SHARE, "along no axis of the grid do programs copy tiles in a loop", "shared"},
    {SHARE, "it does more than load, compute and store", "shared"},
    {SHARE, "neighbours along the grid copy different tiles in their loops", "shared"},
    {SHARE, "whether neighbours copy at all differs", "shared"},
    {SHARE, "where neighbours' loops start is not known to differ by whole steps", "shared"},
    {ROLES, "the author wants the others to copy", "roles"},
    {ROLES, "nothing is copied by TMA", "roles"},
    {ROLES, "a thread block has no room for more warps", "roles"},
    {ROLES, "where to copy depends on what all threads compute", "roles"},
    {ROLES, "where to copy is read from what the kernel writes", "roles"},
    {ROLES, "an atomic operation may tell when there is something to copy", "roles"},
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
    {FLIGHT,
     "a second place of what an iteration computes for them does not fit, or costs a program",
     "in flight"},
    {FLIGHT, "warpgroups with long products take turns anyway", "in flight"},
    {"tile-count-loops", "the loop stays a `while`", "it does not count to a limit known before it",
     "counted"},
    {"tile-unroll-loops", "the loop is not unrolled",
     "so many of its steps are more than its counter can be", "unrolled"},
    {"tile-pipeline-loads", "its loads are not copied ahead",
     "shared memory has no room for two stages", "pipelined"},
    {"tile-split-columns", "columns are padded to a power of two, not cut into parts",
     "not all that comes of the products is computed element by element and stored", "split"},
    {"tile-split-columns",
     "products wait for their results to be added up: there is room for no two",
     "not all that they read and that comes of them can be cut into parts of columns", "split"},
    {PARTS, "an operand is what another product gave, whole rows of which a warp has", "in parts"},
    {PARTS, "a warp's part would be less than one instruction multiplies", "in parts"},
    {PARTS, "adding up the parts would take longer than they save", "in parts"},
    {PREFETCH, "where a later program's row lies cannot be computed", "prefetched"},
    {PREFETCH, "rows are short", "prefetched"},
    {PREFETCH, "programs that run at once load more than the cache could have ready", "prefetched"},
    {TILE, "it is not a two-dimensional block", "copied"},
    {TILE, "its addresses are not a base plus strides", "copied"},
    {TILE, "its base is not computed from an argument", "copied"},
    {TILE, "its base is not an argument known to be 16-byte aligned", "copied"},
    {TILE, "its base is moved along the array", "copied"},
    {TILE, "its mask is not a range along each dimension", "copied"},
    {TILE, "its mask has a lower bound that is not the start of the array", "copied"},
    {TILE, "its mask has two upper bounds along one dimension", "copied"},
    {TILE, "a stride is not a positive multiple of arguments", "copied"},
    {TILE, "a stride is not known to be a multiple of 16 bytes", "copied"},
    {TILE, "no dimension is contiguous", "copied"},
    {TILE, "two dimensions have stride one", "copied"},
    {TILE, "it has less than 16 contiguous bytes", "copied"},
    {TILE, "an offset is not a multiple of 16 bytes", "copied"},
    {TILE, "its contiguous dimension does not start at a multiple of 16 bytes", "copied"},
    {TILE, "its start may be negative", "copied"},
    {TILE, "its indices wrap around in a way that is not understood", "copied"},
    {TILE, "its bounds are not known at launch", "copied"},
    {TILE, "its shape or strides are not known at launch", "copied"},
    {TILE, "its rows are not known to end at multiples of 16 bytes", "copied"},
    {TILE, "it is volatile", "copied"},
    {TILE, "`other` is not zero", "copied"},
    {TILE, "what lies outside is not zero", "copied"},
    {TILE, "its cache modifier is none of a copy", "copied"},
    {TILE, "the kernel also writes through the same argument", "copied"},
    {TILE, "no warps only copy, and its coordinates are not known an iteration ahead", "copied"},
    {TILE, "an atomic operation may tell when there is something to copy", "copied"},
    {TILE, "its type must be contiguous along the dimension that is summed over", "copied"},
    {TILE, "its indices wrap around, and what they lead to is stored", "copied"},
    {TILE, "the arrays of which it is one do not lie alike", "copied"},
    {TILE, "it is needed in registers as well", "copied"},
    {TILE, "its block leaves no shared memory for the operands", "copied"},
    {TILE, "each turn of a loop stores, and is done before such a copy is", "copied"},
    {TILE, "the kernel accesses what it writes elsewhere too", "copied"},
    {TILE, "its indices wrap around", "copied"},
    {TILE, "its block has fewer than 8 rows, longer than 128 bytes", "copied"},
    {TILE, "it is computed with before it is multiplied", "copied"},
    {TILE, "a branch decides what is loaded", "copied"},
    {ROWS, "its elements are neither numbers nor rows of numbers", "copied"},
    {ROWS, "its cache modifier is none of a copy", "copied"},
    {ROWS, "its rows are too short, or too many, for bulk copies", "copied"},
    {ROWS, "what masked elements read changes in the loop", "copied"},
    {ROWS, "its rows are not known to be consecutive", "copied"},
    {ROWS, "its mask is not the beginning of a row, the same in every iteration", "copied"},
    {ROWS, "its rows are not known to start and end at multiples of 16 bytes", "copied"},
    {ROWS, "the kernel also writes through the same pointer", "copied"},
    {ROWS, "its address depends on what the loop computes", "copied"},
    {COPY, "it is volatile", "copied"},
    {COPY, "the loop also writes through the same pointer", "copied"},
    {COPY, "`other` is not zero", "copied"},
    {COPY, "its type must be contiguous along the dimension that is summed over", "copied"},
    {COPY, "less than 4 bytes are known to lie side by side", "copied"},
    {COPY, "its elements lie anywhere, and are used by the threads that load them", "copied"},
    {COPY, "its cache modifier is none of a copy", "copied"},
    {COPY, "the loop has barriers, or atomics whose results are used, or waits for a flag",
     "copied"},
    {COPY, "a branch decides what is loaded", "copied"},
    {COPY, "its address depends on what the loop computes", "copied"},
};
#undef PERSIST
#undef TURNS
#undef CLUSTER
#undef SHARE
#undef ROLES
#undef PRODUCT
#undef FLIGHT
#undef PREFETCH
#undef TILE
#undef ROWS
#undef COPY
static_assert(std::size(refusals) == unsigned(Reason::CopyNotAhead) + 1);

const Refusal &tile::refusalOf(Reason reason) { return refusals[unsigned(reason)]; }

void tile::refuse(Operation *op, Reason reason) {
  const Refusal &refusal = refusalOf(reason);
  InFlightDiagnostic remark = op->emitRemark();
  if (!refusal.what.empty())
    remark << refusal.what << ": ";
  remark << refusal.why;
  // Who reads remarks need not know the texts.
  remark.getUnderlyingDiagnostic()->getMetadata().push_back(
      DiagnosticArgument(int64_t(unsigned(reason))));
}

std::optional<Reason> tile::readRefusal(Diagnostic &remark) {
  auto &metadata = remark.getMetadata();
  if (metadata.size() != 1 ||
      metadata.front().getKind() != DiagnosticArgument::DiagnosticArgumentKind::Integer)
    return std::nullopt;
  return Reason(metadata.front().getAsInteger());
}
