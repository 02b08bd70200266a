//===- OtherData.cpp - a launch's memory with other numbers in it ----------===//
#include "tests/mutation/OtherData.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cstring>
#include <random>

using namespace tile::mutation;

template <typename T, typename Change>
static void change(std::vector<uint8_t> &bytes, Change change) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  if (numbers.empty())
    return;
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  change(numbers);
  std::memcpy(bytes.data(), numbers.data(), numbers.size() * sizeof(T));
}

/// Another order. (std::shuffle differs from library to library.)
template <typename T>
static void mixUp(std::vector<uint8_t> &bytes, bool signs, std::mt19937_64 &random) {
  change<T>(bytes, [&](std::vector<T> &numbers) {
    for (size_t n = numbers.size(); n > 1; --n)
      std::swap(numbers[n - 1], numbers[random() % n]);
    if (signs)
      for (T &number : numbers)
        number ^= T(T(random() & 1) << (8 * sizeof(T) - 1));
  });
}

template <typename T>
static void scatter(std::vector<uint8_t> &bytes, T bits, std::mt19937_64 &random) {
  change<T>(bytes, [&](std::vector<T> &numbers) {
    for (T &number : numbers)
      number ^= T(random()) & bits;
  });
}

/// Numbers of very different sizes, of floats with so many bits and so many of them in the
/// fraction. Zeros stay, and so does what is small as an integer, and what is not finite.
template <typename T>
static void stretch(std::vector<uint8_t> &bytes, unsigned fraction, std::mt19937_64 &random) {
  constexpr unsigned width = 8 * sizeof(T);
  T exponent = T((T(1) << (width - 1)) - (T(1) << fraction)), most = exponent >> fraction;
  T span = std::min<T>(most / 2 - 1, 24), least = T(most / 2 - span + 1);
  change<T>(bytes, [&](std::vector<T> &numbers) {
    for (T &number : numbers)
      if (T drawn = T(least + random() % (2 * span)); number & exponent && (~number & exponent))
        number = T((number & ~exponent) | T(drawn << fraction));
  });
}

Image tile::mutation::withOtherData(const Image &image, unsigned kind, uint64_t seed) {
  std::mt19937_64 random(seed * kOtherData + kind);
  Image other = image;
  for (std::vector<uint8_t> &bytes : other) {
    if (kind == 0)
      mixUp<uint64_t>(bytes, false, random);
    else if (kind == 1 || kind == 2)
      mixUp<uint32_t>(bytes, kind == 2, random);
    else if (kind == 3)
      mixUp<uint16_t>(bytes, true, random);
    else if (kind == 4)
      scatter<uint32_t>(bytes, (1u << 23) - 1, random); // of fp32 the fraction
    else if (kind == 5)
      scatter<uint16_t>(bytes, (1u << 10) - 1, random); // of fp16 the fraction
    else if (kind == 6)
      stretch<uint32_t>(bytes, 23, random);
    else
      stretch<uint16_t>(bytes, 10, random);
  }
  return other;
}

/// Of a float with so many bits, and so many of them in its fraction.
static bool isNaNOrInfinity(uint32_t bits, unsigned width, unsigned fraction) {
  uint32_t exponent = (1u << (width - 1)) - (1u << fraction);
  return (bits & exponent) == exponent;
}

static bool isNaN(uint32_t bits, unsigned width, unsigned fraction) {
  return isNaNOrInfinity(bits, width, fraction) && (bits & ((1u << fraction) - 1)) != 0;
}

static bool areNaNs(uint32_t a, uint32_t b) {
  // The upper half of an infinity of fp32 would be a NaN of fp16.
  if (isNaNOrInfinity(a, 32, 23) && isNaNOrInfinity(b, 32, 23))
    return isNaN(a, 32, 23) && isNaN(b, 32, 23);
  return llvm::all_of(llvm::ArrayRef<unsigned>{0, 16}, [&](unsigned shift) {
    uint16_t left = a >> shift, right = b >> shift;
    return left == right || (isNaN(left, 16, 10) && isNaN(right, 16, 10)) ||
           (isNaN(left, 16, 7) && isNaN(right, 16, 7));
  });
}

std::string tile::mutation::differenceOf(const Image &is, const Image &was, NaNs nans) {
  for (auto [range, pair] : llvm::enumerate(llvm::zip_equal(is, was))) {
    const auto &[a, b] = pair;
    for (size_t at = 0; at < a.size(); at += 4) {
      uint32_t left = 0, right = 0;
      size_t bytes = std::min<size_t>(4, a.size() - at);
      std::memcpy(&left, &a[at], bytes);
      std::memcpy(&right, &b[at], bytes);
      if (left != right && !(nans == NaNs::AllTheSame && areNaNs(left, right)))
        return llvm::formatv("{0:x} for {1:x} at byte {2} of range {3}", left, right, at, range);
    }
  }
  return "";
}
