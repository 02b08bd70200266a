//===- Combiners.cpp - what is known of a reduction's combiner ------------===//
//
// The combiner is read twice, for (a, b) and for (b, a), and each value gets the number of its
// expression, in which operands that may change places are in the order of their numbers.
// Equal numbers are equal values.
//
// Sums and products are rounded, and the order in which they are is open: formulas that are equal
// for real numbers do for reordering, such as those that combine means and squared deviations.
// Whether they are is tried with arguments drawn by lot, in arithmetic modulo a prime. What guards
// against dividing by zero counts as the quotient: the sum of weights that it then is was zero for
// all elements, and a mean that weighs nothing may be that of any.
//
// What takes one of two tuples whole by comparing their elements is commutative for another
// reason: from both sides the same is taken, or both are equal. That is tried: of how each two
// elements can stand to each other there are few cases.
//
//===----------------------------------------------------------------------===//
#include "passes/facts/Combiners.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <map>

using namespace mlir;
using namespace tile;

//===----------------------------------------------------------------------===//
// Expressions that are the same from both sides
//===----------------------------------------------------------------------===//

namespace {

/// Numbers modulo a prime: what is computed of them by +, -, * and / is equal for two formulas that
/// are, and, of arguments drawn by lot, for hardly any others.
struct Residue {
  static constexpr uint64_t kPrime = (1u << 31) - 1;
  static constexpr int kPrimeBits = 31; // 2 to this power is 1

  static uint64_t drawn(uint64_t seed);
  static std::optional<uint64_t> of(const APFloat &constant);
  static uint64_t power(uint64_t base, uint64_t exponent);
  static uint64_t negated(uint64_t x) { return (kPrime - x) % kPrime; }
  static uint64_t product(uint64_t x, uint64_t y) { return x * y % kPrime; }
  static uint64_t quotient(uint64_t x, uint64_t y) { return product(x, power(y, kPrime - 2)); }
};

/// Where floats are added and multiplied, numbers of expressions are residues if `isFormula`; all
/// other numbers are drawn.
class Expressions {
public:
  Expressions(Block &combiner, bool isFormula, uint64_t seed = 0)
      : combiner(combiner), isFormula(isFormula), next(seed) {}

  /// The numbers of what is yielded, with or without the sides exchanged.
  SmallVector<uint64_t> results(bool exchanged);

private:
  /// Of an operation: name, attributes, type of the result, operands.
  using Key = std::tuple<const void *, const void *, const void *, SmallVector<uint64_t>>;

  uint64_t drawNumber() { return isFormula ? Residue::drawn(next++) : next++; }
  uint64_t numberOf(Operation &op, SmallVector<uint64_t> operands);
  uint64_t numberOf(Value v);
  std::optional<uint64_t> residueOf(Operation &op, ArrayRef<uint64_t> operands);

  Block &combiner;
  bool isFormula;
  std::map<Key, uint64_t> numbers;
  SmallVector<uint64_t> ofArguments;
  DenseMap<Value, uint64_t> inside, outside;
  uint64_t next;
};

} // namespace

uint64_t Residue::drawn(uint64_t seed) {
  uint64_t x = (seed + 1) * 0x9e3779b97f4a7c15;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93;
  return (x ^ (x >> 32)) % kPrime;
}

uint64_t Residue::power(uint64_t base, uint64_t exponent) {
  uint64_t result = 1;
  for (; exponent; exponent >>= 1, base = product(base, base))
    if (exponent & 1)
      result = product(result, base);
  return result;
}

/// A float is a whole number times a power of two.
std::optional<uint64_t> Residue::of(const APFloat &constant) {
  if (!constant.isFinite())
    return std::nullopt;
  double value = std::abs(constant.convertToDouble());
  int exponent = 0;
  auto digits = uint64_t(std::ldexp(std::frexp(value, &exponent), 53));
  int turns = ((exponent - 53) % kPrimeBits + kPrimeBits) % kPrimeBits;
  uint64_t residue = product(digits % kPrime, power(2, unsigned(turns)));
  return constant.isNegative() ? negated(residue) : residue;
}

/// Whether operands may change places without changing the result.
static bool isSymmetric(Operation &op) {
  using P = arith::CmpIPredicate;
  if (auto compare = dyn_cast<arith::CmpIOp>(op))
    return compare.getPredicate() == P::eq || compare.getPredicate() == P::ne;
  return op.hasTrait<OpTrait::IsCommutative>();
}

/// The quotient, where `select` is that or, if it would be divided by zero, something else.
static Value guardedQuotient(arith::SelectOp select) {
  using P = arith::CmpFPredicate;
  auto compare = select.getCondition().getDefiningOp<arith::CmpFOp>();
  if (!compare || !matchPattern(compare.getRhs(), m_AnyZeroFloat()))
    return {};
  P p = compare.getPredicate();
  bool isEqual = p == P::OEQ || p == P::UEQ, isUnequal = p == P::ONE || p == P::UNE;
  if (!isEqual && !isUnequal)
    return {};
  Value other = isEqual ? select.getFalseValue() : select.getTrueValue();
  auto quotient = other.getDefiningOp<arith::DivFOp>();
  return quotient && quotient.getRhs() == compare.getLhs() ? other : Value();
}

std::optional<uint64_t> Expressions::residueOf(Operation &op, ArrayRef<uint64_t> operands) {
  APFloat constant(0.0);
  if (op.getNumResults() == 1 && matchPattern(op.getResult(0), m_ConstantFloat(&constant)))
    return Residue::of(constant);
  auto sum = [](uint64_t x, uint64_t y) { return (x + y) % Residue::kPrime; };
  return llvm::TypeSwitch<Operation *, std::optional<uint64_t>>(&op)
      .Case([&](arith::AddFOp) { return sum(operands[0], operands[1]); })
      .Case([&](arith::SubFOp) { return sum(operands[0], Residue::negated(operands[1])); })
      .Case([&](arith::MulFOp) { return Residue::product(operands[0], operands[1]); })
      .Case([&](arith::DivFOp) { return Residue::quotient(operands[0], operands[1]); })
      .Case([&](arith::NegFOp) { return Residue::negated(operands[0]); })
      .Case(
          [&](math::FmaOp) { return sum(Residue::product(operands[0], operands[1]), operands[2]); })
      .Case([&](arith::SelectOp select) -> std::optional<uint64_t> {
        Value quotient = guardedQuotient(select);
        return quotient ? std::optional(numberOf(quotient)) : std::nullopt;
      })
      .Default(std::nullopt);
}

uint64_t Expressions::numberOf(Operation &op, SmallVector<uint64_t> operands) {
  if (op.getNumResults() != 1 || op.getNumRegions() != 0 || !isMemoryEffectFree(&op))
    return drawNumber(); // like nothing else
  if (isFormula)
    if (std::optional<uint64_t> residue = residueOf(op, operands))
      return *residue;
  if (isSymmetric(op))
    llvm::sort(operands);
  Key key{op.getName().getAsOpaquePointer(), op.getAttrDictionary().getAsOpaquePointer(),
          op.getResult(0).getType().getAsOpaquePointer(), operands};
  auto [entry, isNew] = numbers.try_emplace(std::move(key), 0);
  if (isNew)
    entry->second = drawNumber();
  return entry->second;
}

uint64_t Expressions::numberOf(Value v) {
  if (auto it = inside.find(v); it != inside.end())
    return it->second;
  if (Operation *def = v.getDefiningOp();
      isFormula && def && def->hasTrait<OpTrait::ConstantLike>())
    return numberOf(*def, {});
  auto [entry, isNew] = outside.try_emplace(v, 0);
  if (isNew)
    entry->second = drawNumber();
  return entry->second;
}

SmallVector<uint64_t> Expressions::results(bool exchanged) {
  unsigned count = combiner.getNumArguments(), half = count / 2;
  while (ofArguments.size() < count)
    ofArguments.push_back(drawNumber());
  inside.clear();
  for (unsigned i = 0; i < count; ++i)
    inside[combiner.getArgument(i)] = ofArguments[exchanged ? (i + half) % count : i];
  auto number = [&](Value v) { return numberOf(v); };
  for (Operation &op : combiner.without_terminator()) {
    uint64_t ofResults = numberOf(op, llvm::map_to_vector(op.getOperands(), number));
    for (Value result : op.getResults())
      inside[result] = ofResults;
  }
  return llvm::map_to_vector(combiner.getTerminator()->getOperands(), number);
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
  enum class Of { All, Numbers };
  /// `of`: whether floats may be NaN.
  explicit Choice(Block &combiner, Of of = Of::All)
      : combiner(combiner), half(combiner.getNumArguments() / 2), of(of), relations(half),
        isUnsigned(half) {}

  /// Whether the same tuple is chosen with the sides exchanged, however they stand.
  bool isCommutative();

private:
  bool match();
  bool isFloat(unsigned element) { return isa<FloatType>(combiner.getArgument(element).getType()); }
  bool isSame() const;
  std::optional<bool> chosen(Value v);
  std::optional<bool> comparedConditions(arith::CmpIOp compare);
  std::optional<bool> comparedIntegers(arith::CmpIOp compare);
  std::optional<bool> comparedFloats(arith::CmpFOp compare);
  std::optional<std::pair<Relation, unsigned>> relationOf(Value lhs, Value rhs);

  /// Of more elements there are too many cases.
  static constexpr unsigned kMostElements = 4;

  /// How elements may stand to each other; what involves a NaN comes last.
  unsigned relationsOf(unsigned element) { return isFloat(element) && of == Of::All ? 6 : 3; }

  Block &combiner;
  unsigned half;
  Of of;
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

std::optional<bool> Choice::comparedConditions(arith::CmpIOp compare) {
  using P = arith::CmpIPredicate;
  P p = compare.getPredicate();
  std::optional<bool> a = chosen(compare.getLhs()), b = chosen(compare.getRhs());
  if (!a || !b || (p != P::eq && p != P::ne))
    return std::nullopt;
  return (*a == *b) == (p == P::eq);
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
    return compare.getLhs().getType().isInteger(1) ? comparedConditions(compare)
                                                   : comparedIntegers(compare);
  if (auto compare = dyn_cast<arith::CmpFOp>(op))
    return comparedFloats(compare);
  if (auto select = dyn_cast<arith::SelectOp>(op)) {
    std::optional<bool> which = chosen(select.getCondition());
    return which ? chosen(*which ? select.getTrueValue() : select.getFalseValue()) : which;
  }
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
    cases *= relationsOf(i);
  for (unsigned number = 0; number < cases; ++number) {
    unsigned rest = number;
    for (unsigned i = 0; i < half; ++i) {
      unsigned count = relationsOf(i);
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
  Expressions expressions(combiner, /*isFormula=*/false);
  return expressions.results(false) == expressions.results(true) ||
         Choice(combiner).isCommutative();
}

bool tile::isCommutativeFormula(Block &combiner) {
  if (Choice(combiner, Choice::Of::Numbers).isCommutative())
    return true;
  // That formulas which differ are equal by chance once happens in one of a thousand million cases.
  return llvm::all_of(ArrayRef<uint64_t>{0, 1 << 20}, [&](uint64_t seed) {
    Expressions formulas(combiner, /*isFormula=*/true, seed);
    return formulas.results(false) == formulas.results(true);
  });
}
