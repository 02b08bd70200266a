//===- CacheStress.cpp - one cache, many processes, kills and damage ------===//
//
// usage: CacheStress [PROCESSES [SECONDS]]
//        CacheStress once [PROCESSES [KERNELS [KILLS [DAMAGES]]]]
//
// Processes ask for kernels through one folder, which is too small for all of them,
// while one damages entries in every way that it knows, one changes the files that
// the kernels import, and one ends processes at any moment. Every kernel that is
// returned must be that of its text and of an import as it was at some time during
// the request, and no request may take long. Exit code 0 if so.
//
// With `once`, all processes want all kernels, there is room for them, processes are ended at
// any moment and bytes of the files are damaged: no kernel may be compiled more than once, plus
// once for each process that was ended and each damage, and nothing but the kernels' entries may be
// left after a prune.
//
//===----------------------------------------------------------------------===//
#include "runtime/CacheFiles.h"
#include "runtime/CompileService.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
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

/// Other bytes, or fewer.
void damageBytes(const std::string &path, std::mt19937 &random) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status))
    return;
  off_t size = std::max<off_t>(status.st_size, 1);
  switch (random() % 4) {
  case 0: // a byte
  case 1:
    return overwrite(path, random() % size, std::string(1, char(random())));
  case 2: // a block of zeros, as a disk without power may have it
    return overwrite(path, random() % size, std::string(512, '\0'));
  default:
    (void)!::truncate(path.c_str(), random() % size);
    return;
  }
}

void damage(const std::string &path, const std::string &other, std::mt19937 &random) {
  switch (random() % 9) {
  case 0:
  case 1:
  case 2:
  case 3:
    return damageBytes(path, random);
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

//===----------------------------------------------------------------------===//
// Each kernel once
//===----------------------------------------------------------------------===//

/// Requests every kernel, in an order of its own, and ends.
[[noreturn]] void askForAll(const Arena &arena, unsigned kernels, unsigned seed) {
  std::mt19937 random(seed);
  auto compile = [&](const frontend::SourceFile &file, const CompileOptions &) {
    ++arena.count->compiled;
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 40)); // others come meanwhile
    CompileResult result;
    result.metadata.entry = "k";
    result.metadata.target = "sm_90a";
    result.output = kernelOf(file.text(), 0);
    return result;
  };
  std::vector<unsigned> order(kernels);
  for (unsigned i = 0; i < kernels; ++i)
    order[i] = i;
  std::shuffle(order.begin(), order.end(), random);
  CompileService service(compile, arena.cache());
  for (unsigned i : order) {
    ::alarm(secondsPerRequest);
    frontend::SourceFile file("k.tile", "kernel " + std::to_string(i));
    CompiledKernelPtr kernel = llvm::cantFail(service.compile(file, {}));
    arena.count->wrong += kernel->ptx != kernelOf(file.text(), 0);
    ++arena.count->requests;
  }
  ::_exit(0);
}

/// What is left: entries that are good, and files that are none.
bool leavesNothing(const Arena &arena, unsigned kernels) {
  std::this_thread::sleep_for(std::chrono::seconds(kUnlockedSeconds + 2));
  CacheFiles files = llvm::cantFail(CacheFiles::open(arena.cache()));
  size_t removed = files.prune({}).files, good = 0;
  for (const CacheFile &file : files.list())
    good += file.state == CacheFile::State::Good;
  size_t others = entriesOf(arena.cache()).size() - good - 1; // the file of turns
  llvm::outs() << removed << " files pruned, " << good << " entries, " << others << " others\n";
  return good == kernels && others == 0;
}

/// What disturbs `runOnce`, at moments that are spread over its time.
struct Disturbance {
  unsigned kills = 0, damages = 0;
};

/// Ends processes, for each of which `startOne` gives another, and damages bytes.
template <typename StartOne>
void disturb(const Arena &arena, std::vector<pid_t> &workers, Disturbance left,
             std::mt19937 &random, StartOne startOne) {
  while (left.kills || left.damages) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
    if (random() % (left.kills + left.damages) < left.kills) {
      --left.kills;
      pid_t &unlucky = workers[random() % workers.size()];
      int status = 0;
      ::kill(unlucky, SIGKILL);
      ::waitpid(unlucky, &status, 0);
      arena.count->kills += WIFSIGNALED(status); // not one that had ended
      unlucky = startOne();
    } else {
      --left.damages;
      std::vector<std::string> files = entriesOf(arena.cache());
      if (files.empty())
        continue;
      damageBytes(files[random() % files.size()], random);
      ++arena.count->damages;
    }
  }
}

bool endsWell(pid_t child) {
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool runOnce(const Arena &arena, unsigned processes, unsigned kernels, Disturbance disturbance) {
  std::mt19937 random(1);
  std::vector<pid_t> workers;
  auto startOne = [&] {
    unsigned seed = random();
    return start([&] { askForAll(arena, kernels, seed); });
  };
  for (unsigned i = 0; i < processes; ++i)
    workers.push_back(startOne());
  disturb(arena, workers, disturbance, random, startOne);
  bool fine = true;
  for (pid_t child : workers)
    fine &= endsWell(child);
  fine &= endsWell(startOne()); // which finds what is damaged still
  Counters &count = *arena.count;
  llvm::outs() << count.requests << " requests of " << processes << " processes for " << kernels
               << " kernels: " << count.compiled << " compiled, " << count.kills << " kills, "
               << count.damages << " damages, " << count.wrong << " wrong; ";
  fine &= !count.wrong && count.compiled <= kernels + count.kills + count.damages;
  return leavesNothing(arena, kernels) && fine;
}

} // namespace

int main(int argc, char **argv) {
  bool isOnce = argc > 1 && llvm::StringRef(argv[1]) == "once";
  argv += isOnce, argc -= isOnce;
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

  if (isOnce) {
    auto number = [&](int i, unsigned otherwise) {
      return argc > i ? unsigned(std::atoi(argv[i])) : otherwise;
    };
    bool fine = runOnce(arena, processes, number(2, 20), {number(3, 40), number(4, 20)});
    llvm::sys::fs::remove_directories(folder);
    return !fine;
  }
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
