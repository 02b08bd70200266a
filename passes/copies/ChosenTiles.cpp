//===- ChosenTiles.cpp - tiles of one of several arrays -------------------===//
#include "passes/copies/ChosenTiles.h"
#include "passes/facts/Reach.h"

using namespace mlir;
using namespace tile;

/// Whether one copy can be of either tile: arrays, sizes, strides and starts alone differ.
static bool areAlike(const TileAccess &a, const TileAccess &b) {
  return a.wraps.empty() && b.wraps.empty() && a.dimensions.size() == b.dimensions.size() &&
         llvm::all_of(llvm::zip_equal(a.dimensions, b.dimensions), [](auto pair) {
           auto &[x, y] = pair;
           return x.block == y.block;
         });
}

namespace {
struct Reader {
  Value pointers;
  const NonNegative &nonNegative;
  const ArgumentSet &taken;
  llvm::function_ref<std::optional<TileAccess>(StridedAnalysis &, Reason &)> read;
  Reason &reason;
  StridedAnalysis::Decided decided;

  std::optional<ChosenTile> run() {
    StridedAnalysis analysis(&nonNegative, &taken, decided);
    ChosenTile found;
    found.choice =
        decided.size() < reach::kChoices ? analysis.choiceBehind(pointers) : arith::SelectOp();
    if (!found.choice) {
      std::optional<TileAccess> tile = read(analysis, reason);
      if (!tile)
        return std::nullopt;
      found.tile = std::move(*tile);
      return found;
    }
    for (bool holds : {true, false}) {
      decided[found.choice.getCondition()] = holds;
      std::optional<ChosenTile> one = run();
      decided.erase(found.choice.getCondition());
      if (!one)
        return std::nullopt;
      found.either.push_back(std::move(*one));
    }
    found.tile = found.either.front().tile;
    if (areAlike(found.tile, found.either.back().tile))
      return found;
    reason = Reason::TileChoicesDiffer;
    return std::nullopt;
  }
};
} // namespace

std::optional<ChosenTile>
tile::readChosen(Value pointers, const NonNegative &nonNegative, const ArgumentSet &taken,
                 llvm::function_ref<std::optional<TileAccess>(StridedAnalysis &, Reason &)> read,
                 Reason &reason) {
  return Reader{pointers, nonNegative, taken, read, reason, StridedAnalysis::Decided()}.run();
}

Value ChosenTile::mapIn(func::FuncOp kernel, ArrayRef<int64_t> shape, Type element) const {
  if (!choice)
    return tensorMapOf(kernel, tile, shape, element);
  Value first = either.front().mapIn(kernel, shape, element),
        second = either.back().mapIn(kernel, shape, element);
  if (!first || !second)
    return {};
  OpBuilder b(kernel.getContext());
  b.setInsertionPointAfter(choice);
  return arith::SelectOp::create(b, arith::SelectOp(choice).getLoc(),
                                 arith::SelectOp(choice).getCondition(), first, second);
}

/// Whether along a dimension of the map all tiles start at the same number.
bool ChosenTile::startAlike(unsigned dim) const {
  return llvm::all_of(either, [&](const ChosenTile &one) {
    return one.startAlike(dim) && one.tile.dimensions[dim].start == tile.dimensions[dim].start;
  });
}

SmallVector<Value> ChosenTile::startsAt(OpBuilder &b, Location loc) const {
  if (!choice)
    return startsOf(b, loc, tile);
  SmallVector<Value> starts = either.front().startsAt(b, loc),
                     others = either.back().startsAt(b, loc);
  Value condition = arith::SelectOp(choice).getCondition();
  for (auto [i, start] : llvm::enumerate(starts))
    if (!startAlike(i))
      start = arith::SelectOp::create(b, loc, condition, start, others[i]);
  return starts;
}
