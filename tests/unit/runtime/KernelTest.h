//===- KernelTest.h - kernels on the fake driver ---------------------------===//
#ifndef TILE_TESTS_UNIT_RUNTIME_KERNELTEST_H
#define TILE_TESTS_UNIT_RUNTIME_KERNELTEST_H

#include "TestSupport.h"

namespace tile::test {

class KernelTest : public FakeDriverTest {
protected:
  std::shared_ptr<LoadedKernel> load(CompiledKernel kernel) {
    return valueOf(LoadedKernel::load(share(std::move(kernel)), primary()));
  }
  ErrorParts loadError(CompiledKernel kernel) {
    return errorOf(LoadedKernel::load(share(std::move(kernel)), primary()));
  }
  /// scale(pointer, n, factor), the usual kernel.
  CompiledKernel scale() {
    return makeKernel({argument(0, "ptr"), argument(1, "i32"), argument(2, "fp32")});
  }
  const fakecuda::Launch &last() { return cuda.launches.back(); }
  static constexpr uint32_t one[3] = {1, 1, 1};

  uint64_t pointer = 0x1000;
  int32_t n = 77;
  float factor = 1.5f;
  const void *arguments[3] = {&pointer, &n, &factor};
};

} // namespace tile::test

#endif // TILE_TESTS_UNIT_RUNTIME_KERNELTEST_H
