//===- NonNegative.h - scalars that are not below zero --------*- C++ -*-===//
//
// What kernels compute from program ids, loop variables and sizes by anything but
// subtraction. That their arguments are not negative the launcher can see to.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_PASSES_FACTS_NONNEGATIVE_H
#define TILE_PASSES_FACTS_NONNEGATIVE_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/SetVector.h"

namespace tile {

class Polynomial;
using ArgumentSet = llvm::SmallSetVector<mlir::BlockArgument, 1>;

/// `v` if it is an argument of the kernel.
mlir::BlockArgument kernelArgument(mlir::Value v);

class NonNegative {
public:
  /// `checked`: the launcher sees to the arguments that are added to `arguments`. Where
  /// it does not, they are taken not to be negative if `trusted`; the author must promise
  /// it otherwise.
  NonNegative(bool checked, bool trusted, ArgumentSet &arguments)
      : checked(checked), trusted(trusted), arguments(arguments) {}

  bool holds(const Polynomial &p) const;

private:
  bool holds(mlir::Value v, unsigned depth = 0) const;
  bool holdsOfCounter(mlir::BlockArgument counter, int64_t more, unsigned depth) const;

  bool checked, trusted;
  ArgumentSet &arguments;
};

} // namespace tile

#endif // TILE_PASSES_FACTS_NONNEGATIVE_H
