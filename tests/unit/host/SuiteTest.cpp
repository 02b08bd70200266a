//===- SuiteTest.cpp - tests, benches and examples of a file --------------===//
#include "MockDevice.h"

using namespace tile;
using namespace tile::host;
using Status = CaseResult::Status;

namespace {

std::vector<std::string> parametersOf(const FunctionResult &result) {
  std::vector<std::string> out;
  for (const CaseResult &c : result.cases)
    out.push_back(c.parameters);
  return out;
}

TEST(Suite, SweepsAreCartesianLastFastest) {
  HostFile file("@tile.test(n=[1, 2], dtype=[tl.float32, tl.float16])\n"
                "def a(n, dtype, m=3): pass\n"
                "@tile.test(cases=[dict(n=1), dict(n=2, m=5)], dtype=[tl.int8])\n"
                "@tile.test(cases=[(7, tl.int1)])\n"
                "def b(n, dtype, m=3): assert m == 3 or n == 2\n"
                "@tile.test(n=range(4), where=lambda n: n % 2)\n"
                "def c(n): pass\n"
                "@tile.test\n"
                "def d(): pass\n");
  auto results = file.run(Purpose::Test);
  ASSERT_EQ(results.size(), 4u);
  EXPECT_EQ(parametersOf(results[0]),
            (std::vector<std::string>{"n=1, dtype=fp32", "n=1, dtype=fp16", "n=2, dtype=fp32",
                                      "n=2, dtype=fp16"}));
  EXPECT_EQ(
      parametersOf(results[1]),
      (std::vector<std::string>{"n=1, dtype=int8", "n=2, m=5, dtype=int8", "n=7, dtype=int1"}));
  EXPECT_EQ(parametersOf(results[2]), (std::vector<std::string>{"n=1", "n=3"}));
  EXPECT_EQ(parametersOf(results[3]), (std::vector<std::string>{""}));
  for (const FunctionResult &result : results)
    EXPECT_EQ(result.count(Status::Passed), result.cases.size());
}

TEST(Suite, BadSweepsAreErrorsOfTheDecorator) {
  HostFile file("@tile.test(m=[1])\ndef a(n): pass\n"
                "@tile.test(n=5)\ndef b(n): pass\n"
                "@tile.test([1])\ndef c(n): pass\n");
  auto results = file.run(Purpose::Test);
  ASSERT_EQ(results.size(), 3u);
  for (const FunctionResult &result : results)
    EXPECT_EQ(result.count(Status::Failed), 1u);
  EXPECT_EQ(results[0].cases[0].error->diagnostic.message, "`a` has no parameter `m`; it has `n`");
  EXPECT_EQ(results[1].cases[0].error->diagnostic.message, "`n` needs a list of values, got 5");
}

TEST(Suite, ResultsAreChecked) {
  HostFile file(R"(
@tile.test(n=[1, 5])
def good(n):
    x, out = tile.randn(n), tile.empty(n)
    add[1](x, x, out, n)
    return out, 2 * x
@tile.test
def wrong():
    x, out = tile.arange(6, dtype=tl.float32).reshape(2, 3), tile.empty((2, 3))
    add[1](x, x, out, 6)
    ref = 2 * x
    ref[1, 1] = 0
    ref[1, 2] = math.nan
    return out, ref
@tile.test
def shapes(): return tile.zeros(3), tile.zeros((3, 1))
@tile.test
def several(): return [(tile.zeros(2), tile.zeros(2)), (tile.zeros(1), tile.ones(1))]
@tile.test
def nonsense(): return 5
@tile.test
def asserts(): assert 1 + 1 == 3, 'sum'
)");
  auto results = file.run(Purpose::Test);
  ASSERT_EQ(results.size(), 6u);
  EXPECT_EQ(results[0].count(Status::Passed), 2u);
  EXPECT_TRUE(results[0].cases[0].checkedAnything);
  std::vector<std::string> messages;
  for (size_t i = 1; i < results.size(); ++i) {
    ASSERT_EQ(results[i].count(Status::Failed), 1u) << results[i].name;
    messages.push_back(results[i].cases[0].error->diagnostic.message);
  }
  EXPECT_EQ(messages[0], "the result is wrong at [1, 1]: got 8.0, expected 0.0 (rtol 1e-05, atol "
                         "1e-06); 2 of 6 elements differ");
  EXPECT_EQ(messages[1], "the result has shape (3,), its reference (3, 1)");
  EXPECT_EQ(messages[2],
            "the result is wrong at [0]: got 0.0, expected 1.0 (rtol 1e-05, atol 1e-06)");
  EXPECT_EQ(messages[3], "a test returns nothing, `(out, ref)`, or a list of such pairs");
  EXPECT_EQ(messages[4], "assertion failed: sum");
}

TEST(Suite, ToleranceAndSpecialValues) {
  HostFile file(R"(
def ok(out, ref, **kw):
    try:
        tile.check(out, ref, **kw)
        return True
    except AssertionError:
        return False
def f():
    h = lambda *v: tile.tensor(v, dtype=tl.float16)
    return [ok(tile.tensor([1.0]), tile.tensor([1.000005])),
            ok(tile.tensor([1.0]), tile.tensor([1.00002])),
            ok(tile.tensor([1.0]), tile.tensor([1.1]), rtol=0.2),
            ok(tile.tensor([1.0]), tile.tensor([1.1]), atol=0.2),
            ok(tile.tensor([3]), tile.tensor([3])),
            ok(tile.tensor([3]), tile.tensor([4])),
            ok(h(math.nan), tile.tensor([math.nan])),
            ok(h(math.nan), tile.tensor([1.0])),
            ok(h(math.inf), tile.tensor([1e9])),
            ok(h(math.inf), tile.tensor([65510.0])),
            ok(h(65504.0), tile.tensor([65510.0])),
            ok(h(65504.0), tile.tensor([1e9])),
            ok(h(math.inf), tile.tensor([-math.inf])),
            ok(h(math.inf), tile.tensor([100.0])),
            ok(tile.tensor([448.0], dtype=tl.float8e4nv), tile.tensor([1e9])),
            ok(tile.empty(2), tile.zeros(2))]
)");
  EXPECT_EQ(file.call("f"), "[True, False, True, True, True, False, True, False, True, True, True, "
                            "False, False, False, True, False]");
}

TEST(Suite, BenchesMeasureLaunchesNotPython) {
  HostFile file(R"(
calls = []
@tile.bench(n=[1024])
def bench(n):
    x, out = tile.randn(n), tile.empty(n)
    def run():
        calls.append(1)
        add[1](x, x, out, n)
    one = tile.measure(run, bytes=8e6, flops=2e9)
    assert len(calls) == 1, 'the function itself runs once'
    return {"add": one, "copy": tile.measure(lambda: tile.copy(out, x))}
@tile.bench
def wrong(): return 3
@tile.bench
def timed(): return 1.5
)");
  auto results = file.run(Purpose::Bench);
  ASSERT_EQ(results.size(), 3u);
  ASSERT_EQ(results[0].count(Status::Passed), 1u) << results[0].cases[0].error->diagnostic.message;
  auto &measurements = results[0].cases[0].measurements;
  ASSERT_EQ(measurements.size(), 2u);
  EXPECT_EQ(measurements[0].label, "add");
  EXPECT_DOUBLE_EQ(measurements[0].milliseconds, 1);
  EXPECT_DOUBLE_EQ(*measurements[0].gigabytesPerSecond, 8);
  EXPECT_DOUBLE_EQ(*measurements[0].teraflops, 2);
  EXPECT_FALSE(measurements[1].gigabytesPerSecond);
  EXPECT_EQ(file.device.launches.size(), 4u);
  EXPECT_EQ(file.device.copies, 4);
  EXPECT_EQ(results[1].count(Status::Failed), 1u);
  ASSERT_EQ(results[2].count(Status::Passed), 1u) << "milliseconds, as do_bench gives them";
  EXPECT_DOUBLE_EQ(results[2].cases[0].measurements[0].milliseconds, 1.5);
}

TEST(Suite, WhatTheHostComputesIsNotTimed) {
  HostFile file("@tile.bench\n"
                "def bench():\n"
                "    x = tile.randn(8)\n"
                "    return tile.measure(lambda: x + x)\n");
  auto results = file.run(Purpose::Bench);
  ASSERT_EQ(results[0].count(Status::Failed), 1u);
  const std::string &message = results[0].cases[0].error->diagnostic.message;
  EXPECT_NE(message.find("nothing is launched or copied here"), std::string::npos) << message;
}

TEST(Suite, WhereHoldsForGivenParametersToo) {
  HostFile file("@tile.test(n=[1, 2, 3], m=[1, 2], where=lambda n, m: n > m)\n"
                "def a(n, m): assert n > m\n"
                "@tile.test(n=[1, 2], device='mock')\n"
                "@tile.test(n=[1, 2], device='other')\n"
                "def b(n): pass\n");
  auto results = file.run(Purpose::Test, {"a"}, {{"n", PyValue::integer(2)}});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(parametersOf(results[0]), (std::vector<std::string>{"m=1, n=2"}));
  EXPECT_EQ(results[0].count(Status::Passed), 1u);
  // Nothing left to run is a wrong request, not a success.
  EXPECT_TRUE(file.run(Purpose::Test, {"a"}, {{"n", PyValue::integer(1)}}).empty());
  EXPECT_EQ(file.requestError, "no case of `a` is left with n=1: see `where`");
  // Cases for different devices stay apart.
  results = file.run(Purpose::Test, {"b"}, {{"n", PyValue::integer(7)}});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(parametersOf(results[0]), (std::vector<std::string>{"n=7", "n=7"}));
}

TEST(Suite, ExamplesPrintAndTakeOverrides) {
  HostFile file("@tile.example\ndef main(n=2, name='x'):\n    print(name, n, sep='-')\n");
  file.run(Purpose::Example);
  file.run(Purpose::Example, {"main"}, {{"n", PyValue::integer(9)}});
  EXPECT_EQ(file.outputText, "x-2\nx-9\n");
  file.run(Purpose::Example, {"mian"});
  EXPECT_EQ(file.requestError,
            "`test.tile` has no `@tile.example` function `mian`; did you mean `main`?");
}

TEST(Suite, DevicesAndSeeds) {
  HostFile file("seen = []\n"
                "@tile.test(device='cuda')\ndef gpu(): assert False\n"
                "@tile.test(n=[1, 2])\ndef seeds(n):\n    seen.append(tile.randn(1).item())\n"
                "    assert tile.device() == 'cpu' and tile.num_sms() == 7\n"
                "@tile.test\ndef same(): assert seen[0] == seen[1]\n");
  auto results = file.run(Purpose::Test);
  EXPECT_EQ(results[0].count(Status::Skipped), 1u);
  EXPECT_EQ(results[1].count(Status::Passed), 2u);
  EXPECT_EQ(results[2].count(Status::Passed), 1u);
}

TEST(Suite, TwoDevicesThatAreComparedMustBothBeWanted) {
  HostFile file("@tile.test(device='cuda')\ndef gpu(): assert False\n"
                "@tile.test(device=['cuda', 'emu'])\ndef compiled(): pass\n"
                "@tile.test(device='cpu')\ndef interpreted(): assert False\n");
  file.device.called = "emu+cuda:0";
  auto results = file.run(Purpose::Test);
  EXPECT_EQ(results[0].count(Status::Skipped), 1u);
  EXPECT_EQ(results[1].count(Status::Passed), 1u);
  EXPECT_EQ(results[2].count(Status::Skipped), 1u);
}

TEST(Suite, TensorsOfTheHostCountByTheirElements) {
  HostFile file("@tile.test\ndef small(): tile.zeros((100, 100)) @ tile.zeros((100, 100))\n"
                "@tile.test\ndef product(): tile.zeros((600, 600)) @ tile.zeros((600, 600))\n"
                "@tile.test\ndef turns():\n    x = tile.zeros(1 << 20)\n"
                "    while True: x = x + 1\n"
                "@tile.test\ndef sorts():\n    x = tile.zeros(1 << 18)\n"
                "    while True: tile.sort(x)\n");
  file.program.evaluator().limits.steps = 10000;
  auto results = file.run(Purpose::Test);
  EXPECT_EQ(results[0].count(Status::Passed), 1u);
  for (unsigned i : {1u, 2u, 3u}) {
    ASSERT_EQ(results[i].count(Status::Failed), 1u) << i;
    EXPECT_EQ(results[i].cases[0].error->diagnostic.message,
              "this case gave up after 10000 steps; is this loop bounded?");
  }
}

TEST(Suite, EndlessAndUnsupportedCases) {
  HostFile file("@tile.test\ndef endless():\n    while True: pass\n"
                "@tile.test\ndef opens():\n    with open('x'): pass\n"
                "@tile.test\ndef memory(): add[1](tile.zeros(2**35), 1, 1, 1)\n");
  file.program.evaluator().limits.steps = 10000;
  file.device.bodies["add"] = [](auto &, auto &) {};
  auto results = file.run(Purpose::Test, {"endless", "opens"});
  EXPECT_EQ(results[0].count(Status::Failed), 1u);
  EXPECT_EQ(results[1].count(Status::Unsupported), 1u);
}

} // namespace
