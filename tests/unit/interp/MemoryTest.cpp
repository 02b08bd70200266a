//===- MemoryTest.cpp - loads, stores, atomics, assertions, printing ------===//
#include "InterpTest.h"
#include "Reference.h"
#include <cstring>
#include <numeric>

using namespace tile::interp;
using namespace tile::interp::test;

namespace {

const char *gather = R"mlir(
func.func @k(%x: !tile.ptr<T>, %where: !tile.ptr<i32>, %masks: !tile.ptr<i8>, %q: !tile.ptr<T>) {
  %i = tile.make_range 0 to 16 : tensor<16xi32>
  %ws = tile.splat %where : !tile.ptr<i32> -> tensor<16x!tile.ptr<i32>>
  %wa = tile.addptr %ws, %i : tensor<16x!tile.ptr<i32>>, tensor<16xi32>
  %w = tile.load %wa : tensor<16x!tile.ptr<i32>>
  %ms = tile.splat %masks : !tile.ptr<i8> -> tensor<16x!tile.ptr<i8>>
  %ma = tile.addptr %ms, %i : tensor<16x!tile.ptr<i8>>, tensor<16xi32>
  %mv = tile.load %ma : tensor<16x!tile.ptr<i8>>
  %m = arith.trunci %mv : tensor<16xi8> to tensor<16xi1>
  %xs = tile.splat %x : !tile.ptr<T> -> tensor<16x!tile.ptr<T>>
  %xa = tile.addptr %xs, %w : tensor<16x!tile.ptr<T>>, tensor<16xi32>
  %other = arith.constant dense<OTHER> : tensor<16xT>
  %v = tile.load %xa, LOADMASK : tensor<16x!tile.ptr<T>>
  %qs = tile.splat %q : !tile.ptr<T> -> tensor<16x!tile.ptr<T>>
  %qa = tile.addptr %qs, %w : tensor<16x!tile.ptr<T>>, tensor<16xi32>
  tile.store %qa, %v, %m : tensor<16x!tile.ptr<T>>
  return
})mlir";

template <class T>
void checkAccess(const std::string &type, const std::string &otherText, T other) {
  for (bool consecutive : {true, false})
    for (int maskKind = 0; maskKind < 4; ++maskKind)
      for (bool withOther : {true, false}) {
        std::string text = replace(gather, "LOADMASK", withOther ? "%m, other %other" : "%m");
        for (const char *use : {"<T>", "xT>"})
          text = replace(text, use, replace(use, "T", type));
        text = replace(text, "OTHER", otherText);
        std::vector<T> x(64), q(64);
        std::vector<int32_t> where(16);
        std::vector<int8_t> mask(16);
        for (size_t k = 0; k < 64; ++k) {
          uint64_t bits = k * 0x0101010101010101ull + 1;
          std::memcpy(&x[k], &bits, sizeof(T));
        }
        for (int k = 0; k < 16; ++k) {
          where[k] = consecutive ? k + 3 : (k * 37 + 5) % 64;
          mask[k] = maskKind == 0 ? 0 : maskKind == 1 ? 1 : maskKind == 2 ? k < 7 : k % 3 == 1;
          // A masked lane may point anywhere.
          if (!mask[k] && !consecutive)
            where[k] = 0x7fffffff;
        }
        expectRuns(text, x, where, mask, q);
        std::vector<T> expected(64);
        for (int k = 0; k < 16; ++k)
          if (mask[k])
            expected[where[k]] = x[where[k]];
        auto bytes = [](const std::vector<T> &values) {
          return std::string_view(reinterpret_cast<const char *>(values.data()),
                                  values.size() * sizeof(T));
        };
        EXPECT_EQ(bytes(q), bytes(expected)) << type << " " << maskKind;
      }
}

TEST(Memory, MaskedGatherAndScatter) {
  checkAccess<uint8_t>("i8", "9", 9);
  checkAccess<uint16_t>("f16", "1.0", 0x3c00);
  checkAccess<float>("f32", "1.0", 1.0f);
  checkAccess<double>("f64", "1.0", 1.0);
}

TEST(Memory, MaskedLanesGiveOtherOrZero) {
  std::vector<int32_t> x = {10, 20, 30, 40}, r(4, -1), s(4, -1);
  std::string body = R"(
    %two = arith.constant dense<20> : tensor<4xi32>
    %m = arith.cmpi sgt, %x0, %two : tensor<4xi32>
    %o = arith.constant dense<77> : tensor<4xi32>
    %r = tile.load %x0_a, %m OTHER : tensor<4x!tile.ptr<i32>>)";
  expectRuns(blockKernel(4, {"i32"}, "i32", replace(body, "OTHER", ", other %o")), x, r);
  EXPECT_EQ(r, (std::vector<int32_t>{77, 77, 30, 40}));
  expectRuns(blockKernel(4, {"i32"}, "i32", replace(body, "OTHER", "")), x, s);
  EXPECT_EQ(s, (std::vector<int32_t>{0, 0, 30, 40}));
}

TEST(Memory, PointerArithmetic) {
  // Offsets of every width are signed and count elements; pointers to pointers
  // and casts between pointees work.
  std::vector<double> x(300);
  std::iota(x.begin(), x.end(), 0.0);
  std::vector<double *> table = {x.data() + 200};
  std::vector<double> r(4);
  expectRuns(R"mlir(
func.func @k(%table: !tile.ptr<!tile.ptr<f64>>, %q: !tile.ptr<f64>) {
  %p = tile.load %table : !tile.ptr<!tile.ptr<f64>>
  %a = arith.constant -100 : i8
  %p1 = tile.addptr %p, %a : !tile.ptr<f64>, i8
  %v1 = tile.load %p1 : !tile.ptr<f64>
  tile.store %q, %v1 : !tile.ptr<f64>
  %b = arith.constant 50 : i64
  %p2 = tile.addptr %p, %b : !tile.ptr<f64>, i64
  %v2 = tile.load %p2 : !tile.ptr<f64>
  %one = arith.constant 1 : i32
  %q1 = tile.addptr %q, %one : !tile.ptr<f64>, i32
  tile.store %q1, %v2 : !tile.ptr<f64>
  %i = tile.ptr_to_int %p : !tile.ptr<f64> -> i64
  %c16 = arith.constant 16 : i64
  %j = arith.addi %i, %c16 : i64
  %p3 = tile.int_to_ptr %j : i64 -> !tile.ptr<f64>
  %v3 = tile.load %p3 : !tile.ptr<f64>
  %q2 = tile.addptr %q1, %one : !tile.ptr<f64>, i32
  tile.store %q2, %v3 : !tile.ptr<f64>
  %p4 = tile.ptr_cast %p : !tile.ptr<f64> -> !tile.ptr<i8>
  %eight = arith.constant 24 : i32
  %p5 = tile.addptr %p4, %eight : !tile.ptr<i8>, i32
  %p6 = tile.ptr_cast %p5 : !tile.ptr<i8> -> !tile.ptr<f64>
  %v4 = tile.load %p6 : !tile.ptr<f64>
  %q3 = tile.addptr %q2, %one : !tile.ptr<f64>, i32
  tile.store %q3, %v4 : !tile.ptr<f64>
  return
})mlir",
             table, r);
  EXPECT_EQ(r, (std::vector<double>{100, 250, 202, 203}));
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

TEST(Atomic, KindsAndOldValues) {
  struct Case {
    const char *kind;
    int32_t memory, value, after;
  } cases[] = {{"add", 5, -7, -2}, {"max", -5, 3, 3},    {"max", 5, -3, 5},
               {"min", -5, 3, -5}, {"umax", -5, 3, -5},  {"umax", 1, 2, 2},
               {"umin", -5, 3, 3}, {"and", 12, 10, 8},   {"or", 12, 10, 14},
               {"xor", 12, 10, 6}, {"xchg", 12, 10, 10}, {"add", INT32_MAX, 1, INT32_MIN}};
  for (const Case &c : cases) {
    std::vector<int32_t> memory = {c.memory}, old(1);
    expectRuns("func.func @k(%p: !tile.ptr<i32>, %v: i32, %q: !tile.ptr<i32>) {\n%old = "
               "tile.atomic_rmw " +
                   std::string(c.kind) +
                   " relaxed gpu %p, %v : !tile.ptr<i32>\ntile.store %q, %old : "
                   "!tile.ptr<i32>\nreturn\n}",
               memory, c.value, old);
    EXPECT_EQ(memory[0], c.after) << c.kind;
    EXPECT_EQ(old[0], c.memory) << c.kind;
  }
}

const char *histogram = R"mlir(
func.func @k(%p: !tile.ptr<T>, %v: T) {
  %i = tile.make_range 0 to 64 : tensor<64xi32>
  %seven = arith.constant dense<7> : tensor<64xi32>
  %b = arith.remui %i, %seven : tensor<64xi32>
  %six = arith.constant dense<6> : tensor<64xi32>
  %m = arith.cmpi ne, %b, %six : tensor<64xi32>
  %ps = tile.splat %p : !tile.ptr<T> -> tensor<64x!tile.ptr<T>>
  %pa = tile.addptr %ps, %b : tensor<64x!tile.ptr<T>>, tensor<64xi32>
  %vs = tile.splat %v : T -> tensor<64xT>
  %old = tile.atomic_rmw fadd acq_rel gpu %pa, %vs, %m : tensor<64x!tile.ptr<T>>
  return
})mlir";

template <class T, class Decode> void checkFloatAtomics(const std::string &type, Decode decode) {
  std::string text = histogram;
  for (const char *use : {"<T>", "xT>", ": T"})
    text = replace(text, use, replace(use, "T", type));
  std::vector<T> bins(8);
  Report report = runText(text, Grid{20, 1, 1}, bins, 0.5);
  EXPECT_TRUE(report.ok());
  for (int k = 0; k < 8; ++k) {
    int lanes = k < 6 ? 64 / 7 + (k < 64 % 7) : 0;
    EXPECT_EQ(decode(bins[k]), 20 * lanes * 0.5) << type << " " << k;
  }
}
TEST(Atomic, FloatAdditionFromManyPrograms) {
  checkFloatAtomics<float>("f32", [](float v) { return double(v); });
  checkFloatAtomics<double>("f64", [](double v) { return v; });
  checkFloatAtomics<uint16_t>("f16", [](uint16_t v) { return halfFormat().decode(v); });
  checkFloatAtomics<uint16_t>("bf16", [](uint16_t v) { return bfloatFormat().decode(v); });
}

TEST(Atomic, CompareAndSwapIsBitwise) {
  std::vector<float> memory = {-0.0f, 0.0f}, old(2);
  expectRuns(R"mlir(
func.func @k(%p: !tile.ptr<f32>, %q: !tile.ptr<f32>) {
  %i = tile.make_range 0 to 2 : tensor<2xi32>
  %ps = tile.splat %p : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>>
  %pa = tile.addptr %ps, %i : tensor<2x!tile.ptr<f32>>, tensor<2xi32>
  %zero = arith.constant dense<0.0> : tensor<2xf32>
  %nine = arith.constant dense<9.0> : tensor<2xf32>
  %old = tile.atomic_cas acq_rel gpu %pa, %zero, %nine : tensor<2x!tile.ptr<f32>>
  %qs = tile.splat %q : !tile.ptr<f32> -> tensor<2x!tile.ptr<f32>>
  %qa = tile.addptr %qs, %i : tensor<2x!tile.ptr<f32>>, tensor<2xi32>
  tile.store %qa, %old : tensor<2x!tile.ptr<f32>>
  return
})mlir",
             memory, old);
  EXPECT_TRUE(std::signbit(memory[0])) << "-0 is not the bits of 0";
  EXPECT_EQ(memory[1], 9.0f);
  EXPECT_TRUE(std::signbit(old[0]));
  EXPECT_EQ(old[1], 0.0f);
}

//===----------------------------------------------------------------------===//
// Assertions and printing
//===----------------------------------------------------------------------===//

TEST(Debug, AssertStopsTheLaunch) {
  const char *text = R"mlir(
func.func @k(%q: !tile.ptr<i32>) {
  %pid = tile.program_id 0 : i32
  %i = tile.make_range 0 to 8 : tensor<8xi32>
  %s = tile.splat %pid : i32 -> tensor<8xi32>
  %t = arith.addi %i, %s : tensor<8xi32>
  %limit = arith.constant dense<10> : tensor<8xi32>
  %ok = arith.cmpi slt, %t, %limit : tensor<8xi32>
  tile.assert %ok, "too large" : tensor<8xi1>
  %p = tile.addptr %q, %pid : !tile.ptr<i32>, i32
  tile.store %p, %pid : !tile.ptr<i32>
  return
})mlir";
  std::vector<int32_t> r(100, -1);
  Report report = runText(text, Grid{100, 1, 1}, r);
  ASSERT_EQ(report.findings.size(), 1u);
  const Finding &f = report.findings[0];
  EXPECT_EQ(f.kind, FindingKind::AssertFailed);
  EXPECT_EQ(f.program[0], 3u) << "the first program that fails, whichever thread ran it";
  EXPECT_EQ(f.lane, 7);
  EXPECT_EQ(f.place.line, 9u);
  EXPECT_NE(f.message.find("too large"), std::string::npos);
  for (int k = 3; k < 100; ++k)
    EXPECT_EQ(r[k], -1);
}

TEST(Debug, PrintsInProgramOrder) {
  const char *text = R"mlir(
func.func @k(%x: f32) {
  %pid = tile.program_id 0 : i32
  %i = tile.make_range 0 to 2 : tensor<2xi32>
  %s = tile.splat %pid : i32 -> tensor<2xi32>
  %t = arith.subi %i, %s : tensor<2xi32>
  %e = tile.expand_dims %t {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
  tile.print "v" %e {hex = false, is_signed = array<i1: true>} : tensor<1x2xi32>
  tile.print "h" %pid, %x {hex = true, is_signed = array<i1: true, true>} : i32, f32
  tile.print "f" %x {hex = false, is_signed = array<i1: true>} : f32
  return
})mlir";
  auto program = compile(text);
  ASSERT_TRUE(program);
  std::string printed;
  llvm::raw_string_ostream os(printed);
  RunOptions options;
  options.printTo = &os;
  Report report = program->run({2, 1, 1}, {Argument::real(1.5)}, options);
  EXPECT_TRUE(report.ok());
  EXPECT_EQ(printed, R"(pid (0, 0, 0) v[0, 0:2]: 0 1
pid (0, 0, 0) h: 0x00000000 0x3fc00000
pid (0, 0, 0) f: 1.500000
pid (1, 0, 0) v[0, 0:2]: -1 0
pid (1, 0, 0) h: 0x00000001 0x3fc00000
pid (1, 0, 0) f: 1.500000
)");
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

std::string refusal(const std::string &text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context(), "test.mlir");
  EXPECT_TRUE(module);
  std::string error;
  EXPECT_FALSE(Program::load(*module, {}, error));
  return error;
}

TEST(Refusal, NamesTheOperationAndItsPlace) {
  EXPECT_EQ(refusal("func.func @k(%a: i32) {\n  %b = arith.extsi %a : i32 to i128\n  return\n}"),
            "test.mlir:2:8: `arith.extsi`: values of type i128 are not supported");
}

TEST(Refusal, FunctionsToRun) {
  EXPECT_EQ(refusal("func.func private @k() {\n  return\n}"),
            "the module holds no public function");
  EXPECT_EQ(refusal("func.func @a() {\n  return\n}\nfunc.func @b() {\n  return\n}"),
            "the module holds several functions: say which one to run");
  EXPECT_NE(refusal("func.func @a() {\n  func.call @a() : () -> ()\n  return\n}")
                .find("recursive calls are not supported"),
            std::string::npos);
}

TEST(Refusal, WrongNumberOfArguments) {
  auto program = compile("func.func @k(%a: i32) {\n  return\n}");
  ASSERT_TRUE(program);
  Report report = program->run({}, {});
  ASSERT_EQ(report.findings.size(), 1u);
  EXPECT_EQ(report.findings[0].message, "`k` takes 1 arguments, but 0 were given");
}

} // namespace
