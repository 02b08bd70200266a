//===- BuiltinsTest.cpp - which operations the tl.* functions become ------===//
#include "SpecializeHelpers.h"

using namespace tile::test;

/// The kernel body is `v = <block of fp32>`, then `body`.
static std::string ir(const std::string &body) {
  Outcome out = kernel("x: '*fp32', i: '*i32', h: '*bf16', n: 'i32', B: tl.constexpr = 16",
                       "o = tl.arange(0, B)\nv = tl.load(x + o)\nk = tl.load(i + o)\n" + body,
                       "from triton.language.extra import libdevice\n\n");
  EXPECT_TRUE(out) << body << "\n" << out.messages;
  return out.ir;
}
/// The expression, stored, contains this operation.
static void expectOp(const std::string &expression, const std::string &part) {
  EXPECT_TRUE(contains(ir("tl.store(x + o, " + expression + ")"), part)) << expression;
}

TEST(Builtins, Programs) {
  expectOp("v + tl.program_id(1)", "tile.program_id 1 : i32");
  expectOp("v + tl.num_programs(2)", "tile.num_programs 2 : i32");
}

TEST(Builtins, Creation) {
  expectOp("tl.full([B], 2.5, tl.float32)", "dense<2.500000e+00> : tensor<16xf32>");
  expectOp("tl.full([B], n, tl.float32)", "arith.sitofp %arg3 : i32 to f32");
  expectOp("tl.zeros_like(v)", "dense<0.000000e+00> : tensor<16xf32>");
  expectOp("tl.arange(16, 32)", "tile.make_range 16 to 32");
}

TEST(Builtins, Elementwise) {
  for (const char *name :
       {"exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf", "floor", "ceil"})
    expectOp(std::string("tl.") + name + "(v)", std::string("math.") + name + " ");
  expectOp("tl.abs(v)", "math.absf");
  expectOp("tl.abs(k)", "math.absi");
  expectOp("tl.sqrt_rn(v)", "tile.sqrt_rn");
  expectOp("tl.div_rn(v, 3.0)", "tile.div_rn");
  expectOp("tl.fdiv(v, 3.0, ieee_rounding=True)", "tile.div_rn");
  expectOp("v / 3.0", "arith.divf");
  expectOp("tl.fma(v, v, 1.0)", "math.fma");
  expectOp("tl.umulhi(k, k)", "tile.umulhi");
  expectOp("tl.clamp(v, 0.0, 1.0)", "tile.clamp");
  expectOp("tl.clamp(v, 0.0, 1.0, tl.PropagateNan.ALL)", "propagate_nan");
  expectOp("tl.minimum(v, 0.0)", "arith.minnumf");
  expectOp("tl.maximum(v, 0.0, propagate_nan=tl.PropagateNan.ALL)", "arith.maximumf");
  expectOp("tl.maximum(k, 0)", "arith.maxsi");
  expectOp("tl.where(k > 0, v, 0.0)", "arith.select");
  expectOp("tl.sigmoid(v)", "math.exp");
  expectOp("tl.cdiv(k, 4)", "arith.divsi");
  expectOp("tl.math.exp(v)", "math.exp");
}

TEST(Builtins, Libdevice) {
  for (const char *name : {"tanh", "atan", "cosh", "log1p", "expm1", "cbrt", "trunc", "round"})
    expectOp(std::string("libdevice.") + name + "(v)", std::string("math.") + name + " ");
  expectOp("libdevice.rint(v)", "math.roundeven");
  expectOp("libdevice.pow(v, 2.5)", "math.powf");
  expectOp("libdevice.pow(v, 2.0)", "arith.mulf %3, %3");
  expectOp("libdevice.pow(v, 3)", "arith.mulf %9, %3");
  expectOp("libdevice.isnan(v)", "arith.cmpf une");
  expectOp("libdevice.popc(k)", "math.ctpop");
  expectOp("libdevice.ffs(k)", "math.ctlz");
  expectOp("libdevice.float_as_int(v)", "arith.bitcast");
}

TEST(Builtins, Shapes) {
  expectOp("tl.trans(tl.reshape(v, 4, 4)).reshape(16)", "tile.trans");
  expectOp("tl.reshape(v, (4, 4)).T.reshape([16])", "[1, 0] : tensor<4x4xf32>");
  expectOp("tl.view(v, (4, 4)).ravel()", "allow_reorder");
  expectOp("tl.expand_dims(v, -1).reshape(16)", "tensor<16x1xf32>");
  expectOp("v[None, :, None].reshape(16)", "tensor<1x16x1xf32>");
  expectOp("tl.broadcast_to(n, B)", "tile.splat");
  std::string text = ir("a, b = tl.split(tl.reshape(v, 8, 2))\n"
                        "tl.store(x + o, tl.interleave(a, b) + tl.cat(a, b, dim=0))");
  EXPECT_TRUE(contains(text, "tile.split"));
  EXPECT_TRUE(contains(text, "tile.join"));
  EXPECT_TRUE(contains(text, "tile.trans %4 [1, 0]") || contains(text, "[1, 0] : tensor<8x2xf32>"));
}

// `:` keeps a dimension; a scalar has none to keep.
TEST(Builtins, IndexedScalars) {
  EXPECT_TRUE(
      contains(ir("tl.store(x + n[:, None] * 2 + n[None, :], 1.0)"), "tensor<1x!tile.ptr<f32>>"));
  EXPECT_TRUE(contains(ir("tl.store(x + o[:, None] + n[None, :], v[:, None])"),
                       "tensor<16x1x!tile.ptr<f32>>"));
  EXPECT_TRUE(contains(ir("tl.store(x + n[None, None], 1.0)"), "tensor<1x1x!tile.ptr<f32>>"));
  EXPECT_TRUE(contains(ir("tl.store(x + n[:], 1.0)"), "tile.addptr %arg0, %arg3"));
}

TEST(Builtins, Memory) {
  expectOp("tl.load(x + o, o < n, 0.0, cache_modifier='.cg', eviction_policy='evict_last')",
           "cache = cg evict = evict_last");
  expectOp("tl.load(x + o, volatile=True)", "is_volatile = true");
  // What is false leaves the choice open.
  EXPECT_FALSE(contains(ir("tl.load(x + o, cache_modifier=0, eviction_policy=False)"), "cache ="));
  EXPECT_FALSE(contains(ir("tl.load(x + o, cache_modifier=None)"), "cache ="));
  expectOp("tl.load(x + o, o < n, other=-float('inf'))", "dense<0xFF800000>");
  EXPECT_TRUE(contains(ir("tl.store(x + o[:, None], v[:, None], mask=o[:, None] < n)"),
                       "tensor<16x1x!tile.ptr<f32>>"));
}

TEST(Builtins, Atomics) {
  expectOp("tl.atomic_add(x + o, v)", "tile.atomic_rmw fadd acq_rel gpu");
  expectOp("tl.atomic_add(i + o, k, sem='relaxed', scope='sys')",
           "tile.atomic_rmw add relaxed sys");
  expectOp("tl.atomic_xchg(i + o, k, o < n)", "tile.atomic_rmw xchg");
  expectOp("tl.atomic_cas(i + o, k, k)", "tile.atomic_cas acq_rel gpu");
  // Float extrema are two integer atomics under complementary masks.
  std::string text = ir("tl.store(x + o, tl.atomic_max(x + o, v))");
  EXPECT_TRUE(contains(text, "tile.atomic_rmw max"));
  EXPECT_TRUE(contains(text, "tile.atomic_rmw umin"));
}

TEST(Builtins, Reductions) {
  expectOp("v + tl.sum(v)", "tile.reduce %3 {axis = 0 : i32} : tensor<16xf32> -> f32");
  expectOp("v + tl.max(v, axis=0)", "arith.maxnumf");
  expectOp("v + tl.min(k, axis=-1)", "arith.minsi");
  // The smallest, then the first of those that are equal to it.
  expectOp("v + tl.argmin(v, 0)", "arith.minnumf");
  expectOp("v + tl.argmin(v, 0)", "arith.minsi");
  expectOp("v + tl.argmax(v, 0, tie_break_left=False)", "arith.maxsi");
  expectOp("v + tl.sum(v > 0)", "arith.extui");
  expectOp("v + tl.sum(tl.reshape(v, 4, 4), axis=1, keep_dims=True).reshape(4).sum()", "4x1xf32");
  expectOp("v + tl.xor_sum(k)", "arith.xori");
  expectOp("tl.softmax(v)", "math.exp");
  expectOp("v + tl.softmax(v.to(tl.bfloat16))", "arith.extf"); // as wide as the maximum
  expectOp("tl.cumsum(v)", "tile.scan");
  expectOp("tl.cumprod(v, reverse=True)", "reverse = true");
  std::string text = ir("m, at = tl.max(v, 0, return_indices=True)\ntl.store(x, m + at)");
  EXPECT_TRUE(contains(text, "arith.maxnumf"));
  EXPECT_TRUE(contains(text, "arith.cmpf oeq"));
}

TEST(Builtins, ReductionsWidenWhatIsNarrow) {
  expectOp("v + tl.max(tl.load(h + o))", "bf16> to tensor<16xf32>");
  expectOp("v + tl.max(k.to(tl.uint8))", "arith.maxsi");
  expectOp("v + tl.sum(k.to(tl.int8))", "tensor<16xi8> to tensor<16xi32>");
  expectOp("v + tl.sum(v, dtype=tl.float64)", "tensor<16xf64> -> f64");
}

TEST(Builtins, Ordering) {
  // log2(16) * (log2(16) + 1) / 2 exchanges.
  std::string text = ir("tl.store(x + o, tl.sort(v))");
  size_t exchanges = 0;
  for (size_t at = text.find("tile.reduce"); at != std::string::npos;
       at = text.find("tile.reduce", at + 1))
    ++exchanges;
  EXPECT_EQ(exchanges, 10u);
  expectOp("tl.flip(v)", "arith.xori");
  expectOp("v + tl.sum(tl.topk(v, 4))", "tensor<1x4xi32>");
  expectOp("tl.histogram(k, 16)", "tile.histogram");
}

TEST(Builtins, PrivateHelpersOfTheReference) {
  expectOp("v + tl.reduce(v, 0, tl.standard._sum_combine)", "tile.reduce");
  expectOp("v + tl.arange(0, 1 << tl.standard._log2(16))", "tile.make_range");
  expectOp("v + tl.arange(0, tl.core._unwrap_if_constexpr(16))", "tile.make_range");
  EXPECT_TRUE(
      contains(ir("a, b = tl.reduce((v, o), 0, tl.standard._argmax_combine_tie_break_left)\n"
                  "tl.store(i + o, b)"),
               "tile.reduce"));
}

TEST(Builtins, Random) {
  expectOp("tl.rand(n, o)", "tile.umulhi");
  expectOp("tl.randn(n, o)", "math.cos");
  EXPECT_TRUE(contains(ir("a, b, c, d = tl.randint4x(n, o)\ntl.store(i + o, a ^ b ^ c ^ d)"),
                       "tile.umulhi"));
}

TEST(Builtins, Hints) {
  expectOp("v + tl.multiple_of(o, 16)", "tile.hint %0 {divisibility = array<i64: 16>}");
  expectOp("v + tl.max_contiguous(o, 16)", "contiguity = array<i64: 16>");
  expectOp("v + tl.max_constancy(o, [16])", "constancy = array<i64: 16>");
}

TEST(Builtins, Debugging) {
  EXPECT_TRUE(contains(ir("tl.device_print('v', v, hex=True)"), "tile.print \"v\" %3 {hex = true"));
  EXPECT_TRUE(contains(ir("tl.debug_barrier()"), "tile.barrier"));
  EXPECT_EQ(ir("tl.device_assert(n > 0, 'n')").find("tile.assert"), std::string::npos);
  tile::CompileOptions options;
  options.debug = true;
  Outcome out = specialize(
      prelude() + "@triton.jit\ndef k(n: 'i32'):\n    assert n > 0, 'positive'\n", options);
  EXPECT_TRUE(contains(out.ir, "tile.assert %0, \"positive\" : i1"));
}
