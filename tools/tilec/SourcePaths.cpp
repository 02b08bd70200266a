//===- SourcePaths.cpp - the files that a command is to read --------------===//
#include "tools/tilec/SourcePaths.h"
#include "frontend/Files.h"
#include "text/Format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tilec;
using llvm::StringRef;
using tile::formatted;
namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

bool tilec::looksLikePath(StringRef argument) {
  return argument == "-" || argument.contains('/') || argument.ends_with(".tile") ||
         argument.ends_with(".py") || fs::exists(argument);
}

/// Python that has nothing to do with kernels is not parsed, let alone judged.
static bool hasKernels(StringRef file) {
  if (file.ends_with(".tile"))
    return true;
  if (!file.ends_with(".py"))
    return false;
  std::string unused;
  auto text = tile::frontend::readFile(file, tile::frontend::kMaxSourceBytes, unused);
  return text && StringRef(*text).contains("triton") && StringRef(*text).contains("jit");
}

static bool findBelow(StringRef folder, std::vector<std::string> &files, std::string &error) {
  std::error_code code;
  fs::recursive_directory_iterator it(folder, code, /*follow_symlinks=*/false), end;
  for (; it != end && !code; it.increment(code)) {
    StringRef name = path::filename(it->path());
    if (name.starts_with(".") || name == "__pycache__")
      it.no_push();
    else if (it->type() != fs::file_type::directory_file && hasKernels(it->path()))
      files.push_back(it->path());
  }
  if (code)
    error = formatted("cannot read `{}`: {}", folder, code.message());
  llvm::sort(files);
  return !code;
}

bool tilec::findSources(llvm::ArrayRef<std::string> paths, std::vector<SourcePath> &out,
                        std::string &error) {
  for (const std::string &named : paths) {
    if (!fs::is_directory(named)) {
      out.push_back({named, false});
      continue;
    }
    std::vector<std::string> files;
    if (!findBelow(named, files, error))
      return false;
    if (files.empty()) {
      error = formatted("no file with kernels (.tile, or .py) is below `{}`", named);
      return false;
    }
    for (std::string &file : files)
      out.push_back({std::move(file), true});
  }
  return true;
}
