//===- InstrAsync.cpp - copies, mbarriers and register budgets ------------===//
#include "emulator/machine/Memory.h"
#include "emulator/machine/Numbers.h"
#include "emulator/ptx/AsmBuilder.h"

using namespace llvm;
using namespace tile::emu;

using S = const PtxStatement &;

static Value *address32(AsmBuilder &a, const PtxOperand &o) { return a.address(o, 32); }

//===----------------------------------------------------------------------===//
// mbarrier
//===----------------------------------------------------------------------===//

static void mbarrier(AsmBuilder &a, S s) {
  IRBuilder<> &b = a.b;
  Type *none = b.getVoidTy();
  StringRef op = s.parts.size() > 1 ? StringRef(s.parts[1]) : "";
  // The scope is that of the CTA unless it says otherwise.
  uint32_t ordering = ptxOrdering(s, /*scopeByDefault=*/0);
  if (!s.has("relaxed"))
    ordering |= kAcquires | kReleases;
  size_t n = s.operands.size();
  if (op == "init" && n == 2) {
    a.hook("tileEmuMBarrierInit", none,
           {a.thread(), address32(a, s.operands[0]), a.get(s.operands[1], 32), a.site()});
  } else if (op == "inval" && n == 1) {
    a.hook("tileEmuMBarrierInval", none, {a.thread(), address32(a, s.operands[0]), a.site()});
  } else if (op == "arrive" || op == "arrive_drop") {
    // [state,] [address] [, count or bytes]
    size_t memory = !s.operands.empty() && s.operands[0].kind == PtxOperand::Memory ? 0 : 1;
    if (memory >= n || s.has("noComplete"))
      return a.unsupported(s);
    bool expect = s.has("expect_tx");
    Value *operand = memory + 1 < n ? a.get(s.operands[memory + 1], 32) : nullptr;
    if (expect && !operand)
      return a.unsupported(s);
    Value *token = a.hook("tileEmuMBarrierArrive", b.getInt64Ty(),
                          {a.thread(), address32(a, s.operands[memory]),
                           operand && !expect ? operand : a.i32(1), expect ? operand : a.i32(0),
                           a.i32(ordering), a.i32(op == "arrive_drop"), a.site()});
    if (memory == 1)
      a.set(s.operands[0], token);
  } else if ((op == "expect_tx" || op == "complete_tx") && n == 2) {
    Value *bytes = a.get(s.operands[1], 32);
    a.hook("tileEmuMBarrierExpect", none,
           {a.thread(), address32(a, s.operands[0]),
            op == "complete_tx" ? b.CreateNeg(bytes) : bytes, a.site()});
  } else if ((op == "test_wait" || op == "try_wait") && n >= 3) {
    bool parity = s.has("parity");
    Value *phase =
        parity ? b.CreateZExt(a.get(s.operands[2], 32), b.getInt64Ty()) : a.get(s.operands[2], 64);
    Value *r = a.hook("tileEmuMBarrierWait", b.getInt32Ty(),
                      {a.thread(), address32(a, s.operands[1]), phase, a.i32(parity),
                       a.i32(op == "try_wait"), a.i32(ordering), a.site()});
    a.set(s.operands[0], b.CreateTrunc(r, b.getInt1Ty()));
  } else {
    a.unsupported(s);
  }
}

//===----------------------------------------------------------------------===//
// cp.async and its kin
//===----------------------------------------------------------------------===//

/// Coordinates of a tensor operand [map, {x, y}] on the stack.
static Value *coordinates(AsmBuilder &a, const PtxOperand &tensor, unsigned &rank) {
  const PtxOperand &list = tensor.elements[1];
  rank = unsigned(list.elements.size());
  auto *array = a.array(a.b.getInt32Ty(), 5);
  for (unsigned i = 0; i < rank; ++i)
    a.b.CreateStore(a.get(list.elements[i], 32),
                    a.b.CreateConstInBoundsGEP1_32(a.b.getInt32Ty(), array, i));
  return array;
}

static bool isTensor(const PtxOperand &o) {
  return o.kind == PtxOperand::Memory && o.elements.size() == 2 &&
         o.elements[1].kind == PtxOperand::Vector && o.elements[1].elements.size() <= 5;
}

static std::optional<AtomicKind> reduction(S s) {
  for (const std::string &p : s.parts) {
    if (auto kind = integerAtomic(p))
      return kind;
    if (p == "min")
      return AtomicKind::MinS;
    if (p == "max")
      return AtomicKind::MaxS;
  }
  return std::nullopt;
}

static void tensorCopy(AsmBuilder &a, S s, bool reduce) {
  Type *none = a.b.getVoidTy();
  unsigned rank = 0;
  bool toShared = !s.operands.empty() && !isTensor(s.operands[0]);
  if (s.has("im2col") || s.has("prefetch"))
    return s.has("prefetch") ? void() : a.unsupported(s);
  if (toShared) {
    if (s.operands.size() < 3 || !isTensor(s.operands[1]) || !s.has("mbarrier::complete_tx::bytes"))
      return a.unsupported(s);
    Value *at = coordinates(a, s.operands[1], rank);
    bool multicast = s.has("multicast::cluster");
    Value *mask = multicast && s.operands.size() > 3
                      ? a.b.CreateAnd(a.get(s.operands[3], 32), 0xffff)
                      : a.i32(0);
    a.hook("tileEmuTensorLoad", none,
           {a.thread(), address32(a, s.operands[0]), a.get(s.operands[1].elements[0], 64), at,
            a.i32(rank), address32(a, s.operands[2]), mask, a.site()});
    return;
  }
  if (s.operands.size() < 2 || !isTensor(s.operands[0]) || !s.has("bulk_group"))
    return a.unsupported(s);
  uint32_t kind = 0;
  if (reduce) {
    auto r = reduction(s);
    if (!r || a.algebraic)
      return a.unsupported(s);
    kind = 1 + uint32_t(*r);
    a.atomics.push_back(AtomicKind::FAdd); // the map says of what
  }
  Value *at = coordinates(a, s.operands[0], rank);
  a.hook("tileEmuTensorStore", none,
         {a.thread(), a.get(s.operands[0].elements[0], 64), at, a.i32(rank),
          address32(a, s.operands[1]), a.i32(kind), a.site()});
}

static void bulkCopy(AsmBuilder &a, S s) {
  Type *none = a.b.getVoidTy();
  if (s.has("commit_group")) {
    a.hook("tileEmuBulkCommit", none, {a.thread(), a.site()});
  } else if (s.has("wait_group")) {
    a.hook("tileEmuBulkWait", none,
           {a.thread(), a.get(s.operands[0], 32), a.i32(s.has("read")), a.site()});
  } else if (s.has("tensor")) {
    tensorCopy(a, s, /*reduce=*/false);
  } else if (s.has("prefetch")) {
    a.hook("tileEmuBulkPrefetch", none,
           {a.thread(), a.address(s.operands[0], 64), a.get(s.operands[1], 32), a.site()});
  } else if (s.has("mbarrier::complete_tx::bytes") && s.operands.size() >= 4) {
    bool fromGlobal = s.has("global");
    Value *mask = s.has("multicast::cluster") && s.operands.size() > 4
                      ? a.b.CreateAnd(a.get(s.operands[4], 32), 0xffff)
                      : a.i32(0);
    a.hook("tileEmuBulkLoad", none,
           {a.thread(), address32(a, s.operands[0]),
            fromGlobal ? a.address(s.operands[1], 64)
                       : a.b.CreateZExt(address32(a, s.operands[1]), a.b.getInt64Ty()),
            a.get(s.operands[2], 32), address32(a, s.operands[3]), mask, a.i32(fromGlobal ? 1 : 3),
            a.site()});
  } else if (s.has("bulk_group") && s.operands.size() >= 3) {
    a.hook("tileEmuBulkStore", none,
           {a.thread(), a.address(s.operands[0], 64), address32(a, s.operands[1]),
            a.get(s.operands[2], 32), a.site()});
  } else {
    a.unsupported(s);
  }
}

static void cp(AsmBuilder &a, S s) {
  Type *none = a.b.getVoidTy();
  IRBuilder<> &b = a.b;
  if (s.has("reduce")) // cp.reduce.async.bulk...
    return s.has("tensor") ? tensorCopy(a, s, /*reduce=*/true) : a.unsupported(s);
  if (s.has("bulk"))
    return bulkCopy(a, s);
  if (s.has("commit_group")) {
    a.hook("tileEmuCopyAsyncCommit", none, {a.thread(), a.site()});
  } else if (s.has("wait_group") || s.has("wait_all")) {
    bool all = s.has("wait_all");
    a.hook("tileEmuCopyAsyncWait", none,
           {a.thread(), all ? a.i32(0) : a.get(s.operands[0], 32), a.i32(all), a.site()});
  } else if (s.has("mbarrier")) {
    a.hook("tileEmuCopyAsyncArrive", none,
           {a.thread(), address32(a, s.operands[0]), a.i32(s.has("noinc")), a.site()});
  } else if (s.operands.size() >= 3) {
    // [to], [from], size {, source size | predicate}
    Value *bytes = a.get(s.operands[2], 32), *source = bytes;
    bool cached = s.has("L2::cache_hint");
    size_t last = s.operands.size() - (cached ? 1 : 0);
    if (last == 4) {
      const PtxOperand &extra = s.operands[3];
      source = a.bitsOf(extra) == 1 && extra.kind != PtxOperand::Integer
                   ? b.CreateSelect(a.getBool(extra), a.i32(0), bytes)
                   : a.get(extra, 32);
    }
    a.hook("tileEmuCopyAsync", none,
           {a.thread(), address32(a, s.operands[0]), a.address(s.operands[1], 64), bytes, source,
            a.site()});
  } else {
    a.unsupported(s);
  }
}

/// st.async.shared::cluster.mbarrier::complete_tx::bytes{.v4}.TYPE [to], value, [barrier];
static void storeAsync(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  if (!t || s.operands.size() != 3 || t.bits < 32)
    return a.unsupported(s);
  auto *words = a.array(a.b.getInt32Ty(), 8);
  const PtxOperand &v = s.operands[1];
  unsigned count = 0;
  auto add = [&](const PtxOperand &o) {
    a.b.CreateAlignedStore(
        a.get(o, t.bits), a.b.CreateConstInBoundsGEP1_32(a.b.getInt32Ty(), words, count), Align(4));
    count += t.bits / 32;
  };
  if (v.kind == PtxOperand::Vector)
    for (const PtxOperand &o : v.elements)
      add(o);
  else
    add(v);
  a.hook("tileEmuStoreAsync", a.b.getVoidTy(),
         {a.thread(), address32(a, s.operands[0]), words, a.i32(count), address32(a, s.operands[2]),
          a.site()});
}

void tile::emu::emitStoreAsync(AsmBuilder &a, S s) { storeAsync(a, s); }

static void setMaxRegisters(AsmBuilder &a, S s) {
  if (s.operands.size() != 1)
    return a.unsupported(s);
  a.hook("tileEmuSetMaxRegisters", a.b.getVoidTy(),
         {a.thread(), a.get(s.operands[0], 32), a.i32(s.has("inc")), a.site()});
}

ArrayRef<HandlerEntry> tile::emu::asyncHandlers() {
  static const HandlerEntry entries[] = {
      {"mbarrier", mbarrier}, {"cp", cp}, {"setmaxnreg", setMaxRegisters}};
  return entries;
}
