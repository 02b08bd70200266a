//===- KeepOperandsShared.cpp - operands that wait in shared memory --------===//
//
// Contract and example: KeepOperandsSharedPass in passes/layouts/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/Builders.h"
#include "ir/layout/MatrixAccess.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/facts/Registers.h"
#include "passes/facts/SharedOperands.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/layouts/LayoutInference.h"
#include "passes/layouts/OneStage.h"
#include "passes/layouts/ReadLate.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/Statistic.h"
#include "llvm/Support/DebugLog.h"

namespace tile {
#define GEN_PASS_DEF_KEEPOPERANDSSHAREDPASS
#include "passes/Passes.h.inc"
} // namespace tile

using namespace mlir;
using namespace tile;
using layout::Dim;
using layout::LinearLayout;

#define DEBUG_TYPE "tile-keep-operands-shared"
ALWAYS_ENABLED_STATISTIC(operandsKept, "operands that wait in shared memory for their products");
ALWAYS_ENABLED_STATISTIC(blocksReadLate, "blocks that wait in shared memory behind products");
ALWAYS_ENABLED_STATISTIC(copiesSaved, "blocks that products read in two orders from one copy");

//===----------------------------------------------------------------------===//
// Which
//===----------------------------------------------------------------------===//

/// What `v` is another name of.
static Value withoutTranspositions(Value v) {
  while (auto trans = v.getDefiningOp<TransOp>())
    v = trans.getSrc();
  return v;
}

/// Whether rows of eight numbers for matrices to be read can be cut from the block.
static bool hasRows(ArrayRef<int64_t> shape, unsigned bytes) {
  return shape.size() >= 2 && *llvm::max_element(shape.take_back(2)) * bytes >= kVectorBytes;
}

/// Whether `convert` moves a block through shared memory that only products by matrix
/// instructions want, which take it apart step by step.
static bool isForProducts(cta::ConvertLayoutOp convert) {
  auto source = cast<RankedTensorType>(withoutTranspositions(convert.getSrc()).getType());
  unsigned bytes = getElementBytes(source.getElementType());
  return bytes == 2 && hasRows(source.getShape(), bytes) && lowering::scratchBytes(convert) > 0 &&
         !convert->use_empty() && isOnlyOperand(convert.getResult(), [](DotOp dot) {
           return dotMethod(dot) == DotMethod::Matrix;
         });
}

/// Tiles of the last two dimensions one behind the other, rows along `minor`.
static LinearLayout stackedTiles(ArrayRef<int64_t> shape, unsigned minor, unsigned bytes) {
  unsigned rank = shape.size(), major = 2 * rank - 3 - minor;
  SmallVector<int64_t> turned(shape);
  std::swap(turned[rank - 1], turned[minor]);
  int64_t rows = turned[rank - 2];
  for (int64_t size : ArrayRef(turned).drop_back(2))
    rows *= size;
  LinearLayout stack = layout::swizzledTile({rows, turned.back()}, 1, bytes);
  LinearLayout tiles = layout::reshape(stack, turned);
  if (minor == rank - 1)
    return tiles;
  SmallVector<int32_t> order(llvm::to_vector(llvm::seq<int32_t>(int32_t(rank))));
  std::swap(order[minor], order[major]);
  return layout::transpose(tiles, order);
}

/// How the block lies for matrices to be read in either direction, and as `holders` write it best.
static LinearLayout imageFor(RankedTensorType type) {
  const LinearLayout &holders = cta::getLayout(type);
  unsigned bytes = getElementBytes(type.getElementType()), rank = unsigned(type.getRank());
  std::optional<LinearLayout> best;
  unsigned least = 0;
  for (unsigned minor : {rank - 2, rank - 1}) {
    if (type.getDimSize(minor) * bytes < kVectorBytes)
      continue;
    LinearLayout image = rank == 2 ? layout::swizzledTile(type.getShape(), minor, bytes)
                                   : stackedTiles(type.getShape(), minor, bytes);
    unsigned wavefronts = layout::planWrite(holders, image, bytes, false).wavefronts;
    if (best && wavefronts >= least)
      continue;
    best = image;
    least = wavefronts;
  }
  return *best;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
/// A block that products read, and how it moves to each of them.
struct Operand {
  unsigned place; ///< in the order of the text
  Value source;
  SmallVector<cta::ConvertLayoutOp> converts;
  cta::BufferType buffer;

  /// Registers of a thread that need not be held.
  int64_t registers() const {
    int64_t most = 0;
    for (cta::ConvertLayoutOp convert : converts)
      most = std::max(most, packedRegistersOf(convert->getResult(0).getType()));
    return most;
  }
  /// Puts the block to shared memory once, and lets each product read it there. A thread may hold
  /// `most` registers of blocks meanwhile.
  void keep(int64_t most);
};

struct KeepOperandsSharedPass : tile::impl::KeepOperandsSharedPassBase<KeepOperandsSharedPass> {
  using KeepOperandsSharedPassBase::KeepOperandsSharedPassBase;
  void runOnOperation() override;
};
} // namespace

/// Behind the loads that follow: it waits for what it stores, and they would, too. As long as a
/// thread has room for all of them at once, beside what else it holds: `most` registers.
static Operation *behindLoads(Value source, ArrayRef<cta::ConvertLayoutOp> converts, int64_t most) {
  Operation *def = source.getDefiningOp();
  if (!def)
    return nullptr;
  Operation *last = def;
  for (Operation *op = def->getNextNode(); op; op = op->getNextNode()) {
    if (llvm::any_of(converts, [&](cta::ConvertLayoutOp c) { return op->isAncestor(c); }))
      break;
    auto load = dyn_cast<LoadOp>(op);
    if (!load)
      continue;
    if (registersAcross(load) + packedRegistersOf(load.getType()) > most)
      break;
    last = op;
  }
  return last;
}

/// `use`, of what `convert` gives perhaps renamed, is of what is read in front of its product.
static void readFor(OpOperand &use, cta::ConvertLayoutOp convert, Value staged) {
  SmallVector<Operation *> names;
  for (Value v = use.get(); v != convert.getResult(); v = names.back()->getOperand(0))
    names.push_back(v.getDefiningOp());
  OpBuilder b(use.getOwner());
  // Read as it was staged, and turned as the source of the conversion was.
  SmallVector<TransOp> turns;
  LinearLayout layout = cta::getLayout(convert.getType());
  for (auto trans = convert.getSrc().getDefiningOp<TransOp>(); trans;
       trans = trans.getSrc().getDefiningOp<TransOp>()) {
    layout = operandLayoutFor(trans, layout);
    turns.push_back(trans);
  }
  auto buffer = cast<cta::BufferType>(staged.getType());
  auto type = RankedTensorType::get(buffer.getShape(), buffer.getElementType(),
                                    cta::LayoutAttr::get(b.getContext(), layout));
  Value v = cta::ReadOp::create(b, convert.getLoc(), type, staged);
  for (TransOp trans : llvm::reverse(turns)) {
    auto turned = cast<RankedTensorType>(trans.getType());
    auto in = cta::LayoutAttr::get(
        b.getContext(), layout::transpose(cta::getLayout(v.getType()), trans.getOrder()));
    v = TransOp::create(b, trans.getLoc(),
                        RankedTensorType::get(turned.getShape(), turned.getElementType(), in), v,
                        trans.getOrder());
  }
  for (Operation *name : llvm::reverse(names)) {
    IRMapping map;
    map.map(name->getOperand(0), v);
    v = b.clone(*name, map)->getResult(0);
  }
  use.set(v);
}

/// With all that renames what it gives.
static void eraseUnused(Operation *op) {
  for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
    eraseUnused(user);
  op->erase();
}

/// The operands of products that `v`, perhaps renamed, is.
static void collectUses(Value v, SmallVector<OpOperand *> &uses) {
  for (OpOperand &use : v.getUses())
    if (isRenaming(use.getOwner()))
      collectUses(use.getOwner()->getResult(0), uses);
    else
      uses.push_back(&use);
}

void Operand::keep(int64_t most) {
  OpBuilder b(source.getContext());
  b.setInsertionPointAfterValue(source);
  if (Operation *last = behindLoads(source, converts, most))
    b.setInsertionPointAfter(last);
  Value staged = cta::StageOp::create(b, source.getLoc(), buffer, source);
  for (cta::ConvertLayoutOp convert : converts) {
    SmallVector<OpOperand *> uses;
    collectUses(convert.getResult(), uses);
    for (OpOperand *use : uses)
      readFor(*use, convert, staged);
    LDBG() << "kept for its products: " << convert;
    eraseUnused(convert);
    ++operandsKept;
  }
}

/// Those of all products; what takes most registers first.
static SmallVector<Operand> operandsOf(func::FuncOp kernel) {
  llvm::MapVector<Value, SmallVector<cta::ConvertLayoutOp>> found;
  kernel.walk([&](cta::ConvertLayoutOp convert) {
    if (isForProducts(convert))
      found[withoutTranspositions(convert.getSrc())].push_back(convert);
  });
  SmallVector<Operand> operands;
  for (auto &[source, converts] : found) {
    auto type = cast<RankedTensorType>(source.getType());
    auto image = cta::LayoutAttr::get(kernel.getContext(), imageFor(type));
    operands.push_back(
        {unsigned(operands.size()), source, converts,
         cta::BufferType::get(kernel.getContext(), type.getShape(), type.getElementType(), image)});
  }
  llvm::sort(operands, [](const Operand &a, const Operand &b) {
    return std::pair(-a.registers(), a.place) < std::pair(-b.registers(), b.place);
  });
  return operands;
}

/// Keeps `operands`, as long as three quarters of the programs or more run at once. A thread has
/// room for `most` registers of blocks.
static void keepThatFit(ModuleOp module, MutableArrayRef<Operand> operands, int64_t most) {
  DenseSet<Operation *> replaced;
  int64_t kept = 0;
  auto bytes = [&] {
    return lowering::bytesBesidesSlots(module, replaced) + lowering::bytesOfCopies(module) + kept;
  };
  int64_t programs =
      std::min(lowering::programsWith(module, bytes()),
               programsAtOnce(module, kMaxRegisters, /*sharedBytes=*/0, cta::threadsOf(module)));
  SmallVector<Operand *> fitting;
  for (Operand &operand : operands) {
    int64_t before = kept;
    replaced.insert(operand.converts.begin(), operand.converts.end());
    kept += int64_t(llvm::alignTo(operand.buffer.getBytes(), cta::kSlotAlignment)) *
            cta::groupsOf(module);
    if (bytes() <= lowering::maxSharedBytes(module) &&
        4 * lowering::programsWith(module, bytes()) >= 3 * programs) {
      fitting.push_back(&operand);
      continue;
    }
    for (cta::ConvertLayoutOp convert : operand.converts)
      replaced.erase(convert);
    kept = before;
  }
  for (Operand *operand : fitting)
    operand->keep(most);
}

void KeepOperandsSharedPass::runOnOperation() {
  ModuleOp module = getOperation();
  const Target &target = targetOf(module);
  if (!target.has(Feature::Ldmatrix))
    return;
  int64_t most = mostRegistersOfThread(target, cta::threadsOf(module));
  int64_t others = kRegistersBesideAccumulator + tuningOf(target).registersOfAddresses;
  for (func::FuncOp kernel : module.getOps<func::FuncOp>()) {
    if (kernel.isExternal())
      continue;
    blocksReadLate += readBehindProducts(kernel);
    copiesSaved += stageOnce(kernel);
    int64_t registers = registersDuringDots(kernel);
    LDBG() << kernel.getName() << ": " << registers << " registers of blocks during products, of "
           << most;
    SmallVector<Operand> operands = operandsOf(kernel);
    // With registers for all, what moves once may as well be held. What moves for several products
    // is written once in any case.
    if (registers + others <= most)
      llvm::erase_if(operands, [](const Operand &operand) { return operand.converts.size() < 2; });
    if (!operands.empty())
      keepThatFit(module, operands, most - others);
  }
}
