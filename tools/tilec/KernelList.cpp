//===- KernelList.cpp - the kernels of a file -----------------------------===//
#include "tools/tilec/KernelList.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Casting.h"

using namespace tile;

/// `jit`, `triton.jit`, and either of them called with options.
static bool isJit(const ast::Expr *decorator) {
  if (auto *call = llvm::dyn_cast<ast::Call>(decorator))
    decorator = call->callee.get();
  if (auto *name = llvm::dyn_cast<ast::Name>(decorator))
    return name->id == "jit";
  auto *member = llvm::dyn_cast<ast::Attribute>(decorator);
  return member && member->name == "jit";
}

std::vector<const ast::FunctionDef *> tilec::listTypedKernels(const ast::Module &module) {
  std::vector<const ast::FunctionDef *> kernels;
  for (const ast::StmtPtr &statement : module.body) {
    auto *function = llvm::dyn_cast<ast::FunctionDef>(statement.get());
    if (function && !function->params.empty() &&
        llvm::any_of(function->decorators, [](auto &d) { return isJit(d.get()); }) &&
        llvm::all_of(function->params, [](auto &p) { return p.annotation != nullptr; }) &&
        // Constants alone make a helper, not a kernel.
        llvm::any_of(function->params, [](auto &p) {
          auto *text = llvm::dyn_cast_or_null<ast::Constant>(p.annotation.get());
          return text && text->type == ast::Constant::Type::String;
        }))
      kernels.push_back(function);
  }
  return kernels;
}
