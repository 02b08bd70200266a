//===- EmuDevice.cpp - host functions on the emulator ---------------------===//
#include "runtime/EmuDevice.h"
#include "emulator/Numbers.h"
#include "emulator/TensorMap.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"
#include <cstring>
#include <deque>
#include <thread>

using namespace tile;
using namespace tile::runtime;

namespace {

/// One specialisation, shared by all kernels prepared from the same request.
struct EmuProgram {
  std::unique_ptr<emu::Program> program;
  emu::LoadOptions load;
  std::string ir; ///< kept only for `beforeLaunch`
  KernelMetadata metadata;
};

class EmuKernel : public Kernel {
public:
  EmuKernel(std::shared_ptr<const EmuProgram> shared, const frontend::SourceFile *file)
      : shared(std::move(shared)), file(file) {}
  const KernelMetadata &metadata() const override { return shared->metadata; }
  std::shared_ptr<const EmuProgram> shared;
  const frontend::SourceFile *file;
};

/// Room for one parameter; the largest are tensor maps.
struct alignas(64) ParameterValue {
  uint64_t words[sizeof(emu::TensorMap) / 8] = {};
};

/// The values of a kernel's parameters, where the emulator finds them.
struct Parameters {
  std::deque<ParameterValue> values; // addresses stay
  std::vector<std::unique_ptr<uint8_t[]>> scratch;
  std::vector<const void *> pointers;
  std::vector<emu::MemoryRange> memory;
};

class Emulator : public EmuDevice {
public:
  explicit Emulator(const EmuDeviceOptions &options)
      : EmuDevice(/*check=*/false), options(options) {}

  std::string name() const override { return "emu"; }
  std::string description() const override {
    std::string text = llvm::formatv("emulated {0}, {1} thread{2}", options.target, threads(),
                                     threads() == 1 ? "" : "s");
    if (options.schedules)
      text +=
          llvm::formatv(", {0} random schedules from seed {1}", options.schedules, options.seed);
    return text + (options.check ? "" : ", unchecked");
  }
  std::string target() const override { return options.target; }
  unsigned multiprocessorCount() const override { return 132; }
  const emu::Counters &counters() const override { return total; }
  const emu::Report &lastReport() const override { return last; }

  std::unique_ptr<Kernel> prepare(const KernelRequest &request,
                                  frontend::DiagnosticEngine &diagnostics) override;
  bool launch(Kernel &kernel, const LaunchConfig &config,
              frontend::DiagnosticEngine &diagnostics) override;

private:
  unsigned threads() const {
    return options.threads ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  }
  std::shared_ptr<const EmuProgram> compile(const KernelRequest &request,
                                            frontend::DiagnosticEngine &diagnostics);
  bool fillParameters(const KernelMetadata &metadata, const LaunchConfig &config,
                      Parameters &parameters, frontend::DiagnosticEngine &diagnostics);
  using Image = std::vector<std::vector<uint8_t>>;
  Image save() const;
  void restore(const Image &image);
  emu::Report runSchedules(const emu::Program &program, const emu::LaunchConfig &config);

  EmuDeviceOptions options;
  Compiler compiler; ///< under `mutex`, like everything below
  llvm::StringMap<std::shared_ptr<const EmuProgram>> programs;
  emu::Counters total;
  emu::Report last;
};

} // namespace

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

std::shared_ptr<const EmuProgram> Emulator::compile(const KernelRequest &request,
                                                    frontend::DiagnosticEngine &diagnostics) {
  CompileOptions compile = request.options;
  compile.stopAfter = Stage::Llvm;
  compile.lineInfo = true;
  CompileResult result = compiler.compile(*request.file, compile);
  auto said = std::make_shared<frontend::DiagnosticEngine>(std::move(result.diagnostics));
  for (const frontend::Diagnostic &d : said->all()) {
    frontend::Diagnostic &copy = d.severity == frontend::Severity::Error
                                     ? diagnostics.error(d.file, d.range, d.message)
                                     : diagnostics.warning(d.file, d.range, d.message);
    copy = d;
  }
  diagnostics.retain(said); // owns the files that were imported
  if (!result.ok())
    return nullptr;
  auto shared = std::make_shared<EmuProgram>();
  shared->load.fuseMulAdd = compile.enableFpFusion;
  std::string error;
  shared->program = emu::Program::load(result.output, shared->load, error);
  if (!shared->program) {
    diagnostics.error(nullptr, {}, error).unsupported = true;
    return nullptr;
  }
  if (options.beforeLaunch)
    shared->ir = std::move(result.output);
  shared->metadata = std::move(result.metadata);
  return shared;
}

std::unique_ptr<Kernel> Emulator::prepare(const KernelRequest &request,
                                          frontend::DiagnosticEngine &diagnostics) {
  std::lock_guard lock(mutex);
  auto &slot = programs[keyOf(request)];
  if (!slot)
    slot = compile(request, diagnostics);
  return slot ? std::make_unique<EmuKernel>(slot, request.file) : nullptr;
}

//===----------------------------------------------------------------------===//
// Launching
//===----------------------------------------------------------------------===//

static uint64_t floatBits(double value, llvm::StringRef type) {
  emu::Format format = type == "fp64"   ? emu::Format::F64
                       : type == "fp16" ? emu::Format::F16
                       : type == "bf16" ? emu::Format::BF16
                                        : emu::Format::F32;
  return emu::encode(format, value);
}

/// An entry of the signature, or an element of a tuple; null if there is none.
static const LaunchArg *findArgument(int index, llvm::ArrayRef<int> path,
                                     llvm::ArrayRef<LaunchArg> args) {
  const LaunchArg *arg = size_t(index) < args.size() ? &args[index] : nullptr;
  for (int step : path) {
    if (!arg || arg->kind != LaunchArg::Kind::Tuple || size_t(step) >= arg->elements.size())
      return nullptr;
    arg = &arg->elements[step];
  }
  return arg;
}

static int64_t evaluate(const LaunchSum &sum, llvm::ArrayRef<LaunchArg> args) {
  int64_t total = 0;
  for (const LaunchSum::Term &term : sum.terms) {
    int64_t product = term.coefficient;
    for (const LaunchSum::Factor &factor : term.factors) {
      const LaunchArg *arg = findArgument(factor.index, factor.path, args);
      product *= arg ? int64_t(arg->bits) : 0;
    }
    total += product;
  }
  return total;
}

/// What the driver would encode, refused for the same reasons.
static emu::TensorMap makeTensorMap(const TensorMap &map, uint64_t base,
                                    llvm::ArrayRef<LaunchArg> args, std::string &problem) {
  emu::TensorMap out;
  out.base = base;
  out.rank = uint8_t(map.sizes.size());
  out.swizzle = uint8_t(map.swizzle);
  out.elementBytes = llvm::StringSwitch<uint8_t>(map.type)
                         .Cases({"fp16", "bf16", "i16"}, 2)
                         .Cases({"fp32", "i32"}, 4)
                         .Cases({"fp64", "i64"}, 8)
                         .Default(1);
  if (map.sizes.empty() || map.sizes.size() > 5 || map.strides.size() + 1 != map.sizes.size() ||
      map.box.size() != map.sizes.size()) {
    problem = "a tensor map has a rank that is not 1 to 5";
    return out;
  }
  for (unsigned d = 0; d < out.rank; ++d) {
    out.dims[d] = uint64_t(std::max<int64_t>(evaluate(map.sizes[d], args), 1));
    out.box[d] = uint16_t(map.box[d]);
    if (map.box[d] < 1 || map.box[d] > 256)
      problem = "a tensor map has a box that is not 1 to 256 elements wide";
  }
  for (unsigned d = 0; d + 1 < out.rank; ++d) {
    out.strides[d] = uint64_t(evaluate(map.strides[d], args));
    if (out.strides[d] == 0 || out.strides[d] % 16)
      problem = "a tensor map has strides that are no positive multiples of 16 bytes";
  }
  unsigned rowBytes = out.box[0] * out.elementBytes;
  if (base % 16 || rowBytes % 16 || (out.swizzle && rowBytes > out.swizzle))
    problem = "a tensor map has an address or a box that is not a multiple of 16 bytes";
  return out;
}

bool Emulator::fillParameters(const KernelMetadata &metadata, const LaunchConfig &config,
                              Parameters &p, frontend::DiagnosticEngine &diagnostics) {
  using Kind = KernelParameter::Kind;
  for (auto &[base, block] : blocks)
    p.memory.push_back({base, block.bytes});
  for (const KernelParameter &parameter : metadata.params) {
    auto &value = p.values.emplace_back().words;
    p.pointers.push_back(value);
    if (parameter.kind == Kind::Scratch) {
      uint64_t programs = uint64_t(config.grid[0]) * config.grid[1] * config.grid[2];
      uint64_t bytes = uint64_t(parameter.bytes) * (parameter.per == "program" ? programs : 1);
      auto memory = std::make_unique<uint8_t[]>(bytes + 256);
      value[0] = (reinterpret_cast<uint64_t>(memory.get()) + 255) & ~uint64_t(255);
      std::memset(reinterpret_cast<void *>(value[0]), parameter.zero ? 0 : kFreshByte, bytes);
      p.memory.push_back({value[0], bytes});
      p.scratch.push_back(std::move(memory));
      continue;
    }
    const LaunchArg *arg = findArgument(parameter.index, parameter.path, config.args);
    if (parameter.kind == Kind::TensorMap && arg && arg->kind == LaunchArg::Kind::Pointer) {
      std::string problem;
      auto map = makeTensorMap(parameter.map, arg->bits, config.args, problem);
      if (!problem.empty()) {
        diagnostics.error(nullptr, {}, "`" + metadata.entry + "`: " + problem);
        return false;
      }
      std::memcpy(value, &map, sizeof(map));
      continue;
    }
    bool pointer = parameter.type == "ptr";
    bool fits = false;
    if (arg && parameter.kind == Kind::Arg) {
      fits = pointer ? arg->kind == LaunchArg::Kind::Pointer
                     : arg->kind == LaunchArg::Kind::Int || arg->kind == LaunchArg::Kind::Float;
      value[0] =
          arg->kind == LaunchArg::Kind::Float ? floatBits(arg->number, parameter.type) : arg->bits;
    }
    if (arg && arg->kind == LaunchArg::Kind::Descriptor && parameter.kind == Kind::DescBase) {
      fits = true;
      value[0] = arg->bits;
    } else if (arg && arg->kind == LaunchArg::Kind::Descriptor &&
               size_t(parameter.dim) < arg->shape.size() &&
               (parameter.kind == Kind::DescShape || parameter.kind == Kind::DescStride)) {
      fits = true;
      bool isShape = parameter.kind == Kind::DescShape;
      value[0] = uint64_t(isShape ? arg->shape[parameter.dim] : arg->strides[parameter.dim]);
    }
    if (arg && arg->kind == LaunchArg::Kind::Descriptor) {
      size_t dim = size_t(parameter.dim);
      fits = parameter.kind == Kind::DescBase ||
             (parameter.kind == Kind::DescShape && dim < arg->shape.size()) ||
             (parameter.kind == Kind::DescStride && dim < arg->strides.size());
      if (fits)
        value[0] = parameter.kind == Kind::DescBase    ? arg->bits
                   : parameter.kind == Kind::DescShape ? uint64_t(arg->shape[dim])
                                                       : uint64_t(arg->strides[dim]);
    }
    if (!fits) {
      diagnostics.error(nullptr, {},
                        llvm::formatv("argument {0} of `{1}` must be {2}", parameter.index,
                                      metadata.entry,
                                      pointer ? "a pointer" : "a number of type " + parameter.type)
                            .str());
      return false;
    }
  }
  llvm::sort(p.memory,
             [](const emu::MemoryRange &a, const emu::MemoryRange &b) { return a.base < b.base; });
  return true;
}

Emulator::Image Emulator::save() const {
  Image image;
  for (auto &[base, block] : blocks) {
    auto *bytes = reinterpret_cast<const uint8_t *>(base);
    image.emplace_back(bytes, bytes + block.bytes);
  }
  return image;
}

void Emulator::restore(const Image &image) {
  size_t i = 0;
  for (auto &[base, block] : blocks) {
    if (block.bytes)
      std::memcpy(reinterpret_cast<void *>(base), image[i].data(), block.bytes);
    ++i;
  }
}

/// The default order, then the random ones from the same initial memory. A
/// kernel with atomic operations may legally give different results.
emu::Report Emulator::runSchedules(const emu::Program &program, const emu::LaunchConfig &config) {
  emu::RunOptions run;
  run.check = options.check;
  run.counters = options.counters;
  run.threads = options.threads;
  Image before;
  if (options.schedules)
    before = save();
  emu::Report report = program.run(config, run);
  if (!options.schedules || !report.ok())
    return report;
  Image expected = save();
  run.counters = false;
  for (unsigned i = 0; i < options.schedules && report.ok(); ++i) {
    restore(before);
    run.seed = options.seed + i;
    emu::Report again = program.run(config, run);
    report.findings = std::move(again.findings);
    if (report.ok() && !program.hasAtomics() && save() != expected) {
      emu::Finding finding{emu::FindingKind::SchedulesDisagree, {}, "", "", "", {}, 1};
      finding.message = llvm::formatv("`{0}` gives another result in a random order of its threads",
                                      program.name())
                            .str();
      report.findings.push_back(std::move(finding));
    }
    for (emu::Finding &f : report.findings)
      f.where += llvm::formatv("{0}seed {1}", f.where.empty() ? "" : ", ", *run.seed).str();
  }
  return report;
}

bool Emulator::launch(Kernel &kernel, const LaunchConfig &config,
                      frontend::DiagnosticEngine &diagnostics) {
  auto &emulated = static_cast<EmuKernel &>(kernel);
  const KernelMetadata &metadata = emulated.metadata();
  std::lock_guard lock(mutex);
  Parameters parameters;
  if (!fillParameters(metadata, config, parameters, diagnostics))
    return false;
  emu::LaunchConfig launch;
  launch.grid = {config.grid[0] * uint32_t(metadata.ctasPerProgram), config.grid[1],
                 config.grid[2]};
  launch.cluster = {uint32_t(metadata.cluster[0]), uint32_t(metadata.cluster[1]),
                    uint32_t(metadata.cluster[2])};
  launch.threads = uint32_t(metadata.threads);
  launch.sharedBytes = uint32_t(metadata.sharedBytes);
  launch.parameters = parameters.pointers;
  launch.memory = parameters.memory;
  if (options.beforeLaunch &&
      !options.beforeLaunch(emulated.shared->ir, emulated.shared->load, launch))
    return true;
  last = runSchedules(*emulated.shared->program, launch);
  total.add(last.counters);
  emu::reportTo(last, emulated.file, diagnostics);
  return last.ok();
}

std::unique_ptr<EmuDevice> runtime::createEmuDevice(const EmuDeviceOptions &options) {
  return std::make_unique<Emulator>(options);
}
