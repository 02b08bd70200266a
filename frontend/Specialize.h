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
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "target/CompileOptions.h"

namespace tile::frontend {

/// Loads the dialects that `specialize` builds.
void registerDialects(mlir::MLIRContext &context);

/// Returns null after reporting errors. On success the module carries
/// `tile.num_warps`, `tile.num_stages`, `tile.target`; the function's
/// arguments carry `tile.sig_index`, `tile.sig_path`, `tile.source_type` and,
/// where promised, `tile.divisibility`. Locations are `file:line:col`, with
/// call-site locations through expanded calls. `importedFiles`, if given, gets the
/// real paths of the other files that were read.
mlir::OwningOpRef<mlir::ModuleOp> specialize(mlir::MLIRContext &context, const SourceFile &file,
                                             const ast::Module &module,
                                             const CompileOptions &options,
                                             DiagnosticEngine &diagnostics,
                                             std::vector<std::string> *importedFiles = nullptr);

} // namespace tile::frontend

#endif // TILE_FRONTEND_SPECIALIZE_H
