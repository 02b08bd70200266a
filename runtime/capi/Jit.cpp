//===- Jit.cpp - tile/jit.h: kernels that are launched with values --------===//
#include "runtime/jit/Jit.h"
#include "runtime/capi/Internal.h"
#include "text/Format.h"
#include "tile/jit.h"
#include <set>

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::capi;

struct tile_jit {
  std::shared_ptr<tile_compiler> compiler;
  std::unique_ptr<jit::Jit> kernel;
  std::mutex mutex = {}; ///< of what has been asked for
  std::set<std::string> texts = {};
};

TILE_DEFINE_OPTIONS_INIT(jit, tile_jit_options(), sizeof(tile_jit_options))

static tile_prepare_options defaultPrepareOptions() {
  tile_prepare_options options = {};
  options.load = 1;
  return options;
}
TILE_DEFINE_OPTIONS_INIT(prepare, defaultPrepareOptions(), sizeof(tile_prepare_options))

static llvm::Error readNames(const char *what, const char *const *names, size_t count,
                             std::vector<std::string> &out) {
  if (count && !names)
    return invalid(formatted("`{}` is null although its number is not 0", what));
  if (llvm::Error error = checkLength(what, count, dispatch::kMostArguments, "names"))
    return error;
  for (size_t i = 0; i < count; ++i) {
    if (!names[i])
      return invalid(formatted("name {} of `{}` is null", uint64_t(i), what));
    out.push_back(names[i]);
  }
  return llvm::Error::success();
}

static llvm::Error create(tile_compiler *compiler, std::unique_ptr<frontend::SourceFile> file,
                          const tile_jit_options *options, tile_jit **jit) {
  tile_jit_options chosen;
  tile_jit_options_init(&chosen);
  if (llvm::Error error = readOptions(options, chosen))
    return error;
  jit::JitSettings settings;
  auto compile = convertOptions(chosen.compile);
  if (!compile)
    return compile.takeError();
  settings.compile = std::move(*compile);
  if (!settings.compile.signature.empty())
    return invalid("`signature` is set: a tile_jit finds signatures from the values of launches");
  if (llvm::Error error = readNames("do_not_specialize", chosen.do_not_specialize,
                                    chosen.num_do_not_specialize, settings.plain))
    return error;
  if (llvm::Error error =
          readNames("do_not_specialize_on_alignment", chosen.do_not_specialize_on_alignment,
                    chosen.num_do_not_specialize_on_alignment, settings.unaligned))
    return error;
  settings.grid = chosen.grid ? chosen.grid : "";
  std::shared_ptr<tile_compiler> held = ownerOf(compiler);
  jit::JitTuning tuning;
  tuning.cacheFolder = held->service.cache().path();
  tuning.recordFile = chosenText(chosen.tuning_file, "TILE_TUNING");
  tuning.timeless = chosen.no_timing != 0;
  tuning.exhaustive = chosen.time_all != 0;
  auto made =
      jit::Jit::create(held->service, std::move(file), std::move(settings), std::move(tuning),
                       [context = chosen.context] { return contextFor(context); });
  if (!made)
    return made.takeError();
  *jit = new tile_jit{std::move(held), std::move(*made)};
  return llvm::Error::success();
}

tile_status tile_jit_create_file(tile_compiler *compiler, const char *path,
                                 const tile_jit_options *options, tile_jit **jit) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(jit);
    *jit = nullptr;
    TILE_REQUIRE(compiler);
    TILE_REQUIRE(path);
    std::unique_ptr<frontend::SourceFile> file;
    if (llvm::Error error = openSource(path, file))
      return error;
    return create(compiler, std::move(file), options, jit);
  });
}

tile_status tile_jit_create_buffer(tile_compiler *compiler, const char *name, const char *source,
                                   size_t length, const tile_jit_options *options, tile_jit **jit) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(jit);
    *jit = nullptr;
    TILE_REQUIRE(compiler);
    TILE_REQUIRE(source);
    std::unique_ptr<frontend::SourceFile> file;
    if (llvm::Error error = sourceOf(name, source, length, file))
      return error;
    return create(compiler, std::move(file), options, jit);
  });
}

void tile_jit_destroy(tile_jit *jit) { delete jit; }

/// `return error` unless there are values, and no more than any kernel takes.
#define TILE_REQUIRE_VALUES()                                                                      \
  TILE_REQUIRE(jit);                                                                               \
  if (num_values)                                                                                  \
    TILE_REQUIRE(values);                                                                          \
  if (num_values > dispatch::kMostArguments)                                                       \
  return checkLength("num_values", num_values, dispatch::kMostArguments, "values")

tile_status tile_jit_launch(tile_jit *jit, void *stream, const uint32_t grid[3],
                            const tile_value *values, size_t num_values,
                            const tile_launch_options *options) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE_VALUES();
    LaunchOptions converted;
    if (LLVM_UNLIKELY(options))
      if (llvm::Error error = convertLaunchOptions(*options, converted))
        return error;
    return jit->kernel->launch(static_cast<cuda::Stream>(stream), grid,
                               llvm::ArrayRef(values, num_values), converted);
  });
}

tile_status tile_jit_find(tile_jit *jit, const tile_value *values, size_t num_values,
                          tile_function **function) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(function);
    *function = nullptr;
    TILE_REQUIRE_VALUES();
    auto loaded = jit->kernel->find(llvm::ArrayRef(values, num_values));
    if (!loaded)
      return loaded.takeError();
    *function = new tile_function{jit->compiler, std::move(*loaded)};
    return llvm::Error::success();
  });
}

tile_status tile_jit_grid(tile_jit *jit, const tile_value *values, size_t num_values,
                          uint32_t grid[3]) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(grid);
    TILE_REQUIRE_VALUES();
    uint32_t computed[3];
    if (llvm::Error error = jit->kernel->gridOf(llvm::ArrayRef(values, num_values), computed))
      return error;
    std::copy(computed, computed + 3, grid);
    return llvm::Error::success();
  });
}

tile_status tile_jit_best_config(tile_jit *jit, const tile_value *values, size_t num_values,
                                 const char **config) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(config);
    *config = nullptr;
    TILE_REQUIRE_VALUES();
    auto best = jit->kernel->bestConfig(llvm::ArrayRef(values, num_values));
    if (!best)
      return best.takeError();
    std::lock_guard<std::mutex> lock(jit->mutex);
    *config = jit->texts.insert(*best ? (*best)->str() : "").first->c_str();
    return llvm::Error::success();
  });
}

tile_status tile_jit_get_info(const tile_jit *jit, tile_jit_info *info) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(jit);
    TILE_REQUIRE(info);
    tile_jit_info filled = {};
    filled.num_arguments = int32_t(jit->kernel->file().parameters.size());
    filled.num_variants = int32_t(jit->kernel->numVariants());
    filled.has_grid = jit->kernel->file().hasGrid;
    return writeInfo(filled, info);
  });
}

//===----------------------------------------------------------------------===//
// All variants
//===----------------------------------------------------------------------===//

static llvm::Error checkRanges(const tile_jit *jit, const tile_argument_range *ranges,
                               size_t num_ranges) {
  TILE_REQUIRE(jit);
  if (num_ranges)
    TILE_REQUIRE(ranges);
  constexpr uint64_t mostRanges = 65536;
  if (llvm::Error error = checkLength("num_ranges", num_ranges, mostRanges, "ranges"))
    return error;
  for (size_t i = 0; i < num_ranges; ++i)
    if (!ranges[i].parameter)
      return invalid(formatted("`parameter` of range {} is null", uint64_t(i)));
  return llvm::Error::success();
}

tile_status tile_jit_variants(tile_jit *jit, const tile_argument_range *ranges, size_t num_ranges,
                              tile_variant_visitor visit, void *user) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = checkRanges(jit, ranges, num_ranges))
      return error;
    TILE_REQUIRE(visit);
    return jit->kernel->variants(llvm::ArrayRef(ranges, num_ranges), [&](const dispatch::Key &key) {
      CompileOptions options = jit->kernel->optionsOf(key);
      std::string constexprs;
      for (const auto &[name, value] : options.constexprs)
        constexprs += formatted("{}{}={}", constexprs.empty() ? "" : ", ", name, value);
      tile_variant variant = {};
      variant.size = sizeof variant;
      variant.kernel = jit->kernel->file().kernel().c_str();
      variant.signature = options.signature.c_str();
      variant.constexprs = constexprs.c_str();
      std::string how = formatted("num_warps={} num_stages={} num_ctas={}", options.numWarps,
                                  options.numStages, options.numCtas);
      variant.options = how.c_str();
      return visit(user, &variant) == 0;
    });
  });
}

tile_status tile_jit_prepare(tile_jit *jit, const tile_argument_range *ranges, size_t num_ranges,
                             const tile_prepare_options *options) {
  return guarded([&]() -> llvm::Error {
    if (llvm::Error error = checkRanges(jit, ranges, num_ranges))
      return error;
    tile_prepare_options chosen;
    tile_prepare_options_init(&chosen);
    if (llvm::Error error = readOptions(options, chosen))
      return error;
    if (chosen.threads < 0)
      return invalid("`threads` must not be negative");
    return jit->kernel->prepare(llvm::ArrayRef(ranges, num_ranges), unsigned(chosen.threads),
                                chosen.load != 0);
  });
}
