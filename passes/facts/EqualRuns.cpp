//===- EqualRuns.cpp - elements of a block that are known to be equal -----===//
#include "passes/facts/EqualRuns.h"
#include "ir/Attributes.h"
#include "ir/CtaDialect.h"
#include "ir/layout/GF2.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/facts/Registers.h"

using namespace mlir;
using namespace tile;
using layout::Dim;

SmallVector<int64_t, 4> tile::equalRunsOf(LoadOp load, AxisInfoAnalysis &axes) {
  SmallVector<int64_t, 4> runs;
  auto block = dyn_cast<RankedTensorType>(load.getType());
  if (!block || load.getIsVolatile())
    return runs;
  for (unsigned axis = 0; axis < block.getRank(); ++axis) {
    int64_t run = block.getDimSize(axis);
    for (Value operand : load->getOperands())
      run = std::min(run, axes.get(operand).constancy(axis));
    runs.push_back(run);
  }
  return runs;
}

unsigned tile::distinctRegisters(const layout::LinearLayout &l, ArrayRef<int64_t> runs) {
  uint64_t apart = ~0ull; // the bits of positions that tell runs apart
  for (auto [axis, run] : llvm::enumerate(runs))
    apart &= ~(uint64_t(run - 1) << l.outShift(Dim::dim(unsigned(axis))));
  layout::XorSpan positions;
  unsigned distinct = 1;
  for (uint64_t row : l.rows(Dim::reg()))
    if (positions.insert(row & apart))
      distinct *= 2;
  return distinct;
}

static DenseI64ArrayAttr notedOn(LoadOp load) {
  return load->getAttrOfType<DenseI64ArrayAttr>(cta::kEqualRunsAttr);
}

/// Of a load's result, or of addresses that are only loaded from and moved on.
static DenseI64ArrayAttr runsOf(Value value) {
  if (auto load = value.getDefiningOp<LoadOp>())
    return notedOn(load);
  if (!isa<BlockArgument>(value))
    return {};
  DenseI64ArrayAttr runs;
  for (Operation *user : value.getUsers()) {
    auto load = dyn_cast<LoadOp>(user);
    if (!load && !isa<AddPtrOp, scf::YieldOp>(user))
      return {};
    if (load && (!notedOn(load) || (runs && runs != notedOn(load))))
      return {};
    runs = load ? notedOn(load) : runs;
  }
  return runs;
}

int64_t tile::distinctRegistersOf(Value value) {
  int64_t registers = registersOf(value.getType());
  DenseI64ArrayAttr runs = cta::hasLayout(value.getType()) ? runsOf(value) : DenseI64ArrayAttr();
  if (!runs)
    return registers;
  const layout::LinearLayout &l = cta::getLayout(value.getType());
  return registers / l.inSize(Dim::reg()) * distinctRegisters(l, runs.asArrayRef());
}

int64_t tile::registersOfTurn(scf::ForOp loop) {
  constexpr int64_t kRegistersOfAddress = 2;
  int64_t registers = 0;
  for (BlockArgument arg : loop.getRegionIterArgs())
    registers += distinctRegistersOf(arg);
  for (auto load : loop.getOps<LoadOp>())
    if (!isa<BlockArgument>(load.getPtr()))
      registers += kRegistersOfAddress * distinctRegistersOf(load.getResult());
  return registers;
}
