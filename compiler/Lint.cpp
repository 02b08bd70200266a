//===- Lint.cpp - remarks about a kernel's source --------------------------===//
#include "passes/Lint.h"
#include "compiler/Lint.h"
#include "frontend/Parser.h"
#include "frontend/Specialize.h"
#include "frontend/eval/Eval.h"
#include "ir/CtaDialect.h"
#include "ir/TileDialect.h"
#include "mlir/IR/Diagnostics.h"

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

bool tile::lintKernel(const frontend::SourceFile &file, const CompileOptions &options,
                      bool stridesKnown, frontend::DiagnosticEngine &diagnostics) {
  ast::Module tree = frontend::parse(file, diagnostics);
  if (diagnostics.hasErrors())
    return false;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<TileDialect, cta::CtaDialect>();
  OwningOpRef<ModuleOp> module =
      frontend::specialize(context, file, tree, options, diagnostics, nullptr);
  if (!module || diagnostics.hasErrors())
    return false;
  for (func::FuncOp kernel : module->getOps<func::FuncOp>())
    lint(kernel, stridesKnown, [&](Location loc, std::string message) {
      frontend::SourceRange range = rangeIn(file, loc);
      if (range.end)
        diagnostics.warning(&file, range, std::move(message));
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
  bool isBase = body.contains("(" + name.str() + " + ") ||
                body.contains(" = " + name.str() + " + ") || body.contains("base=" + name.str()) ||
                body.contains("make_block_ptr(" + name.str());
  return isBase ? "*fp32:16" : "i32";
}

std::vector<GuessedTypes> tile::guessTypes(const frontend::SourceFile &file,
                                           const std::vector<std::string> &includePaths,
                                           frontend::DiagnosticEngine &diagnostics) {
  std::vector<GuessedTypes> result;
  ast::Module tree = frontend::parse(file, diagnostics);
  if (diagnostics.hasErrors())
    return result;
  eval::Program program(includePaths);
  eval::ModuleEnv &module = program.add(file, tree);
  auto kernels = module.kernels();
  for (const auto &kernel : kernels) {
    std::string name = kernel->name();
    // A function that others call is looked at where it is expanded.
    bool isHelper = llvm::any_of(kernels, [&](const auto &other) {
      if (other == kernel)
        return false;
      llvm::StringRef text = file.text().slice(other->range().begin, other->def->range.end);
      return text.contains(name + "(") || text.contains(name + ")");
    });
    if (isHelper)
      continue;
    GuessedTypes types;
    types.kernel = kernel->name();
    types.annotated = true;
    llvm::StringRef body = file.text().slice(kernel->def->range.begin, kernel->def->range.end);
    for (const ast::Parameter &parameter : kernel->params()) {
      if (eval::isConstexprAnnotation(parameter.annotation.get(), &module)) {
        if (!parameter.defaultValue)
          types.constexprs.emplace_back(parameter.name, "64");
        continue;
      }
      types.annotated &= parameter.annotation != nullptr;
      types.signature +=
          std::string(types.signature.empty() ? "" : ", ") + guessedType(parameter.name, body);
    }
    result.push_back(std::move(types));
  }
  return result;
}
