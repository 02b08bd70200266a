//===- Suite.cpp - the tests, benches and examples of a file --------------===//
#include "runtime/host/Suite.h"
#include "runtime/host/Wording.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>

using namespace tile;
using namespace tile::host;
using eval::EvalError;
using eval::fail;
using llvm::ArrayRef;
using llvm::StringRef;
using Kind = PyValue::Kind;

SuiteObserver::~SuiteObserver() = default;
void SuiteObserver::startCase(StringRef, StringRef, size_t, size_t) {}
void SuiteObserver::finishCase(StringRef, const CaseResult &) {}
void SuiteObserver::finishFunction(const FunctionResult &) {}

double FunctionResult::seconds() const {
  double total = 0;
  for (const CaseResult &result : cases)
    total += result.seconds;
  return total;
}

unsigned FunctionResult::count(CaseResult::Status status) const {
  return llvm::count_if(cases, [&](const CaseResult &c) { return c.status == status; });
}

std::string Case::str() const {
  std::string text;
  for (auto &[name, value] : parameters)
    text += formatted("{}{}={}", text.empty() ? "" : ", ", name, eval::str(value));
  return text;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

std::vector<std::shared_ptr<eval::FunctionObject>> host::functionsOf(eval::ModuleEnv &file,
                                                                     Purpose purpose) {
  std::vector<std::shared_ptr<eval::FunctionObject>> functions = file.functions();
  llvm::erase_if(functions, [&](auto &function) {
    return llvm::none_of(function->decorators, [&](auto &d) { return isOf(d, purpose); }) ||
           !file.isBound(*function);
  });
  return functions;
}

/// Functions that no decorator gives this purpose, with one of `tile` or `triton.testing` that
/// there is none of: nobody would miss them.
static std::vector<std::shared_ptr<eval::FunctionObject>> misspelt(eval::ModuleEnv &file,
                                                                   Purpose purpose) {
  std::vector<std::shared_ptr<eval::FunctionObject>> functions = file.functions(),
                                                     others = functionsOf(file, purpose);
  llvm::erase_if(functions, [&](auto &function) {
    if (!file.isBound(*function) || llvm::is_contained(others, function))
      return true;
    return llvm::none_of(function->decorators, [](auto &decorator) {
      StringRef name = decorator.name;
      return (name.starts_with("tile.") || name.starts_with("triton.testing.")) &&
             !llvm::is_contained(hostDecorators(), name);
    });
  });
  return functions;
}

std::vector<std::string> Suite::names(Purpose purpose) {
  std::vector<std::string> out;
  for (auto &function : functionsOf(file, purpose))
    out.push_back(function->name());
  return out;
}

std::vector<std::pair<std::string, size_t>> Suite::count(Purpose purpose) {
  std::vector<std::pair<std::string, size_t>> out;
  for (auto &function : functionsOf(file, purpose)) {
    std::vector<Case> found;
    if (cases(*function, purpose, {}, found))
      found.clear();
    out.emplace_back(function->name(), found.size());
  }
  return out;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Where a returned result is blamed: the last `return`, or the name.
static ast::SourceRange returnRange(const eval::FunctionObject &function) {
  ast::SourceRange range = function.range();
  for (const ast::StmtPtr &stmt : function.def->body)
    if (auto *ret = llvm::dyn_cast<ast::Return>(stmt.get()))
      range = ret->range;
  return range;
}

/// A test's `(out, ref)` pairs, or a bench's measurements.
std::unique_ptr<EvalError> Suite::judge(const eval::FunctionObject &function, Purpose purpose,
                                        const PyValue &returned, CaseResult &result) {
  bool isNothing = returned.isNone() || returned.dynExtension<KernelHandle>(); // `return k[g](x)`
  if (purpose == Purpose::Example || isNothing)
    return purpose == Purpose::Bench
               ? fail("a bench returns `tile.measure(...)`, milliseconds, or a dict of them")
               : nullptr;
  if (purpose == Purpose::Bench) {
    std::vector<std::pair<PyValue, PyValue>> items = {{PyValue::string(""), returned}};
    if (returned.is(Kind::Dict))
      items = returned.asDict().items;
    for (auto &[label, value] : items) {
      std::optional<Measurement> measurement = Session::toMeasurement(value);
      if (!measurement)
        return fail(formatted(
            "a bench returns `tile.measure(...)`, milliseconds, or a dict of them, got `{}`",
            eval::typeName(value)));
      measurement->label = eval::str(label);
      result.measurements.push_back(std::move(*measurement));
    }
    return nullptr;
  }
  auto isPair = [](const PyValue &value) {
    return value.isSequence() && value.elements().size() == 2 &&
           value.elements()[0].dynExtension<Tensor>();
  };
  std::vector<PyValue> pairs = {returned};
  if (!isPair(returned))
    pairs = returned.elements().vec();
  for (const PyValue &pair : pairs) {
    if (!isPair(pair))
      return fail("a test returns nothing, `(out, ref)`, or a list of such pairs");
    if (auto error = session.check(pair.elements()[0], pair.elements()[1]))
      return error;
  }
  if (pairs.empty())
    return fail("a test returns nothing, `(out, ref)`, or a list of such pairs");
  return nullptr;
}

std::unique_ptr<EvalError> Suite::call(const eval::FunctionObject &function, Purpose purpose,
                                       const Case &c, CaseResult &result) {
  CallArgs args;
  args.keywords = c.parameters;
  Result returned =
      evaluator.call(PyValue::function(std::make_shared<eval::FunctionObject>(function)), args);
  return returned ? judge(function, purpose, *returned, result) : returned.takeError();
}

/// What a `perf_report` function returns: a number in a unit of its own, or that and its bounds.
static std::unique_ptr<EvalError> readNumbers(const PyValue &returned, Measurement &m) {
  ArrayRef<PyValue> numbers =
      returned.isSequence() ? returned.elements() : ArrayRef<PyValue>(returned);
  auto isNumber = [](const PyValue &number) { return number.toDouble().has_value(); };
  if (numbers.empty() || numbers.size() > 3 || !llvm::all_of(numbers, isNumber))
    return fail(formatted("a `perf_report` function returns a number, or it with its least and "
                          "greatest value, got {}",
                          eval::repr(returned)));
  m.value = numbers[0].toDouble();
  if (numbers.size() > 1)
    m.low = numbers[1].toDouble();
  if (numbers.size() > 2)
    m.high = numbers[2].toDouble();
  return nullptr;
}

/// Calls a `perf_report` function for each of its lines. One that fails, such as another library,
/// leaves the others to be measured; the first error counts.
std::unique_ptr<EvalError> Suite::measureLines(const eval::FunctionObject &function, const Case &c,
                                               CaseResult &result) {
  std::unique_ptr<EvalError> first;
  for (auto [value, name] : llvm::zip(c.lines->values, c.lines->names)) {
    CallArgs args;
    args.keywords = c.parameters;
    args.keywords.emplace_back(c.lines->argument, value);
    Measurement m;
    m.label = name;
    m.unit = c.lines->unit;
    evaluator.resetSteps();
    Result returned =
        evaluator.call(PyValue::function(std::make_shared<eval::FunctionObject>(function)), args);
    std::unique_ptr<EvalError> error = returned ? readNumbers(*returned, m) : returned.takeError();
    if (!error)
      result.measurements.push_back(std::move(m));
    else if (!first)
      first = std::move(error);
  }
  return first;
}

/// One call of the case, with all that belongs to it.
std::unique_ptr<EvalError> Suite::runOnce(const eval::FunctionObject &function, Purpose purpose,
                                          const Case &c, CaseResult &result) {
  session.startCase();
  evaluator.resetSteps();
  eval::ScopeArena arena(evaluator);
  std::unique_ptr<EvalError> error =
      c.lines ? measureLines(function, c, result) : call(function, purpose, c, result);
  if (auto late = session.finish(); late && !error)
    error = std::move(late);
  if (error) {
    error = Result(std::move(error)).at(file.source(), returnRange(function)).takeError();
    useHostWords(*error);
  }
  return error;
}

/// Once more with each configuration of tuned kernels: a test is of all that tuning may choose,
/// not of the one that it chose here.
std::unique_ptr<EvalError> Suite::runOthers(const eval::FunctionObject &function, const Case &c) {
  Launcher &kernels = session.kernels();
  unsigned count = kernels.mostConfigurations;
  // Without a GPU the first one is taken, which has just run.
  unsigned first = session.hostContext()->device.isCpu() ? 1 : 0;
  for (unsigned i = first; i < count; ++i) {
    kernels.forcedConfiguration = i;
    CaseResult ignored;
    std::unique_ptr<EvalError> error = runOnce(function, Purpose::Test, c, ignored);
    kernels.forcedConfiguration.reset();
    if (!error || error->diagnostic.unsupported)
      continue;
    error->diagnostic.message =
        formatted("with the configuration `{}`, which tuning may choose: {}",
                  kernels.takenConfiguration, error->diagnostic.message);
    return error;
  }
  return nullptr;
}

CaseResult Suite::runCase(const eval::FunctionObject &function, Purpose purpose, const Case &c) {
  CaseResult result;
  result.parameters = c.str();
  result.values = c.parameters;
  const runtime::Device &device = session.hostContext()->device;
  // "cpu", "emu", "cuda:0", or two that are compared: "emu+cuda:0".
  std::string name = device.name();
  llvm::SmallVector<llvm::StringRef> here, wanted;
  llvm::StringRef(name).split(here, '+');
  llvm::StringRef(c.device).split(wanted, ' ', -1, /*KeepEmpty=*/false);
  auto isWanted = [&](llvm::StringRef one) {
    return llvm::is_contained(wanted, one.split(':').first);
  };
  if (!wanted.empty() && !llvm::all_of(here, isWanted)) {
    result.status = CaseResult::Status::Skipped;
    return result;
  }
  auto begin = std::chrono::steady_clock::now();
  session.kernels().mostConfigurations = 0;
  std::unique_ptr<EvalError> error = runOnce(function, purpose, c, result);
  if (!error && purpose == Purpose::Test)
    error = runOthers(function, c);
  if (error) {
    result.status = error->diagnostic.unsupported ? CaseResult::Status::Unsupported
                                                  : CaseResult::Status::Failed;
    result.error = std::move(error);
  }
  std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  result.seconds = elapsed.count();
  result.largestError = session.comparisons().largestError;
  result.toleranceUsed = session.comparisons().toleranceUsed;
  result.checkedAnything = session.checkedAnything();
  return result;
}

struct Suite::Job {
  std::shared_ptr<eval::FunctionObject> function;
  std::vector<Case> cases;
  std::unique_ptr<EvalError> error; ///< of the decorators
};

/// The functions of these names, or all, with their cases.
std::unique_ptr<EvalError> Suite::listJobs(Purpose purpose, ArrayRef<std::string> wanted,
                                           const Parameters &overrides, std::vector<Job> &jobs) {
  if (wanted.empty())
    for (auto &function : misspelt(file, purpose)) {
      Job &job = jobs.emplace_back();
      job.function = function;
      job.error = checkDecorators(*function);
    }
  for (auto &function : functionsOf(file, purpose)) {
    if (!wanted.empty() && !llvm::is_contained(wanted, function->name()))
      continue;
    Job &job = jobs.emplace_back();
    job.function = function;
    for (auto &[name, value] : overrides)
      if (!hasParameter(*function, name))
        return fail(describeUnknownParameter(*function, name));
    job.error = cases(*function, purpose, overrides, job.cases);
    if (job.error)
      useHostWords(*job.error);
  }
  auto isEmpty = [](const Job &job) { return !job.error && job.cases.empty(); };
  if (!overrides.empty() && !jobs.empty() && llvm::all_of(jobs, isEmpty)) {
    std::string given = Case{overrides, ""}.str(), functions;
    for (const Job &job : jobs)
      functions += formatted("{}{}`", functions.empty() ? "`" : ", `", job.function->name());
    return fail(formatted("no case of {} is left with {}: see `where`", functions, given));
  }
  return nullptr;
}

std::unique_ptr<EvalError> Suite::run(Purpose purpose, ArrayRef<std::string> wanted,
                                      const Parameters &overrides, SuiteObserver &observer,
                                      std::vector<FunctionResult> &out) {
  if (auto error = checkNames(purpose, wanted, names(purpose)))
    return error;
  std::vector<Job> jobs;
  if (auto error = listJobs(purpose, wanted, overrides, jobs))
    return error;
  size_t total = 0, index = 0;
  for (const Job &job : jobs)
    total += job.cases.size();
  for (Job &job : jobs) {
    FunctionResult &result = out.emplace_back();
    result.name = job.function->name();
    if (job.error) {
      CaseResult &failed = result.cases.emplace_back();
      failed.status = CaseResult::Status::Failed;
      failed.error = std::move(job.error);
      observer.finishCase(result.name, failed);
    }
    for (const Case &c : job.cases) {
      observer.startCase(result.name, c.str(), index++, total);
      result.cases.push_back(runCase(*job.function, purpose, c));
      observer.finishCase(result.name, result.cases.back());
    }
    observer.finishFunction(result);
  }
  return nullptr;
}
