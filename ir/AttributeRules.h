//===- AttributeRules.h - the table of a dialect's attributes -------------===//
//
// A dialect's discardable attributes are a table: the name of each, what it may stand on, and what
// it is. The dialect verifies by it whatever carries its prefix, so that a name that is misspelt or
// stands on the wrong op is an error and not a pass that silently does nothing.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_ATTRIBUTERULES_H
#define TILE_IR_ATTRIBUTERULES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

namespace tile {

struct AttributeRule {
  llvm::StringLiteral name;
  bool (*standsOn)(mlir::Operation *); ///< null: on parameters of functions, and nowhere else
  bool (*isOfType)(mlir::Attribute);
  llvm::StringLiteral type; ///< which that is, as `must be {}` says it
};

class AttributeRules {
public:
  /// Each name once.
  AttributeRules(llvm::ArrayRef<AttributeRule> rules) {
    for (const AttributeRule &rule : rules) {
      [[maybe_unused]] bool isNew = byName.try_emplace(rule.name, rule).second;
      assert(isNew && "an attribute with two rules");
    }
  }

  /// Checks an attribute of the dialect on `op`, or (`ofParameter`) on a parameter of the function
  /// `op`.
  llvm::LogicalResult verify(mlir::Operation *op, mlir::NamedAttribute attribute,
                             bool ofParameter) const {
    llvm::StringRef name = attribute.getName();
    auto rule = byName.find(name);
    if (rule == byName.end())
      return op->emitOpError("has an attribute that no pass knows: `") << name << "`";
    auto [_, standsOn, isOfType, type] = rule->second;
    if (ofParameter ? standsOn != nullptr : !standsOn || !standsOn(op))
      return op->emitOpError("cannot carry `") << name << "`";
    if (!isOfType(attribute.getValue()))
      return op->emitOpError("attribute `") << name << "` must be " << type;
    return llvm::success();
  }

private:
  llvm::StringMap<AttributeRule> byName;
};

// What rules are made of.

inline constexpr bool (*onParameter)(mlir::Operation *) = nullptr;
inline bool onAny(mlir::Operation *) { return true; }
template <typename... Ops> bool on(mlir::Operation *op) { return llvm::isa<Ops...>(op); }

template <typename... Attributes> bool is(mlir::Attribute a) { return llvm::isa<Attributes...>(a); }
template <unsigned width> bool isInteger(mlir::Attribute a) {
  auto number = llvm::dyn_cast<mlir::IntegerAttr>(a);
  return number && number.getType().isInteger(width);
}
template <typename Element> bool isArrayOf(mlir::Attribute a) {
  auto array = llvm::dyn_cast<mlir::ArrayAttr>(a);
  return array && llvm::all_of(array, is<Element>);
}

} // namespace tile

#endif // TILE_IR_ATTRIBUTERULES_H
