//===- Specialization.cpp - from launch arguments to a signature ----------===//
#include "runtime/host/Specialization.h"
#include "frontend/eval/WorkMeter.h"
#include "text/Format.h"
#include <cmath>

using namespace tile;
using namespace tile::host;
using eval::annotationOf;
using eval::constantText;
using eval::EvalError;
using eval::fail;
using eval::ParameterKind;
using llvm::ArrayRef;
using runtime::LaunchArg;
using Kind = PyValue::Kind;

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

namespace {
/// One entry of the signature, being read.
struct Entry {
  std::string text;
  LaunchArg arg;
};
struct Flags {
  bool foldOne = true; ///< an int equal to 1 becomes a constant
  bool align = true;   ///< promise multiples of 16
};
} // namespace

static std::unique_ptr<EvalError> readInteger(const PyValue &value, const ParameterKind &kind,
                                              Flags flags, Entry &out) {
  llvm::APInt number = value.is(Kind::Bool) ? llvm::APInt(64, value.asBool()) : value.asInt();
  unsigned bits = number.getSignificantBits();
  std::string type = bits <= 32 ? "i32" : bits <= 64 ? "i64" : "u64";
  bool fits = bits <= 64 || (!number.isNegative() && bits <= 65);
  if (kind.scalar) {
    type = kind.scalar->str();
    unsigned width = kind.scalar->bitWidth();
    fits = kind.scalar->isSigned() ? bits <= width : !number.isNegative() && bits <= width + 1;
  }
  if (!fits)
    return fail(formatted("{} is out of range for `{}`", eval::repr(value), type), "OverflowError");
  out.arg = LaunchArg::integer(number.sextOrTrunc(64).getZExtValue());
  out.text = type;
  // An annotated integer stays a run-time value even when it is 1, unless the
  // annotation speaks of the value too ("i32:1", "i32:16").
  if (number.isOne() && flags.foldOne && (!kind.scalar || kind.folds))
    out.text += ":1";
  else if (flags.align && number.extractBits(4, 0).isZero())
    out.text += ":16";
  return nullptr;
}

static std::unique_ptr<EvalError> readNumber(const PyValue &value, const ParameterKind &kind,
                                             Flags flags, Entry &out) {
  bool asFloat = kind.scalar ? kind.scalar->isFloating() : value.is(Kind::Float);
  if (asFloat) {
    out.text = kind.scalar ? kind.scalar->str() : "fp32";
    out.arg = LaunchArg::real(*value.toDouble());
    return nullptr;
  }
  if (value.is(Kind::Float))
    return fail(formatted("a float cannot be passed as `{}`", kind.scalar->str()));
  if (kind.scalar ? kind.scalar->isBool() : value.is(Kind::Bool)) {
    out.text = "i1";
    out.arg = LaunchArg::integer(value.is(Kind::Bool) ? value.asBool() : !value.asInt().isZero());
    return nullptr;
  }
  return readInteger(value, kind, flags, out);
}

static std::unique_ptr<EvalError> noDeviceMemory() {
  return fail("the device has no memory for this tensor", "MemoryError");
}

static std::unique_ptr<EvalError> readDescriptor(const PyValue &value, Specialization &result,
                                                 Entry &out) {
  enum { Base, Shape, Strides, Block, Padding };
  ArrayRef<PyValue> fields = value.elements();
  auto *tensor = fields[Base].dynExtension<Tensor>();
  if (!tensor)
    return fail("the base of a `TensorDescriptor` must be a tensor");
  out.arg.kind = LaunchArg::Kind::Descriptor;
  out.arg.bits = tensor->devicePointer();
  if (!out.arg.bits)
    return noDeviceMemory();
  if (out.arg.bits % 16)
    return fail("the base of a `TensorDescriptor` must be aligned to 16 bytes");
  // Lists that it was made of may have changed since.
  size_t rank = fields[Shape].elements().size();
  if (fields[Strides].elements().size() != rank || fields[Block].elements().size() != rank)
    return fail(formatted(
        "a `TensorDescriptor` needs as many strides and block sizes as dimensions, {}", rank));
  int64_t bytes = std::max(tensor->type().bitWidth() / 8, 1u);
  std::string block;
  for (size_t d = 0; d < fields[Shape].elements().size(); ++d) {
    std::optional<int64_t> size = fields[Shape].elements()[d].toInt64();
    std::optional<int64_t> stride = fields[Strides].elements()[d].toInt64();
    std::optional<int64_t> extent = fields[Block].elements()[d].toInt64();
    if (!size || !stride || !extent)
      return fail("shape, strides and block shape of a `TensorDescriptor` must be integers");
    if (*size <= 0 || *size > INT32_MAX)
      return fail(formatted("size {} of a `TensorDescriptor` is not positive or too large", *size));
    if (d + 1 < fields[Shape].elements().size() && *stride % 16 * bytes % 16)
      return fail(
          formatted("stride {} of a `TensorDescriptor` is no multiple of 16 bytes", *stride));
    out.arg.shape.push_back(*size);
    out.arg.strides.push_back(*stride);
    block += (block.empty() ? "" : ",") + std::to_string(*extent);
  }
  out.text = formatted("tensordesc<{}[{}]{}", tensor->type(), block,
                       fields[Padding].asStr() == "nan" ? ",nan>" : ">");
  result.storages.push_back(tensor->sharedStorage());
  result.written.push_back(&tensor->storage());
  return nullptr;
}

static std::unique_ptr<EvalError> readArgument(const PyValue &value, const ParameterKind &kind,
                                               Flags flags, Specialization &result, Entry &out) {
  if (value.isNone()) {
    out.text = "none";
    return nullptr;
  }
  if (auto *tensor = value.dynExtension<Tensor>()) {
    out.arg = LaunchArg::pointer(tensor->devicePointer());
    if (!out.arg.bits)
      return noDeviceMemory();
    out.text = (kind.isConst ? "*k" : "*") + tensor->type().str();
    if (flags.align && out.arg.bits % 16 == 0)
      out.text += ":16";
    result.storages.push_back(tensor->sharedStorage());
    if (!kind.isConst)
      result.written.push_back(&tensor->storage());
    return nullptr;
  }
  if (value.isNumber())
    return readNumber(value, kind, flags, out);
  if (eval::typeName(value) == "TensorDescriptor")
    return readDescriptor(value, result, out);
  if (value.is(Kind::Tuple) || value.is(Kind::List)) {
    out.arg.kind = LaunchArg::Kind::Tuple;
    eval::Nesting nesting;
    if (nesting.isTooDeep())
      return fail("this tuple nests too deep");
    if (!eval::Work::spend(eval::kConstantSteps * value.elements().size()))
      return eval::Work::error();
    const auto *type = value.is(Kind::Tuple) ? value.asTuple().type.get() : nullptr;
    for (auto [i, element] : llvm::enumerate(value.elements())) {
      Entry inner;
      if (auto error = readArgument(element, {}, Flags(), result, inner))
        return error;
      out.text += (out.text.empty() ? "" : ",") + (type ? type->fields[i] + "=" : "") + inner.text;
      out.arg.elements.push_back(std::move(inner.arg));
    }
    out.text = formatted("{}({}{}", type ? type->name : "", out.text,
                         value.elements().size() == 1 ? ",)" : ")");
    return nullptr;
  }
  std::optional<std::string> text = constantText(value);
  if (!text)
    return fail(
        formatted("a value of type `{}` cannot be passed to a kernel", eval::typeName(value)));
  out.text = "const=" + *text;
  return nullptr;
}

std::unique_ptr<EvalError> host::specialize(Evaluator &evaluator,
                                            const eval::FunctionObject &kernel,
                                            ArrayRef<PyValue> values, ArrayRef<std::string> plain,
                                            ArrayRef<std::string> unaligned, Specialization &out) {
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string &name = kernel.params()[i].name;
    ParameterKind kind = annotationOf(evaluator, kernel, i);
    if (kind.isConstexpr) {
      std::optional<std::string> text = constantText(values[i]);
      if (!text)
        return eval::unsupported(formatted(
            "constexpr `{}` of `{}` is a value of type `{}`, which cannot be given to a launch yet",
            name, kernel.name(), eval::typeName(values[i])));
      out.constexprs.emplace_back(name, std::move(*text));
      continue;
    }
    bool isPlain = llvm::is_contained(plain, name);
    Flags flags{!isPlain, !isPlain && !llvm::is_contained(unaligned, name)};
    Entry entry;
    if (auto error = readArgument(values[i], kind, flags, out, entry)) {
      error->diagnostic.message =
          formatted("argument `{}` of `{}`: {}", name, kernel.name(), error->diagnostic.message);
      return error;
    }
    out.signature += (out.signature.empty() ? "" : ",") + entry.text;
    out.args.push_back(std::move(entry.arg));
  }
  return nullptr;
}
