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

/// Stacks with an inaccessible page below each, kept for the next user.
class StackPool {
public:
  /// A warp that holds several blocks of 128 x 128 alone has more values a lane than registers, and
  /// all of them may be in one frame. What is not touched takes no memory.
  static constexpr size_t kStackBytes = 2048 * 1024;
  StackPool() = default;
  StackPool(const StackPool &) = delete;
  StackPool &operator=(const StackPool &) = delete;
  ~StackPool();
  /// The lowest usable byte of a stack of kStackBytes; null when out of memory.
  void *take();
  void give(void *stack) { free.push_back(stack); }

private:
  std::vector<void *> blocks, free;
};

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_FIBER_H
