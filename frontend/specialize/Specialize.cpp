//===- Specialize.cpp - one kernel, chosen and typed ----------------------===//
//
// The steps:
//  1. find the kernel in the file (KernelIndex.cpp);
//  2. give every parameter a type or a value, from the signature (or the
//     annotations) and the constexpr values (KernelArguments.cpp);
//  3. build the function and let the Specializer walk the body.
//
//===----------------------------------------------------------------------===//
#include "frontend/Specialize.h"
#include "frontend/MostErrors.h"
#include "frontend/eval/CheckDefinition.h"
#include "frontend/eval/WorkMeter.h"
#include "frontend/specialize/KernelArguments.h"
#include "frontend/specialize/KernelIndex.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

Specializer::Specializer(MLIRContext &context, const CompileOptions &options,
                         DiagnosticEngine &diagnostics, eval::Program &program)
    : Emitter(context, options, diagnostics), program(program) {
  builder.setListener(&operations);
  program.evaluator().hooks = this;
  program.evaluator().capability = target.capability;
}

void Specializer::runKernel(const eval::FunctionObject &kernel, llvm::ArrayRef<PyValue> arguments) {
  Frame top;
  top.function = &kernel;
  top.module = kernel.module;
  top.isKernel = true;
  top.place.file = &kernel.module->source();
  top.place.range = kernel.range();
  top.place.function = kernel.name();
  top.place.fileName = builder.getStringAttr(top.place.file->name());
  frame = &top;
  place = &top.place;
  // Operations on what is known, beside what the evaluator does.
  constexpr uint64_t maxSteps = 100'000'000;
  uint64_t steps = 0;
  eval::Work work(steps, maxSteps);
  for (auto [parameter, value] : llvm::zip(kernel.params(), arguments))
    top.vars[parameter.name] = Variable{ofHost(value)};
  run(kernel.def->body);
  take(PyValue::none()); // too many steps are an error, whoever took them
  func::ReturnOp::create(builder, loc());
  frame = nullptr;
  place = nullptr;
}

/// A kernel's name as PTX can have it: of other letters than ASCII's, every byte as
/// `$` and its hexadecimal digits. What PTX, or the code of a kernel, means something else by gets
/// a `$` behind it.
static std::string entryName(StringRef name) {
  static constexpr StringRef taken[] = {"_", "WARP_SZ", "vprintf", "__assertfail", "tile_shared"};
  if (llvm::is_contained(taken, name))
    return name.str() + "$";
  std::string out;
  for (char c : name)
    out += llvm::isAlnum(c) || c == '_' ? std::string(1, c)
                                        : "$" + llvm::utohexstr(uint8_t(c), false, 2);
  return out;
}

/// What an author promises of a value counts for all that follows in the same block, whether
/// or not it is said of the call's result: `tl.multiple_of(p, 16)` may be a statement.
static void spreadHints(func::FuncOp function) {
  function.walk([](HintOp hint) {
    hint.getSrc().replaceUsesWithIf(hint.getResult(), [&](OpOperand &use) {
      Operation *user = hint->getBlock()->findAncestorOpInBlock(*use.getOwner());
      return user && hint->isBeforeInBlock(user);
    });
  });
}

static OwningOpRef<ModuleOp> buildModule(Specializer &s, const eval::FunctionObject &kernel,
                                         Parameters &parameters) {
  const SourceFile &file = kernel.module->source();
  const CompileOptions &options = s.options;
  OpBuilder &b = s.builder;
  SourceFile::LineColumn at = file.locate(kernel.range().begin);
  Location location = FileLineColLoc::get(b.getStringAttr(file.name()), at.line, at.column);
  OwningOpRef<ModuleOp> module = ModuleOp::create(b, location);
  (*module)->setAttr(kTargetAttr, TargetAttr::get(b.getContext(), &s.target));
  (*module)->setAttr(kKernelAttr,
                     KernelAttr::get(b.getContext(), options.numWarps, options.numStages,
                                     options.numCtas > 1 ? options.numCtas : 0, options.warpRoles));

  auto entry = std::make_unique<Block>();
  SmallVector<DictionaryAttr> attributes;
  std::vector<PyValue> values;
  if (!buildArguments(s, kernel, parameters, *entry, attributes, values))
    return {};
  b.setInsertionPointToEnd(module->getBody());
  auto type = b.getFunctionType(entry->getArgumentTypes(), {});
  auto function = func::FuncOp::create(b, location, entryName(kernel.name()), type);
  function.setAllArgAttrs(attributes);
  Block *body = entry.release();
  function.getBody().push_back(body);
  b.setInsertionPointToEnd(body);
  unsigned errors = s.diagnostics.numErrors();
  s.runKernel(kernel, values);
  // With as many errors already, of another kernel, this one has not been looked at.
  if (s.diagnostics.numErrors() != errors || errors > frontend::kMostErrors)
    return {};
  spreadHints(function);
  return module;
}

} // namespace tile::specialize

//===----------------------------------------------------------------------===//
// Interface
//===----------------------------------------------------------------------===//

namespace tile::frontend {

void registerDialects(MLIRContext &context) {
  context.loadDialect<TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect,
                      func::FuncDialect>();
}

struct KernelFile::Impl {
  Impl(const SourceFile &file, const ast::Module &tree, std::vector<std::string> includePaths)
      : file(file), program(std::make_shared<eval::Program>(std::move(includePaths))),
        module(program->add(file, tree)) {}
  specialize::KernelIndex &index() {
    if (!found)
      found.emplace(module.kernels(), module.tree());
    return *found;
  }
  const SourceFile &file;
  std::shared_ptr<eval::Program> program;
  eval::ModuleEnv &module;
  std::optional<specialize::KernelIndex> found;
};

KernelFile::KernelFile(const SourceFile &file, const ast::Module &module,
                       std::vector<std::string> includePaths)
    : impl(std::make_unique<Impl>(file, module, std::move(includePaths))) {}

KernelFile::~KernelFile() = default;

eval::ModuleEnv &KernelFile::environment() { return impl->module; }

const std::vector<std::shared_ptr<eval::FunctionObject>> &KernelFile::kernels() {
  return impl->index().kernels;
}

const std::vector<Dependency> &KernelFile::dependencies() const {
  return impl->program->dependencies();
}

OwningOpRef<ModuleOp> KernelFile::specialize(MLIRContext &context, const CompileOptions &options,
                                             DiagnosticEngine &diagnostics) {
  eval::Program &program = *impl->program;
  program.evaluator().resetSteps();
  // What the kernel does with constants outside of the evaluator.
  uint64_t steps = 0;
  eval::Work work(steps, program.evaluator().limits.steps);
  OwningOpRef<ModuleOp> result;
  auto kernel = specialize::chooseKernel(impl->module, impl->index(), options, diagnostics);
  if (kernel)
    if (auto error = eval::checkDefinition(program.evaluator(), *kernel)) {
      eval::report(*error, diagnostics);
      kernel = nullptr;
    }
  if (kernel) {
    specialize::Parameters parameters(*kernel, program, options, diagnostics);
    specialize::Specializer specializer(context, options, diagnostics, program);
    if (parameters.resolve())
      result = specialize::buildModule(specializer, *kernel, parameters);
    if (!eval::Work::spend(0) && !diagnostics.hasErrors()) {
      diagnostics.error(&impl->file, kernel->range(), eval::Work::error()->diagnostic.message);
      result = {};
    }
    program.evaluator().hooks = nullptr;
  }
  // Errors may lie in files that the program has loaded for imports.
  if (!diagnostics.all().empty())
    diagnostics.retain(impl->program);
  return result;
}

/// A kernel that is given in the tile dialect already, with what the options ask of it.
static OwningOpRef<ModuleOp> readModule(MLIRContext &context, const SourceFile &file,
                                        const CompileOptions &options,
                                        DiagnosticEngine &diagnostics) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    message += (message.empty() ? "" : "; ") + d.str();
    return success();
  });
  auto module = parseSourceString<ModuleOp>(file.text(), ParserConfig(&context));
  if (!module || module->getOps<func::FuncOp>().empty()) {
    diagnostics.error(&file, {}, formatted("this is no module with a function: {}", message));
    return {};
  }
  (*module)->setAttr(kTargetAttr, TargetAttr::get(&context, &targetNamed(options.target)));
  (*module)->setAttr(kKernelAttr,
                     KernelAttr::get(&context, options.numWarps, options.numStages,
                                     options.numCtas > 1 ? options.numCtas : 0, options.warpRoles));
  return module;
}

OwningOpRef<ModuleOp> specialize(MLIRContext &context, const SourceFile &file,
                                 const ast::Module &tree, const CompileOptions &options,
                                 DiagnosticEngine &diagnostics,
                                 std::vector<Dependency> *dependencies) {
  if (file.name().ends_with(kModuleEnding))
    return readModule(context, file, options, diagnostics);
  KernelFile kernels(file, tree, options.includePaths);
  OwningOpRef<ModuleOp> result = kernels.specialize(context, options, diagnostics);
  if (dependencies)
    *dependencies = kernels.dependencies();
  return result;
}

} // namespace tile::frontend
