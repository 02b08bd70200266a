//===- ElementFunctions.cpp - functions of elements: own, foreign, PTX ----===//
#include "passes/lowering/ElementFunctions.h"
#include "passes/facts/Speech.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

LogicalResult ElementFunctions::lower(MapElementwiseOp op) {
  unsigned pack = op.getPack();
  Block &body = op.getBody().front();
  unsigned count = core.get(op.getSrcs()[0]).size();
  SmallVector<Registers> inputs, results(op.getNumResults(), Registers(count));
  for (Value src : op.getSrcs())
    inputs.push_back(core.get(src));
  // Each element is spoken for by one of the threads, and one of the registers, that hold it.
  auto block = dyn_cast<RankedTensorType>(op.getSrcs()[0].getType());
  LinearLayout layout = block ? cta::getLayout(block) : LinearLayout();
  bool isHeard = speaks(op.getBody());
  Value owner = isHeard ? core.ownerPredicate(layout) : Value();
  int32_t copies = 0;
  for (auto [dim, free] : layout.freeVariableMasks())
    if (dim == Dim::reg())
      copies = free;
  for (unsigned first = 0; first < count; first += pack) {
    Value speaks = isHeard && (int32_t(first) & copies) ? in.i1(false) : owner;
    // A thread with fewer elements than `pack` hands its last one over again.
    auto element = [&](unsigned k) { return std::min(first + k, count - 1); };
    SmallVector<Value> arguments;
    for (const Registers &regs : inputs)
      for (unsigned k = 0; k < pack; ++k)
        arguments.push_back(regs[element(k)]);
    FailureOr<Registers> yielded = core.apply(body, arguments, speaks);
    if (failed(yielded))
      return failure();
    for (auto [i, v] : llvm::enumerate(*yielded))
      if (first + i % pack < count)
        results[i / pack][first + i % pack] = v;
  }
  for (auto [result, regs] : llvm::zip(op.getResults(), results))
    core.set(result, std::move(regs));
  return success();
}

void ElementFunctions::lower(ExternElementwiseOp op) {
  if (!op.getLibrary().empty()) {
    SmallVector<Attribute> libraries;
    if (auto known = core.module->getAttrOfType<ArrayAttr>(kLibrariesAttr))
      libraries.assign(known.begin(), known.end());
    if (!llvm::is_contained(libraries, op.getLibraryAttr()))
      libraries.push_back(op.getLibraryAttr());
    core.module->setAttr(kLibrariesAttr, b.getArrayAttr(libraries));
  }
  size_t count = 1;
  for (Value src : op.getSrcs())
    count = std::max(count, core.get(src).size());
  Type type = core.llvmType(getElementType(op.getResult().getType()));
  Registers regs;
  for (size_t r = 0; r < count; ++r) {
    SmallVector<Value> args;
    for (Value src : op.getSrcs())
      args.push_back(core.get(src).size() == 1 ? core.getScalar(src) : core.get(src)[r]);
    regs.push_back(core.callDevice(op.getSymbol(), type, args));
  }
  core.set(op.getResult(), std::move(regs));
}

//===----------------------------------------------------------------------===//
// Inline PTX
//===----------------------------------------------------------------------===//

namespace {
/// How the elements of one operand or result travel in registers.
struct AsmRegisters {
  Type element;     ///< as LLVM sees it
  unsigned perWord; ///< elements in one register
  unsigned words;   ///< registers for one group
};
/// The letters of the constraints, without modifiers.
struct AsmConstraints {
  SmallVector<char> outputs, inputs;
};
} // namespace

static AsmConstraints parseConstraints(StringRef text) {
  AsmConstraints result;
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    part = part.trim();
    if (part.starts_with("~"))
      continue;
    bool isOutput = part.consume_front("=");
    part = part.ltrim("&+*%");
    char letter = part.empty() ? 'r' : part.front();
    // A digit ties an operand to a result.
    if (!isOutput && llvm::isDigit(letter)) {
      unsigned tied = letter - '0';
      letter = tied < result.outputs.size() ? result.outputs[tied] : 'r';
    }
    (isOutput ? result.outputs : result.inputs).push_back(letter);
  }
  return result;
}

static AsmRegisters registersFor(Type element, unsigned pack) {
  unsigned bits = std::max(bitWidth(element), 8u);
  unsigned perWord = std::min(std::max(32 / bits, 1u), pack);
  return {element, perWord, std::max(pack / perWord, 1u)};
}

/// The type that a constraint letter asks for.
static Type asmType(OpBuilder &b, char letter, unsigned bits) {
  switch (letter) {
  case 'f':
    return b.getF32Type();
  case 'd':
    return b.getF64Type();
  case 'h':
    return b.getI16Type();
  case 'l':
    return b.getI64Type();
  case 'b':
    return b.getI1Type();
  case 'r':
    return b.getI32Type();
  default:
    return b.getIntegerType(std::max(bits, 16u));
  }
}

/// Integer bits of one width as a type of another (zero-extended or truncated).
static Value toAsm(OpBuilder &b, Location loc, Value word, Type type) {
  unsigned from = word.getType().getIntOrFloatBitWidth(), to = type.getIntOrFloatBitWidth();
  Type integer = b.getIntegerType(to);
  if (from < to)
    word = LLVM::ZExtOp::create(b, loc, integer, word);
  else if (from > to)
    word = LLVM::TruncOp::create(b, loc, integer, word);
  return integer == type ? word : LLVM::BitcastOp::create(b, loc, type, word).getResult();
}

/// The types of the results of inline PTX, register by register.
static SmallVector<Type> asmResults(OpBuilder &b, const AsmConstraints &constraints,
                                    ArrayRef<AsmRegisters> outputs) {
  SmallVector<Type> types;
  for (const AsmRegisters &o : outputs)
    for (unsigned w = 0; w < o.words; ++w)
      types.push_back(asmType(b, constraints.outputs[types.size()],
                              o.perWord * std::max(bitWidth(o.element), 8u)));
  return types;
}

LogicalResult ElementFunctions::lower(InlineAsmOp op) {
  Location loc = op.getLoc();
  unsigned pack = op.getPack();
  AsmConstraints constraints = parseConstraints(op.getConstraints());
  SmallVector<AsmRegisters> inputs, outputs;
  unsigned inputWords = 0, outputWords = 0;
  for (Value src : op.getSrcs()) {
    inputs.push_back(registersFor(core.get(src).front().getType(), pack));
    inputWords += inputs.back().words;
  }
  for (Value result : op.getResults()) {
    outputs.push_back(registersFor(core.llvmType(getElementType(result.getType())), pack));
    outputWords += outputs.back().words;
  }
  if (constraints.inputs.size() != inputWords || constraints.outputs.size() != outputWords)
    return op.emitOpError("the constraints do not fit the operands");

  SmallVector<Type> resultTypes = asmResults(b, constraints, outputs);
  Type resultType = resultTypes.size() == 1
                        ? resultTypes[0]
                        : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), resultTypes));
  if (resultTypes.empty())
    resultType = Type();

  size_t count = op.getSrcs().empty() ? 1 : core.get(op.getSrcs()[0]).size();
  SmallVector<Registers> results(op.getNumResults(), Registers(count));
  for (size_t first = 0; first < count; first += pack) {
    SmallVector<Value> args;
    for (auto [src, regs] : llvm::zip(op.getSrcs(), inputs))
      for (unsigned w = 0; w < regs.words; ++w) {
        SmallVector<Value> elements;
        for (unsigned k = 0; k < regs.perWord; ++k)
          elements.push_back(
              core.toMemory(core.get(src)[std::min(first + w * regs.perWord + k, count - 1)]));
        unsigned bits = regs.perWord * bitWidth(elements[0].getType());
        Value word = in.pack(elements, bits).front();
        args.push_back(toAsm(b, loc, word, asmType(b, constraints.inputs[args.size()], bits)));
      }
    Value out = in.inlineAsm(op.getText(), op.getConstraints(), resultType, args, !op.getPure());
    unsigned word = 0;
    for (auto [result, regs] : llvm::zip(results, outputs))
      for (unsigned w = 0; w < regs.words; ++w, ++word) {
        Value v = resultTypes.size() == 1
                      ? out
                      : LLVM::ExtractValueOp::create(b, loc, out, word).getResult();
        Type stored = regs.element.isInteger(1) ? b.getI8Type() : regs.element;
        Type integer = b.getIntegerType(resultTypes[word].getIntOrFloatBitWidth());
        if (v.getType() != integer)
          v = LLVM::BitcastOp::create(b, loc, integer, v);
        v = toAsm(b, loc, v, b.getIntegerType(regs.perWord * bitWidth(stored)));
        for (auto [k, e] : llvm::enumerate(in.unpack(v, stored, regs.perWord)))
          if (size_t at = first + w * regs.perWord + k; at < count)
            result[at] = core.fromMemory(e, regs.element);
      }
  }
  for (auto [result, regs] : llvm::zip(op.getResults(), results))
    core.set(result, std::move(regs));
  return success();
}
