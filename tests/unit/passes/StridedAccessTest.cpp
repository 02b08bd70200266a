//===- StridedAccessTest.cpp - index arithmetic read back -----------------===//
#include "passes/facts/StridedAccess.h"
#include "ParsedModule.h"
#include "passes/copies/TensorMaps.h"
#include <set>

using namespace mlir;
using namespace tile;
using tile::test::ParsedModule;

namespace {

//===----------------------------------------------------------------------===//
// Polynomials as text
//===----------------------------------------------------------------------===//

/// Arguments are p0, p1, ...; loop variables iv; other values by their op.
std::string nameOf(Value v) {
  if (auto arg = dyn_cast<BlockArgument>(v))
    return isa<func::FuncOp>(arg.getOwner()->getParentOp())
               ? "p" + std::to_string(arg.getArgNumber())
           : arg.getArgNumber() == 0 ? "iv"
                                     : "carried";
  return v.getDefiningOp()->getName().stripDialect().str();
}

std::string str(const Polynomial &p) {
  std::set<std::string> terms;
  for (const Polynomial::Term &t : p.terms()) {
    std::multiset<std::string> names;
    for (Value f : t.factors)
      names.insert(nameOf(f));
    std::string text = names.empty() || t.coefficient != 1 ? std::to_string(t.coefficient) : "";
    for (const std::string &name : names)
      text += (text.empty() ? "" : "*") + name;
    terms.insert(text);
  }
  std::string all;
  for (const std::string &term : terms)
    all += (all.empty() ? "" : " + ") + term;
  return all.empty() ? "0" : all;
}

std::string str(const std::optional<StridedBlock> &block) {
  if (!block)
    return "?";
  std::string text = str(block->start);
  for (const Polynomial &stride : block->strides)
    text += " | " + str(stride);
  for (const StridedBlock::Wrap &wrap : block->wraps)
    text +=
        " wrap " + std::to_string(wrap.dim) + ": " + str(wrap.index) + " % " + str(wrap.modulus);
  return text;
}

/// f(p0: pointer, p1: i32, p2: i32, p3: i32) { body }
std::string inFunction(StringRef body) {
  return R"(func.func @f(%p: !tile.ptr<f16> {tile.divisibility = 16 : i32},
    %a: i32 {tile.divisibility = 16 : i32}, %b: i32, %c: i32) {
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c64 = arith.constant 64 : i32
    %r = tile.make_range 0 to 64 : tensor<64xi32>
    %as = tile.splat %a : i32 -> tensor<64xi32>
    %bs = tile.splat %b : i32 -> tensor<64xi32>
    %twos = arith.constant dense<2> : tensor<64xi32>
    )" + body.str() +
         "\n return }";
}

std::string blockOf(StringRef body) {
  ParsedModule m(inFunction(body));
  StridedAnalysis analysis;
  return str(analysis.block(m.value()));
}

std::string pointersOf(StringRef body) {
  ParsedModule m(inFunction(body));
  StridedAnalysis analysis;
  std::optional<StridedPointers> p = analysis.pointers(m.value());
  return p ? nameOf(p->base) + ": " + str(p->offset) : "?";
}

std::string boundsOf(StringRef body) {
  ParsedModule m(inFunction(body));
  StridedAnalysis analysis;
  auto bounds = analysis.bounds(m.value());
  if (!bounds)
    return "?";
  std::string text;
  for (const Bound &b : *bounds)
    text += (text.empty() ? "" : ", ") + std::string("i") + std::to_string(b.dim) +
            (b.isLower ? " >= " : " < ") + str(b.limit);
  return text;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

TEST(Polynomial, IsARing) {
  ParsedModule m(inFunction("%h = arith.addi %a, %b {here} : i32"));
  Polynomial a = Polynomial::variable(m.function().getArgument(1));
  Polynomial b = Polynomial::variable(m.function().getArgument(2));
  Polynomial one = Polynomial::constant(1);
  EXPECT_EQ((a + b) * (a - b), a * a - b * b);
  EXPECT_EQ((a + one) * (a + one), a * a + a + a + one);
  EXPECT_EQ(a * b, b * a);
  EXPECT_TRUE((a - a).isZero());
  EXPECT_TRUE((a * Polynomial()).isZero());
  EXPECT_EQ(Polynomial().asConstant(), 0);
  EXPECT_EQ((one + one).asConstant(), 2);
  EXPECT_EQ(a.asConstant(), std::nullopt);
  EXPECT_EQ((a + one - a).asConstant(), 1);
}

/// Where values lie in memory says nothing: it differs from run to run.
TEST(Polynomial, FactorsKeepTheirOrder) {
  ParsedModule m(inFunction("%h = arith.addi %a, %b {here} : i32"));
  Value v = m.function().getArgument(1), w = m.function().getArgument(2);
  Polynomial a = Polynomial::variable(v), b = Polynomial::variable(w);
  EXPECT_EQ((a * b).terms().front().factors, (SmallVector<Value, 3>{v, w}));
  EXPECT_EQ((b * a).terms().front().factors, (SmallVector<Value, 3>{w, v}));
  EXPECT_NE(a * a * b, a * b * b);
  EXPECT_EQ(a * a * b, a * b * a);
}

TEST(Polynomial, DividesOnlyExactly) {
  ParsedModule m(inFunction("%h = arith.addi %a, %b {here} : i32"));
  Polynomial a = Polynomial::variable(m.function().getArgument(1));
  Polynomial p = Polynomial::constant(6) * a + Polynomial::constant(9);
  EXPECT_EQ(*p.dividedBy(3), Polynomial::constant(2) * a + Polynomial::constant(3));
  EXPECT_EQ(p.dividedBy(2), std::nullopt);
  EXPECT_EQ(p.dividedBy(0), std::nullopt);
  EXPECT_TRUE(Polynomial().dividedBy(7)->isZero());
}

TEST(StridedScalar, IsExpanded) {
  EXPECT_EQ(blockOf("%x = arith.addi %a, %b : i32\n %y = arith.subi %a, %b : i32\n"
                    "%h = arith.muli %x, %y {here} : i32"),
            "-1*p2*p2 + p1*p1");
}

TEST(StridedScalar, OfOtherOpsIsAVariable) {
  EXPECT_EQ(blockOf("%q = arith.divsi %a, %b : i32\n %m = arith.remsi %a, %b : i32\n"
                    "%s = arith.muli %q, %c64 : i32\n %h = arith.addi %s, %m {here} : i32"),
            "64*divsi + remsi");
}

TEST(StridedScalar, SeesThroughWideningCasts) {
  EXPECT_EQ(blockOf("%w = arith.extsi %a : i32 to i64\n %h = arith.addi %w, %w {here} : i64"),
            "2*p1");
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

const char rowsAndColumns[] = R"(
    %pid = tile.program_id 0 : i32
    %first = arith.muli %pid, %c64 : i32
    %firsts = tile.splat %first : i32 -> tensor<64xi32>
    %rows = arith.addi %firsts, %r : tensor<64xi32>
    %row = tile.expand_dims %rows {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %column = tile.expand_dims %r {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %a1 = tile.splat %a : i32 -> tensor<64x1xi32>
    %scaled = arith.muli %row, %a1 : tensor<64x1xi32>
    %x = tile.broadcast %scaled : tensor<64x1xi32> -> tensor<64x64xi32>
    %y = tile.broadcast %column : tensor<1x64xi32> -> tensor<64x64xi32>
    %sum = arith.addi %x, %y {here} : tensor<64x64xi32>
)";

TEST(StridedBlock, OfATile) { EXPECT_EQ(blockOf(rowsAndColumns), "64*p1*program_id | p1 | 1"); }

TEST(StridedBlock, FollowsTransposition) {
  EXPECT_EQ(
      blockOf(
          std::string(rowsAndColumns).replace(std::string(rowsAndColumns).find(" {here}"), 7, "") +
          "%h = tile.trans %sum [1, 0] {here} : tensor<64x64xi32> -> "
          "tensor<64x64xi32>"),
      "64*p1*program_id | 1 | p1");
}

TEST(StridedBlock, StartsWhereTheRangeDoes) {
  EXPECT_EQ(blockOf("%h = tile.make_range 16 to 32 {here} : tensor<16xi32>"), "16 | 1");
}

TEST(StridedBlock, IsNotGuessed) {
  EXPECT_EQ(blockOf("%h = arith.muli %r, %r {here} : tensor<64xi32>"), "?");
  EXPECT_EQ(blockOf("%h = arith.divsi %r, %twos {here} : tensor<64xi32>"), "?");
  EXPECT_EQ(blockOf("%h = arith.xori %r, %twos {here} : tensor<64xi32>"), "?");
  EXPECT_EQ(blockOf("%h = arith.maxsi %r, %as {here} : tensor<64xi32>"), "?");
}

//===----------------------------------------------------------------------===//
// Wraps
//===----------------------------------------------------------------------===//

TEST(StridedWrap, RemembersIndexAndModulus) {
  const std::string wrap = "%i = arith.addi %r, %bs : tensor<64xi32>\n"
                           "%w = arith.remsi %i, %as : tensor<64xi32>\n";
  EXPECT_EQ(blockOf(wrap + "%h = arith.muli %w, %bs {here} : tensor<64xi32>"),
            "p2*p2 | p2 wrap 0: p2 % p1");
  EXPECT_EQ(blockOf(wrap + "%h = tile.expand_dims %w {axis = 0 : i32, here} : tensor<64xi32> -> "
                           "tensor<1x64xi32>"),
            "p2 | 0 | 1 wrap 1: p2 % p1");
  EXPECT_EQ(blockOf(wrap + "%e = tile.expand_dims %w {axis = 0 : i32} : tensor<64xi32> -> "
                           "tensor<1x64xi32>\n"
                           "%h = tile.trans %e [1, 0] {here} : "
                           "tensor<1x64xi32> -> tensor<64x1xi32>"),
            "p2 | 1 | 0 wrap 0: p2 % p1");
}

TEST(StridedWrap, OfWhatDoesNotRunByOneIsRefused) {
  EXPECT_EQ(blockOf("%i = arith.muli %r, %twos : tensor<64xi32>\n"
                    "%h = arith.remsi %i, %as {here} : tensor<64xi32>"),
            "?");
  EXPECT_EQ(blockOf("%h = arith.remsi %as, %r {here} : tensor<64xi32>"), "?");
  EXPECT_EQ(blockOf("%h = arith.remui %r, %as {here} : tensor<64xi32>"), "?");
  EXPECT_EQ(blockOf("%w = arith.remsi %r, %as : tensor<64xi32>\n"
                    "%h = arith.remsi %w, %bs {here} : tensor<64xi32>"),
            "?");
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// for iv = lower to p2 step: carried x from `init`, passed on as `next`.
std::string loop(StringRef lower, StringRef step, StringRef next) {
  return ("%o = scf.for %iv = " + lower + " to %b step " + step +
          " iter_args(%x = %bs) -> (tensor<64xi32>) : i32 {\n"
          "%h = arith.addi %x, %r {here} : tensor<64xi32>\n" +
          next + "scf.yield %y : tensor<64xi32>\n}")
      .str();
}

TEST(StridedLoop, GainsInEveryIteration) {
  EXPECT_EQ(blockOf(loop("%c0", "%c1", "%y = arith.addi %x, %as : tensor<64xi32>\n")),
            "iv*p1 + p2 | 1");
}

TEST(StridedLoop, CountsFromTheLowerBound) {
  EXPECT_EQ(blockOf(loop("%c", "%c1", "%y = arith.addi %x, %as : tensor<64xi32>\n")),
            "-1*p1*p3 + iv*p1 + p2 | 1");
}

TEST(StridedLoop, DividesByTheStep) {
  EXPECT_EQ(blockOf(loop("%c0", "%c64",
                         "%g = arith.muli %a, %c64 : i32\n %gs = tile.splat %g : i32 -> "
                         "tensor<64xi32>\n %y = arith.addi %x, %gs : tensor<64xi32>\n")),
            "iv*p1 + p2 | 1");
  // 2 in each iteration of a step of 64: no polynomial with whole coefficients.
  EXPECT_EQ(blockOf(loop("%c0", "%c64", "%y = arith.addi %x, %twos : tensor<64xi32>\n")), "?");
  EXPECT_EQ(blockOf(loop("%c0", "%c", "%y = arith.addi %x, %twos : tensor<64xi32>\n")), "?");
}

TEST(StridedLoop, AddsUpSeveralSteps) {
  EXPECT_EQ(blockOf(loop("%c0", "%c1",
                         "%m = arith.addi %x, %as : tensor<64xi32>\n"
                         "%y = arith.addi %m, %twos : tensor<64xi32>\n")),
            "2*iv + iv*p1 + p2 | 1");
}

TEST(StridedLoop, WhatStaysIsConstant) {
  EXPECT_EQ(blockOf("%o = scf.for %iv = %c0 to %b step %c iter_args(%x = %bs) -> "
                    "(tensor<64xi32>) : i32 {\n"
                    "%h = arith.addi %x, %r {here} : tensor<64xi32>\n"
                    "scf.yield %x : tensor<64xi32>\n}"),
            "p2 | 1");
}

TEST(StridedLoop, AChangingGainIsRefused) {
  EXPECT_EQ(blockOf(loop("%c0", "%c1",
                         "%g = tile.splat %iv : i32 -> tensor<64xi32>\n"
                         "%y = arith.addi %x, %g : tensor<64xi32>\n")),
            "?");
  EXPECT_EQ(blockOf(loop("%c0", "%c1", "%y = arith.muli %x, %twos : tensor<64xi32>\n")), "?");
  EXPECT_EQ(blockOf(loop("%c0", "%c1", "%y = arith.remsi %x, %as : tensor<64xi32>\n")), "?");
}

/// The addend depends on the carried value itself.
TEST(StridedLoop, GrowthByItselfIsRefused) {
  EXPECT_EQ(blockOf(loop("%c0", "%c1", "%y = arith.addi %x, %x : tensor<64xi32>\n")), "?");
  EXPECT_EQ(blockOf(loop("%c0", "%c1", "%y = arith.addi %x, %h : tensor<64xi32>\n")), "?");
}

/// The order of an addition's operands says nothing.
TEST(StridedLoop, TheCarriedValueMayStandOnTheRight) {
  EXPECT_EQ(blockOf(loop("%c0", "%c1", "%y = arith.addi %as, %x : tensor<64xi32>\n")),
            "iv*p1 + p2 | 1");
}

TEST(StridedLoop, ExchangedValuesAreRefused) {
  EXPECT_EQ(blockOf("%o:2 = scf.for %iv = %c0 to %b step %c1 iter_args(%x = %bs, %y = %as) -> "
                    "(tensor<64xi32>, tensor<64xi32>) : i32 {\n"
                    "%h = arith.addi %x, %r {here} : tensor<64xi32>\n"
                    "scf.yield %y, %x : tensor<64xi32>, tensor<64xi32>\n}"),
            "?");
  // Through each other: neither is a base plus a gain.
  EXPECT_EQ(blockOf("%o:2 = scf.for %iv = %c0 to %b step %c1 iter_args(%x = %bs, %y = %as) -> "
                    "(tensor<64xi32>, tensor<64xi32>) : i32 {\n"
                    "%h = arith.addi %x, %y {here} : tensor<64xi32>\n"
                    "%z = arith.addi %y, %x : tensor<64xi32>\n"
                    "scf.yield %h, %z : tensor<64xi32>, tensor<64xi32>\n}"),
            "?");
}

TEST(StridedLoop, SubtractionIsANegativeGain) {
  EXPECT_EQ(blockOf(loop("%c0", "%c1", "%y = arith.subi %x, %as : tensor<64xi32>\n")),
            "-1*iv*p1 + p2 | 1");
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

TEST(StridedPointers, BaseAndOffset) {
  EXPECT_EQ(pointersOf("%q = tile.addptr %p, %a : !tile.ptr<f16>, i32\n"
                       "%qs = tile.splat %q : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>\n"
                       "%h = tile.addptr %qs, %r {here} : tensor<64x!tile.ptr<f16>>, "
                       "tensor<64xi32>"),
            "p0: p1 | 1");
}

TEST(StridedPointers, AdvanceInALoop) {
  EXPECT_EQ(pointersOf("%ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>\n"
                       "%o = scf.for %iv = %c0 to %b step %c2 iter_args(%x = %ps) -> "
                       "(tensor<64x!tile.ptr<f16>>) : i32 {\n"
                       "%h = tile.addptr %x, %r {here} : tensor<64x!tile.ptr<f16>>, "
                       "tensor<64xi32>\n"
                       "%y = tile.addptr %x, %twos : tensor<64x!tile.ptr<f16>>, tensor<64xi32>\n"
                       "scf.yield %y : tensor<64x!tile.ptr<f16>>\n}"),
            "p0: iv | 1");
}

TEST(StridedPointers, FromMemoryAreRefused) {
  EXPECT_EQ(pointersOf("%t = \"test.pointer\"() : () -> !tile.ptr<f16>\n"
                       "%h = tile.splat %t {here} : !tile.ptr<f16> -> tensor<64x!tile.ptr<f16>>"),
            "?");
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

TEST(StridedMask, ComparisonsAreBounds) {
  const std::string i = "%i = arith.addi %r, %bs : tensor<64xi32>\n";
  EXPECT_EQ(boundsOf(i + "%h = arith.cmpi slt, %i, %as {here} : tensor<64xi32>"),
            "i0 < -1*p2 + p1");
  EXPECT_EQ(boundsOf(i + "%h = arith.cmpi sle, %i, %as {here} : tensor<64xi32>"),
            "i0 < -1*p2 + 1 + p1");
  EXPECT_EQ(boundsOf(i + "%h = arith.cmpi sgt, %as, %i {here} : tensor<64xi32>"),
            "i0 < -1*p2 + p1");
  EXPECT_EQ(boundsOf(i + "%h = arith.cmpi sge, %as, %i {here} : tensor<64xi32>"),
            "i0 < -1*p2 + 1 + p1");
  EXPECT_EQ(boundsOf(i + "%h = arith.cmpi sge, %i, %as {here} : tensor<64xi32>"),
            "i0 >= -1*p2 + p1");
  EXPECT_EQ(boundsOf(i + "%h = arith.cmpi sgt, %i, %as {here} : tensor<64xi32>"),
            "i0 >= -1*p2 + 1 + p1");
}

TEST(StridedMask, ConjunctionsAndShapes) {
  const std::string two = "%l = arith.cmpi slt, %r, %as : tensor<64xi32>\n"
                          "%g = arith.cmpi sge, %r, %bs : tensor<64xi32>\n";
  EXPECT_EQ(boundsOf(two + "%h = arith.andi %l, %g {here} : tensor<64xi1>"), "i0 < p1, i0 >= p2");
  const std::string grid =
      two + "%m = tile.expand_dims %l {axis = 1 : i32} : tensor<64xi1> -> tensor<64x1xi1>\n"
            "%n = tile.expand_dims %g {axis = 0 : i32} : tensor<64xi1> -> tensor<1x64xi1>\n"
            "%mb = tile.broadcast %m : tensor<64x1xi1> -> tensor<64x64xi1>\n"
            "%nb = tile.broadcast %n : tensor<1x64xi1> -> tensor<64x64xi1>\n";
  EXPECT_EQ(boundsOf(grid + "%h = arith.andi %mb, %nb {here} : tensor<64x64xi1>"),
            "i0 < p1, i1 >= p2");
  EXPECT_EQ(boundsOf(grid + "%h = tile.trans %mb [1, 0] {here} : "
                            "tensor<64x64xi1> -> tensor<64x64xi1>"),
            "i1 < p1");
  EXPECT_EQ(boundsOf("%h = arith.constant {here} dense<true> : tensor<64xi1>"), "");
}

TEST(StridedMask, OtherConditionsAreRefused) {
  EXPECT_EQ(boundsOf("%h = arith.cmpi ult, %r, %as {here} : tensor<64xi32>"), "?");
  EXPECT_EQ(boundsOf("%h = arith.cmpi eq, %r, %as {here} : tensor<64xi32>"), "?");
  EXPECT_EQ(boundsOf("%h = arith.cmpi slt, %as, %bs {here} : tensor<64xi32>"), "?"); // all or none
  EXPECT_EQ(boundsOf("%i = arith.muli %r, %twos : tensor<64xi32>\n"
                     "%h = arith.cmpi slt, %i, %as {here} : tensor<64xi32>"),
            "?");
  EXPECT_EQ(boundsOf("%l = arith.cmpi slt, %r, %as : tensor<64xi32>\n"
                     "%g = arith.cmpi sge, %r, %bs : tensor<64xi32>\n"
                     "%h = arith.ori %l, %g {here} : tensor<64xi1>"),
            "?");
  // One element's bound, repeated over a dimension.
  EXPECT_EQ(boundsOf("%q = tile.make_range 0 to 1 : tensor<1xi32>\n"
                     "%b1 = tile.splat %b : i32 -> tensor<1xi32>\n"
                     "%l = arith.cmpi slt, %q, %b1 : tensor<1xi32>\n"
                     "%h = tile.broadcast %l {here} : tensor<1xi1> -> tensor<64xi1>"),
            "?");
}

//===----------------------------------------------------------------------===//
// What the launcher sees to
//===----------------------------------------------------------------------===//

TEST(StridedAnalysis, MaximumWithZeroIsTheNumberWhereTheLauncherSeesToIt) {
  const char body[] = "%d = arith.divsi %b, %c64 : i32\n"
                      "%m = arith.maxsi %d, %c0 : i32\n"
                      "%h = arith.addi %m, %c1 {here} : i32";
  ParsedModule m(inFunction(body));
  StridedAnalysis alone;
  EXPECT_EQ(str(alone.scalar(m.value())), "1 + maxsi");
  ArgumentSet arguments;
  NonNegative checks(/*checked=*/true, /*trusted=*/true, arguments);
  StridedAnalysis checked(&checks, &arguments);
  EXPECT_EQ(str(checked.scalar(m.value())), "1 + divsi");
  ASSERT_EQ(checked.taken().size(), 1u);
  EXPECT_EQ(nameOf(checked.taken().front()), "p2");
}

TEST(StridedAnalysis, MaximumWithZeroStaysWhereTheNumberMayBeNegative) {
  ParsedModule m(inFunction("%d = arith.subi %b, %c64 : i32\n"
                            "%h = arith.maxsi %d, %c0 {here} : i32"));
  ArgumentSet arguments;
  NonNegative checks(/*checked=*/true, /*trusted=*/true, arguments);
  StridedAnalysis checked(&checks, &arguments);
  EXPECT_EQ(str(checked.scalar(m.value())), "maxsi");
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Between arrays they are found, between numbers they are what was decided.
TEST(Choices, AreOpenUntilTheyAreDecided) {
  ParsedModule m(inFunction("%q = \"test.pointer\"() : () -> !tile.ptr<f16>\n"
                            "%is = arith.cmpi slt, %a, %b : i32\n"
                            "%array = arith.select %is, %p, %q : !tile.ptr<f16>\n"
                            "%n = arith.select %is, %b, %c : i32\n"
                            "%h = tile.addptr %array, %n {here} : !tile.ptr<f16>, i32"));
  StridedAnalysis open;
  EXPECT_FALSE(open.pointers(m.value()));
  arith::SelectOp choice = open.choiceBehind(m.value());
  ASSERT_TRUE(choice);
  EXPECT_EQ(nameOf(choice.getTrueValue()), "p0");
  for (bool holds : {true, false}) {
    StridedAnalysis::Decided decided;
    decided[choice.getCondition()] = holds;
    StridedAnalysis analysis(nullptr, nullptr, decided);
    EXPECT_FALSE(analysis.choiceBehind(m.value()));
    std::optional<StridedPointers> found = analysis.pointers(m.value());
    ASSERT_TRUE(holds || !found); // the second is no argument, nor computed of one
    if (holds) {
      EXPECT_EQ(nameOf(found->base), "p0");
      EXPECT_EQ(str(found->offset), "p2");
    }
  }
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Why the pointers `row * rowStride + column` cannot be copied by TMA, or "".
std::string reasonFor(StringRef row, StringRef rowStride, StringRef column, StringRef mask = "",
                      StringRef setUp = "") {
  std::string body = (setUp + "%m = " + row + "\n %n = " + column + R"(
    %me = tile.expand_dims %m {axis = 1 : i32} : tensor<64xi32> -> tensor<64x1xi32>
    %ne = tile.expand_dims %n {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %s = tile.splat )" +
                      rowStride +
                      R"( : i32 -> tensor<64x1xi32>
    %ms = arith.muli %me, %s : tensor<64x1xi32>
    %mb = tile.broadcast %ms : tensor<64x1xi32> -> tensor<64x64xi32>
    %nb = tile.broadcast %ne : tensor<1x64xi32> -> tensor<64x64xi32>
    %off = arith.addi %mb, %nb : tensor<64x64xi32>
    %ps = tile.splat %p : !tile.ptr<f16> -> tensor<64x64x!tile.ptr<f16>>
    %h = tile.addptr %ps, %off {here} : tensor<64x64x!tile.ptr<f16>>, tensor<64x64xi32>
    )" + mask)
                         .str();
  ParsedModule m(inFunction(body));
  StridedAnalysis analysis;
  Value maskValue;
  m.function().walk([&](Operation *op) {
    if (op->hasAttr("mask"))
      maskValue = op->getResult(0);
  });
  Reason reason;
  bool ok = bool(readTile(analysis, m.value(), maskValue, /*use=*/{}, reason));
  return ok ? std::string() : refusalOf(reason).why.str();
}

const char anyRow[] = "arith.addi %r, %bs : tensor<64xi32>";
const char fromZero[] = "tile.make_range 0 to 64 : tensor<64xi32>";

TEST(ReadTile, OfAMatrixWithKnownAlignment) { EXPECT_EQ(reasonFor(anyRow, "%a", fromZero), ""); }

TEST(ReadTile, NeedsAlignedStrides) {
  EXPECT_EQ(reasonFor(anyRow, "%b", fromZero),
            "a stride is not known to be a multiple of 16 bytes");
  EXPECT_EQ(reasonFor(anyRow, "%c2", fromZero),
            "a stride is not known to be a multiple of 16 bytes");
  EXPECT_EQ(reasonFor(anyRow, "%c1", fromZero), "two dimensions have stride one");
}

TEST(ReadTile, NeedsStridesKnownAtLaunch) {
  EXPECT_EQ(reasonFor(anyRow, "%v", fromZero, "",
                      "%d = tile.program_id 0 : i32\n %v = arith.muli %d, %c64 : i32\n"),
            "a stride is not a positive multiple of arguments");
}

TEST(ReadTile, NeedsAContiguousDimension) {
  EXPECT_EQ(reasonFor(anyRow, "%a", "arith.muli %r, %twos : tensor<64xi32>"),
            "a stride is not known to be a multiple of 16 bytes");
  EXPECT_EQ(reasonFor(anyRow, "%a", "arith.muli %r, %as : tensor<64xi32>"),
            "no dimension is contiguous");
}

TEST(ReadTile, NeedsAnAlignedStart) {
  EXPECT_EQ(reasonFor(fromZero, "%a", anyRow),
            "its contiguous dimension does not start at a multiple of 16 bytes");
  EXPECT_EQ(reasonFor(fromZero, "%a", "arith.addi %r, %as : tensor<64xi32>"), "");
}

TEST(ReadTile, NeedsANonNegativeStart) {
  EXPECT_EQ(reasonFor("arith.subi %r, %bs : tensor<64xi32>", "%a", fromZero),
            "its start may be negative");
  // ... unless the mask has it.
  EXPECT_EQ(reasonFor("arith.subi %r, %bs : tensor<64xi32>", "%a", fromZero,
                      "%z = arith.constant dense<0> : tensor<64x1xi32>\n"
                      "%l = arith.cmpi sge, %me, %z : tensor<64x1xi32>\n"
                      "%k = tile.broadcast %l {mask} : tensor<64x1xi1> -> tensor<64x64xi1>"),
            "");
}

TEST(ReadTile, NeedsBoundsKnownAtLaunch) {
  auto below = [](StringRef limit) {
    return ("%ls = tile.splat " + limit +
            " : i32 -> tensor<64x1xi32>\n"
            "%l = arith.cmpi slt, %me, %ls : tensor<64x1xi32>\n"
            "%k = tile.broadcast %l {mask} : tensor<64x1xi1> -> tensor<64x64xi1>")
        .str();
  };
  EXPECT_EQ(reasonFor(anyRow, "%a", fromZero, below("%c")), "");
  EXPECT_EQ(reasonFor(anyRow, "%a", fromZero, below("%d"), "%d = tile.program_id 0 : i32\n"),
            "its bounds are not known at launch");
}

TEST(ReadTile, NeedsAMaskOfRanges) {
  EXPECT_EQ(reasonFor(anyRow, "%a", fromZero,
                      "%z = arith.constant dense<0> : tensor<64x64xi32>\n"
                      "%k = arith.cmpi ne, %mb, %z {mask} : tensor<64x64xi32>"),
            "its mask is not a range along each dimension");
}

TEST(ReadTile, WrapsOnlyFromWhereItStarts) {
  EXPECT_EQ(reasonFor("arith.remsi %i, %as : tensor<64xi32>", "%a", fromZero, "",
                      "%i = arith.addi %r, %bs : tensor<64xi32>\n"),
            "");
  EXPECT_EQ(reasonFor("arith.addi %w, %bs : tensor<64xi32>", "%a", fromZero, "",
                      "%w = arith.remsi %r, %as : tensor<64xi32>\n"),
            "its indices wrap around in a way that is not understood");
}

} // namespace
