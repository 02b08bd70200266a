//===- Convolutions.h - convolutions as products of patches ---------------===//
#ifndef TILE_FRONTEND_TENSORS_CONVOLUTIONS_H
#define TILE_FRONTEND_TENSORS_CONVOLUTIONS_H

#include "frontend/tensors/Tracer.h"

namespace tile::tensors {

/// conv2d(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1)
Result conv2d(Tracer &tracer, StringRef name, const CallArgs &args);

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_CONVOLUTIONS_H
