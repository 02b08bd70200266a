//===- Parameters.h - what each parameter of a kernel is ------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_PARAMETERS_H
#define TILE_FRONTEND_SPECIALIZE_PARAMETERS_H

#include "frontend/specialize/Signature.h"
#include "frontend/specialize/Specializer.h"

namespace tile::specialize {

/// Gives each parameter of one kernel its type or value.
class Parameters {
public:
  Parameters(const eval::FunctionObject &kernel, eval::Program &program,
             const CompileOptions &options, DiagnosticEngine &diagnostics)
      : kernel(kernel), program(program), options(options), diagnostics(diagnostics),
        file(&kernel.module->source()) {}

  struct Slot {
    const ast::Parameter *parameter;
    bool isConstexpr;
    int index = -1; ///< of the signature entry
    ArgumentType type;
    PyValue value; ///< of a constexpr
    bool hasValue = false;
  };
  std::vector<Slot> slots;

  /// False after reporting errors.
  bool resolve();

private:
  void classify();
  bool readSignature();
  bool readAnnotations();
  void refuseUntyped(llvm::ArrayRef<const ast::Parameter *> unknown);
  bool refuseConfigurations(const std::string &instead, frontend::SourceRange range);
  bool readConstexprs();
  std::optional<ArgumentType> annotated(const ast::Parameter &parameter);
  std::string runtimeNames() const;

  const eval::FunctionObject &kernel;
  eval::Program &program;
  const CompileOptions &options;
  DiagnosticEngine &diagnostics;
  const SourceFile *file;
};

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_PARAMETERS_H
