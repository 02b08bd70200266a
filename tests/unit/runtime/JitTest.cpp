//===- JitTest.cpp - tile/jit.h on the mock compiler and the fake driver --===//
//
// The mock compiles a file with a `@triton.jit` function to a kernel whose parameters are
// those of the signature, and notes the signatures: what a launch specialises on is seen
// there.
//
//===----------------------------------------------------------------------===//
#include "tile/jit.h"
#include "CountAllocations.h"
#include "DecimalComma.h"
#include "FakeCuda.h"
#include "MockCompiler.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;
using tile::test::mockCompilations;

namespace {

const char *const source = R"(
import math
import triton
import triton.language as tl

WIDTH = 4

def half(n):
    """Half of it."""
    rounded = n + n % 2
    return rounded // 2

@triton.jit
def add(x, y, n, BLOCK: tl.constexpr = 128):
    pass

def add_grid(args):
    return (triton.cdiv(args["n"], args["BLOCK"]),)

@triton.jit(do_not_specialize=["m"], do_not_specialize_on_alignment=["p"])
def picky(p, m, s: "fp16", w: "i64", k: "i32", kk: "i32:16", READ: "tl.const", flag):
    pass

@triton.jit
def modes(x, MODE: tl.constexpr, n, TYPE: tl.constexpr = tl.float16, BIAS: tl.constexpr = None):
    pass

@triton.jit
def typed(x: "*fp32", n: "i32", s: "fp32"):
    pass
@triton.jit
def one(n):
    pass
)";

class JitTest : public testing::Test {
protected:
  JitTest() {
    cuda.reset();
    mockCompilations = 0;
    tile::test::mockSignatures().clear();
    tile_compiler_options options;
    tile_compiler_options_init(&options);
    options.cache_dir = "";
    EXPECT_EQ(tile_compiler_create(&options, &compiler), TILE_OK);
    tile_compile_options_init(&compile);
    tile_jit_options_init(&options_);
    options_.compile = &compile;
  }
  ~JitTest() override {
    tile_jit_destroy(jit);
    tile_compiler_destroy(compiler);
    EXPECT_EQ(cuda.liveModules, 0);
  }

  tile_status create(const char *kernel, const char *grid = nullptr) {
    tile_jit_destroy(jit);
    jit = nullptr;
    compile.kernel = kernel;
    options_.grid = grid;
    return tile_jit_create_buffer(compiler, "k.tile", source, strlen(source), &options_, &jit);
  }
  tile_status launch(std::vector<tile_value> values, const uint32_t *grid = oneBlock) {
    return tile_jit_launch(jit, nullptr, grid, values.data(), values.size(), nullptr);
  }
  std::string lastSignature() {
    auto signatures = tile::test::mockSignatures();
    return signatures.empty() ? "" : signatures.back();
  }
  /// What the launch of these values compiles for; "" if it compiles nothing.
  std::string signatureOf(std::vector<tile_value> values) {
    tile::test::mockSignatures().clear();
    EXPECT_EQ(launch(std::move(values)), TILE_OK) << tile_last_error();
    return lastSignature();
  }
  static tile_value at(uint64_t address, tile_dtype type = TILE_FP32) {
    return tile_pointer(reinterpret_cast<void *>(address), type);
  }

  static constexpr uint32_t oneBlock[3] = {1, 1, 1};
  fakecuda::Control &cuda = *fakeCudaControl();
  tile_compiler *compiler = nullptr;
  tile_compile_options compile;
  tile_jit_options options_;
  tile_jit *jit = nullptr;
};

TEST_F(JitTest, FindsSignaturesFromValues) {
  ASSERT_EQ(create("add"), TILE_OK) << tile_last_error();
  EXPECT_EQ(signatureOf({at(256), at(512, TILE_BF16), tile_int(48)}),
            "*fp32:16,*bf16:16,i32:16|BLOCK=128");
  EXPECT_EQ(signatureOf({at(256), at(520), tile_int(7)}), "*fp32:16,*fp32,i32|BLOCK=128");
  EXPECT_EQ(signatureOf({at(256), at(512), tile_int(1)}), "*fp32:16,*fp32:16,i32:1|BLOCK=128");
  EXPECT_EQ(signatureOf({at(256), at(512), tile_int(int64_t(1) << 31)}),
            "*fp32:16,*fp32:16,i64:16|BLOCK=128");
  EXPECT_EQ(signatureOf({at(256), at(512), tile_int(INT32_MIN)}),
            "*fp32:16,*fp32:16,i32:16|BLOCK=128");
  EXPECT_EQ(signatureOf({at(256), tile_none(), tile_float(0.5)}), "*fp32:16,none,fp32|BLOCK=128");
  EXPECT_EQ(signatureOf({at(256), tile_bool(1), tile_uint(UINT64_MAX)}),
            "*fp32:16,i1,u64|BLOCK=128");
  // What has been seen compiles nothing.
  EXPECT_EQ(signatureOf({at(1024), at(512, TILE_BF16), tile_int(160)}), "");
  tile_jit_info info = {};
  info.size = sizeof info;
  ASSERT_EQ(tile_jit_get_info(jit, &info), TILE_OK);
  EXPECT_EQ(info.num_variants, 7);
  EXPECT_EQ(info.num_arguments, 4);
  EXPECT_EQ(info.has_grid, 1);
}

TEST_F(JitTest, PassesValuesOn) {
  ASSERT_EQ(create("picky"), TILE_OK) << tile_last_error();
  ASSERT_EQ(launch({at(64), tile_int(1), tile_float(-1.5), tile_int(-3), tile_int(5), tile_int(7),
                    at(128, TILE_I8), tile_bool(1)}),
            TILE_OK)
      << tile_last_error();
  const std::vector<std::string> &p = cuda.launches.back().parameters;
  ASSERT_EQ(p.size(), 8u);
  auto bytes = [](auto value) {
    return std::string(reinterpret_cast<const char *>(&value), sizeof value);
  };
  EXPECT_EQ(p[0], bytes(uint64_t(64)));
  EXPECT_EQ(p[1], bytes(int32_t(1)));
  EXPECT_EQ(p[2], bytes(uint16_t(0xbe00))) << "-1.5 as fp16";
  EXPECT_EQ(p[3], bytes(int64_t(-3)));
  EXPECT_EQ(p[6], bytes(uint64_t(128)));
  EXPECT_EQ(p[7], bytes(uint8_t(1)));
}

TEST_F(JitTest, NarrowFloatsRoundToEven) {
  ASSERT_EQ(create("picky"), TILE_OK);
  auto half = [&](double value) {
    EXPECT_EQ(launch({at(64), tile_int(1), tile_float(value), tile_int(1), tile_int(5), tile_int(7),
                      at(128), tile_bool(1)}),
              TILE_OK);
    uint16_t bits;
    memcpy(&bits, cuda.launches.back().parameters[2].data(), 2);
    return bits;
  };
  EXPECT_EQ(half(65504), 0x7bff);
  EXPECT_EQ(half(65520), 0x7c00) << "infinity";
  EXPECT_EQ(half(1 + 1.0 / 2048), 0x3c00) << "a tie, down to even";
  EXPECT_EQ(half(1 + 3.0 / 2048), 0x3c02) << "a tie, up to even";
  EXPECT_EQ(half(0x1p-24), 0x0001) << "the smallest";
  EXPECT_EQ(half(0x1p-25), 0x0000);
  EXPECT_EQ(half(0x1.8p-25), 0x0001);
  EXPECT_EQ(half(0x1p-14), 0x0400);
}

TEST_F(JitTest, DecoratorsAndAnnotationsSayWhatNotToSpecialiseOn) {
  ASSERT_EQ(create("picky"), TILE_OK);
  EXPECT_EQ(signatureOf({at(64), tile_int(1), tile_float(1), tile_int(16), tile_int(1), tile_int(1),
                         at(128, TILE_I8), tile_bool(0)}),
            "*fp32,i32,fp16,i64:16,i32,i32:1,*ki8:16,i1#0%1#1%1|")
      << "launches do not look at them, either";
}

TEST_F(JitTest, OptionsSayWhatNotToSpecialiseOn) {
  const char *const plain[] = {"n"}, *const unaligned[] = {"x"};
  options_.do_not_specialize = plain;
  options_.num_do_not_specialize = 1;
  options_.do_not_specialize_on_alignment = unaligned;
  options_.num_do_not_specialize_on_alignment = 1;
  ASSERT_EQ(create("add"), TILE_OK) << tile_last_error();
  EXPECT_EQ(signatureOf({at(256), at(512), tile_int(1)}), "*fp32,*fp32:16,i32#0%1#2%1|BLOCK=128");
  EXPECT_EQ(signatureOf({at(264), at(512), tile_int(16)}), "");
  const char *const wrong[] = {"nn"};
  options_.do_not_specialize = wrong;
  EXPECT_EQ(create("add"), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("`nn`: `add` has no such parameter; did you mean `n`?"));
}

TEST_F(JitTest, ConstexprsAreArgumentsUnlessFixed) {
  ASSERT_EQ(create("modes"), TILE_OK) << tile_last_error();
  EXPECT_EQ(signatureOf({at(256), tile_text("a \"b\"\n"), tile_int(3)}),
            "*fp32:16,i32|MODE=\"a \\\"b\\\"\\u000a\" TYPE=tl.float16 BIAS=null");
  EXPECT_EQ(signatureOf({at(256), tile_int(-4), tile_int(3), tile_type(TILE_FP32)}),
            "*fp32:16,i32|MODE=-4 TYPE=tl.float32 BIAS=null");
  EXPECT_EQ(signatureOf({at(256), tile_float(0.1), tile_int(3), tile_none(), tile_bool(1)}),
            "*fp32:16,i32|MODE=0.1 TYPE=null BIAS=true");
  EXPECT_EQ(signatureOf({at(256), tile_float(2), tile_int(3)}),
            "*fp32:16,i32|MODE=2.0 TYPE=tl.float16 BIAS=null");
  {
    tile::test::DecimalComma comma; // where it can be had
    EXPECT_EQ(signatureOf({at(256), tile_float(0.3), tile_int(3), tile_none(), tile_bool(1)}),
              "*fp32:16,i32|MODE=0.3 TYPE=null BIAS=true");
  }
  std::string longest(256, 'x');
  EXPECT_EQ(launch({at(256), tile_text(longest.c_str()), tile_int(3)}), TILE_OK);
  longest += 'x';
  EXPECT_EQ(launch({at(256), tile_text(longest.c_str()), tile_int(3)}), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("argument `MODE`: a text of up to 256 bytes"));

  const tile_constexpr fixed[] = {{"MODE", "7"}};
  compile.constexprs = fixed;
  compile.num_constexprs = 1;
  ASSERT_EQ(create("modes"), TILE_OK);
  EXPECT_EQ(signatureOf({at(256), tile_int(3)}), "*fp32:16,i32|MODE=7 TYPE=tl.float16 BIAS=null");
  // A value that would be read by recursion leaves the stack alone.
  const std::string deep(1 << 20, '[');
  const tile_constexpr nested[] = {{"MODE", deep.c_str()}};
  compile.constexprs = nested;
  EXPECT_EQ(create("modes"), TILE_OK);
}

TEST_F(JitTest, Descriptors) {
  ASSERT_EQ(create("add"), TILE_OK);
  tile_descriptor_value value = {};
  value.descriptor.base = reinterpret_cast<void *>(4096);
  value.descriptor.rank = 2;
  value.descriptor.shape[0] = 100, value.descriptor.shape[1] = 64;
  value.descriptor.strides[0] = 64, value.descriptor.strides[1] = 1;
  value.block[0] = 32, value.block[1] = 64;
  EXPECT_EQ(signatureOf({tile_by_descriptor(&value, TILE_FP16), at(512), tile_int(3)}),
            "tensordesc<fp16[32,64]>,*fp32:16,i32|BLOCK=128");
  value.pads_with_nan = 1;
  EXPECT_EQ(signatureOf({tile_by_descriptor(&value, TILE_FP16), at(512), tile_int(3)}),
            "tensordesc<fp16[32,64],nan>,*fp32:16,i32|BLOCK=128");
  value.descriptor.shape[0] = 200; // no part of the key
  EXPECT_EQ(signatureOf({tile_by_descriptor(&value, TILE_FP16), at(512), tile_int(3)}), "");
  value.descriptor.base = reinterpret_cast<void *>(4100);
  EXPECT_EQ(launch({tile_by_descriptor(&value, TILE_FP16), at(512), tile_int(3)}),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("a base aligned to 16 bytes"));
}

TEST_F(JitTest, RefusesWhatCannotBeMeant) {
  ASSERT_EQ(create("add"), TILE_OK);
  EXPECT_EQ(launch({at(256), at(512)}), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(),
              HasSubstr("`add` takes 4 arguments (x, y, n, BLOCK); 2 were passed"));
  EXPECT_EQ(launch({at(256, TILE_DTYPE_NONE), at(512), tile_int(3)}), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("argument `x`: its element type is not given"));
  EXPECT_EQ(tile_jit_launch(jit, nullptr, oneBlock, nullptr, 3, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_EQ(tile_jit_launch(jit, nullptr, oneBlock, nullptr, SIZE_MAX, nullptr),
            TILE_INVALID_ARGUMENT);
  tile_value odd = tile_int(3);
  odd.kind = 77;
  EXPECT_EQ(launch({at(256), at(512), odd}), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("a value of no known kind is passed"));

  ASSERT_EQ(create("picky"), TILE_OK);
  auto with = [&](size_t index, tile_value value) {
    std::vector<tile_value> values = {at(64),      tile_int(1), tile_float(1), tile_int(1),
                                      tile_int(5), tile_int(7), at(128),       tile_bool(1)};
    values[index] = value;
    return launch(values);
  };
  EXPECT_EQ(with(4, tile_int(int64_t(1) << 31)), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("argument `k`: 2147483648 is out of range for `i32`"));
  EXPECT_EQ(with(4, tile_float(1)), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("a float is passed where i32 is asked for"));
  EXPECT_EQ(with(4, at(64)), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("a pointer is passed where i32 is asked for"));
  EXPECT_EQ(with(6, tile_int(3)), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("an integer is passed where a pointer is asked for"));
}

TEST_F(JitTest, RefusesFilesAndOptions) {
  EXPECT_EQ(create(nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("has several kernels (`add`, `picky`"));
  EXPECT_EQ(create("ad"), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("did you mean `add`?"));
  compile.signature = "*fp32";
  EXPECT_EQ(create("add"), TILE_INVALID_ARGUMENT);
  compile.signature = nullptr;
  const tile_constexpr wrong[] = {{"n", "7"}};
  compile.constexprs = wrong;
  compile.num_constexprs = 1;
  EXPECT_EQ(create("add"), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("constexpr `n`: that parameter of `add` is a run-time"));
}

// As for tile_compile_file: what other kernels call is none to be launched.
TEST_F(JitTest, AKernelBesideItsHelpersNeedsNoName) {
  const char *const text = R"(
import triton
import triton.language as tl

@triton.jit
def square(x):
    return x * x

@triton.jit
def apply(x, n):
    tl.store(x, square(n))
)";
  compile.kernel = nullptr;
  ASSERT_EQ(tile_jit_create_buffer(compiler, "k.tile", text, strlen(text), &options_, &jit),
            TILE_OK)
      << tile_last_error();
  EXPECT_EQ(signatureOf({at(256), tile_int(3)}), "*fp32:16,i32|");
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

TEST_F(JitTest, GridFromTheFile) {
  ASSERT_EQ(create("add"), TILE_OK);
  EXPECT_EQ(launch({at(256), at(512), tile_int(1000)}, nullptr), TILE_OK) << tile_last_error();
  EXPECT_THAT(cuda.launches.back().grid, ElementsAre(8, 1, 1));
  EXPECT_EQ(launch({at(256), at(512), tile_int(1000), tile_int(64)}, nullptr), TILE_OK);
  EXPECT_THAT(cuda.launches.back().grid, ElementsAre(16, 1, 1));
  EXPECT_EQ(launch({at(256), at(512), tile_int(1000), tile_int(0)}, nullptr),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("the grid of `add` cannot be computed: it divides"));
  ASSERT_EQ(create("one"), TILE_OK);
  EXPECT_EQ(launch({tile_int(3)}, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("has no function `one_grid`"));
}

TEST_F(JitTest, GridExpressions) {
  auto gridFor = [&](const char *text, tile_value n) -> std::vector<uint32_t> {
    EXPECT_EQ(create("one", text), TILE_OK) << tile_last_error();
    uint32_t grid[3] = {99, 99, 99};
    if (tile_jit_grid(jit, &n, 1, grid) != TILE_OK)
      return {};
    return {grid[0], grid[1], grid[2]};
  };
  EXPECT_THAT(gridFor("lambda META: (META['n'], 2, WIDTH)", tile_int(7)), ElementsAre(7, 2, 4));
  EXPECT_THAT(gridFor("lambda a: (half(a['n']) + 1,)", tile_int(7)), ElementsAre(5, 1, 1));
  EXPECT_THAT(gridFor("lambda a: (math.ceil(a['n'] / 4),)", tile_int(9)), ElementsAre(3, 1, 1));
  EXPECT_THAT(gridFor("lambda a: (min(a['n'], 132) if a['n'] > 1 else 3,)", tile_int(200)),
              ElementsAre(132, 1, 1));
  EXPECT_THAT(gridFor("lambda a: (min(a['n'], 132) if a['n'] > 1 else 3,)", tile_int(1)),
              ElementsAre(3, 1, 1));
  EXPECT_THAT(gridFor("lambda a: triton.next_power_of_2(a['n']) // a['num_warps']", tile_int(9)),
              ElementsAre(4, 1, 1));
  EXPECT_THAT(
      gridFor("lambda a: (-(-a['n'] // 4), abs(3 - a['n']), 1 << (a['n'] % 3))", tile_int(9)),
      ElementsAre(3, 6, 1));
  EXPECT_THAT(gridFor("lambda a: (2 if 1 < a['n'] <= 9 and not a['n'] == 5 else 1,)", tile_int(9)),
              ElementsAre(2, 1, 1));
  EXPECT_THAT(gridFor("lambda a: (5 if a['n'] is None else 6,)", tile_none()),
              ElementsAre(5, 1, 1));
  EXPECT_THAT(gridFor("lambda a: (2 ** a['n'],)", tile_int(5)), ElementsAre(32, 1, 1));
  EXPECT_THAT(gridFor("lambda a: (a['n'] or 9,)", tile_int(0)), ElementsAre(9, 1, 1));
  EXPECT_TRUE(gridFor("lambda a: (a['n'] * a['n'],)", tile_int(int64_t(1) << 40)).empty());
  EXPECT_THAT(tile_last_error(), HasSubstr("a number needs more than 64 bits"));
  EXPECT_TRUE(gridFor("lambda a: (a['n'],)", tile_float(2)).empty());
  EXPECT_THAT(tile_last_error(), HasSubstr("an argument that is no integer"));
  EXPECT_TRUE(gridFor("lambda a: (1, a['n'])", tile_int(65536)).empty());
  EXPECT_THAT(tile_last_error(), HasSubstr("has 65536 programs along y: 0 to 65535 are possible"));
}

TEST_F(JitTest, GridErrorsPointAtTheirPlace) {
  auto errorOf = [&](const char *text) -> std::string {
    EXPECT_NE(create("one", text), TILE_OK);
    return tile_last_error();
  };
  EXPECT_THAT(errorOf("lambda a: (a['m'],)"),
              HasSubstr("<grid>:1:12: error: the grid of `one`: there is no argument `m`"));
  const tile_constexpr misspelt = {"BLOCK", "hundred"};
  compile.constexprs = &misspelt, compile.num_constexprs = 1;
  EXPECT_NE(create("add"), TILE_OK);
  EXPECT_THAT(tile_last_error(),
              HasSubstr("`BLOCK` is fixed to `hundred`, which is nothing to compute with"));
  compile.num_constexprs = 0;
  EXPECT_THAT(errorOf("lambda a: (a['n'] / 2,)"), HasSubstr("`/`, which makes floats"));
  EXPECT_THAT(errorOf("lambda a: (a['n'].numel(),)"), HasSubstr("`numel` of an argument"));
  EXPECT_THAT(errorOf("lambda a: (1, 2, 3, 4)"), HasSubstr("has 4 dimensions"));
  EXPECT_THAT(errorOf("lambda a: [i for i in a['n']]"), HasSubstr("error"));
  EXPECT_THAT(errorOf("lambda: 1"), HasSubstr("takes 0 arguments, got 1"));
  EXPECT_THAT(errorOf("WIDTH"), HasSubstr("has to be a function"));
  EXPECT_THAT(errorOf("lambda a: ("), HasSubstr("error"));
}

//===----------------------------------------------------------------------===//
// The warm path
//===----------------------------------------------------------------------===//

TEST_F(JitTest, WarmLaunchesNeitherAllocateNorLock) {
  ASSERT_EQ(create("add"), TILE_OK);
  const tile_value values[] = {at(256), at(512), tile_int(1000), tile_int(64)};
  ASSERT_EQ(tile_jit_launch(jit, nullptr, nullptr, values, 4, nullptr), TILE_OK);
  cuda.quiet = true;
  tile::test::Counts before = tile::test::counts();
  for (int i = 0; i < 100; ++i)
    if (tile_jit_launch(jit, nullptr, nullptr, values, 4, nullptr) != TILE_OK)
      ADD_FAILURE();
  for (int i = 0; i < 100; ++i) // with a default
    if (tile_jit_launch(jit, nullptr, oneBlock, values, 4, nullptr) != TILE_OK)
      ADD_FAILURE();
  tile::test::Counts after = tile::test::counts();
  cuda.quiet = false;
  EXPECT_EQ(cuda.quietLaunches, 200u);
  EXPECT_EQ(after.news, before.news);
  EXPECT_EQ(after.mallocs, before.mallocs);
  EXPECT_EQ(after.locks, before.locks);
  // The counters do count.
  EXPECT_EQ(launch({at(256), at(512), tile_int(1)}), TILE_OK);
  tile::test::Counts cold = tile::test::counts();
  if (tile::test::countsMallocs()) {
    EXPECT_GT(cold.news, after.news);
    EXPECT_GT(cold.mallocs, after.mallocs);
    EXPECT_GT(cold.locks, after.locks);
  }
}

TEST_F(JitTest, ManyThreadsMakeEachVariantOnce) {
  ASSERT_EQ(create("modes"), TILE_OK);
  constexpr int numThreads = 8, numModes = 60; // the table grows meanwhile
  std::vector<std::thread> threads;
  for (int t = 0; t < numThreads; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < numModes * 3; ++i) {
        const tile_value values[] = {at(256), tile_int((i + t * 7) % numModes), tile_int(3)};
        EXPECT_EQ(tile_jit_launch(jit, nullptr, oneBlock, values, 3, nullptr), TILE_OK);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(mockCompilations, numModes);
  EXPECT_EQ(cuda.liveModules, numModes);
}

TEST_F(JitTest, FailuresAreTriedAgain) {
  ASSERT_EQ(create("add"), TILE_OK);
  cuda.failures["cuModuleLoadDataEx"] = tile::cuda::Result::OutOfMemory;
  EXPECT_EQ(launch({at(256), at(512), tile_int(3)}), TILE_OUT_OF_MEMORY);
  cuda.failures.clear();
  EXPECT_EQ(launch({at(256), at(512), tile_int(3)}), TILE_OK) << tile_last_error();
}

TEST_F(JitTest, FindGivesTheFunctionThatALaunchRuns) {
  ASSERT_EQ(create("add"), TILE_OK);
  const tile_value values[] = {at(256), at(512), tile_int(3)};
  tile_function *first = nullptr, *second = nullptr;
  ASSERT_EQ(tile_jit_find(jit, values, 3, &first), TILE_OK) << tile_last_error();
  ASSERT_EQ(tile_jit_find(jit, values, 3, &second), TILE_OK);
  tile_function_info a = {}, b = {};
  a.size = b.size = sizeof a;
  ASSERT_EQ(tile_function_get_info(first, &a), TILE_OK);
  ASSERT_EQ(tile_function_get_info(second, &b), TILE_OK);
  EXPECT_EQ(a.handle, b.handle);
  tile_function_destroy(first);
  tile_function_destroy(second);
}

//===----------------------------------------------------------------------===//
// All variants
//===----------------------------------------------------------------------===//

class Variants : public JitTest {
protected:
  std::vector<std::string> variants(std::vector<tile_argument_range> ranges) {
    std::vector<std::string> out;
    auto visit = [](void *user, const tile_variant *variant) {
      static_cast<std::vector<std::string> *>(user)->push_back(std::string(variant->signature) +
                                                               "|" + variant->constexprs);
      return 0;
    };
    status = tile_jit_variants(jit, ranges.data(), ranges.size(), visit, &out);
    return out;
  }
  static tile_argument_range only(const char *name, tile_value value, uint64_t step = 0) {
    return {name, value, value, step};
  }
  static tile_argument_range integers(const char *name, int64_t least, int64_t most,
                                      uint64_t step = 0) {
    return {name, tile_int(least), tile_int(most), step};
  }
  tile_status status = TILE_OK;
};

TEST_F(Variants, OfIntegers) {
  ASSERT_EQ(create("one"), TILE_OK);
  EXPECT_THAT(variants({integers("n", 1, 4096)}),
              UnorderedElementsAre("i32:1|", "i32:16|", "i32|"));
  EXPECT_THAT(variants({integers("n", 2, 15)}), UnorderedElementsAre("i32|"));
  EXPECT_THAT(variants({integers("n", 0, 0)}), UnorderedElementsAre("i32:16|"));
  EXPECT_THAT(variants({integers("n", 16, 1 << 20, 16)}), UnorderedElementsAre("i32:16|"));
  EXPECT_THAT(variants({integers("n", 8, 1 << 20, 16)}), UnorderedElementsAre("i32|"));
  EXPECT_THAT(variants({integers("n", 1, 1000, 16)}), UnorderedElementsAre("i32:1|", "i32|"));
  EXPECT_THAT(variants({integers("n", 1 << 30, int64_t(1) << 40)}),
              UnorderedElementsAre("i32:16|", "i32|", "i64:16|", "i64|"));
  EXPECT_THAT(
      variants({{"n", tile_int(INT64_MIN), tile_uint(UINT64_MAX), 0}}),
      UnorderedElementsAre("i32:1|", "i32:16|", "i32|", "i64:16|", "i64|", "u64:16|", "u64|"));
  EXPECT_THAT(variants({integers("n", 5, 5), only("n", tile_none())}),
              UnorderedElementsAre("i32|", "none|"));
  EXPECT_EQ(mockCompilations, 0);
}

/// Whatever launches reach has been enumerated.
TEST_F(Variants, AreWhatLaunchesReach) {
  ASSERT_EQ(create("one"), TILE_OK);
  for (auto [least, most, step] : {std::tuple(-40, 70, 1), std::tuple(-33, 90, 7),
                                   std::tuple(1, 40, 3), std::tuple(-15, 200, 16)}) {
    std::vector<std::string> listed = variants({integers("n", least, most, step)});
    std::set<std::string> reached;
    for (int n = least; n <= most; n += step) {
      std::vector<std::string> exact = variants({integers("n", n, n)});
      ASSERT_EQ(exact.size(), 1u);
      reached.insert(exact[0]);
    }
    EXPECT_EQ(std::set<std::string>(listed.begin(), listed.end()), reached) << least;
    EXPECT_EQ(listed.size(), reached.size());
  }
}

TEST_F(Variants, OfAllArguments) {
  ASSERT_EQ(create("add"), TILE_OK);
  EXPECT_THAT(
      variants({only("x", at(0), 16), only("y", at(0)), only("y", at(0, TILE_FP16), 256),
                integers("n", 2, 7), integers("BLOCK", 64, 128, 64)}),
      UnorderedElementsAre("*fp32:16,*fp32:16,i32|BLOCK=64", "*fp32:16,*fp32,i32|BLOCK=64",
                           "*fp32:16,*fp16:16,i32|BLOCK=64", "*fp32:16,*fp32:16,i32|BLOCK=128",
                           "*fp32:16,*fp32,i32|BLOCK=128", "*fp32:16,*fp16:16,i32|BLOCK=128"));
  variants({only("x", at(0)), integers("n", 2, 7)});
  EXPECT_EQ(status, TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("no range is given for argument `y` of `add`"));
  variants({only("z", at(0))});
  EXPECT_THAT(tile_last_error(), HasSubstr("the range of `z` means no argument of `add`"));
  variants({only("x", at(0)), only("y", at(0)), integers("n", 3, 2)});
  EXPECT_THAT(tile_last_error(), HasSubstr("is empty"));
  variants(
      {only("x", at(0)), only("y", at(0)), integers("n", 3, 3), integers("BLOCK", 0, 1 << 20)});
  EXPECT_THAT(tile_last_error(), HasSubstr("more than 65536"));
}

/// What an annotation says of an argument need not be said again.
TEST_F(Variants, OfAnnotatedArguments) {
  ASSERT_EQ(create("typed"), TILE_OK) << tile_last_error();
  EXPECT_THAT(variants({integers("n", 2, 7)}),
              UnorderedElementsAre("*fp32:16,i32,fp32|", "*fp32,i32,fp32|"));
  EXPECT_THAT(variants({integers("n", 2, 7), only("x", at(0), 16)}),
              UnorderedElementsAre("*fp32:16,i32,fp32|"));
  EXPECT_THAT(variants({}), UnorderedElementsAre("*fp32:16,i32:16,fp32|", "*fp32:16,i32,fp32|",
                                                 "*fp32,i32:16,fp32|", "*fp32,i32,fp32|"));
}

TEST_F(Variants, ARangeOfNoParameterIsRefused) {
  ASSERT_EQ(create("one"), TILE_OK);
  std::vector<tile_argument_range> ranges = {integers("n", 1, 8), integers(nullptr, 1, 8)};
  variants(ranges);
  EXPECT_EQ(status, TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "`parameter` of range 1 is null");
  EXPECT_EQ(tile_jit_prepare(jit, ranges.data(), ranges.size(), nullptr), TILE_INVALID_ARGUMENT);
}

TEST_F(Variants, ArePreparedAhead) {
  ASSERT_EQ(create("add"), TILE_OK);
  std::vector<tile_argument_range> ranges = {only("x", at(0)), only("y", at(0), 16),
                                             integers("n", 1, 100)};
  tile_prepare_options prepare;
  tile_prepare_options_init(&prepare);
  prepare.load = 0;
  ASSERT_EQ(tile_jit_prepare(jit, ranges.data(), ranges.size(), &prepare), TILE_OK)
      << tile_last_error();
  EXPECT_EQ(mockCompilations, 6);
  EXPECT_EQ(cuda.liveModules, 0);
  ASSERT_EQ(tile_jit_prepare(jit, ranges.data(), ranges.size(), nullptr), TILE_OK);
  EXPECT_EQ(cuda.liveModules, 6);
  for (int n : {1, 16, 33})
    for (uint64_t x : {64, 72})
      EXPECT_EQ(launch({at(x), at(512), tile_int(n)}), TILE_OK);
  EXPECT_EQ(mockCompilations, 6) << "launches compile nothing any more";
  EXPECT_EQ(cuda.liveModules, 6);

  cuda.failures["cuModuleLoadDataEx"] = tile::cuda::Result::OutOfMemory;
  ranges[2] = integers("n", int64_t(1) << 40, int64_t(1) << 41);
  EXPECT_EQ(tile_jit_prepare(jit, ranges.data(), ranges.size(), nullptr), TILE_OUT_OF_MEMORY);
}

} // namespace
