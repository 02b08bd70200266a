/* Compiles one kernel through the installed library: consumer FILE.tile */
#include <stdio.h>
#include <tile/tile.h>

int main(int argc, char **argv) {
  tile_compiler *compiler;
  tile_kernel *kernel;
  tile_compiler_options settings;
  tile_compile_options options;
  if (argc != 2)
    return 2;
  tile_compiler_options_init(&settings);
  settings.cache_dir = "";
  tile_compile_options_init(&options);
  options.target = "sm_90a";
  if (tile_compiler_create(&settings, &compiler) != TILE_OK ||
      tile_compile_file(compiler, argv[1], &options, &kernel) != TILE_OK) {
    fprintf(stderr, "%s\n", tile_last_error());
    return 1;
  }
  size_t length;
  tile_kernel_ptx(kernel, &length);
  printf("package: find_package(Tile) works, libtile %s compiled %zu bytes of PTX\n",
         tile_version(), length);
  tile_kernel_destroy(kernel);
  tile_compiler_destroy(compiler);
  return length == 0;
}
