// What LLVM and MLIR print by their streams (types, attributes, big integers), as arguments
// of `formatted`. Strings of LLVM need nothing: they are views.
#pragma once
#include "text/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace tile::detail {

template <typename T>
concept PrintedByLlvm =
    std::is_class_v<T> && !SaysItself<T> && !std::is_convertible_v<const T &, std::string_view> &&
    requires(llvm::raw_ostream &os, const T &value) { os << value; };

template <PrintedByLlvm T> struct FormatArgument<T> {
  static std::string of(const T &value) {
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return text;
  }
};

} // namespace tile::detail
