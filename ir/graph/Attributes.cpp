//===- Attributes.cpp - which attribute stands where, and what it is ------===//
#include "ir/graph/Attributes.h"
#include "ir/graph/Graph.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tile::graph;

namespace {
enum class Place { Parameter, Function, Launch, Product, Kernel, Any };

struct Rule {
  StringLiteral name;
  Place place;
  bool (*isOfType)(Attribute);
  StringLiteral type;
};
} // namespace

template <typename T> static bool is(Attribute a) { return isa<T>(a); }
static bool isStrings(Attribute a) {
  auto array = dyn_cast<ArrayAttr>(a);
  return array && llvm::all_of(array, is<StringAttr>);
}

static constexpr Rule rules[] = {
    {kNameAttr, Place::Parameter, is<StringAttr>, "a string"},
    {kNumberAttr, Place::Parameter, is<UnitAttr>, "unit"},
    {kRequiresAttr, Place::Function, isStrings, "an array of strings"},
    {kNoneAttr, Place::Function, is<UnitAttr>, "unit"},
    {kTupleAttr, Place::Function, is<UnitAttr>, "unit"},
    {kUpdatesAttr, Place::Function, is<DenseI64ArrayAttr>, "an array of i64"},
    {kNoGradientAttr, Place::Any, is<UnitAttr>, "unit"},
    {kChangesAttr, Place::Launch, is<DenseI64ArrayAttr>, "an array of i64"},
    {kUnchainedAttr, Place::Product, is<StringAttr>, "a string"},
    {kChainedAttr, Place::Product, is<UnitAttr>, "unit"},
    {kInPlaceAttr, Place::Kernel, is<UnitAttr>, "unit"},
    {kNumbersAttr, Place::Kernel, is<DenseI64ArrayAttr>, "an array of i64"},
};

static bool standsOn(Operation *op, Place place) {
  switch (place) {
  case Place::Function:
    return isa<FunctionOpInterface>(op);
  case Place::Launch:
    return isa<LaunchOp>(op);
  case Place::Product:
    return isa<MatmulOp>(op);
  case Place::Kernel:
    return isa<KernelOp>(op);
  case Place::Any:
    return true;
  case Place::Parameter:
    return false;
  }
  llvm_unreachable("a place without a rule");
}

static LogicalResult verifyAttribute(Operation *op, NamedAttribute attribute, bool ofParameter) {
  StringRef name = attribute.getName();
  const Rule *rule = llvm::find_if(rules, [&](const Rule &r) { return r.name == name; });
  if (rule == std::end(rules))
    return op->emitOpError("has an attribute that no pass knows: `") << name << "`";
  bool stands = ofParameter ? rule->place == Place::Parameter : standsOn(op, rule->place);
  if (!stands)
    return op->emitOpError("cannot carry `") << name << "`";
  if (!rule->isOfType(attribute.getValue()))
    return op->emitOpError("attribute `") << name << "` must be " << rule->type;
  return success();
}

LogicalResult GraphDialect::verifyOperationAttribute(Operation *op, NamedAttribute attribute) {
  return verifyAttribute(op, attribute, /*ofParameter=*/false);
}
LogicalResult GraphDialect::verifyRegionArgAttribute(Operation *op, unsigned, unsigned,
                                                     NamedAttribute attribute) {
  return verifyAttribute(op, attribute, /*ofParameter=*/true);
}
