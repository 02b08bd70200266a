//===- Jit.cpp - a kernel that is launched with values --------------------===//
#include "runtime/jit/Jit.h"
#include "frontend/Counted.h"
#include "runtime/LaunchWatch.h"
#include "text/Format.h"
#include "llvm/Support/ThreadPool.h"

using namespace tile;
using namespace tile::jit;
using namespace tile::runtime;
using dispatch::Key;

llvm::Expected<std::unique_ptr<Jit>> Jit::create(CompileService &service,
                                                 std::unique_ptr<frontend::SourceFile> file,
                                                 JitSettings settings, JitTuning tuning,
                                                 ContextSource context) {
  auto description = JitFile::open(std::move(file), std::move(settings));
  if (!description)
    return description.takeError();
  return std::unique_ptr<Jit>(
      new Jit(service, std::move(*description), std::move(tuning), std::move(context)));
}

size_t Jit::numVariants() const {
  std::lock_guard<std::mutex> lock(mutex);
  return table.size();
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

llvm::Error Jit::wrongCount(size_t given) const {
  std::string names;
  for (llvm::StringRef name : description->parameterNames())
    names += (names.empty() ? "" : ", ") + name.str();
  return makeError(ErrorCode::InvalidArgument,
                   formatted("`{}` takes {} ({}); {} passed", description->kernel(),
                             counted(description->parameters.size(), "argument"), names,
                             std::to_string(given) + (given == 1 ? " was" : " were")));
}

llvm::Error Jit::refused(const dispatch::Refusal &refusal, const tile_value *values) const {
  return makeError(ErrorCode::InvalidArgument,
                   formatted("cannot launch `{}`: {}", description->kernel(),
                             dispatch::explain(refusal, description->parameters.data(), values)));
}

//===----------------------------------------------------------------------===//
// Variants
//===----------------------------------------------------------------------===//

llvm::Expected<std::shared_ptr<Context>> Jit::context() {
  std::lock_guard<std::mutex> lock(mutex);
  if (owner)
    return owner;
  auto found = contextSource();
  if (found)
    owner = *found;
  return found;
}

/// Behind what readValues wrote stand the configuration and what its heuristics compute.
static const uint64_t *choiceIn(const Key &key, const JitFile &file) {
  return key.words + key.size - 1 - file.choices.heuristics.size();
}

void Jit::describe(const Key &key, dispatch::Described &out) const {
  dispatch::describe(description->parameters.data(), unsigned(description->parameters.size()),
                     key.words, out);
}

CompileOptions Jit::optionsOf(const Key &key) const {
  auto described = std::make_unique<dispatch::Described>();
  describe(key, *described);
  const uint64_t *choice = choiceIn(key, *description);
  return description->optionsFor(*described, unsigned(*choice),
                                 reinterpret_cast<const int64_t *>(choice + 1));
}

llvm::Expected<CompiledKernelPtr> Jit::compile(const Key &key, bool withFallback) {
  auto compiled = service.compile(description->source(), optionsOf(key));
  // What launches take for arrays that do not suit tensor maps.
  if (compiled && withFallback && (*compiled)->withoutTensorMaps)
    if (auto other = (*compiled)->withoutTensorMaps(); !other)
      return other.takeError();
  return compiled;
}

llvm::Expected<Jit::Variant *> Jit::make(const Key &key, uint64_t hash) {
  auto compiled = compile(key);
  if (!compiled)
    return compiled.takeError();
  auto where = context();
  if (!where)
    return where.takeError();
  auto loaded = service.share(std::move(*compiled))->loadOn(std::move(*where), &service.observer());
  if (!loaded)
    return loaded.takeError();
  std::lock_guard<std::mutex> lock(mutex);
  if (Variant *made = table.find(key.words, key.size, hash)) // by another thread meanwhile
    return made;
  return table.insert(key.words, key.size, hash, Variant{std::move(*loaded)});
}

llvm::Expected<const tile_value *> Jit::complete(llvm::ArrayRef<tile_value> values,
                                                 tile_value *filled) const {
  size_t wanted = description->parameters.size();
  if (LLVM_LIKELY(values.size() == wanted))
    return values.data();
  if (values.size() > wanted || values.size() < description->numRequired)
    return wrongCount(values.size());
  llvm::copy(values, filled);
  for (size_t i = values.size(); i < wanted; ++i)
    filled[i] = *description->defaults[i];
  return filled;
}

llvm::Error Jit::readKey(Request &request) const {
  if (dispatch::Refusal refusal = dispatch::readValues(description->parameters.data(),
                                                       unsigned(description->parameters.size()),
                                                       request.values, request.key, request.passed))
    return refused(refusal, request.values);
  return llvm::Error::success();
}

static llvm::Error cannotCompute(const std::string &what, dispatch::FormulaFailure failure) {
  return makeError(ErrorCode::InvalidArgument,
                   formatted("{} cannot be computed: {}", what, dispatch::explain(failure)));
}

llvm::Error Jit::addChoice(Key &key, unsigned configuration, const tile_value *values) const {
  bool fits = key.add(configuration);
  for (const Heuristic &heuristic : description->choices.configurations[configuration].heuristics) {
    const std::vector<dispatch::Step> &steps = heuristic.formula.steps;
    int64_t result = 0;
    dispatch::FormulaFailure failure =
        dispatch::runFormula(steps.data(), unsigned(steps.size()), values, 1, &result);
    if (failure != dispatch::FormulaFailure::None)
      return cannotCompute(
          formatted("the heuristic `{}` of `{}`", heuristic.parameter, description->kernel()),
          failure);
    fits &= key.add(uint64_t(result));
  }
  return fits ? llvm::Error::success()
              : refused({dispatch::Refusal::Why::TooMany, dispatch::kMostArguments + 1}, values);
}

llvm::Error Jit::decide(Request &request) {
  if (description->choices.isTuned) {
    Key selector;
    if (!dispatch::addTuningWords(description->parameters.data(),
                                  unsigned(description->parameters.size()), request.key.words,
                                  request.values, description->key.data(),
                                  unsigned(description->key.size()), selector))
      return refused({dispatch::Refusal::Why::TooMany, dispatch::kMostArguments + 1},
                     request.values);
    uint64_t hash = selector.hash();
    if (unsigned *known = tuned.find(selector.words, selector.size, hash); LLVM_LIKELY(known)) {
      request.configuration = *known;
    } else {
      auto chosen = tune(request);
      if (!chosen)
        return chosen.takeError();
      request.configuration = *chosen;
      std::lock_guard<std::mutex> lock(mutex);
      if (!tuned.find(selector.words, selector.size, hash))
        tuned.insert(selector.words, selector.size, hash, *chosen);
    }
  }
  return addChoice(request.key, request.configuration, request.values);
}

llvm::Expected<Jit::Variant *> Jit::variantFor(Request &request) {
  if (llvm::Error error = readKey(request))
    return std::move(error);
  if (llvm::Error error = decide(request))
    return std::move(error);
  const Key &key = request.key;
  uint64_t hash = key.hash();
  if (Variant *known = table.find(key.words, key.size, hash); LLVM_LIKELY(known))
    return known;
  return make(key, hash);
}

llvm::Expected<std::shared_ptr<const LoadedKernel>> Jit::find(llvm::ArrayRef<tile_value> values) {
  tile_value filled[dispatch::kMostArguments];
  auto all = complete(values, filled);
  if (!all)
    return all.takeError();
  Request request(*all);
  auto variant = variantFor(request);
  if (!variant)
    return variant.takeError();
  return (*variant)->loaded;
}

llvm::Expected<const TuneConfig *> Jit::bestConfig(llvm::ArrayRef<tile_value> values) {
  if (!description->choices.isTuned)
    return nullptr;
  tile_value filled[dispatch::kMostArguments];
  auto all = complete(values, filled);
  if (!all)
    return all.takeError();
  Request request(*all);
  if (llvm::Error error = readKey(request))
    return std::move(error);
  if (llvm::Error error = decide(request))
    return std::move(error);
  return &description->choices.configurations[request.configuration].tune;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

llvm::Error Jit::computeGrid(const tile_value *values, unsigned configuration,
                             uint32_t (&grid)[3]) const {
  const std::optional<Formula> &formula = description->choices.configurations[configuration].grid;
  if (!formula)
    return makeError(
        ErrorCode::InvalidArgument,
        formatted(
            "no grid is given for `{0}`, and its file has no function `{0}_grid` that computes one",
            description->kernel()));
  int64_t extents[3] = {1, 1, 1};
  dispatch::FormulaFailure failure = dispatch::runFormula(
      formula->steps.data(), unsigned(formula->steps.size()), values, formula->results, extents);
  if (failure != dispatch::FormulaFailure::None)
    return cannotCompute(formatted("the grid of `{}`", description->kernel()), failure);
  for (int axis = 0; axis < 3; ++axis) {
    int64_t most = axis == 0 ? INT32_MAX : 65535;
    if (extents[axis] < 0 || extents[axis] > most)
      return makeError(ErrorCode::InvalidArgument,
                       formatted("the grid of `{}` has {} programs along {}: 0 to {} are possible",
                                 description->kernel(), extents[axis], "xyz"[axis], most));
    grid[axis] = uint32_t(extents[axis]);
  }
  return llvm::Error::success();
}

llvm::Error Jit::gridOf(llvm::ArrayRef<tile_value> values, uint32_t (&grid)[3]) {
  tile_value filled[dispatch::kMostArguments];
  auto all = complete(values, filled);
  if (!all)
    return all.takeError();
  Request request(*all);
  if (description->choices.isTuned) {
    if (llvm::Error error = readKey(request))
      return error;
    if (llvm::Error error = decide(request))
      return error;
  }
  return computeGrid(*all, request.configuration, grid);
}

llvm::Error Jit::launch(cuda::Stream stream, const uint32_t *grid,
                        llvm::ArrayRef<tile_value> values, const LaunchOptions &options) {
  if (LLVM_UNLIKELY(values.size() != description->parameters.size())) {
    tile_value filled[dispatch::kMostArguments];
    auto all = complete(values, filled);
    if (!all)
      return all.takeError();
    return launch(stream, grid, llvm::ArrayRef(*all, description->parameters.size()), options);
  }
  Request request(values.data(), stream, grid);
  auto variant = variantFor(request);
  if (!variant)
    return variant.takeError();
  uint32_t computed[3];
  if (!grid) {
    if (llvm::Error error = computeGrid(values.data(), request.configuration, computed))
      return error;
    grid = computed;
  }
  const LoadedKernel &loaded = *(*variant)->loaded;
  llvm::ArrayRef arguments(request.passed.pointers, request.passed.size);
  return watched(&service, loaded, stream, grid, arguments,
                 [&] { return loaded.launch(stream, grid, arguments, options); });
}

//===----------------------------------------------------------------------===//
// Preparing
//===----------------------------------------------------------------------===//

llvm::Error Jit::prepare(llvm::ArrayRef<tile_argument_range> ranges, unsigned threads, bool load) {
  std::vector<Key> keys;
  if (llvm::Error error = variants(ranges, [&](const Key &key) {
        keys.push_back(key);
        return true;
      }))
    return error;
  std::mutex errorMutex;
  std::optional<ErrorParts> first;
  std::atomic<bool> failed{false};
  auto makeOne = [&](const Key &key) {
    if (failed)
      return;
    llvm::Error error = llvm::Error::success();
    uint64_t hash = key.hash();
    if (auto compiled = compile(key, /*withFallback=*/true); !compiled)
      error = compiled.takeError();
    else if (load && !table.find(key.words, key.size, hash))
      if (auto made = make(key, hash); !made)
        error = made.takeError();
    if (!error)
      return;
    std::lock_guard<std::mutex> lock(errorMutex);
    ErrorParts parts = takeError(std::move(error));
    if (!failed.exchange(true))
      first = std::move(parts);
  };
  llvm::DefaultThreadPool pool(llvm::hardware_concurrency(threads));
  for (const Key &key : keys)
    pool.async([&makeOne, &key] { makeOne(key); });
  pool.wait();
  return first ? makeError(first->code, first->message, first->result) : llvm::Error::success();
}
