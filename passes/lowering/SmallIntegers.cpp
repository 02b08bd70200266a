//===- SmallIntegers.cpp - integers as the digits of short floats ---------===//
//
// The last bit of a 16-bit float from 2^d on, where d digits follow the first, is a one: written to
// these digits, an integer below 2^d is that power and itself, and the power is subtracted again,
// without rounding. That is one operation for two elements, where a conversion of its own is slower
// than other arithmetic and leaves one element.
//
//   x in [0, 2^10)  =>  f16 of bits 0x6400 | x, which is 1024 + x, less 1024
//   x in [0, 2^7)   =>  bf16 of bits 0x4300 | x, which is 128 + x, less 128
//   x in [-2^9, 2^9)  =>  the first of x + 512: of its ten digits the highest is turned
//   bytes in [-128, 128)  =>  the first of x + 128, whose bits are those of x but for the highest
//
// A constant that was added last, to what is not below zero, is taken from the power: (x - 8) is
// 1024 + x, less 1032.
//
// Bytes that lie side by side in a register go to the lower halves of the floats by one operation,
// too, which writes the upper halves.
//
// f32 has 23 digits: any 8 or 16 bits become one by a permutation, which takes them out of their
// register besides, and a subtraction. Conversions of less than 32 bits are a quarter as fast as
// either. Bytes as bf16, which has a digit too few for all of them, are the upper halves of those.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Intervals.h"
#include "passes/lowering/Elementwise.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

namespace {
struct Digits {
  unsigned count; ///< below which integers are written
  uint32_t bits;  ///< of two to that power
  float value;
};
} // namespace

static std::optional<Digits> digitsOf(Type type, const Target &target) {
  if (type.isF16())
    return Digits{10, 0x6400, 1024.0f};
  if (type.isBF16() && target.has(Feature::Bf16Arithmetic))
    return Digits{7, 0x4300, 128.0f};
  return std::nullopt;
}

/// `x` and the bits of it that count, of which it is known to have the lowest alone.
static std::pair<Value, uint32_t> masked(Value x) {
  APInt mask;
  auto cut = x.getDefiningOp<LLVM::AndOp>();
  if (cut && x.getType().isInteger(32) && matchPattern(cut.getRhs(), m_ConstantInt(&mask)))
    return {cut.getLhs(), uint32_t(mask.getZExtValue() & 0xffff)};
  return {x, 0xffff};
}

/// Both in one word; they are cut off there, at once.
static Value paired(Instructions &in, Value x, Value y) {
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  auto [low, lowMask] = masked(x);
  auto [high, highMask] = masked(y);
  auto word = [&](Value v) {
    Type type = b.getI32Type();
    return v.getType() == type ? v : LLVM::ZExtOp::create(b, loc, type, v).getResult();
  };
  Value both = in.permuteBytes(word(low), word(high), 0x5410);
  uint32_t mask = highMask << 16 | lowMask;
  return mask == ~0u ? both : LLVM::AndOp::create(b, loc, both, in.i32(int32_t(mask))).getResult();
}

/// Two neighbours of a register's bytes: the register, and which they are.
static std::optional<std::pair<Value, uint32_t>> neighbours(Instructions &in, Value x, Value y) {
  auto low = x.getDefiningOp<LLVM::ExtractElementOp>();
  auto high = y.getDefiningOp<LLVM::ExtractElementOp>();
  APInt first, second;
  if (!low || !high || low.getVector() != high.getVector() || !x.getType().isInteger(8) ||
      !matchPattern(low.getPosition(), m_ConstantInt(&first)) ||
      !matchPattern(high.getPosition(), m_ConstantInt(&second)))
    return std::nullopt;
  unsigned count = unsigned(cast<VectorType>(low.getVector().getType()).getNumElements());
  if (count != 2 && count != 4)
    return std::nullopt;
  OpBuilder &b = in.builder();
  Value word =
      LLVM::BitcastOp::create(b, in.getLoc(), b.getIntegerType(8 * count), low.getVector());
  if (count == 2)
    word = LLVM::ZExtOp::create(b, in.getLoc(), b.getI32Type(), word);
  return std::pair(word, uint32_t(second.getZExtValue() << 8 | first.getZExtValue()));
}

/// The same of integers of both signs, each of two to the power, a half of that, and the element.
static Value digitsOfSigned(Instructions &in, Value x, Value y, const Digits &digits) {
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  auto word = [&](Value v) {
    Type type = b.getI32Type();
    return v.getType() == type ? v : LLVM::ZExtOp::create(b, loc, type, v).getResult();
  };
  auto twice = [&](uint32_t half) { return in.i32(int32_t(half << 16 | half)); };
  if (auto bytes = neighbours(in, x, y); bytes && digits.count < 8) {
    auto four = [&](uint32_t byte) { return in.i32(int32_t(byte * 0x01010101u)); };
    Value kept = LLVM::AndOp::create(b, loc, bytes->first, four((1u << digits.count) - 1));
    kept = LLVM::XOrOp::create(b, loc, kept, four(1u << (digits.count - 1)));
    return in.permuteBytes(kept, four(digits.bits >> 8), bytes->second | 0x4040);
  }
  Value both = in.permuteBytes(word(x), word(y), 0x5410);
  both = LLVM::AndOp::create(b, loc, both, twice((1u << digits.count) - 1));
  return LLVM::XOrOp::create(b, loc, both, twice(digits.bits | 1u << (digits.count - 1)));
}

/// The bits of both floats, each of two to the power and what the element adds.
static Value digitsOfPair(Instructions &in, Value x, Value y, const Digits &digits, bool isSigned) {
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  auto turned = [&](Value word, uint32_t highest) {
    return isSigned ? LLVM::XOrOp::create(b, loc, word, in.i32(int32_t(highest))).getResult()
                    : word;
  };
  if (auto bytes = neighbours(in, x, y)) {
    // Bytes 4 to 7 are those of the second operand, all alike.
    uint32_t chosen = (bytes->second & 0xf) | 0x40 | (bytes->second & 0xf00) | 0x4000;
    Value upper = in.i32(int32_t((digits.bits >> 8) * 0x01010101u));
    return in.permuteBytes(turned(bytes->first, 0x80808080u), upper, chosen);
  }
  Value both = turned(paired(in, x, y), 0x00800080u);
  return LLVM::OrOp::create(b, loc, both, in.i32(int32_t(digits.bits << 16 | digits.bits)));
}

/// `x`, of 8 or 16 bits, as f32: exactly.
static Value digitsOfWord(Instructions &in, Value x, bool isSigned) {
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  unsigned bytes = x.getType().getIntOrFloatBitWidth() / 8;
  uint32_t at = 0; // byte of the word where it starts
  Value word;
  APInt position;
  auto element = x.getDefiningOp<LLVM::ExtractElementOp>();
  auto vector = element ? dyn_cast<VectorType>(element.getVector().getType()) : VectorType();
  unsigned size = vector ? unsigned(vector.getNumElements()) * bytes : 0;
  if ((size == 2 || size == 4) && matchPattern(element.getPosition(), m_ConstantInt(&position))) {
    word = LLVM::BitcastOp::create(b, loc, b.getIntegerType(8 * size), element.getVector());
    at = uint32_t(position.getZExtValue()) * bytes;
  } else {
    word = x;
  }
  if (word.getType() != b.getI32Type())
    word = LLVM::ZExtOp::create(b, loc, b.getI32Type(), word);
  int32_t highest = int32_t(bytes == 1 ? 0x80808080u : 0x80008000u);
  if (isSigned)
    word = LLVM::XOrOp::create(b, loc, word, in.i32(highest));
  // Bytes 4 to 7 are those of 2^23.
  uint32_t chosen = bytes == 1 ? 0x7440 | at : 0x7400 | (at + 1) << 4 | at;
  Value digits = in.permuteBytes(word, in.i32(0x4b000000), chosen);
  float power = float(1 << 23) + (isSigned ? float(1 << (8 * bytes - 1)) : 0.0f);
  return LLVM::FSubOp::create(b, loc, LLVM::BitcastOp::create(b, loc, b.getF32Type(), digits),
                              in.constant(b.getF32Type(), b.getF32FloatAttr(power)));
}

/// Elements of 8 or 16 bits as f32, or bytes as bf16; nothing for other types.
static std::optional<Registers> writeWords(Instructions &in, ArrayRef<Value> elements,
                                           unsigned bits, Type to, bool isSigned) {
  bool isHalf = to.isBF16() && bits == 8 && elements.size() % 2 == 0;
  if (!isHalf && !(to.isF32() && (bits == 8 || bits == 16)))
    return std::nullopt;
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  Registers regs;
  for (Value x : elements)
    regs.push_back(digitsOfWord(in, x, isSigned));
  if (!isHalf)
    return regs;
  for (size_t r = 0; r < regs.size(); r += 2) {
    auto bitsOf = [&](Value f) { return LLVM::BitcastOp::create(b, loc, b.getI32Type(), f); };
    Value both = in.permuteBytes(bitsOf(regs[r]), bitsOf(regs[r + 1]), 0x7632);
    both = LLVM::BitcastOp::create(b, loc, VectorType::get({2}, to), both);
    for (int32_t e : {0, 1})
      regs[r + e] = LLVM::ExtractElementOp::create(b, loc, both, in.i32(e));
  }
  return regs;
}

namespace {
/// What a conversion takes, but for a constant that was added to it last.
struct Moved {
  Value source;
  int64_t by = 0;
};
} // namespace

/// Only of what is not below zero, nor wraps.
static Moved withoutConstant(Operation *conversion) {
  Moved all{conversion->getOperand(0)};
  Operation *op = all.source.getDefiningOp();
  APInt constant;
  unsigned bits = bitsOf(all.source);
  if (bits > 32 || !isa<arith::SIToFPOp>(conversion) ||
      !isa_and_nonnull<arith::AddIOp, arith::SubIOp>(op) ||
      !matchPattern(op->getOperand(1), m_ConstantInt(&constant)))
    return all;
  int64_t by = isa<arith::SubIOp>(op) ? -constant.getSExtValue() : constant.getSExtValue();
  Intervals intervals;
  Interval before = intervals.of(op->getOperand(0));
  bool mayWrap = before.low < 0 || !Interval{before.low + by, before.high + by}.within(bits);
  return mayWrap ? all : Moved{op->getOperand(0), by};
}

/// What the elements of a conversion may be; bytes that nothing is known of are any.
static Interval rangeOf(Operation *conversion, Value source) {
  Interval range = Intervals().of(source);
  bool isByte = bitsOf(source) == 8;
  return isByte && range.low < 0 && isa<arith::UIToFPOp>(conversion) ? Interval{0, 255} : range;
}

/// Pairs of elements whose values are known to fit in the digits; nothing for others.
static std::optional<Registers> writePairs(Instructions &in, Operation *op, const Moved &moved,
                                           ArrayRef<Value> elements, Type to) {
  unsigned bits = bitsOf(moved.source);
  std::optional<Digits> digits = digitsOf(to, in.target());
  if (!digits || elements.size() % 2 != 0 || bits > 32)
    return std::nullopt;
  Interval range = rangeOf(op, moved.source);
  constexpr int64_t kHighest = 128; // bit of a byte
  int64_t limit = int64_t(1) << digits->count;
  // As bytes if they are below the power with their highest bit turned.
  bool isSigned = range.low < 0;
  bool isByte = isSigned && bits == 8 && range.high + kHighest < limit;
  if (isSigned && !isByte ? range.low < -limit / 2 || range.high >= limit / 2
                          : !isByte && range.high >= limit)
    return std::nullopt;
  // Below twice the power, integers are floats of this type.
  if (std::abs(moved.by) >= limit)
    return std::nullopt;
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  Type pair = VectorType::get({2}, to);
  float known = digits->value - float(moved.by) +
                (isByte     ? float(kHighest)
                 : isSigned ? float(limit) / 2
                            : 0.0f);
  Value power =
      in.constant(pair, DenseElementsAttr::get(cast<ShapedType>(pair), b.getFloatAttr(to, known)));
  Registers regs;
  for (size_t r = 0; r < elements.size(); r += 2) {
    Value both = isSigned && !isByte
                     ? digitsOfSigned(in, elements[r], elements[r + 1], *digits)
                     : digitsOfPair(in, elements[r], elements[r + 1], *digits, isByte);
    both = LLVM::FSubOp::create(b, loc, LLVM::BitcastOp::create(b, loc, pair, both), power);
    for (int32_t e : {0, 1})
      regs.push_back(LLVM::ExtractElementOp::create(b, loc, both, in.i32(e)));
  }
  return regs;
}

std::optional<Registers> Elementwise::writeDigits(Operation *op) {
  if (!isa<arith::SIToFPOp, arith::UIToFPOp>(op) || core.module->hasAttr(kAlgebraicAttr))
    return std::nullopt;
  Value source = op->getOperand(0);
  Type to = getElementType(op->getResult(0).getType());
  const Registers &elements = core.get(source);
  unsigned bits = bitsOf(source);
  if (Moved moved = withoutConstant(op); moved.by != 0)
    if (auto pairs = writePairs(in, op, moved, core.get(moved.source), to))
      return pairs;
  if (auto pairs = writePairs(in, op, {source}, elements, to))
    return pairs;
  return writeWords(in, elements, bits, to, isa<arith::SIToFPOp>(op));
}
