//===- Shape.cpp - ranges and data movement within a thread ---------------===//
//
// The layout pass has given operand and result layouts that agree on lanes and
// warps, so each op here only renames registers.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Shape.h"
#include "passes/lowering/core/Coordinates.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

void Movements::lower(MakeRangeOp op) {
  const LinearLayout &layout = cta::getLayout(op.getType());
  Value base = core.threadPart(layout, Dim::dim(0));
  int32_t threadBits = 0;
  for (Dim dim : {Dim::lane(), Dim::warp()})
    for (int32_t bit = 0; bit < layout.inSizeLog2(dim); ++bit)
      threadBits |= layout.basis(dim, bit)[0];
  Registers regs;
  for (int32_t r = 0; r < layout.inSize(Dim::reg()); ++r) {
    int32_t coord = registerCoordinates(layout, r)[0];
    if (coord & threadBits) { // a swizzle: the parts do not simply add
      Value v = LLVM::XOrOp::create(b, op.getLoc(), base, in.i32(coord));
      regs.push_back(core.addI(v, in.i32(op.getStart())));
      continue;
    }
    Affine a = core.affine(base);
    regs.push_back(
        core.materialize({a.base, a.offset + coord + int32_t(op.getStart())}, b.getI32Type()));
  }
  core.set(op.getResult(), std::move(regs));
}

/// Row-major linear index of coordinates within a shape, and back.
static int64_t linearize(ArrayRef<int32_t> coords, ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (auto [c, n] : llvm::zip(coords, shape))
    index = index * n + c;
  return index;
}
static SmallVector<int32_t> delinearize(int64_t index, ArrayRef<int64_t> shape) {
  SmallVector<int32_t> coords(shape.size());
  for (int axis = int(shape.size()) - 1; axis >= 0; --axis) {
    coords[axis] = index % shape[axis];
    index /= shape[axis];
  }
  return coords;
}

/// How a movement op maps a result coordinate to an operand coordinate.
static SmallVector<int32_t> sourceCoordinate(Operation *op, ArrayRef<int32_t> c) {
  auto src = cast<RankedTensorType>(op->getOperand(0).getType());
  auto dst = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int32_t> out(c);
  if (isa<BroadcastOp>(op)) {
    for (int64_t i = 0; i < src.getRank(); ++i)
      if (src.getDimSize(i) == 1)
        out[i] = 0;
  } else if (auto expand = dyn_cast<ExpandDimsOp>(op)) {
    out.erase(out.begin() + expand.getAxis());
  } else if (isa<ReshapeOp>(op)) {
    return delinearize(linearize(c, dst.getShape()), src.getShape());
  } else if (auto trans = dyn_cast<TransOp>(op)) {
    for (auto [i, from] : llvm::enumerate(trans.getOrder()))
      out[from] = c[i];
  }
  return out;
}

LogicalResult Movements::lowerMovement(Operation *op) {
  if (auto splat = dyn_cast<SplatOp>(op)) {
    core.set(splat.getResult(), Registers(cta::getLayout(splat.getType()).inSize(Dim::reg()),
                                          core.getScalar(splat.getSrc())));
    return success();
  }
  if (auto unsplat = dyn_cast<UnsplatOp>(op)) {
    core.set(unsplat.getResult(), {core.get(unsplat.getSrc()).front()});
    return success();
  }
  if (auto split = dyn_cast<SplitOp>(op)) {
    const LinearLayout &src = cta::getLayout(split.getSrc().getType());
    const LinearLayout &dst = cta::getLayout(split.getLhs().getType());
    for (int half = 0; half < 2; ++half) {
      SmallVector<int> map = matchRegisters(dst, src, [&](ArrayRef<int32_t> c) {
        SmallVector<int32_t> out(c);
        out.push_back(half);
        return out;
      });
      Registers regs;
      for (int r : map) {
        if (r < 0)
          return op->emitOpError("the split dimension is not held in registers");
        regs.push_back(core.get(split.getSrc())[r]);
      }
      core.set(split->getResult(half), std::move(regs));
    }
    return success();
  }
  const LinearLayout &dst = cta::getLayout(op->getResult(0).getType());
  const LinearLayout &src = cta::getLayout(op->getOperand(0).getType());
  bool isJoin = isa<JoinOp>(op);
  SmallVector<int> map = matchRegisters(dst, src, [&](ArrayRef<int32_t> c) {
    return isJoin ? SmallVector<int32_t>(c.drop_back()) : sourceCoordinate(op, c);
  });
  if (llvm::any_of(map, [](int from) { return from < 0; }))
    return op->emitOpError("operand and result layouts disagree on lanes or warps");
  if (!isJoin && reads.isShared(op->getOperand(0))) {
    reads.rename(op->getResult(0), std::move(map));
    return success();
  }
  Registers regs;
  for (auto [r, from] : llvm::enumerate(map)) {
    unsigned operand = isJoin ? registerCoordinates(dst, r).back() : 0;
    regs.push_back(core.get(op->getOperand(operand))[from]);
  }
  core.set(op->getResult(0), std::move(regs));
  return success();
}
