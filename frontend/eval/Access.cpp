//===- Access.cpp - indexing, attributes, lengths and iteration -----------===//
#include "frontend/eval/Characters.h"
#include "frontend/eval/Evaluator.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Statements.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"

using namespace tile::eval;
using llvm::StringRef;
using tile::formatted;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Indexing
//===----------------------------------------------------------------------===//

namespace tile::eval {

std::unique_ptr<EvalError> resolveSlice(const SliceObject &slice, int64_t size, SliceBounds &out) {
  auto read = [](const PyValue &value, int64_t fallback, int64_t &bound) {
    std::optional<int64_t> i = value.isNone() ? fallback : value.toInt64();
    bound = i.value_or(0);
    return i.has_value();
  };
  if (!read(slice.step, 1, out.step))
    return fail(formatted("a slice step must be an integer, got `{}`", typeName(slice.step)));
  if (out.step == 0)
    return fail("a slice step cannot be zero", "ValueError");
  bool down = out.step < 0;
  int64_t lower, upper;
  if (!read(slice.lower, down ? size - 1 : 0, lower) ||
      !read(slice.upper, down ? -size - 1 : size, upper))
    return fail("slice bounds must be integers or None");
  auto clamp = [&](int64_t i) {
    if (i < 0)
      i = std::max(i + size, down ? int64_t(-1) : int64_t(0));
    return std::min(i, down ? size - 1 : size);
  };
  out.start = clamp(lower);
  out.count = RangeObject{out.start, clamp(upper), out.step}.size();
  return nullptr;
}

} // namespace tile::eval

static Result indexOf(const PyValue &index, int64_t size, const std::string &what, int64_t &out) {
  std::optional<int64_t> i = index.toInt64();
  if (!i)
    return fail(formatted("an index into a {} must be an integer or a slice, got `{}`", what,
                          typeName(index)));
  out = *i < 0 ? *i + size : *i;
  if (out < 0 || out >= size)
    return fail(formatted("index {} is out of range for a {} of length {}", *i, what, size),
                "IndexError");
  return PyValue();
}

static Result subscriptElements(const PyValue &value, const PyValue &index) {
  llvm::ArrayRef<PyValue> elements = value.elements();
  if (index.is(Kind::Slice)) {
    SliceBounds bounds;
    if (auto error = resolveSlice(index.asSlice(), elements.size(), bounds))
      return error;
    if (!Work::spend(bounds.count))
      return Work::error();
    std::vector<PyValue> out;
    for (int64_t i = 0; i < bounds.count; ++i)
      out.push_back(elements[bounds.start + i * bounds.step]);
    return value.is(Kind::Tuple) ? PyValue::tuple(std::move(out)) : PyValue::list(std::move(out));
  }
  int64_t i;
  if (Result ok = indexOf(index, elements.size(), typeName(value), i); !ok)
    return ok;
  return elements[i];
}

static Result subscriptString(const std::string &text, const PyValue &index) {
  if (index.is(Kind::Slice)) {
    SliceBounds bounds;
    if (auto error = resolveSlice(index.asSlice(), countCharacters(text), bounds))
      return error;
    if (!Work::spendBytes(text.size()))
      return Work::error();
    std::string out;
    if (isAscii(text)) {
      for (int64_t i = 0; i < bounds.count; ++i)
        out += text[bounds.start + i * bounds.step];
      return PyValue::string(out);
    }
    std::vector<StringRef> each = characters(text);
    for (int64_t i = 0; i < bounds.count; ++i)
      out += each[bounds.start + i * bounds.step];
    return PyValue::string(out);
  }
  int64_t i;
  if (Result ok = indexOf(index, countCharacters(text), "string", i); !ok)
    return ok;
  if (!Work::spendBytes(text.size()))
    return Work::error();
  return PyValue::string(
      (isAscii(text) ? StringRef(text).substr(i, 1) : characters(text)[i]).str());
}

static Result subscriptRange(const RangeObject &range, const PyValue &index) {
  if (index.is(Kind::Slice)) {
    SliceBounds bounds;
    if (auto error = resolveSlice(index.asSlice(), range.size(), bounds))
      return error;
    // Of what is left, all elements are in the range; its end and step need not be.
    using Wide = __int128;
    Wide start = range.start + Wide(bounds.start) * range.step;
    Wide step = Wide(range.step) * bounds.step, stop = start + bounds.count * step;
    auto clamp = [](Wide x) { return int64_t(std::clamp<Wide>(x, INT64_MIN, INT64_MAX)); };
    return PyValue::range({clamp(start), clamp(stop), clamp(step)});
  }
  int64_t i;
  if (Result ok = indexOf(index, range.size(), "range", i); !ok)
    return ok;
  return PyValue::integer(range.at(i));
}

namespace tile::eval {

Result subscript(const PyValue &value, const PyValue &index, Evaluator *evaluator) {
  switch (value.kind()) {
  case Kind::Tuple:
  case Kind::List:
    return subscriptElements(value, index);
  case Kind::Str:
    return subscriptString(value.asStr(), index);
  case Kind::Range:
    return subscriptRange(value.asRange(), index);
  case Kind::Dict:
    if (PyValue *found = value.asDict().find(index))
      return *found;
    return fail(formatted("the dict has no key {}", repr(index)), "KeyError");
  case Kind::Extension:
    return value.asExtension()->subscript(evaluator, index);
  case Kind::Function:
    if (evaluator && evaluator->hooks)
      if (std::optional<Result> result =
              evaluator->hooks->subscriptKernel(*evaluator, value, index)) {
        if (!value.asFunction().isJit)
          return fail(formatted(
              "`{}` is not a kernel: only functions with `@triton.jit` are launched with `[grid]`",
              value.asFunction().name()));
        return std::move(*result);
      }
    return fail(formatted("`{}[...]` launches a kernel, and there is nothing to launch it on here",
                          value.asFunction().name()));
  default:
    return fail(formatted("a value of type `{}` cannot be indexed", typeName(value)));
  }
}

Result assignSubscript(const PyValue &container, const PyValue &index, const PyValue &value) {
  switch (container.kind()) {
  case Kind::List: {
    std::vector<PyValue> &elements = container.asList().elements;
    if (index.is(Kind::Slice))
      return unsupported("assigning to a slice of a list is not supported");
    int64_t i;
    if (Result ok = indexOf(index, elements.size(), "list", i); !ok)
      return ok;
    elements[i] = value;
    return PyValue();
  }
  case Kind::Dict:
    container.asDict().set(index, value);
    return PyValue();
  case Kind::Extension:
    return container.asExtension()->assignSubscript(index, value);
  default:
    return fail(formatted("elements of a `{}` cannot be assigned", typeName(container)));
  }
}

/// Of what host functions make, only descriptors change: hooks of configurations
/// set the blocks of those that they are given.
Result assignAttribute(const PyValue &object, StringRef name, const PyValue &value) {
  if (typeName(object) != "TensorDescriptor")
    return unsupported(formatted("attributes of a `{}` cannot be assigned", typeName(object)));
  TupleObject &descriptor = object.asTuple();
  auto field = llvm::find(descriptor.type->fields, name);
  if (field == descriptor.type->fields.end())
    return fail(formatted("a `TensorDescriptor` has no attribute `{}`", name), "AttributeError");
  std::vector<PyValue> fields = descriptor.elements;
  fields[field - descriptor.type->fields.begin()] = value;
  Result changed = makeTensorDescriptor(CallArgs{std::move(fields), {}});
  if (!changed)
    return changed;
  descriptor.elements = changed->asTuple().elements;
  return PyValue();
}

//===----------------------------------------------------------------------===//
// Lengths and iteration
//===----------------------------------------------------------------------===//

Result length(const PyValue &value) {
  switch (value.kind()) {
  case Kind::Str:
    return PyValue::integer(countCharacters(value.asStr()));
  case Kind::Tuple:
  case Kind::List:
    return PyValue::integer(value.elements().size());
  case Kind::Dict:
    return PyValue::integer(value.asDict().items.size());
  case Kind::Set:
    return PyValue::integer(value.asSet().elements.size());
  case Kind::Range:
    return PyValue::integer(value.asRange().size());
  case Kind::Extension:
    return value.asExtension()->length();
  default:
    return fail(formatted("a value of type `{}` has no length", typeName(value)));
  }
}

/// The number of elements of what can be iterated.
static uint64_t lengthOf(const PyValue &value) {
  Result size = value.is(Kind::Extension) ? Result(PyValue()) : length(value);
  return size && size->toInt64() ? uint64_t(*size->toInt64()) : 0;
}

Result iterate(const PyValue &value, std::vector<PyValue> &elements) {
  elements.clear();
  if (!value.is(Kind::Range) && !Work::spend(lengthOf(value)))
    return Work::error();
  switch (value.kind()) {
  case Kind::Str:
    for (StringRef character : characters(value.asStr()))
      elements.push_back(PyValue::string(character.str()));
    return PyValue();
  case Kind::Tuple:
  case Kind::List:
    elements = value.elements().vec();
    return PyValue();
  case Kind::Dict:
    for (auto &[key, item] : value.asDict().items)
      elements.push_back(key);
    return PyValue();
  case Kind::Set:
    elements = value.asSet().elements;
    return PyValue();
  case Kind::Range: {
    const RangeObject &range = value.asRange();
    int64_t size = range.size();
    if (size > int64_t(maxElements))
      return fail(formatted("this range has {} elements; at most {} are visited at compile time",
                            size, maxElements),
                  "MemoryError");
    if (!Work::spend(size))
      return Work::error();
    for (int64_t i = 0; i < size; ++i)
      elements.push_back(PyValue::integer(range.at(i)));
    return PyValue();
  }
  case Kind::Extension:
    return value.asExtension()->iterate(elements);
  default:
    return fail(formatted("a value of type `{}` cannot be iterated", typeName(value)));
  }
}

} // namespace tile::eval
