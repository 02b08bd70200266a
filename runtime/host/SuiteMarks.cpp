//===- SuiteMarks.cpp - what a file without tests was meant to have --------===//
//
// A file that has no function of the purpose or name that is asked for: which of its functions were
// to be one, and what its author has to write above them.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/Suite.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using namespace tile::host;
using llvm::StringRef;

/// Whether others find a function of this name by its name alone.
static bool isCalledLike(StringRef name, Purpose purpose) {
  switch (purpose) {
  case Purpose::Test:
    return name.starts_with("test");
  case Purpose::Bench:
    return name.starts_with("bench");
  case Purpose::Example:
    return name == "main";
  }
  llvm_unreachable("a purpose without a name");
}

static bool isPlain(eval::ModuleEnv &file, const eval::FunctionObject &function) {
  return function.decorators.empty() && file.isBound(function);
}

/// What a file without functions for `purpose` has: other commands run it, or one is to be written.
std::string Suite::whatElseThereIs(Purpose purpose) {
  for (Purpose other : {Purpose::Test, Purpose::Bench, Purpose::Example})
    if (other != purpose && !functionsOf(file, other).empty())
      return formatted("; it has some for `tilec {}`", other == Purpose::Test    ? "test"
                                                       : other == Purpose::Bench ? "bench"
                                                                                 : "run");
  constexpr size_t most = 3;
  std::string kernels, functions;
  size_t count = 0;
  for (auto &function : file.functions()) {
    bool isKernel = function->findDecorator("triton.jit");
    if ((!isKernel && !function->findDecorator("tile.function")) || ++count > most)
      continue;
    std::string &list = isKernel ? kernels : functions;
    list += formatted("{}`{}`", list.empty() ? "" : " or ", function->name());
  }
  if (kernels.empty())
    return functions.empty() ? "" : formatted(": write one that calls {}", functions);
  return formatted(": write one that launches {}", kernels);
}

/// The decorator of ours that `name` was to be, by its last word: `tst.test` and `test` are
/// `tile.test`.
static StringRef meantDecorator(StringRef name) {
  std::vector<StringRef> words;
  for (StringRef known : hostDecorators())
    words.push_back(known.rsplit('.').second);
  StringRef word = name.contains('.') ? name.rsplit('.').second : name;
  auto same = llvm::find(words, word);
  if (same == words.end())
    same = llvm::find(words, frontend::nearestName(word, words));
  return same == words.end() ? StringRef() : hostDecorators()[size_t(same - words.begin())];
}

/// A function that only decorators which nobody here knows keep from being one for `purpose`.
/// `isSure`: its name or theirs say that it was to be one.
std::string Suite::unknownDecorator(Purpose purpose, bool isSure) {
  for (auto &function : file.functions())
    for (const eval::Decorator &decorator : function->decorators) {
      if (decorator.known || !file.isBound(*function) ||
          llvm::is_contained(hostDecorators(), decorator.name))
        continue;
      StringRef meant = meantDecorator(decorator.name);
      std::string text = formatted("; `{}` has the decorator `@{}`, which is not known",
                                   function->name(), decorator.name);
      if (!meant.empty())
        return text + formatted(": did you mean `@{}`?", meant);
      if (isSure && !isCalledLike(function->name(), purpose))
        continue;
      std::string values;
      for (auto &parameter : function->params())
        values += formatted("{}{}=[...]", values.empty() ? "" : ", ", parameter.name);
      return text + formatted(": put `@{}{}` in its place", decoratorName(purpose),
                              values.empty() ? "" : formatted("({})", values));
    }
  return "";
}

std::string Suite::howToMark(Purpose purpose) {
  if (std::string text = unknownDecorator(purpose, /*isSure=*/true); !text.empty())
    return text;
  std::vector<std::string> found;
  for (auto &function : file.functions())
    if (isPlain(file, *function) && isCalledLike(function->name(), purpose))
      found.push_back(function->name());
  if (!found.empty())
    return formatted("; `{}` {} no decorator: put `@{}` above {}", llvm::join(found, "`, `"),
                     found.size() == 1 ? "has" : "have", decoratorName(purpose),
                     found.size() == 1 ? "it" : "each");
  std::string text = unknownDecorator(purpose, /*isSure=*/false);
  return text.empty() ? whatElseThereIs(purpose) : text;
}

/// That the file has all functions of these names.
std::unique_ptr<eval::EvalError> Suite::checkNames(Purpose purpose,
                                                   llvm::ArrayRef<std::string> wanted,
                                                   llvm::ArrayRef<std::string> known) const {
  for (const std::string &name : wanted) {
    if (llvm::is_contained(known, name))
      continue;
    std::vector<StringRef> candidates(known.begin(), known.end());
    std::string message = formatted("`{}` has no `@{}` function `{}`", file.source().name(),
                                    decoratorName(purpose), name);
    bool isUnmarked = llvm::any_of(file.functions(), [&](auto &function) {
      return function->name() == name && isPlain(file, *function);
    });
    if (isUnmarked)
      message +=
          formatted(": its `def` has no decorator, put `@{}` above it", decoratorName(purpose));
    else if (StringRef near = frontend::nearestName(name, candidates); !near.empty())
      message += formatted("; did you mean `{}`?", near);
    return eval::fail(message, "NameError");
  }
  return nullptr;
}
