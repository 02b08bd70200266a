//===- CApiTest.cpp - tile.h on the mock compiler and the fake driver -----===//
//
// The fake driver is linked under the name libcuda.so.1, so the library finds
// it as it would find the real one.
//
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"
#include "MockCompiler.h"
#include "tile/tile.h"
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <set>
#include <thread>

using testing::HasSubstr;
using tile::test::mockCompilations;

namespace {

class CApi : public testing::Test {
protected:
  CApi() {
    cuda.reset();
    mockCompilations = 0;
    tile_compiler_options options;
    tile_compiler_options_init(&options);
    options.cache_dir = "";
    EXPECT_EQ(tile_compiler_create(&options, &compiler), TILE_OK);
  }
  ~CApi() override { tile_compiler_destroy(compiler); }

  tile_status compile(const char *source, tile_kernel **kernel,
                      const tile_compile_options *options = nullptr) {
    return tile_compile_buffer(compiler, "k.tile", source, strlen(source), options, kernel);
  }
  tile_function *loadScale(const tile_compile_options *options = nullptr) {
    tile_kernel *kernel = nullptr;
    EXPECT_EQ(compile("fine", &kernel, options), TILE_OK) << tile_last_error();
    tile_function *function = nullptr;
    EXPECT_EQ(tile_function_load(kernel, nullptr, &function), TILE_OK) << tile_last_error();
    tile_kernel_destroy(kernel); // the function keeps what it needs
    return function;
  }

  fakecuda::Control &cuda = *fakeCudaControl();
  tile_compiler *compiler = nullptr;
  const uint32_t grid[3] = {2, 3, 4};
  void *pointer = nullptr;
  int32_t n = 5;
  float factor = 0.25f;
  const void *arguments[3] = {&pointer, &n, &factor};
};

TEST_F(CApi, CompilesAndAnswers) {
  tile_kernel *kernel = nullptr;
  ASSERT_EQ(compile("careless", &kernel), TILE_OK);
  size_t length = 0;
  EXPECT_THAT(tile_kernel_ptx(kernel, &length), HasSubstr(".visible .entry scale("));
  EXPECT_EQ(length, strlen(tile_kernel_ptx(kernel, nullptr)));
  EXPECT_THAT(tile_kernel_metadata(kernel, nullptr), HasSubstr("\"entry\": \"scale\""));
  EXPECT_THAT(tile_kernel_diagnostics(kernel, nullptr), HasSubstr("warning: this is careless"));
  tile_kernel_info info = {};
  info.size = sizeof info;
  ASSERT_EQ(tile_kernel_get_info(kernel, &info), TILE_OK);
  EXPECT_EQ(info.num_arguments, 3);
  EXPECT_EQ(info.threads, 128);
  EXPECT_EQ(info.from_cache, 0);
  tile_kernel_destroy(kernel);
}

TEST_F(CApi, OptionsReachTheCompiler) {
  const tile_constexpr constants[] = {{"SHARED", "1024"}};
  tile_compile_options options;
  tile_compile_options_init(&options);
  options.kernel = "other";
  options.constexprs = constants;
  options.num_constexprs = 1;
  options.num_warps = 8;
  options.target = "sm_80";
  tile_kernel *kernel = nullptr;
  ASSERT_EQ(compile("fine", &kernel, &options), TILE_OK) << tile_last_error();
  std::string metadata = tile_kernel_metadata(kernel, nullptr);
  EXPECT_THAT(metadata, HasSubstr("\"entry\": \"other\""));
  EXPECT_THAT(metadata, HasSubstr("\"shared_bytes\": 1024"));
  EXPECT_THAT(metadata, HasSubstr("\"num_warps\": 8"));
  EXPECT_THAT(metadata, HasSubstr("\"target\": \"sm_80\""));
  tile_kernel_destroy(kernel);
}

TEST_F(CApi, TargetsMayBeBoardsOrTheDevice) {
  cuda.computeMajor = 8, cuda.computeMinor = 9;
  tile_compile_options options;
  tile_compile_options_init(&options);
  tile_kernel *kernel = nullptr;
  for (auto [name, target] : {std::pair("H100", "sm_90a"), std::pair("native", "sm_89")}) {
    options.target = name;
    ASSERT_EQ(compile("fine", &kernel, &options), TILE_OK) << tile_last_error();
    EXPECT_THAT(tile_kernel_metadata(kernel, nullptr),
                HasSubstr(std::string("\"target\": \"") + target + "\""));
    tile_kernel_destroy(kernel);
  }
  options.target = "h10";
  EXPECT_EQ(compile("fine", &kernel, &options), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("did you mean `h100`?"));
}

TEST_F(CApi, TargetDefaultsToTheDevice) {
  cuda.computeMajor = 8, cuda.computeMinor = 9;
  tile_kernel *kernel = nullptr;
  ASSERT_EQ(compile("fine", &kernel), TILE_OK);
  EXPECT_THAT(tile_kernel_metadata(kernel, nullptr), HasSubstr("\"target\": \"sm_89\""));
  tile_kernel_destroy(kernel);
}

TEST_F(CApi, CompileErrors) {
  auto *kernel = reinterpret_cast<tile_kernel *>(1);
  EXPECT_EQ(compile("x = error", &kernel), TILE_COMPILE_ERROR);
  EXPECT_EQ(kernel, nullptr);
  EXPECT_THAT(tile_last_error(), HasSubstr("k.tile:1:5: error: this is wrong"));
  EXPECT_EQ(compile("unsupported", &kernel), TILE_UNSUPPORTED);
  EXPECT_EQ(tile_compile_file(compiler, "/not/there.tile", nullptr, &kernel), TILE_IO_ERROR);
  EXPECT_THAT(tile_last_error(), HasSubstr("/not/there.tile"));
}

/// Lengths that nothing has: refused before anything is read.
TEST_F(CApi, AbsurdLengths) {
  tile_kernel *kernel = nullptr;
  for (size_t length : {SIZE_MAX, SIZE_MAX / 2, size_t(1) << 40}) {
    EXPECT_EQ(tile_compile_buffer(compiler, "k", "x", length, nullptr, &kernel),
              TILE_INVALID_ARGUMENT);
    EXPECT_THAT(tile_last_error(), HasSubstr("`length` is"));
    EXPECT_EQ(tile_kernel_from_ptx("x", length, "{}", 2, &kernel), TILE_INVALID_ARGUMENT);
    EXPECT_EQ(tile_kernel_from_ptx("x", 1, "{}", length, &kernel), TILE_INVALID_ARGUMENT);
    EXPECT_THAT(tile_last_error(), HasSubstr("`metadata_length` is"));
    const tile_constexpr constants[] = {{"A", "1"}};
    tile_compile_options options;
    tile_compile_options_init(&options);
    options.constexprs = constants;
    options.num_constexprs = length;
    EXPECT_EQ(compile("fine", &kernel, &options), TILE_INVALID_ARGUMENT);
    EXPECT_THAT(tile_last_error(), HasSubstr("`num_constexprs` is"));
    tile_compile_options_init(&options);
    options.size = length;
    EXPECT_EQ(compile("fine", &kernel, &options), TILE_INVALID_ARGUMENT);
    tile_compile_options_init_sized(&options, length); // writes nothing
  }
}

TEST_F(CApi, DeepMetadataIsRefused) {
  for (const char *bracket : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 1000000; ++i)
      deep += bracket;
    tile_kernel *kernel = nullptr;
    EXPECT_EQ(tile_kernel_from_ptx("x", 1, deep.data(), deep.size(), &kernel),
              TILE_INVALID_ARGUMENT);
    EXPECT_THAT(tile_last_error(), HasSubstr("nested deeper than 64 levels"));
  }
}

TEST_F(CApi, ALibraryThatCannotBeReadIsAnErrorOfFiles) {
  tile_compile_options options;
  tile_compile_options_init(&options);
  for (const char *path : {"/not/there.bc", "/tmp"}) {
    tile_kernel *kernel = nullptr;
    options.libdevice_path = path;
    EXPECT_EQ(compile("error", &kernel, &options), TILE_IO_ERROR);
    EXPECT_THAT(tile_last_error(),
                HasSubstr(std::string("cannot read the device library `") + path));
  }
}

/// Such as one that is in the cache, on a machine that must not compile.
TEST_F(CApi, AKernelThatIsThereNeedsNoLibrary) {
  tile_compile_options options;
  tile_compile_options_init(&options);
  options.libdevice_path = "/not/there.bc";
  tile_kernel *kernel = nullptr;
  EXPECT_EQ(compile("fine", &kernel, &options), TILE_OK) << tile_last_error();
  tile_kernel_destroy(kernel);
}

TEST_F(CApi, CopiesFromAndToNowhereAreRefused) {
  ASSERT_EQ(tile_memory_alloc(nullptr, 64, &pointer), TILE_OK) << tile_last_error();
  EXPECT_EQ(tile_memory_upload(nullptr, pointer, nullptr, 4, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_STREQ(tile_last_error(), "`host` is null");
  EXPECT_EQ(tile_memory_download(nullptr, nullptr, pointer, 4, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_EQ(tile_memory_upload(nullptr, pointer, nullptr, 0, nullptr), TILE_OK);
  EXPECT_EQ(tile_memory_free(nullptr, pointer), TILE_OK);
}

TEST_F(CApi, BadCalls) {
  tile_kernel *kernel = nullptr;
  EXPECT_EQ(tile_compile_buffer(compiler, "k", nullptr, 3, nullptr, &kernel),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("`source` is null"));
  EXPECT_EQ(tile_compile_buffer(nullptr, "k", "x", 1, nullptr, &kernel), TILE_INVALID_ARGUMENT);
  EXPECT_EQ(tile_compile_buffer(compiler, "k", "x", 1, nullptr, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_EQ(tile_function_load(nullptr, nullptr, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_EQ(tile_function_launch(nullptr, nullptr, grid, nullptr, 0, nullptr),
            TILE_INVALID_ARGUMENT);

  tile_compile_options options;
  tile_compile_options_init(&options);
  options.num_warps = 3;
  EXPECT_EQ(compile("fine", &kernel, &options), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("`num_warps` is 3: 1, 2, 4, 8, 16 and 32"));
  options.num_warps = 12;
  EXPECT_EQ(compile("fine", &kernel, &options), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("possible; 3 warpgroups that share what they copy"));
  tile_compile_options_init(&options);
  options.num_constexprs = 2;
  EXPECT_EQ(compile("fine", &kernel, &options), TILE_INVALID_ARGUMENT);
  tile_compile_options empty = {};
  EXPECT_EQ(compile("fine", &kernel, &empty), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("has no size"));
  for (int32_t registers : {-1, 1, 15, 257}) {
    tile_compile_options_init(&options);
    options.max_registers = registers;
    EXPECT_EQ(compile("fine", &kernel, &options), TILE_INVALID_ARGUMENT) << registers;
    EXPECT_THAT(tile_last_error(), HasSubstr("16 to 256 are possible"));
  }
  const tile_constexpr twice[] = {{"SHARED", "1"}, {"SHARED", "2"}};
  tile_compile_options_init(&options);
  options.constexprs = twice;
  options.num_constexprs = 2;
  EXPECT_EQ(compile("fine", &kernel, &options), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("constexpr `SHARED` is given twice"));
}

TEST_F(CApi, StructsGrow) {
  // A caller built against a header with one option more...
  struct Newer {
    tile_launch_options known;
    int64_t unknown;
  } newer = {};
  tile_launch_options_init(&newer.known);
  newer.known.size = sizeof newer;
  tile_function *function = loadScale();
  EXPECT_EQ(tile_function_launch(function, nullptr, grid, arguments, 3, &newer.known), TILE_OK);
  newer.unknown = 1;
  EXPECT_EQ(tile_function_launch(function, nullptr, grid, arguments, 3, &newer.known),
            TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("does not know"));
  tile_function_destroy(function);

  // ... and one built against a shorter one.
  tile_compile_options options;
  tile_compile_options_init(&options);
  options.size = offsetof(tile_compile_options, num_stages);
  options.num_stages = -7; // beyond its end: not read
  tile_kernel *kernel = nullptr;
  EXPECT_EQ(compile("fine", &kernel, &options), TILE_OK) << tile_last_error();
  tile_kernel_info info = {};
  info.size = offsetof(tile_kernel_info, shared_bytes);
  info.shared_bytes = 77;
  EXPECT_EQ(tile_kernel_get_info(kernel, &info), TILE_OK);
  EXPECT_EQ(info.threads, 128);
  EXPECT_EQ(info.shared_bytes, 77) << "not written past the caller's end";
  tile_kernel_destroy(kernel);

  tile_compile_options_init(&options);
  options.warp_roles = "both";
  EXPECT_EQ(compile("fine", &kernel, &options), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("`warp_roles` is \"both\""));
  options.warp_roles = nullptr;
  options.num_ctas = 3;
  EXPECT_EQ(compile("fine", &kernel, &options), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("`num_ctas` is 3"));
}

// What a program finds that was built when the functions were not in the header.
extern "C" void firstCompileOptionsInit(void *) __asm__("tile_compile_options_init");

TEST_F(CApi, OptionsAreInitialisedToTheirSizeOnly) {
  constexpr size_t firstSize = offsetof(tile_compile_options, num_ctas);
  union {
    tile_compile_options options;
    unsigned char bytes[sizeof(tile_compile_options) + 16];
  } memory;
  auto untouchedFrom = [&](size_t end) {
    return std::all_of(memory.bytes + end, std::end(memory.bytes),
                       [](unsigned char byte) { return byte == 0xA5; });
  };

  // Programs built with the first version of the struct, by either name.
  for (bool sized : {true, false}) {
    memset(memory.bytes, 0xA5, sizeof memory.bytes);
    if (sized)
      tile_compile_options_init_sized(&memory.options, firstSize);
    else
      firstCompileOptionsInit(&memory.options);
    EXPECT_EQ(memory.options.size, firstSize);
    EXPECT_EQ(memory.options.num_warps, 4);
    EXPECT_EQ(memory.options.libdevice_path, nullptr);
    EXPECT_TRUE(untouchedFrom(firstSize)) << sized;
    tile_kernel *kernel = nullptr;
    EXPECT_EQ(compile("fine", &kernel, &memory.options), TILE_OK) << tile_last_error();
    tile_kernel_destroy(kernel);
  }

  // Of a later version than the library: what we do not know is 0, and so accepted.
  memset(memory.bytes, 0xA5, sizeof memory.bytes);
  tile_compile_options_init_sized(&memory.options, sizeof(tile_compile_options) + 8);
  EXPECT_EQ(memory.options.num_ctas, 1);
  EXPECT_EQ(memory.bytes[sizeof(tile_compile_options)], 0);
  EXPECT_TRUE(untouchedFrom(sizeof(tile_compile_options) + 8));
  tile_kernel *kernel = nullptr;
  EXPECT_EQ(compile("fine", &kernel, &memory.options), TILE_OK) << tile_last_error();
  tile_kernel_destroy(kernel);

  // Nothing to write to.
  memset(memory.bytes, 0xA5, sizeof memory.bytes);
  tile_compile_options_init_sized(&memory.options, 4);
  EXPECT_TRUE(untouchedFrom(0));
  tile_compile_options_init_sized(nullptr, sizeof(tile_compile_options));
}

TEST_F(CApi, LaunchesAndCopies) {
  ASSERT_EQ(tile_memory_alloc(nullptr, 64, &pointer), TILE_OK) << tile_last_error();
  ASSERT_EQ(tile_memory_set(nullptr, pointer, 0, 64, nullptr), TILE_OK);
  cuda.onLaunch = [&](const fakecuda::Launch &launch) {
    float *data;
    memcpy(&data, launch.parameters[0].data(), sizeof data);
    data[1] = factor * static_cast<float>(n);
  };
  tile_function *function = loadScale();
  ASSERT_EQ(tile_function_launch(function, nullptr, grid, arguments, 3, nullptr), TILE_OK)
      << tile_last_error();
  ASSERT_EQ(tile_synchronize(nullptr, nullptr), TILE_OK);
  float back[16];
  ASSERT_EQ(tile_memory_download(nullptr, back, pointer, sizeof back, nullptr), TILE_OK);
  EXPECT_EQ(back[0], 0.0f);
  EXPECT_EQ(back[1], 1.25f);
  EXPECT_THAT(cuda.launches.back().grid, testing::ElementsAre(2, 3, 4));
  tile_function_destroy(function);
  EXPECT_EQ(tile_memory_free(nullptr, pointer), TILE_OK);
  EXPECT_EQ(cuda.allocatedBytes, 0u);
  EXPECT_EQ(cuda.liveModules, 0);
}

TEST_F(CApi, PreparedLaunch) {
  tile_function *function = loadScale();
  tile_launch *launch = nullptr;
  ASSERT_EQ(tile_launch_create(function, &launch), TILE_OK);
  tile_function_destroy(function); // the launch keeps it
  EXPECT_EQ(tile_launch_run(launch, nullptr), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("argument 0"));
  ASSERT_EQ(tile_launch_set_arguments(launch, arguments, 3), TILE_OK);
  ASSERT_EQ(tile_launch_set_grid(launch, grid), TILE_OK);
  tile_launch_options options;
  tile_launch_options_init(&options);
  options.dependent = 1;
  ASSERT_EQ(tile_launch_set_options(launch, &options), TILE_OK);
  int32_t other = 9;
  ASSERT_EQ(tile_launch_set_argument(launch, 1, &other), TILE_OK);
  int32_t unread = 10; // of an entry that there is not
  ASSERT_EQ(tile_launch_set_argument(launch, (size_t(1) << 32) + 1, &unread), TILE_OK);
  ASSERT_EQ(tile_launch_run(launch, nullptr), TILE_OK) << tile_last_error();
  EXPECT_EQ(memcmp(cuda.launches.back().parameters[1].data(), &other, 4), 0);
  EXPECT_TRUE(cuda.launches.back().dependent);
  EXPECT_EQ(tile_launch_set_arguments(launch, arguments, SIZE_MAX), TILE_OK);
  tile_launch_destroy(launch);
}

TEST_F(CApi, OneCompilationLoadsOnce) {
  tile_function *first = loadScale(), *second = loadScale();
  EXPECT_EQ(mockCompilations, 1);
  EXPECT_EQ(cuda.liveModules, 1);
  tile_function_info a = {}, b = {};
  a.size = b.size = sizeof a;
  ASSERT_EQ(tile_function_get_info(first, &a), TILE_OK);
  ASSERT_EQ(tile_function_get_info(second, &b), TILE_OK);
  EXPECT_EQ(a.handle, b.handle);
  EXPECT_EQ(a.registers, 32);
  tile_function_destroy(first);
  EXPECT_EQ(cuda.liveModules, 1);
  tile_function_destroy(second);
  EXPECT_EQ(cuda.liveModules, 0);
}

TEST_F(CApi, GivenContext) {
  tile::cuda::Context mine = fakeCudaCreateContext(0);
  tile_kernel *kernel = nullptr;
  ASSERT_EQ(compile("fine", &kernel), TILE_OK);
  tile_function *function = nullptr;
  ASSERT_EQ(tile_function_load(kernel, mine, &function), TILE_OK);
  std::thread([&] { // a thread where no context is current
    EXPECT_EQ(tile_function_launch(function, nullptr, grid, arguments, 3, nullptr), TILE_OK);
  })
      .join();
  EXPECT_EQ(cuda.launches.back().context, mine);
  tile_function_destroy(function);
  tile_kernel_destroy(kernel);
  fakeCudaDestroyContext(mine);
}

TEST_F(CApi, KernelFromSavedFiles) {
  tile_kernel *kernel = nullptr, *again = nullptr;
  ASSERT_EQ(compile("fine", &kernel), TILE_OK);
  std::string ptx = tile_kernel_ptx(kernel, nullptr), json = tile_kernel_metadata(kernel, nullptr);
  tile_kernel_destroy(kernel);
  ASSERT_EQ(tile_kernel_from_ptx(ptx.data(), ptx.size(), json.data(), json.size(), &again),
            TILE_OK);
  EXPECT_EQ(tile_kernel_ptx(again, nullptr), ptx);
  EXPECT_EQ(tile_kernel_metadata(again, nullptr), json);
  tile_kernel_destroy(again);
  EXPECT_EQ(tile_kernel_from_ptx(ptx.data(), ptx.size(), "{}", 2, &again), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("metadata.entry"));
}

TEST_F(CApi, DriverErrors) {
  tile_kernel *kernel = nullptr;
  tile_function *function = nullptr;
  ASSERT_EQ(compile("bad ptx", &kernel), TILE_OK);
  EXPECT_EQ(tile_function_load(kernel, nullptr, &function), TILE_PTX_REJECTED);
  EXPECT_THAT(tile_last_error(), HasSubstr("BAD_INSTRUCTION"));
  tile_kernel_destroy(kernel);

  const tile_constexpr constants[] = {{"SHARED", "999999"}};
  tile_compile_options options;
  tile_compile_options_init(&options);
  options.constexprs = constants;
  options.num_constexprs = 1;
  ASSERT_EQ(compile("fine", &kernel, &options), TILE_OK);
  EXPECT_EQ(tile_function_load(kernel, nullptr, &function), TILE_RESOURCES);
  tile_kernel_destroy(kernel);

  EXPECT_EQ(tile_memory_alloc(nullptr, size_t(1) << 40, &pointer), TILE_OUT_OF_MEMORY);
  EXPECT_THAT(tile_last_error(), HasSubstr("1.0 TiB"));
  EXPECT_EQ(tile_memory_free(nullptr, &n), TILE_DRIVER_ERROR);
}

TEST_F(CApi, Devices) {
  int32_t version = 0, count = 0;
  EXPECT_EQ(tile_driver_version(&version), TILE_OK);
  EXPECT_EQ(version, 12040);
  EXPECT_EQ(tile_device_count(&count), TILE_OK);
  EXPECT_EQ(count, 1);
  tile_device_info info = {};
  info.size = sizeof info;
  ASSERT_EQ(tile_device_get_info(0, &info), TILE_OK);
  EXPECT_STREQ(info.name, "Fake GPU 0");
  EXPECT_STREQ(info.target, "sm_90a");
  EXPECT_EQ(tile_device_get_info(3, &info), TILE_INVALID_ARGUMENT);
}

TEST_F(CApi, SizesOfValuesAreThoseOfTheSignature) {
  tile_function *function = loadScale();
  const size_t right[] = {8, 4, 4}, open[] = {0, 0, 0, 8}, wide[] = {8, 8, 4}, real[] = {8, 4, 8};
  EXPECT_EQ(tile_function_check_sizes(function, right, 3), TILE_OK) << tile_last_error();
  EXPECT_EQ(tile_function_check_sizes(function, open, 4), TILE_OK) << tile_last_error();
  EXPECT_EQ(tile_function_check_sizes(function, wide, 3), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(),
              HasSubstr("argument 1 of `scale` is a value of 8 bytes, and its entry of the "
                        "signature has 4: pass an address for a pointer, int32_t for i32"));
  EXPECT_EQ(tile_function_check_sizes(function, real, 3), TILE_INVALID_ARGUMENT);
  tile_launch *launch = nullptr;
  ASSERT_EQ(tile_launch_create(function, &launch), TILE_OK);
  EXPECT_EQ(tile_launch_check_sizes(launch, 1, right + 1, 2), TILE_OK) << tile_last_error();
  EXPECT_EQ(tile_launch_check_sizes(launch, 2, right, 1), TILE_INVALID_ARGUMENT);
  EXPECT_THAT(tile_last_error(), HasSubstr("argument 2 of `scale`"));
  EXPECT_EQ(tile_launch_check_sizes(launch, 3, right, 1), TILE_OK) << "no such entry is read";
  tile_launch_destroy(launch);
  tile_function_destroy(function);
}

TEST_F(CApi, ErrorsBelongToTheirThread) {
  tile_kernel *kernel = nullptr;
  EXPECT_EQ(compile("error", &kernel), TILE_COMPILE_ERROR);
  std::thread([] { EXPECT_STREQ(tile_last_error(), ""); }).join();
  EXPECT_STRNE(tile_last_error(), "");
}

TEST_F(CApi, DestroyTakesNull) {
  tile_compiler_destroy(nullptr);
  tile_kernel_destroy(nullptr);
  tile_function_destroy(nullptr);
  tile_launch_destroy(nullptr);
  size_t length = 1;
  EXPECT_STREQ(tile_kernel_ptx(nullptr, &length), "");
  EXPECT_EQ(length, 0u);
}

TEST_F(CApi, StatusStringsAreDistinct) {
  std::set<std::string> seen;
  for (int status = TILE_OK; status <= TILE_DRIVER_ERROR; ++status)
    EXPECT_TRUE(seen.insert(tile_status_string(static_cast<tile_status>(status))).second);
  EXPECT_STREQ(tile_status_string(static_cast<tile_status>(15)), "unknown status");
}

} // namespace
