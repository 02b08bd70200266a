//===- InstrBasic.cpp - moves, comparisons, branches, arithmetic ----------===//
#include "emulator/machine/Numbers.h"
#include "emulator/ptx/AsmBuilder.h"
#include "llvm/IR/Intrinsics.h"

using namespace llvm;
using namespace tile::emu;

using S = const PtxStatement &;

static void mov(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  if (!t || s.operands.size() != 2)
    return a.unsupported(s);
  a.set(s.operands[0], a.get(s.operands[1], t.bits * t.lanes));
}

static void setp(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  if (!t || s.operands.size() < 3 || s.parts.size() < 3)
    return a.unsupported(s);
  StringRef op = s.parts[1];
  Value *x = a.get(s.operands[1], t), *y = a.get(s.operands[2], t), *r = nullptr;
  if (t.isFloat()) {
    auto p = StringSwitch<CmpInst::Predicate>(op)
                 .Case("eq", CmpInst::FCMP_OEQ)
                 .Case("ne", CmpInst::FCMP_ONE)
                 .Case("lt", CmpInst::FCMP_OLT)
                 .Case("le", CmpInst::FCMP_OLE)
                 .Case("gt", CmpInst::FCMP_OGT)
                 .Case("ge", CmpInst::FCMP_OGE)
                 .Case("equ", CmpInst::FCMP_UEQ)
                 .Case("neu", CmpInst::FCMP_UNE)
                 .Case("ltu", CmpInst::FCMP_ULT)
                 .Case("leu", CmpInst::FCMP_ULE)
                 .Case("gtu", CmpInst::FCMP_UGT)
                 .Case("geu", CmpInst::FCMP_UGE)
                 .Case("num", CmpInst::FCMP_ORD)
                 .Case("nan", CmpInst::FCMP_UNO)
                 .Default(CmpInst::BAD_FCMP_PREDICATE);
    if (p == CmpInst::BAD_FCMP_PREDICATE || t.lanes != 1)
      return a.unsupported(s);
    r = a.b.CreateFCmp(p, x, y);
  } else {
    bool u = t.kind != 's';
    auto p = StringSwitch<CmpInst::Predicate>(op)
                 .Case("eq", CmpInst::ICMP_EQ)
                 .Case("ne", CmpInst::ICMP_NE)
                 .Case("lt", u ? CmpInst::ICMP_ULT : CmpInst::ICMP_SLT)
                 .Case("le", u ? CmpInst::ICMP_ULE : CmpInst::ICMP_SLE)
                 .Case("gt", u ? CmpInst::ICMP_UGT : CmpInst::ICMP_SGT)
                 .Case("ge", u ? CmpInst::ICMP_UGE : CmpInst::ICMP_SGE)
                 .Case("lo", CmpInst::ICMP_ULT)
                 .Case("ls", CmpInst::ICMP_ULE)
                 .Case("hi", CmpInst::ICMP_UGT)
                 .Case("hs", CmpInst::ICMP_UGE)
                 .Default(CmpInst::BAD_ICMP_PREDICATE);
    if (p == CmpInst::BAD_ICMP_PREDICATE)
      return a.unsupported(s);
    r = a.b.CreateICmp(p, x, y);
  }
  if (s.operands.size() == 4) { // combined with a predicate
    Value *c = a.getBool(s.operands[3]);
    r = s.has("and") ? a.b.CreateAnd(r, c) : s.has("or") ? a.b.CreateOr(r, c) : a.b.CreateXor(r, c);
  }
  const PtxOperand &to = s.operands[0];
  if (to.kind == PtxOperand::Vector && to.elements.size() == 2) {
    a.set(to.elements[0], r);
    a.set(to.elements[1], a.b.CreateNot(r));
    return;
  }
  a.set(to, r);
}

static void selp(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  if (!t || s.operands.size() != 4)
    return a.unsupported(s);
  unsigned bits = t.bits * t.lanes;
  a.set(s.operands[0], a.b.CreateSelect(a.getBool(s.operands[3]), a.get(s.operands[1], bits),
                                        a.get(s.operands[2], bits)));
}

static void bra(AsmBuilder &a, S s) {
  if (s.operands.size() != 1 || s.operands[0].kind != PtxOperand::Name)
    return a.unsupported(s);
  a.b.CreateBr(a.label(s.operands[0].name));
}

static void trap(AsmBuilder &a, S) {
  a.hook("tileEmuTrap", a.b.getVoidTy(), {a.thread(), a.site()});
}

/// Hints that change no result.
static void nothing(AsmBuilder &, S) {}

static void createPolicy(AsmBuilder &a, S s) { a.set(s.operands[0], a.i64(0)); }

static void nanosleep(AsmBuilder &a, S) {
  a.hook("tileEmuSpin", a.b.getVoidTy(), {a.thread(), a.i32(0), a.site()});
}

/// Bytes of two registers picked by a selector.
static void prmt(AsmBuilder &a, S s) {
  if (s.operands.size() != 4 || s.parts.size() != 2)
    return a.unsupported(s);
  IRBuilder<> &b = a.b;
  Value *both = b.CreateOr(b.CreateZExt(a.get(s.operands[1], 32), b.getInt64Ty()),
                           b.CreateShl(b.CreateZExt(a.get(s.operands[2], 32), b.getInt64Ty()), 32));
  Value *selector = a.get(s.operands[3], 32), *result = b.getInt32(0);
  for (unsigned i = 0; i < 4; ++i) {
    Value *choice = b.CreateAnd(b.CreateLShr(selector, 4 * i), 15);
    Value *shift = b.CreateZExt(b.CreateShl(b.CreateAnd(choice, 7), 3), b.getInt64Ty());
    Value *byte = b.CreateTrunc(b.CreateLShr(both, shift), b.getInt8Ty());
    Value *sign = b.CreateAShr(byte, 7);
    byte = b.CreateSelect(b.CreateICmpNE(b.CreateAnd(choice, 8), b.getInt32(0)), sign, byte);
    result = b.CreateOr(result, b.CreateShl(b.CreateZExt(byte, b.getInt32Ty()), 8 * i));
  }
  a.set(s.operands[0], result);
}

/// Any function of three bits, given by its truth table.
static void lop3(AsmBuilder &a, S s) {
  if (s.operands.size() != 5 || s.operands[4].kind != PtxOperand::Integer)
    return a.unsupported(s);
  IRBuilder<> &b = a.b;
  Value *x = a.get(s.operands[1], 32), *y = a.get(s.operands[2], 32), *z = a.get(s.operands[3], 32);
  Value *result = b.getInt32(0);
  for (unsigned row = 0; row < 8; ++row) {
    if (!(s.operands[4].value >> row & 1))
      continue;
    Value *term = b.CreateAnd(row & 4 ? x : b.CreateNot(x), row & 2 ? y : b.CreateNot(y));
    result = b.CreateOr(result, b.CreateAnd(term, row & 1 ? z : b.CreateNot(z)));
  }
  a.set(s.operands[0], result);
}

ArrayRef<HandlerEntry> tile::emu::basicHandlers() {
  static const HandlerEntry entries[] = {
      {"mov", mov},
      {"setp", setp},
      {"selp", selp},
      {"bra", bra},
      {"trap", trap},
      {"prefetch", nothing},
      {"prefetchu", nothing},
      {"discard", nothing},
      {"applypriority", nothing},
      {"createpolicy", createPolicy},
      {"nanosleep", nanosleep},
      {"prmt", prmt},
      {"lop3", lop3},
      {"pragma", nothing},
  };
  return entries;
}
