//===- DotLayouts.cpp - who holds the operands of a matrix product --------===//
#include "passes/layouts/DotLayouts.h"
#include "ir/Kernel.h"
#include "ir/layout/Builders.h"
#include "ir/layout/GF2.h"
#include "passes/facts/ProductForms.h"
#include "passes/facts/Reach.h"
#include "passes/memory/Scratch.h"
#include "target/Devices.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using layout::Basis;
using layout::Dim;
using layout::LinearLayout;

/// Bits of the inner dimension that lanes count.
static constexpr unsigned kInnerLaneBits = 2;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

std::optional<MatrixInstruction> tile::chooseInstruction(DotOp op, const Target &target) {
  Type type = op.getA().getType().getElementType();
  unsigned depth = op.getA().getType().getShape().back();
  bool isDeep = target.has(Feature::Mma16x8x16);
  MatrixInstruction chosen;
  unsigned least = 0; // the smallest k that there is an instruction for
  if (type.isF16())
    chosen = {16, 8, isDeep ? 16u : 8u, 2}, least = 8;
  else if (type.isBF16() && isDeep)
    chosen = {16, 8, 16, 2}, least = 8;
  else if (type.isF32() && op.getInputPrecision() == InputPrecision::tf32 && isDeep)
    chosen = {16, 8, 8, 1}, least = 4;
  else if (type.isInteger(8))
    chosen = isDeep ? MatrixInstruction{16, 8, 32, 4} : MatrixInstruction{8, 8, 16, 4}, least = 16;
  else if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8 && target.has(Feature::MmaFp8))
    chosen = {16, 8, 32, 4}, least = 32;
  else if (type.isF64() && target.has(Feature::MmaF64Deep))
    chosen = {16, 8, mixesProductsWithDoubles(op) ? 8u : 16u, 1}, least = 4;
  else if (type.isF64() && target.has(Feature::MmaF64))
    chosen = {8, 8, 4, 1}, least = 4;
  else
    return std::nullopt;
  while (chosen.k > least && depth <= chosen.k / 2)
    chosen.k /= 2;
  return chosen;
}

double tile::cyclesOfInstruction(DotOp op, const Target &target) {
  MatrixInstruction instruction = *chooseInstruction(op, target);
  const DeviceModel &device = deviceLike(target.capability);
  double peak = device.peak(arithmeticOf(op.getA().getType().getElementType()));
  if (peak == 0) // no faster than multiply-adds
    peak = device.peak(Arithmetic::Fp64);
  double operations = 2.0 * instruction.m * instruction.n * instruction.k;
  return operations * device.multiprocessors * device.gigahertz * 1e9 / peak;
}

int32_t MatrixInstruction::placeOf(int32_t k) const {
  unsigned own = llvm::Log2_32(packed);
  if (run <= own)
    return k;
  // As registers and lanes count it: neighbours, lanes, all that is further apart. Some of that is
  // nearer than lanes are.
  int32_t neighbours = k & int32_t((1u << own) - 1), rest = k >> own;
  int32_t lanes = rest & ((1 << kInnerLaneBits) - 1), far = rest >> kInnerLaneBits;
  int32_t near = far & int32_t((1u << (run - own)) - 1);
  return neighbours | near << own | lanes << run | (far >> (run - own)) << (run + kInnerLaneBits);
}

namespace {
/// A layout while it is put together: the coordinates of each input bit.
struct Bits {
  SmallVector<Basis, 8> reg, lane, warp;

  static Basis along(unsigned rank, unsigned dim, int32_t value) {
    Basis basis(rank, 0);
    basis[dim] = value;
    return basis;
  }
  /// Coordinates beyond the shape fall back into it; registers without any left
  /// are dropped.
  LinearLayout clampedTo(ArrayRef<int64_t> shape) const {
    SmallVector<LinearLayout::InDim, 3> ins{{Dim::reg(), {}}, {Dim::lane(), {}}, {Dim::warp(), {}}};
    auto add = [&](ArrayRef<Basis> bases, unsigned in) {
      for (Basis basis : bases) {
        for (auto [coordinate, size] : llvm::zip_equal(basis, shape))
          coordinate &= int32_t(size - 1);
        if (in != 0 || llvm::any_of(basis, [](int32_t c) { return c != 0; }))
          ins[in].second.push_back(basis);
      }
    };
    add(reg, 0);
    add(lane, 1);
    add(warp, 2);
    SmallVector<LinearLayout::OutDim, 3> outs;
    for (auto [i, size] : llvm::enumerate(shape))
      outs.push_back({Dim::dim(i), int32_t(size)});
    return *LinearLayout::create(ins, outs);
  }
};
} // namespace

/// The fragment of an operand, its rows and columns in the last two of `rank`
/// dimensions. Lanes 0 to 3 lie along the inner dimension (the columns of an
/// accumulator), lanes in steps of 4 along the outer one.
static Bits fragmentBits(const MatrixInstruction &i, DotOperand operand, unsigned rank) {
  bool acc = operand == kDotAcc;
  unsigned outer = operand == kDotB ? rank - 1 : rank - 2;
  unsigned inner = operand == kDotB ? rank - 2 : rank - 1;
  unsigned packed = acc ? 2 : i.packed, depth = acc ? i.n : i.k;
  Bits bits;
  auto reg = [&](unsigned dim, unsigned value) {
    bits.reg.push_back(Bits::along(rank, dim, int32_t(value)));
  };
  for (unsigned v = 1; v < packed; v *= 2)
    reg(inner, v);
  if (operand != kDotB && i.m == 16)
    reg(outer, 8);
  for (unsigned v = 4 * packed; v < depth; v *= 2)
    reg(inner, v);
  for (unsigned v : {packed, 2 * packed})
    bits.lane.push_back(Bits::along(rank, inner, int32_t(v)));
  for (unsigned v : {1, 2, 4})
    bits.lane.push_back(Bits::along(rank, outer, int32_t(v)));
  return bits;
}

LinearLayout tile::fragment(const MatrixInstruction &i, DotOperand operand) {
  int64_t m = i.m, n = i.n, k = i.k;
  SmallVector<int64_t, 2> shape{operand == kDotB ? k : m, operand == kDotA ? k : n};
  return fragmentBits(i, operand, 2).clampedTo(shape);
}

//===----------------------------------------------------------------------===//
// Operands from an accumulator
//===----------------------------------------------------------------------===//

/// The coordinates of each bit of one input, as vectors.
static SmallVector<Basis, 8> bases(const LinearLayout &l, Dim in) {
  SmallVector<Basis, 8> result;
  for (int32_t bit = 0; bit < l.inSizeLog2(in); ++bit)
    result.push_back(l.basis(in, bit));
  return result;
}

std::optional<DotLayouts> tile::matrixDotLayouts(const MatrixInstruction &instruction,
                                                 const LinearLayout &acc, int64_t depth) {
  unsigned rank = acc.outs().size();
  SmallVector<int64_t, 4> shape = layout::shapeOf(acc);
  auto isWithinTile = [&](const Basis &basis) {
    return basis[rank - 2] & int32_t(instruction.m - 1) ||
           basis[rank - 1] & int32_t(instruction.n - 1);
  };
  // 1. Lanes and the first registers must be the fragment's.
  LinearLayout tile = fragmentBits(instruction, kDotAcc, rank).clampedTo(shape);
  SmallVector<Basis, 8> registers = bases(acc, Dim::reg()), wanted = bases(tile, Dim::reg());
  if (bases(acc, Dim::lane()) != bases(tile, Dim::lane()) || registers.size() < wanted.size() ||
      !std::equal(wanted.begin(), wanted.end(), registers.begin()))
    return std::nullopt;
  // 2. The others move whole fragments.
  Bits rest;
  rest.reg.assign(registers.begin() + wanted.size(), registers.end());
  rest.warp = bases(acc, Dim::warp());
  for (const auto &list : {rest.reg, rest.warp})
    if (llvm::any_of(list, isWithinTile))
      return std::nullopt;
  // 3. An operand repeats along its own dimension and its batches as the
  //    accumulator does, and holds all of the inner dimension.
  auto operand = [&](DotOperand which) {
    unsigned inner = which == kDotA ? rank - 1 : rank - 2;
    SmallVector<int64_t, 4> size(shape);
    size[inner] = depth;
    Bits bits = fragmentBits(instruction, which, rank);
    for (int64_t v = instruction.k; v < depth; v *= 2)
      bits.reg.push_back(Bits::along(rank, inner, int32_t(v)));
    auto project = [&](Basis basis) {
      basis[inner] = 0;
      return basis;
    };
    for (const Basis &basis : rest.reg)
      bits.reg.push_back(project(basis));
    for (const Basis &basis : rest.warp)
      bits.warp.push_back(project(basis));
    for (auto *list : {&bits.reg, &bits.lane})
      for (Basis &basis : *list)
        basis[inner] = instruction.placeOf(basis[inner]);
    return bits.clampedTo(size);
  };
  return DotLayouts{operand(kDotA), operand(kDotB), acc};
}

DotLayouts tile::scalarDotLayouts(const LinearLayout &acc, int64_t depth) {
  unsigned rank = acc.outs().size();
  auto operand = [&](unsigned dropped) {
    LinearLayout kept = layout::expandDims(layout::sliceAxis(acc, dropped), dropped);
    // The inner dimension takes the place of the one that the operand lacks.
    LinearLayout inner = LinearLayout::identity1D(int32_t(depth), Dim::reg(), Dim::dim(dropped));
    return kept * inner;
  };
  return {operand(rank - 1), operand(rank - 2), acc};
}

//===----------------------------------------------------------------------===//
// Accumulators
//===----------------------------------------------------------------------===//

static bool isElementwise(Operation *op) {
  return op && op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1;
}

/// True if the result, perhaps changed element by element, is the first operand
/// of another product.
static bool feedsProduct(Value value, unsigned depth = 0) {
  return depth < reach::kProducts && llvm::any_of(
                                         value.getUses(),
                                         [&](OpOperand &use) {
                                           Operation *user = use.getOwner();
                                           if (isa<DotOp>(user))
                                             return use.getOperandNumber() == kDotA;
                                           return isElementwise(user) &&
                                                  feedsProduct(user->getResult(0), depth + 1);
                                         });
}

bool tile::comesFromProduct(Value value, unsigned depth) {
  Operation *def = value.getDefiningOp();
  if (isa_and_nonnull<DotOp>(def))
    return true;
  return depth < reach::kProducts && isElementwise(def) &&
         llvm::any_of(def->getOperands(), [&](Value v) { return comesFromProduct(v, depth + 1); });
}

namespace {
/// Warps along batches, rows and columns.
struct WarpGrid {
  unsigned batch = 1, rows = 1, columns = 1;
};
} // namespace

/// Little redundant work first, then few operand elements read, or computed, by each warp. A
/// product whose result goes into another one's rows keeps its rows together:
/// then that result never leaves the warp.
static WarpGrid arrangeWarps(ArrayRef<int64_t> shape, unsigned m, unsigned n, unsigned numWarps,
                             bool keepRows, OperandWork work = {}) {
  unsigned rank = shape.size();
  int64_t rows = shape[rank - 2], columns = shape[rank - 1];
  WarpGrid grid;
  if (rank == 3)
    grid.batch = unsigned(std::min<int64_t>(shape[0], numWarps));
  unsigned left = numWarps / grid.batch;
  std::optional<std::pair<int64_t, int64_t>> best;
  for (unsigned down = left; down >= 1; down /= 2) {
    if (keepRows && down > 1 && int64_t(down) * m > rows)
      continue;
    int64_t height = std::max<int64_t>(rows / down, m);
    int64_t width = std::max<int64_t>(columns * down / left, n);
    std::pair<int64_t, int64_t> cost(height * width, height * work.a + width * work.b);
    if (best && cost >= *best)
      continue;
    best = cost;
    grid.rows = down;
    grid.columns = left / down;
    if (keepRows)
      break;
  }
  return grid;
}

static LinearLayout matrixAccumulator(const MatrixInstruction &instruction, ArrayRef<int64_t> shape,
                                      unsigned numWarps, bool keepRows, OperandWork work) {
  unsigned rank = shape.size();
  WarpGrid grid = arrangeWarps(shape, instruction.m, instruction.n, numWarps, keepRows, work);
  Bits bits = fragmentBits(instruction, kDotAcc, rank);
  // Each warp has one connected part: registers first, then warps.
  auto spread = [&](unsigned dim, int64_t from, unsigned warps) {
    int64_t end = std::max<int64_t>(shape[dim], from);
    for (int64_t v = from; v * warps < end; v *= 2)
      bits.reg.push_back(Bits::along(rank, dim, int32_t(v)));
  };
  auto spreadWarps = [&](unsigned dim, int64_t from, unsigned warps) {
    int64_t first = std::max<int64_t>(shape[dim] / warps, from);
    for (unsigned w = 1; w < warps; w *= 2)
      bits.warp.push_back(Bits::along(rank, dim, int32_t(first * w)));
  };
  spread(rank - 1, instruction.n, grid.columns);
  spread(rank - 2, instruction.m, grid.rows);
  if (rank == 3)
    spread(0, 1, grid.batch);
  spreadWarps(rank - 1, instruction.n, grid.columns);
  spreadWarps(rank - 2, instruction.m, grid.rows);
  if (rank == 3)
    spreadWarps(0, 1, grid.batch);
  return bits.clampedTo(shape);
}

/// Rows and columns of the tile that a thread computes, `most` each; where the block has fewer
/// elements for each thread, larger tiles would be computed by several threads.
static std::pair<unsigned, unsigned> scalarTile(ArrayRef<int64_t> shape, unsigned numWarps,
                                                int64_t most) {
  int64_t elements = 1, rows = shape[shape.size() - 2], columns = shape.back();
  for (int64_t size : shape)
    elements *= size;
  auto own = std::clamp<int64_t>(elements / (32 * numWarps), 1, most * most);
  // Wide rather than high: what lies side by side is stored together.
  int64_t across = std::min<int64_t>(most, columns);
  while (across * across / 2 > own)
    across /= 2;
  int64_t down = std::min({own / across, most, rows});
  across = std::min({own / down, most, columns});
  return {unsigned(down), unsigned(across)};
}

/// A tile a thread, lanes and warps in squares. Lanes that a small product has no columns
/// for take rows, or batches.
static LinearLayout scalarAccumulator(ArrayRef<int64_t> shape, unsigned numWarps,
                                      const Tuning &tuning) {
  unsigned rank = shape.size();
  SmallVector<unsigned> perThread(rank, 1), lanes(rank, 1), warps(rank, 1), order;
  std::tie(perThread[rank - 2], perThread[rank - 1]) =
      scalarTile(shape, numWarps, tuning.scalarTile);
  auto lanesAlong = [&](unsigned dim, unsigned most) {
    return unsigned(std::clamp<int64_t>(shape[dim] / perThread[dim], 1, most));
  };
  lanes[rank - 1] = lanesAlong(rank - 1, tuning.scalarLanesAcross);
  lanes[rank - 2] = lanesAlong(rank - 2, 32 / lanes[rank - 1]);
  unsigned left = 32 / (lanes[rank - 1] * lanes[rank - 2]);
  WarpGrid grid = arrangeWarps(shape, perThread[rank - 2] * lanes[rank - 2],
                               perThread[rank - 1] * lanes[rank - 1], numWarps,
                               /*keepRows=*/false);
  if (rank == 3) {
    lanes[0] = unsigned(std::min<int64_t>(left, shape[0] / grid.batch));
    left /= lanes[0];
  }
  lanes[rank - 1] *= left; // copies, unless there are columns left
  warps[rank - 1] = grid.columns;
  warps[rank - 2] = grid.rows;
  if (rank == 3)
    warps[0] = grid.batch;
  for (unsigned i = 0; i < rank; ++i)
    order.push_back(rank - 1 - i);
  return layout::blocked(shape, perThread, lanes, warps, order);
}

DotLayouts tile::chooseDotLayouts(DotOp op, unsigned numWarps, OperandWork work) {
  ArrayRef<int64_t> shape = op.getType().getShape();
  int64_t depth = op.getA().getType().getShape().back();
  auto instruction = chooseInstruction(op, targetOf(op));
  if (!instruction)
    return scalarDotLayouts(scalarAccumulator(shape, numWarps, tuningOf(op)), depth);
  bool keepRows = feedsProduct(op.getResult()) || comesFromProduct(op.getA());
  LinearLayout acc = matrixAccumulator(*instruction, shape, numWarps, keepRows, work);
  return *matrixDotLayouts(*instruction, acc, depth);
}

std::optional<DotLayouts> tile::layoutsOfParts(DotOp op, unsigned parts, unsigned numWarps) {
  auto instruction = chooseInstruction(op, targetOf(op));
  RankedTensorType type = op.getType();
  int64_t depth = op.getA().getType().getShape().back() / parts;
  if (!instruction || type.getRank() != 2 || depth < int64_t(instruction->k))
    return std::nullopt;
  SmallVector<int64_t, 3> shape{int64_t(parts), type.getDimSize(0), type.getDimSize(1)};
  LinearLayout acc =
      matrixAccumulator(*instruction, shape, numWarps, /*keepRows=*/false, /*work=*/{});
  return matrixDotLayouts(*instruction, acc, depth);
}

std::optional<DotLayouts> tile::dotLayoutsFor(DotOp op, const LinearLayout &acc, unsigned run) {
  auto instruction = chooseInstruction(op, targetOf(op));
  int64_t depth = op.getA().getType().getShape().back();
  if (!instruction || depth < int64_t(instruction->k))
    return instruction && run == 0 ? matrixDotLayouts(*instruction, acc, depth) : std::nullopt;
  // A run is of registers: of the inner dimension lanes count the rest.
  if (run > 0 &&
      (run <= llvm::Log2_32(instruction->packed) || depth >> run < int64_t(1) << kInnerLaneBits))
    return std::nullopt;
  instruction->run = run;
  return matrixDotLayouts(*instruction, acc, depth);
}
