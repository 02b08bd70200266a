//===- Inspect.h - what a kernel is compiled to ---------------------------===//
#ifndef TILE_TOOLS_TILEC_INSPECT_H
#define TILE_TOOLS_TILEC_INSPECT_H

#include "runtime/host/Handle.h"

namespace tilec {

/// Compiles a kernel as it is launched, and keeps every stage: what the handle of a launch answers.
bool inspectKernel(const tile::runtime::KernelRequest &request,
                   tile::frontend::DiagnosticEngine &diagnostics, tile::host::Inspection &out);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_INSPECT_H
