//===- CompilerLibraryTest.cpp - libtile.so, with and without its compiler ===//
//
// As a program that opens libtile.so sees it, over the fake driver. Each test is a process of its
// own (CMakeLists.txt): what has been loaded stays.
//
//===----------------------------------------------------------------------===//
#include "tile/jit.h"
#include <atomic>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

namespace {

const char *const source = R"(import triton
import triton.language as tl
@triton.jit
def scale(x, n, factor, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x + i, tl.load(x + i, i < n) * factor, i < n)
def scale_grid(args):
    return (triton.cdiv(args['n'], args['BLOCK']),)
)";
const char *const function = "@tile.function\ndef twice(x):\n    return x * 2.0\n";

/// A folder for libraries and a cache, which goes with the test.
class CompilerLibrary : public testing::Test {
protected:
  CompilerLibrary() {
    char made[] = "/tmp/tile-test-XXXXXX";
    folder = mkdtemp(made);
    setenv("TILE_CACHE_DIR", (folder / "cache").c_str(), 1);
  }
  ~CompilerLibrary() override {
    if (compiler)
      get<decltype(&tile_compiler_destroy)>("tile_compiler_destroy")(compiler);
    fs::remove_all(folder);
  }

  /// A copy of a library, under the name that it is looked for by.
  fs::path copy(const fs::path &library, const fs::path &to) {
    fs::create_directories(to);
    fs::path name = library.filename().string() + ".0";
    fs::copy_file(library, to / name);
    return to / name;
  }
  void open(const fs::path &path) {
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library, nullptr) << dlerror();
    tile_compiler_options options;
    get<void (*)(tile_compiler_options *, size_t)>("tile_compiler_options_init_sized")(
        &options, sizeof options);
    ASSERT_EQ(get<decltype(&tile_compiler_create)>("tile_compiler_create")(&options, &compiler),
              TILE_OK);
  }
  template <typename Function> Function get(const char *name) {
    return reinterpret_cast<Function>(dlsym(library, name));
  }
  std::string lastError() { return get<decltype(&tile_last_error)>("tile_last_error")(); }

  /// Launches `scale` with this block.
  tile_status launch(int64_t block) {
    tile_jit *jit = nullptr;
    tile_jit_options options;
    get<void (*)(tile_jit_options *, size_t)>("tile_jit_options_init_sized")(&options,
                                                                             sizeof options);
    EXPECT_EQ(get<decltype(&tile_jit_create_buffer)>("tile_jit_create_buffer")(
                  compiler, "scale.tile", source, strlen(source), &options, &jit),
              TILE_OK);
    void *memory = nullptr;
    EXPECT_EQ(get<decltype(&tile_memory_alloc)>("tile_memory_alloc")(nullptr, 4096, &memory),
              TILE_OK);
    const tile_value values[] = {tile_pointer(memory, TILE_FP32), tile_int(1000), tile_float(2.0),
                                 tile_int(block)};
    tile_status status = get<decltype(&tile_jit_launch)>("tile_jit_launch")(jit, nullptr, nullptr,
                                                                            values, 4, nullptr);
    get<decltype(&tile_jit_destroy)>("tile_jit_destroy")(jit);
    return status;
  }
  static bool isCompilerLoaded() {
    std::ifstream maps("/proc/self/maps");
    std::stringstream text;
    text << maps.rdbuf();
    return text.str().find("libtile_compiler") != std::string::npos;
  }
  /// Another process compiles the kernel with this block, into the same cache.
  void compileElsewhere(int64_t block) {
    pid_t child = fork();
    if (child == 0) {
      open(LIBTILE);
      _exit(compiler && launch(block) == TILE_OK ? 0 : 1);
    }
    int status = 1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
  }

  fs::path folder;
  void *library = nullptr;
  tile_compiler *compiler = nullptr;
};
} // namespace

TEST_F(CompilerLibrary, IsNotLoadedForKernelsInTheCache) {
  compileElsewhere(128);
  open(LIBTILE);
  EXPECT_EQ(launch(128), TILE_OK) << lastError();
  EXPECT_FALSE(isCompilerLoaded());
  EXPECT_EQ(launch(64), TILE_OK) << lastError();
  EXPECT_TRUE(isCompilerLoaded());
}

TEST_F(CompilerLibrary, IsNotNeededForKernelsInTheCache) {
  compileElsewhere(128);
  open(copy(LIBTILE, folder / "lib"));
  EXPECT_EQ(launch(128), TILE_OK) << lastError();
  EXPECT_EQ(launch(64), TILE_NO_COMPILE);
  EXPECT_THAT(lastError(),
              AllOf(HasSubstr("`scale` would have to be compiled for"),
                    HasSubstr("the compiler cannot be loaded"), HasSubstr("libtile_compiler.so")));

  auto *program = reinterpret_cast<tile_program *>(this);
  EXPECT_EQ(get<decltype(&tile_program_compile_buffer)>("tile_program_compile_buffer")(
                compiler, "f.tile", function, strlen(function), nullptr, &program),
            TILE_NO_COMPILE);
  EXPECT_EQ(program, nullptr);
  EXPECT_THAT(lastError(), HasSubstr("libtile_compiler.so"));
  get<decltype(&tile_program_destroy)>("tile_program_destroy")(program);
  tile_emulator *emulator = nullptr;
  EXPECT_EQ(get<decltype(&tile_emulator_create)>("tile_emulator_create")(nullptr, &emulator),
            TILE_NO_COMPILE);
  get<decltype(&tile_emulator_destroy)>("tile_emulator_destroy")(emulator);

  // One that comes later is found.
  copy(LIBTILE_COMPILER, folder / "lib");
  EXPECT_EQ(launch(64), TILE_OK) << lastError();
}

TEST_F(CompilerLibrary, IsFoundBehindLinks) {
  copy(LIBTILE_COMPILER, folder / "lib");
  fs::create_directories(folder / "links");
  fs::create_symlink(copy(LIBTILE, folder / "lib"), folder / "links/libtile.so");
  open(folder / "links/libtile.so");
  EXPECT_EQ(launch(64), TILE_OK) << lastError();
}

TEST_F(CompilerLibrary, IsFoundFromARelativePath) {
  copy(LIBTILE_COMPILER, folder / "lib");
  copy(LIBTILE, folder / "lib");
  fs::current_path(folder);
  open("lib/libtile.so.0");
  fs::current_path("/");
  EXPECT_EQ(launch(64), TILE_OK) << lastError();
}

TEST_F(CompilerLibrary, OfAnotherBuildIsRefused) {
  fs::path path = copy(LIBTILE, folder / "lib");
  fs::copy_file(OTHER_COMPILER, folder / "lib/libtile_compiler.so.0");
  open(path);
  EXPECT_EQ(launch(64), TILE_NO_COMPILE);
  EXPECT_THAT(lastError(), HasSubstr("belongs to another version of libtile"));
}

TEST_F(CompilerLibrary, OfAnotherLibtileIsRefused) {
  ASSERT_NE(dlopen(LIBTILE, RTLD_NOW | RTLD_LOCAL), nullptr);
  copy(LIBTILE_COMPILER, folder / "lib");
  open(copy(LIBTILE, folder / "lib"));
  EXPECT_EQ(launch(64), TILE_NO_COMPILE);
  EXPECT_THAT(lastError(), HasSubstr("another libtile"));
}

TEST_F(CompilerLibrary, ServesManyThreadsAtOnce) {
  open(LIBTILE);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] { wrong += launch(16 << (i % 4)) != TILE_OK; });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(wrong, 0);
}
