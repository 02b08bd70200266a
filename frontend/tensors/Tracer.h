//===- Tracer.h - the state of a trace, shared by its parts ---------------===//
#ifndef TILE_FRONTEND_TENSORS_TRACER_H
#define TILE_FRONTEND_TENSORS_TRACER_H

#include "frontend/eval/Extrema.h"
#include "frontend/eval/Methods.h"
#include "frontend/eval/Place.h"
#include "frontend/tensors/HandKernel.h"
#include "frontend/tensors/Trace.h"
#include "mlir/IR/Builders.h"
#include <array>

namespace tile::tensors {

using eval::CallArgs;
using eval::DType;
using eval::EvalError;
using eval::fail;
using eval::PyValue;
using eval::Result;
using graph::GraphTensorType;
using graph::MapKind;
using graph::ReduceKind;
using graph::Size;
using graph::Sizes;
using llvm::ArrayRef;
using llvm::StringRef;

class Tracer;

/// A size of a tensor while it is traced: arithmetic on it is arithmetic on formulas.
class SizeValue : public eval::Extension {
public:
  SizeValue(Tracer &tracer, Size size) : Extension(&id), tracer(tracer), size(std::move(size)) {}
  static bool classof(const Extension *e) { return e->classId() == &id; }
  std::string typeName() const override { return "size"; }
  std::string repr() const override { return size.str(); }
  Result unary(ast::UnaryOp op) override;
  Result binary(ast::BinaryOp op, const PyValue &other, bool reflected) override;
  Result compare(ast::CompareOp op, const PyValue &other) override;
  Result truth() override;

  static char id;
  Tracer &tracer;
  const Size size;
};

/// A tensor while it is traced.
class TensorValue : public eval::Extension {
public:
  TensorValue(Tracer &tracer, mlir::Value value, std::string name, bool isWeak)
      : Extension(&id), tracer(tracer), value(value), name(std::move(name)), isWeak(isWeak) {}
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
  Result assignSubscript(const PyValue &index, const PyValue &value) override;
  Result attribute(StringRef name) override;
  Result callMethod(eval::Evaluator &evaluator, StringRef name, const CallArgs &args) override;
  void forgetOrigin() override { extrema = nullptr; }

  GraphTensorType type() const { return mlir::cast<GraphTensorType>(value.getType()); }
  Sizes sizes() const { return type().sizes(); }

  static char id;
  Tracer &tracer;
  mlir::Value value;
  std::string name;                             ///< of a parameter; else empty
  bool isWeak;                                  ///< a number: other operands decide the type
  bool isUnwritten = false;                     ///< made by `tile.empty`: a kernel has to write it
  bool isCopy = false;                          ///< made by `clone`: nobody else's
  std::shared_ptr<const eval::Extrema> extrema; ///< of what `max` or `min` has just given
};

/// Whether a value is memory of its own, not a view of what somebody else may look at.
bool isOwn(const TensorValue &tensor);

/// A traced operand, or the reason why there is none.
struct Operand {
  mlir::Value value;
  std::string name;
  bool isWeak = false;
  GraphTensorType type() const { return mlir::cast<GraphTensorType>(value.getType()); }
};

class Tracer : public eval::EvaluatorHooks {
public:
  Tracer(mlir::MLIRContext &context, eval::Evaluator &evaluator, eval::Program &program)
      : evaluator(evaluator), program(program), builder(&context) {}

  std::optional<Result> callSymbol(eval::Evaluator &evaluator, StringRef name,
                                   const CallArgs &args) override;

  std::optional<Result> subscriptKernel(eval::Evaluator &evaluator, const PyValue &kernel,
                                        const PyValue &grid) override;
  void withoutGradients(llvm::function_ref<void()> run) override;
  void augmented(const PyValue &before) override;

  /// Where the evaluator is.
  mlir::Location here();
  PyValue wrap(mlir::Value value, bool isWeak = false, std::string name = "");
  PyValue sizeValue(const Size &size);
  /// A tensor, a size or a number as an operand.
  std::unique_ptr<EvalError> operand(StringRef what, const PyValue &value, Operand &out);
  /// The tensor that a function is called on, and what else is given by position.
  std::unique_ptr<EvalError> operandAndRest(StringRef function, const CallArgs &args, Operand &out,
                                            std::vector<PyValue> &rest);
  mlir::Value constant(double number);
  mlir::Value constant(int64_t number);

  /// `kind` of the operands, broadcast and promoted. `what` is how the source calls it.
  Result map(MapKind kind, StringRef what, ArrayRef<PyValue> operands);
  Result map(MapKind kind, ArrayRef<PyValue> operands);
  Result cast(const PyValue &value, mlir::Type element);
  /// `axes` in order.
  Result reduce(ReduceKind kind, const Operand &x, ArrayRef<int64_t> axes, bool keepdim);
  Result rearrange(const Operand &x, ArrayRef<int64_t> dims);
  /// What is combined so far along an axis; with `reverse` from its end.
  Result scan(ReduceKind kind, const Operand &x, int64_t axis, bool reverse);
  /// `x[i + starts]`: with `inside` all of that is there; with `loose` what is not may be anything.
  Result window(const Operand &x, ArrayRef<Size> starts, ArrayRef<Size> sizes, bool inside,
                bool loose);
  Result reshape(const Operand &x, ArrayRef<Size> sizes);
  /// Tensors of one rank behind each other; they differ in size along the axis alone.
  Result join(ArrayRef<Operand> parts, int64_t axis);
  /// What must not be negative, and how a call is told otherwise.
  void require(const Size &size, const std::string &otherwise);
  /// `source[indices...]`, all of which broadcast; with `guarded` what lies outside is 0.
  Result gather(mlir::Value source, ArrayRef<mlir::Value> indices, bool guarded);
  /// With all elements of a shape that it broadcasts to.
  Result expand(const PyValue &value, ArrayRef<Size> sizes);
  /// The numbers from 0 on, along a dimension of that size.
  mlir::Value indices(const Size &size);
  /// As `@`: vectors are rows on the left, columns on the right.
  Result matmul(const PyValue &lhs, const PyValue &rhs);
  /// A function or method by its name in `tile`; nothing if there is none.
  std::optional<Result> callNamed(StringRef name, const CallArgs &args);
  /// The same where it stands in the source.
  std::optional<Result> callWritten(StringRef name, const CallArgs &args, bool isMethod = false);
  static bool hasNamed(StringRef name);
  static std::vector<StringRef> names();

  eval::Evaluator &evaluator;
  eval::Program &program; ///< of the function
  mlir::OpBuilder builder;
  std::vector<std::pair<Size, std::string>> requirements; ///< that only a call can decide

  /// A parameter, by number, or what the function computed, that gets another value.
  struct Update {
    std::optional<unsigned> parameter;
    mlir::Value before, after;
    std::string name;
  };
  std::vector<Update> updates;
  llvm::DenseMap<const TensorValue *, unsigned> parameters; ///< those that may be written
  /// From here on a tensor has another value, which its memory gets.
  void update(TensorValue &tensor, mlir::Value value);
  std::unique_ptr<EvalError> checkUpdates();
  /// The last value of each parameter that has been written.
  llvm::SmallVector<std::pair<unsigned, mlir::Value>> updated() const;
  std::vector<HandKernel> launches;
  /// A view that was given another value by `+=` and its like.
  struct Alias {
    mlir::Value view;
    mlir::Operation *at;
    eval::Place place;
  };
  std::vector<Alias> aliases;
  std::unique_ptr<EvalError> checkAliases();
  llvm::DenseSet<mlir::Operation *> derived; ///< operations of gradients, which nobody wrote
  /// Operations that hand on no gradient, and those that hand half of it to each of two equals.
  llvm::DenseSet<mlir::Operation *> withoutGradient, sharing;
  unsigned indicesFromEnd = 0; ///< that have been made
  /// Why the function is refused, whatever its evaluation comes to: it has too many operations, or
  /// a tensor that cannot be. What makes operations in a loop ends where this is set.
  std::unique_ptr<EvalError> refusal;
  /// An error if it is set, or would be by so many operations more.
  std::unique_ptr<EvalError> checkRoom(uint64_t more = 0);

private:
  mlir::Value materialize(const Operand &operand, mlir::Type element);
  /// In 64 bits: a number of the source, or what is computed of such alone.
  mlir::Value inDoubles(mlir::Value value);
  void refuse(std::string message, StringRef kind);
  void checkSizes(ArrayRef<Size> sizes);

  unsigned operations = 0;
  llvm::DenseMap<mlir::Value, mlir::Value> doubles; ///< what `inDoubles` has made
};

/// Dimensions of a tensor, as of the host's.
inline constexpr size_t kMostDimensions = 64;
/// An error if a shape has more.
std::unique_ptr<EvalError> checkRank(size_t rank);

/// The element type in the graph dialect; null if tensors cannot have it yet.
mlir::Type elementType(mlir::MLIRContext *context, const DType &type);

/// The arguments of a function whose first is a tensor.
class TensorReader : public eval::ArgReader {
public:
  TensorReader(Tracer &tracer, StringRef name, const CallArgs &args, ArrayRef<StringRef> names,
               size_t required)
      : ArgReader(name, args, names, required) {
    if (!failure)
      failure = tracer.operand(name, (*this)[0], first);
  }
  const Operand &tensor() const { return first; }

private:
  Operand first;
};

/// A function of `tile` while it is traced.
using TracedFunction = Result (*)(Tracer &tracer, StringRef name, const CallArgs &args);
struct TracedEntry {
  StringRef name;
  TracedFunction fn;
};
ArrayRef<TracedEntry> tracedElementwise();
ArrayRef<TracedEntry> tracedReductions();
ArrayRef<TracedEntry> tracedViews();
ArrayRef<TracedEntry> tracedIndices();
ArrayRef<TracedEntry> tracedRearranging();
ArrayRef<TracedEntry> tracedComposed();
ArrayRef<TracedEntry> tracedCreation();
ArrayRef<TracedEntry> tracedLaunches();
ArrayRef<TracedEntry> tracedGradients();
ArrayRef<TracedEntry> tracedLists();
/// All tables.
inline std::array<ArrayRef<TracedEntry>, 10> tracedFunctions() {
  return {tracedElementwise(), tracedReductions(), tracedViews(),    tracedIndices(),
          tracedRearranging(), tracedGradients(),  tracedComposed(), tracedCreation(),
          tracedLaunches(),    tracedLists()};
}

/// A size, or a whole number that is one.
std::optional<Size> sizeOf(const PyValue &value);
/// An axis as users count it, among `count` of them; an error names the function.
std::unique_ptr<EvalError> readAxis(StringRef name, const PyValue &value, size_t count,
                                    int64_t &axis);
/// The axes that a call means, in order; None is all.
std::unique_ptr<EvalError> readAxes(StringRef name, const PyValue &value, size_t rank,
                                    llvm::SmallVectorImpl<int64_t> &axes);
/// Whether whole numbers are known not to be below zero: places, and what is computed of such.
bool isNeverNegative(mlir::Value v);
/// `x[index]` with a tensor of whole numbers: rows. `name` is how the source calls it; `wraps` that
/// negative ones count from the end.
Result takeRows(Tracer &tracer, StringRef name, const PyValue &value, const PyValue &index,
                bool wraps);
/// `x[parts...]`, of which some are tensors of whole numbers.
Result takeElements(Tracer &tracer, const PyValue &value, ArrayRef<PyValue> parts);
/// 0, 1, 2 and so on: each dimension where it is.
llvm::SmallVector<int64_t> inOrder(size_t rank);

} // namespace tile::tensors

#endif // TILE_FRONTEND_TENSORS_TRACER_H
