//===- KnownTurns.cpp - loops whose turns are known without a counter -----===//
//
// The scalars that the condition is computed from are followed through the turns. Where they are
// constants in each of them, so is the number of turns, and nothing is left to ask: in
//
//   left = 101
//   while left > 1:                  middle of the whole, of a half, ... (seven times)
//     ...; left = (left + 1) / 2
//
// a turn can begin before another one's branch is decided, and the first ones work on constants.
//
//===----------------------------------------------------------------------===//
#include "passes/tile/KnownTurns.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Reach.h"

using namespace mlir;

namespace {

using Known = DenseMap<Value, Attribute>;

Attribute lookUp(const Known &known, Value v) {
  Attribute constant;
  if (matchPattern(v, m_Constant(&constant)))
    return constant;
  return known.lookup(v);
}

/// What `block` computes from constants and `known` alone, beside it.
void follow(Block &block, Known &known) {
  for (Operation &op : block.without_terminator()) {
    if (op.getNumResults() != 1 || op.getNumRegions() || !isMemoryEffectFree(&op) ||
        !op.getResult(0).getType().isIntOrIndex())
      continue;
    SmallVector<Attribute> operands;
    for (Value v : op.getOperands())
      operands.push_back(lookUp(known, v));
    SmallVector<OpFoldResult> folded;
    if (llvm::is_contained(operands, Attribute()) || failed(op.fold(operands, folded)) ||
        folded.size() != 1)
      continue;
    Attribute result = dyn_cast<Attribute>(folded[0]);
    if (Value same = dyn_cast<Value>(folded[0]))
      result = lookUp(known, same);
    if (result)
      known[op.getResult(0)] = result;
  }
}

/// What `from` is known to be, for `to`.
void handOn(Known &known, ValueRange from, ValueRange to) {
  SmallVector<Attribute> values;
  for (Value v : from)
    values.push_back(lookUp(known, v));
  known.clear();
  for (auto [value, v] : llvm::zip_equal(values, to))
    if (value)
      known[v] = value;
}

/// How often the loop turns, if that is known.
std::optional<int64_t> turnsOf(scf::WhileOp loop) {
  Known known;
  handOn(known, loop.getInits(), loop.getBeforeArguments());
  for (int64_t turns = 0; turns <= tile::reach::kTurns; ++turns) {
    follow(*loop.getBeforeBody(), known);
    auto goesOn =
        dyn_cast_or_null<IntegerAttr>(lookUp(known, loop.getConditionOp().getCondition()));
    if (!goesOn)
      return std::nullopt;
    if (goesOn.getValue().isZero())
      return turns;
    handOn(known, loop.getConditionOp().getArgs(), loop.getAfterArguments());
    follow(*loop.getAfterBody(), known);
    handOn(known, loop.getYieldOp().getResults(), loop.getBeforeArguments());
  }
  return std::nullopt;
}

/// Copies a block's operations, with `values` for its arguments; returns what `results` are.
SmallVector<Value> copy(OpBuilder &b, Block &block, ValueRange values, ValueRange results) {
  IRMapping map;
  map.map(block.getArguments(), values);
  for (Operation &op : block.without_terminator())
    b.clone(op, map);
  return llvm::map_to_vector(results, [&](Value v) { return map.lookupOrDefault(v); });
}

} // namespace

bool tile::unrollKnownTurns(scf::WhileOp loop) {
  std::optional<int64_t> turns = turnsOf(loop);
  int64_t operations = 0;
  loop.walk([&](Operation *) { ++operations; });
  if (!turns || *turns * operations > tile::reach::kTurnsOperations)
    return false;
  OpBuilder b(loop);
  SmallVector<Value> values(loop.getInits());
  for (int64_t turn = 0;; ++turn) {
    values = copy(b, *loop.getBeforeBody(), values, loop.getConditionOp().getArgs());
    if (turn == *turns)
      break;
    values = copy(b, *loop.getAfterBody(), values, loop.getYieldOp().getResults());
  }
  loop.replaceAllUsesWith(values);
  loop.erase();
  return true;
}
