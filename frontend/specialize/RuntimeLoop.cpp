//===- RuntimeLoop.cpp - what a loop carries from turn to turn ------------===//
#include "frontend/specialize/RuntimeLoop.h"

using namespace mlir;
using llvm::formatv;
using llvm::StringRef;

namespace tile::specialize {

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

} // namespace tile::specialize
