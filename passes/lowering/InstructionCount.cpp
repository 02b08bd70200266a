//===- InstructionCount.cpp - how long a kernel becomes -------------------===//
#include "passes/lowering/InstructionCount.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;

/// Of more instructions than these for each thread, a kernel takes many seconds to compile and
/// minutes to assemble, and its blocks have no room in registers by far.
static constexpr int64_t kMostInstructions = 1 << 18;
/// What LLVM's passes over loops take grows with the square of their number.
static constexpr unsigned kMostLoops = 256;

/// Of one register, roughly. Functions of the device library are long, those of doubles longer;
/// what only gives registers other coordinates or another type is no instruction.
static int64_t instructionsOf(Operation *op) {
  if (op->hasTrait<OpTrait::IsTerminator>() ||
      isa<BroadcastOp, ExpandDimsOp, ReshapeOp, TransOp, JoinOp, SplitOp, arith::BitcastOp>(op))
    return 0;
  bool isExtern = isa<ExternElementwiseOp>(op);
  if (!isExtern && !isa<math::MathDialect>(op->getDialect()))
    return 1;
  bool isWide = op->getNumResults() && getElementType(op->getResult(0).getType()).isF64();
  return (isExtern ? 64 : 16) * (isWide ? 4 : 1);
}

/// What a product adds, if `op` is one: each instruction along the inner dimension, of 32 bytes,
/// names the registers of the result. Those of warpgroups name all at once, which costs a compiler
/// more.
static int64_t instructionsOfProduct(Operation *op) {
  auto count = [&](Type element, int64_t depth, int64_t weight) {
    int64_t registers = cta::getLayout(op->getResult(0).getType()).inSize(Dim::reg());
    return registers * weight * std::max<int64_t>(1, depth * getElementBytes(element) / 32);
  };
  if (auto dot = dyn_cast<cta::WarpgroupDotOp>(op))
    return count(dot.getB().getType().getElementType(), dot.getDepth(), 6);
  if (auto dot = dyn_cast<DotOp>(op))
    return count(getElementType(dot.getA().getType()), dot.getA().getType().getShape().back(), 1);
  return 0;
}

LogicalResult InstructionCount::add(Operation *op) {
  if (isa<scf::ForOp, scf::WhileOp>(op) && ++loops > kMostLoops)
    return op->emitError() << formatted("this is one loop more than the {} that a kernel can have: "
                                        "put what repeats into a loop around them",
                                        kMostLoops);
  int64_t registers = 1;
  auto consider = [&](Value v) {
    auto type = dyn_cast<RankedTensorType>(v.getType());
    if (type && isa_and_present<cta::LayoutAttr>(type.getEncoding()))
      registers = std::max<int64_t>(registers, cta::getLayout(type).inSize(Dim::reg()));
  };
  if (isa<arith::ConstantOp, SplatOp>(op))
    return success(); // one value for all
  llvm::for_each(op->getOperands(), consider);
  llvm::for_each(op->getResults(), consider);
  instructions += registers * instructionsOf(op);
  if (instructions <= kMostInstructions)
    return success();
  return op->emitError() << formatted(
             "this operation has {} elements in each thread, and with it the kernel has more than "
             "{} instructions: use smaller blocks, in a loop, or more warps",
             registers, kMostInstructions);
}

LogicalResult InstructionCount::addProduct(Operation *op) {
  int64_t more = instructionsOfProduct(op);
  instructions += more;
  if (!more || instructions <= kMostInstructions)
    return success();
  return op->emitError() << formatted(
             "with this product the kernel has more than {} instructions: use a loop that runs at "
             "run time, or smaller blocks",
             kMostInstructions);
}
