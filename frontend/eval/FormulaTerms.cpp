//===- FormulaTerms.cpp - what formulas are written with -------------------===//
#include "frontend/eval/FormulaTerms.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;
using llvm::ArrayRef;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Term Formula::tuple(const Terms &parts) {
  std::vector<PyValue> values;
  for (const Term &part : parts)
    values.push_back(part.value);
  return {this, PyValue::tuple(std::move(values))};
}

int64_t Formula::whole(size_t i, int64_t otherwise) {
  if (!has(i))
    return otherwise;
  std::optional<int64_t> number = reader[i].toInt64();
  if (number && *number > INT64_MIN)
    return *number;
  refuse(formatted("`{}` needs a whole number that is known, got {}", name, repr(reader[i])),
         "TypeError");
  return otherwise;
}

std::string Formula::word(size_t i, ArrayRef<StringRef> allowed) {
  if (!has(i))
    return allowed.front().str();
  std::string given = reader[i].isStr() ? reader[i].asStr() : "";
  if (llvm::is_contained(allowed, given))
    return given;
  std::string all;
  for (StringRef word : allowed)
    all += formatted("{}\"{}\"", all.empty() ? "" : word == allowed.back() ? " or " : ", ", word);
  refuse(formatted("`{}` is told {}, got {}", name, all, repr(reader[i])));
  return allowed.front().str();
}

bool Formula::flag(size_t i, bool otherwise) {
  if (!has(i))
    return otherwise;
  Result is = truth(reader[i]);
  Term value = take(std::move(is));
  return !failed() && value.value.asBool();
}

Terms Formula::list(size_t i) {
  Terms out;
  if (!has(i))
    return out;
  if (!reader[i].isSequence())
    return {(*this)[i]};
  for (const PyValue &value : reader[i].elements())
    out.push_back({this, value});
  return out;
}

std::vector<int64_t> Formula::wholes(size_t i) {
  std::vector<int64_t> out;
  for (const Term &term : list(i)) {
    std::optional<int64_t> number = term.value.toInt64();
    if (!number || *number == INT64_MIN)
      refuse(formatted("`{}` needs whole numbers that are known, got {}", name, repr(term.value)),
             "TypeError");
    out.push_back(number.value_or(0));
  }
  return out;
}

size_t Formula::axisOf(int64_t given, size_t rank) {
  int64_t axis = given < 0 ? given + int64_t(rank) : given;
  if (axis >= 0 && axis < int64_t(rank))
    return axis;
  refuse(formatted("an axis of `{}` is a number from {} to {}, got {}", name, -int64_t(rank),
                   int64_t(rank) - 1, given),
         "IndexError");
  return 0;
}

size_t Formula::axis(size_t i, int64_t otherwise, size_t rank) {
  int64_t given = whole(i, otherwise);
  return failed() ? 0 : axisOf(given, rank);
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

Term Formula::take(Result result) {
  if (!failed() && !result)
    failure = result.takeError();
  return {this, failed() ? PyValue() : result.take()};
}

Term Formula::refuse(const std::string &message, const std::string &type) {
  return take(fail(message, type));
}

Term Formula::call(StringRef function, Terms args,
                   std::vector<std::pair<std::string, PyValue>> keywords) {
  if (failed())
    return none();
  CallArgs given;
  for (Term &arg : args)
    given.positional.push_back(std::move(arg.value));
  given.keywords = std::move(keywords);
  return take(on.call(function, given));
}

Term Formula::reduce(StringRef how, Term x, Term axis, Term keepdim) {
  return call(how, {std::move(x)}, {{"axis", axis.value}, {"keepdim", keepdim.value}});
}

Term Formula::reduce(StringRef how, Term x, int64_t axis, bool keepdim) {
  return reduce(how, std::move(x), integer(axis), boolean(keepdim));
}

Term Formula::reduced(Term loss, size_t i) {
  std::string how = "mean";
  if (has(i) && reader[i].isStr())
    how = reader[i].asStr();
  if (how == "none")
    return loss;
  if (how != "mean" && how != "sum")
    return refuse(formatted("`reduction` is \"mean\", \"sum\" or \"none\", not \"{}\"", how));
  return call(how, {std::move(loss)});
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Term eval::apply(ast::BinaryOp op, const Term &x, const Term &y) {
  return x.in->failed() ? x.in->none() : x.in->take(binary(op, x.value, y.value));
}

Term eval::compared(ast::CompareOp op, const Term &x, const Term &y) {
  return x.in->failed() ? x.in->none() : x.in->take(compare(op, x.value, y.value));
}

Term eval::lengthOfPowers(const Term &sum, double power) {
  Formula &f = *sum.in;
  auto root = [&](const Term &x) {
    return power == 0.5 ? of("sqrt", x) : f.call("pow", {x, f.number(power)});
  };
  if (!f.differentiates())
    return root(sum);
  Term isNone = same(sum, 0);
  return where(isNone, f.number(0), root(where(isNone, f.number(1), sum)));
}

Term eval::apartBy(const Term &x, const Term &y) {
  return of("abs", where(same(x, y), x.in->number(0), x - y));
}

Term eval::softplus(const Term &x) {
  Term rest = of("log1p", of("exp", negative(of("abs", x))));
  return of("relu", x) + rest;
}

//===----------------------------------------------------------------------===//
// Types and shapes
//===----------------------------------------------------------------------===//

Term eval::typeOf(const Term &x) {
  return x.in->failed() ? x.in->none() : x.in->take(attribute(x.value, "dtype"));
}

bool eval::isFloat(const Term &x) {
  PyValue type = x.value.isNumber() ? PyValue() : typeOf(x).value;
  return type.is(PyValue::Kind::DType) && type.asDType().isFloating();
}

Term eval::asType(const Term &x, const Term &like) {
  return isFloat(like) || x.in->failed() ? x : x.in->call("to", {x, typeOf(like)});
}

Terms eval::shapeOf(const Term &x) {
  Terms sizes;
  if (x.in->failed())
    return sizes;
  if (x.value.isNumber()) // without dimensions
    return sizes;
  Term shape = x.in->take(attribute(x.value, "shape"));
  if (x.in->failed())
    return sizes;
  if (!shape.value.isSequence()) {
    x.in->refuse(formatted("`{}` needs a tensor, got {}", x.in->name, repr(x.value)), "TypeError");
    return sizes;
  }
  for (const PyValue &size : shape.value.elements())
    sizes.push_back({x.in, size});
  return sizes;
}

size_t eval::rankOf(const Term &x) { return shapeOf(x).size(); }

std::optional<int64_t> eval::known(const Term &size) { return size.value.toInt64(); }

Term eval::productOf(Formula &f, ArrayRef<Term> sizes) {
  Term all = f.integer(1);
  for (const Term &size : sizes)
    all = all * size;
  return all;
}

Term eval::reshaped(const Term &x, const Terms &sizes) {
  // On the host a view of elements that lie apart has no other shape.
  return x.in->call("reshape", {of("contiguous", x), x.in->tuple(sizes)});
}

Term eval::permuted(const Term &x, ArrayRef<int64_t> order) {
  Terms dims;
  for (int64_t dim : order)
    dims.push_back(x.in->integer(dim));
  return x.in->call("permute", {x, x.in->tuple(dims)});
}

Term eval::at(const Term &x, size_t axis, const PyValue &index) {
  std::vector<PyValue> parts(axis, PyValue::slice({}, {}, {}));
  parts.push_back(index);
  return x.in->failed() ? x.in->none()
                        : x.in->take(subscript(x.value, PyValue::tuple(std::move(parts))));
}

Term eval::part(const Term &x, size_t axis, const Term &from, const Term &to, int64_t step) {
  PyValue by = step == 1 ? PyValue() : PyValue::integer(step);
  return at(x, axis, PyValue::slice(from.value, to.value, by));
}

Term eval::unsqueezed(const Term &x, int64_t axis) {
  return x.in->call("unsqueeze", {x, x.in->integer(axis)});
}

Term eval::joined(Formula &f, const Terms &parts, int64_t axis) {
  std::vector<PyValue> values;
  for (const Term &part : parts)
    values.push_back(part.value);
  return f.call("cat", {{&f, PyValue::list(std::move(values))}, f.integer(axis)});
}

Term eval::placesAlong(const Term &size, size_t axis, size_t rank) {
  Term line = size.in->call("arange", {size});
  for (size_t dim = axis + 1; dim < rank; ++dim)
    line = unsqueezed(line, -1);
  return line;
}
