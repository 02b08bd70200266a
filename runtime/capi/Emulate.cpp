//===- Emulate.cpp - the C interface of the emulator ----------------------===//
#include "frontend/Parser.h"
#include "runtime/capi/Internal.h"
#include "runtime/devices/EmuDevice.h"

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::capi;

struct tile_emulator {
  std::unique_ptr<EmuDevice> device;
  std::string counters; ///< what was asked for last
};

struct tile_emulated {
  tile_emulator *emulator;
  std::unique_ptr<frontend::SourceFile> file;
  ast::Module module;
  std::unique_ptr<Kernel> kernel;
};

tile_status tile_emulator_create(const tile_emulator_options *options, tile_emulator **emulator) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(emulator);
    *emulator = nullptr;
    tile_emulator_options chosen;
    tile_emulator_options_init(&chosen);
    if (llvm::Error error = readOptions(options, chosen))
      return error;
    if (chosen.threads < 0 || chosen.schedules < 0)
      return invalid("`threads` and `schedules` must not be negative");
    EmuDeviceOptions ours;
    ours.check = chosen.check;
    ours.threads = unsigned(chosen.threads);
    ours.schedules = unsigned(chosen.schedules);
    ours.seed = chosen.seed;
    ours.counters = chosen.counters;
    ours.launchLimit = chosen.launch_limit;
    *emulator = new tile_emulator{createEmuDevice(ours), ""};
    return llvm::Error::success();
  });
}

void tile_emulator_destroy(tile_emulator *emulator) { delete emulator; }

tile_status tile_emulator_alloc(tile_emulator *emulator, size_t bytes, void **pointer) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(emulator);
    TILE_REQUIRE(pointer);
    *pointer = nullptr;
    auto memory = emulator->device->allocate(bytes);
    if (!memory)
      return memory.takeError();
    *pointer = reinterpret_cast<void *>(*memory);
    return llvm::Error::success();
  });
}

tile_status tile_emulator_free(tile_emulator *emulator, void *pointer) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(emulator);
    return emulator->device->free(reinterpret_cast<DevicePtr>(pointer));
  });
}

tile_status tile_emulator_load(tile_emulator *emulator, const char *name, const char *source,
                               size_t length, const tile_compile_options *options,
                               tile_emulated **kernel) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(emulator);
    TILE_REQUIRE(name);
    TILE_REQUIRE(source);
    TILE_REQUIRE(kernel);
    *kernel = nullptr;
    if (llvm::Error error = checkLength("length", length, frontend::kMaxSourceBytes))
      return error;
    tile_compile_options chosen;
    tile_compile_options_init(&chosen);
    if (llvm::Error error = readOptions(options, chosen))
      return error;
    if (!chosen.target)
      chosen.target = fallbackTarget().name.data();
    auto converted = convertOptions(&chosen);
    if (!converted)
      return converted.takeError();
    auto loaded = std::make_unique<tile_emulated>();
    loaded->emulator = emulator;
    loaded->file = std::make_unique<frontend::SourceFile>(name, std::string(source, length));
    frontend::DiagnosticEngine diagnostics;
    loaded->module = frontend::parse(*loaded->file, diagnostics);
    KernelRequest request{loaded->file.get(), &loaded->module, *converted};
    if (!diagnostics.hasErrors())
      loaded->kernel = emulator->device->prepare(request, diagnostics);
    if (!loaded->kernel)
      return makeError(diagnostics.onlyUnsupported() ? ErrorCode::Unsupported : ErrorCode::Compile,
                       diagnostics.str());
    *kernel = loaded.release();
    return llvm::Error::success();
  });
}

void tile_emulated_destroy(tile_emulated *kernel) { delete kernel; }

tile_status tile_emulated_launch(const tile_emulated *kernel, const uint32_t grid[3],
                                 const void *const *arguments, size_t numArguments) {
  return guarded([&]() -> llvm::Error {
    TILE_REQUIRE(kernel);
    TILE_REQUIRE(grid);
    if (numArguments)
      TILE_REQUIRE(arguments);
    frontend::DiagnosticEngine diagnostics;
    auto ok = kernel->emulator->device->launch(*kernel->kernel, grid, {arguments, numArguments},
                                               diagnostics);
    if (!ok)
      return ok.takeError();
    if (*ok)
      return llvm::Error::success();
    return makeError(ErrorCode::KernelFault, diagnostics.str());
  });
}

const char *tile_emulator_counters(tile_emulator *emulator, size_t *length) {
  if (emulator)
    emulator->counters = emulator->device->countersJson();
  if (length)
    *length = emulator ? emulator->counters.size() : 0;
  return emulator ? emulator->counters.c_str() : "";
}
