//===- Estimate.cpp - about how long a launch takes -----------------------===//
//
// A multiprocessor works on as many programs at once as it has room for, in rounds. A round takes
// as long as its busiest unit needs for all of them (memory, tensor cores, ...), and never less
// than one program alone, whose loads have to come before it goes on. All rounds together never
// take less than the bytes that have to come from memory: of what programs load at the same time,
// or of what the cache holds, each only once.
//
//===----------------------------------------------------------------------===//
#include "compiler/Estimate.h"
#include "target/Tuning.h"
#include <cmath>

using namespace tile;

namespace {
class Estimator {
public:
  Estimator(const Explanation &e, const DeviceModel &device)
      : e(e), device(device), tuning(tuningOf(targetNamed(targetOf(device)))) {}
  std::optional<LaunchEstimate> run(double programs);

private:
  double turnsOf(int loop) const;
  /// Of all products, how much of the tensor cores' peak their instructions reach.
  double shareOfPeak() const;
  /// Seconds for which the busiest unit of a multiprocessor works where so many programs run, and
  /// which it is.
  std::pair<double, llvm::StringRef> busiest(const Work &work, double programs) const;
  /// One program that has a multiprocessor for itself.
  double alone() const;
  int programsAtOnce();
  double loadedBytes(double programs, double running) const;
  double memorySeconds(const Work &whole, double programs, double running) const;

  const Explanation &e;
  const DeviceModel &device;
  const Tuning &tuning;
  bool hasDots = false, spills = false;
  double dotShare = 1;
};
} // namespace

double Estimator::turnsOf(int loop) const {
  double turns = 1;
  for (; loop >= 0; loop = e.loops[loop].loop)
    turns *= e.loops[loop].trips ? double(*e.loops[loop].trips) : tuning.unknownTurns;
  return turns;
}

/// Wide instructions of warpgroups read less for each multiplication; those of warps do not reach
/// the peak of chips that have the others.
static double shareOf(const Explanation::Dot &dot, bool hasWarpgroups, const Tuning &tuning) {
  llvm::StringRef name = dot.instruction;
  unsigned columns = 0;
  if (name.consume_front("wgmma.m64n") && !name.consumeInteger(10, columns))
    return double(columns) / (columns + tuning.columnsBesideProduct);
  return hasWarpgroups ? tuning.warpsShareBesideWarpgroups : tuning.warpsShareOfPeak;
}

double Estimator::shareOfPeak() const {
  const Target *target = findTarget(targetOf(device));
  bool hasWarpgroups = target && target->has(Feature::Wgmma);
  double operations = 0, needed = 0;
  for (const Explanation::Dot &dot : e.dots) {
    double all = dot.operations * turnsOf(dot.loop);
    operations += all;
    needed += all / shareOf(dot, hasWarpgroups, tuning);
  }
  return needed > 0 ? operations / needed : 1;
}

std::pair<double, llvm::StringRef> Estimator::busiest(const Work &work, double programs) const {
  double used =
      dotShare * std::sqrt(std::min(1.0, programs * e.consumerWarps / tuning.enoughWarps));
  double hertz = device.gigahertz * 1e9, dots = 0, scalars = 0;
  for (unsigned i = 0; i < kNumArithmetic; ++i) {
    bool isScalar = i == unsigned(Arithmetic::Fp32) || i == unsigned(Arithmetic::Fp64);
    double peak = device.tera[i] > 0 ? device.tera[i] : device.tera[unsigned(Arithmetic::Fp32)];
    (isScalar ? scalars : dots) += work.operations[i] * device.multiprocessors / (peak * 1e12);
  }
  double memory = work.sectors * device.multiprocessors /
                  (device.terabytesPerSecond * 1e12 * tuning.memoryShare);
  std::pair<double, llvm::StringRef> units[] = {
      {dots / used, "tensor cores"},
      {scalars, "arithmetic"},
      {work.wavefronts / hertz, "shared memory"},
      // Programs of a product share what they load.
      {hasDots ? work.lines / (kL2BytesPerCycle * hertz) : memory,
       hasDots ? "L2 cache" : "memory"}};
  auto most = *std::max_element(std::begin(units), std::end(units),
                                [](auto &a, auto &b) { return a.first < b.first; });
  if (spills)
    most.first *= tuning.spillFactor;
  return most;
}

double Estimator::alone() const {
  double ahead = 1; // turns for which loads are under way
  for (const Explanation::Ring &ring : e.rings)
    ahead = std::max(ahead, double(ring.stages - 1));
  double seconds = tuning.programSeconds + busiest(e.outside, 1).first;
  for (auto [i, loop] : llvm::enumerate(e.loops)) {
    double waiting = loop.each.read > 0 ? tuning.loadSeconds / ahead : 0;
    seconds += turnsOf(int(i)) * std::max(waiting, busiest(loop.each, 1).first);
  }
  return seconds;
}

int Estimator::programsAtOnce() {
  int registers = e.registers > 0 ? e.registers : e.blockRegisters + tuning.registersBesideBlocks;
  // The warps that only copy leave theirs to the others.
  spills = registers > int(kMaxRegisters) || e.spillBytes > 0;
  registers = std::min(registers, int(kMaxRegisters));
  int threads = 32 * std::max(e.consumerWarps, 1);
  return occupancyOf(device.multiprocessor(), threads, registers, e.metadata.sharedBytes).programs;
}

/// Of the first so many programs, how many load a block that none before them has loaded. Beyond
/// those that were asked it grows as among the second half of them.
static double readers(const Explanation::Access &access, double programs) {
  llvm::ArrayRef<uint32_t> first = access.firstReaders;
  auto among = [&](double count) {
    return double(llvm::lower_bound(first, count) - first.begin());
  };
  double asked = access.programsAsked;
  if (programs <= asked)
    return among(programs);
  return among(asked) + (programs - asked) * (among(asked) - among(asked / 2)) / (asked / 2);
}

/// What comes from memory for all programs. Where nothing is known, the programs of a product that
/// run at once are about a square of the result, and share what a row or a column of them loads.
double Estimator::loadedBytes(double programs, double running) const {
  double together = std::max(1.0, std::min(programs, running)), all = 0, once = 0;
  for (const Explanation::Access &access : e.accesses) {
    if (access.kind == "store")
      continue;
    double bytes = access.moved * turnsOf(access.loop);
    bool isKnown = !access.firstReaders.empty();
    double each = isKnown ? readers(access, together) : hasDots ? std::sqrt(together) : together;
    all += programs / together * each * bytes;
    once += (isKnown ? readers(access, programs) : programs / together * each) * bytes;
  }
  return once <= double(device.l2Bytes) ? once : all;
}

/// What comes from memory goes through the cache, which passes on the loads of products besides.
double Estimator::memorySeconds(const Work &whole, double programs, double running) const {
  double seconds = (loadedBytes(programs, running) + programs * whole.written) /
                   (device.terabytesPerSecond * 1e12 * tuning.memoryShare);
  if (hasDots)
    seconds += programs * whole.lines /
               (kL2BytesPerCycle * device.gigahertz * 1e9 * device.multiprocessors);
  return seconds;
}

std::optional<LaunchEstimate> Estimator::run(double programs) {
  int atOnce = programsAtOnce();
  if (atOnce == 0)
    return std::nullopt;
  hasDots = !e.dots.empty();
  dotShare = shareOfPeak();
  Work whole;
  whole.add(e.outside, 1);
  for (auto [i, loop] : llvm::enumerate(e.loops))
    whole.add(loop.each, turnsOf(int(i)));
  double single = alone(), chips = device.multiprocessors;
  // Where several run at once, some work while others begin. Seen in times of products; in those
  // of rows and of sums it does not show.
  double start = hasDots ? tuning.programSeconds : 0;
  auto round = [&](double count) {
    return std::max(single, count * std::max(tuning.startSeconds, busiest(whole, count).first) +
                                start / count);
  };

  double running = chips * atOnce;
  double full = std::floor(programs / running);
  double rest = std::ceil((programs - full * running) / chips);
  double most = full > 0 ? double(atOnce) : rest;
  double seconds = full * round(atOnce) + (rest > 0 ? round(rest) : 0);
  LaunchEstimate out;
  out.limit = round(most) > single ? busiest(whole, most).second : llvm::StringRef("latency");
  out.programsAtOnce = atOnce;
  if (double memory = memorySeconds(whole, programs, running); memory > seconds) {
    seconds = memory;
    out.limit = "memory";
  }
  out.seconds = tuning.launchSeconds + seconds;
  return out;
}

std::optional<LaunchEstimate> tile::estimateLaunch(const Explanation &explanation,
                                                   llvm::ArrayRef<uint32_t> grid) {
  double programs = 1;
  for (uint32_t size : grid)
    programs *= size;
  if (!explanation.device)
    return std::nullopt;
  return Estimator(explanation, *explanation.device).run(programs);
}

std::optional<LaunchEstimate> tile::estimateLaunch(Compiler &compiler,
                                                   const frontend::SourceFile &file,
                                                   ExplainOptions options,
                                                   llvm::ArrayRef<uint32_t> grid) {
  options.onlyLaidOut = true;
  options.grid = {1, 1, 1};
  options.compile.checkedLaunch = true;
  options.compile.persistent = false; // a program of the grid is what is counted
  options.compile.print = nullptr;
  llvm::copy(grid, options.grid.begin());
  CompileResult result;
  Explanation explanation;
  if (!explain(compiler, file, options, result, explanation))
    return std::nullopt;
  return estimateLaunch(explanation, grid);
}
