//===- Kernel.cpp - what a kernel is compiled for, and made into ----------===//
#include "ir/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "target/Tuning.h"

using namespace mlir;
using namespace tile;

static ModuleOp moduleOf(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  return module ? module : op->getParentOfType<ModuleOp>();
}

const Target &tile::targetOf(Operation *op) {
  auto attr = moduleOf(op)->getAttrOfType<TargetAttr>(kTargetAttr);
  return attr ? *attr.getTarget() : fallbackTarget();
}

const Tuning &tile::tuningOf(Operation *op) { return tuningOf(targetOf(op)); }

KernelAttr tile::kernelOf(Operation *op) {
  auto attr = moduleOf(op)->getAttrOfType<KernelAttr>(tile::kKernelAttr);
  return attr
             ? attr
             : KernelAttr::get(op->getContext(), kDefaultWarps, kDefaultStages, 0, WarpRoles::Auto);
}

cta::Made cta::madeOf(Operation *op) {
  auto attr = moduleOf(op)->getAttrOfType<cta::KernelAttr>(cta::kKernelAttr);
  if (!attr)
    return {};
  return {attr.getGroups(), attr.getCluster(), attr.getGroupBytes(), attr.getSharedBytes()};
}

void cta::setMade(Operation *op, Made made) {
  moduleOf(op)->setAttr(cta::kKernelAttr,
                        cta::KernelAttr::get(op->getContext(), made.groups, made.cluster,
                                             made.groupBytes, made.sharedBytes));
}

void cta::setMade(Operation *op, int32_t Made::*field, int64_t value) {
  Made made = madeOf(op);
  made.*field = int32_t(value);
  setMade(op, made);
}

cta::BlockPrograms cta::blockProgramsOf(Operation *op) {
  auto attr = moduleOf(op)->getAttrOfType<DenseI32ArrayAttr>(kBlockProgramsAttr);
  return attr && attr.size() == 2 ? BlockPrograms{attr[0], std::max(attr[1], 1)} : BlockPrograms();
}

void cta::setBlockPrograms(Operation *op, BlockPrograms programs) {
  moduleOf(op)->setAttr(kBlockProgramsAttr,
                        DenseI32ArrayAttr::get(op->getContext(), {programs.axis, programs.count}));
}

unsigned cta::groupsOf(Operation *op) {
  return unsigned(madeOf(op).groups * blockProgramsOf(op).count);
}

unsigned cta::warpsOfGroup(Operation *op) {
  return unsigned(tile::kernelOf(op).getWarps() / madeOf(op).groups);
}

unsigned cta::threadsOf(Operation *op) { return 32 * warpsOfGroup(op) * groupsOf(op); }

//===----------------------------------------------------------------------===//
// Syntax and verification
//===----------------------------------------------------------------------===//

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  SMLoc at = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseKeyword(&name) || parser.parseGreater())
    return {};
  if (const Target *target = findTarget(name))
    return get(parser.getContext(), target);
  parser.emitError(at) << describeUnknownTarget(name);
  return {};
}

void TargetAttr::print(AsmPrinter &printer) const { printer << '<' << getTarget()->name << '>'; }

LogicalResult tile::KernelAttr::verify(function_ref<InFlightDiagnostic()> error, int32_t warps,
                                       int32_t stages, int32_t ctas, WarpRoles) {
  if (warps < 1 || warps > 32) // kernel_c1
    return error() << "`warps` must be from 1 to 32, got " << warps;
  if (stages < 0) // kernel_c2
    return error() << "`stages` must not be negative, got " << stages;
  if (ctas < 0) // kernel_c3
    return error() << "`ctas` must not be negative, got " << ctas;
  return success();
}

LogicalResult cta::KernelAttr::verify(function_ref<InFlightDiagnostic()> error, int32_t groups,
                                      int32_t cluster, int32_t groupBytes, int32_t sharedBytes) {
  if (groups < 1 || cluster < 1) // cta_kernel_c1
    return error() << "`groups` and `cluster` must be at least 1";
  if (groupBytes < 0 || sharedBytes < 0) // cta_kernel_c2
    return error() << "bytes must not be negative";
  return success();
}
