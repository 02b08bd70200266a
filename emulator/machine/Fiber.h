//===- Fiber.h - stacks that take turns on one host thread ----------------===//
//
// Every CUDA thread of a running CTA is a fiber: a stack and a saved stack
// pointer. A switch saves the registers that a call preserves and nothing else,
// because a switch is a call.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_EMULATOR_MACHINE_FIBER_H
#define TILE_EMULATOR_MACHINE_FIBER_H

#include <cstddef>
#include <vector>

namespace tile::emu {

/// A point at which execution stopped and can go on.
using FiberContext = void *;

/// Stops here, storing the place in `from`, and goes on at `to`.
void switchFiber(FiberContext &from, FiberContext to);

/// A context that calls `entry(argument)` when first switched to. `entry` must
/// not return.
FiberContext makeFiber(void *stack, size_t bytes, void (*entry)(void *), void *argument);

/// Stacks of one size with an inaccessible page below each, kept for the next user. What is not
/// touched takes no memory.
class StackPool {
public:
  /// `bytes` is a whole number of pages.
  explicit StackPool(size_t bytes) : bytes(bytes) {}
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;
  ~StackPool();
  /// The lowest usable byte of a stack; null when out of memory.
  void *take();
  void give(void *stack) { free.push_back(stack); }
  size_t bytesOfEach() const { return bytes; }

private:
  size_t bytes;
  std::vector<void *> blocks, free;
};

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_FIBER_H
