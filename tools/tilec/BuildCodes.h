//===- BuildCodes.h - compiled code, as C ---------------------------------===//
//
// The parts of tile/rt.h's tables that kernels and functions of whole tensors have in common: code
// with its parameters and tensor maps, and formulas.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_BUILDCODES_H
#define TILE_TOOLS_TILEC_BUILDCODES_H

#include "runtime/LaunchPlan.h"
#include "runtime/dispatch/Formula.h"
#include "tools/tilec/BuildSource.h"
#include "llvm/Support/raw_ostream.h"
#include <functional>

namespace tilec {

/// A C string literal; `lines` breaks it at line ends.
std::string quoted(llvm::StringRef text, bool lines = false);

/// Writes what belongs to one kernel; every table gets a name that begins with what it is given.
class CodeWriter {
public:
  /// `kernel` for messages; `argumentOf`: the argument of a launch that an entry of the signature
  /// is.
  CodeWriter(llvm::raw_ostream &os, std::string kernel, std::function<unsigned(int)> argumentOf)
      : os(os), kernel(std::move(kernel)), argumentOf(std::move(argumentOf)) {}
  /// Writes what a code refers to; the code itself.
  llvm::Expected<std::string> writeCode(const std::string &name, const BuiltCode &code,
                                        std::string withoutMaps = "0");
  /// Writes the steps; the formula.
  std::string writeFormula(const std::string &name, llvm::ArrayRef<tile::dispatch::Step> steps,
                           unsigned results);

private:
  llvm::Error unsupported(const llvm::Twine &what) const;
  llvm::Expected<unsigned> writeParameters(const std::string &name,
                                           const tile::KernelMetadata &metadata,
                                           const tile::runtime::LaunchPlan &plan);
  llvm::Error writeMap(const std::string &name, const tile::KernelParameter &parameter,
                       const tile::KernelMetadata &metadata, std::string &entry);
  llvm::Error addSum(const tile::LaunchSum &sum, const tile::KernelMetadata &metadata,
                     std::vector<tile::dispatch::Step> &steps) const;
  void writeImage(const std::string &name, const BuiltCode &code);

  llvm::raw_ostream &os;
  std::string kernel;
  std::function<unsigned(int)> argumentOf;
};

} // namespace tilec

#endif // TILE_TOOLS_TILEC_BUILDCODES_H
