//===- Lint.cpp - remarks about a kernel's source --------------------------===//
#include "passes/Lint.h"
#include "compiler/Lint.h"
#include "frontend/Parser.h"
#include "frontend/Specialize.h"
#include "frontend/eval/Eval.h"
#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "text/Format.h"
#include "llvm/ADT/StringSet.h"
#include <optional>

using namespace mlir;
using namespace tile;

/// The place in `file`, or none if it lies in another one.
static frontend::SourceRange rangeIn(const frontend::SourceFile &file, Location loc) {
  frontend::SourceRange range;
  loc->walk([&](Location inner) {
    auto at = dyn_cast<FileLineColLoc>(inner);
    if (!at)
      return WalkResult::advance();
    if (at.getFilename() == file.name()) {
      uint32_t begin = file.offsetOf(at.getLine(), at.getColumn());
      range = {begin, begin + 1};
    }
    return WalkResult::interrupt();
  });
  return range;
}

struct Linter::Impl {
  Impl(const frontend::SourceFile &file, std::vector<std::string> includePaths,
       frontend::DiagnosticEngine &diagnostics)
      : file(file), tree(frontend::parse(file, diagnostics)),
        context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<TileDialect, cta::CtaDialect>();
    if (!diagnostics.hasErrors())
      program.emplace(file, tree, std::move(includePaths));
  }
  const frontend::SourceFile &file;
  ast::Module tree;
  MLIRContext context;
  std::optional<frontend::KernelFile> program;
};

Linter::Linter(const frontend::SourceFile &file, std::vector<std::string> includePaths,
               frontend::DiagnosticEngine &diagnostics)
    : impl(std::make_unique<Impl>(file, std::move(includePaths), diagnostics)) {}

Linter::~Linter() = default;

bool Linter::lint(const CompileOptions &options, bool stridesKnown,
                  frontend::DiagnosticEngine &diagnostics) {
  if (!impl->program)
    return false;
  OwningOpRef<ModuleOp> module = impl->program->specialize(impl->context, options, diagnostics);
  if (!module || diagnostics.hasErrors())
    return false;
  for (func::FuncOp kernel : module->getOps<func::FuncOp>())
    tile::lint(kernel, stridesKnown, [&](Location loc, std::string message) {
      frontend::SourceRange range = rangeIn(impl->file, loc);
      if (range.end)
        diagnostics.warning(&impl->file, range, std::move(message));
    });
  return true;
}

//===----------------------------------------------------------------------===//
// Guessing
//===----------------------------------------------------------------------===//

static std::string guessedType(llvm::StringRef name, llvm::StringRef body) {
  std::string lower = name.lower();
  llvm::StringRef text = lower;
  if (text.contains("ptr") || text.contains("pointer"))
    return "*fp32:16";
  if (text.contains("stride") || text.starts_with("n_") || text.starts_with("num") ||
      text.contains("size") || text.contains("len") || text.contains("row") || text.contains("col"))
    return "i32";
  if (text.contains("eps") || text.contains("scale") || text.contains("alpha") ||
      text.contains("beta") || text == "p" || text == "lr")
    return "fp32";
  // `x + offsets`: something is added to the base of an access.
  bool isBase = body.contains(formatted("({} + ", name)) ||
                body.contains(formatted(" = {} + ", name)) || body.contains("base=" + name.str()) ||
                body.contains("make_block_ptr(" + name.str());
  return isBase ? "*fp32:16" : "i32";
}

/// The names that are called, or passed on, in the text of another kernel than their
/// own: what others call is looked at where it is expanded.
static llvm::StringSet<>
calledNames(llvm::StringRef text, llvm::ArrayRef<std::shared_ptr<eval::FunctionObject>> kernels) {
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || (c & 0x80); };
  llvm::StringSet<> called;
  for (const auto &kernel : kernels) {
    llvm::StringRef body = text.slice(kernel->range().begin, kernel->def->range.end);
    while (!(body = body.drop_until(isWord)).empty()) {
      llvm::StringRef word = body.take_while(isWord);
      body = body.drop_front(word.size());
      if (word != kernel->name() && (body.starts_with("(") || body.starts_with(")")))
        called.insert(word);
    }
  }
  return called;
}

static GuessedTypes guessTypes(const eval::FunctionObject &kernel, eval::ModuleEnv &module) {
  GuessedTypes types;
  types.kernel = kernel.name();
  types.annotated = true;
  llvm::StringRef body =
      module.source().text().slice(kernel.def->range.begin, kernel.def->range.end);
  for (const ast::Parameter &parameter : kernel.params()) {
    if (eval::isConstexprAnnotation(parameter.annotation.get(), &module)) {
      if (!parameter.defaultValue)
        types.constexprs.emplace_back(parameter.name, "64");
      continue;
    }
    types.annotated &= parameter.annotation != nullptr;
    types.signature +=
        std::string(types.signature.empty() ? "" : ", ") + guessedType(parameter.name, body);
  }
  return types;
}

std::vector<GuessedTypes> Linter::kernels() {
  std::vector<GuessedTypes> result;
  if (!impl->program)
    return result;
  const auto &kernels = impl->program->kernels();
  llvm::StringSet<> called = calledNames(impl->file.text(), kernels);
  for (const auto &kernel : kernels)
    if (!called.contains(kernel->name()))
      result.push_back(guessTypes(*kernel, impl->program->environment()));
  return result;
}
