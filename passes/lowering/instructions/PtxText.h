//===- PtxText.h - what instructions do, read from their text -------------===//
//
// For whoever meets inline PTX behind the lowering, the author's too, and has to know what its
// threads do, not which instruction it is.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_LOWERING_INSTRUCTIONS_PTXTEXT_H
#define TILE_PASSES_LOWERING_INSTRUCTIONS_PTXTEXT_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace tile::ptx {

/// Gives 32 bits that are zero, which the assembler cannot know: no chip counts 2^63 cycles.
inline constexpr llvm::StringLiteral kUnknownZero =
    "{\n.reg .b32 hi;\nmov.u32 hi, %clock_hi;\nshr.u32 $0, hi, 31;\n}";

/// An f32 as an integer of 16 bits, toward zero, behind LLVM's back.
inline constexpr llvm::StringLiteral kSignedHalfWord = "cvt.rzi.s16.f32 $0, $1;",
                                     kUnsignedHalfWord = "cvt.rzi.u16.f32 $0, $1;";

/// The larger or the smaller of two words, which LLVM would make one of fewer bits.
std::string extremumOfWords(bool isMaximum, bool isSigned);

/// Threads of a warp, or a thread block, run it together.
bool isCollective(llvm::StringRef text);
bool loadsGlobal(llvm::StringRef text);
/// Loads of plain memory, behind masks or not, and moves of registers, and nothing else.
bool onlyLoadsGlobal(llvm::StringRef text);
/// Stores there, or adds to what is there, and the like.
bool writesGlobal(llvm::StringRef text);
/// The operand of an access's mask, if `text` is nothing else: `@$n` in front of all of its
/// instructions but moves of registers; -1: there is none.
int guardOf(llvm::StringRef text);
/// A matrix instruction of one warp.
bool multipliesByWarps(llvm::StringRef text);
/// A product of matrices, by warps or warpgroups.
bool multiplies(llvm::StringRef text);
/// For `cp.async` of the same thread.
bool waitsForCopies(llvm::StringRef text);
/// Registers are dealt out by rules of its own: matrix instructions want theirs in place.
bool hasRegisterRules(llvm::StringRef text);
/// Loads one byte from global memory behind a mask, to a word whose other bits become zero, and
/// does nothing else.
bool loadsByte(llvm::StringRef text);
/// Such a load, with the byte's sign in those bits.
std::string withSignedByte(llvm::StringRef text);
/// Converts two floats of 8 bits.
bool widensBytes(llvm::StringRef text);
/// The PTX ISA version (times 10) that it needs; 0: the oldest will do.
unsigned versionNeeded(llvm::StringRef text);
/// The registers of a thread that each role of a kernel asks for, in order.
llvm::SmallVector<int> registersOfRoles(llvm::StringRef kernel);

} // namespace tile::ptx

#endif // TILE_PASSES_LOWERING_INSTRUCTIONS_PTXTEXT_H
