//===- Kernel.h - a compiled kernel, and one loaded on a context ----------===//
//
// The one idea of the launch path: everything that a launch can know
// beforehand is worked out when the kernel is loaded (how to reach each
// parameter from the caller's arguments, launch attributes, limits). A launch
// then fills one array of pointers on the stack and calls the driver: no
// allocation, no lock, no lookup.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_KERNEL_H
#define TILE_RUNTIME_KERNEL_H

#include "runtime/LaunchGraph.h"
#include "runtime/LaunchPlan.h"
#include "runtime/Module.h"
#include "runtime/Observer.h"
#include <array>
#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>

namespace tile::runtime {

/// What compiling made. Immutable and shared.
struct CompiledKernel {
  KernelMetadata metadata;
  std::string ptx;
  std::string machineCode; ///< of exactly the target; empty: the driver compiles the PTX
  std::string variant;     ///< for people: signature, constexprs, options
  std::string diagnostics; ///< warnings, as text
  std::string key;         ///< content hash, see Cache.h; empty: not cached
  /// The other files that it was compiled from, or looked for.
  std::vector<frontend::Dependency> dependencies;
  bool fromCache = false;
  /// Compiles the kernel again without tensor maps, for arrays that they cannot
  /// describe; empty if it has none.
  std::function<llvm::Expected<std::shared_ptr<const CompiledKernel>>()> withoutTensorMaps;
  /// Compiles the kernel again for grids of few programs: with one in each block, where several
  /// share them, and loops that load ahead; empty if it is so.
  std::function<llvm::Expected<std::shared_ptr<const CompiledKernel>>()> alone;
  /// Compiles the kernel again for arguments that are multiples of what CompileOptions::multiples
  /// says; empty if it would be no faster for any.
  std::function<llvm::Expected<std::shared_ptr<const CompiledKernel>>(
      llvm::ArrayRef<std::pair<unsigned, unsigned>>)>
      forMultiples;
  double compileMilliseconds = 0; ///< 0 if from the cache
  std::vector<StageTime> times;
};

struct LaunchOptions {
  /// Let this launch start before the one before it in the stream has ended
  /// (programmatic dependent launch); the kernel must wait for it itself. By
  /// default kernels that do are launched so: it costs the host less, and their
  /// blocks are in place when the work before them ends.
  std::optional<bool> dependent;
};

/// A kernel on one context, ready to launch. Immutable: any thread may launch
/// it at any time.
class LoadedKernel {
public:
  /// Loads through the driver, which compiles the PTX or has it in its own cache.
  static llvm::Expected<std::shared_ptr<LoadedKernel>>
  load(std::shared_ptr<const CompiledKernel> kernel, std::shared_ptr<Context> context);

  /// Launches grid[0] x grid[1] x grid[2] programs; a zero in the grid launches
  /// nothing. `arguments` holds a pointer to the value of each entry of the
  /// signature, in order; entries that were folded away are not read and may be
  /// null. A tuple's pointer is to an array of such pointers; a descriptor's is
  /// to a `tile_descriptor`. The context need not be current.
  llvm::Error launch(cuda::Stream stream, const uint32_t grid[3],
                     llvm::ArrayRef<const void *> arguments,
                     const LaunchOptions &options = {}) const;

  /// Compiles and loads the form that launches of that grid take, where it is known to be another.
  /// Where that cannot be had launches go on with this one.
  llvm::Error prepareFor(const uint32_t grid[3]) const;

  /// Whether values of such sizes can be arguments; see LaunchPlan.
  llvm::Error checkSizes(size_t first, llvm::ArrayRef<size_t> sizes) const {
    return plan.checkSizes(first, sizes);
  }

  const CompiledKernel &compiled() const { return *kernel; }
  const KernelMetadata &metadata() const { return kernel->metadata; }
  const std::shared_ptr<Context> &context() const { return owner; }
  cuda::Function function() const { return handle; }
  /// Entries of the signature that must be passed: one more than the last used.
  unsigned numArguments() const { return plan.numArguments; }

  int registers() const { return registerCount; }
  int localBytes() const { return localByteCount; } ///< a thread's stack and spills
  int sharedBytes() const { return metadata().sharedBytes; }
  /// Whether machine code was loaded, not PTX.
  bool isFromMachineCode() const { return fromMachineCode; }
  /// Wall time in the driver: compiling (if it had to) and loading.
  double loadMilliseconds() const { return milliseconds; }

private:
  friend class PreparedLaunch;
  LoadedKernel(std::shared_ptr<const CompiledKernel> kernel, std::shared_ptr<Context> context,
               Module module)
      : kernel(std::move(kernel)), owner(std::move(context)), module(std::move(module)) {}

  using Compile = std::function<llvm::Expected<std::shared_ptr<const CompiledKernel>>()>;
  /// Another form of the kernel, kept once it is compiled. Launches see `ready` without a lock.
  struct OtherForm {
    std::shared_ptr<const LoadedKernel> kept;
    std::atomic<const LoadedKernel *> ready = nullptr;
  };
  llvm::Expected<const LoadedKernel *> otherForm(const Compile &compile, OtherForm &form) const;
  /// The form for few programs, which a launch can do without: null where it cannot be compiled
  /// or loaded, which is tried once. An error where it may not be compiled.
  llvm::Expected<const LoadedKernel *> formForFew() const;
  /// The form for arguments that are multiples of what the key says, which a launch can do
  /// without: null where it cannot be had, which is tried once, or not now.
  const LoadedKernel *formForMultiples(uint64_t key, cuda::Stream stream) const;
  /// Launches another form of the kernel with the same arguments.
  llvm::Error launchOther(const Compile &compile, OtherForm &form, cuda::Stream stream,
                          const uint32_t grid[3], llvm::ArrayRef<void *> pointers,
                          const LaunchOptions &options) const;
  llvm::Error launchForm(const LoadedKernel &other, cuda::Stream stream, const uint32_t grid[3],
                         llvm::ArrayRef<void *> pointers, const LaunchOptions &options) const;
  llvm::Error configure();
  llvm::Error checkResidency();
  cuda::LaunchConfig configuration(const std::array<uint64_t, 3> &blocks, cuda::Stream stream,
                                   const LaunchOptions &options) const;
  llvm::Error launchResolved(cuda::Stream stream, const uint32_t grid[3],
                             llvm::MutableArrayRef<void *> pointers,
                             const LaunchOptions &options) const;
  llvm::Error launchWithScratch(const cuda::LaunchConfig &config, const uint32_t grid[3],
                                llvm::MutableArrayRef<void *> pointers) const;
  llvm::Error launchError(cuda::Result result, const cuda::LaunchConfig &config) const;

  std::shared_ptr<const CompiledKernel> kernel;
  std::shared_ptr<Context> owner;
  Module module;
  cuda::Function handle = nullptr;
  LaunchPlan plan;
  /// The attribute for dependent launch comes last: a launch without it passes
  /// one attribute fewer.
  llvm::SmallVector<cuda::LaunchAttribute, 3> attributes;
  /// Launches are dependent unless their options say otherwise.
  bool isDependent = false;
  /// Blocks that the chip runs at once: what a persistent kernel starts.
  unsigned residentBlocks = 0;
  mutable std::mutex formsMutex;
  /// Without tensor maps; with a program in each block.
  mutable OtherForm fallback, single;
  /// A form for multiples of arguments, null where there is none; what has been made stays.
  struct MultiplesForm {
    uint64_t key;
    std::shared_ptr<const LoadedKernel> kernel;
  };
  /// So many: values that change from launch to launch shall not compile again and again.
  static constexpr unsigned kMostMultiplesForms = 4;
  mutable std::array<std::unique_ptr<const MultiplesForm>, kMostMultiplesForms> keptForMultiples;
  mutable std::array<std::atomic<const MultiplesForm *>, kMostMultiplesForms> readyForMultiples{};
  mutable std::atomic<bool> hasNoSingle = false; ///< as a launch that was better off with it saw
  int registerCount = -1;
  int localByteCount = 0;
  double milliseconds = 0;
  bool fromMachineCode = false;
};

/// A launch whose arguments are kept: set what changes, then run. One thread
/// at a time. What is run again and again on one stream, with nothing changed
/// in between, is recorded and repeated as a CUDA graph.
class PreparedLaunch {
public:
  explicit PreparedLaunch(std::shared_ptr<const LoadedKernel> kernel);
  /// Copies the value of one entry of the signature.
  llvm::Error setArgument(size_t index, const void *value);
  llvm::Error setArguments(llvm::ArrayRef<const void *> values);
  void setGrid(uint32_t x, uint32_t y, uint32_t z);
  void setOptions(const LaunchOptions &newOptions);
  llvm::Error launch(cuda::Stream stream);
  const LoadedKernel &loaded() const { return *kernel; }
  /// Whether the next launch on the same stream repeats a graph.
  bool isRecorded() const { return bool(recording); }

private:
  void forgetRecording();
  void record(cuda::Stream stream);

  std::shared_ptr<const LoadedKernel> kernel;
  uint32_t grid[3] = {1, 1, 1};
  LaunchOptions options;
  llvm::SmallVector<uint64_t, 16> slots; ///< one a parameter
  llvm::SmallVector<void *, 16> pointers;
  llvm::SmallVector<bool, 16> isSet; ///< one an entry of the signature
  unsigned missing = 0;              ///< entries not set yet
  LaunchGraph recording;             ///< of the launch as it is, on lastStream
  cuda::Stream lastStream = nullptr;
  unsigned repeats = 0;      ///< launches since anything changed
  unsigned recordAfter = 16; ///< so many; doubled for each recording in vain
};

/// A compiled kernel and the contexts it is loaded on, once each. Any thread.
class SharedKernel {
public:
  explicit SharedKernel(std::shared_ptr<const CompiledKernel> compiled)
      : compiledKernel(std::move(compiled)) {}
  /// `observer` (may be null) is told, if this call loads it.
  llvm::Expected<std::shared_ptr<LoadedKernel>> loadOn(std::shared_ptr<Context> context,
                                                       Observer *observer = nullptr);
  const CompiledKernel &compiled() const { return *compiledKernel; }
  const std::shared_ptr<const CompiledKernel> &kernel() const { return compiledKernel; }
  /// On any context, by anybody.
  bool isLoaded() const;

private:
  std::shared_ptr<const CompiledKernel> compiledKernel;
  mutable std::mutex mutex;
  std::map<uint64_t, std::weak_ptr<LoadedKernel>> loaded; ///< by Context::id
};

} // namespace tile::runtime

#endif // TILE_RUNTIME_KERNEL_H
