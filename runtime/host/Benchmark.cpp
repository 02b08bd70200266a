//===- Benchmark.cpp - triton.testing.Benchmark and perf_report -----------===//
#include "runtime/host/Benchmark.h"
#include "frontend/eval/Methods.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::host;
using eval::EvalError;
using eval::fail;
using llvm::StringRef;
using Kind = PyValue::Kind;

static constexpr StringRef fieldNames[] = {"x_names",    "x_vals",    "line_arg", "line_vals",
                                           "line_names", "plot_name", "args",     "xlabel",
                                           "ylabel",     "x_log",     "y_log",    "styles"};
enum Field { XNames, XVals, LineArg, LineVals, LineNames, PlotName, Args, XLabel, YLabel };

static const std::shared_ptr<const eval::ClassObject> &benchmarkType() {
  static const std::shared_ptr<const eval::ClassObject> type = [] {
    auto object = std::make_shared<eval::ClassObject>();
    object->name = "triton.testing.Benchmark";
    object->isNamedTuple = true;
    for (StringRef name : fieldNames)
      object->fields.push_back(name.str());
    return object;
  }();
  return type;
}

Result host::makeBenchmark(const CallArgs &args) {
  eval::ArgReader r("triton.testing.Benchmark", args, fieldNames, LineNames + 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  for (size_t i = 0; i < std::size(fieldNames); ++i)
    elements.push_back(r.get(i));
  return PyValue::namedTuple(benchmarkType(), std::move(elements));
}

/// The values of a field that is a sequence of any kind, such as a range.
static std::unique_ptr<EvalError> readList(const PyValue &benchmark, Field field,
                                           std::vector<PyValue> &out) {
  const PyValue &value = benchmark.elements()[field];
  if (value.isNone())
    return nullptr;
  if (!value.isStr() && eval::iterate(value, out))
    return nullptr;
  return fail(
      formatted("`{}` of a `Benchmark` is a list, got {}", fieldNames[field], eval::repr(value)));
}

std::unique_ptr<EvalError> host::readBenchmark(const PyValue &value, BenchmarkPlan &plan) {
  if (!value.is(Kind::Tuple) || value.asTuple().type != benchmarkType())
    return fail(
        formatted("`triton.testing.perf_report` needs a `triton.testing.Benchmark(...)`, got {}",
                  eval::repr(value)));
  std::vector<PyValue> names, points, lineNames;
  auto lines = std::make_shared<Lines>();
  if (auto error = readList(value, XNames, names))
    return error;
  if (auto error = readList(value, XVals, points))
    return error;
  if (auto error = readList(value, LineVals, lines->values))
    return error;
  if (auto error = readList(value, LineNames, lineNames))
    return error;
  if (lineNames.size() != lines->values.size())
    return fail("a `Benchmark` has a name in `line_names` for each of `line_vals`", "ValueError");
  lines->argument = eval::str(value.elements()[LineArg]);
  lines->unit = value.elements()[YLabel].isStr() ? value.elements()[YLabel].asStr() : "";
  for (const PyValue &name : lineNames)
    lines->names.push_back(eval::str(name));
  for (const PyValue &point : points) {
    auto &parameters = plan.points.emplace_back();
    if (point.isSequence() && point.elements().size() != names.size())
      return fail(
          formatted("`x_vals` of a `Benchmark` are numbers, or one for each of `x_names`; got {}",
                    eval::repr(point)),
          "ValueError");
    for (auto [i, name] : llvm::enumerate(names))
      parameters.emplace_back(eval::str(name), point.isSequence() ? point.elements()[i] : point);
    if (value.elements()[Args].is(Kind::Dict))
      for (auto &[name, fixed] : value.elements()[Args].asDict().items)
        parameters.emplace_back(eval::str(name), fixed);
  }
  plan.lines = std::move(lines);
  return nullptr;
}
