//===- Generate.cpp - random well-typed kernels ----------------------------===//
//
// Only operations whose result is defined to the bit are used: float sums and
// products whose terms are small whole numbers, so that any order and any
// contraction gives the same; elementwise float arithmetic that is rounded once;
// shifts and divisions within their domains. Any difference is then a fault.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Kernel.h"
#include <cmath>
#include <functional>
#include <random>

using namespace tile;
using namespace tile::fuzz;

namespace {

constexpr int64_t kMaxElements = 2048;
using Predicate = std::function<bool(const Type &)>;

class Generator {
public:
  explicit Generator(uint64_t seed) : random(seed) { kernel.seed = seed; }
  Kernel run();

private:
  uint64_t below(uint64_t n) { return random() % n; }
  bool chance(unsigned percent) { return below(100) < percent; }
  template <typename T> T oneOf(std::initializer_list<T> list) {
    return *(list.begin() + below(list.size()));
  }

  int add(Type type, std::string text, std::vector<int> operands) {
    kernel.statements.push_back(
        {std::move(type), std::move(text), std::move(operands), false, false});
    return int(kernel.statements.size()) - 1;
  }
  const Type &typeOf(int v) const { return kernel.statements[v].type; }
  int input(Type type);
  int pick(const Predicate &fits, const std::function<Type()> &otherwise);
  int pickBlock();
  Type freshType();
  std::vector<int64_t> freshShape();
  Element intElement() {
    return oneOf({Element::I8, Element::U8, Element::I16, Element::U16, Element::I32, Element::I32,
                  Element::U32, Element::I64});
  }
  Element floatElement() {
    return oneOf({Element::F16, Element::BF16, Element::F32, Element::F32, Element::F64});
  }

  /// The largest whole numbers that a float type holds without a gap.
  static double exactLimit(Element e) {
    return e == Element::F16    ? 2048
           : e == Element::BF16 ? 256
           : e == Element::F32  ? 16777216
                                : 9e15;
  }
  Type bounded(Type type, double bound) {
    type.bound = bound > 0 && bound <= exactLimit(type.element) ? bound : 0;
    return type;
  }
  int operandLike(int v);
  int condition(const std::vector<int64_t> &shape);

  void arithmetic();
  void unary();
  void compare();
  void logic();
  void choose();
  void cast();
  void division();
  void shape();
  void pairwise();
  void reduce();
  void scan();
  void order();
  void gather();
  void loop();
  void branch();
  void map();
  void dot();

  std::mt19937_64 random;
  Kernel kernel;
  bool isOdd = false; ///< dimensions need not be powers of two
};

} // namespace

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

int Generator::input(Type type) {
  Statement s;
  s.type = std::move(type);
  s.isInput = true;
  s.columnMajor = s.type.shape.size() > 1 && chance(30);
  kernel.statements.push_back(std::move(s));
  return int(kernel.statements.size()) - 1;
}

std::vector<int64_t> Generator::freshShape() {
  size_t rank = oneOf({1, 1, 2, 2, 2, 3});
  std::vector<int64_t> shape;
  int64_t total = 1;
  for (size_t d = 0; d < rank; ++d) {
    int64_t size = int64_t(1) << below(rank == 1 ? 11 : rank == 2 ? 7 : 5);
    if (isOdd && chance(60))
      size = std::max<int64_t>(1, size - int64_t(below(size / 2 + 1)));
    if (total * size > kMaxElements)
      size = 1;
    total *= size;
    shape.push_back(size);
  }
  return shape;
}

Type Generator::freshType() {
  Type type;
  type.shape = freshShape();
  if (chance(45)) {
    type.element = intElement();
  } else if (chance(10)) {
    type.element = Element::I1;
  } else {
    type.element = floatElement();
    type.bound = chance(60) ? 7 : 0;
  }
  return type;
}

/// A recent variable that fits, or a new input.
int Generator::pick(const Predicate &fits, const std::function<Type()> &otherwise) {
  std::vector<int> candidates;
  for (size_t v = 0; v < kernel.statements.size(); ++v)
    if (fits(typeOf(int(v))))
      candidates.push_back(int(v));
  if (candidates.empty() || chance(8))
    return input(otherwise());
  // The later a variable, the longer the chain that leads to it.
  size_t a = below(candidates.size()), b = below(candidates.size());
  return candidates[std::max(a, b)];
}

int Generator::pickBlock() {
  return pick([](const Type &t) { return !t.shape.empty(); }, [&] { return freshType(); });
}

/// Something to combine with `v`: of its element type, of a shape that
/// broadcasts to it.
int Generator::operandLike(int v) {
  Type type = typeOf(v);
  auto fits = [&](const Type &t) {
    if (t.element != type.element || t.shape.size() > type.shape.size())
      return false;
    size_t skip = type.shape.size() - t.shape.size();
    for (size_t d = 0; d < t.shape.size(); ++d)
      if (t.shape[d] != type.shape[d + skip] && t.shape[d] != 1)
        return false;
    return true;
  };
  return pick(fits, [&] {
    Type other = type;
    other.bound = isFloat(type.element) && type.bound ? 7 : 0;
    for (int64_t &size : other.shape)
      if (chance(20))
        size = 1;
    return other;
  });
}

int Generator::condition(const std::vector<int64_t> &shape) {
  return pick([&](const Type &t) { return t.element == Element::I1 && t.shape == shape; },
              [&] { return Type{Element::I1, shape, 0}; });
}

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

void Generator::arithmetic() {
  int a = pick([](const Type &t) { return t.element != Element::I1; },
               [&] {
                 Type t = freshType();
                 if (t.element == Element::I1)
                   t.element = Element::I32;
                 return t;
               });
  int b = operandLike(a);
  Type type = typeOf(a);
  bool swap = chance(50);
  const char *op;
  double bound = 0, x = typeOf(a).bound, y = typeOf(b).bound;
  if (isFloat(type.element)) {
    op = oneOf({"+", "-", "*"});
    if (x && y)
      bound = *op == '*' ? x * y : x + y;
  } else {
    op = oneOf({"+", "-", "*", "&", "|", "^"});
  }
  if (chance(25)) {
    // In IEEE fashion a NaN loses; bf16 gives fp32, which narrows back exactly.
    std::string f = chance(50) ? "tl.minimum({0}, {1})" : "tl.maximum({0}, {1})";
    if (type.element == Element::BF16)
      f += ".to(tl.bfloat16)";
    add(bounded(type, x && y ? std::max(x, y) : 0), "{r} = " + f, {a, b});
    return;
  }
  add(bounded(type, bound),
      std::string("{r} = ") + (swap ? "{1} " : "{0} ") + op + (swap ? " {0}" : " {1}"), {a, b});
}

void Generator::unary() {
  int a = pick([](const Type &t) { return t.element != Element::I1; },
               [&] { return Type{intElement(), freshShape(), 0}; });
  Type type = typeOf(a);
  if (isFloat(type.element)) {
    add(type, oneOf({"{r} = -{0}", "{r} = tl.abs({0})"}), {a});
    return;
  }
  unsigned bits = bitsOf(type.element);
  std::string amount = std::to_string(below(bits));
  add(type,
      oneOf<std::string>({"{r} = -{0}", "{r} = tl.abs({0})", "{r} = ~{0}", "{r} = {0} << " + amount,
                          "{r} = {0} >> " + amount, "{r} = {0} + 1", "{r} = {0} * 3"}),
      {a});
}

void Generator::compare() {
  int a = pick([](const Type &t) { return t.element != Element::I1; },
               [&] { return Type{floatElement(), freshShape(), 0}; });
  int b = operandLike(a);
  const char *op = oneOf({"<", "<=", ">", ">=", "==", "!="});
  add({Element::I1, typeOf(a).shape, 0}, std::string("{r} = {0} ") + op + " {1}", {a, b});
}

void Generator::logic() {
  int a = pick([](const Type &t) { return t.element == Element::I1; },
               [&] { return Type{Element::I1, freshShape(), 0}; });
  int b = condition(typeOf(a).shape);
  add(typeOf(a), oneOf({"{r} = {0} & {1}", "{r} = {0} | {1}", "{r} = {0} ^ {1}", "{r} = ~{0}"}),
      {a, b});
}

void Generator::choose() {
  int a = pickBlock(), b = operandLike(a), c = condition(typeOf(a).shape);
  double x = typeOf(a).bound, y = typeOf(b).bound;
  add(bounded(typeOf(a), x && y ? std::max(x, y) : 0), "{r} = tl.where({2}, {0}, {1})", {a, b, c});
}

void Generator::cast() {
  int a = pickBlock();
  Type type = typeOf(a);
  Element from = type.element;
  Element to = chance(50) ? intElement() : floatElement();
  bool whole = !isFloat(from) || type.bound;
  if (isFloat(from) && !isFloat(to)) {
    // Only what fits is defined.
    double limit = std::ldexp(1.0, int(bitsOf(to)) - 1) - 1;
    if (!type.bound || type.bound > limit || !isSigned(to))
      to = isFloat(from) && from != Element::F32 ? Element::F32 : Element::F64;
  }
  double bound = isFloat(from)         ? type.bound
                 : from == Element::I1 ? 1
                                       : std::ldexp(1.0, int(bitsOf(from)));
  type.element = to;
  add(isFloat(to) && whole ? bounded(type, bound) : Type{to, type.shape, 0},
      std::string("{r} = {0}.to(tl.") + spelling(to) + ")", {a});
}

void Generator::division() {
  int a = pick([](const Type &t) { return !isFloat(t.element) && t.element != Element::I1; },
               [&] { return Type{intElement(), freshShape(), 0}; });
  int b = operandLike(a);
  add(typeOf(a),
      oneOf({"{r} = {0} // (({1} & 7) + 1)", "{r} = {0} % (({1} & 7) + 1)", "{r} = {0} // 16",
             "{r} = {0} % 3"}),
      {a, b});
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string listed(const std::vector<int64_t> &shape) {
  std::string text = "(";
  for (int64_t size : shape)
    text += std::to_string(size) + ", ";
  return text + ")";
}

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
      if (size == 1 && total * 4 <= kMaxElements) {
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
  int a = pick([](const Type &t) { return !t.shape.empty() && t.count() * 2 <= kMaxElements; },
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
  int a = pickBlock();
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

void Generator::scan() {
  int a = pick([](const Type &t) { return !t.shape.empty() && t.element != Element::I1; },
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
        return !t.shape.empty() && !isFloat(t.element) && t.element != Element::I1 &&
               t.shape.back() <= 64;
      },
      [&] { return Type{Element::I32, {4, 16}, 0}; });
  Type type = typeOf(a);
  if (type.shape.size() == 1 && chance(40)) {
    int64_t bins = isOdd ? 1 + int64_t(below(64)) : int64_t(1) << below(7);
    add({Element::I32, {bins}, 0}, "{r} = tl.histogram({0} & 31, " + std::to_string(bins) + ")",
        {a});
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
        return index.count() <= kMaxElements ? index : Type{Element::I32, type.shape, 0};
      });
  type.shape = typeOf(b).shape;
  add(type,
      "{r} = tl.gather({0}, ({1} & 4095) % " + std::to_string(length) + ", " +
          std::to_string(axis) + ")",
      {a, b});
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

void Generator::loop() {
  int a = pick([](const Type &t) { return !isFloat(t.element) && t.element != Element::I1; },
               [&] { return Type{Element::I32, freshShape(), 0}; });
  int b = operandLike(a);
  std::string body =
      oneOf({"{r} = {r} + {1}", "{r} = {r} * 3 + {1}",
             "{r} = tl.where({r} > {1}, {r} - {1}, {r} + 1)", "{r} = {r} ^ ({1} << 1)"});
  std::string count = oneOf({"0", "1", "3", "pid + 1", "5"});
  std::string text = "{r} = {0}\n";
  if (chance(25) && !typeOf(a).shape.empty())
    text += "t{r} = 0\nwhile t{r} < " + count + ":\n    " + body + "\n    t{r} += 1";
  else
    text += "for i in range(0, " + count + "):\n    " + body;
  if (chance(30))
    text += "\n    if i" + std::string(text.find("while") == std::string::npos ? "" : "d") +
            " > 1:\n        {r} = {r} - 1";
  if (text.find("while") != std::string::npos && text.find("if id") != std::string::npos)
    text = text.substr(0, text.find("\n    if id"));
  add(typeOf(a), text, {a, b});
}

void Generator::branch() {
  int a = pickBlock(), b = operandLike(a);
  Type type = typeOf(a);
  if (type.element == Element::I1)
    return;
  if (!typeOf(b).sameShape(type))
    return;
  double x = type.bound, y = typeOf(b).bound;
  std::string test = oneOf({"pid == 0", "pid % 2 == 1", "pid > 5"});
  add(bounded(type, x && y ? std::max(x, y) : 0),
      "if " + test + ":\n    {r} = {0}\nelse:\n    {r} = {1}", {a, b});
}

void Generator::map() {
  int a = pick([](const Type &t) { return t.element == Element::I32 || t.element == Element::F32; },
               [&] { return Type{Element::I32, freshShape(), 0}; });
  add(bounded(typeOf(a), typeOf(a).bound ? typeOf(a).bound + 3 : 0),
      "{r} = tl.map_elementwise(stepwise, {0})", {a});
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

//===----------------------------------------------------------------------===//
// All together
//===----------------------------------------------------------------------===//

Kernel Generator::run() {
  kernel.programs = int(oneOf({1, 1, 2, 3}));
  kernel.numWarps = int(oneOf({1, 2, 4, 4, 8}));
  isOdd = chance(40);
  input(freshType());
  size_t length = 4 + below(10);
  for (unsigned tries = 0; kernel.statements.size() < length && tries < 60; ++tries) {
    struct Choice {
      unsigned weight;
      void (Generator::*make)();
    };
    static constexpr Choice choices[] = {
        {18, &Generator::arithmetic}, {8, &Generator::unary},  {8, &Generator::compare},
        {4, &Generator::logic},       {8, &Generator::choose}, {10, &Generator::cast},
        {5, &Generator::division},    {16, &Generator::shape}, {8, &Generator::pairwise},
        {14, &Generator::reduce},     {8, &Generator::scan},   {4, &Generator::order},
        {6, &Generator::gather},      {6, &Generator::loop},   {5, &Generator::branch},
        {3, &Generator::map},         {4, &Generator::dot}};
    unsigned total = 0;
    for (const Choice &c : choices)
      total += c.weight;
    unsigned at = unsigned(below(total));
    for (const Choice &c : choices) {
      if (at < c.weight) {
        (this->*c.make)();
        break;
      }
      at -= c.weight;
    }
  }
  // What nothing else uses is stored; so is, now and then, something on the way.
  std::vector<bool> used(kernel.statements.size());
  for (const Statement &s : kernel.statements)
    for (int v : s.operands)
      used[v] = true;
  for (size_t v = 0; v < used.size(); ++v)
    if (!kernel.statements[v].isInput && (!used[v] || chance(15)))
      kernel.outputs.push_back(int(v));
  if (kernel.outputs.empty())
    kernel.outputs.push_back(int(kernel.statements.size()) - 1);
  return std::move(kernel);
}

tile::fuzz::Kernel fuzz::generate(uint64_t seed) { return Generator(seed).run(); }
