//===- ModuleFunctions.cpp - the functions and kernels of a source file ---===//
//
// At any depth of `if` and the like; kernels also inside functions and classes, in
// scopes that hold what can be known without calling them.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Helpers.h"
#include "frontend/eval/ModuleStatement.h"
#include "frontend/eval/Statements.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;

using FunctionPtr = std::shared_ptr<FunctionObject>;

llvm::SmallVector<const ast::Body *> eval::innerBodies(const ast::Stmt &stmt) {
  switch (stmt.kind) {
  case ast::Stmt::Kind::If:
    return {&llvm::cast<ast::If>(stmt).then, &llvm::cast<ast::If>(stmt).otherwise};
  case ast::Stmt::Kind::For:
    return {&llvm::cast<ast::For>(stmt).body};
  case ast::Stmt::Kind::While:
    return {&llvm::cast<ast::While>(stmt).body};
  case ast::Stmt::Kind::With:
    return {&llvm::cast<ast::With>(stmt).body};
  case ast::Stmt::Kind::Try: {
    auto &attempt = llvm::cast<ast::Try>(stmt);
    llvm::SmallVector<const ast::Body *> bodies = {&attempt.body};
    for (const ast::Try::Handler &handler : attempt.handlers)
      bodies.push_back(&handler.body);
    bodies.push_back(&attempt.otherwise);
    return bodies;
  }
  default:
    return {};
  }
}

std::shared_ptr<Scope> StatementRunner::scopeAt(ModuleEnv &module, SourceRange part) {
  auto at = llvm::partition_point(module.statements, [&](const auto &statement) {
    return statement->stmt->range.end <= part.begin;
  });
  return at == module.statements.end() ? nullptr : (*at)->scope;
}

std::shared_ptr<Scope> StatementRunner::scopeAbove(const FunctionObject &function,
                                                   SourceRange part) {
  return Evaluator::makeScope(*function.module, function.closure ? function.closure
                                                                 : scopeAt(*function.module, part));
}

/// The functions that a list of statements defines, at any depth of `if` and
/// the like but not inside other definitions.
static llvm::SmallVector<const ast::FunctionDef *> definitionsIn(const ast::Body &body) {
  llvm::SmallVector<const ast::FunctionDef *> out;
  for (const ast::StmtPtr &stmt : body) {
    if (auto *def = llvm::dyn_cast<ast::FunctionDef>(stmt.get()))
      out.push_back(def);
    for (const ast::Body *inner : innerBodies(*stmt))
      llvm::append_range(out, definitionsIn(*inner));
  }
  return out;
}

/// Whether some function in here, however deep, has a decorator named like jit.
static bool containsKernel(const ast::Body &body) {
  for (const ast::StmtPtr &stmt : body) {
    if (auto *def = llvm::dyn_cast<ast::FunctionDef>(stmt.get())) {
      for (const ast::ExprPtr &decorator : def->decorators) {
        const ast::Expr *callee = decorator.get();
        if (auto *call = llvm::dyn_cast<ast::Call>(callee))
          callee = call->callee.get();
        auto *name = llvm::dyn_cast<ast::Name>(callee);
        auto *member = llvm::dyn_cast<ast::Attribute>(callee);
        if (StringRef(name ? name->id : member ? member->name : "").ends_with("jit"))
          return true;
      }
      if (containsKernel(def->body))
        return true;
    }
    if (auto *type = llvm::dyn_cast<ast::ClassDef>(stmt.get()); type && containsKernel(type->body))
      return true;
    for (const ast::Body *inner : innerBodies(*stmt))
      if (containsKernel(*inner))
        return true;
  }
  return false;
}

void ModuleEnv::addFunctions(const ast::Body &body, size_t index, std::vector<FunctionPtr> &out) {
  for (const ast::StmtPtr &stmt : body) {
    for (const ast::Body *inner : innerBodies(*stmt))
      addFunctions(*inner, index, out);
    auto *def = llvm::dyn_cast<ast::FunctionDef>(stmt.get());
    if (!def)
      continue;
    Result value = evaluateStatement(index, def->name);
    bool bound = value && value->is(Kind::Function) && value->asFunction().def == def;
    // A branch that is not taken binds nothing, and its functions are there.
    out.push_back(
        bound ? value->functionPtr()
              : program.evaluator().makeFunction(*def, statements[index]->scope).functionPtr());
  }
}

std::vector<FunctionPtr> ModuleEnv::functions() {
  std::vector<FunctionPtr> out;
  for (size_t i = 0; i < statements.size(); ++i) {
    const ast::Stmt &stmt = *statements[i]->stmt;
    if (auto *def = llvm::dyn_cast<ast::FunctionDef>(&stmt)) {
      Result value = evaluateStatement(i, def->name);
      if (value && value->is(Kind::Function))
        out.push_back(value->functionPtr());
    }
    for (const ast::Body *inner : innerBodies(stmt))
      addFunctions(*inner, i, out);
  }
  return out;
}

bool ModuleEnv::isBound(const FunctionObject &function) {
  Result named = lookup(function.name());
  return !named || (named->is(Kind::Function) && named->asFunction().def == function.def);
}

/// A scope with what the statements of a function bind when its parameters
/// are not known. Whatever needs one of them stays unbound.
std::shared_ptr<Scope> ModuleEnv::scopeInside(const ast::FunctionDef &def,
                                              const std::shared_ptr<Scope> &outer) {
  std::shared_ptr<Scope> scope = Evaluator::makeScope(*this, outer);
  insideFunctions.push_back(scope);
  for (const ast::Parameter &parameter : def.params)
    if (parameter.defaultValue)
      if (Result value = program.evaluator().evaluate(*parameter.defaultValue, outer))
        scope->variables[parameter.name] = value.take();
  for (const ast::StmtPtr &stmt : def.body)
    if (llvm::isa<ast::Assign, ast::AnnAssign, ast::FunctionDef, ast::ClassDef, ast::Import,
                  ast::ImportFrom, ast::If, ast::Try>(*stmt))
      runOrChoose(*stmt, scope);
  return scope;
}

void ModuleEnv::addNestedKernels(const ast::Body &body, const std::shared_ptr<Scope> &scope,
                                 std::vector<FunctionPtr> &out) {
  for (const ast::StmtPtr &stmt : body) {
    for (const ast::Body *inner : innerBodies(*stmt))
      addNestedKernels(*inner, scope, out);
    const ast::Body *inner = nullptr;
    std::shared_ptr<Scope> innerScope = scope;
    if (auto *type = llvm::dyn_cast<ast::ClassDef>(stmt.get())) {
      inner = &type->body;
    } else if (auto *def = llvm::dyn_cast<ast::FunctionDef>(stmt.get())) {
      inner = &def->body;
      if (!containsKernel(*inner))
        continue;
      innerScope = scopeInside(*def, scope);
    }
    if (!inner)
      continue;
    for (const ast::FunctionDef *def : definitionsIn(*inner)) {
      PyValue function = program.evaluator().makeFunction(*def, innerScope);
      if (auto known = innerScope->variables.find(def->name);
          known != innerScope->variables.end() && known->second.is(Kind::Function) &&
          known->second.asFunction().def == def)
        function = known->second;
      if (function.asFunction().isJit)
        out.push_back(function.functionPtr());
    }
    addNestedKernels(*inner, innerScope, out);
  }
}

/// `kernel = triton.jit(function)`, and the like with other decorators.
void ModuleEnv::addKernelsByCall(std::vector<FunctionPtr> &out) {
  for (size_t i = 0; i < statements.size(); ++i) {
    auto *assign = llvm::dyn_cast<ast::Assign>(statements[i]->stmt);
    if (!assign || assign->targets.size() != 1 || !llvm::isa<ast::Call>(*assign->value))
      continue;
    auto *target = llvm::dyn_cast<ast::Name>(assign->targets[0].get());
    StringRef text = file.text().slice(assign->value->range.begin, assign->value->range.end);
    if (!target ||
        (!text.contains("jit") && !text.contains("autotune") && !text.contains("heuristics")))
      continue;
    Result value = evaluateStatement(i, target->id);
    if (!value || !value->is(Kind::Function) || !value->asFunction().isJit)
      continue;
    auto kernel = std::make_shared<FunctionObject>(value->asFunction());
    kernel->alias = target->id;
    out.push_back(std::move(kernel));
  }
}

std::vector<FunctionPtr> ModuleEnv::kernels() {
  std::vector<FunctionPtr> out = functions();
  llvm::erase_if(out, [](auto &function) { return !function->isJit; });
  addKernelsByCall(out);
  auto top = Evaluator::makeScope(*this);
  top->isTopLevel = true;
  addNestedKernels(module.body, top, out);
  return out;
}

std::vector<FunctionPtr> eval::withoutHelpers(llvm::ArrayRef<FunctionPtr> kernels) {
  llvm::StringSet<> names, mentioned;
  for (const FunctionPtr &kernel : kernels)
    names.insert(kernel->name());
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_' || (c & 0x80); };
  for (const FunctionPtr &kernel : kernels) {
    StringRef body =
        kernel->module->source().text().slice(kernel->def->range.begin, kernel->def->range.end);
    while (!(body = body.drop_until(isWord)).empty()) {
      StringRef word = body.take_while(isWord);
      // One of the same name, in another class, mentions its own.
      if (word != kernel->name() && names.contains(word))
        mentioned.insert(word);
      body = body.drop_front(word.size());
    }
  }
  std::vector<FunctionPtr> rest;
  llvm::copy_if(kernels, std::back_inserter(rest),
                [&](const FunctionPtr &kernel) { return !mentioned.contains(kernel->name()); });
  return rest;
}
