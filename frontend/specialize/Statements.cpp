//===- Statements.cpp - running a function body ---------------------------===//
#include "frontend/Counted.h"
#include "frontend/MostErrors.h"
#include "frontend/specialize/Assigned.h"
#include "frontend/specialize/BlockPointer.h"
#include "frontend/specialize/Specializer.h"
#include "text/Format.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

bool alwaysLeaves(llvm::ArrayRef<ast::StmtPtr> body) {
  for (const ast::StmtPtr &statement : body) {
    switch (statement->kind) {
    case ast::Stmt::Kind::Return:
    case ast::Stmt::Kind::Break:
    case ast::Stmt::Kind::Continue:
      return true;
    case ast::Stmt::Kind::If: {
      auto &branch = llvm::cast<ast::If>(*statement);
      if (alwaysLeaves(branch.then) && alwaysLeaves(branch.otherwise))
        return true;
      break;
    }
    case ast::Stmt::Kind::With:
      if (alwaysLeaves(llvm::cast<ast::With>(*statement).body))
        return true;
      break;
    default:
      break;
    }
  }
  return false;
}

static bool isEndless(const ast::Stmt &statement) {
  auto *loop = llvm::dyn_cast<ast::While>(&statement);
  auto *condition = loop ? llvm::dyn_cast<ast::Constant>(loop->condition.get()) : nullptr;
  return condition && condition->type == ast::Constant::Type::Bool && condition->boolean &&
         !hasBreak(loop->body);
}

bool fallsThrough(llvm::ArrayRef<ast::StmtPtr> body) {
  for (const ast::StmtPtr &statement : body) {
    if (isEndless(*statement) || statement->kind == ast::Stmt::Kind::Return)
      return false;
    if (auto *branch = llvm::dyn_cast<ast::If>(statement.get()))
      if (!fallsThrough(branch->then) && !fallsThrough(branch->otherwise))
        return false;
    if (auto *with = llvm::dyn_cast<ast::With>(statement.get()))
      if (!fallsThrough(with->body))
        return false;
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

void Specializer::run(const ast::Body &body) {
  Rest rest{body, nullptr};
  run(&rest);
}

static bool isEmpty(const Rest &rest) {
  return rest.statements.empty() && (!rest.next || isEmpty(*rest.next));
}

/// The one kind of context that kernels know is a profiler's scope, which does nothing.
static void enterScopes(Specializer &s, const ast::With &statement) {
  for (const ast::With::Item &item : statement.items) {
    Emitter::At at(s, item.context->range);
    auto *call = llvm::dyn_cast<ast::Call>(item.context.get());
    if (!call || statement.isAsync || !s.evaluate(*call->callee).isSymbol("tl.profiler.scope")) {
      s.unsupported("`with` is not supported in kernels, but for `triton.profiler.language.scope`");
      continue;
    }
    PyValue entered = s.evaluate(*item.context);
    if (item.target)
      s.assign(*item.target, entered);
  }
}

/// More operations than any kernel that can be compiled has, and than all turns of
/// the longest unrolled loop of one statement.
constexpr int64_t maxOperations = 1 << 18;

/// What follows an early exit is a branch inside of the branches that came before it. Passes take
/// time by the square of the depth, and stack by the depth.
constexpr unsigned maxBranches = 512;

bool Specializer::isTooLong() {
  if (diagnostics.numErrors() > frontend::kMostErrors)
    return true; // nobody is told of more
  if (operations.count <= maxOperations && branches <= maxBranches)
    return false;
  if (std::exchange(reportedLength, true))
    return true;
  if (branches > maxBranches)
    error(formatted(
        "more than {} conditions stand inside one another here; what follows an early "
        "`return`, `break` or `continue` stands inside of its condition: use fewer of them",
        maxBranches));
  else
    error(formatted("the kernel has more than {} operations here: use `range` for loops that run "
                    "at run time, and call fewer functions in what is unrolled",
                    maxOperations));
  return true;
}

void Specializer::run(const Rest *rest) {
  Rest tail = rest ? *rest : Rest{};
  while (!isTooLong()) {
    while (tail.statements.empty() && tail.next)
      tail = Rest(*tail.next);
    if (tail.statements.empty())
      return;
    const ast::Stmt &statement = *tail.statements.front();
    tail.statements = tail.statements.drop_front();
    if (auto *branch = llvm::dyn_cast<ast::If>(&statement)) {
      At at(*this, statement.range);
      if (runIf(*branch, tail))
        return;
    } else if (auto *with = llvm::dyn_cast<ast::With>(&statement)) {
      enterScopes(*this, *with);
      Rest inside{with->body, &tail};
      return run(&inside);
    } else {
      runStatement(statement);
    }
    PyValue left = leftFlag();
    if (left.is(PyValue::Kind::Bool) && !left.asBool())
      continue;
    if (tensorIn(left) && !isEmpty(tail))
      guard(*tensorIn(left), tail);
    return;
  }
}

/// Runs what follows on the paths that have not left.
void Specializer::guard(const Tensor &left, const Rest &tail) {
  emitIf(
      logicalNot(left),
      [&] {
        clearFlags();
        run(&tail);
      },
      [] {}, possibleLeave());
}

bool Specializer::runIf(const ast::If &statement, const Rest &tail) {
  PyValue value = evaluate(*statement.condition);
  if (const Tensor *t = tensorIn(value)) // also behind a name: `debug = False`
    value = constantValue(*t).value_or(value);
  if (!tensorIn(value)) {
    // Known at compile time: the other branch is never looked at.
    if (std::optional<bool> known = truth(value))
      run(*known ? statement.then : statement.otherwise);
    return false;
  }
  Tensor test = [&] {
    At at(*this, statement.condition->range);
    return condition(value, "the condition of `if`");
  }();
  if (!test)
    return false;
  // If one branch always leaves, what follows the `if` belongs to the other.
  bool thenLeaves = alwaysLeaves(statement.then);
  bool otherwiseLeaves = alwaysLeaves(statement.otherwise);
  bool tookTail = thenLeaves || otherwiseLeaves;
  Rest then{statement.then, tookTail && !thenLeaves ? &tail : nullptr};
  Rest otherwise{statement.otherwise, tookTail && !otherwiseLeaves ? &tail : nullptr};
  emitIf(test, [&] { run(&then); }, [&] { run(&otherwise); });
  return tookTail;
}

void Specializer::runReturn(const ast::Return &statement) {
  PyValue value = statement.value ? evaluate(*statement.value) : PyValue::none();
  if (frame->isKernel)
    value = PyValue::none(); // nobody to return it to; kernels of some libraries do
  set(kReturnValue, value);
  set(kReturned, PyValue::boolean(true));
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

void Specializer::runAssert(const ast::Assert &statement) {
  PyValue test = evaluate(*statement.condition);
  PyValue message = statement.message ? evaluate(*statement.message) : PyValue::string("");
  call(PyValue::symbol("tl.device_assert"), {test, message});
}

/// Reports a call whose only use is its result, which nobody uses.
static void checkUnusedResult(Specializer &s, const ast::Expr &expr) {
  auto *call = llvm::dyn_cast<ast::Call>(&expr);
  auto *member = call ? llvm::dyn_cast<ast::Attribute>(call->callee.get()) : nullptr;
  const ast::Expr *first = member ? member->value.get() : call ? call->callee.get() : nullptr;
  if (!first || !llvm::isa<ast::Name>(first))
    return;
  PyValue callee = s.evaluate(*first);
  if (eval::classOf(callee))
    return; // its attributes may be code
  if (member && !tensorIn(callee))
    callee = s.attribute(callee, member->name, member->nameRange);
  bool isAdvance = callee.isSymbol("tl.advance") ||
                   (callee.is(PyValue::Kind::Method) && callee.asMethod().name == "advance" &&
                    isBlockPointer(callee.asMethod().self));
  if (isAdvance)
    s.error("`tl.advance` does not change the pointer: use the one it returns, `p = tl.advance(p, "
            "...)`");
  if (!callee.is(PyValue::Kind::Function))
    return;
  const eval::FunctionObject &function = callee.asFunction();
  for (const char *name : {"triton.must_use_result", "tl.must_use_result"})
    if (function.findDecorator(name))
      s.error(formatted("the result of `{}` must be used: the call has no other effect",
                        function.name()));
}

/// Why kernels have no statements of this kind.
static StringRef whyNotInKernels(ast::Stmt::Kind kind) {
  using SK = ast::Stmt::Kind;
  switch (kind) {
  case SK::FunctionDef:
  case SK::ClassDef:
    return "functions and classes cannot be defined inside a kernel: move the definition to the "
           "top level of the file";
  case SK::Import:
  case SK::ImportFrom:
    return "imports belong to the top level of the file";
  case SK::Raise:
  case SK::Try:
    return "kernels have no exceptions: use `tl.static_assert` or `tl.device_assert`";
  case SK::Delete:
    return "`del` has no meaning in a kernel: values live as long as they are needed";
  case SK::Global:
  case SK::Nonlocal:
    return "kernels cannot assign to names of the file: return the value, or store it";
  case SK::Match:
    return "`match` is not supported in kernels: use `if` and `elif`";
  case SK::TypeAlias:
    return "type aliases belong to the top level of the file";
  default:
    llvm_unreachable("kernels have those");
  }
}

void Specializer::runStatement(const ast::Stmt &statement) {
  using SK = ast::Stmt::Kind;
  At at(*this, statement.range);
  switch (statement.kind) {
  case SK::Expr:
    checkUnusedResult(*this, *llvm::cast<ast::ExprStmt>(statement).value);
    evaluate(*llvm::cast<ast::ExprStmt>(statement).value);
    return;
  case SK::Assign: {
    auto &node = llvm::cast<ast::Assign>(statement);
    PyValue value = evaluate(*node.value);
    for (const ast::ExprPtr &target : node.targets)
      assign(*target, value);
    return;
  }
  case SK::AugAssign: {
    auto &node = llvm::cast<ast::AugAssign>(statement);
    PyValue old = evaluate(*node.target);
    PyValue value = evaluate(*node.value);
    assign(*node.target, ofBoundedSize(operate(node.op, old, value)));
    return;
  }
  case SK::AnnAssign:
    return runAnnotated(llvm::cast<ast::AnnAssign>(statement));
  case SK::Return:
    return runReturn(llvm::cast<ast::Return>(statement));
  case SK::If:
    runIf(llvm::cast<ast::If>(statement), Rest());
    return;
  case SK::For:
    return runFor(llvm::cast<ast::For>(statement));
  case SK::While:
    return runWhile(llvm::cast<ast::While>(statement));
  case SK::Break:
    return set(kBroke, PyValue::boolean(true));
  case SK::Continue:
    return set(kSkipped, PyValue::boolean(true));
  case SK::Pass:
    return;
  case SK::Assert:
    return runAssert(llvm::cast<ast::Assert>(statement));
  case SK::With: // see run()
    llvm_unreachable("scopes are a part of the statements around them");
  case SK::FunctionDef:
  case SK::ClassDef:
  case SK::Import:
  case SK::ImportFrom:
  case SK::Raise:
  case SK::Try:
  case SK::Delete:
  case SK::Global:
  case SK::Nonlocal:
  case SK::Match:
  case SK::TypeAlias:
    error(whyNotInKernels(statement.kind).str());
    return;
  }
}

} // namespace tile::specialize
