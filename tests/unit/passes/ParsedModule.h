//===- ParsedModule.h - IR of a test, and its marked values ---------------===//
#ifndef TILE_TESTS_PASSES_PARSEDMODULE_H
#define TILE_TESTS_PASSES_PARSEDMODULE_H

#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

namespace tile::test {

class ParsedModule {
public:
  explicit ParsedModule(const std::string &text) {
    context.loadDialect<TileDialect, cta::CtaDialect, mlir::arith::ArithDialect,
                        mlir::func::FuncDialect, mlir::scf::SCFDialect>();
    context.allowUnregisteredDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
  }
  mlir::func::FuncOp function() { return *module->getOps<mlir::func::FuncOp>().begin(); }
  /// The operation with the attribute `here`.
  mlir::Operation *marked() {
    mlir::Operation *found = nullptr;
    module->walk([&](mlir::Operation *op) {
      if (op->hasAttr("here"))
        found = op;
    });
    EXPECT_TRUE(found) << "nothing is marked `here`";
    return found;
  }
  mlir::Value value() { return marked()->getResult(0); }
  std::string text() {
    std::string s;
    llvm::raw_string_ostream os(s);
    module->print(os);
    return s;
  }
  template <typename Op> unsigned count() {
    unsigned n = 0;
    module->walk([&](Op) { ++n; });
    return n;
  }

private:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tile::test

#endif // TILE_TESTS_PASSES_PARSEDMODULE_H
