//===- RobustnessTest.cpp - any bytes at all, quickly ---------------------===//
//
// The parser must return for every input: no crash, no exhausted stack, no
// quadratic time; and any text it rejects, it rejects with a message.
//
//===----------------------------------------------------------------------===//
#include "ParseHelpers.h"
#include <random>

using namespace tile::frontend;

namespace {

/// Touches most of the grammar.
const std::string sample = R"PY(import triton
import triton.language as tl

@triton.jit
def kernel(x: "*fp32", n, BLOCK: tl.constexpr = 1_024, *args):
    """Doc 'string' with \N{EM DASH}."""
    pid = tl.program_id(axis=0)
    offs = pid * BLOCK + tl.arange(0, BLOCK)[None, :]
    for k, (a, b) in tl.range(0, n, 0x10, num_stages=3):
        if k < 3 and not (a == 1.5e-3 or b is not None):
            acc += tl.dot(a, b, acc, out_dtype=tl.float32)
        elif f"{k!r:>{n}} {{}} {a=}" != 'x' "y":
            x[k:n, ::2].y = {**d, 1: lambda v=2, *w: -v ** ~w}
        else:
            assert a, "m"; pass
    while (y := f(*args, key=[i for i in z if i])):
        try:
            with open(p) as q, (r): return a, b
        except (E, F) as e:
            raise G from e
        finally:
            del x[0]
	# comment with a tab
    return 1 if x else (yield)
)PY";

TEST(Robustness, SampleItselfIsWellFormed) {
  std::string text = sample;
  text.erase(text.find('\t'), text.find('\n', text.find('\t')) - text.find('\t'));
  EXPECT_EQ(errorsOf(text), "");
}

TEST(Robustness, TruncatedAnywhere) {
  for (size_t length = 0; length < sample.size(); ++length)
    errorsOf(sample.substr(0, length));
}

TEST(Robustness, AnyByteReplaced) {
  for (size_t i = 0; i < sample.size(); ++i) {
    for (char c : {'\0', '(', ')', '\'', '"', '\n', '{', '\\', '\xff', ':', ' '}) {
      std::string text = sample;
      text[i] = c;
      errorsOf(text);
    }
  }
}

TEST(Robustness, AnyByteRemovedOrDoubled) {
  for (size_t i = 0; i < sample.size(); ++i) {
    errorsOf(sample.substr(0, i) + sample.substr(i + 1));
    errorsOf(sample.substr(0, i + 1) + sample.substr(i));
  }
}

TEST(Robustness, LinesShuffledAndSpliced) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string text = sample;
    for (int edit = 0; edit < 4; ++edit) {
      size_t from = random() % text.size(), length = random() % 40, to = random() % text.size();
      text.insert(to, text.substr(from, length));
    }
    std::string first = errorsOf(text);
    EXPECT_EQ(first, errorsOf(text));
  }
}

TEST(Robustness, RandomBytes) {
  std::mt19937 random(2);
  const std::string alphabet = "()[]{}'\"\\f:=!#\n\n \t*.,ab01_xej\xc3\xa9\xff";
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (unsigned i = random() % 80; i; --i)
      text += alphabet[random() % alphabet.size()];
    errorsOf(text);
  }
}

std::string repeated(const std::string &piece, unsigned count) {
  std::string out;
  for (unsigned i = 0; i < count; ++i)
    out += piece;
  return out;
}

/// Exactly one error, which speaks of a limit.
void expectLimit(const std::string &text, const std::string &words) {
  std::string errors = errorsOf(text);
  EXPECT_NE(errors.find(words), std::string::npos) << errors.substr(0, 200);
}

TEST(Limits, DeepNestingIsAnError) {
  constexpr unsigned deep = 100000;
  for (const char *piece : {"(", "[", "{", "f(", "-", "not ", "lambda: ", "a[", "2**",
                            "{1:", "a if b else ", "*(", "(*", "{**", "a[*", "(x:=", "~", "[*"})
    expectLimit("x = " + repeated(piece, deep) + "1\n", "nested more than 256 deep");
  std::string fstrings = "x = " + repeated("f'{", 2000);
  expectLimit(fstrings, ""); // never closed, or too deep
}

TEST(Limits, LongChainsAreAnError) {
  constexpr unsigned deep = 100000;
  for (const char *piece : {" + 1", ".a", "[0]", "()"})
    expectLimit("x = a" + repeated(piece, deep) + "\n", "more than 1000 operations are chained");
  expectLimit("if a: b\n" + repeated("elif a: b\n", deep), "`elif` follow one another");
}

TEST(Limits, DeepBlocksAreAnError) {
  std::string text;
  for (unsigned i = 0; i < 2000; ++i)
    text += std::string(i, ' ') + "if x:\n";
  expectLimit(text, "blocks are nested more than 100 deep");
}

TEST(Limits, WideIsFine) {
  constexpr unsigned wide = 20000;
  EXPECT_EQ(errorsOf("x = [" + repeated("a.b.c + d, ", wide) + "]\n"), "");
  EXPECT_EQ(errorsOf("x = f(" + repeated("a, ", wide) + ")\n"), "");
  EXPECT_EQ(errorsOf("x = a" + repeated(" and b.c", wide) + "\n"), "");
  EXPECT_EQ(errorsOf("x = " + repeated("'a' ", wide) + "\n"), "");
  EXPECT_EQ(errorsOf(repeated("x = 1\n", wide)), "");
  EXPECT_EQ(errorsOf("x = a" + repeated(" * b.c.d + 1", 400) + "\n"), "");
  EXPECT_EQ(errorsOf("x = " + repeated("(", 200) + "1" + repeated(")", 200) + "\n"), "");
}

TEST(Limits, HostileTextsTakeLinearTime) {
  // Each of these once was a way to read the same text over and over.
  constexpr unsigned many = 30000;
  errorsOf(repeated("(\n", many));
  errorsOf(repeated("(\n", many) + "def");
  errorsOf(repeated("x = (1\n", many));
  errorsOf(repeated("f'{", many));
  errorsOf(repeated("match x:\n", many));
  errorsOf("(" + repeated("a ", many));
  errorsOf("with (" + repeated("a, ", many) + "):pass\n");
  errorsOf(repeated("'''", many));
  errorsOf("x = " + std::string(1 << 20, '9') + "\n");
  errorsOf("x = 0x" + std::string(16000, 'f') + "\n");
  errorsOf(repeated("x = $\n", many));
}

TEST(Limits, NumbersHaveALength) {
  EXPECT_EQ(errorsOf("x = " + std::string(4301, '9') + "\n"),
            "1:5: a decimal number may have at most 4300 digits; hexadecimal ones may have more\n");
  EXPECT_EQ(errorsOf("x = " + std::string(4300, '9') + "\n"), "");
  EXPECT_EQ(errorsOf("x = 1." + std::string(20000, '9') + "\n"),
            "1:5: a number may have at most 16384 characters\n");
}

} // namespace
