//===- FrontEnd.h - mangled programs through the front end -----------------===//
#ifndef TILE_TESTS_FUZZ_FRONTEND_H
#define TILE_TESTS_FUZZ_FRONTEND_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tile::fuzz {

/// Programs to mangle: the `.tile` and `.py` files under the folders.
std::vector<std::string> readCorpus(const std::vector<std::string> &folders);

/// One program of the corpus after a few random edits.
std::string mangle(const std::vector<std::string> &corpus, uint64_t seed);

/// Parses the text and compiles every kernel that says its types; whatever the
/// text is, this returns.
void digest(const std::string &text);

/// The shortest text found by leaving out lines, then parts of lines, for which
/// `fails` still holds.
std::string reduceText(std::string text, const std::function<bool(const std::string &text)> &fails);

} // namespace tile::fuzz

#endif // TILE_TESTS_FUZZ_FRONTEND_H
