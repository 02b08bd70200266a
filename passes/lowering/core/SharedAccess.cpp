//===- SharedAccess.cpp - blocks in and out of shared memory --------------===//
#include "passes/lowering/core/SharedAccess.h"
#include "ir/Kernel.h"
#include "ir/layout/MatrixAccess.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/memory/Costs.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using namespace tile::layout;

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

void lowering::storeBlock(Core &core, const Registers &regs, const LinearLayout &holders,
                          const SharedLayout &shared, const MatrixAccess *matrices, Value base) {
  unsigned bytes = bitWidth(regs.front().getType()) / 8;
  if (matrices) {
    for (auto [group, first] : llvm::enumerate(matrices->firstRegisters)) {
      Registers elements;
      for (unsigned m = 0; m < matrices->numMatrices(); ++m)
        for (unsigned e = 0; e < 4 / bytes; ++e)
          elements.push_back(regs[matrices->registerAt(first, m, e)]);
      core.in.storeMatrices(core.exchangeAddress(matrices->addresses, group, base, bytes),
                            core.in.pack(elements, 32), matrices->transposed);
    }
    return;
  }
  LinearLayout offsets = offsetsOf(holders, shared.layout);
  VectorAccess writes = widestVector(offsets, Dim::offset(), shared.writeVectorLog2);
  Value writer = core.writerPredicate(holders, 0);
  llvm::SmallDenseSet<uint64_t> written; // registers may hold copies
  for (int32_t first : writes.firstRegisters) {
    uint64_t offset = 0;
    for (auto [bit, row] : llvm::enumerate(offsets.rows(Dim::reg())))
      if (first >> bit & 1)
        offset ^= row;
    if (!written.insert(offset).second)
      continue;
    SmallVector<Value> group;
    for (unsigned k = 0; k < (1u << writes.log2()); ++k)
      group.push_back(regs[writes.registerAt(first, k)]);
    core.in.storeShared(core.exchangeAddress(offsets, first, base, bytes), group, writer);
  }
}

/// A layout of addresses for stmatrix.x4, if the block can be stored so: pairs
/// of registers are words, four words of a thread belong to four 8x8 tiles whose
/// rows of 16 bytes stay together in `offsets`. Lane 8i + r of the result has the
/// start of row r of tile i.
static std::optional<LinearLayout> matrixAddresses(const LinearLayout &offsets, unsigned bytes) {
  ArrayRef<uint64_t> reg = offsets.rows(Dim::reg()), lane = offsets.rows(Dim::lane()),
                     warp = offsets.rows(Dim::warp());
  if (bytes != 2 || reg.size() < 3 || lane.size() != 5 || reg[0] != 1 || lane[0] != 2 ||
      lane[1] != 4)
    return std::nullopt;
  SmallVector<uint64_t, 16> rows(reg.drop_front(3));
  rows.append({lane[2], lane[3], lane[4], reg[1], reg[2]});
  llvm::append_range(rows, warp);
  for (uint64_t row : rows)
    if (row & 7)
      return std::nullopt;
  if (llvm::is_contained(lane, 0) || llvm::is_contained(warp, 0)) // copies
    return std::nullopt;
  return LinearLayout::fromRows(
      {{Dim::reg(), 1 << (reg.size() - 3)}, {Dim::lane(), 32}, {Dim::warp(), 1 << warp.size()}},
      offsets.outs(), rows);
}

/// By matrices only what no two threads hold.
static layout::SharedWrite planOf(const LinearLayout &holders, const LinearLayout &image,
                                  unsigned bytes, const Target &target) {
  return layout::planWrite(holders, image, bytes,
                           target.has(Feature::Stmatrix) && holders.isInjective());
}

Cost lowering::stageCost(const LinearLayout &holders, const LinearLayout &image, Type element,
                         const Target &target) {
  layout::SharedWrite plan = planOf(holders, image, std::max(getElementBytes(element), 1u), target);
  return {double(plan.instructions), double(plan.wavefronts), tuningOf(target).exchangeCycles};
}

/// Of threads that hold copies, one writes.
void lowering::writeElements(Core &core, const Registers &regs, const LinearLayout &offsets,
                             Value base) {
  unsigned bits = bitWidth(regs.front().getType()), bytes = std::max(bits / 8, 1u);
  if (auto addresses = matrixAddresses(offsets, bytes);
      addresses && core.in.target().has(Feature::Stmatrix)) {
    Registers words = core.in.pack(regs, 32);
    for (unsigned i = 0; i < words.size(); i += 4)
      core.in.storeMatrix(core.exchangeAddress(*addresses, i / 4, base, bytes),
                          ValueRange(words).slice(i, 4));
    return;
  }
  auto inPlace =
      LinearLayout::identity1D(offsets.outSize(Dim::offset()), Dim::offset(), Dim::offset());
  if (auto plan = planOf(offsets, inPlace, bytes, core.in.target()); plan.matrices)
    return storeBlock(core, regs, offsets, {inPlace, 0, 0}, &*plan.matrices, base);
  layout::VectorAccess access =
      layout::widestVector(offsets, Dim::offset(), llvm::Log2_32(16 / bytes));
  Value writer = core.writerPredicate(offsets, 0);
  for (int32_t first : access.firstRegisters) {
    SmallVector<Value> group;
    for (unsigned k = 0; k < (1u << access.log2()); ++k)
      group.push_back(core.toMemory(regs[access.registerAt(first, k)]));
    core.in.storeShared(core.exchangeAddress(offsets, first, base, bytes), group, writer);
  }
}

void lowering::writeRowMajor(Core &core, Value value, Value base, int64_t limit) {
  auto block = cast<RankedTensorType>(value.getType());
  const LinearLayout &layout = cta::getLayout(block);
  unsigned bytes = std::max(getElementBytes(block.getElementType()), 1u);
  Value owner = core.ownerPredicate(layout);
  Location loc = core.in.getLoc();
  for (auto [r, v] : llvm::enumerate(core.get(value))) {
    Value index = core.elementIndex(layout, int32_t(r), block.getShape());
    Value predicate = owner;
    if (block.getNumElements() > limit)
      predicate = core.andB(owner, LLVM::ICmpOp::create(core.b, loc, LLVM::ICmpPredicate::ult,
                                                        index, core.in.i32(int32_t(limit))));
    Value byte = LLVM::MulOp::create(core.b, loc, index, core.in.i32(int32_t(bytes)));
    core.in.storeShared(core.sharedAt(base, byte), {core.toMemory(v)}, predicate);
  }
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

SharedBlock lowering::makeSharedBlock(Type type, const LinearLayout &offsets,
                                      unsigned maxVectorLog2, const MatrixAccess *matrices,
                                      Value base) {
  SharedBlock block{type, base, offsets, matrices ? matrices->numMatrices() : 0, false, {},
                    {},   {},   {}};
  auto addGroup = [&](unsigned addressRegister, ArrayRef<int32_t> registers) {
    for (int32_t r : registers)
      block.groupOf[r] = unsigned(block.groups.size());
    block.groups.push_back({addressRegister, SmallVector<int32_t, 8>(registers)});
  };
  block.registers.resize(offsets.inSize(Dim::reg()));
  block.groupOf.resize(block.registers.size());
  SmallVector<int32_t, 16> group;
  if (matrices) {
    block.addresses = matrices->addresses;
    block.isTransposed = matrices->transposed;
    for (auto [index, first] : llvm::enumerate(matrices->firstRegisters)) {
      group.clear();
      for (unsigned m = 0; m < matrices->numMatrices(); ++m)
        for (unsigned e = 0; e < 4 / (bitWidth(type) / 8); ++e)
          group.push_back(matrices->registerAt(first, m, e));
      addGroup(unsigned(index), group);
    }
    return block;
  }
  VectorAccess reads = widestVector(offsets, Dim::offset(), maxVectorLog2);
  for (int32_t first : reads.firstRegisters) {
    group.clear();
    for (unsigned k = 0; k < 1u << reads.log2(); ++k)
      group.push_back(reads.registerAt(first, k));
    addGroup(unsigned(first), group);
  }
  return block;
}

void lowering::loadInto(Core &core, SharedBlock &block, unsigned reg) {
  if (block.registers[reg])
    return;
  const SharedBlock::Group &group = block.groups[block.groupOf[reg]];
  Value at =
      core.exchangeAddress(block.addresses, group.address, block.base, bitWidth(block.type) / 8);
  SmallVector<Value> elements =
      block.numMatrices
          ? core.in.unpack(core.in.loadMatrices(at, block.numMatrices, block.isTransposed),
                           block.type, group.registers.size())
          : core.in.loadShared(block.type, group.registers.size(), at);
  for (auto [r, v] : llvm::zip_equal(group.registers, elements))
    block.registers[r] = v;
  if (block.reads)
    core.noteRead(block.reads, elements);
}

Registers lowering::loadAll(Core &core, SharedBlock &block) {
  for (const SharedBlock::Group &group : block.groups)
    loadInto(core, block, unsigned(group.registers.front()));
  return block.registers;
}
