//===- CopyPlaces.cpp - where a copied block lies, in pieces of what size -===//
#include "passes/copies/CopyPlaces.h"
#include "ir/layout/MatrixAccess.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/facts/MaskRuns.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/layouts/StagingLayouts.h"

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

static constexpr unsigned kMostBytes = 16; ///< of one cp.async

/// Elements that a thread with `holders` copies at once into `image`: what the
/// load proves to be aligned, as far as it lies side by side there.
static unsigned vectorInto(const LinearLayout &holders, const LinearLayout &image, unsigned proven,
                           unsigned bytes) {
  unsigned most = llvm::Log2_32(std::min(proven, kMostBytes / bytes));
  layout::VectorAccess access =
      layout::widestVector(layout::offsetsOf(holders, image), Dim::offset(), most);
  unsigned log2 = 0; // consecutive registers, as the load has them
  while (log2 < access.masks.size() && access.masks[log2] == 1 << log2)
    ++log2;
  return 1u << log2;
}

/// Who reads the block first: the target of a conversion, a product, or whoever loaded it.
static LinearLayout readerOf(Value v) {
  for (OpOperand &use : v.getUses()) {
    if (auto convert = dyn_cast<cta::ConvertLayoutOp>(use.getOwner()))
      return cta::getLayout(convert.getType());
    if (auto dot = dyn_cast<DotOp>(use.getOwner()); dot && readsCopies(dot))
      return multiplyAddLayout(dot, use.getOperandNumber());
  }
  return cta::getLayout(v.getType());
}

/// Elements of a group of `load` that one copy can bring. Of a group that the mask ends in, it
/// brings as many as are true, from the first on; `run` are known to share a mask.
static unsigned copiedGroup(LoadOp load, unsigned &run) {
  auto attr = load->getAttrOfType<IntegerAttr>(cta::kMaskRunAttr);
  if (!attr) {
    run = load.getVector();
    return run;
  }
  run = unsigned(attr.getInt());
  AxisInfoAnalysis axes(load->getParentOfType<func::FuncOp>());
  const AxisInfo &info = axes.get(load.getPtr());
  unsigned fast = 0;
  for (unsigned axis = 1; axis < info.axes.size(); ++axis)
    if (info.axes[axis].contiguity >= info.axes[fast].contiguity)
      fast = axis;
  int64_t group = maskRun(load.getMask(), fast, MaskPart::Start, axes);
  return unsigned(std::min<int64_t>(load.getVector(), std::max<int64_t>(group, run)));
}

/// What copies of `width` elements take: they leave a wavefront for each line of 128 bytes
/// that a warp reads, and what conflicts there are where they arrive.
static lowering::Cost copyCost(const LinearLayout &holders, const LinearLayout &to, unsigned fast,
                               unsigned bytes, unsigned width) {
  double copies = double(holders.inSize(Dim::reg())) / width;
  unsigned linesLog2 = 0;
  for (int32_t bit = 0; bit < holders.inSizeLog2(Dim::lane()); ++bit) {
    const layout::Basis &basis = holders.basis(Dim::lane(), bit);
    linesLog2 += basis[1 - fast] != 0 || unsigned(basis[fast]) * bytes >= kLineBytes;
  }
  return {copies,
          copies * (1u << linesLog2) +
              layout::countWavefronts(holders, to, bytes, llvm::Log2_32(width)),
          0};
}

/// Where a copy may lie that is turned behind it: as matrices do, or without conflicts
/// between those that copy and those that turn it and write it best.
static SmallVector<LinearLayout> arrangementsToTurn(const LinearLayout &holders,
                                                    const LinearLayout &wanted, unsigned fast,
                                                    Type element, const Target &target) {
  unsigned bytes = getElementBytes(element), warps = unsigned(holders.inSize(Dim::warp()));
  SmallVector<int64_t, 4> shape = layout::shapeOf(wanted);
  SmallVector<LinearLayout> arrangements{layout::swizzledTile(shape, fast, bytes)};
  SmallVector<LinearLayout> layouts = turningLayouts(shape, fast, bytes, warps);
  SmallVector<double> writing;
  for (const LinearLayout &turning : layouts)
    writing.push_back(lowering::stageCost(turning, wanted, element, target).total(warps));
  double least = *llvm::min_element(writing);
  for (auto [turning, cost] : llvm::zip_equal(layouts, writing))
    if (cost == least)
      if (LinearLayout image = layout::optimalSwizzle(holders, turning, bytes).layout;
          !llvm::is_contained(arrangements, image))
        arrangements.push_back(std::move(image));
  return arrangements;
}

/// An operand that its product wants turned is copied as it lies in memory, and turned by
/// the threads, where that takes less than to copy it in pieces of a few bytes. Gives the
/// arrangement of the copy.
static std::optional<LinearLayout> turnedImage(const Copy &copy, const LinearLayout &wanted,
                                               unsigned proven, unsigned bytes) {
  auto type = cast<RankedTensorType>(copy.value.getType());
  const LinearLayout &holders = cta::getLayout(type);
  const Target &target = targetOf(copy.load);
  Type element = type.getElementType();
  unsigned warps = unsigned(holders.inSize(Dim::warp()));
  unsigned fast = 1 - *layout::minorOfSwizzledTile(wanted, bytes);
  if (type.getDimSize(fast) * bytes < kMostBytes)
    return std::nullopt;
  std::optional<LinearLayout> best;
  double least = copyCost(holders, wanted, fast, bytes, copy.vector).total(warps);
  if (copy.vector * bytes < kLeastCopyBytes) // else it would not be copied at all
    least = std::numeric_limits<double>::infinity();
  for (const LinearLayout &image : arrangementsToTurn(holders, wanted, fast, element, target)) {
    unsigned vector = vectorInto(holders, image, proven, bytes);
    if (vector <= copy.vector || vector * bytes < kLeastCopyBytes)
      continue;
    LinearLayout turning = cheapestTurning(image, wanted, element, warps, target);
    lowering::Cost cost = copyCost(holders, image, fast, bytes, vector);
    cost += turningCost(turning, image, wanted, element, target);
    if (cost.total(warps) >= least)
      continue;
    best = image;
    least = cost.total(warps);
  }
  return best;
}

/// Where a copy may lie that threads read in `reader`: without conflicts if it comes in pieces as
/// small as that takes, as matrices do, or with small or large pieces of its rows in turns.
static SmallVector<LinearLayout> arrangementsToRead(const LinearLayout &holders,
                                                    const LinearLayout &reader, unsigned bytes) {
  SmallVector<int64_t, 4> shape = layout::shapeOf(holders);
  SmallVector<LinearLayout> images{
      layout::planExchange(holders, reader, bytes, {/*load=*/true, /*store=*/false}).shared.layout};
  if (shape.size() != 2)
    return images;
  for (unsigned minor : {0u, 1u})
    if (shape[minor] * bytes >= kMostBytes)
      images.push_back(layout::swizzledTile(shape, minor, bytes));
  // Bytes are read one by one where they have to be turned.
  for (unsigned minor : {0u, 1u})
    for (unsigned chunk : {8u, 32u, 64u})
      if (bytes == 1 && shape[minor] >= kMostBytes && chunk <= layout::swizzleSpan(shape[minor]))
        images.push_back(layout::swizzledTileBy(chunk, shape, minor, bytes));
  return images;
}

/// What it takes of a warp to read a block that lies in `image`.
static double readCost(const LinearLayout &reader, const LinearLayout &image, unsigned bytes) {
  layout::SharedWrite read = layout::planWrite(reader, image, bytes, /*matrices=*/true);
  return lowering::Cost{double(read.instructions), double(read.wavefronts), 0}.total(1);
}

bool tile::placeCopy(Copy &copy) {
  auto type = cast<RankedTensorType>(copy.value.getType());
  Type element = type.getElementType();
  if (!element.isIntOrFloat() || element.isInteger(1))
    return false;
  unsigned bytes = getElementBytes(element);
  const LinearLayout &holders = cta::getLayout(type);
  unsigned group = copiedGroup(copy.load, copy.maskRun);
  unsigned proven =
      llvm::bit_floor(std::max(1u, std::min(group, unsigned(holders.inSize(Dim::reg())))));
  SmallVector<LinearLayout> images;
  bool mustBeImage = false; // of warpgroup matrix instructions, in both directions for 16 bits
  for (Operation *user : copy.value.getUsers())
    if (auto stage = dyn_cast<cta::StageOp>(user)) {
      images.push_back(stage.getType().getLinearLayout());
      mustBeImage = true;
    }
  if (!mustBeImage)
    images = arrangementsToRead(holders, readerOf(copy.value), bytes);
  else if (type.getRank() == 2 && bytes == 2) // the pattern that suits matrices
    for (unsigned minor : {0u, 1u})
      if (type.getDimSize(minor) * bytes >= kMostBytes)
        images.push_back(layout::swizzledTile(type.getShape(), minor, bytes));
  const LinearLayout *best = nullptr;
  double least = 0;
  for (const LinearLayout &image : images) {
    unsigned vector = vectorInto(holders, image, proven, bytes);
    double cost = !mustBeImage && bytes == 1 ? readCost(readerOf(copy.value), image, bytes) : 0;
    if (best && (vector < copy.vector || (vector == copy.vector && cost >= least)))
      continue;
    copy.vector = vector;
    best = &image;
    least = cost;
  }
  std::optional<LinearLayout> turned;
  if (mustBeImage && images.size() == 1 && bytes != 2 && type.getRank() == 2)
    turned = turnedImage(copy, images.front(), proven, bytes);
  if (turned) {
    copy.vector = vectorInto(holders, *turned, proven, bytes);
    best = &*turned;
  }
  if (copy.vector * bytes < kLeastCopyBytes)
    return false;
  copy.buffer = cta::BufferType::get(type.getContext(), type.getShape(), element,
                                     cta::LayoutAttr::get(type.getContext(), *best));
  return true;
}

bool Copy::isReadInPlace() const {
  return llvm::any_of(value.getUsers(), [](Operation *user) { return isa<cta::StageOp>(user); });
}

bool Copy::isReadInPlace(cta::StageOp stage) const {
  return stage.getType() == buffer || llvm::all_of(stage->getUses(), [&](OpOperand &use) {
           unsigned operand = use.getOperandNumber();
           return isa<cta::WarpgroupDotOp>(use.getOwner()) && operand < 2 &&
                  cta::isReadByWarpgroups(buffer, 1 - operand);
         });
}

bool Copy::isReadTurned(TransOp trans) const {
  if (trans.getType().getRank() != 2 || trans.getOrder()[0] != 1 ||
      getElementBytes(buffer.getElementType()) != 2 || !isReadInPlace())
    return false;
  return llvm::all_of(trans->getUsers(), [&](Operation *user) {
    auto stage = dyn_cast<cta::StageOp>(user);
    return stage && llvm::all_of(stage->getUses(), [&](OpOperand &use) {
             return isa<cta::WarpgroupDotOp>(use.getOwner()) && use.getOperandNumber() < 2 &&
                    cta::isReadByWarpgroups(buffer, use.getOperandNumber());
           });
  });
}
