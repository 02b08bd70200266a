//===- Types.cpp - the typing rules, as functions on types ----------------===//
#include "frontend/specialize/Types.h"
#include "ir/TileDialect.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;

namespace tile::specialize {

Type irType(MLIRContext *context, const DType &type) {
  switch (type.kind()) {
  case Kind::Int1:
    return IntegerType::get(context, 1);
  case Kind::Int8:
  case Kind::UInt8:
  case Kind::Float8E4B15: // no such type in the IR: the bytes
    return IntegerType::get(context, 8);
  case Kind::Int16:
  case Kind::UInt16:
    return IntegerType::get(context, 16);
  case Kind::Int32:
  case Kind::UInt32:
    return IntegerType::get(context, 32);
  case Kind::Int64:
  case Kind::UInt64:
    return IntegerType::get(context, 64);
  case Kind::Float8E5:
    return Float8E5M2Type::get(context);
  case Kind::Float8E4NV:
    return Float8E4M3FNType::get(context);
  case Kind::Float8E4B8:
    return Float8E4M3FNUZType::get(context);
  case Kind::Float8E5B16:
    return Float8E5M2FNUZType::get(context);
  case Kind::Float16:
    return Float16Type::get(context);
  case Kind::BFloat16:
    return BFloat16Type::get(context);
  case Kind::Float32:
    return Float32Type::get(context);
  case Kind::Float64:
    return Float64Type::get(context);
  case Kind::Pointer: {
    Type pointee = irType(context, type.element());
    return pointee ? Type(PtrType::get(context, pointee)) : Type();
  }
  case Kind::Void:
  case Kind::Block:
    return {};
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Literals
//===----------------------------------------------------------------------===//

bool fits(const PyValue &integer, const DType &type) {
  if (integer.is(PyValue::Kind::Bool))
    return true;
  const APInt &value = integer.asInt();
  unsigned bits = type.bitWidth();
  if (type.isSigned())
    return value.isSignedIntN(bits);
  return !value.isNegative() && value.isIntN(bits);
}

static bool hasFp32Range(double value) {
  constexpr double smallest = 0x1p-126, largest = 0x1.fffffep127;
  double magnitude = std::fabs(value);
  return std::isnan(value) || std::isinf(value) || value == 0 ||
         (magnitude >= smallest && magnitude <= largest);
}

std::optional<DType> naturalType(const PyValue &number) {
  switch (number.kind()) {
  case PyValue::Kind::Bool:
    return DType(Kind::Int1);
  case PyValue::Kind::Int:
    for (Kind kind : {Kind::Int32, Kind::UInt32, Kind::Int64, Kind::UInt64})
      if (fits(number, kind))
        return DType(kind);
    return std::nullopt;
  case PyValue::Kind::Float:
    return DType(hasFp32Range(number.asFloat()) ? Kind::Float32 : Kind::Float64);
  default:
    return std::nullopt;
  }
}

TypedAttr numberAttr(MLIRContext *context, const PyValue &number, const DType &type) {
  Type ir = irType(context, type);
  if (auto floatType = dyn_cast<FloatType>(ir)) {
    APFloat value(0.0);
    if (number.is(PyValue::Kind::Int)) {
      const APInt &integer = number.asInt();
      value = APFloat(APFloat::IEEEdouble());
      value.convertFromAPInt(integer, /*IsSigned=*/true, APFloat::rmNearestTiesToEven);
    } else {
      value = APFloat(*number.toDouble());
    }
    bool losesInfo;
    value.convert(floatType.getFloatSemantics(), APFloat::rmNearestTiesToEven, &losesInfo);
    return FloatAttr::get(floatType, value);
  }
  unsigned bits = ir.getIntOrFloatBitWidth();
  if (number.is(PyValue::Kind::Bool))
    return IntegerAttr::get(ir, APInt(bits, number.asBool()));
  if (number.is(PyValue::Kind::Float)) {
    if (type.isBool())
      return IntegerAttr::get(ir, APInt(1, number.asFloat() != 0));
    APSInt value(bits, type.isUnsigned());
    bool exact;
    APFloat(number.asFloat()).convertToInteger(value, APFloat::rmTowardZero, &exact);
    return IntegerAttr::get(ir, value);
  }
  if (type.isBool())
    return IntegerAttr::get(ir, APInt(1, !number.asInt().isZero()));
  return IntegerAttr::get(ir, number.asInt().sextOrTrunc(bits));
}

//===----------------------------------------------------------------------===//
// Promotion
//===----------------------------------------------------------------------===//

/// bool < int < float: a literal of a kind not above the tensor's is weak.
static int kindOrder(const DType &type) { return type.isBool() ? 0 : type.isInt() ? 1 : 2; }

static bool isHalf(const DType &type) {
  return type.kind() == Kind::Float16 || type.kind() == Kind::BFloat16;
}

static std::optional<DType> promoteIntegers(const DType &a, const DType &b, bool divOrMod,
                                            std::string &error) {
  if (a.isSigned() == b.isSigned())
    return a.bitWidth() >= b.bitWidth() ? a : b;
  if (divOrMod) {
    error = formatted(
        "cannot divide {} and {}: C and Python disagree about the sign; cast one with `.to()`",
        a.str(), b.str());
    return std::nullopt;
  }
  const DType &unsignedType = a.isSigned() ? b : a;
  const DType &signedType = a.isSigned() ? a : b;
  return unsignedType.bitWidth() >= signedType.bitWidth() ? unsignedType : signedType;
}

/// Both operands take part fully.
static std::optional<DType> promoteTensors(const DType &a, const DType &b, bool divOrMod,
                                           std::string &error) {
  if (a == b && a.isPointer())
    return a;
  if (a.isPointer() || b.isPointer()) {
    error = formatted("no common type for {} and {}: cast one with `.to()`", a.str(), b.str());
    return std::nullopt;
  }
  auto either = [&](Kind kind) { return a.kind() == kind || b.kind() == kind; };
  if (either(Kind::Float64))
    return DType(Kind::Float64);
  if (either(Kind::Float32))
    return DType(Kind::Float32);
  if (either(Kind::Float16))
    return DType(divOrMod ? Kind::Float32 : Kind::Float16);
  if (either(Kind::BFloat16)) {
    bool both = a.kind() == b.kind();
    return DType(both && !divOrMod ? Kind::BFloat16 : Kind::Float32);
  }
  if (a.isFp8() && b.isFp8())
    return a == b ? a : DType(Kind::Float16);
  if (a.isInt() && b.isInt())
    return promoteIntegers(a, b, divOrMod, error);
  error = formatted("no common type for {} and {}: cast one with `.to()`", a.str(), b.str());
  return std::nullopt;
}

static std::optional<DType> promoteWeak(const Operand &literal, const DType &tensor, bool divOrMod,
                                        std::string &error) {
  if (tensor.isPointer())
    return promoteTensors(literal.type, tensor, divOrMod, error);
  if (kindOrder(literal.type) > kindOrder(tensor))
    return promoteTensors(literal.type, tensor, divOrMod, error);
  if (divOrMod && isHalf(tensor))
    return DType(Kind::Float32);
  if (tensor.isInt() && literal.literal->is(PyValue::Kind::Int)) {
    if (tensor.isUnsigned() && literal.literal->asInt().isNegative()) {
      error = formatted("negative literal {} beside a tensor of unsigned type {}",
                        eval::repr(*literal.literal), tensor.str());
      return std::nullopt;
    }
    if (!fits(*literal.literal, tensor)) {
      error = formatted("literal {} is out of range for {}", eval::repr(*literal.literal),
                        tensor.str());
      return std::nullopt;
    }
  }
  return tensor;
}

std::optional<DType> promote(const Operand &a, const Operand &b, bool divOrMod,
                             std::string &error) {
  if (a.literal && !b.literal)
    return promoteWeak(a, b.type, divOrMod, error);
  if (b.literal && !a.literal)
    return promoteWeak(b, a.type, divOrMod, error);
  return promoteTensors(a.type, b.type, divOrMod, error);
}

//===----------------------------------------------------------------------===//
// Targets
//===----------------------------------------------------------------------===//

bool supportedOn(const DType &type, const Target &target, std::string &error) {
  if (type.isPointer())
    return supportedOn(type.element(), target, error);
  if (!type.isFp8())
    return true;
  bool hasE4M3 = target.has(Feature::E4M3);
  if (type.kind() == Kind::Float8E5 || type.kind() == Kind::Float8E4B15 ||
      (type.kind() == Kind::Float8E4NV && hasE4M3))
    return true;
  error = formatted("{} is not supported on {}; the 8-bit floats it has are {}", type.str(),
                    target.name, hasE4M3 ? "fp8e5, fp8e4nv, fp8e4b15" : "fp8e5, fp8e4b15");
  return false;
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string shapeText(ArrayRef<int64_t> shape) {
  std::string text = "[";
  for (auto [i, dim] : llvm::enumerate(shape))
    text += (i ? ", " : "") + std::to_string(dim);
  return text + "]";
}

bool checkShape(ArrayRef<int64_t> shape, std::string &error) {
  int64_t total = 1;
  for (auto [i, dim] : llvm::enumerate(shape)) {
    if (dim <= 0) {
      error = formatted("dimension {} of shape {} is {}, but must be positive", i, shapeText(shape),
                        dim);
      return false;
    }
    total = dim > maxBlockElements ? dim : total * int64_t(llvm::PowerOf2Ceil(dim));
    if (total > maxBlockElements) {
      error = formatted("a block of shape {} is too large: at most {} elements are allowed, "
                        "dimensions rounded up to powers of two",
                        shapeText(shape), maxBlockElements);
      return false;
    }
  }
  return true;
}

bool broadcastShapes(ArrayRef<int64_t> a, ArrayRef<int64_t> b, SmallVectorImpl<int64_t> &result,
                     std::string &error) {
  size_t rank = std::max(a.size(), b.size());
  result.assign(rank, 1);
  for (size_t fromRight = 1; fromRight <= rank; ++fromRight) {
    int64_t x = fromRight <= a.size() ? a[a.size() - fromRight] : 1;
    int64_t y = fromRight <= b.size() ? b[b.size() - fromRight] : 1;
    if (x != y && x != 1 && y != 1) {
      error = formatted("shapes {} and {} do not broadcast: {} and {} in dimension {}",
                        shapeText(a), shapeText(b), x, y, rank - fromRight);
      return false;
    }
    result[rank - fromRight] = std::max(x, y);
  }
  return true;
}

} // namespace tile::specialize
