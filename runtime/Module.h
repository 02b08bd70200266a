//===- Module.h - PTX to a loaded module, through the driver --------------===//
//
// The driver compiles PTX itself. We ask it for its log and, if it refuses,
// turn that into an error that quotes the PTX line and the source line that it
// came from. Its linker can also assemble PTX for a file (`assemble`); kernels are
// not run from that, since the linker compiles as relocatable code, with more
// registers.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_MODULE_H
#define TILE_RUNTIME_MODULE_H

#include "runtime/Context.h"
#include "llvm/ADT/StringRef.h"

namespace tile::runtime {

struct JitOptions {
  bool lineInfo = true; ///< keep `.loc` for profilers
  int level = 0;        ///< how hard the assembler tries, 1 to 4; 0: as the text's length says
};

/// A loaded CUmodule; unloaded with the object.
class Module {
public:
  /// Compiles and loads. Needs `ptx` to be one module.
  static llvm::Expected<Module> loadPtx(std::shared_ptr<Context> context, llvm::StringRef ptx,
                                        const JitOptions &options = {});

  /// Loads machine code of the context's device.
  static llvm::Expected<Module> loadMachineCode(std::shared_ptr<Context> context,
                                                llvm::StringRef cubin);

  Module(Module &&other) noexcept;
  Module &operator=(Module &&other) noexcept;
  ~Module();

  llvm::Expected<cuda::Function> function(llvm::StringRef name) const;
  const std::shared_ptr<Context> &context() const { return owner; }
  /// Wall time of the driver's load call.
  double loadMilliseconds() const { return milliseconds; }

private:
  Module(std::shared_ptr<Context> context, cuda::Module handle, double milliseconds)
      : owner(std::move(context)), module(handle), milliseconds(milliseconds) {}
  std::shared_ptr<Context> owner;
  cuda::Module module = nullptr;
  double milliseconds = 0;
};

struct Assembled {
  std::string cubin;
  std::string log;         ///< the driver's remarks: registers, spills
  double milliseconds = 0; ///< wall time of the driver's linker
};

/// Compiles PTX to machine code for the context's device, loading nothing.
llvm::Expected<Assembled> assemble(const Context &context, llvm::StringRef ptx,
                                   const JitOptions &options = {});

/// The readable form of what the driver's compiler says about a PTX text it
/// refuses: each "line N" remark with that line of the PTX, and the source
/// position of the last `.loc` before it. Exposed for tests.
std::string explainJitLog(llvm::StringRef log, llvm::StringRef ptx);

/// The CUDA version (as 12040) that first understands a PTX text's `.version`;
/// 0 if it is not known.
int cudaVersionForPtx(llvm::StringRef ptx);

} // namespace tile::runtime

#endif // TILE_RUNTIME_MODULE_H
