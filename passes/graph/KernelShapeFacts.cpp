//===- KernelShapeFacts.cpp - what is asked of a kernel's shape -----------===//
#include "mlir/IR/BuiltinOps.h"
#include "passes/graph/RowSteps.h"

using namespace mlir;
using namespace tile::graph;

Sizes tile::graph::contiguousStrides(ArrayRef<Size> shape) {
  Sizes strides(shape.size());
  Size step(1);
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step = step * shape[i];
  }
  return strides;
}

bool KernelShape::isNumber(unsigned input) const {
  auto numbers = op->getAttrOfType<DenseI64ArrayAttr>(kNumbersAttr);
  return numbers && llvm::is_contained(numbers.asArrayRef(), int64_t(input));
}

Size KernelShape::stepOf(JoinOp join) const {
  Value result = join.getResult();
  while (auto outer = dyn_cast<JoinOp>(*result.user_begin()))
    result = outer.getResult();
  return join.partSizes()[join.getAxis()] * contiguousStrides(sizesOf(result))[join.getAxis()];
}

std::optional<KernelShape::Beside> KernelShape::sizeBeside(const Size &size) const {
  constexpr int64_t kNear = 1 << 20;
  auto isNear = [&](std::optional<int64_t> number) { return number && std::abs(*number) < kNear; };
  std::optional<Beside> found;
  for (auto [i, known] : llvm::enumerate(sizes)) {
    if (known == size)
      return std::nullopt;
    if (std::optional<int64_t> number = (size - known).constant(); isNear(number) && !found)
      found = Beside{i, *number, false};
    else if (std::optional<int64_t> sum = (size + known).constant(); isNear(sum) && !found)
      found = Beside{i, *sum, true};
  }
  return found;
}

bool KernelShape::aligns(const Size &size) const {
  auto strides = [&](const Access &access) {
    return llvm::is_contained(access.rowStrides, size) ||
           llvm::is_contained(access.columnStrides, size);
  };
  if (product &&
      llvm::any_of(product->others, [&](auto &other) { return other.second.aligns(size); }))
    return true;
  if (llvm::any_of(beside, [&](const KernelShape &other) { return other.aligns(size); }))
    return true;
  auto alignsTaken = [&](GatherOp gather) {
    return llvm::is_contained(stridesOf[cast<BlockArgument>(gather.getSrc()).getArgNumber()], size);
  };
  if (llvm::any_of(KernelOp(op).getBody().front().getOps<GatherOp>(), alignsTaken))
    return true;
  auto alignsParts = [&](JoinOp join) { return stepOf(join) == size; };
  if (llvm::any_of(KernelOp(op).getBody().front().getOps<JoinOp>(), alignsParts))
    return true;
  auto alignsFirst = [&](const ChainShape::First &first) {
    return size == first.depth || first.left.aligns(size) || first.right.aligns(size);
  };
  if (product && product->chain && llvm::any_of(product->chain->firsts, alignsFirst))
    return true;
  if (product &&
      (size == product->inner || product->left.aligns(size) || product->right.aligns(size)))
    return true;
  return size == graph::product(columns) || llvm::any_of(loads, strides) ||
         llvm::any_of(stores, strides);
}

static Size bytesIn(ValueRange arrays, llvm::function_ref<bool(unsigned)> counts) {
  Size bytes;
  for (auto [i, value] : llvm::enumerate(arrays)) {
    auto type = cast<GraphTensorType>(value.getType());
    if (counts(i))
      bytes = bytes + product(type.sizes()) * Size(bytesOf(type.getElement()));
  }
  return bytes;
}

Size KernelShape::bytesRead() const {
  return bytesIn(op->getOperands(), [&](unsigned i) { return !isNumber(i); });
}

Size KernelShape::bytesWritten() const {
  return bytesIn(op->getResults(), [](unsigned) { return true; });
}

//===----------------------------------------------------------------------===//
// Inner dimensions of products, and rows, that programs share
//===----------------------------------------------------------------------===//

std::vector<MatmulOp> tile::graph::productsOf(const KernelShape &shape) {
  std::vector<MatmulOp> products = {shape.product->op};
  for (auto &[op, of] : shape.product->others)
    products.push_back(op);
  return products;
}

std::string tile::graph::nameOfKernel(const KernelShape &shape, Share share, unsigned step) {
  std::string name = KernelOp(shape.op).getName().str();
  bool isBefore = share == Share::Step && step + 1 < RowSteps(shape).count();
  return share == Share::Parts     ? name + "_parts"
         : share == Share::Clear   ? name + "_zeros"
         : share == Share::Scatter ? name + "_added"
         : isBefore                ? name + "_step" + std::to_string(step)
                                   : name;
}

Sizes tile::graph::shapeOfSums(MatmulOp op, int64_t parts) {
  Sizes sizes = op.getType().sizes();
  sizes.insert(sizes.begin(), Size(parts));
  return sizes;
}

/// Whether what is computed by `of` alone reads an array, or is given a number.
static bool reads(const KernelShape &of, unsigned array) {
  if (of.isNumber(array))
    return true;
  KernelOp op = of.op;
  auto gathers = [&](GatherOp gather) {
    return of.forms.count(gather.getResult()) &&
           cast<BlockArgument>(gather.getSrc()).getArgNumber() == array;
  };
  return llvm::any_of(of.loads, [&](const Access &load) { return load.array == array; }) ||
         llvm::any_of(op.getBody().front().getOps<GatherOp>(), gathers);
}

std::vector<unsigned> tile::graph::arraysOf(const KernelShape &shape, Share share, unsigned step) {
  unsigned inputs = shape.op->getNumOperands(), count = inputs + shape.op->getNumResults();
  std::vector<unsigned> arrays;
  if (share == Share::Step) {
    RowSteps steps(shape);
    for (unsigned i = 0; i < count; ++i)
      if (i < inputs ? steps.reads(step, i) : steps.writes(step, i - inputs))
        arrays.push_back(i);
    return arrays;
  }
  for (unsigned i = 0; i < count; ++i) {
    bool isUsed = share == Share::None || share == Share::Sum;
    if (share == Share::Sum && i < inputs)
      isUsed = reads(shape, i);
    if ((share == Share::Parts || share == Share::Scatter) && i < inputs)
      isUsed =
          reads(shape.product->left, i) || reads(shape.product->right, i) ||
          llvm::any_of(shape.product->others, [&](auto &other) { return reads(other.second, i); });
    if (isUsed)
      arrays.push_back(i);
  }
  return arrays;
}
