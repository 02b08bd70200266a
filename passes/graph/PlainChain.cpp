//===- PlainChain.cpp - products of what others give, without a softmax -----===//
#include "passes/graph/Chain.h"
#include "passes/graph/Sources.h"
#include "passes/graph/Space.h"

using namespace mlir;
using namespace tile::graph;

using Ops = SmallVector<Operation *>;

/// Whether the dimensions in front of the last two are those of `whole`, some of which may repeat,
/// but not all: then it is no array that all products have in common, as weights are.
static bool hasBatches(Value value, ArrayRef<Size> whole) {
  Sizes own = typeOf(value).sizes();
  if (own.size() != whole.size() || own.size() < 3)
    return false;
  bool some = false;
  for (auto [mine, size] : llvm::zip(ArrayRef(own).drop_back(2), whole.drop_back(2)))
    some |= mine == size && !size.isConstant(1);
  return some;
}

std::optional<Chain> tile::graph::plainChainOf(MatmulOp second) {
  Sizes of = typeOf(second.getLhs()).sizes(), whole = second.getType().sizes();
  auto isF32 = [](MatmulOp op) { return computeType(op.getType().getElement()).isF32(); };
  auto isFirst = [&](MatmulOp op) {
    return isF32(op) && op.getType().sizes() == of && hasBatches(op.getLhs(), whole) &&
           hasBatches(op.getRhs(), whole);
  };
  if (!isF32(second) || of.size() != whole.size() || !hasBatches(second.getLhs(), whole) ||
      !hasBatches(second.getRhs(), whole))
    return std::nullopt;
  Chain chain;
  chain.second = second;
  chain.scores = second.getLhs();
  visitSources(chain.scores, [&](Value source) {
    if (typeOf(source).sizes() != of)
      return false;
    Operation *op = source.getDefiningOp();
    if (auto first = dyn_cast_or_null<MatmulOp>(op))
      chain.firsts.push_back(first);
    return isa_and_nonnull<MapOp, CastOp>(op);
  });
  if (!llvm::all_of(chain.firsts, isFirst))
    return std::nullopt;
  llvm::sort(chain.firsts, [](MatmulOp a, MatmulOp b) { return a->isBeforeInBlock(b); });
  return chain.firsts.empty() || chain.firsts.size() > kMostFirsts ? std::nullopt
                                                                   : std::optional(chain);
}

bool tile::graph::isOneKernel(MatmulOp second) {
  std::optional<Chain> chain = findChain(second);
  std::string reason;
  Ops ops = chain ? operationsOf(*chain) : Ops();
  return chain && !chain->hasSoftmax() && ops.back() == second && findSpace(ops, reason);
}

void tile::graph::chainPlainly(MatmulOp second) {
  if (second->hasAttr(kUnchainedAttr) || findChain(second))
    return;
  second->setAttr(kChainedAttr, UnitAttr::get(second.getContext()));
  if (!isOneKernel(second))
    second->removeAttr(kChainedAttr);
}
