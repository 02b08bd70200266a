//===- TranslateTest.cpp - plain LLVM on the host -------------------------===//
//
// What needs no machine: calls, arithmetic, and what the translation says about
// a kernel.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Numbers.h"
#include "tests/unit/emulator/EmuTest.h"
#include <cmath>
#include <numeric>

using namespace tile::emu;

namespace {

/// p1[tid] = the %v that the body makes of %x = p0[tid].
std::string mapKernel(const std::string &type, const std::string &body,
                      const std::string &declarations = "") {
  return kernel("  %from = getelementptr " + type +
                    ", ptr addrspace(1) %p0, i32 %tid\n  %x = load " + type +
                    ", ptr addrspace(1) %from\n" + body + "  %to = getelementptr " + type +
                    ", ptr addrspace(1) %p1, i32 %tid\n  store " + type +
                    " %v, ptr addrspace(1) %to\n  ret void",
                2, declarations);
}

template <class T>
std::vector<T> mapElements(const std::string &ir, std::vector<T> in, bool fuse = true) {
  LoadOptions options;
  options.fuseMulAdd = fuse;
  Bench bench(ir, options);
  std::vector<T> out(in.size());
  bench.buffer(in), bench.buffer(out);
  bench.expectClean(uint32_t(in.size()));
  return out;
}

/// In every convention that an optimiser may have given it.
TEST(EmuCalls, AFunctionReturnsFourDoubles) {
  for (std::string convention : {"", "fastcc ", "coldcc "}) {
    std::string type = "{ double, double, double, double }";
    std::string body;
    std::string last = "undef";
    for (int i = 0; i < 4; ++i) {
      std::string n = std::to_string(i);
      body += "  %y" + n + " = fadd double %x, " + n + ".0\n  %r" + n + " = insertvalue " + type +
              " " + last + ", double %y" + n + ", " + n + "\n";
      last = "%r" + n;
    }
    std::string helper = "define internal " + convention + type + " @four(double %x) noinline {\n" +
                         body + "  ret " + type + " " + last + "\n}";
    std::string use = "  %r = call " + convention + type + " @four(double %x)\n";
    std::string sum = "%x";
    for (int i = 0; i < 4; ++i) {
      std::string n = std::to_string(i);
      use += "  %e" + n + " = extractvalue " + type + " %r, " + n + "\n  %s" + n +
             " = fmul double " + sum + ", %e" + n + "\n";
      sum = "%s" + n;
    }
    use += "  %v = fadd double " + sum + ", 0.0\n";
    std::vector<double> in{1, 2, 3, 0.5};
    auto out = mapElements<double>(mapKernel("double", use, helper), in);
    for (size_t i = 0; i < in.size(); ++i)
      EXPECT_EQ(out[i], in[i] * in[i] * (in[i] + 1) * (in[i] + 2) * (in[i] + 3)) << convention;
  }
}

//===----------------------------------------------------------------------===//
// a*b+c
//===----------------------------------------------------------------------===//

/// The product has another use too, which does not keep NVPTX from fusing it.
std::string squareMinus(const std::string &type, const std::string &one) {
  return mapKernel(type, "  %p = fmul " + type + " %x, %x\n  %m = fsub " + type + " %p, " + one +
                             "\n  %z = fmul " + type + " %p, 0.0\n  %v = fadd " + type +
                             " %m, %z\n");
}

TEST(EmuMulAdd, OneRoundingOfF32) {
  float x = 1 + 0x1p-12f; // x*x = 1 + 2^-11 + 2^-24
  auto fused = mapElements<float>(squareMinus("float", "1.0"), {x});
  auto apart = mapElements<float>(squareMinus("float", "1.0"), {x}, /*fuse=*/false);
  EXPECT_EQ(fused[0], 0x1p-11f + 0x1p-24f);
  EXPECT_EQ(apart[0], 0x1p-11f);
}

TEST(EmuMulAdd, OneRoundingOfF16) {
  auto half = [](double v) { return uint16_t(encode(Format::F16, v)); };
  // x*x - 1 for every x near 1: in one rounding exact wherever f16 can be.
  std::vector<uint16_t> in;
  for (int i = 0; i < 64; ++i)
    in.push_back(half(1 + i * 0x1p-10));
  auto fused = mapElements<uint16_t>(squareMinus("half", "1.0"), in);
  auto apart = mapElements<uint16_t>(squareMinus("half", "1.0"), in, /*fuse=*/false);
  for (size_t i = 0; i < in.size(); ++i) {
    double x = decode(Format::F16, in[i]);
    EXPECT_EQ(fused[i], half(x * x - 1)) << i;
    EXPECT_EQ(apart[i], half(decode(Format::F16, half(x * x)) - 1)) << i;
  }
}

/// Where a detour through f32 would round twice: a tie of f16 that the last bit of
/// the addend decides.
TEST(EmuMulAdd, F16DoesNotGoThroughF32) {
  std::string body = "  %v = call half @llvm.fma.f16(half %x, half 0xH3C01, half 0xH0001)\n";
  auto half = [](double v) { return uint16_t(encode(Format::F16, v)); };
  std::vector<uint16_t> in;
  std::vector<double> exact;
  for (int i = 0; i < 512; ++i) {
    double x = 32 + i * 0x1p-5;
    in.push_back(half(x));
    exact.push_back(x * (1 + 0x1p-10) + 0x1p-24); // f64 holds all of it
  }
  auto out = mapElements<uint16_t>(
      mapKernel("half", body, "declare half @llvm.fma.f16(half, half, half)"), in);
  for (size_t i = 0; i < in.size(); ++i)
    EXPECT_EQ(out[i], half(exact[i])) << i;
}

//===----------------------------------------------------------------------===//
// Directed rounding
//===----------------------------------------------------------------------===//

/// x*x + 2^-60 around x = 1 + 2^-30: between two doubles, whichever way it is made.
TEST(EmuRounding, FusedOperationsOfF64) {
  double x = 1 + 0x1p-30; // x*x = 1 + 2^-29 + 2^-60
  double below = 1 + 0x1p-29, above = std::nextafter(below, 2.0);
  for (auto [mode, want] : {std::pair<const char *, double>{"rn", below},
                            {"rz", below},
                            {"rm", below},
                            {"rp", above}}) {
    std::string body = std::string("  %v = call double asm \"fma.") + mode +
                       ".f64 $0, $1, $1, $2;\", \"=d,d,d\"(double %x, double 0x3C30000000000000)\n";
    EXPECT_EQ(mapElements<double>(mapKernel("double", body), {x})[0], want) << mode;
    // The other way round: what is missing is below.
    double negated = mapElements<double>(mapKernel("double", body), {-x})[0];
    EXPECT_EQ(negated, want) << mode;
  }
}

//===----------------------------------------------------------------------===//
// What is known about a kernel
//===----------------------------------------------------------------------===//

std::unique_ptr<Program> load(const std::string &body, const std::string &declarations = "") {
  std::string error;
  auto program = Program::load(kernel(body + "  ret void", 1, declarations), {}, error);
  EXPECT_TRUE(program) << error;
  return program;
}

TEST(EmuExactness, ApproximationsAreNamed) {
  const char *ex2 = "declare float @llvm.nvvm.ex2.approx.ftz.f32(float)";
  EXPECT_TRUE(load("  %v = fadd float 1.0, 2.0\n")->inexact().empty());
  EXPECT_EQ(load("  %v = call float @llvm.nvvm.ex2.approx.ftz.f32(float 1.0)\n", ex2)->inexact(),
            std::set<std::string>{"ex2.approx.ftz.f32"});
  EXPECT_FALSE(load("  %f = bitcast i32 %tid to float\n  %p = fmul float %f, %f\n"
                    "  %v = fadd float %p, %f\n")
                   ->inexact()
                   .empty());
}

TEST(EmuExactness, IntegerAtomicsLeaveTheSameInAnyOrder) {
  auto rmw = [](const std::string &what) {
    return "  %old" + std::to_string(what.size()) + " = atomicrmw " + what + " monotonic\n";
  };
  std::string add = rmw("add ptr addrspace(1) %p0, i32 1");
  EXPECT_FALSE(load(add)->dependsOnOrder());
  EXPECT_FALSE(load("  call void asm sideeffect \"red.global.add.u32 [$0], 1;\", \"l\"(ptr "
                    "addrspace(1) %p0)\n")
                   ->dependsOnOrder());
  EXPECT_TRUE(load(add + rmw("umax ptr addrspace(1) %p0, i32 1"))->dependsOnOrder());
  EXPECT_TRUE(load(add + "  store i32 %old31, ptr addrspace(1) %p0\n")->dependsOnOrder());
  std::string sum = rmw("fadd ptr addrspace(1) %p0, float 1.0");
  EXPECT_TRUE(load(sum)->dependsOnOrder());
  EXPECT_FALSE(load(sum)->dependsOnMoreThanSums());
  EXPECT_TRUE(load(sum + add)->dependsOnMoreThanSums());
  EXPECT_TRUE(load(sum + "  store float %old36, ptr addrspace(1) %p0\n")->dependsOnMoreThanSums());
  EXPECT_TRUE(load(rmw("xchg ptr addrspace(1) %p0, i32 1"))->dependsOnOrder());
}

} // namespace
