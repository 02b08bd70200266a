//===- ProgramTuning.h - the fastest cuts of a program's kernels ----------===//
//
// What the mode `max-autotune` needs in the C interface: a tuner for each context, and a machine
// that rehearses on a stream.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_CAPI_PROGRAMTUNING_H
#define TILE_RUNTIME_CAPI_PROGRAMTUNING_H

#include "runtime/FunctionTuner.h"
#include "runtime/Memory.h"
#include "runtime/capi/Internal.h"

namespace tile::runtime::capi {

class ProgramTuning {
public:
  /// `recordFile`: see Tuner; `isTimeless`: nothing is timed.
  ProgramTuning(std::string recordFile, bool isTimeless)
      : recordFile(std::move(recordFile)), isTimeless(isTimeless) {}
  FunctionTuner &on(const Context &where, CompileService &service);

private:
  struct OnContext {
    OnContext(std::string machine, std::string cacheFolder)
        : tuner(std::move(machine), std::move(cacheFolder)), functions(tuner) {}
    Tuner tuner;
    FunctionTuner functions;
  };
  std::string recordFile;
  bool isTimeless;
  std::map<uint64_t, std::unique_ptr<OnContext>> contexts; ///< by Context::id
};

class StreamMachine final : public TuningMachine {
public:
  /// What a kernel is given, as pointers to values.
  using ArgumentsOf = llvm::function_ref<std::vector<const void *>(
      const TensorProgram &, const TensorLaunch &, llvm::ArrayRef<TensorPlace>)>;
  StreamMachine(CompileService &service, std::shared_ptr<Context> where, cuda::Stream stream,
                ArgumentsOf argumentsOf)
      : service(service), where(std::move(where)), stream(stream), argumentsOf(argumentsOf) {}

  llvm::Error prepare(const TensorLaunch &launch) override;
  llvm::Error launch(const TensorProgram &program, const TensorLaunch &launch,
                     llvm::ArrayRef<TensorPlace> places) override;
  llvm::Expected<double> time(llvm::function_ref<llvm::Error()> body) override;
  llvm::Expected<uint64_t> allocate(uint64_t bytes) override;
  llvm::Error free(uint64_t address) override;
  llvm::Error copy(uint64_t to, uint64_t from, uint64_t bytes) override {
    return copyOnDevice(*where, to, from, bytes, stream);
  }

private:
  CompileService &service;
  std::shared_ptr<Context> where;
  cuda::Stream stream;
  ArgumentsOf argumentsOf;
  std::mutex mutex; ///< of the kernels
  std::map<std::string, std::shared_ptr<const LoadedKernel>> kernels;
};

} // namespace tile::runtime::capi

#endif // TILE_RUNTIME_CAPI_PROGRAMTUNING_H
