//===- AsmBuilder.h - inline PTX becomes an LLVM function -----------------===//
//
// Each text of inline PTX is one function, called where the text stood: its
// registers are stack slots, its labels are blocks, its instructions are plain
// LLVM or calls of hooks. A table from mnemonic to handler says how; an entry of
// it is all that a new instruction needs.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_PTX_ASMBUILDER_H
#define TILE_EMULATOR_PTX_ASMBUILDER_H

#include "emulator/machine/Machine.h"
#include "emulator/machine/Numbers.h"
#include "emulator/ptx/Ptx.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/IR/IRBuilder.h"

namespace tile::emu {

class AsmBuilder;
/// Emits one statement. What it cannot emit it says with `unsupported`.
using Handler = void (*)(AsmBuilder &, const PtxStatement &);
struct HandlerEntry {
  const char *mnemonic; ///< the opcode up to its first dot
  Handler handler;
};
llvm::ArrayRef<HandlerEntry> basicHandlers();
llvm::ArrayRef<HandlerEntry> arithmeticHandlers();
llvm::ArrayRef<HandlerEntry> memoryHandlers();
llvm::ArrayRef<HandlerEntry> warpHandlers();
llvm::ArrayRef<HandlerEntry> asyncHandlers();
llvm::ArrayRef<HandlerEntry> matrixHandlers();
/// The bits of Ordering that a strong access or a fence spells out.
uint32_t ptxOrdering(const PtxStatement &s, uint32_t scopeByDefault);
/// What a part of an opcode does to integers and bits, if their sign does not matter.
std::optional<AtomicKind> integerAtomic(llvm::StringRef part);
/// st.async, which shares its mnemonic with ordinary stores.
void emitStoreAsync(AsmBuilder &a, const PtxStatement &s);

/// A PTX type: "u32", "f16x2", "pred", ...
struct PtxType {
  char kind = 0; ///< 'u', 's', 'b', 'f' (also bf16: `brain`), 'p'
  unsigned bits = 0;
  unsigned lanes = 1;
  bool brain = false;
  explicit operator bool() const { return kind; }
  bool isFloat() const { return kind == 'f'; }
};
PtxType parsePtxType(llvm::StringRef name);
/// The last part of an opcode that is a type.
PtxType typeOf(const PtxStatement &s);
/// A part of an opcode that no handler of the mnemonic knows; empty if there is none.
llvm::StringRef unknownModifier(const PtxStatement &s);

class AsmBuilder {
public:
  AsmBuilder(llvm::Module &module, llvm::FunctionType *type, unsigned numOutputs,
             llvm::ArrayRef<int> tied, const std::string &name);

  /// Fills the function's body; an error that names an instruction.
  llvm::Error build(llvm::ArrayRef<PtxStatement> statements);
  llvm::Function *function() { return f; }
  std::vector<AtomicKind> atomics;  ///< on global memory
  std::vector<std::string> inexact; ///< opcodes that leave their last bits open
  bool narrows = false;             ///< rounds to floats of 8 bits
  bool algebraic = false;           ///< floats stand for integers: see LoadOptions

  //===--- for handlers ---------------------------------------------------===//
  llvm::IRBuilder<> b;
  llvm::Value *thread() { return f->getArg(0); }
  llvm::Value *site() { return f->getArg(1); }

  void unsupported(const PtxStatement &s, llvm::StringRef why = "");
  /// An operand as an integer of `bits`, cut or zero-extended.
  llvm::Value *get(const PtxOperand &o, unsigned bits);
  /// ... as a value of the type that PTX says.
  llvm::Value *get(const PtxOperand &o, PtxType type);
  llvm::Value *getBool(const PtxOperand &o);
  /// Stores into a register, zero-extended or cut; `isSigned`: sign-extended.
  void set(const PtxOperand &o, llvm::Value *value, bool isSigned = false);
  /// Base plus offset of a memory operand, as an integer of `bits`.
  llvm::Value *address(const PtxOperand &memory, unsigned bits);
  llvm::Value *hook(llvm::StringRef name, llvm::Type *result, llvm::ArrayRef<llvm::Value *> args);
  llvm::Value *i32(uint64_t v) { return b.getInt32(uint32_t(v)); }
  llvm::Value *i64(uint64_t v) { return b.getInt64(v); }
  /// An array on the stack, in the entry block.
  llvm::AllocaInst *array(llvm::Type *element, unsigned count);
  /// Every 32-bit result passes through the machine: accumulators in flight get
  /// their values there.
  void pinOutputs();
  llvm::BasicBlock *label(llvm::StringRef name);
  unsigned bitsOf(const PtxOperand &o);
  llvm::Type *llvmType(PtxType type);
  llvm::Value *asType(llvm::Value *integer, PtxType type);
  llvm::Value *asInteger(llvm::Value *value);

private:
  struct Register {
    llvm::AllocaInst *slot = nullptr;
    unsigned bits = 0;
  };
  Register newRegister(llvm::IRBuilder<> &at, unsigned bits);
  Register *find(const PtxOperand &o);
  void declare(const PtxStatement &s);
  void emit(const PtxStatement &s);
  void finish();
  llvm::Value *special(llvm::StringRef name);

  llvm::Module &module;
  llvm::Function *f;
  unsigned numOutputs;
  std::vector<Register> placeholders;
  llvm::StringMap<Register> names;
  llvm::StringMap<llvm::BasicBlock *> labels;
  std::string error;
};

void setHookAttributes(llvm::Function &f);

/// The index of a special register such as "tid.x"; nothing if there is none.
std::optional<unsigned> findSpecialRegister(llvm::StringRef name);
/// Loads a special register of a thread.
llvm::Value *loadSpecialRegister(llvm::IRBuilderBase &b, llvm::Value *thread, unsigned index);

} // namespace tile::emu

#endif // TILE_EMULATOR_PTX_ASMBUILDER_H
