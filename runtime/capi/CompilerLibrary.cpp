//===- CompilerLibrary.cpp - libtile.so's way to the compiler -------------===//
//
// Without the library, or with that of another build, everything works that compiles nothing; the
// rest is TILE_NO_COMPILE, and the message says why.
//
//===----------------------------------------------------------------------===//
#include "runtime/capi/CompilerLibrary.h"
#include "runtime/capi/Internal.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <atomic>
#include <dlfcn.h>
#include <mutex>
#include <type_traits>

using namespace tile;
using namespace tile::runtime;
using namespace tile::runtime::capi;

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

/// Where it may be: beside this library, beside the file that a link to this library leads to, and
/// where the loader looks.
static std::vector<std::string> placesOfCompiler() {
  std::vector<std::string> places;
  auto add = [&](llvm::StringRef library) {
    llvm::SmallString<256> place = llvm::sys::path::parent_path(library);
    llvm::sys::path::append(place, TILE_COMPILER_LIBRARY);
    if (!llvm::is_contained(places, place.str()))
      places.push_back(place.str().str());
  };
  Dl_info self;
  if (dladdr(reinterpret_cast<const void *>(&tile_version), &self) && self.dli_fname &&
      std::strchr(self.dli_fname, '/')) {
    llvm::SmallString<256> path(self.dli_fname);
    llvm::sys::fs::make_absolute(path);
    add(path);
    if (char *real = realpath(self.dli_fname, nullptr)) {
      add(real);
      std::free(real);
    }
  }
  places.push_back(TILE_COMPILER_LIBRARY);
  return places;
}

/// Worked out when this library is loaded: the path that it was found by may be relative, and the
/// process may go to another folder before it compiles.
static const std::vector<std::string> places = placesOfCompiler();

/// What a library has, if it belongs to this one.
static const CompilerEntries *entriesOf(void *library, const std::string &place,
                                        std::string &problem) {
  auto *function =
      reinterpret_cast<decltype(&tile_compiler_entries)>(dlsym(library, "tile_compiler_entries"));
  const CompilerEntries *entries = function ? function() : nullptr;
  if (!entries || std::strcmp(entries->build, libraryBuild()))
    problem = formatted("{} belongs to another version of libtile", place);
  else if (entries->runtime != &RuntimeError::ID)
    problem = formatted("{} uses another libtile that this process has loaded", place);
  else
    return entries;
  return nullptr;
}

static const CompilerEntries *openCompiler(std::string &problem) {
  for (const std::string &place : places) {
    std::string here;
    if (void *library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      if (const CompilerEntries *entries = entriesOf(library, place, here)) {
        problem.clear(); // of places before
        return entries;
      }
      dlclose(library);
    } else {
      const char *why = dlerror();
      here = why ? why : place;
    }
    if (problem.empty())
      problem = formatted("the compiler cannot be loaded: {}", here);
  }
  return nullptr;
}

/// The compiler's library, opened once; null with a `problem` if it cannot be.
static const CompilerEntries *compilerLibrary(std::string &problem) {
  static std::atomic<const CompilerEntries *> known;
  if (const CompilerEntries *entries = known.load(std::memory_order_acquire))
    return entries;
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  const CompilerEntries *entries = known.load(std::memory_order_relaxed);
  if (!entries && (entries = openCompiler(problem)))
    known.store(entries, std::memory_order_release);
  return entries;
}

//===----------------------------------------------------------------------===//
// Compiling
//===----------------------------------------------------------------------===//

namespace {
/// A pool of the library's, from the first compilation on.
class LatePool {
public:
  const PooledCompiler *get(std::string &problem) {
    const CompilerEntries *entries = compilerLibrary(problem);
    if (!entries)
      return nullptr;
    std::call_once(once, [&] { pool = entries->pool(); });
    return &pool;
  }

private:
  std::once_flag once;
  PooledCompiler pool;
};
} // namespace

PooledCompiler runtime::pooledCompiler() {
  auto late = std::make_shared<LatePool>();
  PooledCompiler out;
  out.compile = [late](const frontend::SourceFile &file, const CompileOptions &options) {
    std::string problem;
    if (const PooledCompiler *pool = late->get(problem))
      return pool->compile(file, options);
    CompileResult result; // for who has not asked whether it is missing
    result.status = CompileResult::Status::Error;
    result.diagnostics.error(&file, {}, problem);
    return result;
  };
  out.estimate = [late](const frontend::SourceFile &file, const CompileOptions &options,
                        const LaunchOutline &outline) -> std::optional<double> {
    std::string problem;
    const PooledCompiler *pool = late->get(problem);
    return pool ? pool->estimate(file, options, outline) : std::nullopt;
  };
  out.missing = [late] {
    std::string problem;
    late->get(problem);
    return problem;
  };
  return out;
}

//===----------------------------------------------------------------------===//
// Functions of tile.h
//===----------------------------------------------------------------------===//

/// Calls what the library has under a name.
template <typename... Parameters>
static tile_status call(tile_status (*CompilerEntries::*entry)(Parameters...),
                        std::type_identity_t<Parameters>... arguments) {
  const CompilerEntries *entries = nullptr;
  tile_status status = guarded([&]() -> llvm::Error {
    std::string problem;
    entries = compilerLibrary(problem);
    return entries ? llvm::Error::success() : makeError(ErrorCode::NoCompile, problem);
  });
  return entries ? (entries->*entry)(arguments...) : status;
}

/// Of the library where somebody has a handle, which came from there.
static const CompilerEntries &opened() {
  std::string unused;
  return *compilerLibrary(unused);
}

template <typename Handle> static void forget(Handle **result) {
  if (result)
    *result = nullptr;
}

tile_status tile_program_compile_file(tile_compiler *compiler, const char *path,
                                      const tile_program_options *options, tile_program **program) {
  forget(program);
  return call(&CompilerEntries::tile_program_compile_file, compiler, path, options, program);
}

tile_status tile_program_compile_buffer(tile_compiler *compiler, const char *name,
                                        const char *source, size_t length,
                                        const tile_program_options *options,
                                        tile_program **program) {
  forget(program);
  return call(&CompilerEntries::tile_program_compile_buffer, compiler, name, source, length,
              options, program);
}

void tile_program_destroy(tile_program *program) {
  if (program)
    opened().tile_program_destroy(program);
}

tile_status tile_program_get_info(const tile_program *program, tile_program_info *info) {
  return call(&CompilerEntries::tile_program_get_info, program, info);
}

tile_status tile_program_check_sizes(const tile_program *program, const size_t *sizes,
                                     size_t numArguments) {
  return call(&CompilerEntries::tile_program_check_sizes, program, sizes, numArguments);
}

tile_status tile_program_result(tile_program *program, const void *const *arguments,
                                size_t numArguments, size_t index, tile_tensor *result,
                                const char **type) {
  return call(&CompilerEntries::tile_program_result, program, arguments, numArguments, index,
              result, type);
}

tile_status tile_program_workspace(tile_program *program, const void *const *arguments,
                                   size_t numArguments, size_t *bytes) {
  return call(&CompilerEntries::tile_program_workspace, program, arguments, numArguments, bytes);
}

tile_status tile_program_run(tile_program *program, void *stream, const void *const *arguments,
                             size_t numArguments, const tile_tensor *results, size_t numResults,
                             void *workspace, size_t workspaceBytes) {
  return call(&CompilerEntries::tile_program_run, program, stream, arguments, numArguments, results,
              numResults, workspace, workspaceBytes);
}

tile_status tile_emulator_create(const tile_emulator_options *options, tile_emulator **emulator) {
  forget(emulator);
  return call(&CompilerEntries::tile_emulator_create, options, emulator);
}

void tile_emulator_destroy(tile_emulator *emulator) {
  if (emulator)
    opened().tile_emulator_destroy(emulator);
}

tile_status tile_emulator_alloc(tile_emulator *emulator, size_t bytes, void **pointer) {
  return call(&CompilerEntries::tile_emulator_alloc, emulator, bytes, pointer);
}

tile_status tile_emulator_free(tile_emulator *emulator, void *pointer) {
  return call(&CompilerEntries::tile_emulator_free, emulator, pointer);
}

tile_status tile_emulator_load(tile_emulator *emulator, const char *name, const char *source,
                               size_t length, const tile_compile_options *options,
                               tile_emulated **kernel) {
  forget(kernel);
  return call(&CompilerEntries::tile_emulator_load, emulator, name, source, length, options,
              kernel);
}

void tile_emulated_destroy(tile_emulated *kernel) {
  if (kernel)
    opened().tile_emulated_destroy(kernel);
}

tile_status tile_emulated_launch(const tile_emulated *kernel, const uint32_t grid[3],
                                 const void *const *arguments, size_t numArguments) {
  return call(&CompilerEntries::tile_emulated_launch, kernel, grid, arguments, numArguments);
}

const char *tile_emulator_counters(tile_emulator *emulator, size_t *length) {
  if (emulator)
    return opened().tile_emulator_counters(emulator, length);
  if (length)
    *length = 0;
  return "";
}
