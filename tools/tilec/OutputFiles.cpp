//===- OutputFiles.cpp - several files, written together or not at all ----===//
#include "tools/tilec/OutputFiles.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <climits>
#include <optional>
#include <unistd.h>

using namespace tilec;
using llvm::StringRef;
using tile::formatted;
namespace fs = llvm::sys::fs;

static std::string describe(StringRef path, std::error_code code) {
  return formatted("cannot write `{}`: {}", path, code.message());
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

/// Where a link points to; nothing if `path` is none.
static std::optional<std::string> linkTarget(const std::string &path) {
  llvm::SmallString<256> text;
  text.resize_for_overwrite(PATH_MAX);
  ssize_t length = ::readlink(path.c_str(), text.data(), text.size());
  if (length < 0)
    return std::nullopt;
  text.truncate(length);
  if (llvm::sys::path::is_absolute(text))
    return text.str().str();
  llvm::SmallString<256> beside(llvm::sys::path::parent_path(path));
  llvm::sys::path::append(beside, text);
  return beside.str().str();
}

/// The file that `path` names once links are followed, so that a link stays a
/// link, also one to a file that is not there yet.
static std::string resolve(std::string path) {
  constexpr int mostLinks = 40; // as the kernel follows; a ring of links is refused before
  for (int links = 0; links < mostLinks; ++links)
    if (std::optional<std::string> target = linkTarget(path))
      path = std::move(*target);
    else
      break;
  llvm::SmallString<256> real;
  if (!fs::real_path(path, real))
    return real.str().str();
  StringRef folder = llvm::sys::path::parent_path(path);
  if (fs::real_path(folder.empty() ? "." : folder, real))
    return path;
  llvm::sys::path::append(real, llvm::sys::path::filename(path));
  return real.str().str();
}

/// Why a regular file is not replaced. Renaming would not ask for the right to
/// write it, nor does anybody ask the superuser.
static std::string findObstacle(StringRef path, const fs::file_status &status, StringRef source) {
  if (!fs::can_write(path) || !(status.permissions() & fs::all_write))
    return describe(path, std::make_error_code(std::errc::permission_denied));
  if (fs::equivalent(path, source))
    return formatted("cannot write `{}`: it is the file that is read", path);
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

/// The new file is to others what the one that it replaces was: group, owner where
/// that is possible, and rights.
static void keepRights(int fd, const fs::file_status &before) {
  if (::fchown(fd, before.getUser(), before.getGroup()))
    (void)::fchown(fd, -1, before.getGroup());
  (void)fs::setPermissions(fd, before.permissions());
}

/// `before`: of the file that will be replaced, or null.
static bool writeAside(AsideFile &file, StringRef contents, const fs::file_status *before,
                       std::string &error) {
  file.aside =
      formatted("{}.{}.tmp", file.target, llvm::utohexstr(llvm::sys::Process::GetRandomNumber()));
  int fd = -1;
  unsigned mode = before ? fs::owner_read | fs::owner_write : fs::all_read | fs::all_write;
  if (std::error_code code =
          fs::openFileForWrite(file.aside, fd, fs::CD_CreateNew, fs::OF_None, mode)) {
    file.aside.clear();
    error = describe(file.shown, code);
    return false;
  }
  llvm::sys::RemoveFileOnSignal(file.aside);
  if (before)
    keepRights(fd, *before);
  bool ok = writeAll(fd, file.shown, contents, error);
  ::close(fd);
  return ok;
}

void OutputFiles::addFound(StringRef command, bool failed, std::string path, std::string contents) {
  if (failed && fs::is_regular_file(path))
    llvm::errs() << formatted("tilec {}: note: the run failed, and `{}` stays as it was\n", command,
                              path);
  else
    add(std::move(path), std::move(contents));
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
    std::error_code found = path == "-" ? std::error_code() : fs::status(path, status);
    if (found == std::errc::too_many_symbolic_link_levels) {
      error = describe(path, found);
      return discard(0);
    }
    bool exists = path != "-" && !found && fs::exists(status);
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
        error = formatted("cannot write `{}` and `{}`: they are one file", other.shown, path);
    if (!error.empty())
      return discard(0);
    written.push_back({std::move(target), "", path});
    if (!writeAside(written.back(), contents, exists ? &status : nullptr, error))
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

bool tilec::isFolder(StringRef path) {
  return path.ends_with("/") || llvm::sys::fs::is_directory(path);
}

std::string tilec::inFolder(StringRef folder, StringRef name, StringRef ending) {
  return formatted("{}{}{}.{}", folder, folder.ends_with("/") ? "" : "/", name, ending);
}

bool tilec::makeFolder(StringRef path, std::string &error) {
  if (!path.ends_with("/"))
    return true;
  std::error_code code = llvm::sys::fs::create_directories(path);
  if (code)
    error = formatted("cannot make the folder `{}`: {}", path, code.message());
  return !code;
}
