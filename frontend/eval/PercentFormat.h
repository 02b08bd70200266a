//===- PercentFormat.h - "..." % values -----------------------------------===//
#ifndef TILE_FRONTEND_EVAL_PERCENTFORMAT_H
#define TILE_FRONTEND_EVAL_PERCENTFORMAT_H

#include "frontend/eval/Operators.h"

namespace tile::eval {

/// `text % value`, where a tuple is several values.
Result percentFormat(const std::string &text, const PyValue &value);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_PERCENTFORMAT_H
