//===- CacheStress.cpp - one cache, many processes, kills and damage ------===//
//
// usage: CacheStress [PROCESSES [SECONDS]]
//
// Processes ask for kernels through one folder, which is too small for all of them,
// while one damages entries in every way that it knows, one changes the files that
// the kernels import, and one ends processes at any moment. Every kernel that is
// returned must be that of its text and of an import as it was at some time during
// the request, and no request may take long. Exit code 0 if so.
//
//===----------------------------------------------------------------------===//
#include "runtime/CompileService.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <atomic>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace tile;
using namespace tile::runtime;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int numTexts = 300, numImports = 4;
constexpr uint64_t diskBytes = 256 * 4096; // about two thirds of what the kernels take
constexpr unsigned secondsPerRequest = 60;

/// What all processes count together.
struct Counters {
  std::atomic<uint64_t> requests, compiled, refused, damaged, evicted;
  std::atomic<uint64_t> damages, edits, kills, wrong;
  /// Whether the cache was worth something, and everything happened that can.
  bool showSomething() const {
    return compiled < requests && damaged && refused && evicted && edits;
  }
};

struct Arena {
  std::string folder;
  Counters *count;
  std::string cache() const { return folder + "/cache"; }
  std::string import(int i) const { return folder + "/import" + std::to_string(i); }
};

//===----------------------------------------------------------------------===//
// Who asks
//===----------------------------------------------------------------------===//

/// The kernel of a text and a version of its import: different for each, of many
/// lengths.
std::string kernelOf(llvm::StringRef text, int version) {
  std::string unit = (text + " with version " + llvm::Twine(version) + "\n").str();
  std::string ptx;
  for (unsigned n = 1 + std::hash<std::string>()(unit) % 400; n; --n)
    ptx += unit;
  return ptx;
}

int versionIn(const std::string &import) {
  std::string error;
  std::optional<std::string> text = frontend::readFile(import, 100, error);
  return text ? std::atoi(text->c_str()) : -1;
}

/// Requests until it is ended. What it finds wrong it says, and counts.
[[noreturn]] void ask(const Arena &arena, unsigned seed) {
  std::mt19937 random(seed);
  int importOfText = 0;
  auto compile = [&](const frontend::SourceFile &file, const CompileOptions &) {
    ++arena.count->compiled;
    std::string import = arena.import(importOfText), error;
    std::string content = frontend::readFile(import, 100, error).value_or("");
    CompileResult result;
    result.metadata.entry = "k";
    result.metadata.target = "sm_90a";
    result.output = kernelOf(file.text(), std::atoi(content.c_str()));
    result.dependencies = {{import, frontend::contentState(content)}};
    return result;
  };
  while (true) { // as many services as there would be short processes
    CompileService service(compile, arena.cache(), {100000, diskBytes});
    for (int i = 0; i < 20; ++i) {
      int number = random() % (random() % numTexts + 1); // some more often
      importOfText = number % numImports;
      frontend::SourceFile file("k.tile", "kernel " + std::to_string(number));
      ::alarm(secondsPerRequest); // a request that hangs ends the process, which is noticed
      int before = versionIn(arena.import(importOfText));
      CompiledKernelPtr kernel = llvm::cantFail(service.compile(file, {}));
      int after = versionIn(arena.import(importOfText));
      bool right = false;
      for (int version = before; version <= after; ++version)
        right |= kernel->ptx == kernelOf(file.text(), version);
      if (!right) {
        ++arena.count->wrong;
        llvm::errs() << "wrong: " << file.text() << ", version " << before << " to " << after
                     << ", got " << llvm::StringRef(kernel->ptx).split('\n').first << "\n";
      }
      ++arena.count->requests;
    }
    arena.count->refused += service.cache().counters().refused;
    arena.count->damaged += service.cache().counters().damaged;
    arena.count->evicted += service.cache().counters().evicted;
  }
}

//===----------------------------------------------------------------------===//
// Who disturbs
//===----------------------------------------------------------------------===//

std::vector<std::string> entriesOf(const std::string &folder) {
  std::vector<std::string> files;
  std::error_code code;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, code), end; it != end && !code;
       it.increment(code))
    if (it->type() != llvm::sys::fs::file_type::directory_file)
      files.push_back(it->path());
  return files;
}

void overwrite(const std::string &path, off_t at, llvm::StringRef bytes) {
  int fd = ::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOFOLLOW);
  if (fd < 0)
    return;
  (void)!::pwrite(fd, bytes.data(), bytes.size(), at);
  ::close(fd);
}

bool isPlainFile(const std::string &path) {
  struct stat status = {};
  return !::lstat(path.c_str(), &status) && S_ISREG(status.st_mode);
}

void damage(const std::string &path, const std::string &other, std::mt19937 &random) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status))
    return;
  off_t size = std::max<off_t>(status.st_size, 1);
  switch (random() % 9) {
  case 0: // a byte
  case 1:
    return overwrite(path, random() % size, std::string(1, char(random())));
  case 2: // a block of zeros, as a disk without power may have it
    return overwrite(path, random() % size, std::string(512, '\0'));
  case 3:
    (void)!::truncate(path.c_str(), random() % size);
    return;
  case 4: // another entry's content, if neither is a pipe or a link by now
    if (isPlainFile(path) && isPlainFile(other) && !::unlink(path.c_str()))
      (void)llvm::sys::fs::copy_file(other, path);
    return;
  case 5:
    ::chmod(path.c_str(), 0666);
    return;
  case 6:
    ::unlink(path.c_str());
    ::mkfifo(path.c_str(), 0600);
    return;
  case 7:
    ::unlink(path.c_str());
    (void)!::symlink(random() % 2 ? "/dev/zero" : other.c_str(), path.c_str());
    return;
  default:
    ::unlink(path.c_str());
    return;
  }
}

[[noreturn]] void damageAll(const Arena &arena, unsigned seed) {
  std::mt19937 random(seed);
  while (true) {
    std::vector<std::string> files = entriesOf(arena.cache());
    for (size_t i = 0; i < files.size() / 32; ++i) {
      damage(files[random() % files.size()], files[random() % files.size()], random);
      ++arena.count->damages;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
}

void setVersion(const Arena &arena, int import, int version) {
  std::string aside = arena.folder + "/aside";
  std::error_code code;
  llvm::raw_fd_ostream(aside, code) << version;
  ::rename(aside.c_str(), arena.import(import).c_str());
}

[[noreturn]] void edit(const Arena &arena, unsigned seed) {
  std::mt19937 random(seed);
  int versions[numImports] = {};
  while (true) {
    int import = random() % numImports;
    setVersion(arena, import, ++versions[import]);
    ++arena.count->edits;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

//===----------------------------------------------------------------------===//
// All of them
//===----------------------------------------------------------------------===//

template <typename Body> pid_t start(Body body) {
  pid_t child = ::fork();
  if (child == 0)
    body();
  return child;
}

/// Ends a process. False if something else had ended it before.
bool end(pid_t child) {
  int status = 0;
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
    return true;
  llvm::errs() << "a process ended by itself: " << (WIFSIGNALED(status) ? "signal " : "exit code ")
               << (WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status)) << "\n";
  return false;
}

uint64_t bytesIn(const std::string &folder) {
  uint64_t bytes = 0, size = 0;
  for (const std::string &path : entriesOf(folder))
    if (llvm::StringRef(path).ends_with(".tilecache") && !llvm::sys::fs::file_size(path, size))
      bytes += size;
  return bytes;
}

/// False if a process ended by itself.
bool runFor(const Arena &arena, unsigned processes, std::chrono::seconds duration) {
  std::mt19937 random(1);
  std::vector<pid_t> disturbers = {start([&] { damageAll(arena, 2); }),
                                   start([&] { edit(arena, 3); })};
  std::vector<pid_t> workers;
  for (unsigned i = 0; i < processes; ++i)
    workers.push_back(start([&] { ask(arena, random()); }));
  bool fine = true;
  // Longer on a machine where that is not enough to show anything.
  auto until = Clock::now() + duration, latest = until + std::chrono::minutes(2);
  while (Clock::now() < until || (!arena.count->showSomething() && Clock::now() < latest)) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    pid_t &unlucky = workers[random() % workers.size()];
    fine &= end(unlucky);
    ++arena.count->kills;
    unlucky = start([&] { ask(arena, random()); });
  }
  for (pid_t child : workers)
    fine &= end(child);
  for (pid_t child : disturbers)
    fine &= end(child);
  return fine;
}

} // namespace

int main(int argc, char **argv) {
  unsigned processes = argc > 1 ? std::max(std::atoi(argv[1]), 1) : 4;
  int seconds = argc > 2 ? std::atoi(argv[2]) : 2;
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("tile-stress", folder))
    return 2;
  void *shared =
      ::mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED)
    return 2;
  Arena arena{folder.str().str(), new (shared) Counters()};
  for (int i = 0; i < numImports; ++i)
    setVersion(arena, i, 0);

  bool fine = runFor(arena, processes, std::chrono::seconds(seconds));
  Counters &count = *arena.count;
  llvm::outs() << count.requests << " requests of " << processes << " processes: " << count.compiled
               << " compiled; " << count.damaged << " damaged and " << count.refused
               << " refused entries met, " << count.evicted << " evicted; " << count.kills
               << " kills, " << count.damages << " damages, " << count.edits << " edits; "
               << count.wrong << " wrong; " << bytesIn(arena.cache()) << " bytes left\n";
  if (!count.showSomething())
    llvm::errs() << "the cache was hardly used: nothing is shown\n";
  llvm::sys::fs::remove_directories(folder);
  return fine && count.showSomething() && !count.wrong ? 0 : 1;
}
