//===- ModuleEnv.h - the names of a source file ---------------------------===//
//
// A file's top level is evaluated lazily, name by name: a kernel needs a few
// constants and helpers, and the host code around them may be anything. A name
// is looked up at its last binding (from within a function) or at the last one
// above the asking statement; what cannot be evaluated is an error only when
// something needs it, and the error says why.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_MODULEENV_H
#define TILE_FRONTEND_EVAL_MODULEENV_H

#include "frontend/Files.h"
#include "frontend/eval/Operators.h"
#include "llvm/ADT/StringMap.h"

namespace tile::eval {

class Program;

class ModuleEnv {
public:
  ModuleEnv(Program &program, const SourceFile &file, const ast::Module &module);
  ~ModuleEnv();
  ModuleEnv(const ModuleEnv &) = delete;
  ModuleEnv &operator=(const ModuleEnv &) = delete;

  const SourceFile &source() const { return file; }
  const ast::Module &tree() const { return module; }
  Program &owner() const { return program; }

  /// True if some statement of the file's top level binds the name.
  bool binds(llvm::StringRef name) const;
  /// The value of a global name of this file (not of a builtin). A name that
  /// nothing binds is a NameError that suggests a near one.
  Result lookup(llvm::StringRef name);
  /// The same, as seen by top-level statement `before` (an index).
  Result lookupBefore(llvm::StringRef name, size_t before);
  /// What `from module import *` brings under this name, if anything.
  std::optional<PyValue> starImported(llvm::StringRef name);

  /// Functions of the top level in source order, those inside `if` and the like
  /// too; decorators resolved but not evaluated.
  std::vector<std::shared_ptr<FunctionObject>> functions();
  /// Whether the name of one of them means it in the end: it may be bound again,
  /// or stand in a branch that is not taken.
  bool isBound(const FunctionObject &function);
  /// Those of them that are `@triton.jit`, and then such functions inside other
  /// functions and classes. The names that these see of an enclosing function
  /// are the ones that can be known without calling it.
  std::vector<std::shared_ptr<FunctionObject>> kernels();

  /// `name` as an attribute of this module: a global, or a part of a package.
  Result member(llvm::StringRef name);
  /// `name` of a module that this file imported by `dottedName` and that is not
  /// known here: a part of a package, or an error.
  Result importMember(llvm::StringRef dottedName, llvm::StringRef name);

  /// All names that lookup() may know, for suggestions.
  std::vector<llvm::StringRef> names() const;

  /// The module named by an import in this file, or an error of type
  /// ModuleNotFoundError.
  Result resolveModule(llvm::StringRef dottedName, unsigned level);

private:
  friend class StatementRunner;
  struct Statement;
  Result evaluateStatement(size_t index, llvm::StringRef name);
  /// Runs `stmt`, and what it may choose where it is undecided; what went wrong at first.
  std::unique_ptr<EvalError> runOrChoose(const ast::Stmt &stmt,
                                         const std::shared_ptr<Scope> &scope);
  void runUndecided(const ast::If &branch, const std::shared_ptr<Scope> &scope);
  void runUndecided(const ast::Try &attempt, const std::shared_ptr<Scope> &scope);
  bool runCompletely(const ast::Body &body, const std::shared_ptr<Scope> &scope);
  /// Whether `from this import *` brings a name: `__all__` decides, if there is one.
  bool exports(llvm::StringRef name);
  void addFunctions(const ast::Body &body, size_t index,
                    std::vector<std::shared_ptr<FunctionObject>> &out);
  void addKernelsByCall(std::vector<std::shared_ptr<FunctionObject>> &out);
  void addNestedKernels(const ast::Body &body, const std::shared_ptr<Scope> &scope,
                        std::vector<std::shared_ptr<FunctionObject>> &out);
  std::shared_ptr<Scope> scopeInside(const ast::FunctionDef &def,
                                     const std::shared_ptr<Scope> &outer);

  Program &program;
  const SourceFile &file;
  const ast::Module &module;
  std::vector<std::unique_ptr<Statement>> statements;
  llvm::StringMap<std::vector<size_t>> bindings; ///< name -> statements, in order
  std::vector<const ast::ImportFrom *> starImports;
  bool inStarImports = false; ///< files may import each other
  /// Hold functions that hold them: emptied in the end.
  std::vector<std::shared_ptr<Scope>> insideFunctions;
};

/// The files of one compilation: owns what it loads for `import`.
class Program {
public:
  explicit Program(std::vector<std::string> includePaths = {});
  ~Program();

  /// The environment of a file owned by the caller, who keeps both alive.
  ModuleEnv &add(const SourceFile &file, const ast::Module &module);
  /// The file that `import dotted.name` (with `level` leading dots) in `from`
  /// refers to: `dotted/name.tile` or `.py` or `dotted/name/__init__.py`,
  /// beside `from` or in an include path. Null if there is none; a file that
  /// does not parse is an error.
  ModuleEnv *import(llvm::StringRef dottedName, unsigned level, const ModuleEnv &from,
                    std::unique_ptr<EvalError> &error);
  /// The environment of a file that the compiler brings with it, which is read once.
  ModuleEnv &addText(llvm::StringRef name, llvm::StringRef text);
  Evaluator &evaluator() { return *sharedEvaluator; }
  /// The files read and looked for in vain for imports, in order.
  const std::vector<frontend::Dependency> &dependencies() const { return looked.all(); }

private:
  std::string findFile(llvm::StringRef folder, llvm::StringRef dottedName);
  struct LoadedFile;
  std::vector<std::string> includePaths;
  std::vector<std::unique_ptr<LoadedFile>> files;
  frontend::Dependencies looked;
  std::vector<std::unique_ptr<ModuleEnv>> environments;
  std::unique_ptr<Evaluator> sharedEvaluator;
};

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_MODULEENV_H
