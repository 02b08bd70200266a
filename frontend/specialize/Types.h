//===- Types.h - the typing rules, as functions on types ------------------===//
//
// Promotion, the natural types of literals and the IR spelling of each scalar
// type. No IR is built here, so the rules can be read and tested alone.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_TYPES_H
#define TILE_FRONTEND_SPECIALIZE_TYPES_H

#include "frontend/eval/Eval.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace tile::specialize {

using eval::DType;
using eval::PyValue;
using Kind = eval::DType::Kind;

/// The IR type of one element; null for a type that kernels cannot hold
/// (void).
mlir::Type irType(mlir::MLIRContext *context, const DType &type);

/// What a literal becomes when it has to be a tensor: bool int1; int the first
/// of int32, uint32, int64, uint64 that holds it; float fp32, or fp64 when its
/// magnitude is outside fp32's normal range. Nothing if no type holds it.
std::optional<DType> naturalType(const PyValue &number);

/// One operand of an arithmetic operation, as far as its type goes. A literal
/// next to a tensor is weak: it takes the tensor's type if it can.
struct Operand {
  DType type;
  const PyValue *literal = nullptr; ///< set for a compile-time number
};

/// The type in which `a op b` is computed, by the promotion table; `divOrMod`
/// selects its last column. On failure returns nothing and sets `error`.
std::optional<DType> promote(const Operand &a, const Operand &b, bool divOrMod, std::string &error);

/// True if an integer literal is representable in an integer type.
bool fits(const PyValue &integer, const DType &type);

/// The number as an attribute of the type's IR element. Integers wrap.
mlir::TypedAttr numberAttr(mlir::MLIRContext *context, const PyValue &number, const DType &type);

/// Whether `target` can hold the type; if not, says what it can.
bool supportedOn(const DType &type, const Target &target, std::string &error);

/// The bounds that blocks must keep: each dimension positive, at most
/// `maxBlockElements` in all when each is rounded up to a power of two, as it
/// is where blocks are laid out. On violation returns false with a reason.
constexpr int64_t maxBlockElements = 1048576;
bool checkShape(llvm::ArrayRef<int64_t> shape, std::string &error);

/// NumPy-style broadcast of two shapes; on failure sets `error`.
bool broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b,
                     llvm::SmallVectorImpl<int64_t> &result, std::string &error);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_TYPES_H
