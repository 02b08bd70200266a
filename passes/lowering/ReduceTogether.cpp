//===- ReduceTogether.cpp - results that all threads combine together -----===//
//
// Warps have left their partial results in shared memory. Neighbouring threads combine the parts of
// one result each, so that every result is combined once; what comes out is written, side by side,
// behind the partial results, and after a barrier each thread reads those results that it needs.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/lowering/ReduceLowering.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

/// The longest run of the result's first registers that are neighbours in memory and begin at a
/// multiple of their number in every thread.
static unsigned runOf(RankedTensorType type) {
  const LinearLayout &to = cta::getLayout(type);
  unsigned last = type.getRank() - 1, run = 1;
  int32_t others = 0;
  for (Dim in : {Dim::lane(), Dim::warp()})
    for (int32_t bit = 0; bit < to.inSizeLog2(in); ++bit)
      others |= to.basis(in, bit)[last];
  for (int32_t bit = 0; bit < to.inSizeLog2(Dim::reg()); ++bit) {
    auto step = to.basis(Dim::reg(), bit);
    bool isNext = step[last] == int32_t(run) && !(others & run);
    for (unsigned axis = 0; axis < last; ++axis)
      isNext &= step[axis] == 0;
    if (!isNext)
      break;
    run *= 2;
  }
  return run;
}

LogicalResult ReduceLowering::takeUpTogether(const Partials &partials, unsigned threads,
                                             int64_t offset) {
  Location loc = core.in.getLoc();
  Partials whole{{}, 1};
  SmallVector<Type> types;
  for (auto [k, src] : llvm::enumerate(op.getSrcs())) {
    whole.bases.push_back(core.sharedBase(offset));
    offset += partialBytes(getElementType(src.getType()), results(), 1);
    types.push_back(acc.front()[k].getType());
  }

  // Thread t has a share of result t / threads; what is left of them then takes another round.
  unsigned own = partials.warps / threads, atOnce = numThreads / threads;
  Value share = LLVM::AndOp::create(core.b, loc, core.tid, core.in.i32(threads - 1));
  Value mine = LLVM::LShrOp::create(core.b, loc, core.tid, core.in.i32(llvm::Log2_32(threads)));
  int32_t idle = 0; // threads that do what others do
  for (unsigned t = numThreads / 2; t >= std::max<int64_t>(results() * threads, 1); t /= 2)
    idle |= int32_t(t);
  copies = idle;
  if (results() < atOnce)
    mine = LLVM::AndOp::create(core.b, loc, mine, core.in.i32(results() - 1));
  Value skipped = LLVM::MulOp::create(core.b, loc, share, core.in.i32(own));
  SmallVector<Registers> sums;
  SmallVector<Value> places;
  for (int64_t round = 0; round < results(); round += atOnce) {
    places.push_back(round ? LLVM::AddOp::create(core.b, loc, mine, core.in.i32(round)).getResult()
                           : mine);
    FailureOr<Registers> sum = readParts(partials, placeOf(partials, places.back(), skipped), own);
    if (failed(sum))
      return failure();
    sums.push_back(std::move(*sum));
  }
  acc = std::move(sums);
  if (failed(overShares(threads - 1, /*isForAll=*/false)))
    return failure();
  Value writes = core.hasNoneOf(idle | int32_t(threads - 1));
  for (auto [place, sum] : llvm::zip_equal(places, acc))
    for (auto [k, v] : llvm::enumerate(sum))
      core.in.storeShared(address(whole, k, place), {core.toMemory(v)}, writes);
  core.in.barrier();
  return readWhole(whole, types);
}

LogicalResult ReduceLowering::readWhole(const Partials &whole, ArrayRef<Type> types) {
  unsigned run = runOf(cast<RankedTensorType>(op.getResult(0).getType()));
  SmallVector<Value> needed = neededResults();
  if (needed.size() % run)
    run = 1;
  acc.assign(needed.size(), Registers(types.size()));
  for (auto [k, type] : llvm::enumerate(types)) {
    Type memory = type.isInteger(1) ? core.b.getI8Type() : type;
    unsigned step = std::min(run, 16 / std::max(bitWidth(memory) / 8, 1u));
    for (unsigned i = 0; i < needed.size(); i += step)
      for (auto [n, v] :
           llvm::enumerate(core.in.loadShared(memory, step, address(whole, k, needed[i]))))
        acc[i + n][k] = core.fromMemory(v, type);
  }
  return success();
}
