//===- ChooseCut.cpp - how a kernel is cut into blocks -----------------------===//
#include "compiler/functions/ChooseCut.h"
#include "passes/graph/RowLevels.h"
#include "passes/graph/SideBySide.h"
#include "passes/graph/StoredOperands.h"
#include "target/Devices.h"
#include "target/Tuning.h"
#include "target/tuning/ComputedOperands.h"
#include "target/tuning/SkinnyProducts.h"
#include "llvm/Support/MathExtras.h"

using namespace tile;
using namespace tile::graph;

/// What a thread moves at once.
static constexpr int64_t kVectorBytes = 16;

namespace {
/// What of a kernel counts for its blocks.
struct Traits {
  int64_t widest = 1;    ///< bytes of the widest element that changes along rows or columns
  int64_t inRows = 1;    ///< of those that change from column to column
  int64_t moved = 0;     ///< of the latter if there are any: one index of a row is read for all
  int64_t fullLoads = 0; ///< arrays that are read in rows and columns
  bool alongRows = false, alongColumns = false; ///< some array lies that way
  bool sharesColumns = false;                   ///< some array is the same for all rows
};
} // namespace

static Traits traitsOf(const KernelShape &shape) {
  Traits traits;
  unsigned inputs = shape.op->getNumOperands();
  auto look = [&](const Access &access, bool isLoad) {
    mlir::Value array = access.array < inputs ? shape.op->getOperand(access.array)
                                              : shape.op->getResult(access.array - inputs);
    int64_t bytes = bytesOf(mlir::cast<GraphTensorType>(array.getType()).getElement());
    if (access.hasColumn || access.hasRow)
      traits.widest = std::max(traits.widest, bytes);
    if (access.hasColumn)
      traits.inRows = std::max(traits.inRows, bytes);
    traits.fullLoads += isLoad && access.hasColumn && access.hasRow;
    bool unitColumn = !access.columnStrides.empty() && access.columnStrides.back().isConstant(1);
    bool unitRow = !access.rowStrides.empty() && access.rowStrides.back().isConstant(1);
    bool isBoth = access.hasColumn && access.hasRow;
    traits.sharesColumns |= isLoad && access.hasColumn && !access.hasRow;
    // What neighbouring rows have in common is smaller than what lies along them, if they are many.
    std::optional<int64_t> beside = shape.rows.empty() ? 1 : shape.rows.back().constant();
    bool isOfLast = access.rowStrides.empty() || access.rowStrides.back() != Size(0) ||
                    (beside && *beside < kLeastBlock);
    traits.alongColumns |= isBoth && unitColumn && isOfLast;
    traits.alongRows |= isBoth && unitRow && !unitColumn;
  };
  for (const Access &access : shape.loads)
    look(access, true);
  for (const Access &access : shape.stores)
    look(access, false);
  auto isAlongRow = [](const Access &access) { return access.hasColumn; };
  bool hasRows = llvm::any_of(shape.loads, isAlongRow) || llvm::any_of(shape.stores, isAlongRow);
  traits.moved = hasRows ? traits.inRows : traits.widest;
  return traits;
}

/// Element by element: vectors side by side, several rows where they are short.
static void cutPointwise(Cut &cut, const Traits &traits, int64_t rows, int64_t columns,
                         const Tuning &tuning) {
  int64_t elements = tuning.pointwiseThreads * kVectorBytes / traits.moved;
  cut.block = std::clamp(powerOfTwo(columns), kLeastBlock, elements);
  if (traits.sharesColumns && rows > 1) { // such as a bias: loaded once for several rows
    cut.block = std::min(cut.block, tuning.sharedColumns);
    elements *= 2;
  }
  if (traits.alongRows && rows > 1) { // a transposition: both ways in whole sectors
    elements = std::max(elements, tuning.transposedElements);
    cut.block =
        std::clamp(powerOfTwo(columns), kLeastBlock,
                   traits.alongColumns ? tuning.transposedColumns : tuning.transposedFewColumns);
  }
  cut.rows = std::min(std::max<int64_t>(elements / cut.block, 1), powerOfTwo(rows));
  cut.oneBlock = columns <= cut.block;
  int64_t threads = cut.rows * cut.block * traits.moved / kVectorBytes;
  cut.warps = std::clamp<int64_t>(powerOfTwo(threads / 32), 1, tuning.pointwiseThreads / 32);
}

/// Elements of a row that a program has registers for.
static int64_t mostInRegisters(const Traits &traits, const Target &target) {
  int64_t threads = std::min(target.multiprocessor.threads, 1024);
  int64_t most = int64_t(llvm::bit_floor(uint64_t(threads * tuningOf(target).registersForRows)));
  return most / powerOfTwo(std::max<int64_t>(traits.fullLoads, 1));
}

/// Whether a row that does not fit registers is read once all the same.
static bool readsRowsOnce(const KernelShape &shape) {
  auto isRow = [](const Access &store) { return store.hasColumn; };
  return llvm::none_of(shape.stores, isRow) && RowLevels(shape).last() <= 1;
}

/// A row in chunks.
static void cutIntoChunks(Cut &cut, const KernelShape &shape, const Traits &traits,
                          const Tuning &tuning) {
  cut.loop = true;
  cut.stages = tuning.chunkStages;
  bool isOnce = readsRowsOnce(shape);
  int64_t bytes = std::max<int64_t>(traits.inRows, 2);
  int64_t together = bytes * powerOfTwo(std::max<int64_t>(traits.fullLoads, 1));
  cut.block =
      std::max<int64_t>((isOnce ? tuning.smallChunkBytes : tuning.chunkBytes) / together,
                        isOnce ? tuning.smallChunkLeastElements : tuning.chunkLeastElements);
  int64_t vectors = cut.block * bytes / kVectorBytes / (isOnce ? 2 : 1);
  cut.warps = std::clamp<int64_t>(vectors / kLanes, 4, 16);
  cut.together = isOnce ? tuning.programsOfChunks : 0;
}

/// Whether neighbours in memory are different rows.
static bool areRowsBeside(const Traits &traits, int64_t rows) {
  return traits.alongRows && !traits.alongColumns && rows > 1;
}

bool tile::hasRowsBeside(const KernelShape &shape, const Extents &extents) {
  return areRowsBeside(traitsOf(shape), extents.rows);
}

/// Such rows: a warp takes 32 of them at least.
static void cutRowsBeside(Cut &cut, int64_t rows, int64_t columns, const Tuning &tuning) {
  cut.block = std::max(powerOfTwo(columns), kLeastBlock);
  cut.rows = std::min(powerOfTwo(rows), tuning.rowsBesideEachOther);
  int64_t fits = std::max(tuning.elementsBesideEachOther / cut.rows, kLeastBlock);
  cut.loop = cut.block > fits;
  cut.block = std::min(cut.block, fits);
}

/// A whole row in registers if it fits.
static void cutReduction(Cut &cut, const KernelShape &shape, const Traits &traits, int64_t rows,
                         int64_t columns, const Target &target) {
  const Tuning &tuning = tuningOf(target);
  cut.block = std::max(powerOfTwo(columns), kLeastBlock);
  cut.oneBlock = true;
  cut.warps = 4;
  if (areRowsBeside(traits, rows))
    return cutRowsBeside(cut, rows, columns, tuning);
  if (cut.block > mostInRegisters(traits, target))
    return cutIntoChunks(cut, shape, traits, tuning);
  if (cut.block * traits.moved <= tuning.sharedRowsBytes) {
    int64_t together =
        cut.block <= tuning.shortRow ? tuning.elementsOfShortRows : tuning.elementsOfRows;
    cut.rows = std::min(std::max<int64_t>(together / cut.block, 1), powerOfTwo(rows));
    int64_t moved = cut.rows * cut.block * traits.moved;
    cut.warps = std::clamp<int64_t>(powerOfTwo(moved / (32 * kVectorBytes)), 1, 4);
  } else {
    cut.warps = cut.block <= tuning.fewWarpsColumns    ? 4
                : cut.block <= tuning.manyWarpsColumns ? 16
                                                       : 32;
  }
}

/// Blocks of columns, and rows that a loop goes through; without columns long runs of rows.
static void cutParts(Cut &cut, const Traits &traits, int64_t rows, int64_t columns,
                     const Tuning &tuning) {
  int64_t elements = tuning.pointwiseThreads * kVectorBytes / traits.moved;
  cut.block = std::min(powerOfTwo(columns), elements);
  cut.rows = std::min(std::max<int64_t>(elements / cut.block, 1), powerOfTwo(rows));
  cut.oneBlock = columns <= cut.block;
  cut.warps = std::clamp<int64_t>(cut.rows * cut.block * traits.moved / (32 * kVectorBytes), 1,
                                  tuning.pointwiseThreads / 32);
}

/// Blocks that a chip computes at once.
static int64_t blocksAtOnce(const Target &target) {
  return deviceLike(target.capability).multiprocessors;
}

int tile::fewPrograms(int64_t programs, const Target &target) {
  int64_t atOnce = blocksAtOnce(target);
  return programs >= 2 * atOnce ? 0 : programs <= atOnce ? 1 : 2;
}

int64_t tile::threadsAtOnce(const Target &target) {
  return blocksAtOnce(target) * target.multiprocessor.threads;
}

int64_t tile::chooseParts(const KernelShape &shape, const Extents &extents, const Target &target) {
  int64_t atOnce = blocksAtOnce(target);
  const Tuning &tuning = tuningOf(target);
  Traits traits = traitsOf(shape);
  int64_t most = std::max<int64_t>(extents.rows, 1), wanted;
  if (shape.reduces) {
    int64_t bytes = std::max<int64_t>(extents.columns, 1) * traits.moved;
    bool isLong = powerOfTwo(extents.columns) > mostInRegisters(traits, target);
    int64_t least =
        isLong && readsRowsOnce(shape) ? tuning.programsOfChunks : tuning.programsOfRows;
    // Of wide rows of several arrays registers hold one program.
    bool isWide = !isLong && extents.columns > tuning.fewWarpsColumns && traits.fullLoads > 1;
    wanted = atOnce * (isWide ? 1
                              : std::clamp(tuning.combinedRowsBytes / bytes, least,
                                           tuning.mostProgramsOfRows));
    most = llvm::divideCeil(uint64_t(most),
                            uint64_t(std::max<int64_t>(tuning.sharedRowsBytes / bytes, 1)));
  } else {
    Cut cut;
    cutParts(cut, traits, extents.rows, extents.columns, tuning);
    int64_t blocks = llvm::divideCeil(uint64_t(extents.columns), uint64_t(cut.block));
    wanted = atOnce * tuning.programsOfBlocks / std::max<int64_t>(blocks, 1);
    // A part that is added up in the end costs as much as a few rows.
    most = llvm::divideCeil(uint64_t(most), uint64_t(cut.rows * 4));
  }
  return std::clamp<int64_t>(wanted, 1, most);
}

/// Candidates for blocks of a product, and the warps that compute them.
struct ProductBlock {
  int64_t rows, columns;
  int warps;
};
static constexpr ProductBlock kProductBlocks[] = {{16, 64, 4},   {16, 128, 4},  {32, 64, 4},
                                                  {64, 64, 4},   {64, 128, 4},  {128, 64, 4},
                                                  {128, 128, 4}, {128, 256, 8}, {256, 128, 8}};

double tile::productsPerCycle(const DeviceModel &device, int64_t bytes) {
  double tera = device.tera[unsigned(bytes >= 4 ? Arithmetic::Fp32 : Arithmetic::Fp16)];
  return tera * 1e3 / 2 / (double(device.multiprocessors) * device.gigahertz);
}

double tile::productsOfBlock(const Cut &cut, const Extents &of, int64_t products, int64_t bytes) {
  double columns = double(cut.block * products);
  if (bytes < kBytesOfThreads)
    return double(std::max<int64_t>(cut.rows, 64)) * columns;
  // A thread multiplies a square of them, of which it loads the sides.
  double threads = cut.warps * double(kLanes);
  double each = std::max(double(cut.rows) * columns / threads, 1.0);
  int64_t high = int64_t(1) << (llvm::Log2_64(uint64_t(each)) / 2);
  double loads = (double(high) + each / double(high)) * double(bytes) / double(kVectorBytes);
  auto copies = [&](double count, const Extents::Computed &operand) {
    return operand.slots > 0 ? 0 : count * kComputedOperands.slotsToCopy / double(operand.vector);
  };
  return threads * (each + loads) + copies(double(cut.rows), of.left) + copies(columns, of.right);
}

int tile::turnsOnTheWay(const Target &target, int64_t turnBytes, int64_t programs, int64_t wanted) {
  const Tuning &tuning = tuningOf(target);
  bool isAlone = fewPrograms(programs, target) == 1;
  int64_t tenths = isAlone ? kSkinnyProducts.tenthsForTurnsAlone : 2 * tuning.fifthsForTurns;
  int64_t most = target.maxSharedBytes * tenths / 10 / turnBytes;
  return int(std::clamp<int64_t>(std::min(wanted, most), kDefaultStages, tuning.mostOperandStages));
}

/// The block with the least work, counted in rounds of the chip: what is multiplied in vain
/// behind the ends counts, and so does what is loaded.
static void cutProduct(Cut &cut, const KernelShape &shape, const Extents &of,
                       const Target &target) {
  int64_t atOnce = blocksAtOnce(target);
  const Tuning &tuning = tuningOf(target);
  graph::MatmulOp op = shape.product->op;
  int64_t bytes = bytesOf(op.getLhs().getType().getElement());
  if (bytes >= kBytesOfThreads)
    return cutOfThreads(cut, shape, of, target);
  cut.inner = std::clamp<int64_t>(128 / bytes, 16, 64);
  // What is computed of operands, in products of elements that take as long.
  const DeviceModel &model = deviceLike(target.capability);
  double perSlot = productsPerCycle(model, bytes) / kComputedOperands.perCycle;
  auto products = int64_t(1 + shape.product->others.size());
  double best = 0;
  for (const ProductBlock &block : kProductBlocks) {
    bool isPair = !shape.product->others.empty();
    if (isPair && block.rows * block.columns > 128 * 128)
      continue; // the sums of both are in registers
    Cut tried;
    tried.rows = block.rows;
    tried.block = block.columns;
    int64_t blocks = countPrograms(shape, tried, of);
    int64_t rounds = llvm::divideCeil(uint64_t(std::max<int64_t>(blocks, 1)), uint64_t(atOnce));
    double multiplied = productsOfBlock(tried, of, 1, bytes);
    double loaded = double((block.rows + block.columns) * bytes * tuning.productsPerByte);
    double computed = perSlot * (double(block.rows) * of.left.slots +
                                 double(block.columns * products) * of.right.slots);
    double time = double(rounds) *
                  (std::max(multiplied, loaded) + tuning.loadedBesideProducts * loaded + computed);
    if (best != 0 && time >= best)
      continue;
    best = time;
    cut.rows = block.rows;
    cut.block = block.columns;
    cut.warps = isPair && block.rows * block.columns == 128 * 128 ? 8 : block.warps;
  }
  // Few blocks keep memory busy only if each has more on its way.
  const DeviceModel *device = deviceFor(target.capability);
  if (!device)
    return;
  int64_t programs = std::clamp<int64_t>(countPrograms(shape, cut, of), 1, 2 * atOnce);
  int64_t columns = cut.block * int64_t(1 + shape.product->others.size());
  int64_t turn = (cut.rows + columns) * cut.inner * bytes;
  // Rows that all programs read come from the cache.
  int64_t fromMemory = of.rows <= cut.rows ? columns * cut.inner * bytes : turn;
  auto wanted = int64_t(device->terabytesPerSecond * 1e6 * tuning.onTheWayMicroseconds) /
                (programs * fromMemory);
  cut.stages = turnsOnTheWay(target, turn, countPrograms(shape, cut, of), wanted);
  cutSkinny(cut, shape, of, target);
}

/// Elements of an array that one access may have: as many as all of its strides are multiples of.
static int64_t vectorOf(const KernelShape &operand, int64_t bytes, const Bindings &sizes) {
  uint64_t most = kVectorBytes / std::max<int64_t>(bytes, 1);
  for (const Access &load : operand.loads)
    for (const graph::Sizes *strides : {&load.rowStrides, &load.columnStrides})
      for (const graph::Size &stride : *strides)
        if (int64_t value = stride.evaluate(sizes).value_or(1); value != 1)
          most = llvm::MinAlign(most, uint64_t(value));
  return int64_t(most);
}

/// How much of an operand is computed where it is read.
static Extents::Computed computedOf(const KernelShape &shape, const KernelShape &operand,
                                    mlir::Value use, const Bindings &sizes) {
  Extents::Computed of;
  auto element = mlir::cast<GraphTensorType>(use.getType()).getElement();
  of.vector = vectorOf(operand, bytesOf(element), sizes);
  mlir::Value value = valueToStore(use);
  if (!value)
    return of;
  auto elementsOf = [&](GraphTensorType type) {
    return double(product(type.sizes()).evaluate(sizes).value_or(0));
  };
  of.elements = elementsOf(mlir::cast<GraphTensorType>(value.getType()));
  if (of.elements == 0)
    return of;
  of.slots = slotsOf(operand);
  for (unsigned array : arraysBehind(value)) {
    auto type = mlir::cast<GraphTensorType>(shape.op->getOperand(array).getType());
    of.bytes += elementsOf(type) * double(bytesOf(type.getElement())) / of.elements;
  }
  return of;
}

std::optional<Extents> tile::extentsOf(const KernelShape &shape, const Bindings &sizes) {
  llvm::ArrayRef<Size> rows = shape.rows, batch;
  if (shape.product && !shape.joinsRows) {
    batch = rows.drop_back();
    rows = rows.take_back();
  }
  auto number = [&](llvm::ArrayRef<Size> of) { return product(of).evaluate(sizes); };
  auto inner = shape.product ? shape.product->inner.evaluate(sizes) : std::optional<int64_t>(1);
  std::optional<int64_t> depth = 1, other = 1;
  if (shape.product && shape.product->chain) {
    depth = shape.product->chain->firsts.front().depth.evaluate(sizes);
    other = shape.product->chain->firsts.back().depth.evaluate(sizes);
  }
  std::optional<int64_t> columns = graph::columnsOf(shape).evaluate(sizes);
  std::optional<int64_t> counts[] = {number(batch), number(rows), columns, inner, depth, other};
  for (std::optional<int64_t> count : counts)
    if (!count)
      return std::nullopt;
  int64_t parts = shape.parts ? shape.parts->evaluate(sizes).value_or(0) : 0;
  auto [least, most] = std::minmax(*depth, *other);
  Extents of{*counts[0], *counts[1], *counts[2], *counts[3], most, parts, least, {}, {}};
  if (shape.product && !shape.product->chain) {
    MatmulOp op = shape.product->op;
    of.left = computedOf(shape, shape.product->left, op.getLhs(), sizes);
    of.right = computedOf(shape, shape.product->right, op.getRhs(), sizes);
  }
  return of;
}

bool tile::isStreaming(const KernelShape &shape, const Cut &cut, const Extents &of,
                       const Target &target) {
  double least =
      double(deviceLike(target.capability).l2Bytes) / double(tuningOf(target).streamedPartOfCache);
  auto bytesOf = [&](const Access &load) {
    mlir::Value array = shape.op->getOperand(load.array);
    return graph::bytesOf(mlir::cast<GraphTensorType>(array.getType()).getElement());
  };
  if (shape.product) {
    double bytes = 0;
    for (MatmulOp op : productsOf(shape))
      bytes += double(of.inner) * double(of.columns) *
               graph::bytesOf(op.getRhs().getType().getElement());
    return !shape.product->chain && of.batch == 1 && of.rows <= cut.rows && bytes >= least;
  }
  auto isWhole = [](const Access &access) { return access.hasRow && access.hasColumn; };
  // Rows that programs go through come by bulk copies; copies by threads lose by such a hint.
  if (!shape.reduces || !shape.parts || cut.loop || llvm::any_of(shape.stores, isWhole))
    return false;
  return llvm::any_of(shape.loads, [&](const Access &load) {
    return isWhole(load) && double(of.rows) * double(of.columns) * double(bytesOf(load)) >= least;
  });
}

void tile::finishCut(Cut &cut, const KernelShape &shape, const Extents &extents,
                     const Target &target) {
  cut.streams = isStreaming(shape, cut, extents, target);
  if (shape.product)
    cut.evenInner = extents.inner % cut.inner == 0;
  cut.evenColumns = extents.columns % cut.block == 0 && extents.columns > 0;
  cut.evenRows = extents.rows % cut.rows == 0;
  if (shape.parts && cut.loop) { // a part may have no rows
    cut.rows = extents.rows == 0 ? std::max<int64_t>(cut.rows, 2) : cut.rows;
    cut.evenRows = false;
  }
}

/// What a thread does for an element of the rows, in instructions.
static double codeOfElement(const KernelShape &shape) {
  double slots = 0;
  for (auto &[value, form] : shape.forms)
    if (auto map = form.column ? value.getDefiningOp<MapOp>() : MapOp())
      slots += slotsOf(map);
  return slots;
}

/// Elements of a thread are code one behind the other: more than the cache of instructions holds
/// every warp would bring again. Fewer elements a thread, then.
static void limitCode(Cut &cut, const KernelShape &shape, const Tuning &tuning) {
  double slots = codeOfElement(shape);
  auto isTooMuch = [&] {
    int64_t elements = cut.rows * cut.block / (cut.warps * int64_t(kLanes));
    return elements > 1 && slots * double(elements) > double(tuning.codeOfThread);
  };
  constexpr int kMostWarps = 32;
  bool isRow = shape.reduces && cut.oneBlock && cut.rows == 1;
  while (isTooMuch()) {
    if (isRow && cut.warps == kMostWarps)
      return; // it is in registers, whole
    if (isRow)
      cut.warps *= 2;
    else if (cut.rows > 1)
      cut.rows /= 2;
    else if (cut.block > kLeastBlock && !cut.oneBlock)
      cut.block /= 2;
    else
      return;
  }
}

Cut tile::chooseCut(const KernelShape &shape, const Extents &extents, const Target &target) {
  Cut cut;
  if (shape.product && shape.product->chain)
    cutChain(cut, shape, extents, target);
  else if (shape.product)
    cutProduct(cut, shape, extents, target);
  else if (shape.reduces)
    cutReduction(cut, shape, traitsOf(shape), extents.rows, extents.columns, target);
  else if (shape.parts)
    cutParts(cut, traitsOf(shape), extents.rows, extents.columns, tuningOf(target));
  else
    cutPointwise(cut, traitsOf(shape), extents.rows, extents.columns, tuningOf(target));
  if (!shape.product)
    limitCode(cut, shape, tuningOf(target));
  finishCut(cut, shape, extents, target);
  return cut;
}

Cut tile::cutStep(const KernelShape &shape, const Extents &extents, const Target &target,
                  const TensorKernel &kernel) {
  Cut cut;
  Traits traits = traitsOf(shape);
  if (areRowsBeside(traits, extents.rows))
    cutRowsBeside(cut, extents.rows, extents.columns, tuningOf(target));
  else
    cutIntoChunks(cut, shape, traits, tuningOf(target));
  cut.share = Share::Step;
  cut.loop = true;
  cut.oneBlock = false;
  cut.parts = kernel.parts;
  cut.step = unsigned(kernel.step);
  cut.alone = kernel.isAlone;
  finishCut(cut, shape, extents, target);
  return cut;
}

int64_t tile::countPrograms(const KernelShape &shape, const Cut &cut, const Extents &extents) {
  int64_t rows = llvm::divideCeil(uint64_t(extents.rows), uint64_t(cut.rows));
  int64_t columns = llvm::divideCeil(uint64_t(extents.columns), uint64_t(cut.block));
  if (shape.parts)
    rows = extents.parts;
  if (cut.share == Share::Scatter)
    rows = llvm::divideCeil(uint64_t(extents.inner), uint64_t(cut.inner));
  // Of what does not fit 64 bits the caller finds more than a grid has.
  int64_t count =
      shape.reduces ? rows : llvm::SaturatingMultiply(uint64_t(rows), uint64_t(columns));
  return llvm::SaturatingMultiply(uint64_t(count), uint64_t(extents.batch));
}
