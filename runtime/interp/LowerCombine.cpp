//===- LowerCombine.cpp - reductions, scans and their combiners -----------===//
//
// A combiner becomes instructions of its own, which the reduction runs on as
// many pairs at once as it has: the combiner's scalars are registers of that
// many lanes. One with control flow runs a pair at a time. A combiner that is
// a single operation we have a loop for needs no instructions at all.
//
//===----------------------------------------------------------------------===//
#include "ir/Combiners.h"
#include "runtime/interp/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::interp;

/// A specialised loop, where the combiner is one operation on its two
/// arguments.
Kernel Lowering::fastCombine(Operation *op) {
  Operation *combiner = soleCombiner(op->getRegion(0).front());
  if (!combiner)
    return nullptr;
  DType type = describe(op->getOperand(0).getType())->type;
  bool isScan = isa<ScanOp>(op);
  static const llvm::StringMap<IntOp> ints = {
      {"arith.addi", IntOp::Add},   {"arith.muli", IntOp::Mul},   {"arith.andi", IntOp::And},
      {"arith.ori", IntOp::Or},     {"arith.xori", IntOp::Xor},   {"arith.maxsi", IntOp::MaxS},
      {"arith.maxui", IntOp::MaxU}, {"arith.minsi", IntOp::MinS}, {"arith.minui", IntOp::MinU}};
  static const llvm::StringMap<FloatOp> floats = {
      {"arith.addf", FloatOp::Add},         {"arith.mulf", FloatOp::Mul},
      {"arith.maximumf", FloatOp::Maximum}, {"arith.minimumf", FloatOp::Minimum},
      {"arith.maxnumf", FloatOp::MaxNum},   {"arith.minnumf", FloatOp::MinNum}};
  StringRef name = combiner->getName().getStringRef();
  if (Kernel kernel = ringCombine(name, isScan, type))
    return kernel;
  if (auto it = ints.find(name); it != ints.end())
    return isScan ? fastScanKernel(it->second, type) : fastReduceKernel(it->second, type);
  if (auto it = floats.find(name); it != floats.end())
    return isScan ? fastScanKernel(it->second, type) : fastReduceKernel(it->second, type);
  return nullptr;
}

/// Whether each of the combiner's operations works on all lanes alike.
static bool isWide(Block &block) {
  return llvm::all_of(block.without_terminator(), [](Operation &op) {
    return op.getNumRegions() == 0 && isPure(&op) && op.getNumOperands() <= 3 &&
           op.getNumSuccessors() == 0;
  });
}

/// The registers of one operand while it is combined.
struct Lowering::CombineBuffers {
  RegId src, dst, left, right, work, argLeft, argRight, yielded = kNone;
};

/// The instructions of `op`'s combiner, which `inner` runs on the arguments in `buffers`.
bool Lowering::lowerCombiner(Operation *op, Combiner &inner,
                             MutableArrayRef<CombineBuffers> buffers) {
  Block &block = op->getRegion(0).front();
  size_t count = buffers.size();
  for (size_t k = 0; k < count; ++k) { // combine_c3
    values[block.getArgument(k)] = buffers[k].argLeft;
    values[block.getArgument(count + k)] = buffers[k].argRight;
  }
  std::vector<Instruction> *outer = code;
  combiner = &inner;
  code = &inner.info->code;
  std::optional<Counted> counted(std::in_place, *this);
  bool ok = lowerBlock(block);
  current = op;
  if (ok) {
    for (size_t k = 0; k < count; ++k) // combine_c4
      buffers[k].yielded = use(block.getTerminator()->getOperand(k));
    emit(nullptr, 1, kNone).control = Control::Return;
  }
  counted.reset();
  combiner = nullptr;
  code = outer;
  return ok;
}

bool Lowering::lowerCombine(Operation *op) {
  if (combiner)
    return refuse(op, "a reduction inside of a combiner is not supported");
  auto type = dyn_cast<RankedTensorType>(op->getOperand(0).getType());
  unsigned axis = unsigned(op->getAttrOfType<IntegerAttr>("axis").getInt());
  auto *info = makeAux<CombineInfo>();
  for (auto [dim, size] : llvm::enumerate(type.getShape()))
    (dim < axis ? info->outer : dim == axis ? info->length : info->inner) *= uint32_t(size);
  bool isScan = isa<ScanOp>(op);
  if (auto scan = dyn_cast<ScanOp>(op))
    info->reverse = scan.getReverse();
  Region &region = op->getRegion(0);
  Kernel fast = fastCombine(op);
  info->wide = fast || isWide(region.front());
  uint32_t lanes = isScan ? info->outer * info->inner
                          : info->outer * std::max(info->length / 2, 1u) * info->inner;
  uint64_t kept = uint64_t(info->outer) * ((info->length + 1) / 2) * info->inner;

  SmallVector<CombineBuffers> buffers;
  for (auto [operand, result] : llvm::zip(op->getOperands(), op->getResults())) { // combine_c1
    unsigned bytes = describe(operand.getType())->bytes();
    CombineBuffers b;
    b.src = use(operand);
    b.dst = define(result);
    b.left = makeRegister(bytes * std::max<uint64_t>(lanes, kept));
    b.right = makeRegister(uint64_t(bytes) * lanes);
    b.work = makeRegister(bytes * kept);
    b.argLeft = info->wide ? b.left : makeRegister(bytes);
    b.argRight = info->wide ? b.right : makeRegister(bytes);
    info->operands.push_back({});
    info->operands.back().bytes = bytes;
    buffers.push_back(b);
  }
  Combiner inner;
  inner.info = info;
  inner.region = &region;
  inner.lanes = lanes;
  if (!fast && !lowerCombiner(op, inner, buffers))
    return false;
  for (auto [o, b] : llvm::zip(info->operands, buffers)) {
    refer(o.src, b.src);
    refer(o.dst, b.dst);
    refer(o.left, b.left);
    refer(o.right, b.right);
    refer(o.work, b.work);
    refer(o.argLeft, b.argLeft);
    refer(o.argRight, b.argRight);
    refer(o.yielded, b.yielded == kNone ? b.left : b.yielded);
  }
  info->captures.resize(inner.captures.size());
  for (auto [field, capture] : llvm::zip(info->captures, inner.captures)) {
    field.bytes = capture.bytes;
    refer(field.src, capture.src);
    refer(field.dst, capture.dst);
  }
  addWork(uint64_t(info->outer) * info->length * info->inner);
  Instruction &i = emit(fast ? fast : isScan ? scanKernel() : reduceKernel(), lanes, kNone);
  i.control = fast ? Control::Run : Control::RunChecked;
  i.aux = info;
  return true;
}

bool Lowering::lowerDot(Operation *op) {
  auto dot = cast<DotOp>(op);
  auto *info = makeAux<DotInfo>();
  ArrayRef<int64_t> a = dot.getA().getType().getShape(), d = dot.getType().getShape();
  // Of four sizes only: what the operands share is equal (dot_c1, dot_c2, dot_c3).
  info->batch = d.size() == 3 ? uint32_t(d[0]) : 1;
  info->m = uint32_t(d[d.size() - 2]);
  info->n = uint32_t(d.back());
  info->k = uint32_t(a.back());
  info->precision = DotPrecision(dot.getInputPrecision());
  addWork(uint64_t(info->batch) * info->m * info->n * info->k);
  if (algebraic && isa<FloatType>(getElementType(dot.getType())))
    return lowerRingDot(dot, info);
  Kernel kernel = dotKernel(describe(dot.getA().getType())->type,
                            describe(dot.getB().getType())->type, describe(dot.getType())->type);
  if (!kernel) // beyond dot_c4
    return refuse(op, "products of these types are not supported");
  emit(kernel, uint32_t(dot.getType().getNumElements()), define(dot.getResult()), use(dot.getA()),
       use(dot.getB()), use(dot.getAcc()))
      .aux = info;
  return true;
}
