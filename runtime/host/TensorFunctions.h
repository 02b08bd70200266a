//===- TensorFunctions.h - `f(x, y)` of a @tile.function ------------------===//
//
// A call in a host function compiles the function for the types of its arguments, if that
// has not happened yet, makes the tensors that it returns, and launches its kernels.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_TENSORFUNCTIONS_H
#define TILE_RUNTIME_HOST_TENSORFUNCTIONS_H

#include "compiler/functions/TensorProgram.h"
#include "runtime/FunctionTuner.h"
#include "runtime/host/KeptKernels.h"

namespace tile::host {

class TensorFunctions {
public:
  /// `tuner` keeps which cuts are the fastest, where somebody asks for those.
  TensorFunctions(ContextPtr context, std::vector<std::string> includePaths, runtime::Tuner &tuner)
      : context(std::move(context)), includePaths(std::move(includePaths)), cuts(tuner) {}

  Result call(Evaluator &evaluator, const PyValue &function, const CallArgs &args);
  /// Kernels that calls have needed so far.
  size_t numKernels() const { return kernels.size(); }
  /// How kernels find their cuts.
  runtime::FunctionTuner &tuner() { return cuts; }

private:
  /// A function for arguments of certain types.
  struct Compiled {
    std::shared_ptr<eval::FunctionObject> function; ///< kept, so that nothing else has its address
    tensors::Signature signature;
    std::unique_ptr<TensorProgram> program;
  };
  struct Call;
  std::unique_ptr<eval::EvalError> readArguments(Evaluator &evaluator, Call &call);
  std::unique_ptr<eval::EvalError> compile(Evaluator &evaluator, Call &call);
  std::unique_ptr<eval::EvalError> chooseProgram(Call &call);
  bool chooseAsBuilt(Call &call) const;
  void chooseOtherCuts(Call &call) const;
  std::unique_ptr<eval::EvalError> chooseFastest(Call &call);
  runtime::KernelRequest requestFor(const Call &call, const TensorLaunch &launch) const;
  std::unique_ptr<eval::EvalError> makeBuffers(Call &call);
  std::unique_ptr<eval::EvalError> checkElements(const Call &call, const TensorKernel &of,
                                                 double elements) const;
  std::unique_ptr<eval::EvalError> launch(Call &call, unsigned kernel);
  runtime::Kernel *prepare(const Call &call, const TensorLaunch &launch,
                           std::unique_ptr<eval::EvalError> &error);

  ContextPtr context;
  std::vector<std::string> includePaths;
  std::map<const ast::FunctionDef *, tensors::Signature> signatures;
  llvm::StringMap<Compiled> compiled;
  KeptKernels kernels;
  runtime::FunctionTuner cuts;
};

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_TENSORFUNCTIONS_H
