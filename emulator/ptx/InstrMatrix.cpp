//===- InstrMatrix.cpp - matrix instructions ------------------------------===//
#include "emulator/machine/Matrix.h"
#include "emulator/ptx/AsmBuilder.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace tile::emu;

using S = const PtxStatement &;

/// "m16n8k16"
static bool parseShape(StringRef text, MatrixShape &shape) {
  unsigned m, n, k;
  if (!text.consume_front("m") || text.consumeInteger(10, m) || !text.consume_front("n") ||
      text.consumeInteger(10, n) || !text.consume_front("k") || text.consumeInteger(10, k) ||
      !text.empty())
    return false;
  shape.m = uint16_t(m), shape.n = uint16_t(n), shape.k = uint16_t(k);
  return true;
}

/// The element types at the end of an opcode, in order.
static SmallVector<Element> elementTypes(S s) {
  SmallVector<Element> types;
  for (const std::string &p : s.parts)
    if (auto e = parseElement(p))
      types.push_back(*e);
  return types;
}

/// Stores the registers of an operand into consecutive words.
static unsigned spill(AsmBuilder &a, const PtxOperand &o, Value *words, unsigned at,
                      unsigned bitsEach) {
  auto one = [&](const PtxOperand &r) {
    Value *slot = a.b.CreateConstInBoundsGEP1_32(a.b.getInt32Ty(), words, at);
    a.b.CreateAlignedStore(a.get(r, bitsEach), slot, Align(4));
    at += bitsEach / 32;
  };
  if (o.kind == PtxOperand::Vector)
    for (const PtxOperand &r : o.elements)
      one(r);
  else
    one(o);
  return at;
}

static void mma(AsmBuilder &a, S s) {
  MatrixShape shape;
  SmallVector<Element> types = elementTypes(s);
  bool found = false;
  for (const std::string &p : s.parts)
    found |= p.size() > 1 && p[0] == 'm' && isDigit(p[1]) && parseShape(p, shape);
  if (!found || types.size() != 4 || s.operands.size() != 4 || !s.has("sync"))
    return a.unsupported(s);
  shape.accumulator = types[0], shape.a = types[1], shape.b = types[2];
  shape.saturate = s.has("satfinite");
  shape.algebraic = a.algebraic;
  bool volta = shape.m == 8 && shape.k == 4 && shape.a == Element::F16;
  bool usual = (shape.m == 16 || shape.m == 8) && shape.n == 8;
  if (types[3] != types[0] || volta || !usual || shape.a == Element::B1 || s.has("sp") ||
      !s.has("row") || s.has("kind::mxf8f6f4") || elementBits(shape.a) != elementBits(shape.b))
    return a.unsupported(s);
  unsigned aBits = shape.a == Element::F64 ? 64 : 32;
  unsigned dBits = shape.accumulator == Element::F64 ? 64 : 32;
  unsigned dWords = shape.accumulatorRegisters();
  auto *words = a.array(a.b.getInt32Ty(), 2 * dWords + shape.aRegisters() + shape.bRegisters());
  words->setAlignment(Align(16));
  unsigned at = spill(a, s.operands[1], words, dWords, aBits);
  at = spill(a, s.operands[2], words, at, aBits);
  at = spill(a, s.operands[3], words, at, dBits);
  if (at != 2 * dWords + shape.aRegisters() + shape.bRegisters())
    return a.unsupported(s, "with this number of registers");
  a.hook("tileEmuMma", a.b.getVoidTy(), {a.thread(), a.i64(shape.pack()), words, a.site()});
  unsigned next = 0;
  for (const PtxOperand &r : s.operands[0].elements) {
    Value *slot = a.b.CreateConstInBoundsGEP1_32(a.b.getInt32Ty(), words, next);
    a.set(r, a.b.CreateAlignedLoad(a.b.getIntNTy(dBits), slot, Align(4)));
    next += dBits / 32;
  }
}

static void moveMatrix(AsmBuilder &a, S s) {
  bool store = s.parts[0] == "stmatrix";
  unsigned count = s.has("x1") ? 1 : s.has("x2") ? 2 : s.has("x4") ? 4 : 0;
  if (!count || !s.has("m8n8") || !s.has("b16") || s.operands.size() != 2)
    return a.unsupported(s);
  const PtxOperand &memory = s.operands[store ? 0 : 1], &registers = s.operands[store ? 1 : 0];
  bool vector = registers.kind == PtxOperand::Vector;
  if ((vector ? registers.elements.size() : 1) != count)
    return a.unsupported(s);
  auto *words = a.array(a.b.getInt32Ty(), 4);
  if (store)
    spill(a, registers, words, 0, 32);
  a.hook("tileEmuMoveMatrix", a.b.getVoidTy(),
         {a.thread(), a.address(memory, 32), words, a.i32(count), a.i32(s.has("trans")),
          a.i32(store), a.site()});
  if (store)
    return;
  for (unsigned i = 0; i < count; ++i)
    a.set(vector ? registers.elements[i] : registers,
          a.b.CreateLoad(a.b.getInt32Ty(),
                         a.b.CreateConstInBoundsGEP1_32(a.b.getInt32Ty(), words, i)));
}

/// movmatrix: a transposition between the lanes of a warp.
static void transposeMatrix(AsmBuilder &a, S s) { a.unsupported(s); }

//===----------------------------------------------------------------------===//
// Warpgroups
//===----------------------------------------------------------------------===//

static void waitForProducts(AsmBuilder &a, S s) {
  a.hook("tileEmuWgmmaWait", a.b.getVoidTy(),
         {a.thread(), s.operands.empty() ? a.i32(0) : a.get(s.operands[0], 32), a.site()});
  // Accumulators that pass through the wait are what it waited for.
  a.pinOutputs();
}

/// wgmma.mma_async.sync.aligned.SHAPE.D.A.B {d}, a, b, scaleD, immA, immB, transA, transB;
static void multiplyAsync(AsmBuilder &a, S s) {
  MatrixShape shape;
  SmallVector<Element> types = elementTypes(s);
  bool found = false;
  for (const std::string &p : s.parts)
    found |= p.size() > 1 && p[0] == 'm' && isDigit(p[1]) && parseShape(p, shape);
  if (!found || types.size() < 3 || shape.m != 64 || s.has("sp"))
    return a.unsupported(s);
  shape.accumulator = types[0], shape.a = types[1], shape.b = types[2];
  shape.saturate = s.has("satfinite");
  shape.algebraic = a.algebraic;
  const PtxOperand &d = s.operands[0], &aOperand = s.operands[1];
  bool aInRegisters = aOperand.kind == PtxOperand::Vector;
  unsigned dWords = unsigned(d.elements.size());
  unsigned expected = shape.n * (shape.accumulator == Element::F16 ? 1u : 2u) / 4;
  if (dWords != expected || s.operands.size() < 3 ||
      (aInRegisters && aOperand.elements.size() != 4))
    return a.unsupported(s, "with this number of registers");
  // What follows A and B: scale-d, then the signs, then the transpositions.
  auto immediate = [&](size_t i, int64_t otherwise) {
    if (i >= s.operands.size())
      return otherwise;
    return s.operands[i].kind == PtxOperand::Integer ? s.operands[i].value : int64_t(99);
  };
  bool integer = shape.accumulator == Element::S32;
  size_t next = 4;
  int64_t signA = 1, signB = 1;
  if (!integer)
    signA = immediate(next, 1), signB = immediate(next + 1, 1), next += 2;
  int64_t transA = 0, transB = 0;
  if (shape.a == Element::F16 || shape.a == Element::BF16) {
    if (!aInRegisters)
      transA = immediate(next++, 0);
    transB = immediate(next, 0);
  }
  if ((signA != 1 && signA != -1) || (signB != 1 && signB != -1) || transA > 1 || transB > 1)
    return a.unsupported(s, "with operands that are no constants");
  Value *scaleD = s.operands.size() > 3 ? a.b.CreateZExt(a.getBool(s.operands[3]), a.b.getInt32Ty())
                                        : a.b.getInt32(1);
  auto *words = a.array(a.b.getInt32Ty(), dWords + 4);
  spill(a, d, words, 0, 32);
  if (aInRegisters)
    spill(a, aOperand, words, dWords, 32);
  uint32_t flags = uint32_t(transA) | uint32_t(transB) << 1 | uint32_t(signA < 0) << 2 |
                   uint32_t(signB < 0) << 3 | uint32_t(aInRegisters) << 4;
  a.hook("tileEmuWgmma", a.b.getVoidTy(),
         {a.thread(), a.i64(shape.pack()), words, aInRegisters ? a.i64(0) : a.get(aOperand, 64),
          a.get(s.operands[2], 64), scaleD, a.i32(flags), a.site()});
  for (unsigned i = 0; i < dWords; ++i)
    a.set(d.elements[i], a.b.CreateLoad(a.b.getInt32Ty(), a.b.CreateConstInBoundsGEP1_32(
                                                              a.b.getInt32Ty(), words, i)));
}

static void wgmma(AsmBuilder &a, S s) {
  if (s.has("mma_async"))
    return multiplyAsync(a, s);
  if (s.has("wait_group"))
    return waitForProducts(a, s);
  if (!s.has("fence") && !s.has("commit_group"))
    return a.unsupported(s);
  a.hook(s.has("fence") ? "tileEmuWgmmaFence" : "tileEmuWgmmaCommit", a.b.getVoidTy(),
         {a.thread(), a.site()});
}

ArrayRef<HandlerEntry> tile::emu::matrixHandlers() {
  static const HandlerEntry entries[] = {
      {"mma", mma},
      {"ldmatrix", moveMatrix},
      {"stmatrix", moveMatrix},
      {"movmatrix", transposeMatrix},
      {"wgmma", wgmma},
  };
  return entries;
}
