//===- OtherCuts.cpp - cuts that may be faster than the model's -----------===//
//
// The model chooses one cut for a kernel. What stands beside it is as right, and which is fastest
// can be measured: of rows and columns half and twice the block, by fewer and more warps; of a
// product the blocks, parts and turns on their way that the model of ShareProducts.cpp counts as
// next best; of a chain other rows and the longest turns that it has room for. What of a cut
// follows from the sizes stays.
//
// Sizes come in classes, four to an octave: what is fastest for one of a class is taken for all.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/ChooseCut.h"
#include "compiler/functions/FusedProgram.h"
#include "text/Format.h"
#include "llvm/ADT/bit.h"

using namespace tile;
using graph::Cut;
using graph::KernelShape;

/// What a thread may hold of a block, of each array.
static constexpr int64_t kMostOfThread = 128;
static constexpr int kMostWarps = 32;
/// So many of a product's cuts, as the model ranks them.
static constexpr size_t kProducts = 6;

/// Whether a program holds rows as a whole.
static bool holdsRows(const KernelShape &shape, const Cut &cut) {
  return !shape.product && shape.reduces && !cut.loop;
}

static TensorCut cutOf(const KernelShape &shape, const Cut &cut) {
  return {cut.rows, holdsRows(shape, cut) ? 0 : cut.block, cut.inner, 1, cut.warps, cut.stages};
}

/// Of rows and columns without a product.
static void addBlocks(const KernelShape &shape, const Cut &cut, std::vector<TensorCut> &out) {
  bool isWhole = holdsRows(shape, cut);
  for (int64_t halves : {2, 1, 4}) // as many elements, half, twice
    for (int halfWarps : {2, 1, 4}) {
      TensorCut other = cutOf(shape, cut);
      bool cutsRows = cut.rows > 1 || isWhole;
      int64_t &side = cutsRows ? other.rows : other.columns;
      side = side * halves / 2;
      other.warps = other.warps * halfWarps / 2;
      int64_t threads = other.warps * int64_t(kLanes);
      int64_t elements = other.rows * (isWhole ? cut.block : other.columns);
      bool fits = side >= (cutsRows ? 1 : 16) && other.warps >= 1 && other.warps <= kMostWarps &&
                  elements <= threads * kMostOfThread && elements * 4 >= threads;
      if (fits)
        out.push_back(other);
    }
}

static void addProducts(const KernelShape &shape, const Extents &extents, const Target &target,
                        std::vector<TensorCut> &out) {
  std::vector<TensorCut> ranked = rankProducts(shape, extents, target);
  if (ranked.size() > kProducts)
    ranked.resize(kProducts);
  llvm::append_range(out, ranked);
  // Fewer stages leave room for more programs beside each other, which the model may miss.
  for (int stages : {3, 4})
    if (stages < ranked.front().stages) {
      out.push_back(ranked.front());
      out.back().stages = stages;
    }
}

/// Of rows that so many programs share.
static TensorKernel firstStep(int64_t parts) {
  TensorKernel kernel;
  kernel.parts = parts;
  kernel.step = 0;
  return kernel;
}

std::vector<TensorCut> tile::cutsBeside(const KernelShape &shape, const Extents &extents,
                                        const Target &target) {
  Cut cut = chooseCut(shape, extents, target);
  std::vector<TensorCut> all = {cutOf(shape, cut)};
  if (shape.product && shape.product->chain) {
    chainCuts(shape, cut, extents, target, all);
  } else if (shape.product) {
    if (int64_t parts = shareInner(shape, extents, target); parts > 1) {
      all.front() = cutOf(shape, cutShared(shape, extents, target, parts));
      all.front().parts = parts;
    }
    addProducts(shape, extents, target, all);
  } else if (int64_t parts = shareRows(shape, extents, target); parts > 1) {
    all.front() = cutOf(shape, cutStep(shape, extents, target, firstStep(parts)));
    all.front().parts = parts;
  } else {
    addBlocks(shape, cut, all);
  }
  std::vector<TensorCut> out;
  for (const TensorCut &one : all)
    if (!llvm::is_contained(out, one))
      out.push_back(one);
  return out;
}

void tile::takeCut(Cut &cut, const KernelShape &shape, const TensorCut &other,
                   const Extents &extents, const Target &target) {
  // Whether rows are held as a whole follows from the sizes.
  if (holdsRows(shape, cut) != (other.columns == 0))
    return;
  if (other.columns)
    cut.block = other.columns;
  cut.rows = other.rows;
  cut.inner = other.inner;
  cut.warps = other.warps;
  cut.stages = other.stages;
  if (!shape.product && !shape.reduces)
    cut.oneBlock = extents.columns <= cut.block;
  finishCut(cut, shape, extents, target);
}

//===----------------------------------------------------------------------===//
// Of a program
//===----------------------------------------------------------------------===//

std::vector<TensorCut> FusedProgram::cutsFor(unsigned index, const graph::Bindings &sizes,
                                             const Target &target) {
  const TensorKernel &kernel = kernels[index];
  if (kernel.hand || kernel.addsParts || kernel.parts > 1)
    return {};
  std::string layout;
  std::vector<TensorPlace> places(buffers.size());
  const KernelShape &shape = shapeFor(index, places, sizes, layout);
  std::optional<Extents> extents = extentsOf(shape, sizes);
  if (!extents || extents->batch < 1 || extents->rows < 1 || extents->columns < 1 ||
      extents->inner < 1 || extents->depth < 1 || extents->leastDepth < 1)
    return {};
  if (shape.product && isBestScattered(shape, *extents, target)) {
    TensorCut only;
    only.parts = kScattered;
    return {only};
  }
  return cutsBeside(shape, *extents, target);
}

std::string FusedProgram::textOfKernel(unsigned kernel) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  graph::KernelOp(origins[kernel].op)->print(os, mlir::OpPrintingFlags().useLocalScope());
  return text;
}

CutProgram tile::inCuts(TensorProgram &whole, llvm::ArrayRef<std::optional<TensorCut>> cuts) {
  std::vector<int64_t> parts;
  CutProgram out;
  for (auto [i, cut] : llvm::enumerate(cuts)) {
    parts.push_back(cut ? cut->parts : 1);
    out.cuts.push_back(cut);
    // What adds parts up, and further passes over rows.
    out.cuts.resize(out.cuts.size() + whole.kernelsIn(i, parts.back()) - 1);
  }
  out.program = &whole.withParts(parts);
  return out;
}

llvm::Expected<TensorLaunch> CutProgram::launch(unsigned kernel, const graph::Bindings &sizes,
                                                llvm::ArrayRef<TensorPlace> places,
                                                const Target &target) const {
  if (cuts.empty() || !cuts[kernel])
    return program->launch(kernel, sizes, places, target);
  return program->launchCut(kernel, sizes, places, target, *cuts[kernel]);
}

//===----------------------------------------------------------------------===//
// Classes of sizes
//===----------------------------------------------------------------------===//

/// Sizes up to this one are a class each.
static constexpr int64_t kOwnClass = 8;

/// How many numbers the class has that ends here.
static int64_t widthOfClass(int64_t most) {
  return most <= kOwnClass ? 1 : int64_t(llvm::bit_ceil(uint64_t(most))) / kOwnClass;
}

static int64_t endOfClass(int64_t size) {
  int64_t width = widthOfClass(size);
  return (size + width - 1) / width * width;
}

graph::Bindings tile::classOfSizes(const graph::Bindings &sizes) {
  graph::Bindings out;
  for (auto &[name, size] : sizes)
    out[name] = endOfClass(size);
  return out;
}

std::string tile::textOfClass(const graph::Bindings &sizes) {
  std::string text;
  for (auto &[name, size] : sizes) {
    int64_t most = endOfClass(size), least = most - widthOfClass(most) + 1;
    text += formatted("{}{}={}", text.empty() ? "" : ", ", name, least);
    if (least < most)
      text += formatted("..{}", most);
    if (size % 16 == 0 && most > kOwnClass)
      text += ":16";
  }
  return text;
}
