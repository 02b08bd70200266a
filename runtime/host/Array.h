//===- Array.h - the dense values that references compute with ------------===//
//
// Reference expressions work on arrays of doubles, of int64 or of booleans, in
// row-major order. Tensors are read into arrays and results become tensors;
// everything between is loops over a vector.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_RUNTIME_HOST_ARRAY_H
#define TILE_RUNTIME_HOST_ARRAY_H

#include "runtime/host/Extent.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>
#include <vector>

namespace tile::host {

using Shape = llvm::SmallVector<int64_t, 4>;

/// Of a shape that has passed `checkShape`.
int64_t numElements(llvm::ArrayRef<int64_t> shape);
Shape rowMajorStrides(llvm::ArrayRef<int64_t> shape);
/// The shape two shapes broadcast to; nothing if they do not.
std::optional<Shape> broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);
/// The index of a row-major position: "[3, 5]" when printed with toString.
Shape unravel(int64_t position, llvm::ArrayRef<int64_t> shape);

/// Memory that is known to be taken while something is computed.
template <typename T> struct CountedAllocator {
  using value_type = T;
  CountedAllocator() = default;
  template <typename U> CountedAllocator(const CountedAllocator<U> &) {}
  T *allocate(size_t n) {
    Memory::computing.fetch_add(n * sizeof(T), std::memory_order_relaxed);
    return std::allocator<T>().allocate(n);
  }
  void deallocate(T *memory, size_t n) {
    Memory::computing.fetch_sub(n * sizeof(T), std::memory_order_relaxed);
    std::allocator<T>().deallocate(memory, n);
  }
  bool operator==(const CountedAllocator &) const = default;
};
template <typename T> using CountedVector = std::vector<T, CountedAllocator<T>>;

struct Array {
  enum class Kind { Bool, Int, Float };
  Kind kind = Kind::Float;
  Shape shape;
  CountedVector<double> reals; ///< Float
  CountedVector<int64_t> ints; ///< Bool (0 or 1), Int

  Array() = default;
  /// Zeros of a shape, if there is room for them and as much again: for what is computed from them.
  static std::unique_ptr<eval::EvalError> make(const Memory &memory, Kind kind,
                                               llvm::ArrayRef<int64_t> shape, Array &out);
  /// Zeros in the shape of an array that exists already.
  Array zerosLike(Kind kind) const;
  static Array scalar(double value);
  static Array scalar(int64_t value, Kind kind = Kind::Int);

  bool isFloat() const { return kind == Kind::Float; }
  int64_t size() const { return isFloat() ? reals.size() : ints.size(); }
  double real(int64_t i) const { return isFloat() ? reals[i] : double(ints[i]); }
  bool truth(int64_t i) const { return isFloat() ? reals[i] != 0 : ints[i] != 0; }
  /// Copies element `from` of `other`, which has the same kind.
  void copyElement(int64_t to, const Array &other, int64_t from);

  Array toFloat() const;
  /// This array repeated to a shape it broadcasts to.
  std::unique_ptr<eval::EvalError> broadcastTo(const Memory &memory, llvm::ArrayRef<int64_t> target,
                                               Array &out) const;
  /// The same elements in order; the sizes must agree.
  Array reshaped(llvm::ArrayRef<int64_t> target) const;
  /// Dimension i of the result is dimension order[i] of this.
  Array permuted(llvm::ArrayRef<int64_t> order) const;

private:
  void resize(); ///< to the shape, which is known to fit
};

/// Broadcasts both to one shape; an error names both shapes.
std::unique_ptr<eval::EvalError> broadcastTogether(const Memory &memory, Array &a, Array &b);

/// An axis as users count it (negative from the end), checked.
std::unique_ptr<eval::EvalError> normalizeAxis(int64_t &axis, size_t rank);

/// An array seen as outer x length x inner around one axis; nothing at all where it is empty.
struct AxisView {
  int64_t outer = 1, length = 1, inner = 1;
  AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis);
  int64_t at(int64_t o, int64_t i, int64_t n) const { return (o * length + i) * inner + n; }
};

} // namespace tile::host

#endif // TILE_RUNTIME_HOST_ARRAY_H
