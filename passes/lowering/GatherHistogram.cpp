//===- GatherHistogram.cpp - gather, histogram, foreign and scalar functions ===//
#include "passes/facts/Speech.h"
#include "passes/lowering/Lowering.h"
#include "passes/lowering/core/SharedAccess.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::Dim;
using layout::LinearLayout;

//===----------------------------------------------------------------------===//
// Through shared memory
//===----------------------------------------------------------------------===//

/// An index of any width as i32.
static Value narrowIndex(OpBuilder &b, Location loc, Value index) {
  unsigned bits = bitWidth(index.getType());
  if (bits == 32)
    return index;
  if (bits < 32)
    return LLVM::SExtOp::create(b, loc, b.getI32Type(), index);
  return LLVM::TruncOp::create(b, loc, b.getI32Type(), index);
}

LogicalResult Lowering::lowerGather(GatherOp op) {
  Location loc = op.getLoc();
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!scratch)
    return op.emitOpError("has no scratch memory");
  auto src = cast<RankedTensorType>(op.getSrc().getType());
  Value base = sharedBase(scratch.getInt());
  writeRowMajor(*this, op.getSrc(), base, src.getNumElements());
  in.barrier();

  // The source is [outer, length, inner]; all of them powers of two.
  const LinearLayout &layout = cta::getLayout(op.getType());
  unsigned axis = op.getAxis();
  int64_t length = src.getDimSize(axis), inner = 1;
  for (int64_t size : src.getShape().drop_front(axis + 1))
    inner *= size;
  unsigned bytes = std::max(getElementBytes(src.getElementType()), 1u);
  Type type = llvmType(src.getElementType());
  Type stored = type.isInteger(1) ? b.getI8Type() : type;
  Registers regs;
  for (auto [r, index] : llvm::enumerate(get(op.getIndex()))) {
    Value rest = elementIndex(layout, int32_t(r), op.getType().getShape(), int(axis));
    Value outer = LLVM::UDivOp::create(b, loc, rest, in.i32(int32_t(inner)));
    Value low = LLVM::AndOp::create(b, loc, rest, in.i32(int32_t(inner - 1)));
    // An index outside picks something inside.
    Value at = LLVM::AndOp::create(b, loc, narrowIndex(b, loc, index), in.i32(int32_t(length - 1)));
    Value row = LLVM::AddOp::create(
        b, loc, LLVM::MulOp::create(b, loc, outer, in.i32(int32_t(length))), at);
    Value place =
        LLVM::AddOp::create(b, loc, LLVM::MulOp::create(b, loc, row, in.i32(int32_t(inner))), low);
    Value byte = LLVM::MulOp::create(b, loc, place, in.i32(int32_t(bytes)));
    regs.push_back(fromMemory(in.loadShared(stored, 1, sharedAt(base, byte)).front(), type));
  }
  set(op.getResult(), std::move(regs));
  return success();
}

LogicalResult Lowering::lowerHistogram(HistogramOp op) {
  Location loc = op.getLoc();
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  if (!scratch)
    return op.emitOpError("has no scratch memory");
  Value base = sharedBase(scratch.getInt());
  int64_t bins = op.getType().getDimSize(0);
  auto counter = [&](Value bin) {
    return sharedAt(base, LLVM::MulOp::create(b, loc, bin, in.i32(4)));
  };
  auto below = [&](Value v, int64_t limit) -> Value {
    Value bound = in.constant(v.getType(), b.getIntegerAttr(v.getType(), limit));
    return LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ult, v, bound);
  };
  // 1. All counters to zero.
  for (int64_t first = 0; first < bins; first += numThreads) {
    Value bin = LLVM::AddOp::create(b, loc, tid, in.i32(int32_t(first)));
    Value predicate = first + numThreads > bins ? below(tid, bins - first) : Value();
    in.storeShared(counter(bin), {in.i32(0)}, predicate);
  }
  in.barrier();
  // 2. Each element is counted by one of the threads that hold it.
  const LinearLayout &layout = cta::getLayout(op.getSrc().getType());
  Value owner = ownerPredicate(layout);
  int32_t copies = 0;
  for (auto [dim, free] : layout.freeVariableMasks())
    if (dim == Dim::reg())
      copies = free;
  for (auto [r, v] : llvm::enumerate(get(op.getSrc()))) {
    if (int32_t(r) & copies)
      continue;
    Value predicate = owner;
    unsigned bits = bitWidth(v.getType());
    if (bits >= 63 || bins < int64_t(1) << bits)
      predicate = andB(predicate, below(v, bins));
    if (op.getMask())
      predicate = andB(predicate, get(op.getMask())[r]);
    Value bin = bits < 32    ? LLVM::ZExtOp::create(b, loc, b.getI32Type(), v).getResult()
                : bits == 64 ? LLVM::TruncOp::create(b, loc, b.getI32Type(), v).getResult()
                             : v;
    in.addShared(counter(bin), in.i32(1), predicate);
  }
  in.barrier();
  // 3. Everyone reads what they hold.
  const LinearLayout &result = cta::getLayout(op.getType());
  Registers regs;
  for (int32_t r = 0; r < result.inSize(Dim::reg()); ++r)
    regs.push_back(
        in.loadShared(b.getI32Type(), 1, counter(elementIndex(result, r, op.getType().getShape())))
            .front());
  set(op.getResult(), std::move(regs));
  return success();
}

//===----------------------------------------------------------------------===//
// Scalar functions
//===----------------------------------------------------------------------===//

LogicalResult Lowering::lowerMap(MapElementwiseOp op) {
  unsigned pack = op.getPack();
  Block &body = op.getBody().front();
  unsigned count = get(op.getSrcs()[0]).size();
  SmallVector<Registers> inputs, results(op.getNumResults(), Registers(count));
  for (Value src : op.getSrcs())
    inputs.push_back(get(src));
  // Each element is spoken for by one of the threads, and one of the registers, that hold it.
  auto block = dyn_cast<RankedTensorType>(op.getSrcs()[0].getType());
  LinearLayout layout = block ? cta::getLayout(block) : LinearLayout();
  bool isHeard = speaks(op.getBody());
  Value owner = isHeard ? ownerPredicate(layout) : Value();
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
    FailureOr<Registers> yielded = apply(body, arguments, speaks);
    if (failed(yielded))
      return failure();
    for (auto [i, v] : llvm::enumerate(*yielded))
      if (first + i % pack < count)
        results[i / pack][first + i % pack] = v;
  }
  for (auto [result, regs] : llvm::zip(op.getResults(), results))
    set(result, std::move(regs));
  return success();
}

LogicalResult Lowering::lowerExtern(ExternElementwiseOp op) {
  if (!op.getLibrary().empty()) {
    SmallVector<Attribute> libraries;
    if (auto known = module->getAttrOfType<ArrayAttr>(kLibrariesAttr))
      libraries.assign(known.begin(), known.end());
    if (!llvm::is_contained(libraries, op.getLibraryAttr()))
      libraries.push_back(op.getLibraryAttr());
    module->setAttr(kLibrariesAttr, b.getArrayAttr(libraries));
  }
  size_t count = 1;
  for (Value src : op.getSrcs())
    count = std::max(count, get(src).size());
  Type type = llvmType(getElementType(op.getResult().getType()));
  Registers regs;
  for (size_t r = 0; r < count; ++r) {
    SmallVector<Value> args;
    for (Value src : op.getSrcs())
      args.push_back(get(src).size() == 1 ? getScalar(src) : get(src)[r]);
    regs.push_back(callDevice(op.getSymbol(), type, args));
  }
  set(op.getResult(), std::move(regs));
  return success();
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

LogicalResult Lowering::lowerInlineAsm(InlineAsmOp op) {
  Location loc = op.getLoc();
  unsigned pack = op.getPack();
  AsmConstraints constraints = parseConstraints(op.getConstraints());
  SmallVector<AsmRegisters> inputs, outputs;
  unsigned inputWords = 0, outputWords = 0;
  for (Value src : op.getSrcs()) {
    inputs.push_back(registersFor(get(src).front().getType(), pack));
    inputWords += inputs.back().words;
  }
  for (Value result : op.getResults()) {
    outputs.push_back(registersFor(llvmType(getElementType(result.getType())), pack));
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

  size_t count = op.getSrcs().empty() ? 1 : get(op.getSrcs()[0]).size();
  SmallVector<Registers> results(op.getNumResults(), Registers(count));
  for (size_t first = 0; first < count; first += pack) {
    SmallVector<Value> args;
    for (auto [src, regs] : llvm::zip(op.getSrcs(), inputs))
      for (unsigned w = 0; w < regs.words; ++w) {
        SmallVector<Value> elements;
        for (unsigned k = 0; k < regs.perWord; ++k)
          elements.push_back(toMemory(get(src)[std::min(first + w * regs.perWord + k, count - 1)]));
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
            result[at] = fromMemory(e, regs.element);
      }
  }
  for (auto [result, regs] : llvm::zip(op.getResults(), results))
    set(result, std::move(regs));
  return success();
}
