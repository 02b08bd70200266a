//===- Backward.cpp - the derivative of each kind of operation ------------===//
#include "frontend/tensors/Backward.h"
#include "frontend/tensors/AffineIndices.h"
#include "frontend/tensors/ScanGradient.h"
#include "frontend/tensors/TakenGradient.h"
#include "ir/graph/ProductOrders.h"
#include "text/Format.h"

using namespace mlir;
using namespace tile;
using namespace tile::tensors;

void Backward::unsupported(const std::string &what) {
  if (!error)
    error = eval::unsupported(formatted("gradients of {} are not supported", what));
}

/// Sums along what was repeated: `whole` is what the derivative's dimensions stand for.
PyValue Backward::narrowed(V derivative, ArrayRef<Size> whole, ArrayRef<Size> to) {
  if (error)
    return {};
  Operand x = operand(derivative);
  Sizes own = x.type().sizes();
  size_t rank = own.size(), missing = rank - std::min(rank, to.size());
  llvm::SmallVector<int64_t> axes, dims;
  Size times(1);
  for (size_t i = 0; i < rank; ++i) {
    bool repeats = i < missing ||
                   (to[i - missing].isConstant(1) && !whole[whole.size() - rank + i].isConstant(1));
    if (!repeats)
      continue;
    if (own[i].isConstant(1))
      times = times * whole[whole.size() - rank + i];
    else
      axes.push_back(i);
  }
  // Dimensions that the derivative does not have at all repeat as well.
  for (size_t i = 0; i + rank < whole.size(); ++i)
    if (i + to.size() < whole.size() || to[i + to.size() - whole.size()].isConstant(1))
      times = times * whole[i];
  V sum = axes.empty() ? derivative : keep(tracer.reduce(ReduceKind::sum, x, axes, true));
  if (!times.isConstant(1))
    sum = mul(sum, tracer.sizeValue(times));
  if (error || missing == 0)
    return sum;
  for (size_t i = missing; i < rank; ++i)
    dims.push_back(i);
  return keep(tracer.rearrange(operand(sum), dims));
}

/// With all its elements.
PyValue Backward::expanded(V derivative, ArrayRef<Size> to) {
  if (error || sizesOf(derivative) == Sizes(to.begin(), to.end()))
    return derivative;
  return keep(tracer.expand(derivative, to));
}

void Backward::give(Value to, V derivative) {
  if (error || !wanted.contains(to) || !isFloat(to))
    return;
  V &sum = derivatives[to];
  sum = sum.isNone() ? derivative : add(sum, derivative);
}

void Backward::throughReduce(graph::ReduceOp op, V g) {
  if (op->hasAttr(graph::kNoGradientAttr))
    return;
  Sizes sizes = graph::sizesOf(op.getSrc());
  auto kept = [&](const V &v) { // with 1 where it was reduced
    llvm::SmallVector<int64_t> dims;
    int64_t next = 0;
    for (size_t i = 0; i < sizes.size(); ++i)
      dims.push_back(llvm::is_contained(op.getAxes(), int64_t(i)) ? -1 : next++);
    return error ? V() : keep(tracer.rearrange(operand(v), dims));
  };
  // A derivative with fewer dimensions than the result repeats along them.
  V whole = g;
  if (!error && sizesOf(g).size() < graph::sizesOf(op.getResult()).size())
    whole = expanded(g, graph::sizesOf(op.getResult()));
  if (op.getKind() == ReduceKind::sum) {
    give(op.getSrc(), kept(whole));
    return;
  }
  if (op.getKind() == ReduceKind::prod) {
    // Where one factor is 0, it alone has a slope: the product of the others.
    V x = value(op.getSrc()), isZero = map(MapKind::eq, {x, number(0)});
    V zeros = where(isZero, number(1), number(0)), factors = where(isZero, number(1), x);
    if (error)
      return;
    V others = keep(tracer.reduce(ReduceKind::prod, operand(factors), op.getAxes(), true));
    V count = keep(tracer.reduce(ReduceKind::sum, operand(zeros), op.getAxes(), true));
    V ofZero = where(map(MapKind::eq, {count, number(1)}), others, number(0));
    V ofRest = where(map(MapKind::eq, {count, number(0)}), div(others, x), number(0));
    return give(op.getSrc(), mul(kept(whole), where(isZero, ofZero, ofRest)));
  }
  // Of several that are equal each has its share.
  V isIt = map(MapKind::eq, {value(op.getSrc()), kept(value(op.getResult()))});
  V ones = where(isIt, number(1), number(0));
  if (error)
    return;
  V count = keep(tracer.reduce(ReduceKind::sum, operand(ones), op.getAxes(), true));
  give(op.getSrc(), where(isIt, div(kept(whole), count), number(0)));
}

void Backward::throughRearrange(graph::RearrangeOp op, V g) {
  Sizes source = graph::sizesOf(op.getSrc());
  V whole = g;
  if (!error && sizesOf(g).size() < graph::sizesOf(op.getResult()).size())
    whole = expanded(g, graph::sizesOf(op.getResult()));
  llvm::SmallVector<int64_t> dims(source.size(), -1);
  for (auto [i, dim] : llvm::enumerate(op.getDims()))
    if (dim >= 0)
      dims[dim] = i;
  if (!error)
    give(op.getSrc(), keep(tracer.rearrange(operand(whole), dims)));
}

/// The derivative by the operand that `view` orders anew, given that by the view.
void Backward::giveOrdered(Value operand, llvm::ArrayRef<int64_t> view, V derivative) {
  llvm::SmallVector<int64_t> dims(graph::sizesOf(operand).size(), -1);
  for (auto [i, dim] : llvm::enumerate(view))
    if (dim >= 0)
      dims[dim] = int64_t(i);
  if (!error)
    give(operand, keep(tracer.rearrange(this->operand(derivative), dims)));
}

/// Scores go as the product in the order that the next one takes (passes/graph/TurnedProducts.cpp):
/// else their derivative would have other rows than they.
bool Backward::throughOrdered(graph::MatmulOp op, V g) {
  auto view = llvm::hasSingleElement(op->getUsers())
                  ? dyn_cast<graph::RearrangeOp>(*op->user_begin())
                  : graph::RearrangeOp();
  std::optional<graph::ProductOrder> order;
  if (view && graph::isOrderForNext(view) && graph::isOfSoftmaxForProduct(view.getResult()))
    order = graph::orderOf(op, view.getDims());
  if (!order)
    return false;
  Value sources[] = {op.getLhs(), op.getRhs()};
  if (order->isSwapped)
    std::swap(sources[0], sources[1]);
  V left = keep(tracer.rearrange(operand(value(sources[0])), order->left));
  V right = error ? V() : keep(tracer.rearrange(operand(value(sources[1])), order->right));
  V whole = error ? V() : keep(tracer.rearrange(operand(g), llvm::to_vector(view.getDims())));
  auto multiplied = [&](const V &x, const V &y, const V &like) {
    V product = error ? V() : keep(tracer.matmul(x, y));
    return error ? V() : narrowed(product, sizesOf(product), sizesOf(like));
  };
  if (wanted.contains(sources[0]))
    giveOrdered(sources[0], order->left, multiplied(whole, turned(right), left));
  if (wanted.contains(sources[1]))
    giveOrdered(sources[1], order->right, multiplied(turned(left), whole, right));
  return true;
}

/// The transposed matrix.
Backward::V Backward::turned(const V &v) {
  return error ? V()
               : keep(tracer
                          .callNamed("transpose",
                                     {{v, PyValue::integer(-1), PyValue::integer(-2)}, {}})
                          .value());
}

void Backward::throughMatmul(graph::MatmulOp op, V g) {
  Sizes whole = graph::sizesOf(op.getResult());
  g = expanded(g, whole);
  // Of short numbers it is multiplied as such, though it was computed with float32: products of
  // those are slow.
  Type element = op.getType().getElement();
  if (!error && graph::bytesOf(operand(g).type().getElement()) > graph::bytesOf(element))
    g = keep(tracer.cast(g, element));
  if (error || throughOrdered(op, g))
    return;
  auto to = [&](Value at, const V &left, const V &right) {
    if (error)
      return;
    V product = keep(tracer.matmul(left, right));
    if (error)
      return;
    // Dimensions in front may have been repeated.
    Sizes made = sizesOf(product), own = graph::sizesOf(at);
    give(at, narrowed(product, made, own));
  };
  if (wanted.contains(op.getLhs()))
    to(op.getLhs(), g, turned(value(op.getRhs())));
  if (!wanted.contains(op.getRhs()) || error)
    return;
  // One matrix for all products: their rows are added up as one product, of rows of all.
  Sizes left = graph::sizesOf(op.getLhs()), joined = left;
  joined.pop_back();
  bool isOne = graph::sizesOf(op.getRhs()).size() == 2 && left.size() > 2 &&
               joined == Sizes(whole.begin(), whole.end() - 1);
  V x = value(op.getLhs());
  if (isOne) {
    Size rows = graph::product(joined);
    x = keep(tracer.reshape(operand(x), {rows, left.back()}));
    g = error ? g : keep(tracer.reshape(operand(g), {rows, whole.back()}));
  }
  if (!error)
    to(op.getRhs(), turned(x), g);
}

/// Where every dimension of the result is one of the source, in order, and the others are
/// found by their index: what was not taken has no part in it.
void Backward::throughGather(graph::GatherOp op, V g) {
  Sizes source = graph::sizesOf(op.getSrc()), whole = graph::sizesOf(op.getResult());
  llvm::SmallVector<int64_t> dims(source.size(), -1); // the result's dimension of each
  size_t found = 0;
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    auto view = index.getDefiningOp<graph::RearrangeOp>();
    Value line = view ? view.getSrc() : index;
    size_t fromEnd = graph::sizesOf(index).size();
    bool isOwn = line.getDefiningOp<graph::IndexOp>() && found < whole.size() &&
                 whole.size() - fromEnd == found && whole[found] == source[i] &&
                 (!view || view.getDims()[0] == 0);
    if (isOwn)
      dims[i] = found++;
  }
  g = expanded(g, whole);
  if (found != whole.size()) {
    std::optional<Result> derivative = error ? std::nullopt : affineGradient(tracer, op, g);
    if (!derivative && !error)
      derivative = takenGradient(tracer, op, g);
    return derivative ? give(op.getSrc(), keep(std::move(*derivative))) : void();
  }
  auto spread = [&](const V &v) { // as the source's dimensions
    Sizes own = error ? Sizes() : sizesOf(v);
    llvm::SmallVector<int64_t> order;
    for (int64_t dim : dims) {
      int64_t from = dim < 0 ? -1 : dim - int64_t(whole.size() - own.size());
      order.push_back(from < 0 ? -1 : from);
    }
    return error ? V() : keep(tracer.rearrange(operand(v), order));
  };
  V derivative = spread(g);
  for (auto [i, index] : llvm::enumerate(op.getIndices())) {
    if (dims[i] >= 0)
      continue;
    llvm::SmallVector<int64_t> along(source.size() - i, -1);
    along[0] = 0;
    V place = keep(tracer.rearrange({tracer.indices(source[i]), "", false}, along));
    derivative = where(map(MapKind::eq, {place, spread(value(index))}), derivative, number(0));
  }
  give(op.getSrc(), derivative);
}

/// Each part has its own of what becomes of all.
void Backward::throughJoin(graph::JoinOp op, V g) {
  V whole = expanded(g, graph::sizesOf(op.getResult()));
  Sizes starts(op.getType().sizes().size(), Size(0));
  for (Value part : op.getParts()) {
    Sizes own = graph::sizesOf(part);
    if (!error && wanted.contains(part) && isFloat(part))
      give(part,
           keep(tracer.window(operand(whole), starts, own, /*inside=*/true, /*loose=*/false)));
    starts[op.getAxis()] = starts[op.getAxis()] + own[op.getAxis()];
  }
}

void Backward::through(Operation *op, V g) {
  if (auto map = dyn_cast<graph::MapOp>(op))
    return throughMap(map, g);
  if (auto reduce = dyn_cast<graph::ReduceOp>(op))
    return throughReduce(reduce, g);
  if (auto view = dyn_cast<graph::RearrangeOp>(op))
    return throughRearrange(view, g);
  if (auto product = dyn_cast<graph::MatmulOp>(op))
    return throughMatmul(product, g);
  if (auto gather = dyn_cast<graph::GatherOp>(op))
    return throughGather(gather, g);
  if (auto scan = dyn_cast<graph::ScanOp>(op)) {
    V whole = expanded(g, graph::sizesOf(scan.getResult()));
    if (!error && wanted.contains(scan.getSrc()) && isFloat(scan.getSrc()))
      give(scan.getSrc(), keep(scanGradient(tracer, scan, whole)));
    return;
  }
  if (isa<graph::LaunchOp>(op))
    return unsupported("kernels that are launched");
  if (auto cast = dyn_cast<graph::CastOp>(op)) {
    if (isFloat(cast.getSrc()) && !error)
      give(cast.getSrc(), keep(tracer.cast(g, cast.getSrc().getType().getElement())));
    return;
  }
  if (auto window = dyn_cast<graph::WindowOp>(op)) {
    Sizes starts;
    std::string message;
    for (Attribute start : window.getStarts())
      starts.push_back(Size(0) - *Size::parse(mlir::cast<StringAttr>(start).getValue(), message));
    V whole = expanded(g, graph::sizesOf(op->getResult(0)));
    if (!error)
      give(window.getSrc(),
           keep(tracer.window(operand(whole), starts, graph::sizesOf(window.getSrc()),
                              /*inside=*/false, /*loose=*/false)));
    return;
  }
  if (auto join = dyn_cast<graph::JoinOp>(op))
    return throughJoin(join, g);
  if (auto shape = dyn_cast<graph::ReshapeOp>(op)) {
    V whole = expanded(g, graph::sizesOf(op->getResult(0)));
    if (!error)
      give(shape.getSrc(), keep(tracer.reshape(operand(whole), graph::sizesOf(shape.getSrc()))));
  }
}

Result Backward::run(Value result, ArrayRef<Value> targets, Operation *first) {
  Block *block = tracer.builder.getInsertionBlock();
  Operation *end = block->empty() ? nullptr : &block->back();
  llvm::SmallVector<Operation *> ops;
  wanted.insert(targets.begin(), targets.end());
  for (auto it = first ? std::next(first->getIterator()) : block->begin(); it != block->end();
       ++it) {
    ops.push_back(&*it);
    if (!tracer.withoutGradient.contains(&*it) &&
        llvm::any_of(it->getOperands(), [&](Value v) { return wanted.contains(v); }))
      wanted.insert(it->result_begin(), it->result_end());
  }
  derivatives[result] = number(1);
  for (Operation *op : llvm::reverse(ops)) {
    if (isa<graph::LaunchOp>(op)) {
      for (Value made : op->getResults())
        if (derivatives.count(made))
          through(op, {});
      if (error)
        return std::move(error);
      continue;
    }
    auto found = derivatives.find(op->getResult(0));
    if (found == derivatives.end() || llvm::is_contained(targets, op->getResult(0)) ||
        tracer.withoutGradient.contains(op))
      continue;
    V g = found->second;
    through(op, g);
    if (error)
      return std::move(error);
  }
  std::vector<PyValue> out;
  for (Value target : targets) {
    V derivative = derivatives.count(target) ? derivatives[target] : number(0);
    derivative = expanded(derivative, graph::sizesOf(target));
    Type element = cast<GraphTensorType>(target.getType()).getElement();
    out.push_back(error ? V() : keep(tracer.cast(derivative, element)));
  }
  if (error)
    return std::move(error);
  for (auto it = end ? std::next(end->getIterator()) : block->begin(); it != block->end(); ++it)
    tracer.derived.insert(&*it);
  return PyValue::tuple(std::move(out));
}
