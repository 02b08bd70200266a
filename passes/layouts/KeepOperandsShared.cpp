//===- KeepOperandsShared.cpp - operands that wait in shared memory --------===//
//
// Contract and example: KeepOperandsSharedPass in passes/layouts/Passes.td.
//
//===----------------------------------------------------------------------===//
#include "ir/Kernel.h"
#include "ir/layout/Hopper.h"
#include "ir/layout/MatrixAccess.h"
#include "mlir/IR/Builders.h"
#include "passes/Passes.h"
#include "passes/facts/Registers.h"
#include "passes/layouts/DotLayouts.h"
#include "passes/memory/Scratch.h"
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

static constexpr unsigned kVectorBytes = 16;

//===----------------------------------------------------------------------===//
// Which
//===----------------------------------------------------------------------===//

/// Whether `convert` moves a block through shared memory that only products by matrix
/// instructions want, which take it apart step by step.
static bool isForProducts(cta::ConvertLayoutOp convert) {
  RankedTensorType type = convert.getType();
  unsigned bytes = getElementBytes(type.getElementType());
  return type.getRank() == 2 && bytes == 2 &&
         *llvm::max_element(type.getShape()) * bytes >= kVectorBytes &&
         lowering::scratchBytes(convert) > 0 && !convert->use_empty() &&
         llvm::all_of(convert->getUses(), [](OpOperand &use) {
           auto dot = dyn_cast<DotOp>(use.getOwner());
           return dot && use.getOperandNumber() != kDotAcc && dotMethod(dot) == DotMethod::Matrix;
         });
}

/// How the block lies for matrices to be read in either direction, and as `holders` write it best.
static LinearLayout imageFor(RankedTensorType type) {
  const LinearLayout &holders = cta::getLayout(type);
  unsigned bytes = getElementBytes(type.getElementType());
  std::optional<LinearLayout> best;
  unsigned least = 0;
  for (unsigned minor : {0u, 1u}) {
    if (type.getDimSize(minor) * bytes < kVectorBytes)
      continue;
    LinearLayout image = layout::swizzledTile(type.getShape(), minor, bytes);
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
  /// Puts the block to shared memory once, and lets each product read it there.
  void keep();
};

struct KeepOperandsSharedPass : tile::impl::KeepOperandsSharedPassBase<KeepOperandsSharedPass> {
  using KeepOperandsSharedPassBase::KeepOperandsSharedPassBase;
  void runOnOperation() override;
};
} // namespace

void Operand::keep() {
  OpBuilder b(source.getContext());
  b.setInsertionPointAfterValue(source);
  Value staged = cta::StageOp::create(b, source.getLoc(), buffer, source);
  for (cta::ConvertLayoutOp convert : converts) {
    for (OpOperand &use : llvm::make_early_inc_range(convert->getUses())) {
      b.setInsertionPoint(use.getOwner());
      use.set(cta::ReadOp::create(b, convert.getLoc(), convert.getType(), staged));
    }
    LDBG() << "kept for its products: " << convert;
    convert.erase();
    ++operandsKept;
  }
}

/// Those of all products; what takes most registers first.
static SmallVector<Operand> operandsOf(func::FuncOp kernel) {
  llvm::MapVector<Value, SmallVector<cta::ConvertLayoutOp>> found;
  kernel.walk([&](cta::ConvertLayoutOp convert) {
    if (isForProducts(convert))
      found[convert.getSrc()].push_back(convert);
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

/// Keeps `operands`, as long as three quarters of the programs or more run at once.
static void keepThatFit(ModuleOp module, MutableArrayRef<Operand> operands) {
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
    operand->keep();
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
    int64_t registers = registersDuringDots(kernel);
    LDBG() << kernel.getName() << ": " << registers << " registers of blocks during products, of "
           << most;
    if (registers + others > most) {
      SmallVector<Operand> operands = operandsOf(kernel);
      keepThatFit(module, operands);
    }
  }
}
