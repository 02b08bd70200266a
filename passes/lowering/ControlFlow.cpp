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

/// Whether a variable of a loop is nothing but the left operand of warpgroup products: it then goes
/// round as the words that they read. Elements narrower than a register would take one each.
static bool goesRoundInWords(BlockArgument arg) {
  auto type = dyn_cast<RankedTensorType>(arg.getType());
  return type && getElementBytes(type.getElementType()) < 4 && !arg.use_empty() &&
         llvm::all_of(arg.getUses(), [](OpOperand &use) {
           return isa<cta::WarpgroupDotOp>(use.getOwner()) && use.getOperandNumber() == 0;
         });
}

static Block *newBlock(OpBuilder &b) {
  Block *block = new Block;
  b.getInsertionBlock()->getParent()->push_back(block);
  return block;
}

LogicalResult Lowering::lowerFor(scf::ForOp op) {
  Location loc = op.getLoc();
  Value lower = getScalar(op.getLowerBound()), upper = getScalar(op.getUpperBound()),
        step = getScalar(op.getStep());
  // What goes round for each variable, and what that is when it arrives.
  auto carriedOf = [&](ValueRange values) {
    SmallVector<Registers> all;
    for (auto [arg, v] : llvm::zip_equal(op.getRegionIterArgs(), values))
      all.push_back(goesRoundInWords(arg) ? Registers(in.pack(get(v), 32)) : get(v));
    return all;
  };
  auto elementsOf = [&](BlockArgument arg, const Registers &carried) {
    if (!goesRoundInWords(arg))
      return carried;
    Type element = llvmType(getElementType(arg.getType()));
    unsigned perWord = 32 / element.getIntOrFloatBitWidth();
    return Registers(in.unpack(carried, element, unsigned(carried.size()) * perWord));
  };
  SmallVector<Value> init = {lower};
  SmallVector<Registers> starts = carriedOf(op.getInitArgs());
  for (const Registers &start : starts)
    llvm::append_range(init, start);

  Block *header = newBlock(b), *body = newBlock(b), *exit = newBlock(b);
  LLVM::BrOp::create(b, loc, init, header);
  Value iv = header->addArgument(lower.getType(), loc);
  SmallVector<Registers> carried;
  for (const Registers &start : starts) {
    Registers &own = carried.emplace_back();
    for (Value r : start)
      own.push_back(header->addArgument(r.getType(), loc));
  }
  enterBlock(header);
  Value more = LLVM::ICmpOp::create(
      b, loc, op.getUnsignedCmp() ? LLVM::ICmpPredicate::ult : LLVM::ICmpPredicate::slt, iv, upper);
  LLVM::CondBrOp::create(b, loc, more, body, exit);

  enterBlock(body);
  set(op.getInductionVar(), {iv});
  for (auto [arg, regs] : llvm::zip(op.getRegionIterArgs(), carried))
    set(arg, elementsOf(arg, regs));
  if (failed(lowerBlock(*op.getBody())))
    return failure();
  in.setLoc(loc);
  SmallVector<Value> next = {LLVM::AddOp::create(b, loc, iv, step)};
  for (const Registers &regs : carriedOf(op.getBody()->getTerminator()->getOperands()))
    llvm::append_range(next, regs);
  LLVM::BrOp::create(b, loc, next, header);

  enterBlock(exit);
  for (auto [result, arg, regs] :
       llvm::zip_equal(op.getResults(), op.getRegionIterArgs(), carried))
    set(result, elementsOf(arg, regs));
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
