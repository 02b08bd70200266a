//===- SliceTest.cpp - whole kernels --------------------------------------===//
#include "SpecializeHelpers.h"

using namespace tile::test;

TEST(Slice, VectorAdd) {
  Outcome out =
      kernel("x: '*fp32:16', y: '*fp32:16', out: '*fp32:16', n: 'i32', B: tl.constexpr = 1024",
             "pid = tl.program_id(0)\n"
             "offs = pid * B + tl.arange(0, B)\n"
             "mask = offs < n\n"
             "a = tl.load(x + offs, mask=mask)\n"
             "b = tl.load(y + offs, mask=mask)\n"
             "tl.store(out + offs, a + b, mask=mask)");
  ASSERT_TRUE(out) << out.messages;
  EXPECT_TRUE(contains(out.ir, "func.func @k(%arg0: !tile.ptr<f32>"));
  EXPECT_TRUE(contains(out.ir, "tile.divisibility = 16 : i32"));
  EXPECT_TRUE(contains(out.ir, "tile.program_id 0 : i32"));
  EXPECT_TRUE(contains(out.ir, "tile.make_range 0 to 1024 : tensor<1024xi32>"));
  EXPECT_TRUE(contains(out.ir, "arith.cmpi slt"));
  EXPECT_TRUE(contains(out.ir, "arith.addf"));
  EXPECT_TRUE(contains(out.ir, "tile.store"));
  if (getenv("SHOW"))
    llvm::errs() << out.ir;
}
