//===- PackedBytes.cpp - words of bytes that lie in other words -----------===//
//
// LLVM takes a byte out of its register and puts it into another one, in two instructions or
// three. One `prmt` takes four bytes out of two registers; where bytes change places with those of
// other registers, halves that two results have in common are made once.
//
//===----------------------------------------------------------------------===//
#include "mlir/IR/Matchers.h"
#include "passes/lowering/instructions/Instructions.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

namespace {
/// Bytes of a register, by their numbers.
struct Byte {
  Value word; ///< 16 or 32 bits
  unsigned at;
  unsigned bits() const { return word.getType().getIntOrFloatBitWidth(); }
};
struct Half {
  Value word; ///< 32 bits
  unsigned first, second;
};
} // namespace

/// Where a byte lies; null if it came alone.
static Byte locate(OpBuilder &b, Location loc, Value element) {
  auto extract = element.getDefiningOp<LLVM::ExtractElementOp>();
  APInt position;
  if (!extract || !element.getType().isInteger(8) ||
      !matchPattern(extract.getPosition(), m_ConstantInt(&position)))
    return {};
  Value vector = extract.getVector();
  int64_t bytes = cast<VectorType>(vector.getType()).getNumElements();
  if (bytes != 2 && bytes != 4)
    return {};
  auto cast = vector.getDefiningOp<LLVM::BitcastOp>();
  if (cast && cast.getArg().getType().isInteger())
    return {cast.getArg(), unsigned(position.getZExtValue())};
  Value word = LLVM::BitcastOp::create(b, loc, b.getIntegerType(unsigned(bytes) * 8), vector);
  return {word, unsigned(position.getZExtValue())};
}

Value Instructions::joinBytes(ValueRange elements) {
  auto wide = [&](Value word) -> Value {
    return word.getType().isInteger(32)
               ? word
               : LLVM::ZExtOp::create(b, *loc, b.getI32Type(), word).getResult();
  };
  auto half = [&](Byte x, Byte y) -> Half {
    if (x.word == y.word)
      return {wide(x.word), x.at, y.at};
    // Both halves of both, as another result has the others.
    if (x.bits() == 16 && y.bits() == 16)
      return {permuteBytes(wide(x.word), wide(y.word), 0x5410), x.at, 2 + y.at};
    if (x.at == y.at)
      return {permuteBytes(wide(x.word), wide(y.word), x.at < 2 ? 0x5140 : 0x7362), x.at % 2 * 2,
              x.at % 2 * 2 + 1};
    return {permuteBytes(wide(x.word), wide(y.word), x.at | (4 + y.at) << 4), 0, 1};
  };
  SmallVector<Byte, 4> bytes;
  SmallVector<Value, 4> words;
  for (Value e : elements) {
    bytes.push_back(locate(b, *loc, e));
    if (!bytes.back().word)
      return {};
    if (!llvm::is_contained(words, bytes.back().word))
      words.push_back(bytes.back().word);
  }
  bool inOrder = llvm::all_of(llvm::enumerate(bytes), [](auto it) {
    return it.value().at == it.index() % (it.value().bits() / 8);
  });
  // A word as it is, or two instructions' results side by side, of which the second joins them.
  if (inOrder && words.size() * words.front().getType().getIntOrFloatBitWidth() == 32)
    return words.size() == 1 ? words.front() : Value();
  if (words.size() <= 2) {
    uint32_t selector = 0;
    for (auto [i, byte] : llvm::enumerate(bytes))
      selector |= (byte.at + (byte.word == words.front() ? 0 : 4)) << 4 * i;
    return permuteBytes(wide(words.front()), wide(words.back()), selector);
  }
  Half low = half(bytes[0], bytes[1]), high = half(bytes[2], bytes[3]);
  return permuteBytes(low.word, high.word,
                      low.first | low.second << 4 | (4 + high.first) << 8 |
                          (4 + high.second) << 12);
}
