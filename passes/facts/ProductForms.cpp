//===- ProductForms.cpp - which products warpgroups compute, and how ------===//
#include "passes/facts/ProductForms.h"
#include "ir/Kernel.h"

using namespace mlir;
using namespace tile;

/// Whether warpgroups multiply m x k by k x n in these types.
static bool isEligible(DotOp dot, int64_t m, int64_t n, int64_t warps) {
  RankedTensorType a = dot.getA().getType(), acc = dot.getType();
  Type in = a.getElementType(), out = acc.getElementType();
  int64_t k = a.getDimSize(1);
  int64_t warpgroups = warps / 4;
  if (warps % 4 || m < 64 || n < 8 || (m / 64) * (n / 8) < warpgroups)
    return false;
  if (k * getElementBytes(in) < 32)
    return false;
  bool isFp8 = isa<Float8E4M3FNType, Float8E5M2Type>(in);
  if (in.isF32())
    return dot.getInputPrecision() == InputPrecision::tf32;
  return in.isF16() || in.isBF16() || (isFp8 && (out.isF32() || out.isF16())) || in.isInteger(8);
}

WarpgroupForm tile::warpgroupForm(DotOp dot) {
  auto module = dot->getParentOfType<ModuleOp>();
  RankedTensorType type = dot.getType();
  if (!targetOf(module).has(Feature::Wgmma) || module->hasAttr(kNoWarpgroupDotsAttr) ||
      type.getRank() != 2)
    return WarpgroupForm::None;
  int64_t m = type.getDimSize(0), n = type.getDimSize(1), warps = cta::warpsOfGroup(module);
  if (m >= 64)
    return isEligible(dot, m, n, warps) ? WarpgroupForm::Direct : WarpgroupForm::None;
  return isEligible(dot, n, m, warps) ? WarpgroupForm::Transposed : WarpgroupForm::None;
}
