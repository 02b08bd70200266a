//===- EmitPtx.cpp - from the LLVM dialect to PTX text --------------------===//
#include "compiler/EmitPtx.h"
#include "devicelib/DeviceLibrary.h"
#include "ir/TileDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Linker/Linker.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/ADCE.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/IndVarSimplify.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <map>
#include <mutex>
#include <tuple>

extern "C" {
void LLVMInitializeNVPTXTargetInfo();
void LLVMInitializeNVPTXTarget();
void LLVMInitializeNVPTXTargetMC();
void LLVMInitializeNVPTXAsmPrinter();
}

using namespace llvm;
using namespace tile;

static constexpr const char *kTriple = "nvptx64-nvidia-cuda";

struct PtxEmitter::Impl {
  std::map<std::tuple<std::string, int, bool>, std::unique_ptr<TargetMachine>> machines;
};

PtxEmitter::PtxEmitter() : impl(std::make_unique<Impl>()) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    // Shared addresses fit 32 bits; the backend knows that only by this switch.
    if (cl::Option *option = cl::getRegisteredOptions().lookup("nvptx-short-ptr"))
      static_cast<cl::opt<bool> *>(option)->setValue(true);
  });
}

PtxEmitter::~PtxEmitter() = default;

TargetMachine &PtxEmitter::machine(const tile::Target &target, const EmitOptions &options) {
  int ptxVersion = std::max(target.ptxVersion, options.ptxVersion);
  auto &slot = impl->machines[{target.name.str(), ptxVersion, options.fuseMulAdd}];
  if (!slot) {
    Triple triple(kTriple);
    std::string error;
    const llvm::Target *backend = TargetRegistry::lookupTarget(triple, error);
    TargetOptions targetOptions;
    targetOptions.AllowFPOpFusion = options.fuseMulAdd ? FPOpFusion::Fast : FPOpFusion::Strict;
    slot.reset(backend->createTargetMachine(triple, target.name,
                                            "+ptx" + std::to_string(ptxVersion), targetOptions,
                                            Reloc::PIC_, std::nullopt, CodeGenOptLevel::Default));
  }
  return *slot;
}

/// What the threads of a warp must run together (barriers, matrix instructions)
/// may not be copied into the branches of a condition: each half of a warp would
/// wait for the other at its own copy.
static void markCollective(Module &module) {
  for (Function &f : module)
    for (Instruction &i : instructions(f))
      if (auto *call = dyn_cast<CallInst>(&i))
        if (auto *text = dyn_cast<InlineAsm>(call->getCalledOperand())) {
          StringRef ptx = text->getAsmString();
          if (ptx.contains(".sync") || ptx.contains(".aligned") || ptx.contains("bar.arrive"))
            call->setConvergent();
        }
}

std::unique_ptr<Module> PtxEmitter::translate(mlir::ModuleOp op, LLVMContext &context,
                                              const tile::Target &target,
                                              const EmitOptions &options, std::string &error) {
  TargetMachine &tm = machine(target, options);
  std::unique_ptr<Module> module = mlir::translateModuleToLLVMIR(op, context);
  if (!module) {
    error = "the lowered module could not be translated to LLVM IR";
    return nullptr;
  }
  module->setTargetTriple(tm.getTargetTriple());
  module->setDataLayout(tm.createDataLayout());
  markCollective(*module);
  if (options.maxRegisters)
    for (Function &f : *module)
      if (f.getCallingConv() == CallingConv::PTX_Kernel)
        f.addFnAttr("nvvm.maxnreg", std::to_string(options.maxRegisters));
  std::vector<std::string> libraries;
  if (auto named = op->getAttrOfType<mlir::ArrayAttr>(kLibrariesAttr))
    for (auto path : named.getAsRange<mlir::StringAttr>())
      libraries.push_back(path.str());
  if (!options.libdevicePath.empty())
    libraries.push_back(options.libdevicePath);
  for (const std::string &path : libraries) {
    SMDiagnostic diagnostic;
    std::unique_ptr<Module> library = parseIRFile(path, diagnostic, context);
    if (!library) {
      error = "cannot read the device library `" + path + "`: " + diagnostic.getMessage().str();
      return nullptr;
    }
    library->setTargetTriple(module->getTargetTriple());
    library->setDataLayout(module->getDataLayout());
    Linker::linkModules(*module, std::move(library), Linker::LinkOnlyNeeded);
  }
  if (Error failure = linkDeviceLibrary(*module)) {
    error = toString(std::move(failure));
    return nullptr;
  }
  for (const Function &f : *module)
    if (f.isDeclaration() && !f.isIntrinsic() &&
        !is_contained({"vprintf", "__assertfail"}, f.getName())) {
      error = ("no library has the function `" + f.getName() + "`").str();
      return nullptr;
    }
  return module;
}

void PtxEmitter::optimize(Module &module, const tile::Target &target, const EmitOptions &options) {
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cgam;
  ModuleAnalysisManager mam;
  PassBuilder builder(&machine(target, options));
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);

  bool calls = false, loops = false, variables = false;
  for (Function &f : module) {
    if (!f.isDeclaration())
      variables |= any_of(f.getEntryBlock(), [](Instruction &i) { return isa<AllocaInst>(i); });
    calls |= !f.isDeclaration() && f.hasLocalLinkage();
    if (f.getCallingConv() == CallingConv::PTX_Kernel)
      loops |= f.size() > 1;
  }
  // The lowering emits clean SSA: what is left is folding, sharing, and moving
  // invariants out of loops. Loops stay loops: nothing here unrolls.
  ModulePassManager mpm;
  if (calls)
    mpm.addPass(AlwaysInlinerPass());
  FunctionPassManager fpm;
  if (calls || variables)
    fpm.addPass(SROAPass(SROAOptions::ModifyCFG));
  fpm.addPass(EarlyCSEPass());
  fpm.addPass(InstCombinePass());
  if (loops) {
    fpm.addPass(SimplifyCFGPass());
    LoopPassManager lpm;
    lpm.addPass(LoopRotatePass());
    lpm.addPass(LICMPass(LICMOptions()));
    fpm.addPass(createFunctionToLoopPassAdaptor(std::move(lpm), /*UseMemorySSA=*/true));
    fpm.addPass(SimplifyCFGPass());
    fpm.addPass(InstCombinePass());
  }
  fpm.addPass(EarlyCSEPass());
  fpm.addPass(ADCEPass());
  mpm.addPass(createModuleToFunctionPassAdaptor(std::move(fpm)));
  if (calls)
    mpm.addPass(GlobalDCEPass());
  mpm.run(module, mam);
}

namespace {
/// The back end's passes without straight line strength reduction, which
/// compares every address with all addresses before it: a kernel with thousands
/// of accesses would take a minute.
class ManyAddressPasses : public legacy::PassManager {
public:
  void add(Pass *pass) override {
    if (pass->getPassName() == "Straight line strength reduction")
      delete pass;
    else
      legacy::PassManager::add(pass);
  }
};
} // namespace

static bool hasManyAddresses(const Module &module) {
  constexpr int many = 256; // takes some tens of milliseconds
  return any_of(module, [](const Function &f) {
    return count_if(instructions(f),
                    [](const Instruction &i) { return isa<GetElementPtrInst>(i); }) > many;
  });
}

bool PtxEmitter::emit(Module &module, const tile::Target &target, const EmitOptions &options,
                      std::string &ptx, std::string &error) {
  SmallString<0> text;
  raw_svector_ostream stream(text);
  legacy::PassManager all;
  ManyAddressPasses some;
  legacy::PassManager &pm = hasManyAddresses(module) ? some : all;
  if (machine(target, options)
          .addPassesToEmitFile(pm, stream, nullptr, CodeGenFileType::AssemblyFile,
                               /*DisableVerify=*/true)) {
    error = "the NVPTX backend cannot print assembly";
    return false;
  }
  pm.run(module);
  ptx = text.str().str();
  return true;
}
