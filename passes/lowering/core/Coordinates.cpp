//===- Coordinates.cpp - registers by the elements they hold --------------===//
#include "passes/lowering/core/Coordinates.h"
#include "ir/CtaDialect.h"
#include <map>

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

SmallVector<int32_t> lowering::registerCoordinates(const LinearLayout &layout, int32_t reg) {
  SmallVector<int32_t> coords(layout.outs().size(), 0);
  for (auto [axis, out] : llvm::enumerate(layout.outs()))
    for (int32_t bit = 0; bit < layout.inSizeLog2(Dim::reg()); ++bit)
      if (reg >> bit & 1)
        coords[axis] ^= layout.basis(Dim::reg(), bit)[axis];
  return coords;
}

SmallVector<int>
lowering::matchRegisters(const LinearLayout &dst, const LinearLayout &src,
                         llvm::function_ref<SmallVector<int32_t>(ArrayRef<int32_t>)> project) {
  auto hash = [](ArrayRef<int32_t> c) {
    return uint64_t(llvm::hash_combine_range(c.begin(), c.end()));
  };
  llvm::DenseMap<uint64_t, SmallVector<int, 2>> byCoordinate;
  int32_t srcRegs = src.inSize(Dim::reg());
  SmallVector<SmallVector<int32_t>> srcCoords;
  for (int32_t r = 0; r < srcRegs; ++r) {
    srcCoords.push_back(registerCoordinates(src, r));
    byCoordinate[hash(srcCoords.back())].push_back(r);
  }
  SmallVector<int> map;
  for (int32_t r = 0; r < dst.inSize(Dim::reg()); ++r) {
    SmallVector<int32_t> want = project(registerCoordinates(dst, r));
    int found = -1;
    for (int candidate : byCoordinate.lookup(hash(want)))
      if (srcCoords[candidate] == want) {
        found = candidate;
        break;
      }
    map.push_back(found);
  }
  return map;
}

SmallVector<InRun> lowering::placesInRuns(Operation *op) {
  SmallVector<InRun> places;
  auto runs = op->getAttrOfType<DenseI64ArrayAttr>(cta::kEqualRunsAttr);
  if (!runs || !isa<arith::RemSIOp, arith::RemUIOp>(op) ||
      !cta::hasLayout(op->getResult(0).getType()))
    return places;
  const LinearLayout &layout = cta::getLayout(op->getResult(0).getType());
  unsigned axes = unsigned(runs.size());
  // Of a run's bits, those that registers tell apart. A bit that depends on the thread, too, is
  // set in one thread where it is clear in the next: there the distance is no constant.
  SmallVector<int32_t> own(axes, 0);
  for (unsigned axis = 0; axis < axes; ++axis) {
    for (int32_t bit = 0; bit < layout.inSizeLog2(Dim::reg()); ++bit)
      own[axis] |= layout.basis(Dim::reg(), bit)[axis] & int32_t(runs[axis] - 1);
    for (Dim dim : {Dim::lane(), Dim::warp()})
      for (int32_t bit = 0; bit < layout.inSizeLog2(dim); ++bit)
        if (layout.basis(dim, bit)[axis] & own[axis])
          return places;
  }
  std::map<SmallVector<int32_t>, InRun> known; // a run's first register, and where that is in it
  for (int32_t r = 0; r < layout.inSize(Dim::reg()); ++r) {
    SmallVector<int32_t> run = registerCoordinates(layout, r);
    int64_t place = 0;
    for (auto [coordinate, bits] : llvm::zip_equal(run, own)) {
      place += coordinate & bits;
      coordinate &= ~bits;
    }
    InRun first = known.try_emplace(run, InRun{unsigned(r), place}).first->second;
    places.push_back({first.first, place - first.steps});
  }
  return places;
}

SmallVector<unsigned> lowering::firstOfEqual(Operation *op) {
  SmallVector<unsigned> first;
  auto runs = op->getAttrOfType<DenseI64ArrayAttr>(cta::kEqualRunsAttr);
  if (!runs || isa<arith::RemSIOp, arith::RemUIOp>(op) ||
      !cta::hasLayout(op->getResult(0).getType()))
    return first;
  // Coordinates are XORs of register and thread parts, and runs are aligned: two
  // registers are in one run if they are without their threads' part.
  const layout::LinearLayout &layout = cta::getLayout(op->getResult(0).getType());
  std::map<SmallVector<int32_t>, unsigned> known;
  for (int32_t r = 0; r < layout.inSize(layout::Dim::reg()); ++r) {
    SmallVector<int32_t> run = registerCoordinates(layout, r);
    for (auto [coordinate, length] : llvm::zip_equal(run, runs.asArrayRef()))
      coordinate &= -int32_t(length);
    first.push_back(known.try_emplace(run, unsigned(r)).first->second);
  }
  return first;
}
