//===- ReducePartials.cpp - where partial results of warps lie ------------===//
//
// Whoever takes up a result reads the parts of all warps, 16 bytes at a time if they lie side by
// side. Where each lane has results of its own, those of a warp are then as far from each other as
// warps have parts, and lanes write to the same few banks. With the results of a warp side by side
// lanes write, and read, neighbours: several results of a thread at once, parts one by one. What
// both take is counted, as instructions and wavefronts. A warp that waits for its parts does not
// tell a few wavefronts less from a few reads more: they are to be more than a shuffle takes.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/Swizzle.h"
#include "passes/lowering/ReduceLowering.h"
#include "passes/memory/Costs.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

/// How far apart the results are of which each bit of `in` has parts.
static SmallVector<int64_t> stepsOf(const LinearLayout &layout, Dim in, ArrayRef<int64_t> shape,
                                    int skipAxis) {
  SmallVector<int64_t> steps;
  for (int32_t bit = 0; bit < layout.inSizeLog2(in); ++bit) {
    int64_t step = 0;
    for (auto [axis, size] : llvm::enumerate(shape))
      if (int(axis) != skipAxis)
        step = step * size + layout.basis(in, bit)[axis];
    steps.push_back(step);
  }
  return steps;
}

SmallVector<int64_t> ReduceLowering::writtenSteps() {
  SmallVector<int64_t> steps =
      stepsOf(layout, Dim::lane(), op.getInputType().getShape(), int(axis));
  for (auto [bit, step] : llvm::enumerate(steps))
    step ^= halvedDistances[bit];
  return steps;
}

unsigned ReduceLowering::resultsAtOnce(const Partials &partials, unsigned bytes) {
  if (!partials.areByWarp)
    return 1;
  constexpr unsigned kMostBytes = 16;
  int64_t threads = 0;
  SmallVector<int64_t> steps = writtenSteps();
  llvm::append_range(steps, stepsOf(layout, Dim::warp(), op.getInputType().getShape(), int(axis)));
  for (int64_t step : steps)
    threads |= step;
  SmallVector<int64_t> own =
      llvm::map_to_vector(keys, [&](const auto &key) { return indexOf(key); });
  auto hasAll = [&](unsigned run) {
    return threads % run == 0 && llvm::all_of(own, [&](int64_t index) {
             return llvm::is_contained(own, index ^ int64_t(run / 2));
           });
  };
  unsigned run = 1;
  while (2 * run * bytes <= kMostBytes && hasAll(2 * run))
    run *= 2;
  return run;
}

namespace {
/// What a thread takes up: of how many results, and how many parts of each; and for each bit of
/// the lanes, how many results and parts the others are further.
struct Reads {
  double rounds;
  unsigned own;
  SmallVector<int64_t> results, parts;
};
} // namespace

/// Each thread for itself; lanes of one result share it out.
static Reads readsAlone(ReduceWork &work, unsigned parts) {
  auto type = cast<RankedTensorType>(work.op.getResult(0).getType());
  const LinearLayout &to = cta::getLayout(type);
  unsigned lanes = work.lanesToShare(parts);
  Reads reads{1, parts >> llvm::popcount(lanes), stepsOf(to, Dim::lane(), type.getShape(), -1), {}};
  for (int64_t step : stepsOf(to, Dim::reg(), type.getShape(), -1))
    reads.rounds *= step ? 2 : 1;
  int64_t share = reads.own;
  for (unsigned bit = 0; bit < reads.results.size(); ++bit) {
    bool shares = lanes >> bit & 1;
    reads.parts.push_back(shares ? share : 0);
    share *= shares ? 2 : 1;
  }
  return reads;
}

/// All threads share out the results, `threads` neighbours each.
static Reads readsTogether(ReduceWork &work, unsigned parts, unsigned threads) {
  double rounds = double(work.results()) * threads / work.numThreads;
  Reads reads{std::max(rounds, 1.0), parts / threads, {}, {}};
  for (unsigned lane = 1; lane < kLanes; lane *= 2) {
    reads.results.push_back(lane < threads ? 0 : lane / threads % work.results());
    reads.parts.push_back(lane < threads ? int64_t(reads.own) * lane : 0);
  }
  return reads;
}

/// Wavefronts of a read of `bytes` by all lanes, beyond those that its bytes take.
static double conflicts(ArrayRef<uint64_t> steps, unsigned bytes) {
  constexpr unsigned kBytesOfWavefront = 128;
  double least = std::max(1.0, double(kLanes * bytes) / kBytesOfWavefront);
  return std::max(0.0, layout::countWavefronts(steps, bytes) - least);
}

double ReduceWork::conflictsAlone() {
  unsigned parts = partsOfResult();
  Reads reads = readsAlone(*this, parts);
  double sum = 0;
  for (Value src : op.getSrcs()) {
    unsigned bytes = std::max(getElementBytes(getElementType(src.getType())), 1u);
    unsigned step = partsAtOnce(reads.own, bytes);
    SmallVector<uint64_t> lanes;
    for (auto [result, part] : llvm::zip_equal(reads.results, reads.parts))
      lanes.push_back(bytes * (result * parts + part));
    sum += reads.rounds * reads.own / step * conflicts(lanes, step * bytes);
  }
  return sum;
}

double ReduceWork::conflictsTogether() {
  double sum = 0;
  Reads reads = readsAlone(*this, /*parts=*/1);
  for (Value src : op.getSrcs()) {
    unsigned bytes = std::max(getElementBytes(getElementType(src.getType())), 1u);
    SmallVector<uint64_t> lanes;
    for (int64_t result : reads.results)
      lanes.push_back(bytes * result);
    sum += reads.rounds * conflicts(lanes, bytes);
  }
  return sum;
}

double ReduceLowering::cyclesOfPartials(const Partials &partials, unsigned bytes) {
  int64_t ofResult = partials.areByWarp ? 1 : partials.warps;
  int64_t ofPart = partials.areByWarp ? partials.results : 1;
  unsigned threads = threadsOfResult();
  Reads reads =
      threads ? readsTogether(*this, partials.warps, threads) : readsAlone(*this, partials.warps);
  unsigned run = resultsAtOnce(partials, bytes);
  unsigned step = partials.areByWarp ? 1 : partsAtOnce(reads.own, bytes);
  SmallVector<uint64_t> written, read;
  for (int64_t one : writtenSteps())
    written.push_back(bytes * one * ofResult);
  for (auto [result, part] : llvm::zip_equal(reads.results, reads.parts))
    read.push_back(bytes * (result * ofResult + part * ofPart));
  double stores = double(acc.size()) / run, loads = reads.rounds * reads.own / step;
  Cost cost{stores + loads,
            stores * layout::countWavefronts(written, run * bytes) +
                loads * layout::countWavefronts(read, step * bytes),
            0};
  return cost.total(1);
}

bool ReduceLowering::isCheaperByWarp(const Partials &partials) {
  if (!isa<RankedTensorType>(op.getResult(0).getType()) || partials.results == 1)
    return false;
  Partials byWarp = partials, byResult = partials;
  byWarp.areByWarp = true;
  byResult.areByWarp = false;
  double cycles = 0, others = 0;
  for (Value src : op.getSrcs()) {
    unsigned bytes = std::max(getElementBytes(getElementType(src.getType())), 1u);
    cycles += cyclesOfPartials(byWarp, bytes);
    others += cyclesOfPartials(byResult, bytes);
  }
  return cycles + tuningOf(op).shuffleCycles < others;
}

Value ReduceLowering::placeOf(const Partials &partials, Value result, Value part) {
  Location loc = core.in.getLoc();
  Value far = partials.areByWarp ? part : result, near = partials.areByWarp ? result : part;
  if (!far)
    return near;
  int64_t distance = partials.areByWarp ? partials.results : partials.warps;
  far = LLVM::MulOp::create(core.b, loc, far, core.in.i32(int32_t(distance)));
  return near ? LLVM::AddOp::create(core.b, loc, far, near).getResult() : far;
}
