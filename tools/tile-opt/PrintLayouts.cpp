//===- PrintLayouts.cpp - the layouts of a module, drawn -------------------===//
//
// A layout is a few basis vectors: short, and hard to see. Here each is a table: who holds
// what, and how many operations make a block that lies so. Changes nothing.
//
//===----------------------------------------------------------------------===//
#include "tools/tile-opt/PrintLayouts.h"
#include "ir/CtaDialect.h"
#include "ir/layout/Draw.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tile;

namespace {
struct PrintLayouts : PassWrapper<PrintLayouts, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PrintLayouts)

  PrintLayouts() = default;
  PrintLayouts(const PrintLayouts &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "print-layouts"; }
  StringRef getDescription() const override {
    return "draw each layout of the module as a table of lanes and registers";
  }

  Option<int> columns{*this, "columns", llvm::cl::desc("registers that are drawn"),
                      llvm::cl::init(16)};
  Option<int> rows{*this, "rows", llvm::cl::desc("lanes that are drawn"), llvm::cl::init(32)};
  Option<int> tables{*this, "tables", llvm::cl::desc("warps that are drawn"), llvm::cl::init(1)};

  void runOnOperation() override {
    markAllAnalysesPreserved();
    // In the order in which they are met; operations by name, with how many there are.
    llvm::MapVector<cta::LayoutAttr, llvm::MapVector<StringRef, unsigned>> found;
    getOperation().walk([&](Operation *op) {
      AttrTypeWalker walker;
      llvm::SmallSetVector<cta::LayoutAttr, 4> here;
      walker.addWalk([&](cta::LayoutAttr layout) { here.insert(layout); });
      for (Type type : op->getResultTypes())
        walker.walk(type);
      walker.walk(op->getAttrDictionary());
      for (cta::LayoutAttr layout : here)
        ++found[layout][op->getName().getStringRef()];
    });
    layout::DrawLimits limits{std::max<int>(columns, 1), std::max<int>(rows, 1),
                              std::max<int>(tables, 1)};
    for (auto &[layout, users] : found) {
      llvm::outs() << layout << "\n";
      llvm::ListSeparator comma;
      llvm::outs() << "of ";
      for (auto &[name, count] : users) {
        llvm::outs() << comma << name;
        if (count > 1)
          llvm::outs() << " (" << count << ")";
      }
      llvm::outs() << "\n" << layout::draw(layout.getLayout(), limits) << "\n";
    }
  }
};
} // namespace

void tile::registerPrintLayouts() { PassRegistration<PrintLayouts>(); }
