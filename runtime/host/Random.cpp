//===- Random.cpp - reproducible random numbers ---------------------------===//
#include "runtime/host/Random.h"
#include <cmath>
#include <numbers>

namespace tile::host {

/// Two rounds of multiply and fold (the finaliser of SplitMix64).
static uint64_t mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

uint64_t randomBits(uint64_t seed, uint64_t index) {
  return mix(mix(seed + 0x9e3779b97f4a7c15u) + index * 0x9e3779b97f4a7c15u);
}

double randomUniform(uint64_t seed, uint64_t index) {
  return double(randomBits(seed, index) >> 40) * 0x1p-24;
}

/// Box-Muller; the radius comes from (0, 1], so the logarithm is finite.
double randomNormal(uint64_t seed, uint64_t index) {
  uint64_t bits = randomBits(seed, index);
  double u = (double(bits >> 32) + 1) * 0x1p-32, v = double(bits & 0xffffffffu) * 0x1p-32;
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * v);
}

PhiloxWords philox(uint64_t seed, uint64_t counter) {
  uint32_t c[4] = {uint32_t(counter), uint32_t(counter >> 32), 0, 0};
  uint32_t k[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    uint64_t a = uint64_t(0xD2511F53u) * c[0], b = uint64_t(0xCD9E8D57u) * c[2];
    uint32_t next[4] = {uint32_t(b >> 32) ^ c[1] ^ k[0], uint32_t(b),
                        uint32_t(a >> 32) ^ c[3] ^ k[1], uint32_t(a)};
    for (int i = 0; i < 4; ++i)
      c[i] = next[i];
    k[0] += 0x9E3779B9u;
    k[1] += 0xBB67AE85u;
  }
  return {{c[0], c[1], c[2], c[3]}};
}

} // namespace tile::host
