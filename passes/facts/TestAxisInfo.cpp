//===- TestAxisInfo.cpp - shows the axis analysis to tests ----------------===//
#include "ir/TileDialect.h"
#include "passes/Passes.h"
#include "passes/facts/AxisInfo.h"

namespace tile {
#define GEN_PASS_DEF_TESTAXISINFOPASS
#include "passes/Passes.h.inc"
} // namespace tile

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
struct TestAxisInfoPass : tile::impl::TestAxisInfoPassBase<TestAxisInfoPass> {
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
