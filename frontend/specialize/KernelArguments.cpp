//===- KernelArguments.cpp - parameters become arguments ------------------===//
#include "frontend/specialize/KernelArguments.h"
#include "frontend/specialize/TensorDescriptor.h"
#include "text/Format.h"

using namespace mlir;
using llvm::StringRef;

namespace tile::specialize {

namespace {

/// Turns parameters into arguments of the function and values of the walk.
class ArgumentBuilder {
public:
  ArgumentBuilder(Specializer &s, const Parameters::Slot &slot, Location location, Block &entry,
                  eval::ModuleEnv &module, SmallVectorImpl<DictionaryAttr> &attributes)
      : s(s), slot(slot), location(location), entry(entry), module(module), attributes(attributes) {
  }

  std::optional<PyValue> build(const ArgumentType &type, std::string &problem);

private:
  std::optional<PyValue> buildScalar(const ArgumentType &type, std::string &problem);
  std::optional<PyValue> buildDescriptor(const ArgumentType &type, std::string &problem);
  NamedAttrList origin(const DType &type);
  std::shared_ptr<const eval::ClassObject> namedTupleClass(const ArgumentType &type);
  Specializer &s;
  const Parameters::Slot &slot;
  Location location;
  Block &entry;
  eval::ModuleEnv &module;
  SmallVectorImpl<DictionaryAttr> &attributes;
  SmallVector<int64_t> path;
};

} // namespace

/// Where an argument of the function comes from.
NamedAttrList ArgumentBuilder::origin(const DType &type) {
  Builder &b = s.builder;
  NamedAttrList list;
  list.append(kSignatureIndexAttr, b.getI64IntegerAttr(slot.index));
  if (!path.empty())
    list.append(kSignaturePathAttr, b.getDenseI64ArrayAttr(path));
  list.append(kSourceTypeAttr, b.getStringAttr(type.str()));
  return list;
}

std::optional<PyValue> ArgumentBuilder::buildScalar(const ArgumentType &type,
                                                    std::string &problem) {
  if (type.isOne)
    return PyValue::integer(1);
  if (!supportedOn(type.type, s.target, problem))
    return std::nullopt;
  Type ir = s.irType(type.type);
  if (!ir) {
    problem = formatted("no argument can have type {}", type.type.str());
    return std::nullopt;
  }
  Builder &b = s.builder;
  NamedAttrList list = origin(type.type);
  if (type.divisibility > 1)
    list.append(kDivisibilityAttr, b.getI32IntegerAttr(type.divisibility));
  attributes.push_back(list.getDictionary(b.getContext()));
  return s.wrap({entry.addArgument(ir, location), type.type});
}

/// A descriptor arrives as its parts: base, sizes, and strides but the last.
std::optional<PyValue> ArgumentBuilder::buildDescriptor(const ArgumentType &type,
                                                        std::string &problem) {
  if (!supportedOn(type.type, s.target, problem) ||
      !checkDescriptorBlock(type.type, type.block, problem))
    return std::nullopt;
  Builder &b = s.builder;
  auto part = [&](const DType &dtype, StringRef name, int dim, int divisibility) {
    NamedAttrList list = origin(dtype);
    list.append(kDescriptorPartAttr, b.getStringAttr(name));
    if (dim >= 0)
      list.append(kDescriptorDimAttr, b.getI32IntegerAttr(dim));
    if (divisibility > 1)
      list.append(kDivisibilityAttr, b.getI32IntegerAttr(divisibility));
    attributes.push_back(list.getDictionary(b.getContext()));
    return s.wrap({entry.addArgument(s.irType(dtype), location), dtype});
  };
  int rank = type.block.size();
  PyValue base = part(DType::pointer(type.type), "base", -1, 16);
  std::vector<PyValue> shape, strides;
  for (int d = 0; d < rank; ++d)
    shape.push_back(part(Kind::Int32, "shape", d, 1));
  for (int d = 0; d + 1 < rank; ++d)
    strides.push_back(part(Kind::Int64, "stride", d, 128 / type.type.bitWidth()));
  s.builder.setInsertionPointToEnd(&entry);
  Value one = arith::ConstantOp::create(s.builder, location, s.builder.getI64IntegerAttr(1));
  strides.push_back(s.wrap({one, DType(Kind::Int64)}));
  return makeTensorDescriptor(base, std::move(shape), std::move(strides),
                              DType::block(type.type, type.block), type.padNan ? "nan" : "zero");
}

/// The file's class of that name, so that its methods work; else one with fields only.
std::shared_ptr<const eval::ClassObject>
ArgumentBuilder::namedTupleClass(const ArgumentType &type) {
  eval::Result known = module.lookup(type.className);
  if (known && known->is(PyValue::Kind::Class) && known->asClass()->isNamedTuple &&
      known->asClass()->fields == type.fields)
    return known->asClass();
  auto made = std::make_shared<eval::ClassObject>();
  made->name = type.className.empty() ? "tuple" : type.className;
  made->isNamedTuple = true;
  made->fields = type.fields;
  return made;
}

std::optional<PyValue> ArgumentBuilder::build(const ArgumentType &type, std::string &problem) {
  switch (type.kind) {
  case ArgumentType::Kind::None:
    return PyValue::none();
  case ArgumentType::Kind::Constant:
    return parseConstant(type.constant, module, problem);
  case ArgumentType::Kind::Scalar:
    return buildScalar(type, problem);
  case ArgumentType::Kind::Descriptor:
    return buildDescriptor(type, problem);
  case ArgumentType::Kind::Tuple: {
    std::vector<PyValue> elements;
    for (auto [i, element] : llvm::enumerate(type.elements)) {
      path.push_back(i);
      std::optional<PyValue> value = build(element, problem);
      path.pop_back();
      if (!value)
        return std::nullopt;
      elements.push_back(std::move(*value));
    }
    if (type.fields.empty())
      return PyValue::tuple(std::move(elements));
    return PyValue::namedTuple(namedTupleClass(type), std::move(elements));
  }
  }
  return std::nullopt;
}

bool buildArguments(Specializer &s, const eval::FunctionObject &kernel, Parameters &parameters,
                    Block &entry, SmallVectorImpl<DictionaryAttr> &attributes,
                    std::vector<PyValue> &values) {
  const SourceFile &file = kernel.module->source();
  StringAttr name = s.builder.getStringAttr(file.name());
  bool valid = true;
  for (Parameters::Slot &slot : parameters.slots) {
    if (slot.isConstexpr) {
      values.push_back(slot.value);
      continue;
    }
    SourceFile::LineColumn at = file.locate(slot.parameter->range.begin);
    Location location = FileLineColLoc::get(name, at.line, at.column);
    location = NameLoc::get(s.builder.getStringAttr(slot.parameter->name), location);
    std::string problem;
    std::optional<PyValue> value =
        ArgumentBuilder(s, slot, location, entry, *kernel.module, attributes)
            .build(slot.type, problem);
    if (value) {
      values.push_back(std::move(*value));
      continue;
    }
    s.diagnostics.error(&file, slot.parameter->range,
                        formatted("parameter `{}`: {}", slot.parameter->name, problem));
    valid = false;
  }
  return valid;
}

} // namespace tile::specialize
