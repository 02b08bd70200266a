//===- Grad.cpp - gradients of functions of whole tensors -----------------===//
//
// `tile.grad(f)(x)` traces f, then goes back through its operations (Backward.h).
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Backward.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using namespace tile::tensors;
using eval::ArgReader;

namespace {
/// What `tile.grad(f)` gives: a function that can be called.
class GradValue : public eval::Extension {
public:
  GradValue(Tracer &tracer, PyValue function, std::vector<int64_t> which, bool isOne,
            bool withValue)
      : Extension(&id), tracer(tracer), function(std::move(function)), which(std::move(which)),
        isOne(isOne), withValue(withValue) {}
  static bool classof(const Extension *e) { return e->classId() == &id; }
  std::string typeName() const override { return "gradient"; }
  std::string repr() const override {
    return formatted("the gradient of {}", eval::repr(function));
  }
  Result call(eval::Evaluator &evaluator, const CallArgs &args) override;

private:
  static char id;
  Tracer &tracer;
  PyValue function;
  std::vector<int64_t> which; ///< arguments, by position
  bool isOne, withValue;
};
} // namespace

char GradValue::id = 0;

Result GradValue::call(eval::Evaluator &evaluator, const CallArgs &args) {
  llvm::SmallVector<Value> targets;
  for (int64_t i : which) {
    auto *x = i < int64_t(args.positional.size()) ? args.positional[i].dynExtension<TensorValue>()
                                                  : nullptr;
    if (!x || !isFloat(x->value))
      return fail(
          formatted("argument {} of {} must be a tensor of floats, given by position", i, repr()));
    targets.push_back(x->value);
  }
  Block *block = tracer.builder.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  ++evaluator.gradients;
  Result value = evaluator.call(function, args);
  --evaluator.gradients;
  if (!value)
    return value;
  auto *loss = value->dynExtension<TensorValue>();
  if (!loss || !loss->sizes().empty() || !isFloat(loss->value))
    return fail(formatted("a gradient is of a function that gives one number, such as "
                          "`(...).sum()`; this one gives {}",
                          eval::repr(*value)));
  Result gradients = Backward(tracer).run(loss->value, targets, before);
  if (!gradients)
    return gradients;
  PyValue out = isOne ? gradients->elements()[0] : *gradients;
  return withValue ? Result(PyValue::tuple({*value, out})) : Result(out);
}

void Tracer::withoutGradients(llvm::function_ref<void()> run) {
  Block *block = builder.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  run();
  for (auto it = before ? std::next(before->getIterator()) : block->begin(); it != block->end();
       ++it)
    withoutGradient.insert(&*it);
}

/// detach(x): x itself where nothing is differentiated.
static Result detached(Tracer &tracer, StringRef name, const CallArgs &args) {
  TensorReader r(tracer, name, args, {"x"}, 1);
  if (!r)
    return r.error();
  const Operand &x = r.tensor();
  if (tracer.evaluator.gradients == 0)
    return r[0];
  Result same = tracer.rearrange(x, inOrder(x.type().sizes().size()));
  if (auto *tensor = same ? same->dynExtension<TensorValue>() : nullptr) {
    tensor->isWeak = x.isWeak;
    tracer.withoutGradient.insert(tensor->value.getDefiningOp());
  }
  return same;
}

/// grad(f, argnums=0): by one argument, or by several of a tuple.
template <bool withValue> static Result grad(Tracer &tracer, StringRef name, const CallArgs &args) {
  ArgReader r(name, args, {"f", "argnums"}, 1);
  if (!r)
    return r.error();
  PyValue given = r.has(1) ? r[1] : PyValue::integer(0);
  std::vector<PyValue> parts = {given};
  if (given.isSequence())
    parts = given.elements().vec();
  std::vector<int64_t> which;
  for (const PyValue &part : parts) {
    std::optional<int64_t> number = part.toInt64();
    if (!number || *number < 0)
      return fail(
          formatted("`argnums` of `{}` is the position of an argument, or a tuple of them, got {}",
                    name, eval::repr(given)));
    which.push_back(*number);
  }
  return PyValue::extension(
      std::make_shared<GradValue>(tracer, r[0], std::move(which), !given.isSequence(), withValue));
}

ArrayRef<TracedEntry> tensors::tracedGradients() {
  static const TracedEntry table[] = {
      {"grad", grad<false>}, {"value_and_grad", grad<true>}, {"detach", detached}};
  return table;
}
