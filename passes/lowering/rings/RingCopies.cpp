//===- RingCopies.cpp - copies by the tensor memory accelerator -----------===//
//
// A block goes box by box, each of which a tensor map describes; the blocks of a cluster share the
// boxes of what all of them need.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/Swizzle.h"
#include "passes/lowering/core/SharedAccess.h"
#include "passes/lowering/core/TensorBoxes.h"
#include "passes/lowering/rings/Rings.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

void Rings::lower(cta::RingCopyOp copy) {
  const Ring &ring = ringOf(copy.getRing());
  Location loc = copy.getLoc();
  auto type = copy.getBuffer().getType();
  const LinearLayout &image = type.getLinearLayout();
  unsigned bytes = getElementBytes(type.getElementType());
  cta::MapAttr box = mapAttr(copy.getMap());
  Value barrier = barrierOf(ring, ring.producer, /*full=*/true);
  Value map = in.tensorMapAddress(core.getScalar(copy.getMap()));
  Value address = core.getScalar(copy.getBuffer()), policy = core.policyOf(copy);
  SmallVector<Value> starts;
  for (Value start : copy.getStarts())
    starts.push_back(core.getScalar(start));
  auto copyBoxes = [&](std::optional<unsigned> cut, int64_t share, Value mask) {
    forEachBox(box, image, bytes, copy.getDims(), [&](ArrayRef<int64_t> at, int64_t offset) {
      if (cut && at[*cut] >= share)
        return;
      SmallVector<Value> coordinates;
      for (auto [start, more] : llvm::zip(starts, at))
        coordinates.push_back(core.plus(start, more));
      in.tmaLoad(core.plus(address, offset), map, coordinates, barrier, mask, policy);
    });
  };
  std::optional<unsigned> cut;
  if (copy.getCommon() && ring.cluster > 1)
    cut = cta::dimensionToShare(box, type, copy.getDims(), ring.cluster);
  if (!cut) {
    copyBoxes(std::nullopt, 0, Value());
    return;
  }
  Block *own = core.newBlock(), *shared = core.newBlock(), *next = core.newBlock();
  LLVM::CondBrOp::create(b, loc, core.getScalar(copy.getCommon()), shared, own);
  core.enterBlock(own);
  copyBoxes(std::nullopt, 0, Value());
  LLVM::BrOp::create(b, loc, ValueRange(), next);

  core.enterBlock(shared);
  int32_t dim = copy.getDims()[*cut];
  int64_t share = image.outSize(Dim::dim(dim)) / ring.cluster;
  int64_t step = int64_t(image.invert().apply({{Dim::dim(dim), int32_t(share)}}).front().second);
  Value rank = core.clusterRank();
  auto times = [&](int64_t n) -> Value {
    return LLVM::MulOp::create(b, loc, rank, in.i32(int32_t(n)));
  };
  address = LLVM::AddOp::create(b, loc, address, times(step * bytes));
  starts[*cut] = LLVM::AddOp::create(b, loc, starts[*cut], times(share));
  auto everyone = LLVM::ConstantOp::create(b, loc, b.getI16IntegerAttr((1 << ring.cluster) - 1));
  copyBoxes(cut, share, everyone);
  LLVM::BrOp::create(b, loc, ValueRange(), next);
  core.enterBlock(next);
}

void Rings::lower(cta::RingFillOp op) {
  const Ring &ring = ringOf(op.getRing());
  ArrayRef<Type> buffers = op.getRing().getType().getBuffers();
  auto buffer = cast<cta::BufferType>(buffers[op.getBuffer()]);
  LinearLayout offsets =
      layout::offsetsOf(cta::getLayout(op.getValue().getType()), buffer.getLinearLayout());
  int64_t begin = buffersInSlot(ring, buffers)[op.getBuffer()];
  in.barrier(); // nobody reads any more what was there
  for (unsigned slot = 0; slot < ring.stages; ++slot)
    writeElements(core, core.get(op.getValue()), offsets,
                  core.sharedBase(begin + slot * ring.slotBytes));
  in.fenceProxyAsync();
  in.barrier();
}
