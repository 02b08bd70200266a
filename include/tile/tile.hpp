//===- tile.hpp - C++ on top of tile.h ------------------------------------===//
//
// Header-only. Objects own their handles and can be moved, not copied; errors
// are thrown as tile::Error. Needs C++17 and libtile.
//
//   tile::Compiler compiler;
//   tile::Kernel kernel = compiler.compileFile(
//       "add.tile", tile::CompileOptions("add").signature("*fp32:16,*fp32:16,*fp32:16,i32")
//                                              .constexpr_("BLOCK", "1024"));
//   tile::Function add = kernel.load();
//   add.launch(stream, {blocks}, x, y, out, n);   // device addresses and scalars
//
//   tile::Program norm = compiler.compileProgram("norms.tile", "layer_norm", "fp16");
//   norm.run(stream, {tile::Tensor(out)}, workspace, bytes, tile::Tensor(x, {rows, columns}), ...);
//
// An argument's C++ type must have the size that the signature says: a device
// address for a pointer, int32_t for i32, float for fp32, double for fp64. Another size is
// an error of the launch, which asks once for all launches with the same types.
// See tile.h for what contexts, streams and statuses mean, and for threads.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TILE_HPP
#define TILE_TILE_HPP

#include "tile/tile.h"
#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace tile {

/// A failed call: its status, and the message for people as what().
class Error : public std::runtime_error {
public:
  Error(tile_status code, const std::string &message)
      : std::runtime_error(message), statusCode(code) {}
  tile_status status() const noexcept { return statusCode; }

private:
  tile_status statusCode;
};

inline void check(tile_status status) {
  if (status != TILE_OK)
    throw Error(status, tile_last_error());
}

namespace detail {
template <auto destroy> struct Deleter {
  template <typename Handle> void operator()(Handle *handle) const noexcept { destroy(handle); }
};
template <typename Handle, auto destroy> using Owned = std::unique_ptr<Handle, Deleter<destroy>>;

/// Of an argument; 0 for what has none of its own: a value that is not given, or an array of
/// pointers to the parts of a tuple.
template <typename Value>
inline constexpr size_t sizeOf =
    std::is_same_v<Value, std::nullptr_t> || std::is_array_v<Value> ? 0 : sizeof(Value);

/// Which arguments a kernel has last been asked about, and took. Their sizes are one array for
/// each list of types, whose address stands for them: a launch compares it and asks no more.
class KnownSizes {
public:
  KnownSizes() = default;
  KnownSizes(KnownSizes &&other) noexcept : last(other.last.load(std::memory_order_relaxed)) {}
  KnownSizes &operator=(KnownSizes &&other) noexcept {
    last.store(other.last.load(std::memory_order_relaxed), std::memory_order_relaxed);
    return *this;
  }
  /// `ask` throws if the sizes are wrong.
  template <typename Ask> void check(const size_t *sizes, Ask ask) const {
    if (last.load(std::memory_order_relaxed) == sizes)
      return;
    ask();
    last.store(sizes, std::memory_order_relaxed);
  }

private:
  mutable std::atomic<const size_t *> last{nullptr};
};
} // namespace detail

/// Programs along x, y and z.
struct Grid {
  uint32_t extent[3];
  Grid(uint32_t x = 1, uint32_t y = 1, uint32_t z = 1) : extent{x, y, z} {}
};

/// Launch options with their defaults; `dependent` as in tile.h.
struct LaunchOptions : tile_launch_options {
  LaunchOptions() { tile_launch_options_init(this); }
};

/// A launch that keeps its arguments. One thread at a time.
class Launch {
public:
  explicit Launch(tile_launch *handle) : handle(handle) {}

  template <typename Value> Launch &argument(size_t index, const Value &value) {
    static_assert(std::is_trivially_copyable_v<Value>, "arguments are plain values");
    const size_t size = detail::sizeOf<Value>;
    check(tile_launch_check_sizes(handle.get(), index, &size, 1));
    check(tile_launch_set_argument(handle.get(), index, &value));
    return *this;
  }
  template <typename... Values> Launch &arguments(const Values &...values) {
    const void *pointers[] = {static_cast<const void *>(&values)..., nullptr};
    static constexpr size_t sizes[] = {detail::sizeOf<Values>..., 0};
    known.check(sizes, [&] {
      tile::check(tile_launch_check_sizes(handle.get(), 0, sizes, sizeof...(values)));
    });
    check(tile_launch_set_arguments(handle.get(), pointers, sizeof...(values)));
    return *this;
  }
  Launch &grid(Grid grid) {
    check(tile_launch_set_grid(handle.get(), grid.extent));
    return *this;
  }
  Launch &options(const LaunchOptions &options) {
    check(tile_launch_set_options(handle.get(), &options));
    return *this;
  }
  void run(void *stream = nullptr) { check(tile_launch_run(handle.get(), stream)); }
  tile_launch *get() const { return handle.get(); }

private:
  detail::Owned<tile_launch, tile_launch_destroy> handle;
  detail::KnownSizes known;
};

/// A kernel loaded on a context. Any thread.
class Function {
public:
  explicit Function(tile_function *handle) : handle(handle) {}

  /// One value for each entry of the signature, in order; nullptr for entries
  /// that it fixes.
  template <typename... Values>
  void launch(void *stream, Grid grid, const Values &...values) const {
    static_assert((std::is_trivially_copyable_v<Values> && ...), "arguments are plain values");
    const void *pointers[] = {addressOf(values)..., nullptr};
    static constexpr size_t sizes[] = {detail::sizeOf<Values>..., 0};
    known.check(sizes, [&] {
      tile::check(tile_function_check_sizes(handle.get(), sizes, sizeof...(values)));
    });
    check(tile_function_launch(handle.get(), stream, grid.extent, pointers, sizeof...(values),
                               nullptr));
  }
  /// The general form: pointers to the values.
  void launchPointers(void *stream, Grid grid, const std::vector<const void *> &arguments,
                      const LaunchOptions &options = LaunchOptions()) const {
    check(tile_function_launch(handle.get(), stream, grid.extent, arguments.data(),
                               arguments.size(), &options));
  }
  Launch prepare() const {
    tile_launch *launch = nullptr;
    check(tile_launch_create(handle.get(), &launch));
    return Launch(launch);
  }
  tile_function_info info() const {
    tile_function_info info = {};
    info.size = sizeof info;
    check(tile_function_get_info(handle.get(), &info));
    return info;
  }
  tile_function *get() const { return handle.get(); }

private:
  template <typename Value> static const void *addressOf(const Value &value) { return &value; }
  static const void *addressOf(const std::nullptr_t &) { return nullptr; }
  detail::Owned<tile_function, tile_function_destroy> handle;
  detail::KnownSizes known;
};

/// Compiled code: PTX and metadata. Any thread.
class Kernel {
public:
  explicit Kernel(tile_kernel *handle) : handle(handle) {}
  /// From what `tilec compile` wrote.
  static Kernel fromPtx(std::string_view ptx, std::string_view metadata) {
    tile_kernel *kernel = nullptr;
    check(tile_kernel_from_ptx(ptx.data(), ptx.size(), metadata.data(), metadata.size(), &kernel));
    return Kernel(kernel);
  }

  std::string_view ptx() const { return view(tile_kernel_ptx); }
  std::string_view metadata() const { return view(tile_kernel_metadata); }
  std::string_view diagnostics() const { return view(tile_kernel_diagnostics); }
  tile_kernel_info info() const {
    tile_kernel_info info = {};
    info.size = sizeof info;
    check(tile_kernel_get_info(handle.get(), &info));
    return info;
  }
  Function load(void *context = nullptr) const {
    tile_function *function = nullptr;
    check(tile_function_load(handle.get(), context, &function));
    return Function(function);
  }
  tile_kernel *get() const { return handle.get(); }

private:
  std::string_view view(const char *(*text)(const tile_kernel *, size_t *)) const {
    size_t length = 0;
    const char *begin = text(handle.get(), &length);
    return {begin, length};
  }
  detail::Owned<tile_kernel, tile_kernel_destroy> handle;
};

/// A tensor for a Program: a device address and a shape; without strides, no gaps.
struct Tensor : tile_tensor {
  Tensor(const void *address, const std::vector<int64_t> &sizes,
         const std::vector<int64_t> &steps = {})
      : tile_tensor{const_cast<void *>(address), int32_t(sizes.size()), {}, {}} {
    if (sizes.size() > TILE_TENSOR_RANK || (!steps.empty() && steps.size() != sizes.size()))
      throw Error(TILE_INVALID_ARGUMENT,
                  "a tensor has at most 8 dimensions, and a stride for each");
    for (size_t i = 0; i < sizes.size(); ++i)
      shape[i] = sizes[i];
    for (size_t i = 0; i < steps.size(); ++i)
      strides[i] = steps[i];
  }
  /// Room for a result, whose shape the program knows.
  explicit Tensor(void *address) : tile_tensor{address, 0, {}, {}} {}
};

/// A function of whole tensors, compiled for types. One thread at a time. Arguments are
/// Tensors, and plain values for numbers.
class Program {
public:
  explicit Program(tile_program *handle) : handle(handle) {}

  /// Launches its kernels on the stream, without waiting.
  template <typename... Values>
  void run(void *stream, const std::vector<Tensor> &results, void *workspace, size_t workspaceBytes,
           const Values &...values) {
    const void *pointers[] = {static_cast<const void *>(&values)..., nullptr};
    checkTypes<Values...>();
    std::vector<tile_tensor> plain(results.begin(), results.end());
    check(tile_program_run(handle.get(), stream, pointers, sizeof...(values), plain.data(),
                           plain.size(), workspace, workspaceBytes));
  }
  /// Bytes that `run` needs with such arguments; of tensors only shapes count.
  template <typename... Values> size_t workspace(const Values &...values) {
    const void *pointers[] = {static_cast<const void *>(&values)..., nullptr};
    checkTypes<Values...>();
    size_t bytes = 0;
    check(tile_program_workspace(handle.get(), pointers, sizeof...(values), &bytes));
    return bytes;
  }
  template <typename... Values>
  std::vector<int64_t> resultShape(size_t index, const Values &...values) {
    const void *pointers[] = {static_cast<const void *>(&values)..., nullptr};
    checkTypes<Values...>();
    tile_tensor result = {};
    check(tile_program_result(handle.get(), pointers, sizeof...(values), index, &result, nullptr));
    return {result.shape, result.shape + result.rank};
  }
  tile_program_info info() const {
    tile_program_info info = {};
    info.size = sizeof info;
    check(tile_program_get_info(handle.get(), &info));
    return info;
  }
  tile_program *get() const { return handle.get(); }

private:
  template <typename... Values> void checkTypes() const {
    static_assert(((std::is_trivially_copyable_v<Values> && !std::is_pointer_v<Values>) && ...),
                  "arguments are tensors, tile::Tensor(address, {sizes}), and plain numbers");
    static constexpr size_t sizes[] = {sizeof(Values)..., 0};
    check(tile_program_check_sizes(handle.get(), sizes, sizeof...(Values)));
  }
  detail::Owned<tile_program, tile_program_destroy> handle;
};

/// What to compile and how; owns its strings. Setters return the object.
class CompileOptions {
public:
  explicit CompileOptions(std::string kernel = "") : kernelName(std::move(kernel)) {
    tile_compile_options_init(&options);
  }
  CompileOptions &signature(std::string text) {
    signatureText = std::move(text);
    return *this;
  }
  CompileOptions &constexpr_(std::string name, std::string value) {
    constants.emplace_back(std::move(name), std::move(value));
    return *this;
  }
  CompileOptions &warps(int count) {
    options.num_warps = count;
    return *this;
  }
  CompileOptions &stages(int count) {
    options.num_stages = count;
    return *this;
  }
  CompileOptions &ctas(int count) {
    options.num_ctas = count;
    return *this;
  }
  CompileOptions &warpRoles(std::string name) {
    roles = std::move(name);
    return *this;
  }
  CompileOptions &target(std::string name) {
    targetName = std::move(name);
    return *this;
  }
  CompileOptions &maxRegisters(int count) {
    options.max_registers = count;
    return *this;
  }
  CompileOptions &libdevice(std::string path) {
    libdevicePath = std::move(path);
    return *this;
  }
  /// The rest of the options, as in tile.h.
  tile_compile_options &raw() { return options; }

private:
  friend class Compiler;
  friend class Jit; // jit.hpp
  /// Calls `use` with the C struct, whose pointers are valid meanwhile.
  template <typename Use> void with(Use use) const {
    tile_compile_options filled = options;
    auto set = [](const char *&field, const std::string &text) {
      if (!text.empty())
        field = text.c_str();
    };
    set(filled.kernel, kernelName);
    set(filled.signature, signatureText);
    set(filled.target, targetName);
    set(filled.warp_roles, roles);
    set(filled.libdevice_path, libdevicePath);
    std::vector<tile_constexpr> list;
    for (const auto &[name, value] : constants)
      list.push_back({name.c_str(), value.c_str()});
    if (!list.empty()) {
      filled.constexprs = list.data();
      filled.num_constexprs = list.size();
    }
    use(filled);
  }

  tile_compile_options options;
  std::string kernelName, signatureText, targetName, libdevicePath, roles;
  std::vector<std::pair<std::string, std::string>> constants;
};

/// Any thread.
class Compiler {
public:
  /// With the default disk cache.
  Compiler() : handle(create(nullptr)) {}
  /// With the disk cache in a folder; none if it is empty.
  explicit Compiler(const std::string &cacheFolder) : handle(create(cacheFolder.c_str())) {}

  Kernel compileFile(const std::string &path, const CompileOptions &options) const {
    tile_kernel *kernel = nullptr;
    options.with([&](const tile_compile_options &filled) {
      check(tile_compile_file(handle.get(), path.c_str(), &filled, &kernel));
    });
    return Kernel(kernel);
  }
  Kernel compile(const std::string &name, std::string_view source,
                 const CompileOptions &options) const {
    tile_kernel *kernel = nullptr;
    options.with([&](const tile_compile_options &filled) {
      check(tile_compile_buffer(handle.get(), name.c_str(), source.data(), source.size(), &filled,
                                &kernel));
    });
    return Kernel(kernel);
  }
  /// With any of the options of tile.h, set by tile_compiler_options_init first.
  explicit Compiler(const tile_compiler_options &options) {
    tile_compiler *compiler = nullptr;
    check(tile_compiler_create(&options, &compiler));
    handle.reset(compiler);
  }
  /// What it and its kernels have done so far.
  tile_counters counters() const {
    tile_counters counters = {};
    counters.size = sizeof counters;
    check(tile_compiler_get_counters(handle.get(), &counters));
    return counters;
  }
  /// A function of whole tensors; `types`, `target` and `mode` as in tile_program_options.
  Program compileProgram(const std::string &path, const std::string &function,
                         const std::string &types = "fp32", const std::string &target = "",
                         const std::string &mode = "default") const {
    tile_program_options options;
    tile_program_options_init(&options);
    options.function = function.empty() ? nullptr : function.c_str();
    options.types = types.c_str();
    options.target = target.empty() ? nullptr : target.c_str();
    options.mode = mode.c_str();
    tile_program *program = nullptr;
    check(tile_program_compile_file(handle.get(), path.c_str(), &options, &program));
    return Program(program);
  }
  tile_compiler *get() const { return handle.get(); }

private:
  static tile_compiler *create(const char *cacheFolder) {
    tile_compiler_options options;
    tile_compiler_options_init(&options);
    options.cache_dir = cacheFolder;
    tile_compiler *compiler = nullptr;
    check(tile_compiler_create(&options, &compiler));
    return compiler;
  }
  detail::Owned<tile_compiler, tile_compiler_destroy> handle;
};

//===----------------------------------------------------------------------===//
// Devices and memory
//===----------------------------------------------------------------------===//

/// 0 where there is no usable driver.
inline int deviceCount() noexcept {
  int32_t count = 0;
  return tile_device_count(&count) == TILE_OK ? count : 0;
}

inline tile_device_info deviceInfo(int ordinal = 0) {
  tile_device_info info = {};
  info.size = sizeof info;
  check(tile_device_get_info(ordinal, &info));
  return info;
}

inline void synchronize(void *stream = nullptr, void *context = nullptr) {
  check(tile_synchronize(context, stream));
}

/// `count` elements of device memory.
template <typename Element> class Buffer {
  static_assert(std::is_trivially_copyable_v<Element>, "device memory holds plain values");

public:
  explicit Buffer(size_t count, void *context = nullptr) : count(count), context(context) {
    void *pointer = nullptr;
    check(tile_memory_alloc(context, count * sizeof(Element), &pointer));
    address = static_cast<Element *>(pointer);
  }
  explicit Buffer(const std::vector<Element> &values, void *context = nullptr)
      : Buffer(values.size(), context) {
    upload(values);
  }
  ~Buffer() {
    if (address)
      (void)tile_memory_free(context, address);
  }
  Buffer(Buffer &&other) noexcept
      : address(std::exchange(other.address, nullptr)), count(std::exchange(other.count, 0)),
        context(other.context) {}
  Buffer &operator=(Buffer &&other) noexcept {
    std::swap(address, other.address);
    std::swap(count, other.count);
    std::swap(context, other.context);
    return *this;
  }

  /// The device address, to pass to launches; not to be read on the host.
  Element *data() const { return address; }
  size_t size() const { return count; }
  void upload(const std::vector<Element> &values, void *stream = nullptr) {
    if (values.size() > count)
      throw Error(TILE_INVALID_ARGUMENT, "an upload passes the end of a buffer");
    check(tile_memory_upload(context, address, values.data(), values.size() * sizeof(Element),
                             stream));
  }
  std::vector<Element> download(void *stream = nullptr) const {
    std::vector<Element> values(count);
    check(tile_memory_download(context, values.data(), address, count * sizeof(Element), stream));
    return values;
  }

private:
  Element *address = nullptr;
  size_t count;
  void *context;
};

} // namespace tile

#endif // TILE_TILE_HPP
