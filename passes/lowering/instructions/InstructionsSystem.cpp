//===- InstructionsSystem.cpp - atomics, printing, assertions -------------===//
//
// The part of Instructions that touches more than one thread's registers:
// atomics on global and shared memory, and the calls that the driver provides
// (`vprintf`, `__assertfail`).
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/instructions/Instructions.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static StringRef spelled(MemSemantic sem) {
  switch (sem) {
  case MemSemantic::relaxed:
    return ".relaxed";
  case MemSemantic::acquire:
    return ".acquire";
  case MemSemantic::release:
    return ".release";
  case MemSemantic::acq_rel:
    return ".acq_rel";
  }
  llvm_unreachable("all orderings are named");
}
static StringRef spelled(MemScope scope) {
  switch (scope) {
  case MemScope::cta:
    return ".cta";
  case MemScope::gpu:
    return ".gpu";
  case MemScope::sys:
    return ".sys";
  }
  llvm_unreachable("all scopes are named");
}

static std::string atomicOperation(AtomicKind kind, Type type) {
  std::string bits = std::to_string(bitWidth(type));
  switch (kind) {
  case AtomicKind::add:
    return ".add.u" + bits;
  case AtomicKind::fadd:
    if (type.isF16() || type.isBF16())
      return type.isF16() ? ".add.noftz.f16" : ".add.noftz.bf16";
    return ".add.f" + bits;
  case AtomicKind::max:
    return ".max.s" + bits;
  case AtomicKind::min:
    return ".min.s" + bits;
  case AtomicKind::umax:
    return ".max.u" + bits;
  case AtomicKind::umin:
    return ".min.u" + bits;
  case AtomicKind::band:
    return ".and.b" + bits;
  case AtomicKind::bor:
    return ".or.b" + bits;
  case AtomicKind::bxor:
    return ".xor.b" + bits;
  case AtomicKind::xchg:
    return ".exch.b" + bits;
  case AtomicKind::fmax:
  case AtomicKind::fmin:
    break;
  }
  llvm_unreachable("has no instruction");
}

bool Instructions::hasAtomic(AtomicKind kind, Type type) const {
  if (kind == AtomicKind::fmax || kind == AtomicKind::fmin)
    return false;
  if (kind == AtomicKind::fadd && type.isBF16())
    return chip.has(Feature::Bf16Arithmetic);
  return bitWidth(type) >= (kind == AtomicKind::fadd ? 16 : 32);
}

bool Instructions::hasAtomicUpdate(AtomicKind kind, Type type) const {
  return kind != AtomicKind::xchg && hasAtomic(kind, type);
}

/// ".v4.f32", ".noftz.v2.f16x2": how several floats are added at once, in `words` registers.
static std::string vectorAddition(Type type, unsigned words) {
  std::string vector = words > 1 ? ".v" + std::to_string(words) : "";
  if (type.isF32())
    return ".add" + vector + ".f32";
  return ".add.noftz" + vector + (type.isF16() ? ".f16x2" : ".bf16x2");
}

void Instructions::atomicUpdate(AtomicKind kind, MemSemantic sem, MemScope scope, Value ptr,
                                ValueRange values, Value predicate) {
  Type type = values.front().getType();
  SmallVector<Value> words{toInteger(values.front())};
  std::string operation;
  if (values.size() == 1) {
    operation = atomicOperation(kind, type);
  } else {
    assert(kind == AtomicKind::fadd && chip.has(Feature::VectorAtomics) && "no such instruction");
    needPtx(81);
    words = pack(values, 32);
    operation = vectorAddition(type, words.size());
  }
  unsigned bits = bitWidth(words.front().getType());
  SmallVector<Value> args{ptr};
  std::string constraints = "l", list;
  for (Value word : words) {
    list += (list.empty() ? "$" : ", $") + std::to_string(args.size());
    constraints += bits == 64 ? ",l" : bits == 32 ? ",r" : ",h";
    args.push_back(word);
  }
  std::string text = "red" + spelled(sem).str() + spelled(scope).str() + ".global" + operation +
                     " [$0], " + (words.size() > 1 ? "{" + list + "}" : list) + ";";
  if (predicate) {
    text = "@$" + std::to_string(args.size()) + " " + text;
    constraints += ",b";
    args.push_back(predicate);
  }
  effect(text, constraints + ",~{memory}", args);
}

void Instructions::fence(MemScope scope) {
  effect("fence.acq_rel" + spelled(scope).str() + ";", "~{memory}", {});
}

Value Instructions::atomicRmw(AtomicKind kind, MemSemantic sem, MemScope scope, Value ptr,
                              Value value, Value predicate) {
  Type type = value.getType();
  Value word = toInteger(value);
  char c = bitWidth(type) == 64 ? 'l' : bitWidth(type) == 32 ? 'r' : 'h';
  std::string reg = "mov.b" + std::to_string(bitWidth(type)) + " $0, 0x0;\n\t";
  std::string op = "atom" + spelled(sem).str() + spelled(scope).str() + ".global" +
                   atomicOperation(kind, type) + " $0, [$1], $2;";
  std::string constraints = std::string("=&") + c + ",l," + c;
  SmallVector<Value> args{ptr, word};
  if (predicate) {
    op = reg + "@$3 " + op;
    constraints += ",b";
    args.push_back(predicate);
  }
  return fromInteger(inlineAsm(op, constraints, word.getType(), args, true), type);
}

Value Instructions::atomicCas(MemSemantic sem, MemScope scope, Value ptr, Value cmp, Value value,
                              Value predicate) {
  Type type = value.getType();
  std::string bits = std::to_string(bitWidth(type));
  char c = bitWidth(type) == 64 ? 'l' : bitWidth(type) == 32 ? 'r' : 'h';
  std::string op = "atom" + spelled(sem).str() + spelled(scope).str() + ".global.cas.b" + bits +
                   " $0, [$1], $2, $3;";
  std::string constraints = std::string("=&") + c + ",l," + c + "," + c;
  SmallVector<Value> args{ptr, toInteger(cmp), toInteger(value)};
  if (predicate) {
    op = "mov.b" + bits + " $0, 0x0;\n\t@$4 " + op;
    constraints += ",b";
    args.push_back(predicate);
  }
  return fromInteger(inlineAsm(op, constraints, args[1].getType(), args, true), type);
}

void Instructions::addShared(Value ptr, Value value, Value predicate) {
  std::string op = "red.shared.add.u32 [$0], $1;";
  SmallVector<Value> args{ptr, value};
  if (predicate) {
    op = "@$2 " + op;
    args.push_back(predicate);
  }
  inlineAsm(op, predicate ? "r,r,b" : "r,r", Type(), args, /*sideEffects=*/true);
}

//===----------------------------------------------------------------------===//
// Calls that the driver provides
//===----------------------------------------------------------------------===//

static LLVM::LLVMFuncOp declare(OpBuilder &b, ModuleOp module, StringRef name, Type result,
                                ArrayRef<Type> parameters) {
  if (auto known = module.lookupSymbol<LLVM::LLVMFuncOp>(name))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(module.getBody());
  return LLVM::LLVMFuncOp::create(b, module.getLoc(), name,
                                  LLVM::LLVMFunctionType::get(result, parameters));
}

static ModuleOp moduleAround(OpBuilder &b) {
  return b.getInsertionBlock()->getParentOp()->getParentOfType<ModuleOp>();
}

Value Instructions::text(StringRef characters) {
  ModuleOp module = moduleAround(b);
  std::string name;
  for (unsigned i = 0;; ++i) {
    name = "tile_text" + std::to_string(i);
    auto global = module.lookupSymbol<LLVM::GlobalOp>(name);
    if (!global)
      break;
    if (cast<StringAttr>(global.getValueAttr()).getValue().drop_back() == characters)
      return genericAddress(LLVM::AddressOfOp::create(b, *loc, global));
  }
  OpBuilder::InsertionGuard guard(b);
  SmallString<64> terminated(characters);
  terminated.push_back('\0');
  LLVM::GlobalOp global;
  {
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPointToStart(module.getBody());
    global = LLVM::GlobalOp::create(
        b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), terminated.size()),
        /*isConstant=*/true, LLVM::Linkage::Internal, name, b.getStringAttr(terminated),
        /*alignment=*/1, kGlobal);
  }
  return genericAddress(LLVM::AddressOfOp::create(b, *loc, global));
}

Value Instructions::genericAddress(Value pointer) {
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  return LLVM::AddrSpaceCastOp::create(b, *loc, generic, pointer);
}

void Instructions::print(StringRef format, ValueRange arguments) {
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> types;
  for (Value v : arguments)
    types.push_back(v.getType());
  Value buffer = LLVM::ZeroOp::create(b, *loc, generic);
  if (!types.empty()) {
    auto packed = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
    {
      // One frame slot a call site, not one an execution.
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(&b.getInsertionBlock()->getParent()->front());
      buffer = LLVM::AllocaOp::create(b, *loc, generic, packed, i32(1), /*alignment=*/8);
    }
    for (auto [i, v] : llvm::enumerate(arguments)) {
      Value field = LLVM::GEPOp::create(b, *loc, generic, packed, buffer,
                                        ArrayRef<LLVM::GEPArg>{0, int32_t(i)});
      LLVM::StoreOp::create(b, *loc, v, field);
    }
  }
  auto function = declare(b, moduleAround(b), "vprintf", b.getI32Type(), {generic, generic});
  LLVM::CallOp::create(b, *loc, function, ValueRange{text(format), buffer});
}

void Instructions::assertFail(StringRef message, StringRef file, unsigned line,
                              StringRef function) {
  auto generic = LLVM::LLVMPointerType::get(b.getContext());
  auto callee = declare(b, moduleAround(b), "__assertfail", LLVM::LLVMVoidType::get(b.getContext()),
                        {generic, generic, b.getI32Type(), generic, b.getI64Type()});
  LLVM::CallOp::create(
      b, *loc, callee,
      ValueRange{text(message), text(file), i32(int32_t(line)), text(function), i64(1)});
}

void Instructions::assume(Value condition) { LLVM::AssumeOp::create(b, *loc, condition); }
