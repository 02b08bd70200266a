//===- NamesInC.h - what names of a file are called in C ------------------===//
#ifndef TILE_TOOLS_TILEC_NAMESINC_H
#define TILE_TOOLS_TILEC_NAMESINC_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace tilec {

/// The same, with `_` behind it where C or C++ have another use for it.
std::string nameInC(llvm::StringRef name);
/// That of a parameter, which must not be one of the functions around it either.
std::string parameterInC(llvm::StringRef name);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_NAMESINC_H
