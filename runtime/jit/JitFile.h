//===- JitFile.h - a kernel as its launches see it ------------------------===//
//
// What a file says about the launches of one of its kernels, read once: the parameters
// that a launch gives values for, how each is specialised on, defaults, the grid.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_JIT_JITFILE_H
#define TILE_RUNTIME_JIT_JITFILE_H

#include "frontend/AST.h"
#include "frontend/Source.h"
#include "runtime/dispatch/Key.h"
#include "runtime/jit/Choices.h"
#include "target/CompileOptions.h"
#include "llvm/Support/Error.h"
#include <mutex>

namespace tile::jit {

struct JitSettings {
  CompileOptions compile;                    ///< signature empty; constexprs are fixed
  std::vector<std::string> plain, unaligned; ///< parameters not specialised on, on alignment
  std::string grid;                          ///< name of a function, a lambda, or nothing
};

/// What the front end has said, as an error.
llvm::Error toError(const frontend::DiagnosticEngine &diagnostics);

class JitFile {
public:
  static llvm::Expected<std::unique_ptr<JitFile>> open(std::unique_ptr<frontend::SourceFile> file,
                                                       JitSettings settings);
  ~JitFile();

  const frontend::SourceFile &source() const { return *file; }
  const std::string &kernel() const { return settings.compile.kernel; }
  /// For a variant all of whose constexprs are known: of arguments, of a configuration, and
  /// of its heuristics.
  CompileOptions optionsFor(const dispatch::Described &described, unsigned configuration,
                            const int64_t *heuristics) const;

  /// What a launch gives, in order.
  std::vector<dispatch::Parameter> parameters;
  /// The values of the last parameters, where a launch leaves them out.
  std::vector<std::optional<tile_value>> defaults;
  /// The types that annotations say, "*fp32:16"; "" for those that say none.
  std::vector<std::string> annotations;
  unsigned numRequired = 0;
  Choices choices;
  std::vector<unsigned> key; ///< arguments whose values select a configuration
  bool hasGrid = false;

  /// The configurations that pruning leaves for a launch; any thread.
  llvm::Expected<std::vector<unsigned>> prune(const tile_value *values) const;
  /// The values of `key`, for people and for records.
  std::string keyText(const tile_value *values) const;
  /// What decides how fast its configurations are, besides options: hash of the file and of
  /// what it imports.
  std::string identity() const;

  std::optional<unsigned> find(llvm::StringRef name) const;
  std::vector<llvm::StringRef> parameterNames() const;

private:
  JitFile(std::unique_ptr<frontend::SourceFile> file, JitSettings settings);
  llvm::Error choose();
  llvm::Error readDecorators();
  llvm::Error readDecisions();
  llvm::Error checkSettings();
  llvm::Error readParameters();
  llvm::Error readHeuristics();
  llvm::Error readGrid();
  llvm::Error checkNames(llvm::ArrayRef<std::string> names, llvm::StringRef what) const;
  llvm::Error toError(std::unique_ptr<eval::EvalError> error, llvm::StringRef context = "") const;
  bool isFixed(llvm::StringRef name) const;
  FormulaNames namesFor(const Configuration &configuration) const;
  std::string *keep(std::string text);

  std::unique_ptr<frontend::SourceFile> file;
  JitSettings settings;
  ast::Module tree;
  std::unique_ptr<frontend::SourceFile> gridText; ///< of a lambda that was given
  ast::ExprPtr gridExpr;
  mutable std::mutex mutex; ///< of evaluations after `open`
  mutable eval::Program program;
  eval::ModuleEnv *module = nullptr;
  std::shared_ptr<eval::FunctionObject> function;
  FormulaNames names;
  std::vector<std::unique_ptr<std::string>> texts; ///< that `defaults` point to
};

} // namespace tile::jit

#endif // TILE_RUNTIME_JIT_JITFILE_H
