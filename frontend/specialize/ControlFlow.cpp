//===- ControlFlow.cpp - branches that run time decides -------------------===//
//
// Both branches run in turn, each from the same names, each into a block of
// its own. What differs between them afterwards becomes a result of `scf.if`.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Specializer.h"
#include "text/Format.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Has this path left?
//===----------------------------------------------------------------------===//

static constexpr llvm::StringLiteral leaveFlags[] = {kReturned, kBroke, kSkipped};

static bool isKnownTrue(const Variables &vars, StringRef name) {
  auto it = vars.find(name);
  return it != vars.end() && it->second.value.is(PyValue::Kind::Bool) && it->second.value.asBool();
}

Leave Specializer::hasLeft(const Variables &vars) const {
  if (isKnownTrue(vars, kReturned))
    return Leave::Return;
  return isKnownTrue(vars, kBroke) || isKnownTrue(vars, kSkipped) ? Leave::Loop : Leave::No;
}

PyValue Specializer::leftFlag() {
  if (hasLeft(frame->vars) != Leave::No)
    return PyValue::boolean(true);
  Tensor any;
  for (StringRef name : leaveFlags) {
    const PyValue *flag = find(name);
    if (flag && isPoison(*flag))
      return *flag;
    const Tensor *t = flag ? tensorIn(*flag) : nullptr;
    if (t)
      any = any ? arithmetic(BinaryOp::Or, any, *t) : *t;
  }
  return any ? wrap(any) : PyValue::boolean(false);
}

Leave Specializer::possibleLeave() const {
  auto isOpen = [&](StringRef name) {
    const PyValue *flag = find(name);
    return flag && tensorIn(*flag);
  };
  return isOpen(kBroke) || isOpen(kSkipped) ? Leave::Loop : Leave::Return;
}

void Specializer::clearFlags() {
  for (StringRef name : leaveFlags)
    if (find(name))
      set(name, PyValue::boolean(false));
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {

/// One of the two paths into a merge.
struct Path {
  std::unique_ptr<Block> block = std::make_unique<Block>();
  Variables vars;
  Leave left = Leave::No;
  bool isGuard = false; ///< stands for the paths that had left before
  SmallVector<Value> yields;
};

/// Finds the common value of two paths. Tensors that differ are yielded by
/// both; `results` then waits for the op that joins them.
class Merger {
public:
  Merger(Specializer &s, Path &then, Path &otherwise) : s(s), paths{&then, &otherwise} {}

  /// Nothing if the values have no common type.
  std::optional<PyValue> merge(const PyValue &a, const PyValue &b);
  /// `value` of one path, anything on the other, which never gets there.
  PyValue keepOnly(unsigned which, const PyValue &value);

  /// True/false and false/true: the condition itself, and its negation.
  SmallVector<std::pair<std::shared_ptr<TensorValue>, bool>> conditions;
  SmallVector<std::shared_ptr<TensorValue>> results;

private:
  std::shared_ptr<TensorValue> pending(const DType &type) {
    return std::make_shared<TensorValue>(s, Tensor{{}, type});
  }
  template <typename F> Tensor atEnd(unsigned which, F make) {
    OpBuilder::InsertionGuard guard(s.builder);
    s.builder.setInsertionPointToEnd(paths[which]->block.get());
    return make();
  }
  PyValue yieldBoth(const Tensor &a, const Tensor &b) {
    paths[0]->yields.push_back(a.value);
    paths[1]->yields.push_back(b.value);
    results.push_back(pending(a.type));
    return PyValue::extension(results.back());
  }
  std::optional<PyValue> mergeNumbers(const PyValue &a, const PyValue &b);

  Specializer &s;
  Path *paths[2];
};

} // namespace

std::optional<PyValue> Merger::mergeNumbers(const PyValue &a, const PyValue &b) {
  const Tensor *x = tensorIn(a), *y = tensorIn(b);
  if (a.is(PyValue::Kind::Bool) && b.is(PyValue::Kind::Bool)) {
    conditions.push_back({pending(Kind::Int1), /*negated=*/!a.asBool()});
    return PyValue::extension(conditions.back().first);
  }
  std::optional<DType> left = x ? x->type : naturalType(a), right = y ? y->type : naturalType(b);
  if (!left || !right)
    return std::nullopt;
  // A literal beside a tensor is as weak here as in arithmetic.
  std::string problem;
  std::optional<DType> type = *left == *right ? left
                                              : promote({*left, x ? nullptr : &a},
                                                        {*right, y ? nullptr : &b}, false, problem);
  if (!type || (x && x->type != *type) || (y && y->type != *type) || (!x && !y && *left != *right))
    return std::nullopt;
  if (x && y && x->shape() != y->shape())
    return std::nullopt;
  ArrayRef<int64_t> shape = x ? x->shape() : y ? y->shape() : ArrayRef<int64_t>();
  if (!shape.empty() && (!x || !y))
    return std::nullopt;
  Tensor first = x ? *x : atEnd(0, [&] { return s.constant(a, *type); });
  Tensor second = y ? *y : atEnd(1, [&] { return s.constant(b, *type); });
  return yieldBoth(first, second);
}

std::optional<PyValue> Merger::merge(const PyValue &a, const PyValue &b) {
  if (isPoison(a) || isPoison(b))
    return PoisonValue::get();
  const Tensor *x = tensorIn(a), *y = tensorIn(b);
  if (x && y && x->value == y->value && x->type == y->type)
    return a;
  if (!x && !y && !holdsTensor(a) && !holdsTensor(b) && a.kind() == b.kind() && eval::equal(a, b))
    return a;
  if ((x || a.isNumber()) && (y || b.isNumber()))
    return mergeNumbers(a, b);
  if (!sameStructure(a, b))
    return std::nullopt;
  std::vector<PyValue> elements;
  for (auto [left, right] : llvm::zip(a.elements(), b.elements())) {
    std::optional<PyValue> merged = merge(left, right);
    if (!merged)
      return std::nullopt;
    elements.push_back(std::move(*merged));
  }
  return tupleLike(a, std::move(elements));
}

PyValue Merger::keepOnly(unsigned which, const PyValue &value) {
  SmallVector<Tensor> leaves;
  flatten(value, leaves);
  bool escapes = llvm::any_of(leaves, [&](Tensor &t) {
    return t && t.value.getParentBlock() == paths[which]->block.get();
  });
  if (!escapes)
    return value;
  if (const Tensor *t = tensorIn(value)) {
    Tensor other = atEnd(1 - which, [&] { return s.filler(t->type, t->value.getType()); });
    return which == 0 ? yieldBoth(*t, other) : yieldBoth(other, *t);
  }
  std::vector<PyValue> elements;
  for (const PyValue &element : value.elements())
    elements.push_back(keepOnly(which, element));
  return tupleLike(value, std::move(elements));
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

static std::string readable(StringRef name) {
  if (name == kReturnValue)
    return "the returned value";
  if (name == kTernary)
    return "the value of the conditional expression";
  return formatted("`{}`", name);
}

static const Variable *lookupIn(const Variables &vars, StringRef name) {
  auto it = vars.find(name);
  return it == vars.end() ? nullptr : &it->second;
}

/// What `name` is after two paths have joined.
static Variable mergeVariable(Specializer &s, Merger &merger, StringRef name, Path &then,
                              Path &otherwise) {
  const Variable *a = lookupIn(then.vars, name), *b = lookupIn(otherwise.vars, name);
  if (llvm::is_contained(leaveFlags, name)) {
    static const PyValue no = PyValue::boolean(false);
    const PyValue &x = a ? a->value : no, &y = b ? b->value : no;
    // Behind a guard the flag is false, in front of it it is what it was.
    if (otherwise.isGuard && x.is(PyValue::Kind::Bool) && !x.asBool())
      return Variable{y};
    // Who returns behind a guard that only those that have returned do not pass: all have.
    if (otherwise.isGuard && otherwise.left == Leave::Return && name == kReturned &&
        x.is(PyValue::Kind::Bool))
      return Variable{x};
    return Variable{merger.merge(x, y).value_or(PoisonValue::get())};
  }
  bool hasA = a && a->missing.empty(), hasB = b && b->missing.empty();
  // A path that has returned has no say, except on the value it returns.
  if (name != kReturnValue && name != kTernary) {
    if (then.left == Leave::Return && hasB)
      return Variable{merger.keepOnly(1, b->value), b->isConstexpr, {}};
    if (otherwise.left == Leave::Return && hasA)
      return Variable{merger.keepOnly(0, a->value), a->isConstexpr, {}};
  }
  bool dontCare = name == kReturnValue || then.left != Leave::No || otherwise.left != Leave::No;
  if (hasA && hasB) {
    if (std::optional<PyValue> merged = merger.merge(a->value, b->value)) {
      Variable both{*merged, a->isConstexpr && b->isConstexpr && !holdsTensor(*merged), {}};
      const Tensor *x = tensorIn(*merged), *y = tensorIn(a->value);
      if (x && y && x->value == y->value) // the same on both paths
        both.hasValue = a->hasValue ? a->hasValue : b->hasValue;
      return both;
    }
    std::string why = formatted(
        "{} is {} if the condition is true, but {} if it is false; both must have one type",
        readable(name), describe(a->value), describe(b->value));
    if (dontCare && name != kReturnValue)
      return Variable{{}, false, why};
    s.error(why);
    return Variable{PoisonValue::get()};
  }
  if (hasA && dontCare)
    return Variable{merger.keepOnly(0, a->value)};
  if (hasB && dontCare)
    return Variable{merger.keepOnly(1, b->value)};
  if (!hasA && a)
    return *a;
  if (!hasB && b)
    return *b;
  return Variable{
      {}, false, formatted("it is assigned only if the condition is {}", hasA ? "true" : "false")};
}

//===----------------------------------------------------------------------===//
// scf.if
//===----------------------------------------------------------------------===//

/// Builds the op around the finished branches and returns it.
static Operation *createIf(Specializer &s, const Tensor &condition, Path &then, Path &otherwise) {
  OperationState state(s.loc(), scf::IfOp::getOperationName());
  state.addOperands(condition.value);
  for (Value value : then.yields)
    state.addTypes(value.getType());
  for (Path *path : {&then, &otherwise}) {
    Region *region = state.addRegion();
    if (path == &otherwise && path->block->empty() && path->yields.empty())
      continue;
    OpBuilder::InsertionGuard guard(s.builder);
    s.builder.setInsertionPointToEnd(path->block.get());
    scf::YieldOp::create(s.builder, state.location, path->yields);
    region->push_back(path->block.release());
  }
  return s.builder.create(state);
}

void Specializer::emitIf(const Tensor &condition, Action then, Action otherwise,
                         Leave otherwiseLeaves) {
  if (!condition)
    return;
  Variables before = frame->vars;
  Path paths[2];
  Action actions[2] = {then, otherwise};
  for (auto [path, action] : llvm::zip(paths, actions)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(path.block.get());
    frame->vars = before;
    ++branches;
    action();
    --branches;
    path.vars = std::move(frame->vars);
    path.left = hasLeft(path.vars);
  }
  if (otherwiseLeaves != Leave::No) {
    paths[1].left = otherwiseLeaves;
    paths[1].isGuard = true;
  }

  Merger merger(*this, paths[0], paths[1]);
  Variables merged;
  bool bothReturned = paths[0].left == Leave::Return && paths[1].left == Leave::Return;
  auto consider = [&](StringRef name) {
    if (bothReturned && !name.starts_with("$"))
      return; // nothing can ask for it
    if (!merged.contains(name))
      merged[name] = mergeVariable(*this, merger, name, paths[0], paths[1]);
  };
  for (Variables *source : {&before, &paths[0].vars, &paths[1].vars})
    for (auto &entry : *source)
      consider(entry.first);

  bool empty = paths[0].block->empty() && paths[1].block->empty() && paths[0].yields.empty();
  if (!empty) {
    Operation *op = createIf(*this, condition, paths[0], paths[1]);
    for (auto [result, value] : llvm::zip(merger.results, op->getResults()))
      result->tensor.value = value;
  }
  for (auto &[value, negated] : merger.conditions)
    value->tensor = negated ? logicalNot(condition) : condition;
  frame->vars = std::move(merged);
}

PyValue Specializer::conditional(const ast::Conditional &expr) {
  PyValue test = evaluate(*expr.condition);
  if (isPoison(test))
    return test;
  if (!tensorIn(test)) {
    std::optional<bool> known = truth(test);
    if (!known)
      return PoisonValue::get();
    return evaluate(*known ? *expr.then : *expr.otherwise);
  }
  Tensor scalar = Specializer::condition(test, "the condition of a conditional expression");
  if (!scalar)
    return PoisonValue::get();
  emitIf(
      scalar, [&] { set(kTernary, evaluate(*expr.then)); },
      [&] { set(kTernary, evaluate(*expr.otherwise)); });
  PyValue result = frame->vars[kTernary].value;
  frame->vars.erase(kTernary);
  return result;
}

} // namespace tile::specialize
