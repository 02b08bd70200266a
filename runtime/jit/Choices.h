//===- Choices.h - what a file's decorators decide about launches ---------===//
//
// `@triton.autotune` lists configurations, one of which serves a launch; `@triton.heuristics`
// computes constexprs from the arguments. Both set parameters that a launch then gives no
// values for.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_JIT_CHOICES_H
#define TILE_RUNTIME_JIT_CHOICES_H

#include "runtime/Tuner.h"
#include "runtime/jit/FormulaCompiler.h"

namespace tile::jit {

/// Constexprs, as in CompileOptions.
using NamedTexts = std::vector<std::pair<std::string, std::string>>;

struct Heuristic {
  std::string parameter;
  Formula formula;
};

/// One way to compile the kernel. A file without `@triton.autotune` has one.
struct Configuration {
  runtime::TuneConfig tune;
  eval::PyValue value; ///< the `triton.Config`
  std::vector<Heuristic> heuristics;
  std::optional<Formula> grid;
};

/// The decorators of a kernel, evaluated.
struct Choices {
  bool isTuned = false;
  bool isAuto = false; ///< the compiler lists the configurations
  std::vector<Configuration> configurations;
  std::vector<std::string> key;        ///< arguments whose values select a configuration
  eval::PyValue earlyPrune, perfModel; ///< of `prune_configs_by`; None: none
  eval::PyValue topK;
  /// Why configurations cannot be timed on a caller's memory; empty if they can.
  std::string whyNotTimed;
  std::vector<std::pair<std::string, eval::PyValue>> heuristics; ///< parameter, function

  /// Parameters that are set here.
  std::vector<std::string> parameters() const;
};

/// Null after success. `given`: constexprs that launches do not choose, which `configs="auto"`
/// leaves alone.
std::unique_ptr<eval::EvalError> readChoices(eval::Evaluator &evaluator,
                                             const eval::FunctionObject &kernel, Choices &out,
                                             const NamedTexts &given = {});

/// The configurations that `prune_configs_by` leaves, best first if it has a model.
std::unique_ptr<eval::EvalError> pruneConfigurations(eval::Evaluator &evaluator,
                                                     const Choices &choices,
                                                     const eval::CallArgs &arguments,
                                                     std::vector<unsigned> &left);

} // namespace tile::jit

#endif // TILE_RUNTIME_JIT_CHOICES_H
