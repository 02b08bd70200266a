//===- ExplainReader.cpp - the walk over a laid-out kernel ----------------===//
#include "compiler/ExplainReader.h"
#include "ir/Kernel.h"
#include "ir/Spelling.h"
#include "ir/layout/Conversion.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "passes/facts/ProductForms.h"
#include "passes/facts/Registers.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using namespace tile::explaining;
using layout::Dim;
using layout::LinearLayout;

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

std::string explaining::typeName(Type type) {
  type = getElementType(type);
  if (auto ptr = dyn_cast<PtrType>(type))
    type = ptr.getPointee();
  return spelled(type);
}

std::string explaining::shapeName(ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t size : shape)
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

std::string explaining::blockName(Type type) {
  auto block = dyn_cast<RankedTensorType>(type);
  return (block ? formatted("{} ", shapeName(block.getShape())) : std::string()) + typeName(type);
}

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

Reader::Reader(func::FuncOp kernel, const ExplainOptions &options, ArrayRef<Remark> remarks,
               Explanation &out)
    : kernel(kernel), out(out), remarks(remarks), values(options.values, options.grid),
      axes(kernel), warps(int(cta::warpsOfGroup(kernel))), wantedStages(options.compile.numStages),
      target(targetOf(kernel)) {}

/// Those are told where the product or the access is.
static bool isOfOperation(Reason reason) {
  return isOfAccess(reason) || refusalOf(reason).pass == "tile-warpgroup-dots";
}

/// Registers of a thread during some product, or for what one body loads: the assembler has loads
/// first, where it can.
static int registersOfBlocks(func::FuncOp kernel) {
  int64_t most = registersDuringProducts(kernel);
  std::map<Block *, int64_t> loaded;
  kernel.walk([&](Operation *op) {
    if (auto load = dyn_cast<LoadOp>(op))
      most = std::max(most, loaded[op->getBlock()] += packedRegistersOf(load.getType()));
    if (auto dot = dyn_cast<DotOp>(op))
      most = std::max(most, registersOf(dot.getType()) + packedRegistersOf(dot.getA().getType()) +
                                packedRegistersOf(dot.getB().getType()));
  });
  return int(std::min<int64_t>(most, INT32_MAX));
}

void Reader::run() {
  out.groups = int(cta::groupsOf(kernel));
  out.consumerWarps = warps * out.groups;
  for (const Remark &remark : remarks)
    if (!isOfOperation(remark.reason)) {
      const Refusal &refusal = refusalOf(remark.reason);
      std::pair<std::string, std::string> said(refusal.wish, refusal.why);
      if (!llvm::is_contained(out.refused, said))
        out.refused.push_back(std::move(said));
    }
  if (auto axes = kernel->getParentOp()->getAttrOfType<DenseI32ArrayAttr>(cta::kFromEndAttr))
    out.fromEnd.assign(axes.asArrayRef().begin(), axes.asArrayRef().end());
  for (BlockArgument arg : kernel.getArguments()) {
    auto multiple = kernel.getArgAttrOfType<IntegerAttr>(arg.getArgNumber(), kWantedMultipleAttr);
    auto name = dyn_cast<NameLoc>(arg.getLoc());
    if (multiple && name)
      out.wantedMultiples.push_back({name.getName().str(), int(multiple.getInt())});
  }
  out.blockRegisters = registersOfBlocks(kernel);
  walk(kernel.getBody().front());
  compareLoads();
}

void Reader::walk(Block &block) {
  for (Operation &op : block)
    visit(&op);
}
void Reader::visit(Operation *op) {
  if (op->hasAttr(cta::kPrologueAttr)) // what the loop behind it does as well
    return;
  if (isa<scf::ForOp, scf::WhileOp>(op))
    return visitLoop(op);
  if (auto roles = dyn_cast<cta::RolesOp>(op)) {
    out.producerWarps = int(cta::producerThreads(cta::threadsOf(roles)) / 32);
    walk(roles.getConsumers().front());
    inProducer = true;
    walk(roles.getProducer().front());
    inProducer = false;
    return;
  }
  if (auto copy = dyn_cast<cta::RingCopyOp>(op))
    return visitCopy(copy);
  if (auto copy = dyn_cast<cta::RingBulkCopyOp>(op))
    return visitBulkCopy(copy);
  if (auto copy = dyn_cast<cta::RingElementCopyOp>(op))
    return visitElementCopy(copy);
  if (auto ring = dyn_cast<cta::RingOp>(op))
    return visitRing(ring);
  if (auto slots = dyn_cast<cta::SlotsOp>(op))
    return visitSlots(slots);
  if (isa<scf::SCFDialect>(op->getDialect()) || isa<cta::SingleOp>(op)) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        walk(block);
    return;
  }
  if (inProducer) // repeats what the consumers do as well
    return;
  if (isa<LoadOp, StoreOp, AtomicRmwOp, AtomicCasOp>(op))
    return visitRegisterAccess(op);
  if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
    return visitAsyncCopy(copy);
  if (auto read = dyn_cast<cta::ReadOp>(op))
    return visitRead(read);
  if (auto store = dyn_cast<cta::TmaStoreOp>(op))
    return visitTmaStore(store);
  if (auto convert = dyn_cast<cta::ConvertLayoutOp>(op))
    return visitConvert(convert);
  if (auto stage = dyn_cast<cta::StageOp>(op))
    return addStaging(op, stage.getSrc().getType(), stage.getType().getLinearLayout(),
                      "operand of a product");
  if (auto fill = dyn_cast<cta::FillOp>(op))
    return addStaging(op, fill.getSrc().getType(), fill.getBuffer().getType().getLinearLayout(),
                      "operand of a product");
  if (isa<ReduceOp, ScanOp>(op))
    return visitCombine(op);
  if (auto dot = dyn_cast<DotOp>(op))
    return visitDot(dot);
  if (auto dot = dyn_cast<cta::WarpgroupDotOp>(op))
    return visitWarpgroupDot(dot);
  visitArithmetic(op);
}

/// The producer runs through the same loops as the consumers.
void Reader::visitLoop(Operation *op) {
  Explanation::Loop place = at<Explanation::Loop>(op);
  int around = loop;
  auto known = llvm::find_if(out.loops, [&](const Explanation::Loop &l) {
    return l.line == place.line && l.column == place.column && l.loop == around && inProducer;
  });
  if (known == out.loops.end()) {
    if (auto forOp = dyn_cast<scf::ForOp>(op))
      place.trips = values.trips(forOp);
    out.loops.push_back(place);
    known = std::prev(out.loops.end());
  }
  loop = int(known - out.loops.begin());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      walk(block);
  loop = around;
}

//===----------------------------------------------------------------------===//
// Exchanges
//===----------------------------------------------------------------------===//

void Reader::addSide(Explanation::Exchange &e, const LinearLayout &access,
                     const LinearLayout &shared, unsigned bytes, unsigned vectorLog2,
                     unsigned parts, const std::optional<layout::MatrixAccess> &matrices) {
  if (matrices) { // each matrix is one wavefront, by the choice of arrangement
    double count = double(matrices->firstRegisters.size()) * matrices->numMatrices();
    e.wavefronts += count * warps * parts;
    e.idealWavefronts += count * warps * parts;
    return;
  }
  e.wavefronts +=
      double(layout::countWavefronts(access, shared, bytes, vectorLog2)) * warps * parts;
  e.idealWavefronts += double(layout::idealWavefronts(access, bytes, vectorLog2)) * warps * parts;
}

void Reader::addStaging(Operation *op, Type block, const LinearLayout &image, const char *what) {
  auto e = at<Explanation::Exchange>(op);
  auto type = cast<RankedTensorType>(block);
  unsigned bytes = std::max(getElementBytes(type.getElementType()), 1u);
  const LinearLayout &from = cta::getLayout(type);
  e.what = what;
  e.block = blockName(type);
  e.path = "shared memory";
  e.bytes = double(type.getNumElements()) * bytes;
  layout::SharedWrite plan =
      layout::planWrite(from, image, bytes, target.has(Feature::Stmatrix) && from.isInjective());
  e.wavefronts += double(plan.wavefronts) * warps;
  e.idealWavefronts +=
      double(plan.matrices ? plan.instructions * plan.matrices->numMatrices()
                           : layout::idealWavefronts(from, bytes, plan.vectorLog2)) *
      warps;
  work().wavefronts += e.wavefronts;
  out.exchanges.push_back(std::move(e));
}

void Reader::visitRead(cta::ReadOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type) // a number, the same for all
    return;
  auto e = at<Explanation::Exchange>(op);
  unsigned bytes = getElementBytes(type.getElementType());
  const LinearLayout &to = cta::getLayout(type),
                     &image = op.getBuffer().getType().getLinearLayout();
  e.what = "read of a copy";
  e.block = blockName(type);
  e.path = "shared memory";
  e.bytes = double(type.getNumElements()) * bytes;
  LinearLayout offsets = layout::offsetsOf(to, image);
  std::optional<layout::MatrixAccess> matrices = layout::matrixAccess(offsets, bytes, false);
  if (!matrices)
    matrices = layout::matrixAccess(offsets, bytes, true);
  unsigned vector = layout::widestVector(offsets, Dim::offset(), llvm::Log2_32(16 / bytes)).log2();
  addSide(e, to, image, bytes, vector, 1, matrices);
  work().wavefronts += e.wavefronts;
  out.exchanges.push_back(std::move(e));
}

void Reader::visitConvert(cta::ConvertLayoutOp op) {
  auto e = at<Explanation::Exchange>(op);
  auto type = cast<RankedTensorType>(op.getType());
  unsigned bytes = std::max(getElementBytes(type.getElementType()), 1u);
  e.what = "change of layout";
  e.block = blockName(type);
  e.bytes = double(type.getNumElements()) * bytes;
  const LinearLayout &from = cta::getLayout(op.getSrc().getType());
  const LinearLayout &to = cta::getLayout(type);
  int64_t scratch = lowering::convertScratchBytes(op);
  if (scratch == 0) {
    auto kind = layout::planConversion(from, to).kind;
    if (kind == layout::ConversionKind::NoOp)
      return;
    e.path = kind == layout::ConversionKind::RegistersOnly ? "registers" : "shuffles";
  } else {
    e.path = "shared memory";
    Tuning tuning = tuningOf(op);
    tuning.exchangeMostBytes = scratch; // as the kernel's form asks for
    lowering::ExchangeParts parts = lowering::cutExchange(from, to, bytes, tuning);
    bool hasCopies = !parts.from.isInjective();
    layout::Exchange plan = layout::planExchange(parts.from, parts.to, bytes,
                                                 {target.has(Feature::Ldmatrix),
                                                  target.has(Feature::Stmatrix) && !hasCopies,
                                                  isMultiplied(op.getResult())});
    unsigned count = 1u << parts.fromBits.size();
    if (count > 1)
      e.block = formatted("{} in {} parts", e.block, count);
    const LinearLayout &shared = plan.shared.layout;
    addSide(e, parts.from, shared, bytes, plan.shared.writeVectorLog2, count, plan.write);
    addSide(e, parts.to, shared, bytes, plan.shared.readVectorLog2, count, plan.read);
    work().wavefronts += e.wavefronts;
  }
  if (e.path != "registers") // those are free
    out.exchanges.push_back(std::move(e));
}

void Reader::visitCombine(Operation *op) {
  auto e = at<Explanation::Exchange>(op);
  Type type = op->getOperand(0).getType();
  e.what = isa<ReduceOp>(op) ? "reduction" : "scan";
  e.block = blockName(type);
  int64_t scratch = lowering::scratchBytes(op);
  e.path = scratch ? "shared memory" : "shuffles";
  e.bytes = double(scratch);
  if (auto block = dyn_cast<RankedTensorType>(type))
    work().operations[unsigned(Arithmetic::Fp32)] += double(block.getNumElements());
  out.exchanges.push_back(std::move(e));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

void Reader::visitDot(DotOp op) {
  auto dot = at<Explanation::Dot>(op);
  RankedTensorType a = op.getA().getType(), acc = op.getType();
  int64_t k = a.getShape().back();
  dot.shape =
      shapeName({acc.getShape().drop_front(acc.getRank() - 2)[0], acc.getShape().back(), k});
  dot.operations = 2.0 * double(acc.getNumElements()) * double(k);
  dot.left = dot.right = "registers";
  dot.reason = reasonFor(op);
  auto instruction = chooseInstruction(op, target);
  std::string types =
      formatted("{}.{}.{}", typeName(acc), typeName(a), typeName(op.getB().getType()));
  Arithmetic kind = arithmeticOf(a.getElementType());
  if (dotMethod(op) == DotMethod::Matrix) {
    dot.instruction =
        formatted("mma.m{}n{}k{}.{}", instruction->m, instruction->n, instruction->k, types);
  } else {
    bool isExact = a.getElementType().isF32() && op.getInputPrecision() == InputPrecision::ieee;
    dot.instruction = "fma." + types;
    kind = a.getElementType().isF64() ? Arithmetic::Fp64 : Arithmetic::Fp32;
    if (dot.reason.empty())
      dot.reason = instruction ? "its layout is not that of the matrix instruction"
                   : isExact   ? refusalOf(Reason::ProductExact).why.str()
                               : "this target has no matrix instruction for these types";
  }
  work().operations[unsigned(kind)] += dot.operations;
  out.dots.push_back(std::move(dot));
}

void Reader::visitWarpgroupDot(cta::WarpgroupDotOp op) {
  auto dot = at<Explanation::Dot>(op);
  auto acc = cast<RankedTensorType>(op.getType());
  cta::BufferType b = op.getB().getType();
  auto aBuffer = dyn_cast<cta::BufferType>(op.getA().getType());
  Type aType = aBuffer ? aBuffer.getElementType() : getElementType(op.getA().getType());
  int64_t m = acc.getDimSize(0), n = acc.getDimSize(1), k = op.getDepth();
  unsigned along = layout::warpgroupsAlongM(m, warps);
  int64_t own = n / std::max<int64_t>(std::min<int64_t>(warps / 4 / along, n / 8), 1);
  dot.shape = shapeName({m, n, k});
  dot.instruction = formatted("wgmma.m64n{}k{}.{}.{}.{}", std::min<int64_t>(own, 256),
                              32 / getElementBytes(aType), typeName(acc), typeName(aType),
                              typeName(b.getElementType()));
  dot.left = aBuffer ? "shared memory" : "registers";
  dot.right = "shared memory";
  dot.operations = 2.0 * double(m) * double(n) * double(k);
  work().operations[unsigned(arithmeticOf(aType))] += dot.operations;
  out.dots.push_back(std::move(dot));
}

/// Floating-point work outside products, an operation for each element.
void Reader::visitArithmetic(Operation *op) {
  if (op->getNumResults() != 1 || !isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) ||
      isa<arith::ConstantOp, arith::SelectOp>(op))
    return;
  Type element = getElementType(op->getResult(0).getType());
  auto block = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!block || !isa<FloatType>(element))
    return;
  Arithmetic kind = element.isF64() ? Arithmetic::Fp64 : Arithmetic::Fp32;
  work().operations[unsigned(kind)] += double(block.getNumElements());
}
