//===- ModuleStatement.cpp - running the statements of a file's top level -===//
//
// Each runs once, when a name that it binds is looked up, in a scope of its own. What compile time
// cannot choose between, versions of a library say, is tried in turn.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/ModuleStatement.h"
#include "frontend/eval/Statements.h"
#include "text/Format.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;

/// Files that import from each other, one behind the other, and definitions that need each other
/// nest on the machine's stack, of which a thread may have 8 MB.
constexpr unsigned kMostNested = 1500;
static thread_local unsigned nested = 0;

static bool asksForOtherVendor(StringRef condition) {
  static constexpr StringRef others[] = {
      "hip",   "rocm",      "amd",     "xpu",   "npu",   "musa", "mlu",      "ascend", "cpu",
      "intel", "cambricon", "enflame", "hygon", "metax", "aipu", "iluvatar", "kunlun", "mthreads"};
  static constexpr StringRef undoes[] = {"not ", "!=", "cuda", "nvidia"};
  std::string lower = condition.lower();
  auto isIn = [&](StringRef word) { return StringRef(lower).contains(word); };
  return llvm::none_of(undoes, isIn) && llvm::any_of(others, isIn);
}

bool ModuleEnv::runCompletely(const ast::Body &body, const std::shared_ptr<Scope> &scope) {
  bool complete = !body.empty();
  for (const ast::StmtPtr &stmt : body)
    complete = complete && !StatementRunner(program.evaluator()).run(*stmt, scope).error;
  return complete;
}

/// A condition that compile time cannot decide usually asks for a version of
/// a library, and the branches import the same name from different places: the
/// first branch that runs is as good as any.
/// One that asks whether this is another vendor's machine is false.
void ModuleEnv::runUndecided(const ast::If &branch, const std::shared_ptr<Scope> &scope) {
  const ast::Body *first = &branch.then, *second = &branch.otherwise;
  SourceRange range = branch.condition->range;
  if (asksForOtherVendor(file.text().slice(range.begin, range.end)))
    std::swap(first, second);
  if (!runCompletely(*first, scope))
    runCompletely(*second, scope);
}

/// What a `try` attempts, and compile time cannot do, its handlers do without.
/// The names that the attempt did bind stay.
void ModuleEnv::runUndecided(const ast::Try &attempt, const std::shared_ptr<Scope> &scope) {
  for (const ast::Try::Handler &handler : attempt.handlers) {
    auto apart = std::make_shared<Scope>(*scope);
    if (!runCompletely(handler.body, apart))
      continue;
    for (auto &variable : apart->variables)
      scope->variables.try_emplace(variable.first(), variable.second);
    return;
  }
}

std::unique_ptr<EvalError> ModuleEnv::runOrChoose(const ast::Stmt &stmt,
                                                  const std::shared_ptr<Scope> &scope) {
  Flow flow = StatementRunner(program.evaluator()).run(stmt, scope);
  if (isUndecided(stmt, flow.error.get())) {
    if (auto *branch = llvm::dyn_cast<ast::If>(&stmt))
      runUndecided(*branch, scope);
    else
      runUndecided(llvm::cast<ast::Try>(stmt), scope);
  }
  return std::move(flow.error);
}

Result ModuleEnv::evaluateStatement(size_t index, StringRef name) {
  Statement &statement = *statements[index];
  if (statement.state == Statement::State::Running)
    return Result(fail(formatted("`{}` is defined in terms of itself", name), "NameError"))
        .at(file, statement.stmt->range);
  llvm::SaveAndRestore<unsigned> deeper(nested, nested + 1);
  if (nested > kMostNested)
    return Result(fail(formatted("`{}` is behind more than {} imports and definitions that need "
                                 "each other: define it nearer to where it is used",
                                 name, kMostNested),
                       "LimitError"))
        .at(file, statement.stmt->range);
  if (statement.state == Statement::State::Waiting) {
    statement.state = Statement::State::Running;
    // What a file defines outlives the call that happened to need it first.
    llvm::SaveAndRestore<ScopeArena *> keep(program.evaluator().arena, nullptr);
    statement.scope = Evaluator::makeScope(*this);
    statement.scope->isTopLevel = true;
    statement.scope->before = index;
    statement.error = runOrChoose(*statement.stmt, statement.scope);
    statement.state = Statement::State::Done;
  }
  // A statement that failed may have bound the name before it did.
  auto bound = statement.scope->variables.find(name);
  if (bound != statement.scope->variables.end())
    return bound->second;
  if (!statement.error)
    return lookupBefore(name, index);
  // A choice that cannot be made leaves what was there before.
  if (statement.isUndecided() && bindings[name].front() < index)
    return lookupBefore(name, index);
  auto error = std::make_unique<EvalError>(*statement.error);
  constexpr size_t kLongMessage = 1000; // of names that each need the next one
  if (std::string &message = error->diagnostic.message; message.size() < kLongMessage)
    message = formatted("`{}` is not known at compile time: {}", name, message);
  return error;
}
