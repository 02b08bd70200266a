//===- MockDevice.h - a device whose kernels are C++ functions ------------===//
//
// Records what was asked of it, and runs `launch` callbacks by kernel name.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TESTS_UNIT_HOST_MOCKDEVICE_H
#define TILE_TESTS_UNIT_HOST_MOCKDEVICE_H

#include "frontend/Parser.h"
#include "frontend/eval/Eval.h"
#include "runtime/host/Suite.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <set>

namespace tile::host {

class MockKernel : public runtime::Kernel {
public:
  explicit MockKernel(CompileOptions options) : options(std::move(options)) {}
  const KernelMetadata &metadata() const override { return data; }
  CompileOptions options;
  KernelMetadata data;
};

class MockDevice : public runtime::Device {
public:
  using Body = std::function<void(const CompileOptions &, const runtime::LaunchConfig &)>;
  std::map<std::string, Body> bodies;
  std::vector<CompileOptions> prepared;
  std::vector<std::pair<std::string, runtime::LaunchConfig>> launches;
  CompileOptions launched;                                      ///< of the last launch
  std::map<std::string, double> timeOf;                         ///< by the value of constexpr BLOCK
  std::set<std::string> tooLarge;                               ///< likewise: what does not fit
  std::function<double(const CompileOptions &)> millisecondsOf; ///< instead of these, if given
  bool cpu = true;
  std::string called; ///< its name, if it is to have another one
  int live = 0, copies = 0;
  std::string failure; ///< of the next launch

  ~MockDevice() override { EXPECT_EQ(live, 0) << "device memory leaked"; }
  std::string name() const override { return !called.empty() ? called : cpu ? "cpu" : "cuda:0"; }
  std::string description() const override { return "mock"; }
  std::string target() const override { return "sm_90a"; }
  bool isCpu() const override { return cpu; }
  unsigned multiprocessorCount() const override { return 7; }
  llvm::Expected<runtime::DevicePtr> allocate(uint64_t bytes) override {
    if (bytes > uint64_t(1) << 32)
      return llvm::createStringError("out of memory");
    ++live;
    return reinterpret_cast<runtime::DevicePtr>(std::aligned_alloc(256, (bytes + 255) / 256 * 256));
  }
  llvm::Error free(runtime::DevicePtr p) override {
    --live;
    std::free(at(p));
    return llvm::Error::success();
  }
  llvm::Error upload(runtime::DevicePtr to, const void *from, uint64_t bytes) override {
    std::memcpy(at(to), from, bytes);
    return llvm::Error::success();
  }
  llvm::Error download(void *to, runtime::DevicePtr from, uint64_t bytes) override {
    std::memcpy(to, at(from), bytes);
    return llvm::Error::success();
  }
  llvm::Error fill(runtime::DevicePtr to, uint8_t byte, uint64_t bytes) override {
    std::memset(at(to), byte, bytes);
    return llvm::Error::success();
  }
  llvm::Error copy(runtime::DevicePtr to, runtime::DevicePtr from, uint64_t bytes) override {
    ++copies;
    std::memcpy(at(to), at(from), bytes);
    return llvm::Error::success();
  }
  llvm::Error poison(runtime::DevicePtr to, uint8_t byte, uint64_t bytes) override {
    return fill(to, byte, bytes);
  }
  std::unique_ptr<runtime::Kernel> prepare(const runtime::KernelRequest &request,
                                           frontend::DiagnosticEngine &diagnostics) override {
    std::lock_guard<std::mutex> lock(mutex);
    for (auto &[name, value] : request.options.constexprs)
      if (name == "BLOCK" && tooLarge.count(value)) {
        diagnostics.error(nullptr, {}, "too much shared memory");
        return nullptr;
      }
    if (!bodies.count(request.options.kernel)) {
      diagnostics.error(request.file, {0, 1}, "cannot compile this");
      return nullptr;
    }
    prepared.push_back(request.options);
    return std::make_unique<MockKernel>(request.options);
  }
  bool launch(runtime::Kernel &kernel, const runtime::LaunchConfig &config,
              frontend::DiagnosticEngine &diagnostics) override {
    const CompileOptions &options = static_cast<MockKernel &>(kernel).options;
    launches.emplace_back(options.kernel, config);
    launched = options;
    if (!failure.empty()) {
      diagnostics.error(nullptr, {}, failure);
      return false;
    }
    bodies[options.kernel](options, config);
    return true;
  }
  llvm::Error synchronize() override { return llvm::Error::success(); }
  llvm::Expected<runtime::Timing> time(llvm::function_ref<bool()> body,
                                       const runtime::TimingOptions &) override {
    for (int i = 0; i < 3; ++i)
      if (!body())
        return llvm::createStringError("gave up");
    double ms = millisecondsOf ? millisecondsOf(launched) : 1;
    for (auto &[name, value] : launched.constexprs)
      if (name == "BLOCK" && timeOf.count(value))
        ms = timeOf[value];
    return runtime::Timing{ms, ms, ms, 3, {ms, ms, ms}};
  }
  static void *at(runtime::DevicePtr p) { return reinterpret_cast<void *>(p); }

private:
  std::mutex mutex; ///< kernels are prepared from several threads
};

/// A file with a session on a mock device. `add` adds fp32 vectors.
class HostFile {
public:
  explicit HostFile(std::string text, std::string cacheFolder = "")
      : file("test.tile", prelude + std::move(text)), module(frontend::parse(file, diagnostics)),
        session(device, {}, std::move(cacheFolder)) {
    EXPECT_FALSE(diagnostics.hasErrors()) << diagnostics.str();
    env = &program.add(file, module);
    suite = std::make_unique<Suite>(program, *env, session);
    session.output = &output;
    device.bodies["add"] = [](const CompileOptions &, const runtime::LaunchConfig &config) {
      auto *x = static_cast<float *>(MockDevice::at(config.args[0].bits));
      auto *y = static_cast<float *>(MockDevice::at(config.args[1].bits));
      auto *out = static_cast<float *>(MockDevice::at(config.args[2].bits));
      for (uint64_t i = 0; i < config.args[3].bits; ++i)
        out[i] = x[i] + y[i];
    };
  }

  /// str() of a global, or "Type: message".
  std::string get(llvm::StringRef name) { return show(env->lookup(name)); }
  std::string call(llvm::StringRef name) {
    Result function = env->lookup(name);
    return function ? show(program.evaluator().call(*function, {})) : show(function);
  }
  static std::string show(const Result &result) {
    return result ? eval::repr(*result)
                  : result.error().type + ": " + result.error().diagnostic.message;
  }
  std::vector<FunctionResult> run(Purpose purpose, std::vector<std::string> names = {},
                                  std::vector<std::pair<std::string, PyValue>> overrides = {}) {
    SuiteObserver observer;
    std::vector<FunctionResult> results;
    auto error = suite->run(purpose, names, overrides, observer, results);
    if (error)
      requestError = error->diagnostic.message;
    return results;
  }

  static inline const std::string prelude = R"(
import math
import tile
import triton
import triton.language as tl
@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr = 128):
    pass
)";
  frontend::DiagnosticEngine diagnostics;
  frontend::SourceFile file;
  ast::Module module;
  MockDevice device; ///< outlives the tensors of `program`
  std::string outputText, requestError;
  llvm::raw_string_ostream output{outputText};
  eval::Program program;
  eval::ModuleEnv *env;
  Session session;
  std::unique_ptr<Suite> suite;
};

/// repr of one expression, or its error.
inline std::string evaluate(const std::string &expr) {
  HostFile file("def f():\n    return " + expr + "\n");
  return file.call("f");
}

} // namespace tile::host

#endif // TILE_TESTS_UNIT_HOST_MOCKDEVICE_H
