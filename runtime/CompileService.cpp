//===- CompileService.cpp -------------------------------------------------===//
#include "runtime/CompileService.h"
#include "text/Format.h"
#include <chrono>

using namespace tile;
using namespace tile::runtime;

using Multiples = llvm::ArrayRef<std::pair<unsigned, unsigned>>;

/// Leaves in the metadata what a launch looks at; false if it looks at nothing.
static bool noteMultiples(KernelMetadata &metadata, const CompileOptions &options) {
  bool areAny = false;
  for (KernelParameter &parameter : metadata.params) {
    bool isSaid = llvm::any_of(options.multiples, [&](std::pair<unsigned, unsigned> known) {
      return known.first == unsigned(parameter.index);
    });
    if (isSaid || !options.multiplesAtLaunch)
      parameter.multiple = 1;
    areAny |= parameter.multiple > 1;
  }
  return areAny;
}

void CompileService::addFallback(CompiledKernel &kernel, const frontend::SourceFile &file,
                                 const CompileOptions &options) {
  const int (&programs)[3] = kernel.metadata.programsPerBlock;
  bool gainsAhead = kernel.metadata.fewPrograms > 0 && options.programs == GridPrograms::Any;
  bool shares = *std::max_element(std::begin(programs), std::end(programs)) > 1 &&
                (options.warpRoles != WarpRoles::Shared || !kernel.metadata.gridSplits.empty());
  bool gainsByMultiples = noteMultiples(kernel.metadata, options);
  if (!usesTensorMaps(kernel.metadata) && !shares && !gainsAhead && !gainsByMultiples)
    return;
  auto source = std::make_shared<frontend::SourceFile>(file.name().str(), file.text().str());
  auto make = [this, source, dependencies = kernel.dependencies, name = kernel.metadata.entry](
                  const CompileOptions &other) -> llvm::Expected<CompiledKernelPtr> {
    auto compiled = compile(*source, other);
    if (compiled && (*compiled)->dependencies != dependencies)
      return makeError(ErrorCode::Compile,
                       formatted("a file that `{}` imports has changed since it was compiled; "
                                 "compile it again",
                                 name));
    return compiled;
  };
  auto form = [&make](const CompileOptions &other) {
    return [make, other] { return make(other); };
  };
  if (usesTensorMaps(kernel.metadata)) {
    CompileOptions without = options;
    without.tensorMaps = false;
    // What tensor maps copy was no access of which anything had to be known.
    without.multiplesAtLaunch |= !options.multiples.empty();
    kernel.withoutTensorMaps = form(without);
  }
  if (gainsByMultiples)
    kernel.forMultiples = [make, options](Multiples multiples) {
      CompileOptions known = options;
      known.multiples.insert(known.multiples.end(), multiples.begin(), multiples.end());
      known.multiplesAtLaunch = false;
      return make(known);
    };
  if (!shares && !gainsAhead)
    return;
  CompileOptions alone = options;
  if (gainsAhead)
    alone.programs = GridPrograms::Few;
  if (shares)
    alone.warpRoles = WarpRoles::Apart;
  kernel.alone = form(alone);
}

//===----------------------------------------------------------------------===//
// Disk entries: sections "ptx", "cubin" (if there is one), "metadata", "diagnostics",
// "dependencies", "variant" (for people)
//===----------------------------------------------------------------------===//

CompiledKernelPtr CompileService::fromDisk(const std::string &key, const frontend::SourceFile &file,
                                           const CompileOptions &options, Event::Source &source) {
  bool isShared = false;
  std::optional<CacheEntry> entry = diskCache.lookup(key, &isShared);
  if (!entry)
    return nullptr;
  auto dependencies = DependencyCheck::decode(entry->sections["dependencies"]);
  if (!dependencies || !DependencyCheck(*dependencies).holds())
    return nullptr;
  auto kernel = std::make_shared<CompiledKernel>();
  std::string error;
  if (!KernelMetadata::fromJson(entry->sections["metadata"], kernel->metadata, error))
    return nullptr;
  kernel->ptx = std::move(entry->sections["ptx"]);
  kernel->machineCode = std::move(entry->sections["cubin"]);
  kernel->diagnostics = std::move(entry->sections["diagnostics"]);
  kernel->key = key;
  kernel->variant = variantText(options);
  kernel->dependencies = std::move(*dependencies);
  kernel->fromCache = true;
  source = isShared ? Event::Source::Shared : Event::Source::Disk;
  // Kept before somebody asked for machine code.
  if (kernel->machineCode.empty() && !settings.assembler.empty() && !settings.noCompile) {
    assemble(*kernel);
    if (!kernel->machineCode.empty())
      keep(*kernel);
  }
  addFallback(*kernel, file, options);
  return kernel;
}

void CompileService::keep(const CompiledKernel &kernel) {
  if (diskCache.path().empty())
    return;
  CacheEntry entry;
  entry.sections["ptx"] = kernel.ptx;
  entry.sections["metadata"] = kernel.metadata.toJson();
  entry.sections["diagnostics"] = kernel.diagnostics;
  entry.sections["dependencies"] = DependencyCheck(kernel.dependencies).encode();
  entry.sections["variant"] = kernel.variant;
  if (!kernel.machineCode.empty())
    entry.sections["cubin"] = kernel.machineCode;
  diskCache.store(kernel.key, entry);
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

std::string runtime::variantText(const CompileOptions &options) {
  std::string text = options.signature;
  for (const auto &[name, value] : options.constexprs)
    text += formatted("{}{}={}", text.empty() ? "" : " ", name, value);
  for (auto [entry, multiple] : options.multiples)
    if (multiple > 1)
      text += formatted("{}#{}%{}", text.empty() ? "" : " ", entry, multiple);
  return formatted("{}{}num_warps={} num_stages={} {}", text, text.empty() ? "" : " ",
                   options.numWarps, options.numStages, options.target);
}

CompileService::CompileService(CompileFunction compiler, ServiceSettings given)
    : compiler(std::move(compiler)), settings([&] {
        if (!given.observer)
          given.observer = std::make_shared<Observer>();
        return std::move(given);
      }()),
      diskCache(settings.cacheFolder, settings.limits.diskBytes, settings.sharedCacheFolder),
      kept(settings.limits.memoryBytes,
           [](const SharedKernel &kernel) { return kernel.isLoaded(); }) {
  diskCache.onWarning = [observer = settings.observer.get()](llvm::StringRef text) {
    if (DiskCache::defaultOnWarning)
      DiskCache::defaultOnWarning(text);
    observer->warn(text);
  };
}

std::optional<double> CompileService::estimate(const frontend::SourceFile &file,
                                               const CompileOptions &options,
                                               const LaunchOutline &outline) const {
  if (!settings.estimator || settings.noCompile)
    return std::nullopt;
  return settings.estimator(file, options, outline);
}

CompileService::Outcome CompileService::compileNow(const std::string &key,
                                                   const frontend::SourceFile &file,
                                                   const CompileOptions &options) {
  std::string problem = settings.noCompile ? "that is forbidden (`no_compile`, TILE_NO_COMPILE)"
                        : settings.missing ? settings.missing()
                                           : "";
  if (!problem.empty())
    return {nullptr,
            ErrorCode::NoCompile,
            formatted("`{}` would have to be compiled for `{}`, and {}; its key is {}",
                      options.kernel.empty() ? file.name().str() : options.kernel,
                      variantText(options), problem, key),
            {},
            {}};
  auto start = std::chrono::steady_clock::now();
  CompileResult result = compiler(file, options);
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  if (!result.ok()) {
    ErrorCode code = result.status == CompileResult::Status::Unsupported ? ErrorCode::Unsupported
                                                                         : ErrorCode::Compile;
    std::string message = llvm::StringRef(result.diagnostics.str()).rtrim().str();
    return {nullptr, code, std::move(message), std::move(result.diagnostics),
            std::move(result.dependencies)};
  }

  auto kernel = std::make_shared<CompiledKernel>();
  kernel->metadata = std::move(result.metadata);
  kernel->ptx = std::move(result.output);
  kernel->diagnostics = result.diagnostics.str();
  kernel->key = key;
  kernel->variant = variantText(options);
  kernel->dependencies = std::move(result.dependencies);
  kernel->compileMilliseconds = elapsed.count();
  kernel->times = std::move(result.times);
  addFallback(*kernel, file, options);
  if (!settings.assembler.empty())
    assemble(*kernel);
  keep(*kernel);
  if (!settings.dumpFolder.empty())
    dump(*kernel, file, options);
  return {kernel, ErrorCode::Compile, "", {}, kernel->dependencies};
}

/// What a kernel takes in memory, about. The ways to its other forms keep the source.
static uint64_t sizeOf(const CompiledKernel &kernel, const frontend::SourceFile &file) {
  constexpr uint64_t fixed = 4096;
  uint64_t dependencies = 0;
  for (const frontend::Dependency &dependency : kernel.dependencies)
    dependencies += sizeof dependency + dependency.path.size() + dependency.state.size();
  bool hasForms = kernel.withoutTensorMaps || kernel.alone || kernel.forMultiples;
  return fixed + kernel.ptx.size() + kernel.machineCode.size() + kernel.diagnostics.size() +
         2 * dependencies + kernel.metadata.params.size() * sizeof(KernelParameter) +
         (hasForms ? file.text().size() : 0);
}

CompileService::Outcome CompileService::produce(const std::string &key,
                                                const frontend::SourceFile &file,
                                                const CompileOptions &options,
                                                Event::Source &source) {
  Outcome outcome;
  outcome.kernel = fromDisk(key, file, options, source);
  FileLock turn;
  if (!outcome.kernel && !settings.noCompile) {
    turn = diskCache.takeTurn(key);
    if (turn) // another process may have been done just before
      outcome.kernel = fromDisk(key, file, options, source);
  }
  if (!outcome.kernel) {
    outcome = compileNow(key, file, options);
    source = outcome.kernel ? Event::Source::Compiled : Event::Source::None;
  }
  if (outcome.kernel && !settings.overrideFolder.empty())
    if (CompiledKernelPtr other = overridden(outcome.kernel, options.tensorMaps)) {
      outcome.kernel = std::move(other);
      source = Event::Source::File;
    }
  return outcome;
}

CompileService::Outcome CompileService::findOrCompile(const std::string &key,
                                                      const frontend::SourceFile &file,
                                                      const CompileOptions &options) {
  // Somebody may have been done just before this thread's turn came.
  if (std::shared_ptr<SharedKernel> known = kept.find(key))
    return {known->kernel(), ErrorCode::Compile, "", {}, known->kernel()->dependencies};
  Event event;
  event.start = Observer::now();
  Outcome outcome = produce(key, file, options, event.source);
  event.duration = Observer::now() - event.start;
  event.kernel = outcome.kernel ? outcome.kernel->metadata.entry : options.kernel;
  event.variant = variantText(options);
  event.key = key;
  event.status = outcome.kernel ? 0 : static_cast<int>(outcome.code);
  event.message = outcome.message;
  observer().note(event);
  if (outcome.kernel)
    kept.insert(key, std::make_shared<SharedKernel>(outcome.kernel), outcome.kernel->dependencies,
                sizeOf(*outcome.kernel, file));
  return outcome;
}

static void append(const frontend::DiagnosticEngine &from, frontend::DiagnosticEngine &to) {
  to.retain(std::make_shared<frontend::DiagnosticEngine>(from)); // owns what was imported
  for (const frontend::Diagnostic &diagnostic : from.all()) {
    bool isError = diagnostic.severity == frontend::Severity::Error;
    (isError ? to.error(diagnostic.file, diagnostic.range, diagnostic.message)
             : to.warning(diagnostic.file, diagnostic.range, diagnostic.message)) = diagnostic;
  }
}

llvm::Expected<CompiledKernelPtr> CompileService::compile(const frontend::SourceFile &file,
                                                          CompileOptions options,
                                                          frontend::DiagnosticEngine *diagnostics) {
  options = forLaunch(std::move(options));
  options.stopAfter = Stage::Ptx;
  options.printIrAfter.clear();
  if (!options.print)
    options.print = [this, name = options.kernel](llvm::StringRef text) {
      Event event;
      event.kind = Event::Kind::Print;
      event.kernel = name;
      event.message = text.str();
      event.start = Observer::now();
      observer().note(event);
    };
  std::string key = kernelKey(file, options);

  while (true) {
    if (std::shared_ptr<SharedKernel> known = kept.find(key))
      return known->kernel();
    // The first thread to ask does the work; the others wait for its promise.
    std::promise<Outcome> promise;
    std::shared_future<Outcome> future;
    bool mine = false;
    {
      std::lock_guard<std::mutex> lock(mutex);
      auto [entry, inserted] = underWay.try_emplace(key);
      if (inserted)
        entry->second = promise.get_future().share();
      future = entry->second;
      mine = inserted;
    }
    if (mine) {
      Outcome outcome = findOrCompile(key, file, options);
      std::lock_guard<std::mutex> lock(mutex);
      underWay.erase(key); // first: who comes from here on does not wait for this
      promise.set_value(std::move(outcome));
    }

    const Outcome &outcome = future.get();
    // What another thread began may be older than a file that has changed since.
    if (!mine && !DependencyCheck(outcome.dependencies).holds())
      continue;
    if (outcome.kernel)
      return outcome.kernel;
    if (mine && diagnostics) // they point into this file
      append(outcome.diagnostics, *diagnostics);
    return makeError(outcome.code, outcome.message);
  }
}

std::shared_ptr<SharedKernel> CompileService::share(CompiledKernelPtr kernel) {
  std::shared_ptr<SharedKernel> known = kept.peek(kernel->key);
  if (known && known->kernel() == kernel)
    return known;
  return std::make_shared<SharedKernel>(std::move(kernel));
}
