//===- Einsum.cpp - products of tensors whose dimensions have names ---------===//
//
// Two at a time, from the left. What only one of them has and nobody needs is added up first; what
// both have and nobody needs is what a matrix product adds up, if each has a dimension of its own,
// and else a sum of products of elements.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/Einsum.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include <map>
#include <set>

using namespace tile;
using namespace tile::eval;
using Labels = std::vector<int>;

static bool has(const Labels &labels, int label) { return llvm::is_contained(labels, label); }

static size_t placeOf(const Labels &labels, int label) {
  return llvm::find(labels, label) - labels.begin();
}

static std::string spelled(int label) {
  return label < 0 ? std::string("...") : std::string(1, char(label));
}

/// The dimensions in that order; those that the tensor has not are 1.
static Term arranged(const Labelled &of, const Labels &order) {
  std::vector<int64_t> dims;
  for (int label : order)
    if (has(of.labels, label))
      dims.push_back(int64_t(placeOf(of.labels, label)));
  Term x = permuted(of.x, dims);
  for (size_t i = 0; i < order.size(); ++i)
    if (!has(of.labels, order[i]))
      x = unsqueezed(x, int64_t(i));
  return x;
}

/// Adds up what is not in `keep`.
static void sumOut(Formula &f, Labelled &of, const std::set<int> &keep) {
  Terms axes;
  Labels left;
  for (auto [i, label] : llvm::enumerate(of.labels)) {
    if (keep.count(label))
      left.push_back(label);
    else
      axes.push_back(f.integer(int64_t(i)));
  }
  if (axes.empty())
    return;
  of.x = f.reduce("sum", of.x, f.tuple(axes), f.boolean(false));
  of.labels = left;
}

/// Of a name that stands twice only the diagonal is there.
static void takeDiagonals(Formula &f, Labelled &of) {
  for (size_t i = 0; i < of.labels.size(); ++i)
    for (size_t j = i + 1; j < of.labels.size();) {
      if (of.labels[i] != of.labels[j]) {
        ++j;
        continue;
      }
      Terms axes = {of.x, f.integer(0), f.integer(int64_t(i)), f.integer(int64_t(j))};
      of.x = f.call("diagonal", axes);
      int label = of.labels[i];
      of.labels.erase(of.labels.begin() + j);
      of.labels.erase(of.labels.begin() + i);
      of.labels.push_back(label); // it comes last
      i = 0;
      j = 1;
    }
}

namespace {
/// What the names of two tensors are for their product.
struct Roles {
  Labels both, inner, left, right;
};
} // namespace

/// A dimension of 1 that the other has more of is the same for all of those.
static void matchSizes(Formula &f, Labelled &a, Labelled &b) {
  for (Labelled *of : {&a, &b}) {
    Labelled &other = of == &a ? b : a;
    for (size_t i = 0; i < of->labels.size() && !f.failed();) {
      int label = of->labels[i];
      size_t place = placeOf(other.labels, label);
      if (place == other.labels.size()) {
        ++i;
        continue;
      }
      Term own = shapeOf(of->x)[i], others = shapeOf(other.x)[place];
      if (known(own) == 1 && known(others) != 1) {
        of->x = f.call("squeeze", {of->x, f.integer(int64_t(i))});
        of->labels.erase(of->labels.begin() + i);
        continue;
      }
      if (known(others) != 1 && known(own - others) != 0)
        f.refuse(formatted("{} of `{}` is `{}` in one tensor and `{}` in another",
                           f.name == "einsum" ? formatted("`{}`", spelled(label)) : "a dimension",
                           f.name, repr(own.value), repr(others.value)));
      ++i;
    }
  }
}

static Roles rolesOf(const Labelled &a, const Labelled &b, const std::set<int> &keep) {
  Roles roles;
  for (int label : a.labels)
    (!has(b.labels, label) ? roles.left
     : keep.count(label)   ? roles.both
                           : roles.inner)
        .push_back(label);
  for (int label : b.labels)
    if (!has(a.labels, label))
      roles.right.push_back(label);
  return roles;
}

/// One dimension of the inner ones, which come last.
static Term flattened(Formula &f, const Term &x, size_t first, size_t count) {
  Terms sizes = shapeOf(x);
  if (f.failed() || count == 1)
    return x;
  Terms whole(sizes.begin(), sizes.begin() + first);
  whole.push_back(productOf(f, llvm::ArrayRef(sizes).slice(first, count)));
  whole.insert(whole.end(), sizes.begin() + first + count, sizes.end());
  return reshaped(x, whole);
}

/// Rows of `a` by columns of `b`: the last dimension that each has to itself; others are batches.
static Labelled matrixProduct(Formula &f, const Labelled &a, const Labelled &b,
                              const Roles &roles) {
  Labels batch = roles.both, left = roles.left, right = roles.right;
  int row = left.back(), column = right.back();
  left.pop_back();
  right.pop_back();
  for (const Labels &more : {left, right})
    batch.insert(batch.end(), more.begin(), more.end());
  Labels ofA = batch, ofB = batch;
  ofA.push_back(row);
  ofA.insert(ofA.end(), roles.inner.begin(), roles.inner.end());
  ofB.insert(ofB.end(), roles.inner.begin(), roles.inner.end());
  ofB.push_back(column);
  // Dimensions in front that one of them has not need not be there.
  auto withoutFirst = [&](Labels order, const Labelled &of) {
    while (!order.empty() && !has(of.labels, order.front()))
      order.erase(order.begin());
    return order;
  };
  ofA = withoutFirst(ofA, a);
  ofB = withoutFirst(ofB, b);
  size_t count = roles.inner.size();
  Term x = flattened(f, arranged(a, ofA), ofA.size() - count, count);
  Term y = flattened(f, arranged(b, ofB), ofB.size() - count - 1, count);
  batch.push_back(row);
  batch.push_back(column);
  return {f.call("matmul", {x, y}), batch};
}

static Labelled product(Formula &f, Labelled a, Labelled b, const std::set<int> &keep) {
  matchSizes(f, a, b);
  std::set<int> ofA = keep, ofB = keep;
  ofA.insert(b.labels.begin(), b.labels.end());
  ofB.insert(a.labels.begin(), a.labels.end());
  sumOut(f, a, ofA);
  sumOut(f, b, ofB);
  Roles roles = rolesOf(a, b, keep);
  if (f.failed())
    return a;
  bool areMatrices = !roles.inner.empty() && !roles.left.empty() && !roles.right.empty();
  if (areMatrices && (isFloat(a.x) || isFloat(b.x)))
    return matrixProduct(f, a, b, roles);
  Labels order = roles.both;
  for (const Labels &more : {roles.left, roles.right, roles.inner})
    order.insert(order.end(), more.begin(), more.end());
  Labelled whole{arranged(a, order) * arranged(b, order), order};
  sumOut(f, whole, keep);
  return whole;
}

Term eval::contracted(Formula &f, std::vector<Labelled> operands, const Labels &out) {
  for (Labelled &of : operands)
    takeDiagonals(f, of);
  Labelled sum = operands.front();
  for (size_t i = 1; i < operands.size() && !f.failed(); ++i) {
    std::set<int> keep(out.begin(), out.end());
    for (size_t later = i + 1; later < operands.size(); ++later)
      keep.insert(operands[later].labels.begin(), operands[later].labels.end());
    sum = product(f, sum, operands[i], keep);
  }
  sumOut(f, sum, {out.begin(), out.end()});
  return f.failed() ? f.none() : arranged(sum, out);
}

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

namespace {
struct Equation {
  std::vector<Labels> inputs; ///< 0 stands for an ellipsis
  Labels output;
  bool hasOutput = false;
};
} // namespace

static bool readLabels(llvm::StringRef text, Labels &out) {
  while (!text.empty()) {
    if (text.consume_front("...")) {
      if (has(out, 0))
        return false;
      out.push_back(0);
      continue;
    }
    if (!llvm::isAlpha(text.front()))
      return false;
    out.push_back(text.front());
    text = text.drop_front();
  }
  return true;
}

static bool readEquation(llvm::StringRef given, Equation &equation) {
  std::string text;
  for (char c : given)
    if (c != ' ')
      text += c;
  auto [left, right] = llvm::StringRef(text).split("->");
  equation.hasOutput = llvm::StringRef(text).contains("->");
  llvm::SmallVector<llvm::StringRef> inputs;
  left.split(inputs, ',');
  for (llvm::StringRef input : inputs)
    if (!readLabels(input, equation.inputs.emplace_back()))
      return false;
  return readLabels(right, equation.output);
}

/// Without `->`: the names that stand once, in the order of the alphabet.
static Labels usualOutput(const Equation &equation) {
  std::map<int, unsigned> counts;
  for (const Labels &input : equation.inputs)
    for (int label : input)
      counts[label] += label == 0 ? 0 : 1;
  Labels out;
  for (auto [label, count] : counts)
    if (count <= 1)
      out.push_back(label);
  return out;
}

/// In the place of an ellipsis as many names as it stands for, counted from the last.
static Labels spelledOut(const Labels &labels, size_t count) {
  Labels out;
  for (int label : labels) {
    if (label != 0)
      out.push_back(label);
    else
      for (size_t i = count; i-- > 0;)
        out.push_back(-int(i) - 1);
  }
  return out;
}

Term eval::einsum(Formula &f) {
  Terms given = f.list(1);
  Equation equation;
  if (f.failed() || !f[0].value.isStr() || !readEquation(f[0].value.asStr(), equation))
    return f.refuse(
        formatted("`einsum` needs an equation such as \"bij,bjk->bik\", got {}", repr(f[0].value)));
  if (given.size() != equation.inputs.size())
    return f.refuse(formatted("the equation of `einsum` has {} tensors, and {} are given",
                              equation.inputs.size(), given.size()));
  std::vector<Labelled> operands;
  std::set<int> all;
  size_t most = 0;
  for (auto [labels, x] : llvm::zip(equation.inputs, given)) {
    size_t rank = rankOf(x), named = labels.size() - has(labels, 0);
    if (f.failed() || rank < named || (rank > named && !has(labels, 0)))
      return f.refuse(
          formatted("the equation of `einsum` names {} dimensions of {}", named, repr(x.value)));
    operands.push_back({x, spelledOut(labels, rank - named)});
    most = std::max(most, rank - named);
    all.insert(operands.back().labels.begin(), operands.back().labels.end());
  }
  Labels out = equation.hasOutput ? equation.output : usualOutput(equation);
  out = spelledOut(out, most);
  for (int label : out)
    if (!all.count(label) || llvm::count(out, label) > 1)
      return f.refuse(formatted("`{}` of the result of `einsum` stands {}", spelled(label),
                                all.count(label) ? "there twice" : "in none of the tensors"));
  return contracted(f, std::move(operands), out);
}
