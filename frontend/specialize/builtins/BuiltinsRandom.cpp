//===- BuiltinsRandom.cpp - counter-based random numbers ------------------===//
//
// Philox4x (Salmon et al. 2011): four counter words are mixed with two key
// words in a number of rounds. The value at an offset depends on nothing else,
// so a block of offsets gives a block of independent numbers.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Builtins.h"
#include "frontend/specialize/MathOps.h"
#include "text/Format.h"
#include <numbers>

using namespace mlir;

namespace tile::specialize {

namespace {

using Words = std::array<Tensor, 4>;

/// The constants of one word size.
struct PhiloxConstants {
  uint64_t multiplierA, multiplierB, keyA, keyB;
};
constexpr PhiloxConstants philox32 = {0xD2511F53, 0xCD9E8D57, 0x9E3779B9, 0xBB67AE85};
constexpr PhiloxConstants philox64 = {0xD2E7470EE14C6C93, 0xCA5A826395121157, 0x9E3779B97F4A7C15,
                                      0xBB67AE8584CAA73B};

class Random {
public:
  Random(BuiltinCall &c) : c(c), s(c.s) {}

  bool philox(Tensor keyLow, Tensor keyHigh, Words &words, int64_t rounds);
  /// Splits the seed into key words of the counter's type.
  bool key(const PyValue &seed, const DType &type, Tensor &low, Tensor &high);
  /// Four words for an offset of 32 or 64 bits.
  bool wordsAt(const PyValue &seed, const PyValue &offset, int64_t rounds, Words &words);
  /// In [0, 1), from the bits of an integer.
  Tensor uniform(Tensor x);
  std::pair<Tensor, Tensor> normal(const Tensor &u1, const Tensor &u2);

private:
  Tensor op(BinaryOp o, const Tensor &a, const Tensor &b) { return s.arithmetic(o, a, b); }
  Tensor word(uint64_t value, const DType &type) {
    return s.constant(PyValue::integerUnsigned(value), type);
  }
  BuiltinCall &c;
  Specializer &s;
};

} // namespace

bool Random::philox(Tensor keyLow, Tensor keyHigh, Words &words, int64_t rounds) {
  DType type = words[0].type;
  const PhiloxConstants &k = type.bitWidth() == 64 ? philox64 : philox32;
  Tensor a = word(k.multiplierA, type), b = word(k.multiplierB, type);
  Tensor stepLow = word(k.keyA, type), stepHigh = word(k.keyB, type);
  for (int64_t round = 0; round < rounds; ++round) {
    auto [c0, c1, c2, c3] = words;
    words[0] = op(BinaryOp::Xor, op(BinaryOp::Xor, highProduct(s, b, c2), c1), keyLow);
    words[1] = op(BinaryOp::Mul, b, c2);
    words[2] = op(BinaryOp::Xor, op(BinaryOp::Xor, highProduct(s, a, c0), c3), keyHigh);
    words[3] = op(BinaryOp::Mul, a, c0);
    keyLow = op(BinaryOp::Add, keyLow, stepLow);
    keyHigh = op(BinaryOp::Add, keyHigh, stepHigh);
  }
  return llvm::all_of(words, [](const Tensor &t) { return bool(t); });
}

bool Random::key(const PyValue &seed, const DType &type, Tensor &low, Tensor &high) {
  Tensor value = s.tensor(seed, "the seed");
  if (!value)
    return false;
  if (!value.type.isInt()) {
    c.fail(formatted("the seed must be an integer, got {}", describe(seed)));
    return false;
  }
  if (type.bitWidth() == 64) {
    low = s.cast(value, type);
    high = s.intConstant(0, type, value.shape());
    return low && high;
  }
  Tensor wide = s.cast(value, Kind::UInt64);
  low = s.cast(wide, type);
  high = s.cast(op(BinaryOp::RShift, wide, s.intConstant(32, Kind::UInt64)), type);
  return low && high;
}

bool Random::wordsAt(const PyValue &seed, const PyValue &offset, int64_t rounds, Words &words) {
  Tensor value = s.tensor(offset, "the offset");
  if (!value)
    return false;
  if (!value.type.isInt()) {
    c.fail(formatted("the offset must be an integer, got {}", describe(offset)));
    return false;
  }
  DType type = Kind::UInt32;
  Tensor zero = s.intConstant(0, type, value.shape());
  Tensor upper = zero;
  if (value.type.bitWidth() == 64) {
    Tensor wide = s.cast(value, Kind::UInt64);
    upper = s.cast(op(BinaryOp::RShift, wide, s.intConstant(32, Kind::UInt64)), type);
  }
  words = {s.cast(value, type), upper, zero, zero};
  Tensor low, high;
  return key(seed, type, low, high) && philox(low, high, words, rounds);
}

Tensor Random::uniform(Tensor x) {
  bool wide = x.type.bitWidth() == 64;
  DType type = wide ? Kind::Int64 : Kind::Int32;
  x = s.bitcast(x, type);
  // Negative numbers fold onto the others: -1 - x has all bits flipped. The
  // scale is just below 2^-31 (2^-63), so that the result stays below 1.
  Tensor zero = s.intConstant(0, type, x.shape()), ones = s.intConstant(-1, type, x.shape());
  Tensor folded = s.select(s.compareSame(CompareOp::Lt, x, zero), op(BinaryOp::Xor, x, ones), x);
  Tensor scale =
      s.floatConstant(wide ? 1.0842020432385337e-19 : 4.6566127342e-10, Kind::Float32, x.shape());
  return op(BinaryOp::Mul, s.cast(folded, Kind::Float32), scale);
}

/// Box and Muller: a radius from u1, an angle from u2.
std::pair<Tensor, Tensor> Random::normal(const Tensor &u1, const Tensor &u2) {
  DType type = Kind::Float32;
  Tensor smallest = s.floatConstant(1.0e-7, type, u1.shape());
  Tensor safe = s.minMax(MinMax::Max, smallest, u1, false);
  Tensor logarithm{s.create<math::LogOp>(safe.value), type};
  Tensor square = op(BinaryOp::Mul, logarithm, s.floatConstant(-2, type, u1.shape()));
  Tensor radius{s.create<math::SqrtOp>(square.value), type};
  Tensor angle = op(BinaryOp::Mul, u2, s.floatConstant(2 * std::numbers::pi, type, u2.shape()));
  Tensor cosine{s.create<math::CosOp>(angle.value), type};
  Tensor sine{s.create<math::SinOp>(angle.value), type};
  return {op(BinaryOp::Mul, radius, cosine), op(BinaryOp::Mul, radius, sine)};
}

//===----------------------------------------------------------------------===//
// Builtins
//===----------------------------------------------------------------------===//

static PyValue tupleOf(Specializer &s, ArrayRef<Tensor> tensors) {
  std::vector<PyValue> values;
  for (const Tensor &t : tensors)
    values.push_back(s.wrap(t));
  return PyValue::tuple(std::move(values));
}

static bool randomWords(BuiltinCall &c, Random &random, Words &words) {
  std::optional<int64_t> rounds = c.integerOr(2, 10);
  if (!rounds)
    return false;
  if (*rounds < 1 || *rounds > 64) {
    c.fail(formatted("`n_rounds` must be from 1 to 64, got {}", *rounds));
    return false;
  }
  return random.wordsAt(c[0], c[1], *rounds, words);
}

/// How many of the four words a function turns into numbers, and how.
template <unsigned count> static PyValue integers(BuiltinCall &c) {
  Random random(c);
  Words words;
  if (!randomWords(c, random, words))
    return PoisonValue::get();
  return count == 1 ? c.s.wrap(words[0]) : tupleOf(c.s, words);
}

template <unsigned count> static PyValue uniforms(BuiltinCall &c) {
  Random random(c);
  Words words;
  if (!randomWords(c, random, words))
    return PoisonValue::get();
  SmallVector<Tensor, 4> numbers;
  for (unsigned i = 0; i < count; ++i)
    numbers.push_back(random.uniform(words[i]));
  return count == 1 ? c.s.wrap(numbers[0]) : tupleOf(c.s, numbers);
}

template <unsigned count> static PyValue normals(BuiltinCall &c) {
  Random random(c);
  Words words;
  if (!randomWords(c, random, words))
    return PoisonValue::get();
  auto [n1, n2] = random.normal(random.uniform(words[0]), random.uniform(words[1]));
  if (count == 1)
    return c.s.wrap(n1);
  auto [n3, n4] = random.normal(random.uniform(words[2]), random.uniform(words[3]));
  return tupleOf(c.s, {n1, n2, n3, n4});
}

static PyValue uniformOf(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  if (!x)
    return PoisonValue::get();
  if (!x.type.isInt() || x.type.bitWidth() < 32)
    return c.fail(formatted("needs 32- or 64-bit integers, got {}", describe(c[0])));
  return c.s.wrap(Random(c).uniform(x));
}

static PyValue normalPair(BuiltinCall &c) {
  Tensor u1 = c.tensor(0), u2 = c.tensor(1);
  if (!u1 || !u2 || !c.s.broadcast({&u1, &u2}))
    return PoisonValue::get();
  if (u1.type.kind() != Kind::Float32 || u2.type.kind() != Kind::Float32)
    return c.fail(formatted("needs fp32, got {} and {}", describe(c[0]), describe(c[1])));
  auto [a, b] = Random(c).normal(u1, u2);
  return tupleOf(c.s, {a, b});
}

/// The counters as unsigned words of one size and shape; 64-bit ones make the
/// 64-bit generator.
static bool counters(BuiltinCall &c, unsigned first, Words &words) {
  bool wide = false;
  for (unsigned i = 0; i < 4; ++i) {
    words[i] = c.tensor(first + i);
    if (!words[i])
      return false;
    if (!words[i].type.isInt()) {
      c.fail(formatted("the counters must be integers, got {}", describe(c[first + i])));
      return false;
    }
    wide |= i == 0 && words[i].type.bitWidth() == 64;
  }
  for (Tensor &t : words)
    t = c.s.cast(t, wide ? Kind::UInt64 : Kind::UInt32);
  return c.s.broadcast({&words[0], &words[1], &words[2], &words[3]});
}

static PyValue philox(BuiltinCall &c) {
  Random random(c);
  Words words;
  Tensor low, high;
  std::optional<int64_t> rounds = c.integerOr(5, 10);
  if (!rounds || !counters(c, 1, words) || !random.key(c[0], words[0].type, low, high) ||
      !random.philox(low, high, words, *rounds))
    return PoisonValue::get();
  return tupleOf(c.s, words);
}

static PyValue philoxWithKey(BuiltinCall &c) {
  Random random(c);
  Words words;
  std::optional<int64_t> rounds = c.integerOr(6, 10);
  if (!rounds || !counters(c, 0, words))
    return PoisonValue::get();
  Tensor low = c.s.cast(c.tensor(4), words[0].type), high = c.s.cast(c.tensor(5), words[0].type);
  if (!low || !high || !random.philox(low, high, words, *rounds))
    return PoisonValue::get();
  return tupleOf(c.s, words);
}

void addRandomBuiltins(BuiltinTable &t) {
  constexpr const char *parameters = "seed, offset, n_rounds=";
  t.add("tl.randint", parameters, integers<1>);
  t.add("tl.randint4x", parameters, integers<4>);
  t.add("tl.rand", parameters, uniforms<1>);
  t.add("tl.rand4x", "seed, offsets, n_rounds=", uniforms<4>);
  t.add("tl.randn", parameters, normals<1>);
  t.add("tl.randn4x", parameters, normals<4>);
  t.add("tl.uint_to_uniform_float", "x", uniformOf);
  t.add("tl.uint32_to_uniform_float", "x", uniformOf);
  t.add("tl.pair_uniform_to_normal", "u1, u2", normalPair);
  t.add("tl.philox", "seed, c0, c1, c2, c3, n_rounds=", philox);
  t.add("tl.philox_impl", "c0, c1, c2, c3, k0, k1, n_rounds=", philoxWithKey);
}

} // namespace tile::specialize
