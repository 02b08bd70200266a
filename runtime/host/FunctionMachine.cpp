//===- FunctionMachine.cpp ------------------------------------------------===//
#include "runtime/host/FunctionMachine.h"
#include "runtime/Timing.h"
#include "text/Format.h"
#include "llvm/ADT/bit.h"

using namespace tile;
using namespace tile::host;

static runtime::LaunchArg numberOf(const TensorBuffer &buffer, const PyValue &number) {
  if (buffer.type.isFloating())
    return runtime::LaunchArg::real(*number.toDouble());
  return runtime::LaunchArg::integer(uint64_t(number.toInt64().value_or(0)));
}

std::vector<runtime::LaunchArg> host::launchArguments(const TensorProgram &program,
                                                      const TensorLaunch &launch,
                                                      llvm::ArrayRef<PyValue> values,
                                                      llvm::ArrayRef<TensorPlace> places) {
  std::vector<runtime::LaunchArg> out;
  for (const TensorArgument &argument : launch.arguments) {
    const TensorBuffer &buffer = program.buffers[argument.buffer];
    if (argument.isReal)
      out.push_back(runtime::LaunchArg::real(llvm::bit_cast<float>(uint32_t(argument.size))));
    else if (!argument.isBuffer)
      out.push_back(runtime::LaunchArg::integer(uint64_t(argument.size)));
    else if (buffer.kind == TensorBuffer::Kind::Number)
      out.push_back(numberOf(buffer, values[buffer.index]));
    else
      out.push_back(runtime::LaunchArg::pointer(places[argument.buffer].address));
  }
  return out;
}

/// The first error that a device reported.
static llvm::Error toError(const frontend::DiagnosticEngine &diagnostics, llvm::StringRef what) {
  for (const frontend::Diagnostic &one : diagnostics.all())
    if (one.severity == frontend::Severity::Error)
      return llvm::createStringError(one.message);
  return llvm::createStringError(what);
}

llvm::Error FunctionMachine::prepare(const TensorLaunch &launch) {
  frontend::DiagnosticEngine diagnostics;
  std::unique_ptr<runtime::Kernel> made = device.prepare(requestOf(launch), diagnostics);
  if (!made)
    return toError(diagnostics, "it could not be prepared");
  std::lock_guard<std::mutex> lock(mutex);
  kernels.try_emplace(launch.key, std::move(made));
  return llvm::Error::success();
}

llvm::Error FunctionMachine::launch(const TensorProgram &program, const TensorLaunch &launch,
                                    llvm::ArrayRef<TensorPlace> places) {
  runtime::LaunchConfig config;
  config.grid = launch.grid;
  config.args = launchArguments(program, launch, values, places);
  frontend::DiagnosticEngine diagnostics;
  if (device.launch(*kernels.find(launch.key)->second, config, diagnostics))
    return llvm::Error::success();
  return toError(diagnostics, "a launch failed");
}

llvm::Expected<double> FunctionMachine::time(llvm::function_ref<llvm::Error()> body) {
  llvm::Error failed = llvm::Error::success();
  auto timing = device.time(
      [&] {
        failed = llvm::joinErrors(std::move(failed), body());
        return !failed;
      },
      runtime::kTuningTime);
  if (failed) {
    llvm::consumeError(timing.takeError());
    return std::move(failed);
  }
  if (!timing)
    return timing.takeError();
  return timing->median;
}
