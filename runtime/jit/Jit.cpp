//===- Jit.cpp - a kernel that is launched with values --------------------===//
#include "runtime/jit/Jit.h"
#include "frontend/Counted.h"
#include "runtime/LaunchWatch.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/ThreadPool.h"

using namespace tile;
using namespace tile::jit;
using namespace tile::runtime;
using dispatch::Key;

llvm::Expected<std::unique_ptr<Jit>> Jit::create(CompileService &service,
                                                 std::unique_ptr<frontend::SourceFile> file,
                                                 JitSettings settings, ContextSource context) {
  auto description = JitFile::open(std::move(file), std::move(settings));
  if (!description)
    return description.takeError();
  return std::unique_ptr<Jit>(new Jit(service, std::move(*description), std::move(context)));
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
                   llvm::formatv("`{0}` takes {1} ({2}); {3} passed", description->kernel(),
                                 counted(description->parameters.size(), "argument"), names,
                                 std::to_string(given) + (given == 1 ? " was" : " were"))
                       .str());
}

llvm::Error Jit::refused(const dispatch::Refusal &refusal, const tile_value *values) const {
  return makeError(ErrorCode::InvalidArgument,
                   "cannot launch `" + description->kernel() +
                       "`: " + dispatch::explain(refusal, description->parameters.data(), values));
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

void Jit::describe(const Key &key, dispatch::Described &out) const {
  dispatch::describe(description->parameters.data(), unsigned(description->parameters.size()),
                     key.words, out);
}

llvm::Expected<CompiledKernelPtr> Jit::compile(const Key &key, bool withFallback) {
  auto described = std::make_unique<dispatch::Described>();
  describe(key, *described);
  auto compiled = service.compile(description->source(), description->optionsFor(*described));
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

llvm::Expected<Jit::Variant *> Jit::variantFor(const tile_value *values, dispatch::Values &out) {
  Key key;
  if (dispatch::Refusal refusal =
          dispatch::readValues(description->parameters.data(),
                               unsigned(description->parameters.size()), values, key, out))
    return refused(refusal, values);
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
  dispatch::Values ignored;
  auto variant = variantFor(*all, ignored);
  if (!variant)
    return variant.takeError();
  return (*variant)->loaded;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

llvm::Error Jit::gridOf(llvm::ArrayRef<tile_value> values, uint32_t (&grid)[3]) const {
  if (!description->grid)
    return makeError(ErrorCode::InvalidArgument,
                     llvm::formatv("no grid is given for `{0}`, and its file has no function "
                                   "`{0}_grid` that computes one",
                                   description->kernel())
                         .str());
  tile_value filled[dispatch::kMostArguments];
  auto all = complete(values, filled);
  if (!all)
    return all.takeError();
  const Formula &formula = *description->grid;
  int64_t extents[3] = {1, 1, 1};
  dispatch::FormulaFailure failure = dispatch::runFormula(
      formula.steps.data(), unsigned(formula.steps.size()), *all, formula.results, extents);
  if (failure != dispatch::FormulaFailure::None)
    return makeError(ErrorCode::InvalidArgument,
                     "the grid of `" + description->kernel() +
                         "` cannot be computed: " + dispatch::explain(failure));
  for (int axis = 0; axis < 3; ++axis) {
    int64_t most = axis == 0 ? INT32_MAX : 65535;
    if (extents[axis] < 0 || extents[axis] > most)
      return makeError(ErrorCode::InvalidArgument,
                       llvm::formatv("the grid of `{0}` has {1} programs along {2}: 0 to {3} are "
                                     "possible",
                                     description->kernel(), extents[axis], "xyz"[axis], most)
                           .str());
    grid[axis] = uint32_t(extents[axis]);
  }
  return llvm::Error::success();
}

llvm::Error Jit::launch(cuda::Stream stream, const uint32_t *grid,
                        llvm::ArrayRef<tile_value> values, const LaunchOptions &options) {
  uint32_t computed[3];
  if (!grid) {
    if (llvm::Error error = gridOf(values, computed))
      return error;
    grid = computed;
  }
  if (LLVM_UNLIKELY(values.size() != description->parameters.size())) {
    tile_value filled[dispatch::kMostArguments];
    auto all = complete(values, filled);
    if (!all)
      return all.takeError();
    return launch(stream, grid, llvm::ArrayRef(*all, description->parameters.size()), options);
  }
  dispatch::Values passed;
  auto variant = variantFor(values.data(), passed);
  if (!variant)
    return variant.takeError();
  const LoadedKernel &loaded = *(*variant)->loaded;
  llvm::ArrayRef arguments(passed.pointers, passed.size);
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
