//===- MatrixAccess.cpp - shared memory by 8 x 8 matrices -----------------===//
#include "ir/layout/MatrixAccess.h"
#include "ir/layout/GF2.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>

using namespace tile::layout;
using llvm::ArrayRef;
using llvm::SmallVector;

static constexpr unsigned kRowBytes = 16;
static constexpr unsigned kWordBytes = 4;
static constexpr unsigned kLaneBits = 5;
/// Matrices of one instruction, log2.
static constexpr unsigned kMaxMatrixBits = 2;

int32_t MatrixAccess::registerAt(int32_t first, unsigned matrix, unsigned element) const {
  for (auto [i, mask] : llvm::enumerate(matrixMasks))
    if (matrix >> i & 1)
      first ^= mask;
  for (auto [i, mask] : llvm::enumerate(elementMasks))
    if (element >> i & 1)
      first ^= mask;
  return first;
}

/// 3. The registers beyond those that `access` knows, without their part in a word.
static SmallVector<int32_t, 16> otherRegisters(const MatrixAccess &access,
                                               ArrayRef<uint64_t> regs) {
  XorSpan used;
  for (int32_t mask : access.elementMasks)
    used.insert(uint64_t(mask));
  SmallVector<int32_t, 16> others;
  for (unsigned bit = 0; bit < regs.size(); ++bit) {
    uint64_t mask = 1ull << bit;
    for (unsigned i = 0; i < access.elementMasks.size(); ++i)
      if (regs[bit] >> i & 1)
        mask ^= uint64_t(access.elementMasks[i]);
    if (used.insert(mask))
      others.push_back(int32_t(mask));
  }
  return others;
}

/// 4. Where lanes point: rows, then matrices; instructions in registers.
static void addAddresses(MatrixAccess &access, const LinearLayout &offsets,
                         ArrayRef<int32_t> others, ArrayRef<uint64_t> across) {
  ArrayRef<uint64_t> warps = offsets.rows(Dim::warp());
  size_t matrices = access.matrixMasks.size();
  SmallVector<uint64_t, 16> rows, laneRows(across.begin(), across.end());
  for (int32_t mask : others)
    (laneRows.size() < 3 + matrices ? laneRows : rows).push_back(offsets.image(uint64_t(mask)));
  laneRows.resize(kLaneBits, 0);
  unsigned numRegisterBits = rows.size();
  for (uint64_t i = 0; i < 1ull << numRegisterBits; ++i) {
    int32_t first = 0;
    for (unsigned bit = 0; bit < numRegisterBits; ++bit)
      if (i >> bit & 1)
        first ^= others[matrices + bit];
    access.firstRegisters.push_back(first);
  }
  llvm::append_range(rows, laneRows);
  llvm::append_range(rows, warps);
  access.addresses = LinearLayout::fromRows({{Dim::reg(), 1 << numRegisterBits},
                                             {Dim::lane(), 1 << kLaneBits},
                                             {Dim::warp(), 1 << warps.size()}},
                                            offsets.outs(), rows);
}

std::optional<MatrixAccess> tile::layout::matrixAccess(const LinearLayout &offsets,
                                                       unsigned elementBytes, bool transposed) {
  ArrayRef<uint64_t> regs = offsets.rows(Dim::reg()), lanes = offsets.rows(Dim::lane());
  ArrayRef<uint64_t> warps = offsets.rows(Dim::warp());
  if (elementBytes > kWordBytes || (transposed && elementBytes != 2) || lanes.size() != kLaneBits)
    return std::nullopt;
  unsigned wordBits = log2Exact(kWordBytes / elementBytes);
  unsigned rowBits = log2Exact(kRowBytes / elementBytes);
  uint64_t withinRow = lowBits(rowBits), withinWord = transposed ? 0 : lowBits(wordBits);

  // 1. The lanes that lie within a row, in order, and those that select one.
  SmallVector<uint64_t, 3> along, across;
  unsigned firstAlong = transposed ? 2 : 0, numAlong = rowBits - (transposed ? 0 : wordBits);
  for (unsigned lane = 0; lane < kLaneBits; ++lane)
    (lane >= firstAlong && lane < firstAlong + numAlong ? along : across).push_back(lanes[lane]);
  for (auto [i, row] : llvm::enumerate(along))
    if (row != 1ull << (rowBits - numAlong + i))
      return std::nullopt;
  // 2. Nothing else moves within a row, but the registers of a word.
  auto stays = [&](uint64_t row) { return (row & withinRow) == 0; };
  if (!llvm::all_of(across, stays) || !llvm::all_of(warps, stays) ||
      llvm::any_of(regs, [&](uint64_t row) { return row & withinRow & ~withinWord; }))
    return std::nullopt;
  XorSpan inWord;
  for (auto [bit, row] : llvm::enumerate(regs))
    if (row & withinWord)
      inWord.insert(row & withinWord, 1ull << bit);
  MatrixAccess access{transposed, {}, {}, {}, {}};
  for (unsigned i = 0; !transposed && i < wordBits; ++i) {
    auto mask = inWord.solve(1ull << i);
    if (!mask || offsets.image(*mask) != 1ull << i)
      return std::nullopt;
    access.elementMasks.push_back(int32_t(*mask));
  }
  // 3. The other registers: first the pair of a transposed access, then matrices, then
  //    instructions.
  SmallVector<int32_t, 16> others = otherRegisters(access, regs);
  if (transposed) {
    if (others.empty())
      return std::nullopt;
    access.elementMasks.push_back(others.front());
    across.insert(across.begin(), offsets.image(uint64_t(others.front())));
    others.erase(others.begin());
  }
  size_t matrices = std::min<size_t>(others.size(), kMaxMatrixBits);
  access.matrixMasks.assign(others.begin(), others.begin() + matrices);
  addAddresses(access, offsets, others, across);
  return access;
}

//===----------------------------------------------------------------------===//
// Planning
//
// For the swizzle, a matrix access is a vector access of rows of 16 bytes by
// other lanes: those that point. So the layout of the pointing lanes takes the
// place of the layout of the holders, and the search is the same.
//===----------------------------------------------------------------------===//

namespace {
enum class Mode { Vector, Matrix, MatrixTransposed };
} // namespace

/// Who points where, if `holders` are accessed by matrices; nullopt if the
/// layout has too few lanes or registers.
static std::optional<LinearLayout> pointers(const LinearLayout &holders, unsigned elementBytes,
                                            Mode mode) {
  ArrayRef<uint64_t> regs = holders.rows(Dim::reg()), lanes = holders.rows(Dim::lane());
  if (mode == Mode::Vector)
    return holders;
  if (elementBytes > kWordBytes || lanes.size() != kLaneBits ||
      llvm::is_contained(lanes, uint64_t(0)))
    return std::nullopt;
  bool transposed = mode == Mode::MatrixTransposed;
  unsigned taken = transposed ? 1 : log2Exact(kWordBytes / elementBytes);
  if ((transposed && elementBytes != 2) || regs.size() < taken)
    return std::nullopt;
  SmallVector<uint64_t, 16> newRegs, newLanes;
  if (transposed) {
    newRegs.assign({lanes[2], lanes[3], lanes[4]});
    newLanes.assign({regs[0], lanes[0], lanes[1]});
  } else {
    newRegs.assign(regs.begin(), regs.begin() + taken);
    newRegs.append({lanes[0], lanes[1]});
    newLanes.assign({lanes[2], lanes[3], lanes[4]});
  }
  for (uint64_t row : regs.drop_front(taken))
    (newLanes.size() < kLaneBits ? newLanes : newRegs).push_back(row);
  newLanes.resize(kLaneBits, 0);
  unsigned numRegisterBits = newRegs.size();
  llvm::append_range(newRegs, newLanes);
  llvm::append_range(newRegs, holders.rows(Dim::warp()));
  return LinearLayout::fromRows({{Dim::reg(), 1 << numRegisterBits},
                                 {Dim::lane(), 1 << kLaneBits},
                                 {Dim::warp(), holders.inSize(Dim::warp())}},
                                holders.outs(), newRegs);
}

namespace {
/// One side of an exchange in one mode.
struct Side {
  const LinearLayout &holders;
  Mode mode;
  LinearLayout pointing;
  std::optional<MatrixAccess> access;

  /// Wavefronts and instructions under `shared`; nullopt if the mode does not fit.
  std::optional<unsigned> cost(const LinearLayout &shared, unsigned bytes) {
    unsigned rowBits = log2Exact(kRowBytes / bytes);
    if (mode == Mode::Vector) {
      unsigned v = widestVector(offsetsOf(holders, shared), Dim::offset(), rowBits).log2();
      return countWavefronts(holders, shared, bytes, v) + (holders.inSize(Dim::reg()) >> v);
    }
    access = matrixAccess(offsetsOf(holders, shared), bytes, mode == Mode::MatrixTransposed);
    if (!access)
      return std::nullopt;
    return countWavefronts(pointing, shared, bytes, rowBits) +
           unsigned(access->firstRegisters.size());
  }
};
} // namespace

SharedWrite tile::layout::planWrite(const LinearLayout &holders, const LinearLayout &image,
                                    unsigned elementBytes, bool matrices) {
  unsigned rowBits = log2Exact(kRowBytes / elementBytes);
  SharedWrite best;
  best.vectorLog2 = widestVector(offsetsOf(holders, image), Dim::offset(), rowBits).log2();
  best.wavefronts = countWavefronts(holders, image, elementBytes, best.vectorLog2);
  best.instructions = unsigned(holders.inSize(Dim::reg())) >> best.vectorLog2;
  for (Mode mode : {Mode::Matrix, Mode::MatrixTransposed}) {
    auto pointing = matrices ? pointers(holders, elementBytes, mode) : std::nullopt;
    if (!pointing)
      continue;
    Side side{holders, mode, *pointing, std::nullopt};
    std::optional<unsigned> cost = side.cost(image, elementBytes);
    if (!cost || *cost >= best.wavefronts + best.instructions)
      continue;
    unsigned count = unsigned(side.access->firstRegisters.size());
    best = {std::move(side.access), 0, *cost - count, count};
  }
  return best;
}

/// Words that a thread moves between what it reads by vectors and what it multiplies: fragments
/// have their registers side by side, and a vector may have some of several.
static unsigned wordsMoved(const LinearLayout &holders, const SharedLayout &shared,
                           unsigned elementBytes) {
  VectorAccess reads =
      widestVector(offsetsOf(holders, shared.layout), Dim::offset(), shared.readVectorLog2);
  for (auto [bit, mask] : llvm::enumerate(reads.masks))
    if (mask != 1 << bit)
      return unsigned(holders.inSize(Dim::reg())) * elementBytes / kWordBytes;
  return 0;
}

Exchange tile::layout::planExchange(const LinearLayout &write, const LinearLayout &read,
                                    unsigned elementBytes, MatrixSupport support) {
  Exchange best{optimalSwizzle(write, read, elementBytes), std::nullopt, std::nullopt};
  Side plainWrite{write, Mode::Vector, write, std::nullopt};
  Side plainRead{read, Mode::Vector, read, std::nullopt};
  auto movesOf = [&](const SharedLayout &shared, Mode mode) {
    return support.isMultiplied && mode == Mode::Vector ? wordsMoved(read, shared, elementBytes)
                                                        : 0;
  };
  unsigned bestCost = *plainWrite.cost(best.shared.layout, elementBytes) +
                      *plainRead.cost(best.shared.layout, elementBytes) +
                      movesOf(best.shared, Mode::Vector);
  SmallVector<Mode, 3> writes{Mode::Vector}, reads{Mode::Vector};
  if (support.store)
    writes.append({Mode::Matrix, Mode::MatrixTransposed});
  if (support.load)
    reads.append({Mode::Matrix, Mode::MatrixTransposed});
  for (Mode writeMode : writes)
    for (Mode readMode : reads) {
      auto writers = pointers(write, elementBytes, writeMode);
      auto readers = pointers(read, elementBytes, readMode);
      if (!writers || !readers || (writeMode == Mode::Vector && readMode == Mode::Vector))
        continue;
      SharedLayout shared = optimalSwizzle(*writers, *readers, elementBytes);
      Side w{write, writeMode, *writers, std::nullopt}, r{read, readMode, *readers, std::nullopt};
      auto readCost = r.cost(shared.layout, elementBytes);
      if (!readCost &&
          support.isMultiplied) { // both sides have longer vectors than rows of matrices
        unsigned rowLog2 = log2Exact(kRowBytes / elementBytes);
        shared = swizzleOfRows(*writers, *readers, elementBytes, rowLog2);
        readCost = r.cost(shared.layout, elementBytes);
      }
      auto writeCost = w.cost(shared.layout, elementBytes);
      if (!writeCost || !readCost)
        continue;
      unsigned cost = *writeCost + *readCost + movesOf(shared, readMode);
      if (cost >= bestCost)
        continue;
      bestCost = cost;
      best = {shared, std::move(w.access), std::move(r.access)};
    }
  return best;
}
