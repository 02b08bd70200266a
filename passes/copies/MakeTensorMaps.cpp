//===- MakeTensorMaps.cpp - the map of a tile, and where copies start -----===//
#include "ir/Kernel.h"
#include "ir/layout/WarpgroupLayouts.h"
#include "passes/copies/TensorMaps.h"
#include "passes/facts/Divisibility.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tile;

static cta::SumAttr sumOf(MLIRContext *context, const Polynomial &p) {
  SmallVector<DenseI64ArrayAttr> terms;
  for (const Polynomial::Term &t : p.terms()) {
    SmallVector<int64_t> numbers{t.coefficient};
    for (Value v : t.factors)
      numbers.push_back(kernelArgument(v).getArgNumber());
    llvm::sort(llvm::drop_begin(numbers));
    terms.push_back(DenseI64ArrayAttr::get(context, numbers));
  }
  llvm::sort(terms, [](DenseI64ArrayAttr a, DenseI64ArrayAttr b) {
    return std::lexicographical_compare(a.asArrayRef().begin() + 1, a.asArrayRef().end(),
                                        b.asArrayRef().begin() + 1, b.asArrayRef().end());
  });
  return cta::SumAttr::get(context, terms);
}

cta::SumAttr tile::launchSumOf(MLIRContext *context, const Polynomial &p) {
  return isLaunchInvariant(p) ? sumOf(context, p) : cta::SumAttr();
}

Value tile::tensorMapOf(func::FuncOp kernel, const TileAccess &access, ArrayRef<int64_t> shape,
                        Type element, int64_t rows) {
  MLIRContext *context = kernel.getContext();
  unsigned bytes = getElementBytes(element);
  // Rows of a matrix are swizzled; one row is read as it is.
  bool isVector = shape.size() == 1;
  unsigned span = isVector ? 16 : layout::swizzleSpan(shape[access.minor()] * bytes);
  SmallVector<cta::SumAttr> sizes, strides;
  SmallVector<int64_t> box;
  for (const TileAccess::Dimension &d : access.dimensions) {
    sizes.push_back(sumOf(context, d.size));
    if (box.empty()) {
      box.push_back(isVector ? std::min(shape.front(), rows) : span / bytes);
      continue;
    }
    strides.push_back(sumOf(context, d.stride));
    box.push_back(d.block < 0 ? 1 : std::min(shape[d.block], rows));
  }
  SmallVector<cta::SumAttr> notNegative;
  for (BlockArgument arg : access.notNegative)
    notNegative.push_back(sumOf(context, Polynomial::variable(arg)));
  auto map = cta::MapAttr::get(context, access.base.getArgNumber(), element, sizes, strides, box,
                               span == 16 ? 0 : span, notNegative);
  for (BlockArgument arg : kernel.getArguments())
    if (kernel.getArgAttr(arg.getArgNumber(), cta::kTensorMapAttr) == map)
      return arg;
  unsigned index = kernel.getNumArguments();
  Builder b(context);
  NamedAttrList attrs;
  attrs.set(cta::kTensorMapAttr, map);
  // Bases are taken for aligned, as all memory is that is allocated by itself.
  if (!isVector &&
      llvm::any_of(llvm::drop_begin(access.dimensions), [&](const TileAccess::Dimension &d) {
        return llvm::any_of(d.stride.terms(), [&](const Polynomial::Term &t) {
          return divisibility(t) * bytes % kSectorBytes != 0;
        });
      }))
    attrs.set(cta::kCutsSectorsAttr, b.getUnitAttr());
  if (failed(kernel.insertArgument(index, cta::TensorMapType::get(context),
                                   attrs.getDictionary(context), kernel.getLoc())))
    return {};
  return kernel.getArgument(index);
}

static Value materialize(OpBuilder &b, Location loc, const Polynomial &p) {
  Type i32 = b.getI32Type();
  auto constant = [&](int64_t c) -> Value {
    return arith::ConstantOp::create(b, loc, b.getI32IntegerAttr(int32_t(c)));
  };
  Value sum;
  for (const Polynomial::Term &t : p.terms()) {
    Value product;
    if (t.coefficient != 1 || t.factors.empty())
      product = constant(t.coefficient);
    for (Value f : t.factors) {
      unsigned width = f.getType().getIntOrFloatBitWidth();
      if (width > 32)
        f = arith::TruncIOp::create(b, loc, i32, f);
      else if (width < 32)
        f = arith::ExtSIOp::create(b, loc, i32, f);
      product = product ? arith::MulIOp::create(b, loc, product, f).getResult() : f;
    }
    sum = sum ? arith::AddIOp::create(b, loc, sum, product).getResult() : product;
  }
  return sum ? sum : constant(0);
}

/// What is too large for a coordinate lies outside of every array.
static Value materializeFar(OpBuilder &b, Location loc, const Polynomial &p) {
  IRMapping none;
  Value start = emitPolynomial(b, loc, p, none);
  Value most = arith::ConstantOp::create(b, loc, b.getI64IntegerAttr(kUnlimited));
  return arith::TruncIOp::create(b, loc, b.getI32Type(),
                                 arith::MinSIOp::create(b, loc, start, most));
}

SmallVector<Value> tile::startsOf(OpBuilder &b, Location loc, const TileAccess &access) {
  SmallVector<Value> starts;
  for (const TileAccess::Dimension &d : access.dimensions)
    starts.push_back(d.mayBeFar ? materializeFar(b, loc, d.start) : materialize(b, loc, d.start));
  return starts;
}
