//===- ProductFacts.cpp - what can be done around warpgroup products ------===//
#include "passes/facts/ProductFacts.h"
#include "ir/Kernel.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "target/Tuning.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tile;

bool tile::isElementByElement(Operation *op) {
  return op->getNumRegions() == 0 && op->getNumResults() == 1 && isMemoryEffectFree(op) &&
         (op->hasTrait<OpTrait::Elementwise>() || isa<SplatOp, BroadcastOp, ExpandDimsOp>(op));
}

bool tile::startsAnew(Value acc) {
  return matchPattern(acc, m_PosZeroFloat()) || matchPattern(acc, m_Zero());
}

int64_t tile::cyclesOfShare(cta::WarpgroupDotOp dot, unsigned warpgroups) {
  auto acc = cast<RankedTensorType>(dot.getType());
  auto b = dot.getB().getType();
  int64_t bytes = dot.getDepth() * int64_t(getElementBytes(b.getElementType()));
  return acc.getNumElements() / warpgroups / 128 * (bytes / 32);
}

/// While one of several warpgroups waits for its product, another's is computed.
/// If that takes long enough, products in flight gain nothing, and slots that are
/// given back at once let the copies run further ahead.
static bool takeTurns(cta::WarpgroupDotOp dot, unsigned warpgroups) {
  return warpgroups > 1 && cyclesOfShare(dot, warpgroups) >= tuningOf(dot).longProductCycles;
}

/// Whether products of one loop should be in flight: not where several warpgroups with long
/// products take turns anyway.
static bool gainsFromFlight(ArrayRef<cta::WarpgroupDotOp> dots) {
  unsigned warpgroups = cta::warpsOfGroup(dots.front()) / 4;
  return dots.size() > 1 || !takeTurns(dots.front(), warpgroups);
}

/// Whether a loop of products loads element by element: what is computed with that waits for it in
/// the same turn, as operands do that are looked up in a table.
static bool waitsForElements(func::FuncOp kernel) {
  constexpr int64_t kManyLoads = 8;
  return kernel
      .walk([&](LoadOp load) {
        auto type = dyn_cast<RankedTensorType>(load.getType());
        auto loop = load->getParentOfType<scf::ForOp>();
        bool isLookUp = type && loop && load.getVector() <= 1 &&
                        int64_t(cta::getLayout(type).inSize(layout::Dim::reg())) >= kManyLoads &&
                        llvm::any_of(*loop.getBody(), llvm::IsaPred<cta::WarpgroupDotOp>);
        return isLookUp ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

int64_t tile::enoughWarpgroups(func::FuncOp kernel) {
  unsigned warpgroups = std::max(cta::warpsOfGroup(kernel) / 4, 1u);
  DenseMap<Block *, int64_t> cyclesOfTurn;
  kernel.walk([&](cta::WarpgroupDotOp dot) {
    if (isa<LoopLikeOpInterface>(dot->getParentOp()))
      cyclesOfTurn[dot->getBlock()] += cyclesOfShare(dot, warpgroups);
  });
  // The longest loop has most of the work.
  int64_t longest = 0;
  for (auto [block, cycles] : cyclesOfTurn)
    longest = std::max(longest, cycles);
  const Tuning &tuning = tuningOf(kernel);
  int64_t enough = longest ? std::max(tuning.enoughWarpgroups,
                                      llvm::divideCeilSigned(tuning.longProductCycles, longest))
                           : tuning.enoughWarpgroups;
  return waitsForElements(kernel) ? 2 * enough : enough; // half of them wait
}

bool tile::onlyAddsUp(cta::WarpgroupDotOp dot, scf::ForOp loop) {
  auto acc = dyn_cast<BlockArgument>(dot.getAcc());
  return acc && acc.getOwner() == loop.getBody() && acc != loop.getInductionVar() &&
         acc.hasOneUse() && dot.getResult().hasOneUse() &&
         loop.getTiedLoopYieldedValue(acc)->get() == dot.getResult() && !dot.getPromote();
}

/// Sums of 16 bits share registers: from one operation to another they are taken apart and put
/// together, which may not be while a product still writes them.
static bool sharesRegisters(cta::WarpgroupDotOp dot) {
  return dot.getType().getElementType().getIntOrFloatBitWidth() < 32;
}

SmallVector<cta::WarpgroupDotOp> tile::plainProducts(scf::ForOp loop) {
  SmallVector<cta::WarpgroupDotOp> dots;
  bool arePlain = true;
  loop.walk([&](Operation *op) {
    if (auto dot = dyn_cast<cta::WarpgroupDotOp>(op)) {
      arePlain &= dot->getBlock() == loop.getBody() && !dot.getInFlight() && !dot.getPromote() &&
                  !sharesRegisters(dot);
      dots.push_back(dot);
    }
    arePlain &= !isa<cta::TurnBeginOp, cta::TurnEndOp, cta::WarpgroupWaitOp>(op);
  });
  if (!arePlain)
    dots.clear();
  return dots;
}

/// The release of the slot that `wait` gives, if the slot can be kept while the next one is
/// waited for: nobody but products reads it where it is, and there is another.
static cta::RingReleaseOp laterRelease(cta::RingWaitOp wait, Operation *firstProduct) {
  auto ring = wait.getRing().getDefiningOp<cta::RingOp>();
  if (!ring || ring.getStages() < 2 || !llvm::all_of(wait->getUsers(), [](Operation *user) {
        return isa<cta::WarpgroupDotOp, cta::ReadOp>(user);
      }))
    return {};
  for (auto release : wait->getBlock()->getOps<cta::RingReleaseOp>())
    if (release.getRing() == wait.getRing())
      return firstProduct->isBeforeInBlock(release) ? release : cta::RingReleaseOp();
  return {};
}

/// What products of the loop read where it is, from before the loop until behind it.
static bool staysInShared(Value operand, scf::ForOp loop) {
  return isa<cta::BufferType>(operand.getType()) && loop.isDefinedOutsideOfLoop(operand);
}

std::optional<Reason> tile::obstacleToFlight(scf::ForOp loop, function_ref<bool(Value)> isSpare,
                                             Flight &flight) {
  loop.walk([&](cta::WarpgroupDotOp dot) { flight.dots.push_back(dot); });
  if (flight.dots.empty())
    return Reason::FlightNothing;
  DenseSet<Operation *> waits;
  // All warpgroups meet in each turn where threads copy operands: nobody takes turns there.
  bool meet = !loop.getBody()->getOps<cta::AsyncWaitOp>().empty();
  for (cta::WarpgroupDotOp dot : flight.dots) {
    if (dot->getBlock() != loop.getBody())
      return Reason::FlightNothing;
    if (!onlyAddsUp(dot, loop) || sharesRegisters(dot))
      return Reason::FlightResultsUsed;
    for (Value operand : dot->getOperands().take_front(2)) {
      meet |= bool(operand.getDefiningOp<cta::StageOp>()) && !loop.isDefinedOutsideOfLoop(operand);
      if (isSpare(operand) || staysInShared(operand, loop))
        continue;
      auto wait = operand.getDefiningOp<cta::RingWaitOp>();
      if (!wait || wait->getBlock() != loop.getBody())
        return Reason::FlightNotInSlots;
      waits.insert(wait);
    }
  }
  for (auto wait : loop.getBody()->getOps<cta::RingWaitOp>()) {
    if (!waits.contains(wait))
      continue;
    cta::RingReleaseOp release = laterRelease(wait, flight.dots.front());
    if (!release)
      return Reason::FlightSlotsNeeded;
    flight.releases.push_back(release);
  }
  if (!meet && !gainsFromFlight(flight.dots))
    return Reason::FlightTakesTurns;
  return std::nullopt;
}
