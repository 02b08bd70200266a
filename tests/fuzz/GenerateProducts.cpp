//===- GenerateProducts.cpp - products in batches, small, scaled, in chains --===//
#include "tests/fuzz/Generator.h"

using namespace tile;
using namespace tile::fuzz;

static std::string text(int64_t value) { return std::to_string(value); }

int Generator::factor(Element element, std::vector<int64_t> shape, double most) {
  return pick(
      [&](const Type &t) {
        return t.element == element && t.shape == shape &&
               (!isFloat(element) || (t.bound && t.bound <= most));
      },
      [&] { return Type{element, shape, isFloat(element) ? std::min(most, 7.0) : 0}; });
}

/// The product of two blocks of whole numbers; `batch` may be empty.
int Generator::productOf(int a, int b, double length) {
  Element element = typeOf(a).element;
  bool real = isFloat(element);
  Type result{!real                     ? Element::I32
              : element == Element::F64 ? Element::F64
                                        : Element::F32,
              typeOf(a).shape, 0};
  result.shape.back() = typeOf(b).shape.back();
  double bound = typeOf(a).bound * typeOf(b).bound * length;
  std::string precision = element == Element::F32 && chance(50) ? ", input_precision=\"ieee\"" : "";
  return add(bounded(result, real ? bound : 0), "{r} = tl.dot({0}, {1}" + precision + ")", {a, b});
}

void Generator::anyProduct() {
  Element element = oneOf({Element::F16, Element::BF16, Element::F32, Element::F64, Element::I8});
  switch (below(5)) {
  case 3:
    return widenedProduct();
  case 0: { // smaller than any instruction
    int64_t m = int64_t(1) << below(4), n = int64_t(1) << below(4), k = int64_t(1) << below(5);
    if (isOdd)
      m = between(1, 9), n = between(1, 9), k = between(1, 20);
    productOf(factor(element, {m, k}, 7), factor(element, {k, n}, 7), double(k));
    return;
  }
  case 1: { // batches
    int64_t b = oneOf({2, 3, 4}), m = oneOf({4, 16, 16}), n = oneOf({8, 16}),
            k = oneOf({8, 16, 32});
    productOf(factor(element, {b, m, k}, 7), factor(element, {b, k, n}, 7), double(k));
    return;
  }
  case 2: { // chains: the first product, made narrow again, is a factor of the second
    int64_t m = oneOf({16, 32, 64}), n = oneOf({16, 32}), k = oneOf({16, 32}), l = oneOf({16, 32});
    int first = productOf(factor(element, {m, k}, 3), factor(element, {k, n}, 3), double(k));
    Type narrow = typeOf(first);
    std::string part = isFloat(narrow.element) ? "tl.clamp({0}, -3.0, 3.0)" : "{0}";
    narrow.element = element;
    narrow.bound = isFloat(element) ? 3 : 0;
    int middle = add(narrow, "{r} = " + part + ".to(tl." + spelling(element) + ")", {first});
    productOf(middle, factor(element, {n, l}, 3), double(n));
    return;
  }
  default:
    scaledProduct();
  }
}

/// Of two blocks that are converted to f32 first, and changed as their type allows.
void Generator::widenedProduct() {
  auto kind = [&] {
    return oneOf({Element::F16, Element::F16, Element::BF16, Element::F8E5, Element::F8E4});
  };
  int64_t m = oneOf({16, 32, 64}), n = oneOf({16, 32}), k = oneOf({16, 32, 64});
  bool turned = chance(40);
  std::vector<int64_t> right{k, n};
  if (turned)
    std::swap(right[0], right[1]);
  int a = factor(kind(), {m, k}, 3), b = factor(kind(), right, 3);
  auto changed = [&](std::string v) {
    v += ".to(tl.float32)";
    switch (below(4)) {
    case 0:
      return "tl.where(tl.arange(0, " + text(k) + ")" +
             (v[1] == '0' ? "[None, :]"
              : turned    ? "[None, :]"
                          : "[:, None]") +
             " % 3 == 1, " + oneOf<std::string>({"0.0", "-1.0", "3.0"}) + ", " + v + ")";
    case 1:
      return "(-" + v + ")";
    default:
      return v;
    }
  };
  std::string x = changed("{0}"), y = changed("{1}");
  if (turned)
    y = "tl.trans(" + y + ")";
  double most = std::max(typeOf(a).bound, 3.0) * std::max(typeOf(b).bound, 3.0) * double(k);
  add(bounded({Element::F32, {m, n}, 0}, most),
      "{r} = tl.dot(" + x + ", " + y +
          oneOf<std::string>(
              {"", "", ", input_precision=\"tf32x3\"", ", input_precision=\"ieee\""}) +
          ")",
      {a, b});
}

/// Scales are 1 and 2, and sums stay whole.
void Generator::scaledProduct() {
  int64_t group = oneOf({16, 32}), m = oneOf({16, 32, 64}), n = oneOf({8, 16, 32}),
          k = oneOf({64, 128});
  struct Format {
    Element element;
    const char *name;
  };
  static constexpr Format formats[] = {{Element::F8E4, "e4m3"},
                                       {Element::F8E5, "e5m2"},
                                       {Element::F16, "fp16"},
                                       {Element::BF16, "bf16"}};
  const Format &f = formats[below(4)], &g = formats[below(4)];
  auto scales = [&](int64_t rows) {
    int raw = pick(
        [&](const Type &t) {
          return t.element == Element::U8 && t.shape == std::vector<int64_t>{rows, k / group};
        },
        [&] { return Type{Element::U8, {rows, k / group}, 0}; });
    return add({Element::U8, {rows, k / group}, 0}, "{r} = ({0} & 1) + 127", {raw});
  };
  int a = factor(f.element, {m, k}, 3), b = factor(g.element, {k, n}, 3), p = scales(m),
      q = scales(n);
  bool both = chance(60);
  add(bounded({Element::F32, {m, n}, 0}, 3.0 * 3 * 4 * double(k)),
      std::string("{r} = tl.dot_scaled({0}, {1}, \"") + f.name + "\", {2}, " +
          (both ? "{3}" : "None") + ", \"" + g.name + "\")",
      {a, p, b, q});
}
