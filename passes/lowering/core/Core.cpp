//===- Core.cpp - values, control flow and variables of a lowered kernel --===//
#include "passes/lowering/core/Core.h"
#include "ir/Kernel.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

Core::Core(ModuleOp module, func::FuncOp kernel, OpBuilder &builder, BlockLowering blockLowering)
    : module(module), kernel(kernel), b(builder),
      in(builder, targetOf(module), 32 * cta::warpsOfGroup(module)),
      numThreads(32 * cta::warpsOfGroup(module)), oneThread(module->hasAttr(cta::kOneThreadAttr)),
      groups(cta::groupsOf(module)), blockThreads(numThreads),
      blockLowering(std::move(blockLowering)) {
  in.setLoc(kernel.getLoc());
  kernel.walk([&](Operation *op) {
    if (isa<cta::RolesOp>(op))
      blockThreads = numThreads * groups + cta::producerThreads(numThreads * groups);
    hasTiles |= isa<cta::RingOp, cta::StageOp, cta::SlotsOp, cta::TmaStoreOp>(op);
  });
  in.setBlockThreads(blockThreads);
  if (auto axes = module->getAttrOfType<DenseI32ArrayAttr>(cta::kFromEndAttr))
    in.setFromEnd(axes);
}

void Core::begin(Block *entry) {
  b.setInsertionPointToStart(entry);
  for (auto [arg, value] : llvm::zip(kernel.getArguments(), entry->getArguments()))
    set(arg, {value});
  tid = blockTid = in.threadId();
  if (groups > 1)
    tid = LLVM::AndOp::create(b, in.getLoc(), blockTid, in.i32(int32_t(numThreads - 1)));
  if (!oneThread)
    return;
  Block *first = newBlock(), *others = newBlock();
  Value isFirst =
      LLVM::ICmpOp::create(b, in.getLoc(), LLVM::ICmpPredicate::eq, blockTid, in.i32(0));
  LLVM::CondBrOp::create(b, in.getLoc(), isFirst, first, others);
  b.setInsertionPointToStart(others);
  LLVM::ReturnOp::create(b, in.getLoc(), ValueRange());
  b.setInsertionPointToStart(first);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Type Core::llvmType(Type element) const {
  if (isa<PtrType>(element))
    return LLVM::LLVMPointerType::get(element.getContext(), kGlobal);
  if (isa<cta::TensorMapType>(element))
    return LLVM::LLVMPointerType::get(element.getContext());
  if (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(element.getContext(), 8);
  return element;
}

FailureOr<Registers> Core::apply(Block &function, ValueRange arguments, Value speaks) {
  for (auto [arg, value] : llvm::zip_equal(function.getArguments(), arguments))
    set(arg, {value});
  Location saved = in.getLoc();
  llvm::SaveAndRestore<std::optional<Value>> speaker(speaksForElement, speaks);
  if (failed(lowerBlock(function)))
    return failure();
  in.setLoc(saved);
  Registers out;
  for (Value v : function.getTerminator()->getOperands())
    out.push_back(getScalar(v));
  return out;
}

Value Core::callDevice(StringRef symbol, Type result, ValueRange args) {
  auto callee = module.lookupSymbol<LLVM::LLVMFuncOp>(symbol);
  if (!callee) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    callee = LLVM::LLVMFuncOp::create(
        b, module.getLoc(), symbol,
        LLVM::LLVMFunctionType::get(result, llvm::to_vector(args.getTypes())));
  }
  return LLVM::CallOp::create(b, in.getLoc(), callee, args).getResult();
}

Value &Core::once(Value &known, llvm::function_ref<Value()> make) {
  if (!known) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointAfterValue(tid);
    known = make();
  }
  return known;
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

Block *Core::newBlock() {
  Block *block = new Block;
  b.getInsertionBlock()->getParent()->push_back(block);
  return block;
}

void Core::enterBlock(Block *block) {
  sums.clear();
  b.setInsertionPointToEnd(block);
}

void Core::emitIf(Value condition, llvm::function_ref<void()> body) {
  Block *then = newBlock(), *next = newBlock();
  LLVM::CondBrOp::create(b, in.getLoc(), condition, then, next);
  enterBlock(then);
  body();
  LLVM::BrOp::create(b, in.getLoc(), ValueRange(), next);
  enterBlock(next);
}

//===----------------------------------------------------------------------===//
// Variables
//===----------------------------------------------------------------------===//

Value Core::makeVariable(int32_t init) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(tid);
  Location loc = in.getLoc();
  Value p = LLVM::AllocaOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()),
                                   b.getI32Type(), in.i32(1));
  LLVM::StoreOp::create(b, loc, in.i32(init), p);
  return p;
}

Value Core::read(Value variable) {
  return LLVM::LoadOp::create(b, in.getLoc(), b.getI32Type(), variable);
}

void Core::noteRead(Value variable, ValueRange loaded) {
  Value all = LLVM::OrOp::create(b, in.getLoc(), read(variable), in.wordOf(loaded));
  LLVM::StoreOp::create(b, in.getLoc(), all, variable);
}
