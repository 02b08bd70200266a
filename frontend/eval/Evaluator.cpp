//===- Evaluator.cpp - expressions at compile time ------------------------===//
#include "frontend/eval/Evaluator.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Place.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;
using ScopePtr = std::shared_ptr<Scope>;

const PyValue *CallArgs::keyword(StringRef name) const {
  for (auto &[key, value] : keywords)
    if (key == name)
      return &value;
  return nullptr;
}

EvaluatorHooks::~EvaluatorHooks() = default;
std::optional<Result> EvaluatorHooks::callSymbol(Evaluator &, StringRef, const CallArgs &) {
  return std::nullopt;
}
std::optional<Result> EvaluatorHooks::callKernel(Evaluator &, const PyValue &, const CallArgs &) {
  return std::nullopt;
}
std::optional<Result> EvaluatorHooks::subscriptKernel(Evaluator &, const PyValue &,
                                                      const PyValue &) {
  return std::nullopt;
}
void EvaluatorHooks::augmented(const PyValue &) {}
void EvaluatorHooks::withoutGradients(llvm::function_ref<void()> run) { run(); }
void EvaluatorHooks::print(StringRef) {}

void Evaluator::withoutGradients(llvm::function_ref<void()> run) {
  hooks ? hooks->withoutGradients(run) : run();
}

ScopePtr Evaluator::makeScope(ModuleEnv &module, ScopePtr parent) {
  auto scope = std::make_shared<Scope>();
  scope->module = &module;
  scope->parent = std::move(parent);
  return scope;
}

Result Evaluator::countStep(const Scope &scope, SourceRange range) {
  Work work(steps, limits.steps);
  return Work::spend(1) ? Result(PyValue())
                        : Result(Work::error()).at(scope.module->source(), range);
}

/// Calls and expressions nest on the machine's stack, of which a thread may
/// have 8 MB.
constexpr uintptr_t maxStackBytes = 3 << 20;

Result Evaluator::evaluate(const ast::Expr &expr, const ScopePtr &scope) {
  if (Result ok = countStep(*scope, expr.range); !ok)
    return ok;
  // Not a local variable's address: AddressSanitizer keeps those elsewhere.
  auto address = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (nesting == 0)
    stackStart = address;
  if (stackStart - address > maxStackBytes && address < stackStart)
    return Result(fail("this nests too deep to be evaluated at compile time", "LimitError"))
        .at(scope->module->source(), expr.range);
  ++nesting;
  Work work(steps, limits.steps);
  AtPlace here({&scope->module->source(), expr.range});
  Result result = dispatch(expr, scope);
  if (result && result->is(Kind::Int)) // of many words perhaps, which whoever takes it copies
    Work::spend(result->asInt().getNumWords() - 1);
  // What was given up on the way has some value or other.
  if (steps > limits.steps && (result || result.error().type != "LimitError"))
    result = Work::error();
  --nesting;
  return std::move(result).at(scope->module->source(), expr.range);
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

Result Evaluator::lookup(StringRef name, Scope &scope) {
  size_t before = SIZE_MAX;
  std::vector<StringRef> candidates;
  for (Scope *s = &scope; s; s = s->parent.get()) {
    if (auto it = s->variables.find(name); it != s->variables.end())
      return it->second;
    for (auto &entry : s->variables)
      candidates.push_back(entry.first());
    before = std::min(before, s->before);
  }
  ModuleEnv &module = *scope.module;
  if (module.binds(name))
    return module.lookupBefore(name, before);
  if (std::optional<PyValue> builtin = findBuiltin(name))
    return *builtin;
  Result found = module.lookupBefore(name, before); // star imports; otherwise an error
  if (found || found.error().type != "NameError")
    return found;
  llvm::append_range(candidates, module.names());
  llvm::append_range(candidates, builtinNames());
  std::string message = formatted("name `{}` is not defined", name);
  for (StringRef library : {"torch", "np", "numpy", "jnp", "F", "nn"})
    if (name == library)
      return fail(formatted("{}; functions of whole tensors are those of `tile`, under the names "
                            "that they have there",
                            message),
                  "NameError");
  if (name == "tl")
    return fail(formatted("{}; `import triton.language as tl` brings it", message), "NameError");
  if (StringRef near = frontend::nearestName(name, candidates); !near.empty())
    message += formatted("; did you mean `{}`?", near);
  return fail(message, "NameError");
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static Result evaluateBinary(Evaluator &evaluator, const ast::Binary &op, const ScopePtr &scope) {
  Result lhs = evaluator.evaluate(*op.lhs, scope);
  if (!lhs)
    return lhs;
  Result rhs = evaluator.evaluate(*op.rhs, scope);
  return rhs ? binary(op.op, *lhs, *rhs) : std::move(rhs);
}

static Result evaluateConditional(Evaluator &evaluator, const ast::Conditional &conditional,
                                  const ScopePtr &scope) {
  Result condition = evaluator.evaluate(*conditional.condition, scope);
  if (condition)
    condition = truth(*condition).at(scope->module->source(), conditional.condition->range);
  if (!condition)
    return condition;
  return evaluator.evaluate(condition->asBool() ? *conditional.then : *conditional.otherwise,
                            scope);
}

static Result evaluateSubscript(Evaluator &evaluator, const ast::Subscript &access,
                                const ScopePtr &scope) {
  Result value = evaluator.evaluate(*access.value, scope);
  if (!value)
    return value;
  Result index = evaluator.evaluate(*access.index, scope);
  return index ? subscript(*value, *index, &evaluator) : std::move(index);
}

/// `name := value`: the name is one of the function's, also in a comprehension.
static Result evaluateNamed(Evaluator &evaluator, const ast::NamedExpr &named,
                            const ScopePtr &scope) {
  Result value = evaluator.evaluate(*named.value, scope);
  if (!value)
    return value;
  Scope *target = scope.get();
  while (target->isComprehension && target->parent)
    target = target->parent.get();
  target->variables[named.name] = *value;
  return value;
}

Result Evaluator::dispatch(const ast::Expr &expr, const ScopePtr &scope) {
  switch (expr.kind) {
  case ast::Expr::Kind::Name:
    return lookup(llvm::cast<ast::Name>(expr).id, *scope);
  case ast::Expr::Kind::Constant:
    return evaluateConstant(llvm::cast<ast::Constant>(expr));
  case ast::Expr::Kind::FString:
    return formatString(llvm::cast<ast::FString>(expr), scope);
  case ast::Expr::Kind::Tuple:
  case ast::Expr::Kind::List:
  case ast::Expr::Kind::Set:
    return evaluateSequence(llvm::cast<ast::Sequence>(expr), scope);
  case ast::Expr::Kind::Dict:
    return evaluateDict(llvm::cast<ast::Dict>(expr), scope);
  case ast::Expr::Kind::Unary: {
    auto &op = llvm::cast<ast::Unary>(expr);
    Result operand = evaluate(*op.operand, scope);
    return operand ? unary(op.op, *operand) : std::move(operand);
  }
  case ast::Expr::Kind::Binary:
    return evaluateBinary(*this, llvm::cast<ast::Binary>(expr), scope);
  case ast::Expr::Kind::BoolOp:
    return evaluateBoolOp(llvm::cast<ast::BoolOp>(expr), scope);
  case ast::Expr::Kind::Compare:
    return evaluateCompare(llvm::cast<ast::Compare>(expr), scope);
  case ast::Expr::Kind::Conditional:
    return evaluateConditional(*this, llvm::cast<ast::Conditional>(expr), scope);
  case ast::Expr::Kind::Call:
    return evaluateCall(llvm::cast<ast::Call>(expr), scope);
  case ast::Expr::Kind::Attribute: {
    auto &access = llvm::cast<ast::Attribute>(expr);
    Result value = evaluate(*access.value, scope);
    if (!value)
      return value;
    return attribute(*value, access.name).at(scope->module->source(), access.nameRange);
  }
  case ast::Expr::Kind::Subscript:
    return evaluateSubscript(*this, llvm::cast<ast::Subscript>(expr), scope);
  case ast::Expr::Kind::Slice:
    return evaluateSlice(llvm::cast<ast::Slice>(expr), scope);
  case ast::Expr::Kind::Lambda:
    return makeLambda(llvm::cast<ast::Lambda>(expr), scope);
  case ast::Expr::Kind::NamedExpr:
    return evaluateNamed(*this, llvm::cast<ast::NamedExpr>(expr), scope);
  case ast::Expr::Kind::Comprehension:
    return evaluateComprehension(llvm::cast<ast::Comprehension>(expr), scope);
  case ast::Expr::Kind::Starred:
    return fail("a starred expression has no meaning here", "SyntaxError");
  case ast::Expr::Kind::Await:
    return unsupported("`await` is not supported");
  case ast::Expr::Kind::Yield:
    return unsupported("`yield` is not supported: generators cannot run at compile time");
  }
  return fail("unknown expression");
}

Result Evaluator::evaluateConstant(const ast::Constant &constant) {
  switch (constant.type) {
  case ast::Constant::Type::None:
    return PyValue();
  case ast::Constant::Type::Bool:
    return PyValue::boolean(constant.boolean);
  case ast::Constant::Type::Ellipsis:
    return PyValue::ellipsis();
  case ast::Constant::Type::Int:
    if (constant.integer.getActiveBits() > maxIntegerBits)
      return fail(formatted("this integer needs more than {} bits", maxIntegerBits),
                  "OverflowError");
    return PyValue::integer(constant.integer.zext(constant.integer.getBitWidth() + 1));
  case ast::Constant::Type::Float:
    return PyValue::number(constant.number);
  case ast::Constant::Type::Imaginary:
    return unsupported("complex numbers are not supported");
  case ast::Constant::Type::String:
    return PyValue::string(constant.text);
  case ast::Constant::Type::Bytes:
    return unsupported("bytes literals are not supported");
  }
  return PyValue();
}

Result Evaluator::evaluateElements(const std::vector<ast::ExprPtr> &exprs, const ScopePtr &scope,
                                   std::vector<PyValue> &out) {
  for (const ast::ExprPtr &expr : exprs) {
    if (auto *starred = llvm::dyn_cast<ast::Starred>(expr.get())) {
      Result sequence = evaluate(*starred->value, scope);
      if (!sequence)
        return sequence;
      std::vector<PyValue> elements;
      if (Result ok = iterate(*sequence, elements); !ok)
        return std::move(ok).at(scope->module->source(), starred->range);
      llvm::append_range(out, elements);
      continue;
    }
    Result value = evaluate(*expr, scope);
    if (!value)
      return value;
    out.push_back(value.take());
  }
  return PyValue();
}

Result Evaluator::evaluateSequence(const ast::Sequence &sequence, const ScopePtr &scope) {
  std::vector<PyValue> elements;
  if (Result ok = evaluateElements(sequence.elements, scope, elements); !ok)
    return ok;
  switch (sequence.kind) {
  case ast::Expr::Kind::Tuple:
    return PyValue::tuple(std::move(elements));
  case ast::Expr::Kind::List:
    return PyValue::list(std::move(elements));
  default:
    return PyValue::set(std::move(elements));
  }
}

Result Evaluator::evaluateDict(const ast::Dict &dict, const ScopePtr &scope) {
  PyValue out = PyValue::dict({});
  for (const ast::Dict::Item &item : dict.items) {
    Result value = evaluate(*item.value, scope);
    if (!value)
      return value;
    if (!item.key) {
      if (!value->is(Kind::Dict))
        return fail(formatted("`**` needs a dict, got `{}`", typeName(*value)));
      for (auto &[key, inner] : value->asDict().items)
        out.asDict().set(key, inner);
      continue;
    }
    Result key = evaluate(*item.key, scope);
    if (!key)
      return key;
    out.asDict().set(*key, *value);
  }
  return out;
}

Result Evaluator::evaluateBoolOp(const ast::BoolOp &op, const ScopePtr &scope) {
  Result value = PyValue();
  for (const ast::ExprPtr &expr : op.values) {
    value = evaluate(*expr, scope);
    if (!value || expr == op.values.back())
      return value;
    Result yes = truth(*value).at(scope->module->source(), expr->range);
    if (!yes)
      return yes;
    if (yes->asBool() != op.isAnd)
      return value;
  }
  return value;
}

Result Evaluator::evaluateCompare(const ast::Compare &comparison, const ScopePtr &scope) {
  Result lhs = evaluate(*comparison.first, scope);
  if (!lhs)
    return lhs;
  Result result = PyValue::boolean(true);
  for (size_t i = 0; i < comparison.ops.size(); ++i) {
    Result rhs = evaluate(*comparison.rest[i], scope);
    if (!rhs)
      return rhs;
    result = compare(comparison.ops[i], *lhs, *rhs);
    if (!result || i + 1 == comparison.ops.size())
      return result;
    Result yes = truth(*result);
    if (!yes || !yes->asBool())
      return yes;
    lhs = std::move(rhs);
  }
  return result;
}

Result Evaluator::evaluateSlice(const ast::Slice &slice, const ScopePtr &scope) {
  PyValue parts[3];
  const ast::Expr *exprs[3] = {slice.lower.get(), slice.upper.get(), slice.step.get()};
  for (int i = 0; i < 3; ++i) {
    if (!exprs[i])
      continue;
    Result value = evaluate(*exprs[i], scope);
    if (!value)
      return value;
    parts[i] = value.take();
  }
  return PyValue::slice(parts[0], parts[1], parts[2]);
}
