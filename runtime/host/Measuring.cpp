//===- Measuring.cpp - how long host functions' work takes ----------------===//
//
// `tile.measure` and what Triton's tutorials measure with. Only launches and copies are timed,
// never the host function that makes them.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Methods.h"
#include "runtime/host/Benchmark.h"
#include "runtime/host/Session.h"
#include "text/Format.h"
#include <numeric>

using namespace tile;
using namespace tile::host;
using eval::ArgReader;
using eval::EvalError;
using eval::fail;
using llvm::StringRef;

static const std::shared_ptr<const eval::ClassObject> &measurementType() {
  static const std::shared_ptr<const eval::ClassObject> type = [] {
    auto object = std::make_shared<eval::ClassObject>();
    object->name = "measurement";
    object->isNamedTuple = true;
    object->fields = {"ms", "gbps", "tflops", "min_ms", "max_ms", "repeats"};
    return object;
  }();
  return type;
}

/// What `triton.testing.do_bench` returns, too: milliseconds.
std::optional<Measurement> Session::toMeasurement(const PyValue &value) {
  if (value.is(PyValue::Kind::Float)) {
    Measurement out;
    out.milliseconds = out.minimum = out.maximum = *value.toDouble();
    return out;
  }
  if (!value.is(PyValue::Kind::Tuple) || value.asTuple().type != measurementType())
    return std::nullopt;
  Measurement out;
  out.milliseconds = *value.elements()[0].toDouble();
  out.gigabytesPerSecond = value.elements()[1].toDouble();
  out.teraflops = value.elements()[2].toDouble();
  out.minimum = value.elements()[3].toDouble().value_or(0);
  out.maximum = value.elements()[4].toDouble().value_or(0);
  out.repeats = int(value.elements()[5].toInt64().value_or(0));
  return out;
}

/// Times the launches and copies of `fn()`.
llvm::Expected<runtime::Timing> Session::timeCalls(Evaluator &evaluator, const PyValue &fn,
                                                   runtime::TimingOptions options,
                                                   std::unique_ptr<EvalError> &error) {
  // The interpreter's time is of interest only to those who change it.
  if (context->device.isCpu())
    options = {0, 0, false, 1};
  auto body = [&]() -> Result {
    Result result = evaluator.call(fn, {});
    if (result && context->recording->empty())
      return fail("nothing is launched or copied here, so there is nothing to time: the host "
                  "computes expressions of whole tensors, but for those in a `@tile.function`",
                  "ValueError");
    return result;
  };
  return timeWork(*context, body, options, error);
}

/// The error of a measurement that failed.
static std::unique_ptr<EvalError> failed(llvm::Error problem, std::unique_ptr<EvalError> error) {
  std::string message = llvm::toString(std::move(problem));
  return error ? std::move(error) : fail(message, "RuntimeError");
}

Result Session::callMeasure(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("tile.measure", args, {"fn", "bytes", "flops"}, 1);
  if (!r)
    return r.error();
  std::unique_ptr<EvalError> error;
  llvm::Expected<runtime::Timing> timing = timeCalls(evaluator, r[0], {}, error);
  if (!timing)
    return failed(timing.takeError(), std::move(error));
  double seconds = timing->median * 1e-3;
  auto rate = [&](size_t i, double unit) {
    std::optional<double> amount = r.get(i).toDouble();
    return amount && seconds > 0 ? PyValue::number(*amount / seconds / unit) : PyValue();
  };
  return PyValue::namedTuple(measurementType(),
                             {PyValue::number(timing->median), rate(1, 1e9), rate(2, 1e12),
                              PyValue::number(timing->minimum), PyValue::number(timing->maximum),
                              PyValue::integer(timing->repeats)});
}

//===----------------------------------------------------------------------===//
// Triton's names
//===----------------------------------------------------------------------===//

/// Between the two samples nearest to it, as NumPy does.
static double quantile(const std::vector<double> &samples, double q) {
  double at = std::clamp(q, 0.0, 1.0) * double(samples.size() - 1);
  size_t below = size_t(at), above = std::min(below + 1, samples.size() - 1);
  return samples[below] + (samples[above] - samples[below]) * (at - double(below));
}

static Result summarizeAs(const runtime::Timing &timing, const std::string &mode) {
  if (mode == "min")
    return PyValue::number(timing.minimum);
  if (mode == "max")
    return PyValue::number(timing.maximum);
  if (mode == "median")
    return PyValue::number(timing.median);
  if (mode == "mean")
    return PyValue::number(std::accumulate(timing.samples.begin(), timing.samples.end(), 0.0) /
                           double(timing.samples.size()));
  if (mode != "all")
    return fail(
        formatted("`return_mode` is \"min\", \"max\", \"mean\", \"median\" or \"all\", got \"{}\"",
                  mode),
        "ValueError");
  std::vector<PyValue> all;
  for (double sample : timing.samples)
    all.push_back(PyValue::number(sample));
  return PyValue::list(std::move(all));
}

Result Session::callDoBench(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("triton.testing.do_bench", args,
              {"fn", "warmup", "rep", "grad_to_none", "quantiles", "return_mode"}, 1);
  if (!r)
    return r.error();
  runtime::TimingOptions options;
  options.warmupMilliseconds = r.get(1).toDouble().value_or(options.warmupMilliseconds);
  options.repeatMilliseconds = r.get(2).toDouble().value_or(options.repeatMilliseconds);
  std::unique_ptr<EvalError> error;
  llvm::Expected<runtime::Timing> timing = timeCalls(evaluator, r[0], options, error);
  if (!timing)
    return failed(timing.takeError(), std::move(error));
  if (timing->samples.empty())
    timing->samples = {timing->median};
  if (r.get(4).isNone())
    return summarizeAs(*timing, r.has(5) ? eval::str(r[5]) : "mean");
  std::vector<PyValue> values;
  for (const PyValue &q : r[4].isSequence() ? r[4].elements() : llvm::ArrayRef(r[4]))
    values.push_back(PyValue::number(quantile(timing->samples, q.toDouble().value_or(0.5))));
  return values.size() == 1 ? values.front() : PyValue::list(std::move(values));
}

std::optional<Result> Session::callTriton(Evaluator &evaluator, StringRef name,
                                          const CallArgs &args) {
  if (name == "triton.testing.do_bench" || name == "triton.testing.do_bench_cudagraph")
    return callDoBench(evaluator, args);
  if (name == "triton.testing.Benchmark")
    return makeBenchmark(args);
  if (name == "host.decorated") { // a function that is about to be called
    std::string decorator = eval::str(args.positional[0]);
    if (StringRef(decorator).starts_with("tile.")) // else it would be known
      return fail(formatted("`@{}` needs `import tile`", decorator), "NameError");
    return fail(formatted("the decorator `{}` is not known to host functions, so what it decorates "
                          "cannot be called",
                          decorator),
                "NameError");
  }
  StringRef member = name;
  if (member.consume_front("triton.jit.") && member == "warmup")
    return launcher.warmup(evaluator, args);
  if (member == "best_config")
    return launcher.bestConfig(args.positional[0].asFunction());
  return std::nullopt;
}
