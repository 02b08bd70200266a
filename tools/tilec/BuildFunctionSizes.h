//===- BuildFunctionSizes.h - what a function is built for ----------------===//
//
// Types, constants and sizes of a function of whole tensors, as the command line and the file say
// them; and the samples of sizes that the compiler is asked for.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_BUILDFUNCTIONSIZES_H
#define TILE_TOOLS_TILEC_BUILDFUNCTIONSIZES_H

#include "tools/tilec/BuildFunction.h"

namespace tilec {

/// An error of the file.
llvm::Error diagnosed(const tile::eval::EvalError &error);

/// Sizes that a name is built for.
struct SizeRange {
  int64_t least = 1, most = 65536, step = 1;
};

class FunctionSizes {
public:
  FunctionSizes(tile::eval::Program &files, const tile::eval::FunctionObject &function,
                const FunctionRequest &request, BuiltFunction &out)
      : files(files), function(function), request(request), out(out) {}
  /// Fills in all of `out` that comes before its program, and `arguments`.
  llvm::Error read();
  /// Numbers for all names; of those that a call could have. The program must be there.
  std::vector<tile::graph::Bindings> samples() const;

  std::vector<tile::tensors::Argument> arguments;

private:
  llvm::Error readArgument(llvm::StringRef text);
  llvm::Error chooseTypes();
  llvm::Error chooseConstant(size_t parameter);
  llvm::Error findSizes();
  bool findSize(unsigned parameter, unsigned dim, const tile::graph::Size &size);
  bool isPossible(const tile::graph::Bindings &sizes) const;

  tile::eval::Program &files;
  const tile::eval::FunctionObject &function;
  const FunctionRequest &request;
  BuiltFunction &out;
  std::map<std::string, SizeRange> ranges;
  std::map<std::string, tile::eval::DType> elements; ///< of tensors that do not say theirs
};

} // namespace tilec

#endif // TILE_TOOLS_TILEC_BUILDFUNCTIONSIZES_H
