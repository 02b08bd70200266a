//===- OutputFiles.h - several files, written together or not at all ------===//
#ifndef TILE_TOOLS_TILEC_OUTPUTFILES_H
#define TILE_TOOLS_TILEC_OUTPUTFILES_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <utility>
#include <vector>

namespace tilec {

/// Whether a path is that of a folder, which may be still to be made: it ends in `/`, then.
bool isFolder(llvm::StringRef path);
std::string inFolder(llvm::StringRef folder, llvm::StringRef name, llvm::StringRef ending);
/// Makes the folder if the path says that it is one; false after setting `error`.
bool makeFolder(llvm::StringRef path, std::string &error);

/// Collects what a command will leave on disk. `commit` writes each file aside
/// and renames all of them at the end, so that a reader never sees half a file
/// and a failure leaves what was there before. What replaces a file has its rights,
/// and links stay links. `-` is standard output; devices and pipes are written
/// directly.
class OutputFiles {
public:
  /// `source` is what the command reads, and does not write over.
  explicit OutputFiles(std::string source) : source(std::move(source)) {}
  void add(std::string path, std::string contents) {
    files.emplace_back(std::move(path), std::move(contents));
  }
  /// The same of what a run of `command` found. One that failed found less than what a file may
  /// hold of one before: that stays as it was, and a note says so.
  void addFound(llvm::StringRef command, bool failed, std::string path, std::string contents);
  /// False after setting `error` to a sentence that names the file.
  bool commit(std::string &error);

private:
  std::string source;
  std::vector<std::pair<std::string, std::string>> files;
};

} // namespace tilec

#endif // TILE_TOOLS_TILEC_OUTPUTFILES_H
