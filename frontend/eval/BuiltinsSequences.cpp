//===- BuiltinsSequences.cpp - functions on sequences ---------------------===//
#include "frontend/eval/BuiltinTables.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using Kind = PyValue::Kind;
using ast::CompareOp;

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

static Result len(Evaluator &, const CallArgs &args) {
  ArgReader r("len", args, {"object"}, 1);
  if (!r)
    return r.error();
  return length(r[0]);
}

static Result makeRange(Evaluator &, const CallArgs &args) {
  if (args.positional.empty() || args.positional.size() > 3 || !args.keywords.empty())
    return fail("`range` takes one to three integers");
  int64_t bounds[3] = {0, 0, 1};
  for (auto [i, value] : llvm::enumerate(args.positional)) {
    std::optional<int64_t> bound = value.toInt64();
    if (!bound && value.is(Kind::Int))
      return fail(formatted("`range` needs integers of at most 64 bits, got {}", repr(value)));
    if (!bound)
      return fail(formatted("`range` needs integers known at compile time, got `{}` {}",
                            typeName(value), repr(value)));
    bounds[i] = *bound;
  }
  if (args.positional.size() == 1)
    std::swap(bounds[0], bounds[1]);
  if (bounds[2] == 0)
    return fail("the step of a `range` cannot be zero", "ValueError");
  return PyValue::range({bounds[0], bounds[1], bounds[2]});
}

static Result makeSlice(Evaluator &, const CallArgs &args) {
  size_t n = args.positional.size();
  if (n == 0 || n > 3)
    return fail("`slice` takes one to three arguments");
  const auto &p = args.positional;
  return n == 1 ? PyValue::slice({}, p[0], {})
                : PyValue::slice(p[0], p[1], n == 3 ? p[2] : PyValue());
}

static Result enumerate(Evaluator &, const CallArgs &args) {
  ArgReader r("enumerate", args, {"iterable", "start"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements, out;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  int64_t start = r.has(1) ? r[1].toInt64().value_or(0) : 0;
  for (PyValue &element : elements)
    out.push_back(PyValue::tuple({PyValue::integer(start++), std::move(element)}));
  return PyValue::list(std::move(out));
}

/// The elements of every positional argument.
static Result iterateAll(const CallArgs &args, std::vector<std::vector<PyValue>> &columns) {
  for (const PyValue &value : args.positional)
    if (Result ok = iterate(value, columns.emplace_back()); !ok)
      return ok;
  return PyValue();
}

static Result zip(Evaluator &, const CallArgs &args) {
  std::vector<std::vector<PyValue>> columns;
  if (Result ok = iterateAll(args, columns); !ok)
    return ok;
  size_t size = columns.empty() ? 0 : SIZE_MAX;
  for (auto &column : columns)
    size = std::min(size, column.size());
  if (!Work::spend(size))
    return Work::error();
  std::vector<PyValue> out;
  for (size_t i = 0; i < size; ++i) {
    std::vector<PyValue> row;
    for (auto &column : columns)
      row.push_back(column[i]);
    out.push_back(PyValue::tuple(std::move(row)));
  }
  return PyValue::list(std::move(out));
}

static Result cartesianProduct(Evaluator &, const CallArgs &args) {
  std::vector<std::vector<PyValue>> columns;
  if (Result ok = iterateAll(args, columns); !ok)
    return ok;
  std::vector<std::vector<PyValue>> rows = {{}};
  for (auto &column : columns) {
    if (column.size() > (1 << 20) || rows.size() * column.size() > (1 << 20))
      return fail("the product has more than a million elements", "MemoryError");
    std::vector<std::vector<PyValue>> longer;
    for (auto &row : rows)
      for (auto &value : column) {
        longer.push_back(row);
        longer.back().push_back(value);
      }
    rows = std::move(longer);
  }
  std::vector<PyValue> out;
  for (auto &row : rows)
    out.push_back(PyValue::tuple(std::move(row)));
  return PyValue::list(std::move(out));
}

static Result reversed(Evaluator &, const CallArgs &args) {
  ArgReader r("reversed", args, {"sequence"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  std::reverse(elements.begin(), elements.end());
  return PyValue::list(std::move(elements));
}

/// Sorts without std::sort, whose behaviour is undefined when comparison fails.
static Result mergeSort(std::vector<std::pair<PyValue, PyValue>> &items, bool descending) {
  for (size_t width = 1; width < items.size(); width *= 2) {
    if (!Work::spend(items.size()))
      return Work::error();
    std::vector<std::pair<PyValue, PyValue>> merged;
    merged.reserve(items.size());
    for (size_t begin = 0; begin < items.size(); begin += 2 * width) {
      size_t middle = std::min(begin + width, items.size());
      size_t end = std::min(begin + 2 * width, items.size());
      size_t i = begin, j = middle;
      while (i < middle || j < end) {
        bool takeRight = i == middle;
        if (i < middle && j < end) {
          Result less = descending ? compare(CompareOp::Lt, items[i].first, items[j].first)
                                   : compare(CompareOp::Lt, items[j].first, items[i].first);
          if (!less)
            return less;
          takeRight = less->is(Kind::Bool) && less->asBool();
        }
        merged.push_back(items[takeRight ? j++ : i++]);
      }
    }
    items = std::move(merged);
  }
  return PyValue();
}

static Result sorted(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("sorted", args, {"iterable", "key", "reverse"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  Result descending = truth(r.get(2));
  if (!descending)
    return descending;
  std::vector<std::pair<PyValue, PyValue>> items;
  for (PyValue &element : elements) {
    Result key =
        r.get(1).isNone() ? Result(element) : evaluator.call(r[1], CallArgs{{element}, {}});
    if (!key)
      return key;
    items.emplace_back(*key, std::move(element));
  }
  if (Result ok = mergeSort(items, descending->asBool()); !ok)
    return ok;
  std::vector<PyValue> out;
  for (auto &[key, value] : items)
    out.push_back(std::move(value));
  return PyValue::list(std::move(out));
}

template <bool keepTrue> static Result quantifier(Evaluator &, const CallArgs &args) {
  ArgReader r(keepTrue ? "any" : "all", args, {"iterable"}, 1);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[0], elements); !ok)
    return ok;
  for (const PyValue &element : elements) {
    Result yes = truth(element);
    if (!yes || yes->asBool() == keepTrue)
      return yes;
  }
  return PyValue::boolean(!keepTrue);
}

static Result mapBuiltin(Evaluator &evaluator, const CallArgs &args) {
  if (args.positional.size() < 2)
    return fail("`map` needs a function and an iterable");
  CallArgs iterables{{args.positional.begin() + 1, args.positional.end()}, {}};
  Result rows = zip(evaluator, iterables);
  if (!rows)
    return rows;
  std::vector<PyValue> out;
  for (const PyValue &row : rows->elements()) {
    Result value = evaluator.call(args.positional[0], CallArgs{row.elements().vec(), {}});
    if (!value)
      return value;
    out.push_back(value.take());
  }
  return PyValue::list(std::move(out));
}

static Result filterBuiltin(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("filter", args, {"function", "iterable"}, 2);
  if (!r)
    return r.error();
  std::vector<PyValue> elements, out;
  if (Result ok = iterate(r[1], elements); !ok)
    return ok;
  for (PyValue &element : elements) {
    Result value = r[0].isNone() ? Result(element) : evaluator.call(r[0], CallArgs{{element}, {}});
    if (!value)
      return value;
    Result yes = truth(*value);
    if (!yes)
      return yes;
    if (yes->asBool())
      out.push_back(std::move(element));
  }
  return PyValue::list(std::move(out));
}

static Result reduceBuiltin(Evaluator &evaluator, const CallArgs &args) {
  ArgReader r("reduce", args, {"function", "sequence", "initial"}, 2);
  if (!r)
    return r.error();
  std::vector<PyValue> elements;
  if (Result ok = iterate(r[1], elements); !ok)
    return ok;
  if (r.has(2))
    elements.insert(elements.begin(), r[2]);
  if (elements.empty())
    return fail("`reduce` of an empty sequence needs an initial value");
  Result total = elements[0];
  for (size_t i = 1; i < elements.size() && total; ++i)
    total = evaluator.call(r[0], CallArgs{{*total, elements[i]}, {}});
  return total;
}

llvm::ArrayRef<BuiltinEntry> eval::sequenceBuiltins() {
  static const BuiltinEntry table[] = {
      {"len", len},
      {"range", makeRange},
      {"slice", makeSlice},
      {"enumerate", enumerate},
      {"zip", zip},
      {"reversed", reversed},
      {"sorted", sorted},
      {"any", quantifier<true>},
      {"all", quantifier<false>},
      {"map", mapBuiltin},
      {"filter", filterBuiltin},
      {"itertools.product", cartesianProduct},
      {"functools.reduce", reduceBuiltin},
  };
  return table;
}
