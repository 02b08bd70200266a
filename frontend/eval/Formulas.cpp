//===- Formulas.cpp - names for formulas of tensors ---------------------===//
#include "frontend/eval/Formulas.h"
#include "frontend/eval/Methods.h"
#include "text/Format.h"
#include <vector>

using namespace tile;
using namespace tile::eval;
using ast::BinaryOp;
using llvm::StringRef;

namespace {
class Formula;

/// A value in a formula; of one that failed it is None.
struct Term {
  Formula *in;
  PyValue value;
};

/// A call of a formula: its arguments, and what went wrong first.
class Formula {
public:
  Formula(FormulaCalls &on, StringRef name, const CallArgs &args,
          llvm::ArrayRef<StringRef> parameters, size_t required)
      : on(on), reader(name, args, parameters, required), failure(reader.error()) {}

  bool failed() const { return failure != nullptr; }
  bool has(size_t i) const { return !failed() && reader.has(i) && !reader[i].isNone(); }
  Term operator[](size_t i) { return {this, failed() ? PyValue() : reader.get(i)}; }
  Term or_(size_t i, double otherwise) { return has(i) ? (*this)[i] : number(otherwise); }
  Term number(double x) { return {this, PyValue::number(x)}; }
  Term integer(int64_t x) { return {this, PyValue::integer(x)}; }
  Term take(Result result) {
    if (!failed() && !result)
      failure = result.takeError();
    return {this, failed() ? PyValue() : result.take()};
  }
  Term call(StringRef name, std::vector<Term> args,
            std::vector<std::pair<std::string, PyValue>> keywords = {}) {
    if (failed())
      return {this, PyValue()};
    CallArgs given;
    for (Term &arg : args)
      given.positional.push_back(std::move(arg.value));
    given.keywords = std::move(keywords);
    return take(on.call(name, given));
  }
  Term reduce(StringRef how, Term x, Term axis, Term keepdim) {
    return call(how, {std::move(x)}, {{"axis", axis.value}, {"keepdim", keepdim.value}});
  }
  /// A loss, as its parameter `i` says: the mean unless it says something else.
  Term reduced(Term loss, size_t i) {
    std::string how = "mean";
    if (has(i) && reader[i].isStr())
      how = reader[i].asStr();
    if (how == "none")
      return loss;
    if (how != "mean" && how != "sum")
      return take(fail(formatted("`reduction` is \"mean\", \"sum\" or \"none\", not \"{}\"", how),
                       "ValueError"));
    return call(how, {std::move(loss)});
  }
  Result result(Term of) {
    if (failure)
      return std::move(failure);
    return std::move(of.value);
  }

private:
  FormulaCalls &on;
  ArgReader reader;
  std::unique_ptr<EvalError> failure;
};

Term apply(BinaryOp op, const Term &x, const Term &y) {
  return x.in->failed() ? Term{x.in, PyValue()} : x.in->take(binary(op, x.value, y.value));
}
Term compared(ast::CompareOp op, const Term &x, const Term &y) {
  return x.in->failed() ? Term{x.in, PyValue()} : x.in->take(compare(op, x.value, y.value));
}
Term operator+(const Term &x, const Term &y) { return apply(BinaryOp::Add, x, y); }
Term operator-(const Term &x, const Term &y) { return apply(BinaryOp::Sub, x, y); }
Term operator*(const Term &x, const Term &y) { return apply(BinaryOp::Mul, x, y); }
Term operator/(const Term &x, const Term &y) { return apply(BinaryOp::Div, x, y); }
Term operator+(const Term &x, double y) { return x + x.in->number(y); }
Term operator*(const Term &x, double y) { return x * x.in->number(y); }
Term operator/(const Term &x, double y) { return x / x.in->number(y); }
Term operator>(const Term &x, double y) { return compared(ast::CompareOp::Gt, x, x.in->number(y)); }
Term operator<(const Term &x, const Term &y) { return compared(ast::CompareOp::Lt, x, y); }
Term operator<=(const Term &x, const Term &y) { return compared(ast::CompareOp::Le, x, y); }

Term of(StringRef name, const Term &x) { return x.in->call(name, {x}); }
Term negative(const Term &x) { return x * -1.0; }
Term where(const Term &is, const Term &x, const Term &y) { return x.in->call("where", {is, x, y}); }
Term clamped(const Term &x, double lo, double hi) {
  return x.in->call("clamp", {x, x.in->number(lo), x.in->number(hi)});
}
/// log(1 + exp(x)), where exp(x) is no float as well.
Term softplus(const Term &x) {
  Term rest = of("log1p", of("exp", negative(of("abs", x))));
  return of("relu", x) + rest;
}

//===----------------------------------------------------------------------===//
// One function a formula
//===----------------------------------------------------------------------===//

Term softplusOf(Formula &f) { return softplus(f[0]); }
Term logSigmoid(Formula &f) { return negative(softplus(negative(f[0]))); }
Term elu(Formula &f) {
  Term x = f[0];
  return where(x > 0, x, f.or_(1, 1) * of("expm1", x.in->call("minimum", {x, f.number(0)})));
}
Term leakyRelu(Formula &f) { return where(f[0] > 0, f[0], f[0] * f.or_(1, 0.01)); }
Term relu6(Formula &f) { return clamped(f[0], 0, 6); }
Term hardTanh(Formula &f) { return f.call("clamp", {f[0], f.or_(1, -1), f.or_(2, 1)}); }
Term hardSigmoid(Formula &f) { return clamped(f[0] + 3, 0, 6) / 6; }
Term hardSwish(Formula &f) { return f[0] * clamped(f[0] + 3, 0, 6) / 6; }
Term mish(Formula &f) { return f[0] * of("tanh", softplus(f[0])); }
Term softsign(Formula &f) { return f[0] / (of("abs", f[0]) + 1); }
Term lerp(Formula &f) { return f[0] + f[2] * (f[1] - f[0]); }
Term addcmul(Formula &f) { return f[0] + f.or_(3, 1) * f[1] * f[2]; }
Term addcdiv(Formula &f) { return f[0] + f.or_(3, 1) * f[1] / f[2]; }
Term hypot(Formula &f) { return of("sqrt", f[0] * f[0] + f[1] * f[1]); }
Term maskedFill(Formula &f) { return where(f[1], f[2], f[0]); }
Term remainder(Formula &f) { return apply(BinaryOp::Mod, f[0], f[1]); }
Term truncatedRest(Formula &f) { return f[0] - f[1] * of("trunc", f[0] / f[1]); }
Term logAddExp(Formula &f) {
  return f.call("maximum", {f[0], f[1]}) + of("log1p", of("exp", negative(of("abs", f[0] - f[1]))));
}
Term addmm(Formula &f) {
  return f.or_(3, 1) * f[0] + f.or_(4, 1) * apply(BinaryOp::MatMul, f[1], f[2]);
}
template <BinaryOp op> Term bits(Formula &f) { return apply(op, f[0], f[1]); }
/// Ones where the row is the column.
Term eye(Formula &f) {
  Term row = f.call("arange", {f[0]}), column = f.has(1) ? f.call("arange", {f[1]}) : row;
  Term is = compared(ast::CompareOp::Eq, f.call("unsqueeze", {row, f.integer(1)}),
                     f.call("unsqueeze", {column, f.integer(0)}));
  return f.call("where", {is, f.number(1), f.number(0)});
}
Term isClose(Formula &f) {
  return of("abs", f[0] - f[1]) <= f.or_(3, 1e-8) + f.or_(2, 1e-5) * of("abs", f[1]);
}
Term outer(Formula &f) {
  return f.call("unsqueeze", {f[0], f.integer(1)}) * f.call("unsqueeze", {f[1], f.integer(0)});
}
Term turned(Formula &f) { return f.call("transpose", {f[0], f.integer(0), f.integer(1)}); }

Term norm(Formula &f) { return of("sqrt", f.reduce("sum", f[0] * f[0], f[1], f[2])); }
/// What a length is divided by: never 0.
Term least(Formula &f, const Term &x, size_t axis, double epsilon) {
  Term along = f.has(axis) ? f[axis] : f.integer(1);
  Term squares = f.reduce("sum", x * x, along, {&f, PyValue::boolean(true)});
  return f.call("maximum", {of("sqrt", squares), f.number(epsilon)});
}
Term normalize(Formula &f) { return f[0] / least(f, f[0], 1, 1e-12); }
Term cosineSimilarity(Formula &f) {
  Term along = f.has(2) ? f[2] : f.integer(1);
  Term x = f[0] / least(f, f[0], 2, 1e-8), y = f[1] / least(f, f[1], 2, 1e-8);
  return f.reduce("sum", x * y, along, {&f, PyValue::boolean(false)});
}

Term mse(Formula &f) { return f.reduced((f[0] - f[1]) * (f[0] - f[1]), 2); }
Term l1(Formula &f) { return f.reduced(of("abs", f[0] - f[1]), 2); }
Term smoothL1(Formula &f) {
  Term apart = of("abs", f[0] - f[1]), beta = f.or_(3, 1);
  return f.reduced(where(apart < beta, apart * apart * 0.5 / beta, apart - beta * 0.5), 2);
}
Term binaryCrossEntropy(Formula &f) { return f.reduced(softplus(f[0]) - f[0] * f[1], 2); }

struct Entry {
  StringRef name;
  Term (*fn)(Formula &);
  size_t required;
  std::vector<StringRef> parameters;
};
} // namespace

static llvm::ArrayRef<Entry> entries() {
  static const std::vector<Entry> table = {
      {"softplus", softplusOf, 1, {"x"}},
      {"logsigmoid", logSigmoid, 1, {"x"}},
      {"elu", elu, 1, {"x", "alpha"}},
      {"leaky_relu", leakyRelu, 1, {"x", "negative_slope"}},
      {"relu6", relu6, 1, {"x"}},
      {"hardtanh", hardTanh, 1, {"x", "min_val", "max_val"}},
      {"hardsigmoid", hardSigmoid, 1, {"x"}},
      {"hardswish", hardSwish, 1, {"x"}},
      {"mish", mish, 1, {"x"}},
      {"softsign", softsign, 1, {"x"}},
      {"lerp", lerp, 3, {"x", "end", "weight"}},
      {"addcmul", addcmul, 3, {"x", "tensor1", "tensor2", "value"}},
      {"addcdiv", addcdiv, 3, {"x", "tensor1", "tensor2", "value"}},
      {"hypot", hypot, 2, {"x", "y"}},
      {"masked_fill", maskedFill, 3, {"x", "mask", "value"}},
      {"remainder", remainder, 2, {"x", "y"}},
      {"fmod", truncatedRest, 2, {"x", "y"}},
      {"logaddexp", logAddExp, 2, {"x", "y"}},
      {"addmm", addmm, 3, {"x", "mat1", "mat2", "beta", "alpha"}},
      {"bitwise_and", bits<BinaryOp::And>, 2, {"x", "y"}},
      {"bitwise_or", bits<BinaryOp::Or>, 2, {"x", "y"}},
      {"bitwise_xor", bits<BinaryOp::Xor>, 2, {"x", "y"}},
      {"bitwise_left_shift", bits<BinaryOp::LShift>, 2, {"x", "y"}},
      {"bitwise_right_shift", bits<BinaryOp::RShift>, 2, {"x", "y"}},
      {"left_shift", bits<BinaryOp::LShift>, 2, {"x", "y"}},
      {"right_shift", bits<BinaryOp::RShift>, 2, {"x", "y"}},
      {"eye", eye, 1, {"n", "m"}},
      {"isclose", isClose, 2, {"x", "y", "rtol", "atol"}},
      {"outer", outer, 2, {"x", "y"}},
      {"t", turned, 1, {"x"}},
      {"norm", norm, 1, {"x", "axis", "keepdim"}},
      {"normalize", normalize, 1, {"x", "axis"}},
      {"cosine_similarity", cosineSimilarity, 2, {"x", "y", "axis"}},
      {"mse_loss", mse, 2, {"x", "y", "reduction"}},
      {"l1_loss", l1, 2, {"x", "y", "reduction"}},
      {"smooth_l1_loss", smoothL1, 2, {"x", "y", "reduction", "beta"}},
      {"binary_cross_entropy_with_logits", binaryCrossEntropy, 2, {"x", "y", "reduction"}},
  };
  return table;
}

llvm::ArrayRef<StringRef> eval::formulaNames() {
  static const std::vector<StringRef> names = [] {
    std::vector<StringRef> all;
    for (const Entry &entry : entries())
      all.push_back(entry.name);
    return all;
  }();
  return names;
}

Result eval::callFormula(FormulaCalls &on, StringRef name, const CallArgs &args) {
  for (const Entry &entry : entries())
    if (entry.name == name) {
      Formula formula(on, name, args, entry.parameters, entry.required);
      return formula.result(entry.fn(formula));
    }
  return fail(formatted("there is no formula `{}`", name));
}
