//===- Loops.cpp - for and while ------------------------------------------===//
//
// A loop over compile-time elements is unrolled. Any other becomes `scf.for`,
// or `scf.while` if it can be left early. The names that the body may bind and
// that are live before it are carried; each must keep its type.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Assigned.h"
#include "frontend/specialize/Specializer.h"

using namespace mlir;
using llvm::formatv;
using llvm::StringRef;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Carried names
//===----------------------------------------------------------------------===//

namespace {

/// A loop that run time decides, under construction:
///  1. the constructor finds the carried names and their initial values;
///  2. enter() binds them to block arguments;
///  3. collect() checks their values at the end of an iteration;
///  4. leave() binds them to the loop's results.
class RuntimeLoop {
public:
  RuntimeLoop(Specializer &s, const ast::Body &body, const ast::Expr *induction,
              const ast::Expr *condition);

  SmallVector<Value> inits;
  void enter(ArrayRef<Value> arguments);
  SmallVector<Value> collect();
  void leave(ArrayRef<Value> results);
  /// True on an iteration that no `break` or `return` prevents.
  Tensor mayContinue(Tensor condition);
  bool canBreak = false, canReturn = false;

private:
  struct Carried {
    StringRef name;
    PyValue init;
    SourceRange range;
  };
  bool match(const PyValue &init, const PyValue &now, SmallVectorImpl<Value> &leaves);
  void carryFlag(StringRef name);

  Specializer &s;
  AssignedNames assigned, inductionNames;
  SmallVector<Carried> carried;
  Variables before;
};

} // namespace

RuntimeLoop::RuntimeLoop(Specializer &s, const ast::Body &body, const ast::Expr *induction,
                         const ast::Expr *condition)
    : s(s) {
  canBreak = hasBreak(body);
  canReturn = hasReturn(body);
  if (condition)
    collectAssigned(*condition, assigned);
  collectAssigned(body, assigned);
  if (induction)
    collectTargets(*induction, inductionNames);
  for (auto &[name, range] : assigned) {
    const PyValue *value = s.find(name);
    if (!value || inductionNames.contains(name) || s.frame->vars[name].isConstexpr)
      continue;
    PyValue init = s.decay(*value);
    s.set(name, init);
    carried.push_back({name, init, range});
  }
  if (canBreak)
    carryFlag(kBroke);
  if (canReturn)
    carryFlag(kReturned);
  SmallVector<Tensor> leaves;
  for (Carried &c : carried)
    flatten(c.init, leaves);
  for (Tensor &leaf : leaves)
    inits.push_back(leaf.value);
  before = s.frame->vars;
}

void RuntimeLoop::carryFlag(StringRef name) {
  carried.push_back({name, s.decay(PyValue::boolean(false)), {}});
}

void RuntimeLoop::enter(ArrayRef<Value> arguments) {
  for (Carried &c : carried)
    s.set(c.name, rebuild(s, c.init, arguments));
}

Tensor RuntimeLoop::mayContinue(Tensor condition) {
  for (StringRef flag : {StringRef(kBroke), StringRef(kReturned)}) {
    const PyValue *value = s.find(flag);
    const Tensor *t = value ? tensorIn(*value) : nullptr;
    if (t && condition && ((flag == kBroke && canBreak) || (flag == kReturned && canReturn)))
      condition = s.arithmetic(BinaryOp::And, condition, s.logicalNot(*t));
  }
  return condition;
}

/// Appends the run-time parts of `now`, whose structure and types must be
/// those of `init`.
bool RuntimeLoop::match(const PyValue &init, const PyValue &now, SmallVectorImpl<Value> &leaves) {
  if (const Tensor *t = tensorIn(init)) {
    const Tensor *u = tensorIn(now);
    Tensor decayed;
    if (!u && now.isNumber()) {
      decayed = s.tensor(now);
      u = &decayed;
    }
    if (!u || u->type != t->type || u->shape() != t->shape())
      return false;
    leaves.push_back(u->value);
    return true;
  }
  if (!holdsTensor(init))
    return !holdsTensor(now) && init.kind() == now.kind() && eval::equal(init, now);
  if (init.elements().size() != now.elements().size())
    return false;
  for (auto [a, b] : llvm::zip(init.elements(), now.elements()))
    if (!match(a, b, leaves))
      return false;
  return true;
}

SmallVector<Value> RuntimeLoop::collect() {
  SmallVector<Value> values;
  for (Carried &c : carried) {
    const PyValue *now = s.find(c.name);
    static const PyValue no = PyValue::boolean(false);
    if (!now && c.name.starts_with("$"))
      now = &no; // a flag that nothing set
    if (now && (holdsPoison(*now) || holdsPoison(c.init))) {
      // Reported already: keep the loop well-formed.
      SmallVector<Tensor> leaves;
      flatten(c.init, leaves);
      for (Tensor &leaf : leaves)
        values.push_back(s.filler(leaf.type, leaf.value.getType()).value);
      continue;
    }
    size_t count = values.size();
    if (now && match(c.init, *now, values))
      continue;
    values.resize(count);
    if (!now)
      s.error(c.range, formatv("`{0}` has a value before the loop but may have none after an "
                               "iteration: {1}",
                               c.name, s.frame->vars[c.name].missing));
    else
      s.error(c.range,
              formatv("`{0}` is {1} before the loop but {2} after an iteration; a variable "
                      "that a loop changes must keep its type",
                      c.name, describe(c.init), describe(*now)));
    SmallVector<Tensor> leaves;
    flatten(c.init, leaves);
    for (Tensor &leaf : leaves)
      values.push_back(s.filler(leaf.type, leaf.value.getType()).value);
  }
  return values;
}

void RuntimeLoop::leave(ArrayRef<Value> results) {
  s.frame->vars = std::move(before);
  for (Carried &c : carried)
    s.set(c.name, rebuild(s, c.init, results));
  auto drop = [&](StringRef name, const char *why) {
    s.frame->vars[name] = Variable{{}, false, why};
  };
  for (auto &entry : assigned)
    if (!s.find(entry.first) && !s.frame->vars.contains(entry.first))
      drop(entry.first, "it is assigned only inside the loop, which may not run");
  for (auto &entry : inductionNames)
    drop(entry.first, "a loop variable has no value after the loop");
  s.frame->vars.erase(kBroke);
  s.frame->vars.erase(kSkipped);
}

//===----------------------------------------------------------------------===//
// range(...)
//===----------------------------------------------------------------------===//

bool Specializer::evaluateRange(const ast::Call &call, StringRef kind, RangeCall &range) {
  eval::CallArgs args;
  if (!evaluateArguments(call, args))
    return false;
  range.isStatic = kind == "tl.static_range";
  range.step = PyValue::integer(1);
  constexpr StringRef names[] = {"arg1", "arg2", "step"};
  PyValue bounds[3];
  bool given[3] = {false, false, false};
  for (auto [i, value] : llvm::enumerate(args.positional)) {
    if (i == 3) {
      error("a range has at most three arguments: start, stop and step");
      return false;
    }
    bounds[i] = value;
    given[i] = true;
  }
  for (auto &[name, value] : args.keywords) {
    if (const auto *known = llvm::find(names, name); known != std::end(names)) {
      bounds[known - names] = value;
      given[known - names] = true;
      continue;
    }
    constexpr StringRef integers[] = {"num_stages", "loop_unroll_factor"};
    constexpr StringRef flags[] = {"disallow_acc_multi_buffer", "flatten", "warp_specialize",
                                   "disable_licm"};
    bool isInteger = llvm::is_contained(integers, name);
    if (kind != "tl.range" || (!isInteger && !llvm::is_contained(flags, name))) {
      error(formatv("`{0}` is not an argument of `{1}`", name, kind));
      return false;
    }
    if (value.isNone() || isPoison(value))
      continue;
    std::optional<int64_t> number = value.toInt64();
    if (!number) {
      error(formatv("`{0}` must be a compile-time integer, got {1}", name, describe(value)));
      return false;
    }
    if (isInteger)
      range.attributes.append("tile." + name, builder.getI32IntegerAttr(*number));
    else if (*number)
      range.attributes.append("tile." + name, builder.getUnitAttr());
  }
  if (!given[0]) {
    error("a range needs at least one argument");
    return false;
  }
  bool hasStop = given[1] && !bounds[1].isNone();
  range.start = hasStop ? bounds[0] : PyValue::integer(0);
  range.stop = hasStop ? bounds[1] : bounds[0];
  if (given[2] && !bounds[2].isNone())
    range.step = bounds[2];
  return !isPoison(range.start) && !isPoison(range.stop) && !isPoison(range.step);
}

namespace {
/// The bounds of a loop as scalars of one type; a negative step is turned
/// around, `actual = turned - iv`.
struct Bounds {
  Tensor start, stop, step;
  Tensor turned;
};
} // namespace

static bool makeBounds(Specializer &s, const RangeCall &range, Bounds &bounds) {
  PyValue step = range.step;
  bool negative = false;
  if (step.isNumber()) {
    std::optional<int64_t> known = step.toInt64();
    if (known && *known == 0) {
      s.error("the step of a range must not be 0");
      return false;
    }
    negative = known && *known < 0;
    if (negative)
      step = PyValue::integer(-*known);
  }
  bounds.start = s.tensor(range.start, "the start of a range");
  bounds.stop = s.tensor(range.stop, "the end of a range");
  bounds.step = s.tensor(step, "the step of a range");
  DType type = Kind::Int32;
  for (Tensor *t : {&bounds.start, &bounds.stop, &bounds.step}) {
    if (!*t)
      return false;
    if (t->isBlock() || !t->type.isInt()) {
      s.error(formatv("the bounds of a range must be scalar integers, got {0}",
                      describe(t->type, t->shape())));
      return false;
    }
    std::string problem;
    type = promote({type}, {t->type}, false, problem).value_or(type);
  }
  for (Tensor *t : {&bounds.start, &bounds.stop, &bounds.step})
    *t = s.cast(*t, type);
  if (negative) {
    std::swap(bounds.start, bounds.stop);
    bounds.turned = s.arithmetic(BinaryOp::Add, bounds.start, bounds.stop);
  }
  return true;
}

/// Binds the loop's target for one iteration.
static void bindInduction(Specializer &s, const ast::For &loop, const Bounds &bounds, Value iv) {
  Tensor value{iv, bounds.start.type};
  if (bounds.turned)
    value = s.arithmetic(BinaryOp::Sub, bounds.turned, value);
  s.assign(*loop.target, s.wrap(value));
}

/// Runs the body once for all iterations, in the block at the builder.
static void runBody(Specializer &s, const ast::Body &body) {
  for (StringRef flag : {StringRef(kBroke), StringRef(kSkipped), StringRef(kReturned)})
    s.frame->vars.erase(flag);
  ++s.frame->runtimeLoops;
  s.run(body);
  --s.frame->runtimeLoops;
}

static void emitFor(Specializer &s, const ast::For &loop, const RangeCall &range, Bounds &bounds,
                    RuntimeLoop &state) {
  Location here = s.loc();
  auto op = scf::ForOp::create(s.builder, here, bounds.start.value, bounds.stop.value,
                               bounds.step.value, state.inits);
  for (NamedAttribute attribute : range.attributes)
    op->setDiscardableAttr(attribute.getName(), attribute.getValue());
  {
    OpBuilder::InsertionGuard guard(s.builder);
    Block *body = op.getBody();
    s.builder.setInsertionPointToStart(body);
    SmallVector<Value> arguments(op.getRegionIterArgs());
    state.enter(arguments);
    bindInduction(s, loop, bounds, op.getInductionVar());
    runBody(s, loop.body);
    SmallVector<Value> yields = state.collect();
    if (!yields.empty())
      scf::YieldOp::create(s.builder, here, yields);
  }
  SmallVector<Value> results(op.getResults());
  state.leave(results);
}

namespace {
using WhileCondition = llvm::function_ref<Tensor(Value iv)>;
using WhileBody = llvm::function_ref<Value(Value iv)>;
} // namespace

/// An `scf.while` whose first carried value is the induction variable, if the
/// loop has one.
static void emitWhile(Specializer &s, RuntimeLoop &state, Value init, WhileCondition condition,
                      WhileBody body) {
  Location here = s.loc();
  OperationState op(here, scf::WhileOp::getOperationName());
  SmallVector<Value> inits;
  if (init)
    inits.push_back(init);
  inits.append(state.inits);
  op.addOperands(inits);
  for (Value value : inits)
    op.addTypes(value.getType());
  SmallVector<Location> locations(inits.size(), here);
  for (bool isBefore : {true, false}) {
    OpBuilder::InsertionGuard guard(s.builder);
    Block *block = new Block;
    op.addRegion()->push_back(block);
    block->addArguments(ValueRange(inits).getTypes(), locations);
    s.builder.setInsertionPointToStart(block);
    SmallVector<Value> arguments(block->getArguments());
    Value iv = init ? arguments[0] : Value();
    state.enter(ArrayRef(arguments).drop_front(init ? 1 : 0));
    if (isBefore) {
      Tensor test = condition(iv);
      if (!test) // reported
        test = s.constant(PyValue::boolean(false), Kind::Int1);
      test = state.mayContinue(test);
      SmallVector<Value> forwarded = state.collect();
      if (init)
        forwarded.insert(forwarded.begin(), iv);
      scf::ConditionOp::create(s.builder, here, test.value, forwarded);
      continue;
    }
    Value next = body(iv);
    SmallVector<Value> yields = state.collect();
    if (init)
      yields.insert(yields.begin(), next);
    scf::YieldOp::create(s.builder, here, yields);
  }
  Operation *loop = s.builder.create(op);
  SmallVector<Value> results(loop->getResults());
  state.leave(ArrayRef(results).drop_front(init ? 1 : 0));
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

bool Specializer::countUnrolled() {
  constexpr unsigned limit = 100000;
  if (++unrolledIterations != limit)
    return unrolledIterations < limit;
  error(formatv("more than {0} iterations are unrolled: use `range` for a loop that runs at run "
                "time",
                limit));
  return false;
}

void Specializer::bindUndecayed(const ast::Expr &target, const PyValue &value) {
  if (auto *name = llvm::dyn_cast<ast::Name>(&target)) {
    set(name->id, value);
    return;
  }
  auto *sequence = llvm::dyn_cast<ast::Sequence>(&target);
  std::vector<PyValue> elements;
  if (!sequence || isPoison(value) || isPoison(take(eval::iterate(value, elements))) ||
      elements.size() != sequence->elements.size()) {
    assign(target, value); // reports
    return;
  }
  for (auto [part, element] : llvm::zip(sequence->elements, elements))
    bindUndecayed(*part, element);
}

void Specializer::runUnrolled(const ast::For &loop, ArrayRef<PyValue> elements) {
  for (auto [index, element] : llvm::enumerate(elements)) {
    if (!countUnrolled())
      return;
    bindUndecayed(*loop.target, element);
    run(loop.body);
    frame->vars.erase(kSkipped);
    PyValue left = leftFlag();
    if (left.is(PyValue::Kind::Bool) && !left.asBool())
      continue;
    if (tensorIn(left) && index + 1 < elements.size())
      emitIf(
          logicalNot(*tensorIn(left)),
          [&] {
            clearFlags();
            runUnrolled(loop, elements.drop_front(index + 1));
          },
          [] {}, possibleLeave());
    return;
  }
}

void Specializer::runFor(const ast::For &loop) {
  if (!loop.otherwise.empty() || loop.isAsync) {
    unsupported("`for ... else` is not supported in kernels: test a flag after the loop");
    return;
  }
  auto *call = llvm::dyn_cast<ast::Call>(loop.iterable.get());
  PyValue callee =
      call && !llvm::isa<ast::Call>(*call->callee) ? evaluate(*call->callee) : PyValue::none();
  bool isRange = callee.isSymbol("range") || callee.isSymbol("tl.range");
  RangeCall range;
  std::vector<PyValue> elements;
  At at(*this, loop.iterable->range);
  if (isRange || callee.isSymbol("tl.static_range")) {
    if (!evaluateRange(*call, callee.asSymbol(), range))
      return;
  } else {
    PyValue iterable = evaluate(*loop.iterable);
    if (isPoison(iterable) || isPoison(take(eval::iterate(iterable, elements))))
      return;
  }
  if (range.isStatic) {
    PyValue bounds[3] = {range.start, range.stop, range.step};
    for (PyValue &bound : bounds) {
      if (const Tensor *t = tensorIn(bound))
        bound = constantValue(*t).value_or(bound);
      if (!bound.toInt64()) {
        error(formatv("the bounds of `tl.static_range` must be compile-time integers, got {0}; use "
                      "`range` for a loop that runs at run time",
                      describe(bound)));
        return;
      }
    }
    eval::CallArgs args;
    args.positional.assign(std::begin(bounds), std::end(bounds));
    PyValue known = take(program.evaluator().call(PyValue::symbol("range"), args));
    constexpr int64_t limit = 100000;
    if (isPoison(known))
      return;
    if (known.is(PyValue::Kind::Range) && known.asRange().size() >= limit) {
      error(
          formatv("{0} iterations are too many to unroll (limit {1}): use `range` for a loop that "
                  "runs at run time",
                  known.asRange().size(), limit));
      return;
    }
    if (isPoison(take(eval::iterate(known, elements))))
      return;
  }
  if (!isRange) {
    runUnrolled(loop, elements);
    frame->vars.erase(kBroke);
    return;
  }
  Bounds bounds;
  if (!makeBounds(*this, range, bounds))
    return;
  RuntimeLoop state(*this, loop.body, loop.target.get(), nullptr);
  if (!state.canBreak && !state.canReturn)
    return emitFor(*this, loop, range, bounds, state);
  emitWhile(
      *this, state, bounds.start.value,
      [&](Value iv) {
        Tensor counter{iv, bounds.start.type};
        Value more = create<arith::CmpIOp>(arith::CmpIPredicate::slt, iv, bounds.stop.value);
        return Tensor{more, DType(Kind::Int1)};
      },
      [&](Value iv) {
        bindInduction(*this, loop, bounds, iv);
        runBody(*this, loop.body);
        return create<arith::AddIOp>(iv, bounds.step.value);
      });
}

void Specializer::runWhile(const ast::While &loop) {
  if (!loop.otherwise.empty()) {
    unsupported("`while ... else` is not supported in kernels: test a flag after the loop");
    return;
  }
  RuntimeLoop state(*this, loop.body, nullptr, loop.condition.get());
  At at(*this, loop.condition->range);
  emitWhile(
      *this, state, {},
      [&](Value) {
        PyValue value = evaluate(*loop.condition);
        if (!tensorIn(value) && !isPoison(value))
          if (std::optional<bool> known = truth(value))
            value = PyValue::boolean(*known);
        return condition(value, "the condition of `while`");
      },
      [&](Value) {
        runBody(*this, loop.body);
        return Value();
      });
}

} // namespace tile::specialize
