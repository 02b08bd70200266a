//===- TestSupport.h - the fake driver, opened as the real one is ---------===//
#ifndef TILE_TESTS_RUNTIME_TESTSUPPORT_H
#define TILE_TESTS_RUNTIME_TESTSUPPORT_H

#include "CountAllocations.h"
#include "FakeCuda.h"
#include "runtime/Context.h"
#include "runtime/Kernel.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tile::test {
using namespace tile::runtime;
using testing::HasSubstr;

/// The parts of the error that `value` holds; fails the test if it holds none.
template <typename T> ErrorParts errorOf(llvm::Expected<T> value) {
  if (value) {
    ADD_FAILURE() << "expected an error";
    return {};
  }
  return takeError(value.takeError());
}
inline ErrorParts errorOf(llvm::Error error) {
  EXPECT_TRUE(static_cast<bool>(error)) << "expected an error";
  return takeError(std::move(error));
}

/// The value, or a failed test that shows the error.
template <typename T> T valueOf(llvm::Expected<T> value) {
  if (value)
    return std::move(*value);
  ADD_FAILURE() << llvm::toString(value.takeError());
  std::abort();
}
inline void expectSuccess(llvm::Error error) {
  if (error)
    ADD_FAILURE() << llvm::toString(std::move(error));
}

/// One fake driver for the process, set back before each test; what a test
/// leaves alive is a leak.
class FakeDriverTest : public testing::Test {
protected:
  FakeDriverTest() : cuda(*control()), api(*driver()) { cuda.reset(); }
  ~FakeDriverTest() override {
    EXPECT_EQ(cuda.allocatedBytes, 0u) << "device memory leaked";
    EXPECT_EQ(cuda.liveModules, 0) << "modules leaked";
    EXPECT_EQ(cuda.liveLinks, 0) << "linkers leaked";
    EXPECT_EQ(cuda.liveEvents, 0) << "events leaked";
    EXPECT_EQ(cuda.liveStreams, 0) << "streams leaked";
    EXPECT_EQ(cuda.retainedPrimaries, 0) << "primary contexts leaked";
    EXPECT_EQ(currentContext(), nullptr) << "a context was left current";
  }
  tile::cuda::Context currentContext() {
    tile::cuda::Context context = nullptr;
    (void)api.cuCtxGetCurrent(&context);
    return context;
  }
  static fakecuda::Control *control() {
    static void *library = dlopen(FAKE_CUDA_LIBRARY, RTLD_NOW);
    auto *function = reinterpret_cast<fakecuda::Control *(*)()>(dlsym(library, "fakeCudaControl"));
    return function();
  }
  static tile::cuda::CudaApi *driver() {
    static std::unique_ptr<tile::cuda::CudaApi> opened =
        valueOf(tile::cuda::CudaApi::open(FAKE_CUDA_LIBRARY));
    return opened.get();
  }
  std::shared_ptr<Context> primary(int ordinal = 0) {
    return valueOf(Context::primary(api, ordinal));
  }
  /// `launch`, which returns an error, has been called before with the same arguments.
  template <typename Launch> void expectNoAllocationAndNoLock(Launch launch) {
    cuda.quiet = true;
    Counts before = counts();
    for (int i = 0; i < 100; ++i)
      expectSuccess(launch());
    Counts after = counts();
    cuda.quiet = false;
    EXPECT_EQ(cuda.quietLaunches, 100u);
    cuda.quietLaunches = 0;
    EXPECT_EQ(after.news, before.news);
    EXPECT_EQ(after.mallocs, before.mallocs);
    EXPECT_EQ(after.locks, before.locks);
  }

  fakecuda::Control &cuda;
  tile::cuda::CudaApi &api;
};

/// A folder that goes with the test.
struct TemporaryFolder {
  llvm::SmallString<128> path;
  TemporaryFolder() {
    if (llvm::sys::fs::createUniqueDirectory("tile-test", path) ||
        llvm::sys::fs::setPermissions(path, llvm::sys::fs::owner_all))
      std::abort();
  }
  ~TemporaryFolder() { llvm::sys::fs::remove_directories(path); }
};

inline KernelParameter argument(int index, const char *type, std::vector<int> path = {}) {
  KernelParameter parameter;
  parameter.index = index;
  parameter.type = type;
  parameter.path = std::move(path);
  return parameter;
}

/// A kernel as the compiler would make it, with `parameters` as its `.param`s.
inline CompiledKernel makeKernel(std::vector<KernelParameter> parameters,
                                 llvm::StringRef name = "scale") {
  CompiledKernel kernel;
  kernel.metadata.entry = name.str();
  kernel.metadata.target = "sm_90a";
  kernel.metadata.params = parameters;
  kernel.ptx = ".version 8.0\n.target sm_90a\n.visible .entry " + name.str() + "(\n";
  for (const KernelParameter &parameter : parameters) {
    if (parameter.kind == KernelParameter::Kind::TensorMap) {
      kernel.ptx += "  .param .align 64 .b8 p[128],\n";
      continue;
    }
    unsigned bytes = parameter.type.empty() ? 8 : parameterBytes(parameter.type);
    kernel.ptx += "  .param .b" + std::to_string(bytes * 8) + " p,\n";
  }
  kernel.ptx += ")\n{ ret; }\n";
  return kernel;
}

inline std::shared_ptr<const CompiledKernel> share(CompiledKernel kernel) {
  return std::make_shared<const CompiledKernel>(std::move(kernel));
}

/// The bytes of a value, as the fake driver records parameters.
template <typename T> std::string bytesOf(T value) {
  return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

} // namespace tile::test

#endif // TILE_TESTS_RUNTIME_TESTSUPPORT_H
