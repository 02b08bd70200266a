//===- MemoryOrder.cpp - fences, and order through memory itself ----------===//
//
// A strong access that releases leaves what its thread knows at its address, and one
// that acquires takes it from there; a fence does either for the relaxed ones beside
// it. Threads of one CTA meet so at any scope, threads of different ones only if all
// that takes part has the scope that holds both. Of global memory it is clusters that
// are put in order (GlobalOrder.h).
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/GlobalOrder.h"
#include "emulator/machine/Hooks.h"
#include "emulator/machine/Memory.h"

using namespace tile::emu;

void tile::emu::publish(Thread &t, uint64_t address, bool shared, uint32_t access) {
  if (!shared) {
    if (t.cluster->launch->order)
      t.cluster->launch->order->publish(*t.cluster, address, access);
    return;
  }
  bool releases = access & kReleases;
  if (!releases && !t.fenced[0].generic)
    return;
  OrderingWord &word = t.cluster->words[address];
  Clock now = releases ? release(t) : t.fenced[0];
  word.near[t.cta].acquire(now);
  if (access & kClusterScope)
    word.far.acquire(releases ? now : t.fenced[1]);
}

void tile::emu::observe(Thread &t, uint64_t address, bool shared, uint32_t access) {
  if (!shared) {
    if (t.cluster->launch->order)
      t.cluster->launch->order->observe(*t.cluster, address, access);
    return;
  }
  auto word = t.cluster->words.find(address);
  if (word == t.cluster->words.end())
    return;
  bool acquires = access & kAcquires;
  auto near = word->second.near.find(t.cta);
  if (near != word->second.near.end())
    (acquires ? t.clock : t.seen[0]).acquire(near->second);
  if (access & kClusterScope)
    (acquires ? t.clock : t.seen[1]).acquire(word->second.far);
}

extern "C" void tileEmuFence(Thread *t, uint32_t ordering, uint32_t site) {
  if (t->cluster->worker->log)
    countInstruction(*t, site);
  bool wide = ordering & kClusterScope;
  if (ordering & kAcquires) {
    t->clock.acquire(t->seen[0]);
    if (wide)
      t->clock.acquire(t->seen[1]);
  }
  if (ordering & kReleases) {
    waitForLoads(*t);
    t->fenced[0] = release(*t);
    if (wide)
      t->fenced[1] = t->fenced[0];
  }
  if (ordering & kGpuScope)
    GlobalOrder::fence(t->cluster->order);
}

llvm::ArrayRef<Hook> tile::emu::orderHooks() {
  static const Hook hooks[] = {TILE_HOOK(tileEmuFence)};
  return hooks;
}
