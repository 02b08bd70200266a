//===- HooksTensor.cpp - copies of boxes of tensors -----------------------===//
//
// A box is rows of the innermost dimension, one behind the other in shared
// memory, each cut into chunks of 16 bytes that the swizzle moves. What lies
// outside of the tensor arrives as zeros and is not stored.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Async.h"
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Numbers.h"
#include "emulator/machine/TensorMap.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace tile::emu;
using tile::formatted;

namespace {

struct Box {
  TensorMap map;
  int64_t at[5] = {};
  uint32_t rowBytes() const { return uint32_t(map.box[0]) * map.elementBytes; }
  uint32_t rows() const {
    uint32_t n = 1;
    for (unsigned d = 1; d < map.rank; ++d)
      n *= map.box[d];
    return n;
  }
  uint32_t bytes() const { return rowBytes() * rows(); }
  /// The global address of a row's first element (it may lie outside of the
  /// tensor), and whether the other coordinates are inside.
  bool row(uint32_t r, uint64_t &address) const {
    int64_t offset = at[0] * map.elementBytes;
    bool inside = true;
    for (unsigned d = 1; d < map.rank; ++d) {
      int64_t c = at[d] + r % map.box[d];
      r /= map.box[d];
      inside &= c >= 0 && uint64_t(c) < map.dims[d];
      offset += c * int64_t(map.strides[d - 1]);
    }
    address = map.base + uint64_t(offset);
    return inside;
  }
  /// The part of a row that lies inside the tensor, in bytes.
  void clip(uint32_t &from, uint32_t &to) const {
    int64_t first = std::max<int64_t>(0, -at[0]);
    int64_t last = std::min<int64_t>(map.box[0], int64_t(map.dims[0]) - at[0]);
    last = std::max(first, last);
    from = uint32_t(std::min<int64_t>(first, map.box[0])) * map.elementBytes;
    to = uint32_t(std::min<int64_t>(last, map.box[0])) * map.elementBytes;
    to = std::max(from, to);
  }
};

} // namespace

/// Reads the map and checks what the hardware would fault on.
static Box readBox(Thread &t, uint64_t mapAddress, const int32_t *coordinates, uint32_t rank,
                   uint32_t shared, SiteId site) {
  Box box;
  auto bad = [&](std::string message) {
    report(t, FindingKind::BadOperand, site, std::move(message));
    abandon(t);
  };
  if (mapAddress % 64)
    bad("a tensor map must be at a multiple of 64 bytes");
  if (!isOwnObject(t, mapAddress, sizeof(TensorMap), /*writes=*/false) &&
      !globalInBounds(t, mapAddress, sizeof(TensorMap), kRead, site))
    abandon(t);
  std::memcpy(&box.map, reinterpret_cast<const void *>(mapAddress), sizeof(TensorMap));
  if (box.map.magic != TensorMap::kMagic)
    bad("this is no tensor map");
  if (box.map.rank != rank)
    bad(formatted("the tensor map has {} dimensions, and the copy {}", int(box.map.rank), rank));
  for (uint32_t d = 0; d < rank; ++d)
    box.at[d] = coordinates[d];
  if (box.at[0] * box.map.elementBytes % 16)
    bad(formatted("the innermost coordinate {} is not at a multiple of 16 bytes", box.at[0]));
  if (shared % 128)
    bad(formatted("shared offset {} of a tensor copy is not a multiple of 128 bytes",
                  (shared & kSharedOffsetMask) - kSharedReserved));
  return box;
}

/// Every byte that the copy touches must be in a buffer; there is no copy otherwise.
static void checkGlobal(Thread &t, const Box &box, AccessKind kind, SiteId site) {
  uint32_t from, to;
  box.clip(from, to);
  if (from == to)
    return;
  for (uint32_t r = 0; r < box.rows(); ++r) {
    uint64_t address;
    if (box.row(r, address) && !globalInBounds(t, address + from, to - from, kind, site))
      abandon(t);
  }
}

/// What lies inside of the tensor.
static std::vector<MemoryRange> rowsOf(const Box &box) {
  std::vector<MemoryRange> rows;
  uint32_t from, to;
  box.clip(from, to);
  for (uint32_t r = 0; from < to && r < box.rows(); ++r) {
    uint64_t address;
    if (box.row(r, address))
      rows.push_back({address + from, to - from});
  }
  llvm::sort(rows, [](const MemoryRange &a, const MemoryRange &b) { return a.base < b.base; });
  return rows;
}

/// Calls `move(shared, global or null, bytes)` for each chunk of 16 bytes or its
/// parts inside and outside of the tensor.
template <typename Move> static void forChunks(const Box &box, uint32_t offset, Move move) {
  uint32_t from, to;
  box.clip(from, to);
  uint32_t rowBytes = box.rowBytes();
  for (uint32_t r = 0; r < box.rows(); ++r) {
    uint64_t address;
    bool inside = box.row(r, address);
    for (uint32_t x = 0; x < rowBytes;) {
      uint32_t chunkEnd = std::min(rowBytes, (x | 15) + 1), end = chunkEnd;
      bool in = inside && x >= from && x < to;
      if (inside)
        for (uint32_t edge : {from, to})
          if (edge > x && edge < end)
            end = edge;
      uint32_t place = offset + r * rowBytes + x;
      uint32_t moved = swizzled(place & ~15u, box.map.swizzle) | (place & 15);
      move(moved, in ? address + x : 0, end - x);
      x = end;
    }
  }
}

extern "C" {

void tileEmuTensorLoad(Thread *t, uint32_t to, uint64_t mapAddress, const int32_t *coordinates,
                       uint32_t rank, uint32_t barrier, uint32_t mask, uint32_t site) {
  Cluster &c = *t->cluster;
  if (c.worker->log)
    countInstruction(*t, site);
  Box box = readBox(*t, mapAddress, coordinates, rank, to, site);
  checkGlobal(*t, box, kRead, site);
  ++c.worker->counters.bulkCopies;
  c.worker->counters.bulkLoadBytes += box.bytes();
  uint32_t targets = mask ? mask : 1u << (to >> kSharedRankShift);
  checkTargets(*t, mask, site);
  for (uint32_t rankOf = 0; rankOf < c.ctas.size(); ++rankOf) {
    if (!(targets >> rankOf & 1))
      continue;
    auto at = [&](uint32_t address) {
      return (address & kSharedOffsetMask) | rankOf << kSharedRankShift;
    };
    SharedRange range = resolveShared(*t, at(to), box.bytes(), site);
    if (!range.cta)
      abandon(*t);
    Signal signal = expectSignal(*t, findMBarrier(*t, at(barrier), site, /*async=*/true));
    asyncSharedWrite({t, t->clock, signal.barrier->component, signal.tick, site, "a tensor copy"},
                     *range.cta, range.offset, box.bytes());
    visit(*range.cta, signal.barrier->component, signal.tick, site);
    startAsync(c, 0, 0, [=] {
      uint8_t *shared = range.cta->shared.get();
      forChunks(box, range.offset, [&](uint32_t place, uint64_t from, uint32_t bytes) {
        if (from)
          std::memcpy(shared + place, reinterpret_cast<const void *>(from), bytes);
        else
          std::memset(shared + place, 0, bytes);
      });
      signalBytes(signal, box.bytes());
    });
  }
  maybeYield(*t);
}

/// `reduction`: 0 stores; else 1 + AtomicKind.
void tileEmuTensorStore(Thread *t, uint64_t mapAddress, const int32_t *coordinates, uint32_t rank,
                        uint32_t from, uint32_t reduction, uint32_t site) {
  Cluster &c = *t->cluster;
  if (c.worker->log)
    countInstruction(*t, site);
  Box box = readBox(*t, mapAddress, coordinates, rank, from, site);
  for (uint32_t d = 0; d < rank; ++d)
    if (box.at[d] < 0) { // where a load reads zeros, the hardware faults
      report(*t, FindingKind::BadOperand, site,
             formatted("coordinate {} of a tensor store is {}, and it must not be negative", d,
                       box.at[d]));
      abandon(*t);
    }
  uint32_t begin, end;
  box.clip(begin, end);
  if (begin < end && end < box.rowBytes() && end % 16 != 0) {
    report(
        *t, FindingKind::BadOperand, site,
        "a tensor store reaches the end of rows that is not at a multiple of 16 bytes: what lies "
        "behind it is overwritten");
    abandon(*t);
  }
  checkGlobal(*t, box, reduction ? kAtomic : kWrite, site);
  ++c.worker->counters.bulkCopies;
  c.worker->counters.bulkStoreBytes += box.bytes();
  SharedRange range = resolveShared(*t, from, box.bytes(), site);
  if (!range.cta)
    abandon(*t);
  StoreInFlight store;
  store.site = site, store.reduces = reduction, store.rows = rowsOf(box);
  startBulkStore(*t, range, box.bytes(), "a tensor store", std::move(store), [=](const uint8_t *b) {
    forChunks(box, range.offset, [&](uint32_t place, uint64_t to, uint32_t bytes) {
      if (!to)
        return;
      const uint8_t *read = b + (place - range.offset);
      if (!reduction) {
        std::memcpy(reinterpret_cast<void *>(to), read, bytes);
        return;
      }
      unsigned each = box.map.elementBytes;
      for (uint32_t x = 0; x < bytes; x += each) {
        uint64_t old = 0, operand = 0;
        auto *word = reinterpret_cast<uint8_t *>(to) + x;
        std::memcpy(&old, word, each);
        std::memcpy(&operand, read + x, each);
        uint64_t next = applyAtomic(AtomicKind(reduction - 1), old, operand, 0, each);
        std::memcpy(word, &next, each);
      }
    });
  });
}
}

llvm::ArrayRef<Hook> tile::emu::tensorCopyHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuTensorLoad), TILE_HOOK(tileEmuTensorStore)};
  return hooks;
}
