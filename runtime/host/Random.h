//===- Random.h - reproducible random numbers -----------------------------===//
//
// Element i of a random tensor is a hash of (seed, i): every run on every
// machine sees the same numbers, and large tensors are filled by all cores.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_RANDOM_H
#define TILE_RUNTIME_HOST_RANDOM_H

#include <cstdint>

namespace tile::host {

uint64_t randomBits(uint64_t seed, uint64_t index);
/// In [0, 1), a multiple of 2^-24, so that fp32 holds it exactly.
double randomUniform(uint64_t seed, uint64_t index);
double randomNormal(uint64_t seed, uint64_t index);

/// Philox 4x32 with ten rounds, as `tl.philox` computes it: the four words.
struct PhiloxWords {
  uint32_t word[4];
};
PhiloxWords philox(uint64_t seed, uint64_t counter);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_RANDOM_H
