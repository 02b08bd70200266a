//===- PrivateFolder.cpp - files that only this user can have written -----===//
#include "runtime/PrivateFolder.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include <cerrno>
#include <chrono>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace tile::runtime;

static std::error_code lastError() { return {errno, std::generic_category()}; }

/// Nobody but this user (and root, who may do anything) can have written it.
static bool isOwner(const struct stat &status, bool isShared) {
  return status.st_uid == ::geteuid() || (isShared && status.st_uid == 0);
}
static bool isOurs(const struct stat &status, bool isShared) {
  return isOwner(status, isShared) && !(status.st_mode & (S_IWGRP | S_IWOTH));
}

PrivateFolder::~PrivateFolder() {
  if (fd >= 0)
    ::close(fd);
}

PrivateFolder PrivateFolder::trusted(int fd, bool isShared, std::string &problem) {
  PrivateFolder folder;
  folder.isShared = isShared;
  if (fd < 0) {
    if (errno != ENOENT)
      problem = lastError().message();
    return folder;
  }
  folder.fd = fd;
  struct stat status = {};
  if (::fstat(fd, &status))
    problem = lastError().message();
  else if (!isOwner(status, isShared))
    problem = "it belongs to another user";
  else if (!isOurs(status, isShared))
    problem = "other users may write to it (`chmod go-w` would help)";
  return problem.empty() ? std::move(folder) : PrivateFolder();
}

static constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NONBLOCK | O_CLOEXEC;

PrivateFolder PrivateFolder::open(const std::string &path, bool make, std::string &problem) {
  int fd = ::open(path.c_str(), kFolderFlags);
  if (fd < 0 && errno == ENOENT && make) {
    if (std::error_code code = llvm::sys::fs::create_directories(path, /*IgnoreExisting=*/true,
                                                                 llvm::sys::fs::owner_all)) {
      problem = code.message();
      return {};
    }
    fd = ::open(path.c_str(), kFolderFlags);
    if (fd < 0 && errno == ENOENT)
      problem = "it is a link to nothing";
  }
  return trusted(fd, /*isShared=*/false, problem);
}

PrivateFolder PrivateFolder::openShared(const std::string &path, std::string &problem) {
  return trusted(::open(path.c_str(), kFolderFlags), /*isShared=*/true, problem);
}

PrivateFolder PrivateFolder::inside(const std::string &name, bool make,
                                    std::string &problem) const {
  if (make && ::mkdirat(fd, name.c_str(), S_IRWXU) && errno != EEXIST) {
    problem = lastError().message();
    return {};
  }
  return trusted(::openat(fd, name.c_str(), kFolderFlags | O_NOFOLLOW), isShared, problem);
}

/// Reads what `fstat` said there is; false if there was less.
static bool readExactly(int fd, uint64_t size, std::string &bytes) {
  bytes.resize(size);
  for (uint64_t done = 0; done < size;) {
    ssize_t got = ::read(fd, bytes.data() + done, size - done);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return false;
    done += got;
  }
  return true;
}

/// Notes that a file was used. The clock of least recently used turns by the minute,
/// so that reading does not mean writing each time.
static void touch(int fd, const struct stat &status) {
  if (std::abs(std::time(nullptr) - status.st_mtim.tv_sec) >= 60)
    (void)::futimens(fd, nullptr);
}

PrivateFolder::Found PrivateFolder::read(const std::string &name, uint64_t limit,
                                         std::string &bytes) const {
  int file = ::openat(fd, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    return errno == ENOENT ? Found::Nothing : Found::Refused;
  struct stat status = {};
  bool good = !::fstat(file, &status) && S_ISREG(status.st_mode) && isOurs(status, isShared) &&
              uint64_t(status.st_size) <= limit && readExactly(file, status.st_size, bytes);
  if (good && !isShared)
    touch(file, status);
  ::close(file);
  return good ? Found::File : Found::Refused;
}

/// 0 or what went wrong.
static int writeAll(int fd, llvm::StringRef bytes) {
  while (!bytes.empty()) {
    ssize_t put = ::write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR)
      continue;
    if (put < 0)
      return errno;
    bytes = bytes.drop_front(put);
  }
  return 0;
}

std::error_code PrivateFolder::write(const std::string &name, llvm::StringRef bytes) const {
  std::string aside;
  int file = -1;
  do {
    aside = name + "." + llvm::utohexstr(llvm::sys::Process::GetRandomNumber(), true, 8) +
            kAsideEnding.str();
    file = ::openat(fd, aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    S_IRUSR | S_IWUSR);
  } while (file < 0 && errno == EEXIST);
  if (file < 0)
    return lastError();
  (void)::flock(file, LOCK_EX | LOCK_NB); // says that somebody is at it
  int problem = writeAll(file, bytes);
  if (::close(file) && !problem)
    problem = errno;
  if (!problem && ::renameat(fd, aside.c_str(), fd, name.c_str()))
    problem = errno;
  if (problem)
    ::unlinkat(fd, aside.c_str(), 0);
  return {problem, std::generic_category()};
}

void PrivateFolder::remove(const std::string &name) const { ::unlinkat(fd, name.c_str(), 0); }

std::optional<bool> PrivateFolder::isBeingWritten(const std::string &name) const {
  int file = ::openat(fd, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0)
    return std::nullopt;
  bool isFree = !::flock(file, LOCK_SH | LOCK_NB);
  int why = errno;
  ::close(file);
  return isFree || why == EWOULDBLOCK ? std::optional(!isFree) : std::nullopt;
}

FileLock::~FileLock() {
  if (fd >= 0)
    ::close(fd);
}

FileLock PrivateFolder::lock(const std::string &name, uint64_t number,
                             unsigned milliseconds) const {
  using namespace std::chrono;
  int file =
      ::openat(fd, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
               S_IRUSR | S_IWUSR);
  struct stat status = {};
  if (file < 0)
    return {};
  FileLock lock(file);
  if (::fstat(file, &status) || !S_ISREG(status.st_mode) || !isOurs(status, isShared))
    return {};
  // Of the open file, not of the process: threads wait for each other, too. One byte a number.
  struct flock range = {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  range.l_start = off_t(number >> 2);
  range.l_len = 1;
  auto end = steady_clock::now() + std::chrono::milliseconds(milliseconds);
  for (auto pause = microseconds(500);; pause = std::min(2 * pause, microseconds(20000))) {
    if (!::fcntl(file, F_OFD_SETLK, &range))
      return lock;
    bool isTaken = errno == EAGAIN || errno == EACCES || errno == EINTR;
    if (!isTaken || steady_clock::now() > end)
      return {};
    std::this_thread::sleep_for(pause);
  }
}

std::vector<PrivateFolder::Entry> PrivateFolder::entries() const {
  std::vector<Entry> found;
  // A place of its own in the folder: others may be reading it too.
  int own = ::openat(fd, ".", kFolderFlags);
  if (own < 0)
    return found;
  std::unique_ptr<DIR, int (*)(DIR *)> folder(::fdopendir(own), ::closedir);
  if (!folder) {
    ::close(own);
    return found;
  }
  while (const dirent *entry = ::readdir(folder.get())) {
    struct stat status = {};
    if (!::fstatat(fd, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) && !S_ISDIR(status.st_mode))
      found.push_back({entry->d_name, uint64_t(status.st_size), status.st_mtim.tv_sec});
  }
  return found;
}
