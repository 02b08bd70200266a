/*===- vector_add.c - a kernel compiled and run from C ---------------------===*\
 *
 *   vector_add path/to/vector_add.tile
 *
 * Follows a kernel through libtile: source, PTX and metadata, a function on a
 * GPU, launches. Ends after the first half, successfully, if there is no GPU.
 *
\*===----------------------------------------------------------------------===*/
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tile/tile.h>

/* Every call that can fail returns a status; the message is kept aside. */
#define CHECK(call)                                                                                \
  do {                                                                                             \
    tile_status status_ = (call);                                                                  \
    if (status_ != TILE_OK) {                                                                      \
      fprintf(stderr, "%s: %s\n", tile_status_string(status_), tile_last_error());                 \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

enum { block = 1024, warps = 8 };

/* `add` for floats: three aligned pointers and a length. */
static tile_kernel *compile(tile_compiler *compiler, const char *path) {
  const tile_constexpr constants[] = {{"BLOCK", "1024"}};
  tile_compile_options options;
  tile_compile_options_init(&options);
  options.kernel = "add";
  options.signature = "*fp32:16,*fp32:16,*fp32:16,i32";
  options.constexprs = constants;
  options.num_constexprs = 1;
  options.num_warps = warps;
  tile_kernel *kernel;
  CHECK(tile_compile_file(compiler, path, &options, &kernel));
  return kernel;
}

static void describe(const tile_kernel *kernel) {
  tile_kernel_info info;
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  CHECK(tile_kernel_get_info(kernel, &info));
  size_t length;
  tile_kernel_ptx(kernel, &length);
  printf("%zu bytes of PTX, %d threads a block, %s\n", length, info.threads,
         info.from_cache ? "from the cache" : "compiled now");
  printf("metadata: %s", tile_kernel_metadata(kernel, NULL));
}

/* Device memory with the contents of `values`. */
static void *toDevice(const float *values, size_t bytes) {
  void *device;
  CHECK(tile_memory_alloc(NULL, bytes, &device));
  CHECK(tile_memory_upload(NULL, device, values, bytes, NULL));
  return device;
}

static int countWrong(const float *x, const float *y, const float *out, int32_t n) {
  int wrong = 0;
  for (int32_t i = 0; i < n; ++i)
    wrong += out[i] != x[i] + y[i];
  return wrong;
}

static int run(tile_kernel *kernel) {
  /* Not a multiple of the block: the kernel masks the rest. */
  const int32_t n = 1000003;
  const size_t bytes = (size_t)n * sizeof(float);
  float *x = malloc(bytes), *y = malloc(bytes), *out = calloc((size_t)n, sizeof(float));
  if (!x || !y || !out)
    return 1;
  for (int32_t i = 0; i < n; ++i) {
    x[i] = (float)i;
    y[i] = 0.5f * (float)(n - i);
  }
  void *deviceX = toDevice(x, bytes), *deviceY = toDevice(y, bytes),
       *deviceOut = toDevice(out, bytes);

  /* Loading compiles the PTX for the GPU at hand. */
  tile_function *function;
  CHECK(tile_function_load(kernel, NULL, &function));
  tile_function_info info;
  memset(&info, 0, sizeof info);
  info.size = sizeof info;
  CHECK(tile_function_get_info(function, &info));
  printf("loaded in %.1f ms: %d registers a thread\n", info.load_ms, info.registers);

  /* Arguments are pointers to the values, in the order of the signature. */
  const uint32_t grid[3] = {((uint32_t)n + block - 1) / block, 1, 1};
  const void *arguments[] = {&deviceX, &deviceY, &deviceOut, &n};
  CHECK(tile_function_launch(function, NULL, grid, arguments, 4, NULL));
  CHECK(tile_memory_download(NULL, out, deviceOut, bytes, NULL));
  int wrong = countWrong(x, y, out, n);

  /* A launch made again and again keeps its arguments: out = x + x. */
  tile_launch *launch;
  CHECK(tile_launch_create(function, &launch));
  CHECK(tile_launch_set_arguments(launch, arguments, 4));
  CHECK(tile_launch_set_argument(launch, 1, &deviceX));
  CHECK(tile_launch_set_grid(launch, grid));
  for (int i = 0; i < 10; ++i)
    CHECK(tile_launch_run(launch, NULL));
  CHECK(tile_memory_download(NULL, out, deviceOut, bytes, NULL));
  wrong += countWrong(x, x, out, n);

  tile_launch_destroy(launch);
  tile_function_destroy(function);
  CHECK(tile_memory_free(NULL, deviceX));
  CHECK(tile_memory_free(NULL, deviceY));
  CHECK(tile_memory_free(NULL, deviceOut));
  free(x);
  free(y);
  free(out);
  if (wrong)
    printf("%d sums are WRONG\n", wrong);
  else
    printf("all %d sums are right, twice\n", n);
  return wrong != 0;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s vector_add.tile\n", argv[0]);
    return 2;
  }
  tile_compiler *compiler;
  CHECK(tile_compiler_create(NULL, &compiler));
  tile_kernel *kernel = compile(compiler, argv[1]);
  describe(kernel);

  int result = 0;
  int32_t devices;
  if (tile_device_count(&devices) == TILE_OK && devices > 0)
    result = run(kernel);
  else
    printf("no device is present: %s\n", tile_last_error());
  tile_kernel_destroy(kernel);
  tile_compiler_destroy(compiler);
  return result;
}
