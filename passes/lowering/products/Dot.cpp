//===- Dot.cpp - matrix products ------------------------------------------===//
//
// A block is cut into the tiles of one matrix instruction; the registers of a
// fragment are found by the coordinates of their elements. What the instruction
// reads beyond the end of a short inner dimension is zero.
//
// Without a matrix unit for its types, a product is one multiply-add for each
// accumulator register and each step of the inner dimension, on operands in
// the thread's own registers, or read from shared memory (StagedDot.cpp).
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "ir/layout/GF2.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/lowering/core/Casts.h"
#include "passes/lowering/products/Products.h"
#include "passes/lowering/products/RegisterMap.h"
#include "passes/lowering/products/StagedDot.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

/// The type in which sums of products are kept while they grow.
static Type sumType(OpBuilder &b, Type acc) { return acc.isF16() ? b.getF32Type() : acc; }

/// Products are written out step by step. Of more steps than these, the PTX takes many seconds to
/// make and minutes to assemble, and the sums have no room in registers by far.
static constexpr int64_t kMostMatrixInstructions = 1 << 15, kMostMultiplications = 1 << 17;

/// Refuses `op` if a `who` runs more than `most` instructions for it.
static LogicalResult checkLength(DotOp op, int64_t count, int64_t most, StringRef what,
                                 StringRef who) {
  if (count <= most)
    return success();
  auto shape = [](Value v) {
    std::string text;
    for (int64_t size : cast<RankedTensorType>(v.getType()).getShape())
      text += (text.empty() ? "" : "x") + std::to_string(size);
    return text;
  };
  return op.emitError() << formatted("a product of {} by {} is {} {} of each {}, more than {}: use "
                                     "smaller blocks, in a loop, or more warps",
                                     shape(op.getA()), shape(op.getB()), count, what, who, most);
}

LogicalResult Products::multiplyAdd(DotOp op) {
  Type type = getElementType(op.getType()), sum = sumType(b, type);
  const LinearLayout &layout = cta::getLayout(op.getType());
  unsigned rank = layout.outs().size();
  int64_t depth = op.getA().getType().getShape().back();
  if (failed(checkLength(op, layout.inSize(Dim::reg()) * depth, kMostMultiplications,
                         "multiplications", "thread")))
    return failure();
  bool cut =
      op.getInputPrecision() == InputPrecision::tf32 && !core.module->hasAttr(kAlgebraicAttr);
  Casts casts(core);
  // An operand may still be in shared memory: each element is read where it is first multiplied.
  Registers known[2];
  auto widened = [&](DotOperand which, unsigned reg) {
    Value operand = op->getOperand(which);
    known[which].resize(cta::getLayout(operand.getType()).inSize(Dim::reg()));
    Value &v = known[which][reg];
    if (!v) {
      v = casts.widen(reads.element(operand, reg), getElementType(operand.getType()), sum);
      v = cut ? in.cutToTf32(v) : v;
    }
    return v;
  };
  RegisterMap inA(cta::getLayout(op.getA().getType())), inB(cta::getLayout(op.getB().getType()));

  Registers result;
  for (Value v : core.get(op.getAcc()))
    result.push_back(type == sum ? v : casts.emitFpCast(v, sum, Rounding::rtne));
  for (int32_t k = 0; k < depth; ++k)
    for (auto [r, acc] : llvm::enumerate(result)) {
      SmallVector<int32_t> row = registerCoordinates(layout, r), column = row;
      row[rank - 1] = column[rank - 2] = k;
      auto i = inA.find(row), j = inB.find(column);
      if (!i || !j)
        return op.emitOpError("has operands in layouts that do not follow from its result's");
      acc = in.multiplyAdd(widened(kDotA, *i), widened(kDotB, *j), acc);
    }
  for (Value &v : result)
    v = type == sum ? v : casts.emitFpCast(v, type, Rounding::rtne);
  core.set(op.getResult(), std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Matrix instructions
//===----------------------------------------------------------------------===//

namespace {
/// One product while it is being lowered.
class MatrixProduct {
public:
  MatrixProduct(Core &core, SharedReads &reads, DotOp op, const MatrixInstruction &instruction)
      : core(core), reads(reads), op(op), instruction(instruction) {}
  LogicalResult run();

private:
  Core &core;
  SharedReads &reads;
  DotOp op;
  const MatrixInstruction &instruction;
  unsigned rank = unsigned(op.getType().getRank());
  int64_t depth = op.getA().getType().getShape().back();
  /// Fragments that are complete, by where they start.
  llvm::DenseMap<uint64_t, Registers> fragments[2];

  Value operand(DotOperand which) const { return op->getOperand(which); }
  /// The coordinates of a fragment's register, in the tile that starts at `tile`.
  SmallVector<int32_t> coordinates(const LinearLayout &fragment, unsigned reg,
                                   ArrayRef<int32_t> tile) const {
    SmallVector<int32_t> at(tile), within = registerCoordinates(fragment, int32_t(reg));
    at[rank - 2] += within[0];
    at[rank - 1] += within[1];
    return at;
  }
  FailureOr<Registers> gather(DotOperand which, const RegisterMap &map, ArrayRef<int32_t> tile);
  Value withoutTail(Value v, const LinearLayout &fragment, unsigned inner);
  SmallVector<SmallVector<int32_t>> tilesOfThread();
  LogicalResult fetch(ArrayRef<RegisterMap> maps, ArrayRef<SmallVector<int32_t>> tiles, int64_t k);
};
} // namespace

/// Zero in lanes that hold elements beyond a short inner dimension.
Value MatrixProduct::withoutTail(Value v, const LinearLayout &fragment, unsigned inner) {
  int32_t beyond = 0;
  for (int32_t bit = 0; bit < fragment.inSizeLog2(Dim::lane()); ++bit)
    if (fragment.basis(Dim::lane(), bit)[inner] >= depth)
      beyond |= 1 << bit;
  if (!beyond)
    return v;
  Location loc = core.in.getLoc();
  Value bits = LLVM::AndOp::create(core.b, loc, core.tid, core.in.i32(beyond));
  Value isBeyond = LLVM::ICmpOp::create(core.b, loc, LLVM::ICmpPredicate::ne, bits, core.in.i32(0));
  return LLVM::SelectOp::create(core.b, loc, isBeyond, core.in.zero(v.getType()), v);
}

/// The registers of one operand's fragment, packed for the instruction.
FailureOr<Registers> MatrixProduct::gather(DotOperand which, const RegisterMap &map,
                                           ArrayRef<int32_t> tile) {
  Registers &known = fragments[which][RegisterMap::key(tile)];
  if (!known.empty())
    return known;
  LinearLayout fragment = tile::fragment(instruction, which);
  unsigned inner = which == kDotA ? 1 : 0, innerDim = rank - 2 + inner;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(operand(which).getType()).getShape();
  Type element = core.llvmType(getElementType(operand(which).getType()));
  Registers elements;
  for (unsigned r = 0; r < unsigned(fragment.inSize(Dim::reg())); ++r) {
    SmallVector<int32_t> at = coordinates(fragment, r, tile);
    if (at[innerDim] >= shape[innerDim]) {
      elements.push_back(core.in.zero(element));
      continue;
    }
    at[innerDim] = instruction.placeOf(at[innerDim]);
    for (auto [coordinate, size] : llvm::zip_equal(at, shape))
      coordinate &= int32_t(size - 1); // beyond the end: a copy
    std::optional<unsigned> found = map.find(at);
    if (!found)
      return op.emitOpError("has an operand that does not hold what its instruction reads");
    elements.push_back(withoutTail(reads.element(operand(which), *found), fragment, inner));
  }
  bool isWide = bitWidth(elements.front().getType()) == 64;
  known = isWide ? elements : Registers(core.in.pack(elements, 32));
  return known;
}

/// Loads those fragments of step `k` that are still in shared memory.
LogicalResult MatrixProduct::fetch(ArrayRef<RegisterMap> maps, ArrayRef<SmallVector<int32_t>> tiles,
                                   int64_t k) {
  for (DotOperand which : {kDotA, kDotB}) {
    if (!reads.isShared(operand(which)))
      continue;
    for (SmallVector<int32_t> at : tiles) {
      at[which == kDotA ? rank - 1 : rank - 2] = int32_t(k);
      if (failed(gather(which, maps[which], at)))
        return failure();
    }
  }
  return success();
}

/// 1. The tiles that this thread has a part in, each by its first register.
SmallVector<SmallVector<int32_t>> MatrixProduct::tilesOfThread() {
  const LinearLayout &layout = cta::getLayout(op.getType());
  SmallVector<SmallVector<int32_t>> tiles;
  for (int32_t r = 0; r < layout.inSize(Dim::reg()); ++r) {
    SmallVector<int32_t> at = registerCoordinates(layout, r);
    if (at[rank - 2] % instruction.m == 0 && at[rank - 1] % instruction.n == 0)
      tiles.push_back(at);
  }
  return tiles;
}

LogicalResult MatrixProduct::run() {
  LinearLayout accFragment = fragment(instruction, kDotAcc);
  RegisterMap maps[3] = {RegisterMap(cta::getLayout(op.getA().getType())),
                         RegisterMap(cta::getLayout(op.getB().getType())),
                         RegisterMap(cta::getLayout(op.getType()))};
  Type typeA = getElementType(op.getA().getType()), typeB = getElementType(op.getB().getType());
  ArrayRef<int64_t> shape = op.getType().getShape();
  Registers sum = core.get(op.getAcc());

  SmallVector<SmallVector<int32_t>> tiles = tilesOfThread();
  if (failed(checkLength(op, int64_t(tiles.size()) * llvm::divideCeil(depth, instruction.k),
                         kMostMatrixInstructions, "matrix instructions", "warp")))
    return failure();
  // 2. Along the inner dimension; within a step tile by tile. Sums of 8-bit
  //    products leave the matrix unit after every `stride` steps.
  int64_t bound = op.getMaxNumImpreciseAcc();
  int64_t stride = bound ? std::max<int64_t>(bound / instruction.k, 1) : 0;
  Registers partial = sum;
  int64_t step = 0;
  if (failed(fetch(maps, tiles, 0)))
    return failure();
  for (int64_t k = 0; k < depth; k += instruction.k, ++step) {
    // What comes from shared memory is on its way before the step it is for.
    if (k + instruction.k < depth && failed(fetch(maps, tiles, k + instruction.k)))
      return failure();
    bool starts = stride && step % stride == 0;
    bool ends = stride && (step % stride == stride - 1 || k + instruction.k >= depth);
    for (ArrayRef<int32_t> tile : tiles) {
      SmallVector<int32_t> atA(tile), atB(tile);
      atA[rank - 1] = atB[rank - 2] = int32_t(k);
      auto a = gather(kDotA, maps[kDotA], atA), b = gather(kDotB, maps[kDotB], atB);
      if (failed(a) || failed(b))
        return failure();
      SmallVector<unsigned> places;
      Registers acc;
      for (unsigned r = 0; r < unsigned(accFragment.inSize(Dim::reg())); ++r) {
        SmallVector<int32_t> at = coordinates(accFragment, r, tile);
        for (auto [coordinate, size] : llvm::zip_equal(at, shape))
          coordinate &= int32_t(size - 1);
        places.push_back(*maps[kDotAcc].find(at));
        acc.push_back(starts ? core.in.zero(sum.front().getType()) : partial[places.back()]);
      }
      auto product = core.in.multiplyMatrices(instruction.m, instruction.n, instruction.k, typeA,
                                              typeB, *a, *b, acc);
      for (auto [place, v] : llvm::zip_equal(places, product))
        partial[place] = v;
      llvm::sort(places); // a small block has copies
      places.erase(llvm::unique(places), places.end());
      if (ends)
        for (unsigned place : places)
          sum[place] = LLVM::FAddOp::create(core.b, core.in.getLoc(), sum[place], partial[place]);
    }
  }
  core.set(op.getResult(), stride ? std::move(sum) : std::move(partial));
  return success();
}

/// The layouts say how the product is to be computed.
LogicalResult Products::lower(DotOp op) {
  switch (dotMethod(op)) {
  case DotMethod::Matrix:
    return MatrixProduct(core, reads, op, *instructionOf(op)).run();
  case DotMethod::Registers:
    return multiplyAdd(op);
  case DotMethod::Staged:
    return multiplyStaged(core, op);
  }
  llvm_unreachable("all methods are handled");
}
