//===- Targets.cpp - the NVIDIA targets that code can be made for ---------===//
#include "compiler/Targets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace tile;
using llvm::StringRef;

// Portable, then architecture-specific ('a': instructions that later chips may
// drop), then family-specific ('f') where one exists.
static const Target targets[] = {
    {"sm_75", 75, 0, 63, 64 << 10, "Turing: T4, RTX 20"},
    {"sm_80", 80, 0, 70, 163 << 10, "Ampere: A100"},
    {"sm_86", 86, 0, 71, 99 << 10, "Ampere: A10, RTX 30"},
    {"sm_87", 87, 0, 74, 163 << 10, "Ampere: Jetson Orin"},
    {"sm_88", 88, 0, 90, 99 << 10, "Ampere, embedded"},
    {"sm_89", 89, 0, 78, 99 << 10, "Ada: L4, L40, RTX 40"},
    {"sm_90", 90, 0, 78, 227 << 10, "Hopper: H100, H200, without its specific instructions"},
    {"sm_90a", 90, 'a', 80, 227 << 10, "Hopper: H100, H200"},
    {"sm_100", 100, 0, 86, 227 << 10, "Blackwell: B100, B200, portable"},
    {"sm_100a", 100, 'a', 86, 227 << 10, "Blackwell: B100, B200"},
    {"sm_100f", 100, 'f', 88, 227 << 10, "Blackwell data-centre family"},
    {"sm_103", 103, 0, 88, 227 << 10, "Blackwell: B300, portable"},
    {"sm_103a", 103, 'a', 88, 227 << 10, "Blackwell: B300"},
    {"sm_103f", 103, 'f', 88, 227 << 10, "Blackwell: B300, family"},
    {"sm_110", 110, 0, 90, 227 << 10, "Blackwell: Jetson Thor, portable"},
    {"sm_110a", 110, 'a', 90, 227 << 10, "Blackwell: Jetson Thor"},
    {"sm_110f", 110, 'f', 90, 227 << 10, "Blackwell: Jetson Thor, family"},
    {"sm_120", 120, 0, 87, 99 << 10, "Blackwell: RTX 50, RTX PRO, portable"},
    {"sm_120a", 120, 'a', 87, 99 << 10, "Blackwell: RTX 50, RTX PRO"},
    {"sm_120f", 120, 'f', 88, 99 << 10, "Blackwell: RTX family"},
    {"sm_121", 121, 0, 88, 99 << 10, "Blackwell: DGX Spark, portable"},
    {"sm_121a", 121, 'a', 88, 99 << 10, "Blackwell: DGX Spark"},
    {"sm_121f", 121, 'f', 88, 99 << 10, "Blackwell: DGX Spark, family"},
};

llvm::ArrayRef<Target> tile::allTargets() { return targets; }

const Target *tile::findTarget(StringRef name) {
  for (const Target &target : targets)
    if (target.name == name)
      return &target;
  return nullptr;
}

/// The digits of `sm_90a`, `SM90`, `90`, `compute_90`, `9.0`: 0 if there are none.
static int capabilityIn(StringRef name) {
  std::string digits;
  for (char c : name) {
    if (llvm::isDigit(c))
      digits += c;
    else if (!digits.empty() && c != '.')
      break;
  }
  int value = 0;
  return StringRef(digits).getAsInteger(10, value) ? 0 : value;
}

std::string tile::describeUnknownTarget(StringRef name) {
  std::string message = ("unknown target `" + name + "`").str();
  int wanted = capabilityIn(name);
  char variant = name.empty() ? 0 : llvm::toLower(name.back());
  const Target *same = nullptr;
  for (const Target &target : targets)
    if (target.capability == wanted && (!same || target.variant == variant))
      same = &target;
  if (same)
    return message + "; did you mean `" + same->name.str() + "`?";
  if (wanted >= 10 && wanted < 75)
    return message + ": the oldest supported is `sm_75` (Turing)";
  message += "; known targets: ";
  for (const Target &target : targets)
    message += (&target == targets ? "" : ", ") + target.name.str();
  return message;
}
