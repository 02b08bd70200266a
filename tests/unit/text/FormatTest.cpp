// Text is composed as fmt does it, also of what only LLVM's streams know.
#include "text/FormatLlvm.h"
#include "llvm/ADT/APInt.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/JSON.h"
#include "gtest/gtest.h"

using tile::formatted;

namespace {

struct Size {
  int number;
  [[nodiscard]] std::string str() const { return formatted("{} bytes", number); }
};
struct Opaque {};
enum class Kind { One };

template <typename T>
concept CanBeFormatted = fmt::is_formattable<tile::detail::FormattedAs<T>>::value;

TEST(Format, NumbersAndStrings) {
  std::string text = "b";
  EXPECT_EQ(formatted("{} {} {} {}", 1, "a", text, 'c'), "1 a b c");
  EXPECT_EQ(formatted("{0:#x} {1:>4} {1:<4}| {2:.2f} {3:02x}", 255, 7, 1.5, uint8_t(9)),
            "0xff    7 7   | 1.50 09");
  EXPECT_EQ(formatted("{{{}}}", -1), "{-1}");
}

TEST(Format, StringsOfLlvmAreViews) {
  llvm::StringRef part = llvm::StringRef("abc").drop_back();
  EXPECT_EQ(formatted("`{}` {:>4} {}", part, part, llvm::StringRef()), "`ab`   ab ");
  EXPECT_EQ(formatted("{}", llvm::SmallString<4>("small")), "small");
}

TEST(Format, WhatSaysItselfOrIsPrinted) {
  EXPECT_EQ(formatted("{:>8}, {}", Size{7}, llvm::Twine("a") + llvm::Twine(1)), " 7 bytes, a1");
  EXPECT_EQ(formatted("{}", llvm::APInt(64, 5)), "5");
  EXPECT_EQ(formatted("{}", llvm::json::Value(llvm::json::Array{1, "x"})), "[1,\"x\"]");
}

TEST(Format, OnlyWhatHasAText) {
  EXPECT_TRUE(CanBeFormatted<Size> && CanBeFormatted<int> && CanBeFormatted<llvm::APInt>);
  EXPECT_FALSE(CanBeFormatted<Opaque>);
  EXPECT_FALSE(CanBeFormatted<Kind>);
}

} // namespace
