//===- TuneRecords.cpp - tuning records that people keep ------------------===//
//
// One line a record, keys in order: version control merges such files line by line, and a
// record that stands twice counts as the later one says.
//
//===----------------------------------------------------------------------===//
#include "compiler/ParseJson.h"
#include "frontend/Files.h"
#include "runtime/Tuner.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::runtime;
namespace json = llvm::json;

/// Enough of a hash to tell versions of a source apart.
static llvm::StringRef sourceOf(const TuneProblem &problem) {
  return llvm::StringRef(problem.identity).take_front(16);
}

void Tuner::setRecordFile(std::string path, std::string device) {
  recordFile = std::move(path);
  recordDevice = std::move(device);
}

std::string Tuner::warning() const {
  std::lock_guard<std::mutex> lock(mutex);
  return failure;
}

void Tuner::noteFailure(const llvm::Twine &what) {
  if (failure.empty())
    failure = what.str();
}

/// Times by configuration, of the last line that is about this problem.
std::optional<TuneResult> Tuner::fromFile(const TuneProblem &problem) {
  if (recordFile.empty() || !llvm::sys::fs::exists(recordFile))
    return std::nullopt;
  std::string error;
  std::optional<std::string> text =
      frontend::readFile(recordFile, frontend::kMaxSourceBytes, error);
  if (!text) {
    noteFailure("the tuning records are not used: " + error);
    return std::nullopt;
  }
  std::optional<TuneResult> found;
  unsigned number = 0;
  for (llvm::StringRef rest = *text; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    ++number;
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto parsed = parseJson(line);
    const json::Object *record = parsed ? parsed->getAsObject() : nullptr;
    if (!record) {
      noteFailure("line " + llvm::Twine(number) + " of the tuning records `" + recordFile +
                  "` is no JSON object");
      llvm::consumeError(parsed.takeError());
      continue;
    }
    const json::Object *times = record->getObject("times");
    if (times && record->getString("kernel") == llvm::StringRef(problem.kernel) &&
        record->getString("key") == llvm::StringRef(problem.key) &&
        record->getString("device") == llvm::StringRef(recordDevice) &&
        record->getString("source") == sourceOf(problem))
      if (std::optional<TuneResult> result = resultOf(problem, *times, isExhaustive))
        found = std::move(result);
  }
  return found;
}

void Tuner::writeFile(const TuneProblem &problem, const TuneResult &result) {
  if (recordFile.empty())
    return;
  json::Object record{{"kernel", problem.kernel},
                      {"key", problem.key},
                      {"device", recordDevice},
                      {"source", sourceOf(problem)},
                      {"best", problem.configs[result.best].str()},
                      {"times", timesOf(problem, result)}};
  std::string line;
  llvm::raw_string_ostream(line) << json::Value(std::move(record)) << '\n';
  std::error_code code;
  llvm::raw_fd_ostream out(recordFile, code, llvm::sys::fs::OF_Append);
  if (!code) {
    out.SetUnbuffered(); // one write: lines of several processes do not mix
    out << line;
    out.close();
    code = out.error();
    out.clear_error();
  }
  if (code)
    noteFailure("the tuning records are not written: `" + recordFile + "`: " + code.message());
}

llvm::Expected<TuneResult> Tuner::firstThatWorks(const TuneProblem &problem, Prepare prepare,
                                                 Estimate estimate) {
  TuneResult result;
  result.candidates.resize(problem.configs.size());
  std::string message = "none of the configurations of `" + problem.kernel + "` works";
  for (unsigned i : rank(problem, estimate, result)) {
    llvm::Error error = prepare(i);
    if (!error) {
      result.best = i;
      return result;
    }
    result.candidates[i].failure = takeError(std::move(error)).message;
    message += "\n  " + problem.configs[i].str() + ": " + result.candidates[i].failure;
  }
  return makeError(ErrorCode::Resources, message);
}
