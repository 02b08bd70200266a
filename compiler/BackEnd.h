//===- BackEnd.h - LLVM's NVPTX back end, set up once ---------------------===//
//
// Setting up the back end's hundred passes takes as long as compiling a small
// kernel, so that they are kept and run on one module after another.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_BACKEND_H
#define TILE_COMPILER_BACKEND_H

#include "llvm/ADT/StringRef.h"
#include <memory>
#include <string>
#include <vector>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace tile {

class BackEnd {
public:
  BackEnd(llvm::StringRef chip, int ptxVersion, bool fuseMulAdd);
  ~BackEnd();

  llvm::TargetMachine &machine() { return *target; }
  /// Instruction selection and printing: PTX text, empty if LLVM cannot print it.
  std::string emit(llvm::Module &module);

  /// Names of LLVM's passes and switches that this class goes by and that LLVM does not have
  /// (any more): none, or a pass that is to be left out runs, or a switch has no effect.
  std::vector<std::string> namesNotMet();

private:
  class Passes;
  std::unique_ptr<llvm::TargetMachine> target;
  /// Without and with straight line strength reduction; set up when first needed.
  std::unique_ptr<Passes> kept[2];
};

} // namespace tile

#endif // TILE_COMPILER_BACKEND_H
