//===- AccessOrder.cpp - global memory that several threads use -----------===//
#include "passes/memory/AccessOrder.h"
#include "ir/Kernel.h"
#include "passes/Passes.h"

using namespace mlir;
using namespace tile;

/// How deep pointers are compared.
static constexpr unsigned kDepth = 24;

static Attribute withoutLayout(Attribute attr) {
  auto dense = dyn_cast<DenseElementsAttr>(attr);
  return dense && dense.isSplat() ? dense.getSplatValue<Attribute>() : attr;
}

/// Whether two values are computed alike, but for the layouts that they have. `known` keeps pairs
/// that are: what doubles at each step is compared once a step.
static bool isSame(Value a, Value b, DenseSet<std::pair<Value, Value>> &known, unsigned depth = 0) {
  auto skip = [](Value v) {
    while (auto convert = v.getDefiningOp<cta::ConvertLayoutOp>())
      v = convert.getOperand();
    return v;
  };
  a = skip(a), b = skip(b);
  if (a == b || known.contains({a, b}))
    return true;
  Operation *x = a.getDefiningOp(), *y = b.getDefiningOp();
  auto resultOf = [](Value v) { return cast<OpResult>(v).getResultNumber(); };
  if (!x || !y || depth > kDepth || x->getName() != y->getName() || x->getNumRegions() ||
      resultOf(a) != resultOf(b) || x->getNumOperands() != y->getNumOperands())
    return false;
  for (NamedAttribute attr : x->getAttrs()) {
    Attribute other = y->getAttr(attr.getName());
    if (!other || withoutLayout(attr.getValue()) != withoutLayout(other))
      return false;
  }
  if (!llvm::all_of(llvm::zip(x->getOperands(), y->getOperands()), [&](auto pair) {
        return isSame(std::get<0>(pair), std::get<1>(pair), known, depth + 1);
      }))
    return false;
  known.insert({a, b});
  return true;
}

static Value pointersOf(Operation &op) {
  if (auto load = dyn_cast<LoadOp>(op))
    return load.getPtr();
  return cast<StoreOp>(op).getPtr();
}

bool tile::meetAcrossThreads(Operation &first, Operation &second) {
  if (!isa<StoreOp>(first) && !isa<StoreOp>(second))
    return false;
  Value a = pointersOf(first), b = pointersOf(second);
  auto block = dyn_cast<RankedTensorType>(a.getType()),
       other = dyn_cast<RankedTensorType>(b.getType());
  if (!block != !other || (block && block.getShape() != other.getShape()))
    return false;
  // Copies of one element: one thread stores it, and all of them have loaded it.
  auto hasCopies = [](const layout::LinearLayout &layout) {
    return llvm::is_contained(layout.rows(layout::Dim::warp()), 0) ||
           llvm::is_contained(layout.rows(layout::Dim::lane()), 0);
  };
  bool copies = !block || hasCopies(cta::getLayout(block));
  if (block && block == other && !copies)
    return false;
  if (isa<StoreOp>(first) && isa<StoreOp>(second) && (!block || block == other))
    return false; // by the same threads
  DenseSet<std::pair<Value, Value>> known;
  return isSame(a, b, known);
}
