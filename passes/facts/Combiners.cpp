//===- Combiners.cpp - what is known of a reduction's combiner ------------===//
//
// The combiner is read twice, for (a, b) and for (b, a), and each value gets the number of its
// expression, in which operands that may change places are in the order of their numbers.
// Equal numbers are equal values.
//
// What takes one of two tuples of integers whole, the first that differ saying which, is
// commutative for another reason: from both sides the same is taken, or both are equal.
//
//===----------------------------------------------------------------------===//
#include "passes/facts/Combiners.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SmallBitVector.h"
#include <map>

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Expressions that are the same from both sides
//===----------------------------------------------------------------------===//

namespace {

class Expressions {
public:
  explicit Expressions(Block &combiner) : combiner(combiner) {}

  /// The numbers of what is yielded, with or without the sides exchanged.
  SmallVector<unsigned> results(bool exchanged);

private:
  /// Of an operation: name, attributes, type of the result, operands.
  using Key = std::tuple<const void *, const void *, const void *, SmallVector<unsigned>>;

  unsigned numberOf(Operation &op, SmallVector<unsigned> operands);

  Block &combiner;
  std::map<Key, unsigned> numbers;
  DenseMap<Value, unsigned> outside;
  unsigned next = 0;
};

} // namespace

/// Whether operands may change places without changing the result.
static bool isSymmetric(Operation &op) {
  using P = arith::CmpIPredicate;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compare.getPredicate() == P::eq || compare.getPredicate() == P::ne;
  return op.hasTrait<OpTrait::IsCommutative>();
}

unsigned Expressions::numberOf(Operation &op, SmallVector<unsigned> operands) {
  if (op.getNumResults() != 1 || op.getNumRegions() != 0 || !isMemoryEffectFree(&op))
    return next++; // like nothing else
  if (isSymmetric(op))
    llvm::sort(operands);
  Key key{op.getName().getAsOpaquePointer(), op.getAttrDictionary().getAsOpaquePointer(),
          op.getResult(0).getType().getAsOpaquePointer(), operands};
  auto [entry, isNew] = numbers.try_emplace(std::move(key), next);
  next += isNew;
  return entry->second;
}

SmallVector<unsigned> Expressions::results(bool exchanged) {
  unsigned count = combiner.getNumArguments(), half = count / 2;
  next = std::max(next, count);
  DenseMap<Value, unsigned> values;
  for (unsigned i = 0; i < count; ++i)
    values[combiner.getArgument(i)] = exchanged ? (i + half) % count : i;
  auto numberOfValue = [&](Value v) {
    if (auto it = values.find(v); it != values.end())
      return it->second;
    auto [entry, isNew] = outside.try_emplace(v, next);
    next += isNew;
    return entry->second;
  };
  for (Operation &op : combiner.without_terminator()) {
    unsigned number = numberOf(op, llvm::map_to_vector(op.getOperands(), numberOfValue));
    for (Value result : op.getResults())
      values[result] = number;
  }
  return llvm::map_to_vector(combiner.getTerminator()->getOperands(), numberOfValue);
}

//===----------------------------------------------------------------------===//
// Choices between tuples in order
//===----------------------------------------------------------------------===//

/// The element of which `v` is the left value, and `other` the right one, or the other way.
static std::optional<unsigned> comparedElement(Block &combiner, Value v, Value other) {
  auto a = dyn_cast<BlockArgument>(v), b = dyn_cast<BlockArgument>(other);
  unsigned half = combiner.getNumArguments() / 2;
  if (!a || !b || a.getOwner() != &combiner || b.getOwner() != &combiner)
    return std::nullopt;
  unsigned low = std::min(a.getArgNumber(), b.getArgNumber());
  if (std::max(a.getArgNumber(), b.getArgNumber()) != low + half)
    return std::nullopt;
  return low;
}

/// Whether `condition` compares elements of both sides for being less or greater, or for
/// that and, where they are equal, others so; notes which.
static bool isOrder(Block &combiner, Value condition, llvm::SmallBitVector &compared) {
  using P = arith::CmpIPredicate;
  auto element = [&](Value v, bool equal) -> std::optional<unsigned> {
    auto compare = v.getDefiningOp<arith::CmpIOp>();
    if (!compare || (compare.getPredicate() == P::eq) != equal || compare.getPredicate() == P::ne)
      return std::nullopt;
    return comparedElement(combiner, compare.getLhs(), compare.getRhs());
  };
  if (std::optional<unsigned> last = element(condition, /*equal=*/false)) {
    compared.set(*last);
    return true;
  }
  auto either = condition.getDefiningOp<arith::OrIOp>();
  if (!either)
    return false;
  for (auto [first, rest] :
       {std::pair(either.getLhs(), either.getRhs()), std::pair(either.getRhs(), either.getLhs())}) {
    std::optional<unsigned> decides = element(first, /*equal=*/false);
    auto tie = rest.getDefiningOp<arith::AndIOp>();
    if (!decides || !tie)
      continue;
    auto predicate = first.getDefiningOp<arith::CmpIOp>().getPredicate();
    if (!llvm::is_contained({P::slt, P::sgt, P::ult, P::ugt}, predicate))
      continue;
    for (auto [equal, then] :
         {std::pair(tie.getLhs(), tie.getRhs()), std::pair(tie.getRhs(), tie.getLhs())})
      if (element(equal, /*equal=*/true) == decides && isOrder(combiner, then, compared)) {
        compared.set(*decides);
        return true;
      }
  }
  return false;
}

/// select(order, a, b) of all elements, each of which is compared.
static bool isChoice(Block &combiner) {
  unsigned half = combiner.getNumArguments() / 2;
  Value condition;
  bool takesLeft = false;
  for (auto [i, result] : llvm::enumerate(combiner.getTerminator()->getOperands())) {
    auto select = result.getDefiningOp<arith::SelectOp>();
    if (!select || (condition && select.getCondition() != condition))
      return false;
    Value left = combiner.getArgument(i), right = combiner.getArgument(half + i);
    bool isLeft = select.getTrueValue() == left && select.getFalseValue() == right;
    bool isRight = select.getTrueValue() == right && select.getFalseValue() == left;
    if ((!isLeft && !isRight) || (condition && isLeft != takesLeft))
      return false;
    condition = select.getCondition();
    takesLeft = isLeft;
  }
  llvm::SmallBitVector compared(half);
  return condition && isOrder(combiner, condition, compared) && compared.all();
}

bool tile::isCommutative(Block &combiner) {
  Expressions expressions(combiner);
  return expressions.results(false) == expressions.results(true) || isChoice(combiner);
}
