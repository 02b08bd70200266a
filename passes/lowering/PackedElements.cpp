//===- PackedElements.cpp - arithmetic on several elements of a register --===//
//
// Elements of 8 and 16 bits arrive several to a register, and leave so for a matrix
// instruction or a store. What is done to their bits, a choice that is the same for
// all of them, and arithmetic of 16-bit floats and integers, is done to the whole register,
// and nothing is unpacked: taking 4-bit weights apart costs a quarter of the
// instructions. Floats whose bits are looked at are narrowed to 16 bits two at a time; other
// conversions of floats are in PackedFloats.cpp.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/PackedElements.h"
#include "ir/Algebra.h"
#include "ir/Attributes.h"
#include "mlir/IR/Matchers.h"
#include "passes/lowering/Elementwise.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

/// The register (a vector) that `elements` lie in, side by side and in this order;
/// null if they do not.
static Value wordOf(ArrayRef<Value> elements) {
  Value word;
  for (auto [index, element] : llvm::enumerate(elements)) {
    auto extract = element.getDefiningOp<LLVM::ExtractElementOp>();
    APInt position;
    if (!extract || !matchPattern(extract.getPosition(), m_ConstantInt(&position)) ||
        position != index || (word && word != extract.getVector()))
      return {};
    word = extract.getVector();
  }
  bool isWhole = cast<VectorType>(word.getType()).getNumElements() == int64_t(elements.size());
  return isWhole ? word : Value();
}

SmallVector<Value> lowering::wordsOf(ArrayRef<Value> elements, unsigned perWord) {
  SmallVector<Value> words;
  if (elements.size() % perWord == 0)
    for (size_t r = 0; r < elements.size(); r += perWord)
      if (Value word = wordOf(elements.slice(r, perWord)))
        words.push_back(word);
  if (words.size() * perWord != elements.size())
    words.clear();
  return words;
}

unsigned lowering::elementBits(Value v) {
  Type type = getElementType(v.getType());
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

/// By how much every element is shifted, if that is within its width.
static std::optional<unsigned> shiftOf(Operation *op) {
  APInt amount;
  if (!isa<arith::ShLIOp, arith::ShRUIOp>(op) ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&amount)) ||
      amount.uge(elementBits(op->getResult(0))))
    return std::nullopt;
  return unsigned(amount.getZExtValue());
}

/// Arithmetic that is one instruction for two elements.
static bool isPackedReal(Operation *op, const Target &target) {
  Type type = getElementType(op->getResult(0).getType());
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::NegFOp>(op) &&
         (type.isF16() || (type.isBF16() && target.has(Feature::Bf16Arithmetic)));
}

/// Where there are no such instructions, LLVM takes the two apart.
static bool isPackedInteger(Operation *op) {
  return isa<arith::AddIOp, arith::MinUIOp, arith::MaxUIOp, arith::MinSIOp, arith::MaxSIOp>(op) &&
         elementBits(op->getResult(0)) == 16;
}

/// Copies of `element`, the lowest bits, in a whole register.
static uint64_t repeated(uint64_t element, unsigned bits) {
  return APInt::getSplat(kWordBits, APInt(bits, element)).getZExtValue();
}

/// The bits of a constant that all elements have; `isAlgebraic`: of the number in its place.
static std::optional<uint64_t> constantBits(Value v, bool isAlgebraic) {
  APInt integer;
  APFloat real(0.0f);
  if (matchPattern(v, m_ConstantInt(&integer)))
    return integer.getZExtValue();
  if (matchPattern(v, m_ConstantFloat(&real))) {
    std::optional<APInt> image = isAlgebraic ? algebra::image(real) : real.bitcastToAPInt();
    return image ? std::optional(image->getZExtValue()) : std::nullopt;
  }
  return std::nullopt;
}

/// The condition for each register of `perWord` elements; none if the elements of one
/// differ in it.
static SmallVector<Value> conditionsOf(ArrayRef<Value> conditions, unsigned perWord) {
  SmallVector<Value> first;
  for (size_t r = 0; r < conditions.size(); r += perWord) {
    first.push_back(conditions[r]);
    if (!llvm::all_equal(conditions.slice(r, std::min<size_t>(perWord, conditions.size() - r))))
      return {};
  }
  return first;
}

/// f32 as f16 or bf16 of which only the bits are asked for: these are worked on in pairs.
static std::optional<Registers> narrowToBits(Instructions &in, arith::TruncFOp op,
                                             ArrayRef<Value> elements) {
  Type to = getElementType(op.getType());
  if (elements.size() % 2 != 0 || !getElementType(op.getIn().getType()).isF32() ||
      !(to.isF16() || to.isBF16()) ||
      !llvm::all_of(op->getUsers(), llvm::IsaPred<arith::BitcastOp>))
    return std::nullopt;
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  Registers regs;
  for (size_t r = 0; r < elements.size(); r += 2) {
    Value pair = LLVM::PoisonOp::create(b, loc, VectorType::get({2}, b.getF32Type()));
    for (int32_t e : {0, 1})
      pair = LLVM::InsertElementOp::create(b, loc, pair, elements[r + e], in.i32(e));
    pair = LLVM::FPTruncOp::create(b, loc, VectorType::get({2}, to), pair);
    for (int32_t e : {0, 1})
      regs.push_back(LLVM::ExtractElementOp::create(b, loc, pair, in.i32(e)));
  }
  return regs;
}

/// The lower bytes of 16-bit elements that lie in registers, four to a register.
static std::optional<Registers> lowerBytes(Instructions &in, ArrayRef<Value> words) {
  if (words.empty() || words.size() % 2 != 0)
    return std::nullopt;
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  Registers regs;
  for (size_t r = 0; r < words.size(); r += 2) {
    Value low = LLVM::BitcastOp::create(b, loc, b.getI32Type(), words[r]);
    Value high = LLVM::BitcastOp::create(b, loc, b.getI32Type(), words[r + 1]);
    Value bytes = LLVM::BitcastOp::create(b, loc, VectorType::get({4}, b.getI8Type()),
                                          in.permuteBytes(low, high, 0x6420));
    for (int32_t e = 0; e < 4; ++e)
      regs.push_back(LLVM::ExtractElementOp::create(b, loc, bytes, in.i32(e)));
  }
  return regs;
}

namespace {
/// Operands of an operation on whole registers.
struct PackedOperands {
  SmallVector<SmallVector<Value>, 2> words; ///< empty: a constant
  SmallVector<uint64_t, 2> constants;       ///< repeated over a register
  size_t count = 0;                         ///< registers
};
} // namespace

unsigned lowering::elementsOfWord(ArrayRef<Value> elements) {
  Type type = elements.front().getType();
  unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : kWordBits;
  unsigned perWord = bits == 8 || bits == 16 ? kWordBits / bits : 1;
  while (elements.size() % perWord)
    perWord /= 2;
  return perWord;
}

Value lowering::inWord(Instructions &in, ArrayRef<Value> elements) {
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  Type element = elements.front().getType();
  Value word = wordOf(elements);
  if (!word) {
    word = LLVM::PoisonOp::create(b, loc, VectorType::get({int64_t(elements.size())}, element));
    for (auto [e, v] : llvm::enumerate(elements))
      word = LLVM::InsertElementOp::create(b, loc, word, v, in.i32(int32_t(e)));
  }
  unsigned bits = unsigned(elements.size()) * element.getIntOrFloatBitWidth();
  return LLVM::BitcastOp::create(b, loc, b.getIntegerType(bits), word);
}

Registers lowering::ofWord(Instructions &in, Value word, Type element, unsigned count) {
  OpBuilder &b = in.builder();
  Value vector =
      LLVM::BitcastOp::create(b, in.getLoc(), VectorType::get({int64_t(count)}, element), word);
  Registers elements;
  for (unsigned e = 0; e < count; ++e)
    elements.push_back(LLVM::ExtractElementOp::create(b, in.getLoc(), vector, in.i32(int32_t(e))));
  return elements;
}

/// Nothing if some operand's elements do not lie in whole registers.
static std::optional<PackedOperands>
packedOperands(llvm::function_ref<const Registers &(Value)> lookup, ValueRange inputs,
               unsigned bits, bool isAlgebraic) {
  PackedOperands operands;
  for (Value operand : inputs) {
    std::optional<uint64_t> constant = constantBits(operand, isAlgebraic);
    operands.constants.push_back(repeated(constant.value_or(0), bits));
    operands.words.push_back(constant ? SmallVector<Value>()
                                      : wordsOf(lookup(operand), kWordBits / bits));
    size_t words = operands.words.back().size();
    if ((!constant && words == 0) || (words && operands.count && words != operands.count))
      return std::nullopt;
    operands.count = std::max(operands.count, words);
  }
  if (operands.count == 0)
    return std::nullopt;
  return operands;
}

/// Elements of a register shifted by a constant: what came from the neighbour is cleared.
static Value shiftPacked(Instructions &in, Value word, bool isLeft, unsigned by, unsigned bits) {
  OpBuilder &b = in.builder();
  auto integer = [&](uint64_t value) { return in.i32(int32_t(uint32_t(value))); };
  uint64_t all = llvm::maskTrailingOnes<uint64_t>(bits);
  Value amount = integer(by);
  Value v = isLeft ? LLVM::ShlOp::create(b, in.getLoc(), word, amount).getResult()
                   : LLVM::LShrOp::create(b, in.getLoc(), word, amount).getResult();
  uint64_t kept = isLeft ? all << by & all : all >> by;
  return LLVM::AndOp::create(b, in.getLoc(), v, integer(repeated(kept, bits)));
}

std::optional<Registers> Elementwise::lowerPacked(Operation *op) {
  Value result = op->getResult(0);
  unsigned bits = elementBits(result);
  if (auto cast = dyn_cast<FpCastOp>(op))
    return castPairs(cast);
  if (auto narrow = dyn_cast<arith::TruncFOp>(op); narrow && !core.module->hasAttr(kAlgebraicAttr))
    return narrowToBits(in, narrow, core.get(narrow.getIn()));
  if (auto widen = dyn_cast<arith::ExtFOp>(op))
    return widenHalves(widen);
  if (auto narrow = dyn_cast<arith::TruncIOp>(op);
      narrow && bits == 8 && elementBits(narrow.getIn()) == 16)
    return lowerBytes(in, wordsOf(core.get(narrow.getIn()), 2));
  if (bits != 8 && bits != 16)
    return std::nullopt;
  std::optional<unsigned> shift = shiftOf(op);
  bool isArithmetic = isPackedReal(op, in.target()) || isPackedInteger(op);
  bool isCast = isa<arith::BitcastOp>(op);
  auto select = dyn_cast<arith::SelectOp>(op);
  if (!shift && !isArithmetic && !isCast && !select &&
      !isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::nullopt;
  unsigned perWord = kWordBits / bits;
  ValueRange inputs = op->getOperands();
  inputs = select ? inputs.drop_front()
                  : inputs.take_front(shift || isCast || isa<arith::NegFOp>(op) ? 1 : 2);
  auto lookup = [&](Value v) -> const Registers & { return core.get(v); };
  std::optional<PackedOperands> operands =
      packedOperands(lookup, inputs, bits, core.module->hasAttr(kAlgebraicAttr));
  if (!operands)
    return std::nullopt;
  SmallVector<Value> conditions;
  if (select) {
    const Registers &elements = core.get(select.getCondition());
    conditions = elements.size() == 1 ? SmallVector<Value>(operands->count, elements[0])
                                      : conditionsOf(elements, perWord);
    if (conditions.size() != operands->count)
      return std::nullopt;
  }

  Location loc = in.getLoc();
  Type vector = VectorType::get({perWord}, core.llvmType(getElementType(result.getType())));
  Type work = isArithmetic || isCast ? vector : b.getIntegerType(kWordBits);
  auto as = [&](Type type, Value v) {
    return v.getType() == type ? v : LLVM::BitcastOp::create(b, loc, type, v).getResult();
  };
  Registers regs;
  for (size_t i = 0; i < operands->count; ++i) {
    SmallVector<Value, 2> args;
    for (auto [words, constant] : llvm::zip_equal(operands->words, operands->constants))
      args.push_back(as(work, words.empty() ? in.i32(int32_t(uint32_t(constant))) : words[i]));
    Value v = args[0];
    if (shift) {
      v = shiftPacked(in, v, isa<arith::ShLIOp>(op), *shift, bits);
    } else if (select) {
      v = LLVM::SelectOp::create(b, loc, conditions[i], args[0], args[1]);
    } else if (!isCast) {
      v = emitArith(op, args);
    }
    v = as(vector, v);
    for (unsigned e = 0; e < perWord; ++e)
      regs.push_back(LLVM::ExtractElementOp::create(b, loc, v, in.i32(int32_t(e))));
  }
  return regs;
}
