//===- Extent.cpp - sizes of tensors, in arithmetic that notices overflow -===//
#include "runtime/host/Extent.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"
#include "llvm/Support/MathExtras.h"
#include <unistd.h>

using namespace tile;
using namespace tile::host;
using eval::fail;
using llvm::ArrayRef;

namespace tile::host {

Extent operator+(Extent a, Extent b) {
  Extent sum = 0;
  sum.isExact = !llvm::AddOverflow(a.number, b.number, sum.number) && a.isExact && b.isExact;
  return sum;
}

Extent operator*(Extent a, Extent b) {
  Extent product = 0;
  product.isExact =
      !llvm::MulOverflow(a.number, b.number, product.number) && a.isExact && b.isExact;
  return product;
}

Extent countElements(ArrayRef<int64_t> shape) {
  Extent count = 1;
  for (int64_t dim : shape)
    if (dim != 0)
      count = count * dim;
  return count.fits() && llvm::is_contained(shape, 0) ? Extent(0) : count;
}

std::string toString(ArrayRef<int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

std::atomic<uint64_t> Memory::computing{0};

Memory Memory::ofThisMachine() {
  uint64_t pages = std::max(sysconf(_SC_PHYS_PAGES), 0L),
           page = std::max(sysconf(_SC_PAGESIZE), 0L);
  return {pages * page / 2};
}

std::unique_ptr<eval::EvalError> checkShape(ArrayRef<int64_t> shape, unsigned elementBytes) {
  if (shape.size() > maxRank)
    return fail(
        formatted("a tensor has at most {} dimensions, and this one {}", maxRank, shape.size()),
        "ValueError");
  if (llvm::any_of(shape, [](int64_t dim) { return dim < 0; }))
    return fail(formatted("a dimension cannot be negative, as in {}", toString(shape)),
                "ValueError");
  if (!countElements(shape).fits() || !(countElements(shape) * elementBytes).fits())
    return fail(formatted("a tensor of shape {} has more than 2^63 bytes", toString(shape)),
                "MemoryError");
  return nullptr;
}

/// What it takes to read or make an element, in multiplications of a product.
static constexpr int64_t kOfElement = 16;

std::unique_ptr<eval::EvalError> spendSteps(Extent multiplications) {
  constexpr uint64_t kOfStep = 16384;
  return eval::Work::spend(multiplications.fits() ? uint64_t(*multiplications) / kOfStep
                                                  : UINT64_MAX)
             ? nullptr
             : eval::Work::error();
}

std::unique_ptr<eval::EvalError> checkRoom(const Memory &memory, ArrayRef<int64_t> shape,
                                           unsigned elementBytes) {
  if (auto error = checkShape(shape, elementBytes))
    return error;
  uint64_t bytes = *(countElements(shape) * elementBytes);
  uint64_t left = memory.left();
  if (bytes <= left)
    return spendSteps(countElements(shape) * kOfElement);
  return fail(formatted("a tensor of shape {} is too large: it takes {} bytes on the host, where "
                        "{} of {} are left",
                        toString(shape), bytes, left, memory.limit),
              "MemoryError");
}

/// The lowest and the highest element that a view with elements touches.
static std::pair<Extent, Extent> rangeOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                                         int64_t offset) {
  Extent low = offset, high = offset;
  for (auto [dim, stride] : llvm::zip_equal(shape, strides)) {
    Extent &end = stride < 0 ? low : high;
    end = end + Extent(dim - 1) * stride;
  }
  return {low, high};
}

Extent reachOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  if (llvm::is_contained(shape, 0))
    return 0;
  return rangeOf(shape, strides, 0).second + 1;
}

std::unique_ptr<eval::EvalError> checkView(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                                           int64_t offset, int64_t elements) {
  auto outside = [&](const std::string &where) {
    return fail(formatted("this view reaches outside of the tensor's memory: shape {} with strides "
                          "{} from element {}{}, of {}",
                          toString(shape), toString(strides), offset, where, elements),
                "ValueError");
  };
  if (llvm::is_contained(shape, 0))
    return offset >= 0 && offset <= elements ? nullptr : outside("");
  auto [low, high] = rangeOf(shape, strides, offset);
  if (!low.fits() || !high.fits())
    return outside(" on goes beyond 64 bits");
  if (*low < 0 || *high >= elements)
    return outside(formatted(" on takes elements {} to {}", *low, *high));
  return nullptr;
}

} // namespace tile::host
