//===- Suite.h - the tests, benches and examples of a file ----------------===//
#ifndef TILE_RUNTIME_HOST_SUITE_H
#define TILE_RUNTIME_HOST_SUITE_H

#include "runtime/host/Benchmark.h"
#include "runtime/host/Session.h"

namespace tile::host {

enum class Purpose { Test, Bench, Example };

/// Parameters by name: those of a case, or those that replace sweeps.
using Parameters = std::vector<std::pair<std::string, PyValue>>;

/// Arguments of one run of a host function.
struct Case {
  Parameters parameters;
  std::string device;                           ///< the only device to run on; empty: any
  std::shared_ptr<const Lines> lines = nullptr; ///< of a `perf_report`: one measurement each
  std::string str() const;                      ///< "n=3, dtype=fp16"
};

struct CaseResult {
  enum class Status { Passed, Failed, Skipped, Unsupported };
  std::string parameters;
  Parameters values; ///< the same as values
  Status status = Status::Passed;
  double seconds = 0; ///< all of it: data, reference, kernel
  double largestError = 0;
  double toleranceUsed = 0; ///< 1 is the limit
  bool checkedAnything = false;
  std::vector<Measurement> measurements;
  std::unique_ptr<eval::EvalError> error; ///< Failed, Unsupported
};

struct FunctionResult {
  std::string name;
  std::vector<CaseResult> cases;
  double seconds() const;
  unsigned count(CaseResult::Status status) const;
};

/// How many steps of the evaluator a case may take: some seconds of them, besides
/// what functions of whole tensors and launches take.
constexpr uint64_t maxSteps = 40'000'000;

/// Follows a run as it happens.
class SuiteObserver {
public:
  virtual ~SuiteObserver();
  virtual void startCase(llvm::StringRef function, llvm::StringRef parameters, size_t index,
                         size_t total);
  virtual void finishCase(llvm::StringRef function, const CaseResult &result);
  virtual void finishFunction(const FunctionResult &result);
};

/// The decorator that makes a function one of a purpose; a bench has another one, too.
llvm::StringRef decoratorName(Purpose purpose);
bool isOf(const eval::Decorator &decorator, Purpose purpose);
/// All decorators that host functions know.
llvm::ArrayRef<llvm::StringRef> hostDecorators();
/// Functions of one purpose; of several with one name the one that it means.
std::vector<std::shared_ptr<eval::FunctionObject>> functionsOf(eval::ModuleEnv &file,
                                                               Purpose purpose);
bool hasParameter(const eval::FunctionObject &function, llvm::StringRef name);
/// That it has none of this name, and which it has.
std::string describeUnknownParameter(const eval::FunctionObject &function, llvm::StringRef name);

/// The host functions of one file on one device.
class Suite {
public:
  Suite(eval::Program &program, eval::ModuleEnv &file, Session &session)
      : evaluator(program.evaluator()), file(file), session(session) {
    evaluator.hooks = &session;
  }
  ~Suite() { evaluator.hooks = nullptr; }

  /// The names of functions of one purpose, in source order.
  std::vector<std::string> names(Purpose purpose);
  /// What to add to a message that there are none of a purpose: which functions without a decorator
  /// are called as if they were (`test_add`), what there is of other purposes, or what such a
  /// function could launch.
  std::string howToMark(Purpose purpose);
  /// Their numbers of cases, too; 0 where the decorator is wrong.
  std::vector<std::pair<std::string, size_t>> count(Purpose purpose);
  /// All cases of a function; an error of its decorators otherwise.
  std::unique_ptr<eval::EvalError> cases(const eval::FunctionObject &function, Purpose purpose,
                                         const Parameters &overrides, std::vector<Case> &out);
  /// Runs the functions named (all of the purpose if empty). `overrides` are
  /// parameters given by the caller in place of a sweep; `where` still rules
  /// out combinations. An error is about the request (an unknown name, nothing
  /// left to run), not about a case.
  std::unique_ptr<eval::EvalError> run(Purpose purpose, llvm::ArrayRef<std::string> names,
                                       const Parameters &overrides, SuiteObserver &observer,
                                       std::vector<FunctionResult> &out);

private:
  std::string whatElseThereIs(Purpose purpose);
  std::string unknownDecorator(Purpose purpose, bool isSure);
  struct Job;
  std::unique_ptr<eval::EvalError> checkNames(Purpose purpose, llvm::ArrayRef<std::string> wanted,
                                              llvm::ArrayRef<std::string> known) const;
  std::unique_ptr<eval::EvalError> listJobs(Purpose purpose, llvm::ArrayRef<std::string> wanted,
                                            const Parameters &overrides, std::vector<Job> &jobs);
  CaseResult runCase(const eval::FunctionObject &function, Purpose purpose, const Case &c);
  std::unique_ptr<eval::EvalError> plan(const eval::FunctionObject &function,
                                        const eval::Decorator &decorator,
                                        const Parameters &overrides, std::vector<Case> &out);
  std::unique_ptr<eval::EvalError> call(const eval::FunctionObject &function, Purpose purpose,
                                        const Case &c, CaseResult &result);
  std::unique_ptr<eval::EvalError> checkDecorators(const eval::FunctionObject &function);
  std::unique_ptr<eval::EvalError> measureLines(const eval::FunctionObject &function, const Case &c,
                                                CaseResult &result);
  std::unique_ptr<eval::EvalError> runOnce(const eval::FunctionObject &function, Purpose purpose,
                                           const Case &c, CaseResult &result);
  std::unique_ptr<eval::EvalError> runOthers(const eval::FunctionObject &function, const Case &c);
  std::unique_ptr<eval::EvalError> judge(const eval::FunctionObject &function, Purpose purpose,
                                         const PyValue &returned, CaseResult &result);
  std::unique_ptr<eval::EvalError> sweep(const eval::FunctionObject &function,
                                         const eval::Decorator &decorator,
                                         const Parameters &overrides, std::vector<Case> &out);

  Evaluator &evaluator;
  eval::ModuleEnv &file;
  Session &session;
};

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_SUITE_H
