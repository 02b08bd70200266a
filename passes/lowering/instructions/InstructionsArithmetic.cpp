//===- InstructionsArithmetic.cpp - matrices and arithmetic -------------===//
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/lowering/instructions/Instructions.h"
#include "passes/lowering/instructions/PtxText.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

/// "x4.trans.b16"
static std::string matrixSuffix(unsigned count, bool transposed) {
  return ".m8n8.x" + std::to_string(count) + (transposed ? ".trans" : "") + ".b16";
}

SmallVector<Value> Instructions::loadMatrices(Value ptr, unsigned count, bool transposed) {
  needPtx(65);
  SmallVector<Type> parts(count, b.getI32Type());
  Type type = count == 1 ? parts[0] : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), parts));
  Value v =
      intrinsic("llvm.nvvm.ldmatrix.sync.aligned" + matrixSuffix(count, transposed), type, ptr);
  if (count == 1)
    return {v};
  SmallVector<Value> words;
  for (unsigned i = 0; i < count; ++i)
    words.push_back(LLVM::ExtractValueOp::create(b, *loc, v, i));
  return words;
}

void Instructions::storeMatrices(Value ptr, ValueRange words, bool transposed) {
  needPtx(78);
  SmallVector<Value> args{ptr};
  llvm::append_range(args, words);
  intrinsic("llvm.nvvm.stmatrix.sync.aligned" + matrixSuffix(words.size(), transposed), Type(),
            args);
}

/// The operand types in the name of an mma intrinsic: of the accumulator and the
/// result for f16, of all four for fp8, of the operands otherwise.
static std::string matrixSignature(Type a, Type b, Type acc) {
  std::string sum = acc.isF16() ? ".f16" : ".f32";
  auto fp8 = [](Type t) { return isa<Float8E4M3FNType>(t) ? ".e4m3" : ".e5m2"; };
  if (a.isF16())
    return sum + sum;
  if (isa<FloatType>(a) && a.getIntOrFloatBitWidth() == 8)
    return sum + fp8(a) + fp8(b) + sum;
  return a.isBF16() ? ".bf16" : a.isF32() ? ".tf32" : a.isF64() ? ".f64" : ".s8";
}

SmallVector<Value> Instructions::multiplyMatrices(unsigned m, unsigned n, unsigned k, Type typeA,
                                                  Type typeB, ValueRange a, ValueRange x,
                                                  ValueRange acc) {
  Type type = acc.front().getType();
  auto pair = VectorType::get({2}, b.getF16Type());
  bool isPacked = type.isF16(); // two f16 accumulators in a register
  SmallVector<Value> args;
  for (Value v : llvm::concat<Value>(SmallVector<Value>(a), SmallVector<Value>(x)))
    args.push_back(typeA.isF16() ? LLVM::BitcastOp::create(b, *loc, pair, v).getResult() : v);
  if (isPacked)
    for (Value word : pack(acc, 32))
      args.push_back(LLVM::BitcastOp::create(b, *loc, pair, word));
  else
    llvm::append_range(args, acc);
  needPtx(65);
  if (isa<FloatType>(typeA) && typeA.getIntOrFloatBitWidth() == 8)
    needPtx(84);

  SmallVector<Type> parts(isPacked ? acc.size() / 2 : acc.size(), isPacked ? Type(pair) : type);
  std::string name = "llvm.nvvm.mma.m" + std::to_string(m) + "n" + std::to_string(n) + "k" +
                     std::to_string(k) + ".row.col" + matrixSignature(typeA, typeB, type);
  Value result = intrinsic(name, LLVM::LLVMStructType::getLiteral(b.getContext(), parts), args);
  SmallVector<Value> words;
  for (unsigned i = 0; i < parts.size(); ++i) {
    Value part = LLVM::ExtractValueOp::create(b, *loc, result, i);
    words.push_back(isPacked ? LLVM::BitcastOp::create(b, *loc, b.getI32Type(), part) : part);
  }
  return isPacked ? unpack(words, type, acc.size()) : words;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value Instructions::exp2Approx(Value x) {
  return intrinsic("llvm.nvvm.ex2.approx.ftz.f32", x.getType(), x);
}
Value Instructions::sqrtApprox(Value x) {
  return intrinsic("llvm.nvvm.sqrt.approx.ftz.f", x.getType(), x);
}
Value Instructions::rsqrtApprox(Value x) {
  return intrinsic("llvm.nvvm.rsqrt.approx.ftz.f", x.getType(), x);
}
Value Instructions::rcpApprox(Value x) {
  return intrinsic("llvm.nvvm.rcp.approx.ftz.f", x.getType(), x);
}
Value Instructions::divFull(Value a, Value c) {
  return intrinsic("llvm.nvvm.div.full", a.getType(), {a, c});
}
Value Instructions::divRn(Value a, Value c) {
  return intrinsic(a.getType().isF64() ? "llvm.nvvm.div.rn.d" : "llvm.nvvm.div.rn.f", a.getType(),
                   {a, c});
}
Value Instructions::sqrtRn(Value x) {
  return intrinsic(x.getType().isF64() ? "llvm.nvvm.sqrt.rn.d" : "llvm.nvvm.sqrt.rn.f", x.getType(),
                   x);
}
Value Instructions::toIntegerTowardZero(Value x, Type to, bool isSigned) {
  std::string name = x.getType().isF64() ? "llvm.nvvm.d2" : "llvm.nvvm.f2";
  name += isSigned ? "" : "u";
  name += to.isInteger(64) ? "ll.rz" : "i.rz";
  return intrinsic(name, to, x);
}
Value Instructions::negate(Value x) {
  // What ptxas knows to be a negation it makes a sign of an operand. For 16 bits
  // it then leaves out the extension that a later comparison or shift relies on;
  // for 32 bits it loses the sign of the middle operand of a three-way maximum.
  // It does neither to a subtraction of unsigned numbers.
  for (unsigned bits : {16u, 32u})
    if (x.getType().isInteger(bits))
      return inlineAsm("sub.u" + std::to_string(bits) + " $0, 0, $1;", bits == 16 ? "=h,h" : "=r,r",
                       x.getType(), x, /*sideEffects=*/false);
  return LLVM::SubOp::create(b, *loc, zero(x.getType()), x);
}
Value Instructions::mulHiUnsigned(Value a, Value c) {
  return intrinsic(bitWidth(a.getType()) == 64 ? "llvm.nvvm.mulhi.ull" : "llvm.nvvm.mulhi.ui",
                   a.getType(), {a, c});
}

Value Instructions::unknownZero() {
  return inlineAsm(ptx::kUnknownZero, "=r", b.getI32Type(), {}, /*sideEffects=*/true);
}

Value Instructions::permuteBytes(Value low, Value high, uint32_t selector) {
  return intrinsic("llvm.nvvm.prmt", b.getI32Type(), {low, high, i32(int32_t(selector))});
}

Value Instructions::f32x2ToFp8(Value lo, Value hi, bool e4m3) {
  needPtx(81);
  std::string text =
      std::string("cvt.rn.satfinite.") + (e4m3 ? "e4m3x2" : "e5m2x2") + ".f32 $0, $1, $2;";
  return inlineAsm(text, "=h,f,f", b.getI16Type(), {hi, lo}, false);
}

std::pair<Value, Value> Instructions::fp8x2ToF16(Value packed, bool e4m3) {
  needPtx(81);
  std::string text = std::string("cvt.rn.f16x2.") + (e4m3 ? "e4m3x2" : "e5m2x2") + " $0, $1;";
  Value word = inlineAsm(text, "=r,h", b.getI32Type(), packed, false);
  SmallVector<Value> halves = unpack(word, b.getF16Type(), 2);
  return {halves[0], halves[1]};
}

Value Instructions::truncateTowardZero(Value x, Type to) {
  std::string text = std::string("cvt.rz.") + (to.isF16() ? "f16" : "bf16") + ".f32 $0, $1;";
  return fromInteger(inlineAsm(text, "=h,f", b.getI16Type(), x, false), to);
}

Value Instructions::multiplyAdd(Value a, Value x, Value c) {
  if (!isa<IntegerType>(c.getType()))
    return LLVM::FMAOp::create(b, *loc, a, x, c);
  return LLVM::AddOp::create(b, *loc, LLVM::MulOp::create(b, *loc, a, x), c);
}

Value Instructions::cutToTf32(Value x) {
  Value bits = LLVM::AndOp::create(b, *loc, toInteger(x), i32(~0x1fff));
  return fromInteger(bits, x.getType());
}

void Instructions::trap() { intrinsic("llvm.trap", Type(), {}); }
