//===- GenerateBlocks.cpp - shapes, reductions, products --------------------===//
#include "tests/fuzz/Generator.h"
#include <cmath>

using namespace tile;
using namespace tile::fuzz;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

void Generator::shape() {
  int a = pickBlock();
  Type type = typeOf(a);
  auto &s = type.shape;
  switch (below(6)) {
  case 0: { // reshape
    int64_t total = type.count(), first = int64_t(1)
                                          << below(uint64_t(std::log2(double(total))) + 1);
    while (total % first)
      first /= 2;
    if (chance(30))
      first = total / first;
    type.shape =
        chance(30) ? std::vector<int64_t>{total} : std::vector<int64_t>{first, total / first};
    add(type, "{r} = {0}.reshape" + listed(type.shape), {a});
    return;
  }
  case 1:
    if (s.size() < 2)
      break;
    std::swap(s[s.size() - 1], s[s.size() - 2]);
    add(type, "{r} = tl.trans({0})", {a});
    return;
  case 2:
    if (s.size() != 3)
      break;
    type.shape = {s[2], s[0], s[1]};
    add(type, "{r} = tl.permute({0}, (2, 0, 1))", {a});
    return;
  case 3: { // grow a dimension of one
    type.shape.insert(type.shape.begin() + below(s.size() + 1), 1);
    if (type.shape.size() > 4)
      return;
    std::string index;
    bool used = false;
    std::vector<int64_t> from = typeOf(a).shape;
    size_t k = 0;
    for (int64_t size : type.shape) {
      bool isNew = !used && (k >= from.size() || size != from[k]);
      used |= isNew;
      index += std::string(index.empty() ? "" : ", ") + (isNew ? "None" : ":");
      k += !isNew;
    }
    if (!used)
      return;
    Type grown = type;
    int64_t total = type.count();
    for (int64_t &size : grown.shape)
      if (size == 1 && total * 4 <= mostElements) {
        size = 4;
        total *= 4;
      }
    add(grown, "{r} = tl.broadcast_to({0}[" + index + "], " + listed(grown.shape) + ")", {a});
    return;
  }
  case 4: {
    size_t axis = below(s.size());
    add(type, "{r} = tl.flip({0}, " + std::to_string(axis) + ")", {a});
    return;
  }
  default:
    break;
  }
  type.shape = {type.count()};
  add(type, "{r} = tl.ravel({0})", {a});
}

void Generator::pairwise() {
  int a = pick([&](const Type &t) { return !t.shape.empty() && t.count() * 2 <= mostElements; },
               [&] { return Type{Element::I32, {32}, 0}; });
  Type type = typeOf(a);
  int b = pick([&](const Type &t) { return t.element == type.element && t.shape == type.shape; },
               [&] { return type; });
  Type both =
      bounded(type, type.bound && typeOf(b).bound ? std::max(type.bound, typeOf(b).bound) : 0);
  switch (below(4)) {
  case 0:
    both.shape.push_back(2);
    if (both.shape.size() > 4)
      return;
    add(both, "{r} = tl.join({0}, {1})", {a, b});
    return;
  case 1:
    both.shape.back() *= 2;
    add(both, "{r} = tl.interleave({0}, {1})", {a, b});
    return;
  case 2: {
    size_t axis = below(both.shape.size());
    both.shape[axis] *= 2;
    add(both, "{r} = tl.cat({0}, {1}, dim=" + std::to_string(axis) + ")", {a, b});
    return;
  }
  default:
    if (type.count() % 2)
      return;
    type.shape = {type.count() / 2};
    add(type, "{r}, _ = tl.split({0}.reshape(" + std::to_string(type.count()) + ", 2))", {a});
  }
}

//===----------------------------------------------------------------------===//
// Across elements
//===----------------------------------------------------------------------===//

void Generator::reduce() {
  int a = pick([](const Type &t) { return !t.shape.empty() && !isNarrowFloat(t.element); },
               [&] { return freshType(); });
  Type type = typeOf(a);
  size_t axis = below(type.shape.size());
  double length = double(type.shape[axis]), bound = type.bound;
  bool real = isFloat(type.element), keep = chance(40);
  if (keep)
    type.shape[axis] = 1;
  else
    type.shape.erase(type.shape.begin() + axis);
  std::string tail = ", " + std::to_string(axis) + (keep ? ", keep_dims=True)" : ")");
  std::string cast = std::string(".to(tl.") + spelling(type.element) + ")";
  if (type.element == Element::I1) {
    add({Element::I1, type.shape, 0}, "{r} = tl.max({0}.to(tl.int32)" + tail + " > 0", {a});
    return;
  }
  if (chance(35)) {
    add(bounded(type, bound),
        std::string(chance(50) ? "{r} = tl.max({0}" : "{r} = tl.min({0}") + tail + cast, {a});
    return;
  }
  if (!real && chance(30)) {
    add(type, "{r} = tl.xor_sum({0}" + tail, {a});
    return;
  }
  if (chance(20) && (!real || bound)) {
    type.element = Element::I32;
    type.bound = 0;
    add(type, std::string(chance(50) ? "{r} = tl.argmax({0}" : "{r} = tl.argmin({0}") + tail, {a});
    return;
  }
  // A sum of whole numbers is the same in any order while it is exact.
  if (real && (!bound || bound * length > exactLimit(type.element)))
    return;
  add(bounded(type, bound * length), "{r} = tl.sum({0}" + tail + cast, {a});
}

/// Two blocks at once, by a function of the kernel's own.
void Generator::reduceTuple() {
  int a = pick(
      [](const Type &t) {
        return !t.shape.empty() && (t.element == Element::I32 || t.element == Element::I64 ||
                                    (t.element == Element::F32 && t.bound));
      },
      [&] { return Type{oneOf({Element::I32, Element::F32}), freshShape(), 7}; });
  Type shared = typeOf(a);
  int b = pick([&](const Type &t) { return t.element == Element::I64 && t.shape == shared.shape; },
               [&] { return Type{Element::I64, shared.shape, 0}; });
  Type type = chance(50) ? shared : typeOf(b);
  bool first = type.element == shared.element && type.element != Element::I64;
  if (!first)
    type = typeOf(b);
  size_t axis = below(type.shape.size());
  type.shape.erase(type.shape.begin() + axis);
  add(type,
      std::string(first ? "{r}, _" : "_, {r}") + " = tl.reduce(({0}, {1}), " +
          std::to_string(axis) + ", largest_and_sum)",
      {a, b});
}

void Generator::scan() {
  int a = pick(
      [](const Type &t) {
        return !t.shape.empty() && t.element != Element::I1 && !isNarrowFloat(t.element);
      },
      [&] { return Type{Element::I32, freshShape(), 0}; });
  Type type = typeOf(a);
  size_t axis = below(type.shape.size());
  std::string tail = ", " + std::to_string(axis);
  std::string reverse = chance(40) ? ", reverse=True)" : ")";
  bool real = isFloat(type.element);
  double bound = type.bound * double(type.shape[axis]);
  if (chance(40)) {
    if (type.element == Element::BF16)
      return;
    add(type, "{r} = tl.associative_scan({0}" + tail + ", larger" + reverse, {a});
    return;
  }
  if (!real && chance(40) && bitsOf(type.element) >= 32) {
    int b = pick([&](const Type &t) { return t.element == type.element && t.shape == type.shape; },
                 [&] { return type; });
    add(type, "_, {r} = tl.associative_scan(({0}, {1})" + tail + ", affine" + reverse, {a, b});
    return;
  }
  if (real && (!type.bound || bound > exactLimit(type.element)))
    return;
  add(bounded(type, bound),
      "{r} = tl.cumsum({0}" + tail + reverse + ".to(tl." + spelling(type.element) + ")", {a});
}

void Generator::order() {
  int a = pick(
      [](const Type &t) {
        return !t.shape.empty() &&
               (!isFloat(t.element) || (t.bound && !isNarrowFloat(t.element))) &&
               t.element != Element::I1 && t.shape.back() <= 64;
      },
      [&] { return Type{oneOf({Element::I32, Element::F32, Element::I64}), {4, 16}, 7}; });
  Type type = typeOf(a);
  if (type.shape.size() == 1 && !isFloat(type.element) && chance(40)) {
    int64_t bins = isOdd ? 1 + int64_t(below(64)) : int64_t(1) << below(7);
    // A value that has no bin is masked: one that is counted is reported.
    std::string count = std::to_string(bins);
    add({Element::I32, {bins}, 0},
        "{r} = tl.histogram({0} & 31, " + count + ", mask=({0} & 31) < " + count + ")", {a});
    return;
  }
  int64_t last = type.shape.back();
  if (chance(30) && last > 1 && (last & (last - 1)) == 0) {
    int64_t k = int64_t(1) << below(uint64_t(std::log2(double(last))) + 1);
    type.shape.back() = k;
    // As of `tl.max`, which selects: what is narrow becomes wide. All of them are only sorted.
    if (k < last && bitsOf(type.element) < 32)
      type.element = isFloat(type.element) ? Element::F32 : Element::I32;
    add(type, "{r} = tl.topk({0}, " + std::to_string(k) + ")", {a});
    return;
  }
  add(type, chance(50) ? "{r} = tl.sort({0})" : "{r} = tl.sort({0}, descending=True)", {a});
}

void Generator::gather() {
  int a = pickBlock();
  Type type = typeOf(a);
  size_t axis = below(type.shape.size());
  int64_t length = type.shape[axis];
  int b = pick(
      [&](const Type &t) {
        if (t.element != Element::I32 || t.shape.size() != type.shape.size())
          return false;
        for (size_t d = 0; d < t.shape.size(); ++d)
          if (d != axis && t.shape[d] != type.shape[d])
            return false;
        return true;
      },
      [&] {
        Type index{Element::I32, type.shape, 0};
        index.shape[axis] = 16;
        return index.count() <= mostElements ? index : Type{Element::I32, type.shape, 0};
      });
  type.shape = typeOf(b).shape;
  add(type,
      "{r} = tl.gather({0}, ({1} & 4095) % " + std::to_string(length) + ", " +
          std::to_string(axis) + ")",
      {a, b});
}

void Generator::dot() {
  int64_t m = oneOf({16, 32}), n = oneOf({16, 32}), k = oneOf({16, 32, 64});
  if (isOdd)
    m = oneOf({24, 32}), n = oneOf({16, 24}), k = oneOf({24, 32, 48});
  Element element = oneOf({Element::F16, Element::BF16, Element::F32, Element::I8});
  auto operand = [&](int64_t rows, int64_t columns) {
    return pick(
        [&](const Type &t) {
          return t.element == element && t.shape == std::vector<int64_t>{rows, columns} &&
                 (!isFloat(element) || (t.bound && t.bound <= 16));
        },
        [&] { return Type{element, {rows, columns}, isFloat(element) ? 7.0 : 0.0}; });
  };
  int a = operand(m, k), b = operand(k, n);
  bool real = isFloat(element);
  double bound = real ? typeOf(a).bound * typeOf(b).bound * double(k) : 0;
  std::string precision = element == Element::F32 && chance(50) ? ", input_precision=\"ieee\"" : "";
  add(bounded({real ? Element::F32 : Element::I32, {m, n}, 0}, bound),
      "{r} = tl.dot({0}, {1}" + precision + ")", {a, b});
}
