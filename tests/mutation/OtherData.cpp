//===- OtherData.cpp - a launch's memory with other numbers in it ----------===//
#include "tests/mutation/OtherData.h"
#include <cstring>
#include <random>

using namespace tile::mutation;

template <typename T, typename Change>
static void change(std::vector<uint8_t> &bytes, Change change) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
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
    else
      scatter<uint16_t>(bytes, (1u << 10) - 1, random); // of fp16 the fraction
  }
  return other;
}
