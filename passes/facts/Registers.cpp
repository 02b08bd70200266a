//===- Registers.cpp - what a thread holds, and how many programs fit so ---===//
#include "passes/facts/Registers.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/facts/SharedOperands.h"
#include "target/Tuning.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

int64_t tile::registersOf(Type value) {
  auto type = dyn_cast<RankedTensorType>(value);
  if (!type)
    return 1;
  int64_t bits = std::max<int64_t>(getElementBytes(type.getElementType()) * 8, 32);
  return cta::getLayout(type).inSize(layout::Dim::reg()) * (bits / 32);
}

int64_t tile::packedRegistersOf(Type type) {
  if (!cta::hasLayout(type))
    return 0;
  int64_t elements = cta::getLayout(type).inSize(layout::Dim::reg());
  return llvm::divideCeil(elements * getElementBytes(getElementType(type)), 4);
}

int64_t tile::registersOfShare(Type type, int64_t threads) {
  auto block = dyn_cast<RankedTensorType>(type);
  if (!block)
    return 1;
  int64_t words = std::max<int64_t>(getElementBytes(block.getElementType()) / 4, 1);
  return std::max<int64_t>(block.getNumElements() * words / threads, 1);
}

int64_t tile::packedRegistersOfShare(Type type, int64_t threads) {
  auto block = dyn_cast<RankedTensorType>(type);
  if (!block)
    return 1;
  int64_t bytes = block.getNumElements() * getElementBytes(block.getElementType());
  return std::max<int64_t>(bytes / 4 / threads, 1);
}

/// What is spread over a block is held as it was before.
static bool isHeld(Value v) {
  auto type = dyn_cast<RankedTensorType>(v.getType());
  return type && isa<FloatType>(type.getElementType()) &&
         !isa_and_nonnull<arith::ConstantOp, SplatOp, BroadcastOp, ExpandDimsOp>(v.getDefiningOp());
}

/// Whether `v` is there when `product` starts and needed once it is done.
static bool isLiveAcross(Value v, Operation *product) {
  Block *block = v.getParentBlock();
  Operation *here = block->findAncestorOpInBlock(*product);
  if (!here || v.getDefiningOp() == here)
    return false;
  if (Operation *from = v.getDefiningOp(); from && !from->isBeforeInBlock(here))
    return false;
  return llvm::any_of(v.getUsers(), [&](Operation *user) {
    Operation *use = block->findAncestorOpInBlock(*user);
    // What a loop reads of outside is needed in its next turn, too; what it starts from is not.
    return use == here ? use != user && isa<LoopLikeOpInterface>(use) : here->isBeforeInBlock(use);
  });
}

/// What a thread holds where it holds most during a product: its result, and of each block of
/// floats what `registersHeld` says.
static int64_t
mostDuringProducts(func::FuncOp kernel, llvm::function_ref<bool(Operation *)> isProduct,
                   llvm::function_ref<int64_t(Value, Operation *product)> registersHeld) {
  SmallVector<Value> values;
  auto collect = [&](ValueRange all) { llvm::copy_if(all, std::back_inserter(values), isHeld); };
  SmallVector<Operation *> products;
  kernel.walk([&](Operation *op) {
    collect(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        collect(block.getArguments());
    if (isProduct(op))
      products.push_back(op);
  });
  int64_t most = 0;
  for (Operation *product : products) {
    int64_t registers = registersOf(product->getResult(0).getType());
    for (Value v : values)
      if (v != product->getResult(0))
        registers += registersHeld(v, product);
    most = std::max(most, registers);
  }
  return most;
}

/// The same, of blocks that are there before a product and needed behind it.
static int64_t mostAcrossProducts(func::FuncOp kernel,
                                  llvm::function_ref<bool(Operation *)> isProduct,
                                  llvm::function_ref<int64_t(Type)> registersWhileKept) {
  return mostDuringProducts(kernel, isProduct, [&](Value v, Operation *product) {
    return isLiveAcross(v, product) ? registersWhileKept(v.getType()) : 0;
  });
}

/// Whether products take `v` from shared memory themselves, step by step.
static bool isReadByProducts(Value v) {
  cta::ReadOp read = readOfOperand(v);
  return read && isOnlyOperand(read.getResult(),
                               [&](DotOp dot) { return dot->getBlock() == read->getBlock(); });
}

int64_t tile::registersDuringDots(func::FuncOp kernel) {
  return mostDuringProducts(kernel, llvm::IsaPred<DotOp>, [](Value v, Operation *product) {
    auto dot = cast<DotOp>(product);
    bool isMultiplied = v == dot.getA() || v == dot.getB();
    if ((!isMultiplied && (v == dot.getAcc() || !isLiveAcross(v, dot))) || isReadByProducts(v))
      return int64_t(0);
    return packedRegistersOf(v.getType());
  });
}

int64_t tile::registersAcross(Operation *op) {
  int64_t registers = 0;
  auto count = [&](ValueRange values) {
    for (Value v : values)
      if (isHeld(v) && isLiveAcross(v, op))
        registers += packedRegistersOf(v.getType());
  };
  for (Operation *inside = op; inside && !isa<func::FuncOp>(inside);
       inside = inside->getParentOp()) {
    count(inside->getBlock()->getArguments());
    for (Operation &other : *inside->getBlock())
      count(other.getResults());
  }
  return registers;
}

int64_t tile::packedRegistersOfAll(TypeRange types, int64_t fewest) {
  int64_t registers = 0;
  for (Type type : types)
    if (int64_t one = packedRegistersOf(type); one >= fewest)
      registers += one;
  return registers;
}

int64_t tile::registersDuringProducts(func::FuncOp kernel) {
  return mostAcrossProducts(kernel, llvm::IsaPred<cta::WarpgroupDotOp>, registersOf);
}

int64_t tile::registersOfBlocksDuringProducts(func::FuncOp kernel, int64_t fewest) {
  return mostAcrossProducts(kernel, llvm::IsaPred<cta::WarpgroupDotOp>, [&](Type type) {
    int64_t registers = packedRegistersOf(type);
    return registers >= fewest ? registers : 0;
  });
}

int64_t tile::registersDuringWarpProducts(func::FuncOp kernel) {
  return mostAcrossProducts(kernel, llvm::IsaPred<DotOp>, packedRegistersOf);
}

int64_t tile::registersOfLargestProduct(func::FuncOp kernel) {
  int64_t most = 0;
  kernel.walk(
      [&](cta::WarpgroupDotOp product) { most = std::max(most, registersOf(product.getType())); });
  return most;
}

int64_t tile::programsAtOnce(ModuleOp module, int64_t blocks, int64_t sharedBytes,
                             unsigned threads) {
  int64_t registers = std::min<int64_t>(blocks + kRegistersBesideAccumulator, kMaxRegisters);
  return occupancyOf(targetOf(module).multiprocessor, int(threads), int(registers), sharedBytes)
      .programs;
}

int64_t tile::warpsAtOnce(ModuleOp module, int64_t blocks, int64_t sharedBytes) {
  if (module.walk([](cta::AsyncCopyOp) { return WalkResult::interrupt(); }).wasInterrupted())
    blocks += tuningOf(module).registersOfAddresses;
  unsigned threads = cta::threadsOf(module);
  return programsAtOnce(module, blocks, sharedBytes, threads) * int64_t(threads / kLanes);
}

int64_t tile::warpgroupsAtOnce(ModuleOp module, int64_t blocks, int64_t sharedBytes) {
  if (cta::threadsOf(module) < kWarpgroupThreads)
    return 0;
  return warpsAtOnce(module, blocks, sharedBytes) / int64_t(kWarpgroupThreads / kLanes);
}

int64_t tile::mostRegistersOfThread(const Target &target, unsigned threads) {
  return std::min<int64_t>(
      llvm::alignDown(target.multiprocessor.registers / threads, kRegisterStep), kMaxRegisters);
}

bool tile::isMuchForEveryWarpgroup(Operation *dot, RankedTensorType left) {
  unsigned warps = cta::warpsOfGroup(dot);
  if (left.getDimSize(0) / 64 >= warps / 4)
    return false;
  int64_t bytes = left.getNumElements() * getElementBytes(left.getElementType());
  return bytes / 4 / kWarpgroupThreads >= kMaxRegisters / 8;
}

RoleRegisters tile::registersOfRoles(const Target &target, unsigned consumerThreads) {
  const Tuning &tuning = tuningOf(target);
  unsigned warpgroups = consumerThreads / kWarpgroupThreads;
  unsigned threads = consumerThreads + cta::producerThreads(consumerThreads);
  // As it was dealt out, and as the roles need it.
  int64_t entry = mostRegistersOfThread(target, threads);
  if (warpgroups <= 1)
    return {false, entry, entry};
  unsigned producer =
      warpgroups > 2 ? tuning.registersOfCopierBesideMany : tuning.registersOfCopier;
  int64_t consumers =
      llvm::alignDown((entry * (warpgroups + 1) - producer) / warpgroups, kRegisterStep);
  return {true, producer, std::min<int64_t>(consumers, tuning.mostRegistersDealt)};
}
