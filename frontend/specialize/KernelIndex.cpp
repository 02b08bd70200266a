//===- KernelIndex.cpp - which kernel a name means ------------------------===//
#include "frontend/specialize/KernelIndex.h"
#include "frontend/eval/Helpers.h"
#include "frontend/eval/Statements.h"
#include "text/Format.h"
#include <map>

using llvm::StringRef;

namespace tile::specialize {

using eval::PyValue;
using frontend::DiagnosticEngine;
using frontend::nearestName;
using frontend::SourceFile;

static void collectSurroundings(const ast::Body &body, const std::string &around,
                                Surroundings &out) {
  for (const ast::StmtPtr &stmt : body) {
    auto *function = llvm::dyn_cast<ast::FunctionDef>(stmt.get());
    auto *type = llvm::dyn_cast<ast::ClassDef>(stmt.get());
    if (function) {
      out.try_emplace(function, around);
      collectSurroundings(function->body, around + function->name + ".", out);
    } else if (type) {
      collectSurroundings(type->body, around + type->name + ".", out);
    }
    for (const ast::Body *inner : eval::innerBodies(*stmt))
      collectSurroundings(*inner, around, out);
  }
}

std::string KernelIndex::qualifiedName(const eval::FunctionObject &kernel) {
  std::string path = kernel.name();
  if (!kernel.def || kernel.def->name != path)
    return path;
  if (!surroundings) {
    surroundings.emplace();
    collectSurroundings(tree.body, "", *surroundings);
  }
  return surroundings->lookup(kernel.def) + path;
}

static std::string quotedNames(llvm::ArrayRef<FunctionPtr> functions, KernelIndex &index) {
  constexpr size_t most = 16;
  std::string text;
  for (auto [i, function] : llvm::enumerate(functions.take_front(most)))
    text += formatted("{}{}`", i ? ", `" : "`", index.qualifiedName(*function));
  if (functions.size() > most)
    text += formatted(" and {} more", functions.size() - most);
  return text;
}

/// Whether a kernel's name still means it where its scope ends.
static bool isBound(const eval::FunctionObject &kernel) {
  if (kernel.closure) {
    auto it = kernel.closure->variables.find(kernel.name());
    return it != kernel.closure->variables.end() && it->second.is(PyValue::Kind::Function) &&
           it->second.asFunction().def == kernel.def;
  }
  return kernel.module->isBound(kernel);
}

/// The kernels that a name may mean: by its path, else by its name alone, where
/// one at the top hides those inside. Of several with one path it means the one
/// that the path's name is bound to in the end, as in Python.
std::vector<FunctionPtr> KernelIndex::named(StringRef name) {
  StringRef last = name.contains('.') ? name.rsplit('.').second : name;
  const std::vector<FunctionPtr> &candidates = byName[last];
  if (candidates.size() == 1 && last == name)
    return candidates;
  std::vector<FunctionPtr> found;
  std::map<std::string, size_t> places; // of each path in `found`
  FunctionPtr exact;
  auto replaces = [](const FunctionPtr &later, const FunctionPtr &earlier) {
    return isBound(*later) || !isBound(*earlier);
  };
  for (const FunctionPtr &kernel : candidates) {
    std::string path = qualifiedName(*kernel);
    if (path == name && (!exact || replaces(kernel, exact)))
      exact = kernel;
    if (path == name || kernel->name() != name)
      continue;
    auto [place, isNew] = places.try_emplace(path, found.size());
    if (isNew)
      found.push_back(kernel);
    else if (replaces(kernel, found[place->second]))
      found[place->second] = kernel;
  }
  if (exact)
    return {exact};
  // `kernel = triton.jit(function)`: either name will do.
  for (const FunctionPtr &kernel : candidates)
    if (found.empty() && kernel->def && kernel->def->name == name)
      found.push_back(kernel);
  return found;
}

/// "`--kernel add`, the types of (x, n) with `--signature`, and `--constexpr BLOCK=VALUE`". What
/// configurations set is not worked out for this.
static std::string howToCompile(const eval::FunctionObject &kernel, KernelIndex &index) {
  std::string types, names, constants;
  for (const ast::Parameter &parameter : kernel.def->params) {
    std::string &list =
        eval::isConstexprAnnotation(parameter.annotation.get(), kernel.module) ? names : types;
    if (&list == &types || !parameter.defaultValue)
      list += formatted("{}{}", list.empty() ? "" : ", ", parameter.name);
    if (&list == &names && !parameter.defaultValue)
      constants +=
          formatted("{} `--constexpr {}=VALUE`", constants.empty() ? ", and" : "", parameter.name);
  }
  if (!names.empty() && kernel.findDecorator("triton.autotune"))
    constants = formatted(", and `--constexpr NAME=VALUE` for those of ({}) that its "
                          "configurations leave open",
                          names);
  return formatted("`--kernel {}`{}{}", index.qualifiedName(kernel),
                   types.empty() ? "" : formatted(", the types of ({}) with `--signature`", types),
                   constants);
}

/// Several kernels, and nothing says which: each is a note that says what to type.
static void refuseSeveral(llvm::ArrayRef<FunctionPtr> kernels, KernelIndex &index,
                          const SourceFile &file, DiagnosticEngine &diagnostics) {
  constexpr size_t most = 8;
  frontend::Diagnostic &error = diagnostics.error(
      nullptr, {},
      formatted("`{}` has several kernels: name one with `--kernel`, and say what it takes{}",
                file.name(),
                kernels.size() <= most ? "" : formatted(": {}", quotedNames(kernels, index))));
  for (const FunctionPtr &kernel : kernels)
    if (kernels.size() <= most && kernel->def)
      error.notes.push_back(
          {frontend::Severity::Note, &file, kernel->range(), howToCompile(*kernel, index), {}});
}

/// Why there is no kernel: what else the file has instead.
static std::string describeNoKernel(eval::ModuleEnv &module) {
  std::string text =
      formatted("no function of `{}` is decorated with `@triton.jit`", module.source().name());
  for (const FunctionPtr &function : module.functions())
    if (function->findDecorator("tile.function"))
      return formatted("{}; `{}` is of whole tensors: it is compiled when it is called, and "
                       "`tilec explain` says to what",
                       text, function->name());
  return text;
}

FunctionPtr chooseKernel(eval::ModuleEnv &module, KernelIndex &index, const CompileOptions &options,
                         DiagnosticEngine &diagnostics) {
  const SourceFile *file = &module.source();
  const std::vector<FunctionPtr> &kernels = index.kernels;
  if (options.kernel.empty()) {
    std::vector<FunctionPtr> candidates = eval::withoutHelpers(kernels);
    if (candidates.size() == 1)
      return candidates[0];
    if (kernels.empty())
      diagnostics.error(nullptr, {}, describeNoKernel(module));
    else
      refuseSeveral(candidates.empty() ? kernels : candidates, index, *file, diagnostics);
    return nullptr;
  }
  std::vector<FunctionPtr> found = index.named(options.kernel);
  if (found.size() == 1)
    return found[0];
  if (!found.empty()) {
    diagnostics.error(file, found[1]->range(),
                      formatted("there are several kernels `{}`, name one with `--kernel`: {}",
                                options.kernel, quotedNames(found, index)));
    return nullptr;
  }
  for (const FunctionPtr &function : module.functions())
    if (function->name() == options.kernel) {
      diagnostics.error(
          file, function->range(),
          formatted("`{}` is not a kernel: decorate it with `@triton.jit`", options.kernel));
      return nullptr;
    }
  std::vector<std::string> names;
  for (const FunctionPtr &kernel : kernels)
    names.push_back(index.qualifiedName(*kernel));
  StringRef near = nearestName(options.kernel, {names.begin(), names.end()});
  std::string hint = !near.empty()      ? formatted("; did you mean `{}`?", near)
                     : !kernels.empty() ? formatted("; it has {}", quotedNames(kernels, index))
                                        : "; it has no kernels";
  diagnostics.error(
      nullptr, {},
      formatted("there is no kernel `{}` in {}{}", options.kernel, file->name(), hint));
  return nullptr;
}

} // namespace tile::specialize
