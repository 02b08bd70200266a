//===- CompileService.h - compiling with caches, from any thread ----------===//
//
// What `libtile`, the tuner and the devices compile through: a look-up in
// memory, then on disk, then the compiler. What is kept in either counts only while
// every file that it was compiled from is as it was. Equal requests made at once
// compile once. Compilers (an MLIR context each) are kept in a pool and lent to one
// thread at a time.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_COMPILESERVICE_H
#define TILE_RUNTIME_COMPILESERVICE_H

#include "runtime/Cache.h"
#include "runtime/Device.h"
#include "runtime/Kernel.h"
#include "runtime/KernelCache.h"
#include "runtime/Observer.h"
#include <functional>
#include <future>

namespace tile::runtime {

/// How to compile; a parameter so that tests need no compiler.
using CompileFunction =
    std::function<CompileResult(const frontend::SourceFile &, const CompileOptions &)>;

/// About how many milliseconds a launch takes; nothing if nothing is known.
using EstimateFunction = std::function<std::optional<double>(
    const frontend::SourceFile &, const CompileOptions &, const LaunchOutline &)>;

/// Why nothing can be compiled here; empty if it can.
using MissingFunction = std::function<std::string()>;

/// Compile, and estimate, with a pool of tile::Compiler. Thread-safe.
struct PooledCompiler {
  CompileFunction compile;
  EstimateFunction estimate;
  MissingFunction missing; ///< null: it is part of the program
};
PooledCompiler pooledCompiler();

using CompiledKernelPtr = std::shared_ptr<const CompiledKernel>;

struct CacheLimits {
  uint64_t memoryBytes = uint64_t(64) << 20; ///< of kernels that nobody uses, about
  uint64_t diskBytes = kDiskCacheBytes;
};

/// What a service does besides; tile_compiler_options says what each is for.
struct ServiceSettings {
  std::string cacheFolder, sharedCacheFolder;
  CacheLimits limits = {};
  bool noCompile = false, blocking = false;
  std::string dumpFolder = {}, overrideFolder = {}, assembler = {};
  std::shared_ptr<Observer> observer = nullptr; ///< null: one that only counts
  EstimateFunction estimator = nullptr;         ///< null: launches are not estimated
  MissingFunction missing = nullptr;            ///< asked before the first compilation; null: never
};

class CompileService {
public:
  CompileService(CompileFunction compiler, ServiceSettings settings);
  explicit CompileService(CompileFunction compiler, std::string cacheFolder = "",
                          CacheLimits limits = {})
      : CompileService(std::move(compiler), ServiceSettings{std::move(cacheFolder), "", limits}) {}

  /// Compiles to PTX (whatever `options.stopAfter` says), for launches by
  /// LoadedKernel. The error of a kernel with errors is the text of its diagnostics, which
  /// `diagnostics` receives too (unless another thread was compiling the same just then).
  llvm::Expected<CompiledKernelPtr> compile(const frontend::SourceFile &file,
                                            CompileOptions options,
                                            frontend::DiagnosticEngine *diagnostics = nullptr);

  /// What the cost model says of a launch. Compiles a kernel as far as that takes, which nobody
  /// is told of; nothing where compilations are forbidden.
  std::optional<double> estimate(const frontend::SourceFile &file, const CompileOptions &options,
                                 const LaunchOutline &outline) const;

  /// The SharedKernel of what `compile` returned last for a request, so that a kernel
  /// is loaded once a context however often it is asked for. The service must
  /// outlive its use for loading.
  std::shared_ptr<SharedKernel> share(CompiledKernelPtr kernel);

  DiskCache &cache() { return diskCache; }
  Observer &observer() const { return *settings.observer; }
  bool isBlocking() const { return settings.blocking; }
  /// What the kernels kept in memory take, about.
  uint64_t memoryBytes() const { return kept.bytes(); }

private:
  struct Outcome {
    CompiledKernelPtr kernel; ///< null: failed
    ErrorCode code = ErrorCode::Compile;
    std::string message;
    frontend::DiagnosticEngine diagnostics;
    std::vector<frontend::Dependency> dependencies;
  };
  /// From memory, from disk, or compiled and kept in both.
  Outcome findOrCompile(const std::string &key, const frontend::SourceFile &file,
                        const CompileOptions &options);
  /// The same, watched.
  Outcome produce(const std::string &key, const frontend::SourceFile &file,
                  const CompileOptions &options, Event::Source &source);
  Outcome compileNow(const std::string &key, const frontend::SourceFile &file,
                     const CompileOptions &options);
  /// Gives a kernel the ways to its other forms, which it may need.
  void addFallback(CompiledKernel &kernel, const frontend::SourceFile &file,
                   const CompileOptions &options);
  CompiledKernelPtr fromDisk(const std::string &key, const frontend::SourceFile &file,
                             const CompileOptions &options, Event::Source &source);
  void keep(const CompiledKernel &kernel);
  // ServiceDebug.cpp
  void assemble(CompiledKernel &kernel);
  void dump(const CompiledKernel &kernel, const frontend::SourceFile &file,
            const CompileOptions &options);
  /// The kernel with the PTX of a file in its place, if there is one. `byName`: a file that
  /// is named by the kernel alone counts too.
  CompiledKernelPtr overridden(const CompiledKernelPtr &kernel, bool byName);

  const CompileFunction compiler;
  const ServiceSettings settings;
  DiskCache diskCache;
  KernelCache<SharedKernel> kept;
  std::mutex mutex;
  std::map<std::string, std::shared_future<Outcome>> underWay;
};

/// A compilation for people: "*fp32:16,i32 BLOCK=128 num_warps=4 sm_90a".
std::string variantText(const CompileOptions &options);

} // namespace tile::runtime

#endif // TILE_RUNTIME_COMPILESERVICE_H
