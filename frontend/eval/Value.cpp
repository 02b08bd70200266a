//===- Value.cpp - construction, identity and equality of values ----------===//
#include "frontend/eval/Operators.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"
#include "llvm/ADT/Twine.h"
#include <cmath>

using namespace tile::eval;
using llvm::APInt;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Destruction
//===----------------------------------------------------------------------===//

/// Values release the values they hold, by destructors inside destructors: up to
/// here. What is deeper waits until the outermost one is done.
constexpr unsigned maxReleaseDepth = 100;

void PyValue::release() {
  static thread_local unsigned depth = 0;
  static thread_local std::vector<Storage> waiting;
  auto destroy = [](Storage &held) {
    ++depth;
    held.emplace<std::monostate>();
    --depth;
  };
  if (depth == maxReleaseDepth) {
    waiting.push_back(std::move(storage));
    return;
  }
  destroy(storage);
  while (depth == 0 && !waiting.empty()) {
    Storage next = std::move(waiting.back());
    waiting.pop_back();
    destroy(next);
  }
}

//===----------------------------------------------------------------------===//
// Construction
//===----------------------------------------------------------------------===//

/// An integer of more than a word is copied with the element that it is.
static void spendElements(llvm::ArrayRef<PyValue> elements) {
  uint64_t words = 0;
  for (const PyValue &element : elements)
    words += element.is(PyValue::Kind::Int) ? element.asInt().getNumWords() : 1;
  Work::spendObject(words);
}

int64_t RangeObject::size() const {
  // The difference of two int64 may not fit; unsigned arithmetic does.
  if (step > 0 ? start >= stop : start <= stop)
    return 0;
  uint64_t distance =
      step > 0 ? uint64_t(stop) - uint64_t(start) : uint64_t(start) - uint64_t(stop);
  uint64_t stride = step > 0 ? uint64_t(step) : -uint64_t(step);
  return int64_t(std::min<uint64_t>((distance - 1) / stride, INT64_MAX - 1) + 1);
}

PyValue PyValue::integer(int64_t i) { return PyValue(Storage(APInt(64, i, true))); }

PyValue PyValue::integerUnsigned(uint64_t i) { return integer(APInt(65, i)); }

/// The canonical width is the least multiple of 64 that holds the sign too, so
/// that equal numbers are equal APInts.
PyValue PyValue::integer(APInt i) {
  unsigned width = (std::max(i.getSignificantBits(), 1u) + 63) / 64 * 64;
  return PyValue(Storage(i.sextOrTrunc(width)));
}

PyValue PyValue::string(std::string text) {
  Work::spendObject(text.size() / 32);
  return PyValue(Storage(std::make_shared<const std::string>(std::move(text))));
}

PyValue PyValue::tuple(std::vector<PyValue> elements) {
  spendElements(elements);
  return PyValue(Storage(std::make_shared<TupleObject>(TupleObject{std::move(elements), nullptr})));
}

PyValue PyValue::namedTuple(std::shared_ptr<const ClassObject> type,
                            std::vector<PyValue> elements) {
  spendElements(elements);
  return PyValue(
      Storage(std::make_shared<TupleObject>(TupleObject{std::move(elements), std::move(type)})));
}

const std::shared_ptr<const ClassObject> *tile::eval::classOf(const PyValue &value) {
  const auto *type = value.is(PyValue::Kind::Tuple) ? &value.asTuple().type : nullptr;
  return type && *type && (*type)->def ? type : nullptr;
}

PyValue PyValue::list(std::vector<PyValue> elements) {
  spendElements(elements);
  return PyValue(Storage(std::make_shared<ListObject>(ListObject{std::move(elements)})));
}

PyValue PyValue::dict(std::vector<std::pair<PyValue, PyValue>> items) {
  Work::spendObject(2 * items.size());
  auto object = std::make_shared<DictObject>();
  for (auto &[key, value] : items)
    object->set(key, std::move(value));
  return PyValue(Storage(std::move(object)));
}

PyValue PyValue::set(std::vector<PyValue> elements) {
  spendElements(elements);
  auto object = std::make_shared<SetObject>();
  for (const PyValue &element : elements)
    object->insert(element);
  return PyValue(Storage(std::move(object)));
}

PyValue PyValue::range(RangeObject range) { return PyValue(Storage(range)); }

PyValue PyValue::slice(PyValue lower, PyValue upper, PyValue step) {
  return PyValue(Storage(std::make_shared<SliceObject>(
      SliceObject{std::move(lower), std::move(upper), std::move(step)})));
}

PyValue PyValue::dtype(DType type) {
  return PyValue(Storage(std::make_shared<const DType>(std::move(type))));
}

PyValue PyValue::function(std::shared_ptr<FunctionObject> function) {
  return PyValue(Storage(std::move(function)));
}

PyValue PyValue::classType(std::shared_ptr<const ClassObject> type) {
  return PyValue(Storage(std::move(type)));
}

PyValue PyValue::module(std::string name, ModuleEnv *env, ModuleEnv *importer) {
  return PyValue(
      Storage(std::make_shared<const ModuleRef>(ModuleRef{std::move(name), env, importer})));
}

PyValue PyValue::symbol(std::string name) {
  return PyValue(Storage(std::make_shared<const SymbolRef>(SymbolRef{std::move(name)})));
}

PyValue PyValue::method(PyValue self, std::string name) {
  return PyValue(Storage(
      std::make_shared<const MethodObject>(MethodObject{std::move(self), std::move(name)})));
}

PyValue PyValue::extension(std::shared_ptr<Extension> object) {
  return PyValue(Storage(std::move(object)));
}

//===----------------------------------------------------------------------===//
// Access
//===----------------------------------------------------------------------===//

bool PyValue::isScalarConstant() const { return isNone() || isNumber() || isStr(); }

std::optional<int64_t> PyValue::toInt64() const {
  if (is(Kind::Bool))
    return asBool() ? 1 : 0;
  if (is(Kind::Int) && asInt().getBitWidth() == 64)
    return asInt().getSExtValue();
  return std::nullopt;
}

std::optional<double> PyValue::toDouble() const {
  if (is(Kind::Bool))
    return asBool() ? 1 : 0;
  if (is(Kind::Int))
    return eval::toDouble(asInt());
  if (is(Kind::Float))
    return asFloat();
  return std::nullopt;
}

llvm::ArrayRef<PyValue> PyValue::elements() const {
  if (is(Kind::Tuple))
    return asTuple().elements;
  if (is(Kind::List))
    return asList().elements;
  return {};
}

PyValue *DictObject::find(const PyValue &key) {
  if (!Work::spend(items.size() / 8))
    return nullptr;
  for (auto &[k, value] : items)
    if (equal(k, key))
      return &value;
  return nullptr;
}

PyValue *DictObject::find(StringRef key) {
  for (auto &[k, value] : items)
    if (k.isStr() && k.asStr() == key)
      return &value;
  return nullptr;
}

void DictObject::set(const PyValue &key, PyValue value) {
  if (PyValue *present = find(key))
    *present = std::move(value);
  else
    items.emplace_back(key, std::move(value));
}

bool SetObject::contains(const PyValue &value) const {
  return Work::spend(elements.size() / 8) &&
         llvm::any_of(elements, [&](const PyValue &e) { return equal(e, value); });
}

void SetObject::insert(const PyValue &value) {
  if (!contains(value))
    elements.push_back(value);
}

const Decorator *FunctionObject::findDecorator(StringRef canonicalName) const {
  for (const Decorator &decorator : decorators)
    if (decorator.name == canonicalName)
      return &decorator;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Identity and equality
//===----------------------------------------------------------------------===//

namespace tile::eval {

bool identical(const PyValue &a, const PyValue &b) {
  if (a.kind() != b.kind())
    return false;
  switch (a.kind()) {
  case PyValue::Kind::None:
  case PyValue::Kind::Ellipsis:
    return true;
  case PyValue::Kind::Bool:
  case PyValue::Kind::Int:
  case PyValue::Kind::Str:
  case PyValue::Kind::Range:
  case PyValue::Kind::DType:
  case PyValue::Kind::Symbol:
  case PyValue::Kind::Module:
  case PyValue::Kind::Method:
  case PyValue::Kind::Function:
  case PyValue::Kind::Class:
    return equal(a, b);
  case PyValue::Kind::Float:
    return a.asFloat() == b.asFloat() || (std::isnan(a.asFloat()) && std::isnan(b.asFloat()));
  case PyValue::Kind::Tuple:
    return &a.asTuple() == &b.asTuple();
  case PyValue::Kind::List:
    return &a.asList() == &b.asList();
  case PyValue::Kind::Dict:
    return &a.asDict() == &b.asDict();
  case PyValue::Kind::Set:
    return &a.asSet() == &b.asSet();
  case PyValue::Kind::Slice:
    return &a.asSlice() == &b.asSlice();
  case PyValue::Kind::Extension:
    return a.asExtension() == b.asExtension();
  }
  return false;
}

static bool equalNumbers(const PyValue &a, const PyValue &b) {
  auto exact = [](const PyValue &v) {
    return v.is(PyValue::Kind::Bool) ? APInt(64, v.asBool()) : v.asInt();
  };
  if (a.is(PyValue::Kind::Float) || b.is(PyValue::Kind::Float)) {
    if (a.is(PyValue::Kind::Float) && b.is(PyValue::Kind::Float))
      return a.asFloat() == b.asFloat();
    return compare(ast::CompareOp::Eq, a, b)->asBool();
  }
  APInt x = exact(a), y = exact(b);
  unsigned width = std::max(x.getBitWidth(), y.getBitWidth());
  return x.sext(width) == y.sext(width);
}

static bool equalSequences(llvm::ArrayRef<PyValue> a, llvm::ArrayRef<PyValue> b) {
  Nesting nesting;
  return a.size() == b.size() && !nesting.isTooDeep() && llvm::all_of(llvm::zip(a, b), [](auto p) {
           return Work::spend(1) && equal(std::get<0>(p), std::get<1>(p));
         });
}

static bool equalDicts(const DictObject &a, DictObject &b) {
  Nesting nesting;
  return a.items.size() == b.items.size() && !nesting.isTooDeep() &&
         llvm::all_of(a.items, [&](auto &item) {
           const PyValue *other = b.find(item.first);
           return Work::spend(1) && other && equal(item.second, *other);
         });
}

bool equal(const PyValue &a, const PyValue &b) {
  if (a.isNumber() && b.isNumber())
    return equalNumbers(a, b);
  if (a.kind() != b.kind())
    return false;
  switch (a.kind()) {
  case PyValue::Kind::None:
  case PyValue::Kind::Ellipsis:
    return true;
  case PyValue::Kind::Bool:
  case PyValue::Kind::Int:
  case PyValue::Kind::Float:
    return equalNumbers(a, b);
  case PyValue::Kind::Str:
    return Work::spendBytes(a.asStr().size()) && a.asStr() == b.asStr();
  case PyValue::Kind::Tuple:
  case PyValue::Kind::List:
    return equalSequences(a.elements(), b.elements());
  case PyValue::Kind::Dict:
    return equalDicts(a.asDict(), b.asDict());
  case PyValue::Kind::Set:
    return a.asSet().elements.size() == b.asSet().elements.size() &&
           llvm::all_of(a.asSet().elements, [&](auto &e) { return b.asSet().contains(e); });
  case PyValue::Kind::Range: {
    const RangeObject &x = a.asRange(), &y = b.asRange();
    int64_t size = x.size();
    return size == y.size() &&
           (size == 0 || (x.start == y.start && (size == 1 || x.step == y.step)));
  }
  case PyValue::Kind::Slice:
    return equal(a.asSlice().lower, b.asSlice().lower) &&
           equal(a.asSlice().upper, b.asSlice().upper) && equal(a.asSlice().step, b.asSlice().step);
  case PyValue::Kind::DType:
    return a.asDType() == b.asDType();
  case PyValue::Kind::Function: {
    // A top-level function may be wrapped more than once; its text is its identity.
    const FunctionObject &f = a.asFunction(), &g = b.asFunction();
    return f.def == g.def && f.lambda == g.lambda && f.closure == g.closure;
  }
  case PyValue::Kind::Class:
    return a.asClass() == b.asClass() || (a.asClass()->def && a.asClass()->def == b.asClass()->def);
  case PyValue::Kind::Module:
    return a.asModule().name == b.asModule().name && a.asModule().env == b.asModule().env;
  case PyValue::Kind::Symbol:
    return a.asSymbol() == b.asSymbol();
  case PyValue::Kind::Method:
    return a.asMethod().name == b.asMethod().name &&
           identical(a.asMethod().self, b.asMethod().self);
  case PyValue::Kind::Extension:
    return a.asExtension() == b.asExtension();
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Extension: what a value cannot do unless it says so
//===----------------------------------------------------------------------===//

Extension::~Extension() = default;

static std::unique_ptr<EvalError> noSupport(const Extension &self, const llvm::Twine &what) {
  return fail(formatted("a value of type `{}` {}", self.typeName(), what));
}

std::string Extension::repr() const { return formatted("<{}>", typeName()); }
Result Extension::unary(ast::UnaryOp op) {
  return noSupport(*this, formatted("has no unary `{}` here", ast::spelling(op)));
}
Result Extension::binary(ast::BinaryOp op, const PyValue &, bool) {
  return noSupport(*this, formatted("has no operator `{}` here", ast::spelling(op)));
}
Result Extension::compare(ast::CompareOp op, const PyValue &) {
  return noSupport(*this, formatted("has no comparison `{}` here", ast::spelling(op)));
}
Result Extension::number() { return PyValue::extension(shared_from_this()); }
Result Extension::truth() { return noSupport(*this, "has no truth value at compile time"); }
Result Extension::length() { return noSupport(*this, "has no length"); }
Result Extension::iterate(std::vector<PyValue> &) { return noSupport(*this, "cannot be iterated"); }
Result Extension::subscript(Evaluator *, const PyValue &) {
  return noSupport(*this, "cannot be indexed here");
}
Result Extension::assignSubscript(const PyValue &, const PyValue &) {
  return noSupport(*this, "cannot be assigned through an index");
}
Result Extension::attribute(StringRef name) {
  return noSupport(*this, formatted("has no attribute `{}`", name));
}
Result Extension::call(Evaluator &, const CallArgs &) {
  return noSupport(*this, "cannot be called");
}
Result Extension::callMethod(Evaluator &, StringRef name, const CallArgs &) {
  return noSupport(*this, formatted("has no method `{}`", name));
}

} // namespace tile::eval
