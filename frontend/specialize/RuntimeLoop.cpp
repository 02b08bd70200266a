//===- RuntimeLoop.cpp - what a loop carries from turn to turn ------------===//
#include "frontend/specialize/RuntimeLoop.h"
#include "text/Format.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

RuntimeLoop::RuntimeLoop(Specializer &s, const ast::While &loop) : s(s) {
  collectAssigned(*loop.condition, assigned);
  readBody(loop.body);
  finishConstruction();
}

RuntimeLoop::RuntimeLoop(Specializer &s, const ast::For &loop, const LoopCounter &counter) : s(s) {
  collectTargets(*loop.target, inductionNames);
  readBody(loop.body);
  keepInduction(loop, counter);
  finishConstruction();
}

void RuntimeLoop::readBody(const ast::Body &body) {
  canBreak = hasBreak(body);
  canReturn = hasReturn(body);
  collectAssigned(body, assigned);
  for (auto &[name, range] : assigned) {
    const PyValue *value = s.find(name);
    if (!value || inductionNames.contains(name) || s.frame->vars[name].isConstexpr)
      continue;
    PyValue init = s.decay(*value);
    s.set(name, init);
    carried.push_back({name, init, range, false, {}});
  }
}

void RuntimeLoop::finishConstruction() {
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

/// What the variable held before the loop, in the type that it has in the loop.
bool RuntimeLoop::readBefore(const PyValue &value) {
  DType type = induction.counter->valueType();
  PyValue decayed = s.decay(value);
  const Tensor *t = tensorIn(decayed);
  std::optional<PyValue> known = t ? s.constantValue(*t) : std::nullopt;
  if (t && t->type == type && !t->isBlock())
    induction.before = *t;
  else if (known && known->is(PyValue::Kind::Int) && fits(*known, type))
    induction.before = s.constant(*known, type);
  else
    induction.missing = formatted(
        "it is {} before the loop and {} in it; it must be of one type to keep its last value",
        describe(value), type.str());
  return bool(induction.before);
}

/// Where nothing ends the loop early and the body leaves the name alone, its last value follows
/// from the bounds, and the loop carries nothing for it.
void RuntimeLoop::keepInduction(const ast::For &loop, const LoopCounter &counter) {
  auto *target = llvm::dyn_cast<ast::Name>(loop.target.get());
  if (!target)
    return;
  const PyValue *old = s.find(target->id);
  if (old && (isPoison(*old) || s.frame->vars[target->id].isConstexpr))
    return;
  if (!old && !s.isReadBehindLoops(target->id))
    return;
  induction.name = target->id;
  induction.counter = &counter;
  if (old && !readBefore(*old))
    return;
  induction.isCarried = canBreak || canReturn || assigned.contains(target->id);
  if (!induction.isCarried)
    return;
  DType type = counter.valueType();
  Tensor init = old ? induction.before : s.intConstant(0, type);
  carried.push_back({target->id, s.wrap(init), target->range, /*isOptional=*/true, {}});
}

void RuntimeLoop::carryFlag(StringRef name) {
  carried.push_back({name, s.decay(PyValue::boolean(false)), {}, false, {}});
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
  if (!sameStructure(init, now))
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
    if (c.isOptional)
      c.problem = now ? formatted("it is {} when the loop begins and {} after an iteration",
                                  describe(c.init), describe(*now))
                      : s.frame->vars[c.name].missing;
    else if (!now)
      s.error(c.range,
              formatted("`{}` has a value before the loop but may have none after an iteration: {}",
                        c.name, s.frame->vars[c.name].missing));
    else
      s.error(c.range, formatted("`{}` is {} before the loop but {} after an iteration; a variable "
                                 "that a loop changes must keep its type",
                                 c.name, describe(c.init), describe(*now)));
    SmallVector<Tensor> leaves;
    flatten(c.init, leaves);
    for (Tensor &leaf : leaves)
      values.push_back(s.filler(leaf.type, leaf.value.getType()).value);
  }
  return values;
}

/// Binds the variable of a `for` to what it held last.
void RuntimeLoop::leaveInduction() {
  const LoopCounter &counter = *induction.counter;
  std::optional<bool> runs = counter.isKnownToRun();
  Variable &variable = s.frame->vars[induction.name];
  if (!induction.before && runs == false)
    induction.missing = "its loop runs no turn";
  if (!induction.missing.empty()) {
    variable = Variable{{}, false, induction.missing};
    return;
  }
  Tensor last = induction.isCarried ? *tensorIn(variable.value) : counter.lastValue(s);
  Tensor hasRun = runs ? Tensor() : counter.runs(s);
  if (runs == false)
    last = induction.before;
  else if (!runs && induction.before && !induction.isCarried)
    last = s.select(hasRun, last, induction.before);
  Variable &bound = s.frame->vars[induction.name] = Variable{s.wrap(last)};
  if (!induction.before)
    bound.hasValue = hasRun;
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
    if (entry.first != induction.name)
      drop(entry.first, "a loop variable has no value after the loop");
  for (Carried &c : carried)
    if (c.isOptional && !c.problem.empty())
      induction.missing = c.problem;
  if (induction.counter)
    leaveInduction();
  s.frame->vars.erase(kBroke);
  s.frame->vars.erase(kSkipped);
}

} // namespace tile::specialize
