//===- AsmStatements.cpp - statements of inline PTX -----------------------===//
#include "emulator/ptx/AsmBuilder.h"

using namespace llvm;
using namespace tile::emu;

void AsmBuilder::declare(const PtxStatement &s) {
  PtxType type = parsePtxType(s.type);
  if (!type) {
    unsupported(s, "." + s.type);
    return;
  }
  for (const PtxOperand &o : s.operands) {
    IRBuilder<> entry(&f->getEntryBlock(), f->getEntryBlock().begin());
    names[o.name] = newRegister(entry, type.bits * type.lanes);
  }
}

/// Whether PTX gives the hardware some freedom: approximations, and sums of
/// products of floats, whose order and intermediate width it does not say.
static bool isInexact(const PtxStatement &s) {
  StringRef mnemonic = s.parts[0];
  if (mnemonic == "mma" || mnemonic == "wgmma")
    return any_of(s.parts, [](StringRef p) { return p == "f16" || p == "f32" || p == "f64"; });
  return s.has("approx") || (mnemonic == "div" && s.has("full"));
}

static Handler findHandler(StringRef mnemonic) {
  static const StringMap<Handler> table = [] {
    StringMap<Handler> t;
    for (ArrayRef<HandlerEntry> entries : {basicHandlers(), arithmeticHandlers(), memoryHandlers(),
                                           warpHandlers(), asyncHandlers(), matrixHandlers()})
      for (const HandlerEntry &e : entries)
        t[e.mnemonic] = e.handler;
    return t;
  }();
  return table.lookup(mnemonic);
}

/// Whether an instruction on floats only moves them, or has a meaning in the algebraic mode.
static bool hasRing(const PtxStatement &s) {
  static constexpr StringLiteral mnemonics[] = {"mov", "ld",  "st",  "atom",
                                                "red", "cvt", "mma", "wgmma"};
  return is_contained(mnemonics, s.parts[0]);
}

void AsmBuilder::emit(const PtxStatement &s) {
  if (s.opcode == ".reg")
    return declare(s);
  if (!s.label.empty()) {
    BasicBlock *block = label(s.label);
    if (!b.GetInsertBlock()->getTerminator())
      b.CreateBr(block);
    b.SetInsertPoint(block);
    return;
  }
  Handler handler = findHandler(s.parts[0]);
  if (!handler)
    return unsupported(s);
  if (StringRef part = unknownModifier(s); !part.empty())
    return unsupported(s, ("." + part).str());
  if (algebraic && typeOf(s).isFloat() && !hasRing(s))
    return unsupported(s, "in the algebraic mode");
  if (isInexact(s) && !algebraic)
    inexact.push_back(s.opcode);
  narrows |= s.parts[0] == "cvt" && (s.has("e4m3x2") || s.has("e5m2x2")) && s.has("satfinite");
  if (!s.guarded)
    return handler(*this, s);
  LLVMContext &context = b.getContext();
  auto *then = BasicBlock::Create(context, "then", f),
       *done = BasicBlock::Create(context, "done", f);
  BasicBlock *otherwise = done;
  StringRef mnemonic = s.parts[0];
  bool access = mnemonic == "ld" || mnemonic == "st" || mnemonic == "atom" || mnemonic == "red";
  if (access)
    otherwise = BasicBlock::Create(context, "else", f);
  b.CreateCondBr(getBool(s.guard), then, otherwise);
  if (access) { // a lane that sits out still belongs to the warp's request
    b.SetInsertPoint(otherwise);
    bool shared = s.has("shared") || s.has("shared::cta") || s.has("shared::cluster");
    hook("tileEmuSkip", b.getVoidTy(), {thread(), i32(shared), i32(mnemonic != "ld"), site()});
    b.CreateBr(done);
  }
  b.SetInsertPoint(then);
  handler(*this, s);
  if (!b.GetInsertBlock()->getTerminator())
    b.CreateBr(done);
  b.SetInsertPoint(done);
}

void AsmBuilder::finish() {
  if (b.GetInsertBlock()->getTerminator())
    return;
  Type *result = f->getReturnType();
  if (numOutputs == 0) {
    b.CreateRetVoid();
    return;
  }
  auto value = [&](unsigned i, Type *type) -> Value * {
    Value *v = b.CreateLoad(b.getIntNTy(placeholders[i].bits), placeholders[i].slot);
    return type->isPointerTy() ? b.CreateIntToPtr(v, type) : b.CreateBitCast(v, type);
  };
  if (numOutputs == 1 && !result->isStructTy()) {
    b.CreateRet(value(0, result));
    return;
  }
  Value *all = PoisonValue::get(result);
  for (unsigned i = 0; i < numOutputs; ++i)
    all = b.CreateInsertValue(all, value(i, cast<StructType>(result)->getElementType(i)), i);
  b.CreateRet(all);
}

Error AsmBuilder::build(ArrayRef<PtxStatement> statements) {
  for (const PtxStatement &s : statements)
    emit(s);
  finish();
  if (error.empty())
    return Error::success();
  return createStringError(error);
}
