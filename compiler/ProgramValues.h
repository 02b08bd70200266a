//===- ProgramValues.h - integers as one program has them -----------------===//
//
// Follows integers and addresses back to constants, to arguments whose values are given, and to
// the place of the program in the grid. Blocks stand for their first element, and loops for their
// first turn: where two programs find the same, they load the same.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_COMPILER_PROGRAMVALUES_H
#define TILE_COMPILER_PROGRAMVALUES_H

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseMap.h"
#include <array>
#include <map>
#include <optional>
#include <string>

namespace tile::explaining {

using Grid = std::array<uint32_t, 3>;

class ProgramValues {
public:
  /// `grid` of zeros is not known: the first program stands for all.
  ProgramValues(const std::map<std::string, int64_t> &arguments, Grid grid)
      : arguments(arguments), grid(grid) {}

  /// 0 if the grid is not known.
  uint64_t numPrograms() const { return uint64_t(grid[0]) * grid[1] * grid[2]; }
  /// The program that is asked about, by its number; at first it is the first one.
  void moveTo(uint64_t program);
  std::optional<int64_t> get(mlir::Value v) { return get(v, 0); }
  std::optional<int64_t> trips(mlir::scf::ForOp loop);

private:
  std::optional<int64_t> get(mlir::Value v, unsigned depth);
  std::optional<int64_t> compute(mlir::Value v, unsigned depth);
  std::optional<int64_t> ofArgument(mlir::BlockArgument arg, unsigned depth);

  const std::map<std::string, int64_t> &arguments;
  Grid grid;
  std::array<int64_t, 3> place = {};
  llvm::DenseMap<mlir::Value, std::optional<int64_t>> known;
};

} // namespace tile::explaining

#endif // TILE_COMPILER_PROGRAMVALUES_H
