//===- Snippets.h - random statements in Python's grammar ------------------===//
#ifndef TILE_TESTS_FUZZ_SNIPPETS_H
#define TILE_TESTS_FUZZ_SNIPPETS_H

#include <random>
#include <string>

namespace tile::fuzz {

/// Statements of any kind that Python has, among them what kernels may not
/// contain, each line behind `indent`.
std::string randomStatements(std::mt19937_64 &random, const std::string &indent);

/// An expression of any kind, at most `depth` deep.
std::string randomExpression(std::mt19937_64 &random, unsigned depth);

/// The text with line ends, encodings, lengths or depths that no author would write.
std::string distorted(std::mt19937_64 &random, std::string text);

} // namespace tile::fuzz

#endif // TILE_TESTS_FUZZ_SNIPPETS_H
