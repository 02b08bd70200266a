//===- KernelFrame.cpp - the function that a kernel becomes ---------------===//
#include "ir/Attributes.h"
#include "ir/Kernel.h"
#include "mlir/IR/BuiltinOps.h"
#include "passes/graph/BlockEmitter.h"
#include "passes/graph/RowSteps.h"

using namespace mlir;
using namespace tile;
using namespace tile::graph;

KernelFrame::KernelFrame(const KernelShape &shape, const Cut &cut, ModuleOp module)
    : b(module.getContext()), loc(KernelOp(shape.op).getLoc()),
      index(b.getIntegerType(cut.wide ? 64 : 32)), absent(cut.absent), ofNothing(cut.ofNothing),
      hasEmptySize(cut.hasEmptySize), shape(shape) {
  KernelOp op = shape.op;
  if (cut.together > 0)
    module->setAttr(cta::kProgramsTogetherAttr, b.getI32IntegerAttr(cut.together));
  module->setAttr(kWholeRowsAttr, b.getUnitAttr());
  if (cut.announces)
    module->setAttr(kAnnouncesAttr, b.getUnitAttr());
  if (cut.fewPrograms > 0)
    module->setAttr(kFewProgramsAttr, b.getI32IntegerAttr(cut.fewPrograms));
  b.setInsertionPointToEnd(module.getBody());
  SmallVector<Type> types;
  SmallVector<DictionaryAttr> attributes;
  auto add = [&](Type type, int multiple) {
    NamedAttrList list;
    list.append(kSignatureIndexAttr, b.getI64IntegerAttr(types.size()));
    if (multiple > 1)
      list.append(kDivisibilityAttr, b.getI32IntegerAttr(multiple));
    attributes.push_back(list.getDictionary(b.getContext()));
    types.push_back(type);
  };
  auto alignmentAt = [&](size_t i) -> int {
    return i < cut.aligned.size() && cut.aligned[i] ? kMostMultiple : 0;
  };
  unsigned inputs = op->getNumOperands();
  arrays.resize(inputs + op->getNumResults());
  std::vector<unsigned> used = arraysOf(shape, cut.share, cut.step);
  auto results = llvm::partition_point(used, [&](unsigned array) { return array < inputs; });
  auto addArray = [&](unsigned array) {
    Value value = array < inputs ? op->getOperand(array) : op->getResult(array - inputs);
    Type element = cast<GraphTensorType>(value.getType()).getElement();
    if (array < inputs && shape.isNumber(array))
      return add(Elements::computed(element), 0);
    add(PtrType::get(Elements::stored(element)), alignmentAt(types.size()));
  };
  std::for_each(used.begin(), results, addArray);
  unsigned firstSum = types.size();
  for (Type shared : typesOfShared(shape, cut.share, cut.step))
    add(PtrType::get(Elements::stored(shared)), alignmentAt(types.size()));
  unsigned numSums = types.size() - firstSum;
  std::for_each(results, used.end(), addArray);
  unsigned firstSize = types.size();
  for (size_t i = 0; i < shape.sizes.size(); ++i)
    add(index, i < cut.divisible.size() ? cut.divisible[i] : 0);
  auto function = func::FuncOp::create(b, loc, nameOfKernel(shape, cut.share, cut.step),
                                       b.getFunctionType(types, {}));
  function.setAllArgAttrs(attributes);
  Block *body = function.addEntryBlock();
  b.setInsertionPointToEnd(body);
  for (auto [i, array] : llvm::enumerate(used))
    arrays[array] = body->getArgument(i < firstSum ? i : i + numSums);
  for (unsigned i = 0; i < numSums; ++i)
    sums.push_back(body->getArgument(firstSum + i));
  for (auto [i, size] : llvm::enumerate(shape.sizes))
    sizes.push_back({size, body->getArgument(firstSize + i)});
}

Value KernelFrame::number(Type type, int64_t value) {
  return make<arith::ConstantOp>(type, b.getIntegerAttr(type, value));
}

Value KernelFrame::sizeValue(const Size &size) {
  if (std::optional<int64_t> constant = size.constant())
    return number(index, *constant);
  for (auto &[known, value] : sizes)
    if (known == size)
      return value;
  if (std::optional<KernelShape::Beside> beside = shape.sizeBeside(size)) {
    Value argument = sizes[beside->argument].second, by = number(index, beside->number);
    return beside->isSubtracted ? make<arith::SubIOp>(by, argument)
                                : make<arith::AddIOp>(argument, by);
  }
  llvm_unreachable("the shape lists all sizes that the kernel needs");
}

SmallVector<Value> KernelFrame::partsOf(Value linear, ArrayRef<Size> along) {
  SmallVector<Value> parts(along.size());
  auto like = [&](const Size &size) {
    Value value = sizeValue(size);
    return isa<RankedTensorType>(linear.getType()) ? make<SplatOp>(linear.getType(), value) : value;
  };
  for (size_t i = along.size(); i-- > 1;) {
    Value size = like(along[i]);
    parts[i] = make<arith::RemSIOp>(linear, size);
    linear = make<arith::DivSIOp>(linear, size);
  }
  if (!parts.empty())
    parts[0] = linear;
  return parts;
}

Value KernelFrame::range(int64_t count, Value start) {
  Value line =
      make<MakeRangeOp>(RankedTensorType::get({count}, b.getI32Type()), 0u, uint32_t(count));
  Type type = RankedTensorType::get({count}, index);
  if (type != line.getType())
    line = make<arith::ExtSIOp>(type, line);
  return start ? make<arith::AddIOp>(make<SplatOp>(type, start), line) : line;
}
