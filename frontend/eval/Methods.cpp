//===- Methods.cpp - methods of strings, containers and dtypes ------------===//
//
// One table a type: name -> implementation. A method is looked up by name both
// when the attribute is taken and when it is called.
//
//===----------------------------------------------------------------------===//
#include "frontend/eval/MethodTables.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"
#include <cmath>

using namespace tile::eval;
using llvm::StringRef;
using tile::formatted;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

ArgReader::ArgReader(StringRef function, const CallArgs &args, llvm::ArrayRef<StringRef> names,
                     size_t required)
    : values(names.size()) {
  if (args.positional.size() > names.size()) {
    failure = fail(formatted("`{}` takes at most {} arguments, got {}", function, names.size(),
                             args.positional.size()));
    return;
  }
  for (size_t i = 0; i < args.positional.size(); ++i)
    values[i] = &args.positional[i];
  for (auto &[name, value] : args.keywords) {
    auto it = llvm::find(names, name);
    if (it == names.end()) {
      failure = fail(formatted("`{}` has no parameter `{}`", function, name));
      return;
    }
    if (values[it - names.begin()]) {
      failure = fail(formatted("`{}` got `{}` twice", function, name));
      return;
    }
    values[it - names.begin()] = &value;
  }
  for (size_t i = 0; i < required; ++i)
    if (!values[i]) {
      failure = fail(formatted("`{}` needs its argument `{}`", function, names[i]));
      return;
    }
}

//===----------------------------------------------------------------------===//
// Numbers and dtypes
//===----------------------------------------------------------------------===//

static Result bitLength(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::integer(self.asInt().abs().getActiveBits());
}
static Result isInteger(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::boolean(self.asFloat() == std::floor(self.asFloat()) &&
                          std::isfinite(self.asFloat()));
}
static const MethodEntry intMethods[] = {{"bit_length", bitLength}};
static const MethodEntry floatMethods[] = {{"is_integer", isInteger}};

template <bool (DType::*predicate)() const>
static Result dtypeIs(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::boolean((self.asDType().*predicate)());
}
template <DType::Kind kind>
static Result dtypeIsKind(Evaluator &, const PyValue &self, const CallArgs &) {
  return PyValue::boolean(self.asDType().kind() == kind);
}

template <bool wantMax> static Result intLimit(Evaluator &, const PyValue &self, const CallArgs &) {
  const DType &type = self.asDType();
  if (!type.isInt())
    return fail(formatted("`{}` is not an integer type", type.name()));
  unsigned bits = type.bitWidth();
  using llvm::APInt;
  if (type.isSigned())
    return PyValue::integer(wantMax ? APInt::getSignedMaxValue(bits)
                                    : APInt::getSignedMinValue(bits));
  return PyValue::integer(wantMax ? APInt::getMaxValue(bits).zext(bits + 1) : APInt(8, 0));
}

/// The type of a block or a pointer with other elements.
static Result withElement(Evaluator &, const PyValue &self, const CallArgs &args) {
  ArgReader r("with_element_ty", args, {"element_ty"}, 1);
  if (!r)
    return r.error();
  if (!r[0].is(Kind::DType))
    return fail(formatted("`with_element_ty` needs a dtype, got {}", repr(r[0])), "TypeError");
  const DType &type = self.asDType(), &element = r[0].asDType();
  return PyValue::dtype(type.isBlock()     ? DType::block(element, type.shape())
                        : type.isPointer() ? DType::pointer(element, type.isConstPointer())
                                           : element);
}

static PyValue shapeOf(const DType &block) {
  std::vector<PyValue> shape;
  for (int64_t dim : block.shape())
    shape.push_back(PyValue::integer(dim));
  return PyValue::tuple(std::move(shape));
}

static Result blockShapes(Evaluator &, const PyValue &self, const CallArgs &) {
  if (!self.asDType().isBlock())
    return fail(formatted("`{}` is not a block type", str(self)));
  return shapeOf(self.asDType());
}

/// Bools, integers, floats: in this order, as promotion counts them.
static Result dtypeKind(Evaluator &, const PyValue &self, const CallArgs &) {
  const DType &type = self.asDType();
  return PyValue::integer(type.isBool() ? 0 : type.isInt() ? 1 : 2);
}

static const MethodEntry dtypeMethods[] = {
    {"kind", dtypeKind},
    {"is_floating", dtypeIs<&DType::isFloating>},
    {"is_standard_floating", dtypeIs<&DType::isStandardFloating>},
    {"is_int", dtypeIs<&DType::isInt>},
    {"is_int_signed", dtypeIs<&DType::isSigned>},
    {"is_int_unsigned", dtypeIs<&DType::isUnsigned>},
    {"is_bool", dtypeIs<&DType::isBool>},
    {"is_fp8", dtypeIs<&DType::isFp8>},
    {"is_ptr", dtypeIs<&DType::isPointer>},
    {"is_const", dtypeIs<&DType::isConstPointer>},
    {"is_block", dtypeIs<&DType::isBlock>},
    {"is_void", dtypeIs<&DType::isVoid>},
    {"is_int1", dtypeIsKind<DType::Kind::Int1>},
    {"is_int8", dtypeIsKind<DType::Kind::Int8>},
    {"is_int16", dtypeIsKind<DType::Kind::Int16>},
    {"is_int32", dtypeIsKind<DType::Kind::Int32>},
    {"is_int64", dtypeIsKind<DType::Kind::Int64>},
    {"is_uint8", dtypeIsKind<DType::Kind::UInt8>},
    {"is_uint16", dtypeIsKind<DType::Kind::UInt16>},
    {"is_uint32", dtypeIsKind<DType::Kind::UInt32>},
    {"is_uint64", dtypeIsKind<DType::Kind::UInt64>},
    {"is_fp8e5", dtypeIsKind<DType::Kind::Float8E5>},
    {"is_fp8e4nv", dtypeIsKind<DType::Kind::Float8E4NV>},
    {"is_fp8e4b15", dtypeIsKind<DType::Kind::Float8E4B15>},
    {"is_fp8e4b8", dtypeIsKind<DType::Kind::Float8E4B8>},
    {"is_fp8e5b16", dtypeIsKind<DType::Kind::Float8E5B16>},
    {"is_fp16", dtypeIsKind<DType::Kind::Float16>},
    {"is_bf16", dtypeIsKind<DType::Kind::BFloat16>},
    {"is_fp32", dtypeIsKind<DType::Kind::Float32>},
    {"is_fp64", dtypeIsKind<DType::Kind::Float64>},
    {"get_int_max_value", intLimit<true>},
    {"get_int_min_value", intLimit<false>},
    {"with_element_ty", withElement},
    {"get_block_shapes", blockShapes},
};

//===----------------------------------------------------------------------===//
// Lookup
//===----------------------------------------------------------------------===//

static llvm::ArrayRef<MethodEntry> methodsOf(const PyValue &value) {
  switch (value.kind()) {
  case Kind::Str:
    return stringMethods();
  case Kind::Tuple:
    if (value.asTuple().type)
      return namedTupleMethods();
    return tupleMethods();
  case Kind::List:
    return listMethods();
  case Kind::Dict:
    return dictMethods();
  case Kind::Set:
    return setMethods();
  case Kind::Int:
    return intMethods;
  case Kind::Float:
    return floatMethods;
  case Kind::DType:
    return dtypeMethods;
  default:
    return {};
  }
}

static const MethodEntry *findMethod(const PyValue &value, StringRef name) {
  for (const MethodEntry &entry : methodsOf(value))
    if (entry.name == name)
      return &entry;
  return nullptr;
}

namespace tile::eval {

bool hasMethod(const PyValue &value, StringRef name) { return findMethod(value, name) != nullptr; }

std::vector<StringRef> methodNames(const PyValue &value) {
  std::vector<StringRef> names;
  for (const MethodEntry &entry : methodsOf(value))
    names.push_back(entry.name);
  if (value.is(Kind::DType))
    llvm::append_range(names, llvm::ArrayRef<StringRef>{"primitive_bitwidth", "itemsize", "name",
                                                        "scalar", "element_ty"});
  return names;
}

Result callMethod(Evaluator &evaluator, const PyValue &self, StringRef name, const CallArgs &args) {
  if (self.is(Kind::Extension))
    return self.asExtension()->callMethod(evaluator, name, args);
  if (self.isStr() && !Work::spendBytes(self.asStr().size()))
    return Work::error();
  if (const MethodEntry *entry = findMethod(self, name))
    return entry->fn(evaluator, self, args);
  if (self.is(Kind::Function)) { // `kernel.warmup(...)`: whoever launches knows what it means
    CallArgs all = args;
    all.positional.insert(all.positional.begin(), self);
    if (evaluator.hooks)
      if (auto result = evaluator.hooks->callSymbol(evaluator, "triton.jit." + name.str(), all))
        return std::move(*result);
  }
  return fail(formatted("a value of type `{}` has no method `{}`", typeName(self), name),
              "AttributeError");
}

std::optional<Result> dtypeAttribute(const PyValue &self, StringRef name) {
  const DType &type = self.asDType();
  if (name == "name") // "int8", "fp16"
    return PyValue::string(str(self));
  if (name == "primitive_bitwidth" || name == "int_bitwidth")
    return PyValue::integer(type.scalar().bitWidth());
  if (name == "itemsize")
    return PyValue::integer(type.scalar().itemSize());
  if (name == "fp_mantissa_width")
    return PyValue::integer(type.mantissaWidth());
  if (name == "exponent_bias")
    return PyValue::integer(type.exponentBias());
  if (name == "scalar")
    return PyValue::dtype(type.scalar());
  if (name == "int_signedness")
    return PyValue::string(type.isSigned() ? "signed" : "unsigned");
  if (name == "element_ty" && (type.isPointer() || type.isBlock()))
    return PyValue::dtype(type.element());
  if (name == "address_space" && type.isPointer())
    return PyValue::integer(1);
  if (name == "shape" && type.isBlock())
    return shapeOf(type);
  if ((name == "numel" || name == "nbytes") && type.isBlock()) {
    int64_t elements = llvm::product_of(type.shape());
    return PyValue::integer(name == "numel" ? elements : elements * type.bitWidth() / 8);
  }
  return std::nullopt;
}

} // namespace tile::eval
