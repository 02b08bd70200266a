/*===- start_time.c - from the start of a process to its first launch -------===*\
 *
 *   tile-start-time path/to/libtile.so [RUNS]
 *   tile-start-time-ahead [RUNS]
 *
 * Starts itself over and over. Each process makes a context with the driver, which is not
 * counted, and launches a kernel once: with libtile, one that the disk cache has (the first
 * process, which compiles it, is not counted either), or one that was built ahead, with
 * libtile_rt. Prints the medians of the steps in microseconds, as JSON: until main runs, opening
 * the library, and from there through the first launch; and their sum.
 *
 * Over the fake driver of the tests (LD_LIBRARY_PATH, FAKE_CUDA_QUIET=1) it shows what is ours.
 *
\*===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#ifdef TILE_START_AHEAD
#include "ahead.h"
#else
#include "tile/jit.h"
#endif
#include <dlfcn.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { steps = 3, mostRuns = 1000 };
static const char *const stepNames[steps] = {"process", "library", "launch"};

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static void fail(const char *what) {
  fprintf(stderr, "tile-start-time: %s\n", what);
  exit(1);
}

/* A context of the program's own is current, and a few bytes of its memory. */
static void *openDriver(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_GLOBAL), *context = NULL;
  uint64_t memory = 0;
  if (!driver)
    fail("there is no libcuda.so.1");
  int (*init)(unsigned), (*retain)(void **, int), (*push)(void *), (*alloc)(uint64_t *, size_t);
  *(void **)&init = dlsym(driver, "cuInit");
  *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
  *(void **)&push = dlsym(driver, "cuCtxPushCurrent_v2");
  *(void **)&alloc = dlsym(driver, "cuMemAlloc_v2");
  if (!init || !retain || !push || !alloc)
    fail("the driver lacks a function");
  if (init(0) || retain(&context, 0) || push(context) || alloc(&memory, 65536))
    fail("the driver makes no context");
  return (void *)(uintptr_t)memory;
}

#ifdef TILE_START_AHEAD
static double launchFirst(const char *library, void *memory) {
  (void)library; /* linked */
  double opened = now();
  if (scale_launch(NULL, NULL, memory, 1000, 2.0, tile_int(128)) != TILE_OK)
    fail(tile_rt_last_error());
  return opened;
}
#else
static const char source[] = "import triton\n"
                             "import triton.language as tl\n"
                             "@triton.jit\n"
                             "def scale(x, n, factor, BLOCK: tl.constexpr):\n"
                             "    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)\n"
                             "    tl.store(x + i, tl.load(x + i, i < n) * factor, i < n)\n"
                             "def scale_grid(args):\n"
                             "    return (triton.cdiv(args['n'], args['BLOCK']),)\n";

static double launchFirst(const char *path, void *memory) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail(dlerror());
  double opened = now();
  const char *(*lastError)(void);
  void (*initCompiler)(tile_compiler_options *, size_t), (*initJit)(tile_jit_options *, size_t);
  tile_status (*createCompiler)(const tile_compiler_options *, tile_compiler **);
  tile_status (*createJit)(tile_compiler *, const char *, const char *, size_t,
                           const tile_jit_options *, tile_jit **);
  tile_status (*launch)(tile_jit *, void *, const uint32_t *, const tile_value *, size_t,
                        const tile_launch_options *);
  *(void **)&lastError = dlsym(library, "tile_last_error");
  *(void **)&initCompiler = dlsym(library, "tile_compiler_options_init_sized");
  *(void **)&createCompiler = dlsym(library, "tile_compiler_create");
  *(void **)&initJit = dlsym(library, "tile_jit_options_init_sized");
  *(void **)&createJit = dlsym(library, "tile_jit_create_buffer");
  *(void **)&launch = dlsym(library, "tile_jit_launch");
  if (!lastError || !initCompiler || !createCompiler || !initJit || !createJit || !launch)
    fail("this is no libtile");
  tile_compiler_options compilerOptions;
  initCompiler(&compilerOptions, sizeof compilerOptions);
  tile_compiler *compiler = NULL;
  tile_jit_options options;
  initJit(&options, sizeof options);
  tile_jit *jit = NULL;
  const tile_value values[] = {tile_pointer(memory, TILE_FP32), tile_int(1000), tile_float(2.0),
                               tile_int(128)};
  if (createCompiler(&compilerOptions, &compiler) != TILE_OK ||
      createJit(compiler, "scale.tile", source, strlen(source), &options, &jit) != TILE_OK ||
      launch(jit, NULL, NULL, values, 4, NULL) != TILE_OK)
    fail(lastError());
  return opened;
}
#endif

/* Prints the steps' ends for the process that started this one at `began`. */
static int child(const char *library, double began) {
  double inMain = now();
  void *memory = openDriver();
  double ready = now();
  double opened = launchFirst(library, memory), done = now();
  printf("%f %f %f\n", inMain - began, opened - ready, done - opened);
  fflush(stdout);
  _exit(0); /* nothing of the end counts */
}

static void runChild(const char *self, const char *library, double times[steps]) {
  char began[64];
  int ends[2];
  if (pipe(ends))
    fail("no pipe");
  snprintf(began, sizeof began, "%.3f", now());
  /* Not fork: the child would begin with copies of this process's pages, which the driver's
     libraries make expensive on some hosts, and that is no cost of the process that is started. */
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  posix_spawn_file_actions_addclose(&actions, ends[1]);
  char *arguments[] = {(char *)self, "--child", (char *)library, began, NULL};
  pid_t id = 0;
  int error = posix_spawn(&id, self, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error)
    fail("no process");
  close(ends[1]);
  FILE *from = fdopen(ends[0], "r");
  int status = 0;
  int read = from ? fscanf(from, "%lf %lf %lf", &times[0], &times[1], &times[2]) : 0;
  if (from)
    fclose(from);
  if (waitpid(id, &status, 0) != id || status || read != steps)
    fail("a process has failed");
}

static int compareDoubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

int main(int argc, char **argv) {
  if (argc == 4 && !strcmp(argv[1], "--child"))
    return child(argv[2], atof(argv[3]));
#ifdef TILE_START_AHEAD
  const char *library = "-", *number = argc > 1 ? argv[1] : "50";
#else
  if (argc < 2)
    fail("expected the path of libtile.so");
  const char *library = argv[1], *number = argc > 2 ? argv[2] : "50";
#endif
  int runs = atoi(number);
  if (runs < 1 || runs > mostRuns)
    fail("expected 1 to 1000 runs");
  char folder[] = "/tmp/tile-start-XXXXXX";
  if (!mkdtemp(folder))
    fail("no folder for a cache");
  setenv("TILE_CACHE_DIR", folder, 1);
  static double times[steps + 1][mostRuns];
  double one[steps];
  runChild("/proc/self/exe", library, one); /* fills the cache */
  for (int i = 0; i < runs; ++i) {
    runChild("/proc/self/exe", library, one);
    for (int s = 0; s < steps; ++s) {
      times[s][i] = one[s];
      times[steps][i] += one[s];
    }
  }
  for (int s = 0; s <= steps; ++s) {
    qsort(times[s], (size_t)runs, sizeof(double), compareDoubles);
    printf("%s\"%s_us\": %.0f", s ? ", " : "{", s < steps ? stepNames[s] : "all",
           times[s][runs / 2]);
  }
  printf(", \"all_best_us\": %.0f}\n", times[steps][0]);
  char remove[64];
  snprintf(remove, sizeof remove, "rm -rf %s", folder);
  return system(remove) != 0;
}
