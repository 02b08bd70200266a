//===- Selection.cpp - instructions that LLVM's selector is slow to find --===//
#include "compiler/Selection.h"
#include "llvm/CodeGen/MachineFunctionPass.h"
#include "llvm/CodeGen/MachineInstr.h"
#include "llvm/CodeGen/TargetInstrInfo.h"
#include "llvm/CodeGen/TargetSubtargetInfo.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/MC/MCInstrInfo.h"

using namespace llvm;
using namespace tile;

SelectedInstructions::SelectedInstructions(const MCInstrInfo &all,
                                           std::vector<std::string> &missing) {
  struct Named {
    StringRef name;
    unsigned &opcode;
  } wanted[] = {{"EX2_APPROX_f32", exp2},
                {"RCP_APPROX_F32_r", reciprocal},
                {"DIV_APPROX_F32_rr", quotient},
                {"FDIV32rr", fullQuotient}};
  for (unsigned opcode = 0; opcode < all.getNumOpcodes(); ++opcode)
    for (Named &one : wanted)
      if (all.getName(opcode) == one.name)
        one.opcode = opcode;
  for (const Named &one : wanted)
    if (!one.opcode)
      missing.push_back(one.name.str());
}

namespace {

class OperationsPass : public FunctionPass {
public:
  static char ID;
  OperationsPass() : FunctionPass(ID) {}
  StringRef getPassName() const override { return "Operations in place of intrinsics"; }
  void getAnalysisUsage(AnalysisUsage &usage) const override { usage.setPreservesAll(); }

  bool runOnFunction(Function &f) override {
    bool changed = false;
    for (Instruction &inst : make_early_inc_range(instructions(f)))
      if (auto *call = dyn_cast<IntrinsicInst>(&inst))
        if (Value *operation = operationFor(*call)) {
          operation->takeName(call);
          call->replaceAllUsesWith(operation);
          call->eraseFromParent();
          changed = true;
        }
    return changed;
  }

private:
  /// An operand that is a constant or negated would be folded into the division.
  static bool isPlain(const Value *v) {
    return !isa<Constant>(v) &&
           !(isa<UnaryOperator>(v) && cast<UnaryOperator>(v)->getOpcode() == Instruction::FNeg);
  }

  static Value *operationFor(IntrinsicInst &call) {
    IRBuilder<> b(&call);
    FastMathFlags approximate;
    approximate.setApproxFunc();
    b.setFastMathFlags(approximate);
    switch (call.getIntrinsicID()) {
    case Intrinsic::nvvm_ex2_approx_ftz:
      if (!call.getType()->isFloatTy() || !isPlain(call.getArgOperand(0)))
        return nullptr;
      return b.CreateUnaryIntrinsic(Intrinsic::exp2, call.getArgOperand(0));
    case Intrinsic::nvvm_rcp_approx_ftz_f:
      if (!isPlain(call.getArgOperand(0)))
        return nullptr;
      return b.CreateFDiv(ConstantFP::get(call.getType(), 1.0), call.getArgOperand(0));
    case Intrinsic::nvvm_div_full:
      if (!isPlain(call.getArgOperand(0)) || !isPlain(call.getArgOperand(1)))
        return nullptr;
      return b.CreateFDiv(call.getArgOperand(0), call.getArgOperand(1));
    default:
      return nullptr;
    }
  }
};

class MeantInstructionsPass : public MachineFunctionPass {
public:
  static char ID;
  explicit MeantInstructionsPass(SelectedInstructions known)
      : MachineFunctionPass(ID), known(known) {}
  StringRef getPassName() const override { return "Instructions in place of operations"; }
  void getAnalysisUsage(AnalysisUsage &usage) const override {
    usage.setPreservesAll();
    MachineFunctionPass::getAnalysisUsage(usage);
  }

  bool runOnMachineFunction(MachineFunction &f) override {
    const TargetInstrInfo &all = *f.getSubtarget().getInstrInfo();
    bool changed = false;
    for (MachineBasicBlock &block : f)
      for (MachineInstr &inst : block) {
        if (!inst.getFlag(MachineInstr::FmAfn))
          continue;
        if (inst.getOpcode() == known.quotient)
          inst.setDesc(all.get(known.fullQuotient));
        else if (inst.getOpcode() == known.exp2 || inst.getOpcode() == known.reciprocal)
          inst.getOperand(inst.getNumExplicitOperands() - 1).setImm(kFlushed);
        inst.clearFlag(MachineInstr::FmAfn);
        changed = true;
      }
    return changed;
  }

private:
  /// The last operand of instructions that come with and without `.ftz`.
  static constexpr int64_t kFlushed = -1;
  SelectedInstructions known;
};

} // namespace

char OperationsPass::ID = 0;
char MeantInstructionsPass::ID = 0;

FunctionPass *tile::createOperationsPass() { return new OperationsPass; }
FunctionPass *tile::createMeantInstructionsPass(SelectedInstructions instructions) {
  return new MeantInstructionsPass(instructions);
}
