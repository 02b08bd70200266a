//===- Formula.h - small computations on the values of a launch -----------===//
//
// What a file says about its launches in Python (the grid, heuristics) is compiled to a
// list of steps of a stack machine over 64-bit integers, which runs at every launch
// without allocation. Plain data: generated code has tables of it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_DISPATCH_FORMULA_H
#define TILE_RUNTIME_DISPATCH_FORMULA_H

#include "tile/jit.h"

namespace tile::dispatch {

struct Step {
  enum Op : uint8_t {
    Constant, ///< pushes `operand`
    Argument, ///< pushes the integer that argument `operand` is
    Address,  ///< pushes the address that argument `operand` is
    IsNone,   ///< pushes whether argument `operand` is None
    Base,     ///< pushes the address of the tensor that argument `operand` describes
    Size,     ///< pushes its size along a dimension: `operand` is argument * 8 + dimension
    Stride,   ///< the same for its stride
    Add,      ///< these take two numbers and push one
    Sub,
    Mul,
    FloorDiv,
    CeilDiv,
    Mod,
    Pow,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Xor,
    Minimum,
    Maximum,
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Negate, ///< these take one
    Invert,
    Not,
    Absolute,
    NextPowerOf2,
    Jump,       ///< over `operand` steps
    JumpIfZero, ///< the same, if the number it takes is 0
  };
  Op op;
  int64_t operand;
};

constexpr unsigned kFormulaStack = 32;

enum class FormulaFailure {
  None,
  Overflow, ///< of 64 bits
  DivisionByZero,
  NotInteger, ///< an argument that is asked for its value is none
  Power,      ///< to a negative number; a shift by one
};

/// Runs `count` steps, whose stack never gets deeper than kFormulaStack, and leaves the
/// last `results` numbers in `out`.
FormulaFailure runFormula(const Step *steps, unsigned count, const tile_value *values,
                          unsigned results, int64_t *out);

/// A sentence for people.
const char *explain(FormulaFailure failure);

} // namespace tile::dispatch

#endif // TILE_RUNTIME_DISPATCH_FORMULA_H
