//===- AsmBuilder.cpp - inline PTX becomes an LLVM function ---------------===//
#include "emulator/ptx/AsmBuilder.h"
#include "emulator/ptx/Undefined.h"
#include "text/Format.h"
#include "llvm/IR/Module.h"

using namespace llvm;
using namespace tile::emu;

//===----------------------------------------------------------------------===//
// Types and special registers
//===----------------------------------------------------------------------===//

PtxType tile::emu::parsePtxType(StringRef name) {
  PtxType t;
  if (name == "pred")
    return {'p', 1, 1, false};
  StringRef rest = name;
  if (rest.consume_front("bf")) {
    t.kind = 'f', t.brain = true;
  } else if (!rest.empty() && StringRef("usbf").contains(rest[0])) {
    t.kind = rest[0];
    rest = rest.drop_front();
  } else {
    return {};
  }
  if (rest.consumeInteger(10, t.bits))
    return {};
  if (rest.consume_front("x") && rest.consumeInteger(10, t.lanes))
    return {};
  return rest.empty() ? t : PtxType();
}

PtxType tile::emu::typeOf(const PtxStatement &s) {
  for (size_t i = s.parts.size(); i-- > 1;)
    if (PtxType t = parsePtxType(s.parts[i]))
      return t;
  return {};
}

std::optional<unsigned> tile::emu::findSpecialRegister(StringRef name) {
  static const StringMap<unsigned> table = {{"tid.x", kTidX},
                                            {"tid.y", kTidY},
                                            {"tid.z", kTidZ},
                                            {"ntid.x", kNtidX},
                                            {"ntid.y", kNtidY},
                                            {"ntid.z", kNtidZ},
                                            {"ctaid.x", kCtaidX},
                                            {"ctaid.y", kCtaidY},
                                            {"ctaid.z", kCtaidZ},
                                            {"nctaid.x", kNctaidX},
                                            {"nctaid.y", kNctaidY},
                                            {"nctaid.z", kNctaidZ},
                                            {"laneid", kLaneid},
                                            {"warpid", kWarpid},
                                            {"nwarpid", kNwarpid},
                                            {"smid", kSmid},
                                            {"nsmid", kNsmid},
                                            {"gridid", kGridid},
                                            {"cluster_ctaid.x", kClusterCtaidX},
                                            {"cluster_ctaid.y", kClusterCtaidY},
                                            {"cluster_ctaid.z", kClusterCtaidZ},
                                            {"cluster_nctaid.x", kClusterNctaidX},
                                            {"cluster_nctaid.y", kClusterNctaidY},
                                            {"cluster_nctaid.z", kClusterNctaidZ},
                                            {"clusterid.x", kClusteridX},
                                            {"clusterid.y", kClusteridY},
                                            {"clusterid.z", kClusteridZ},
                                            {"nclusterid.x", kNclusteridX},
                                            {"nclusterid.y", kNclusteridY},
                                            {"nclusterid.z", kNclusteridZ},
                                            {"cluster_ctarank", kClusterCtarank},
                                            {"cluster_nctarank", kClusterNctarank},
                                            {"cluster.ctaid.x", kClusterCtaidX},
                                            {"cluster.ctaid.y", kClusterCtaidY},
                                            {"cluster.ctaid.z", kClusterCtaidZ},
                                            {"cluster.nctaid.x", kClusterNctaidX},
                                            {"cluster.nctaid.y", kClusterNctaidY},
                                            {"cluster.nctaid.z", kClusterNctaidZ},
                                            {"cluster.ctarank", kClusterCtarank},
                                            {"cluster.nctarank", kClusterNctarank},
                                            {"dynamic_smem_size", kDynamicSmemSize},
                                            {"total_smem_size", kTotalSmemSize},
                                            {"lanemask_eq", kLanemaskEq},
                                            {"lanemask_le", kLanemaskLe},
                                            {"lanemask_lt", kLanemaskLt},
                                            {"lanemask_ge", kLanemaskGe},
                                            {"lanemask_gt", kLanemaskGt},
                                            {"lanemask.eq", kLanemaskEq},
                                            {"lanemask.le", kLanemaskLe},
                                            {"lanemask.lt", kLanemaskLt},
                                            {"lanemask.ge", kLanemaskGe},
                                            {"lanemask.gt", kLanemaskGt}};
  auto it = table.find(name);
  if (it == table.end())
    return std::nullopt;
  return it->second;
}

Value *tile::emu::loadSpecialRegister(IRBuilderBase &b, Value *thread, unsigned index) {
  LoadInst *load =
      b.CreateLoad(b.getInt32Ty(), b.CreateConstInBoundsGEP1_32(b.getInt32Ty(), thread, index));
  load->setMetadata(LLVMContext::MD_invariant_load, MDNode::get(b.getContext(), {}));
  return load;
}

//===----------------------------------------------------------------------===//
// Set-up
//===----------------------------------------------------------------------===//

static unsigned widthOf(Type *type) {
  return type->isPointerTy() ? 64 : unsigned(type->getPrimitiveSizeInBits());
}

AsmBuilder::AsmBuilder(Module &module, FunctionType *type, unsigned numOutputs, ArrayRef<int> tied,
                       const std::string &name)
    : b(module.getContext()), module(module), numOutputs(numOutputs) {
  f = Function::Create(type, GlobalValue::InternalLinkage, name, module);
  f->addFnAttr(Attribute::AlwaysInline);
  setHookAttributes(*f);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "entry", f));
  Type *result = type->getReturnType();
  for (unsigned i = 0; i < numOutputs; ++i)
    placeholders.push_back(newRegister(
        b, widthOf(numOutputs == 1 ? result : cast<StructType>(result)->getElementType(i))));
  // Inputs begin behind the thread and the site.
  for (unsigned i = 2; i < f->arg_size(); ++i) {
    Value *v = f->getArg(i);
    unsigned bits = widthOf(v->getType());
    Value *integer = asInteger(v);
    int output = tied[i - 2];
    Register r = output < 0 ? newRegister(b, bits) : placeholders[unsigned(output)];
    b.CreateStore(b.CreateZExtOrTrunc(integer, b.getIntNTy(r.bits)), r.slot);
    placeholders.push_back(r);
  }
}

AsmBuilder::Register AsmBuilder::newRegister(IRBuilder<> &at, unsigned bits) {
  Type *type = at.getIntNTy(bits);
  AllocaInst *slot = at.CreateAlloca(type);
  at.CreateStore(unwrittenValue(type, module.getDataLayout()), slot);
  return {slot, bits};
}

Value *AsmBuilder::asInteger(Value *v) {
  Type *t = v->getType();
  if (t->isIntegerTy())
    return v;
  if (t->isPointerTy())
    return b.CreatePtrToInt(v, b.getInt64Ty());
  return b.CreateBitCast(v, b.getIntNTy(unsigned(t->getPrimitiveSizeInBits())));
}

Type *AsmBuilder::llvmType(PtxType t) {
  Type *scalar = b.getIntNTy(t.bits);
  if (t.isFloat())
    scalar = t.brain        ? Type::getBFloatTy(b.getContext())
             : t.bits == 16 ? b.getHalfTy()
             : t.bits == 32 ? b.getFloatTy()
                            : b.getDoubleTy();
  return t.lanes == 1 ? scalar : FixedVectorType::get(scalar, t.lanes);
}

Value *AsmBuilder::asType(Value *integer, PtxType t) {
  return b.CreateBitCast(b.CreateZExtOrTrunc(integer, b.getIntNTy(t.bits * t.lanes)), llvmType(t));
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void AsmBuilder::unsupported(const PtxStatement &s, StringRef why) {
  if (error.empty())
    error = formatted("the instruction `{}` is not emulated{}", s.opcode,
                      why.empty() ? std::string() : formatted(" ({})", why));
}

AsmBuilder::Register *AsmBuilder::find(const PtxOperand &o) {
  if (o.kind == PtxOperand::Placeholder)
    return o.index < placeholders.size() ? &placeholders[o.index] : nullptr;
  if (o.kind != PtxOperand::Name)
    return nullptr;
  auto it = names.find(o.name);
  return it == names.end() ? nullptr : &it->second;
}

unsigned AsmBuilder::bitsOf(const PtxOperand &o) {
  Register *r = find(o);
  return r ? r->bits : 32;
}

Value *AsmBuilder::special(StringRef name) {
  StringRef plain = name;
  if (!plain.consume_front("%"))
    return nullptr;
  if (auto index = findSpecialRegister(plain))
    return loadSpecialRegister(b, thread(), *index);
  bool isUpper = plain == "clock_hi" || plain == "globaltimer_hi";
  if (isUpper || plain == "clock" || plain == "clock64" || plain == "globaltimer" ||
      plain == "globaltimer_lo") {
    Value *time = hook("tileEmuClock", b.getInt64Ty(), {thread()});
    return isUpper ? b.CreateLShr(time, 32) : time;
  }
  return nullptr;
}

Value *AsmBuilder::get(const PtxOperand &o, unsigned bits) {
  Type *type = b.getIntNTy(bits);
  switch (o.kind) {
  case PtxOperand::Integer:
    return ConstantInt::get(type, APInt(64, uint64_t(o.value)).sextOrTrunc(bits));
  case PtxOperand::Float: {
    uint64_t v = uint64_t(o.value);
    if (o.floatBits == 64 && bits == 32) // a decimal literal takes the type at hand
      v = bit_cast<uint32_t>(float(bit_cast<double>(v)));
    return ConstantInt::get(type, v);
  }
  case PtxOperand::Vector: { // a register made of smaller ones
    unsigned each = bits / unsigned(std::max<size_t>(1, o.elements.size()));
    Value *sum = ConstantInt::get(type, 0);
    for (size_t i = 0; i < o.elements.size(); ++i)
      sum = b.CreateOr(sum, b.CreateShl(b.CreateZExt(get(o.elements[i], each), type), i * each));
    return sum;
  }
  case PtxOperand::Sink:
    return ConstantInt::get(type, 0);
  default:
    break;
  }
  Value *v = nullptr;
  if (Register *r = find(o))
    v = b.CreateLoad(b.getIntNTy(r->bits), r->slot);
  else if (o.kind == PtxOperand::Name)
    v = special(o.name);
  if (!v) {
    if (error.empty())
      error = formatted("inline PTX uses `{}`, which is not known",
                        o.name.empty() ? "$" + std::to_string(o.index) : o.name);
    return PoisonValue::get(type);
  }
  if (o.negated)
    v = b.CreateNot(v);
  return b.CreateZExtOrTrunc(v, type);
}

Value *AsmBuilder::get(const PtxOperand &o, PtxType type) {
  if (o.kind == PtxOperand::Float && o.floatBits == 64 && type.isFloat() && type.lanes == 1)
    return ConstantFP::get(llvmType(type), bit_cast<double>(uint64_t(o.value)));
  return asType(get(o, type.bits * type.lanes), type);
}

Value *AsmBuilder::getBool(const PtxOperand &o) { return get(o, 1); }

void AsmBuilder::set(const PtxOperand &o, Value *value, bool isSigned) {
  if (o.kind == PtxOperand::Sink)
    return;
  Value *integer = asInteger(value);
  if (o.kind == PtxOperand::Vector) { // cut into smaller registers
    unsigned each = unsigned(integer->getType()->getIntegerBitWidth() / o.elements.size());
    for (size_t i = 0; i < o.elements.size(); ++i)
      set(o.elements[i], b.CreateTrunc(b.CreateLShr(integer, i * each), b.getIntNTy(each)));
    return;
  }
  Register *r = find(o);
  if (!r) {
    if (error.empty())
      error = formatted("inline PTX writes `{}`, which is not known", o.name);
    return;
  }
  Type *type = b.getIntNTy(r->bits);
  b.CreateStore(isSigned ? b.CreateSExtOrTrunc(integer, type) : b.CreateZExtOrTrunc(integer, type),
                r->slot);
}

Value *AsmBuilder::address(const PtxOperand &memory, unsigned bits) {
  const PtxOperand &base = memory.kind == PtxOperand::Memory ? memory.elements[0] : memory;
  Value *v = get(base, bits);
  return memory.kind == PtxOperand::Memory && memory.value
             ? b.CreateAdd(v, ConstantInt::getSigned(v->getType(), memory.value))
             : v;
}

void tile::emu::setHookAttributes(Function &f) {
  f.addFnAttr(Attribute::NoUnwind);
  // Who calls it together, and from where, is part of its meaning.
  f.addFnAttr(Attribute::Convergent);
  f.addFnAttr(Attribute::NoMerge);
}

Value *AsmBuilder::hook(StringRef name, Type *result, ArrayRef<Value *> args) {
  SmallVector<Type *> types;
  for (Value *v : args)
    types.push_back(v->getType());
  FunctionCallee callee =
      module.getOrInsertFunction(name, FunctionType::get(result, types, /*isVarArg=*/false));
  if (auto *declared = dyn_cast<Function>(callee.getCallee()))
    setHookAttributes(*declared);
  return b.CreateCall(callee, args);
}

AllocaInst *AsmBuilder::array(Type *element, unsigned count) {
  IRBuilder<> entry(&f->getEntryBlock(), f->getEntryBlock().begin());
  return entry.CreateAlloca(ArrayType::get(element, count));
}

void AsmBuilder::pinOutputs() {
  for (unsigned i = 0; i < numOutputs; ++i) {
    Register &r = placeholders[i];
    if (r.bits != 32)
      continue;
    Value *v = b.CreateLoad(b.getInt32Ty(), r.slot);
    b.CreateStore(hook("tileEmuPin", b.getInt32Ty(), {thread(), v, site()}), r.slot);
  }
}

BasicBlock *AsmBuilder::label(StringRef name) {
  BasicBlock *&block = labels[name];
  if (!block)
    block = BasicBlock::Create(b.getContext(), name, f);
  return block;
}
