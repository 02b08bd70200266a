//===- Attributes.h - what functions of whole tensors carry besides -------===//
//
// Every discardable attribute of the graph dialect, in one place, as ir/Attributes.h has those of
// the other two: which type each has and where it may stand is in Attributes.cpp, and the dialect
// verifies it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_GRAPH_ATTRIBUTES_H
#define TILE_IR_GRAPH_ATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace tile::graph {

//===----------------------------------------------------------------------===//
// The function and its parameters, as they were traced
//===----------------------------------------------------------------------===//

/// On a parameter of the function, a string: its name.
inline constexpr llvm::StringLiteral kNameAttr = "graph.name";
/// On a parameter, unit: it is a number, not a tensor in memory.
inline constexpr llvm::StringLiteral kNumberAttr = "graph.number";
/// Array of strings: formulas that must not be negative, each followed by what is said otherwise.
inline constexpr llvm::StringLiteral kRequiresAttr = "graph.requires";
/// Unit: it returns nothing, but what parameters become.
inline constexpr llvm::StringLiteral kNoneAttr = "graph.none";
/// Unit: it returns a tuple, even of one.
inline constexpr llvm::StringLiteral kTupleAttr = "graph.tuple";
/// Array of i64: its last results are what parameters become, one number of a parameter each.
inline constexpr llvm::StringLiteral kUpdatesAttr = "graph.updates";
/// Array of i64: its last parameters are others in another shape, one number of a parameter each.
/// They are nobody's arguments: they lie in the memory of those, which has no gaps.
inline constexpr llvm::StringLiteral kOtherShapesAttr = "graph.other_shapes";

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

/// While views become indices: an operation whose result is stored, rather than computed again for
/// each window and each index that takes elements of it.
inline constexpr llvm::StringLiteral kStoredAttr = "graph.stored";

/// Unit, while a function is traced: what it gives cancels out, and with it its derivative.
inline constexpr llvm::StringLiteral kNoGradientAttr = "graph.no_gradient";
/// On an operation of elements, i64: which of several is its own that computes this; each has, and
/// they are not merged: indices that count from the end go to the kernel that takes elements by
/// them.
inline constexpr llvm::StringLiteral kOwnAttr = "graph.own";
/// On a launch, array of i64: for each result the operand that the kernel changes to it; -1: it
/// writes all of it.
inline constexpr llvm::StringLiteral kChangesAttr = "graph.changes";
/// On a product, a string, for people: why it is not one kernel with the product whose softmax it
/// takes.
inline constexpr llvm::StringLiteral kUnchainedAttr = "graph.unchained";
/// On a product, unit: its left operand is computed of other products in its own kernel.
inline constexpr llvm::StringLiteral kChainedAttr = "graph.chained";
/// On a quotient or a remainder, unit: of places in an array, and sizes, none of which is below
/// zero where somebody looks.
inline constexpr llvm::StringLiteral kOfPlacesAttr = "graph.of_places";
/// On a kernel, array of i64: the number of a result and that of the operand where it lies, for
/// each that does.
inline constexpr llvm::StringLiteral kInPlaceAttr = "graph.in_place";
/// On a kernel, unit: each program computes one of its products, which have rows, left operand and
/// inner dimension in common, and nothing else.
inline constexpr llvm::StringLiteral kSideBySideAttr = "graph.side_by_side";
/// On a kernel, array of i64: operands that are numbers, not arrays in memory.
inline constexpr llvm::StringLiteral kNumbersAttr = "graph.numbers";

} // namespace tile::graph

#endif // TILE_IR_GRAPH_ATTRIBUTES_H
