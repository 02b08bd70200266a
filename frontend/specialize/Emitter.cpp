//===- Emitter.cpp - places, errors and constants -------------------------===//
#include "frontend/specialize/Emitter.h"
#include "frontend/eval/WorkMeter.h"
#include "mlir/IR/Matchers.h"
#include "text/Format.h"

using namespace mlir;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

static LocationAttr locationOf(const Emitter::Place &place) {
  SourceFile::LineColumn at = place.file->locate(place.range.begin);
  LocationAttr here = FileLineColLoc::get(place.fileName, at.line, at.column);
  return place.caller ? LocationAttr(CallSiteLoc::get(here, locationOf(*place.caller))) : here;
}

Location Emitter::loc() {
  if (cachedPlace != place || cachedOffset != place->range.begin) {
    cachedLoc = locationOf(*place);
    cachedPlace = place;
    cachedOffset = place->range.begin;
  }
  return cachedLoc;
}

/// The calls that led here, innermost first; the middle of a long chain is
/// left out.
static void addCallChain(const Emitter::Place *place, Diagnostic &diagnostic) {
  constexpr size_t innermost = 3, maxShown = 6;
  SmallVector<const Emitter::Place *> chain;
  for (const Emitter::Place *p = place; p->caller; p = p->caller)
    chain.push_back(p);
  for (size_t i = 0; i < chain.size(); ++i) {
    size_t left = chain.size() - i;
    std::string more;
    if (chain.size() > maxShown && i == innermost) {
      i = chain.size() - 1;
      more = formatted(", {} calls further out", left - 1);
    }
    Diagnostic note;
    note.severity = frontend::Severity::Note;
    note.file = chain[i]->caller->file;
    note.range = chain[i]->caller->range;
    note.message = formatted("in the expansion of `{}` called here{}", chain[i]->function, more);
    diagnostic.notes.push_back(std::move(note));
  }
}

Diagnostic &Emitter::error(SourceRange range, std::string message) {
  // An unrolled or expanded body says the same at every turn: once is enough.
  auto key = std::make_tuple(place->file, range.begin, message);
  if (!reported.insert(key).second) {
    repeated = Diagnostic();
    return repeated;
  }
  Diagnostic &diagnostic = diagnostics.error(place->file, range, std::move(message));
  addCallChain(place, diagnostic);
  return diagnostic;
}

Diagnostic &Emitter::error(std::string message) { return error(place->range, std::move(message)); }

Diagnostic &Emitter::unsupported(std::string message) {
  Diagnostic &diagnostic = error(std::move(message));
  diagnostic.unsupported = true;
  return diagnostic;
}

Diagnostic Emitter::diagnosticHere(std::string message) const {
  Diagnostic diagnostic;
  diagnostic.file = place->file;
  diagnostic.range = place->range;
  diagnostic.message = std::move(message);
  addCallChain(place, diagnostic);
  return diagnostic;
}

PyValue Emitter::fail(std::string message) {
  error(std::move(message));
  return PoisonValue::get();
}

Tensor Emitter::poison(std::string message) {
  error(std::move(message));
  return {};
}

PyValue Emitter::ofHost(PyValue value) {
  constexpr size_t maxValues = 1 << 20; // whoever asks what is inside goes through all of them
  if (!holdsMoreThan(value, maxValues))
    return value;
  return fail(formatted("this holds more than {} values, those of containers in it counted each "
                        "time: does it contain itself, or a part of it many times?",
                        maxValues));
}

PyValue Emitter::take(Result result) {
  if (result && !eval::Work::spend(0))
    result = eval::Work::error(); // what was given up on the way has some value or other
  if (result)
    return ofHost(result.take());
  std::unique_ptr<eval::EvalError> failure = result.takeError();
  Diagnostic inner = std::move(failure->diagnostic);
  // A place of its own is inside a compile-time function or another file.
  bool elsewhere = inner.file && inner.file != place->file;
  SourceRange range = inner.file && !elsewhere ? inner.range : place->range;
  Diagnostic &outer = error(range, inner.message);
  outer.unsupported = inner.unsupported;
  if (elsewhere) {
    Diagnostic note = inner;
    note.severity = frontend::Severity::Note;
    note.message = "while evaluating this";
    note.notes.clear();
    outer.notes.insert(outer.notes.begin(), std::move(note));
  }
  outer.notes.insert(outer.notes.begin(), inner.notes.begin(), inner.notes.end());
  return PoisonValue::get();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Type Emitter::irType(const DType &type, ArrayRef<int64_t> shape) {
  Type element = specialize::irType(builder.getContext(), type);
  return shape.empty() ? element : Type(RankedTensorType::get(shape, element));
}

Tensor Emitter::constant(const PyValue &number, const DType &type, ArrayRef<int64_t> shape) {
  if (type.isPointer()) {
    Tensor address = constant(number, Kind::Int64, shape);
    return {create<IntToPtrOp>(irType(type, shape), address.value), type};
  }
  if (type.kind() == Kind::Float8E4B15) // held as bytes
    return cast(constant(number, Kind::Float16, shape), type);
  TypedAttr attr = numberAttr(builder.getContext(), number, type);
  if (!shape.empty())
    attr = DenseElementsAttr::get(cast<RankedTensorType>(irType(type, shape)), Attribute(attr));
  return {create<arith::ConstantOp>(attr), type};
}

Tensor Emitter::tensor(const PyValue &value, StringRef what) {
  if (const Tensor *t = tensorIn(value))
    return *t;
  if (isPoison(value))
    return {};
  if (!value.isNumber())
    return poison(formatted("{} must be a number or a tensor, got {}", what, describe(value)));
  std::optional<DType> type = naturalType(value);
  if (!type)
    return poison(formatted("{} does not fit into 64 bits", eval::repr(value)));
  return constant(value, *type);
}

Tensor Emitter::filler(const DType &type, Type ir) {
  ArrayRef<int64_t> shape;
  if (auto block = dyn_cast<RankedTensorType>(ir))
    shape = block.getShape();
  return constant(PyValue::integer(0), type, shape);
}

std::optional<PyValue> Emitter::constantValue(const Tensor &tensor) {
  TypedAttr attr;
  auto constant = tensor ? tensor.value.getDefiningOp<arith::ConstantOp>() : nullptr;
  if (!constant || tensor.isBlock())
    return std::nullopt;
  if (auto integer = dyn_cast<IntegerAttr>(constant.getValue())) {
    if (tensor.type.isBool())
      return PyValue::boolean(!integer.getValue().isZero());
    const APInt &bits = integer.getValue();
    return PyValue::integer(tensor.type.isSigned() ? bits : bits.zext(bits.getBitWidth() + 1));
  }
  if (auto number = dyn_cast<FloatAttr>(constant.getValue()))
    return PyValue::number(number.getValueAsDouble());
  return std::nullopt;
}

} // namespace tile::specialize
