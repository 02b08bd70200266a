//===- Differential.cpp - the same kernel on two machines ------------------===//
#include "tests/fuzz/Differential.h"
#include "frontend/Parser.h"
#include "runtime/devices/EmuDevice.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <map>

using namespace tile;
using namespace tile::fuzz;
using namespace tile::runtime;

namespace {
using Bytes = std::vector<uint8_t>;
/// What one run gave: the bytes of every output, or what went wrong.
struct Outcome {
  std::string error;
  bool unsupported = false; ///< the device says that it cannot, rather than fails
  std::vector<Bytes> outputs;
};
} // namespace

static unsigned elementBytes(Element e) { return std::max(bitsOf(e) / 8, 1u); }
/// Of a variable's memory for all programs.
static size_t bytesOf(const fuzz::Kernel &kernel, int variable) {
  const Type &type = kernel.statements[variable].type;
  return size_t(type.count()) * kernel.programs * elementBytes(type.element);
}

static CompileOptions optionsFor(const fuzz::Kernel &kernel, const std::string &target) {
  CompileOptions options;
  options.kernel = "kernel";
  options.signature = kernel.signature();
  options.target = target;
  options.numWarps = kernel.numWarps;
  options.numStages = kernel.numStages;
  options.persistent = kernel.persistent;
  options.warpRoles = kernel.noRoles      ? WarpRoles::None
                      : kernel.takesTurns ? WarpRoles::PingPong
                                          : WarpRoles::Auto;
  // Grids are small: what is for larger ones is tried as well.
  options.programs = kernel.statements.size() % 2 == 0 ? GridPrograms::Any : GridPrograms::Many;
  if (llvm::StringRef(target).starts_with("sm_9"))
    options.numCtas = kernel.numCtas;
  options.enableFpFusion = false;
  return options;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

namespace {
/// Device memory that is given back.
class Buffer {
public:
  Buffer(Device &device, const Bytes &data) : device(device) {
    auto pointer = device.allocate(data.size());
    if (!pointer) {
      error = llvm::toString(pointer.takeError());
      return;
    }
    address = *pointer;
    if (llvm::Error failed = device.upload(address, data.data(), data.size()))
      error = llvm::toString(std::move(failed));
  }
  ~Buffer() {
    if (address)
      llvm::consumeError(device.free(address));
  }
  Buffer(const Buffer &) = delete;
  Device &device;
  DevicePtr address = 0;
  std::string error;
};
} // namespace

/// Makes a pointer the descriptor of a tensor that lies there row by row.
static void describe(const Type &tensor, LaunchArg &arg) {
  arg.kind = LaunchArg::Kind::Descriptor;
  arg.shape = tensor.shape;
  arg.strides.assign(tensor.shape.size(), 1);
  for (size_t d = tensor.shape.size(); d-- > 1;)
    arg.strides[d - 1] = arg.strides[d] * tensor.shape[d];
}

bool fuzz::isRefusal(llvm::StringRef why) {
  return why.contains("does not compile") &&
         (why.contains(" bytes of shared memory, most of them here, but ") ||
          (why.contains(" the kernel has more than ") && why.contains(" instructions: use ")));
}

static Outcome run(Device &device, const fuzz::Kernel &kernel, const frontend::SourceFile &file,
                   const ast::Module &module) {
  Outcome outcome;
  frontend::DiagnosticEngine diagnostics;
  KernelRequest request{&file, &module, optionsFor(kernel, device.target())};
  std::unique_ptr<runtime::Kernel> prepared = device.prepare(request, diagnostics);
  if (!prepared) {
    outcome.error = "does not compile: " + diagnostics.str();
    outcome.unsupported = diagnostics.onlyUnsupported();
    return outcome;
  }
  std::vector<std::unique_ptr<Buffer>> buffers;
  LaunchConfig config;
  config.grid = kernel.grid();
  auto add = [&](const Bytes &data) {
    buffers.push_back(std::make_unique<Buffer>(device, data));
    config.args.push_back(LaunchArg::pointer(buffers.back()->address));
    if (outcome.error.empty())
      outcome.error = buffers.back()->error;
  };
  std::map<int, size_t> bufferOf;
  for (int v : kernel.inputs()) {
    const Statement &s = kernel.statements[v];
    auto shared = bufferOf.find(s.aliasOf);
    if (shared != bufferOf.end()) {
      config.args.push_back(LaunchArg::pointer(buffers[shared->second]->address));
      continue;
    }
    bufferOf[v] = buffers.size();
    add(initialData(kernel, v));
    if (s.kind == Statement::Kind::Descriptor)
      describe(s.type, config.args.back());
  }
  for (int v : kernel.arguments())
    config.args.push_back(LaunchArg::integer(uint64_t(kernel.statements[v].value)));
  size_t firstResult = buffers.size();
  for (int v : kernel.results())
    add(kernel.statements[v].isValue() ? Bytes(bytesOf(kernel, v), 0xa5) : initialData(kernel, v));
  if (!outcome.error.empty())
    return outcome;
  if (!device.launch(*prepared, config, diagnostics)) {
    outcome.error = "fails: " + diagnostics.str();
    return outcome;
  }
  if (llvm::Error failed = device.synchronize()) {
    outcome.error = "fails: " + llvm::toString(std::move(failed));
    return outcome;
  }
  for (auto [k, v] : llvm::enumerate(kernel.results())) {
    Bytes data(bytesOf(kernel, v));
    if (llvm::Error failed =
            device.download(data.data(), buffers[firstResult + k]->address, data.size()))
      outcome.error = llvm::toString(std::move(failed));
    outcome.outputs.push_back(std::move(data));
  }
  return outcome;
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

static uint64_t bitsAt(const Bytes &data, size_t k, unsigned bytes) {
  uint64_t bits = 0;
  std::memcpy(&bits, data.data() + k * bytes, bytes);
  return bits;
}

static llvm::APFloat asFloat(uint64_t bits, Element e) {
  return llvm::APFloat(formatOf(e), llvm::APInt(bitsOf(e), bits));
}

/// Equal to the bit, except that any NaN equals any other and zeros of both
/// signs are equal (which one `maximum` gives is open).
static bool agree(uint64_t a, uint64_t b, Element e) {
  if (a == b)
    return true;
  if (!isFloat(e))
    return false;
  llvm::APFloat x = asFloat(a, e), y = asFloat(b, e);
  return (x.isNaN() && y.isNaN()) || (x.isZero() && y.isZero());
}

static std::string compare(const fuzz::Kernel &kernel, const Outcome &expected,
                           const Outcome &got) {
  for (auto [k, v] : llvm::enumerate(kernel.results())) {
    const Type &type = kernel.statements[v].type;
    unsigned bytes = elementBytes(type.element);
    for (size_t i = 0; i < size_t(type.count()) * kernel.programs; ++i) {
      uint64_t a = bitsAt(expected.outputs[k], i, bytes), b = bitsAt(got.outputs[k], i, bytes);
      if (kernel.algebraic ? a != b : !agree(a, b, type.element))
        return llvm::formatv("v{0} ({1}) differs at element {2}: {3:x} instead of {4:x}", v,
                             spelling(type.element), i, b, a);
    }
  }
  return "";
}

namespace {

class OnTwoDevices : public Differential {
public:
  std::unique_ptr<Device> reference, other;
  std::unique_ptr<Compiler> compiler; ///< may be null
  std::string target;
  bool emulated = false;
  bool hasE4M3 = true; ///< the 8-bit float that older GPUs do not have

  bool fits(const fuzz::Kernel &kernel) const {
    return hasE4M3 || llvm::none_of(kernel.statements, [](const Statement &s) {
             return s.type.element == Element::F8E4;
           });
  }

  std::string check(const fuzz::Kernel &kernel) override {
    if (!fits(kernel))
      return "";
    frontend::SourceFile file("kernel.tile", kernel.source());
    frontend::DiagnosticEngine diagnostics;
    ast::Module module = frontend::parse(file, diagnostics);
    if (diagnostics.hasErrors())
      return "does not parse: " + diagnostics.str();
    frontend::SourceFile plainFile("kernel.tile", kernel.source(/*runsPtx=*/false));
    ast::Module plain = frontend::parse(plainFile, diagnostics);
    Outcome expected = run(*reference, kernel, plainFile, plain);
    if (!expected.error.empty())
      return "on the interpreter, " + expected.error;
    Outcome got =
        compiler ? run(*other, kernel, plainFile, plain) : run(*other, kernel, file, module);
    // The interpreter does not run asynchronous copies, the emulator not every instruction. Those
    // of the algebraic mode are known to be ones that it runs.
    if (!got.unsupported || kernel.algebraic || !(emulated || compiler)) {
      if (!got.error.empty())
        return "on the other device, " + got.error;
      if (std::string difference = compare(kernel, expected, got); !difference.empty())
        return difference;
    }
    if (!compiler)
      return "";
    CompileResult result = compiler->compile(file, optionsFor(kernel, target));
    return result.ok() ? "" : "does not compile for " + target + ": " + result.diagnostics.str();
  }
};

} // namespace

std::unique_ptr<Differential> Differential::create(const std::string &device,
                                                   const std::string &target, bool algebraic,
                                                   std::string &error) {
  auto result = std::make_unique<OnTwoDevices>();
  result->hasE4M3 = device == "cuda" || !llvm::is_contained({"sm_75", "sm_80", "sm_86"}, target);
  CpuDeviceOptions cpu;
  cpu.threads = 1;
  cpu.algebraic = algebraic;
  result->reference = createCpuDevice(cpu);
  if (device == "emu") {
    EmuDeviceOptions emulated;
    emulated.threads = 1;
    emulated.target = target;
    emulated.algebraic = algebraic;
    result->other = createEmuDevice(emulated);
    result->emulated = true;
  } else if (device == "cuda") {
    auto gpu = createCudaDevice({});
    if (!gpu) {
      error = llvm::toString(gpu.takeError());
      return nullptr;
    }
    result->other = std::move(*gpu);
  } else {
    cpu.throughPasses = true;
    result->other = createCpuDevice(cpu);
    result->compiler = std::make_unique<Compiler>();
    result->target = target;
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Reducing
//===----------------------------------------------------------------------===//

/// Without the statements that no output depends on.
static fuzz::Kernel trimmed(const fuzz::Kernel &kernel) {
  std::vector<bool> needed(kernel.statements.size());
  for (int v : kernel.outputs)
    needed[v] = true;
  for (size_t v = needed.size(); v-- > 0;)
    if (needed[v])
      for (int operand : kernel.statements[v].operands)
        needed[operand] = true;
  fuzz::Kernel result = kernel;
  result.statements.clear();
  std::vector<int> renamed(needed.size(), -1);
  for (size_t v = 0; v < needed.size(); ++v) {
    if (!needed[v])
      continue;
    renamed[v] = int(result.statements.size());
    result.statements.push_back(kernel.statements[v]);
    for (int &operand : result.statements.back().operands)
      operand = renamed[operand];
    if (int &alias = result.statements.back().aliasOf; alias >= 0)
      alias = renamed[alias];
  }
  result.leavesAt = int(std::count(needed.begin(), needed.begin() + kernel.leavesAt, true));
  for (int &v : result.outputs)
    v = renamed[v];
  return result;
}

fuzz::Kernel fuzz::reduce(fuzz::Kernel kernel,
                          llvm::function_ref<bool(const fuzz::Kernel &)> fails) {
  auto accept = [&](fuzz::Kernel smaller) {
    smaller = trimmed(smaller);
    if (!fails(smaller))
      return false;
    kernel = std::move(smaller);
    return true;
  };
  // One output is enough, if it is the right one.
  for (int v : std::vector<int>(kernel.outputs)) {
    fuzz::Kernel smaller = kernel;
    smaller.outputs = {v};
    if (kernel.outputs.size() > 1 && accept(smaller))
      break;
  }
  // Each statement may become a load, the last ones first.
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t v = kernel.statements.size(); v-- > 0 && !changed;) {
      if (kernel.statements[v].kind != Statement::Kind::Computed)
        continue;
      fuzz::Kernel smaller = kernel;
      Statement &s = smaller.statements[v];
      s.kind = Statement::Kind::Load;
      s.operands.clear();
      s.text.clear();
      s.plain.clear();
      changed = !llvm::is_contained(smaller.outputs, int(v)) && accept(smaller);
    }
  }
  auto simplify = [&](auto change) {
    fuzz::Kernel smaller = kernel;
    change(smaller);
    accept(smaller);
  };
  simplify([](fuzz::Kernel &k) { k.programs = 1, k.gridAxis = 0; });
  simplify([](fuzz::Kernel &k) { k.leaves = -1; });
  simplify([](fuzz::Kernel &k) { k.numCtas = 1; });
  simplify([](fuzz::Kernel &k) { k.noRoles = k.takesTurns = k.persistent = false; });
  for (int warps : {1, 2, 4})
    if (kernel.numWarps > warps) {
      fuzz::Kernel smaller = kernel;
      smaller.numWarps = warps;
      if (accept(smaller))
        break;
    }
  return kernel;
}
