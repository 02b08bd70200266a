//===- Parameters.cpp - what a kernel's parameters are made of ------------===//
#include "compiler/Parameters.h"
#include "ir/CtaDialect.h"
#include "ir/Kernel.h"
#include "ir/Spelling.h"

using namespace mlir;
using namespace tile;

/// Which entry of the signature parameter `i` of the kernel is, or a part of.
static LaunchSum::Factor entryOf(func::FuncOp kernel, unsigned i) {
  using Part = LaunchSum::Factor::Part;
  LaunchSum::Factor entry;
  if (auto part = kernel.getArgAttrOfType<StringAttr>(i, kDescriptorPartAttr))
    entry.part = part == "shape" ? Part::Shape : part == "stride" ? Part::Stride : Part::Value;
  if (auto dim = kernel.getArgAttrOfType<IntegerAttr>(i, kDescriptorDimAttr))
    entry.dim = dim.getInt();
  if (auto index = kernel.getArgAttrOfType<IntegerAttr>(i, kSignatureIndexAttr))
    entry.index = index.getInt();
  if (auto path = kernel.getArgAttrOfType<DenseI64ArrayAttr>(i, kSignaturePathAttr))
    entry.path.assign(path.asArrayRef().begin(), path.asArrayRef().end());
  return entry;
}

static LaunchSum launchSum(func::FuncOp kernel, cta::SumAttr sum, int64_t scale) {
  LaunchSum result;
  for (DenseI64ArrayAttr numbers : sum.getTerms()) {
    LaunchSum::Term term;
    term.coefficient = numbers[0] * scale;
    for (int64_t argument : numbers.asArrayRef().drop_front())
      term.factors.push_back(entryOf(kernel, argument));
    result.terms.push_back(std::move(term));
  }
  return result;
}

static void describeTensorMap(func::FuncOp kernel, BlockArgument argument, cta::MapAttr map,
                              KernelParameter &p) {
  p.kind = KernelParameter::Kind::TensorMap;
  LaunchSum::Factor base = entryOf(kernel, map.getBase());
  p.index = base.index;
  p.path = base.path;
  p.map.type = spelled(map.getElementType());
  p.map.box.assign(map.getBox().begin(), map.getBox().end());
  p.map.swizzle = int(map.getSwizzle());
  for (cta::SumAttr size : map.getSizes())
    p.map.sizes.push_back(launchSum(kernel, size, 1));
  for (cta::SumAttr stride : map.getStrides())
    p.map.strides.push_back(launchSum(kernel, stride, getElementBytes(map.getElementType())));
  for (cta::SumAttr sum : map.getNotNegative())
    p.map.notNegative.push_back(launchSum(kernel, sum, 1));
  p.map.stored = !llvm::all_of(argument.getUsers(), llvm::IsaPred<cta::TmaLoadOp, cta::RingCopyOp>);
}

void tile::describeParameters(func::FuncOp kernel, KernelMetadata &metadata) {
  if (auto splits = kernel->getParentOp()->getAttrOfType<ArrayAttr>(cta::kGridSplitsAttr))
    for (auto split : splits.getAsRange<cta::SplitAttr>())
      metadata.gridSplits.push_back({split.getAxis(), split.getTo(),
                                     launchSum(kernel, split.getSize(), 1), split.getDivisor()});
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
    KernelParameter p;
    if (auto map = kernel.getArgAttrOfType<cta::MapAttr>(i, cta::kTensorMapAttr)) {
      describeTensorMap(kernel, kernel.getArgument(i), map, p);
    } else if (auto axis = kernel.getArgAttrOfType<IntegerAttr>(i, kNumProgramsAttr)) {
      p.kind = KernelParameter::Kind::NumPrograms;
      p.dim = int(axis.getInt());
      p.type = "i32";
      metadata.persistent = cta::blockProgramsOf(kernel).count == 1;
    } else {
      p.kind = KernelParameter::Kind::Arg;
      LaunchSum::Factor entry = entryOf(kernel, i);
      p.index = entry.index;
      p.path = entry.path;
      p.dim = entry.dim;
      if (kernel.getArgAttr(i, kDescriptorPartAttr))
        p.kind = entry.part == LaunchSum::Factor::Part::Shape    ? KernelParameter::Kind::DescShape
                 : entry.part == LaunchSum::Factor::Part::Stride ? KernelParameter::Kind::DescStride
                                                                 : KernelParameter::Kind::DescBase;
      p.type = spelled(kernel.getArgumentTypes()[i]);
      if (auto multiple = kernel.getArgAttrOfType<IntegerAttr>(i, kWantedMultipleAttr))
        p.multiple = int(multiple.getInt());
    }
    metadata.params.push_back(std::move(p));
  }
}
