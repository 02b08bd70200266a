//===- DType.cpp - element types as compile-time values -------------------===//
//
// One table holds what there is to know of each scalar type.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/DType.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile::eval;

namespace {
struct Facts {
  const char *shortName, *name;
  unsigned bits, mantissa, bias;
};
// In the order of DType::Kind.
constexpr Facts table[] = {
    {"void", "void", 0, 0, 0},
    {"i1", "int1", 1, 0, 0},
    {"i8", "int8", 8, 0, 0},
    {"i16", "int16", 16, 0, 0},
    {"i32", "int32", 32, 0, 0},
    {"i64", "int64", 64, 0, 0},
    {"u8", "uint8", 8, 0, 0},
    {"u16", "uint16", 16, 0, 0},
    {"u32", "uint32", 32, 0, 0},
    {"u64", "uint64", 64, 0, 0},
    {"fp8e5", "float8e5", 8, 2, 15},
    {"fp8e4nv", "float8e4nv", 8, 3, 7},
    {"fp8e4b15", "float8e4b15", 8, 3, 15},
    {"fp8e4b8", "float8e4b8", 8, 3, 8},
    {"fp8e5b16", "float8e5b16", 8, 2, 16},
    {"fp16", "float16", 16, 10, 15},
    {"bf16", "bfloat16", 16, 7, 127},
    {"fp32", "float32", 32, 23, 127},
    {"fp64", "float64", 64, 52, 1023},
};
const Facts &facts(DType::Kind kind) { return table[static_cast<unsigned>(kind)]; }
} // namespace

DType DType::pointer(const DType &element, bool isConst) {
  DType type(Kind::Pointer);
  type.elementType = std::make_shared<const DType>(element);
  type.constPointer = isConst;
  return type;
}

DType DType::block(const DType &element, llvm::ArrayRef<int64_t> shape) {
  DType type(Kind::Block);
  type.elementType = std::make_shared<const DType>(element);
  type.blockShape = shape.vec();
  return type;
}

unsigned DType::bitWidth() const {
  if (isPointer())
    return 64;
  return isBlock() ? elementType->bitWidth() : facts(typeKind).bits;
}

unsigned DType::itemSize() const { return (bitWidth() + 7) / 8; }

unsigned DType::mantissaWidth() const { return isFloating() ? facts(typeKind).mantissa : 0; }

unsigned DType::exponentBias() const { return isFloating() ? facts(typeKind).bias : 0; }

std::string DType::str() const {
  if (isPointer())
    return (constPointer ? "*k" : "*") + elementType->str();
  if (!isBlock())
    return facts(typeKind).shortName;
  std::string text = "<[";
  for (size_t i = 0; i < blockShape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(blockShape[i]);
  return formatted("{}], {}>", text, elementType->str());
}

std::string DType::name() const {
  if (isPointer())
    return formatted("{}{}>", constPointer ? "const_pointer<" : "pointer<", elementType->str());
  return isBlock() ? str() : facts(typeKind).name;
}

std::optional<DType> DType::parse(llvm::StringRef text) {
  if (text.consume_front("*")) {
    if (std::optional<DType> element = parse(text))
      return pointer(*element);
    if (text.consume_front("k"))
      if (std::optional<DType> element = parse(text))
        return pointer(*element, /*isConst=*/true);
    return std::nullopt;
  }
  if (text == "u1")
    return DType(Kind::Int1);
  for (unsigned i = 0; i < std::size(table); ++i)
    if (text == table[i].shortName || text == table[i].name)
      return DType(static_cast<Kind>(i));
  return std::nullopt;
}

namespace tile::eval {
bool operator==(const DType &a, const DType &b) {
  if (a.typeKind != b.typeKind || a.constPointer != b.constPointer)
    return false;
  if (a.isPointer())
    return *a.elementType == *b.elementType;
  return !a.isBlock() || (*a.elementType == *b.elementType && a.blockShape == b.blockShape);
}
} // namespace tile::eval
