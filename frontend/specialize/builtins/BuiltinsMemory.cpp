//===- BuiltinsMemory.cpp - loads, stores, atomics ------------------------===//
#include "frontend/specialize/BlockPointer.h"
#include "frontend/specialize/TensorDescriptor.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace tile::specialize {

//===----------------------------------------------------------------------===//
// Shared parts
//===----------------------------------------------------------------------===//

/// The name of a choice, or "" for what leaves it open: kernels pass 0 and False
/// besides None.
static std::optional<std::string> choice(BuiltinCall &c, unsigned i) {
  if (c.has(i) && !c[i].isStr() && !tensorIn(c[i]) && !c.flag(i, true))
    return std::string();
  return c.string(i);
}

static std::optional<CacheModifier> cacheModifier(BuiltinCall &c, unsigned i, bool isLoad) {
  auto text = choice(c, i);
  if (!text)
    return std::nullopt;
  auto result = llvm::StringSwitch<std::optional<CacheModifier>>(*text)
                    .Case("", CacheModifier::none)
                    .Case(".cg", CacheModifier::cg)
                    .Case(".cs", CacheModifier::cs)
                    .Default(std::nullopt);
  if (!result && isLoad)
    result = llvm::StringSwitch<std::optional<CacheModifier>>(*text)
                 .Case(".ca", CacheModifier::ca)
                 .Case(".cv", CacheModifier::cv)
                 .Default(std::nullopt);
  if (!result && !isLoad)
    result = llvm::StringSwitch<std::optional<CacheModifier>>(*text)
                 .Case(".wb", CacheModifier::wb)
                 .Case(".wt", CacheModifier::wt)
                 .Default(std::nullopt);
  if (!result)
    c.fail(formatted("`cache_modifier` must be one of {}, got \"{}\"",
                     isLoad ? ".ca, .cg, .cs, .cv" : ".wb, .cg, .cs, .wt", *text));
  return result;
}

static std::optional<EvictionPolicy> evictionPolicy(BuiltinCall &c, unsigned i) {
  auto text = choice(c, i);
  if (!text)
    return std::nullopt;
  auto result = llvm::StringSwitch<std::optional<EvictionPolicy>>(*text)
                    .Cases({"", "evict_normal"}, EvictionPolicy::normal)
                    .Case("evict_first", EvictionPolicy::evict_first)
                    .Case("evict_last", EvictionPolicy::evict_last)
                    .Default(std::nullopt);
  if (!result)
    c.fail(formatted("`eviction_policy` must be evict_first or evict_last, got \"{}\"", *text));
  return result;
}

/// A pointer or block of pointers; i1 is accessed as bytes.
static Tensor pointer(BuiltinCall &c, unsigned i) {
  const Tensor *t = tensorIn(c[i]);
  if (!t || !t->type.isPointer())
    return c.poison(formatted("{} must be a pointer or a block of pointers, got {}{}",
                              c.parameter(i), describe(c[i]),
                              isTensorDescriptor(c[i]) ? "; a descriptor has methods of its own, "
                                                         "such as `d.load(offsets)`"
                                                       : ""));
  return *t;
}

static Tensor asBytes(Specializer &s, const Tensor &ptr) {
  if (!ptr || !ptr.type.element().isBool())
    return ptr;
  return s.cast(ptr, DType::pointer(DType(Kind::Int8), ptr.type.isConstPointer()));
}

/// A mask, as int1.
static Tensor mask(BuiltinCall &c, unsigned i) {
  Tensor t = c.tensor(i);
  if (t && t.type.isPointer())
    return c.poison(formatted("{} must be boolean, got {}", c.parameter(i), describe(c[i])));
  return c.s.isTrue(t);
}

static bool scalarMaskOnly(BuiltinCall &c, const Tensor &ptr, const Tensor &extra, unsigned i) {
  if (ptr.isBlock() || !extra || !extra.isBlock())
    return true;
  c.fail(formatted(
      "{} is {}, but the pointer is a scalar: make a block of pointers (`ptr + tl.arange(...)`)",
      c.parameter(i), describe(extra.type, extra.shape())));
  return false;
}

//===----------------------------------------------------------------------===//
// load, store
//===----------------------------------------------------------------------===//

/// What a load reads where its mask is false.
static Tensor otherValue(BuiltinCall &c, unsigned i, const DType &element) {
  if (const Tensor *t = tensorIn(c[i]))
    return c.s.cast(*t, element);
  if (c[i].isNumber())
    return c.s.constant(c[i], element);
  return c.poison(formatted("`other` must be a number or a tensor, got {}", describe(c[i])));
}

/// Fills pointers, mask and other for a load through a block pointer.
static bool blockLoad(BuiltinCall &c, const PyValue &boundary, StringRef padding, Tensor &ptr,
                      Tensor &mask, Tensor &other) {
  auto access = expandBlockPointer(c, c[0], boundary);
  if (!access)
    return false;
  ptr = access->pointers;
  mask = access->mask;
  DType element = ptr.type.element();
  if (padding == "nan" && !element.isFloating()) {
    c.fail(formatted("`padding_option` \"nan\" needs floats, not {}", element.str()));
    return false;
  }
  if (!padding.empty() && padding != "zero" && padding != "nan") {
    c.fail(formatted("`padding_option` must be \"zero\" or \"nan\", got \"{}\"", padding));
    return false;
  }
  if (mask && !padding.empty()) {
    DType memory = element.isBool() ? DType(Kind::Int8) : element;
    other = c.s.constant(PyValue::number(padding == "nan" ? NAN : 0.0), memory, ptr.shape());
  }
  return true;
}

static PyValue load(BuiltinCall &c) {
  enum { Ptr, Mask, Other, Boundary, Padding, Cache, Evict, Volatile };
  auto cache = cacheModifier(c, Cache, /*isLoad=*/true);
  auto evict = evictionPolicy(c, Evict);
  auto padding = choice(c, Padding);
  if (!cache || !evict || !padding)
    return PoisonValue::get();
  bool isBlock = isBlockPointer(c[Ptr]);
  if (isBlock && (c.has(Mask) || c.has(Other)))
    return c.fail("a block pointer takes `boundary_check` and `padding_option` instead of `mask` "
                  "and `other`");
  if (!isBlock && ((c.has(Boundary) && !c[Boundary].elements().empty()) || !padding->empty()))
    return c.fail("`boundary_check` and `padding_option` need a block pointer; use `mask` and "
                  "`other` with plain pointers");
  if (c.has(Other) && !c.has(Mask))
    return c.fail("`other` has no meaning without `mask`");
  Tensor ptr, m, other;
  if (isBlock) {
    if (!blockLoad(c, c[Boundary], *padding, ptr, m, other))
      return PoisonValue::get();
  } else if (!(ptr = pointer(c, Ptr))) {
    return PoisonValue::get();
  }
  DType element = ptr.type.element();
  ptr = asBytes(c.s, ptr);
  SmallVector<Tensor *> parts{&ptr};
  if (c.has(Mask)) {
    m = mask(c, Mask);
    if (!m || !scalarMaskOnly(c, ptr, m, Mask))
      return PoisonValue::get();
    parts.push_back(&m);
  }
  if (c.has(Other)) {
    other = otherValue(c, Other, ptr.type.element());
    if (!other || !scalarMaskOnly(c, ptr, other, Other))
      return PoisonValue::get();
    parts.push_back(&other);
  }
  if (!c.s.broadcast(parts))
    return PoisonValue::get();
  Value value =
      c.s.create<LoadOp>(ptr.value, m.value, other.value, *cache, *evict, c.flag(Volatile));
  Tensor result{value, ptr.type.element()};
  return c.s.wrap(element.isBool() ? c.s.isTrue(result) : result);
}

/// The value to write: of the pointee's type and the pointer's shape.
static Tensor storedValue(BuiltinCall &c, unsigned i, const Tensor &ptr) {
  DType element = ptr.type.element();
  DType memory = element.isBool() ? DType(Kind::Int8) : element;
  Tensor value;
  if (tensorIn(c[i]))
    value = c.s.cast(*tensorIn(c[i]), element);
  else if (c[i].isNumber())
    value = c.s.constant(c[i], element);
  else
    return c.poison(
        formatted("{} must be a number or a tensor, got {}", c.parameter(i), describe(c[i])));
  value = c.s.cast(value, memory);
  if (value && value.isBlock() && !ptr.isBlock())
    return c.poison(formatted(
        "{} is {}, but the pointer is a scalar: make a block of pointers (`ptr + tl.arange(...)`)",
        c.parameter(i), describe(value.type, value.shape())));
  return c.s.broadcastTo(value, ptr.shape());
}

static bool writable(BuiltinCall &c, const Tensor &ptr) {
  if (!ptr || !ptr.type.isConstPointer())
    return bool(ptr);
  c.fail(formatted("cannot write through {}: it points to constant memory", ptr.type.str()));
  return false;
}

static PyValue store(BuiltinCall &c) {
  enum { Ptr, Stored, Mask, Boundary, Cache, Evict };
  auto cache = cacheModifier(c, Cache, /*isLoad=*/false);
  auto evict = evictionPolicy(c, Evict);
  if (!cache || !evict)
    return PoisonValue::get();
  Tensor ptr, m;
  if (isBlockPointer(c[Ptr])) {
    auto access = expandBlockPointer(c, c[Ptr], c[Boundary]);
    if (!access)
      return PoisonValue::get();
    ptr = access->pointers;
    m = access->mask;
    if (c.has(Mask))
      return c.fail("a block pointer takes `boundary_check` instead of `mask`");
  } else {
    if (c.has(Boundary) && !c[Boundary].elements().empty())
      return c.fail("`boundary_check` needs a block pointer; use `mask` with plain pointers");
    ptr = pointer(c, Ptr);
  }
  if (!writable(c, ptr))
    return PoisonValue::get();
  Tensor value = storedValue(c, Stored, ptr);
  if (c.has(Mask)) {
    m = mask(c, Mask);
    if (!m || !scalarMaskOnly(c, ptr, m, Mask))
      return PoisonValue::get();
    m = c.s.broadcastTo(m, ptr.shape());
    if (!m)
      return PoisonValue::get();
  }
  ptr = asBytes(c.s, ptr);
  if (!value || !ptr)
    return PoisonValue::get();
  StoreOp::create(c.s.builder, c.s.loc(), ptr.value, value.value, m.value, *cache, *evict);
  return PyValue::none();
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

static std::optional<MemSemantic> semantic(BuiltinCall &c, unsigned i) {
  auto text = choice(c, i);
  if (!text)
    return std::nullopt;
  auto result = llvm::StringSwitch<std::optional<MemSemantic>>(*text)
                    .Cases({"", "acq_rel"}, MemSemantic::acq_rel)
                    .Case("acquire", MemSemantic::acquire)
                    .Case("release", MemSemantic::release)
                    .Case("relaxed", MemSemantic::relaxed)
                    .Default(std::nullopt);
  if (!result)
    c.fail(formatted("`sem` must be relaxed, acquire, release or acq_rel, got \"{}\"", *text));
  return result;
}

static std::optional<MemScope> scope(BuiltinCall &c, unsigned i) {
  auto text = choice(c, i);
  if (!text)
    return std::nullopt;
  auto result = llvm::StringSwitch<std::optional<MemScope>>(*text)
                    .Cases({"", "gpu"}, MemScope::gpu)
                    .Case("cta", MemScope::cta)
                    .Case("sys", MemScope::sys)
                    .Default(std::nullopt);
  if (!result)
    c.fail(formatted("`scope` must be gpu, cta or sys, got \"{}\"", *text));
  return result;
}

enum class Rmw { Add, Max, Min, And, Or, Xor, Exchange };

/// The op for a type, or why there is none.
static std::optional<AtomicKind> atomicKind(Rmw op, const DType &type) {
  bool isFloat = type.isStandardFloating(), isInt = type.isInt() && type.bitWidth() >= 32;
  bool isWide = isInt || type.kind() == Kind::Float32 || type.kind() == Kind::Float64;
  bool isSigned = type.isSigned() || isFloat;
  auto when = [](bool possible, AtomicKind kind) {
    return possible ? std::optional(kind) : std::nullopt;
  };
  switch (op) {
  case Rmw::Add:
    return when(isInt || isFloat, isFloat ? AtomicKind::fadd : AtomicKind::add);
  case Rmw::Max:
    return when(isWide, isSigned ? AtomicKind::max : AtomicKind::umax);
  case Rmw::Min:
    return when(isWide, isSigned ? AtomicKind::min : AtomicKind::umin);
  case Rmw::And:
    return when(isWide, AtomicKind::band);
  case Rmw::Or:
    return when(isWide, AtomicKind::bor);
  case Rmw::Xor:
    return when(isWide, AtomicKind::bxor);
  case Rmw::Exchange:
    return when(isWide, AtomicKind::xchg);
  }
  return std::nullopt;
}

/// Pointer, value and mask of one shape, ready for an atomic.
struct AtomicOperands {
  Tensor ptr, value, mask;
  MemSemantic sem;
  MemScope scope;
};

static Value emitRmw(Specializer &s, AtomicKind kind, const AtomicOperands &o, Value mask) {
  return s.create<AtomicRmwOp>(o.value.value.getType(), kind, o.sem, o.scope, o.ptr.value,
                               o.value.value, mask);
}

/// Float max and min by integer atomics: the order of non-negative floats is
/// that of their bits as signed integers, the order of negative ones is the
/// reverse of their bits as unsigned integers. One of two complementary masks
/// is set in every lane; -0.0 counts by its sign bit.
static Tensor floatExtremum(Specializer &s, Rmw op, const AtomicOperands &o) {
  bool isWide = o.value.type.bitWidth() == 64;
  DType signedType = isWide ? Kind::Int64 : Kind::Int32;
  AtomicOperands bits = o;
  bits.ptr = s.cast(o.ptr, DType::pointer(signedType));
  bits.value = s.bitcast(o.value, signedType);
  Tensor negative =
      s.compareSame(CompareOp::Lt, bits.value, s.intConstant(0, signedType, bits.value.shape()));
  Tensor positive = s.logicalNot(negative);
  Tensor lower = negative, upper = positive;
  if (o.mask) {
    lower = s.arithmetic(BinaryOp::And, negative, o.mask);
    upper = s.arithmetic(BinaryOp::And, positive, o.mask);
  }
  bool isMax = op == Rmw::Max;
  Tensor up{emitRmw(s, isMax ? AtomicKind::max : AtomicKind::min, bits, upper.value), signedType};
  Tensor down{emitRmw(s, isMax ? AtomicKind::umin : AtomicKind::umax, bits, lower.value),
              signedType};
  return s.bitcast(s.select(positive, up, down), o.value.type);
}

/// `and`, `or` and `xor` of floats work on their bits.
static Tensor floatBits(Specializer &s, AtomicKind kind, const AtomicOperands &o) {
  DType bitsType = o.value.type.bitWidth() == 64 ? Kind::Int64 : Kind::Int32;
  AtomicOperands bits = o;
  bits.ptr = s.cast(o.ptr, DType::pointer(bitsType));
  bits.value = s.bitcast(o.value, bitsType);
  return s.bitcast({emitRmw(s, kind, bits, o.mask.value), bitsType}, o.value.type);
}

static PyValue atomicRmw(BuiltinCall &c, Rmw op) {
  enum { Ptr, Stored, Mask, Sem, Scope };
  auto sem = semantic(c, Sem);
  auto where = scope(c, Scope);
  Tensor ptr = pointer(c, Ptr);
  if (!sem || !where || !writable(c, ptr))
    return PoisonValue::get();
  DType type = ptr.type.element();
  std::optional<AtomicKind> kind = atomicKind(op, type);
  if (!kind)
    return c.fail(formatted("this atomic does not work on {}: use {}", type.str(),
                            op == Rmw::Add ? "32- or 64-bit integers, fp16, bf16, fp32 or fp64"
                                           : "32- or 64-bit integers, fp32 or fp64"));
  AtomicOperands o{ptr, storedValue(c, Stored, ptr), {}, *sem, *where};
  if (c.has(Mask)) {
    Tensor m = mask(c, Mask);
    if (!m || !scalarMaskOnly(c, ptr, m, Mask))
      return PoisonValue::get();
    o.mask = c.s.broadcastTo(m, ptr.shape());
    if (!o.mask)
      return PoisonValue::get();
  }
  if (!o.value)
    return PoisonValue::get();
  if (type.isFloating() && (op == Rmw::Max || op == Rmw::Min))
    return c.s.wrap(floatExtremum(c.s, op, o));
  if (type.isFloating() && (op == Rmw::And || op == Rmw::Or || op == Rmw::Xor))
    return c.s.wrap(floatBits(c.s, *kind, o));
  return c.s.wrap({emitRmw(c.s, *kind, o, o.mask.value), type});
}

template <Rmw op> static PyValue atomic(BuiltinCall &c) { return atomicRmw(c, op); }

static PyValue atomicCas(BuiltinCall &c) {
  auto sem = semantic(c, 3);
  auto where = scope(c, 4);
  Tensor ptr = pointer(c, 0);
  if (!sem || !where || !writable(c, ptr))
    return PoisonValue::get();
  DType type = ptr.type.element();
  unsigned bits = type.bitWidth();
  if (bits != 16 && bits != 32 && bits != 64)
    return c.fail(formatted("compare-and-swap works on 16, 32 and 64 bits, not on {}", type.str()));
  Tensor expected = storedValue(c, 1, ptr), value = storedValue(c, 2, ptr);
  if (!expected || !value)
    return PoisonValue::get();
  Value old = c.s.create<AtomicCasOp>(value.value.getType(), *sem, *where, ptr.value,
                                      expected.value, value.value);
  return c.s.wrap({old, type});
}

void addMemoryBuiltins(BuiltinTable &t) {
  t.add("tl.load",
        "pointer, mask=, other=, boundary_check=, padding_option=, cache_modifier=, "
        "eviction_policy=, volatile=",
        load);
  t.add("tl.store",
        "pointer, value, mask=, boundary_check=, cache_modifier=, eviction_policy=", store);
  constexpr const char *parameters = "pointer, val, mask=, sem=, scope=";
  t.add("tl.atomic_add", parameters, atomic<Rmw::Add>);
  t.add("tl.atomic_max", parameters, atomic<Rmw::Max>);
  t.add("tl.atomic_min", parameters, atomic<Rmw::Min>);
  t.add("tl.atomic_and", parameters, atomic<Rmw::And>);
  t.add("tl.atomic_or", parameters, atomic<Rmw::Or>);
  t.add("tl.atomic_xor", parameters, atomic<Rmw::Xor>);
  t.add("tl.atomic_xchg", parameters, atomic<Rmw::Exchange>);
  t.add("tl.atomic_cas", "pointer, cmp, val, sem=, scope=", atomicCas);
}

} // namespace tile::specialize
