//===- TensorMaps.cpp - strided tiles of global memory as tensor maps -----===//
#include "passes/copies/TensorMaps.h"
#include "ir/Kernel.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/facts/Divisibility.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

/// TMA wants addresses and strides in multiples of this.
static constexpr int64_t kAlignment = 16;
static constexpr unsigned kMaxRank = 5;
/// Steps along the contiguous dimension that a 32-bit coordinate may not hold many of.
static constexpr int64_t kFarStep = 1 << 16;

/// Of arguments the launcher sees to it (`tile.notNegative`); where it does not, loads
/// take it for granted, and stores need the author's promise.
static NonNegative nonNegativeIn(TileAccess &tile, TileUse use) {
  return NonNegative(use.checked, /*trusted=*/!use.isStore, tile.notNegative);
}

//===----------------------------------------------------------------------===//
// Reading a tile
//===----------------------------------------------------------------------===//

/// t / stride as a term, if the stride's factors are among those of t.
static std::optional<Polynomial::Term> quotient(const Polynomial::Term &t,
                                                const Polynomial::Term &stride) {
  if (t.coefficient % stride.coefficient)
    return std::nullopt;
  Polynomial::Term q{t.factors, t.coefficient / stride.coefficient};
  for (Value f : stride.factors) {
    auto *it = llvm::find(q.factors, f);
    if (it == q.factors.end())
      return std::nullopt;
    q.factors.erase(it);
  }
  return q;
}

/// Whether indices that `t` is a part of are what is compared with the end of the array:
/// a share of a long sum, say, which is not a batch.
static bool isInBounds(const Polynomial::Term &t, unsigned dim, ArrayRef<Bound> bounds) {
  return llvm::any_of(bounds, [&](const Bound &bound) {
    return bound.dim == dim && !bound.isLower &&
           llvm::any_of(bound.limit.terms(), [&](const Polynomial::Term &in) {
             return in.factors == t.factors && in.coefficient == -t.coefficient;
           });
  });
}

/// Splits a term into the arguments of the kernel that it is a multiple of, and the rest.
static std::pair<Polynomial::Term, Polynomial::Term> byArguments(const Polynomial::Term &t) {
  Polynomial::Term arguments{{}, 1}, rest{{}, t.coefficient};
  for (Value f : t.factors)
    (kernelArgument(f) ? arguments : rest).factors.push_back(f);
  return {arguments, rest};
}

/// Whether `part`, in steps of `d`, is no part of the indices that are compared with the
/// end: heads that lie one after the other (`head * N * D + row * D` where `row < N`), N and D
/// arguments or numbers.
static bool isBatchOf(const TileAccess::Dimension &d, const Polynomial::Term &part,
                      ArrayRef<Bound> bounds) {
  auto [arguments, rest] = byArguments(part);
  bool isBounded = llvm::any_of(
      bounds, [&](const Bound &bound) { return int(bound.dim) == d.block && !bound.isLower; });
  bool isMultiple = !arguments.factors.empty() || rest.coefficient > 1;
  return isBounded && isMultiple && !rest.factors.empty() && !isInBounds(part, d.block, bounds);
}

/// What ends dimensions: the mask's bounds, and where indices wrap around.
static SmallVector<Bound, 4> endsOf(ArrayRef<Bound> bounds, ArrayRef<StridedBlock::Wrap> wraps) {
  SmallVector<Bound, 4> ends(bounds);
  for (const StridedBlock::Wrap &wrap : wraps)
    ends.push_back({wrap.dim, /*isLower=*/false, wrap.modulus - wrap.index});
  return ends;
}

/// A dimension of the array that the block does not have; false if there cannot be one.
static bool addDimension(TileAccess &tile, const Polynomial::Term &start,
                         const Polynomial::Term &stride, unsigned bytes, bool checked) {
  bool isKnown = !checked || stride.factors.empty();
  if ((isKnown && divisibility(stride) * bytes % kAlignment != 0) ||
      tile.dimensions.size() == kMaxRank)
    return false;
  TileAccess::Dimension own;
  own.start.add(start);
  own.stride.add(stride);
  own.size = Polynomial::constant(kUnlimited);
  tile.dimensions.push_back(own);
  return true;
}

/// Gives each term of the offset to the dimension whose stride it contains.
/// Terms that contain none but are multiples of some argument or of a large number
/// (a batch, a head) get a dimension of their own, and so do those that are no part of the
/// indices that have an end; the rest runs along the contiguous one.
static bool distribute(const Polynomial &offset, ArrayRef<Bound> bounds, TileAccess &tile,
                       unsigned bytes, bool checked) {
  for (const Polynomial::Term &t : offset.terms()) {
    TileAccess::Dimension *best = nullptr;
    std::optional<Polynomial::Term> part;
    for (TileAccess::Dimension &d : llvm::drop_begin(tile.dimensions)) {
      const Polynomial::Term &stride = d.stride.terms().front();
      auto q = quotient(t, stride);
      if (q && (!best || stride.factors.size() > best->stride.terms().front().factors.size()))
        best = &d, part = q;
    }
    if (best && !isBatchOf(*best, *part, bounds)) {
      best->start.add(*part);
      continue;
    }
    auto [stride, start] = byArguments(best ? *part : t);
    if (best) {
      const Polynomial::Term &step = best->stride.terms().front();
      if (stride.factors.empty())
        std::swap(stride.coefficient, start.coefficient);
      stride.coefficient *= step.coefficient;
      llvm::append_range(stride.factors, step.factors);
      if (!addDimension(tile, start, stride, bytes, checked))
        return false;
      continue;
    }
    bool isFar = stride.factors.empty() && !start.factors.empty() && t.coefficient >= kFarStep;
    if (isFar && isInBounds(t, tile.minor(), bounds))
      tile.dimensions.front().mayBeFar = true;
    else if (isFar && t.coefficient * bytes % kAlignment == 0)
      std::swap(stride.coefficient, start.coefficient);
    bool isOwn = !start.factors.empty() && (!stride.factors.empty() || stride.coefficient != 1);
    if (!isOwn)
      tile.dimensions.front().start.add(t);
    else if (!addDimension(tile, start, stride, bytes, checked))
      return false;
  }
  return true;
}

/// The array's size along `d`: where the bounds or the wrap say it ends.
static bool limit(TileAccess::Dimension &d, ArrayRef<Bound> bounds,
                  ArrayRef<StridedBlock::Wrap> wraps, bool isStore, NonNegative nonNegative,
                  Reason &reason) {
  bool hasLower = false, hasUpper = false;
  for (const Bound &bound : bounds) {
    if (int(bound.dim) != d.block)
      continue;
    Polynomial inArray = d.start + bound.limit;
    if (bound.isLower) {
      hasLower = inArray.isZero();
      if (!hasLower && !(nonNegative.holds(d.start) && nonNegative.holds(Polynomial() - inArray))) {
        reason = Reason::TileMaskLowerBound;
        return false;
      }
      continue;
    }
    if (hasUpper && !(d.size == inArray)) {
      reason = Reason::TileMaskUpperBounds;
      return false;
    }
    hasUpper = true;
    d.size = inArray;
  }
  for (const StridedBlock::Wrap &wrap : wraps) {
    if (int(wrap.dim) != d.block)
      continue;
    if (!(wrap.index == d.start) || (hasUpper && !(d.size == wrap.modulus))) {
      reason = Reason::TileWrapsUnknown;
      return false;
    }
    hasUpper = true;
    d.size = wrap.modulus;
  }
  if (!hasUpper)
    d.size = Polynomial::constant(kUnlimited);
  if (!isLaunchInvariant(d.size)) {
    reason = Reason::TileBoundsUnknown;
    return false;
  }
  if ((isStore || !hasLower) && !nonNegative.holds(d.start)) {
    reason = Reason::TileStartNegative;
    return false;
  }
  return true;
}

/// To store the 16 bytes in which a row of the array ends, TMA writes all of them,
/// also those behind the row: rows must end at multiples of 16 bytes, as they do where
/// the next one starts. The launcher sees to it if their length depends on arguments.
/// Rows that are only loaded may end anywhere: what lies behind them reads as zeros.
static bool endsWhole(const TileAccess &tile, TileUse use, unsigned bytes) {
  const Polynomial &length = tile.dimensions.front().size;
  if (!use.isStore || (use.checked && !length.asConstant()) ||
      llvm::any_of(llvm::drop_begin(tile.dimensions),
                   [&](const TileAccess::Dimension &d) { return d.stride == length; }))
    return true;
  return llvm::all_of(length.terms(), [&](const Polynomial::Term &t) {
    return divisibility(t) * bytes % kAlignment == 0;
  });
}

std::optional<TileAccess> tile::readTile(StridedAnalysis &analysis, Value pointers, Value mask,
                                         TileUse use, Reason &reason) {
  auto fail = [&](Reason why) {
    reason = why;
    return std::nullopt;
  };
  auto type = dyn_cast<RankedTensorType>(pointers.getType());
  if (!type || type.getRank() != (use.isVector ? 1 : 2))
    return fail(Reason::TileNotTwoDimensional);
  unsigned bytes = getElementBytes(cast<PtrType>(type.getElementType()).getPointee());
  std::optional<StridedPointers> p = analysis.pointers(pointers);
  if (!p)
    return fail(Reason::TileNotStrided);
  TileAccess tile;
  tile.base = kernelArgument(p->base);
  if (!tile.base || (!use.checked && divisibility(tile.base) % kAlignment != 0))
    return fail(Reason::TileBaseUnaligned);
  auto bounds = analysis.bounds(mask);
  if (!bounds)
    return fail(Reason::TileMaskNoRange);
  tile.notNegative.insert_range(analysis.taken());

  for (bool wantMinor : {true, false})
    for (auto [dim, stride] : llvm::enumerate(p->offset.strides)) {
      if ((stride.asConstant() == 1) != wantMinor)
        continue;
      TileAccess::Dimension d;
      d.block = dim;
      d.extent = type.getDimSize(dim);
      d.stride = stride;
      if (!wantMinor && (stride.terms().size() != 1 || stride.terms().front().coefficient <= 0 ||
                         !isLaunchInvariant(stride)))
        return fail(Reason::TileStrideUnknown);
      if (!wantMinor && !use.checked &&
          divisibility(stride.terms().front()) * bytes % kAlignment != 0)
        return fail(Reason::TileStrideUnaligned);
      tile.dimensions.push_back(std::move(d));
    }
  if (tile.dimensions.front().stride.asConstant() != 1)
    return fail(Reason::TileNotContiguous);
  if (!use.isVector && tile.dimensions[1].stride.asConstant() == 1)
    return fail(Reason::TileTwiceContiguous);
  if (tile.dimensions.front().extent * bytes < kAlignment)
    return fail(Reason::TileNarrow);
  if (!distribute(p->offset.start, endsOf(*bounds, p->offset.wraps), tile, bytes, use.checked))
    return fail(Reason::TileOffsetUnaligned);
  for (const Polynomial::Term &t : tile.dimensions.front().start.terms())
    if (divisibility(t) * bytes % kAlignment != 0)
      return fail(Reason::TileStartUnaligned);
  for (TileAccess::Dimension &d : tile.dimensions) {
    if (d.block >= 0 &&
        !limit(d, *bounds, p->offset.wraps, use.isStore, nonNegativeIn(tile, use), reason))
      return std::nullopt;
    if (d.block < 0 && !nonNegativeIn(tile, use).holds(d.start))
      return fail(Reason::TileStartNegative);
  }
  if (!endsWhole(tile, use, bytes))
    return fail(Reason::TileEndsUnaligned);
  // Where the mask leaves out what wraps, for which it ends where the array does (`limit`), nobody
  // sees it.
  llvm::copy_if(p->offset.wraps, std::back_inserter(tile.wraps), [&](const auto &wrap) {
    return llvm::none_of(
        *bounds, [&](const Bound &bound) { return bound.dim == wrap.dim && !bound.isLower; });
  });
  return tile;
}

std::optional<TileAccess> tile::readDescriptor(StridedAnalysis &analysis,
                                               const DescriptorAccess &access, TileUse use,
                                               Reason &reason) {
  auto fail = [&](Reason why) {
    reason = why;
    return std::nullopt;
  };
  unsigned rank = access.block.getRank();
  unsigned bytes = getElementBytes(access.block.getElementType());
  if (llvm::count_if(access.kept, [](int dim) { return dim >= 0; }) != 2 || access.kept.back() < 0)
    return fail(Reason::TileNotTwoDimensional);
  std::optional<StridedPointers> p = analysis.pointers(access.base);
  TileAccess tile;
  tile.base = p ? kernelArgument(p->base) : BlockArgument();
  if (!tile.base)
    return fail(Reason::TileBaseUnknown);
  if (access.block.getDimSize(rank - 1) * bytes < kAlignment)
    return fail(Reason::TileNarrow);
  for (unsigned dim = rank; dim-- > 0;) { // the last one is contiguous
    TileAccess::Dimension d;
    d.block = access.kept[dim];
    d.extent = access.block.getDimSize(dim);
    d.start = analysis.scalar(access.offsets[dim]);
    d.size = analysis.scalar(access.shape[dim]);
    d.stride = analysis.scalar(access.strides[dim]);
    bool isMinor = dim + 1 == rank;
    if (isMinor ? d.stride.asConstant() != 1
                : d.stride.terms().size() != 1 || d.stride.terms().front().coefficient <= 0)
      return fail(Reason::TileStrideUnknown);
    if (!isLaunchInvariant(d.stride) || !isLaunchInvariant(d.size))
      return fail(Reason::TileShapeUnknown);
    tile.dimensions.push_back(std::move(d));
  }
  tile.notNegative.insert_range(analysis.taken());
  for (const Polynomial::Term &t : tile.dimensions.front().start.terms())
    if (divisibility(t) * bytes % kAlignment != 0)
      return fail(Reason::TileStartUnaligned);
  // What the base is moved by gets dimensions of its own, a batch say.
  auto starts = llvm::map_to_vector<5>(tile.dimensions, [](const auto &d) { return d.start; });
  if (!distribute(p->offset.start, {}, tile, bytes, use.checked))
    return fail(Reason::TileOffsetUnaligned);
  for (auto [d, start] : llvm::zip(tile.dimensions, starts))
    if (!(d.start == start))
      return fail(Reason::TileBaseMoved);
  for (auto [i, d] : llvm::enumerate(tile.dimensions))
    if ((use.isStore || i >= rank) && !nonNegativeIn(tile, use).holds(d.start))
      return fail(Reason::TileStartNegative);
  if (!endsWhole(tile, use, bytes))
    return fail(Reason::TileEndsUnaligned);
  return tile;
}
