//===- ParseJson.cpp - JSON that anybody may have written -----------------===//
#include "compiler/ParseJson.h"
#include "text/Format.h"
#include "text/PlainNumbers.h"

using namespace tile;

static constexpr unsigned maxDepth = 64;

/// The offset of the bracket that opens one level too many, or of none (npos).
static size_t findTooDeep(llvm::StringRef text) {
  unsigned depth = 0;
  bool inString = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (inString && c == '\\')
      ++i;
    else if (c == '"')
      inString = !inString;
    else if (!inString && (c == '[' || c == '{') && ++depth > maxDepth)
      return i;
    else if (!inString && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return llvm::StringRef::npos;
}

llvm::Expected<llvm::json::Value> tile::parseJson(llvm::StringRef text) {
  size_t tooDeep = findTooDeep(text);
  if (tooDeep != llvm::StringRef::npos)
    return llvm::createStringError(
        formatted("it is nested deeper than {} levels at byte {}", maxDepth, tooDeep));
  PlainNumbers plain;
  return llvm::json::parse(text);
}
