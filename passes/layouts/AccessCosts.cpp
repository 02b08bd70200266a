//===- AccessCosts.cpp - what an access takes in a layout -----------------===//
//
// A part of Coalescing: how wide the accesses of a thread are, and which lines of memory those of a
// warp touch.
//
//===----------------------------------------------------------------------===//
#include "ir/layout/GF2.h"
#include "passes/layouts/Coalesce.h"

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

/// Of a row that is long enough for all lanes: as many wavefronts as there are lines.
double Coalescing::Limits::cyclesWith(unsigned vector) const {
  double cycles = 0;
  for (auto [limit, bytes] : each) {
    double lines = double(kLanes * vector * bytes) / kLineBytes;
    lowering::Cost cost{1, std::max(lines, 1.0), 0};
    cycles += cost.total(/*warps=*/1) / std::min(limit, vector);
  }
  return cycles;
}

bool Coalescing::isContiguous(Operation *op) const { return accesses.find(op)->second.contiguous; }

bool Coalescing::isRepeated(Operation *op) const { return accesses.find(op)->second.repeated; }

/// Low bits of dimension `axis` that registers hold in place, up to `limit`
/// elements: register bit i is coordinate bit i, and no other thread differs.
static unsigned vectorBits(const LinearLayout &l, unsigned axis, unsigned limit) {
  Dim dim = Dim::dim(axis);
  unsigned shift = l.outShift(dim), bits = 0;
  ArrayRef<uint64_t> registers = l.rows(Dim::reg());
  while (bits < registers.size() && (2u << bits) <= limit &&
         registers[bits] == 1ull << (shift + bits))
    ++bits;
  uint64_t threads = 0;
  for (Dim in : {Dim::lane(), Dim::warp()})
    for (uint64_t row : l.rows(in))
      threads |= row;
  while (bits && (threads >> shift & layout::lowBits(bits)))
    --bits;
  return bits;
}

unsigned Coalescing::vectorFor(Operation *op, const LinearLayout &l) const {
  const Access &access = accesses.find(op)->second;
  return access.contiguous ? 1u << vectorBits(l, access.order.front(), access.limit) : 1;
}

std::optional<unsigned> Coalescing::maskRunFor(Operation *op, unsigned vector) const {
  unsigned run = accesses.find(op)->second.maskRun;
  return run < vector ? std::optional(run) : std::nullopt;
}

unsigned Coalescing::numAccesses(Operation *op, cta::LayoutAttr layout) const {
  const LinearLayout &l = layout.getLayout();
  return unsigned(l.inSize(Dim::reg())) / vectorFor(op, l);
}

/// Contiguous bytes that one instruction of a warp covers along `axis`.
static unsigned runBytes(const LinearLayout &l, unsigned axis, unsigned bytes) {
  unsigned bits = vectorBits(l, axis, kVectorBytes / bytes);
  unsigned shift = l.outShift(Dim::dim(axis));
  while (llvm::is_contained(l.rows(Dim::lane()), 1ull << (shift + bits)))
    ++bits;
  return bytes << bits;
}

/// Parts of memory that one instruction of a warp touches, if the first begins where a part does.
unsigned Coalescing::partsTouched(const Access &access, const LinearLayout &l, unsigned vector,
                                  unsigned partBytes) const {
  SmallVector<int64_t> starts{0};
  for (uint64_t row : l.rows(Dim::lane())) {
    int64_t bytes = 0;
    for (auto [axis, apart] : llvm::enumerate(access.apart)) {
      Dim dim = Dim::dim(unsigned(axis));
      bytes += int64_t(row >> l.outShift(dim) & uint64_t(l.outSize(dim) - 1)) * apart;
    }
    if (bytes == 0) // the same elements
      continue;
    for (size_t i = 0, count = starts.size(); i < count; ++i)
      starts.push_back(starts[i] + bytes);
  }
  llvm::SmallDenseSet<int64_t, 64> parts;
  for (int64_t start : starts)
    for (int64_t at = start / partBytes; at * partBytes < start + vector * access.bytes; ++at)
      parts.insert(at);
  return parts.size();
}

/// A wavefront for each line that an instruction touches; what is written leaves for the next
/// cache by sectors, full or not.
lowering::Cost Coalescing::cost(Operation *op, const LinearLayout &l) const {
  constexpr double kSectorsLeaving = 2; // in a cycle
  const Access &access = accesses.find(op)->second;
  unsigned vector = vectorFor(op, l);
  double count = double(l.inSize(Dim::reg())) / vector;
  double each = partsTouched(access, l, vector, kLineBytes);
  if (!isa<LoadOp>(op))
    each = std::max(each, partsTouched(access, l, vector, kSectorBytes) / kSectorsLeaving);
  return {count, count * each, 0};
}

cta::LayoutAttr Coalescing::lanesSideBySide(Operation *op) {
  const Access &access = accesses.find(op)->second;
  return access.strided ? anchorWith(op, 1) : cta::LayoutAttr();
}

bool Coalescing::isGoodEnough(Operation *op, cta::LayoutAttr given) {
  cta::LayoutAttr best = anchor(op);
  const Access &access = accesses.find(op)->second;
  int64_t elements = cast<RankedTensorType>(op->getOperand(0).getType()).getNumElements();
  if (given == best || !access.contiguous || elements <= 32 * warps)
    return true;
  unsigned axis = access.order.front();
  return runBytes(given.getLayout(), axis, access.bytes) >=
         std::min(runBytes(best.getLayout(), axis, access.bytes), tuning.goodRunBytes);
}
