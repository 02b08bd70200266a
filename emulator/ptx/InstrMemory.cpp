//===- InstrMemory.cpp - loads, stores and atomics of inline PTX ----------===//
#include "emulator/machine/Memory.h"
#include "emulator/machine/Numbers.h"
#include "emulator/ptx/AsmBuilder.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace tile::emu;

using S = const PtxStatement &;

/// 1 global, 3 shared, 0 generic; nothing for the others.
static std::optional<unsigned> spaceOf(S s) {
  for (const std::string &p : s.parts) {
    if (p == "global")
      return 1;
    if (StringRef(p).starts_with("shared"))
      return 3;
    if (p == "local" || p == "param" || p == "const")
      return std::nullopt;
  }
  return 0;
}

/// What a load or store says of its order: bits of Ordering, 0 if it is weak.
static uint32_t orderingOf(S s) {
  bool isVolatile = s.has("volatile");
  bool strong = isVolatile || s.has("acquire") || s.has("release") || s.has("relaxed");
  return strong ? ptxOrdering(s, /*scopeByDefault=*/isVolatile ? kClusterScope | kGpuScope : 0) : 0;
}

/// The host address of an access.
static Value *hostAddress(AsmBuilder &a, unsigned space, Value *address, unsigned bytes,
                          uint32_t access) {
  const char *name = space == 1 ? "tileEmuGlobal" : space == 3 ? "tileEmuShared" : "tileEmuGeneric";
  return a.hook(name, a.b.getPtrTy(), {a.thread(), address, a.i32(bytes), a.i32(access), a.site()});
}

uint32_t tile::emu::ptxOrdering(S s, uint32_t scopeByDefault) {
  uint32_t ordering = kStrong;
  if (s.has("acquire") || s.has("acq_rel") || s.has("sc"))
    ordering |= kAcquires;
  if (s.has("release") || s.has("acq_rel") || s.has("sc"))
    ordering |= kReleases;
  if (s.has("gpu") || s.has("sys") || s.has("gl"))
    return ordering | kClusterScope | kGpuScope;
  if (s.has("cluster"))
    return ordering | kClusterScope;
  return s.has("cta") ? ordering : ordering | scopeByDefault;
}

static unsigned vectorLength(S s) {
  return s.has("v2") ? 2 : s.has("v4") ? 4 : s.has("v8") ? 8 : 1;
}

static void load(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  auto space = spaceOf(s);
  if (!t || !space || s.operands.size() < 2 || s.operands[1].kind != PtxOperand::Memory)
    return a.unsupported(s);
  unsigned n = vectorLength(s), bytes = t.bits * t.lanes / 8;
  if (n > 1 && (s.operands[0].kind != PtxOperand::Vector || s.operands[0].elements.size() != n))
    return a.unsupported(s);
  uint32_t ordering = orderingOf(s);
  if (ordering)
    a.hook("tileEmuSpin", a.b.getVoidTy(), {a.thread(), a.i32(0), a.site()});
  Value *address = a.address(s.operands[1], *space == 3 ? 32 : 64);
  Value *base = hostAddress(a, *space, address, bytes * n, kRead | ordering);
  Type *type = a.b.getIntNTy(t.bits * t.lanes);
  SmallVector<Value *> values;
  for (unsigned i = 0; i < n; ++i)
    values.push_back(a.b.CreateAlignedLoad(
        type, a.b.CreateConstInBoundsGEP1_32(a.b.getInt8Ty(), base, i * bytes), Align(1)));
  for (unsigned i = 0; i < n; ++i)
    a.set(n == 1 ? s.operands[0] : s.operands[0].elements[i], values[i], t.kind == 's');
  if (ordering)
    a.hook("tileEmuObserve", a.b.getVoidTy(),
           {a.thread(), a.b.CreateZExt(address, a.b.getInt64Ty()), a.i32(*space),
            a.i32(kRead | ordering)});
}

static void store(AsmBuilder &a, S s) {
  if (s.has("async"))
    return emitStoreAsync(a, s);
  PtxType t = typeOf(s);
  auto space = spaceOf(s);
  if (!t || !space || s.operands.size() < 2 || s.operands[0].kind != PtxOperand::Memory)
    return a.unsupported(s);
  unsigned n = vectorLength(s), bits = t.bits * t.lanes;
  const PtxOperand &from = s.operands[1];
  if (n > 1 && (from.kind != PtxOperand::Vector || from.elements.size() != n))
    return a.unsupported(s);
  SmallVector<Value *> values;
  for (unsigned i = 0; i < n; ++i)
    values.push_back(a.get(n == 1 ? from : from.elements[i], bits));
  uint32_t ordering = orderingOf(s);
  Value *base = hostAddress(a, *space, a.address(s.operands[0], *space == 3 ? 32 : 64),
                            bits / 8 * n, kWrite | ordering);
  for (unsigned i = 0; i < n; ++i)
    a.b.CreateAlignedStore(
        values[i], a.b.CreateConstInBoundsGEP1_32(a.b.getInt8Ty(), base, i * bits / 8), Align(1));
  if (ordering)
    a.hook("tileEmuSpin", a.b.getVoidTy(), {a.thread(), a.i32(1), a.site()});
}

std::optional<AtomicKind> tile::emu::integerAtomic(StringRef part) {
  return StringSwitch<std::optional<AtomicKind>>(part)
      .Case("add", AtomicKind::Add)
      .Case("and", AtomicKind::And)
      .Case("or", AtomicKind::Or)
      .Case("xor", AtomicKind::Xor)
      .Case("inc", AtomicKind::Increment)
      .Case("dec", AtomicKind::Decrement)
      .Default(std::nullopt);
}

static std::optional<AtomicKind> atomicKind(S s, PtxType t) {
  for (const std::string &p : s.parts) {
    if (p == "add" && t.isFloat()) {
      if (t.lanes == 2)
        return t.brain ? AtomicKind::FAddBF16x2 : AtomicKind::FAddF16x2;
      return t.brain ? AtomicKind::FAddBF16 : AtomicKind::FAdd;
    }
    if ((p == "min" || p == "max") && !t.isFloat())
      return p == "min" ? (t.kind == 's' ? AtomicKind::MinS : AtomicKind::MinU)
                        : (t.kind == 's' ? AtomicKind::MaxS : AtomicKind::MaxU);
    if (p == "exch")
      return AtomicKind::Exchange;
    if (p == "cas")
      return AtomicKind::CompareExchange;
    if (auto kind = integerAtomic(p))
      return kind;
  }
  return std::nullopt;
}

/// What an atomic does to one element.
struct AtomicElement {
  Value *address, *operand, *compare;
  AtomicKind kind;
  unsigned bits, space;
};

static Value *updateElement(AsmBuilder &a, S s, const AtomicElement &e) {
  IRBuilder<> &b = a.b;
  return a.hook("tileEmuAtomic", b.getInt64Ty(),
                {a.thread(), e.address, b.CreateZExt(e.operand, b.getInt64Ty()),
                 b.CreateZExt(e.compare, b.getInt64Ty()), a.i32(uint32_t(e.kind)),
                 a.i32(e.bits / 8), a.i32(e.space),
                 a.i32(ptxOrdering(s, kClusterScope | kGpuScope)), a.site()});
}

static void atomic(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  bool red = s.parts[0] == "red";
  // In a ring, the halves of a word are added as what they are there: two integers.
  unsigned halves = a.algebraic && t.isFloat() ? t.lanes : 1;
  if (a.algebraic && t.isFloat()) {
    t.kind = 's';
    t.lanes = 1;
  }
  auto space = spaceOf(s);
  auto kind = atomicKind(s, t);
  size_t first = red ? 0 : 1; // the address
  bool cas = kind && *kind == AtomicKind::CompareExchange;
  if (!t || !space || !kind || s.operands.size() < first + (cas ? 3 : 2) || t.bits == 128 ||
      (halves > 1 && !red))
    return a.unsupported(s);
  if (*space != 3)
    a.atomics.push_back(*kind);
  unsigned n = vectorLength(s), bits = t.bits * t.lanes;
  IRBuilder<> &b = a.b;
  Value *base = a.address(s.operands[first], 64);
  if (*space == 3)
    base = b.CreateAnd(base, 0xffffffff);
  for (unsigned i = 0; i < n * halves; ++i) {
    auto part = [&](const PtxOperand &o) {
      Value *word = a.get(n == 1 ? o : o.elements[i / halves], bits * halves);
      return b.CreateTrunc(b.CreateLShr(word, i % halves * bits), b.getIntNTy(bits));
    };
    Value *old = updateElement(
        a, s,
        {b.CreateAdd(base, b.getInt64(i * bits / 8)), part(s.operands[first + (cas ? 2 : 1)]),
         cas ? part(s.operands[first + 1]) : b.getIntN(bits, 0), *kind, bits, *space});
    if (!red)
      a.set(n == 1 ? s.operands[0] : s.operands[0].elements[i],
            b.CreateTrunc(old, b.getIntNTy(bits)));
  }
}

/// Between the generic window and the shared one.
static void cvta(AsmBuilder &a, S s) {
  if (s.operands.size() != 2)
    return a.unsupported(s);
  bool shared = s.has("shared") || s.has("shared::cta") || s.has("shared::cluster");
  Value *v = a.get(s.operands[1], 64);
  if (shared)
    v = s.has("to") ? a.b.CreateSub(v, a.i64(kGenericShared))
                    : a.b.CreateAdd(a.b.CreateAnd(v, 0xffffffff), a.i64(kGenericShared));
  a.set(s.operands[0], v);
}

/// The same place in another CTA of the cluster.
static void mapa(AsmBuilder &a, S s) {
  if (s.operands.size() != 3)
    return a.unsupported(s);
  IRBuilder<> &b = a.b;
  bool shared = s.has("shared::cluster");
  Value *v = a.get(s.operands[1], 64), *rank = a.get(s.operands[2], 32);
  Value *offset = b.CreateAnd(b.CreateTrunc(v, b.getInt32Ty()), kSharedOffsetMask);
  Value *to = b.CreateOr(offset, b.CreateShl(rank, kSharedRankShift));
  Value *wide = b.CreateZExt(to, b.getInt64Ty());
  a.set(s.operands[0], shared ? wide : b.CreateAdd(wide, a.i64(kGenericShared)));
}

/// Whose memory an address of shared memory is in: its upper bits.
static void getctarank(AsmBuilder &a, S s) {
  if (s.operands.size() != 2)
    return a.unsupported(s);
  IRBuilder<> &b = a.b;
  Value *address = b.CreateTrunc(a.get(s.operands[1], 64), b.getInt32Ty());
  a.set(s.operands[0], b.CreateLShr(address, kSharedRankShift));
}

ArrayRef<HandlerEntry> tile::emu::memoryHandlers() {
  static const HandlerEntry entries[] = {
      {"ld", load},   {"st", store},  {"atom", atomic},           {"red", atomic},
      {"cvta", cvta}, {"mapa", mapa}, {"getctarank", getctarank},
  };
  return entries;
}
