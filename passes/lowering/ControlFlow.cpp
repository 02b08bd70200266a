//===- ControlFlow.cpp - structured loops and branches to blocks ----------===//
//
//   scf.for  ->  header(iv, carried...): iv < ub ? body : exit
//            or  lb < ub ? body(lb, ...) : exit;  latch: ub - iv > step ? body(iv + step) : exit
//   scf.while -> before(args...): cond ? after(forwarded...) : exit(forwarded...)
//   scf.if   ->  cond ? then : else; merge(results...)
//
// A block that is carried becomes one block argument for each register.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/ControlFlow.h"
#include "passes/lowering/LoopTests.h"

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
         llvm::all_of(
             arg.getUses(),
             [](OpOperand &use) {
               return isa<cta::WarpgroupDotOp>(use.getOwner()) && use.getOperandNumber() == 0;
             });
}

/// What goes round for a variable of a loop, and what that is when it has arrived.
static Registers goingRound(Instructions &in, BlockArgument arg, const Registers &elements) {
  return goesRoundInWords(arg) ? Registers(in.pack(elements, 32)) : elements;
}
static Registers arrived(Instructions &in, BlockArgument arg, Type element, const Registers &regs) {
  if (!goesRoundInWords(arg))
    return regs;
  unsigned perWord = 32 / element.getIntOrFloatBitWidth();
  return Registers(in.unpack(regs, element, unsigned(regs.size()) * perWord));
}

/// Whether a loop that tests at its end goes on; `next` is what its counter grows to, `last` is
/// end - step.
static Value goesOn(OpBuilder &b, Location loc, LoopTest test, Value iv, Value next, Value upper,
                    Value step, Value last) {
  if (test == LoopTest::Grown)
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, next, upper);
  if (test == LoopTest::BeforeLast)
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::slt, iv, last);
  // Without a sign, the distance fits the type.
  Value left = LLVM::SubOp::create(b, loc, upper, iv);
  return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ugt, left, step);
}

/// What a loop goes round with of `values`.
static SmallVector<Registers> carriedOf(Instructions &in,
                                        llvm::function_ref<const Registers &(Value)> lookup,
                                        scf::ForOp op, ValueRange values) {
  SmallVector<Registers> all;
  for (auto [arg, v] : llvm::zip_equal(op.getRegionIterArgs(), values))
    all.push_back(goingRound(in, arg, lookup(v)));
  return all;
}

/// Arguments of `block` for registers of the types of `like`.
static SmallVector<Registers> addArguments(Block *block, ArrayRef<Registers> like, Location loc) {
  SmallVector<Registers> all;
  for (const Registers &one : like) {
    Registers &own = all.emplace_back();
    for (Value r : one)
      own.push_back(block->addArgument(r.getType(), loc));
  }
  return all;
}

LogicalResult ControlFlow::lower(scf::ForOp op) {
  Location loc = op.getLoc();
  auto compare = [&](LLVM::ICmpPredicate predicate, Value l, Value r) -> Value {
    return LLVM::ICmpOp::create(b, loc, predicate, l, r);
  };
  LoopTest test = testOf(op);
  bool atEnd = test != LoopTest::Signed && test != LoopTest::Unsigned;
  Value lower = core.getScalar(op.getLowerBound()), upper = core.getScalar(op.getUpperBound()),
        step = core.getScalar(op.getStep());
  // Wrong only if the end is not above 0: then there is no turn.
  Value last =
      test == LoopTest::BeforeLast ? LLVM::SubOp::create(b, loc, upper, step).getResult() : Value();
  auto lookup = [&](Value v) -> const Registers & { return core.get(v); };
  SmallVector<Registers> starts = carriedOf(in, lookup, op, op.getInitArgs());
  SmallVector<Value> init = {lower};
  for (const Registers &start : starts)
    llvm::append_range(init, start);

  Block *header = core.newBlock(), *body = atEnd ? header : core.newBlock(),
        *exit = core.newBlock();
  if (atEnd)
    LLVM::CondBrOp::create(b, loc, compare(LLVM::ICmpPredicate::slt, lower, upper), header, init,
                           exit, ArrayRef(init).drop_front());
  else
    LLVM::BrOp::create(b, loc, init, header);
  Value iv = header->addArgument(lower.getType(), loc);
  SmallVector<Registers> carried = addArguments(header, starts, loc);
  if (!atEnd) {
    core.enterBlock(header);
    auto less = test == LoopTest::Unsigned ? LLVM::ICmpPredicate::ult : LLVM::ICmpPredicate::slt;
    LLVM::CondBrOp::create(b, loc, compare(less, iv, upper), body, exit);
  }

  core.enterBlock(body);
  core.set(op.getInductionVar(), {iv});
  for (auto [arg, regs] : llvm::zip(op.getRegionIterArgs(), carried))
    core.set(arg, arrived(in, arg, core.llvmType(getElementType(arg.getType())), regs));
  if (failed(core.lowerBlock(*op.getBody())))
    return failure();
  in.setLoc(loc);
  using Flags = LLVM::IntegerOverflowFlags;
  Flags flags = test == LoopTest::Grown ? Flags::nuw : atEnd ? Flags::nsw : Flags::none;
  SmallVector<Value> next = {LLVM::AddOp::create(b, loc, iv, step, flags)};
  for (const Registers &regs :
       carriedOf(in, lookup, op, op.getBody()->getTerminator()->getOperands()))
    llvm::append_range(next, regs);
  if (atEnd) {
    LLVM::CondBrOp::create(b, loc, goesOn(b, loc, test, iv, next.front(), upper, step, last),
                           header, next, exit, ArrayRef(next).drop_front());
    carried = addArguments(exit, starts, loc);
  } else {
    LLVM::BrOp::create(b, loc, next, header);
  }

  core.enterBlock(exit);
  for (auto [result, arg, regs] : llvm::zip_equal(op.getResults(), op.getRegionIterArgs(), carried))
    core.set(result, arrived(in, arg, core.llvmType(getElementType(arg.getType())), regs));
  return success();
}

LogicalResult ControlFlow::lower(scf::WhileOp op) {
  Location loc = op.getLoc();
  auto lookup = [&](Value v) -> const Registers & { return core.get(v); };
  Block *before = core.newBlock();
  LLVM::BrOp::create(b, loc, flatten(lookup, op.getInits()), before);
  SmallVector<Registers> carried = addArguments(before, loc, lookup, op.getInits());
  core.enterBlock(before);
  for (auto [arg, regs] : llvm::zip(op.getBeforeArguments(), carried))
    core.set(arg, regs);
  if (failed(core.lowerBlock(*op.getBeforeBody())))
    return failure();
  in.setLoc(loc);
  auto condition = op.getConditionOp();
  SmallVector<Value> forwarded = flatten(lookup, condition.getArgs());
  Block *after = core.newBlock(), *exit = core.newBlock();
  SmallVector<Registers> afterArgs = addArguments(after, loc, lookup, condition.getArgs());
  SmallVector<Registers> results = addArguments(exit, loc, lookup, condition.getArgs());
  LLVM::CondBrOp::create(b, loc, core.getScalar(condition.getCondition()), after, forwarded, exit,
                         forwarded);
  core.enterBlock(after);
  for (auto [arg, regs] : llvm::zip(op.getAfterArguments(), afterArgs))
    core.set(arg, regs);
  if (failed(core.lowerBlock(*op.getAfterBody())))
    return failure();
  in.setLoc(loc);
  LLVM::BrOp::create(b, loc, flatten(lookup, op.getYieldOp().getOperands()), before);
  core.enterBlock(exit);
  for (auto [result, regs] : llvm::zip(op.getResults(), results))
    core.set(result, regs);
  return success();
}

LogicalResult ControlFlow::lower(scf::IfOp op) {
  Location loc = op.getLoc();
  auto lookup = [&](Value v) -> const Registers & { return core.get(v); };
  Value condition = core.getScalar(op.getCondition());
  Block *thenBlock = core.newBlock(), *elseBlock = core.newBlock(), *merge = core.newBlock();
  LLVM::CondBrOp::create(b, loc, condition, thenBlock, elseBlock);

  core.enterBlock(thenBlock);
  if (failed(core.lowerBlock(*op.thenBlock())))
    return failure();
  in.setLoc(loc);
  ValueRange thenValues = op.thenYield().getOperands();
  LLVM::BrOp::create(b, loc, flatten(lookup, thenValues), merge);
  SmallVector<Registers> results = addArguments(merge, loc, lookup, thenValues);

  core.enterBlock(elseBlock);
  SmallVector<Value> elseValues;
  if (op.elseBlock()) {
    if (failed(core.lowerBlock(*op.elseBlock())))
      return failure();
    in.setLoc(loc);
    elseValues = flatten(lookup, op.elseYield().getOperands());
  }
  LLVM::BrOp::create(b, loc, elseValues, merge);

  core.enterBlock(merge);
  for (auto [result, regs] : llvm::zip(op.getResults(), results))
    core.set(result, regs);
  return success();
}
