//===- TranslateCalls.cpp - inline PTX, intrinsics, functions -------------===//
//
// Inline PTX and NVVM intrinsics become calls of functions that AsmBuilder makes,
// one for each text.
//
//===----------------------------------------------------------------------===//
#include "emulator/translate/Intrinsics.h"
#include "emulator/translate/Translator.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;
using namespace tile::emu;
using tile::formatted;

/// The instruction that a text is there for: the first that is no helper.
static std::string mainOpcode(ArrayRef<PtxStatement> statements) {
  std::string first;
  for (const PtxStatement &s : statements) {
    if (s.parts.empty())
      continue;
    if (first.empty())
      first = s.opcode;
    StringRef m = s.parts[0];
    if (m != "mov" && m != "setp" && m != "selp" && m != "bra" && m != "elect" && m != "cvta" &&
        m != "mapa" && m != "add")
      return s.opcode;
  }
  return first;
}

/// What the hardware may do otherwise, in the last bits or in another order.
void Translator::noteExactness(const AsmBuilder &builder, const CallBase &call) {
  out.inexact.insert(builder.inexact.begin(), builder.inexact.end());
  out.narrows |= builder.narrows;
  for (AtomicKind kind : builder.atomics)
    noteAtomic(kind, !call.use_empty());
}

static void replaceCall(CallBase &call, Value *result) {
  if (!call.getType()->isVoidTy())
    call.replaceAllUsesWith(result);
  call.eraseFromParent();
}

/// An error with the line that the call is from.
static Error located(Error error, const CallBase &call) {
  const DILocation *at = call.getDebugLoc();
  if (!at || !at->getLine())
    return error;
  return createStringError(
      formatted("{} ({}:{})", toString(std::move(error)), at->getFilename(), at->getLine()));
}

Error Translator::translateAsm(CallBase &call, StringRef text, StringRef constraints,
                               unsigned numOutputs, ArrayRef<int> tied) {
  IRBuilder<> b(&call);
  std::string typeText;
  raw_string_ostream typeStream(typeText);
  call.getFunctionType()->print(typeStream);
  for (int t : tied)
    typeStream << ' ' << t;
  AsmBuilder *&builder = builders[formatted("{}\n{}\n{}", text, constraints, typeText)];
  auto statements = parsePtx(text);
  if (!statements)
    return located(statements.takeError(), call);
  if (!builder) {
    SmallVector<Type *> params{b.getPtrTy(), b.getInt32Ty()};
    append_range(params, call.getFunctionType()->params());
    auto *type = FunctionType::get(call.getType(), params, false);
    owned.push_back(std::make_unique<AsmBuilder>(m, type, numOutputs, tied,
                                                 "ptx" + std::to_string(owned.size())));
    builder = owned.back().get();
    builder->algebraic = algebraic;
    if (Error error = builder->build(*statements))
      return located(std::move(error), call);
  }
  noteExactness(*builder, call);
  bool inKernel = call.getFunction() == kernel;
  SmallVector<Value *> args{inKernel ? thread : ConstantPointerNull::get(b.getPtrTy()),
                            siteOf(call, mainOpcode(*statements))};
  append_range(args, call.args());
  CallInst *host = b.CreateCall(builder->function(), args);
  replaceCall(call, host);
  return Error::success();
}

Error Translator::translateInlineAsm(CallBase &call) {
  auto *inlineAsm = cast<InlineAsm>(call.getCalledOperand());
  if (inlineAsm->getAsmString().empty() && call.arg_size() == 1 && !call.getType()->isVoidTy() &&
      call.getType() == call.getArgOperand(0)->getType()) {
    // An opaque point: the value passes through, by way of the machine, which
    // may have something to say about it (accumulators in flight).
    IRBuilder<> b(&call);
    Value *v = call.getArgOperand(0);
    if (call.getType()->getPrimitiveSizeInBits() == 32 && call.getFunction() == kernel) {
      Value *word = b.CreateBitCast(v, b.getInt32Ty());
      word = callHook(b, "tileEmuPin", b.getInt32Ty(), {thread, word, siteOf(call, "pin")});
      v = b.CreateBitCast(word, call.getType());
    }
    replaceCall(call, v);
    return Error::success();
  }
  unsigned numOutputs = 0;
  SmallVector<int> tied;
  for (const InlineAsm::ConstraintInfo &c : inlineAsm->ParseConstraints()) {
    if (c.Type == InlineAsm::isOutput && c.isIndirect)
      return unsupported("inline PTX with results in memory");
    if (c.Type == InlineAsm::isOutput)
      ++numOutputs;
    if (c.Type != InlineAsm::isInput)
      continue;
    int output = -1;
    for (const std::string &code : c.Codes)
      if (int number = 0; to_integer(code, number))
        output = number;
    tied.push_back(output);
  }
  return translateAsm(call, inlineAsm->getAsmString(), inlineAsm->getConstraintString(), numOutputs,
                      tied);
}

Error Translator::readSpecialRegister(CallBase &call, StringRef name) {
  IRBuilder<> b(&call);
  if (name == "clock" || name == "clock64" || name == "globaltimer") {
    Value *v = callHook(b, "tileEmuClock", b.getInt64Ty(), {thread});
    replaceCall(call, b.CreateTrunc(v, call.getType()));
    return Error::success();
  }
  if (name == "warpsize") {
    replaceCall(call, b.getInt32(32));
    return Error::success();
  }
  auto index = findSpecialRegister(name);
  if (!index)
    return unsupported(formatted("the special register `{}`", name));
  replaceCall(call, loadSpecialRegister(b, thread, *index));
  return Error::success();
}

Error Translator::translateCall(CallBase &call) {
  if (call.isInlineAsm())
    return translateInlineAsm(call);
  Function *callee = call.getCalledFunction();
  if (!callee)
    return unsupported("indirect calls");
  StringRef name = callee->getName();
  IRBuilder<> b(&call);
  if (StringRef sreg = name; sreg.consume_front("llvm.nvvm.read.ptx.sreg."))
    return readSpecialRegister(call, sreg);
  if (name.starts_with("llvm.nvvm.")) {
    unsigned numResults = call.getType()->isVoidTy() ? 0
                          : isa<StructType>(call.getType())
                              ? cast<StructType>(call.getType())->getNumElements()
                              : 1;
    std::string text = ptxOfIntrinsic(name, numResults, unsigned(call.arg_size()));
    if (text.empty())
      return unsupported(formatted("the intrinsic `{}`", name));
    return translateAsm(call, text, "intrinsic", numResults, SmallVector<int>(call.arg_size(), -1));
  }
  if (name == "llvm.trap" || name == "llvm.debugtrap") {
    callHook(b, "tileEmuTrap", b.getVoidTy(), {thread, siteOf(call, "trap")});
    call.eraseFromParent();
    return Error::success();
  }
  auto addressOf = [&](unsigned i) {
    return b.CreatePtrToInt(call.getArgOperand(i), b.getInt64Ty());
  };
  if (name == "vprintf" && call.arg_size() == 2 && call.getType()->isIntegerTy(32)) {
    replaceCall(call, callHook(b, "tileEmuPrintf", b.getInt32Ty(),
                               {thread, addressOf(0), addressOf(1), siteOf(call, "vprintf")}));
    return Error::success();
  }
  if (name == "__assertfail" && call.arg_size() == 5) {
    callHook(b, "tileEmuAssert", b.getVoidTy(),
             {thread, addressOf(0), addressOf(1), call.getArgOperand(2), addressOf(3),
              call.getArgOperand(4), siteOf(call, "__assertfail")});
    call.eraseFromParent();
    return Error::success();
  }
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&call))
    return translateIntrinsic(*intrinsic);
  if (callee->isIntrinsic())
    return unsupported(formatted("the intrinsic `{}`", name));
  if (!callee->isDeclaration() || hostCode.contains(&call))
    return Error::success();
  return unsupported(formatted("the function `{}`", name));
}
