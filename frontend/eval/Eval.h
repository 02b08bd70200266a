//===- Eval.h - everything about compile-time values, in one include ------===//
#ifndef TILE_FRONTEND_EVAL_EVAL_H
#define TILE_FRONTEND_EVAL_EVAL_H

#include "frontend/eval/DType.h"
#include "frontend/eval/Evaluator.h"
#include "frontend/eval/ModuleEnv.h"
#include "frontend/eval/Operators.h"
#include "frontend/eval/Value.h"

#endif // TILE_FRONTEND_EVAL_EVAL_H
