//===- StoreOnlyIf.cpp - stores of programs that may be past the end ------===//
#include "passes/schedule/StoreOnlyIf.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

void tile::storeOnlyIf(Value exists, ArrayRef<Operation *> stores) {
  for (Operation *store : stores) {
    OpBuilder b(store);
    auto branch = scf::IfOp::create(b, store->getLoc(), exists, /*withElseRegion=*/false);
    store->moveBefore(branch.thenYield());
  }
}
