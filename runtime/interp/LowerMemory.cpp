//===- LowerMemory.cpp - pointers, memory access and debugging ------------===//
//
// In a checked program every access carries what the report needs: the kernel
// argument its pointer comes from, and the lanes whose address arithmetic
// wrapped. The latter are found by computing each 32-bit offset a second time
// in 64 bits and comparing where the offset meets its pointer.
//
//===----------------------------------------------------------------------===//
#include "ir/CtaDialect.h"
#include "runtime/interp/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::interp;

//===----------------------------------------------------------------------===//
// Address arithmetic without wrapping
//===----------------------------------------------------------------------===//

static bool isMovement(Operation *op) {
  return isa<SplatOp, BroadcastOp, TransOp, ExpandDimsOp, ReshapeOp, UnsplatOp, HintOp,
             cta::ConvertLayoutOp, cta::PinOp>(op);
}
static bool isWrappingArithmetic(Operation *op) {
  return isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::ShLIOp>(op);
}

/// How far back from an address its arithmetic is followed.
static constexpr unsigned kMaxDepth = 64;

/// Whether `value` is computed by integer arithmetic narrower than 64 bits
/// that reaches the address unchanged but for widening.
bool Lowering::mayWrap(Value value, unsigned depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return false;
  if (auto known = wrapping.find(value); known != wrapping.end())
    return known->second;
  auto shape = describe(value.getType());
  bool arithmetic = isWrappingArithmetic(op);
  bool result = arithmetic && shape && bitWidth(shape->type) < 64;
  if (!result && (arithmetic || isMovement(op) || isa<arith::ExtSIOp>(op)))
    result = llvm::any_of(op->getOperands(), [&](Value v) { return mayWrap(v, depth + 1); });
  return wrapping[value] = result;
}

/// `done` holds what has been computed for the same address already: values
/// that are used twice are computed once.
RegId Lowering::exact(Value value, llvm::DenseMap<Value, RegId> &done, unsigned depth) {
  if (auto known = done.find(value); known != done.end())
    return known->second;
  Shape shape = *describe(value.getType());
  Operation *op = value.getDefiningOp();
  RegId result;
  if (depth > kMaxDepth || !mayWrap(value)) {
    result = use(value);
    if (shape.type != DType::I64) {
      result = makeRegister(uint64_t(8) * shape.count);
      emit(intResizeKernel(shape.type, DType::I64, true), shape.count, result, use(value));
    }
  } else if (isa<arith::ExtSIOp>(op)) {
    result = exact(op->getOperand(0), done, depth + 1);
  } else if (isMovement(op)) {
    result = *moveLike(op, exact(op->getOperand(0), done, depth + 1), 8);
  } else {
    IntOp which = isa<arith::AddIOp>(op)   ? IntOp::Add
                  : isa<arith::SubIOp>(op) ? IntOp::Sub
                  : isa<arith::MulIOp>(op) ? IntOp::Mul
                                           : IntOp::Shl;
    RegId a = exact(op->getOperand(0), done, depth + 1);
    RegId b = exact(op->getOperand(1), done, depth + 1);
    result = makeRegister(uint64_t(8) * shape.count);
    emit(intKernel(which, DType::I64), shape.count, result, a, b);
  }
  return done[value] = result;
}

bool Lowering::lowerAddPtr(Operation *op) {
  auto add = cast<AddPtrOp>(op);
  auto offset = describe(add.getOffset().getType());
  if (!offset)
    return refuse(op, "the offset's type is not supported");
  Type pointee = cast<PtrType>(getElementType(add.getPtr().getType())).getPointee();
  if (!emitElementwise(op, addPtrKernel(offset->type), nullptr, getElementBytes(pointee)))
    return false;
  if (!checked || combiner)
    return true;
  auto before = wrapped.find(add.getPtr());
  bool wraps = mayWrap(add.getOffset());
  if (!wraps) {
    if (before != wrapped.end())
      wrapped[add.getResult()] = before->second;
    return true;
  }
  RegId lanes = makeRegister(offset->count);
  if (before != wrapped.end())
    emit(copyKernel(1), offset->count, lanes, before->second);
  else
    emit(zeroKernel(1), offset->count, lanes);
  llvm::DenseMap<Value, RegId> done;
  RegId wide = exact(add.getOffset(), done);
  emit(offsetWrapKernel(offset->type), offset->count, lanes, wide, use(add.getOffset()));
  wrapped[add.getResult()] = lanes;
  return true;
}

//===----------------------------------------------------------------------===//
// Where a pointer comes from
//===----------------------------------------------------------------------===//

/// The kernel argument that `pointer` is an offset from; null where it is not
/// known or there are several. A value met a second time says nothing new: it
/// is returned itself, and anything that is not a kernel argument merges with
/// whatever else there is. So a carried pointer comes from where its initial
/// value does if the loop only advances it.
Value Lowering::pointerRoot(Value pointer, llvm::SmallPtrSetImpl<void *> &visited) {
  Block &entry = activations.front().function.getBody().front();
  auto isParameter = [&](Value v) {
    auto argument = dyn_cast_if_present<BlockArgument>(v);
    return argument && argument.getOwner() == &entry;
  };
  if (isParameter(pointer) || !visited.insert(pointer.getAsOpaquePointer()).second)
    return pointer;
  auto merge = [&](Value a, Value b) -> Value {
    Value x = pointerRoot(a, visited), y = pointerRoot(b, visited);
    if (x && !isParameter(x))
      return y;
    if (y && !isParameter(y))
      return x;
    return x == y ? x : Value();
  };
  if (auto argument = dyn_cast<BlockArgument>(pointer)) {
    if (auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp()))
      if (OpOperand *init = loop.getTiedLoopInit(argument))
        return merge(init->get(), loop.getTiedLoopYieldedValue(argument)->get());
    return Value();
  }
  Operation *op = pointer.getDefiningOp();
  if (isMovement(op) || isa<AddPtrOp, PtrCastOp, PtrToIntOp, IntToPtrOp>(op))
    return pointerRoot(op->getOperand(0), visited);
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return merge(select.getTrueValue(), select.getFalseValue());
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return pointerRoot(loop.getTiedLoopRegionIterArg(cast<OpResult>(pointer)), visited);
  return Value();
}

AccessInfo *Lowering::makeAccess(Operation *op, Value pointer, Kernel inner) {
  auto *info = makeAux<AccessInfo>();
  info->inner = inner;
  if (auto block = dyn_cast<RankedTensorType>(pointer.getType()))
    info->shape.assign(block.getShape().begin(), block.getShape().end());
  if (auto wrap = wrapped.find(pointer); wrap != wrapped.end())
    refer(info->wrapped, wrap->second);
  llvm::SmallPtrSet<void *, 8> visited;
  auto root = dyn_cast_if_present<BlockArgument>(pointerRoot(pointer, visited));
  if (root && isa<PtrType>(root.getType()) &&
      root.getOwner() == &activations.front().function.getBody().front()) {
    refer(info->rootPointer, values[root]);
    info->rootIndex = root.getArgNumber();
  }
  return info;
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

bool Lowering::lowerLoad(Operation *op) {
  auto load = cast<LoadOp>(op);
  Shape shape = *describe(load.getType());
  RegId mask = load.getMask() ? use(load.getMask()) : kNone;
  RegId other = load.getOther() ? use(load.getOther()) : kNone;
  RegId pointer = use(load.getPtr());
  AccessInfo *info = checked ? makeAccess(op, load.getPtr()) : nullptr;
  if (info)
    info->isVolatile = load.getIsVolatile();
  Instruction &i = emit(checked ? checkedLoadKernel(shape.bytes()) : loadKernel(shape.bytes()),
                        shape.count, define(load.getResult()), pointer, mask, other);
  i.aux = info;
  program.granule = std::min(program.granule, shape.bytes());
  return true;
}

bool Lowering::lowerStore(Operation *op) {
  auto store = cast<StoreOp>(op);
  auto shape = describe(store.getValue().getType());
  if (!shape)
    return refuse(op, "values of this type are not supported");
  RegId mask = store.getMask() ? use(store.getMask()) : kNone;
  RegId pointer = use(store.getPtr()), value = use(store.getValue());
  AccessInfo *info = checked ? makeAccess(op, store.getPtr()) : nullptr;
  emit(checked ? checkedStoreKernel(shape->bytes()) : storeKernel(shape->bytes()), shape->count,
       kNone, pointer, mask, value)
      .aux = info;
  program.granule = std::min(program.granule, shape->bytes());
  return true;
}

AtomicOp Lowering::atomicOpOf(AtomicKind kind) const {
  switch (kind) {
  case AtomicKind::add:
    return AtomicOp::Add;
  case AtomicKind::fadd:
    return algebraic ? AtomicOp::Add : AtomicOp::FAdd;
  case AtomicKind::max:
    return AtomicOp::MaxS;
  case AtomicKind::min:
    return AtomicOp::MinS;
  case AtomicKind::umax:
    return AtomicOp::MaxU;
  case AtomicKind::umin:
    return AtomicOp::MinU;
  case AtomicKind::band:
    return AtomicOp::And;
  case AtomicKind::bor:
    return AtomicOp::Or;
  case AtomicKind::bxor:
    return AtomicOp::Xor;
  case AtomicKind::xchg:
    return AtomicOp::Exchange;
  case AtomicKind::fmax:
    return algebraic ? AtomicOp::MaxS : AtomicOp::FMax;
  case AtomicKind::fmin:
    return algebraic ? AtomicOp::MinS : AtomicOp::FMin;
  }
  llvm_unreachable("all kinds are listed");
}

bool Lowering::lowerAtomic(Operation *op) {
  auto swap = dyn_cast<AtomicCasOp>(op);
  auto rmw = dyn_cast<AtomicRmwOp>(op);
  Value pointer = swap ? swap.getPtr() : rmw.getPtr();
  Shape shape = *describe(op->getResult(0).getType());
  Kernel kernel =
      atomicKernel(swap ? AtomicOp::CompareSwap : atomicOpOf(rmw.getKind()), shape.type);
  if (!kernel)
    return refuse(op, "this atomic is not supported on this element type");
  RegId address = use(pointer), value = use(swap ? swap.getValue() : rmw.getValue());
  RegId second = swap ? use(swap.getCmp()) : rmw.getMask() ? use(rmw.getMask()) : kNone;
  AccessInfo *info = nullptr;
  if (checked) {
    info = makeAccess(op, pointer, kernel);
    MemSemantic order = swap ? swap.getSem() : rmw.getSem();
    info->acquire = order == MemSemantic::acquire || order == MemSemantic::acq_rel;
    info->release = order == MemSemantic::release || order == MemSemantic::acq_rel;
    info->masked = !swap && rmw.getMask();
    kernel = checkedAtomicKernel(shape.bytes());
  }
  Instruction &i = emit(kernel, shape.count, define(op->getResult(0)), address, second, value);
  i.aux = info;
  program.granule = std::min(program.granule, shape.bytes());
  return true;
}

bool Lowering::lowerMemory(Operation *op, bool &known) {
  known = true;
  if (isa<AddPtrOp>(op))
    return lowerAddPtr(op);
  // A mapped function may read: it runs once for each element (LowerElement.cpp).
  bool reads = isa<LoadOp>(op) && op->getParentOfType<MapElementwiseOp>();
  if (combiner && !reads && isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>(op))
    return refuse(op, "memory access inside of a combiner is not supported");
  if (isa<LoadOp>(op))
    return lowerLoad(op);
  if (isa<StoreOp>(op))
    return lowerStore(op);
  if (isa<AtomicRmwOp, AtomicCasOp>(op))
    return lowerAtomic(op);
  if (isa<BarrierOp, cta::BarrierOp>(op)) {
    if (checked) // to be run, one program is one thread here
      emit(barrierKernel(), 1, kNone);
    return true;
  }
  known = false;
  return true;
}

//===----------------------------------------------------------------------===//
// Debugging
//===----------------------------------------------------------------------===//

bool Lowering::lowerDebug(Operation *op, bool &known) {
  known = true;
  if (auto check = dyn_cast<AssertOp>(op)) {
    auto *info = makeAux<MessageInfo>();
    info->message = check.getMessage().str();
    Shape shape = *describe(check.getCondition().getType());
    if (auto block = dyn_cast<RankedTensorType>(check.getCondition().getType()))
      info->shape.assign(block.getShape().begin(), block.getShape().end());
    Instruction &i = emit(assertKernel(), shape.count, kNone, use(check.getCondition()));
    i.control = Control::RunChecked;
    i.aux = info;
    return true;
  }
  auto print = dyn_cast<PrintOp>(op);
  if (!print) {
    known = false;
    return true;
  }
  auto *info = makeAux<PrintInfo>();
  info->prefix = print.getPrefix().str();
  info->hex = print.getHex();
  for (auto [index, operand] : llvm::enumerate(print.getOperands_())) {
    auto shape = describe(operand.getType());
    if (!shape)
      return refuse(op, "values of this type are not supported");
    PrintInfo::Operand o;
    o.type = shape->type;
    o.isPointer = shape->isPointer;
    o.isSigned = index < print.getIsSigned().size() && print.getIsSigned()[index];
    if (auto block = dyn_cast<RankedTensorType>(operand.getType()))
      o.shape.assign(block.getShape().begin(), block.getShape().end());
    info->operands.push_back(o);
  }
  for (auto [o, operand] : llvm::zip(info->operands, print.getOperands_()))
    refer(o.src, use(operand));
  emit(printKernel(), 1, kNone).aux = info;
  return true;
}
