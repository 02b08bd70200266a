//===- Assigned.h - what a loop body does, by its syntax alone ------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_ASSIGNED_H
#define TILE_FRONTEND_SPECIALIZE_ASSIGNED_H

#include "frontend/AST.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace tile::specialize {

/// Names that running the body may bind in its function, each with the place
/// of its last binding. Names declared constexpr are left out.
using AssignedNames = llvm::MapVector<llvm::StringRef, frontend::SourceRange>;
void collectAssigned(const ast::Body &body, AssignedNames &names);
void collectAssigned(const ast::Expr &expr, AssignedNames &names);
void collectTargets(const ast::Expr &target, AssignedNames &names);

/// Names that a function reads where no loop around binds them as its variable: those of which the
/// last value may be asked for.
using NameSet = llvm::SmallDenseSet<llvm::StringRef, 8>;
void collectReadBehindLoops(const ast::Body &body, NameSet &names);

/// A break that leaves this body's loop; a return at any depth.
bool hasBreak(const ast::Body &body);
bool hasReturn(const ast::Body &body);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_ASSIGNED_H
