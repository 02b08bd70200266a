//===- Internal.h - what stands behind the handles of tile.h --------------===//
//
// Every function of the interface is `guarded`: errors become a status and the
// thread's message, and no exception passes, not even for want of memory.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_CAPI_INTERNAL_H
#define TILE_RUNTIME_CAPI_INTERNAL_H

#include "frontend/Source.h"
#include "runtime/CompileService.h"
#include "runtime/Kernel.h"
#include "text/Format.h"
#include "tile/tile.h"
#include <cstdlib>
#include <cstring>
#include <exception>

struct tile_compiler {
  tile::runtime::CompileService service;
};

struct tile_kernel {
  std::shared_ptr<tile_compiler> compiler; ///< holds the cache; null if from PTX
  std::shared_ptr<tile::runtime::SharedKernel> shared;
  std::string metadata; ///< as JSON
};

struct tile_function {
  std::shared_ptr<tile_compiler> compiler;
  std::shared_ptr<const tile::runtime::LoadedKernel> loaded;
};

struct tile_launch {
  std::shared_ptr<tile_compiler> compiler;
  tile::runtime::PreparedLaunch launch;
};

namespace tile::runtime::capi {

/// The thread's last message, and its status returned.
tile_status fail(llvm::Error error);
tile_status fail(ErrorCode code, const char *message);

/// Runs `body`, which returns an llvm::Error.
template <typename Body> tile_status guarded(Body body) {
  try {
    llvm::Error error = body();
    if (LLVM_LIKELY(!error))
      return TILE_OK;
    return fail(std::move(error));
  } catch (const std::exception &exception) {
    return fail(ErrorCode::Driver, exception.what());
  } catch (...) {
    return fail(ErrorCode::Driver, "an unknown exception");
  }
}

inline llvm::Error invalid(const llvm::Twine &message) {
  return makeError(ErrorCode::InvalidArgument, message);
}

/// `return error` unless the pointer is set.
#define TILE_REQUIRE(pointer)                                                                      \
  if (!(pointer))                                                                                  \
  return invalid("`" #pointer "` is null")

/// More than any of our structs will have: a size that cannot be meant.
constexpr size_t kMaxStructBytes = 65536;

/// Sets a caller's options, which are `size` bytes, to the defaults. What the
/// caller has and we do not know is 0.
template <typename Options>
void initOptions(const Options &defaults, Options *theirs, size_t size) {
  if (!theirs || size < sizeof(size_t) || size > kMaxStructBytes)
    return;
  std::memset(static_cast<void *>(theirs), 0, size);
  std::memcpy(static_cast<void *>(theirs), &defaults, std::min(size, sizeof(Options)));
  theirs->size = size;
}

/// Defines tile_NAME_options_init_sized, and under the name that tile.h defines in
/// the program itself a function for programs that ask for it by that name. They
/// may have the struct's first version, which ended at FIRST_SIZE.
#define TILE_DEFINE_OPTIONS_INIT(NAME, DEFAULTS, FIRST_SIZE)                                       \
  void tile_##NAME##_options_init_sized(tile_##NAME##_options *options, size_t size) {             \
    tile::runtime::capi::initOptions(DEFAULTS, options, size);                                     \
  }                                                                                                \
  extern "C" TILE_API void NAME##OptionsInitFirst(tile_##NAME##_options *options) __asm__(         \
      "tile_" #NAME "_options_init");                                                              \
  void NAME##OptionsInitFirst(tile_##NAME##_options *options) {                                    \
    tile_##NAME##_options_init_sized(options, FIRST_SIZE);                                         \
  }

/// Copies a caller's options over the defaults in `ours`. A caller built
/// against an older header has a shorter struct; one built against a newer
/// header is refused only if it sets what we do not know.
template <typename Options> llvm::Error readOptions(const Options *theirs, Options &ours) {
  if (!theirs)
    return llvm::Error::success();
  size_t size = theirs->size;
  if (size < sizeof(size_t))
    return invalid("an options struct has no size: initialise it with its *_init function");
  if (size > kMaxStructBytes)
    return invalid(
        formatted("an options struct of {} bytes cannot be: initialise it with its *_init function",
                  uint64_t(size)));
  const char *bytes = reinterpret_cast<const char *>(theirs);
  for (size_t i = sizeof(Options); i < size; ++i)
    if (bytes[i])
      return invalid("an option is set that this version of libtile does not know");
  std::memcpy(&ours, theirs, std::min(size, sizeof(Options)));
  ours.size = sizeof(Options);
  return llvm::Error::success();
}

/// Fills as much of a caller's info struct as it has, keeping its size.
template <typename Info> llvm::Error writeInfo(const Info &ours, Info *theirs) {
  size_t size = theirs->size;
  if (size < sizeof(size_t))
    return invalid("an info struct has no size: set its `size` to sizeof it");
  std::memcpy(theirs, &ours, std::min(size, sizeof(Info)));
  theirs->size = size;
  return llvm::Error::success();
}

/// The error of a length that no text of this kind has. `unit` is what is counted.
inline llvm::Error checkLength(const char *name, size_t length, uint64_t most,
                               const char *unit = "bytes") {
  if (length <= most)
    return llvm::Error::success();
  return invalid(
      formatted("`{}` is {}: at most {} {} are possible", name, uint64_t(length), most, unit));
}
constexpr uint64_t kMaxTextBytes = uint64_t(1) << 30; ///< of PTX, of metadata

/// A source file, by its path.
inline llvm::Error openSource(const char *path, std::unique_ptr<frontend::SourceFile> &file) {
  std::string error;
  file = frontend::SourceFile::open(path, error);
  return file ? llvm::Error::success() : makeError(ErrorCode::Io, error);
}

/// A source in the caller's memory, which may have no name.
inline llvm::Error sourceOf(const char *name, const char *source, size_t length,
                            std::unique_ptr<frontend::SourceFile> &file) {
  if (llvm::Error error = checkLength("length", length, frontend::kMaxSourceBytes))
    return error;
  file =
      std::make_unique<frontend::SourceFile>(name ? name : "<buffer>", std::string(source, length));
  return llvm::Error::success();
}

/// What a compiler's handle points to: shared, since kernels keep their compiler.
inline std::shared_ptr<tile_compiler> &ownerOf(tile_compiler *handle) {
  return *reinterpret_cast<std::shared_ptr<tile_compiler> *>(handle);
}

/// An option, or else an environment variable that the headers document.
inline std::string chosenText(const char *option, const char *variable) {
  if (!option)
    option = std::getenv(variable);
  return option ? option : "";
}

/// A caller's options over the defaults.
llvm::Expected<CompileOptions> convertOptions(const tile_compile_options *options);
llvm::Error convertLaunchOptions(const tile_launch_options &options, LaunchOptions &result);

/// The context that a NULL or given handle means. Contexts are remembered, and
/// primary ones stay retained: memory allocated there must not vanish.
llvm::Expected<std::shared_ptr<Context>> contextFor(void *handle);

} // namespace tile::runtime::capi

#endif // TILE_RUNTIME_CAPI_INTERNAL_H
