//===- Key.cpp - from the values of a launch to the variant that serves it ===//
#include "runtime/dispatch/KeyCodes.h"
#include <cstring>

using namespace tile::dispatch;
using Why = Refusal::Why;

static bool isInteger(uint8_t dtype) { return dtype >= TILE_I1 && dtype <= TILE_U64; }
static bool isSigned(uint8_t dtype) { return dtype >= TILE_I8 && dtype <= TILE_I64; }
static unsigned integerBits(uint8_t dtype) {
  return dtype == TILE_I1 ? 1 : 8u << ((dtype - (isSigned(dtype) ? TILE_I8 : TILE_U8)));
}

uint64_t Key::hash() const {
  uint64_t h = 0x9e3779b97f4a7c15u ^ size;
  for (unsigned i = 0; i < size; ++i) {
    h ^= words[i];
    h *= 0xff51afd7ed558ccdu;
    h ^= h >> 32;
  }
  return h;
}

//===----------------------------------------------------------------------===//
// Reading values
//===----------------------------------------------------------------------===//

/// The bits of the nearest number with `fraction` bits behind the point and
/// `exponent` bits before it, ties to even.
static uint16_t narrowFloat(float value, unsigned exponent, unsigned fraction) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  auto sign = uint16_t(bits >> 31 << 15);
  bits &= 0x7fffffff;
  const unsigned infinity = ((1u << exponent) - 1) << fraction;
  if (bits > 0x7f800000)
    return uint16_t(sign | infinity | 1u << (fraction - 1));
  const int bias = (1 << (exponent - 1)) - 1;
  int scale = int(bits >> 23) - 127;
  // What is below the smallest normal number loses bits to its distance from it.
  unsigned drop = 23 - fraction;
  uint32_t mantissa = bits & 0x7fffff;
  unsigned biased = 0;
  if (scale >= 1 - bias) {
    biased = unsigned(scale + bias);
  } else {
    mantissa |= bits >> 23 ? 0x800000 : 0;
    drop += unsigned(1 - bias - scale);
    if (drop > 31)
      return sign;
  }
  uint32_t kept = mantissa >> drop, lost = mantissa & ((1u << drop) - 1), half = 1u << (drop - 1);
  uint32_t result = (biased << fraction) + kept + (lost > half || (lost == half && (kept & 1)));
  return uint16_t(sign | (result < infinity ? result : infinity));
}

static bool storeFloat(double value, uint8_t dtype, uint64_t &out) {
  out = 0;
  auto single = float(value);
  switch (dtype) {
  case TILE_FP64:
    std::memcpy(&out, &value, sizeof value);
    return true;
  case TILE_DTYPE_NONE:
  case TILE_FP32:
    std::memcpy(&out, &single, sizeof single);
    return true;
  case TILE_FP16:
    out = narrowFloat(single, 5, 10);
    return true;
  case TILE_BF16:
    out = narrowFloat(single, 8, 7);
    return true;
  }
  return false;
}

namespace {
/// Reads one argument: what it appends, and what it passes on.
struct Reader {
  const Parameter &parameter;
  const tile_value &value;
  Key &key;
  uint64_t &converted;
  const void *&pointer;
  uint16_t code = 0;

  Why read();
  Why readConstexpr();
  Why readInteger(int64_t number, bool isUnsigned);
  Why readNumber(double number);
  Why readDescriptor();
};
} // namespace

Why Reader::readInteger(int64_t number, bool isUnsigned) {
  uint8_t wanted = parameter.dtype;
  bool isHuge = isUnsigned && number < 0; // beyond an int64
  if (wanted == TILE_DTYPE_NONE) {
    wanted = isHuge ? TILE_U64 : number == int32_t(number) ? TILE_I32 : TILE_I64;
  } else if (wanted == TILE_I1) {
    converted = number != 0;
    pointer = &converted;
    code = pack(Code::Bool, Nothing, TILE_I1);
    return Why::None;
  } else if (!isInteger(wanted)) {
    return readNumber(isHuge ? double(uint64_t(number)) : double(number));
  } else {
    unsigned bits = integerBits(wanted);
    bool fits = isSigned(wanted)
                    ? !isHuge && (bits == 64 || (number >= -(int64_t(1) << (bits - 1)) &&
                                                 number < int64_t(1) << (bits - 1)))
                    : (isHuge || number >= 0) && (bits == 64 || uint64_t(number) >> bits == 0);
    if (!fits)
      return Why::Range;
  }
  uint8_t known = Nothing;
  if (number == 1 && !(parameter.flags & Parameter::NoOne))
    known = One;
  else if (number % 16 == 0 && !(parameter.flags & Parameter::NoAlign))
    known = Aligned;
  code = pack(Code::Integer, known, wanted);
  pointer = &value.as; // narrow integers are the low bytes of wide ones
  return Why::None;
}

Why Reader::readNumber(double number) {
  if (!storeFloat(number, parameter.dtype, converted))
    return Why::Kind;
  pointer = &converted;
  code = pack(Code::Float, Nothing,
              parameter.dtype == TILE_DTYPE_NONE ? uint8_t(TILE_FP32) : parameter.dtype);
  return Why::None;
}

Why Reader::readDescriptor() {
  const tile_descriptor_value *given = value.as.descriptor;
  if (!given || given->descriptor.rank < 1 || given->descriptor.rank > 5 ||
      reinterpret_cast<uintptr_t>(given->descriptor.base) % 16)
    return Why::Descriptor;
  if (value.dtype == TILE_DTYPE_NONE || value.dtype >= kNumDtypes)
    return Why::ElementType;
  uint64_t sizes[6] = {};
  for (int d = 0; d < given->descriptor.rank; ++d) {
    if (given->block[d] <= 0)
      return Why::Descriptor;
    sizes[d] = uint32_t(given->block[d]);
  }
  sizes[5] = unsigned(given->descriptor.rank) | (given->pads_with_nan ? 256u : 0u);
  code = pack(Code::Descriptor, Nothing, value.dtype);
  pointer = &given->descriptor;
  for (unsigned i = 0; i < 3; ++i)
    if (!key.add(sizes[2 * i] | sizes[2 * i + 1] << 32))
      return Why::TooMany;
  return Why::None;
}

Why Reader::readConstexpr() {
  code = pack(Code::Constexpr, value.kind, value.dtype);
  switch (value.kind) {
  case TILE_VALUE_NONE:
    return Why::None;
  case TILE_VALUE_INT:
  case TILE_VALUE_UINT:
  case TILE_VALUE_BOOL:
  case TILE_VALUE_FLOAT:
    return key.add(value.as.bits) ? Why::None : Why::TooMany;
  case TILE_VALUE_DTYPE:
    return value.dtype && value.dtype < kNumDtypes ? Why::None : Why::ElementType;
  case TILE_VALUE_TEXT: {
    size_t length = value.as.text ? strnlen(value.as.text, kMostText + 1) : kMostText + 1;
    if (length > kMostText)
      return Why::Text;
    if (!key.add(length))
      return Why::TooMany;
    for (size_t at = 0; at < length; at += 8) {
      uint64_t word = 0;
      std::memcpy(&word, value.as.text + at, length - at < 8 ? length - at : 8);
      if (!key.add(word))
        return Why::TooMany;
    }
    return Why::None;
  }
  }
  return Why::Kind;
}

Why Reader::read() {
  if (parameter.flags & Parameter::Constexpr)
    return readConstexpr();
  const bool wantsNumber = parameter.dtype != TILE_DTYPE_NONE;
  switch (value.kind) {
  case TILE_VALUE_NONE:
    code = pack(Code::None, Nothing, 0);
    pointer = nullptr;
    return Why::None;
  case TILE_VALUE_POINTER: {
    if (wantsNumber)
      return Why::Kind;
    if (value.dtype == TILE_DTYPE_NONE || value.dtype >= kNumDtypes)
      return Why::ElementType;
    bool isAligned = value.as.bits % 16 == 0 && !(parameter.flags & Parameter::NoAlign);
    code = pack(Code::Pointer, isAligned ? Aligned : Nothing, value.dtype);
    pointer = &value.as;
    return Why::None;
  }
  case TILE_VALUE_DESCRIPTOR:
    return wantsNumber ? Why::Kind : readDescriptor();
  default:
    break;
  }
  if (parameter.flags & Parameter::IsPointer)
    return Why::Kind;
  switch (value.kind) {
  case TILE_VALUE_INT:
  case TILE_VALUE_UINT:
    return readInteger(value.as.integer, value.kind == TILE_VALUE_UINT);
  case TILE_VALUE_BOOL:
    if (wantsNumber && parameter.dtype != TILE_I1)
      return readInteger(value.as.bits != 0, false);
    converted = value.as.bits != 0;
    pointer = &converted;
    code = pack(Code::Bool, Nothing, TILE_I1);
    return Why::None;
  case TILE_VALUE_FLOAT:
    if (isInteger(parameter.dtype))
      return Why::Kind;
    return readNumber(value.as.real);
  }
  return Why::Kind;
}

Refusal tile::dispatch::readValues(const Parameter *parameters, unsigned count,
                                   const tile_value *values, Key &key, Values &out) {
  const unsigned codes = key.size, words = (count + 3) / 4;
  if (count > kMostArguments || codes + words > Key::kCapacity)
    return {Why::TooMany, count};
  for (unsigned i = 0; i < words; ++i)
    key.words[key.size++] = 0;
  out.size = 0;
  for (unsigned i = 0; i < count; ++i) {
    // A constexpr is no entry of the signature.
    unsigned entry = out.size;
    out.size += parameters[i].flags & Parameter::Constexpr ? 0 : 1;
    const void *ignored = nullptr;
    Reader reader{parameters[i], values[i], key, out.converted[entry],
                  parameters[i].flags & Parameter::Constexpr ? ignored : out.pointers[entry]};
    if (Why why = reader.read(); why != Why::None)
      return {why, i};
    key.words[codes + i / 4] |= uint64_t(reader.code) << (i % 4 * 16);
  }
  return {};
}

bool tile::dispatch::addTuningWords(const Parameter *parameters, unsigned count,
                                    const uint64_t *words, const tile_value *values,
                                    const unsigned *chosen, unsigned numChosen, Key &out) {
  for (unsigned first = 0; first < count; first += 4) {
    uint64_t word = 0;
    for (unsigned i = first; i < count && i < first + 4; ++i) {
      Unpacked code = unpack(words, i);
      if (code.code != Code::Constexpr)
        code.known = Nothing; // alignment and the like
      word |= uint64_t(pack(code.code, code.known, code.dtype)) << (i % 4 * 16);
    }
    if (!out.add(word))
      return false;
  }
  for (unsigned i = 0; i < numChosen; ++i) {
    const tile_value &value = values[chosen[i]];
    if (value.kind == TILE_VALUE_TEXT) {
      for (const char *text = value.as.text; *text; text += strnlen(text, sizeof(uint64_t))) {
        uint64_t word = 0;
        std::memcpy(&word, text, strnlen(text, sizeof word));
        if (!out.add(word))
          return false;
      }
      if (!out.add(0)) // its end
        return false;
      continue;
    }
    // Of an address its type counts, which is there.
    bool isNumber = value.kind != TILE_VALUE_POINTER && value.kind != TILE_VALUE_DESCRIPTOR;
    if (!out.add(isNumber ? value.as.bits : 0))
      return false;
  }
  return true;
}
