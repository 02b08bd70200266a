//===- EmuTest.h - small hand-written kernels on the emulator -------------===//
#ifndef TILE_TESTS_UNIT_EMULATOR_EMUTEST_H
#define TILE_TESTS_UNIT_EMULATOR_EMUTEST_H

#include "emulator/Emulator.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"

namespace tile::emu {

/// A kernel `@k` of pointers to global memory, around the given LLVM IR. %tid is
/// the thread, @smem shared memory.
inline std::string kernel(const std::string &body, unsigned numPointers = 1,
                          const std::string &declarations = "",
                          const std::string &moreParameters = "") {
  std::string params;
  for (unsigned i = 0; i < numPointers; ++i)
    params += (i ? ", ptr addrspace(1) %p" : "ptr addrspace(1) %p") + std::to_string(i);
  params += moreParameters;
  return "target datalayout = \"e-p3:32:32-p4:32:32-p5:32:32-p6:32:32-p7:32:32-i64:64-i128:128-"
         "i256:256-v16:16-v32:32-n16:32:64\"\n"
         "target triple = \"nvptx64-nvidia-cuda\"\n"
         "@smem = external addrspace(3) global [0 x i8], align 16\n"
         "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n"
         "declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32)\n" +
         declarations + "\ndefine ptx_kernel void @k(" + params +
         ") {\n  %tid = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n" + body + "\n}\n";
}

/// `text` with its first occurrence of `what` replaced.
inline std::string without(std::string text, const std::string &what,
                           const std::string &with = "") {
  size_t at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), with);
}

/// Buffers and one launch.
struct Bench {
  explicit Bench(const std::string &ir, const LoadOptions &options = {}) {
    program = Program::load(ir, options, error);
    EXPECT_TRUE(program) << error;
  }
  template <class T> T *buffer(std::vector<T> &v) {
    memory.push_back({reinterpret_cast<uint64_t>(v.data()), v.size() * sizeof(T)});
    return v.data();
  }
  /// The kernel's parameters are the buffers, in order.
  Report run(uint32_t threads = 32, uint32_t sharedBytes = 0, RunOptions options = {}) {
    LaunchConfig config = launch;
    config.threads = threads;
    config.sharedBytes = sharedBytes;
    std::vector<uint64_t> values;
    for (const MemoryRange &r : memory)
      values.push_back(r.base);
    for (const uint64_t &v : values)
      config.parameters.push_back(&v);
    for (const void *p : aggregates)
      config.parameters.push_back(p);
    config.memory = memory;
    std::sort(config.memory.begin(), config.memory.end(),
              [](const MemoryRange &a, const MemoryRange &b) { return a.base < b.base; });
    return program ? program->run(config, options) : Report();
  }
  /// In the default order and in some random ones; the reports must agree on
  /// being clean or not.
  void expectClean(uint32_t threads = 32, uint32_t sharedBytes = 0) {
    Report report = run(threads, sharedBytes);
    EXPECT_TRUE(report.ok()) << report.str();
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      RunOptions options;
      options.seed = seed;
      report = run(threads, sharedBytes, options);
      EXPECT_TRUE(report.ok()) << "seed " << seed << ": " << report.str();
    }
  }
  void expectFinding(FindingKind kind, uint32_t threads = 32, uint32_t sharedBytes = 0) {
    Report report = run(threads, sharedBytes);
    EXPECT_TRUE(report.has(kind)) << "no " << name(kind).str() << " in: " << report.str();
  }

  std::unique_ptr<Program> program;
  std::string error;
  std::vector<MemoryRange> memory;
  std::vector<const void *> aggregates;
  LaunchConfig launch;
};

} // namespace tile::emu

#endif // TILE_TESTS_UNIT_EMULATOR_EMUTEST_H
