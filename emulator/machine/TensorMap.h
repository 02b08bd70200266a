//===- TensorMap.h - descriptors of tensors for the copy engine -----------===//
//
// The emulated form of the opaque 128-byte object that tensor copies take. The
// runtime makes one for each parameter that is a tensor map.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_TENSORMAP_H
#define TILE_EMULATOR_MACHINE_TENSORMAP_H

#include <cstdint>

namespace tile::emu {

struct alignas(64) TensorMap {
  static constexpr uint64_t kMagic = 0x70616d726f736e74ull;
  uint64_t magic = kMagic;
  uint64_t base = 0;
  uint64_t dims[5] = {1, 1, 1, 1, 1}; ///< elements, innermost first
  uint64_t strides[4] = {};           ///< bytes, of dims[1] on
  uint16_t box[5] = {1, 1, 1, 1, 1};  ///< elements
  uint8_t rank = 1;
  uint8_t elementBytes = 4;
  uint8_t swizzle = 0; ///< bytes of the span: 0, 32, 64, 128
  uint8_t isFloat = 0; ///< for reductions: 1 f16, 2 bf16, 3 f32, 4 f64; 0 integers
  uint8_t isSigned = 0;
};
static_assert(sizeof(TensorMap) == 128, "the size of the machine's own");

/// The place of a byte after the swizzle: the pattern repeats with the absolute
/// address.
inline uint32_t swizzled(uint32_t address, unsigned span) {
  switch (span) {
  case 128:
    return address ^ ((address >> 7 & 7) << 4);
  case 64:
    return address ^ ((address >> 7 & 3) << 4);
  case 32:
    return address ^ ((address >> 7 & 1) << 4);
  default:
    return address;
  }
}

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_TENSORMAP_H
