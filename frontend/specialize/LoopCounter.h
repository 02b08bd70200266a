//===- LoopCounter.h - how the loop of a `range` counts -------------------===//
//
// A `range` goes through what Python's does, whatever the type of its bounds. The loop that
// it becomes compares signed numbers, so its counter need not be the author's: of 32 bits
// without a sign it has 64, and where 64 do not do, it counts turns.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_LOOPCOUNTER_H
#define TILE_FRONTEND_SPECIALIZE_LOOPCOUNTER_H

#include "frontend/specialize/Specializer.h"

namespace tile::specialize {

class LoopCounter {
public:
  /// False after an error.
  bool make(Specializer &s, const RangeCall &range);

  mlir::Value start() const { return from.value; }
  mlir::Value stop() const { return to.value; }
  mlir::Value step() const { return by.value; }
  /// What the author's name holds on the turn on which the counter is `counter`.
  Tensor valueAt(Specializer &s, mlir::Value counter) const;
  /// Whether the loop has a turn: where it is known, and computed.
  std::optional<bool> isKnownToRun() const { return knownToRun; }
  Tensor runs(Specializer &s) const;
  /// What the author's name holds on the last turn; some number if there is none.
  Tensor lastValue(Specializer &s) const;
  DType valueType() const { return type; }
  /// The counter of the next turn; one that passed the end of its type is `stop`.
  mlir::Value next(Specializer &s, mlir::Value counter) const;

  struct Bounds;

private:
  static bool read(Specializer &s, const RangeCall &range, Bounds &bounds);
  bool chooseType(Specializer &s, const Bounds &bounds);
  bool makeKnown(Specializer &s, const Bounds &bounds);
  void makePlain(Specializer &s, const Bounds &bounds, DType counterType);
  void makeTurns(Specializer &s, const Bounds &bounds, const Tensor &turns);
  Tensor countTurns(Specializer &s, const Bounds &bounds) const;
  Tensor countTurnsAcrossZero(Specializer &s, const Bounds &bounds) const;

  Tensor from, to, by;
  DType type;           ///< of the author's name
  Tensor turned;        ///< where it counts down: value = turned - counter
  Tensor first, stride; ///< where turns are counted: value = first + counter * stride
  bool mayPassEnd = false;
  std::optional<bool> knownToRun;
};

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_LOOPCOUNTER_H
