//===- LexerTest.cpp - layout, literals and f-strings as tokens -----------===//
#include "frontend/Lexer.h"
#include <gtest/gtest.h>

using namespace tile::frontend;

namespace {

/// The tokens as text: spelling, or a name for layout; errors in <>.
std::string tokens(llvm::StringRef text) {
  TokenList list = lex(text);
  std::string out;
  for (const Token &token : list.tokens) {
    if (!out.empty())
      out += ' ';
    switch (token.kind) {
    case Tok::EndOfFile:
      out += "EOF";
      break;
    case Tok::Newline:
      out += "NL";
      break;
    case Tok::Indent:
      out += "IN";
      break;
    case Tok::Dedent:
      out += "OUT";
      break;
    case Tok::Error:
      out += "<" + list.errors[token.message].message + ">";
      break;
    case Tok::FStringMiddle:
      out += "~" + text.slice(token.begin, token.end).str();
      break;
    default:
      out += text.slice(token.begin, token.end).str();
    }
  }
  return out;
}

TEST(Lexer, NamesThatPythonNormalisesAreRefused) {
  EXPECT_EQ(tokens("\u00e4\u00df = \u03b1"), "\u00e4\u00df = \u03b1 NL EOF");
  const std::string rest = " in names by what it is in Unicode's normal form NFKC; write the name "
                           "in that form>";
  EXPECT_EQ(tokens("a\u017f"), "<Python replaces U+017F" + rest + " NL EOF");
  EXPECT_EQ(tokens("\ufb01x"), "<Python replaces U+FB01" + rest + " NL EOF");
  EXPECT_EQ(tokens("e\u0301"), "<Python replaces U+0301" + rest + " NL EOF");
  EXPECT_EQ(tokens("\"\u017f\""), "\"\u017f\" NL EOF") << "strings stay as they are";
}

TEST(Lexer, LayoutBecomesTokens) {
  EXPECT_EQ(tokens(""), "EOF");
  EXPECT_EQ(tokens("\n\n  # only a comment\n"), "EOF");
  EXPECT_EQ(tokens("a\nb"), "a NL b NL EOF");
  EXPECT_EQ(tokens("if a:\n  b\n\n  # c\n  d\ne\n"), "if a : NL IN b NL d NL OUT e NL EOF");
  EXPECT_EQ(tokens("a:\n b:\n  c"), "a : NL IN b : NL IN c NL OUT OUT EOF");
  EXPECT_EQ(tokens("a # b\nc"), "a NL c NL EOF");
}

TEST(Lexer, EndsOfLines) {
  EXPECT_EQ(tokens("a\r\nb\rc\n"), "a NL b NL c NL EOF");
  EXPECT_EQ(tokens("a \\\n  b\n"), "a b NL EOF");
  EXPECT_EQ(tokens("a \\\r\n  b\n"), "a b NL EOF");
  EXPECT_EQ(tokens("(a\n  # c\n\n b)\nc"), "( a b ) NL c NL EOF");
  EXPECT_EQ(tokens("\fa\n"), "a NL EOF");
}

TEST(Lexer, TabsGoToMultiplesOfEight) {
  EXPECT_EQ(tokens("a:\n\tb\n\tc\n"), "a : NL IN b NL c NL OUT EOF");
  EXPECT_EQ(tokens("a:\n        b\n\tc\n"),
            "a : NL IN b NL <inconsistent use of tabs and spaces in indentation> c NL OUT EOF");
  EXPECT_EQ(tokens("a:\n    b\n  c\n"), "a : NL IN b NL OUT <indentation does not match any "
                                        "enclosing block> c NL EOF");
}

TEST(Lexer, LongestPunctuationWins) {
  EXPECT_EQ(tokens("a//=b**=c<<=d>>=e...//**<<>> == !=<=>=->:="),
            "a //= b **= c <<= d >>= e ... // ** << >> == != <= >= -> := NL EOF");
  EXPECT_EQ(tokens("a.b"), "a . b NL EOF");
  EXPECT_EQ(tokens("x<-1"), "x < - 1 NL EOF");
}

TEST(Lexer, Numbers) {
  for (const char *number :
       {"0", "00", "0_0", "1_000", "0x_Ff", "0B1_0", "0o17", "1.", ".5", "1.5e-3", "1E5", "1e+1_0",
        "3j", "0.5J", "09.5", "09e1", "09j", "1_0.0_1"})
    EXPECT_EQ(tokens(number), std::string(number) + " NL EOF");
  EXPECT_EQ(tokens("1..real"), "1. . real NL EOF");
  EXPECT_EQ(tokens("1if x else 2"), "1 if x else 2 NL EOF");
  EXPECT_EQ(tokens("0x1for x"), "0x1f or x NL EOF");
  EXPECT_EQ(tokens("1__0"), "<`__0` cannot follow a decimal number> NL EOF");
  EXPECT_EQ(tokens("12abc"), "<`abc` cannot follow a decimal number> NL EOF");
  EXPECT_EQ(tokens("0b12"), "<`2` cannot follow a binary number> NL EOF");
  EXPECT_EQ(tokens("0xg"), "<invalid hexadecimal number> NL EOF");
  EXPECT_EQ(tokens("017"), "<a decimal number cannot begin with 0; octal is written `0o` and the "
                           "digits> NL EOF");
}

TEST(Lexer, Strings) {
  for (const char *string : {"''", "\"\"", "'a\\'b'", "r'\\'", "b'x'", "Rb\"x\"", "u'x'",
                             "'''a'b\n''c'''", "\"\"\"\"a\"\"\"", "'a\\\nb'"}) {
    std::string text = string;
    if (text == "r'\\'") // the backslash keeps the quote from closing a raw string, too
      EXPECT_EQ(tokens(text), "<this string is not closed with '> NL EOF");
    else
      EXPECT_EQ(tokens(text), text + " NL EOF");
  }
  EXPECT_EQ(tokens("'abc\nd"), "<this string is not closed with '> NL d NL EOF");
  EXPECT_EQ(tokens("'''abc\nd"), "<this triple-quoted string is never closed> NL EOF");
}

TEST(Lexer, FStringsAreTakenApart) {
  EXPECT_EQ(tokens("f''"), "f' ' NL EOF");
  EXPECT_EQ(tokens("f'a{b}c'"), "f' ~a { b } ~c ' NL EOF");
  EXPECT_EQ(tokens("f'{{{a}}}'"), "f' ~{{ { a } ~}} ' NL EOF");
  EXPECT_EQ(tokens("f'{a:>{w}.3}'"), "f' { a : ~> { w } ~.3 } ' NL EOF");
  EXPECT_EQ(tokens("f'{a!r:x}'"), "f' { a ! r : ~x } ' NL EOF");
  EXPECT_EQ(tokens("f'{a!=b}'"), "f' { a != b } ' NL EOF");
  EXPECT_EQ(tokens("f'{a:=3}'"), "f' { a : ~=3 } ' NL EOF");
  EXPECT_EQ(tokens("f'{d['k']}'"), "f' { d [ 'k' ] } ' NL EOF");
  EXPECT_EQ(tokens("f'{f\"{x}\"}'"), "f' { f\" { x } \" } ' NL EOF");
  EXPECT_EQ(tokens("f'{ {1: 2}[1] }'"), "f' { { 1 : 2 } [ 1 ] } ' NL EOF");
  EXPECT_EQ(tokens("rf'\\{a}'"), "rf' ~\\ { a } ' NL EOF");
  EXPECT_EQ(tokens("f'\\N{DASH}'"), "f' ~\\N{DASH} ' NL EOF");
  EXPECT_EQ(tokens("f'''a\n{b\n}'''"), "f''' ~a\n { b } ''' NL EOF");
  EXPECT_EQ(tokens("f'}'"), "f' <a single `}` in an f-string is written `}}`> ' NL EOF");
  EXPECT_EQ(tokens("f'ab\nc"), "f' <this f-string is not closed> NL c NL EOF");
}

TEST(Lexer, NamesMayUseAnyLetters) {
  EXPECT_EQ(tokens("α = größe"), "α = größe NL EOF");
  EXPECT_EQ(tokens("a\u00A0b"),
            "a <unexpected character U+00A0; it looks like a space, but is none> b NL EOF");
  EXPECT_EQ(tokens("\xFF"), "<invalid UTF-8; save the file as UTF-8> NL EOF");
  EXPECT_EQ(tokens(llvm::StringRef("a\0b", 3)), "a <unexpected control character 0x00> b NL EOF");
}

TEST(Lexer, AnUnclosedBracketEndsWithItsStatement) {
  EXPECT_EQ(tokens("x = (1,\n  2\ny = 3\nz()\n"),
            "x = ( 1 , 2 <`(` is never closed> NL y = 3 NL z ( ) NL EOF");
  EXPECT_EQ(tokens("def f(a:\n  return a\n"),
            "def f ( a : <`(` is never closed> NL IN return a NL OUT EOF");
  EXPECT_EQ(tokens("(a]"), "( a <`]` does not close `(`> <`(` is never closed> NL EOF");
  EXPECT_EQ(tokens("a)"), "a <`)` closes nothing> NL EOF");
}

TEST(Lexer, TokensCoverTheTextInOrder) {
  llvm::StringRef text = "def f(x):\n\treturn f'{x!r:>{w}}' + '''a\nb''' # c\n";
  uint32_t end = 0;
  for (const Token &token : lex(text).tokens) {
    EXPECT_GE(token.begin, end);
    EXPECT_GE(token.end, token.begin);
    end = token.end;
  }
  EXPECT_EQ(end, text.size());
}

} // namespace
