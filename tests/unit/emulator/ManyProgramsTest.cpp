//===- ManyProgramsTest.cpp - what the emulator keeps is bounded ----------===//
#include "frontend/Parser.h"
#include "runtime/devices/EmuDevice.h"
#include "gtest/gtest.h"
#include <cstdio>
#include <unistd.h>

using namespace tile;
using namespace tile::runtime;

namespace {

const char *source = R"py(
import triton
import triton.language as tl

@triton.jit
def store(x: "*fp32:16", n: tl.constexpr):
    tl.store(x + tl.arange(0, 128), n)
)py";

long residentBytes() {
  long pages = 0, resident = 0;
  if (FILE *file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%ld %ld", &pages, &resident) != 2)
      resident = 0;
    std::fclose(file);
  }
  return resident * sysconf(_SC_PAGESIZE);
}

// What was freed AddressSanitizer keeps for a while.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KEPT_BY_SANITIZER (256l << 20)
#endif
#endif
#ifndef KEPT_BY_SANITIZER
#define KEPT_BY_SANITIZER 0
#endif

/// However small each is: nobody holds them, and a thousand are more than it keeps.
TEST(EmuDevice, ManyProgramsAreForgotten) {
  EmuDeviceOptions options;
  options.threads = 1;
  std::unique_ptr<Device> device = createEmuDevice(options);
  frontend::SourceFile file("store.tile", source);
  frontend::DiagnosticEngine diagnostics;
  ast::Module module = frontend::parse(file, diagnostics);
  long before = 0;
  for (int n = 0; n < 1000; ++n) {
    KernelRequest request{&file, &module, CompileOptions()};
    request.options.kernel = "store";
    request.options.constexprs = {{"n", std::to_string(n)}};
    request.options.target = device->target();
    ASSERT_TRUE(device->prepare(request, diagnostics)) << diagnostics.str();
    if (n == 0)
      before = residentBytes();
  }
  EXPECT_LT(residentBytes() - before, (512l << 20) + KEPT_BY_SANITIZER);
}

} // namespace
