//===- FormulasLosses.cpp - losses ------------------------------------------===//
#include "frontend/eval/FormulaTerms.h"
#include "frontend/eval/Synonyms.h"

using namespace tile;
using namespace tile::eval;

static Term squared(const Term &x) { return x * x; }

static Term mse(Formula &f) { return f.reduced(squared(f[0] - f[1]), 2); }
static Term l1(Formula &f) { return f.reduced(of("abs", f[0] - f[1]), 2); }
static Term smoothL1(Formula &f) {
  Term apart = of("abs", f[0] - f[1]), beta = f.or_(3, 1);
  return f.reduced(where(apart < beta, apart * apart * 0.5 / beta, apart - beta * 0.5), 2);
}
static Term huber(Formula &f) {
  Term apart = of("abs", f[0] - f[1]), delta = f.or_(3, 1);
  Term line = delta * (apart - delta * 0.5);
  return f.reduced(where(apart <= delta, apart * apart * 0.5, line), 2);
}

/// y log p + (1 - y) log(1 - p), whose logarithms are -100 at least.
static Term binaryCrossEntropy(Formula &f) {
  auto log = [&](const Term &x) { return larger(of("log", x), f.number(-100)); };
  Term one = f.number(1);
  Term loss = negative(f[1] * log(f[0]) + (one - f[1]) * log(one - f[0]));
  return f.reduced(f.has(3) ? loss * f[3] : loss, 2);
}
static Term binaryCrossEntropyOfLogits(Formula &f) {
  Term loss = softplus(f[0]) - f[0] * f[1];
  if (f.has(4)) {
    Term one = f.number(1), weight = f[1] * (f[4] - one) + one;
    loss = (one - f[1]) * f[0] + weight * softplus(negative(f[0]));
  }
  return f.reduced(f.has(3) ? loss * f[3] : loss, 2);
}

/// y (log y - x) of logarithms x: 0 where y is.
static Term divergence(Formula &f) {
  Term loss = f.flag(3, false) ? of("exp", f[1]) * (f[1] - f[0])
                               : f.call("xlogy", {f[1], f[1]}) - f[1] * f[0];
  bool isOfBatch = f.has(2) && f[2].value.isStr() && f[2].value.asStr() == "batchmean";
  if (!isOfBatch)
    return f.reduced(loss, 2);
  Terms sizes = shapeOf(f[0]);
  return sizes.empty() ? of("sum", loss) : of("sum", loss) / sizes[0];
}

/// Which labels are those of `ignore_index`, argument `i`: -100 unless it says another, or None, no
/// label at all. What has no sign is none of -100; the result is None, then.
static Term ignoredAmong(Formula &f, const Term &labels, size_t i) {
  Term index = f.has(i) ? f[i] : f.integer(-100);
  PyValue type = typeOf(labels).value;
  bool isNatural = type.is(PyValue::Kind::DType) && !type.asDType().isSigned();
  if (f.isNone(i) || (isNatural && known(index).value_or(0) < 0))
    return f.none();
  return same(labels, index);
}

/// The mean of losses by what they count for, which is 0 where they are.
static Term meanByWeight(Formula &f, const Term &loss, const Term &weight) {
  Term total = of("sum", loss);
  return f.call("to",
                {total / of("sum", weight), typeOf(total)}); // what is counted has no say in it
}

/// Of logarithms (N, C, ...) and classes (N, ...), or of one (C): what the class has, negative.
static Term negativeLogLikelihood(Formula &f) {
  Term x = f[0], labels = f[1];
  Terms sizes = shapeOf(x);
  if (f.failed() || sizes.empty() || rankOf(labels) + 1 != sizes.size())
    return f.refuse("`nll_loss` needs logarithms (N, C, ...) and classes (N, ...)");
  size_t rank = sizes.size(), axis = rank > 1;
  labels = unsqueezed(labels, int64_t(axis));
  Term isClass = same(labels, placesAlong(sizes[axis], axis, rank));
  Term weight = f.has(3) ? f[3] : f.number(1), isIgnored = ignoredAmong(f, labels, 4);
  if (f.has(3))
    for (size_t dim = axis + 1; dim < rank; ++dim)
      weight = unsqueezed(weight, -1);
  bool ignores = !isIgnored.value.isNone();
  if (ignores)
    isClass = isClass & of("logical_not", isIgnored);
  Term loss = negative(f.reduce("sum", where(isClass, x * weight, f.number(0)), axis));
  std::string how = f.word(2, {"mean", "sum", "none"});
  if (how != "mean" || (!ignores && !f.has(3)))
    return f.reduced(loss, 2);
  if (!f.has(3))
    return meanByWeight(f, loss, where(isIgnored, f.number(0), f.number(1)));
  return meanByWeight(f, loss, where(isClass, weight, f.number(0)));
}

//===----------------------------------------------------------------------===//
// Of pairs and more
//===----------------------------------------------------------------------===//

static Term softMargin(Formula &f) { return f.reduced(softplus(negative(f[0] * f[1])), 2); }
static Term marginRanking(Formula &f) {
  Term apart = negative(f[2]) * (f[0] - f[1]);
  return f.reduced(of("relu", apart + f.or_(3, 0)), 4);
}
static Term hingeEmbedding(Formula &f) {
  Term far = of("relu", f.or_(3, 1) - f[0]);
  return f.reduced(where(same(f[1], 1), f[0], far), 2);
}
static Term cosineEmbedding(Formula &f) {
  Term alike = f.call("cosine_similarity", {f[0], f[1], f.integer(-1)});
  Term apart = of("relu", alike - f.or_(3, 0));
  return f.reduced(where(f[2] > 0, f.number(1) - alike, apart), 4);
}
static Term tripletMargin(Formula &f) {
  Term near = f.call("pairwise_distance", {f[0], f[1]});
  Term far = f.call("pairwise_distance", {f[0], f[2]});
  return f.reduced(of("relu", near - far + f.or_(3, 1)), 4);
}
static Term poisson(Formula &f) {
  bool isLog = f.flag(3, true);
  Term loss = isLog ? of("exp", f[0]) - f[1] * f[0] : f[0] - f[1] * of("log", f[0] + 1e-8);
  return f.reduced(loss, 2);
}
static Term gaussian(Formula &f) {
  Term spread = larger(f[2], f.or_(4, 1e-6));
  return f.reduced((of("log", spread) + squared(f[0] - f[1]) / spread) * 0.5, 3);
}

/// With the classes last that come second, as in (N, C, ...).
static Term classesLast(const Term &x, bool isSecond) {
  return isSecond ? x.in->call("movedim", {x, x.in->integer(1), x.in->integer(-1)}) : x;
}

/// cross_entropy of shares of classes, (N, C, ...) as the logits.
static Term crossEntropyOfShares(Formula &f) {
  bool isSecond = classesComeSecond(f[0].value, f[1].value);
  Term x = classesLast(f[0], isSecond), shares = classesLast(f[1], isSecond);
  Terms sizes = shapeOf(x);
  if (f.failed() || sizes.empty() || rankOf(shares) != sizes.size())
    return f.refuse("`cross_entropy` needs logits (N, C, ...) and as many shares, or whole numbers "
                    "(N, ...) as labels");
  Term smoothing = f.or_(4, 0);
  if (f.has(4))
    shares = shares * (f.number(1) - smoothing) + smoothing / sizes.back();
  if (f.has(2))
    shares = shares * f[2];
  Term logarithms = f.call("log_softmax", {x, f.integer(-1)});
  Term loss = negative(f.reduce("sum", shares * logarithms, int64_t(-1)));
  return f.reduced(loss, 3);
}

/// cross_entropy of the rows whose label is not `ignore_index`, each times the weight of its label:
/// the mean is of these weights.
static Term weightedCrossEntropy(Formula &f) {
  Term x = classesLast(f[0], classesComeSecond(f[0].value, f[1].value)), labels = f[1];
  Term zero = f.number(0);
  Terms sizes = shapeOf(x);
  if (f.failed() || sizes.empty() || rankOf(labels) + 1 != sizes.size())
    return f.refuse("`cross_entropy` needs logits (..., C) or (N, C, ...), and whole numbers as "
                    "labels in the shape of the rest");
  Term isIgnored = ignoredAmong(f, labels, 3);
  bool ignores = !isIgnored.value.isNone();
  if (ignores)
    labels = where(isIgnored, f.integer(0), labels);
  Term logarithms = f.call("log_softmax", {x, f.integer(-1)});
  Term own = f.call("gather", {logarithms, unsqueezed(labels, -1), f.integer(-1)});
  Term loss = negative(f.call("squeeze", {own, f.integer(-1)}));
  Term weight = f.has(2) ? f.call("take", {f[2], labels}) : f.number(1);
  if (f.has(2))
    loss = loss * weight;
  if (f.has(5)) {
    Term all = f.reduce("sum", f.has(2) ? logarithms * f[2] : logarithms, int64_t(-1));
    loss = loss * (f.number(1) - f[5]) - all * (f[5] / sizes.back());
  }
  if (ignores)
    loss = where(isIgnored, zero, loss);
  std::string how = f.word(4, {"mean", "sum", "none"});
  if (how != "mean" || (!ignores && !f.has(2)))
    return f.reduced(loss, 4);
  return meanByWeight(f, loss, ignores ? where(isIgnored, zero, weight) : weight);
}

static Term multilabelSoftMargin(Formula &f) {
  return f.reduced(f.reduce("mean", softplus(f[0]) - f[0] * f[1], int64_t(-1)), 2);
}

/// multi_margin_loss(x, y, p=1, margin=1): how far other classes come up to the right one.
static Term multiMargin(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  if (f.failed() || sizes.size() != 2)
    return f.refuse("`multi_margin_loss` needs scores (N, C) and classes (N)");
  Term isClass = same(unsqueezed(f[1], 1), placesAlong(sizes[1], 1, 2));
  Term own = f.reduce("sum", where(isClass, f[0], f.number(0)), int64_t(1), /*keepdim=*/true);
  Term gap = of("relu", f.or_(3, 1) - own + f[0]);
  if (f.whole(2, 1) == 2)
    gap = gap * gap;
  Term all = f.reduce("sum", where(isClass, f.number(0), gap), int64_t(1));
  return f.reduced(all / sizes[1], 4);
}

llvm::ArrayRef<FormulaEntry> eval::lossFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"cross_entropy_of_shares",
       crossEntropyOfShares,
       2,
       {"x", "y", "weight", "reduction", "label_smoothing"}},
      {"cross_entropy_weighted",
       weightedCrossEntropy,
       2,
       {"x", "y", "weight", "ignore_index", "reduction", "label_smoothing"}},
      {"multilabel_soft_margin_loss", multilabelSoftMargin, 2, {"x", "y", "reduction"}},
      {"multi_margin_loss", multiMargin, 2, {"x", "y", "p", "margin", "reduction"}},
      {"mse_loss", mse, 2, {"x", "y", "reduction"}},
      {"l1_loss", l1, 2, {"x", "y", "reduction"}},
      {"smooth_l1_loss", smoothL1, 2, {"x", "y", "reduction", "beta"}},
      {"huber_loss", huber, 2, {"x", "y", "reduction", "delta"}},
      {"binary_cross_entropy", binaryCrossEntropy, 2, {"x", "y", "reduction", "weight"}},
      {"binary_cross_entropy_with_logits",
       binaryCrossEntropyOfLogits,
       2,
       {"x", "y", "reduction", "weight", "pos_weight"}},
      {"kl_div", divergence, 2, {"x", "y", "reduction", "log_target"}},
      {"nll_loss", negativeLogLikelihood, 2, {"x", "y", "reduction", "weight", "ignore_index"}},
      {"soft_margin_loss", softMargin, 2, {"x", "y", "reduction"}},
      {"margin_ranking_loss", marginRanking, 3, {"x1", "x2", "y", "margin", "reduction"}},
      {"hinge_embedding_loss", hingeEmbedding, 2, {"x", "y", "reduction", "margin"}},
      {"cosine_embedding_loss", cosineEmbedding, 3, {"x1", "x2", "y", "margin", "reduction"}},
      {"triplet_margin_loss",
       tripletMargin,
       3,
       {"anchor", "positive", "negative", "margin", "reduction"}},
      {"poisson_nll_loss", poisson, 2, {"x", "y", "reduction", "log_input"}},
      {"gaussian_nll_loss", gaussian, 3, {"x", "y", "var", "reduction", "eps"}},
  };
  return table;
}
