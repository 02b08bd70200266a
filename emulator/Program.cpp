//===- Program.cpp - a kernel compiled for the host -----------------------===//
#include "emulator/Emulator.h"
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Machine.h"
#include "emulator/machine/Numbers.h"
#include "emulator/translate/Translate.h"
#include "text/Format.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/DiagnosticHandler.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include <cmath>
#if defined(__x86_64__)
#include <emmintrin.h>
#endif

using namespace llvm;
using namespace tile::emu;
using tile::formatted;

namespace tile::emu {
struct ProgramImpl {
  std::unique_ptr<orc::LLJIT> jit;
  Translation translation;
  KernelEntry entry = nullptr;
  std::vector<HostObject> variables; ///< of the module
};
} // namespace tile::emu

/// Inline the pieces that inline PTX became, and take their stack slots apart.
static void optimize(Module &module) {
  ModulePassManager mpm;
  mpm.addPass(AlwaysInlinerPass(/*InsertLifetime=*/false));
  FunctionPassManager fpm;
  fpm.addPass(SROAPass(SROAOptions::ModifyCFG));
  fpm.addPass(EarlyCSEPass());
  fpm.addPass(SimplifyCFGPass());
  mpm.addPass(createModuleToFunctionPassAdaptor(std::move(fpm)));
  mpm.addPass(GlobalDCEPass());
  runPasses(module, std::move(mpm));
}

#if defined(__x86_64__)
// What code for 16-bit floats calls where the processor has no instruction. They are
// passed in the low bits of a vector register; named by their own types, unoptimised
// code that returns them would itself call what is defined here.
static __m128i narrow(Format format, double x) { return _mm_cvtsi32_si128(int(encode(format, x))); }
static __m128i truncateToBF16(float x) { return narrow(Format::BF16, x); }
static __m128i truncateDoubleToBF16(double x) { return narrow(Format::BF16, x); }
static __m128i truncateToHalf(float x) { return narrow(Format::F16, x); }
static __m128i truncateDoubleToHalf(double x) { return narrow(Format::F16, x); }
static float extendHalf(__m128i x) {
  return float(decode(Format::F16, uint16_t(_mm_cvtsi128_si32(x))));
}
#endif

namespace {
/// Adds up what the compiled functions take of the stack, of which the compiler tells like this.
class FrameSizes : public DiagnosticHandler {
public:
  static Error askIn(Module &module, uint64_t &bytes) {
    for (Function &f : module) {
      if (f.isDeclaration())
        continue;
      f.addFnAttr("warn-stack-size", "0");
      // What the compiler does not tell: the frame starts at a multiple of the largest alignment.
      uint64_t align = 0;
      for (Instruction &inst : instructions(f))
        if (auto *slot = dyn_cast<AllocaInst>(&inst)) {
          if (!slot->isStaticAlloca()) // nor what is taken as it runs
            return createStringError(
                formatted("internal error: `{}` takes memory that no frame has", f.getName()));
          align = std::max(align, slot->getAlign().value());
        }
      bytes += align;
    }
    module.getContext().setDiagnosticHandler(std::make_unique<FrameSizes>(bytes));
    return Error::success();
  }
  explicit FrameSizes(uint64_t &bytes) : bytes(bytes) {}
  bool handleDiagnostics(const DiagnosticInfo &info) override {
    if (info.getKind() != DK_StackSize)
      return false;
    constexpr uint64_t kReturnAddress = 8;
    bytes += cast<DiagnosticInfoStackSize>(info).getResourceSize() + kReturnAddress;
    return true;
  }

private:
  uint64_t &bytes;
};
} // namespace

/// Mathematics that the host's code generator may call by name.
static void addRuntimeFunctions(orc::SymbolMap &symbols, orc::LLJIT &jit) {
  auto add = [&](const char *name, auto *function) {
    symbols[jit.mangleAndIntern(name)] = {orc::ExecutorAddr::fromPtr(function),
                                          JITSymbolFlags::Exported};
  };
#define TILE_LIBM(T, f) add(#f, static_cast<T>(&::f))
  using F1 = float (*)(float);
  using D1 = double (*)(double);
  using F2 = float (*)(float, float);
  using D2 = double (*)(double, double);
  TILE_LIBM(F1, floorf), TILE_LIBM(F1, ceilf), TILE_LIBM(F1, truncf), TILE_LIBM(F1, rintf);
  TILE_LIBM(F1, roundf), TILE_LIBM(F1, nearbyintf), TILE_LIBM(F1, sqrtf), TILE_LIBM(F1, fabsf);
  TILE_LIBM(D1, floor), TILE_LIBM(D1, ceil), TILE_LIBM(D1, trunc), TILE_LIBM(D1, rint);
  TILE_LIBM(D1, round), TILE_LIBM(D1, nearbyint), TILE_LIBM(D1, sqrt), TILE_LIBM(D1, fabs);
  TILE_LIBM(F2, fmaxf), TILE_LIBM(F2, fminf), TILE_LIBM(F2, fmodf), TILE_LIBM(F2, copysignf);
  TILE_LIBM(D2, fmax), TILE_LIBM(D2, fmin), TILE_LIBM(D2, fmod), TILE_LIBM(D2, copysign);
  using F3 = float (*)(float, float, float);
  using D3 = double (*)(double, double, double);
  TILE_LIBM(F3, fmaf), TILE_LIBM(D3, fma);
#undef TILE_LIBM
#if defined(__x86_64__)
  add("__truncsfbf2", &truncateToBF16);
  add("__truncdfbf2", &truncateDoubleToBF16);
  add("__truncsfhf2", &truncateToHalf);
  add("__truncdfhf2", &truncateDoubleToHalf);
  add("__extendhfsf2", &extendHalf);
#endif
  add("memcpy", static_cast<void *(*)(void *, const void *, size_t)>(&::memcpy));
  add("memset", static_cast<void *(*)(void *, int, size_t)>(&::memset));
  add("memmove", static_cast<void *(*)(void *, const void *, size_t)>(&::memmove));
}

/// The same code on all processors that have what most have, so that results are the
/// same too: some newer instructions flush subnormal numbers, or round otherwise than
/// the steps through f32 that others take.
static Expected<orc::JITTargetMachineBuilder> hostMachine() {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
  });
#if defined(__x86_64__)
  const StringMap<bool> features = sys::getHostCPUFeatures();
  if (all_of(ArrayRef{"avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"},
             [&](StringRef name) { return features.lookup(name); })) {
    orc::JITTargetMachineBuilder machine{Triple(sys::getProcessTriple())};
    machine.setCPU("x86-64-v3");
    return machine;
  }
#endif
  return orc::JITTargetMachineBuilder::detectHost();
}

/// Choosing the host's instructions takes time by the square of a block's length, or worse: of
/// 7,000 more than ten minutes, where pieces take half a second. A sort of 256 numbers a thread is
/// one block of a hundred thousand. Such code is cut, and compiled without what would put the
/// pieces together again.
static constexpr std::ptrdiff_t kLongBlock = 1 << 12, kPiece = 1 << 10;

static bool hasLongBlocks(const Module &module) {
  return any_of(module, [](const Function &function) {
    return any_of(function, [](const BasicBlock &block) {
      return std::ptrdiff_t(block.size()) > kLongBlock;
    });
  });
}

/// The pieces of a function's first block are others, where a stack slot would be one that the code
/// takes as it runs: of a size that nobody adds up.
static void gatherSlots(Function &function) {
  BasicBlock &entry = function.getEntryBlock();
  for (Instruction &inst : make_early_inc_range(entry))
    if (isa<AllocaInst>(inst))
      inst.moveBefore(entry, entry.begin());
}

/// From behind: each cut moves what stands behind it to a block of its own.
static void cutIntoPieces(BasicBlock &block) {
  // Phis stay together, however many, and so do slots.
  std::ptrdiff_t left = std::distance(block.getFirstNonPHIOrDbgOrAlloca(), block.end());
  for (; left > kPiece; left -= kPiece / 2 - 1) // and the branch to what was cut off is added
    block.splitBasicBlock(std::prev(block.end(), kPiece / 2));
}

static void cutLongBlocks(Module &module) {
  for (Function &function : module) {
    if (!function.isDeclaration())
      gatherSlots(function);
    for (BasicBlock &block : make_early_inc_range(function))
      cutIntoPieces(block);
  }
}

static Expected<std::unique_ptr<orc::LLJIT>> makeJit(orc::JITTargetMachineBuilder machine,
                                                     CodeGenOptLevel level) {
  machine.setCodeGenOptLevel(level);
  machine.getOptions().TrapUnreachable = true;
  machine.getOptions().AllowFPOpFusion = FPOpFusion::Strict; // Contract.cpp has done it
  // The kernel's code gets what it is given by name, and nothing else of this process.
  return orc::LLJITBuilder()
      .setJITTargetMachineBuilder(std::move(machine))
      .setLinkProcessSymbolsByDefault(false)
      .setPlatformSetUp(orc::setUpInactivePlatform)
      .create();
}

/// Makes the module's code, which calls hooks, and finds its entry.
static Error link(ProgramImpl &impl, orc::ThreadSafeModule module) {
  orc::SymbolMap symbols;
  for (ArrayRef<Hook> hooks :
       {memoryHooks(), printHooks(), privateHooks(), warpHooks(), barrierHooks(), orderHooks(),
        loadHooks(), mbarrierHooks(), mathHooks(), asyncHooks(), matrixHooks(), wgmmaHooks(),
        tensorCopyHooks(), schedulerHooks()})
    for (const Hook &hook : hooks)
      symbols[impl.jit->mangleAndIntern(hook.name)] = {orc::ExecutorAddr::fromPtr(hook.address),
                                                       JITSymbolFlags::Exported};
  addRuntimeFunctions(symbols, *impl.jit);
  if (Error error = impl.jit->getMainJITDylib().define(orc::absoluteSymbols(std::move(symbols))))
    return error;
  if (Error error = impl.jit->addIRModule(std::move(module)))
    return error;
  // What it says it says to a reporter, and the lookup that it failed.
  auto reported = std::make_shared<std::string>();
  impl.jit->getExecutionSession().setErrorReporter(
      [reported](Error error) { *reported += toString(std::move(error)); });
  auto entry = impl.jit->lookup(kEntryName);
  if (!entry) {
    std::string failed = toString(entry.takeError());
    return createStringError(formatted("the emulator cannot make the kernel's code: {}",
                                       reported->empty() ? failed : *reported));
  }
  impl.entry = entry->toPtr<KernelEntry>();
  return Error::success();
}

static Expected<std::unique_ptr<ProgramImpl>> load(StringRef ir, const LoadOptions &options) {
  auto context = std::make_unique<LLVMContext>();
  SMDiagnostic diagnostic;
  std::unique_ptr<Module> module = parseIR(MemoryBufferRef(ir, "kernel"), diagnostic, *context);
  if (!module)
    return createStringError(
        formatted("the kernel's LLVM module cannot be read: {}", diagnostic.getMessage()));
  if (options.mutate)
    options.mutate(*module);
  auto impl = std::make_unique<ProgramImpl>();
  auto machine = hostMachine();
  if (!machine)
    return machine.takeError();
  auto layout = machine->getDefaultDataLayoutForTarget();
  if (!layout)
    return layout.takeError();
  auto translation = translateToHost(*module, machine->getTargetTriple(), *layout, options);
  if (!translation)
    return translation.takeError();
  impl->translation = std::move(*translation);
  std::string problem;
  raw_string_ostream problems(problem);
  if (verifyModule(*module, &problems))
    return createStringError(
        formatted("internal error: the translated kernel is not well-formed: {}", problem));
  optimize(*module);
  bool isLong = hasLongBlocks(*module); // of what instructions of the GPU have become
  if (isLong)
    cutLongBlocks(*module);
  auto jit = makeJit(std::move(*machine), isLong ? CodeGenOptLevel::None : CodeGenOptLevel::Less);
  if (!jit)
    return jit.takeError();
  impl->jit = std::move(*jit);
  if (Error error = FrameSizes::askIn(*module, impl->translation.frameBytes))
    return std::move(error);
  if (Error error = link(*impl, orc::ThreadSafeModule(std::move(module), std::move(context))))
    return std::move(error);
  if (impl->translation.variables.empty())
    return impl;
  auto table = impl->jit->lookup(kVariablesName);
  if (!table)
    return table.takeError();
  auto *addresses = table->toPtr<const uint64_t *>();
  for (auto [i, variable] : enumerate(impl->translation.variables))
    impl->variables.push_back({addresses[i], variable.bytes, variable.writable});
  return impl;
}

std::unique_ptr<Program> Program::load(StringRef ir, const LoadOptions &options,
                                       std::string &error) {
  auto impl = ::load(ir, options);
  if (impl)
    return std::unique_ptr<Program>(new Program(std::move(*impl)));
  error = toString(impl.takeError());
  return nullptr;
}

Program::Program(std::unique_ptr<ProgramImpl> impl) : impl(std::move(impl)) {}
Program::~Program() = default;

StringRef Program::name() const { return impl->translation.kernel; }
ArrayRef<Site> Program::sites() const { return impl->translation.sites; }
bool Program::dependsOnOrder() const { return dependsOnMoreThanSums() || impl->translation.sums; }
bool Program::dependsOnMoreThanSums() const { return impl->translation.dependsOnOrder; }
const std::set<std::string> &Program::inexact() const { return impl->translation.inexact; }

/// A thread that holds very many elements keeps most of them on its stack.
static std::string tooMuchStack(const ProgramImpl &impl, const LaunchConfig &config) {
  constexpr uint64_t kMost = uint64_t(1) << 30, kMega = uint64_t(1) << 20;
  uint64_t bytes = impl.translation.frameBytes;
  if (bytes <= kMega || bytes <= kMost / std::max(1u, config.threads))
    return "";
  return formatted(
      "a thread needs {} MB for the values that it holds, and a thread block has {} of them, where "
      "the emulator gives a block {} MB: smaller blocks of elements need less",
      divideCeil(bytes, kMega), config.threads, kMost / kMega);
}

Report Program::run(const LaunchConfig &config, const RunOptions &options) const {
  Launch launch;
  launch.program = impl.get();
  launch.entry = impl->entry;
  launch.config = config;
  launch.config.sharedBytes += impl->translation.staticSharedBytes;
  launch.options = options;
  launch.sites = impl->translation.sites;
  launch.translation = &impl->translation;
  launch.objects = impl->variables;
  for (auto [value, bytes] : zip(config.parameters, impl->translation.parameterBytes))
    if (bytes)
      launch.objects.push_back({reinterpret_cast<uint64_t>(value), bytes, /*writable=*/false});
  sort(launch.objects, [](const HostObject &a, const HostObject &b) { return a.base < b.base; });
  bool whole = true;
  for (unsigned axis = 0; axis < 3; ++axis)
    whole &= config.cluster[axis] && config.grid[axis] % config.cluster[axis] == 0;
  if (!whole)
    launch.findings.add(FindingKind::BadOperand, 0, "the launch",
                        "the grid is not a whole number of clusters");
  else if (std::string problem = tooMuchStack(*impl, config); !problem.empty())
    launch.findings.add(FindingKind::BadOperand, 0, "the launch", problem);
  else if (config.grid[0] && config.grid[1] && config.grid[2])
    runLaunch(launch);
  Report report = launch.findings.take(impl->translation.sites, options.maxFindings);
  report.counters = std::move(launch.counters);
  report.work = launch.work;
  report.sumsAreSeen = launch.sums && launch.sums->isSeen();
  return report;
}
