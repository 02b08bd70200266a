//===- BackEnd.cpp - LLVM's NVPTX back end, set up once -------------------===//
#include "compiler/BackEnd.h"
#include "compiler/Selection.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Pass.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include <mutex>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace llvm;
using namespace tile;

static constexpr const char *kTriple = "nvptx64-nvidia-cuda";
/// A switch of the back end: shared addresses fit 32 bits.
static constexpr StringLiteral kShortPointers = "nvptx-short-ptr";

static void initialize() {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    if (cl::Option *option = cl::getRegisteredOptions().lookup(kShortPointers))
      static_cast<cl::opt<bool> *>(option)->setValue(true);
  });
}

static std::unique_ptr<TargetMachine> createMachine(StringRef chip, int ptxVersion,
                                                    bool fuseMulAdd) {
  initialize();
  Triple triple(kTriple);
  std::string error;
  const llvm::Target *backend = TargetRegistry::lookupTarget(triple, error);
  TargetOptions options;
  options.AllowFPOpFusion = fuseMulAdd ? FPOpFusion::Fast : FPOpFusion::Strict;
  return std::unique_ptr<TargetMachine>(
      backend->createTargetMachine(triple, chip, "+ptx" + std::to_string(ptxVersion), options,
                                   Reloc::PIC_, std::nullopt, CodeGenOptLevel::Default));
}

/// Passes for what a kernel never has (garbage collection, exceptions, calls of
/// the C library, variables for a debugger, profiling hooks), and two for what
/// the lowering does itself: wide accesses, and constants where they are used.
static const StringSet<> &idlePasses() {
  static const StringSet<> names = {
      "Analyze Machine Code For Garbage Collection",
      "Constant Hoisting",
      "Expand memcmp() to load/stores",
      "Fixup Statepoint Caller Saved",
      "GPU Load and Store Vectorizer",
      "Insert XRay ops",
      "Insert fentry calls",
      "Instrument function entry/exit with calls to e.g. mcount() (post inlining)",
      "Live DEBUG_VALUE analysis",
      "Lower Garbage Collection Instructions",
      "Machine Sanitizer Binary Metadata",
      "Merge contiguous icmps into a memcmp",
      "ObjC ARC contraction",
      "Partially inline calls to library functions",
      "Prepare callbr",
      "Remove Redundant DEBUG_VALUE analysis",
      "Replace intrinsics with calls to vector library",
      "Safe Stack instrumentation pass",
      "Shadow Stack GC Lowering",
      "Stack Frame Layout Analysis",
  };
  return names;
}

/// Passes that are left out where no value is multiplied by several numbers: common
/// expressions are searched for three times before instructions are selected, twice for
/// what strength reduction leaves.
static constexpr StringLiteral kReduceLoops = "Loop Strength Reduction",
                               kReduceLines = "Straight line strength reduction",
                               kMergeAgain = "Early CSE";
static constexpr StringLiteral kSelector = "NVPTX DAG->DAG Pattern Instruction Selection";

/// The back end's passes, with the text that they print.
class BackEnd::Passes : legacy::PassManager {
public:
  Passes(TargetMachine &target, bool reduceStrength)
      : stream(text), reduceStrength(reduceStrength),
        instructions(*target.getMCInstrInfo(), instructionsNotMet) {
    works = !target.addPassesToEmitFile(*this, stream, nullptr, CodeGenFileType::AssemblyFile,
                                        /*DisableVerify=*/true);
  }

  std::string emit(Module &module) {
    text.clear();
    if (works)
      run(module);
    return text.str().str();
  }

  std::vector<std::string> namesNotMet() const {
    std::vector<std::string> names = instructionsNotMet;
    for (StringRef name : idlePasses().keys())
      if (!met.contains(name))
        names.push_back(name.str());
    for (StringRef name : {kReduceLoops, kReduceLines, kMergeAgain, kSelector})
      if (!met.contains(name))
        names.push_back(name.str());
    return names;
  }

private:
  void add(Pass *pass) override {
    StringRef name = pass->getPassName();
    met.insert(name);
    loopsDone |= name == kReduceLoops;
    bool left = name == kReduceLines || (name == kMergeAgain && !loopsDone);
    if ((left && !reduceStrength) || idlePasses().contains(name))
      delete pass;
    else if (name == kSelector && instructions.areKnown())
      for (Pass *one : {static_cast<Pass *>(createOperationsPass()), pass,
                        static_cast<Pass *>(createMeantInstructionsPass(instructions))})
        legacy::PassManager::add(one);
    else
      legacy::PassManager::add(pass);
  }

  SmallString<0> text;
  raw_svector_ostream stream;
  StringSet<> met;
  bool reduceStrength, loopsDone = false, works;
  std::vector<std::string> instructionsNotMet;
  SelectedInstructions instructions;
};

/// Straight line strength reduction pays where one value is multiplied by several
/// numbers, as by an unrolled loop's counter. It compares every address with all
/// addresses before it: a kernel with thousands of accesses would take a minute.
static bool wantsStrengthReduced(const Module &module) {
  using namespace PatternMatch;
  constexpr int many = 256;
  int addresses = 0;
  bool wants = false;
  for (const Function &f : module)
    for (const Instruction &i : instructions(f)) {
      addresses += isa<GetElementPtrInst>(i);
      const Value *factor;
      wants |= match(&i, m_Mul(m_Value(factor), m_ConstantInt())) && !isa<Constant>(factor) &&
               any_of(factor->users(), [&](const User *other) {
                 return other != &i && (match(other, m_Mul(m_Specific(factor), m_ConstantInt())) ||
                                        match(other, m_Shl(m_Specific(factor), m_ConstantInt())));
               });
    }
  return wants && addresses <= many;
}

/// The printer declares such variables inside the function that uses them, and
/// remembers that for good.
static bool hasLocalVariables(const Module &module) {
  return any_of(module.globals(), [](const GlobalVariable &variable) {
    return variable.hasLocalLinkage() && variable.getAddressSpace() == 3;
  });
}

BackEnd::BackEnd(StringRef chip, int ptxVersion, bool fuseMulAdd)
    : target(createMachine(chip, ptxVersion, fuseMulAdd)) {}

BackEnd::~BackEnd() = default;

std::string BackEnd::emit(Module &module) {
  bool reduceStrength = wantsStrengthReduced(module);
  if (hasLocalVariables(module))
    return Passes(*target, reduceStrength).emit(module);
  auto &passes = kept[reduceStrength];
  if (!passes)
    passes = std::make_unique<Passes>(*target, reduceStrength);
  return passes->emit(module);
}

std::vector<std::string> BackEnd::namesNotMet() {
  std::vector<std::string> names = Passes(*target, /*reduceStrength=*/true).namesNotMet();
  if (!cl::getRegisteredOptions().contains(kShortPointers))
    names.push_back(kShortPointers.str());
  return names;
}
