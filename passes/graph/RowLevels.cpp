//===- RowLevels.cpp - in how many passes rows are gone through ------------===//
#include "passes/graph/RowLevels.h"
#include "ir/graph/Attributes.h"
#include "passes/graph/Sources.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;
using Form = KernelShape::Form;

/// How many reductions must be finished before the value can be known.
unsigned RowLevels::of(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return 0;
  if (auto found = known.find(value); found != known.end())
    return found->second;
  unsigned level = 0;
  for (Value operand : op->getOperands())
    level = std::max(level, of(operand));
  auto reduce = dyn_cast<graph::ReduceOp>(op);
  bool reduces = reduce && formOfSource(reduce).column && !carriedMaximum(reduce);
  return known[value] = level + reduces;
}

/// The maximum that a value is relative to: the value is so many times exp(x - maximum).
graph::ReduceOp RowLevels::maximumOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto view = dyn_cast_or_null<RearrangeOp>(op))
    return maximumOf(view.getSrc());
  auto map = dyn_cast_or_null<MapOp>(op);
  if (!map)
    return {};
  if (map.getKind() == MapKind::mul || map.getKind() == MapKind::div) {
    graph::ReduceOp left = maximumOf(map.getOperand(0));
    bool byOther = left && !llvm::is_contained(usersOf(left.getResult()), map.getOperand(1));
    return byOther ? left : graph::ReduceOp();
  }
  auto apart = map.getKind() == MapKind::exp ? map.getOperand(0).getDefiningOp<MapOp>() : MapOp();
  if (!apart || apart.getKind() != MapKind::sub)
    return {};
  Value top = apart.getOperand(1);
  while (auto view = top.getDefiningOp<RearrangeOp>())
    top = view.getSrc();
  auto maximum = top.getDefiningOp<graph::ReduceOp>();
  bool isOnly = maximum && maximum.getKind() == ReduceKind::max && formOfSource(maximum).column &&
                !llvm::is_contained(usersOf(top), apart.getOperand(0));
  return isOnly ? maximum : graph::ReduceOp();
}

/// All operations' results that need a value.
SmallVector<Value> RowLevels::usersOf(Value value) {
  llvm::SmallSetVector<Value, 16> users;
  users.insert(value);
  for (Operation &inner : op.getBody().front().without_terminator())
    if (llvm::any_of(inner.getOperands(), [&](Value v) { return users.contains(v); }))
      users.insert(inner.getResult(0));
  return users.takeVector();
}

/// The maximum beside which a sum can be added up in one pass: when a larger one is found,
/// the sum so far is scaled. Nothing else that the sum needs may be known later than what
/// the maximum needs.
graph::ReduceOp RowLevels::carriedMaximum(graph::ReduceOp sum) {
  if (sum.getKind() != ReduceKind::sum || !isa<FloatType>(sum.getType().getElement()))
    return {};
  graph::ReduceOp maximum = maximumOf(sum.getSrc());
  if (!maximum)
    return {};
  SmallVector<Value> users = usersOf(maximum.getResult());
  unsigned level = of(maximum.getResult());
  SmallVector<Value> work = {sum.getSrc()};
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (value == maximum.getResult())
      continue;
    if (llvm::is_contained(users, value))
      llvm::append_range(work, value.getDefiningOp()->getOperands());
    else if (of(value) >= level)
      return {};
  }
  return maximum;
}

Form RowLevels::formOfSource(graph::ReduceOp reduce) {
  auto load = shape.loadOf.find(&reduce.getSrcMutable());
  if (load == shape.loadOf.end())
    return shape.forms.lookup(reduce.getSrc());
  return {shape.loads[load->second].hasRow, shape.loads[load->second].hasColumn};
}

unsigned RowLevels::last() {
  unsigned most = 0;
  for (Operation &inner : op.getBody().front().without_terminator())
    most = std::max(most, of(inner.getResult(0)));
  return most;
}

bool RowLevels::reads(Value value, BlockArgument array) {
  bool found = false;
  visitSources(value, [&](Value source) {
    found |= source == array;
    auto reduce = source.getDefiningOp<graph::ReduceOp>();
    return !reduce || !formOfSource(reduce).column;
  });
  return found;
}

std::optional<unsigned> RowLevels::findLastPass() {
  Block &body = op.getBody().front();
  SmallVector<std::pair<unsigned, Value>> wanted; ///< by pass
  for (graph::ReduceOp reduce : body.getOps<graph::ReduceOp>())
    if (formOfSource(reduce).column)
      wanted.push_back({of(reduce.getResult()) - 1, reduce.getSrc()});
  SmallVector<Value> results;
  for (Value result : body.getTerminator()->getOperands())
    if (shape.forms.lookup(result).column)
      results.push_back(result);
  for (Value result : results)
    wanted.push_back({of(result), result});
  auto isReadBehind = [&](Value result, BlockArgument array) {
    return llvm::any_of(wanted, [&](const auto &one) {
      return one.first > of(result) && reads(one.second, array);
    });
  };
  auto places = op->getAttrOfType<DenseI64ArrayAttr>(kInPlaceAttr);
  bool isHazard = false;
  for (size_t i = 0; places && i + 1 < size_t(places.size()); i += 2) {
    Value result = body.getTerminator()->getOperand(unsigned(places[i]));
    isHazard |= llvm::is_contained(results, result) &&
                isReadBehind(result, body.getArgument(unsigned(places[i + 1])));
  }
  if (!isHazard)
    return std::nullopt;
  return llvm::max_element(wanted, llvm::less_first())->first;
}

unsigned RowLevels::storedIn(Value result) {
  if (!hasLooked)
    lastPass = findLastPass();
  hasLooked = true;
  return lastPass.value_or(of(result));
}
