//===- GenerateElements.cpp - one element at a time -------------------------===//
#include "tests/fuzz/Generator.h"
#include <cmath>

using namespace tile;
using namespace tile::fuzz;

void Generator::arithmetic() {
  int a = pick([](const Type &t) { return t.element != Element::I1 && !isNarrowFloat(t.element); },
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
  int a = pick([](const Type &t) { return t.element != Element::I1 && !isNarrowFloat(t.element); },
               [&] { return Type{intElement(), freshShape(), 0}; });
  Type type = typeOf(a);
  if (isFloat(type.element)) {
    add(type, oneOf({"{r} = -{0}", "{r} = tl.abs({0})"}), {a});
    return;
  }
  unsigned bits = bitsOf(type.element);
  std::string amount = std::to_string(below(bits)), c = constantFor(type.element);
  add(type,
      oneOf<std::string>({"{r} = -{0}", "{r} = tl.abs({0})", "{r} = ~{0}", "{r} = {0} << " + amount,
                          "{r} = {0} >> " + amount, "{r} = {0} + " + c, "{r} = {0} * " + c,
                          "{r} = " + c + " - {0}"}),
      {a});
}

/// What addresses are made of: constants that meet again in sums and products.
void Generator::sums() {
  auto fits = [](const Type &t) { return !isFloat(t.element) && bitsOf(t.element) >= 32; };
  int a = pick(fits, [&] {
    return Type{oneOf({Element::I32, Element::I64, Element::U32, Element::U64}), freshShape(), 0};
  });
  int b = operandLike(a);
  Element element = typeOf(a).element;
  std::string c = constantFor(element), d = chance(50) ? c : constantFor(element);
  std::string k = std::to_string(1 + below(6));
  add(typeOf(a),
      "{r} = " +
          oneOf<std::string>(
              {"({0} + " + c + ") * " + d, "({0} * " + d + " + " + c + ") * " + d,
               "({0} - " + c + ") * " + d + " + " + c, c + " - ({0} + " + c + ") * " + d,
               "({0} + " + c + ") * " + d + " - {0} * " + d,
               "(({0} + " + c + ") << " + k + ") - " + c,
               "({0} + " + c + ") + ({0} + " + c + ") * " + c,
               "({0} * " + c + " + {1}) * " + d + " + " + c,
               "({0} + " + c + ") * ({1} + " + c + ")", "({0} + {1} * " + c + ") + {1} * " + c,
               "{0} * " + c + " + {1} * " + c + " + " + d,
               "({0} + " + c + " + {1}) * " + d + " - ({1} + " + d + ")"}),
      {a, b});
}

/// Functions that are rounded once, or not at all.
void Generator::exactFunction() {
  int a = pick([](const Type &t) { return t.element == Element::F32 || t.element == Element::F64; },
               [&] { return Type{Element::F32, freshShape(), chance(50) ? 7.0 : 0}; });
  int b = operandLike(a), c = operandLike(a);
  Type type = typeOf(a);
  double x = type.bound, y = typeOf(b).bound, z = typeOf(c).bound;
  if (chance(50)) {
    add(bounded(type, x && y && z ? x * y + z : 0), "{r} = tl.fma({0}, {1}, {2})", {a, b, c});
    return;
  }
  if (chance(50)) {
    add(type, oneOf({"{r} = tl.floor({0})", "{r} = tl.ceil({0})"}), {a});
    return;
  }
  type.bound = 0;
  if (type.element == Element::F32 && chance(60))
    add(type, oneOf({"{r} = tl.div_rn({0}, {1})", "{r} = tl.sqrt_rn(tl.abs({0}))"}), {a, b});
  else
    add(type, "{r} = tl.clamp({0}, -3.0, 5.0)", {a});
}

void Generator::compare() {
  int a = pick([](const Type &t) { return t.element != Element::I1 && !isNarrowFloat(t.element); },
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
  int a = pick([](const Type &t) { return !t.shape.empty() && !isNarrowFloat(t.element); },
               [&] { return freshType(); });
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
  std::string how = !isFloat(from) && !isFloat(to) && from != Element::I1 &&
                            bitsOf(from) == bitsOf(to) && chance(50)
                        ? ", bitcast=True"
                        : "";
  add(isFloat(to) && whole ? bounded(type, bound) : Type{to, type.shape, 0},
      std::string("{r} = {0}.to(tl.") + spelling(to) + how + ")", {a});
}

/// To an 8-bit float, or from one.
void Generator::narrow() {
  auto isSource = [](const Type &t) {
    return t.element == Element::F16 || t.element == Element::BF16 || t.element == Element::F32;
  };
  if (chance(50)) {
    int a = pick(isSource, [&] { return Type{Element::F32, freshShape(), 0}; });
    Type type = typeOf(a);
    bool towardsZero = chance(20);
    type.element = towardsZero || chance(50) ? Element::F8E5 : Element::F8E4;
    add(bounded(type, type.bound),
        std::string("{r} = {0}.to(tl.") + spelling(type.element) +
            (towardsZero ? ", fp_downcast_rounding=\"rtz\")" : ")"),
        {a});
    return;
  }
  int a =
      pick([](const Type &t) { return isNarrowFloat(t.element); },
           [&] {
             return Type{oneOf({Element::F8E5, Element::F8E4}), freshShape(), chance(50) ? 7.0 : 0};
           });
  Type type = typeOf(a);
  type.element = oneOf({Element::F16, Element::BF16, Element::F32});
  add(type, std::string("{r} = {0}.to(tl.") + spelling(type.element) + ")", {a});
}

/// No division by zero, and none of the lowest number by -1.
void Generator::division() {
  int a = pickInteger(), b = operandLike(a);
  Element element = typeOf(a).element;
  std::string op = chance(50) ? " // " : " % ";
  if (chance(40)) {
    add(typeOf(a),
        "{r} = {0}" + op + oneOf<std::string>({"(({1} & 7) + 1)", "16", "3", "7", "100"}), {a, b});
    return;
  }
  if (!isSigned(element)) {
    add(typeOf(a), "{r} = {0}" + op + "tl.where({1} == 0, 1, {1})", {a, b});
    return;
  }
  std::string lowest = "-" + std::to_string(uint64_t(1) << (bitsOf(element) - 1));
  std::string second = "(" + lowest + " + 1)";
  add(typeOf(a),
      "{r} = " + (chance(50)
                      ? "tl.maximum({0}, " + second + ").to(tl." + spelling(element) + ")" + op +
                            "tl.where({1} == 0, -1, {1})"
                      : "{0}" + op + "tl.where(({1} == 0) | ({1} == -1), " + lowest + ", {1})"),
      {a, b});
}

void Generator::shift() {
  int a = pickInteger(), b = operandLike(a);
  std::string amount = "({1} & " + std::to_string(bitsOf(typeOf(a).element) - 1) + ")";
  std::string c = constantFor(typeOf(a).element);
  add(typeOf(a),
      oneOf<std::string>({"{r} = {0} << " + amount, "{r} = {0} >> " + amount,
                          "{r} = ({0} >> " + amount + ") & " + c,
                          "{r} = ({0} << " + amount + ") | ({0} >> " + amount + ")"}),
      {a, b});
}

/// Numbers that all elements of a program share.
void Generator::scalar() {
  Element element = chance(50) ? Element::I64 : Element::I32;
  std::string c = constantFor(element);
  if (chance(40)) {
    int64_t value = oneOf<int64_t>({0, 1, 2, 5, 16, 48, 1024, -1, 100003});
    if (element == Element::I64 && chance(30))
      value <<= 33;
    argument(element, value);
    return;
  }
  std::string pid = element == Element::I64 ? "pid.to(tl.int64)" : "pid";
  add({element, {}, 0},
      "{r} = " + oneOf<std::string>({pid, "(" + pid + " + " + c + ") * " + c, pid + " * " + c,
                                     "tl.num_programs(0) - " + pid}),
      {});
}
