//===- SyntaxErrorTest.cpp - what is said about malformed text ------------===//
#include "ParseHelpers.h"

using namespace tile::frontend;

namespace {

struct Case {
  const char *text, *errors;
};

class SyntaxError : public testing::TestWithParam<Case> {};

TEST_P(SyntaxError, IsReportedOnceAndInPlace) {
  EXPECT_EQ(errorsOf(GetParam().text), GetParam().errors) << GetParam().text;
}

INSTANTIATE_TEST_SUITE_P(
    Expressions, SyntaxError,
    testing::Values(
        Case{"x = = 3\n", "1:5: expected an expression, found `=`; comparison is written `==`\n"},
        Case{"x = a && b\n", "1:8: expected an expression, found `&`; write `and` for `&&`\n"},
        Case{"x = a || b\n", "1:8: expected an expression, found `|`; write `or` for `||`\n"},
        Case{"x = !a\n", "1:5: unexpected `!`; write `not x` or `x != y`\n"},
        Case{"x++\n", "1:4: expected an expression, found end of line; write `+= 1` for `++`\n"},
        Case{"x = a +\n", "1:8: expected an expression, found end of line\n"},
        Case{"x = a.1\n", "1:6: expected the end of the statement, found `.1`\n"},
        Case{"x.\n", "1:3: expected a name after `.`, found end of line\n"},
        Case{"x = a b\n", "1:7: expected the end of the statement, found `b`\n"},
        Case{"x = a if b\n", "1:11: expected `else` after the condition (`a if condition else "
                             "b`), found end of line\n"},
        Case{"x[]\n", "1:3: expected an index, found `]`\n"},
        Case{"f(a b)\n", "1:5: expected `,` or `)`, found `b`\n"},
        Case{"f(a=1, b)\n", "1:8: a positional argument cannot follow a keyword argument\n"},
        Case{"f(a=1, a=2)\n", "1:8: keyword argument `a` is given twice\n"},
        Case{"f(a.b=1)\n", "1:6: unexpected `=`; a keyword argument is `name=value`, and "
                           "comparison is written `==`\n"},
        Case{"f(x for x in y, 1)\n", "1:3: a generator among other arguments needs parentheses\n"},
        Case{"{1: 2, 3}\n", "1:9: expected `:` after the key, found `}`\n"},
        Case{"[*a for a in b]\n", "1:2: a comprehension cannot unpack its element with `*`\n"},
        Case{"x = *a\n", "1:5: a starred value can only stand in a list, tuple, set or call; "
                         "write `*x,` for a tuple\n"},
        Case{"x = 'a' b'b'\n", "1:9: bytes and strings cannot be joined\n"},
        Case{"x = 'a\\xg'\n", "1:7: this escape needs 2 hexadecimal digits\n"},
        Case{"x = '\\N{nothing}'\n", "1:6: no character is named `NOTHING`\n"},
        Case{"x = b'é'\n",
             "1:7: a bytes literal holds only ASCII characters; write `\\x` escapes\n"},
        Case{"f'{}'\n", "1:4: expected an expression in the f-string, found `}`\n"},
        Case{"f'{a!x}'\n", "1:6: expected a conversion (`!r`, `!s` or `!a`), found `x`\n"},
        Case{"f'{a b}'\n", "1:6: expected `}` in the f-string, found `b`\n"},
        Case{"lambda x, x: 1\n", "1:11: two parameters are named `x`\n"}));

INSTANTIATE_TEST_SUITE_P(
    Statements, SyntaxError,
    testing::Values(
        Case{"if x = 3:\n  pass\n",
             "1:6: expected `:` after `if`, found `=`; comparison is written `==`\n"},
        Case{"if x:\n  pass\nelse if y:\n  pass\n",
             "3:6: expected `:` after `else`, found `if`; write `elif` for `else if`\n"},
        Case{"break\n", "1:1: `break` stands outside of a loop\n"},
        Case{"for i in x:\n  def f():\n    continue\n",
             "3:5: `continue` stands outside of a loop\n"},
        Case{"while x:\n  pass\nelse:\n  break\n", "4:3: `break` stands outside of a loop\n"},
        Case{"else:\n  pass\n", "1:1: `else` without an `if` or loop at this indentation\n"},
        Case{"for i in r\n  pass\n", "1:11: expected `:` after `for`, found end of line\n"},
        Case{"def f():\npass\n",
             "1:9: expected an indented block after the head of the function\n"},
        Case{"def f(a, b=1, c): pass\n", "1:15: `c` needs a default value, since the parameter "
                                         "before it has one\n"},
        Case{"def f(*): pass\n", "1:8: a parameter must follow `*`\n"},
        Case{"def f(**k, a): pass\n", "1:12: no parameter can follow `**`\n"},
        Case{"x = 1\n  y = 2\nz = 3\n",
             "2:3: this line is indented, but nothing above it opens a block\n"},
        Case{"if x:\n    a\n  b\n", "3:1: indentation does not match any enclosing block\n"},
        Case{"5 = x\n", "1:1: cannot assign to a literal\n"},
        Case{"f() = x\n", "1:1: cannot assign to the result of a call\n"},
        Case{"a, b += 1\n", "1:1: `op=` assigns to a single target\n"},
        Case{"del f()\n", "1:5: cannot delete the result of a call\n"},
        Case{"print x\n", "1:1: `print` is a function; write `print(...)`\n"},
        Case{"// comment\n",
             "1:1: expected an expression, found `//`; a comment begins with `#`\n"},
        Case{"try:\n  a\nb\n", "1:1: `try` needs an `except` or a `finally`\n"},
        Case{"@jit\nx = 1\n", "2:1: expected a function or class after the decorator, found `x`\n"},
        Case{"import\n", "1:7: expected name, found end of line\n"},
        Case{"async x\n", "1:7: expected `def`, `for` or `with` after `async`, found `x`\n"}));

TEST(Recovery, EachStatementIsReportedByItself) {
  EXPECT_EQ(errorsOf("x = = 1\n"
                     "def f(a, b:\n" // never closed
                     "    return a\n"
                     "y = g(1, 2\n" // never closed
                     "z = 3\n"
                     "def h():\n"
                     "    q = = 2\n"
                     "    if q = 1:\n"
                     "        r = = 3\n"
                     "    else:\n"
                     "        pass\n"
                     "    s = 1 1\n"),
            "1:5: expected an expression, found `=`; comparison is written `==`\n"
            "2:6: `(` is never closed\n"
            "4:6: `(` is never closed\n"
            "7:9: expected an expression, found `=`; comparison is written `==`\n"
            "8:10: expected `:` after `if`, found `=`; comparison is written `==`\n"
            "9:13: expected an expression, found `=`; comparison is written `==`\n"
            "12:11: expected the end of the statement, found `1`\n");
}

TEST(Recovery, WhatParsedIsKept) {
  Parsed parsed("a = 1\nb = = 2\ndef f():\n  c = = 3\n  d = 4\ne = 5\n");
  EXPECT_EQ(parsed.diagnostics.numErrors(), 2u);
  ASSERT_EQ(parsed.module.body.size(), 3u);
  EXPECT_EQ(llvm::cast<tile::ast::FunctionDef>(*parsed.module.body[1]).body.size(), 1u);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

std::string printed(std::string text, SourceRange range) {
  SourceFile file("a.tile", std::move(text));
  DiagnosticEngine diagnostics;
  diagnostics.error(&file, range, "wrong");
  return diagnostics.str();
}

TEST(Printing, QuotesAndUnderlines) {
  EXPECT_EQ(printed("x\nab = cd\n", {7, 9}), "a.tile:2:6: error: wrong\n"
                                             "    2 | ab = cd\n"
                                             "      |      ^~\n");
  EXPECT_EQ(printed("\tx = y\n", {5, 6}), "a.tile:1:6: error: wrong\n"
                                          "    1 | \tx = y\n"
                                          "      | \t    ^\n");
  EXPECT_EQ(printed("", {0, 0}), "a.tile:1:1: error: wrong\n    1 | \n      | ^\n");
  EXPECT_EQ(printed("a(\nb)", {0, 5}), "a.tile:1:1: error: wrong\n"
                                       "    1 | a(\n      | ^~\n");
}

TEST(Printing, CountsDisplayColumns) {
  EXPECT_EQ(printed("é = 中 + x", {5, 8}), "a.tile:1:6: error: wrong\n"
                                           "    1 | é = 中 + x\n"
                                           "      |     ^~\n");
  EXPECT_EQ(printed("a\x01\xff = x", {6, 7}), "a.tile:1:7: error: wrong\n"
                                              "    1 | a?? = x\n"
                                              "      |       ^\n");
}

TEST(Printing, LongLinesAreCutAroundTheRange) {
  std::string text = std::string(5000, 'a') + "+bc+" + std::string(5000, 'd');
  std::string out = printed(text, {5001, 5003});
  EXPECT_LT(out.size(), 400u);
  EXPECT_NE(out.find("..."), std::string::npos);
  // The caret stands under the `b`.
  llvm::StringRef rest = llvm::StringRef(out).split('\n').second;
  auto [quoted, marks] = rest.split('\n');
  EXPECT_EQ(quoted.find("bc"), marks.find("^~"));
}

TEST(Printing, NotesAndColour) {
  SourceFile file("a.tile", "abc\n");
  DiagnosticEngine diagnostics;
  Diagnostic &error = diagnostics.error(&file, {0, 3}, "wrong");
  error.notes.push_back({Severity::Note, &file, {1, 2}, "here", {}, false});
  diagnostics.warning(nullptr, {}, "careful");
  EXPECT_EQ(diagnostics.str(), "a.tile:1:1: error: wrong\n    1 | abc\n      | ^~~\n"
                               "  a.tile:1:2: note: here\n      1 | abc\n        |  ^\n"
                               "warning: careful\n");
  std::string colored;
  llvm::raw_string_ostream os(colored);
  diagnostics.print(os, /*color=*/true);
  EXPECT_NE(colored.find("\033["), std::string::npos);
  EXPECT_FALSE(diagnostics.onlyUnsupported());

  DiagnosticEngine other;
  other.error(nullptr, {}, "not yet").unsupported = true;
  EXPECT_TRUE(other.onlyUnsupported());
}

TEST(Suggestions, NearestName) {
  EXPECT_EQ(nearestName("axs", {"axis", "keep"}), "axis");
  EXPECT_EQ(nearestName("blok", {"other", "block"}), "block");
  EXPECT_EQ(nearestName("SUM", {"sum"}), "sum");
  EXPECT_EQ(nearestName("programid", {"program_id", "num_programs"}), "program_id");
  EXPECT_EQ(nearestName("loda", {"log", "load"}), "load");
  EXPECT_EQ(nearestName("x", {"y", "z"}), "");
  EXPECT_EQ(nearestName("softmax", {"load", "store"}), "");
}

TEST(SourceFile, LinesAndColumns) {
  SourceFile file("f", "\xEF\xBB\xBF"
                       "a\r\nbc\rd\n");
  EXPECT_EQ(file.text(), "a\r\nbc\rd\n");
  EXPECT_EQ(file.numLines(), 4u);
  EXPECT_EQ(file.line(2), "bc");
  EXPECT_EQ(file.line(1), "a");
  EXPECT_EQ(file.line(9), "");
  EXPECT_EQ(file.locate(4).line, 2u);
  EXPECT_EQ(file.locate(4).column, 2u);
  EXPECT_EQ(file.offsetOf(2, 2), 4u);
  EXPECT_EQ(file.locate(1000).line, 4u);
  std::string error;
  EXPECT_EQ(SourceFile::open("no/such/file.tile", error), nullptr);
  EXPECT_NE(error.find("no/such/file.tile"), std::string::npos);
}

} // namespace
