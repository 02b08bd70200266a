//===- Methods.h - methods of strings, containers and dtypes --------------===//
#ifndef TILE_FRONTEND_EVAL_METHODS_H
#define TILE_FRONTEND_EVAL_METHODS_H

#include "frontend/eval/Evaluator.h"

namespace tile::eval {

/// `slice` applied to `size` elements: start + i * step for i < count.
struct SliceBounds {
  int64_t start = 0, step = 1, count = 0;
};
/// Returns an error or null.
std::unique_ptr<EvalError> resolveSlice(const SliceObject &slice, int64_t size, SliceBounds &out);
/// container[index] = value
Result assignSubscript(const PyValue &container, const PyValue &index, const PyValue &value);
/// object.name = value
Result assignAttribute(const PyValue &object, llvm::StringRef name, const PyValue &value);
/// `TensorDescriptor(base, shape, strides, block_shape, ...)`
Result makeTensorDescriptor(const CallArgs &args);

/// Whether `value.name(...)` is one of Python's methods known here.
bool hasMethod(const PyValue &value, llvm::StringRef name);
std::vector<llvm::StringRef> methodNames(const PyValue &value);
Result callMethod(Evaluator &evaluator, const PyValue &self, llvm::StringRef name,
                  const CallArgs &args);
/// Attributes of dtypes that are not methods; nothing if there is none.
std::optional<Result> dtypeAttribute(const PyValue &self, llvm::StringRef name);

/// Members of builtins: `tl.PropagateNan.ALL`, `int.__name__`.
Result symbolAttribute(llvm::StringRef symbol, llvm::StringRef name);
/// Names of all builtins, for suggestions.
std::vector<llvm::StringRef> builtinNames();
/// Whether an error of type `raised` is caught by `except caught`.
bool isExceptionType(llvm::StringRef name);
bool exceptionMatches(llvm::StringRef raised, llvm::StringRef caught);

/// Calls a builtin by canonical name; nothing if it is not one of ours.
std::optional<Result> callBuiltin(Evaluator &evaluator, llvm::StringRef name, const CallArgs &args);
/// `math.*`; nothing if there is no such function.
std::optional<Result> callMath(llvm::StringRef name, const CallArgs &args);
std::vector<llvm::StringRef> mathNames();
/// The integer a whole double stands for; infinities and NaN are errors.
Result integerFromDouble(double value);

/// Reads arguments by position or name, Python's way, and says what is wrong.
/// Usage: `ArgReader r("round", args, {"number", "ndigits"}, 1); if (!r) return r.error();`
class ArgReader {
public:
  /// The first `required` of `names` must be given.
  ArgReader(llvm::StringRef function, const CallArgs &args, llvm::ArrayRef<llvm::StringRef> names,
            size_t required);
  explicit operator bool() const { return !failure; }
  std::unique_ptr<EvalError> error() { return std::move(failure); }
  bool has(size_t i) const { return values[i] != nullptr; }
  const PyValue &operator[](size_t i) const { return *values[i]; }
  /// The argument, or None when absent.
  PyValue get(size_t i) const { return values[i] ? *values[i] : PyValue(); }

private:
  std::vector<const PyValue *> values;

protected:
  std::unique_ptr<EvalError> failure; ///< of who reads on, too
};

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_METHODS_H
