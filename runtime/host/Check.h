//===- Check.h - a tensor against its reference ---------------------------===//
#ifndef TILE_RUNTIME_HOST_CHECK_H
#define TILE_RUNTIME_HOST_CHECK_H

#include "runtime/host/Tensor.h"

namespace tile::host {

struct Tolerance {
  double relative = 0, absolute = 0;
};
/// What results of this type are held to unless the caller says otherwise.
Tolerance defaultTolerance(const DType &type);

struct Comparison {
  double largestError = 0;  ///< |got - expected|, over finite pairs
  double toleranceUsed = 0; ///< the largest error as a share of what is allowed
  std::string difference;   ///< empty if all elements agree
};

/// Compares all elements; an error if that makes no sense (shapes, types).
std::unique_ptr<eval::EvalError> compareTensors(const PyValue &got, const PyValue &expected,
                                                std::optional<double> relative,
                                                std::optional<double> absolute, Comparison &out);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_CHECK_H
