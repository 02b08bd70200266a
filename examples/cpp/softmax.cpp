//===- softmax.cpp - kernels compiled and run from C++ --------------------===//
//
//   softmax path/to/softmax.tile
//
// Two kernels on the rows of a matrix: the library's softmax, from its file,
// and a sum of rows written here, from a buffer. Softmax rows sum to one, so
// the second checks the first. Ends after compiling, successfully, if there is
// no GPU.
//
//===----------------------------------------------------------------------===//
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <tile/tile.hpp>

static const char rowSumSource[] = R"(
import triton
import triton.language as tl

@triton.jit
def row_sum(x: "*fp32:16", out: "*fp32:16", columns: "i32", BLOCK: tl.constexpr):
    row = tl.program_id(0)
    column = tl.arange(0, BLOCK)
    v = tl.load(x + row * columns + column, column < columns, other=0.0)
    tl.store(out + row, tl.sum(v, axis=0))
)";

/// A kernel is compiled for its types and constants: the block is the row's
/// length rounded up to a power of two.
static int blockFor(int columns) {
  int block = 1;
  while (block < columns)
    block *= 2;
  return block;
}

struct Kernels {
  tile::Kernel softmax, rowSum;
};

static Kernels compile(const tile::Compiler &compiler, const std::string &file, int columns) {
  std::string block = std::to_string(blockFor(columns));
  return {compiler.compileFile(file, tile::CompileOptions("softmax_row")
                                         .signature("*fp32:16,*fp32:16,i32:16")
                                         .constexpr_("BLOCK", block)
                                         .warps(8)),
          compiler.compile("row_sum.tile", rowSumSource,
                           tile::CompileOptions("row_sum").constexpr_("BLOCK", block))};
}

/// The largest distance of a row's sum from one.
static double run(const Kernels &kernels, int rows, int columns) {
  std::vector<float> matrix(static_cast<size_t>(rows) * columns);
  for (size_t i = 0; i < matrix.size(); ++i)
    matrix[i] = static_cast<float>(i % 97) / 9.0f;

  tile::Buffer<float> x(matrix), y(matrix.size()), sums(rows);
  tile::Function softmax = kernels.softmax.load(), rowSum = kernels.rowSum.load();
  softmax.launch(/*stream=*/nullptr, rows, x.data(), y.data(), columns);
  rowSum.launch(/*stream=*/nullptr, rows, y.data(), sums.data(), columns);

  double worst = 0;
  for (float sum : sums.download())
    worst = std::max(worst, std::fabs(static_cast<double>(sum) - 1.0));
  return worst;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s softmax.tile\n", argv[0]);
    return 2;
  }
  try {
    tile::Compiler compiler;
    if (tile::deviceCount() > 0)
      std::printf("on %s\n", tile::deviceInfo().name);
    bool right = true;
    for (int columns : {768, 2048}) {
      Kernels kernels = compile(compiler, argv[1], columns);
      std::printf("%d columns: %zu and %zu bytes of PTX\n", columns, kernels.softmax.ptx().size(),
                  kernels.rowSum.ptx().size());
      if (tile::deviceCount() == 0)
        continue;
      double worst = run(kernels, /*rows=*/1000, columns);
      right = right && worst < 1e-5;
      std::printf("  rows sum to 1 within %.1e: %s\n", worst, right ? "right" : "WRONG");
    }
    if (tile::deviceCount() == 0)
      std::printf("no device is present: %s\n", tile_last_error());

    // Errors are exceptions; a kernel's carry the quoted source lines.
    try {
      compiler.compile("typo.tile", "import triton\n@triton.jit\ndef k(n: \"i32\"):\n    x = m\n",
                       tile::CompileOptions("k"));
    } catch (const tile::Error &error) {
      std::printf("what an error looks like:\n%s\n", error.what());
    }
    return right ? 0 : 1;
  } catch (const tile::Error &error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
