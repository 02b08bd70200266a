//===- Objects.cpp - aggregates and their methods -------------------------===//
//
// An object is a tuple of its fields with a class, so that loops, branches and
// calls treat it as any other tuple. Methods are expanded like functions.
// `__init__` runs on an object without fields and leaves one with them: to
// assign `self.x` is to bind `self` to another object.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/Specializer.h"
#include "text/Format.h"

using llvm::ArrayRef;
using llvm::StringRef;

namespace tile::specialize {

/// What a field is before `__init__` has assigned it.
static PyValue unset() { return PyValue::symbol("<unset>"); }
static bool isUnset(const PyValue &value) { return value.isSymbol("<unset>"); }

static std::optional<size_t> findField(const eval::ClassObject &type, StringRef name) {
  auto field = llvm::find(type.fields, name);
  return field == type.fields.end() ? std::nullopt
                                    : std::optional<size_t>(field - type.fields.begin());
}

/// A function of the object's class, or of one of its bases.
static std::optional<PyValue> findMethod(const PyValue &object, StringRef name) {
  const auto *type = eval::classOf(object);
  if (!type)
    return std::nullopt;
  Result found = eval::attribute(PyValue::classType(*type), name);
  if (!found || !found->is(PyValue::Kind::Function))
    return std::nullopt;
  return found.take();
}

static bool isDecorated(const PyValue &function, StringRef name) {
  return function.asFunction().findDecorator(name) != nullptr;
}

//===----------------------------------------------------------------------===//
// Making one
//===----------------------------------------------------------------------===//

/// A field's value as the class declares it: known at compile time, or a tensor.
PyValue Specializer::fieldValue(const eval::ClassObject &type, size_t field, const PyValue &value) {
  if (isPoison(value) || isUnset(value))
    return value;
  if (!type.isConstexpr[field])
    return decay(value);
  if (const Tensor *t = tensorIn(value))
    if (std::optional<PyValue> known = constantValue(*t))
      return *known;
  if (!holdsTensor(value))
    return value;
  return fail(
      formatted("field `{}` of `{}` is a `tl.constexpr` and needs a compile-time value, got {}",
                type.fields[field], type.name, describe(value)));
}

PyValue Specializer::makeObject(const std::shared_ptr<const eval::ClassObject> &type,
                                const eval::CallArgs &args) {
  std::vector<PyValue> fields;
  Result init = eval::attribute(PyValue::classType(type), "__init__");
  if (!init || !init->is(PyValue::Kind::Function)) {
    PyValue object = take(program.evaluator().call(PyValue::classType(type), args));
    if (isPoison(object))
      return object;
    for (auto [i, value] : llvm::enumerate(object.elements()))
      fields.push_back(fieldValue(*type, i, value));
    return PyValue::namedTuple(type, std::move(fields));
  }
  fields.assign(type->fields.size(), unset());
  eval::CallArgs bound = args;
  bound.prepend(PyValue::namedTuple(type, std::move(fields)));
  PyValue object;
  expand(init->asFunction(), bound, &object);
  if (specialize::holdsPoison(object))
    return PoisonValue::get();
  for (auto [name, value] : llvm::zip(type->fields, object.elements()))
    if (isUnset(value))
      return fail(formatted("`__init__` of `{}` does not assign the field `{}`", type->name, name));
  return object;
}

void Specializer::assignField(const ast::Attribute &target, const PyValue &value) {
  auto *owner = llvm::dyn_cast<ast::Name>(target.value.get());
  const PyValue *object = owner ? find(owner->id) : nullptr;
  const auto *type = object ? eval::classOf(*object) : nullptr;
  if (!type) {
    error("only names and tuples of names can be assigned");
    return;
  }
  if (frame->constructed != owner->id) {
    error("fields can only be assigned in `__init__`: make a new object, or use "
          "`tl.aggregate_replace`");
    return;
  }
  const eval::ClassObject &known = **type;
  std::optional<size_t> field = findField(known, target.name);
  if (!field) {
    std::vector<StringRef> names(known.fields.begin(), known.fields.end());
    StringRef near = frontend::nearestName(target.name, names);
    error(formatted("`{}` declares no field `{}`{}", known.name, target.name,
                    near.empty() ? std::string("; add an annotation to its class")
                                 : formatted("; did you mean `{}`?", near)));
    return;
  }
  std::vector<PyValue> fields(object->elements().begin(), object->elements().end());
  fields[*field] = fieldValue(known, *field, value);
  set(owner->id, PyValue::namedTuple(*type, std::move(fields)));
}

/// `tl.aggregate_replace(object, field=value)`.
PyValue Specializer::replaceFields(const eval::CallArgs &args) {
  const auto *type = args.positional.size() == 1 ? eval::classOf(args.positional[0]) : nullptr;
  if (!type)
    return fail("`tl.aggregate_replace` needs one object of an aggregate, and fields by keyword");
  ArrayRef<PyValue> old = args.positional[0].elements();
  std::vector<PyValue> fields(old.begin(), old.end());
  for (auto &[name, value] : args.keywords) {
    std::optional<size_t> field = findField(**type, name);
    if (!field)
      return fail(formatted("`{}` has no field `{}`", (*type)->name, name));
    fields[*field] = (*type)->isAggregate ? fieldValue(**type, *field, value) : value;
  }
  return PyValue::namedTuple(*type, std::move(fields));
}

//===----------------------------------------------------------------------===//
// Using one
//===----------------------------------------------------------------------===//

std::optional<PyValue> Specializer::objectAttribute(const PyValue &object, StringRef name) {
  const auto *type = eval::classOf(object);
  if (!type)
    return std::nullopt;
  if (std::optional<size_t> field = findField(**type, name)) {
    const PyValue &value = object.elements()[*field];
    return isUnset(value) ? fail(formatted("field `{}` has no value yet", name)) : value;
  }
  std::optional<PyValue> method = findMethod(object, name);
  if (!method)
    return std::nullopt;
  if (isDecorated(*method, "staticmethod"))
    return method;
  if (isDecorated(*method, "property"))
    return callObjectMethod(object, name, {});
  return PyValue::method(object, name.str());
}

std::optional<PyValue> Specializer::callObjectMethod(const PyValue &object, StringRef name,
                                                     eval::CallArgs args) {
  std::optional<PyValue> method = findMethod(object, name);
  if (!method)
    return std::nullopt;
  PyValue self =
      isDecorated(*method, "classmethod") ? PyValue::classType(*eval::classOf(object)) : object;
  args.prepend(self);
  if (method->asFunction().isConstexprFunction)
    return call(*method, args);
  return expand(method->asFunction(), args);
}

/// `a op b` where one of them is an object whose class says what that is.
std::optional<PyValue> Specializer::objectOperator(StringRef name, StringRef reflected,
                                                   const PyValue &lhs, const PyValue &rhs) {
  eval::CallArgs args;
  args.positional = {rhs};
  if (std::optional<PyValue> result = callObjectMethod(lhs, name, args))
    return result;
  args.positional = {lhs};
  return reflected.empty() ? std::nullopt : callObjectMethod(rhs, reflected, args);
}

static StringRef methodOf(BinaryOp op) {
  switch (op) {
  case BinaryOp::Add:
    return "add";
  case BinaryOp::Sub:
    return "sub";
  case BinaryOp::Mul:
    return "mul";
  case BinaryOp::Div:
    return "truediv";
  case BinaryOp::FloorDiv:
    return "floordiv";
  case BinaryOp::Mod:
    return "mod";
  case BinaryOp::Pow:
    return "pow";
  case BinaryOp::MatMul:
    return "matmul";
  case BinaryOp::LShift:
    return "lshift";
  case BinaryOp::RShift:
    return "rshift";
  case BinaryOp::And:
    return "and";
  case BinaryOp::Or:
    return "or";
  case BinaryOp::Xor:
    return "xor";
  }
  llvm_unreachable("all operators are covered");
}

PyValue Specializer::operate(BinaryOp op, const PyValue &lhs, const PyValue &rhs) {
  if (eval::classOf(lhs) || eval::classOf(rhs)) {
    std::string name = formatted("__{}__", methodOf(op)),
                mirror = formatted("__r{}__", methodOf(op));
    if (std::optional<PyValue> result = objectOperator(name, mirror, lhs, rhs))
      return *result;
  }
  return binary(op, lhs, rhs);
}

PyValue Specializer::relate(CompareOp op, const PyValue &lhs, const PyValue &rhs) {
  static constexpr std::pair<CompareOp, std::pair<StringRef, StringRef>> names[] = {
      {CompareOp::Eq, {"__eq__", "__eq__"}}, {CompareOp::Ne, {"__ne__", "__ne__"}},
      {CompareOp::Lt, {"__lt__", "__gt__"}}, {CompareOp::Gt, {"__gt__", "__lt__"}},
      {CompareOp::Le, {"__le__", "__ge__"}}, {CompareOp::Ge, {"__ge__", "__le__"}}};
  if (eval::classOf(lhs) || eval::classOf(rhs))
    for (auto &[known, methods] : names)
      if (known == op)
        if (auto result = objectOperator(methods.first, methods.second, lhs, rhs))
          return *result;
  return compare(op, lhs, rhs);
}

PyValue Specializer::apply(UnaryOp op, const PyValue &operand) {
  StringRef name = op == UnaryOp::Neg      ? "__neg__"
                   : op == UnaryOp::Invert ? "__invert__"
                   : op == UnaryOp::Pos    ? "__pos__"
                                           : "";
  if (eval::classOf(operand) && !name.empty())
    if (std::optional<PyValue> result = callObjectMethod(operand, name, {}))
      return *result;
  return unary(op, operand);
}

} // namespace tile::specialize
