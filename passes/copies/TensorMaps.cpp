//===- TensorMaps.cpp - strided tiles of global memory as tensor maps -----===//
#include "passes/copies/TensorMaps.h"
#include "ir/Kernel.h"
#include "ir/layout/Hopper.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Promises.h"
#include "passes/facts/Reach.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

/// TMA wants addresses and strides in multiples of this.
static constexpr int64_t kAlignment = 16;
static constexpr unsigned kMaxRank = 5;
/// The size of a dimension that nothing limits: its rows end at a multiple of 16 bytes, too.
static constexpr int64_t kUnlimited = 0x7ffffff0;
/// Steps along the contiguous dimension that a 32-bit coordinate may not hold many of.
static constexpr int64_t kFarStep = 1 << 16;

//===----------------------------------------------------------------------===//
// Facts about scalars
//===----------------------------------------------------------------------===//

static int64_t computedDivisibility(Value v, unsigned depth);

/// A power of two that divides `v`, as far as is promised or easily seen.
static int64_t divisibility(Value v, unsigned depth = 0) {
  return depth > reach::kFacts ? 1
                               : std::max(promisedDivisibility(v), computedDivisibility(v, depth));
}

static int64_t computedDivisibility(Value v, unsigned depth) {
  constexpr int64_t kMost = 1 << 20;
  if (BlockArgument arg = kernelArgument(v)) {
    auto func = cast<func::FuncOp>(arg.getOwner()->getParentOp());
    auto attr = func.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), kDivisibilityAttr);
    return attr ? attr.getInt() & -attr.getInt() : 1;
  }
  if (auto arg = dyn_cast<BlockArgument>(v)) {
    auto loop = dyn_cast<scf::ForOp>(arg.getOwner()->getParentOp());
    if (!loop || arg != loop.getInductionVar())
      return 1;
    return std::min(divisibility(loop.getLowerBound(), depth + 1),
                    divisibility(loop.getStep(), depth + 1));
  }
  APInt c;
  if (matchPattern(v, m_ConstantInt(&c))) {
    int64_t n = c.getSExtValue();
    return n == 0 ? kMost : std::min(n & -n, kMost);
  }
  Operation *op = v.getDefiningOp();
  auto operand = [&](unsigned i) { return divisibility(op->getOperand(i), depth + 1); };
  if (isa<arith::MulIOp>(op))
    return std::min(operand(0) * operand(1), kMost);
  if (isa<arith::AddIOp, arith::SubIOp, arith::MinSIOp, arith::MaxSIOp>(op))
    return std::min(operand(0), operand(1));
  if (auto hint = dyn_cast<HintOp>(op))
    return operand(0);
  if (isa<arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp>(op))
    return operand(0);
  return 1;
}

static int64_t divisibility(const Polynomial::Term &t) {
  int64_t d = t.coefficient & -t.coefficient;
  for (Value v : t.factors)
    d = std::min<int64_t>(d * divisibility(v), 1 << 20);
  return d;
}

/// Of arguments the launcher sees to it (`tile.notNegative`); where it does not, loads
/// take it for granted, and stores need the author's promise.
static NonNegative nonNegativeIn(TileAccess &tile, TileUse use) {
  return NonNegative(use.checked, /*trusted=*/!use.isStore, tile.notNegative);
}

static bool isLaunchInvariant(const Polynomial &p) {
  return llvm::all_of(p.terms(), [](const Polynomial::Term &t) {
    return llvm::all_of(t.factors, [](Value v) { return bool(kernelArgument(v)); });
  });
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
  tile.wraps = p->offset.wraps;
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

//===----------------------------------------------------------------------===//
// Making maps and starts
//===----------------------------------------------------------------------===//

static cta::SumAttr sumOf(MLIRContext *context, const Polynomial &p) {
  SmallVector<DenseI64ArrayAttr> terms;
  for (const Polynomial::Term &t : p.terms()) {
    SmallVector<int64_t> numbers{t.coefficient};
    for (Value v : t.factors)
      numbers.push_back(kernelArgument(v).getArgNumber());
    llvm::sort(llvm::drop_begin(numbers));
    terms.push_back(DenseI64ArrayAttr::get(context, numbers));
  }
  llvm::sort(terms, [](DenseI64ArrayAttr a, DenseI64ArrayAttr b) {
    return std::lexicographical_compare(a.asArrayRef().begin() + 1, a.asArrayRef().end(),
                                        b.asArrayRef().begin() + 1, b.asArrayRef().end());
  });
  return cta::SumAttr::get(context, terms);
}

cta::SumAttr tile::launchSumOf(MLIRContext *context, const Polynomial &p) {
  return isLaunchInvariant(p) ? sumOf(context, p) : cta::SumAttr();
}

Value tile::tensorMapOf(func::FuncOp kernel, const TileAccess &access, ArrayRef<int64_t> shape,
                        Type element, int64_t rows) {
  MLIRContext *context = kernel.getContext();
  unsigned bytes = getElementBytes(element);
  // Rows of a matrix are swizzled; one row is read as it is.
  bool isVector = shape.size() == 1;
  unsigned span = isVector ? 16 : layout::swizzleSpan(shape[access.minor()] * bytes);
  SmallVector<cta::SumAttr> sizes, strides;
  SmallVector<int64_t> box;
  for (const TileAccess::Dimension &d : access.dimensions) {
    sizes.push_back(sumOf(context, d.size));
    if (box.empty()) {
      box.push_back(isVector ? std::min(shape.front(), rows) : span / bytes);
      continue;
    }
    strides.push_back(sumOf(context, d.stride));
    box.push_back(d.block < 0 ? 1 : std::min(shape[d.block], rows));
  }
  SmallVector<cta::SumAttr> notNegative;
  for (BlockArgument arg : access.notNegative)
    notNegative.push_back(sumOf(context, Polynomial::variable(arg)));
  auto map = cta::MapAttr::get(context, access.base.getArgNumber(), element, sizes, strides, box,
                               span == 16 ? 0 : span, notNegative);
  for (BlockArgument arg : kernel.getArguments())
    if (kernel.getArgAttr(arg.getArgNumber(), cta::kTensorMapAttr) == map)
      return arg;
  unsigned index = kernel.getNumArguments();
  Builder b(context);
  NamedAttrList attrs;
  attrs.set(cta::kTensorMapAttr, map);
  // Bases are taken for aligned, as all memory is that is allocated by itself.
  if (!isVector &&
      llvm::any_of(llvm::drop_begin(access.dimensions), [&](const TileAccess::Dimension &d) {
        return llvm::any_of(d.stride.terms(), [&](const Polynomial::Term &t) {
          return divisibility(t) * bytes % kSectorBytes != 0;
        });
      }))
    attrs.set(cta::kCutsSectorsAttr, b.getUnitAttr());
  if (failed(kernel.insertArgument(index, cta::TensorMapType::get(context),
                                   attrs.getDictionary(context), kernel.getLoc())))
    return {};
  return kernel.getArgument(index);
}

static Value materialize(OpBuilder &b, Location loc, const Polynomial &p) {
  Type i32 = b.getI32Type();
  auto constant = [&](int64_t c) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(c)));
  };
  Value sum;
  for (const Polynomial::Term &t : p.terms()) {
    Value product;
    if (t.coefficient != 1 || t.factors.empty())
      product = constant(t.coefficient);
    for (Value f : t.factors) {
      unsigned width = f.getType().getIntOrFloatBitWidth();
      if (width > 32)
        f = arith::TruncIOp::create(b, loc, i32, f);
      else if (width < 32)
        f = arith::ExtSIOp::create(b, loc, i32, f);
      product = product ? arith::MulIOp::create(b, loc, product, f).getResult() : f;
    }
    sum = sum ? arith::AddIOp::create(b, loc, sum, product).getResult() : product;
  }
  return sum ? sum : constant(0);
}

/// What is too large for a coordinate lies outside of every array.
static Value materializeFar(OpBuilder &b, Location loc, const Polynomial &p) {
  IRMapping none;
  Value start = emitPolynomial(b, loc, p, none);
  Value most = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(kUnlimited));
  return arith::TruncIOp::create(b, loc, b.getI32Type(),
                                 arith::MinSIOp::create(b, loc, start, most));
}

SmallVector<Value> tile::startsOf(OpBuilder &b, Location loc, const TileAccess &access) {
  SmallVector<Value> starts;
  for (const TileAccess::Dimension &d : access.dimensions)
    starts.push_back(d.mayBeFar ? materializeFar(b, loc, d.start) : materialize(b, loc, d.start));
  return starts;
}
