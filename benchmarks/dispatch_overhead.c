/*===- dispatch_overhead.c - CPU time of a launch that finds its variant ---===*\
 *
 *   tile-dispatch-overhead path/to/libtile.so [THREADS]
 *
 * Launches a kernel of ten arguments that does nothing, in batches, each after the device
 * has become idle, and prints nanoseconds a launch as JSON, best and median batch. The ways
 * take turns in one loop: the bare cuLaunchKernelEx on the same function with the same
 * arguments, tile_function_launch, and tile_jit_launch, which finds the variant from the
 * values, with a grid that is given and one that the file's function computes. With THREADS
 * it prints how many launches a second so many threads make on a stream each, beside one: by
 * tile_jit_launch, and by the driver's call alone.
 *
 * Over the fake driver of the tests (LD_LIBRARY_PATH, FAKE_CUDA_QUIET=1), whose launch costs
 * next to nothing, it shows what the library adds.
 *
\*===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "tile/jit.h"
#include <pthread.h>
#include <string.h>

enum { batch = 256, batches = 400, ways = 4, numValues = 10, mostThreads = 64 };

static const char source[] =
    "import triton\n"
    "import triton.language as tl\n"
    "@triton.jit\n"
    "def ten(a, b, c, d, m, n, k, stride, scale, BLOCK: tl.constexpr):\n"
    "    if m < 0:\n"
    "        tl.store(a + tl.arange(0, BLOCK), tl.load(b + tl.arange(0, BLOCK)) * scale +\n"
    "                 tl.load(c + tl.arange(0, BLOCK)) + tl.load(d + tl.arange(0, BLOCK)) + n + k\n"
    "                 + stride)\n"
    "def ten_grid(args):\n"
    "    return (triton.cdiv(args['m'], args['BLOCK']),)\n";

#define FUNCTIONS(X)                                                                               \
  X(tile_last_error)                                                                               \
  X(tile_compiler_options_init_sized)                                                              \
  X(tile_compiler_create)                                                                          \
  X(tile_jit_options_init_sized)                                                                   \
  X(tile_jit_create_buffer)                                                                        \
  X(tile_jit_find)                                                                                 \
  X(tile_jit_launch)                                                                               \
  X(tile_function_get_info)                                                                        \
  X(tile_function_launch)                                                                          \
  X(tile_memory_alloc)                                                                             \
  X(tile_synchronize)

#include "library.h"

/* CUlaunchConfig and cuLaunchKernelEx, resolved from the driver that libtile has loaded. */
typedef struct {
  unsigned grid[3], block[3], shared;
  void *stream, *attributes;
  unsigned numAttributes;
} LaunchConfig;
typedef int (*DriverLaunch)(const LaunchConfig *config, void *function, void **arguments,
                            void **extra);

/* Everything one launch needs. */
typedef struct {
  tile_jit *jit;
  tile_function *function;
  void *handle, *stream;
  DriverLaunch bare;
  tile_value values[numValues];
  const void *arguments[numValues]; /* of the signature: the constexpr is none of it */
  void *parameters[numValues];      /* of the kernel: what is 1 is none of them */
  float scale;
  uint32_t grid[3];
} Work;

static void launchBare(const Work *work) {
  LaunchConfig config = {{1, 1, 1}, {128, 1, 1}, 0, work->stream, NULL, 0};
  if (work->bare(&config, work->handle, (void **)work->parameters, NULL)) {
    fprintf(stderr, "cuLaunchKernelEx failed\n");
    exit(1);
  }
}
static void launchFunction(const Work *work) {
  check(api.tile_function_launch(work->function, work->stream, work->grid, work->arguments,
                                 numValues - 1, NULL));
}
static void launchJit(const Work *work) {
  check(api.tile_jit_launch(work->jit, work->stream, work->grid, work->values, numValues, NULL));
}
static void launchJitGrid(const Work *work) {
  check(api.tile_jit_launch(work->jit, work->stream, NULL, work->values, numValues, NULL));
}

static const struct {
  const char *name;
  void (*launch)(const Work *);
} way[ways] = {{"driver", launchBare},
               {"function", launchFunction},
               {"jit", launchJit},
               {"jit_with_grid", launchJitGrid}};

static double measure(void (*launch)(const Work *), const Work *work) {
  check(api.tile_synchronize(NULL, NULL));
  double start = nanoseconds();
  for (int i = 0; i < batch; ++i)
    launch(work);
  return (nanoseconds() - start) / batch;
}

static void measureWays(const Work *work) {
  static double times[ways][batches];
  for (int i = -20; i < batches; ++i) /* those before 0 warm up */
    for (int w = 0; w < ways; ++w)
      times[w][i < 0 ? 0 : i] = measure(way[w].launch, work);
  for (int w = 0; w < ways; ++w) {
    qsort(times[w], batches, sizeof(double), compareDoubles);
    printf("%s\"%s_best\": %.1f, \"%s_median\": %.1f", w ? ", " : "{", way[w].name, times[w][0],
           way[w].name, times[w][batches / 2]);
  }
}

static int (*setContext)(void *);
static void *context;
static void (*launchOfThreads)(const Work *);
static void *launchMany(void *argument) {
  if (setContext(context))
    exit(1);
  for (int i = 0; i < 100; ++i)
    for (int j = 0; j < batch; ++j)
      launchOfThreads(argument);
  return NULL;
}

/* Launches a second of so many threads. */
static double rateOf(void (*launch)(const Work *), const Work *works, int threads) {
  launchOfThreads = launch;
  pthread_t ids[mostThreads];
  check(api.tile_synchronize(NULL, NULL));
  double start = nanoseconds();
  for (int i = 0; i < threads; ++i)
    pthread_create(&ids[i], NULL, launchMany, (void *)&works[i]);
  for (int i = 0; i < threads; ++i)
    pthread_join(ids[i], NULL);
  return threads * 100.0 * batch / (nanoseconds() - start) * 1e9;
}

static void prepare(Work *work) {
  tile_compiler_options compilerOptions;
  api.tile_compiler_options_init_sized(&compilerOptions, sizeof compilerOptions);
  compilerOptions.cache_dir = "";
  tile_compiler *compiler;
  check(api.tile_compiler_create(&compilerOptions, &compiler));
  tile_jit_options options;
  api.tile_jit_options_init_sized(&options, sizeof options);
  check(api.tile_jit_create_buffer(compiler, "ten.tile", source, strlen(source), &options,
                                   &work->jit));
  for (int i = 0; i < 4; ++i) {
    void *buffer;
    check(api.tile_memory_alloc(NULL, 4096, &buffer));
    work->values[i] = tile_pointer(buffer, TILE_FP32);
  }
  static const int64_t integers[] = {100, 48, 33, 1};
  for (int i = 0; i < 4; ++i)
    work->values[4 + i] = tile_int(integers[i]);
  work->values[8] = tile_float(0.5);
  work->values[9] = tile_int(128);
  work->scale = 0.5f;
  work->grid[0] = work->grid[1] = work->grid[2] = 1;
  int numParameters = 0;
  for (int i = 0; i < numValues - 1; ++i) {
    work->arguments[i] = i == 8 ? (const void *)&work->scale : (const void *)&work->values[i].as;
    if (i != 7)
      work->parameters[numParameters++] = (void *)work->arguments[i];
  }
  check(api.tile_jit_find(work->jit, work->values, numValues, &work->function));
}

int main(int argc, char **argv) {
  if (argc != 2 && argc != 3) {
    fprintf(stderr, "usage: %s libtile.so [THREADS]\n", argv[0]);
    return 2;
  }
  int threads = argc == 3 ? atoi(argv[2]) : 0;
  if (threads < 0 || threads > mostThreads) {
    fprintf(stderr, "up to %d threads are possible\n", mostThreads);
    return 2;
  }
  openLibrary(argv[1]);
  static Work work;
  prepare(&work);
  tile_function_info info = {.size = sizeof(info)};
  check(api.tile_function_get_info(work.function, &info));
  work.handle = info.handle;
  context = info.context;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  int (*createStream)(void **, unsigned flags);
  const unsigned nonBlocking = 1; /* CU_STREAM_NON_BLOCKING */
  if (!driver || !(*(void **)&work.bare = dlsym(driver, "cuLaunchKernelEx")) ||
      !(*(void **)&createStream = dlsym(driver, "cuStreamCreate")) ||
      !(*(void **)&setContext = dlsym(driver, "cuCtxSetCurrent")) || setContext(info.context) ||
      createStream(&work.stream, nonBlocking)) {
    fprintf(stderr, "no cuLaunchKernelEx, or no context or stream for it\n");
    return 1;
  }
  measureWays(&work);
  if (threads) {
    static Work works[mostThreads];
    for (int i = 0; i < threads; ++i) {
      works[i] = work;
      if (createStream(&works[i].stream, nonBlocking))
        return 1;
    }
    (void)rateOf(launchJit, works, 1);
    printf(", \"threads\": %d, \"rate_of_1\": %.0f, \"rate_of_all\": %.0f", threads,
           rateOf(launchJit, works, 1), rateOf(launchJit, works, threads));
    printf(", \"driver_rate_of_1\": %.0f, \"driver_rate_of_all\": %.0f",
           rateOf(launchBare, works, 1), rateOf(launchBare, works, threads));
  }
  printf("}\n");
  return 0;
}
