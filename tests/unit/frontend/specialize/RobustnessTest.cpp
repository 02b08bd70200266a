//===- RobustnessTest.cpp - kernels with random mistakes ------------------===//
//
// Whatever a kernel looks like, the outcome is valid IR or an error, never a
// crash, and never both.
//
//===----------------------------------------------------------------------===//
#include "SpecializeHelpers.h"
#include <random>

using namespace tile;
using namespace tile::test;

static const char *sources[] = {R"(
import triton
import triton.language as tl

@triton.jit
def helper(a, b, FLAG: tl.constexpr = True):
    if FLAG and a > 0:
        return a + b
    c = a * b
    return c - 1

@triton.jit
def k(x: "*fp32:16", y: "*fp16", p: "*i32", n: "i32", m: "i64", B: tl.constexpr = 16):
    pid = tl.program_id(0)
    if pid >= n:
        return
    offs = pid * B + tl.arange(0, B)
    mask = offs < m
    v = tl.load(x + offs, mask=mask, other=0.0)
    total = tl.zeros([B], dtype=tl.float32)
    for i in range(0, n, B):
        w = tl.load(y + i + offs, mask).to(tl.float32)
        if i % 3 == 0:
            continue
        if i == m:
            break
        total += tl.where(w > v, w, 0.5) * helper(i, 2)
    s, at = tl.max(total, axis=0, return_indices=True)
    tl.store(p + offs, tl.cumsum(offs, axis=0), mask=mask)
    tl.store(x + offs, (v - s) / tl.sum(total, axis=0), mask=mask)
)",
                                R"(
import triton
import triton.language as tl

@triton.jit
def combine(a, i, b, j):
    take = (a > b) | ((a == b) & (i < j))
    return tl.where(take, a, b), tl.where(take, i, j)

@triton.jit
def k(x: "*fp32", out: "*fp32", rows: "i32", N: tl.constexpr = 8, M: tl.constexpr = 4):
    pair = (0, 1)
    i = 0
    while i < rows:
        pair = (pair[1], pair[0] + pair[1])
        i += 1
    a = tl.arange(0, N)[:, None]
    b = tl.arange(0, M)[None, :]
    v = tl.load(x + a * M + b)
    left, right = tl.split(tl.reshape(v, N, M // 2, 2))
    best, where = tl.reduce((v, tl.broadcast_to(b, N, M)), 1, combine)
    for j, t in enumerate((left, right)):
        v += tl.sum(t) * j
    q = tl.softmax(v, dim=1) if rows > 3 else tl.trans(tl.trans(v))
    for j in tl.static_range(3):
        q = tl.sort(q) + j
    tl.store(out + a * M + b, q + best[:, None] + pair[0])
)"};

static std::vector<std::string> tokens(const std::string &text) {
  std::vector<std::string> result;
  auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t i = 0; i < text.size();) {
    size_t end = i + 1;
    if (isWord(text[i]))
      while (end < text.size() && isWord(text[end]))
        ++end;
    result.push_back(text.substr(i, end - i));
    i = end;
  }
  return result;
}

static std::string mutate(const std::string &source, std::mt19937 &random) {
  static const char *foreign[] = {"0",     "-1",       "None",  "True", "x",      "tl.float32",
                                  "1.5",   "(1, 2)",   "if",    "else", "return", "break",
                                  "**",    "not",      "'s'",   "[0]",  "10**30", "lambda a: a",
                                  "print", "[None,:]", "while", "@",    "~",      "tl.constexpr"};
  std::vector<std::string> parts = tokens(source);
  for (unsigned changes = 1 + random() % 3; changes; --changes) {
    size_t at = random() % parts.size();
    switch (random() % 4) {
    case 0:
      parts[at] = foreign[random() % std::size(foreign)];
      break;
    case 1:
      parts.erase(parts.begin() + at);
      break;
    case 2:
      parts.insert(parts.begin() + at, parts[random() % parts.size()]);
      break;
    default:
      parts[at] = parts[random() % parts.size()];
    }
  }
  std::string text;
  for (const std::string &part : parts)
    text += part;
  return text;
}

TEST(Robustness, MutatedKernels) {
  unsigned accepted = 0, refused = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    std::string text = mutate(sources[seed % std::size(sources)], random);
    CompileOptions options;
    options.kernel = "k";
    options.debug = seed % 3 == 0;
    // The helper checks that there is IR exactly if there is no error, and
    // that the IR is valid.
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    Outcome out = test::specialize(text, options);
    ++(out ? accepted : refused);
    if (testing::Test::HasFailure())
      return;
  }
  EXPECT_GT(accepted, 100u);
  EXPECT_GT(refused, 100u);
}
