//===- TensorDescriptor.cpp - make_tensor_descriptor and its methods ------===//
#include "frontend/specialize/TensorDescriptor.h"
#include "frontend/specialize/Writable.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

enum Field { Base, Shape, Strides, BlockType, PaddingName };

static const std::shared_ptr<const eval::ClassObject> &descriptorClass() {
  static const std::shared_ptr<const eval::ClassObject> type = [] {
    auto object = std::make_shared<eval::ClassObject>();
    object->name = "tensor_descriptor";
    object->isNamedTuple = true;
    object->fields = {"base", "shape", "strides", "type", "padding"};
    object->attribute = tensorDescriptorAttribute;
    return object;
  }();
  return type;
}

bool isTensorDescriptor(const PyValue &value) {
  return value.is(PyValue::Kind::Tuple) && value.asTuple().type == descriptorClass();
}

PyValue makeTensorDescriptor(PyValue base, std::vector<PyValue> shape, std::vector<PyValue> strides,
                             const DType &blockType, StringRef padding) {
  return PyValue::namedTuple(descriptorClass(),
                             {std::move(base), PyValue::tuple(std::move(shape)),
                              PyValue::tuple(std::move(strides)), PyValue::dtype(blockType),
                              PyValue::string(padding.str())});
}

bool checkDescriptorBlock(const DType &element, ArrayRef<int64_t> block, std::string &problem) {
  if (!checkShape(block, problem))
    return false;
  if (block.empty() || block.size() > maxDescriptorRank)
    problem =
        formatted("a descriptor has 1 to {} dimensions, got {}", maxDescriptorRank, block.size());
  else if (element.isBool() || element.isPointer())
    problem = formatted("a descriptor cannot be of {}", element.str());
  else if (block.back() * element.bitWidth() < 128)
    problem = formatted("the last dimension of a descriptor's block must span 16 bytes or more: {} "
                        "elements of {} are {}",
                        block.back(), element.str(), block.back() * element.bitWidth() / 8);
  return problem.empty();
}

static DType elementOf(const PyValue &descriptor) {
  return descriptor.elements()[BlockType].asDType().element();
}
static ArrayRef<int64_t> blockOf(const PyValue &descriptor) {
  return descriptor.elements()[BlockType].asDType().shape();
}

//===----------------------------------------------------------------------===//
// Making one
//===----------------------------------------------------------------------===//

/// A tuple of integer scalars of `type`; `rank` of them.
static bool scalars(BuiltinCall &c, unsigned i, size_t rank, const DType &type,
                    std::vector<PyValue> &out) {
  if (!c[i].isSequence() || c[i].elements().size() != rank) {
    c.fail(formatted("{} must be a tuple of {} integers, got {}", c.parameter(i), rank,
                     describe(c[i])));
    return false;
  }
  for (const PyValue &element : c[i].elements()) {
    Tensor t = c.s.tensor(element);
    if (!t)
      return false;
    if (t.isBlock() || !t.type.isInt()) {
      c.fail(formatted("{} must be scalar integers, got {}", c.parameter(i), describe(element)));
      return false;
    }
    out.push_back(c.s.wrap(c.s.cast(t, type)));
  }
  return true;
}

static PyValue make(BuiltinCall &c) {
  const Tensor *base = tensorIn(c[0]);
  if (!base || base->isBlock() || !base->type.isPointer())
    return c.fail(formatted("`base` must be a scalar pointer, got {}", describe(c[0])));
  auto block = c.integers(3);
  auto padding = c.string(4);
  if (!block || !padding)
    return PoisonValue::get();
  DType element = base->type.element();
  std::string problem;
  if (!checkDescriptorBlock(element, *block, problem))
    return c.fail(problem);
  if (!padding->empty() && *padding != "zero" && *padding != "nan")
    return c.fail(formatted("`padding_option` must be \"zero\" or \"nan\", got \"{}\"", *padding));
  if (*padding == "nan" && !element.isFloating())
    return c.fail(formatted("`padding_option` \"nan\" needs floats, not {}", element.str()));
  std::vector<PyValue> shape, strides;
  if (!scalars(c, 1, block->size(), Kind::Int32, shape) ||
      !scalars(c, 2, block->size(), Kind::Int64, strides))
    return PoisonValue::get();
  PyValue last = c[2].elements().back();
  if (const Tensor *t = tensorIn(last))
    last = c.s.constantValue(*t).value_or(last);
  if (last.toInt64() != 1)
    return c.fail(formatted("the last stride must be the compile-time constant 1, got {}",
                            describe(c[2].elements().back())));
  return makeTensorDescriptor(c[0], std::move(shape), std::move(strides),
                              DType::block(element, *block), padding->empty() ? "zero" : *padding);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

namespace {
/// The operands that every access has.
struct Parts {
  Value base;
  SmallVector<Value> shape, strides, offsets;
};
} // namespace

static bool descriptorArgument(BuiltinCall &c, Parts &parts) {
  if (!isTensorDescriptor(c[0])) {
    c.fail(formatted("{} must be a tensor descriptor, got {}", c.parameter(0), describe(c[0])));
    return false;
  }
  ArrayRef<PyValue> fields = c[0].elements();
  parts.base = tensorIn(fields[Base])->value;
  for (const PyValue &size : fields[Shape].elements())
    parts.shape.push_back(c.s.tensor(size).value);
  for (const PyValue &stride : fields[Strides].elements())
    parts.strides.push_back(c.s.tensor(stride).value);
  return true;
}

/// Descriptor and offsets.
static bool access(BuiltinCall &c, Parts &parts) {
  std::vector<PyValue> offsets;
  if (!descriptorArgument(c, parts) || !scalars(c, 1, blockOf(c[0]).size(), Kind::Int32, offsets))
    return false;
  for (const PyValue &offset : offsets)
    parts.offsets.push_back(tensorIn(offset)->value);
  return true;
}

/// The value to write, of the descriptor's element type and `shape`.
static Tensor written(BuiltinCall &c, unsigned i, ArrayRef<int64_t> shape) {
  DType element = elementOf(c[0]);
  if (!tensorIn(c[i]) && !c[i].isNumber())
    return c.poison(
        formatted("{} must be a tensor or a number, got {}", c.parameter(i), describe(c[i])));
  Tensor value = tensorIn(c[i]) ? c.s.cast(*tensorIn(c[i]), element) : c.s.constant(c[i], element);
  if (value && value.isBlock() && value.shape() != shape)
    return c.poison(formatted("{} is {}, but the descriptor's blocks are {}", c.parameter(i),
                              describe(value.type, value.shape()), describeShape(shape)));
  return c.s.broadcastTo(value, shape);
}

static bool writable(BuiltinCall &c) { return writable(c, *tensorIn(c[0].elements()[Base])); }

static PyValue load(BuiltinCall &c) {
  Parts p;
  if (!access(c, p))
    return PoisonValue::get();
  DType element = elementOf(c[0]);
  Type type = c.s.irType(element, blockOf(c[0]));
  bool isNan = c[0].elements()[PaddingName].asStr() == "nan";
  return c.s.wrap({c.s.create<DescriptorLoadOp>(type, p.base, p.offsets, p.shape, p.strides,
                                                isNan ? Padding::nan : Padding::zero),
                   element});
}

static PyValue store(BuiltinCall &c) {
  Parts p;
  if (!access(c, p) || !writable(c))
    return PoisonValue::get();
  Tensor value = written(c, 2, blockOf(c[0]));
  if (!value)
    return PoisonValue::get();
  DescriptorStoreOp::create(c.s.builder, c.s.loc(), p.base, p.offsets, p.shape, p.strides,
                            value.value);
  return PyValue::none();
}

enum class Rmw { Add, Max, Min, And, Or, Xor };

/// The op for a type, if there is one.
static std::optional<AtomicKind> atomicKind(Rmw op, const DType &type) {
  bool isWideInt = type.isInt() && type.bitWidth() >= 32;
  bool isHalf = type.kind() == Kind::Float16 || type.kind() == Kind::BFloat16;
  bool isSigned = type.isSigned();
  switch (op) {
  case Rmw::Add:
    if (isHalf || type.kind() == Kind::Float32)
      return AtomicKind::fadd;
    return isWideInt ? std::optional(AtomicKind::add) : std::nullopt;
  case Rmw::Max:
    if (isHalf)
      return AtomicKind::fmax;
    return isWideInt ? std::optional(isSigned ? AtomicKind::max : AtomicKind::umax) : std::nullopt;
  case Rmw::Min:
    if (isHalf)
      return AtomicKind::fmin;
    return isWideInt ? std::optional(isSigned ? AtomicKind::min : AtomicKind::umin) : std::nullopt;
  case Rmw::And:
    return isWideInt ? std::optional(AtomicKind::band) : std::nullopt;
  case Rmw::Or:
    return isWideInt ? std::optional(AtomicKind::bor) : std::nullopt;
  case Rmw::Xor:
    return isWideInt ? std::optional(AtomicKind::bxor) : std::nullopt;
  }
  return std::nullopt;
}

template <Rmw op> static PyValue reduce(BuiltinCall &c) {
  Parts p;
  if (!access(c, p) || !writable(c))
    return PoisonValue::get();
  std::optional<AtomicKind> kind = atomicKind(op, elementOf(c[0]));
  if (!kind)
    return c.fail(formatted("does not work on {}: use {}", elementOf(c[0]).str(),
                            op == Rmw::Add ? "32- or 64-bit integers, fp16, bf16 or fp32"
                            : op == Rmw::Max || op == Rmw::Min
                                ? "32- or 64-bit integers, fp16 or bf16"
                                : "32- or 64-bit integers"));
  Tensor value = written(c, 2, blockOf(c[0]));
  if (!value)
    return PoisonValue::get();
  DescriptorReduceOp::create(c.s.builder, c.s.loc(), *kind, p.base, p.offsets, p.shape, p.strides,
                             value.value);
  return PyValue::none();
}

/// Row indices and a column of gather and scatter.
struct RowAccess {
  Parts parts;
  Tensor rows, column;
  SmallVector<int64_t> shape;
};

static bool rowAccess(BuiltinCall &c, unsigned rowsIndex, RowAccess &out) {
  if (!descriptorArgument(c, out.parts))
    return false;
  ArrayRef<int64_t> block = blockOf(c[0]);
  if (block.size() != 2 || block[0] != 1) {
    c.fail(formatted("needs a descriptor of one row, block shape [1, N], got {}",
                     describeShape(block)));
    return false;
  }
  const Tensor *rows = tensorIn(c[rowsIndex]);
  if (!rows || rows->rank() != 1 || !rows->type.isInt() || rows->type.bitWidth() > 32 ||
      rows->type.bitWidth() < 16) {
    c.fail(formatted("{} must be a one-dimensional block of int16 or int32, got {}",
                     c.parameter(rowsIndex), describe(c[rowsIndex])));
    return false;
  }
  if (rows->shape()[0] < 8) {
    c.fail(formatted("at least 8 rows are needed, got {}", rows->shape()[0]));
    return false;
  }
  Tensor column = c.tensor(rowsIndex + 1);
  if (!column || column.isBlock() || !column.type.isInt()) {
    if (column)
      c.fail(formatted("{} must be a scalar integer, got {}", c.parameter(rowsIndex + 1),
                       describe(c[rowsIndex + 1])));
    return false;
  }
  out.rows = c.s.cast(*rows, Kind::Int32);
  out.column = c.s.cast(column, Kind::Int32);
  out.shape = {rows->shape()[0], block[1]};
  return true;
}

static PyValue gather(BuiltinCall &c) {
  RowAccess a;
  if (!rowAccess(c, 1, a))
    return PoisonValue::get();
  DType element = elementOf(c[0]);
  return c.s.wrap(
      {c.s.create<DescriptorGatherOp>(c.s.irType(element, a.shape), a.parts.base, a.rows.value,
                                      a.column.value, a.parts.shape, a.parts.strides),
       element});
}

static PyValue scatter(BuiltinCall &c) {
  RowAccess a;
  if (!rowAccess(c, 2, a) || !writable(c))
    return PoisonValue::get();
  Tensor value = written(c, 1, a.shape);
  if (!value)
    return PoisonValue::get();
  DescriptorScatterOp::create(c.s.builder, c.s.loc(), a.parts.base, a.rows.value, a.column.value,
                              a.parts.shape, a.parts.strides, value.value);
  return PyValue::none();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

const Builtin *findTensorDescriptorMethod(StringRef name) {
  return BuiltinTable::get().find(("tensor_descriptor." + name).str());
}

std::optional<PyValue> tensorDescriptorAttribute(const PyValue &descriptor, StringRef name) {
  if (name == "dtype")
    return PyValue::dtype(elementOf(descriptor));
  if (name == "block_type")
    return descriptor.elements()[BlockType];
  if (name == "block_shape") {
    std::vector<PyValue> dims;
    for (int64_t size : blockOf(descriptor))
      dims.push_back(PyValue::integer(size));
    return PyValue::tuple(std::move(dims));
  }
  if (findTensorDescriptorMethod(name))
    return PyValue::method(descriptor, name.str());
  return std::nullopt;
}

void addTensorDescriptorBuiltins(BuiltinTable &t) {
  t.add("tl.make_tensor_descriptor", "base, shape, strides, block_shape, padding_option=", make);
  t.add("tl._experimental_make_tensor_descriptor",
        "base, shape, strides, block_shape, padding_option=", make);
  t.add("tl.load_tensor_descriptor", "desc, offsets", load);
  t.add("tl.store_tensor_descriptor", "desc, offsets, value", store);
  t.add("tensor_descriptor.load", "desc, offsets", load);
  t.add("tensor_descriptor.store", "desc, offsets, value", store);
  t.add("tensor_descriptor.atomic_add", "desc, offsets, value", reduce<Rmw::Add>);
  t.add("tensor_descriptor.atomic_max", "desc, offsets, value", reduce<Rmw::Max>);
  t.add("tensor_descriptor.atomic_min", "desc, offsets, value", reduce<Rmw::Min>);
  t.add("tensor_descriptor.atomic_and", "desc, offsets, value", reduce<Rmw::And>);
  t.add("tensor_descriptor.atomic_or", "desc, offsets, value", reduce<Rmw::Or>);
  t.add("tensor_descriptor.atomic_xor", "desc, offsets, value", reduce<Rmw::Xor>);
  t.add("tensor_descriptor.gather", "desc, x_offsets, y_offset", gather);
  t.add("tensor_descriptor.scatter", "desc, value, x_offsets, y_offset", scatter);
}

} // namespace tile::specialize
