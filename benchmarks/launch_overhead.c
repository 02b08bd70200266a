/*===- launch_overhead.c - CPU time of a launch through the C API ----------===*\
 *
 *   tile-launch-overhead path/to/libtile.so path/to/vector_add.tile
 *
 * Launches a tiny vector add in batches short enough for the driver's queue
 * not to fill, times the host only, and prints the best and the median batch in
 * microseconds a launch, as JSON. libtile is opened at run time, so this builds
 * without it.
 *
\*===----------------------------------------------------------------------===*/
#define _POSIX_C_SOURCE 200809L
#include "tile/tile.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { elements = 1024, batch = 256, batches = 200 };

#define FUNCTIONS(X)                                                                               \
  X(tile_last_error)                                                                               \
  X(tile_compiler_options_init)                                                                    \
  X(tile_compiler_create)                                                                          \
  X(tile_compile_options_init)                                                                     \
  X(tile_compile_file)                                                                             \
  X(tile_function_load)                                                                            \
  X(tile_function_launch)                                                                          \
  X(tile_launch_create)                                                                            \
  X(tile_launch_set_grid)                                                                          \
  X(tile_launch_set_arguments)                                                                     \
  X(tile_launch_run)                                                                               \
  X(tile_memory_alloc)                                                                             \
  X(tile_synchronize)

static struct {
#define FIELD(name) __typeof__(&name) name;
  FUNCTIONS(FIELD)
} api;

static void openLibrary(const char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    exit(1);
  }
#define RESOLVE(name)                                                                              \
  if (!(*(void **)&api.name = dlsym(library, #name))) {                                            \
    fprintf(stderr, "%s has no %s\n", path, #name);                                                \
    exit(1);                                                                                       \
  }
  FUNCTIONS(RESOLVE)
}

static void check(tile_status status) {
  if (status != TILE_OK) {
    fprintf(stderr, "%s\n", api.tile_last_error());
    exit(1);
  }
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int compareDoubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Everything one launch needs. */
typedef struct {
  tile_function *function;
  tile_launch *prepared;
  const void *const *arguments;
  uint32_t grid[3];
} Work;

static void launchDirectly(const Work *work) {
  check(api.tile_function_launch(work->function, NULL, work->grid, work->arguments, 4, NULL));
}
static void launchPrepared(const Work *work) { check(api.tile_launch_run(work->prepared, NULL)); }

/* Microseconds a launch, one number a batch, sorted. */
static void measure(void (*launch)(const Work *), const Work *work, double *times) {
  for (int i = -10; i < batches; ++i) {
    check(api.tile_synchronize(NULL, NULL));
    double start = now();
    for (int j = 0; j < batch; ++j)
      launch(work);
    if (i >= 0)
      times[i] = (now() - start) / batch;
  }
  check(api.tile_synchronize(NULL, NULL));
  qsort(times, batches, sizeof(*times), compareDoubles);
}

int main(int argc, char **argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s libtile.so vector_add.tile\n", argv[0]);
    return 2;
  }
  openLibrary(argv[1]);
  tile_compiler_options compilerOptions;
  api.tile_compiler_options_init(&compilerOptions);
  compilerOptions.cache_dir = "";
  tile_compiler *compiler;
  check(api.tile_compiler_create(&compilerOptions, &compiler));

  const tile_constexpr block = {"BLOCK", "1024"};
  tile_compile_options options;
  api.tile_compile_options_init(&options);
  options.kernel = "add";
  options.signature = "*fp32:16,*fp32:16,*fp32:16,i32:16";
  options.constexprs = &block;
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
  check(api.tile_launch_create(work.function, &work.prepared));
  check(api.tile_launch_set_grid(work.prepared, work.grid));
  check(api.tile_launch_set_arguments(work.prepared, arguments, 4));

  static double direct[batches], prepared[batches];
  measure(launchDirectly, &work, direct);
  measure(launchPrepared, &work, prepared);
  printf("{\"direct_best\": %.3f, \"direct_median\": %.3f, \"prepared_best\": %.3f, "
         "\"prepared_median\": %.3f}\n",
         direct[0], direct[batches / 2], prepared[0], prepared[batches / 2]);
  return 0;
}
