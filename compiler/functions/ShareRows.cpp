//===- ShareRows.cpp - long rows that several programs share --------------===//
//
// A program brings no more from memory than it has on its way, so that a few long rows leave most
// of the chip and of its memory's speed idle. Programs then share each row, and each pass over it
// is a kernel (RowSteps.h). What that gains and costs is counted in microseconds: what a program
// alone can bring, what memory and the L2 cache give to all, and a launch for each further pass.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/ChooseCut.h"
#include "passes/graph/RowSteps.h"
#include "target/Devices.h"
#include "target/Tuning.h"
#include "llvm/Support/MathExtras.h"

using namespace tile;
using namespace tile::graph;

/// What is found of a row is combined by every program at once, a block of as many columns.
static constexpr int64_t kMostParts = 1024;

namespace {
/// A kernel's passes over its rows, and the chip.
class RowModel {
public:
  RowModel(const KernelShape &shape, const Extents &of, const Target &target);
  /// In a kernel for each pass.
  double timeShared(const Cut &cut, int64_t parts) const;
  /// In one kernel.
  double timeWhole(const Cut &cut) const;

private:
  struct Pass {
    double bytes = 0; ///< of all rows
    bool goesAlong = false;
  };
  double timeOf(double bytes, double programs, bool isCached) const;
  double programsOf(const Cut &cut) const {
    return double(llvm::divideCeil(uint64_t(of.rows), uint64_t(cut.rows)));
  }

  const Extents &of;
  const DeviceModel &device;
  const Tuning &tuning;
  std::vector<Pass> passes;
  double read = 0, written = 0;    ///< once
  double memory, cache, ofProgram; ///< bytes in a microsecond
  double mostBeside = 2;           ///< programs of a multiprocessor that bring more than fewer
};
} // namespace

static double bytesOfArray(mlir::Value array, const Access &access, const Extents &of) {
  double elements = (access.hasRow ? double(of.rows) : 1) * double(of.columns);
  return elements * double(bytesOf(mlir::cast<GraphTensorType>(array.getType()).getElement()));
}

/// Of elements that are taken of an array along the rows; 0: of none, or one for each row.
static double bytesOfGathered(const KernelShape &shape, mlir::Value value, const Extents &of) {
  auto gather = value.getDefiningOp<graph::GatherOp>();
  KernelShape::Form form = gather ? shape.forms.lookup(value) : KernelShape::Form();
  if (!gather || !form.column)
    return 0;
  double elements = (form.row ? double(of.rows) : 1) * double(of.columns);
  return elements * double(bytesOf(gather.getType().getElement()));
}

RowModel::RowModel(const KernelShape &shape, const Extents &of, const Target &target)
    : of(of), device(deviceLike(target.capability)), tuning(tuningOf(target)) {
  RowSteps steps(shape);
  memory = device.terabytesPerSecond * 1e6 * tuning.reachedOfPeaks;
  cache = memory * tuning.cacheToMemory;
  ofProgram = double(tuning.chunkBytes * (tuning.chunkStages - 1)) / tuning.onTheWayMicroseconds;
  if (hasRowsBeside(shape, of)) { // a block at a time, which comes by ordinary loads
    int64_t bytes = 1;
    for (const Access &load : shape.loads)
      if (load.hasColumn && load.hasRow)
        bytes = std::max<int64_t>(
            bytes,
            graph::bytesOf(mlir::cast<GraphTensorType>(shape.op->getOperand(load.array).getType())
                               .getElement()));
    ofProgram = double(tuning.elementsBesideEachOther * bytes) / tuning.onTheWayMicroseconds;
    mostBeside = tuning.programsOfRowsBeside;
  }
  passes.resize(steps.count());
  for (auto [step, pass] : llvm::enumerate(passes)) {
    pass.goesAlong = steps.goesAlong(step);
    for (const Access &load : shape.loads)
      if (load.hasColumn && steps.reads(step, load.array))
        pass.bytes += bytesOfArray(shape.op->getOperand(load.array), load, of);
    for (mlir::Value value : steps.needed(step))
      pass.bytes += bytesOfGathered(shape, value, of);
    for (unsigned store : steps.stores(step))
      pass.bytes += bytesOfArray(shape.op->getResult(store), shape.stores[store], of);
  }
  for (const Access &load : shape.loads)
    if (load.hasColumn)
      read += bytesOfArray(shape.op->getOperand(load.array), load, of);
  graph::KernelOp kernel = shape.op;
  for (auto gather : kernel.getBody().front().getOps<graph::GatherOp>())
    read += bytesOfGathered(shape, gather.getResult(), of);
  for (auto [i, store] : llvm::enumerate(shape.stores))
    if (store.hasColumn)
      written += bytesOfArray(shape.op->getResult(i), store, of);
}

/// Of one pass. More programs than a multiprocessor holds beside each other change nothing.
double RowModel::timeOf(double bytes, double programs, bool isCached) const {
  double all = isCached ? cache : memory;
  double beside = std::min(programs, mostBeside * device.multiprocessors);
  return tuning.sharedLoadMicroseconds + bytes / std::min(all, beside * ofProgram);
}

double RowModel::timeWhole(const Cut &cut) const {
  double time = tuning.sharedRestMicroseconds, programs = programsOf(cut);
  if (!cut.loop)
    return time + timeOf(read + written, programs, false);
  for (auto [i, pass] : llvm::enumerate(passes))
    if (pass.goesAlong)
      time += timeOf(pass.bytes, programs, i > 0 && read <= double(device.l2Bytes) / 2);
  return time;
}

double RowModel::timeShared(const Cut &cut, int64_t parts) const {
  double time = tuning.sharedRestMicroseconds;
  double programs = programsOf(cut) * double(parts);
  for (auto [i, pass] : llvm::enumerate(passes)) {
    time += i > 0 ? tuning.sharedLaunchMicroseconds + tuning.sharedLoadMicroseconds : 0;
    if (!pass.goesAlong)
      continue;
    double combined = i > 0 ? programs * double(parts * 4) : 0;
    time += timeOf(pass.bytes, programs, i > 0 && read <= double(device.l2Bytes) / 2) +
            combined / cache;
  }
  return time;
}

int64_t tile::shareRows(const KernelShape &shape, const Extents &of, const Target &target) {
  if (of.rows < 1 || of.columns < 1 || !RowSteps(shape).canShare())
    return 1;
  TensorKernel step;
  step.step = 0;
  Cut cut = cutStep(shape, of, target, step);
  int64_t chunks = llvm::divideCeil(uint64_t(of.columns), uint64_t(cut.block));
  if (chunks < 2)
    return 1;
  RowModel model(shape, of, target);
  double least = model.timeWhole(chooseCut(shape, of, target)) * tuningOf(target).sharingWorthIt;
  int64_t best = 1;
  for (int64_t parts = 2; parts <= std::min(chunks, kMostParts); parts *= 2) {
    double time = model.timeShared(cut, parts);
    if (time >= least)
      continue;
    least = time;
    best = parts;
  }
  return best;
}
