//===- Characters.h - strings as Python counts them -----------------------===//
//
// Strings are UTF-8; their length, indices and widths are in code points.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_CHARACTERS_H
#define TILE_FRONTEND_EVAL_CHARACTERS_H

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"
#include <cstring>
#include <vector>

namespace tile::eval {

inline bool isContinuationByte(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

inline bool isAscii(llvm::StringRef text) {
  return llvm::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

inline int64_t countCharacters(llvm::StringRef text) {
  return int64_t(text.size()) - llvm::count_if(text, isContinuationByte);
}

/// Where `part` begins in `text`, at `from` or behind it. The time grows with the sum of their
/// lengths; that of StringRef and std::string with the product.
inline size_t findPart(llvm::StringRef text, llvm::StringRef part, size_t from = 0) {
  if (from > text.size())
    return llvm::StringRef::npos;
  const void *at = memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return at ? size_t(static_cast<const char *>(at) - text.data()) : llvm::StringRef::npos;
}

/// The first character of a text that is not empty.
inline llvm::StringRef firstCharacter(llvm::StringRef text) {
  return text.take_front(1 + text.drop_front().take_while(isContinuationByte).size());
}

inline std::vector<llvm::StringRef> characters(llvm::StringRef text) {
  std::vector<llvm::StringRef> out;
  for (; !text.empty(); text = text.drop_front(out.back().size()))
    out.push_back(firstCharacter(text));
  return out;
}

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_CHARACTERS_H
