//===- LoadsInFlight.cpp - what waits for loads from shared memory --------===//
//
// Finds, for each load from shared memory of a kernel whose asynchronous copies meet
// arrivals at mbarriers, the instructions that cannot begin before its value has come: those
// with an effect beyond their result, and branches, that the value goes into, through
// arithmetic if need be. (What only computes may come behind an arrival that stands before
// it.) The machine is told of both: see machine/LoadsInFlight.h.
//
//===----------------------------------------------------------------------===//
#include "emulator/translate/Translator.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;
using namespace tile::emu;

/// More loads than this are not followed.
static constexpr unsigned kMostFollowed = 4096;

static StringRef asmText(const Instruction &inst) {
  auto *call = dyn_cast<CallBase>(&inst);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return text ? text->getAsmString() : "";
}

/// Whether the hardware must have an instruction's operands when it begins it, in order with
/// others of the kind.
static bool waitsForOperands(const Instruction &inst) {
  if (auto *call = dyn_cast<CallBase>(&inst))
    if (auto *text = dyn_cast<InlineAsm>(call->getCalledOperand()))
      return text->hasSideEffects();
  return inst.isTerminator() || inst.mayHaveSideEffects() || inst.mayReadFromMemory();
}

namespace {
struct SharedLoad {
  Instruction *inst;
  Value *address;
  uint64_t bytes;
  unsigned lanes;
};
} // namespace

static std::optional<SharedLoad> sharedLoad(Instruction &inst, const DataLayout &layout) {
  if (auto *load = dyn_cast<LoadInst>(&inst)) {
    if (load->getPointerAddressSpace() != kSharedSpace)
      return std::nullopt;
    return SharedLoad{&inst, load->getPointerOperand(), layout.getTypeStoreSize(load->getType()),
                      32};
  }
  auto *call = dyn_cast<IntrinsicInst>(&inst);
  StringRef name = call ? call->getCalledFunction()->getName() : "";
  if (!name.consume_front("llvm.nvvm.ldmatrix.sync.aligned.m8n8.x"))
    return std::nullopt;
  unsigned matrices = 0;
  if (name.consumeInteger(10, matrices))
    return std::nullopt;
  return SharedLoad{&inst, call->getArgOperand(0), 16, 8 * matrices};
}

void Translator::followLoads() {
  bool copies = false, arrives = false;
  std::vector<SharedLoad> loads;
  for (Instruction &inst : instructions(*kernel)) {
    copies |= asmText(inst).contains("cp.async");
    arrives |= asmText(inst).contains("mbarrier.arrive");
    if (auto load = sharedLoad(inst, m.getDataLayout()))
      loads.push_back(*load);
  }
  if (!copies || !arrives || loads.size() > kMostFollowed)
    return;
  MapVector<Instruction *, SmallVector<unsigned>> waiting; // each list is in order
  for (auto [number, load] : enumerate(loads)) {
    SmallVector<Instruction *> work{load.inst};
    SmallPtrSet<const Instruction *, 16> seen;
    while (!work.empty())
      for (User *user : work.pop_back_val()->users()) {
        auto *inst = cast<Instruction>(user);
        if (!seen.insert(inst).second)
          continue;
        if (waitsForOperands(*inst))
          waiting[inst].push_back(unsigned(number));
        else
          work.push_back(inst);
      }
  }
  auto tell = [&](Instruction &before, StringRef hook, ArrayRef<Value *> args) {
    IRBuilder<> b(&before);
    hostCode.insert(cast<Instruction>(callHook(b, hook, b.getVoidTy(), args)));
  };
  IRBuilder<> b(m.getContext());
  for (auto &[inst, numbers] : waiting)
    for (size_t i = 0, end; i < numbers.size(); i = end) {
      for (end = i + 1; end < numbers.size() && numbers[end] == numbers[end - 1] + 1; ++end)
        ;
      tell(*inst, "tileEmuLoadsEnd",
           {thread, b.getInt32(numbers[i]), b.getInt32(numbers[end - 1])});
    }
  for (auto [number, load] : enumerate(loads)) {
    IRBuilder<> at(load.inst);
    Value *address = at.CreatePtrToInt(load.address, at.getInt32Ty());
    if (auto *made = dyn_cast<Instruction>(address))
      hostCode.insert(made);
    tell(*load.inst, "tileEmuLoadBegins",
         {thread, address, b.getInt32(uint32_t(load.bytes)), b.getInt32(uint32_t(number)),
          b.getInt32(load.lanes), siteOf(*load.inst, "ld.shared")});
  }
}
