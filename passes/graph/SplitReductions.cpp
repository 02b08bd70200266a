//===- SplitReductions.cpp - what is taken apart before operations are grouped //
//
// Reductions along the first dimensions become parts and what combines them, and what is returned
// and needed besides is copied.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/graph/Fusion.h"
#include "passes/graph/Sources.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile::graph;

/// What is returned as it came gets a kernel that copies it.
void Fusion::copyReturned() {
  OpBuilder b(body.getTerminator());
  SmallVector<Value> seen;
  for (OpOperand &operand : body.getTerminator()->getOpOperands()) {
    Value value = operand.get();
    Operation *op = value.getDefiningOp();
    bool isComputed = op && !isFree(op) && !llvm::is_contained(seen, value);
    // Another shape of what a kernel computes for nothing else is stored where it is wanted.
    if (auto shape = dyn_cast_or_null<ReshapeOp>(op)) {
      Operation *source = shape.getSrc().getDefiningOp();
      bool isOther = source && !isa<ReshapeOp>(source) && !isFree(source);
      isComputed &= isOther &&
                    llvm::all_of(source->getUsers(),
                                 [&](Operation *user) {
                                   return user == op || !user->hasTrait<OpTrait::IsTerminator>();
                                 }) &&
                    llvm::count_if(source->getUsers(),
                                   [](Operation *user) { return isa<ReshapeOp>(user); }) == 1;
    }
    seen.push_back(value);
    if (!isComputed)
      operand.set(CastOp::create(b, function.getLoc(), value.getType(), value));
  }
}

/// Whether something that is computed from a value goes along dimensions that were reduced
/// to it: as of a softmax along columns, which one kernel can do with its columns in hand.
static bool goesBack(Value value, ArrayRef<Size> reduced) {
  SmallVector<Value> work = {value};
  llvm::SmallDenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (Operation *user : next.getUsers()) {
      if (!isa<MapOp, CastOp, RearrangeOp>(user))
        continue;
      Sizes sizes = cast<GraphTensorType>(user->getResult(0).getType()).sizes();
      if (llvm::any_of(reduced, [&](const Size &size) { return llvm::is_contained(sizes, size); }))
        return true;
      work.push_back(user->getResult(0));
    }
  }
  return false;
}

/// What is combined along the first dimensions, or along all, is combined in parts, by
/// kernels that may have rows of their own to reduce, and another kernel combines those.
static bool isSplit(ReduceOp op) {
  Sizes sizes = op.getSrc().getType().sizes();
  for (auto [i, axis] : llvm::enumerate(op.getAxes()))
    if (axis != int64_t(i))
      return false;
  ArrayRef<Size> reduced = ArrayRef(sizes).take_front(op.getAxes().size());
  std::optional<int64_t> known = product(reduced).constant();
  bool isShort = known && *known <= tile::tuningOf(op).fewRows;
  if (reduced.empty() || isShort)
    return false;
  return reduced.size() == sizes.size() || !goesBack(op.getResult(), reduced);
}

/// The size of what is a vector, and no result of rows: programs that have those combine it.
static std::optional<Size> sizeOfVector(ReduceOp op) {
  Sizes sizes = op.getSrc().getType().sizes();
  bool isOfRows = false;
  visitSources(op.getSrc(), [&](Value value) {
    auto reduce = value.getDefiningOp<ReduceOp>();
    isOfRows |= reduce && !reduce.getType().sizes().empty();
    return !isOfRows;
  });
  if (sizes.size() != 1 || op.getAxes().empty() || isOfRows)
    return std::nullopt;
  return sizes[0];
}

/// Whether `op` combines what is computed of others' results along the dimensions that those were
/// reduced over, in one of `whole`: a kernel that has these columns in hand goes along them again.
static bool isOfWhole(ReduceOp op, const llvm::SmallPtrSetImpl<Operation *> &whole) {
  bool found = false;
  visitSources(op.getSrc(), [&](Value value) {
    Operation *source = value.getDefiningOp();
    if (auto before = dyn_cast_or_null<ReduceOp>(source)) {
      found |= whole.contains(before) && before.getAxes() == op.getAxes() &&
               before.getSrc().getType().sizes() == op.getSrc().getType().sizes();
      return false;
    }
    return source && isa<MapOp, CastOp, RearrangeOp>(source);
  });
  return found;
}

/// A vector that is gone along again with what it was reduced to is a row of a kernel, which
/// programs share where it is long (RowSteps.h); all that is reduced of such vectors is done there.
void Fusion::splitReductions() {
  Sizes rows;
  for (ReduceOp op : body.getOps<ReduceOp>())
    if (std::optional<Size> size = sizeOfVector(op); size && goesBack(op.getResult(), *size))
      rows.push_back(*size);
  unsigned number = 0;
  llvm::SmallPtrSet<Operation *, 8> whole;
  for (ReduceOp op : llvm::make_early_inc_range(body.getOps<ReduceOp>())) {
    std::optional<Size> vector = sizeOfVector(op);
    if (!isSplit(op) || (vector && llvm::is_contained(rows, *vector)) || isOfWhole(op, whole)) {
      whole.insert(op);
      continue;
    }
    OpBuilder b(op);
    Sizes sizes = {Size::symbol("parts." + std::to_string(number++))};
    llvm::append_range(sizes, op.getType().sizes());
    auto type = GraphTensorType::of(op.getContext(), sizes,
                                    computeType(op.getSrc().getType().getElement()));
    auto partial = PartialOp::create(b, op.getLoc(), type, op.getKind(), op.getSrc(), op.getAxes());
    auto whole = ReduceOp::create(b, op.getLoc(), op.getType(), op.getKind(), partial.getResult(),
                                  ArrayRef<int64_t>{0});
    op.replaceAllUsesWith(whole.getResult());
    op.erase();
  }
}

/// All that one kernel combines in parts has as many.
void Fusion::nameParts() {
  for (auto &group : groups) {
    std::optional<Size> parts;
    for (Operation *op : group->ops) {
      auto partial = dyn_cast<PartialOp>(op);
      if (!partial)
        continue;
      Sizes sizes = partial.getType().sizes();
      if (!parts)
        parts = sizes[0];
      sizes[0] = *parts;
      partial.getResult().setType(
          GraphTensorType::of(op->getContext(), sizes, partial.getType().getElement()));
    }
  }
}
