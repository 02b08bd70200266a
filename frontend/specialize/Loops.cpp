//===- Loops.cpp - for and while ------------------------------------------===//
//
// A loop over compile-time elements is unrolled. Any other becomes `scf.for`,
// or `scf.while` if it can be left early. The names that the body may bind and
// that are live before it are carried; each must keep its type.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/RuntimeLoop.h"
#include "text/Format.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// range(...)
//===----------------------------------------------------------------------===//

static constexpr StringRef kRangeBounds[] = {"arg1", "arg2", "step"};
static constexpr StringRef kRangeIntegers[] = {"num_stages", "loop_unroll_factor"};
static constexpr StringRef kRangeFlags[] = {"disallow_acc_multi_buffer", "flatten",
                                            "warp_specialize", "disable_licm"};

/// Whether `name=value` is an option of the range; it becomes an attribute of the loop.
static bool evaluateRangeOption(Specializer &s, StringRef name, const PyValue &value,
                                StringRef kind, RangeCall &range) {
  bool isInteger = llvm::is_contained(kRangeIntegers, name);
  if (kind == "tl.static_range" || (!isInteger && !llvm::is_contained(kRangeFlags, name))) {
    std::vector<StringRef> known = {kRangeBounds[2]};
    if (kind != "tl.static_range") {
      known.insert(known.end(), std::begin(kRangeIntegers), std::end(kRangeIntegers));
      known.insert(known.end(), std::begin(kRangeFlags), std::end(kRangeFlags));
    }
    StringRef near = frontend::nearestName(name, known);
    s.error(formatted("`{}` is not an argument of `{}`{}", name, kind,
                      near.empty() ? "" : formatted("; did you mean `{}`?", near)));
    return false;
  }
  if (value.isNone() || isPoison(value))
    return true;
  PyValue known = value;
  if (const Tensor *t = tensorIn(value))
    known = s.constantValue(*t).value_or(value);
  std::optional<int64_t> number = known.toInt64();
  if (!number || (isInteger ? *number < 0 || *number > 1024 : *number >> 1 != 0)) {
    s.error(formatted("`{}` must be {}, got {}", name,
                      isInteger ? "a compile-time integer from 0 to 1024" : "True or False",
                      describe(known)));
    return false;
  }
  if (isInteger)
    range.attributes.append(("tile." + name).str(), s.builder.getI32IntegerAttr(*number));
  else if (*number)
    range.attributes.append(("tile." + name).str(), s.builder.getUnitAttr());
  return true;
}

bool Specializer::evaluateRange(const ast::Call &call, StringRef kind, RangeCall &range) {
  eval::CallArgs args;
  if (!evaluateArguments(call, args))
    return false;
  range.step = PyValue::integer(1);
  PyValue bounds[3];
  bool given[3] = {false, false, false};
  for (auto [i, value] : llvm::enumerate(args.positional)) {
    if (i < 3) {
      bounds[i] = value;
      given[i] = true;
      continue;
    }
    size_t option = i - 3;
    if (kind != "tl.range" || option >= std::size(kRangeIntegers) + std::size(kRangeFlags)) {
      error("a range has at most three arguments: start, stop and step");
      return false;
    }
    StringRef name = option < std::size(kRangeIntegers)
                         ? kRangeIntegers[option]
                         : kRangeFlags[option - std::size(kRangeIntegers)];
    args.keywords.emplace_back(name.str(), value);
  }
  for (auto &[name, value] : args.keywords) {
    if (const auto *known = llvm::find(kRangeBounds, name); known != std::end(kRangeBounds)) {
      bounds[known - kRangeBounds] = value;
      given[known - kRangeBounds] = true;
      continue;
    }
    if (!evaluateRangeOption(*this, name, value, kind, range))
      return false;
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

/// Binds the loop's target for one iteration.
static void bindInduction(Specializer &s, const ast::For &loop, const LoopCounter &counter,
                          Value iv) {
  s.assign(*loop.target, s.wrap(counter.valueAt(s, iv)));
}

/// Runs the body once for all iterations, in the block at the builder.
static void runBody(Specializer &s, const ast::Body &body) {
  for (StringRef flag : {kBroke, kSkipped, kReturned, kReturnValue})
    s.frame->vars.erase(flag);
  s.run(body);
}

static void emitFor(Specializer &s, const ast::For &loop, const RangeCall &range,
                    const LoopCounter &counter, RuntimeLoop &state) {
  Location here = s.loc();
  auto op = scf::ForOp::create(s.builder, here, counter.start(), counter.stop(), counter.step(),
                               state.inits);
  for (NamedAttribute attribute : range.attributes)
    op->setDiscardableAttr(attribute.getName(), attribute.getValue());
  {
    OpBuilder::InsertionGuard guard(s.builder);
    Block *body = op.getBody();
    s.builder.setInsertionPointToStart(body);
    SmallVector<Value> arguments(op.getRegionIterArgs());
    state.enter(arguments);
    bindInduction(s, loop, counter, op.getInductionVar());
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

/// Carries what the body returned out of the loop. Its type is only known now
/// that the body has been read, so the carried values grow at the end; no
/// iteration but the last looks at them.
static void carryReturned(Specializer &s, OperationState &op, ArrayRef<Tensor> returned) {
  Block &before = op.regions[0]->front(), &after = op.regions[1]->front();
  for (const Tensor &t : returned) {
    Type type = t.value.getType();
    Value unknown = before.addArgument(type, op.location);
    after.addArgument(type, op.location);
    before.getTerminator()->insertOperands(before.getTerminator()->getNumOperands(), unknown);
    after.getTerminator()->insertOperands(after.getTerminator()->getNumOperands(), t.value);
    op.addOperands(s.filler(t.type, type).value);
    op.addTypes(type);
  }
}

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
  std::optional<PyValue> returned;
  SmallVector<Tensor> returnedParts;
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
    if (const PyValue *value = state.canReturn ? s.find(kReturnValue) : nullptr) {
      returned = *value;
      flatten(*returned, returnedParts);
    }
    SmallVector<Value> yields = state.collect();
    if (init)
      yields.insert(yields.begin(), next);
    scf::YieldOp::create(s.builder, here, yields);
  }
  carryReturned(s, op, returnedParts);
  Operation *loop = s.builder.create(op);
  SmallVector<Value> results(loop->getResults());
  ArrayRef<Value> carried = ArrayRef(results).drop_front(init ? 1 : 0);
  ArrayRef<Value> last = carried.take_back(returnedParts.size());
  state.leave(carried.drop_back(returnedParts.size()));
  if (returned)
    s.set(kReturnValue, rebuild(s, *returned, last));
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

constexpr int64_t maxUnrolled = 100000;

bool Specializer::countUnrolled() {
  if (++unrolledIterations != maxUnrolled + 1)
    return unrolledIterations <= maxUnrolled;
  error(formatted(
      "more than {} iterations are unrolled: use `range` for a loop that runs at run time",
      maxUnrolled));
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

/// The values that `tl.static_range` goes through.
static bool staticElements(Specializer &s, const RangeCall &range, std::vector<PyValue> &elements) {
  eval::CallArgs args;
  for (PyValue bound : {range.start, range.stop, range.step}) {
    if (const Tensor *t = tensorIn(bound))
      bound = s.constantValue(*t).value_or(bound);
    if (!bound.toInt64()) {
      s.error(formatted("the bounds of `tl.static_range` must be compile-time integers, got {}; "
                        "use `range` for a loop that runs at run time",
                        describe(bound)));
      return false;
    }
    args.positional.push_back(bound);
  }
  PyValue known = s.take(s.program.evaluator().call(PyValue::symbol("range"), args));
  if (known.is(PyValue::Kind::Range) && known.asRange().size() > maxUnrolled) {
    s.error(formatted("{} iterations are too many to unroll (limit {}): use `range` for a loop "
                      "that runs at run time",
                      known.asRange().size(), maxUnrolled));
    return false;
  }
  return !isPoison(known) && !isPoison(s.take(eval::iterate(known, elements)));
}

/// A range that a `break` or `return` may end early.
static void emitForWithExits(Specializer &s, const ast::For &loop, const LoopCounter &counter,
                             RuntimeLoop &state) {
  emitWhile(
      s, state, counter.start(),
      [&](Value iv) {
        auto less = arith::CmpIPredicate::slt;
        return Tensor{s.create<arith::CmpIOp>(less, iv, counter.stop()), DType(Kind::Int1)};
      },
      [&](Value iv) {
        bindInduction(s, loop, counter, iv);
        runBody(s, loop.body);
        return counter.next(s, iv);
      });
}

bool Specializer::isReadBehindLoops(StringRef name) {
  if (!frame->function || !frame->function->def)
    return false;
  if (!frame->readBehindLoops)
    collectReadBehindLoops(frame->function->def->body, frame->readBehindLoops.emplace());
  return frame->readBehindLoops->contains(name);
}

void Specializer::runFor(const ast::For &loop) {
  if (loop.isAsync) {
    At at(*this, {loop.range.begin, loop.range.begin + uint32_t(strlen("async"))});
    fail("a kernel has nothing to wait for by `async for`: write `for`");
    return;
  }
  if (!loop.otherwise.empty()) {
    unsupported("`for ... else` is not supported in kernels: test a flag after the loop");
    return;
  }
  auto *call = llvm::dyn_cast<ast::Call>(loop.iterable.get());
  PyValue callee =
      call && !llvm::isa<ast::Call>(*call->callee) ? evaluate(*call->callee) : PyValue::none();
  At at(*this, loop.iterable->range);
  RangeCall range;
  if (callee.isSymbol("range") || callee.isSymbol("tl.range")) {
    LoopCounter counter;
    if (!evaluateRange(*call, callee.asSymbol(), range) || !counter.make(*this, range))
      return;
    RuntimeLoop state(*this, loop, counter);
    if (state.canBreak || state.canReturn)
      emitForWithExits(*this, loop, counter, state);
    else
      emitFor(*this, loop, range, counter, state);
    return;
  }
  std::vector<PyValue> elements;
  if (callee.isSymbol("tl.static_range")) {
    if (!evaluateRange(*call, callee.asSymbol(), range) || !staticElements(*this, range, elements))
      return;
  } else {
    PyValue iterable = evaluate(*loop.iterable);
    if (isPoison(iterable) || isPoison(take(eval::iterate(iterable, elements))))
      return;
  }
  runUnrolled(loop, elements);
  frame->vars.erase(kBroke);
}

void Specializer::runWhile(const ast::While &loop) {
  if (!loop.otherwise.empty()) {
    unsupported("`while ... else` is not supported in kernels: test a flag after the loop");
    return;
  }
  RuntimeLoop state(*this, loop);
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
