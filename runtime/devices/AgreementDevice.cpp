//===- AgreementDevice.cpp - two devices that must agree ------------------===//
#include "runtime/devices/AgreementDevice.h"
#include "emulator/machine/Numbers.h"
#include "frontend/specialize/Signature.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>
#include <cstring>

using namespace tile;
using namespace tile::runtime;
using specialize::ArgumentType;

namespace {

class PairKernel : public Kernel {
public:
  PairKernel(std::unique_ptr<Kernel> a, std::unique_ptr<Kernel> b, std::vector<ArgumentType> types)
      : first(std::move(a)), second(std::move(b)), types(std::move(types)) {}
  const KernelMetadata &metadata() const override { return first->metadata(); }
  std::unique_ptr<Kernel> first, second;
  std::vector<ArgumentType> types; ///< of the entries of the signature
};

class Pair : public AgreementDevice {
public:
  Pair(std::unique_ptr<EmuDevice> first, std::unique_ptr<Device> second, bool bitwise)
      : first(std::move(first)), second(std::move(second)), bitwise(bitwise) {}

  std::string name() const override { return first->name() + "+" + second->name(); }
  std::string description() const override {
    return formatted("{}; compared with {}", first->description(), second->description());
  }
  std::string target() const override { return second->target(); }
  bool isCpu() const override { return true; } // one configuration, no tuning
  unsigned multiprocessorCount() const override { return second->multiprocessorCount(); }
  const Agreement &agreement() const override { return found; }

  llvm::Expected<DevicePtr> allocate(uint64_t bytes) override;
  llvm::Error free(DevicePtr pointer) override;
  llvm::Error upload(DevicePtr to, const void *from, uint64_t bytes) override {
    if (llvm::Error error = first->upload(to, from, bytes))
      return error;
    return second->upload(other(to), translate(from, bytes).data(), bytes);
  }
  llvm::Error download(void *to, DevicePtr from, uint64_t bytes) override {
    return first->download(to, from, bytes);
  }
  llvm::Error fill(DevicePtr to, uint8_t byte, uint64_t bytes) override {
    if (llvm::Error error = first->fill(to, byte, bytes))
      return error;
    return second->fill(other(to), byte, bytes);
  }
  llvm::Error copy(DevicePtr to, DevicePtr from, uint64_t bytes) override {
    if (llvm::Error error = first->copy(to, from, bytes))
      return error;
    return second->copy(other(to), other(from), bytes);
  }
  llvm::Error poison(DevicePtr to, uint8_t byte, uint64_t bytes) override {
    if (llvm::Error error = first->poison(to, byte, bytes))
      return error;
    return second->fill(other(to), byte, bytes);
  }
  std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                  frontend::DiagnosticEngine &diagnostics) override;
  bool launch(Kernel &kernel, const LaunchConfig &config,
              frontend::DiagnosticEngine &diagnostics) override;
  llvm::Error synchronize() override { return second->synchronize(); }
  llvm::Expected<Timing> time(llvm::function_ref<bool()> body,
                              const TimingOptions &options) override {
    return first->time(body, options);
  }

private:
  struct Block {
    DevicePtr second;
    uint64_t bytes;
  };
  DevicePtr other(DevicePtr pointer) const;
  std::vector<uint8_t> translate(const void *from, uint64_t bytes) const;
  LaunchArg translate(const LaunchArg &arg) const;
  std::string compare(DevicePtr base, const Block &block, llvm::StringRef type,
                      const emu::Program &program, bool narrow, bool &same);

  std::unique_ptr<EmuDevice> first;
  std::unique_ptr<Device> second;
  bool bitwise;
  std::map<DevicePtr, Block> blocks; ///< by the first one's address
  Agreement found;
};

} // namespace

llvm::Expected<DevicePtr> Pair::allocate(uint64_t bytes) {
  auto a = first->allocate(bytes);
  if (!a)
    return a;
  auto b = second->allocate(std::max<uint64_t>(bytes, 1));
  if (!b)
    return b;
  blocks[*a] = {*b, bytes};
  // Both begin with the same garbage.
  if (bytes)
    if (llvm::Error error = second->upload(*b, reinterpret_cast<const void *>(*a), bytes))
      return std::move(error);
  return *a;
}

llvm::Error Pair::free(DevicePtr pointer) {
  auto it = blocks.find(pointer);
  if (it != blocks.end()) {
    if (llvm::Error error = second->free(it->second.second))
      return error;
    blocks.erase(it);
  }
  return first->free(pointer);
}

DevicePtr Pair::other(DevicePtr pointer) const {
  auto after = blocks.upper_bound(pointer);
  if (after == blocks.begin())
    return pointer;
  auto &[base, block] = *std::prev(after);
  return pointer - base <= block.bytes ? block.second + (pointer - base) : pointer;
}

/// Pointers may also be kept in memory: words that are addresses of ours become
/// the other device's.
std::vector<uint8_t> Pair::translate(const void *from, uint64_t bytes) const {
  auto *begin = static_cast<const uint8_t *>(from);
  std::vector<uint8_t> out(begin, begin + bytes);
  for (uint64_t i = 0; i + sizeof(DevicePtr) <= bytes; i += sizeof(DevicePtr)) {
    DevicePtr word;
    std::memcpy(&word, &out[i], sizeof word);
    word = other(word);
    std::memcpy(&out[i], &word, sizeof word);
  }
  return out;
}

LaunchArg Pair::translate(const LaunchArg &arg) const {
  LaunchArg out = arg;
  if (arg.kind == LaunchArg::Kind::Pointer || arg.kind == LaunchArg::Kind::Descriptor)
    out.bits = other(arg.bits);
  for (LaunchArg &element : out.elements)
    element = translate(element);
  return out;
}

/// What an argument says of the elements in `bytes` from `base` on; nothing if it is about
/// something else.
static std::optional<eval::DType> elementType(const ArgumentType &type, const LaunchArg &arg,
                                              DevicePtr base, uint64_t bytes) {
  for (auto [part, element] : llvm::zip(type.elements, arg.elements))
    if (auto found = elementType(part, element, base, bytes))
      return found;
  if (arg.bits < base || arg.bits >= base + bytes)
    return std::nullopt;
  if (arg.kind == LaunchArg::Kind::Descriptor)
    return type.type;
  if (arg.kind == LaunchArg::Kind::Pointer && type.type.isPointer())
    return type.type.element();
  return std::nullopt;
}

static std::vector<ArgumentType> argumentTypes(llvm::StringRef signature) {
  std::vector<std::string> entries;
  std::string ignored; // both devices have compiled it
  specialize::splitSignature(signature, entries, ignored);
  std::vector<ArgumentType> types;
  for (const std::string &entry : entries)
    types.push_back(specialize::parseArgumentType(entry, ignored).value_or(ArgumentType()));
  return types;
}

std::unique_ptr<Kernel> Pair::prepare(const KernelRequest &request,
                                      frontend::DiagnosticEngine &diagnostics) {
  auto a = first->prepare(request, diagnostics);
  auto b = a ? second->prepare(request, diagnostics) : nullptr;
  if (!b)
    return nullptr;
  return std::make_unique<PairKernel>(std::move(a), std::move(b),
                                      argumentTypes(request.options.signature));
}

namespace {
struct FloatType {
  emu::Format format;
  double bound; ///< relative to the array's largest value, or to `least` if that is less
  double least; ///< what is left where everything cancels is all rounding error
};
} // namespace

/// What approximate instructions and sums of products may leave (docs/emulator.md).
static std::optional<FloatType> floatType(llvm::StringRef type) {
  return llvm::StringSwitch<std::optional<FloatType>>(type)
      .Case("fp64", FloatType{emu::Format::F64, 1e-11, 1e-2})
      .Case("fp32", FloatType{emu::Format::F32, 5e-4, 1e-2})
      .Case("fp16", FloatType{emu::Format::F16, 1.5e-3, 1e-2})
      .Case("bf16", FloatType{emu::Format::BF16, 1.2e-2, 1e-2})
      .Default(std::nullopt);
}

/// Tensor cores add products of 8-bit floats in 14 bits.
static constexpr double kNarrowBound = 2e-3;
/// What lies between two floats of 8 bits may be rounded to either. Of a softmax that costs most
/// where there are two keys: the larger power is 1 and is not rounded; the other, from 1/2 on, is
/// rounded to multiples of 2^-4, and both are divided by their sum, 3/2 at least.
static constexpr double kNarrowingBound = 0x1p-4 / 1.5;
/// `rcp.approx.ftz.f64` and its like give the upper half of a double.
static constexpr double kHalfDoubleBound = 1e-6;
/// Doubles made of floats are no better than these: approximate instructions leave 2 units of
/// 2^-23 each, and the last bits of a few add up.
static constexpr double kFloatsInDoublesBound = 1e-6;

static bool addsNarrowProducts(llvm::StringRef opcode) {
  return opcode.contains("e4m3") || opcode.contains("e5m2");
}

static double boundOf(const emu::Program &program, const FloatType &type) {
  double bound = program.inexact().empty() ? 0 : type.bound;
  for (llvm::StringRef opcode : program.inexact()) {
    if (addsNarrowProducts(opcode))
      bound = std::max(bound, kNarrowBound);
    if (opcode == emu::Program::kRoundsToNarrow)
      bound = std::max(bound, kNarrowingBound);
    if (opcode.contains(".approx") && opcode.ends_with("f64"))
      bound = std::max(bound, kHalfDoubleBound);
    if (type.format == emu::Format::F64 && opcode.ends_with("f32"))
      bound = std::max(bound, kFloatsInDoublesBound);
  }
  return bound;
}

/// What is wrong with a block, or nothing; `same` if every bit agrees. `narrow`: the
/// kernel adds products of 8-bit floats.
std::string Pair::compare(DevicePtr base, const Block &block, llvm::StringRef type,
                          const emu::Program &program, bool narrow, bool &same) {
  std::vector<uint8_t> got(block.bytes);
  if (llvm::Error error = second->download(got.data(), block.second, block.bytes))
    return llvm::toString(std::move(error));
  std::vector<uint8_t> expected = translate(reinterpret_cast<const void *>(base), block.bytes);
  same = got == expected;
  if (same)
    return "";
  auto info = bitwise ? std::nullopt : floatType(type);
  bool exact = program.inexact().empty();
  if (!info) {
    uint64_t at = 0;
    while (got[at] == expected[at])
      ++at;
    return formatted("byte {} of an array of {} bytes{} differs: {:02x} and {:02x}", at,
                     block.bytes, type.empty() ? "" : formatted(" ({})", type), got[at],
                     expected[at]);
  }
  unsigned each = emu::bitWidth(info->format) / 8;
  double largest = 0, worst = 0;
  uint64_t worstAt = 0;
  for (uint64_t i = 0; i + each <= block.bytes; i += each) {
    uint64_t a = 0, b = 0;
    std::memcpy(&a, &expected[i], each);
    std::memcpy(&b, &got[i], each);
    double x = emu::decode(info->format, a), y = emu::decode(info->format, b);
    if (std::isfinite(x))
      largest = std::max(largest, std::fabs(x));
    double difference = std::isnan(x) && std::isnan(y) ? 0 // which one is nobody's business
                        : exact && a != b              ? HUGE_VAL
                        : x == y                       ? 0
                                                       : std::fabs(x - y);
    if (!(difference <= worst))
      worst = difference, worstAt = i / each;
  }
  double relative = worst / std::max(largest, info->least);
  if (std::isfinite(relative)) {
    double &most = found.largest[narrow ? formatted("{} of 8-bit products", type) : type.str()];
    most = std::max(most, relative);
  }
  if (relative <= boundOf(program, *info))
    return "";
  return formatted("element {} of an array of {} differs by {:.6e} of the largest value", worstAt,
                   type, relative);
}

bool Pair::launch(Kernel &kernel, const LaunchConfig &config,
                  frontend::DiagnosticEngine &diagnostics) {
  auto &pair = static_cast<PairKernel &>(kernel);
  LaunchConfig there = config;
  for (LaunchArg &arg : there.args)
    arg = translate(arg);
  if (!first->launch(*pair.first, config, diagnostics) ||
      !second->launch(*pair.second, there, diagnostics))
    return false;
  if (llvm::Error error = second->synchronize()) {
    diagnostics.error(nullptr, {}, llvm::toString(std::move(error)));
    return false;
  }
  ++found.launches;
  const emu::Program &program = first->program(*pair.first);
  bool exact = program.inexact().empty(), ordered = !program.dependsOnOrder();
  bool narrow = llvm::any_of(program.inexact(), addsNarrowProducts);
  found.exact += exact && ordered;
  bool allSame = true, ok = true;
  for (auto &[base, block] : blocks) {
    std::string type;
    for (auto [arg, entry] : llvm::zip(config.args, pair.types))
      if (auto found = elementType(entry, arg, base, block.bytes))
        type = found->str();
    bool same = true;
    std::string problem = compare(base, block, type, program, narrow, same);
    allSame &= same;
    if (!problem.empty() && ordered) {
      diagnostics.error(nullptr, {},
                        formatted("`{}` on {}: {} from {}", pair.metadata().entry, second->name(),
                                  problem, first->name()));
      ok = false;
    }
    // A difference counts once.
    if (!same)
      if (llvm::Error error = second->upload(
              block.second, translate(reinterpret_cast<const void *>(base), block.bytes).data(),
              block.bytes))
        llvm::consumeError(std::move(error));
  }
  found.identical += allSame;
  found.unordered += !allSame && !ordered;
  return ok;
}

std::unique_ptr<AgreementDevice> runtime::createAgreementDevice(std::unique_ptr<EmuDevice> first,
                                                                std::unique_ptr<Device> second,
                                                                bool bitwise) {
  return std::make_unique<Pair>(std::move(first), std::move(second), bitwise);
}
