//===- AllocateScratch.cpp - place exchange buffers in shared memory ------===//
//
// Contract and example: AllocateScratchPass in passes/memory/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "passes/Passes.h"
#include "passes/facts/Branches.h"
#include "passes/facts/Registers.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"
#include "llvm/Support/MathExtras.h"

namespace tile {
#define GEN_PASS_DEF_ALLOCATESCRATCHPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-allocate-scratch"
ALWAYS_ENABLED_STATISTIC(slotsGivenUp, "slots of rings that did not fit");

namespace {
/// Swizzle patterns are anchored at multiples of this.
constexpr int64_t kSwizzlePeriod = cta::kSlotAlignment;
} // namespace

namespace {
/// Where the exchange buffers go: small ones up to `smallEnd`, large ones from
/// there to `end`.
struct ExchangePlan {
  SmallVector<std::pair<Operation *, int64_t>> offsets;
  int64_t smallEnd = 0, end = 0;
};
} // namespace

static ExchangePlan planExchanges(ModuleOp module, const DenseSet<Operation *> &ignored = {}) {
  const Tuning &tuning = tuningOf(module);
  ExchangePlan plan;
  // 1. Small buffers go round the ring; remember the large ones.
  SmallVector<std::pair<Operation *, int64_t>> large;
  int64_t next = 0, ring = 0, largest = 0;
  module.walk([&](Operation *op) {
    int64_t bytes = ignored.contains(op) ? 0 : lowering::scratchBytes(op);
    if (!bytes)
      return;
    if (bytes > tuning.smallBufferBytes) {
      large.push_back({op, bytes});
      largest = std::max(largest, bytes);
      return;
    }
    if (next + bytes > tuning.smallBuffersBytes)
      next = 0;
    plan.offsets.push_back({op, next});
    next += bytes;
    ring = std::max(ring, next);
  });
  // 2. Large buffers share what follows.
  llvm::DenseMap<Block *, int64_t> taken; // by loop bodies
  for (auto &[op, bytes] : large) {
    int64_t offset = 0;
    // In a loop over programs, what one more barrier takes is little beside a program.
    Operation *parent = op->getParentOp();
    if (isa<LoopLikeOpInterface>(parent) && !parent->hasAttr(cta::kProgramsLoopAttr)) {
      int64_t &end = taken[op->getBlock()];
      offset = end + bytes <= std::max(tuning.loopBuffersBytes, bytes) ? end : 0;
      end = offset + bytes;
    }
    plan.offsets.push_back({op, ring + offset});
    largest = std::max(largest, offset + bytes);
  }
  plan.smallEnd = ring;
  plan.end = ring + largest;
  return plan;
}

/// How often the staging area of `op` can be halved: two parts stay in it.
static unsigned mostLevels(cta::TmaStoreOp op) {
  return std::max<unsigned>(llvm::Log2_64(lowering::mostStoreParts(op)), 1) - 1;
}

static int64_t wholeBytes(cta::TmaStoreOp op) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  return type.getNumElements() * int64_t(getElementBytes(type.getElementType()));
}

/// What stores need if those that can be are staged in 2 << `level` parts.
static int64_t storeBytes(ArrayRef<cta::TmaStoreOp> stores, unsigned level) {
  int64_t most = 0;
  for (cta::TmaStoreOp op : stores)
    most = std::max(most, wholeBytes(op) >> std::min(level, mostLevels(op)));
  return most;
}

/// What several stores need that always run together, each with an area of its own;
/// nothing if there are others.
static std::optional<int64_t> bytesSideBySide(ArrayRef<cta::TmaStoreOp> stores) {
  if (stores.size() < 2)
    return std::nullopt;
  int64_t sum = 0;
  for (cta::TmaStoreOp op : stores) {
    if (op->getBlock() != stores.front()->getBlock())
      return std::nullopt;
    sum += llvm::alignTo(wholeBytes(op), kSwizzlePeriod);
  }
  return sum;
}

int64_t lowering::mostPrograms(ModuleOp module) {
  unsigned threads = cta::threadsOf(module);
  int64_t blocks = 0;
  bool hasRoles = false;
  module.walk([&](Operation *op) {
    hasRoles |= isa<cta::RolesOp>(op);
    if (isa<scf::ForOp, cta::WarpgroupDotOp>(op))
      blocks = std::max(blocks, packedRegistersOfAll(op->getResultTypes()));
  });
  if (hasRoles)
    threads += cta::producerThreads(threads);
  return programsAtOnce(module, blocks, /*sharedBytes=*/0, threads);
}

int64_t lowering::programsWith(ModuleOp module, int64_t bytes) {
  const Multiprocessor &multiprocessor = targetOf(module).multiprocessor;
  return multiprocessor.sharedBytes / (bytes + multiprocessor.reservedBytes);
}

/// The statement of the kernel's body that `op` is in.
static Operation *inBody(Operation *op) {
  return op->getParentOfType<func::FuncOp>().getBody().front().findAncestorOpInBlock(*op);
}

bool lowering::areStoredLast(ModuleOp module, ArrayRef<Operation *> loops) {
  Operation *first = nullptr;
  module.walk([&](cta::TmaStoreOp op) {
    Operation *here = inBody(op);
    first = !first || here->isBeforeInBlock(first) ? here : first;
  });
  auto isBefore = [&](Operation *op) { return inBody(op)->isBeforeInBlock(first); };
  if (!first || cta::groupsOf(module) > 1 || !llvm::all_of(loops, isBefore))
    return false;
  const Tuning &tuning = tuningOf(module);
  return !module
              .walk([&](Operation *op) {
                bool isLate = isa<cta::StageOp, cta::SlotsOp>(op)
                                  ? !llvm::all_of(op->getUsers(), isBefore)
                                  : scratchBytes(op) > tuning.smallBufferBytes && !isBefore(op);
                return isLate ? WalkResult::interrupt() : WalkResult::advance();
              })
              .wasInterrupted();
}

int64_t lowering::bytesBesidesSlots(ModuleOp module, const DenseSet<Operation *> &ignored,
                                    bool withStores) {
  SmallVector<cta::TmaStoreOp> stores;
  if (withStores)
    module.walk([&](cta::TmaStoreOp op) { stores.push_back(op); });
  int64_t sum = llvm::alignTo(planExchanges(module, ignored).end, kSwizzlePeriod) +
                llvm::alignTo(storeBytes(stores, 0), kSwizzlePeriod);
  module.walk([&](cta::StageOp op) { // as if all were alive at once
    if (!ignored.contains(op))
      sum += llvm::alignTo(op.getType().getBytes(), kSwizzlePeriod);
  });
  return sum * cta::groupsOf(module);
}

namespace {
struct AllocateScratchPass : tile::impl::AllocateScratchPassBase<AllocateScratchPass> {
  void runOnOperation() override {
    ExchangePlan plan = planExchanges(getOperation());
    for (auto &[op, offset] : plan.offsets)
      place(op, offset);
    // Buffers of asynchronous copies.
    int64_t end = placeStoresAndRings(placeStages(plan), plan.smallEnd);
    cta::setMade(getOperation(), &cta::Made::sharedBytes, end);
  }

  void place(Operation *op, int64_t offset) {
    Builder b(&getContext());
    if (auto reduce = dyn_cast<ReduceOp>(op))
      if (unsigned threads = lowering::threadsOfResult(reduce))
        op->setAttr(cta::kThreadsOfResultAttr, b.getI32IntegerAttr(int32_t(threads)));
    op->setAttr(cta::kScratchOffsetAttr, b.getI32IntegerAttr(int32_t(offset)));
  }

  /// Staged operands and slots: each the lowest place that no other has while it
  /// lives, exchange buffers included. Returns the end of all.
  int64_t placeStages(const ExchangePlan &exchanges) {
    int64_t begin = llvm::alignTo(exchanges.smallEnd, kSwizzlePeriod);
    llvm::DenseMap<Operation *, unsigned> position;
    unsigned count = 0;
    getOperation().walk<WalkOrder::PostOrder>([&](Operation *op) { position[op] = count++; });
    struct Placed {
      int64_t begin, end;
      unsigned first, last;
    };
    SmallVector<Placed> placed;
    for (auto &[op, offset] : exchanges.offsets)
      if (offset >= exchanges.smallEnd)
        placed.push_back({offset, offset + lowering::scratchBytes(op), position[op], position[op]});
    int64_t end = exchanges.end;
    getOperation().walk([&](Operation *op) {
      if (!isa<cta::StageOp, cta::SlotsOp>(op))
        return;
      Placed own{begin, begin + lowering::bufferBytes(op), position[op], position[op]};
      for (Operation *user : op->getUsers())
        if (Operation *here = op->getBlock()->findAncestorOpInBlock(*user))
          own.last = std::max(own.last, position[here]);
      for (bool moved = true; moved;) {
        moved = false;
        for (const Placed &p : placed) {
          bool alive = p.first <= own.last && own.first <= p.last;
          if (!alive || p.end <= own.begin || own.end <= p.begin)
            continue;
          int64_t behind = int64_t(llvm::alignTo(p.end, lowering::bufferAlignment(op)));
          own.end += behind - own.begin;
          own.begin = behind;
          moved = true;
        }
      }
      place(op, own.begin);
      end = std::max(end, own.end);
      placed.push_back(own);
    });
    return end;
  }

  static constexpr unsigned kMostLevels = 6; ///< more would save next to nothing

  /// What is behind the exchanges: stores by TMA, and rings.
  struct Tail {
    SmallVector<cta::TmaStoreOp> stores;
    SmallVector<cta::RingOp> rings;
    int64_t begin;
    int64_t storesBegin; ///< before it where they are where slots and exchanges were
    unsigned groups;
    bool isShared;                     ///< stores where the rings were
    unsigned level = 0;                ///< of the parts that stores are staged in
    std::optional<int64_t> sideBySide; ///< bytes, if stores have a place each
  };

  /// Where the slots of each ring begin, and where all end, counted from the first.
  static SmallVector<int64_t> placesOfRings(const Tail &tail, int64_t &end) {
    SmallVector<int64_t> bytes;
    for (cta::RingOp op : tail.rings)
      bytes.push_back(lowering::slotBytes(op.getType(), op.getStages()));
    return placesOf(
        bytes,
        [&](size_t i, size_t j) { return areUsedInOtherBranches(tail.rings[i], tail.rings[j]); },
        end);
  }

  /// All bytes, if stores take so many.
  static int64_t sum(const Tail &tail, int64_t bytesOfStores) {
    int64_t inSlots = 0, inBarriers = 0;
    placesOfRings(tail, inSlots);
    for (cta::RingOp op : tail.rings)
      inBarriers += lowering::barrierBytes(op.getStages(), tail.groups);
    inBarriers = llvm::alignTo(inBarriers, kSwizzlePeriod);
    int64_t stored = llvm::alignTo(tail.storesBegin + bytesOfStores, kSwizzlePeriod);
    if (tail.isShared)
      return std::max(stored, tail.begin + inSlots) + inBarriers;
    return std::max(stored, tail.begin) * tail.groups + inSlots + inBarriers;
  }

  /// The area of the stores, then the slots' buffers of the rings, then the two barriers of
  /// each slot: where they are, nothing else ever is.
  int64_t placeStoresAndRings(int64_t end, int64_t smallEnd) {
    Tail tail;
    getOperation().walk([&](cta::TmaStoreOp op) { tail.stores.push_back(op); });
    getOperation().walk([&](cta::RingOp op) { tail.rings.push_back(op); });
    if (tail.stores.empty() && tail.rings.empty())
      return end;
    tail.begin = llvm::alignTo(end, kSwizzlePeriod);
    tail.groups = cta::groupsOf(getOperation());
    tail.isShared = tail.groups == 1 && areStoredBehind(tail.stores, tail.rings);
    tail.storesBegin = lowering::areStoredLast(getOperation(), {})
                           ? int64_t(llvm::alignTo(smallEnd, kSwizzlePeriod))
                           : tail.begin;
    choose(tail);
    return place(tail);
  }

  /// How many slots rings have, and how stores are staged. The ring with most slots gives one up
  /// until all fit beside the smallest area.
  void choose(Tail &tail) {
    ModuleOp module = getOperation();
    auto fits = [&](int64_t bytesOfStores) {
      return sum(tail, bytesOfStores) <= lowering::maxSharedBytes(module);
    };
    auto staged = [&](unsigned level) { return storeBytes(tail.stores, level); };
    SmallVector<cta::RingOp> elastic(
        llvm::make_filter_range(tail.rings, [](cta::RingOp op) { return op.getElastic(); }));
    while (!fits(staged(0)) && takeSlot(elastic, tuningOf(module).fewestSlots)) {
    }
    while (!fits(staged(kMostLevels)) && takeSlot(tail.rings)) {
    }
    while (tail.level < kMostLevels && !fits(staged(tail.level)))
      ++tail.level;
    tail.sideBySide = bytesSideBySide(tail.stores);
    int64_t programs = lowering::mostPrograms(module);
    auto programsWith = [&](int64_t bytesOfStores) {
      return std::min(programs, lowering::programsWith(module, sum(tail, bytesOfStores)));
    };
    while (tail.isShared && tail.level < kMostLevels &&
           programsWith(staged(tail.level)) < programsWith(staged(kMostLevels)))
      ++tail.level;
    if (tail.sideBySide && (!fits(*tail.sideBySide) ||
                            programsWith(*tail.sideBySide) < programsWith(staged(tail.level))))
      tail.sideBySide.reset();
  }

  /// Returns where the last of them ends.
  int64_t place(const Tail &tail) {
    int64_t end = tail.storesBegin;
    if (tail.isShared || tail.storesBegin < tail.begin) { // all have read their slots
      cta::TmaStoreOp first = tail.stores.front();
      OpBuilder behind(inBody(first));
      cta::BarrierOp::create(behind, first.getLoc());
    }
    Builder b(&getContext());
    for (cta::TmaStoreOp op : tail.stores) {
      place(op, end);
      if (tail.sideBySide) {
        end += llvm::alignTo(wholeBytes(op), kSwizzlePeriod);
        if (op != tail.stores.front())
          op->setAttr(cta::kOwnPlaceAttr, b.getUnitAttr());
        continue;
      }
      if (unsigned own = std::min(tail.level, mostLevels(op)))
        op->setAttr(cta::kStorePartsAttr, b.getI32IntegerAttr(2 << own));
    }
    if (!tail.sideBySide)
      end += storeBytes(tail.stores, tail.level);
    if (!tail.rings.empty())
      end = llvm::alignTo(end, kSwizzlePeriod);
    int64_t endOfStores = end;
    end = tail.isShared ? tail.begin : std::max(end, tail.begin);
    if (tail.groups > 1) {
      cta::setMade(getOperation(), &cta::Made::groupBytes, end);
      end *= tail.groups;
    }
    int64_t inBarriers = 0, inSlots = 0;
    SmallVector<int64_t> places = placesOfRings(tail, inSlots);
    for (auto [i, op] : llvm::enumerate(SmallVector<cta::RingOp>(tail.rings))) {
      place(op, end + places[i]);
      inBarriers += lowering::barrierBytes(op.getStages(), tail.groups);
    }
    end += inSlots;
    end = std::max(end, int64_t(llvm::alignTo(endOfStores, kSwizzlePeriod)));
    return end + int64_t(llvm::alignTo(inBarriers, kSwizzlePeriod));
  }

  /// Whether nothing is in the slots of `rings` any more when the first of `stores` is staged:
  /// then it may be where they were.
  static bool areStoredBehind(ArrayRef<cta::TmaStoreOp> stores, ArrayRef<cta::RingOp> rings) {
    return !stores.empty() && !rings.empty() && llvm::all_of(rings, [&](cta::RingOp ring) {
      return !ring->use_empty() && llvm::all_of(ring->getUsers(), [&](Operation *user) {
        return !user->getParentOfType<cta::RolesOp>() &&
               llvm::all_of(stores, [&](cta::TmaStoreOp store) {
                 return inBody(user)->isBeforeInBlock(inBody(store));
               });
      });
    });
  }

  /// Takes a slot from the ring that has most; false if that one needs all, or has
  /// no more than `fewest`.
  static bool takeSlot(ArrayRef<cta::RingOp> all, uint32_t fewest = 1) {
    SmallVector<cta::RingOp> rings(all);
    // Slots that are filled before a loop are as many as that loop counts on.
    llvm::erase_if(rings, [](cta::RingOp ring) {
      return ring->hasAttr(cta::kOwnSlotsAttr) ||
             llvm::any_of(ring->getUsers(), [](Operation *user) {
               auto single = user->getParentOfType<cta::SingleOp>();
               return single && single->hasAttr(cta::kPrologueAttr);
             });
    });
    if (rings.empty())
      return false;
    cta::RingOp most = *llvm::max_element(
        rings, [](cta::RingOp x, cta::RingOp y) { return x.getStages() < y.getStages(); });
    // Consumers that give slots back late hold one while they wait for another.
    bool late = llvm::any_of(most->getUsers(),
                             [](Operation *user) { return isa<cta::RingAdvanceOp>(user); });
    if (most.getStages() <= std::max(late ? 2u : 1u, fewest))
      return false;
    most.setStages(most.getStages() - 1);
    ++slotsGivenUp;
    LDBG() << "one slot less: " << most;
    return true;
  }
};
} // namespace
