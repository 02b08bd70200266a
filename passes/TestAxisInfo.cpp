//===- TestAxisInfo.cpp - shows the axis analysis to tests ----------------===//
#include "ir/TileDialect.h"
#include "passes/AxisInfo.h"
#include "passes/Passes.h"

using namespace mlir;

using namespace tile;

static void printList(Diagnostic &remark, StringRef name, const AxisInfo &info,
                      int64_t (AxisInfo::*fact)(unsigned) const) {
  remark << name << " = [";
  for (unsigned i = 0; i < info.axes.size(); ++i) {
    if (i)
      remark << ", ";
    int64_t value = (info.*fact)(i);
    if (value == int64_t(1) << AxisInfo::kZeroDivisibility)
      remark << "any";
    else
      remark << value;
  }
  remark << "]";
}

namespace {
struct TestAxisInfoPass : PassWrapper<TestAxisInfoPass, OperationPass<func::FuncOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestAxisInfoPass)
  StringRef getArgument() const override { return "tile-test-axis-info"; }
  StringRef getDescription() const override {
    return "remark what the axis analysis finds about each value (testing only)";
  }
  void runOnOperation() override {
    AxisInfoAnalysis analysis(getOperation());
    getOperation().walk([&](Operation *op) {
      for (Value result : op->getResults()) {
        Type element = tile::getElementType(result.getType());
        if (!element.isIntOrIndex() && !isa<PtrType>(element))
          continue;
        const AxisInfo &info = analysis.get(result);
        InFlightDiagnostic remark = op->emitRemark();
        Diagnostic &text = *remark.getUnderlyingDiagnostic();
        printList(text, "contiguity", info, &AxisInfo::contiguity);
        printList(text, ", divisibility", info, &AxisInfo::divisibility);
        printList(text, ", constancy", info, &AxisInfo::constancy);
      }
    });
  }
};
} // namespace

std::unique_ptr<Pass> tile::createTestAxisInfoPass() {
  return std::make_unique<TestAxisInfoPass>();
}
