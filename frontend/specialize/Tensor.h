//===- Tensor.h - run-time values as Python values ------------------------===//
//
// While a kernel is specialised every value is a PyValue. What is known at
// compile time is an ordinary one; what is only known at run time is a tensor,
// which rides along as an Extension: the IR value together with the scalar
// type of the language (the IR's integers are signless, so signedness lives
// only here). Tuples, named tuples and aggregates of tensors then need no
// further invention.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_TENSOR_H
#define TILE_FRONTEND_SPECIALIZE_TENSOR_H

#include "frontend/eval/Eval.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Value.h"

namespace tile::specialize {

using eval::DType;
using eval::PyValue;
using eval::Result;

class Specializer;

/// A scalar or block of run-time values. False for poison: the result of an
/// operation that has already been reported.
struct Tensor {
  mlir::Value value;
  DType type; ///< of one element

  explicit operator bool() const { return static_cast<bool>(value); }
  mlir::RankedTensorType blockType() const {
    return mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
  }
  bool isBlock() const { return static_cast<bool>(blockType()); }
  /// Empty for a scalar.
  llvm::ArrayRef<int64_t> shape() const {
    auto block = blockType();
    return block ? block.getShape() : llvm::ArrayRef<int64_t>();
  }
  int64_t rank() const { return shape().size(); }
};

/// A tensor among Python values.
class TensorValue : public eval::Extension {
public:
  TensorValue(Specializer &owner, Tensor tensor)
      : Extension(&id), tensor(std::move(tensor)), owner(owner) {}
  static bool classof(const Extension *e) { return e->classId() == &id; }

  std::string typeName() const override { return "tensor"; }
  std::string repr() const override;
  Result unary(ast::UnaryOp op) override;
  Result binary(ast::BinaryOp op, const PyValue &other, bool reflected) override;
  Result compare(ast::CompareOp op, const PyValue &other) override;
  Result truth() override;
  Result length() override;
  Result iterate(std::vector<PyValue> &elements) override;
  Result subscript(eval::Evaluator *evaluator, const PyValue &index) override;
  Result attribute(llvm::StringRef name) override;
  Result callMethod(eval::Evaluator &evaluator, llvm::StringRef name,
                    const eval::CallArgs &args) override;

  Tensor tensor;

private:
  static char id;
  Specializer &owner;
};

/// Stands for a value whose computation has been reported as an error; every
/// operation on it yields itself without another report.
class PoisonValue : public eval::Extension {
public:
  PoisonValue() : Extension(&id) {}
  static bool classof(const Extension *e) { return e->classId() == &id; }
  static const PyValue &get();

  std::string typeName() const override { return "<error>"; }
  Result unary(ast::UnaryOp) override { return get(); }
  Result binary(ast::BinaryOp, const PyValue &, bool) override { return get(); }
  Result compare(ast::CompareOp, const PyValue &) override { return get(); }
  Result truth() override { return PyValue::boolean(false); }
  Result length() override { return PyValue::integer(0); }
  Result subscript(eval::Evaluator *, const PyValue &) override { return get(); }
  Result attribute(llvm::StringRef) override { return get(); }
  Result call(eval::Evaluator &, const eval::CallArgs &) override { return get(); }

private:
  static char id;
};

/// The tensor in `value`, or null.
inline const Tensor *tensorIn(const PyValue &value) {
  TensorValue *t = value.dynExtension<TensorValue>();
  return t ? &t->tensor : nullptr;
}
inline bool isPoison(const PyValue &value) {
  return value.is(PyValue::Kind::Extension) && value.dynExtension<PoisonValue>();
}
/// True if a tensor hides anywhere in `value`.
bool holdsTensor(const PyValue &value);
/// Whether more than `count` values are inside, those of containers in it counted each time they
/// are met, or they nest without an end.
bool holdsMoreThan(const PyValue &value, size_t count);
bool holdsPoison(const PyValue &value);
/// A tuple of these elements, of the class that `like` has, if any.
PyValue tupleLike(const PyValue &like, std::vector<PyValue> elements);
/// Sequences that differ in elements only.
bool sameStructure(const PyValue &a, const PyValue &b);

/// "fp32", "fp32[64, 32]", "int 5", "str 'abc'": for messages.
std::string describe(const PyValue &value);
std::string describe(const DType &type, llvm::ArrayRef<int64_t> shape);
std::string describeShape(llvm::ArrayRef<int64_t> shape);

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_TENSOR_H
