//===- vector_add.cpp - a kernel launched with values from C++ ------------===//
//
//   vector_add path/to/vector_add.tile
//
// No signature is written: tile::Jit finds the variant from the values of each launch.
// First it lists what launches of a range of lengths can need, and compiles that ahead,
// as a server does before it serves. Ends then, successfully, if there is no GPU.
//
//===----------------------------------------------------------------------===//
#include <cstdio>
#include <tile/jit.hpp>

static bool addsRight(const tile::Jit &add, int n) {
  std::vector<float> left(n), right(n);
  for (int i = 0; i < n; ++i) {
    left[i] = static_cast<float>(i);
    right[i] = 0.5f;
  }
  tile::Buffer<float> x(left), y(right), out(n);
  // The grid is computed from the arguments by the function that JitOptions::grid named.
  add.launch(/*stream=*/nullptr, tile::fromFile, x, y, out, n);
  std::vector<float> sums = out.download();
  for (int i = 0; i < n; ++i)
    if (sums[i] != left[i] + 0.5f)
      return false;
  return true;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s vector_add.tile\n", argv[0]);
    return 2;
  }
  try {
    tile::Compiler compiler;
    tile::JitOptions options("add");
    options.constexpr_("BLOCK", "1024")
        .warps(8)
        .grid("lambda args: (triton.cdiv(args['n'], args['BLOCK']),)");
    tile::Jit add(compiler, argv[1], options);

    float *any = nullptr; // of an address, only its type and alignment count
    std::vector<tile_argument_range> ranges = {
        tile::only("x", any, /*alignment=*/256), tile::only("y", any, 256),
        tile::only("out", any, 256), tile::range("n", 1, 1 << 20)};
    for (const tile::Variant &variant : add.variants(ranges))
      std::printf("%s(%s) %s\n", variant.kernel.c_str(), variant.signature.c_str(),
                  variant.constexprs.c_str());
    bool hasDevice = tile::deviceCount() > 0;
    add.prepare(ranges, /*load=*/hasDevice);
    if (!hasDevice) {
      std::printf("no device is present: %s\n", tile_last_error());
      return 0;
    }
    bool right = true;
    for (int n : {1, 1000, 1024, 65536 + 16}) {
      bool isRight = addsRight(add, n);
      std::printf("%d elements: %s\n", n, isRight ? "right" : "WRONG");
      right = right && isRight;
    }
    return right ? 0 : 1;
  } catch (const tile::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
