//===- LowerElement.cpp - descriptors, gather, histogram, element functions -===//
//
// An access through a descriptor is an instruction that computes pointers and
// a mask, and the plain access. A scalar function mapped over a block is code
// of its own, run element by element.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::interp;

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {
/// What all descriptor operations have in common.
struct DescriptorParts {
  Value base, rows, column;
  ValueRange offsets, shape, strides;
  Type block;
};
} // namespace

static std::optional<DescriptorParts> partsOf(Operation *op) {
  if (auto o = dyn_cast<DescriptorLoadOp>(op))
    return DescriptorParts{o.getBase(),    {},         {}, o.getOffsets(), o.getShape(),
                           o.getStrides(), o.getType()};
  if (auto o = dyn_cast<DescriptorStoreOp>(op))
    return DescriptorParts{
        o.getBase(), {}, {}, o.getOffsets(), o.getShape(), o.getStrides(), o.getValue().getType()};
  if (auto o = dyn_cast<DescriptorReduceOp>(op))
    return DescriptorParts{
        o.getBase(), {}, {}, o.getOffsets(), o.getShape(), o.getStrides(), o.getValue().getType()};
  if (auto o = dyn_cast<DescriptorGatherOp>(op))
    return DescriptorParts{o.getBase(),  o.getRows(),    o.getColumn(), {},
                           o.getShape(), o.getStrides(), o.getType()};
  if (auto o = dyn_cast<DescriptorScatterOp>(op))
    return DescriptorParts{o.getBase(),  o.getRows(),    o.getColumn(),         {},
                           o.getShape(), o.getStrides(), o.getValue().getType()};
  return std::nullopt;
}

bool Lowering::lowerDescriptor(Operation *op) {
  DescriptorParts parts = *partsOf(op);
  auto shape = describe(parts.block);
  if (!shape)
    return refuse(op, "elements of this type are not supported");
  auto block = cast<RankedTensorType>(parts.block).getShape();
  auto *info = makeAux<DescriptorInfo>();
  info->block.assign(block.begin(), block.end());
  info->bytes = shape->bytes();
  // descriptor_c1
  info->offsets.resize(parts.rows ? 0 : block.size());
  info->shape.resize(block.size());
  info->strides.resize(block.size());
  for (auto [field, value] : llvm::zip(info->offsets, parts.offsets))
    refer(field, use(value));
  for (auto [field, value] : llvm::zip(info->shape, parts.shape))
    refer(field, use(value));
  for (auto [field, value] : llvm::zip(info->strides, parts.strides))
    refer(field, use(value));
  if (parts.rows) {
    refer(info->rows, use(parts.rows));
    refer(info->column, use(parts.column));
  }
  RegId pointers = makeRegister(uint64_t(8) * shape->count), mask = makeRegister(shape->count);
  emit(descriptorAddressKernel(), shape->count, pointers, use(parts.base), mask).aux = info;
  return lowerDescriptorAccess(op, parts.base, pointers, mask, *shape, block);
}

bool Lowering::lowerDescriptorAccess(Operation *op, Value base, RegId pointers, RegId mask,
                                     const Shape &shape, ArrayRef<int64_t> block) {
  Kernel atomic = nullptr;
  auto reduce = dyn_cast<DescriptorReduceOp>(op);
  if (reduce && !(atomic = atomicKernel(atomicOpOf(reduce.getKind()), shape.type)))
    return refuse(op, "this atomic is not supported on this element type");
  AccessInfo *info = nullptr;
  if (checked) {
    info = makeAccess(op, base, atomic);
    info->isOfBase = true;
    info->shape.assign(block.begin(), block.end());
    info->masked = true;
  }
  unsigned bytes = shape.bytes();
  program.granule = std::min(program.granule, bytes);
  if (reduce) {
    RegId old = makeRegister(shape);
    emit(checked ? checkedAtomicKernel(bytes) : atomic, shape.count, old, pointers, mask,
         use(reduce.getValue()))
        .aux = info;
    return true;
  }
  if (isa<DescriptorLoadOp, DescriptorGatherOp>(op)) {
    RegId other = kNone;
    auto load = dyn_cast<DescriptorLoadOp>(op);
    if (load && load.getPadding() == Padding::nan) { // descriptor_load_c1
      if (algebraic)
        return refuse(op, "a NaN has no place in the algebraic mode");
      auto type = cast<FloatType>(getElementType(load.getType()));
      uint64_t bits = APFloat::getQNaN(type.getFloatSemantics()).bitcastToAPInt().getZExtValue();
      RegId scalar = makeConstant({reinterpret_cast<uint8_t *>(&bits), bytes});
      other = makeRegister(shape);
      emit(splatKernel(bytes), shape.count, other, scalar);
    }
    emit(checked ? checkedLoadKernel(bytes) : loadKernel(bytes), shape.count,
         define(op->getResult(0)), pointers, mask, other)
        .aux = info;
    return true;
  }
  Value value = isa<DescriptorStoreOp>(op) ? cast<DescriptorStoreOp>(op).getValue()
                                           : cast<DescriptorScatterOp>(op).getValue();
  emit(checked ? checkedStoreKernel(bytes) : storeKernel(bytes), shape.count, kNone, pointers, mask,
       use(value))
      .aux = info;
  return true;
}

//===----------------------------------------------------------------------===//
// Gather, histogram
//===----------------------------------------------------------------------===//

bool Lowering::lowerGather(Operation *op) {
  auto gather = cast<GatherOp>(op);
  auto src = cast<RankedTensorType>(gather.getSrc().getType());
  auto index = cast<RankedTensorType>(gather.getIndex().getType());
  auto *info = makeAux<GatherInfo>();
  for (int64_t d = 0; d < src.getRank(); ++d)
    if (d != int64_t(gather.getAxis())) // of the indices, too: gather_c2
      (d < int64_t(gather.getAxis()) ? info->outer : info->inner) *= uint32_t(src.getDimSize(d));
  info->length = uint32_t(src.getDimSize(gather.getAxis()));
  info->picked = uint32_t(index.getDimSize(gather.getAxis()));
  info->shape.assign(index.getShape().begin(), index.getShape().end());
  info->indexBytes = describe(index)->bytes();
  Shape shape = *describe(gather.getType());
  emit(gatherKernel(shape.bytes()), shape.count, define(gather.getResult()), use(gather.getSrc()),
       use(gather.getIndex()))
      .aux = info;
  return true;
}

bool Lowering::lowerHistogram(Operation *op) {
  auto histogram = cast<HistogramOp>(op);
  Shape shape = *describe(histogram.getSrc().getType());
  RegId mask = histogram.getMask() ? use(histogram.getMask()) : kNone;
  Instruction &i = emit(histogramKernel(shape.bytes()), shape.count, define(histogram.getResult()),
                        use(histogram.getSrc()), mask);
  i.imm = histogram.getType().getDimSize(0); // histogram_c1
  return true;
}

//===----------------------------------------------------------------------===//
// Functions of elements
//===----------------------------------------------------------------------===//

bool Lowering::lowerMap(Operation *op) {
  auto map = cast<MapElementwiseOp>(op);
  if (combiner)
    return refuse(op, "a mapped function inside of another is not supported");
  auto *info = makeAux<MapInfo>();
  info->wide = false;
  info->pack = map.getPack();
  Block &block = map.getBody().front();
  uint32_t count = describe(map.getSrcs()[0].getType())->count;
  SmallVector<std::pair<RegId, RegId>> inputs, outputs; // block, element
  for (auto [k, src] : llvm::enumerate(map.getSrcs()))
    for (unsigned j = 0; j < info->pack; ++j) { // map_elementwise_c2
      unsigned bytes = describe(src.getType())->bytes();
      RegId element = makeRegister(bytes);
      values[block.getArgument(k * info->pack + j)] = element;
      inputs.push_back({use(src), element});
      info->inputs.push_back({bytes});
    }
  SmallVector<RegId> results;
  for (Value result : map.getResults())
    results.push_back(define(result));
  Combiner inner;
  inner.info = info;
  inner.region = &map.getBody();
  std::vector<Instruction> *outer = code;
  combiner = &inner;
  code = &info->code;
  std::optional<Counted> counted(std::in_place, *this);
  bool ok = lowerBlock(block);
  current = op;
  if (ok) {
    // map_elementwise_c3
    for (auto [k, yielded] : llvm::enumerate(block.getTerminator()->getOperands())) {
      outputs.push_back({results[k / info->pack], use(yielded)});
      info->outputs.push_back({describe(yielded.getType())->bytes()});
    }
    emit(nullptr, 1, kNone).control = Control::Return;
  }
  counted.reset();
  combiner = nullptr;
  code = outer;
  if (!ok)
    return false;
  for (auto [field, regs] : llvm::zip(info->inputs, inputs)) {
    refer(field.block, regs.first);
    refer(field.element, regs.second);
  }
  for (auto [field, regs] : llvm::zip(info->outputs, outputs)) {
    refer(field.block, regs.first);
    refer(field.element, regs.second);
  }
  Instruction &i = emit(mapKernel(), count, kNone);
  i.control = Control::RunChecked;
  i.aux = info;
  return true;
}

bool Lowering::lowerAssume(Operation *op) {
  if (checked && !combiner)
    emit(checkAssumeKernel(), 1, kNone, use(op->getOperand(0)));
  return true;
}

bool Lowering::lowerElementOps(Operation *op, bool &known) {
  known = true;
  if (partsOf(op))
    return combiner ? refuse(op, "memory access inside of a combiner is not supported")
                    : lowerDescriptor(op);
  if (isa<GatherOp>(op))
    return lowerGather(op);
  if (isa<HistogramOp>(op))
    return lowerHistogram(op);
  if (isa<MapElementwiseOp>(op))
    return lowerMap(op);
  if (isa<AssumeOp>(op))
    return lowerAssume(op);
  if (auto call = dyn_cast<ExternElementwiseOp>(op))
    if (Kernel kernel =
            call.getLibrary().empty() ? deviceFunctionKernel(call.getSymbol()) : nullptr)
      return emitElementwise(op, kernel);
  if (isa<ExternElementwiseOp>(op))
    return refuse(
        op, "functions of bitcode libraries run on a GPU or on the emulator (`--device emu`)");
  if (isa<InlineAsmOp>(op))
    return refuse(op, "inline PTX runs on a GPU or on the emulator (`--device emu`)");
  known = false;
  return true;
}
