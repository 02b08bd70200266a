//===- BenchCompare.cpp - two results of tilec bench ----------------------===//
#include "text/Format.h"
#include "tools/tilec/BenchResults.h"
#include "tools/tilec/Report.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>

using namespace tilec;
using llvm::StringRef;
using tile::formatted;
using tile::host::Measurement;

static const BenchPoint *findPoint(const BenchResults &results, StringRef bench,
                                   const BenchPoint &like) {
  for (const BenchTable &table : results.tables)
    if (table.name == bench)
      for (const BenchPoint &point : table.points)
        if (point.parameters == like.parameters && point.measured.label == like.measured.label)
          return &point;
  return nullptr;
}

namespace {
struct Change {
  double before = 0, after = 0;
  double noise = 0; ///< by how much the two may differ by chance
  double speedup = 1;
  bool isFaster() const { return speedup > 1 && std::fabs(after - before) > noise; }
  bool isSlower() const { return speedup < 1 && std::fabs(after - before) > noise; }
};
} // namespace

/// What lies above the median are interruptions, what lies below it is the work itself: how far
/// that spreads says what a median is worth.
static Change changeOf(const Measurement &before, const Measurement &after, const Metric &metric) {
  constexpr double least = 0.01;
  Change change{*metric.get(before), *metric.get(after)};
  if (metric.unit == "ms" && before.minimum > 0 && after.minimum > 0)
    change.noise = (before.milliseconds - before.minimum) + (after.milliseconds - after.minimum);
  else if (before.low && before.high && after.low && after.high)
    change.noise =
        (std::fabs(*before.high - *before.low) + std::fabs(*after.high - *after.low)) / 2;
  change.noise = std::max(change.noise, least * std::fabs(change.before));
  if (change.before > 0 && change.after > 0)
    change.speedup =
        metric.lessIsBetter ? change.before / change.after : change.after / change.before;
  return change;
}

/// Whether only one number is known of it, so that nothing is of how it differs by chance.
static bool isMeasuredOnce(const Measurement &m) {
  bool hasBounds = m.low && m.high && *m.low != *m.high;
  return m.repeats == 1 || (m.repeats == 0 && !hasBounds);
}

static std::string verdictOf(const Change &change) {
  if (change.isFaster())
    return formatted("faster, {:.2f}x", change.speedup);
  if (change.isSlower())
    return formatted("slower, {:.2f}x", change.speedup);
  return "same, within the noise";
}

bool tilec::compareBenches(const BenchResults &before, const BenchResults &after,
                           llvm::raw_ostream &os) {
  if (before.description != after.description)
    os << formatted("note: measured on different devices: {}; {}\n", before.description,
                    after.description);
  TextTable table({"bench", "before", "after", "noise", "verdict"});
  unsigned compared = 0, faster = 0, slower = 0, missing = 0, once = 0;
  double logarithms = 0;
  for (const BenchTable &now : after.tables) {
    std::vector<Metric> metrics = metricsOf(now);
    for (const BenchPoint &point : now.points) {
      std::string title =
          formatted("{}({}){}", now.name, point.parameters,
                    point.measured.label.empty() ? "" : formatted(" {}", point.measured.label));
      const BenchPoint *old = findPoint(before, now.name, point);
      auto metric = llvm::find_if(metrics, [&](const Metric &m) {
        return old && m.get(old->measured) && m.get(point.measured);
      });
      if (metric == metrics.end()) {
        ++missing;
        table.add({title, "", "", "", "only in the second"});
        continue;
      }
      Change change = changeOf(old->measured, point.measured, *metric);
      ++compared;
      faster += change.isFaster();
      slower += change.isSlower();
      bool isOnce = isMeasuredOnce(old->measured) || isMeasuredOnce(point.measured);
      once += isOnce;
      logarithms += std::log(change.speedup);
      table.add({title, formatted("{:.4g} {}", change.before, metric->unit),
                 formatted("{:.4g} {}", change.after, metric->unit),
                 isOnce
                     ? "not known"
                     : formatted("{:.1f}%", 100 * change.noise / std::max(change.before, 1e-300)),
                 verdictOf(change)});
    }
  }
  for (const BenchTable &then : before.tables)
    for (const BenchPoint &point : then.points)
      if (!findPoint(after, then.name, point)) {
        ++missing;
        table.add({formatted("{}({}) {}", then.name, point.parameters, point.measured.label), "",
                   "", "", "only in the first"});
      }
  if (!table.empty())
    table.print(os, nullptr);
  os << formatted("{} compared: {} faster, {} slower, {} within the noise", compared, faster,
                  slower, compared - faster - slower);
  if (once)
    os << formatted(" ({} measured once, whose noise is not known)", once);
  if (missing)
    os << formatted(", {} in one of them only", missing);
  if (compared)
    os << formatted("; {:.3f}x on the whole (geometric mean)", std::exp(logarithms / compared));
  os << '\n';
  return slower == 0;
}
