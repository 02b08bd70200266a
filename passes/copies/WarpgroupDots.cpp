//===- WarpgroupDots.cpp - matrix products on sm_90's tensor cores --------===//
//
// Contract and example: WarpgroupDotsPass in passes/copies/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/Passes.h"
#include "passes/copies/ArrayAccesses.h"
#include "passes/copies/ChosenTiles.h"
#include "passes/copies/ComputedOperands.h"
#include "passes/copies/CopiesAhead.h"
#include "passes/copies/CopyHints.h"
#include "passes/copies/TensorMaps.h"
#include "passes/copies/TensorStores.h"
#include "passes/copies/VectorsOfLoops.h"
#include "passes/facts/DeadValues.h"
#include "passes/facts/LoopSlice.h"
#include "passes/facts/PointerRoots.h"
#include "passes/facts/ProductFacts.h"
#include "passes/facts/ProductForms.h"
#include "passes/facts/Registers.h"
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
      accesses.note(op);
    });
    bool any = false;
    for (DotOp dot : dots)
      any |= rewrite(dot);
    if (!any)
      return false;
    if (!inPlace)
      copyBesideOperands(kernel, analysis, accesses.written());
    if (!storesByMaps || !usesMaps)
      return true;
    TensorStores tensorStores(kernel, analysis, checked);
    // All before any is rewritten: they are compared with each other.
    SmallVector<bool> alone;
    for (Operation *store : stores)
      alone.push_back(accesses.isOnly(store));
    for (auto [store, isAlone] : llvm::zip_equal(stores, alone))
      storesByTma += tensorStores.rewrite(store, isAlone);
    return true;
  }

private:
  bool rewrite(DotOp dot);
  /// An operand as its product reads it.
  struct Operand {
    Value value;
    bool isTurned = false;
  };
  Operand operand(DotOp dot, Value v, bool isLeft, bool isSwapped);
  std::optional<Operand> copied(Operation *load, ArrayRef<int32_t> order, unsigned bytes);
  std::optional<ChosenTile> read(Operation *op, ArrayRef<int64_t> shape, Reason &reason);
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
  ArrayAccesses accesses{analysis};
  /// What loads have become, and in which order of their dimensions.
  DenseMap<Operation *, std::pair<Value, SmallVector<int32_t>>> copies;
  /// Left operands that threads compute and write to shared memory: those that loops multiply in
  /// every turn, and large ones that every warpgroup would compute. In which order of their
  /// dimensions.
  DenseMap<Value, std::pair<Value, SmallVector<int32_t>>> written;
};

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

/// What a load through pointers or a descriptor reads, as a tile of `shape` that TMA can copy: the
/// block's, or that without dimensions of size one.
std::optional<ChosenTile> DotRewriter::read(Operation *op, ArrayRef<int64_t> shape,
                                            Reason &reason) {
  TileUse use{checked, /*isStore=*/false};
  if (auto load = dyn_cast<LoadOp>(op)) {
    if (!readsZerosOutside(load)) {
      reason = Reason::TileOtherNotZero;
      return std::nullopt;
    }
    if (!canKeepHints(load)) {
      reason = Reason::TileHints;
      return std::nullopt;
    }
    auto tile = [&](StridedAnalysis &of, Reason &why) {
      return readTile(of, load.getPtr(), load.getMask(), use, why);
    };
    return readChosen(load.getPtr(), nonNegative, taken, tile, reason);
  }
  auto load = cast<DescriptorLoadOp>(op);
  std::optional<TileAccess> tile;
  if (load.getPadding() == Padding::zero)
    tile = readDescriptor(analysis, describe(load, load.getResult(), shape), use, reason);
  else
    reason = Reason::TileOutsideNotZero;
  return tile ? std::optional(ChosenTile{std::move(*tile), {}, {}}) : std::nullopt;
}

/// Whether arrays are chosen in front of a loop: all its turns read the same.
static bool isChosenBefore(scf::ForOp loop, const ChosenTile &of) {
  return !of.choice || (!loop->isAncestor(of.choice) && llvm::all_of(of.either, [&](auto &one) {
    return isChosenBefore(loop, one);
  }));
}

/// What its starts are computed of.
static void collectFactors(const ChosenTile &of, SmallVectorImpl<Value> &factors) {
  for (const ChosenTile &one : of.either)
    collectFactors(one, factors);
  for (const TileAccess::Dimension &d : of.tile.dimensions)
    for (const Polynomial::Term &t : d.start.terms())
      llvm::append_range(factors, t.factors);
}

/// Whether the threads that compute can start the copy of a tile where `load` stands, or
/// iterations before: in a loop, one of them computes where it starts.
static bool canCopyInPlace(Operation *load, const ChosenTile &of) {
  auto loop = dyn_cast<scf::ForOp>(load->getParentOp());
  if (!loop)
    return !load->getParentOfType<LoopLikeOpInterface>();
  if (!isChosenBefore(loop, of))
    return false;
  SmallVector<Value> factors;
  collectFactors(of, factors);
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
  if (comesFrom(load->getOperand(0), accesses.written()))
    return fail(Reason::TileWritten);
  if (mayComeBehindFlag(load))
    return fail(Reason::TileBehindFlag);
  Reason reason;
  std::optional<ChosenTile> chosen = read(load, type.getShape(), reason);
  if (!chosen)
    return fail(reason);
  if (inPlace && !canCopyInPlace(load, *chosen))
    return fail(Reason::TileNotAhead);
  TileAccess *tile = &chosen->tile;
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
  chosen->noteTaken(analysis.taken());

  Value map = chosen->mapIn(kernel, type.getShape(), type.getElementType());
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
  SmallVector<Value> starts = chosen->startsAt(b, load->getLoc());
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
  if (!load)
    refuseLoadsOf(source);
  bool isKept = isLeft && !load && isTheSameInLoop(dot, v);
  if (isLeft && !load) {
    auto [buffer, itsOrder] = written.lookup(source);
    if (buffer && (bytes == 2 || itsOrder == order) &&
        buffer.getParentBlock()->findAncestorOpInBlock(*dot))
      return {buffer, itsOrder != order};
    if (!isKept && !isMuchForEveryWarpgroup(dot, type))
      return {v}; // computed: it is in registers already
  }
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
  if (isLeft && !load)
    written.try_emplace(source, staged, order);
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
