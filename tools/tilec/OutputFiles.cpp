//===- OutputFiles.cpp - several files, written together or not at all ----===//
#include "tools/tilec/OutputFiles.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <unistd.h>

using namespace tilec;
using llvm::StringRef;
namespace fs = llvm::sys::fs;

static std::string describe(StringRef path, std::error_code code) {
  return ("cannot write `" + path + "`: " + code.message()).str();
}

/// Writes to an open descriptor; false with `error` set on failure (a full
/// disk, a closed pipe).
static bool writeAll(int fd, StringRef path, StringRef contents, std::string &error) {
  llvm::raw_fd_ostream os(fd, /*shouldClose=*/false);
  os << contents;
  os.flush();
  if (!os.has_error())
    return true;
  error = describe(path, os.error());
  os.clear_error();
  return false;
}

/// Standard output, or a device or pipe that exists: nothing to rename.
static bool writeDirectly(StringRef path, StringRef contents, std::string &error) {
  if (path == "-")
    return writeAll(STDOUT_FILENO, "standard output", contents, error);
  int fd = -1;
  if (std::error_code code = fs::openFileForWrite(path, fd, fs::CD_OpenExisting)) {
    error = describe(path, code);
    return false;
  }
  bool ok = writeAll(fd, path, contents, error);
  ::close(fd);
  return ok;
}

/// The file that `path` names once links are followed, so that a link stays a
/// link. A link to nothing is replaced.
static std::string resolve(StringRef path) {
  llvm::SmallString<256> real;
  if (!fs::real_path(path, real))
    return real.str().str();
  StringRef folder = llvm::sys::path::parent_path(path);
  if (fs::real_path(folder.empty() ? "." : folder, real))
    return path.str();
  llvm::sys::path::append(real, llvm::sys::path::filename(path));
  return real.str().str();
}

/// Why a regular file is not replaced. Renaming would not ask for the right to
/// write it, nor does anybody ask the superuser.
static std::string findObstacle(StringRef path, const fs::file_status &status, StringRef source) {
  if (!fs::can_write(path) || !(status.permissions() & fs::all_write))
    return describe(path, std::make_error_code(std::errc::permission_denied));
  if (fs::equivalent(path, source))
    return ("cannot write `" + path + "`: it is the file that is read").str();
  return "";
}

namespace {
/// A file written aside, not yet visible under its name. Removed unless kept,
/// also when a signal ends the process.
struct AsideFile {
  std::string target, aside;
  StringRef shown;
};
} // namespace

static bool writeAside(AsideFile &file, StringRef contents, std::string &error) {
  file.aside = (file.target + llvm::Twine(".") +
                llvm::utohexstr(llvm::sys::Process::GetRandomNumber()) + ".tmp")
                   .str();
  int fd = -1;
  if (std::error_code code = fs::openFileForWrite(file.aside, fd, fs::CD_CreateNew)) {
    file.aside.clear();
    error = describe(file.shown, code);
    return false;
  }
  llvm::sys::RemoveFileOnSignal(file.aside);
  bool ok = writeAll(fd, file.shown, contents, error);
  ::close(fd);
  return ok;
}

bool OutputFiles::commit(std::string &error) {
  error.clear();
  std::vector<AsideFile> written;
  auto discard = [&](size_t from) {
    for (AsideFile &file : llvm::drop_begin(written, from))
      if (!file.aside.empty()) {
        fs::remove(file.aside);
        llvm::sys::DontRemoveFileOnSignal(file.aside);
      }
    return false;
  };
  // First everything that can fail for want of space or rights, out of sight.
  std::vector<std::pair<StringRef, StringRef>> direct;
  for (auto &[path, contents] : files) {
    fs::file_status status;
    bool exists = path != "-" && !fs::status(path, status) && fs::exists(status);
    if (exists && fs::is_directory(status)) {
      error = describe(path, std::make_error_code(std::errc::is_a_directory));
      return discard(0);
    }
    if (path == "-" || (exists && !fs::is_regular_file(status))) {
      direct.emplace_back(path, contents);
      continue;
    }
    if (exists)
      error = findObstacle(path, status, source);
    std::string target = resolve(path);
    for (const AsideFile &other : written)
      if (other.target == target)
        error = ("cannot write `" + other.shown + "` and `" + path + "`: they are one file").str();
    if (!error.empty())
      return discard(0);
    written.push_back({std::move(target), "", path});
    if (!writeAside(written.back(), contents, error))
      return discard(0);
  }
  for (auto [path, contents] : direct)
    if (!writeDirectly(path, contents, error))
      return discard(0);
  for (auto [index, file] : llvm::enumerate(written)) {
    if (std::error_code code = fs::rename(file.aside, file.target)) {
      error = describe(file.shown, code);
      return discard(index);
    }
    llvm::sys::DontRemoveFileOnSignal(file.aside);
  }
  return true;
}
