//===- TuneRecords.cpp - tuning records that people keep ------------------===//
//
// One line a record, keys in order: version control merges such files line by line, and a
// record that stands twice counts as the later one says.
//
//===----------------------------------------------------------------------===//
#include "compiler/ParseJson.h"
#include "frontend/Files.h"
#include "runtime/Tuner.h"
#include "text/Format.h"
#include "text/PlainNumbers.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile;
using namespace tile::runtime;
namespace json = llvm::json;

/// Enough of a hash to tell versions of a source apart.
static constexpr size_t kSourceDigits = 16;

void Tuner::setRecordFile(std::string path, std::string device, std::string target) {
  recordFile = std::move(path);
  recordDevice = std::move(device);
  recordTarget = std::move(target);
}

std::string Tuner::warning() const {
  std::lock_guard<std::mutex> lock(mutex);
  return failure;
}

void Tuner::noteFailure(const llvm::Twine &what) {
  if (failure.empty())
    failure = what.str();
}

llvm::Error runtime::readTuneRecords(const std::string &path,
                                     llvm::function_ref<void(const TuneRecord &)> visit,
                                     llvm::function_ref<void(const llvm::Twine &)> warn) {
  std::string error;
  std::optional<std::string> text = frontend::readFile(path, frontend::kMaxSourceBytes, error);
  if (!text)
    return makeError(ErrorCode::Io, error);
  unsigned number = 0;
  for (llvm::StringRef rest = *text; !rest.empty();) {
    auto [line, tail] = rest.split('\n');
    rest = tail;
    ++number;
    line = line.trim();
    if (line.empty() || line.starts_with("#"))
      continue;
    auto parsed = parseJson(line);
    const json::Object *object = parsed ? parsed->getAsObject() : nullptr;
    if (!object) {
      warn(formatted("line {} of the tuning records `{}` is no JSON object", number, path));
      llvm::consumeError(parsed.takeError());
      continue;
    }
    TuneRecord record;
    for (auto [name, field] :
         {std::pair("kernel", &record.kernel), std::pair("key", &record.key),
          std::pair("device", &record.device), std::pair("target", &record.target),
          std::pair("source", &record.source), std::pair("best", &record.best)})
      *field = object->getString(name).value_or("");
    record.times = object->getObject("times");
    if (record.times || !record.best.empty())
      visit(record);
  }
  return llvm::Error::success();
}

bool runtime::isOfSource(const TuneRecord &record, llvm::StringRef identity) {
  return record.source.empty() || record.source == identity.take_front(kSourceDigits);
}

static std::optional<TuneResult> resultOf(const TuneProblem &problem, const TuneRecord &record,
                                          bool timesAll) {
  if (record.times)
    return runtime::resultOf(problem, *record.times, timesAll);
  for (auto [i, config] : llvm::enumerate(problem.configs))
    if (config.str() == record.best) {
      TuneResult result;
      result.best = unsigned(i);
      result.named = true;
      result.candidates.resize(problem.configs.size());
      return result;
    }
  return std::nullopt;
}

/// Times by configuration, of the last line that is about this problem.
std::optional<TuneResult> Tuner::fromFile(const TuneProblem &problem) {
  if (recordFile.empty() || !llvm::sys::fs::exists(recordFile))
    return std::nullopt;
  std::optional<TuneResult> found;
  llvm::Error error = readTuneRecords(
      recordFile,
      [&](const TuneRecord &record) {
        if (record.kernel != problem.kernel || record.key != problem.key ||
            record.device != recordDevice || !isOfSource(record, problem.identity))
          return;
        if (auto result = ::resultOf(problem, record, isExhaustive))
          found = std::move(result);
      },
      [&](const llvm::Twine &text) { noteFailure(text); });
  if (error)
    noteFailure(
        formatted("the tuning records are not used: {}", takeError(std::move(error)).message));
  return found;
}

void Tuner::writeFile(const TuneProblem &problem, const TuneResult &result) {
  if (recordFile.empty())
    return;
  json::Object record{{"kernel", problem.kernel},
                      {"key", problem.key},
                      {"device", recordDevice},
                      {"target", recordTarget},
                      {"source", llvm::StringRef(problem.identity).take_front(kSourceDigits)},
                      {"best", problem.configs[result.best].str()},
                      {"times", timesOf(problem, result)}};
  PlainNumbers plain;
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
    noteFailure(
        formatted("the tuning records are not written: `{}`: {}", recordFile, code.message()));
}

llvm::Expected<TuneResult> Tuner::firstThatWorks(const TuneProblem &problem, Prepare prepare,
                                                 Estimate estimate) {
  TuneResult result;
  result.candidates.resize(problem.configs.size());
  std::string message = formatted("none of the configurations of `{}` works", problem.kernel);
  for (unsigned i : rank(problem, estimate, result)) {
    llvm::Error error = prepare(i);
    if (!error) {
      result.best = i;
      return result;
    }
    result.candidates[i].failure = takeError(std::move(error)).message;
    message += formatted("\n  {}: {}", problem.configs[i], result.candidates[i].failure);
  }
  return makeError(ErrorCode::Resources, message);
}
