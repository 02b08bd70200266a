//===- Findings.cpp - findings, collected and put into words --------------===//
#include "emulator/machine/Machine.h"
#include "frontend/Located.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::emu;
using tile::formatted;

llvm::StringRef tile::emu::name(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::Uninitialized:
    return "uninitialized";
  case FindingKind::Race:
    return "race";
  case FindingKind::MissingProxyFence:
    return "missing-proxy-fence";
  case FindingKind::NonUniform:
    return "non-uniform";
  case FindingKind::BarrierMismatch:
    return "barrier-mismatch";
  case FindingKind::BarrierMisuse:
    return "barrier-misuse";
  case FindingKind::Deadlock:
    return "deadlock";
  case FindingKind::Stuck:
    return "stuck";
  case FindingKind::TooMuchWork:
    return "too-much-work";
  case FindingKind::LeakedAsync:
    return "leaked-async";
  case FindingKind::AccumulatorInFlight:
    return "accumulator-in-flight";
  case FindingKind::BadDescriptor:
    return "bad-descriptor";
  case FindingKind::BadOperand:
    return "bad-operand";
  case FindingKind::AssertFailed:
    return "assert-failed";
  case FindingKind::Trap:
    return "trap";
  case FindingKind::SchedulesDisagree:
    return "schedules-disagree";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

std::string tile::emu::describe(const Thread &t) {
  return formatted("CTA ({}, {}, {}), warp {}, thread {}", t.cta->id[0], t.cta->id[1], t.cta->id[2],
                   t.warp->index, t.index);
}

std::string tile::emu::describeComponent(const Cluster &cluster, Component component) {
  if (component >= cluster.firstAsyncComponent) {
    size_t i = component - cluster.firstAsyncComponent;
    return i < cluster.componentNames.size() ? cluster.componentNames[i] : "asynchronous work";
  }
  uint32_t perCta = cluster.launch->config.threads;
  uint32_t zeroBased = component - 1, thread = zeroBased % perCta;
  std::string text = formatted("warp {}, thread {}", thread / 32, thread);
  if (cluster.ctas.size() > 1)
    text += formatted(" of CTA rank {}", zeroBased / perCta);
  return text;
}

void tile::emu::report(const Thread &thread, FindingKind kind, SiteId site, std::string message,
                       SiteId otherSite, std::string otherNote) {
  Launch &launch = *thread.cluster->launch;
  launch.findings.add(kind, site, describe(thread), std::move(message), otherSite,
                      std::move(otherNote));
  if (launch.findings.full())
    launch.stop = true;
}

void Findings::add(FindingKind kind, SiteId site, std::string where, std::string message,
                   SiteId otherSite, std::string otherNote) {
  std::lock_guard lock(mutex);
  ++total;
  for (Entry &e : entries)
    if (e.kind == kind && e.site == site && e.otherSite == otherSite) {
      ++e.occurrences;
      return;
    }
  entries.push_back(
      {kind, site, otherSite, std::move(where), std::move(message), std::move(otherNote), 1});
}

Report Findings::take(llvm::ArrayRef<Site> sites, unsigned maxFindings) {
  auto site = [&](SiteId id) { return id < sites.size() ? sites[id] : Site(); };
  Report report;
  for (Entry &e : entries) {
    if (report.findings.size() >= maxFindings) {
      ++report.omitted;
      continue;
    }
    report.findings.push_back({e.kind, site(e.site), std::move(e.message), std::move(e.where),
                               std::move(e.otherNote), site(e.otherSite), e.occurrences});
  }
  return report;
}

bool Report::has(FindingKind kind) const {
  return llvm::any_of(findings, [&](const Finding &f) { return f.kind == kind; });
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static std::string summary(const Finding &f) {
  std::string text = formatted("{} (", f.message);
  if (!f.site.instruction.empty())
    text += formatted("`{}`, ", f.site.instruction);
  text += f.where;
  if (f.occurrences > 1)
    text += formatted("; {} times in all", f.occurrences);
  return text + ")";
}

static std::string otherSummary(const Finding &f) {
  return f.otherNote +
         (f.otherSite.instruction.empty() ? "" : formatted(" (`{}`)", f.otherSite.instruction));
}

static void printPlace(llvm::raw_ostream &os, const Site &site) {
  if (!site.places.empty() && site.places[0].line)
    os << site.places[0].file << ":" << site.places[0].line << ":" << site.places[0].column << ": ";
}

std::string Report::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Finding &f : findings) {
    printPlace(os, f.site);
    os << "error: " << name(f.kind) << ": " << summary(f) << "\n";
    if (!f.otherNote.empty()) {
      printPlace(os, f.otherSite);
      os << "note: " << otherSummary(f) << "\n";
    }
  }
  if (omitted)
    os << formatted("note: {} more findings are not shown\n", omitted);
  return text;
}

void tile::emu::reportTo(const Report &report, const frontend::SourceFile *file,
                         frontend::DiagnosticEngine &diagnostics) {
  using namespace frontend;
  auto locate = [&](const Place &place, Diagnostic &d, std::string message) {
    // Debug information cuts paths into folder and file.
    llvm::StringRef name = file ? llvm::StringRef(file->name()) : "";
    bool isOfFile = name == place.file || name.ends_with("/" + place.file);
    say(d, std::move(message), {place.file, place.line, place.column}, isOfFile ? file : nullptr);
  };
  auto first = [](const Site &site) { return site.places.empty() ? Place() : site.places[0]; };
  for (const Finding &f : report.findings) {
    Diagnostic &d = diagnostics.error(nullptr, {}, "");
    locate(first(f.site), d, summary(f));
    auto note = [&](const Place &place, std::string message) {
      Diagnostic &n = d.notes.emplace_back();
      n.severity = Severity::Note;
      locate(place, n, std::move(message));
    };
    if (!f.otherNote.empty())
      note(first(f.otherSite), otherSummary(f));
    for (const Place &caller : llvm::drop_begin(f.site.places, f.site.places.empty() ? 0 : 1))
      note(caller, "called from here");
  }
  if (report.omitted && diagnostics.hasErrors())
    diagnostics.warning(nullptr, {}, formatted("{} more findings are not shown", report.omitted));
}
