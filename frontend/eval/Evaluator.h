//===- Evaluator.h - runs Python at compile time --------------------------===//
//
// Expressions and statements over PyValues: constexpr functions, heuristics,
// decorator arguments, module-level constants and host functions all run here.
// Loops and recursion are bounded, so that a runaway program is a diagnostic.
//
// The specialiser walks kernel bodies itself, because operands may be run-time
// tensors; it uses Operators.h for compile-time operands and this class for
// names, calls of compile-time functions, argument binding and f-strings.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_EVALUATOR_H
#define TILE_FRONTEND_EVAL_EVALUATOR_H

#include "frontend/eval/ModuleEnv.h"
#include "target/Target.h"

namespace tile::eval {

struct CallArgs {
  std::vector<PyValue> positional;
  std::vector<std::pair<std::string, PyValue>> keywords;
  /// Where each of them stands, for messages; empty where that is not known.
  std::vector<ast::SourceRange> positionalRanges = {}, keywordRanges = {};
  /// Puts the object of a method in front.
  void prepend(PyValue self, ast::SourceRange range = {}) {
    positional.insert(positional.begin(), std::move(self));
    if (!positionalRanges.empty() || positional.size() == 1)
      positionalRanges.insert(positionalRanges.begin(), range);
  }
  const PyValue *keyword(llvm::StringRef name) const;
};

/// Lets a user of the evaluator give meaning to what it leaves open. Return
/// nothing to decline.
class EvaluatorHooks {
public:
  virtual ~EvaluatorHooks();
  /// A call of a builtin that only has a meaning elsewhere: "tile.randn", "tl.load".
  virtual std::optional<Result> callSymbol(Evaluator &evaluator, llvm::StringRef name,
                                           const CallArgs &args);
  /// A call of a @triton.jit function.
  virtual std::optional<Result> callKernel(Evaluator &evaluator, const PyValue &kernel,
                                           const CallArgs &args);
  /// `kernel[grid]`.
  virtual std::optional<Result> subscriptKernel(Evaluator &evaluator, const PyValue &kernel,
                                                const PyValue &grid);
  /// `name += ...` gave the name another value, where it had `before`.
  virtual void augmented(const PyValue &before);
  /// `with torch.no_grad():` runs what it holds: nothing of that has a gradient.
  virtual void withoutGradients(llvm::function_ref<void()> run);
  /// `print(...)`: the finished line.
  virtual void print(llvm::StringRef text);
};

/// Collects the scopes of function calls and empties them in the end. A nested
/// function and the scope it closes over hold each other, so that without this
/// the variables of such a call would never be released.
class ScopeArena {
public:
  explicit ScopeArena(Evaluator &evaluator);
  ~ScopeArena();
  void add(const std::shared_ptr<Scope> &scope);

private:
  Evaluator &evaluator;
  ScopeArena *outer;
  std::vector<std::weak_ptr<Scope>> scopes;
  size_t pruneAt = 1024;
};

class Evaluator {
public:
  /// The limits after which an evaluation is an error.
  struct Limits {
    uint64_t steps = 20'000'000; ///< expressions and statements, since reset
    unsigned depth = 200;        ///< nested calls
  };
  Limits limits;
  EvaluatorHooks *hooks = nullptr;
  unsigned gradients = 0; ///< calls of functions that are differentiated
  /// Of the GPU that files are told about, as major * 10 + minor.
  int capability = fallbackTarget().capability;
  void resetSteps() { steps = 0; }

  /// Evaluates an expression; errors carry their place.
  Result evaluate(const ast::Expr &expr, const std::shared_ptr<Scope> &scope);
  /// The value of a name: scope, enclosing scopes, file, builtins.
  Result lookup(llvm::StringRef name, Scope &scope);
  /// Evaluates a call's arguments into `args`, `*` and `**` expanded.
  Result evaluateArguments(const ast::Call &call, const std::shared_ptr<Scope> &scope,
                           CallArgs &args);
  /// Calls a function, lambda, builtin, class, method or extension.
  Result call(const PyValue &callee, const CallArgs &args);
  /// What `run` computes has no gradient.
  void withoutGradients(llvm::function_ref<void()> run);
  /// Binds arguments to parameters, defaults evaluated; `bound` gets one value
  /// a parameter, in order (`*args` a tuple, `**kwargs` a dict).
  Result bind(const FunctionObject &function, const CallArgs &args, std::vector<PyValue> &bound);
  /// Evaluates the default of parameter `index`; it must have one.
  Result defaultValue(const FunctionObject &function, size_t index);
  /// Evaluates the arguments of a decorator into `args`; none for a bare `@name`.
  Result decoratorArguments(const FunctionObject &function, const Decorator &decorator,
                            CallArgs &args);
  /// Binds `value` to a target: a name, an index, or a tuple with at most one star.
  Result assign(const ast::Expr &target, const PyValue &value, const std::shared_ptr<Scope> &scope);
  /// An f-string, its expressions evaluated in `scope`.
  Result formatString(const ast::FString &string, const std::shared_ptr<Scope> &scope);
  /// The function a `def` makes in `scope`, decorators resolved.
  PyValue makeFunction(const ast::FunctionDef &def, const std::shared_ptr<Scope> &scope);
  /// The class a `class` statement makes; fields are known for named tuples.
  Result makeClass(const ast::ClassDef &def, const std::shared_ptr<Scope> &scope);

  /// A new scope for a function of the file, or for loose expressions.
  static std::shared_ptr<Scope> makeScope(ModuleEnv &module, std::shared_ptr<Scope> parent = {});

private:
  friend class ModuleEnv;
  friend class StatementRunner;
  friend class ScopeArena;
  /// Counts one step of `node`; an error once the limit is passed.
  Result countStep(const Scope &scope, SourceRange range);
  Result dispatch(const ast::Expr &expr, const std::shared_ptr<Scope> &scope);
  Result evaluateConstant(const ast::Constant &constant);
  Result evaluateElements(const std::vector<ast::ExprPtr> &exprs,
                          const std::shared_ptr<Scope> &scope, std::vector<PyValue> &out);
  Result evaluateSequence(const ast::Sequence &sequence, const std::shared_ptr<Scope> &scope);
  Result evaluateDict(const ast::Dict &dict, const std::shared_ptr<Scope> &scope);
  Result evaluateBoolOp(const ast::BoolOp &op, const std::shared_ptr<Scope> &scope);
  Result evaluateCompare(const ast::Compare &compare, const std::shared_ptr<Scope> &scope);
  Result evaluateCall(const ast::Call &call, const std::shared_ptr<Scope> &scope);
  Result evaluateSlice(const ast::Slice &slice, const std::shared_ptr<Scope> &scope);
  Result evaluateComprehension(const ast::Comprehension &comprehension,
                               const std::shared_ptr<Scope> &scope);
  Result runClauses(const ast::Comprehension &comprehension, size_t clause,
                    const std::shared_ptr<Scope> &scope,
                    std::vector<std::pair<PyValue, PyValue>> &out);
  Result makeLambda(const ast::Lambda &lambda, const std::shared_ptr<Scope> &scope);
  std::optional<Result> decorateByCall(const ast::Call &expr, const std::shared_ptr<Scope> &scope);
  Decorator resolveDecorator(const ast::Expr &expr, const std::shared_ptr<Scope> &scope);
  Result callFunction(const PyValue &callee, const CallArgs &args);
  Result construct(const std::shared_ptr<const ClassObject> &type, const CallArgs &args);

  uint64_t steps = 0;
  unsigned depth = 0;
  unsigned nesting = 0;        ///< of `evaluate`
  uintptr_t stackStart = 0;    ///< an address in the outermost `evaluate`
  ScopeArena *arena = nullptr; ///< may be null: scopes are left to themselves
};

/// True if `name` is a builtin that Evaluator::call can run by itself: "len",
/// "math.sqrt", "triton.cdiv", "tl.constexpr", ... (not "tl.load").
bool isEvaluableBuiltin(llvm::StringRef name);
/// The builtin functions and types that every file sees: "len", "range", ...
/// Null if there is none of that name.
std::optional<PyValue> findBuiltin(llvm::StringRef name);
/// The canonical name of a dotted module name ("triton.language" -> "tl");
/// empty if the module is not known.
std::string canonicalModule(llvm::StringRef dottedName);
/// A member of a known module, by canonical names; fails with a suggestion.
Result moduleMember(llvm::StringRef canonicalModule, llvm::StringRef name);

/// An annotation that says `tl.constexpr`, also as a part of it or under another
/// name that the file gives it.
bool isConstexprAnnotation(const ast::Expr *annotation, ModuleEnv *module = nullptr);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_EVALUATOR_H
