//===- DiagnosticsTest.cpp - what users see when a kernel is wrong --------===//
#include "SpecializeHelpers.h"
#include "llvm/Support/FileSystem.h"

using namespace tile;
using namespace tile::test;

static Outcome run(const std::string &body) {
  return kernel("x: '*fp32', h: '*fp16', c: '*kfp32', n: 'i32', B: tl.constexpr = 16", body);
}
static void expectError(const std::string &body, const std::string &message) {
  Outcome out = run(body);
  EXPECT_FALSE(out) << body;
  EXPECT_TRUE(contains(out.messages, message)) << body;
}
static size_t errors(const Outcome &out) {
  size_t found = 0;
  for (size_t at = out.messages.find("error:"); at != std::string::npos;
       at = out.messages.find("error:", at + 1))
    ++found;
  return found;
}

TEST(Diagnostics, QuoteTheLineAndSuggest) {
  Outcome out = run("offsets = tl.arange(0, B)\ny = ofsets + 1");
  EXPECT_EQ(out.messages, "k.tile:7:9: error: unknown name `ofsets`; did you mean `offsets`?\n"
                          "    7 |     y = ofsets + 1\n"
                          "      |         ^~~~~~\n");
}

TEST(Diagnostics, SeveralErrorsInOneRun) {
  Outcome out = run("a = first + 1\nb = tl.arange(0, 0)\nc2 = tl.exp(tl.load(h))");
  EXPECT_EQ(errors(out), 3u) << out.messages;
}

TEST(Diagnostics, FollowUpErrorsAreSuppressed) {
  Outcome out = run("a = missing\nb = a + 1\nd = tl.load(a)\nfor i in range(a):\n    b += i\n"
                    "if a:\n    tl.store(x, b)\ntl.store(x, d)\ne, f = a");
  EXPECT_EQ(errors(out), 1u) << out.messages;
}

TEST(Diagnostics, RepetitionsAreSaidOnce) {
  Outcome out = run("for i in tl.static_range(4):\n    y = tl.load(h) // 2");
  EXPECT_EQ(errors(out), 1u) << out.messages;
}

TEST(Diagnostics, WhatGrowsWithoutEndIsRefused) {
  expectError("a = (n,)\nfor i in tl.static_range(60):\n    a = (a, a)",
              "this makes a tuple of more than 65536 values, those of tuples inside it counted "
              "each time: keep what is repeated once\n"
              "    8 |         a = (a, a)\n");
  expectError("a = (n,)\nfor i in tl.static_range(60):\n    a = a + a",
              "a tuple of more than 65536");
  expectError("a = (n,)\nfor i in tl.static_range(60):\n    a += a", "a tuple of more than 65536");
  expectError("a = n\nfor i in tl.static_range(300):\n    for j in tl.static_range(300):\n"
              "        a = a * n + j",
              "the kernel has more than 262144 operations here: use `range` for loops that run at "
              "run time, and call fewer functions in what is unrolled\n"
              "    8 |         for j in tl.static_range(300):\n");
}

TEST(Diagnostics, ExactlyAsManyTurnsAsMayBeUnrolled) {
  EXPECT_TRUE(run("for i in tl.static_range(100000):\n    pass"));
  expectError("for i in tl.static_range(50001):\n    pass\nfor i in tl.static_range(50000):\n"
              "    pass",
              "more than 100000 iterations are unrolled");
}

TEST(Diagnostics, AValueOnEveryPath) {
  const std::string helper = "@triton.jit\ndef f(a):\n";
  auto calling = [&](const std::string &body) {
    return kernel("x: '*fp32', n: 'i32'", "tl.store(x, f(n) * 1.0)", helper + body);
  };
  Outcome out = calling("    if a > 0:\n        return 1\n");
  EXPECT_TRUE(contains(out.messages, "`f` may reach its end without the value that it returns "
                                     "elsewhere, which Python makes None there: return a value on "
                                     "every path\n    5 | def f(a):\n"));
  EXPECT_FALSE(calling("    for i in range(a):\n        if i == 3:\n            return i\n"));
  EXPECT_FALSE(calling("    if a > 0:\n        return\n    return 1\n"));
  EXPECT_TRUE(calling("    if a > 0:\n        return 1\n    else:\n        return 2\n"));
  EXPECT_TRUE(
      calling("    while True:\n        a += 1\n        if a > 3:\n            return a\n"));
  EXPECT_TRUE(calling("    if tl.constexpr(True):\n        return 1\n"));
}

TEST(Diagnostics, ArgumentsOfBuiltinsAreNamed) {
  const std::string block = "v = tl.load(c + tl.arange(0, B))\n";
  expectError(block + "y = tl.max(v, 0, return_indices=n > 1)",
              "`tl.max`: `return_indices` must be known at compile time, got i1; pass it as a "
              "`tl.constexpr` parameter");
  expectError(block + "y = tl.reduce(v, 0, None)",
              "`tl.reduce`: `combine_fn` must be a function of two values, got None");
  expectError(block + "y = tl.associative_scan(v, 0, n)",
              "`tl.associative_scan`: `combine_fn` must be a function of two values, got i32");
  expectError("y = [i for i in range(n)]",
              "`range` needs integers known at compile time, got `tensor` i32");
}

TEST(Diagnostics, Operators) {
  expectError("y = x + x", "`+` is not defined for *fp32 and *fp32");
  expectError("y = x * 2", "only `pointer + integer` and `pointer - integer` are");
  expectError("y = x + 1.5", "`+` is not defined for *fp32 and fp32");
  expectError("y = x < x", "convert pointers with `.to(tl.int64)`");
  expectError("y = tl.load(x) // 2", "`//` needs integers, got fp32; use `tl.floor(x / y)`");
  expectError("y = tl.load(x) & 1", "`&` needs integers");
  expectError("y = ~tl.load(x)", "unary `~` is not defined for fp32");
  expectError("y = -x", "unary `-` is not defined for *fp32");
  expectError("y = n ** 2", "`**` is not defined for tensors");
  expectError("y = n @ n", "use `tl.dot(a, b)`");
  expectError("y = 'a' + n", "`+` is not defined for str 'a' and i32");
  expectError("y = tl.arange(0, 16) + tl.arange(0, 32)",
              "shapes [16] and [32] do not broadcast: 16 and 32 in dimension 0");
  expectError("y = tl.zeros([16], tl.float8e5) + tl.zeros([16], tl.float8e5)",
              "convert with `.to(tl.float16)`");
  expectError("y = n in (1, 2)", "`in` needs compile-time values, got i32");
}

TEST(Diagnostics, Shapes) {
  expectError("y = tl.zeros([0], tl.float32)",
              "dimension 0 of shape [0] is 0, but must be positive");
  expectError("y = tl.zeros([2048, 1024], tl.float32)", "at most 1048576 elements");
  expectError("y = tl.arange(0, 1024)[:, None] + tl.arange(0, 2048)[None, :]",
              "at most 1048576 elements");
  expectError("y = tl.reshape(tl.arange(0, 16), 4, 8)", "cannot reshape i32[16] of 16 elements");
  expectError("y = tl.broadcast_to(tl.arange(0, 16), (16, 16))", "add some with `x[None, :]`");
  expectError("y = tl.trans(tl.arange(0, 16))", "at least two dimensions");
  expectError("y = tl.permute(tl.zeros([2, 4], tl.int32), 0, 0)", "must be a permutation");
  expectError("y = tl.expand_dims(tl.arange(0, 16), 5)", "axis 5 is outside of -2 to 1");
  expectError("y = tl.arange(0, 16)[3]", "can only be indexed with `:` and `None`");
  expectError("y = n[0]", "can only be indexed with `:` and `None`");
  expectError("y = tl.split(tl.arange(0, 16))", "last dimension of 2");
  expectError("y = tl.sum(tl.arange(0, 16), axis=1)", "the dimensions are -1 to 0");
  expectError("y = tl.sum(n)", "needs a block, got the scalar i32");
  expectError("y = tl.arange(0, n)", "must be a compile-time integer, got i32");
  expectError("y = tl.arange(4, 4)", "`end` (4) must be greater than `start` (4)");
}

TEST(Diagnostics, Memory) {
  expectError("y = tl.load(n)", "`pointer` must be a pointer or a block of pointers, got i32");
  expectError("tl.store(c, 1.0)", "it points to constant memory");
  const char *cast = "what a cast has made of `c`, which points to constant memory";
  expectError("p = c.to(tl.int64).to(tl.pointer_type(tl.float32))\ntl.store(p + n, 1.0)", cast);
  expectError("p = c.to(tl.pointer_type(tl.int32), bitcast=True)\ntl.atomic_add(p, 1)", cast);
  expectError("p = c.to(tl.pointer_type(tl.float32), bitcast=True)\n"
              "for i in range(n):\n    tl.store(p, 1.0)\n    p += 1",
              cast);
  expectError("tl.store(x, tl.arange(0, 16))", "but the pointer is a scalar");
  expectError("y = tl.load(x, tl.arange(0, 16) < n)", "but the pointer is a scalar");
  expectError("y = tl.load(x, other=0.0)", "`other` has no meaning without `mask`");
  expectError("y = tl.load(x, cache_modifier='.wt')", "must be one of .ca, .cg, .cs, .cv");
  expectError("y = tl.load(x, eviction_policy='often')", "evict_first or evict_last");
  expectError("y = tl.load(x, padding_option='zero')", "need a block pointer");
  expectError("y = tl.atomic_max(h, 1.0)", "does not work on fp16");
  expectError("y = tl.atomic_add(x, 1.0, sem='strong')", "relaxed, acquire, release or acq_rel");
  expectError("y = tl.atomic_add(x, 1.0, scope='grid')", "gpu, cta or sys");
}

TEST(Diagnostics, MathTypes) {
  expectError("y = tl.exp(tl.load(h))", "convert with `.to(tl.float32)`");
  expectError("y = tl.clamp(n, 0, 1)", "use `tl.minimum` and `tl.maximum`");
  expectError("y = tl.umulhi(tl.load(x), 1)", "needs 32- or 64-bit integers");
  expectError("y = tl.fdiv(n, n)", "needs two floats of one type, got i32 and i32");
  expectError("y = n.to(tl.float8e4b8)", "the 8-bit floats it has are fp8e5, fp8e4nv");
  expectError("y = n.to('fp99')", "`dtype` must be a type such as `tl.float32`");
  expectError("y = tl.load(x).to(tl.float64, fp_downcast_rounding='rtz')", "only applies where");
  expectError("y = n.to(tl.int16, bitcast=True)", "cannot bitcast i32 (32 bits) to i16 (16 bits)");
  expectError("y = tl.float32(n, n)", "`tl.float32(x)` converts one value");
}

TEST(Diagnostics, Statements) {
  expectError("B[0] = 1", "blocks are immutable");
  expectError("x.y = 1", "only names and tuples of names can be assigned");
  expectError("def f():\n    pass", "move the definition to the top level");
  expectError("import math", "imports belong to the top level");
  expectError("raise ValueError()", "kernels have no exceptions");
  expectError("del n", "values live as long as they are needed");
  expectError("global n", "kernels cannot assign to names of the file");
  expectError("match n:\n    case 1:\n        pass", "use `if` and `elif`");
  expectError("for i in tl.range(n, num_stage=2):\n    pass", "did you mean `num_stages`?");
  expectError("for i in tl.range(n, num_stages=-1):\n    pass", "a compile-time integer from 0");
  expectError("for i in tl.range(n, flatten=3):\n    pass", "`flatten` must be True or False");
  expectError("p = tl.make_block_ptr(x, (n,), (1,), (0,), (16,), (0,))\ntl.advance(p, (16,))",
              "use the one it returns");
  expectError("a, b = 1, 2, 3", "cannot unpack 3 values into 2 names");
  expectError("(1, 2)[n]", "the index into tuple must be known at compile time");
  expectError("n()", "cannot be called");
  expectError("for i in range(n):\n    pass\nelse:\n    pass", "`for ... else` is not supported");
}

TEST(Diagnostics, TargetsDecideTheFloatsOf8Bits) {
  CompileOptions options;
  options.target = "sm_80";
  Outcome out =
      test::specialize(prelude() + "@triton.jit\ndef k(x: '*fp8e4nv'):\n    pass\n", options);
  EXPECT_TRUE(contains(out.messages, "fp8e4nv is not supported on sm_80"));
}

TEST(Diagnostics, UnsupportedIsNotWrong) {
  EXPECT_TRUE(run("for i in range(n):\n    pass\nelse:\n    pass").unsupported);
  EXPECT_TRUE(run("with tl.range(3):\n    pass").unsupported);
  EXPECT_FALSE(run("y = nothing").unsupported);
}

TEST(Diagnostics, ErrorsInImportedFilesOutliveTheCompilation) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tile-specialize", folder));
  std::string helper = (folder + "/helper.py").str();
  std::error_code failed;
  llvm::raw_fd_ostream(helper, failed)
      << "import triton\n@triton.jit\ndef twice(v):\n    return v * missing_factor\n";
  ASSERT_FALSE(failed);
  frontend::SourceFile file((folder + "/main.tile").str(),
                            prelude() + "from helper import twice\n\n@triton.jit\n"
                                        "def k(x: '*fp32'):\n    tl.store(x, twice(tl.load(x)))\n");
  frontend::DiagnosticEngine diagnostics;
  ast::Module tree = frontend::parse(file, diagnostics);
  std::vector<frontend::Dependency> imported;
  EXPECT_FALSE(frontend::specialize(context(), file, tree, {}, diagnostics, &imported));
  // What a cached result depends on: a package and helper.tile, which come first, are not there.
  ASSERT_EQ(imported.size(), 3u);
  for (const frontend::Dependency &first : llvm::ArrayRef(imported).drop_back())
    EXPECT_EQ(first.state, "absent") << first.path;
  EXPECT_TRUE(contains(imported[0].path + imported[1].path, "helper.tile"));
  EXPECT_TRUE(contains(imported[0].path + imported[1].path, "__init__"));
  EXPECT_TRUE(contains(imported[2].path, "helper.py"));
  EXPECT_EQ(imported[2].state, frontend::currentState(helper));
  std::string text = diagnostics.str();
  EXPECT_TRUE(contains(text, "helper.py:4:16: error: unknown name `missing_factor`"));
  EXPECT_TRUE(contains(text, "return v * missing_factor"));
  EXPECT_TRUE(contains(text, "main.tile:8:17: note: in the expansion of `twice` called here"));
  llvm::sys::fs::remove_directories(folder);
}
