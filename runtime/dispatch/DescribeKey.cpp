//===- DescribeKey.cpp - keys taken apart, and messages --------------------===//
#include "runtime/dispatch/KeyCodes.h"
#include "text/PlainNumbers.h"
#include <cmath>
#include <cstdio>
#include <cstring>

using namespace tile::dispatch;
using Why = Refusal::Why;

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

static const char *const dtypeNames[] = {
    "?",    "i1",   "i8",   "i16",  "i32",     "i64",   "u8",       "u16",     "u32",     "u64",
    "fp16", "bf16", "fp32", "fp64", "fp8e4nv", "fp8e5", "fp8e4b15", "fp8e4b8", "fp8e5b16"};
static const char *const languageNames[] = {
    "?",          "int1",     "int8",        "int16",      "int32",      "int64",   "uint8",
    "uint16",     "uint32",   "uint64",      "float16",    "bfloat16",   "float32", "float64",
    "float8e4nv", "float8e5", "float8e4b15", "float8e4b8", "float8e5b16"};
static_assert(sizeof dtypeNames / sizeof *dtypeNames == kNumDtypes);
static_assert(sizeof languageNames / sizeof *languageNames == kNumDtypes);

const char *tile::dispatch::nameOf(uint8_t dtype) {
  return dtypeNames[dtype < kNumDtypes ? dtype : 0];
}

uint8_t tile::dispatch::dtypeNamed(const char *name) {
  for (unsigned i = 1; i < kNumDtypes; ++i)
    if (!std::strcmp(name, dtypeNames[i]))
      return i;
  return TILE_DTYPE_NONE;
}

//===----------------------------------------------------------------------===//
// Taking keys apart
//===----------------------------------------------------------------------===//

static std::string quoted(const uint64_t *words, size_t length) {
  std::string text = "\"";
  const char *bytes = reinterpret_cast<const char *>(words);
  for (size_t i = 0; i < length; ++i) {
    auto c = static_cast<unsigned char>(bytes[i]);
    char escaped[8];
    if (c == '"' || c == '\\')
      std::snprintf(escaped, sizeof escaped, "\\%c", c);
    else if (c < 0x20)
      std::snprintf(escaped, sizeof escaped, "\\u%04x", c);
    else
      escaped[0] = char(c), escaped[1] = 0;
    text += escaped;
  }
  return text + "\"";
}

static std::string floatText(double value) {
  if (std::isnan(value))
    return "nan";
  if (std::isinf(value))
    return value < 0 ? "-inf" : "inf";
  tile::PlainNumbers plain;
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  // The shortest that reads back as the same.
  for (int digits = 1; digits < 17; ++digits) {
    char shorter[40];
    std::snprintf(shorter, sizeof shorter, "%.*g", digits, value);
    double back = 0;
    if (std::sscanf(shorter, "%lf", &back) == 1 && back == value) {
      std::memcpy(text, shorter, sizeof text);
      break;
    }
  }
  std::string result = text;
  return result.find_first_of(".en") == std::string::npos ? result + ".0" : result;
}

/// The text of a constexpr; `words` is moved behind its value.
static std::string constantText(Unpacked code, const uint64_t *&words) {
  switch (code.known) {
  case TILE_VALUE_NONE:
    return "null";
  case TILE_VALUE_INT:
    return std::to_string(int64_t(*words++));
  case TILE_VALUE_UINT:
    return std::to_string(*words++);
  case TILE_VALUE_BOOL:
    return *words++ ? "true" : "false";
  case TILE_VALUE_FLOAT: {
    double value;
    std::memcpy(&value, words++, sizeof value);
    return floatText(value);
  }
  case TILE_VALUE_DTYPE:
    return std::string("tl.") + languageNames[code.dtype];
  default: {
    size_t length = *words++;
    std::string text = quoted(words, length);
    words += (length + 7) / 8;
    return text;
  }
  }
}

static std::string descriptorText(uint8_t dtype, const uint64_t *&words) {
  std::string text = std::string("tensordesc<") + nameOf(dtype) + "[";
  unsigned last = unsigned(words[2] >> 32), rank = last & 255;
  for (unsigned d = 0; d < rank; ++d)
    text += (d ? "," : "") + std::to_string(uint32_t(words[d / 2] >> (d % 2 * 32)));
  words += 3;
  return text + (last & 256 ? "],nan>" : "]>");
}

void tile::dispatch::describe(const Parameter *parameters, unsigned count, const uint64_t *words,
                              Described &out) {
  const uint64_t *more = words + (count + 3) / 4;
  out.signature.clear();
  out.numConstants = 0;
  bool isFirst = true;
  for (unsigned i = 0; i < count; ++i) {
    Unpacked code = unpack(words, i);
    if (code.code == Code::Constexpr) {
      Described::Constant &constant = out.constants[out.numConstants++];
      constant.parameter = i;
      constant.text = constantText(code, more);
      continue;
    }
    std::string text;
    if (code.code == Code::None)
      text = "none";
    else if (code.code == Code::Descriptor)
      text = descriptorText(code.dtype, more);
    else
      text = nameOf(code.dtype);
    if (code.code == Code::Pointer)
      text = (parameters[i].flags & Parameter::ReadOnly ? "*k" : "*") + text;
    if (code.known)
      text += code.known == One ? ":1" : ":16";
    out.signature += (isFirst ? "" : ",") + text;
    isFirst = false;
  }
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

static const char *kindName(uint8_t kind) {
  static const char *const names[] = {"None",         "a pointer", "an integer",
                                      "an integer",   "a float",   "a bool",
                                      "a descriptor", "a type",    "a text"};
  return kind < sizeof names / sizeof *names ? names[kind] : "a value of no known kind";
}

std::string tile::dispatch::explain(const Refusal &refusal, const Parameter *parameters,
                                    const tile_value *values) {
  if (refusal.why == Why::TooMany && refusal.argument > kMostArguments)
    return "at most " + std::to_string(kMostArguments) + " arguments are possible";
  const Parameter &parameter = parameters[refusal.argument];
  const tile_value &value = values[refusal.argument];
  std::string text = std::string("argument `") + parameter.name + "`: ";
  switch (refusal.why) {
  case Why::None:
    break;
  case Why::TooMany:
    return text + "what decides the kernel's code, up to here, takes more than is possible";
  case Why::Kind: {
    std::string wanted = parameter.dtype                          ? nameOf(parameter.dtype)
                         : parameter.flags & Parameter::Constexpr ? "a compile-time value"
                         : parameter.flags & Parameter::IsPointer ? "a pointer"
                                                                  : "a value";
    return text + kindName(value.kind) + " is passed where " + wanted + " is asked for";
  }
  case Why::Range:
    return text +
           (value.kind == TILE_VALUE_UINT ? std::to_string(uint64_t(value.as.bits))
                                          : std::to_string(value.as.integer)) +
           " is out of range for `" + nameOf(parameter.dtype) + "`";
  case Why::ElementType:
    return text + "its element type is not given: set `dtype`";
  case Why::Descriptor:
    return text + "a descriptor needs 1 to 5 dimensions, a base aligned to 16 bytes and "
                  "positive block sizes";
  case Why::Text:
    return text + "a text of up to " + std::to_string(kMostText) + " bytes is possible";
  }
  return text;
}
