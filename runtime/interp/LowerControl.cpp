//===- LowerControl.cpp - loops, branches and calls -----------------------===//
//
// Structured control flow becomes jumps:
//
//   for:    count = trips(...)         while:  before = init
//           carried = init             L:      <before region>
//     L:    if count == 0 goto E               if !condition goto E
//           <body>                             <after region>
//           carried = yielded                  before = yielded
//           iv += step; --count                loop back to L
//           goto L                     E:
//     E:
//
// Calls are expanded in place. Plain branches between blocks are jumps as well;
// values that cross blocks then keep their register for the whole function.
//
//===----------------------------------------------------------------------===//
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "runtime/interp/Lowering.h"
#include "text/Format.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tile;
using namespace tile::interp;

//===----------------------------------------------------------------------===//
// Moves and jumps
//===----------------------------------------------------------------------===//

/// Copies as if all at once: where a source is the destination of an earlier
/// copy, it is saved first.
void Lowering::copyValues(ValueRange from, ArrayRef<RegId> to) {
  SmallVector<RegId> sources;
  for (Value value : from)
    sources.push_back(use(value));
  copyDoubts(from, sources, to);
  auto copy = [&](unsigned k, RegId dst, RegId src) {
    Shape shape = *describe(from[k].getType());
    emit(copyKernel(shape.bytes()), shape.count, dst, src);
  };
  for (unsigned k = 1; k < from.size(); ++k) {
    if (!llvm::is_contained(to.take_front(k), sources[k]))
      continue;
    RegId saved = makeRegister(registers[sources[k]].bytes);
    copy(k, saved, sources[k]);
    sources[k] = saved;
  }
  for (unsigned k = 0; k < from.size(); ++k)
    if (sources[k] != to[k])
      copy(k, to[k], sources[k]);
}

/// Returns the position, to be given its target later.
uint32_t Lowering::emitJump(Control control, RegId condition) {
  uint32_t at = here();
  emit(nullptr, 1, kNone, condition).control = control;
  return at;
}

void Lowering::branchTo(Block *block, ValueRange operands) {
  SmallVector<RegId> arguments;
  for (BlockArgument argument : block->getArguments())
    arguments.push_back(values[argument]);
  copyValues(operands, arguments);
  auto start = blockStart.find(block);
  bool backward = start != blockStart.end() && start->second <= here();
  blockJumps.push_back({emitJump(backward ? Control::LoopBack : Control::Jump), block});
}

//===----------------------------------------------------------------------===//
// Blocks and operations
//===----------------------------------------------------------------------===//

bool Lowering::lowerBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!lowerOp(&op))
      return false;
  current = block.getTerminator();
  return true;
}

/// A whole function body: one block, or several with branches between them.
bool Lowering::lowerBody(Region &region) {
  if (region.hasOneBlock()) {
    Counted body(*this);
    return lowerBlock(region.front()) && lowerReturn(region.front().getTerminator());
  }
  for (Block &block : llvm::drop_begin(region)) {
    for (BlockArgument argument : block.getArguments()) {
      if (!describe(argument.getType()))
        return refuse(block.getParentOp(), "a block argument of this type is not supported");
      RegId reg = define(argument);
      registers[reg].pinned = true;
      carryDoubt(argument, reg);
    }
  }
  for (Block &block : region) {
    blockStart[&block] = here();
    Counted counted(*this);
    if (!lowerBlock(block) || !lowerBranch(block.getTerminator()))
      return false;
    // What other blocks read must not share memory with anything.
    auto crosses = [&](Value value) {
      return llvm::any_of(value.getUsers(), [&](Operation *user) {
        return region.findAncestorBlockInRegion(*user->getBlock()) != &block;
      });
    };
    auto pin = [&](Value value) {
      if (auto it = values.find(value); it != values.end() && crosses(value))
        registers[it->second].pinned = true;
    };
    for (BlockArgument argument : block.getArguments())
      pin(argument);
    for (Operation &op : block)
      for (Value result : op.getResults())
        pin(result);
  }
  for (auto [jump, block] : blockJumps)
    if (block->getParent() == &region)
      (*code)[jump].target = blockStart[block];
  return true;
}

bool Lowering::lowerBranch(Operation *op) {
  current = op;
  if (auto branch = dyn_cast<cf::BranchOp>(op)) {
    branchTo(branch.getDest(), branch.getDestOperands());
    return true;
  }
  if (auto branch = dyn_cast<cf::CondBranchOp>(op)) {
    reportDoubt(branch.getCondition());
    uint32_t otherwise = emitJump(Control::JumpIfFalse, use(branch.getCondition()));
    branchTo(branch.getTrueDest(), branch.getTrueDestOperands());
    (*code)[otherwise].target = here();
    branchTo(branch.getFalseDest(), branch.getFalseDestOperands());
    return true;
  }
  return lowerReturn(op);
}

bool Lowering::lowerReturn(Operation *op) {
  current = op;
  if (isa<ub::UnreachableOp>(op)) {
    emit(nullptr, 1, kNone).control = Control::Return;
    return true;
  }
  auto ret = dyn_cast<func::ReturnOp>(op);
  if (!ret)
    return refuse(op, "this terminator is not supported");
  Activation &activation = activations.back();
  copyValues(ret.getOperands(), activation.results);
  activation.returns.push_back(emitJump(Control::Jump));
  return true;
}

bool Lowering::lowerOp(Operation *op) {
  llvm::SaveAndRestore<Operation *> restore(current, op);
  for (Value result : op->getResults()) {
    if (!describe(result.getType())) {
      std::string type;
      llvm::raw_string_ostream(type) << result.getType();
      return refuse(op, formatted("values of type {} are not supported", type));
    }
    if (combiner && isa<RankedTensorType>(result.getType()))
      return refuse(op, "blocks inside of a combiner are not supported");
  }
  using Handler = bool (Lowering::*)(Operation *);
  static const llvm::StringMap<Handler> handlers = {
      {"scf.for", &Lowering::lowerFor},
      {"scf.while", &Lowering::lowerWhile},
      {"scf.if", &Lowering::lowerIf},
      {"scf.execute_region", &Lowering::lowerExecuteRegion},
      {"scf.index_switch", &Lowering::lowerIndexSwitch},
      {"func.call", &Lowering::lowerCall},
      {"tile.reduce", &Lowering::lowerCombine},
      {"tile.scan", &Lowering::lowerCombine},
      {"tile.dot", &Lowering::lowerDot},
  };
  reportDoubts(op);
  program.isAsWritten &= op->getName().getDialectNamespace() != "cta";
  if (auto it = handlers.find(op->getName().getStringRef()); it != handlers.end()) {
    if (!(this->*it->second)(op))
      return false;
    if (op->getName().getStringRef() == "tile.reduce")
      followDoubt(op);
    return true;
  }
  bool known = false;
  for (auto group : {&Lowering::lowerElementwise, &Lowering::lowerShape, &Lowering::lowerMemory,
                     &Lowering::lowerElementOps, &Lowering::lowerDebug}) {
    bool ok = (this->*group)(op, known);
    if (known && ok)
      followDoubt(op);
    if (known || !ok)
      return ok;
  }
  return refuse(op, "the interpreter does not know this operation");
}

//===----------------------------------------------------------------------===//
// Structured control flow
//===----------------------------------------------------------------------===//

bool Lowering::lowerYielding(Region &region, ArrayRef<RegId> results) {
  if (!region.hasOneBlock())
    return refuse(region.getParentOp(), "a region of several blocks is not supported here");
  if (!lowerBlock(region.front()))
    return false;
  current = region.front().getTerminator();
  copyValues(current->getOperands(), results);
  current = region.getParentOp();
  return true;
}

/// The same for one that runs only if a jump in front of it says so.
bool Lowering::lowerBranchOf(Region &region, ArrayRef<RegId> results) {
  Counted counted(*this);
  return lowerYielding(region, results);
}

bool Lowering::lowerFor(Operation *op) {
  auto loop = cast<scf::ForOp>(op);
  DType type = describe(loop.getInductionVar().getType())->type;
  RegId iv = define(loop.getInductionVar()), count = makeRegister(8);
  RegId step = use(loop.getStep()), upper = use(loop.getUpperBound());
  emit(copyKernel(byteSize(type)), 1, iv, use(loop.getLowerBound()));
  Kernel init = forInitKernel(type, loop.getUnsignedCmp());
  if (!init)
    return refuse(op, "a loop over this type is not supported");
  emit(init, 1, iv, upper, step, count).control = Control::RunChecked;
  SmallVector<RegId> carried;
  for (BlockArgument argument : loop.getRegionIterArgs()) {
    if (!describe(argument.getType()))
      return refuse(op, "a carried value of this type is not supported");
    carried.push_back(define(argument));
    carryDoubt(argument, carried.back());
  }
  copyValues(loop.getInitArgs(), carried);
  Counted turns(*this, count);
  uint32_t begin = here();
  uint32_t done = emitJump(Control::JumpIfDone, count);
  if (!lowerYielding(loop.getRegion(), carried))
    return false;
  emit(forNextKernel(type), 1, iv, kNone, step, count);
  // Inside of a `while` a counted loop may be part of waiting.
  bool waits = op->getParentOfType<scf::WhileOp>() != nullptr;
  uint32_t end = emitJump(waits ? Control::Jump : Control::ForBack);
  (*code)[end].target = begin;
  (*code)[done].target = here();
  if (!combiner)
    loops.push_back({begin, end});
  for (auto [result, reg] : llvm::zip(loop.getResults(), carried)) {
    values[result] = reg;
    touch(reg);
  }
  return true;
}

bool Lowering::lowerWhile(Operation *op) {
  auto loop = cast<scf::WhileOp>(op);
  SmallVector<RegId> carried;
  for (BlockArgument argument : loop.getBeforeArguments()) {
    if (!describe(argument.getType()))
      return refuse(op, "a carried value of this type is not supported");
    carried.push_back(define(argument));
    carryDoubt(argument, carried.back());
  }
  copyValues(loop.getInits(), carried);
  uint32_t begin = here();
  Counted before(*this);
  if (!lowerBlock(loop.getBefore().front()))
    return false;
  auto condition = loop.getConditionOp();
  current = condition;
  reportDoubt(condition.getCondition());
  uint32_t done = emitJump(Control::JumpIfFalse, use(condition.getCondition()));
  // What the condition passes on is not written again before the next
  // iteration, so the after region and the results share its registers; only
  // a carried value is, at the end of the after region, when nothing reads it.
  for (auto [argument, value] : llvm::zip(loop.getAfterArguments(), condition.getArgs()))
    values[argument] = use(value);
  if (!lowerBranchOf(loop.getAfter(), carried))
    return false;
  uint32_t end = emitJump(Control::LoopBack);
  (*code)[end].target = begin;
  (*code)[done].target = here();
  if (!combiner)
    loops.push_back({begin, end});
  for (auto [result, value] : llvm::zip(loop.getResults(), condition.getArgs())) {
    RegId reg = use(value);
    values[result] = reg;
    touch(reg);
  }
  return true;
}

bool Lowering::lowerIf(Operation *op) {
  auto branch = cast<scf::IfOp>(op);
  SmallVector<RegId> results;
  for (Value result : branch.getResults()) {
    results.push_back(define(result));
    carryDoubt(result, results.back());
  }
  uint32_t otherwise = emitJump(Control::JumpIfFalse, use(branch.getCondition()));
  if (!lowerBranchOf(branch.getThenRegion(), results))
    return false;
  if (branch.getElseRegion().empty()) {
    (*code)[otherwise].target = here();
    return true;
  }
  uint32_t end = emitJump(Control::Jump);
  (*code)[otherwise].target = here();
  if (!lowerBranchOf(branch.getElseRegion(), results))
    return false;
  (*code)[end].target = here();
  for (RegId reg : results)
    touch(reg);
  return true;
}

bool Lowering::lowerExecuteRegion(Operation *op) {
  SmallVector<RegId> results;
  for (Value result : op->getResults())
    results.push_back(define(result));
  return lowerYielding(op->getRegion(0), results);
}

bool Lowering::lowerIndexSwitch(Operation *op) {
  auto choice = cast<scf::IndexSwitchOp>(op);
  SmallVector<RegId> results;
  for (Value result : op->getResults())
    results.push_back(define(result));
  Kernel equal = intCompareKernel(IntPredicate::Eq, DType::I64);
  SmallVector<uint32_t> ends;
  RegId value = use(choice.getArg()), matches = makeRegister(1);
  for (auto [constant, region] : llvm::zip(choice.getCases(), choice.getCaseRegions())) {
    int64_t bits = constant;
    RegId expected = makeConstant({reinterpret_cast<uint8_t *>(&bits), 8});
    emit(equal, 1, matches, value, expected);
    uint32_t next = emitJump(Control::JumpIfFalse, matches);
    if (!lowerBranchOf(region, results))
      return false;
    ends.push_back(emitJump(Control::Jump));
    (*code)[next].target = here();
  }
  if (!lowerBranchOf(choice.getDefaultRegion(), results))
    return false;
  for (uint32_t end : ends)
    (*code)[end].target = here();
  for (RegId reg : results)
    touch(reg);
  return true;
}

bool Lowering::lowerCall(Operation *op) {
  auto call = cast<func::CallOp>(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr());
  if (!callee || callee.isExternal())
    return refuse(op, "the called function has no body");
  if (combiner)
    return refuse(op, "calls inside of a combiner are not supported: inline them first");
  for (const Activation &activation : activations)
    if (activation.function == callee)
      return refuse(op, "recursive calls are not supported");
  Activation activation{callee, {}, {}};
  for (Value result : call.getResults())
    activation.results.push_back(define(result));
  // The body may be expanded several times: each time with values of its own.
  callee.walk([&](Operation *inner) {
    for (Value result : inner->getResults())
      values.erase(result);
    for (Region &region : inner->getRegions())
      for (Block &block : region) {
        blockStart.erase(&block);
        for (BlockArgument argument : block.getArguments())
          values.erase(argument);
      }
  });
  for (auto [argument, operand] : llvm::zip(callee.getArguments(), call.getOperands()))
    values[argument] = use(operand);
  activations.push_back(std::move(activation));
  size_t outerJumps = blockJumps.size();
  bool ok = lowerBody(callee.getBody());
  blockJumps.resize(outerJumps);
  for (uint32_t jump : activations.back().returns)
    (*code)[jump].target = here();
  for (RegId reg : activations.back().results)
    touch(reg);
  activations.pop_back();
  return ok;
}
