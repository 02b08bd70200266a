//===- HostFunctions.h - random host functions ------------------------------===//
#ifndef TILE_TESTS_FUZZ_HOSTFUNCTIONS_H
#define TILE_TESTS_FUZZ_HOSTFUNCTIONS_H

#include <cstdint>
#include <string>

namespace tile::fuzz {

/// A test of random views, indices, reductions, casts, products and launches,
/// with numbers from zero to beyond 64 bits. Most of its statements are refused.
std::string hostProgram(uint64_t seed);

/// Runs the tests of a file on the interpreter, with little memory and few steps.
/// Returns what must not happen whatever the file says, in one line, or nothing.
std::string runHostFunctions(const std::string &text);

} // namespace tile::fuzz

#endif // TILE_TESTS_FUZZ_HOSTFUNCTIONS_H
