//===- Polynomial.h - sums of products of scalars -------------------------===//
#ifndef TILE_PASSES_FACTS_POLYNOMIAL_H
#define TILE_PASSES_FACTS_POLYNOMIAL_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include <optional>

namespace tile {

/// An integer polynomial whose variables are scalar values of the program.
class Polynomial {
public:
  /// coefficient * product of factors (none for the constant term), in the order of
  /// the program: code is made from them, and must not depend on addresses.
  struct Term {
    llvm::SmallVector<mlir::Value, 3> factors;
    int64_t coefficient;
  };

  Polynomial() = default; ///< zero
  static Polynomial constant(int64_t c);
  static Polynomial variable(mlir::Value v);

  llvm::ArrayRef<Term> terms() const { return sum; }
  bool isZero() const { return sum.empty(); }
  std::optional<int64_t> asConstant() const;
  friend Polynomial operator+(const Polynomial &a, const Polynomial &b);
  friend Polynomial operator-(const Polynomial &a, const Polynomial &b);
  friend Polynomial operator*(const Polynomial &a, const Polynomial &b);
  friend bool operator==(const Polynomial &a, const Polynomial &b) { return (a - b).isZero(); }
  /// q with *this == q * c, if every coefficient allows it.
  std::optional<Polynomial> dividedBy(int64_t c) const;
  void add(Term term);

private:
  llvm::SmallVector<Term, 4> sum;
};

/// `p` in 64 bits, of the values that `map` has for its variables.
mlir::Value emitPolynomial(mlir::OpBuilder &b, mlir::Location loc, const Polynomial &p,
                           mlir::IRMapping &map);
/// The smallest of `limits`, between 0 and `most`, in 32 bits.
mlir::Value emitBounded(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<Polynomial> limits,
                        int64_t most, mlir::IRMapping &map);

} // namespace tile

#endif // TILE_PASSES_FACTS_POLYNOMIAL_H
