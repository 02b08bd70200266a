//===- BuiltinsDevice.cpp - libdevice: calls of the device library --------===//
//
// Functions that no dialect has an operation for: each is a call of the
// function of that name in the device library.
//
//===----------------------------------------------------------------------===//
#include "frontend/specialize/MathOps.h"
#include "text/Format.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

Tensor callLibrary(Specializer &s, StringRef name, ArrayRef<Tensor> args, const DType &result) {
  bool isSingle = llvm::any_of(args, [](auto &t) { return t.type.kind() == Kind::Float32; });
  std::string symbol = formatted("__tile_{}{}", name, isSingle ? "f" : "");
  SmallVector<Value> operands;
  for (const Tensor &t : args)
    operands.push_back(t.value);
  return {s.create<ExternElementwiseOp>(s.irType(result, args[0].shape()), symbol, "", operands,
                                        /*pure=*/true),
          result};
}

/// Floats of one type and shape; false after a report.
static bool floats(BuiltinCall &c, SmallVectorImpl<Tensor> &args) {
  for (unsigned i = 0; i < c.args.size(); ++i)
    args.push_back(fp32Or64(c, i));
  SmallVector<Tensor *> all;
  for (auto [i, t] : llvm::enumerate(args)) {
    if (!t)
      return false;
    if (t.type != args[0].type) {
      c.fail(formatted("the arguments must have one type, but {} is {} and {} is {}",
                       c.parameter(0), describe(c[0]), c.parameter(i), describe(c[i])));
      return false;
    }
    all.push_back(&t);
  }
  return c.s.broadcast(all);
}

static StringRef nameOf(BuiltinCall &c) { return StringRef(c.builtin.name).rsplit('.').second; }

static PyValue floatCall(BuiltinCall &c) {
  SmallVector<Tensor> args;
  if (!floats(c, args))
    return PoisonValue::get();
  return c.s.wrap(callLibrary(c.s, nameOf(c), args, args[0].type));
}

/// A function of one type only.
template <Kind kind> static PyValue typedCall(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  if (!x || x.type.kind() != kind)
    return x ? c.fail(formatted("needs {}, got {}", DType(kind).str(), describe(c[0])))
             : PoisonValue::get();
  StringRef name = nameOf(c);
  if (kind == Kind::Float32)
    name.consume_back("f");
  return c.s.wrap(callLibrary(c.s, name, x, x.type));
}

static PyValue exponentOf(BuiltinCall &c) {
  Tensor x = fp32Or64(c, 0);
  return x ? c.s.wrap(callLibrary(c.s, nameOf(c), x, Kind::Int32)) : PoisonValue::get();
}

/// One float and one int32, in this order or the other.
static PyValue mixedCall(BuiltinCall &c, unsigned floatIndex, StringRef name) {
  unsigned other = 1 - floatIndex;
  Tensor x = fp32Or64(c, floatIndex), n = c.tensor(other);
  if (!x || !n)
    return PoisonValue::get();
  if (!n.type.isInt() || n.type.bitWidth() > 32)
    return c.fail(formatted("{} must be int32, got {}", c.parameter(other), describe(c[other])));
  n = c.s.cast(n, Kind::Int32);
  if (!c.s.broadcast({&x, &n}))
    return PoisonValue::get();
  Tensor args[] = {floatIndex ? n : x, floatIndex ? x : n};
  return c.s.wrap(callLibrary(c.s, name, args, x.type));
}
static PyValue orderedCall(BuiltinCall &c) { return mixedCall(c, 1, nameOf(c)); }
static PyValue scaleByPower(BuiltinCall &c) { return mixedCall(c, 0, "ldexp"); }

/// The length of a vector, one component after the other.
static Tensor lengthOf(Specializer &s, ArrayRef<Tensor> parts) {
  Tensor length = parts[0];
  for (const Tensor &part : parts.drop_front())
    length = callLibrary(s, "hypot", {length, part}, length.type);
  return length;
}
static PyValue norm(BuiltinCall &c) {
  SmallVector<Tensor> args;
  return floats(c, args) ? c.s.wrap(lengthOf(c.s, args)) : PoisonValue::get();
}
static PyValue reciprocalNorm(BuiltinCall &c) {
  SmallVector<Tensor> args;
  if (!floats(c, args))
    return PoisonValue::get();
  Tensor one = c.s.floatConstant(1, args[0].type, args[0].shape());
  return c.s.wrap(divideFloats(c.s, one, lengthOf(c.s, args), /*exact=*/true));
}

/// 1 / sqrt(x), rounded once: in fp64, whose error the last rounding absorbs.
static PyValue exactReciprocalRoot(BuiltinCall &c) {
  Tensor x = c.tensor(0);
  if (!x || x.type.kind() != Kind::Float32)
    return x ? c.fail(formatted("needs fp32, got {}", describe(c[0]))) : PoisonValue::get();
  Specializer &s = c.s;
  Tensor wide = s.cast(x, Kind::Float64);
  Tensor root{s.create<SqrtRnOp>(wide.value), wide.type};
  Tensor one = s.floatConstant(1, wide.type, wide.shape());
  return s.wrap(s.cast(divideFloats(s, one, root, /*exact=*/true), Kind::Float32));
}

static void addRounded(BuiltinTable &t) {
  struct Row {
    const char *name, *parameters;
    bool nearest; ///< here, not among the operations of the dialects
  };
  for (Row row : {Row{"add", "x, y", true}, Row{"sub", "x, y", true}, Row{"mul", "x, y", true},
                  Row{"div", "x, y", false}, Row{"fma", "x, y, z", false}, Row{"rcp", "x", true},
                  Row{"sqrt", "x", false}})
    for (StringRef mode : {"rn", "rz", "rd", "ru"})
      if (mode != "rn" || row.nearest)
        t.add(formatted("libdevice.{}_{}", row.name, mode), row.parameters, floatCall);
  t.add("libdevice.rsqrt_rn", "x", exactReciprocalRoot);
}

void addDeviceBuiltins(BuiltinTable &t) {
  for (StringRef name : {"erfinv", "erfcinv", "erfcx", "normcdf", "normcdfinv", "lgamma", "tgamma",
                         "j0", "j1", "y0", "y1", "cyl_bessel_i0", "cyl_bessel_i1", "exp10", "logb"})
    t.add(("libdevice." + name).str(), "x", floatCall);
  for (StringRef name : {"hypot", "remainder"})
    t.add(("libdevice." + name).str(), "x, y", floatCall);
  t.add("libdevice.fast_exp10f", "x", typedCall<Kind::Float32>);
  t.add("libdevice.rcp64h", "x", typedCall<Kind::Float64>);
  t.add("libdevice.ilogb", "x", exponentOf);
  t.add("libdevice.jn", "n, x", orderedCall);
  t.add("libdevice.yn", "n, x", orderedCall);
  t.add("libdevice.ldexp", "x, n", scaleByPower);
  t.add("libdevice.scalbn", "x, n", scaleByPower);
  t.add("libdevice.norm3d", "a, b, c", norm);
  t.add("libdevice.norm4d", "a, b, c, d", norm);
  t.add("libdevice.rhypot", "x, y", reciprocalNorm);
  t.add("libdevice.rnorm3d", "a, b, c", reciprocalNorm);
  t.add("libdevice.rnorm4d", "a, b, c, d", reciprocalNorm);
  addRounded(t);
}

} // namespace tile::specialize
