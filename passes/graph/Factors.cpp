//===- Factors.cpp - what a value is a product of, element by element -------===//
#include "passes/graph/Factors.h"
#include "passes/graph/Chain.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile::graph;

static bool isOfRow(Value value) {
  Sizes sizes = typeOf(value).sizes();
  return sizes.empty() || sizes.back().isConstant(1);
}

void Factors::add(Value value) {
  value = unrounded(value);
  auto map = value.getDefiningOp<MapOp>();
  MapKind kind = map ? map.getKind() : MapKind::exp;
  if (map && isOfRow(value)) {
    scalings.push_back({value, false});
  } else if (map && kind == MapKind::mul) {
    add(map.getOperand(0));
    add(map.getOperand(1));
  } else if (map && kind == MapKind::div && isOfRow(map.getOperand(1))) {
    add(map.getOperand(0));
    scalings.push_back({unrounded(map.getOperand(1)), true});
  } else if (map && kind == MapKind::neg) {
    isNegative = !isNegative;
    add(map.getOperand(0));
  } else if (map && kind == MapKind::select &&
             (isZero(map.getOperand(1)) || isZero(map.getOperand(2)))) {
    bool wanted = isZero(map.getOperand(2));
    masks.push_back({map.getOperand(0), wanted});
    add(map.getOperand(wanted ? 1 : 2));
  } else if (isOfRow(value)) {
    scalings.push_back({value, false});
  } else {
    elements.push_back(value);
  }
}

Factors Factors::of(Value value) {
  Factors factors;
  factors.add(value);
  return factors;
}

bool Factors::divides(const Factors &other) const {
  auto contains = [](const auto &all, const auto &some) {
    return llvm::all_of(
        some, [&](const auto &each) { return llvm::count(all, each) >= llvm::count(some, each); });
  };
  return contains(other.scalings, scalings) && contains(other.masks, masks) &&
         contains(masks, other.masks);
}

Factors Factors::without(const Factors &other) const {
  Factors rest;
  rest.isNegative = isNegative != other.isNegative;
  auto left = other.scalings;
  for (const Scaling &scaling : scalings) {
    auto found = llvm::find(left, scaling);
    if (found != left.end())
      left.erase(found);
    else
      rest.scalings.push_back(scaling);
  }
  return rest;
}

Value Factors::applied(OpBuilder &b, Value value) const {
  Location loc = value.getLoc();
  Type f32 = b.getF32Type();
  auto type = GraphTensorType::of(b.getContext(), typeOf(value).sizes(), f32);
  for (const Mask &mask : masks) {
    Value zero = ConstantOp::create(b, loc, GraphTensorType::of(b.getContext(), {}, f32),
                                    b.getF64FloatAttr(0));
    SmallVector<Value> operands = {mask.condition, value, zero};
    if (!mask.wanted)
      std::swap(operands[1], operands[2]);
    value = MapOp::create(b, loc, type, MapKind::select, operands);
  }
  return scaled(b, value, type);
}

Value Factors::scaled(OpBuilder &b, Value value, GraphTensorType type) const {
  Location loc = value.getLoc();
  for (const Scaling &scaling : scalings)
    value = MapOp::create(b, loc, type, scaling.divides ? MapKind::div : MapKind::mul,
                          ValueRange{value, scaling.by});
  if (isNegative)
    value = MapOp::create(b, loc, type, MapKind::neg, ValueRange{value});
  return value;
}
