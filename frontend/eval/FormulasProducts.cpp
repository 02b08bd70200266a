//===- FormulasProducts.cpp - formulas of matrix products -------------------===//
#include "frontend/eval/Einsum.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::eval;

/// beta * x + alpha * product
static Term addedTo(Formula &f, const Term &product) {
  Term x = f.has(3) ? f[3] * f[0] : f[0];
  return x + (f.has(4) ? f[4] * product : product);
}
static Term addProduct(Formula &f) { return addedTo(f, matmul(f[1], f[2])); }
static Term addProducts(Formula &f) {
  return addedTo(f, f.reduce("sum", matmul(f[1], f[2]), int64_t(0)));
}
static Term outerOf(const Term &x, const Term &y) { return unsqueezed(x, 1) * unsqueezed(y, 0); }
static Term outer(Formula &f) { return outerOf(f[0], f[1]); }
static Term addOuter(Formula &f) { return addedTo(f, outerOf(f[1], f[2])); }

/// Rows of the one by rows of the other.
static Term inner(Formula &f) {
  size_t rank = rankOf(f[1]);
  if (rank < 2)
    return matmul(f[0], f[1]);
  Term turned = f.call("transpose", {f[1], f.integer(-2), f.integer(-1)});
  return rank == 2 ? matmul(f[0], turned)
                   : f.refuse("`inner` needs a second tensor of one or two dimensions");
}

/// tensordot(x, y, axis=2): the last of one and the first of the other, or those that two lists
/// name.
static Term tensordot(Formula &f) {
  size_t left = rankOf(f[0]), right = rankOf(f[1]);
  std::vector<int64_t> ofX, ofY;
  Terms lists = f.list(2);
  bool areLists = f.has(2) && f[2].value.isSequence() && lists.size() == 2;
  if (areLists) {
    for (size_t i = 0; i < 2; ++i) {
      std::vector<PyValue> axes = {lists[i].value};
      if (lists[i].value.isSequence())
        axes = lists[i].value.elements().vec();
      for (const PyValue &axis : axes)
        (i ? ofY : ofX).push_back(axis.toInt64().value_or(INT64_MAX));
    }
  } else {
    int64_t n = f.whole(2, 2);
    if (n < 0 || n > int64_t(std::min(left, right)))
      return f.refuse(formatted("`tensordot` of {} dimensions, where the tensors have {} and {}", n,
                                left, right));
    for (int64_t i = 0; i < n; ++i) {
      ofX.push_back(i - n);
      ofY.push_back(i);
    }
  }
  if (f.failed() || ofX.size() != ofY.size())
    return f.refuse("`tensordot` needs as many dimensions of the one as of the other");
  std::vector<int> labelsX, labelsY, out;
  for (size_t i = 0; i < left; ++i)
    labelsX.push_back(int(i) + 1);
  for (size_t i = 0; i < right; ++i)
    labelsY.push_back(int(left + i) + 1);
  for (size_t i = 0; i < ofX.size(); ++i) {
    size_t ofLeft = f.axisOf(ofX[i], left), ofRight = f.axisOf(ofY[i], right);
    if (f.failed())
      return f.none();
    labelsY[ofRight] = labelsX[ofLeft];
  }
  for (int label : labelsX)
    if (!llvm::is_contained(labelsY, label))
      out.push_back(label);
  for (int label : labelsY)
    if (!llvm::is_contained(labelsX, label))
      out.push_back(label);
  return f.failed() ? f.none() : contracted(f, {{f[0], labelsX}, {f[1], labelsY}}, out);
}

/// kron(x, y): y, times each element of x.
static Term kron(Formula &f) {
  Terms left = shapeOf(f[0]), right = shapeOf(f[1]), ofX, ofY, whole;
  if (f.failed() || left.size() != right.size())
    return f.refuse("`kron` needs two tensors of as many dimensions");
  for (size_t i = 0; i < left.size(); ++i) {
    ofX.push_back(left[i]);
    ofX.push_back(f.integer(1));
    ofY.push_back(f.integer(1));
    ofY.push_back(right[i]);
    whole.push_back(left[i] * right[i]);
  }
  return reshaped(reshaped(f[0], ofX) * reshaped(f[1], ofY), whole);
}

/// cross(x, y, axis=-1) of vectors of three elements.
static Term cross(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  size_t axis = f.axis(2, -1, sizes.size());
  if (f.failed() || known(sizes[axis]) != 3)
    return f.refuse("`cross` is of vectors of three elements");
  auto turned = [&](const Term &x, int64_t by) {
    return f.call("roll", {x, f.integer(by), f.integer(int64_t(axis))});
  };
  return turned(f[0], -1) * turned(f[1], -2) - turned(f[0], -2) * turned(f[1], -1);
}

/// Coordinates of points, whose differences are summed up one by one; more are a product.
static constexpr int64_t kFewCoordinates = 8;

/// Whether elements have 64 bits.
static bool isDouble(const Term &x) {
  PyValue type = typeOf(x).value;
  return type.is(PyValue::Kind::DType) && type.asDType().itemSize() == 8;
}

/// With elements of 32 bits, or of 64.
static Term inFloats(const Term &x, bool areDoubles) {
  PyValue type = PyValue::dtype(*DType::parse(areDoubles ? "fp64" : "fp32"));
  return x.in->call("to", {x, {x.in, type}});
}

/// By what rows multiply to, as libraries have it: |x|^2 + |y|^2 - 2 x y, in f32 and wider. Rows
/// that are one are as far apart as the rounding of that is large, and where it is below 0, not at
/// all; there the gradient is 0.
static Term distancesByProduct(Formula &f) {
  bool areDoubles = isDouble(f[0]) || isDouble(f[1]);
  Term x = inFloats(f[0], areDoubles), y = inFloats(f[1], areDoubles);
  Term turned = f.call("transpose", {y, f.integer(-2), f.integer(-1)});
  Term ofX = f.reduce("sum", x * x, int64_t(-1), /*keepdim=*/true);
  Term ofY = f.reduce("sum", turned * turned, int64_t(-2), /*keepdim=*/true);
  Term squares = ofX + ofY - matmul(x, turned) * 2;
  Term isOne = squares <= f.number(0); // what is no number stays that
  Term apart = where(isOne, f.integer(0), of("sqrt", where(isOne, f.integer(1), squares)));
  Term type = typeOf(f[0]);
  bool isNarrow = isFloat(f[0]) && same(type, typeOf(f[1])).value.asBool();
  return isNarrow ? f.call("to", {apart, type}) : apart;
}

/// cdist(x, y, p=2): how far each row of one is from each row of the other.
static Term cdist(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  bool isLength = !f.has(2) || f[2].value.toDouble() == 2.0;
  // The host, which is the reference, sums up what is apart.
  if (!f.failed() && !f.computes() && isLength && !sizes.empty() && rankOf(f[1]) >= 2 &&
      known(sizes.back()).value_or(kFewCoordinates + 1) > kFewCoordinates)
    return distancesByProduct(f);
  Term apart = unsqueezed(f[0], -2) - unsqueezed(f[1], -3);
  return f.call("norm", {apart, f.or_(2, 2), f.integer(-1)});
}

/// Of rows, each a variable: how they vary together.
static Term covariance(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  if (f.failed() || sizes.size() != 2)
    return f.refuse("`cov` needs a tensor of two dimensions, one row for each variable");
  Term apart = f[0] - f.reduce("mean", f[0], int64_t(1), /*keepdim=*/true);
  Term turned = f.call("transpose", {apart, f.integer(0), f.integer(1)});
  return matmul(apart, turned) / (sizes[1] - (f.has(1) ? f[1] : f.integer(1)));
}

/// How variables vary together, against how each does.
static Term correlation(Formula &f) {
  Term apart = f[0] - f.reduce("mean", f[0], int64_t(1), /*keepdim=*/true);
  Term length = of("sqrt", f.reduce("sum", apart * apart, int64_t(1), /*keepdim=*/true));
  Term x = apart / length;
  return matmul(x, f.call("transpose", {x, f.integer(0), f.integer(1)}));
}

/// average(x, axis=None, weights=None)
static Term average(Formula &f) {
  Term none = f.boolean(false);
  if (!f.has(2))
    return f.reduce("mean", f[0], f[1], none);
  Term weights = f[2];
  size_t rank = rankOf(f[0]);
  if (f.has(1) && rankOf(weights) == 1)
    for (size_t dim = f.axis(1, 0, rank) + 1; dim < rank; ++dim)
      weights = unsqueezed(weights, -1);
  Term all = f.call("expand", {weights, f.tuple(shapeOf(f[0]))});
  return f.reduce("sum", f[0] * weights, f[1], none) / f.reduce("sum", all, f[1], none);
}

/// vander(x, n): powers of each element, the highest first.
static Term vander(Formula &f) {
  Terms sizes = shapeOf(f[0]);
  if (f.failed() || sizes.size() != 1)
    return f.refuse("`vander` needs a tensor of one dimension");
  Term count = f.has(1) ? f[1] : sizes[0];
  Term powers = count + f.integer(-1) - f.call("arange", {count});
  Term x = unsqueezed(f[0], 1), one = f.number(1);
  return where(same(powers, 0), one, f.call("pow", {x * one, powers * one}));
}

llvm::ArrayRef<FormulaEntry> eval::productFormulas() {
  static const std::vector<FormulaEntry> table = {
      {"einsum", einsum, 2, {"equation", "operands"}, 1},
      {"tensordot", tensordot, 2, {"x", "y", "axis"}},
      {"addmm", addProduct, 3, {"x", "mat1", "mat2", "beta", "alpha"}},
      {"addmv", addProduct, 3, {"x", "mat", "vec", "beta", "alpha"}},
      {"baddbmm", addProduct, 3, {"x", "batch1", "batch2", "beta", "alpha"}},
      {"addbmm", addProducts, 3, {"x", "batch1", "batch2", "beta", "alpha"}},
      {"addr", addOuter, 3, {"x", "vec1", "vec2", "beta", "alpha"}},
      {"outer", outer, 2, {"x", "y"}},
      {"inner", inner, 2, {"x", "y"}},
      {"kron", kron, 2, {"x", "y"}},
      {"cross", cross, 2, {"x", "y", "axis"}},
      {"cdist", cdist, 2, {"x", "y", "p"}},
      {"cov", covariance, 1, {"x", "correction"}},
      {"corrcoef", correlation, 1, {"x"}},
      {"average", average, 1, {"x", "axis", "weights"}},
      {"vander", vander, 1, {"x", "n"}},
  };
  return table;
}
