//===- Records.cpp - what a file of tuning records says about a kernel ----===//
//
// The inverse of JitFile::keyText: "n=512, ACTIVATION='relu', x: *fp32" to values of arguments.
//
//===----------------------------------------------------------------------===//
#include "runtime/jit/Records.h"
#include "target/Devices.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::jit;
using runtime::TuneRecord;

namespace {
/// Takes a key apart.
class KeyReader {
public:
  KeyReader(const JitFile &file, llvm::StringRef text, Records &records)
      : file(file), rest(text), records(records) {}
  /// False if it is no key of the kernel.
  bool read(TunedLaunch &out);

private:
  bool readValue(tile_value &out);
  bool readText(tile_value &out);
  bool takeComma() { return rest.consume_front(", ") || rest.empty(); }

  const JitFile &file;
  llvm::StringRef rest;
  Records &records;
};
} // namespace

/// As Python writes it, without escapes: those are of no use in names of modes.
bool KeyReader::readText(tile_value &out) {
  char quote = rest.front();
  size_t end = rest.find(quote, 1);
  if (end == llvm::StringRef::npos || rest.take_front(end).contains('\\'))
    return false;
  records.texts.push_back(std::make_unique<std::string>(rest.slice(1, end).str()));
  out = tile_text(records.texts.back()->c_str());
  rest = rest.drop_front(end + 1);
  return true;
}

bool KeyReader::readValue(tile_value &out) {
  if (rest.starts_with("'") || rest.starts_with("\""))
    return readText(out);
  llvm::StringRef text = rest.take_until([](char c) { return c == ','; });
  rest = rest.drop_front(text.size());
  int64_t number = 0;
  uint64_t large = 0;
  double real = 0;
  if (text == "True" || text == "False")
    out = tile_bool(text == "True");
  else if (text == "None" || text == "pointer")
    out = tile_none();
  else if (!text.getAsInteger(10, number))
    out = tile_int(number);
  else if (!text.getAsInteger(10, large))
    out = tile_uint(large);
  else if (!text.getAsDouble(real))
    out = tile_float(real);
  else
    return false;
  return true;
}

bool KeyReader::read(TunedLaunch &out) {
  for (const std::string &name : file.choices.key) {
    tile_value value;
    bool isPointer = false;
    if (!rest.consume_front(name + "="))
      continue; // launches did not choose it
    isPointer = rest == "pointer" || rest.starts_with("pointer,");
    if (!readValue(value) || !takeComma())
      return false;
    if (std::optional<unsigned> index = file.find(name); index && !isPointer)
      out.values.emplace_back(*index, value);
  }
  while (!rest.empty()) {
    auto [name, type] = rest.take_until([](char c) { return c == ','; }).split(": *");
    std::optional<unsigned> index = file.find(name);
    uint8_t dtype = dispatch::dtypeNamed(type.str().c_str());
    if (!index || !dtype)
      return false;
    out.values.emplace_back(*index, tile_pointer(nullptr, tile_dtype(dtype)));
    rest = rest.drop_front(name.size() + type.size() + 3);
    if (!takeComma())
      return false;
  }
  return true;
}

/// The configuration with the least time, or that a record without times names; nothing if the
/// record knows none of today's.
static std::optional<unsigned> winnerOf(const TuneRecord &record, const JitFile &file) {
  std::optional<unsigned> best;
  double least = 0;
  for (auto [i, configuration] : llvm::enumerate(file.choices.configurations)) {
    std::string text = configuration.tune.str();
    if (!record.times && text == record.best)
      return unsigned(i);
    auto time = record.times ? record.times->getNumber(text) : std::nullopt;
    if (time && (!best || *time < least)) {
      best = unsigned(i);
      least = *time;
    }
  }
  return best;
}

llvm::Expected<Records> jit::readRecords(const JitFile &file, const std::string &path) {
  Records out;
  std::string identity = file.identity();
  auto visit = [&](const TuneRecord &record) {
    if (record.kernel != file.kernel())
      return;
    if (!runtime::isOfSource(record, identity)) {
      ++out.numOfOtherSources;
      return;
    }
    TunedLaunch launch;
    launch.device = record.device;
    launch.target = record.target;
    if (launch.target.empty())
      launch.target = targetOfBoard(llvm::StringRef(record.device).split(", ").first).value_or("");
    launch.key = record.key;
    std::optional<unsigned> winner = winnerOf(record, file);
    if (!winner || !KeyReader(file, record.key, out).read(launch)) {
      out.warnings.push_back(formatted("the record `{}` of `{}` {}", record.key, record.kernel,
                                       winner ? "has a key that is none of the kernel's"
                                              : "knows none of its configurations"));
      return;
    }
    launch.configuration = *winner;
    llvm::erase_if(out.launches, [&](const TunedLaunch &other) {
      return other.key == launch.key && other.device == launch.device;
    });
    out.launches.push_back(std::move(launch));
  };
  if (llvm::Error error = runtime::readTuneRecords(
          path, visit, [&](const llvm::Twine &text) { out.warnings.push_back(text.str()); }))
    return std::move(error);
  return out;
}
