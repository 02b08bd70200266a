//===- KeyCodes.h - what stands in a key -----------------------------------===//
//
// 16 bits an argument, four to a word (kind, what is known of the value, element type),
// then for each argument that has more to say, in order: the value of a constexpr, the block
// of a descriptor.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DISPATCH_KEYCODES_H
#define TILE_RUNTIME_DISPATCH_KEYCODES_H

#include "runtime/dispatch/Key.h"

namespace tile::dispatch {

constexpr unsigned kNumDtypes = TILE_FP8E5B16 + 1;

enum class Code : uint8_t { None, Pointer, Integer, Float, Bool, Descriptor, Constexpr };
enum Known : uint8_t { Nothing = 0, One = 1, Aligned = 2 };

constexpr uint16_t pack(Code code, uint8_t known, uint8_t dtype) {
  return uint16_t(unsigned(code) | known << 4 | dtype << 8);
}
struct Unpacked {
  Code code;
  uint8_t known, dtype;
};
inline Unpacked unpack(const uint64_t *words, unsigned argument) {
  auto code = uint16_t(words[argument / 4] >> (argument % 4 * 16));
  return {Code(code & 15), uint8_t(code >> 4 & 15), uint8_t(code >> 8)};
}

} // namespace tile::dispatch

#endif // TILE_RUNTIME_DISPATCH_KEYCODES_H
