//===- ProductForms.cpp - which products warpgroups compute, and how ------===//
#include "passes/facts/ProductForms.h"
#include "ir/Kernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

/// Of rows of the left operand: what one instruction multiplies.
static constexpr int64_t kLeastDepthBytes = 32;

Arithmetic tile::arithmeticOf(Type operand) {
  if (operand.isF64())
    return Arithmetic::Fp64Dot;
  if (isa<IntegerType>(operand))
    return Arithmetic::Int8;
  if (operand.isF32())
    return Arithmetic::Tf32;
  return operand.getIntOrFloatBitWidth() == 8 ? Arithmetic::Fp8 : Arithmetic::Fp16;
}

/// Why warpgroups do not multiply m x k by k x n in these types; nothing if they do.
static std::optional<Reason> obstacle(DotOp dot, int64_t m, int64_t n, int64_t warps) {
  RankedTensorType a = dot.getA().getType(), acc = dot.getType();
  Type in = a.getElementType(), out = acc.getElementType();
  int64_t k = a.getDimSize(1);
  int64_t warpgroups = warps / 4;
  if (warps % 4)
    return Reason::ProductNeedsWarpgroups;
  if (m < 64 || n < 8 || (m / 64) * (n / 8) < warpgroups)
    return Reason::ProductSmall;
  if (k * getElementBytes(in) < kLeastDepthBytes)
    return Reason::ProductShort;
  bool isFp8 = isa<Float8E4M3FNType, Float8E5M2Type>(in);
  if (in.isF32())
    return dot.getInputPrecision() == InputPrecision::tf32 ? std::nullopt
                                                           : std::optional(Reason::ProductExact);
  if (in.isF16() || in.isBF16() || (isFp8 && (out.isF32() || out.isF16())) || in.isInteger(8))
    return std::nullopt;
  return Reason::ProductTypes;
}

static bool hasWarpgroups(DotOp dot) {
  return targetOf(dot).has(Feature::Wgmma) &&
         !dot->getParentOfType<ModuleOp>()->hasAttr(kNoWarpgroupDotsAttr);
}

/// Products of few rows are computed transposed.
static bool hasFewRows(DotOp dot) { return dot.getType().getDimSize(0) < 64; }

std::optional<Reason> tile::obstacleToWarpgroups(DotOp dot) {
  RankedTensorType type = dot.getType();
  if (!hasWarpgroups(dot))
    return std::nullopt;
  if (type.getRank() != 2)
    return Reason::ProductOfSeveral;
  int64_t m = type.getDimSize(0), n = type.getDimSize(1);
  if (!hasFewRows(dot))
    return obstacle(dot, m, n, cta::warpsOfGroup(dot));
  std::optional<Reason> why = obstacle(dot, n, m, cta::warpsOfGroup(dot));
  // What a warp multiplies of few rows by a single step is done before both operands are in shared
  // memory, where another proxy sees them.
  RankedTensorType a = dot.getA().getType();
  if (!why && a.getDimSize(1) * getElementBytes(a.getElementType()) < 2 * kLeastDepthBytes)
    return Reason::ProductShort;
  return why;
}

bool tile::mixesProductsWithDoubles(Operation *op) {
  bool hasWarpgroups = false, hasDoubles = false;
  if (auto module = op->getParentOfType<ModuleOp>())
    module.walk([&](Operation *product) {
      hasWarpgroups |= isa<cta::WarpgroupDotOp>(product);
      if (auto dot = dyn_cast<DotOp>(product))
        hasDoubles |= dot.getType().getElementType().isF64();
    });
  return hasWarpgroups && hasDoubles;
}

WarpgroupForm tile::warpgroupForm(DotOp dot) {
  if (!hasWarpgroups(dot) || obstacleToWarpgroups(dot))
    return WarpgroupForm::None;
  return hasFewRows(dot) ? WarpgroupForm::Transposed : WarpgroupForm::Direct;
}

Operation *tile::sumThatJoins(DotOp dot) {
  bool startsAnew =
      matchPattern(dot.getAcc(), m_AnyZeroFloat()) || matchPattern(dot.getAcc(), m_Zero());
  Type type = dot.getA().getType().getElementType();
  bool addsWithFewBits = isa<FloatType>(type) && type.getIntOrFloatBitWidth() == 8 &&
                         warpgroupForm(dot) != WarpgroupForm::None;
  if (!startsAnew || !dot->hasOneUse() || addsWithFewBits)
    return nullptr;
  Operation *sum = *dot->user_begin();
  return isa<arith::AddFOp, arith::AddIOp>(sum) && sum->getBlock() == dot->getBlock() ? sum
                                                                                      : nullptr;
}
