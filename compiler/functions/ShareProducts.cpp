//===- ShareProducts.cpp - products whose inner dimension programs share ---------===//
//
// A product with fewer blocks than the chip computes at once leaves most of it idle, and memory
// with too little on its way. Its inner dimension is then shared: programs add up a part each, and
// a second kernel adds up the parts. What that costs and what it gains is counted by one model, in
// microseconds, which blocks and parts are chosen by together.
//
// The numbers are of an H200 (target/tuning/SkinnyProducts.h). Other chips are counted by their
// share of its memory's speed.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/ChooseCut.h"
#include "passes/graph/ScatterRows.h"
#include "target/Devices.h"
#include "target/Tuning.h"
#include "target/tuning/ComputedOperands.h"
#include "target/tuning/Scatter.h"
#include "target/tuning/SkinnyProducts.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace tile;
using namespace tile::graph;

/// How many parts are tried: of a long inner dimension and one block of sums as many as there are
/// multiprocessors, about.
static constexpr int64_t kParts[] = {2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128};

/// Of an element of the left operand.
static int64_t operandBytes(const KernelShape &shape) {
  MatmulOp op = shape.product->op;
  return bytesOf(op.getLhs().getType().getElement());
}

namespace {
/// A product's chip and sizes.
class Model {
public:
  Model(const KernelShape &shape, const Extents &of, const Target &target);
  double timeOf(const Cut &cut, int64_t parts) const;
  /// Whether memory is the limit, if anything is.
  bool isSkinny() const;
  /// Of shared memory.
  int64_t turnBytes(const Cut &cut) const { return bytesOfRows(cut, cut.rows); }

private:
  int64_t bytesOfRows(const Cut &cut, int64_t rows) const {
    return (rows + cut.block * products) * cut.inner * bytes;
  }
  double loadedOfRows(const Cut &cut, int64_t rows) const {
    return (double(rows) * leftBytes + double(cut.block * products) * rightBytes) *
           double(cut.inner);
  }
  int64_t residentOf(const Cut &cut) const;
  double fromMemory() const;

  const KernelShape &shape;
  const Extents &of;
  const Target &target;
  const Tuning &tuning;
  int64_t products, bytes;      ///< of one left operand; of an operand's element
  double leftBytes, rightBytes; ///< of an element in memory
  int64_t multiprocessors;
  /// In a microsecond: bytes of memory, those that a multiprocessor gets, products of elements, and
  /// instructions for elements of operands.
  double memory, received, multiplied, computedOf;
};
} // namespace

Model::Model(const KernelShape &shape, const Extents &of, const Target &target)
    : shape(shape), of(of), target(target), tuning(tuningOf(target)),
      products(int64_t(productsOf(shape).size())), bytes(operandBytes(shape)) {
  leftBytes = of.left.slots > 0 ? of.left.bytes : double(bytes);
  rightBytes = of.right.slots > 0 ? of.right.bytes : double(bytes);
  const DeviceModel &device = deviceLike(target.capability);
  multiprocessors = device.multiprocessors;
  memory = device.terabytesPerSecond * 1e6;
  received = kL2BytesPerCycle * device.gigahertz * 1e3;
  double cycles = device.gigahertz * 1e3; // in a microsecond
  multiplied = productsPerCycle(device, bytes) * cycles * tuning.reachedOfPeaks;
  computedOf = kComputedOperands.perCycle * cycles;
}

/// Programs beside each other on a multiprocessor.
int64_t Model::residentOf(const Cut &cut) const {
  int64_t threads = cut.warps * int64_t(kLanes);
  int64_t registers = cut.rows * cut.block * products / threads + tuning.registersBesideSums;
  registers = std::min<int64_t>(registers, kMaxRegisters);
  int64_t fits = target.multiprocessor.registers / (threads * registers);
  int64_t shared = target.maxSharedBytes / (cut.stages * turnBytes(cut));
  return std::max<int64_t>(std::min(fits, shared), 1);
}

/// Of all operands, once.
double Model::fromMemory() const {
  double perInner = double(of.rows) * leftBytes + double(of.columns * products) * rightBytes;
  return double(of.batch * of.inner) * perInner / (memory * tuning.reachedOfPeaks);
}

bool Model::isSkinny() const {
  double all = double(of.batch * of.rows * of.columns) * double(of.inner * products);
  return fromMemory() >= all / (multiplied * double(multiprocessors));
}

/// The largest, and more if others are close.
static double nearOf(std::initializer_list<double> limits) {
  double sum = 0, most = std::max(limits);
  for (double limit : limits)
    sum += std::pow(limit / most, kSkinnyProducts.powerOfLimits);
  return most * std::pow(sum, 1 / kSkinnyProducts.powerOfLimits);
}

double Model::timeOf(const Cut &cut, int64_t parts) const {
  int64_t blocks = countPrograms(shape, cut, of), programs = blocks * parts;
  int64_t resident = residentOf(cut);
  double turns = double(
      llvm::divideCeil(llvm::divideCeil(uint64_t(of.inner), uint64_t(cut.inner)), uint64_t(parts)));
  auto together = int64_t(llvm::divideCeil(uint64_t(programs), uint64_t(multiprocessors)));
  double rounds = double(llvm::divideCeil(uint64_t(together), uint64_t(resident)));
  // Of programs beside each other loads wait at the same time, arithmetic takes turns.
  double load = kSkinnyProducts.loadMicroseconds;
  double waited = load + turns * load / (cut.stages - 1);
  double ofTurn = productsOfBlock(cut, of, products, bytes);
  double beside = double(std::min(together, resident)) * turns * double(cut.inner);
  double slots = double(cut.rows) * of.left.slots + double(cut.block * products) * of.right.slots;
  double busy = std::min(1.0, double(std::min(together, resident) * cut.warps) /
                                  kComputedOperands.warpsToFill);
  // What is computed of the first turn's operands waits for them.
  double computed =
      beside * (ofTurn / multiplied + slots / (computedOf * busy)) + (slots > 0 ? load : 0);
  // Rows behind the last are in no memory.
  double ofRows = turns * loadedOfRows(cut, std::min(cut.rows, of.rows));
  double round =
      std::max({waited, computed, double(std::min(together, resident)) * ofRows / received});
  double elements = double(of.batch * of.rows * of.columns * products);
  double read = double(programs) * ofRows;
  double time =
      nearOf({rounds * round, read / (memory * kSkinnyProducts.cacheToMemory), fromMemory()});
  if (parts > 1) // each sum is written and read, mostly in the L2 cache
    time += kSkinnyProducts.launchMicroseconds +
            2 * 4 * double(parts) * elements / (memory * kSkinnyProducts.cacheToMemory);
  return time + kSkinnyProducts.restMicroseconds;
}

/// Blocks of parts: those of the ones that have enough columns for a warpgroup's instruction.
struct PartBlock {
  int64_t rows, columns;
  int warps;
};
static constexpr PartBlock kPartBlocks[] = {
    {16, 64, 4},  {16, 128, 4}, {32, 64, 4},   {32, 128, 4}, {64, 32, 4},   {64, 64, 4},
    {64, 128, 4}, {128, 64, 4}, {128, 128, 4}, {64, 256, 4}, {128, 256, 8}, {256, 128, 8}};

/// Those of elements that threads multiply: the sums are in registers, and the operands as well.
static constexpr PartBlock kBlocksOfThreads[] = {
    {16, 64, 4},  {16, 128, 4}, {16, 256, 4}, {32, 64, 4},  {32, 128, 4},
    {32, 256, 4}, {64, 32, 4},  {64, 64, 4},  {64, 128, 4}, {128, 64, 4}};

/// Each block for so many parts, and how long that takes.
static void forEachBlock(const KernelShape &shape, const Extents &of, const Target &target,
                         int64_t parts, llvm::function_ref<void(const Cut &, double)> visit) {
  Model model(shape, of, target);
  int64_t bytes = operandBytes(shape);
  bool isPair = !shape.product->others.empty();
  bool byThreads = bytes >= kBytesOfThreads;
  for (const PartBlock &block : byThreads ? llvm::ArrayRef<PartBlock>(kBlocksOfThreads)
                                          : llvm::ArrayRef<PartBlock>(kPartBlocks)) {
    // As of whole products: the sums of both are in registers.
    int64_t most = byThreads ? (isPair ? 64 * 64 : 64 * 128) : isPair ? 128 * 128 : 128 * 256;
    if (block.rows * block.columns > most)
      continue;
    // Copies fill what lies behind the last row with zeros, and take longer for that than for
    // bytes: of one row in blocks of 64 x 32 a turn takes 0.37 us, in those of 16 x 64 half of it.
    if (block.rows > std::max<int64_t>(powerOfTwo(of.rows), kPartBlocks[0].rows))
      continue;
    Cut cut;
    cut.share = Share::Parts;
    cut.rows = block.rows;
    cut.block = block.columns;
    cut.inner = std::clamp<int64_t>(128 / bytes, 16, 64);
    cut.warps = isPair && block.rows * block.columns == 128 * 128 ? 8 : block.warps;
    int64_t programs = countPrograms(shape, cut, of) * parts;
    cut.stages = turnsOnTheWay(target, model.turnBytes(cut), programs);
    visit(cut, model.timeOf(cut, parts));
  }
}

/// The best block for so many parts, and how long that takes. Where memory is the limit and a
/// larger one is hardly better, a smaller one: more multiprocessors have a share.
static std::pair<Cut, double> bestFor(const KernelShape &shape, const Extents &of,
                                      const Target &target, int64_t parts) {
  std::pair<Cut, double> best;
  double worth = Model(shape, of, target).isSkinny() ? kSkinnyProducts.worthIt : 1;
  forEachBlock(shape, of, target, parts, [&](const Cut &cut, double time) {
    if (best.second == 0 || time < best.second * worth)
      best = {cut, time};
  });
  return best;
}

void tile::cutOfThreads(Cut &cut, const KernelShape &shape, const Extents &of,
                        const Target &target) {
  Extents some = of; // of none there is nothing to choose by
  for (int64_t *extent : {&some.batch, &some.rows, &some.columns, &some.inner})
    *extent = std::max<int64_t>(*extent, 1);
  cut = bestFor(shape, some, target, 1).first;
  cut.share = Share::None;
}

static bool mayShare(const KernelShape &shape, const Extents &of) {
  auto isShort = [](MatmulOp op) { // integers and f64 are added up in other types
    auto type = mlir::dyn_cast<mlir::FloatType>(op.getType().getElement());
    return type && type.getWidth() <= 32;
  };
  bool hasAll = of.batch > 0 && of.rows > 0 && of.columns > 0 && of.inner > 0;
  return !shape.product->chain && shape.beside.empty() && hasAll &&
         llvm::all_of(productsOf(shape), isShort);
}

/// Whether so many parts can be: each has turns, and what is summed is counted by 32 bits.
static bool canBe(int64_t parts, int64_t turns, const Extents &of) {
  return parts <= turns && parts * of.batch * of.rows * of.columns <= INT32_MAX;
}

bool tile::sumsFit(const TensorKernel &kernel, const Extents &of) {
  int64_t perRow = kernel.step >= 0 ? 1 : of.columns;
  return kernel.parts * of.batch * of.rows * perRow <= INT32_MAX;
}

int64_t tile::shareInner(const KernelShape &shape, const Extents &of, const Target &target) {
  if (!mayShare(shape, of))
    return 1;
  Cut whole = chooseCut(shape, of, target);
  int64_t turns = llvm::divideCeil(uint64_t(of.inner), uint64_t(whole.inner));
  Model model(shape, of, target);
  bool isSkinny = model.isSkinny();
  double worth = isSkinny ? kSkinnyProducts.worthIt : tuningOf(target).sharingWorthIt;
  double least = model.timeOf(whole, 1) * worth;
  int64_t best = 1;
  for (int64_t parts : kParts) {
    if (!canBe(parts, turns, of))
      break;
    double time = bestFor(shape, of, target, parts).second;
    if (time >= least)
      continue;
    least = isSkinny ? time * worth : time; // more parts are more to add up
    best = parts;
  }
  return best;
}

void tile::cutSkinny(Cut &cut, const KernelShape &shape, const Extents &of, const Target &target) {
  if (of.batch <= 0 || of.rows <= 0 || of.columns <= 0 || of.inner <= 0)
    return;
  Model model(shape, of, target);
  if (!model.isSkinny())
    return;
  auto [best, time] = bestFor(shape, of, target, 1);
  if (time >= model.timeOf(cut, 1) * kSkinnyProducts.worthIt)
    return;
  cut = best;
  cut.share = Share::None;
}

static void setEven(Cut &cut, const Extents &of) {
  cut.evenColumns = of.columns % cut.block == 0 && of.columns > 0;
  cut.evenRows = of.rows % cut.rows == 0;
}

/// A product's, in the form that launches choose.
static double timeOfBest(const KernelShape &shape, const Extents &of, const Target &target) {
  int64_t parts = shareInner(shape, of, target);
  return parts > 1 ? bestFor(shape, of, target, parts).second
                   : Model(shape, of, target).timeOf(chooseCut(shape, of, target), 1);
}

bool tile::isBestScattered(const KernelShape &shape, const Extents &of, const Target &target) {
  if (!rowsAddedTo(shape) || of.rows <= 0 || of.columns <= 0 || of.inner <= 0 ||
      of.rows > INT32_MAX / of.columns) // sums are counted by 32 bits
    return false;
  const DeviceModel &device = deviceLike(target.capability);
  double memory = device.terabytesPerSecond * 1e6 * tuningOf(target).reachedOfPeaks;
  double sums = double(of.rows) * double(of.columns), added = double(of.inner) * double(of.columns);
  // Sums are cleared and read, and what is added is read, and adds to memory.
  double bytes = 8 * sums + added * (double(operandBytes(shape)) + kScatter.bytesOfAddition);
  double time =
      2 * kSkinnyProducts.launchMicroseconds + kSkinnyProducts.restMicroseconds + bytes / memory;
  // Many additions to one row wait for each other.
  double ofRow = double(of.inner) / double(of.rows);
  time += ofRow * kScatter.microsecondsOfAddition;
  return time < timeOfBest(shape, of, target) * kScatter.worthIt;
}

Cut tile::cutScatter(const KernelShape &shape, const Extents &of, const Target &target,
                     TensorKernel::Scatter which) {
  if (which == TensorKernel::Scatter::Clears) {
    Cut cut = cutSum(of, target, 1);
    cut.share = Share::Clear;
    return cut;
  }
  Cut cut;
  cut.share = Share::Scatter;
  cut.warps = 4;
  cut.rows = 1;
  cut.block = std::clamp<int64_t>(powerOfTwo(of.columns), kLeastBlock, kScatter.columns);
  cut.inner = std::clamp<int64_t>(kScatter.elements / cut.block, 1, 64);
  cut.inner = std::max<int64_t>(cut.inner, 2); // a row alone is no block
  cut.evenInner = of.inner % cut.inner == 0;
  setEven(cut, of);
  return cut;
}

OperandsToStore tile::operandsToStore(const KernelShape &shape, const Extents &of,
                                      const Target &target) {
  OperandsToStore best;
  // What is computed of places, or of vectors, nobody has as a matrix: memory may have no room.
  auto isStorable = [&](const Extents::Computed &operand) {
    return operand.slots > 0 &&
           operand.bytes * kComputedOperands.mostGrowth >= double(operandBytes(shape));
  };
  bool hasLeft = isStorable(of.left), hasRight = isStorable(of.right);
  if ((!hasLeft && !hasRight) || of.batch <= 0 || of.rows <= 0 || of.columns <= 0 || of.inner <= 0)
    return best;
  const DeviceModel &device = deviceLike(target.capability);
  const Tuning &tuning = tuningOf(target);
  double memory = device.terabytesPerSecond * 1e6 * tuning.reachedOfPeaks; // in a microsecond
  double slots = kComputedOperands.perCycle * device.gigahertz * 1e3 * device.multiprocessors;
  double least = timeOfBest(shape, of, target) * kComputedOperands.worthIt;
  for (OperandsToStore tried : {OperandsToStore{false, true}, {true, false}, {true, true}}) {
    if ((tried.left && !hasLeft) || (tried.right && !hasRight))
      continue;
    Extents with = of;
    double time = 0;
    auto store = [&](Extents::Computed &operand) {
      double moved = operand.elements * (operand.bytes + double(operandBytes(shape))) / memory;
      time += kSkinnyProducts.launchMicroseconds +
              std::max(moved, operand.elements * operand.slots / slots);
      operand = {};
    };
    if (tried.left)
      store(with.left);
    if (tried.right)
      store(with.right);
    time += timeOfBest(shape, with, target);
    if (time >= least)
      continue;
    least = time;
    best = tried;
  }
  return best;
}

/// Whether no block of columns is of two products: each but the last ends where all blocks do.
static bool endsWithBlocks(const KernelShape &joined, const Bindings &sizes) {
  int64_t most = 0;
  for (const PartBlock &block : kPartBlocks)
    most = std::max(most, block.columns);
  std::vector<const KernelShape *> products = {&joined};
  for (const KernelShape &other : joined.beside)
    products.push_back(&other);
  products.pop_back();
  return llvm::all_of(products, [&](const KernelShape *one) {
    return product(one->columns).evaluate(sizes).value_or(1) % most == 0;
  });
}

bool tile::isBestSideBySide(const KernelShape &joined, llvm::ArrayRef<const KernelShape *> apart,
                            const Bindings &sizes, const Target &target) {
  std::optional<Extents> all = extentsOf(joined, sizes);
  auto isThere = [](const Extents &of) {
    return of.batch > 0 && of.rows > 0 && of.columns > 0 && of.inner > 0;
  };
  if (!all || !isThere(*all) || !endsWithBlocks(joined, sizes) ||
      !Model(joined, *all, target).isSkinny())
    return false;
  double time = kSkinnyProducts.restMicroseconds - kSkinnyProducts.launchMicroseconds;
  for (const KernelShape *one : apart) {
    std::optional<Extents> of = extentsOf(*one, sizes);
    if (!of || !isThere(*of))
      return false;
    time += timeOfBest(*one, *of, target) - kSkinnyProducts.restMicroseconds +
            kSkinnyProducts.launchMicroseconds;
  }
  return timeOfBest(joined, *all, target) < time * kSkinnyProducts.worthIt;
}

std::vector<TensorCut> tile::rankProducts(const KernelShape &shape, const Extents &of,
                                          const Target &target) {
  std::vector<std::pair<double, TensorCut>> all;
  auto add = [&](int64_t parts) {
    forEachBlock(shape, of, target, parts, [&](const Cut &cut, double time) {
      all.push_back({time, {cut.rows, cut.block, cut.inner, parts, cut.warps, cut.stages}});
    });
  };
  add(1);
  int64_t turns = llvm::divideCeil(uint64_t(of.inner), uint64_t(all.front().second.inner));
  for (int64_t parts : kParts)
    if (mayShare(shape, of) && canBe(parts, turns, of))
      add(parts);
  std::vector<TensorCut> out;
  std::multimap<double, TensorCut> byTime(all.begin(), all.end()); // equals stay in order
  for (auto &[time, cut] : byTime)
    out.push_back(cut);
  return out;
}

Cut tile::cutShared(const KernelShape &shape, const Extents &of, const Target &target,
                    int64_t parts) {
  Cut cut = bestFor(shape, of, target, parts).first;
  cut.evenInner = of.inner % cut.inner == 0;
  cut.streams = isStreaming(shape, cut, of, target);
  setEven(cut, of);
  return cut;
}

Cut tile::cutSum(const Extents &of, const Target &target, int64_t parts) {
  const Tuning &tuning = tuningOf(target);
  Cut cut;
  cut.share = Share::Sum;
  cut.parts = parts;
  cut.warps = int(tuning.sumWarps);
  // Of many parts a thread adds up one element: what comes at once is that of all parts.
  int64_t ofThread = parts > 16 ? 1 : tuning.sumElements;
  int64_t elements = tuning.sumWarps * int64_t(kLanes) * ofThread;
  cut.block = std::clamp<int64_t>(int64_t(llvm::PowerOf2Ceil(of.columns)), 16, 256);
  cut.rows = std::max<int64_t>(elements / cut.block, 2); // a row alone is no block
  setEven(cut, of);
  return cut;
}
