//===- SignatureTest.cpp - argument types and constexpr values ------------===//
#include "frontend/specialize/Signature.h"
#include "SpecializeHelpers.h"

using namespace tile;
using namespace tile::test;

static const char *source = R"(
import triton
import triton.language as tl

def not_a_kernel():
    pass

@triton.jit
def relu(v):
    return tl.maximum(v, 0.0)

@triton.jit
def k(x, y, n, B: tl.constexpr, ACTIVATION: tl.constexpr = None):
    v = tl.load(x + tl.arange(0, B)) + n
    if ACTIVATION is not None:
        v = ACTIVATION(v)
    tl.store(y + tl.arange(0, B), v)

@triton.jit
def named(t, o):
    tl.store(o, t.a + t.b[0] + tl.load(t[1][1]))

@triton.jit
def tuples(t, o, c):
    tl.store(o, t[0] + t[1][0] + tl.load(t[1][1]))
    if c is None:
        tl.store(o, 1.0)
    elif c == "twice":
        tl.store(o, 2.0)
)";

static Outcome compile(const char *kernel, const char *signature,
                       std::vector<std::pair<std::string, std::string>> constexprs = {}) {
  CompileOptions options;
  options.kernel = kernel;
  options.signature = signature;
  options.constexprs = std::move(constexprs);
  return test::specialize(source, options);
}

TEST(Signature, Split) {
  std::vector<std::string> entries;
  std::string problem;
  EXPECT_TRUE(specialize::splitSignature(
      "*fp32, (i32:16, *fp16), tensordesc<fp16[128,64]>, const=\"a,b\"", entries, problem));
  EXPECT_EQ(entries, (std::vector<std::string>{"*fp32", "(i32:16, *fp16)",
                                               "tensordesc<fp16[128,64]>", "const=\"a,b\""}));
  EXPECT_FALSE(specialize::splitSignature("(i32", entries, problem));
  EXPECT_FALSE(specialize::splitSignature("i32)", entries, problem));
}

TEST(Signature, Attributes) {
  Outcome out = compile("k", "*fp32:16,*kfp16,i32:16", {{"B", "64"}});
  EXPECT_FALSE(out) << "stores through a constant pointer";
  out = compile("k", "*kfp32:16, *fp16, i32:16", {{"B", "64"}});
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "%arg0: !tile.ptr<f32> {tile.divisibility = 16 : i32, "
                               "tile.sig_index = 0 : i64, tile.source_type = \"*kfp32\"}"));
  EXPECT_TRUE(contains(out.ir, "%arg1: !tile.ptr<f16> {tile.sig_index = 1 : i64"));
  EXPECT_TRUE(contains(out.ir, "%arg2: i32 {tile.divisibility = 16 : i32, tile.sig_index = 2"));
}

TEST(Signature, OnesAreFolded) {
  Outcome out = compile("k", "*fp32,*fp32,i32:1", {{"B", "64"}});
  ASSERT_TRUE(out) << out.messages;
  EXPECT_EQ(out.ir.find("%arg2"), std::string::npos);
}

TEST(Signature, TuplesAreFlattened) {
  Outcome out = compile("tuples", "(i32:16,(fp32,*fp32)),*fp32,none");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir,
                       "%arg0: i32 {tile.divisibility = 16 : i32, tile.sig_index = 0 : i64, "
                       "tile.sig_path = array<i64: 0>"));
  EXPECT_TRUE(contains(out.ir, "%arg2: !tile.ptr<f32> {tile.sig_index = 0 : i64, tile.sig_path = "
                               "array<i64: 1, 1>"));
  EXPECT_TRUE(contains(out.ir, "%arg3: !tile.ptr<f32> {tile.sig_index = 1 : i64"));
  EXPECT_TRUE(contains(out.ir, "1.000000e+00"));
}

TEST(Signature, TuplesMayHaveNames) {
  Outcome out = compile("named", "(a=i32,b=(fp32,*fp32)),*fp32");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "%arg2: !tile.ptr<f32> {tile.sig_index = 0 : i64, tile.sig_path = "
                               "array<i64: 1, 1>"));
  EXPECT_TRUE(compile("named", "Any( a = i32:1, b = (const=3,*fp32) ), *fp32"));
  EXPECT_TRUE(contains(compile("named", "(a=i32,*fp32),*fp32").messages,
                       "names some elements and others not"));
  EXPECT_TRUE(contains(compile("named", "(a=i32,c=i32),*fp32").messages, "has no attribute `b`"));
}

TEST(Signature, Constants) {
  Outcome out = compile("tuples", "(i32,(fp32,*fp32)),*fp32,const=\"twice\"");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "2.000000e+00"));
}

TEST(Signature, Functions) {
  Outcome out = compile("k", "*fp32,*fp32,i32", {{"B", "64"}, {"ACTIVATION", "@relu"}});
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "arith.maxnumf"));
  out = compile("k", "*fp32,*fp32,i32", {{"B", "64"}, {"ACTIVATION", "@rel"}});
  EXPECT_TRUE(contains(out.messages, "rel"));
}

TEST(Signature, WrongCount) {
  EXPECT_TRUE(contains(compile("k", "*fp32,*fp32", {{"B", "64"}}).messages,
                       "the signature has 2 entries, but `k` has 3 parameters that are not "
                       "constexpr (x, y, n)"));
}

TEST(Signature, Missing) {
  EXPECT_TRUE(contains(
      compile("k", "", {{"B", "64"}}).messages,
      "the types of parameters `x`, `y` and `n` are not known: annotate them, as "
      "in `x: \"*fp32\"` or `n: \"i32\"`, or give a signature (`--signature`) for (x, y, n)"));
}

TEST(Signature, MultiplesOfLessThanSixteen) {
  Outcome out = compile("k", "*fp32:8,*fp32,i32:4", {{"B", "64"}});
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "%arg0: !tile.ptr<f32> {tile.divisibility = 8 : i32, "));
  EXPECT_TRUE(contains(out.ir, "%arg2: i32 {tile.divisibility = 4 : i32, "));
}

TEST(Signature, BadEntries) {
  EXPECT_TRUE(contains(compile("k", "*fp33,*fp32,i32", {{"B", "64"}}).messages,
                       "signature entry 0: `*fp33` is not an argument type"));
  EXPECT_TRUE(contains(compile("k", "*fp32:12,*fp32,i32", {{"B", "64"}}).messages,
                       "`:12` means nothing for *fp32"));
  EXPECT_TRUE(contains(compile("k", "*fp32,*fp32,fp32:1", {{"B", "64"}}).messages,
                       "`:1` means nothing for fp32"));
  EXPECT_TRUE(
      contains(compile("k", "*fp32,*fp32,(i32", {{"B", "64"}}).messages, "missing at the end"));
}

TEST(Signature, DescriptorsAreNoPointers) {
  Outcome out = compile("k", "tensordesc<fp16[128,64]>,*fp32,i32", {{"B", "64"}});
  EXPECT_TRUE(contains(out.messages, "`+` is not defined for"));
}

// Defaults and annotations are read before there is a kernel to put code into.
TEST(Constexprs, RunTimeValuesAsDefaults) {
  EXPECT_TRUE(contains(kernel("x: '*fp32', B: tl.constexpr = tl.program_id(0)", "pass").messages,
                       "`tl.program_id` works on run-time values inside a kernel"));
  EXPECT_TRUE(contains(kernel("x: tl.program_id() * ''", "pass").messages,
                       "the type of parameter `x` is not known"));
  EXPECT_TRUE(contains(kernel("x: '*fp32', B: tl.constexpr = helper(3)", "pass",
                              "@triton.jit\ndef helper(a):\n    return a + 1\n\n")
                           .messages,
                       "`helper` is a kernel function"));
  EXPECT_TRUE(kernel("x: '*fp32', B: tl.constexpr = tl.cdiv(5, 2)", "tl.store(x, B)"));
}

TEST(Signature, ATypeBehindItsStarIsNamedTheRightWay) {
  EXPECT_TRUE(contains(compile("k", "fp32*,*fp32,i32", {{"B", "64"}}).messages,
                       "`fp32*` is not an argument type; did you mean `*fp32`?"));
  EXPECT_TRUE(
      contains(compile("k", "fp23*,*fp32,i32", {{"B", "64"}}).messages, "did you mean `*fp32`?"));
}

TEST(Constexprs, MissingUnknownAndMisplaced) {
  EXPECT_TRUE(
      contains(compile("k", "*fp32,*fp32,i32").messages, "constexpr parameter `B` has no value"));
  EXPECT_TRUE(
      contains(compile("k", "*fp32,*fp32,i32", {{"B", "64"}, {"ACTIVATIN", "null"}}).messages,
               "did you mean `ACTIVATION`?"));
  EXPECT_TRUE(contains(compile("k", "*fp32,*fp32,i32", {{"B", "64"}, {"n", "3"}}).messages,
                       "write `const=3` at its place in the signature"));
  for (const char *text : {"sixty", "1e", "0x10", "1.5.", "--1", "-"})
    EXPECT_TRUE(contains(compile("k", "*fp32,*fp32,i32", {{"B", text}}).messages,
                         (llvm::Twine("`") + text + "` is not a value").str()));
}

TEST(Kernels, ChosenByName) {
  EXPECT_TRUE(contains(compile("kk", "").messages, "did you mean `k`?"));
  EXPECT_TRUE(contains(compile("not_a_kernel", "").messages,
                       "`not_a_kernel` is not a kernel: decorate it with `@triton.jit`"));
  EXPECT_TRUE(contains(compile("", "").messages, "several kernels"));
}

TEST(Kernels, AnnotationsGiveTypes) {
  Outcome out = kernel("x: tl.pointer_type(tl.float16), n: tl.int64, s: float, f: bool, z: 'u8'",
                       "tl.store(x, n + s + f + z)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "%arg1: i64"));
  EXPECT_TRUE(contains(out.ir, "%arg2: f32"));
  EXPECT_TRUE(contains(out.ir, "%arg3: i1"));
  EXPECT_TRUE(contains(out.ir, "tile.source_type = \"u8\""));
  EXPECT_TRUE(contains(kernel("x: '*fp23'", "pass").messages, "`*fp23` is not an argument type"));
}

TEST(Constants, Values) {
  frontend::SourceFile file("c.tile", "import triton\n@triton.jit\ndef f():\n    pass\n");
  frontend::DiagnosticEngine diagnostics;
  ast::Module tree = frontend::parse(file, diagnostics);
  eval::Program program;
  eval::ModuleEnv &module = program.add(file, tree);
  auto read = [&](const char *text) {
    std::string problem;
    auto value = specialize::parseConstant(text, module, problem);
    return value ? eval::repr(*value) : "error";
  };
  EXPECT_EQ(read("128"), "128");
  EXPECT_EQ(read("-1"), "-1");
  EXPECT_EQ(read("123456789012345678901234567890"), "123456789012345678901234567890");
  EXPECT_EQ(read("0.5"), "0.5");
  EXPECT_EQ(read("2.0"), "2.0");
  EXPECT_EQ(read("1e3"), "1000.0");
  EXPECT_EQ(read("true"), "True");
  EXPECT_EQ(read("null"), "None");
  EXPECT_EQ(read("\"re\\nlu\""), "'re\\nlu'");
  EXPECT_EQ(read("[1, [2.0, \"x\"]]"), "(1, (2.0, 'x'))");
  EXPECT_EQ(read("inf"), "inf");
  EXPECT_EQ(read("-inf"), "-inf");
  EXPECT_EQ(read("nan"), "nan");
  EXPECT_EQ(read("tl.flot16"), "error");
  EXPECT_EQ(read("@g"), "error");
  EXPECT_EQ(read("[1"), "error");
  EXPECT_EQ(read("1 2"), "error");
  EXPECT_EQ(read(std::string(100, '[').c_str()), "error");
}
