//===- Convert.cpp - moving a block from one layout to another ------------===//
//
// The cheapest of three ways that fits:
//   registers  lanes and warps already agree: rename registers;
//   shuffles   warps agree: exchange within each warp;
//   scratch    write the block to shared memory in one layout, barrier, read it
//              in the other. The buffer is swizzled so that both sides move
//              wide words without bank conflicts.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Lowering.h"
#include "passes/lowering/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

/// True if the same lane of the same warp holds what it needs.
static bool sameThreads(const LinearLayout &a, const LinearLayout &c) {
  for (Dim dim : {Dim::lane(), Dim::warp()}) {
    int32_t bits = std::max(a.inSizeLog2(dim), c.inSizeLog2(dim));
    for (int32_t bit = 0; bit < bits; ++bit) {
      auto basis = [&](const LinearLayout &l) {
        return bit < l.inSizeLog2(dim) ? l.basis(dim, bit) : layout::Basis(l.outs().size(), 0);
      };
      if (basis(a) != basis(c))
        return false;
    }
  }
  return true;
}

static SmallVector<int> renaming(const LinearLayout &from, const LinearLayout &to) {
  if (!sameThreads(from, to))
    return {};
  SmallVector<int> map = matchRegisters(
      to, from, [](ArrayRef<int32_t> c) { return SmallVector<int32_t>(c); });
  if (llvm::is_contained(map, -1))
    return {};
  return map;
}

int64_t lowering::convertScratchBytes(cta::ConvertLayoutOp op) {
  const LinearLayout &from = cta::getLayout(op.getSrc().getType());
  const LinearLayout &to = cta::getLayout(op.getType());
  if (!renaming(from, to).empty())
    return 0;
  auto block = cast<RankedTensorType>(op.getType());
  int64_t bytes = std::max(getElementBytes(block.getElementType()), 1u);
  return llvm::alignTo(block.getNumElements() * bytes, 16);
}

/// Positions -> element offset in the exchange buffer.
static LinearLayout toOffset(const LinearLayout &layout) {
  SmallVector<Dim> reversed;
  int32_t size = 1;
  for (auto &out : llvm::reverse(layout.outs())) {
    reversed.push_back(out.first);
    size *= out.second;
  }
  return layout.transposeOuts(reversed).reshapeOuts({{Dim::offset(), size}});
}

namespace {
/// Which register bits move neighbouring offsets, so that they form one access.
struct VectorBits {
  SmallVector<unsigned> bits; ///< register bit that adds 1, 2, 4, ...
  VectorBits(const LinearLayout &offsets, unsigned elementBits) {
    for (int32_t want = 1; (elementBits << bits.size()) < 128; want *= 2) {
      bool found = false;
      for (int32_t bit = 0; bit < offsets.inSizeLog2(Dim::reg()); ++bit)
        if (offsets.basis(Dim::reg(), bit)[0] == want) {
          bits.push_back(bit);
          found = true;
          break;
        }
      if (!found)
        return;
      // Nothing else may reach into the bits of one access.
      if (llvm::count_if(offsets.rows(), [&](uint64_t row) { return row & want; }) > 1) {
        bits.pop_back();
        return;
      }
    }
  }
  unsigned mask() const {
    unsigned m = 0;
    for (unsigned bit : bits)
      m |= 1u << bit;
    return m;
  }
  unsigned member(unsigned reg, unsigned i) const {
    for (auto [k, bit] : llvm::enumerate(bits))
      if (i >> k & 1)
        reg |= 1u << bit;
    return reg;
  }
  unsigned size() const { return 1u << bits.size(); }
};
} // namespace

Value Lowering::exchangeAddress(const LinearLayout &offsets, unsigned reg, Value base,
                                unsigned bytes) {
  Location loc = in.getLoc();
  int32_t constant = 0, threadBits = 0;
  for (int32_t bit = 0; bit < offsets.inSizeLog2(Dim::reg()); ++bit)
    if (reg >> bit & 1)
      constant ^= offsets.basis(Dim::reg(), bit)[0];
  for (Dim dim : {Dim::lane(), Dim::warp()})
    for (int32_t bit = 0; bit < offsets.inSizeLog2(dim); ++bit)
      threadBits |= offsets.basis(dim, bit)[0];
  Value thread = threadPart(offsets, Dim::offset());
  bool overlap = constant & threadBits;
  if (overlap)
    thread = LLVM::XOrOp::create(b, loc, thread, in.i32(constant));
  Value byte = bytes == 1 ? thread
                          : LLVM::ShlOp::create(b, loc, thread, in.i32(llvm::Log2_32(bytes)))
                                .getResult();
  Value p = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), base, byte);
  if (!overlap && constant)
    p = LLVM::GEPOp::create(b, loc, base.getType(), b.getI8Type(), p,
                            ArrayRef<LLVM::GEPArg>{int32_t(constant * bytes)});
  return p;
}

LogicalResult Lowering::lowerConvert(cta::ConvertLayoutOp op) {
  const LinearLayout &from = cta::getLayout(op.getSrc().getType());
  const LinearLayout &to = cta::getLayout(op.getType());
  const Registers &src = get(op.getSrc());
  Registers regs;
  if (SmallVector<int> map = renaming(from, to); !map.empty()) {
    for (int r : map)
      regs.push_back(src[r]);
    set(op.getResult(), std::move(regs));
    return success();
  }
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!scratch)
    return op.emitOpError("needs an exchange through shared memory but has none assigned");
  Type type = src.front().getType();
  Type memory = type.isInteger(1) ? b.getI8Type() : type;
  unsigned bytes = bitWidth(memory) / 8;
  Value base = sharedBase(scratch.getInt());

  LinearLayout write = toOffset(from), read = toOffset(to);
  VectorBits writeBits(write, bitWidth(memory)), readBits(read, bitWidth(memory));
  Value writer = writerPredicate(from, 0);
  // Register bits without a basis hold copies.
  unsigned copies = 0;
  for (int32_t bit = 0; bit < write.inSizeLog2(Dim::reg()); ++bit)
    if (write.basis(Dim::reg(), bit)[0] == 0)
      copies |= 1u << bit;
  for (unsigned r = 0; r < src.size(); ++r) {
    if (r & (writeBits.mask() | copies))
      continue;
    SmallVector<Value> group;
    for (unsigned i = 0; i < writeBits.size(); ++i)
      group.push_back(toMemory(src[writeBits.member(r, i)]));
    in.storeShared(exchangeAddress(write, r, base, bytes), group, writer);
  }
  in.barrier();
  regs.resize(to.inSize(Dim::reg()));
  for (unsigned r = 0; r < regs.size(); ++r) {
    if (r & readBits.mask())
      continue;
    SmallVector<Value> group =
        in.loadShared(memory, readBits.size(), exchangeAddress(read, r, base, bytes));
    for (unsigned i = 0; i < readBits.size(); ++i)
      regs[readBits.member(r, i)] = fromMemory(group[i], type);
  }
  set(op.getResult(), std::move(regs));
  return success();
}
