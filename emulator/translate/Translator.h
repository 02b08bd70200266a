//===- Translator.h - the pieces of the translation -----------------------===//
#ifndef TILE_EMULATOR_TRANSLATE_TRANSLATOR_H
#define TILE_EMULATOR_TRANSLATE_TRANSLATOR_H

#include "emulator/machine/Memory.h"
#include "emulator/machine/Numbers.h"
#include "emulator/ptx/AsmBuilder.h"
#include "emulator/translate/Translate.h"
#include "text/Format.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

namespace tile::emu {

enum : unsigned {
  kGenericSpace = 0,
  kGlobalSpace = 1,
  kSharedSpace = 3,
  kConstantSpace = 4,
  kLocalSpace = 5
};

/// Where the loops of a function begin, those with several ways in too.
llvm::SmallSetVector<llvm::BasicBlock *, 8> loopHeaders(llvm::Function &f);

class Translator {
public:
  Translator(llvm::Module &m, Translation &out, const LoadOptions &options)
      : m(m), out(out), fuseMulAdd(options.fuseMulAdd), algebraic(options.algebraic) {}
  llvm::Error run(const llvm::Triple &triple, const llvm::DataLayout &layout);

private:
  llvm::Error findKernel();
  llvm::Error inlineHelpers();
  void makeEntry();
  void placeSharedGlobals();
  llvm::Error placePrivateMemory();
  void tabulateVariables();
  llvm::Error translate(llvm::Instruction &inst);
  llvm::Error translateCall(llvm::CallBase &call);
  llvm::Error translateAsm(llvm::CallBase &call, llvm::StringRef text, llvm::StringRef mainOpcode,
                           unsigned numOutputs, llvm::ArrayRef<int> tied);
  llvm::Error translateInlineAsm(llvm::CallBase &call);
  llvm::Error readSpecialRegister(llvm::CallBase &call, llvm::StringRef name);
  llvm::Error translateIntrinsic(llvm::IntrinsicInst &call);
  llvm::Error translateMemory(llvm::CallBase &call);
  void translateLoad(llvm::LoadInst &load);
  void translateStore(llvm::StoreInst &store);
  llvm::Error translateAtomic(llvm::Instruction &inst);
  void translateFence(llvm::FenceInst &fence);
  void translateUnreachable(llvm::Instruction &inst);
  uint32_t orderingOf(const llvm::Instruction &inst) const;
  void translateCast(llvm::AddrSpaceCastInst &cast);
  void findTouchedAccumulators();
  void followLoads();
  llvm::Error checkRing(const llvm::Instruction &inst);
  void countTurns(llvm::Function &f, llvm::Value *thread, llvm::Value *site = nullptr);
  void watchCounters(llvm::Function &f, llvm::Value *thread);
  void noteExactness(const AsmBuilder &builder, const llvm::CallBase &call);
  void noteAtomic(AtomicKind kind, bool resultUsed);
  bool isProven(const llvm::Value *pointer, uint64_t bytes, bool writes) const;
  llvm::Value *hostAddress(llvm::IRBuilder<> &b, llvm::Value *pointer, unsigned bytes,
                           unsigned alignment, AccessKind kind, const llvm::Twine &instruction);
  llvm::Value *siteOf(const llvm::Instruction &inst, const llvm::Twine &instruction);
  llvm::Value *callHook(llvm::IRBuilder<> &b, llvm::StringRef name, llvm::Type *result,
                        llvm::ArrayRef<llvm::Value *> args);
  llvm::Error unsupported(const llvm::Twine &what) {
    return llvm::createStringError(formatted("the emulator does not know {}", what));
  }

  llvm::Module &m;
  Translation &out;
  bool fuseMulAdd, algebraic;
  llvm::Function *kernel = nullptr; ///< the new one, once made
  llvm::Value *thread = nullptr;
  const llvm::Instruction *at = nullptr;
  llvm::SmallPtrSet<const llvm::Instruction *, 32> hostCode; ///< ours: to be left alone
  llvm::DenseMap<const llvm::Value *, uint64_t> aggregates;  ///< parameters, and their sizes
  llvm::StringMap<AsmBuilder *> builders;                    ///< by text, constraints and type
  std::vector<std::unique_ptr<AsmBuilder>> owned;
  std::optional<AtomicKind> atomicKind; ///< the only one so far
};

} // namespace tile::emu

#endif // TILE_EMULATOR_TRANSLATE_TRANSLATOR_H
