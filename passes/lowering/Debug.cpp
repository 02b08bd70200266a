//===- Debug.cpp - printing and assertions --------------------------------===//
//
// A block is printed by the first thread alone, so that its lines come in order
// and whole: the block goes to scratch memory, and after a barrier one loop
// writes a line at a time.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/Debug.h"
#include "ir/Printing.h"
#include "passes/lowering/core/SharedAccess.h"
#include "passes/memory/Scratch.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using layout::LinearLayout;

//===----------------------------------------------------------------------===//
// Formats
//===----------------------------------------------------------------------===//

/// The printf conversion for a value, and the value as it is passed.
static std::string conversion(OpBuilder &b, Location loc, Value &v, Type element, bool hex,
                              bool isSigned) {
  Type type = v.getType();
  if (isa<PtrType>(element)) {
    v = LLVM::PtrToIntOp::create(b, loc, b.getI64Type(), v);
    return "0x%016llx";
  }
  unsigned bits = element.getIntOrFloatBitWidth();
  if (isa<FloatType>(element) && !hex) {
    if (!type.isF64())
      v = LLVM::FPExtOp::create(b, loc, b.getF64Type(), v);
    return "%f";
  }
  if (isa<FloatType>(type))
    v = LLVM::BitcastOp::create(b, loc, b.getIntegerType(bits), v);
  if (bits < 32) {
    if (isSigned && !hex && bits > 1)
      v = LLVM::SExtOp::create(b, loc, b.getI32Type(), v);
    else
      v = LLVM::ZExtOp::create(b, loc, b.getI32Type(), v);
  }
  std::string length = bits == 64 ? "ll" : "";
  if (hex)
    return "0x%0" + std::to_string(std::max(bits, 8u) / 4) + length + "x";
  return "%" + length + (isSigned && bits > 1 ? "d" : "u");
}

/// printf takes `%` literally only when doubled.
static std::string escaped(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '%' ? "%%" : std::string(1, c);
  return result;
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

void Debugging::lower(PrintOp op) {
  Location loc = op.getLoc();
  auto scratch = op->getAttrOfType<IntegerAttr>(cta::kScratchOffsetAttr);
  int64_t offset = scratch ? scratch.getInt() : 0;
  SmallVector<Value> bases;
  for (Value operand : op.getOperands_()) {
    bases.push_back(isa<RankedTensorType>(operand.getType()) ? core.sharedBase(offset) : Value());
    if (bases.back())
      writeRowMajor(core, operand, bases.back(), kMaxPrinted);
    offset += printedBytes(operand);
  }
  if (scratch)
    in.barrier();
  Block *speak = core.newBlock(), *next = core.newBlock();
  Value first = core.speaker()
                    ? *core.speaker()
                    : LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::eq, core.tid, in.i32(0));
  if (!first) // every thread has elements of its own
    first = in.i1(true);
  LLVM::CondBrOp::create(b, loc, first, speak, next);
  core.enterBlock(speak);
  if (!scratch) {
    std::string format = "pid (%u, %u, %u) " + escaped(op.getPrefix());
    SmallVector<Value> arguments{in.blockId(0), in.blockId(1), in.blockId(2)};
    for (auto [i, operand] : llvm::enumerate(op.getOperands_())) {
      Value v = core.getScalar(operand);
      if (isa<FloatType>(operand.getType()) && !isa<FloatType>(v.getType()))
        v = core.callDevice(isa<Float8E4M3FNType>(operand.getType()) ? "__tile_e4m3_to_f32"
                                                                     : "__tile_e5m2_to_f32",
                            b.getF32Type(), v);
      format += (i ? " " : ": ") +
                conversion(b, loc, v, operand.getType(), op.getHex(), op.getIsSigned()[i]);
      arguments.push_back(v);
    }
    in.print(format + "\n", arguments);
  }
  for (auto [i, base] : llvm::enumerate(bases))
    if (scratch)
      printBlock(op, i, base);
  LLVM::BrOp::create(b, loc, next);
  core.enterBlock(next);
}

/// Where the line of a block that begins with element `at` lies: its format, and its arguments.
static std::string printedPlace(Instructions &in, ArrayRef<int64_t> shape, int64_t length, Value at,
                                SmallVectorImpl<Value> &arguments) {
  OpBuilder &b = in.builder();
  Location loc = in.getLoc();
  std::string index;
  SmallVector<Value> coordinates;
  Value rest = at;
  for (int64_t d = shape.size() - 1; d >= 0; --d) {
    Value size = in.i32(int32_t(shape[d]));
    coordinates.push_back(LLVM::URemOp::create(b, loc, rest, size));
    rest = LLVM::UDivOp::create(b, loc, rest, size);
    index += d + 1 == int64_t(shape.size()) ? "%u:%u" : "%u, ";
  }
  arguments.append(coordinates.rbegin(), coordinates.rend());
  arguments.push_back(LLVM::AddOp::create(b, loc, coordinates.front(), in.i32(int32_t(length))));
  // The last coordinate is a range; "%u, " of the others come before it.
  return "[" + StringRef(index).drop_front(5).str() + "%u:%u]";
}

/// The lines of one operand, by the running thread.
void Debugging::printBlock(PrintOp op, unsigned operand, Value base) {
  Location loc = op.getLoc();
  Value value = op.getOperands_()[operand];
  Type element = getElementType(value.getType());
  auto block = dyn_cast<RankedTensorType>(value.getType());
  ArrayRef<int64_t> shape = block ? block.getShape() : ArrayRef<int64_t>();
  if (auto shapes = op->getAttrOfType<ArrayAttr>(kPrintedShapesAttr))
    shape = cast<DenseI64ArrayAttr>(shapes[operand]).asArrayRef();
  int64_t count = llvm::product_of(shape), length = printedPerLine(shape);
  int64_t lines = std::min(count, kMaxPrinted) / length;

  // for (line = 0; line != lines; ++line)
  Block *body = core.newBlock(), *done = core.newBlock();
  Value line = body->addArgument(b.getI32Type(), loc);
  LLVM::BrOp::create(b, loc, ValueRange(in.i32(0)), body);
  core.enterBlock(body);
  std::string format = "pid (%u, %u, %u) " + escaped(op.getPrefix());
  if (op.getOperands_().size() > 1)
    format += " (operand " + std::to_string(operand) + ")";
  SmallVector<Value> arguments{in.blockId(0), in.blockId(1), in.blockId(2)};
  Value at = LLVM::MulOp::create(b, loc, line, in.i32(int32_t(length)));
  if (block)
    format += printedPlace(in, shape, length, at, arguments);
  format += ":";
  unsigned bytes = getElementBytes(element);
  Type stored = element.isInteger(1) ? b.getI8Type() : core.llvmType(element);
  for (int64_t k = 0; k < length; ++k) {
    Value v;
    if (block) {
      Value place = LLVM::AddOp::create(b, loc, at, in.i32(int32_t(k)));
      Value byte = LLVM::MulOp::create(b, loc, place, in.i32(int32_t(bytes)));
      v = core.fromMemory(in.loadShared(stored, 1, core.sharedAt(base, byte)).front(),
                          core.llvmType(element));
    } else {
      v = core.getScalar(value);
    }
    if (isa<FloatType>(element) && !isa<FloatType>(v.getType()) && !op.getHex())
      v = core.callDevice(isa<Float8E4M3FNType>(element) ? "__tile_e4m3_to_f32"
                                                         : "__tile_e5m2_to_f32",
                          b.getF32Type(), v);
    format += " " + conversion(b, loc, v, element, op.getHex(), op.getIsSigned()[operand]);
    arguments.push_back(v);
  }
  in.print(format + "\n", arguments);
  Value next = LLVM::AddOp::create(b, loc, line, in.i32(1));
  Value more = LLVM::ICmpOp::create(b, loc, LLVM::ICmpPredicate::ne, next, in.i32(int32_t(lines)));
  LLVM::CondBrOp::create(b, loc, more, body, ValueRange(next), done, ValueRange());
  core.enterBlock(done);
  if (count > lines * length)
    in.print("pid (%u, %u, %u) " + escaped(op.getPrefix()) + ": " +
                 std::to_string(count - lines * length) + " more\n",
             {in.blockId(0), in.blockId(1), in.blockId(2)});
}

//===----------------------------------------------------------------------===//
// Assertions
//===----------------------------------------------------------------------===//

/// File and line of the innermost source place.
static void locate(Location loc, std::string &file, unsigned &line) {
  loc->walk([&](Location inner) {
    if (auto at = dyn_cast<FileLineColLoc>(inner)) {
      file = at.getFilename().str();
      line = at.getLine();
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
}

void Debugging::lower(AssertOp op) {
  Location loc = op.getLoc();
  Value ok;
  for (Value v : core.get(op.getCondition()))
    ok = core.andB(ok, v);
  // One of the threads that hold an element speaks for all of them.
  auto block = dyn_cast<RankedTensorType>(op.getCondition().getType());
  Value stop = LLVM::XOrOp::create(b, loc, ok, in.i1(true));
  stop = core.andB(stop, core.speaker()
                             ? *core.speaker()
                             : core.ownerPredicate(block ? cta::getLayout(block) : LinearLayout()));
  Block *fail = core.newBlock(), *next = core.newBlock();
  LLVM::CondBrOp::create(b, loc, stop, fail, next);
  core.enterBlock(fail);
  std::string file = "unknown";
  unsigned line = 0;
  locate(loc, file, line);
  in.assertFail(op.getMessage().empty() ? "device_assert" : op.getMessage(), file, line,
                core.kernel.getName());
  LLVM::BrOp::create(b, loc, next);
  core.enterBlock(next);
}
