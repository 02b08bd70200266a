//===- RandomTensors.cpp - functions that make random tensors -------------===//
//
// For tests: numbers by seed and position (Random.h), values that break kernels, and what the
// generator of kernels gives.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Filled.h"
#include "runtime/host/Functions.h"
#include "runtime/host/Random.h"
#include "text/Format.h"
#include <cmath>
#include <numbers>
#include <numeric>

using namespace tile;
using namespace tile::host;
using eval::ArgReader;
using eval::fail;
using llvm::ArrayRef;

/// The given seed, or the number of random tensors made so far.
static uint64_t readSeed(const ContextPtr &context, const PyValue &value) {
  uint64_t next = context->randomTensors++;
  return value.isNone() ? next : uint64_t(value.toInt64().value_or(0));
}

namespace {
/// The first three arguments of what makes random tensors.
struct RandomTensor : NewTensor {
  uint64_t seed = 0;

  std::unique_ptr<eval::EvalError> read(const ContextPtr &context, ArgReader &r) {
    if (auto error = NewTensor::read(r))
      return error;
    seed = readSeed(context, r.get(2));
    return nullptr;
  }
};
} // namespace

/// Random numbers by position, where anybody looks at them.
template <typename Fn>
static Result filledAtRandom(const ContextPtr &context, const DType &type, const Shape &shape,
                             Fn bits) {
  constexpr int64_t large = 1 << 20;
  if (context->skipsLargeRandom && numElements(shape) > large)
    return Tensor::create(context, type, shape);
  return filled(context, type, shape, bits);
}

static Result rand(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("rand", args, {"shape", "dtype", "seed"}, 1);
  RandomTensor made;
  if (auto error = made.read(context, r))
    return error;
  return filledAtRandom(context, made.type, made.shape,
                        [&](int64_t i) { return encode(made.type, randomUniform(made.seed, i)); });
}

static Result randn(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("randn", args, {"shape", "dtype", "seed", "mean", "std"}, 1);
  RandomTensor made;
  if (auto error = made.read(context, r))
    return error;
  double mean = r.get(3).toDouble().value_or(0), deviation = r.get(4).toDouble().value_or(1);
  return filledAtRandom(context, made.type, made.shape, [&](int64_t i) {
    return encode(made.type, mean + deviation * randomNormal(made.seed, i));
  });
}

static Result randint(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("randint", args, {"low", "high", "shape", "dtype", "seed"}, 3);
  if (!r)
    return r.error();
  std::optional<int64_t> low = r[0].toInt64(), high = r[1].toInt64();
  if (!low || !high || *low >= *high)
    return fail(formatted("`randint` needs integers low < high, got {} and {}", eval::repr(r[0]),
                          eval::repr(r[1])),
                "ValueError");
  Shape shape;
  DType type;
  if (auto error = readShapeAndType(r[2], r.get(3), DType::Kind::Int32, shape, type))
    return error;
  if (r.get(3).isNone() && (*low != int32_t(*low) || *high - 1 != int32_t(*high - 1)))
    return fail(formatted("`randint` makes `int32`, which cannot hold what is from {} to {}: give "
                          "it `dtype=tl.int64`",
                          *low, *high - 1),
                "ValueError");
  uint64_t seed = readSeed(context, r.get(4)), span = uint64_t(*high) - uint64_t(*low);
  return filled(context, type, shape, [&](int64_t i) {
    // Of all 64-bit integers: what is added may be more than one of them can hold.
    int64_t value = int64_t(uint64_t(*low) + randomBits(seed, i) % span);
    return type.isFloating() ? encodeFloat(type.kind(), double(value)) : encodeInt(type, value);
  });
}

static Result randperm(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("randperm", args, {"n", "dtype", "seed"}, 1);
  if (!r)
    return r.error();
  Shape shape;
  DType type;
  if (auto error = readShapeAndType(r[0], r.get(1), DType::Kind::Int32, shape, type))
    return error;
  if (shape.size() != 1)
    return fail("`randperm` needs a number of elements");
  uint64_t seed = readSeed(context, r.get(2));
  Array order;
  if (auto error = Array::make(context->memory, Array::Kind::Int, shape, order))
    return error;
  std::iota(order.ints.begin(), order.ints.end(), 0);
  for (int64_t i = shape[0]; i-- > 1;)
    std::swap(order.ints[i], order.ints[randomBits(seed, i) % (i + 1)]);
  return filled(context, type, shape,
                [&](int64_t i) { return encode(type, double(order.ints[i])); });
}

/// The values that break kernels, by type.
static std::vector<uint64_t> awkwardBits(const DType &type, bool nan, bool inf) {
  std::vector<uint64_t> bits;
  if (type.isInt()) {
    unsigned width = type.bitWidth();
    uint64_t ones = ~uint64_t(0) >> (64 - width);
    bits = {0, 1, ones};
    if (type.isSigned()) {
      bits.push_back(ones >> 1);       // the largest
      bits.push_back((ones >> 1) + 1); // the smallest
    }
    return bits;
  }
  double largest = largestFinite(type.kind()), smallest = smallestPositive(type.kind());
  std::vector<double> values = {0.0,      -0.0,     1,         -1,          largest,
                                -largest, smallest, -smallest, smallest * 3};
  if (nan)
    values.push_back(std::nan(""));
  if (inf && hasInfinity(type.kind()))
    values.insert(values.end(), {HUGE_VAL, -HUGE_VAL});
  for (double value : values) {
    if (!std::isinf(value)) {
      bits.push_back(encodeFloat(type.kind(), value));
    } else {
      // 8-bit formats saturate when rounding: take the pattern above the largest.
      uint64_t sign = encodeFloat(type.kind(), std::copysign(largest, value));
      bits.push_back(sign + 1);
    }
  }
  return bits;
}

/// Every eighth element, on average, is an awkward value.
static Result special(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("special", args, {"shape", "dtype", "seed", "nan", "inf"}, 1);
  RandomTensor made;
  if (auto error = made.read(context, r))
    return error;
  Result nan = r.has(3) ? eval::truth(r[3]) : PyValue::boolean(true);
  Result inf = r.has(4) ? eval::truth(r[4]) : PyValue::boolean(true);
  if (!nan || !inf)
    return nan ? std::move(inf) : std::move(nan);
  std::vector<uint64_t> awkward = awkwardBits(made.type, nan->asBool(), inf->asBool());
  return filled(context, made.type, made.shape, [&](int64_t i) {
    uint64_t bits = randomBits(~made.seed, i);
    if (bits % 8 == 0)
      return awkward[(bits >> 8) % awkward.size()];
    return made.type.isFloating() ? encode(made.type, randomNormal(made.seed, i))
                                  : encodeInt(made.type, int64_t(bits >> 8));
  });
}

//===----------------------------------------------------------------------===//
// The generator of kernels
//===----------------------------------------------------------------------===//

enum class Philox { Integers, Uniform, Normal };

/// A word as a number in [0, 1), in fp32 as kernels compute it.
static float uniformFloat(uint32_t word) {
  int32_t value = int32_t(word);
  return float(value < 0 ? -value - 1 : value) * 4.6566127342e-10f;
}

template <Philox what> static Result philoxOf(const ContextPtr &context, const CallArgs &args) {
  ArgReader r("philox", args, {"seed", "offsets"}, 2);
  if (!r)
    return r.error();
  Array offsets;
  if (auto error = toArray(r[1], offsets))
    return error;
  std::optional<int64_t> seed = r[0].toInt64();
  if (!seed || offsets.isFloat())
    return fail("`philox` needs an integer seed and integer offsets");
  Array out = offsets.zerosLike(what == Philox::Integers ? Array::Kind::Int : Array::Kind::Float);
  for (int64_t i = 0; i < offsets.size(); ++i) {
    PhiloxWords words = philox(*seed, offsets.ints[i]);
    if (what == Philox::Integers) {
      out.ints[i] = words.word[0];
      continue;
    }
    double u = uniformFloat(words.word[0]);
    if (what == Philox::Normal)
      u = std::sqrt(-2 * std::log(std::max(u, 1e-7))) *
          std::cos(2 * std::numbers::pi * double(uniformFloat(words.word[1])));
    out.reals[i] = u;
  }
  return Tensor::value(context, out);
}

namespace tile::host {

ArrayRef<FunctionEntry> randomFunctions() {
  static const FunctionEntry table[] = {
      {"rand", rand, false},
      {"randn", randn, false},
      {"randint", randint, false},
      {"randperm", randperm, false},
      {"special", special, false},
      {"philox", philoxOf<Philox::Integers>, false},
      {"philox_rand", philoxOf<Philox::Uniform>, false},
      {"philox_randn", philoxOf<Philox::Normal>, false},
  };
  return table;
}

} // namespace tile::host
