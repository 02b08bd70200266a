//===- Compiler.cpp - the pipeline as a contents page ---------------------===//
#include "compiler/Compiler.h"
#include "compiler/EmitPtx.h"
#include "compiler/Parameters.h"
#include "compiler/Targets.h"
#include "frontend/Parser.h"
#include "frontend/Specialize.h"
#include "ir/Algebra.h"
#include "ir/CtaDialect.h"
#include "ir/Spelling.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "passes/Pipelines.h"
#include "passes/lowering/Options.h"
#include "passes/lowering/Scratch.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/DiagnosticPrinter.h"
#include "llvm/IR/Instruction.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <map>
#include <mutex>

using namespace mlir;
using namespace tile;

namespace {
/// A pipeline built once and run on many modules.
struct Pipeline {
  PassManager pm;
  Pipeline(MLIRContext *context, void (*build)(OpPassManager &)) : pm(context) {
#ifdef NDEBUG
    pm.enableVerifier(false);
#endif
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
  for (Pipeline *pipeline : {&impl->simplify, &impl->cta, &impl->lower, &impl->debugInfo})
    collectPassNames(pipeline->pm, names);
  return names;
}

//===----------------------------------------------------------------------===//
// One compilation
//===----------------------------------------------------------------------===//

namespace {

class Compilation {
public:
  Compilation(MLIRContext &context, const frontend::SourceFile &file, const CompileOptions &options,
              CompileResult &result)
      : context(context), file(file), options(options), result(result) {}

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

  /// Passes fail only on what the compiler does not support or on its own
  /// faults; either way the user sees the source line, not an op dump.
  bool run(const char *name, Pipeline &pipeline, ModuleOp module) {
    ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
      if (d.getSeverity() == DiagnosticSeverity::Error)
        report(d.getLocation(), d.str());
      else if (auto at = d.getLocation()->findInstanceOf<FileLineColLoc>())
        remarks.push_back({at.getLine(), at.getColumn(), d.str()});
      return success();
    });
    if (!options.printIrAfter.empty())
      instrument(pipeline.pm);
    bool ok = timed(name, [&] { return succeeded(pipeline.pm.run(module)); });
    if (!ok && !result.diagnostics.hasErrors())
      result.diagnostics.error(&file, {}, std::string("internal error in `") + name + "`");
    return ok;
  }

  /// A place in some file of the program.
  struct Place {
    std::string file;
    unsigned line, column;
  };

  /// The place of a location, then those of the calls that led there.
  static void collectPlaces(Location loc, SmallVectorImpl<Place> &places) {
    if (auto at = dyn_cast<FileLineColLoc>(loc)) {
      places.push_back({at.getFilename().str(), at.getLine(), at.getColumn()});
    } else if (auto call = dyn_cast<CallSiteLoc>(loc)) {
      collectPlaces(call.getCallee(), places);
      collectPlaces(call.getCaller(), places);
    } else if (auto named = dyn_cast<NameLoc>(loc)) {
      collectPlaces(named.getChildLoc(), places);
    } else if (auto fused = dyn_cast<FusedLoc>(loc)) {
      collectPlaces(fused.getLocations().front(), places);
    }
  }

  /// The file of that name: the one that is compiled, or one that it imports
  /// (null if that is gone since).
  const frontend::SourceFile *fileNamed(const std::string &name) {
    if (name == file.name())
      return &file;
    std::shared_ptr<frontend::SourceFile> &other = others[name];
    if (!other) {
      std::string error;
      other = frontend::SourceFile::open(name, error);
      result.diagnostics.retain(other);
    }
    return other.get();
  }

  frontend::Diagnostic diagnosticAt(const Place &place, std::string message) {
    frontend::Diagnostic diagnostic;
    diagnostic.file = fileNamed(place.file);
    if (!diagnostic.file) {
      diagnostic.message = place.file + ":" + std::to_string(place.line) + ": " + message;
      return diagnostic;
    }
    uint32_t begin = diagnostic.file->offsetOf(place.line, place.column);
    diagnostic.range = {begin, begin + 1};
    diagnostic.message = std::move(message);
    return diagnostic;
  }

  /// An error at the first place; the others are the calls around it.
  frontend::Diagnostic &errorAt(ArrayRef<Place> places, std::string message) {
    if (places.empty())
      return result.diagnostics.error(&file, {}, std::move(message));
    frontend::Diagnostic at = diagnosticAt(places.front(), std::move(message));
    frontend::Diagnostic &error =
        result.diagnostics.error(at.file, at.range, std::move(at.message));
    for (const Place &caller : places.drop_front().take_back(kMaxCallers)) {
      error.notes.push_back(diagnosticAt(caller, "called here"));
      error.notes.back().severity = frontend::Severity::Note;
    }
    return error;
  }

  static SmallVector<Place> placesOf(Location loc) {
    SmallVector<Place> places;
    collectPlaces(loc, places);
    return places;
  }

  void report(Location loc, std::string message) {
    errorAt(placesOf(loc), std::move(message)).unsupported = true;
  }

  /// What LLVM finds wrong, as inline PTX whose operands do not suit its
  /// constraints: by itself it would print that and end the process.
  static void reportFromLlvm(const llvm::DiagnosticInfo *info, void *compilation) {
    auto &self = *static_cast<Compilation *>(compilation);
    if (info->getSeverity() != llvm::DS_Error)
      return;
    std::string message;
    llvm::raw_string_ostream os(message);
    llvm::DiagnosticPrinterRawOStream printer(os);
    info->print(printer);
    SmallVector<Place> places;
    if (auto *text = llvm::dyn_cast<llvm::DiagnosticInfoInlineAsm>(info)) {
      message = "inline PTX: " + message;
      const llvm::Instruction *call = text->getInstruction();
      const llvm::DILocation *at = call ? call->getDebugLoc().get() : nullptr;
      for (; at; at = at->getInlinedAt()) {
        llvm::SmallString<256> path(at->getDirectory());
        llvm::sys::path::append(path, at->getFilename());
        places.push_back({std::string(path), at->getLine(), at->getColumn()});
      }
    }
    self.errorAt(places, std::move(message));
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

  MLIRContext &context;
  const frontend::SourceFile &file;
  const CompileOptions &options;
  CompileResult &result;
  std::vector<Remark> remarks; ///< of the passes
  std::unique_ptr<llvm::raw_string_ostream> dumpStream;
  std::map<std::string, std::shared_ptr<frontend::SourceFile>> others;
  static constexpr size_t kMaxCallers = 4;
};

} // namespace

/// Puts on the module what passes ask it for, besides what the specialiser did.
static void setModuleOptions(ModuleOp module, const CompileOptions &options, const Target &target) {
  Builder b(module.getContext());
  auto flag = [&](bool on, StringRef name) {
    if (on)
      module->setAttr(name, b.getUnitAttr());
  };
  module->setAttr(kFpFusionAttr, b.getBoolAttr(options.enableFpFusion));
  flag(options.persistent, kPersistentAttr);
  if (options.numCtas > 1)
    module->setAttr(cta::kNumCtasAttr, b.getI32IntegerAttr(options.numCtas));
  if (options.warpRoles != WarpRoles::Auto)
    module->setAttr(cta::kWarpRolesAttr, b.getStringAttr(spelled(options.warpRoles)));
  flag(options.checkedLaunch, kCheckedLaunchAttr);
  flag(options.eachLaneArrives, lowering::kEachLaneArrivesAttr);
  flag(options.algebraic, algebra::kAlgebraicAttr);
  flag(!options.tensorMaps, kNoTensorMapsAttr);
  flag(options.dependentLaunch && target.capability >= 90, kDependentLaunchAttr);
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

  const Target *target = findTarget(options.target);
  if (!target) {
    result.diagnostics.error(nullptr, {}, describeUnknownTarget(options.target));
    return fail();
  }

  // Text to syntax tree: nothing is resolved here.
  ast::Module tree = c.timed("parse", [&] { return frontend::parse(file, result.diagnostics); });
  if (result.diagnostics.hasErrors())
    return fail();
  if (options.stopAfter == Stage::Ast) {
    llvm::raw_string_ostream os(result.output);
    ast::print(tree, os);
    return result;
  }

  // One kernel, for given types and constants, to the tile dialect.
  OwningOpRef<ModuleOp> module = c.timed("specialize", [&] {
    return frontend::specialize(impl->context, file, tree, options, result.diagnostics,
                                &result.dependencies);
  });
  if (!module || result.diagnostics.hasErrors())
    return fail();
  setModuleOptions(*module, options, *target);
  result.metadata.dependent = (*module)->hasAttr(kDependentLaunchAttr);
  auto kernels = module->getOps<func::FuncOp>();
  func::FuncOp kernel = *kernels.begin();
  result.metadata.entry = kernel.getName().str();
  result.metadata.target = options.target;
  result.metadata.numWarps = options.numWarps;
  result.metadata.threads = 32 * options.numWarps;

  // Language-level simplification: folding, sharing, hoisting.
  if (!c.run("simplify", impl->simplify, *module))
    return fail();
  if (options.stopAfter == Stage::Tile) {
    result.output = c.text(*module);
    return result;
  }

  (*module)->setAttr(cta::kMaxSharedBytesAttr,
                     Builder(module->getContext()).getI32IntegerAttr(target->maxSharedBytes));
  // Who computes what: layouts, shared memory, barriers. Warpgroups read their
  // operands from shared memory; where it cannot hold them, warps must do.
  auto sharedBytes = [&] {
    auto attr = module->getOperation()->getAttrOfType<IntegerAttr>(cta::kSharedBytesAttr);
    return attr ? attr.getInt() : 0;
  };
  OwningOpRef<ModuleOp> before;
  bool hasProducts = module->walk([](DotOp) { return WalkResult::interrupt(); }).wasInterrupted();
  if (hasProducts && options.target == "sm_90a")
    before = module->clone();
  if (!c.run("cta", impl->cta, *module))
    return fail();
  auto again = [&](OwningOpRef<ModuleOp> from, StringRef name, Attribute attr) {
    module = std::move(from);
    c.remarks.clear();
    (*module)->setAttr(name, attr);
    kernel = *module->getOps<func::FuncOp>().begin();
    return c.run("cta", impl->cta, *module);
  };
  // Two groups of warps stage what they store side by side.
  if (before && sharedBytes() > target->maxSharedBytes && cta::groupsOf(*module) > 1 &&
      !again(before->clone(), cta::kWarpRolesAttr,
             StringAttr::get(&impl->context, spelled(WarpRoles::Cooperative))))
    return fail();
  if (before && sharedBytes() > target->maxSharedBytes &&
      !again(std::move(before), kNoWarpgroupDotsAttr, UnitAttr::get(&impl->context)))
    return fail();
  describeParameters(kernel, result.metadata);
  kernel.walk([&](cta::RolesOp) { result.metadata.threads += cta::kProducerThreads; });
  if (auto cluster = module->getOperation()->getAttrOfType<IntegerAttr>(cta::kClusterAttr))
    result.metadata.cluster[0] = int(cluster.getInt());
  result.metadata.sharedBytes = int(sharedBytes());
  if (result.metadata.sharedBytes > target->maxSharedBytes) {
    c.errorAt(c.placesOf(largestInShared(*module)),
              "kernel `" + result.metadata.entry + "` needs " +
                  std::to_string(result.metadata.sharedBytes) +
                  " bytes of shared memory, most of them here, but " + target->name.str() +
                  " has " + std::to_string(target->maxSharedBytes) +
                  ": use smaller blocks or fewer stages");
    return fail();
  }
  if (options.stopAfter == Stage::Cta) {
    result.output = c.text(*module);
    return result;
  }

  if (readLaidOut)
    readLaidOut(*module, c.remarks);

  // From here on one value is one register.
  if (!c.run("lower", impl->lower, *module))
    return fail();
  if (options.lineInfo && !c.run("debug-info", impl->debugInfo, *module))
    return fail();

  // LLVM IR, the scalar optimiser, instruction selection.
  EmitOptions emit;
  emit.fuseMulAdd = options.enableFpFusion;
  emit.maxRegisters = options.maxRegisters;
  emit.sharedBytes = result.metadata.sharedBytes;
  emit.libdevicePath = options.libdevicePath;
  if (auto version = module->getOperation()->getAttrOfType<IntegerAttr>(kPtxVersionAttr))
    emit.ptxVersion = version.getInt();
  std::string error;
  llvm::LLVMContext llvmContext;
  llvmContext.setDiagnosticHandlerCallBack(&Compilation::reportFromLlvm, &c,
                                           /*RespectFilters=*/true);
  std::unique_ptr<llvm::Module> llvmModule = c.timed("translate", [&] {
    return impl->emitter.translate(*module, llvmContext, *target, emit, error);
  });
  if (!llvmModule)
    result.diagnostics.error(nullptr, {}, error);
  if (result.diagnostics.hasErrors())
    return fail();
  c.timed("optimize", [&] {
    impl->emitter.optimize(*llvmModule, *target, emit);
    return 0;
  });
  if (options.stopAfter == Stage::Llvm) {
    llvm::raw_string_ostream os(result.output);
    llvmModule->print(os, nullptr);
    return result;
  }
  bool emitted = c.timed(
      "emit", [&] { return impl->emitter.emit(*llvmModule, *target, emit, result.output, error); });
  if (!emitted)
    result.diagnostics.error(nullptr, {}, error);
  return result.diagnostics.hasErrors() ? fail() : std::move(result);
}
