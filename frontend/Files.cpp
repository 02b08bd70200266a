//===- Files.cpp - reading files, and remembering what was read -----------===//
#include "frontend/Files.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using llvm::StringRef;

namespace tile::frontend {

/// No hash: other letters.
static constexpr llvm::StringLiteral absentState = "absent", unreadableState = "unreadable";

static std::string tooLong(uint64_t limit) {
  return formatted("files of more than {} MiB are not supported", limit >> 20);
}

/// Reads to the end; false with `error` set.
static bool readAll(int fd, uint64_t limit, std::string &bytes, std::string &error) {
  constexpr size_t step = 1 << 16;
  while (true) {
    size_t had = bytes.size();
    bytes.resize(had + step);
    ssize_t got = ::read(fd, bytes.data() + had, step);
    bytes.resize(had + (got > 0 ? got : 0));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      error = std::strerror(errno);
    else if (bytes.size() > limit)
      error = tooLong(limit);
    else if (got > 0)
      continue;
    return error.empty();
  }
}

static const char *kindOf(mode_t mode) {
  return S_ISDIR(mode)    ? "it is a folder"
         : S_ISFIFO(mode) ? "it is a pipe, not a file (`-` reads standard input)"
         : S_ISCHR(mode)  ? "it is a device, not a file (`-` reads standard input)"
                          : "it is not a regular file";
}

std::optional<std::string> readFile(StringRef path, uint64_t limit, std::string &error) {
  std::string bytes, problem;
  // Opening a pipe would wait for somebody to write to it.
  int fd = ::open(path.str().c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  struct stat status = {};
  if (fd < 0 || ::fstat(fd, &status))
    problem = std::strerror(errno);
  else if (!S_ISREG(status.st_mode))
    problem = kindOf(status.st_mode);
  else if (uint64_t(status.st_size) > limit)
    problem = tooLong(limit);
  else
    readAll(fd, limit, bytes, problem);
  if (fd >= 0)
    ::close(fd);
  if (problem.empty())
    return bytes;
  error = formatted("cannot read `{}`: {}", path, problem);
  return std::nullopt;
}

std::optional<std::string> readStandardInput(uint64_t limit, std::string &error) {
  std::string bytes, problem;
  if (readAll(STDIN_FILENO, limit, bytes, problem))
    return bytes;
  error = formatted("cannot read standard input: {}", problem);
  return std::nullopt;
}

std::string contentState(StringRef bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(bytes);
  return llvm::toHex(hasher.final<32>(), /*LowerCase=*/true);
}

std::string currentState(StringRef path) {
  if (!llvm::sys::fs::is_regular_file(path))
    return absentState.str();
  std::string error;
  std::optional<std::string> bytes = readFile(path, kMaxLibraryBytes, error);
  return bytes ? contentState(*bytes) : unreadableState.str();
}

void Dependencies::add(StringRef path, std::string state) {
  if (known.insert(path).second)
    list.push_back({path.str(), std::move(state)});
}

void Dependencies::addAbsent(StringRef path) { add(path, absentState.str()); }

void Dependencies::addUnreadable(StringRef path) { add(path, unreadableState.str()); }

} // namespace tile::frontend
