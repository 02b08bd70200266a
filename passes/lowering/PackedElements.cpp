//===- PackedElements.cpp - arithmetic on several elements of a register --===//
//
// Elements of 8 and 16 bits arrive several to a register, and leave so for a matrix
// instruction or a store. What is done to their bits, and arithmetic of 16-bit
// floats, is done to the whole register, and nothing is unpacked: taking 4-bit
// weights apart costs a quarter of the instructions.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/lowering/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

static constexpr unsigned kWordBits = 32;

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

/// The registers that a block lies in; none if its elements came one by one.
static SmallVector<Value> wordsOf(ArrayRef<Value> elements, unsigned perWord) {
  SmallVector<Value> words;
  if (elements.size() % perWord == 0)
    for (size_t r = 0; r < elements.size(); r += perWord)
      if (Value word = wordOf(elements.slice(r, perWord)))
        words.push_back(word);
  if (words.size() * perWord != elements.size())
    words.clear();
  return words;
}

static unsigned elementBits(Value v) {
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
static bool isPackedReal(Operation *op, unsigned smVersion) {
  Type type = getElementType(op->getResult(0).getType());
  return isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) &&
         (type.isF16() || (type.isBF16() && smVersion >= 90));
}

/// Copies of `element`, the lowest bits, in a whole register.
static uint64_t repeated(uint64_t element, unsigned bits) {
  return APInt::getSplat(kWordBits, APInt(bits, element)).getZExtValue();
}

/// The bits of a constant that all elements have.
static std::optional<uint64_t> constantBits(Value v) {
  APInt integer;
  APFloat real(0.0f);
  if (matchPattern(v, m_ConstantInt(&integer)))
    return integer.getZExtValue();
  if (matchPattern(v, m_ConstantFloat(&real)))
    return real.bitcastToAPInt().getZExtValue();
  return std::nullopt;
}

std::optional<Registers> Lowering::lowerPacked(Operation *op) {
  Value result = op->getResult(0);
  unsigned bits = elementBits(result);
  if (bits != 8 && bits != 16)
    return std::nullopt;
  std::optional<unsigned> shift = shiftOf(op);
  bool isReal = isPackedReal(op, in.sm()), isCast = isa<arith::BitcastOp>(op);
  if (!shift && !isReal && !isCast && !isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op))
    return std::nullopt;
  unsigned perWord = kWordBits / bits;
  SmallVector<SmallVector<Value>, 2> operands; // empty: a constant
  SmallVector<uint64_t, 2> constants;
  size_t count = 0;
  for (Value operand : op->getOperands().take_front(shift || isCast ? 1 : 2)) {
    std::optional<uint64_t> constant = constantBits(operand);
    constants.push_back(repeated(constant.value_or(0), bits));
    operands.push_back(constant ? SmallVector<Value>() : wordsOf(get(operand), perWord));
    size_t words = operands.back().size();
    if ((!constant && words == 0) || (words && count && words != count))
      return std::nullopt;
    count = std::max(count, words);
  }
  if (count == 0)
    return std::nullopt;

  Location loc = in.getLoc();
  Type word = b.getIntegerType(kWordBits);
  Type element = llvmType(getElementType(result.getType()));
  Type vector = VectorType::get({perWord}, element), work = isReal || isCast ? vector : word;
  auto as = [&](Type type, Value v) {
    return v.getType() == type ? v : LLVM::BitcastOp::create(b, loc, type, v).getResult();
  };
  auto integer = [&](uint64_t value) { return in.i32(int32_t(uint32_t(value))); };
  Registers regs;
  for (size_t i = 0; i < count; ++i) {
    SmallVector<Value, 2> args;
    for (auto [words, constant] : llvm::zip_equal(operands, constants))
      args.push_back(as(work, words.empty() ? integer(constant) : words[i]));
    Value v = args[0];
    if (shift) { // and clear what came from the neighbour
      bool isLeft = isa<arith::ShLIOp>(op);
      uint64_t all = llvm::maskTrailingOnes<uint64_t>(bits);
      Value amount = integer(*shift);
      v = isLeft ? LLVM::ShlOp::create(b, loc, v, amount).getResult()
                 : LLVM::LShrOp::create(b, loc, v, amount).getResult();
      uint64_t kept = isLeft ? all << *shift & all : all >> *shift;
      v = LLVM::AndOp::create(b, loc, v, integer(repeated(kept, bits)));
    } else if (!isCast) {
      v = emitArith(op, args);
    }
    v = as(vector, v);
    for (unsigned e = 0; e < perWord; ++e)
      regs.push_back(LLVM::ExtractElementOp::create(b, loc, v, in.i32(int32_t(e))));
  }
  return regs;
}
