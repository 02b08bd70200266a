//===- Emitter.h - typed operations on run-time values --------------------===//
//
// Builds ops of the `tile`, `arith` and `math` dialects with the language's
// rules: operands are promoted and broadcast, literals take part weakly where
// they may, and whatever does not type-check is a diagnostic at the place
// where the program is being read. IR that a verifier would reject is never
// built.
//
// Every function takes and returns poison (a false Tensor) silently, so one
// mistake is reported once.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_SPECIALIZE_EMITTER_H
#define TILE_FRONTEND_SPECIALIZE_EMITTER_H

#include "frontend/specialize/Tensor.h"
#include "frontend/specialize/Types.h"
#include "ir/TileDialect.h"
#include "mlir/IR/Builders.h"
#include "target/CompileOptions.h"
#include "llvm/Support/FormatVariadic.h"
#include <set>

namespace tile::specialize {

using ast::BinaryOp;
using ast::CompareOp;
using ast::UnaryOp;
using frontend::Diagnostic;
using frontend::DiagnosticEngine;
using frontend::SourceFile;
using frontend::SourceRange;

/// Combines two values of one type, e.g. in a reduction.
enum class MinMax { Min, Max };

class Emitter {
public:
  Emitter(mlir::MLIRContext &context, const CompileOptions &options, DiagnosticEngine &diagnostics)
      : builder(&context), options(options), target(targetNamed(options.target)),
        diagnostics(diagnostics) {}

  mlir::OpBuilder builder;
  const CompileOptions &options;
  const Target &target;
  DiagnosticEngine &diagnostics;

  //===--------------------------------------------------------------------===//
  // Where the program is being read
  //===--------------------------------------------------------------------===//

  /// One level of expanded calls.
  struct Place {
    const SourceFile *file = nullptr;
    SourceRange range;             ///< being evaluated now
    const Place *caller = nullptr; ///< null in the kernel itself
    std::string function;          ///< name, for call chains
    mlir::StringAttr fileName;
  };
  Place *place = nullptr;

  /// Moves the place for the lifetime of the object.
  class At {
  public:
    At(Emitter &emitter, SourceRange range) : place(*emitter.place), saved(place.range) {
      place.range = range;
    }
    ~At() { place.range = saved; }
    At(const At &) = delete;
    At &operator=(const At &) = delete;

  private:
    Place &place;
    SourceRange saved;
  };

  /// The location of the place, through expanded calls.
  mlir::Location loc();
  /// Reports an error here (or at `range` of the same file), with the call
  /// chain as notes.
  Diagnostic &error(std::string message);
  Diagnostic &error(SourceRange range, std::string message);
  Diagnostic &unsupported(std::string message);
  /// The error with its call chain, to be reported later or not at all.
  Diagnostic diagnosticHere(std::string message) const;
  /// Reports and returns poison.
  PyValue fail(std::string message);
  Tensor poison(std::string message);
  /// What host code has made, unless it holds itself or very much.
  PyValue ofHost(PyValue value);
  /// A compile-time result; its error, if any, is reported.
  PyValue take(Result result);

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  PyValue wrap(Tensor tensor);
  /// A tensor, or a number as the tensor of its natural type.
  Tensor tensor(const PyValue &value, llvm::StringRef what = "operand");
  /// A number as a constant of the type, scalar or block.
  Tensor constant(const PyValue &number, const DType &type, llvm::ArrayRef<int64_t> shape = {});
  Tensor intConstant(int64_t value, const DType &type, llvm::ArrayRef<int64_t> shape = {}) {
    return constant(PyValue::integer(value), type, shape);
  }
  Tensor floatConstant(double value, const DType &type, llvm::ArrayRef<int64_t> shape = {}) {
    return constant(PyValue::number(value), type, shape);
  }
  /// Anything of the type: what a path that was not taken yields.
  Tensor filler(const DType &type, mlir::Type irType);
  /// The number behind a scalar that is an `arith.constant`, if it is one.
  std::optional<PyValue> constantValue(const Tensor &tensor);
  /// `type` as the IR type of a block (scalar if the shape is empty).
  mlir::Type irType(const DType &type, llvm::ArrayRef<int64_t> shape = {});

  template <typename Op, typename... Args> mlir::Value create(Args &&...args) {
    return Op::create(builder, loc(), std::forward<Args>(args)...)->getResult(0);
  }

  //===--------------------------------------------------------------------===//
  // Operators (Arithmetic.cpp)
  //===--------------------------------------------------------------------===//

  PyValue binary(BinaryOp op, const PyValue &lhs, const PyValue &rhs);
  PyValue compare(CompareOp op, const PyValue &lhs, const PyValue &rhs);
  PyValue unary(UnaryOp op, const PyValue &operand);
  /// Both operands of the type's kind already.
  Tensor arithmetic(BinaryOp op, const Tensor &lhs, const Tensor &rhs);
  Tensor compareSame(CompareOp op, const Tensor &lhs, const Tensor &rhs);
  Tensor offsetPointer(const Tensor &pointer, const Tensor &offset, bool negate);
  /// Truth of each element: int1 of the same shape.
  Tensor isTrue(const Tensor &x);
  Tensor logicalNot(const Tensor &x);
  Tensor logical(bool isAnd, const PyValue &lhs, const PyValue &rhs);
  /// Full promotion of both, literals included (rule of comparisons, minimum...).
  bool unify(Tensor &lhs, Tensor &rhs);
  Tensor minMax(MinMax which, const Tensor &lhs, const Tensor &rhs, bool propagateNan);
  PyValue where(const PyValue &condition, const PyValue &x, const PyValue &y);
  Tensor select(const Tensor &condition, const Tensor &x, const Tensor &y);

  //===--------------------------------------------------------------------===//
  // Casts (Casts.cpp)
  //===--------------------------------------------------------------------===//

  Tensor cast(const Tensor &x, const DType &to, bool towardZero = false);
  Tensor bitcast(const Tensor &x, const DType &to);

  //===--------------------------------------------------------------------===//
  // Shapes (Shapes.cpp)
  //===--------------------------------------------------------------------===//

  /// Right-aligned broadcast to a common shape.
  bool broadcast(llvm::ArrayRef<Tensor *> tensors);
  /// Broadcast of a scalar or of a block of the same or a lower rank.
  Tensor broadcastTo(const Tensor &x, llvm::ArrayRef<int64_t> shape);
  Tensor splat(const Tensor &x, llvm::ArrayRef<int64_t> shape);
  Tensor expandDims(const Tensor &x, int64_t axis);
  Tensor reshape(const Tensor &x, llvm::ArrayRef<int64_t> shape, bool reorder = false);
  Tensor permute(const Tensor &x, llvm::ArrayRef<int32_t> order);
  Tensor join(const Tensor &lhs, const Tensor &rhs);
  std::pair<Tensor, Tensor> split(const Tensor &x);
  /// `x[None, :, ...]`
  PyValue indexTensor(const Tensor &x, const PyValue &index);
  /// A scalar of a one-element block.
  Tensor unsplat(const Tensor &x);

  //===--------------------------------------------------------------------===//
  // Reductions (Reduction.cpp)
  //===--------------------------------------------------------------------===//

  using Tensors = llvm::SmallVector<Tensor, 4>;
  using Combine = llvm::function_ref<Tensors(llvm::ArrayRef<Tensor>, llvm::ArrayRef<Tensor>)>;
  static constexpr int64_t allAxes = -1;
  /// Folds blocks of one shape along `axis`, or along all; empty after an error.
  Tensors reduce(llvm::ArrayRef<Tensor> inputs, int64_t axis, Combine combine);
  Tensors scan(llvm::ArrayRef<Tensor> inputs, int64_t axis, bool reverse, Combine combine);

protected:
  mlir::Value pointwise(BinaryOp op, const Tensor &lhs, const Tensor &rhs);
  bool buildCombiner(mlir::Region &region, llvm::ArrayRef<Tensor> inputs, Combine combine);

private:
  std::set<std::tuple<const SourceFile *, uint32_t, std::string>> reported;
  Diagnostic repeated; ///< stands in for one that has been reported before
  const Place *cachedPlace = nullptr;
  uint32_t cachedOffset = 0;
  mlir::LocationAttr cachedLoc;
};

} // namespace tile::specialize

#endif // TILE_FRONTEND_SPECIALIZE_EMITTER_H
