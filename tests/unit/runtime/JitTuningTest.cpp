//===- JitTuningTest.cpp - configurations and heuristics of files ---------===//
//
// Through tile/jit.h on the mock compiler and the fake driver, whose clock says how long each
// kernel takes: configurations have kernels that are named by their warps.
//
//===----------------------------------------------------------------------===//
#include "CountAllocations.h"
#include "FakeCuda.h"
#include "MockCompiler.h"
#include "TestSupport.h"
#include "tile/jit.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>

using namespace tile::test;
using testing::ElementsAre;
using testing::UnorderedElementsAre;

namespace {

// Named by warps.
const char *const source = R"(# named by warps
import triton
import triton.language as tl

@triton.autotune(
    configs=[triton.Config({"BLOCK": 64}, num_warps=2),
             triton.Config({"BLOCK": 128}, num_warps=4),
             triton.Config({"BLOCK": 256}, num_warps=8)],
    key=["n"])
@triton.heuristics({"EVEN": lambda args: args["n"] % args["BLOCK"] == 0})
@triton.jit
def add(x, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    pass

def add_grid(args):
    return (triton.cdiv(args["n"], args["BLOCK"]),)

def few(configs, named_args, **kwargs):
    return [c for c in configs if c.kwargs["BLOCK"] <= named_args["n"]]

@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2),
                          triton.Config({"BLOCK": 128}, num_warps=4),
                          triton.Config({"BLOCK": 256}, num_warps=8)],
                 key=["n"], prune_configs_by={"early_config_prune": few,
                 "perf_model": lambda n, BLOCK, **rest: -BLOCK, "top_k": 2})
@triton.jit
def pruned(x, n, BLOCK: tl.constexpr):
    pass

@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2),
                          triton.Config({"BLOCK": 128}, num_warps=4)],
                 key=[], reset_to_zero=["x"])
@triton.jit
def zeroed(x, BLOCK: tl.constexpr):
    pass

@triton.heuristics({"P2": lambda args: triton.next_power_of_2(args["n"]),
                    "HAS": lambda args: args["b"] is not None})
@triton.jit
def computed(x, b, n, P2: tl.constexpr, HAS: tl.constexpr):
    pass
)";

class JitTuningTest : public testing::Test {
protected:
  JitTuningTest() {
    cuda.reset();
    mockSignatures().clear();
    mockCompilations = 0;
    tile_compiler_options_init(&compilerOptions);
    compilerOptions.cache_dir = "";
    compilerOptions.callback = note;
    compilerOptions.callback_user = &choices;
    tile_compile_options_init(&compile);
    tile_jit_options_init(&options);
    options.compile = &compile;
    time(2, 4, 3);
  }
  ~JitTuningTest() override { close(); }

  void time(double two, double four, double eight) {
    cuda.kernelMilliseconds = {{"add_2", two}, {"add_4", four}, {"add_8", eight}};
  }
  static void note(void *user, const tile_event *event) {
    if (event->kind == TILE_EVENT_TUNE)
      static_cast<std::vector<std::string> *>(user)->push_back(event->message);
  }
  void close() {
    tile_jit_destroy(jit);
    tile_compiler_destroy(compiler);
    jit = nullptr;
    compiler = nullptr;
  }
  tile_status create(const char *kernel, const char *text = source) {
    close();
    choices.clear();
    EXPECT_EQ(tile_compiler_create(&compilerOptions, &compiler), TILE_OK);
    compile.kernel = kernel;
    return tile_jit_create_buffer(compiler, "k.tile", text, strlen(text), &options, &jit);
  }
  tile_status launch(std::vector<tile_value> values, const uint32_t *grid = nullptr) {
    return tile_jit_launch(jit, nullptr, grid, values.data(), values.size(), nullptr);
  }
  static tile_value x() { return tile_pointer(reinterpret_cast<void *>(256), TILE_FP32); }
  std::string best(std::vector<tile_value> values) {
    const char *text = nullptr;
    EXPECT_EQ(tile_jit_best_config(jit, values.data(), values.size(), &text), TILE_OK)
        << tile_last_error();
    return text ? text : "";
  }
  std::string in(const char *name) const { return folder.path.str().str() + "/" + name; }
  static std::string read(const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "";
  }

  TemporaryFolder folder;
  fakecuda::Control &cuda = *fakeCudaControl();
  tile_compiler_options compilerOptions;
  tile_compile_options compile;
  tile_jit_options options;
  tile_compiler *compiler = nullptr;
  tile_jit *jit = nullptr;
  std::vector<std::string> choices;
};

TEST_F(JitTuningTest, FastestWinsAndIsSaid) {
  ASSERT_EQ(create("add"), TILE_OK) << tile_last_error();
  time(5, 4, 3);
  ASSERT_EQ(launch({x(), tile_int(512)}), TILE_OK) << tile_last_error();
  EXPECT_EQ(cuda.launches.back().kernel, "add_8");
  EXPECT_THAT(cuda.launches.back().grid, ElementsAre(2, 1, 1)) << "that of its block";
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_THAT(choices[0], HasSubstr("BLOCK: 256, num_warps: 8, num_stages: 3 (3"));
  EXPECT_THAT(choices[0], HasSubstr("the fastest of 3"));
  EXPECT_EQ(best({x(), tile_int(512)}), "BLOCK: 256, num_warps: 8, num_stages: 3");

  // Another value of the key is another choice; alignment is none.
  time(1, 4, 3);
  ASSERT_EQ(launch({x(), tile_int(100)}), TILE_OK);
  EXPECT_EQ(cuda.launches.back().kernel, "add_2");
  ASSERT_EQ(launch({tile_pointer(reinterpret_cast<void *>(8), TILE_FP32), tile_int(512)}), TILE_OK);
  EXPECT_EQ(cuda.launches.back().kernel, "add_8");
  EXPECT_EQ(choices.size(), 2u);
  ASSERT_EQ(launch({tile_pointer(reinterpret_cast<void *>(256), TILE_FP16), tile_int(512)}),
            TILE_OK);
  EXPECT_EQ(choices.size(), 3u) << "the type of a tensor is";
}

TEST_F(JitTuningTest, HeuristicsFollowTheConfiguration) {
  ASSERT_EQ(create("add"), TILE_OK);
  time(5, 4, 3);
  ASSERT_EQ(launch({x(), tile_int(256 + 64)}), TILE_OK) << tile_last_error();
  EXPECT_THAT(mockSignatures(), testing::IsSupersetOf({"*fp32:16,i32:16|BLOCK=64 EVEN=true",
                                                       "*fp32:16,i32:16|BLOCK=128 EVEN=false",
                                                       "*fp32:16,i32:16|BLOCK=256 EVEN=false"}));
}

TEST_F(JitTuningTest, HeuristicsAlone) {
  ASSERT_EQ(create("computed"), TILE_OK) << tile_last_error();
  const uint32_t grid[3] = {1, 1, 1};
  ASSERT_EQ(launch({x(), tile_none(), tile_int(100)}, grid), TILE_OK) << tile_last_error();
  EXPECT_EQ(mockSignatures().back(), "*fp32:16,none,i32|P2=128 HAS=false");
  ASSERT_EQ(launch({x(), x(), tile_int(101)}, grid), TILE_OK);
  EXPECT_EQ(mockSignatures().back(), "*fp32:16,*fp32:16,i32|P2=128 HAS=true");
  ASSERT_EQ(launch({x(), x(), tile_int(102)}, grid), TILE_OK);
  EXPECT_EQ(mockSignatures().size(), 2u) << "what they compute is the same";
  EXPECT_EQ(launch({x(), x(), tile_float(1)}, grid), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("the heuristic `P2` of `computed` cannot be computed"));
  EXPECT_EQ(best({x(), x(), tile_int(102)}), "");
}

TEST_F(JitTuningTest, WarmLaunchesNeitherAllocateNorLock) {
  ASSERT_EQ(create("add"), TILE_OK);
  const tile_value values[] = {x(), tile_int(512)};
  ASSERT_EQ(tile_jit_launch(jit, nullptr, nullptr, values, 2, nullptr), TILE_OK);
  tile_compiler_destroy(compiler); // its callback would be told of launches
  compiler = nullptr;
  compilerOptions.callback = nullptr;
  ASSERT_EQ(create("add"), TILE_OK);
  ASSERT_EQ(tile_jit_launch(jit, nullptr, nullptr, values, 2, nullptr), TILE_OK);
  cuda.quiet = true;
  Counts before = counts();
  for (int i = 0; i < 100; ++i)
    if (tile_jit_launch(jit, nullptr, nullptr, values, 2, nullptr) != TILE_OK)
      ADD_FAILURE();
  Counts after = counts();
  cuda.quiet = false;
  EXPECT_EQ(after.news, before.news);
  EXPECT_EQ(after.mallocs, before.mallocs);
  EXPECT_EQ(after.locks, before.locks);
}

TEST_F(JitTuningTest, PruningAsTheFileSays) {
  ASSERT_EQ(create("pruned"), TILE_OK) << tile_last_error();
  const uint32_t grid[3] = {1, 1, 1};
  ASSERT_EQ(launch({x(), tile_int(64)}, grid), TILE_OK) << tile_last_error();
  EXPECT_THAT(choices.back(), HasSubstr("BLOCK: 64, num_warps: 2, num_stages: 3 (the only one"));
  mockSignatures().clear();
  ASSERT_EQ(launch({x(), tile_int(512)}, grid), TILE_OK) << tile_last_error();
  EXPECT_THAT(mockSignatures(),
              UnorderedElementsAre("*fp32:16,i32:16|BLOCK=256", "*fp32:16,i32:16|BLOCK=128"))
      << "the two that the model ranks first";
  EXPECT_EQ(launch({x(), tile_int(8)}, grid), TILE_COMPILE_ERROR);
  EXPECT_THAT(tile_last_error(), HasSubstr("`early_config_prune` has to return a list"));
}

TEST_F(JitTuningTest, WithoutTimingTheFirstThatWorksIsTaken) {
  options.no_timing = 1;
  time(9, 1, 1);
  ASSERT_EQ(create("add"), TILE_OK);
  ASSERT_EQ(launch({x(), tile_int(512)}), TILE_OK) << tile_last_error();
  EXPECT_EQ(cuda.launches.size(), 1u) << "nothing was launched to be timed";
  EXPECT_EQ(cuda.launches.back().kernel, "add_2");
  EXPECT_THAT(choices.back(), HasSubstr("the first that works, not timed"));
  ASSERT_EQ(create("zeroed"), TILE_OK);
  const uint32_t grid[3] = {1, 1, 1};
  EXPECT_EQ(launch({x()}, grid), TILE_OK);
  options.no_timing = 0;
  ASSERT_EQ(create("zeroed"), TILE_OK);
  EXPECT_EQ(launch({x()}, grid), TILE_UNSUPPORTED);
  EXPECT_THAT(tile_last_error(), HasSubstr("`@triton.autotune` has `reset_to_zero`, which needs"));
}

TEST_F(JitTuningTest, TheCostModelChoosesWhereNothingIsTimed) {
  mockEstimates = {{2, 3e-3}, {4, 1e-3}, {8, 2e-3}};
  options.no_timing = 1;
  ASSERT_EQ(create("add"), TILE_OK);
  ASSERT_EQ(launch({x(), tile_int(512)}), TILE_OK) << tile_last_error();
  EXPECT_EQ(cuda.launches.back().kernel, "add_4");
  EXPECT_EQ(cuda.launches.size(), 1u);
  EXPECT_THAT(choices.back(), HasSubstr("the first of 3 by the cost model, about 1.0000 ms"));
  // The author's own model counts more.
  const uint32_t grid[3] = {1, 1, 1};
  ASSERT_EQ(create("pruned"), TILE_OK);
  ASSERT_EQ(launch({x(), tile_int(512)}, grid), TILE_OK) << tile_last_error();
  EXPECT_EQ(best({x(), tile_int(512)}), "BLOCK: 256, num_warps: 8, num_stages: 3");
  // Timed, the model has no say among so few.
  mockEstimates = {{2, 1e-3}, {4, 1e-3}, {8, 2e-3}};
  options.no_timing = 0;
  time(5, 4, 3);
  ASSERT_EQ(create("add"), TILE_OK);
  ASSERT_EQ(launch({x(), tile_int(512)}), TILE_OK);
  EXPECT_EQ(cuda.launches.back().kernel, "add_8");
  EXPECT_THAT(choices.back(), HasSubstr("the cost model's first takes 5"));
  mockEstimates.clear();
}

TEST_F(JitTuningTest, ConfigurationsOfTheCompiler) {
  const char *const text = R"(# named by warps
import triton
import triton.language as tl
@triton.autotune(configs="auto", key=["n"])
@triton.jit
def add(x, n, HEAD: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(1) * HEAD + tl.arange(0, HEAD)
def add_grid(args):
    return (triton.cdiv(args["n"], args["BLOCK"]),)
)";
  mockEstimates = {{4, 2e-3}, {8, 1e-3}, {16, 3e-3}};
  options.no_timing = 1;
  const tile_constexpr head = {"HEAD", "64"};
  compile.constexprs = &head;
  compile.num_constexprs = 1;
  ASSERT_EQ(create("add", text), TILE_OK) << tile_last_error();
  ASSERT_EQ(launch({x(), tile_int(8192)}), TILE_OK) << tile_last_error();
  EXPECT_EQ(cuda.launches.back().kernel, "add_8");
  EXPECT_EQ(best({x(), tile_int(8192)}), "BLOCK: 1024, num_warps: 8, num_stages: 3");
  EXPECT_THAT(cuda.launches.back().grid, ElementsAre(8, 1, 1)) << "that of its block";
  mockEstimates.clear();
  compile.num_constexprs = 0;
  EXPECT_NE(create("add", "import triton\n@triton.autotune(configs='most', key=[])\n@triton.jit\n"
                          "def add(x): pass\n"),
            TILE_OK);
  EXPECT_THAT(tile_last_error(),
              HasSubstr("`configs` is a list of `triton.Config` or \"auto\", got 'most'"));
}

TEST_F(JitTuningTest, RecordsInAFileOfLines) {
  std::string file = in("tuning.jsonl");
  options.tuning_file = file.c_str();
  time(5, 4, 3);
  ASSERT_EQ(create("add"), TILE_OK);
  ASSERT_EQ(launch({x(), tile_int(512)}), TILE_OK);
  std::string text = read(file);
  EXPECT_THAT(text, HasSubstr("\"best\":\"BLOCK: 256, num_warps: 8, num_stages: 3\""));
  EXPECT_THAT(text, HasSubstr("\"kernel\":\"add\""));
  EXPECT_THAT(text, HasSubstr("\"key\":\"n=512, x: *fp32\""));
  EXPECT_THAT(text, HasSubstr("\"device\":\"Fake GPU 0, 132 SMs\""));
  EXPECT_THAT(text, HasSubstr("\"target\":\"sm_90a\""));
  EXPECT_EQ(llvm::StringRef(text).count('\n'), 1u);

  // Another process goes by it, and times nothing.
  time(1, 4, 3);
  cuda.launches.clear();
  ASSERT_EQ(create("add"), TILE_OK);
  ASSERT_EQ(launch({x(), tile_int(512)}), TILE_OK);
  EXPECT_EQ(cuda.launches.size(), 1u);
  EXPECT_EQ(cuda.launches.back().kernel, "add_8");
  EXPECT_THAT(choices.back(), HasSubstr("on record"));
  // A person may say otherwise: what stands last counts. Other lines do no harm.
  std::error_code code;
  std::string edited = text;
  size_t at = edited.find("\"BLOCK: 64, num_warps: 2, num_stages: 3\":5");
  ASSERT_NE(at, std::string::npos) << text;
  edited[at + strlen("\"BLOCK: 64, num_warps: 2, num_stages: 3\":")] = '0';
  llvm::raw_fd_ostream(file, code) << text << "# by hand\nnonsense\n\n" << edited;
  ASSERT_EQ(create("add"), TILE_OK);
  ASSERT_EQ(launch({x(), tile_int(512)}), TILE_OK);
  EXPECT_EQ(cuda.launches.back().kernel, "add_2");
  // A line by hand may say what is best and no more.
  llvm::raw_fd_ostream(file, code)
      << R"({"kernel":"add","key":"n=512, x: *fp32","device":"Fake GPU 0, 132 SMs",)"
      << R"("best":"BLOCK: 128, num_warps: 4, num_stages: 3"})" << '\n';
  ASSERT_EQ(create("add"), TILE_OK);
  ASSERT_EQ(launch({x(), tile_int(512)}), TILE_OK);
  EXPECT_EQ(cuda.launches.back().kernel, "add_4");
  EXPECT_THAT(choices.back(), HasSubstr("(on record)"));
  llvm::raw_fd_ostream(file, code) << text;
  // A record of another source does not count.
  std::string changed = std::string(source) + "# changed\n";
  ASSERT_EQ(create("add", changed.c_str()), TILE_OK);
  ASSERT_EQ(launch({x(), tile_int(512)}), TILE_OK);
  EXPECT_THAT(choices.back(), HasSubstr("the fastest of 3"));
}

/// Two kernels with the same list and the same key, in one file: each has its own record.
TEST_F(JitTuningTest, KernelsOfAFileAreToldApart) {
  std::string cache = in("cache");
  const char *const text = R"(# named by warps
import triton
import triton.language as tl
configs = [triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128}, num_warps=4)]
@triton.autotune(configs=configs, key=["n"])
@triton.jit
def add(x, n, BLOCK: tl.constexpr):
    pass
@triton.autotune(configs=configs, key=["n"])
@triton.jit
def sub(x, n, BLOCK: tl.constexpr):
    pass
)";
  compilerOptions.cache_dir = cache.c_str();
  cuda.kernelMilliseconds = {{"add_2", 1}, {"add_4", 2}, {"sub_2", 2}, {"sub_4", 1}};
  const uint32_t grid[3] = {1, 1, 1};
  for (auto [kernel, best] : {std::pair("add", "add_2"), std::pair("sub", "sub_4")}) {
    ASSERT_EQ(create(kernel, text), TILE_OK) << tile_last_error();
    ASSERT_EQ(launch({x(), tile_int(512)}, grid), TILE_OK) << tile_last_error();
    EXPECT_EQ(cuda.launches.back().kernel, best);
  }
}

/// The value of a text selects, not only that there is one.
TEST_F(JitTuningTest, TextsSelect) {
  const char *const text = R"(# named by warps
import triton
import triton.language as tl
@triton.autotune(configs=[triton.Config({"BLOCK": 64}, num_warps=2),
                          triton.Config({"BLOCK": 128}, num_warps=4)], key=["MODE"])
@triton.jit
def add(x, MODE: tl.constexpr, BLOCK: tl.constexpr):
    pass
)";
  ASSERT_EQ(create("add", text), TILE_OK) << tile_last_error();
  const uint32_t grid[3] = {1, 1, 1};
  time(1, 2, 3);
  ASSERT_EQ(launch({x(), tile_text("relu")}, grid), TILE_OK) << tile_last_error();
  EXPECT_EQ(cuda.launches.back().kernel, "add_2");
  time(2, 1, 3);
  ASSERT_EQ(launch({x(), tile_text("gelu")}, grid), TILE_OK);
  EXPECT_EQ(cuda.launches.back().kernel, "add_4");
  ASSERT_EQ(launch({x(), tile_text("relu")}, grid), TILE_OK);
  EXPECT_EQ(cuda.launches.back().kernel, "add_2");
  EXPECT_EQ(choices.size(), 2u);
}

TEST_F(JitTuningTest, RecordsCoverImports) {
  std::string cache = in("cache"), file = in("k.tile"), helper = in("helper.py");
  compilerOptions.cache_dir = cache.c_str();
  auto write = [](const std::string &path, const std::string &text) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << text;
    ASSERT_FALSE(code);
  };
  write(helper, "X = 1\n");
  write(file, std::string("from helper import X\n") + source);
  auto choose = [&] {
    close();
    choices.clear();
    EXPECT_EQ(tile_compiler_create(&compilerOptions, &compiler), TILE_OK);
    compile.kernel = "add";
    EXPECT_EQ(tile_jit_create_file(compiler, file.c_str(), &options, &jit), TILE_OK);
    EXPECT_EQ(launch({x(), tile_int(512)}), TILE_OK) << tile_last_error();
    return choices.empty() ? "" : choices.back();
  };
  EXPECT_THAT(choose(), HasSubstr("the fastest of 3"));
  EXPECT_THAT(choose(), HasSubstr("on record"));
  write(helper, "X = 2\n");
  EXPECT_THAT(choose(), HasSubstr("the fastest of 3"));
}

TEST_F(JitTuningTest, ConfigurationsThatDoNotFitAreLeftOut) {
  auto withShared = [](int first, int second) {
    return "import triton\nimport triton.language as tl\n@triton.autotune(configs=["
           "triton.Config({'SHARED': " +
           std::to_string(first) + "}), triton.Config({'SHARED': " + std::to_string(second) +
           "})], key=[])\n@triton.jit\ndef k(x, SHARED: tl.constexpr):\n    pass\n";
  };
  const uint32_t grid[3] = {1, 1, 1};
  ASSERT_EQ(create("k", withShared(999999, 500).c_str()), TILE_OK) << tile_last_error();
  ASSERT_EQ(launch({x()}, grid), TILE_OK) << tile_last_error();
  EXPECT_EQ(best({x()}), "SHARED: 500, num_warps: 4, num_stages: 3");
  ASSERT_EQ(create("k", withShared(999999, 999998).c_str()), TILE_OK);
  EXPECT_EQ(launch({x()}, grid), TILE_RESOURCES);
  EXPECT_THAT(tile_last_error(), HasSubstr("none of the 2 configurations of `k` works"));
}

TEST_F(JitTuningTest, AllConfigurationsAreVariants) {
  ASSERT_EQ(create("add"), TILE_OK);
  const tile_argument_range ranges[] = {{"x", x(), x(), 16}, {"n", tile_int(2), tile_int(15), 0}};
  std::vector<std::string> listed;
  auto visit = [](void *user, const tile_variant *variant) {
    static_cast<std::vector<std::string> *>(user)->push_back(std::string(variant->constexprs) +
                                                             " " + variant->options);
    return 0;
  };
  ASSERT_EQ(tile_jit_variants(jit, ranges, 2, visit, &listed), TILE_OK) << tile_last_error();
  EXPECT_EQ(listed.size(), 6u);
  EXPECT_THAT(listed,
              testing::Contains("BLOCK=256, EVEN=true num_warps=8 num_stages=3 num_ctas=1"));
  ASSERT_EQ(create("computed"), TILE_OK);
  EXPECT_EQ(tile_jit_variants(jit, nullptr, 0, visit, &listed), TILE_INVALID_ARGUMENT);
}

TEST_F(JitTuningTest, WhatDecoratorsSetIsNotGiven) {
  const tile_constexpr fixed[] = {{"BLOCK", "64"}};
  compile.constexprs = fixed;
  compile.num_constexprs = 1;
  EXPECT_EQ(create("add"), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("constexpr `BLOCK` is given, and a decorator"));
}

} // namespace
