//===- MatrixTest.cpp - matrix instructions against plain loops -----------===//
#include "emulator/machine/Matrix.h"
#include "tests/unit/emulator/EmuTest.h"
#include <numeric>

using namespace tile::emu;

namespace {

/// Numbers that look random, the same ones each time.
struct Numbers {
  uint64_t state;
  unsigned operator()() { return unsigned(state = state * 48271 % 2147483647); }
};

std::string list(const std::string &item, unsigned first, unsigned count) {
  std::string s;
  for (unsigned i = 0; i < count; ++i)
    s += (i ? ", " : "") + item + std::to_string(first + i);
  return s;
}

//===----------------------------------------------------------------------===//
// mma.sync
//===----------------------------------------------------------------------===//

/// Loads the registers of A, B and C from p0 (lane-major), and stores those of D to
/// p1. `word` is their type, `reg` the constraint that goes with it.
std::string mmaKernel(const std::string &opcode, unsigned d, unsigned a, unsigned b,
                      const std::string &word = "i32", const std::string &reg = "r") {
  unsigned inputs = a + b + d;
  std::string body;
  std::string constraints, args;
  for (unsigned i = 0; i < d; ++i)
    constraints += "=" + reg + ",";
  for (unsigned i = 0; i < inputs; ++i) {
    std::string n = std::to_string(i);
    body += "  %o" + n + " = mul i32 %tid, " + std::to_string(inputs) + "\n  %q" + n +
            " = add i32 %o" + n + ", " + n + "\n  %g" + n + " = getelementptr " + word +
            ", ptr addrspace(1) %p0, i32 %q" + n + "\n  %w" + n + " = load " + word +
            ", ptr addrspace(1) %g" + n + "\n";
    constraints += (i ? "," : "") + reg;
    args += (i ? ", " : "") + word + " %w" + n;
  }
  std::string type = "{ ";
  for (unsigned i = 0; i < d; ++i)
    type += (i ? ", " : "") + word;
  type += " }";
  body += "  %r = call " + type + " asm sideeffect \"" + opcode + " {" + list("$", 0, d) + "}, {" +
          list("$", d, a) + "}, {" + list("$", d + a, b) + "}, {" + list("$", d + a + b, d) +
          "};\", \"" + constraints + "\"(" + args + ")\n  %so = mul i32 %tid, " +
          std::to_string(d) + "\n";
  for (unsigned i = 0; i < d; ++i) {
    std::string n = std::to_string(i);
    body += "  %e" + n + " = extractvalue " + type + " %r, " + n + "\n  %sq" + n +
            " = add i32 %so, " + n + "\n  %sg" + n + " = getelementptr " + word +
            ", ptr addrspace(1) %p1, i32 %sq" + n + "\n  store " + word + " %e" + n +
            ", ptr addrspace(1) %sg" + n + "\n";
  }
  return kernel(body + "  ret void", 2);
}

/// Small numbers that every format holds exactly.
struct MmaCase {
  const char *opcode;
  unsigned k;
  Element a, b;
  unsigned bits;
  Element sum = Element::F32;
};

uint32_t encodeSmall(Element e, int v) {
  switch (e) {
  case Element::F16:
    return uint32_t(encode(Format::F16, v));
  case Element::BF16:
    return uint32_t(encode(Format::BF16, v));
  case Element::TF32:
    return uint32_t(encode(Format::F32, v));
  case Element::E4M3:
    return uint32_t(encode(Format::E4M3, v));
  case Element::E5M2:
    return uint32_t(encode(Format::E5M2, v));
  default:
    return uint32_t(v) & 0xff;
  }
}

TEST(EmuMma, EveryFormatMultipliesAsLoopsDo) {
  using enum Element;
  const MmaCase cases[] = {
      {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 16, F16, F16, 16},
      {"mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32", 8, F16, F16, 16},
      {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 16, F16, F16, 16, F16},
      {"mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16", 8, F16, F16, 16, F16},
      {"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 16, BF16, BF16, 16},
      {"mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32", 8, BF16, BF16, 16},
      {"mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", 4, TF32, TF32, 32},
      {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 8, TF32, TF32, 32},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32", 32, E4M3, E4M3, 8},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32", 32, E4M3, E5M2, 8},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32", 32, E5M2, E4M3, 8},
      {"mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e5m2.f32", 32, E5M2, E5M2, 8},
      {"mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 16, S8, S8, 8, S32},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 32, S8, S8, 8, S32},
  };
  Numbers random{7};
  for (const MmaCase &c : cases) {
    unsigned per = 32 / c.bits, aRegs = 16 * c.k / 32 / per, bRegs = 8 * c.k / 32 / per;
    std::vector<int> a(16 * c.k), b(c.k * 8), acc(16 * 8);
    for (std::vector<int> *m : {&a, &b, &acc})
      for (int &v : *m)
        v = int(random() % 7) - 3;
    // The fragments, written down from the instruction's tables.
    std::vector<uint32_t> in, out(32 * 4);
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned g = lane / 4, t = lane % 4;
      for (unsigned r = 0; r < aRegs; ++r) {
        uint32_t word = 0;
        for (unsigned e = 0; e < per; ++e) {
          unsigned row = r % 2 ? g + 8 : g, column = t * per + e + (r >= 2 ? 4 * per : 0);
          word |= encodeSmall(c.a, a[row * c.k + column]) << (e * c.bits % 32);
        }
        in.push_back(word);
      }
      for (unsigned r = 0; r < bRegs; ++r) {
        uint32_t word = 0;
        for (unsigned e = 0; e < per; ++e)
          word |= encodeSmall(c.b, b[(t * per + e + 4 * per * r) * 8 + g]) << (e * c.bits % 32);
        in.push_back(word);
      }
      for (unsigned r = 0; r < 4; ++r) {
        int v = acc[(g + (r >= 2 ? 8 : 0)) * 8 + 2 * t + r % 2];
        if (c.sum == F16 && r % 2)
          in.back() |= encodeSmall(F16, v) << 16;
        else
          in.push_back(c.sum == S32   ? uint32_t(v)
                       : c.sum == F16 ? encodeSmall(F16, v)
                                      : uint32_t(encode(Format::F32, v)));
      }
    }
    unsigned sums = c.sum == F16 ? 2 : 4;
    Bench bench(mmaKernel(c.opcode, sums, aRegs, bRegs));
    bench.buffer(in), bench.buffer(out);
    bench.expectClean();
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned r = 0; r < 4; ++r) {
        unsigned row = lane / 4 + (r >= 2 ? 8 : 0), column = 2 * (lane % 4) + r % 2;
        int sum = acc[row * 8 + column];
        for (unsigned x = 0; x < c.k; ++x)
          sum += a[row * c.k + x] * b[x * 8 + column];
        uint32_t got = out[lane * sums + r * sums / 4];
        double value = c.sum == S32   ? double(int32_t(got))
                       : c.sum == F16 ? decode(Format::F16, got >> 16 * (r % 2) & 0xffff)
                                      : decode(Format::F32, got);
        ASSERT_EQ(value, sum) << c.opcode << " " << row << " " << column;
      }
  }
}

TEST(EmuMma, DoublesMultiplyAsLoopsDo) {
  Numbers random{7};
  double a[8 * 4], b[4 * 8], acc[8 * 8];
  for (auto [m, n] : {std::pair<double *, int>{a, 32}, {b, 32}, {acc, 64}})
    for (int i = 0; i < n; ++i)
      m[i] = double(random() % 7) / 4;
  std::vector<double> in, out(64);
  for (unsigned lane = 0; lane < 32; ++lane) {
    unsigned g = lane / 4, t = lane % 4;
    in.insert(in.end(), {a[g * 4 + t], b[t * 8 + g], acc[g * 8 + 2 * t], acc[g * 8 + 2 * t + 1]});
  }
  Bench bench(mmaKernel("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", 2, 1, 1, "double", "d"));
  bench.buffer(in), bench.buffer(out);
  bench.expectClean();
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned r = 0; r < 2; ++r) {
      unsigned row = lane / 4, column = 2 * (lane % 4) + r;
      double sum = acc[row * 8 + column];
      for (unsigned x = 0; x < 4; ++x)
        sum += a[row * 4 + x] * b[x * 8 + column];
      EXPECT_EQ(out[lane * 2 + r], sum);
    }
}

//===----------------------------------------------------------------------===//
// ldmatrix and stmatrix
//===----------------------------------------------------------------------===//

/// The half of matrix j that a lane has at place e of its register.
std::pair<unsigned, unsigned> cellOf(unsigned lane, unsigned e, bool transposed) {
  unsigned row = lane / 4, column = 2 * (lane % 4) + e;
  return transposed ? std::pair(column, row) : std::pair(row, column);
}

/// Row i of matrix j is at 16 * (8 j + i); the half at column c of it holds
/// 64 j + 8 i + c.
TEST(EmuLdmatrix, SeveralMatricesAtOnce) {
  for (unsigned count : {1, 2, 4})
    for (bool transposed : {false, true}) {
      std::string n = std::to_string(count), types, outputs;
      for (unsigned j = 0; j < count; ++j) {
        types += j ? ", i32" : "i32";
        outputs += j ? ",=r" : "=r";
      }
      std::string type = count == 1 ? "i32" : "{ " + types + " }";
      std::string body = "  %s = getelementptr <4 x i32>, ptr addrspace(3) @smem, i32 %tid\n"
                         "  %g = getelementptr <4 x i32>, ptr addrspace(1) %p0, i32 %tid\n"
                         "  %w = load <4 x i32>, ptr addrspace(1) %g\n"
                         "  store <4 x i32> %w, ptr addrspace(3) %s\n"
                         "  call void asm sideeffect \"bar.warp.sync -1;\", \"\"()\n"
                         "  %v = call " +
                         type + " asm sideeffect \"ldmatrix.sync.aligned.m8n8.x" + n +
                         (transposed ? ".trans" : "") + ".shared.b16 {" + list("$", 0, count) +
                         "}, [$" + n + "];\", \"" + outputs + ",r\"(ptr addrspace(3) %s)\n" +
                         "  %o = mul i32 %tid, " + n + "\n";
      for (unsigned j = 0; j < count; ++j) {
        std::string k = std::to_string(j);
        body += (count == 1 ? "  %x0 = add i32 %v, 0\n"
                            : "  %x" + k + " = extractvalue " + type + " %v, " + k + "\n") +
                "  %i" + k + " = add i32 %o, " + k + "\n  %a" + k +
                " = getelementptr i32, ptr addrspace(1) %p1, i32 %i" + k + "\n  store i32 %x" + k +
                ", ptr addrspace(1) %a" + k + "\n";
      }
      Bench bench(kernel(body + "  ret void", 2));
      std::vector<uint16_t> in(256);
      std::iota(in.begin(), in.end(), 0);
      std::vector<uint32_t> out(32 * count);
      bench.buffer(in), bench.buffer(out);
      bench.expectClean(32, 512);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned j = 0; j < count; ++j)
          for (unsigned e = 0; e < 2; ++e) {
            auto [row, column] = cellOf(lane, e, transposed);
            EXPECT_EQ(out[lane * count + j] >> (16 * e) & 0xffff, 64 * j + 8 * row + column)
                << count << transposed << " " << lane;
          }
    }
}

/// Lane l gives 2 (4 l + j) and the next number as its part of matrix j.
TEST(EmuStmatrix, PutsEachLanesHalvesInTheirPlaces) {
  for (unsigned count : {1, 2, 4})
    for (bool transposed : {false, true}) {
      std::string n = std::to_string(count), constraints = "r", args = "ptr addrspace(3) %s";
      std::string body = "  %s = getelementptr <4 x i32>, ptr addrspace(3) @smem, i32 %tid\n"
                         "  store <4 x i32> zeroinitializer, ptr addrspace(3) %s\n"
                         "  call void asm sideeffect \"bar.warp.sync -1;\", \"\"()\n"
                         "  %low = mul i32 %tid, 8\n  %h = mul i32 %tid, 524288\n"
                         "  %both = or i32 %low, %h\n";
      for (unsigned j = 0; j < count; ++j) {
        std::string k = std::to_string(j);
        body +=
            "  %x" + k + " = add i32 %both, " + std::to_string(2 * j | (2 * j + 1) << 16) + "\n";
        constraints += ",r", args += ", i32 %x" + k;
      }
      body += "  call void asm sideeffect \"stmatrix.sync.aligned.m8n8.x" + n +
              (transposed ? ".trans" : "") + ".shared.b16 [$0], {" + list("$", 1, count) +
              "};\", \"" + constraints + ",~{memory}\"(" + args + ")\n" +
              "  call void asm sideeffect \"bar.warp.sync -1;\", \"\"()\n"
              "  %w = load <4 x i32>, ptr addrspace(3) %s\n"
              "  %g = getelementptr <4 x i32>, ptr addrspace(1) %p0, i32 %tid\n"
              "  store <4 x i32> %w, ptr addrspace(1) %g\n  ret void";
      Bench bench(kernel(body));
      std::vector<uint16_t> out(256);
      bench.buffer(out);
      bench.expectClean(32, 512);
      for (unsigned lane = 0; lane < 32; ++lane)
        for (unsigned j = 0; j < count; ++j)
          for (unsigned e = 0; e < 2; ++e) {
            auto [row, column] = cellOf(lane, e, transposed);
            EXPECT_EQ(out[64 * j + 8 * row + column], 2 * (4 * lane + j) + e)
                << count << transposed << " " << lane;
          }
    }
}

TEST(EmuLdmatrix, RowsGoToLanesOfFour) {
  for (bool transposed : {false, true}) {
    std::string body = "  %a = getelementptr i32, ptr addrspace(3) @smem, i32 %tid\n"
                       "  store i32 %tid, ptr addrspace(3) %a\n"
                       "  call void asm sideeffect \"bar.warp.sync -1;\", \"\"()\n"
                       "  %row = and i32 %tid, 7\n"
                       "  %r = getelementptr [4 x i32], ptr addrspace(3) @smem, i32 %row\n"
                       "  %v = call i32 asm sideeffect \"ldmatrix.sync.aligned.m8n8.x1" +
                       std::string(transposed ? ".trans" : "") +
                       ".shared.b16 {$0}, [$1];\", \"=r,r\"(ptr addrspace(3) %r)\n"
                       "  %at = getelementptr i32, ptr addrspace(1) %p0, i32 %tid\n"
                       "  store i32 %v, ptr addrspace(1) %at\n  ret void";
    Bench bench(kernel(body));
    std::vector<uint32_t> out(32);
    bench.buffer(out);
    bench.expectClean(32, 128);
    // Shared memory holds words 0..31: the half at (r, c) is word 4r + c/2.
    auto half = [](unsigned r, unsigned c) { return c % 2 ? 0u : 4 * r + c / 2; };
    for (unsigned lane = 0; lane < 32; ++lane) {
      unsigned g = lane / 4, t = lane % 4;
      uint32_t want = transposed ? half(2 * t, g) | half(2 * t + 1, g) << 16
                                 : half(g, 2 * t) | half(g, 2 * t + 1) << 16;
      EXPECT_EQ(out[lane], want) << transposed << " " << lane;
    }
  }
}

//===----------------------------------------------------------------------===//
// wgmma
//===----------------------------------------------------------------------===//

std::string effect(const std::string &text, const std::string &constraints = "~{memory}",
                   const std::string &args = "") {
  return "  call void asm sideeffect \"" + text + "\", \"" + constraints + "\"(" + args + ")\n";
}

const std::string wgmmaFence = effect("wgmma.fence.sync.aligned;");
const std::string wgmmaCommit = effect("wgmma.commit_group.sync.aligned;");
const std::string proxyFence = effect("fence.proxy.async.shared::cta;");
const std::string barrier = "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n";

/// D = A B for A 64 x 64 (K-major, 128-byte swizzle, at 0) and B 64 x 64 (at
/// 8192; K-major, or MN-major), f16 to f32. p0 is the image of both, p1 takes the
/// fragments of D.
struct WgmmaText {
  bool mnMajorB = false;
  uint64_t descriptorBits = uint64_t(1) << 62 | uint64_t(1024 >> 4) << 32 | uint64_t(1) << 16;
  unsigned advanceA = 2, advanceB = 2;
  std::string type, ties, outputs;
  WgmmaText() {
    type = "{ ";
    for (unsigned i = 0; i < 32; ++i) {
      type += i ? ", float" : "float";
      ties += "," + std::to_string(i);
      outputs += i ? ",=f" : "=f";
    }
    type += " }";
  }
  std::string registers(const std::string &from) const {
    std::string s;
    for (unsigned i = 0; i < 32; ++i)
      s += ", float " + (from.empty() ? "0.0" : from + std::to_string(i));
    return s;
  }
  std::string extract(const std::string &from, const std::string &to) const {
    std::string s;
    for (unsigned i = 0; i < 32; ++i)
      s += "  " + to + std::to_string(i) + " = extractvalue " + type + " " + from + ", " +
           std::to_string(i) + "\n";
    return s;
  }
  std::string wait() const {
    return "  %done = call " + type + " asm sideeffect \"wgmma.wait_group.sync.aligned 0;\", \"" +
           outputs + ties + ",~{memory}\"(" + registers("%d3x").substr(2) + ")\n";
  }
  std::string text() const {
    std::string body = "  %base = ptrtoint ptr addrspace(3) @smem to i32\n";
    for (int i = 0; i < 32; ++i) { // 16 KB: 32 words a thread
      std::string n = std::to_string(i);
      body += "  %i" + n + " = add i32 %tid, " + std::to_string(128 * i) + "\n  %g" + n +
              " = getelementptr i32, ptr addrspace(1) %p0, i32 %i" + n + "\n  %v" + n +
              " = load i32, ptr addrspace(1) %g" + n + "\n  %s" + n +
              " = getelementptr i32, ptr addrspace(3) @smem, i32 %i" + n + "\n  store i32 %v" + n +
              ", ptr addrspace(3) %s" + n + "\n";
    }
    body += proxyFence + barrier +
            "  %b64 = zext i32 %base to i64\n  %start = lshr i64 %b64, 4\n"
            "  %da0 = or i64 %start, " +
            std::to_string(int64_t(descriptorBits)) + "\n  %db0 = add i64 %da0, 512\n" + wgmmaFence;
    std::string from;
    for (int step = 0; step < 4; ++step) {
      std::string n = std::to_string(step);
      if (step)
        body += "  %da" + n + " = add i64 %da0, " + std::to_string(step * int(advanceA)) +
                "\n  %db" + n + " = add i64 %db0, " + std::to_string(step * int(advanceB)) + "\n";
      body += "  %r" + n + " = call " + type +
              " asm sideeffect \"{\\0A.reg .pred p;\\0Asetp.ne.b32 p, " + (step ? "1" : "0") +
              ", 0;\\0Awgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 {" + list("$", 0, 32) +
              "}, $32, $33, p, 1, 1, 0, " + (mnMajorB ? "1" : "0") + ";\\0A}\", \"" + outputs +
              ",l,l" + ties + ",~{memory}\"(i64 %da" + n + ", i64 %db" + n + registers(from) +
              ")\n" + extract("%r" + n, "%d" + n + "x");
      from = "%d" + n + "x";
    }
    body += wgmmaCommit + wait() + extract("%done", "%f") + "  %so = mul i32 %tid, 32\n";
    for (int i = 0; i < 32; ++i) {
      std::string n = std::to_string(i);
      body += "  %q" + n + " = add i32 %so, " + n + "\n  %o" + n +
              " = getelementptr float, ptr addrspace(1) %p1, i32 %q" + n + "\n  store float %f" +
              n + ", ptr addrspace(1) %o" + n + "\n";
    }
    return kernel(body + "  ret void", 2);
  }
};

struct WgmmaBench : Bench {
  explicit WgmmaBench(const std::string &text, bool mnMajorB = false)
      : Bench(text), image(8192), out(128 * 32), a(64 * 64), b(64 * 64) {
    Numbers random{3};
    for (std::vector<int> *m : {&a, &b})
      for (int &v : *m)
        v = int(random() % 9) - 4;
    auto put = [&](uint32_t at, int v) {
      at ^= (at >> 7 & 7) << 4; // the window begins at a multiple of 1024
      image[at / 2] = uint16_t(encode(Format::F16, v));
    };
    for (unsigned i = 0; i < 64; ++i)
      for (unsigned x = 0; x < 64; ++x) {
        put(i * 128 + 2 * x, a[i * 64 + x]);
        // B: column i, row x; K-major has x contiguous, MN-major i.
        put(8192 + (mnMajorB ? x * 128 + 2 * i : i * 128 + 2 * x), b[x * 64 + i]);
      }
    buffer(image), buffer(out);
  }
  /// How many elements of D are wrong.
  unsigned wrong() const {
    unsigned n = 0;
    for (unsigned t = 0; t < 128; ++t)
      for (unsigned r = 0; r < 32; ++r) {
        unsigned row = 16 * (t / 32) + t % 32 / 4 + 8 * (r / 2 % 2);
        unsigned column = 8 * (r / 4) + 2 * (t % 4) + r % 2;
        int sum = 0;
        for (unsigned x = 0; x < 64; ++x)
          sum += a[row * 64 + x] * b[x * 64 + column];
        n += out[t * 32 + r] != float(sum);
      }
    return n;
  }
  std::vector<uint16_t> image;
  std::vector<float> out;
  std::vector<int> a, b;
};

TEST(EmuWgmma, MultipliesThroughDescriptors) {
  WgmmaBench bench(WgmmaText().text());
  bench.expectClean(128, 16384);
  EXPECT_EQ(bench.wrong(), 0u);
}

TEST(EmuWgmma, TransposedOperand) {
  WgmmaText text;
  text.mnMajorB = true;
  text.advanceB = 128; // 16 rows of k, 128 bytes each
  WgmmaBench bench(text.text(), true);
  bench.expectClean(128, 16384);
  EXPECT_EQ(bench.wrong(), 0u);
}

TEST(EmuWgmma, WrongDescriptorsGiveWrongAnswers) {
  for (int bit : {33, 38, 62, 63}) { // the stride, the swizzle
    WgmmaText text;
    text.descriptorBits ^= uint64_t(1) << bit;
    WgmmaBench bench(text.text());
    Report report = bench.run(128, 16384);
    EXPECT_TRUE(!report.ok() || bench.wrong() > 0) << bit;
  }
}

TEST(EmuWgmma, BitsWhereThereMustBeNoneAreReported) {
  for (int bit : {14, 30, 46, 49}) {
    WgmmaText text;
    text.descriptorBits |= uint64_t(1) << bit;
    WgmmaBench bench(text.text());
    bench.expectFinding(FindingKind::BadDescriptor, 128, 16384);
  }
}

// Rows that lead to the next columns are for operands in the other order: this one is read wrongly.
TEST(EmuWgmma, LeadingOffsetThatIsIgnoredIsReported) {
  WgmmaText text;
  text.descriptorBits |= uint64_t(8192 >> 4) << 16;
  WgmmaBench bench(text.text());
  bench.expectFinding(FindingKind::BadDescriptor, 128, 16384);
}

TEST(EmuWgmma, MissingFenceOfTheProxyIsFound) {
  WgmmaBench bench(without(WgmmaText().text(), proxyFence));
  bench.expectFinding(FindingKind::MissingProxyFence, 128, 16384);
}

TEST(EmuWgmma, MissingBarrierIsARace) {
  WgmmaBench bench(without(WgmmaText().text(), barrier));
  Report report = bench.run(128, 16384);
  EXPECT_FALSE(report.ok());
}

TEST(EmuWgmma, MissingRegisterFenceIsFound) {
  WgmmaBench bench(without(WgmmaText().text(), wgmmaFence));
  bench.expectFinding(FindingKind::BarrierMisuse, 128, 16384);
}

TEST(EmuWgmma, AccumulatorsWithoutAWaitAreFound) {
  WgmmaText text;
  std::string ir =
      without(text.text(), text.wait(),
              "  %done = select i1 true, " + text.type + " %r3, " + text.type + " %r3\n");
  WgmmaBench bench(ir);
  Report report = bench.run(128, 16384);
  EXPECT_TRUE(report.has(FindingKind::AccumulatorInFlight)) << report.str();
  EXPECT_TRUE(report.has(FindingKind::LeakedAsync)) << report.str();
}

TEST(EmuWgmma, MissingCommitIsFound) {
  WgmmaBench bench(without(WgmmaText().text(), wgmmaCommit));
  EXPECT_FALSE(bench.run(128, 16384).ok());
}

} // namespace
