//===- Kernels.h - the host functions behind the instructions -------------===//
//
// Lookup by operation and element type. A null result means that the pair has
// no meaning (or no implementation) and the function is refused.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_INTERP_KERNELS_H
#define TILE_RUNTIME_INTERP_KERNELS_H

#include "runtime/interp/Instruction.h"

namespace tile::interp {

// Elementwise: dst[k] = op(a[k], b[k], c[k]).
enum class IntOp {
  Add,
  Sub,
  Mul,
  DivS,
  DivU,
  CeilDivS,
  CeilDivU,
  FloorDivS,
  RemS,
  RemU,
  And,
  Or,
  Xor,
  Shl,
  ShrS,
  ShrU,
  MaxS,
  MaxU,
  MinS,
  MinU,
  MulHiS,
  MulHiU,
  Pow,
  Abs,
  CountOnes,
  CountLeadingZeros,
  CountTrailingZeros,
  CarryOut
};
Kernel intKernel(IntOp op, DType type);

enum class IntPredicate { Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge };
Kernel intCompareKernel(IntPredicate predicate, DType type);

enum class FloatOp {
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Maximum,
  Minimum,
  MaxNum,
  MinNum,
  CopySign,
  Neg,
  Abs,
  Ceil,
  Floor,
  Round,
  RoundEven,
  Trunc,
  Sqrt,
  Fma,
  Clamp,
  ClampPropagateNan
};
Kernel floatKernel(FloatOp op, DType type);

/// In the order of arith::CmpFPredicate.
enum class FloatPredicate {
  False,
  Oeq,
  Ogt,
  Oge,
  Olt,
  Ole,
  One,
  Ord,
  Ueq,
  Ugt,
  Uge,
  Ult,
  Ule,
  Une,
  Uno,
  True
};
Kernel floatCompareKernel(FloatPredicate predicate, DType type);

enum class FloatClass { Finite, Infinite, NaN, Normal };
Kernel floatClassKernel(FloatClass which, DType type);

/// Functions from the host's math library, computed in double for every type
/// and rounded once.
enum class MathOp {
  Acos,
  Acosh,
  Asin,
  Asinh,
  Atan,
  Atanh,
  Cbrt,
  Cos,
  Cosh,
  Erf,
  Erfc,
  Exp,
  Exp2,
  ExpM1,
  Log,
  Log10,
  Log1p,
  Log2,
  Rsqrt,
  Sin,
  Sinh,
  Tan,
  Tanh,
  Atan2,
  Pow
};
/// `aux` of the instruction is set to what the kernel needs.
Kernel mathKernel(MathOp op, DType type, const void *&aux);
/// A function of the device library, on up to three operands; null if it is
/// none that kernels call by name.
Kernel deviceFunctionKernel(llvm::StringRef symbol);
/// dst = a raised to the signed integer b of type `exponent` (in imm).
Kernel powIntKernel(DType type, DType exponent, const void *&aux);

// Conversions.
Kernel intResizeKernel(DType from, DType to, bool isSigned);
Kernel intToFloatKernel(DType from, DType to, bool isSigned);
Kernel floatToIntKernel(DType from, DType to, bool isSigned);
/// `imm` of the instruction: encodeCast(round, saturate).
Kernel floatCastKernel(DType from, DType to, Round round, bool saturate);
inline int64_t encodeCast(Round round, bool saturate) {
  return int64_t(round) << 1 | int64_t(saturate);
}

// Data movement, by element size.
Kernel selectKernel(unsigned bytes);       ///< dst = a[k] ? b[k] : c[k]
Kernel selectScalarKernel(unsigned bytes); ///< dst = a[0] ? b[k] : c[k]
Kernel copyKernel(unsigned bytes);
Kernel splatKernel(unsigned bytes);
Kernel zeroKernel(unsigned bytes);
Kernel permuteKernel(unsigned bytes); ///< dst[k] = a[gather(k)]; aux: StrideInfo
Kernel joinKernel(unsigned bytes);
Kernel splitKernel(unsigned bytes); ///< dst[k] = a[2k + imm]
Kernel rangeKernel();               ///< dst[k] = imm + k
Kernel programIdKernel();           ///< imm: axis
Kernel numProgramsKernel();

/// Reads the operand with its own strides while walking the result row by row;
/// a broadcast has stride 0 where it repeats.
struct StrideInfo : Aux {
  llvm::SmallVector<int64_t> shape, strides;
};

// Loops.
/// c: i64 count of iterations left = trips(dst (lower), a (upper), b (step)).
Kernel forInitKernel(DType type, bool isUnsigned);
/// dst += b; --c.
Kernel forNextKernel(DType type);

// Pointers and memory.
/// dst = a + sext(b) * imm.
Kernel addPtrKernel(DType offset);
Kernel loadKernel(unsigned bytes);  ///< a: pointers, b: mask, c: other
Kernel storeKernel(unsigned bytes); ///< a: pointers, b: mask, c: values
enum class AtomicOp {
  Add,
  FAdd,
  MaxS,
  MinS,
  MaxU,
  MinU,
  FMax,
  FMin,
  And,
  Or,
  Xor,
  Exchange,
  CompareSwap
};
/// dst: old values, a: pointers, b: mask (CompareSwap: compare), c: values.
Kernel atomicKernel(AtomicOp op, DType type);

// The same, watching memory. aux: AccessInfo.
Kernel checkedLoadKernel(unsigned bytes);
Kernel checkedStoreKernel(unsigned bytes);
/// Watches, then calls AccessInfo::inner.
Kernel checkedAtomicKernel(unsigned bytes);
/// Reports a divisor `a` that is zero: the result is defined, but hardly meant.
Kernel checkDivisorKernel(unsigned bytes);
/// Reports elements of `a` that break what a hint says. aux: HintInfo.
Kernel checkHintKernel(DType type);
/// dst = a >= imm: shifts by amounts `a` of unsigned numbers that go too far.
Kernel shiftDoubtKernel(unsigned bytes);
/// dst = a == 0: divisors.
Kernel divisorDoubtKernel(unsigned bytes);
/// dst = dst | a, where the other operand `b` (in doubt itself: `c`) lets it through.
enum class DoubtRule { Any, And, Or };
Kernel absorbDoubtKernel(unsigned bytes); ///< imm: DoubtRule
/// dst = any of a along the middle of three dimensions. aux: StrideInfo
Kernel anyDoubtKernel();
/// Reports lanes of `a` that a mask `b` lets through. aux: MessageInfo; imm: FindingKind
Kernel reportDoubtKernel();
/// dst = dst | (a != sext(b)): lanes whose exact 64-bit offset `a` is not the
/// offset `b` that was computed.
Kernel offsetWrapKernel(DType offset);

struct AccessInfo : Aux {
  Kernel inner = nullptr;                ///< atomics: the unchecked kernel
  uint32_t wrapped = kNone;              ///< i1 lanes whose address arithmetic wrapped
  bool isOfBase = false;                 ///< `wrapped` is about a descriptor's base: one lane
  uint32_t rootPointer = kNone;          ///< the kernel argument the pointer comes from
  unsigned rootIndex = 0;                ///< its position among the parameters
  bool isVolatile = false;               ///< loads
  bool acquire = false, release = false; ///< atomics
  bool masked = false;                   ///< atomics: `b` is a mask
  llvm::SmallVector<int64_t> shape;      ///< of the block; empty for a scalar
};

/// The promises of `tile.hint`, one entry a dimension; empty: nothing said.
struct HintInfo : Aux {
  llvm::SmallVector<int64_t> shape, divisibility, contiguity, constancy;
};

// Reductions and scans. aux: CombineInfo.
Kernel reduceKernel();
Kernel scanKernel();
/// Single-operand reductions and scans whose combiner is one known operation;
/// null if there is no special loop for it.
Kernel fastReduceKernel(IntOp op, DType type);
Kernel fastReduceKernel(FloatOp op, DType type);
Kernel fastScanKernel(IntOp op, DType type);
Kernel fastScanKernel(FloatOp op, DType type);

struct CombineInfo : Aux {
  uint32_t outer = 1, length = 1, inner = 1; ///< the operand is [outer, length, inner]
  bool reverse = false;
  struct Operand {
    unsigned bytes = 4;
    uint32_t src = 0, dst = 0;
    uint32_t left = 0, right = 0;       ///< one element of each pair for every lane
    uint32_t argLeft = 0, argRight = 0; ///< registers of the combiner's arguments
    uint32_t yielded = 0;               ///< register of the combined value
    uint32_t work = 0;                  ///< reductions: what is left to combine
  };
  llvm::SmallVector<Operand, 2> operands;
  /// Scalars from outside that the combiner reads: copied to all lanes.
  struct Capture {
    unsigned bytes = 4;
    uint32_t src = 0, dst = 0;
  };
  llvm::SmallVector<Capture, 2> captures;
  std::vector<Instruction> code; ///< the combiner; ends in Return
  std::vector<Instruction> *nestedCode() override { return &code; }
  /// The combiner has no control flow: it runs on all lanes at once, `left` and
  /// `right` being its arguments.
  bool wide = true;
};

// Matrix products: dst = c + a * b. aux: DotInfo.
Kernel dotKernel(DType a, DType b, DType acc);
/// In the order of tile::InputPrecision.
enum class DotPrecision { Ieee, Tf32, Tf32x3, Bf16x3, Bf16x6 };
struct DotInfo : Aux {
  uint32_t batch = 1, m = 1, n = 1, k = 1;
  DotPrecision precision = DotPrecision::Ieee;
};

// The algebraic mode (AlgebraKernels.cpp), on integers of `bytes`.
enum class AlgebraOp {
  MultiplyAdd, ///< dst = a * b + c
  Negate,
  Divide,  ///< dst = a * hash(b)
  Function ///< dst = hash(a, b, c), imm: its seed, aux: FunctionInfo
};
Kernel algebraKernel(AlgebraOp op, unsigned bytes);
/// Sums of products of operands that are widened with their signs. aux: DotInfo.
Kernel algebraDotKernel(unsigned operandBytes, unsigned accBytes);
struct FunctionInfo : Aux {
  llvm::SmallVector<unsigned, 3> bytes; ///< of each argument
};

// Descriptors, gather, histogram, functions of elements.
/// dst: addresses, a: base, b: which are inside. aux: DescriptorInfo.
Kernel descriptorAddressKernel();
Kernel gatherKernel(unsigned bytes);    ///< a: source, b: indices. aux: GatherInfo
Kernel histogramKernel(unsigned bytes); ///< a: values, b: mask, imm: bins
Kernel barrierKernel();                 ///< of a checked program's lanes
Kernel mapKernel();                     ///< aux: MapInfo
Kernel checkAssumeKernel();             ///< a: condition

struct DescriptorInfo : Aux {
  llvm::SmallVector<int64_t> block;
  llvm::SmallVector<uint32_t> offsets, shape, strides; ///< i32, i32, i64 scalars
  uint32_t rows = kNone, column = kNone;               ///< gather and scatter
  unsigned bytes = 1;
};

/// The source is [outer, length, inner], the result [outer, picked, inner].
struct GatherInfo : Aux {
  uint32_t outer = 1, length = 1, picked = 1, inner = 1;
  unsigned indexBytes = 4;
  llvm::SmallVector<int64_t> shape; ///< of the result
};

/// A scalar function as code; `pack` neighbouring elements at a time.
struct MapInfo : CombineInfo {
  struct Field {
    unsigned bytes = 4;
    uint32_t block = 0, element = 0;
  };
  llvm::SmallVector<Field, 4> inputs, outputs; ///< `pack` fields for each block
  unsigned pack = 1;
};

// Debugging.
Kernel assertKernel(); ///< a: conditions, aux: MessageInfo
Kernel printKernel();  ///< aux: PrintInfo
struct MessageInfo : Aux {
  std::string message;
  llvm::SmallVector<int64_t> shape;
};
struct PrintInfo : Aux {
  std::string prefix;
  bool hex = false;
  struct Operand {
    uint32_t src = 0;
    DType type = DType::I32;
    bool isSigned = true, isPointer = false;
    llvm::SmallVector<int64_t> shape;
  };
  llvm::SmallVector<Operand, 2> operands;
};

} // namespace tile::interp

#endif // TILE_RUNTIME_INTERP_KERNELS_H
