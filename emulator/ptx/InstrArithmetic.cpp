//===- InstrArithmetic.cpp - arithmetic and conversions of inline PTX -----===//
#include "emulator/machine/Numbers.h"
#include "emulator/ptx/AsmBuilder.h"
#include "emulator/ptx/HardwareArithmetic.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace tile::emu;

using S = const PtxStatement &;

static std::optional<Rounding> roundingOf(S s) {
  for (const std::string &p : s.parts) {
    if (p == "rn" || p == "rni")
      return Rounding::NearestEven;
    if (p == "rz" || p == "rzi")
      return Rounding::TowardZero;
    if (p == "rm" || p == "rmi")
      return Rounding::Down;
    if (p == "rp" || p == "rpi")
      return Rounding::Up;
    if (p == "rna")
      return Rounding::NearestAway;
  }
  return std::nullopt;
}

/// Subnormals become zeros of the same sign.
static Value *flush(AsmBuilder &a, Value *x) {
  if (!x->getType()->isFloatTy())
    return x;
  IRBuilder<> &b = a.b;
  Value *bits = b.CreateBitCast(x, b.getInt32Ty());
  Value *small = b.CreateICmpEQ(b.CreateAnd(bits, 0x7f800000), b.getInt32(0));
  return b.CreateBitCast(b.CreateSelect(small, b.CreateAnd(bits, 0x80000000), bits), x->getType());
}

static Format floatFormat(PtxType t) {
  return t.bits == 64   ? Format::F64
         : t.bits == 32 ? Format::F32
         : t.brain      ? Format::BF16
                        : Format::F16;
}

/// add, sub, mul, fma, div, sqrt, rcp of f32 or f64 with a rounding that is not
/// the default.
static Value *rounded(AsmBuilder &a, unsigned operation, PtxType t, ArrayRef<Value *> args,
                      Rounding rounding) {
  IRBuilder<> &b = a.b;
  if (rounding == Rounding::NearestEven && operation >= 4) // the host rounds so itself
    return operation == 4   ? b.CreateFDiv(args[0], args[1])
           : operation == 5 ? b.CreateUnaryIntrinsic(Intrinsic::sqrt, args[0])
                            : b.CreateFDiv(ConstantFP::get(args[0]->getType(), 1.0), args[0]);
  SmallVector<Value *> words;
  for (Value *v : args)
    words.push_back(a.b.CreateZExt(a.asInteger(v), a.b.getInt64Ty()));
  words.resize(3, a.i64(0));
  words.append({a.i32(operation), a.i32(uint32_t(floatFormat(t))), a.i32(uint32_t(rounding))});
  return a.asType(a.hook("tileEmuRounded", a.b.getInt64Ty(), words), t);
}

static void floatArithmetic(AsmBuilder &a, S s, const PtxType &t) {
  StringRef op = s.parts[0];
  IRBuilder<> &b = a.b;
  SmallVector<Value *> v;
  for (const PtxOperand &o : drop_begin(s.operands))
    v.push_back(a.get(o, t));
  if (s.has("ftz"))
    for (Value *&x : v)
      x = flush(a, x);
  unsigned index = op == "add" ? 0 : op == "sub" ? 1 : op == "mul" ? 2 : 3;
  auto mode = roundingOf(s);
  Value *r;
  if (mode && *mode != Rounding::NearestEven && t.lanes == 1)
    r = rounded(a, index, t, v, *mode);
  else if (index == 0)
    r = b.CreateFAdd(v[0], v[1]);
  else if (index == 1)
    r = b.CreateFSub(v[0], v[1]);
  else if (index == 2)
    r = b.CreateFMul(v[0], v[1]);
  else
    r = b.CreateIntrinsic(Intrinsic::fma, {v[0]->getType()}, v);
  // A rounding that is asked for by name is never fused with what follows.
  if (mode && index != 3 && t.lanes == 1 && t.bits >= 32)
    r = b.CreateArithmeticFence(r, r->getType());
  if (s.has("ftz"))
    r = flush(a, r);
  if (s.has("sat")) {
    Value *zero = ConstantFP::get(r->getType(), 0.0), *one = ConstantFP::get(r->getType(), 1.0);
    r = b.CreateMinNum(b.CreateMaxNum(r, zero), one);
  }
  a.set(s.operands[0], r);
}

static void arithmetic(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  StringRef op = s.parts[0];
  bool three = op == "fma" || op == "mad";
  if (!t || s.operands.size() != (three ? 4u : 3u) || s.has("cc"))
    return a.unsupported(s);
  if (t.isFloat())
    return floatArithmetic(a, s, t);
  if (s.has("sat"))
    return a.unsupported(s);
  IRBuilder<> &b = a.b;
  Value *x = a.get(s.operands[1], t.bits), *y = a.get(s.operands[2], t.bits), *r = nullptr;
  bool isSigned = t.kind == 's';
  if (op == "mul" || op == "mad") {
    unsigned wide = 2 * t.bits;
    Value *full = nullptr;
    if (s.has("hi") || s.has("wide")) {
      Type *type = b.getIntNTy(wide);
      full = b.CreateMul(isSigned ? b.CreateSExt(x, type) : b.CreateZExt(x, type),
                         isSigned ? b.CreateSExt(y, type) : b.CreateZExt(y, type));
      if (s.has("hi"))
        full = b.CreateTrunc(b.CreateLShr(full, t.bits), b.getIntNTy(t.bits));
    } else {
      full = b.CreateMul(x, y);
    }
    r = op == "mad" ? b.CreateAdd(full, a.get(s.operands[3], full->getType()->getIntegerBitWidth()))
                    : full;
  } else {
    r = op == "add" ? b.CreateAdd(x, y) : b.CreateSub(x, y);
  }
  a.set(s.operands[0], r, isSigned);
}

static void minmax(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  if (!t || s.operands.size() != 3)
    return a.unsupported(s);
  bool isMin = s.parts[0] == "min";
  Value *x = a.get(s.operands[1], t), *y = a.get(s.operands[2], t);
  if (s.has("ftz"))
    x = flush(a, x), y = flush(a, y);
  Intrinsic::ID id;
  if (t.isFloat())
    id = s.has("NaN") ? (isMin ? Intrinsic::minimum : Intrinsic::maximum)
                      : (isMin ? Intrinsic::minimumnum : Intrinsic::maximumnum);
  else if (t.kind == 's')
    id = isMin ? Intrinsic::smin : Intrinsic::smax;
  else
    id = isMin ? Intrinsic::umin : Intrinsic::umax;
  a.set(s.operands[0], a.b.CreateBinaryIntrinsic(id, x, y), t.kind == 's');
}

static void bitwise(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  StringRef op = s.parts[0];
  if (!t || s.operands.size() < 2)
    return a.unsupported(s);
  Value *x = a.get(s.operands[1], t.bits);
  if (op == "not" || op == "cnot") {
    if (op == "cnot")
      return a.unsupported(s);
    a.set(s.operands[0], a.b.CreateNot(x));
    return;
  }
  if (s.operands.size() != 3)
    return a.unsupported(s);
  Value *y = a.get(s.operands[2], t.bits);
  a.set(s.operands[0], op == "and"  ? a.b.CreateAnd(x, y)
                       : op == "or" ? a.b.CreateOr(x, y)
                                    : a.b.CreateXor(x, y));
}

/// Shifts clamp their amount.
static void shift(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  if (!t || s.operands.size() != 3)
    return a.unsupported(s);
  IRBuilder<> &b = a.b;
  Value *x = a.get(s.operands[1], t.bits), *n = a.get(s.operands[2], 32);
  bool arithmetic = s.parts[0] == "shr" && t.kind == 's';
  Value *tooFar = b.CreateICmpUGE(n, b.getInt32(t.bits));
  Value *amount = b.CreateZExtOrTrunc(b.CreateSelect(tooFar, b.getInt32(0), n), x->getType());
  Value *r = s.parts[0] == "shl" ? b.CreateShl(x, amount)
             : arithmetic        ? b.CreateAShr(x, amount)
                                 : b.CreateLShr(x, amount);
  Value *limit = arithmetic ? b.CreateAShr(x, t.bits - 1) : ConstantInt::get(x->getType(), 0);
  a.set(s.operands[0], b.CreateSelect(tooFar, limit, r), arithmetic);
}

static void unary(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  StringRef op = s.parts[0];
  if (!t || s.operands.size() != 2)
    return a.unsupported(s);
  IRBuilder<> &b = a.b;
  Value *x = a.get(s.operands[1], t), *r;
  if (t.isFloat()) {
    if (s.has("ftz"))
      x = flush(a, x);
    r = op == "neg" ? b.CreateFNeg(x) : b.CreateUnaryIntrinsic(Intrinsic::fabs, x);
  } else if (op == "neg") {
    r = b.CreateNeg(x);
  } else {
    r = b.CreateBinaryIntrinsic(Intrinsic::abs, x, b.getFalse());
  }
  a.set(s.operands[0], r, t.kind == 's');
}

static void countBits(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  StringRef op = s.parts[0];
  if (!t || s.operands.size() != 2)
    return a.unsupported(s);
  IRBuilder<> &b = a.b;
  Value *x = a.get(s.operands[1], t.bits);
  Value *r = op == "popc"   ? b.CreateUnaryIntrinsic(Intrinsic::ctpop, x)
             : op == "brev" ? b.CreateUnaryIntrinsic(Intrinsic::bitreverse, x)
                            : b.CreateBinaryIntrinsic(Intrinsic::ctlz, x, b.getFalse());
  a.set(s.operands[0], r);
}

static void approximate(AsmBuilder &a, S s) {
  static const StringMap<Approximation> functions = {
      {"ex2", Approximation::Ex2},     {"lg2", Approximation::Lg2},  {"sin", Approximation::Sin},
      {"cos", Approximation::Cos},     {"rcp", Approximation::Rcp},  {"sqrt", Approximation::Sqrt},
      {"rsqrt", Approximation::Rsqrt}, {"tanh", Approximation::Tanh}};
  PtxType t = typeOf(s);
  if (!t.isFloat() || s.operands.size() != 2)
    return a.unsupported(s);
  IRBuilder<> &b = a.b;
  if (auto mode = roundingOf(s)) { // rcp.rn, sqrt.rn, ...
    if (t.lanes != 1 || (s.parts[0] != "rcp" && s.parts[0] != "sqrt"))
      return a.unsupported(s);
    Value *x = a.get(s.operands[1], t);
    if (s.has("ftz"))
      x = flush(a, x);
    Value *r = rounded(a, s.parts[0] == "sqrt" ? 5 : 6, t, {x}, *mode);
    a.set(s.operands[0], s.has("ftz") ? flush(a, r) : r);
    return;
  }
  Value *word = a.get(s.operands[1], t.bits * t.lanes), *result = b.getInt64(0);
  for (unsigned lane = 0; lane < t.lanes; ++lane) {
    Value *one = b.CreateZExt(b.CreateTrunc(b.CreateLShr(word, lane * t.bits), b.getIntNTy(t.bits)),
                              b.getInt64Ty());
    Value *r = a.hook("tileEmuApproximate", b.getInt64Ty(),
                      {one, a.i32(uint32_t(functions.lookup(s.parts[0]))),
                       a.i32(uint32_t(floatFormat(t))), a.i32(s.has("ftz"))});
    result = b.CreateOr(result, b.CreateShl(r, lane * t.bits));
  }
  a.set(s.operands[0], b.CreateTrunc(result, b.getIntNTy(t.bits * t.lanes)));
}

static void divide(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  if (!t || s.operands.size() != 3)
    return a.unsupported(s);
  Value *x = a.get(s.operands[1], t), *y = a.get(s.operands[2], t);
  if (!t.isFloat()) {
    bool isSigned = t.kind == 's';
    a.set(s.operands[0],
          createDivision(a.b, isSigned ? Instruction::SDiv : Instruction::UDiv, x, y), isSigned);
    return;
  }
  if (s.has("ftz"))
    x = flush(a, x), y = flush(a, y);
  // div.full and div.approx: the correctly rounded quotient is within their bound.
  Value *r = rounded(a, 4, t, {x, y}, roundingOf(s).value_or(Rounding::NearestEven));
  a.set(s.operands[0], s.has("ftz") ? flush(a, r) : r);
}

static void remainder(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  if (!t || t.isFloat() || s.operands.size() != 3)
    return a.unsupported(s);
  Value *x = a.get(s.operands[1], t.bits), *y = a.get(s.operands[2], t.bits);
  auto op = t.kind == 's' ? Instruction::SRem : Instruction::URem;
  a.set(s.operands[0], createDivision(a.b, op, x, y), t.kind == 's');
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

namespace {
struct CvtType {
  Format format;
  unsigned lanes;
};
} // namespace

static std::optional<CvtType> cvtType(StringRef name) {
  StringRef base = name;
  unsigned lanes = base.consume_back("x2") ? 2 : base.consume_back("x4") ? 4 : 1;
  auto f = StringSwitch<std::optional<Format>>(base)
               .Case("f16", Format::F16)
               .Case("bf16", Format::BF16)
               .Case("f32", Format::F32)
               .Case("f64", Format::F64)
               .Case("e4m3", Format::E4M3)
               .Case("e5m2", Format::E5M2)
               .Case("tf32", Format::TF32)
               .Case("s8", Format::S8)
               .Case("s16", Format::S16)
               .Case("s32", Format::S32)
               .Case("s64", Format::S64)
               .Case("u8", Format::U8)
               .Case("u16", Format::U16)
               .Case("u32", Format::U32)
               .Case("u64", Format::U64)
               .Default(std::nullopt);
  if (!f)
    return std::nullopt;
  return CvtType{*f, lanes};
}

static void cvt(AsmBuilder &a, S s) {
  if (s.parts.size() < 3)
    return a.unsupported(s);
  auto to = cvtType(s.parts[s.parts.size() - 2]), from = cvtType(s.parts.back());
  if (!to || !from)
    return a.unsupported(s);
  uint32_t flags = (s.has("sat") ? kSaturate : 0) | (s.has("ftz") ? kFlush : 0) |
                   (s.has("satfinite") ? kSaturateFinite : 0) | (s.has("relu") ? kRelu : 0);
  Rounding mode = roundingOf(s).value_or(Rounding::NearestEven);
  IRBuilder<> &b = a.b;
  unsigned fromBits = bitWidth(from->format), toBits = bitWidth(to->format);
  auto one = [&](Value *v) -> Value * {
    bool isSigned = from->format >= Format::S8 && from->format <= Format::S64;
    if (a.algebraic) // what floats stand for has a sign, too
      return b.CreateIntCast(v, b.getIntNTy(toBits), isSigned || isFloat(from->format));
    Value *wide = isSigned ? b.CreateSExt(v, b.getInt64Ty()) : b.CreateZExt(v, b.getInt64Ty());
    Value *r = a.hook("tileEmuConvert", b.getInt64Ty(),
                      {wide, a.i32(uint32_t(from->format)), a.i32(uint32_t(to->format)),
                       a.i32(uint32_t(mode)), a.i32(flags)});
    return b.CreateTrunc(r, b.getIntNTy(toBits));
  };
  auto store = [&](Value *r) {
    a.set(s.operands[0], r, to->format >= Format::S8 && to->format <= Format::S64);
  };
  if (to->lanes == 1 && s.operands.size() == 2) {
    if (!isFloat(from->format) && !isFloat(to->format)) { // widths of integers
      Value *v = a.get(s.operands[1], fromBits);
      if (s.has("sat"))
        return a.unsupported(s);
      bool isSigned = from->format <= Format::S64;
      Type *type = b.getIntNTy(toBits);
      return store(isSigned ? b.CreateSExtOrTrunc(v, type) : b.CreateZExtOrTrunc(v, type));
    }
    return store(one(a.get(s.operands[1], fromBits)));
  }
  Value *result = b.getIntN(to->lanes * toBits, 0);
  for (unsigned lane = 0; lane < to->lanes; ++lane) {
    Value *v;
    if (s.operands.size() == to->lanes + 1) { // the first source is the high half
      v = a.get(s.operands[to->lanes - lane], fromBits);
    } else if (s.operands.size() == 2 && from->lanes == to->lanes) {
      Value *word = a.get(s.operands[1], fromBits * from->lanes);
      v = b.CreateTrunc(b.CreateLShr(word, lane * fromBits), b.getIntNTy(fromBits));
    } else {
      return a.unsupported(s);
    }
    Value *r = b.CreateZExt(one(v), result->getType());
    result = b.CreateOr(result, b.CreateShl(r, lane * toBits));
  }
  store(result);
}

ArrayRef<HandlerEntry> tile::emu::arithmeticHandlers() {
  static const HandlerEntry entries[] = {
      {"add", arithmetic},    {"sub", arithmetic},   {"mul", arithmetic},  {"mad", arithmetic},
      {"fma", arithmetic},    {"min", minmax},       {"max", minmax},      {"and", bitwise},
      {"or", bitwise},        {"xor", bitwise},      {"not", bitwise},     {"shl", shift},
      {"shr", shift},         {"neg", unary},        {"abs", unary},       {"popc", countBits},
      {"clz", countBits},     {"brev", countBits},   {"ex2", approximate}, {"lg2", approximate},
      {"sin", approximate},   {"cos", approximate},  {"rcp", approximate}, {"sqrt", approximate},
      {"rsqrt", approximate}, {"tanh", approximate}, {"div", divide},      {"rem", remainder},
      {"cvt", cvt},
  };
  return entries;
}
