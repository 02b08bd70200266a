//===- Coalesce.cpp - the layouts that memory accesses want ---------------===//
#include "passes/layouts/Coalesce.h"
#include "ir/Kernel.h"
#include "ir/layout/Builders.h"
#include "passes/facts/Distances.h"
#include "passes/facts/EqualRuns.h"
#include "passes/facts/MaskRuns.h"
#include "passes/facts/Reach.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/layouts/Homes.h"
#include "target/Tuning.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;
using layout::LinearLayout;

static ArrayRef<int64_t> shapeOf(Value block) {
  return cast<RankedTensorType>(block.getType()).getShape();
}

/// Whether an element of the result is one of the operand, changed by itself.
static bool changesElements(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumOperands() == 1 &&
         op->getNumResults() == 1;
}

/// Whether products alone use `v`, as it is or widened: they take it from shared memory, or move
/// it to where they want it, so that nothing else of its shape need live where it is loaded.
static bool isOnlyMultiplied(Value v) {
  return !v.use_empty() && llvm::all_of(v.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<TransOp, ReshapeOp>(user) || changesElements(user))
      return isOnlyMultiplied(user->getResult(0));
    bool isProduct = isa<DotOp, cta::WarpgroupDotOp>(user) && use.getOperandNumber() != kDotAcc;
    return isProduct || isa<cta::StageOp>(user);
  });
}

/// Whether `v`, but for what was done with its elements since, is a block under another shape.
static bool isReshaped(Value v, unsigned depth) {
  Operation *def = v.getDefiningOp();
  if (isa_and_nonnull<ReshapeOp>(def))
    return true;
  return def && depth > 0 && isElementwise(def) &&
         llvm::any_of(def->getOperands(), [&](Value v) { return isReshaped(v, depth - 1); });
}

Coalescing::Coalescing(func::FuncOp func, AxisInfoAnalysis &axes, unsigned numWarps)
    : context(func.getContext()), tuning(tuningOf(func)), warps(numWarps) {
  func.walk([&](Operation *op) {
    if (Accessed access = Accessed::by(op); access.ptr)
      addAccess(op, access.ptr, access.mask, axes);
    else if (auto reduce = dyn_cast<ReduceOp>(op)) {
      addCombined(op, reduce.getAxis());
      if (isReshaped(op->getOperand(0), reach::kOperands))
        reductions.push_back(reduce);
    } else if (auto scan = dyn_cast<ScanOp>(op))
      addCombined(op, scan.getAxis());
    else if (auto broadcast = dyn_cast<BroadcastOp>(op))
      addRepeated(broadcast, axes);
    else if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
      addDivided(op, axes);
  });
  // Behind those that are sure of their order.
  func.walk([&](Operation *op) {
    if (accesses.contains(op))
      lean(op, axes);
  });
}

/// Lines that lanes along a dimension of `size` elements touch, for each of them, if `run`
/// neighbours lie `apart` bytes apart, and the next run elsewhere.
static double linesOfLane(int64_t size, int64_t run, int64_t apart) {
  int64_t lanes = std::min<int64_t>(size, kLanes);
  run = std::min(run, lanes);
  int64_t ofRun = std::clamp<int64_t>(llvm::divideCeil(run * apart, kLineBytes), 1, run);
  return double(llvm::divideCeil(lanes, run) * ofRun) / double(lanes);
}

/// How far apart neighbours likely lie; of an access that is not contiguous, the order in which
/// lanes most likely share sectors, or at least lines.
void Coalescing::lean(Operation *op, AxisInfoAnalysis &axes) {
  Access &access = accesses.find(op)->second;
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  for (unsigned axis = 0; axis < shape.size(); ++axis)
    access.apart.push_back(std::abs(likelyDistance(op->getOperand(0), axis, axes)) * access.bytes);
  if (access.contiguous || shape.empty())
    return;
  // Neighbours that are equal, as scales of groups are, are one access of the thread that has them.
  if (!access.runs.empty() && access.runs[access.order.front()] > 1)
    return;
  auto isNear = [&](unsigned axis) {
    return shape[axis] > 1 && access.apart[axis] > 0 && access.apart[axis] < kLineBytes;
  };
  auto distance = [&](unsigned axis) { return isNear(axis) ? access.apart[axis] : kFarApart; };
  // What is only stored moves to the order of its store.
  bool isMoved = isa<LoadOp>(op) && isOnlyStored(op->getResult(0));
  auto lines = [&](unsigned axis) {
    int64_t run = isNear(axis) ? likelyRun(op->getOperand(0), axis, axes) : 1;
    return isMoved ? 0 : linesOfLane(shape[axis], run, distance(axis));
  };
  auto *nearest = llvm::min_element(access.order, [&](unsigned a, unsigned b) {
    return std::pair(lines(a), distance(a)) < std::pair(lines(b), distance(b));
  });
  if (!isNear(*nearest)) {
    spread(op, axes);
    return;
  }
  // Of the strides that only the launch knows, the least is one most often.
  if (!isConstantDistance(op->getOperand(0), *nearest, axes))
    access.apart[*nearest] = access.bytes;
  access.leans = nearest != access.order.begin();
  access.strided = !access.leans && access.apart[*nearest] < kSectorBytes;
  std::rotate(access.order.begin(), nearest, nearest + 1);
  if (access.leans)
    groupOf(shape, access.order);
}

/// A row that is stored in steps which only the launch knows: lanes beside each other share lines
/// if the step is as short as it can be, and touch no more of them if it is not. Nothing waits for
/// what is stored, and each element takes a request of its own in any case.
void Coalescing::spread(Operation *op, AxisInfoAnalysis &axes) {
  Access &access = accesses.find(op)->second;
  unsigned fast = access.order.front();
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  if (!isa<StoreOp>(op) || shape[fast] != llvm::product_of(shape) ||
      isConstantDistance(op->getOperand(0), fast, axes))
    return;
  int64_t least = leastDistance(op->getOperand(0), fast, axes) * access.bytes;
  if (least > 0 && least < kLineBytes) {
    access.apart[fast] = least;
    access.strided = true;
  }
}

/// Lanes along dimensions whose distances only the launch knows, where a thread makes many
/// accesses: its own are constant distances apart then, and need few addresses. Where neighbours
/// share no sector it is the same for the memory.
static void leaveConstantDistances(SmallVectorImpl<unsigned> &order, Value ptr, unsigned bytes,
                                   AxisInfoAnalysis &axes) {
  if (order.size() < 3)
    return;
  auto isLeft = [&](unsigned axis) {
    return isConstantDistance(ptr, axis, axes) &&
           likelyDistance(ptr, axis, axes) * bytes >= kVectorBytes;
  };
  SmallVector<unsigned, 4> left;
  llvm::copy_if(llvm::drop_begin(order), std::back_inserter(left), isLeft);
  llvm::erase_if(order, [&](unsigned axis) { return llvm::is_contained(left, axis); });
  llvm::append_range(order, left);
}

void Coalescing::addAccess(Operation *op, Value ptr, Value mask, AxisInfoAnalysis &axes) {
  auto type = dyn_cast<RankedTensorType>(ptr.getType());
  if (!type)
    return;
  AxisInfo info = axes.get(ptr);
  Access access;
  access.bytes = getElementBytes(cast<PtrType>(type.getElementType()).getPointee());
  for (int64_t axis = type.getRank() - 1; axis >= 0; --axis)
    access.order.push_back(axis);
  llvm::sort(access.order, [&](unsigned a, unsigned b) {
    return std::pair(info.axes[a].contiguity, a) > std::pair(info.axes[b].contiguity, b);
  });
  access.contiguous = false;
  access.limit = 1;
  if (!access.order.empty()) {
    unsigned fast = access.order.front();
    access.contiguous = info.axes[fast].contiguity > 0;
    access.repeated = type.getRank() > 1;
    for (unsigned axis : llvm::drop_begin(access.order))
      access.repeated &= info.constancy(axis) >= type.getDimSize(axis);
    if (mask) {
      access.most = mostTrue(mask, fast, axes);
      access.maskRun = unsigned(std::min<int64_t>(axes.get(mask).constancy(fast), kVectorBytes));
    }
    // What threads copy for products goes element by element where a mask begins within a group:
    // lanes beside each other then, not groups apart.
    bool isCopied = isa<LoadOp>(op) && isOnlyMultiplied(op->getResult(0)) && isAmongProducts(op);
    access.limit = unsigned(neighboursAtOnce(op, fast, axes, isCopied));
    int64_t accesses = type.getNumElements() / (kLanes * warps * access.limit);
    if (access.contiguous && accesses >= tuning.manyAccesses)
      leaveConstantDistances(access.order, ptr, access.bytes, axes);
  }
  if (auto load = dyn_cast<LoadOp>(op))
    access.runs = equalRunsOf(load, axes);
  bool isSingle = isa<AtomicRmwOp, AtomicCasOp>(op) && !addsNeighbours(op); // one element a time
  access.alone = access.contiguous && isa<LoadOp>(op) && isOnlyMultiplied(op->getResult(0));
  if (access.contiguous || type.getNumElements() == 1) {
    Group &group = groupOf(type.getShape(), access.order);
    if (auto whole = op->getAttrOfType<IntegerAttr>(kWholeVectorsAttr))
      group.together.needed = std::max(group.together.needed, unsigned(whole.getInt()));
    if (!isSingle)
      (access.alone ? group.alone : group.together).add(access.limit, access.bytes);
  }
  accesses.insert({op, std::move(access)});
  if (isa<LoadOp>(op) && llvm::is_contained(type.getShape(), 1))
    thinLoads.emplace_back(type.getShape());
}

void Coalescing::addCombined(Operation *op, unsigned axis) {
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  auto *it = llvm::find_if(combined, [&](auto &entry) { return ArrayRef(entry.shape) == shape; });
  if (it == combined.end()) {
    combined.push_back({SmallVector<int64_t, 4>(shape), 0, {}});
    it = &combined.back();
  }
  it->axes |= 1u << axis;
  it->ops.push_back(op);
}

/// The dimensions of more than one element.
static SmallVector<unsigned, 4> longDimensions(ArrayRef<int64_t> shape) {
  SmallVector<unsigned, 4> dims;
  for (auto [dim, size] : llvm::enumerate(shape))
    if (size > 1)
      dims.push_back(unsigned(dim));
  return dims;
}

bool tile::areAlikeInRows(ArrayRef<int64_t> shape, ArrayRef<int64_t> other) {
  auto isLong = [](int64_t size) { return size > 1; };
  return llvm::equal(llvm::make_filter_range(shape, isLong),
                     llvm::make_filter_range(other, isLong));
}

uint32_t Coalescing::combinedAxes(ArrayRef<int64_t> shape) const {
  SmallVector<unsigned, 4> dims = longDimensions(shape);
  uint32_t axes = 0;
  for (const Combined &known : combined) {
    if (!areAlikeInRows(known.shape, shape))
      continue;
    for (auto [dim, own] : llvm::zip_equal(longDimensions(known.shape), dims))
      axes |= (known.axes >> dim & 1) << own;
  }
  return axes;
}

unsigned Coalescing::numSharedLoads(ArrayRef<int64_t> shape) const {
  return llvm::count_if(thinLoads, [&](ArrayRef<int64_t> thin) {
    return thin.size() == shape.size() && thin != shape && thin.back() == shape.back() &&
           llvm::all_of(llvm::zip(thin, shape), [](auto sizes) {
             return std::get<0>(sizes) == 1 || std::get<0>(sizes) == std::get<1>(sizes);
           });
  });
}

void Coalescing::Limits::add(unsigned limit, unsigned bytes) {
  least = std::min(least, limit);
  most = std::max(most, limit);
  leastBytes = std::min(leastBytes, bytes);
  mostBytes = std::max(mostBytes, bytes);
  each.push_back({limit, bytes});
}

unsigned Coalescing::vectorOf(const Limits &limits, ArrayRef<int64_t> shape) const {
  if (limits.isEmpty())
    return 1;
  int64_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  unsigned most = std::min({kVectorBytes / limits.mostBytes, limits.most,
                            unsigned(std::max<int64_t>(elements / (32 * warps), 1))});
  // One access that proves less holds the others back, except that small
  // elements are kept in words where all accesses take less so.
  unsigned vector = std::min(limits.least, most), best = vector;
  for (unsigned word = std::min(4 / limits.leastBytes, most); (vector *= 2) <= word;)
    if (limits.cyclesWith(vector) <= limits.cyclesWith(best))
      best = vector;
  return std::max(best, std::min(limits.needed, most));
}

Coalescing::Group &Coalescing::groupOf(ArrayRef<int64_t> shape, ArrayRef<unsigned> order) {
  for (Group &group : groups)
    if (ArrayRef(group.shape) == shape && ArrayRef(group.order) == order)
      return group;
  Group group;
  group.shape.assign(shape.begin(), shape.end());
  group.order.assign(order.begin(), order.end());
  groups.push_back(std::move(group));
  return groups.back();
}

/// Lanes that share a row of `length` elements which is reduced: they should at least
/// cover a line.
static unsigned lanesOfRow(int64_t length, unsigned vectorBytes, unsigned sharedLoads,
                           const Tuning &tuning) {
  unsigned lanes = kLanes;
  if (length <= tuning.rowOfEightLanes)
    lanes = 8;
  else if (length <= tuning.rowOfSixteenLanes && sharedLoads < tuning.manySharedLoads)
    lanes = 16;
  return std::min(std::max(lanes, kLineBytes / vectorBytes), kLanes);
}

/// Vector, lanes and repeats along `order`; warps along `warpOrder`. At most
/// `fastLanes` lanes along the fastest dimension while others have room.
static LinearLayout coalesced(ArrayRef<int64_t> shape, unsigned vector, unsigned fastLanes,
                              unsigned warps, ArrayRef<unsigned> order,
                              ArrayRef<unsigned> warpOrder) {
  SmallVector<int64_t, 4> left(shape);
  auto take = [&](unsigned count, ArrayRef<unsigned> dims, SmallVector<unsigned, 4> &taken) {
    for (unsigned axis : dims)
      while (count > 1 && left[axis] > 1) {
        taken[axis] *= 2;
        left[axis] /= 2;
        count /= 2;
      }
    return count;
  };
  SmallVector<unsigned, 4> perThread(shape.size(), 1), lanes(perThread), perBlock(perThread);
  if (!order.empty()) {
    ArrayRef<unsigned> fast = order.take_front(1), others = order.drop_front();
    take(vector, fast, perThread);
    unsigned rest = 32 / fastLanes * take(fastLanes, fast, lanes);
    rest = take(rest, others, lanes);
    lanes[order.back()] *= take(rest, fast, lanes); // copies, if any are left
    perBlock[order.back()] *= take(warps, warpOrder, perBlock);
  }
  return layout::blocked(shape, perThread, lanes, perBlock, order);
}

cta::LayoutAttr Coalescing::layoutOf(Group &group) {
  if (group.layout)
    return group.layout;
  const Limits &limits = group.together.isEmpty() ? group.alone : group.together;
  unsigned vector = vectorOf(limits, group.shape);
  unsigned run = runFor(group, vector, limits.mostBytes);
  group.hasRuns = run > vector;
  if (group.together.isEmpty())
    run = runOfCut(group, run);
  else if (run == 1)
    run = runOfDivided(group, run, limits.mostBytes);
  group.layout = layoutWith(group, run, limits.mostBytes);
  return group.layout;
}

cta::LayoutAttr Coalescing::layoutWith(const Group &group, unsigned vector, unsigned bytes) const {
  int64_t elements = 1;
  for (int64_t size : group.shape)
    elements *= size;
  uint32_t axes = combinedAxes(group.shape);
  unsigned shared = numSharedLoads(group.shape);
  // Warps that share a dimension which is combined have to meet: they share the others first.
  SmallVector<unsigned, 4> warpOrder, byRows, combinedLast;
  for (unsigned axis : group.order)
    (axes >> axis & 1 ? combinedLast : warpOrder).push_back(axis);
  byRows.assign(warpOrder.rbegin(), warpOrder.rend());
  llvm::append_range(warpOrder, combinedLast);
  llvm::append_range(byRows, combinedLast);
  unsigned fastLanes = 32;
  if (!group.order.empty() && (axes >> group.order.front() & 1)) {
    int64_t length = group.shape[group.order.front()];
    unsigned few = lanesOfRow(length, vector * bytes, shared, tuning);
    if (elements / length >= int64_t(warps) * 32 / few)
      fastLanes = few;
  }
  auto withWarps = [&](ArrayRef<unsigned> dims) {
    return coalesced(group.shape, vector, fastLanes, warps, group.order, dims);
  };
  LinearLayout layout = withWarps(warpOrder);
  auto numLoads = [&](const LinearLayout &l, bool onlyNear) {
    return numRepeatedLoads(group.shape, l, onlyNear);
  };
  if (LinearLayout rows = withWarps(byRows); !axes || isAccessed(group.shape)) {
    unsigned now = numLoads(layout, /*onlyNear=*/true), then = numLoads(rows, /*onlyNear=*/true);
    double saved = cyclesOfRepeated(group.shape, layout) - cyclesOfRepeated(group.shape, rows);
    // If it loads as often, less than an instruction for each element does not tell.
    double least = lowering::Cost{double(rows.inSize(layout::Dim::reg())), 0, 0}.total(warps);
    if (then < now ? saved > 0 : then == now && saved >= least)
      layout = rows;
  }
  if (axes && !isAccessed(group.shape) && loadsMoreOftenThanItCombines(group.shape))
    if (LinearLayout columns = withWarps(group.order);
        numLoads(columns, /*onlyNear=*/false) < numLoads(layout, /*onlyNear=*/false))
      layout = columns;
  return cta::LayoutAttr::get(context, layout);
}

cta::LayoutAttr Coalescing::anchor(Operation *op) {
  const Access &access = accesses.find(op)->second;
  ArrayRef<int64_t> shape = shapeOf(op->getOperand(0));
  if (access.part)
    return access.part;
  if (!access.contiguous && !access.leans)
    return shapeLayout(shape);
  if (!access.alone)
    return layoutOf(groupOf(shape, access.order));
  Limits own;
  own.add(access.limit, access.bytes);
  return anchorWith(op, runOfCut(op, vectorOf(own, shape)));
}

cta::LayoutAttr Coalescing::anchorWith(Operation *op, unsigned vector) {
  const Access &access = accesses.find(op)->second;
  return layoutWith(groupOf(shapeOf(op->getOperand(0)), access.order), vector, access.bytes);
}

cta::LayoutAttr Coalescing::shapeLayout(ArrayRef<int64_t> shape) {
  for (Group &group : groups)
    if (ArrayRef(group.shape) == shape)
      return layoutOf(group);
  // Another name of what is accessed, with dimensions of one element more or less.
  for (Group &group : groups)
    if (areAlikeInRows(group.shape, shape) && isAccessed(group.shape))
      return cta::LayoutAttr::get(context, layout::reshape(layoutOf(group).getLayout(), shape));
  SmallVector<unsigned, 4> order;
  for (unsigned axis = shape.size(); axis-- > 0;)
    order.push_back(axis);
  return layoutOf(groupOf(shape, order));
}

bool Coalescing::isAccessed(ArrayRef<int64_t> shape) const {
  return llvm::any_of(groups, [&](const Group &group) {
    return ArrayRef(group.shape) == shape && !(group.together.isEmpty() && group.alone.isEmpty());
  });
}
