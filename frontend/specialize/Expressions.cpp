//===- Expressions.cpp - from syntax to values ----------------------------===//
#include "frontend/specialize/BlockPointer.h"
#include "frontend/specialize/Builtins.h"
#include "frontend/specialize/Specializer.h"
#include "frontend/specialize/TensorDescriptor.h"
#include "text/Format.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

const PyValue *Specializer::find(StringRef name) const {
  auto it = frame->vars.find(name);
  return it == frame->vars.end() || !it->second.missing.empty() ? nullptr : &it->second.value;
}

void Specializer::reportUnknownName(StringRef name, SourceRange range) {
  std::vector<StringRef> candidates = frame->module->names();
  for (auto &[known, variable] : frame->vars)
    if (!known.starts_with("$"))
      candidates.push_back(known);
  for (StringRef builtin : {"tl", "range", "len", "min", "max", "float", "int", "print", "abs"})
    candidates.push_back(builtin);
  StringRef near = frontend::nearestName(name, candidates);
  std::string hint = near.empty() ? "" : formatted("; did you mean `{}`?", near);
  error(range, formatted("unknown name `{}`{}", name, hint));
}

/// libdevice has a symbol for any name, also for those that it does not have.
static bool isKnownSymbol(StringRef symbol) {
  return !symbol.starts_with("libdevice.") || BuiltinTable::get().find(symbol);
}

/// Where only run time knows whether a name is bound, checkers say so; elsewhere one that is not
/// holds some number.
void Specializer::checkHasValue(StringRef name, Variable &variable, SourceRange range) {
  if (!variable.hasValue || !options.checked)
    return;
  At at(*this, range);
  std::string message = formatted("`{}` has no value: its loop has run no turn", name);
  AssertOp::create(builder, loc(), variable.hasValue.value, builder.getStringAttr(message));
  variable.hasValue = {}; // said once
}

PyValue Specializer::lookup(StringRef name, SourceRange range) {
  auto it = frame->vars.find(name);
  if (it != frame->vars.end()) {
    if (it->second.missing.empty()) {
      checkHasValue(name, it->second, range);
      return it->second.value;
    }
    error(range, formatted("`{}` may have no value here: {}", name, it->second.missing));
    // Said once; later uses of the same name would only repeat it.
    it->second = Variable{PoisonValue::get()};
    return PoisonValue::get();
  }
  At at(*this, range);
  if (frame->function && frame->function->closure) {
    for (auto scope = frame->function->closure; scope; scope = scope->parent) {
      auto captured = scope->variables.find(name);
      if (captured != scope->variables.end())
        return ofHost(captured->second);
    }
  }
  if (frame->module->binds(name))
    return take(frame->module->lookup(name));
  if (std::optional<PyValue> imported = frame->module->starImported(name))
    if (!imported->is(PyValue::Kind::Symbol) || isKnownSymbol(imported->asSymbol()))
      return ofHost(*imported);
  if (std::optional<PyValue> builtin = eval::findBuiltin(name))
    return *builtin;
  reportUnknownName(name, range);
  frame->vars[name] = Variable{PoisonValue::get()};
  return PoisonValue::get();
}

std::shared_ptr<eval::Scope> Specializer::scopeForEvaluator() {
  auto scope = eval::Evaluator::makeScope(*frame->module,
                                          frame->function ? frame->function->closure : nullptr);
  for (auto &[name, variable] : frame->vars)
    if (variable.missing.empty())
      scope->variables[name] = variable.value;
  return scope;
}

PyValue Specializer::decay(const PyValue &value) {
  if (value.isNumber())
    return wrap(tensor(value));
  const auto *type = eval::classOf(value);
  if (!value.isSequence() || (type && (*type)->isAggregate)) // its class says what is known
    return value;
  std::vector<PyValue> elements;
  for (const PyValue &element : value.elements())
    elements.push_back(decay(element));
  return tupleLike(value, std::move(elements));
}

//===----------------------------------------------------------------------===//
// Attributes and subscripts
//===----------------------------------------------------------------------===//

PyValue Specializer::attribute(const PyValue &value, StringRef name, SourceRange range) {
  if (isPoison(value))
    return value;
  At at(*this, range);
  if (std::optional<PyValue> found = objectAttribute(value, name))
    return *found;
  if (isBlockPointer(value) && (name == "dtype" || name == "type"))
    return blockPointerType(value);
  if (isBlockPointer(value))
    if (std::optional<PyValue> method = blockPointerMethod(value, name))
      return *method;
  if (isTensorDescriptor(value))
    if (std::optional<PyValue> found = tensorDescriptorAttribute(value, name))
      return *found;
  if (value.isNumber() && name == "dtype")
    if (std::optional<DType> type = naturalType(value))
      return PyValue::dtype(*type);
  return take(eval::attribute(value, name));
}

PyValue Specializer::subscript(const PyValue &value, const PyValue &index) {
  if (isPoison(value) || holdsPoison(index))
    return PoisonValue::get();
  if (const Tensor *t = tensorIn(value))
    return indexTensor(*t, index);
  if (isTensorDescriptor(value))
    return fail("a tensor descriptor has no elements to index: read a block of it with "
                "`d.load(offsets)`");
  if (isBlockPointer(value))
    return fail("a block pointer cannot be indexed: read its block with `tl.load(p)`");
  eval::CallArgs args;
  args.positional = {index};
  if (std::optional<PyValue> result = callObjectMethod(value, "__getitem__", args))
    return *result;
  if (const Tensor *t = tensorIn(index)) {
    if (std::optional<PyValue> known = constantValue(*t))
      return take(eval::subscript(value, *known));
    return fail(formatted("the index into {} must be known at compile time, got {}",
                          eval::typeName(value), describe(index)));
  }
  return take(eval::subscript(value, index));
}

//===----------------------------------------------------------------------===//
// Truth
//===----------------------------------------------------------------------===//

std::optional<bool> Specializer::truth(const PyValue &value) {
  if (isPoison(value))
    return std::nullopt;
  PyValue result = take(eval::truth(value));
  return result.is(PyValue::Kind::Bool) ? std::optional(result.asBool()) : std::nullopt;
}

Tensor Specializer::condition(const PyValue &value, StringRef what) {
  Tensor t = tensor(value, what);
  if (!t)
    return {};
  if (t.isBlock() && t.blockType().getNumElements() != 1)
    return poison(formatted("{} must be a scalar, got {}: the truth of a block is ambiguous; "
                            "reduce it (`tl.max`, `tl.sum`) or use `tl.where`",
                            what, describe(value)));
  return isTrue(unsplat(t));
}

PyValue Specializer::evaluateBoolOp(const ast::BoolOp &op) {
  PyValue result;
  for (auto [i, part] : llvm::enumerate(op.values)) {
    PyValue value = evaluate(*part);
    if (isPoison(value))
      return value;
    bool dynamic = i && tensorIn(result);
    if (dynamic && !tensorIn(value) && !value.is(PyValue::Kind::Extension)) {
      std::optional<bool> known = truth(value);
      if (!known)
        return PoisonValue::get();
      if (*known != op.isAnd)
        return value; // decided, whatever the numbers before it are
      continue;
    }
    if (dynamic || (i && tensorIn(value) && result.is(PyValue::Kind::Extension)))
      result = wrap(logical(op.isAnd, result, value));
    else
      result = value;
    if (isPoison(result) || tensorIn(result))
      continue;
    std::optional<bool> known = truth(result);
    if (!known)
      return PoisonValue::get();
    if (*known != op.isAnd)
      return result; // decided; the rest is not evaluated
  }
  return result;
}

PyValue Specializer::evaluateCompare(const ast::Compare &comparison) {
  PyValue left = evaluate(*comparison.first), result;
  for (auto [i, op] : llvm::enumerate(comparison.ops)) {
    PyValue right = evaluate(*comparison.rest[i]);
    At at(*this, comparison.range);
    PyValue link = relate(op, left, right);
    if (isPoison(link))
      return link;
    if (i == 0)
      result = link;
    else if (tensorIn(result) || tensorIn(link))
      result = wrap(logical(/*isAnd=*/true, result, link));
    else
      result = PyValue::boolean(truth(result).value_or(false) && truth(link).value_or(false));
    left = right;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Literals and containers
//===----------------------------------------------------------------------===//

PyValue Specializer::evaluateConstant(const ast::Constant &constant) {
  using Type = ast::Constant::Type;
  switch (constant.type) {
  case Type::None:
    return PyValue::none();
  case Type::Bool:
    return PyValue::boolean(constant.boolean);
  case Type::Ellipsis:
    return PyValue::ellipsis();
  case Type::Int:
    return PyValue::integer(constant.integer.zext(constant.integer.getBitWidth() + 1));
  case Type::Float:
    return PyValue::number(constant.number);
  case Type::String:
    return PyValue::string(constant.text);
  case Type::Imaginary:
  case Type::Bytes:
    break;
  }
  At at(*this, constant.range);
  return fail("complex numbers and bytes have no meaning in kernels");
}

PyValue Specializer::evaluateSequence(const ast::Sequence &sequence) {
  std::vector<PyValue> elements;
  for (const ast::ExprPtr &part : sequence.elements) {
    auto *starred = llvm::dyn_cast<ast::Starred>(part.get());
    PyValue value = evaluate(starred ? *starred->value : *part);
    if (!starred) {
      elements.push_back(std::move(value));
      continue;
    }
    std::vector<PyValue> spread;
    if (isPoison(value) || isPoison(take(eval::iterate(value, spread))))
      return PoisonValue::get();
    elements.insert(elements.end(), spread.begin(), spread.end());
  }
  if (sequence.kind == ast::Expr::Kind::Set)
    return PyValue::set(std::move(elements));
  // Lists are tuples here: a value that could change in one branch only would
  // need more than names to merge.
  return ofBoundedSize(PyValue::tuple(std::move(elements)));
}

/// Tuples are taken apart and put together at every branch and loop.
constexpr size_t maxTupleValues = 1 << 16;

PyValue Specializer::ofBoundedSize(PyValue value) {
  if (!holdsMoreThan(value, maxTupleValues))
    return value;
  return fail(formatted("this makes a tuple of more than {} values, those of tuples inside it "
                        "counted each time: keep what is repeated once",
                        maxTupleValues));
}

void Specializer::comprehend(const ast::Comprehension &comprehension, size_t index,
                             std::vector<PyValue> &elements) {
  if (index == comprehension.clauses.size()) {
    elements.push_back(evaluate(*comprehension.element));
    return;
  }
  const ast::Comprehension::Clause &clause = comprehension.clauses[index];
  PyValue iterable = evaluate(*clause.iterable);
  std::vector<PyValue> values;
  At at(*this, clause.iterable->range);
  if (isPoison(iterable) || isPoison(take(eval::iterate(iterable, values)))) {
    elements.push_back(PoisonValue::get());
    return;
  }
  for (const PyValue &value : values) {
    if (!countUnrolled())
      return;
    bindUndecayed(*clause.target, value);
    bool keep = true;
    for (const ast::ExprPtr &test : clause.conditions)
      keep = keep && truth(evaluate(*test)).value_or(false);
    if (keep)
      comprehend(comprehension, index + 1, elements);
  }
}

PyValue Specializer::evaluateComprehension(const ast::Comprehension &comprehension) {
  using Type = ast::Comprehension::Type;
  if (comprehension.type == Type::Dict)
    return take(program.evaluator().evaluate(comprehension, scopeForEvaluator()));
  Variables saved = frame->vars;
  std::vector<PyValue> elements;
  comprehend(comprehension, 0, elements);
  frame->vars = std::move(saved);
  if (comprehension.type == Type::Set)
    return PyValue::set(std::move(elements));
  return ofBoundedSize(PyValue::tuple(std::move(elements)));
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static PyValue evaluateSlice(Specializer &s, const ast::Slice &node) {
  auto bound = [&](const ast::ExprPtr &e) { return e ? s.evaluate(*e) : PyValue::none(); };
  PyValue lower = bound(node.lower), upper = bound(node.upper), step = bound(node.step);
  return PyValue::slice(lower, upper, step);
}

static PyValue evaluateNamed(Specializer &s, const ast::NamedExpr &node) {
  s.bind(node.name, node.nameRange, s.evaluate(*node.value));
  const PyValue *bound = s.find(node.name);
  return bound ? *bound : PoisonValue::get();
}

PyValue Specializer::evaluate(const ast::Expr &expr) {
  using EK = ast::Expr::Kind;
  At at(*this, expr.range);
  switch (expr.kind) {
  case EK::Name:
    return lookup(llvm::cast<ast::Name>(expr).id, expr.range);
  case EK::Constant:
    return evaluateConstant(llvm::cast<ast::Constant>(expr));
  case EK::Tuple:
  case EK::List:
  case EK::Set:
    return evaluateSequence(llvm::cast<ast::Sequence>(expr));
  case EK::Unary: {
    auto &node = llvm::cast<ast::Unary>(expr);
    return apply(node.op, evaluate(*node.operand));
  }
  case EK::Binary: {
    auto &node = llvm::cast<ast::Binary>(expr);
    PyValue lhs = evaluate(*node.lhs);
    PyValue rhs = evaluate(*node.rhs);
    return ofBoundedSize(operate(node.op, lhs, rhs));
  }
  case EK::BoolOp:
    return evaluateBoolOp(llvm::cast<ast::BoolOp>(expr));
  case EK::Compare:
    return evaluateCompare(llvm::cast<ast::Compare>(expr));
  case EK::Conditional:
    return conditional(llvm::cast<ast::Conditional>(expr));
  case EK::Call:
    return evaluateCall(llvm::cast<ast::Call>(expr));
  case EK::Attribute: {
    auto &node = llvm::cast<ast::Attribute>(expr);
    return attribute(evaluate(*node.value), node.name, node.nameRange);
  }
  case EK::Subscript: {
    auto &node = llvm::cast<ast::Subscript>(expr);
    PyValue value = evaluate(*node.value);
    return subscript(value, evaluate(*node.index));
  }
  case EK::Slice:
    return evaluateSlice(*this, llvm::cast<ast::Slice>(expr));
  case EK::NamedExpr:
    return evaluateNamed(*this, llvm::cast<ast::NamedExpr>(expr));
  case EK::Comprehension:
    return evaluateComprehension(llvm::cast<ast::Comprehension>(expr));
  case EK::FString:
    return take(
        program.evaluator().formatString(llvm::cast<ast::FString>(expr), scopeForEvaluator()));
  case EK::Dict:
  case EK::Lambda:
    return take(program.evaluator().evaluate(expr, scopeForEvaluator()));
  case EK::Starred:
    return fail("a starred expression has no meaning here");
  case EK::Await:
  case EK::Yield:
    return fail("kernels cannot wait or yield");
  }
  llvm_unreachable("all kinds are covered");
}

} // namespace tile::specialize
