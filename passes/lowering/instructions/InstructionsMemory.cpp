//===- InstructionsMemory.cpp - global and shared memory ------------------===//
//
// The part of Instructions that loads and stores: how an access of several
// elements is cut into registers, and what PTX calls its hints.
//
//===----------------------------------------------------------------------===//
#include "passes/lowering/instructions/Instructions.h"

using namespace mlir;
using namespace tile;
using namespace tile::lowering;
using llvm::isInt;

namespace {
/// How one access is cut into PTX registers: `words` registers of `wordBits`.
struct AccessShape {
  unsigned wordBits;
  unsigned words;
  AccessShape(Type type, unsigned count) {
    unsigned total = bitWidth(type) * count;
    wordBits = bitWidth(type) == 64 ? 64 : std::min(total, 32u);
    words = total / wordBits;
  }
  /// "" or ".v2" or ".v4", then ".b8" ... ".b64".
  std::string suffix() const {
    std::string s = words == 1 ? "" : ".v" + std::to_string(words);
    return s + ".b" + std::to_string(wordBits);
  }
  /// PTX has no 8-bit registers: bytes are stored from 16-bit ones.
  unsigned registerBits() const { return std::max(wordBits, 16u); }
  /// And loaded to words, as the hardware has them: of a short register the assembler clears the
  /// other half, and of what it takes for a byte in one all but that.
  unsigned loadedBits() const { return wordBits == 8 ? 32 : registerBits(); }
  /// All words as one value.
  Type together(Type word) const {
    return words == 1 ? word : Type(VectorType::get({words}, word));
  }
  static char constraint(unsigned bits) { return bits == 64 ? 'l' : bits == 32 ? 'r' : 'h'; }
};
} // namespace

static std::string cacheSuffix(const AccessHints &h, bool load) {
  if (h.isVolatile)
    return ".volatile.global";
  std::string s = ".global";
  switch (h.cache) {
  case CacheModifier::none:
    break;
  case CacheModifier::ca:
    s += load ? ".ca" : "";
    break;
  case CacheModifier::cg:
    s += ".cg";
    break;
  case CacheModifier::cs:
    s += ".cs";
    break;
  case CacheModifier::cv:
    s += load ? ".cv" : ".wt";
    break;
  case CacheModifier::wb:
    s += load ? "" : ".wb";
    break;
  case CacheModifier::wt:
    s += load ? ".cv" : ".wt";
    break;
  }
  // An eviction priority and a cache operator exclude each other in PTX.
  if (h.cache == CacheModifier::none && h.evict != EvictionPolicy::normal)
    s += h.evict == EvictionPolicy::evict_first ? ".L1::evict_first" : ".L1::evict_last";
  if (h.policy)
    s += ".L2::cache_hint";
  return s;
}

static std::string registerList(unsigned first, unsigned count) {
  std::string s = count == 1 ? "" : "{";
  for (unsigned i = 0; i < count; ++i)
    s += (i ? ", $" : "$") + std::to_string(first + i);
  return s + (count == 1 ? "" : "}");
}

SmallVector<Value> Instructions::splitWords(Value v) {
  auto vector = dyn_cast<VectorType>(v.getType());
  if (!vector)
    return {v};
  SmallVector<Value> words;
  for (int32_t i = 0; i < vector.getNumElements(); ++i)
    words.push_back(LLVM::ExtractElementOp::create(b, *loc, v, i32(i)));
  return words;
}

Value Instructions::joinWords(ValueRange words) {
  if (words.size() == 1)
    return words[0];
  auto type = VectorType::get({int64_t(words.size())}, words[0].getType());
  Value v = LLVM::UndefOp::create(b, *loc, type);
  for (auto [i, word] : llvm::enumerate(words))
    v = LLVM::InsertElementOp::create(b, *loc, v, word, i32(int32_t(i)));
  return v;
}

Value Instructions::pointerTo(Address address) {
  if (!address.offset)
    return address.base;
  return LLVM::GEPOp::create(b, *loc, address.base.getType(), b.getI8Type(), address.base,
                             ValueRange{i64(address.offset)});
}

std::string lowering::immediate(int64_t offset) {
  return offset ? "+" + std::to_string(offset) : ""; // "+-8" below zero
}

namespace {
/// Inline assembly while it is put together: inputs are numbered as they come, behind the outputs.
struct Assembly {
  std::string text, constraints;
  SmallVector<Value> args = {};
  unsigned next;

  /// Adds an input; its name.
  std::string input(Value value, char constraint) {
    args.push_back(value);
    constraints += std::string(",") + constraint;
    return "$" + std::to_string(next++);
  }
};
} // namespace

/// So many outputs, which are written before the last input is read, or not.
static std::string outputConstraints(const AccessShape &shape, bool early) {
  std::string text;
  for (unsigned i = 0; i < shape.words; ++i)
    text += std::string(i ? "," : "") + (early ? "=&" : "=") + shape.constraint(shape.loadedBits());
  return text;
}

/// The words of what an instruction with several results gives.
static SmallVector<Value> wordsOf(OpBuilder &b, Location loc, Value loaded, unsigned count,
                                  Type word) {
  SmallVector<Value> words;
  for (unsigned i = 0; i < count; ++i) {
    Value w = count == 1 ? loaded : LLVM::ExtractValueOp::create(b, loc, loaded, i).getResult();
    words.push_back(w.getType() == word ? w : LLVM::TruncOp::create(b, loc, word, w).getResult());
  }
  return words;
}

SmallVector<Value> Instructions::loadGlobal(Type type, unsigned count, Address where,
                                            Value predicate, ValueRange other,
                                            const AccessHints &hints) {
  AccessShape shape(type, count);
  Type word = b.getIntegerType(shape.wordBits);
  unsigned bytes = bitWidth(type) * count / 8;
  if (!predicate && hints.plain()) {
    Value v = LLVM::LoadOp::create(b, *loc, shape.together(word), pointerTo(where), bytes);
    return unpack(splitWords(v), type, count);
  }

  // mov the values of masked-off lanes first, then load under the predicate. The outputs are
  // written before the address is read, then.
  Assembly out{"", outputConstraints(shape, bool(predicate)), {}, shape.words};
  Type reg = b.getIntegerType(shape.loadedBits());
  if (!isInt<32>(where.offset))
    where = {pointerTo(where), 0};
  std::string address = out.input(where.base, 'l') + immediate(where.offset), guard;
  if (predicate) {
    guard = "@" + out.input(predicate, 'b') + " ";
    SmallVector<Value> otherWords;
    if (!other.empty())
      otherWords = pack(other, shape.wordBits);
    for (unsigned i = 0; i < shape.words; ++i) {
      std::string from = "0x0";
      if (!otherWords.empty()) {
        Value w = otherWords[i];
        from = out.input(w.getType() == reg ? w : LLVM::ZExtOp::create(b, *loc, reg, w).getResult(),
                         shape.constraint(shape.loadedBits()));
      }
      out.text += "mov.b" + std::to_string(shape.loadedBits()) + " $" + std::to_string(i) + ", " +
                  from + ";\n\t";
    }
  }
  if (hints.evict != EvictionPolicy::normal)
    needPtx(74);
  out.text += guard + "ld" + cacheSuffix(hints, /*load=*/true) + shape.suffix() + " " +
              registerList(0, shape.words) + ", [" + address + "]";
  if (hints.policy)
    out.text += ", " + out.input(hints.policy, 'l');
  out.text += ";";
  SmallVector<Type> results(shape.words, reg);
  Type result =
      shape.words == 1 ? reg : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), results));
  Value v = inlineAsm(out.text, out.constraints, result, out.args, /*sideEffects=*/true);
  return unpack(wordsOf(b, *loc, v, shape.words, word), type, count);
}

void Instructions::storeGlobal(Address where, ValueRange elements, Value predicate,
                               const AccessHints &hints) {
  Type type = elements.front().getType();
  AccessShape shape(type, elements.size());
  SmallVector<Value> words = pack(elements, shape.wordBits);
  if (!predicate && hints.plain()) {
    Value v = joinWords(words);
    LLVM::StoreOp::create(b, *loc, v, pointerTo(where), bitWidth(type) * elements.size() / 8);
    return;
  }
  if (!isInt<32>(where.offset))
    where = {pointerTo(where), 0};
  Type reg = b.getIntegerType(shape.registerBits());
  SmallVector<Value> args{where.base};
  std::string constraints = "l";
  for (Value w : words) {
    args.push_back(w.getType() == reg ? w : LLVM::ZExtOp::create(b, *loc, reg, w).getResult());
    constraints += std::string(",") + shape.constraint(shape.registerBits());
  }
  if (hints.evict != EvictionPolicy::normal)
    needPtx(74);
  std::string guard;
  if (predicate) {
    guard = "@$" + std::to_string(args.size()) + " ";
    args.push_back(predicate);
    constraints += ",b";
  }
  inlineAsm(guard + "st" + cacheSuffix(hints, /*load=*/false) + shape.suffix() + " [$0" +
                immediate(where.offset) + "], " + registerList(1, shape.words) + ";",
            constraints, Type(), args, /*sideEffects=*/true);
}

SmallVector<Value> Instructions::loadShared(Type type, unsigned count, Value ptr) {
  AccessShape shape(type, count);
  Type word = b.getIntegerType(shape.wordBits);
  Value v = LLVM::LoadOp::create(b, *loc, shape.together(word), ptr, bitWidth(type) * count / 8);
  return unpack(splitWords(v), type, count);
}

void Instructions::storeShared(Value ptr, ValueRange elements, Value predicate) {
  Type type = elements.front().getType();
  AccessShape shape(type, elements.size());
  SmallVector<Value> words = pack(elements, shape.wordBits);
  if (!predicate) {
    LLVM::StoreOp::create(b, *loc, joinWords(words), ptr, bitWidth(type) * elements.size() / 8);
    return;
  }
  Type reg = b.getIntegerType(shape.registerBits());
  SmallVector<Value> args{ptr};
  std::string constraints = "r";
  for (Value w : words) {
    args.push_back(w.getType() == reg ? w : LLVM::ZExtOp::create(b, *loc, reg, w).getResult());
    constraints += std::string(",") + shape.constraint(shape.registerBits());
  }
  args.push_back(predicate);
  inlineAsm("@$" + std::to_string(args.size() - 1) + " st.shared" + shape.suffix() + " [$0], " +
                registerList(1, shape.words) + ";",
            constraints + ",b", Type(), args, /*sideEffects=*/true);
}
