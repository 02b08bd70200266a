//===- ProgramForms.cpp - other kernels for some sizes --------------------===//
//
// Chains of products whose blocks do not fit a multiprocessor are fused apart, and where a product
// has fewer blocks than the chip computes at once, programs share its inner dimension: two kernels
// in the place of one. Each form is made when a launch first needs it.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/FusedProgram.h"
#include "frontend/eval/DType.h"
#include "passes/graph/Elements.h"

using namespace mlir;
using namespace tile;
using graph::Bindings;
using graph::KernelOp;
using graph::KernelShape;
using graph::Size;
using graph::Sizes;

FusedProgram &FusedProgram::wholeForSizes(const Bindings &sizes, const Target &target) {
  bool fits = chains == graph::Chains::None || llvm::all_of(chained, [&](const KernelShape &shape) {
                std::optional<Extents> extents = extentsOf(shape, sizes);
                return !extents || chainFits(shape, *extents, target);
              });
  if (fits)
    return *this;
  if (!apart) {
    auto isPlain = [](const KernelShape &shape) { return !shape.product->chain->of.hasSoftmax(); };
    bool somePlain = llvm::any_of(chained, isPlain);
    apart = std::make_unique<FusedProgram>(context, OwningOpRef<ModuleOp>(unfused->clone()),
                                           mark + (somePlain ? "plain;" : "apart;"));
    apart->launches = launches;
    apart->signature = signature;
    // What could be fused with chains can be without.
    (void)apart->fuse(kernels.front().name, signature,
                      somePlain ? graph::Chains::Softmax : graph::Chains::None);
    if (!apart->chained.empty())
      apart->unfused = unfused->clone();
  }
  return apart->wholeForSizes(sizes, target);
}

//===----------------------------------------------------------------------===//
// Products whose inner dimension programs share
//===----------------------------------------------------------------------===//

TensorProgram &FusedProgram::forSizes(const Bindings &sizes, const Target &target) {
  FusedProgram &whole = wholeForSizes(sizes, target);
  std::vector<int64_t> parts(whole.kernels.size(), 1);
  for (auto &[kernel, shape] : whole.products)
    if (std::optional<Extents> extents = extentsOf(shape, sizes))
      parts[kernel] = tile::shareInner(shape, *extents, target);
  return whole.withParts(parts);
}

FusedProgram &FusedProgram::withParts(ArrayRef<int64_t> parts) {
  if (llvm::all_of(parts, [](int64_t count) { return count == 1; }))
    return *this;
  std::unique_ptr<FusedProgram> &made = shared[parts.vec()];
  if (!made) {
    made = std::make_unique<FusedProgram>(context, OwningOpRef<ModuleOp>(module->clone()));
    made->mark = mark; // what is not shared is the same kernel
    made->launches = launches;
    made->traced = traced;
    made->unfusedBytes = unfusedBytes;
    made->unfusedLaunches = unfusedLaunches;
    made->describe(signature);
    made->shareInner(parts);
  }
  return *made;
}

/// Buffers of sums come behind all others, which keep their numbers.
void FusedProgram::shareInner(ArrayRef<int64_t> parts) {
  std::vector<TensorKernel> before = std::exchange(kernels, {});
  std::vector<Origin> beforeOrigins = std::exchange(origins, {});
  for (auto [i, kernel] : llvm::enumerate(before)) {
    origins.push_back(beforeOrigins[i]);
    if (parts[i] == 1) {
      kernels.push_back(std::move(kernel));
      continue;
    }
    origins.push_back(beforeOrigins[i]);
    kernel.parts = parts[i];
    auto [multiplies, sums] = sharedKernels(i, kernel);
    kernels.push_back(std::move(multiplies));
    kernels.push_back(std::move(sums));
  }
  products.clear();
}

std::pair<TensorKernel, TensorKernel> FusedProgram::sharedKernels(unsigned number,
                                                                  const TensorKernel &whole) {
  const KernelShape &shape = products.find(number)->second;
  TensorKernel first = whole, second = whole;
  std::vector<unsigned> sums;
  Size sumBytes;
  for (graph::MatmulOp op : graph::productsOf(shape)) {
    Sizes sizes = graph::shapeOfSums(op, whole.parts);
    sums.push_back(buffers.size());
    buffers.push_back({TensorBuffer::Kind::Intermediate, 0, sizes, *eval::DType::parse("fp32")});
    sumBytes = sumBytes + graph::product(sizes) * Size(4);
  }
  auto fill = [&](TensorKernel &kernel, graph::Share share) {
    kernel.addsParts = share == graph::Share::Sum;
    kernel.name = graph::nameOfKernel(shape, share);
    kernel.buffers.clear();
    kernel.bytesRead = Size();
    std::vector<unsigned> written;
    for (unsigned array : graph::arraysOf(shape, share)) {
      bool isRead = array < whole.numRead;
      (isRead ? kernel.buffers : written).push_back(whole.buffers[array]);
      if (isRead && !shape.isNumber(array))
        kernel.bytesRead = kernel.bytesRead + bytesOfValue(KernelOp(shape.op)->getOperand(array));
    }
    kernel.numRead = kernel.buffers.size();
    llvm::append_range(kernel.buffers, sums);
    llvm::append_range(kernel.buffers, written);
    kernel.operations.clear();
    for (Operation &inner : KernelOp(shape.op).getBody().front().without_terminator()) {
      bool isBehind = shape.forms.count(inner.getResult(0)) && !isa<graph::MatmulOp>(inner);
      std::string name = nameOfOperation(inner);
      if (!name.empty() && isBehind == (share == graph::Share::Sum))
        kernel.operations.push_back(name);
    }
  };
  fill(first, graph::Share::Parts);
  first.bytesWritten = sumBytes;
  first.reasons.clear();
  fill(second, graph::Share::Sum);
  second.numRead += sums.size();
  second.bytesRead = second.bytesRead + sumBytes;
  second.operations.insert(second.operations.begin(), "sum of parts");
  return {std::move(first), std::move(second)};
}

void FusedProgram::chooseParts(Bindings &sizes, const Target &target) const {
  for (const KernelShape &shape : inParts)
    if (std::optional<Extents> extents = extentsOf(shape, sizes))
      sizes[*shape.parts->name()] = tile::chooseParts(shape, *extents, target);
}
