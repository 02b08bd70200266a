//===- FusedKernels.cpp - groups of operations become kernels -------------===//
#include "mlir/IR/IRMapping.h"
#include "passes/graph/Fusion.h"

using namespace mlir;
using namespace tile::graph;

/// Where a value lies between kernels: an array, or an array in another shape.
Value Fusion::stored(Value value, DenseMap<Value, Value> &made) {
  auto shape = value.getDefiningOp<ReshapeOp>();
  if (made.count(value) || !shape)
    return made.count(value) ? made[value] : value;
  OpBuilder b(body.getTerminator());
  Value source = stored(shape.getSrc(), made);
  return made[value] = ReshapeOp::create(b, shape.getLoc(), shape.getType(), source);
}

void Fusion::emitKernel(Group &group, StringRef name, DenseMap<Value, Value> &made) {
  OpBuilder b(body.getTerminator());
  llvm::SmallSetVector<Value, 8> inputs, outputs;
  llvm::SmallSetVector<Operation *, 8> numbers;
  for (Operation *op : group.ops) {
    for (Value operand : op->getOperands()) {
      Operation *source = operand.getDefiningOp();
      if (source && isFree(source))
        numbers.insert(source);
      else if (groupOf(operand) != &group)
        inputs.insert(operand);
    }
    if (isa<LaunchOp>(op)) // writes all, whether somebody wants it or not
      outputs.insert(op->result_begin(), op->result_end());
    else if (llvm::any_of(op->getUsers(),
                          [&](Operation *user) { return owner.lookup(user) != &group; }))
      outputs.insert(op->getResult(0));
  }
  SmallVector<Value> operands;
  for (Value input : inputs)
    operands.push_back(stored(input, made));
  SmallVector<Attribute> reasons;
  for (const std::string &reason : group.reasons)
    reasons.push_back(b.getStringAttr(reason));
  auto kernel =
      KernelOp::create(b, group.ops.back()->getLoc(), ValueRange(outputs.getArrayRef()).getTypes(),
                       name, operands, reasons.empty() ? ArrayAttr() : b.getArrayAttr(reasons));
  Block *inside = &kernel.getBody().emplaceBlock();
  IRMapping mapping;
  for (Value input : inputs)
    mapping.map(input, inside->addArgument(input.getType(), input.getLoc()));
  b.setInsertionPointToEnd(inside);
  for (Operation *number : numbers)
    b.clone(*number, mapping);
  for (Operation *op : group.ops)
    b.clone(*op, mapping);
  SmallVector<Value> results;
  for (auto [output, result] : llvm::zip(outputs, kernel.getOutputs())) {
    results.push_back(mapping.lookup(output));
    made[output] = result;
  }
  YieldOp::create(b, kernel.getLoc(), results);
}

/// Kernels in an order in which each finds what it reads.
void Fusion::emit() {
  DenseMap<Value, Value> made;
  std::vector<Group *> left;
  for (auto &group : groups)
    left.push_back(group.get());
  unsigned number = 0;
  bool isAlone = left.size() == 1;
  while (!left.empty()) {
    auto ready = llvm::find_if(left, [&](Group *group) {
      return llvm::all_of(group->ops, [&](Operation *op) {
        return llvm::all_of(op->getOperands(), [&](Value operand) {
          while (auto shape = operand.getDefiningOp<ReshapeOp>())
            operand = shape.getSrc();
          Group *source = groupOf(operand);
          return !source || source == group || made.count(operand);
        });
      });
    });
    assert(ready != left.end() && "kernels do not wait for each other");
    std::string name = function.getName().str();
    emitKernel(**ready, isAlone ? name : name + "_" + std::to_string(number++), made);
    left.erase(ready);
  }
  for (OpOperand &operand : body.getTerminator()->getOpOperands())
    operand.set(stored(operand.get(), made));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (!isa<KernelOp>(op) && !(isa<ReshapeOp>(op) && !op.use_empty()) &&
        !op.hasTrait<OpTrait::IsTerminator>())
      op.erase();
}
