//===- ManyKeys.cpp - a process that launches for ever --------------------===//
//
//   ManyKeys [LAUNCHES KEYS]
//
// Launches a kernel over and over, in an order without a pattern, with arguments of so many keys,
// on the mock compiler and the fake driver. Once every key has been seen the process must not
// grow, nor allocate, nor lock; and what a key takes is bounded. The long form is
// `ManyKeys 100000000 10000`.
//
//===----------------------------------------------------------------------===//
#include "CountAllocations.h"
#include "FakeCuda.h"
#include "MockCompiler.h"
#include "tile/jit.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>

using namespace tile::test;

namespace {

const char *const source = R"(
import triton
import triton.language as tl
@triton.jit
def add(x, n, BLOCK: tl.constexpr):
    pass
)";
/// More than that a key's kernel, module and table entry do not take here.
constexpr double kMostBytesOfKey = 32768;
/// What the system may give and take by itself.
constexpr long kMostGrowth = 256 << 10;

/// Asked for while allocations are counted.
long residentBytes() {
  int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  char text[128];
  ssize_t length = ::read(file, text, sizeof text - 1);
  ::close(file);
  text[std::max<ssize_t>(length, 0)] = 0;
  char *end = nullptr;
  (void)std::strtol(text, &end, 10); // all pages
  return std::strtol(end, nullptr, 10) * sysconf(_SC_PAGESIZE);
}

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "ManyKeys: %s\n", what);
  std::exit(1);
}
void check(tile_status status) {
  if (status != TILE_OK)
    fail(tile_last_error());
}

struct Launcher {
  tile_compiler *compiler = nullptr;
  tile_jit *jit = nullptr;
  Launcher() {
    tile_compiler_options options;
    tile_compiler_options_init(&options);
    options.cache_dir = "";
    check(tile_compiler_create(&options, &compiler));
    tile_jit_options jitOptions;
    tile_jit_options_init(&jitOptions);
    check(
        tile_jit_create_buffer(compiler, "k.tile", source, std::strlen(source), &jitOptions, &jit));
  }
  ~Launcher() {
    tile_jit_destroy(jit);
    tile_compiler_destroy(compiler);
  }
  void launch(long key) const {
    const uint32_t grid[3] = {1, 1, 1};
    // Two alignments, three kinds of numbers, the rest constants.
    const tile_value values[] = {
        tile_pointer(reinterpret_cast<void *>(key % 2 ? 256 : 8), TILE_FP32),
        tile_int(key % 3 == 0   ? 1
                 : key % 3 == 1 ? 48
                                : 7),
        tile_int(key / 6 + 1)};
    check(tile_jit_launch(jit, nullptr, grid, values, 3, nullptr));
  }
};

} // namespace

int main(int argc, char **argv) {
  long launches = argc > 1 ? std::atol(argv[1]) : 500'000;
  long keys = argc > 2 ? std::atol(argv[2]) : 1000;
  if (keys < 1 || launches < keys)
    fail("expected LAUNCHES KEYS, with no fewer launches than keys");
  fakeCudaControl()->reset();
  fakeCudaControl()->quiet = true;
  Launcher launcher;
  launcher.launch(0);
  long before = residentBytes();
  for (long key = 0; key < keys; ++key)
    launcher.launch(key);
  double ofKey = double(residentBytes() - before) / double(keys);

  long seen = residentBytes();
  Counts counted = counts();
  std::clock_t start = std::clock();
  uint64_t random = 88172645463325252u; // xorshift
  long tenth = 0, half = 0;             // resident by then
  for (long i = 0; i < launches; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    launcher.launch(long(random % uint64_t(keys)));
    if (i == launches / 10)
      tenth = residentBytes();
    if (i == launches / 2)
      half = residentBytes();
  }
  double nanoseconds = double(std::clock() - start) * 1e9 / CLOCKS_PER_SEC;
  Counts after = counts();
  long end = residentBytes(), growth = end - seen;
  std::printf("%ld launches over %ld keys: %.0f ns of the processor each; %.0f bytes a key, %ld "
              "bytes grown, "
              "%lu allocations, %lu locks\n",
              launches, keys, nanoseconds / double(launches), ofKey, growth,
              after.mallocs - counted.mallocs + after.news - counted.news,
              after.locks - counted.locks);
  std::printf("resident KiB: %ld at first, %ld with all keys, %ld after a tenth, %ld after a half, "
              "%ld at the end\n",
              before >> 10, seen >> 10, tenth >> 10, half >> 10, end >> 10);
  if (mockCompilations != keys)
    fail("each key is compiled once");
  if (after.news != counted.news || after.mallocs != counted.mallocs ||
      after.locks != counted.locks)
    fail("a launch of a known key allocates or locks");
  if (countsMallocs() && (growth > kMostGrowth || ofKey > kMostBytesOfKey))
    fail("memory is not bounded");
  return 0;
}
