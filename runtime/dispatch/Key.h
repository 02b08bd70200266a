//===- Key.h - from the values of a launch to the variant that serves it --===//
//
// What Triton calls specialisation, made for every launch: the kinds and types of the
// arguments, the integers that are 1 or divisible by 16, the pointers that are aligned
// and the values of the constexprs that are arguments decide which code runs. They are
// written into a few words, the key; two launches with equal keys run the same code.
//
// Plain C++ with nothing of LLVM, no allocation and no lock: this runs at each launch,
// in libtile and in the run-time library of kernels that were built ahead.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DISPATCH_KEY_H
#define TILE_RUNTIME_DISPATCH_KEY_H

#include "tile/jit.h"
#include <string>

namespace tile::dispatch {

/// How the values of one parameter are read. Plain data: generated code has tables of it.
struct Parameter {
  enum Flag : uint8_t {
    Constexpr = 1, ///< its value decides the code
    NoOne = 2,     ///< an integer that is 1 stays a run-time value
    NoAlign = 4,   ///< multiples of 16 are not promised
    ReadOnly = 8,  ///< a pointer to const
    IsPointer = 16 ///< annotated as a pointer
  };
  const char *name;
  uint8_t flags;
  uint8_t dtype; ///< tile_dtype of the number that the annotation asks for; TILE_DTYPE_NONE
};

constexpr unsigned kMostArguments = 128;
constexpr unsigned kMostText = 256; ///< bytes of a constexpr that is a text

struct Key {
  static constexpr unsigned kCapacity = 96;
  unsigned size = 0;
  uint64_t words[kCapacity];

  bool add(uint64_t word) {
    if (size == kCapacity)
      return false;
    words[size++] = word;
    return true;
  }
  uint64_t hash() const;
};

/// Why values cannot be passed; `argument` is the index of the first.
struct Refusal {
  enum class Why : uint8_t {
    None,
    TooMany,     ///< arguments, or words of the key
    Kind,        ///< a number for a pointer, say
    Range,       ///< an integer that its type does not hold
    ElementType, ///< a pointer whose element type is not said
    Descriptor,  ///< rank, base or block that cannot be
    Text         ///< too long
  };
  Why why = Why::None;
  unsigned argument = 0;
  explicit operator bool() const { return why != Why::None; }
};

/// What a launch passes on: one pointer an entry of the signature, and numbers whose
/// bytes are not the caller's.
struct Values {
  const void *pointers[kMostArguments];
  uint64_t converted[kMostArguments];
  unsigned size = 0;
};

/// Appends `count` values of the parameters to `key` and points `out` at them. The
/// values must outlive its use.
Refusal readValues(const Parameter *parameters, unsigned count, const tile_value *values, Key &key,
                   Values &out);

/// Appends to `out` what a configuration is chosen by: kinds and types of all arguments,
/// and the values of those whose indices are in `chosen`. `words` begin with what readValues
/// appended.
bool addTuningWords(const Parameter *parameters, unsigned count, const uint64_t *words,
                    const tile_value *values, const unsigned *chosen, unsigned numChosen, Key &out);

/// A key taken apart again: what the variant is compiled for.
struct Described {
  std::string signature;
  /// Of constexpr parameters: index, text as in a tile_constexpr.
  struct Constant {
    unsigned parameter;
    std::string text;
  };
  Constant constants[kMostArguments];
  unsigned numConstants = 0;
};
/// `words` begin with what readValues appended.
void describe(const Parameter *parameters, unsigned count, const uint64_t *words, Described &out);

/// A sentence for people.
std::string explain(const Refusal &refusal, const Parameter *parameters, const tile_value *values);

/// "fp32"; "?" for none.
const char *nameOf(uint8_t dtype);
/// TILE_DTYPE_NONE if there is no such type.
uint8_t dtypeNamed(const char *name);

} // namespace tile::dispatch

#endif // TILE_RUNTIME_DISPATCH_KEY_H
