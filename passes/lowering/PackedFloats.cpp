//===- PackedFloats.cpp - conversions of floats that share a register -----===//
//
// Instructions that convert from and to 8-bit floats take two elements. bf16 are the upper halves
// of f32: the one in the upper half of a register needs only its neighbour cleared, where taking
// it out first would be an instruction more.
//
//===----------------------------------------------------------------------===//
#include "ir/Attributes.h"
#include "ir/Combiners.h"
#include "mlir/IR/Matchers.h"
#include "passes/lowering/Elementwise.h"
#include "passes/lowering/PackedElements.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

/// Whether `v`, widened, goes to extrema, is compared with what was narrow, or goes to one
/// operation that is narrowed again: LLVM takes those of the narrow numbers, two at a time.
static bool isForNarrow(Value v) {
  auto isExtremum = [](Operation *op) {
    return isa_and_nonnull<arith::MaxNumFOp, arith::MinNumFOp, arith::MaximumFOp,
                           arith::MinimumFOp>(op);
  };
  auto isNarrow = [](Value operand) {
    while (operand.getDefiningOp<SplatOp>() || operand.getDefiningOp<BroadcastOp>() ||
           operand.getDefiningOp<ExpandDimsOp>())
      operand = operand.getDefiningOp()->getOperand(0);
    return isa_and_nonnull<arith::ExtFOp, arith::ConstantOp>(operand.getDefiningOp());
  };
  return llvm::any_of(v.getUsers(), [&](Operation *user) {
    if (isa<math::AbsFOp, arith::NegFOp, ReshapeOp>(user))
      return isForNarrow(user->getResult(0));
    if (isa<arith::CmpFOp>(user))
      return llvm::all_of(user->getOperands(), isNarrow);
    if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::DivFOp>(user))
      return llvm::all_of(user->getOperands(), isNarrow) &&
             llvm::any_of(user->getUsers(), llvm::IsaPred<arith::TruncFOp>);
    auto reduce = dyn_cast<ReduceOp>(user);
    return isExtremum(user) || (reduce && isExtremum(soleCombiner(reduce.getCombineBlock())));
  });
}

/// bf16 as f32, of which they are the upper halves: two of a register take an instruction each.
std::optional<Registers> Elementwise::widenHalves(arith::ExtFOp op) {
  if (!getElementType(op.getIn().getType()).isBF16() || !getElementType(op.getType()).isF32() ||
      core.module->hasAttr(kAlgebraicAttr) || isForNarrow(op.getResult()))
    return std::nullopt;
  SmallVector<Value> words = wordsOf(core.get(op.getIn()), 2);
  if (words.empty())
    return std::nullopt;
  Location loc = in.getLoc();
  Registers regs;
  for (Value word : words) {
    Value bits = LLVM::BitcastOp::create(b, loc, b.getI32Type(), word);
    Value low = LLVM::ShlOp::create(b, loc, bits, in.i32(16));
    Value high = LLVM::AndOp::create(b, loc, bits, in.i32(int32_t(0xffff0000u)));
    for (Value half : {low, high})
      regs.push_back(LLVM::BitcastOp::create(b, loc, b.getF32Type(), half));
  }
  return regs;
}

/// The register (a vector) that a byte lies in, and where; null if it came alone.
static std::pair<Value, unsigned> byteOf(Value element) {
  auto extract = element.getDefiningOp<LLVM::ExtractElementOp>();
  APInt position;
  if (!extract || !matchPattern(extract.getPosition(), m_ConstantInt(&position)) ||
      extract.getVector().getType().getNumElements() != kWordBits / 8)
    return {};
  return {extract.getVector(), position.getZExtValue()};
}

/// The two bytes that were read at once, if they are `first` and `second`.
static Value wholePair(Value first, Value second) {
  auto low = first.getDefiningOp<LLVM::ExtractElementOp>();
  auto high = second.getDefiningOp<LLVM::ExtractElementOp>();
  bool areOfPair = low && high && low.getVector() == high.getVector() &&
                   cast<VectorType>(low.getVector().getType()).getNumElements() == 2 &&
                   matchPattern(low.getPosition(), m_Zero()) &&
                   matchPattern(high.getPosition(), m_One());
  return areOfPair ? low.getVector() : Value();
}

/// Two bytes that lie in registers as an i16, the first below; null if they came alone.
static Value halfOf(Instructions &in, Value first, Value second) {
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  if (Value pair = wholePair(first, second))
    return LLVM::BitcastOp::create(b, loc, b.getI16Type(), pair);
  auto [low, lowAt] = byteOf(first);
  auto [high, highAt] = byteOf(second);
  if (!low || !high)
    return {};
  if (low == high && lowAt % 2 == 0 && highAt == lowAt + 1) {
    Value halves = LLVM::BitcastOp::create(b, loc, VectorType::get({2}, b.getI16Type()), low);
    return LLVM::ExtractElementOp::create(b, loc, halves, in.i32(int32_t(lowAt / 2)));
  }
  Value lowWord = LLVM::BitcastOp::create(b, loc, b.getI32Type(), low);
  Value highWord = LLVM::BitcastOp::create(b, loc, b.getI32Type(), high);
  Value both = in.permuteBytes(lowWord, highWord, lowAt | (4 + highAt) << 4);
  return LLVM::TruncOp::create(b, loc, b.getI16Type(), both);
}

/// `elements`, 8-bit floats, as `to`; nothing if they came one by one.
std::optional<Registers> Elementwise::widenPairs(ArrayRef<Value> elements, bool isE4M3, Type to) {
  if (elements.size() % 2 != 0)
    return std::nullopt;
  SmallVector<Value> pairs;
  for (size_t r = 0; r < elements.size(); r += 2) {
    pairs.push_back(halfOf(in, elements[r], elements[r + 1]));
    if (!pairs.back())
      return std::nullopt;
  }
  Registers regs;
  for (Value pair : pairs) {
    auto [first, second] = in.fp8x2ToF16(pair, isE4M3);
    regs.push_back(casts.emitFpCast(first, to, Rounding::rtne));
    regs.push_back(casts.emitFpCast(second, to, Rounding::rtne));
  }
  return regs;
}

/// `elements`, an even number of reals, as 8-bit floats.
Registers Elementwise::narrowPairs(ArrayRef<Value> elements, bool isE4M3) {
  Location loc = in.getLoc();
  auto bytes = VectorType::get({2}, b.getI8Type());
  Registers regs;
  for (size_t r = 0; r < elements.size(); r += 2) {
    Value first = casts.emitFpCast(elements[r], b.getF32Type(), Rounding::rtne);
    Value second = casts.emitFpCast(elements[r + 1], b.getF32Type(), Rounding::rtne);
    Value pair = LLVM::BitcastOp::create(b, loc, bytes, in.f32x2ToFp8(first, second, isE4M3));
    for (int32_t e : {0, 1})
      regs.push_back(LLVM::ExtractElementOp::create(b, loc, pair, in.i32(e)));
  }
  return regs;
}

std::optional<Registers> Elementwise::castPairs(FpCastOp op) {
  Type from = getElementType(op.getSrc().getType()), to = getElementType(op.getType());
  const Registers &elements = core.get(op.getSrc());
  if (!in.target().has(Feature::ConvertFp8))
    return std::nullopt;
  if (elementBits(op.getSrc()) == 8) {
    if (elementBits(op.getResult()) == 8)
      return std::nullopt;
    return widenPairs(elements, isa<Float8E4M3FNType>(from), to);
  }
  // Registers that hold copies are converted once, by themselves; and there is no
  // instruction that truncates.
  bool areDistinct =
      llvm::DenseSet<Value>(elements.begin(), elements.end()).size() == elements.size();
  if (elementBits(op.getResult()) != 8 || op.getRounding() != Rounding::rtne ||
      elements.size() % 2 != 0 || !areDistinct)
    return std::nullopt;
  return narrowPairs(elements, isa<Float8E4M3FNType>(to));
}
