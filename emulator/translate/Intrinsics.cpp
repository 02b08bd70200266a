//===- Intrinsics.cpp - NVVM intrinsics spelled as PTX --------------------===//
//
// One implementation of each instruction, whether it comes as inline PTX or as
// an intrinsic.
//
//===----------------------------------------------------------------------===//
#include "emulator/translate/Intrinsics.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace llvm;
using tile::formatted;

static const StringMap<const char *> &table() {
  static const StringMap<const char *> texts = {
      {"barrier0", "bar.sync 0;"},
      {"barrier.cta.sync.aligned.all", "barrier.cta.sync.aligned $0;"},
      {"barrier.cta.sync.aligned.count", "barrier.cta.sync.aligned $0, $1;"},
      {"barrier.cta.sync.all", "barrier.cta.sync $0;"},
      {"barrier.cta.sync.count", "barrier.cta.sync $0, $1;"},
      {"barrier.cta.arrive.aligned.count", "barrier.cta.arrive.aligned $0, $1;"},
      {"barrier.cta.arrive.count", "barrier.cta.arrive $0, $1;"},
      {"barrier.n", "bar.sync $0;"},
      {"barrier", "bar.sync $0, $1;"},
      {"bar.warp.sync", "bar.warp.sync $0;"},
      {"barrier.cluster.arrive", "barrier.cluster.arrive;"},
      {"barrier.cluster.arrive.aligned", "barrier.cluster.arrive.aligned;"},
      {"barrier.cluster.arrive.relaxed", "barrier.cluster.arrive.relaxed;"},
      {"barrier.cluster.arrive.relaxed.aligned", "barrier.cluster.arrive.relaxed.aligned;"},
      {"barrier.cluster.wait", "barrier.cluster.wait;"},
      {"barrier.cluster.wait.aligned", "barrier.cluster.wait.aligned;"},
      {"vote.all.sync", "vote.sync.all.pred $0, $2, $1;"},
      {"vote.any.sync", "vote.sync.any.pred $0, $2, $1;"},
      {"vote.uni.sync", "vote.sync.uni.pred $0, $2, $1;"},
      {"vote.ballot.sync", "vote.sync.ballot.b32 $0, $2, $1;"},
      {"match.any.sync.i32", "match.any.sync.b32 $0, $2, $1;"},
      {"match.any.sync.i64", "match.any.sync.b64 $0, $2, $1;"},
      {"match.all.sync.i32p", "match.all.sync.b32 $0|$1, $3, $2;"},
      {"match.all.sync.i64p", "match.all.sync.b64 $0|$1, $3, $2;"},
      {"redux.sync.add", "redux.sync.add.s32 $0, $1, $2;"},
      {"redux.sync.min", "redux.sync.min.s32 $0, $1, $2;"},
      {"redux.sync.max", "redux.sync.max.s32 $0, $1, $2;"},
      {"redux.sync.umin", "redux.sync.min.u32 $0, $1, $2;"},
      {"redux.sync.umax", "redux.sync.max.u32 $0, $1, $2;"},
      {"redux.sync.and", "redux.sync.and.b32 $0, $1, $2;"},
      {"redux.sync.or", "redux.sync.or.b32 $0, $1, $2;"},
      {"redux.sync.xor", "redux.sync.xor.b32 $0, $1, $2;"},
      {"elect.sync", "elect.sync $0|$1, $2;"},
      {"activemask", "activemask.b32 $0;"},
      {"membar.cta", "membar.cta;"},
      {"membar.gl", "membar.gl;"},
      {"membar.sys", "membar.sys;"},
      {"fence.sc.cluster", "fence.sc.cluster;"},
      {"griddepcontrol.wait", "griddepcontrol.wait;"},
      {"griddepcontrol.launch.dependents", "griddepcontrol.launch_dependents;"},
      {"mulhi.i", "mul.hi.s32 $0, $1, $2;"},
      {"mulhi.ui", "mul.hi.u32 $0, $1, $2;"},
      {"mulhi.ll", "mul.hi.s64 $0, $1, $2;"},
      {"mulhi.ull", "mul.hi.u64 $0, $1, $2;"},
      {"mulhi.s", "mul.hi.s16 $0, $1, $2;"},
      {"mulhi.us", "mul.hi.u16 $0, $1, $2;"},
      {"prmt", "prmt.b32 $0, $1, $2, $3;"},
      {"f2i.rz", "cvt.rzi.s32.f32 $0, $1;"},
      {"f2ui.rz", "cvt.rzi.u32.f32 $0, $1;"},
      {"f2ll.rz", "cvt.rzi.s64.f32 $0, $1;"},
      {"f2ull.rz", "cvt.rzi.u64.f32 $0, $1;"},
      {"d2i.rz", "cvt.rzi.s32.f64 $0, $1;"},
      {"d2ui.rz", "cvt.rzi.u32.f64 $0, $1;"},
      {"d2ll.rz", "cvt.rzi.s64.f64 $0, $1;"},
      {"d2ull.rz", "cvt.rzi.u64.f64 $0, $1;"},
      {"div.full", "div.full.f32 $0, $1, $2;"},
      {"div.full.ftz", "div.full.ftz.f32 $0, $1, $2;"},
      {"cp.async.commit.group", "cp.async.commit_group;"},
      {"cp.async.wait.group", "cp.async.wait_group $0;"},
      {"cp.async.wait.all", "cp.async.wait_all;"},
      {"cp.async.ca.shared.global.4", "cp.async.ca.shared.global [$0], [$1], 4;"},
      {"cp.async.ca.shared.global.8", "cp.async.ca.shared.global [$0], [$1], 8;"},
      {"cp.async.ca.shared.global.16", "cp.async.ca.shared.global [$0], [$1], 16;"},
      {"cp.async.cg.shared.global.16", "cp.async.cg.shared.global [$0], [$1], 16;"},
      {"cp.async.ca.shared.global.4.s", "cp.async.ca.shared.global [$0], [$1], 4, $2;"},
      {"cp.async.ca.shared.global.8.s", "cp.async.ca.shared.global [$0], [$1], 8, $2;"},
      {"cp.async.ca.shared.global.16.s", "cp.async.ca.shared.global [$0], [$1], 16, $2;"},
      {"cp.async.cg.shared.global.16.s", "cp.async.cg.shared.global [$0], [$1], 16, $2;"},
      {"cp.async.mbarrier.arrive.shared", "cp.async.mbarrier.arrive.shared.b64 [$0];"},
      {"cp.async.mbarrier.arrive.noinc.shared", "cp.async.mbarrier.arrive.noinc.shared.b64 [$0];"},
      {"cp.async.bulk.commit.group", "cp.async.bulk.commit_group;"},
      {"cp.async.bulk.wait.group", "cp.async.bulk.wait_group $0;"},
      {"cp.async.bulk.wait.group.read", "cp.async.bulk.wait_group.read $0;"},
      {"mbarrier.init.shared", "mbarrier.init.shared.b64 [$0], $1;"},
      {"mbarrier.inval.shared", "mbarrier.inval.shared.b64 [$0];"},
      {"mbarrier.arrive.shared", "mbarrier.arrive.shared.b64 $0, [$1];"},
      {"wgmma.fence.sync.aligned", "wgmma.fence.sync.aligned;"},
      {"wgmma.commit_group.sync.aligned", "wgmma.commit_group.sync.aligned;"},
      {"wgmma.wait_group.sync.aligned", "wgmma.wait_group.sync.aligned $0;"},
      {"setmaxnreg.inc.sync.aligned.u32", "setmaxnreg.inc.sync.aligned.u32 $0;"},
      {"setmaxnreg.dec.sync.aligned.u32", "setmaxnreg.dec.sync.aligned.u32 $0;"},
      {"fence.proxy.async.shared_cta", "fence.proxy.async.shared::cta;"},
      {"fence.mbarrier_init.release.cluster", "fence.mbarrier_init.release.cluster;"},
      {"mapa.shared.cluster", "mapa.shared::cluster.u32 $0, $1, $2;"},
      {"mapa", "mapa.u64 $0, $1, $2;"},
      {"getctarank.shared.cluster", "getctarank.shared::cluster.u32 $0, $1;"},
      {"getctarank", "getctarank.u32 $0, $1;"},
  };
  return texts;
}

static std::string range(unsigned first, unsigned count) {
  std::string s;
  for (unsigned i = 0; i < count; ++i)
    s += (i ? ", $" : "$") + std::to_string(first + i);
  return s;
}

/// ldmatrix and stmatrix: the state space comes before the type.
static std::string moveMatrices(StringRef name, unsigned numResults, unsigned numArguments) {
  name.consume_back(".p3"); // the pointer's type
  auto [opcode, type] = name.rsplit('.');
  std::string text = formatted("{}.shared.{} ", opcode, type);
  if (numResults)
    return formatted("{}{{{}}}, [${}];", text, range(0, numResults), numResults);
  return formatted("{}[$0], {{{}}};", text, range(1, numArguments - 1));
}

/// shfl.sync.MODE.TYPE with an optional predicate result.
static std::string shuffle(StringRef rest, unsigned numResults) {
  StringRef mode = rest.split('.').first;
  std::string to = numResults == 2 ? "$0|$1" : "$0";
  auto arg = [&](unsigned i) { return "$" + std::to_string(numResults + i); };
  return formatted("shfl.sync.{}.b32 {}, {}, {}, {}, {};", mode, to, arg(1), arg(2), arg(3),
                   arg(0));
}

/// mma.SHAPE.LAYOUTS.[flags.]TYPES: the same words in another order.
static std::string matrixMultiply(StringRef rest, unsigned numResults, unsigned numArguments) {
  SmallVector<StringRef> words;
  rest.split(words, '.');
  StringRef shape = words[0];
  std::string flags;
  SmallVector<StringRef> types;
  for (StringRef w : drop_begin(words, 3)) {
    if (w == "satfinite" || w == "xor" || w == "and" || w == "popc")
      flags += "." + w.str();
    else
      types.push_back(w);
  }
  // The intrinsic names D and C for f16 results, A and B where they differ, or
  // one type for A and B.
  std::string d, ab, c;
  auto spelled = [](StringRef t) { return "." + t.str(); };
  if (types.size() == 2 && (types[0] == "f16" || types[0] == "f32") &&
      (types[1] == "f16" || types[1] == "f32")) {
    d = spelled(types[0]), ab = ".f16.f16", c = spelled(types[1]);
  } else if (types.size() == 1 || types.size() == 2) {
    StringRef a = types[0], b = types.back();
    bool integer = a.starts_with("s") || a.starts_with("u") || a.starts_with("b1");
    d = c = a == "f64" ? ".f64" : integer ? ".s32" : ".f32";
    ab = spelled(a) + spelled(b);
  } else if (types.size() == 4) {
    d = spelled(types[0]), ab = spelled(types[1]) + spelled(types[2]), c = spelled(types[3]);
  } else {
    return "";
  }
  // Registers: D has as many as results; C as many; A and B share the rest.
  unsigned n = numResults, rest2 = numArguments - n, aRegs = rest2 - rest2 / 3;
  if (rest2 == 2)
    aRegs = 1;
  return formatted("mma.sync.aligned.{}.{}.{}{}{}{}{} {{{}}}, {{{}}}, {{{}}}, {{{}}};", shape,
                   words[1], words[2], flags, d, ab, c, range(0, n), range(n, aRegs),
                   range(n + aRegs, rest2 - aRegs), range(n + rest2, n));
}

std::string tile::emu::ptxOfIntrinsic(StringRef name, unsigned numResults, unsigned numArguments) {
  if (!name.consume_front("llvm.nvvm."))
    return "";
  for (StringRef space : {".p0", ".p1", ".p3"}) // the address space of a pointer
    name.consume_back(space);
  if (auto it = table().find(name); it != table().end())
    return it->second;
  if (StringRef rest = name; rest.consume_front("shfl.sync."))
    return shuffle(rest, numResults);
  if (name.starts_with("ldmatrix.") || name.starts_with("stmatrix."))
    return moveMatrices(name, numResults, numArguments);
  if (StringRef rest = name; rest.consume_front("mma."))
    return matrixMultiply(rest, numResults, numArguments);
  // Functions of floats: the name is the opcode, with a short type at its end.
  std::string opcode = name.str();
  if (StringRef(opcode).ends_with(".f"))
    opcode += "32";
  else if (StringRef(opcode).ends_with(".d"))
    opcode.back() = 'f', opcode += "64";
  StringRef mnemonic = StringRef(opcode).split('.').first;
  for (StringRef known :
       {"ex2", "lg2", "sin", "cos", "rcp", "sqrt", "rsqrt", "tanh", "add", "mul", "fma", "div"})
    if (mnemonic == known)
      return formatted("{} {};", opcode, range(0, numResults + numArguments));
  return "";
}
