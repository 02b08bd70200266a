//===- Module.cpp ---------------------------------------------------------===//
#include "runtime/Module.h"
#include "runtime/dispatch/AssemblerPlan.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include <chrono>
#include <mutex>
#include <utility>

using namespace tile;
using namespace tile::runtime;
using cuda::CudaApi;
using cuda::JitOption;
using cuda::Result;

namespace {
double now() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

/// The option arrays of the JIT calls, with the log buffers they point to.
/// Values are passed in the pointers themselves, as the driver wants.
class JitCall {
public:
  JitCall(const JitOptions &options, llvm::StringRef ptx)
      : errorLog(16384, '\0'), infoLog(4096, '\0') {
    add(JitOption::ErrorLogBuffer, errorLog.data());
    add(JitOption::ErrorLogBufferSizeBytes, errorLog.size());
    add(JitOption::InfoLogBuffer, infoLog.data());
    add(JitOption::InfoLogBufferSizeBytes, infoLog.size());
    add(JitOption::LogVerbose, size_t(1));
    if (options.lineInfo)
      add(JitOption::GenerateLineInfo, size_t(1));
    int level = options.level ? options.level : dispatch::firstAssemblerLevel(ptx);
    if (level != dispatch::kDefaultLevel)
      add(JitOption::OptimizationLevel, size_t(level));
  }
  unsigned count() const { return names.size(); }
  JitOption *options() { return names.data(); }
  void **values() { return pointers.data(); }
  llvm::StringRef errors() const { return errorLog.c_str(); }
  llvm::StringRef remarks() const { return infoLog.c_str(); }

private:
  void add(JitOption name, void *value) {
    names.push_back(name);
    pointers.push_back(value);
  }
  void add(JitOption name, size_t value) { add(name, reinterpret_cast<void *>(value)); }

  std::string errorLog, infoLog;
  llvm::SmallVector<JitOption, 8> names;
  llvm::SmallVector<void *, 8> pointers;
};

/// Which CUDA release first took each PTX version.
struct PtxRelease {
  int ptx, cuda;
};
constexpr PtxRelease ptxReleases[] = {
    {60, 9000},  {63, 10000}, {64, 10010}, {65, 10020}, {70, 11000}, {71, 11010},
    {72, 11020}, {73, 11030}, {74, 11040}, {75, 11050}, {76, 11060}, {77, 11070},
    {78, 11080}, {80, 12000}, {81, 12010}, {82, 12020}, {83, 12030}, {84, 12040},
    {85, 12050}, {86, 12070}, {87, 12080}, {88, 12090}, {90, 13000}, {91, 13010}};

/// Walks the lines of a PTX text once, remembering where source lines begin.
struct PtxPosition {
  llvm::StringRef line; ///< the text of the line asked for
  std::string source;   ///< "kernel.tile:12:5", empty if unknown
};
} // namespace

static PtxPosition locateInPtx(llvm::StringRef ptx, unsigned wanted) {
  PtxPosition position;
  llvm::StringRef location;
  llvm::SmallVector<std::pair<unsigned, llvm::StringRef>> files;
  unsigned number = 0;
  for (llvm::StringRef rest = ptx; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    llvm::StringRef trimmed = line.trim();
    if (trimmed.consume_front(".file")) { // may stand after its first use
      unsigned file = 0;
      trimmed = trimmed.ltrim();
      if (!trimmed.consumeInteger(10, file))
        files.push_back({file, trimmed.ltrim(" \t\"").take_until([](char c) { return c == '"'; })});
      ++number;
      continue;
    }
    if (++number == wanted)
      position.line = line.rtrim();
    else if (number < wanted && trimmed.consume_front(".loc"))
      location = trimmed.ltrim();
    else if (number < wanted && trimmed.starts_with(".entry"))
      location = {};
  }

  unsigned file = 0, line = 0, column = 0;
  if (location.consumeInteger(10, file) || (location = location.ltrim()).consumeInteger(10, line) ||
      (location = location.ltrim()).consumeInteger(10, column) || line == 0)
    return position;
  for (auto [number, name] : files)
    if (number == file)
      position.source = formatted("{}:{}:{}", name, line, column);
  return position;
}

std::string runtime::explainJitLog(llvm::StringRef log, llvm::StringRef ptx) {
  // The driver writes "ptxas application ptx input, line 12; error   : text".
  std::string text;
  llvm::raw_string_ostream os(text);
  for (llvm::StringRef rest = log; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    line = line.trim();
    if (line.empty())
      continue;
    auto [before, after] = line.split(", line ");
    unsigned number = 0;
    if (after.consumeInteger(10, number) || !after.consume_front(";")) {
      os << "  " << line << '\n';
      continue;
    }
    auto [severity, message] = after.split(':');
    PtxPosition position = locateInPtx(ptx, number);
    os << formatted("  PTX line {}: {}: {}\n", number, severity.trim(), message.trim());
    if (!position.line.empty())
      os << formatted("  {:>6} | {}\n", number, position.line);
    if (!position.source.empty())
      os << formatted("         from {}\n", position.source);
  }
  return text;
}

int runtime::cudaVersionForPtx(llvm::StringRef ptx) {
  size_t at = ptx.find(".version");
  unsigned major = 0, minor = 0;
  llvm::StringRef rest = at == llvm::StringRef::npos ? "" : ptx.substr(at + 8).ltrim();
  if (rest.consumeInteger(10, major) || !rest.consume_front(".") || rest.consumeInteger(10, minor))
    return 0;
  for (const PtxRelease &release : ptxReleases)
    if (release.ptx >= static_cast<int>(major * 10 + minor))
      return release.cuda;
  return 0;
}

/// The error for a refused PTX or cubin: what the driver said, and what to do.
static llvm::Error rejected(const CudaApi &api, Result result, llvm::StringRef log,
                            llvm::StringRef ptx) {
  if (result == Result::OutOfMemory)
    return makeError(ErrorCode::OutOfMemory,
                     "out of device memory while the driver loaded the kernel", result);
  std::string message =
      formatted("the CUDA driver rejects the kernel's PTX: {}", api.describe(result));
  if (result == Result::UnsupportedPtxVersion) {
    message += formatted("; this driver supports CUDA {}", cuda::formatVersion(api.version()));
    if (int needed = cudaVersionForPtx(ptx))
      message += formatted(" and the PTX needs CUDA {}", cuda::formatVersion(needed));
    message += ": update the driver";
  }
  if (result == Result::JitCompilerNotFound)
    message += "; libnvidia-ptxjitcompiler.so.1, a part of the driver package, is missing";
  std::string details = explainJitLog(log, ptx);
  if (!details.empty())
    message += formatted("\n{}", details);
  return makeError(ErrorCode::PtxRejected, llvm::StringRef(message).rtrim(), result);
}

llvm::Expected<Module> Module::loadPtx(std::shared_ptr<Context> context, llvm::StringRef ptx,
                                       const JitOptions &options) {
  const CudaApi &api = context->api();
  TILE_ENTER_CONTEXT(api, context->handle());
  JitCall call(options, ptx);
  std::string terminated = ptx.str(); // the driver reads up to a null
  cuda::Module handle = nullptr;
  // The driver compiles for one thread at a time, and slower if others are waiting inside of it:
  // seventeen kernels take 0.80 s one after the other, 0.98 s by two threads, 1.26 s by sixteen.
  static std::mutex turn;
  std::lock_guard<std::mutex> lock(turn);
  double start = now();
  Result result = api.cuModuleLoadDataEx(&handle, terminated.c_str(), call.count(), call.options(),
                                         call.values());
  double end = now();
  if (result != Result::Success)
    return rejected(api, result, call.errors(), ptx);
  return Module(std::move(context), handle, end - start);
}

llvm::Expected<Module> Module::loadMachineCode(std::shared_ptr<Context> context,
                                               llvm::StringRef cubin) {
  const CudaApi &api = context->api();
  TILE_ENTER_CONTEXT(api, context->handle());
  std::string image = cubin.str(); // with a null behind it, and aligned as memory is
  cuda::Module handle = nullptr;
  double start = now();
  Result result = api.cuModuleLoadDataEx(&handle, image.c_str(), 0, nullptr, nullptr);
  double end = now();
  if (result != Result::Success)
    return api.check(result, "cuModuleLoadDataEx");
  return Module(std::move(context), handle, end - start);
}

Module::Module(Module &&other) noexcept
    : owner(std::move(other.owner)), module(std::exchange(other.module, nullptr)),
      milliseconds(other.milliseconds) {}

Module &Module::operator=(Module &&other) noexcept {
  std::swap(owner, other.owner);
  std::swap(module, other.module);
  std::swap(milliseconds, other.milliseconds);
  return *this;
}

Module::~Module() {
  if (!module)
    return;
  ScopedContext scope(owner->api(), owner->handle());
  if (scope.result() == Result::Success)
    (void)owner->api().cuModuleUnload(module);
}

llvm::Expected<cuda::Function> Module::function(llvm::StringRef name) const {
  const CudaApi &api = owner->api();
  TILE_ENTER_CONTEXT(api, owner->handle());
  cuda::Function function = nullptr;
  Result result = api.cuModuleGetFunction(&function, module, name.str().c_str());
  if (result == Result::NotFound)
    return makeError(ErrorCode::InvalidArgument,
                     formatted("the loaded module has no kernel named `{}`", name), result);
  if (result != Result::Success)
    return api.check(result, "cuModuleGetFunction");
  return function;
}

llvm::Expected<Assembled> runtime::assemble(const Context &context, llvm::StringRef ptx,
                                            const JitOptions &options) {
  const CudaApi &api = context.api();
  TILE_ENTER_CONTEXT(api, context.handle());
  JitCall call(options, ptx);
  std::string terminated = ptx.str();
  cuda::LinkState state = nullptr;
  double start = now();
  TILE_CUDA_TRY(api, cuLinkCreate(call.count(), call.options(), call.values(), &state));

  void *cubin = nullptr;
  size_t bytes = 0;
  Result result = api.cuLinkAddData(state, cuda::JitInputType::Ptx, terminated.data(),
                                    terminated.size() + 1, "kernel.ptx", 0, nullptr, nullptr);
  if (result == Result::Success)
    result = api.cuLinkComplete(state, &cubin, &bytes);
  Assembled assembled;
  assembled.milliseconds = now() - start;
  // The cubin belongs to the link state: copy it before that goes.
  if (result == Result::Success)
    assembled.cubin.assign(static_cast<const char *>(cubin), bytes);
  assembled.log = call.remarks().str();
  std::string errors = call.errors().str();
  (void)api.cuLinkDestroy(state);
  if (result != Result::Success)
    return rejected(api, result, errors, ptx);
  return assembled;
}
