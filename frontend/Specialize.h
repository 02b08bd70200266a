//===- Specialize.h - from a kernel's tree to the tile dialect ------------===//
//
// Compiles one kernel for given argument types and compile-time values: the
// typing rules of the language live here (promotion, weak literals, constexpr
// evaluation, broadcasting, loop-carried values). Calls to other kernel
// functions are expanded in place, so the result is one `func.func` named
// after the kernel, with no calls, in a module.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_H
#define TILE_FRONTEND_SPECIALIZE_H

#include "frontend/AST.h"
#include "frontend/Files.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "target/CompileOptions.h"

namespace tile::eval {
struct FunctionObject;
class ModuleEnv;
} // namespace tile::eval

namespace tile::frontend {

/// How the name of a file ends that has a kernel in the tile dialect, as text. Messages
/// quote what its locations name.
inline constexpr llvm::StringLiteral kModuleEnding = ".mlir";

/// Loads the dialects that `specialize` builds.
void registerDialects(mlir::MLIRContext &context);

/// A parsed file whose kernels are specialised: they are found, and what they share is
/// evaluated, once for all of them. One thread at a time.
class KernelFile {
public:
  /// Whoever makes it keeps `file` and `module` alive.
  KernelFile(const SourceFile &file, const ast::Module &module,
             std::vector<std::string> includePaths);
  ~KernelFile();

  eval::ModuleEnv &environment();
  const std::vector<std::shared_ptr<eval::FunctionObject>> &kernels();
  /// As the function below; the options' include paths are those of the file.
  mlir::OwningOpRef<mlir::ModuleOp> specialize(mlir::MLIRContext &context,
                                               const CompileOptions &options,
                                               DiagnosticEngine &diagnostics);
  /// The other files that were read so far, and those that were looked for in vain.
  const std::vector<Dependency> &dependencies() const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

/// Returns null after reporting errors. On success the module carries
/// `tile.target` and `tile.kernel`; the function's
/// arguments carry `tile.sig_index`, `tile.sig_path`, `tile.source_type` and,
/// where promised, `tile.divisibility`. Locations are `file:line:col`, with
/// call-site locations through expanded calls. `dependencies`, if given, gets the
/// other files that were read, and those that were looked for in vain.
mlir::OwningOpRef<mlir::ModuleOp> specialize(mlir::MLIRContext &context, const SourceFile &file,
                                             const ast::Module &module,
                                             const CompileOptions &options,
                                             DiagnosticEngine &diagnostics,
                                             std::vector<Dependency> *dependencies = nullptr);

} // namespace tile::frontend

#endif // TILE_FRONTEND_SPECIALIZE_H
