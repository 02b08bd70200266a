//===- ExplainAccesses.cpp - how a kernel reaches memory ------------------===//
#include "compiler/ExplainReader.h"
#include "ir/MapChoices.h"
#include "passes/facts/EqualRuns.h"
#include "text/Format.h"
#include <set>

using namespace mlir;
using namespace tile;
using namespace tile::explaining;
using layout::Dim;
using layout::LinearLayout;

//===----------------------------------------------------------------------===//
// Requests
//===----------------------------------------------------------------------===//

namespace {
struct Request {
  unsigned sectors = 1, ideal = 1;
};
} // namespace

/// Sectors of 32 bytes that the lanes of a warp touch with one instruction of
/// `vector` registers. What the analysis does not know to be adjacent counts
/// as apart.
static Request requestOf(const LinearLayout &l, unsigned vector, unsigned bytes,
                         const AxisInfo &info) {
  unsigned rank = l.outs().size();
  int best = -1;
  for (unsigned i = 0; i < rank && i < info.axes.size(); ++i)
    if (info.axes[i].contiguity > 0 &&
        (best < 0 || info.axes[i].contiguity > info.axes[best].contiguity))
      best = int(i);
  std::set<std::vector<int64_t>> sectors, elements;
  for (int32_t lane = 0; lane < l.inSize(Dim::lane()); ++lane)
    for (int32_t reg = 0; reg < int32_t(vector); ++reg) {
      layout::Position at = l.apply({{Dim::lane(), lane}, {Dim::reg(), reg}});
      std::vector<int64_t> sector, element;
      for (unsigned i = 0; i < rank; ++i) {
        int64_t c = at[i].second;
        if (int(i) == best) {
          int64_t run = info.contiguity(i);
          sector.insert(sector.end(), {c / run, c % run * bytes / 32});
          element.push_back(c);
        } else {
          int64_t same = i < info.axes.size() ? info.constancy(i) : 1;
          sector.push_back(c / same);
          element.push_back(c / same);
        }
      }
      sectors.insert(std::move(sector));
      elements.insert(std::move(element));
    }
  unsigned least = unsigned(elements.size() * bytes + 31) / 32;
  return {unsigned(sectors.size()), std::max(least, 1u)};
}

/// Why a thread moves no more than this many bytes at once.
static std::string whyNotWider(const AxisInfo &info, const AxisInfo *mask, unsigned bytes,
                               unsigned moved) {
  if (moved >= 16)
    return {};
  unsigned fast = 0;
  for (unsigned i = 1; i < info.axes.size(); ++i)
    if (info.axes[i].contiguity >= info.axes[fast].contiguity)
      fast = i;
  if (info.contiguity(fast) == 1)
    return "no elements are known to lie side by side";
  if (info.contiguity(fast) * bytes <= moved)
    return formatted("only {} elements are known to lie side by side", info.contiguity(fast));
  // Elements lie at multiples of their size, whatever is known of the pointer.
  if (info.divisibility(fast) <= moved)
    return formatted("its addresses are only known to be multiples of {} bytes",
                     std::max<int64_t>(info.divisibility(fast), bytes));
  if (mask && mask->constancy(fast) * bytes <= moved)
    return mask->constancy(fast) == 1
               ? "its mask may differ from one element to the next"
               : formatted("its mask is only known to be the same for {} elements",
                           mask->constancy(fast));
  return "a thread holds no more elements side by side";
}

static unsigned pointeeBytes(Type pointers) {
  return getElementBytes(cast<PtrType>(getElementType(pointers)).getPointee());
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

std::string Reader::reasonFor(Operation *op) const {
  for (const Remark &remark : remarks)
    if (remark.at == op->getLoc() && !isOfThreadsCopy(remark.reason) &&
        (isOfAccess(remark.reason) || refusalOf(remark.reason).pass == "tile-warpgroup-dots"))
      return refusalOf(remark.reason).why.str();
  return {};
}

std::string Reader::copyReasonFor(Operation *op) const {
  for (const Remark &remark : remarks)
    if (remark.at == op->getLoc() && isOfThreadsCopy(remark.reason))
      return refusalOf(remark.reason).why.str();
  return {};
}

void Reader::addAccess(Explanation::Access access, double moved, ValueRange address) {
  work().sectors += moved;
  work().lines += moved;
  access.moved = moved;
  out.accesses.push_back(std::move(access));
  addresses.emplace_back(address.begin(), address.end());
}

void Reader::compareLoads() {
  constexpr uint64_t mostPrograms = 2048;
  uint64_t programs = std::min(values.numPrograms(), mostPrograms);
  std::vector<std::set<SmallVector<int64_t, 4>>> seen(addresses.size());
  for (uint64_t program = 0; program < programs; ++program) {
    values.moveTo(program);
    for (auto [access, address, places] : llvm::zip(out.accesses, addresses, seen)) {
      if (access.kind != "load" || access.programsAsked < program)
        continue; // a place that is not known says nothing about all
      SmallVector<int64_t, 4> place;
      for (Value coordinate : address)
        if (std::optional<int64_t> value = values.get(coordinate))
          place.push_back(*value);
      if (place.size() < address.size()) {
        access.firstReaders.clear();
        continue;
      }
      access.programsAsked = uint32_t(program + 1);
      if (places.insert(std::move(place)).second)
        access.firstReaders.push_back(uint32_t(program));
    }
  }
}

void Reader::visitRegisterAccess(Operation *op) {
  auto access = at<Explanation::Access>(op);
  auto load = dyn_cast<LoadOp>(op);
  auto store = dyn_cast<StoreOp>(op);
  Value pointers = op->getOperand(0);
  access.kind = load ? "load" : store ? "store" : "atomic";
  access.block = blockName(pointers.getType());
  access.reason = reasonFor(op);
  access.copyReason = copyReasonFor(op);
  unsigned bytes = pointeeBytes(pointers.getType());
  auto block = dyn_cast<RankedTensorType>(pointers.getType());
  if (!block) {
    access.path = "scalar";
    access.vectorBytes = bytes;
    access.requests = 1;
    access.bytes = bytes;
  } else {
    const LinearLayout &l = cta::getLayout(block);
    auto rmw = dyn_cast<AtomicRmwOp>(op);
    unsigned vector = load    ? load.getVector()
                      : store ? store.getVector()
                      : rmw   ? rmw.getVector()
                              : 1;
    unsigned registers = unsigned(l.inSize(Dim::reg()));
    vector =
        llvm::bit_floor(std::max(1u, std::min({vector, 16 / std::min(bytes, 16u), registers})));
    access.path = vector > 1 ? "vector" : "scalar";
    access.vectorBytes = vector * bytes;
    Value mask = load ? load.getMask() : store ? store.getMask() : Value();
    if (load || store)
      access.widthReason = whyNotWider(axes.get(pointers), mask ? &axes.get(mask) : nullptr, bytes,
                                       access.vectorBytes);
    access.requests = registers / vector;
    auto runs = op->getAttrOfType<DenseI64ArrayAttr>(cta::kEqualRunsAttr);
    if (runs && vector == 1)
      access.requests = distinctRegisters(l, runs.asArrayRef());
    access.bytes = double(block.getNumElements()) * bytes;
    Request request = requestOf(l, vector, bytes, axes.get(pointers));
    access.sectors = request.sectors;
    access.idealSectors = request.ideal;
  }
  // Copies in other warps find what one has brought in the cache.
  double moved = access.idealSectors ? access.bytes * access.sectors / access.idealSectors
                                     : std::max(access.bytes, 32.0);
  (load ? work().read : work().written) += access.bytes;
  if (!load && !store)
    work().read += access.bytes;
  addAccess(std::move(access), moved * (op->getNumResults() && !load ? 2 : 1), pointers);
}

void Reader::visitAsyncCopy(cta::AsyncCopyOp op) {
  auto access = at<Explanation::Access>(op);
  cta::BufferType type = op.getBuffer().getType();
  unsigned bytes = getElementBytes(type.getElementType());
  const LinearLayout &l = cta::getLayout(op.getPtr().getType());
  access.kind = "load";
  access.block = formatted("{} {}", shapeName(type.getShape()), typeName(type.getElementType()));
  access.path = "cp.async";
  access.reason = reasonFor(op);
  access.vectorBytes = op.getVector() * bytes;
  Value mask = op.getMask();
  access.widthReason = whyNotWider(axes.get(op.getPtr()), mask ? &axes.get(mask) : nullptr, bytes,
                                   access.vectorBytes);
  access.requests = unsigned(l.inSize(Dim::reg())) / op.getVector();
  access.bytes = double(type.getBytes());
  Request request = requestOf(l, op.getVector(), bytes, axes.get(op.getPtr()));
  access.sectors = request.sectors;
  access.idealSectors = request.ideal;
  work().read += access.bytes;
  double moved = access.bytes * access.sectors / access.idealSectors;
  addAccess(std::move(access), moved, op.getPtr());
}

/// That of each, where one is chosen of several.
static cta::MapAttr mapOf(func::FuncOp kernel, Value map) {
  return kernel.getArgAttrOfType<cta::MapAttr>(cta::mapsBehind(map).front().getArgNumber(),
                                               cta::kTensorMapAttr);
}

static std::string describeBox(func::FuncOp kernel, Value map) {
  auto attr = mapOf(kernel, map);
  if (!attr)
    return {};
  std::string text = "boxes of ";
  for (auto [i, size] : llvm::enumerate(llvm::reverse(attr.getBox())))
    text += (i ? "x" : "") + std::to_string(size);
  if (attr.getSwizzle())
    text += formatted(", {}-byte swizzle", attr.getSwizzle());
  if (size_t arrays = cta::mapsBehind(map).size(); arrays > 1)
    text += formatted(", of one of {} arrays", arrays);
  return text;
}

/// How many times as long a copy takes whose rows are shorter than the lines that the cache is
/// asked for.
static double linesOfRow(func::FuncOp kernel, Value map, cta::BufferType buffer) {
  constexpr double line = 128;
  auto attr = mapOf(kernel, map);
  if (!attr)
    return 1;
  return std::max(
      1.0, line / (double(attr.getBox().front()) * getElementBytes(buffer.getElementType())));
}

/// A load by TMA into `buffer`.
static void describeCopy(Explanation::Access &access, cta::BufferType buffer) {
  access.kind = "load";
  access.block =
      formatted("{} {}", shapeName(buffer.getShape()), typeName(buffer.getElementType()));
  access.path = "TMA";
  access.bytes = double(buffer.getBytes());
}

void Reader::visitCopy(cta::RingCopyOp op) {
  auto access = at<Explanation::Access>(op);
  describeCopy(access, op.getBuffer().getType());
  access.detail = describeBox(kernel, op.getMap());
  if (op.getCommon())
    access.detail += formatted(", once for the {} blocks of a cluster where they need the same",
                               op.getRing().getDefiningOp<cta::RingOp>().getCluster());
  work().read += access.bytes;
  work().lines += access.bytes * (linesOfRow(kernel, op.getMap(), op.getBuffer().getType()) - 1);
  double bytes = access.bytes;
  addAccess(std::move(access), bytes, op.getStarts());
}

void Reader::visitBulkCopy(cta::RingBulkCopyOp op) {
  if (op.getOffset() != 0) // the block's first row has stood for all
    return;
  auto access = at<Explanation::Access>(op);
  describeCopy(access, op.getBuffer().getType());
  access.detail = "bulk copies of rows";
  work().read += access.bytes;
  double bytes = access.bytes;
  addAccess(std::move(access), bytes, op.getPtr());
}

void Reader::visitElementCopy(cta::RingElementCopyOp op) {
  auto access = at<Explanation::Access>(op);
  cta::BufferType type = op.getBuffer().getType();
  access.kind = "load";
  access.block = typeName(type.getElementType());
  access.path = "cp.async";
  access.detail = "by the warp that copies";
  access.bytes = double(type.getBytes());
  access.vectorBytes = unsigned(type.getBytes());
  access.requests = 1;
  work().read += access.bytes;
  addAccess(std::move(access), 0, op.getPtr());
}

void Reader::visitTmaStore(cta::TmaStoreOp op) {
  auto access = at<Explanation::Access>(op);
  auto type = cast<RankedTensorType>(op.getValue().getType());
  access.kind = "store";
  access.block = blockName(type);
  access.path = "TMA";
  access.detail = describeBox(kernel, op.getMap());
  access.bytes = double(type.getNumElements()) * getElementBytes(type.getElementType());
  work().written += access.bytes;
  double bytes = access.bytes;
  addAccess(std::move(access), bytes, op.getStarts());
  addStaging(op, type, op.getLayout().getLayout(), "staging of a store");
}

void Reader::visitRing(cta::RingOp op) {
  auto ring = at<Explanation::Ring>(op);
  ring.stages = int(op.getStages());
  for (Type type : op.getType().getBuffers())
    ring.bytes += double(cast<cta::BufferType>(type).getBytes());
  addRing(op, ring);
}

void Reader::visitSlots(cta::SlotsOp op) {
  auto ring = at<Explanation::Ring>(op);
  ring.stages = int(op.getCount());
  ring.bytes = double(op.getType().getBytes());
  addRing(op, ring);
}

void Reader::addRing(Operation *op, Explanation::Ring ring) {
  ring.wanted = ring.stages;
  for (Operation *user : op->getUsers())
    if (auto around = user->getParentOfType<scf::ForOp>();
        around && !around->hasAttr(cta::kPrologueAttr)) {
      auto own = around->getAttrOfType<IntegerAttr>(kNumStagesAttr);
      ring.wanted = std::max(ring.stages, own ? int(own.getInt()) : wantedStages);
      // Rings of warps that copy go on in the next run of a loop.
      bool isOnce = isa<cta::SlotsOp>(op) || !around->getParentOfType<LoopLikeOpInterface>();
      std::optional<APInt> turns = around.getStaticTripCount();
      ring.hasStageForEach = isOnce && turns && turns->ule(uint64_t(ring.stages));
    }
  out.rings.push_back(ring);
}
