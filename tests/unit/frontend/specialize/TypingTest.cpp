//===- TypingTest.cpp - promotion, literals, casts ------------------------===//
#include "SpecializeHelpers.h"
#include "frontend/specialize/Types.h"

using namespace tile;
using namespace tile::test;
using eval::DType;
using eval::PyValue;
using Kind = eval::DType::Kind;

//===----------------------------------------------------------------------===//
// The table itself
//===----------------------------------------------------------------------===//

/// The type of `a op b` for two tensors, by short names; "error" if there is none.
static std::string promoted(const char *a, const char *b, bool divOrMod = false) {
  std::string problem;
  auto type = specialize::promote({*DType::parse(a)}, {*DType::parse(b)}, divOrMod, problem);
  auto turned = specialize::promote({*DType::parse(b)}, {*DType::parse(a)}, divOrMod, problem);
  EXPECT_EQ(type, turned) << a << " and " << b;
  return type ? type->str() : "error";
}

TEST(Promotion, Floats) {
  for (const char *any : {"fp64", "fp32", "fp16", "bf16", "i8", "u64", "i1"})
    EXPECT_EQ(promoted("fp64", any), "fp64") << any;
  for (const char *any : {"fp32", "fp16", "bf16", "i64", "u8", "i1"})
    EXPECT_EQ(promoted("fp32", any), "fp32") << any;
  for (const char *any : {"fp16", "bf16", "i64", "u8", "i1"}) {
    EXPECT_EQ(promoted("fp16", any), "fp16") << any;
    EXPECT_EQ(promoted("fp16", any, /*divOrMod=*/true), "fp32") << any;
  }
  EXPECT_EQ(promoted("bf16", "bf16"), "bf16");
  EXPECT_EQ(promoted("bf16", "bf16", true), "fp32");
  EXPECT_EQ(promoted("bf16", "i32"), "fp32");
  EXPECT_EQ(promoted("fp8e5", "fp8e5"), "fp8e5");
  EXPECT_EQ(promoted("fp8e5", "fp8e4nv"), "fp16");
  EXPECT_EQ(promoted("fp8e5", "i32"), "error");
}

TEST(Promotion, Integers) {
  EXPECT_EQ(promoted("i8", "i32"), "i32");
  EXPECT_EQ(promoted("u8", "u16"), "u16");
  EXPECT_EQ(promoted("u32", "i32"), "u32");
  EXPECT_EQ(promoted("u32", "i64"), "i64");
  EXPECT_EQ(promoted("u64", "i8"), "u64");
  EXPECT_EQ(promoted("u32", "i32", true), "error");
  EXPECT_EQ(promoted("i1", "i1"), "i1");
  EXPECT_EQ(promoted("i1", "u8"), "u8");
  EXPECT_EQ(promoted("i1", "i16"), "i16");
  EXPECT_EQ(promoted("i1", "i16", true), "error");
  EXPECT_EQ(promoted("*fp32", "fp32"), "error");
}

static std::string weak(PyValue literal, const char *tensor, bool divOrMod = false) {
  std::string problem;
  auto type = specialize::promote({*specialize::naturalType(literal), &literal},
                                  {*DType::parse(tensor)}, divOrMod, problem);
  return type ? type->str() : problem;
}

TEST(Promotion, LiteralsAreWeak) {
  EXPECT_EQ(weak(PyValue::number(0.5), "fp16"), "fp16");
  EXPECT_EQ(weak(PyValue::number(0.5), "fp16", true), "fp32");
  EXPECT_EQ(weak(PyValue::number(1e300), "fp16"), "fp16");
  EXPECT_EQ(weak(PyValue::integer(2), "i8"), "i8");
  EXPECT_EQ(weak(PyValue::integer(2), "bf16"), "bf16");
  EXPECT_EQ(weak(PyValue::boolean(true), "u8"), "u8");
  // A literal of a higher kind takes part with its own type.
  EXPECT_EQ(weak(PyValue::number(0.5), "i64"), "fp32");
  EXPECT_EQ(weak(PyValue::integer(2), "i1"), "i32");
  EXPECT_EQ(weak(PyValue::integer(300), "i8"), "literal 300 is out of range for i8");
  EXPECT_EQ(weak(PyValue::integer(-1), "u8"),
            "negative literal -1 beside a tensor of unsigned type u8");
}

TEST(Promotion, NaturalTypes) {
  auto natural = [](PyValue value) { return specialize::naturalType(value)->str(); };
  EXPECT_EQ(natural(PyValue::boolean(true)), "i1");
  EXPECT_EQ(natural(PyValue::integer(2147483647)), "i32");
  EXPECT_EQ(natural(PyValue::integer(2147483648)), "u32");
  EXPECT_EQ(natural(PyValue::integer(4294967296)), "i64");
  EXPECT_EQ(natural(PyValue::integer(-2147483649)), "i64");
  EXPECT_EQ(natural(PyValue::integerUnsigned(UINT64_MAX)), "u64");
  EXPECT_EQ(natural(PyValue::number(0.1)), "fp32");
  EXPECT_EQ(natural(PyValue::number(1e300)), "fp64");
  EXPECT_EQ(natural(PyValue::number(HUGE_VAL)), "fp32");
}

TEST(Shapes, Limits) {
  std::string problem;
  EXPECT_TRUE(specialize::checkShape({1024, 1024}, problem));
  EXPECT_FALSE(specialize::checkShape({1024, 2048}, problem));
  EXPECT_TRUE(contains(problem, "at most 1048576 elements"));
  EXPECT_TRUE(specialize::checkShape({96, 3}, problem));
  EXPECT_FALSE(specialize::checkShape({1025, 1024}, problem));
  EXPECT_TRUE(contains(problem, "rounded up to powers of two"));
  EXPECT_FALSE(specialize::checkShape({0}, problem));
  EXPECT_FALSE(specialize::checkShape({int64_t(1) << 62, int64_t(1) << 62}, problem));
}

TEST(Shapes, Broadcast) {
  llvm::SmallVector<int64_t> shape;
  std::string problem;
  EXPECT_TRUE(specialize::broadcastShapes({64, 1}, {32}, shape, problem));
  EXPECT_EQ(shape, (llvm::SmallVector<int64_t>{64, 32}));
  EXPECT_FALSE(specialize::broadcastShapes({64, 16}, {32}, shape, problem));
  EXPECT_EQ(problem, "shapes [64, 16] and [32] do not broadcast: 16 and 32 in dimension 1");
}

//===----------------------------------------------------------------------===//
// In kernels
//===----------------------------------------------------------------------===//

/// Checks the type of an expression by asserting it at compile time.
static void expectType(const std::string &expression, const std::string &type) {
  Outcome out =
      kernel("h: '*fp16', u: '*u32', b: '*i1', n: 'i32', m: 'i64'",
             "f16 = tl.load(h)\nu32 = tl.load(u)\nflag = tl.load(b)\n"
             "tl.static_assert((" +
                 expression + ").dtype == tl." + type + ", str((" + expression + ").dtype))");
  EXPECT_TRUE(out) << expression << "\n" << out.messages;
}

TEST(Typing, Operators) {
  expectType("f16 + 1.5", "float16");
  expectType("f16 / 2", "float32");
  expectType("f16 % 2.0", "float32");
  expectType("n / m", "float32");
  expectType("n // 3", "int32");
  expectType("n + m", "int64");
  expectType("n + 0.5", "float32");
  expectType("u32 + n", "uint32");
  expectType("u32 + m", "int64");
  expectType("flag + 1", "int32");
  expectType("flag & (n > 0)", "int1");
  expectType("-f16", "float16");
  expectType("~n", "int32");
  expectType("not n", "int1");
  expectType("n < m", "int1");
  expectType("1 << u32", "uint32");
  expectType("tl.float64(n)", "float64");
  expectType("tl.float16(1.5)", "float16");
}

TEST(Typing, LiteralsTakeFullPartInComparisonsAndExtrema) {
  expectType("tl.maximum(f16, 0.0)", "float32");
  expectType("tl.where(n > 0, f16, 0.0)", "float16");
  Outcome out = kernel("h: '*fp16', o: '*i1'", "tl.store(o, tl.load(h) > 0.5)");
  EXPECT_TRUE(contains(out.ir, "arith.extf"));
  EXPECT_TRUE(contains(out.ir, "arith.cmpf ogt"));
  out = kernel("u: '*u32', o: '*i1'", "tl.store(o, tl.load(u) < -1)");
  EXPECT_TRUE(contains(out.ir, "arith.cmpi ult"));
}

TEST(Typing, AssignmentDecaysLiterals) {
  expectType("[c for c in [f16] for d in [2.0]][0] * 2.0", "float16");
  Outcome out = kernel("h: '*fp16'", "scale = 2.0\nr = tl.load(h) * scale\n"
                                     "tl.static_assert(r.dtype == tl.float32)");
  EXPECT_TRUE(out) << out.messages;
  out = kernel("h: '*fp16'", "scale: tl.constexpr = 2.0\nr = tl.load(h) * scale\n"
                             "tl.static_assert(r.dtype == tl.float16)");
  EXPECT_TRUE(out) << out.messages;
}

TEST(Typing, SignednessChoosesTheOperation) {
  Outcome out = kernel("u: '*u32', i: '*i32'", "a = tl.load(u)\nb = tl.load(i)\n"
                                               "tl.store(u, (a // 3) + (a % 3) + (a >> 1))\n"
                                               "tl.store(i, (b // 3) + (b % 3) + (b >> 1))");
  for (const char *op : {"divui", "remui", "shrui", "divsi", "remsi", "shrsi"})
    EXPECT_TRUE(contains(out.ir, op));
}

TEST(Typing, Casts) {
  auto cast = [](const char *from, const char *to) {
    return kernel(std::string("x: '*") + from + "', o: '*" + to + "'", "tl.store(o, tl.load(x))")
        .ir;
  };
  EXPECT_TRUE(contains(cast("fp16", "bf16"), "arith.extf"));
  EXPECT_TRUE(contains(cast("fp16", "bf16"), "arith.truncf"));
  EXPECT_TRUE(contains(cast("fp16", "i8"), "f16 to f32"));
  EXPECT_TRUE(contains(cast("fp32", "u8"), "arith.fptoui"));
  EXPECT_TRUE(contains(cast("u16", "i64"), "arith.extui"));
  EXPECT_TRUE(contains(cast("i1", "i32"), "arith.extui"));
  EXPECT_TRUE(contains(cast("fp32", "i1"), "arith.cmpf une"));
  EXPECT_TRUE(contains(cast("fp32", "fp8e5"), "tile.fp_cast"));
  EXPECT_TRUE(contains(cast("i32", "fp8e5"), "arith.sitofp"));
  EXPECT_TRUE(contains(cast("fp64", "fp8e5"), "f64 to f32"));
}

TEST(Typing, ExplicitCasts) {
  Outcome out = kernel("x: '*fp32', p: '*i8'",
                       "v = tl.load(x)\n"
                       "tl.store(x, v.to(tl.int32, bitcast=True).to(tl.float32, bitcast=True))\n"
                       "tl.store(p.to(tl.pointer_type(tl.float16)), "
                       "v.to(tl.float16, fp_downcast_rounding='rtz'))\n"
                       "tl.store(p, (x.to(tl.int64) % 16).to(tl.int8))");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "arith.bitcast"));
  EXPECT_TRUE(contains(out.ir, "tile.ptr_cast"));
  EXPECT_TRUE(contains(out.ir, "rtz : f32 -> f16"));
  EXPECT_TRUE(contains(out.ir, "tile.ptr_to_int"));
}

TEST(Typing, BooleansAreBytesInMemory) {
  Outcome out = kernel("b: '*i1', n: 'i32'", "tl.store(b, tl.load(b) & (n > 0))");
  EXPECT_TRUE(contains(out.ir, "tile.load %0 : !tile.ptr<i8>"));
  EXPECT_TRUE(contains(out.ir, "arith.cmpi ne"));
  EXPECT_TRUE(contains(out.ir, "arith.extui"));
}

TEST(Typing, UnsignedOffsetsAreWidened) {
  Outcome out = kernel("x: '*fp32', n: 'u32'", "tl.store(x + n, 1.0)");
  EXPECT_TRUE(contains(out.ir, "arith.extui %arg1 : i32 to i64"));
  EXPECT_TRUE(contains(out.ir, "tile.addptr %arg0, %0 : !tile.ptr<f32>, i64"));
}
