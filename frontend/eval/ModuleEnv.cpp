//===- ModuleEnv.cpp - the names of a source file -------------------------===//
//
// 1. Collect, for every name, the top-level statements that bind or change it.
// 2. To look a name up, run the last such statement (once), in a scope of its
//    own; the names it needs are looked up the same way, above it.
// 3. What that scope then holds are the statement's bindings. A name that the
//    statement might have bound but did not keeps its earlier value.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/ModuleEnv.h"
#include "frontend/eval/ModuleStatement.h"
#include "text/Format.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SaveAndRestore.h"
#include <map>

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Which names a statement binds
//===----------------------------------------------------------------------===//

namespace {
class BindingCollector {
public:
  explicit BindingCollector(llvm::function_ref<void(StringRef)> found) : found(found) {}
  void visit(const ast::Body &body) {
    for (const ast::StmtPtr &stmt : body)
      visit(*stmt);
  }
  void visit(const ast::Stmt &stmt);

private:
  void visitTarget(const ast::Expr *target);
  void visitMethodCall(const ast::Expr &expr);
  llvm::function_ref<void(StringRef)> found;
};
} // namespace

/// A name, the names of a tuple, or the container of `container[...] = ...`.
void BindingCollector::visitTarget(const ast::Expr *target) {
  if (!target)
    return;
  if (auto *name = llvm::dyn_cast<ast::Name>(target))
    found(name->id);
  else if (auto *sequence = llvm::dyn_cast<ast::Sequence>(target))
    for (const ast::ExprPtr &element : sequence->elements)
      visitTarget(element.get());
  else if (auto *starred = llvm::dyn_cast<ast::Starred>(target))
    visitTarget(starred->value.get());
  else if (auto *access = llvm::dyn_cast<ast::Subscript>(target))
    visitTarget(access->value.get());
}

/// `configs.append(...)` changes `configs`.
void BindingCollector::visitMethodCall(const ast::Expr &expr) {
  auto *call = llvm::dyn_cast<ast::Call>(&expr);
  auto *method = call ? llvm::dyn_cast<ast::Attribute>(call->callee.get()) : nullptr;
  if (!method)
    return;
  static constexpr StringRef changing[] = {"append",  "extend", "insert",    "pop",
                                           "remove",  "clear",  "sort",      "add",
                                           "reverse", "update", "setdefault"};
  if (llvm::is_contained(changing, method->name))
    visitTarget(method->value.get());
}

void BindingCollector::visit(const ast::Stmt &stmt) {
  switch (stmt.kind) {
  case ast::Stmt::Kind::Expr:
    return visitMethodCall(*llvm::cast<ast::ExprStmt>(stmt).value);
  case ast::Stmt::Kind::Assign:
    for (const ast::ExprPtr &target : llvm::cast<ast::Assign>(stmt).targets)
      visitTarget(target.get());
    return;
  case ast::Stmt::Kind::AugAssign:
    return visitTarget(llvm::cast<ast::AugAssign>(stmt).target.get());
  case ast::Stmt::Kind::AnnAssign:
    if (auto &assign = llvm::cast<ast::AnnAssign>(stmt); assign.value)
      visitTarget(assign.target.get());
    return;
  case ast::Stmt::Kind::FunctionDef:
    return found(llvm::cast<ast::FunctionDef>(stmt).name);
  case ast::Stmt::Kind::ClassDef:
    return found(llvm::cast<ast::ClassDef>(stmt).name);
  case ast::Stmt::Kind::Import:
    for (const ast::ImportAlias &alias : llvm::cast<ast::Import>(stmt).names)
      found(alias.asName.empty() ? StringRef(alias.name).split('.').first : alias.asName);
    return;
  case ast::Stmt::Kind::ImportFrom:
    for (const ast::ImportAlias &alias : llvm::cast<ast::ImportFrom>(stmt).names)
      if (alias.name != "*")
        found(alias.asName.empty() ? alias.name : alias.asName);
    return;
  case ast::Stmt::Kind::If:
    visit(llvm::cast<ast::If>(stmt).then);
    return visit(llvm::cast<ast::If>(stmt).otherwise);
  case ast::Stmt::Kind::For:
    visitTarget(llvm::cast<ast::For>(stmt).target.get());
    visit(llvm::cast<ast::For>(stmt).body);
    return visit(llvm::cast<ast::For>(stmt).otherwise);
  case ast::Stmt::Kind::While:
    visit(llvm::cast<ast::While>(stmt).body);
    return visit(llvm::cast<ast::While>(stmt).otherwise);
  case ast::Stmt::Kind::Try: {
    auto &attempt = llvm::cast<ast::Try>(stmt);
    visit(attempt.body);
    for (const ast::Try::Handler &handler : attempt.handlers)
      visit(handler.body);
    visit(attempt.otherwise);
    return visit(attempt.finally);
  }
  case ast::Stmt::Kind::With:
    for (const ast::With::Item &item : llvm::cast<ast::With>(stmt).items)
      visitTarget(item.target.get());
    return visit(llvm::cast<ast::With>(stmt).body);
  default:
    return;
  }
}

/// Star imports, wherever they stand.
static void collectStarImports(const ast::Body &body, std::vector<const ast::ImportFrom *> &out) {
  for (const ast::StmtPtr &stmt : body) {
    if (auto *import = llvm::dyn_cast<ast::ImportFrom>(stmt.get())) {
      if (llvm::any_of(import->names, [](auto &alias) { return alias.name == "*"; }))
        out.push_back(import);
    } else if (auto *branch = llvm::dyn_cast<ast::If>(stmt.get())) {
      collectStarImports(branch->then, out);
      collectStarImports(branch->otherwise, out);
    } else if (auto *attempt = llvm::dyn_cast<ast::Try>(stmt.get())) {
      collectStarImports(attempt->body, out);
    }
  }
}

ModuleEnv::ModuleEnv(Program &program, const SourceFile &file, const ast::Module &module)
    : program(program), file(file), module(module) {
  for (const ast::StmtPtr &stmt : module.body) {
    size_t index = statements.size();
    statements.push_back(std::make_unique<Statement>());
    statements.back()->stmt = stmt.get();
    BindingCollector([&](StringRef name) {
      std::vector<size_t> &where = bindings[name];
      if (where.empty() || where.back() != index)
        where.push_back(index);
    }).visit(*stmt);
  }
  collectStarImports(module.body, starImports);
}

ModuleEnv::~ModuleEnv() {
  for (const std::shared_ptr<Scope> &scope : insideFunctions)
    scope->variables.clear();
  for (const std::unique_ptr<Statement> &statement : statements)
    if (statement->scope)
      statement->scope->variables.clear();
}

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

bool ModuleEnv::binds(StringRef name) const { return bindings.contains(name); }

std::vector<StringRef> ModuleEnv::names() const {
  std::vector<StringRef> out;
  for (auto &entry : bindings)
    out.push_back(entry.first());
  return out;
}

Result ModuleEnv::lookup(StringRef name) { return lookupBefore(name, SIZE_MAX); }

bool ModuleEnv::exports(StringRef name) {
  if (!binds("__all__"))
    return !name.starts_with("_");
  Result all = lookup("__all__");
  return !all || llvm::any_of(all->elements(), [&](const PyValue &element) {
    return element.isStr() && element.asStr() == name;
  });
}

/// Modules that say which members they have: any other gives a symbol for
/// every name, and a star would bring them all.
static bool hasKnownMembers(StringRef module) {
  return module == "tl" || module == "tl.math" || module == "triton" || module == "math" ||
         module == "libdevice";
}

namespace {
/// Files import each other by many ways: as long as somebody looks for a name, a file that has been
/// asked for it is not asked again.
class StarAnswers {
public:
  StarAnswers() { ++searches; }
  ~StarAnswers() {
    if (--searches == 0)
      answers.clear();
  }
  /// What was found; of a new question nothing yet: who asks fills it in.
  std::optional<PyValue> &find(const ModuleEnv &env, StringRef name, bool &isNew) {
    auto [at, inserted] = answers.try_emplace({&env, name.str()});
    isNew = inserted;
    return at->second; // it stays where it is
  }

private:
  using Question = std::pair<const ModuleEnv *, std::string>;
  static thread_local unsigned searches;
  static thread_local std::map<Question, std::optional<PyValue>> answers;
};
thread_local unsigned StarAnswers::searches = 0;
thread_local std::map<StarAnswers::Question, std::optional<PyValue>> StarAnswers::answers;
} // namespace

std::optional<PyValue> ModuleEnv::starImported(StringRef name) {
  if (inStarImports || starImports.empty())
    return std::nullopt;
  StarAnswers all;
  bool isNew = false;
  std::optional<PyValue> &answer = all.find(*this, name, isNew);
  if (!isNew)
    return answer;
  llvm::SaveAndRestore<bool> once(inStarImports, true);
  answer = [&]() -> std::optional<PyValue> {
    // The last import wins.
    for (const ast::ImportFrom *import : llvm::reverse(starImports)) {
      Result from = resolveModule(import->module, import->level);
      if (!from)
        continue;
      const ModuleRef &ref = from->asModule();
      if (!ref.env) {
        if (Result value = hasKnownMembers(ref.name) && !name.starts_with("_")
                               ? attribute(*from, name)
                               : Result(fail("")))
          return value.take();
      } else if (ref.env->exports(name)) {
        if (ref.env->binds(name)) {
          if (Result value = ref.env->lookup(name))
            return value.take();
        } else if (std::optional<PyValue> further = ref.env->starImported(name)) {
          return further;
        }
      }
    }
    return std::nullopt;
  }();
  return answer;
}

Result ModuleEnv::lookupBefore(StringRef name, size_t before) {
  if (auto it = bindings.find(name); it != bindings.end()) {
    const std::vector<size_t> &where = it->second;
    auto next = std::lower_bound(where.begin(), where.end(), before);
    if (next != where.begin())
      return evaluateStatement(*std::prev(next), name);
  }
  if (name == "__name__")
    return PyValue::string("__tile__");
  if (name == "__file__")
    return PyValue::string(file.name().str());
  if (std::optional<PyValue> found = starImported(name))
    return *found;
  if (binds(name))
    return fail(formatted("`{}` is used above its definition", name), "NameError");
  std::string message = formatted("`{}` has no global `{}`", file.name(), name);
  if (StringRef near = frontend::nearestName(name, names()); !near.empty())
    message += formatted("; did you mean `{}`?", near);
  return fail(message, "NameError");
}
