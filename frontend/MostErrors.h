//===- MostErrors.h - how many errors are told at a time ------------------===//
#ifndef TILE_FRONTEND_MOSTERRORS_H
#define TILE_FRONTEND_MOSTERRORS_H

namespace tile::frontend {

/// Errors of one compilation that are kept. Who has more mends these first, and most of the others
/// tend to follow from them.
constexpr unsigned kMostErrors = 50;

} // namespace tile::frontend

#endif // TILE_FRONTEND_MOSTERRORS_H
