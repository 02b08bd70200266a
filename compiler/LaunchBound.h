//===- LaunchBound.h - how many blocks a multiprocessor shall hold --------===//
#ifndef TILE_COMPILER_LAUNCHBOUND_H
#define TILE_COMPILER_LAUNCHBOUND_H

#include "target/Target.h"

namespace llvm {
class Function;
} // namespace llvm

namespace tile {

/// Gives a kernel whose assembler would put loads of a loop behind uses of others
/// `.minnctapersm`: as many blocks, with `sharedBytes` each, as leave every thread the
/// registers for all loads of a turn. One that needs more than a thread can have gets a
/// bound of one block. For grids of few programs, bounds may be of as few. Up to how many programs
/// a multiprocessor gains by the form for those; 0: none.
int setLaunchBound(llvm::Function &kernel, const Target &target, int sharedBytes, bool isForFew);

/// Gives `kernel` `.maxnreg`: `most` registers, as its author asked for, to have more programs at
/// once; and those beyond that are free because threads or `sharedBytes` let no more in.
void setMostRegisters(llvm::Function &kernel, const Target &target, int most, int sharedBytes);

} // namespace tile

#endif // TILE_COMPILER_LAUNCHBOUND_H
