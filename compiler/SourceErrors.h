//===- SourceErrors.h - errors at lines of the source ---------------------===//
//
// Whatever part of a compilation finds a fault, a user sees the line of the program, and those of
// the calls that led there.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_SOURCEERRORS_H
#define TILE_COMPILER_SOURCEERRORS_H

#include "frontend/Source.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include <map>

namespace tile {

class SourceErrors {
public:
  SourceErrors(const frontend::SourceFile &file, frontend::DiagnosticEngine &diagnostics)
      : file(file), diagnostics(diagnostics) {}

  frontend::Diagnostic &at(mlir::Location loc, std::string message);
  /// What LLVM finds wrong is an error here: by itself it would print that and end the process.
  /// As long as this lives.
  void listenTo(llvm::LLVMContext &context);

private:
  struct Place;
  static void collect(mlir::Location loc, llvm::SmallVectorImpl<Place> &places);
  static void receive(const llvm::DiagnosticInfo *info, void *errors);
  const frontend::SourceFile *fileNamed(const std::string &name);
  frontend::Diagnostic diagnosticAt(const Place &place, std::string message);
  frontend::Diagnostic &errorAt(llvm::ArrayRef<Place> places, std::string message);

  const frontend::SourceFile &file;
  frontend::DiagnosticEngine &diagnostics;
  std::map<std::string, std::shared_ptr<frontend::SourceFile>> others;
};

/// Leaves each place of a called function to one op of a function while MLIR gives places their
/// scopes, which takes it as long as to lower an op: an inlined loop has thousands at a few places.
class SharedPlaces {
public:
  explicit SharedPlaces(mlir::ModuleOp module);
  ~SharedPlaces();
  SharedPlaces(const SharedPlaces &) = delete;

private:
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::Operation *>> others;
};

} // namespace tile

#endif // TILE_COMPILER_SOURCEERRORS_H
