//===- ReadLate.cpp - what products' results are combined with ------------===//
//
// A part of tile-keep-operands-shared. Scales of columns, say, that a turn loads:
//
//   %s = cta.convert_layout %loaded         cta.stage %loaded
//   %d = cta.warpgroup_dot ...         =>   %d = cta.warpgroup_dot ...
//   ... %d * %s                             ... %d * (cta.read)
//
// A thread has a number for each of its columns, which is a half of what it has of the result: its
// registers would hold them through the product. So it reads a few when it needs them, and the
// writing needs no barrier of its own beside the operand's.
//
//===----------------------------------------------------------------------===//
#include "passes/layouts/ReadLate.h"
#include "ir/Kernel.h"
#include "ir/layout/MatrixAccess.h"
#include "mlir/IR/Builders.h"
#include "passes/facts/Registers.h"
#include "passes/layouts/LayoutInference.h"
#include "passes/memory/Scratch.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

namespace {
struct Late {
  cta::ConvertLayoutOp convert;
  SmallVector<Operation *> names; ///< in the order of the text
  Operation *use = nullptr;       ///< the first that is no name
};
} // namespace

/// Follows what `v` is renamed to; false if some use is in another block.
static bool follow(Value v, Late &late) {
  for (Operation *user : v.getUsers()) {
    if (user->getBlock() != late.convert->getBlock())
      return false;
    if (isa<ExpandDimsOp, BroadcastOp>(user)) {
      late.names.push_back(user);
      if (!follow(user->getResult(0), late))
        return false;
    } else if (!late.use || user->isBeforeInBlock(late.use)) {
      late.use = user;
    }
  }
  return true;
}

/// Whether a result of warpgroups that `late` is not computed from comes before it is used.
static bool isBehindProduct(const Late &late) {
  return late.use &&
         llvm::any_of(llvm::make_range(late.convert->getIterator(), late.use->getIterator()),
                      llvm::IsaPred<cta::WarpgroupDotOp>);
}

static std::optional<Late> lateOf(cta::ConvertLayoutOp convert) {
  auto type = cast<RankedTensorType>(convert.getType());
  int64_t registers = packedRegistersOf(type);
  if (!type.getElementType().isIntOrFloat() ||
      registers < tuningOf(convert).readLateLeastRegisters ||
      registers <= packedRegistersOf(convert.getSrc().getType()) ||
      lowering::scratchBytes(convert) == 0)
    return std::nullopt;
  Late late{convert, {}};
  if (!follow(convert.getResult(), late) || !isBehindProduct(late))
    return std::nullopt;
  llvm::sort(late.names, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return late;
}

static void readLate(Late &late) {
  cta::ConvertLayoutOp convert = late.convert;
  auto type = cast<RankedTensorType>(convert.getType());
  unsigned bytes = getElementBytes(type.getElementType());
  OpBuilder b(convert);
  layout::Exchange exchange =
      layout::planExchange(cta::getLayout(convert.getSrc().getType()), cta::getLayout(type), bytes,
                           {/*load=*/false, /*store=*/false});
  auto buffer = cta::BufferType::get(b.getContext(), type.getShape(), type.getElementType(),
                                     cta::LayoutAttr::get(b.getContext(), exchange.shared.layout));
  Value staged = cta::StageOp::create(b, convert.getLoc(), buffer, convert.getSrc());
  b.setInsertionPoint(late.use);
  Value read = cta::ReadOp::create(b, convert.getLoc(), type, staged);
  for (Operation *name : late.names)
    name->moveBefore(late.use);
  convert.replaceAllUsesWith(read);
  convert.erase();
}

unsigned tile::readBehindProducts(func::FuncOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  SmallVector<Late> found;
  int64_t registers = 0;
  kernel.walk([&](cta::ConvertLayoutOp convert) {
    if (std::optional<Late> late = lateOf(convert)) {
      registers += packedRegistersOf(convert.getType());
      found.push_back(std::move(*late));
    }
  });
  if (found.empty())
    return 0;
  int64_t held = registersDuringProducts(kernel);
  int64_t bytes = lowering::bytesBesidesSlots(module, {}) + lowering::bytesOfCopies(module);
  int64_t now = warpgroupsAtOnce(module, held, bytes);
  // No fewer than a product's result takes: the bound of programs is kept.
  int64_t left = std::max(held - registers - tuningOf(module).readLateSpared,
                          registersOfLargestProduct(kernel));
  int64_t then = warpgroupsAtOnce(module, left, bytes);
  if (then <= now)
    return 0;
  llvm::for_each(found, readLate);
  auto programs = then / int64_t(cta::threadsOf(module) / kWarpgroupThreads);
  if (!module->hasAttr(cta::kProgramsTogetherAttr))
    module->setAttr(cta::kProgramsTogetherAttr,
                    IntegerAttr::get(IntegerType::get(module.getContext(), 32), programs));
  return unsigned(found.size());
}
