//===- CheckDefinition.h - what Python makes of a kernel's definition -----===//
//
// Kernels are compiled without their decorators being called: what Python refuses when it calls
// them is refused here, as the file has it, whatever the values are.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_CHECKDEFINITION_H
#define TILE_FRONTEND_EVAL_CHECKDEFINITION_H

#include "frontend/eval/Evaluator.h"

namespace tile::eval {

/// The error of a keyword that a decorator of Triton's, or a `triton.Config` in it, does not have.
std::unique_ptr<EvalError> checkDecorator(Evaluator &evaluator, const FunctionObject &function,
                                          const Decorator &decorator);

/// The error of an `async def`, which makes a coroutine and runs nothing.
std::unique_ptr<EvalError> refuseAsync(const FunctionObject &function);

/// Whether other releases of Triton than 3.6 have a keyword of `triton.Config`, which means nothing
/// here.
bool isKeywordOfOtherConfigs(llvm::StringRef keyword);

/// Both, with all decorators.
std::unique_ptr<EvalError> checkDefinition(Evaluator &evaluator, const FunctionObject &function);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_CHECKDEFINITION_H
