// The same through tile.hpp: consumer-cpp FILE.tile
#include <cstdio>
#include <cstring>
#include <tile/tile.hpp>

int main(int argc, char **argv) try {
  if (argc != 2)
    return 2;
  tile::Compiler compiler("");
  tile::Kernel kernel = compiler.compileFile(argv[1], tile::CompileOptions().target("sm_90a"));
  try { // an error reaches the program as an exception
    compiler.compileFile("nothing here", tile::CompileOptions().target("sm_90a"));
    return 1;
  } catch (const tile::Error &error) {
    if (error.status() != TILE_IO_ERROR || !std::strstr(error.what(), "nothing here"))
      return 1;
  }
  std::printf("package: tile.hpp compiled %zu bytes of PTX\n", kernel.ptx().size());
  return kernel.ptx().empty();
} catch (const std::exception &error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
