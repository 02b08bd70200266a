//===- Warpgroup.h - matrix products of a warpgroup, and their operands ---===//
//
// A product is what its four warps have issued: operands as descriptors of shared memory or as
// registers, and for each lane the slots in which its accumulators are while it runs.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_HOOKS_WARPGROUP_H
#define TILE_EMULATOR_HOOKS_WARPGROUP_H

#include "emulator/machine/Async.h"
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Matrix.h"
#include "emulator/machine/TensorMap.h"

namespace tile::emu {

/// Of a product's operands.
enum : uint32_t { kTransA = 1, kTransB = 2, kNegateA = 4, kNegateB = 8, kAInRegisters = 16 };

struct Product {
  MatrixShape shape;
  uint64_t descriptorA = 0, descriptorB = 0;
  uint32_t scaleD = 0, flags = 0;
  SiteId site = 0;
  uint32_t joined = 0;          ///< warps, a mask
  std::vector<uint32_t> slots;  ///< of lane l: from l * accumulator registers
  std::vector<uint32_t> aWords; ///< of lane l: from 4 * l
  Clock clock;                  ///< of the warps checked so far
};

struct Warpgroup {
  Cta *cta = nullptr;
  unsigned index = 0;
  Component component = 0;
  std::deque<Product> products; ///< from number `first` on
  Tick first = 1;
  Tick next[4] = {1, 1, 1, 1}; ///< the product each warp issues next
  Tick committed[4] = {};      ///< ... has committed up to
  std::deque<Tick> groups[4];  ///< the last product of each group that is not waited for
  Tick waited[4] = {};         ///< products each warp knows to be over
  bool fenced[4] = {};
  Tick started = 0;                          ///< products that all four warps have issued
  std::vector<std::vector<uint32_t>> values; ///< by lane and slot
  std::vector<std::vector<Tick>> owner;      ///< the last product that writes a slot
  std::vector<Thread *> waiters;
  Product &product(Tick number) { return products[number - first]; }
};

/// A matrix operand as its descriptor says, bit by bit.
struct SharedOperand {
  uint32_t start, leading, stride; ///< bytes
  unsigned span;                   ///< of the swizzle; 0: none
  bool mnMajor;
  unsigned bytes; ///< of an element
  /// The offset of element (mn, k), by the tables of the instruction.
  uint32_t at(unsigned mn, unsigned k) const {
    uint32_t kBytes = k * bytes, mnBytes = mn * bytes, offset;
    if (!mnMajor)
      offset = span ? (mn / 8) * stride + (mn % 8) * span + kBytes
                    : (kBytes / 16) * leading + (mn / 8) * stride + (mn % 8) * 16 + kBytes % 16;
    else
      offset = span
                   ? (mnBytes / span) * leading + (k / 8) * stride + (k % 8) * span + mnBytes % span
                   : (mnBytes / 16) * stride + (k / 8) * leading + (k % 8) * 16 + mnBytes % 16;
    return swizzled(start + offset, span);
  }
};

/// What a descriptor says; reports bits that mean nothing, or something else than was meant.
SharedOperand decodeDescriptor(Thread &t, uint64_t descriptor, bool mnMajor, unsigned bytes,
                               SiteId site);
/// Whether everything that the operand reads is shared memory of the kernel; reports if not.
bool inBounds(Thread &t, const SharedOperand &o, unsigned mn, unsigned k, SiteId site);
/// Enters the reading into the history, in runs of 16 bytes.
void recordReads(Thread &t, Warpgroup &g, Tick number, const SharedOperand &o, unsigned mn,
                 unsigned k, SiteId site);

/// Multiplies, and leaves the sums in the product's slots. Operands have been checked.
void compute(Warpgroup &g, Tick number);

} // namespace tile::emu

#endif // TILE_EMULATOR_HOOKS_WARPGROUP_H
