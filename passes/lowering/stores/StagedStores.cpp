//===- StagedStores.cpp - blocks to shared memory, and from there by TMA --===//
#include "passes/lowering/stores/StagedStores.h"
#include "ir/layout/Swizzle.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/lowering/core/SharedAccess.h"
#include "passes/lowering/core/TensorBoxes.h"
#include "passes/memory/JoinedStores.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

void StagedStores::lower(cta::StageOp op) {
  int64_t offset = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr).getInt();
  writeElements(
      core, core.get(op.getSrc()),
      layout::offsetsOf(cta::getLayout(op.getSrc().getType()), op.getType().getLinearLayout()),
      core.sharedBase(offset));
  if (!meetsLater(op)) {
    if (readersOfWritten(op) != OperandReaders::Threads)
      in.fenceProxyAsync();
    in.barrier();
  }
  core.set(op.getResult(), {core.sharedAddress(offset)});
}

void StagedStores::lower(cta::FillOp op) {
  writeElements(core, core.get(op.getSrc()),
                layout::offsetsOf(cta::getLayout(op.getSrc().getType()),
                                  op.getBuffer().getType().getLinearLayout()),
                core.bufferBase(op.getBuffer()));
  if (!meetsLater(op)) {
    in.fenceProxyAsync();
    in.barrier();
  }
}

/// Warpgroup w holds the rows of every 64-row block w, w + groups, ...: then
/// warpgroups need not wait for each other.
static bool sharesRowsOut(const LinearLayout &l, unsigned groups) {
  if (l.outSize(Dim::dim(0)) < 64 * int64_t(groups) || groups < 2)
    return false;
  ArrayRef<uint64_t> warps = l.rows(Dim::warp());
  for (unsigned bit = 2; bit < warps.size(); ++bit)
    if (warps[bit] != 1ull << (l.outShift(Dim::dim(0)) + 4 + bit))
      return false;
  uint64_t others = 0;
  for (Dim dim : {Dim::reg(), Dim::lane()})
    for (uint64_t row : l.rows(dim))
      others |= row;
  for (unsigned bit = 0; bit < 2; ++bit)
    others |= warps[bit];
  uint64_t groupBits = uint64_t(groups - 1) << (l.outShift(Dim::dim(0)) + 6);
  return (others & groupBits) == 0;
}

namespace {
/// What is staged at a time of a block that goes to shared memory in parts: the
/// elements of registers with one value of some bits.
struct StoreParts {
  LinearLayout offsets;      ///< of one part
  SmallVector<int, 4> parts; ///< of each register, its part
};
} // namespace

static StoreParts cutStore(const LinearLayout &offsets, unsigned parts) {
  unsigned kept = offsets.totalOutSizeLog2() - llvm::Log2_32(parts);
  SmallVector<uint64_t, 16> rows;
  unsigned registerBits = 0;
  for (uint64_t row : offsets.rows(Dim::reg()))
    if (row >> kept == 0) {
      rows.push_back(row);
      ++registerBits;
    }
  StoreParts result;
  for (int32_t reg = 0; reg < offsets.inSize(Dim::reg()); ++reg)
    result.parts.push_back(int(offsets.apply({{Dim::reg(), reg}}).front().second >> kept));
  SmallVector<layout::DimValue> ins;
  for (auto [dim, size] : offsets.ins()) {
    ins.push_back({dim, dim == Dim::reg() ? 1 << registerBits : size});
    if (dim != Dim::reg())
      llvm::append_range(rows, offsets.rows(dim));
  }
  result.offsets = LinearLayout::fromRows(ins, {{Dim::offset(), 1 << kept}}, rows);
  return result;
}

/// Whether each warpgroup stages the same part of the area for both.
static bool shareStaging(cta::TmaStoreOp a, cta::TmaStoreOp b) {
  return a.getValue().getType() == b.getValue().getType() && a.getLayout() == b.getLayout() &&
         a.getDims() == b.getDims() && mapAttr(a.getMap()).getBox() == mapAttr(b.getMap()).getBox();
}

/// Whether nothing can have been staged before a store: it runs once, ahead of all others.
static bool isFirstStore(cta::TmaStoreOp op) {
  if (op->getParentOfType<LoopLikeOpInterface>())
    return false;
  Operation *first = nullptr;
  op->getParentOfType<FunctionOpInterface>().walk([&](cta::TmaStoreOp store) {
    first = store;
    return WalkResult::interrupt();
  });
  return first == op;
}

namespace {
/// One store: its block is staged in parts, and copied from there box by box.
class StoreLowering {
public:
  StoreLowering(Core &core, cta::TmaStoreOp op, int parts);
  void run(int parts);

private:
  Core &core;
  Instructions &in;
  OpBuilder &b;
  cta::TmaStoreOp op;
  const LinearLayout &from, &image;
  unsigned bytes, groups;
  bool apart; ///< each warpgroup stores its own rows
  Value leads, policy;
  StoreParts cut;
  int64_t partBytes;

  void sync();
  void waitForArea();
  void stage(int part, int64_t buffer);
  void copyBoxes(int part, int64_t buffer);
};
} // namespace

StoreLowering::StoreLowering(Core &core, cta::TmaStoreOp op, int parts)
    : core(core), in(core.in), b(core.b), op(op), from(cta::getLayout(op.getValue().getType())),
      image(op.getLayout().getLayout()),
      bytes(getElementBytes(getElementType(op.getValue().getType()))),
      groups(core.numThreads / kWarpgroupThreads) {
  apart = op.getDims().front() == 1 && sharesRowsOut(from, groups) &&
          mapAttr(op.getMap()).getBox()[1] == 64;
  unsigned threads = apart ? kWarpgroupThreads : core.numThreads;
  Value number = LLVM::AndOp::create(b, op.getLoc(), core.tid, in.i32(int32_t(threads - 1)));
  leads = LLVM::ICmpOp::create(b, op.getLoc(), LLVM::ICmpPredicate::eq, number, in.i32(0));
  policy = core.policyOf(op);
  cut = cutStore(layout::offsetsOf(from, image), unsigned(parts));
  partBytes = int64_t(cut.offsets.outSize(Dim::offset())) * bytes;
}

void StoreLowering::sync() {
  if (apart)
    in.namedBarrier(core.plus(core.warpgroup(), kWarpgroupBarrier), kWarpgroupThreads);
  else
    in.barrier();
}

/// The staging area is free once the copies before have read it: this warpgroup's,
/// if its part of the area is the same for every store, or else everybody's.
void StoreLowering::waitForArea() {
  bool mixed = false;
  op->getParentOfType<ModuleOp>().walk(
      [&](cta::TmaStoreOp other) { mixed |= !shareStaging(op, other); });
  if (isFirstStore(op) || (op->hasAttr(cta::kOwnPlaceAttr) && !op.getOrdered()))
    return;
  Value waits = leads;
  if (mixed && groups > 1) {
    Value inGroup = LLVM::AndOp::create(b, op.getLoc(), core.tid, in.i32(kWarpgroupThreads - 1));
    waits = LLVM::ICmpOp::create(b, op.getLoc(), LLVM::ICmpPredicate::eq, inGroup, in.i32(0));
  }
  core.emitIf(waits, [&] {
    if (op.getOrdered())
      in.bulkWait();
    else
      in.bulkWaitRead();
  });
  if (mixed)
    in.barrier();
  else
    sync();
}

void StoreLowering::stage(int part, int64_t buffer) {
  Registers regs;
  for (auto [reg, its] : llvm::zip_equal(core.get(op.getValue()), cut.parts))
    if (its == part)
      regs.push_back(reg);
  writeElements(core, regs, cut.offsets, core.sharedBase(buffer));
  in.fenceProxyAsync();
  if (part > 0) // so that the next part may overwrite the one before
    core.emitIf(leads, [&] { in.bulkWaitRead(); });
  sync();
}

/// By one thread.
void StoreLowering::copyBoxes(int part, int64_t buffer) {
  Location loc = op.getLoc();
  Value source = core.sharedAddress(buffer);
  Value descriptor = in.tensorMapAddress(core.getScalar(op.getMap()));
  SmallVector<Value> starts;
  for (Value start : op.getStarts())
    starts.push_back(core.getScalar(start));
  if (apart) { // this warpgroup's rows
    Value row = LLVM::ShlOp::create(b, loc, core.warpgroup(), in.i32(6));
    int64_t rowBytes = layout::swizzleSpan(int64_t(image.outSize(Dim::dim(1))) * bytes);
    Value skip = LLVM::MulOp::create(b, loc, row, in.i32(int32_t(rowBytes)));
    source = LLVM::AddOp::create(b, loc, source, skip);
    starts[1] = LLVM::AddOp::create(b, loc, starts[1], row);
  }
  cta::MapAttr map = mapAttr(op.getMap());
  forEachBox(map, image, bytes, op.getDims(), [&](ArrayRef<int64_t> at, int64_t offset) {
    if ((apart && at[1] / 64 % groups != 0) || offset / partBytes != part)
      return;
    SmallVector<Value> coordinates;
    for (auto [start, more] : llvm::zip(starts, at))
      coordinates.push_back(core.plus(start, more));
    in.tmaStore(core.plus(source, offset % partBytes), descriptor, coordinates, policy);
  });
  in.bulkCommit();
}

void StoreLowering::run(int parts) {
  waitForArea();
  int64_t area = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr).getInt();
  for (int part = 0; part < parts; ++part) {
    int64_t buffer = area + part % 2 * partBytes; // parts take turns in two
    stage(part, buffer);
    core.emitIf(leads, [&] { copyBoxes(part, buffer); });
  }
}

void StagedStores::lower(cta::TmaStoreOp op) {
  auto partsAttr = op->getAttrOfType<IntegerAttr>(cta::kStorePartsAttr);
  int parts = partsAttr ? int(partsAttr.getInt()) : 1;
  StoreLowering(core, op, parts).run(parts);
  areCopied = true;
}

void StagedStores::finish() {
  if (areCopied) // shared memory must outlive the copies from it
    in.bulkWaitRead();
}
