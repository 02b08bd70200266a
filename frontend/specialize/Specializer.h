//===- Specializer.h - walks a kernel's tree and builds its IR ------------===//
//
// The walk is an abstract interpretation of the kernel: an environment maps
// names to PyValues, compile-time parts are computed on the spot (Eval.h) and
// run-time parts become ops (Emitter.h). Control flow on compile-time values
// leaves no trace; on run-time values it becomes `scf`, and the names that
// differ between paths become results.
//
// Leaving early (return, break, continue) is data: a pseudo-variable says
// whether the path has left, and whatever follows is guarded by it. Because
// pseudo-variables merge like all others, early exits need no blocks or jumps.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_SPECIALIZER_H
#define TILE_FRONTEND_SPECIALIZE_SPECIALIZER_H

#include "frontend/specialize/Assigned.h"
#include "frontend/specialize/Emitter.h"
#include "llvm/ADT/MapVector.h"
#include <list>

namespace tile::specialize {

/// What a name stands for at one point of the program.
struct Variable {
  Variable(PyValue value = {}, bool isConstexpr = false, std::string missing = {})
      : value(std::move(value)), isConstexpr(isConstexpr), missing(std::move(missing)) {}
  PyValue value;
  bool isConstexpr = false; ///< declared `name: tl.constexpr`
  std::string missing;      ///< when not empty: why the name has no value here
  /// When set: whether the name has a value, which run time decides. For checkers to report.
  Tensor hasValue;
};
/// In order of first binding, so that results are in a stable order.
using Variables = llvm::MapVector<llvm::StringRef, Variable>;

/// Statements still to run, a list of lists: lets a branch take over what
/// follows the `if`.
struct Rest {
  llvm::ArrayRef<ast::StmtPtr> statements;
  const Rest *next = nullptr;
};

/// One function being expanded.
struct Frame {
  const eval::FunctionObject *function = nullptr;
  eval::ModuleEnv *module = nullptr;
  Frame *caller = nullptr;
  Emitter::Place place;
  Variables vars;
  unsigned depth = 0;
  bool isKernel = false;
  std::string constructed;                ///< name of the object that an `__init__` makes
  std::optional<NameSet> readBehindLoops; ///< found when it is first asked for
};

/// How a path ended, if it did.
enum class Leave { No, Return, Loop };

/// A call of range, tl.range or tl.static_range, evaluated.
struct RangeCall {
  PyValue start, stop, step;
  mlir::NamedAttrList attributes; ///< of the loop: num_stages, ...
};

/// Counts what is built.
class OperationCounter : public mlir::OpBuilder::Listener {
public:
  void notifyOperationInserted(mlir::Operation *, mlir::OpBuilder::InsertPoint) override {
    ++count;
  }
  int64_t count = 0;
};

class Specializer : public Emitter, public eval::EvaluatorHooks {
public:
  Specializer(mlir::MLIRContext &context, const CompileOptions &options,
              DiagnosticEngine &diagnostics, eval::Program &program);

  eval::Program &program;
  Frame *frame = nullptr;

  /// Compiles the body of `kernel`, whose parameters have these values, at the
  /// builder's insertion point.
  void runKernel(const eval::FunctionObject &kernel, llvm::ArrayRef<PyValue> arguments);

  //===--------------------------------------------------------------------===//
  // Expressions (Expressions.cpp)
  //===--------------------------------------------------------------------===//

  PyValue evaluate(const ast::Expr &expr);
  PyValue lookup(llvm::StringRef name, SourceRange range);
  PyValue attribute(const PyValue &value, llvm::StringRef name, SourceRange range);
  PyValue subscript(const PyValue &value, const PyValue &index);
  /// Truth at compile time; nothing (reported or poison) if it is not known.
  std::optional<bool> truth(const PyValue &value);
  /// A number as a tensor, what an un-annotated name holds; tuples by element.
  PyValue decay(const PyValue &value);
  /// A scalar condition as an int1; poison if it is none.
  Tensor condition(const PyValue &value, llvm::StringRef what);
  /// A scope that shows the frame's variables to the evaluator.
  std::shared_ptr<eval::Scope> scopeForEvaluator();

  //===--------------------------------------------------------------------===//
  // Calls (Calls.cpp)
  //===--------------------------------------------------------------------===//

  PyValue evaluateCall(const ast::Call &call);
  PyValue call(const PyValue &callee, const eval::CallArgs &args);
  PyValue callMethod(const PyValue &self, llvm::StringRef name, eval::CallArgs args,
                     SourceRange selfRange = {});
  /// A call by position of a function value, e.g. a combiner.
  PyValue call(const PyValue &callee, llvm::ArrayRef<PyValue> args);
  /// With `constructed`, what the first parameter is in the end goes there.
  PyValue expand(const eval::FunctionObject &function, const eval::CallArgs &args,
                 PyValue *constructed = nullptr);
  bool evaluateArguments(const ast::Call &call, eval::CallArgs &args);

  std::optional<Result> callSymbol(eval::Evaluator &evaluator, llvm::StringRef name,
                                   const eval::CallArgs &args) override;
  std::optional<Result> callKernel(eval::Evaluator &evaluator, const PyValue &kernel,
                                   const eval::CallArgs &args) override;
  void print(llvm::StringRef text) override;

  //===--------------------------------------------------------------------===//
  // Objects (Objects.cpp)
  //===--------------------------------------------------------------------===//

  PyValue makeObject(const std::shared_ptr<const eval::ClassObject> &type,
                     const eval::CallArgs &args);
  PyValue replaceFields(const eval::CallArgs &args);
  void assignField(const ast::Attribute &target, const PyValue &value);
  /// Nothing if `object` is none, or its class says nothing about the name.
  std::optional<PyValue> objectAttribute(const PyValue &object, llvm::StringRef name);
  std::optional<PyValue> callObjectMethod(const PyValue &object, llvm::StringRef name,
                                          eval::CallArgs args);
  /// Operators on any values: a class may define what they do.
  PyValue operate(BinaryOp op, const PyValue &lhs, const PyValue &rhs);
  PyValue relate(CompareOp op, const PyValue &lhs, const PyValue &rhs);
  PyValue apply(UnaryOp op, const PyValue &operand);

  //===--------------------------------------------------------------------===//
  // Statements (Statements.cpp)
  //===--------------------------------------------------------------------===//

  void run(const Rest *rest);
  void run(const ast::Body &body);
  void runStatement(const ast::Stmt &statement);
  void assign(const ast::Expr &target, const PyValue &value);
  void bind(llvm::StringRef name, SourceRange range, const PyValue &value);
  /// The value of a compile-time name, or null if there is none yet.
  const PyValue *find(llvm::StringRef name) const;
  void set(llvm::StringRef name, PyValue value) { frame->vars[name] = Variable(std::move(value)); }

  //===--------------------------------------------------------------------===//
  // Control flow (ControlFlow.cpp, Loops.cpp)
  //===--------------------------------------------------------------------===//

  using Action = llvm::function_ref<void()>;
  /// Runs both branches into the regions of an `scf.if` and merges the names.
  /// `otherwiseLeaves`: the second branch stands for a path that has left.
  void emitIf(const Tensor &condition, Action then, Action otherwise,
              Leave otherwiseLeaves = Leave::No);
  /// True, false or (as a tensor) not known before run time: has this path left?
  PyValue leftFlag();
  Leave hasLeft(const Variables &vars) const;
  /// How a path that `leftFlag` does not know about can have left.
  Leave possibleLeave() const;
  /// On a path known not to have left.
  void clearFlags();
  PyValue conditional(const ast::Conditional &expr);

  /// Whether the function reads `name` where no loop around binds it.
  bool isReadBehindLoops(llvm::StringRef name);
  void runFor(const ast::For &loop);
  void runWhile(const ast::While &loop);

  /// Counts one more unrolled iteration; false (reported) past the limit.
  bool countUnrolled();
  /// The value, or poison (reported) if it is made of too many.
  PyValue ofBoundedSize(PyValue value);

private:
  PyValue fieldValue(const eval::ClassObject &type, size_t field, const PyValue &value);
  std::optional<PyValue> objectOperator(llvm::StringRef name, llvm::StringRef reflected,
                                        const PyValue &lhs, const PyValue &rhs);
  PyValue evaluateSequence(const ast::Sequence &sequence);
  PyValue evaluateBoolOp(const ast::BoolOp &op);
  PyValue evaluateCompare(const ast::Compare &compare);
  PyValue evaluateComprehension(const ast::Comprehension &comprehension);
  PyValue evaluateConstant(const ast::Constant &constant);
  void comprehend(const ast::Comprehension &comprehension, size_t clause,
                  std::vector<PyValue> &elements);
  /// True if a branch has taken over what follows.
  bool runIf(const ast::If &statement, const Rest &tail);
  void guard(const Tensor &left, const Rest &tail);
  void runReturn(const ast::Return &statement);
  void runAnnotated(const ast::AnnAssign &statement);
  void runAssert(const ast::Assert &statement);
  void checkHasValue(llvm::StringRef name, Variable &variable, SourceRange range);
  void reportUnknownName(llvm::StringRef name, SourceRange range);

  bool evaluateRange(const ast::Call &call, llvm::StringRef kind, RangeCall &range);
  void runUnrolled(const ast::For &loop, llvm::ArrayRef<PyValue> elements);
  void bindUndecayed(const ast::Expr &target, const PyValue &value);

  /// Whether the kernel has grown past all bounds; reported once.
  bool isTooLong();

  OperationCounter operations;
  bool reportedLength = false;
  unsigned branches = 0; ///< conditions known at run time that the present operation is under
  int64_t unrolledIterations = 0;
  unsigned expansions = 0; ///< calls expanded so far
};

/// The pseudo-variables, named so that no source can name them.
inline constexpr llvm::StringLiteral kReturned = "$returned";
inline constexpr llvm::StringLiteral kReturnValue = "$value";
inline constexpr llvm::StringLiteral kBroke = "$broke";
inline constexpr llvm::StringLiteral kSkipped = "$skipped";
inline constexpr llvm::StringLiteral kTernary = "$ternary";

/// Whether a statement list always ends in a return, break or continue.
bool alwaysLeaves(llvm::ArrayRef<ast::StmtPtr> body);
/// Whether the end of a function's body may be reached.
bool fallsThrough(llvm::ArrayRef<ast::StmtPtr> body);
using eval::isConstexprAnnotation;

/// The run-time parts of a value, in order; and the value with other ones.
void flatten(const PyValue &value, llvm::SmallVectorImpl<Tensor> &leaves);
PyValue rebuild(Emitter &emitter, const PyValue &shape, llvm::ArrayRef<mlir::Value> &leaves);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_SPECIALIZER_H
