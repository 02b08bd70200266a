//===- ColumnParts.cpp - blocks part by part along their columns ----------===//
#include "passes/tile/ColumnParts.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "passes/facts/PointerRoots.h"
#include "llvm/ADT/MapVector.h"
#include <numeric>

using namespace mlir;
using namespace tile;

SmallVector<Part> tile::partsOf(int64_t columns, int64_t fewest) {
  SmallVector<Part> parts;
  for (int64_t first = 0; first < columns; first += parts.back().size)
    parts.push_back({first, int64_t(llvm::bit_floor(uint64_t(columns - first)))});
  if (parts.size() < 2 || parts.back().size < fewest)
    parts.clear();
  return parts;
}

SmallVector<Part> tile::equalParts(int64_t columns, int64_t number) {
  SmallVector<Part> parts;
  for (int64_t part = 0; part < number; ++part)
    parts.push_back({part * columns / number, columns / number});
  return parts;
}

bool tile::givesOneElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         op->getNumRegions() == 0;
}

bool tile::haveEvenRuns(func::FuncOp kernel) {
  auto areEven = [](DenseI64ArrayAttr runs) {
    return !runs || llvm::all_of(runs.asArrayRef(), [](int64_t n) {
      return n > 0 && llvm::isPowerOf2_64(uint64_t(n));
    });
  };
  return !kernel
              .walk([&](HintOp hint) {
                return areEven(hint.getContiguityAttr()) && areEven(hint.getConstancyAttr())
                           ? WalkResult::advance()
                           : WalkResult::interrupt();
              })
              .wasInterrupted();
}

static DenseI64ArrayAttr promiseOf(DenseI64ArrayAttr whole, unsigned axis, Part part, bool isRun) {
  if (!whole)
    return {};
  SmallVector<int64_t> promise(whole.asArrayRef());
  int64_t known = std::gcd(promise[axis], isRun ? std::gcd(part.first, part.size) : part.first);
  promise[axis] = part.first ? known & -known : known;
  return DenseI64ArrayAttr::get(whole.getContext(), promise);
}

void tile::promiseOfPart(HintOp hint, unsigned axis, Part part) {
  hint.setDivisibilityAttr(promiseOf(hint.getDivisibilityAttr(), axis, part, /*isRun=*/false));
  hint.setContiguityAttr(promiseOf(hint.getContiguityAttr(), axis, part, /*isRun=*/true));
  hint.setConstancyAttr(promiseOf(hint.getConstancyAttr(), axis, part, /*isRun=*/true));
}

void tile::sinkTo(StoreOp store, StoreOp before) {
  DenseSet<Operation *> needed{store};
  SmallVector<Operation *> moved;
  DenseSet<Value> written;
  bool seesAll = true; // that is written between an operation and `store`
  collectRoots(before.getPtr(), written);
  for (Operation *op = before->getPrevNode(); op; op = op->getPrevNode()) {
    auto load = dyn_cast<LoadOp>(op);
    bool canMove = load ? seesAll && !load.getIsVolatile() && !comesFrom(load.getPtr(), written)
                        : op->getNumRegions() == 0 && isMemoryEffectFree(op);
    if (auto other = dyn_cast<StoreOp>(op))
      collectRoots(other.getPtr(), written);
    else if (!load)
      seesAll &= isMemoryEffectFree(op);
    if (canMove && !op->use_empty() &&
        llvm::all_of(op->getUsers(), [&](Operation *user) { return needed.contains(user); })) {
      needed.insert(op);
      moved.push_back(op);
    }
  }
  for (Operation *op : llvm::reverse(moved))
    op->moveBefore(store);
}

void tile::orderByParts(func::FuncOp kernel, const DenseMap<Operation *, unsigned> &partOf,
                        unsigned number) {
  llvm::MapVector<Block *, SmallVector<SmallVector<Operation *>>> blocks;
  kernel.walk([&](DotOp dot) {
    auto part = partOf.find(dot);
    if (part == partOf.end() || !isa<scf::ForOp>(dot->getParentOp()))
      return;
    SmallVector<SmallVector<Operation *>> &own = blocks[dot->getBlock()];
    own.resize(number);
    own[part->second].push_back(dot);
  });
  for (auto &[block, own] : blocks) {
    bool canMove = true;
    for (auto [part, moved] : llvm::enumerate(own)) {
      DenseSet<Operation *> seen(moved.begin(), moved.end());
      for (unsigned i = 0; i < moved.size(); ++i)
        for (Operation *user : moved[i]->getUsers())
          if (user != block->getTerminator() && seen.insert(user).second) {
            auto other = partOf.find(user);
            canMove &= user->getBlock() == block && other != partOf.end() &&
                       other->second == part && givesOneElementwise(user);
            moved.push_back(user);
          }
      llvm::sort(moved, [](Operation *a, Operation *b) {
        return a->getBlock() == b->getBlock() && a->isBeforeInBlock(b);
      });
    }
    if (canMove)
      for (ArrayRef<Operation *> moved : own)
        for (Operation *op : moved)
          op->moveBefore(block->getTerminator());
  }
}
