//===- ProgramTuning.cpp - the fastest cuts of a program's kernels ----------===//
#include "runtime/capi/ProgramTuning.h"
#include "runtime/Kernel.h"
#include "runtime/Timing.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::capi;

static void note(Observer &observer, const TuneProblem &problem, const TuneResult &result) {
  Event event;
  event.kind = Event::Kind::Tune;
  event.kernel = problem.kernel;
  event.variant = problem.key;
  event.message =
      formatted("{} ({})", problem.configs[result.best], FunctionTuner::reasonOf(result));
  event.start = Observer::now();
  observer.note(event);
}

FunctionTuner &ProgramTuning::on(const Context &where, CompileService &service) {
  std::unique_ptr<OnContext> &made = contexts[where.id()];
  if (!made) {
    const DeviceInfo &device = where.device();
    std::string name = formatted("{}, {} SMs", device.name, device.multiprocessors);
    made = std::make_unique<OnContext>(
        formatted("{}, CUDA {} driver", name, cuda::formatVersion(where.api().version())),
        service.cache().path());
    made->tuner.setRecordFile(recordFile, name, device.target());
    if (isTimeless)
      made->tuner.setTimeless();
    made->functions.onChoice = [&service](const TuneProblem &problem, const TuneResult &result) {
      note(service.observer(), problem, result);
    };
  }
  return made->functions;
}

llvm::Error StreamMachine::prepare(const TensorLaunch &launch) {
  auto compiled = service.compile(*launch.source, launch.options);
  if (!compiled)
    return compiled.takeError();
  auto loaded = service.share(std::move(*compiled))->loadOn(where);
  if (!loaded)
    return loaded.takeError();
  std::lock_guard<std::mutex> lock(mutex);
  kernels[launch.key] = std::move(*loaded);
  return llvm::Error::success();
}

llvm::Error StreamMachine::launch(const TensorProgram &program, const TensorLaunch &launch,
                                  llvm::ArrayRef<TensorPlace> places) {
  return kernels.find(launch.key)
      ->second->launch(stream, launch.grid.data(), argumentsOf(program, launch, places), {});
}

llvm::Expected<double> StreamMachine::time(llvm::function_ref<llvm::Error()> body) {
  return timeForTuning(where, stream, body);
}

llvm::Expected<uint64_t> StreamMachine::allocate(uint64_t bytes) {
  auto memory = allocateDevice(*where, bytes);
  if (!memory)
    return memory.takeError();
  return uint64_t(*memory);
}

llvm::Error StreamMachine::free(uint64_t address) {
  if (llvm::Error error = synchronize(*where, stream)) // what still runs may use it
    return error;
  return freeDevice(*where, address);
}
