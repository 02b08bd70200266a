//===- Combiners.cpp - what is known of a reduction's combiner ------------===//
//
// The combiner is read twice, for (a, b) and for (b, a), and each value gets the number of its
// expression, in which operands that may change places are in the order of their numbers.
// Equal numbers are equal values.
//
// What takes one of two tuples whole by comparing their elements is commutative for another
// reason: from both sides the same is taken, or both are equal. That is tried: of how each two
// elements can stand to each other there are few cases.
//
//===----------------------------------------------------------------------===//
#include "passes/facts/Combiners.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
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

namespace {

/// How the left value of an element of the tuples stands to the right one.
enum class Relation : uint8_t { Less, Equal, Greater, LeftNan, RightNan, BothNan };

/// select(condition, left, right) of all elements.
class Choice {
public:
  explicit Choice(Block &combiner)
      : combiner(combiner), half(combiner.getNumArguments() / 2), relations(half),
        isUnsigned(half) {}

  /// Whether the same tuple is chosen with the sides exchanged, however they stand.
  bool isCommutative();

private:
  bool match();
  bool isFloat(unsigned element) { return isa<FloatType>(combiner.getArgument(element).getType()); }
  bool isSame() const;
  std::optional<bool> chosen(Value v);
  std::optional<bool> comparedIntegers(arith::CmpIOp compare);
  std::optional<bool> comparedFloats(arith::CmpFOp compare);
  std::optional<std::pair<Relation, unsigned>> relationOf(Value lhs, Value rhs);

  /// Of more elements there are too many cases.
  static constexpr unsigned kMostElements = 4;

  Block &combiner;
  unsigned half;
  Value condition;
  SmallVector<Relation> relations;
  /// Whether an integer is compared as unsigned, where it is for more than being equal.
  SmallVector<std::optional<bool>> isUnsigned;
};

} // namespace

static Relation exchanged(Relation r) {
  switch (r) {
  case Relation::Less:
    return Relation::Greater;
  case Relation::Greater:
    return Relation::Less;
  case Relation::LeftNan:
    return Relation::RightNan;
  case Relation::RightNan:
    return Relation::LeftNan;
  case Relation::Equal:
  case Relation::BothNan:
    return r;
  }
  llvm_unreachable("unknown relation");
}

bool Choice::match() {
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
  return condition && half <= kMostElements;
}

/// How `lhs` stands to `rhs`, and of which element both are.
std::optional<std::pair<Relation, unsigned>> Choice::relationOf(Value lhs, Value rhs) {
  auto a = dyn_cast<BlockArgument>(lhs), b = dyn_cast<BlockArgument>(rhs);
  if (!a || !b || a.getOwner() != &combiner || b.getOwner() != &combiner)
    return std::nullopt;
  unsigned left = a.getArgNumber(), right = b.getArgNumber(), element = left % half;
  if (element != right % half)
    return std::nullopt;
  Relation r = relations[element];
  if (left == right) {
    bool isNan =
        r == Relation::BothNan || r == (left < half ? Relation::LeftNan : Relation::RightNan);
    return std::pair(isNan ? Relation::BothNan : Relation::Equal, element);
  }
  return std::pair(left < right ? r : exchanged(r), element);
}

std::optional<bool> Choice::comparedIntegers(arith::CmpIOp compare) {
  using P = arith::CmpIPredicate;
  auto found = relationOf(compare.getLhs(), compare.getRhs());
  if (!found)
    return std::nullopt;
  auto [r, element] = *found;
  P p = compare.getPredicate();
  if (p == P::eq || p == P::ne)
    return (r == Relation::Equal) == (p == P::eq);
  bool compared = llvm::is_contained({P::ult, P::ule, P::ugt, P::uge}, p);
  if (isUnsigned[element].value_or(compared) != compared)
    return std::nullopt;
  isUnsigned[element] = compared;
  if (r == Relation::Equal)
    return llvm::is_contained({P::sle, P::ule, P::sge, P::uge}, p);
  return (r == Relation::Less) == llvm::is_contained({P::slt, P::ult, P::sle, P::ule}, p);
}

std::optional<bool> Choice::comparedFloats(arith::CmpFOp compare) {
  auto found = relationOf(compare.getLhs(), compare.getRhs());
  if (!found)
    return std::nullopt;
  using P = arith::CmpFPredicate;
  auto isOneOf = [&](ArrayRef<P> predicates) {
    return llvm::is_contained(predicates, compare.getPredicate());
  };
  switch (found->first) {
  case Relation::Equal:
    return isOneOf({P::OEQ, P::OGE, P::OLE, P::ORD, P::UEQ, P::UGE, P::ULE, P::AlwaysTrue});
  case Relation::Greater:
    return isOneOf({P::OGT, P::OGE, P::ONE, P::ORD, P::UGT, P::UGE, P::UNE, P::AlwaysTrue});
  case Relation::Less:
    return isOneOf({P::OLT, P::OLE, P::ONE, P::ORD, P::ULT, P::ULE, P::UNE, P::AlwaysTrue});
  case Relation::LeftNan:
  case Relation::RightNan:
  case Relation::BothNan:
    return isOneOf({P::UEQ, P::UGT, P::UGE, P::ULT, P::ULE, P::UNE, P::UNO, P::AlwaysTrue});
  }
  llvm_unreachable("unknown relation");
}

/// The value of a condition where the elements stand as `relations` says.
std::optional<bool> Choice::chosen(Value v) {
  Operation *op = v.getDefiningOp();
  if (!op || !v.getType().isInteger(1))
    return std::nullopt;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return comparedIntegers(compare);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return comparedFloats(compare);
  APInt constant;
  if (matchPattern(v, m_ConstantInt(&constant)))
    return constant.isOne();
  if (!isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::nullopt;
  std::optional<bool> a = chosen(op->getOperand(0)), b = chosen(op->getOperand(1));
  if (!a || !b)
    return std::nullopt;
  return isa<arith::AndIOp>(op) ? (*a && *b) : isa<arith::OrIOp>(op) ? (*a || *b) : *a != *b;
}

/// Whether it does not matter which tuple is taken. Of floats that are equal one may be -0, and
/// NaNs have more than one pattern: an integer beside them that is equal says that both are the
/// same element.
bool Choice::isSame() const {
  bool isEqual = llvm::all_of(
      relations, [](Relation r) { return r == Relation::Equal || r == Relation::BothNan; });
  return isEqual && llvm::any_of(combiner.getArgumentTypes(), llvm::IsaPred<IntegerType>);
}

bool Choice::isCommutative() {
  if (!match())
    return false;
  unsigned cases = 1;
  for (unsigned i = 0; i < half; ++i)
    cases *= isFloat(i) ? 6 : 3;
  for (unsigned number = 0; number < cases; ++number) {
    unsigned rest = number;
    for (unsigned i = 0; i < half; ++i) {
      unsigned count = isFloat(i) ? 6 : 3;
      relations[i] = Relation(rest % count);
      rest /= count;
    }
    std::optional<bool> here = chosen(condition);
    bool isAny = isSame();
    for (Relation &r : relations)
      r = exchanged(r);
    std::optional<bool> there = chosen(condition);
    if (!here || !there || (*here == *there && !isAny))
      return false;
  }
  return true;
}

bool tile::isCommutative(Block &combiner) {
  Expressions expressions(combiner);
  return expressions.results(false) == expressions.results(true) ||
         Choice(combiner).isCommutative();
}
