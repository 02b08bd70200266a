//===- CtaExit.cpp - who may still use the shared memory of a CTA that ends ===//
//
// Shared memory is a CTA's own only until its last thread ends; then another CTA
// gets it. Copies that nobody has waited for, and arrivals and accesses of other
// CTAs of the cluster that are not known to be over, come too late.
//
//===----------------------------------------------------------------------===//
#include "emulator/machine/Machine.h"
#include "text/Format.h"

using namespace tile::emu;
using tile::formatted;

void tile::emu::visit(Cta &cta, Component who, Tick tick, SiteId site) {
  auto &[last, place] = cta.visitors[who];
  last = tick, place = site;
}

void tile::emu::checkVisitorsAtExit(Thread &t) {
  Cta &cta = *t.cta;
  if (cta.visitors.empty())
    return;
  cta.ends.add(t.clock, t.component, t.tick);
  if (cta.liveThreads || !cta.shadow)
    return;
  Clock known = cta.ends.take();
  for (const auto &[who, visit] : cta.visitors) {
    auto [tick, site] = visit;
    if (known.knowsOver(who, tick))
      continue;
    bool async = who >= t.cluster->firstAsyncComponent;
    report(t, async ? FindingKind::LeakedAsync : FindingKind::Race, site,
           formatted("CTA ({}, {}, {}) ends, and with it its shared memory, which {} may still "
                     "use: nobody has waited for that",
                     cta.id[0], cta.id[1], cta.id[2], describeComponent(*t.cluster, who)));
  }
}
