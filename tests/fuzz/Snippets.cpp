//===- Snippets.cpp - random statements in Python's grammar ----------------===//
#include "tests/fuzz/Snippets.h"
#include <initializer_list>

using namespace tile::fuzz;

namespace {

class Writer {
public:
  explicit Writer(std::mt19937_64 &random) : random(random) {}

  std::string statements(const std::string &indent, unsigned depth) {
    std::string text;
    for (uint64_t k = 0, n = 1 + below(3); k < n; ++k)
      text += statement(indent, depth);
    return text;
  }
  std::string expression(unsigned depth);

private:
  uint64_t below(uint64_t n) { return random() % n; }
  std::string oneOf(std::initializer_list<const char *> list) {
    return *(list.begin() + below(list.size()));
  }
  std::string name() {
    return oneOf(
        {"x",     "n",    "i",      "pid",    "acc",  "BLOCK", "mask",      "offsets",
         "out",   "tl",   "triton", "kernel", "self", "_",     "__class__", "\xc3\xa9t\xc3\xa9",
         "match", "case", "type",   "print",  "len",  "tile",  "range"});
  }
  std::string target(unsigned depth);
  std::string literal();
  std::string string(unsigned depth);
  std::string arguments(unsigned depth);
  std::string parameters(unsigned depth);
  std::string statement(const std::string &indent, unsigned depth);
  std::string simple(unsigned depth);
  std::string compound(const std::string &indent, unsigned depth);
  std::string pattern(unsigned depth);

  std::mt19937_64 &random;
};

} // namespace

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

std::string Writer::literal() {
  return oneOf({"0",
                "1",
                "-1",
                "2",
                "16",
                "64",
                "1024",
                "0x7fffffff",
                "0xFFFF_FFFF",
                "0o17",
                "0b1011",
                "1_000_000",
                "2147483648",
                "9223372036854775807",
                "9223372036854775808",
                "340282366920938463463374607431768211456",
                "1e308",
                "1e309",
                ".5",
                "5.",
                "1e-400",
                "3j",
                "1__0",
                "0x",
                "1e",
                "007",
                "True",
                "None",
                "...",
                "float('nan')",
                "float('-inf')",
                "10**100",
                "1 << 200",
                "(1 << 64) - 1",
                "-(1 << 63)"});
}

std::string Writer::string(unsigned depth) {
  switch (below(6)) {
  case 0:
    return oneOf({"'a'", "\"\"", "'''a\nb'''", "r'\\d'", "b'\\x00'", "u'\\u00e9'", "'\\N{DASH}'",
                  "'\\777'", "'\\xZZ'", "'a' \"b\"", "\"\"\"", "'", "f'", "rb'\\'", "'\\\n'"});
  case 1:
    return "f\"{" + expression(depth) +
           oneOf({"}", "!r}", ":>10}", ":{n}}", "=}", "!x}", "", "}}", ":"}) + "\"";
  case 2:
    return "f'a{{b}}{" + expression(depth) + ":{" + expression(depth) + "}}'";
  case 3:
    return "f'{f\"{" + expression(depth) + "}\"}'";
  case 4:
    return "'" + std::string(below(4000), 'a') + "'";
  default:
    return oneOf({"'*fp32:16'", "'i32'", "'constexpr'", "\"tl.constexpr\"", "'%s %d' % (1, 2)"});
  }
}

std::string Writer::arguments(unsigned depth) {
  std::string text;
  for (uint64_t k = 0, n = below(4); k < n; ++k)
    text +=
        (k ? ", " : "") + oneOf({"", "", "*", "**", "axis=", "x=", "mask="}) + expression(depth);
  return text + oneOf({"", "", ","});
}

std::string Writer::parameters(unsigned depth) {
  std::string text;
  for (uint64_t k = 0, n = below(5); k < n; ++k)
    text += (k ? ", " : "") + oneOf({"", "", "", "*", "**", "/, ", "*, "}) + name() +
            oneOf({"", "", ": tl.constexpr", ": 'i32'", ": int"}) +
            (below(3) ? "" : " = " + expression(depth));
  return text;
}

std::string Writer::expression(unsigned depth) {
  if (depth == 0)
    return below(2) ? name() : literal();
  --depth;
  auto sub = [&] { return expression(depth); };
  switch (below(22)) {
  case 0:
    return sub() +
           oneOf({" + ", " - ", " * ", " / ", " // ", " % ", " ** ", " @ ", " << ", " >> ", " & ",
                  " | ", " ^ "}) +
           sub();
  case 1:
    return sub() + oneOf({" < ", " == ", " in ", " not in ", " is ", " is not ", " != ", " <> "}) +
           sub() + oneOf({" <= ", " and ", " or ", " > "}) + sub();
  case 2:
    return oneOf({"-", "+", "~", "not ", "await ", "*", "- - -", "~-+"}) + sub();
  case 3:
    return "(" + sub() + " if " + sub() + " else " + sub() + ")";
  case 4:
    return "(lambda " + parameters(0) + ": " + sub() + ")" + oneOf({"", "(1)", "()"});
  case 5:
    return oneOf({"[", "{", "("}) + sub() + " for " + target(depth) + " in " + sub() +
           (below(2) ? " if " + sub() : "") + oneOf({"]", "}", ")"});
  case 6:
    return "[" + arguments(depth) + "]";
  case 7:
    return "(" + arguments(depth) + ")";
  case 8:
    return "{" + sub() + ": " + sub() + ", **" + sub() + "}";
  case 9:
    return "{" + sub() + ", " + sub() + "}";
  case 10:
    return "(" + name() + " := " + sub() + ")";
  case 11:
    return sub() + "[" +
           oneOf({"None, :", ":, None", "...", "::2", "0", "-1:", ":, :, None", "", "*n"}) + "]";
  case 12:
    return sub() + "[" + sub() + ":" + sub() + ":" + sub() + "]";
  case 13:
    return sub() + "." +
           oneOf({"to", "T", "dtype", "shape", "type.element_ty", "value", "__dict__", "sum"});
  case 14:
    return string(depth);
  case 15:
    return "(yield " + sub() + ")";
  case 16:
  case 17:
    return oneOf({"tl.arange",
                  "tl.zeros",
                  "tl.full",
                  "tl.load",
                  "tl.sum",
                  "tl.dot",
                  "tl.reduce",
                  "tl.associative_scan",
                  "tl.where",
                  "tl.constexpr",
                  "tl.static_range",
                  "tl.range",
                  "tl.cast",
                  "tl.reshape",
                  "tl.make_block_ptr",
                  "tl.inline_asm_elementwise",
                  "len",
                  "isinstance",
                  "getattr",
                  "range",
                  "zip",
                  "enumerate",
                  "int",
                  "float",
                  "max",
                  "min",
                  "abs",
                  "tuple",
                  "list",
                  "str",
                  "print",
                  "type",
                  "super",
                  "eval",
                  "map",
                  "sorted",
                  "triton.cdiv",
                  "triton.next_power_of_2",
                  "tl.tensor",
                  "tl.pointer_type",
                  "tl.sort"}) +
           "(" + arguments(depth) + ")";
  default:
    return below(2) ? name() : literal();
  }
}

std::string Writer::target(unsigned depth) {
  return oneOf({"", "", "*", "a, ", "(a, *b), ", "[", "a.b = ", "x[0] = ", "1 = "}) + name() +
         (below(6) ? "" : ", " + expression(depth));
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

std::string Writer::simple(unsigned depth) {
  auto e = [&] { return expression(depth); };
  switch (below(14)) {
  case 0:
  case 1:
    return target(depth) + " = " + e();
  case 2:
    return name() + oneOf({" += ", " -= ", " *= ", " //= ", " **= ", " @= ", " <<= ", " :="}) + e();
  case 3:
    return name() + ": " + oneOf({"tl.constexpr", "int", "'f'", "tl.tensor"}) +
           (below(2) ? " = " + e() : "");
  case 4:
    return oneOf({"del ", "global ", "nonlocal ", "raise ", "assert ", "return ", "yield ",
                  "await ", "yield from ", "print "}) +
           e();
  case 5:
    return oneOf({"import triton", "import a.b as c, d", "from . import x", "from .. import *",
                  "from triton.language import (a, b as c,)", "from x import", "import",
                  "from a.b import c"});
  case 6:
    return oneOf(
        {"pass", "break", "continue", "return", "raise", "...", ";", "pass;", "pass; pass"});
  case 7:
    return "assert " + e() + ", " + e();
  case 8:
    return "type " + name() + "[T] = " + e();
  case 9:
    return name() + " = " + e() + "  # type: " + oneOf({"int", "ignore", "List[", "(...) -> x"});
  case 10:
    return name() + " = \\\n    " + e();
  case 11:
    return target(depth) + " = " + target(depth) + " = " + e();
  default:
    return e();
  }
}

std::string Writer::pattern(unsigned depth) {
  return oneOf({"_", "1 | 2", "[a, *rest]", "{'k': v, **r}", "Point(x=0)", "(a as b)", "-1", "'s'",
                "a.b", "None"}) +
         (below(3) ? "" : " if " + expression(depth));
}

std::string Writer::compound(const std::string &indent, unsigned depth) {
  auto e = [&] { return expression(depth); };
  auto body = [&] {
    return below(12) ? ":\n" + statements(indent + oneOf({"    ", "    ", "    ", "  ", "\t", " "}),
                                          depth)
                     : ": " + simple(depth) + "\n";
  };
  std::string more = below(3) ? "" : indent + "else" + body();
  switch (below(10)) {
  case 0:
    return "if " + e() + body() + (below(2) ? indent + "elif " + e() + body() : "") + more;
  case 1:
    return "for " + target(depth) + " in " + e() + body() + more;
  case 2:
    return "while " + e() + body() + more;
  case 3:
    return oneOf({"with ", "async with "}) + e() + oneOf({"", " as x", " as (a, b)", ", y as z"}) +
           body();
  case 4:
    return "try" + body() + indent + oneOf({"except", "except E as e", "except* E", "finally"}) +
           body() + more;
  case 5:
    return oneOf({"def ", "async def "}) + name() + oneOf({"", "[T]", "[*Ts, **P]"}) + "(" +
           parameters(depth) + ")" + (below(3) ? "" : " -> " + e()) + body();
  case 6:
    return "class " + name() + oneOf({"", "()", "(Base)", "(metaclass=M)", "(*b, **k)", "[T]"}) +
           body();
  case 7: {
    std::string decorator =
        "@" +
        oneOf({"triton.jit", "triton.jit()", "triton.aggregate", "staticmethod", "property",
               "triton.constexpr_function", "triton.heuristics({})",
               "triton.autotune(configs=[], key=[])", "tile.test(n=[1])", "dataclass",
               "triton.jit(noinline=True)", "functools.wraps(f)"}) +
        "\n";
    return decorator + indent + (below(3) ? "@" + e() + "\n" + indent : "") +
           oneOf({"def ", "class "}) + name() + "(" + parameters(depth) + ")" + body();
  }
  case 8:
    return "match " + e() + ":\n" + indent + "    case " + pattern(depth) + ":\n" +
           statements(indent + "        ", depth) + indent + "    case _: pass\n";
  default:
    return simple(depth) + "; " + simple(depth) + "\n";
  }
}

std::string Writer::statement(const std::string &indent, unsigned depth) {
  if (depth == 0 || below(5) < 3)
    return indent + simple(2) + "\n";
  return indent + compound(indent, depth - 1);
}

std::string tile::fuzz::randomStatements(std::mt19937_64 &random, const std::string &indent) {
  return Writer(random).statements(indent, 3);
}

std::string tile::fuzz::randomExpression(std::mt19937_64 &random, unsigned depth) {
  return Writer(random).expression(depth);
}

//===----------------------------------------------------------------------===//
// Texts as a whole
//===----------------------------------------------------------------------===//

static std::string repeated(const char *text, uint64_t times) {
  std::string result;
  for (uint64_t k = 0; k < times; ++k)
    result += text;
  return result;
}

/// Something long or deep, as one line.
static std::string monster(std::mt19937_64 &random) {
  uint64_t n = uint64_t(1) << (4 + random() % 13);
  switch (random() % 14) {
  case 0:
    return "x = " + repeated("(", n) + "1" + repeated(")", n);
  case 1:
    return "x = " + repeated("[", n);
  case 2:
    return "x = " + repeated("-", n) + "1";
  case 3:
    return "x = " + repeated("not ", n) + "1";
  case 4:
    return "x = " + std::string(n, '9');
  case 5:
    return "x = 0x" + std::string(n, 'f') + " ** 2";
  case 6:
    return "x = 1" + repeated(" + 1", n);
  case 7:
    return "x = f(" + repeated("f(", n);
  case 8:
    return "x = " + repeated("lambda: ", n) + "1";
  case 9:
    return "x = " + repeated("1 if 1 else ", n) + "1";
  case 10:
    return "x" + repeated(".x", n) + " = 1";
  case 11:
    return "x = x" + repeated("[0]", n);
  case 12:
    return "x = '" + repeated("{", n);
  default: {
    std::string text;
    for (uint64_t k = 0; k < n % 700; ++k)
      text += std::string(k, ' ') + "if x:\n";
    return text;
  }
  }
}

std::string tile::fuzz::distorted(std::mt19937_64 &random, std::string text) {
  auto replaceAll = [&](const std::string &from, const std::string &to) {
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
      text.replace(at, from.size(), to);
  };
  auto anywhere = [&] { return text.empty() ? 0 : random() % text.size(); };
  switch (random() % 10) {
  case 0:
    replaceAll("\n", "\r\n");
    break;
  case 1:
    replaceAll("\n", "\r");
    break;
  case 2:
    replaceAll("    ", "\t");
    break;
  case 3:
    text.insert(anywhere(), 1, '\0');
    break;
  case 4:
    text.insert(0, "\xef\xbb\xbf");
    break;
  case 5: {
    static constexpr const char *odd[] = {"\xc2\xa0",
                                          "\xe2\x80\xa8",
                                          "\xe2\x80\x8b",
                                          "\f",
                                          "\v",
                                          "\xed\xa0\x80",
                                          "\xf4\x90\x80\x80",
                                          "\xc0\x80",
                                          "\xf0\x9d\x94\xb8",
                                          "\xce\xb1",
                                          "\x1b[31m"};
    text.insert(anywhere(), odd[random() % std::size(odd)]);
    break;
  }
  case 6:
    text.resize(anywhere()); // cut off in the middle
    break;
  default: {
    size_t line = text.find('\n', anywhere());
    line = line == std::string::npos ? text.size() : line + 1;
    size_t indent = text.find_first_not_of(" ", line);
    std::string blanks = indent == std::string::npos ? "" : std::string(indent - line, ' ');
    text.insert(line, blanks + monster(random) + "\n");
  }
  }
  return text;
}
