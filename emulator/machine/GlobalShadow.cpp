//===- GlobalShadow.cpp - global memory among the threads of one CTA -------===//
#include "emulator/machine/GlobalShadow.h"
#include "emulator/machine/Memory.h"
#include "text/Format.h"

using namespace tile::emu;
using tile::formatted;

GlobalShadow::Page &GlobalShadow::pageOf(uint64_t number) {
  if (last && number == lastNumber)
    return *last;
  if (pages.size() >= kMostPages)
    pages.clear();
  std::unique_ptr<Page> &page = pages[number];
  if (!page)
    page = std::make_unique<Page>();
  lastNumber = number, last = page.get();
  return *last;
}

/// Whether the thread of `now` comes after an earlier access.
static bool isAfter(Event earlier, Event now, const Clock &clock) {
  return !earlier || earlier.component() == now.component() ||
         clock.knows(earlier.component(), earlier.tick());
}

Conflict GlobalShadow::read(Page &page, unsigned at, Event event, const Clock &clock) {
  if (!isAfter(page.writes[at], event, clock))
    return {Conflict::WriteRead, page.writes[at]};
  if (isAfter(page.oldest[at], event, clock))
    page.oldest[at] = event;
  else
    page.newest[at] = event;
  return {};
}

Conflict GlobalShadow::write(Page &page, unsigned at, Event event, const Clock &clock) {
  Conflict conflict;
  for (Event earlier : {page.oldest[at], page.newest[at]})
    if (!isAfter(earlier, event, clock))
      conflict = {Conflict::ReadWrite, earlier};
  if (!isAfter(page.writes[at], event, clock))
    conflict = {Conflict::WriteWrite, page.writes[at]};
  page.writes[at] = event;
  page.oldest[at] = page.newest[at] = Event();
  return conflict;
}

Conflict GlobalShadow::touch(uint64_t address, uint32_t bytes, bool writes, Event event,
                             const Clock &clock) {
  Conflict conflict;
  for (uint32_t i = 0; i < bytes && !conflict.kind; ++i) {
    Page &page = pageOf((address + i) / kPageBytes);
    auto at = unsigned((address + i) % kPageBytes);
    conflict = writes ? write(page, at, event, clock) : read(page, at, event, clock);
    conflict.offset = i;
  }
  return conflict;
}

/// Two stores by one instruction may leave the same number in one place, as where lanes hold copies
/// of each other's elements; which one is last of different numbers is the kernel's matter.
void tile::emu::checkAmongThreads(Thread &t, uint64_t address, uint32_t bytes, uint32_t access,
                                  SiteId site) {
  Event event(t.component, t.tick, site, /*async=*/false);
  bool writes = (access & kKindMask) != kRead;
  Conflict conflict = t.cta->globalShadow->touch(address, bytes, writes, event, t.clock);
  bool isOneStore = conflict.kind == Conflict::WriteWrite && conflict.other.site() == event.site();
  if (!conflict.kind || isOneStore)
    return;
  const char *earlier = conflict.kind == Conflict::ReadWrite ? "read" : "written";
  std::string who = describeComponent(*t.cluster, conflict.other.component());
  report(t, FindingKind::Race, site,
         formatted("data race: {} {} global memory at address {:#x}, and nothing orders this after "
                   "a {} by {}",
                   writes ? "a store" : "a load", writes ? "writes" : "reads",
                   address + conflict.offset,
                   conflict.kind == Conflict::ReadWrite ? "read" : "write", who),
         conflict.other.site(), formatted("{} here by {}", earlier, who));
}
