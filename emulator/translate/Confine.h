//===- Confine.h - code that the machine did not write --------------------===//
//
// A kernel may hold functions of a bitcode file that somebody names. On a GPU they
// can do no harm to the host; here they become code of its own process. So an access is
// left alone only where it is shown to lie in an object that is known, every other one
// asks the machine, and what would get around that is refused by name.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_TRANSLATE_CONFINE_H
#define TILE_EMULATOR_TRANSLATE_CONFINE_H

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Error.h"

namespace tile::emu {

/// Private memory that one thread may have, as on the hardware.
constexpr uint64_t kMaxPrivateBytes = 512 * 1024;

/// An error that names what in the module cannot be confined: symbols that it does not
/// define, recursion, jumps to addresses, machine code and the like.
llvm::Error refuseUnconfined(llvm::Module &m);

/// Whether the function needs the thread it runs on to be confined: it has accesses that
/// nothing shows to be in bounds, private memory that is more than registers, ...
bool needsConfinement(llvm::Function &f);

/// Whether `bytes` at the pointer lie in a variable of the function's own that stays
/// in registers or on its stack, or in a constant (`writes`: in a variable) of the module.
bool staysInBounds(const llvm::Value *pointer, uint64_t bytes, bool writes,
                   const llvm::DataLayout &layout);

/// Whether all that is done with a stack slot is in bounds and in plain sight.
bool isSimple(const llvm::AllocaInst &slot);

/// Takes the attributes away that tell the host's code generator to call something, to
/// leave out parts of a function, or which processor it is for.
void dropHostAttributes(llvm::Function &f);

} // namespace tile::emu

#endif // TILE_EMULATOR_TRANSLATE_CONFINE_H
