//===- InstrWarp.cpp - warp operations, barriers and fences ---------------===//
#include "emulator/machine/Memory.h"
#include "emulator/ptx/AsmBuilder.h"

using namespace llvm;
using namespace tile::emu;

using S = const PtxStatement &;

static void shfl(AsmBuilder &a, S s) {
  // shfl.sync.mode.b32 d|p, a, b, c, mask
  unsigned mode = s.has("up") ? 0 : s.has("down") ? 1 : s.has("bfly") ? 2 : s.has("idx") ? 3 : 4;
  if (mode == 4 || !s.has("sync") || s.operands.size() != 5)
    return a.unsupported(s);
  Value *r = a.hook("tileEmuShuffle", a.b.getInt64Ty(),
                    {a.thread(), a.get(s.operands[4], 32), a.get(s.operands[1], 32),
                     a.get(s.operands[2], 32), a.get(s.operands[3], 32), a.i32(mode), a.site()});
  Value *value = a.b.CreateTrunc(r, a.b.getInt32Ty());
  const PtxOperand &to = s.operands[0];
  if (to.kind == PtxOperand::Vector) {
    a.set(to.elements[0], value);
    a.set(to.elements[1], a.b.CreateTrunc(a.b.CreateLShr(r, 32), a.b.getInt1Ty()));
  } else {
    a.set(to, value);
  }
}

static void vote(AsmBuilder &a, S s) {
  unsigned mode = s.has("all") ? 0 : s.has("any") ? 1 : s.has("uni") ? 2 : s.has("ballot") ? 3 : 4;
  if (mode == 4 || !s.has("sync") || s.operands.size() != 3)
    return a.unsupported(s);
  Value *p = a.b.CreateZExt(a.getBool(s.operands[1]), a.b.getInt32Ty());
  Value *r = a.hook("tileEmuVote", a.b.getInt32Ty(),
                    {a.thread(), a.get(s.operands[2], 32), p, a.i32(mode), a.site()});
  a.set(s.operands[0], mode == 3 ? r : a.b.CreateTrunc(r, a.b.getInt1Ty()));
}

static void match(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  if (!t || !s.has("sync") || s.operands.size() != 3)
    return a.unsupported(s);
  Value *v = a.b.CreateZExt(a.get(s.operands[1], t.bits), a.b.getInt64Ty());
  Value *r = a.hook("tileEmuMatch", a.b.getInt64Ty(),
                    {a.thread(), a.get(s.operands[2], 32), v, a.i32(s.has("all")), a.site()});
  const PtxOperand &to = s.operands[0];
  bool pair = to.kind == PtxOperand::Vector;
  a.set(pair ? to.elements[0] : to, a.b.CreateTrunc(r, a.b.getInt32Ty()));
  if (pair)
    a.set(to.elements[1], a.b.CreateTrunc(a.b.CreateLShr(r, 32), a.b.getInt1Ty()));
}

static void redux(AsmBuilder &a, S s) {
  PtxType t = typeOf(s);
  if (!t || t.isFloat() || s.operands.size() != 3 || s.parts.size() < 4)
    return a.unsupported(s);
  StringRef op = s.parts[2];
  bool isSigned = t.kind == 's';
  unsigned operation = op == "add"   ? 0
                       : op == "min" ? (isSigned ? 1 : 3)
                       : op == "max" ? (isSigned ? 2 : 4)
                       : op == "and" ? 5
                       : op == "or"  ? 6
                       : op == "xor" ? 7
                                     : 8;
  if (operation == 8)
    return a.unsupported(s);
  a.set(s.operands[0], a.hook("tileEmuRedux", a.b.getInt32Ty(),
                              {a.thread(), a.get(s.operands[2], 32), a.get(s.operands[1], 32),
                               a.i32(operation), a.site()}));
}

static void elect(AsmBuilder &a, S s) {
  if (s.operands.size() != 2)
    return a.unsupported(s);
  Value *r =
      a.hook("tileEmuElect", a.b.getInt64Ty(), {a.thread(), a.get(s.operands[1], 32), a.site()});
  const PtxOperand &to = s.operands[0];
  if (to.kind == PtxOperand::Vector) {
    a.set(to.elements[0], a.b.CreateTrunc(r, a.b.getInt32Ty()));
    a.set(to.elements[1], a.b.CreateTrunc(a.b.CreateLShr(r, 32), a.b.getInt1Ty()));
  } else {
    a.set(to, a.b.CreateTrunc(a.b.CreateLShr(r, 32), a.b.getInt1Ty()));
  }
}

static void activemask(AsmBuilder &a, S s) {
  a.set(s.operands[0], a.hook("tileEmuActiveMask", a.b.getInt32Ty(), {a.thread()}));
}

/// bar and barrier: warps, CTAs, clusters.
static void bar(AsmBuilder &a, S s) {
  IRBuilder<> &b = a.b;
  Type *none = b.getVoidTy();
  // `bar` is `barrier.aligned`.
  Value *aligned = a.i32(s.parts[0] == "bar" || s.has("aligned"));
  if (s.has("warp")) {
    if (s.operands.size() != 1)
      return a.unsupported(s);
    a.hook("tileEmuSyncWarp", none, {a.thread(), a.get(s.operands[0], 32), a.site()});
    return;
  }
  if (s.has("cluster")) {
    if (s.has("arrive"))
      a.hook("tileEmuClusterArrive", none,
             {a.thread(), a.i32(s.has("relaxed")), aligned, a.site()});
    else if (s.has("wait"))
      a.hook("tileEmuClusterWait", none, {a.thread(), aligned, a.site()});
    else
      a.unsupported(s);
    return;
  }
  if (s.has("red")) {
    bool popc = s.has("popc");
    size_t n = s.operands.size();
    if (n < 3)
      return a.unsupported(s);
    Value *count = n == 4 ? a.get(s.operands[2], 32) : b.getInt32(0);
    Value *p = b.CreateZExt(a.getBool(s.operands[n - 1]), b.getInt32Ty());
    Value *r = a.hook("tileEmuBarrierReduce", b.getInt32Ty(),
                      {a.thread(), a.get(s.operands[1], 32), count, p,
                       a.i32(popc           ? 0
                             : s.has("and") ? 1
                                            : 2),
                       aligned, a.site()});
    a.set(s.operands[0], popc ? r : b.CreateTrunc(r, b.getInt1Ty()));
    return;
  }
  if (s.operands.empty() || s.operands.size() > 2)
    return a.unsupported(s);
  Value *count = s.operands.size() == 2 ? a.get(s.operands[1], 32) : b.getInt32(0);
  if (!s.has("sync") && !s.has("arrive"))
    return a.unsupported(s);
  a.hook(s.has("sync") ? "tileEmuBarrierSync" : "tileEmuBarrierArrive", none,
         {a.thread(), a.get(s.operands[0], 32), count, aligned, a.site()});
}

static void fence(AsmBuilder &a, S s) {
  bool proxy =
      s.has("mbarrier_init") || (s.has("proxy") && (s.has("async") || s.has("async::generic")));
  bool tensorMap = s.has("proxy") && (s.has("tensormap::generic") || s.has("alias"));
  if (s.has("proxy") && !proxy && !tensorMap && !s.has("async::global"))
    if (!any_of(s.parts, [](StringRef p) { return p.starts_with("async"); }))
      return a.unsupported(s);
  // fence.proxy.async.global says nothing about shared memory.
  if (s.has("proxy") && s.has("global"))
    proxy = false;
  Type *none = a.b.getVoidTy();
  if (proxy) {
    a.hook("tileEmuProxyFence", none, {a.thread(), a.i32(s.has("mbarrier_init")), a.site()});
    return;
  }
  // `membar`, `fence`: both ways unless it says which.
  uint32_t ordering = ptxOrdering(s, /*scopeByDefault=*/0);
  if (!(ordering & (kAcquires | kReleases)))
    ordering |= kAcquires | kReleases;
  a.hook("tileEmuFence", none, {a.thread(), a.i32(s.has("proxy") ? 0 : ordering), a.site()});
}

/// Grids run one after another here: what they wait for has happened.
static void griddepcontrol(AsmBuilder &a, S s) {
  if (!s.has("wait") && !s.has("launch_dependents"))
    a.unsupported(s);
}

ArrayRef<HandlerEntry> tile::emu::warpHandlers() {
  static const HandlerEntry entries[] = {
      {"shfl", shfl},
      {"vote", vote},
      {"match", match},
      {"redux", redux},
      {"elect", elect},
      {"activemask", activemask},
      {"bar", bar},
      {"barrier", bar},
      {"membar", fence},
      {"fence", fence},
      {"griddepcontrol", griddepcontrol},
  };
  return entries;
}
