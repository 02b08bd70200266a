//===- Memory.h - accesses to the emulated memories -----------------------===//
#ifndef TILE_EMULATOR_MACHINE_MEMORY_H
#define TILE_EMULATOR_MACHINE_MEMORY_H

#include "emulator/machine/Machine.h"

namespace tile::emu {

enum AccessKind : uint32_t { kRead = 1, kWrite = 2, kAtomic = 3 };

/// What else hooks are told of an access, in one word: its kind, the bits of its
/// ordering, and above kAlignmentShift its alignment, if that is not its size.
enum Ordering : uint32_t {
  kStrong = 4, ///< volatile, relaxed, ..., or atomic
  kAcquires = 8,
  kReleases = 16,
  kClusterScope = 32, ///< or wider
  kGpuScope = 64,     ///< or wider
};
constexpr uint32_t kKindMask = 3;
constexpr unsigned kAlignmentShift = 8;

/// The host address of an access to global memory; memory that nobody reads
/// after a report.
void *globalAddress(Thread &thread, uint64_t address, uint32_t bytes, uint32_t access, SiteId site);
/// Reports a plain access that nothing orders after another thread's of the CTA.
void checkAmongThreads(Thread &thread, uint64_t address, uint32_t bytes, uint32_t access,
                       SiteId site);
/// Whether the bytes lie in one buffer; reports if not.
bool globalInBounds(Thread &thread, uint64_t address, uint64_t bytes, uint32_t access, SiteId site);
/// Whether the bytes lie in one of the thread's private variables, in one of the module's
/// that may be accessed so, or in a parameter.
bool isOwnObject(const Thread &thread, uint64_t address, uint64_t bytes, bool writes);
/// Whether the address is in the block that holds the thread's private variables.
bool inPrivateMemory(const Thread &thread, uint64_t address);
/// A string that ends in a zero, wherever it is; nothing after a report.
std::optional<std::string> readString(Thread &thread, uint64_t address, SiteId site);
/// ... to shared memory, through the generic proxy, with the access checked
/// against those before it.
void *sharedAddress(Thread &thread, uint32_t address, uint32_t bytes, uint32_t access, SiteId site);

/// A place in the shared memory of a CTA of the cluster.
struct SharedRange {
  Cta *cta = nullptr; ///< null after a report
  uint32_t offset = 0;
  uint8_t *data() const { return cta->shared.get() + offset; }
};
/// The place of an access through the generic proxy that is checked, not counted.
SharedRange checkedShared(Thread &thread, uint32_t address, uint32_t bytes, uint32_t access,
                          SiteId site);
/// Bounds only: no check of order.
SharedRange resolveShared(Thread &thread, uint32_t address, uint32_t bytes, SiteId site);

/// Reports what is wrong with an access to shared memory.
void reportConflict(Thread &thread, Cta &cta, const Conflict &conflict, SiteId site,
                    const char *what);

/// An asynchronous operation's access: `clock` is what it was issued after.
struct AsyncAccess {
  Thread *issuer;
  Clock clock;
  Component component;
  Tick tick;
  SiteId site;
  const char *what;          ///< "a bulk copy"
  bool genericProxy = false; ///< cp.async
};
void asyncSharedRead(const AsyncAccess &access, Cta &cta, uint32_t offset, uint32_t bytes);
void asyncSharedWrite(const AsyncAccess &access, Cta &cta, uint32_t offset, uint32_t bytes);

//===--- order made by memory itself (Order.cpp) --------------------------===//

/// A strong access leaves what its thread releases at the address...
void publish(Thread &thread, uint64_t address, bool shared, uint32_t access);
/// ... and takes what others have left there.
void observe(Thread &thread, uint64_t address, bool shared, uint32_t access);

//===--- counting (Counters.cpp) ------------------------------------------===//

LogPtr makeAccessLog();
void finishLog(Worker &worker);
void countAccess(Thread &thread, SiteId site, bool shared, bool write, uint64_t address,
                 uint32_t bytes);
/// A lane that a predicate keeps from an access.
void countSkipped(Thread &thread, SiteId site, bool shared, bool write);
void countInstruction(Thread &thread, SiteId site);

} // namespace tile::emu

#endif // TILE_EMULATOR_MACHINE_MEMORY_H
