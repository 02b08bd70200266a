//===- SortedSums.cpp - sums of floats that do not depend on the order ----===//
#include "emulator/machine/SortedSums.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace tile::emu;

void SortedSums::add(uint64_t address, AtomicKind kind, unsigned bytes, uint64_t old, uint64_t term,
                     uint64_t sum) {
  auto [at, isNew] = sums.try_emplace(address);
  Sum &s = at->second;
  if (isNew || s.kind != kind || s.bytes != bytes || s.last != old)
    s = {kind, bytes, old, old, {}};
  s.terms.push_back(term);
  s.last = sum;
}

void SortedSums::touch(uint64_t address, uint64_t bytes) {
  if (seen)
    return;
  auto held = lock();
  constexpr uint64_t kWidest = 8;
  for (auto at = sums.lower_bound(address - std::min(address, kWidest - 1));
       at != sums.end() && at->first < address + bytes; ++at)
    if (at->first + at->second.bytes > address)
      seen = true;
}

void SortedSums::finish() {
  for (auto &[address, sum] : sums) {
    auto *place = reinterpret_cast<void *>(address);
    uint64_t now = 0;
    std::memcpy(&now, place, sum.bytes); // as on every GPU, low bytes come first
    if (now != sum.last)
      continue;
    llvm::sort(sum.terms);
    now = sum.first;
    for (uint64_t term : sum.terms)
      now = applyAtomic(sum.kind, now, term, 0, sum.bytes);
    std::memcpy(place, &now, sum.bytes);
  }
}
