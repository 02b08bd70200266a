//===- CtaDialect.cpp - layout attribute and cta operations ---------------===//
#include "ir/CtaDialect.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;
using layout::Dim;
using layout::LinearLayout;

#include "ir/CtaDialect.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "ir/CtaAttrs.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "ir/CtaTypes.cpp.inc"
#define GET_OP_CLASSES
#include "ir/CtaOps.cpp.inc"

void CtaDialect::initialize() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "ir/CtaAttrs.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "ir/CtaTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "ir/CtaOps.cpp.inc"
      >();
}

bool cta::hasLayout(Type type) {
  auto block = dyn_cast<RankedTensorType>(type);
  return block && isa_and_nonnull<LayoutAttr>(block.getEncoding());
}

const LinearLayout &cta::getLayout(Type type) {
  return cast<LayoutAttr>(cast<RankedTensorType>(type).getEncoding()).getLayout();
}

RankedTensorType cta::withLayout(RankedTensorType type, const LinearLayout &layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               LayoutAttr::get(type.getContext(), layout));
}

//===----------------------------------------------------------------------===//
// Layout syntax: {register = [[1], [2]], lane = [[4]]} : [8, 4]
//
// The sizes of the output dimensions follow because bases need not reach them.
//===----------------------------------------------------------------------===//

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SMLoc loc = parser.getCurrentLocation();
  SmallVector<LinearLayout::InDim, 4> ins;
  auto parseInts = [&](layout::Basis &out) {
    return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() {
      int32_t v;
      if (parser.parseInteger(v))
        return failure();
      out.push_back(v);
      return success();
    });
  };
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
        StringRef name;
        if (parser.parseKeyword(&name) || parser.parseEqual())
          return failure();
        LinearLayout::InDim in{Dim::get(name), {}};
        if (parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
              layout::Basis basis;
              if (parseInts(basis))
                return failure();
              in.second.push_back(basis);
              return success();
            }))
          return failure();
        ins.push_back(std::move(in));
        return success();
      }))
    return {};
  layout::Basis sizes;
  if (parser.parseColon() || parseInts(sizes) || parser.parseGreater())
    return {};
  SmallVector<LinearLayout::OutDim> outs;
  for (auto [axis, size] : llvm::enumerate(sizes))
    outs.push_back({Dim::dim(axis), size});
  std::optional<LinearLayout> layout = LinearLayout::create(ins, outs);
  if (!layout) { // layout_c1
    parser.emitError(loc, "basis vectors do not fit the sizes of the layout's dimensions");
    return {};
  }
  return LayoutAttr::get(parser.getContext(), *layout);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << '<' << getLayout().str() << " : [";
  llvm::interleaveComma(getLayout().outs(), printer, [&](auto &out) { printer << out.second; });
  printer << "]>";
}

LogicalResult ConvertLayoutOp::verify() {
  if (!hasLayout(getSrc().getType()) || !hasLayout(getType())) // convert_layout_c1
    return emitOpError("expected blocks with a `#cta.layout` on both sides");
  return success();
}

LogicalResult AnyInWarpOp::verify() {
  if (!hasLayout(getSrc().getType())) // any_in_warp_c1
    return emitOpError("expected a block with a `#cta.layout`");
  return success();
}

OpFoldResult ConvertLayoutOp::fold(FoldAdaptor) {
  if (getSrc().getType() == getType())
    return getSrc();
  if (auto inner = getSrc().getDefiningOp<ConvertLayoutOp>()) {
    getSrcMutable().assign(inner.getSrc());
    return getResult();
  }
  return {};
}
