//===- ObserverTest.cpp - options of compilers: events, no compilations, folders ===//
//
// Through tile.h, on the mock compiler and the fake driver.
//
//===----------------------------------------------------------------------===//
#include "FakeCuda.h"
#include "MockCompiler.h"
#include "TestSupport.h"
#include "tile/jit.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <cstring>
#include <sys/stat.h>
#include <thread>

using namespace tile::test;
using testing::ElementsAre;

namespace {

class ObserverTest : public testing::Test {
protected:
  ObserverTest() {
    cuda.reset();
    mockCompilations = 0;
    tile_compiler_options_init(&options);
    options.cache_dir = cacheFolder.c_str();
    options.callback = note;
    options.callback_user = &events;
  }
  ~ObserverTest() override { tile_compiler_destroy(compiler); }

  static void note(void *user, const tile_event *event) {
    static const char *const kinds[] = {"",       "compile", "load", "tune",
                                        "launch", "warning", "print"};
    static const char *const sources[] = {"", " compiled", " disk", " shared", " file"};
    static_cast<std::vector<std::string> *>(user)->push_back(
        std::string(kinds[event->kind]) + sources[event->source] + " " + event->kernel +
        (event->status ? " " + std::to_string(event->status) : ""));
    EXPECT_GE(event->duration_us, 0);
  }
  /// A compiler as a new process would make it.
  void open() {
    tile_compiler_destroy(compiler);
    compiler = nullptr;
    events.clear();
    ASSERT_EQ(tile_compiler_create(&options, &compiler), TILE_OK) << tile_last_error();
  }
  tile_status compile(const char *source = "fine") {
    tile_kernel *kernel = nullptr;
    tile_status status =
        tile_compile_buffer(compiler, "k.tile", source, strlen(source), nullptr, &kernel);
    ptx = kernel ? tile_kernel_ptx(kernel, nullptr) : "";
    tile_kernel_destroy(kernel);
    return status;
  }
  tile_status launch(tile_function_info *info = nullptr) {
    tile_kernel *kernel = nullptr;
    tile_function *function = nullptr;
    tile_status status = tile_compile_buffer(compiler, "k.tile", "fine", 4, nullptr, &kernel);
    if (status == TILE_OK)
      status = tile_function_load(kernel, nullptr, &function);
    if (status == TILE_OK && info)
      EXPECT_EQ(tile_function_get_info(function, info), TILE_OK);
    const uint32_t grid[3] = {2, 3, 4};
    void *pointer = reinterpret_cast<void *>(0x1000);
    int32_t n = -5;
    float factor = 0.25f;
    const void *arguments[3] = {&pointer, &n, &factor};
    if (status == TILE_OK)
      status = tile_function_launch(function, nullptr, grid, arguments, 3, nullptr);
    tile_function_destroy(function);
    tile_kernel_destroy(kernel);
    return status;
  }
  tile_counters counters() {
    tile_counters counters = {};
    counters.size = sizeof counters;
    EXPECT_EQ(tile_compiler_get_counters(compiler, &counters), TILE_OK);
    return counters;
  }
  std::string in(const char *name) const { return folder.path.str().str() + "/" + name; }
  static std::string read(const std::string &path) {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    return buffer ? (*buffer)->getBuffer().str() : "<none>";
  }
  static void write(const std::string &path, llvm::StringRef text) {
    std::error_code code;
    llvm::raw_fd_ostream(path, code) << text;
    ASSERT_FALSE(code);
  }

  fakecuda::Control &cuda = *fakeCudaControl();
  TemporaryFolder folder;
  std::string cacheFolder = folder.path.str().str() + "/cache";
  tile_compiler_options options;
  tile_compiler *compiler = nullptr;
  std::vector<std::string> events;
  std::string ptx;
};

TEST_F(ObserverTest, EventsAndCounters) {
  open();
  EXPECT_EQ(launch(), TILE_OK);
  EXPECT_EQ(compile("error"), TILE_COMPILE_ERROR);
  EXPECT_EQ(compile(), TILE_OK); // from memory: nothing happens
  EXPECT_THAT(events,
              ElementsAre("compile compiled scale", "load scale", "launch scale", "compile  2"));
  tile_counters c = counters();
  EXPECT_EQ(c.compiled, 1u);
  EXPECT_EQ(c.compile_errors, 1u);
  EXPECT_EQ(c.loads, 1u);
  EXPECT_EQ(c.launches, 1u);
  EXPECT_EQ(c.from_disk, 0u);

  open();
  cuda.failures["cuModuleLoadDataEx"] = tile::cuda::Result::OutOfMemory;
  EXPECT_EQ(launch(), TILE_OUT_OF_MEMORY);
  EXPECT_THAT(events, ElementsAre("compile disk scale", "load scale 7"));
  EXPECT_EQ(counters().from_disk, 1u);
}

// What a kernel prints while it is compiled goes to the host, not to its standard error.
TEST_F(ObserverTest, StaticPrintsAreEvents) {
  open();
  testing::internal::CaptureStderr();
  EXPECT_EQ(compile("prints"), TILE_OK);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_THAT(events, ElementsAre("print ", "compile compiled scale"));
}

TEST_F(ObserverTest, LaunchesOfThreadsAreAllCounted) {
  options.callback = nullptr;
  open();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 50; ++i)
        EXPECT_EQ(launch(), TILE_OK);
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(counters().launches, 400u);
}

TEST_F(ObserverTest, NoCompileServesWhatIsThereAndNothingElse) {
  open();
  EXPECT_EQ(compile(), TILE_OK);
  options.no_compile = 1;
  open();
  EXPECT_EQ(compile(), TILE_OK) << "from disk";
  EXPECT_EQ(mockCompilations, 1);
  EXPECT_EQ(compile("another"), TILE_NO_COMPILE);
  std::string message = tile_last_error();
  EXPECT_THAT(message, HasSubstr("`k.tile` would have to be compiled for `num_warps=4"));
  EXPECT_THAT(message, HasSubstr("its key is "));
  EXPECT_EQ(mockCompilations, 1);
  EXPECT_EQ(counters().forbidden, 1u);
  EXPECT_THAT(events, ElementsAre("compile disk scale", "compile  12"));
  EXPECT_STREQ(tile_status_string(TILE_NO_COMPILE), "a compilation is needed, and none is allowed");

  // A kernel that takes values names the variant that was missing.
  const char *source = "import triton\n@triton.jit\ndef k(n):\n    pass\n";
  tile_jit *jit = nullptr;
  ASSERT_EQ(tile_jit_create_buffer(compiler, "j.tile", source, strlen(source), nullptr, &jit),
            TILE_OK);
  const uint32_t grid[3] = {1, 1, 1};
  tile_value n = tile_int(32);
  EXPECT_EQ(tile_jit_launch(jit, nullptr, grid, &n, 1, nullptr), TILE_NO_COMPILE);
  EXPECT_THAT(tile_last_error(),
              HasSubstr("`k` would have to be compiled for `i32:16 num_warps=4"));
  tile_jit_destroy(jit);
}

TEST_F(ObserverTest, EnvironmentSpeaksWhereOptionsDoNot) {
  setenv("TILE_NO_COMPILE", "1", 1);
  open();
  EXPECT_EQ(compile(), TILE_NO_COMPILE);
  options.no_compile = 0;
  open();
  EXPECT_EQ(compile(), TILE_OK);
  setenv("TILE_NO_COMPILE", "0", 1);
  options.no_compile = -1;
  open();
  EXPECT_EQ(compile("another"), TILE_OK);
  unsetenv("TILE_NO_COMPILE");
}

TEST_F(ObserverTest, TraceIsWhatViewersRead) {
  std::string file = in("trace.json");
  options.trace = file.c_str();
  options.callback = nullptr;
  open();
  EXPECT_EQ(launch(), TILE_OK);
  EXPECT_EQ(compile("error"), TILE_COMPILE_ERROR);
  tile_compiler_destroy(compiler);
  compiler = nullptr;
  auto parsed = llvm::json::parse(read(file));
  ASSERT_TRUE(bool(parsed)) << read(file);
  const llvm::json::Array &list = *parsed->getAsArray();
  ASSERT_EQ(list.size(), 5u); // and an empty one at the end
  std::vector<std::string> categories;
  for (const llvm::json::Value &event : llvm::drop_end(list)) {
    categories.push_back(event.getAsObject()->getString("cat")->str());
    EXPECT_EQ(event.getAsObject()->getString("ph"), "X");
    EXPECT_TRUE(event.getAsObject()->getNumber("ts"));
    EXPECT_TRUE(event.getAsObject()->getNumber("dur"));
  }
  EXPECT_THAT(categories, ElementsAre("compile", "load", "launch", "compile"));
  EXPECT_EQ(list[0].getAsObject()->getObject("args")->getString("source"), "compiled");

  options.trace = "/not/there/trace.json";
  EXPECT_EQ(tile_compiler_create(&options, &compiler), TILE_IO_ERROR);
  EXPECT_THAT(tile_last_error(), HasSubstr("the trace `/not/there/trace.json` cannot be written"));
}

TEST_F(ObserverTest, CacheThatIsNotWrittenIsOneWarning) {
  ASSERT_EQ(mkdir(cacheFolder.c_str(), 0777), 0);
  chmod(cacheFolder.c_str(), 0777);
  open();
  EXPECT_EQ(compile(), TILE_OK);
  EXPECT_EQ(compile("another"), TILE_OK);
  EXPECT_EQ(std::count(events.begin(), events.end(), "warning "), 1);
  EXPECT_EQ(counters().warnings, 1u);
}

TEST_F(ObserverTest, SharedCacheIsReadAndNotWritten) {
  open();
  EXPECT_EQ(compile(), TILE_OK);
  std::string shared = cacheFolder, mine = in("mine");
  options.shared_cache_dir = shared.c_str();
  options.cache_dir = mine.c_str();
  open();
  EXPECT_EQ(compile(), TILE_OK);
  EXPECT_THAT(events, ElementsAre("compile shared scale"));
  EXPECT_EQ(compile("another"), TILE_OK);
  options.shared_cache_dir = "";
  open();
  EXPECT_EQ(compile("another"), TILE_OK);
  EXPECT_THAT(events, ElementsAre("compile disk scale")) << "what is new is kept in the own one";
  options.cache_dir = shared.c_str();
  open();
  EXPECT_EQ(compile("another"), TILE_OK);
  EXPECT_THAT(events, ElementsAre("compile compiled scale")) << "and not in the shared one";
  // One that others may write to is not believed.
  chmod(shared.c_str(), 0777);
  options.shared_cache_dir = shared.c_str();
  options.cache_dir = "";
  open();
  EXPECT_EQ(compile(), TILE_OK);
  EXPECT_THAT(events, ElementsAre("warning ", "compile compiled scale"));
}

TEST_F(ObserverTest, StagesAreDumpedAndPtxIsOverridden) {
  std::string dump = in("dump");
  options.dump_dir = dump.c_str();
  open();
  EXPECT_EQ(compile(), TILE_OK);
  std::vector<std::string> names;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator it(dump, code), end; it != end && !code;
       it.increment(code))
    names.push_back(llvm::sys::path::extension(it->path()).str());
  EXPECT_THAT(names, testing::UnorderedElementsAre(".tile", ".cta", ".llvm", ".ptx", ".json"));

  std::string other = ptx + "// by hand\n", folderOfPtx = in("override");
  ASSERT_FALSE(llvm::sys::fs::create_directory(folderOfPtx));
  write(folderOfPtx + "/scale.ptx", other);
  options.override_dir = folderOfPtx.c_str();
  open();
  EXPECT_EQ(compile(), TILE_OK);
  EXPECT_EQ(ptx, other);
  EXPECT_THAT(events, ElementsAre("compile file scale"));
  options.override_dir = "";
  open();
  EXPECT_EQ(compile(), TILE_OK);
  EXPECT_NE(ptx, other) << "what came from a file is not kept";
}

TEST_F(ObserverTest, MachineCodeIsKeptWhereAnAssemblerIsNamed) {
  // One that puts the fake driver's mark before the PTX, as its linker does.
  std::string assembler = in("ptxas");
  write(assembler, "#!/bin/sh\nfor a; do case $a in -o) out=1;; -*) ;; *) [ \"$out\" ] && "
                   "target=$a || input=$a;; esac; done\n"
                   "{ echo FAKECUBIN; cat \"$input\"; } > \"$target\"\n");
  chmod(assembler.c_str(), 0755);
  options.ptxas = assembler.c_str();
  open();
  tile_function_info info = {};
  info.size = sizeof info;
  EXPECT_EQ(launch(&info), TILE_OK) << tile_last_error();
  EXPECT_EQ(info.from_cubin, 1);
  options.ptxas = "";
  open();
  EXPECT_EQ(launch(&info), TILE_OK);
  EXPECT_EQ(info.from_cubin, 1) << "the cache has it";
  // What the driver does not take is compiled from PTX.
  options.ptxas = "/bin/false";
  options.cache_dir = "";
  open();
  EXPECT_EQ(launch(&info), TILE_OK);
  EXPECT_EQ(info.from_cubin, 0);
  EXPECT_EQ(counters().warnings, 1u);
}

TEST_F(ObserverTest, BlockingLaunchesSayWhatFailed) {
  options.blocking = 1;
  open();
  EXPECT_EQ(launch(), TILE_OK);
  cuda.failures["cuCtxSynchronize"] = tile::cuda::Result::IllegalAddress;
  EXPECT_EQ(launch(), TILE_DRIVER_ERROR);
  std::string message = tile_last_error();
  EXPECT_THAT(message, HasSubstr("`scale` fails on the device: "));
  EXPECT_THAT(message, HasSubstr("illegal memory access"));
  EXPECT_THAT(message, HasSubstr("grid: 2 x 3 x 4 programs"));
  EXPECT_THAT(message, HasSubstr("0: ptr 0x1000, 1: i32 -5, 2: fp32 0.25"));
  EXPECT_THAT(message, HasSubstr("--device emu"));
  EXPECT_EQ(events.back(), "launch scale 10");
}

} // namespace
