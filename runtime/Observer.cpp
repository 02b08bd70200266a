//===- Observer.cpp - what a compile service and its kernels do -----------===//
#include "runtime/Observer.h"
#include "runtime/Error.h"
#include "text/Format.h"
#include "text/PlainNumbers.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cerrno>
#include <cstring>
#include <thread>
#include <unistd.h>

using namespace tile::runtime;
using tile::formatted;

static constexpr const char *kindNames[] = {"",       "compile", "load", "tune",
                                            "launch", "warning", "print"};
static constexpr const char *sourceNames[] = {"", "compiled", "disk", "shared", "file"};

Observer::Observer(Callback callback, const std::string &traceFile)
    : callback(std::move(callback)), listens(this->callback != nullptr) {
  if (traceFile.empty())
    return;
  // A process that is forked from this one writes nothing into it.
  trace = std::fopen(traceFile.c_str(), "we");
  if (!trace) {
    problem = formatted("the trace `{}` cannot be written: {}", traceFile, std::strerror(errno));
    return;
  }
  listens = true;
  // Viewers take a list that does not end: a process may be killed.
  std::fputs("[\n", trace);
}

Observer::~Observer() {
  if (!trace)
    return;
  std::fputs("{}\n]\n", trace);
  std::fclose(trace);
}

uint64_t Observer::launches() const {
  uint64_t total = 0;
  for (const Slot &slot : slots)
    total += slot.count.load(std::memory_order_relaxed);
  return total;
}

void Observer::note(const Event &event) {
  switch (event.kind) {
  case Event::Kind::Compile:
    if (event.status == static_cast<int>(ErrorCode::NoCompile))
      ++counters[Forbidden];
    else if (event.status)
      ++counters[FailedCompiles];
    else
      ++counters[event.source == Event::Source::Compiled ? Compiled : FromDisk];
    if (event.source == Event::Source::Compiled)
      compileMicroseconds += uint64_t(event.duration);
    break;
  case Event::Kind::Load:
    ++counters[Loads];
    break;
  case Event::Kind::Tune:
    ++counters[Tunings];
    break;
  case Event::Kind::Warning:
    ++counters[Warnings];
    break;
  case Event::Kind::Launch: // countLaunch
  case Event::Kind::Print:
    break;
  }
  if (callback)
    callback(event);
  write(event);
}

void Observer::warn(llvm::StringRef text) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (!warned.insert(text.str()).second)
      return;
  }
  Event event;
  event.kind = Event::Kind::Warning;
  event.message = text.str();
  event.start = now();
  note(event);
}

/// One line an event: "complete" ones, with a duration.
void Observer::write(const Event &event) {
  std::lock_guard<std::mutex> lock(mutex);
  if (!trace)
    return;
  llvm::json::Object details;
  auto add = [&](const char *name, const std::string &text) {
    if (!text.empty())
      details[name] = llvm::json::isUTF8(text) ? text : llvm::json::fixUTF8(text);
  };
  add("variant", event.variant);
  add("key", event.key);
  add("message", event.message);
  add("source", sourceNames[static_cast<int>(event.source)]);
  if (event.status)
    details["status"] = event.status;
  const char *kind = kindNames[static_cast<int>(event.kind)];
  std::string name = event.kernel.empty() ? kind : event.kernel;
  if (!llvm::json::isUTF8(name))
    name = llvm::json::fixUTF8(name);
  PlainNumbers plain;
  std::string line;
  llvm::raw_string_ostream(line) << llvm::json::Value(llvm::json::Object{
      {"name", name},
      {"cat", kind},
      {"ph", "X"},
      {"ts", event.start},
      {"dur", event.duration},
      {"pid", int64_t(::getpid())},
      {"tid", int64_t(std::hash<std::thread::id>()(std::this_thread::get_id()) & 0xffffff)},
      {"args", std::move(details)}});
  std::fprintf(trace, "%s,\n", line.c_str());
  if (event.kind != Event::Kind::Launch) // rare: what is there is whole after a crash
    std::fflush(trace);
}
