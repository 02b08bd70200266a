//===- HooksPrivate.cpp - private memory, constants, parameters -----------===//
//
// What a thread may touch beside global and shared memory: its own variables, those of
// the module and the kernel's parameters. Everything else of the host is out of bounds.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Async.h"
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Memory.h"
#include <cstdlib>
#include <cstring>

using namespace tile::emu;

/// Whether `bytes` at `at` lie in an object of that size; nothing wraps.
static bool holds(uint64_t base, uint64_t size, uint64_t at, uint64_t bytes) {
  return at - base <= size && bytes <= size - (at - base);
}

bool tile::emu::inPrivateMemory(const Thread &t, uint64_t address) {
  auto base = reinterpret_cast<uint64_t>(t.privateMemory.get());
  return base && address - base < t.cluster->launch->translation->privateBytes;
}

bool tile::emu::isOwnObject(const Thread &t, uint64_t address, uint64_t bytes, bool writes) {
  const Launch &launch = *t.cluster->launch;
  if (inPrivateMemory(t, address)) {
    uint64_t at = address - reinterpret_cast<uint64_t>(t.privateMemory.get());
    for (const Translation::PrivateObject &o : launch.translation->privateObjects)
      if (at >= o.offset && holds(o.offset, o.bytes, at, bytes))
        return true;
    return false;
  }
  auto after = std::upper_bound(launch.objects.begin(), launch.objects.end(), address,
                                [](uint64_t a, const HostObject &o) { return a < o.base; });
  if (after == launch.objects.begin())
    return false;
  const HostObject &o = *std::prev(after);
  return holds(o.base, o.bytes, address, bytes) && (o.writable || !writes);
}

/// The host's address of a piece of memory of any kind; null after a report.
static uint8_t *pieceOf(Thread &t, uint64_t address, uint32_t bytes, uint32_t access, SiteId site) {
  access |= 1u << kAlignmentShift;
  if (address - kGenericShared <= UINT32_MAX) {
    SharedRange range = checkedShared(t, uint32_t(address - kGenericShared), bytes, access, site);
    if (!range.cta)
      return nullptr;
    checkNoMBarrier(t, *range.cta, range.offset, bytes, site, "an access");
    return range.data();
  }
  if (!isOwnObject(t, address, bytes, (access & kKindMask) != kRead) &&
      !globalInBounds(t, address, bytes, access, site))
    return nullptr;
  return reinterpret_cast<uint8_t *>(address);
}

std::optional<std::string> tile::emu::readString(Thread &t, uint64_t address, SiteId site) {
  constexpr size_t longest = 1 << 16;
  std::string text;
  while (text.size() < longest) {
    const uint8_t *c = pieceOf(t, address + text.size(), 1, kRead, site);
    if (!c)
      return std::nullopt;
    if (!*c)
      return text;
    text += char(*c);
  }
  return text;
}

extern "C" {

/// The thread's private memory, as large as the kernel needs it.
void *tileEmuPrivate(Thread *t) {
  uint64_t bytes = t->cluster->launch->translation->privateBytes;
  if (t->privateMemory)
    return t->privateMemory.get();
  t->privateMemory.reset(static_cast<uint8_t *>(std::malloc(bytes)));
  if (!t->privateMemory)
    abandon(*t);
  std::fill_n(t->privateMemory.get(), bytes, kUnwritten);
  return t->privateMemory.get();
}

void tileEmuMemoryCopy(Thread *t, uint64_t to, uint64_t from, uint64_t bytes, uint32_t site) {
  constexpr uint32_t piece = 256; // pieces that overlap are moved as one
  for (uint64_t at = 0; at < bytes; at += piece) {
    // Upwards or downwards, so that nothing is read after it has been overwritten.
    uint64_t left = bytes - at;
    auto n = uint32_t(std::min<uint64_t>(left, piece));
    uint64_t place = to > from ? left - n : at;
    const uint8_t *source = pieceOf(*t, from + place, n, kRead, site);
    uint8_t *target = pieceOf(*t, to + place, n, kWrite, site);
    if (!source || !target)
      return;
    std::memmove(target, source, n);
  }
}

void tileEmuMemoryFill(Thread *t, uint64_t to, uint32_t byte, uint64_t bytes, uint32_t site) {
  constexpr uint32_t piece = 256;
  for (uint64_t at = 0; at < bytes; at += piece) {
    auto n = uint32_t(std::min<uint64_t>(bytes - at, piece));
    uint8_t *target = pieceOf(*t, to + at, n, kWrite, site);
    if (!target)
      return;
    std::memset(target, int(byte & 0xff), n);
  }
}
}

llvm::ArrayRef<Hook> tile::emu::privateHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuPrivate), TILE_HOOK(tileEmuMemoryCopy),
                               TILE_HOOK(tileEmuMemoryFill)};
  return hooks;
}
