/*===- launch_overhead.c - CPU time of a launch through the C API ----------===*\
 *
 *   tile-launch-overhead path/to/libtile.so path/to/vector_add.tile
 *
 * Launches a tiny vector add in batches, each after the device has become idle
 * and short enough for the driver's queue not to fill, and prints, as JSON, the best
 * and the median batch in microseconds a launch: of the host alone, and (`_idle`) until
 * the device is idle again, which tells what a way costs there. The
 * ways to launch take turns: the two of the C API (a prepared launch is
 * repeated as a graph), the direct one without dependent launch, and cuLaunchKernel
 * itself on the same function with the same arguments, which is what the driver alone
 * costs; all on a stream of their own, and the last on the default stream too, whose
 * launches the driver orders with those of other streams. libtile is opened at run time, so this
builds without it.
 *
\*===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "tile/tile.h"

enum { elements = 1024, block = 128, batch = 128, batches = 300, ways = 5 };

#define FUNCTIONS(X)                                                                               \
  X(tile_last_error)                                                                               \
  X(tile_compiler_options_init_sized)                                                              \
  X(tile_compiler_create)                                                                          \
  X(tile_compile_options_init_sized)                                                               \
  X(tile_compile_file)                                                                             \
  X(tile_function_load)                                                                            \
  X(tile_function_get_info)                                                                        \
  X(tile_function_launch)                                                                          \
  X(tile_launch_create)                                                                            \
  X(tile_launch_set_grid)                                                                          \
  X(tile_launch_set_arguments)                                                                     \
  X(tile_launch_options_init_sized)                                                                \
  X(tile_launch_run)                                                                               \
  X(tile_memory_alloc)                                                                             \
  X(tile_synchronize)

#include "library.h"

static double now(void) { return nanoseconds() * 1e-3; }

/* cuLaunchKernel, resolved from the driver that libtile has loaded. */
typedef int (*driver_launch)(void *function, unsigned gridX, unsigned gridY, unsigned gridZ,
                             unsigned blockX, unsigned blockY, unsigned blockZ, unsigned shared,
                             void *stream, void **arguments, void **extra);

/* Everything one launch needs. */
typedef struct {
  tile_function *function;
  tile_launch *prepared;
  tile_launch_options serial;
  driver_launch bare;
  void *handle;
  const void *const *arguments;
  uint32_t grid[3];
  void *stream;
} Work;

static void launchDirectly(const Work *work) {
  check(
      api.tile_function_launch(work->function, work->stream, work->grid, work->arguments, 4, NULL));
}
static void launchPrepared(const Work *work) {
  check(api.tile_launch_run(work->prepared, work->stream));
}
static void launchSerial(const Work *work) {
  check(api.tile_function_launch(work->function, work->stream, work->grid, work->arguments, 4,
                                 &work->serial));
}
static void launchByDriver(const Work *work, void *stream) {
  if (work->bare(work->handle, 1, 1, 1, block, 1, 1, 0, stream, (void **)work->arguments, NULL)) {
    fprintf(stderr, "cuLaunchKernel failed\n");
    exit(1);
  }
}
static void launchBare(const Work *work) { launchByDriver(work, work->stream); }
static void launchOnDefault(const Work *work) { launchByDriver(work, NULL); }

static const struct {
  const char *name;
  void (*launch)(const Work *);
} way[ways] = {{"direct", launchDirectly},
               {"prepared", launchPrepared},
               {"serial", launchSerial},
               {"driver", launchBare},
               {"driver_default_stream", launchOnDefault}};

static void waitForAll(const Work *work) {
  check(api.tile_synchronize(NULL, work->stream));
  check(api.tile_synchronize(NULL, NULL));
}

/* Microseconds a launch of one batch: of the host, and until the device is idle. */
static void measure(void (*launch)(const Work *), const Work *work, double *host, double *idle) {
  waitForAll(work);
  double start = now();
  for (int i = 0; i < batch; ++i)
    launch(work);
  *host = (now() - start) / batch;
  waitForAll(work);
  *idle = (now() - start) / batch;
}

static tile_launch *prepare(const Work *work) {
  tile_launch *launch;
  check(api.tile_launch_create(work->function, &launch));
  check(api.tile_launch_set_grid(launch, work->grid));
  check(api.tile_launch_set_arguments(launch, work->arguments, 4));
  return launch;
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s libtile.so vector_add.tile\n", argv[0]);
    return 2;
  }
  openLibrary(argv[1]);
  tile_compiler_options compilerOptions;
  api.tile_compiler_options_init_sized(&compilerOptions, sizeof compilerOptions);
  compilerOptions.cache_dir = "";
  tile_compiler *compiler;
  check(api.tile_compiler_create(&compilerOptions, &compiler));

  const tile_constexpr size = {"BLOCK", "1024"};
  tile_compile_options options;
  api.tile_compile_options_init_sized(&options, sizeof options);
  options.kernel = "add";
  options.signature = "*fp32:16,*fp32:16,*fp32:16,i32:16";
  options.constexprs = &size;
  options.num_constexprs = 1;
  tile_kernel *kernel;
  check(api.tile_compile_file(compiler, argv[2], &options, &kernel));

  Work work = {.grid = {1, 1, 1}};
  check(api.tile_function_load(kernel, NULL, &work.function));
  void *buffers[3];
  for (int i = 0; i < 3; ++i)
    check(api.tile_memory_alloc(NULL, elements * sizeof(float), &buffers[i]));
  const int32_t n = elements;
  const void *arguments[] = {&buffers[0], &buffers[1], &buffers[2], &n};
  work.arguments = arguments;
  work.prepared = prepare(&work);
  api.tile_launch_options_init_sized(&work.serial, sizeof work.serial);
  work.serial.dependent = 0;
  tile_function_info info = {.size = sizeof(info)};
  check(api.tile_function_get_info(work.function, &info));
  work.handle = info.handle;
  void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  int (*setContext)(void *);
  int (*createStream)(void **, unsigned flags);
  const unsigned nonBlocking = 1; /* CU_STREAM_NON_BLOCKING */
  if (!driver || !(*(void **)&work.bare = dlsym(driver, "cuLaunchKernel")) ||
      !(*(void **)&createStream = dlsym(driver, "cuStreamCreate")) ||
      !(*(void **)&setContext = dlsym(driver, "cuCtxSetCurrent")) || setContext(info.context) ||
      createStream(&work.stream, nonBlocking)) {
    fprintf(stderr, "no cuLaunchKernel, or no context or stream for it\n");
    return 1;
  }

  static double host[ways][batches], idle[ways][batches];
  for (int i = -10; i < batches; ++i) /* those before 0 warm up */
    for (int w = 0; w < ways; ++w)
      measure(way[w].launch, &work, &host[w][i < 0 ? 0 : i], &idle[w][i < 0 ? 0 : i]);
  for (int w = 0; w < ways; ++w) {
    qsort(host[w], batches, sizeof(double), compareDoubles);
    qsort(idle[w], batches, sizeof(double), compareDoubles);
    printf("%s\"%s_best\": %.3f, \"%s_median\": %.3f, \"%s_idle\": %.3f", w ? ", " : "{",
           way[w].name, host[w][0], way[w].name, host[w][batches / 2], way[w].name,
           idle[w][batches / 2]);
  }
  printf("}\n");
  return 0;
}
