//===- GenerateNumbers.cpp - edges of types, functions to the bit ------------===//
//
// Zeros of both signs, NaN, combiners that are not commutative, functions of libdevice that are
// rounded once, random numbers, inline PTX.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/Generator.h"

using namespace tile;
using namespace tile::fuzz;

static std::string toType(Element element, bool bits = false) {
  return std::string(".to(tl.") + spelling(element) + (bits ? ", bitcast=True)" : ")");
}

/// Which of two zeros an extremum gives, as bits.
void Generator::signedZeros() {
  int a = pick([](const Type &t) { return t.element == Element::I1 && !t.shape.empty(); },
               [&] { return Type{Element::I1, freshShape(), 0}; });
  int b = condition(typeOf(a).shape);
  Element element = oneOf({Element::F16, Element::BF16, Element::F32, Element::F32, Element::F64});
  Type type = typeOf(a);
  type.element = bitsOf(element) == 16   ? Element::I16
                 : bitsOf(element) == 32 ? Element::I32
                                         : Element::I64;
  std::string zeros = "x{r} = tl.where({0}, 0.0, -0.0)" + toType(element) + "\n";
  std::string others = "y{r} = tl.where({1}, -0.0, 0.0)" + toType(element) + "\n";
  std::string bits = toType(element) + toType(type.element, true);
  std::string nan = chance(50) ? ", propagate_nan=tl.PropagateNan.ALL" : "";
  std::string largest = oneOf({"max", "min"});
  switch (below(4)) {
  case 0: {
    size_t axis = below(type.shape.size());
    type.shape.erase(type.shape.begin() + axis);
    add(type, zeros + "{r} = tl." + largest + "(x{r}, " + std::to_string(axis) + ")" + bits, {a});
    return;
  }
  case 1:
    add(type, zeros + "{r} = tl.clamp(x{r}, -0.0, 0.0)" + bits, {a});
    return;
  case 2: {
    size_t axis = below(type.shape.size());
    add(type,
        zeros + "{r} = tl.associative_scan(x{r}" + toType(Element::F32) + ", " +
            std::to_string(axis) + ", larger)" + bits,
        {a});
    return;
  }
  default:
    add(type, zeros + others + "{r} = tl." + largest + "imum(x{r}, y{r}" + nan + ")" + bits,
        {a, b});
  }
}

/// NaN in what is compared and added.
void Generator::notNumbers() {
  int a = pick(
      [](const Type &t) {
        return !t.shape.empty() && t.bound &&
               (t.element == Element::F32 || t.element == Element::F64 ||
                t.element == Element::F16);
      },
      [&] { return Type{oneOf({Element::F16, Element::F32, Element::F64}), freshShape(), 7}; });
  int c = condition(typeOf(a).shape);
  Type type = typeOf(a);
  size_t axis = below(type.shape.size());
  double length = double(type.shape[axis]);
  std::string cast = toType(type.element), at = ", " + std::to_string(axis) + ")";
  std::string made = "x{r} = tl.where({1}, float(\"nan\"), {0})" + cast + "\n";
  if (chance(20)) {
    std::string nan = chance(50) ? ", propagate_nan=tl.PropagateNan.ALL)" : ")";
    type.bound = 0;
    add(type, made + "{r} = " + oneOf({"tl.maximum", "tl.minimum"}) + "({0}, x{r}" + nan + cast,
        {a, c});
    return;
  }
  if (chance(15)) {
    type.element = Element::I1;
    type.bound = 0;
    add(type, made + "{r} = " + oneOf({"x{r} == x{r}", "x{r} < {0}", "x{r} != {0}", "x{r} >= {0}"}),
        {a, c});
    return;
  }
  type.shape.erase(type.shape.begin() + axis);
  double bound = type.bound;
  type.bound = 0;
  if (chance(25) && bound * length <= exactLimit(type.element)) {
    add(type, made + "{r} = tl.sum(x{r}" + at + cast, {a, c});
    return;
  }
  if (chance(30)) {
    type.element = Element::I32;
    add(type, made + "{r} = " + oneOf({"tl.argmax", "tl.argmin"}) + "(x{r}" + at, {a, c});
    return;
  }
  add(type, made + "{r} = " + oneOf({"tl.max", "tl.min"}) + "(x{r}" + at + cast, {a, c});
}

/// What is combined in order.
void Generator::orderedReduce() {
  auto fits = [](const Type &t) {
    return !t.shape.empty() && !isFloat(t.element) && t.element != Element::I1 &&
           bitsOf(t.element) >= 32;
  };
  int a = pick(fits, [&] { return Type{oneOf({Element::I32, Element::I64}), freshShape(), 0}; });
  Type type = typeOf(a);
  size_t axis = below(type.shape.size());
  bool keep = chance(30);
  std::string at = ", " + std::to_string(axis) + ", ", tail = keep ? ", keep_dims=True)" : ")";
  Type same = typeOf(a);
  if (keep)
    type.shape[axis] = 1;
  else
    type.shape.erase(type.shape.begin() + axis);
  if (chance(40)) {
    add(type, "{r} = tl.reduce({0}" + at + oneOf({"first", "last"}) + tail, {a});
    return;
  }
  int b = pick([&](const Type &t) { return t.element == same.element && t.shape == same.shape; },
               [&] { return same; });
  add(type, "_, {r} = tl.reduce(({0}, {1})" + at + "affine" + tail, {a, b});
}

/// Functions of libdevice that have one right result.
void Generator::libdevice() {
  if (chance(50)) {
    bool wide = chance(30);
    Element element = wide ? Element::I64 : Element::I32;
    int a = pick([&](const Type &t) { return t.element == element; },
                 [&] { return Type{element, freshShape(), 0}; });
    int b = operandLike(a);
    std::string one = "libdevice." + oneOf<std::string>({"popc", "clz", "ffs"}) + "({0})";
    if (chance(40) || wide) {
      add({Element::I32, typeOf(a).shape, 0}, "{r} = " + one, {a});
      return;
    }
    add(typeOf(a),
        "{r} = " + oneOf<std::string>({"libdevice.brev({0})", "libdevice.hadd({0}, {1})",
                                       "libdevice.rhadd({0}, {1})", "libdevice.mulhi({0}, {1})",
                                       "libdevice.mul24({0} & 4095, {1} & 4095)",
                                       "libdevice.byte_perm({0}, {1}, {1} & 0x7777)",
                                       "tl.umulhi({0}, {1})"}),
        {a, b});
    return;
  }
  int a = pick([](const Type &t) { return t.element == Element::F32 || t.element == Element::F64; },
               [&] { return Type{Element::F32, freshShape(), 0}; });
  int b = operandLike(a), c = operandLike(a);
  Type type = typeOf(a);
  double bound = type.bound;
  type.bound = 0;
  if (chance(40)) {
    add(bounded(type, bound),
        "{r} = libdevice." +
            oneOf<std::string>({"trunc", "rint", "round", "nearbyint", "floor", "ceil", "abs"}) +
            "({0})",
        {a});
    return;
  }
  std::string mode = oneOf({"rn", "rz", "rd", "ru"});
  add(type,
      "{r} = libdevice." +
          oneOf<std::string>({"copysign({0}, {1})", "nextafter({0}, {1})", "fdim({0}, {1})",
                              "add_" + mode + "({0}, {1})", "sub_" + mode + "({0}, {1})",
                              "mul_" + mode + "({0}, {1})", "div_" + mode + "({0}, {1})",
                              "fma_" + mode + "({0}, {1}, {2})", "sqrt_" + mode + "(tl.abs({0}))"}),
      {a, b, c});
}

void Generator::randomNumbers() {
  int a = pick([](const Type &t) { return t.element == Element::I32; },
               [&] { return Type{Element::I32, freshShape(), 0}; });
  std::vector<int> operands{a};
  std::string seed = number(oneOf<int64_t>({0, 7, 123456789, -3}), operands);
  Type type = typeOf(a);
  if (chance(40)) {
    type.element = Element::F32;
    add(type, "{r} = tl.rand(" + seed + ", {0})", operands);
  } else if (chance(40)) {
    std::string names[] = {"_, _, _, {r}", "{r}, _, _, _", "_, {r}, _, _"};
    add(type,
        names[below(3)] + " = tl.randint4x(" + seed + ", {0})\n{r} = {r}" + toType(Element::I32),
        operands);
  } else {
    add(type, "{r} = tl.randint(" + seed + ", {0})" + toType(Element::I32), operands);
  }
}

/// Inline PTX; the interpreter runs what it means.
void Generator::inlineAsm() {
  int a = pick([](const Type &t) { return t.element == Element::I32; },
               [&] { return Type{Element::I32, freshShape(), 0}; });
  int b =
      pick([&](const Type &t) { return t.element == Element::I32 && t.shape == typeOf(a).shape; },
           [&] { return typeOf(a); });
  struct Form {
    const char *ptx, *plain;
  };
  static constexpr Form forms[] = {
      {"add.s32 $0, $1, $2;", "{0} + {1}"},    {"xor.b32 $0, $1, $2;", "{0} ^ {1}"},
      {"mul.lo.s32 $0, $1, $2;", "{0} * {1}"}, {"min.s32 $0, $1, $2;", "tl.minimum({0}, {1})"},
      {"and.b32 $0, $1, $2;", "{0} & {1}"},    {"sub.s32 $0, $1, $2;", "{0} - {1}"}};
  const Form &form = forms[below(std::size(forms))];
  int v = add(typeOf(a),
              std::string("{r} = tl.inline_asm_elementwise(\"") + form.ptx +
                  "\", \"=r,r,r\", [{0}, {1}], dtype=tl.int32, is_pure=True, pack=1)",
              {a, b});
  kernel.statements[v].plain = std::string("{r} = ") + form.plain;
}
