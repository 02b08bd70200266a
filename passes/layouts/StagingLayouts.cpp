//===- StagingLayouts.cpp - operands on their way to shared memory ----------===//
#include "passes/layouts/StagingLayouts.h"
#include "ir/layout/Builders.h"
#include "ir/layout/Swizzle.h"
#include "ir/layout/WarpgroupLayouts.h"

using namespace mlir;
using namespace tile;
using layout::Basis;
using layout::Dim;
using layout::LinearLayout;

static constexpr unsigned kLaneBits = 5, kVectorBytes = 16, kWordBytes = 4;

namespace {
/// Deals the bits of a block's two coordinates out to registers, lanes and warps.
struct BitDealer {
  explicit BitDealer(ArrayRef<int64_t> shape) : shape(shape) {}

  ArrayRef<int64_t> shape;
  int64_t next[2] = {1, 1};
  SmallVector<Basis, 8> bits[3]; // register, lane, warp

  bool isLeft(unsigned dim) const { return next[dim] < shape[dim]; }
  void deal(unsigned to, unsigned dim) {
    Basis basis(2, 0);
    if (isLeft(dim))
      basis[dim] = int32_t(next[dim]);
    next[dim] *= 2;
    if (to != 0 || basis[dim])
      bits[to].push_back(basis);
  }
  LinearLayout build() const {
    return *LinearLayout::create(
        {{Dim::reg(), bits[0]}, {Dim::lane(), bits[1]}, {Dim::warp(), bits[2]}},
        {{Dim::dim(0), int32_t(shape[0])}, {Dim::dim(1), int32_t(shape[1])}});
  }
};
} // namespace

LinearLayout tile::cheapestImage(const LinearLayout &holders, cta::BufferType buffer,
                                 const Target &target) {
  Type element = buffer.getElementType();
  unsigned bytes = getElementBytes(element);
  unsigned warps = unsigned(holders.inSize(Dim::warp()));
  LinearLayout best = buffer.getLinearLayout();
  if (bytes != 2 || buffer.getShape().size() != 2)
    return best;
  double least = lowering::stageCost(holders, best, element, target).total(warps);
  for (unsigned minor : {0u, 1u}) {
    if (buffer.getShape()[minor] * bytes < kVectorBytes)
      continue;
    LinearLayout image = layout::swizzledTile(buffer.getShape(), minor, bytes);
    double cost = lowering::stageCost(holders, image, element, target).total(warps);
    if (cost >= least)
      continue;
    best = image;
    least = cost;
  }
  return best;
}

/// A square in each thread; lane bit i lies along `slow` where bit i of `lanes` is set. Warps
/// and what is left take `fast` first.
static LinearLayout turningLayout(ArrayRef<int64_t> shape, unsigned fast, unsigned width,
                                  unsigned height, unsigned lanes, unsigned numWarps) {
  unsigned slow = 1 - fast;
  BitDealer dealer(shape);
  for (unsigned i = 1; i < width; i *= 2)
    dealer.deal(0, fast);
  for (unsigned i = 1; i < height; i *= 2)
    dealer.deal(0, slow);
  for (unsigned bit = 0; bit < kLaneBits; ++bit) {
    unsigned dim = lanes >> bit & 1 ? slow : fast;
    dealer.deal(1, dealer.isLeft(dim) ? dim : 1 - dim);
  }
  for (unsigned i = 1; i < numWarps; i *= 2)
    dealer.deal(2, dealer.isLeft(fast) ? fast : slow);
  for (unsigned dim : {fast, slow})
    while (dealer.isLeft(dim))
      dealer.deal(0, dim);
  return dealer.build();
}

SmallVector<LinearLayout> tile::turningLayouts(ArrayRef<int64_t> shape, unsigned fast,
                                               unsigned bytes, unsigned numWarps) {
  int64_t own = std::max<int64_t>(shape[0] * shape[1] / (32 * numWarps), 1);
  // Words at least in both directions; of what is more, reads get their share first.
  int64_t most = kVectorBytes / bytes, word = kWordBytes / bytes;
  int64_t height = std::min(own, bytes < kWordBytes ? word : most);
  int64_t width = std::clamp<int64_t>(own / height, 1, most);
  SmallVector<LinearLayout> layouts;
  for (unsigned lanes = 0; lanes < 1u << kLaneBits; ++lanes)
    layouts.push_back(
        turningLayout(shape, fast, unsigned(width), unsigned(height), lanes, numWarps));
  return layouts;
}

/// Threads write vectors along one dimension or the other, and otherwise have neighbours along the
/// other one: what those have in common a thread reads once.
static SmallVector<LinearLayout> writingLayouts(ArrayRef<int64_t> shape, unsigned bytes,
                                                unsigned numWarps) {
  int64_t own = std::max<int64_t>(shape[0] * shape[1] / (32 * numWarps), 1);
  SmallVector<LinearLayout> layouts;
  for (unsigned minor : {0u, 1u}) {
    unsigned other = 1 - minor;
    BitDealer dealer(shape);
    int64_t mine = 1;
    for (; mine < std::min<int64_t>({own, kVectorBytes / bytes, shape[minor]}); mine *= 2)
      dealer.deal(0, minor);
    for (; mine < own && dealer.isLeft(other); mine *= 2)
      dealer.deal(0, other);
    for (unsigned bit = 0; bit < kLaneBits; ++bit)
      dealer.deal(1, dealer.isLeft(minor) ? minor : other);
    for (unsigned warps = 1; warps < numWarps; warps *= 2)
      dealer.deal(2, dealer.isLeft(other) ? other : minor);
    for (unsigned dim : {minor, other})
      while (dealer.isLeft(dim))
        dealer.deal(0, dim);
    layouts.push_back(dealer.build());
  }
  return layouts;
}

static LinearLayout cheapestOf(ArrayRef<LinearLayout> layouts,
                               llvm::function_ref<double(const LinearLayout &)> cost) {
  const LinearLayout *best = nullptr;
  double least = 0;
  for (const LinearLayout &layout : layouts) {
    double own = cost(layout);
    if (best && own >= least)
      continue;
    best = &layout;
    least = own;
  }
  return *best;
}

LinearLayout tile::cheapestWriting(cta::BufferType buffer, unsigned numWarps,
                                   const Target &target) {
  Type element = buffer.getElementType();
  return cheapestOf(writingLayouts(buffer.getShape(), getElementBytes(element), numWarps),
                    [&](const LinearLayout &layout) {
                      LinearLayout image = cheapestImage(layout, buffer, target);
                      return lowering::stageCost(layout, image, element, target).total(numWarps);
                    });
}

lowering::Cost tile::turningCost(const LinearLayout &turning, const LinearLayout &from,
                                 const LinearLayout &to, Type element, const Target &target) {
  unsigned bytes = getElementBytes(element), most = llvm::Log2_32(kVectorBytes / bytes);
  unsigned vector =
      layout::widestVector(layout::offsetsOf(turning, from), Dim::offset(), most).log2();
  lowering::Cost cost{double(turning.inSize(Dim::reg()) >> vector),
                      double(layout::countWavefronts(turning, from, bytes, vector)), 0};
  cost += lowering::stageCost(turning, to, element, target);
  return cost;
}

LinearLayout tile::cheapestTurning(const LinearLayout &from, const LinearLayout &to, Type element,
                                   unsigned numWarps, const Target &target) {
  unsigned bytes = getElementBytes(element);
  unsigned fast = 1 - *layout::minorOfSwizzledTile(to, bytes);
  return cheapestOf(turningLayouts(layout::shapeOf(to), fast, bytes, numWarps),
                    [&](const LinearLayout &layout) {
                      return turningCost(layout, from, to, element, target).total(numWarps);
                    });
}
