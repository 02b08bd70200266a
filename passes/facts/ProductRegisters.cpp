//===- ProductRegisters.cpp - what a thread holds while products are computed ===//
#include "passes/facts/ProductRegisters.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "passes/facts/ProductFacts.h"

using namespace mlir;
using namespace tile;

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

int64_t tile::registersDuringProducts(func::FuncOp kernel) {
  SmallVector<Value> values;
  auto collect = [&](ValueRange all) { llvm::copy_if(all, std::back_inserter(values), isHeld); };
  SmallVector<cta::WarpgroupDotOp> products;
  kernel.walk([&](Operation *op) {
    collect(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        collect(block.getArguments());
    if (auto product = dyn_cast<cta::WarpgroupDotOp>(op))
      products.push_back(product);
  });
  int64_t most = 0;
  for (cta::WarpgroupDotOp product : products) {
    int64_t registers = registersOf(product.getType());
    for (Value v : values)
      if (v != product.getResult() && isLiveAcross(v, product))
        registers += registersOf(v.getType());
    most = std::max(most, registers);
  }
  return most;
}

int64_t tile::registersOfLargestProduct(func::FuncOp kernel) {
  int64_t most = 0;
  kernel.walk(
      [&](cta::WarpgroupDotOp product) { most = std::max(most, registersOf(product.getType())); });
  return most;
}

int64_t tile::warpgroupsAtOnce(ModuleOp module, int64_t blocks, int64_t sharedBytes) {
  constexpr unsigned kWarpgroupThreads = 128, kMostRegisters = 255;
  // Threads that copy for themselves hold addresses.
  constexpr int64_t kAddresses = 24;
  bool copies =
      module.walk([](cta::AsyncCopyOp) { return WalkResult::interrupt(); }).wasInterrupted();
  int64_t registers = blocks + kRegistersBesideAccumulator + (copies ? kAddresses : 0);
  unsigned threads = cta::threadsOf(module);
  Occupancy most = occupancyOf(targetOf(module).multiprocessor, int(threads),
                               int(std::min<int64_t>(registers, kMostRegisters)), sharedBytes);
  return most.programs * int64_t(threads / kWarpgroupThreads);
}

RoleRegisters tile::registersOfRoles(unsigned consumerThreads) {
  constexpr unsigned kRegisterFile = 65536, kWarpgroupThreads = 128;
  unsigned warpgroups = consumerThreads / kWarpgroupThreads;
  // As it was dealt out, and as the roles need it.
  unsigned entry =
      std::min(kRegisterFile / (consumerThreads + cta::kProducerThreads) / 8 * 8, 255u);
  if (warpgroups <= 1)
    return {false, entry, entry};
  unsigned producer = warpgroups > 2 ? 32 : 40;
  unsigned consumers = std::min((entry * (warpgroups + 1) - producer) / warpgroups / 8 * 8, 240u);
  return {true, producer, consumers};
}
