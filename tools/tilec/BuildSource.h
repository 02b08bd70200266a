//===- BuildSource.h - kernels that were built, as C ----------------------===//
//
// Writes the C source and the header of `tilec build`: the tables of tile/rt.h.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_BUILDSOURCE_H
#define TILE_TOOLS_TILEC_BUILDSOURCE_H

#include "runtime/jit/Jit.h"

namespace tilec {

/// A variant compiled for one target.
struct BuiltCode {
  tile::KernelMetadata metadata;
  std::string ptx, cubin; ///< the cubin, if there is one, is what goes into the program
  std::shared_ptr<BuiltCode> withoutMaps;
  std::shared_ptr<BuiltCode> alone; ///< where blocks run several programs; it has the other's
                                    ///< `withoutMaps`
};
struct BuiltVariant {
  tile::dispatch::Key key;
  std::vector<BuiltCode> codes;
};
/// A way to compile the kernel.
struct BuiltConfiguration {
  unsigned number = 0; ///< of the file's list
  std::vector<std::string> targets;
};
/// Which one serves launches like this one.
struct BuiltChoice {
  std::string device; ///< empty: all of the capability
  int capability = 0; ///< 0: not known
  unsigned configuration = 0;
  std::vector<tile_value> values; ///< of what selects
};
struct BuiltKernel {
  const tile::jit::JitFile *file;
  std::vector<BuiltConfiguration> configurations;
  std::vector<unsigned> selecting; ///< arguments
  std::vector<BuiltChoice> choices;
  std::vector<BuiltVariant> variants;
  std::vector<std::unique_ptr<std::string>> texts; ///< that values point to
  /// Of arguments: "*fp32", "int", "float", "value" (of several kinds).
  std::vector<std::string> argumentTypes;
};

struct BuiltFunction;

/// The text of NAME.c; an error for what libtile_rt cannot launch.
llvm::Error writeSource(llvm::StringRef name, llvm::ArrayRef<BuiltKernel> kernels,
                        llvm::ArrayRef<BuiltFunction> functions, std::string &source);
/// That of NAME.h.
std::string writeHeader(llvm::StringRef name, llvm::ArrayRef<BuiltKernel> kernels,
                        llvm::ArrayRef<BuiltFunction> functions);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_BUILDSOURCE_H
