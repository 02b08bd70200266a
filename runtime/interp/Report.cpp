//===- Report.cpp - findings, collected and put into words ----------------===//
#include "frontend/Located.h"
#include "runtime/interp/Launch.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::interp;
using tile::formatted;

llvm::StringRef tile::interp::name(FindingKind kind) {
  switch (kind) {
  case FindingKind::OutOfBounds:
    return "out-of-bounds";
  case FindingKind::Uninitialized:
    return "uninitialized";
  case FindingKind::Race:
    return "race";
  case FindingKind::Misaligned:
    return "misaligned";
  case FindingKind::AddressOverflow:
    return "address-overflow";
  case FindingKind::DivisionByZero:
    return "division-by-zero";
  case FindingKind::ShiftTooFar:
    return "shift-too-far";
  case FindingKind::ConstantWritten:
    return "constant-written";
  case FindingKind::Overlap:
    return "overlap";
  case FindingKind::UnorderedLanes:
    return "unordered-lanes";
  case FindingKind::BrokenPromise:
    return "broken-promise";
  case FindingKind::AssertFailed:
    return "assert-failed";
  case FindingKind::BadLoopStep:
    return "bad-loop-step";
  case FindingKind::Stuck:
    return "stuck";
  case FindingKind::TooMuchWork:
    return "too-much-work";
  case FindingKind::BadLaunch:
    return "bad-launch";
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

Finding &Findings::add(const Frame &frame, const Instruction &i, FindingKind kind, int64_t lane,
                       std::string message) {
  std::lock_guard lock(mutex);
  auto [it, inserted] = index.try_emplace({&i, unsigned(kind)}, entries.size());
  lastEntry = it->second;
  if (!inserted) {
    Entry &entry = entries[lastEntry];
    ++entry.finding.occurrences;
    if (entry.linearProgram <= frame.linearId)
      return entry.finding;
  } else {
    entries.emplace_back().order = entries.size();
  }
  Entry &entry = entries[lastEntry];
  entry.linearProgram = frame.linearId;
  Finding &f = entry.finding;
  const Place &place = frame.program->places[i.place];
  f.kind = kind;
  f.place = place.place;
  f.callers = place.callers;
  f.message = std::move(message);
  f.where =
      formatted("program ({}, {}, {})", frame.programId[0], frame.programId[1], frame.programId[2]);
  std::copy(std::begin(frame.programId), std::end(frame.programId), f.program);
  f.lane = lane;
  return f;
}

bool Findings::repeat(const Frame &frame, const Instruction &i, FindingKind kind) {
  std::lock_guard lock(mutex);
  auto it = index.find({&i, unsigned(kind)});
  if (it == index.end() || entries[it->second].linearProgram > frame.linearId)
    return false;
  ++entries[it->second].finding.occurrences;
  return true;
}

Report Findings::take(unsigned maxFindings, bool firstOnly) {
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::pair(a.linearProgram, a.order) < std::pair(b.linearProgram, b.order);
  });
  Report report;
  report.note = std::move(note);
  // Programs that run at the same time fail at the same time; which of the
  // later ones still do depends on luck.
  if (firstOnly && !entries.empty()) {
    entries.resize(1);
    entries.front().finding.occurrences = 1;
  }
  for (Entry &entry : entries) {
    if (report.findings.size() < maxFindings)
      report.findings.push_back(std::move(entry.finding));
    else
      ++report.omitted;
  }
  return report;
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static std::string summary(const Finding &f) {
  std::string text = formatted("{} (in {}", f.message, f.where);
  if (f.occurrences > 1)
    text += formatted("; {} times in all", f.occurrences);
  return text + ")";
}
static void printPlace(llvm::raw_ostream &os, const SourcePlace &place) {
  if (place.line)
    os << place.file << ":" << place.line << ":" << place.column << ": ";
}

std::string Report::str() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Finding &f : findings) {
    printPlace(os, f.place);
    os << "error: " << summary(f) << "\n";
    if (!f.otherNote.empty()) {
      printPlace(os, f.otherPlace);
      os << "note: " << f.otherNote << "\n";
    }
    for (const SourcePlace &caller : f.callers) {
      printPlace(os, caller);
      os << "note: called from here\n";
    }
  }
  if (omitted)
    os << formatted("note: {} more findings are not shown\n", omitted);
  if (!note.empty())
    os << "note: " << note << "\n";
  return text;
}

void tile::interp::reportTo(const Report &report, const frontend::SourceFile *file,
                            frontend::DiagnosticEngine &diagnostics) {
  using namespace frontend;
  auto locate = [&](const SourcePlace &place, Diagnostic &d, std::string message) {
    bool isOfFile = file && file->name() == place.file;
    say(d, std::move(message), {place.file, place.line, place.column}, isOfFile ? file : nullptr);
  };
  for (const Finding &f : report.findings) {
    Diagnostic &d = diagnostics.error(nullptr, {}, "");
    locate(f.place, d, summary(f));
    auto note = [&](const SourcePlace &place, std::string message) {
      Diagnostic &n = d.notes.emplace_back();
      n.severity = Severity::Note;
      locate(place, n, std::move(message));
    };
    if (!f.otherNote.empty())
      note(f.otherPlace, f.otherNote);
    for (const SourcePlace &caller : f.callers)
      note(caller, "called from here");
  }
  if (report.omitted && diagnostics.hasErrors())
    diagnostics.warning(nullptr, {}, formatted("{} more findings are not shown", report.omitted));
  if (!report.note.empty())
    diagnostics.warning(nullptr, {}, report.note);
}
