//===- jit.hpp - C++ on top of jit.h --------------------------------------===//
//
// Kernels that are launched with values. Header-only; needs C++17 and libtile.
//
//   tile::Compiler compiler;
//   tile::Jit add(compiler, "add.tile",
//                 tile::JitOptions("add").constexpr_("BLOCK", "1024"));
//   add.launch(stream, {blocks}, x, y, out, n);     // float *, float *, float *, int
//   add.launch(stream, tile::fromFile, x, y, out, n); // the file's grid function
//
// What may be an argument is checked when it is compiled:
//   T *, tile::Buffer<T>   an address; T is a number type, or one for which you specialise
//                          tile::ElementType: `template <> struct tile::ElementType<__half>
//                          : tile::Element<TILE_FP16> {};`
//   tile::pointer(p, TILE_FP16)   the same for a void *
//   integers               i32 if the value fits, else i64 (or what the parameter says)
//   float, double          fp32 (or what the parameter says)
//   bool, nullptr          i1, None
//   tile_descriptor_value with its type: tile::tensor(descriptor, TILE_FP16)
//   const char *           the text of a constexpr; for addresses of int8 write int8_t *
//   tile_value             any
// Everything else (a std::string, a struct) does not compile. See jit.h for the rules.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_JIT_HPP
#define TILE_JIT_HPP

#include "tile/jit.h"
#include "tile/tile.hpp"
#include <cstddef>
#include <cstring>

namespace tile {

template <tile_dtype type> struct Element {
  static constexpr tile_dtype value = type;
};
/// What an address of T is to a kernel.
template <typename T> struct ElementType;
template <> struct ElementType<bool> : Element<TILE_I1> {};
template <> struct ElementType<int8_t> : Element<TILE_I8> {};
template <> struct ElementType<int16_t> : Element<TILE_I16> {};
template <> struct ElementType<int32_t> : Element<TILE_I32> {};
template <> struct ElementType<int64_t> : Element<TILE_I64> {};
template <> struct ElementType<uint8_t> : Element<TILE_U8> {};
template <> struct ElementType<uint16_t> : Element<TILE_U16> {};
template <> struct ElementType<uint32_t> : Element<TILE_U32> {};
template <> struct ElementType<uint64_t> : Element<TILE_U64> {};
template <> struct ElementType<float> : Element<TILE_FP32> {};
template <> struct ElementType<double> : Element<TILE_FP64> {};

inline tile_value pointer(const void *address, tile_dtype element) {
  return tile_pointer(address, element);
}
/// The descriptor must outlive the launch call.
inline tile_value tensor(const tile_descriptor_value &descriptor, tile_dtype element) {
  return tile_by_descriptor(&descriptor, element);
}

namespace detail {
template <typename T, typename = void> struct IsElement : std::false_type {};
template <typename T>
struct IsElement<T, std::void_t<decltype(ElementType<std::remove_cv_t<T>>::value)>>
    : std::true_type {};

template <typename T> tile_value valueOf(T *address) {
  static_assert(IsElement<T>::value,
                "an address of this type is no argument: specialise tile::ElementType for it, or "
                "say tile::pointer(address, TILE_...)");
  return tile_pointer(const_cast<const std::remove_cv_t<T> *>(address),
                      ElementType<std::remove_cv_t<T>>::value);
}
inline tile_value valueOf(const char *text) { return tile_text(text); }
template <typename T> tile_value valueOf(const Buffer<T> &buffer) { return valueOf(buffer.data()); }
inline tile_value valueOf(std::nullptr_t) { return tile_none(); }
inline tile_value valueOf(const tile_value &value) { return value; }
template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
tile_value valueOf(const T &number) {
  if constexpr (std::is_same_v<T, bool>)
    return tile_bool(number);
  else if constexpr (std::is_floating_point_v<T>)
    return tile_float(static_cast<double>(number));
  else if constexpr (std::is_unsigned_v<T>)
    return tile_uint(number);
  else
    return tile_int(number);
}

/// The values of a launch. They are written field by field: compilers that copy them whole, 16
/// bytes at once, wait for the two stores of 8 bytes just before.
template <size_t count> struct ValueList {
  template <typename... Values> explicit ValueList(const Values &...values) {
    tile_value *next = all;
    (put(*next++, valueOf(values)), ...);
  }
  tile_value all[count + 1] = {};

private:
  static void put(tile_value &to, const tile_value &from) {
    to.kind = from.kind;
    to.dtype = from.dtype;
    std::memcpy(&to.as.bits, &from.as, sizeof to.as);
  }
};
template <typename... Values> ValueList(const Values &...) -> ValueList<sizeof...(Values)>;
} // namespace detail

/// The grid that the kernel's file computes from the arguments.
struct FromFile {};
inline constexpr FromFile fromFile;

/// What a Jit is made with; owns its strings. Setters return the object.
class JitOptions : public CompileOptions {
public:
  explicit JitOptions(std::string kernel = "") : CompileOptions(std::move(kernel)) {}
  JitOptions &constexpr_(std::string name, std::string value) {
    CompileOptions::constexpr_(std::move(name), std::move(value));
    return *this;
  }
  JitOptions &warps(int count) { return CompileOptions::warps(count), *this; }
  JitOptions &stages(int count) { return CompileOptions::stages(count), *this; }
  JitOptions &target(std::string name) { return CompileOptions::target(std::move(name)), *this; }
  JitOptions &doNotSpecialize(std::string parameter) {
    plain.push_back(std::move(parameter));
    return *this;
  }
  JitOptions &doNotSpecializeOnAlignment(std::string parameter) {
    unaligned.push_back(std::move(parameter));
    return *this;
  }
  /// The name of a function of the file, or a lambda, as in jit.h.
  JitOptions &grid(std::string text) {
    gridText = std::move(text);
    return *this;
  }
  /// A file that keeps which configuration won, and is asked first.
  JitOptions &tuningFile(std::string path) {
    recordFile = std::move(path);
    return *this;
  }
  /// Choose configurations without timing.
  JitOptions &noTiming() {
    timeless = true;
    return *this;
  }
  /// Time every configuration, not the most promising ones alone.
  JitOptions &timeAll() {
    exhaustive = true;
    return *this;
  }
  JitOptions &context(void *handle) {
    contextHandle = handle;
    return *this;
  }

private:
  friend class Jit;
  std::vector<std::string> plain, unaligned;
  std::string gridText;
  std::string recordFile;
  bool timeless = false, exhaustive = false;
  void *contextHandle = nullptr;
};

/// A range of values of one argument, see tile_argument_range.
template <typename Least, typename Most>
tile_argument_range range(const char *parameter, const Least &least, const Most &most,
                          uint64_t step = 1) {
  return {parameter, detail::valueOf(least), detail::valueOf(most), step};
}
/// One value, or one type of address (of which `alignment` is known).
template <typename Value>
tile_argument_range only(const char *parameter, const Value &value, uint64_t alignment = 1) {
  return {parameter, detail::valueOf(value), detail::valueOf(value), alignment};
}

/// A variant that launches can reach.
struct Variant {
  std::string kernel, signature, constexprs, options;
};

/// A kernel that is launched with values. Any thread.
class Jit {
public:
  /// From a file.
  Jit(const Compiler &compiler, const std::string &path, const JitOptions &options) {
    with(options, [&](const tile_jit_options &filled) {
      return tile_jit_create_file(compiler.get(), path.c_str(), &filled, &raw);
    });
  }
  /// From source called `name`.
  Jit(const Compiler &compiler, const std::string &name, std::string_view source,
      const JitOptions &options) {
    with(options, [&](const tile_jit_options &filled) {
      return tile_jit_create_buffer(compiler.get(), name.c_str(), source.data(), source.size(),
                                    &filled, &raw);
    });
  }

  template <typename... Values>
  void launch(void *stream, Grid grid, const Values &...values) const {
    launchOn(stream, grid.extent, values...);
  }
  template <typename... Values> void launch(void *stream, FromFile, const Values &...values) const {
    launchOn(stream, nullptr, values...);
  }
  /// The variant that such a launch runs, made if it has to be.
  template <typename... Values> Function find(const Values &...values) const {
    const detail::ValueList list(values...);
    tile_function *function = nullptr;
    check(tile_jit_find(handle.get(), list.all, sizeof...(values), &function));
    return Function(function);
  }
  template <typename... Values> Grid grid(const Values &...values) const {
    const detail::ValueList list(values...);
    Grid out;
    check(tile_jit_grid(handle.get(), list.all, sizeof...(values), out.extent));
    return out;
  }

  /// The configuration of `@triton.autotune` that such a launch takes; "" if there is none.
  template <typename... Values> std::string bestConfig(const Values &...values) const {
    const detail::ValueList list(values...);
    const char *text = nullptr;
    check(tile_jit_best_config(handle.get(), list.all, sizeof...(values), &text));
    return text;
  }

  std::vector<Variant> variants(const std::vector<tile_argument_range> &ranges) const {
    std::vector<Variant> out;
    auto visit = [](void *user, const tile_variant *variant) noexcept -> int32_t {
      try {
        static_cast<std::vector<Variant> *>(user)->push_back(
            {variant->kernel, variant->signature, variant->constexprs, variant->options});
        return 0;
      } catch (...) {
        return 1;
      }
    };
    check(tile_jit_variants(handle.get(), ranges.data(), ranges.size(), visit, &out));
    return out;
  }
  /// Compiles, and loads unless `load` is false, every variant in these ranges.
  void prepare(const std::vector<tile_argument_range> &ranges, bool load = true) const {
    tile_prepare_options options;
    tile_prepare_options_init(&options);
    options.load = load;
    check(tile_jit_prepare(handle.get(), ranges.data(), ranges.size(), &options));
  }
  tile_jit_info info() const {
    tile_jit_info info = {};
    info.size = sizeof info;
    check(tile_jit_get_info(handle.get(), &info));
    return info;
  }
  tile_jit *get() const { return handle.get(); }

private:
  template <typename... Values>
  void launchOn(void *stream, const uint32_t *grid, const Values &...values) const {
    const detail::ValueList list(values...);
    check(tile_jit_launch(handle.get(), stream, grid, list.all, sizeof...(values), nullptr));
  }
  template <typename Create> void with(const JitOptions &options, Create create) {
    tile_jit_options filled;
    tile_jit_options_init(&filled);
    std::vector<const char *> plain, unaligned;
    for (const std::string &name : options.plain)
      plain.push_back(name.c_str());
    for (const std::string &name : options.unaligned)
      unaligned.push_back(name.c_str());
    filled.do_not_specialize = plain.data();
    filled.num_do_not_specialize = plain.size();
    filled.do_not_specialize_on_alignment = unaligned.data();
    filled.num_do_not_specialize_on_alignment = unaligned.size();
    filled.grid = options.gridText.empty() ? nullptr : options.gridText.c_str();
    filled.tuning_file = options.recordFile.empty() ? nullptr : options.recordFile.c_str();
    filled.no_timing = options.timeless;
    filled.time_all = options.exhaustive;
    filled.context = options.contextHandle;
    options.with([&](const tile_compile_options &compile) {
      filled.compile = &compile;
      check(create(filled));
    });
    handle.reset(raw);
  }
  tile_jit *raw = nullptr; ///< while it is created
  detail::Owned<tile_jit, tile_jit_destroy> handle;
};

} // namespace tile

#endif // TILE_JIT_HPP
