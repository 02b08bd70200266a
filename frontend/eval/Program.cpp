//===- Program.cpp - the files of one compilation -------------------------===//
#include "frontend/Parser.h"
#include "frontend/eval/Evaluator.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;

struct Program::LoadedFile {
  std::string path;  ///< without links
  std::string state; ///< of its content
  std::unique_ptr<SourceFile> source;
  ast::Module module;
  ModuleEnv *env = nullptr;
};

Program::Program(std::vector<std::string> includePaths)
    : includePaths(std::move(includePaths)), sharedEvaluator(std::make_unique<Evaluator>()) {}

Program::~Program() = default;

ModuleEnv &Program::add(const SourceFile &file, const ast::Module &module) {
  environments.push_back(std::make_unique<ModuleEnv>(*this, file, module));
  return *environments.back();
}

ModuleEnv &Program::addText(StringRef name, StringRef text) {
  for (auto &loaded : files)
    if (loaded->source->name() == name)
      return *loaded->env;
  auto loaded = std::make_unique<LoadedFile>();
  loaded->source = std::make_unique<SourceFile>(name.str(), text.str());
  frontend::DiagnosticEngine diagnostics;
  loaded->module = frontend::parse(*loaded->source, diagnostics);
  assert(!diagnostics.hasErrors() && "what the compiler brings with it is tested");
  loaded->env = &add(*loaded->source, loaded->module);
  files.push_back(std::move(loaded));
  return *files.back()->env;
}

/// The file a dotted name stands for in `folder`; empty if there is none.
std::string Program::findFile(StringRef folder, StringRef dottedName) {
  llvm::SmallString<256> path(folder);
  llvm::SmallVector<StringRef> parts;
  dottedName.split(parts, '.', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts)
    llvm::sys::path::append(path, part);
  std::string base(path);
  for (StringRef ending : {".tile", "/__init__.py", ".py"})
    if (!parts.empty() || ending.starts_with("/")) {
      if (llvm::sys::fs::is_regular_file(base + ending))
        return base + ending.str();
      looked.addAbsent(base + ending.str());
    }
  return "";
}

ModuleEnv *Program::import(StringRef dottedName, unsigned level, const ModuleEnv &from,
                           std::unique_ptr<EvalError> &error) {
  llvm::SmallString<256> folder(llvm::sys::path::parent_path(from.source().name()));
  for (unsigned up = 1; up < level; ++up)
    llvm::sys::path::append(folder, "..");
  std::string path = findFile(folder, dottedName);
  // A file inside the package that it names: /lib/pkg/a/b.py says pkg.c.
  StringRef package = dottedName.split('.').first;
  for (StringRef at = folder; level == 0 && path.empty() && !at.empty();
       at = llvm::sys::path::parent_path(at))
    if (llvm::sys::path::filename(at) == package)
      path = findFile(llvm::sys::path::parent_path(at), dottedName);
  if (level == 0)
    for (const std::string &include : includePaths)
      if (path.empty())
        path = findFile(include, dottedName);
  if (path.empty())
    return nullptr;
  llvm::SmallString<256> real;
  if (!llvm::sys::fs::real_path(path, real))
    for (auto &loaded : files)
      if (loaded->path == real.str()) {
        looked.add(path, loaded->state);
        return loaded->env;
      }

  auto loaded = std::make_unique<LoadedFile>();
  loaded->path = std::string(real);
  std::string message;
  std::optional<std::string> text = frontend::readFile(path, frontend::kMaxSourceBytes, message);
  if (!text) {
    looked.addUnreadable(path);
    error = fail(message, "ImportError");
    return nullptr;
  }
  loaded->state = frontend::contentState(*text);
  looked.add(path, loaded->state);
  loaded->source = std::make_unique<SourceFile>(path, std::move(*text));
  frontend::DiagnosticEngine diagnostics;
  loaded->module = frontend::parse(*loaded->source, diagnostics);
  loaded->env = &add(*loaded->source, loaded->module);
  files.push_back(std::move(loaded));
  if (!diagnostics.hasErrors())
    return files.back()->env;
  error = fail("", "ImportError");
  error->diagnostic = diagnostics.all().front();
  return nullptr;
}
