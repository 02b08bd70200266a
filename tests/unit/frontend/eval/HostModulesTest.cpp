//===- HostModulesTest.cpp - files that ask where they are imported --------===//
#include "EvalTest.h"

using namespace tile::eval;

namespace {

TEST(HostModules, TheEnvironmentIsEmpty) {
  TestFile file(R"(
import os
FAST = os.environ.get("USE_FAST", "0") == "1"
LEVEL = int(os.getenv("LEVEL", "3"))
SET = "HOME" in os.environ
if os.environ.get("USE_FAST", "0") == "1":
    def f(): return "fast"
else:
    def f(): return "exact"
)");
  EXPECT_EQ(file.get("FAST"), "False");
  EXPECT_EQ(file.get("LEVEL"), "3");
  EXPECT_EQ(file.get("SET"), "False");
  EXPECT_EQ(file.call("f"), "'exact'");
}

TEST(HostModules, TheGpuIsTheTargets) {
  TestFile file(R"(
import torch, triton
HOPPER = torch.cuda.is_available() and torch.cuda.get_device_capability() == (9, 0)
HIP = torch.version.hip is not None
BACKEND = triton.runtime.driver.active.get_current_target().backend
TYPE = torch.bfloat16
)");
  EXPECT_EQ(file.get("HOPPER"), "True");
  EXPECT_EQ(file.get("HIP"), "False");
  EXPECT_EQ(file.get("BACKEND"), "'cuda'");
  EXPECT_EQ(file.get("TYPE"), "bf16");
  file.program.evaluator().capability = 120;
  TestFile other("import torch\nx = torch.cuda.get_device_capability()");
  other.program.evaluator().capability = 120;
  EXPECT_EQ(other.get("x"), "(12, 0)");
}

TEST(HostModules, VersionsAndModulesCanBeAskedFor) {
  TestFile file(R"(
import importlib.util, warnings, logging
import triton
from packaging import version
NEW = version.parse(triton.__version__) >= version.parse("3.0.0rc1")
HAS = importlib.util.find_spec("triton") is not None
NO = importlib.util.find_spec("no_such_module") is not None
logger = logging.getLogger(__name__)
def quiet():
    warnings.warn("nothing is printed")
    logger.info("nor here")
    return 1
)");
  EXPECT_EQ(file.get("NEW"), "True");
  EXPECT_EQ(file.get("HAS"), "True");
  EXPECT_EQ(file.get("NO"), "False");
}

TEST(HostModules, WhatIsNotKnownIsNotAnExceptionOfTheFile) {
  TestFile file(R"(
import torch
try:
    import triton.language as tl
    READY = torch.something_unknown()
except Exception:
    tl = None
)");
  EXPECT_EQ(file.get("tl"), "<module 'tl'>");
}

TEST(HostModules, AHandlerDoesNotTakeTritonAway) {
  TestFile file(R"(
try:
    import triton
    import triton.language as tl
    from triton import cdiv
    FOUND = True
    from triton.ops import matmul
except Exception:
    triton = tl = cdiv = None
    FOUND = False
)");
  EXPECT_EQ(file.get("triton"), "<module 'triton'>");
  EXPECT_EQ(file.get("tl"), "<module 'tl'>");
  EXPECT_EQ(file.get("cdiv"), "<built-in triton.cdiv>");
  EXPECT_EQ(file.get("FOUND"), "False");
}

TEST(HostModules, TheBackendIsActive) {
  TestFile file(R"(
from triton.backends import backends
READY = any(backend.driver.is_active() for backend in backends.values())
)");
  EXPECT_EQ(file.get("READY"), "True");
}

TEST(HostModules, OneNameThatCannotBeImportedLeavesTheOthers) {
  TestFile file("from math import no_such_name, pi\n");
  EXPECT_EQ(file.get("pi"), "3.141592653589793");
}

TEST(HostModules, LimitsOfTypes) {
  TestFile file(R"(
import torch
import triton.language as tl
bf16 = torch.finfo(torch.bfloat16).max == (2 - 2**-7) * 2.0**127
f16 = torch.finfo(torch.float16).max, torch.finfo(torch.float16).min, torch.finfo(torch.half).eps
f8 = torch.finfo(torch.float8_e4m3fn).max, torch.finfo(type=torch.float8_e5m2).max
others = torch.finfo(tl.float8e4b8).max, torch.finfo(tl.float8e5b16).max
wide = torch.finfo(torch.float64).max == (2 - 2.0**-52) * 2.0**1023
tiny = torch.finfo(torch.float32).tiny == 2.0**-126
i8 = torch.iinfo(torch.int8).min, torch.iinfo(torch.int8).max, torch.iinfo(torch.uint8).max
i64 = torch.iinfo(torch.int64).max == 2**63 - 1
wrong = torch.finfo(torch.int32)
)");
  EXPECT_EQ(file.get("bf16"), "True");
  EXPECT_EQ(file.get("f16"), "(65504.0, -65504.0, 0.0009765625)");
  EXPECT_EQ(file.get("f8"), "(448.0, 57344.0)");
  EXPECT_EQ(file.get("others"), "(240.0, 57344.0)");
  EXPECT_EQ(file.get("wide"), "True");
  EXPECT_EQ(file.get("tiny"), "True");
  EXPECT_EQ(file.get("i8"), "(-128, 127, 255)");
  EXPECT_EQ(file.get("i64"), "True");
  EXPECT_NE(file.get("wrong").find("needs a floating-point type, got"), std::string::npos);
}

TEST(HostModules, AnAttemptThatCannotBeMadeIsHandled) {
  TestFile file(R"(
from runtime import backend
try:
    backend.choose()
    shim = backend.library()
except ImportError:
    import triton
    shim = triton.language.extra.libdevice
tanh = shim.tanh
)");
  EXPECT_EQ(file.get("tanh"), "<built-in libdevice.tanh>");
}

TEST(HostModules, AChoiceThatCannotBeMadeLeavesWhatWasThere) {
  TestFile file(R"(
import importlib
HAS_TRITON = importlib.util.find_spec("triton") is not None
if HAS_TRITON:
    try:
        from triton.unknown import drivers
        HAS_TRITON = len(drivers) == 1
    except ImportError:
        report("no driver")
        HAS_TRITON = False
SIZE = 64 if HAS_TRITON else 1
)");
  EXPECT_EQ(file.get("SIZE"), "64");
}

TEST(HostModules, StatementsOfABranchFailAlone) {
  TestFile file(R"(
import triton
if triton is not None:
    from somewhere import first
    table = first + 1
    def second(): return 2
)");
  EXPECT_EQ(file.call("second"), "2");
  EXPECT_NE(file.get("table").find("not known at compile time"), std::string::npos);
}

TEST(Classes, ConstantsFunctionsAndEnumerations) {
  TestFile file(R"(
from enum import Enum, IntEnum, auto
class Mode(Enum):
    FULL = 3
    HALF = auto()
class Level(IntEnum):
    LOW = 1
class Config:
    BLOCK = 64
    WIDE = BLOCK * 2
    @staticmethod
    def twice(x): return 2 * x
v = Mode.FULL.value
n = Mode.HALF.name
a = Mode.HALF.value
same = Mode.FULL == Mode.FULL, Mode.FULL == Mode.HALF
low = Level.LOW == 1
w = Config.WIDE
t = Config.twice(4)
)");
  EXPECT_EQ(file.get("v"), "3");
  EXPECT_EQ(file.get("n"), "'HALF'");
  EXPECT_EQ(file.get("a"), "4");
  EXPECT_EQ(file.get("same"), "(True, False)");
  EXPECT_EQ(file.get("low"), "True");
  EXPECT_EQ(file.get("w"), "128");
  EXPECT_EQ(file.get("t"), "8");
}

/// The names of a file's kernels, in order.
std::string kernelNames(const TestFile &file) {
  std::string names;
  for (auto &kernel : file.env->kernels())
    names += (names.empty() ? "" : " ") + kernel->name();
  return names;
}

TEST(Kernels, AreFoundWhereverTheyAreDefined) {
  TestFile file(R"(
import triton
from somewhere import HAS_TRITON

@triton.jit
def top(): pass

if HAS_TRITON:
    @triton.jit
    def inside_if(): pass

try:
    @triton.jit
    def inside_try(): pass
except ImportError:
    pass

def make(n, scale=2):
    width = scale * 4
    @triton.jit
    def inside_function():
        return width
    return inside_function

class Op:
    @staticmethod
    @triton.jit
    def inside_class(): pass
)");
  EXPECT_EQ(kernelNames(file), "top inside_if inside_try inside_function inside_class");
  for (auto &kernel : file.env->kernels())
    if (kernel->name() == "inside_function") {
      ASSERT_TRUE(kernel->closure);
      EXPECT_EQ(repr(kernel->closure->variables["width"]), "8");
    }
}

TEST(Kernels, SeeWhatTheirFunctionImportsAndChooses) {
  TestFile file(R"(
import triton
def make(tall):
    try:
        import math as m
        import toolkits.nobody.has
        sure = 1
    except ImportError:
        sure = 0
    if tall:
        rows = 64
    else:
        rows = 32
    if m.floor(2.5) == 2:
        columns = 16
    @triton.jit
    def kernel(): pass
    return kernel
)");
  ASSERT_EQ(kernelNames(file), "kernel");
  auto kernel = file.env->kernels()[0];
  ASSERT_TRUE(kernel->closure);
  auto &known = kernel->closure->variables;
  EXPECT_EQ(repr(known["columns"]), "16");
  EXPECT_EQ(repr(known["sure"]), "0");
  EXPECT_EQ(repr(known["rows"]), "64"); // the first branch that runs
}

TEST(Kernels, ConditionsOnOtherVendorsAreFalse) {
  TestFile file(R"(
from platforms import current_platform
if current_platform.is_rocm():
    def f(): return "hip"
else:
    def f(): return "cuda"
)");
  EXPECT_EQ(file.call("f"), "'cuda'");
  TestFile named(R"(
from runtime import device
if device.vendor_name == "iluvatar":
    log = "exact"
else:
    log = "fast"
if device.vendor_name != "hygon":
    stages = 3
else:
    stages = 1
if device.vendor_name in ["nvidia", "metax"]:
    warps = 8
else:
    warps = 4
)");
  EXPECT_EQ(named.get("log"), "'fast'");
  EXPECT_EQ(named.get("stages"), "3");
  EXPECT_EQ(named.get("warps"), "8");
}

} // namespace
