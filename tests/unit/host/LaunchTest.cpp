//===- LaunchTest.cpp - what a launch asks of the device ------------------===//
#include "MockDevice.h"
#include "llvm/Support/FileSystem.h"

using namespace tile;
using namespace tile::host;

namespace {

std::string constexprs(const CompileOptions &options) {
  std::string text;
  for (auto &[name, value] : options.constexprs)
    text += (text.empty() ? "" : " ") + name + "=" + value;
  return text;
}

/// A kernel that does nothing, and a function that launches it.
HostFile *launching(std::unique_ptr<HostFile> &holder, const std::string &params,
                    const std::string &launch, const std::string &decorators = "") {
  holder = std::make_unique<HostFile>(decorators + "@triton.jit\ndef k(" + params +
                                      "):\n    pass\n@triton.jit\ndef helper(a): pass\n" +
                                      "def f():\n    " + launch + "\n");
  holder->device.bodies["k"] = [](auto &, auto &) {};
  EXPECT_EQ(holder->call("f"), "None");
  return holder.get();
}
std::string signatureOf(const std::string &params, const std::string &launch) {
  std::unique_ptr<HostFile> file;
  launching(file, params, launch);
  return file->device.prepared.empty() ? "" : file->device.prepared[0].signature;
}

TEST(Launch, ArgumentsAreSpecialisedAsInTriton) {
  EXPECT_EQ(signatureOf("a, b, c, d, e", "k[1](1, 2, 16, 2**31, 2**63)"),
            "i32:1,i32,i32:16,i64:16,u64:16");
  EXPECT_EQ(signatureOf("a, b, c, d", "k[1](True, 1.5, None, -16)"), "i1,fp32,none,i32:16");
  EXPECT_EQ(signatureOf("a, b", "k[1](tile.zeros(4), tile.zeros(4, dtype=tl.float16)[1:])"),
            "*fp32:16,*fp16");
  EXPECT_EQ(signatureOf("a: tl.const, b: '*kfp32'", "k[1](tile.zeros(4), tile.zeros(4))"),
            "*kfp32:16,*kfp32:16");
  EXPECT_EQ(signatureOf("a: tl.int64, b: 'i64', c: 'fp64', d: 'i1'", "k[1](1, 32, 2, 1)"),
            "i64,i64:16,fp64,i1");
  EXPECT_EQ(signatureOf("a, b", "k[1]((16, tile.zeros(1), (2.0,)), helper)"),
            "(i32:16,*fp32:16,(fp32,)),const=@helper");
  EXPECT_EQ(signatureOf("a, b", "k[1]('relu', tl.float16)"), "const=\"relu\",const=tl.float16");
}

TEST(Launch, KernelsThatAreKeptAreBounded) {
  HostFile file(R"(
@triton.jit
def k(n: tl.constexpr): pass
def f():
    for i in range(1300):
        k[1](i)
)");
  file.device.bodies["k"] = [](auto &, auto &) {};
  EXPECT_EQ(file.call("f"), "None");
  EXPECT_EQ(file.device.prepared.size(), 1300u);
  EXPECT_LE(file.session.kernels().numKernels(), KeptKernels::kMost);
}

TEST(Launch, ANameMeansWhatItIsBoundToLast) {
  HostFile file(R"(
@triton.jit
def k(x): pass
first = k
@triton.jit
def k(x, y): pass
def f(): k[1](1, 2)
def g(): first[1](1)
)");
  file.device.bodies["k"] = [](auto &, auto &) {};
  EXPECT_EQ(file.call("f"), "None");
  EXPECT_EQ(file.device.prepared[0].signature, "i32:1,i32");
  EXPECT_EQ(file.call("g"), "NameError: the kernel `k` of line 11 cannot be launched: its name "
                            "means the one of line 14; give it a name of its own");
}

TEST(Launch, TuplesThatNestWithoutEndAreRefused) {
  HostFile file(R"(
@triton.jit
def k(x): pass
@triton.jit
def c(x: tl.constexpr): pass
def doubled():
    x = (1,)
    for i in range(60):
        x = (x, x)
    return x
def deep():
    x = ()
    for i in range(100000):
        x = (x,)
    return x
def f(): k[1](doubled())
def g(): c[1](doubled())
def h(): k[1](deep())
)");
  for (const char *name : {"f", "g", "h"})
    EXPECT_EQ(file.call(name).substr(0, 11), "LimitError:") << name;
}

TEST(Launch, ListsOfADescriptorMayNotChangeTheirLengths) {
  HostFile file(R"(
from triton.tools.tensor_descriptor import TensorDescriptor
@triton.jit
def k(x): pass
def f():
    strides = [16, 1]
    d = TensorDescriptor(tile.zeros((16, 16)), [16, 16], strides, [16, 16])
    strides.pop()
    k[1](d)
)");
  EXPECT_EQ(file.call("f"), "TypeError: argument `x` of `k`: a `TensorDescriptor` needs as many "
                            "strides and block sizes as dimensions, 2");
}

TEST(Launch, DoNotSpecialize) {
  std::unique_ptr<HostFile> file;
  file = std::make_unique<HostFile>(
      "@triton.jit(do_not_specialize=['a', 1], do_not_specialize_on_alignment=['c'])\n"
      "def k(a, b, c): pass\n"
      "def f(): k[1](1, 16, 16)\ndef g(): k[1](2, 17, 1)\n");
  file->device.bodies["k"] = [](auto &, auto &) {};
  file->call("f");
  file->call("g");
  EXPECT_EQ(file->device.prepared[0].signature, "i32,i32,i32");
  EXPECT_EQ(file->device.prepared[1].signature, "i32,i32,i32:1");
}

TEST(Launch, ConstexprsAndOptionsReachTheCompiler) {
  std::unique_ptr<HostFile> file;
  launching(file, "x, A: tl.constexpr, B: 'tl.constexpr' = 3, C: tl.constexpr = tl.float16",
            "k[1](5, 'a', num_warps=8, num_stages=2, maxnreg=64)");
  const CompileOptions &options = file->device.prepared[0];
  EXPECT_EQ(constexprs(options), "A=\"a\" B=3 C=tl.float16");
  EXPECT_EQ(options.kernel, "k");
  EXPECT_EQ(options.numWarps, 8);
  EXPECT_EQ(options.numStages, 2);
  EXPECT_EQ(options.maxRegisters, 64);
}

TEST(Launch, ClustersAndStagesLeftToTheCompiler) {
  std::unique_ptr<HostFile> file;
  launching(file, "x", "k[1](5, num_ctas=2, num_stages='auto')");
  EXPECT_EQ(file->device.prepared[0].numCtas, 2);
  EXPECT_EQ(file->device.prepared[0].numStages, 0);
  launching(file, "x", "k[1](5, num_stages=0)");
  EXPECT_EQ(file->device.prepared[0].numStages, 1) << "not pipelined, as in Triton";
}

TEST(Launch, OptionsThatNoDeviceHasAreErrorsOnAll) {
  for (auto [option, message] : {
           std::pair("num_ctas=3", "`num_ctas` must be 1, 2, 4 or 8, got 3"),
           {"num_warps=3", "`num_warps` must be 1, 2, 4, 8, 16 or 32, got 3"},
           {"num_warps=12",
            "or 32, got 12; 3 warpgroups that share what they copy are programs of 4 "
            "warps, with 64 rows each in place of 192"},
           {"num_warps=64", "`num_warps` must be 1, 2, 4, 8, 16 or 32, got 64"},
           {"num_stages=-1", "`num_stages` must be from 0 to 32 or \"auto\", got -1"},
           {"maxnreg=300", "`maxnreg` must be from 16 to 256, got 300"},
       }) {
    HostFile wrong(
        (llvm::Twine("@triton.jit\ndef k(x):\n    pass\ndef f():\n    k[1](5, ") + option + ")\n")
            .str());
    EXPECT_NE(wrong.call("f").find(message), std::string::npos) << option;
  }
}

TEST(Launch, RolesOfWarps) {
  std::unique_ptr<HostFile> file;
  launching(file, "x", "k[1](5, warp_roles='pingpong')");
  EXPECT_EQ(file->device.prepared[0].warpRoles, WarpRoles::PingPong);
  HostFile wrong("@triton.jit\ndef k(x):\n    pass\ndef f():\n    k[1](5, warp_roles='both')\n");
  EXPECT_NE(wrong.call("f").find("`warp_roles` must be 'auto', 'cooperative', 'pingpong', 'none', "
                                 "'shared' or 'apart', got 'both'"),
            std::string::npos);
}

TEST(Launch, WhoArrivesIsUpToTheRunAndNotTheLaunch) {
  for (bool each : {false, true}) {
    HostFile file("@triton.jit\ndef k(x):\n    pass\ndef f():\n    k[1](5)\n");
    file.device.bodies["k"] = [](auto &, auto &) {};
    file.session.hostContext()->eachLaneArrives = each;
    EXPECT_EQ(file.call("f"), "None");
    EXPECT_EQ(file.device.prepared[0].eachLaneArrives, each);
  }
}

TEST(Launch, OneKernelForEachSpecialisation) {
  HostFile file("def f():\n"
                "    x = tile.zeros(64)\n"
                "    for n in (1, 2, 3, 16, 32, 48):\n"
                "        add[1](x, x, x, n)\n"
                "    add[1](x, x, x, 2, BLOCK=64)\n"
                "    add[1](x, x, x, 2, num_warps=2)\n");
  EXPECT_EQ(file.call("f"), "None");
  EXPECT_EQ(file.device.prepared.size(), 5u);
  EXPECT_EQ(file.device.launches.size(), 8u);
}

TEST(Launch, Grids) {
  HostFile file(
      "def f():\n"
      "    x = tile.zeros(64)\n"
      "    add[2](x, x, x, 5)\n"
      "    add[2, 3](x, x, x, 5)\n"
      "    add[(2, 3, 4)](x, x, x, 5)\n"
      "    add[lambda meta: (triton.cdiv(meta['n'], meta['BLOCK']),)](x, x, x, 5, BLOCK=2)\n"
      "    add[(0,)](x, x, x, 5)\n"
      "def g(): add[(1, 2, 3, 4)](1, 2, 3, 4)\n"
      "def h(): add[-1](1, 2, 3, 4)\n");
  EXPECT_EQ(file.call("f"), "None");
  auto &launches = file.device.launches;
  ASSERT_EQ(launches.size(), 4u); // nothing for the empty grid
  EXPECT_EQ(launches[1].second.grid, (std::array<uint32_t, 3>{2, 3, 1}));
  EXPECT_EQ(launches[2].second.grid, (std::array<uint32_t, 3>{2, 3, 4}));
  EXPECT_EQ(launches[3].second.grid, (std::array<uint32_t, 3>{3, 1, 1}));
  EXPECT_NE(file.call("g").find("a grid has one to three dimensions"), std::string::npos);
  EXPECT_NE(file.call("h").find("is an integer from 0 to"), std::string::npos);
}

TEST(Launch, ResultsComeBack) {
  HostFile file("def f():\n"
                "    x, y, out = tile.arange(4, dtype=tl.float32), tile.ones(4), tile.empty(4)\n"
                "    add[(1,)](x, y, out, 4)\n"
                "    add[(1,)](out, y, out, 4)\n"
                "    y[:] = 10\n"
                "    add[(1,)](out, y, out, 3)\n"
                "    return out.tolist()\n");
  EXPECT_EQ(file.call("f"), "[12.0, 13.0, 14.0, 5.0]");
}

TEST(Launch, Heuristics) {
  std::unique_ptr<HostFile> file;
  launching(file, "n, BLOCK: tl.constexpr, EVEN: tl.constexpr", "k[1](96, BLOCK=32)",
            "@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0,\n"
            "                    'num_warps': lambda args: args['BLOCK'] // 4})\n");
  EXPECT_EQ(constexprs(file->device.prepared[0]), "BLOCK=32 EVEN=true");
  EXPECT_EQ(file->device.prepared[0].numWarps, 8);
}

TEST(Launch, HeuristicsByKeyword) {
  std::unique_ptr<HostFile> file;
  launching(file, "n, BLOCK: tl.constexpr", "k[1](96)",
            "@triton.heuristics(values={'BLOCK': lambda args: args['n'] // 3})\n");
  EXPECT_EQ(constexprs(file->device.prepared[0]), "BLOCK=32");
}

/// `.fn` is what the outermost decorator is around: launched without it.
TEST(Launch, WhatDecoratorsAreAround) {
  const std::string decorators =
      "@triton.autotune([triton.Config({'BLOCK': 32})], key=['n'])\n"
      "@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})\n";
  auto launched = [&](const char *launch) {
    std::unique_ptr<HostFile> file;
    launching(file, "n, BLOCK: tl.constexpr, EVEN: tl.constexpr", launch, decorators);
    return constexprs(file->device.prepared[0]);
  };
  EXPECT_EQ(launched("k[1](96)"), "BLOCK=32 EVEN=true");
  EXPECT_EQ(launched("k.fn[1](96, BLOCK=64)"), "BLOCK=64 EVEN=false");
  EXPECT_EQ(launched("k.fn.fn[1](96, BLOCK=64, EVEN=True)"), "BLOCK=64 EVEN=true");
}

const char *const tunedKernel =
    "@triton.autotune(configs=[triton.Config({'BLOCK': b}, num_warps=w) for b, w in\n"
    "                          ((32, 1), (64, 2), (128, 4))], key=['n'], reset_to_zero=['x'])\n"
    "@triton.jit\ndef k(x, n, BLOCK: tl.constexpr): pass\n"
    "def f():\n    x = tile.zeros(4)\n    k[lambda m: (m['BLOCK'],)](x, 5)\n"
    "    k[lambda m: (m['BLOCK'],)](x, 5)\n    return x.tolist()\n";

TEST(Autotune, TheFirstConfigurationOnTheCpu) {
  HostFile file(tunedKernel);
  file.device.bodies["k"] = [](auto &, auto &) {};
  file.call("f");
  ASSERT_EQ(file.device.launches.size(), 2u);
  EXPECT_EQ(file.device.launches[0].second.grid[0], 32u);
}

TEST(Autotune, TheFastestOnAGpuChosenOnce) {
  HostFile file(tunedKernel);
  file.device.cpu = false;
  file.device.timeOf = {{"32", 3.0}, {"64", 1.0}, {"128", 2.0}};
  file.device.bodies["k"] = [](auto &, const runtime::LaunchConfig &config) {
    *static_cast<float *>(MockDevice::at(config.args[0].bits)) += 1;
  };
  std::vector<std::string> said;
  file.session.kernels().onChoice = [&](llvm::StringRef text) { said.push_back(text.str()); };
  // Trials leave no trace in `x`: two real launches, one on each.
  EXPECT_EQ(file.call("f"), "[2.0, 0.0, 0.0, 0.0]");
  EXPECT_EQ(file.device.prepared.size(), 3u);
  ASSERT_EQ(said.size(), 1u);
  EXPECT_NE(said[0].find("BLOCK: 64, num_warps: 2, num_stages: 3 (1"), std::string::npos)
      << said[0];
  ASSERT_EQ(file.device.launches.size(), 3u * 4 + 2);
  EXPECT_EQ(file.device.launches.back().second.grid[0], 64u);
}

TEST(Autotune, TheChoiceIsAnAttributeOfTheKernel) {
  for (bool cpu : {false, true}) {
    HostFile file(std::string(tunedKernel) + "def g():\n    x = tile.zeros(4)\n"
                                             "    k[lambda m: (m['BLOCK'],)](x, 5)\n"
                                             "    best = k.best_config\n"
                                             "    return best.kwargs['BLOCK'], best.num_warps\n"
                                             "def early(): return k.best_config\n");
    file.device.cpu = cpu;
    file.device.timeOf = {{"32", 3.0}, {"64", 1.0}, {"128", 2.0}};
    file.device.bodies["k"] = [](auto &, auto &) {};
    EXPECT_EQ(file.call("early"), "AttributeError: `k` has no `best_config` before its first "
                                  "launch, which chooses");
    EXPECT_EQ(file.call("g"), cpu ? "(32, 1)" : "(64, 2)");
  }
}

TEST(Autotune, WhatDoesNotFitIsOut) {
  HostFile file(tunedKernel);
  file.device.cpu = false;
  file.device.timeOf = {{"32", 3.0}, {"64", 1.0}, {"128", 2.0}};
  file.device.tooLarge = {"64"};
  file.device.bodies["k"] = [](auto &, auto &) {};
  file.call("f");
  EXPECT_EQ(file.device.launches.back().second.grid[0], 128u);
}

TEST(Autotune, NothingFits) {
  HostFile file(tunedKernel);
  file.device.cpu = false;
  file.device.tooLarge = {"32", "64", "128"};
  EXPECT_EQ(file.call("f"), "RuntimeError: too much shared memory");
}

/// Three sizes of blocks, of which `settings` of autotune say more.
std::string tunedWith(const std::string &settings, const std::string &hook = "None") {
  return "@triton.autotune([triton.Config({'BLOCK': b}, pre_hook=" + hook +
         ") for b in (32, 64, 128)], ['n']" + settings +
         ")\n@triton.jit\ndef k(x, n, W: tl.constexpr, BLOCK: tl.constexpr): pass\n"
         "def f():\n    x = tile.zeros(4)\n"
         "    k[lambda m: (m['BLOCK'],)](x, 5, W=10)\n"
         "    k[lambda m: (m['BLOCK'],)](x, 5, W=10)\n    return x.tolist()\n";
}
/// The blocks of the last launch, on a GPU where the smallest are the fastest.
uint32_t chosen(const std::string &source, bool cpu) {
  HostFile file(source);
  file.device.cpu = cpu;
  file.device.timeOf = {{"32", 1.0}, {"64", 2.0}, {"128", 3.0}};
  file.device.bodies["k"] = [](auto &, auto &) {};
  EXPECT_EQ(file.call("f"), "[0.0, 0.0, 0.0, 0.0]");
  return file.device.launches.empty() ? 0 : file.device.launches.back().second.grid[0];
}

TEST(Autotune, PrunedConfigurationsAreNoCandidates) {
  std::string source =
      "def early(configs, args, **kwargs):\n"
      "    return [c for c in configs if c.kwargs['BLOCK'] >= args['n'] * kwargs['W']]\n" +
      tunedWith(", prune_configs_by={'early_config_prune': early}");
  for (bool cpu : {false, true})
    EXPECT_EQ(chosen(source, cpu), 64u);
}

TEST(Autotune, AModelLeavesTheBest) {
  for (const char *count : {"1", "0.34"})
    for (bool cpu : {false, true})
      EXPECT_EQ(chosen(tunedWith(", {'perf_model': lambda x, n, W, BLOCK, num_warps, **rest: "
                                 "num_warps * W - BLOCK, 'top_k': " +
                                 std::string(count) + "}"),
                       cpu),
                128u);
}

TEST(Autotune, PruningThatLeavesNothingOrSomethingElse) {
  auto message = [](const std::string &rule) {
    return HostFile(
               tunedWith(", {'early_config_prune': lambda configs, args, **kwargs: " + rule + "}"))
        .call("f");
  };
  EXPECT_NE(message("[]").find("`early_config_prune` of `k` leaves no configuration"),
            std::string::npos);
  EXPECT_NE(message("[3]").find("needs a list of `triton.Config`, got `int`"), std::string::npos);
  EXPECT_NE(message("1 // 0").find("ZeroDivisionError"), std::string::npos);
}

TEST(Autotune, HooksOfConfigurationsRunBeforeEveryLaunch) {
  for (bool cpu : {false, true}) {
    HostFile file("def fill(args): args['x'][:] = args['n'] + args['BLOCK']\n" +
                  tunedWith("", "fill"));
    file.device.cpu = cpu;
    file.device.timeOf = {{"32", 1.0}, {"64", 2.0}, {"128", 3.0}};
    file.device.bodies["k"] = [](auto &, const runtime::LaunchConfig &config) {
      *static_cast<float *>(MockDevice::at(config.args[0].bits)) += 1;
    };
    EXPECT_EQ(file.call("f"), "[38.0, 37.0, 37.0, 37.0]");
  }
}

TEST(Autotune, HooksAroundTrials) {
  HostFile file("def before(args, reset_only=False): args['x'][:3] = 2 if reset_only else 1\n"
                "def after(args, exception): args['x'][3:] = 9 if exception is None else 8\n" +
                tunedWith(", pre_hook=before, post_hook=after"));
  file.device.cpu = false;
  file.device.timeOf = {{"32", 1.0}, {"64", 2.0}, {"128", 3.0}};
  file.device.bodies["k"] = [](auto &, const runtime::LaunchConfig &config) {
    *static_cast<float *>(MockDevice::at(config.args[0].bits)) += 1;
  };
  EXPECT_EQ(file.call("f"), "[4.0, 2.0, 2.0, 9.0]");
}

/// Kernels are compiled for the blocks of descriptors that a configuration's hook sets.
TEST(Autotune, HooksSetTheBlocksOfDescriptors) {
  for (bool cpu : {false, true}) {
    HostFile file("from triton.tools.tensor_descriptor import TensorDescriptor\n"
                  "def blocks(args): args['d'].block_shape = [args['BLOCK'], 8]\n"
                  "@triton.autotune([triton.Config({'BLOCK': b}, pre_hook=blocks)\n"
                  "                  for b in (32, 64)], key=[])\n"
                  "@triton.jit\ndef k(d, BLOCK: tl.constexpr): pass\n"
                  "def f():\n    x = tile.zeros((64, 8))\n"
                  "    d = TensorDescriptor(x, x.shape, x.stride(), [1, 1])\n"
                  "    k[1](d)\n    return d.block_shape\n"
                  "def wrong():\n    x = tile.zeros((64, 8))\n"
                  "    d = TensorDescriptor.from_tensor(x, [8, 8])\n    d.block_shape = [8]\n"
                  "def unknown():\n    x = tile.zeros((64, 8))\n"
                  "    d = TensorDescriptor.from_tensor(x, [8, 8])\n    d.blocks = [8, 8]\n");
    file.device.cpu = cpu;
    file.device.timeOf = {{"32", 2.0}, {"64", 1.0}};
    file.device.bodies["k"] = [](auto &, auto &) {};
    EXPECT_EQ(file.call("f"), cpu ? "[32, 8]" : "[64, 8]");
    for (const CompileOptions &options : file.device.prepared)
      EXPECT_EQ(options.signature, "tensordesc<fp32[" + options.constexprs[0].second + ",8]>");
    EXPECT_EQ(file.device.prepared.size(), cpu ? 1u : 2u);
    EXPECT_EQ(file.call("wrong"), "TypeError: `TensorDescriptor` needs a shape, strides and a "
                                  "block shape of 1 to 5 dimensions each");
    EXPECT_EQ(file.call("unknown"),
              "AttributeError: a `TensorDescriptor` has no attribute `blocks`");
  }
}

TEST(Autotune, ADecisionOnDiskIsNotMeasuredAgain) {
  llvm::SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tile-tune-test", folder));
  auto launches = [&] {
    HostFile file(tunedKernel, folder.str().str());
    file.device.cpu = false;
    file.device.timeOf = {{"32", 3.0}, {"64", 1.0}, {"128", 2.0}};
    file.device.bodies["k"] = [](auto &, auto &) {};
    file.call("f");
    EXPECT_EQ(file.device.launches.back().second.grid[0], 64u);
    return file.device.launches.size();
  };
  EXPECT_EQ(launches(), 3u * 4 + 2);
  EXPECT_EQ(launches(), 2u);
  llvm::sys::fs::remove_directories(folder);
}

TEST(Launch, ErrorsSayWhatIsWrong) {
  HostFile file("def unknown(): add[1](tile.zeros(1), tile.zeros(1), tile.zeros(1), 1, BLOK=2)\n"
                "def cooperative(): add[1](tile.zeros(1), launch_cooperative_grid=True)\n"
                "def missing(): add[1](tile.zeros(1))\n"
                "def plain(): unknown[1](2)\n"
                "def object(): add[1](len, 2, 3, 4)\n"
                "def big(): add[1](2**65, 2, 3, 4)\n"
                "@triton.jit\ndef other(x): pass\n"
                "def compile(): other[1](1)\n"
                "def call(): other(1)\n"
                "def run(): add[1](tile.zeros(1), tile.zeros(1), tile.zeros(1), 1)\n");
  EXPECT_EQ(file.call("unknown"), "TypeError: `BLOK` is neither a parameter of `add` nor a launch "
                                  "option; did you mean `BLOCK`?");
  EXPECT_NE(file.call("cooperative")
                .find("the launch option `launch_cooperative_grid` is not "
                      "supported: launch no more programs"),
            std::string::npos);
  EXPECT_EQ(file.call("missing"), "TypeError: `add` needs its argument `y`");
  EXPECT_EQ(file.call("plain"), "TypeError: `unknown` is not a kernel: only functions with "
                                "`@triton.jit` are launched with `[grid]`");
  EXPECT_EQ(file.call("object"), "TypeError: argument `x` of `add`: a value of type `builtin` "
                                 "cannot be passed to a kernel");
  EXPECT_NE(file.call("big").find("out of range for"), std::string::npos);
  EXPECT_NE(file.call("compile").find("cannot compile this"), std::string::npos);
  EXPECT_NE(file.call("call").find("launch it with `other[grid](...)`"), std::string::npos);
  file.device.failure = "lane 3 is out of bounds";
  EXPECT_NE(file.call("run").find("lane 3 is out of bounds"), std::string::npos);
}

} // namespace
