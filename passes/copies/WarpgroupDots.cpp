//===- WarpgroupDots.cpp - matrix products on sm_90's tensor cores --------===//
//
// Contract and example: WarpgroupDotsPass in passes/copies/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/Hopper.h"
#include "mlir/IR/Matchers.h"
#include "passes/Passes.h"
#include "passes/copies/CopiesAhead.h"
#include "passes/copies/CopyHints.h"
#include "passes/copies/TensorMaps.h"
#include "passes/copies/VectorsOfLoops.h"
#include "passes/facts/DeadValues.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/ProductForms.h"
#include "passes/facts/Roles.h"
#include "passes/facts/WrappedIndices.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_WARPGROUPDOTSPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;

#define DEBUG_TYPE "tile-warpgroup-dots"
ALWAYS_ENABLED_STATISTIC(productsMade, "products by warpgroups");
ALWAYS_ENABLED_STATISTIC(loadsByTma, "loads of operands by TMA");
ALWAYS_ENABLED_STATISTIC(operandsStaged, "operands written to shared memory by threads");
ALWAYS_ENABLED_STATISTIC(storesByTma, "stores by TMA");

namespace {

class DotRewriter {
public:
  DotRewriter(func::FuncOp kernel, bool storesByMaps)
      : kernel(kernel), storesByMaps(storesByMaps), inPlace(copiesInPlace(kernel)),
        checked(kernel->getParentOp()->hasAttr(kCheckedLaunchAttr)),
        usesMaps(!kernel->getParentOp()->hasAttr(kNoTensorMapsAttr)) {}

  bool run() {
    SmallVector<DotOp> dots;
    SmallVector<Operation *> stores;
    kernel.walk([&](Operation *op) {
      if (auto dot = dyn_cast<DotOp>(op))
        dots.push_back(dot);
      else if (isa<StoreOp, DescriptorStoreOp>(op))
        stores.push_back(op);
      noteAccesses(op);
    });
    bool any = false;
    for (DotOp dot : dots)
      any |= rewrite(dot);
    if (!any)
      return false;
    if (!inPlace)
      copyBesideOperands(kernel, analysis, written);
    if (!storesByMaps)
      return true;
    // All before any is rewritten: they are compared with each other.
    SmallVector<bool> alone;
    for (Operation *store : stores)
      alone.push_back(isAccessedOnlyBy(store));
    for (auto [store, isAlone] : llvm::zip_equal(stores, alone))
      rewriteStore(store, isAlone);
    return true;
  }

private:
  void noteAccesses(Operation *op);
  bool isAccessedOnlyBy(Operation *store);
  bool areSideBySide(StoreOp first, StoreOp second);
  bool rewrite(DotOp dot);
  void rewriteStore(Operation *store, bool isAlone);
  /// An operand as its product reads it.
  struct Operand {
    Value value;
    bool isTurned = false;
  };
  Operand operand(DotOp dot, Value v, bool isLeft, bool isSwapped);
  std::optional<Operand> copied(Operation *load, ArrayRef<int32_t> order, unsigned bytes);
  std::optional<TileAccess> read(Operation *op, ArrayRef<int64_t> shape, Reason &reason);
  Value loadByTma(Operation *load, RankedTensorType type, ArrayRef<int32_t> order,
                  bool mustBeKMajor, unsigned kDim, DotOp dot, bool isSwapped);
  bool wrapsDoNoHarm(Value loaded, const TileAccess &tile, DotOp dot, unsigned keptDim,
                     unsigned resultDim, ArrayRef<int32_t> order);

  func::FuncOp kernel;
  bool storesByMaps, inPlace, checked, usesMaps;
  /// What the analysis takes not to be negative, the launcher checks, or loads rely on.
  ArgumentSet taken;
  NonNegative nonNegative{checked, /*trusted=*/true, taken};
  StridedAnalysis analysis{&nonNegative, &taken};
  /// By what pointers come from: the operations that read or write there.
  DenseMap<Value, SmallVector<Operation *, 2>> accesses;
  /// What loads have become, and in which order of their dimensions.
  DenseMap<Operation *, std::pair<Value, SmallVector<int32_t>>> copies;
  DenseSet<Value> written;
  /// Left operands that loops multiply in every turn, and where they lie in shared memory.
  DenseMap<Value, Value> kept;
};

/// Whatever takes a pointer and is not known to pass it on or only to read there
/// may write: atomics, inline PTX, an address that becomes an integer, ...
void DotRewriter::noteAccesses(Operation *op) {
  if (passesPointerOn(op) || isa<arith::SelectOp, scf::ForOp, scf::IfOp, scf::WhileOp>(op) ||
      op->hasTrait<OpTrait::IsTerminator>())
    return;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  // A volatile load has an effect besides, which is to keep its place.
  bool onlyReads = isa<LoadOp>(op) || (effects && effects.onlyHasEffect<MemoryEffects::Read>());
  DenseSet<Value> roots;
  for (Value operand : op->getOperands())
    if (isa<PtrType>(getElementTypeOrSelf(operand.getType())))
      collectRoots(operand, roots);
  for (Value root : roots) {
    accesses[root].push_back(op);
    if (!onlyReads)
      written.insert(root);
  }
}

/// Other blocks of the same array do not count.
bool DotRewriter::isAccessedOnlyBy(Operation *store) {
  DenseSet<Value> roots;
  collectRoots(store->getOperand(0), roots);
  return llvm::all_of(roots, [&](Value root) {
    return llvm::all_of(accesses.lookup(root), [&](Operation *op) {
      auto own = dyn_cast<StoreOp>(store), other = dyn_cast<StoreOp>(op);
      return op == store || (own && other && areSideBySide(own, other));
    });
  });
}

/// c with a == b * c, if there is such a constant.
static std::optional<int64_t> multiple(const Polynomial &a, const Polynomial &b) {
  if (a.terms().empty() || b.terms().empty())
    return std::nullopt;
  int64_t by = b.terms().front().coefficient, of = a.terms().front().coefficient;
  if (of % by || !(a == b * Polynomial::constant(of / by)))
    return std::nullopt;
  return of / by;
}

/// Whether one program may execute `op` more than once.
static bool isRepeated(Operation *op) {
  return op->getParentOfType<LoopLikeOpInterface>() != nullptr;
}

/// Coefficient of `loop`'s counter in `start`, of which nothing else changes in the loop.
static std::optional<int64_t> coefficientOf(const Polynomial &start, scf::ForOp loop) {
  int64_t coefficient = 0;
  for (const Polynomial::Term &term : start.terms()) {
    if (llvm::all_of(term.factors, [&](Value v) { return loop.isDefinedOutsideOfLoop(v); }))
      continue;
    if (term.factors.size() != 1 || term.factors.front() != loop.getInductionVar())
      return std::nullopt;
    coefficient += term.coefficient;
  }
  return coefficient;
}

/// Whether tiles that start `shift` further along `d` have no element in common.
static bool areApart(const TileAccess &tile, const TileAccess::Dimension &d, int64_t shift) {
  if (d.block >= 0)
    return shift >= d.extent;
  int64_t span = 1; // of a tile, in memory
  for (const TileAccess::Dimension &own : tile.dimensions) {
    std::optional<int64_t> stride = own.stride.asConstant();
    if (own.extent > 1 && (!stride || *stride < 0 || *stride > INT32_MAX))
      return false;
    span += own.extent > 1 ? (own.extent - 1) * *stride : 0;
  }
  std::optional<int64_t> stride = d.stride.asConstant();
  return stride && *stride > 0 && shift >= llvm::divideCeilSigned(span, *stride);
}

/// Whether each turn of the one loop around `store` writes elsewhere.
static bool turnsWriteApart(Operation *store, const TileAccess &tile) {
  auto loop = dyn_cast<scf::ForOp>(store->getParentOp());
  APInt step;
  if (!loop || isRepeated(loop) || !matchPattern(loop.getStep(), m_ConstantInt(&step)))
    return false;
  bool apart = false;
  for (const TileAccess::Dimension &d : tile.dimensions) {
    std::optional<int64_t> coefficient = coefficientOf(d.start, loop);
    if (!coefficient || std::abs(*coefficient) > INT32_MAX || step.getSExtValue() > INT32_MAX)
      return false;
    int64_t shift = std::abs(*coefficient) * step.getSExtValue();
    if (shift != 0 && (apart || !areApart(tile, d, shift)))
      return false;
    apart |= shift != 0;
  }
  return apart;
}

/// Whether the author has put a barrier between two operations of a block.
static bool areInOrder(Operation *first, Operation *second) {
  if (second->isBeforeInBlock(first))
    std::swap(first, second);
  return llvm::any_of(
      llvm::make_range(first->getIterator(), second->getIterator()), [](Operation &op) {
        return op.walk([](BarrierOp) { return WalkResult::interrupt(); }).wasInterrupted();
      });
}

/// Whether two stores of one block of statements write neighbouring blocks of an
/// array, in any order: equal strides, and along one dimension the second starts where the
/// first has ended, or the other way round.
bool DotRewriter::areSideBySide(StoreOp first, StoreOp second) {
  // In a loop one of them may write next time what the other writes now.
  if (first->getBlock() != second->getBlock() || isRepeated(first) || areInOrder(first, second))
    return false;
  auto p = analysis.pointers(first.getPtr()), q = analysis.pointers(second.getPtr());
  if (!p || !q || p->offset.strides.empty() || p->base != q->base || !p->offset.wraps.empty() ||
      !q->offset.wraps.empty() || !llvm::equal(p->offset.strides, q->offset.strides))
    return false;
  Polynomial between = q->offset.start - p->offset.start;
  auto shapeOf = [](StoreOp store) {
    return cast<RankedTensorType>(store.getPtr().getType()).getShape();
  };
  for (auto [stride, own, other] :
       llvm::zip_equal(p->offset.strides, shapeOf(first), shapeOf(second)))
    if (std::optional<int64_t> distance = multiple(between, stride))
      return *distance > 0 ? *distance >= own : -*distance >= other;
  return false;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The products that `v`, maybe transposed, goes to: `dot`, and others that have it for
/// the same operand. None if it goes elsewhere, too.
static SmallVector<DotOp> productsOf(Value v, DotOp dot) {
  SmallVector<DotOp> dots;
  for (Operation *user : v.getUsers()) {
    auto other = dyn_cast<DotOp>(user);
    if (isa<TransOp>(user)) {
      SmallVector<DotOp> behind = productsOf(user->getResult(0), dot);
      if (behind != SmallVector<DotOp>{dot})
        return {};
      other = dot;
    } else if (!other || (other.getA() == v) != (dot.getA() == v) ||
               (other.getB() == v) != (dot.getB() == v) || other.getAcc() == v) {
      return {};
    }
    dots.push_back(other);
  }
  return dots;
}

/// A block that nobody else needs in registers.
static bool isOnlyForDots(Value v) {
  return llvm::all_of(v.getUsers(), [&](Operation *user) {
    if (isa<TransOp, ReshapeOp>(user))
      return isOnlyForDots(user->getResult(0));
    if (auto dot = dyn_cast<cta::WarpgroupDotOp>(user))
      return dot.getAcc() != v;
    auto dot = dyn_cast<DotOp>(user);
    return dot && dot.getAcc() != v;
  });
}

/// What an access through pointers or a descriptor reads or writes, as a tile of `shape`
/// that TMA can copy: the block's, or that without dimensions of size one.
std::optional<TileAccess> DotRewriter::read(Operation *op, ArrayRef<int64_t> shape,
                                            Reason &reason) {
  TileUse use{checked, isa<StoreOp, DescriptorStoreOp>(op)};
  auto through = [&](auto access, Value block) {
    auto type = cast<RankedTensorType>(block.getType());
    return readDescriptor(analysis,
                          {access.getBase(), access.getOffsets(), access.getShape(),
                           access.getStrides(), type, *keptDimensions(type.getShape(), shape)},
                          use, reason);
  };
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (!readsZerosOutside(load)) {
      reason = Reason::TileOtherNotZero;
      return std::nullopt;
    }
    if (!canKeepHints(load)) {
      reason = Reason::TileHints;
      return std::nullopt;
    }
    return readTile(analysis, load.getPtr(), load.getMask(), use, reason);
  }
  if (auto load = dyn_cast<DescriptorLoadOp>(op)) {
    if (load.getPadding() == Padding::zero)
      return through(load, load.getResult());
    reason = Reason::TileOutsideNotZero;
    return std::nullopt;
  }
  if (auto store = dyn_cast<StoreOp>(op)) {
    if (!canKeepHints(store)) {
      reason = Reason::TileHints;
      return std::nullopt;
    }
    return readTile(analysis, store.getPtr(), store.getMask(), use, reason);
  }
  auto store = cast<DescriptorStoreOp>(op);
  return through(store, store.getValue());
}

/// Whether the threads that compute can start the copy of `tile` where `load` stands, or
/// iterations before: in a loop, one of them computes where it starts.
static bool canCopyInPlace(Operation *load, const TileAccess &tile) {
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  if (!loop)
    return !load->getParentOfType<LoopLikeOpInterface>();
  SmallVector<Value> factors;
  for (const TileAccess::Dimension &d : tile.dimensions)
    for (const Polynomial::Term &t : d.start.terms())
      llvm::append_range(factors, t.factors);
  std::optional<DenseSet<Value>> written = writtenIn(loop);
  return written && areScalarAhead(factors, loop, *written);
}

/// `type` is that of the block loaded, or of what it is without dimensions of size one.
Value DotRewriter::loadByTma(Operation *load, RankedTensorType type, ArrayRef<int32_t> order,
                             bool mustBeKMajor, unsigned kDim, DotOp dot, bool isSwapped) {
  if (!usesMaps)
    return {};
  auto fail = [&](Reason why) {
    refuse(load, why);
    return Value();
  };
  auto plain = dyn_cast<LoadOp>(load);
  if (plain && plain.getIsVolatile())
    return fail(Reason::TileVolatile);
  // Copies run ahead of the program's own stores.
  if (comesFrom(load->getOperand(0), written))
    return fail(Reason::TileWritten);
  Reason reason;
  std::optional<TileAccess> tile = read(load, type.getShape(), reason);
  if (!tile)
    return fail(reason);
  if (inPlace && !canCopyInPlace(load, *tile))
    return fail(Reason::TileNotAhead);
  // Dimension i of the operand is dimension order[i] of what is loaded.
  auto operandDim = [&](int block) -> int32_t {
    return block < 0 ? -1 : int32_t(llvm::find(order, block) - order.begin());
  };
  if (mustBeKMajor && operandDim(tile->minor()) != int32_t(kDim))
    return fail(Reason::TileOtherMajor);
  unsigned keptDim = kDim == 0 ? 1 : 0; // of the operand: rows of a, columns of b
  unsigned resultDim = isSwapped ? 1 - keptDim : keptDim;
  if (!wrapsDoNoHarm(load->getResult(0), *tile, dot, keptDim, resultDim, order))
    return fail(Reason::TileWrapsStored);
  tile->notNegative.insert_range(analysis.taken());

  Value map = tensorMapOf(kernel, *tile, type.getShape(), type.getElementType());
  if (!map)
    return {};
  SmallVector<int64_t> shape;
  for (int32_t from : order)
    shape.push_back(type.getDimSize(from));
  SmallVector<int32_t> dims;
  for (const TileAccess::Dimension &d : tile->dimensions)
    dims.push_back(operandDim(d.block));
  auto image = layout::swizzledTile(shape, dims.front(), getElementBytes(type.getElementType()));
  auto buffer = cta::BufferType::get(kernel.getContext(), shape, type.getElementType(),
                                     cta::LayoutAttr::get(kernel.getContext(), image));
  OpBuilder b(load);
  SmallVector<Value> starts = startsOf(b, load->getLoc(), *tile);
  auto copy = cta::TmaLoadOp::create(b, load->getLoc(), buffer, map, starts, dims);
  if (plain)
    keepHints(plain, copy);
  ++loadsByTma;
  return copy;
}

/// Where indices wrap around (`% M`), TMA gives zeros instead of the rows of
/// the start. That is the same if nobody looks at what they lead to.
bool DotRewriter::wrapsDoNoHarm(Value loaded, const TileAccess &tile, DotOp dot, unsigned keptDim,
                                unsigned resultDim, ArrayRef<int32_t> order) {
  for (const StridedBlock::Wrap &wrap : tile.wraps) {
    unsigned dim = llvm::find(order, int32_t(wrap.dim)) - order.begin();
    SmallVector<DotOp> dots = productsOf(loaded, dot);
    if (dim != keptDim || dots.empty())
      return false;
    for (DotOp product : dots)
      if (!isDeadBeyond(product.getResult(), resultDim, wrap.modulus - wrap.index, analysis))
        return false;
  }
  return true;
}

/// The load that gives `block`, as it is or through a descriptor with further dimensions of
/// size one; null if there is none.
static Operation *loadBehind(Value block) {
  if (auto reshape = block.getDefiningOp<ReshapeOp>()) {
    auto load = reshape.getSrc().getDefiningOp<DescriptorLoadOp>();
    bool onlyDrops =
        load && keptDimensions(load.getType().getShape(), reshape.getType().getShape());
    return onlyDrops ? load : nullptr;
  }
  Operation *load = block.getDefiningOp();
  return isa_and_nonnull<LoadOp, DescriptorLoadOp>(load) ? load : nullptr;
}

/// One copy serves products that read it in two orders, where the hardware transposes.
std::optional<DotRewriter::Operand> DotRewriter::copied(Operation *load, ArrayRef<int32_t> order,
                                                        unsigned bytes) {
  auto found = copies.find(load);
  if (found == copies.end() || bytes != 2 || ArrayRef(found->second.second) == order)
    return std::nullopt;
  return Operand{found->second.first, /*isTurned=*/true};
}

/// Whether each turn of the loop around `dot` multiplies the same `v`: registers for it would be
/// taken all the while, and the instruction, which reads them late, wants a copy in each turn.
static bool isTheSameInLoop(DotOp dot, Value v) {
  auto loop = dot->getParentOfType<scf::ForOp>();
  return loop && loop.isDefinedOutsideOfLoop(v) && v.getDefiningOp() &&
         !isa<arith::ConstantOp>(v.getDefiningOp());
}

DotRewriter::Operand DotRewriter::operand(DotOp dot, Value v, bool isLeft, bool isSwapped) {
  MLIRContext *context = kernel.getContext();
  auto type = cast<RankedTensorType>(v.getType());
  unsigned bytes = getElementBytes(type.getElementType()), kDim = isLeft ? 1 : 0;
  bool mustBeKMajor = bytes != 2;
  SmallVector<int32_t> order{0, 1};
  Value source = v;
  while (auto trans = source.getDefiningOp<TransOp>()) {
    std::swap(order[0], order[1]);
    source = trans.getSrc();
  }
  Operation *load = loadBehind(source);
  if (load && !isOnlyForDots(load->getResult(0)))
    refuse(load, Reason::TileInRegisters);
  else if (load)
    if (Value buffer = loadByTma(load, cast<RankedTensorType>(source.getType()), order,
                                 mustBeKMajor, kDim, dot, isSwapped)) {
      if (std::optional<Operand> same = copied(load, order, bytes)) {
        buffer.getDefiningOp()->erase();
        return *same;
      }
      copies.try_emplace(load, buffer, order);
      return {buffer};
    }
  bool isKept = isLeft && !load && isTheSameInLoop(dot, v);
  if (isLeft && !load && !isKept)
    return {v}; // computed: it is in registers already
  if (isKept)
    if (Value buffer = kept.lookup(v))
      return {buffer};
  // Contiguous in shared memory along the dimension that is so in memory.
  unsigned minor = kDim;
  if (load && !mustBeKMajor) {
    unsigned contiguous = order[kDim];
    if (isa<DescriptorLoadOp>(load))
      contiguous = 1;
    else if (auto p = analysis.pointers(load->getOperand(0)))
      for (auto [dim, stride] : llvm::enumerate(p->offset.strides))
        if (stride.asConstant() == 1)
          contiguous = dim;
    minor = llvm::find(order, int32_t(contiguous)) - order.begin();
  }
  if (type.getDimSize(minor) * bytes < 16)
    minor = kDim;
  auto image = layout::swizzledTile(type.getShape(), minor, bytes);
  auto buffer = cta::BufferType::get(context, type.getShape(), type.getElementType(),
                                     cta::LayoutAttr::get(context, image));
  ++operandsStaged;
  LDBG() << "written by threads: " << v;
  OpBuilder b(dot);
  if (isKept)
    b.setInsertionPointAfterValue(v);
  Value staged = cta::StageOp::create(b, dot.getLoc(), buffer, v);
  if (isKept)
    kept[v] = staged;
  return {staged};
}

bool DotRewriter::rewrite(DotOp dot) {
  WarpgroupForm form = warpgroupForm(dot);
  if (form == WarpgroupForm::None) {
    if (std::optional<Reason> why = obstacleToWarpgroups(dot))
      refuse(dot, *why);
    return false;
  }
  ++productsMade;
  LDBG() << (form == WarpgroupForm::Transposed ? "transposed: " : "as it is: ") << dot;
  // Few rows: (b^T a^T)^T has them as columns, of which 8 are enough.
  bool isSwapped = form == WarpgroupForm::Transposed;
  OpBuilder b(dot);
  Value left = dot.getA(), right = dot.getB(), acc = dot.getAcc();
  auto transposed = [&](Value v) -> Value {
    auto from = cast<RankedTensorType>(v.getType());
    auto to =
        RankedTensorType::get({from.getDimSize(1), from.getDimSize(0)}, from.getElementType());
    return TransOp::create(b, dot.getLoc(), to, v, ArrayRef<int32_t>{1, 0});
  };
  if (isSwapped) {
    left = transposed(dot.getB());
    right = transposed(dot.getA());
    acc = transposed(dot.getAcc());
  }
  Operand l = operand(dot, left, /*isLeft=*/true, isSwapped);
  Operand r = operand(dot, right, /*isLeft=*/false, isSwapped);
  unsigned promote = isa<Float8E4M3FNType, Float8E5M2Type>(dot.getA().getType().getElementType())
                         ? dot.getMaxNumImpreciseAcc()
                         : 0;
  Value result =
      cta::WarpgroupDotOp::create(b, dot.getLoc(), acc.getType(), l.value, r.value, acc,
                                  uint32_t(promote), /*in_flight=*/false, l.isTurned, r.isTurned);
  if (isSwapped)
    result = transposed(result);
  dot.getResult().replaceAllUsesWith(result);
  dot.erase();
  return true;
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// The block without dimensions of size one until it has two, where it has more.
static RankedTensorType withoutUnits(RankedTensorType type) {
  SmallVector<int64_t> shape(type.getShape());
  while (shape.size() > 2) {
    auto *unit = llvm::find(shape, 1);
    if (unit == shape.end())
      break;
    shape.erase(unit);
  }
  return type.clone(shape);
}

/// Whether each turn of a loop stores, whose products are done before a copy out of the staging
/// area is, for which the next turn would wait.
static bool isOfShortTurn(Operation *store) {
  if (!isa<scf::ForOp>(store->getParentOp()))
    return false;
  int64_t cycles = 0;
  for (auto dot : store->getBlock()->getOps<cta::WarpgroupDotOp>())
    cycles += cyclesOfShare(dot, /*warpgroups=*/1);
  return cycles != 0 && cycles < tuningOf(store).storeCopyCycles;
}

void DotRewriter::rewriteStore(Operation *store, bool isAlone) {
  Value value = isa<StoreOp>(store) ? cast<StoreOp>(store).getValue()
                                    : cast<DescriptorStoreOp>(store).getValue();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (isa<DescriptorStoreOp>(store))
    type = withoutUnits(type);
  if (!usesMaps || !type || type.getElementType().isInteger(1))
    return;
  int64_t bytes = type.getNumElements() * getElementBytes(type.getElementType());
  if (bytes < tuningOf(store).tmaStoreLeastBytes)
    return;
  if (bytes > tuningOf(store).tmaStoreMostBytes) {
    refuse(store, Reason::TileStoreLarge);
    return;
  }
  if (isa<StoreOp>(store) && isOfShortTurn(store)) {
    refuse(store, Reason::TileStoreShortTurn);
    return;
  }
  // An asynchronous store is not ordered with the program's other accesses.
  if (!isAlone) {
    refuse(store, Reason::TileStoreNotAlone);
    return;
  }
  Reason reason;
  std::optional<TileAccess> tile = read(store, type.getShape(), reason);
  if (!tile || !tile->wraps.empty()) {
    refuse(store, tile ? Reason::TileStoreWraps : reason);
    return;
  }
  // Boxes of 64 rows: a warpgroup can store its share of an accumulator.
  Value map = tensorMapOf(kernel, *tile, type.getShape(), type.getElementType(), 64);
  if (!map)
    return;
  SmallVector<int32_t> dims;
  for (const TileAccess::Dimension &d : tile->dimensions)
    dims.push_back(d.block);
  auto image =
      layout::swizzledTile(type.getShape(), dims.front(), getElementBytes(type.getElementType()));
  // The swizzle of 128 bytes repeats after eight rows: further columns of boxes begin there.
  int64_t minorBytes =
      type.getDimSize(dims.front()) * int64_t(getElementBytes(type.getElementType()));
  if (minorBytes > layout::swizzleSpan(minorBytes) && bytes / minorBytes < 8) {
    refuse(store, Reason::TileStoreFlat);
    return;
  }
  OpBuilder b(store);
  if (auto reshape = value.getDefiningOp<ReshapeOp>();
      reshape && reshape.getSrc().getType() == type)
    value = reshape.getSrc();
  else if (value.getType() != type)
    value = ReshapeOp::create(b, store->getLoc(), type, value, UnitAttr());
  auto copy =
      cta::TmaStoreOp::create(b, store->getLoc(), value, map, startsOf(b, store->getLoc(), *tile),
                              dims, cta::LayoutAttr::get(kernel.getContext(), image),
                              isRepeated(store) && !turnsWriteApart(store, *tile));
  if (auto plain = dyn_cast<StoreOp>(store))
    keepHints(plain, copy);
  ++storesByTma;
  store->erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

struct WarpgroupDotsPass : tile::impl::WarpgroupDotsPassBase<WarpgroupDotsPass> {
  using WarpgroupDotsPassBase::WarpgroupDotsPassBase;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (func::FuncOp kernel : module.getOps<func::FuncOp>())
      if (DotRewriter(kernel, stores).run())
        eraseDeadValues(kernel.getBody().front());
  }
};

} // namespace
