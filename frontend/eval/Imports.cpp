//===- Imports.cpp - modules that a module names ------------------------===//
#include "frontend/eval/Methods.h"
#include "frontend/eval/ModuleEnv.h"
#include "frontend/eval/ModuleStatement.h"
#include "frontend/eval/Statements.h"
#include "text/Format.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SaveAndRestore.h"
#include <map>

using namespace tile;
using namespace tile::eval;
using llvm::StringRef;
using Kind = PyValue::Kind;

static std::unique_ptr<EvalError> moduleNotFound(StringRef name) {
  return fail(
      formatted(
          "module `{}` is not available to compile-time code (`--include` says where else to look)",
          name),
      "ModuleNotFoundError");
}

Result ModuleEnv::resolveModule(StringRef dottedName, unsigned level) {
  std::string canonical = level ? "" : canonicalModule(dottedName);
  if (!canonical.empty())
    return PyValue::module(canonical);
  std::unique_ptr<EvalError> error;
  if (ModuleEnv *env = program.import(dottedName, level, *this, error))
    return PyValue::module(dottedName.str(), env);
  if (error)
    return error;
  return moduleNotFound(std::string(level, '.') + dottedName.str());
}

Result ModuleEnv::member(StringRef name) {
  // `from . import part` in a package binds the name that it looks up.
  Result global = binds(name) ? lookup(name) : Result(fail(""));
  if (global)
    return global;
  std::unique_ptr<EvalError> error;
  if (llvm::sys::path::filename(file.name()) == "__init__.py")
    if (ModuleEnv *part = program.import(name, 1, *this, error))
      return PyValue::module(name.str(), part);
  if (error)
    return error;
  return binds(name) ? std::move(global) : lookup(name);
}

Result ModuleEnv::importMember(StringRef dottedName, StringRef name) {
  std::string whole = (dottedName + "." + name).str();
  Result module = resolveModule(whole, 0);
  if (module || module.error().type != "ModuleNotFoundError")
    return module;
  // Not an error that a file's `except Exception` would have met.
  std::unique_ptr<EvalError> error = moduleNotFound(dottedName);
  error->type = "UnavailableError";
  return error;
}
