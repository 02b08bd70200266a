//===- DrawFunction.h - a picture of what a function became ----------------===//
#ifndef TILE_COMPILER_FUNCTIONS_DRAWFUNCTION_H
#define TILE_COMPILER_FUNCTIONS_DRAWFUNCTION_H

#include "compiler/functions/ExplainFunction.h"

namespace tile {

/// The kernels of a function as an SVG with what they move, under a heading: a part of a page.
std::string drawFunction(const FunctionExplanation &explanation);
/// An HTML file that needs nothing else, of such parts.
std::string htmlPage(llvm::StringRef title, llvm::ArrayRef<std::string> parts);

} // namespace tile

#endif // TILE_COMPILER_FUNCTIONS_DRAWFUNCTION_H
