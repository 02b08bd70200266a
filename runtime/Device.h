//===- Device.h - what host functions run kernels on ----------------------===//
//
// The whole contract between the code that runs a `.tile` file's host
// functions and the machine under it. There are two machines: the CPU, which
// interprets `tile` IR, and a GPU through the CUDA driver. A kernel is prepared
// once for a specialisation and launched any number of times.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DEVICE_H
#define TILE_RUNTIME_DEVICE_H

#include "compiler/Compiler.h"
#include "frontend/AST.h"
#include "runtime/LaunchLimit.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/Error.h"
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile::runtime {

/// An address in the device's memory; 0 is null. On the CPU it is a real one.
using DevicePtr = uint64_t;

/// The value of one entry of the signature, folded entries (`i32:1`, `none`,
/// `const=`) included so that indices agree with KernelParameter::index.
struct LaunchArg {
  enum class Kind { None, Pointer, Int, Float, Tuple, Descriptor };
  Kind kind = Kind::None;
  uint64_t bits = 0; ///< Pointer: the address; Int: two's complement, sign- or zero-extended
  double number = 0; ///< Float
  std::vector<LaunchArg> elements; ///< Tuple
  // Descriptor: `bits` is the base address; strides count elements.
  std::vector<int64_t> shape, strides;

  static LaunchArg none() { return {}; }
  static LaunchArg pointer(DevicePtr p);
  static LaunchArg integer(uint64_t bits);
  static LaunchArg real(double value);
};

struct LaunchConfig {
  std::array<uint32_t, 3> grid = {1, 1, 1}; ///< programs; a zero launches nothing
  std::vector<LaunchArg> args;              ///< one an entry of the signature
};

/// What a cost model wants to know of a launch.
struct LaunchOutline {
  std::array<uint32_t, 3> grid = {1, 1, 1};
  std::map<std::string, int64_t> values; ///< integer arguments by name
  std::string device;                    ///< "NVIDIA H200"; empty: one that runs the target
};

/// What to compile. The source must outlive the kernel.
struct KernelRequest {
  const frontend::SourceFile *file = nullptr;
  const ast::Module *module = nullptr; ///< the parsed `file`
  CompileOptions options;              ///< kernel, signature, constexprs, warps, stages, ...
};

/// A kernel ready to launch. Owned by whoever asked; must not outlive its Device.
class Kernel {
public:
  virtual ~Kernel();
  /// What the compiler said of it; the CPU fills in `entry` and `params` only.
  virtual const KernelMetadata &metadata() const = 0;
};

struct TimingOptions {
  double warmupMilliseconds = 25;
  double repeatMilliseconds = 100;
  bool flushCache = true; ///< empty the L2 cache before each repetition
  int minimumRepeats = 5;
};
struct Timing {
  double median = 0, minimum = 0, maximum = 0; ///< milliseconds
  int repeats = 0;
  std::vector<double> samples; ///< all of them, ascending
};

class Device {
public:
  virtual ~Device();

  /// "cpu", "cuda:0".
  virtual std::string name() const = 0;
  /// For people: "NVIDIA H200, 132 SMs, driver 580.65".
  virtual std::string description() const = 0;
  /// The part of it that records of tuning are for: "NVIDIA H200, 132 SMs".
  virtual std::string model() const { return description(); }
  /// The target to compile for ("sm_90a"); the CPU names a target too, since
  /// kernels may ask for it.
  virtual std::string target() const = 0;
  virtual bool isCpu() const = 0;
  virtual unsigned multiprocessorCount() const = 0;

  /// Memory is aligned to at least 256 bytes and has no defined content: a
  /// device that checks kernels reports reads of it until something is written.
  virtual llvm::Expected<DevicePtr> allocate(uint64_t bytes) = 0;
  virtual llvm::Error free(DevicePtr pointer) = 0;
  virtual llvm::Error upload(DevicePtr to, const void *from, uint64_t bytes) = 0;
  virtual llvm::Error download(void *to, DevicePtr from, uint64_t bytes) = 0;
  virtual llvm::Error fill(DevicePtr to, uint8_t byte, uint64_t bytes) = 0;
  virtual llvm::Error copy(DevicePtr to, DevicePtr from, uint64_t bytes) = 0;
  /// Fills with `byte` as `fill` does, but the content stays undefined to a
  /// device that checks.
  virtual llvm::Error poison(DevicePtr to, uint8_t byte, uint64_t bytes) = 0;

  /// Compiles and loads. Null after reporting to `diagnostics`. The tuner calls
  /// this from several threads at once on devices that are not the CPU.
  virtual std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                          frontend::DiagnosticEngine &diagnostics) = 0;
  /// Enqueues a launch. What a checking device finds (out-of-bounds lanes,
  /// reads of unwritten memory, races) is reported to `diagnostics`, and so is
  /// a failure; false after an error. Errors of a GPU may show up only in
  /// `synchronize`.
  virtual bool launch(Kernel &kernel, const LaunchConfig &config,
                      frontend::DiagnosticEngine &diagnostics) = 0;
  virtual llvm::Error synchronize() = 0;
  /// About how many milliseconds a launch takes, by a cost model; nothing if there is none. The
  /// tuner calls this from several threads at once.
  virtual std::optional<double> estimate(const KernelRequest &request, LaunchOutline outline);

  /// Runs `body` repeatedly and times it: events on a GPU, the clock on the
  /// CPU. `body` returns false to give up.
  virtual llvm::Expected<Timing> time(llvm::function_ref<bool()> body,
                                      const TimingOptions &options) = 0;
};

/// The CPU: interprets `tile` IR. `check` reports out-of-bounds lanes, reads of
/// unwritten memory and races between programs at the source line.
struct CpuDeviceOptions {
  bool check = true;
  unsigned threads = 0; ///< 0: all cores
  /// Run the passes of the tile and cta level over each kernel before it is
  /// interpreted. They change no result: every kernel test becomes a test of
  /// the passes.
  bool throughPasses = false;
  /// Numbers of a ring in the place of floating-point ones (docs/algebraic-mode.md).
  bool algebraic = false;
  uint64_t launchLimit = kLaunchLimit; ///< 0: none
};
std::unique_ptr<Device> createCpuDevice(const CpuDeviceOptions &options);

/// A GPU through the driver; an error sentence if there is no driver or device.
struct CudaDeviceOptions {
  int ordinal = 0;
  std::string cacheDirectory; ///< empty: no disk cache
};
llvm::Expected<std::unique_ptr<Device>> createCudaDevice(const CudaDeviceOptions &options);

} // namespace tile::runtime

#endif // TILE_RUNTIME_DEVICE_H
