//===- BenchReport.cpp - results of tilec bench, drawn --------------------===//
//
// One HTML file without scripts or anything to load: for each bench its plots as SVG (time,
// bandwidth, TFLOP/s against size, a line a provider), with what the chip can do at most where it
// is known, and all numbers below.
//
//===----------------------------------------------------------------------===//
#include "target/Devices.h"
#include "text/Format.h"
#include "tools/tilec/BenchResults.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <map>
#include <set>

using namespace tilec;
using llvm::StringRef;
using tile::formatted;

namespace {
struct Spot {
  double x, y;
  std::string title;
};
struct Line {
  std::string name;
  std::vector<Spot> spots;
  bool isDashed = false; ///< a limit, or the copy that others are held against
};
struct Plot {
  std::string title, xName, yName;
  std::vector<Line> lines;
};

/// Where numbers are on paper.
struct Axis {
  double low, high, from, to;
  bool isLog;
  double place(double value) const {
    double share = isLog ? (std::log2(value) - std::log2(low)) / (std::log2(high) - std::log2(low))
                         : (value - low) / (high - low);
    return from + share * (to - from);
  }
};
} // namespace

static std::string escape(StringRef text) {
  std::string out;
  for (char c : text)
    out += c == '<'   ? "&lt;"
           : c == '>' ? "&gt;"
           : c == '&' ? "&amp;"
           : c == '"' ? "&quot;"
                      : std::string(1, c);
  return out;
}

/// "4096", "16M": sizes are powers of two more often than not.
static std::string shortNumber(double value) {
  constexpr std::pair<double, const char *> units[] = {{0x1p30, "G"}, {0x1p20, "M"}, {0x1p10, "K"}};
  for (auto [unit, name] : units)
    if (value >= 4 * unit && std::fmod(value, unit) == 0)
      return formatted("{:.4g}{}", value / unit, name);
  return formatted("{:.4g}", value);
}

//===----------------------------------------------------------------------===//
// What is drawn
//===----------------------------------------------------------------------===//

static std::optional<double> numberOf(StringRef text) {
  double value = 0;
  return text.getAsDouble(value) || !std::isfinite(value) ? std::nullopt : std::optional(value);
}

static StringRef valueOf(const BenchPoint &point, StringRef name) {
  for (auto &[other, value] : point.values)
    if (other == name)
      return value;
  return "";
}

/// The parameter that is the size: the one of numbers with the most of them; empty if none varies.
static std::string findSize(const BenchTable &table) {
  llvm::MapVector<StringRef, std::set<std::string>> seen;
  std::set<std::string> noNumbers;
  for (const BenchPoint &point : table.points)
    for (auto &[name, value] : point.values) {
      seen[name].insert(value);
      if (!numberOf(value))
        noNumbers.insert(name);
    }
  StringRef best;
  size_t most = 1;
  for (auto &[name, values] : seen)
    if (values.size() > most && !noNumbers.count(name.str())) {
      best = name;
      most = values.size();
    }
  return best.str();
}

/// The other parameters: points that agree in them share a plot.
static std::string groupOf(const BenchPoint &point, StringRef size) {
  std::string text;
  for (auto &[name, value] : point.values)
    if (name != size)
      text += formatted("{}{}={}", text.empty() ? "" : ", ", name, value);
  return text;
}

static const tile::DeviceModel *modelOf(const BenchResults &results) {
  for (const tile::DeviceModel &model : tile::allDevices())
    if (StringRef(results.description)
            .contains_insensitive(StringRef(model.title).split(' ').first))
      return &model;
  return nullptr;
}

/// What the memory allows, and with it the arithmetic where both are known.
static std::optional<Line> roofOf(const Plot &plot, llvm::ArrayRef<const BenchPoint *> points,
                                  StringRef size, const tile::DeviceModel &model) {
  double memory = model.terabytesPerSecond * 1e3; // GB/s
  Line roof{formatted("{}: peak", model.title), {}, true};
  for (const BenchPoint *point : points) {
    double x = numberOf(valueOf(*point, size)).value_or(0);
    const auto &m = point->measured;
    if (plot.yName == "GB/s") {
      roof.spots.push_back({x, memory, "data sheet"});
    } else if (plot.yName == "TFLOP/s" && m.teraflops) {
      double peak = model.peak(tile::Arithmetic::Fp16) / 1e12;
      if (m.gigabytesPerSecond && *m.gigabytesPerSecond > 0)
        peak = std::min(peak, *m.teraflops / *m.gigabytesPerSecond * memory);
      roof.spots.push_back({x, peak, "the lesser of memory and fp16 products, data sheet"});
    }
  }
  if (roof.spots.empty())
    return std::nullopt;
  llvm::sort(roof.spots, [](const Spot &a, const Spot &b) { return a.x < b.x; });
  return roof;
}

static std::vector<Plot> plotsOf(const BenchTable &table, const tile::DeviceModel *model) {
  std::string size = findSize(table);
  std::map<std::string, std::vector<const BenchPoint *>> groups;
  for (const BenchPoint &point : table.points)
    groups[groupOf(point, size)].push_back(&point);
  std::vector<Plot> plots;
  if (size.empty())
    return plots;
  for (auto &[group, points] : groups)
    for (const Metric &metric : metricsOf(table)) {
      Plot plot{
          table.name + (group.empty() ? "" : formatted(" ({})", group)), size, metric.unit, {}};
      for (const BenchPoint *point : points) {
        std::optional<double> y = metric.get(point->measured);
        if (!y)
          continue;
        const std::string &name = point->measured.label;
        auto line = llvm::find_if(plot.lines, [&](const Line &l) { return l.name == name; });
        if (line == plot.lines.end())
          line = plot.lines.insert(line, {name, {}, name == "copy"});
        std::string title = formatted("{}: {:.4g} {}", point->parameters, *y, metric.unit);
        line->spots.push_back({*numberOf(valueOf(*point, size)), *y, title});
      }
      for (Line &line : plot.lines)
        llvm::sort(line.spots, [](const Spot &a, const Spot &b) { return a.x < b.x; });
      if (model && !plot.lines.empty())
        if (std::optional<Line> roof = roofOf(plot, points, size, *model))
          plot.lines.push_back(std::move(*roof));
      if (!plot.lines.empty())
        plots.push_back(std::move(plot));
    }
  return plots;
}

//===----------------------------------------------------------------------===//
// SVG
//===----------------------------------------------------------------------===//

static constexpr const char *colors[] = {"#0b6e4f", "#c8553d", "#2b59c3", "#8e44ad",
                                         "#b8860b", "#444444", "#17a2b8", "#d63384"};

static Axis axisOf(const Plot &plot, bool isX, double from, double to) {
  double low = HUGE_VAL, high = -HUGE_VAL;
  for (const Line &line : plot.lines)
    for (const Spot &spot : line.spots) {
      low = std::min(low, isX ? spot.x : spot.y);
      high = std::max(high, isX ? spot.x : spot.y);
    }
  bool spreads = low > 0 && high / low >= (isX ? 8 : 30);
  bool isLog = spreads && (isX || plot.yName == "ms");
  if (!isX && !isLog)
    low = 0;
  if (!isX)
    high *= isLog ? 1.3 : 1.08;
  if (!(high > low))
    high = low + 1;
  return {low, high, from, to, isLog};
}

/// Numbers to write at an axis.
static std::vector<double> ticksOf(const Axis &axis) {
  std::vector<double> ticks;
  if (axis.isLog) {
    double span = std::log2(axis.high) - std::log2(axis.low), step = std::ceil(span / 8);
    for (double e = std::ceil(std::log2(axis.low)); e <= std::log2(axis.high) + 1e-9; e += step)
      ticks.push_back(std::exp2(e));
    return ticks;
  }
  double raw = (axis.high - axis.low) / 6, unit = std::pow(10, std::floor(std::log10(raw)));
  double step = raw / unit > 5   ? 10 * unit
                : raw / unit > 2 ? 5 * unit
                : raw / unit > 1 ? 2 * unit
                                 : unit;
  for (double t = std::ceil(axis.low / step) * step; t <= axis.high * (1 + 1e-12); t += step)
    ticks.push_back(t);
  return ticks;
}

static void drawAxes(llvm::raw_ostream &os, const Plot &plot, const Axis &x, const Axis &y) {
  for (double tick : ticksOf(x)) {
    os << "<line class=\"grid\" x1=\"" << formatted("{:.1f}", x.place(tick)) << "\" y1=\"" << y.from
       << "\" x2=\"" << formatted("{:.1f}", x.place(tick)) << "\" y2=\"" << y.to << "\"/>";
    os << "<text x=\"" << formatted("{:.1f}", x.place(tick)) << "\" y=\"" << y.from + 16
       << "\" text-anchor=\"middle\">" << shortNumber(tick) << "</text>\n";
  }
  for (double tick : ticksOf(y)) {
    os << "<line class=\"grid\" x1=\"" << x.from << "\" y1=\"" << formatted("{:.1f}", y.place(tick))
       << "\" x2=\"" << x.to << "\" y2=\"" << formatted("{:.1f}", y.place(tick)) << "\"/>";
    os << "<text x=\"" << x.from - 6 << "\" y=\"" << formatted("{:.1f}", y.place(tick) + 4)
       << "\" text-anchor=\"end\">" << formatted("{:.4g}", tick) << "</text>\n";
  }
  os << "<text x=\"" << (x.from + x.to) / 2 << "\" y=\"" << y.from + 34
     << "\" text-anchor=\"middle\">" << escape(plot.xName) << "</text><text x=\"" << x.from
     << "\" y=\"" << y.to - 8 << "\">" << escape(plot.yName) << "</text>\n";
}

static void draw(llvm::raw_ostream &os, const Plot &plot) {
  Axis x = axisOf(plot, true, 60, 520), y = axisOf(plot, false, 300, 30);
  os << "<svg viewBox=\"0 0 720 350\" width=\"720\" height=\"350\" role=\"img\" aria-label=\""
     << escape(formatted("{}, {}", plot.title, plot.yName)) << "\">\n";
  drawAxes(os, plot, x, y);
  for (auto [i, line] : llvm::enumerate(plot.lines)) {
    const char *color = colors[i % std::size(colors)];
    os << "<polyline fill=\"none\" stroke=\"" << color << "\" stroke-width=\"2\""
       << (line.isDashed ? " stroke-dasharray=\"6 4\"" : "") << " points=\"";
    for (const Spot &spot : line.spots)
      os << formatted("{:.1f},", x.place(spot.x)) << formatted("{:.1f} ", y.place(spot.y));
    os << "\"/>\n";
    for (const Spot &spot : line.spots)
      os << "<circle cx=\"" << formatted("{:.1f}", x.place(spot.x)) << "\" cy=\""
         << formatted("{:.1f}", y.place(spot.y)) << "\" r=\"3\" fill=\"" << color << "\"><title>"
         << escape(spot.title) << "</title></circle>";
    double row = 40 + 18 * double(i);
    os << "\n<line x1=\"535\" y1=\"" << row << "\" x2=\"557\" y2=\"" << row << "\" stroke=\""
       << color << "\" stroke-width=\"2\"" << (line.isDashed ? " stroke-dasharray=\"6 4\"" : "")
       << "/><text x=\"563\" y=\"" << row + 4 << "\">"
       << escape(line.name.empty() ? plot.title : line.name) << "</text>\n";
  }
  os << "</svg>\n";
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

static void writeNumbers(llvm::raw_ostream &os, const BenchTable &table) {
  std::vector<Metric> metrics = metricsOf(table);
  os << "<table><tr><th>case</th><th>provider</th>";
  for (const Metric &metric : metrics)
    os << "<th>" << escape(metric.unit) << "</th>";
  os << "</tr>\n";
  for (const BenchPoint &point : table.points) {
    os << "<tr><td>" << escape(point.parameters) << "</td><td>" << escape(point.measured.label)
       << "</td>";
    for (const Metric &metric : metrics) {
      std::optional<double> value = metric.get(point.measured);
      os << "<td class=\"n\">" << (value ? formatted("{:.4g}", *value) : "") << "</td>";
    }
    os << "</tr>\n";
  }
  os << "</table>\n";
}

std::string BenchResults::toHtml() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  const tile::DeviceModel *model = modelOf(*this);
  os << "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>tilec "
        "bench</title>\n"
        "<style>body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:60em;color:#222}"
        "svg text{font:12px system-ui,sans-serif;fill:#222}.grid{stroke:#ddd}"
        "table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;border-bottom:1px "
        "solid "
        "#ddd;text-align:left}td.n{text-align:right;font-variant-numeric:tabular-nums}</style>"
        "</head><body>\n<h1>"
     << escape(description) << "</h1>\n";
  for (const BenchTable &table : tables) {
    os << "<h2>" << escape(table.name) << "</h2>\n<p>" << escape(table.file) << "</p>\n";
    for (const Plot &plot : plotsOf(table, model)) {
      os << "<h3>" << escape(formatted("{}: {}", plot.title, plot.yName)) << "</h3>\n";
      draw(os, plot);
    }
    writeNumbers(os, table);
  }
  os << "</body></html>\n";
  return text;
}
