//===- RegisterEstimate.cpp - registers that a kernel would take ----------===//
#include "compiler/RegisterEstimate.h"
#include "passes/lowering/instructions/PtxText.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace tile;

static StringRef inlinePtx(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  return text ? StringRef(text->getAsmString()) : StringRef();
}

bool tile::loadsGlobal(const Instruction &i) {
  if (auto *load = dyn_cast<LoadInst>(&i))
    return load->getPointerAddressSpace() == 1;
  return tile::ptx::loadsGlobal(inlinePtx(i));
}

Value *tile::maskOf(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  auto *text = call ? dyn_cast<InlineAsm>(call->getCalledOperand()) : nullptr;
  int guard = text ? ptx::guardOf(text->getAsmString()) : -1;
  if (guard < 0)
    return nullptr;
  int outputs = int(count_if(text->ParseConstraints(), [](const InlineAsm::ConstraintInfo &c) {
    return c.Type == InlineAsm::isOutput;
  }));
  if (guard < outputs || guard - outputs >= int(call->arg_size()))
    return nullptr;
  Value *mask = call->getArgOperand(unsigned(guard - outputs));
  return mask->getType()->isIntegerTy(1) ? mask : nullptr;
}

bool tile::multipliesByWarps(const Instruction &i) {
  auto *call = dyn_cast<CallInst>(&i);
  const Function *callee = call ? call->getCalledFunction() : nullptr;
  return callee ? callee->getName().starts_with("llvm.nvvm.mma.")
                : tile::ptx::multipliesByWarps(inlinePtx(i));
}

bool tile::multiplies(const Instruction &i) {
  return multipliesByWarps(i) || tile::ptx::multiplies(inlinePtx(i));
}

bool tile::waitsForCopies(const Instruction &i) { return tile::ptx::waitsForCopies(inlinePtx(i)); }

bool tile::hasOwnRules(const Instruction &i) {
  if (tile::ptx::hasRegisterRules(inlinePtx(i)))
    return true;
  auto *call = dyn_cast<CallInst>(&i);
  if (!call || call->isInlineAsm())
    return false;
  const Function *callee = call->getCalledFunction();
  return !callee || !callee->isIntrinsic() || callee->getName().contains("mma");
}

int tile::registersOf(const Value &value, const DataLayout &layout) {
  Type *type = value.getType();
  if (!isa<Instruction>(value) || type->isVoidTy() || type->isIntegerTy(1))
    return 0;
  if (auto *group = dyn_cast<StructType>(type)) {
    int sum = 0;
    for (Type *element : group->elements())
      sum += divideCeil(layout.getTypeSizeInBits(element).getFixedValue(), 32);
    return sum;
  }
  return int(divideCeil(layout.getTypeSizeInBits(type).getFixedValue(), 32));
}

SmallVector<const Instruction *> tile::sunk(const BasicBlock &block, Loads loads) {
  SetVector<const Instruction *> order;
  if (loads == Loads::InPlace) {
    for (const Instruction &i : make_range(block.getFirstNonPHIIt(), block.end()))
      order.insert(&i);
    return order.takeVector();
  }
  auto isPlaced = [&](const Value *operand) {
    auto *op = dyn_cast<Instruction>(operand);
    return !op || op->getParent() != &block || isa<PHINode>(op) || order.contains(op);
  };
  auto consume = [&](const Instruction &load) {
    SmallVector<const Instruction *> left = {&load};
    while (!left.empty())
      for (const User *user : left.pop_back_val()->users()) {
        auto *use = cast<Instruction>(user);
        if (use->getParent() == &block && !isa<PHINode>(use) && !use->isTerminator() &&
            !use->mayHaveSideEffects() && !use->mayReadFromMemory() && !order.contains(use) &&
            all_of(use->operand_values(), isPlaced)) {
          order.insert(use);
          left.push_back(use);
        }
      }
  };
  auto place = [&](const Instruction &root) {
    SmallVector<std::pair<const Instruction *, unsigned>> path = {{&root, 0}};
    while (!path.empty()) {
      auto &[at, next] = path.back();
      if (next == at->getNumOperands()) {
        const Instruction *placed = at;
        order.insert(placed);
        path.pop_back();
        if (loads == Loads::Consumed && loadsGlobal(*placed))
          consume(*placed);
        continue;
      }
      auto *operand = dyn_cast<Instruction>(at->getOperand(next++));
      if (operand && operand->getParent() == &block && !isa<PHINode>(operand) &&
          !order.contains(operand))
        path.push_back({operand, 0});
    }
  };
  auto staysBehind = [&](const Instruction &i) {
    return any_of(i.users(), [&](const User *user) {
      auto *use = cast<Instruction>(user);
      return use->getParent() != &block || isa<PHINode>(use);
    });
  };
  auto staysInPlace = [&](const Instruction &i) {
    return (i.mayHaveSideEffects() || i.mayReadFromMemory()) &&
           !((loads == Loads::Late || loads == Loads::Consumed) && loadsGlobal(i));
  };
  auto body = make_range(block.getFirstNonPHIIt(), block.getTerminator()->getIterator());
  for (const Instruction &i : make_filter_range(body, staysInPlace))
    place(i);
  for (const Instruction &i : make_filter_range(body, staysBehind))
    place(i);
  place(*block.getTerminator());
  return order.takeVector();
}

/// The values that live on behind each block.
static DenseMap<const BasicBlock *, DenseSet<const Value *>> liveOut(const Function &kernel) {
  DenseMap<const BasicBlock *, DenseSet<const Value *>> live;
  for (const Instruction &value : instructions(kernel)) {
    SmallVector<const BasicBlock *> behind;
    auto before = [&](const BasicBlock *block) { append_range(behind, predecessors(block)); };
    for (const Use &use : value.uses()) {
      auto *user = cast<Instruction>(use.getUser());
      if (auto *phi = dyn_cast<PHINode>(user))
        behind.push_back(phi->getIncomingBlock(use));
      else if (user->getParent() != value.getParent())
        before(user->getParent());
    }
    while (!behind.empty()) {
      const BasicBlock *block = behind.pop_back_val();
      if (live[block].insert(&value).second && block != value.getParent())
        before(block);
    }
  }
  return live;
}

/// Registers that a thread needs at the widest point of `order`, behind which `live` lives on.
/// `free`: values that take none.
static int widestOf(ArrayRef<const Instruction *> order, const DataLayout &layout,
                    DenseSet<const Value *> live, const DenseSet<const Value *> &free = {}) {
  auto takes = [&](const Value *value) {
    return free.contains(value) ? 0 : registersOf(*value, layout);
  };
  int now = 0;
  for (const Value *value : live)
    now += takes(value);
  int widest = now;
  for (const Instruction *i : reverse(order)) {
    int result = takes(i);
    if (live.erase(i))
      now -= result;
    else
      widest = std::max(widest, now + result);
    for (const Value *operand : i->operand_values())
      if (isa<Instruction>(operand) && live.insert(operand).second)
        now += takes(operand);
    widest = std::max(widest, now);
  }
  return widest;
}

/// The same of a block.
static int widestOf(const BasicBlock &block, Loads loads, DenseSet<const Value *> live,
                    const DenseSet<const Value *> &free = {}) {
  return widestOf(sunk(block, loads), block.getDataLayout(), std::move(live), free);
}

int tile::widestInOrder(const BasicBlock &block, ArrayRef<const Instruction *> order) {
  return widestOf(order, block.getDataLayout(), liveOut(*block.getParent())[&block]);
}

static int estimate(const Function &kernel, Loads loads, const DenseSet<const Value *> &free) {
  auto behind = liveOut(kernel);
  int widest = 0;
  for (const BasicBlock &block : kernel)
    widest = std::max(widest, widestOf(block, loads, behind[&block], free));
  return widest;
}

int tile::estimateRegisters(const Function &kernel, Loads loads) {
  return estimate(kernel, loads, {});
}

/// Whether `i` is which block of the grid this is, how many there are, or the like.
static bool isOfBlock(const Instruction &i) {
  auto *call = dyn_cast<IntrinsicInst>(&i);
  StringRef name = call ? call->getCalledFunction()->getName() : StringRef();
  return name.starts_with("llvm.nvvm.read.ptx.sreg.ctaid") ||
         name.starts_with("llvm.nvvm.read.ptx.sreg.nctaid");
}

int tile::estimateKept(const Function &kernel, Loads loads) {
  DenseSet<const Value *> free, uniform;
  for (const Instruction &i : instructions(kernel)) { // those of operands come first, but in phis
    bool isArithmetic = isa<BinaryOperator, CastInst, GetElementPtrInst, SelectInst, CmpInst>(i);
    bool isUniform =
        isOfBlock(i) || (isArithmetic && all_of(i.operand_values(), [&](const Value *v) {
                           return !isa<Instruction>(v) || uniform.contains(v);
                         }));
    if (isUniform)
      uniform.insert(&i);
    auto *place = dyn_cast<GetElementPtrInst>(&i);
    bool isDescriptor = i.getOpcode() == Instruction::Or && all_of(i.users(), [](const User *user) {
                          return multiplies(*cast<Instruction>(user));
                        });
    if (isUniform || isDescriptor || (place && place->getPointerAddressSpace() == 3))
      free.insert(&i);
  }
  return estimate(kernel, loads, free);
}

PartsEstimate tile::estimateParts(const Function &kernel, const LoopInfo &loops, Loads loads) {
  auto behind = liveOut(kernel);
  PartsEstimate parts;
  for (const BasicBlock &block : kernel) {
    const Loop *loop = loops.getLoopFor(&block);
    int &widest = loop && loop->isInnermost() ? parts.inLoops : parts.besides;
    widest = std::max(widest, widestOf(block, loads, behind[&block]));
  }
  return parts;
}

/// The loads of `block` of which addresses of others are computed: those wait for them.
static DenseSet<const Instruction *> indicesIn(const BasicBlock &block) {
  DenseSet<const Instruction *> indices, seen;
  for (const Instruction &load : make_filter_range(block, loadsGlobal)) {
    SmallVector<const Value *> left(load.operand_values());
    while (!left.empty()) {
      auto *op = dyn_cast<Instruction>(left.pop_back_val());
      if (!op || op->getParent() != &block || isa<PHINode>(op) || !seen.insert(op).second)
        continue;
      if (loadsGlobal(*op))
        indices.insert(op);
      append_range(left, op->operand_values());
    }
  }
  return indices;
}

int tile::estimateLoaded(const Function &kernel) {
  const DataLayout &layout = kernel.getDataLayout();
  auto behind = liveOut(kernel);
  int most = 0;
  for (const BasicBlock &block : kernel) {
    const DenseSet<const Value *> &live = behind[&block];
    int needed = widestOf(block, Loads::AsWritten, live), loaded = 0;
    for (const Value *value : live)
      loaded += registersOf(*value, layout);
    DenseSet<const Instruction *> indices = indicesIn(block);
    for (const Instruction &i : make_filter_range(block, loadsGlobal))
      loaded += live.contains(&i) || indices.contains(&i) ? 0 : registersOf(i, layout);
    if (count_if(block, loadsGlobal) > 1)
      needed = std::min(needed, std::max(loaded, widestOf(block, Loads::Consumed, live)));
    most = std::max(most, needed);
  }
  return most;
}

SmallVector<int> tile::liveBefore(ArrayRef<const Instruction *> order, const DataLayout &layout) {
  SmallVector<int> before(order.size());
  DenseSet<const Value *> live;
  int now = 0;
  for (size_t i = order.size(); i-- > 0;) {
    if (live.erase(order[i]))
      now -= registersOf(*order[i], layout);
    for (const Value *operand : order[i]->operand_values())
      if (isa<Instruction>(operand) && live.insert(operand).second)
        now += registersOf(*operand, layout);
    before[i] = now;
  }
  return before;
}
