//===- FormulaTerms.h - what formulas are written with ---------------------===//
//
// A formula is a function of a `Formula`, the call, that computes with `Term`s. Of what went wrong
// the first error counts, and everything behind it is None: formulas need not ask.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_FRONTEND_EVAL_FORMULATERMS_H
#define TILE_FRONTEND_EVAL_FORMULATERMS_H

#include "frontend/eval/Formulas.h"
#include "frontend/eval/Methods.h"
#include <vector>

namespace tile::eval {

class Formula;

/// A value in a formula; of one that failed it is None.
struct Term {
  Formula *in;
  PyValue value;
};
using Terms = std::vector<Term>;

/// A call of a formula: its arguments, and what went wrong first.
class Formula {
public:
  Formula(FormulaCalls &on, llvm::StringRef name, const CallArgs &args,
          llvm::ArrayRef<llvm::StringRef> parameters, size_t required)
      : name(name), on(on), count(parameters.size()), reader(name, args, parameters, required),
        failure(reader.error()) {}

  const llvm::StringRef name;
  bool computes() const { return on.computes(); }
  bool differentiates() const { return on.differentiates(); }
  bool failed() const { return failure != nullptr; }
  /// One formula may ask what is a parameter of another only.
  bool has(size_t i) const {
    return !failed() && i < count && reader.has(i) && !reader[i].isNone();
  }
  /// Whether that is what it was given, which may be more than nothing.
  bool isNone(size_t i) const {
    return !failed() && i < count && reader.has(i) && reader[i].isNone();
  }
  Term operator[](size_t i) { return {this, has(i) ? reader.get(i) : PyValue()}; }
  Term or_(size_t i, double otherwise) { return has(i) ? (*this)[i] : number(otherwise); }
  Term number(double x) { return {this, PyValue::number(x)}; }
  Term integer(int64_t x) { return {this, PyValue::integer(x)}; }
  Term boolean(bool x) { return {this, PyValue::boolean(x)}; }
  Term none() { return {this, PyValue()}; }
  Term tuple(const Terms &parts);

  /// What is given as `i` must be: a whole number (whose negative is one), one of `allowed`, yes or
  /// no.
  int64_t whole(size_t i, int64_t otherwise);
  std::string word(size_t i, llvm::ArrayRef<llvm::StringRef> allowed);
  bool flag(size_t i, bool otherwise);
  /// What is given one by one, or in a list, from argument `i` on.
  Terms list(size_t i);
  std::vector<int64_t> wholes(size_t i);
  /// A dimension among `rank`, or several of them.
  size_t axis(size_t i, int64_t otherwise, size_t rank);
  size_t axisOf(int64_t given, size_t rank);

  Term take(Result result);
  Term refuse(const std::string &message, const std::string &type = "ValueError");
  Term call(llvm::StringRef name, Terms args,
            std::vector<std::pair<std::string, PyValue>> keywords = {});
  Term reduce(llvm::StringRef how, Term x, Term axis, Term keepdim);
  Term reduce(llvm::StringRef how, Term x, int64_t axis, bool keepdim = false);
  /// A loss, as its parameter `i` says: the mean unless it says something else.
  Term reduced(Term loss, size_t i);
  Result result(Term of) {
    if (failure)
      return std::move(failure);
    return std::move(of.value);
  }

private:
  FormulaCalls &on;
  size_t count; ///< of parameters
  ArgReader reader;
  std::unique_ptr<EvalError> failure;
};

/// A formula that has a name.
struct FormulaEntry {
  llvm::StringRef name;
  Term (*fn)(Formula &);
  size_t required;
  std::vector<llvm::StringRef> parameters;
  /// The parameter that is a list of all that is given by position from there on.
  size_t collects = SIZE_MAX;
};
llvm::ArrayRef<FormulaEntry> activationFormulas();
llvm::ArrayRef<FormulaEntry> convolutionFormulas();
llvm::ArrayRef<FormulaEntry> elementFormulas();
llvm::ArrayRef<FormulaEntry> lossFormulas();
llvm::ArrayRef<FormulaEntry> madeFormulas();
llvm::ArrayRef<FormulaEntry> normFormulas();
llvm::ArrayRef<FormulaEntry> orderFormulas();
llvm::ArrayRef<FormulaEntry> partFormulas();
llvm::ArrayRef<FormulaEntry> pictureFormulas();
llvm::ArrayRef<FormulaEntry> placeFormulas();
llvm::ArrayRef<FormulaEntry> productFormulas();
llvm::ArrayRef<FormulaEntry> sampleFormulas();
llvm::ArrayRef<FormulaEntry> shapeFormulas();
llvm::ArrayRef<FormulaEntry> specialFormulas();
llvm::ArrayRef<FormulaEntry> statisticFormulas();

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Term apply(ast::BinaryOp op, const Term &x, const Term &y);
Term compared(ast::CompareOp op, const Term &x, const Term &y);
inline Term operator+(const Term &x, const Term &y) { return apply(ast::BinaryOp::Add, x, y); }
inline Term operator-(const Term &x, const Term &y) { return apply(ast::BinaryOp::Sub, x, y); }
inline Term operator*(const Term &x, const Term &y) { return apply(ast::BinaryOp::Mul, x, y); }
inline Term operator/(const Term &x, const Term &y) { return apply(ast::BinaryOp::Div, x, y); }
inline Term matmul(const Term &x, const Term &y) { return apply(ast::BinaryOp::MatMul, x, y); }
inline Term operator&(const Term &x, const Term &y) { return apply(ast::BinaryOp::And, x, y); }
inline Term operator|(const Term &x, const Term &y) { return apply(ast::BinaryOp::Or, x, y); }
inline Term operator+(const Term &x, double y) { return x + x.in->number(y); }
inline Term operator*(const Term &x, double y) { return x * x.in->number(y); }
inline Term operator/(const Term &x, double y) { return x / x.in->number(y); }
inline Term operator<(const Term &x, const Term &y) { return compared(ast::CompareOp::Lt, x, y); }
inline Term operator>(const Term &x, const Term &y) { return compared(ast::CompareOp::Gt, x, y); }
inline Term operator<=(const Term &x, const Term &y) { return compared(ast::CompareOp::Le, x, y); }
inline Term operator>(const Term &x, double y) { return x > x.in->number(y); }
inline Term operator<(const Term &x, double y) { return x < x.in->number(y); }
inline Term same(const Term &x, const Term &y) { return compared(ast::CompareOp::Eq, x, y); }
inline Term same(const Term &x, int64_t y) { return same(x, x.in->integer(y)); }

inline Term of(llvm::StringRef name, const Term &x) { return x.in->call(name, {x}); }
inline Term negative(const Term &x) { return of("neg", x); }
inline Term where(const Term &is, const Term &x, const Term &y) {
  return x.in->call("where", {is, x, y});
}
inline Term larger(const Term &x, const Term &y) { return x.in->call("maximum", {x, y}); }
inline Term smaller(const Term &x, const Term &y) { return x.in->call("minimum", {x, y}); }
inline Term clamped(const Term &x, double lo, double hi) {
  return x.in->call("clamp", {x, x.in->number(lo), x.in->number(hi)});
}
/// The power of a sum of powers that are not below 0: where it is 0 its slope is 0 as well, as
/// PyTorch has it of lengths.
Term lengthOfPowers(const Term &sum, double power);
/// By how much two differ: by nothing if both are infinite, too.
Term apartBy(const Term &x, const Term &y);
/// log(1 + exp(x)), where exp(x) is no float as well.
Term softplus(const Term &x);

//===----------------------------------------------------------------------===//
// Types and shapes
//===----------------------------------------------------------------------===//

/// Dimensions that a tensor may have.
inline constexpr size_t kMostDims = 64;

Term typeOf(const Term &x);
bool isFloat(const Term &x);
/// With elements of `like`'s type if those are whole numbers: sums of such are wider.
Term asType(const Term &x, const Term &like);
/// The sizes of a tensor: numbers, or formulas while it is traced.
Terms shapeOf(const Term &x);
size_t rankOf(const Term &x);
/// What a size is, if that is known here.
std::optional<int64_t> known(const Term &size);
Term productOf(Formula &f, llvm::ArrayRef<Term> sizes);
Term reshaped(const Term &x, const Terms &sizes);
Term permuted(const Term &x, llvm::ArrayRef<int64_t> order);
/// x[..., index, ...] with the index along one dimension.
Term at(const Term &x, size_t axis, const PyValue &index);
/// x[..., from:to:step, ...]; a bound may be None.
Term part(const Term &x, size_t axis, const Term &from, const Term &to, int64_t step = 1);
/// Of `y, x=None, dx=1`, the arguments of `f`: the areas between neighbours along `axis`.
Term trapezoidAreas(Formula &f, size_t axis);
Term unsqueezed(const Term &x, int64_t axis);
/// One behind the other along an axis.
Term joined(Formula &f, const Terms &parts, int64_t axis);
/// 0, 1, 2 along dimension `axis` of `rank`.
Term placesAlong(const Term &size, size_t axis, size_t rank);

} // namespace tile::eval

#endif // TILE_FRONTEND_EVAL_FORMULATERMS_H
