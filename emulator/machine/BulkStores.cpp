//===- BulkStores.cpp - bulk copies from shared to global memory ----------===//
//
// A store reads its source, and then writes. `wait_group.read` waits for the first
// only: the source may be used again, but what has been written is not there to be
// read, by this thread or another, before a wait without `.read`.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Async.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"

using namespace tile::emu;
using tile::formatted;

void tile::emu::startBulkStore(Thread &t, const SharedRange &from, uint32_t bytes, const char *what,
                               StoreInFlight store, std::function<void(const uint8_t *)> write) {
  AsyncGroups &groups = t.bulk;
  groupComponent(t, groups, what);
  groups.lastUsed = groups.open, groups.lastSite = store.site, groups.lastOffset = from.offset;
  asyncSharedRead({&t, t.clock, groups.component, groups.open, store.site, what}, *from.cta,
                  from.offset, bytes);
  auto image = std::make_shared<std::vector<uint8_t>>();
  auto read = [=] {
    if (image->empty())
      image->assign(from.data(), from.data() + bytes);
  };
  groups.collected.push_back(read);
  groups.writes.push_back([=] {
    read();
    write(image->data());
  });
  store.component = groups.component, store.group = groups.open;
  if (!store.rows.empty() && t.cta->shadow)
    t.cluster->stores.push_back(std::move(store));
}

void tile::emu::waitForBulkStores(Thread &t, uint32_t allowed, bool untilRead) {
  AsyncGroups &groups = t.bulk;
  waitForGroups(t, groups, allowed);
  Tick committed = groups.open - 1;
  if (untilRead || committed <= allowed || committed - allowed <= groups.written)
    return;
  groups.written = committed - allowed;
  completeStream(*t.cluster, groups.component | kWrites, groups.written);
  llvm::erase_if(t.cluster->stores, [&](const StoreInFlight &s) {
    return s.component == groups.component && s.group <= groups.written;
  });
}

void tile::emu::checkStoresInFlight(Thread &t, uint64_t address, uint64_t bytes, uint32_t access,
                                    SiteId site) {
  uint32_t kind = access & kKindMask;
  for (const StoreInFlight &s : t.cluster->stores) {
    if (address + bytes <= s.rows.front().base ||
        address >= s.rows.back().base + s.rows.back().bytes || (s.reduces && kind == kAtomic))
      continue;
    auto row = llvm::find_if(s.rows, [&](const MemoryRange &r) {
      return address < r.base + r.bytes && r.base < address + bytes;
    });
    if (row == s.rows.end())
      continue;
    report(t, FindingKind::Race, site,
           formatted("data race: address {:#x} of global memory is {}, and nobody has waited until "
                     "what a bulk store writes there has arrived: that takes "
                     "`cp.async.bulk.wait_group` without `.read`",
                     std::max(address, row->base), kind == kRead ? "read" : "written"),
           s.site, formatted("written here by {}", describeComponent(*t.cluster, s.component)));
    return;
  }
}
