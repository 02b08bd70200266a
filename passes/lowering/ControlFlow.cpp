//===- ControlFlow.cpp - structured loops and branches to blocks ----------===//
//
//   scf.for  ->  header(iv, carried...): iv < ub ? body : exit
//   scf.while -> before(args...): cond ? after(forwarded...) : exit(forwarded...)
//   scf.if   ->  cond ? then : else; merge(results...)
//
// A block that is carried becomes one block argument for each register.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Lowering.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

static SmallVector<Value> flatten(llvm::function_ref<const Registers &(Value)> get, ValueRange vs) {
  SmallVector<Value> flat;
  for (Value v : vs)
    llvm::append_range(flat, get(v));
  return flat;
}

/// Adds one argument for each register of `like` and returns them by value.
static SmallVector<Registers> addArguments(Block *block, Location loc,
                                           llvm::function_ref<const Registers &(Value)> get,
                                           ValueRange like) {
  SmallVector<Registers> all;
  for (Value v : like) {
    Registers regs;
    for (Value r : get(v))
      regs.push_back(block->addArgument(r.getType(), loc));
    all.push_back(std::move(regs));
  }
  return all;
}

static Block *newBlock(OpBuilder &b) {
  Block *block = new Block;
  b.getInsertionBlock()->getParent()->push_back(block);
  return block;
}

LogicalResult Lowering::lowerFor(scf::ForOp op) {
  Location loc = op.getLoc();
  auto lookup = [&](Value v) -> const Registers & { return get(v); };
  Value lower = getScalar(op.getLowerBound()), upper = getScalar(op.getUpperBound()),
        step = getScalar(op.getStep());
  SmallVector<Value> init = {lower};
  llvm::append_range(init, flatten(lookup, op.getInitArgs()));

  Block *header = newBlock(b), *body = newBlock(b), *exit = newBlock(b);
  LLVM::BrOp::create(b, loc, init, header);
  Value iv = header->addArgument(lower.getType(), loc);
  SmallVector<Registers> carried = addArguments(header, loc, lookup, op.getInitArgs());
  enterBlock(header);
  Value more = LLVM::ICmpOp::create(
      b, loc, op.getUnsignedCmp() ? LLVM::ICmpPredicate::ult : LLVM::ICmpPredicate::slt, iv, upper);
  LLVM::CondBrOp::create(b, loc, more, body, exit);

  enterBlock(body);
  set(op.getInductionVar(), {iv});
  for (auto [arg, regs] : llvm::zip(op.getRegionIterArgs(), carried))
    set(arg, regs);
  if (failed(lowerBlock(*op.getBody())))
    return failure();
  in.setLoc(loc);
  SmallVector<Value> next = {LLVM::AddOp::create(b, loc, iv, step)};
  llvm::append_range(next, flatten(lookup, op.getBody()->getTerminator()->getOperands()));
  LLVM::BrOp::create(b, loc, next, header);

  enterBlock(exit);
  for (auto [result, regs] : llvm::zip(op.getResults(), carried))
    set(result, regs);
  return success();
}

LogicalResult Lowering::lowerWhile(scf::WhileOp op) {
  Location loc = op.getLoc();
  auto lookup = [&](Value v) -> const Registers & { return get(v); };
  Block *before = newBlock(b);
  LLVM::BrOp::create(b, loc, flatten(lookup, op.getInits()), before);
  SmallVector<Registers> carried = addArguments(before, loc, lookup, op.getInits());
  enterBlock(before);
  for (auto [arg, regs] : llvm::zip(op.getBeforeArguments(), carried))
    set(arg, regs);
  if (failed(lowerBlock(*op.getBeforeBody())))
    return failure();
  in.setLoc(loc);
  auto condition = op.getConditionOp();
  SmallVector<Value> forwarded = flatten(lookup, condition.getArgs());
  Block *after = newBlock(b), *exit = newBlock(b);
  SmallVector<Registers> afterArgs = addArguments(after, loc, lookup, condition.getArgs());
  SmallVector<Registers> results = addArguments(exit, loc, lookup, condition.getArgs());
  LLVM::CondBrOp::create(b, loc, getScalar(condition.getCondition()), after, forwarded, exit,
                         forwarded);
  enterBlock(after);
  for (auto [arg, regs] : llvm::zip(op.getAfterArguments(), afterArgs))
    set(arg, regs);
  if (failed(lowerBlock(*op.getAfterBody())))
    return failure();
  in.setLoc(loc);
  LLVM::BrOp::create(b, loc, flatten(lookup, op.getYieldOp().getOperands()), before);
  enterBlock(exit);
  for (auto [result, regs] : llvm::zip(op.getResults(), results))
    set(result, regs);
  return success();
}

LogicalResult Lowering::lowerIf(scf::IfOp op) {
  Location loc = op.getLoc();
  auto lookup = [&](Value v) -> const Registers & { return get(v); };
  Value condition = getScalar(op.getCondition());
  Block *thenBlock = newBlock(b), *elseBlock = newBlock(b), *merge = newBlock(b);
  LLVM::CondBrOp::create(b, loc, condition, thenBlock, elseBlock);

  enterBlock(thenBlock);
  if (failed(lowerBlock(*op.thenBlock())))
    return failure();
  in.setLoc(loc);
  ValueRange thenValues = op.thenYield().getOperands();
  LLVM::BrOp::create(b, loc, flatten(lookup, thenValues), merge);
  SmallVector<Registers> results = addArguments(merge, loc, lookup, thenValues);

  enterBlock(elseBlock);
  SmallVector<Value> elseValues;
  if (op.elseBlock()) {
    if (failed(lowerBlock(*op.elseBlock())))
      return failure();
    in.setLoc(loc);
    elseValues = flatten(lookup, op.elseYield().getOperands());
  }
  LLVM::BrOp::create(b, loc, elseValues, merge);

  enterBlock(merge);
  for (auto [result, regs] : llvm::zip(op.getResults(), results))
    set(result, regs);
  return success();
}
