//===- Handle.h - what a launch gives back --------------------------------===//
//
// The kernel that was launched, to be asked what became of it: `asm`, `n_regs`, `n_spills`. Nothing
// is compiled for it before somebody asks.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_HANDLE_H
#define TILE_RUNTIME_HOST_HANDLE_H

#include "frontend/eval/Eval.h"
#include "runtime/Device.h"
#include "text/Format.h"
#include <functional>

namespace tile::host {

/// A kernel as it is compiled for a GPU.
struct Inspection {
  std::vector<std::pair<std::string, std::string>> stages; ///< "tile", "llir", "ptx", ...
  KernelMetadata metadata;
  int registers = -1, spillBytes = -1; ///< -1: no assembler is at hand
};
/// Compiles a kernel to be looked at. Errors are in `diagnostics`; false then.
using Inspector = std::function<bool(const runtime::KernelRequest &request,
                                     frontend::DiagnosticEngine &diagnostics, Inspection &out)>;

class KernelHandle : public eval::Extension {
public:
  KernelHandle(runtime::KernelRequest request, Inspector inspector)
      : Extension(&id), request(std::move(request)), inspector(std::move(inspector)) {}
  std::string typeName() const override { return "compiled kernel"; }
  std::string repr() const override {
    return formatted("<compiled kernel {}>", request.options.kernel);
  }
  eval::Result attribute(llvm::StringRef name) override;
  static bool classof(const eval::Extension *e) { return e->classId() == &id; }

private:
  std::unique_ptr<eval::EvalError> inspect();

  static char id;
  runtime::KernelRequest request;
  Inspector inspector;
  std::optional<Inspection> seen;
};

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_HANDLE_H
