// Text for people: messages, tables, reports. `formatted("{} of {}", a, b)` is a string, its format
// checked when Tile is compiled against what it is given.
//
// The formats are fmt's. Only the part of fmt that checks them is seen here; what writes numbers is
// compiled once, in Format.cpp, hidden: neither libtile nor whoever uses it needs fmt at run time.
#pragma once
#if __has_include(<fmt/base.h>)
#include <fmt/base.h>
#else
#include <fmt/core.h>
#endif
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace tile {

namespace detail {

/// What fmt is given for an argument: the argument, or what its `str()` says (data types, sizes,
/// twines). FormatLlvm.h adds what LLVM prints.
template <typename T> struct FormatArgument {
  // The message is composed while the argument lives.
  // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter)
  static const T &of(const T &value) { return value; }
};

template <typename T>
concept SaysItself = std::is_class_v<T> && !std::is_convertible_v<const T &, std::string_view> &&
                     requires(const T &value) { value.str(); };

template <SaysItself T> struct FormatArgument<T> {
  static auto of(const T &value) { return value.str(); }
};

template <typename T>
using FormattedAs = std::remove_cvref_t<decltype(FormatArgument<T>::of(std::declval<const T &>()))>;

std::string compose(fmt::string_view format, fmt::format_args args);

template <typename... Ts> std::string composeOf(fmt::string_view format, const Ts &...args) {
  return compose(format, fmt::make_format_args(args...));
}

} // namespace detail

template <typename... Ts>
[[nodiscard]] std::string formatted(fmt::format_string<const detail::FormattedAs<Ts> &...> format,
                                    const Ts &...args) {
  return detail::composeOf(format, detail::FormatArgument<Ts>::of(args)...);
}

} // namespace tile
