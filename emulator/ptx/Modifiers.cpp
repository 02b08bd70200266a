//===- Modifiers.cpp - what may stand behind a mnemonic -------------------===//
//
// Handlers look for the modifiers that they know. One that nobody looks for would
// change what an instruction does without anything being said, so each opcode is
// checked before: all of its parts must be known, of arithmetic those of this
// very mnemonic.
//
//===----------------------------------------------------------------------===//
#include "emulator/ptx/AsmBuilder.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace llvm;
using namespace tile::emu;

namespace {
struct Known {
  const char *mnemonics, *modifiers;
};
} // namespace

/// Of arithmetic, besides types.
static const Known arithmetic[] = {
    {"add sub", "rn rz rm rp ftz sat"},
    {"mul mad fma", "rn rz rm rp ftz sat lo hi wide"},
    {"min max", "ftz NaN"},
    {"and or xor not shl shr popc clz brev rem mov selp lop3", ""},
    {"neg abs", "ftz"},
    {"ex2 lg2 sin cos tanh rsqrt", "approx ftz"},
    {"rcp sqrt", "approx ftz rn rz rm rp"},
    {"div", "approx full ftz rn rz rm rp"},
    {"cvt", "rn rz rm rp rna rni rzi rmi rpi ftz sat satfinite relu e4m3 e5m2 e4m3x2 e5m2x2 tf32"},
    {"setp", "eq ne lt le gt ge lo ls hi hs equ neu ltu leu gtu geu num nan and or xor"},
};

/// Of memory, synchronisation and matrices; shapes apart.
static const char *const others =
    "weak relaxed acquire release acq_rel sc volatile mmio cta cluster gpu sys gl "
    "global shared shared::cta shared::cluster local param const generic to space "
    "nc ca cg cs cv lu cop wb wt L1::evict_normal L1::evict_unchanged L1::evict_first "
    "L1::evict_last L1::no_allocate L2::evict_normal L2::evict_first L2::evict_last "
    "L2::cache_hint L2::64B L2::128B L2::256B v2 v4 v8 "
    "add and or xor min max inc dec exch cas noftz "
    "sync aligned uni all any ballot up down bfly idx popc warp arrive wait red "
    "async proxy alias async::global async::generic async::shared::cta async::shared::cluster "
    "tensormap::generic mbarrier_init sync_restrict::shared::cta "
    "sync_restrict::shared::cluster init inval expect_tx complete_tx test_wait try_wait parity "
    "arrive_drop noComplete noinc pending_count bulk tensor 1d 2d 3d 4d 5d tile im2col "
    "reduce prefetch tensormap L1 L2 fractional range commit_group wait_group wait_all read "
    "bulk_group mbarrier "
    "mbarrier::complete_tx::bytes multicast::cluster launch_dependents x1 x2 x4 trans "
    "row col satfinite mma_async fence e4m3 e5m2 e2m1 e3m2 e2m3 tf32 s4 u4 b1";

/// m16n8k16, m8n8
static bool isShape(StringRef part) {
  return part.size() > 3 && part.starts_with("m") && isDigit(part[1]) &&
         all_of(part, [](char c) { return isDigit(c) || c == 'm' || c == 'n' || c == 'k'; });
}

static StringSet<> wordsOf(StringRef text) {
  StringSet<> words;
  for (StringRef word : split(text, ' '))
    if (!word.empty())
      words.insert(word);
  return words;
}

StringRef tile::emu::unknownModifier(const PtxStatement &s) {
  static const StringMap<StringSet<>> ofArithmetic = [] {
    StringMap<StringSet<>> map;
    for (const Known &k : arithmetic)
      for (StringRef mnemonic : split(k.mnemonics, ' '))
        map[mnemonic] = wordsOf(k.modifiers);
    return map;
  }();
  static const StringSet<> ofOthers = wordsOf(others);
  auto known = ofArithmetic.find(s.parts[0]);
  const StringSet<> &modifiers = known == ofArithmetic.end() ? ofOthers : known->second;
  for (StringRef part : drop_begin(s.parts))
    if (!modifiers.contains(part) && !parsePtxType(part) &&
        !(known == ofArithmetic.end() && isShape(part)))
      return part;
  return "";
}
