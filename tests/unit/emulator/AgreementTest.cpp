//===- AgreementTest.cpp - what comparing two devices finds ---------------===//
//
// The emulator beside a second one, which changes its results as a fault of the
// hardware or of the back end would.
//
//===----------------------------------------------------------------------===//
#include "frontend/Parser.h"
#include "runtime/devices/AgreementDevice.h"
#include "runtime/devices/ForwardingDevice.h"
#include "gtest/gtest.h"
#include <cstring>

using namespace tile;
using namespace tile::runtime;

namespace {

const char *source = R"py(
import triton
import triton.language as tl

@triton.jit
def move(x, out):
    i = tl.arange(0, 128)
    tl.store(out + i, tl.load(x + i))

@triton.jit
def power(x, out):
    i = tl.arange(0, 128)
    tl.store(out + i, tl.exp(tl.load(x + i)))

@triton.jit
def power_in_tuple(x, outs):
    i = tl.arange(0, 128)
    tl.store(outs[1] + i, tl.exp(tl.load(x + i)))

@triton.jit
def power_of_rows(x, out):
    i = tl.arange(0, 8)[:, None] * 16 + tl.arange(0, 16)[None, :]
    out.store([0, 0], tl.exp(tl.load(x + i)))

@triton.jit
def collect(x, out):
    i = tl.arange(0, 128)
    tl.atomic_add(out + i % 4, tl.load(x + i))
)py";

constexpr unsigned kElements = 128, kBytes = 4 * kElements, kBent = 77;

/// Does what the emulator does, and then adds `bend` to one element's bits.
class Bent : public ForwardingDevice {
public:
  Bent() : ForwardingDevice(createEmuDevice({})) {}
  uint32_t bend = 0;
  DevicePtr last = 0;

  std::string name() const override { return "bent"; }
  std::string description() const override { return "an emulator with a fault"; }
  llvm::Expected<DevicePtr> allocate(uint64_t bytes) override {
    auto p = inner->allocate(bytes);
    last = p ? *p : 0;
    return p;
  }
  bool launch(Kernel &kernel, const LaunchConfig &config,
              frontend::DiagnosticEngine &diagnostics) override {
    bool ok = inner->launch(kernel, config, diagnostics);
    reinterpret_cast<uint32_t *>(last)[kBent] += bend;
    return ok;
  }
};

enum class Out { Pointer, Tuple, Descriptor };

struct Comparison {
  const char *kernel, *signature;
  Out out;
  uint32_t bend;     ///< units in the last place
  const char *error; ///< that it must say; none if it agrees
  Agreement found;
};

class Compared : public testing::TestWithParam<Comparison> {};

TEST_P(Compared, AfterALaunch) {
  const Comparison &c = GetParam();
  frontend::SourceFile file("agree.tile", source);
  frontend::DiagnosticEngine diagnostics;
  ast::Module module = frontend::parse(file, diagnostics);
  auto bent = std::make_unique<Bent>();
  Bent &second = *bent;
  auto both = createAgreementDevice(createEmuDevice({}), std::move(bent));
  DevicePtr memory[2];
  float ones[kElements];
  for (unsigned i = 0; i < kElements; ++i)
    ones[i] = float(i % 8) / 8;
  for (DevicePtr &p : memory) {
    auto allocated = both->allocate(kBytes);
    ASSERT_TRUE(bool(allocated));
    p = *allocated;
    llvm::cantFail(both->upload(p, ones, kBytes));
  }
  CompileOptions options;
  options.kernel = c.kernel, options.signature = c.signature, options.target = "sm_90a";
  auto kernel = both->prepare({&file, &module, options}, diagnostics);
  ASSERT_TRUE(kernel) << diagnostics.str();
  LaunchArg out = LaunchArg::pointer(memory[1]);
  if (c.out == Out::Tuple) {
    out = LaunchArg();
    out.kind = LaunchArg::Kind::Tuple;
    out.elements = {LaunchArg::integer(3), LaunchArg::pointer(memory[1])};
  } else if (c.out == Out::Descriptor) {
    out.kind = LaunchArg::Kind::Descriptor;
    out.shape = {8, 16}, out.strides = {16, 1};
  }
  LaunchConfig config;
  config.args = {LaunchArg::pointer(memory[0]), out};
  second.bend = c.bend;
  bool ok = both->launch(*kernel, config, diagnostics);
  EXPECT_EQ(ok, !c.error) << diagnostics.str();
  if (c.error)
    EXPECT_NE(diagnostics.str().find(c.error), std::string::npos) << diagnostics.str();
  EXPECT_EQ(both->agreement().launches, 1u);
  EXPECT_EQ(both->agreement().identical, c.found.identical);
  EXPECT_EQ(both->agreement().exact, c.found.exact);
  EXPECT_EQ(both->agreement().unordered, c.found.unordered);
  // Both go on from the same memory.
  second.bend = 0;
  frontend::DiagnosticEngine again;
  EXPECT_TRUE(both->launch(*kernel, config, again)) << again.str();
  for (DevicePtr p : memory)
    llvm::cantFail(both->free(p));
}

Agreement found(uint64_t identical, uint64_t exact, uint64_t unordered = 0) {
  Agreement a;
  a.identical = identical, a.exact = exact, a.unordered = unordered;
  return a;
}

const char *const element = "element 77 of an array of fp32 differs by";

INSTANTIATE_TEST_SUITE_P(
    Emu, Compared,
    testing::Values(
        Comparison{"move", "*fp32,*fp32", Out::Pointer, 0, nullptr, found(1, 1)},
        // Every bit of what is only moved is defined, and so is one of integers.
        Comparison{"move", "*fp32,*fp32", Out::Pointer, 1, element, found(0, 1)},
        Comparison{"move", "*i32,*i32", Out::Pointer, 1,
                   "byte 308 of an array of 512 bytes (i32) differs", found(0, 1)},
        // An approximation leaves its last bits open, and no more.
        Comparison{"power", "*fp32,*fp32", Out::Pointer, 0, nullptr, found(1, 0)},
        Comparison{"power", "*fp32,*fp32", Out::Pointer, 1, nullptr, found(0, 0)},
        Comparison{"power", "*fp32,*fp32", Out::Pointer, 1 << 16, element, found(0, 0)},
        Comparison{"power_in_tuple", "*fp32,(i32,*fp32)", Out::Tuple, 1, nullptr, found(0, 0)},
        Comparison{"power_in_tuple", "*fp32,(i32,*fp32)", Out::Tuple, 1 << 16, element,
                   found(0, 0)},
        Comparison{"power_in_tuple", "*fp32,(n=const=\"a,(\",out=*fp32)", Out::Tuple, 1, nullptr,
                   found(0, 0)},
        Comparison{"power_of_rows", "*fp32,tensordesc<fp32[8,16]>", Out::Descriptor, 1, nullptr,
                   found(0, 0)},
        Comparison{"power_of_rows", "*fp32,tensordesc<fp32[8,16]>", Out::Descriptor, 1 << 16,
                   element, found(0, 0)},
        // Sums of floats depend on the order of programs, those of integers do not.
        Comparison{"collect", "*fp32,*fp32", Out::Pointer, 1, nullptr, found(0, 0, 1)},
        Comparison{"collect", "*i32,*i32", Out::Pointer, 1, "(i32) differs", found(0, 1)}),
    [](const auto &info) {
      const Comparison &c = info.param;
      return std::string(c.kernel) + (llvm::StringRef(c.signature).contains("fp32") ? "" : "_i32") +
             (llvm::StringRef(c.signature).contains("const=") ? "_named" : "") +
             (!c.bend      ? "_same"
              : c.bend > 1 ? "_far"
                           : "_near");
    });

} // namespace
