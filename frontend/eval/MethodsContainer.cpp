//===- MethodsContainer.cpp - methods of containers -----------------------===//
#include "frontend/eval/MethodTables.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Tuples and lists
//===----------------------------------------------------------------------===//

static Result indexOfElement(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("index", args, {"value"}, 1);
  if (!r)
    return r.error();
  if (!Work::spend(self.elements().size() / 8))
    return Work::error();
  for (auto [i, element] : llvm::enumerate(self.elements()))
    if (equal(element, r[0]))
      return PyValue::integer(i);
  return fail(formatted("{} is not in the {}", repr(r[0]), typeName(self)), "ValueError");
}

static Result countElement(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("count", args, {"value"}, 1);
  if (!r)
    return r.error();
  if (!Work::spend(self.elements().size() / 8))
    return Work::error();
  return PyValue::integer(
      llvm::count_if(self.elements(), [&](const PyValue &e) { return equal(e, r[0]); }));
}

static Result append(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("append", args, {"object"}, 1);
  if (!r)
    return r.error();
  self.asList().elements.push_back(r[0]);
  return PyValue();
}

static Result extend(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("extend", args, {"iterable"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  if (auto error = Work::checkLength(self.asList().elements.size() + elements.size()))
    return error;
  llvm::append_range(self.asList().elements, elements);
  return PyValue();
}

static Result insert(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("insert", args, {"index", "object"}, 2);
  if (!r)
    return r.error();
  std::optional<int64_t> i = r[0].toInt64();
  if (!i)
    return fail("`insert` needs an integer index");
  std::vector<PyValue> &elements = self.asList().elements;
  int64_t size = elements.size();
  if (!Work::spend(size / 16))
    return Work::error();
  elements.insert(elements.begin() + std::clamp<int64_t>(*i < 0 ? *i + size : *i, 0, size), r[1]);
  return PyValue();
}

static Result popElement(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("pop", args, {"index"}, 0);
  if (!r)
    return r.error();
  std::vector<PyValue> &elements = self.asList().elements;
  Result popped = subscript(self, r.has(0) ? r[0] : PyValue::integer(-1));
  if (popped) {
    int64_t i = r.has(0) ? *r[0].toInt64() : -1;
    if (i != -1 && !Work::spend(elements.size() / 16))
      return Work::error();
    elements.erase(elements.begin() + (i < 0 ? i + int64_t(elements.size()) : i));
  }
  return popped;
}

static Result removeElement(Evaluator &evaluator, const PyValue &self, const CallArgs &args) {
  Result at = indexOfElement(evaluator, self, args);
  if (!at)
    return at;
  self.asList().elements.erase(self.asList().elements.begin() + *at->toInt64());
  return PyValue();
}

static Result reverseList(Evaluator &, const PyValue &self, const CallArgs &) {
  if (!Work::spend(self.asList().elements.size()))
    return Work::error();
  std::reverse(self.asList().elements.begin(), self.asList().elements.end());
  return PyValue();
}

static Result sortList(Evaluator &evaluator, const PyValue &self, const CallArgs &args) {
  CallArgs forSorted = args;
  forSorted.positional.insert(forSorted.positional.begin(), self);
  std::optional<Result> sorted = callBuiltin(evaluator, "sorted", forSorted);
  if (!*sorted)
    return std::move(*sorted);
  self.asList().elements = (*sorted)->asList().elements;
  return PyValue();
}

static Result copyList(Evaluator &, const PyValue &self, const CallArgs &) {
  if (!Work::spend(self.asList().elements.size()))
    return Work::error();
  return PyValue::list(self.asList().elements);
}

static Result clearList(Evaluator &, const PyValue &self, const CallArgs &) {
  self.asList().elements.clear();
  return PyValue();
}

static const MethodEntry tupleMethodsTable[] = {{"index", indexOfElement}, {"count", countElement}};
static const MethodEntry listMethodsTable[] = {
    {"index", indexOfElement}, {"count", countElement},  {"append", append},
    {"extend", extend},        {"insert", insert},       {"pop", popElement},
    {"remove", removeElement}, {"reverse", reverseList}, {"sort", sortList},
    {"copy", copyList},        {"clear", clearList},
};

static Result replaceFields(Evaluator &, const PyValue &self, const CallArgs &args) {
  const TupleObject &tuple = self.asTuple();
  std::vector<PyValue> elements = tuple.elements;
  for (auto &[name, value] : args.keywords) {
    auto it = llvm::find(tuple.type->fields, name);
    if (it == tuple.type->fields.end())
      return fail(formatted("`{}` has no field `{}`", tuple.type->name, name));
    elements[it - tuple.type->fields.begin()] = value;
  }
  return PyValue::namedTuple(tuple.type, std::move(elements));
}

static Result fieldsAsDict(Evaluator &, const PyValue &self, const CallArgs &) {
  const TupleObject &tuple = self.asTuple();
  std::vector<std::pair<PyValue, PyValue>> items;
  for (size_t i = 0; i < tuple.elements.size(); ++i)
    items.emplace_back(PyValue::string(tuple.type->fields[i]), tuple.elements[i]);
  return PyValue::dict(std::move(items));
}

static const MethodEntry namedTupleMethodsTable[] = {{"index", indexOfElement},
                                                     {"count", countElement},
                                                     {"_replace", replaceFields},
                                                     {"_asdict", fieldsAsDict}};

//===----------------------------------------------------------------------===//
// Dicts and sets
//===----------------------------------------------------------------------===//

static Result getItem(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("get", args, {"key", "default"}, 1);
  if (!r)
    return r.error();
  PyValue *found = self.asDict().find(r[0]);
  return found ? *found : r.get(1);
}

static Result setDefault(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("setdefault", args, {"key", "default"}, 1);
  if (!r)
    return r.error();
  if (PyValue *found = self.asDict().find(r[0]))
    return *found;
  self.asDict().set(r[0], r.get(1));
  return r.get(1);
}

static Result popItem(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("pop", args, {"key", "default"}, 1);
  if (!r)
    return r.error();
  auto &items = self.asDict().items;
  auto it = llvm::find_if(items, [&](auto &item) { return equal(item.first, r[0]); });
  if (it == items.end())
    return r.has(1) ? Result(r[1])
                    : fail(formatted("the dict has no key {}", repr(r[0])), "KeyError");
  PyValue value = it->second;
  items.erase(it);
  return value;
}

enum class Part { Keys, Values, Items };
template <Part part> static Result listItems(Evaluator &, const PyValue &self, const CallArgs &) {
  std::vector<PyValue> out;
  for (auto &[key, value] : self.asDict().items)
    out.push_back(part == Part::Keys     ? key
                  : part == Part::Values ? value
                                         : PyValue::tuple({key, value}));
  return PyValue::list(std::move(out));
}

static Result updateDict(Evaluator &, const PyValue &self, const CallArgs &args) {
  for (const PyValue &other : args.positional) {
    if (!other.is(Kind::Dict))
      return fail(formatted("`update` needs a dict, got `{}`", typeName(other)));
    for (auto &[key, value] : std::vector(other.asDict().items))
      self.asDict().set(key, value);
  }
  for (auto &[name, value] : args.keywords)
    self.asDict().set(PyValue::string(name), value);
  return PyValue();
}

static Result copyDict(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::dict(self.asDict().items);
}

static const MethodEntry dictMethodsTable[] = {
    {"get", getItem},
    {"setdefault", setDefault},
    {"pop", popItem},
    {"keys", listItems<Part::Keys>},
    {"values", listItems<Part::Values>},
    {"items", listItems<Part::Items>},
    {"update", updateDict},
    {"copy", copyDict},
};

static Result addElement(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("add", args, {"element"}, 1);
  if (!r)
    return r.error();
  self.asSet().insert(r[0]);
  return PyValue();
}

template <tile::ast::BinaryOp op>
static Result setOperation(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("set method", args, {"other"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  return binary(op, self, PyValue::set(std::move(elements)));
}

static const MethodEntry setMethodsTable[] = {
    {"add", addElement},
    {"union", setOperation<tile::ast::BinaryOp::Or>},
    {"intersection", setOperation<tile::ast::BinaryOp::And>},
    {"difference", setOperation<tile::ast::BinaryOp::Sub>},
};

llvm::ArrayRef<MethodEntry> eval::tupleMethods() { return tupleMethodsTable; }
llvm::ArrayRef<MethodEntry> eval::listMethods() { return listMethodsTable; }
llvm::ArrayRef<MethodEntry> eval::namedTupleMethods() { return namedTupleMethodsTable; }
llvm::ArrayRef<MethodEntry> eval::dictMethods() { return dictMethodsTable; }
llvm::ArrayRef<MethodEntry> eval::setMethods() { return setMethodsTable; }
