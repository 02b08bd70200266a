//===- Function.h - a call of a function of whole tensors that was built --===//
//
// A call's tensors give names numbers; a plan, made for the device's target, gives the numbers a
// sample, and with it a form (which kernels there are) and code for each kernel.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_AHEAD_FUNCTION_H
#define TILE_RUNTIME_AHEAD_FUNCTION_H

#include "runtime/ahead/Find.h"

namespace tile::ahead {

struct FunctionState {
  dispatch::WordTable<const Loaded *> loaded;          ///< by context and code
  dispatch::WordTable<const tile_rt_plan *> plans;     ///< by context
  dispatch::WordTable<const tile_rt_sample *> nearest; ///< by context and sizes
  std::mutex mutex;                                    ///< of insertions
};
/// A function's state, made by whoever asks first.
FunctionState &stateOf(tile_rt_function *function);

/// One call. Sizes are by name, and behind them those that the form chooses.
struct FunctionCall {
  const tile_rt_function *function;
  const void *const *arguments;
  tile_value sizes[TILE_RT_MOST_SIZES];
  const tile_rt_sample *sample = nullptr;
  const tile_rt_form *form = nullptr;

  const tile_tensor &tensor(uint32_t parameter) const {
    return *static_cast<const tile_tensor *>(arguments[parameter]);
  }
  /// Whether all numbers of a formula fit 64 bits.
  bool evaluate(const tile_rt_formula &formula, int64_t *out) const {
    return run(formula, sizes, out) == dispatch::FormulaFailure::None;
  }
};

/// Finds and checks the sizes of a call (FunctionSizes.cpp).
Failure readSizes(FunctionCall &call, size_t numArguments);
/// The shape of a result.
Failure shapeOf(const FunctionCall &call, const tile_rt_operand &result, tile_tensor &out);
/// Whether the call may write where its parameters lie; `results`: their data counts.
Failure checkWritten(const FunctionCall &call, const tile_tensor *results);

/// Finds sample and form for a call, on the context with this id (FunctionPlan.cpp).
Failure chooseSample(tile_rt_function *function, const Driver &driver, unsigned long long context,
                     FunctionCall &call);
/// Bytes of each buffer; where those between stages lie, and bytes of all.
Failure planWorkspace(const FunctionCall &call, std::vector<int64_t> &bytes,
                      std::vector<int64_t> &offsets, int64_t &total);
/// Whether all that the stage writes has no elements.
bool writesNothing(const FunctionCall &call, const tile_rt_stage &stage);

} // namespace tile::ahead

#endif // TILE_RUNTIME_AHEAD_FUNCTION_H
