//===- AffineIndices.cpp - gradients of elements at computed places -------===//
#include "frontend/tensors/AffineIndices.h"

using namespace mlir;
using namespace tile;
using namespace tile::tensors;

namespace {
/// An index: the places along dimensions, counted from the last, times numbers, and an offset.
struct Affine {
  SmallVector<std::pair<size_t, int64_t>> terms;
  Size offset;
};

/// The gradient of one gather, over the dimensions of its source and those that are added up.
class Solver {
public:
  Solver(Tracer &tracer, graph::GatherOp op) : tracer(tracer), op(op) {}
  bool read();
  Result run(Value derivative);

private:
  Result place(const Size &size, size_t dim);
  Result solve(size_t index, Result &condition);
  size_t rank() { return graph::sizesOf(op.getSrc()).size() + added.size(); }
  Size sizeFromEnd(size_t dim) const { return whole[whole.size() - 1 - dim]; }

  Tracer &tracer;
  graph::GatherOp op;
  Sizes whole;
  SmallVector<Affine> indices;
  SmallVector<size_t> added; ///< dimensions of the result, from the last
};
} // namespace

static std::optional<Affine> affineOf(Value value) {
  Operation *source = value.getDefiningOp();
  if (!source)
    return std::nullopt;
  if (isa<graph::IndexOp>(source))
    return Affine{{{0, 1}}, Size(0)};
  if (auto constant = dyn_cast<graph::ConstantOp>(source)) {
    auto number = dyn_cast<IntegerAttr>(constant.getValue());
    return number ? std::optional(Affine{{}, Size(number.getInt())}) : std::nullopt;
  }
  if (auto size = dyn_cast<graph::SizeOp>(source)) {
    std::string error;
    return Affine{{}, *Size::parse(size.getSize(), error)};
  }
  if (auto convert = dyn_cast<graph::CastOp>(source))
    return isa<IntegerType>(convert.getType().getElement()) ? affineOf(convert.getSrc())
                                                            : std::nullopt;
  if (auto view = dyn_cast<graph::RearrangeOp>(source)) {
    std::optional<Affine> inner = affineOf(view.getSrc());
    size_t from = graph::sizesOf(view.getSrc()).size(), to = view.getDims().size();
    if (!inner)
      return std::nullopt;
    for (auto &[dim, times] : inner->terms) {
      auto at = llvm::find(view.getDims(), int64_t(from - 1 - dim));
      if (at == view.getDims().end())
        return std::nullopt;
      dim = to - 1 - (at - view.getDims().begin());
    }
    return inner;
  }
  auto map = dyn_cast<graph::MapOp>(source);
  if (!map || map.getNumOperands() != 2)
    return std::nullopt;
  std::optional<Affine> x = affineOf(map.getOperand(0)), y = affineOf(map.getOperand(1));
  if (!x || !y)
    return std::nullopt;
  if (map.getKind() == MapKind::mul) {
    if (x->terms.empty())
      std::swap(x, y);
    std::optional<int64_t> by = y->terms.empty() ? y->offset.constant() : std::nullopt;
    if (!by || *by == 0)
      return std::nullopt;
    for (auto &[dim, times] : x->terms)
      times *= *by;
    x->offset = x->offset * Size(*by);
    return x;
  }
  if (map.getKind() != MapKind::add && map.getKind() != MapKind::sub)
    return std::nullopt;
  int64_t sign = map.getKind() == MapKind::add ? 1 : -1;
  for (auto &[dim, times] : y->terms)
    x->terms.push_back({dim, sign * times});
  x->offset = x->offset + Size(sign) * y->offset;
  return x;
}

/// Each dimension of the result has a part in one index; all of an index but one are added up.
bool Solver::read() {
  whole = graph::sizesOf(op.getResult());
  SmallVector<bool> seen(whole.size());
  for (Value value : op.getIndices()) {
    std::optional<Affine> index = affineOf(value);
    if (!index)
      return false;
    for (auto &[dim, times] : index->terms)
      if (std::exchange(seen[dim], true))
        return false;
    llvm::sort(index->terms);
    for (auto &[dim, times] : ArrayRef(index->terms).drop_front(!index->terms.empty()))
      added.push_back(dim);
    indices.push_back(std::move(*index));
  }
  for (auto [i, known] : llvm::enumerate(seen))
    if (!known && !sizeFromEnd(i).isConstant(1))
      return false;
  return true;
}

Result Solver::place(const Size &size, size_t dim) {
  SmallVector<int64_t> dims(rank() - dim, -1);
  dims[0] = 0;
  if (size.isConstant(1)) {
    dims[0] = -1;
    return tracer.rearrange({tracer.constant(int64_t(0)), "", false}, dims);
  }
  return tracer.rearrange({tracer.indices(size), "", false}, dims);
}

/// Which place along the first dimension of an index took each element, if the condition holds.
Result Solver::solve(size_t number, Result &condition) {
  const Affine &index = indices[number];
  Result rest = place(graph::sizesOf(op.getSrc())[number], number);
  if (rest && index.offset != Size(0))
    rest = tracer.map(MapKind::sub, {*rest, tracer.sizeValue(index.offset)});
  for (auto &[dim, times] : ArrayRef(index.terms).drop_front(!index.terms.empty())) {
    size_t at = graph::sizesOf(op.getSrc()).size() + (llvm::find(added, dim) - added.begin());
    Result other = place(sizeFromEnd(dim), at);
    if (other)
      other = tracer.map(MapKind::mul, {*other, PyValue::integer(times)});
    if (!rest || !other)
      return rest ? std::move(other) : std::move(rest);
    rest = tracer.map(MapKind::sub, {*rest, *other});
  }
  int64_t times = index.terms.empty() ? 0 : index.terms.front().second;
  Result holds = PyValue();
  if (rest && times < 0)
    rest = tracer.map(MapKind::neg, {*rest});
  if (!rest)
    return rest;
  PyValue by = PyValue::integer(std::abs(times));
  if (times == 0)
    holds = tracer.map(MapKind::eq, {*rest, by});
  else if (std::abs(times) != 1) {
    Result over = tracer.map(MapKind::mod, {*rest, by});
    holds = over ? tracer.map(MapKind::eq, {*over, PyValue::integer(0)}) : std::move(over);
    rest = tracer.map(MapKind::floordiv, {*rest, by});
  }
  if (!holds)
    return holds;
  if (!holds->isNone())
    condition =
        condition->isNone() ? std::move(holds) : tracer.map(MapKind::bit_and, {*condition, *holds});
  return rest;
}

Result Solver::run(Value derivative) {
  SmallVector<Value> at(whole.size());
  Result condition = PyValue();
  auto keep = [&](size_t dim, const Result &index) -> std::unique_ptr<EvalError> {
    Operand made;
    auto error = tracer.operand("grad", *index, made);
    at[whole.size() - 1 - dim] = made.value;
    return error;
  };
  size_t sources = indices.size();
  for (size_t i = 0; i < sources; ++i) {
    Result index = solve(i, condition);
    if (!index || !condition)
      return index ? std::move(condition) : std::move(index);
    if (!indices[i].terms.empty())
      if (auto error = keep(indices[i].terms.front().first, index))
        return error;
  }
  for (auto [i, dim] : llvm::enumerate(added)) {
    Result index = place(sizeFromEnd(dim), sources + i);
    if (!index)
      return index;
    if (auto error = keep(dim, index))
      return error;
  }
  for (Value &index : at)
    if (!index)
      index = tracer.constant(int64_t(0));
  Result taken = tracer.gather(derivative, at, /*guarded=*/true);
  if (taken && !condition->isNone())
    taken = tracer.map(MapKind::select, {*condition, *taken, PyValue::number(0)});
  Operand sum;
  if (!taken || added.empty())
    return taken;
  if (auto error = tracer.operand("grad", *taken, sum))
    return error;
  SmallVector<int64_t> axes;
  for (size_t i = 0; i < added.size(); ++i)
    axes.push_back(sources + i);
  return tracer.reduce(ReduceKind::sum, sum, axes, /*keepdim=*/false);
}

std::optional<Result> tensors::affineGradient(Tracer &tracer, graph::GatherOp op,
                                              const PyValue &derivative) {
  Solver solver(tracer, op);
  Operand x;
  if (!solver.read())
    return std::nullopt;
  if (auto error = tracer.operand("grad", derivative, x))
    return Result(std::move(error));
  return solver.run(x.value);
}
