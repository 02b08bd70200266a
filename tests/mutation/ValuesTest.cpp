//===- ValuesTest.cpp - which values of a kernel matter, and other numbers -===//
#include "tests/mutation/Mutations.h"
#include "tests/mutation/OtherData.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <cstring>
#include <set>

using namespace tile::mutation;

namespace {

constexpr const char *kShuffles = R"(
define ptx_kernel void @k(ptr addrspace(1) %p) {
  %lane = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %a = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %lane, i32 1, i32 31)
  %b = add i32 %a, %lane
  %c = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %b, i32 2, i32 31)
  %d = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %lane, i32 4, i32 31)
  %e = add i32 %d, 7
  %f = call i32 @llvm.nvvm.shfl.sync.bfly.i32(i32 -1, i32 %e, i32 8, i32 31)
  store i32 %c, ptr addrspace(1) %p
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.shfl.sync.bfly.i32(i32, i32, i32, i32)
)";

TEST(Values, ShufflesThatNobodyUsesTheEndOf) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(kShuffles, diagnostic, context);
  ASSERT_TRUE(module) << diagnostic.getMessage().str();
  std::vector<std::string> shuffles;
  for (const Mutation &m : findMutations(*module))
    if (m.kind == "lane bit")
      shuffles.push_back(m.where.substr(0, m.where.find(':')));
  EXPECT_EQ(shuffles, (std::vector<std::string>{"a shuffle from another lane than 1",
                                                "a shuffle from another lane than 2"}));
}

template <typename T> std::vector<T> numbersOf(const std::vector<uint8_t> &bytes) {
  std::vector<T> numbers(bytes.size() / sizeof(T));
  std::memcpy(numbers.data(), bytes.data(), numbers.size() * sizeof(T));
  return numbers;
}

TEST(OtherData, TheSameNumbersElsewhere) {
  std::vector<uint32_t> numbers(64);
  for (uint32_t i = 0; i < 64; ++i)
    numbers[i] = i + 1;
  std::vector<uint8_t> bytes(256);
  std::memcpy(bytes.data(), numbers.data(), 256);
  Image image{bytes, {}, {1, 2, 3}};
  for (unsigned kind = 0; kind < 6; ++kind) {
    Image other = withOtherData(image, kind, 5);
    EXPECT_NE(other[0], image[0]);
    EXPECT_EQ(other, withOtherData(image, kind, 5));
    EXPECT_NE(other, withOtherData(image, kind, 6));
    EXPECT_EQ(other[1].size(), 0u);
    EXPECT_EQ(other[2][2], 3); // no whole number of any kind
    auto mixed = numbersOf<uint32_t>(other[0]);
    if (kind < 2) {
      std::sort(mixed.begin(), mixed.end());
      EXPECT_EQ(mixed, numbers);
    } else if (kind < 4) {
      EXPECT_TRUE(std::any_of(mixed.begin(), mixed.end(), [](uint32_t n) { return n >> 31; }));
    } else {
      EXPECT_TRUE(std::none_of(mixed.begin(), mixed.end(), [](uint32_t n) { return n >> 26; }));
    }
  }
}

template <typename T> std::vector<uint8_t> bytesOf(const std::vector<T> &numbers) {
  std::vector<uint8_t> bytes(numbers.size() * sizeof(T));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

TEST(OtherData, WhichNaNItIsMayNotMatter) {
  auto differ = [](auto is, auto was, NaNs nans) {
    return !differenceOf({{}, bytesOf(is)}, {{}, bytesOf(was)}, nans).empty();
  };
  using Words = std::vector<uint32_t>;
  using Halves = std::vector<uint16_t>;
  EXPECT_FALSE(differ(Words{1, 0x7fc00000}, Words{1, 0x7fc00000}, NaNs::AsTheyAre));
  EXPECT_TRUE(differ(Words{1, 0x7fc00000}, Words{1, 0xffc00001}, NaNs::AsTheyAre));
  EXPECT_FALSE(differ(Words{1, 0x7fc00000}, Words{1, 0xffc00001}, NaNs::AllTheSame));
  EXPECT_TRUE(differ(Words{1, 0x7f800000}, Words{1, 0xff800000}, NaNs::AllTheSame)); // infinities
  EXPECT_TRUE(differ(Words{1, 0x7f800000}, Words{1, 0x7fc00000}, NaNs::AllTheSame));
  EXPECT_FALSE(differ(Halves{5, 0x7e00, 0xfe01}, Halves{5, 0xfe10, 0x7c01}, NaNs::AllTheSame));
  EXPECT_FALSE(differ(Halves{5, 0x7fc0}, Halves{5, 0xff81}, NaNs::AllTheSame)); // of bf16
  EXPECT_TRUE(differ(Halves{5, 0x7e00}, Halves{6, 0xfe00}, NaNs::AllTheSame));
  EXPECT_TRUE(differ(Halves{5, 0x7c00}, Halves{5, 0xfc00}, NaNs::AllTheSame));
  EXPECT_EQ(differenceOf({{1, 2, 3, 4, 5}}, {{1, 2, 3, 4, 6}}, NaNs::AsTheyAre),
            "0x5 for 0x6 at byte 4 of range 0");
}

/// Of every float the sign and the fraction stay, and all are finite.
template <typename T> void expectSizes(unsigned kind, unsigned fraction, T one) {
  T exponent = T((T(1) << (8 * sizeof(T) - 1)) - (T(1) << fraction));
  std::vector<T> numbers{0, 5, exponent};
  for (T i = 0; i < 61; ++i)
    numbers.push_back(T(one + i) | (i % 2 ? T(~(T(~T(0)) >> 1)) : T(0)));
  std::vector<uint8_t> bytes(64 * sizeof(T));
  std::memcpy(bytes.data(), numbers.data(), bytes.size());
  std::vector<T> others = numbersOf<T>(withOtherData({bytes}, kind, 5)[0]);
  std::set<T> sizes;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i < 3) {
      EXPECT_EQ(others[i], numbers[i]) << "zeros, small integers and infinities stay";
      continue;
    }
    EXPECT_EQ(T(others[i] & ~exponent), T(numbers[i] & ~exponent));
    T size = T(others[i] & exponent);
    EXPECT_TRUE(size != 0 && size != exponent);
    sizes.insert(size);
  }
  EXPECT_GT(sizes.size(), 10u);
}

TEST(OtherData, VeryDifferentSizes) {
  expectSizes<uint32_t>(6, 23, 0x3f800000);
  expectSizes<uint16_t>(7, 10, 0x3c00);
}

} // namespace
