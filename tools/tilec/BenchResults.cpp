//===- BenchResults.cpp - what tilec bench measured -----------------------===//
#include "tools/tilec/BenchResults.h"
#include "compiler/ParseJson.h"
#include "frontend/Files.h"
#include "text/FormatLlvm.h"
#include "tools/tilec/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <cmath>

using namespace tilec;
using llvm::StringRef;
using tile::formatted;
using tile::host::CaseResult;
using tile::host::FunctionResult;
using tile::host::Measurement;
namespace json = llvm::json;

void BenchResults::add(StringRef file, llvm::ArrayRef<FunctionResult> results) {
  for (const FunctionResult &result : results) {
    BenchTable &table = tables.emplace_back();
    table.file = file.str();
    table.name = result.name;
    for (const CaseResult &c : result.cases)
      for (const Measurement &m : c.measurements) {
        BenchPoint &point = table.points.emplace_back();
        point.parameters = c.parameters;
        for (auto &[name, value] : c.values)
          point.values.emplace_back(name, tile::eval::str(value));
        point.measured = m;
      }
  }
}

//===----------------------------------------------------------------------===//
// Metrics
//===----------------------------------------------------------------------===//

std::vector<Metric> tilec::metricsOf(const BenchTable &table) {
  std::vector<Metric> found,
      all = {
          {"ms", true,
           [](const Measurement &m) {
             return m.milliseconds > 0 ? std::optional(m.milliseconds) : std::nullopt;
           }},
          {"GB/s", false, [](const Measurement &m) { return m.gigabytesPerSecond; }},
          {"TFLOP/s", false, [](const Measurement &m) { return m.teraflops; }},
          {"", false, [](const Measurement &m) { return m.value; }},
      };
  for (Metric &metric : all)
    for (const BenchPoint &point : table.points)
      if (metric.get(point.measured)) {
        if (metric.unit.empty()) {
          metric.unit = point.measured.unit;
          metric.lessIsBetter = StringRef(metric.unit).contains("ms") || metric.unit == "s";
        }
        found.push_back(metric);
        break;
      }
  return found;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

/// Numbers as numbers, everything else as text.
static json::Value valueOf(StringRef text) {
  int64_t whole = 0;
  double real = 0;
  if (!text.getAsInteger(10, whole))
    return whole;
  if (!text.getAsDouble(real) && std::isfinite(real))
    return real;
  return text;
}

static json::Object toJson(const BenchPoint &point) {
  const Measurement &m = point.measured;
  json::Object values, out{{"case", point.parameters}, {"provider", m.label}};
  for (auto &[name, value] : point.values)
    values[name] = valueOf(value);
  out["parameters"] = std::move(values);
  auto set = [&](StringRef name, std::optional<double> number) {
    if (number && std::isfinite(*number))
      out[name] = *number;
  };
  if (m.milliseconds > 0) {
    set("ms", m.milliseconds);
    set("min_ms", m.minimum);
    set("max_ms", m.maximum);
    out["repeats"] = m.repeats;
  }
  set("gbps", m.gigabytesPerSecond);
  set("tflops", m.teraflops);
  set("value", m.value);
  set("low", m.low);
  set("high", m.high);
  if (m.value)
    out["unit"] = m.unit;
  return out;
}

std::string BenchResults::toJson() const {
  json::Array benches;
  for (const BenchTable &table : tables) {
    json::Array points;
    for (const BenchPoint &point : table.points)
      points.push_back(::toJson(point));
    benches.push_back(
        json::Object{{"file", table.file}, {"name", table.name}, {"results", std::move(points)}});
  }
  json::Object out{{"tilec", TILE_VERSION},
                   {"device", device},
                   {"description", description},
                   {"target", target},
                   {"benches", std::move(benches)}};
  return llvm::formatv("{0:2}\n", json::Value(std::move(out)));
}

static std::string quoted(StringRef text) {
  if (text.find_first_of(",\"\n") == StringRef::npos)
    return text.str();
  std::string out = "\"";
  for (char c : text)
    out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

std::string BenchResults::toCsv() const {
  std::vector<std::string> names; // of parameters, over all benches
  for (const BenchTable &table : tables)
    for (const BenchPoint &point : table.points)
      for (auto &[name, value] : point.values)
        if (!llvm::is_contained(names, name))
          names.push_back(name);
  std::string out = "file,bench";
  for (const std::string &name : names)
    out += "," + quoted(name);
  out += ",provider,ms,min_ms,max_ms,repeats,gbps,tflops,value,unit\n";
  auto number = [](std::optional<double> value) {
    return value ? tile::eval::reprFloat(*value) : std::string();
  };
  for (const BenchTable &table : tables)
    for (const BenchPoint &point : table.points) {
      const Measurement &m = point.measured;
      out += quoted(table.file) + "," + quoted(table.name);
      for (const std::string &name : names) {
        auto value = llvm::find_if(point.values, [&](auto &v) { return v.first == name; });
        out += formatted(",{}", value == point.values.end() ? "" : quoted(value->second));
      }
      out += "," + quoted(m.label);
      bool isTimed = m.milliseconds > 0;
      out += isTimed ? formatted(",{},{},{},{}", number(m.milliseconds), number(m.minimum),
                                 number(m.maximum), m.repeats)
                     : ",,,,";
      out += formatted(",{},{},{},{}\n", number(m.gigabytesPerSecond), number(m.teraflops),
                       number(m.value), m.value ? quoted(m.unit) : "");
    }
  return out;
}

std::optional<std::string> BenchResults::inFormatOf(StringRef path) const {
  if (path.ends_with(".json"))
    return toJson();
  if (path.ends_with(".csv"))
    return toCsv();
  if (path.ends_with(".html") || path.ends_with(".htm"))
    return toHtml();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static BenchPoint readPoint(const json::Object &object) {
  BenchPoint point;
  point.parameters = object.getString("case").value_or("").str();
  Measurement &m = point.measured;
  m.label = object.getString("provider").value_or("").str();
  m.milliseconds = object.getNumber("ms").value_or(0);
  m.minimum = object.getNumber("min_ms").value_or(m.milliseconds);
  m.maximum = object.getNumber("max_ms").value_or(m.milliseconds);
  m.repeats = int(object.getInteger("repeats").value_or(0));
  m.gigabytesPerSecond = object.getNumber("gbps");
  m.teraflops = object.getNumber("tflops");
  m.value = object.getNumber("value");
  m.low = object.getNumber("low");
  m.high = object.getNumber("high");
  m.unit = object.getString("unit").value_or("").str();
  if (const json::Object *values = object.getObject("parameters"))
    for (auto &[name, value] : *values) {
      std::string text = formatted("{}", value);
      point.values.emplace_back(name.str(),
                                value.getAsString() ? value.getAsString()->str() : text);
    }
  return point;
}

bool BenchResults::read(const std::string &path, BenchResults &out, std::string &error) {
  constexpr uint64_t most = uint64_t(64) << 20;
  std::optional<std::string> text = tile::frontend::readFile(path, most, error);
  if (!text)
    return false;
  auto parsed = tile::parseJson(*text);
  const json::Object *root = parsed ? parsed->getAsObject() : nullptr;
  const json::Array *benches = root ? root->getArray("benches") : nullptr;
  if (!benches) {
    if (!parsed)
      llvm::consumeError(parsed.takeError());
    error = formatted("`{}` is no result of `tilec bench`: save one with `-o NAME.json`", path);
    return false;
  }
  out.device = root->getString("device").value_or("").str();
  out.description = root->getString("description").value_or("").str();
  out.target = root->getString("target").value_or("").str();
  for (const json::Value &bench : *benches) {
    const json::Object *object = bench.getAsObject();
    const json::Array *results = object ? object->getArray("results") : nullptr;
    if (!results)
      continue;
    BenchTable &table = out.tables.emplace_back();
    table.file = object->getString("file").value_or("").str();
    table.name = object->getString("name").value_or("").str();
    for (const json::Value &point : *results)
      if (const json::Object *one = point.getAsObject())
        table.points.push_back(readPoint(*one));
  }
  return true;
}
