//===- Speech.cpp - what functions of elements say ------------------------===//
#include "passes/facts/Speech.h"
#include "ir/TileDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

using namespace mlir;
using namespace tile;

bool tile::speaks(Region &function) {
  return function
      .walk([](Operation *op) {
        return isa<AssertOp, PrintOp>(op) ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

void tile::speakOnlyIf(Region &function, Value condition) {
  SmallVector<Operation *> said;
  function.walk([&](Operation *op) {
    if (isa<AssertOp, PrintOp>(op))
      said.push_back(op);
  });
  for (Operation *op : said) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    auto where = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
    op->moveBefore(where.thenBlock()->getTerminator());
  }
}
