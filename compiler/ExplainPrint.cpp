//===- ExplainPrint.cpp - bounds of a kernel, and its report as text ---------===//
#include "compiler/Explain.h"
#include "frontend/Counted.h"
#include "target/Target.h"
#include "target/Tuning.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using llvm::raw_ostream;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Bounds
//===----------------------------------------------------------------------===//

static bool isDot(unsigned arithmetic) {
  return arithmetic != unsigned(Arithmetic::Fp32) && arithmetic != unsigned(Arithmetic::Fp64);
}

static double operationsOf(const Work &work, bool dots) {
  double sum = 0;
  for (unsigned i = 0; i < kNumArithmetic; ++i)
    if (isDot(i) == dots)
      sum += work.operations[i];
  return sum;
}

static std::string percent(double part, double whole) {
  return formatted("{}%", int(whole > 0 ? 100 * part / whole + 0.5 : 0));
}

/// "1.5 KB", "3 MB".
static std::string inBytes(double bytes) {
  const char *unit = "bytes";
  if (bytes >= 1 << 20)
    bytes /= 1 << 20, unit = "MB";
  else if (bytes >= 1 << 10)
    bytes /= 1 << 10, unit = "KB";
  return bytes == double(int64_t(bytes)) ? formatted("{} {}", int64_t(bytes), unit)
                                         : formatted("{:.1f} {}", bytes, unit);
}

/// A count that may be an average: "16", "2.5".
static std::string counted(double count) {
  return count < 1000 ? formatted("{:.4g}", count) : formatted("{:.0f}", count);
}

static std::string inOperations(double count) {
  static const char *const units[] = {"", " thousand", " million", " billion", " trillion"};
  unsigned unit = 0;
  while (count >= 1000 && unit + 1 < std::size(units))
    count /= 1000, ++unit;
  return count < 10 && unit ? formatted("{:.2f}{}", count, units[unit])
                            : formatted("{:.0f}{}", count, units[unit]);
}

/// The whole program if every trip count is known; otherwise the innermost
/// loop of those that are not: where the time goes once there is enough to do.
static void chooseScope(Explanation &e) {
  std::vector<Work> whole;
  e.scope = Work();
  e.scopeLoop = -1;
  auto timesRun = [&](int loop) {
    double times = 1;
    for (int l = loop; l >= 0; l = e.loops[l].loop)
      times *= double(e.loops[l].trips.value_or(1));
    return times;
  };
  auto heaviest = -1;
  double most = -1;
  for (auto [i, loop] : llvm::enumerate(e.loops)) {
    if (loop.trips)
      continue;
    double weight =
        operationsOf(loop.each, true) + operationsOf(loop.each, false) + loop.each.sectors;
    if (weight > most && weight > 0)
      most = weight, heaviest = int(i);
  }
  if (heaviest >= 0) { // with the loops inside it whose trips are known
    e.scopeLoop = heaviest;
    for (auto [i, loop] : llvm::enumerate(e.loops)) {
      double times = 1;
      int l = int(i);
      for (; l >= 0 && l != heaviest; l = e.loops[l].loop)
        times *= double(e.loops[l].trips.value_or(0));
      if (l == heaviest)
        e.scope.add(loop.each, times);
    }
    return;
  }
  e.scope.add(e.outside, 1);
  for (auto [i, loop] : llvm::enumerate(e.loops))
    e.scope.add(loop.each, timesRun(int(i)));
}

static std::string limitOf(const Explanation &e, StringRef most, double share) {
  const DeviceModel &device = *e.device;
  const Tuning &tuning = tuningOf(targetNamed(targetOf(device)));
  std::string of =
      e.scopeLoop < 0 ? "" : formatted(" in the loop at line {}", e.loops[e.scopeLoop].line);
  for (const Explanation::Access &a : e.accesses)
    if (most == "memory" && a.idealSectors > 0 &&
        a.idealSectors / a.sectors < tuning.poorUseOfSectors &&
        a.bytes * 2 > e.scope.read + e.scope.written)
      return formatted("the {} at line {}, which uses {} of the bytes that it moves: its "
                       "neighbouring lanes do not read neighbouring elements",
                       a.kind, a.line, percent(a.idealSectors, a.sectors));
  int running = e.occupancy ? e.occupancy->programs * (e.metadata.threads / 32) : 0;
  if (e.occupancy && e.occupancy->programs == 0)
    return formatted("nothing runs: a multiprocessor of the {} has too little {}", device.title,
                     e.occupancy->limit);
  if (most == "memory") {
    if (running && running < tuning.warpsForMemory &&
        llvm::none_of(e.accesses, [](auto &a) { return a.path == "TMA"; }))
      return formatted("too few warps to keep memory busy ({} on a multiprocessor, limited by {})",
                       running, e.occupancy->limit);
    return formatted("memory bandwidth{}: {} of arithmetic fits beside it", of,
                     share < 1 ? "all" : "not all");
  }
  if (e.spillBytes > 0 && most != "tensor cores")
    return formatted("{}, and {} spilled by each thread", most, inBytes(e.spillBytes));
  if (most == "tensor cores") {
    std::string text = formatted("the tensor cores{}", of);
    auto dram = e.seconds.find("memory without reuse");
    double uses = dram == e.seconds.end() ? 0 : dram->second / e.boundSeconds;
    if (uses > 1)
      text += formatted(", if {} or more programs share what they load in the L2 cache",
                        int(uses + 0.999));
    return text;
  }
  return formatted("{}{}", most, of);
}

void Explanation::conclude() {
  chooseScope(*this);
  if (!device)
    return;
  // Roles deal the registers out anew; what the entry has decides what fits.
  occupancy = occupancyOf(device->multiprocessor(), metadata.threads, registers > 0 ? registers : 0,
                          metadata.sharedBytes);
  double of = 1.0 / device->multiprocessors, hertz = device->gigahertz * 1e9;
  double dots = 0, scalars = 0;
  for (unsigned i = 0; i < kNumArithmetic; ++i) {
    double peak = device->tera[i] > 0 ? device->tera[i] : device->tera[unsigned(Arithmetic::Fp32)];
    (isDot(i) ? dots : scalars) += scope.operations[i] / (peak * 1e12 * of);
  }
  double memory = scope.sectors / (device->terabytesPerSecond * 1e12 * of);
  seconds.clear();
  if (dots > 0)
    seconds["tensor cores"] = dots;
  if (scalars > 0)
    seconds["arithmetic"] = scalars;
  if (scope.wavefronts > 0)
    seconds["shared memory"] = scope.wavefronts / hertz;
  // Programs of a product share their operands in the L2 cache.
  if (scope.sectors > 0)
    seconds[dots > 0 ? "L2 cache" : "memory"] =
        dots > 0 ? scope.sectors / (kL2BytesPerCycle * hertz) : memory;
  std::string most;
  double second = 0;
  boundSeconds = 0;
  for (const auto &[name, time] : seconds)
    if (time > boundSeconds)
      second = boundSeconds, boundSeconds = time, most = name;
    else
      second = std::max(second, time);
  if (dots > 0 && memory > 0)
    seconds["memory without reuse"] = memory;
  limit = most.empty() ? "nothing that can be seen: it hardly computes or moves anything"
                       : limitOf(*this, most, boundSeconds > 0 ? second / boundSeconds : 0);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// No more are of use, or shared memory does not hold as many, or holds fewer programs with them.
static const char *whyFewerStages(const Explanation &e, const Explanation::Ring &ring) {
  if (ring.hasStageForEach)
    return "the loop has no more turns";
  const Target *target = findTarget(e.metadata.target);
  double bytes = e.metadata.sharedBytes + (ring.wanted - ring.stages) * ring.bytes;
  return target && bytes <= double(target->maxSharedBytes) ? "with more, fewer programs fit"
                                                           : "more do not fit";
}

static void printSummary(const Explanation &e, raw_ostream &os) {
  const KernelMetadata &m = e.metadata;
  os << formatted("{} for {}: {} warps", m.entry, m.target, e.consumerWarps);
  int programs = m.programsPerBlock[0] * m.programsPerBlock[1] * m.programsPerBlock[2];
  if (e.producerWarps)
    os << formatted(" that compute{}, 1 that copies ({} threads)",
                    programs > 1   ? formatted(", in {} groups with a program each", programs)
                    : e.groups > 1 ? ", in two groups that take blocks by turns"
                                   : "",
                    m.threads);
  if (e.consumerWarps != programs * m.numWarps)
    os << formatted("; {} were asked for, and hold too few registers", m.numWarps);
  os << "\n";
  if (m.fewPrograms > 0)
    os << formatted(
        "  few programs   grids of at most {} for each multiprocessor run in a form whose "
        "loops load ahead (--programs few)\n",
        m.fewPrograms);
  for (const auto &[name, most] : e.wantedMultiples)
    os << formatted(
        "  multiples      launches with multiples of {} for `{}` take a form for that\n",
        most == 2 ? std::string("2") : formatted("2 to {}", most), name);
  for (int axis : e.fromEnd)
    os << formatted(
        "  order          from the end of the grid's axis {}: programs there run longest\n", axis);
  for (const auto &[wish, why] : e.refused)
    os << formatted("{:<17}{}\n", formatted("  not {}: ", wish), why);
  if (e.registers >= 0) {
    os << formatted("  registers      {} a thread", e.registers);
    if (e.roleRegisters.size() == 2)
      os << formatted(", then {} for those that compute, {} for the one that copies",
                      e.roleRegisters[0], e.roleRegisters[1]);
    if (e.spillBytes >= 0)
      os << (e.spillBytes ? formatted("; {} spilled", inBytes(e.spillBytes))
                          : std::string("; no spills"));
    os << '\n';
  } else if (!e.assemblerError.empty()) {
    os << formatted("  registers      not known: {}\n", e.assemblerError);
  } else {
    os << "  registers      not known: neither `ptxas` nor a driver for this target is here\n";
  }
  os << formatted("  shared memory  {}\n", inBytes(m.sharedBytes));
  for (const Explanation::Ring &ring : e.rings) {
    os << formatted("  pipeline       {} of {}", counted(uint64_t(ring.stages), "stage"),
                    inBytes(ring.bytes));
    if (ring.wanted > ring.stages)
      os << formatted(" ({} were asked for; {})", ring.wanted, whyFewerStages(e, ring));
    os << '\n';
  }
  if (e.occupancy) {
    int threads = e.occupancy->programs * m.threads;
    os << formatted("  occupancy      {} on a multiprocessor ({} of its threads), limited by {}\n",
                    counted(uint64_t(e.occupancy->programs), "program"),
                    percent(threads, e.device->multiprocessor().threads), e.occupancy->limit);
  }
}

/// The place as "line 12", with the source line below it.
static void printSource(unsigned line, const frontend::SourceFile &file, raw_ostream &os) {
  if (line && line <= file.numLines())
    os << formatted("{:6} | {}\n", line, file.line(line).trim());
  else
    os << "       |\n";
}

/// Why something is not `what`, if there is a reason.
static void printReason(StringRef what, StringRef reason, raw_ostream &os) {
  if (!reason.empty())
    os << formatted("         not {}: {}\n", what, reason);
}

static void printAccess(const Explanation::Access &a, raw_ostream &os) {
  os << formatted("         {} of {}: ", a.kind, a.block);
  if (a.path == "TMA") {
    os << (a.detail.empty() ? "TMA" : formatted("TMA, {}", a.detail));
  } else if (a.idealSectors == 0) {
    os << formatted("scalar, {} bytes{}", a.vectorBytes,
                    a.detail.empty() ? "" : formatted(", {}", a.detail));
  } else {
    os << formatted("{}{} bytes a thread at once, {} {}; {} {} a request",
                    a.path == "cp.async" ? "cp.async, " : "", a.vectorBytes, a.requests,
                    a.requests == 1 ? "time" : "times", counted(a.sectors),
                    a.sectors == 1 ? "sector" : "sectors");
    if (a.sectors > a.idealSectors)
      os << formatted(" where {} would do", counted(a.idealSectors));
  }
  os << '\n';
  printReason("TMA", a.reason, os);
  printReason("cp.async", a.copyReason, os);
  printReason("wider", a.widthReason, os);
}

static void printExchange(const Explanation::Exchange &e, raw_ostream &os) {
  os << formatted("         {} of {}: through {}", e.what, e.block, e.path);
  if (e.wavefronts > 0) {
    os << formatted(", {} wavefronts", counted(e.wavefronts));
    if (e.wavefronts > e.idealWavefronts)
      os << formatted(" where {} would do (bank conflicts)", counted(e.idealWavefronts));
    else
      os << ", no bank conflicts";
  }
  os << '\n';
}

static void printWork(const Explanation &e, raw_ostream &os) {
  std::string of =
      e.scopeLoop < 0 ? std::string("a program")
                      : formatted("an iteration of the loop at line {}", e.loops[e.scopeLoop].line);
  os << formatted("\n  {}: reads {}, writes {}", of, inBytes(e.scope.read),
                  inBytes(e.scope.written));
  if (double dots = operationsOf(e.scope, true))
    os << formatted(", {} operations in products", inOperations(dots));
  if (double others = operationsOf(e.scope, false))
    os << formatted(", {} others", inOperations(others));
  double all = operationsOf(e.scope, true) + operationsOf(e.scope, false);
  double bytes = e.scope.read + e.scope.written;
  if (bytes > 0 && all > 0)
    os << formatted(" ({:.1f} for each byte)", all / bytes);
  os << '\n';
  if (!e.device)
    return;
  os << formatted("  on a {}, with {} multiprocessors, at least\n", e.device->title,
                  e.device->multiprocessors);
  std::vector<std::pair<double, StringRef>> times;
  for (const auto &[name, time] : e.seconds)
    times.push_back({time, name});
  llvm::sort(times, [](auto &x, auto &y) { return x.first > y.first; });
  for (auto &[time, name] : times)
    os << formatted("    {:9.3f} us  {}\n", time * 1e6, name);
  os << formatted("  limited by {}\n", e.limit);
}

/// With why it has no instruction of warpgroups, where the target has such, or else of warps.
static void printDot(const Explanation::Dot &dot, bool hasWgmma, raw_ostream &os) {
  os << formatted("         product {}: {}, left operand in {}, right in {}\n", dot.shape,
                  dot.instruction, dot.left, dot.right);
  printReason(hasWgmma ? "wgmma" : "mma", dot.reason, os);
}

void Explanation::print(raw_ostream &os, const frontend::SourceFile &file) const {
  printSummary(*this, os);
  // By line: what a line does in one place.
  std::map<unsigned, std::vector<std::string>> byLine;
  auto add = [&](unsigned line, auto &item, auto printItem) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printItem(item, stream);
    if (!llvm::is_contained(byLine[line], text))
      byLine[line].push_back(std::move(text));
  };
  for (const Access &a : accesses)
    add(a.line, a, printAccess);
  bool hasWgmma = targetNamed(metadata.target).has(Feature::Wgmma);
  for (const Dot &d : dots)
    add(d.line, d, [&](const Dot &dot, raw_ostream &out) { printDot(dot, hasWgmma, out); });
  for (const Exchange &x : exchanges)
    add(x.line, x, printExchange);
  for (auto &[line, texts] : byLine) {
    os << '\n';
    printSource(line, file, os);
    for (const std::string &text : texts)
      os << text;
  }
  printWork(*this, os);
}
