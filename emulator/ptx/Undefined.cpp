//===- Undefined.cpp - what nobody has written ----------------------------===//
#include "emulator/ptx/Undefined.h"
#include "emulator/machine/Machine.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace tile::emu;

/// The constant made of what `elementOf` gives for each element of an aggregate or vector; null if
/// that is null for one.
static Constant *composed(Type *type, function_ref<Constant *(unsigned, Type *)> elementOf) {
  auto *vector = dyn_cast<FixedVectorType>(type);
  auto *array = dyn_cast<ArrayType>(type);
  auto *structure = dyn_cast<StructType>(type);
  if (!vector && !array && !structure)
    return nullptr;
  uint64_t n = vector  ? vector->getNumElements()
               : array ? array->getNumElements()
                       : structure->getNumElements();
  SmallVector<Constant *> elements;
  for (unsigned i = 0; i < n; ++i) {
    Type *each = vector  ? vector->getElementType()
                 : array ? array->getElementType()
                         : structure->getElementType(i);
    elements.push_back(elementOf(i, each));
    if (!elements.back())
      return nullptr;
  }
  return vector  ? ConstantVector::get(elements)
         : array ? ConstantArray::get(array, elements)
                 : ConstantStruct::get(structure, elements);
}

Constant *tile::emu::unwrittenValue(Type *type, const DataLayout &layout) {
  auto bits = [](unsigned width) {
    return APInt::getSplat(std::max(width, 8u), APInt(8, kUnwritten)).trunc(width);
  };
  if (auto *integer = dyn_cast<IntegerType>(type))
    return ConstantInt::get(integer, bits(integer->getBitWidth()));
  if (type->isFloatingPointTy())
    return ConstantFP::get(
        type, APFloat(type->getFltSemantics(), bits(unsigned(type->getPrimitiveSizeInBits()))));
  if (auto *pointer = dyn_cast<PointerType>(type)) {
    Type *address = layout.getIntPtrType(pointer);
    return ConstantExpr::getIntToPtr(unwrittenValue(address, layout), pointer);
  }
  return composed(type, [&](unsigned, Type *each) { return unwrittenValue(each, layout); });
}

/// The constant with something in each place that is undefined; itself if there is none.
static Constant *defined(Constant *c, const DataLayout &layout) {
  if (isa<UndefValue>(c)) {
    Constant *value = unwrittenValue(c->getType(), layout);
    return value ? value : c;
  }
  if (!isa<ConstantAggregate>(c))
    return c;
  bool changed = false;
  Constant *whole = composed(c->getType(), [&](unsigned i, Type *) {
    Constant *element = c->getAggregateElement(i), *better = defined(element, layout);
    changed |= better != element;
    return better;
  });
  return changed ? whole : c;
}

/// Lanes that a shuffle leaves open are the first of its second operand.
static void defineLanes(ShuffleVectorInst &shuffle) {
  auto *source = dyn_cast<FixedVectorType>(shuffle.getOperand(0)->getType());
  if (!source || !is_contained(shuffle.getShuffleMask(), PoisonMaskElem))
    return;
  SmallVector<int> mask(shuffle.getShuffleMask());
  replace(mask, int(PoisonMaskElem), int(source->getNumElements()));
  shuffle.setShuffleMask(mask);
}

/// A variable of the function is full of what nobody has written, for as long as the thread runs.
/// The instruction that makes it so.
static Instruction *defineSlot(AllocaInst &slot, const DataLayout &layout) {
  std::optional<TypeSize> bytes = slot.getAllocationSize(layout);
  if (!bytes || bytes->isScalable())
    return nullptr;
  for (User *user : make_early_inc_range(slot.users()))
    if (auto *call = dyn_cast<IntrinsicInst>(user); call && call->isLifetimeStartOrEnd())
      call->eraseFromParent();
  IRBuilder<> b(slot.getNextNode());
  return b.CreateMemSet(&slot, b.getInt8(kUnwritten), bytes->getFixedValue(), slot.getAlign());
}

SmallVector<Instruction *> tile::emu::defineUndefined(Function &f) {
  const DataLayout &layout = f.getParent()->getDataLayout();
  SmallVector<AllocaInst *> slots;
  for (Instruction &inst : instructions(f)) {
    if (auto *call = dyn_cast<IntrinsicInst>(&inst); call && call->isLifetimeStartOrEnd())
      continue; // of nothing
    for (Use &use : inst.operands())
      if (auto *c = dyn_cast<Constant>(use.get()))
        use.set(defined(c, layout));
    if (auto *shuffle = dyn_cast<ShuffleVectorInst>(&inst))
      defineLanes(*shuffle);
    if (auto *slot = dyn_cast<AllocaInst>(&inst))
      slots.push_back(slot);
  }
  SmallVector<Instruction *> added;
  for (AllocaInst *slot : slots)
    if (Instruction *fill = defineSlot(*slot, layout))
      added.push_back(fill);
  return added;
}
