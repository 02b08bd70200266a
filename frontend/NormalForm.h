//===- NormalForm.h - letters that Python replaces in names ---------------===//
#ifndef TILE_FRONTEND_NORMALFORM_H
#define TILE_FRONTEND_NORMALFORM_H

#include <cstdint>

namespace tile::frontend {

/// Whether Python may replace this letter of a name: names are compared in Unicode's
/// normal form NFKC, where `\u017f` is `s` and a letter before an accent is one with it.
bool changesInNames(uint32_t codePoint);

} // namespace tile::frontend

#endif // TILE_FRONTEND_NORMALFORM_H
