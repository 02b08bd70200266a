//===- ExplainFunctions.h - tilec explain, of functions of whole tensors --===//
#ifndef TILE_TOOLS_TILEC_EXPLAINFUNCTIONS_H
#define TILE_TOOLS_TILEC_EXPLAINFUNCTIONS_H

#include "frontend/Source.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <set>

namespace tilec {

struct FunctionsToExplain {
  std::string only;           ///< a function; empty: all of the file
  std::string dtype = "fp32"; ///< of tensors whose annotation leaves it open
  std::string show;           ///< "graph" or "groups": as IR, in the place of the report
  std::string target;         ///< whose limits count
  std::map<std::string, int64_t> values;
  std::vector<std::string> includePaths;
};

/// The names that sizes of these functions have; of one that says none, or is wrong, nothing.
std::set<std::string> sizesOf(const tile::frontend::SourceFile &source,
                              const FunctionsToExplain &what);

/// Explains the `@tile.function`s of a file, as text or into `json`, and each as a part of an HTML
/// page into `parts`, if there. How many there were; -1 after errors, which are reported.
int explainFunctions(const tile::frontend::SourceFile &source, const FunctionsToExplain &what,
                     llvm::raw_ostream &os, llvm::json::Array *json,
                     std::vector<std::string> *parts = nullptr);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_EXPLAINFUNCTIONS_H
