//===- FormFacts.cpp - what a form of a kernel with products has ----------===//
#include "passes/facts/FormFacts.h"
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "mlir/IR/Matchers.h"
#include "passes/facts/Intervals.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/Reach.h"
#include "passes/facts/Registers.h"
#include "passes/facts/Roles.h"
#include "target/Tuning.h"
#include <limits>

using namespace mlir;
using namespace tile;

int64_t tile::blocksOf(ModuleOp module, int64_t (*of)(func::FuncOp)) {
  int64_t most = 0;
  for (func::FuncOp kernel : module.getOps<func::FuncOp>())
    most = std::max(most, of(kernel));
  return most;
}

int64_t tile::heldBlocks(ModuleOp module) {
  return std::max(blocksOf(module, registersDuringProducts), blocksOf(module, registersDuringDots));
}

/// Whether loops compute nothing from what products take or give.
static bool onlyMultiplies(ModuleOp module) {
  auto computes = [](Operation &op) {
    auto type =
        op.getNumResults() ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : nullptr;
    return type && isa<FloatType>(type.getElementType()) && isPure(&op) &&
           !isa<cta::WarpgroupDotOp, cta::WarpgroupWaitOp>(op);
  };
  return !module
              .walk([&](cta::WarpgroupDotOp product) {
                bool inLoop = isa<scf::ForOp>(product->getParentOp());
                return inLoop && llvm::any_of(*product->getBlock(), computes)
                           ? WalkResult::interrupt()
                           : WalkResult::advance();
              })
              .wasInterrupted();
}

static int64_t warpgroupsWithRoles(ModuleOp module, int64_t sharedBytes, int64_t beside = 0) {
  unsigned threads = cta::threadsOf(module), warpgroups = threads / kWarpgroupThreads;
  if (warpgroups > 1) // registers are dealt out to one program
    return warpgroups;
  unsigned copiers = onlyMultiplies(module) ? cta::producerThreads(threads) : kWarpgroupThreads;
  return programsAtOnce(module, heldBlocks(module) + beside, sharedBytes, threads + copiers) *
         int64_t(warpgroups);
}

int64_t tile::warpgroupsWithRoles(ModuleOp module) {
  return ::warpgroupsWithRoles(module, cta::madeOf(module).sharedBytes);
}

/// Whether `v` was loaded in `body`, and perhaps changed element by element since.
static bool isMadeOfLoad(Value v, Block *body, unsigned depth) {
  Operation *op = v.getDefiningOp();
  if (!op || op->getBlock() != body || !isa<RankedTensorType>(v.getType()))
    return false;
  bool isChange = op->hasTrait<OpTrait::Elementwise>() || op->getNumOperands() == 1;
  return isa<LoadOp>(op) || (depth > 0 && isChange && llvm::any_of(op->getOperands(), [&](Value o) {
                               return isMadeOfLoad(o, body, depth - 1);
                             }));
}

/// Whether threads that multiply copy operands for it themselves in each turn.
static bool copyThemselves(ModuleOp module) {
  auto isOfOperand = [](Operation &op) {
    return isa<cta::AsyncCopyOp>(op) ||
           (isa<cta::StageOp, cta::FillOp>(op) &&
            isMadeOfLoad(op.getOperand(0), op.getBlock(), reach::kChanges));
  };
  return module
      .walk([&](scf::ForOp loop) {
        bool multiplies = !loop.getBody()->getOps<cta::WarpgroupDotOp>().empty();
        return multiplies && llvm::any_of(*loop.getBody(), isOfOperand) ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t tile::warpgroupsWithRolesAndCopies(ModuleOp module) {
  int64_t addresses = copyThemselves(module) ? tuningOf(module).registersOfAddresses : 0;
  return ::warpgroupsWithRoles(module, cta::madeOf(module).sharedBytes, addresses);
}

int64_t tile::warpgroupsWith(ModuleOp module, int64_t sharedBytes) {
  return hasRoles(module) ? ::warpgroupsWithRoles(module, sharedBytes)
                          : warpgroupsAtOnce(module, heldBlocks(module), sharedBytes);
}

int64_t tile::warpgroupsNow(ModuleOp module) {
  return warpgroupsWith(module, cta::madeOf(module).sharedBytes);
}

int64_t tile::warpsNow(ModuleOp module) {
  if (cta::threadsOf(module) < kWarpgroupThreads)
    return warpsAtOnce(module, heldBlocks(module), cta::madeOf(module).sharedBytes);
  return warpgroupsNow(module) * int64_t(kWarpgroupThreads / kLanes);
}

bool tile::overlaps(ModuleOp module) {
  return module
      .walk([](cta::WarpgroupDotOp product) {
        return product.getInFlight() ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool tile::needsResultsInTurn(ModuleOp module) {
  return module
      .walk([](scf::ForOp loop) {
        Type result;
        for (auto dot : loop.getOps<cta::WarpgroupDotOp>())
          if (dot.getInFlight() && startsAnew(dot.getAcc()))
            result = dot.getType();
        int64_t sums = 0;
        for (Type type : loop.getResultTypes())
          sums += type == result ? registersOf(type) : 0;
        // Each has a result in each turn.
        return 2 * sums > kMaxRegisters - kRegistersBesideAccumulator ? WalkResult::interrupt()
                                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether `v` may be another in other programs: not if parameters alone decide.
static bool differsByProgram(Value v) {
  SmallVector<Value> work{v};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (!op && isa<func::FuncOp>(next.getParentBlock()->getParentOp()))
      continue;
    if (!op || isa<ProgramIdOp>(op) || op->getNumRegions() != 0 || !isMemoryEffectFree(op))
      return true;
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Whether a load of the kernel decides `v`.
static bool dependsOnLoad(Value v) {
  SmallVector<Value> work{v};
  DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    Operation *op = next.getDefiningOp();
    if (!op || !seen.insert(next).second)
      continue;
    if (isa<LoadOp>(op))
      return true;
    llvm::append_range(work, op->getOperands());
  }
  return false;
}

/// Whether all products stand in loops behind a branch that does nothing else, with a condition
/// that `decides`.
static bool areBehindBranches(ModuleOp module, function_ref<bool(Value)> decides) {
  auto isEmpty = [](Region &region) {
    return region.empty() || region.front().without_terminator().empty();
  };
  return !module
              .walk([&](cta::WarpgroupDotOp product) {
                auto loop = product->getParentOfType<scf::ForOp>();
                auto branch = loop ? dyn_cast<scf::IfOp>(loop->getParentOp()) : nullptr;
                bool isBehind =
                    branch &&
                    (isEmpty(branch.getThenRegion()) || isEmpty(branch.getElseRegion())) &&
                    decides(branch.getCondition());
                return isBehind ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

bool tile::mayLeaveEarly(ModuleOp module) { return areBehindBranches(module, differsByProgram); }

bool tile::mayLeaveForWhatIsLoaded(ModuleOp module) {
  return areBehindBranches(module, dependsOnLoad);
}

bool tile::turnFewTimes(ModuleOp module) {
  return !module
              .walk([&](cta::WarpgroupDotOp product) {
                auto loop = product->getParentOfType<scf::ForOp>();
                return loop && mostTurns(loop) > uint64_t(kFewestAhead) ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
              })
              .wasInterrupted();
}

bool tile::hasFewPrograms(ModuleOp module) {
  return module->hasAttr(kLoadAheadAttr) || module->hasAttr(kFewProgramsAttr);
}

std::optional<int64_t> tile::warpgroupsOfFewPrograms(ModuleOp module) {
  auto programs = module->getAttrOfType<IntegerAttr>(kFewProgramsAttr);
  if (!programs)
    return std::nullopt;
  return programs.getInt() * int64_t(cta::threadsOf(module) / kWarpgroupThreads);
}

int64_t tile::registersOfEarlyResults(ModuleOp module) {
  DenseMap<Block *, unsigned> found;
  int64_t most = 0;
  module.walk([&](cta::WarpgroupDotOp product) {
    bool startsAnew = matchPattern(product.getAcc(), m_AnyZeroFloat());
    if (product.getInFlight() && startsAnew && ++found[product->getBlock()] > 1)
      most = std::max(most, packedRegistersOf(product.getType()));
  });
  return most;
}

int64_t tile::productsOfScore(ModuleOp module) {
  int64_t fewest = std::numeric_limits<int64_t>::max();
  module.walk([&](scf::ForOp loop) {
    int64_t multiplied = 0, scores = 0, products = 0;
    for (auto product : loop.getBody()->getOps<cta::WarpgroupDotOp>()) {
      ArrayRef<int64_t> right = product.getB().getType().getShape();
      int64_t rows = product.getType().getDimSize(0);
      multiplied += rows * right[0] * right[1];
      ++products;
      if (loop.isDefinedOutsideOfLoop(product.getAcc()))
        scores = std::max(scores, product.getType().getNumElements());
    }
    if (scores && products > 1)
      fewest = std::min(fewest, multiplied / scores);
  });
  return fewest;
}

bool tile::hasScores(ModuleOp module) {
  auto isInLoop = [](DotOp product) { // by warps, beside one by a warpgroup
    return product->getParentOfType<scf::ForOp>() ? WalkResult::interrupt() : WalkResult::advance();
  };
  return productsOfScore(module) < std::numeric_limits<int64_t>::max() ||
         module.walk(isInLoop).wasInterrupted();
}

/// Whether `v` is made of what a product gave.
static bool isOfProduct(Value v) {
  SmallVector<Value> left{v};
  llvm::SmallPtrSet<Operation *, 16> seen;
  while (!left.empty() && seen.size() < reach::kComputed) {
    Operation *op = left.pop_back_val().getDefiningOp();
    if (!op || !seen.insert(op).second)
      continue;
    if (isa<DotOp, cta::WarpgroupDotOp>(op))
      return true;
    if (isa<cta::StageOp, cta::WarpgroupWaitOp>(op) ||
        (op->getNumRegions() == 0 && isMemoryEffectFree(op)))
      llvm::append_range(left, op->getOperands());
  }
  return false;
}

bool tile::multipliesScores(ModuleOp module) {
  bool multiplies = false;
  module.walk([&](Operation *op) {
    if (isa<DotOp, cta::WarpgroupDotOp>(op) && op->getParentOfType<scf::ForOp>())
      multiplies |= isOfProduct(op->getOperand(0)) || isOfProduct(op->getOperand(1));
  });
  return multiplies;
}

bool tile::chainsProducts(ModuleOp module) {
  DenseMap<Operation *, unsigned> products;
  return module
      .walk([&](cta::WarpgroupDotOp product) {
        Operation *loop = product->getParentOfType<scf::ForOp>();
        return loop && ++products[loop] > 1 ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

bool tile::copiesByThreads(ModuleOp module) {
  return module.walk([](cta::SlotsOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

bool tile::ringsMissLoops(ModuleOp module) {
  auto isForLoop = [](cta::RingWaitOp wait) {
    auto loop = wait->getParentOfType<scf::ForOp>();
    if (!loop)
      return false;
    bool multiplies = false,
         inner = false; // those of programs one after the other are around others
    loop.walk([&](Operation *op) {
      if (isa<DotOp, cta::WarpgroupDotOp>(op))
        (op->getParentOfType<scf::ForOp>() == loop ? multiplies : inner) = true;
    });
    return multiplies || !inner;
  };
  return multipliesInLoops(module) && !module
                                           .walk([&](cta::RingWaitOp wait) {
                                             return isForLoop(wait) ? WalkResult::interrupt()
                                                                    : WalkResult::advance();
                                           })
                                           .wasInterrupted();
}

bool tile::ringsStandInLoops(ModuleOp module) {
  return module
      .walk([](cta::RingWaitOp wait) {
        return wait->getParentOfType<LoopLikeOpInterface>() ? WalkResult::interrupt()
                                                            : WalkResult::advance();
      })
      .wasInterrupted();
}

bool tile::multipliesInLoops(ModuleOp module) {
  return module
      .walk([](cta::WarpgroupDotOp product) {
        return product->getParentOfType<scf::ForOp>() ? WalkResult::interrupt()
                                                      : WalkResult::advance();
      })
      .wasInterrupted();
}
