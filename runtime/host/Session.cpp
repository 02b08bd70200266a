//===- Session.cpp - what `tile.*` means while host functions run ---------===//
#include "runtime/host/Session.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Operators.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::host;
using eval::ArgReader;
using eval::EvalError;
using eval::fail;
using llvm::StringRef;

/// Where something is that people look for under a name of other modules.
static StringRef placeOf(StringRef name) {
  return llvm::StringSwitch<StringRef>(name)
      .Cases({"assert_close", "assert_allclose", "testing"},
             "`tile.check(out, ref, atol=..., rtol=...)` compares")
      .Cases({"do_bench", "perf_report", "Benchmark"},
             "it is in `triton.testing`; `tile.measure(fn)` also gives bandwidth and TFLOP/s")
      .Cases({"cdiv", "next_power_of_2"}, "it is in `triton`")
      .Default("");
}

namespace tile::host {
/// `kernel[grid]`: what is left is to call it.
class LaunchSite : public eval::Extension {
public:
  LaunchSite(Session &session, PyValue kernel, PyValue grid)
      : Extension(&id), session(session), kernel(std::move(kernel)), grid(std::move(grid)) {}
  std::string typeName() const override { return "kernel launch"; }
  std::string repr() const override { return kernel.asFunction().name() + "[...]"; }
  Result call(Evaluator &evaluator, const CallArgs &args) override {
    Result result = session.launcher.launch(evaluator, kernel.asFunction(), grid, args);
    if (auto error = session.takeDeviceError(); error && result)
      return error;
    return result;
  }

private:
  static char id;
  Session &session;
  PyValue kernel, grid;
};
char LaunchSite::id = 0;
} // namespace tile::host

Session::Session(runtime::Device &device, std::vector<std::string> includePaths,
                 std::string cacheFolder)
    : context(std::make_shared<HostContext>(device)),
      launcher(context, includePaths, std::move(cacheFolder)),
      functions(context, std::move(includePaths), launcher.configurations()) {}

std::unique_ptr<EvalError> Session::takeDeviceError() {
  if (context->deviceError.empty())
    return nullptr;
  std::string message = std::move(context->deviceError);
  context->deviceError.clear();
  return fail(message, "RuntimeError");
}

void Session::startCase() {
  context->randomTensors = 0;
  context->deviceError.clear();
  worst = Comparison();
  checks = 0;
}

std::unique_ptr<EvalError> Session::finish() {
  context->note(context->device.synchronize());
  return takeDeviceError();
}

void Session::print(StringRef text) {
  if (output)
    *output << text;
}

std::optional<Result> Session::subscriptKernel(Evaluator &, const PyValue &kernel,
                                               const PyValue &grid) {
  return PyValue::extension(std::make_shared<LaunchSite>(*this, kernel, grid));
}

/// Of functions of whole tensors; kernels are launched, not called.
std::optional<Result> Session::callKernel(Evaluator &evaluator, const PyValue &function,
                                          const CallArgs &args) {
  if (function.asFunction().isJit)
    return std::nullopt;
  Result result = functions.call(evaluator, function, args);
  if (auto error = takeDeviceError(); error && result)
    return Result(std::move(error));
  return result;
}

std::optional<Result> Session::callSymbol(Evaluator &evaluator, StringRef name,
                                          const CallArgs &args) {
  StringRef function = name;
  if (!function.consume_front("tile."))
    return callTriton(evaluator, name, args);
  Result result = PyValue();
  if (function == "check") {
    result = callCheck(args);
  } else if (function == "measure") {
    result = callMeasure(evaluator, args);
  } else if (function == "copy") {
    result = callCopy(args);
  } else if (function == "device") {
    result = PyValue::string(context->device.isCpu() ? "cpu" : "cuda");
  } else if (function == "num_sms") {
    result = PyValue::integer(context->device.multiprocessorCount());
  } else if (findFunction(function)) {
    result = callWritten(function, context, args);
  } else if (function == "grad" || function == "value_and_grad") {
    return eval::unsupported(formatted(
        "`tile.{}` is a function of tensor functions while they are compiled: `eager` and host "
        "functions have none; compare with differences of the function, in float64",
        function));
  } else {
    std::vector<StringRef> candidates = functionNames(/*methodsOnly=*/false);
    llvm::append_range(candidates,
                       llvm::ArrayRef<StringRef>{"check", "measure", "copy", "device", "num_sms"});
    std::string message = formatted("module `tile` has no function `{}`", function);
    if (StringRef place = placeOf(function); !place.empty())
      message += formatted("; {}", place);
    else if (StringRef near = frontend::nearestName(function, candidates); !near.empty())
      message += formatted("; did you mean `{}`?", near);
    return fail(message, "AttributeError");
  }
  if (auto error = takeDeviceError(); error && result)
    return error;
  return result;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

std::unique_ptr<EvalError> Session::check(const PyValue &got, const PyValue &expected,
                                          std::optional<double> relative,
                                          std::optional<double> absolute, StringRef message) {
  Comparison comparison;
  if (auto error = compareTensors(got, expected, relative, absolute, comparison))
    return error;
  if (auto error = takeDeviceError())
    return error;
  ++checks;
  if (context->ignoresReferences)
    return nullptr;
  worst.largestError = std::max(worst.largestError, comparison.largestError);
  worst.toleranceUsed = std::max(worst.toleranceUsed, comparison.toleranceUsed);
  if (comparison.difference.empty())
    return nullptr;
  std::string text = comparison.difference;
  if (!message.empty())
    text = formatted("{}: {}", message, text);
  return fail(text, "AssertionError");
}

Result Session::callCheck(const CallArgs &args) {
  ArgReader r("tile.check", args, {"out", "ref", "atol", "rtol", "msg"}, 2);
  if (!r)
    return r.error();
  std::string message = r.get(4).isNone() ? "" : eval::str(r[4]);
  if (auto error = check(r[0], r[1], r.get(3).toDouble(), r.get(2).toDouble(), message))
    return error;
  return PyValue();
}

//===----------------------------------------------------------------------===//
// Copying
//===----------------------------------------------------------------------===//

Result Session::callCopy(const CallArgs &args) {
  ArgReader r("tile.copy", args, {"to", "from"}, 2);
  if (!r)
    return r.error();
  auto *to = r[0].dynExtension<Tensor>(), *from = r[1].dynExtension<Tensor>();
  if (!to || !from)
    return fail("`tile.copy` needs two tensors");
  uint64_t bytes = to->size() * to->type().itemSize();
  if (bytes != uint64_t(from->size()) * from->type().itemSize() || !to->isContiguous() ||
      !from->isContiguous())
    return fail("`tile.copy` needs two contiguous tensors of the same size", "ValueError");
  DeviceWork work;
  work.to = to->devicePointer();
  work.from = from->devicePointer();
  work.bytes = bytes;
  work.storages = {to->sharedStorage(), from->sharedStorage()};
  if (bytes)
    context->note(context->device.copy(work.to, work.from, bytes));
  to->storage().deviceWrote();
  if (context->recording)
    context->recording->push_back(std::move(work));
  return PyValue();
}
