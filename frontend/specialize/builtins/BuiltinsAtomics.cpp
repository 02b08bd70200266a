//===- BuiltinsAtomics.cpp - atomic operations ----------------------------===//
#include "frontend/specialize/Writable.h"
#include "frontend/specialize/builtins/MemoryOperands.h"
#include "text/Format.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace tile::specialize {

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

void addAtomicBuiltins(BuiltinTable &t) {
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
