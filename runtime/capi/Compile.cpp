//===- Compile.cpp - tile.h: statuses, compilers, kernels -----------------===//
#include "frontend/Source.h"
#include "runtime/TargetName.h"
#include "runtime/capi/Internal.h"
#include "target/RegisterLimit.h"
#include "text/Format.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include <cstdlib>

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::capi;

//===----------------------------------------------------------------------===//
// Statuses
//===----------------------------------------------------------------------===//

#define SAME_CODE(status, code) static_assert(status == static_cast<int>(ErrorCode::code))
SAME_CODE(TILE_INVALID_ARGUMENT, InvalidArgument);
SAME_CODE(TILE_COMPILE_ERROR, Compile);
SAME_CODE(TILE_UNSUPPORTED, Unsupported);
SAME_CODE(TILE_IO_ERROR, Io);
SAME_CODE(TILE_NO_DRIVER, NoDriver);
SAME_CODE(TILE_DRIVER_TOO_OLD, DriverTooOld);
SAME_CODE(TILE_OUT_OF_MEMORY, OutOfMemory);
SAME_CODE(TILE_PTX_REJECTED, PtxRejected);
SAME_CODE(TILE_RESOURCES, Resources);
SAME_CODE(TILE_DRIVER_ERROR, Driver);
SAME_CODE(TILE_KERNEL_FAULT, KernelFault);
SAME_CODE(TILE_NO_COMPILE, NoCompile);

static thread_local std::string lastError;

tile_status capi::fail(llvm::Error error) {
  ErrorParts parts = takeError(std::move(error));
  lastError = std::move(parts.message);
  return static_cast<tile_status>(parts.code);
}

tile_status capi::fail(ErrorCode code, const char *message) {
  lastError = message;
  return static_cast<tile_status>(code);
}

const char *tile_last_error() { return lastError.c_str(); }

const char *tile_version() { return TILE_VERSION_STRING; }

const char *tile_status_string(tile_status status) {
  switch (status) {
  case TILE_OK:
    return "success";
  case TILE_INVALID_ARGUMENT:
    return "invalid argument";
  case TILE_COMPILE_ERROR:
    return "the kernel has errors";
  case TILE_UNSUPPORTED:
    return "not supported";
  case TILE_IO_ERROR:
    return "a file cannot be read or written";
  case TILE_NO_DRIVER:
    return "no usable CUDA driver";
  case TILE_DRIVER_TOO_OLD:
    return "the CUDA driver is too old";
  case TILE_OUT_OF_MEMORY:
    return "out of device memory";
  case TILE_PTX_REJECTED:
    return "the driver rejects the code";
  case TILE_RESOURCES:
    return "more resources than the device has";
  case TILE_DRIVER_ERROR:
    return "the driver reports an error";
  case TILE_KERNEL_FAULT:
    return "the kernel is faulty";
  case TILE_NO_COMPILE:
    return "a compilation is needed, and none is allowed";
  }
  return "unknown status";
}

//===----------------------------------------------------------------------===//
// Compilers
//===----------------------------------------------------------------------===//

static tile_compiler_options defaultCompilerOptions() {
  tile_compiler_options options = {};
  options.no_compile = options.blocking = -1;
  return options;
}
TILE_DEFINE_OPTIONS_INIT(compiler, defaultCompilerOptions(),
                         offsetof(tile_compiler_options, shared_cache_dir))

/// The same for a flag, which an option below 0 leaves to the variable.
static bool chosenFlag(int32_t option, const char *variable) {
  if (option >= 0)
    return option != 0;
  const char *value = std::getenv(variable);
  return value && *value && llvm::StringRef(value) != "0";
}

static Observer::Callback callbackOf(tile_event_callback callback, void *user) {
  bool printsTuning =
      chosenFlag(-1, "TILE_PRINT_AUTOTUNING") || chosenFlag(-1, "TRITON_PRINT_AUTOTUNING");
  if (!callback && !printsTuning)
    return {};
  return [callback, user, printsTuning](const Event &event) {
    if (printsTuning && event.kind == Event::Kind::Tune)
      std::fprintf(stderr, "tile: %s(%s): %s\n", event.kernel.c_str(), event.variant.c_str(),
                   event.message.c_str());
    if (!callback)
      return;
    tile_event shown = {};
    shown.size = sizeof shown;
    shown.kind = static_cast<int32_t>(event.kind);
    shown.status = event.status;
    shown.source = static_cast<int32_t>(event.source);
    shown.kernel = event.kernel.c_str();
    shown.variant = event.variant.c_str();
    shown.key = event.key.c_str();
    shown.message = event.message.c_str();
    shown.start_us = event.start;
    shown.duration_us = event.duration;
    callback(user, &shown);
  };
}

static llvm::Expected<ServiceSettings> settingsOf(const tile_compiler_options &options) {
  ServiceSettings settings;
  settings.cacheFolder = options.cache_dir ? options.cache_dir : cacheFolderFromEnvironment();
  settings.sharedCacheFolder = chosenText(options.shared_cache_dir, "TILE_CACHE_SHARED");
  settings.noCompile = chosenFlag(options.no_compile, "TILE_NO_COMPILE");
  settings.blocking = chosenFlag(options.blocking, "TILE_LAUNCH_BLOCKING");
  settings.dumpFolder = chosenText(options.dump_dir, "TILE_DUMP");
  settings.overrideFolder = chosenText(options.override_dir, "TILE_OVERRIDE");
  settings.assembler = chosenText(options.ptxas, "TILE_PTXAS");
  settings.observer = std::make_shared<Observer>(
      callbackOf(options.callback, options.callback_user), chosenText(options.trace, "TILE_TRACE"));
  if (!settings.observer->traceProblem().empty())
    return makeError(ErrorCode::Io, settings.observer->traceProblem());
  return settings;
}

tile_status tile_compiler_create(const tile_compiler_options *options, tile_compiler **compiler) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(compiler);
    *compiler = nullptr;
    tile_compiler_options chosen;
    tile_compiler_options_init(&chosen);
    if (llvm::Error error = readOptions(options, chosen))
      return error;
    auto settings = settingsOf(chosen);
    if (!settings)
      return settings.takeError();
    PooledCompiler pool = pooledCompiler();
    settings->estimator = std::move(pool.estimate);
    settings->missing = std::move(pool.missing);
    auto *handle = new std::shared_ptr<tile_compiler>(
        new tile_compiler{CompileService(std::move(pool.compile), std::move(*settings))});
    *compiler = reinterpret_cast<tile_compiler *>(handle);
    return llvm::Error::success();
  });
}

void tile_compiler_destroy(tile_compiler *compiler) {
  if (compiler)
    delete &ownerOf(compiler);
}

tile_status tile_compiler_get_counters(const tile_compiler *compiler, tile_counters *counters) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(compiler);
    TILE_REQUIRE(counters);
    const Observer &observer = ownerOf(const_cast<tile_compiler *>(compiler))->service.observer();
    tile_counters filled = {};
    filled.compiled = observer.count(Observer::Compiled);
    filled.compile_errors = observer.count(Observer::FailedCompiles);
    filled.forbidden = observer.count(Observer::Forbidden);
    filled.from_disk = observer.count(Observer::FromDisk);
    filled.loads = observer.count(Observer::Loads);
    filled.tunings = observer.count(Observer::Tunings);
    filled.warnings = observer.count(Observer::Warnings);
    filled.launches = observer.launches();
    filled.compile_ms = observer.compileMilliseconds();
    return writeInfo(filled, counters);
  });
}

static tile_compile_options defaultCompileOptions() {
  tile_compile_options options = {};
  options.num_warps = kDefaultWarps;
  options.num_stages = kDefaultStages;
  options.num_ctas = 1;
  options.enable_fp_fusion = 1;
  options.line_info = 1;
  return options;
}
TILE_DEFINE_OPTIONS_INIT(compile, defaultCompileOptions(), offsetof(tile_compile_options, num_ctas))

/// That a library can be read is a matter of files; what is in it, of the compiler. A kernel that
/// is in the cache needs none: it is looked for only where nothing came of a kernel.
static llvm::Error checkLibrary(llvm::StringRef path) {
  if (path.empty())
    return llvm::Error::success();
  bool isFolder = false;
  std::error_code problem = llvm::sys::fs::is_directory(path, isFolder);
  if (!problem && isFolder)
    problem = std::make_error_code(std::errc::is_a_directory);
  int file = -1;
  if (!problem && !(problem = llvm::sys::fs::openFileForRead(path, file)))
    llvm::sys::Process::SafelyCloseFileDescriptor(file);
  if (!problem)
    return llvm::Error::success();
  return makeError(ErrorCode::Io,
                   formatted("cannot read the device library `{}`: {}", path, problem.message()));
}

llvm::Expected<CompileOptions> capi::convertOptions(const tile_compile_options *options) {
  tile_compile_options chosen;
  tile_compile_options_init(&chosen);
  if (llvm::Error error = readOptions(options, chosen))
    return std::move(error);
  auto orEmpty = [](const char *text) { return std::string(text ? text : ""); };

  CompileOptions result;
  result.kernel = orEmpty(chosen.kernel);
  result.signature = orEmpty(chosen.signature);
  if (chosen.num_constexprs && !chosen.constexprs)
    return invalid("`constexprs` is null although `num_constexprs` is not 0");
  constexpr uint64_t mostConstexprs = 65536;
  if (llvm::Error error =
          checkLength("num_constexprs", chosen.num_constexprs, mostConstexprs, "constexprs"))
    return std::move(error);
  llvm::StringSet<> names;
  for (size_t i = 0; i < chosen.num_constexprs; ++i) {
    const tile_constexpr &entry = chosen.constexprs[i];
    if (!entry.name || !entry.value)
      return invalid(formatted("constexpr {} lacks a name or a value", i));
    if (!names.insert(entry.name).second)
      return invalid(formatted("constexpr `{}` is given twice", entry.name));
    result.constexprs.push_back({entry.name, entry.value});
  }
  // What the compiler takes for granted; the rest it checks itself.
  auto isPowerOfTwo = [](int32_t value) { return value > 0 && (value & (value - 1)) == 0; };
  if (!isPowerOfTwo(chosen.num_warps) || chosen.num_warps > 32)
    return invalid(formatted("`num_warps` is {}: 1, 2, 4, 8, 16 and 32 are possible{}",
                             chosen.num_warps, insteadOfWarps(chosen.num_warps)));
  if (!isPowerOfTwo(chosen.num_ctas) || chosen.num_ctas > 8)
    return invalid(formatted("`num_ctas` is {}: 1, 2, 4 and 8 are possible", chosen.num_ctas));
  if (chosen.num_stages < 0 || chosen.num_stages > 32)
    return invalid(formatted("`num_stages` is {}: 0 to 32 are possible", chosen.num_stages));
  if (chosen.max_registers != 0 &&
      (chosen.max_registers < kLeastRegisterLimit || chosen.max_registers > kMostRegisterLimit))
    return invalid(formatted("`max_registers` is {}: 16 to 256 are possible, and 0 for no limit",
                             chosen.max_registers));
  result.numWarps = chosen.num_warps;
  result.numStages = chosen.num_stages;
  result.numCtas = chosen.num_ctas;
  if (chosen.warp_roles && !readWarpRoles(chosen.warp_roles, result.warpRoles))
    return invalid(
        formatted("`warp_roles` is \"{}\": \"auto\", \"cooperative\", \"pingpong\", \"none\", "
                  "\"shared\" and \"apart\" are possible",
                  chosen.warp_roles));
  result.maxRegisters = chosen.max_registers;
  result.enableFpFusion = chosen.enable_fp_fusion != 0;
  result.debug = chosen.debug != 0;
  result.lineInfo = chosen.line_info != 0;
  result.libdevicePath = orEmpty(chosen.libdevice_path);
  if (!chosen.target) {
    result.target = defaultTarget();
    return result;
  }
  auto target = resolveTarget(chosen.target);
  if (!target)
    return invalid(llvm::toString(target.takeError()));
  result.target = std::move(*target);
  return result;
}

static llvm::Error compileSource(tile_compiler *compiler, const frontend::SourceFile &file,
                                 const tile_compile_options *options, tile_kernel **kernel) {
  auto converted = convertOptions(options);
  if (!converted)
    return converted.takeError();
  std::shared_ptr<tile_compiler> held = ownerOf(compiler);
  auto compiled = held->service.compile(file, *converted);
  if (!compiled) {
    ErrorParts parts = takeError(compiled.takeError());
    if (parts.code == ErrorCode::Compile)
      if (llvm::Error error = checkLibrary(converted->libdevicePath))
        return error;
    return makeError(parts.code, parts.message, parts.result);
  }
  std::string metadata = (*compiled)->metadata.toJson();
  std::shared_ptr<SharedKernel> shared = held->service.share(std::move(*compiled));
  *kernel = new tile_kernel{std::move(held), std::move(shared), std::move(metadata)};
  return llvm::Error::success();
}

tile_status tile_compile_file(tile_compiler *compiler, const char *path,
                              const tile_compile_options *options, tile_kernel **kernel) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(kernel);
    *kernel = nullptr;
    TILE_REQUIRE(compiler);
    TILE_REQUIRE(path);
    std::unique_ptr<frontend::SourceFile> file;
    if (llvm::Error error = openSource(path, file))
      return error;
    return compileSource(compiler, *file, options, kernel);
  });
}

tile_status tile_compile_buffer(tile_compiler *compiler, const char *name, const char *source,
                                size_t length, const tile_compile_options *options,
                                tile_kernel **kernel) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(kernel);
    *kernel = nullptr;
    TILE_REQUIRE(compiler);
    TILE_REQUIRE(source);
    std::unique_ptr<frontend::SourceFile> file;
    if (llvm::Error error = sourceOf(name, source, length, file))
      return error;
    return compileSource(compiler, *file, options, kernel);
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

tile_status tile_kernel_from_ptx(const char *ptx, size_t ptxLength, const char *metadata,
                                 size_t metadataLength, tile_kernel **kernel) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(kernel);
    *kernel = nullptr;
    TILE_REQUIRE(ptx);
    TILE_REQUIRE(metadata);
    if (llvm::Error error = checkLength("ptx_length", ptxLength, kMaxTextBytes))
      return error;
    if (llvm::Error error = checkLength("metadata_length", metadataLength, kMaxTextBytes))
      return error;
    auto compiled = std::make_shared<CompiledKernel>();
    std::string error;
    if (!KernelMetadata::fromJson(llvm::StringRef(metadata, metadataLength), compiled->metadata,
                                  error))
      return invalid(error);
    compiled->ptx.assign(ptx, ptxLength);
    std::string json = compiled->metadata.toJson();
    *kernel = new tile_kernel{nullptr, std::make_shared<SharedKernel>(std::move(compiled)),
                              std::move(json)};
    return llvm::Error::success();
  });
}

void tile_kernel_destroy(tile_kernel *kernel) { delete kernel; }

/// One of a kernel's texts; that of no kernel is empty.
template <typename Select>
static const char *textOf(const tile_kernel *kernel, size_t *length, Select select) {
  static const std::string none;
  const std::string &text = kernel ? select(*kernel) : none;
  if (length)
    *length = text.size();
  return text.c_str();
}

const char *tile_kernel_ptx(const tile_kernel *kernel, size_t *length) {
  return textOf(kernel, length, [](const tile_kernel &k) -> const std::string & {
    return k.shared->compiled().ptx;
  });
}

const char *tile_kernel_metadata(const tile_kernel *kernel, size_t *length) {
  return textOf(kernel, length,
                [](const tile_kernel &k) -> const std::string & { return k.metadata; });
}

const char *tile_kernel_diagnostics(const tile_kernel *kernel, size_t *length) {
  return textOf(kernel, length, [](const tile_kernel &k) -> const std::string & {
    return k.shared->compiled().diagnostics;
  });
}

tile_status tile_kernel_get_info(const tile_kernel *kernel, tile_kernel_info *info) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(kernel);
    TILE_REQUIRE(info);
    const CompiledKernel &compiled = kernel->shared->compiled();
    const KernelMetadata &metadata = compiled.metadata;
    tile_kernel_info filled = {};
    filled.num_warps = metadata.numWarps;
    filled.threads = metadata.threads;
    filled.shared_bytes = metadata.sharedBytes;
    std::copy(metadata.cluster, metadata.cluster + 3, filled.cluster);
    for (const KernelParameter &parameter : metadata.params)
      if (parameter.kind != KernelParameter::Kind::Scratch &&
          parameter.kind != KernelParameter::Kind::Const)
        filled.num_arguments = std::max(filled.num_arguments, parameter.index + 1);
    filled.from_cache = compiled.fromCache;
    filled.compile_ms = compiled.compileMilliseconds;
    return writeInfo(filled, info);
  });
}
