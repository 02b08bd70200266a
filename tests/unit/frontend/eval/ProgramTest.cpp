//===- ProgramTest.cpp - functions, statements and a file's globals -------===//
#include "EvalTest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::eval;

namespace {

//===----------------------------------------------------------------------===//
// Functions and statements
//===----------------------------------------------------------------------===//

TEST(Function, ControlFlow) {
  TestFile file(R"(
def collatz(n):
    steps = 0
    while n != 1:
        if n % 2 == 0:
            n //= 2
        else:
            n = 3 * n + 1
        steps += 1
        if steps > 1000:
            break
    else:
        return steps
    return -1

def pairs(n):
    out = []
    for i in range(n):
        for j in range(i):
            if j == 1:
                continue
            out.append((i, j))
    return out

def unpack():
    (a, b), *c, d = (1, 2), 3, 4, 5
    x = y = a
    c[0] += 10
    return a, b, c, d, x, y
)");
  EXPECT_EQ(file.call("collatz", {PyValue::integer(27)}), "111");
  EXPECT_EQ(file.call("pairs", {PyValue::integer(4)}), "[(1, 0), (2, 0), (3, 0), (3, 2)]");
  EXPECT_EQ(file.call("unpack"), "(1, 2, [13, 4], 5, 1, 1)");
}

TEST(Function, ArgumentsOfEveryKind) {
  TestFile file(R"(
def f(a, b=2, *rest, key=4, **more):
    return a, b, rest, key, more
one = f(1)
all = f(1, 20, 30, 40, key=5, z=6)
spread = f(*[1, 2, 3], **{'key': 7})
named = f(b=1, a=2)
missing = f()
twice = f(1, a=1)
def g(alpha, beta): return alpha
wrong = g(1, bata=2)
many = g(1, 2, 3)
)");
  EXPECT_EQ(file.get("one"), "(1, 2, (), 4, {})");
  EXPECT_EQ(file.get("all"), "(1, 20, (30, 40), 5, {'z': 6})");
  EXPECT_EQ(file.get("spread"), "(1, 2, (3,), 7, {})");
  EXPECT_EQ(file.get("named"), "(2, 1, (), 4, {})");
  EXPECT_NE(file.get("missing").find("`f` needs its argument `a`"), std::string::npos);
  EXPECT_NE(file.get("twice").find("got its argument `a` twice"), std::string::npos);
  EXPECT_NE(file.get("wrong").find("no parameter `bata`; did you mean `beta`?"), std::string::npos);
  EXPECT_NE(file.get("many").find("takes 2 positional arguments, got 3"), std::string::npos);
}

TEST(Function, ClosuresSeeVariablesNotValues) {
  TestFile file(R"(
def counter():
    n = 0
    def step():
        nonlocal n
        n += 1
        return n
    step()
    step()
    return n, step()

def late():
    fs = []
    for i in range(3):
        fs.append(lambda: i)
    return [f() for f in fs]

def early():
    fs = []
    for i in range(3):
        fs.append(lambda i=i: i)
    return [f() for f in fs]

def walrus():
    return [y := x * 2 for x in range(3)], y
)");
  EXPECT_EQ(file.call("counter"), "(2, 3)");
  EXPECT_EQ(file.call("late"), "[2, 2, 2]");
  EXPECT_EQ(file.call("early"), "[0, 1, 2]");
  EXPECT_EQ(file.call("walrus"), "([0, 2, 4], 4)");
}

TEST(Function, PlacesOfAugmentedAssignmentsAreComputedOnce) {
  TestFile file(R"(
def once():
    counts, values, rows = [0], [0, 0, 0], [[1], [2]]
    def next():
        counts[0] += 1
        return counts[0]
    values[next()] += 5
    rows[next() - 2][0] *= 7
    return counts, values, rows
def held():
    l, s, d = [1, 2], {1, 2, 3}, {'a': 1}
    others = (l, s, d)
    l *= 2
    s &= {2, 3}
    s |= {9}
    d |= {'b': 2}
    t = (l,)
    n = 3
    m = n
    n *= 2
    return others, t, n, m
)");
  EXPECT_EQ(file.call("once"), "([2], [0, 5, 0], [[7], [2]])");
  EXPECT_EQ(file.call("held"),
            "(([1, 2, 1, 2], {2, 3, 9}, {'a': 1, 'b': 2}), ([1, 2, 1, 2],), 6, 3)");
}

TEST(Function, AnExceptionIsWhatItSays) {
  TestFile file(R"(
def said(f):
    try:
        f()
    except Exception as e:
        return str(e)
def raising(e):
    raise e
def asserting(message):
    assert not message, message
a = said(lambda: raising(ValueError('two words')))
b = said(lambda: raising(KeyError()))
c = said(lambda: raising(RuntimeError))
d = said(lambda: asserting('why'))
e = said(lambda: raising(ValueError('ValueError: twice')))
)");
  EXPECT_EQ(file.get("a"), "'two words'");
  EXPECT_EQ(file.get("b"), "''");
  EXPECT_EQ(file.get("c"), "''");
  EXPECT_EQ(file.get("d"), "'why'");
  EXPECT_EQ(file.get("e"), "'ValueError: twice'");
}

TEST(Function, Exceptions) {
  TestFile file(R"(
def guarded(f):
    try:
        value = f()
    except (ZeroDivisionError, KeyError) as e:
        return 'caught ' + e
    except LookupError:
        return 'lookup'
    else:
        return value
    finally:
        pass
a = guarded(lambda: 1 // 0)
b = guarded(lambda: [][1])
c = guarded(lambda: 5)
d = guarded(lambda: 'x' + 1)
def fails():
    raise ValueError('bad', 3)
def asserts(x):
    assert x == 3
def explains(x):
    assert x == 3, f'got {x}'
)");
  EXPECT_EQ(file.get("a"), "'caught division by zero'");
  EXPECT_EQ(file.get("b"), "'lookup'");
  EXPECT_EQ(file.get("c"), "5");
  EXPECT_EQ(file.get("d").substr(0, 10), "TypeError:");
  EXPECT_EQ(file.call("fails"), "ValueError: ValueError: bad, 3");
  EXPECT_EQ(file.call("asserts", {PyValue::integer(4)}),
            "AssertionError: assertion failed: 4 == 3");
  EXPECT_EQ(file.call("explains", {PyValue::integer(4)}),
            "AssertionError: assertion failed: got 4");
  EXPECT_EQ(file.call("asserts", {PyValue::integer(3)}), "None");
}

TEST(Function, NamedTuples) {
  TestFile file(R"(
from collections import namedtuple
from typing import NamedTuple
Point = namedtuple('Point', 'x y', defaults=[7])
class Box(NamedTuple):
    lo: int
    hi: int = 9
p = Point(1)
q = p._replace(x=5)
b = Box(3)
parts = (p.x, p[1], len(p), p == (1, 7), b.hi, isinstance(b, Box), isinstance(b, tuple))
wrong = p.z
)");
  EXPECT_EQ(file.get("p"), "Point(x=1, y=7)");
  EXPECT_EQ(file.get("q"), "Point(x=5, y=7)");
  EXPECT_EQ(file.get("b"), "Box(lo=3, hi=9)");
  EXPECT_EQ(file.get("parts"), "(1, 7, 2, True, 9, True, True)");
  EXPECT_NE(file.get("wrong").find("has no attribute `z`"), std::string::npos);
}

TEST(Function, ClosuresAreReleasedWithTheirProgram) {
  std::vector<std::weak_ptr<Scope>> scopes;
  {
    TestFile file(R"(
def outer(n):
    def inner():
        return inner if n else None
    return inner
called = outer(1)
listed = [f for f in [lambda: i for i in range(2)]][0]
)");
    for (const char *name : {"called", "listed"}) {
      Result value = file.env->lookup(name);
      ASSERT_TRUE(value && value->is(PyValue::Kind::Function)) << name;
      scopes.push_back(value->asFunction().closure);
      EXPECT_FALSE(scopes.back().expired()) << name;
    }
  }
  for (const std::weak_ptr<Scope> &scope : scopes)
    EXPECT_TRUE(scope.expired());
}

TEST(Function, RunawaysAreDiagnosed) {
  TestFile file(R"(
def forever():
    while True:
        pass
def define(n):
    for i in range(n):
        def inner():
            pass
    return n
def deep(n):
    return deep(n + 1)
def swallow():
    try:
        forever()
    except Exception:
        return 'no'
)");
  file.program.evaluator().limits.steps = 10000;
  EXPECT_NE(file.call("forever").find("gave up after 10000 steps"), std::string::npos);
  // A definition takes longer than other statements.
  file.program.evaluator().resetSteps();
  EXPECT_EQ(file.call("define", {PyValue::integer(100)}), "100");
  file.program.evaluator().resetSteps();
  EXPECT_NE(file.call("define", {PyValue::integer(300)}).find("gave up"), std::string::npos);
  file.program.evaluator().resetSteps();
  EXPECT_NE(file.call("deep", {PyValue::integer(0)}).find("calls nest deeper than 200"),
            std::string::npos);
  file.program.evaluator().resetSteps();
  EXPECT_NE(file.call("swallow").find("gave up"), std::string::npos);
}

// What a loop has computed so far is not what the file says.
TEST(Module, NamesOfLoopsThatFailAreNotKnown) {
  TestFile file(R"(
import missing
N = 1
while True:
    N = N * 2
    if N > 100:
        break
ENDLESS = 1
while True:
    ENDLESS += 1
CHOSEN = 1
if N > 1:
    while True:
        CHOSEN += 1
SUM = 0
for i in range(10):
    SUM += i
    if i == 3:
        missing.function(SUM).other()
    def helper():
        return 7
while True:
    pass
BELOW = 5
try:
    for j in range(10):
        FOUND = j
        if j == 4:
            raise StopIteration
except StopIteration:
    pass
)");
  file.program.evaluator().limits.steps = 10000;
  // Only statements that bind what is asked for run.
  EXPECT_EQ(file.get("BELOW"), "5");
  EXPECT_EQ(file.get("N"), "128");
  EXPECT_NE(file.get("SUM").find("`SUM` is not known at compile time: "), std::string::npos);
  EXPECT_NE(file.get("i").find("`i` is not known at compile time: "), std::string::npos);
  EXPECT_EQ(file.get("helper"), "<function helper>");
  // Unless the file means the loop to end so.
  EXPECT_EQ(file.get("FOUND"), "4");
  EXPECT_NE(file.get("ENDLESS").find("gave up after 10000 steps"), std::string::npos);
  file.program.evaluator().resetSteps();
  EXPECT_NE(file.get("CHOSEN").find("gave up after 10000 steps"), std::string::npos);
}

// A few steps must not take long either, nor all memory.
TEST(Function, WhatIsHandledCountsAsSteps) {
  const std::string twice = "def f():\n    s = 'a'\n    for i in range(60):\n        s = ";
  const std::string doubled = "def f():\n    s = [1]\n    for i in range(60):\n        ";
  for (const std::string &body :
       {twice + "s + s\n", twice + "f'{s}{s}'\n", twice + "s.join([s, s])\n",
        twice + "s.replace('a', 'aa')\n", twice + "'%s%s' % (s, s)\n",
        twice + "'{}{}'.format(s, s)\n", twice + "s * 2\n", doubled + "s = s + s\n",
        doubled + "s += s\n", doubled + "s.extend(s)\n", doubled + "s = [*s, *s]\n",
        std::string("def f():\n    s, t = [1], [1]\n    for i in range(60):\n"
                    "        s, t = [s, s], [t, t]\n    return s == t\n"),
        std::string("s = 'a' * (1 << 20)\ndef f():\n"
                    "    return sum([s.count('b') for i in range(1 << 12)])\n"),
        doubled + "s = [s, s]\n    return str(s)\n",
        doubled + "s = (s, s)\n    return {1: s} == {1: (s[0], s[1])}\n",
        std::string("def f():\n    return len({i for i in range(1 << 14)})\n"),
        std::string("def f():\n    return len({i: i for i in range(1 << 14)})\n"),
        std::string("def f():\n    return len(str([1 << 8000] * (1 << 14)))\n"),
        std::string("l = list(range(1 << 14))\ndef f():\n"
                    "    return sum([len(l[:]) + max(l) for i in range(1 << 12)])\n"),
        std::string("l = list(range(1 << 14))\ndef f():\n"
                    "    return sum([(i in l) + l.index(1 << 13) for i in range(1 << 12)])\n"),
        std::string("def f():\n    n = 1\n    for i in range(1 << 14):\n"
                    "        n = n * 3 % (1 << 4000)\n"),
        std::string("def f():\n    return [3 ** 5000 for i in range(1 << 14)]\n"),
        // What is kept takes memory, too.
        std::string("def f():\n    return len([(i, i) for i in range(1 << 14)])\n"),
        std::string("def f():\n    return len([[i] for i in range(1 << 14)])\n"),
        std::string("def f():\n    return len(list(zip(range(1 << 13), range(1 << 13))))\n"),
        std::string("def f():\n    return len(('x ' * (1 << 14)).split())\n"),
        std::string("def f():\n    return [1 << 8000 for i in range(1 << 12)]\n")}) {
    TestFile file(body);
    file.program.evaluator().limits.steps = 100000;
    std::string result = file.call("f");
    EXPECT_TRUE(result.find("gave up after 100000 steps") != std::string::npos ||
                result.find("have at most 4194304 elements") != std::string::npos)
        << body << result.substr(0, 200);
  }
  // Containers that hold themselves. What they hold goes when they are emptied, not before.
  TestFile file(
      "def f(a, b):\n    a.append(a)\n    b.append(b)\n    return a == b\n"
      "def g(a, b):\n    a['a'] = a\n    b['a'] = b\n    return a == b\n"
      "def ordinary():\n    return (3 ** 100, (-2) ** 13, (-1) ** 99, 0 ** 0, 2 ** 8000 % 1000,"
      " 7 ** 3, [[1], {2: (3,)}] == [[1], {2: (3,)}], 'aXbX'.replace('X', 'yz'))\n");
  PyValue lists[] = {PyValue::list({}), PyValue::list({})};
  PyValue dicts[] = {PyValue::dict({}), PyValue::dict({})};
  EXPECT_NE(file.call("f", {lists[0], lists[1]}).find("nest too deep to be compared"),
            std::string::npos);
  file.program.evaluator().resetSteps();
  EXPECT_NE(file.call("g", {dicts[0], dicts[1]}).find("gave up"), std::string::npos);
  for (int i : {0, 1}) {
    lists[i].asList().elements.clear();
    dicts[i].asDict().items.clear();
  }
  file.program.evaluator().resetSteps();
  EXPECT_EQ(file.call("ordinary"),
            "(515377520732011331036461129765621272702107522001, -8192, -1, 1, "
            "376, 343, True, 'ayzbyz')");
}

TEST(Function, NestedExpressionsInNestedCalls) {
  std::string deep(150, '(');
  TestFile file("def f(n):\n    return " + deep + "[f(n + 1)]" + std::string(150, ')') + "[0]\n" +
                "def g(n):\n    return -" + std::string(2 * 90, '-') + "g(n)\n");
  file.program.evaluator().limits.depth = 1000000;
  for (const char *name : {"f", "g"})
    EXPECT_NE(file.call(name, {PyValue::integer(0)}).find("nests too deep"), std::string::npos);
}

//===----------------------------------------------------------------------===//
// Globals
//===----------------------------------------------------------------------===//

TEST(Module, GlobalsAreEvaluatedOnlyWhenNeeded) {
  TestFile file(R"(
import torch
import triton
SIZE = 4 * 16
HALF = SIZE // 2
device = torch.device('cuda')
data = torch.randn(SIZE)
if HALF > 10:
    MODE = 'big'
else:
    MODE = 'small'
try:
    import missing_module
    HAS = True
except ImportError:
    HAS = False
configs = [1]
configs.append(2)
for n in (3, 4):
    configs.append(n)
X = 1
X = X + 1
X += 1
)");
  EXPECT_EQ(file.get("HALF"), "32");
  EXPECT_EQ(file.get("MODE"), "'big'");
  EXPECT_EQ(file.get("HAS"), "False");
  EXPECT_EQ(file.get("configs"), "[1, 2, 3, 4]");
  EXPECT_EQ(file.get("X"), "3");
  EXPECT_EQ(file.get("data"),
            "UnavailableError: `data` is not known at compile time: module `torch` is not "
            "available to compile-time code");
  EXPECT_EQ(file.get("SIZF"), "NameError: `test.tile` has no global `SIZF`; did you mean `SIZE`?");
}

TEST(Module, FunctionsSeeTheLastBindingAndStatementsTheOneAbove) {
  TestFile file(R"(
A = 1
def f(): return A
B = A
A = 2
C = f()
D = E
E = D
)");
  EXPECT_EQ(file.get("B"), "1");
  EXPECT_EQ(file.get("C"), "2");
  EXPECT_NE(file.get("E").find("`E` is used above its definition"), std::string::npos);
}

TEST(Module, WhatStandsAboveABodySeesTheBindingAboveIt) {
  TestFile file(R"(
A = 1
def f(x=A): return (x, A)
g = lambda x=A: (x, A)
class C:
    value = A
A = 2
a, b, c = f(), g(), C.value
if A == 2:
    A = 3
    def h(x=A): return (x, A)
A = 4
d = h()
)");
  EXPECT_EQ(file.get("a"), "(1, 4)");
  EXPECT_EQ(file.get("b"), "(1, 4)");
  EXPECT_EQ(file.get("c"), "1");
  EXPECT_EQ(file.get("d"), "(3, 4)");
}

TEST(Module, ImportsResolveToCanonicalNames) {
  TestFile file(R"(
import triton.language as tl
import triton
from triton.language import load as ld, float16
from triton.language.extra import libdevice
from triton.language.math import rsqrt
import triton.language.extra.cuda as cu
names = (tl.exp, tl.math.exp, triton.language.exp, ld, libdevice.tanh,
         tl.extra.cuda.libdevice.tanh, tl.extra.libdevice.tanh, rsqrt, tl.extra.cuda.globaltimer,
         cu.smid, tl.core.arange, tl.PropagateNan.ALL, float16)
)");
  EXPECT_EQ(file.get("names"),
            "(<built-in tl.exp>, <built-in tl.exp>, <built-in tl.exp>, <built-in tl.load>, "
            "<built-in libdevice.tanh>, <built-in libdevice.tanh>, <built-in libdevice.tanh>, "
            "<built-in tl.rsqrt>, <built-in tl.extra.cuda.globaltimer>, "
            "<built-in tl.extra.cuda.smid>, <built-in tl.arange>, "
            "<built-in tl.PropagateNan.ALL>, fp16)");
}

TEST(Module, StarImports) {
  // The last one wins, and builtins of Python stay what they are.
  TestFile file("from triton.language import *\nfrom math import *\nx = sqrt(16.0)\n"
                "y = float16\nz = max(1, 2)\n");
  EXPECT_EQ(file.get("x"), "4.0");
  EXPECT_EQ(file.get("y"), "fp16");
  EXPECT_EQ(file.get("z"), "2");
}

TEST(Module, DecoratorsAreResolvedNotEvaluated) {
  TestFile file(R"(
import functools, torch
import triton
import triton.language as tl
import tile
@triton.autotune(configs=[triton.Config({'B': b}, num_warps=w) for b in (16, 32) for w in (4, 8)], key=['n'])
@triton.heuristics({'EVEN': lambda args: args['n'] % args['B'] == 0})
@triton.jit
def kernel(x, n, B: tl.constexpr, EVEN: tl.constexpr): pass
@triton.constexpr_function
def helper(x): return x * 2
@functools.lru_cache
@torch.no_grad()
def host(): return 1
@tile.test(n=[1, 2])
def test(n): pass
)");
  auto functions = file.env->functions();
  ASSERT_EQ(functions.size(), 4u);
  const FunctionObject &kernel = *functions[0];
  EXPECT_TRUE(kernel.isJit);
  ASSERT_EQ(kernel.decorators.size(), 3u);
  EXPECT_EQ(kernel.decorators[0].name, "triton.autotune");
  CallArgs args;
  ASSERT_TRUE(file.program.evaluator().decoratorArguments(kernel, kernel.decorators[0], args));
  ASSERT_EQ(args.keywords.size(), 2u);
  EXPECT_EQ(args.keyword("configs")->elements().size(), 4u);
  CallArgs heuristics;
  ASSERT_TRUE(
      file.program.evaluator().decoratorArguments(kernel, kernel.decorators[1], heuristics));
  PyValue rule = *heuristics.positional[0].asDict().find("EVEN");
  PyValue meta = PyValue::dict(
      {{PyValue::string("n"), PyValue::integer(64)}, {PyValue::string("B"), PyValue::integer(16)}});
  EXPECT_EQ(TestFile::show(file.program.evaluator().call(rule, CallArgs{{meta}, {}})), "True");
  EXPECT_TRUE(functions[1]->isConstexprFunction);
  EXPECT_FALSE(functions[2]->decorators[0].known);
  EXPECT_EQ(functions[2]->decorators[1].name, "torch.no_grad");
  EXPECT_EQ(functions[3]->decorators[0].name, "tile.test");
  EXPECT_EQ(file.env->kernels().size(), 1u);
  EXPECT_EQ(file.call("kernel").substr(0, 33), "TypeError: `kernel` is a kernel f");
}

TEST(Module, UndecidableConditionsTakeABranchThatRuns) {
  TestFile file("import torch\n"
                "if torch.version > 2:\n"
                "    from nowhere import f as x\n"
                "else:\n"
                "    x = 2\n"
                "if torch.version > 2:\n"
                "    from triton.language.extra.libdevice import rsqrt\n"
                "else:\n"
                "    from triton.language import rsqrt\n"
                "if torch.version > 2:\n"
                "    y = torch.a\n"
                "else:\n"
                "    y = torch.b\n");
  EXPECT_EQ(file.get("x"), "2");
  EXPECT_NE(file.get("rsqrt").find("libdevice.rsqrt"), std::string::npos) << file.get("rsqrt");
  EXPECT_NE(file.get("y").find("not known at compile time"), std::string::npos);
}

TEST(Module, ImportsOtherFiles) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tile-eval", folder));
  auto write = [&](llvm::StringRef name, llvm::StringRef text) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    llvm::sys::fs::create_directories(llvm::sys::path::parent_path(path));
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << text;
    EXPECT_FALSE(error);
    return std::string(path);
  };
  write("helper.tile", "SCALE = 3\ndef twice(x): return 2 * x * SCALE\n");
  write("pkg/__init__.py", "from .part import VALUE\n");
  write("pkg/part.py", "VALUE = 11\n");
  write("own/__init__.py", "from . import part\npart.setup()\n");
  write("own/part/__init__.py", "VALUE = 12\n");
  write("broken.py", "def f(:\n");
  write("pkg/deep/inner.py", "from pkg.part import VALUE\n");
  for (unsigned i = 0; i < 60; ++i) { // as many ways to the last as there are Fibonacci numbers
    std::string near = std::to_string(i + 1), far = std::to_string(i + 2);
    write("stars" + std::to_string(i) + ".py",
          "from stars" + far + " import *\nfrom stars" + near + " import *\n");
  }
  write("stars60.py", "LAST = 15\n");
  write("stars61.py", "from stars0 import *\n");
  write("both.py", "VALUE = 13\n");
  write("both/__init__.py", "VALUE = 14\n");
  std::string path = write("main.tile", R"(
from helper import twice
import helper as h, pkg.part
from pkg import part, VALUE
from .helper import SCALE
a = twice(5)
b = (h.SCALE, SCALE, part.VALUE, VALUE, pkg.part.VALUE)
import broken
c = broken.f
from pkg.deep.inner import VALUE as d
from own import part as own_part
e = own_part.VALUE
from both import VALUE as f
from stars0 import *
g = LAST + LAST
h = MISSING
)");
  std::string error;
  std::unique_ptr<SourceFile> file = SourceFile::open(path, error);
  ASSERT_TRUE(file) << error;
  tile::frontend::DiagnosticEngine diagnostics;
  tile::ast::Module module = tile::frontend::parse(*file, diagnostics);
  Program program;
  ModuleEnv &env = program.add(*file, module);
  EXPECT_EQ(TestFile::show(env.lookup("a")), "30");
  EXPECT_EQ(TestFile::show(env.lookup("b")), "(3, 3, 11, 11, 11)");
  EXPECT_EQ(TestFile::show(env.lookup("c")).substr(0, 12), "ImportError:");
  EXPECT_EQ(TestFile::show(env.lookup("d")), "11"); // by the name of the package it is in
  EXPECT_EQ(TestFile::show(env.lookup("e")), "12"); // a package may import its own parts
  EXPECT_EQ(TestFile::show(env.lookup("g")), "30"); // each file is asked once
  EXPECT_EQ(TestFile::show(env.lookup("h")).substr(0, 10), "NameError:");
  EXPECT_EQ(TestFile::show(env.lookup("f")), "14"); // packages come first, as in Python
  llvm::sys::fs::remove_directories(folder);
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

TEST(Diagnostics, PointAtTheOperandAndTraceTheCalls) {
  TestFile file("def inner(x):\n"
                "    return 1 + x.foo\n"
                "def outer():\n"
                "    return inner(3)\n");
  EXPECT_EQ(file.diagnose("outer"),
            R"(test.tile:2:18: error: a value of type `int` has no attribute `foo`
    2 |     return 1 + x.foo
      |                  ^~~
  test.tile:4:12: note: in the call of `inner` here
      4 |     return inner(3)
        |            ^~~~~~~~
)");
}

TEST(Diagnostics, UnknownNamesSuggestNearOnes) {
  TestFile file("def f(block_size):\n    return blok_size * 2\ny = f(1)\nz = lenn([])\n");
  EXPECT_NE(file.get("y").find("name `blok_size` is not defined; did you mean `block_size`?"),
            std::string::npos);
  EXPECT_NE(file.get("z").find("did you mean `len`?"), std::string::npos);
}

TEST(Diagnostics, WhatCannotRunIsUnsupportedNotWrong) {
  TestFile file("def f():\n    with x:\n        pass\n");
  Result function = file.env->lookup("f");
  Result result = file.program.evaluator().call(*function, {});
  ASSERT_FALSE(result);
  EXPECT_TRUE(result.error().diagnostic.unsupported);
}

} // namespace
