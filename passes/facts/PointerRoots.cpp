//===- PointerRoots.cpp - what decides whether a load can become a copy ---===//
#include "passes/facts/PointerRoots.h"
#include "ir/CtaDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace tile;

bool tile::passesPointerOn(Operation *op) {
  return isa<AddPtrOp, SplatOp, BroadcastOp, ExpandDimsOp, TransOp, ReshapeOp, HintOp, PtrCastOp,
             cta::ConvertLayoutOp>(op);
}

void tile::collectRoots(Value pointer, DenseSet<Value> &roots) {
  SmallVector<Value> work{pointer};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value v = work.pop_back_val();
    if (!seen.insert(v).second)
      continue;
    auto appendAllOf = [&](scf::WhileOp loop) { // whatever it carries
      llvm::append_range(work, loop.getInits());
      llvm::append_range(work, loop.getConditionOp().getArgs());
      llvm::append_range(work, loop.getYieldOp().getOperands());
    };
    if (auto arg = dyn_cast<BlockArgument>(v)) {
      Operation *parent = arg.getOwner()->getParentOp();
      auto loop = dyn_cast<scf::ForOp>(parent);
      if (loop && arg != loop.getInductionVar())
        work.append({loop.getTiedLoopInit(arg)->get(), loop.getTiedLoopYieldedValue(arg)->get()});
      else if (auto other = dyn_cast<scf::WhileOp>(parent))
        appendAllOf(other);
      else
        roots.insert(v);
      continue;
    }
    Operation *op = v.getDefiningOp();
    unsigned index = cast<OpResult>(v).getResultNumber();
    if (passesPointerOn(op))
      work.push_back(op->getOperand(0));
    else if (auto select = dyn_cast<arith::SelectOp>(op))
      work.append({select.getTrueValue(), select.getFalseValue()});
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      work.append({loop.getInitArgs()[index], loop.getYieldedValues()[index]});
    else if (auto branch = dyn_cast<scf::IfOp>(op))
      work.append({branch.thenYield().getOperand(index), branch.elseYield().getOperand(index)});
    else if (auto other = dyn_cast<scf::WhileOp>(op))
      appendAllOf(other);
    else
      roots.insert(v);
  }
}

bool tile::collectChanged(Operation *op, DenseSet<Value> &roots) {
  if (!isa<AtomicRmwOp, AtomicCasOp>(op))
    return collectWritten(op, roots);
  collectRoots(op->getOperand(0), roots);
  return true;
}

bool tile::comesFrom(Value pointer, const DenseSet<Value> &roots) {
  DenseSet<Value> own;
  collectRoots(pointer, own);
  return llvm::any_of(own, [&](Value root) { return roots.contains(root); });
}

bool tile::readsZerosOutside(LoadOp load) {
  Value other = load.getOther();
  if (!other)
    return true;
  APFloat f(0.0);
  if (matchPattern(other, m_ConstantFloat(&f)))
    return f.isPosZero();
  return matchPattern(other, m_Zero());
}

bool tile::collectWritten(Operation *op, DenseSet<Value> &roots) {
  if (auto store = dyn_cast<StoreOp>(op)) {
    collectRoots(store.getPtr(), roots);
    return true;
  }
  if (isa<DescriptorStoreOp, DescriptorScatterOp>(op)) {
    collectRoots(op->getOperand(0), roots);
    return true;
  }
  auto store = dyn_cast<cta::TmaStoreOp>(op);
  if (!store)
    return false;
  auto kernel = op->getParentOfType<func::FuncOp>();
  auto map = kernel.getArgAttrOfType<cta::MapAttr>(
      cast<BlockArgument>(store.getMap()).getArgNumber(), cta::kTensorMapAttr);
  roots.insert(kernel.getArgument(unsigned(map.getBase())));
  return true;
}
