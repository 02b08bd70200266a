//===- Place.h - where in the source an evaluator is ----------------------===//
//
// Values that note what is done with them, such as tensors of a function that is traced,
// are not told by whom: they ask here.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_PLACE_H
#define TILE_FRONTEND_EVAL_PLACE_H

#include "frontend/Source.h"

namespace tile::eval {

struct Place {
  const frontend::SourceFile *file = nullptr;
  frontend::SourceRange range = {};
};

/// The innermost expression that this thread evaluates; no file outside of one.
Place currentPlace();

/// Evaluates an expression, as long as it lives.
class AtPlace {
public:
  explicit AtPlace(Place place);
  ~AtPlace();
  AtPlace(const AtPlace &) = delete;
  AtPlace &operator=(const AtPlace &) = delete;

private:
  Place outer;
};

/// Runs tensor functions operation by operation, as long as it lives: functions that an
/// `eager` form calls do so too.
class Eagerly {
public:
  explicit Eagerly(bool starts);
  ~Eagerly();
  Eagerly(const Eagerly &) = delete;
  Eagerly &operator=(const Eagerly &) = delete;
  static bool isOn();

private:
  bool starts;
};

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_PLACE_H
