//===- UndefinedTest.cpp - what nobody has written -------------------------===//
//
// Registers that nobody has written hold the same number each time: not what the thread block
// that ran before on the same stacks has left there.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/emulator/EmuTest.h"

using namespace tile::emu;

namespace {

constexpr uint32_t kUndefinedWord = 0xcdcdcdcd;

std::string effect(const std::string &text, const std::string &constraints = "~{memory}") {
  return "  call void asm sideeffect \"" + text + "\", \"" + constraints + "\"()\n";
}

std::string storeWord(unsigned at, const std::string &value) {
  return llvm::formatv("  %at{0} = getelementptr i32, ptr addrspace(1) %p0, i32 {0}\n"
                       "  store i32 {1}, ptr addrspace(1) %at{0}\n",
                       at, value)
      .str();
}

/// What one thread of the kernel with this body stores at the beginning of its buffer.
std::vector<uint32_t> stored(const std::string &body, unsigned words) {
  Bench bench(kernel(body + "  ret void"));
  std::vector<uint32_t> out(words);
  bench.buffer(out);
  Report report = bench.run(1);
  EXPECT_TRUE(report.ok()) << report.str();
  return out;
}

TEST(EmuUndefined, ValuesAreTheSameEachTime) {
  std::string body =
      "  %moved = call i32 asm \"mov.b32 $0, $1;\", \"=r,r\"(i32 undef)\n" +
      storeWord(0, "%moved") +
      "  %zero = icmp eq i32 %tid, 0\n  br i1 %zero, label %a, label %b\n"
      "a:\n  br label %b\n"
      "b:\n  %phi = phi i32 [ 7, %0 ], [ poison, %a ]\n" +
      storeWord(1, "%phi") + "  %frozen = freeze i32 undef\n" + storeWord(2, "%frozen") +
      "  %pair = insertvalue { i32, i32 } poison, i32 1, 0\n"
      "  %second = extractvalue { i32, i32 } %pair, 1\n" +
      storeWord(3, "%second") +
      "  %lanes = insertelement <2 x half> undef, half 1.0, i32 0\n"
      "  %word = bitcast <2 x half> %lanes to i32\n" +
      storeWord(4, "%word") +
      "  %wide = shufflevector <2 x i32> <i32 1, i32 2>, <2 x i32> poison, <2 x i32> <i32 0, i32 "
      "poison>\n"
      "  %open = extractelement <2 x i32> %wide, i32 1\n" +
      storeWord(5, "%open") +
      "  %some = select i1 %zero, <2 x i32> <i32 3, i32 undef>, <2 x i32> <i32 4, i32 5>\n"
      "  %lost = extractelement <2 x i32> %some, i32 1\n" +
      storeWord(6, "%lost");
  EXPECT_EQ(stored(body, 7),
            (std::vector<uint32_t>{kUndefinedWord, kUndefinedWord, kUndefinedWord, kUndefinedWord,
                                   0xcdcd3c00, kUndefinedWord, kUndefinedWord}));
}

TEST(EmuUndefined, VariablesAndRegistersAreFullOfTheSame) {
  std::string body =
      // One that stays on the host's stack, and one in the thread's private memory.
      "  %slot = alloca i32\n  %private = alloca [4 x i32]\n"
      "  call void @llvm.lifetime.start.p0(ptr %slot)\n"
      "  %a = load i32, ptr %slot\n" +
      storeWord(0, "%a") +
      "  %place = getelementptr i32, ptr %private, i32 %tid\n  %b = load i32, ptr %place\n" +
      storeWord(1, "%b") +
      // One that an instruction would write if its predicate held, and one that nobody names.
      "  %c = call i32 asm \"{\\0A.reg .pred p;\\0Asetp.ne.b32 p, $1, 0;\\0A@p mov.b32 $0, "
      "1;\\0A}\", \"=r,r\"(i32 %tid)\n" +
      storeWord(2, "%c") +
      "  %d = call i32 asm \"{\\0A.reg .b32 t;\\0Amov.b32 $0, t;\\0A}\", \"=r\"()\n" +
      storeWord(3, "%d");
  std::string ir = kernel(body + "  ret void", 1, "declare void @llvm.lifetime.start.p0(ptr)");
  Bench bench(ir);
  std::vector<uint32_t> out(4);
  bench.buffer(out);
  Report report = bench.run(1);
  EXPECT_TRUE(report.ok()) << report.str();
  EXPECT_EQ(out, std::vector<uint32_t>(4, kUndefinedWord));
}

// Each product of all ones adds 16 to its accumulators. The second thread block has an earlier one
// under way, whose registers are not those of the last, which the first block issues too.
std::string products(const std::string &ofLast) {
  const std::string four = "{ float, float, float, float }";
  auto product = [&](const std::string &name, const std::string &from, bool adds) {
    return "  " + name + " = call " + four +
           " asm sideeffect \"{\\0A.reg .pred p;\\0Asetp.ne.b32 p, " + (adds ? "1" : "0") +
           ", 0;\\0Awgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {$0, $1, $2, $3}, $4, $5, p, "
           "1, 1, 0, 0;\\0A}\", \"=f,=f,=f,=f,l,l,0,1,2,3,~{memory}\"(i64 %d, i64 %d, " +
           from + ")\n";
  };
  auto words = [](const std::string &from) {
    std::string all;
    for (unsigned i = 0; i < 4; ++i)
      all += (i ? ", float " : "float ") +
             (from.back() == '*' ? from.substr(0, 2) + std::to_string(i) : from);
    return all;
  };
  auto extract = [&](const std::string &from) {
    std::string all;
    for (unsigned i = 0; i < 4; ++i)
      all += llvm::formatv("  {0}{1} = extractvalue {2} {0}, {1}\n", from, i, four).str();
    return all;
  };
  std::string body = "  %base = ptrtoint ptr addrspace(3) @smem to i32\n";
  for (unsigned i = 0; i < 8; ++i)
    body += llvm::formatv("  %i{0} = add i32 %tid, {1}\n"
                          "  %s{0} = getelementptr i32, ptr addrspace(3) @smem, i32 %i{0}\n"
                          "  store i32 {2}, ptr addrspace(3) %s{0}\n",
                          i, 128 * i, 0x3c003c00)
                .str();
  body +=
      effect("fence.proxy.async.shared::cta;") +
      "  call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)\n"
      "  %b64 = zext i32 %base to i64\n  %start = lshr i64 %b64, 4\n  %d = or i64 %start, " +
      std::to_string(int64_t(128 >> 4) << 16 | int64_t(256 >> 4) << 32) + "\n" +
      effect("wgmma.fence.sync.aligned;") +
      "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n"
      "  %isFirst = icmp eq i32 %block, 0\n  br i1 %isFirst, label %last, label %earlier\n"
      "earlier:\n" +
      product("%x", words("1.0"), true) + "  br label %last\n" + "last:\n  %y = phi " + four +
      " [ zeroinitializer, %0 ], [ %x, %earlier ]\n" + extract("%y") +
      product("%z", words(ofLast), false) + extract("%z") +
      effect("wgmma.commit_group.sync.aligned;") +
      "  %done = call { float, float, float, float, float, float, float, float } asm sideeffect "
      "\"wgmma.wait_group.sync.aligned 0;\", "
      "\"=f,=f,=f,=f,=f,=f,=f,=f,0,1,2,3,4,5,6,7,~{memory}\"(" +
      words("%y*") + ", " + words("%z*") +
      ")\n  %sum = mul i32 %block, 1024\n  %own = mul i32 %tid, 8\n"
      "  %begin = add i32 %sum, %own\n";
  for (unsigned i = 0; i < 8; ++i)
    body += llvm::formatv("  %f{0} = extractvalue {{ float, float, float, float, float, float, "
                          "float, float } %done, {0}\n  %q{0} = add i32 %begin, {0}\n"
                          "  %o{0} = getelementptr float, ptr addrspace(1) %p0, i32 %q{0}\n"
                          "  store float %f{0}, ptr addrspace(1) %o{0}\n",
                          i)
                .str();
  return kernel(body + "  ret void", 1, "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()");
}

TEST(EmuUndefined, AccumulatorsOfAProductFromZeroAreItsOwn) {
  Bench bench(products("undef"));
  std::vector<float> out(2048);
  bench.buffer(out);
  bench.launch.grid[0] = 2;
  RunOptions options;
  options.threads = 1; // one block after the other, on the same stacks
  Report report = bench.run(128, 4096, options);
  EXPECT_TRUE(report.ok()) << report.str();
  unsigned wrong = 0;
  for (unsigned i = 0; i < out.size(); ++i)
    wrong += out[i] != (i % 8 >= 4 ? 16.0f : i < 1024 ? 0.0f : 17.0f);
  EXPECT_EQ(wrong, 0u);
}

TEST(EmuUndefined, OneAccumulatorTwiceInAProductIsReported) {
  Bench bench(products("%y0"));
  std::vector<float> out(2048);
  bench.buffer(out);
  bench.launch.grid[0] = 2;
  bench.expectFinding(FindingKind::AccumulatorInFlight, 128, 4096);
}

} // namespace
