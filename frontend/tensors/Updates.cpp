//===- Updates.cpp - parameters that a function writes --------------------===//
//
// `w[:] = ...` and `w -= ...` of a parameter: what is read of it from there on is the new
// value, which its memory holds when the function has run. Everything before has the old one:
// the graph knows values, not memory. Only what NumPy would let see both, a view that was taken
// before and is used behind, has no such meaning, and is refused.
//
//===----------------------------------------------------------------------===//
#include "frontend/tensors/Tracer.h"
#include "text/Format.h"
#include "llvm/ADT/SetVector.h"

using namespace tile;
using namespace tile::tensors;

/// Whether an index means all elements: `:`, `...`, `:, :`.
static bool isWhole(const PyValue &index) {
  if (index.is(PyValue::Kind::Tuple))
    return llvm::all_of(index.elements(), isWhole);
  if (!index.is(PyValue::Kind::Slice))
    return index.is(PyValue::Kind::Ellipsis);
  const auto &slice = index.asSlice();
  return slice.lower.isNone() && slice.upper.isNone() && slice.step.isNone();
}

Result TensorValue::assignSubscript(const PyValue &index, const PyValue &given) {
  auto parameter = tracer.parameters.find(this);
  if (parameter == tracer.parameters.end())
    return eval::unsupported("only parameters are written in place, and this is a value that the "
                             "function computes: make a new one, such as `tile.where(condition, "
                             "new, old)`");
  if (!isWhole(index))
    return eval::unsupported(formatted("a part of `{}` cannot be written by itself; write all of "
                                       "it, `{}[:] = tile.where(condition, new, {})`",
                                       name, name, name));
  Operand x;
  if (auto error = tracer.operand("=", given, x))
    return error;
  unsigned dim;
  Sizes own = sizes();
  std::optional<Sizes> both = graph::broadcast(own, x.type().sizes(), dim);
  if (!both || *both != own)
    return fail(formatted("`{}` has the shape {}, and what is assigned {}: it must have the same, "
                          "or repeat along dimensions where it is 1",
                          name, graph::shapeText(own), graph::shapeText(x.type().sizes())),
                "ValueError");
  mlir::Type element = type().getElement();
  Result converted = element.isInteger(1) && !x.type().getElement().isInteger(1)
                         ? tracer.map(MapKind::ne, "=", {given, PyValue::integer(0)})
                         : tracer.cast(given, element);
  Result whole = converted ? tracer.expand(*converted, own) : std::move(converted);
  if (!whole)
    return whole;
  if (auto error = tracer.operand("=", *whole, x))
    return error;
  tracer.updates.push_back({parameter->second, value, x.value, name});
  value = x.value;
  return PyValue();
}

static std::string lineOf(mlir::Operation *op) {
  auto at = op->getLoc()->findInstanceOf<mlir::FileLineColLoc>();
  return at ? formatted("line {}", at.getLine()) : "a line";
}

/// What shows the same memory as a parameter did before an update must not be used behind it.
std::unique_ptr<EvalError> Tracer::checkUpdates() {
  for (const Update &update : updates) {
    mlir::Operation *at = update.after.getDefiningOp();
    llvm::SmallSetVector<mlir::Value, 8> views;
    views.insert(update.before);
    for (size_t i = 0; at && i < views.size(); ++i)
      for (mlir::Operation *user : views[i].getUsers()) {
        bool isView = mlir::isa<graph::RearrangeOp, graph::WindowOp, graph::ReshapeOp>(user);
        if (isView && user->isBeforeInBlock(at)) {
          views.insert(user->getResult(0));
          continue;
        }
        if (i == 0 || user == at || user->isBeforeInBlock(at))
          continue;
        return fail(formatted(
            "what {} takes of `{}` is used in {}, behind the update in {}: NumPy would find new "
            "elements there; take it behind the update, or take a copy, `{}.clone()`",
            lineOf(views[i].getDefiningOp()), update.name, lineOf(user), lineOf(at), update.name));
      }
  }
  return nullptr;
}

llvm::SmallVector<std::pair<unsigned, mlir::Value>> Tracer::updated() const {
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> out;
  for (const Update &update : updates) {
    auto known = llvm::find_if(out, [&](auto &pair) { return pair.first == update.parameter; });
    if (known == out.end())
      out.push_back({update.parameter, update.after});
    else
      known->second = update.after;
  }
  return out;
}
