//===- TakenGradient.cpp - gradients of elements that tensors index -------===//
#include "frontend/tensors/TakenGradient.h"

using namespace mlir;
using namespace tile;
using namespace tile::tensors;

namespace {

/// The gradient of one gather. Its space is that of the source's dimensions, and behind them those
/// of the result that are added up.
class Taken {
public:
  Taken(Tracer &tracer, graph::GatherOp op)
      : tracer(tracer), op(op), source(graph::sizesOf(op.getSrc())),
        whole(graph::sizesOf(op.getResult())) {}
  void read();
  Result run(const PyValue &derivative) {
    return takesRows() ? asProduct(derivative) : asSum(derivative);
  }

private:
  bool takesRows();
  Result spread(Value v);
  Result place(size_t dim, size_t rank);
  Result asSum(const PyValue &derivative);
  Result asProduct(const PyValue &derivative);
  Result arranged(const PyValue &v, ArrayRef<int64_t> dims);
  Result shaped(const PyValue &v, ArrayRef<Size> sizes);

  Tracer &tracer;
  graph::GatherOp op;
  Sizes source, whole;
  /// The result's dimension that goes along each of the source's; -1: its index is a tensor's.
  SmallVector<int64_t> along;
  SmallVector<int64_t> added; ///< the result's dimensions that are added up
};

} // namespace

void Taken::read() {
  llvm::SmallDenseSet<int64_t> used;
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    auto view = index.getDefiningOp<graph::RearrangeOp>();
    Value line = view ? view.getSrc() : Value(index);
    int64_t dim = int64_t(whole.size()) - int64_t(graph::sizesOf(index).size());
    bool isOwn = line.getDefiningOp<graph::IndexOp>() && (!view || view.getDims()[0] == 0) &&
                 size_t(dim) < whole.size() && whole[dim] == source[i] && used.insert(dim).second;
    along.push_back(isOwn ? dim : -1);
  }
  for (size_t dim = 0; dim < whole.size(); ++dim)
    if (!used.contains(dim) && !whole[dim].isConstant(1))
      added.push_back(dim);
}

/// Whether one dimension is indexed, by what is the same along all others of the source.
bool Taken::takesRows() {
  if (llvm::count(along, -1) != 1 || along.size() < 2 || added.empty())
    return false;
  Sizes own = graph::sizesOf(op.getIndices()[llvm::find(along, -1) - along.begin()]);
  return llvm::all_of(along, [&](int64_t dim) {
    int64_t at = dim - int64_t(whole.size() - own.size());
    return dim < 0 || at < 0 || own[at].isConstant(1);
  });
}

Result Taken::arranged(const PyValue &v, ArrayRef<int64_t> dims) {
  Operand x;
  if (auto error = tracer.operand("grad", v, x))
    return error;
  return tracer.rearrange(x, dims);
}

Result Taken::shaped(const PyValue &v, ArrayRef<Size> sizes) {
  Operand x;
  if (auto error = tracer.operand("grad", v, x))
    return error;
  return tracer.reshape(x, sizes);
}

/// What has the result's dimensions, or the last of them, in the space.
Result Taken::spread(Value v) {
  int64_t missing = int64_t(whole.size() - graph::sizesOf(v).size());
  SmallVector<int64_t> dims;
  for (ArrayRef<int64_t> part : {ArrayRef(along), ArrayRef(added)})
    for (int64_t dim : part)
      dims.push_back(dim < missing ? -1 : dim - missing);
  return tracer.rearrange({v, "", false}, dims);
}

/// The numbers along one of the source's dimensions, among so many.
Result Taken::place(size_t dim, size_t rank) {
  SmallVector<int64_t> dims(rank - dim, -1);
  dims[0] = 0;
  return tracer.rearrange({tracer.indices(source[dim]), "", false}, dims);
}

Result Taken::asSum(const PyValue &derivative) {
  Operand x;
  if (auto error = tracer.operand("grad", derivative, x))
    return error;
  Result sum = spread(x.value);
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    if (along[i] >= 0 || !sum)
      continue;
    Result here = place(i, source.size() + added.size()), at = spread(index);
    if (!here || !at)
      return here ? std::move(at) : std::move(here);
    Result isIt = tracer.map(MapKind::eq, {*here, *at});
    sum = isIt ? tracer.map(MapKind::select, {*isIt, *sum, PyValue::number(0)}) : std::move(isIt);
  }
  if (!sum || added.empty())
    return sum;
  if (auto error = tracer.operand("grad", *sum, x))
    return error;
  SmallVector<int64_t> axes;
  for (size_t i = 0; i < added.size(); ++i)
    axes.push_back(source.size() + i);
  return tracer.reduce(ReduceKind::sum, x, axes, /*keepdim=*/false);
}

/// Rows of one times the derivatives of all rows that were taken.
Result Taken::asProduct(const PyValue &derivative) {
  size_t dim = llvm::find(along, -1) - along.begin();
  Value index = op.getIndices()[dim];
  int64_t missing = int64_t(whole.size() - graph::sizesOf(index).size());
  SmallVector<int64_t> toLine, toRows(added.begin(), added.end()), back(source.size());
  Sizes taken, rest;
  for (int64_t of : added) {
    toLine.push_back(of < missing ? -1 : of - missing);
    taken.push_back(whole[of]);
  }
  for (auto [i, of] : llvm::enumerate(along)) {
    if (of < 0)
      continue;
    toRows.push_back(of);
    back[i] = int64_t(rest.size()) + 1;
    rest.push_back(source[i]);
  }
  Size count = graph::product(taken);
  Result at = arranged(tracer.wrap(index), toLine);
  if (at) // along what is taken it may repeat
    at = tracer.expand(*at, taken);
  if (at)
    at = shaped(*at, {count});
  Result rows = arranged(derivative, toRows);
  if (rows)
    rows = shaped(*rows, {count, graph::product(rest)});
  if (!at || !rows)
    return at ? std::move(rows) : std::move(at);
  Operand x;
  if (auto error = tracer.operand("grad", *rows, x))
    return error;
  Result places = tracer.rearrange({tracer.indices(source[dim]), "", false}, {0, -1});
  Result isIt = places ? tracer.map(MapKind::eq, {*places, *at}) : std::move(places);
  Result ones = isIt ? tracer.cast(*isIt, x.type().getElement()) : std::move(isIt);
  Result sums = ones ? tracer.matmul(*ones, *rows) : std::move(ones);
  Sizes shape = {source[dim]};
  llvm::append_range(shape, rest);
  if (sums)
    sums = shaped(*sums, shape);
  return sums ? arranged(*sums, back) : std::move(sums);
}

Result tensors::takenGradient(Tracer &tracer, graph::GatherOp op, const PyValue &derivative) {
  Taken taken(tracer, op);
  taken.read();
  return taken.run(derivative);
}
