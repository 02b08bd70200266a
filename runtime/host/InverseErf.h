//===- InverseErf.h - the x whose erf is known ----------------------------===//
#ifndef TILE_RUNTIME_HOST_INVERSEERF_H
#define TILE_RUNTIME_HOST_INVERSEERF_H

namespace tile::host {

/// The x with erf(x) = y; infinite for 1 and -1, NaN beyond.
double inverseErf(double y);

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_INVERSEERF_H
