//===- Instructions.cpp - the one room where PTX instructions are named ---===//
#include "passes/lowering/instructions/Instructions.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "passes/lowering/instructions/PtxText.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;

unsigned lowering::bitWidth(Type type) {
  if (isa<LLVM::LLVMPointerType>(type))
    return 64;
  return type.getIntOrFloatBitWidth();
}

//===----------------------------------------------------------------------===//
// Constants, intrinsics, inline PTX
//===----------------------------------------------------------------------===//

Value Instructions::i32(int32_t v) {
  return LLVM::ConstantOp::create(b, *loc, b.getI32Type(), b.getI32IntegerAttr(v));
}
Value Instructions::i64(int64_t v) {
  return LLVM::ConstantOp::create(b, *loc, b.getI64Type(), b.getI64IntegerAttr(v));
}
Value Instructions::i1(bool v) {
  return LLVM::ConstantOp::create(b, *loc, b.getI1Type(), b.getBoolAttr(v));
}
Value Instructions::constant(Type type, Attribute value) {
  return LLVM::ConstantOp::create(b, *loc, type, value);
}
Value Instructions::zero(Type type) { return LLVM::ZeroOp::create(b, *loc, type); }

Value Instructions::intrinsic(StringRef name, Type result, ValueRange args) {
  if (!result) {
    LLVM::CallIntrinsicOp::create(b, *loc, b.getStringAttr(name), args);
    return {};
  }
  return LLVM::CallIntrinsicOp::create(b, *loc, result, b.getStringAttr(name), args)->getResult(0);
}

Value Instructions::inlineAsm(StringRef text, StringRef constraints, Type result, ValueRange args,
                              bool sideEffects) {
  auto op = LLVM::InlineAsmOp::create(
      b, *loc, result ? TypeRange(result) : TypeRange(), args, text, constraints, sideEffects,
      /*is_align_stack=*/false, LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT), ArrayAttr());
  return result ? op.getRes() : Value();
}

//===----------------------------------------------------------------------===//
// Special registers and communication
//===----------------------------------------------------------------------===//

Value Instructions::threadId() {
  return NVVM::ThreadIdXOp::create(
      b, *loc, b.getI32Type(),
      LLVM::ConstantRangeAttr::get(b.getContext(), 32, 0, static_cast<int64_t>(numThreads)));
}

Value Instructions::blockId(unsigned axis) {
  Type i32 = b.getI32Type();
  Value id = axis == 0   ? NVVM::BlockIdXOp::create(b, *loc, i32).getResult()
             : axis == 1 ? NVVM::BlockIdYOp::create(b, *loc, i32).getResult()
                         : NVVM::BlockIdZOp::create(b, *loc, i32).getResult();
  if (!llvm::is_contained(fromEnd, int32_t(axis)))
    return id;
  auto noWrap = LLVM::IntegerOverflowFlags::nsw | LLVM::IntegerOverflowFlags::nuw;
  Value last = LLVM::SubOp::create(b, *loc, gridSize(axis), this->i32(1), noWrap);
  return LLVM::SubOp::create(b, *loc, last, id, noWrap);
}

Value Instructions::gridSize(unsigned axis) {
  Type i32 = b.getI32Type();
  switch (axis) {
  case 0:
    return NVVM::GridDimXOp::create(b, *loc, i32);
  case 1:
    return NVVM::GridDimYOp::create(b, *loc, i32);
  default:
    return NVVM::GridDimZOp::create(b, *loc, i32);
  }
}

void Instructions::waitForGrids() {
  NVVM::GriddepcontrolOp::create(b, *loc, NVVM::GridDepActionKind::wait);
}

void Instructions::announceGrid() {
  NVVM::GriddepcontrolOp::create(b, *loc, NVVM::GridDepActionKind::launch_dependents);
}

void Instructions::barrier() {
  auto [id, threads] = roleBarrier;
  if ((threads ? threads : numThreads) == kLanes)
    NVVM::SyncWarpOp::create(b, *loc, i32(-1));
  else if (threads == 0)
    NVVM::Barrier0Op::create(b, *loc);
  else
    namedBarrier(roleGroup ? LLVM::AddOp::create(b, *loc, roleGroup, i32(int32_t(id))).getResult()
                           : i32(int32_t(id)),
                 threads);
}

/// shfl.sync moves 32-bit registers: narrower values are widened, wider ones
/// split.
template <typename Shuffle>
static Value shuffleWords(Instructions &in, OpBuilder &b, Location loc, Value value,
                          Value asInteger, Shuffle shuffle,
                          llvm::function_ref<Value(Value, Type)> back) {
  unsigned bits = bitWidth(value.getType());
  Type i32 = b.getI32Type();
  if (bits == 64) {
    auto pair = VectorType::get({2}, i32);
    Value words = LLVM::BitcastOp::create(b, loc, pair, asInteger);
    Value result = LLVM::UndefOp::create(b, loc, pair);
    for (int i = 0; i < 2; ++i) {
      Value word = LLVM::ExtractElementOp::create(b, loc, words, in.i32(i));
      result = LLVM::InsertElementOp::create(b, loc, result, shuffle(word), in.i32(i));
    }
    return back(LLVM::BitcastOp::create(b, loc, b.getI64Type(), result), value.getType());
  }
  Value word = bits < 32 ? LLVM::ZExtOp::create(b, loc, i32, asInteger).getResult() : asInteger;
  Value moved = shuffle(word);
  if (bits < 32)
    moved = LLVM::TruncOp::create(b, loc, b.getIntegerType(bits), moved);
  return back(moved, value.getType());
}

Value Instructions::shuffleIdx(Value value, Value source) {
  return shuffleWords(
      *this, b, *loc, value, toInteger(value),
      [&](Value word) -> Value {
        return NVVM::ShflOp::create(b, *loc, b.getI32Type(), i32(-1), word, source, i32(31),
                                    NVVM::ShflKind::idx, UnitAttr());
      },
      [&](Value v, Type t) { return fromInteger(v, t); });
}

Value Instructions::shuffleXor(Value value, unsigned mask) {
  return shuffleWords(
      *this, b, *loc, value, toInteger(value),
      [&](Value word) -> Value {
        return NVVM::ShflOp::create(b, *loc, b.getI32Type(), i32(-1), word, i32(mask), i32(31),
                                    NVVM::ShflKind::bfly, UnitAttr());
      },
      [&](Value v, Type t) { return fromInteger(v, t); });
}

Value Instructions::anyInWarp(Value condition) {
  return NVVM::VoteSyncOp::create(b, *loc, b.getI1Type(), i32(-1), condition,
                                  NVVM::VoteSyncKind::any);
}

//===----------------------------------------------------------------------===//
// Packing
//===----------------------------------------------------------------------===//

Value Instructions::toInteger(Value v) {
  Type type = v.getType();
  if (isa<IntegerType>(type))
    return v;
  Type integer = b.getIntegerType(bitWidth(type));
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::PtrToIntOp::create(b, *loc, integer, v);
  return LLVM::BitcastOp::create(b, *loc, integer, v);
}

Value Instructions::fromInteger(Value v, Type type) {
  if (v.getType() == type)
    return v;
  if (isa<LLVM::LLVMPointerType>(type))
    return LLVM::IntToPtrOp::create(b, *loc, type, v);
  return LLVM::BitcastOp::create(b, *loc, type, v);
}

SmallVector<Value> Instructions::pack(ValueRange elements, unsigned wordBits) {
  Type type = elements.front().getType();
  unsigned bits = bitWidth(type);
  Type word = b.getIntegerType(wordBits);
  SmallVector<Value> words;
  if (bits == wordBits) {
    for (Value e : elements)
      words.push_back(toInteger(e));
    return words;
  }
  unsigned perWord = wordBits / bits;
  auto vector = VectorType::get({perWord}, type);
  for (unsigned w = 0; w < elements.size(); w += perWord) {
    if (Value joined = bits == 8 && perWord == 4 ? joinBytes(elements.slice(w, 4)) : Value()) {
      words.push_back(joined);
      continue;
    }
    Value v;
    // Two narrowing casts side by side are one packed conversion.
    auto cast = elements[w].getDefiningOp<LLVM::FPTruncOp>();
    auto cast2 = perWord == 2 ? elements[w + 1].getDefiningOp<LLVM::FPTruncOp>() : nullptr;
    if (cast && cast2 && cast.getArg().getType().isF32() && cast2.getArg().getType().isF32() &&
        chip.has(Feature::NarrowPairs)) {
      auto wide = VectorType::get({2}, b.getF32Type());
      Value pair = LLVM::UndefOp::create(b, *loc, wide);
      pair = LLVM::InsertElementOp::create(b, *loc, pair, cast.getArg(), i32(0));
      pair = LLVM::InsertElementOp::create(b, *loc, pair, cast2.getArg(), i32(1));
      v = LLVM::FPTruncOp::create(b, *loc, vector, pair);
    } else {
      v = LLVM::UndefOp::create(b, *loc, vector);
      for (unsigned i = 0; i < perWord; ++i)
        v = LLVM::InsertElementOp::create(b, *loc, v, elements[w + i], i32(i));
    }
    words.push_back(LLVM::BitcastOp::create(b, *loc, word, v));
  }
  return words;
}

SmallVector<Value> Instructions::unpack(ValueRange words, Type type, unsigned count) {
  unsigned bits = bitWidth(type);
  unsigned wordBits = words.front().getType().getIntOrFloatBitWidth();
  SmallVector<Value> elements;
  if (bits == wordBits) {
    for (Value w : words)
      elements.push_back(fromInteger(w, type));
    return elements;
  }
  unsigned perWord = wordBits / bits;
  auto vector = VectorType::get({perWord}, type);
  for (Value w : words) {
    Value v = LLVM::BitcastOp::create(b, *loc, vector, w);
    for (unsigned i = 0; i < perWord && elements.size() < count; ++i)
      elements.push_back(LLVM::ExtractElementOp::create(b, *loc, v, i32(i)));
  }
  return elements;
}

Value Instructions::wordOf(ValueRange elements) {
  unsigned bits = bitWidth(elements.front().getType());
  unsigned count = std::min<unsigned>(std::max(32 / bits, 1u), elements.size());
  Value word = pack(elements.take_front(count), bits * count).front();
  if (bits * count > 32)
    return LLVM::TruncOp::create(b, *loc, b.getI32Type(), word);
  return bits * count == 32 ? word
                            : LLVM::ZExtOp::create(b, *loc, b.getI32Type(), word).getResult();
}

SmallVector<Value> Instructions::pin(ValueRange elements) {
  Type type = elements.front().getType();
  unsigned bits = bitWidth(type);
  unsigned wordBits = std::min<unsigned>(std::max(32u, bits), bits * elements.size());
  SmallVector<Value> words;
  char letter = wordBits == 64 ? 'l' : wordBits == 32 ? 'r' : 'h';
  if (wordBits < 16)
    return llvm::to_vector(elements); // too few to be worth a register
  for (Value w : pack(elements, wordBits))
    words.push_back(
        inlineAsm("", std::string("=") + letter + ",0", w.getType(), w, /*sideEffects=*/true));
  return unpack(words, type, elements.size());
}

SmallVector<Value> Instructions::copyUnseen(ValueRange elements) {
  Value zero = unknownZero();
  SmallVector<Value> words = pack(elements, 32);
  for (Value &word : words)
    word = LLVM::XOrOp::create(b, *loc, word, zero);
  return unpack(words, elements.front().getType(), elements.size());
}
