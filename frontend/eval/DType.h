//===- DType.h - element types as compile-time values ---------------------===//
//
// `tl.float16`, `tl.pointer_type(tl.int8)` and their like are ordinary values
// in kernels: compared, printed, asked for their width. One small immutable
// class holds them all; pointers and blocks hold their element type.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_DTYPE_H
#define TILE_FRONTEND_EVAL_DTYPE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tile::eval {

class DType {
public:
  enum class Kind : uint8_t {
    Void,
    Int1,
    Int8,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float8E5,
    Float8E4NV,
    Float8E4B15,
    Float8E4B8,
    Float8E5B16,
    Float16,
    BFloat16,
    Float32,
    Float64,
    Pointer,
    Block
  };

  DType(Kind kind = Kind::Void) : typeKind(kind) {} // implicit: a kind is a scalar type
  static DType pointer(const DType &element, bool isConst = false);
  static DType block(const DType &element, llvm::ArrayRef<int64_t> shape);

  Kind kind() const { return typeKind; }
  bool isVoid() const { return typeKind == Kind::Void; }
  bool isBool() const { return typeKind == Kind::Int1; }
  /// Any integer, `int1` included.
  bool isInt() const { return typeKind >= Kind::Int1 && typeKind <= Kind::UInt64; }
  bool isSigned() const { return typeKind >= Kind::Int8 && typeKind <= Kind::Int64; }
  /// `int1` counts as unsigned.
  bool isUnsigned() const { return isInt() && !isSigned(); }
  bool isFloating() const { return typeKind >= Kind::Float8E5 && typeKind <= Kind::Float64; }
  /// fp16, bf16, fp32 or fp64.
  bool isStandardFloating() const { return typeKind >= Kind::Float16 && typeKind <= Kind::Float64; }
  bool isFp8() const { return typeKind >= Kind::Float8E5 && typeKind <= Kind::Float8E5B16; }
  bool isPointer() const { return typeKind == Kind::Pointer; }
  bool isBlock() const { return typeKind == Kind::Block; }
  bool isConstPointer() const { return constPointer; }

  /// The pointee of a pointer, the element type of a block.
  const DType &element() const { return *elementType; }
  const std::vector<int64_t> &shape() const { return blockShape; }
  /// The element type of a block, otherwise the type itself.
  const DType &scalar() const { return isBlock() ? *elementType : *this; }

  unsigned bitWidth() const; ///< of one element; pointers have 64
  unsigned itemSize() const; ///< bytes in memory: `int1` takes one
  unsigned mantissaWidth() const;
  unsigned exponentBias() const;

  /// The spelling in signatures: "fp32", "i1", "*kfp16", "<[128, 64], fp16>".
  std::string str() const;
  /// The name in `tl`: "float32", "int1"; pointers read "pointer<fp32>".
  std::string name() const;

  /// Reads either spelling: "fp32", "float32", "*i8", "*kbf16", "u1".
  static std::optional<DType> parse(llvm::StringRef text);

  friend bool operator==(const DType &a, const DType &b);
  friend bool operator!=(const DType &a, const DType &b) { return !(a == b); }

private:
  Kind typeKind;
  bool constPointer = false;
  std::shared_ptr<const DType> elementType;
  std::vector<int64_t> blockShape;
};

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_DTYPE_H
