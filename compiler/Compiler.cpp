//===- Compiler.cpp - the pipeline as a contents page ---------------------===//
#include "compiler/Compiler.h"
#include "compiler/EmitPtx.h"
#include "compiler/Parameters.h"
#include "compiler/SourceErrors.h"
#include "frontend/Parser.h"
#include "frontend/Specialize.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "ir/Spelling.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "passes/Pipelines.h"
#include "passes/facts/Refusals.h"
#include "passes/facts/VerifyProtocol.h"
#include "passes/memory/Scratch.h"
#include "target/Target.h"
#include "text/Format.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <mutex>

using namespace mlir;
using namespace tile;

namespace {
/// A pipeline built once and run on many modules.
struct Pipeline {
  PassManager pm;
  void (*const build)(OpPassManager &);
  Pipeline(MLIRContext *context, void (*build)(OpPassManager &)) : pm(context), build(build) {
#ifdef NDEBUG
    pm.enableVerifier(false);
#endif
    verifyProtocolBehindPasses(pm);
    build(pm);
  }
};
} // namespace

static void buildDebugInfoPipeline(OpPassManager &pm) {
  LLVM::DIScopeForLLVMFuncOpPassOptions options;
  options.emissionKind = LLVM::DIEmissionKind::DebugDirectivesOnly;
  pm.addPass(LLVM::createDIScopeForLLVMFuncOpPass(options));
}

struct Compiler::Impl {
  MLIRContext context;
  PtxEmitter emitter;
  std::mutex mutex;
  Pipeline simplify, cta, lower, debugInfo;

  static DialectRegistry &registry() {
    static DialectRegistry registry = [] {
      DialectRegistry r;
      registerBuiltinDialectTranslation(r);
      registerLLVMDialectTranslation(r);
      registerNVVMDialectTranslation(r);
      return r;
    }();
    return registry;
  }

  Impl()
      : context(registry(), MLIRContext::Threading::DISABLED),
        simplify(&context, buildSimplifyPipeline), cta(&context, buildCtaPipeline),
        lower(&context, buildLoweringPipeline), debugInfo(&context, buildDebugInfoPipeline) {
    frontend::registerDialects(context);
    context.loadDialect<TileDialect, cta::CtaDialect, LLVM::LLVMDialect, NVVM::NVVMDialect>();
  }
};

Compiler::Compiler() : impl(std::make_unique<Impl>()) {}
Compiler::~Compiler() = default;
MLIRContext &Compiler::context() { return impl->context; }

static void collectPassNames(OpPassManager &pm, std::vector<std::string> &names) {
  for (Pass &pass : pm.getPasses())
    if (!pass.getArgument().empty() && !llvm::is_contained(names, pass.getArgument()))
      names.push_back(pass.getArgument().str());
}

std::vector<std::string> Compiler::passNames() {
  std::vector<std::string> names;
  OpPassManager steps(ModuleOp::getOperationName());
  buildCtaSteps(steps);
  for (OpPassManager *pm : {static_cast<OpPassManager *>(&impl->simplify.pm), &steps,
                            static_cast<OpPassManager *>(&impl->lower.pm),
                            static_cast<OpPassManager *>(&impl->debugInfo.pm)})
    collectPassNames(*pm, names);
  return names;
}

//===----------------------------------------------------------------------===//
// One compilation
//===----------------------------------------------------------------------===//

/// Puts on the module what passes ask it for, besides what the specialiser did.
static void setModuleOptions(ModuleOp module, const CompileOptions &options, const Target &target) {
  Builder b(module.getContext());
  auto flag = [&](bool on, StringRef name) {
    if (on)
      module->setAttr(name, b.getUnitAttr());
  };
  module->setAttr(kFpFusionAttr, b.getBoolAttr(options.enableFpFusion));
  flag(options.persistent, kPersistentAttr);
  flag(options.checkedLaunch, kCheckedLaunchAttr);
  flag(options.eachLaneArrives, kEachLaneArrivesAttr);
  flag(options.algebraic, kAlgebraicAttr);
  flag(options.programs == GridPrograms::Few, kLoadAheadAttr);
  flag(!options.tensorMaps, kNoTensorMapsAttr);
  flag(options.dependentLaunch && target.has(Feature::DependentLaunch), kDependentLaunchAttr);
}

/// Promises of arguments what `multiples` says of their entries of the signature.
static void promiseMultiples(func::FuncOp kernel,
                             ArrayRef<std::pair<unsigned, unsigned>> multiples) {
  Builder b(kernel.getContext());
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    auto entry = kernel.getArgAttrOfType<IntegerAttr>(i, kSignatureIndexAttr);
    if (!entry || kernel.getArgAttr(i, kSignaturePathAttr) ||
        kernel.getArgAttr(i, kDescriptorPartAttr) || kernel.getArgAttr(i, kDivisibilityAttr))
      continue;
    for (auto [index, multiple] : multiples)
      if (int64_t(index) == entry.getInt() && multiple > 1)
        kernel.setArgAttr(i, kDivisibilityAttr, b.getI32IntegerAttr(int32_t(multiple)));
  }
}

/// Where the op is that takes most of a kernel's shared memory.
static Location largestInShared(ModuleOp module) {
  Location place = module.getLoc();
  int64_t most = 0;
  module.walk([&](Operation *op) {
    int64_t bytes = lowering::scratchBytes(op);
    if (bytes > most) {
      most = bytes;
      place = op->getLoc();
    }
  });
  return place;
}

namespace {

class Compilation {
public:
  Compilation(MLIRContext &context, const frontend::SourceFile &file, const CompileOptions &options,
              CompileResult &result)
      : context(context), file(file), options(options), result(result),
        errors(file, result.diagnostics) {}

  /// Runs `step` under `name` in the time table.
  template <typename Step> auto timed(const char *name, Step step) {
    auto start = std::chrono::steady_clock::now();
    auto value = step();
    if (options.timing) {
      std::chrono::duration<double, std::milli> elapsed = std::chrono::steady_clock::now() - start;
      result.times.push_back({name, elapsed.count()});
    }
    return value;
  }

  /// Takes what MLIR says, while it is there: nothing is printed.
  ScopedDiagnosticHandler listening() {
    return ScopedDiagnosticHandler(&context, [this](mlir::Diagnostic &d) {
      if (d.getSeverity() == DiagnosticSeverity::Error)
        errors.at(d.getLocation(), d.str()).unsupported = true;
      else if (std::optional<Reason> reason = readRefusal(d))
        remarks.push_back({d.getLocation(), *reason});
      return success();
    });
  }

  /// Passes fail only on what the compiler does not support or on its own
  /// faults; either way the user sees the source line, not an op dump.
  bool run(const char *name, Pipeline &pipeline, ModuleOp module) {
    auto handler = listening();
    std::optional<Pipeline> printing; // of its own: the next compilation prints elsewhere
    if (!options.printIrAfter.empty())
      instrument(printing.emplace(&context, pipeline.build).pm);
    PassManager &pm = printing ? printing->pm : pipeline.pm;
    bool ok = timed(name, [&] { return succeeded(pm.run(module)); });
    if (!ok && !result.diagnostics.hasErrors())
      result.diagnostics.error(&file, {}, formatted("internal error in `{}`", name));
    return ok;
  }

  void instrument(PassManager &pm) {
    auto selected = [this](Pass *pass, Operation *) {
      return pass->getArgument() == options.printIrAfter || options.printIrAfter == "all";
    };
    pm.enableIRPrinting([](Pass *, Operation *) { return false; }, selected,
                        /*printModuleScope=*/true, /*printAfterOnlyOnChange=*/false,
                        /*printAfterOnlyOnFailure=*/false, dump());
  }
  llvm::raw_ostream &dump() {
    if (!dumpStream)
      dumpStream = std::make_unique<llvm::raw_string_ostream>(result.irDump);
    return *dumpStream;
  }

  std::string text(ModuleOp module) {
    std::string s;
    llvm::raw_string_ostream os(s);
    module.print(os);
    os << '\n';
    return s;
  }

  /// The steps, in order. Each is false if there is nothing to go on with.
  bool parse(ast::Module &tree);
  bool specialize(const ast::Module &tree);
  bool layOut(Pipeline &cta);
  bool addScopes(Pipeline &debugInfo);
  bool translate(PtxEmitter &emitter);
  bool emit(PtxEmitter &emitter);
  /// Whether the caller wants no more than what there is by now.
  bool stopsAfter(Stage stage) {
    if (options.stopAfter != stage)
      return false;
    result.output = text(*module);
    return true;
  }
  void readMetadata();
  void refuseSharedMemory();

  MLIRContext &context;
  const frontend::SourceFile &file;
  const CompileOptions &options;
  CompileResult &result;
  SourceErrors errors;
  const Target *target = nullptr;
  OwningOpRef<ModuleOp> module;
  llvm::LLVMContext llvmContext;
  std::unique_ptr<llvm::Module> llvmModule; ///< behind its context, so that it goes first
  EmitOptions emitOptions;
  std::vector<Remark> remarks; ///< of the passes
  std::unique_ptr<llvm::raw_string_ostream> dumpStream;
};

} // namespace

//===----------------------------------------------------------------------===//
// The steps
//===----------------------------------------------------------------------===//

/// Text to syntax tree: nothing is resolved here.
bool Compilation::parse(ast::Module &tree) {
  if (file.name().ends_with(frontend::kModuleEnding))
    return true; // the specialiser reads it
  tree = timed("parse", [&] { return frontend::parse(file, result.diagnostics); });
  return !result.diagnostics.hasErrors();
}

/// One kernel, for given types and constants, to the tile dialect.
bool Compilation::specialize(const ast::Module &tree) {
  module = timed("specialize", [&] {
    return frontend::specialize(context, file, tree, options, result.diagnostics,
                                &result.dependencies);
  });
  if (!module || result.diagnostics.hasErrors())
    return false;
  setModuleOptions(*module, options, *target);
  promiseMultiples(*module->getOps<func::FuncOp>().begin(), options.multiples);
  result.metadata.dependent = (*module)->hasAttr(kDependentLaunchAttr);
  result.metadata.entry = (*module->getOps<func::FuncOp>().begin()).getName().str();
  result.metadata.target = options.target;
  result.metadata.numWarps = options.numWarps;
  result.metadata.threads = 32 * options.numWarps;
  return true;
}

/// Who computes what: layouts, shared memory, barriers.
bool Compilation::layOut(Pipeline &cta) {
  if (!run("cta", cta, *module))
    return false;
  readMetadata();
  if (result.metadata.sharedBytes <= target->maxSharedBytes)
    return true;
  refuseSharedMemory();
  return false;
}

/// What the laid-out kernel tells a launcher.
void Compilation::readMetadata() {
  func::FuncOp kernel = *module->getOps<func::FuncOp>().begin();
  describeParameters(kernel, result.metadata);
  unsigned threads = cta::threadsOf(*module);
  result.metadata.threads = int(threads);
  kernel.walk([&](cta::RolesOp) { result.metadata.threads += int(cta::producerThreads(threads)); });
  result.metadata.cluster[0] = cta::madeOf(*module).cluster;
  cta::BlockPrograms programs = cta::blockProgramsOf(*module);
  result.metadata.programsPerBlock[programs.axis] = programs.count;
  if (auto apart = (*module)->getAttrOfType<IntegerAttr>(cta::kProgramsApartAttr))
    result.metadata.programsApart = int(apart.getInt());
  result.metadata.programsGrow =
      programs.count > 1 && (*module)->hasAttr(cta::kGrowingProgramsAttr);
  result.metadata.sharedBytes = cta::madeOf(*module).sharedBytes;
  auto few = (*module)->getAttrOfType<IntegerAttr>(kGainsAheadAttr);
  if (few && options.programs == GridPrograms::Any)
    result.metadata.fewPrograms = int(few.getInt());
}

void Compilation::refuseSharedMemory() {
  errors.at(largestInShared(*module),
            formatted("kernel `{}` needs {} bytes of shared memory, most of them here, but {} has "
                      "{}: use smaller blocks or fewer stages",
                      result.metadata.entry, result.metadata.sharedBytes, target->name,
                      target->maxSharedBytes));
}

/// Lines of the source for PTX.
bool Compilation::addScopes(Pipeline &debugInfo) {
  SharedPlaces shared(*module);
  return run("debug-info", debugInfo, *module);
}

/// To LLVM IR, and through the scalar optimiser.
bool Compilation::translate(PtxEmitter &emitter) {
  emitOptions.fuseMulAdd = options.enableFpFusion;
  emitOptions.maxRegisters = options.maxRegisters;
  emitOptions.sharedBytes = result.metadata.sharedBytes;
  emitOptions.fewPrograms = options.programs == GridPrograms::Few;
  emitOptions.libdevicePath = options.libdevicePath;
  emitOptions.dependencies = &result.dependencies;
  if (auto version = module->getOperation()->getAttrOfType<IntegerAttr>(kPtxVersionAttr))
    emitOptions.ptxVersion = version.getInt();
  std::string error;
  errors.listenTo(llvmContext);
  llvmModule = timed("translate", [&] {
    auto handler = listening();
    return emitter.translate(*module, llvmContext, *target, emitOptions, error);
  });
  if (!llvmModule)
    result.diagnostics.error(nullptr, {}, error);
  if (result.diagnostics.hasErrors())
    return false;
  int few = timed("optimize", [&] { return emitter.optimize(*llvmModule, *target, emitOptions); });
  if (options.programs == GridPrograms::Any && result.metadata.fewPrograms == 0)
    result.metadata.fewPrograms = few;
  return true;
}

/// Instruction selection.
bool Compilation::emit(PtxEmitter &emitter) {
  std::string error;
  bool emitted = timed("emit", [&] {
    return emitter.emit(*llvmModule, *target, emitOptions, result.output, error);
  });
  if (!emitted)
    result.diagnostics.error(nullptr, {}, error);
  return !result.diagnostics.hasErrors();
}

CompileResult Compiler::compile(const frontend::SourceFile &file, const CompileOptions &options,
                                LaidOutReader readLaidOut) {
  std::lock_guard<std::mutex> lock(impl->mutex);
  CompileResult result;
  Compilation c(impl->context, file, options, result);
  auto fail = [&]() -> CompileResult {
    result.status = result.diagnostics.onlyUnsupported() ? CompileResult::Status::Unsupported
                                                         : CompileResult::Status::Error;
    return std::move(result);
  };

  c.target = findTarget(options.target);
  if (!c.target) {
    result.diagnostics.error(nullptr, {}, describeUnknownTarget(options.target));
    return fail();
  }
  ast::Module tree;
  if (!c.parse(tree))
    return fail();
  if (options.stopAfter == Stage::Ast) {
    llvm::raw_string_ostream os(result.output);
    ast::print(tree, os);
    return result;
  }
  if (!c.specialize(tree) || !c.run("simplify", impl->simplify, *c.module))
    return fail();
  if (c.stopsAfter(Stage::Tile))
    return result;
  if (!c.layOut(impl->cta))
    return fail();
  if (readLaidOut) {
    readLaidOut(*c.module, c.remarks);
    if (options.stopAfter == Stage::Cta) // who reads the module needs no text of it
      return result;
  }
  if (c.stopsAfter(Stage::Cta))
    return result;

  // From here on one value is one register.
  if (!c.run("lower", impl->lower, *c.module))
    return fail();
  if (options.lineInfo && !c.addScopes(impl->debugInfo))
    return fail();
  if (!c.translate(impl->emitter))
    return fail();
  if (options.stopAfter == Stage::Llvm) {
    llvm::raw_string_ostream os(result.output);
    c.llvmModule->print(os, nullptr);
  } else if (!c.emit(impl->emitter)) {
    return fail();
  }
  return result;
}
