//===- TensorStores.cpp ---------------------------------------------------===//
#include "passes/copies/TensorStores.h"
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/copies/ArrayAccesses.h"
#include "passes/copies/CopyHints.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Roles.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

/// The block without dimensions of size one until it has two, where it has more.
static RankedTensorType withoutUnits(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  while (shape.size() > 2) {
    auto *unit = llvm::find(shape, 1);
    if (unit == shape.end())
      break;
    shape.erase(unit);
  }
  return type.clone(shape);
}

/// Whether each turn of a loop stores, whose products are done before a copy out of the staging
/// area is, for which the next turn would wait.
static bool isOfShortTurn(Operation *store) {
  if (!isa<scf::ForOp>(store->getParentOp()))
    return false;
  int64_t cycles = 0;
  for (auto dot : store->getBlock()->getOps<cta::WarpgroupDotOp>())
    cycles += cyclesOfShare(dot, /*warpgroups=*/1);
  return cycles != 0 && cycles < tuningOf(store).storeCopyCycles;
}

std::optional<TileAccess> TensorStores::read(Operation *op, ArrayRef<int64_t> shape,
                                             Reason &reason) {
  TileUse use{checked, /*isStore=*/true};
  if (auto store = dyn_cast<DescriptorStoreOp>(op))
    return readDescriptor(analysis, describe(store, store.getValue(), shape), use, reason);
  auto store = cast<StoreOp>(op);
  if (canKeepHints(store))
    return readTile(analysis, store.getPtr(), store.getMask(), use, reason);
  reason = Reason::TileHints;
  return std::nullopt;
}

bool TensorStores::rewrite(Operation *store, bool isAlone) {
  Value value = isa<StoreOp>(store) ? cast<StoreOp>(store).getValue()
                                    : cast<DescriptorStoreOp>(store).getValue();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (isa<DescriptorStoreOp>(store))
    type = withoutUnits(type);
  if (!type || type.getElementType().isInteger(1))
    return false;
  int64_t bytes = type.getNumElements() * getElementBytes(type.getElementType());
  if (bytes < tuningOf(store).tmaStoreLeastBytes)
    return false;
  if (bytes > tuningOf(store).tmaStoreMostBytes ||
      kernel->getParentOfType<ModuleOp>()->hasAttr(kNoTensorStoresAttr)) {
    refuse(store, Reason::TileStoreLarge);
    return false;
  }
  if (isa<StoreOp>(store) && isOfShortTurn(store)) {
    refuse(store, Reason::TileStoreShortTurn);
    return false;
  }
  // An asynchronous store is not ordered with the program's other accesses.
  if (!isAlone) {
    refuse(store, Reason::TileStoreNotAlone);
    return false;
  }
  Reason reason;
  std::optional<TileAccess> tile = read(store, type.getShape(), reason);
  if (!tile || !tile->wraps.empty()) {
    refuse(store, tile ? Reason::TileStoreWraps : reason);
    return false;
  }
  // Boxes of 64 rows: a warpgroup can store its share of an accumulator.
  Value map = tensorMapOf(kernel, *tile, type.getShape(), type.getElementType(), 64);
  if (!map)
    return false;
  SmallVector<int32_t> dims;
  for (const TileAccess::Dimension &d : tile->dimensions)
    dims.push_back(d.block);
  auto image =
      layout::swizzledTile(type.getShape(), dims.front(), getElementBytes(type.getElementType()));
  // The swizzle of 128 bytes repeats after eight rows: further columns of boxes begin there.
  int64_t minorBytes =
      type.getDimSize(dims.front()) * int64_t(getElementBytes(type.getElementType()));
  if (minorBytes > layout::swizzleSpan(minorBytes) && bytes / minorBytes < 8) {
    refuse(store, Reason::TileStoreFlat);
    return false;
  }
  OpBuilder b(store);
  if (auto reshape = value.getDefiningOp<ReshapeOp>();
      reshape && reshape.getSrc().getType() == type)
    value = reshape.getSrc();
  else if (value.getType() != type)
    value = ReshapeOp::create(b, store->getLoc(), type, value, UnitAttr());
  auto copy =
      cta::TmaStoreOp::create(b, store->getLoc(), value, map, startsOf(b, store->getLoc(), *tile),
                              dims, cta::LayoutAttr::get(kernel.getContext(), image),
                              isRepeated(store) && !turnsWriteApart(store, *tile));
  if (auto plain = dyn_cast<StoreOp>(store))
    keepHints(plain, copy);
  store->erase();
  return true;
}
