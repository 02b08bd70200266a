//===- Size.h - sizes that are formulas over named dimensions -------------===//
//
// A size is a polynomial with whole coefficients over dimensions that have names: `N`,
// `2*K + 1`, `M*N`. Equal polynomials are equal sizes, so whether two shapes agree is
// decided without knowing a number. No MLIR in it.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_IR_GRAPH_SIZE_H
#define TILE_IR_GRAPH_SIZE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tile::graph {

/// Numbers for the names in sizes.
using Bindings = std::map<std::string, int64_t, std::less<>>;

class Size {
public:
  Size(int64_t constant = 0);
  static Size symbol(llvm::StringRef name);
  /// Reads `2*K + 1`: whole numbers, names, `+`, `-`, `*` and parentheses. On failure
  /// nothing, and `error` says what is wrong.
  static std::optional<Size> parse(llvm::StringRef text, std::string &error);

  std::optional<int64_t> constant() const;
  bool isConstant(int64_t value) const { return constant() == value; }
  /// The name, if the size is one name and nothing else.
  std::optional<std::string> name() const;
  void collectNames(std::set<std::string> &names) const;
  /// The value; nothing if a name has none or the number does not fit 64 bits.
  std::optional<int64_t> evaluate(const Bindings &bindings) const;
  /// The quotient, if `divisor` is a single product that divides every term.
  std::optional<Size> dividedBy(const Size &divisor) const;
  /// The quotient rounded up, if `divisor`, which is positive, divides every term but the number.
  std::optional<Size> dividedUpBy(int64_t divisor) const;
  /// What `name` must be for the size to be `value`, if it is the only name without a
  /// value and stands to the first power. `isWhole` is false if no whole number will do.
  std::optional<int64_t> solveFor(llvm::StringRef name, int64_t value, const Bindings &bindings,
                                  bool &isWhole) const;
  /// The largest power of two, at most 2^62, that divides the size whatever the names are.
  int64_t knownDivisor() const;
  /// Whether that can be seen without knowing the names: no term is subtracted.
  bool isNeverNegative() const {
    for (auto &[product, coefficient] : terms)
      if (coefficient < 0)
        return false;
    return true;
  }

  /// What is added up: products of names, each as often as its power, with a factor.
  template <typename Fn> void forEachTerm(Fn fn) const {
    for (auto &[product, coefficient] : terms)
      fn(llvm::ArrayRef<std::string>(product), coefficient);
  }
  /// Of a name that stands for a quotient, `((H + 1)//2)`, what is divided and by what. Its value
  /// is rounded down, and 0 at least.
  static std::optional<std::pair<Size, int64_t>> quotientOf(llvm::StringRef name);

  std::string str() const;
  friend Size operator+(const Size &a, const Size &b);
  friend Size operator-(const Size &a, const Size &b);
  friend Size operator*(const Size &a, const Size &b);
  bool operator==(const Size &other) const { return terms == other.terms; }
  bool operator!=(const Size &other) const { return terms != other.terms; }
  bool operator<(const Size &other) const { return terms < other.terms; }

private:
  /// Names in order, each as often as its power.
  using Product = std::vector<std::string>;
  void add(const Product &product, int64_t coefficient);
  std::map<Product, int64_t> terms; ///< no coefficient is 0
};

using Sizes = llvm::SmallVector<Size, 4>;

/// `M, 2*K`, one size a dimension. Nothing, and `error`, if a part is no size.
std::optional<Sizes> parseSizes(llvm::StringRef text, std::string &error);
/// `M, 2*K`
std::string joinSizes(llvm::ArrayRef<Size> sizes);
/// `(M, 2*K)`, `(M,)`, `()`: for messages.
std::string shapeText(llvm::ArrayRef<Size> sizes);
/// The product of all.
Size product(llvm::ArrayRef<Size> sizes);

} // namespace tile::graph

#endif // TILE_IR_GRAPH_SIZE_H
