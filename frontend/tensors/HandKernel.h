//===- HandKernel.h - a kernel that somebody wrote, in a function's graph -===//
//
// `kernel[grid](x, out, n, BLOCK=128)` in a function of whole tensors: what the graph does not
// need to know of it. Sizes stay formulas.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_TENSORS_HANDKERNEL_H
#define TILE_FRONTEND_TENSORS_HANDKERNEL_H

#include "frontend/eval/Value.h"
#include "ir/graph/Size.h"
#include "target/WarpRoles.h"

namespace tile::tensors {

/// What one parameter of the kernel is given.
struct HandArgument {
  enum class Kind { Read, Write, Size, Integer, Real, Constant };
  Kind kind = Kind::Constant;
  std::string name;     ///< of the parameter
  unsigned index = 0;   ///< Read: which operand; Write: which result
  graph::Size size;     ///< Size
  int64_t integer = 0;  ///< Integer
  double real = 0;      ///< Real
  std::string constant; ///< Constant, as Python writes it
};

/// A dimension of the grid: a product of sizes, each divided and rounded up.
struct HandGrid {
  std::vector<std::pair<graph::Size, int64_t>> factors;
  /// Nothing if it does not fit.
  std::optional<int64_t> evaluate(const graph::Bindings &sizes) const;
};

struct HandKernel {
  eval::PyValue function;
  unsigned line = 0; ///< of the launch
  std::vector<HandArgument> arguments;
  std::vector<HandGrid> grid; ///< three at most
  int numWarps = kDefaultWarps, numStages = kDefaultStages;
};

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_HANDKERNEL_H
