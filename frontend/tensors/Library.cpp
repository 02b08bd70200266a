//===- Library.cpp - functions that kernels of the library compute ---------===//
//
// Some functions of whole tensors are no formula over elements: which of a row are its greatest,
// which of many is the last that is sent to a place. As formulas they would compare everything with
// everything. Kernels for them are written in the language itself (library/library.tile), and
// launched as kernels of the user's file are.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Library.h"
#include "frontend/eval/Evaluator.h"
#include "frontend/eval/ModuleEnv.h"

using namespace tile;
using namespace tile::tensors;

static constexpr unsigned char kText[] = {
#include "library.inc"
};

Result tensors::callLibrary(Tracer &tracer, StringRef function, std::vector<PyValue> arguments) {
  StringRef text(reinterpret_cast<const char *>(kText), sizeof(kText));
  Result callee = tracer.program.addText("tile/library.tile", text).lookup(function);
  return callee ? tracer.evaluator.call(*callee, {std::move(arguments), {}}) : std::move(callee);
}
