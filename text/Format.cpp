// The one place where fmt is compiled.
#define FMT_HEADER_ONLY
#include "text/Format.h"

#include <fmt/format.h>

namespace tile::detail {

std::string compose(fmt::string_view format, fmt::format_args args) {
  return fmt::vformat(format, args);
}

} // namespace tile::detail
