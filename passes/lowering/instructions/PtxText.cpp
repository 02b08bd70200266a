//===- PtxText.cpp - what instructions do, read from their text -----------===//
#include "passes/lowering/instructions/PtxText.h"
#include "text/Format.h"
#include "llvm/Support/Regex.h"

using namespace tile;
using llvm::StringLiteral;
using llvm::StringRef;

std::string ptx::extremumOfWords(bool isMaximum, bool isSigned) {
  return formatted("{}.{} $0, $1, $2;", isMaximum ? "max" : "min", isSigned ? "s32" : "u32");
}

bool ptx::isCollective(StringRef text) {
  return text.contains(".sync") || text.contains(".aligned") || text.contains("bar.arrive");
}

bool ptx::loadsGlobal(StringRef text) {
  return text.contains("ld.global") || text.contains("ld.volatile.global");
}

bool ptx::onlyLoadsGlobal(StringRef text) {
  llvm::SmallVector<StringRef, 4> statements;
  text.split(statements, ';', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  return loadsGlobal(text) && llvm::all_of(statements, [](StringRef statement) {
           statement = statement.trim();
           if (statement.starts_with("@"))
             statement = statement.split(' ').second;
           return statement.empty() || statement.starts_with("mov.b") ||
                  (statement.starts_with("ld.global") && !statement.contains(".cv"));
         });
}

bool ptx::writesGlobal(StringRef text) {
  return text.contains("st.global") ||
         (text.contains(".global") && (text.contains("red.") || text.contains("atom.")));
}

int ptx::guardOf(StringRef text) {
  int guard = -1;
  while (!text.empty()) {
    auto [first, rest] = text.split(';');
    text = rest;
    first = first.trim();
    if (first.empty() || first.starts_with("mov.b"))
      continue;
    int of = -1;
    if (!first.consume_front("@$") || first.consumeInteger(10, of) || (guard >= 0 && guard != of))
      return -1;
    guard = of;
  }
  return guard;
}

bool ptx::multipliesByWarps(StringRef text) {
  return text.contains("mma.sync") || text.contains("mma.sp");
}

bool ptx::multiplies(StringRef text) {
  return multipliesByWarps(text) || text.contains("wgmma.mma_async");
}

bool ptx::waitsForCopies(StringRef text) { return text.starts_with("cp.async.wait_"); }

bool ptx::hasRegisterRules(StringRef text) {
  return text.contains("mma") || text.contains("setmaxnreg");
}

bool ptx::loadsByte(StringRef text) {
  if (!text.consume_front("mov.b32 $0, ") || text.count(';') != 2)
    return false;
  auto [other, load] = text.split(';');
  load = load.ltrim();
  bool isValue = other == "0x0" || (other.consume_front("$") && llvm::all_of(other, llvm::isDigit));
  auto [guard, rest] = load.split(' ');
  bool isGuarded = guard.consume_front("@$") && llvm::all_of(guard, llvm::isDigit);
  return isValue && isGuarded && rest.starts_with("ld.global") && rest.contains(".b8 $0, [$") &&
         rest.count(' ') <= 3;
}

std::string ptx::withSignedByte(StringRef text) {
  auto [before, after] = text.split(".b8 $0,");
  return (before + ".s8 $0," + after).str();
}

bool ptx::widensBytes(StringRef text) { return text.starts_with("cvt.rn.f16x2.e"); }

unsigned ptx::versionNeeded(StringRef text) {
  // Each is known by a part of its name that no older instruction has.
  static constexpr std::pair<StringLiteral, unsigned> since[] = {{"L2::", 74},
                                                                 {"createpolicy", 74},
                                                                 {"L1::", 74},
                                                                 {"griddepcontrol", 78},
                                                                 {"barrier.cluster", 78},
                                                                 {"mapa", 78},
                                                                 {"e4m3", 78},
                                                                 {"e5m2", 78},
                                                                 {"elect.sync", 80},
                                                                 {"setmaxnreg", 80},
                                                                 {"cp.async.bulk", 80},
                                                                 {"multimem", 81},
                                                                 {"st.async", 81},
                                                                 {"red.async", 81},
                                                                 {".acc::", 82},
                                                                 {"tensormap", 83},
                                                                 {"e2m1", 86},
                                                                 {"clusterlaunchcontrol", 86},
                                                                 {"tcgen05", 86}};
  unsigned version = 0;
  for (auto [part, needed] : since)
    if (text.contains(part))
      version = std::max(version, needed);
  return version;
}

llvm::SmallVector<int> ptx::registersOfRoles(StringRef kernel) {
  llvm::Regex setMax("setmaxnreg\\.(inc|dec)\\.sync\\.aligned\\.u32 ([0-9]+)");
  llvm::SmallVector<int> registers;
  llvm::SmallVector<StringRef> match;
  while (setMax.match(kernel, &match)) {
    match[2].getAsInteger(10, registers.emplace_back());
    kernel = kernel.drop_front(match[0].end() - kernel.begin());
  }
  return registers;
}
