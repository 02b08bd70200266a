//===- CountersTest.cpp - what `explain` foretells and what is counted ----===//
//
// Kernels without masks, whose every access is made: what the report says of a
// program from its layouts alone must be what the emulator counts in a run.
//
//===----------------------------------------------------------------------===//
#include "compiler/Explain.h"
#include "frontend/Parser.h"
#include "runtime/devices/EmuDevice.h"
#include "gtest/gtest.h"

using namespace tile;
using namespace tile::runtime;

namespace {

const char *source = R"py(
import triton
import triton.language as tl

@triton.jit
def copy(x: "*fp32:16", y: "*fp32:16", out: "*fp32:16", n: "i32:16", BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) + tl.load(y + i))

@triton.jit
def columns(x: "*fp32:16", y: "*fp32:16", out: "*fp32:16", n: "i32:16", BLOCK: tl.constexpr = 256):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i * 16, tl.load(x + i * 16) + tl.load(y + i))

@triton.jit
def transpose(x: "*fp32:16", y: "*fp32:16", out: "*fp32:16", n: "i32:16", BLOCK: tl.constexpr = 64):
    i, j = tl.arange(0, BLOCK), tl.arange(0, BLOCK)
    block = tl.load(x + tl.program_id(0) * BLOCK * BLOCK + i[:, None] * BLOCK + j[None, :])
    tl.store(out + tl.program_id(0) * BLOCK * BLOCK + i[:, None] * BLOCK + j[None, :], tl.trans(block))

@triton.jit
def softmax(x: "*fp32:16", y: "*fp32:16", out: "*fp32:16", n: "i32:16", BLOCK: tl.constexpr = 1024):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i)
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + i, e / tl.sum(e, 0))

@triton.jit
def sums(x: "*fp32:16", y: "*fp32:16", out: "*fp32:16", n: "i32:16", BLOCK: tl.constexpr = 512):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        acc += tl.load(x + start + i)
    tl.store(out + tl.program_id(0) * BLOCK + i, acc)

@triton.jit
def product(x: "*fp16:16", y: "*fp16:16", out: "*fp32:16", n: "i32:16", BLOCK: tl.constexpr = 64):
    i, j, k = tl.arange(0, BLOCK), tl.arange(0, BLOCK), tl.arange(0, 64)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, n, 64):
        a = tl.load(x + i[:, None] * n + start + k[None, :])
        b = tl.load(y + (start + k)[:, None] * BLOCK + j[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(out + tl.program_id(0) * BLOCK * BLOCK + i[:, None] * BLOCK + j[None, :], acc)
)py";

constexpr int32_t kN = 2048;
constexpr uint32_t kPrograms = 2;

struct Case {
  const char *kernel, *target;
  int warps;
};

class CountersAgree : public testing::TestWithParam<Case> {
protected:
  void SetUp() override {
    CompileOptions options;
    options.kernel = GetParam().kernel, options.target = GetParam().target;
    options.numWarps = GetParam().warps;
    // What programs have in common would be counted once.
    options.warpRoles = WarpRoles::Apart;
    CompileResult result;
    Compiler compiler;
    ExplainOptions explaining;
    explaining.compile = options;
    explaining.values["n"] = kN;
    ASSERT_TRUE(explain(compiler, file, explaining, result, told)) << result.diagnostics.str();

    EmuDeviceOptions device;
    device.counters = true, device.target = options.target;
    std::unique_ptr<EmuDevice> emulator = createEmuDevice(device);
    frontend::DiagnosticEngine diagnostics;
    ast::Module module = frontend::parse(file, diagnostics);
    auto kernel = emulator->prepare({&file, &module, options}, diagnostics);
    ASSERT_TRUE(kernel) << diagnostics.str();
    uint64_t arrays[3];
    for (uint64_t &array : arrays) {
      auto memory = emulator->allocate(1 << 20);
      ASSERT_TRUE(bool(memory));
      array = *memory;
      std::memset(reinterpret_cast<void *>(array), 0, 1 << 20);
    }
    const uint32_t grid[3] = {kPrograms, 1, 1};
    const void *arguments[] = {&arrays[0], &arrays[1], &arrays[2], &kN};
    auto ok = emulator->launch(*kernel, grid, arguments, diagnostics);
    ASSERT_TRUE(bool(ok)) << llvm::toString(ok.takeError());
    ASSERT_TRUE(*ok) << diagnostics.str();
    ASSERT_EQ(emulator->counters().size(), 1u);
    EXPECT_EQ(emulator->counters().begin()->second.launches, 1u);
    counted = emulator->counters().begin()->second.counters;
  }
  /// How often a program comes to a place.
  double times(const Explanation::Place &place) const {
    double n = 1;
    for (int loop = place.loop; loop >= 0; loop = told.loops[size_t(loop)].loop) {
      EXPECT_TRUE(told.loops[size_t(loop)].trips) << "the trip count must be known";
      n *= double(told.loops[size_t(loop)].trips.value_or(0));
    }
    return n;
  }
  /// The sum over all accesses of one kind that threads make themselves.
  template <class F> double sum(llvm::StringRef kind, F each) const {
    double total = 0;
    for (const Explanation::Access &a : told.accesses)
      if (a.kind == kind && a.path != "TMA")
        total += times(a) * each(a);
    return total;
  }
  void requestsAndSectors();
  void bytes();
  void bankConflicts();
  void matrixInstructions();
  frontend::SourceFile file{"counters.tile", source};
  Explanation told;
  emu::Counters counted;
};

void CountersAgree::requestsAndSectors() {
  int warps = GetParam().warps;
  auto requests = [&](const Explanation::Access &a) { return double(a.requests) * warps; };
  auto sectors = [&](const Explanation::Access &a) { return a.requests * warps * a.sectors; };
  EXPECT_EQ(counted.globalLoads, kPrograms * sum("load", requests));
  EXPECT_EQ(counted.globalStores, kPrograms * sum("store", requests));
  EXPECT_EQ(counted.globalLoadSectors, kPrograms * sum("load", sectors));
  EXPECT_EQ(counted.globalStoreSectors, kPrograms * sum("store", sectors));
}

void CountersAgree::bytes() {
  Work all = told.outside;
  for (const Explanation::Loop &loop : told.loops)
    all.add(loop.each, double(loop.trips.value_or(0)) * times(loop));
  EXPECT_EQ(counted.globalLoadBytes + counted.bulkLoadBytes, kPrograms * all.read);
  EXPECT_EQ(counted.globalStoreBytes + counted.bulkStoreBytes, kPrograms * all.written);
}

void CountersAgree::bankConflicts() {
  double wavefronts = 0;
  bool complete = true; // of reductions across warps only the bytes are foretold
  for (const Explanation::Exchange &e : told.exchanges) {
    wavefronts += times(e) * e.wavefronts;
    complete &= e.wavefronts > 0 || e.path != "shared memory";
  }
  for (const Explanation::Access &a : told.accesses)
    if (a.path == "cp.async") // nobody foretells them: no conflicts, by the choice of layout
      wavefronts += times(a) * a.bytes / 128;
  double seen = double(counted.sharedLoadWavefronts + counted.sharedStoreWavefronts);
  if (complete)
    EXPECT_EQ(seen, kPrograms * wavefronts);
  else
    EXPECT_GT(seen, kPrograms * wavefronts);
}

void CountersAgree::matrixInstructions() {
  double operations = 0, instructions = 0;
  for (const Explanation::Dot &d : told.dots) {
    unsigned m = 0, n = 0, k = 0;
    size_t at = d.instruction.find(".m");
    ASSERT_NE(at, std::string::npos) << d.instruction;
    ASSERT_EQ(std::sscanf(d.instruction.c_str() + at, ".m%un%uk%u", &m, &n, &k), 3);
    operations += times(d) * d.operations;
    instructions += times(d) * d.operations / (2.0 * m * n * k);
  }
  EXPECT_EQ(2 * counted.multiplyAdds, kPrograms * operations);
  EXPECT_EQ(counted.mmas, kPrograms * instructions);
}

TEST_P(CountersAgree, WithWhatIsForetold) {
  requestsAndSectors();
  bytes();
  bankConflicts();
  matrixInstructions();
}

const Case cases[] = {
    {"copy", "sm_80", 4},      {"copy", "sm_90a", 8},      {"columns", "sm_90a", 4},
    {"transpose", "sm_80", 4}, {"transpose", "sm_90a", 8}, {"softmax", "sm_90a", 4},
    {"sums", "sm_90a", 4},     {"product", "sm_75", 4},    {"product", "sm_80", 4},
    {"product", "sm_90a", 4},
};

INSTANTIATE_TEST_SUITE_P(Emu, CountersAgree, testing::ValuesIn(cases), [](const auto &info) {
  return std::string(info.param.kernel) + "_" + info.param.target + "_" +
         std::to_string(info.param.warps);
});

} // namespace
