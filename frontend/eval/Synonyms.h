//===- Synonyms.h - what other libraries call functions, and give them ----===//
#ifndef TILE_FRONTEND_EVAL_SYNONYMS_H
#define TILE_FRONTEND_EVAL_SYNONYMS_H

#include "frontend/eval/Methods.h"

namespace tile::eval {

/// Our name of a function on tensors that NumPy or PyTorch calls otherwise; what is given if it
/// has no other.
llvm::StringRef usualName(llvm::StringRef name);
/// The same of a call, whose arguments may ask for another function than its name says alone:
/// `round(x, decimals=2)`, `pad` with a mode, `cross_entropy` of shares.
llvm::StringRef usualFunction(llvm::StringRef name, const CallArgs &args);
/// The same of an argument: `axis` of `dim`.
llvm::StringRef usualKeyword(llvm::StringRef keyword);

/// Calls in PyTorch's form as ours: `gather(x, axis, index)`, widths of `pad` from the last
/// dimension on. Keywords have our names already.
std::unique_ptr<EvalError> useUsualForms(llvm::StringRef name, CallArgs &args);

/// What a method means whose name is also that of a function with other arguments, which those of
/// the call become: `x.where(condition, y)`, `x.unfold(axis, size, step)`. The tensor comes first.
Result usualMethod(llvm::StringRef name, CallArgs &args);

/// Whether classes are dimension 1 of logits (N, C, ...) for labels (N, ...), as PyTorch has them;
/// else they are the last.
bool classesComeSecond(const PyValue &logits, const PyValue &labels);

/// Whether `gelu(x, approximate="none")`, as PyTorch has it, is asked for "tanh".
Result geluByTanh(const ArgReader &arguments);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_SYNONYMS_H
