//===- LowerShape.cpp - creation and movement of blocks -------------------===//
//
// Registers are row-major, so inserting a dimension of one or reshaping only
// renames a register; encodings mean nothing here, and neither do conversions
// between them.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "runtime/interp/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::interp;

static SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t k = shape.size(); k-- > 1;)
    strides[k - 1] = strides[k] * shape[k];
  return strides;
}

/// dst walks `shape` row by row, reading src with `strides`. Neighbouring
/// dimensions that move together become one, so the inner loop is long.
void Lowering::emitPermute(RegId dst, RegId src, unsigned bytes, ArrayRef<int64_t> shape,
                           ArrayRef<int64_t> strides) {
  StrideInfo *info = makeAux<StrideInfo>();
  uint32_t count = 1;
  for (auto [size, stride] : llvm::zip(shape, strides)) {
    count *= uint32_t(size);
    if (size == 1)
      continue;
    if (!info->shape.empty() && info->strides.back() == stride * size) {
      info->shape.back() *= size;
      info->strides.back() = stride;
    } else {
      info->shape.push_back(size);
      info->strides.push_back(stride);
    }
  }
  if (info->shape.empty()) {
    info->shape.push_back(1);
    info->strides.push_back(1);
  }
  emit(permuteKernel(bytes), count, dst, src).aux = info;
}

std::optional<RegId> Lowering::moveLike(Operation *op, RegId src, unsigned bytes) {
  if (isa<ExpandDimsOp, ReshapeOp, UnsplatOp, HintOp, cta::ConvertLayoutOp, cta::PinOp, PtrCastOp>(
          op))
    return src;
  if (!isa<SplatOp, BroadcastOp, TransOp>(op))
    return std::nullopt;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  uint32_t count = uint32_t(type.getNumElements());
  RegId dst = makeRegister(uint64_t(bytes) * count);
  if (isa<SplatOp>(op)) {
    emit(splatKernel(bytes), count, dst, src);
    return dst;
  }
  auto source = cast<RankedTensorType>(op->getOperand(0).getType());
  SmallVector<int64_t> strides = rowMajorStrides(source.getShape());
  if (auto trans = dyn_cast<TransOp>(op)) {
    SmallVector<int64_t> permuted;
    for (int32_t dim : trans.getOrder()) // trans_c2
      permuted.push_back(strides[dim]);
    strides = permuted;
  } else {
    for (auto [size, stride] : llvm::zip(source.getShape(), strides))
      if (size == 1) // broadcast_c2
        stride = 0;
  }
  emitPermute(dst, src, bytes, type.getShape(), strides);
  return dst;
}

/// In a checked program the author's promises are put to the test.
void Lowering::checkHint(HintOp hint, const Shape &shape) {
  Kernel kernel = checkHintKernel(shape.type);
  if (!kernel)
    return;
  auto *info = makeAux<HintInfo>();
  if (auto block = dyn_cast<RankedTensorType>(hint.getSrc().getType()))
    info->shape.assign(block.getShape().begin(), block.getShape().end());
  auto read = [&](std::optional<ArrayRef<int64_t>> list, SmallVector<int64_t> &to) {
    // A list of another length, or of no positive numbers, promises nothing.
    if (list && list->size() == std::max<size_t>(info->shape.size(), 1) &&
        llvm::all_of(*list, [](int64_t v) { return v > 0; }))
      to.assign(list->begin(), list->end());
  };
  read(hint.getDivisibility(), info->divisibility);
  if (!shape.isPointer) // contiguous pointers differ by the size of what they point to
    read(hint.getContiguity(), info->contiguity);
  read(hint.getConstancy(), info->constancy);
  emit(kernel, shape.count, kNone, use(hint.getSrc())).aux = info;
}

bool Lowering::lowerShape(Operation *op, bool &known) {
  known = true;
  if (auto id = dyn_cast<ProgramIdOp>(op))
    return emitElementwise(op, programIdKernel(), nullptr, id.getAxis());
  if (auto size = dyn_cast<NumProgramsOp>(op))
    return emitElementwise(op, numProgramsKernel(), nullptr, size.getAxis());
  if (auto range = dyn_cast<MakeRangeOp>(op))
    return emitElementwise(op, rangeKernel(), nullptr, int32_t(range.getStart()));
  if (op->getNumOperands() == 0) {
    known = false;
    return true;
  }
  auto shape = describe(op->getOperand(0).getType());
  if (isa<JoinOp>(op)) {
    emit(joinKernel(shape->bytes()), shape->count, define(op->getResult(0)), use(op->getOperand(0)),
         use(op->getOperand(1)));
    return true;
  }
  if (isa<SplitOp>(op)) {
    for (unsigned k = 0; k < 2; ++k) // split_c1
      emit(splitKernel(shape->bytes()), shape->count / 2, define(op->getResult(k)),
           use(op->getOperand(0)))
          .imm = k;
    return true;
  }
  if (!isa<SplatOp, UnsplatOp, BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp, HintOp,
           cta::ConvertLayoutOp, cta::PinOp>(op)) {
    known = false;
    return true;
  }
  if (!shape)
    return refuse(op, "the operand's type is not supported");
  if (auto hint = dyn_cast<HintOp>(op); hint && checked && !combiner)
    checkHint(hint, *shape);
  RegId moved = *moveLike(op, use(op->getOperand(0)), shape->bytes());
  values[op->getResult(0)] = moved;
  touch(moved);
  if (auto wrap = wrapped.find(op->getOperand(0)); wrap != wrapped.end()) {
    RegId lanes = *moveLike(op, wrap->second, 1);
    wrapped[op->getResult(0)] = lanes;
  }
  return true;
}
