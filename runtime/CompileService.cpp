//===- CompileService.cpp -------------------------------------------------===//
#include "runtime/CompileService.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>

using namespace tile;
using namespace tile::runtime;

//===----------------------------------------------------------------------===//
// Disk entries: sections "ptx", "metadata", "diagnostics", "dependencies"
//===----------------------------------------------------------------------===//

/// Files that a compilation read besides its source: one "hash path" a line.
/// An entry counts only while every one of them still has that content.
static std::string recordDependencies(llvm::ArrayRef<std::string> paths) {
  std::string text;
  for (const std::string &path : paths)
    if (auto file = llvm::MemoryBuffer::getFile(path))
      text += contentHash((*file)->getBuffer()) + " " + path + "\n";
  return text;
}

static bool dependenciesHold(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> lines;
  text.split(lines, '\n', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return llvm::all_of(lines, [](llvm::StringRef line) {
    auto [hash, path] = line.split(' ');
    auto file = llvm::MemoryBuffer::getFile(path);
    return file && contentHash((*file)->getBuffer()) == hash;
  });
}

void CompileService::addFallback(CompiledKernel &kernel, const frontend::SourceFile &file,
                                 const CompileOptions &options) {
  if (!usesTensorMaps(kernel.metadata))
    return;
  CompileOptions without = options;
  without.tensorMaps = false;
  auto source = std::make_shared<frontend::SourceFile>(file.name().str(), file.text().str());
  kernel.withoutTensorMaps = [this, source, without] { return compile(*source, without); };
}

CompiledKernelPtr CompileService::fromDisk(const std::string &key, const frontend::SourceFile &file,
                                           const CompileOptions &options) {
  std::optional<CacheEntry> entry = diskCache.lookup(key);
  if (!entry || !dependenciesHold(entry->sections["dependencies"]))
    return nullptr;
  auto kernel = std::make_shared<CompiledKernel>();
  std::string error;
  if (!KernelMetadata::fromJson(entry->sections["metadata"], kernel->metadata, error))
    return nullptr;
  kernel->ptx = std::move(entry->sections["ptx"]);
  kernel->diagnostics = std::move(entry->sections["diagnostics"]);
  kernel->key = key;
  kernel->maxRegisters = options.maxRegisters;
  kernel->fromCache = true;
  addFallback(*kernel, file, options);
  return kernel;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

CompileService::Outcome CompileService::compileNow(const std::string &key,
                                                   const frontend::SourceFile &file,
                                                   const CompileOptions &options) {
  auto start = std::chrono::steady_clock::now();
  CompileResult result = compiler(file, options);
  std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
  if (!result.ok()) {
    ErrorCode code = result.status == CompileResult::Status::Unsupported ? ErrorCode::Unsupported
                                                                         : ErrorCode::Compile;
    std::string message = llvm::StringRef(result.diagnostics.str()).rtrim().str();
    return {nullptr, code, std::move(message), std::move(result.diagnostics)};
  }

  auto kernel = std::make_shared<CompiledKernel>();
  kernel->metadata = std::move(result.metadata);
  kernel->ptx = std::move(result.output);
  kernel->diagnostics = result.diagnostics.str();
  kernel->key = key;
  kernel->maxRegisters = options.maxRegisters;
  kernel->compileMilliseconds = elapsed.count();
  kernel->times = std::move(result.times);
  addFallback(*kernel, file, options);

  CacheEntry entry;
  entry.sections["ptx"] = kernel->ptx;
  entry.sections["metadata"] = kernel->metadata.toJson();
  entry.sections["diagnostics"] = kernel->diagnostics;
  entry.sections["dependencies"] = recordDependencies(result.dependencies);
  diskCache.store(key, entry);
  return {kernel, ErrorCode::Compile, "", {}};
}

static void append(const frontend::DiagnosticEngine &from, frontend::DiagnosticEngine &to) {
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
  std::string key = kernelKey(file.text(), options);

  // The first thread to ask does the work; the others wait for its promise.
  std::promise<Outcome> promise;
  std::shared_future<Outcome> future;
  bool mine = false;
  {
    std::lock_guard<std::mutex> lock(mutex);
    auto [entry, inserted] = known.try_emplace(key);
    if (inserted)
      entry->second = promise.get_future().share();
    future = entry->second;
    mine = inserted;
  }
  if (mine) {
    CompiledKernelPtr kept = fromDisk(key, file, options);
    promise.set_value(kept ? Outcome{kept, ErrorCode::Compile, "", {}}
                           : compileNow(key, file, options));
  }

  const Outcome &outcome = future.get();
  if (outcome.kernel)
    return outcome.kernel;
  if (mine) { // a failure is not kept: its diagnostics point into this file
    if (diagnostics)
      append(outcome.diagnostics, *diagnostics);
    std::lock_guard<std::mutex> lock(mutex);
    known.erase(key);
  }
  return makeError(outcome.code, outcome.message);
}

std::shared_ptr<SharedKernel> CompileService::share(CompiledKernelPtr kernel) {
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<SharedKernel> &entry = shared[kernel.get()];
  if (!entry)
    entry = std::make_shared<SharedKernel>(std::move(kernel));
  return entry;
}
