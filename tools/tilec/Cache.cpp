//===- Cache.cpp - tilec cache: looking after kept kernels ----------------===//
#include "frontend/Counted.h"
#include "frontend/Files.h"
#include "runtime/CacheFiles.h"
#include "runtime/Error.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/OutputFiles.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <ctime>

using namespace tilec;
using namespace tile::runtime;
using llvm::StringRef;
using tile::formatted;
using State = CacheFile::State;

static constexpr StringRef detailsText =
    R"(What was compiled, and which configuration won when kernels were tuned, is kept in a folder: DIR,
else $TILE_CACHE_DIR, else $XDG_CACHE_HOME/tile, else ~/.cache/tile.

  ls              one line an entry: key, kind, size, last use, kernel and what it was compiled for
  verify          reads every entry; exit code 1 if one is damaged or cannot be believed
  prune           removes what is damaged or left over, and what the options say
  clear           removes every entry
  export FILE     writes all entries to one file (`-`: standard output)
  import FILE     adds the entries of such a file; those that are there stay

A machine that must not compile while it serves gets its kernels so: compile them elsewhere
(`tile_jit_prepare`), export, import, and run with TILE_NO_COMPILE=1. An archive decides what runs
on the GPU: import only what you trust. An archive that is there is not replaced by one without
entries.
)";

namespace {
class CacheCommand : public Command {
public:
  CacheCommand() {
    options.positional("ls|verify|prune|clear|export|import [FILE]", arguments, 1, 2)
        .text("dir", "DIR", "the folder of the cache", folder, ValueKind::Directory)
        .integer("older-than", "DAYS", "prune: what was not used for so many days", days, 0, 36500)
        .integer("max-mb", "N", "prune: what was not used for longest, until N MB are left",
                 megabytes, 0, 1 << 30);
  }
  int run() override;
  StringRef details() const override { return detailsText; }

private:
  int list(const CacheFiles &files) const;
  int verify(const CacheFiles &files) const;
  int prune(const CacheFiles &files) const;
  int exportTo(const CacheFiles &files) const;
  int importFrom(const CacheFiles &files) const;
  int fail(llvm::Error error) const {
    printError("cache", takeError(std::move(error)).message);
    return Failure;
  }

  std::vector<std::string> arguments;
  std::string folder;
  int days = -1, megabytes = -1;
};
} // namespace

static const char *nameOf(State state) {
  switch (state) {
  case State::Good:
    return "good";
  case State::Damaged:
    return "damaged";
  case State::Refused:
    return "refused: not a file that only you can write to";
  case State::Abandoned:
    return "left over";
  }
  return "";
}

static std::string dateOf(int64_t seconds) {
  std::time_t time = seconds;
  std::tm parts = {};
  char text[32] = "";
  if (::localtime_r(&time, &parts))
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts);
  return text;
}

static std::string sizeText(uint64_t bytes) {
  return bytes < 10240 ? formatted("{} B", bytes) : formatted("{:.1f} KB", double(bytes) / 1024);
}

int CacheCommand::list(const CacheFiles &files) const {
  uint64_t bytes = 0;
  size_t count = 0;
  for (const CacheFile &file : files.list()) {
    if (file.state != State::Good)
      continue;
    llvm::outs() << formatted("{}  {:<6}  {:>9}  {}  {}{}{}{}\n",
                              StringRef(file.key).take_front(16), file.kind, sizeText(file.bytes),
                              dateOf(file.lastUse), file.kernel, file.variant.empty() ? "" : "  ",
                              file.variant, file.hasMachineCode ? "  cubin" : "");
    bytes += file.bytes;
    ++count;
  }
  llvm::outs() << formatted("{} {}, {} in {}\n", count, count == 1 ? "entry" : "entries",
                            sizeText(bytes), folder);
  return Success;
}

int CacheCommand::verify(const CacheFiles &files) const {
  size_t good = 0, bad = 0;
  for (const CacheFile &file : files.list()) {
    if (file.state == State::Good || file.state == State::Abandoned) {
      good += file.state == State::Good;
      continue;
    }
    llvm::outs() << formatted("{}/{}/{}: {}\n", folder, file.shard, file.name, nameOf(file.state));
    ++bad;
  }
  llvm::outs() << formatted("{} good, {} not\n", good, bad);
  return bad ? Failure : Success;
}

int CacheCommand::prune(const CacheFiles &files) const {
  CacheFiles::Removed removed;
  if (arguments[0] == "clear") {
    removed = files.clear();
  } else {
    CacheFiles::Pruning pruning;
    constexpr int64_t secondsOfDay = 86400;
    if (days >= 0)
      pruning.olderThanSeconds = days * secondsOfDay;
    if (megabytes >= 0)
      pruning.mostBytes = uint64_t(megabytes) << 20;
    removed = files.prune(pruning);
  }
  llvm::outs() << formatted("{} removed, {}\n", tile::counted(removed.files, "file"),
                            sizeText(removed.bytes));
  return Success;
}

int CacheCommand::exportTo(const CacheFiles &files) const {
  size_t count = 0;
  std::string archive = files.pack(count);
  if (!count && llvm::sys::fs::is_regular_file(arguments[1])) {
    printError("cache", formatted("`{}` has no entries to export, and `{}` stays as it was", folder,
                                  arguments[1]));
    return Failure;
  }
  OutputFiles out("");
  out.add(arguments[1], archive);
  std::string error;
  if (!out.commit(error)) {
    printError("cache", error);
    return Failure;
  }
  if (arguments[1] != "-")
    llvm::outs() << formatted("{} exported\n", count);
  return Success;
}

int CacheCommand::importFrom(const CacheFiles &files) const {
  std::string error;
  constexpr uint64_t most = uint64_t(16) << 30;
  std::optional<std::string> archive = arguments[1] == "-"
                                           ? tile::frontend::readStandardInput(most, error)
                                           : tile::frontend::readFile(arguments[1], most, error);
  if (!archive) {
    printError("cache", error);
    return Failure;
  }
  auto added = files.unpack(*archive);
  if (!added) {
    printError("cache", formatted("{}: {}", arguments[1], takeError(added.takeError()).message));
    return Failure;
  }
  llvm::outs() << formatted("{} imported\n", *added);
  return Success;
}

int CacheCommand::run() {
  StringRef action = arguments[0];
  std::vector<std::string> actions = {"ls", "verify", "prune", "clear", "export", "import"};
  bool takesFile = action == "export" || action == "import";
  if (!llvm::is_contained(actions, action)) {
    std::string message = formatted("unknown action `{}`", action);
    StringRef guess = nearest(action, actions);
    printError("cache", message + (guess.empty() ? ": ls, verify, prune, clear, export and import "
                                                   "are possible"
                                                 : formatted("; did you mean `{}`?", guess)));
    return Usage;
  }
  if (takesFile != (arguments.size() == 2)) {
    printError("cache", takesFile ? formatted("`{}` needs a FILE", action)
                                  : formatted("`{}` takes no FILE; --dir says where", action));
    return Usage;
  }
  if (action != "prune" && (days >= 0 || megabytes >= 0)) {
    printError("cache", "--older-than and --max-mb are for `prune`");
    return Usage;
  }
  // The usual folder is made when something is kept; one that is named to be read is there.
  bool isRead = action == "ls" || action == "verify" || action == "export";
  if (isRead && !folder.empty() && !llvm::sys::fs::exists(folder)) {
    printError("cache", formatted("`{}` is not there: --dir names the folder of a cache", folder));
    return Failure;
  }
  if (folder.empty())
    folder = cacheFolderFromEnvironment();
  auto files = CacheFiles::open(folder);
  if (!files)
    return fail(files.takeError());
  if (action == "ls")
    return list(*files);
  if (action == "verify")
    return verify(*files);
  if (takesFile)
    return action == "export" ? exportTo(*files) : importFrom(*files);
  return prune(*files);
}

std::unique_ptr<Command> tilec::createCacheCommand() { return std::make_unique<CacheCommand>(); }
